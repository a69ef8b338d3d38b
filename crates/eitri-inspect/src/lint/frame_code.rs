//! Findings about frames that the function's instructions contradict: what a rule reads is overwritten, a register changes
//! without a rule, or lanes are not saved.

use core::cell::LazyCell;
use core::ops::Range;

use hashbrown::{HashMap, HashSet};

use super::codes::LintCode;
use super::details::{Add, Details};
use super::file::{File, Function};
use super::frame_rules::{FrameRules, Read, Register, Rule, name, register};
use super::function_code::{PcInstruction, described};
use super::lane_flow::LaneFlow;
use super::lane_masks::Bit;
use eitri_dwarf::error::Count;
use eitri_dwarf::op::Reg;
use eitri_dwarf::read::{Fde, FrameColumns, FrameRun, Frames, RegisterRule};
use eitri_dwarf::target::code::{DecodedInstruction, EXEC, RegisterKind, SourceOperand, VCC};

/// Limit on the registers in a finding's evidence.
const MOST_FACTS: usize = 8;

/// Diagnoses the frame of a function that has a caller.
pub(super) fn findings<'r>(
    file: &File<'r, '_>,
    function: &Function<'r, '_>,
    (frames, fde): (&Frames<'r>, &Fde<'r>),
    add: Add<'_>,
) {
    let code = function.code(file);
    if fde.start != function.start() || file.kernel(function.start()).is_some() {
        return;
    }
    let Some(rules) = FrameRules::new(frames, fde) else { return };
    let place = Some((frames.section.name(), fde.offset));
    let returns = rules.columns.registers.iter().find(|column| column.0 == rules.return_register);
    let is_root = |run: &FrameRun<RegisterRule<'_>>| run.rule == RegisterRule::Undefined;
    if returns.is_none_or(|column| column.1.first().is_none_or(is_root)) {
        return;
    }
    let Some(instructions) = code.decoded() else { return };
    let saves = saves(&instructions);
    let frame = Frame { file, function, rules, instructions, saves };
    for (code, written, evidence) in
        [frame.outliving(), frame.without_rule(), frame.saved_in_part(), frame.entry_exec()]
            .into_iter()
            .flatten()
    {
        add(code, place, &|| Details::new(written.as_str()).evidence(evidence.iter().cloned()));
    }
}

/// Code, meaning as written, and evidence.
type Found = Option<(LintCode, String, Vec<String>)>;

/// A function's rules and instructions.
struct Frame<'f, 'r, 'o> {
    file: &'f File<'r, 'o>,
    function: &'f Function<'r, 'o>,
    rules: FrameRules<'r>,
    instructions: Vec<PcInstruction>,
    saves: HashMap<Register, Saves>,
}

/// Instructions that save a register, by index, in order.
#[derive(Debug, Default)]
struct Saves {
    /// Stores of the register to memory.
    stores: Vec<usize>,
    /// The first one that stores it, or copies it to a lane or another register file.
    first: Option<usize>,
}

/// Returns the instructions that save each register.
fn saves(instructions: &[PcInstruction]) -> HashMap<Register, Saves> {
    let mut saves: HashMap<Register, Saves> = HashMap::new();
    for (index, (_, instruction)) in instructions.iter().enumerate() {
        if let Some((kind, first)) = instruction.stored {
            for number in first..first.saturating_add(stored_count(instruction)) {
                let saves = saves.entry((kind, number)).or_default();
                saves.stores.push(index);
                saves.first.get_or_insert(index);
            }
        }
        let copies = ["v_writelane", "v_accvgpr"];
        let is_copy = instruction.name.is_some_and(|name| copies.iter().any(|copy| name.starts_with(copy)));
        if let Some(SourceOperand::Register(kind, number)) = instruction.source.filter(|_| is_copy) {
            saves.entry((kind, number)).or_default().first.get_or_insert(index);
        }
    }
    saves
}

/// Returns the pc after an instruction.
fn end((pc, instruction): &PcInstruction) -> u64 {
    pc + u64::from(instruction.bytes)
}

/// Whether an instruction writes what a rule reads.
fn overwrites(instruction: &DecodedInstruction, read: &Read) -> bool {
    let (kind, number) = read.register;
    if !instruction.writes().into_iter().flatten().any(|write| write.contains(kind, number)) {
        return false;
    }
    let is_element = instruction.name.is_some_and(|name| name.starts_with("v_writelane"));
    match (&read.lanes, instruction.second) {
        (Some(lanes), Some(SourceOperand::Constant(element))) if is_element => {
            lanes.contains(&(element as u64))
        }
        // The element's number is in a register.
        (Some(_), _) if is_element => false,
        _ => true,
    }
}

/// Whether an instruction can restore a register.
fn can_restore(instruction: &DecodedInstruction) -> bool {
    let starts =
        ["scratch_load", "buffer_load", "v_readlane", "v_accvgpr_read", "v_accvgpr_write", "v_accvgpr_mov"];
    instruction.name.is_some_and(|name| starts.iter().any(|start| name.starts_with(start)))
}

/// Returns the number of registers that a store writes, by its name.
fn stored_count(instruction: &DecodedInstruction) -> u16 {
    let name = instruction.name.unwrap_or_default();
    let ends = [("b128", 4), ("x4", 4), ("b96", 3), ("x3", 3), ("b64", 2), ("x2", 2)];
    ends.iter().find(|end| name.ends_with(end.0)).map_or(1, |end| end.1)
}

/// Returns whether each instruction, by index, runs without the lanes of a flow.
fn without_lanes(flow: Option<&LaneFlow>) -> HashMap<usize, bool> {
    let mut without = HashMap::new();
    for node in flow.map_or(&[][..], |flow| &flow.nodes) {
        let is_off = node.exec == Bit::Off;
        without.entry(node.instruction).and_modify(|known| *known &= is_off).or_insert(is_off);
    }
    without
}

impl<'r> Frame<'_, 'r, '_> {
    /// Returns the name of a column; `None` is the canonical frame address.
    fn column_name(&self, column: Option<Reg>) -> String {
        column.map_or_else(|| "the canonical frame address".into(), |reg| self.file.name(reg))
    }

    /// Returns each run of rules, with its column.
    fn runs(&self) -> impl Iterator<Item = (Option<Reg>, &Range<u64>, Rule<'r>)> {
        let FrameColumns { cfa, registers, .. } = &self.rules.columns;
        let cfa = cfa.iter().map(|run| (None, &run.pcs, Rule::Cfa(run.rule)));
        cfa.chain(
            registers.iter().flat_map(|(reg, runs)| {
                runs.iter().map(|run| (Some(*reg), &run.pcs, Rule::Register(run.rule)))
            }),
        )
    }

    /// Returns the instructions by the register that they write.
    fn writers(&self) -> HashMap<Register, Vec<usize>> {
        let mut writers: HashMap<Register, Vec<usize>> = HashMap::new();
        for (index, (_, instruction)) in self.instructions.iter().enumerate() {
            for write in instruction.writes().into_iter().flatten() {
                for number in write.first..write.first.saturating_add(write.count) {
                    writers.entry((write.kind, number)).or_default().push(index);
                }
            }
        }
        writers
    }

    /// Returns the finding about rules that go on after an instruction has overwritten what they read.
    fn outliving(&self) -> Found {
        let writers = self.writers();
        let mut subjects = Vec::new();
        let mut evidence = Vec::new();
        for (column, pcs, rule) in self.runs() {
            let meaning = self.rules.meaning(self.file, column, rule);
            let overwritten = meaning.reads.iter().find_map(|read| {
                let writers = writers.get(&read.register)?;
                let first = writers.partition_point(|index| self.instructions[*index].0 < pcs.start);
                let writers = writers[first..].iter().map(|index| &self.instructions[*index]);
                let mut within = writers.take_while(|instruction| end(instruction) < pcs.end);
                let is_from_entry = pcs.start <= self.function.start();
                let overwriting = |(pc, instruction): &&PcInstruction| {
                    eitri_dwarf::work::step();
                    // A register that is read from the entry on has its value again.
                    let is_restored =
                        is_from_entry && can_restore(instruction) && self.is_saved(read.register, *pc);
                    overwrites(instruction, read) && !self.saves(column, instruction) && !is_restored
                };
                Some((read.clone(), within.find(overwriting)?))
            });
            let Some((read, instruction)) = overwritten else { continue };
            let subject = self.column_name(column);
            if subjects.contains(&subject) {
                continue;
            }
            if evidence.len() < MOST_FACTS {
                let element = match read.lanes {
                    Some(lanes) if lanes.end - lanes.start == 1 => format!(", lane {}", lanes.start),
                    Some(lanes) => format!(", lanes {} to {}", lanes.start, lanes.end.saturating_sub(1)),
                    None => String::new(),
                };
                evidence.push(format!(
                    "{} overwrites {}{element}",
                    described(instruction),
                    name(read.register)
                ));
                evidence.push(format!("the rule for {subject} reads it until {:#x}", pcs.end));
            }
            subjects.push(subject);
        }
        let written =
            format!("{} from overwritten registers: {}", Count(subjects.len(), "rule"), listed(&subjects)?);
        Some((LintCode::RuleOutlivesSave, written, evidence))
    }

    /// Whether a register is saved before a pc.
    fn is_saved(&self, register: Register, pc: u64) -> bool {
        let saves = self.saves.get(&register).and_then(|saves| saves.first);
        saves.is_some_and(|first| self.instructions[first].0 < pc)
    }

    /// Whether an instruction saves the register of a column.
    fn saves(&self, column: Option<Reg>, instruction: &DecodedInstruction) -> bool {
        let Some(column) = column else { return false };
        let Some(SourceOperand::Register(kind, number)) = instruction.source else { return false };
        if column == self.rules.return_register {
            return kind == RegisterKind::Scalar && matches!(number, 30 | 31);
        }
        register(self.file, column) == Some((kind, number))
    }

    /// Returns the finding about registers that change without a rule.
    fn without_rule(&self) -> Found {
        let mut columns: HashMap<Register, Vec<usize>> = HashMap::new();
        for (number, (reg, _)) in self.rules.columns.registers.iter().enumerate() {
            if let Some(register) = register(self.file, *reg) {
                columns.entry(register).or_default().push(number);
            }
        }
        let has_rule = |register: Register, pc: u64| {
            let mut numbers = columns.get(&register).into_iter().flatten();
            numbers.any(|number| {
                self.rules.column(*number, pc).is_some_and(|rule| rule != RegisterRule::SameValue)
            })
        };
        let [mut written, mut seen]: [HashSet<Register>; 2] = Default::default();
        let mut changed: Vec<(Register, usize)> = Vec::new();
        // The end of the code is no pc.
        let within = self.instructions.len().saturating_sub(1);
        for (index, instruction) in self.instructions[..within].iter().enumerate() {
            let can_restore = can_restore(&instruction.1);
            for write in instruction.1.writes().into_iter().flatten() {
                for number in write.first..write.first.saturating_add(write.count) {
                    eitri_dwarf::work::step();
                    let is_scalar = write.kind == RegisterKind::Scalar;
                    // `vcc_hi` belongs to `vcc`; then come `m0`, the null register and `exec`.
                    let number = if is_scalar && number == VCC + 1 { VCC } else { number };
                    let register = (write.kind, number);
                    let is_restored = can_restore && self.is_saved(register, instruction.0);
                    if (is_scalar && number > VCC) || is_restored {
                        continue;
                    }
                    // Where a rule ends, an instruction gives the register its value back.
                    let has_value = written.insert(register) || !has_rule(register, instruction.0);
                    if has_value && !has_rule(register, end(instruction)) && seen.insert(register) {
                        changed.push((register, index));
                    }
                }
            }
        }
        let mut subjects = Vec::new();
        let mut evidence = Vec::new();
        let saved = |register: Register, index: usize| {
            let stores = &self.saves.get(&register)?.stores;
            let before = stores.partition_point(|store| *store < index);
            stores[..before].last().map(|store| &self.instructions[*store])
        };
        // A register that is saved has what the caller needs.
        changed.sort_by_cached_key(|(register, index)| (saved(*register, *index).is_none(), *register));
        for (register, index) in changed {
            let instruction = &self.instructions[index];
            if subjects.len() < MOST_FACTS {
                let saved = saved(register, index);
                evidence.extend(saved.map(|saved| format!("{} saves {}", described(saved), name(register))));
                evidence.push(format!("{} changes {}", described(instruction), name(register)));
            }
            subjects.push(name(register));
        }
        let written =
            format!("no rule for {}: {}", Count(subjects.len(), "changed register"), listed(&subjects)?);
        Some((LintCode::SavedWithoutRule, written, evidence))
    }

    /// Returns the finding about vector registers of which not all lanes were stored, and that are said to be in memory
    /// whole.
    fn saved_in_part(&self) -> Found {
        let mut subjects = Vec::new();
        let mut evidence = Vec::new();
        let flows = || [self.function.lanes(self.file), self.function.waiting_lanes(self.file)];
        let missing = LazyCell::new(|| flows().map(without_lanes));
        for (reg, runs) in &self.rules.columns.registers {
            let Some(vector) =
                register(self.file, *reg).filter(|register| register.0 == RegisterKind::Vector)
            else {
                continue;
            };
            let Some(saves) = self.saves.get(&vector) else { continue };
            // Later stores can be of other contents to other addresses.
            let is_memory = |run: &&FrameRun<RegisterRule<'r>>| {
                let rule = Rule::Register(run.rule);
                self.rules.meaning(self.file, Some(*reg), rule).is_whole_memory
            };
            let Some(run) = runs.iter().find(is_memory) else { continue };
            let before = saves.stores.partition_point(|store| self.instructions[*store].0 < run.pcs.start);
            // Several stores can save all lanes together.
            let mut lacking = [true; 2];
            for &store in &saves.stores[..before] {
                let missing = [0, 1].map(|side: usize| missing[side].get(&store) == Some(&true));
                lacking = [lacking[0] && missing[0], lacking[1] && missing[1]];
            }
            let Some(&store) = saves.stores[..before].last() else { continue };
            let lanes = match lacking {
                [true, _] => "on",
                [false, true] => "off",
                [false, false] => continue,
            };
            let subject = name(vector);
            if subjects.len() < MOST_FACTS {
                let store = described(&self.instructions[store]);
                evidence.push(format!(
                    "{store} stores {subject}, but not in the lanes that are {lanes} at the function's entry"
                ));
            }
            subjects.push(subject);
        }
        let written = format!(
            "{} in memory as a whole: {}",
            Count(subjects.len(), "vector register"),
            listed(&subjects)?
        );
        Some((LintCode::SavedInPart, written, evidence))
    }

    /// Returns the finding about rules that read `exec` at the entry, which no rule gives.
    fn entry_exec(&self) -> Found {
        let columns = &self.rules.columns.registers;
        let exec: Vec<_> = (0..columns.len())
            .filter(|number| register(self.file, columns[*number].0) == Some((RegisterKind::Scalar, EXEC)))
            .collect();
        let mut switched: Option<Vec<(usize, usize, &str)>> = None;
        let mut subjects = Vec::new();
        let mut evidence = Vec::new();
        for (column, pcs, rule) in self.runs() {
            if !self.rules.meaning(self.file, column, rule).reads_entry_exec {
                continue;
            }
            let switched = switched.get_or_insert_with(|| self.switched());
            let has_rule = |pc: u64| {
                let rules = exec.iter().filter_map(|number| self.rules.column(*number, pc));
                rules.into_iter().any(|rule| rule != RegisterRule::SameValue)
            };
            let pc = |index: usize| self.instructions[index].0;
            let start = switched.partition_point(|switched| pc(switched.0) < pcs.start);
            let mut within = switched[start..].iter().take_while(|switched| pc(switched.0) < pcs.end);
            let Some(&(index, cause, state)) = within.find(|switched| !has_rule(pc(switched.0))) else {
                continue;
            };
            let subject = self.column_name(column);
            if subjects.contains(&subject) {
                continue;
            }
            if evidence.is_empty() {
                let cause = described(&self.instructions[cause]);
                evidence
                    .push(format!("{cause} switches lanes {state}, which are {state} at {:#x}", pc(index)));
                evidence.push(format!("no rule for exec at {:#x}", pc(index)));
            }
            subjects.push(subject);
        }
        let written = format!(
            "{} by exec at the entry, which is not known: {}",
            Count(subjects.len(), "rule"),
            listed(&subjects)?
        );
        Some((LintCode::EntryExecUnknown, written, evidence))
    }

    /// Returns the instructions at which `exec` lacks a lane that it has at the function's entry, or has a lane more; each
    /// with the instruction that has changed it, and the lane's state.
    fn switched(&self) -> Vec<(usize, usize, &'static str)> {
        let flow = [self.function.lanes(self.file), self.function.waiting_lanes(self.file)];
        let off = flow[0].map(|flow| flow.switched(|bit| bit == Bit::Off));
        let on = flow[1].map(|flow| flow.switched(|bit| matches!(bit, Bit::On | Bit::Ones)));
        let state = |state| move |(index, cause)| (index, cause, state);
        let off = off.into_iter().flatten().map(state("off"));
        let mut switched: Vec<_> = off.chain(on.into_iter().flatten().map(state("on"))).collect();
        switched.sort_unstable();
        switched
    }
}

/// Lists the first subjects, registers with consecutive numbers as a run; `None` without any.
fn listed(subjects: &[String]) -> Option<String> {
    let mut runs: Vec<[&str; 2]> = Vec::new();
    for subject in subjects {
        match runs.last_mut() {
            Some([_, last]) if is_next(last, subject) => *last = subject,
            _ => runs.push([subject, subject]),
        }
    }
    let more = if runs.len() > MOST_FACTS { ", …" } else { "" };
    runs.truncate(MOST_FACTS);
    let texts: Vec<String> = runs
        .iter()
        .map(|[first, last]| if first == last { (*first).into() } else { format!("{first}–{last}") })
        .collect();
    (!texts.is_empty()).then(|| format!("`{}{more}`", texts.join(", ")))
}

/// Whether a register's number comes after another register's, as that of `v41` after that of `v40`.
fn is_next(before: &str, name: &str) -> bool {
    let letters = |name: &str| name.trim_end_matches(|it: char| it.is_ascii_digit()).len();
    let number = |name: &str| name[letters(name)..].parse::<u32>().ok();
    let follows = number(before).zip(number(name)).is_some_and(|(before, next)| next == before + 1);
    follows && before[..letters(before)] == name[..letters(name)]
}
