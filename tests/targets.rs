//! The promise: registers, address spaces and ELF headers equal those of the targets' manuals.

use eitri::error::ErrorKind;
use eitri::json::{read_target, write_target};
use eitri::op::Reg;
use eitri::target::{
    Clobbered, ElfIdentity, Gfx, Per, Registers, Relocations, Scaling, Sm, Space, SpaceId, Target,
    TargetBuilder, Wave,
};
use pretty_assertions::assert_eq;

/// Rows of a chapter of the golden file, as trimmed cells.
fn chapter(name: &str) -> Vec<Vec<&'static str>> {
    let lines = include_str!("../goldens/target/amdgpu.txt").lines().filter(|line| !line.starts_with('#'));
    let rows: Vec<Vec<_>> = lines
        .skip_while(|line| *line != name)
        .skip(1)
        .take_while(|line| line.contains('|'))
        .map(|line| line.split('|').map(str::trim).collect())
        .collect();
    assert!(!rows.is_empty(), "chapter {name}");
    rows
}

fn hex(text: &str) -> u64 {
    text.strip_prefix("0x").map_or_else(|| text.parse().unwrap(), |hex| u64::from_str_radix(hex, 16).unwrap())
}

#[test]
fn registers_are_the_manuals() {
    for row in chapter("registers") {
        let target = Target::named(row[0]).unwrap();
        let number = Reg(row[1].parse().unwrap());
        let Some(register) = target.register(number) else {
            assert_eq!("-", row[2], "{row:?}");
            continue;
        };
        let found = [register.name().to_string(), register.bits.to_string(), register.lanes.to_string()];
        assert_eq!(found, row[2..], "{row:?}");
        assert_eq!(target.register_named(row[2]).unwrap(), number, "{row:?}");
        assert_eq!(register.is_vector(), register.lanes > 1);
        assert_eq!(register.lane_bits() * register.lanes, register.bits);
    }
}

#[test]
fn names_and_numbers_determine_each_other_on_every_target() {
    for target in Target::all() {
        assert_eq!(Target::named(target.name()).as_ref(), Ok(&target));
        let mut numbers = std::collections::HashSet::new();
        for register in target.registers() {
            assert!(numbers.insert(register.reg), "{} {:?} twice", target.name(), register.reg);
            assert_eq!(target.register(register.reg), Some(register));
            assert_eq!(target.register_named(&register.name().to_string()).unwrap(), register.reg);
        }
        for number in (0..5000).chain([u64::MAX, u64::MAX - 1000]).map(Reg) {
            // A register can have a second number.
            let found = target.register(number).filter(|register| register.reg == number);
            assert_eq!(found.is_some(), numbers.contains(&number), "{number:?}");
        }
    }
}

#[test]
fn registers_that_a_target_does_not_have_are_refused() {
    for row in chapter("no register") {
        let target = Target::named(row[0]).unwrap();
        for name in row[1].split_whitespace() {
            let error = target.register_named(name).expect_err(name);
            let ErrorKind::UnknownRegister { name: requested, target, .. } = error.kind() else {
                panic!("{error}")
            };
            assert_eq!((&**requested, &**target), (name, row[0]));
        }
    }
    let gfx1030 = Target::amdgpu(Gfx::GFX1030, Wave::W32).unwrap();
    assert_eq!(gfx1030.sgpr(105).unwrap(), Reg(1129));
    assert_eq!(gfx1030.vgpr(255).unwrap(), Reg(1791));
    for refused in [gfx1030.sgpr(106), gfx1030.vgpr(256), gfx1030.agpr(0), gfx1030.register_named("")] {
        assert!(matches!(refused.unwrap_err().kind(), ErrorKind::UnknownRegister { .. }));
    }
    assert_eq!(
        gfx1030.agpr(0).unwrap_err().to_string(),
        "the target has no register `a0` (amdgpu-gfx1030-wave32)"
    );
}

#[test]
fn spaces_are_the_manuals() {
    let golden = chapter("spaces");
    for gfx in Gfx::all() {
        let wave = if gfx.runs(Wave::W32) { Wave::W32 } else { Wave::W64 };
        let target = Target::amdgpu(gfx, wave).unwrap();
        assert_eq!(target.spaces().len(), golden.len());
        for (space, row) in target.spaces().iter().zip(&golden) {
            let found = (u64::from(space.id.0), &*space.name, u64::from(space.address_bits), space.null);
            assert_eq!(found, (hex(row[0]), row[1], hex(row[2]), hex(row[3])));
            assert_eq!(target.space(space.id), Some(space));
            assert_eq!(target.space_named(row[1]), Ok(space));
        }
        assert_eq!((target.address_bytes(), target.min_instruction_bytes()), (8, 4));
        let per = |id| target.space(id).unwrap().per;
        assert_eq!(per(SpaceId::DEFAULT), Per::Process);
        assert_eq!(per(SpaceId::LOCAL), Per::Process);
        assert_eq!(per(SpaceId::PRIVATE_LANE), Per::Lane);
        assert_eq!(per(SpaceId::PRIVATE_WAVE), Per::Thread);
        for number in [4, 7, u32::MAX] {
            assert_eq!(target.space(SpaceId(number)), None);
        }
        let error = target.space_named("shared").unwrap_err();
        assert!(matches!(error.kind(), ErrorKind::UnknownSpace { .. }), "{error}");
    }
}

#[test]
fn processors_are_the_manuals() {
    let golden = chapter("processors");
    let names: Vec<_> = Gfx::all().map(Gfx::name).collect();
    assert_eq!(names, golden.iter().map(|row| row[0]).collect::<Vec<_>>());
    for row in golden {
        let gfx = Gfx::named(row[0]).unwrap();
        let waves: Vec<&str> = row[4].split(' ').collect();
        for wave in [Wave::W32, Wave::W64] {
            let lanes = wave.lanes().to_string();
            let name = format!("amdgpu-{}-wave{lanes}", row[0]);
            assert_eq!(gfx.runs(wave), waves.contains(&&*lanes), "{name}");
            let target = match Target::amdgpu(gfx, wave) {
                Ok(target) => target,
                Err(error) => {
                    assert!(!gfx.runs(wave), "{name}");
                    assert_eq!(Target::named(&name), Err(error));
                    continue;
                }
            };
            assert_eq!((target.name(), target.gfx(), target.lanes()), (&*name, Some(gfx), wave.lanes()));
            let elf = target.elf();
            assert_eq!((elf.machine, elf.os_abi), (224, 64));
            assert_eq!((elf.relocations.abs32, elf.relocations.abs64), (6, 3));
            assert_eq!(u64::from(elf.flags & 0xff), hex(row[1]), "{name}");
            assert_eq!(u64::from(elf.flags), hex(row[2]), "{name}");
            assert_eq!(u64::from(elf.abi_version), hex(row[3]), "{name}");
            let last: u16 = row[5][1..].parse().unwrap();
            assert!(target.sgpr(last).is_ok() && target.sgpr(last + 1).is_err(), "{name}");
            assert_eq!(if target.agpr(0).is_ok() { "yes" } else { "no" }, row[6], "{name}");
            let scaling = if row[7] == "lane" { Scaling::Lane } else { Scaling::Wave };
            assert_eq!(target.scaling(), scaling, "{name}");
        }
    }
}

#[test]
fn targets_that_are_none_are_refused() {
    for name in [
        "",
        "x86-64",
        "amdgpu",
        "amdgpu-",
        "amdgpu-gfx1030",
        "gfx1030-wave32",
        "amdgpu-gfx1030-wave16",
        "amdgpu-gfx1030-wave",
        "amdgpu-gfx1030-wave032",
        "amdgpu-GFX1030-wave32",
        "amdgpu-gfx803-wave64",
        "amdgpu-gfx90a-wave32",
        "amdgpu-gfx1250-wave64",
        "amdgpu-gfx12-5-generic-wave64",
    ] {
        let error = Target::named(name).expect_err(name);
        assert!(matches!(error.kind(), ErrorKind::UnknownTarget { .. }), "{error}");
    }
    assert_eq!(
        Target::amdgpu(Gfx::GFX90A, Wave::W32).unwrap_err().to_string(),
        "unknown target: `amdgpu-gfx90a-wave32`; did you mean `amdgpu-gfx90a-wave64`?"
    );
    assert_eq!(Gfx::named("gfx90A"), None);
}

/// System V ABI, AMD64 supplement, figure 3.36.
#[test]
fn x86_64_has_the_numbers_of_its_abi() {
    let target = Target::x86_64();
    for (number, name, bits) in [
        (0, "rax", 64),
        (1, "rdx", 64),
        (3, "rbx", 64),
        (6, "rbp", 64),
        (7, "rsp", 64),
        (8, "r8", 64),
        (15, "r15", 64),
        (16, "rip", 64),
        (17, "xmm0", 128),
        (32, "xmm15", 128),
        (33, "st0", 80),
        (40, "st7", 80),
        (41, "mm0", 64),
        (49, "rflags", 64),
        (50, "es", 16),
        (58, "fs.base", 64),
        (64, "mxcsr", 32),
        (66, "fsw", 16),
        (67, "xmm16", 128),
        (82, "xmm31", 128),
        (118, "k0", 64),
    ] {
        let register = target.register(Reg(number)).unwrap();
        assert_eq!((register.name().to_string(), register.bits, register.lanes), (name.into(), bits, 1));
        assert_eq!(target.register_named(name).unwrap(), Reg(number));
    }
    assert!(target.register(Reg(83)).is_none() && target.register_named("xmm32").is_err());
    assert_eq!((target.lanes(), target.address_bytes(), target.min_instruction_bytes()), (1, 8, 1));
    let elf = target.elf();
    assert_eq!((elf.machine, elf.flags, elf.os_abi, elf.abi_version), (62, 0, 0, 0));
    assert_eq!((elf.relocations.abs32, elf.relocations.abs64), (10, 1));
}

/// A target that no reader knows: 16 lanes, packed names, spaces with numbers of its own.
fn toy() -> TargetBuilder {
    let mut target = Target::builder("toy", 16);
    target.registers(Registers::named(0, ["pc", "mask", "sp"], 64)).pc("pc").exec("mask").cfa_register("sp");
    target.registers(Registers::numbered(16, "r", 0..128, 32).with_lanes(16));
    target.registers(Registers::packed_names('%', 32).with_lanes(16));
    target.space(Space::new(SpaceId::LOCAL, "shared", 32));
    target.space(Space { per: Per::Lane, null: 0xffff, ..Space::new(SpaceId(9), "stack", 16) });
    target.return_register("pc", true).data_alignment(4).scaling(Scaling::Wave).min_instruction_bytes(8);
    let relocations = Relocations { abs32: 7, abs64: 8, relative32: 9 };
    target.elf(ElfIdentity { machine: 0x1234, flags: 5, os_abi: 6, abi_version: 1, relocations });
    target
}

#[test]
fn targets_of_the_caller_have_the_given_facts() {
    let target = toy().build().unwrap();
    assert_eq!((target.name(), target.lanes(), target.address_bytes()), ("toy", 16, 8));
    assert_eq!(
        (target.pc(), target.exec(), target.cfa_register()),
        (Some(Reg(0)), Some(Reg(1)), Some(Reg(2)))
    );
    let r5 = target.register(Reg(21)).unwrap();
    assert_eq!((r5.name().to_string(), r5.bits, r5.lanes, r5.lane_bits()), ("r5".into(), 512, 16, 32));
    assert_eq!(target.register_named("r127").unwrap(), Reg(143));
    for unknown in ["r128", "r01", "R5", "", "%", "%123456789", "%é", "% 1", "rd"] {
        assert!(target.register_named(unknown).is_err(), "{unknown}");
    }
    // ASCII, the first character most significant.
    assert_eq!(target.register_named("%r4").unwrap(), Reg(0x25_7234));
    assert_eq!(target.register_named("%longest").unwrap(), Reg(0x256c_6f6e_6765_7374));
    for number in [0x2572_0000, 0x26_7234, 0x25_0034, 0x24_7234, 15, 144, u64::MAX] {
        assert_eq!(target.register(Reg(number)), None, "{number:#x}");
    }
    let names: Vec<_> = target.spaces().iter().map(|space| (space.id.0, &*space.name)).collect();
    assert_eq!(names, [(0, "default"), (3, "shared"), (9, "stack")]);
    // Equal facts are equal targets, and another name is another target.
    assert_eq!(target, toy().build().unwrap());
    assert_ne!(target, toy().big_endian().build().unwrap());
    let clobbered = Clobbered { preserved_bits: 32, ..Clobbered::new(16, 4) };
    let clobbers = toy().clobbered(clobbered).build().unwrap();
    assert_ne!(target, clobbers);
    assert_eq!([0, 16, 19, 20].map(|n| clobbers.preserved_bits(Reg(n))), [64, 32, 32, 512].map(Some));
    assert!(toy().clobbered(Clobbered::new(143, 2)).build().is_err());
    assert!(toy().clobbered(clobbered).big_endian().build().is_err());
}

/// The tables of the ABIs, typed by register name: registers that a function leaves as they were.
#[test]
fn preserved_registers_are_those_of_the_calling_convention() {
    let preserved = |target: &Target, names: &str| {
        let numbered = |name: &str| -> Vec<String> {
            let Some((first, last)) = name.split_once('-') else { return vec![name.into()] };
            let prefix = first.trim_end_matches(|c: char| c.is_ascii_digit());
            let from: u32 = first[prefix.len()..].parse().unwrap();
            (from..=last.parse().unwrap()).map(|n| format!("{prefix}{n}")).collect()
        };
        let listed: Vec<String> = names.split_whitespace().flat_map(numbered).collect();
        for register in target.registers() {
            let name = register.name().to_string();
            let expected = if listed.contains(&name) { register.bits } else { 0 };
            let found = target.preserved_bits(register.reg);
            let is_half = target.name() == "aarch64" && (72..80).contains(&register.reg.0);
            assert_eq!(found, Some(if is_half { 64 } else { expected }), "{}: {name}", target.name());
        }
    };
    // AMD64 supplement, figure 3.4; segment registers and the control word are not for a compiler to change.
    let system = "rip es cs ss ds fs gs fs.base gs.base fcw";
    preserved(&Target::x86_64(), &format!("rbx rsp rbp r12-15 {system}"));
    // AAPCS64, section 6.1.1 and 6.1.2: and the low halves of v8 to v15. The link register has the return address.
    preserved(&Target::aarch64(), "x19-30 sp");
    // RISC-V calling convention: ra, sp, gp, tp, s0 to s11, fs0 to fs11.
    preserved(&Target::riscv64(), "x0-4 x8-9 x18-27 f8-9 f18-27");
    // gdb's `s390_register_call_saved`, and r14 with the return address.
    preserved(&Target::s390x(), "r6-15 f8-15");
    let gpu = Target::amdgpu(Gfx::GFX90A, Wave::W64).unwrap();
    let vectors = (40..256).step_by(16).map(|n| format!("v{n}-{} ", n + 7)).collect::<String>();
    let scalars = "s30-39 s48-55 s64-71 s80-87 s96-101";
    preserved(&gpu, &format!("{vectors} a32-255 {scalars} pc exec exec_32"));
}

proptest::proptest! {
    #[test]
    fn packed_names_and_numbers_determine_each_other(name in "%[!-~]{1,7}", number: u64, is_toy: bool) {
        let target = if is_toy { toy().build().unwrap() } else { Target::named("nvptx-sm_90").unwrap() };
        let reg = target.register_named(&name).unwrap();
        let expected = name.bytes().fold(0_u64, |number, byte| number * 256 + u64::from(byte));
        proptest::prop_assert_eq!(reg, Reg(expected));
        proptest::prop_assert_eq!(target.register(reg).unwrap().name().to_string(), name);
        // Any number is a name at most, and that name has the number.
        for number in [number, number >> 8, number >> 24 | 0x25 << 40, number >> 40 & 0xff_ffff | 0x25 << 24] {
            // R registers have a second number, of class 5.
            if let Some(register) = target.register(Reg(number)).filter(|one| one.reg == Reg(number)) {
                proptest::prop_assert_eq!(target.register_named(&register.name().to_string()).unwrap(), Reg(number));
            }
        }
    }
}

#[test]
fn targets_that_contradict_themselves_are_refused() {
    type Change = fn(&mut TargetBuilder);
    let cases: &[(Change, &str)] = &[
        (|to| _ = to.min_instruction_bytes(0), "minimum instruction size is 0 bytes; expected at least 1"),
        (|to| _ = to.data_alignment(0), "data alignment is 0"),
        (
            |to| _ = to.registers(Registers::named(300, ["x"], 0)),
            "register 300 has 0 bits; expected 1 to 1048576",
        ),
        (
            |to| _ = to.registers(Registers::named(300, ["x"], 1 << 21)),
            "register 300 has 2097152 bits; expected 1 to 1048576",
        ),
        (
            |to| _ = to.registers(Registers::numbered(300, "x", 0..2, 32).with_lanes(32)),
            "register 300 has 32 lanes; expected 1 or 16",
        ),
        (
            |to| _ = to.registers(Registers::numbered(300, "x", 0..0, 32)),
            "0 registers from 300 on; expected consecutive numbers below 2^64",
        ),
        (
            |to| _ = to.registers(Registers::numbered(u64::MAX, "x", 0..2, 32)),
            "2 registers from 18446744073709551615 on; expected consecutive numbers below 2^64",
        ),
        (
            |to| _ = to.registers(Registers::numbered(300, "x", 0..u64::MAX, 32)),
            "18446744073709551615 registers from 300 on; expected consecutive numbers below 2^64",
        ),
        (
            |to| _ = to.registers(Registers::numbered(300, "x", 0..1 << 30, 32)),
            "more than 65536 registers have listed names",
        ),
        (|to| _ = to.registers(Registers::named(2, ["x"], 32)), "register number 2 is used twice (`x`)"),
        (
            |to| _ = to.registers(Registers::named(300, ["r7"], 32)),
            "register name `r7` is empty or used twice",
        ),
        (|to| _ = to.registers(Registers::named(300, [""], 32)), "register name `` is empty or used twice"),
        (
            |to| _ = to.registers(Registers::named(0x25_7234, ["x"], 32)),
            "register number 2454068 is used twice (`x`)",
        ),
        (
            |to| _ = to.registers(Registers::named(300, ["%a"], 32)),
            "register name `%a` is empty or used twice",
        ),
        (
            |to| _ = to.registers(Registers::packed_names('%', 64)),
            "prefix 0x25 of packed names is not printable or used twice; expected a distinct printable character",
        ),
        (
            |to| _ = to.registers(Registers::packed_names('é', 64)),
            "prefix 0xe9 of packed names is not printable or used twice; expected a distinct printable character",
        ),
        (
            |to| _ = to.space(Space::new(SpaceId(3), "x", 32)),
            "address space number `local` is used twice (`x`)",
        ),
        (
            |to| _ = to.space(Space::new(SpaceId(4), "shared", 32)),
            "address space name `shared` is empty or used twice",
        ),
        (
            |to| _ = to.space(Space::new(SpaceId(4), "x", 65)),
            "address space `x` has addresses of 65 bits; expected 1 to 64",
        ),
        (
            |to| _ = to.space(Space::new(SpaceId(0), "x", 32)),
            "default space `x` has addresses of 32 bits; expected 64 bits and one copy for all threads",
        ),
        (
            |to| _ = to.exec("r0"),
            "register `r0` cannot hold the active-lane mask; expected a scalar register of at least 16 bits",
        ),
        (
            |to| _ = to.pc("r0"),
            "register `r0` cannot hold the pc; expected a scalar register of at least 1 bit",
        ),
    ];
    for (change, expected) in cases {
        let mut target = toy();
        change(&mut target);
        let error = target.build().unwrap_err();
        assert_eq!(error.to_string(), format!("target `toy`: {expected}"));
        assert!(matches!(error.kind(), ErrorKind::InvalidTarget { .. }), "{error}");
    }
    for lanes in [0, 65] {
        let error = Target::builder("x", lanes).build().unwrap_err().to_string();
        assert_eq!(error, format!("target `x`: a wave has {lanes} lanes; expected 1 to 64"));
    }
    assert_eq!(Target::builder("", 1).build().unwrap_err().to_string(), "target ``: target has no name");
    let error = toy().return_register("lr", false).build().unwrap_err();
    assert!(matches!(error.kind(), ErrorKind::UnknownRegister { .. }), "{error}");
}
#[test]
fn targets_are_read_as_they_were_written() {
    let targets = Target::all().chain([toy().build().unwrap()]);
    for target in targets {
        assert_eq!(read_target(write_target(&target)).unwrap(), target);
        // The same facts under another name are written out.
        let mut own = Target::builder("own", target.lanes());
        for registers in target.register_ranges() {
            own.registers(registers.clone());
        }
        for space in target.spaces() {
            own.space(space.clone());
        }
        let name = |reg: Reg| target.register(reg).unwrap().name().to_string();
        own.return_register(name(target.call_frames().return_register), true);
        let own = own.build().unwrap();
        assert!(write_target(&own).starts_with('{'));
        assert_eq!(read_target(write_target(&own)).unwrap(), own);
        assert_eq!(own.registers().collect::<Vec<_>>(), target.registers().collect::<Vec<_>>());
    }
    for (wrong, expected) in [
        (r#""toy""#, "unknown target: `toy`"),
        (r#"{"name": "x"}"#, "missing field `registers`"),
        (r#"{"name": "x", "registers": [{"bits": 3}]}"#, "registers have an invalid combination of keys"),
        (
            r#"{"name": "x", "registers": [{"bits": 3, "packed": "%%"}]}"#,
            "`packed` is `%%`; expected one character",
        ),
        (r#"{"name": "x", "registers": [], "lane": 3}"#, "unknown field `lane`"),
        (r#"{"name": "x", "registers": [], "elf": {"machine": 65536}}"#, "65536"),
        ("3", "the name of a target, or an object"),
        ("", "the bytes end inside the target"),
    ] {
        let error = read_target(wrong).unwrap_err().to_string();
        assert!(error.contains(expected), "{wrong}: {error}");
    }
}

/// Errors in the target of a whole description name its position in the description.
#[test]
fn errors_in_a_described_target_have_their_position() {
    let described = |target: &str| format!("{{\n\"eitri\": 1,\n\"describe\": [],\n\"target\":\n{target}}}");
    for (text, position) in [
        (
            described("{\"name\": \"x\",\n\"registers\": [], \"lane\": 3}"),
            "line 6, column 18, `target.lane`: unknown field",
        ),
        (described("{\"name\": \"x\",\n"), "line 6, column"),
        (
            described("\"x86_64\",\n\"target\": \"x86_64\""),
            "line 6, column 1, `target`: duplicate field `target`",
        ),
    ] {
        let error = read_target(&text).unwrap_err().to_string();
        assert!(error.starts_with(position), "{error}");
    }
}

/// Numbers that ptxas writes into expressions and call frame information, and nvcc's and clang's names.
#[test]
fn nvidia_has_the_numbers_of_its_tools() {
    let target = Target::named("nvptx-sm_90a").unwrap();
    assert_eq!(target, Target::nvptx(Sm::named("sm_90a").unwrap()));
    for (number, reg, name, bits, lanes) in [
        (0x25_7234, 0x25_7234, "%r4", 64, 32),
        (0x25_7264_3132, 0x25_7264_3132, "%rd12", 64, 32),
        (4, 4, "R4", 32, 32),
        (0x0500_0004, 4, "R4", 32, 32),
        (0x0500_0014, 20, "R20", 32, 32),
        (0x0500_00ff, 255, "RZ", 32, 32),
        (0x0200_0006, 0x0200_0006, "P6", 1, 32),
        (0x0200_0007, 0x0200_0007, "PT", 1, 32),
        (0x0b00_0024, 0x0b00_0024, "UR36", 32, 1),
        (0x0b00_003f, 0x0b00_003f, "URZ", 32, 1),
        (0x0900_0000, 0x0900_0000, "UP0", 1, 1),
    ] {
        let register = target.register(Reg(number)).unwrap();
        assert_eq!((register.reg, &*register.name().to_string()), (Reg(reg), name));
        assert_eq!((register.lane_bits(), register.lanes), (bits, lanes), "{name}");
        assert_eq!(target.register_named(name).unwrap(), Reg(reg));
    }
    for number in [256, 0x0200_0008, 0x0b00_0040, 0x0500_0100, 0x0700_0000, 0x2500, 0x25_7220] {
        assert_eq!(target.register(Reg(number)), None, "{number:#x}");
    }
    // nvdisasm prints these names for operands with these numbers (`uniform_registers_are_those_of_the_disassembly`).
    for processor in ["sm_100", "sm_103", "sm_107", "sm_110", "sm_120", "sm_121"] {
        let target = Target::named(&format!("nvptx-{processor}")).unwrap();
        for (number, name) in [(0x3e, "UR62"), (0x3f, "UR63"), (0x4d, "UR77"), (0xfe, "UR254"), (0xff, "URZ")]
        {
            let reg = Reg(0x0b00_0000 | number);
            let register = target.register(reg).unwrap();
            assert_eq!((&*register.name().to_string(), register.lane_bits(), register.lanes), (name, 32, 1));
            assert_eq!(target.register_named(name).unwrap(), reg);
        }
        assert_eq!(target.register(Reg(0x0b00_0100)), None);
    }
    for (class, name) in
        [(4, "const"), (5, "global"), (6, "local"), (7, "param"), (8, "shared"), (12, "default")]
    {
        assert_eq!(target.space_of_class(class).unwrap().name, name);
    }
    assert_eq!(target.space_of_class(0), None);
    assert_eq!(target.space(SpaceId::PRIVATE_LANE).unwrap().per, Per::Lane);
    let elf = target.elf();
    assert_eq!((elf.machine, elf.os_abi, elf.abi_version, elf.flags & 0xff_ffff), (190, 0x41, 8, 0x5a04));
    assert_eq!(Target::named("nvptx-sm_120").unwrap().elf().flags & 0xff_ffff, 0x7802);
    let names: Vec<String> = Sm::all().map(Sm::name).collect();
    let expected = "75 80 86 87 88 89 90 90a 100 100a 100f 103 103a 103f 107 107a 107f 110 110a 110f 120 120a 120f \
                    121 121a 121f";
    assert_eq!(names, expected.split(' ').map(|name| format!("sm_{name}")).collect::<Vec<_>>());
    for name in &names {
        assert_eq!(Target::named(&format!("nvptx-{name}")).unwrap().name(), format!("nvptx-{name}"));
    }
}
