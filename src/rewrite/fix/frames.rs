//! Call frames of functions that have none, as far as the instructions prove them.
//!
//! A kernel has the frame with which the hardware enters it. In another function, the canonical frame address is what the
//! stack pointer `s32` has at the start, and the return address is in `s[30:31]`: AMDGPU back end user guide, "Non-Kernel
//! Functions". The [states](super::states) before the instructions say where it and the caller's registers are.

use core::ops::Range;
use std::collections::BTreeMap;

use super::change::FixChange;
use super::code::{Code, Register};
use super::functions::{Functions, Source};
use super::states::{Copy, FRAME, Home, RETURN, STACK, State, dwarf, states};
use crate::build::{Builder, resumed};
use crate::error::Result;
use crate::lint::{LintCode, LintFinding};
use crate::model::{FunctionId, Loc, Module, Node, Val};
use crate::op::Reg;
use crate::target::code::{EXEC, RegisterKind};
use crate::target::{Scaling, SpaceId, Target, is_preserved};

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
