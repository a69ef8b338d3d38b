//! Cases by hand that the language of the cases does not have: wide values, halves, homes, block parameters, edges of
//! lanes, masks.

use eitri::build::{Builder, ControlFlow, ExecWrite};
use eitri::model::{BaseEncoding, FunctionId, Half, Loc, TypeId, Val, VariableId};
use eitri::target::{Gfx, SpaceId, Target, Wave};
use eitri::track::{CodeEffects, Keep, Place, Places};

/// A kernel with one variable of some bits.
struct Kernel {
    gpu: Target,
    builder: Builder,
    kernel: FunctionId,
    ty: TypeId,
    variable: VariableId,
}

impl Kernel {
    fn new(bits: u32) -> eitri::Result<Self> {
        let gpu = Target::amdgpu(Gfx::GFX1030, Wave::W32)?;
        let mut builder = Builder::new(gpu.clone());
        let unit = builder.unit("a.cl");
        let ty = builder.base_type(unit, "t", BaseEncoding::Unsigned, bits.into())?;
        let kernel = builder.function(unit, "k")?.code("k", 0x40).kernel().id();
        let variable = builder.variable(kernel, "x", ty)?.id();
        Ok(Self { gpu, builder, kernel, ty, variable })
    }

    fn scalar(&self, number: u16) -> Place {
        Place::register(self.gpu.sgpr(number).expect("the target has it"))
    }

    fn row(&self, number: u16) -> Place {
        Place::per_lane(self.gpu.vgpr(number).expect("the target has it"))
    }

    fn s(&self, number: u16) -> Loc {
        Loc::register(self.gpu.sgpr(number).expect("the target has it"))
    }

    fn v(&self, number: u16) -> Loc {
        Loc::per_lane(self.gpu.vgpr(number).expect("the target has it"))
    }
}

fn one_block() -> ControlFlow {
    let mut flow = ControlFlow::new();
    flow.block(0x00..0x40);
    flow
}

/// A wave that executes an instruction stands at its first pc: the old contents are there until its end. A wave can
/// stop between two instructions of one step.
#[test]
fn old_contents_last_until_the_end_of_an_instruction() -> eitri::Result<()> {
    for is_several in [false, true] {
        let mut k = Kernel::new(32)?;
        let mut code = CodeEffects::new(&k.gpu, one_block());
        let [a, b] = [code.value(32), code.value(32)];
        code.instruction(0x00..0x04).define(a, &[k.scalar(4)])?;
        code.assign(0x04, k.variable, a)?;
        let mut step = if is_several { code.instructions(0x08..0x10) } else { code.instruction(0x08..0x10) };
        step.copy(&[k.scalar(4)], &[k.scalar(5)])?.define(b, &[k.scalar(4)])?;
        let tracked = code.track()?;
        let middle = if is_several { vec![] } else { vec![k.s(4)] };
        assert_eq!(tracked.places_at(k.variable, 0x08)?, [k.s(4)]);
        assert_eq!(tracked.places_at(k.variable, 0x0c)?, middle);
        assert_eq!(tracked.places_at(k.variable, 0x10)?, [k.s(5)]);
        tracked.describe(&mut k.builder, Keep::All)?;
        let module = k.builder.finish()?;
        let pcs: Vec<_> = module.live(k.variable).iter().map(|live| live.pcs()).collect();
        let end = if is_several { 0x0c } else { 0x10 };
        assert_eq!(pcs, [0x04..end, 0x10..0x40]);
        let report = tracked.check(&module);
        assert!(report.is_sound() && report.missed.is_empty(), "{report}");
    }
    Ok(())
}

/// A claim that the old place lasts between two instructions of one step is refuted.
#[test]
fn claims_between_instructions_of_one_step_are_stale() -> eitri::Result<()> {
    let mut k = Kernel::new(32)?;
    let mut code = CodeEffects::new(&k.gpu, one_block());
    let [a, b] = [code.value(32), code.value(32)];
    code.instruction(0x00..0x04).define(a, &[k.scalar(4)])?;
    code.assign(0x04, k.variable, a)?;
    code.instructions(0x08..0x10).define(b, &[k.scalar(4)])?;
    let place = k.s(4);
    k.builder.describe_variable(k.variable)?.live(0x04..0x10, place)?;
    let report = code.track()?.check(&k.builder.finish()?);
    let stale: Vec<_> = report.stale.iter().map(|stale| stale.pcs.clone()).collect();
    assert_eq!(stale, [0x0c..0x10], "{report}");
    Ok(())
}

/// Each half of a pair is stale over several stops of the code: one finding for each half, with its bits.
#[test]
fn stale_halves_are_a_finding_each() -> eitri::Result<()> {
    let mut k = Kernel::new(64)?;
    let mut code = CodeEffects::new(&k.gpu, one_block());
    let a = code.value(64);
    let pair = Places::from([k.scalar(4), k.scalar(5)]);
    code.instruction(0x00..0x04).define(a, &pair)?;
    code.assign(0x04, k.variable, a)?;
    code.instruction(0x08..0x0c).clobber(&[k.scalar(4), k.scalar(5)])?;
    for pc in [0x10, 0x18, 0x20] {
        code.instruction(pc..pc + 4).clobber(&[k.scalar(9)])?;
    }
    let place = Loc::over([k.gpu.sgpr(4)?, k.gpu.sgpr(5)?]);
    k.builder.describe_variable(k.variable)?.live(0x04..0x40, place)?;
    let report = code.track()?.check(&k.builder.finish()?);
    let stale: Vec<_> = report.stale.iter().map(|stale| (stale.bits.clone(), stale.pcs.clone())).collect();
    assert_eq!(stale, [(0..32, 0x0c..0x40), (32..64, 0x0c..0x40)], "{report}");
    let text = report.to_string();
    assert!(text.contains("s4 with bits 0 to 31 was overwritten at 0x8"), "{text}");
    assert!(text.contains("s5 with bits 32 to 63 was overwritten at 0x8"), "{text}");
    Ok(())
}

/// A location at an address that only the running program knows is listed with the reason.
#[test]
fn unchecked_locations_are_printed() -> eitri::Result<()> {
    let mut k = Kernel::new(32)?;
    let mut code = CodeEffects::new(&k.gpu, one_block());
    let a = code.value(32);
    code.instruction(0x00..0x04).define(a, &[k.scalar(4)])?;
    code.assign(0x04, k.variable, a)?;
    let place = Loc::memory(SpaceId::LOCAL, Val::register(k.gpu.sgpr(6)?));
    k.builder.describe_variable(k.variable)?.live(0x08..0x10, place)?;
    let report = code.track()?.check(&k.builder.finish()?);
    let text = report.to_string();
    let expected = "unchecked: unit `a.cl`, function `k`, variable `x`, pc 0x8..0x10: ";
    assert!(text.starts_with(expected) && text.ends_with(", 1 unchecked\n"), "{text}");
    Ok(())
}

/// Each register of a pair is tracked separately.
#[test]
fn parts_of_wide_values_are_followed() -> eitri::Result<()> {
    let k = Kernel::new(64)?;
    let mut code = CodeEffects::new(&k.gpu, one_block());
    let [a, t] = [code.value(64), code.value(32)];
    let pair = |n: u16| Places::from([k.row(n), k.row(n + 1)]);
    let parts = |low: Loc, high: Loc| Loc::parts([(low, 32), (high, 32)]);
    code.instruction(0x00..0x08).define(a, &pair(2))?;
    code.assign(0x08, k.variable, a)?;
    code.instruction(0x08..0x10).copy(&pair(2), &pair(6))?;
    code.instruction(0x10..0x14).define(t, &[k.row(3)])?;
    code.instruction(0x14..0x18).clobber(&[k.row(6)])?;
    code.instruction(0x18..0x1c).clobber(&[k.row(7)])?;
    let tracked = code.track()?;
    let at = |pc| tracked.places_at(k.variable, pc);
    assert_eq!(at(0x08)?, [parts(k.v(2), k.v(3))]);
    assert_eq!(at(0x10)?, [parts(k.v(2), k.v(3)), parts(k.v(6), k.v(7))]);
    // The low half is in both, the high one in the copy alone.
    assert_eq!(at(0x14)?, [parts(k.v(2), k.v(7)), parts(k.v(6), k.v(7))]);
    assert_eq!(at(0x18)?, [parts(k.v(2), k.v(7))]);
    assert_eq!(at(0x1c)?, [parts(k.v(2), Loc::undefined())]);
    Ok(())
}

#[test]
fn halves_of_registers_are_places() -> eitri::Result<()> {
    let k = Kernel::new(16)?;
    let mut code = CodeEffects::new(&k.gpu, one_block());
    let [a, b] = [code.value(16), code.value(16)];
    let [low, high] = [Half::Low, Half::High].map(|half| k.row(3).half(half));
    code.instruction(0x00..0x04).define(a, &[low])?;
    code.assign(0x04, k.variable, a)?;
    code.instruction(0x04..0x08).copy(&[low], &[high])?;
    code.instruction(0x08..0x0c).define(b, &[low])?;
    code.instruction(0x0c..0x10).clobber(&[k.row(3)])?;
    let tracked = code.track()?;
    let at = |pc| tracked.places_at(k.variable, pc);
    assert_eq!(at(0x04)?, [k.v(3)]);
    assert_eq!(at(0x08)?, [k.v(3), k.v(3).offset(2)]);
    assert_eq!(at(0x0c)?, [k.v(3).offset(2)]);
    assert_eq!(at(0x10)?, []);
    Ok(())
}

/// The first bits of a variable are in a stack slot, the others in the high half of a place of the compiler's own
/// behind the slot. A claim of the low half is wrong.
#[test]
fn bits_of_own_places_are_checked() -> eitri::Result<()> {
    for (offset, is_sound) in [(2, true), (0, false)] {
        let mut k = Kernel::new(48)?;
        let mut code = CodeEffects::new(&k.gpu, one_block());
        let own = code.place(&Loc::stack_slot(64))?;
        let [a, b] = [code.value(32), code.value(16)];
        code.instruction(0x00..0x04).define(a, &[Place::stack_slot(60)])?;
        code.instruction(0x04..0x08).define(b, &[own.half(Half::High)])?;
        code.assign_bits(0x08, k.variable, 0..32, a)?;
        code.assign_bits(0x08, k.variable, 32..48, b)?;
        let tracked = code.track()?;
        let [slot, half] = [Loc::stack_slot(60), Loc::stack_slot(64).offset(2)];
        let parts = |half: Loc| Loc::parts([(slot.clone(), 32), (half, 16)]);
        assert_eq!(tracked.places_at(k.variable, 0x08)?, [parts(half)]);
        let claimed = parts(Loc::stack_slot(64).offset(offset));
        k.builder.describe_variable(k.variable)?.live(0x08..0x40, claimed)?;
        let report = tracked.check(&k.builder.finish()?);
        assert_eq!((report.is_sound(), report.claimed > 0), (is_sound, true), "{report}");
    }
    Ok(())
}

/// The first bits of a variable are in lane 30 of a vector register, the others in the lane's own. In the register, the
/// bits of lane 31 follow those of lane 30.
#[test]
fn bits_of_two_lanes_are_checked() -> eitri::Result<()> {
    let mut k = Kernel::new(48)?;
    let mut code = CodeEffects::new(&k.gpu, one_block());
    let lane = Place::lane(k.gpu.vgpr(3)?, 30).half(Half::High);
    code.assign_contents(0x08, k.variable, &[lane, k.row(3)])?;
    let tracked = code.track()?;
    let of_lane = Loc::lane(k.gpu.vgpr(3)?, 30).offset(2);
    assert_eq!(tracked.places_at(k.variable, 0x08)?, [Loc::parts([(of_lane, 16), (k.v(3), 32)])]);
    tracked.describe(&mut k.builder, Keep::All)?;
    let report = tracked.check(&k.builder.finish()?);
    assert!(report.is_sound() && report.claimed == report.recoverable, "{report}");
    Ok(())
}

/// The first bits of a variable are the low bits of a register, and the last one is the lane's bit of it: for lane 3,
/// the bit behind the others.
#[test]
fn bits_of_a_mask_behind_others_are_checked() -> eitri::Result<()> {
    let mut k = Kernel::new(4)?;
    let mut code = CodeEffects::new(&k.gpu, one_block());
    code.assign_contents(0x08, k.variable, &[k.scalar(4).bits(3), Place::lane_bit(k.gpu.sgpr(4)?)])?;
    let tracked = code.track()?;
    tracked.describe(&mut k.builder, Keep::All)?;
    let report = tracked.check(&k.builder.finish()?);
    assert!(report.is_sound() && report.right > 0 && report.right == report.recoverable, "{report}");
    Ok(())
}

/// A statement gives a place of the compiler's own more bits than its location has. The bits of the location are
/// checked.
#[test]
fn own_places_that_are_too_large_are_checked() -> eitri::Result<()> {
    let mut k = Kernel::new(16)?;
    let mut code = CodeEffects::new(&k.gpu, one_block());
    let own = code.place(&k.s(90))?;
    code.instruction(0x00..0x04).clobber(&[own.bits(64)])?;
    code.assign_contents(0x08, k.variable, &[own.half(Half::High)])?;
    let tracked = code.track()?;
    assert_eq!(tracked.places_at(k.variable, 0x08)?, [k.s(90).offset(2)]);
    tracked.describe(&mut k.builder, Keep::All)?;
    let report = tracked.check(&k.builder.finish()?);
    assert!(report.is_sound() && report.right == report.recoverable, "{report}");
    Ok(())
}

/// A declared home stands beside the derived places. Memory is current again where the compiler declares it.
#[test]
fn homes_are_beside_derived_places() -> eitri::Result<()> {
    let k = Kernel::new(32)?;
    let mut code = CodeEffects::new(&k.gpu, one_block());
    let a = code.value(32);
    let home = Loc::stack_slot(16);
    code.home(0x00..0x08, k.variable, &home)?;
    code.instruction(0x08..0x0c).define(a, &[k.row(3)])?;
    code.assign(0x0c, k.variable, a)?;
    code.instruction(0x0c..0x10).copy(&[k.row(3)], &[Place::stack_slot(16)])?;
    code.instruction(0x14..0x18).clobber(&[Place::stack_slot(16)])?;
    code.assign_contents(0x18, k.variable, &[Place::stack_slot(16)])?;
    let tracked = code.track()?;
    let at = |pc| tracked.places_at(k.variable, pc);
    assert_eq!((at(0x00)?, at(0x08)?), (vec![home.clone()], vec![]));
    assert_eq!((at(0x0c)?, at(0x10)?), (vec![k.v(3)], vec![k.v(3), home.clone()]));
    assert_eq!(at(0x18)?, [home]);
    Ok(())
}

/// Two sides bring a value in one register. Lanes that leave before the other side come from the block before it.
#[test]
fn lanes_bring_values_along_skips() -> eitri::Result<()> {
    let k = Kernel::new(32)?;
    let mut flow = ControlFlow::new();
    let mask = flow.mask(&[(0x04..0x1c, k.s(8))]);
    let [start, then, other, end] =
        [0x00..0x08, 0x08..0x10, 0x10..0x18, 0x18..0x40].map(|pcs| flow.block(pcs));
    flow.edge(start, then).edge(then, other).edge(other, end);
    flow.write(0x00..0x04, ExecWrite::Save(mask)).write(0x04..0x08, ExecWrite::And(mask));
    flow.write(0x10..0x14, ExecWrite::Else(mask)).write(0x18..0x1c, ExecWrite::Restore(mask));
    let mut code = CodeEffects::new(&k.gpu, flow.clone());
    let [a, b, merged] = [code.value(32), code.value(32), code.merged(end, 32)];
    code.instruction(0x08..0x0c).define(a, &[k.row(3)])?;
    code.instruction(0x14..0x18).define(b, &[k.row(3)])?;
    code.incoming(then, merged, a)?;
    code.incoming(other, merged, b)?;
    code.assign(0x1c, k.variable, merged)?;
    let tracked = code.track()?;
    assert_eq!(tracked.unproven(), []);
    assert_eq!(tracked.places_at(k.variable, 0x1c)?, [k.v(3)]);
    // Without the value of one side, nothing is known.
    let mut code = CodeEffects::new(&k.gpu, flow);
    let [a, b, merged] = [code.value(32), code.value(32), code.merged(end, 32)];
    code.instruction(0x08..0x0c).define(a, &[k.row(3)])?;
    code.instruction(0x14..0x18).define(b, &[k.row(3)])?;
    code.incoming(other, merged, b)?;
    code.assign(0x1c, k.variable, merged)?;
    assert_eq!(code.track()?.places_at(k.variable, 0x1c)?, []);
    Ok(())
}

/// A block parameter is not what it was in the iteration before, where a lane brings nothing.
#[test]
fn block_parameters_do_not_outlive_an_iteration() -> eitri::Result<()> {
    let k = Kernel::new(32)?;
    let mut flow = ControlFlow::new();
    let [start, one, join, head, two, end] =
        [0x00..0x08, 0x08..0x14, 0x14..0x1c, 0x1c..0x20, 0x20..0x24, 0x24..0x40].map(|pcs| flow.block(pcs));
    // The first iteration is through `one`.
    flow.edge(start, one).edge(one, join).edge(join, head).edge(head, one).edge(head, two).edge(two, join);
    flow.edge(join, end);
    let mut code = CodeEffects::new(&k.gpu, flow);
    let [a, merged] = [code.value(32), code.merged(join, 32)];
    code.instruction(0x08..0x0c).define(a, &[k.scalar(4)])?;
    code.incoming(one, merged, a)?;
    code.assign(0x14, k.variable, merged)?;
    // From `two`, the parameter has no value: s4 still has that of an earlier iteration.
    assert_eq!(code.track()?.places_at(k.variable, 0x14)?, []);
    Ok(())
}

#[test]
fn block_parameters_receive_one_value_from_a_block() -> eitri::Result<()> {
    let k = Kernel::new(32)?;
    let mut flow = ControlFlow::new();
    let [start, end] = [0x00..0x08, 0x08..0x40].map(|pcs| flow.block(pcs));
    flow.edge(start, end);
    let mut code = CodeEffects::new(&k.gpu, flow);
    let [a, b, merged] = [code.value(32), code.value(32), code.merged(end, 32)];
    code.entry(a, &[k.scalar(4)])?;
    code.entry(b, &[k.scalar(5)])?;
    code.incoming(start, merged, a)?;
    code.incoming(start, merged, b)?;
    let error = code.track().expect_err("two values").to_string();
    assert!(
        error.starts_with(
            "pc 0x8..0x40, block 0x8..0x40: block parameter 2 receives values 0 and 1 from block 0x0..0x8"
        ),
        "{error}"
    );
    Ok(())
}

/// The logical graph of a compiler that has two: lanes of the one side go to the end, and the wave to the other side.
#[test]
fn lane_edges_are_skips() -> eitri::Result<()> {
    let k = Kernel::new(32)?;
    let mut code = CodeEffects::new(&k.gpu, two_graphs());
    let [a, b] = [code.value(32), code.value(32)];
    code.instruction(0x00..0x04).define(a, &[k.row(3)])?;
    code.assign(0x08, k.variable, a)?;
    code.instruction(0x0c..0x10).copy(&[k.row(3)], &[k.row(5)])?;
    code.instruction(0x10..0x14).define(b, &[k.row(3)])?;
    let tracked = code.track()?;
    let at = |pc| tracked.places_at(k.variable, pc);
    assert_eq!((at(0x08)?, at(0x10)?), (vec![k.v(3)], vec![k.v(3), k.v(5)]));
    assert_eq!(at(0x14)?, [k.v(5)]);
    // The other side has not copied, and not overwritten.
    assert_eq!(at(0x18)?, [k.v(3)]);
    assert_eq!(at(0x24)?, []);
    // The same with a scalar: the first side overwrites it for the other one.
    let mut scalar = CodeEffects::new(&k.gpu, two_graphs());
    let [n, t] = [scalar.value(32), scalar.value(32)];
    scalar.instruction(0x04..0x08).define(n, &[k.scalar(4)])?;
    scalar.assign(0x08, k.variable, n)?;
    scalar.instruction(0x14..0x18).define(t, &[k.scalar(4)])?;
    let tracked = scalar.track()?;
    let at = |pc| tracked.places_at(k.variable, pc);
    assert_eq!((at(0x08)?, at(0x14)?, at(0x18)?, at(0x24)?), (vec![k.s(4)], vec![k.s(4)], vec![], vec![]));
    Ok(())
}

/// Two sides; no lane goes from one to the other, and the wave does.
fn two_graphs() -> ControlFlow {
    let mut flow = ControlFlow::new();
    let [start, then, other, end] =
        [0x00..0x0c, 0x0c..0x18, 0x18..0x24, 0x24..0x40].map(|pcs| flow.block(pcs));
    flow.edge(start, then).wave_edge(then, other).edge(other, end);
    flow.lane_edge(start, other).lane_edge(then, end);
    flow
}

/// A masked move of one value over another: behind the `if`, each lane finds the variable in the one register.
#[test]
fn a_masked_move_defines_a_copy() -> eitri::Result<()> {
    let k = Kernel::new(32)?;
    let mut flow = ControlFlow::new();
    let mask = flow.mask(&[(0x0c..0x1c, k.s(8))]);
    flow.block(0x00..0x40);
    flow.write(0x08..0x0c, ExecWrite::Save(mask)).write(0x0c..0x10, ExecWrite::And(mask));
    flow.write(0x18..0x1c, ExecWrite::Restore(mask));
    let mut code = CodeEffects::new(&k.gpu, flow);
    let [a, b, moved] = [(); 3].map(|()| code.value(32));
    code.instruction(0x00..0x04).define(a, &[k.row(3)])?;
    code.assign(0x04, k.variable, a)?;
    code.instruction(0x10..0x14).define(b, &[k.row(5)])?;
    code.assign(0x14, k.variable, b)?;
    code.instruction(0x14..0x18).define_copy(moved, &[k.row(5)], &[k.row(3)])?;
    let again = code.instruction(0x20..0x24).define_copy(moved, &[k.row(5)], &[k.row(3)]).map(drop);
    assert!(again.is_err_and(|error| error.to_string().contains("is defined twice")));
    let tracked = code.track()?;
    assert_eq!(tracked.places_at(k.variable, 0x18)?, [k.v(3), k.v(5)]);
    assert_eq!(tracked.places_at(k.variable, 0x1c)?, [k.v(3)]);
    Ok(())
}

/// Each lane's bit of a scalar register; an instruction writes the bits of all lanes.
#[test]
fn bits_of_a_mask_are_places_of_lanes() -> eitri::Result<()> {
    let k = Kernel::new(1)?;
    let s9 = k.gpu.sgpr(9)?;
    let mut code = CodeEffects::new(&k.gpu, one_block());
    let c = code.value(1);
    code.instruction(0x00..0x08).define(c, &[Place::lane_bit(s9)])?;
    code.assign(0x08, k.variable, c)?;
    code.instruction(0x0c..0x10).clobber(&[k.scalar(9)])?;
    let tracked = code.track()?;
    let at = |pc| tracked.places_at(k.variable, pc);
    let bit = Loc::register(s9).bit_offset_by(eitri::model::Val::lane_index());
    assert_eq!((at(0x08)?, at(0x10)?), (vec![bit], vec![]));
    Ok(())
}

/// A register keeps the value of a variable after the block of the variable ends. A debugger looks for the variable in the
/// block only.
#[test]
fn locations_are_within_the_scope() -> eitri::Result<()> {
    let mut k = Kernel::new(32)?;
    let block = k.builder.block(k.kernel, &[0x10..0x18, 0x20..0x28])?;
    let y = k.builder.variable(block, "y", k.ty)?.id();
    let mut code = CodeEffects::new(&k.gpu, one_block());
    let value = code.value(32);
    code.instruction(0x00..0x04).define(value, &[k.scalar(4)])?;
    code.assign(0x04, y, value)?;
    code.instruction(0x24..0x28).copy(&[k.scalar(4)], &[k.scalar(5)])?;
    let tracked = code.track()?;
    for pc in [0x04, 0x14, 0x1c, 0x24] {
        assert_eq!(tracked.places_at(y, pc)?, [k.s(4)], "pc {pc:#x}");
    }
    tracked.describe(&mut k.builder, Keep::All)?;
    let module = k.builder.finish()?;
    let pcs: Vec<_> = module.live(y).iter().map(|live| live.pcs()).collect();
    assert_eq!(pcs, [0x10..0x28]);
    let report = tracked.check(&module);
    assert!(report.is_sound() && report.missed.is_empty(), "{report}");
    assert!(report.claimed > 0 && report.claimed == report.recoverable, "{report}");
    Ok(())
}
