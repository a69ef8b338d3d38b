//! One frame of a call stack.

use std::rc::Rc;

use super::super::Context;
use super::super::location::Location;
use super::level::Level;
use super::{CallStack, Result};
use crate::op::{Encoding, Reg};
use crate::read::{Cie, Fde, FrameRow, FrameSection};

/// A frame of a [`CallStack`].
#[derive(Clone)]
pub struct Frame<'s, 'a, 'o> {
    pub(super) stack: &'s CallStack<'a, 'o>,
    pub(super) level: Rc<Level<'a, 'o>>,
}

impl core::fmt::Debug for Frame<'_, '_, '_> {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        self.level.fmt(f)
    }
}

impl<'s, 'a, 'o> Frame<'s, 'a, 'o> {
    pub(super) fn new(stack: &'s CallStack<'a, 'o>, level: Rc<Level<'a, 'o>>) -> Self {
        Self { stack, level }
    }

    /// How many frames are inward of it: 0 of the innermost. It is the [`frame`](Context::frame) of a context.
    pub fn number(&self) -> u32 {
        self.level.number
    }

    /// Its program location (A.2.5.1), by which location lists are chosen from: the program counter; in an outer
    /// frame that of the call, a byte of which is before the return address.
    pub fn pc(&self) -> u64 {
        self.level.pc
    }

    /// The address of the instruction that is executed next in it, as the file has it: the program counter, or the
    /// return address without the [load bias](super::super::Machine::load_bias).
    pub fn resumes_at(&self) -> u64 {
        self.level.resumes_at
    }

    /// Its canonical frame address, in whatever space it is.
    ///
    /// # Errors
    /// If its rule cannot be followed.
    pub fn cfa(&self) -> Result<Location> {
        self.stack.cfa_of(&self.level)
    }

    /// Where a register is as this frame sees it: what it holds when the frame goes on. It is a location of the
    /// machine that is stopped.
    ///
    /// # Errors
    /// If the rules cannot be followed.
    pub fn register(&self, reg: Reg) -> Result<Location> {
        let found = self.stack.register_in(reg, self.number())?;
        found.ok_or_else(|| self.stack.unknown(self.number()))
    }

    /// Reads from a register as this frame sees it, from byte `at` on, the least significant byte being 0, as
    /// [`Machine::register`](super::super::Machine::register) does in the innermost frame. It is the short way to what
    /// stands at [`register`](Self::register).
    ///
    /// # Errors
    /// * If the rules cannot be followed;
    /// * an evaluation error if the register has not so many bytes, or some of them are undefined;
    /// * unmapped if they cannot be read.
    pub fn read_register(&self, reg: Reg, at: u32, into: &mut [u8]) -> Result<()> {
        self.stack.read_in(reg, self.number(), at, into)
    }

    /// Where a register of its caller is, by the rules of this frame: what the register will hold when the frame is
    /// left. An entry function has such rules too, though it has no caller.
    ///
    /// # Errors
    /// If the rules cannot be followed.
    pub fn saved(&self, reg: Reg) -> Result<Location> {
        let caller = self.number().saturating_add(1);
        let found = self.stack.register_in(reg, caller)?;
        found.ok_or_else(|| self.stack.unknown(caller))
    }

    /// The frame that called it. `None` if it is the entry function, whose return address is undefined.
    ///
    /// # Errors
    /// * If there is no call frame information for it, or it cannot be read;
    /// * if a rule of it is ill-formed, or cannot be followed on this machine;
    /// * an evaluation error if the frames would go round in a circle.
    pub fn step_out(&self) -> Result<Option<Self>> {
        self.stack.frame(self.number() + 1)
    }

    /// The rules that hold at its pc, which say where the registers of its caller are. `None` if no call frame
    /// information has code there.
    ///
    /// # Errors
    /// If they cannot be read.
    pub fn row(&self) -> Result<Option<&FrameRow<'o>>> {
        Ok(self.level.row()?.map(|row| &row.row))
    }

    /// Where these rules stand: the section, and the entry with its common part.
    pub fn entry(&self) -> Option<(FrameSection, &'a Fde<'o>, &'a Cie<'o>)> {
        let row = self.level.row.as_ref().ok()?.as_ref()?;
        Some((row.frames.section, row.fde, row.cie()))
    }

    /// Whether it is the frame of a signal handler's trampoline: what called it was interrupted, and has made no
    /// call.
    pub fn is_signal(&self) -> bool {
        self.entry().is_some_and(|(_, _, cie)| cie.is_signal)
    }

    /// The context for expressions of this frame, to evaluate with the [`CallStack`] as machine.
    pub fn context(&self, encoding: Encoding) -> Context<'a> {
        Context { frame: self.number(), ..Context::new(encoding, self.stack.target) }
    }
}

/// Frames, the innermost first: see [`CallStack::frames`].
#[derive(Debug)]
pub struct FramesOutward<'s, 'a, 'o> {
    stack: &'s CallStack<'a, 'o>,
    /// The number of the next; `None` after the last, and after an error.
    next: Option<u32>,
    lane: Option<u32>,
}

impl<'s, 'a, 'o> FramesOutward<'s, 'a, 'o> {
    pub(super) fn new(stack: &'s CallStack<'a, 'o>, lane: Option<u32>) -> Self {
        Self { stack, next: Some(0), lane }
    }

    fn advance(&mut self) -> Result<Option<Frame<'s, 'a, 'o>>> {
        while let Some(number) = self.next.take() {
            let Some(frame) = self.stack.frame(number)? else { break };
            let has_lane = self.lane.map_or(Ok(true), |lane| frame.has_lane(lane))?;
            self.next = Some(number + 1);
            if has_lane {
                return Ok(Some(frame));
            }
        }
        Ok(None)
    }
}

impl<'s, 'a, 'o> Iterator for FramesOutward<'s, 'a, 'o> {
    type Item = Result<Frame<'s, 'a, 'o>>;

    fn next(&mut self) -> Option<Self::Item> {
        self.advance().transpose()
    }
}
