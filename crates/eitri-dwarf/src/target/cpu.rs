//! CPU targets.
//!
//! Register numbers: System V ABI, AMD64 supplement, figure 3.36; DWARF for the Arm 64-bit Architecture, section 4.1;
//! RISC-V ELF psABI, DWARF register numbers; s390x ELF ABI, section 1.6.2. Call-clobbered registers: System V ABI, AMD64
//! supplement, figure 3.4; Procedure Call Standard for the Arm 64-bit Architecture, section 6.1; RISC-V ELF psABI,
//! integer and floating-point register conventions; s390x ELF ABI, section 1.2.2.

use super::{Clobbered, ElfIdentity, Registers, Relocations, Target, TargetBuilder};

type Make = fn() -> Target;

/// CPU targets by name.
pub(super) static ALL: &[(&str, Make)] =
    &[("x86_64", x86_64), ("aarch64", aarch64), ("riscv64", riscv64), ("s390x", s390x)];

/// Starts a target with one lane and `.eh_frame`, whose ELF header has no flags.
fn cpu(name: &str, machine: u16, relocations: Relocations) -> TargetBuilder {
    let mut target = Target::builder(name, 1);
    target.elf(ElfIdentity { machine, flags: 0, os_abi: 0, abi_version: 0, relocations }).eh_frame();
    target
}

/// Adds registers that a call overwrites. Each range has a first DWARF number and a count.
fn clobber(target: &mut TargetBuilder, ranges: &[(u64, u32)]) {
    for &(first, count) in ranges {
        target.clobbered(Clobbered::new(first, count));
    }
}

fn resolved(target: &TargetBuilder) -> Target {
    target.resolve().expect("the target has the named registers")
}

pub(super) fn x86_64() -> Target {
    resolved(&x86_64_with(128, 80))
}

/// Starts the target with vector and x87 registers of these sizes.
fn x86_64_with(vector_bits: u32, x87_bits: u32) -> TargetBuilder {
    let mut target = cpu("x86_64", 62, Relocations { abs32: 10, abs64: 1, relative32: 2 });
    #[rustfmt::skip]
    target.registers(Registers::named(0, [
        "rax", "rdx", "rcx", "rbx", "rsi", "rdi", "rbp", "rsp", "r8", "r9", "r10", "r11", "r12", "r13", "r14", "r15",
        "rip",
    ], 64));
    target.registers(Registers::numbered(17, "xmm", 0..16, vector_bits));
    target.registers(Registers::numbered(33, "st", 0..8, x87_bits));
    target.registers(Registers::numbered(41, "mm", 0..8, 64));
    target.registers(Registers::named(49, ["rflags"], 64));
    target.registers(Registers::named(50, ["es", "cs", "ss", "ds", "fs", "gs"], 16));
    target.registers(Registers::named(58, ["fs.base", "gs.base"], 64));
    target.registers(Registers::named(64, ["mxcsr"], 32)).registers(Registers::named(65, ["fcw", "fsw"], 16));
    target.registers(Registers::numbered(67, "xmm", 16..32, vector_bits));
    target.registers(Registers::numbered(118, "k", 0..8, 64));
    // rax, rdx, rcx; rsi, rdi; r8 to r11; xmm0 to xmm15, st and mm; rflags; mxcsr and fsw, because their status bits
    // are not preserved; xmm16 to xmm31; k.
    clobber(&mut target, &[(0, 3), (4, 2), (8, 4), (17, 32), (49, 1), (64, 1), (66, 1), (67, 16), (118, 8)]);
    // rip is also the return address column.
    target.cfa_register("rsp").return_register("rip", true);
    target
}

/// AArch64 without the Scalable Vector Extension registers, whose size depends on the processor.
pub(super) fn aarch64() -> Target {
    resolved(&aarch64_base())
}

fn aarch64_base() -> TargetBuilder {
    // R_AARCH64_ABS32, R_AARCH64_ABS64, R_AARCH64_PREL32.
    let mut target = cpu("aarch64", 183, Relocations { abs32: 258, abs64: 257, relative32: 261 });
    target.registers(Registers::numbered(0, "x", 0..31, 64)).registers(Registers::named(
        31,
        ["sp", "pc"],
        64,
    ));
    target.registers(Registers::numbered(64, "v", 0..32, 128)).min_instruction_bytes(4);
    // x0 to x18. The pc. v0 to v7, v16 to v31, and the upper halves of v8 to v15. x30 has the return address.
    clobber(&mut target, &[(0, 19), (32, 1), (64, 8), (80, 16)]);
    target.clobbered(Clobbered { preserved_bits: 64, ..Clobbered::new(72, 8) });
    // The link register.
    target.cfa_register("sp").return_register("x30", false);
    target
}

/// RV64 without vector registers, whose size depends on the processor, and without CSRs. Floating-point registers have
/// the size of extension D.
pub(super) fn riscv64() -> Target {
    resolved(&riscv64_base())
}

fn riscv64_base() -> TargetBuilder {
    // R_RISCV_32, R_RISCV_64, R_RISCV_32_PCREL.
    let mut target = cpu("riscv64", 243, Relocations { abs32: 1, abs64: 2, relative32: 57 });
    target.registers(Registers::numbered(0, "x", 0..32, 64)).registers(Registers::numbered(
        32,
        "f",
        0..32,
        64,
    ));
    // t0 to t2, a0 to a7, t3 to t6; ft0 to ft7, fa0 to fa7, ft8 to ft11. fs0 to fs11 are preserved by the ABI LP64D. ra
    // has the return address.
    clobber(&mut target, &[(5, 3), (10, 8), (28, 4), (32, 8), (42, 8), (60, 4)]);
    // The stack pointer and ra.
    target.min_instruction_bytes(2).cfa_register("x2").return_register("x1", false);
    target
}

pub(super) fn s390x() -> Target {
    resolved(&s390x_base())
}

fn s390x_base() -> TargetBuilder {
    // R_390_32, R_390_64 and R_390_PC32.
    let mut target = cpu("s390x", 22, Relocations { abs32: 4, abs64: 22, relative32: 5 });
    target.registers(Registers::numbered(0, "r", 0..16, 64));
    #[rustfmt::skip]
    target.registers(Registers::named(16, [
        "f0", "f2", "f4", "f6", "f1", "f3", "f5", "f7", "f8", "f10", "f12", "f14", "f9", "f11", "f13", "f15",
    ], 64));
    target.registers(Registers::named(64, ["pswm", "pswa"], 64)).big_endian();
    // r0 to r5; f0 to f7; the condition code in pswm, and the pc in pswa. r14 has the return address.
    clobber(&mut target, &[(0, 6), (16, 8), (64, 2)]);
    target.min_instruction_bytes(2).return_register("r14", false);
    target
}

/// Returns a CPU target with the registers of all extensions, each in its largest size, because a compiler can use them.
/// Other targets are returned unchanged.
pub fn with_extensions(target: Target) -> Target {
    let extended = match target.name() {
        "x86_64" => {
            // The numbers of xmm registers also stand for ymm and zmm. x87 registers of 80 bits take 16 bytes in memory.
            let mut target = x86_64_with(512, 128);
            target.registers(Registers::named(62, ["tr", "ldtr"], 16));
            target.registers(Registers::numbered(126, "bnd", 0..4, 128));
            target.registers(Registers::numbered(130, "r", 16..32, 64));
            clobber(&mut target, &[(126, 4), (130, 16)]);
            target
        }
        "aarch64" => {
            let mut target = aarch64_base();
            #[rustfmt::skip]
            target.registers(Registers::named(33, [
                "elr_mode", "ra_sign_state", "tpidrro_el0", "tpidr_el0", "tpidr_el1", "tpidr_el2", "tpidr_el3",
            ], 64));
            target.registers(Registers::named(46, ["vg", "ffr"], 256));
            target.registers(Registers::numbered(48, "p", 0..16, 256));
            target.registers(Registers::numbered(96, "z", 0..32, 2048));
            // ffr; p0 to p15; z0 to z7, z16 to z31, and all but the low 64 bits of z8 to z15.
            clobber(&mut target, &[(47, 17), (96, 8), (112, 16)]);
            target.clobbered(Clobbered { preserved_bits: 64, ..Clobbered::new(104, 8) });
            target
        }
        "riscv64" => {
            let mut target = riscv64_base();
            target.registers(Registers::numbered(96, "v", 0..32, 1 << 16));
            clobber(&mut target, &[(96, 32)]);
            target.registers(Registers::numbered(4096, "csr", 0..4096, 64));
            target
        }
        "s390x" => {
            let mut target = s390x_base();
            target.registers(Registers::numbered(32, "cr", 0..16, 64));
            target.registers(Registers::numbered(48, "a", 0..16, 32));
            #[rustfmt::skip]
            target.registers(Registers::named(68, [
                "v16", "v18", "v20", "v22", "v17", "v19", "v21", "v23", "v24", "v26", "v28", "v30", "v25", "v27", "v29", "v31",
            ], 128));
            // a2 to a15. v16 to v31: none is preserved.
            clobber(&mut target, &[(50, 14), (68, 16)]);
            target
        }
        _ => return target,
    };
    resolved(&extended)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::op::Reg;

    /// The numbers come from the ABIs. llvm-dwarfdump-19 prints these registers for `.cfi_undefined` with the numbers.
    /// binutils' readelf prints `tr`, and the CSRs by name: `ustatus` for 4096, `fflags` (CSR 1) for 4097.
    #[test]
    fn extensions_have_the_numbers_of_the_abis() {
        let extended_targets: [(Target, &[(u64, &str)]); 4] = [
            (x86_64(), &[(7, "rsp"), (17, "xmm0"), (33, "st0"), (62, "tr"), (82, "xmm31"), (125, "k7")]),
            (aarch64(), &[(31, "sp"), (46, "vg"), (48, "p0"), (64, "v0"), (96, "z0"), (127, "z31")]),
            (riscv64(), &[(1, "x1"), (96, "v0"), (127, "v31"), (4096, "csr0")]),
            (
                s390x(),
                &[(15, "r15"), (32, "cr0"), (48, "a0"), (68, "v16"), (69, "v18"), (72, "v17"), (83, "v31")],
            ),
        ];
        for (target, registers) in extended_targets {
            let extended = with_extensions(target.clone());
            for (number, name) in registers {
                let register = extended.register(Reg(*number)).expect("a register of the CPU");
                assert_eq!(register.name().to_string(), *name);
            }
            for own in target.register_ranges() {
                assert!(extended.register(own.first()).is_some(), "{}", target.name());
            }
        }
    }
}
