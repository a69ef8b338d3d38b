//! What is known before each instruction of a function about its caller's registers.
//!
//! The analysis follows the stack pointer `s32`, the frame pointer `s33`, and where the caller's contents of the registers are
//! that the function must preserve. A register whose contents it loses is undefined from there on.

use smallvec::SmallVec;

use super::code::{Code, Instruction, Register};
use crate::op::Reg;
use crate::target::code::{EXEC, RegisterKind, SourceOperand, VCC};
use crate::target::{Target, is_preserved};

pub(super) const STACK: Register = (RegisterKind::Scalar, 32);
pub(super) const FRAME: Register = (RegisterKind::Scalar, 33);
pub(super) const RETURN: [Register; 2] = [(RegisterKind::Scalar, 30), (RegisterKind::Scalar, 31)];

/// Limit on registers that are followed, and on rounds.
const MOST_REGISTERS: usize = 256;
const MOST_ROUNDS: usize = 64;

/// Copy of the caller's contents of a register.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Copy {
    Register(Register),
    /// A lane of a vector register.
    Lane(u16, u8),
}

/// The caller's contents of a register.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Home {
    pub(super) register: Register,
    pub(super) is_intact: bool,
    pub(super) copies: SmallVec<[Copy; 2]>,
}

/// Facts before an instruction.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct State {
    /// Stack pointer and frame pointer: bytes from the canonical frame address, in the unit of the registers.
    pub(super) stack: Option<i64>,
    pub(super) frame: Option<i64>,
    pub(super) homes: Vec<Home>,
}

/// Returns what is known before each instruction; `None` for one that is not reached.
pub(super) fn states(code: &Code, target: &Target) -> Option<Vec<Option<State>>> {
    let mut followed: Vec<Register> = RETURN.to_vec();
    let exec = (RegisterKind::Scalar, EXEC);
    let keeps_exec = target.exec().and_then(|exec| target.preserved_bits(exec)).is_some_and(|bits| bits > 0);
    for instruction in &code.instructions {
        for write in instruction.decoded.writes()? {
            for number in write.first..write.first.saturating_add(write.count) {
                let register = (write.kind, number);
                let is_followed = register == exec && keeps_exec
                    || is_preserved(write.kind, number)
                        && dwarf(target, register).is_some()
                        && register != STACK;
                if is_followed && !followed.contains(&register) {
                    followed.push(register);
                }
            }
        }
    }
    if followed.len() > MOST_REGISTERS {
        return None;
    }
    let home = |&register: &Register| Home { register, is_intact: true, copies: SmallVec::new() };
    let entry = State { stack: Some(0), frame: None, homes: followed.iter().map(home).collect() };
    let mut states: Vec<Option<State>> = vec![None; code.instructions.len()];
    *states.first_mut()? = Some(entry);
    for _ in 0..MOST_ROUNDS {
        let mut is_stable = true;
        for index in 0..code.instructions.len() {
            crate::work::step();
            let mut state = if index == 0 { states[0].clone() } else { None };
            for before in code.before(index) {
                let Some(known) = &states[before] else { continue };
                let mut after = known.clone();
                after.run(&code.instructions[before], code.is_wide);
                match &mut state {
                    Some(state) => state.join(&after),
                    state => *state = Some(after),
                }
            }
            is_stable &= state == states[index];
            states[index] = state;
        }
        if is_stable {
            return Some(states);
        }
    }
    None
}

impl State {
    fn run(&mut self, instruction: &Instruction, is_wide: bool) {
        let name = instruction.name();
        let source = instruction.decoded.source;
        let second = instruction.decoded.second;
        let written =
            instruction.writes().iter().find(|write| write.first != EXEC || name.starts_with("s_mov"));
        let written = written.map(|write| (write.kind, write.first));
        self.pointers(instruction);
        // The copy that the instruction makes, before it changes anything.
        let is_move = matches!(name, "s_mov_b32") || is_wide && name == "s_mov_b64";
        let lane = match second {
            Some(SourceOperand::Constant(lane @ 0..64)) => Some(lane as u8),
            _ => None,
        };
        for home in &mut self.homes {
            let is_exec = home.register == (RegisterKind::Scalar, EXEC);
            // Two registers at once only for `exec`, whose halves belong together.
            let moves = is_move && (is_exec || name == "s_mov_b32");
            let has = |register: Register| {
                home.is_intact && home.register == register || home.copies.contains(&Copy::Register(register))
            };
            let sources = match source {
                Some(SourceOperand::Register(kind, number)) => Some((kind, number)),
                _ => None,
            };
            let new = match (written, sources) {
                (Some(to), Some(from)) if moves && has(from) => Some(Copy::Register(to)),
                (Some(to), _) if is_exec && name.contains("_saveexec") && home.is_intact => {
                    Some(Copy::Register(to))
                }
                (Some((_, number)), Some(from)) if name.starts_with("v_writelane") && has(from) => {
                    lane.map(|lane| Copy::Lane(number, lane))
                }
                (Some(to), Some((_, number))) if name.starts_with("v_readlane") => {
                    let lane = lane.map(|lane| Copy::Lane(number, lane));
                    lane.filter(|lane| home.copies.contains(lane)).map(|_| Copy::Register(to))
                }
                _ => None,
            };
            let is_kept = |copy: &Copy| match copy {
                Copy::Register((kind, number)) => {
                    !(instruction.changes((*kind, *number))
                        || is_exec && is_wide && instruction.changes((*kind, number + 1)))
                }
                Copy::Lane(number, own) => {
                    let is_other = name.starts_with("v_writelane") && lane.is_some_and(|lane| lane != *own);
                    is_other || !instruction.changes((RegisterKind::Vector, *number))
                }
            };
            home.copies.retain(|copy| is_kept(copy));
            home.is_intact &= !instruction.changes(home.register);
            match new {
                Some(Copy::Register(to)) if to == home.register => home.is_intact = true,
                Some(copy) if !home.copies.contains(&copy) => home.copies.push(copy),
                _ => {}
            }
        }
    }

    /// Follows the stack pointer and the frame pointer.
    fn pointers(&mut self, instruction: &Instruction) {
        let name = instruction.name();
        let own = |register: Register| Some(SourceOperand::Register(register.0, register.1));
        let source = instruction.decoded.source;
        let added = match (name, source, instruction.decoded.second) {
            (
                "s_add_i32" | "s_add_u32" | "s_add_co_i32" | "s_add_co_u32",
                from,
                Some(SourceOperand::Constant(by)),
            ) if from == own(STACK) => Some(by),
            ("s_sub_i32" | "s_sub_u32", from, Some(SourceOperand::Constant(by))) if from == own(STACK) => {
                Some(-by)
            }
            ("s_addk_i32" | "s_addk_co_i32", Some(SourceOperand::Constant(by)), _) => Some(by),
            _ => None,
        };
        let [stack, frame] = [self.stack, self.frame];
        if instruction.changes(STACK) {
            self.stack = match added {
                Some(by) => stack.map(|offset| offset + by),
                None if name == "s_mov_b32" && source == own(FRAME) => frame,
                None => None,
            };
        }
        if instruction.changes(FRAME) {
            self.frame = match added {
                Some(by) if source == own(STACK) => stack.map(|offset| offset + by),
                None if name == "s_mov_b32" && source == own(STACK) => stack,
                _ => None,
            };
        }
    }

    fn join(&mut self, other: &Self) {
        if self.stack != other.stack {
            self.stack = None;
        }
        if self.frame != other.frame {
            self.frame = None;
        }
        for (own, other) in self.homes.iter_mut().zip(&other.homes) {
            own.is_intact &= other.is_intact;
            own.copies.retain(|copy| other.copies.contains(copy));
        }
    }
}

/// Returns the DWARF register for a processor register.
pub(super) fn dwarf(target: &Target, (kind, number): Register) -> Option<Reg> {
    match kind {
        RegisterKind::Scalar if number < VCC => target.sgpr(number).ok(),
        RegisterKind::Scalar => None,
        RegisterKind::Vector => target.vgpr(number).ok(),
        RegisterKind::Accumulator => target.register_named(&format!("a{number}")).ok(),
    }
}
