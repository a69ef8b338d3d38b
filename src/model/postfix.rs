//! The nodes of a location as bytes, in postfix order.
//!
//! A node is its tag and the number that it holds. The two high bits of the tag's byte say how many bytes
//! the number has, so that a node is written and read without a loop and without a branch for each size,
//! which with numbers of all sizes would be mispredicted:
//!
//! ```text
//! ┌── size ─┬── tag ──┐
//! │ 2 bits  │ 6 bits  │ number: 0, 1, 2 or 8 bytes, lowest first │ second number, likewise │ …
//! ```
//!
//! The number 0 has no bytes, and so has the one of a node without number. Signed numbers have their sign
//! in bit 0.

use core::fmt;

use super::ids::{ExprId, LocId, ProcedureId, StringId, VariableId};
use super::loc::{Loc, Node, Symbol};
use crate::error::{Error, ErrorKind, Result};
use crate::op::Reg;
use crate::target::SpaceId;

/// How many bytes are held in place: more than most locations need.
const FEW: usize = 46;

/// Bytes of a number, by the two high bits of its tag.
const SIZES: [usize; 4] = [0, 1, 2, 8];
/// The bits of such a number.
const MASKS: [u64; 4] = [0, 0xff, 0xffff, u64::MAX];

/// Nodes in postfix order.
#[derive(Clone)]
pub(super) enum Postfix {
    /// How many bytes they have, and the bytes: as they are in the [`Pool`].
    Few([u8; 1 + FEW]),
    Many(Vec<u8>),
}

impl Postfix {
    #[inline]
    pub(super) const fn new() -> Self {
        Self::Few([0; 1 + FEW])
    }

    #[inline]
    fn bytes(&self) -> &[u8] {
        match self {
            Self::Few([len, bytes @ ..]) => bytes.get(..usize::from(*len)).unwrap_or_default(),
            Self::Many(bytes) => bytes,
        }
    }

    #[inline]
    pub(super) fn nodes(&self) -> Nodes<'_> {
        match self {
            Self::Few([len, bytes @ ..]) => Nodes::new(bytes, usize::from(*len)),
            Self::Many(bytes) => Nodes::new(bytes, bytes.len()),
        }
    }

    /// Appends the nodes of another.
    #[inline]
    pub(super) fn append(&mut self, other: &Self) {
        self.extend(other.bytes());
    }

    #[inline]
    fn extend(&mut self, more: &[u8]) {
        if let Self::Few([len, bytes @ ..]) = self
            && let Some(room) = bytes.get_mut(usize::from(*len)..usize::from(*len) + more.len())
        {
            room.copy_from_slice(more);
            *len += more.len() as u8;
        } else {
            self.many().extend_from_slice(more);
        }
    }

    /// Appends a node. Inlined, for where it is called the node is known, and little of this is left.
    #[inline(always)]
    pub(super) fn push(&mut self, node: Node<'_>) {
        match node {
            Node::Register(reg) => self.number(Tag::Register, reg.0),
            Node::Lane(reg, lane) => self.numbers(Tag::Lane, reg.0, lane.into()),
            Node::PerLane(reg) => self.number(Tag::PerLane, reg.0),
            Node::StackSlot(offset) => self.number(Tag::StackSlot, fold(offset)),
            Node::Memory(space) => self.number(Tag::Memory, space.0.into()),
            Node::Offset(bytes) => self.number(Tag::Offset, fold(bytes)),
            Node::BitOffset(bits) => self.number(Tag::BitOffset, fold(bits)),
            Node::OffsetBy => self.number(Tag::OffsetBy, 0),
            Node::BitOffsetBy => self.number(Tag::BitOffsetBy, 0),
            Node::Part(bits) => self.number(Tag::Part, bits),
            Node::Parts(count) => self.number(Tag::Parts, count),
            Node::Overlay => self.number(Tag::Overlay, 0),
            Node::Select { bits, count } => self.numbers(Tag::Select, bits, count),
            Node::Extend { bits, count } => self.numbers(Tag::Extend, bits, count),
            Node::Implicit(bytes) => {
                self.number(Tag::Implicit, bytes.len() as u64);
                self.extend(bytes);
            }
            Node::Value => self.number(Tag::Value, 0),
            Node::PointerTo(variable, by) => {
                self.numbers(Tag::PointerTo, variable.as_u32().into(), fold(by));
            }
            Node::Call(procedure) => self.number(Tag::Call, procedure.as_u32().into()),
            Node::Undefined => self.number(Tag::Undefined, 0),
            Node::Expr(expr) => self.number(Tag::Expr, expr.as_u32().into()),
            Node::Const(value) => self.number(Tag::Const, value),
            Node::Address(symbol, by) => self.numbers(Tag::Address, symbol.0.as_u32().into(), fold(by)),
            Node::Read(bits) => self.number(Tag::Read, bits.into()),
            Node::ReadRegister(reg) => self.number(Tag::ReadRegister, reg.0),
            Node::LaneIndex => self.number(Tag::LaneIndex, 0),
            Node::Plus(value) => self.number(Tag::Plus, fold(value)),
            Node::Add => self.number(Tag::Add, 0),
            Node::Sub => self.number(Tag::Sub, 0),
            Node::Mul => self.number(Tag::Mul, 0),
            Node::And => self.number(Tag::And, 0),
            Node::Or => self.number(Tag::Or, 0),
            Node::Xor => self.number(Tag::Xor, 0),
            Node::Shl => self.number(Tag::Shl, 0),
            Node::Shr => self.number(Tag::Shr, 0),
            Node::Shra => self.number(Tag::Shra, 0),
            Node::Neg => self.number(Tag::Neg, 0),
            Node::Not => self.number(Tag::Not, 0),
        }
    }

    #[inline]
    fn numbers(&mut self, tag: Tag, first: u64, second: u64) {
        self.number(tag, first);
        self.number(Tag::Register, second);
    }

    #[inline]
    fn number(&mut self, tag: Tag, number: u64) {
        let size = usize::from(number > 0) + usize::from(number > 0xff) + usize::from(number > 0xffff);
        let tag = tag as u8 | (size as u8) << 6;
        if let Self::Few([len, bytes @ ..]) = self
            && let Some(room) = bytes.get_mut(usize::from(*len)..usize::from(*len) + 9)
        {
            room[0] = tag;
            room[1..].copy_from_slice(&number.to_le_bytes());
            *len += 1 + SIZES[size] as u8;
        } else {
            self.spill(tag, &number.to_le_bytes()[..SIZES[size]]);
        }
    }

    #[cold]
    fn spill(&mut self, tag: u8, number: &[u8]) {
        let bytes = self.many();
        bytes.push(tag);
        bytes.extend_from_slice(number);
    }

    /// The bytes, of which there may be any number.
    fn many(&mut self) -> &mut Vec<u8> {
        if let Self::Few(_) = self {
            *self = Self::Many(self.bytes().to_vec());
        }
        match self {
            Self::Many(bytes) => bytes,
            Self::Few(_) => unreachable!("there are many"),
        }
    }
}

impl PartialEq for Postfix {
    fn eq(&self, other: &Self) -> bool {
        self.bytes() == other.bytes()
    }
}

impl Eq for Postfix {}

impl fmt::Debug for Postfix {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.nodes().fmt(f)
    }
}

/// The sign in bit 0, so that small numbers have few bits.
#[inline]
fn fold(value: i64) -> u64 {
    (value << 1 ^ value >> 63) as u64
}

#[inline]
fn unfold(value: u64) -> i64 {
    (value >> 1) as i64 ^ -((value & 1) as i64)
}

macro_rules! tags { ($($tag:ident),*) => {
    #[derive(Clone, Copy)]
    enum Tag { $($tag),* }
    const TAGS: &[Tag] = &[$(Tag::$tag),*];
} }
tags!(
    Register,
    Lane,
    PerLane,
    StackSlot,
    Memory,
    Offset,
    BitOffset,
    OffsetBy,
    BitOffsetBy,
    Part,
    Parts,
    Overlay,
    Select,
    Extend,
    Implicit,
    Value,
    PointerTo,
    Call,
    Undefined,
    Expr,
    Const,
    Address,
    Read,
    ReadRegister,
    LaneIndex,
    Plus,
    Add,
    Sub,
    Mul,
    And,
    Or,
    Xor,
    Shl,
    Shr,
    Shra,
    Neg,
    Not
);

/// The nodes of a location, operands before the node that takes them.
#[derive(Clone)]
pub struct Nodes<'a> {
    /// From the next node on.
    bytes: &'a [u8],
    /// How many of them come after the last node. They do not matter, but let it be read like the others.
    beyond: usize,
}

impl fmt::Debug for Nodes<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_list().entries(self.clone()).finish()
    }
}

impl<'a> Nodes<'a> {
    /// The nodes in the first `len` bytes.
    #[inline]
    fn new(bytes: &'a [u8], len: usize) -> Self {
        Self { bytes, beyond: bytes.len().saturating_sub(len) }
    }

    /// A tag, and the number that it says follows.
    #[inline]
    fn number(&mut self) -> Option<(u8, u64)> {
        let (tag, number) = match self.bytes.first_chunk::<9>() {
            Some([tag, number @ ..]) => (*tag, u64::from_le_bytes(*number)),
            None => padded(self.bytes),
        };
        let size = usize::from(tag >> 6);
        self.bytes = self.bytes.get(1 + SIZES[size]..)?;
        Some((tag & 0x3f, number & MASKS[size]))
    }

    #[inline]
    fn second(&mut self) -> Option<u64> {
        self.number().map(|(_, number)| number)
    }

    /// Whether there are no more.
    #[inline]
    pub(crate) fn is_empty(&self) -> bool {
        self.bytes.len() <= self.beyond
    }

    /// Takes the next node if it adds a constant.
    #[inline]
    pub(crate) fn next_plus(&mut self) -> Option<i64> {
        self.next_number(Tag::Plus).map(unfold)
    }

    /// Takes the next node if it reads so many bits.
    #[inline]
    pub(crate) fn next_read(&mut self, bits: u32) -> Option<()> {
        let mut rest = self.clone();
        let read = rest.next_number(Tag::Read)?;
        (read == bits.into()).then(|| *self = rest)
    }

    /// Takes the next node if it has the tag.
    #[inline]
    fn next_number(&mut self, tag: Tag) -> Option<u64> {
        if self.is_empty() || self.bytes.first()? & 0x3f != tag as u8 {
            return None;
        }
        self.second()
    }
}

/// The first byte, and the number in those that follow, of which there are not enough. Not inlined, so that
/// the rest stays small.
#[inline(never)]
fn padded(bytes: &[u8]) -> (u8, u64) {
    let mut all = [0; 9];
    all[..bytes.len()].copy_from_slice(bytes);
    let [tag, number @ ..] = all;
    (tag, u64::from_le_bytes(number))
}

impl<'a> Iterator for Nodes<'a> {
    type Item = Node<'a>;

    /// The next node. The bytes were written by this module: what cannot be read ends them.
    #[inline(always)]
    fn next(&mut self) -> Option<Node<'a>> {
        if self.is_empty() {
            return None;
        }
        let (tag, number) = self.number()?;
        Some(match *TAGS.get(usize::from(tag))? {
            Tag::Register => Node::Register(Reg(number)),
            Tag::Lane => Node::Lane(Reg(number), self.second()? as u32),
            Tag::PerLane => Node::PerLane(Reg(number)),
            Tag::StackSlot => Node::StackSlot(unfold(number)),
            Tag::Memory => Node::Memory(SpaceId(number as u32)),
            Tag::Offset => Node::Offset(unfold(number)),
            Tag::BitOffset => Node::BitOffset(unfold(number)),
            Tag::OffsetBy => Node::OffsetBy,
            Tag::BitOffsetBy => Node::BitOffsetBy,
            Tag::Part => Node::Part(number),
            Tag::Parts => Node::Parts(number),
            Tag::Overlay => Node::Overlay,
            Tag::Select => Node::Select { bits: number, count: self.second()? },
            Tag::Extend => Node::Extend { bits: number, count: self.second()? },
            Tag::Implicit => {
                let (bytes, rest) = self.bytes.split_at_checked(number as usize)?;
                self.bytes = rest;
                Node::Implicit(bytes)
            }
            Tag::Value => Node::Value,
            Tag::PointerTo => Node::PointerTo(VariableId::from_u32(number as u32), unfold(self.second()?)),
            Tag::Call => Node::Call(ProcedureId::from_u32(number as u32)),
            Tag::Undefined => Node::Undefined,
            Tag::Expr => Node::Expr(ExprId::from_u32(number as u32)),
            Tag::Const => Node::Const(number),
            Tag::Address => Node::Address(Symbol(StringId::from_u32(number as u32)), unfold(self.second()?)),
            Tag::Read => Node::Read(number as u32),
            Tag::ReadRegister => Node::ReadRegister(Reg(number)),
            Tag::LaneIndex => Node::LaneIndex,
            Tag::Plus => Node::Plus(unfold(number)),
            Tag::Add => Node::Add,
            Tag::Sub => Node::Sub,
            Tag::Mul => Node::Mul,
            Tag::And => Node::And,
            Tag::Or => Node::Or,
            Tag::Xor => Node::Xor,
            Tag::Shl => Node::Shl,
            Tag::Shr => Node::Shr,
            Tag::Shra => Node::Shra,
            Tag::Neg => Node::Neg,
            Tag::Not => Node::Not,
        })
    }
}

/// Every location of a module, in one pool of bytes: each as its length and its nodes. A length of more
/// than [`FEW`] bytes is a byte of ones and four bytes.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Pool {
    bytes: Vec<u8>,
}

impl Pool {
    /// Adds a location.
    ///
    /// # Errors
    /// [`ErrorKind::TooLarge`] if the pool would have more than 4 GiB.
    #[inline]
    pub(crate) fn push(&mut self, loc: &Loc) -> Result<LocId> {
        let start = self.bytes.len();
        match loc.postfix() {
            Postfix::Few(all) => {
                // All of it and then less: a copy of a constant size.
                self.bytes.extend_from_slice(all);
                self.bytes.truncate(start + 1 + usize::from(all[0]));
            }
            Postfix::Many(nodes) => {
                self.bytes.push(u8::MAX);
                self.bytes.extend_from_slice(&(nodes.len() as u32).to_le_bytes());
                self.bytes.extend_from_slice(nodes);
            }
        }
        if self.bytes.len() > u32::MAX as usize {
            self.bytes.truncate(start);
            return Err(full());
        }
        Ok(LocId(start as u32))
    }

    #[inline]
    pub(crate) fn nodes(&self, id: LocId) -> Nodes<'_> {
        match self.bytes.get(id.0 as usize..) {
            Some([u8::MAX, a, b, c, d, nodes @ ..]) => {
                Nodes::new(nodes, u32::from_le_bytes([*a, *b, *c, *d]) as usize)
            }
            Some([len, nodes @ ..]) => Nodes::new(nodes, usize::from(*len)),
            _ => Nodes::new(&[], 0),
        }
    }
}

#[cold]
fn full() -> Error {
    ErrorKind::TooLarge("the locations of a module take 4 GiB".into()).into()
}
