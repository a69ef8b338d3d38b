//! Unwinding: from the innermost frame outward, by the rules of call frame information (A.6.4).
//!
//! ```text
//!  Machine (frame 0) ─┐
//!  Frames ────────────┼─► CallStack ──► Frame 0 ──► Frame 1 ──► … ──► the entry function
//!  Architecture ──────┘      │           pc, cfa, where each register is, in which lanes it is
//!                            └─► is a Machine: expressions of any frame can be evaluated
//! ```
//!
//! A [`CallStack`] wraps the stopped [`Machine`]. The rules locate the registers of outer frames, and that machine has
//! their contents. A location found for an outer frame is therefore one of the machine's own, and can be read and
//! written there.
//!
//! ```
//! use eitri_dwarf::eval::{CallStack, Snapshot, read_bits};
//! use eitri_dwarf::op::{Dialect, Encoding, Reg};
//! use eitri_dwarf::read::{FrameSection, Frames, Sections};
//! use eitri_dwarf::target::{SpaceId, Target};
//!
//! // A function at 0x1000: rbx is saved at CFA-16, the return address stands at CFA-8. That of its caller, at
//! // 0x2000, is undefined: it is the entry function.
//! let section: Vec<u8> = [
//!     [&[16, 0, 0, 0, 0xff, 0xff, 0xff, 0xff, 4, 0, 8, 0, 1, 0x78, 16][..], &[0x0c, 7, 8, 0x90, 1]].concat(),
//!     [&[28, 0, 0, 0, 0, 0, 0, 0, 0, 0x10, 0, 0, 0, 0, 0, 0, 16][..], &[0; 7], &[0x0e, 16, 0x83, 2, 0, 0, 0, 0]].concat(),
//!     [&[28, 0, 0, 0, 0, 0, 0, 0, 0, 0x20, 0, 0, 0, 0, 0, 0, 16][..], &[0; 7], &[0x07, 16, 0, 0, 0, 0, 0, 0]].concat(),
//! ]
//! .concat();
//! let sections = Sections { debug_frame: &section, ..Sections::default() };
//! let frames = [Frames::read(&sections, FrameSection::Debug, Encoding::new(8, Dialect::Dwarf5))?];
//!
//! let mut machine = Snapshot { pc: Some(0x1004), ..Snapshot::default() };
//! machine.registers.insert(Reg(7), 0x7000u64.to_le_bytes().to_vec());
//! machine.store(SpaceId::DEFAULT, None, 0x7000, &0x1122u64.to_le_bytes());
//! machine.store(SpaceId::DEFAULT, None, 0x7008, &0x2005u64.to_le_bytes());
//!
//! let target = Target::x86_64();
//! let stack = CallStack::new(&machine, &frames, &target);
//! let caller = stack.innermost()?.step_out()?.expect("a caller");
//! assert_eq!((caller.resumes_at(), caller.pc()), (0x2005, 0x2004));
//! let rbx = caller.register(Reg(3))?;
//! assert_eq!(rbx.to_string(), "mem:0:0x7000");
//! assert_eq!(read_bits(&rbx, 64, &machine)?.bytes, 0x1122u64.to_le_bytes());
//! assert!(caller.step_out()?.is_none());
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod fault;
mod frame;
mod lanes;
mod level;
mod rules;

pub use fault::{Cause, Column, UnwindFault};
pub use frame::{Frame, FramesOutward};

use core::cell::RefCell;
use std::rc::Rc;

use hashbrown::HashMap;

use super::debug_info::DebugInfo;
use super::fault::{Fault, error};
use super::forward::forward;
use super::location::Location;
use super::machine::{Architecture, Machine};
use super::{Context, Evaluator, Limits};
use crate::op::Reg;
use crate::read::{Frames, KnownRows};
use level::{Level, Outward};

/// Result of unwinding.
pub type Result<T, E = Box<UnwindFault>> = core::result::Result<T, E>;

/// The frames of a stopped thread, found by call frame information.
///
/// A call stack is a [`Machine`]: that of the innermost frame, which also knows its callers. Frames are found and rules
/// are followed on demand. Results are cached, so the wrapped machine must not change meanwhile.
///
/// * Pcs are addresses of the file, for looking up rules. A return address is a loaded address, so the [load
///   bias](Machine::load_bias) is subtracted from it.
/// * The lookup uses the exact pc in the innermost frame and in a frame interrupted by a signal; in other frames it
///   uses the pc of the call, before the return address (DWARF 5, section 6.4.4).
/// * A register without a rule is as the caller left it ([same value](crate::read::Rule::SameValue)) if the calling
///   convention has functions [preserve](Architecture::preserved_bits) it, and undefined if not. The
///   [register](Architecture::cfa_register) that the architecture defines as the canonical frame address is that
///   address.
/// * The last frame is the one with an undefined return address.
pub struct CallStack<'a, 'o> {
    machine: &'a dyn Machine,
    sections: &'a [Frames<'o>],
    target: &'a dyn Architecture,
    info: Option<&'a DebugInfo<'a, 'o>>,
    frame_limit: u32,
    limits: Limits,
    own_rows: KnownRows<'o>,
    /// Cached rows of the sections, used instead of its own.
    shared_rows: Option<&'a KnownRows<'o>>,
    /// Frames found so far. `outward` is the state of the search after the last one.
    levels: RefCell<Vec<Rc<Level<'a, 'o>>>>,
    outward: RefCell<Outward>,
    /// Numbers of the frames whose inner frames' expression rules for a register were followed.
    followed: RefCell<HashMap<Reg, u32>>,
    /// Columns being computed, each because of the previous one.
    asking: RefCell<Vec<(u32, Column)>>,
    /// Fault that caused a missing answer to an expression.
    cause: RefCell<Option<Box<UnwindFault>>>,
    /// Idle evaluators with their stacks; one is in use for each nested expression.
    evaluators: RefCell<Vec<Evaluator>>,
}

/// Default of [`CallStack::with_frame_limit`].
const MOST_FRAMES: u32 = 1 << 16;
/// Maximum nesting of rules that depend on other rules.
const MOST_ASKING: usize = 48;

impl<'a, 'o> CallStack<'a, 'o> {
    /// Returns the call stack of a machine. Where several sections have an entry for a pc, the first section is used:
    /// sections can be those of several files, or `.eh_frame` beside `.debug_frame`. Addresses in the sections are
    /// those of the machine's [`pc`](Machine::pc): with a [load bias](Machine::load_bias), addresses of one file. To
    /// combine files with different biases, read each with its loaded
    /// [`eh_frame_address`](crate::read::Sections::eh_frame_address), and give the machine a bias of 0.
    pub fn new(machine: &'a dyn Machine, sections: &'a [Frames<'o>], target: &'a dyn Architecture) -> Self {
        Self {
            machine,
            sections,
            target,
            info: None,
            frame_limit: MOST_FRAMES,
            limits: Limits::default(),
            own_rows: KnownRows::default(),
            shared_rows: None,
            levels: RefCell::default(),
            outward: RefCell::new(Outward::Unknown),
            followed: RefCell::default(),
            asking: RefCell::default(),
            cause: RefCell::default(),
            evaluators: RefCell::default(),
        }
    }

    /// Adds the debug information of the file, which locates the lanes of a frame.
    #[must_use]
    pub fn with_debug_info(mut self, info: &'a DebugInfo<'a, 'o>) -> Self {
        self.info = Some(info);
        self
    }

    /// Sets the maximum number of frames, 65 536 by default. Exceeding it is an evaluation error.
    #[must_use]
    pub fn with_frame_limit(mut self, frames: u32) -> Self {
        self.frame_limit = frames;
        self
    }

    /// Sets the limits of each expression in the rules.
    #[must_use]
    pub fn with_limits(mut self, limits: Limits) -> Self {
        self.limits = limits;
        self
    }

    /// Shares cached rows with other call stacks of the same sections.
    #[must_use]
    #[doc(hidden)]
    pub fn with_known_rows(mut self, rows: &'a KnownRows<'o>) -> Self {
        self.shared_rows = Some(rows);
        self
    }

    /// Converts a loaded address to an address of the file: without the load bias, modulo the size of an address.
    fn of_file(&self, loaded: u64, address_bytes: u8) -> u64 {
        let unused = 64u32.saturating_sub(u32::from(address_bytes) * 8).min(63);
        loaded.wrapping_sub(self.machine.load_bias()) & u64::MAX >> unused
    }

    fn known_rows(&self) -> &KnownRows<'o> {
        self.shared_rows.unwrap_or(&self.own_rows)
    }

    /// Returns the innermost frame.
    ///
    /// # Errors
    /// An evaluation error if the machine has no program location.
    pub fn innermost(&self) -> Result<Frame<'_, 'a, 'o>> {
        self.level(0)?.map(|level| Frame::new(self, level)).ok_or_else(|| self.unknown(0))
    }

    /// Returns a frame, 0 the innermost. `None` if there are fewer frames.
    ///
    /// # Errors
    /// The errors of [`Frame::step_out`] for it and all frames inward of it.
    pub fn frame(&self, number: u32) -> Result<Option<Frame<'_, 'a, 'o>>> {
        Ok(self.level(number)?.map(|level| Frame::new(self, level)))
    }

    /// Returns all frames, the innermost first. The iteration ends after an error.
    pub fn frames(&self) -> FramesOutward<'_, 'a, 'o> {
        FramesOutward::new(self, None)
    }

    /// Returns the frames of a lane: those whose subprograms were entered while it was active.
    pub fn frames_of_lane(&self, lane: u32) -> FramesOutward<'_, 'a, 'o> {
        FramesOutward::new(self, Some(lane))
    }

    /// Calls `then` with an idle evaluator.
    fn with_evaluator<T>(&self, then: impl FnOnce(&mut Evaluator) -> T) -> T {
        let idle = self.evaluators.borrow_mut().pop();
        let mut evaluator = idle.unwrap_or_else(|| Evaluator::new().with_limits(self.limits));
        let result = then(&mut evaluator);
        self.evaluators.borrow_mut().push(evaluator);
        result
    }

    /// Calls `then` for a column, unless it is already being computed.
    fn ask<T>(&self, level: &Level<'a, 'o>, column: Column, then: impl FnOnce() -> Result<T>) -> Result<T> {
        let asked = (level.number, column);
        {
            let mut asking = self.asking.borrow_mut();
            if asking.contains(&asked) {
                return Err(level.fault(
                    Some(column),
                    super::fault::ill_formed(
                        "a rule cannot depend on itself (A.6.4.1): the call frame information is cyclic",
                    ),
                ));
            }
            if asking.len() >= MOST_ASKING {
                let rule = format!("rules depend on each other at most {MOST_ASKING} levels deep");
                return Err(level.fault(Some(column), error(rule)));
            }
            asking.push(asked);
        }
        let result = then();
        self.asking.borrow_mut().pop();
        result
    }

    /// Evaluates in a frame. The resulting fault can be that of a rule in another frame.
    fn evaluate<T>(
        &self,
        level: &Level<'a, 'o>,
        column: Column,
        context: &Context<'_>,
        then: impl FnOnce(&mut Evaluator, &Context<'_>) -> core::result::Result<T, Fault>,
    ) -> Result<T> {
        let outer = self.cause.take();
        let result = self.with_evaluator(|evaluator| then(evaluator, context));
        let cause = self.cause.replace(outer);
        result.map_err(|fault| cause.unwrap_or_else(|| level.fault(Some(column), fault)))
    }

    /// Returns the answer to an expression's request, and keeps the fault of a missing one.
    fn answer<T>(&self, found: Result<Option<T>>) -> Option<T> {
        found.unwrap_or_else(|fault| {
            self.cause.replace(Some(fault));
            None
        })
    }

    #[cold]
    fn unknown(&self, frame: u32) -> Box<UnwindFault> {
        let why = Cause::Fault(error("the frame does not exist"));
        Box::new(UnwindFault { frame, pc: None, entry: None, column: None, rule: None, why })
    }
}

impl core::fmt::Debug for CallStack<'_, '_> {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        f.debug_struct("CallStack").field("levels", &self.levels).finish_non_exhaustive()
    }
}

impl Machine for CallStack<'_, '_> {
    forward! {
        register memory is_big_endian lane lanes iteration iterations frame_base object tls load_bias debug_addr base_type
        entry call_value entry_value variable_type
    }

    fn pc(&self, frame: u32) -> Option<u64> {
        match frame {
            0 => self.machine.pc(0),
            _ => self.answer(self.level(frame)).map(|level| level.pc),
        }
    }

    fn cfa(&self, frame: u32) -> Option<Location> {
        let level = self.answer(self.level(frame))?;
        if level.row.as_ref().is_ok_and(Option::is_none) {
            return self.machine.cfa(frame);
        }
        self.answer(self.cfa_of(&level).map(Some))
    }

    fn saved(&self, reg: Reg, frame: u32) -> Option<Location> {
        self.answer(self.register_in(reg, frame))
    }
}
