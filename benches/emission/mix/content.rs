//! The realistic mix: what optimised code of real programs is made of. A fixed seed; every side reads the same facts.
//!
//! Names, types, scopes and places are made before anything is measured, as a compiler has them when it emits
//! debug information.

use std::ops::Range;

use super::generate::Generator;

/// Numbers of entities, and the machine.
#[derive(Debug, Clone, Copy)]
pub struct Shape {
    pub machine: Machine,
    pub units: usize,
    /// Functions with code in a unit.
    pub functions: usize,
    /// Functions of a unit without code of their own, which are inlined.
    pub inlined: usize,
    /// Structures of a unit.
    pub structures: usize,
    /// Rows of a function's line table.
    pub rows: usize,
    /// Of 100 variables, those with one place for the whole function.
    pub at_one_place: u32,
}

/// Target and consumer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Machine {
    /// gfx1030 in waves of 32 lanes, for `Consumer::llvm()`.
    Gpu,
    /// x86-64, for `Consumer::dwarf5()`.
    Cpu,
}

/// AMDGPU.
pub const GPU: Shape = Shape {
    machine: Machine::Gpu,
    units: 8,
    functions: 300,
    inlined: 24,
    structures: 150,
    rows: 20,
    at_one_place: 4,
};
/// x86-64.
pub const STD: Shape = Shape { machine: Machine::Cpu, ..GPU };
/// Variables that are mostly at one place, as without optimisation; no rows.
pub const ONE: Shape = Shape { at_one_place: 90, rows: 0, ..STD };
/// Many small units.
pub const SMALL: Shape = Shape { units: 1200, functions: 2, inlined: 1, structures: 12, ..STD };

impl std::fmt::Display for Shape {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let Self { machine, units, functions, structures, rows, at_one_place, .. } = self;
        let machine = if *machine == Machine::Gpu { "gfx1030" } else { "x86-64" };
        write!(
            f,
            "{machine}: {units} units of {functions} functions with {rows} rows each; {structures} structures a \
             unit; {at_one_place} of 100 variables at one place"
        )
    }
}

/// Index of a string. The base types' names are the first, then [`PRODUCER`] and [`DIRECTORY`].
pub type Name = u32;

/// All facts. Ranges are of indices into the vectors.
#[derive(Debug)]
pub struct Mix {
    pub shape: Shape,
    pub strings: Vec<String>,
    pub units: Vec<Unit>,
    pub structures: Vec<Structure>,
    pub members: Vec<Member>,
    pub functions: Vec<Function>,
    pub scopes: Vec<Scope>,
    pub ranges: Vec<Range<u32>>,
    pub variables: Vec<Variable>,
    pub entries: Vec<Entry>,
    pub rows: Vec<Row>,
}

/// A unit. Functions that are inlined come before those with code.
#[derive(Debug)]
pub struct Unit {
    pub name: Name,
    /// A header, beside the file that the unit is named after.
    pub header: Name,
    pub structures: Range<usize>,
    pub functions: Range<usize>,
}

/// A base type: name, encoding, size in bits.
pub type Base = (&'static str, gimli::DwAte, u32);

/// The base types of each unit.
pub const BASES: [Base; 6] = [
    ("int", gimli::DW_ATE_signed, 32),
    ("unsigned int", gimli::DW_ATE_unsigned, 32),
    ("float", gimli::DW_ATE_float, 32),
    ("long", gimli::DW_ATE_signed, 64),
    ("double", gimli::DW_ATE_float, 64),
    ("char", gimli::DW_ATE_signed_char, 8),
];

/// A type of a unit. A structure is known by its place among the unit's.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Type {
    Base(u8),
    Structure(u16),
    /// A pointer to a structure.
    Pointer(u16),
}

/// A structure. Each has a type of pointers to it.
#[derive(Debug)]
pub struct Structure {
    pub name: Name,
    pub line: u32,
    pub bytes: u32,
    pub members: Range<usize>,
}

/// A member: of a base type, a pointer to this structure or one before it, or a structure before it.
#[derive(Debug)]
pub struct Member {
    pub name: Name,
    pub line: u32,
    pub ty: Type,
    pub offset: u32,
}

/// A function. Its scopes are in the order of their entries, the function's own first.
#[derive(Debug)]
pub struct Function {
    pub name: Name,
    pub line: u32,
    pub returns: Option<Type>,
    pub is_external: bool,
    /// `None` for a function that is only inlined.
    pub code: Option<Code>,
    pub scopes: Range<usize>,
    pub rows: Range<usize>,
}

/// Address and size in bytes.
#[derive(Debug, Clone, Copy)]
pub struct Code {
    pub address: u64,
    pub bytes: u32,
}

/// A scope. A scope is in the last one before it with a smaller depth.
#[derive(Debug)]
pub struct Scope {
    pub kind: Kind,
    pub depth: usize,
    /// Pc ranges, in bytes from the start of the function; none for a function.
    pub ranges: Range<usize>,
    pub variables: Range<usize>,
}

#[derive(Debug, Clone, Copy)]
pub enum Kind {
    Function,
    Block,
    /// An inlined call: the function by its place in the unit, and where the call is.
    Call {
        of: usize,
        line: u32,
        column: u32,
    },
}

/// A variable or parameter.
#[derive(Debug)]
pub struct Variable {
    pub name: Name,
    pub is_parameter: bool,
    pub line: u32,
    pub ty: Type,
    /// In an inlined call: the variable of the inlined function, by its place among those of the unit's inlined
    /// functions.
    pub origin: Option<usize>,
    pub at: At,
}

/// Where a variable is.
#[derive(Debug)]
pub enum At {
    /// A variable of an inlined function, which is in no code.
    Nowhere,
    /// A constant, optimised away.
    Constant(u32),
    Always(Place),
    Entries(Range<usize>),
}

/// Places while the pc is in `start..end`: bytes from the start of the function.
#[derive(Debug, Clone, Copy)]
pub struct Entry {
    pub start: u32,
    pub end: u32,
    pub place: Place,
    /// A second place with the same value.
    pub other: Option<Place>,
}

/// A place. Registers have their DWARF numbers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Place {
    /// A register.
    Register(u16),
    /// The asking lane's element of a vector register.
    PerLane(u16),
    /// One lane of a vector register.
    Lane(u16, u8),
    /// A slot of the stack frame, `0` bytes from its base or more.
    Slot(u16),
    /// Memory at the number in a register and some bytes more.
    Indirect(u16, i16),
    /// Memory at a pointer that is in memory at a register and some bytes more, and some bytes after it.
    Pointer(u16, i16, u8),
    /// Memory at the pointer in two registers of 32 bits that follow each other, and some bytes more.
    Argument(u16, u8),
    /// Two registers of 32 bits that follow each other.
    Pair(u16),
    /// The asking lane's elements of two vector registers that follow each other.
    PerLanePair(u16),
    /// No place: a number.
    Constant(u32),
    /// No place: the number in a register, and a constant added.
    Sum(u16, i16),
    /// A structure: its first word in one register, the second in another, the rest nowhere.
    Split(u16, u16),
}

/// A row of the line table.
#[derive(Debug, Clone, Copy)]
pub struct Row {
    /// Bytes from the start of the function.
    pub pc: u32,
    pub line: u32,
    pub column: u32,
    pub is_in_header: bool,
    pub is_stmt: bool,
}

impl Mix {
    pub fn new(shape: Shape) -> Self {
        Generator::new(shape).finish()
    }

    /// Location entries in all, those of the whole function included.
    pub fn places(&self) -> usize {
        let always = self.variables.iter().filter(|variable| matches!(variable.at, At::Always(_))).count();
        let others = self.entries.iter().filter(|entry| entry.other.is_some()).count();
        always + self.entries.len() + others
    }

    pub fn text(&self, name: Name) -> &str {
        &self.strings[name as usize]
    }

    /// Size of a type of a unit in bits.
    pub fn bits(&self, unit: &Unit, ty: Type) -> u32 {
        match ty {
            Type::Base(base) => BASES[usize::from(base)].2,
            Type::Pointer(_) => 64,
            Type::Structure(index) => 8 * self.structures[unit.structures.start + usize::from(index)].bytes,
        }
    }
}

impl Machine {
    /// Bytes of the shortest instruction.
    pub fn step(self) -> u32 {
        match self {
            Self::Gpu => 4,
            Self::Cpu => 1,
        }
    }

    /// The register that holds the base of the stack frame: `s33`, `rbp`.
    pub fn frame(self) -> u16 {
        match self {
            Self::Gpu => 65,
            Self::Cpu => 6,
        }
    }

    /// Bits of a word of a [split](Place::Split) structure.
    pub fn word(self) -> u32 {
        match self {
            Self::Gpu => 32,
            Self::Cpu => 64,
        }
    }
}

pub const PRODUCER: Name = BASES.len() as Name;
pub const DIRECTORY: Name = PRODUCER + 1;
/// Lanes of a wave.
pub const LANES: u8 = 32;
/// Scopes in each other, at most.
pub const DEPTHS: usize = 5;

impl Machine {
    pub fn language(self) -> gimli::DwLang {
        match self {
            Self::Gpu => gimli::DW_LANG_OpenCL,
            Self::Cpu => gimli::DW_LANG_C11,
        }
    }
}
