//! Unwinding: from the innermost frame outward, by the rules of call frame information (A.6.4).
//!
//! ```text
//!  Machine (frame 0) ─┐
//!  Frames ────────────┼─► CallStack ──► Frame 0 ──► Frame 1 ──► … ──► the entry function
//!  Architecture ──────┘      │           pc, cfa, where each register is, in which lanes it is
//!                            └─► is a Machine: expressions of any frame can be evaluated
//! ```
//!
//! A [`CallStack`] stands before the [`Machine`] that is stopped. Where a register of an outer frame is, comes from
//! the rules; what stands there, from that machine. So a location that is found for an outer frame is one of the
//! machine's own, and can be read and written there.
//!
//! ```
//! use eitri::eval::{CallStack, Snapshot, read_bits};
//! use eitri::op::{Dialect, Encoding, Reg};
//! use eitri::read::{FrameSection, Frames, Sections};
//! use eitri::target::{SpaceId, Target};
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

pub use fault::{Column, UnwindFault, Why};
pub use frame::{Frame, FramesOutward};

use core::cell::RefCell;
use std::rc::Rc;

use super::debug_info::DebugInfo;
use super::fault::{Fault, error};
use super::forward::forward;
use super::location::Location;
use super::machine::{Architecture, Machine};
use super::{Context, Evaluator, Limits};
use crate::op::Reg;
use crate::read::{Frames, KnownRows};
use level::{Level, Outward};

/// The result of what unwinds.
pub type Result<T, E = Box<UnwindFault>> = core::result::Result<T, E>;

/// The frames of a stopped thread, found by call frame information.
///
/// It is a [`Machine`]: that of the innermost frame, which knows its callers too. Frames are found when they are
/// asked for, and rules are followed when a register is. What has been found is kept, so the machine behind it
/// must not change meanwhile.
///
/// * Pcs are addresses as the file has them, by which rules are looked up. A return address is where the file is loaded,
///   so the [load bias](Machine::load_bias) is subtracted from it.
/// * A pc is looked up as it is in the innermost frame, and where a frame of a signal handler was interrupted; in
///   other frames it is the call's, which is before the return address (DWARF 5, section 6.4.4).
/// * Where no rule says what becomes of a register, it is as the caller left it
///   ([same value](crate::read::Rule::SameValue)); the [register](Architecture::cfa_register) that is the canonical
///   frame address by the architecture's rules is that.
/// * The last frame is the one whose return address is undefined.
pub struct CallStack<'a, 'o> {
    machine: &'a dyn Machine,
    sections: &'a [Frames<'o>],
    target: &'a dyn Architecture,
    info: Option<&'a DebugInfo<'a, 'o>>,
    frame_limit: u32,
    limits: Limits,
    own_rows: KnownRows<'o>,
    /// Rows that are known already, instead of its own.
    shared_rows: Option<&'a KnownRows<'o>>,
    /// The frames that were found so far, and what is outward of the last.
    levels: RefCell<Vec<Rc<Level<'a, 'o>>>>,
    outward: RefCell<Outward>,
    /// What is being found out, each because of the one before.
    asking: RefCell<Vec<(u32, Column)>>,
    /// Why a question that an expression asked had no answer.
    cause: RefCell<Option<Box<UnwindFault>>>,
    /// Evaluators with their stacks; one for each expression within an expression.
    evaluators: RefCell<Vec<Evaluator>>,
}

/// Frames of a call stack, unless [`CallStack::with_frame_limit`] says otherwise.
const MOST_FRAMES: u32 = 1 << 16;
/// Rules that ask for other rules.
const MOST_ASKING: usize = 48;

impl<'a, 'o> CallStack<'a, 'o> {
    /// The call stack of a machine. Where several sections have an entry for a pc, the first is taken: those of
    /// other files than the first, and `.eh_frame` beside `.debug_frame`. Their addresses are those of the
    /// machine's [`pc`](Machine::pc): with a [load bias](Machine::load_bias), addresses as one file has them.
    /// Files with several biases are read with [`eh_frame_address`](crate::read::Sections::eh_frame_address) as each is
    /// loaded, and the machine's bias is 0.
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
            asking: RefCell::default(),
            cause: RefCell::default(),
            evaluators: RefCell::default(),
        }
    }

    /// The same with the debug information of the file, which says where the lanes of a frame are.
    #[must_use]
    pub fn with_debug_info(mut self, info: &'a DebugInfo<'a, 'o>) -> Self {
        self.info = Some(info);
        self
    }

    /// The same with another limit of frames; 65 536 otherwise. Beyond is an evaluation error.
    #[must_use]
    pub fn with_frame_limit(mut self, frames: u32) -> Self {
        self.frame_limit = frames;
        self
    }

    /// The same with other limits of each expression in its rules.
    #[must_use]
    pub fn with_limits(mut self, limits: Limits) -> Self {
        self.limits = limits;
        self
    }

    /// The same with rows that call stacks of the same sections share.
    #[must_use]
    pub(crate) fn with_known_rows(mut self, rows: &'a KnownRows<'o>) -> Self {
        self.shared_rows = Some(rows);
        self
    }

    /// The address in the file of a loaded address: without the load bias, modulo the size of an address.
    fn of_file(&self, loaded: u64, address_bytes: u8) -> u64 {
        let unused = 64u32.saturating_sub(u32::from(address_bytes) * 8).min(63);
        loaded.wrapping_sub(self.machine.load_bias()) & u64::MAX >> unused
    }

    fn known_rows(&self) -> &KnownRows<'o> {
        self.shared_rows.unwrap_or(&self.own_rows)
    }

    /// The frame that is executed.
    ///
    /// # Errors
    /// An evaluation error if the machine has no program location.
    pub fn innermost(&self) -> Result<Frame<'_, 'a, 'o>> {
        self.level(0)?.map(|level| Frame::new(self, level)).ok_or_else(|| self.unknown(0))
    }

    /// A frame, 0 the innermost. `None` if there are not so many.
    ///
    /// # Errors
    /// As [`Frame::step_out`], of it and of all frames before it.
    pub fn frame(&self, number: u32) -> Result<Option<Frame<'_, 'a, 'o>>> {
        Ok(self.level(number)?.map(|level| Frame::new(self, level)))
    }

    /// All frames, the innermost first. After an error there is none.
    pub fn frames(&self) -> FramesOutward<'_, 'a, 'o> {
        FramesOutward::new(self, None)
    }

    /// The frames that a lane is in: those whose subprograms were entered when it was active.
    pub fn frames_of_lane(&self, lane: u32) -> FramesOutward<'_, 'a, 'o> {
        FramesOutward::new(self, Some(lane))
    }

    /// Does something with an evaluator that no expression is using.
    fn with_evaluator<T>(&self, then: impl FnOnce(&mut Evaluator) -> T) -> T {
        let idle = self.evaluators.borrow_mut().pop();
        let mut evaluator = idle.unwrap_or_else(|| Evaluator::new().with_limits(self.limits));
        let result = then(&mut evaluator);
        self.evaluators.borrow_mut().push(evaluator);
        result
    }

    /// Does something for a column, unless it is being done already.
    fn ask<T>(&self, level: &Level<'a, 'o>, column: Column, then: impl FnOnce() -> Result<T>) -> Result<T> {
        let asked = (level.number, column);
        {
            let mut asking = self.asking.borrow_mut();
            if asking.contains(&asked) {
                return Err(level.fault(Some(column), super::fault::ill_formed(
                    "the rule asks for itself: a cyclic dependency in the call frame information (A.6.4.1)",
                )));
            }
            if asking.len() >= MOST_ASKING {
                let rule = format!("rules that ask for rules, {MOST_ASKING} deep");
                return Err(level.fault(Some(column), error(rule)));
            }
            asking.push(asked);
        }
        let result = then();
        self.asking.borrow_mut().pop();
        result
    }

    /// Evaluates something in a frame. What stopped it can be a fault in the rules of another frame.
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

    /// What an expression asked: an answer, or none and the reason kept.
    fn answer<T>(&self, found: Result<Option<T>>) -> Option<T> {
        found.unwrap_or_else(|fault| {
            self.cause.replace(Some(fault));
            None
        })
    }

    #[cold]
    fn unknown(&self, frame: u32) -> Box<UnwindFault> {
        let why = Why::Fault(error("there is no such frame"));
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
        entry call_value variable_type
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
