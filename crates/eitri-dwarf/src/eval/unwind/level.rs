//! State of one frame, and the search for the next.

use core::cell::{OnceCell, RefCell};
use std::rc::Rc;

use hashbrown::HashMap;

use super::super::Context;
use super::super::fault::{Fault, error, unsupported};
use super::super::location::{Location, Storage};
use super::super::value::{BaseType, TypeEncoding};
use super::fault::rule_text;
use super::lanes::LanePcs;
use super::rules::Kept;
use super::{CallStack, Cause, Column, Result, UnwindFault};
use crate::error::Count;
use crate::op::Reg;
use crate::read::{Cie, Fde, FrameRow, Frames, KnownRows, Rule};

/// A frame.
#[derive(Debug)]
pub(super) struct Level<'a, 'o> {
    /// Number of frames inward of it.
    pub number: u32,
    /// Program location (A.2.5.1): the call, in an outer frame.
    pub pc: u64,
    /// Address in the file of the next instruction.
    pub resumes_at: u64,
    /// Rules of the frame. `None` where no entry covers its pc.
    pub row: Result<Option<Row<'a, 'o>>>,
    /// Canonical frame address, once requested.
    pub cfa: OnceCell<Result<Location>>,
    /// Locations of the caller's registers by expression rules, once requested.
    pub found: RefCell<HashMap<Reg, Location>>,
    /// Cached levels of the rules for registers that many inner frames leave unchanged.
    pub kept: RefCell<HashMap<Reg, Kept<'a, 'o>>>,
    /// Ends of chains of `register(R)` rules, by the first register of the chain.
    pub chains: RefCell<HashMap<Reg, Chain>>,
    /// Location of the pcs of its lanes, once requested. `None` without the attribute.
    pub lane_pcs: OnceCell<Result<Option<LanePcs>, Fault>>,
}

/// The end of a chain of `register(R)` rules of one frame.
#[derive(Debug, Clone, Copy)]
pub(super) enum Chain {
    /// The last register, without a `register(R)` rule.
    Ends,
    /// A cycle without an end.
    Circle,
    /// The first register is stored in the second, of a different size.
    Differs(Reg, Reg),
}

/// Rules of a frame, with their entry.
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

/// State of the search outward of the last frame found.
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
    fn new(number: u32, pc: u64, resumes_at: u64, sections: &'a [Frames<'o>], known: &KnownRows<'o>) -> Self {
        let mut level = Self {
            number,
            pc,
            resumes_at,
            row: Ok(None),
            cfa: OnceCell::new(),
            found: RefCell::default(),
            kept: RefCell::default(),
            chains: RefCell::default(),
            lane_pcs: OnceCell::new(),
        };
        let mut sections = sections.iter().enumerate();
        let found = sections.find_map(|(section, frames)| Some((section, frames, frames.fde_at(pc)?)));
        if let Some((section, frames, fde)) = found {
            level.row = match known.find(section, frames, fde, pc) {
                Ok(row) => Ok(row.map(|row| Row { frames, fde, row })),
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
    pub fn row(&self) -> Result<Option<&Row<'a, 'o>>> {
        self.row.as_ref().map(Option::as_ref).map_err(Clone::clone)
    }

    /// Returns the explicit rule for a register of the caller, if any.
    pub fn rule(&self, reg: Reg) -> Result<Option<Rule<'o>>> {
        Ok(self.row()?.and_then(|row| row.row.rule(reg)))
    }

    /// Returns a fault with its place.
    #[cold]
    pub fn fault(&self, column: Option<Column>, fault: Fault) -> Box<UnwindFault> {
        let row = self.row.as_ref().ok().and_then(Option::as_ref);
        let rule = match (column, row) {
            (Some(Column::Cfa), Some(row)) => Some(super::fault::cfa_text(row.row.cfa)),
            (Some(Column::Register(reg)), Some(row)) => row.row.rule(reg).map(rule_text),
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
    pub(super) fn level(&self, number: u32) -> Result<Option<Rc<Level<'a, 'o>>>> {
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

    fn first(&self) -> Result<Option<Level<'a, 'o>>> {
        let pc = self.machine.pc(0).ok_or_else(|| {
            let mut fault = self.unknown(0);
            fault.why = Cause::Fault(error("the machine has no program location (A.2.5.1)"));
            fault
        })?;
        Ok(Some(Level::new(0, pc, pc, self.sections, self.known_rows())))
    }

    /// Returns the caller of a frame.
    fn caller_of(&self, level: &Level<'a, 'o>) -> Result<Option<Level<'a, 'o>>> {
        let Some(row) = level.row()? else {
            return Err(level.fault(None, error("no call frame information has code at this pc")));
        };
        let cie = row.cie();
        let reg = cie.return_register;
        let column = Some(Column::Register(reg));
        if row.row.is_return_signed {
            return Err(level.fault(column, unsupported("the return address is signed")));
        }
        // Computed frame by frame, so that an outer one does not need a deep recursion.
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
        if loaded == 0 && !cie.is_signal {
            return Err(level.fault(column, error("the return address is 0")));
        }
        let resumes_at = self.of_file(loaded, cie.encoding.address_bytes);
        let pc = match cie.is_signal {
            true => resumes_at,
            false => self.of_file(loaded - 1, cie.encoding.address_bytes),
        };
        if number >= self.frame_limit {
            return Err(level.fault(column, error(format!("more than {}", Count(self.frame_limit, "frame")))));
        }
        let is_stated = !matches!(row.row.rule(reg), None | Some(Rule::SameValue));
        if !is_stated && resumes_at == level.resumes_at {
            return Err(level
                .fault(column, error("the return address has no rule: the frame would be its own caller")));
        }
        let caller = Level::new(number, pc, resumes_at, self.sections, self.known_rows());
        match self.has_been(&caller) {
            true => Err(level.fault(
                column,
                error("a caller differs from all inner frames: its pc and canonical frame address recur"),
            )),
            false => Ok(Some(caller)),
        }
    }

    /// Whether a frame has the pc and canonical frame address of a frame inward of it. The compared frame is the last
    /// one whose number is a power of two: each cycle eventually repeats one of them.
    fn has_been(&self, caller: &Level<'a, 'o>) -> bool {
        let before = match caller.number - 1 {
            0 => 0,
            number => 1 << number.ilog2(),
        };
        let levels = self.levels.borrow();
        let before = levels.get(before as usize);
        let before = before.filter(|level| level.resumes_at == caller.resumes_at).map(Rc::clone);
        drop(levels);
        let Some(before) = before else { return false };
        match (self.cfa_of(&before), self.cfa_of(caller)) {
            (Ok(one), Ok(other)) => one == other,
            _ => false,
        }
    }
}
