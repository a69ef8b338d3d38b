//! Invalid descriptions: each error names the function, the pcs and the region.

use std::ops::Range;

use eitri::Result;
use eitri::build::{Builder, LanesBuilder};
use eitri::model::{FunctionId, Loc, RegionKind, SourceLine, Val};
use eitri::target::{Gfx, SpaceId, Target, Wave};

fn gpu() -> Target {
    Target::amdgpu(Gfx::GFX1030, Wave::W32).expect("the processor runs such waves")
}

fn s(number: u16) -> Loc {
    Loc::register(gpu().sgpr(number).expect("a register"))
}

fn kernel() -> (Builder, FunctionId) {
    let mut m = Builder::new(gpu());
    let unit = m.unit("a.cl");
    let kernel = m.function(unit, "k").expect("a function").code("k", 0x40).kernel().id();
    (m, kernel)
}

/// The builder's error for a wrong call, or at the end.
fn error(describe: impl FnOnce(&mut LanesBuilder<'_>) -> Result<()>) -> String {
    let (mut m, kernel) = kernel();
    match describe(&mut m.lanes(kernel).expect("a function")) {
        Err(error) => error.to_string(),
        Ok(()) => m.finish().expect_err("it is wrong").to_string(),
    }
}

fn a_loop(pcs: Range<u64>, end: u64, masks: &[(Range<u64>, Loc)]) -> String {
    error(|lanes| lanes.loop_(pcs, end, masks).map(drop))
}

#[test]
fn a_mask_is_somewhere_at_each_pc_of_its_region() {
    let at = "unit `a.cl`, function `k`, region0 (loop, 0x8..0x20)";
    assert_eq!(
        a_loop(8..32, 32, &[]),
        format!(
            "{at}, pc 0x8..0x9: mask has no location at this pc; expected a location at each pc of its region"
        )
    );
    assert_eq!(
        a_loop(8..32, 32, &[(8..16, s(4))]),
        format!(
            "{at}, pc 0x10..0x11: mask has no location at this pc; expected a location at each pc of its region"
        )
    );
    assert_eq!(
        a_loop(8..32, 32, &[(16..64, s(4)), (0..12, s(6))]),
        format!(
            "{at}, pc 0xc..0xd: mask has no location at this pc; expected a location at each pc of its region"
        )
    );
    assert_eq!(
        a_loop(8..32, 32, &[(0..20, s(4)), (16..64, s(6))]),
        format!("{at}, pc 0x10..0x11: mask location overlaps 0x8..0x14; expected one location at each pc")
    );
    assert_eq!(
        a_loop(8..32, 32, &[(0..64, Loc::undefined())]),
        format!("{at}, pc 0x8..0x20: mask location is undefined")
    );
}

#[test]
fn a_mask_is_one_of_the_wave_and_has_a_bit_for_each_lane() {
    let at = "unit `a.cl`, function `k`, region0 (loop, 0x8..0x20), pc 0x8..0x20";
    let depends =
        format!("{at}: mask location depends on the current lane; expected a location for the whole wave");
    let v3 = gpu().vgpr(3).expect("a register");
    for mask in [
        Loc::per_lane(v3),
        Loc::stack_slot(8),
        Loc::memory(SpaceId::PRIVATE_LANE, Val::constant(0)),
        Loc::value(Val::lane_index()),
    ] {
        assert_eq!(a_loop(8..32, 32, &[(0..64, mask)]), depends);
    }
    // In a procedure called by another.
    let mut m = Builder::new(gpu());
    let unit = m.unit("a.cl");
    let kernel = m.function(unit, "k").expect("a function").code("k", 0x40).kernel().id();
    let call = |m: &mut Builder, loc: Loc| Loc::call(m.procedure(unit, &loc).expect("a procedure"));
    let lane = call(&mut m, Loc::per_lane(v3));
    let wave = call(&mut m, s(4));
    let lane = call(&mut m, lane.offset(0));
    let mut lanes = m.lanes(kernel).expect("a function");
    let error = lanes.loop_(8..32, 32, &[(0..64, lane.clone())]).expect_err("it is wrong");
    assert_eq!(error.to_string(), depends);
    lanes.whole_wave(8..32, &lane).expect_err("it is wrong");
    lanes.loop_(8..32, 32, &[(0..64, wave)]).expect("one for the wave");
    let half = Loc::parts([(s(4), 16)]);
    assert_eq!(
        a_loop(8..32, 32, &[(0..64, half)]),
        format!("{at}: the mask needs 32 bits, but only 16 are available")
    );
}

#[test]
fn regions_and_what_they_say_are_in_the_function() {
    let all = [(0..64, s(4))];
    assert_eq!(
        a_loop(8..68, 32, &all),
        "unit `a.cl`, function `k`, region0 (loop, 0x8..0x44), pc 0x8..0x44: range is outside the \
         function, which has 0x40 bytes"
    );
    assert_eq!(
        a_loop(8..8, 32, &all),
        "unit `a.cl`, function `k`, region0 (loop, 0x8..0x8), pc 0x8..0x8: range does not end after its start"
    );
    assert_eq!(
        a_loop(8..32, 64, &all),
        "unit `a.cl`, function `k`, region0 (loop, 0x8..0x20), pc 0x40..0x41: range is outside the \
         function, which has 0x40 bytes"
    );
    let (mut m, kernel) = kernel();
    m.lanes(kernel).and_then(|mut lanes| lanes.loop_(8..32, 32, &all)).expect("a loop");
    m.describe_function(kernel).expect("the function").code("k", 32);
    let error = m.finish().expect_err("the code got smaller").to_string();
    assert!(error.contains("region0 (loop, 0x8..0x20)"), "{error}");
}

#[test]
fn regions_are_nested() {
    let all = [(0..64, s(4))];
    let overlaps = error(|lanes| {
        lanes.loop_(8..32, 32, &all)?;
        lanes.loop_(16..40, 40, &all).map(drop)
    });
    assert_eq!(
        overlaps,
        "unit `a.cl`, function `k`, region1 (loop, 0x10..0x28), pc 0x10..0x28: region overlaps 0x8..0x20; \
expected nested or disjoint regions"
    );
    // Containment of pcs is not sufficient: the nesting determines where lanes wait.
    let is_not_said = error(|lanes| {
        lanes.loop_(8..32, 32, &all)?;
        lanes.loop_(8..32, 32, &all).map(drop)
    });
    assert!(is_not_said.contains("pc 0x8..0x20: region overlaps 0x8..0x"), "{is_not_said}");
    let outside = error(|lanes| {
        let around = lanes.loop_(8..32, 32, &all)?;
        lanes.inside(around)?.loop_(16..40, 40, &all).map(drop)
    });
    assert_eq!(
        outside,
        "unit `a.cl`, function `k`, region1 (loop, 0x10..0x28), pc 0x10..0x28: region is outside its parent region 0x8..0x20"
    );
    // Sibling regions.
    let (mut m, kernel) = kernel();
    let mut lanes = m.lanes(kernel).expect("a function");
    let around = lanes.loop_(0..64, 60, &all).expect("a loop");
    lanes.inside(around).expect("the loop");
    lanes.if_else(8..16, 16..24, 4, 24, &all).expect("two sides");
    lanes.switch(24..40, 24, 40, &all, &all).expect("a switch");
    let module = m.finish().expect("it is right");
    assert_eq!(module.regions_of(kernel).len(), 5);
    let kinds = |pc| -> Vec<RegionKind> {
        module.regions_at(module.function(kernel).scope, pc).map(|id| module.region(id).kind).collect()
    };
    assert_eq!(kinds(12), [RegionKind::Then, RegionKind::Loop]);
    assert_eq!(kinds(16), [RegionKind::Else, RegionKind::Loop]);
    assert_eq!(kinds(39), [RegionKind::Cases, RegionKind::Switch, RegionKind::Loop]);
    assert_eq!(kinds(40), [RegionKind::Loop]);
}

#[test]
fn whole_wave_code_does_not_overlap() {
    let error = error(|lanes| lanes.whole_wave(8..32, &s(4))?.whole_wave(28..36, &s(4)).map(drop));
    assert_eq!(error, "unit `a.cl`, function `k`, pc 0x1c..0x24: whole-wave code overlaps 0x8..0x20");
}

#[test]
fn regions_of_inlined_calls_are_in_them() {
    let (mut m, kernel) = kernel();
    let all = [(0..64, s(4))];
    let unit = m.unit("b.cl");
    let (other, file) =
        (m.function(unit, "other").expect("a function").code("o", 64).id(), m.primary_file(unit));
    let callee = m.function(unit, "callee").expect("a function").id();
    let call = SourceLine::new(file.expect("the file"), 1);
    let inlined = m.inlined(other, callee, &[8..32], call).expect("a call");
    let error =
        m.lanes(inlined).and_then(|mut lanes| lanes.loop_(16..40, 40, &all)).expect_err("it is wrong");
    assert_eq!(
        error.to_string(),
        "unit `b.cl`, function `other`, region0 (loop, 0x10..0x28), pc 0x10..0x28: region is not within one \
range of its inlined call: 0x8..0x20"
    );
    let of_callee = m.lanes(inlined).and_then(|mut lanes| lanes.loop_(16..32, 32, &all)).expect("a loop");
    let error =
        m.lanes(other).and_then(|mut lanes| lanes.inside(of_callee).map(drop)).expect_err("it is wrong");
    assert_eq!(
        error.to_string(),
        "unit `b.cl`, function `other`, region0 (loop, 0x10..0x20): parent region is in \
another inlined call; expected a parent in an enclosing scope"
    );
    let error =
        m.lanes(kernel).and_then(|mut lanes| lanes.inside(of_callee).map(drop)).expect_err("it is wrong");
    assert!(error.to_string().contains("the module has no region0 of this function"), "{error}");
    let error = m.lanes(callee).expect_err("it has no code");
    assert!(
        error.to_string().contains("function `callee`: scope has no lane pcs; expected a function with code"),
        "{error}"
    );
}

#[test]
fn a_target_without_lanes_has_none_that_stand_somewhere() {
    let mut m = Builder::new(Target::x86_64());
    let unit = m.unit("a.c");
    let main = m.function(unit, "main").expect("a function").code("main", 16).id();
    let error = m.lanes(main).expect_err("it has no lanes");
    assert_eq!(
        error.to_string(),
        "unit `a.c`, function `main`: target x86_64 has no lanes; needed by the pc of a lane"
    );
}
