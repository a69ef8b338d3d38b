//! What holds a variable: the result of an instruction, and what is to be done to get from there to the variable.

use core::fmt;
use core::ops::Range;

use smallvec::SmallVec;

use super::words::Id;
use crate::error::Result;
use crate::model::{Module, Part, TypeId};

/// An operation of an expression: section 3.6. The stack has one entry at first, the value or the address that the
/// expression is about.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum DebugOperation {
    /// The value at the address on top.
    Deref,
    /// The sum of the two on top.
    Plus,
    /// The second less the top.
    Minus,
    /// The top and a number more.
    PlusUconst(u32),
    /// So many bits of what was said last, from a bit of it on.
    BitPiece {
        /// The first of the bits, counted from the first of that.
        offset: u32,
        /// How many.
        size: u32,
    },
    /// The two on top change places.
    Swap,
    /// The value at the address on top, in the address space below it.
    Xderef,
    /// The top is the value, which is in no memory.
    StackValue,
    /// A number.
    Constu(u32),
    /// These bits of the variable.
    Fragment {
        /// The first of the bits, counted from the first of the variable.
        offset: u32,
        /// How many.
        size: u32,
    },
}

impl DebugOperation {
    /// Its number, which is its place in [`OPERATIONS`](super::OPERATIONS).
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
        }
    }

    /// Its operands.
    pub fn operands(self) -> SmallVec<[u32; 2]> {
        match self {
            Self::PlusUconst(number) | Self::Constu(number) => [number].into_iter().collect(),
            Self::BitPiece { offset, size } | Self::Fragment { offset, size } => [offset, size].into(),
            _ => SmallVec::new(),
        }
    }

    /// The operation of a number that has these operands.
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
            _ => return None,
        })
    }
}

/// An id that holds a variable, or a part of the variable, and the operations between the two.
///
/// [`part`](Self::part) and [`bits`](Self::bits) select in the variable. To select in the *value*, name the result of an
/// `OpCompositeExtract`, or [take](Self::taken) some of its bits.
///
/// ```
/// use eitri::spirv::{Held, Id};
///
/// // The result of an instruction is the variable's value.
/// let x = Held::value(Id(12));
/// // Each of two results is a member of a structure.
/// let members = [Held::value(Id(30)).part(0), Held::value(Id(31)).part(1)];
/// // The same by the bits of the structure.
/// let bits = [Held::value(Id(30)).bits(0..32), Held::value(Id(31)).bits(32..64)];
/// // The result is 4 more than the second member.
/// let n = Held::value(Id(12)).plus(-4).part(1);
/// // It is in memory, 16 bytes behind where the id points to.
/// let y = Held::pointer(Id(14)).plus(16);
/// # let _ = (x, members, bits, n, y);
/// ```
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
#[must_use]
pub struct Held {
    id: Id,
    how: How,
    /// Nothing, where the value of the id is all there is to say: so it is of most variables.
    more: Option<Box<More>>,
}

/// What there is to say beside the id.
#[derive(Debug, Clone, Default, PartialEq, Eq, Hash)]
struct More {
    indexes: Vec<Index>,
    steps: Vec<DebugOperation>,
    taken: Option<(u32, u32)>,
    bits: Option<Range<u32>>,
}

/// An index that selects a member or element of a variable, or of a part of the variable.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Index {
    /// This one, the first being 0.
    Number(u32),
    /// The one that the id is the number of.
    Id(Id),
}

impl Index {
    /// The number; of an id, the number that `of` gives.
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
enum How {
    /// What is computed is the value, or in a declaration the address.
    Value,
    /// It is at the address that is computed.
    Pointer(Option<u32>),
    /// The steps are all there is to it.
    Expression,
}

impl Held {
    fn new(id: Id, how: How) -> Self {
        Self { id, how, more: None }
    }

    fn more(&mut self) -> &mut More {
        self.more.get_or_insert_default()
    }

    fn steps(&self) -> &[DebugOperation] {
        self.more.as_ref().map_or(&[], |more| &more.steps)
    }

    /// The value of the id is the variable's. In a declaration: the variable is what the `OpVariable` is.
    pub fn value(id: Id) -> Self {
        Self::new(id, How::Value)
    }

    /// The value of the id is the address at which the variable is. In a declaration: the address is what the
    /// `OpVariable` contains.
    pub fn pointer(id: Id) -> Self {
        Self::new(id, How::Pointer(None))
    }

    /// These operations, and no others, get from the value of the id to the variable's; in a declaration, from the
    /// address of the `OpVariable`.
    pub fn expression(id: Id, operations: &[DebugOperation]) -> Self {
        let mut held = Self::new(id, How::Expression);
        let steps = match operations {
            &[ref steps @ .., DebugOperation::Fragment { offset, size }] => match offset.checked_add(size) {
                Some(end) => {
                    held = held.bits(offset..end);
                    steps
                }
                None => operations,
            },
            _ => operations,
        };
        if !steps.is_empty() {
            held.more().steps.extend_from_slice(steps);
        }
        held
    }

    /// It holds this member or element of the variable, the first being 0, and no other. Several calls go deeper, as the
    /// indexes of `OpAccessChain`.
    pub fn part(self, index: u32) -> Self {
        self.indexed(Index::Number(index))
    }

    /// It holds the element of the variable that another id is the number of. Not every [mode](super::Mode) has it.
    pub fn part_by(self, index: Id) -> Self {
        self.indexed(Index::Id(index))
    }

    /// The value of the same id for the part that the first indexes select; with all indexes, for the same bits.
    pub(crate) fn around(&self, indexes: usize) -> Self {
        let first = self.indexes().iter().take(indexes).copied();
        let around = first.fold(Self::value(self.id), Self::indexed);
        match self.held_bits().filter(|_| indexes == self.indexes().len()) {
            Some(bits) => around.bits(bits),
            None => around,
        }
    }

    pub(crate) fn indexed(mut self, index: Index) -> Self {
        self.more().indexes.push(index);
        self
    }

    /// The value, or the address, and so much more; less, if it is negative.
    pub fn plus(mut self, more: i32) -> Self {
        let steps = &mut self.more().steps;
        match u32::try_from(more) {
            Ok(more) => steps.push(DebugOperation::PlusUconst(more)),
            Err(_) => steps.extend([DebugOperation::Constu(more.unsigned_abs()), DebugOperation::Minus]),
        }
        self
    }

    /// The [address](Self::pointer) is one of this address space, by the number that the consumer knows it by. Of a
    /// value that is no address it says nothing.
    pub fn in_space(mut self, space: u32) -> Self {
        if let How::Pointer(_) = self.how {
            self.how = How::Pointer(Some(space));
        }
        self
    }

    /// These bits of what the id holds, and no others: counted from its first.
    pub fn taken(mut self, bits: Range<u32>) -> Self {
        self.more().taken = Some((bits.start, bits.end.saturating_sub(bits.start)));
        self
    }

    /// It holds these bits of the variable, or of the [part](Self::part) of it, counted from the first, and no others.
    pub fn bits(mut self, bits: Range<u32>) -> Self {
        self.more().bits = Some(bits);
        self
    }

    /// The id.
    pub fn id(&self) -> Id {
        self.id
    }

    /// The indexes of the part of the variable that the id holds, as those of `OpAccessChain`; empty for the variable.
    pub fn indexes(&self) -> &[Index] {
        self.more.as_ref().map_or(&[], |more| &more.indexes)
    }

    /// The bits that it holds of a variable of this type, counted from the first. `None` where the type does not say, or
    /// an index is an id.
    ///
    /// ```
    /// # use eitri::build::Builder;
    /// # use eitri::model::BaseEncoding;
    /// # use eitri::spirv::{Held, Id};
    /// # use eitri::target::Target;
    /// let mut m = Builder::new(Target::x86_64());
    /// let unit = m.unit("a.cl");
    /// let float = m.base_type(unit, "float", BaseEncoding::Float, 32)?;
    /// let rows = m.array(unit, float, &[Some(4), Some(2)])?;
    /// let module = m.finish()?;
    /// // The element 3, 1.
    /// assert_eq!(Held::value(Id(12)).part(3).part(1).bits_of(&module, rows), Some(7 * 32..8 * 32));
    /// # Ok::<(), eitri::Error>(())
    /// ```
    pub fn bits_of(&self, module: &Module, ty: TypeId) -> Option<Range<u64>> {
        self.absolute(module, &self.part_of(module, ty, |_| None).ok()??)
    }

    /// The same, where the part of the variable is known already.
    pub(crate) fn absolute(&self, module: &Module, part: &Part) -> Option<Range<u64>> {
        let offset = part.offset_bits(module)?;
        let (start, end) = match self.held_bits() {
            Some(bits) => (bits.start.into(), bits.end.into()),
            None => (0, part.sizes(module).into_iter().flatten().next()?),
        };
        Some(offset.checked_add(start)?..offset.checked_add(end)?)
    }

    /// The part that the indexes select in a variable of this type; `None` where the types do not describe the part.
    ///
    /// # Errors
    /// [`BadArgument`](crate::error::ErrorKind::BadArgument) if there is no such part.
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
                None => return Ok(None),
            }
        }
        Ok(Some(part))
    }

    /// The bits that it holds of the variable, or of the part of it; `None` for all.
    pub(crate) fn held_bits(&self) -> Option<Range<u32>> {
        self.more.as_ref()?.bits.clone()
    }

    /// Whether there is more to do than to take the value of the id, or bits of it.
    pub(crate) fn is_computed(&self) -> bool {
        self.how != How::Value || !self.steps().is_empty()
    }

    /// Whether it is all of the value of the id, and all of the variable.
    pub(crate) fn is_whole(&self) -> bool {
        self.how == How::Value && self.more.is_none()
    }

    /// Whether it is said by some bits of what was computed.
    pub(crate) fn has_bit_piece(&self) -> bool {
        self.taken_bits().is_some()
            || self.steps().iter().any(|step| matches!(step, DebugOperation::BitPiece { .. }))
    }

    /// The bits that are taken of what the id holds: the first, and how many.
    pub(crate) fn taken_bits(&self) -> Option<(u32, u32)> {
        self.more.as_ref()?.taken
    }

    /// The operations that say it, of a `DebugValue` or of a `DebugDeclare`.
    pub fn operations(&self, is_declaration: bool) -> SmallVec<[DebugOperation; 4]> {
        let mut all = SmallVec::new();
        all.extend_from_slice(self.steps());
        match self.how {
            How::Pointer(None) => all.push(DebugOperation::Deref),
            How::Pointer(Some(space)) => {
                all.extend([DebugOperation::Constu(space), DebugOperation::Swap, DebugOperation::Xderef]);
            }
            // What was computed is no value that is anywhere.
            How::Value if !is_declaration && !all.is_empty() => all.push(DebugOperation::StackValue),
            How::Value | How::Expression => {}
        }
        if let Some((offset, size)) = self.taken_bits() {
            all.push(DebugOperation::BitPiece { offset, size });
        }
        if let Some(Range { start, end }) = self.held_bits() {
            all.push(DebugOperation::Fragment { offset: start, size: end.saturating_sub(start) });
        }
        all
    }
}
