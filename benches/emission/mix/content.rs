//! Facts of the realistic mix: the debug information of optimised programs.
//!
//! All facts are generated before the measurement, as a compiler has its facts before it emits debug information. Every
//! side reads the same facts.

use std::ops::Range;

use super::generate::Generator;

/// Numbers of entities, and the target.
#[derive(Debug, Clone, Copy)]
pub struct Shape {
    pub machine: Machine,
    pub units: usize,
    /// Functions of a unit with code.
    pub functions: usize,
    /// Functions of a unit that exist only as inlined copies.
    pub inlined: usize,
    /// Structures of a unit.
    pub structures: usize,
    /// Rows of a function's line table.
    pub rows: usize,
    /// Percentage of variables with a single location for the whole function.
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
/// x86-64 without optimisation: most variables have a single location. No rows.
pub const ONE: Shape = Shape { at_one_place: 90, rows: 0, ..STD };
/// x86-64, many small units.
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

/// Index of a string. The first strings are the names of the base types, [`PRODUCER`] and [`DIRECTORY`].
pub type Name = u32;

/// All facts. Ranges are indices of the vectors.
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

/// A unit. Inlined functions come before functions with code.
#[derive(Debug)]
pub struct Unit {
    pub name: Name,
    /// A second file, beside the primary source file.
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

/// A type of a unit. Structures are numbered within the unit.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Type {
    Base(u8),
    Structure(u16),
    /// A pointer to a structure.
    Pointer(u16),
}

/// A structure. A pointer type to each structure exists as well.
#[derive(Debug)]
pub struct Structure {
    pub name: Name,
    pub line: u32,
    pub bytes: u32,
    pub members: Range<usize>,
}

/// A member. The type is a base type, an earlier structure, or a pointer to this or an earlier structure.
#[derive(Debug)]
pub struct Member {
    pub name: Name,
    pub line: u32,
    pub ty: Type,
    pub offset: u32,
}

/// A function. The scopes are in the order of their entries; the first scope is the function's own.
#[derive(Debug)]
pub struct Function {
    pub name: Name,
    pub line: u32,
    pub returns: Option<Type>,
    pub is_external: bool,
    /// `None` for a function that exists only as inlined copies.
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

/// A scope. The parent is the last earlier scope with a smaller depth.
#[derive(Debug)]
pub struct Scope {
    pub kind: Kind,
    pub depth: usize,
    /// Pc ranges, in bytes from the start of the function; empty for a function.
    pub ranges: Range<usize>,
    pub variables: Range<usize>,
}

#[derive(Debug, Clone, Copy)]
pub enum Kind {
    Function,
    Block,
    /// An inlined call: the number of the function within the unit, and the position of the call.
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
    /// Abstract variable of an inlined call, numbered within the unit.
    pub origin: Option<usize>,
    pub at: At,
}

/// Locations of a variable.
#[derive(Debug)]
pub enum At {
    /// Abstract variable: no location.
    Nowhere,
    /// Constant value, without a location.
    Constant(u32),
    Always(Place),
    Entries(Range<usize>),
}

/// A live range: pcs in bytes from the start of the function, and the location.
#[derive(Debug, Clone, Copy)]
pub struct Entry {
    pub start: u32,
    pub end: u32,
    pub place: Place,
    /// A second location with the same value.
    pub other: Option<Place>,
}

/// A location. Registers have DWARF numbers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Place {
    /// A register.
    Register(u16),
    /// The current lane's element of a vector register.
    PerLane(u16),
    /// One lane of a vector register.
    Lane(u16, u8),
    /// A stack slot, at an offset from the base of the frame.
    Slot(u16),
    /// Memory at the contents of a register plus an offset.
    Indirect(u16, i16),
    /// Memory at a pointer plus an offset; the pointer is in memory at the contents of a register plus an offset.
    Pointer(u16, i16, u8),
    /// Memory at a pointer plus an offset; the pointer is in two consecutive registers of 32 bits.
    Argument(u16, u8),
    /// Two consecutive registers of 32 bits.
    Pair(u16),
    /// The current lane's elements of two consecutive vector registers.
    PerLanePair(u16),
    /// A constant, without storage.
    Constant(u32),
    /// The contents of a register plus a constant, without storage.
    Sum(u16, i16),
    /// A structure: the first word in one register, the second word in another, the rest optimised away.
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

    /// Number of location list entries and single locations.
    pub fn places(&self) -> usize {
        let always = self.variables.iter().filter(|variable| matches!(variable.at, At::Always(_))).count();
        let others = self.entries.iter().filter(|entry| entry.other.is_some()).count();
        always + self.entries.len() + others
    }

    pub fn text(&self, name: Name) -> &str {
        &self.strings[name as usize]
    }

    /// Size of a type in bits.
    pub fn bits(&self, unit: &Unit, ty: Type) -> u32 {
        match ty {
            Type::Base(base) => BASES[usize::from(base)].2,
            Type::Pointer(_) => 64,
            Type::Structure(index) => 8 * self.structures[unit.structures.start + usize::from(index)].bytes,
        }
    }
}

impl Machine {
    /// Size of the shortest instruction in bytes.
    pub fn step(self) -> u32 {
        match self {
            Self::Gpu => 4,
            Self::Cpu => 1,
        }
    }

    /// Register with the base of the stack frame: `s33`, `rbp`.
    pub fn frame(self) -> u16 {
        match self {
            Self::Gpu => 65,
            Self::Cpu => 6,
        }
    }

    /// Size in bits of a word of a [split](Place::Split) structure.
    pub fn word(self) -> u32 {
        match self {
            Self::Gpu => 32,
            Self::Cpu => 64,
        }
    }
}

pub const PRODUCER: Name = BASES.len() as Name;
pub const DIRECTORY: Name = PRODUCER + 1;
/// Number of lanes of a wave.
pub const LANES: u8 = 32;
/// Maximum number of nested scopes, the function included.
pub const DEPTHS: usize = 5;

impl Machine {
    pub fn language(self) -> gimli::DwLang {
        match self {
            Self::Gpu => gimli::DW_LANG_OpenCL,
            Self::Cpu => gimli::DW_LANG_C11,
        }
    }
}
