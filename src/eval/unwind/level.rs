//! What is known of one frame, and how the next is found.

use core::cell::{OnceCell, RefCell};
use std::collections::HashMap;
use std::rc::Rc;

use super::super::Context;
use super::super::fault::{Fault, error, unsupported};
use super::super::location::{Location, Storage};
use super::super::value::{BaseType, TypeEncoding};
use super::fault::rule_text;
use super::lanes::LanePcs;
use super::rules::Kept;
use super::{CallStack, Column, Result, UnwindFault, Why};
use crate::error::Count;
use crate::op::Reg;
use crate::read::{Cie, Fde, FrameRow, Frames, KnownRows, Rule};

/// A frame.
#[derive(Debug)]
pub(super) struct Level<'a, 'o> {
    /// How many frames are inward of it.
    pub number: u32,
    /// The program location (A.2.5.1): in an outer frame that of the call.
    pub pc: u64,
    /// The address, as the file has it, of the instruction that is executed next in it.
    pub resumes_at: u64,
    /// Its rules. `None` where no entry has code at its pc.
    pub row: Result<Option<Row<'a, 'o>>>,
    /// Its canonical frame address, once it was asked for.
    pub cfa: OnceCell<Result<Location>>,
    /// Where expressions of its rules say that registers of the caller are.
    pub found: RefCell<Vec<(Reg, Location)>>,
    /// The levels that locate registers of the caller which many inner frames leave as they are.
    pub kept: RefCell<Vec<(Reg, Kept<'a, 'o>)>>,
    /// Ends of chains of `register(R)` rules, by the register that a chain begins at.
    pub chains: RefCell<HashMap<Reg, Chain>>,
    /// Where the pcs of its lanes are, once that was asked for. `None` if nobody says it.
    pub lane_pcs: OnceCell<Result<Option<LanePcs>, Fault>>,
}

/// The end of a chain of `register(R)` rules of one frame.
#[derive(Debug, Clone, Copy)]
pub(super) enum Chain {
    /// A register that is in no other.
    Ends,
    /// The chain has no end.
    Circle,
    /// The first register is in the second, which has another size.
    Differs(Reg, Reg),
}

/// The rules of a frame, and where they stand.
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

/// What is outward of the last frame that was found.
#[derive(Debug, Clone)]
pub(super) enum Outward {
    /// It was not looked for.
    Unknown,
    /// Nothing.
    Nothing,
    /// It cannot be found.
    Lost(Box<UnwindFault>),
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
                    why: Why::Reading(why),
                })),
            };
        }
        level
    }

    /// Its rules, if there are any.
    ///
    /// # Errors
    /// If they cannot be read.
    pub fn row(&self) -> Result<Option<&Row<'a, 'o>>> {
        self.row.as_ref().map(Option::as_ref).map_err(Clone::clone)
    }

    /// The rule for a register of its caller, if one is stated.
    pub fn rule(&self, reg: Reg) -> Result<Option<Rule<'o>>> {
        Ok(self.row()?.and_then(|row| row.row.rule(reg)))
    }

    /// A fault, and where.
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
            why: Why::Fault(fault),
        })
    }
}

impl<'a, 'o> CallStack<'a, 'o> {
    /// A frame; `None` if there are not so many.
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
                Outward::Lost(fault) => return Err(fault.clone()),
            }
            let next = match last {
                None => self.first(),
                Some(last) => self.caller_of(&last),
            };
            // A rule that was followed for it can have asked for the same.
            if self.levels.borrow().len() as u32 != known {
                continue;
            }
            match next {
                Ok(Some(level)) => self.levels.borrow_mut().push(Rc::new(level)),
                Ok(None) => *self.outward.borrow_mut() = Outward::Nothing,
                Err(fault) => {
                    // What is asked for within its own rules is not lost for others.
                    if self.asking.borrow().is_empty() {
                        *self.outward.borrow_mut() = Outward::Lost(fault);
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
            fault.why = Why::Fault(error("the machine has no program location (A.2.5.1)"));
            fault
        })?;
        Ok(Some(Level::new(0, pc, pc, self.sections, self.known_rows())))
    }

    /// The frame that called another one.
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
        // Found for every frame in turn, so that none has to be found for the sake of one far outward.
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
            return Err(level.fault(
                column,
                error("no rule says where the return address is: the frame would be its own caller"),
            ));
        }
        let caller = Level::new(number, pc, resumes_at, self.sections, self.known_rows());
        match self.has_been(&caller) {
            true => Err(level.fault(
                column,
                error("the caller has the pc and the canonical frame address of a frame before it"),
            )),
            false => Ok(Some(caller)),
        }
    }

    /// Whether a frame has the pc and the canonical frame address of one inward of it. That is the last whose
    /// number is a power of two: each circle comes to meet one of them.
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
