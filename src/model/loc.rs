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
//! A tree is held as the [words](super::postfix) of its nodes in postfix order, four bytes for most nodes: a
//! node's operands stand before it, so that trees are joined by joining words.

use super::ids::{ExprId, ProcedureId, StringId, VariableId};
use super::nodes::Node;
use super::postfix::{Nodes, Postfix};
use crate::op::Reg;
use crate::target::SpaceId;

/// Where a value is: a place in some storage, and the bits from there on.
#[derive(Debug, Clone, PartialEq, Eq)]
#[must_use]
pub struct Loc(pub(crate) Postfix);

/// A number of 64 bits.
#[derive(Debug, Clone, PartialEq, Eq)]
#[must_use]
pub struct Val(pub(crate) Postfix);

/// A symbol of the object: a function or a variable that the linker knows.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Symbol(pub(crate) StringId);

/// The bytes of a constant that is a whole location.
pub(super) fn only_constant(mut nodes: Nodes<'_>) -> Option<&[u8]> {
    match (nodes.next(), nodes.next()) {
        (Some(Node::Implicit(bytes)), None) => Some(bytes),
        _ => None,
    }
}

impl Loc {
    /// A register without lanes.
    ///
    /// With a vector register the location is [the whole](Self::whole) of it, an error for anything smaller.
    #[inline]
    pub fn register(reg: Reg) -> Self {
        Self::leaf(Node::Register(reg))
    }

    /// All lanes of a vector register, lane 0 in the lowest bits: for what is as large as the register. One value for
    /// the wave is in [a lane](Self::lane), and one for each lane is [per lane](Self::per_lane).
    #[inline]
    pub fn whole(reg: Reg) -> Self {
        Self::leaf(Node::Register(reg))
    }

    /// Lane `lane`, counted from 0, of a vector register: one value for the whole wave.
    ///
    /// Which lane asks does not matter. 32 bits; wider values are given with [`lanes`](Self::lanes).
    #[inline]
    pub fn lane(reg: Reg, lane: u32) -> Self {
        Self::leaf(Node::Lane(reg, lane))
    }

    /// One value for each lane: in the asking lane of a vector register. 32 bits; wider values are given
    /// with [`per_lane_over`](Self::per_lane_over).
    #[inline]
    pub fn per_lane(reg: Reg) -> Self {
        Self::leaf(Node::PerLane(reg))
    }

    /// One value for each lane, over the same lane of several vector registers, 32 bits in each, least
    /// significant first: a 64-bit number or a vector.
    pub fn per_lane_over(regs: impl IntoIterator<Item = Reg>) -> Self {
        Self::parts(regs.into_iter().map(|reg| (Self::per_lane(reg), 32)))
    }

    /// One value of 16 bits for each lane, in half of its dword.
    #[inline]
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
    #[inline]
    pub fn stack_slot(offset: i64) -> Self {
        Self::memory(SpaceId::PRIVATE_LANE, Val::stack_address(offset))
    }

    /// Memory in a space, at an address in bytes. An address with more bits than the space has is cut.
    #[inline]
    pub fn memory(space: SpaceId, address: Val) -> Self {
        Self(address.0).then(Node::Memory(space))
    }

    /// Local memory (LDS) at an offset in bytes from where the work-group's begins.
    #[inline]
    pub fn local(offset: u32) -> Self {
        Self::memory(SpaceId::LOCAL, Val::constant(offset.into()))
    }

    /// Local memory (LDS) at the address that the linker gives a symbol.
    #[inline]
    pub fn local_symbol(symbol: Symbol) -> Self {
        Self::memory(SpaceId::LOCAL, Val::address(symbol, 0))
    }

    /// Global memory at the address of a symbol.
    #[inline]
    pub fn global_symbol(symbol: Symbol) -> Self {
        Self::memory(SpaceId::DEFAULT, Val::address(symbol, 0))
    }

    /// Global memory at `offset` bytes from a pointer held in two scalar registers, low and high: an
    /// argument of a kernel.
    #[inline]
    pub fn kernel_argument(low: Reg, high: Reg, offset: i64) -> Self {
        Self::memory(SpaceId::DEFAULT, Val::pair(low, high).plus(offset))
    }

    /// The same storage, `bytes` further on; back, where negative.
    #[inline]
    pub fn offset(self, bytes: i64) -> Self {
        if bytes == 0 { self } else { self.then(Node::Offset(bytes)) }
    }

    /// The same storage, `bits` further on; back, where negative.
    #[inline]
    pub fn bit_offset(self, bits: i64) -> Self {
        if bits == 0 { self } else { self.then(Node::BitOffset(bits)) }
    }

    /// The same storage, a number of bytes further on, taken as signed.
    #[inline]
    pub fn offset_by(self, bytes: Val) -> Self {
        self.with(bytes).then(Node::OffsetBy)
    }

    /// The same storage, a number of bits further on, taken as signed.
    #[inline]
    pub fn bit_offset_by(self, bits: Val) -> Self {
        self.with(bits).then(Node::BitOffsetBy)
    }

    /// Parts that follow each other, the first in the lowest bits: of each, so many bits.
    pub fn parts(parts: impl IntoIterator<Item = (Self, u64)>) -> Self {
        let mut all = Self(Postfix::new());
        let mut count = 0;
        for (part, bits) in parts {
            all.0.append(part.0);
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
    #[inline]
    pub fn select(mask: Val, zero: Self, one: Self, bits: u64, count: u64) -> Self {
        zero.with(Val(one.0)).with(mask).then(Node::Select { bits, count })
    }

    /// The first `bits` bits of this place, `count` times over.
    #[inline]
    pub fn extend(self, bits: u64, count: u64) -> Self {
        self.then(Node::Extend { bits, count })
    }

    /// No place, but these bytes, as they would be in memory from the lowest address on: a constant.
    #[inline]
    pub fn implicit(bytes: &[u8]) -> Self {
        Self::leaf(Node::Implicit(bytes))
    }

    /// No place, but a number, of which as many low bits are taken as are needed.
    #[inline]
    pub fn value(value: Val) -> Self {
        Self(value.0).then(Node::Value)
    }

    /// No place, but a pointer to a variable that may itself be in no memory, plus bytes.
    #[inline]
    pub fn pointer_to(variable: VariableId, offset: i64) -> Self {
        Self::leaf(Node::PointerTo(variable, offset))
    }

    /// Where the procedure says.
    #[inline]
    pub fn call(procedure: ProcedureId) -> Self {
        Self::leaf(Node::Call(procedure))
    }

    /// The canonical frame address of the function, as a place: where its caller's stack pointer was, as a rule. Where
    /// that is, the function's [frame](super::FrameRule) says. DWARF 5 section 6.4.
    ///
    /// It is a place and no number, for it may be in any space.
    #[inline]
    pub fn cfa() -> Self {
        Self::leaf(Node::Cfa)
    }

    /// Nowhere: the bits do not exist any more.
    #[inline]
    pub fn undefined() -> Self {
        Self::leaf(Node::Undefined)
    }

    /// Where a DWARF expression says, for what this tree cannot. Such a location has no meaning of its
    /// own, so it cannot be checked: the report lists it as unproven.
    #[inline]
    pub fn expr(expr: ExprId) -> Self {
        Self::leaf(Node::Expr(expr))
    }

    /// The number in the first `bits` bits, 1 to 64, unsigned.
    #[inline]
    pub fn read(self, bits: u32) -> Val {
        Val(self.then(Node::Read(bits)).0)
    }

    /// The nodes, operands before the node that takes them.
    #[inline]
    pub fn nodes(&self) -> Nodes<'_> {
        self.0.nodes()
    }

    /// The location of these nodes.
    pub(super) fn of_nodes<'n>(nodes: impl Iterator<Item = Node<'n>>) -> Self {
        nodes.fold(Self(Postfix::new()), Self::then)
    }

    /// The bytes, if it is [a constant](Self::implicit) and nothing else.
    pub(crate) fn constant(&self) -> Option<&[u8]> {
        only_constant(self.nodes())
    }

    #[inline]
    pub(super) fn postfix(&self) -> &Postfix {
        &self.0
    }

    #[inline(always)]
    fn leaf(node: Node<'_>) -> Self {
        Self(Postfix::new()).then(node)
    }

    #[inline(always)]
    fn then(mut self, node: Node<'_>) -> Self {
        self.0.push(node);
        self
    }

    #[inline]
    fn with(mut self, operand: Val) -> Self {
        self.0.append(operand.0);
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
    #[inline]
    pub fn $method(mut self, other: Self) -> Self {
        self.0.append(other.0);
        self.then(Node::$node)
    }
)* } }

impl Val {
    /// A constant.
    #[inline]
    pub fn constant(value: u64) -> Self {
        Self::leaf(Node::Const(value))
    }

    /// The address of a symbol, plus bytes.
    #[inline]
    pub fn address(symbol: Symbol, offset: i64) -> Self {
        Self::leaf(Node::Address(symbol, offset))
    }

    /// What a whole register of at most 64 bits holds, unsigned.
    #[inline]
    pub fn register(reg: Reg) -> Self {
        Self::leaf(Node::ReadRegister(reg))
    }

    /// What a whole register of at most 64 bits held when the function was entered, unsigned, whatever it holds
    /// by now: an argument of which nothing is left but what the caller knows. DWARF 5 section 2.5.1.7.
    ///
    /// A debugger finds it where the caller says what it gave: see [`Argument`](super::Argument).
    #[inline]
    pub fn entry_value(reg: Reg) -> Self {
        Self::leaf(Node::EntryRegister(reg))
    }

    /// The address of a [stack slot](Loc::stack_slot), in bytes of one lane: what a pointer to it holds.
    #[inline]
    pub fn stack_address(offset: i64) -> Self {
        Self::leaf(Node::StackAddress(offset))
    }

    /// What two scalar registers of 32 bits hold, low and high.
    #[inline]
    pub fn pair(low: Reg, high: Reg) -> Self {
        Self::register(low).or(Self::register(high).shl(Self::constant(32)))
    }

    /// The asking lane, counted from 0.
    #[inline]
    pub fn lane_index() -> Self {
        Self::leaf(Node::LaneIndex)
    }

    /// A constant added.
    #[inline]
    pub fn plus(self, value: i64) -> Self {
        self.then(Node::Plus(value))
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
    #[inline]
    pub fn neg(self) -> Self {
        self.then(Node::Neg)
    }

    /// The bitwise complement.
    #[allow(clippy::should_implement_trait, reason = "operators would suggest numbers, not descriptions")]
    #[inline]
    pub fn not(self) -> Self {
        self.then(Node::Not)
    }

    #[inline(always)]
    fn leaf(node: Node<'_>) -> Self {
        Self(Postfix::new()).then(node)
    }

    #[inline(always)]
    fn then(mut self, node: Node<'_>) -> Self {
        self.0.push(node);
        self
    }
}
