//! x86-64, for everything that is no matter of GPUs. Numbers: System V ABI, AMD64 supplement, figure 3.36.

use super::{ElfIdentity, Names, Per, Range, Relocations, Scaling, Space, SpaceId, Target};

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
            relocations: Relocations { abs32: 10, abs64: 1 },
        },
        lanes: 1,
        scaling: Scaling::Lane,
        min_instruction_bytes: 1,
        gfx: None,
    }
}
