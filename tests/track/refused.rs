//! Statements that contradict each other or the control flow.

use eitri::build::{ControlFlow, ExecWrite};
use eitri::model::Loc;
use eitri::target::{Gfx, Target, Wave};
use eitri::track::{Code, Place};

fn gpu() -> Target {
    Target::amdgpu(Gfx::GFX1030, Wave::W32).expect("the processor runs such waves")
}

fn one_block() -> ControlFlow {
    let mut flow = ControlFlow::new();
    flow.block(0x00..0x20);
    flow
}

/// The error of some statements, or of tracking them.
fn error(flow: ControlFlow, tell: impl FnOnce(&mut Code, [Place; 3]) -> eitri::Result<()>) -> String {
    let gpu = gpu();
    let s4 = Place::register(gpu.sgpr(4).expect("known"));
    let [v3, pair] = [Place::per_lane(gpu.vgpr(3).expect("known")), Place::stack_slot(0).bits(64)];
    let mut code = Code::new(&gpu, flow);
    let stated = tell(&mut code, [s4, v3, pair]);
    stated.and_then(|()| code.track().map(drop)).expect_err("refused").to_string()
}

#[test]
fn instructions_that_do_not_fit_are_refused() {
    let at = |ranges: &'static [(u64, u64)]| {
        error(one_block(), |code, [s4, ..]| {
            for &(start, end) in ranges {
                code.instruction(start..end).clobber(&[s4])?;
            }
            Ok(())
        })
    };
    assert!(
        at(&[(0, 8), (4, 8)]).starts_with("pc 0x4..0x8: instructions do not overlap: one before ends at 0x8")
    );
    assert!(at(&[(0, 8), (4, 8)]).ends_with("(block 0x0..0x20)"));
    assert!(at(&[(0x20, 0x24)]).starts_with("pc 0x20..0x24: an instruction is in a block"));
    assert!(at(&[(0x1c, 0x24)]).starts_with("pc 0x1c..0x24: an instruction is inside of a block"));
    assert!(at(&[(2, 4)]).contains("begins at a multiple of 4 bytes"));
    assert!(at(&[(8, 8)]).starts_with("pc 0x8..0x8: "));
}

#[test]
fn places_that_do_not_fit_are_refused() {
    let copied = error(one_block(), |code, [s4, v3, _]| code.instruction(0..4).copy(&[v3], &[s4]).map(drop));
    assert!(copied.starts_with("pc 0x0..0x4: ") && copied.ends_with("v3 to s4"), "{copied}");
    let sizes =
        error(one_block(), |code, [_, v3, pair]| code.instruction(0..4).copy(&[v3], &[pair]).map(drop));
    assert!(sizes.starts_with("pc 0x0..0x4: "), "{sizes}");
    let small = error(one_block(), |code, [s4, ..]| {
        let value = code.value(64);
        code.instruction(0..4).define(value, &[s4]).map(drop)
    });
    assert!(small.contains("the value in s4"), "{small}");
    let twice = error(one_block(), |code, [s4, v3, _]| {
        let value = code.value(32);
        code.instruction(0..4).define(value, &[s4])?;
        code.instruction(4..8).define(value, &[v3]).map(drop)
    });
    assert!(twice.starts_with("pc 0x4..0x8: a value has one definition"), "{twice}");
    let lane = error(one_block(), |code, _| {
        code.instruction(0..4).clobber(&[Place::lane(gpu().vgpr(40)?, 32)]).map(drop)
    });
    assert!(lane.contains("lane 32 is not in a wave of 32"), "{lane}");
}

#[test]
fn graphs_that_are_no_control_flow_are_refused() {
    let mut flow = ControlFlow::new();
    let [start, one, two] = [0x00..0x08, 0x08..0x10, 0x10..0x18].map(|pcs| flow.block(pcs));
    flow.edge(start, one).edge(start, two).edge(one, two).edge(two, one);
    assert!(error(flow, |_, _| Ok(())).contains("the control flow graph is not reducible"));
    let mut flow = one_block();
    let mask = flow.mask(&[(0x00..0x20, Loc::register(gpu().sgpr(6).expect("known")))]);
    flow.write(0x00..0x04, ExecWrite::Save(mask)).write(0x04..0x08, ExecWrite::AndNot(mask));
    assert!(error(flow, |_, _| Ok(())).contains("this mask is saved and not restored"));
    let mut flow = ControlFlow::new();
    let [start, end] = [0x00..0x08, 0x08..0x10].map(|pcs| flow.block(pcs));
    flow.edge(start, end);
    let comes = error(flow, |code, _| {
        let [value, parameter] = [code.value(32), code.merged(end, 32)];
        code.incoming(end, parameter, value)
    });
    assert!(comes.starts_with("pc 0x8..0x10: what comes in to a block"), "{comes}");
}
