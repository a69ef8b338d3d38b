//! The described content. Names exist beforehand; all other values are generated on demand, equally for each side.

/// Numbers of entities.
#[derive(Debug, Clone, Copy)]
pub struct Shape {
    /// Units.
    units: usize,
    /// Functions per unit.
    functions: usize,
    /// Variables per function.
    variables: usize,
    /// Number of variables that are parameters.
    parameters: usize,
    /// Number of variables, at the end, that are in a block.
    in_block: usize,
    /// Pc ranges per variable, each with an expression of six operations. 0: the variable has a single location, of
    /// one operation.
    ranges: usize,
    /// Structures per unit, with three members each.
    structures: usize,
    /// Rows of the line table per function.
    rows: usize,
}

/// Content that is mostly location lists.
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
/// Content of entries only.
pub const ENTRIES: Shape = Shape { parameters: 4, in_block: 8, ranges: 0, rows: 0, ..LISTS };
/// Content of large units.
pub const UNITS: Shape = Shape { units: 4, functions: 5000, ..LISTS };
/// Content of small units.
pub const SMALL_UNITS: Shape =
    Shape { units: 2000, functions: 2, variables: 5, ranges: 4, structures: 4, rows: 10, ..LISTS };

impl Shape {
    /// Total number of variables.
    pub fn variables(&self) -> usize {
        self.units * self.functions * self.variables
    }

    /// Total number of expressions.
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

/// Names, and the shape of the content.
pub struct Content {
    pub shape: Shape,
    units: Vec<String>,
    functions: Vec<String>,
    variables: Vec<String>,
    structures: Vec<String>,
}

/// Size of a function's code in bytes, beyond its ranges and rows.
pub const CODE_BYTES: u64 = 0x800;
/// Pcs of a function's block.
pub const BLOCK: std::ops::Range<u64> = 0x200..0x600;

impl Content {
    pub fn new(shape: Shape) -> Self {
        let names = |prefix: &str, count| (0..count).map(|n| format!("{prefix}_{n}")).collect();
        Self {
            shape,
            units: (0..shape.units).map(|n| format!("kernels_{n}.cl")).collect(),
            functions: names("function", shape.units * shape.functions),
            // Names of variables recur, and units have the same structures, as in programs.
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
    /// Names of the structures.
    pub fn structures(&self) -> impl Iterator<Item = &'c str> {
        self.content.structures.iter().map(String::as_str)
    }

    /// The functions, at consecutive addresses.
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
    /// Whether the function has a block.
    pub fn has_block(&self) -> bool {
        self.content.shape.in_block > 0
    }

    /// Variables of the function: parameters first, those of the block last.
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

    /// Rows of the function's line table.
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

/// Kind and scope of a variable.
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
    /// Index of the structure that the variable points to.
    pub structure: usize,
    /// Location of a variable without ranges.
    pub home: Place,
    ranges: usize,
    values: Values,
}

impl Variable<'_> {
    /// Whether the variable has several locations.
    pub fn has_ranges(&self) -> bool {
        self.ranges > 0
    }

    /// Locations by pc.
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

/// Memory at a register plus an offset.
#[derive(Clone, Copy)]
pub struct Place {
    pub register: u16,
    pub offset: i64,
}

/// An entry of a location list. For pcs in `start..end` the variable is a value: the 64-bit number at `at`, plus
/// `add`, exclusive or `flip`.
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

/// Pseudo-random numbers: Knuth's MMIX generator.
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

    /// A number of 1 to 14 bits: one or two bytes as LEB128.
    #[inline]
    fn number(&mut self) -> u64 {
        let value = self.next();
        (value >> 50) >> (value >> 40 & 7)
    }

    /// One of the sixteen general registers, and an offset of one or two bytes.
    #[inline]
    fn place(&mut self) -> Place {
        Place { register: self.below(16) as u16, offset: self.below(1024) as i64 - 512 }
    }
}
