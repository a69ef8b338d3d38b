//! Where a value is, as the compiler says it: a small typed tree.
//!
//! There are two sorts. A [`Loc`] is *where* something is: a place in some storage, with the bits that
//! follow it. A [`Val`] is a *number*: 64 bits, and arithmetic is modulo 2⁶⁴. Each combinator takes and
//! gives one of the two, so that a number where a place belongs does not compile.
//!
//! What each node means, in terms of storage and bits, is said in [`denote`](super::denote), and nowhere
//! else. Nothing here knows of DWARF.
//!
//! ```
//! use eitri::model::{Loc, Val};
//! use eitri::target::{Gfx, Target, Wave};
//!
//! let gpu = Target::amdgpu(Gfx::GFX1030, Wave::W32)?;
//! // One value for each lane.
//! let x = Loc::per_lane(gpu.vgpr(3)?);
//! // One value for the whole wave, spilled into lane 7.
//! let n = Loc::lane(gpu.vgpr(40)?, 7);
//! // The third argument of a kernel, whose argument block s4 and s5 point to.
//! let argument = Loc::kernel_argument(gpu.sgpr(4)?, gpu.sgpr(5)?, 16);
//! # Ok::<(), eitri::Error>(())
//! ```
//!
//! A tree is held as the bytes of its nodes in postfix order, about as many as the DWARF expression will
//! have: a node's operands stand before it, so that trees are joined by joining bytes.

use smallvec::SmallVec;

use super::ids::{ExprId, LocId, ProcedureId, StringId, VariableId};
use crate::op::{Reg, read_sleb, read_uleb, write_uleb};
use crate::target::SpaceId;

/// Where a value is: a place in some storage, and the bits from there on.
#[derive(Debug, Clone, PartialEq, Eq)]
#[must_use]
pub struct Loc(Tree);

/// A number of 64 bits.
#[derive(Debug, Clone, PartialEq, Eq)]
#[must_use]
pub struct Val(Tree);

/// Nodes in postfix order.
type Tree = SmallVec<[u8; 40]>;

/// A symbol of the object: a function or a variable that the linker knows.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Symbol(pub(crate) StringId);

/// One node of a location, with what it holds. Its operands are the subtrees that end before it.
///
/// | node | operands |
/// |---|---|
/// | leaves | none |
/// | [`Memory`](Node::Memory) | the address |
/// | [`Offset`](Node::Offset), [`BitOffset`](Node::BitOffset), [`Extend`](Node::Extend), [`Part`](Node::Part), [`Read`](Node::Read) | a place |
/// | [`OffsetBy`](Node::OffsetBy), [`BitOffsetBy`](Node::BitOffsetBy) | a place, a number |
/// | [`Parts`](Node::Parts) | that many [`Part`](Node::Part)s |
/// | [`Overlay`](Node::Overlay) | the place below, the place above, offset, size |
/// | [`Select`](Node::Select) | the place for 0, the place for 1, the mask |
/// | [`Value`](Node::Value), [`Plus`](Node::Plus), [`Neg`](Node::Neg), [`Not`](Node::Not) | a number |
/// | other arithmetic | two numbers |
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Node<'a> {
    /// A register, from its first bit.
    Register(Reg),
    /// One lane of a vector register, the same for all lanes that ask.
    Lane(Reg, u32),
    /// The asking lane's part of a vector register.
    PerLane(Reg),
    /// A slot of the function's stack frame in private memory, the asking lane's, at bytes from the base.
    StackSlot(i64),
    /// Memory in a space at an address.
    Memory(SpaceId),
    /// Bytes further on.
    Offset(i64),
    /// Bits further on.
    BitOffset(i64),
    /// A number of bytes further on.
    OffsetBy,
    /// A number of bits further on.
    BitOffsetBy,
    /// The first bits of a place, as a part of [`Parts`](Node::Parts).
    Part(u64),
    /// Parts that follow each other.
    Parts(u64),
    /// A place of which bits are covered by another.
    Overlay,
    /// Elements, `count` of `bits` each, from one of two places each.
    Select {
        /// Bits of an element.
        bits: u64,
        /// How many elements.
        count: u64,
    },
    /// One element, `count` times.
    Extend {
        /// Bits of the element.
        bits: u64,
        /// How many times.
        count: u64,
    },
    /// No storage: these bytes, lowest first.
    Implicit(&'a [u8]),
    /// No storage: a number.
    Value,
    /// No storage: a pointer to a variable, plus bytes.
    PointerTo(VariableId, i64),
    /// Where a procedure says.
    Call(ProcedureId),
    /// Nowhere.
    Undefined,
    /// Where a raw expression says.
    Expr(ExprId),

    /// A constant.
    Const(u64),
    /// The address of a symbol, plus bytes.
    Address(Symbol, i64),
    /// The number that the first bits of a place hold, unsigned.
    Read(u32),
    /// The number that a whole register holds, unsigned.
    ReadRegister(Reg),
    /// The asking lane, counted from 0.
    LaneIndex,
    /// A number and a constant, added.
    Plus(i64),
    /// Added.
    Add,
    /// The second taken from the first.
    Sub,
    /// Multiplied.
    Mul,
    /// Bitwise and.
    And,
    /// Bitwise or.
    Or,
    /// Bitwise exclusive or.
    Xor,
    /// Shifted left, by the second; 0 from 64 on.
    Shl,
    /// Shifted right, zeros moving in; 0 from 64 on.
    Shr,
    /// Shifted right, copies of the highest bit moving in.
    Shra,
    /// The negative.
    Neg,
    /// The bitwise complement.
    Not,
}

/// The two sorts of nodes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Sort {
    Loc,
    Val,
}

impl Node<'_> {
    /// The sort of the node and of its operands. `None`: a [`Part`](Node::Part), or as many parts as
    /// [`Parts`](Node::Parts) says.
    pub(crate) fn sorts(&self) -> (Sort, &'static [Sort]) {
        use Sort::{Loc, Val};
        match self {
            Node::Register(_)
            | Node::Lane(..)
            | Node::PerLane(_)
            | Node::StackSlot(_)
            | Node::Implicit(_)
            | Node::PointerTo(..)
            | Node::Call(_)
            | Node::Undefined
            | Node::Expr(_)
            | Node::Parts(_) => (Loc, &[]),
            Node::Memory(_) | Node::Value => (Loc, &[Val]),
            Node::Offset(_) | Node::BitOffset(_) | Node::Part(_) | Node::Extend { .. } => (Loc, &[Loc]),
            Node::OffsetBy | Node::BitOffsetBy => (Loc, &[Loc, Val]),
            Node::Overlay => (Loc, &[Loc, Loc, Val, Val]),
            Node::Select { .. } => (Loc, &[Loc, Loc, Val]),
            Node::Const(_) | Node::Address(..) | Node::ReadRegister(_) | Node::LaneIndex => (Val, &[]),
            Node::Read(_) => (Val, &[Loc]),
            Node::Plus(_) | Node::Neg | Node::Not => (Val, &[Val]),
            Node::Add
            | Node::Sub
            | Node::Mul
            | Node::And
            | Node::Or
            | Node::Xor
            | Node::Shl
            | Node::Shr
            | Node::Shra => (Val, &[Val, Val]),
        }
    }

    /// How many operands the node has.
    pub(crate) fn arity(&self) -> usize {
        match self {
            Node::Parts(count) => *count as usize,
            other => other.sorts().1.len(),
        }
    }
}

impl Loc {
    /// A whole register: a scalar, or all lanes of a vector register.
    pub fn register(reg: Reg) -> Self {
        Self::leaf(Node::Register(reg))
    }

    /// Lane `lane`, counted from 0, of a vector register: one value for the whole wave.
    ///
    /// Which lane asks does not matter. 32 bits; wider values are given with [`lanes`](Self::lanes).
    pub fn lane(reg: Reg, lane: u32) -> Self {
        Self::leaf(Node::Lane(reg, lane))
    }

    /// One value for each lane: in the asking lane of a vector register. 32 bits; wider values are given
    /// with [`per_lane_over`](Self::per_lane_over).
    pub fn per_lane(reg: Reg) -> Self {
        Self::leaf(Node::PerLane(reg))
    }

    /// One value for each lane, over the same lane of several vector registers, 32 bits in each, least
    /// significant first: a 64-bit number or a vector.
    pub fn per_lane_over(regs: impl IntoIterator<Item = Reg>) -> Self {
        Self::parts(regs.into_iter().map(|reg| (Self::per_lane(reg), 32)))
    }

    /// One value of 16 bits for each lane, in half of its dword.
    pub fn per_lane_half(reg: Reg, half: Half) -> Self {
        match half {
            Half::Low => Self::per_lane(reg),
            Half::High => Self::per_lane(reg).offset(2),
        }
    }

    /// One value for the wave, over several scalar registers, 32 bits in each, least significant first:
    /// pairs, quads.
    pub fn over(regs: impl IntoIterator<Item = Reg>) -> Self {
        Self::parts(regs.into_iter().map(|reg| (Self::register(reg), 32)))
    }

    /// One value for the wave, over several lanes of vector registers, 32 bits in each, least significant
    /// first.
    pub fn lanes(lanes: impl IntoIterator<Item = (Reg, u32)>) -> Self {
        Self::parts(lanes.into_iter().map(|(reg, lane)| (Self::lane(reg, lane), 32)))
    }

    /// A slot in the asking lane's stack frame, at `offset` bytes of that lane from the frame's base.
    ///
    /// Which register holds the base, and whether it counts the bytes of one lane or of the wave, is a
    /// fact of the function, not of the slot: see [`Stack`](super::Stack).
    pub fn stack_slot(offset: i64) -> Self {
        Self::leaf(Node::StackSlot(offset))
    }

    /// Memory in a space, at an address in bytes. An address with more bits than the space has is cut.
    pub fn memory(space: SpaceId, address: Val) -> Self {
        Self(address.0).then(Node::Memory(space))
    }

    /// Local memory (LDS) at an offset in bytes from where the work-group's begins.
    pub fn local(offset: u32) -> Self {
        Self::memory(SpaceId::LOCAL, Val::constant(offset.into()))
    }

    /// Local memory (LDS) at the address that the linker gives a symbol.
    pub fn local_symbol(symbol: Symbol) -> Self {
        Self::memory(SpaceId::LOCAL, Val::address(symbol, 0))
    }

    /// Global memory at the address of a symbol.
    pub fn global_symbol(symbol: Symbol) -> Self {
        Self::memory(SpaceId::DEFAULT, Val::address(symbol, 0))
    }

    /// Global memory at `offset` bytes from a pointer held in two scalar registers, low and high: an
    /// argument of a kernel.
    pub fn kernel_argument(low: Reg, high: Reg, offset: i64) -> Self {
        Self::memory(SpaceId::DEFAULT, Val::pair(low, high).plus(offset))
    }

    /// The same storage, `bytes` further on; back, where negative.
    pub fn offset(self, bytes: i64) -> Self {
        if bytes == 0 { self } else { self.then(Node::Offset(bytes)) }
    }

    /// The same storage, `bits` further on; back, where negative.
    pub fn bit_offset(self, bits: i64) -> Self {
        if bits == 0 { self } else { self.then(Node::BitOffset(bits)) }
    }

    /// The same storage, a number of bytes further on, taken as signed.
    pub fn offset_by(self, bytes: Val) -> Self {
        self.with(bytes).then(Node::OffsetBy)
    }

    /// The same storage, a number of bits further on, taken as signed.
    pub fn bit_offset_by(self, bits: Val) -> Self {
        self.with(bits).then(Node::BitOffsetBy)
    }

    /// Parts that follow each other, the first in the lowest bits: of each, so many bits.
    pub fn parts(parts: impl IntoIterator<Item = (Self, u64)>) -> Self {
        let mut all = Self(Tree::new());
        let mut count = 0;
        for (part, bits) in parts {
            all.0.extend_from_slice(&part.0);
            all = all.then(Node::Part(bits));
            count += 1;
        }
        all.then(Node::Parts(count))
    }

    /// `self`, of which `bits` bits from bit `offset` on are not there but in `above`.
    pub fn overlay(self, above: Self, offset: Val, bits: Val) -> Self {
        self.with(Val(above.0)).with(offset).with(bits).then(Node::Overlay)
    }

    /// `count` elements of `bits` bits each: element *n* is the *n*th of `one` where bit *n* of `mask` is
    /// 1, and the *n*th of `zero` where it is 0.
    pub fn select(mask: Val, zero: Self, one: Self, bits: u64, count: u64) -> Self {
        zero.with(Val(one.0)).with(mask).then(Node::Select { bits, count })
    }

    /// The first `bits` bits of this place, `count` times over.
    pub fn extend(self, bits: u64, count: u64) -> Self {
        self.then(Node::Extend { bits, count })
    }

    /// No place, but these bytes, the lowest first: a constant.
    pub fn implicit(bytes: &[u8]) -> Self {
        Self::leaf(Node::Implicit(bytes))
    }

    /// No place, but a number, of which as many low bits are taken as are needed.
    pub fn value(value: Val) -> Self {
        Self(value.0).then(Node::Value)
    }

    /// No place, but a pointer to a variable that may itself be in no memory, plus bytes.
    pub fn pointer_to(variable: VariableId, offset: i64) -> Self {
        Self::leaf(Node::PointerTo(variable, offset))
    }

    /// Where the procedure says.
    pub fn call(procedure: ProcedureId) -> Self {
        Self::leaf(Node::Call(procedure))
    }

    /// Nowhere: the bits do not exist any more.
    pub fn undefined() -> Self {
        Self::leaf(Node::Undefined)
    }

    /// Where a DWARF expression says, for what this tree cannot. Such a location has no meaning of its
    /// own, so it cannot be checked: the report lists it as unproven.
    pub fn expr(expr: ExprId) -> Self {
        Self::leaf(Node::Expr(expr))
    }

    /// The number in the first `bits` bits, 1 to 64, unsigned.
    pub fn read(self, bits: u32) -> Val {
        Val(self.then(Node::Read(bits)).0)
    }

    /// The nodes, operands before the node that takes them.
    pub fn nodes(&self) -> Nodes<'_> {
        Nodes { bytes: &self.0 }
    }

    pub(crate) fn bytes(&self) -> &[u8] {
        &self.0
    }

    #[inline]
    fn leaf(node: Node<'_>) -> Self {
        Self(Tree::new()).then(node)
    }

    #[inline]
    fn then(mut self, node: Node<'_>) -> Self {
        write(&mut self.0, node);
        self
    }

    #[inline]
    fn with(mut self, operand: Val) -> Self {
        self.0.extend_from_slice(&operand.0);
        self
    }
}

/// A half of a dword.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Half {
    /// Bits 0 to 15.
    Low,
    /// Bits 16 to 31.
    High,
}

/// Methods that make a number of two.
macro_rules! binary { ($($(#[$doc:meta])* $method:ident $node:ident;)*) => { $(
    $(#[$doc])*
    #[allow(clippy::should_implement_trait, reason = "operators would suggest numbers, not descriptions")]
    pub fn $method(mut self, other: Self) -> Self {
        self.0.extend_from_slice(&other.0);
        self.then(Node::$node)
    }
)* } }

impl Val {
    /// A constant.
    pub fn constant(value: u64) -> Self {
        Self::leaf(Node::Const(value))
    }

    /// The address of a symbol, plus bytes.
    pub fn address(symbol: Symbol, offset: i64) -> Self {
        Self::leaf(Node::Address(symbol, offset))
    }

    /// What a whole register of at most 64 bits holds, unsigned.
    pub fn register(reg: Reg) -> Self {
        Self::leaf(Node::ReadRegister(reg))
    }

    /// What two scalar registers of 32 bits hold, low and high.
    pub fn pair(low: Reg, high: Reg) -> Self {
        Self::register(low).or(Self::register(high).shl(Self::constant(32)))
    }

    /// The asking lane, counted from 0.
    pub fn lane_index() -> Self {
        Self::leaf(Node::LaneIndex)
    }

    /// A constant added.
    pub fn plus(self, value: i64) -> Self {
        if value == 0 { self } else { self.then(Node::Plus(value)) }
    }

    binary! {
        /// The sum.
        add Add;
        /// `other` taken from this.
        sub Sub;
        /// The product.
        mul Mul;
        /// Bitwise and.
        and And;
        /// Bitwise or.
        or Or;
        /// Bitwise exclusive or.
        xor Xor;
        /// Shifted left by `other` bits; 0 from 64 on.
        shl Shl;
        /// Shifted right by `other` bits, zeros moving in; 0 from 64 on.
        shr Shr;
        /// Shifted right by `other` bits, copies of the highest bit moving in.
        shra Shra;
    }

    /// The negative.
    #[allow(clippy::should_implement_trait, reason = "operators would suggest numbers, not descriptions")]
    pub fn neg(self) -> Self {
        self.then(Node::Neg)
    }

    /// The bitwise complement.
    #[allow(clippy::should_implement_trait, reason = "operators would suggest numbers, not descriptions")]
    pub fn not(self) -> Self {
        self.then(Node::Not)
    }

    #[inline]
    fn leaf(node: Node<'_>) -> Self {
        Self(Tree::new()).then(node)
    }

    #[inline]
    fn then(mut self, node: Node<'_>) -> Self {
        write(&mut self.0, node);
        self
    }
}

/// Writes a node: a tag and its numbers as LEB128.
#[inline]
fn write(out: &mut Tree, node: Node<'_>) {
    macro_rules! tagged {
        ($tag:expr $(, $kind:ident $value:expr)*) => {{
            out.push($tag as u8);
            $($kind(out, $value);)*
        }};
    }
    match node {
        Node::Register(reg) => tagged!(Tag::Register, uleb reg.0),
        Node::Lane(reg, lane) => tagged!(Tag::Lane, uleb reg.0, uleb lane.into()),
        Node::PerLane(reg) => tagged!(Tag::PerLane, uleb reg.0),
        Node::StackSlot(offset) => tagged!(Tag::StackSlot, sleb offset),
        Node::Memory(space) => tagged!(Tag::Memory, uleb space.0.into()),
        Node::Offset(bytes) => tagged!(Tag::Offset, sleb bytes),
        Node::BitOffset(bits) => tagged!(Tag::BitOffset, sleb bits),
        Node::OffsetBy => tagged!(Tag::OffsetBy),
        Node::BitOffsetBy => tagged!(Tag::BitOffsetBy),
        Node::Part(bits) => tagged!(Tag::Part, uleb bits),
        Node::Parts(count) => tagged!(Tag::Parts, uleb count),
        Node::Overlay => tagged!(Tag::Overlay),
        Node::Select { bits, count } => tagged!(Tag::Select, uleb bits, uleb count),
        Node::Extend { bits, count } => tagged!(Tag::Extend, uleb bits, uleb count),
        Node::Implicit(bytes) => {
            tagged!(Tag::Implicit, uleb bytes.len() as u64);
            out.extend_from_slice(bytes);
        }
        Node::Value => tagged!(Tag::Value),
        Node::PointerTo(variable, by) => tagged!(Tag::PointerTo, uleb variable.as_u32().into(), sleb by),
        Node::Call(procedure) => tagged!(Tag::Call, uleb procedure.as_u32().into()),
        Node::Undefined => tagged!(Tag::Undefined),
        Node::Expr(expr) => tagged!(Tag::Expr, uleb expr.as_u32().into()),
        Node::Const(value) => tagged!(Tag::Const, uleb value),
        Node::Address(symbol, by) => tagged!(Tag::Address, uleb symbol.0.as_u32().into(), sleb by),
        Node::Read(bits) => tagged!(Tag::Read, uleb bits.into()),
        Node::ReadRegister(reg) => tagged!(Tag::ReadRegister, uleb reg.0),
        Node::LaneIndex => tagged!(Tag::LaneIndex),
        Node::Plus(value) => tagged!(Tag::Plus, sleb value),
        Node::Add => tagged!(Tag::Add),
        Node::Sub => tagged!(Tag::Sub),
        Node::Mul => tagged!(Tag::Mul),
        Node::And => tagged!(Tag::And),
        Node::Or => tagged!(Tag::Or),
        Node::Xor => tagged!(Tag::Xor),
        Node::Shl => tagged!(Tag::Shl),
        Node::Shr => tagged!(Tag::Shr),
        Node::Shra => tagged!(Tag::Shra),
        Node::Neg => tagged!(Tag::Neg),
        Node::Not => tagged!(Tag::Not),
    }
}

#[inline]
fn uleb(out: &mut Tree, mut value: u64) {
    while value >= 0x80 {
        out.push(value as u8 | 0x80);
        value >>= 7;
    }
    out.push(value as u8);
}

#[inline]
fn sleb(out: &mut Tree, mut value: i64) {
    while !(-0x40..0x40).contains(&value) {
        out.push(value as u8 | 0x80);
        value >>= 7;
    }
    out.push(value as u8 & 0x7f);
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
#[derive(Debug, Clone)]
pub struct Nodes<'a> {
    bytes: &'a [u8],
}

impl<'a> Nodes<'a> {
    pub(crate) fn new(bytes: &'a [u8]) -> Self {
        Self { bytes }
    }

    #[inline]
    fn uleb(&mut self) -> Option<u64> {
        let (value, at) = read_uleb(self.bytes, 0)?;
        self.bytes = &self.bytes[at..];
        Some(value)
    }

    #[inline]
    fn sleb(&mut self) -> Option<i64> {
        let (value, at) = read_sleb(self.bytes, 0)?;
        self.bytes = &self.bytes[at..];
        Some(value)
    }

    #[inline]
    fn index(&mut self) -> Option<u32> {
        u32::try_from(self.uleb()?).ok()
    }
}

impl<'a> Iterator for Nodes<'a> {
    type Item = Node<'a>;

    /// The next node. The bytes were written by this module: what cannot be read ends them.
    #[inline]
    fn next(&mut self) -> Option<Node<'a>> {
        let (&tag, rest) = self.bytes.split_first()?;
        self.bytes = rest;
        Some(match *TAGS.get(usize::from(tag))? {
            Tag::Register => Node::Register(Reg(self.uleb()?)),
            Tag::Lane => Node::Lane(Reg(self.uleb()?), self.index()?),
            Tag::PerLane => Node::PerLane(Reg(self.uleb()?)),
            Tag::StackSlot => Node::StackSlot(self.sleb()?),
            Tag::Memory => Node::Memory(SpaceId(self.index()?)),
            Tag::Offset => Node::Offset(self.sleb()?),
            Tag::BitOffset => Node::BitOffset(self.sleb()?),
            Tag::OffsetBy => Node::OffsetBy,
            Tag::BitOffsetBy => Node::BitOffsetBy,
            Tag::Part => Node::Part(self.uleb()?),
            Tag::Parts => Node::Parts(self.uleb()?),
            Tag::Overlay => Node::Overlay,
            Tag::Select => Node::Select { bits: self.uleb()?, count: self.uleb()? },
            Tag::Extend => Node::Extend { bits: self.uleb()?, count: self.uleb()? },
            Tag::Implicit => {
                let len = usize::try_from(self.uleb()?).ok()?;
                let (bytes, rest) = self.bytes.split_at_checked(len)?;
                self.bytes = rest;
                Node::Implicit(bytes)
            }
            Tag::Value => Node::Value,
            Tag::PointerTo => Node::PointerTo(VariableId::from_u32(self.index()?), self.sleb()?),
            Tag::Call => Node::Call(ProcedureId::from_u32(self.index()?)),
            Tag::Undefined => Node::Undefined,
            Tag::Expr => Node::Expr(ExprId::from_u32(self.index()?)),
            Tag::Const => Node::Const(self.uleb()?),
            Tag::Address => Node::Address(Symbol(StringId::from_u32(self.index()?)), self.sleb()?),
            Tag::Read => Node::Read(self.index()?),
            Tag::ReadRegister => Node::ReadRegister(Reg(self.uleb()?)),
            Tag::LaneIndex => Node::LaneIndex,
            Tag::Plus => Node::Plus(self.sleb()?),
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

/// Every location of a module, in one pool of bytes.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Pool {
    bytes: Vec<u8>,
}

impl Pool {
    #[inline]
    pub(crate) fn push(&mut self, loc: &Loc) -> LocId {
        let id = LocId(self.bytes.len() as u32);
        write_uleb(&mut self.bytes, loc.0.len() as u64);
        self.bytes.extend_from_slice(&loc.0);
        id
    }

    #[inline]
    pub(crate) fn nodes(&self, id: LocId) -> Nodes<'_> {
        let at = id.0 as usize;
        match read_uleb(&self.bytes, at) {
            Some((len, start)) => Nodes::new(self.bytes.get(start..start + len as usize).unwrap_or(&[])),
            None => Nodes::new(&[]),
        }
    }

    /// Bytes in the pool: it holds less than 4 GiB.
    pub(crate) fn len(&self) -> usize {
        self.bytes.len()
    }
}
