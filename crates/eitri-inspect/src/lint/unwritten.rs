//! Findings about lanes in which a register does not have the variable: the location goes on after an instruction that
//! switches these lanes on, and the instruction that set the register for it ran without them.
//!
//! Each lane is followed through the function ([`LaneFlow`]). Where a lane is on and a location in the register begins, or
//! the register is set, the location speaks for what the lane has in the register. A finding needs a lane that is switched
//! on within the location's range, and whose register has an older result, for which no location has spoken:
//!
//! * at a pc where no active lane has the new result; or
//! * where a location elsewhere has spoken for the lane after the older result was in the register.
//!
//! A result that can be the variable is never an older result: a copy, loaded memory, and the result of arithmetic that need not
//! change the value of a register with the variable.

use std::ops::Range;

use hashbrown::{HashMap, HashSet};

use super::codes::LintCode;
use super::details::Details;
use super::file::{File, Function};
use super::function_code::{PcInstruction, described};
use super::lane_flow::LaneFlow;
use super::lane_masks::{Bit, is_call};
use super::lane_values::can_be_equal;
use super::places::Diagnosed;
use super::shape::{LocationShape, Selected, Shape};
use eitri_dwarf::target::code::{DecodedInstruction, EXEC, RegisterKind, SourceOperand};
use eitri_dwarf::target::is_preserved;

/// A location entry of a variable: pcs and shape.
pub(super) type Located<'l> = (Range<u64>, &'l Shape);

/// A finding: the entry's index, and the pcs that it is about.
pub(super) type Unwritten = (usize, Range<u64>, Diagnosed);

/// What a variable's locations say at an instruction about a register.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Said {
    Nothing,
    /// The variable is in the register.
    Here,
    /// The variable is somewhere else.
    Elsewhere,
}

/// Contents of a register in a lane.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
struct Contents {
    /// Index of the instruction that wrote the register last; `None` before the first.
    writer: Option<usize>,
    /// Whether a location speaks for the contents, or the variable can have been copied.
    is_said: bool,
    /// Whether a location elsewhere has spoken for the lane since.
    is_elsewhere: bool,
    /// The instruction that switched the lane on within the location's range.
    switch: Option<usize>,
}

/// A lane with old contents of the register at an instruction.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
struct Old {
    writer: Option<usize>,
    switch: usize,
    is_elsewhere: bool,
}

/// Returns the findings about a variable's location entries. The entries are those with pcs.
pub(super) fn findings<'r>(
    file: &File<'r, '_>,
    function: &Function<'r, '_>,
    entries: &[Located<'_>],
) -> Vec<Unwritten> {
    let mut findings = Vec::new();
    let code = function.code(file);
    let can_switch = |(pcs, shape): &&Located<'_>| {
        code.can_switch_lanes_on(pcs) && vector_registers(file, shape).next().is_some()
    };
    if !entries.iter().any(|entry| can_switch(&entry)) {
        return findings;
    }
    let Some(flow) = function.lanes(file) else { return findings };
    // A lane that is off where the range begins is on within it.
    let resumes = |pcs: &Range<u64>| {
        let start = flow.index(pcs.start).filter(|_| pcs.start < pcs.end)?;
        let end = flow.instructions.partition_point(|instruction| instruction.0 < pcs.end);
        flow.can_resume(start, end).then_some(())
    };
    let resuming = entries.iter().filter(|(pcs, _)| resumes(pcs).is_some());
    let mut registers: Vec<u16> = resuming.flat_map(|(_, shape)| vector_registers(file, shape)).collect();
    registers.sort_unstable();
    registers.dedup();
    let own = entries.iter().flat_map(|(_, shape)| vector_registers(file, shape)).collect();
    for register in registers {
        if !flow.take(flow.instructions.len().saturating_add(entries.len())) {
            break;
        }
        let query = Query::new(file, flow, entries, (register, &own));
        let with_lanes = (0..entries.len()).filter(|entry| resumes(&entries[*entry].0).is_some());
        let begun: Vec<_> = with_lanes.filter_map(|entry| query.writer(entry)).collect();
        if begun.is_empty() {
            continue;
        }
        let Some(lanes) = query.run() else { continue };
        for (entry, writer) in begun {
            let known = findings.iter().any(|finding: &Unwritten| finding.0 == entry);
            if let Some(finding) = query.finding(entry, writer, &lanes).filter(|_| !known) {
                findings.push((entry, finding.0, finding.1));
            }
        }
    }
    findings
}

/// Returns the vector registers whose current lane a location is in.
fn vector_registers(file: &File<'_, '_>, shape: &Shape) -> impl Iterator<Item = u16> {
    shape.parts.iter().filter_map(|part| match part.place {
        LocationShape::Register(reg, Selected::Nothing | Selected::Lane(_)) => match file.operand(reg)? {
            (RegisterKind::Vector, number) => Some(number),
            _ => None,
        },
        _ => None,
    })
}

/// Lanes at each instruction within the locations in a register.
#[derive(Default)]
struct Lanes {
    /// Instructions at which a lane is active whose contents a location speaks for, or that the analysis does not know.
    said: HashSet<usize>,
    old: HashMap<usize, Olds>,
}

/// Lanes with old contents at an instruction: the first of each kind, and all kinds.
#[derive(Default)]
struct Olds {
    in_order: Vec<Old>,
    known: HashSet<Old>,
}

/// Question about a register that a variable is in.
struct Query<'q> {
    flow: &'q LaneFlow,
    entries: &'q [Located<'q>],
    register: u16,
    /// All vector registers that the variable's locations are in.
    own: &'q HashSet<u16>,
    /// Whether each entry is in the register.
    is_here: Vec<bool>,
    said: Vec<Said>,
    /// Whether each instruction writes the register.
    writes: Vec<bool>,
}

impl<'q> Query<'q> {
    fn new(
        file: &File<'_, '_>,
        flow: &'q LaneFlow,
        entries: &'q [Located<'q>],
        (register, own): (u16, &'q HashSet<u16>),
    ) -> Self {
        let instructions = &flow.instructions;
        let mut said = vec![Said::Nothing; instructions.len()];
        let is_here: Vec<_> = entries
            .iter()
            .map(|(_, shape)| vector_registers(file, shape).any(|number| number == register))
            .collect();
        for ((pcs, shape), is_here) in entries.iter().zip(&is_here) {
            if matches!(
                &shape.parts[..],
                [] | [super::shape::PartShape { place: LocationShape::Nothing, .. }]
            ) {
                continue;
            }
            let first = instructions.partition_point(|instruction| instruction.0 < pcs.start);
            let end = instructions.partition_point(|instruction| instruction.0 < pcs.end);
            for said in &mut said[first..end.max(first)] {
                eitri_dwarf::work::step();
                *said = match (*said, is_here) {
                    (Said::Here, _) | (_, true) => Said::Here,
                    _ => Said::Elsewhere,
                };
            }
        }
        let writes = |(_, instruction): &PcInstruction| {
            let mut writes = instruction.writes().into_iter().flatten();
            writes.any(|write| write.contains(RegisterKind::Vector, register))
        };
        let writes = instructions.iter().map(writes).collect();
        Self { flow, entries, register, own, is_here, said, writes }
    }

    /// Returns an entry and the instruction that sets the register for it: the last one before the entry's range, with
    /// the same active lanes.
    fn writer(&self, entry: usize) -> Option<(usize, usize)> {
        let pcs = &self.entries[entry].0;
        let start = self.flow.index(pcs.start).filter(|_| self.is_here[entry] && pcs.start < pcs.end)?;
        let mut index = start;
        while index > 0 && !self.flow.begins[index] {
            index -= 1;
            let instruction = &self.flow.instructions[index].1;
            if self.writes[index] {
                return Some((entry, index));
            }
            let writes_exec =
                instruction.writes()?.iter().any(|write| write.contains(RegisterKind::Scalar, EXEC));
            if writes_exec || is_call(instruction) {
                return None;
            }
        }
        None
    }

    /// Follows the register's contents in a lane. `None` if there are too many states.
    fn run(&self) -> Option<Lanes> {
        let flow = self.flow;
        let mut lanes = Lanes::default();
        let first = Contents { writer: None, is_said: false, is_elsewhere: false, switch: None };
        let first = self.enter(0, None, first, &mut lanes);
        let mut known: HashSet<(u32, Contents)> = HashSet::from_iter([(0, first)]);
        let mut open = vec![(0, first)];
        while let Some((node, contents)) = open.pop() {
            if !flow.take(1) {
                return None;
            }
            let after = self.after(node, contents);
            for &next in &flow.nodes[node as usize].next {
                let entered = self.enter(next, Some(node), after, &mut lanes);
                if known.insert((next, entered)) {
                    open.push((next, entered));
                }
            }
        }
        Some(lanes)
    }

    /// Returns the contents after the instruction at a node.
    fn after(&self, node: u32, contents: Contents) -> Contents {
        let node = &self.flow.nodes[node as usize];
        let index = node.instruction;
        let instruction = &self.flow.instructions[index].1;
        let is_off = node.exec == Bit::Off;
        let name = instruction.name.unwrap_or_default();
        if is_call(instruction) && !is_off && !is_preserved(RegisterKind::Vector, self.register) {
            return Contents { is_said: true, switch: None, ..contents };
        }
        // A single lane's element is written whatever the mask is.
        let is_element = name.starts_with("v_writelane");
        if !self.writes[index] || is_off && !is_element {
            return contents;
        }
        let is_said = is_element || self.can_be_variable(instruction) || node.exec != Bit::On;
        Contents { writer: Some(index), is_said, is_elsewhere: false, switch: None }
    }

    /// Whether the result of an instruction can be the variable: a copy, also by arithmetic that does not change the value,
    /// or a load from memory that can have a copy.
    fn can_be_variable(&self, instruction: &DecodedInstruction) -> bool {
        const COPIES: [&str; 11] = [
            "v_mov",
            "v_pk_mov",
            "v_dual",
            "v_cndmask",
            "v_accvgpr",
            "v_swap",
            "v_permlane",
            "scratch_",
            "buffer_",
            "flat_",
            "ds_",
        ];
        const CHOICES: [&str; 3] = ["v_perm", "v_align", "v_bf"];
        let starts = |names: &[&str]| {
            instruction.name.is_some_and(|name| names.iter().any(|start| name.starts_with(start)))
        };
        if starts(&COPIES) {
            return true;
        }
        if !starts(&["v_"]) {
            return false;
        }
        let sources = [instruction.source, instruction.second, instruction.third];
        let reads_own = sources.iter().flatten().any(|source| match source {
            // The operand can be a pair.
            SourceOperand::Register(RegisterKind::Vector, first) => {
                self.own.contains(first) || self.own.contains(&first.saturating_add(1))
            }
            _ => false,
        });
        let is = |source: usize, constant: i64| sources[source] == Some(SourceOperand::Constant(constant));
        // Fractions are not told apart.
        let is_one = |source: usize| is(source, 1) || sources[source] == Some(SourceOperand::Other);
        let is_sum_of_product = starts(&["v_mad", "v_fma"]);
        let keeps = if starts(&["v_and"]) {
            is(0, -1) || is(1, -1) || sources[0] == sources[1]
        } else if starts(&["v_mul"]) {
            is_one(0) || is_one(1)
        } else if is_sum_of_product {
            is(0, 0)
                || is(1, 0)
                || (is_one(0) || is_one(1)) && !matches!(sources[2], Some(SourceOperand::Constant(1..)))
        } else {
            starts(&CHOICES) || sources[0] == sources[1] || (0..3).any(|source| is(source, 0))
        };
        // Modifiers hide the first source.
        reads_own && keeps || instruction.source.is_none()
    }

    /// Returns the contents as a lane arrives at a node, and adds the lane at the instruction.
    fn enter(&self, to: u32, from: Option<u32>, contents: Contents, lanes: &mut Lanes) -> Contents {
        let node = &self.flow.nodes[to as usize];
        let index = node.instruction;
        let said = self.said[index];
        if node.exec == Bit::Off {
            // The lane leaves the range, or waits in it.
            return Contents { switch: None, ..contents };
        }
        if said != Said::Here {
            let is_elsewhere = contents.is_elsewhere || said == Said::Elsewhere && node.exec == Bit::On;
            return Contents { is_elsewhere, switch: None, ..contents };
        }
        let before = from.map(|from| &self.flow.nodes[from as usize]);
        let switched = before.filter(|before| {
            self.said[before.instruction] == Said::Here && before.exec == Bit::Off && node.exec == Bit::On
        });
        let switch = switched.map(|before| before.instruction).or(contents.switch);
        match switch {
            Some(switch) if !contents.is_said => {
                let Contents { writer, is_elsewhere, .. } = contents;
                let olds = lanes.old.entry(index).or_default();
                let old = Old { writer, switch, is_elsewhere };
                if olds.known.insert(old) {
                    olds.in_order.push(old);
                }
                Contents { switch: Some(switch), ..contents }
            }
            _ => {
                lanes.said.insert(index);
                Contents { is_said: true, switch: None, ..contents }
            }
        }
    }

    /// Returns the pcs and the finding about an entry, whose register an instruction sets.
    fn finding(&self, entry: usize, writer: usize, lanes: &Lanes) -> Option<(Range<u64>, Diagnosed)> {
        let pcs = &self.entries[entry].0;
        let instructions = &self.flow.instructions;
        let first = self.flow.index(pcs.start)?;
        let end = instructions.partition_point(|instruction| instruction.0 < pcs.end);
        // A lane is active where the range begins.
        if !lanes.said.contains(&first) {
            return None;
        }
        let mut compared: HashMap<usize, bool> = HashMap::new();
        let mut is_equal =
            |old: usize| *compared.entry(old).or_insert_with(|| can_be_equal(self.flow, old, writer));
        let (index, old) = (first..end).find_map(|index| {
            let is_only = !lanes.said.contains(&index);
            let mut is_old = |old: &&Old| {
                // The same operation on the same operands computes the same value.
                let is_another = old.writer.is_none_or(|old| !is_equal(old));
                is_another && (is_only || old.is_elsewhere)
            };
            Some((index, lanes.old.get(&index)?.in_order.iter().find(&mut is_old)?))
        })?;
        let is_only = !lanes.said.contains(&index);
        let register = format!("v{}", self.register);
        let pc = instructions[index].0;
        let set = match old.writer {
            Some(old) => format!("{} set {register} in these lanes last", described(&instructions[old])),
            None => format!("no instruction has set {register} in these lanes"),
        };
        let why = if is_only {
            format!("at {pc:#x} no active lane has what {:#x} wrote", instructions[writer].0)
        } else {
            "in these lanes the variable was elsewhere since".into()
        };
        let evidence = [
            format!(
                "{} sets {register} in the lanes that are active before {:#x}",
                described(&instructions[writer]),
                instructions[old.switch].0
            ),
            format!("{} switches other lanes on", described(&instructions[old.switch])),
            set,
            why,
        ];
        let details =
            Details::new(format!("{register} in all active lanes from {pc:#x} on")).evidence(evidence);
        Some((pc..pcs.end, Diagnosed::new(LintCode::LanesNotWritten, details)))
    }
}
