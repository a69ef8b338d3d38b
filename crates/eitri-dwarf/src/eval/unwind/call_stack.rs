//! The call stack: its frames, each with what is known about it, and the search for the next frame.

use core::cell::{OnceCell, RefCell};
use std::rc::Rc;

use hashbrown::HashMap;
use smallvec::SmallVec;

use super::super::architecture::Architecture;
use super::super::context::Context;
use super::super::debug_info::DebugInfo;
use super::super::evaluator::Evaluator;
use super::super::fault::{Fault, error, ill_formed, unsupported};
use super::super::limits::Limits;
use super::super::location::{Location, Storage};
use super::super::machine::Machine;
use super::super::value::{BaseType, TypeEncoding};
use super::fault::{Cause, FrameColumn, UnwindFault, UnwindResult, cfa_text, rule_text};
use crate::error::Count;
use crate::op::Reg;
use crate::read::{Cie, Fde, FrameRow, Frames, KnownRows, RegisterRule, renumber};

/// A stopped thread's frames, found by call frame information.
///
/// A call stack is a [`Machine`]: the innermost frame's machine, which also knows its callers. Frames are found and
/// rules are followed on demand. Results are cached, so that the wrapped machine must not change meanwhile.
///
/// * Pcs are addresses in the frame's file, because they look up rules. A return address is a loaded address, so that the
///   [load bias](Machine::load_bias) is subtracted from it. A process has several files: see
///   [`with_module`](Self::with_module).
/// * The lookup uses the exact pc in the innermost frame and in a frame interrupted by a signal; in other frames it
///   uses the call's pc, before the return address (DWARF 5, section 6.4.4).
/// * A register without a rule is as the caller left it ([same value](crate::read::RegisterRule::SameValue)) if the
///   architecture [preserves](Architecture::preserved_bits) it, and undefined if not: on CPUs by the calling convention, on
///   AMDGPU every register. The [register](Architecture::cfa_register) that the architecture defines as the canonical frame address is that
///   address.
/// * The last frame has an undefined return address.
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
/// // Stopped in `squares`, which was called from address 0x3ffb: the return address is at the
/// // top of the stack.
/// let mut machine = Snapshot::default();
/// machine.pc = Some(dwarf.address_in("squares", 0x13)?);
/// machine.registers.insert(rsp, 0x7000_u64.to_le_bytes().into());
/// machine.store(SpaceId::DEFAULT, None, 0x7000, &0x4000_u64.to_le_bytes());
///
/// let sections = [dwarf.frames(FrameSection::Debug)?];
/// let stack = CallStack::new(&machine, &sections, &target);
/// let caller = stack.frame(1)?.expect("a caller");
/// assert_eq!(caller.resumes_at(), 0x4000);
/// // Nothing in the file has code at 0x4000: the frames end with an error, which says so.
/// let frames: Vec<_> = stack.frames().collect();
/// assert!(matches!(&frames[..], [Ok(_), Ok(_), Err(_)]));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub struct CallStack<'a, 'o> {
    pub(super) machine: &'a dyn Machine,
    /// The machine's file.
    pub(super) main: LoadedFile<'a, 'o>,
    /// Further files, each with a load bias.
    pub(super) others: Vec<LoadedFile<'a, 'o>>,
    pub(super) target: &'a dyn Architecture,
    pub(super) is_at_return_address: bool,
    pub(super) frame_limit: u32,
    pub(super) limits: Limits,
    pub(super) own_rows: KnownRows<'o>,
    /// The sections' cached rows, used instead of its own.
    pub(super) shared_rows: Option<&'a KnownRows<'o>>,
    /// Frames found so far. `outward` is the search state after the last frame.
    pub(super) levels: RefCell<Vec<Rc<Level<'a, 'o>>>>,
    pub(super) outward: RefCell<Outward>,
    /// By register, the number of the frame up to which inner frames' expression rules were followed.
    pub(super) followed: RefCell<HashMap<Reg, u32>>,
    /// Columns being computed, each because the previous column needs it.
    pub(super) asking: RefCell<Vec<(u32, FrameColumn)>>,
    /// Fault that caused a missing answer to an expression.
    pub(super) cause: RefCell<Option<Box<UnwindFault>>>,
    /// Idle evaluators with their stacks; one is in use for each nested expression.
    pub(super) evaluators: RefCell<Vec<Evaluator>>,
}

/// Default of [`CallStack::with_frame_limit`].
const MOST_FRAMES: u32 = 1 << 16;
/// Maximum nesting for rules that depend on other rules.
const MOST_ASKING: usize = 48;

impl<'a, 'o> CallStack<'a, 'o> {
    /// Returns a machine's call stack. Where several sections have an entry for a pc, the first section is used:
    /// `.eh_frame` can be beside `.debug_frame`. Addresses in the sections are like the machine's [`pc`](Machine::pc):
    /// addresses in the machine's file, which is loaded with its [load bias](Machine::load_bias). Other files of the
    /// program are added by [`with_module`](Self::with_module).
    pub fn new(machine: &'a dyn Machine, sections: &'a [Frames<'o>], target: &'a dyn Architecture) -> Self {
        Self {
            machine,
            main: LoadedFile {
                load_bias: machine.load_bias(),
                infos: SmallVec::new(),
                sections,
                first_section: 0,
            },
            others: Vec::new(),
            target,
            is_at_return_address: false,
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

    /// Adds the debug information of the machine's file. It locates a frame's lanes, and answers what expressions refer to:
    /// frame bases, entries, base types, addresses by index, and the values that callers passed. The machine's own answers
    /// are those that it lacks.
    ///
    /// A file with split units has debug information for each of their files, too, added by a call for each:
    /// [`Frame::debug_info`](super::Frame::debug_info) is that with the frame's function.
    #[must_use]
    pub fn with_debug_info(mut self, info: &'a DebugInfo<'a, 'o>) -> Self {
        self.main.infos.push(info);
        self
    }

    /// Adds a file that is loaded beside the machine's, such as a shared library: by how many bytes it is loaded above its
    /// addresses, its debug information with that of its split units, and its call frame information. Pcs in it are
    /// addresses in this file, and so are the addresses in `sections`; [`Frame::load_bias`](super::Frame::load_bias) tells the files' frames apart.
    ///
    /// A frame is in the first file with call frame information for its pc, or else in the first file with a section of
    /// code there. Thread-local storage is known for the machine's file only, and a value on entry only if the caller is in
    /// the same file.
    ///
    /// ```
    /// # use eitri_dwarf::eval::{CallStack, DebugInfo, Snapshot};
    /// # use eitri_dwarf::read::{Dwarf, FrameSection, Object};
    /// # use eitri_dwarf::target::SpaceId;
    /// # let bytes = include_bytes!("../../../data/squares.o");
    /// # let object = Object::read(bytes)?;
    /// # let dwarf = Dwarf::read(&object)?;
    /// # let target = object.target(None).expect("a known machine");
    /// # let squares = dwarf.address_in("squares", 0)?;
    /// // The file is loaded twice, as two files would be. `squares` of the file at 0x50_0000 was called from
    /// // `squares` of the file at 0x90_0000.
    /// let mut process = Snapshot::default();
    /// process.load_bias = 0x50_0000;
    /// process.pc = Some(squares + 0x13);
    /// process.registers.insert(target.register_named("rsp")?, 0x7000_u64.to_le_bytes().into());
    /// process.store(SpaceId::DEFAULT, None, 0x7000, &(0x90_0000 + squares + 0x20).to_le_bytes());
    ///
    /// let (info, sections) = (DebugInfo::new(&dwarf), [dwarf.frames(FrameSection::Debug)?]);
    /// let stack = CallStack::new(&process, &sections, &target)
    ///     .with_debug_info(&info)
    ///     .with_module(0x90_0000, &[&info], &sections);
    /// let caller = stack.frame(1)?.expect("a caller");
    /// assert_eq!((caller.resumes_at(), caller.load_bias()), (squares + 0x20, 0x90_0000));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[must_use]
    pub fn with_module(
        mut self,
        load_bias: u64,
        infos: &[&'a DebugInfo<'a, 'o>],
        sections: &'a [Frames<'o>],
    ) -> Self {
        let last = self.others.last().unwrap_or(&self.main);
        let first_section = last.first_section + last.sections.len();
        self.others.push(LoadedFile { load_bias, infos: infos.into(), sections, first_section });
        self
    }

    /// Makes the machine's pc a return address, as in a recorded caller: rules, lines and scopes are then those of the call
    /// before it.
    #[must_use]
    pub fn at_return_address(mut self) -> Self {
        self.is_at_return_address = true;
        self
    }

    /// Sets the maximum number of frames, 65 536 by default. Exceeding it is an evaluation error.
    #[must_use]
    pub fn with_frame_limit(mut self, frames: u32) -> Self {
        self.frame_limit = frames;
        self
    }

    /// Sets the limits for each expression in the rules.
    #[must_use]
    pub fn with_limits(mut self, limits: Limits) -> Self {
        self.limits = limits;
        self
    }

    /// Shares cached rows with other call stacks that have the same sections.
    #[must_use]
    #[doc(hidden)]
    pub fn with_known_rows(mut self, rows: &'a KnownRows<'o>) -> Self {
        self.shared_rows = Some(rows);
        self
    }

    /// Returns the loaded file with an index; 0 is the machine's.
    pub(super) fn file(&self, index: usize) -> &LoadedFile<'a, 'o> {
        index.checked_sub(1).and_then(|other| self.others.get(other)).unwrap_or(&self.main)
    }

    /// Returns the index of the file that has code at a loaded address.
    fn file_at(&self, loaded: u64, address_bytes: u8) -> usize {
        if self.others.is_empty() {
            return 0;
        }
        let mut files = (0..=self.others.len()).map(|index| (index, self.file(index)));
        let with_rules = files.clone().find(|(_, file)| {
            let pc = file.pc(loaded, address_bytes);
            file.sections.iter().any(|frames| frames.fde_at(pc).is_some())
        });
        let with_code = || {
            files.find(|(_, file)| {
                let pc = file.pc(loaded, address_bytes);
                file.infos.iter().any(|info| info.dwarf().has_code(pc))
            })
        };
        with_rules.or_else(with_code).map_or(0, |(index, _)| index)
    }

    pub(super) fn known_rows(&self) -> &KnownRows<'o> {
        self.shared_rows.unwrap_or(&self.own_rows)
    }

    /// Calls `then` with an idle evaluator.
    pub(super) fn with_evaluator<T>(&self, then: impl FnOnce(&mut Evaluator) -> T) -> T {
        let idle = self.evaluators.borrow_mut().pop();
        let mut evaluator = idle.unwrap_or_else(|| Evaluator::new().with_limits(self.limits));
        let result = then(&mut evaluator);
        self.evaluators.borrow_mut().push(evaluator);
        result
    }

    /// Calls `then` for a column, unless it is already being computed.
    pub(super) fn ask<T>(
        &self,
        level: &Level<'a, 'o>,
        column: FrameColumn,
        then: impl FnOnce() -> UnwindResult<T>,
    ) -> UnwindResult<T> {
        let asked = (level.number, column);
        {
            let mut asking = self.asking.borrow_mut();
            // A column that waits for itself is a cycle.
            if asking.contains(&asked) {
                return Err(level.fault(
                    Some(column),
                    ill_formed("rule depends on itself (A.6.4.1): the call frame information is cyclic"),
                ));
            }
            if asking.len() >= MOST_ASKING {
                let rule = format!("rules depend on each other more than {MOST_ASKING} levels deep");
                return Err(level.fault(Some(column), error(rule)));
            }
            asking.push(asked);
        }
        let result = then();
        self.asking.borrow_mut().pop();
        result
    }

    /// Evaluates in a frame. The resulting fault can come from a rule in another frame.
    pub(super) fn evaluate<T>(
        &self,
        level: &Level<'a, 'o>,
        column: FrameColumn,
        context: &Context<'_>,
        then: impl FnOnce(&mut Evaluator, &Context<'_>) -> core::result::Result<T, Fault>,
    ) -> UnwindResult<T> {
        // Evaluations nest: an inner evaluation must not see or lose the outer cause.
        let outer = self.cause.take();
        let result = self.with_evaluator(|evaluator| then(evaluator, context));
        let cause = self.cause.replace(outer);
        result.map_err(|fault| cause.unwrap_or_else(|| level.fault(Some(column), fault)))
    }

    /// Returns the answer to an expression's request, and keeps the fault if the answer is missing.
    pub(super) fn answer<T>(&self, found: UnwindResult<Option<T>>) -> Option<T> {
        found.unwrap_or_else(|fault| {
            self.cause.replace(Some(fault));
            None
        })
    }

    /// Returns the fault for a pc that no call frame information covers.
    pub(super) fn no_entry(&self) -> Fault {
        let mut sections = (0..=self.others.len()).flat_map(|file| self.file(file).sections);
        if sections.all(|frames| frames.fdes.is_empty()) {
            return error(
                "the call frame information is empty: a file has it in `.debug_frame`, in `.eh_frame`, or in both",
            );
        }
        error("no call frame information has code at this pc")
    }

    pub(super) fn unknown(&self, frame: u32) -> Box<UnwindFault> {
        let why = Cause::Fault(error("the frame does not exist"));
        Box::new(UnwindFault { frame, pc: None, entry: None, column: None, rule: None, why })
    }
}

impl core::fmt::Debug for CallStack<'_, '_> {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        f.debug_struct("CallStack").field("levels", &self.levels).finish_non_exhaustive()
    }
}

/// A file of the program.
#[derive(Debug)]
pub(super) struct LoadedFile<'a, 'o> {
    /// By how many bytes it is loaded above its addresses.
    pub load_bias: u64,
    /// Debug information, also of split units.
    pub infos: SmallVec<[&'a DebugInfo<'a, 'o>; 1]>,
    /// Call frame information.
    pub sections: &'a [Frames<'o>],
    /// Number of sections in the files before.
    first_section: usize,
}

impl LoadedFile<'_, '_> {
    /// Converts a loaded address to an address in the file: without the load bias, modulo the address size.
    pub(super) fn pc(&self, loaded: u64, address_bytes: u8) -> u64 {
        let unused = 64u32.saturating_sub(u32::from(address_bytes) * 8).min(63);
        loaded.wrapping_sub(self.load_bias) & u64::MAX >> unused
    }
}

/// The rule that finally locates a register, and how many low bits all functions called since preserve.
pub(super) type Kept<'a, 'o> = (Found<'a, 'o>, u32);

/// The rule that finally locates a register.
#[derive(Debug, Clone)]
pub(super) enum Found<'a, 'o> {
    /// No rule: the value is in this register, in the innermost frame.
    InPlace(Reg),
    /// A frame's rule for a register, other than "same value" and `register(R)`.
    ByRule(Rc<Level<'a, 'o>>, Reg, RegisterRule<'o>),
}

/// Location of all lanes' pcs in a frame, and a pc's size.
#[derive(Debug, Clone)]
pub(super) struct LanePcs {
    pub pcs: Location,
    pub address_bytes: u8,
}

/// A frame.
#[derive(Debug)]
pub(super) struct Level<'a, 'o> {
    /// How many frames are inward of it.
    pub number: u32,
    /// Index of its file.
    pub file: usize,
    /// Program location (A.2.5.1): the call, in an outer frame.
    pub pc: u64,
    /// The next instruction's address in the file.
    pub resumes_at: u64,
    /// The frame's rules. `None` where no entry covers its pc.
    pub row: UnwindResult<Option<Row<'a, 'o>>>,
    /// Canonical frame address, once requested.
    pub cfa: OnceCell<UnwindResult<Location>>,
    /// Locations of the caller's registers by expression rules, once requested.
    pub found: RefCell<HashMap<Reg, Location>>,
    /// Cached rules for registers that many inner frames leave unchanged.
    pub kept: RefCell<HashMap<Reg, Kept<'a, 'o>>>,
    /// Where chains of `register(R)` rules end, by each chain's first register.
    pub chains: RefCell<HashMap<Reg, Chain>>,
    /// Location of its lanes' pcs, once requested. `None` without the attribute.
    pub lane_pcs: OnceCell<UnwindResult<Option<LanePcs>, Fault>>,
}

/// How a chain of `register(R)` rules in a frame ends.
#[derive(Debug, Clone, Copy)]
pub(super) enum Chain {
    /// The last register, without a `register(R)` rule.
    Ends,
    /// A cycle without an end.
    Circle,
    /// The first register is stored in the second, which has a different size.
    Differs(Reg, Reg),
}

/// A frame's rules, with their entry.
#[derive(Debug)]
pub(super) struct Row<'a, 'o> {
    pub frames: &'a Frames<'o>,
    pub fde: &'a Fde<'o>,
    pub row: FrameRow<'o>,
}

impl<'a, 'o> Row<'a, 'o> {
    pub fn cie(&self) -> &'a Cie<'o> {
        self.frames.cie(self.fde)
    }
}

/// State of the search outward from the last frame found.
#[derive(Debug, Clone)]
pub(super) enum Outward {
    /// Unsearched row.
    Unknown,
    /// No further frame.
    Nothing,
    /// A frame that cannot be found.
    Unreadable(Box<UnwindFault>),
}

impl<'a, 'o> Level<'a, 'o> {
    fn new(number: u32, (pc, resumes_at): (u64, u64), file: usize, stack: &CallStack<'a, 'o>) -> Self {
        let mut level = Self {
            number,
            file,
            pc,
            resumes_at,
            row: Ok(None),
            cfa: OnceCell::new(),
            found: RefCell::default(),
            kept: RefCell::default(),
            chains: RefCell::default(),
            lane_pcs: OnceCell::new(),
        };
        let file = stack.file(file);
        let mut sections = (file.first_section..).zip(file.sections);
        let entry = sections.find_map(|(section, frames)| Some((section, frames, frames.fde_at(pc)?)));
        if let Some((section, frames, fde)) = entry {
            level.row = match stack.known_rows().find(section, frames, fde, pc) {
                Ok(row) => Ok(row.map(|mut row| {
                    renumber(&mut row.rules, |reg| stack.target.first_number(reg));
                    Row { frames, fde, row }
                })),
                Err(why) => Err(Box::new(UnwindFault {
                    frame: number,
                    pc: Some(pc),
                    entry: Some((frames.section, fde.offset)),
                    column: None,
                    rule: None,
                    why: Cause::Reading(why),
                })),
            };
        }
        level
    }

    /// Returns the rules, if any.
    ///
    /// # Errors
    /// Rules that cannot be read.
    pub fn row(&self) -> UnwindResult<Option<&Row<'a, 'o>>> {
        self.row.as_ref().map(Option::as_ref).map_err(Clone::clone)
    }

    /// Returns the explicit rule for a caller's register, if any.
    pub fn rule(&self, reg: Reg) -> UnwindResult<Option<RegisterRule<'o>>> {
        Ok(self.row()?.and_then(|row| row.row.rule(reg)))
    }

    /// Returns a fault with its position.
    pub fn fault(&self, column: Option<FrameColumn>, fault: Fault) -> Box<UnwindFault> {
        let row = self.row.as_ref().ok().and_then(Option::as_ref);
        let rule = match (column, row) {
            (Some(FrameColumn::Cfa), Some(row)) => Some(cfa_text(row.row.cfa)),
            (Some(FrameColumn::Register(reg)), Some(row)) => row.row.rule(reg).map(rule_text),
            _ => None,
        };
        Box::new(UnwindFault {
            frame: self.number,
            pc: Some(self.pc),
            entry: row.map(|row| (row.frames.section, row.fde.offset)),
            column,
            rule,
            why: Cause::Fault(fault),
        })
    }
}

impl<'a, 'o> CallStack<'a, 'o> {
    /// Returns a frame; `None` if there are fewer.
    pub(super) fn level(&self, number: u32) -> UnwindResult<Option<Rc<Level<'a, 'o>>>> {
        loop {
            let (known, last) = {
                let levels = self.levels.borrow();
                if let Some(level) = levels.get(number as usize) {
                    return Ok(Some(Rc::clone(level)));
                }
                (levels.len() as u32, levels.last().cloned())
            };
            match &*self.outward.borrow() {
                Outward::Unknown => {}
                Outward::Nothing => return Ok(None),
                Outward::Unreadable(fault) => return Err(fault.clone()),
            }
            let next = match last {
                None => self.first(),
                Some(last) => self.caller_of(&last),
            };
            // Following a rule for it may already have found it.
            if self.levels.borrow().len() as u32 != known {
                continue;
            }
            match next {
                Ok(Some(level)) => self.levels.borrow_mut().push(Rc::new(level)),
                Ok(None) => *self.outward.borrow_mut() = Outward::Nothing,
                Err(fault) => {
                    // A fault within a cycle of rules need not occur for other requests.
                    if self.asking.borrow().is_empty() {
                        *self.outward.borrow_mut() = Outward::Unreadable(fault);
                        continue;
                    }
                    return Err(fault);
                }
            }
        }
    }

    pub(super) fn first(&self) -> UnwindResult<Option<Level<'a, 'o>>> {
        let pc = self.machine.pc(0).ok_or_else(|| {
            let mut fault = self.unknown(0);
            fault.why = Cause::Fault(error("the machine has no program location (A.2.5.1)"));
            fault
        })?;
        let call = pc.wrapping_sub(self.is_at_return_address.into());
        let loaded = call.wrapping_add(self.main.load_bias);
        // An address in the machine's file; with several files, any file can have the code.
        let file = self.file_at(loaded, 8);
        let by = self.main.load_bias.wrapping_sub(self.file(file).load_bias);
        Ok(Some(Level::new(0, (call.wrapping_add(by), pc.wrapping_add(by)), file, self)))
    }

    /// Returns a frame's caller.
    pub(super) fn caller_of(&self, level: &Level<'a, 'o>) -> UnwindResult<Option<Level<'a, 'o>>> {
        let Some(row) = level.row()? else { return Err(level.fault(None, self.no_entry())) };
        let cie = row.cie();
        let reg = cie.return_register;
        let column = Some(FrameColumn::Register(reg));
        if row.row.is_return_signed {
            return Err(level.fault(column, unsupported("the return address is signed")));
        }
        // Computed frame by frame, so that an outer frame does not need a deep recursion.
        let _ = self.cfa_of(level);
        let number = level.number + 1;
        let location = self.register_in(reg, number)?.ok_or_else(|| self.unknown(number))?;
        if location.single().is_some_and(|place| place.storage == Storage::Undefined) {
            return Ok(None);
        }
        let address = BaseType::new(TypeEncoding::Unsigned, u32::from(cie.encoding.address_bytes) * 8);
        let context = Context::new(cie.encoding, self.target);
        let read = self.with_evaluator(|evaluator| evaluator.read(&location, address, self, &context));
        let value = read.map_err(|fault| level.fault(column, fault))?;
        let loaded =
            value.as_u64().ok_or_else(|| level.fault(column, super::super::stack::pointer_misused()))?;
        // A signal can interrupt a call through a null pointer, at pc 0.
        if loaded == 0 && !cie.is_signal {
            return Err(level.fault(column, error("the return address is 0")));
        }
        let call = if cie.is_signal { loaded } else { loaded - 1 };
        let index = self.file_at(call, cie.encoding.address_bytes);
        let file = self.file(index);
        let [pc, resumes_at] = [call, loaded].map(|loaded| file.pc(loaded, cie.encoding.address_bytes));
        if number >= self.frame_limit {
            return Err(level.fault(column, error(format!("more than {}", Count(self.frame_limit, "frame")))));
        }
        let is_stated = !matches!(row.row.rule(reg), None | Some(RegisterRule::SameValue));
        if !is_stated && (index, resumes_at) == (level.file, level.resumes_at) {
            return Err(level
                .fault(column, error("the return address has no rule: the frame would be its own caller")));
        }
        let caller = Level::new(number, (pc, resumes_at), index, self);
        if self.has_been(&caller) {
            Err(level.fault(column, error("caller has the pc and canonical frame address of an inner frame")))
        } else {
            Ok(Some(caller))
        }
    }

    /// Whether a frame has the same pc and canonical frame address as a frame inward of it. The compared frame is the
    /// last frame whose number is a power of two, because each cycle eventually repeats such a frame (Brent's
    /// algorithm): linear time, constant memory.
    pub(super) fn has_been(&self, caller: &Level<'a, 'o>) -> bool {
        let before = match caller.number - 1 {
            0 => 0,
            number => 1 << number.ilog2(),
        };
        let levels = self.levels.borrow();
        let before = levels.get(before as usize);
        let is_same =
            |level: &&Rc<Level<'a, 'o>>| (level.file, level.resumes_at) == (caller.file, caller.resumes_at);
        let before = before.filter(is_same).map(Rc::clone);
        // The comparison below finds frames, which borrows the list again.
        drop(levels);
        let Some(before) = before else { return false };
        match (self.cfa_of(&before), self.cfa_of(caller)) {
            (Ok(one), Ok(other)) => one == other,
            _ => false,
        }
    }
}
