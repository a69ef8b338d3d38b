//! One frame in a call stack.

use std::rc::Rc;

use super::super::context::Context;
use super::super::debug_info::DebugInfo;
use super::super::fault::{Fault, error};
use super::super::location::Location;
use super::call_stack::{CallStack, Level};
use super::fault::UnwindResult;
use super::files::{FileMachine, info_of};
use crate::op::{Encoding, Reg};
use crate::read::{self, Cie, Fde, FrameRow, FrameSection};

/// A frame in a [`CallStack`].
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

    /// Returns how many frames are inward of this frame: 0 for the innermost. The number is the
    /// [`frame`](Context::frame) in a context.
    pub fn number(&self) -> u32 {
        self.level.number
    }

    /// Returns the program location (A.2.5.1), which selects location list entries: the program counter; in an outer
    /// frame the address before the return address, which is within the call.
    pub fn pc(&self) -> u64 {
        self.level.pc
    }

    /// Returns the next instruction's address in the file: the program counter, or the return address without the
    /// [load bias](super::super::Machine::load_bias).
    pub fn resumes_at(&self) -> u64 {
        self.level.resumes_at
    }

    /// Returns the debug information of the frame's file with the frame's subprogram, or else the first of the file.
    pub fn debug_info(&self) -> Option<&'a DebugInfo<'a, 'o>> {
        info_of(self.stack, &self.level)
    }

    /// Returns by how many bytes the frame's file is loaded above its addresses: [`pc`](Self::pc) and
    /// [`resumes_at`](Self::resumes_at) plus this number are loaded addresses.
    pub fn load_bias(&self) -> u64 {
        self.stack.file(self.level.file).load_bias
    }

    /// Returns where a variable, a parameter or a constant is in this frame. A variable without a location or a constant is
    /// at the undefined location, which means that it is optimized out, as is a variable whose bits are undefined.
    ///
    /// The entry is in a file that [`with_debug_info`](CallStack::with_debug_info) or
    /// [`with_module`](CallStack::with_module) added: that of the frame's function for a variable in a function, and any for
    /// other variables.
    ///
    /// # Errors
    /// An evaluation error for an entry in another file; the errors of
    /// [`Evaluator::variable_location`](super::super::Evaluator::variable_location).
    ///
    /// # Example
    ///
    /// ```
    /// # use eitri_dwarf::eval::{CallStack, DebugInfo, Snapshot, read_bits};
    /// # use eitri_dwarf::read::{Dwarf, FrameSection, Object};
    /// # let bytes = include_bytes!("../../../data/squares.o");
    /// # let object = Object::read(bytes)?;
    /// # let dwarf = Dwarf::read(&object)?;
    /// # let target = object.target(None).expect("a known machine");
    /// let mut process = Snapshot::default();
    /// process.pc = Some(dwarf.address_in("squares", 0x13)?);
    /// process.registers.insert(target.register_named("rax")?, 25_u64.to_le_bytes().into());
    ///
    /// let (info, sections) = (DebugInfo::new(&dwarf), [dwarf.frames(FrameSection::Debug)?]);
    /// let stack = CallStack::new(&process, &sections, &target).with_debug_info(&info);
    /// let frame = stack.innermost()?;
    /// let total = dwarf.variable_named("total", Some(frame.pc()))?;
    /// let location = frame.variable_location(total.located)?;
    /// assert_eq!(read_bits(&location, 32, &process)?.bytes, [25, 0, 0, 0]);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn variable_location(&self, entry: read::Entry<'_, '_>) -> Result<Location, Fault> {
        // The frame's own file first, as two modules can be the same file.
        let files = [self.level.file].into_iter().chain(0..=self.stack.others.len());
        let mut infos =
            files.flat_map(|file| self.stack.file(file).infos.iter().map(move |&info| (file, info)));
        // The entry again, with the lifetime of the call stack's files.
        let known = infos.find_map(|(file, info)| Some((file, info, info.own_entry(entry)?)));
        let Some((file, info, entry)) = known else {
            return Err(error("the entry is in a file whose debug information the call stack does not have"));
        };
        let machine = FileMachine { machine: self.stack, file, info: Some(info) };
        let unit = entry.unit();
        let context = Context { unit: unit.offset, ..self.context(unit.encoding) };
        self.stack.with_evaluator(|evaluator| info.locate(entry, evaluator, &machine, &context))
    }

    /// Returns the canonical frame address, in any space.
    ///
    /// # Errors
    /// A rule that cannot be followed.
    pub fn cfa(&self) -> UnwindResult<Location> {
        self.stack.cfa_of(&self.level)
    }

    /// Returns where a register's value is in this frame: the value that it has when the frame resumes. The result is
    /// a location in the stopped machine.
    ///
    /// # Errors
    /// Rules that cannot be followed.
    ///
    /// # Example
    ///
    /// ```
    /// # use eitri_dwarf::eval::{CallStack, Snapshot};
    /// # use eitri_dwarf::read::{Dwarf, FrameSection, Object};
    /// # use eitri_dwarf::target::SpaceId;
    /// # let bytes = include_bytes!("../../../data/squares.o");
    /// # let object = Object::read(bytes)?;
    /// # let dwarf = Dwarf::read(&object)?;
    /// # let target = object.target(None).expect("a known machine");
    /// # let rsp = target.register_named("rsp")?;
    /// # let mut machine = Snapshot::default();
    /// # machine.pc = Some(dwarf.address_in("squares", 0x13)?);
    /// # machine.registers.insert(rsp, 0x7000_u64.to_le_bytes().into());
    /// # machine.store(SpaceId::DEFAULT, None, 0x7000, &0x4000_u64.to_le_bytes());
    /// # let sections = [dwarf.frames(FrameSection::Debug)?];
    /// # let stack = CallStack::new(&machine, &sections, &target);
    /// # let caller = stack.frame(1)?.expect("a caller");
    /// // rbx is preserved and not saved: it is still in the register. rsp is the CFA, 0x7000 + 8,
    /// // and nowhere in storage.
    /// let rbx = caller.register(target.register_named("rbx")?)?;
    /// assert_eq!(rbx.in_names(&target).to_string(), "reg:rbx");
    /// assert_eq!(caller.register(rsp)?.to_string(), "implicit:0870000000000000");
    /// // rcx is not preserved by calls.
    /// let rcx = caller.register(target.register_named("rcx")?)?;
    /// assert_eq!(rcx.to_string(), "undefined");
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn register(&self, reg: Reg) -> UnwindResult<Location> {
        let location = self.stack.register_in(reg, self.number())?;
        location.ok_or_else(|| self.stack.unknown(self.number()))
    }

    /// Reads bytes from a register's value in this frame, from byte `at`; byte 0 is the least significant, as for
    /// [`Machine::register`](super::super::Machine::register) in the innermost frame. The call is faster than reading
    /// at [`register`](Self::register).
    ///
    /// # Errors
    /// * Rules that cannot be followed;
    /// * an evaluation error if the register has fewer bytes, or some are undefined;
    /// * unmapped if the bytes cannot be read.
    pub fn read_register(&self, reg: Reg, at: u32, into: &mut [u8]) -> UnwindResult<()> {
        self.stack.read_in(reg, self.number(), at, into)
    }

    /// Returns the location of a caller's register, by this frame's rules: the value that the register will have
    /// after the return. An entry function has such rules too, though it has no caller.
    ///
    /// # Errors
    /// Rules that cannot be followed.
    pub fn saved(&self, reg: Reg) -> UnwindResult<Location> {
        let caller = self.number().saturating_add(1);
        let location = self.stack.register_in(reg, caller)?;
        location.ok_or_else(|| self.stack.unknown(caller))
    }

    /// Returns the calling frame. `None` for the entry function, whose return address is undefined.
    ///
    /// # Errors
    /// * Call frame information that is missing or cannot be read;
    /// * a rule that is ill-formed, or cannot be followed on this machine;
    /// * an evaluation error if the frames form a cycle.
    pub fn step_out(&self) -> UnwindResult<Option<Self>> {
        self.stack.frame(self.number() + 1)
    }

    /// Returns the rules at the frame's pc, which locate its caller's registers. `None` if no call frame information
    /// covers the pc.
    ///
    /// # Errors
    /// Rules that cannot be read.
    pub fn row(&self) -> UnwindResult<Option<&FrameRow<'o>>> {
        Ok(self.level.row()?.map(|row| &row.row))
    }

    /// Returns these rules' section, and their entry with its common information entry.
    pub fn entry(&self) -> Option<(FrameSection, &'a Fde<'o>, &'a Cie<'o>)> {
        let row = self.level.row.as_ref().ok()?.as_ref()?;
        Some((row.frames.section, row.fde, row.cie()))
    }

    /// Whether the frame is a signal handler's trampoline: the frame outside was interrupted, without a call.
    pub fn is_signal(&self) -> bool {
        self.entry().is_some_and(|(_, _, cie)| cie.is_signal)
    }

    /// Returns a context for expressions in this frame, with the [`CallStack`] as machine, which answers for the file of the
    /// innermost frame. [`variable_location`](Self::variable_location) evaluates in the frame's own file.
    pub fn context(&self, encoding: Encoding) -> Context<'a> {
        Context { frame: self.number(), ..Context::new(encoding, self.stack.target) }
    }
}

/// Frames from the innermost outward: see [`CallStack::frames`].
#[derive(Debug)]
pub struct FramesOutward<'s, 'a, 'o> {
    stack: &'s CallStack<'a, 'o>,
    /// The next frame's number; `None` after the last frame, and after an error.
    next: Option<u32>,
    lane: Option<u32>,
}

impl<'s, 'a, 'o> FramesOutward<'s, 'a, 'o> {
    pub(super) fn new(stack: &'s CallStack<'a, 'o>, lane: Option<u32>) -> Self {
        Self { stack, next: Some(0), lane }
    }

    fn advance(&mut self) -> UnwindResult<Option<Frame<'s, 'a, 'o>>> {
        // Taken, so that an error ends the iteration.
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
    type Item = UnwindResult<Frame<'s, 'a, 'o>>;

    fn next(&mut self) -> Option<Self::Item> {
        self.advance().transpose()
    }
}

impl<'a, 'o> CallStack<'a, 'o> {
    /// Returns the innermost frame.
    ///
    /// # Errors
    /// An evaluation error if the machine has no program location.
    pub fn innermost(&self) -> UnwindResult<Frame<'_, 'a, 'o>> {
        self.level(0)?.map(|level| Frame::new(self, level)).ok_or_else(|| self.unknown(0))
    }

    /// Returns a frame, 0 the innermost. `None` if there are fewer frames.
    ///
    /// # Errors
    /// Errors from [`Frame::step_out`] for it and all frames inward of it.
    pub fn frame(&self, number: u32) -> UnwindResult<Option<Frame<'_, 'a, 'o>>> {
        Ok(self.level(number)?.map(|level| Frame::new(self, level)))
    }

    /// Returns all frames, the innermost first. The iteration ends after an error.
    pub fn frames(&self) -> FramesOutward<'_, 'a, 'o> {
        FramesOutward::new(self, None)
    }

    /// Returns a lane's frames: those whose subprograms were entered while it was active.
    pub fn frames_of_lane(&self, lane: u32) -> FramesOutward<'_, 'a, 'o> {
        FramesOutward::new(self, Some(lane))
    }
}
