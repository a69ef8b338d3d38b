//! The node table. Each node has one row, and every other list of nodes is generated from the rows.
//!
//! | column | meaning |
//! |---|---|
//! | doc comment | documents [`Node`]'s variant, and the node in the [description's format](crate::json) |
//! | variant, fields | [`Node`]'s variant, and the constants in the node itself |
//! | `[operands]` | name and sort of each, in postfix order |
//! | key | the node's key in a description; also the method of [`Loc`](super::Loc) or [`Val`](super::Val) that makes it |
//! | form | `(…)`: the fields and operands, in the description's order; `word`: the key alone; `parts`: a list of [`Part`](Node::Part)s; `bare`: without a key |
//! | example | the node in a description |
//!
//! A node has a row here, a method in [`loc`](super::loc) and a meaning in [`denote`](super::denote).

#![cfg_attr(not(feature = "json"), allow(dead_code, reason = "half of the table is for descriptions"))]

use super::ids::{EntityId, ExprId, ProcedureId, StringId, VariableId};
use super::loc::{Half, Loc, Symbol, Val};
use super::owner::Owner;
use super::postfix::{Nodes, Postfix};
use crate::op::Reg;
use crate::target::SpaceId;

/// Calls a macro with all rows.
macro_rules! for_each_node { ($use:ident) => { $use! {
    Loc {
        /// A register without lanes, or all lanes of a vector register, from the first bit on.
        Register(reg: Reg) [] "register" (reg) r#"{"register": "s4"}"#;
        /// A vector register's lane: one value for the wave.
        Lane(reg: Reg, lane: u32) [] "lane" (reg, lane) r#"{"lane": ["v40", 7]}"#;
        /// A vector register's current lane: one value for each lane.
        PerLane(reg: Reg) [] "per_lane" (reg) r#"{"per_lane": "v3"}"#;
        /// Memory in an address space, at an address.
        Memory(space: SpaceId) [address: Val] "memory" (space, address) r#"{"memory": ["global", 4096]}"#;
        /// The same storage, a constant byte distance further on.
        Offset(bytes: i64) [place: Loc] "offset" (place, bytes) r#"{"offset": [{"register": "s4"}, 0]}"#;
        /// The same storage, a constant bit distance further on.
        BitOffset(bits: i64) [place: Loc] "bit_offset" (place, bits) r#"{"bit_offset": [{"over": ["s4", "s5"]}, 3]}"#;
        /// The same storage, a computed byte distance further on.
        OffsetBy [place: Loc, bytes: Val] "offset_by" (place, bytes) r#"{"offset_by": [{"whole": "v4"}, {"register": "s6"}]}"#;
        /// The same storage, a computed bit distance further on.
        BitOffsetBy [place: Loc, bits: Val] "bit_offset_by" (place, bits) r#"{"bit_offset_by": [{"whole": "v4"}, "lane_index"]}"#;
        /// A location's first bits, as one of several parts.
        Part(bits: u64) [place: Loc] "part" bare r#"[{"register": "s4"}, 16]"#;
        /// Consecutive parts, the first in the lowest bits, each with its size in bits.
        Parts(count: u64) [] "parts" parts r#"{"parts": [[{"register": "s4"}, 16], [{"lane": ["v40", 7]}, 16]]}"#;
        /// A location below, with bits from an offset on replaced by bits of a location above.
        Overlay [below: Loc, above: Loc, offset: Val, bits: Val] "overlay" (below, above, offset, bits)
            r#"{"overlay": [{"register": "s4"}, {"register": "s5"}, 8, 16]}"#;
        /// Elements, each from one of two locations, selected by its bit in a mask.
        Select { bits: u64 = "Bits of an element.", count: u64 = "Number of elements." } [zero: Loc, one: Loc, mask: Val]
            "select" (mask, zero, one, bits, count)
            r#"{"select": [{"register": "exec"}, {"whole": "v4"}, {"whole": "v5"}, 32, 32]}"#;
        /// One element, repeated.
        Extend { bits: u64 = "Bits of the element.", count: u64 = "Number of repetitions." } [place: Loc]
            "extend" (place, bits, count) r#"{"extend": [{"register": "s4"}, 32, 32]}"#;
        /// No storage: a constant's bytes, the lowest first.
        Implicit(bytes: &'a [u8]) [] "implicit" (bytes) r#"{"implicit": "01 00 00 00"}"#;
        /// No storage: a number.
        Value [number: Val] "value" (number) r#"{"value": {"register": "s4"}}"#;
        /// No storage: a pointer to a variable, plus bytes.
        PointerTo(variable: VariableId, bytes: i64) [] "pointer_to" (variable, bytes) r#"{"pointer_to": ["p", 8]}"#;
        /// A procedure's location.
        Call(procedure: ProcedureId) [] "call" (procedure) r#"{"call": "place of x"}"#;
        /// The canonical frame address, as a location.
        Cfa [] "cfa" word r#""cfa""#;
        /// The current thread's thread-local storage of this object, at a byte offset from its start: a number, or a thread-local
        /// symbol of a relocatable object.
        ThreadLocal [bytes: Val] "thread_local" (bytes) r#"{"thread_local": 8}"#;
        /// Undefined: the bits do not exist.
        Undefined [] "undefined" word r#""undefined""#;
        /// The location that a DWARF expression computes.
        Expr(expr: ExprId) [] "expr" (expr) r#"{"expr": {"text": "regx s4; deref", "dialect": "llvm"}}"#;
    }
    Val {
        /// An unsigned 64-bit constant.
        Const(value: u64) [] "constant" bare "4096";
        /// A symbol's address, plus bytes.
        Address(symbol: Symbol, bytes: i64) [] "address" (symbol, bytes) r#"{"address": ["table", 8]}"#;
        /// An address in the linked object, before the loader moves the object.
        LinkAddress(address: u64) [] "link_address" (address) r#"{"link_address": 4198400}"#;
        /// A stack slot's address, in bytes of one lane from the base of the function's stack frame.
        StackAddress(bytes: i64) [] "stack_address" (bytes) r#"{"stack_address": 16}"#;
        /// The number in a location's first bits.
        Read(bits: u32) [place: Loc] "read" (place, bits) r#"{"read": [{"lane": ["v40", 7]}, 32]}"#;
        /// The number in a whole register.
        ReadRegister(reg: Reg) [] "register" (reg) r#"{"register": "s4"}"#;
        /// The number in a whole register on entry to the function.
        EntryRegister(reg: Reg) [] "entry_value" (reg) r#"{"entry_value": "s4"}"#;
        /// The number that the caller passed for a parameter, which may be nowhere by now.
        PassedValue(variable: VariableId) [] "passed_value" (variable) r#"{"passed_value": "p"}"#;
        /// The current lane, counted from 0.
        LaneIndex [] "lane_index" word r#""lane_index""#;
        /// A number plus a constant.
        Plus(constant: i64) [number: Val] "plus" (number, constant) r#"{"plus": [{"register": "s4"}, -8]}"#;
        /// The sum.
        Add [first: Val, second: Val] "add" (first, second) r#"{"add": [1, 2]}"#;
        /// The first minus the second.
        Sub [first: Val, second: Val] "sub" (first, second) r#"{"sub": [1, 2]}"#;
        /// The product.
        Mul [first: Val, second: Val] "mul" (first, second) r#"{"mul": [{"register": "s4"}, 4]}"#;
        /// Bitwise and.
        And [first: Val, second: Val] "and" (first, second) r#"{"and": [{"register": "s4"}, "0xffff"]}"#;
        /// Bitwise or.
        Or [first: Val, second: Val] "or" (first, second) r#"{"or": [{"register": "s4"}, 1]}"#;
        /// Bitwise exclusive or.
        Xor [first: Val, second: Val] "xor" (first, second) r#"{"xor": [{"register": "s4"}, 1]}"#;
        /// Left shift; 0 from 64 on.
        Shl [number: Val, by: Val] "shl" (number, by) r#"{"shl": [{"register": "s4"}, 2]}"#;
        /// Logical right shift; 0 from 64 on.
        Shr [number: Val, by: Val] "shr" (number, by) r#"{"shr": [{"register": "s4"}, 2]}"#;
        /// Arithmetic right shift.
        Shra [number: Val, by: Val] "shra" (number, by) r#"{"shra": [{"register": "s4"}, 2]}"#;
        /// The negation.
        Neg [number: Val] "neg" (number) r#"{"neg": {"register": "s4"}}"#;
        /// The bitwise complement.
        Not [number: Val] "not" (number) r#"{"not": {"register": "s4"}}"#;
        /// The address of a location in the default space.
        AddressOf [place: Loc] "address_of" (place) r#"{"address_of": "cfa"}"#;
        /// The quotient of signed numbers, rounded towards 0.
        Div [first: Val, second: Val] "div" (first, second) r#"{"div": [{"register": "s4"}, 12]}"#;
        /// The remainder of unsigned numbers.
        Mod [first: Val, second: Val] "mod" (first, second) r#"{"mod": [{"register": "s4"}, 12]}"#;
        /// 1 if the numbers are equal, otherwise 0.
        Eq [first: Val, second: Val] "eq" (first, second) r#"{"eq": [{"register": "s4"}, 0]}"#;
        /// 1 if the numbers differ, otherwise 0.
        Ne [first: Val, second: Val] "ne" (first, second) r#"{"ne": [{"register": "s4"}, 0]}"#;
        /// 1 if the first signed number is less than the second, otherwise 0.
        Lt [first: Val, second: Val] "lt" (first, second) r#"{"lt": [{"register": "s4"}, 8]}"#;
        /// 1 if the first signed number is not greater than the second, otherwise 0.
        Le [first: Val, second: Val] "le" (first, second) r#"{"le": [{"register": "s4"}, 8]}"#;
        /// One of two numbers: the first unless the condition is 0. Both can be computed.
        If [nonzero: Val, zero: Val, condition: Val] "if" (condition, nonzero, zero)
            r#"{"if": [{"register": "s4"}, 1, 2]}"#;
    }
} } }
pub(super) use for_each_node;

/// Calls a macro with the description shorthands, which stand for several nodes: key, operands, the method that makes
/// them. A shorthand with a list takes any number of elements.
macro_rules! for_each_shorthand { ($use:ident) => { $use! {
    Loc {
        /// All lanes of a vector register: for a value as large as the register.
        "whole" whole (reg: Reg) r#"{"whole": "v3"}"#;
        /// The current lane in several vector registers, 32 bits in each.
        "per_lane_over" per_lane_over [reg: Reg] r#"{"per_lane_over": ["v3", "v4"]}"#;
        /// 16 bits in the current lane, `"low"` or `"high"`.
        "per_lane_half" per_lane_half (reg: Reg, half: Half) r#"{"per_lane_half": ["v3", "high"]}"#;
        /// Several scalar registers, 32 bits in each.
        "over" over [reg: Reg] r#"{"over": ["s4", "s5"]}"#;
        /// Several lanes, 32 bits in each.
        "lanes" lanes [reg: Reg, lane: u32] r#"{"lanes": [["v40", 7], ["v40", 8]]}"#;
        /// The stack frame, at an offset in bytes of one lane.
        "stack_slot" stack_slot (bytes: i64) r#"{"stack_slot": 16}"#;
        /// Local memory at an offset in bytes.
        "local" local (bytes: u32) r#"{"local": 64}"#;
        /// Local memory at a symbol.
        "local_symbol" local_symbol (symbol: Symbol) r#"{"local_symbol": "tile"}"#;
        /// Global memory at a symbol.
        "global_symbol" global_symbol (symbol: Symbol) r#"{"global_symbol": "table"}"#;
        /// Global memory, bytes from a pointer in two scalar registers.
        "kernel_argument" kernel_argument (low: Reg, high: Reg, bytes: i64) r#"{"kernel_argument": ["s4", "s5", 8]}"#;
    }
    Val {
        /// The number in two 32-bit scalar registers, low and high.
        "pair" pair (low: Reg, high: Reg) r#"{"pair": ["s4", "s5"]}"#;
    }
} } }

impl Node<'_> {
    /// The builder of the node's id.
    #[inline(always)]
    pub(super) fn owner(&self) -> Owner {
        match self {
            Self::PointerTo(variable, _) | Self::PassedValue(variable) => variable.owner(),
            Self::Call(procedure) => procedure.owner(),
            Self::Expr(expr) => expr.owner(),
            Self::Address(symbol, _) => symbol.0.owner(),
            _ => Owner::ANY,
        }
    }
}

/// The two node sorts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Sort {
    Loc,
    Val,
}

/// A table row.
#[derive(Debug)]
pub(crate) struct Row {
    pub key: &'static str,
    pub form: Form,
    pub makes: Makes,
    pub doc: &'static [&'static str],
    pub example: &'static str,
    pub sort: Sort,
    /// Whether the node computes a number from numbers.
    pub is_arithmetic: bool,
}

/// A node's shape in a description.
#[derive(Debug)]
pub(crate) enum Form {
    /// A value without a key.
    Bare,
    /// The key alone.
    Word,
    /// An object with one operand, or a list of several operands.
    Operands(&'static [Operand]),
    /// An object with a list; each element is an operand, or a list of several operands.
    List(&'static [Operand]),
    /// An object with a parts list.
    Parts,
}

/// A node's field or operand, in a description.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Operand {
    pub name: &'static str,
    pub kind: Kind,
    /// Index among the fields, or among the operands in postfix order.
    pub at: usize,
}

/// Operand kind in a description.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Kind {
    Node(Sort),
    Register,
    Space,
    Variable,
    Procedure,
    Symbol,
    Expression,
    Half,
    Bytes,
    Unsigned32,
    Unsigned,
    Signed,
}

/// What a row makes from the numbers of its operands.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Makes {
    Node(Tag),
    Nodes(fn(&[u64]) -> Postfix),
}

/// A node's field that is stored as a number in the node's words.
pub(crate) trait Number: Copy {
    const KIND: Kind;
    fn number(self) -> u64;
    fn of(number: u64) -> Self;
}

macro_rules! numbers { ($($type:ty: $kind:ident, |$value:ident| $number:expr, |$of:ident| $made:expr;)*) => { $(
    impl Number for $type {
        const KIND: Kind = Kind::$kind;
        #[inline(always)]
        fn number(self) -> u64 {
            let $value = self;
            $number
        }
        #[inline(always)]
        fn of($of: u64) -> Self {
            $made
        }
    }
)* } }
numbers! {
    Reg: Register, |reg| reg.0, |number| Reg(number);
    SpaceId: Space, |space| space.0.into(), |number| SpaceId(number as u32);
    VariableId: Variable, |id| id.as_u32().into(), |number| VariableId::from_u32(number as u32);
    ProcedureId: Procedure, |id| id.as_u32().into(), |number| ProcedureId::from_u32(number as u32);
    ExprId: Expression, |id| id.as_u32().into(), |number| ExprId::from_u32(number as u32);
    Symbol: Symbol, |symbol| symbol.0.as_u32().into(), |number| Symbol(StringId::from_u32(number as u32));
    u32: Unsigned32, |value| value.into(), |number| number as u32;
    u64: Unsigned, |value| value, |number| number;
    i64: Signed, |value| fold(value), |number| unfold(number);
}
numbers! { Half: Half, |half| half as u64, |number| if number == 0 { Half::Low } else { Half::High }; }

/// Moves the sign to bit 0, so that numbers with small magnitude have few bits.
#[inline]
fn fold(value: i64) -> u64 {
    // Zigzag encoding: 0, -1, 1, -2 become 0, 1, 2, 3.
    (value << 1 ^ value >> 63) as u64
}

#[inline]
pub(super) fn unfold(value: u64) -> i64 {
    (value >> 1) as i64 ^ -((value & 1) as i64)
}

/// A node's field: a number, or a constant's bytes.
trait Field<'a>: Sized {
    const KIND: Kind;
    fn number(self) -> u64;
    fn read(number: u64, nodes: &mut Nodes<'a>) -> Self;
}

impl<'a, T: Number> Field<'a> for T {
    const KIND: Kind = T::KIND;
    #[inline(always)]
    fn number(self) -> u64 {
        Number::number(self)
    }
    #[inline(always)]
    fn read(number: u64, _: &mut Nodes<'a>) -> Self {
        T::of(number)
    }
}

impl<'a> Field<'a> for &'a [u8] {
    const KIND: Kind = Kind::Bytes;
    #[inline(always)]
    fn number(self) -> u64 {
        self.len() as u64
    }
    #[inline(always)]
    fn read(number: u64, nodes: &mut Nodes<'a>) -> Self {
        nodes.constant(number)
    }
}

/// A row's form.
macro_rules! form {
    (bare) => { Form::Bare };
    (word) => { Form::Word };
    (parts) => { Form::Parts };
    (($($operand:ident),*)) => { Form::Operands(&[$($operand),*]) };
}

macro_rules! nodes { ($($sort:ident { $(
    $(#[doc = $doc:literal])*
    $name:ident $(($($field:ident: $type:ty),*))? $({$($named:ident: $named_type:ty = $named_doc:literal),*})?
    [$($operand:ident: $of:ident),*] $key:literal $form:tt $example:literal;
)* })*) => {
    /// A location's node, with its constants. A node's operands are the subtrees that end before it.
    ///
    /// Exhaustive: a match names all variants, so that the compiler shows what a new node needs.
    ///
    /// | node | operands |
    /// |---|---|
    /// | leaves | none |
    /// | [`Memory`](Node::Memory) | the address |
    /// | [`Offset`](Node::Offset), [`BitOffset`](Node::BitOffset), [`Extend`](Node::Extend), [`Part`](Node::Part), [`Read`](Node::Read), [`AddressOf`](Node::AddressOf) | a location |
    /// | [`OffsetBy`](Node::OffsetBy), [`BitOffsetBy`](Node::BitOffsetBy) | a location, a number |
    /// | [`Parts`](Node::Parts) | `count` [`Part`](Node::Part)s |
    /// | [`Overlay`](Node::Overlay) | the location below, the location above, offset, size |
    /// | [`Select`](Node::Select) | the location for 0, the location for 1, the mask |
    /// | [`Value`](Node::Value), [`ThreadLocal`](Node::ThreadLocal), [`Plus`](Node::Plus), [`Neg`](Node::Neg), [`Not`](Node::Not) | a number |
    /// | [`If`](Node::If) | the number for a condition other than 0, the number for 0, the condition |
    /// | other arithmetic | two numbers |
    #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
    pub enum Node<'a> { $($(
        $(#[doc = $doc])*
        $name $(($($type),*))? $({$(#[doc = $named_doc] $named: $named_type),*})?,
    )*)* }

    /// Tags, in the order of [`Node`]'s variants.
    #[derive(Debug, Clone, Copy)]
    pub(crate) enum Tag { $($($name),*),* }

    impl Tag {
        #[inline(always)]
        #[allow(non_upper_case_globals, reason = "the names of the tags")]
        pub(super) fn new(number: u32) -> Option<Self> {
            $($(const $name: u32 = Tag::$name as u32;)*)*
            match number {
                $($($name => Some(Self::$name),)*)*
                _ => None,
            }
        }

        /// Number of the node's fields.
        #[inline(always)]
        pub(super) fn numbers(self) -> usize {
            match self {
                $($(Self::$name => 0 $($(+ one!($field))*)? $($(+ one!($named))*)?,)*)*
            }
        }
    }

    impl<'a> Node<'a> {
        /// The tag, and the fields as numbers.
        #[inline(always)]
        pub(crate) fn numbers(self) -> (Tag, [u64; 2]) {
            match self { $($(
                Node::$name $(($($field),*))? $({$($named),*})? => {
                    (Tag::$name, two(&[$($(Field::number($field)),*)? $($(Field::number($named)),*)?]))
                }
            )*)* }
        }

        /// Reads the node with a tag and its first field; the remaining fields are in the next words.
        #[inline(always)]
        pub(super) fn read(tag: Tag, number: u64, nodes: &mut Nodes<'a>) -> Self {
            let mut _first = Some(number);
            match tag { $($(
                Tag::$name => Node::$name
                    $(($(<$type as Field<'a>>::read(next(&mut _first, nodes), nodes)),*))?
                    $({$($named: <$named_type as Field<'a>>::read(next(&mut _first, nodes), nodes)),*})?,
            )*)* }
        }

        /// Returns the node's sort and its operands' sorts. A [`Part`](Node::Part) is an operand only for
        /// [`Parts`](Node::Parts), which takes any number of them.
        pub(crate) fn sorts(&self) -> (Sort, &'static [Sort]) {
            match self {
                $($(Node::$name { .. } => (Sort::$sort, &[$(Sort::$of),*]),)*)*
            }
        }

        #[allow(unused_variables, reason = "a node without a key names no operands")]
        const ROWS: &'static [Row] = &[$($(Row {
            key: $key,
            form: {
                let mut _fields = 0;
                let mut _operands = 0;
                $($(let $field = operand(stringify!($field), <$type as Field<'a>>::KIND, &mut _fields);)*)?
                $($(let $named = operand(stringify!($named), <$named_type as Field<'a>>::KIND, &mut _fields);)*)?
                $(let $operand = operand(stringify!($operand), Kind::Node(Sort::$of), &mut _operands);)*
                form!($form)
            },
            makes: Makes::Node(Tag::$name),
            doc: &[$($doc),*],
            example: $example,
            sort: Sort::$sort,
            is_arithmetic: is_arithmetic(Sort::$sort, &[$(Sort::$of),*]),
        }),*),*];
    }

    /// Returns the row of a node key with operands.
    fn keyed_node(sort: Sort, key: &str) -> Option<&'static Row> {
        match sort { $(Sort::$sort => match key {
            $($key => Some(&NODES[Tag::$name as usize]),)*
            _ => None,
        })* }
    }
} }
macro_rules! one {
    ($field:ident) => {
        1
    };
}

for_each_node!(nodes);

/// All rows, in tag order.
pub(super) const NODES: &[Row] = Node::ROWS;

const fn is_arithmetic(sort: Sort, operands: &[Sort]) -> bool {
    // A `for` loop is not possible in a constant function.
    let mut is_it = matches!(sort, Sort::Val) && !operands.is_empty();
    let mut index = 0;
    while index < operands.len() {
        is_it &= matches!(operands[index], Sort::Val);
        index += 1;
    }
    is_it
}

/// Returns the first two numbers, with 0 for missing numbers.
#[inline(always)]
fn two(numbers: &[u64]) -> [u64; 2] {
    match *numbers {
        [] => [0, 0],
        [first] => [first, 0],
        [first, second, ..] => [first, second],
    }
}

/// Takes the first number, then the numbers in the next words, which exist.
#[inline(always)]
fn next(first: &mut Option<u64>, nodes: &mut Nodes<'_>) -> u64 {
    // The first number is in the tag's word; later numbers have separate words.
    first.take().unwrap_or_else(|| nodes.second().unwrap_or(0))
}

const fn operand(name: &'static str, kind: Kind, next: &mut usize) -> Operand {
    *next += 1;
    Operand { name, kind, at: *next - 1 }
}

/// Calls a shorthand's method with numbers.
macro_rules! made {
    ($sort:ident $method:ident ($($operand:ident: $type:ty),*)) => { |numbers| {
        let mut numbers = numbers.iter().copied();
        $(let $operand = <$type as Number>::of(numbers.next().unwrap_or(0));)*
        $sort::$method($($operand),*).0
    } };
    ($sort:ident $method:ident [$operand:ident: $type:ty]) => { |numbers| {
        $sort::$method(numbers.iter().map(|&number| <$type as Number>::of(number))).0
    } };
    ($sort:ident $method:ident [$first:ident: $first_type:ty, $second:ident: $second_type:ty]) => { |numbers| {
        // Each element of the list gives two numbers.
        let pairs = numbers.as_chunks().0.iter();
        let pairs = pairs.map(|&[a, b]| (<$first_type as Number>::of(a), <$second_type as Number>::of(b)));
        $sort::$method(pairs).0
    } };
}

macro_rules! operands { ($($operand:ident: $type:ty),*) => { {
    let mut index = 0;
    &[$(operand(stringify!($operand), <$type as Number>::KIND, &mut index)),*]
} } }

macro_rules! shorthand_form {
    (($($operands:tt)*)) => { Form::Operands(operands!($($operands)*)) };
    ([$($operands:tt)*]) => { Form::List(operands!($($operands)*)) };
}

macro_rules! shorthands { ($($sort:ident { $(
    $(#[doc = $doc:literal])* $key:literal $method:ident $operands:tt $example:literal;
)* })*) => {
    const fn shorthands(sort: Sort) -> &'static [Row] {
        match sort { $(Sort::$sort => const { &[$(Row {
            key: $key,
            form: shorthand_form!($operands),
            makes: Makes::Nodes(made!($sort $method $operands)),
            doc: &[$($doc),*],
            example: $example,
            sort: Sort::$sort,
            is_arithmetic: false,
        }),*] },)* }
    }
} }
for_each_shorthand!(shorthands);

/// Returns the row of a key with operands.
#[inline]
pub(crate) fn keyed(sort: Sort, key: &str) -> Option<&'static Row> {
    let row = keyed_node(sort, key).or_else(|| shorthands(sort).iter().find(|row| row.key == key))?;
    // A word or a bare form is no key, even if its row matches.
    row.is_keyed(sort).then_some(row)
}

/// Returns how many keys with operands a sort has.
pub(crate) const fn count(sort: Sort) -> usize {
    let mut count = shorthands(sort).len();
    let mut index = 0;
    while index < NODES.len() {
        count += NODES[index].is_keyed(sort) as usize;
        index += 1;
    }
    count
}

/// Returns a sort's keys with operands: nodes, then shorthands.
pub(crate) const fn keys<const N: usize>(sort: Sort) -> [&'static str; N] {
    let mut keys = [""; N];
    let mut next = 0;
    let mut index = 0;
    while index < NODES.len() + shorthands(sort).len() {
        if index >= NODES.len() {
            keys[next] = shorthands(sort)[index - NODES.len()].key;
            next += 1;
        } else if NODES[index].is_keyed(sort) {
            keys[next] = NODES[index].key;
            next += 1;
        }
        index += 1;
    }
    keys
}

impl Row {
    const fn is_keyed(&self, sort: Sort) -> bool {
        self.sort as u8 == sort as u8 && !matches!(self.form, Form::Bare | Form::Word)
    }
}

/// Returns a sort's rows: nodes, then shorthands.
pub(crate) fn rows(sort: Sort) -> impl Iterator<Item = &'static Row> {
    NODES.iter().filter(move |row| row.sort == sort).chain(shorthands(sort))
}

impl Node<'_> {
    /// Returns the node's row in the table.
    pub(crate) fn row(&self) -> &'static Row {
        &NODES[self.numbers().0 as usize]
    }

    /// Whether the node is a number, not a location.
    pub(crate) fn is_number(&self) -> bool {
        self.sorts().0 == Sort::Val
    }

    /// Returns how many operands the node has.
    pub(crate) fn arity(&self) -> usize {
        match self {
            // The only node whose operand count is not in the table.
            Node::Parts(count) => *count as usize,
            other => other.sorts().1.len(),
        }
    }
}
