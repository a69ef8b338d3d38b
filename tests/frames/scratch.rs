//! Frames in scratch memory: a register counts bytes of the wave with buffer scratch, and bytes of one lane with flat scratch.

use eitri::build::Builder;
use eitri::emit::elf::{ObjectCode, new_object};
use eitri::eval::{CallStack, Snapshot};
use eitri::lower::{Consumer, Policy, lower};
use eitri::model::{Loc, Module, Val};
use eitri::read::{Dwarf, FrameSection, Object};
use eitri::target::{Scaling, Target};

use crate::frames::common::with;

/// A function of 0x40 bytes whose frame has 16 bytes of each lane from 0x10 on.
fn described(target: &Target, scaling: Option<Scaling>) -> Module {
    let mut m = Builder::new(target.clone());
    let reg = |number| target.sgpr(number).expect("a register");
    let [s30, s31, s32] = [30, 31, 32].map(reg);
    let unit = m.unit("a.cl");
    let mut function = m.function(unit, "f").expect("a function");
    function.code("f", 0x40);
    if let Some(scaling) = scaling {
        function.scaling(scaling);
    }
    let f = function.id();
    let mut frame = m.frame(f).expect("a frame");
    frame
        .cfa_in_scratch(0..0x10, s32, 0)
        .expect("a rule")
        .cfa_in_scratch(0x10..0x40, s32, -16)
        .expect("a rule");
    let unit = match scaling.unwrap_or(target.scaling()) {
        Scaling::Lane => 1,
        Scaling::Wave => 32,
    };
    let moved = Loc::value(Val::register(s32).plus(-16 * unit));
    frame.return_address(0..0x40, s30, s31).expect("a rule").saved(0x10..0x40, s32, moved).expect("a rule");
    m.finish().expect("a module")
}

/// The canonical frame address at a pc, where s32 contains a number.
fn cfa(module: &Module, pc: u64, s32: u32) -> String {
    let target = module.target();
    let consumer = Consumer::rocgdb();
    let written = lower(module, &consumer, Policy::Strict).expect("sections");
    let code = ObjectCode::text(vec![0; 0x40]).with_function("f", 0, 0x40);
    let bytes = new_object(target, &code, &written.sections).expect("an object");
    let report = eitri::check(module, &consumer, &written.omissions, &bytes).expect("a report");
    assert!(report.is_clean(), "{report}");
    let object = Object::read(&bytes).expect("an object");
    let dwarf = Dwarf::read(&object).expect("debug information");
    let sections = [dwarf.frames(FrameSection::Debug).expect("frames")];
    let start = object.symbol_address("f").expect("a symbol");
    let mut machine = with::<Snapshot>(|machine| machine.pc = Some(start + pc));
    machine.registers.insert(target.sgpr(32).expect("a register"), s32.to_le_bytes().to_vec());
    let calls = CallStack::new(&machine, &sections, target);
    calls.innermost().expect("a frame").cfa().expect("an address").to_string()
}

/// By hand: with flat scratch, 64 bytes of each lane are 64 · 32 = 0x800 bytes of the wave, and 16 bytes less are
/// 48 · 32 = 0x600. With buffer scratch, s32 counts 0x800 itself.
#[test]
fn frame_is_at_the_scaled_register() {
    let named = |name| Target::named(name).expect("a target");
    for (target, scaling, s32) in [
        ("amdgpu-gfx1030-wave32", None, 0x800),
        ("amdgpu-gfx1100-wave32", None, 0x40),
        ("amdgpu-gfx1030-wave32", Some(Scaling::Lane), 0x40),
        ("amdgpu-gfx1100-wave32", Some(Scaling::Wave), 0x800),
    ] {
        let module = described(&named(target), scaling);
        assert_eq!(cfa(&module, 0x0c, s32), "mem:6:0x800", "{target}, {scaling:?}");
        assert_eq!(cfa(&module, 0x10, s32), "mem:6:0x600", "{target}, {scaling:?}");
        let kinds: Vec<_> = module.warnings().iter().map(|warning| warning.kind()).collect();
        assert_eq!(kinds, [], "{target}, {scaling:?}");
        assert!(Module::from_json(module.to_json()).expect("the description is read") == module);
    }
}

/// A frame of 2^59 bytes of each lane has more bytes than an offset can have.
#[test]
fn offset_beyond_the_wave_is_refused() {
    let target = Target::named("amdgpu-gfx1100-wave32").expect("a target");
    let mut m = Builder::new(target.clone());
    let unit = m.unit("a.cl");
    let f = m.function(unit, "f").expect("a function").code("f", 0x40).id();
    let s32 = target.sgpr(32).expect("a register");
    let error =
        m.frame(f).expect("a frame").cfa_in_scratch(0..0x40, s32, 1 << 59).map(drop).expect_err("too far");
    assert!(error.to_string().contains("function `f`"), "{error}");
}
