//! Random SPIR-V modules without debug instructions, with a description and a binding, made from a list of choices as
//! in [`random`](crate::common::random).

#![allow(dead_code, reason = "each test uses a part")]

use eitri::build::{Builder, DataMember, Extent, InScope, Major, Template};
use eitri::model::{
    Accessibility, BaseEncoding, CompositeKind, FileId, FunctionId, Imported, Language, MemorySpace, Module,
    Passed, PointerKind, Qualifier, ScopeId, SourceLine, TypeId, UnitId, VariableId,
};
use eitri::spirv::{Binding, DebugOperation, Id, Position, Provider};
use eitri::target::{SpaceId, Target};

use crate::common::random::Choices;

/// A module with its description.
pub struct Described {
    pub words: Vec<u32>,
    pub module: Module,
    pub binding: Binding,
}

/// The module for a list of choices: all calls are valid, and `attach` accepts the result.
pub fn described(choices: &[u16], target: &Target) -> Described {
    let mut core = Core::new();
    let mut c = Choices::new(choices);
    let functions: Vec<Code> = (0..1 + c.below(3)).map(|_| core.function(&mut c)).collect();
    let mut m = Builder::new(target.clone());
    let unit = m.unit("0.cl");
    let file = m.primary_file(unit).expect("the file");
    let mut making = Making {
        c,
        m,
        binding: Binding::new(),
        unit,
        files: vec![file],
        types: Vec::new(),
        scopes: Vec::new(),
        functions: Vec::new(),
        constant: core.constant,
        names: 0,
    };
    making.whole(&core, &functions);
    let Making { m, binding, .. } = making;
    Described { words: core.words(), module: m.finish().expect("every call was right"), binding }
}

/// Words of a module without debug instructions.
pub struct Core {
    before: Vec<u32>,
    globals: Vec<u32>,
    code: Vec<u32>,
    next: u32,
    void: Id,
    bool: Id,
    uint: Id,
    vector: Id,
    pointer: Id,
    kind: Id,
    pub constant: Id,
    pub variables: Vec<Id>,
}

/// Code of a function.
pub struct Code {
    pub id: Id,
    pub parameter: Id,
    pub blocks: Vec<Block>,
}

pub struct Block {
    pub id: Id,
    /// Number of instructions, including `OpPhi` and `OpVariable`.
    pub instructions: u32,
    /// Ids of the `OpVariable`s.
    variables: Vec<Id>,
    /// Values, with their bits (32 or 64) and the number of instructions before they are available.
    values: Vec<(Id, u64, u32)>,
}

impl Core {
    pub fn new() -> Self {
        let mut core = Self {
            before: Vec::new(),
            globals: Vec::new(),
            code: Vec::new(),
            next: 1,
            void: Id(0),
            bool: Id(0),
            uint: Id(0),
            vector: Id(0),
            pointer: Id(0),
            kind: Id(0),
            constant: Id(0),
            variables: Vec::new(),
        };
        // Addresses, Linkage, Kernel, Int64; Physical64 OpenCL.
        for capability in [4, 5, 6, 11] {
            core.before.extend([2 << 16 | 17, capability]);
        }
        core.before.extend([3 << 16 | 14, 2, 2]);
        core.void = core.global(19, &[]);
        core.bool = core.global(20, &[]);
        core.uint = core.global(21, &[32, 0]);
        core.vector = core.global(23, &[core.uint.0, 2]);
        core.pointer = core.global(32, &[7, core.uint.0]);
        let device = core.global(32, &[5, core.uint.0]);
        core.kind = core.global(33, &[core.void.0, core.uint.0]);
        core.constant = core.typed(43, core.uint, &[7]);
        for _ in 0..2 {
            let variable = core.typed(59, device, &[5]);
            core.variables.push(variable);
        }
        core
    }

    fn fresh(&mut self) -> Id {
        self.next += 1;
        Id(self.next - 1)
    }

    fn global(&mut self, opcode: u32, operands: &[u32]) -> Id {
        let id = self.fresh();
        self.globals.extend([(operands.len() as u32 + 2) << 16 | opcode, id.0]);
        self.globals.extend(operands);
        id
    }

    fn typed(&mut self, opcode: u32, ty: Id, operands: &[u32]) -> Id {
        let id = self.fresh();
        self.globals.extend([(operands.len() as u32 + 3) << 16 | opcode, ty.0, id.0]);
        self.globals.extend(operands);
        id
    }

    fn value(&mut self, opcode: u32, ty: Id, operands: &[u32]) -> Id {
        let id = self.fresh();
        self.code.extend([(operands.len() as u32 + 3) << 16 | opcode, ty.0, id.0]);
        self.code.extend(operands);
        id
    }

    fn plain(&mut self, opcode: u32, operands: &[u32]) {
        self.code.push((operands.len() as u32 + 1) << 16 | opcode);
        self.code.extend(operands);
    }

    pub fn function(&mut self, c: &mut Choices<'_>) -> Code {
        let id = self.value(54, self.void, &[0, self.kind.0]);
        let parameter = self.value(55, self.uint, &[]);
        let count = 1 + c.below(4);
        let labels: Vec<Id> = (0..count).map(|_| self.fresh()).collect();
        let mut blocks = Vec::new();
        for (index, &label) in labels.iter().enumerate() {
            self.code.extend([2 << 16 | 248, label.0]);
            let mut block = Block { id: label, instructions: 0, variables: Vec::new(), values: Vec::new() };
            if index == 0 {
                for _ in 0..c.below(3) {
                    let variable = self.value(59, self.pointer, &[7]);
                    block.variables.push(variable);
                    block.instructions += 1;
                }
            } else if c.maybe() {
                let from = labels[index - 1];
                let phi = self.value(245, self.uint, &[parameter.0, from.0]);
                block.instructions += 1;
                block.values.push((phi, 32, block.instructions));
            }
            for _ in 0..c.below(4) {
                let sum = self.value(128, self.uint, &[parameter.0, self.constant.0]);
                block.instructions += 1;
                block.values.push((sum, 32, block.instructions));
                if c.maybe() {
                    let pair = self.value(80, self.vector, &[sum.0, parameter.0]);
                    block.instructions += 1;
                    block.values.push((pair, 64, block.instructions));
                }
            }
            match labels.get(index + 1) {
                Some(next) if c.maybe() => {
                    let is = self.value(170, self.bool, &[parameter.0, self.constant.0]);
                    self.plain(247, &[next.0, 0]);
                    self.plain(250, &[is.0, next.0, next.0]);
                    block.instructions += 3;
                }
                Some(next) => {
                    self.plain(249, &[next.0]);
                    block.instructions += 1;
                }
                None => {
                    self.plain(253, &[]);
                    block.instructions += 1;
                }
            }
            blocks.push(block);
        }
        self.plain(56, &[]);
        Code { id, parameter, blocks }
    }

    pub fn words(&self) -> Vec<u32> {
        let mut words = vec![eitri::spirv::MAGIC, 0x0001_0200, 0, self.next, 0];
        words.extend(&self.before);
        words.extend(&self.globals);
        words.extend(&self.code);
        words
    }
}

/// State of a description under construction, with the ids that later calls can use.
struct Making<'c> {
    c: Choices<'c>,
    m: Builder,
    binding: Binding,
    unit: UnitId,
    files: Vec<FileId>,
    /// Types of the unit with their sizes in bits.
    types: Vec<(TypeId, Option<u64>)>,
    /// The unit, and its namespaces.
    scopes: Vec<ScopeId>,
    functions: Vec<FunctionId>,
    constant: Id,
    names: u32,
}

/// Scopes and variables of a function.
struct Inside {
    /// The function's own scope, its blocks, and inlined calls with their blocks.
    scopes: Vec<ScopeId>,
    /// Variables of 32 bits.
    words: Vec<VariableId>,
    /// Variables of 64 bits.
    pairs: Vec<VariableId>,
    /// Pointers to arrays: as large as a 64-bit variable, without parts.
    pointers: Vec<VariableId>,
}

impl Making<'_> {
    fn name(&mut self, prefix: &str) -> String {
        self.names += 1;
        // Some names recur.
        format!("{prefix}{}", self.names % 23)
    }

    fn line(&mut self) -> Option<SourceLine> {
        let file = self.c.one(&self.files);
        let line = self.c.below(40) as u32;
        let column = self.c.below(9) as u32;
        (line != 0).then_some(SourceLine::new(file, line).column(column))
    }

    fn some_line(&mut self) -> SourceLine {
        self.line().unwrap_or(SourceLine::new(self.files[0], 1))
    }

    fn whole(&mut self, core: &Core, codes: &[Code]) {
        let units = 1 + self.c.below(2);
        for index in 0..units {
            if index > 0 {
                self.unit = self.m.unit(&format!("{index}.cl"));
            }
            self.files = vec![self.m.primary_file(self.unit).expect("the file")];
            self.types.clear();
            self.functions.clear();
            self.unit_of(index, units, core, codes);
        }
    }

    fn unit_of(&mut self, index: usize, units: usize, core: &Core, codes: &[Code]) {
        let unit = self.unit;
        self.scopes = vec![];
        if self.c.maybe() {
            let mut of = self.m.describe_unit(unit).expect("the unit");
            of.directory("/src").language(Language::OPENCL_C);
            let file = self.m.file(unit, "a.h", Some("include")).expect("a file");
            self.m.file_source(file, "one\ntwo\n").expect("a text");
            // Lines are checked against the text, so that no line refers to this file.
        }
        if self.c.maybe() {
            self.files.push(self.m.file(unit, "b.h", None).expect("a file"));
        }
        for _ in 0..self.c.below(3) {
            let name = self.name("n");
            let namespace = match self.scopes.last().copied().filter(|_| self.c.maybe()) {
                Some(around) => self.m.namespace(around, &name),
                None if self.c.maybe() => self.m.anonymous_namespace(unit),
                None => self.m.namespace(unit, &name),
            };
            let namespace = namespace.expect("a namespace");
            if let Some(line) = self.line() {
                self.m.begins(namespace, line).expect("a line");
            }
            self.scopes.push(namespace);
        }
        self.some_types();
        for (number, code) in codes.iter().enumerate() {
            if number % units == index {
                self.function(code);
            }
        }
        if self.c.maybe() {
            self.some_types();
        }
        for _ in 0..self.c.below(3) {
            self.global(core);
        }
        self.imports();
        self.macros();
        if self.c.maybe() && !self.functions.is_empty() {
            self.m.describe_unit(unit).expect("the unit").optimized();
        }
    }

    /// The unit, or one of its namespaces.
    fn outside(&mut self) -> Option<ScopeId> {
        let index = self.c.below(self.scopes.len() + 1);
        index.checked_sub(1).map(|index| self.scopes[index])
    }

    fn described_type(&mut self, ty: TypeId, is_scoped: bool) {
        let line = self.line();
        let scope = self.outside().filter(|_| is_scoped);
        let mut of = self.m.describe_type(ty).expect("a type");
        if let Some(line) = line {
            of.declared(line);
        }
        if let Some(scope) = scope {
            of.within(scope).expect("a scope");
        }
    }

    fn some_types(&mut self) {
        let unit = self.unit;
        let uint = self.m.base_type(unit, "uint", BaseEncoding::Unsigned, 32).expect("a type");
        self.types.push((uint, Some(32)));
        for _ in 0..self.c.below(9) {
            let (of, bits) = self.c.one(&self.types);
            let name = self.name("t");
            let m = &mut self.m;
            let whole = bits.filter(|bits| bits % 8 == 0);
            let (ty, bits) = match self.c.below(14) {
                0 if whole.is_some() && self.c.below(4) == 0 => {
                    let [scope, rows, columns, usage] = [(); 4].map(|()| self.c.below(17) as u32);
                    (m.cooperative_matrix(unit, of, scope, rows, columns, usage).expect("a type"), None)
                }
                0 => {
                    let bits = self.c.one(&[1, 8, 16, 64]);
                    let encoding = self.c.one(&[
                        BaseEncoding::Signed,
                        BaseEncoding::Boolean,
                        BaseEncoding::UnsignedChar,
                        BaseEncoding::ComplexFloat,
                    ]);
                    (m.base_type(unit, &name, encoding, bits).expect("a type"), Some(bits))
                }
                1 => {
                    let memory = self.c.one(&[
                        None,
                        Some(MemorySpace::Global),
                        Some(MemorySpace::Constant),
                        Some(MemorySpace::Group),
                        Some(MemorySpace::Private),
                    ]);
                    let kind = self.c.one(&[
                        PointerKind::Pointer,
                        PointerKind::Reference,
                        PointerKind::RvalueReference,
                    ]);
                    let ty = m.pointer_of(unit, kind, Some(of), SpaceId::DEFAULT, memory).expect("a type");
                    (ty, Some(64))
                }
                2 => (m.pointer(unit, None).expect("a type"), Some(64)),
                3 if whole.is_some() => {
                    let count = self.c.one(&[None, Some(1), Some(5)]);
                    let all = [count, Some(2)];
                    let ty = m.array(unit, of, &all).expect("a type");
                    (ty, count.and_then(|count| Some(bits? * count * 2)))
                }
                4 if whole.is_some() => {
                    let count = self.c.one(&[2, 3, 4, 8]);
                    let room = if count == 3 { 4 } else { count };
                    let (vector, bits) =
                        (m.vector(unit, of, count).expect("a type"), bits.map(|bits| bits * room));
                    match self.c.below(3) {
                        0 => {
                            let major = if self.c.maybe() { Major::Column } else { Major::Row };
                            let stride = bits.filter(|_| self.c.maybe()).map(|bits| bits + 64);
                            let matrix = m.matrix_of(unit, vector, 2, major, stride);
                            (matrix.expect("a type"), stride.or(bits).map(|bits| bits * 2))
                        }
                        _ => (vector, bits),
                    }
                }
                5 => {
                    let of = Some(of).filter(|_| self.c.maybe());
                    let ty = m.typedef(unit, &name, of).expect("a type");
                    self.described_type(ty, true);
                    (ty, of.and(bits))
                }
                6 => {
                    let qualifier = self.c.one(&[
                        Qualifier::Const,
                        Qualifier::Volatile,
                        Qualifier::Restrict,
                        Qualifier::Atomic,
                    ]);
                    (m.qualified(unit, qualifier, Some(of)).expect("a type"), bits)
                }
                7 => {
                    let int = m.base_type(unit, "int", BaseEncoding::Signed, 32).expect("a type");
                    let values = [("A", -1), ("B", 1 << 30)];
                    let ty = if self.c.maybe() {
                        m.enumeration(unit, Some(&name), int, &values)
                    } else {
                        m.enum_class(unit, Some(&name), int, &values)
                    };
                    let ty = ty.expect("a type");
                    self.described_type(ty, true);
                    (ty, Some(32))
                }
                8..=10 => self.composite(name),
                11 => {
                    let ty = m.incomplete(unit, CompositeKind::Struct, &name).expect("a type");
                    (ty, None)
                }
                12 => (m.unspecified_type(unit, &name).expect("a type"), None),
                _ => {
                    let ty = m.subroutine(unit, Some(of), &[of]).expect("a type");
                    (m.pointer(unit, Some(ty)).expect("a type"), Some(64))
                }
            };
            self.types.push((ty, bits));
        }
    }

    fn composite(&mut self, name: String) -> (TypeId, Option<u64>) {
        let unit = self.unit;
        let members: Vec<_> = (0..self.c.below(4)).map(|_| self.c.one(&self.types)).collect();
        let members: Vec<_> = members.into_iter().filter(|(_, bits)| bits.is_some()).collect();
        let bytes = members.iter().map(|(_, bits)| bits.unwrap_or(0).div_ceil(8)).sum::<u64>() + 8;
        let name = Some(&*name).filter(|_| self.c.below(4) > 0);
        let kind = self.c.below(3);
        let ty = match kind {
            0 => self.m.structure(unit, name, bytes),
            1 => self.m.class(unit, name, bytes),
            _ => self.m.union(unit, name, bytes),
        };
        let ty = ty.expect("a type");
        self.described_type(ty, true);
        let access =
            [None, Some(Accessibility::Public), Some(Accessibility::Private), Some(Accessibility::Protected)];
        let mut at = 0;
        for (of, bits) in members {
            let name = self.name("m");
            let mut member = DataMember::new(&name, of, at);
            if let Some(access) = self.c.one(&access) {
                member = member.accessibility(access);
            }
            if let Some(line) = self.line() {
                member = member.declared(line);
            }
            if self.c.below(5) == 0 {
                member = member.artificial();
            }
            self.m.data_member(ty, member).expect("a member");
            at += bits.unwrap_or(0).div_ceil(8);
        }
        let uint = self.types[0].0;
        self.m.bit_field(ty, "bits", uint, at * 8 + 3, 5).expect("a member");
        self.m.member(ty, "self", uint, 0).expect("a member");
        let back = self.m.pointer(unit, Some(ty)).expect("a type");
        self.types.push((back, Some(64)));
        if self.c.maybe() {
            let passed = self.c.one(&[Passed::ByValue, Passed::ByReference]);
            self.m.describe_type(ty).expect("a type").passed(passed).expect("a composite");
        }
        if self.c.maybe() {
            let name = self.name("s");
            let mut member = self.m.static_member(ty, &name, uint).expect("a member");
            if self.c.maybe() {
                member.const_value(&[1, 2, 3, 4]).expect("a value");
            } else {
                let id = member.id();
                self.m.definition(unit, id).expect("a definition").external();
            }
        }
        if kind < 2 && self.c.maybe() {
            let base = self.m.structure(unit, Some("base"), 4).expect("a type");
            let access = self.c.one(&access);
            self.m.base(ty, base, 4, access).expect("a base");
        }
        if kind < 2 && self.c.maybe() {
            self.m
                .template(ty, Template::ty("T", Some(uint)))
                .expect("a parameter")
                .template(ty, Template::value("N", uint, &[9, 0, 0, 0]))
                .expect("a parameter")
                .template(ty, Template::named("A", "vector"))
                .expect("a parameter")
                .template(
                    ty,
                    Template::pack("P", vec![Template::ty("", None), Template::ty("U", Some(uint))]),
                )
                .expect("a parameter");
        }
        if self.c.maybe() {
            let name = self.name("method");
            let line = self.line();
            let mut method = self.m.function_declaration(ty, &name).expect("a function");
            method.external().returns(uint).expect("a type");
            if let Some(line) = line {
                method.declared(line);
            }
            if self.c.maybe() {
                method.accessibility(Accessibility::Public).explicit();
            }
            let method = method.id();
            let this = self.m.parameter(method, "this", back).expect("a parameter").artificial().id();
            self.m.describe_function(method).expect("there").object_pointer(this).expect("a parameter");
            if self.c.maybe() {
                let definition = self.m.function_definition(unit, method).expect("a function").id();
                self.m.parameter(definition, "this", back).expect("a parameter").artificial();
            }
        }
        (ty, Some(bytes * 8))
    }

    /// A function with code, its blocks and variables, and its statements.
    fn function(&mut self, code: &Code) {
        let name = self.name("f");
        let linkage = format!("_Z{name}");
        let scope = self.outside();
        let line = self.line();
        let ty = self.c.one(&self.types).0;
        let is_external = self.c.maybe();
        let has_linkage = self.c.maybe();
        let returns = self.c.maybe();
        let function = match scope {
            Some(scope) => self.m.function(scope, &name),
            None => self.m.function(self.unit, &name),
        };
        let mut function = function.expect("a function");
        if let Some(line) = line {
            function.declared(line).body_line(line.line + 1);
        }
        if is_external {
            function.external();
        }
        if has_linkage {
            function.linkage_name(&linkage);
        }
        if returns {
            function.returns(ty).expect("a type");
        }
        let id = function.id();
        self.binding.function(id, code.id);
        let mut inside =
            Inside { scopes: vec![], words: Vec::new(), pairs: Vec::new(), pointers: Vec::new() };
        let uint = self.types[0].0;
        let pair = self.m.vector(self.unit, uint, 2).expect("a type");
        for _ in 0..self.c.below(3) {
            let name = self.name("p");
            let line = self.line();
            let mut parameter = self.m.parameter(id, &name, uint).expect("a parameter");
            line.map(|line| parameter.declared(line).id());
            inside.words.push(parameter.id());
        }
        self.variables(id, uint, pair, &mut inside);
        self.blocks(id, uint, pair, &mut inside);
        self.calls(id, &mut inside);
        self.statements(code, &inside);
        self.functions.push(id);
    }

    fn variables(&mut self, scope: impl InScope + Copy, uint: TypeId, pair: TypeId, inside: &mut Inside) {
        for _ in 0..self.c.below(3) {
            let name = self.name("v");
            let is_pair = self.c.maybe();
            let line = self.line();
            let ty = if is_pair { pair } else { uint };
            let mut variable = self.m.variable(scope, &name, ty).expect("a variable");
            line.map(|line| variable.declared(line).id());
            if self.names.is_multiple_of(5) {
                variable.artificial();
            }
            let id = variable.id();
            if is_pair { &mut inside.pairs } else { &mut inside.words }.push(id);
        }
    }

    fn blocks(&mut self, id: FunctionId, uint: TypeId, pair: TypeId, inside: &mut Inside) {
        for _ in 0..self.c.below(4) {
            let parent = inside.scopes.last().copied().filter(|_| self.c.maybe());
            let block = match parent {
                Some(parent) => self.m.block(parent, &[]),
                None => self.m.block(id, &[]),
            };
            let block = block.expect("a block");
            if let Some(line) = self.line() {
                self.m.begins(block, line).expect("a line");
            }
            if self.c.below(3) == 0 {
                let number = 1 + self.c.below(5) as u32;
                self.m.discriminator(block, number).expect("a block");
            }
            inside.scopes.push(block);
            self.variables(block, uint, pair, inside);
        }
        if self.c.maybe() {
            // An array whose number of elements is a parameter, and one that is local to the function.
            if let Some(&count) = inside.words.first() {
                let array =
                    self.m.array_of(self.unit, uint, &[Extent::variable(count)], None).expect("a type");
                let pointer = self.m.pointer(self.unit, Some(array)).expect("a type");
                let name = self.name("vla");
                let variable = self.m.variable(id, &name, pointer).expect("a variable").id();
                inside.pairs.push(variable);
                inside.pointers.push(variable);
            }
        }
    }

    /// Inlined calls, at any depth.
    fn calls(&mut self, id: FunctionId, inside: &mut Inside) {
        if self.c.maybe() {
            return;
        }
        let name = self.name("g");
        let callee = self.m.function(self.unit, &name).expect("a function").id();
        let uint = self.types[0].0;
        let own = self.m.variable(callee, "own", uint).expect("a variable").id();
        let block = self.m.block(callee, &[]).expect("a block");
        let line = self.some_line();
        self.m.begins(block, line).expect("a line");
        let inner = self.m.variable(block, "inner", uint).expect("a variable").id();
        let mut around: Option<ScopeId> = inside.scopes.last().copied();
        for _ in 0..1 + self.c.below(3) {
            // A call is in the file of its scope.
            let call = SourceLine::new(self.files[0], 1 + self.c.below(30) as u32);
            let inlined = match around {
                Some(around) => self.m.inlined(around, callee, &[], call),
                None => self.m.inlined(id, callee, &[], call),
            };
            let inlined = inlined.expect("a scope");
            let inner_block = self.m.inlined_block(inlined, block, &[]).expect("a block");
            let variable = self.m.inlined_variable(inlined, own).expect("a variable").id();
            let deeper = self.m.inlined_variable(inner_block, inner).expect("a variable").id();
            inside.words.extend([variable, deeper]);
            inside.scopes.extend([inlined, inner_block]);
            around = if self.c.maybe() { Some(inner_block) } else { None };
        }
    }

    fn statements(&mut self, code: &Code, inside: &Inside) {
        for block in &code.blocks {
            for _ in 0..self.c.below(4) {
                let position = self.position(code, block);
                match self.c.below(6) {
                    0 => drop(self.binding.no_scope(position)),
                    1 | 2 => {
                        if !inside.scopes.is_empty() {
                            let scope = self.c.one(&inside.scopes);
                            self.binding.scope(position, scope);
                        }
                    }
                    3 => drop(self.binding.no_line(position)),
                    _ => {
                        let line = self.some_line();
                        self.binding.line(position, line);
                    }
                }
            }
            for variable in block.variables.clone() {
                if let Some(&of) = inside.words.get(self.c.below(8)) {
                    let position = Position::after(variable);
                    let held = self.bits_of(Provider::value(variable));
                    self.binding.declare(position, of, held);
                }
            }
            for (id, bits, there) in block.values.clone() {
                let all = if bits == 32 { &inside.words } else { &inside.pairs };
                let Some(&of) = all.get(self.c.below(8)) else { continue };
                let position = match self.c.below(2) {
                    0 => Position::after(id),
                    // A merge instruction and its branch stay adjacent.
                    _ => Position::before(code.id, block.id, there),
                };
                let held = match self.c.below(6) {
                    0 => vec![Provider::pointer(id).plus(self.c.one(&[-8, 4]))],
                    1 => vec![Provider::value(id).plus(self.c.one(&[-1, 12]))],
                    2 => vec![Provider::pointer(id).in_space(3)],
                    3 if bits == 64 && !inside.pointers.contains(&of) => {
                        vec![
                            Provider::value(id).taken(0..32).part(0),
                            Provider::value(id).taken(32..64).part(1),
                        ]
                    }
                    4 => vec![],
                    5 => vec![Provider::expression(
                        id,
                        &[DebugOperation::Constu(5), DebugOperation::Plus, DebugOperation::StackValue],
                    )],
                    _ => vec![Provider::value(id)],
                };
                self.binding.value(position, of, &held);
            }
            if let Some(&of) = inside.words.first() {
                let held = self.bits_of(Provider::value(code.parameter));
                self.binding.value(Position::after(code.parameter), of, &[held]);
            }
        }
    }

    fn bits_of(&mut self, held: Provider) -> Provider {
        match self.c.below(4) {
            0 => held.taken(8..16).bits(16..24),
            _ => held,
        }
    }

    fn position(&mut self, code: &Code, block: &Block) -> Position {
        let last = block.instructions - 1;
        match self.c.below(4) {
            0 => Position::start(code.id, block.id),
            1 if !block.values.is_empty() => Position::after(self.c.one(&block.values).0),
            _ => {
                // Before a merge instruction, or before the end of the block.
                let at = self.c.below(last as usize + 1) as u32;
                let at = if at == last && last >= 2 { last - 2 } else { at };
                Position::before(code.id, block.id, at.min(last))
            }
        }
    }

    fn global(&mut self, core: &Core) {
        let name = self.name("g");
        let line = self.line();
        let scope = self.outside();
        let uint = self.types[0].0;
        let variable = match scope {
            Some(scope) => self.m.variable(scope, &name, uint),
            None => self.m.variable(self.unit, &name, uint),
        };
        let mut variable = variable.expect("a variable");
        line.map(|line| variable.declared(line).id());
        if self.names.is_multiple_of(2) {
            variable.external();
        }
        if self.names.is_multiple_of(3) {
            variable.linkage_name("_Zlinked");
        }
        let id = variable.id();
        match self.c.below(4) {
            0 => drop(self.binding.global(id, self.c.one(&core.variables))),
            1 => drop(self.binding.global(id, self.constant)),
            2 => {
                let mut variable = self.m.describe_variable(id).expect("there");
                variable.const_value(&[5, 0, 0, 0]).expect("a value");
            }
            _ => {}
        }
    }

    fn imports(&mut self) {
        let unit = self.unit;
        if let Some(&namespace) = self.scopes.first() {
            if self.c.maybe() {
                let line = self.some_line();
                let mut import = self.m.import(unit, Imported::AllOf(namespace)).expect("an import");
                import.declared(line).expect("a line");
            }
            if self.c.maybe() {
                let mut import = self.m.import(unit, Imported::Namespace(namespace)).expect("an import");
                import.name("alias").expect("a name");
            }
        }
        if let Some(&function) = self.functions.first()
            && self.c.maybe()
        {
            self.m.import(unit, Imported::Function(function)).expect("an import");
        }
        if self.c.maybe() {
            let ty = self.types[0].0;
            self.m.import(unit, Imported::Type(ty)).expect("an import");
        }
    }

    fn macros(&mut self) {
        if self.c.maybe() {
            return;
        }
        let (file, other) = (self.files[0], *self.files.last().expect("a file"));
        let mut macros = self.m.macros(self.unit).expect("the unit");
        let all = (|| {
            macros.define(0, "NDEBUG")?.define(0, "N 4")?.file(0, file)?;
            macros.define(1, "MAX(a,b) ((a) > (b) ? (a) : (b))")?;
            macros.file(2, other)?.define(3, "X 1")?.end_file()?;
            macros.undefine(5, "MAX")?.define(6, "MAX")?.end_file().map(drop)
        })();
        all.expect("macros");
    }
}
