//! Expressions evaluated on a caller's machine.

use std::cell::Cell;
use std::ffi::{c_char, c_int, c_void};

use eitri::conform::{Stop, VectorMachine, VectorTarget};
use eitri::eval::{Location, Machine, Unavailable};
use eitri::json::target;
use eitri::lower::Consumer;
use eitri::op::{Encoding, Reg, text as operations};
use eitri::target::{SpaceId, Target};

use crate::buffer::{eitri_buffer, put};
use crate::error::{Failure, eitri_error, eitri_result, run};
use crate::input::{array, optional_text, text};

/// Result of a machine's callback that does not have the bytes. 0 is success; any other number ends the evaluation
/// with EITRI_CALLBACK.
pub const EITRI_UNAVAILABLE: c_int = 1;

/// A stopped machine. All fields but `size` may be 0 or NULL: what a callback that is NULL would tell is unavailable. The
/// results must not change during an evaluation.
#[repr(C)]
#[derive(Debug, Clone, Copy)]
pub struct eitri_machine {
    /// `sizeof(eitri_machine)`.
    pub size: usize,
    /// First argument of the callbacks.
    pub context: *mut c_void,
    /// Reads `size` bytes of the register with a DWARF number, from byte `offset`; byte 0 is the least significant. Frame 0
    /// is the innermost, frame 1 its caller.
    pub read_register: Option<
        unsafe extern "C" fn(
            context: *mut c_void,
            number: u64,
            frame: u32,
            offset: u32,
            into: *mut u8,
            size: usize,
        ) -> c_int,
    >,
    /// Reads `size` bytes of an address space, by its DWARF number. `lane` is the lane whose memory it is, or -1 in a space
    /// that lanes share.
    pub read_memory: Option<
        unsafe extern "C" fn(
            context: *mut c_void,
            space: u64,
            lane: i64,
            address: u64,
            into: *mut u8,
            size: usize,
        ) -> c_int,
    >,
    /// Gives the canonical frame address of a frame: an address in a space.
    pub read_cfa: Option<
        unsafe extern "C" fn(context: *mut c_void, frame: u32, space: *mut u64, address: *mut u64) -> c_int,
    >,
    /// The current lane, counted from 0, if `has_lane` is not 0.
    pub lane: u64,
    /// The address in the file at which the machine is stopped, if `has_pc` is not 0.
    pub pc: u64,
    /// By how many bytes the file is loaded above its addresses.
    pub load_bias: u64,
    /// Whether there is a current lane.
    pub has_lane: u8,
    /// Whether the pc is known.
    pub has_pc: u8,
}

/// A caller's machine.
struct Callbacks<'a> {
    machine: &'a eitri_machine,
    target: &'a Target,
    /// Name and result of a callback that ended the evaluation.
    failure: Cell<Option<(&'static str, c_int)>>,
}

impl Callbacks<'_> {
    /// Returns the result of a callback, unless a callback has failed.
    fn result(&self, name: &'static str, call: impl FnOnce() -> c_int) -> Result<(), Unavailable> {
        if self.failure.get().is_some() {
            return Err(Unavailable);
        }
        match call() {
            0 => Ok(()),
            EITRI_UNAVAILABLE => Err(Unavailable),
            number => {
                self.failure.set(Some((name, number)));
                Err(Unavailable)
            }
        }
    }
}

impl Machine for Callbacks<'_> {
    fn register(&self, reg: Reg, frame: u32, at: u32, into: &mut [u8]) -> Result<(), Unavailable> {
        let callback = self.machine.read_register.ok_or(Unavailable)?;
        let context = self.machine.context;
        self.result("read_register", || {
            // SAFETY: the caller's callback takes the context.
            unsafe { callback(context, reg.0, frame, at, into.as_mut_ptr(), into.len()) }
        })
    }

    fn memory(
        &self,
        space: SpaceId,
        lane: Option<u32>,
        address: u64,
        into: &mut [u8],
    ) -> Result<(), Unavailable> {
        let callback = self.machine.read_memory.ok_or(Unavailable)?;
        let context = self.machine.context;
        let lane = lane.map_or(-1, i64::from);
        self.result("read_memory", || {
            // SAFETY: the caller's callback takes the context.
            unsafe { callback(context, space.0.into(), lane, address, into.as_mut_ptr(), into.len()) }
        })
    }

    fn cfa(&self, frame: u32) -> Option<Location> {
        let callback = self.machine.read_cfa?;
        let context = self.machine.context;
        let [mut space, mut address] = [0; 2];
        // SAFETY: the caller's callback takes the context.
        let call = || unsafe { callback(context, frame, &raw mut space, &raw mut address) };
        self.result("read_cfa", call).ok()?;
        let space = SpaceId(space.try_into().ok()?);
        let bits = self.target.space(space)?.address_bits;
        Some(Location::memory(space, bits, address))
    }

    fn is_big_endian(&self) -> bool {
        self.target.is_big_endian()
    }

    fn lane(&self) -> Option<u64> {
        (self.machine.has_lane != 0).then_some(self.machine.lane)
    }

    fn lanes(&self) -> u64 {
        self.target.lanes().into()
    }

    fn pc(&self, frame: u32) -> Option<u64> {
        (self.machine.has_pc != 0 && frame == 0).then_some(self.machine.pc)
    }

    fn load_bias(&self) -> u64 {
        self.machine.load_bias
    }
}

/// Returns the bytes of an expression in text, such as "regx v3; push_lane; lit4; mul; offset", in a new buffer. `target`
/// and `consumer` are as for `eitri_evaluate`.
///
/// # Safety
/// `expression` and `target` are texts, `consumer` is NULL or a text, and `bytes` can be written to.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn eitri_assemble(
    expression: *const c_char,
    target_name: *const c_char,
    consumer: *const c_char,
    bytes: *mut *mut eitri_buffer,
    error: *mut *mut eitri_error,
) -> eitri_result {
    let body = || {
        // SAFETY: of the caller.
        let (expression, name, consumer) = unsafe {
            (
                text(expression, "expression")?,
                text(target_name, "target")?,
                optional_text(consumer, "consumer")?,
            )
        };
        let target = target(name)?;
        let encoding = encoding(&target, consumer)?;
        let make = || Ok(operations::parse(expression, encoding, Some(&target))?.bytes().to_vec().into());
        // SAFETY: of the caller.
        unsafe { put(bytes, "bytes", make) }
    };
    // SAFETY: of the caller.
    unsafe { run(error, body) }
}

/// Returns how expressions for a consumer are encoded.
fn encoding(target: &Target, consumer: Option<&str>) -> Result<Encoding, Failure> {
    Ok(Consumer::chosen(consumer, target)?.encoding_on(target))
}

/// Evaluates an expression on a machine, by the specification to the letter. The result is a text in the notation of
/// conformance vectors, such as "location reg:v3+160, bytes 05 45 85 c5", in a new buffer. An expression that cannot be
/// evaluated is a result too: "error: ...". At a location, `bits` bits are read; 0 reads none. `target` is a target's name
/// or its facts in JSON, and `consumer` names the dialect, as in `eitri_options`; NULL is the target's default.
///
/// # Safety
/// `expression` points to `size` bytes; `target` is a text, `consumer` is NULL or a text; `machine` points to a machine
/// whose callbacks take its context; `result` can be written to.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn eitri_evaluate(
    expression: *const u8,
    size: usize,
    target_name: *const c_char,
    consumer: *const c_char,
    machine: *const eitri_machine,
    bits: u64,
    result: *mut *mut eitri_buffer,
    error: *mut *mut eitri_error,
) -> eitri_result {
    let body = || {
        // SAFETY: of the caller.
        let expression = unsafe { array(expression, size, "expression") }?;
        // SAFETY: of the caller.
        let (name, consumer) =
            unsafe { (text(target_name, "target")?, optional_text(consumer, "consumer")?) };
        // SAFETY: of the caller.
        let machine = unsafe { array(machine, 1, "machine") }?;
        let machine = &machine[0];
        if machine.size != size_of::<eitri_machine>() {
            let expected = size_of::<eitri_machine>();
            return Err(Failure::argument(format!(
                "`machine` has the size {}; expected sizeof(eitri_machine), {expected}",
                machine.size
            )));
        }
        let target = target(name)?;
        let encoding = encoding(&target, consumer)?;
        let callbacks = Callbacks { machine, target: &target, failure: Cell::new(None) };
        let make = || {
            let (machine, target) = (VectorMachine::default(), VectorTarget::from(target.clone()));
            let stop = Stop::new(expression, &machine, encoding, &target);
            let stop = stop.with_machine(&callbacks).with_bits(Some(bits));
            let found = stop.answer();
            match callbacks.failure.get() {
                Some((name, number)) => Err(Failure::Callback(name, number)),
                None => Ok(stop.text(&found, LONGEST_TEXT).into()),
            }
        };
        // SAFETY: of the caller.
        unsafe { put(result, "result", make) }
    };
    // SAFETY: of the caller.
    unsafe { run(error, body) }
}

/// Maximum size of a result's text in bytes, approximately.
const LONGEST_TEXT: usize = 1 << 20;
