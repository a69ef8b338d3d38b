//! An expression's shape: what it computes from registers, constants and memory, whatever they contain.
//!
//! The analysis runs on an abstract stack. An element is a constant, a register or symbol plus an offset, memory at an
//! element, or arithmetic on elements. An operation whose effect depends on contents, such as a branch, ends the
//! analysis, and the shape is unknown. Whether an expression is ill-formed is never decided here, so that lint cannot
//! disagree with the evaluator, which decides on witnesses.

use std::ops::Range;

use eitri_dwarf::op::{Decoder, Encoding, Op, Reg};

/// A number on the stack, by its origin.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Number {
    /// A constant.
    Known(u64),
    /// A register's contents plus a number of bytes.
    Register(Reg, i64),
    /// An address in the file plus a number of bytes.
    Symbol(u64),
    /// The frame base plus a number of bytes.
    Frame(i64),
    /// The canonical frame address plus a number of bytes.
    Cfa(i64),
    /// Memory at an address, in the space given to `xderef`, or in the default one.
    Loaded { space: Option<Box<Number>>, from: Box<Number> },
    /// The current lane, times a factor.
    Lane(u64),
    /// A result of arithmetic.
    Computed(Vec<Number>),
    /// A number from a caller, another entry, or a thread.
    Other,
}

/// What a location selects in a vector register.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Selected {
    /// The register's start, without an offset.
    Nothing,
    /// A fixed offset in bits.
    Bits(u64),
    /// A piece: its offset and size in bits.
    Piece(u64, u64),
    /// The current lane's element, with this many bits for each lane.
    Lane(u64),
    /// A computed offset, or an operation over lanes.
    Computed,
}

/// A location.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum LocationShape {
    /// Unavailable variable.
    Nothing,
    /// A register.
    Register(Reg, Selected),
    /// Memory at an address, in the default space or in a selected space.
    Memory { space: Option<Number>, address: Number },
    /// A value without a location.
    Value(Number),
    /// Bytes in the expression.
    Implicit(Vec<u8>),
    /// Anything else.
    Other,
}

/// A part of an object.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct PartShape {
    pub(crate) place: LocationShape,
    /// Size in bits; `None` if the object has a single part.
    pub(crate) bits: Option<u64>,
    /// Byte range of the operations that compute the location.
    pub(crate) operations: Range<usize>,
}

/// An expression's shape.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(crate) struct Shape {
    pub(crate) parts: Vec<PartShape>,
    /// Whether it depends on the frame base.
    pub(crate) uses_frame_base: bool,
    /// Whether values can have other types than the generic one.
    pub(crate) has_types: bool,
    /// Rule that an operation's bytes break, with the operation's offset in bytes.
    pub(crate) error: Option<(usize, String)>,
    /// Rule by which every machine fails, with the operation's offset in bytes.
    pub(crate) failure: Option<(usize, String)>,
    /// Byte offset of an operation that divides by the constant 0.
    pub(crate) zero_divisor: Option<usize>,
}

impl Shape {
    /// Returns a shape about which nothing is known.
    fn unknown(self) -> Self {
        Self { parts: vec![PartShape { place: LocationShape::Other, bits: None, operations: 0..0 }], ..self }
    }

    /// Returns the value of a constant expression.
    pub(crate) fn constant(&self) -> Option<u64> {
        match &self.parts[..] {
            [PartShape { place: LocationShape::Value(Number::Known(value)), .. }] => Some(*value),
            _ => None,
        }
    }
}

#[derive(Debug, Clone)]
enum Item {
    Number(Number),
    Location(LocationShape),
}

/// Limit on stack elements, and on parts.
const MOST: usize = 256;
/// Limit on the numbers in a computation.
const MOST_NUMBERS: usize = 256;

struct Stack<'a> {
    items: Vec<Item>,
    /// Whether the last operation divides by the constant 0.
    divides_by_zero: bool,
    address: &'a dyn Fn(u64) -> Option<u64>,
}

/// Returns an expression's shape; `address` resolves address indices.
pub(crate) fn analyze(expr: &[u8], encoding: Encoding, address: &dyn Fn(u64) -> Option<u64>) -> Shape {
    let mut shape = Shape::default();
    let mut stack = Stack { items: Vec::new(), divides_by_zero: false, address };
    let mut start = 0;
    let mut last = 0;
    let mut is_complete = false;
    for decoded in Decoder::new(expr, encoding) {
        let decoded = match decoded {
            Ok(decoded) => decoded,
            Err(error) => {
                let offset = error.at().offset.map_or(last, |offset| offset as usize);
                shape.error = Some((offset, error.kind().to_string()));
                return shape;
            }
        };
        last = decoded.offset;
        if is_complete {
            return shape.unknown();
        }
        shape.uses_frame_base |= matches!(decoded.op, Op::FbReg { .. });
        shape.has_types |= matches!(
            decoded.op,
            Op::Convert { .. }
                | Op::Reinterpret { .. }
                | Op::RegvalType { .. }
                | Op::DerefType { .. }
                | Op::XderefType { .. }
                | Op::ConstType { .. }
        );
        // Branches, the stack after a call, and composites among other elements are not followed.
        let is_dropped = match decoded.op {
            Op::Bra { .. } | Op::Skip { .. } => true,
            Op::Piece { .. } | Op::BitPiece { .. } | Op::Pick { .. } => false,
            Op::PieceEnd {} if !shape.parts.is_empty() && stack.items.is_empty() => {
                is_complete = true;
                continue;
            }
            Op::PieceEnd {} => true,
            op => op.row().stack.0.is_none(),
        };
        if is_dropped {
            return shape.unknown();
        }
        let piece = match decoded.op {
            Op::Piece { bytes } => Some((bytes.saturating_mul(8), 0)),
            Op::BitPiece { bits, offset } => Some((bits, offset)),
            _ => None,
        };
        if let Some((bits, offset)) = piece {
            let mut place = stack.items.pop().map_or(LocationShape::Nothing, finished);
            if let (Op::BitPiece { .. }, LocationShape::Register(_, selected @ Selected::Nothing)) =
                (decoded.op, &mut place)
            {
                *selected = Selected::Piece(offset, bits);
            }
            shape.parts.push(PartShape { place, bits: Some(bits), operations: start..decoded.offset });
            start = decoded.offset + 1;
        } else if stack.run(decoded.op).is_none() {
            // The evaluator decides whether an element is missing, because it can be a composite location that the
            // parts form.
            return shape.unknown();
        }
        if std::mem::take(&mut stack.divides_by_zero) {
            shape.zero_divisor.get_or_insert(decoded.offset);
        }
        if stack.items.len() > MOST || shape.parts.len() > MOST {
            return shape.unknown();
        }
    }
    if shape.parts.is_empty() && !expr.is_empty() {
        let place = stack.items.pop().map_or(LocationShape::Nothing, finished);
        shape.parts.push(PartShape { place, bits: None, operations: 0..expr.len() });
    }
    shape
}

/// Returns the location that a stack element stands for at the end of an expression or piece.
fn finished(item: Item) -> LocationShape {
    match item {
        Item::Location(place) => place,
        Item::Number(address) => LocationShape::Memory { space: None, address },
    }
}

impl Stack<'_> {
    fn number(&mut self) -> Option<Number> {
        Some(match self.items.pop()? {
            Item::Number(number) => number,
            // A memory location converts to its address, any other one to its contents.
            Item::Location(LocationShape::Memory { address, .. }) => address,
            Item::Location(_) => Number::Other,
        })
    }

    fn push(&mut self, number: Number) {
        self.items.push(Item::Number(number));
    }

    fn place(&mut self, place: LocationShape) {
        self.items.push(Item::Location(place));
    }

    fn add(&mut self, change: i64) -> Option<()> {
        let number = match self.number()? {
            Number::Known(value) => Number::Known(value.wrapping_add(change as u64)),
            Number::Register(reg, offset) => Number::Register(reg, offset.wrapping_add(change)),
            Number::Symbol(address) => Number::Symbol(address.wrapping_add(change as u64)),
            Number::Frame(offset) => Number::Frame(offset.wrapping_add(change)),
            Number::Cfa(offset) => Number::Cfa(offset.wrapping_add(change)),
            other => Number::computed(vec![other]),
        };
        self.push(number);
        Some(())
    }

    /// Combines the two topmost numbers.
    fn combine(&mut self, op: Op<'_>) -> Option<()> {
        let second = self.number()?;
        let first = self.number()?;
        self.divides_by_zero =
            second == Number::Known(0) && matches!(op, Op::Div { .. } | Op::Mod { .. } | Op::ModFloor { .. });
        if let (Number::Known(first), Number::Known(second)) = (&first, &second) {
            let first = *first;
            let second = *second;
            let shift = |operation: fn(u64, u32) -> Option<u64>| {
                u32::try_from(second).ok().and_then(|bits| operation(first, bits)).unwrap_or(0)
            };
            let value = match op {
                Op::Plus { .. } => first.wrapping_add(second),
                Op::Minus { .. } => first.wrapping_sub(second),
                Op::Mul { .. } => first.wrapping_mul(second),
                Op::And { .. } => first & second,
                Op::Or { .. } => first | second,
                Op::Xor { .. } => first ^ second,
                Op::Shl { .. } => shift(u64::checked_shl),
                Op::Shr { .. } => shift(u64::checked_shr),
                _ => {
                    self.push(Number::computed(Vec::new()));
                    return Some(());
                }
            };
            self.push(Number::Known(value));
            return Some(());
        }
        if let (Op::Mul { .. }, Number::Lane(bits_per_lane), Number::Known(factor))
        | (Op::Mul { .. }, Number::Known(factor), Number::Lane(bits_per_lane)) = (op, &first, &second)
        {
            self.push(Number::Lane(bits_per_lane.wrapping_mul(*factor)));
            return Some(());
        }
        if let (Op::Shl { .. }, Number::Lane(bits_per_lane), Number::Known(bits @ 0..64)) =
            (op, &first, &second)
        {
            self.push(Number::Lane(bits_per_lane << bits));
            return Some(());
        }
        let offset = match (op, &first, &second) {
            (Op::Plus { .. }, _, Number::Known(offset)) => Some((first.clone(), *offset as i64)),
            (Op::Minus { .. }, _, Number::Known(offset)) => {
                Some((first.clone(), (*offset as i64).wrapping_neg()))
            }
            (Op::Plus { .. }, Number::Known(offset), _) => Some((second.clone(), *offset as i64)),
            _ => None,
        };
        match offset {
            Some((number, offset)) => {
                self.push(number);
                self.add(offset)
            }
            None => {
                self.push(Number::computed(vec![first, second]));
                Some(())
            }
        }
    }

    fn load(&mut self, has_space: bool) -> Option<()> {
        let is_in_space =
            matches!(self.items.last(), Some(Item::Location(LocationShape::Memory { space: Some(_), .. })));
        let mut from = Box::new(self.number()?);
        if is_in_space {
            // The location has the space, and the address alone does not.
            from = Box::new(Number::computed(vec![*from]));
        }
        let space = if has_space { Some(Box::new(self.number()?)) } else { None };
        self.push(Number::Loaded { space, from }.limited());
        Some(())
    }

    /// Moves a location by some bits, or by some bits for each lane.
    fn offset(&mut self, bits: Option<u64>, bits_per_lane: Option<u64>) {
        let Some(Item::Location(place)) = self.items.pop() else {
            self.place(LocationShape::Other);
            return;
        };
        let place = match (place, bits) {
            (LocationShape::Register(reg, Selected::Nothing), Some(bits)) => {
                LocationShape::Register(reg, Selected::Bits(bits))
            }
            (LocationShape::Register(reg, Selected::Bits(old)), Some(bits)) => {
                LocationShape::Register(reg, Selected::Bits(old.saturating_add(bits)))
            }
            (LocationShape::Register(reg, Selected::Nothing), None) => {
                LocationShape::Register(reg, bits_per_lane.map_or(Selected::Computed, Selected::Lane))
            }
            (LocationShape::Register(reg, _), None) => LocationShape::Register(reg, Selected::Computed),
            (LocationShape::Memory { space, address }, _) => {
                LocationShape::Memory { space, address: Number::computed(vec![address]) }
            }
            (place, _) => place,
        };
        self.place(place);
    }

    fn run(&mut self, op: Op<'_>) -> Option<()> {
        match op {
            Op::Addr { address } => self.push(Number::Symbol(address)),
            Op::Addrx { index } => {
                let number = (self.address)(index).map_or(Number::Other, Number::Symbol);
                self.push(number);
            }
            Op::ConstU { value } => self.push(Number::Known(value)),
            Op::ConstS { value } => self.push(Number::Known(value as u64)),
            Op::RegX { reg } => self.place(LocationShape::Register(reg, Selected::Nothing)),
            Op::BregX { reg, offset } => self.push(Number::Register(reg, offset)),
            Op::RegvalType { reg, .. } => self.push(Number::computed(vec![Number::Register(reg, 0)])),
            Op::FbReg { offset } => self.push(Number::Frame(offset)),
            Op::CallFrameCfa { .. } => self.push(Number::Cfa(0)),
            Op::PushLane { .. } => self.push(Number::Lane(1)),
            Op::Deref { .. } | Op::DerefSize { .. } | Op::DerefType { .. } => self.load(false)?,
            Op::Xderef { .. } | Op::XderefSize { .. } | Op::XderefType { .. } => self.load(true)?,
            Op::FormAspaceAddress { .. } => {
                let space = self.number()?;
                let address = self.number()?;
                self.place(LocationShape::Memory { space: Some(space), address });
            }
            Op::AspaceBregX { reg, offset } => {
                let space = self.number()?;
                self.place(LocationShape::Memory {
                    space: Some(space),
                    address: Number::Register(reg, offset),
                });
            }
            Op::PlusUconst { value } => self.add(value as i64)?,
            Op::Plus { .. }
            | Op::Minus { .. }
            | Op::Mul { .. }
            | Op::And { .. }
            | Op::Or { .. }
            | Op::Xor { .. }
            | Op::Shl { .. }
            | Op::Shr { .. }
            | Op::Shra { .. }
            | Op::Div { .. }
            | Op::Mod { .. }
            | Op::ModFloor { .. }
            | Op::Eq { .. }
            | Op::Ne { .. }
            | Op::Ge { .. }
            | Op::Gt { .. }
            | Op::Le { .. }
            | Op::Lt { .. } => self.combine(op)?,
            Op::Abs { .. } | Op::Neg { .. } | Op::Not { .. } => {
                let number = self.number()?;
                self.push(Number::computed(vec![number]));
            }
            // The result has the size that its type has.
            Op::Convert { .. } | Op::Reinterpret { .. } => {
                let number = match self.number()? {
                    number @ Number::Known(_) => number,
                    other => Number::computed(vec![other]),
                };
                self.push(number);
            }
            Op::Nop { .. } | Op::GnuUninit { .. } => {}
            Op::Drop { .. } => drop(self.items.pop()?),
            Op::Swap { .. } => {
                let count = self.items.len();
                if count < 2 {
                    return None;
                }
                self.items.swap(count - 1, count - 2);
            }
            Op::Rot { .. } => {
                let count = self.items.len();
                if count < 3 {
                    return None;
                }
                self.items[count - 3..].rotate_right(1);
            }
            Op::Pick { index } => {
                let position = self.items.len().checked_sub(usize::from(index) + 1);
                let item = position.map(|position| self.items[position].clone());
                self.items.push(item?);
            }
            Op::StackValue { .. } => {
                let number = self.number()?;
                self.place(LocationShape::Value(number));
            }
            Op::ImplicitValue { bytes } => self.place(LocationShape::Implicit(bytes.to_vec())),
            Op::Undefined { .. } => self.place(LocationShape::Nothing),
            Op::OffsetUconst { bytes } => self.offset(Some(bytes.saturating_mul(8)), None),
            Op::Offset { .. } | Op::BitOffset { .. } => {
                let factor = if matches!(op, Op::Offset { .. }) { 8 } else { 1 };
                match self.number()? {
                    Number::Known(bits) => self.offset(Some(bits.saturating_mul(factor)), None),
                    Number::Lane(bits) => self.offset(None, Some(bits.saturating_mul(factor))),
                    _ => self.offset(None, None),
                }
            }
            // Callers' values, and operations over lanes and parts: the result is not followed.
            _ => {
                let (pops, pushes) = op.row().stack;
                for _ in 0..pops.unwrap_or(0) {
                    self.items.pop()?;
                }
                for _ in 0..pushes.unwrap_or(0) {
                    self.place(LocationShape::Other);
                }
            }
        }
        Some(())
    }
}

impl Number {
    fn computed(operands: Vec<Self>) -> Self {
        Self::Computed(operands).limited()
    }

    /// Returns the number, or a number of unknown origin if the computation is too large to follow. Without a limit, an
    /// expression that duplicates a number again and again would need exponential memory, and a chain of operations
    /// would be deeper than the stack that its recursive users need.
    fn limited(self) -> Self {
        if self.size() > MOST_NUMBERS { Self::Other } else { self }
    }

    /// Returns how many numbers the computation consists of.
    fn size(&self) -> usize {
        match self {
            Self::Loaded { space, from } => 1 + from.size() + space.as_ref().map_or(0, |space| space.size()),
            Self::Computed(operands) => 1 + operands.iter().map(Self::size).sum::<usize>(),
            _ => 1,
        }
    }

    /// Returns the first number for which `is` holds: this number, or an operand in its computation.
    pub(crate) fn find(&self, is: &dyn Fn(&Number) -> bool) -> Option<&Number> {
        if is(self) {
            return Some(self);
        }
        match self {
            Self::Loaded { space, from } => {
                from.find(is).or_else(|| space.as_ref().and_then(|space| space.find(is)))
            }
            Self::Computed(operands) => operands.iter().find_map(|number| number.find(is)),
            _ => None,
        }
    }
}
