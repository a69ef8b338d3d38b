//! The CPU targets x86-64 and s390x. Register numbers: System V ABI, AMD64 supplement, figure 3.36; ELF ABI of s390x,
//! section 1.6.2 (DWARF register numbers).

use super::{CallFrames, ElfIdentity, Names, Per, Range, Reg, Relocations, Scaling, Space, SpaceId, Target};

static GENERAL: Range = Range {
    dwarf: 0,
    count: 17,
    names: Names::List(&[
        "rax", "rdx", "rcx", "rbx", "rsi", "rdi", "rbp", "rsp", "r8", "r9", "r10", "r11", "r12", "r13",
        "r14", "r15", "rip",
    ]),
    bits: 64,
    lanes: 1,
};
static XMM: Range =
    Range { dwarf: 17, count: 16, names: Names::Numbered { prefix: "xmm", first: 0 }, bits: 128, lanes: 1 };
static RFLAGS: Range = Range { dwarf: 49, count: 1, names: Names::List(&["rflags"]), bits: 64, lanes: 1 };

static SPACES: &[Space] =
    &[Space { id: SpaceId::DEFAULT, name: "default", address_bits: 64, null: 0, per: Per::Process }];

pub(super) fn x86_64() -> Target {
    Target {
        name: "x86_64".into(),
        ranges: vec![&GENERAL, &XMM, &RFLAGS],
        spaces: SPACES,
        elf: ElfIdentity {
            machine: 62,
            flags: 0,
            os_abi: 0,
            abi_version: 0,
            relocations: Relocations { abs32: 10, abs64: 1, relative32: 2 },
        },
        lanes: 1,
        scaling: Scaling::Lane,
        min_instruction_bytes: 1,
        big_endian: false,
        // rsp.
        cfa_register: Some(Reg(7)),
        // rip is also the return address column.
        call_frames: CallFrames {
            return_register: Reg(16),
            is_return_register_pc: true,
            data_alignment: -8,
            has_eh_frame: true,
        },
        gfx: None,
    }
}

static S390_GENERAL: Range =
    Range { dwarf: 0, count: 16, names: Names::Numbered { prefix: "r", first: 0 }, bits: 64, lanes: 1 };
static S390_FLOAT: Range = Range {
    dwarf: 16,
    count: 16,
    names: Names::List(&[
        "f0", "f2", "f4", "f6", "f1", "f3", "f5", "f7", "f8", "f10", "f12", "f14", "f9", "f11", "f13", "f15",
    ]),
    bits: 64,
    lanes: 1,
};
static S390_PSW: Range =
    Range { dwarf: 64, count: 2, names: Names::List(&["pswm", "pswa"]), bits: 64, lanes: 1 };

pub(super) fn s390x() -> Target {
    Target {
        name: "s390x".into(),
        ranges: vec![&S390_GENERAL, &S390_FLOAT, &S390_PSW],
        spaces: SPACES,
        elf: ElfIdentity {
            machine: 22,
            flags: 0,
            os_abi: 0,
            abi_version: 0,
            // R_390_32, R_390_64 and R_390_PC32.
            relocations: Relocations { abs32: 4, abs64: 22, relative32: 5 },
        },
        lanes: 1,
        scaling: Scaling::Lane,
        min_instruction_bytes: 2,
        big_endian: true,
        cfa_register: None,
        // r14.
        call_frames: CallFrames {
            return_register: Reg(14),
            is_return_register_pc: false,
            data_alignment: -8,
            has_eh_frame: true,
        },
        gfx: None,
    }
}
