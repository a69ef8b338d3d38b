//! A machine or a target that does not fit the file is named, with the value that the file has.

use eitri::build::Builder;
use eitri::emit::elf::{ObjectCode, new_object};
use eitri::eval::{CallStack, Context, DebugInfo, Evaluator, Layout, Machine, Snapshot, SpaceLayout};
use eitri::lower::{Consumer, Policy, lower};
use eitri::model::{BaseEncoding, Loc};
use eitri::op::{Dialect, Encoding, text};
use eitri::read::{Dwarf, FrameSection, Object};
use eitri::target::{Gfx, Per, SpaceId, Target, Wave};

/// An object with a variable `x` of the function `f`, at `location`.
fn object(target: &Target, location: Loc) -> Vec<u8> {
    let mut m = Builder::new(target.clone());
    let unit = m.unit("a.cl");
    let int = m.base_type(unit, "int", BaseEncoding::Signed, 32).expect("a type");
    let f = m.function(unit, "f").expect("a function").code("f", 0x20).kernel().id();
    m.variable(f, "x", int).expect("a variable").live(0..0x20, location).expect("a location");
    let module = m.finish().expect("a module");
    let consumer = if target.gfx().is_some() { Consumer::llvm() } else { Consumer::dwarf5() };
    let written = lower(&module, &consumer, Policy::Strict).expect("sections");
    let code = ObjectCode::text(vec![0; 0x20]).with_function("f", 0, 0x20);
    new_object(target, &code, &written.sections).expect("an object")
}

fn gpu(wave: Wave) -> Target {
    Target::amdgpu(Gfx::GFX1030, wave).expect("gfx1030 runs both")
}

/// The number of `EM_X86_64` is 62, of `EM_AARCH64` 183, and of `EM_AMDGPU` 224 (`elf.h`).
#[test]
fn target_of_another_processor_is_named() {
    let amd = gpu(Wave::W32);
    let v3 = amd.vgpr(3).expect("a register");
    let rax = Target::x86_64().register_named("rax").expect("a register");
    let narrow = Layout {
        registers: [(rax, 64)].into(),
        spaces: [(SpaceId::DEFAULT, SpaceLayout { address_bits: 32, per: Per::Process })].into(),
    };
    let [x86, aarch64, wave64] = [Target::x86_64(), Target::aarch64(), gpu(Wave::W64)];
    let cpu = object(&x86, Loc::register(rax));
    let wave32 = object(&amd, Loc::per_lane(v3));
    let cases: [(&[u8], &dyn eitri::eval::Architecture, &str); 5] = [
        (&cpu, &aarch64, "the target is aarch64, whose ELF machine is 183; expected 62, as in the file"),
        (
            &cpu,
            &amd,
            "the target is amdgpu-gfx1030-wave32, whose ELF machine is 224; expected 62, as in the file",
        ),
        (&wave32, &x86, "the target is x86_64, whose ELF machine is 62; expected 224, as in the file"),
        (&cpu, &narrow, "the target's addresses have 32 bits; expected 64, as in the file"),
        (&wave32, &wave64, "the target's waves have 64 lanes; expected 32, as in the file's function"),
    ];
    for (bytes, target, problem) in cases {
        let object = Object::read(bytes).expect("an object");
        let dwarf = Dwarf::read(&object).expect("debug information");
        let info = DebugInfo::new(&dwarf);
        let mut machine = Snapshot::default();
        machine.pc = Some(dwarf.address_in("f", 4).expect("the function"));
        let x = dwarf.variable_named("x", machine.pc).expect("the variable");
        let sections = [dwarf.frames_of_code(FrameSection::Debug)];
        let stack = CallStack::new(&machine, &sections, target).with_debug_info(&info);
        let frame = stack.innermost().expect("a frame");
        let faults = [
            info.check_machine(&machine, target, 0).expect_err("a fault"),
            info.variable_location(x.located, &machine, target).expect_err("a fault"),
            frame.variable_location(x.located).expect_err("a fault"),
        ];
        for fault in faults {
            assert_eq!(fault.to_string(), format!("evaluation error: {problem}"));
        }
        let own = info.target(&object).expect("a target");
        assert_eq!(info.check_machine(&machine, &own, 0), Ok(()));
    }
}

/// An expression without a file: 1539 is v3 of a wave with 32 lanes, and 2563 of a wave with 64 ("User Guide for AMDGPU
/// Backend", table "AMDGPU DWARF Register Mapping").
#[test]
fn register_of_the_other_wave_size_is_named() {
    let encoding = Encoding::new(8, Dialect::Llvm);
    for (wave, number, expected) in [
        (Wave::W64, 1539, "with 64 lanes in a wave; with 32 lanes, v3: register 1539"),
        (Wave::W32, 2563, "with 32 lanes in a wave; with 64 lanes, v3: register 2563"),
        (Wave::W32, 9999, "the target has no register of this number: register 9999"),
    ] {
        let target = gpu(wave);
        let expr = text::parse(&format!("regx {number}"), encoding, None).expect("an expression");
        let machine = Snapshot::default();
        let context = Context::new(encoding, &target);
        let fault = Evaluator::new().location(expr.bytes(), &machine, &context).expect_err("a fault");
        assert!(fault.to_string().contains(expected), "{fault}");
        assert_eq!(machine.pc(0), None);
    }
}
