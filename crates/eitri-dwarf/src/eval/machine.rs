//! The [`Machine`]: a stopped program and its debug information.

use super::lists::{EncodedList, LocationListEntry};
use super::location::Location;
use super::value::BaseType;
use crate::op::{Encoding, Reg};
use crate::target::{ByteOrder, SpaceId};

/// The machine does not have the requested bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Unavailable;

/// An entry's location or constant.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum Body<'a> {
    /// `DW_AT_location` (or `DW_AT_frame_base`) with an expression.
    Expression(&'a [u8]),
    /// The same attributes with a location list whose entries are decoded.
    List(&'a [LocationListEntry<'a>]),
    /// The same attributes with an encoded location list.
    EncodedList(EncodedList<'a>),
    /// `DW_AT_const_value` as bytes in memory order.
    Constant(&'a [u8]),
    /// Unknown entry, without either.
    Nothing,
    /// An attribute that cannot be read.
    Unreadable,
}

/// An entry that an expression refers to, or a subprogram with an attribute for its frames.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub struct ReferencedEntry<'a> {
    /// Location or constant.
    pub body: Body<'a>,
    /// Its unit header's offset in `.debug_info`.
    pub unit: u64,
    /// Its unit's encoding, where it differs from the referring expression's.
    pub encoding: Option<Encoding>,
}

impl<'a> ReferencedEntry<'a> {
    /// Returns an entry with this location or constant, in the unit at this offset in `.debug_info`. The encoding is
    /// needed if it differs from the referring expression's.
    pub const fn new(body: Body<'a>, unit: u64, encoding: Option<Encoding>) -> Self {
        Self { body, unit, encoding }
    }
}

/// A value that a caller passed, computed in the caller's frame.
///
/// Exhaustive: a literal names all fields.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct CallValue<'a> {
    /// The parameter's `DW_AT_call_value` at the call site.
    pub value: ReferencedEntry<'a>,
    /// A call's `DW_AT_call_target`, if it is through an address, and the file address of the called frame's
    /// subprogram. If the target is another subprogram, the frame's subprogram was entered by a jump, and did not get
    /// the value.
    pub target: Option<(ReferencedEntry<'a>, u64)>,
}

/// A stopped program, and the debug information that expressions refer to.
///
/// Only methods without a default must be implemented. The default of all others is "not in the context", which makes
/// an operation that needs it an evaluation error (A.2.5.1).
///
/// * Frames count from 0, the innermost; frame 1 is its caller.
/// * Unit and entry offsets count bytes from the start of `.debug_info`. In a program with several files, a machine
///   represents the file whose `.debug_info` contains the expression.
/// * Arguments are references and results are written in place: no result needs an allocation, except several single
///   locations or parts.
/// * A machine's results must not change during an evaluation.
///
/// ```
/// use eitri_dwarf::eval::{Body, Context, Evaluator, Machine, ReferencedEntry, Unavailable};
/// use eitri_dwarf::op::{Dialect, Encoding, Reg};
/// use eitri_dwarf::target::{SpaceId, Target};
///
/// /// A stopped process: 16 registers, one range of memory, one subprogram.
/// struct Process<'p> {
///     registers: [u64; 16],
///     memory: &'p [u8],
///     start: u64,
///     frame_base: &'p [u8],
/// }
///
/// impl Machine for Process<'_> {
///     fn register(&self, reg: Reg, frame: u32, at: u32, into: &mut [u8]) -> Result<(), Unavailable> {
///         let value = self.registers.get(reg.0 as usize).filter(|_| frame == 0).ok_or(Unavailable)?;
///         let bytes = value.to_le_bytes();
///         let wanted = bytes.get(at as usize..).and_then(|from| from.get(..into.len()));
///         into.copy_from_slice(wanted.ok_or(Unavailable)?);
///         Ok(())
///     }
///
///     fn memory(
///         &self,
///         _space: SpaceId,
///         _lane: Option<u32>,
///         address: u64,
///         into: &mut [u8],
///     ) -> Result<(), Unavailable> {
///         let at = address.checked_sub(self.start).ok_or(Unavailable)? as usize;
///         let wanted = self.memory.get(at..).and_then(|from| from.get(..into.len()));
///         into.copy_from_slice(wanted.ok_or(Unavailable)?);
///         Ok(())
///     }
///
///     fn frame_base(&self, frame: u32) -> Option<ReferencedEntry<'_>> {
///         let body = Body::Expression(self.frame_base);
///         (frame == 0).then_some(ReferencedEntry::new(body, 0, None))
///     }
/// }
///
/// let memory = 0x1122u64.to_le_bytes();
/// // DW_OP_breg7 0: the frame base is the address in rsp.
/// let mut process = Process { registers: [0; 16], memory: &memory, start: 0x7000, frame_base: &[0x77, 0] };
/// process.registers[7] = 0x6ff0;
/// let target = Target::x86_64();
/// let context = Context::new(Encoding::new(8, Dialect::Dwarf5), &target);
/// // DW_OP_fbreg 16; DW_OP_deref
/// let value = Evaluator::new().value(&[0x91, 16, 0x06], &process, &context)?;
/// assert_eq!(value.as_u64(), Some(0x1122));
/// # Ok::<(), eitri_dwarf::eval::Fault>(())
/// ```
pub trait Machine {
    /// Reads a register's bytes in a frame, from byte `at`; byte 0 is the least significant on every machine
    /// (A.2.5.4.4.4).
    ///
    /// `frame` is 0, or a frame that [`saved`](Self::saved) returned. The bytes are within the size that the
    /// [`Architecture`](super::Architecture) gives for the register.
    ///
    /// # Errors
    /// [`Unavailable`] if a byte is unknown.
    fn register(&self, reg: Reg, frame: u32, at: u32, into: &mut [u8]) -> Result<(), Unavailable>;

    /// Returns the reason why a register byte is not available, for messages.
    fn register_problem(&self, reg: Reg, frame: u32, at: u32) -> Option<String> {
        let _ = (reg, frame, at);
        None
    }

    /// Reads memory, in address order (A.2.5.4.4.3). `lane` is given in a space where each lane has its own memory:
    /// the current lane when the location was constructed. The bytes do not extend beyond the space's largest
    /// address.
    ///
    /// # Errors
    /// [`Unavailable`] if a byte is not mapped.
    fn memory(
        &self,
        space: SpaceId,
        lane: Option<u32>,
        address: u64,
        into: &mut [u8],
    ) -> Result<(), Unavailable>;

    /// Returns the number in a register's lowest `bytes` bytes, at most 8, as [`register`](Self::register) reads
    /// them. The method is called far more often than all other methods, and need not be implemented.
    ///
    /// # Errors
    /// Errors from [`register`](Self::register).
    #[inline]
    fn register_word(&self, reg: Reg, frame: u32, bytes: u8) -> Result<u64, Unavailable> {
        word(bytes, false, |into| self.register(reg, frame, 0, into))
    }

    /// Returns the number in `bytes` memory bytes, at most 8, as [`memory`](Self::memory) reads them in the order of
    /// [`is_big_endian`](Self::is_big_endian). The method need not be implemented.
    ///
    /// # Errors
    /// Errors from [`memory`](Self::memory).
    #[inline]
    fn memory_word(
        &self,
        space: SpaceId,
        lane: Option<u32>,
        address: u64,
        bytes: u8,
    ) -> Result<u64, Unavailable> {
        word(bytes, self.is_big_endian(), |into| self.memory(space, lane, address, into))
    }

    /// Whether numbers in memory have their most significant byte first (A.2.5.2, "endianity"). Bits then count from
    /// the most significant, except in registers.
    fn is_big_endian(&self) -> bool {
        false
    }

    /// Returns the current lane, counted from 0, for `DW_OP_LLVM_push_lane` and for memory that is each lane's own.
    fn lane(&self) -> Option<u64> {
        None
    }

    /// Returns the lane count (the subprogram's `DW_AT_LLVM_lanes`).
    fn lanes(&self) -> u64 {
        1
    }

    /// Returns the iteration in focus, counted from 0 (`DW_OP_LLVM_push_iteration`).
    fn iteration(&self) -> Option<u64> {
        None
    }

    /// Returns how many iterations are concurrent (`DW_AT_LLVM_iterations`).
    fn iterations(&self) -> u64 {
        1
    }

    /// Returns a frame's program location (A.2.5.1): the innermost frame's program counter, the call in an outer
    /// frame. The pc selects location list entries, so that it is an address in the file, without the [load
    /// bias](Self::load_bias).
    fn pc(&self, frame: u32) -> Option<u64> {
        let _ = frame;
        None
    }

    /// Returns a frame's canonical frame address, in any space, from call frame information (`DW_OP_call_frame_cfa`,
    /// A.6.4).
    fn cfa(&self, frame: u32) -> Option<Location> {
        let _ = frame;
        None
    }

    /// Returns the reason why a frame's canonical frame address is unknown, for messages.
    fn cfa_problem(&self, frame: u32) -> Option<String> {
        let _ = frame;
        None
    }

    /// Returns the reason why a frame's frame base is unknown, for messages.
    fn frame_base_problem(&self, frame: u32) -> Option<String> {
        let _ = frame;
        None
    }

    /// Returns a frame's subprogram's `DW_AT_frame_base` (`DW_OP_fbreg`, A.3.3.5), or `None` without it. The
    /// attribute is evaluated in that frame and in the subprogram's unit.
    fn frame_base(&self, frame: u32) -> Option<ReferencedEntry<'_>> {
        let _ = frame;
        None
    }

    /// Returns the current location of an outer frame's register, by the rules in call frame information
    /// (A.2.5.4.4.4, A.6.4.1): `frame` is 1 or more. The location can be a register, memory, known bits, parts from
    /// these, or undefined if the rule is. A register without a rule follows the architecture's default (R
    /// A.2.5.4.4.1). Returns `None` if the frame is unknown.
    ///
    /// A machine may evaluate expressions in call frame information for this, in which
    /// `DW_OP_LLVM_call_frame_entry_reg` calls this method again; the machine must end such cycles.
    fn saved(&self, reg: Reg, frame: u32) -> Option<Location> {
        let _ = (reg, frame);
        None
    }

    /// Returns the current object (`DW_OP_push_object_address`), unless a [`Context`](super::Context) sets another.
    fn object(&self) -> Option<Location> {
        None
    }

    /// Returns where the thread's thread-local storage block for the expression's file starts, in the default space
    /// (`DW_OP_form_tls_address`).
    fn tls(&self) -> Option<u64> {
        None
    }

    /// Returns by how many bytes the expression's file is loaded above its addresses (A.2.5.4.4.3, "A may need to be
    /// relocated"). `DW_OP_addr` and `DW_OP_addrx` add it. Constants are not relocated, including `DW_OP_constx`
    /// operands (DWARF 5, 2.5.1.1). Location lists and [`pc`](Self::pc) use addresses in the file.
    fn load_bias(&self) -> u64 {
        0
    }

    /// Returns an address in the unit's part of `.debug_addr`, by index, as in the file (`DW_OP_addrx`,
    /// `DW_OP_constx`, location lists).
    fn debug_addr(&self, unit: u64, index: u64) -> Option<u64> {
        let _ = (unit, index);
        None
    }

    /// Returns a base type entry in a unit; `offset` counts from the unit's header. Returns `None` if the unit has no
    /// `DW_TAG_base_type` there.
    fn base_type(&self, unit: u64, offset: u64) -> Option<BaseType> {
        let _ = (unit, offset);
        None
    }

    /// Returns the entry at an offset, for calls and implicit pointers (A.2.5.4.2, A.2.5.4.4.5), with its
    /// `DW_AT_location`, or else its `DW_AT_const_value`. Returns `None` if there is no entry.
    fn entry(&self, offset: u64) -> Option<ReferencedEntry<'_>> {
        let _ = offset;
        None
    }

    /// Returns the value that a frame's caller passed at a location (`DW_OP_entry_value`): `DW_AT_call_value` for the
    /// parameter at the caller's call site whose `DW_AT_location` is the expression, or names the same register.
    /// Returns `None` if the call site has no such value: then the expression is evaluated in the calling frame.
    fn entry_value(&self, expr: &[u8], encoding: Encoding, frame: u32) -> Option<CallValue<'_>> {
        let _ = (expr, encoding, frame);
        None
    }

    /// Returns the value that a frame's caller passed for a parameter (`DW_OP_GNU_parameter_ref`): the parameter's
    /// `DW_AT_call_value` at the caller's call site. The parameter is given by its entry's offset in the called
    /// subprogram. Returns `None` if the call site has no such value.
    fn call_value(&self, parameter: u64, frame: u32) -> Option<CallValue<'_>> {
        let _ = (parameter, frame);
        None
    }

    /// Returns a variable's type as a base type (`DW_OP_GNU_variable_value`); a pointer's is
    /// [`Address`](super::TypeEncoding::Address). Returns `None` if the type is missing or cannot be represented as a
    /// base type.
    fn variable_type(&self, offset: u64) -> Option<BaseType> {
        let _ = offset;
        None
    }
}

/// Returns the order of a number's bytes on a machine.
pub(crate) fn byte_order(machine: &dyn Machine) -> ByteOrder {
    if machine.is_big_endian() { ByteOrder::Big } else { ByteOrder::Little }
}

/// Reads up to 8 bytes as a number.
#[inline]
fn word(
    bytes: u8,
    big_endian: bool,
    read: impl FnOnce(&mut [u8]) -> Result<(), Unavailable>,
) -> Result<u64, Unavailable> {
    let mut word = [0; 8];
    match (usize::from(bytes.min(8)), big_endian) {
        // Copies with a constant length are faster, and most have this length.
        (8, _) => read(&mut word)?,
        (len, false) => read(&mut word[..len])?,
        (len, true) => read(&mut word[8 - len..])?,
    }
    Ok(if big_endian { u64::from_be_bytes(word) } else { u64::from_le_bytes(word) })
}
