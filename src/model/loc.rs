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
///
/// | the variable is in | location |
/// |---|---|
/// | scalar registers, with one value for the wave | [`register`](Self::register), [`over`](Self::over) |
/// | vector registers, with a value in each lane | [`per_lane`](Self::per_lane), [`per_lane_over`](Self::per_lane_over), [`per_lane_half`](Self::per_lane_half) |
/// | some lanes of a vector register: a spilled scalar | [`lane`](Self::lane), [`lanes`](Self::lanes) |
/// | all lanes of a vector register | [`whole`](Self::whole) |
/// | the stack frame | [`stack_slot`](Self::stack_slot) on GPUs, [`cfa`](Self::cfa) on CPUs |
/// | other memory | [`kernel_argument`](Self::kernel_argument), [`memory`](Self::memory), [`local`](Self::local), [`global_symbol`](Self::global_symbol), [`local_symbol`](Self::local_symbol) |
/// | several storages | [`parts`](Self::parts), [`overlay`](Self::overlay), [`select`](Self::select), [`extend`](Self::extend) |
/// | a part of a storage | [`offset`](Self::offset), [`offset_by`](Self::offset_by), [`bit_offset`](Self::bit_offset), [`bit_offset_by`](Self::bit_offset_by) |
/// | no storage, with a known value | [`implicit`](Self::implicit), [`value`](Self::value), [`pointer_to`](Self::pointer_to) |
/// | no storage: its value is lost | [`undefined`](Self::undefined) |
/// | what other variables share, or DWARF alone expresses | [`call`](Self::call), [`expr`](Self::expr) |
///
/// The examples show the storage that the emitted expression selects in lane 5 of a wave of 32 lanes, where s4 contains
/// 0x1000, s5 2, and lane 7 of v40 0x2000. They call `storage`:
///
/// ```
/// use std::error::Error;
///
/// use eitri::eval::{Context, Evaluator, Snapshot};
/// use eitri::lower::{Consumer, lower_loc};
/// use eitri::model::{Loc, Stack};
/// use eitri::target::Target;
///
/// let gpu = Target::named("amdgpu-gfx1030-wave32")?;
/// let mut machine = Snapshot::default();
/// (machine.lane, machine.lanes) = (Some(5), Some(32));
/// machine.registers.insert(gpu.sgpr(4)?, 0x1000_u32.to_le_bytes().into());
/// // ... and the other registers.
///
/// let storage = |loc: &Loc| -> Result<String, Box<dyn Error>> {
///     let consumer = Consumer::llvm();
///     let expr = lower_loc(loc, None, &gpu, Stack::kernel(&gpu), &consumer)?;
///     let context = Context::new(consumer.encoding(gpu.address_bytes()), &gpu);
///     let location = Evaluator::new().location(expr.bytes(), &machine, &context)?;
///     Ok(location.in_names(&gpu).to_string())
/// };
/// // A lane has 32 bits: lane 5 begins at bit 160.
/// assert_eq!(storage(&Loc::per_lane(gpu.vgpr(3)?))?, "reg:v3+160");
/// # Ok::<(), Box<dyn Error>>(())
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
#[must_use]
pub struct Loc(pub(crate) Postfix);

/// A 64-bit number.
///
/// `storage` in the examples is that of [`Loc`].
///
/// ```
/// # use eitri::model::{Loc, Val};
/// # use eitri::target::SpaceId;
/// # let storage = include!("../../docs/storage.rs");
/// # let gpu = eitri::target::Target::named("amdgpu-gfx1030-wave32")?;
/// // An address that the optimizer took apart: s4 contains a base, 0x1000, and s5 an index, 2,
/// // into elements of 12 bytes. `x` is at byte 4 of the element.
/// let element = Val::register(gpu.sgpr(5)?).mul(Val::constant(12));
/// let x = Val::register(gpu.sgpr(4)?).add(element).plus(4);
/// assert_eq!(storage(&Loc::memory(SpaceId::DEFAULT, x))?, "mem:0:0x101c");
///
/// // `i` counts up in the source, and down in the code from 9: its value is 9 - s5, and in no
/// // storage.
/// let i = Val::constant(9).sub(Val::register(gpu.sgpr(5)?));
/// assert_eq!(storage(&Loc::value(i))?, "implicit:0700000000000000");
///
/// // A flag that shares a register: bit 12 of s4.
/// let flag = Val::register(gpu.sgpr(4)?).shr(Val::constant(12)).and(Val::constant(1));
/// assert_eq!(storage(&Loc::value(flag))?, "implicit:0100000000000000");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
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
    ///
    /// ```
    /// # use eitri::model::Loc;
    /// # let storage = include!("../../docs/storage.rs");
    /// # let gpu = eitri::target::Target::named("amdgpu-gfx1030-wave32")?;
    /// // A value that is equal in all lanes, and a bit in it: bit 7 of `s4`.
    /// assert_eq!(storage(&Loc::register(gpu.sgpr(4)?).bit_offset(7))?, "reg:s4+7");
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[inline]
    pub fn register(reg: Reg) -> Self {
        Self::leaf(Node::Register(reg))
    }

    /// All lanes of a vector register, lane 0 in the lowest bits: for a value as large as the register. For one value
    /// per wave use [`lane`](Self::lane), for one value per lane [`per_lane`](Self::per_lane).
    ///
    /// ```
    /// # use eitri::model::Loc;
    /// # let storage = include!("../../docs/storage.rs");
    /// # let gpu = eitri::target::Target::named("amdgpu-gfx1030-wave32")?;
    /// // An array with an element in each lane: `a[i]` is at byte 4 · i of the register.
    /// let a = Loc::whole(gpu.vgpr(3)?);
    /// assert_eq!(storage(&a.offset(4 * 2))?, "reg:v3+64");
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[inline]
    pub fn whole(reg: Reg) -> Self {
        Self::leaf(Node::Register(reg))
    }

    /// A vector register's lane `lane`, counted from 0: one value for the whole wave.
    ///
    /// The current lane does not matter. 32 bits; [`lanes`](Self::lanes) makes wider values.
    ///
    /// ```
    /// # use eitri::model::Loc;
    /// # let storage = include!("../../docs/storage.rs");
    /// # let gpu = eitri::target::Target::named("amdgpu-gfx1030-wave32")?;
    /// // v_writelane_b32 v40, s4, 7
    /// let spilled = Loc::lane(gpu.vgpr(40)?, 7);
    /// // A lane has 32 bits. The answer is the same in every lane: here in lane 5.
    /// assert_eq!(storage(&spilled)?, "reg:v40+224");
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[inline]
    pub fn lane(reg: Reg, lane: u32) -> Self {
        Self::leaf(Node::Lane(reg, lane))
    }

    /// One value for each lane: a vector register's current lane. 32 bits; [`per_lane_over`](Self::per_lane_over) makes
    /// wider values.
    ///
    /// ```
    /// # use eitri::model::Loc;
    /// # let storage = include!("../../docs/storage.rs");
    /// # let gpu = eitri::target::Target::named("amdgpu-gfx1030-wave32")?;
    /// // v_mov_b32 v3, 1.0 writes all active lanes. Lane 5 has the bits from 5 · 32 on.
    /// assert_eq!(storage(&Loc::per_lane(gpu.vgpr(3)?))?, "reg:v3+160");
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[inline]
    pub fn per_lane(reg: Reg) -> Self {
        Self::leaf(Node::PerLane(reg))
    }

    /// One value for each lane, in the same lane of several vector registers, 32 bits in each, least significant first:
    /// a 64-bit number or a vector.
    ///
    /// ```
    /// # use eitri::model::Loc;
    /// # let storage = include!("../../docs/storage.rs");
    /// # let gpu = eitri::target::Target::named("amdgpu-gfx1030-wave32")?;
    /// // global_load_dwordx2 v[3:4], v[6:7], off
    /// let double = Loc::per_lane_over([gpu.vgpr(3)?, gpu.vgpr(4)?]);
    /// assert_eq!(storage(&double)?, "[reg:v3+160/32, reg:v4+160/32]");
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[inline]
    pub fn per_lane_over(regs: impl IntoIterator<Item = Reg>) -> Self {
        Self::dwords(regs.into_iter().map(Node::PerLane))
    }

    /// One 16-bit value for each lane, in one half of the lane's dword.
    ///
    /// ```
    /// # use eitri::model::{Half, Loc};
    /// # let storage = include!("../../docs/storage.rs");
    /// # let gpu = eitri::target::Target::named("amdgpu-gfx1030-wave32")?;
    /// // v_pk_add_f16 v3, v1, v2 computes two values: `x` in the low halves, `y` in the high
    /// // halves.
    /// let x = Loc::per_lane_half(gpu.vgpr(3)?, Half::Low);
    /// let y = Loc::per_lane_half(gpu.vgpr(3)?, Half::High);
    /// assert_eq!((storage(&x)?.as_str(), storage(&y)?.as_str()), ("reg:v3+160", "reg:v3+176"));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[inline]
    pub fn per_lane_half(reg: Reg, half: Half) -> Self {
        match half {
            Half::Low => Self::per_lane(reg),
            Half::High => Self::per_lane(reg).offset(2),
        }
    }

    /// One value for the wave, in several scalar registers, 32 bits in each, least significant first: a pair or a quad.
    /// Registers of another size, such as those of most CPUs, take [`parts`](Self::parts).
    ///
    /// ```
    /// # use eitri::model::Loc;
    /// # let storage = include!("../../docs/storage.rs");
    /// # let gpu = eitri::target::Target::named("amdgpu-gfx1030-wave32")?;
    /// // s_load_dwordx2 s[4:5], s[0:1], 0x8
    /// let pointer = Loc::over([gpu.sgpr(4)?, gpu.sgpr(5)?]);
    /// assert_eq!(storage(&pointer)?, "[reg:s4/32, reg:s5/32]");
    /// // The pointer is the variable. What it points to is in memory: `Loc::memory` at
    /// // `Val::pair`.
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[inline]
    pub fn over(regs: impl IntoIterator<Item = Reg>) -> Self {
        Self::dwords(regs.into_iter().map(Node::Register))
    }

    /// One value for the wave, in several vector register lanes, 32 bits in each, least significant first.
    ///
    /// ```
    /// # use eitri::model::Loc;
    /// # let storage = include!("../../docs/storage.rs");
    /// # let gpu = eitri::target::Target::named("amdgpu-gfx1030-wave32")?;
    /// // v_writelane_b32 v40, s6, 11, and v_writelane_b32 v40, s7, 12: 11 · 32 is 352.
    /// let pointer = Loc::lanes([(gpu.vgpr(40)?, 11), (gpu.vgpr(40)?, 12)]);
    /// assert_eq!(storage(&pointer)?, "[reg:v40+352/32, reg:v40+384/32]");
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn lanes(lanes: impl IntoIterator<Item = (Reg, u32)>) -> Self {
        Self::dwords(lanes.into_iter().map(|(reg, lane)| Node::Lane(reg, lane)))
    }

    /// A slot in the current lane's stack frame, at `offset` bytes of that lane from the frame's base.
    ///
    /// The base register and its unit, bytes of one lane or of the wave, belong to the function and not to the slot:
    /// see [`Stack`](super::Stack). CPUs have no memory of lanes: their slots are at an offset from the [canonical frame
    /// address](Self::cfa) or from a register.
    ///
    /// ```
    /// # use eitri::model::Loc;
    /// # let storage = include!("../../docs/storage.rs");
    /// # let gpu = eitri::target::Target::named("amdgpu-gfx1030-wave32")?;
    /// // buffer_store_dword v3, off, s[0:3], 0 offset:16
    /// let slot = Loc::stack_slot(16);
    /// // Space 5 is a lane's private memory. The address counts bytes of lane 5 alone.
    /// assert_eq!(storage(&slot)?, "mem:5:0x10@5");
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[inline]
    pub fn stack_slot(offset: i64) -> Self {
        Self::memory(SpaceId::PRIVATE_LANE, Val::stack_address(offset))
    }

    /// Memory in a space, at an address in bytes. An address wider than the space's addresses is truncated.
    ///
    /// ```
    /// # use eitri::model::{Loc, Val};
    /// # use eitri::target::SpaceId;
    /// # let storage = include!("../../docs/storage.rs");
    /// # let gpu = eitri::target::Target::named("amdgpu-gfx1030-wave32")?;
    /// // An element of an array in LDS, space 3: `s4` has the array's address 0x1000, `s5` the
    /// // index 2.
    /// let index = Val::register(gpu.sgpr(5)?);
    /// let address = Val::register(gpu.sgpr(4)?).add(index.mul(Val::constant(4)));
    /// assert_eq!(storage(&Loc::memory(SpaceId::LOCAL, address))?, "mem:3:0x1008");
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[inline]
    pub fn memory(space: SpaceId, address: Val) -> Self {
        Self(address.0).then(Node::Memory(space))
    }

    /// Local memory (LDS) at an offset in bytes from the start of the work-group's allocation.
    ///
    /// ```
    /// # use eitri::model::Loc;
    /// # let storage = include!("../../docs/storage.rs");
    /// # let gpu = eitri::target::Target::named("amdgpu-gfx1030-wave32")?;
    /// assert_eq!(storage(&Loc::local(0x40))?, "mem:3:0x40");
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
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
    ///
    /// ```
    /// # use eitri::build::Builder;
    /// # use eitri::model::{BaseEncoding, Loc};
    /// # use eitri::target::Target;
    /// # let mut m = Builder::new(Target::named("amdgpu-gfx1030-wave32")?);
    /// # let unit = m.unit("a.cl");
    /// # let int = m.base_type(unit, "int", BaseEncoding::Signed, 32)?;
    /// // A member 8 bytes after the start of `table`, which the linker locates.
    /// let table = m.symbol("table");
    /// m.variable(unit, "limit", int)?.always(Loc::global_symbol(table).offset(8))?;
    /// # Ok::<(), eitri::Error>(())
    /// ```
    #[inline]
    pub fn global_symbol(symbol: Symbol) -> Self {
        Self::memory(SpaceId::DEFAULT, Val::address(symbol, 0))
    }

    /// Global memory at `offset` bytes from a pointer in two scalar registers, low and high: a kernel argument.
    ///
    /// ```
    /// # use eitri::model::Loc;
    /// # let storage = include!("../../docs/storage.rs");
    /// # let gpu = eitri::target::Target::named("amdgpu-gfx1030-wave32")?;
    /// // `s4` contains 0x1000 and `s5` 2: the argument block is at 2 · 2³² + 0x1000.
    /// let argument = Loc::kernel_argument(gpu.sgpr(4)?, gpu.sgpr(5)?, 16);
    /// assert_eq!(storage(&argument)?, "mem:0:0x200001010");
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[inline]
    pub fn kernel_argument(low: Reg, high: Reg, offset: i64) -> Self {
        Self::memory(SpaceId::DEFAULT, Val::pair(low, high).plus(offset))
    }

    /// The location `bytes` bytes further on in the same storage; further back if negative.
    ///
    /// ```
    /// # use eitri::model::Loc;
    /// # let storage = include!("../../docs/storage.rs");
    /// # let gpu = eitri::target::Target::named("amdgpu-gfx1030-wave32")?;
    /// // The high half of an int in each lane, which an optimized `n >> 16` reads: bit 160 + 16.
    /// let high = Loc::per_lane(gpu.vgpr(3)?).offset(2);
    /// assert_eq!(storage(&high)?, "reg:v3+176");
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
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
    ///
    /// ```
    /// # use eitri::model::{Loc, Val};
    /// # let storage = include!("../../docs/storage.rs");
    /// # let gpu = eitri::target::Target::named("amdgpu-gfx1030-wave32")?;
    /// // An array in one vector register, with an element in each lane; `s5` has the index 2.
    /// let index = Val::register(gpu.sgpr(5)?);
    /// let element = Loc::whole(gpu.vgpr(3)?).offset_by(index.mul(Val::constant(4)));
    /// assert_eq!(storage(&element)?, "reg:v3+64");
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
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
    ///
    /// ```
    /// # use eitri::model::Loc;
    /// # let storage = include!("../../docs/storage.rs");
    /// # let gpu = eitri::target::Target::named("amdgpu-gfx1030-wave32")?;
    /// // A structure whose first member is a spilled scalar, whose second has a value in each
    /// // lane, and whose third was optimized out. 7 · 32 is 224, and 5 · 32 is 160.
    /// let members = Loc::parts([
    ///     (Loc::lane(gpu.vgpr(40)?, 7), 32),
    ///     (Loc::per_lane(gpu.vgpr(3)?), 32),
    ///     (Loc::undefined(), 16),
    /// ]);
    /// assert_eq!(storage(&members)?, "[reg:v40+224/32, reg:v3+160/32, undefined/16]");
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
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
    ///
    /// ```
    /// # use eitri::build::Builder;
    /// # use eitri::model::{BaseEncoding, Loc, Val};
    /// # use eitri::target::{SpaceId, Target};
    /// # let gpu = Target::named("amdgpu-gfx1030-wave32")?;
    /// # let s4 = gpu.sgpr(4)?;
    /// # let mut m = Builder::new(gpu);
    /// # let unit = m.unit("a.cl");
    /// # let float = m.base_type(unit, "float", BaseEncoding::Float, 32)?;
    /// # let float4 = m.vector(unit, float, 4)?;
    /// # let f = m.function(unit, "f")?.code("f", 0x40).id();
    /// // A vector in memory, whose second element, 32 bits from bit 32 on, was loaded into a
    /// // register and changed there.
    /// let memory = Loc::memory(SpaceId::DEFAULT, Val::constant(0x100));
    /// let vector = memory.overlay(Loc::register(s4), Val::constant(32), Val::constant(32));
    /// // With constant numbers, every debugger reads it: as three pieces.
    /// m.variable(f, "v", float4)?.live(0x08..0x40, vector)?;
    /// # Ok::<(), eitri::Error>(())
    /// ```
    pub fn overlay(self, above: Self, offset: Val, bits: Val) -> Self {
        self.with(Val(above.0)).with(offset).with(bits).then(Node::Overlay)
    }

    /// `count` elements with `bits` bits each: element *n* is the *n*th of `one` where bit *n* in `mask` is 1, and the
    /// *n*th of `zero` where bit *n* is 0.
    ///
    /// ```
    /// # use eitri::model::{Loc, Val};
    /// # let storage = include!("../../docs/storage.rs");
    /// # let gpu = eitri::target::Target::named("amdgpu-gfx1030-wave32")?;
    /// // A frame saved the active lanes of v41 in v40. Of four lanes, 0 and 2 were active: the
    /// // mask is 0b101.
    /// let (kept, saved) = (Loc::whole(gpu.vgpr(41)?), Loc::whole(gpu.vgpr(40)?));
    /// let caller = Loc::select(Val::constant(0b101), kept, saved, 32, 4);
    /// assert_eq!(storage(&caller)?, "[reg:v40/32, reg:v41+32/32, reg:v40+64/32, reg:v41+96/32]");
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[inline]
    pub fn select(mask: Val, zero: Self, one: Self, bits: u64, count: u64) -> Self {
        zero.with(Val(one.0)).with(mask).then(Node::Select { bits, count })
    }

    /// This location's first `bits` bits, repeated `count` times.
    ///
    /// ```
    /// # use eitri::model::Loc;
    /// # let storage = include!("../../docs/storage.rs");
    /// # let gpu = eitri::target::Target::named("amdgpu-gfx1030-wave32")?;
    /// // One scalar is the value of all elements: `float4 v = (float4)(s);`.
    /// let splat = Loc::register(gpu.sgpr(4)?).extend(32, 4);
    /// assert_eq!(storage(&splat)?, "[reg:s4/32, reg:s4/32, reg:s4/32, reg:s4/32]");
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[inline]
    pub fn extend(self, bits: u64, count: u64) -> Self {
        self.then(Node::Extend { bits, count })
    }

    /// A constant without storage: these bytes, in memory order from the lowest address on.
    ///
    /// ```
    /// # use eitri::model::Loc;
    /// # let storage = include!("../../docs/storage.rs");
    /// # let gpu = eitri::target::Target::named("amdgpu-gfx1030-wave32")?;
    /// // A `float` whose value the compiler knows: 1.0 is 0x3f800000. A debugger shows it, but
    /// // cannot change it.
    /// assert_eq!(storage(&Loc::implicit(&1.0_f32.to_le_bytes()))?, "implicit:0000803f");
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[inline]
    pub fn implicit(bytes: &[u8]) -> Self {
        Self::leaf(Node::Implicit(bytes))
    }

    /// A number without storage. A reader takes the low bits that it needs.
    ///
    /// ```
    /// # use eitri::model::{Loc, Val};
    /// # let storage = include!("../../docs/storage.rs");
    /// # let gpu = eitri::target::Target::named("amdgpu-gfx1030-wave32")?;
    /// // `i` was strength-reduced: `s4` contains 4 · i, here 0x1000, so that `i` is 0x400. The
    /// // first byte is the lowest.
    /// let i = Val::register(gpu.sgpr(4)?).shr(Val::constant(2));
    /// assert_eq!(storage(&Loc::value(i))?, "implicit:0004000000000000");
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[inline]
    pub fn value(value: Val) -> Self {
        Self(value.0).then(Node::Value)
    }

    /// An implicit pointer, without storage: a pointer to a variable, which need not be in memory, plus bytes.
    ///
    /// ```
    /// # use eitri::build::Builder;
    /// # use eitri::model::{BaseEncoding, Loc};
    /// # use eitri::target::Target;
    /// # let gpu = Target::named("amdgpu-gfx1030-wave32")?;
    /// # let v3 = gpu.vgpr(3)?;
    /// # let mut m = Builder::new(gpu);
    /// # let unit = m.unit("a.cl");
    /// # let int = m.base_type(unit, "int", BaseEncoding::Signed, 32)?;
    /// # let f = m.function(unit, "f")?.code("f", 0x40).id();
    /// // `p` points to `x`, which is in a register: `*p` can be shown, although `p` has no number.
    /// let pointer = m.pointer(unit, Some(int))?;
    /// let x = m.variable(f, "x", int)?.live(0x04..0x40, Loc::per_lane(v3))?.id();
    /// m.variable(f, "p", pointer)?.live(0x04..0x40, Loc::pointer_to(x, 0))?;
    /// # Ok::<(), eitri::Error>(())
    /// ```
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
    ///
    /// ```
    /// # use eitri::build::Builder;
    /// # use eitri::model::{BaseEncoding, Loc, Val};
    /// # use eitri::target::{SpaceId, Target};
    /// # let mut m = Builder::new(Target::x86_64());
    /// # let unit = m.unit("a.cl");
    /// # let int = m.base_type(unit, "int", BaseEncoding::Signed, 32)?;
    /// # let f = m.function(unit, "f")?.code("f", 0x40).id();
    /// // On x86-64 without a frame pointer, a local is at an offset from the CFA, whatever was
    /// // pushed since.
    /// m.variable(f, "local", int)?.live(0x04..0x40, Loc::cfa().offset(-24))?;
    /// // The frame's rule says what the CFA is: `rsp` + 8 on entry.
    /// let rsp = m.target().register_named("rsp")?;
    /// m.frame(f)?.cfa(0x00..0x40, Loc::memory(SpaceId::DEFAULT, Val::register(rsp).plus(8)))?;
    /// # Ok::<(), eitri::Error>(())
    /// ```
    #[inline]
    pub fn cfa() -> Self {
        Self::leaf(Node::Cfa)
    }

    /// Thread-local storage: memory of the current thread, `offset` bytes from the start of the storage that the loader
    /// gave the object in this thread. DWARF 5 section 2.5.1.3, `DW_OP_form_tls_address`.
    ///
    /// In a relocatable object the offset is a thread-local symbol's, which the linker fills in:
    ///
    /// ```
    /// # use eitri::build::Builder;
    /// # use eitri::model::{BaseEncoding, Loc, Val};
    /// # use eitri::target::Target;
    /// # let mut m = Builder::new(Target::x86_64());
    /// # let unit = m.unit("a.c");
    /// # let int = m.base_type(unit, "int", BaseEncoding::Signed, 32)?;
    /// let counter = m.symbol("counter");
    /// m.variable(unit, "counter", int)?.always(Loc::thread_local(Val::address(counter, 0)))?;
    /// # Ok::<(), eitri::Error>(())
    /// ```
    #[inline]
    pub fn thread_local(offset: Val) -> Self {
        Self(offset.0).then(Node::ThreadLocal)
    }

    /// Undefined: the bits no longer exist.
    ///
    /// ```
    /// # use eitri::build::Builder;
    /// # use eitri::model::{BaseEncoding, Loc};
    /// # use eitri::target::Target;
    /// # let gpu = Target::named("amdgpu-gfx1030-wave32")?;
    /// # let s4 = gpu.sgpr(4)?;
    /// # let mut m = Builder::new(gpu);
    /// # let unit = m.unit("a.cl");
    /// # let long = m.base_type(unit, "long", BaseEncoding::Signed, 64)?;
    /// # let f = m.function(unit, "f")?.code("f", 0x40).id();
    /// // A variable that is optimized out needs no location. A part of it is undefined.
    /// let lower_half = Loc::parts([(Loc::register(s4), 32), (Loc::undefined(), 32)]);
    /// m.variable(f, "n", long)?.live(0x08..0x40, lower_half)?;
    /// # Ok::<(), eitri::Error>(())
    /// ```
    #[inline]
    pub fn undefined() -> Self {
        Self::leaf(Node::Undefined)
    }

    /// The location that a raw DWARF expression computes, for what this tree cannot express. Such a location has no
    /// meaning in the model, so `check` cannot compare it: the report lists it as unproven.
    ///
    /// ```
    /// # use eitri::build::Builder;
    /// # use eitri::lower::Consumer;
    /// # use eitri::model::{BaseEncoding, Loc};
    /// # use eitri::op::text;
    /// # use eitri::target::Target;
    /// # let gpu = Target::named("amdgpu-gfx1030-wave32")?;
    /// # let mut m = Builder::new(gpu);
    /// # let unit = m.unit("a.cl");
    /// # let int = m.base_type(unit, "int", BaseEncoding::Signed, 32)?;
    /// # let f = m.function(unit, "f")?.code("f", 0x40).id();
    /// // The absolute value, for which `Val` has no method. The text of the operation is that of the
    /// // specification.
    /// let encoding = Consumer::llvm().encoding(8);
    /// let size = text::parse("bregx s4 0; abs; stack_value", encoding, Some(m.target()))?;
    /// let size = m.expr(size, &[])?;
    /// m.variable(f, "size", int)?.live(0x04..0x40, Loc::expr(size))?;
    /// # Ok::<(), eitri::Error>(())
    /// ```
    #[inline]
    pub fn expr(expr: ExprId) -> Self {
        Self::leaf(Node::Expr(expr))
    }

    /// The unsigned number in the first `bits` bits, 1 to 64.
    ///
    /// ```
    /// # use eitri::model::Loc;
    /// # use eitri::target::SpaceId;
    /// # let storage = include!("../../docs/storage.rs");
    /// # let gpu = eitri::target::Target::named("amdgpu-gfx1030-wave32")?;
    /// // A base address that was spilled into lane 7 of v40, and the array it points to.
    /// let base = Loc::lane(gpu.vgpr(40)?, 7).read(32);
    /// let array = Loc::memory(SpaceId::LOCAL, base.plus(0x10));
    /// // Lane 7 of v40 contains 0x2000, and 0x10 more is the address. Space 3 is LDS.
    /// assert_eq!(storage(&array)?, "mem:3:0x2010");
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
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
    ///
    /// ```
    /// # use eitri::model::{Loc, Val};
    /// # let storage = include!("../../docs/storage.rs");
    /// # let gpu = eitri::target::Target::named("amdgpu-gfx1030-wave32")?;
    /// // The variable's value is 4 times what s5 contains: 8.
    /// let n = Val::register(gpu.sgpr(5)?).shl(Val::constant(2));
    /// assert_eq!(storage(&Loc::value(n))?, "implicit:0800000000000000");
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[inline]
    pub fn register(reg: Reg) -> Self {
        Self::leaf(Node::ReadRegister(reg))
    }

    /// The contents of a whole register with at most 64 bits on entry to the function, unsigned, even if the register
    /// has changed since: for an argument that only the caller can still compute. DWARF 5 section 2.5.1.7.
    ///
    /// A debugger finds the value in the caller's call description: see [`Argument`](super::Argument).
    ///
    /// ```
    /// # use eitri::build::Builder;
    /// # use eitri::model::{BaseEncoding, Loc, Val};
    /// # use eitri::target::Target;
    /// # let mut m = Builder::new(Target::x86_64());
    /// # let unit = m.unit("a.c");
    /// # let int = m.base_type(unit, "int", BaseEncoding::Signed, 32)?;
    /// # let f = m.function(unit, "f")?.code("f", 0x40).id();
    /// let rdi = m.target().register_named("rdi")?;
    /// // The argument's register is used again from 0x10 on. Its value on entry is still the
    /// // parameter's.
    /// m.parameter(f, "n", int)?
    ///     .live(0x00..0x10, Loc::register(rdi))?
    ///     .live(0x10..0x40, Loc::value(Val::entry_value(rdi)))?;
    /// # Ok::<(), eitri::Error>(())
    /// ```
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
    ///
    /// ```
    /// # use eitri::model::{Loc, Val};
    /// # let storage = include!("../../docs/storage.rs");
    /// # let gpu = eitri::target::Target::named("amdgpu-gfx1030-wave32")?;
    /// // `int *p = &slot;` where `slot` is in private memory at 16 bytes of each lane.
    /// let p = Loc::value(Val::stack_address(16));
    /// assert_eq!(storage(&p)?, "implicit:1000000000000000");
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[inline]
    pub fn stack_address(offset: i64) -> Self {
        Self::leaf(Node::StackAddress(offset))
    }

    /// The number in two 32-bit scalar registers, low and high.
    ///
    /// ```
    /// # use eitri::model::{Loc, Val};
    /// # use eitri::target::SpaceId;
    /// # let storage = include!("../../docs/storage.rs");
    /// # let gpu = eitri::target::Target::named("amdgpu-gfx1030-wave32")?;
    /// // `s4` contains 0x1000 and `s5` 2: the pointer is 2 · 2³² + 0x1000.
    /// let pointer = Val::pair(gpu.sgpr(4)?, gpu.sgpr(5)?);
    /// assert_eq!(storage(&Loc::memory(SpaceId::DEFAULT, pointer))?, "mem:0:0x200001000");
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[inline]
    pub fn pair(low: Reg, high: Reg) -> Self {
        Self::register(low).or(Self::register(high).shl(Self::constant(32)))
    }

    /// The current lane, counted from 0.
    ///
    /// ```
    /// # use eitri::model::{Loc, Val};
    /// # let storage = include!("../../docs/storage.rs");
    /// # let gpu = eitri::target::Target::named("amdgpu-gfx1030-wave32")?;
    /// // A value that differs by lane, and that no register contains: `get_local_id(0)` plus s5,
    /// // in lane 5.
    /// let id = Val::lane_index().add(Val::register(gpu.sgpr(5)?));
    /// assert_eq!(storage(&Loc::value(id))?, "implicit:0700000000000000");
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
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
        let mut nodes = nonzero;
        nodes.0.append(zero.0);
        nodes.0.append(condition.0);
        nodes.then(Node::If)
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
