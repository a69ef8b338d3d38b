//! What is described. Names are there before; every other value is made when it is asked for, the same
//! for each side.

/// How much there is of everything.
#[derive(Debug, Clone, Copy)]
pub struct Shape {
    /// Units.
    units: usize,
    /// Functions of a unit.
    functions: usize,
    /// Variables of a function.
    variables: usize,
    /// How many of them are parameters.
    parameters: usize,
    /// How many of them, the last ones, are in a block.
    in_block: usize,
    /// Pc ranges of a variable, each with an expression of six operations. None: the variable is at one
    /// place, given by one operation.
    ranges: usize,
    /// Structures of a unit, with three members each.
    structures: usize,
    /// Rows of a function's line table.
    rows: usize,
}

/// Mostly location lists.
pub const LISTS: Shape = Shape {
    units: 1,
    functions: 1000,
    variables: 20,
    parameters: 0,
    in_block: 0,
    ranges: 8,
    structures: 200,
    rows: 40,
};
/// Entries and nothing else.
pub const ENTRIES: Shape = Shape { parameters: 4, in_block: 8, ranges: 0, rows: 0, ..LISTS };
/// Large units.
pub const UNITS: Shape = Shape { units: 4, functions: 5000, ..LISTS };
/// Small units.
pub const SMALL_UNITS: Shape =
    Shape { units: 2000, functions: 2, variables: 5, ranges: 4, structures: 4, rows: 10, ..LISTS };

impl Shape {
    /// Variables in all.
    pub fn variables(&self) -> usize {
        self.units * self.functions * self.variables
    }

    /// Expressions in all.
    pub fn expressions(&self) -> usize {
        self.variables() * self.ranges.max(1)
    }
}

impl std::fmt::Display for Shape {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let Self { units, functions, variables, ranges, structures, rows, .. } = self;
        write!(
            f,
            "{units} units of {functions} functions of {variables} variables with {ranges} ranges each and \
             {rows} rows; {structures} structures a unit"
        )
    }
}

/// Names, and the shape of the rest.
pub struct Content {
    pub shape: Shape,
    units: Vec<String>,
    functions: Vec<String>,
    variables: Vec<String>,
    structures: Vec<String>,
}

/// Bytes of a function's code: more than its ranges and rows reach.
pub const CODE_BYTES: u64 = 0x800;
/// Where in a function its block is.
pub const BLOCK: std::ops::Range<u64> = 0x200..0x600;

impl Content {
    pub fn new(shape: Shape) -> Self {
        let names = |prefix: &str, count| (0..count).map(|n| format!("{prefix}_{n}")).collect();
        Self {
            shape,
            units: (0..shape.units).map(|n| format!("kernels_{n}.cl")).collect(),
            functions: names("function", shape.units * shape.functions),
            // As in programs, the names of variables come back, and units have the same structures.
            variables: names("variable", 1000),
            structures: names("structure", shape.structures),
        }
    }

    /// The units.
    pub fn units(&self) -> impl Iterator<Item = Unit<'_>> {
        self.units.iter().enumerate().map(|(index, name)| Unit { content: self, name, index })
    }
}

/// A unit.
pub struct Unit<'c> {
    content: &'c Content,
    pub name: &'c str,
    index: usize,
}

impl<'c> Unit<'c> {
    /// The names of the structures.
    pub fn structures(&self) -> impl Iterator<Item = &'c str> {
        self.content.structures.iter().map(String::as_str)
    }

    /// The functions, with addresses that follow each other.
    pub fn functions(&self) -> impl Iterator<Item = Function<'c>> {
        let content = self.content;
        let count = content.shape.functions;
        (self.index * count..(self.index + 1) * count).map(|index| Function {
            content,
            name: &content.functions[index],
            address: 0x10_0000 + index as u64 * CODE_BYTES,
            index,
        })
    }
}

/// A function.
pub struct Function<'c> {
    content: &'c Content,
    pub name: &'c str,
    pub address: u64,
    index: usize,
}

impl<'c> Function<'c> {
    /// Whether there is a block in it.
    pub fn has_block(&self) -> bool {
        self.content.shape.in_block > 0
    }

    /// Its variables: parameters first, those of its block last.
    pub fn variables(&self) -> impl Iterator<Item = Variable<'c>> {
        let content = self.content;
        let shape = content.shape;
        let mut values = Values::new(self.index);
        (0..shape.variables).map(move |index| {
            let mut ranges = Values(values.next());
            Variable {
                name: &content.variables[values.below(content.variables.len() as u64) as usize],
                kind: match index {
                    _ if index < shape.parameters => Kind::Parameter,
                    _ if index < shape.variables - shape.in_block => Kind::Local,
                    _ => Kind::InBlock,
                },
                line: 1 + values.below(5000) as u32,
                structure: values.below(content.structures.len() as u64) as usize,
                home: ranges.place(),
                ranges: shape.ranges,
                values: ranges,
            }
        })
    }

    /// Rows of its line table.
    pub fn rows(&self) -> impl Iterator<Item = Row> {
        let mut values = Values::new(!self.index);
        let (mut pc, mut line) = (0, 1 + values.below(5000));
        (0..self.content.shape.rows).map(move |_| {
            let row = Row { pc, line: line as u32, column: values.below(40) as u32 };
            pc += 1 + values.below(40);
            line = (line + values.below(16)).saturating_sub(4).max(1);
            row
        })
    }
}

/// What a variable is, and where it is declared.
#[derive(Clone, Copy)]
pub enum Kind {
    Parameter,
    Local,
    InBlock,
}

/// A variable: a pointer to a structure.
pub struct Variable<'c> {
    pub name: &'c str,
    pub kind: Kind,
    pub line: u32,
    /// The number of the structure that it points to.
    pub structure: usize,
    /// Where it is, if it has no ranges.
    pub home: Place,
    ranges: usize,
    values: Values,
}

impl Variable<'_> {
    /// Whether it is at several places.
    pub fn has_ranges(&self) -> bool {
        self.ranges > 0
    }

    /// Where it is by pc.
    pub fn ranges(&self) -> impl Iterator<Item = Entry> {
        let mut values = Values(self.values.0);
        let mut pc = 0;
        (0..self.ranges).map(move |_| {
            let start = pc + values.below(16);
            pc = start + 1 + values.below(200);
            Entry { start, end: pc, at: values.place(), add: values.number() + 1, flip: values.number() }
        })
    }
}

/// Memory at a register and an offset.
#[derive(Clone, Copy)]
pub struct Place {
    pub register: u16,
    pub offset: i64,
}

/// While the pc is in `start..end` the variable is no place, but the number of 64 bits at `at`, to which
/// `add` is added and of which then the bits `flip` are flipped.
pub struct Entry {
    pub start: u64,
    pub end: u64,
    pub at: Place,
    pub add: u64,
    pub flip: u64,
}

/// A row of the line table.
pub struct Row {
    pub pc: u64,
    pub line: u32,
    pub column: u32,
}

/// Numbers that look random: Knuth's MMIX generator.
struct Values(u64);

impl Values {
    fn new(seed: usize) -> Self {
        Self(seed as u64 ^ 0x9e37_79b9_7f4a_7c15)
    }

    #[inline]
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        self.0
    }

    #[inline]
    fn below(&mut self, limit: u64) -> u64 {
        ((self.next() >> 32) * limit) >> 32
    }

    /// Of 1 to 14 bits: one or two bytes as LEB128.
    #[inline]
    fn number(&mut self) -> u64 {
        let value = self.next();
        (value >> 50) >> (value >> 40 & 7)
    }

    /// One of the sixteen general registers and an offset of one or two bytes.
    #[inline]
    fn place(&mut self) -> Place {
        Place { register: self.below(16) as u16, offset: self.below(1024) as i64 - 512 }
    }
}
