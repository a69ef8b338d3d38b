//! Where lanes stop running and run again.
//!
//! A lane that an instruction takes out of `exec` waits, and runs again after an instruction that puts it back. What it
//! knew when it stopped is what holds for it then, whatever the wave ran meanwhile. Which instructions can put back the
//! lanes that another instruction took out follows from the masks in scalar registers: a mask can only have lanes that were
//! in the masks from which it was computed.
//!
//! The instructions that take lanes out are divided into 64 classes, so that a set of them is a word.

use super::code::{Code, Instruction};
use super::flow::{FlowState, blocks, states};
use crate::target::code::{EXEC, Flow, RegisterKind, SourceOperand};
use crate::target::is_preserved;

/// Number of scalar registers, by their number in instructions.
const REGISTERS: usize = 128;
/// Number of classes.
const CLASSES: usize = 64;

/// The lanes of a mask.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Mask {
    /// Whether it can have lanes that run.
    runs: bool,
    /// Whether it has all lanes that run.
    has_running: bool,
    /// Classes of instructions that took out lanes which it can have.
    waits: u64,
    /// Classes whose waiting lanes it has, all of them.
    covers: u64,
}

impl Mask {
    fn and(self, other: Self) -> Self {
        Self {
            runs: self.runs && other.runs,
            has_running: self.has_running && other.has_running,
            waits: self.waits & other.waits,
            covers: self.covers & other.covers,
        }
    }

    fn or(self, other: Self) -> Self {
        Self {
            runs: self.runs || other.runs,
            has_running: self.has_running || other.has_running,
            waits: self.waits | other.waits,
            covers: self.covers | other.covers,
        }
    }

    /// Returns a mask that is one mask on one path, and the other on another path.
    fn join(self, other: Self) -> Self {
        Self { waits: self.waits | other.waits, runs: self.runs || other.runs, ..self.and(other) }
    }
}

/// Change of `exec`.
#[derive(Debug, Clone, Copy, Default)]
struct Change {
    /// Whether lanes stop.
    stops: bool,
    /// A mask whose waiting lanes run again.
    starts: Option<Mask>,
    /// The scalar register with a mask that has all lanes that stop, besides the masks with all lanes that run.
    holder: Option<u16>,
}

/// Masks in scalar registers.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Masks {
    by_register: [Mask; REGISTERS],
    /// Classes that can have waiting lanes.
    waiting: u64,
}

impl Masks {
    /// Returns the masks where no lane has stopped.
    fn new() -> Self {
        let unknown = Mask { runs: true, has_running: false, waits: 0, covers: u64::MAX };
        Self { by_register: [unknown; REGISTERS], waiting: 0 }
    }

    /// Returns a mask with whatever lanes.
    fn any(&self) -> Mask {
        Mask { runs: true, has_running: false, waits: self.waiting, covers: !self.waiting }
    }

    /// Returns the lanes that run.
    fn running(&self) -> Mask {
        Mask { runs: true, has_running: true, waits: 0, covers: !self.waiting }
    }

    fn read(&self, operand: Option<SourceOperand>) -> Mask {
        match operand {
            Some(SourceOperand::Register(RegisterKind::Scalar, EXEC)) => self.running(),
            Some(SourceOperand::Register(RegisterKind::Scalar, number)) => {
                self.by_register.get(usize::from(number)).copied().unwrap_or(self.any())
            }
            Some(SourceOperand::Constant(0)) => {
                Mask { runs: false, has_running: false, waits: 0, covers: !self.waiting }
            }
            Some(SourceOperand::Constant(-1)) => Mask { has_running: true, covers: u64::MAX, ..self.any() },
            _ => self.any(),
        }
    }

    fn write(&mut self, number: u16, mask: Mask) {
        if let Some(known) = self.by_register.get_mut(usize::from(number)) {
            *known = mask;
        }
    }

    /// Runs an instruction of a class. Returns whether lanes stop, and the classes of lanes that can run again.
    fn run(&mut self, instruction: &Instruction, class: u32, is_wide: bool) -> (bool, u64) {
        let name = instruction.name();
        if instruction.flow == Flow::Call {
            for number in 0..REGISTERS as u16 {
                if !is_preserved(RegisterKind::Scalar, number) {
                    self.write(number, self.any());
                }
            }
            return (false, 0);
        }
        if instruction.decoded.writes().is_none() {
            self.by_register = [self.any(); REGISTERS];
            return (false, 0);
        }
        let sources = [instruction.decoded.source, instruction.decoded.second];
        let result = self.result(name, sources);
        let change = if instruction.writes_exec() {
            self.change(instruction, sources, result)
        } else {
            Change::default()
        };
        for write in instruction.writes().iter().filter(|write| write.kind == RegisterKind::Scalar) {
            // The old mask in two registers is not whole any more.
            if is_wide && write.first > 0 && write.first != EXEC {
                self.write(write.first - 1, self.any());
            }
            for number in write.first..write.first.saturating_add(write.count) {
                self.write(number, if number == write.first { result } else { self.any() });
            }
        }
        self.apply(change, class)
    }

    /// Returns the mask that an instruction writes to a scalar register.
    fn result(&self, name: &str, sources: [Option<SourceOperand>; 2]) -> Mask {
        let [first, second] = sources.map(|operand| self.read(operand));
        if name.contains("_saveexec") || name.starts_with("v_") && !name.starts_with("v_read") {
            // `saveexec` saves `exec`; a result of a comparison or a carry has no lanes that wait.
            return Mask { has_running: name.contains("_saveexec"), ..self.running() };
        }
        if is_difference(name) {
            return Mask { has_running: false, covers: !self.waiting, ..first };
        }
        match name {
            _ if name.starts_with("s_mov_b") => first,
            _ if name.starts_with("s_and_b") => first.and(second),
            _ if name.starts_with("s_or_b") => first.or(second),
            _ if name.starts_with("s_cselect_b") => first.join(second),
            _ if name.starts_with("s_xor_b") => match (is_exec(sources[0]), is_exec(sources[1])) {
                (true, false) => Mask { runs: !second.has_running, has_running: false, ..second },
                (false, true) => Mask { runs: !first.has_running, has_running: false, ..first },
                _ => Mask { has_running: false, covers: !self.waiting, ..first.or(second) },
            },
            _ => self.any(),
        }
    }

    /// Returns how `exec` changes; `result` is what the instruction would write to another register.
    fn change(&self, instruction: &Instruction, sources: [Option<SourceOperand>; 2], result: Mask) -> Change {
        let name = instruction.name();
        let register = |operand| match operand {
            Some(SourceOperand::Register(RegisterKind::Scalar, number)) => Some(number),
            _ => None,
        };
        let stops = Change { stops: true, ..Change::default() };
        if name.starts_with("v_cmpx") {
            return stops;
        }
        let [first, second] = sources.map(|operand| self.read(operand));
        if let Some((operation, _)) = name.split_once("_saveexec") {
            return match operation {
                // `s_and_not0` and `s_andn1` have the operand's complement.
                "s_and" | "s_and_not0" | "s_andn1" => stops,
                "s_or" => Change { starts: Some(first), ..Change::default() },
                // `s_and_not1` and `s_andn2` have the complement of `exec`.
                "s_xor" | "s_and_not1" | "s_andn2" => {
                    // The saved mask has the lanes that ran, and these are the lanes that stop.
                    let saved = instruction.writes().iter().find(|write| write.first != EXEC);
                    Change { stops: true, starts: Some(first), holder: saved.map(|write| write.first) }
                }
                _ => Change { starts: Some(self.any()), ..stops },
            };
        }
        let (other, holder) =
            if is_exec(sources[0]) { (second, register(sources[1])) } else { (first, register(sources[0])) };
        let has_exec = sources.into_iter().any(is_exec);
        match name {
            _ if has_exec && name.starts_with("s_and_b") => stops,
            _ if has_exec && name.starts_with("s_or_b") => {
                Change { starts: Some(other), ..Change::default() }
            }
            _ if has_exec && name.starts_with("s_xor_b") => {
                Change { stops: true, starts: Some(other), holder }
            }
            _ if is_exec(sources[0]) && is_difference(name) => Change { holder, ..stops },
            _ => Change { stops: !result.has_running, starts: Some(result), holder: None },
        }
    }

    /// Moves lanes that stop and lanes that run again between the sets.
    fn apply(&mut self, change: Change, class: u32) -> (bool, u64) {
        let mut started = 0;
        if let Some(mask) = change.starts {
            started = mask.waits & self.waiting;
            self.waiting &= !mask.covers;
            for known in &mut self.by_register {
                known.runs |= known.waits & started != 0;
                known.has_running &= started & !known.covers == 0;
                known.waits &= self.waiting;
                known.covers |= mask.covers;
            }
        }
        if change.stops {
            let class = 1 << (class % CLASSES as u32);
            for (number, known) in self.by_register.iter_mut().enumerate() {
                if !known.has_running && change.holder != Some(number as u16) {
                    known.covers &= !class;
                }
                if known.runs {
                    known.waits |= class;
                }
            }
            self.waiting |= class;
        }
        (change.stops, started)
    }
}

impl FlowState for Box<Masks> {
    fn join(&mut self, other: &Self) -> bool {
        let before = self.clone();
        for (own, other) in self.by_register.iter_mut().zip(&other.by_register) {
            *own = own.join(*other);
        }
        self.waiting |= other.waiting;
        *self != before
    }
}

fn is_exec(operand: Option<SourceOperand>) -> bool {
    operand == Some(SourceOperand::Register(RegisterKind::Scalar, EXEC))
}

/// Whether the result is the first operand without the lanes of the second.
fn is_difference(name: &str) -> bool {
    name.starts_with("s_andn2_b") || name.starts_with("s_and_not1_b")
}

/// Lanes that stop and run again in a function.
#[derive(Debug, Default)]
pub(super) struct Lanes {
    /// Instructions after which lanes wait, by class, as indices.
    stops: Vec<Vec<u32>>,
    /// Instructions after which lanes run that waited, as indices in order, each with the classes.
    starts: Vec<(u32, u64)>,
}

impl Lanes {
    pub(super) fn new(code: &Code) -> Self {
        let is_whole_wave = whole_wave(code);
        let class_numbers = class_numbers(code);
        let mut lanes = Self { stops: vec![Vec::new(); CLASSES], starts: Vec::new() };
        let step = |masks: &mut Masks, index: usize| {
            if is_whole_wave[index] {
                (false, 0)
            } else {
                masks.run(&code.instructions[index], class_numbers[index], code.is_wide)
            }
        };
        let blocks = blocks(code);
        // Before the first instruction no lane has stopped.
        let states = states(code, &blocks, Box::new(Masks::new()), |masks, index| {
            step(masks, index);
        });
        for (block, state) in blocks.into_iter().zip(states) {
            let Some(mut masks) = state else { continue };
            for index in block {
                let (stops, starts) = step(&mut masks, index);
                if stops {
                    lanes.stops[class_numbers[index] as usize % CLASSES].push(index as u32);
                }
                if starts != 0 {
                    lanes.starts.push((index as u32, starts));
                }
            }
        }
        lanes
    }

    /// Returns the instructions after which lanes waited that run again after an instruction, as indices.
    pub(super) fn stopped(&self, index: usize) -> impl Iterator<Item = usize> {
        let found = self.starts.binary_search_by_key(&(index as u32), |start| start.0);
        let classes = found.map_or(0, |found| self.starts[found].1);
        let classes = (0..CLASSES).filter(move |class| classes >> class & 1 != 0);
        classes.flat_map(|class| self.stops[class].iter().map(|&index| index as usize))
    }
}

/// Returns for each instruction the number of instructions before it that write `exec`, from which its class follows.
fn class_numbers(code: &Code) -> Vec<u32> {
    let mut number = 0;
    let mut numbers = Vec::with_capacity(code.instructions.len());
    for instruction in &code.instructions {
        numbers.push(number);
        number += u32::from(instruction.writes_exec());
    }
    numbers
}

/// Returns for each instruction whether it switches to whole-wave code or back: the lanes that did not run before do not
/// run after it, and nothing that a debugger shows changes for them.
fn whole_wave(code: &Code) -> Vec<bool> {
    let mut is_switch = vec![false; code.instructions.len()];
    let mut begin: Option<(usize, u16)> = None;
    for (index, instruction) in code.instructions.iter().enumerate() {
        if !code.is_straight(index) || instruction.flow != Flow::Next {
            begin = None;
        }
        let name = instruction.name();
        let is_all = instruction.decoded.source == Some(SourceOperand::Constant(-1));
        let saved = instruction.writes().iter().find(|write| write.first != EXEC).map(|write| write.first);
        match (begin, saved) {
            (_, Some(saved))
                if is_all && (name.starts_with("s_or_saveexec") || name.starts_with("s_xor_saveexec")) =>
            {
                begin = Some((index, saved));
            }
            (Some((first, saved)), _) if instruction.writes_exec() => {
                let source = Some(SourceOperand::Register(RegisterKind::Scalar, saved));
                if name.starts_with("s_mov_b") && instruction.decoded.source == source {
                    is_switch[first] = true;
                    is_switch[index] = true;
                }
                begin = None;
            }
            (Some((_, saved)), _) if instruction.changes((RegisterKind::Scalar, saved)) => begin = None,
            _ => {}
        }
    }
    is_switch
}
