//! Locations as small typed trees.
//!
//! There are two sorts. A [`Loc`] is a *location*: a position in some storage, and the bits that follow it. A [`Val`]
//! is a *number*: 64 bits, with arithmetic modulo 2⁶⁴. Each constructor takes and returns fixed sorts, so that a number
//! where a location is expected does not compile.
//!
//! What each node means, in terms of storage and bits, is defined in [`denote`](super::denote) and nowhere else. This
//! module does not depend on DWARF.
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
//! A tree is stored as the [words](super::postfix) of its nodes in postfix order, with four bytes for most nodes. A
//! node's operands come before it, so that trees are joined by concatenating their words.

use super::ids::{ExprId, ProcedureId, StringId, VariableId};
use super::nodes::Node;
use super::owner::Owner;
use super::postfix::{Nodes, Postfix};
use crate::op::Reg;
use crate::target::SpaceId;

/// A location: a position in some storage, and the bits from there on.
#[derive(Debug, Clone, PartialEq, Eq)]
#[must_use]
pub struct Loc(pub(crate) Postfix);

/// A 64-bit number.
#[derive(Debug, Clone, PartialEq, Eq)]
#[must_use]
pub struct Val(pub(crate) Postfix);

/// A symbol in the object: a function or a variable.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Symbol(pub(crate) StringId);

/// Returns the constant's bytes if the nodes are one constant and nothing else.
pub(super) fn only_constant(mut nodes: Nodes<'_>) -> Option<&[u8]> {
    match (nodes.next(), nodes.next()) {
        (Some(Node::Implicit(bytes)), None) => Some(bytes),
        _ => None,
    }
}

impl Loc {
    /// A register without lanes.
    ///
    /// A vector register is taken [whole](Self::whole), which is an error for anything smaller.
    #[inline]
    pub fn register(reg: Reg) -> Self {
        Self::leaf(Node::Register(reg))
    }

    /// All lanes of a vector register, lane 0 in the lowest bits: for a value as large as the register. For one value
    /// per wave use [`lane`](Self::lane), for one value per lane [`per_lane`](Self::per_lane).
    #[inline]
    pub fn whole(reg: Reg) -> Self {
        Self::leaf(Node::Register(reg))
    }

    /// A vector register's lane `lane`, counted from 0: one value for the whole wave.
    ///
    /// The current lane does not matter. 32 bits; [`lanes`](Self::lanes) makes wider values.
    #[inline]
    pub fn lane(reg: Reg, lane: u32) -> Self {
        Self::leaf(Node::Lane(reg, lane))
    }

    /// One value for each lane: a vector register's current lane. 32 bits; [`per_lane_over`](Self::per_lane_over) makes
    /// wider values.
    #[inline]
    pub fn per_lane(reg: Reg) -> Self {
        Self::leaf(Node::PerLane(reg))
    }

    /// One value for each lane, in the same lane of several vector registers, 32 bits in each, least significant first:
    /// a 64-bit number or a vector.
    #[inline]
    pub fn per_lane_over(regs: impl IntoIterator<Item = Reg>) -> Self {
        Self::dwords(regs.into_iter().map(Node::PerLane))
    }

    /// One 16-bit value for each lane, in one half of the lane's dword.
    #[inline]
    pub fn per_lane_half(reg: Reg, half: Half) -> Self {
        match half {
            Half::Low => Self::per_lane(reg),
            Half::High => Self::per_lane(reg).offset(2),
        }
    }

    /// One value for the wave, in several scalar registers, 32 bits in each, least significant first: a pair or a quad.
    #[inline]
    pub fn over(regs: impl IntoIterator<Item = Reg>) -> Self {
        Self::dwords(regs.into_iter().map(Node::Register))
    }

    /// One value for the wave, in several vector register lanes, 32 bits in each, least significant first.
    pub fn lanes(lanes: impl IntoIterator<Item = (Reg, u32)>) -> Self {
        Self::dwords(lanes.into_iter().map(|(reg, lane)| Node::Lane(reg, lane)))
    }

    /// A slot in the current lane's stack frame, at `offset` bytes of that lane from the frame's base.
    ///
    /// The base register and its unit, bytes of one lane or of the wave, belong to the function and not to the slot:
    /// see [`Stack`](super::Stack). CPUs have no memory of lanes: their slots are at an offset from the [canonical frame
    /// address](Self::cfa) or from a register.
    #[inline]
    pub fn stack_slot(offset: i64) -> Self {
        Self::memory(SpaceId::PRIVATE_LANE, Val::stack_address(offset))
    }

    /// Memory in a space, at an address in bytes. An address wider than the space's addresses is truncated.
    #[inline]
    pub fn memory(space: SpaceId, address: Val) -> Self {
        Self(address.0).then(Node::Memory(space))
    }

    /// Local memory (LDS) at an offset in bytes from the start of the work-group's allocation.
    #[inline]
    pub fn local(offset: u32) -> Self {
        Self::memory(SpaceId::LOCAL, Val::constant(offset.into()))
    }

    /// Local memory (LDS) at a symbol's address, which the linker assigns.
    #[inline]
    pub fn local_symbol(symbol: Symbol) -> Self {
        Self::memory(SpaceId::LOCAL, Val::address(symbol, 0))
    }

    /// Global memory at a symbol's address.
    #[inline]
    pub fn global_symbol(symbol: Symbol) -> Self {
        Self::memory(SpaceId::DEFAULT, Val::address(symbol, 0))
    }

    /// Global memory at `offset` bytes from a pointer in two scalar registers, low and high: a kernel argument.
    #[inline]
    pub fn kernel_argument(low: Reg, high: Reg, offset: i64) -> Self {
        Self::memory(SpaceId::DEFAULT, Val::pair(low, high).plus(offset))
    }

    /// The location `bytes` bytes further on in the same storage; further back if negative.
    #[inline]
    pub fn offset(self, bytes: i64) -> Self {
        if bytes == 0 { self } else { self.then(Node::Offset(bytes)) }
    }

    /// The location `bits` bits further on in the same storage; further back if negative.
    #[inline]
    pub fn bit_offset(self, bits: i64) -> Self {
        if bits == 0 { self } else { self.then(Node::BitOffset(bits)) }
    }

    /// The location a computed number of bytes further on in the same storage. The number is signed.
    #[inline]
    pub fn offset_by(self, bytes: Val) -> Self {
        self.with(bytes).then(Node::OffsetBy)
    }

    /// The location a computed number of bits further on in the same storage. The number is signed.
    #[inline]
    pub fn bit_offset_by(self, bits: Val) -> Self {
        self.with(bits).then(Node::BitOffsetBy)
    }

    /// Consecutive parts, each a location and its size in bits, the first in the lowest bits.
    #[inline]
    pub fn parts(parts: impl IntoIterator<Item = (Self, u64)>) -> Self {
        let mut nodes = Postfix::new();
        let mut count = 0;
        for (part, bits) in parts {
            nodes.append_any(part.0);
            nodes.push(Node::Part(bits));
            count += 1;
        }
        nodes.push(Node::Parts(count));
        Self(nodes)
    }

    /// The location's first `bits` bits, of which it has `has`, and undefined padding bits.
    pub(crate) fn padded(&self, has: u64, bits: u64, padding: u64) -> Self {
        let undefined = (Self::undefined(), padding);
        // Parts that already have exactly these bits get one part more; a composite in a composite would be larger.
        let (Some(Node::Parts(count)), true) = (self.nodes().last(), has == bits) else {
            return Self::parts([(self.clone(), bits), undefined]);
        };
        let mut nodes = Postfix { owner: self.owner(), ..Postfix::new() };
        for node in self.nodes().take(self.nodes().count() - 1) {
            nodes.push(node);
        }
        nodes.append_any(undefined.0.0);
        nodes.push(Node::Part(padding));
        nodes.push(Node::Parts(count + 1));
        Self(nodes)
    }

    /// `self`, with `bits` bits from bit `offset` on replaced by bits of `above`.
    pub fn overlay(self, above: Self, offset: Val, bits: Val) -> Self {
        self.with(Val(above.0)).with(offset).with(bits).then(Node::Overlay)
    }

    /// `count` elements with `bits` bits each: element *n* is the *n*th of `one` where bit *n* in `mask` is 1, and the
    /// *n*th of `zero` where bit *n* is 0.
    #[inline]
    pub fn select(mask: Val, zero: Self, one: Self, bits: u64, count: u64) -> Self {
        zero.with(Val(one.0)).with(mask).then(Node::Select { bits, count })
    }

    /// This location's first `bits` bits, repeated `count` times.
    #[inline]
    pub fn extend(self, bits: u64, count: u64) -> Self {
        self.then(Node::Extend { bits, count })
    }

    /// A constant without storage: these bytes, in memory order from the lowest address on.
    #[inline]
    pub fn implicit(bytes: &[u8]) -> Self {
        Self::leaf(Node::Implicit(bytes))
    }

    /// A number without storage. A reader takes the low bits that it needs.
    #[inline]
    pub fn value(value: Val) -> Self {
        Self(value.0).then(Node::Value)
    }

    /// An implicit pointer, without storage: a pointer to a variable, which need not be in memory, plus bytes.
    #[inline]
    pub fn pointer_to(variable: VariableId, offset: i64) -> Self {
        Self::leaf(Node::PointerTo(variable, offset))
    }

    /// A procedure's location.
    #[inline]
    pub fn call(procedure: ProcedureId) -> Self {
        Self::leaf(Node::Call(procedure))
    }

    /// The function's canonical frame address, as a location: usually the caller's stack pointer at the call. The
    /// function's [frame](super::FrameRule) defines it. DWARF 5 section 6.4.
    ///
    /// The result is a location and not a number, because it may be in any address space.
    #[inline]
    pub fn cfa() -> Self {
        Self::leaf(Node::Cfa)
    }

    /// Thread-local storage: memory of the current thread, `offset` bytes from the start of the storage that the loader
    /// gave the object in this thread. DWARF 5 section 2.5.1.3, `DW_OP_form_tls_address`.
    #[inline]
    pub fn thread_local(offset: Val) -> Self {
        Self(offset.0).then(Node::ThreadLocal)
    }

    /// Undefined: the bits no longer exist.
    #[inline]
    pub fn undefined() -> Self {
        Self::leaf(Node::Undefined)
    }

    /// The location that a raw DWARF expression computes, for what this tree cannot express. Such a location has no
    /// meaning in the model, so `check` cannot compare it: the report lists it as unproven.
    #[inline]
    pub fn expr(expr: ExprId) -> Self {
        Self::leaf(Node::Expr(expr))
    }

    /// The unsigned number in the first `bits` bits, 1 to 64.
    #[inline]
    pub fn read(self, bits: u32) -> Val {
        Val(self.then(Node::Read(bits)).0)
    }

    /// Nodes in postfix order: operands come before the node that takes them.
    #[inline]
    pub fn nodes(&self) -> Nodes<'_> {
        self.0.nodes()
    }

    /// Consecutive 32-bit parts, each the first bits of a node without operands.
    #[inline]
    fn dwords(parts: impl Iterator<Item = Node<'static>>) -> Self {
        let mut nodes = Postfix::new();
        let mut count = 0;
        for part in parts {
            nodes.push(part);
            nodes.push(Node::Part(32));
            count += 1;
        }
        nodes.push(Node::Parts(count));
        Self(nodes)
    }

    /// Makes the location that consists of these nodes, in postfix order.
    pub(crate) fn of_nodes<'n>(nodes: impl Iterator<Item = Node<'n>>) -> Self {
        nodes.fold(Self(Postfix::new()), Self::then)
    }

    /// Returns the bytes if the location is [a constant](Self::implicit) and nothing else.
    pub(crate) fn constant(&self) -> Option<&[u8]> {
        only_constant(self.nodes())
    }

    /// The builder of the ids in the location.
    #[inline]
    pub(crate) fn owner(&self) -> Owner {
        self.0.owner
    }

    #[inline]
    pub(crate) fn postfix(&self) -> &Postfix {
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
///
/// Exhaustive: a match names all variants.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Half {
    /// Bits 0 to 15.
    Low,
    /// Bits 16 to 31.
    High,
}

/// Methods that combine two numbers.
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

    /// A symbol's address, plus bytes.
    #[inline]
    pub fn address(symbol: Symbol, offset: i64) -> Self {
        Self::leaf(Node::Address(symbol, offset))
    }

    /// An address in a linked object, before the loader moves the object: what [`address`](Self::address) is once the
    /// linker has assigned an address to the symbol.
    #[inline]
    pub fn link_address(address: u64) -> Self {
        Self::leaf(Node::LinkAddress(address))
    }

    /// The contents of a whole register with at most 64 bits, unsigned.
    #[inline]
    pub fn register(reg: Reg) -> Self {
        Self::leaf(Node::ReadRegister(reg))
    }

    /// The contents of a whole register with at most 64 bits on entry to the function, unsigned, even if the register
    /// has changed since: for an argument that only the caller can still compute. DWARF 5 section 2.5.1.7.
    ///
    /// A debugger finds the value in the caller's call description: see [`Argument`](super::Argument).
    #[inline]
    pub fn entry_value(reg: Reg) -> Self {
        Self::leaf(Node::EntryRegister(reg))
    }

    /// The number that the caller passed for a parameter of the function, even if no location has it any more. A debugger
    /// finds it in the caller's call description, by the parameter: see [`Argument`](super::Argument). gdb reads it, as
    /// `DW_OP_GNU_parameter_ref`.
    #[inline]
    pub fn passed_value(parameter: VariableId) -> Self {
        Self::leaf(Node::PassedValue(parameter))
    }

    /// A [stack slot](Loc::stack_slot)'s address, in bytes of one lane: the value of a pointer to the slot.
    #[inline]
    pub fn stack_address(offset: i64) -> Self {
        Self::leaf(Node::StackAddress(offset))
    }

    /// The number in two 32-bit scalar registers, low and high.
    #[inline]
    pub fn pair(low: Reg, high: Reg) -> Self {
        Self::register(low).or(Self::register(high).shl(Self::constant(32)))
    }

    /// The current lane, counted from 0.
    #[inline]
    pub fn lane_index() -> Self {
        Self::leaf(Node::LaneIndex)
    }

    /// The sum with a signed constant.
    #[inline]
    pub fn plus(self, value: i64) -> Self {
        self.then(Node::Plus(value))
    }

    binary! {
        /// The sum.
        add Add;
        /// The difference `self` minus `other`.
        sub Sub;
        /// The product.
        mul Mul;
        /// Bitwise and.
        and And;
        /// Bitwise or.
        or Or;
        /// Bitwise exclusive or.
        xor Xor;
        /// Left shift by `other` bits; 0 from 64 on.
        shl Shl;
        /// Logical right shift by `other` bits; 0 from 64 on.
        shr Shr;
        /// Arithmetic right shift by `other` bits, which copies the highest bit.
        shra Shra;
        /// The quotient of signed numbers, rounded towards 0. Without a value if `other` is 0.
        div Div;
        /// The remainder of unsigned numbers. Without a value if `other` is 0.
        modulo Mod;
        /// 1 if the numbers are equal, otherwise 0.
        is_equal Eq;
        /// 1 if the numbers differ, otherwise 0.
        is_unequal Ne;
        /// 1 if `self` is less than `other`, both signed, otherwise 0.
        is_less Lt;
        /// 1 if `self` is not greater than `other`, both signed, otherwise 0.
        is_at_most Le;
    }

    /// The address of a location in the default space, in bytes: the value of a pointer to a variable there. A location in
    /// registers or in another space has no such address.
    #[inline]
    pub fn address_of(place: Loc) -> Self {
        Self(place.0).then(Node::AddressOf)
    }

    /// `nonzero` unless `condition` is 0, otherwise `zero`. Without a value unless both numbers have a value.
    pub fn select(condition: Self, nonzero: Self, zero: Self) -> Self {
        let mut all = nonzero;
        all.0.append(zero.0);
        all.0.append(condition.0);
        all.then(Node::If)
    }

    /// The negation.
    #[allow(clippy::should_implement_trait, reason = "operators would suggest numbers, not descriptions")]
    #[inline]
    pub fn neg(self) -> Self {
        self.then(Node::Neg)
    }

    /// Makes the number that consists of these nodes, in postfix order.
    pub(crate) fn of_nodes<'n>(nodes: impl Iterator<Item = Node<'n>>) -> Self {
        nodes.fold(Self(Postfix::new()), Self::then)
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
