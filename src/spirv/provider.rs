//! Operands that provide a variable: an id, and the operations that lead from the id to the variable.

use core::fmt;
use core::ops::Range;

use smallvec::SmallVec;

use super::operations::OPERATIONS;
use super::words::Id;
use crate::error::Result;
use crate::model::{Module, Part, TypeId};

/// A debug operation: section 3.6. The stack initially has one entry, the value or address that the expression applies
/// to.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[non_exhaustive]
pub enum DebugOperation {
    /// Pops an address and pushes the value at that address.
    Deref,
    /// Pops two values and pushes their sum.
    Plus,
    /// Pops two values and pushes the second minus the top.
    Minus,
    /// Adds a constant to the top.
    PlusUconst(u32),
    /// Selects bits from the location computed before.
    BitPiece {
        /// The first bit, counted from the first bit of that location.
        offset: u32,
        /// Number of bits.
        size: u32,
    },
    /// Swaps the two topmost entries.
    Swap,
    /// Pops an address and an address space, and pushes the value at that address.
    Xderef,
    /// The stack's top is the value itself, which is not in memory.
    StackValue,
    /// Pushes a constant.
    Constu(u32),
    /// The expression describes only these bits in the variable.
    Fragment {
        /// The first bit, counted from the variable's first bit.
        offset: u32,
        /// Number of bits.
        size: u32,
    },
    /// An operation that version 200 of `NonSemantic.Shader.DebugInfo` adds.
    Extended(ExtendedOperation),
}

/// An operation that version 200 of `NonSemantic.Shader.DebugInfo` adds: see [`DebugOperation::new`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ExtendedOperation {
    number: u8,
    operands: [u32; 3],
}

impl ExtendedOperation {
    /// The name: a DWARF operation's name, without `DW_OP_`.
    pub const fn name(self) -> &'static str {
        OPERATIONS[self.number as usize].name
    }
}

impl DebugOperation {
    /// The operation's number: its index in [`OPERATIONS`](super::OPERATIONS).
    pub const fn number(self) -> u32 {
        match self {
            Self::Deref => 0,
            Self::Plus => 1,
            Self::Minus => 2,
            Self::PlusUconst(_) => 3,
            Self::BitPiece { .. } => 4,
            Self::Swap => 5,
            Self::Xderef => 6,
            Self::StackValue => 7,
            Self::Constu(_) => 8,
            Self::Fragment { .. } => 9,
            Self::Extended(operation) => operation.number as u32,
        }
    }

    /// The operation's name.
    pub const fn name(self) -> &'static str {
        OPERATIONS[self.number() as usize].name
    }

    /// The operation's operands.
    pub fn operands(self) -> impl ExactSizeIterator<Item = u32> {
        let (operands, count) = match self {
            Self::PlusUconst(number) | Self::Constu(number) => ([number, 0, 0], 1),
            Self::BitPiece { offset, size } | Self::Fragment { offset, size } => ([offset, size, 0], 2),
            Self::Extended(ExtendedOperation { number, operands }) => {
                (operands, OPERATIONS[usize::from(number)].operands)
            }
            _ => ([0; 3], 0),
        };
        operands.into_iter().take(count)
    }

    /// The operation with this number and these operands: one of [`OPERATIONS`](super::OPERATIONS).
    pub fn new(number: u32, operands: &[u32]) -> Option<Self> {
        Some(match (number, operands) {
            (0, []) => Self::Deref,
            (1, []) => Self::Plus,
            (2, []) => Self::Minus,
            (3, &[number]) => Self::PlusUconst(number),
            (4, &[offset, size]) => Self::BitPiece { offset, size },
            (5, []) => Self::Swap,
            (6, []) => Self::Xderef,
            (7, []) => Self::StackValue,
            (8, &[number]) => Self::Constu(number),
            (9, &[offset, size]) => Self::Fragment { offset, size },
            (10.., all) if OPERATIONS.get(number as usize).is_some_and(|it| it.operands == all.len()) => {
                let mut operands = [0; 3];
                operands[..all.len()].copy_from_slice(all);
                Self::Extended(ExtendedOperation { number: number as u8, operands })
            }
            _ => return None,
        })
    }

    /// Whether the operation selects a part from the location computed before.
    pub(crate) const fn is_piece(self) -> bool {
        match self {
            Self::BitPiece { .. } => true,
            Self::Extended(operation) => operation.number == PIECE,
            _ => false,
        }
    }
}

/// The number of the operation `Piece`, which is not a variant because only version 200 has it.
const PIECE: u8 = 145;

/// An id that provides a variable or a part of it, and the operations that lead from the id to the variable.
///
/// [`part`](Self::part) and [`bits`](Self::bits) select a part of the *variable*. To select a part of the *value*, use
/// an `OpCompositeExtract`, or [take](Self::taken) some bits from the value.
///
/// ```
/// use eitri::spirv::{Id, Provider};
///
/// // An instruction's result is the variable's value.
/// let x = Provider::value(Id(12));
/// // Two results are a structure's members.
/// let members = [Provider::value(Id(30)).part(0), Provider::value(Id(31)).part(1)];
/// // The same by the structure's bits.
/// let bits = [Provider::value(Id(30)).bits(0..32), Provider::value(Id(31)).bits(32..64)];
/// // The result is 4 more than the second member.
/// let n = Provider::value(Id(12)).plus(-4).part(1);
/// // The variable is in memory, 16 bytes after the address in the id.
/// let y = Provider::pointer(Id(14)).plus(16);
/// # let _ = (x, members, bits, n, y);
/// ```
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
#[must_use]
pub struct Provider {
    id: Id,
    interpretation: Interpretation,
    /// `None` for most variables: the id's value is the variable's value. The box keeps this common case small.
    more: Option<Box<More>>,
}

/// Properties beyond the id.
#[derive(Debug, Clone, Default, PartialEq, Eq, Hash)]
struct More {
    indexes: Vec<Index>,
    steps: Vec<DebugOperation>,
    taken: Option<(u32, u32)>,
    bits: Option<Range<u32>>,
}

/// An index that selects a member or element in a variable, or in a part of the variable.
///
/// Exhaustive: a match names all variants.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Index {
    /// A constant index, counted from 0.
    Number(u32),
    /// The index is this id's value.
    Id(Id),
}

impl Index {
    /// The index as a number; `of` returns an id's value.
    pub(crate) fn number(self, of: impl Fn(Id) -> Option<u64>) -> Option<u64> {
        match self {
            Self::Number(number) => Some(number.into()),
            Self::Id(id) => of(id),
        }
    }
}

impl fmt::Display for Index {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Number(number) => number.fmt(f),
            Self::Id(id) => id.fmt(f),
        }
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) enum Interpretation {
    /// The operations compute the value, or in a declaration the address.
    Value,
    /// The operations compute the variable's address, in this address space.
    Pointer(Option<u32>),
    /// The expression consists of exactly these operations.
    Expression,
}

impl Provider {
    fn new(id: Id, interpretation: Interpretation) -> Self {
        Self { id, interpretation, more: None }
    }

    fn more(&mut self) -> &mut More {
        self.more.get_or_insert_default()
    }

    pub(crate) fn interpretation(&self) -> Interpretation {
        self.interpretation
    }

    /// The operations that precede those implied by the interpretation and the selected bits.
    pub(crate) fn steps(&self) -> &[DebugOperation] {
        self.more.as_ref().map_or(&[], |more| &more.steps)
    }

    /// The id's value is the variable's value. In a declaration, the variable is the `OpVariable`.
    pub fn value(id: Id) -> Self {
        Self::new(id, Interpretation::Value)
    }

    /// The id's value is the variable's address. In a declaration, the `OpVariable` contains that address.
    pub fn pointer(id: Id) -> Self {
        Self::new(id, Interpretation::Pointer(None))
    }

    /// Exactly these operations compute the variable's value from the id's value; in a declaration, the variable's
    /// address from the `OpVariable`'s address.
    pub fn expression(id: Id, operations: &[DebugOperation]) -> Self {
        let mut provider = Self::new(id, Interpretation::Expression);
        let steps = match operations {
            // A trailing fragment is kept as selected bits, so that it compares equal to the same bits set by `bits`.
            &[ref steps @ .., DebugOperation::Fragment { offset, size }] => match offset.checked_add(size) {
                Some(end) => {
                    provider = provider.bits(offset..end);
                    steps
                }
                None => operations,
            },
            _ => operations,
        };
        if !steps.is_empty() {
            provider.more().steps.extend_from_slice(steps);
        }
        provider
    }

    /// Selects the member or element that the id provides, counted from 0. Repeated calls descend further, like
    /// `OpAccessChain` indexes.
    pub fn part(self, index: u32) -> Self {
        self.indexed(Index::Number(index))
    }

    /// Selects the element whose index is another id's value. Some [modes](super::Mode) cannot encode such an index.
    pub fn part_by(self, index: Id) -> Self {
        self.indexed(Index::Id(index))
    }

    /// The same id's value, for the part that the first indexes select; with all indexes, for the same bits.
    pub(crate) fn around(&self, indexes: usize) -> Self {
        // Keep the leading indexes and drop everything else.
        let first = self.indexes().iter().take(indexes).copied();
        let around = first.fold(Self::value(self.id), Self::indexed);
        match self.selected_bits().filter(|_| indexes == self.indexes().len()) {
            Some(bits) => around.bits(bits),
            None => around,
        }
    }

    pub(crate) fn indexed(mut self, index: Index) -> Self {
        self.more().indexes.push(index);
        self
    }

    /// Adds a number, possibly negative, to the value or address.
    pub fn plus(mut self, more: i32) -> Self {
        let steps = &mut self.more().steps;
        // `PlusUconst` takes an unsigned number, so that a negative one needs a subtraction.
        match u32::try_from(more) {
            Ok(more) => steps.push(DebugOperation::PlusUconst(more)),
            Err(_) => steps.extend([DebugOperation::Constu(more.unsigned_abs()), DebugOperation::Minus]),
        }
        self
    }

    /// The numbers that [`plus`](Self::plus) added, before other operations.
    #[cfg(feature = "json")]
    pub(crate) fn sums(&self) -> Vec<i64> {
        let mut pieces = Vec::new();
        let mut steps = self.steps();
        loop {
            let (number, rest) = match *steps {
                [DebugOperation::PlusUconst(number), ref rest @ ..] => (i64::from(number), rest),
                [DebugOperation::Constu(number), DebugOperation::Minus, ref rest @ ..] => {
                    (-i64::from(number), rest)
                }
                _ => return pieces,
            };
            pieces.push(number);
            steps = rest;
        }
    }

    /// Whether the operations come from [`expression`](Self::expression).
    #[cfg(feature = "json")]
    pub(crate) fn is_expression(&self) -> bool {
        self.interpretation == Interpretation::Expression
    }

    /// Sets an [address](Self::pointer)'s address space, as the consumer's number. Has no effect on a value that is not
    /// an address.
    pub fn in_space(mut self, space: u32) -> Self {
        if let Interpretation::Pointer(_) = self.interpretation {
            self.interpretation = Interpretation::Pointer(Some(space));
        }
        self
    }

    /// Takes only these bits from the computed value, counted from its first bit.
    pub fn taken(mut self, bits: Range<u32>) -> Self {
        self.more().taken = Some((bits.start, bits.end.saturating_sub(bits.start)));
        self
    }

    /// Selects the variable's bits, or its [part](Self::part)'s bits, that the id provides. Bits count from the first.
    pub fn bits(mut self, bits: Range<u32>) -> Self {
        self.more().bits = Some(bits);
        self
    }

    /// The id.
    pub fn id(&self) -> Id {
        self.id
    }

    /// Indexes of the variable's part that the id provides, like `OpAccessChain` indexes; empty for the whole variable.
    pub fn indexes(&self) -> &[Index] {
        self.more.as_ref().map_or(&[], |more| &more.indexes)
    }

    /// The bits that the id provides in a variable with this type, counted from the first bit. `None` if the type does
    /// not determine the bits, or an index is an id.
    ///
    /// ```
    /// # use eitri::build::Builder;
    /// # use eitri::model::BaseEncoding;
    /// # use eitri::spirv::{Id, Provider};
    /// # use eitri::target::Target;
    /// let mut m = Builder::new(Target::x86_64());
    /// let unit = m.unit("a.cl");
    /// let float = m.base_type(unit, "float", BaseEncoding::Float, 32)?;
    /// let rows = m.array(unit, float, &[Some(4), Some(2)])?;
    /// let module = m.finish()?;
    /// // The element 3, 1.
    /// assert_eq!(Provider::value(Id(12)).part(3).part(1).bits_of(&module, rows), Some(7 * 32..8 * 32));
    /// # Ok::<(), eitri::Error>(())
    /// ```
    pub fn bits_of(&self, module: &Module, ty: TypeId) -> Option<Range<u64>> {
        self.absolute(module, &self.part_of(module, ty, |_| None).ok()??)
    }

    /// The bits as in [`bits_of`](Self::bits_of), for a part that is known already.
    pub(crate) fn absolute(&self, module: &Module, part: &Part) -> Option<Range<u64>> {
        let offset = part.offset_bits(module)?;
        let (start, end) = match self.selected_bits() {
            Some(bits) => (bits.start.into(), bits.end.into()),
            None => (0, part.sizes(module).into_iter().flatten().next()?),
        };
        Some(offset.checked_add(start)?..offset.checked_add(end)?)
    }

    /// The part that the indexes select in a variable with this type; `None` if the types do not determine the part.
    ///
    /// # Errors
    /// [`BadArgument`](crate::error::ErrorKind::BadArgument) if an index is out of range.
    pub(crate) fn part_of(
        &self,
        module: &Module,
        ty: TypeId,
        number: impl Fn(Id) -> Option<u64>,
    ) -> Result<Option<Part>> {
        let mut part = Part::whole(ty);
        for index in self.indexes() {
            match part.select(module, index.number(&number))? {
                Some(inner) => part = inner,
                // A part that the type does not determine ends the walk.
                None => return Ok(None),
            }
        }
        Ok(Some(part))
    }

    /// The selected bits in the variable or its part; `None` for all bits.
    pub(crate) fn selected_bits(&self) -> Option<Range<u32>> {
        self.more.as_ref()?.bits.clone()
    }

    /// Whether operations are needed beyond taking the id's value, or some of its bits.
    pub(crate) fn is_computed(&self) -> bool {
        self.interpretation != Interpretation::Value || !self.steps().is_empty()
    }

    /// Whether the operand is the id's full value, for the whole variable.
    pub(crate) fn is_whole(&self) -> bool {
        self.interpretation == Interpretation::Value && self.more.is_none()
    }

    /// Whether the expression contains a `BitPiece`.
    pub(crate) fn has_bit_piece(&self) -> bool {
        self.taken_bits().is_some()
            || self.steps().iter().any(|step| matches!(step, DebugOperation::BitPiece { .. }))
    }

    /// The bits taken from the computed value: first bit and bit count.
    pub(crate) fn taken_bits(&self) -> Option<(u32, u32)> {
        self.more.as_ref()?.taken
    }

    /// The operations in the expression for a `DebugValue` or a `DebugDeclare`.
    pub fn operations(&self, is_declaration: bool) -> Vec<DebugOperation> {
        self.few_operations(is_declaration).into_vec()
    }

    /// The [operations](Self::operations), in memory of their own only if they are many.
    pub(crate) fn few_operations(&self, is_declaration: bool) -> SmallVec<[DebugOperation; 4]> {
        let mut operations = SmallVec::new();
        operations.extend_from_slice(self.steps());
        match self.interpretation {
            Interpretation::Pointer(None) => operations.push(DebugOperation::Deref),
            Interpretation::Pointer(Some(space)) => {
                operations.extend([
                    DebugOperation::Constu(space),
                    DebugOperation::Swap,
                    DebugOperation::Xderef,
                ]);
            }
            // A computed value is not in memory; without this operation, a consumer would read memory at that address.
            Interpretation::Value if !is_declaration && !operations.is_empty() => {
                operations.push(DebugOperation::StackValue)
            }
            Interpretation::Value | Interpretation::Expression => {}
        }
        // Taken bits precede the fragment, as the specification orders them.
        if let Some((offset, size)) = self.taken_bits() {
            operations.push(DebugOperation::BitPiece { offset, size });
        }
        if let Some(Range { start, end }) = self.selected_bits() {
            operations.push(DebugOperation::Fragment { offset: start, size: end.saturating_sub(start) });
        }
        operations
    }
}
