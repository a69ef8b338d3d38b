//! Call frames: DWARF 5 section 6.4. The rows of a frame description become rules by column: a column's rule for the pcs of
//! all consecutive rows that have it.

use core::ops::Range;

use gimli::constants as dw;
use hashbrown::{DefaultHashBuilder, HashMap};
use indexmap::IndexMap;

use super::expression::InitialStack;
use super::importer::{Code, Importer, MOST_COPIES, Made, refused};
use super::undescribed;
use super::unimported::{UnimportedFact, UnimportedReason};
use crate::eval::Architecture;
use crate::model::{self, CodePart, Column, FunctionId, Loc, Val};
use crate::op::{Encoding, Reg};
use crate::read::{CfaRule, Cie, Fde, FrameColumns, FrameRun, FrameSection, Frames, RegisterRule};
use crate::target::{SpaceId, Target, UnspecifiedRegisters};

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

/// Rules for a function's code so far.
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

impl<'o> PartialFrame<'o> {
    fn new(fde: &Fde<'o>, cie: &Cie<'o>) -> Self {
        let Cie { encoding, return_register, .. } = *cie;
        Self { offset: fde.offset, encoding, return_register, rules: Vec::new(), code: Vec::new() }
    }

    /// Adds rules of a frame description for addresses of a part of the function.
    fn add(&mut self, columns: &FrameColumns<'o>, body: Code, addresses: &Range<u64>, target: &Target) {
        if self.code.last().is_none_or(|last| last.pc != body.pc) {
            self.code.push(body);
        }
        let pcs = |pcs: &Range<u64>| {
            let [start, end] = [pcs.start, pcs.end].map(|pc| pc.clamp(addresses.start, addresses.end));
            body.pc + (start - body.start)..body.pc + (end - body.start)
        };
        for run in within(&columns.cfa, addresses) {
            self.rules.push((pcs(&run.pcs), Column::Cfa, Rule::Cfa(run.rule)));
        }
        for (register, runs) in &columns.registers {
            // A register can have a second number in frames.
            let column = Column::Register(target.first_number(*register));
            for run in within(runs, addresses) {
                if !matches!(run.rule, RegisterRule::ValOffset(_)) {
                    self.rules.push((pcs(&run.pcs), column, Rule::Register(run.rule, None)));
                    continue;
                }
                for cfa in within(&columns.cfa, &run.pcs) {
                    let common = pcs(&(cfa.pcs.start.max(run.pcs.start)..cfa.pcs.end.min(run.pcs.end)));
                    if !common.is_empty() {
                        self.rules.push((common, column, Rule::Register(run.rule, Some(cfa.rule))));
                    }
                }
            }
        }
    }

    /// Sorts the rules, and joins equal rules. Continues the rules at the end of a part up to the next part: a frame has rules
    /// at all pcs, also between parts.
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

/// Returns the rules of a column that are in force at some of the pcs.
fn within<'c, R>(runs: &'c [FrameRun<R>], pcs: &Range<u64>) -> impl Iterator<Item = &'c FrameRun<R>> {
    let end = pcs.end;
    let first = runs.partition_point(|run| run.pcs.end <= pcs.start);
    runs[first..].iter().take_while(move |run| run.pcs.start < end)
}

impl<'d, 'o> Importer<'d, 'o> {
    /// Imports the frames of the functions with code.
    pub(super) fn frames(&mut self) {
        self.code.all.sort_by_key(|body| (body.start, body.end, body.function));
        let code = core::mem::take(&mut self.code.all);
        let mut bodies = self.without_copies(&code);
        for section in [FrameSection::Debug, FrameSection::Eh] {
            let frames = self.dwarf.frames_of_code(section);
            for error in &frames.errors {
                let offset = error.at().offset.unwrap_or(0);
                self.list_frame(section.name(), offset, &[], UnimportedReason::Unreadable(error.clone()));
            }
            // The code of a loaded file needs `.eh_frame` at run time: it is a fact of debug information only where
            // `.debug_frame` has none.
            let is_debug = section == FrameSection::Debug;
            if is_debug {
                let alone = self.with_frames_alone(&frames, &code);
                bodies.extend(alone);
                bodies.sort_by_key(|body| (body.start, body.end, body.function));
            }
            let imported = self.frames_in(&frames, &mut bodies);
            if is_debug {
                self.leave_frames(&frames, &imported);
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

    /// Returns the code that can have a frame, sorted. Code without an entry has a frame only if no function describes the
    /// code, and once.
    fn without_copies(&self, code: &[Code]) -> Vec<Code> {
        let is_described = |body: &Code| !self.m.described().function(body.function).is_undescribed;
        let (mut bodies, undescribed): (Vec<Code>, Vec<Code>) =
            code.iter().partition(|body| is_described(body));
        let ends = undescribed::ends(&bodies);
        let (described, mut next) = (bodies.len(), 0);
        for body in undescribed {
            let before = bodies[..described].partition_point(|described| described.start < body.end);
            if body.start >= next && (before == 0 || ends[before - 1] <= body.start) {
                bodies.push(body);
            }
            next = body.end.max(next);
        }
        bodies.sort_by_key(|body| (body.start, body.end, body.function));
        bodies
    }

    /// Returns code that has a frame, and that nothing else describes: all code of a frame description, or a part of it.
    fn with_frames_alone(&mut self, frames: &Frames<'o>, code: &[Code]) -> Vec<Code> {
        let ends = undescribed::ends(code);
        let mut alone = Vec::new();
        for (pcs, _) in frames.code() {
            let first = ends.partition_point(|&end| end <= pcs.start);
            let mut start = pcs.start;
            for body in code[first..].iter().take_while(|body| body.start < pcs.end) {
                alone.extend(undescribed::with_frame(self, start..body.start.max(start)));
                start = body.end.max(start);
            }
            alone.extend(undescribed::with_frame(self, start..pcs.end.max(start)));
        }
        alone
    }

    /// Imports a section's frames of code, and removes the code that has a frame. A frame description can be that of several
    /// functions, and a function can have several. Returns the number of bytes of code for which each was imported.
    fn frames_in(&mut self, frames: &Frames<'o>, bodies: &mut Vec<Code>) -> Vec<u64> {
        let ranges: Vec<(Range<u64>, usize)> = frames.code().collect();
        // Ends of the code so far in each range.
        let mut ends: Vec<u64> = ranges.iter().map(|(pcs, _)| pcs.start).collect();
        let mut imported = vec![0; frames.fdes.len()];
        let mut room = (ranges.len() + bodies.len()).saturating_mul(MOST_COPIES);
        let mut columns: Option<(usize, Option<FrameColumns<'o>>)> = None;
        let mut in_parts: IndexMap<FunctionId, PartialFrame<'o>, DefaultHashBuilder> = IndexMap::default();
        bodies.retain(|body| {
            let first = ranges.partition_point(|(pcs, _)| pcs.end <= body.start);
            let count = ranges[first..].iter().take_while(|(pcs, _)| pcs.start < body.end).count();
            let mut whole = None;
            for range in first..first + count {
                let (pcs, index) = &ranges[range];
                let fde = &frames.fdes[*index];
                let end = body.end.min(pcs.end);
                imported[*index] += end.saturating_sub(ends[range].max(body.start));
                ends[range] = end.max(ends[range]);
                if room == 0 {
                    let reason = UnimportedReason::TooManyFunctions;
                    self.list_frame(frames.section.name(), fde.offset, &[*body], reason);
                    continue;
                }
                room -= 1;
                if columns.as_ref().is_none_or(|(known, _)| known != index) {
                    columns = Some((*index, self.columns(frames, fde, *body)));
                }
                let Some((_, Some(columns))) = &columns else { continue };
                let new = || PartialFrame::new(fde, frames.cie(fde));
                let frame = if self.code.parts.contains_key(&body.function) {
                    in_parts.entry(body.function).or_insert_with(new)
                } else {
                    whole.get_or_insert_with(new)
                };
                if frame.return_register != frames.cie(fde).return_register {
                    let reason = UnimportedReason::ReturnRegisters;
                    self.list_frame(frames.section.name(), fde.offset, &[*body], reason);
                    continue;
                }
                let common = body.start.max(pcs.start)..end;
                frame.add(columns, *body, &common, &self.target);
            }
            if let Some(frame) = whole {
                self.frame(frames.section, body.function, frame);
            }
            count == 0
        });
        for (function, frame) in in_parts {
            self.frame(frames.section, function, frame);
        }
        imported
    }

    /// Lists the frame descriptions that were not imported for all of their code.
    fn leave_frames(&mut self, frames: &Frames<'o>, imported: &[u64]) {
        let mut code = vec![0; frames.fdes.len()];
        for (pcs, index) in frames.code() {
            code[index] += pcs.end - pcs.start;
        }
        for ((fde, imported), code) in frames.fdes.iter().zip(imported).zip(code) {
            let reason = match () {
                () if fde.length == 0 => UnimportedReason::EmptyPcs,
                () if code == 0 => UnimportedReason::SecondFrame,
                () if *imported == 0 && !self.dwarf.is_code(fde.start) => UnimportedReason::DiscardedCode,
                () if *imported == 0 => UnimportedReason::NoFunction,
                () if *imported < code => UnimportedReason::PartOfFrame,
                () if code < fde.length => UnimportedReason::SecondFrame,
                () => continue,
            };
            self.list_frame(frames.section.name(), fde.offset, &[], reason);
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

    /// Reads a frame description's rules; `None` if they cannot be read.
    fn columns(&mut self, frames: &Frames<'o>, fde: &Fde<'o>, body: Code) -> Option<FrameColumns<'o>> {
        let cie = frames.cie(fde);
        let columns = frames.columns(fde);
        let has_detail = cie.is_signal || fde.lsda.is_some() || cie.personality.is_some();
        let has_state = columns.as_ref().is_ok_and(|columns| columns.has_state);
        let reasons = [
            has_detail.then_some(UnimportedReason::FrameDetail),
            has_state.then_some(UnimportedReason::FrameState),
            columns.as_ref().err().map(|error| UnimportedReason::Unreadable(error.clone())),
        ];
        for reason in reasons.into_iter().flatten() {
            self.list_frame(frames.section.name(), fde.offset, &[body], reason);
        }
        columns.ok()
    }

    /// Sets a function's frame.
    fn frame(&mut self, section: FrameSection, function: FunctionId, mut frame: PartialFrame<'o>) {
        frame.join(&self.m.described().function(function).code_parts().collect::<Vec<_>>());
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
