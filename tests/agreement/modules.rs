//! Random modules.

use core::ops::Range;

use eitri::build::{AttributeValue, Builder, DataMember, Extent, InScope, Major, Template};
use eitri::emit::elf::{CodeSymbol, CodeSymbolKind, ObjectCode, SymbolBinding, SymbolLocation, Visibility};
use eitri::lower::Consumer;
use eitri::model::{
    Accessibility, Address, BaseEncoding, CompositeKind, FileId, FunctionId, Language, LineTableRow, Loc,
    MemorySpace, Passed, PointerKind, Qualifier, RegionId, RegionKind, ScopeId, SourceLine, TypeId, UnitId,
    Val, VariableId, VariantValues,
};
use eitri::op::Expr;
use eitri::target::{Scaling, SpaceId, Target};

use crate::agreement::Made;
use crate::agreement::choices::Choices;
use crate::agreement::locations::{Names, plain_register};

/// A vendor's attribute, on types and units.
pub const VENDOR: gimli::DwAt = gimli::DwAt(0x3000);

/// Scope of a variable.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Is {
    Global,
    /// The body of a function, inlined or not: the variable can be a parameter.
    OfFunction,
    OfBlock,
}

/// Position of an entity in a function.
#[derive(Clone, Copy)]
struct In {
    /// Function with the body, and whether the body was inlined.
    body: (FunctionId, bool),
    is: Is,
}

/// Maker of a random module.
pub struct Maker<'c, 'n> {
    pub c: &'c mut Choices<'n>,
    pub m: Builder,
    pub names: Names,
    code: ObjectCode,
    /// Bytes of code.
    size: u64,
    // Entities of the unit:
    pub unit: UnitId,
    pub files: Vec<FileId>,
    pub types: Vec<(TypeId, u64)>,
    /// A namespace for types.
    namespace: ScopeId,
    /// Variables that can be counts of arrays.
    unit_variables: Vec<VariableId>,
    /// Functions with the variables of their bodies.
    pub functions: Vec<(FunctionId, Vec<VariableId>)>,
    /// Blocks of functions.
    blocks: Vec<(FunctionId, ScopeId)>,
    /// Declared functions, and parameters of functions.
    pub functions_to_call: Vec<FunctionId>,
    pub parameters_of: Vec<(FunctionId, Vec<VariableId>)>,
    pub namespaces: Vec<ScopeId>,
    pub globals: Vec<VariableId>,
    /// Structures and unions.
    pub composites: Vec<TypeId>,
}

pub fn module(c: &mut Choices<'_>, target: Target) -> Made {
    let mut m = Builder::new(target);
    let mut names = Names::new(&mut m);
    names.exprs.push(m.expr(Expr::raw([0x30]), &[]).unwrap());
    let unit = m.unit("first.cl");
    // Each unit has its own.
    let namespace = m.namespace(unit, "first").unwrap();
    let mut maker = Maker {
        namespace,
        unit_variables: Vec::new(),
        c,
        m,
        names,
        code: ObjectCode::default(),
        size: 0,
        unit,
        files: Vec::new(),
        types: Vec::new(),
        functions: Vec::new(),
        blocks: Vec::new(),
        functions_to_call: Vec::new(),
        parameters_of: Vec::new(),
        namespaces: Vec::new(),
        globals: Vec::new(),
        composites: Vec::new(),
    };
    for index in 0..maker.c.between(1, 3) {
        if index > 0 {
            let name = maker.c.of(&["a.cl", "b.cl", "first.cl"]);
            maker.unit = maker.m.unit(name);
        }
        maker.fill_unit();
    }
    maker.finish()
}

/// Adds the symbols of [`Names`], with `data` at an offset.
pub fn with_data(code: ObjectCode, offset: u64, target: &Target) -> ObjectCode {
    let mut code = code.with_function("data", offset, 16);
    code.externals.push("elsewhere".into());
    if target.lanes() > 1 {
        code.symbols.push(CodeSymbol {
            name: "lds".into(),
            place: SymbolLocation::Local { align: 8 },
            size: 256,
            kind: CodeSymbolKind::Object,
            binding: SymbolBinding::Global,
            visibility: Visibility::Default,
        });
    }
    code
}

impl Maker<'_, '_> {
    fn finish(mut self) -> Made {
        self.code.sections = ObjectCode::text(vec![0; self.size as usize + 64]).sections;
        let code = with_data(self.code, self.size + 8, self.m.target());
        Made { module: self.m.finish().unwrap(), code }
    }

    fn fill_unit(&mut self) {
        let unit = self.unit;
        if self.c.is(2) {
            let mut described = self.m.describe_unit(unit).unwrap();
            let language =
                [Language::OPENCL_C, Language::HIP, Language::C23, Language(0x8001), Language::CPP17];
            described.directory("/src").producer("a compiler").language(self.c.of(&language));
            if self.c.is(4) {
                described.language_version(202_600);
            }
            if self.c.is(3) {
                described.command_line(self.c.of(&["-O2", "-O0 -g"])).optimized();
            }
        }
        self.files = vec![self.m.primary_file(unit).unwrap()];
        for _ in 0..self.c.below(3) {
            let (name, directory) =
                (self.c.of(&["a.h", "b.h"]), self.c.of(&[None, Some("inc"), Some("/src")]));
            self.files.push(self.m.file(unit, name, directory).unwrap());
        }
        if self.c.is(4) {
            for (at, &file) in self.files.iter().enumerate() {
                self.m.file_md5(file, [at as u8 + 7; 16]).unwrap();
            }
        }
        if self.c.is(2) {
            self.macros();
        }
        self.types.clear();
        self.functions.clear();
        self.blocks.clear();
        self.functions_to_call.clear();
        self.parameters_of.clear();
        self.namespaces.clear();
        self.globals.clear();
        self.composites.clear();
        self.names.procedures.clear();
        self.make_types();
        for _ in 0..self.c.below(3) {
            let bits = self.c.of(&[32, 64, 96]);
            let loc = self.names.loc(self.c, bits, 2);
            if let Ok(procedure) = self.m.procedure(unit, &loc) {
                self.names.procedures.push((procedure, bits));
            }
        }
        for _ in 0..self.c.below(3) {
            let global = self.variable(unit, 0, None, Is::Global);
            self.globals.extend(global);
        }
        for _ in 0..self.c.between(1, 3) {
            match self.c.below(7) {
                6 => {
                    let namespace = self.namespace(unit);
                    self.function(namespace);
                }
                5 => {
                    let global = self.declared_variable();
                    self.globals.push(global);
                }
                4 => self.declared_function(),
                3 => {
                    let outer = self.namespace(unit);
                    self.namespace(outer);
                    self.import(outer);
                    self.import(unit);
                }
                _ => self.function(unit),
            }
        }
    }

    /// Actions of a preprocessor, perhaps only those of the command line.
    fn macros(&mut self) {
        let long = "A_MACRO_WITH_A_TEXT_THAT_IS_LONGER_THAN_AN_OFFSET (1 + 2)";
        let texts = ["A", "B 2", "MAX(a,b) ((a) > (b) ? (a) : (b))", "É é", long];
        let mut macros = self.m.macros(self.unit).unwrap();
        for _ in 0..self.c.below(3) {
            macros.define(0, self.c.of(&texts)).unwrap();
        }
        if self.c.is(4) {
            return;
        }
        macros.file(0, self.files[0]).unwrap();
        let mut depth = 1;
        for _ in 0..self.c.below(8) {
            let line = self.c.between(1, 300) as u32;
            match self.c.below(4) {
                0 => macros.undefine(line, self.c.of(&["A", "MAX"])),
                1 => {
                    depth += 1;
                    macros.file(line, self.c.of(&self.files))
                }
                2 if depth > 1 => {
                    depth -= 1;
                    macros.end_file()
                }
                _ => macros.define(line, self.c.of(&texts)),
            }
            .unwrap();
        }
        for _ in 0..depth {
            macros.end_file().unwrap();
        }
    }

    fn namespace(&mut self, scope: impl InScope) -> ScopeId {
        let name = self.c.of(&["ns", "other"]);
        let namespace = match self.c.below(5) {
            0 => self.m.namespace(scope, name),
            1 => self.m.inline_namespace(scope, name),
            2 => self.m.language_module(scope, name),
            3 => self.m.common_block(scope, name),
            _ => self.m.anonymous_namespace(scope),
        }
        .unwrap();
        if self.c.is(2) {
            let line = self.line();
            self.m.begins(namespace, line).unwrap();
        }
        let global = self.variable(namespace, 0, None, Is::Global);
        self.globals.extend(global);
        self.namespaces.push(namespace);
        namespace
    }

    /// Code for another function: its symbol and size.
    pub fn code_for(&mut self) -> (String, u64) {
        let symbol = format!("code{}", self.size);
        let bytes = 4 * self.c.between(1, 40);
        self.code = core::mem::take(&mut self.code).with_function(symbol.clone(), self.size, bytes);
        self.size += bytes;
        (symbol, bytes)
    }

    fn make_types(&mut self) {
        let unit = self.unit;
        self.namespace = self.m.namespace(unit, "types").unwrap();
        self.unit_variables.clear();
        let bases = [
            ("int", BaseEncoding::Signed, 32),
            ("float", BaseEncoding::Float, 32),
            ("long", BaseEncoding::Signed, 64),
            ("uchar", BaseEncoding::UnsignedChar, 8),
            ("char", BaseEncoding::SignedChar, 8),
            ("ushort", BaseEncoding::Unsigned, 16),
            ("bool", BaseEncoding::Boolean, 8),
            ("char32", BaseEncoding::Utf, 32),
            ("addr", BaseEncoding::Address, 64),
            ("int5", BaseEncoding::Signed, 5),
            ("int24", BaseEncoding::Signed, 24),
            ("uint128", BaseEncoding::Unsigned, 128),
        ];
        for _ in 0..self.c.between(1, 4) {
            let (name, encoding, bits) = self.c.of(&bases);
            let ty = self.m.base_type(unit, name, encoding, bits).unwrap();
            self.types.push((ty, bits));
        }
        if self.c.is(2) {
            let count = self.m.variable(self.namespace, "count", self.types[0].0).unwrap().id();
            self.unit_variables.push(count);
        }
        for _ in 0..self.c.below(12) {
            let made = self.make_type();
            self.types.push(made);
            let number = made.0.as_u32();
            if number.is_multiple_of(6) {
                // The builder refuses a second value, for a type that was not made now.
                drop(self.m.attribute(made.0, VENDOR, AttributeValue::Unsigned(number.into())).map(drop));
            }
        }
        self.m.attribute(self.unit, VENDOR, AttributeValue::Unsigned(self.types.len() as u64)).unwrap();
    }

    fn make_type(&mut self) -> (TypeId, u64) {
        let unit = self.unit;
        let (of, bits) = self.c.of(&self.types);
        let is_small = bits > 0 && bits <= 64;
        match self.c.below(18) {
            0 => (self.m.pointer(unit, Some(of)).unwrap(), 64),
            1 => {
                let spaces = self.m.target().spaces();
                let space = spaces[self.c.below(spaces.len())].clone();
                let to = Some(of).filter(|_| self.c.is(2));
                (self.m.pointer_into(unit, to, space.id).unwrap(), space.address_bits.into())
            }
            2 if is_small && bits % 8 == 0 => {
                let counts =
                    self.c.of(&[&[Some(3)][..], &[Some(2), Some(2)], &[None], &[Some(2), None], &[]]);
                let count: Option<u64> = counts.iter().copied().product();
                (self.m.array(unit, of, counts).unwrap(), count.map_or(8, |count| count * bits))
            }
            3 if is_small && bits % 8 == 0 => {
                let count = self.c.of(&[2, 3, 4]);
                let bits = bits * if count == 3 { 4 } else { count };
                let vector = self.m.vector(unit, of, count).unwrap();
                match self.c.below(3) {
                    0 => {
                        let major = if self.c.is(2) { Major::Column } else { Major::Row };
                        let stride = self.c.of(&[None, Some(bits), Some(bits + 24)]);
                        // The builder refuses vectors that overlap, because their type is larger than assumed.
                        let matrix = self.m.matrix_of(unit, vector, 2, major, stride);
                        matrix.map_or((vector, bits), |matrix| (matrix, 2 * stride.unwrap_or(bits)))
                    }
                    _ => (vector, bits),
                }
            }
            4 | 5 => self.make_composite(),
            6 => {
                let name = self.c.of(&[None, Some("mode")]);
                let most = (1i128 << (bits.clamp(2, 64) - 1)) - 1;
                let values = [("off", 0), ("on", i128::from(bits > 1)), ("all", most)];
                let count = self.c.below(if bits > 1 { 4 } else { 2 });
                // A type that is smaller than assumed, such as an array of no elements, has no space for the values.
                let made = self.m.enumeration(unit, name, of, &values[..count]);
                (made.unwrap_or(of), bits)
            }
            7 => {
                let of = Some(of).filter(|_| !self.c.is(4));
                (self.m.typedef(unit, "name", of).unwrap(), of.map_or(8, |_| bits))
            }
            8 => {
                let all = [Qualifier::Const, Qualifier::Volatile, Qualifier::Restrict, Qualifier::Atomic];
                let of = Some(of).filter(|_| !self.c.is(4));
                (self.m.qualified(unit, self.c.of(&all), of).unwrap(), of.map_or(8, |_| bits))
            }
            9 => {
                let parameters: Vec<_> = (0..self.c.below(3)).map(|_| self.c.of(&self.types).0).collect();
                (self.m.subroutine(unit, Some(of).filter(|_| self.c.is(2)), &parameters).unwrap(), 8)
            }
            10 => {
                let kind = self.c.of(&[PointerKind::Reference, PointerKind::RvalueReference]);
                let memory = self.c.of(&[None, Some(MemorySpace::Group), Some(MemorySpace::Private)]);
                (self.m.pointer_of(unit, kind, Some(of), SpaceId::DEFAULT, memory).unwrap(), 64)
            }
            11 => {
                let class = self.make_composite().0;
                (self.m.member_pointer(unit, class, of).unwrap(), 64)
            }
            12 => (self.m.unspecified_type(unit, "nothing").unwrap(), 8),
            13 if is_small && bits % 8 == 0 => {
                let extents: Vec<Extent> = (0..self.c.between(1, 3)).map(|_| self.extent()).collect();
                let stride = self.c.of(&[None, Some(bits), Some(bits + 24)]);
                // The builder refuses elements that overlap, because their type is larger than assumed.
                self.m.array_of(unit, of, &extents, stride).map_or((of, bits), |array| (array, 8))
            }
            14 => {
                let kinds = [CompositeKind::Struct, CompositeKind::Class, CompositeKind::Union];
                (self.m.incomplete(unit, self.c.of(&kinds), "hidden").unwrap(), 8)
            }
            15 | 16 => {
                let made = self.make_composite();
                self.make_class(made.0);
                made
            }
            _ => (of, bits),
        }
    }

    fn extent(&mut self) -> Extent {
        let extent = match self.c.below(4) {
            0 => Extent::unknown(),
            1 => Extent::fixed(self.c.between(0, 300)),
            2 if !self.unit_variables.is_empty() => Extent::variable(self.c.of(&self.unit_variables)),
            _ => Extent::value(self.number()),
        };
        let extent = if self.c.is(2) { extent.from(self.c.of(&[-1, 0, 1, 200])) } else { extent };
        if self.c.is(2) { extent.index(self.types[0].0) } else { extent }
    }

    /// A number that every consumer can express.
    fn number(&mut self) -> Val {
        let reg = match self.m.target().lanes() {
            1 => plain_register(self.m.target()),
            _ => self.m.target().sgpr(7).unwrap(),
        };
        let number = Val::register(reg);
        match self.c.below(4) {
            0 => Val::constant(self.c.between(0, 300)),
            1 => number.plus(-3),
            2 => number.mul(Val::constant(12)),
            _ => number,
        }
    }

    /// Adds contents of C++ classes and Rust types.
    fn make_class(&mut self, class: TypeId) {
        let unit = self.unit;
        let access = [None, Some(Accessibility::Public), Some(Accessibility::Private)];
        for _ in 0..self.c.below(5) {
            let (of, bits) = self.c.of(&self.types);
            let access = self.c.of(&access);
            // The builder refuses members that do not fit.
            match self.c.below(8) {
                0 => drop(self.m.base(class, of, self.c.between(0, 8), access).map(drop)),
                1 => {
                    let is_plain = self.c.is(2);
                    let consumer = if is_plain { Consumer::dwarf5() } else { Consumer::llvm() };
                    let mut offset = Expr::build(consumer.encoding(8));
                    offset.ops().pick(0).deref().constu(self.c.between(0, 300)).minus().deref();
                    if is_plain {
                        offset.ops().plus();
                    } else {
                        offset.ops().offset();
                    }
                    let offset = self.m.expr(offset.finish().unwrap(), &[]).unwrap();
                    self.m.virtual_base(class, of, offset, access).unwrap();
                }
                2 => {
                    let line = self.line();
                    let member = DataMember::new("m", of, 0).mutable().declared(line);
                    let _ = self.m.data_member(class, member).map(drop);
                }
                3 => {
                    let bytes = vec![0x80; bits.div_ceil(8) as usize];
                    let value = match self.c.below(3) {
                        0 => Template::ty("T", Some(of)),
                        1 => Template::value("V", of, &bytes).default(),
                        _ => Template::pack("", [Template::named("C", "box"), Template::ty("", None)]),
                    };
                    let _ = self.m.template(class, value).map(drop);
                }
                4 => {
                    let value = Template::value_at("P", self.types[0].0, Loc::value(self.number()));
                    let _ = self.m.template(class, value).map(drop);
                }
                5 => {
                    let mut member = self.m.static_member(class, "s", of).unwrap();
                    let is_constant = bits > 0 && self.c.is(2);
                    if is_constant {
                        let _ = member.always(Loc::implicit(&vec![7; bits.div_ceil(8) as usize])).map(drop);
                    }
                    let id = member.id();
                    if !is_constant && self.c.is(2) {
                        self.m.definition(unit, id).unwrap().always(Loc::undefined()).unwrap();
                    }
                }
                6 => {
                    let inner = self.m.typedef(unit, "inner", Some(of)).unwrap();
                    self.m.describe_type(inner).unwrap().within(class).unwrap();
                }
                _ => self.make_variants(class),
            }
        }
        if self.c.is(2) {
            let scope = self.namespace;
            let line = self.line();
            let mut class = self.m.describe_type(class).unwrap();
            class.alignment(8).unwrap().declared(line).within(scope).unwrap();
            let passed = self.c.of(&[Passed::ByValue, Passed::ByReference]);
            if self.c.is(2) {
                class.passed(passed).unwrap();
            }
        }
    }

    fn make_variants(&mut self, class: TypeId) {
        let tag = self.types[0].0;
        let part = match self.c.below(3) {
            0 => self.m.untagged_variant_part(class, tag),
            1 => self.m.undiscriminated_variant_part(class),
            _ => self.m.variant_part(class, DataMember::new("", tag, 0).artificial()),
        };
        let Ok(part) = part else { return };
        let values = [VariantValues::Single(1), VariantValues::Range(2, 5), VariantValues::Single(15)];
        for count in 0..self.c.below(4) {
            let of = self.c.of(&self.types).0;
            // The first variant is the default.
            let Ok(variant) = self.m.variant(part, &values[..count]) else { continue };
            let _ = self.m.member(variant, "v", of, 0).map(drop);
        }
    }

    fn make_composite(&mut self) -> (TypeId, u64) {
        let unit = self.unit;
        let bytes = self.c.of(&[16, 8, 4, 32, 0]);
        let name = self.c.of(&[Some("s"), None]);
        let ty = match self.c.below(4) {
            0 => self.m.union(unit, name, bytes).unwrap(),
            1 => self.m.class(unit, name, bytes).unwrap(),
            _ => self.m.structure(unit, name, bytes).unwrap(),
        };
        for _ in 0..self.c.below(4) {
            let name = self.c.of(&["x", "y", ""]);
            let of = self.c.of(&self.types).0;
            // The builder refuses members that do not fit.
            let _ = match self.c.below(3) {
                0 => self.m.member(ty, name, of, self.c.between(0, 12)).map(drop),
                1 => {
                    let at = self.c.between(0, 40);
                    let bits = self.c.between(1, 8);
                    self.m.bit_field(ty, name, of, at, bits).map(drop)
                }
                _ => {
                    let pointer = self.m.pointer(unit, Some(ty)).unwrap();
                    self.m.member(ty, name, pointer, 0).map(drop)
                }
            };
        }
        self.composites.push(ty);
        (ty, bytes * 8)
    }

    fn function<S: InScope + Copy>(&mut self, scope: S) {
        let name = self.c.of(&["f", "g", "kernel"]);
        let bytes = 4 * self.c.between(1, 40);
        let is_placed = !self.c.is(4);
        let file = self.c.of(&self.files);
        let line = self.c.between(0, 300) as u32;
        let returns = self.c.of(&self.types).0;
        let symbol = format!("code{}", self.size);
        let base = match self.m.target().lanes() {
            1 => plain_register(self.m.target()),
            _ => self.m.target().sgpr(33).unwrap(),
        };
        let mut f = self.m.function(scope, name).unwrap();
        if is_placed && self.c.is(8) {
            f.address(Address::Constant(0x7000_0000 + self.size), bytes);
        } else if is_placed {
            f.code(&symbol, bytes);
        }
        if self.c.is(3) {
            f.linkage_name("_Zf");
        }
        if self.c.is(3) {
            f.returns(returns).unwrap();
        }
        if self.c.is(2) {
            f.declared(SourceLine::new(file, line)).body_line(line + 1);
        }
        if self.c.is(2) {
            f.external();
        }
        if self.c.is(3) {
            f.kernel();
        }
        if self.c.is(2) {
            f.stack_base(base).unwrap();
        } else {
            f.stack_at_zero();
        }
        if self.c.is(3) {
            f.scaling(self.c.of(&[Scaling::Lane, Scaling::Wave]));
        }
        let id = f.id();
        let mut variables = Vec::new();
        if is_placed {
            self.code = core::mem::take(&mut self.code).with_function(symbol, self.size, bytes);
            self.size += bytes + 4 * self.c.between(0, 3);
        }
        let bytes = if is_placed { bytes } else { 0 };
        self.describe(id);
        self.calls(id, &[], bytes);
        self.body(id, bytes, &[], 2, In { body: (id, false), is: Is::OfFunction }, &mut variables);
        if is_placed {
            self.rows(id, bytes);
            if self.m.target().lanes() > 1 && self.c.is(3) {
                self.regions(id, 0..bytes, bytes, None);
            }
        }
        self.functions.push((id, variables));
    }

    /// Divergent regions in a range of code, with nested regions. The builder refuses masks that depend on the lane.
    fn regions(&mut self, function: FunctionId, pcs: Range<u64>, bytes: u64, around: Option<RegionId>) {
        let mut start = pcs.start / 4;
        while start < pcs.end / 4 {
            let end = self.c.between(start + 1, pcs.end / 4);
            let pcs = 4 * start..4 * end;
            start = self.c.between(end, end + 3);
            let moves_at = 4 * self.c.between(pcs.start / 4, pcs.end / 4);
            let masks = [(0..moves_at, self.mask()), (moves_at..bytes, self.mask())];
            let masks = &masks[usize::from(moves_at == 0)..];
            let kind = self.c.of(&RegionKind::NAMES).0;
            let waits_at = 4 * self.c.between(0, bytes / 4 - 1);
            let Ok(mut lanes) = self.m.lanes(function) else { return };
            if let Some(around) = around {
                lanes.inside(around).unwrap();
            }
            if let Ok(region) = lanes.region(kind, pcs.clone(), waits_at, masks)
                && self.c.is(2)
            {
                self.regions(function, pcs, bytes, Some(region));
            }
        }
    }

    fn mask(&mut self) -> Loc {
        let target = self.m.target();
        let lanes = self.m.target().lanes();
        let scalars = (0..lanes.div_ceil(32) as u16).map(|index| target.sgpr(40 + index).unwrap());
        match self.c.below(4) {
            0 => Loc::over(scalars),
            1 => Loc::expr(self.c.of(&self.names.exprs)),
            _ => self.names.loc(self.c, lanes.into(), 2),
        }
    }

    fn body(
        &mut self,
        scope: impl InScope + Copy,
        bytes: u64,
        within: &[Range<u64>],
        depth: u32,
        inside: In,
        all: &mut Vec<VariableId>,
    ) {
        for _ in 0..self.c.below(4) {
            all.extend(self.variable(scope, bytes, None, inside.is));
        }
        for _ in 0..if depth > 0 { self.c.below(3) } else { 0 } {
            // Takes some of the enclosing scope's own ranges.
            let pcs = match within {
                [] => self.ranges(bytes),
                _ => within[..self.c.below(within.len() + 1)].to_vec(),
            };
            let code = if pcs.is_empty() { within } else { &pcs };
            if self.functions.is_empty() || self.c.is(2) {
                let block = self.block(scope, &pcs, inside.body);
                self.calls(block, &pcs, bytes);
                if self.c.is(5) {
                    // A nested function, which has code of its own.
                    self.function(block);
                }
                self.body(block, bytes, code, depth - 1, In { is: Is::OfBlock, ..inside }, all);
                continue;
            }
            let (callee, variables) = self.functions[self.c.below(self.functions.len())].clone();
            let file = self.c.of(&self.files);
            let column = self.c.below(3) as u32;
            let call = SourceLine::new(file, self.c.between(1, 100) as u32).column(column);
            let inlined = self.m.inlined(scope, callee, &pcs, call).unwrap();
            if self.c.is(3) {
                self.m.discriminator(inlined, self.c.below(4) as u32).unwrap();
            }
            self.calls(inlined, &pcs, bytes);
            for variable in variables {
                if self.c.is(2) {
                    all.extend(self.variable(inlined, bytes, Some(variable), Is::OfFunction));
                }
            }
            let inside = In { body: (callee, true), is: Is::OfFunction };
            self.body(inlined, bytes, code, depth - 1, inside, all);
        }
    }

    /// A block in the body of a function; for an inlined body, perhaps an instance of one of the function's blocks.
    fn block(&mut self, scope: impl InScope, pcs: &[Range<u64>], body: (FunctionId, bool)) -> ScopeId {
        let origins = self.blocks.iter().filter(|(of, _)| body == (*of, true));
        let origins: Vec<ScopeId> = origins.map(|&(_, block)| block).collect();
        let block = if origins.is_empty() || self.c.is(3) {
            self.m.block(scope, pcs)
        } else {
            self.m.inlined_block(scope, self.c.of(&origins), pcs)
        }
        .unwrap();
        if !body.1 {
            self.blocks.push((body.0, block));
        }
        if self.c.is(4) {
            let line = self.line();
            self.m.begins(block, line).unwrap();
            self.m.discriminator(block, 2).unwrap();
        }
        block
    }

    /// Ranges in order that do not touch.
    fn ranges(&mut self, bytes: u64) -> Vec<Range<u64>> {
        let mut ranges = Vec::new();
        let mut at = 0;
        for _ in 0..self.c.below(4) {
            let start = at + 4 * self.c.between(0, 3);
            let end = (start + 4 * self.c.between(1, 12)).min(bytes);
            if start < end {
                ranges.push(start..end);
            }
            at = end + 4;
        }
        ranges
    }

    fn rows(&mut self, function: FunctionId, bytes: u64) {
        for _ in 0..self.c.below(8) {
            let is_odd = self.m.target().min_instruction_bytes() == 1 && self.c.is(2);
            let pc = 4 * self.c.between(0, bytes / 4 - 1) + u64::from(is_odd);
            let mut row = LineTableRow::new(pc, self.c.of(&self.files), self.c.between(0, 500) as u32);
            row.column = self.c.below(100) as u32;
            row.discriminator = self.c.of(&[0, 0, 1, 9]);
            row.is_stmt = !self.c.is(3);
            row.is_prologue_end = self.c.is(3);
            row.is_epilogue_begin = self.c.is(3);
            self.m.row(function, row).unwrap();
        }
    }

    /// A variable in a scope with `bytes` bytes of code; 0 for a scope without code.
    fn variable(
        &mut self,
        scope: impl InScope + Copy,
        bytes: u64,
        origin: Option<VariableId>,
        is: Is,
    ) -> Option<VariableId> {
        let (ty, bits) = self.c.of(&self.types);
        let name = self.c.of(&["x", "y", "z", "x"]);
        let kind = self.c.below(6);
        let bits = if bits == 0 { 8 } else { bits };
        if kind == 5 && origin.is_none() {
            let value: Vec<u8> = (0..bits.div_ceil(8)).map(|_| self.c.between(0, 255) as u8).collect();
            return self.m.constant(scope, name, ty, &value).ok();
        }
        let is_moving = bytes > 0 && !self.c.is(4);
        let mut places = Vec::new();
        for _ in 0..if is_moving { self.c.between(0, 5) } else { self.c.between(0, 1) } {
            let start = places.last().map_or(0, |(pcs, _): &(Range<u64>, Vec<_>)| pcs.end);
            let start = start + self.c.of(&[0, 0, 4, 8]);
            let end = if self.c.is(6) { bytes } else { start + 4 * self.c.between(1, 8) };
            let count = if self.c.is(6) { self.c.between(1, 3) } else { 1 };
            let locs = (0..count).map(|_| self.names.loc(self.c, bits, 3)).collect();
            places.push((start..end, locs));
        }
        let file = self.c.of(&self.files);
        let line = self.c.between(1, 300) as u32;
        let mut v = match (origin, kind) {
            (Some(origin), _) => self.m.inlined_variable(scope, origin),
            (None, 0) if is == Is::OfFunction => self.m.parameter(scope, name, ty),
            _ => self.m.variable(scope, name, ty),
        }
        .ok()?;
        if self.c.is(2) {
            v.declared(SourceLine::new(file, line));
        }
        if self.c.is(4) {
            v.artificial();
        }
        if self.c.is(4) {
            v.external();
        }
        for (pcs, locs) in places {
            // Refusals of the builder are ignored.
            let _ =
                if is_moving { v.live_in(pcs, &locs).map(drop) } else { v.always(locs[0].clone()).map(drop) };
        }
        let id = v.id();
        if bytes > 0 || is == Is::Global {
            self.names.variables.push(id);
        }
        Some(id)
    }
}
