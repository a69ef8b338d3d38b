//! Statements that contradict each other or the control flow.

use eitri::build::{Builder, ControlFlow, ExecWrite};
use eitri::model::{BaseEncoding, Half, Loc, VariableId};
use eitri::op::Reg;
use eitri::target::{Gfx, Target, Wave};
use eitri::track::{CodeEffects, Place, ValueId};

fn gpu() -> Target {
    Target::amdgpu(Gfx::GFX1030, Wave::W32).expect("the processor runs such waves")
}

fn one_block() -> ControlFlow {
    let mut flow = ControlFlow::new();
    flow.block(0x00..0x20);
    flow
}

/// The error of some statements, or of tracking them.
fn error(flow: ControlFlow, tell: impl FnOnce(&mut CodeEffects, [Place; 3]) -> eitri::Result<()>) -> String {
    let gpu = gpu();
    let s4 = Place::register(gpu.sgpr(4).expect("known"));
    let [v3, pair] = [Place::per_lane(gpu.vgpr(3).expect("known")), Place::stack_slot(0).bits(64)];
    let mut code = CodeEffects::new(&gpu, flow);
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
    let overlap = "pc 0x4..0x8, block 0x0..0x20, s4: instruction overlaps 0x0..0x8";
    assert_eq!(at(&[(0, 8), (4, 8)]), overlap);
    // No block contains the pcs.
    assert!(at(&[(0x20, 0x24)]).ends_with("s4: instruction 0x20..0x24 is outside all blocks"));
    let beyond = "pc 0x1c..0x24, block 0x0..0x20, s4: instruction 0x1c..0x24 crosses the end of a block";
    assert!(at(&[(0x1c, 0x24)]).starts_with(beyond));
    let step =
        "pc 0x2..0x4, block 0x0..0x20, s4: start of an instruction is 0x2; expected a multiple of 4 bytes";
    assert_eq!(at(&[(2, 4)]), step);
    assert!(at(&[(8, 8)]).starts_with("pc 0x8..0x8, block 0x0..0x20, s4: "));
}

#[test]
fn places_that_do_not_fit_are_refused() {
    let copied = error(one_block(), |code, [s4, v3, _]| code.instruction(0..4).copy(&[v3], &[s4]).map(drop));
    assert!(
        copied.starts_with("pc 0x0..0x4, block 0x0..0x20, v3 to s4: per-lane places are copied"),
        "{copied}"
    );
    let sizes =
        error(one_block(), |code, [_, v3, pair]| code.instruction(0..4).copy(&[v3], &[pair]).map(drop));
    assert!(sizes.starts_with("pc 0x0..0x4, block 0x0..0x20, v3 to stack slot 0: the copy"), "{sizes}");
    let small = error(one_block(), |code, [s4, ..]| {
        let value = code.value(64);
        code.instruction(0..4).define(value, &[s4]).map(drop)
    });
    assert!(small.starts_with("pc 0x0..0x4, block 0x0..0x20, s4: the value"), "{small}");
    let twice = error(one_block(), |code, [s4, v3, _]| {
        let value = code.value(32);
        code.instruction(0..4).define(value, &[s4])?;
        code.instruction(4..8).define(value, &[v3]).map(drop)
    });
    assert!(twice.starts_with("pc 0x4..0x8, block 0x0..0x20, v3: value 0 is defined twice"), "{twice}");
    let lane = error(one_block(), |code, _| {
        code.instruction(0..4).clobber(&[Place::lane(gpu().vgpr(40)?, 32)]).map(drop)
    });
    assert_eq!(lane, "pc 0x0..0x4, block 0x0..0x20, v40 lane 32: lane 32 is out of range for a 32-lane wave");
}

/// Every call that can be refused, at a pc of the second block or for its parameters.
#[test]
fn refusals_name_pc_block_and_place() {
    let gpu = gpu();
    let [s4, v3] =
        [Place::register(gpu.sgpr(4).expect("known")), Place::per_lane(gpu.vgpr(3).expect("known"))];
    let [s300, half] = [Place::register(Reg(9999)), s4.half(Half::High).bits(24)];
    let mut flow = ControlFlow::new();
    let [start, end] = [0x00..0x08, 0x08..0x20].map(|pcs| flow.block(pcs));
    flow.edge(start, end);
    type Tell<'a> = &'a dyn Fn(&mut CodeEffects, ValueId, VariableId) -> eitri::Result<()>;
    let instruction = "pc 0x10..0x14, block 0x8..0x20";
    let assignment = "pc 0x10..0x11, block 0x8..0x20";
    let entry = "pc 0x0..0x1, block 0x0..0x8";
    let refused: &[(&str, &str, Tell<'_>)] = &[
        (instruction, "register 9999", &|code, _, _| code.instruction(0x10..0x14).clobber(&[s300]).map(drop)),
        (instruction, "register 9999", &|code, _, _| {
            code.instruction(0x10..0x14).call(&[s4, s300]).map(drop)
        }),
        (instruction, "s4 from bit 16", &|code, _, _| {
            code.instruction(0x10..0x14).clobber(&[half]).map(drop)
        }),
        (instruction, "s4", &|code, value, _| code.instruction(0x10..0x14).define(value, &[s4]).map(drop)),
        (instruction, "s4 and v3", &|code, _, _| {
            let wide = code.value(96);
            code.instruction(0x10..0x14).redefine(wide, &[s4, v3]).map(drop)
        }),
        (instruction, "v3 to s4", &|code, _, _| code.instruction(0x10..0x14).copy(&[v3], &[s4]).map(drop)),
        (instruction, "v3 and v3 to s4", &|code, _, _| {
            code.instruction(0x10..0x14).copy_uniform(&[v3, v3], &[s4]).map(drop)
        }),
        (instruction, "v3", &|code, value, _| {
            code.instruction(0x10..0x14).define_copy(value, &[s4], &[v3]).map(drop)
        }),
        (instruction, "s4", &|code, _, _| {
            code.instruction(0x10..0x14).clobber(&[s4])?;
            code.instruction(0x10..0x14).clobber(&[s4])?;
            code.track().map(drop)
        }),
        (entry, "s4", &|code, value, _| code.entry(value, &[s4])),
        (assignment, "", &|code, value, variable| code.assign_bits(0x10, variable, 0..4, value)),
        (assignment, "", &|code, value, variable| code.assign_bits(0x10, variable, 4..4, value)),
        (assignment, "register 9999", &|code, _, variable| code.assign_contents(0x10, variable, &[s300])),
        (assignment, "", &|code, _, variable| code.assign_variable(0x10, variable, 8..8, variable, 0)),
        ("pc 0x10..0x10, block 0x8..0x20", "", &|code, _, variable| {
            code.home(0x10..0x10, variable, &Loc::stack_slot(0))
        }),
        ("pc 0x8..0x20, block 0x8..0x20", "", &|code, value, _| {
            let narrow = code.merged(end, 16);
            code.incoming(end, narrow, value)
        }),
    ];
    let mut builder = Builder::new(gpu.clone());
    let unit = builder.unit("a.cl");
    let int = builder.base_type(unit, "int", BaseEncoding::Signed, 32).expect("a type");
    let kernel = builder.function(unit, "k").expect("a unit").code("k", 0x20).kernel().id();
    let variable = builder.variable(kernel, "x", int).expect("a scope and a type").id();
    for (at, (pcs, place, tell)) in refused.iter().enumerate() {
        let mut code = CodeEffects::new(&gpu, flow.clone());
        let value = code.value(32);
        code.instruction(0..4).define(value, &[v3]).expect("it fits");
        let error = tell(&mut code, value, variable).expect_err("refused").to_string();
        let place = if place.is_empty() { String::new() } else { format!(", {place}") };
        assert!(error.starts_with(&format!("{pcs}{place}: ")), "{at}: {error}");
    }
}

#[test]
fn graphs_that_are_no_control_flow_are_refused() {
    let mut flow = ControlFlow::new();
    let [start, one, two] = [0x00..0x08, 0x08..0x10, 0x10..0x18].map(|pcs| flow.block(pcs));
    flow.edge(start, one).edge(start, two).edge(one, two).edge(two, one);
    assert!(error(flow, |_, _| Ok(())).contains("control flow graph is not reducible"));
    let mut flow = one_block();
    let mask = flow.mask(&[(0x00..0x20, Loc::register(gpu().sgpr(6).expect("known")))]);
    flow.write(0x00..0x04, ExecWrite::Save(mask)).write(0x04..0x08, ExecWrite::AndNot(mask));
    assert!(error(flow, |_, _| Ok(())).contains("not restored"));
    let mut flow = ControlFlow::new();
    let [start, end] = [0x00..0x08, 0x08..0x10].map(|pcs| flow.block(pcs));
    flow.edge(start, end);
    let comes = error(flow, |code, _| {
        let [value, parameter] = [code.value(32), code.merged(end, 32)];
        code.incoming(end, parameter, value)
    });
    assert!(comes.ends_with("block 0x8..0x10: block 0x8..0x10 is not a predecessor of the block"), "{comes}");
}
