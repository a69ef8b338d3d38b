//! Name of an object's format, as LLVM's tools print it.

use eitri_dwarf::read::Object;

/// ELF machines with their names in LLVM: `ELFObjectFile::getFileFormatName`. Where the second is empty, LLVM knows the
/// machine with one size of addresses only.
const NAMES: &[(u16, &str, &str)] = &[
    (2, "elf32-sparc", ""),
    (3, "elf32-i386", "elf64-i386"),
    (4, "elf32-m68k", ""),
    (6, "elf32-iamcu", ""),
    (8, "elf32-mips", "elf64-mips"),
    (18, "elf32-sparc", ""),
    (22, "", "elf64-s390"),
    (43, "", "elf64-sparc"),
    (62, "elf32-x86-64", "elf64-x86-64"),
    (83, "elf32-avr", ""),
    (94, "elf32-xtensa", ""),
    (105, "elf32-msp430", ""),
    (164, "elf32-hexagon", ""),
    (224, "elf32-amdgpu", "elf64-amdgpu"),
    (243, "elf32-littleriscv", "elf64-littleriscv"),
    (244, "elf32-lanai", ""),
    (247, "", "elf64-bpf"),
    (251, "", "elf64-ve"),
    (252, "elf32-csky", ""),
    (258, "elf32-loongarch", "elf64-loongarch"),
];

/// Returns the name of an object's format, such as `elf64-amdgpu`.
pub(super) fn name(object: &Object<'_>) -> &'static str {
    let is_64 = object.address_bytes() == 8;
    match (object.machine(), is_64, object.is_big_endian()) {
        (40, false, false) => return "elf32-littlearm",
        (40, false, true) => return "elf32-bigarm",
        (183, true, false) => return "elf64-littleaarch64",
        (183, true, true) => return "elf64-bigaarch64",
        (20, false, false) => return "elf32-powerpcle",
        (20, false, true) => return "elf32-powerpc",
        (21, true, false) => return "elf64-powerpcle",
        (21, true, true) => return "elf64-powerpc",
        _ => {}
    }
    let known = NAMES.iter().find(|known| known.0 == object.machine());
    match known.map_or("", |known| if is_64 { known.2 } else { known.1 }) {
        "" if is_64 => "elf64-unknown",
        "" => "elf32-unknown",
        name => name,
    }
}
