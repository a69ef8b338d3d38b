//! Frames of AMD's own compiler, which lists the registers that a function overwrites and keeps values in all others over
//! a call. Expectations are from `llvm-objdump-19 -d --mcpu=gfx1100` of the object.

use eitri::eval::{CallStack, Class, Snapshot, read_bits};
use eitri::read::{Dwarf, FrameSection, Object};
use eitri::target::{SpaceId, Target};

use crate::common::with;

const OBJECT: &[u8] = include_bytes!("../objects/amd/k06_calls.gfx1100.O2.hsaco");

/// Contents of a vector register in a lane.
fn element(number: u16, lane: u32) -> u32 {
    u32::from(number) << 16 | lane
}

/// A wave in `leaf`, which `mid` calls at 0x1800 (`s_swappc_b64 s[30:31], s[4:5]`), which `calls` calls at 0x1998.
///
/// * `calls` begins with s32 = 0. `mid` copies s33 to s3 and s32 to s33, stores v7 of all lanes at s33
///   (`scratch_store_b32 off, v7, s33`), writes s30 and s31 to lanes 0 and 1 of v7, and adds 16 to s32.
/// * `leaf` writes v0, v2, v3, s0, s1 and s2 alone.
fn wave(target: &Target) -> Snapshot {
    let mut machine = with::<Snapshot>(|machine| machine.pc = Some(0x1718));
    for number in 0..16 {
        let lanes = (0..32).map(|lane| match (number, lane) {
            // The return address of `mid`.
            (7, 0) => 0x199c,
            (7, 1) => 0,
            _ => element(number, lane),
        });
        let bytes = lanes.flat_map(u32::to_le_bytes).collect();
        machine.registers.insert(target.vgpr(number).expect("v0 to v15"), bytes);
    }
    for (number, value) in [(3, 0x333), (30, 0x1804), (31, 0), (32, 16), (33, 0u32)] {
        machine.registers.insert(target.sgpr(number).expect("a register"), value.to_le_bytes().to_vec());
    }
    let saved: Vec<u8> = (0..32).flat_map(|lane| element(77, lane).to_le_bytes()).collect();
    machine.store(SpaceId::PRIVATE_WAVE, None, 0, &saved);
    machine
}

#[test]
fn registers_that_a_callee_does_not_list_are_unchanged() {
    let target = Target::named("amdgpu-gfx1100-wave32").expect("a target");
    let machine = wave(&target);
    let object = Object::read(OBJECT).expect("an object");
    let dwarf = Dwarf::read(&object).expect("debug information");
    let sections = [dwarf.frames(FrameSection::Debug).expect("frames")];
    let calls = CallStack::new(&machine, &sections, &target);
    let frames: Vec<_> = calls.frames().map(|frame| frame.expect("a frame")).collect();
    let pcs: Vec<_> = frames.iter().map(|frame| frame.resumes_at()).collect();
    assert_eq!(pcs, [0x1718, 0x1804, 0x199c]);
    // s32 and s33 count the bytes of one lane.
    let cfas: Vec<_> = frames.iter().map(|frame| frame.cfa().expect("an address").to_string()).collect();
    assert_eq!(cfas, ["mem:6:0x200", "mem:6:0x0", "mem:6:0x0"]);
    let value = |frame: usize, name: &str, lane: u32| {
        let reg = target.register_named(name).expect("a register");
        let location = frames[frame].register(reg).expect("a location");
        let bits = target.register(reg).expect("a register").bits;
        let read = read_bits(&location, bits.into(), &machine).expect("bits");
        let bytes = lane as usize * 4..lane as usize * 4 + 4;
        let is_defined = read.defined[bytes.clone()].iter().all(|&byte| byte == 0xff);
        is_defined.then(|| u32::from_le_bytes(read.bytes[bytes].try_into().expect("four bytes")))
    };
    // What `leaf` overwrites is lost in `mid`; all else is in place, whatever the calling convention says.
    for name in ["v0", "v2", "v3"] {
        assert_eq!(value(1, name, 9), None, "{name}");
    }
    for number in [1, 4, 5, 6, 8, 10] {
        assert_eq!(value(1, &format!("v{number}"), 9), Some(element(number, 9)));
    }
    assert_eq!((value(1, "v7", 0), value(1, "v7", 9)), (Some(0x199c), Some(element(7, 9))));
    assert_eq!((value(1, "s3", 0), value(1, "s33", 0)), (Some(0x333), Some(0)));
    // `calls` keeps an address in v8 and v9, and the loaded value in v10. `mid` overwrites v0 to v6, and has saved v7.
    for number in 0..7 {
        assert_eq!(value(2, &format!("v{number}"), 9), None, "v{number}");
    }
    assert_eq!(value(2, "v7", 9), Some(element(77, 9)));
    for number in [8, 9, 10] {
        assert_eq!(value(2, &format!("v{number}"), 9), Some(element(number, 9)));
    }
    assert_eq!(value(2, "s33", 0), Some(0x333));
    for name in ["s0", "s1", "s2", "s4", "s5"] {
        let reg = target.register_named(name).expect("a register");
        let fault = frames[2].read_register(reg, 0, &mut [0; 4]).expect_err("a lost register");
        assert_eq!(fault.class(), Some(Class::Evaluation), "{name}");
    }
}
