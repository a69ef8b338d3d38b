//! Variables that are copied from others: also of values that were merged where paths meet, which have no name.

use eitri::build::{Builder, ControlFlow, ExecWrite};
use eitri::model::{BaseEncoding, Loc};
use eitri::target::{Gfx, Target, Wave};
use eitri::track::{CodeEffects, Keep, Place};
use pretty_assertions::assert_eq;

/// ```text
/// 00 v3 = a    x = a
/// 04 save m, and m
/// 08 branch to 14 if no lane is active
/// 0c v3 = b    x = b
/// 10 nop
/// 14 restore m
/// 18 v5 = v3   before: y = x, and the low half of h = the high half of x
/// 1c v3 = c    before: x = nothing
/// 20 nop
/// ```
#[test]
fn a_copy_has_what_the_variable_had() -> eitri::Result<()> {
    let gpu = Target::amdgpu(Gfx::GFX1030, Wave::W32)?;
    let v3 = gpu.vgpr(3)?;
    let v5 = gpu.vgpr(5)?;
    let s6 = gpu.sgpr(6)?;
    let mut m = Builder::new(gpu.clone());
    let unit = m.unit("a.cl");
    let int = m.base_type(unit, "int", BaseEncoding::Signed, 32)?;
    let kernel = m.function(unit, "k")?.code("k", 0x24).kernel().id();
    let x = m.variable(kernel, "x", int)?.id();
    let y = m.variable(kernel, "y", int)?.id();
    let h = m.variable(kernel, "h", int)?.id();

    let mut flow = ControlFlow::new();
    let mask = flow.mask(&[(0x08..0x18, Loc::register(s6))]);
    let start = flow.block(0x00..0x0c);
    let then = flow.block(0x0c..0x14);
    let end = flow.block(0x14..0x24);
    flow.edge(start, then).wave_edge(start, end).edge(then, end);
    flow.write(0x04..0x08, ExecWrite::Save(mask)).write(0x04..0x08, ExecWrite::And(mask));
    flow.write(0x14..0x18, ExecWrite::Restore(mask));
    let mut code = CodeEffects::new(&gpu, flow);
    let [a, b, c] = [(); 3].map(|()| code.value(32));
    code.instruction(0x00..0x04).define(a, &[Place::per_lane(v3)])?;
    code.assign(0x04, x, a)?;
    code.instruction(0x0c..0x10).define(b, &[Place::per_lane(v3)])?;
    code.assign(0x10, x, b)?;
    code.assign_variable(0x18, y, 0..32, x, 0)?;
    code.assign_variable(0x18, h, 0..16, x, 16)?;
    code.instruction(0x18..0x1c).copy(&[Place::per_lane(v3)], &[Place::per_lane(v5)])?;
    code.unassign(0x1c, x)?;
    code.instruction(0x1c..0x20).define(c, &[Place::per_lane(v3)])?;

    let tracked = code.track()?;
    let in_v3 = Loc::per_lane(v3);
    let in_v5 = Loc::per_lane(v5);
    assert_eq!(tracked.places_at(x, 0x18)?, std::slice::from_ref(&in_v3));
    assert_eq!(tracked.places_at(y, 0x14)?, []);
    assert_eq!(tracked.places_at(y, 0x18)?, std::slice::from_ref(&in_v3));
    assert_eq!(tracked.places_at(y, 0x1c)?, [in_v3, in_v5.clone()]);
    assert_eq!(tracked.places_at(x, 0x1c)?, []);
    assert_eq!(tracked.places_at(y, 0x20)?, std::slice::from_ref(&in_v5));
    assert_eq!(tracked.places_at(h, 0x20)?, [in_v5.offset(2)]);
    Ok(())
}

/// ```text
/// 00 v3 = a    x = a
/// 04 v4 = b    y = b
/// 08 v5 = v3   before: an unnamed variable has what x has, x = y, and y = what the unnamed one has
/// 0c nop
/// ```
#[test]
fn an_unnamed_variable_keeps_what_another_had() -> eitri::Result<()> {
    let gpu = Target::amdgpu(Gfx::GFX1030, Wave::W32)?;
    let v3 = gpu.vgpr(3)?;
    let v4 = gpu.vgpr(4)?;
    let v5 = gpu.vgpr(5)?;
    let mut m = Builder::new(gpu.clone());
    let unit = m.unit("a.cl");
    let int = m.base_type(unit, "int", BaseEncoding::Signed, 32)?;
    let kernel = m.function(unit, "k")?.code("k", 0x10).kernel().id();
    let x = m.variable(kernel, "x", int)?.id();
    let y = m.variable(kernel, "y", int)?.id();
    let mut flow = ControlFlow::new();
    flow.block(0x00..0x10);
    let mut code = CodeEffects::new(&gpu, flow);
    let [a, b, c] = [(); 3].map(|()| code.value(32));
    code.instruction(0x00..0x04).define(a, &[Place::per_lane(v3)])?;
    code.assign(0x04, x, a)?;
    code.instruction(0x04..0x08).define(b, &[Place::per_lane(v4)])?;
    code.assign(0x08, y, b)?;
    let before = code.unnamed();
    let undefined = code.unnamed();
    assert_ne!(before, undefined);
    code.assign_variable(0x08, before, 0..32, x, 0)?;
    code.assign_variable(0x08, x, 0..32, y, 0)?;
    code.assign_variable(0x08, y, 0..32, before, 0)?;
    code.assign(0x08, undefined, c)?;
    code.instruction(0x08..0x0c).copy(&[Place::per_lane(v3)], &[Place::per_lane(v5)])?;

    let tracked = code.track()?;
    let [in_v3, in_v4, in_v5] = [v3, v4, v5].map(Loc::per_lane);
    assert_eq!(tracked.places_at(x, 0x08)?, std::slice::from_ref(&in_v4));
    assert_eq!(tracked.places_at(y, 0x08)?, std::slice::from_ref(&in_v3));
    assert_eq!(tracked.places_at(y, 0x0c)?, [in_v3, in_v5]);
    assert_eq!(tracked.unproven(), []);
    tracked.describe(&mut m, Keep::All)?;
    let module = m.finish()?;
    assert!(tracked.check(&module).is_sound());
    Ok(())
}

#[test]
fn a_copy_of_no_bits_is_refused() -> eitri::Result<()> {
    let gpu = Target::amdgpu(Gfx::GFX1030, Wave::W32)?;
    let mut m = Builder::new(gpu.clone());
    let unit = m.unit("a.cl");
    let int = m.base_type(unit, "int", BaseEncoding::Signed, 32)?;
    let kernel = m.function(unit, "k")?.code("k", 8).id();
    let x = m.variable(kernel, "x", int)?.id();
    let mut code = CodeEffects::new(&gpu, ControlFlow::new());
    let error = code.assign_variable(4, x, 8..8, x, 0).expect_err("no bits");
    assert!(error.to_string().starts_with("pc 0x4..0x5: "), "{error}");
    Ok(())
}

/// Two variables in a loop in a loop. The variables are named in another order than the rows that they are in.
///
/// ```text
/// 00 v3 = a
/// 04 v4 = b
/// 08 nop       before: y = b, x = a
/// 0c nop       outer loop
/// 10 v4 = v3   inner loop
/// 14 v3 = c    before: y = x
/// 18 nop       before: x = c; back to 10, or on
/// 1c nop       back to 0c, or on
/// 20 nop
/// ```
#[test]
fn copies_between_variables_are_followed_around_loops() -> eitri::Result<()> {
    let gpu = Target::amdgpu(Gfx::GFX1030, Wave::W32)?;
    let v3 = gpu.vgpr(3)?;
    let v4 = gpu.vgpr(4)?;
    let mut m = Builder::new(gpu.clone());
    let unit = m.unit("a.cl");
    let int = m.base_type(unit, "int", BaseEncoding::Signed, 32)?;
    let kernel = m.function(unit, "k")?.code("k", 0x24).kernel().id();
    let y = m.variable(kernel, "y", int)?.id();
    let x = m.variable(kernel, "x", int)?.id();
    let mut flow = ControlFlow::new();
    let pcs = [0x00..0x0c, 0x0c..0x10, 0x10..0x1c, 0x1c..0x20, 0x20..0x24];
    let [start, outer, inner, latch, end] = pcs.map(|pcs| flow.block(pcs));
    flow.edge(start, outer).edge(outer, inner).edge(inner, inner).edge(inner, latch);
    flow.edge(latch, outer).edge(latch, end);
    let mut code = CodeEffects::new(&gpu, flow);
    let [a, b, c] = [(); 3].map(|()| code.value(32));
    code.instruction(0x00..0x04).define(a, &[Place::per_lane(v3)])?;
    code.instruction(0x04..0x08).define(b, &[Place::per_lane(v4)])?;
    code.assign(0x08, y, b)?;
    code.assign(0x08, x, a)?;
    code.instruction(0x10..0x14).copy(&[Place::per_lane(v3)], &[Place::per_lane(v4)])?;
    code.assign_variable(0x14, y, 0..32, x, 0)?;
    code.instruction(0x14..0x18).define(c, &[Place::per_lane(v3)])?;
    code.assign(0x18, x, c)?;
    let tracked = code.track()?;
    for pc in [0x08, 0x0c, 0x10, 0x18, 0x1c, 0x20] {
        assert_eq!(tracked.places_at(x, pc)?, [Loc::per_lane(v3)], "{pc:#x}");
        assert_eq!(tracked.places_at(y, pc)?, [Loc::per_lane(v4)], "{pc:#x}");
    }
    Ok(())
}
