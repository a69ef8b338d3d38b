//! `track` judges fixed locations: the instructions of the object are its statements about the code.

use std::ops::Range;
use std::path::Path;

use eitri::build::ControlFlow;
use eitri::import::{ImportOptions, import};
use eitri::model::{Address, Function, FunctionId, Loc, Module, Node, VariableId};
use eitri::read::Object;
use eitri::target::Wave;
use eitri::target::code::{DecodedInstruction, InstructionSet, RegisterKind, SourceOperand};
use eitri::track::{CodeEffects, Place, TrackReport};

use super::rewritten;
use crate::common::ROOT;

/// An instruction with its pcs, in bytes from the function's start.
type Decoded = (Range<u64>, DecodedInstruction);

/// Returns a function's instructions.
fn instructions(object: &Object<'_>, function: &Function) -> Option<Vec<Decoded>> {
    let Some(Address::Constant(address)) = function.address else { return None };
    let set = InstructionSet::of(object.gfx()?, object.wave().unwrap_or(Wave::W32))?;
    let section = object.sections().iter().find(|section| {
        section.is_code() && (section.address..section.address + section.size).contains(&address)
    })?;
    let start = (address - section.address) as usize;
    let bytes = section.data.get(start..start + function.bytes as usize)?;
    let mut all = Vec::new();
    let mut pc = 0;
    while pc < bytes.len() {
        let decoded = set.decode(&bytes[pc..])?;
        let end = pc + usize::from(decoded.bytes);
        all.push((pc as u64..end as u64, decoded));
        pc = end;
    }
    Some(all)
}

/// Returns the target of a branch, and whether the next instruction can run after an instruction.
fn flow((pcs, instruction): &Decoded) -> (Option<u64>, bool) {
    let name = instruction.name.unwrap_or_default();
    let target = match instruction.source {
        Some(SourceOperand::Constant(words)) if name == "s_branch" || name.starts_with("s_cbranch") => {
            Some(pcs.end.wrapping_add_signed(4 * words))
        }
        _ => None,
    };
    (target, !matches!(name, "s_branch" | "s_endpgm" | "s_setpc_b64"))
}

fn control_flow(code: &[Decoded], bytes: u64) -> ControlFlow {
    let mut leaders = vec![0];
    for instruction in code {
        let (target, goes_on) = flow(instruction);
        leaders.extend(target);
        leaders.extend((target.is_some() || !goes_on).then_some(instruction.0.end));
    }
    leaders.retain(|pc| *pc < bytes);
    leaders.sort_unstable();
    leaders.dedup();
    let mut graph = ControlFlow::new();
    let ends = leaders.iter().skip(1).copied().chain([bytes]);
    let blocks: Vec<_> = leaders.iter().zip(ends).map(|(start, end)| graph.block(*start..end)).collect();
    for instruction in code {
        let (target, goes_on) = flow(instruction);
        let from = leaders.partition_point(|pc| *pc <= instruction.0.start) - 1;
        let to = |pc: u64| leaders.binary_search(&pc).ok().map(|index| blocks[index]);
        if let Some(target) = target.and_then(to) {
            graph.edge(blocks[from], target);
        }
        if goes_on && let Some(next) = to(instruction.0.end) {
            graph.edge(blocks[from], next);
        }
    }
    graph
}

/// Returns a location in a single register, or in a single register of each lane.
fn single(module: &Module, live: &eitri::model::Live) -> Option<(Loc, Place)> {
    let nodes: Vec<_> = module.nodes(live.loc).collect();
    match nodes[..] {
        [Node::Register(reg)] => Some((Loc::register(reg), Place::register(reg))),
        [Node::PerLane(reg)] => Some((Loc::per_lane(reg), Place::per_lane(reg))),
        _ => None,
    }
}

/// Whether an instruction computes a register from its old contents.
fn is_update(instruction: &DecodedInstruction, kind: RegisterKind, number: u16) -> bool {
    let own = Some(SourceOperand::Register(kind, number));
    let name = instruction.name.unwrap_or_default();
    instruction.source == own || instruction.second == own || name.starts_with("v_fmac")
}

/// Checks the locations of a function's variables against its instructions. A variable has the contents of its register
/// where a range begins, and where an instruction computes the register from itself. `extra` is an instruction that
/// changes a vector register besides.
fn judged(
    module: &Module,
    (id, function): (FunctionId, &Function),
    code: &[Decoded],
    extra: Option<(u64, u16)>,
) -> TrackReport {
    let target = module.target();
    let mut effects = CodeEffects::new(target, control_flow(code, function.bytes));
    let own = |variable: VariableId| module.function_of(module.variable(variable).scope) == Some(id);
    let mut located = Vec::new();
    for (variable, _) in module.variables().filter(|(variable, _)| own(*variable)) {
        // Other locations are not about a register's contents.
        let live =
            module.live(variable).iter().map(|live| Some((variable, live.pcs(), single(module, live)?)));
        located.extend(live.collect::<Option<Vec<_>>>().unwrap_or_default());
    }
    for (variable, pcs, (_, place)) in &located {
        effects.assign_contents(pcs.start, *variable, &[*place]).expect("a variable");
        let goes_on = located.iter().any(|(other, next, _)| other == variable && next.start == pcs.end);
        if !goes_on && pcs.end < function.bytes {
            effects.unassign(pcs.end, *variable).expect("a variable");
        }
    }
    for (pcs, instruction) in code {
        let mut places = Vec::new();
        for write in instruction.writes().expect("known destinations") {
            for number in write.first..write.first + write.count {
                let (reg, place) = match write.kind {
                    RegisterKind::Vector => {
                        let reg = target.vgpr(number).expect("a register");
                        (reg, Place::per_lane(reg))
                    }
                    RegisterKind::Scalar if number < 106 => {
                        let reg = target.sgpr(number).expect("a register");
                        (reg, Place::register(reg))
                    }
                    _ => continue,
                };
                places.push(place);
                if !is_update(instruction, write.kind, number) {
                    continue;
                }
                for (variable, live, (loc, _)) in &located {
                    let is_here = loc
                        .nodes()
                        .any(|node| matches!(node, Node::Register(r) | Node::PerLane(r) if r == reg));
                    if is_here && live.contains(&pcs.start) && live.contains(&pcs.end) {
                        effects.assign_contents(pcs.end, *variable, &[place]).expect("a variable");
                    }
                }
            }
        }
        if let Some((_, number)) = extra.filter(|(pc, _)| *pc == pcs.start) {
            places.push(Place::per_lane(target.vgpr(number).expect("a register")));
        }
        if !places.is_empty() {
            effects.instruction(pcs.clone()).clobber(&places).expect("places");
        }
    }
    effects.track().expect("the code is tracked").check(module)
}

fn fixed_module(name: &str) -> (Vec<u8>, Module) {
    let bytes = std::fs::read(Path::new(ROOT).join("tests/objects").join(name)).expect("a file");
    let fixed = rewritten(&bytes, |options| options.fix = true).expect("it is fixed").object;
    let module = import(&fixed, &ImportOptions::default()).expect("it is imported").module;
    (fixed, module)
}

/// No claim of fixed locations is stale, in code without calls, because a called function can leave registers alone, which
/// its convention does not promise, and without lanes that wait for other lanes, whose registers stay as they are.
#[test]
fn fixed_locations_are_not_stale() {
    let mut claimed = 0;
    for name in [
        "llvm19/k02_reduce.gfx1100.O2.hsaco",
        "llvm19/k04_diverge.gfx1100.O2.hsaco",
        "llvm22/k01_saxpy.gfx1030.O2.hsaco",
        "triton/add.gfx1100.hsaco",
    ] {
        let (bytes, module) = fixed_module(name);
        let object = Object::read(&bytes).expect("it is read");
        for (id, function) in module.functions() {
            let Some(code) = instructions(&object, function) else { continue };
            let report = judged(&module, (id, function), &code, None);
            assert!(report.is_sound(), "{name}: {report}");
            claimed += report.claimed;
        }
    }
    assert!(claimed > 200, "{claimed} claims");
}

/// The judge finds a claim that an instruction refutes: `xi` is in v2 from 0x7c to 0x88, and the instruction at 0x7c changes
/// v2, too.
#[test]
fn changed_register_is_stale() {
    let (bytes, module) = fixed_module("llvm22/k01_saxpy.gfx1030.O2.hsaco");
    let object = Object::read(&bytes).expect("it is read");
    let (id, function) = module.functions().next().expect("a function");
    let code = instructions(&object, function).expect("its instructions are known");
    let report = judged(&module, (id, function), &code, Some((0x7c, 2)));
    assert_eq!(report.stale.len(), 1, "{report}");
    assert_eq!(report.stale[0].overwritten, Some(0x7c), "{report}");
}
