//! Call frames of functions that have none, as far as the instructions prove them.
//!
//! A kernel has the frame with which the hardware enters it. In another function, the canonical frame address is what the
//! stack pointer `s32` has at the start, and the return address is in `s[30:31]`: AMDGPU back end user guide, "Non-Kernel
//! Functions". The analysis follows the stack pointer, the frame pointer, and where the caller's contents of the registers
//! are that the function must preserve. A register whose contents it loses is undefined from there on.

use core::ops::Range;
use std::collections::BTreeMap;

use smallvec::SmallVec;

use super::change::FixChange;
use super::code::{Code, Instruction, Register};
use super::functions::{Functions, Source};
use crate::build::{Builder, resumed};
use crate::error::Result;
use crate::lint::{LintCode, LintFinding};
use crate::model::{FunctionId, Loc, Module, Node, Val};
use crate::op::Reg;
use crate::target::code::{EXEC, RegisterKind, SourceOperand, VCC};
use crate::target::{Scaling, SpaceId, Target, is_preserved};

const STACK: Register = (RegisterKind::Scalar, 32);
const FRAME: Register = (RegisterKind::Scalar, 33);
const RETURN: [Register; 2] = [(RegisterKind::Scalar, 30), (RegisterKind::Scalar, 31)];

/// Limit on registers that are followed, and on rounds.
const MOST_REGISTERS: usize = 256;
const MOST_ROUNDS: usize = 64;

/// Copy of the caller's contents of a register.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Copy {
    Register(Register),
    /// A lane of a vector register.
    Lane(u16, u8),
}

/// The caller's contents of a register.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Home {
    register: Register,
    is_intact: bool,
    copies: SmallVec<[Copy; 2]>,
}

/// Facts before an instruction.
#[derive(Debug, Clone, PartialEq, Eq)]
struct State {
    /// Stack pointer and frame pointer: bytes from the canonical frame address, in the unit of the registers.
    stack: Option<i64>,
    frame: Option<i64>,
    homes: Vec<Home>,
}

/// The frame of a function, or the reason why there is none.
pub(super) struct Framed {
    function: FunctionId,
    rules: Vec<(Range<u64>, Column, Loc)>,
    change: FixChange,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Column {
    Cfa,
    Register(Reg),
}

/// A function that needs a frame.
struct Unframed {
    function: FunctionId,
    change: FixChange,
    /// The instructions, and what is known before each; `None` for a kernel.
    known: Option<(Code, Vec<Option<State>>)>,
}

/// Returns the frames of the functions that findings are about, and of functions whose frame is not imported.
pub(super) fn changes(
    module: &Module,
    source: Source<'_, '_>,
    functions: &Functions<'_, '_>,
    findings: &[LintFinding],
) -> Vec<Framed> {
    if module.target().space(SpaceId::PRIVATE_WAVE).is_none() {
        return Vec::new();
    }
    let mut missing: BTreeMap<FunctionId, Option<&LintFinding>> = BTreeMap::new();
    for finding in findings {
        if finding.code == LintCode::NoCfa && finding.split.is_none() {
            let entry = finding.entry.into_iter();
            missing.extend(
                entry.flat_map(|entry| source.entries.functions(entry)).map(|one| (one, Some(finding))),
            );
        }
    }
    for function in functions.pcs.keys().filter(|function| module.frame(**function).is_empty()) {
        missing.entry(*function).or_insert(None);
    }
    let unframed = missing.into_iter().filter_map(|(function, finding)| {
        let is_kernel = functions.is_kernel(module, function);
        let change = FixChange {
            code: LintCode::NoCfa,
            unit: finding.and_then(|finding| finding.unit.as_deref()).map(Into::into),
            function: Some(module.string(module.function(function).name).to_owned()),
            variable: None,
            pcs: Some(functions.pcs.get(&function)?.clone()),
            before: None,
            after: Vec::new(),
            evidence: finding.map_or_else(Vec::new, |finding| finding.evidence.clone()),
        };
        let known = if is_kernel {
            None
        } else {
            let code = functions.code_of(function)?;
            let states = states(&code, module.target())?;
            Some((code, states))
        };
        Some(Unframed { function, change, known })
    });
    let unframed: Vec<Unframed> = unframed.collect();
    let holders = holders(&unframed);
    unframed.into_iter().filter_map(|one| one.framed(module.target(), &holders)).collect()
}

/// Returns the registers in which functions keep registers of their callers, beyond those that functions preserve.
fn holders(unframed: &[Unframed]) -> Vec<Register> {
    let states = unframed.iter().filter_map(|one| one.known.as_ref()).flat_map(|(_, states)| states);
    let copies = states.flatten().flat_map(|state| &state.homes).flat_map(|home| &home.copies);
    let registers = copies.map(|copy| match copy {
        Copy::Register(register) => *register,
        Copy::Lane(number, _) => (RegisterKind::Vector, *number),
    });
    let mut holders: Vec<Register> =
        registers.filter(|(kind, number)| !is_preserved(*kind, *number)).collect();
    holders.sort_unstable();
    holders.dedup();
    holders
}

impl Unframed {
    fn framed(self, target: &Target, holders: &[Register]) -> Option<Framed> {
        let Self { function, mut change, known } = self;
        let pcs = change.pcs.clone()?;
        let returns = target.call_frames().return_register;
        let bytes = pcs.end - pcs.start;
        let Some((code, states)) = known else {
            let start = Loc::memory(SpaceId::PRIVATE_WAVE, Val::constant(0));
            let rules =
                vec![(0..bytes, Column::Cfa, start), (0..bytes, Column::Register(returns), Loc::undefined())];
            change.after.push((Some(pcs), "CFA 0 in the wave's scratch; no return address".into()));
            change.evidence.push("the function is a kernel, whose frame begins at 0".into());
            return Some(Framed { function, rules, change });
        };
        let mut rules = Rules { rules: Vec::new(), base: pcs.start };
        for (instruction, state) in code.instructions.iter().zip(&states) {
            // Code that no path reaches has no frame.
            let Some(state) = state else { continue };
            let pcs = instruction.pc..instruction.end();
            rules.add(&pcs, Column::Cfa, cfa(target, state)?);
            rules.add(&pcs, Column::Register(returns), Some(return_address(target, state)?));
            rules.add(&pcs, Column::Register(target.sgpr(STACK.1).ok()?), stack(target, state)?);
            for home in &state.homes {
                // An intact register needs no rule, because the convention preserves it.
                // The registers of the return address are overwritten by a call, in whose pcs the rule is looked up.
                let is_kept = home.is_intact && (home.copies.is_empty() || !RETURN.contains(&home.register));
                let loc = if is_kept { None } else { Some(saved(target, home, code.is_wide)?) };
                rules.add(&pcs, column(target, home.register)?, loc);
            }
        }
        // A register that the function does not change has the caller's contents, whatever the convention says.
        for register in holders {
            if code.instructions.iter().all(|instruction| !instruction.changes(*register)) {
                let reg = dwarf(target, *register)?;
                rules.rules.push((0..bytes, Column::Register(reg), Loc::register(reg)));
            }
        }
        let rules = rules.rules;
        for (own, column, loc) in &rules {
            let pcs = pcs.start + own.start..pcs.start + own.end;
            let name = match column {
                Column::Cfa => "CFA".to_owned(),
                Column::Register(reg) => {
                    target.register(*reg).map_or_else(String::new, |register| register.name().to_string())
                }
            };
            change.after.push((Some(pcs), format!("{name}: {}", text(target, loc))));
        }
        Some(Framed { function, rules, change })
    }
}

/// Rules that are collected instruction by instruction.
struct Rules {
    rules: Vec<(Range<u64>, Column, Loc)>,
    base: u64,
}

impl Rules {
    fn add(&mut self, pcs: &Range<u64>, column: Column, loc: Option<Loc>) {
        let Some(loc) = loc else { return };
        let own = pcs.start - self.base..pcs.end - self.base;
        let last = self.rules.iter_mut().rev().find(|rule| rule.1 == column);
        match last {
            Some((known, _, same)) if known.end == own.start && *same == loc => known.end = own.end,
            _ => self.rules.push((own, column, loc)),
        }
    }
}

/// Sets the frames.
pub(super) fn apply(m: &mut Builder, framed: Vec<Framed>, changes: &mut Vec<FixChange>) -> Result<()> {
    let functions: Vec<FunctionId> = framed.iter().map(|framed| framed.function).collect();
    resumed::unframe(m, |function| functions.contains(&function));
    for framed in framed {
        let mut frame = m.frame(framed.function)?;
        for (pcs, column, loc) in framed.rules {
            match column {
                Column::Cfa => frame.cfa(pcs, loc)?,
                Column::Register(reg) => frame.saved(pcs, reg, loc)?,
            };
        }
        changes.push(framed.change);
    }
    Ok(())
}

/// Returns the canonical frame address; the outer `None` without the target's registers, the inner where it is not known.
fn cfa(target: &Target, state: &State) -> Option<Option<Loc>> {
    let (register, offset) = match (state.stack, state.frame) {
        (Some(offset), _) => (STACK, offset),
        (None, Some(offset)) => (FRAME, offset),
        (None, None) => return Some(None),
    };
    let value = Val::register(target.sgpr(register.1).ok()?);
    let address = if offset == 0 { value } else { value.plus(-offset) };
    // The address counts the wave's bytes.
    let address = match target.scaling() {
        Scaling::Wave => address,
        Scaling::Lane => address.shl(Val::constant(u64::from(target.lanes().trailing_zeros()))),
    };
    Some(Some(Loc::memory(SpaceId::PRIVATE_WAVE, address)))
}

/// Returns the caller's stack pointer; the inner `None` where it is the stack pointer.
fn stack(target: &Target, state: &State) -> Option<Option<Loc>> {
    let (register, offset) = match (state.stack, state.frame) {
        (Some(0), _) => return Some(None),
        (Some(offset), _) => (STACK, offset),
        (None, Some(offset)) => (FRAME, offset),
        (None, None) => return Some(Some(Loc::undefined())),
    };
    let value = Val::register(target.sgpr(register.1).ok()?);
    Some(Some(Loc::value(if offset == 0 { value } else { value.plus(-offset) })))
}

fn return_address(target: &Target, state: &State) -> Option<Loc> {
    let homes: Vec<&Home> = state.homes.iter().filter(|home| RETURN.contains(&home.register)).collect();
    let [low, high] = homes[..] else { return Some(Loc::undefined()) };
    for (low, high) in low.copies.iter().zip(&high.copies) {
        match (low, high) {
            (Copy::Register(low), Copy::Register(high)) => {
                return Some(Loc::over([dwarf(target, *low)?, dwarf(target, *high)?]));
            }
            (Copy::Lane(low, first), Copy::Lane(high, second)) => {
                let lanes = [(*low, *first), (*high, *second)];
                let [low, high] =
                    lanes.map(|(number, lane)| Some((target.vgpr(number).ok()?, u32::from(lane))));
                return Some(Loc::lanes([low?, high?]));
            }
            _ => {}
        }
    }
    // A copy comes first: after a call, in the pcs of the call instruction, the registers have the call's return address.
    if low.is_intact && high.is_intact {
        return Some(Loc::over([target.sgpr(30).ok()?, target.sgpr(31).ok()?]));
    }
    Some(Loc::undefined())
}

fn saved(target: &Target, home: &Home, is_wide: bool) -> Option<Loc> {
    Some(match home.copies.first() {
        None => Loc::undefined(),
        Some(Copy::Register((kind, number))) if is_wide && home.register.1 == EXEC => {
            Loc::over([dwarf(target, (*kind, *number))?, dwarf(target, (*kind, number + 1))?])
        }
        Some(Copy::Register(register)) => Loc::register(dwarf(target, *register)?),
        Some(Copy::Lane(number, lane)) => Loc::lane(target.vgpr(*number).ok()?, (*lane).into()),
    })
}

fn column(target: &Target, register: Register) -> Option<Column> {
    let reg =
        if register == (RegisterKind::Scalar, EXEC) { target.exec()? } else { dwarf(target, register)? };
    Some(Column::Register(reg))
}

fn dwarf(target: &Target, (kind, number): Register) -> Option<Reg> {
    match kind {
        RegisterKind::Scalar if number < VCC => target.sgpr(number).ok(),
        RegisterKind::Scalar => None,
        RegisterKind::Vector => target.vgpr(number).ok(),
        RegisterKind::Accumulator => target.register_named(&format!("a{number}")).ok(),
    }
}

fn text(target: &Target, loc: &Loc) -> String {
    let name =
        |reg: Reg| target.register(reg).map_or_else(String::new, |register| register.name().to_string());
    let words = loc.nodes().filter_map(|node| {
        Some(match node {
            Node::Register(reg) | Node::ReadRegister(reg) => name(reg),
            Node::Lane(reg, lane) => format!("{} lane {lane}", name(reg)),
            Node::Undefined => "undefined".into(),
            Node::Const(value) => value.to_string(),
            Node::Plus(by) => format!("{by:+}"),
            Node::Shl => "shl".into(),
            Node::Memory(_) => "in the wave's scratch".into(),
            _ => return None,
        })
    });
    words.collect::<Vec<_>>().join(" ")
}

/// Returns what is known before each instruction; `None` for one that is not reached.
fn states(code: &Code, target: &Target) -> Option<Vec<Option<State>>> {
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
