//! Random valid modules of both sets, made from the table.

use std::collections::HashMap;

use eitri::spirv::instructions::{Area, ConstantType, CoreInstruction, OperandKind, OperandRow, Repeat};
use eitri::spirv::{Enumeration, Field, InstructionName, MAGIC, OPERATIONS, Set, operations};

/// A pseudo-random generator (xorshift64*).
pub struct Random(pub u64);

impl Random {
    pub fn below(&mut self, end: usize) -> usize {
        self.0 ^= self.0 >> 12;
        self.0 ^= self.0 << 25;
        self.0 ^= self.0 >> 27;
        (self.0.wrapping_mul(0x2545_f491_4f6c_dd1d) >> 11) as usize % end.max(1)
    }

    pub fn one_of<T: Copy>(&mut self, all: &[T]) -> Option<T> {
        (!all.is_empty()).then(|| all[self.below(all.len())])
    }
}

/// Kind of an id.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Thing {
    Void,
    Type,
    String,
    /// An `OpConstant`: bits and value.
    Constant(u32, u32),
    Null,
    True,
    Variable,
    Function,
    Label,
    /// A value of a 32-bit integer type.
    Integer,
    /// A boolean.
    Truth,
    Debug(InstructionName),
}

/// A generated debug instruction: first word, name and number of operands.
#[derive(Debug, Clone, Copy)]
pub struct Placed {
    pub at: usize,
    pub name: InstructionName,
    pub operands: usize,
}

/// Generator of modules.
pub struct Maker {
    pub set: Set,
    pub words: Vec<u32>,
    /// Kind of each defined id; forward references are missing.
    pub things: HashMap<u32, Thing>,
    pub placed: Vec<Placed>,
    next: u32,
    /// Types for a number of elements, and variables of these types.
    countable_types: Vec<u32>,
    countable: Vec<u32>,
    namespaces: Vec<u32>,
    /// Unnamed blocks.
    blocks: Vec<u32>,
    operations: Vec<(u32, usize)>,
    /// Types whose parts are not known, and local variables of these types: any index selects a part.
    opaque: Vec<u32>,
}

const TEXT: &str = "line 1    !\nline 2    !\nline 3    !\nline 4    !\nline 5    !\nline 6    !\nline 7    !\nline 8    !\nline 9    !";

// Ids at the start of each module.
const IMPORT: u32 = 1;
const VOID: u32 = 2;
const MAIN: u32 = 3;
const TEXT_ID: u32 = 4;
const OPAQUE: u32 = 5;
const BUILD: u32 = 6;
const NAMES: [u32; 3] = [7, 8, 9];

impl Maker {
    /// Generates a module of about `count` debug instructions.
    pub fn module(set: Set, count: usize, random: &mut Random) -> Self {
        let mut maker = Self {
            set,
            words: vec![MAGIC, 0x0001_0600, 0, 0, 0],
            things: HashMap::new(),
            placed: Vec::new(),
            next: 10,
            countable_types: Vec::new(),
            countable: Vec::new(),
            namespaces: Vec::new(),
            blocks: Vec::new(),
            operations: Vec::new(),
            opaque: Vec::new(),
        };
        maker.start();
        let rows: Vec<InstructionName> =
            InstructionName::ALL.iter().copied().filter(|name| name.number(set).is_some()).collect();
        let in_place = |place| rows.iter().copied().filter(move |name| name.row().area == place);
        let (globals, body): (Vec<_>, Vec<_>) =
            (in_place(Area::Globals).collect(), in_place(Area::Body).collect());
        maker.emit(InstructionName::InfoNone, random);
        while maker.placed.len() < count {
            let name = random.one_of(&globals).expect("a row");
            maker.emit(name, random);
        }
        maker.core(54, &[VOID, MAIN, 0, 13], None);
        maker.things.insert(MAIN, Thing::Function);
        let parameter = maker.defined(Thing::Integer);
        maker.core(55, &[10, parameter], None);
        let label = maker.defined(Thing::Label);
        maker.core(248, &[label], None);
        let variable = maker.defined(Thing::Variable);
        maker.core(59, &[14, variable, 7], None);
        let truth = maker.defined(Thing::Truth);
        maker.core(170, &[12, truth, parameter, parameter], None);
        maker.definition();
        for _ in 0..count / 3 {
            let name = random.one_of(&body).expect("a row");
            if name != InstructionName::FunctionDefinition {
                maker.emit(name, random);
            }
        }
        maker.core(253, &[], None);
        maker.core(56, &[], None);
        maker.words[3] = maker.next;
        maker
    }

    /// Emits the core instructions that debug instructions refer to.
    fn start(&mut self) {
        // Storage classes require these: `Shader`, `AtomicStorage` and `GenericPointer`.
        for capability in [1, 21, 38] {
            self.core(17, &[capability], None);
        }
        if self.set == Set::OpenCl {
            self.core(10, &[], Some("SPV_INTEL_debug_module"));
        }
        self.core(11, &[IMPORT], Some(self.set.name()));
        self.core(15, &[5, MAIN], Some("main"));
        for (id, text) in [(TEXT_ID, TEXT), (OPAQUE, "@opaque"), (BUILD, "0123456789abcdef0123456789abcdef")]
        {
            self.core(7, &[id], Some(text));
        }
        for (id, text) in NAMES.into_iter().zip(["", "name", "MAX(a,b)"]) {
            self.core(7, &[id], Some(text));
        }
        self.things.extend([TEXT_ID, OPAQUE, BUILD].into_iter().chain(NAMES).map(|id| (id, Thing::String)));
        self.core(19, &[VOID], None);
        self.things.insert(VOID, Thing::Void);
        // %10 is a 32-bit and %11 a 64-bit integer type, %12 the boolean type, %13 a function type, %14 and %15
        // pointer types.
        let types: [(u16, &[u32]); 6] =
            [(21, &[32, 0]), (21, &[64, 0]), (20, &[]), (33, &[VOID, 10]), (32, &[7, 10]), (32, &[6, 10])];
        for (opcode, operands) in types {
            let id = self.defined(Thing::Type);
            self.core(opcode, &[&[id], operands].concat(), None);
        }
        for value in (0..14).chain([16, 32, 64]) {
            let id = self.defined(Thing::Constant(32, value));
            self.core(43, &[10, id, value], None);
        }
        let wide = self.defined(Thing::Constant(64, 64));
        self.core(43, &[11, wide, 64, 0], None);
        let null = self.defined(Thing::Null);
        self.core(46, &[10, null], None);
        let yes = self.defined(Thing::True);
        self.core(41, &[12, yes], None);
        let global = self.defined(Thing::Variable);
        self.core(59, &[15, global, 6], None);
    }

    fn core(&mut self, opcode: u16, operands: &[u32], text: Option<&str>) {
        let start = self.words.len();
        self.words.push(0);
        self.words.extend(operands);
        if let Some(text) = text {
            let mut bytes = text.as_bytes().to_vec();
            bytes.resize(bytes.len() / 4 * 4 + 4, 0);
            self.words.extend(bytes.chunks(4).map(|word| u32::from_le_bytes(word.try_into().unwrap())));
        }
        self.words[start] = ((self.words.len() - start) as u32) << 16 | u32::from(opcode);
    }

    fn fresh(&mut self) -> u32 {
        self.next += 1;
        self.next - 1
    }

    fn defined(&mut self, thing: Thing) -> u32 {
        let id = self.fresh();
        self.things.insert(id, thing);
        id
    }

    /// Ids of debug instructions with these names, in order.
    fn debug(&self, names: &[InstructionName]) -> Vec<u32> {
        let is = |thing: &Thing| matches!(thing, Thing::Debug(name) if names.contains(name));
        let mut all: Vec<u32> =
            self.things.iter().filter(|(_, thing)| is(thing)).map(|(&id, _)| id).collect();
        all.sort_unstable();
        all
    }

    fn is_core(core: CoreInstruction, thing: Thing) -> bool {
        let has = |width, bits| match width {
            ConstantType::Bits32 | ConstantType::Unsigned32 => bits == 32,
            ConstantType::Bits32Or64 | ConstantType::Integer | ConstantType::Any => true,
        };
        match (core, thing) {
            (CoreInstruction::String, Thing::String) | (CoreInstruction::Void, Thing::Void) => true,
            (CoreInstruction::Constant(width), Thing::Constant(bits, _)) => has(width, bits),
            (CoreInstruction::AnyConstant(width), Thing::Constant(bits, _)) => has(width, bits),
            (CoreInstruction::AnyConstant(_), Thing::Null)
            | (CoreInstruction::AnyConstant(ConstantType::Any), Thing::True) => true,
            (CoreInstruction::Boolean, Thing::True) | (CoreInstruction::Variable, Thing::Variable) => true,
            (CoreInstruction::Integer, Thing::Integer | Thing::Constant(..) | Thing::Null) => true,
            (CoreInstruction::Result, thing) => !matches!(thing, Thing::Debug(_)),
            _ => false,
        }
    }

    /// Emits an instruction with this name, together with required ones, if its operands are available.
    fn emit(&mut self, name: InstructionName, random: &mut Random) {
        let set = self.set;
        match name {
            // Continuations are emitted with the instruction that contains them.
            InstructionName::SourceContinued => return,
            InstructionName::TypeMember | InstructionName::TypeInheritance if set == Set::OpenCl => return,
            InstructionName::EntryPoint if self.debug(&[InstructionName::Function]).is_empty() => return,
            _ => {}
        }
        let id = self.fresh();
        let later: Vec<u32> = match name {
            InstructionName::TypeComposite if set == Set::OpenCl => {
                (0..random.below(4)).map(|_| self.fresh()).collect()
            }
            _ => Vec::new(),
        };
        let Some(mut operands) = self.operands(name, random) else { return };
        if name == InstructionName::TypeComposite {
            if set == Set::OpenCl {
                operands.truncate(9);
                operands.extend(&later);
            }
            let size = if later.is_empty() && operands.len() == 9 { operands[7] } else { self.number(32) };
            operands[7] = size;
            if self.things.get(&size) == Some(&Thing::Debug(InstructionName::InfoNone)) {
                operands[0] = OPAQUE;
            }
        }
        self.push(name, id, &operands);
        for member in later {
            let bases = self.debug(&[InstructionName::TypeComposite]);
            let base = random.one_of(&bases).filter(|_| random.below(3) == 0);
            let (name, field, value) = match base {
                Some(_) => (InstructionName::TypeInheritance, Field::Child, id),
                None => (InstructionName::TypeMember, Field::Scope, id),
            };
            let Some(mut operands) =
                self.operands(name, random).or_else(|| self.operands(InstructionName::TypeMember, random))
            else {
                // No type exists yet: use the composite type itself as base class.
                let offset = self.number(0);
                let flags = 3;
                let size = self.number(32);
                self.push(InstructionName::TypeInheritance, member, &[id, id, offset, size, flags]);
                continue;
            };
            let place = name.row().operands(set).position(|row| row.field == field).expect("the field");
            operands[place] = value;
            self.push(name, member, &operands);
        }
        if name == InstructionName::Source
            && set.is_shader()
            && [2, 4].contains(&operands.len())
            && random.below(2) == 0
        {
            let id = self.fresh();
            self.push(InstructionName::SourceContinued, id, &[TEXT_ID]);
        }
    }

    /// A number operand in the set's encoding.
    fn number(&self, value: u32) -> u32 {
        self.constant(|it| it == value, &mut Random(1)).expect("there is such a constant")
    }

    /// A 32-bit `OpConstant`.
    fn constant(&self, is: impl Fn(u32) -> bool, random: &mut Random) -> Option<u32> {
        let is = |thing: &Thing| matches!(*thing, Thing::Constant(32, value) if is(value));
        let mut all: Vec<u32> =
            self.things.iter().filter(|(_, thing)| is(thing)).map(|(&id, _)| id).collect();
        all.sort_unstable();
        random.one_of(&all)
    }

    /// A literal or the id of a constant.
    fn value(&self, is: impl Fn(u32) -> bool, random: &mut Random) -> Option<u32> {
        let constant = self.constant(is, random)?;
        let Some(&Thing::Constant(_, value)) = self.things.get(&constant) else { return None };
        Some(if self.set == Set::OpenCl { value } else { constant })
    }

    fn operands(&mut self, name: InstructionName, random: &mut Random) -> Option<Vec<u32>> {
        match name {
            InstructionName::Operation => {
                let number = random.below(operations(self.set).len());
                let mut all = vec![self.value(|it| it == number as u32, random)?];
                for _ in 0..OPERATIONS[number].operands {
                    all.push(self.value(|_| true, random)?);
                }
                return Some(all);
            }
            InstructionName::Expression => {
                let mut depth = 1;
                let mut all = Vec::new();
                for _ in 0..random.below(6) {
                    let fits = |&&(_, number): &&(u32, usize)| OPERATIONS[number].takes <= depth;
                    let fitting: Vec<_> = self.operations.iter().filter(fits).copied().collect();
                    let Some((id, number)) = random.one_of(&fitting) else { break };
                    depth = depth - OPERATIONS[number].takes + OPERATIONS[number].leaves;
                    all.push(id);
                }
                return Some(all);
            }
            InstructionName::Line => {
                let source = random.one_of(&self.debug(&[InstructionName::Source]))?;
                let line = random.below(5) as u32;
                let column = random.below(5) as u32;
                let places = [line, line + random.below(3) as u32, column, column + random.below(3) as u32];
                return Some([source].into_iter().chain(places.map(|place| self.number(place))).collect());
            }
            InstructionName::ImportedEntity => {
                let is_module = random.below(2) == 0;
                let mut all: Vec<u32> = Vec::new();
                for row in name.row().operands(self.set) {
                    all.push(match row.field {
                        Field::Tag => self.value(|it| it == u32::from(!is_module), random)?,
                        Field::Entity if is_module => random.one_of(&self.namespaces)?,
                        _ => self.operand(row, random)?,
                    });
                }
                return Some(all);
            }
            _ => {}
        }
        let mut all = Vec::new();
        let is_macro = name == InstructionName::MacroDef;
        let rows: Vec<&OperandRow> = name.row().operands(self.set).collect();
        for row in rows.iter().filter(|row| row.repeat != Repeat::Pairs) {
            // Optional operands follow each other.
            let index = rows.iter().position(|it| it == row).expect("is there");
            if row.repeat == Repeat::Optional && all.len() < index {
                break;
            }
            let count = match row.repeat {
                Repeat::Once => 1,
                Repeat::Optional => random.below(2),
                Repeat::Many => random.below(4),
                Repeat::Some => 1 + random.below(3),
                Repeat::Pairs => 0,
            };
            for _ in 0..count {
                match self.operand(row, random) {
                    // The text contains white space.
                    Some(TEXT_ID) if is_macro && row.field == Field::Name => all.push(OPAQUE),
                    Some(word) => all.push(word),
                    None if row.repeat == Repeat::Once || row.repeat == Repeat::Some => return None,
                    None => break,
                }
            }
        }
        for _ in 0..random.below(3) {
            for row in rows.iter().filter(|row| row.repeat == Repeat::Pairs) {
                all.push(self.operand(row, random)?);
            }
        }
        // A single operand is a text.
        if name == InstructionName::Source && all.len() == 2 {
            all[1] = TEXT_ID;
        }
        // Only floating-point types have an encoding operand.
        if name == InstructionName::TypeBasic && all.len() == 5 {
            // `BFloat16KHR` is the only such format among the numbers.
            all[1] = self.number(16);
            all[2] = self.number(3);
        }
        if matches!(name, InstructionName::Value | InstructionName::Declare) && !self.opaque.contains(&all[0])
        {
            all.truncate(3);
        }
        Some(all)
    }

    fn operand(&mut self, row: &OperandRow, random: &mut Random) -> Option<u32> {
        match (row.kind, row.field) {
            (OperandKind::Number | OperandKind::AnyNumber, _) => self.value(|it| it < 10, random),
            // A base class is a class or a structure.
            (OperandKind::Enumerant(Enumeration::CompositeTag), _) => self.value(|it| it < 2, random),
            (OperandKind::Enumerant(Enumeration::Flags), _) if self.set == Set::OpenCl => {
                Some(random.below(1 << 17) as u32)
            }
            (OperandKind::Enumerant(enumeration), _) => {
                self.value(|it| enumeration.has(it, self.set), random)
            }
            (OperandKind::Id(_), Field::Text) => Some(TEXT_ID),
            (OperandKind::Id(_), Field::Identifier) => Some(BUILD),
            (OperandKind::Id(names), field) => {
                let is_core = |thing| names.core.iter().any(|&core| Self::is_core(core, thing));
                let core = self.things.iter().filter(|&(_, &thing)| is_core(thing)).map(|(&id, _)| id);
                let mut all: Vec<u32> = core.chain(self.debug(names.debug)).collect();
                if names.core.contains(&CoreInstruction::Function) {
                    all.push(MAIN);
                }
                if row.none {
                    all.extend(self.debug(&[InstructionName::InfoNone]).first());
                }
                match field {
                    Field::ComponentCount | Field::Count | Field::Stride => {
                        all.retain(|id| {
                            !matches!(self.things[id], Thing::Debug(_)) || self.countable.contains(id)
                        });
                    }
                    Field::Entity => all.retain(|id| !self.blocks.contains(id)),
                    _ => {}
                }
                all.sort_unstable();
                // The first one is defined.
                if field == Field::EntryPoint { all.first().copied() } else { random.one_of(&all) }
            }
        }
    }

    /// Emits the definition of the first debug function.
    fn definition(&mut self) {
        if let (true, Some(&function)) =
            (self.set.is_shader(), self.debug(&[InstructionName::Function]).first())
        {
            let id = self.fresh();
            self.push(InstructionName::FunctionDefinition, id, &[function, MAIN]);
        }
    }

    fn push(&mut self, name: InstructionName, id: u32, operands: &[u32]) {
        let number = name.number(self.set).expect("it is in the set");
        self.placed.push(Placed { at: self.words.len(), name, operands: operands.len() });
        self.core(12, &[&[VOID, id, IMPORT, number], operands].concat(), None);
        self.things.insert(id, Thing::Debug(name));
        let field = |field| name.row().operands(self.set).position(|row| row.field == field);
        let value = |place: usize| match self.things.get(&operands[place]) {
            Some(&Thing::Constant(_, value)) if self.set.is_shader() => value,
            _ => operands[place],
        };
        match name {
            InstructionName::TypeBasic => {
                let size = self.things[&operands[1]];
                if matches!(size, Thing::Constant(_, 32 | 64)) && value(2) == 6 {
                    self.countable_types.push(id);
                }
            }
            InstructionName::LocalVariable if self.opaque.contains(&operands[1]) => self.opaque.push(id),
            InstructionName::GlobalVariable | InstructionName::LocalVariable
                if self.countable_types.contains(&operands[1]) =>
            {
                self.countable.push(id);
            }
            InstructionName::LexicalBlock if field(Field::Name).is_some_and(|name| name < operands.len()) => {
                self.namespaces.push(id);
            }
            InstructionName::Module => self.namespaces.push(id),
            InstructionName::TypePointer
            | InstructionName::TypeFunction
            | InstructionName::TypePtrToMember => self.opaque.push(id),
            InstructionName::LexicalBlock => self.blocks.push(id),
            InstructionName::ImportedEntity => self.namespaces.push(id),
            InstructionName::Operation => self.operations.push((id, value(0) as usize)),
            _ => {}
        }
    }
}
