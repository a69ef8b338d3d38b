//! Call frames: DWARF 5 section 6.4. The rows of a frame description become rules by column: a column's rule for the pcs of
//! all consecutive rows that have it.

use core::ops::Range;

use gimli::constants as dw;
use hashbrown::{DefaultHashBuilder, HashMap, HashSet};
use indexmap::IndexMap;
use smallvec::SmallVec;

use super::expression::InitialStack;
use super::importer::{Code, Importer, Made, refused};
use super::undescribed;
use super::unimported::{UnimportedFact, UnimportedReason};
use crate::eval::Architecture;
use crate::model::{self, CodePart, Column, FunctionId, Loc, Val};
use crate::op::{Encoding, Reg};
use crate::read::{CfaRule, Cie, Fde, FrameRun, FrameSection, Frames, RegisterRule};
use crate::target::{SpaceId, UnspecifiedRegisters};

/// The number of the return address in the frames of ptxas's kernels.
const NO_REGISTER: Reg = Reg(0xffff_ffff);
/// Bits of an address in NVIDIA's local memory.
const ADDRESS: u32 = 32;

/// A column's rule in a row.
#[derive(Debug, Clone, Copy, PartialEq)]
enum Rule<'o> {
    Cfa(CfaRule<'o>),
    /// The canonical frame address decides what the rule means only if the rule is a number relative to it.
    Register(RegisterRule<'o>, Option<CfaRule<'o>>),
}

/// A column's rule over half-open pcs, in bytes from the function start.
type RuleByPc<'o> = (Range<u64>, Column, Rule<'o>);

/// Rules for a function, or for a part of its code.
struct PartialFrame<'o> {
    /// Offset of the first entry in the section.
    offset: u64,
    encoding: Encoding,
    /// Register whose value in the caller is the return address.
    return_register: Reg,
    rules: Vec<RuleByPc<'o>>,
    /// The code of the function that it is about.
    code: Vec<Code>,
}

impl PartialFrame<'_> {
    /// Continues the rules at the end of a part up to the next part: a frame has rules at all pcs, also between parts.
    fn join(&mut self, parts: &[CodePart]) {
        let next: HashMap<u64, u64> =
            parts.windows(2).map(|parts| (parts[0].pcs.end, parts[1].pcs.start)).collect();
        self.rules.sort_by_key(|(pcs, column, _)| (*column, pcs.start));
        let mut joined: Vec<RuleByPc<'_>> = Vec::with_capacity(self.rules.len());
        for (mut pcs, column, rule) in self.rules.drain(..) {
            pcs.end = next.get(&pcs.end).copied().unwrap_or(pcs.end);
            match joined.last_mut() {
                Some((last, known, same)) if *known == column && *same == rule && last.end == pcs.start => {
                    last.end = pcs.end;
                }
                _ => joined.push((pcs, column, rule)),
            }
        }
        self.rules = joined;
    }
}

impl<'d, 'o> Importer<'d, 'o> {
    /// Imports the frames of the functions with code.
    pub(super) fn frames(&mut self) {
        self.code.all.sort_by_key(|body| (body.start, body.end, body.function));
        let code = core::mem::take(&mut self.code.all);
        let ends = undescribed::ends(&code);
        // Code with frames that nothing else describes, by address.
        let mut alone = HashMap::new();
        let mut described = HashSet::new();
        for section in [FrameSection::Debug, FrameSection::Eh] {
            let frames = self.dwarf.frames_of_code(section);
            for error in &frames.errors {
                let offset = error.at().offset.unwrap_or(0);
                self.list_frame(section.name(), offset, &[], UnimportedReason::Unreadable(error.clone()));
            }
            let mut in_parts: IndexMap<FunctionId, PartialFrame<'o>, DefaultHashBuilder> =
                IndexMap::default();
            for fde in &frames.fdes {
                // The code of a loaded file needs `.eh_frame` at run time: it is a fact of debug information only where
                // `.debug_frame` has none.
                let is_debug = section == FrameSection::Debug;
                let first = code.partition_point(|body| body.start < fde.start);
                let mut bodies: SmallVec<[Code; 2]> =
                    code[first..].iter().take_while(|body| body.start == fde.start).copied().collect();
                let pcs = fde.start..fde.start.saturating_add(fde.length);
                let is_free = first.checked_sub(1).is_none_or(|last| ends[last] <= pcs.start)
                    && code.get(first).is_none_or(|next| pcs.end <= next.start);
                if is_debug && is_free {
                    let known = alone.entry(pcs.start).or_insert_with(|| undescribed::with_frame(self, pcs));
                    bodies.extend(*known);
                }
                let is_described = |body: &Code| !self.m.described().function(body.function).is_undescribed;
                // Code without an entry has the frame only if no function describes the code, and once.
                let has_description = bodies.iter().any(is_described);
                let functions: SmallVec<[Code; 2]> = bodies
                    .iter()
                    .enumerate()
                    .filter(|(index, body)| is_described(body) || !has_description && *index == 0)
                    .map(|(_, body)| *body)
                    .collect();
                let mut has_function = false;
                for body in functions {
                    has_function = true;
                    if described.insert((body.function, body.pc)) {
                        let Some(rules) = self.rules_of(&frames, fde, body) else { continue };
                        let Cie { encoding, return_register, .. } = *frames.cie(fde);
                        if self.code.parts.contains_key(&body.function) {
                            let frame = in_parts.entry(body.function).or_insert_with(|| PartialFrame {
                                offset: fde.offset,
                                encoding,
                                return_register,
                                rules: Vec::new(),
                                code: Vec::new(),
                            });
                            if frame.return_register == return_register {
                                frame.rules.extend(rules);
                                frame.code.push(body);
                            } else {
                                let reason = UnimportedReason::ReturnRegisters;
                                self.list_frame(section.name(), fde.offset, &[body], reason);
                            }
                        } else {
                            let offset = fde.offset;
                            let code = vec![body];
                            let frame = PartialFrame { offset, encoding, return_register, rules, code };
                            self.frame(section, body.function, frame);
                        }
                    } else if is_debug {
                        self.list_frame(section.name(), fde.offset, &[body], UnimportedReason::SecondFrame);
                    }
                }
                if !has_function && is_debug {
                    let reason = if self.dwarf.is_code(fde.start) {
                        UnimportedReason::NoFunction
                    } else {
                        UnimportedReason::DiscardedCode
                    };
                    self.list_frame(section.name(), fde.offset, &[], reason);
                }
            }
            for (function, mut frame) in in_parts {
                frame.join(&self.m.described().function(function).code_parts().collect::<Vec<_>>());
                self.frame(section, function, frame);
            }
        }
        self.code.all = code;
        // Without a rule, the frame base is what the entry says.
        for (function, entry) in core::mem::take(&mut self.frames.by_rules) {
            if self.m.described().function(function).frame_bases().is_empty()
                && let Some(entry) = self.dwarf.entry_at(entry)
            {
                let described = self.m.describe_function(function);
                let set = described.and_then(|mut function| function.frame_base(&Loc::cfa()).map(drop));
                self.accept(entry, dw::DW_AT_frame_base, set);
            }
        }
    }

    /// Lists a fact of a frame, which belongs to the function with the code, if any.
    fn list_frame(&mut self, section: &'static str, offset: u64, code: &[Code], reason: UnimportedReason) {
        let mut fact = UnimportedFact::new(section, offset, reason);
        if let Some(body) = code.first() {
            let module = self.m.described();
            let at = module.at_scope(module.function(body.function).scope);
            (fact.unit, fact.function) = (at.unit, at.function);
        }
        self.list_fact(fact, code);
    }

    /// Returns the rules for a part of a function's code; `None` if the rows cannot be read.
    fn rules_of(&mut self, frames: &Frames<'o>, fde: &Fde<'o>, body: Code) -> Option<Vec<RuleByPc<'o>>> {
        let section = frames.section.name();
        let cie = frames.cie(fde);
        let bytes = body.end - body.start;
        if cie.is_signal || fde.lsda.is_some() || cie.personality.is_some() {
            self.list_frame(section, fde.offset, &[body], UnimportedReason::FrameDetail);
        }
        let columns = match frames.columns(fde) {
            Ok(columns) => columns,
            Err(error) => {
                self.list_frame(section, fde.offset, &[body], UnimportedReason::Unreadable(error));
                return None;
            }
        };
        if columns.has_state {
            self.list_frame(section, fde.offset, &[body], UnimportedReason::FrameState);
        }
        let mut rules: Vec<RuleByPc<'o>> = Vec::new();
        let mut add = |pcs: &Range<u64>, column, rule| {
            let [start, end] = [pcs.start, pcs.end].map(|pc| pc.saturating_sub(body.start).min(bytes));
            if start < end {
                rules.push((body.pc + start..body.pc + end, column, rule));
            }
        };
        for run in &columns.cfa {
            add(&run.pcs, Column::Cfa, Rule::Cfa(run.rule));
        }
        for (register, runs) in &columns.registers {
            // A register can have a second number in frames.
            let column = Column::Register(self.target.first_number(*register));
            for FrameRun { pcs, rule, .. } in runs {
                if !matches!(rule, RegisterRule::ValOffset(_)) {
                    add(pcs, column, Rule::Register(*rule, None));
                    continue;
                }
                let first = columns.cfa.partition_point(|cfa| cfa.pcs.end <= pcs.start);
                for cfa in columns.cfa[first..].iter().take_while(|cfa| cfa.pcs.start < pcs.end) {
                    let common = cfa.pcs.start.max(pcs.start)..cfa.pcs.end.min(pcs.end);
                    add(&common, column, Rule::Register(*rule, Some(cfa.rule)));
                }
            }
        }
        rules.sort_by_key(|(pcs, column, _)| (pcs.start, *column));
        Some(rules)
    }

    /// Sets a function's frame.
    fn frame(&mut self, section: FrameSection, function: FunctionId, frame: PartialFrame<'o>) {
        let PartialFrame { offset, encoding, return_register, mut rules, code } = frame;
        let section = section.name();
        let bytes = self.m.described().function(function).bytes;
        let returns = self.target.first_number(return_register);
        // ptxas's kernels have no caller.
        if returns != NO_REGISTER || !self.target.has_lane_expressions() {
            let set = self.m.frame(function).and_then(|mut frame| frame.return_register(returns).map(drop));
            if let Err(error) = set {
                // With another return address, all rules would lead to another caller.
                return self.list_frame(section, offset, &code, UnimportedReason::Refused(error));
            }
        }
        let unspecified = self.unspecified(&mut rules, returns, bytes);
        let from = self.m.frame_rule_count();
        for (pcs, column, rule) in rules {
            if let Err(reason) = self.rule(function, encoding, pcs, column, rule) {
                self.list_frame(section, offset, &code, reason);
            }
        }
        let kept = self.m.keep_frame(function, from).and_then(|()| self.m.frame(function));
        match kept {
            Ok(mut frame) => drop(frame.unspecified_registers(unspecified)),
            Err(error) => self.list_frame(section, offset, &code, UnimportedReason::Refused(error)),
        }
    }

    /// Returns what a frame says about registers without a rule, and removes the rules that repeat it. A frame that has a
    /// rule at all pcs for each register that a call overwrites leaves nothing to debuggers.
    fn unspecified(
        &self,
        rules: &mut Vec<RuleByPc<'o>>,
        return_register: Reg,
        bytes: u64,
    ) -> UnspecifiedRegisters {
        let target = self.m.target();
        let is_overwritten = |column: &Column| match column {
            Column::Cfa => false,
            Column::Register(reg) => model::is_overwritten(target, *reg),
        };
        let mut ruled: HashMap<Column, u64> = HashMap::new();
        for (pcs, column, _) in rules.iter().filter(|(_, column, _)| is_overwritten(column)) {
            *ruled.entry(*column).or_default() += pcs.end - pcs.start;
        }
        let returns = Column::Register(return_register);
        let leads_to_caller = |(_, column, rule): &RuleByPc<'_>| {
            *column == returns && !matches!(rule, Rule::Register(RegisterRule::Undefined, _))
        };
        // Nobody asks for the registers of a caller that does not exist.
        if ruled.is_empty() && !rules.iter().any(leads_to_caller) {
            return UnspecifiedRegisters::ByConvention;
        }
        let understood = target.call_frames().unspecified_registers;
        let registers = model::overwritten_registers(target);
        let is_ruled = |reg: &Reg| ruled.get(&Column::Register(*reg)).is_some_and(|&ruled| ruled >= bytes);
        if registers.is_empty() || !registers.iter().all(is_ruled) {
            return understood;
        }
        let (described, repeated) = match understood {
            UnspecifiedRegisters::SameValue => (UnspecifiedRegisters::ByConvention, RegisterRule::Undefined),
            UnspecifiedRegisters::ByConvention => (UnspecifiedRegisters::SameValue, RegisterRule::SameValue),
        };
        let repeats = |rule: &Rule<'_>| matches!(rule, Rule::Register(rule, _) if *rule == repeated);
        rules.retain(|(_, column, rule)| !(is_overwritten(column) && repeats(rule)));
        described
    }

    fn rule(
        &mut self,
        function: FunctionId,
        encoding: Encoding,
        pcs: Range<u64>,
        column: Column,
        rule: Rule<'o>,
    ) -> Made<()> {
        let loc = match rule {
            Rule::Cfa(rule) => self.cfa(encoding, rule),
            Rule::Register(rule, cfa) => self.saved(encoding, column, rule, cfa),
        };
        // What is not known must not be taken for what the calling convention says.
        let (loc, reason) = match (loc, column) {
            (Ok(loc), _) => (loc, None),
            (Err(reason), Column::Cfa) => return Err(reason),
            (Err(reason), Column::Register(_)) => (Loc::undefined(), Some(reason)),
        };
        let base =
            (column == Column::Cfa && self.frames.by_rules.contains_key(&function)).then(|| loc.clone());
        let set = self.m.frame(function).and_then(|mut frame| match column {
            Column::Cfa => frame.cfa(pcs.clone(), loc).map(drop),
            Column::Register(reg) => frame.saved(pcs.clone(), reg, loc).map(drop),
        });
        let set = set.map_err(UnimportedReason::Refused);
        if let (Err(_), Column::Register(reg), None) = (&set, column, &reason) {
            drop(self.m.frame(function).and_then(|mut frame| frame.undefined(pcs.clone(), reg).map(drop)));
        }
        set?;
        if let Some(base) = base {
            let described = self.m.describe_function(function);
            described
                .and_then(|mut function| function.frame_base_at(pcs, &base).map(drop))
                .map_err(refused)?;
        }
        reason.map_or(Ok(()), Err)
    }

    fn cfa(&mut self, encoding: Encoding, rule: CfaRule<'o>) -> Made<Loc> {
        match rule {
            CfaRule::Unset => Err(UnimportedReason::NoFrameBase),
            CfaRule::Register { register, offset, space } => {
                let space = match space {
                    None => SpaceId::DEFAULT,
                    Some(number) => u32::try_from(number)
                        .map(SpaceId)
                        .map_err(|_| UnimportedReason::ValueRange(number.into()))?,
                };
                let register = self.target.first_number(register);
                let plus = |address: Val| if offset == 0 { address } else { address.plus(offset) };
                // NVIDIA's frames are in the thread's local memory, at the thread's part of R1.
                if space == SpaceId::DEFAULT && self.target.has_lane_expressions() {
                    let address = Loc::per_lane(register).read(ADDRESS);
                    return Ok(Loc::memory(SpaceId::PRIVATE_LANE, plus(address)));
                }
                Ok(Loc::memory(space, plus(Val::register(register))))
            }
            CfaRule::Expression(bytes) => self.frame_location(encoding, InitialStack::Empty, bytes),
        }
    }

    fn saved(
        &mut self,
        encoding: Encoding,
        column: Column,
        rule: RegisterRule<'o>,
        cfa: Option<CfaRule<'o>>,
    ) -> Made<Loc> {
        match rule {
            RegisterRule::Undefined => Ok(Loc::undefined()),
            RegisterRule::SameValue => match column {
                Column::Register(reg) => Ok(Loc::register(reg)),
                Column::Cfa => Err(UnimportedReason::NoFrameBase),
            },
            RegisterRule::Offset(bytes) => Ok(Loc::cfa().offset(bytes)),
            RegisterRule::Register(reg) => Ok(Loc::register(self.target.first_number(reg))),
            RegisterRule::ValOffset(bytes) => match cfa {
                Some(CfaRule::Register { register, offset, space: None }) => {
                    let by = offset.wrapping_add(bytes);
                    let address = Val::register(self.target.first_number(register));
                    Ok(Loc::value(if by == 0 { address } else { address.plus(by) }))
                }
                _ => Err(UnimportedReason::UntypedExpression),
            },
            RegisterRule::Expression(bytes) => self.frame_location(encoding, InitialStack::Cfa, bytes),
            RegisterRule::ValExpression(bytes) => self.typed_frame_value(encoding, bytes).map(Loc::value),
        }
    }
}
