//! What an evaluation asks: the [`Machine`] (a stopped program and its debug information) and the
//! [`Architecture`] (what registers and address spaces there are).

use std::borrow::Cow;
use std::collections::BTreeMap;

use super::lists::EncodedList;
use super::location::Location;
use super::value::BaseType;
use crate::op::{Encoding, Reg};
use crate::target::{Per, SpaceId, Target};

/// What an address space is like.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SpaceLayout {
    /// Bits of an address, at most 64.
    pub address_bits: u32,
    /// Whether each thread or lane has its own.
    pub per: Per,
}

/// Which registers and address spaces there are. A number without an answer is ill-formed in an expression.
pub trait Architecture {
    /// The size of a register in bits.
    fn register_bits(&self, reg: Reg) -> Option<u32>;

    /// An address space.
    fn space(&self, space: SpaceId) -> Option<SpaceLayout>;

    /// Bits of an address in the space that has the largest: no composite is larger than that memory.
    fn largest_address_bits(&self) -> u32;

    /// The register that in the caller holds the canonical frame address, where call frame information has no rule
    /// for it: a stack pointer of an architecture that defines that address by it (A.6.4.1, "an ABI authoring body
    /// may specify an alternate default value"). All other registers without a rule have the same value.
    fn cfa_register(&self) -> Option<Reg> {
        None
    }

    /// The register of a name.
    ///
    /// # Errors
    /// A message where there is none, with the names nearest to it.
    fn register_named(&self, name: &str) -> Result<Reg, String> {
        Err(format!("the target has no register `{name}`"))
    }

    /// The name of a register, if it has one.
    fn register_name(&self, _reg: Reg) -> Option<String> {
        None
    }

    /// The address space of a name.
    ///
    /// # Errors
    /// A message where there is none, with the names nearest to it.
    fn space_named(&self, name: &str) -> Result<SpaceId, String> {
        Err(format!("the target has no address space `{name}`"))
    }
}

impl Architecture for Target {
    fn register_bits(&self, reg: Reg) -> Option<u32> {
        Some(self.register(reg)?.bits)
    }

    fn space(&self, space: SpaceId) -> Option<SpaceLayout> {
        let space = Target::space(self, space)?;
        Some(SpaceLayout { address_bits: space.address_bits, per: space.per })
    }

    fn largest_address_bits(&self) -> u32 {
        self.spaces().iter().map(|space| space.address_bits).max().unwrap_or(64)
    }

    fn cfa_register(&self) -> Option<Reg> {
        Target::cfa_register(self)
    }

    fn register_named(&self, name: &str) -> Result<Reg, String> {
        Target::register_named(self, name).map_err(|error| error.to_string())
    }

    fn register_name(&self, reg: Reg) -> Option<String> {
        Some(self.register(reg)?.name().to_string())
    }

    fn space_named(&self, name: &str) -> Result<SpaceId, String> {
        Target::space_named(self, name).map(|space| space.id).map_err(|error| error.to_string())
    }
}

/// An [`Architecture`] as plain data.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Layout {
    /// The size of each register in bits.
    pub registers: BTreeMap<Reg, u32>,
    /// The address spaces; number 0 is the default one.
    pub spaces: BTreeMap<SpaceId, SpaceLayout>,
}

impl Architecture for Layout {
    fn register_bits(&self, reg: Reg) -> Option<u32> {
        self.registers.get(&reg).copied()
    }

    fn space(&self, space: SpaceId) -> Option<SpaceLayout> {
        self.spaces.get(&space).copied()
    }

    fn largest_address_bits(&self) -> u32 {
        self.spaces.values().map(|space| space.address_bits).max().unwrap_or(64)
    }
}

/// The answer of a machine that does not have the bytes asked for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Unavailable;

/// An entry of a location list, already read: base addresses applied, lengths made ends.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ListEntry<'a> {
    /// The pcs for which it holds, half-open: from the first to before the second. `None` is the default
    /// entry, which holds where no bounded one does.
    pub bounds: Option<(u64, u64)>,
    /// The expression.
    pub expr: Cow<'a, [u8]>,
}

/// What an entry says about where, or what, it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Body<'a> {
    /// `DW_AT_location` (or `DW_AT_frame_base`) with an expression.
    Expression(&'a [u8]),
    /// The same with a location list whose entries were read before.
    List(&'a [ListEntry<'a>]),
    /// The same with a location list as it stands in its section.
    EncodedList(EncodedList<'a>),
    /// `DW_AT_const_value` as bytes in memory order.
    Constant(&'a [u8]),
    /// Neither.
    Nothing,
}

/// An entry that an expression refers to, or a subprogram with what it says of its frames.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Entry<'a> {
    /// What it says.
    pub body: Body<'a>,
    /// Its unit: the offset of the unit's header in `.debug_info`.
    pub unit: u64,
    /// The encoding of its unit, where that is not the same as of the expression that refers to it.
    pub encoding: Option<Encoding>,
}

/// A stopped program, and its debug information as far as expressions refer to it.
///
/// Only what has no default must be written. The default of everything else is "not in the context", which
/// makes an operation that needs it an evaluation error (A.2.5.1).
///
/// * Frames count from 0, the innermost; 1 is its caller.
/// * Offsets of units and entries count in bytes from the start of `.debug_info`. Where a program has several
///   files, a machine is the one whose `.debug_info` the expression is in.
/// * Everything is asked for by reference and answered in place: no answer needs an allocation, unless it is
///   a location in several places or in parts.
/// * What a machine answers must not change during an evaluation.
///
/// ```
/// use eitri::eval::{Body, Context, Entry, Evaluator, Machine, Unavailable};
/// use eitri::op::{Dialect, Encoding, Reg};
/// use eitri::target::{SpaceId, Target};
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
///     fn frame_base(&self, frame: u32) -> Option<Entry<'_>> {
///         let body = Body::Expression(self.frame_base);
///         (frame == 0).then_some(Entry { body, unit: 0, encoding: None })
///     }
/// }
///
/// let memory = 0x1122u64.to_le_bytes();
/// // DW_OP_breg7 0: the frame base is what rsp holds.
/// let mut process = Process { registers: [0; 16], memory: &memory, start: 0x7000, frame_base: &[0x77, 0] };
/// process.registers[7] = 0x6ff0;
/// let target = Target::x86_64();
/// let context = Context::new(Encoding::new(8, Dialect::Dwarf5), &target);
/// // DW_OP_fbreg 16; DW_OP_deref
/// let value = Evaluator::new().value(&[0x91, 16, 0x06], &process, &context).unwrap();
/// assert_eq!(value.as_u64(), Some(0x1122));
/// ```
pub trait Machine {
    /// Reads from a register of a frame, from byte `at` on, the least significant byte being 0 on every
    /// machine (A.2.5.4.4.4).
    ///
    /// `frame` is 0, or what [`saved`](Self::saved) put into its answer. Never more bytes are asked for than
    /// the [`Architecture`] says the register has.
    ///
    /// # Errors
    /// [`Unavailable`] if a byte of it is not known.
    fn register(&self, reg: Reg, frame: u32, at: u32, into: &mut [u8]) -> Result<(), Unavailable>;

    /// Reads memory, in order of addresses (A.2.5.4.4.3). `lane` is given in a space where each lane has its
    /// own: it is that which was in focus when the location was made. What is asked for does not reach beyond
    /// the largest address of the space.
    ///
    /// # Errors
    /// [`Unavailable`] if a byte of it is not mapped.
    fn memory(
        &self,
        space: SpaceId,
        lane: Option<u32>,
        address: u64,
        into: &mut [u8],
    ) -> Result<(), Unavailable>;

    /// The number in the lowest bytes of a register, so many of them, at most 8: what
    /// [`register`](Self::register) answers, and asked for far more often than all else. There is no need to
    /// write this.
    ///
    /// # Errors
    /// As [`register`](Self::register).
    #[inline]
    fn register_word(&self, reg: Reg, frame: u32, bytes: u8) -> Result<u64, Unavailable> {
        word(bytes, false, |into| self.register(reg, frame, 0, into))
    }

    /// The number in so many bytes of memory, at most 8: what [`memory`](Self::memory) and
    /// [`is_big_endian`](Self::is_big_endian) answer. There is no need to write this.
    ///
    /// # Errors
    /// As [`memory`](Self::memory).
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

    /// Whether numbers in memory have their most significant byte first (A.2.5.2, "endianity"). Bits then
    /// count from the most significant, those of registers excepted.
    fn is_big_endian(&self) -> bool {
        false
    }

    /// The lane in focus, counted from 0 (`DW_OP_LLVM_push_lane`, and memory that each lane has of its own).
    fn lane(&self) -> Option<u64> {
        None
    }

    /// How many lanes there are (`DW_AT_LLVM_lanes` of the subprogram).
    fn lanes(&self) -> u64 {
        1
    }

    /// The iteration in focus, counted from 0 (`DW_OP_LLVM_push_iteration`).
    fn iteration(&self) -> Option<u64> {
        None
    }

    /// How many iterations there are at once (`DW_AT_LLVM_iterations`).
    fn iterations(&self) -> u64 {
        1
    }

    /// The program location of a frame (A.2.5.1): of the innermost the program counter, of others the call.
    /// Location lists are chosen from by it: it is an address as the file has them, without the
    /// [load bias](Self::load_bias).
    fn pc(&self, frame: u32) -> Option<u64> {
        let _ = frame;
        None
    }

    /// The canonical frame address of a frame, in whatever space it is, from call frame information
    /// (`DW_OP_call_frame_cfa`, A.6.4).
    fn cfa(&self, frame: u32) -> Option<Location> {
        let _ = frame;
        None
    }

    /// `DW_AT_frame_base` of the subprogram that a frame runs (`DW_OP_fbreg`, A.3.3.5). It is evaluated in
    /// that frame, and in the unit of that subprogram. `None` if it has none.
    fn frame_base(&self, frame: u32) -> Option<Entry<'_>> {
        let _ = frame;
        None
    }

    /// Where a register of an outer frame now is, by the rules of call frame information (A.2.5.4.4.4,
    /// A.6.4.1): `frame` is 1 or more. It can be a register, memory, a known value, parts of these; the
    /// undefined location where the rule says so. Where there is no rule, the architecture's default is meant (R
    /// A.2.5.4.4.1). `None` if that frame is not known.
    ///
    /// A machine that evaluates expressions of call frame information for this, in which
    /// `DW_OP_LLVM_call_frame_entry_reg` asks again, must see that this ends.
    fn saved(&self, reg: Reg, frame: u32) -> Option<Location> {
        let _ = (reg, frame);
        None
    }

    /// The current object (`DW_OP_push_object_address`), unless a [`Context`](super::Context) says another.
    fn object(&self) -> Option<Location> {
        None
    }

    /// Where the block of thread-local storage starts that belongs to the thread and the file of the
    /// expression, in the default space (`DW_OP_form_tls_address`).
    fn tls(&self) -> Option<u64> {
        None
    }

    /// By how many bytes the file of the expression is loaded above the addresses that it has (A.2.5.4.4.3, "A may need
    /// to be relocated"): `DW_OP_addr` and `DW_OP_addrx` add it to theirs. Constants, those of `DW_OP_constx` among
    /// them, stay (DWARF 5, 2.5.1.1). Lists are chosen from by addresses as the file has them, and so is
    /// [`pc`](Self::pc).
    fn load_bias(&self) -> u64 {
        0
    }

    /// An address in `.debug_addr`, by its index in the part that belongs to the unit (`DW_OP_addrx`,
    /// `DW_OP_constx`, location lists), as the file has it.
    fn debug_addr(&self, unit: u64, index: u64) -> Option<u64> {
        let _ = (unit, index);
        None
    }

    /// The base type that an entry of a unit describes; `offset` counts from the unit's header. `None` if
    /// there is no `DW_TAG_base_type` of that unit there.
    fn base_type(&self, unit: u64, offset: u64) -> Option<BaseType> {
        let _ = (unit, offset);
        None
    }

    /// The entry at an offset, for calls and implicit pointers (A.2.5.4.2, A.2.5.4.4.5): its
    /// `DW_AT_location`, or else its `DW_AT_const_value`. `None` if there is none.
    fn entry(&self, offset: u64) -> Option<Entry<'_>> {
        let _ = offset;
        None
    }

    /// What the caller of a frame says that it passed for a parameter (`DW_OP_GNU_parameter_ref`):
    /// `DW_AT_call_value` of that parameter of the call site where the caller stands. The parameter is an
    /// entry of the subprogram that was called, by its offset. `None` if the caller does not say.
    fn call_value(&self, parameter: u64, frame: u32) -> Option<Entry<'_>> {
        let _ = (parameter, frame);
        None
    }

    /// The type of the variable that an entry describes, as a base type (`DW_OP_GNU_variable_value`); a
    /// pointer's is [`Address`](super::TypeEncoding::Address). `None` if it has none, or no base type can
    /// stand for it.
    fn variable_type(&self, offset: u64) -> Option<BaseType> {
        let _ = offset;
        None
    }
}

/// The number in so many bytes that are read, at most 8.
#[inline]
fn word(
    bytes: u8,
    big_endian: bool,
    read: impl FnOnce(&mut [u8]) -> Result<(), Unavailable>,
) -> Result<u64, Unavailable> {
    let mut word = [0; 8];
    match (usize::from(bytes.min(8)), big_endian) {
        // Copies of a known length are quicker, and nearly all are of this one.
        (8, _) => read(&mut word)?,
        (len, false) => read(&mut word[..len])?,
        (len, true) => read(&mut word[8 - len..])?,
    }
    Ok(if big_endian { u64::from_be_bytes(word) } else { u64::from_le_bytes(word) })
}
