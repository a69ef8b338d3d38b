//! Described regions that are not those of the code, and values that are larger than their variables.

use std::ops::Range;

use eitri::Result;
use eitri::build::{Builder, ControlFlow, ExecWrite, LanesBuilder};
use eitri::error::ErrorKind;
use eitri::model::{BaseEncoding, Loc, Module, Val, VariableId};
use eitri::op::Reg;
use eitri::target::{Gfx, Target, Wave};
use eitri::track::{CodeEffects, Keep, Place};

fn gpu() -> Target {
    Target::amdgpu(Gfx::GFX1030, Wave::W32).expect("the processor runs such waves")
}

fn s(number: u16) -> Reg {
    gpu().sgpr(number).expect("a register")
}

/// ```text
/// 08 s_mov_b32 s6, exec    0c s_and_b32 exec, s6, vcc    10 the first side
/// 18 s_andn2_b32 exec, s6, exec    1c the second side    24 s_mov_b32 exec, s6    28 after the `if`
/// ```
fn flow() -> ControlFlow {
    let mut flow = ControlFlow::new();
    let mask = flow.mask(&[(0x0c..0x30, Loc::register(s(6)))]);
    let start = flow.block(0x00..0x10);
    let first = flow.block(0x10..0x18);
    let second = flow.block(0x18..0x24);
    let end = flow.block(0x24..0x30);
    flow.edge(start, first).edge(first, second).edge(second, end);
    flow.write(0x08..0x0c, ExecWrite::Save(mask)).write(0x0c..0x10, ExecWrite::And(mask));
    flow.write(0x18..0x1c, ExecWrite::Else(mask)).write(0x24..0x28, ExecWrite::Restore(mask));
    flow
}

/// A module with a variable of `bits` bits, in s4, and regions.
fn module(bits: u64, describe: &dyn Fn(&mut LanesBuilder<'_>) -> Result<()>) -> Result<(Module, VariableId)> {
    let mut m = Builder::new(gpu());
    let unit = m.unit("a.cl");
    let int = m.base_type(unit, "int", BaseEncoding::Signed, bits)?;
    let kernel = m.function(unit, "k")?.code("k", 0x30).kernel().id();
    let n = m.variable(kernel, "n", int)?.live(0..0x30, Loc::register(s(4)))?.id();
    describe(&mut m.lanes(kernel)?)?;
    Ok((m.finish()?, n))
}

/// The differences of regions from the code, as text.
fn differences(describe: &dyn Fn(&mut LanesBuilder<'_>) -> Result<()>) -> Vec<String> {
    let (module, n) = module(32, describe).expect("a module");
    let gpu = gpu();
    let mut code = CodeEffects::new(&gpu, flow());
    let argument = code.value(32);
    code.entry(argument, &[Place::register(s(4))]).expect("a place");
    code.assign(0, n, argument).expect("a value");
    let report = code.track().expect("code").check(&module);
    assert_eq!(report.is_sound(), report.regions.is_empty(), "{report}");
    report.regions.iter().map(ToString::to_string).collect()
}

const FIRST: Range<u64> = 0x0c..0x1c;
const SECOND: Range<u64> = 0x1c..0x28;

/// Lanes wait from the end of the instruction that saves the mask to the end of the instruction that restores it: the lanes of
/// the second side where the mask was saved, and those of the first side after the `if`.
#[test]
fn regions_are_compared_with_the_code() {
    let s6 = || [(0x0c..0x28, Loc::register(s(6)))];
    let function = "region: unit `a.cl`, function `k`";
    assert_eq!(differences(&|lanes| lanes.control_flow(&flow()).map(drop)), [""; 0]);
    assert_eq!(differences(&|lanes| lanes.if_else(FIRST, SECOND, 0x08, 0x28, &s6()).map(drop)), [""; 0]);
    let number = [(0x0c..0x28, Loc::value(Val::register(s(6))))];
    assert_eq!(differences(&|lanes| lanes.if_else(FIRST, SECOND, 0x08, 0x28, &number).map(drop)), [""; 0]);
    // Another register, from the second side on.
    let two = [(0x0c..0x20, Loc::register(s(6))), (0x20..0x28, Loc::register(s(7)))];
    assert_eq!(
        differences(&|lanes| lanes.if_else(FIRST, SECOND, 0x08, 0x28, &two).map(drop)),
        [format!(
            "{function}, region1 (else, 0x1c..0x28), pc 0x20..0x28: mask is in register(s7); expected register(s6), by the code"
        )]
    );
    // The ends of the `if` are swapped.
    assert_eq!(
        differences(&|lanes| lanes.if_else(FIRST, SECOND, 0x28, 0x08, &s6()).map(drop)),
        [
            format!(
                "{function}, region0 (then, 0xc..0x1c), pc 0xc..0x1c: lanes wait at 0x28; expected 0x8, by the code"
            ),
            format!(
                "{function}, region1 (else, 0x1c..0x28), pc 0x1c..0x28: lanes wait at 0x8; expected 0x28, by the code"
            )
        ]
    );
    // The second side is missing.
    assert_eq!(
        differences(&|lanes| lanes.if_then(FIRST, 0x08, &s6()).map(drop)),
        [format!(
            "{function}, pc 0x1c..0x28: description has no region with these pcs; expected a region whose lanes wait at 0x28"
        )]
    );
    // A region without a mask in the code.
    let more = |lanes: &mut LanesBuilder<'_>| {
        lanes.if_else(FIRST, SECOND, 0x08, 0x28, &s6())?;
        lanes.if_then(0x2c..0x30, 0x28, &[(0x2c..0x30, Loc::register(s(8)))]).map(drop)
    };
    let found = differences(&more);
    assert_eq!(found.len(), 1, "{found:?}");
    assert!(
        found[0].contains("region2 (then, 0x2c..0x30), pc 0x2c..0x30: the code has no region"),
        "{found:?}"
    );
    assert_eq!(differences(&|_| Ok(())).len(), 2, "both sides are missing");
}

/// A value of 64 bits for a variable of 32 bits; a value of 32 bits for it, and for a larger variable.
#[test]
fn value_larger_than_its_variable_is_refused() {
    for (bits, assigned, is_refused) in [(32, 64, true), (32, 32, false), (64, 32, false)] {
        let mut m = Builder::new(gpu());
        let unit = m.unit("a.cl");
        let ty = m.base_type(unit, "t", BaseEncoding::Signed, bits).expect("a type");
        let kernel = m.function(unit, "k").expect("a function").code("k", 0x30).kernel().id();
        let n = m.variable(kernel, "n", ty).expect("a variable").id();
        let gpu = gpu();
        let mut code = CodeEffects::new(&gpu, flow());
        let value = code.value(assigned);
        let places: Vec<_> = (4..4 + assigned as u16 / 32).map(|number| Place::register(s(number))).collect();
        code.entry(value, &places).expect("places");
        code.assign(0, n, value).expect("a value");
        let tracked = code.track().expect("code");
        match tracked.describe(&mut m, Keep::All) {
            Ok(()) => assert!(!is_refused),
            Err(error) => {
                assert!(is_refused, "{error}");
                assert!(
                    matches!(error.kind(), ErrorKind::DoesNotFit { needs: 64, has: 32, .. }),
                    "{error:?}"
                );
                assert_eq!(
                    error.to_string(),
                    "unit `a.cl`, function `k`, variable `n`: the assigned value needs 64 bits, but only 32 are available"
                );
            }
        }
    }
}
