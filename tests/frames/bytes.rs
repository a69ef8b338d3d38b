//! Bytes of call frame information: as AMD's compiler writes them, and encoded by hand.

use eitri::Result;
use eitri::build::Builder;
use eitri::consumer::{Consumer, FrameForm, Policy};
use eitri::lower::lower;
use eitri::model::{FunctionId, Loc, Val};
use eitri::op::Reg;
use eitri::target::{Gfx, SpaceId, Target, UnspecifiedRegisters, Wave};
use pretty_assertions::assert_eq;

use crate::frames::common::link;

const START: u64 = 0x4000;

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect::<Vec<_>>().join(" ")
}

fn gfx900() -> Target {
    Target::amdgpu(Gfx::GFX900, Wave::W64).expect("waves of 64")
}

fn gfx1030() -> Target {
    Target::amdgpu(Gfx::GFX1030, Wave::W32).expect("waves of 32")
}

/// Linked section of a module with a function `f` of `bytes` bytes.
fn section(
    target: &Target,
    consumer: &Consumer,
    bytes: u64,
    describe: impl FnOnce(&mut Builder, FunctionId) -> Result<()>,
) -> Vec<u8> {
    let mut m = Builder::new(target.clone());
    let unit = m.unit("a.cl");
    let f = m.function(unit, "f").expect("a function").code("f", bytes).id();
    describe(&mut m, f).expect("a description");
    let module = m.finish().expect("a module");
    let written = lower(&module, consumer, Policy::Strict).expect("sections");
    let linked = link(&written.sections, target, |_| START);
    let name = if consumer.frames.eh_frame { ".eh_frame" } else { ".debug_frame" };
    linked.sections[name].clone()
}

/// Instructions for the rule of a register, or of the canonical frame address, in a function of 64 bytes: those of the
/// first row, after the header of the common entry.
fn rule(target: &Target, consumer: &Consumer, reg: Option<Reg>, loc: Loc) -> String {
    let pc = target.call_frames().return_register;
    let section = section(target, consumer, 64, |m, f| {
        let mut frame = m.frame(f)?;
        // So that the common entry has no list of the registers that a call overwrites.
        frame.unspecified_registers(UnspecifiedRegisters::SameValue);
        match reg {
            None => frame.cfa(0..64, loc)?.undefined(0..64, pc)?,
            Some(reg) => {
                frame.entry_function()?;
                if reg == pc {
                    // The tested rule is that of the return address.
                    let mut again = Builder::new(target.clone());
                    let unit = again.unit("a.cl");
                    let f = again.function(unit, "f")?.code("f", 64).id();
                    let mut frame = again.frame(f)?;
                    frame.cfa(0..64, zero())?.saved(0..64, reg, loc)?;
                    frame.unspecified_registers(UnspecifiedRegisters::SameValue);
                    *m = again;
                    return Ok(());
                }
                frame.saved(0..64, reg, loc)?
            }
        };
        Ok(())
    });
    let length = u32::from_le_bytes(section[..4].try_into().expect("four bytes"));
    let cie = &section[4..4 + length as usize];
    // Id, version, no augmentation, sizes, alignments, return register.
    assert_eq!(hex(&cie[..12]), "ff ff ff ff 04 00 08 00 04 04 10 ".to_owned() + &hex(&cie[11..12]));
    let text = hex(&cie[11..]);
    let text = text.trim_end_matches(" 00");
    let cfa = if reg.is_some() { kernel(consumer) } else { "" };
    let undefined = if reg == Some(pc) { "" } else { "07 10" };
    let rest = text.strip_prefix(cfa).unwrap_or_else(|| panic!("{text}")).trim();
    match reg {
        None => rest.strip_suffix(undefined),
        Some(_) => rest.strip_prefix(undefined),
    }
    .unwrap_or_else(|| panic!("{text}"))
    .trim()
    .to_owned()
}

fn zero() -> Loc {
    Loc::memory(SpaceId::PRIVATE_WAVE, Val::constant(0))
}

/// Instructions for the address of a kernel's frame.
fn kernel(consumer: &Consumer) -> &'static str {
    match consumer.name {
        "ROCgdb (legacy)" => "0f 03 30 36 e1",
        _ => "0f 04 30 36 e9 02",
    }
}

/// AMD's tests have these bytes, except for two that follow from the rules: `DW_CFA_LLVM_def_aspace_cfa` of a
/// function, and the current operations for a vector register.
#[test]
fn amd_writes_the_same() {
    let wave64 = gfx900();
    let wave32 = gfx1030();
    let llvm = Consumer::llvm();
    let legacy = Consumer::rocgdb_legacy();
    let wave = |val| Loc::memory(SpaceId::PRIVATE_WAVE, val);
    let s = |n| wave64.sgpr(n).expect("a register");
    assert_eq!(rule(&wave64, &llvm, None, zero()), "0f 04 30 36 e9 02");
    assert_eq!(rule(&wave64, &legacy, None, zero()), "0f 03 30 36 e1");
    for consumer in [&llvm, &legacy, &Consumer::rocgdb()] {
        assert_eq!(rule(&wave64, consumer, None, wave(Val::register(s(32)))), "30 40 00 06");
    }
    let pc = Loc::over([s(30), s(31)]);
    assert_eq!(rule(&wave64, &llvm, Some(Reg(16)), pc), "10 10 08 90 3e 93 04 90 3f 93 04");
    let spilled = |target: &Target, offset: i64| {
        let v33 = target.vgpr(33).expect("v33");
        let exec = target.exec().expect("exec");
        let row = Loc::cfa().offset(offset);
        let lanes = target.lanes().into();
        (Some(v33), Loc::select(Val::entry_value(exec), Loc::register(v33), row, 32, lanes))
    };
    let (v33, loc) = spilled(&wave64, 256);
    let expected = "10 a1 14 0e 90 a1 14 16 e4 80 02 e6 11 94 08 ec 20 40";
    assert_eq!(rule(&wave64, &legacy, v33, loc.clone()), expected);
    let expected = "10 a1 14 11 90 a1 14 16 e9 05 80 02 e9 07 11 94 08 e9 0c 20 40";
    assert_eq!(rule(&wave64, &llvm, v33, loc), expected);
    let (v33, loc) = spilled(&wave32, 128);
    let expected = "10 a1 0c 0e 90 a1 0c 16 e4 80 01 e6 01 94 04 ec 20 20";
    assert_eq!(rule(&wave32, &legacy, v33, loc), expected);
    // Linear scratch addresses: the register counts bytes per lane.
    let linear = |shift| wave(Val::register(s(32)).shl(Val::constant(shift)));
    assert_eq!(rule(&wave64, &llvm, None, linear(6)), "0f 09 90 40 94 04 36 24 36 e9 02");
    assert_eq!(rule(&wave32, &llvm, None, linear(5)), "0f 09 90 40 94 04 35 24 36 e9 02");
}

/// Encoded with the tables of DWARF 5, figure 7.24, and of the extension. Each line: saved register, its location, and
/// the bytes.
#[test]
fn each_rule_by_hand() {
    let gpu = gfx1030();
    let s = |n| gpu.sgpr(n).expect("a register");
    let v = |n| gpu.vgpr(n).expect("a register");
    let llvm = Consumer::llvm();
    let wave = |reg: Reg, by| Loc::memory(SpaceId::PRIVATE_WAVE, Val::register(reg).plus(by));
    let none = {
        let mut consumer = Consumer::llvm();
        consumer.frames = FrameForm::STANDARD;
        consumer
    };
    let mut wrong = Vec::new();
    // s30 is 62, s70 is 1094 (c6 08), v40 is 1576 (a8 0c), v41 is 1577 (a9 0c).
    for (consumer, reg, loc, expected) in [
        // The canonical frame address: a register plus bytes.
        (&llvm, None, wave(s(33), 256), "30 41 80 02 06"),
        (&llvm, None, wave(s(33), -256), "31 41 40 06"),
        // Not a multiple of 4.
        (&llvm, None, wave(s(33), -6), "0f 05 36 e9 09 41 7a"),
        (&Consumer::rocgdb(), None, wave(s(33), -256), "0f 06 36 e9 09 41 80 7e"),
        (&none, None, wave(s(33), 4), "0f 05 36 e9 09 41 04"),
        (&llvm, None, wave(s(33), 0).offset(8), "30 41 08 06"),
        // Global memory at a pc of 64 bits, which is register 16.
        (&llvm, None, Loc::memory(SpaceId::DEFAULT, Val::register(Reg(16)).plus(8)), "0c 10 08"),
        (&llvm, None, Loc::memory(SpaceId::DEFAULT, Val::register(Reg(16)).plus(-8)), "12 10 7e"),
        (&llvm, None, Loc::memory(SpaceId::PRIVATE_LANE, Val::constant(0)), "0f 04 30 35 e9 02"),
        // Registers.
        (&llvm, Some(s(34)), Loc::undefined(), "07 42"),
        (&llvm, Some(s(70)), Loc::undefined(), "07 c6 08"),
        (&llvm, Some(s(34)), Loc::register(s(34)), ""),
        (&llvm, Some(s(34)), Loc::register(s(70)), "09 42 c6 08"),
        (&llvm, Some(s(34)), Loc::cfa(), "05 42 00"),
        (&llvm, Some(s(30)), Loc::cfa().offset(512), "be 80 01"),
        (&llvm, Some(s(30)), Loc::cfa().offset(-4), "11 3e 7f"),
        (&llvm, Some(v(40)), Loc::cfa().offset(128), "05 a8 0c 20"),
        // Not a multiple of 4: an offset from the canonical frame address on the stack.
        (&llvm, Some(s(34)), Loc::cfa().offset(6), "10 42 03 e9 05 06"),
        // Lanes 7, 31 and 0: offsets of 28, 124 and 0 bytes.
        (&llvm, Some(s(34)), Loc::lane(v(40), 7), "10 42 06 90 a8 0c e9 05 1c"),
        (&llvm, Some(s(34)), Loc::lane(v(40), 31), "10 42 06 90 a8 0c e9 05 7c"),
        (&llvm, Some(s(34)), Loc::lane(v(40), 0), "10 42 03 90 a8 0c"),
        // A pair in two lanes: bit pieces.
        (
            &llvm,
            Some(Reg(16)),
            Loc::lanes([(v(40), 0), (v(40), 1)]),
            "10 10 0b 90 a8 0c 93 04 90 a8 0c 9d 20 20",
        ),
        // One half at the frame, the other elsewhere: the address is used once, and is on top of the stack.
        (
            &llvm,
            Some(Reg(16)),
            Loc::parts([(Loc::cfa(), 32), (Loc::register(s(30)), 32)]),
            "10 10 06 93 04 90 3e 93 04",
        ),
        // The second part uses the address: a copy from below the first part, which must not be moved.
        (
            &llvm,
            Some(Reg(16)),
            Loc::parts([(Loc::register(s(30)), 32), (Loc::cfa().offset(4), 32)]),
            "10 10 0a 90 3e 93 04 14 e9 05 04 93 04",
        ),
        // The first part is undefined: the address below it must not become a part.
        (
            &llvm,
            Some(Reg(16)),
            Loc::parts([(Loc::undefined(), 32), (Loc::register(s(30)), 32)]),
            "10 10 08 e9 08 93 04 90 3e 93 04",
        ),
        // The address is used twice: first a copy, then the original.
        (
            &llvm,
            Some(v(41)),
            Loc::select(Val::constant(5), Loc::cfa().offset(128), Loc::cfa(), 32, 32),
            "10 a9 0c 0b 12 e9 05 80 01 16 35 e9 0c 20 20",
        ),
        // Selected by a mask that is itself in the frame.
        (
            &llvm,
            Some(v(41)),
            Loc::select(Loc::cfa().offset(8).read(32), Loc::register(v(41)), Loc::register(v(40)), 32, 32),
            "10 a9 0c 11 90 a9 0c 90 a8 0c 15 02 e9 05 08 94 04 e9 0c 20 20",
        ),
        // A number of 32 bits is an implicit location; of the size of an address, it is the value.
        (&llvm, Some(s(34)), Loc::value(Val::register(s(33)).plus(-8)), "10 42 07 90 41 94 04 38 1c 9f"),
        (&llvm, Some(Reg(16)), Loc::value(Val::constant(7)), "16 10 01 37"),
        (&llvm, Some(s(34)), Loc::implicit(&[1, 2, 3, 4]), "10 42 06 9e 04 01 02 03 04"),
    ] {
        let found = rule(&gpu, consumer, reg, loc.clone());
        // Trailing zeros may be padding.
        if found != expected.trim_end_matches(" 00") {
            wrong.push(format!("{loc:?}\n  {found}\n  {expected}"));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// ROCgdb keeps the most recent space and does not support `DW_CFA_LLVM_def_aspace_cfa_sf`: returning to the default
/// space with a negative offset requires an expression.
#[test]
fn the_default_space_after_another_by_hand() {
    let target = gfx1030();
    let s32 = target.sgpr(32).expect("a register");
    // After the advance over four instructions.
    for (consumer, by, expected) in [
        (Consumer::rocgdb(), 8, "44 30 10 08 00"),
        (Consumer::rocgdb(), -8, "44 0f 02 80 78"),
        (Consumer::llvm(), 8, "44 0c 10 08"),
        (Consumer::llvm(), -8, "44 12 10 7e"),
    ] {
        let section = section(&target, &consumer, 64, |m, f| {
            m.frame(f)?
                .cfa(0..16, Loc::memory(SpaceId::PRIVATE_WAVE, Val::register(s32)))?
                .cfa(16..64, Loc::memory(SpaceId::DEFAULT, Val::register(Reg(16)).plus(by)))?
                .undefined(0..64, Reg(16))?;
            Ok(())
        });
        let length = u32::from_le_bytes(section[..4].try_into().expect("four bytes"));
        // Length, offset of the common entry, address and length of the code.
        let found = hex(&section[4 + length as usize + 24..]);
        assert_eq!(found.trim_end_matches(" 00"), expected.trim_end_matches(" 00"), "{} {by}", consumer.name);
    }
}

/// A function of x86-64 that pushes rbp, returns early, goes on and returns: 0x30 bytes.
///
/// ```text
///  0  push rbp        CFA = rsp+8, rip at CFA-8
///  1  mov rbp, rsp    CFA = rsp+16, rbp at CFA-16
///  4  …               CFA = rbp+16
/// 16  ret             CFA = rsp+8, rbp as it was
/// 17  …               CFA = rbp+16, rbp at CFA-16
/// 2f  ret             CFA = rsp+8, rbp as it was
/// ```
fn returns_early(m: &mut Builder, f: FunctionId) -> Result<()> {
    let rbp = Reg(6);
    let rsp = Reg(7);
    let rip = Reg(16);
    let at = |reg, by| Loc::memory(SpaceId::DEFAULT, Val::register(reg).plus(by));
    m.frame(f)?
        .saved(0..0x30, rip, Loc::cfa().offset(-8))?
        .cfa(0..1, at(rsp, 8))?
        .cfa(1..4, at(rsp, 16))?
        .cfa(4..0x16, at(rbp, 16))?
        .cfa(0x16..0x17, at(rsp, 8))?
        .cfa(0x17..0x2f, at(rbp, 16))?
        .cfa(0x2f..0x30, at(rsp, 8))?
        .saved(1..0x16, rbp, Loc::cfa().offset(-16))?
        .saved(0x17..0x2f, rbp, Loc::cfa().offset(-16))?
        .extent(-16..0)?;
    Ok(())
}

/// def_cfa rsp 8; offset rip 1.
const FIRST: &str = "0c 07 08 90 01";
/// remember; advance 1; def_cfa_offset 16; offset rbp 2; advance 3; def_cfa_register rbp; advance 18; restore_state;
/// remember; advance 1; def_cfa rbp 16; offset rbp 2; advance 24; restore_state: 20 bytes. remember and restore_state
/// take one byte each, in place of the four bytes of def_cfa rsp 8; restore rbp.
const REST: &str = "0a 41 0e 10 86 02 43 0d 06 52 0b 0a 41 0c 06 10 86 02 58 0b";

#[test]
fn entries_of_each_version_by_hand() {
    let cpu = Target::x86_64();
    let mut consumer = Consumer::dwarf5();
    // Id, version, augmentation; sizes of an address and of a segment selector in version 4; alignments 1 and -8,
    // return register 16.
    let small = |version: &str, pad: usize| {
        let cie = format!("ff ff ff ff {version} 01 78 10 {FIRST}");
        // The common entry is at 0.
        let fde = format!("00 00 00 00 00 40 00 00 00 00 00 00 30 00 00 00 00 00 00 00 {REST}");
        (cie + &" 00".repeat(pad), fde + " 00 00 00 00")
    };
    for (version, header, pad) in
        [(2, "01 00", 6), (3, "03 00", 6), (4, "04 00 08 00", 4), (5, "04 00 08 00", 4)]
    {
        consumer.version = version;
        let found = section(&cpu, &consumer, 0x30, returns_early);
        let (cie, fde) = small(header, pad);
        let bytes = |text: &str| text.split(' ').count();
        assert_eq!((bytes(&cie) + 4) % 8, 0, "{cie}");
        let expected = format!("{:02x} 00 00 00 {cie} {:02x} 00 00 00 {fde}", bytes(&cie), bytes(&fde));
        assert_eq!(hex(&found), expected, "DWARF {version}");
    }
    // In the 64-bit format, lengths, ids and pointers take 8 bytes, and a length is preceded by 4 bytes.
    consumer.format = gimli::Format::Dwarf64;
    let found = section(&cpu, &consumer, 0x30, returns_early);
    let cie =
        format!("ff ff ff ff 14 00 00 00 00 00 00 00 ff ff ff ff ff ff ff ff 04 00 08 00 01 78 10 {FIRST}");
    let fde = format!(
        "ff ff ff ff 2c 00 00 00 00 00 00 00 00 00 00 00 00 00 00 00 00 40 00 00 00 00 00 00 30 00 00 00 00 00 00 00 {REST}"
    );
    let nops = |text: &str, bytes: usize| " 00".repeat(bytes - text.split(' ').count());
    assert_eq!(hex(&found), format!("{cie}{} {fde}{}", nops(&cie, 32), nops(&fde, 56)));
    // `.eh_frame`: version 1, `zR` with relative addresses; CIE pointers count backwards.
    let mut consumer = Consumer::dwarf5();
    (consumer.frames.eh_frame, consumer.frames.debug_frame) = (true, false);
    let found = section(&cpu, &consumer, 0x30, returns_early);
    let cie = format!("14 00 00 00 00 00 00 00 01 7a 52 00 01 78 10 01 1b {FIRST}");
    // The common entry has 24 bytes; the pointer is at 28, and the address at 32: 0x4000 - 32.
    let fde = format!("24 00 00 00 1c 00 00 00 e0 3f 00 00 30 00 00 00 00 {REST}");
    assert_eq!(hex(&found), format!("{cie}{} {fde}{}", nops(&cie, 24), nops(&fde, 40)));
}

/// Functions with the same first row share a common entry; others have their own. An entry with a list of registers is
/// long, so that it has no further register than the return address.
#[test]
fn common_entries_are_shared() -> Result<()> {
    assert_eq!(common_entries(UnspecifiedRegisters::SameValue)?, 2);
    assert_eq!(common_entries(UnspecifiedRegisters::ByConvention)?, 1);
    Ok(())
}

fn common_entries(registers: UnspecifiedRegisters) -> Result<usize> {
    let mut m = Builder::new(gfx1030());
    let unit = m.unit("a.cl");
    let second = m.unit("b.cl");
    let at = |m: &Builder, n| m.target().sgpr(n);
    let s30 = at(&m, 30)?;
    let s31 = at(&m, 31)?;
    let s32 = at(&m, 32)?;
    let s34 = at(&m, 34)?;
    let v40 = m.target().vgpr(40)?;
    for (index, unit) in [unit, second, unit, second].into_iter().enumerate() {
        let name = format!("f{index}");
        let f = m.function(unit, &name)?.code(&name, 0x40).id();
        let mut frame = m.frame(f)?;
        frame.cfa(0..0x40, Loc::memory(SpaceId::PRIVATE_WAVE, Val::register(s32)))?;
        frame.return_address(0..0x40, s30, s31)?;
        match index {
            3 => frame.undefined(0..0x40, s34)?,
            _ => frame.saved_in_lane(4 * index as u64 + 4..0x3c, s34, v40, 2)?,
        };
        frame.unspecified_registers(registers);
    }
    let module = m.finish()?;
    let written = lower(&module, &Consumer::llvm(), Policy::Strict)?;
    let frames = written.sections.iter().find(|section| section.name == ".debug_frame").expect("frames");
    Ok(frames.bytes.windows(4).filter(|bytes| *bytes == [0xff; 4]).count())
}

/// The return address register of a function is in its common entry: version 4, no augmentation, addresses of 8 bytes, no
/// segment, factors 1 and -8, the register.
#[test]
fn return_register_is_in_the_common_entry() {
    let cpu = Target::x86_64();
    let mut consumer = Consumer::dwarf5();
    (consumer.frames.eh_frame, consumer.frames.debug_frame) = (false, true);
    for (register, bytes) in [(Reg(3), "04 00 08 00 01 78 03"), (Reg(16), "04 00 08 00 01 78 10")] {
        let found = section(&cpu, &consumer, 0x30, |m, f| {
            m.frame(f)?.return_register(register)?;
            returns_early(m, f)
        });
        assert!(hex(&found).contains(bytes), "{register:?}: {}", hex(&found));
    }
    let mut m = Builder::new(cpu);
    let unit = m.unit("a.c");
    let f = m.function(unit, "f").expect("a function").code("f", 4).id();
    let error =
        m.frame(f).expect("a frame").return_register(Reg(500)).map(drop).expect_err("no such register");
    assert!(error.to_string().contains("register 500 is not among the registers of the target"), "{error}");
}
