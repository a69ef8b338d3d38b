//! Relocation types of debug sections, compared with those that the crate `object` knows, and objects of compilers for
//! many machines.

use eitri::read::Object;
use object::read::elf::ElfFile;
use object::{ObjectSection, RelocationEncoding, RelocationKind, elf};

/// A section: name, type, flags, contents, link, info, size of an element.
type SectionRow<'a> = (&'a [u8], u64, u64, &'a [u8], u64, u64, usize);

/// Offset of the relocation in its section of 32 bytes.
const AT: u64 = 8;
/// Value of the symbol, and the addend.
const VALUE: u64 = 0x24;
const ADDEND: u64 = 0x10;

/// A relocatable object with a section of code, a debug section of zero bytes, and one relocation in it to a symbol in the
/// code.
fn object_with(machine: u16, is_64: bool, is_big: bool, kind: u32) -> Vec<u8> {
    let mut out = Vec::new();
    let number = |out: &mut Vec<u8>, bytes: usize, value: u64| {
        if is_big {
            out.extend_from_slice(&value.to_be_bytes()[8 - bytes..])
        } else {
            out.extend_from_slice(&value.to_le_bytes()[..bytes])
        }
    };
    let word = if is_64 { 8 } else { 4 };
    let names = b"\0.text\0.debug_x\0.rela.debug_x\0.symtab\0.strtab\0s\0";
    let name = |name: &[u8]| names.windows(name.len()).position(|one| one == name).expect("a name") as u64;
    let mut symbols = vec![0; if is_64 { 24 } else { 16 }];
    number(&mut symbols, 4, name(b"s\0"));
    if is_64 {
        symbols.extend([0x10, 0]);
        number(&mut symbols, 2, 1);
        number(&mut symbols, 8, VALUE);
        number(&mut symbols, 8, 0);
    } else {
        number(&mut symbols, 4, VALUE);
        number(&mut symbols, 4, 0);
        symbols.extend([0x10, 0]);
        number(&mut symbols, 2, 1);
    }
    let mut relocation = Vec::new();
    number(&mut relocation, word, AT);
    match (is_64, machine, is_big) {
        // The symbol, a special symbol, and three types, in this order.
        (true, 8, false) => {
            number(&mut relocation, 4, 1);
            number(&mut relocation, 4, u64::from(kind) << 24);
        }
        (true, ..) => number(&mut relocation, 8, 1 << 32 | u64::from(kind)),
        (false, ..) => number(&mut relocation, 4, 1 << 8 | u64::from(kind)),
    }
    number(&mut relocation, word, ADDEND);
    let sections: [SectionRow<'_>; 6] = [
        (b"\0", 0, 0, &[], 0, 0, 0),
        (b".text\0", 1, 6, &[0; 64], 0, 0, 0),
        (b".debug_x\0", 1, 0, &[0; 32], 0, 0, 0),
        (b".rela.debug_x\0", 4, 0, &relocation, 4, 2, 3 * word),
        (b".symtab\0", 2, 0, &symbols, 5, 1, if is_64 { 24 } else { 16 }),
        (b".strtab\0", 3, 0, names, 0, 0, 0),
    ];
    let header = if is_64 { 64 } else { 52 };
    out.extend([0x7f, b'E', b'L', b'F', 1 + u8::from(is_64), 1 + u8::from(is_big), 1]);
    out.resize(16, 0);
    let contents: usize = sections.iter().map(|one| one.3.len().next_multiple_of(8)).sum();
    let table = (header + 4 + contents).next_multiple_of(8);
    for (bytes, value) in
        [(2, 1), (2, machine.into()), (4, 1), (word, 0), (word, 0), (word, table as u64), (4, 0)]
    {
        number(&mut out, bytes, value);
    }
    for value in [header as u64, 0, 0, if is_64 { 64 } else { 40 }, 6, 5] {
        number(&mut out, 2, value);
    }
    let mut offsets = Vec::new();
    for one in &sections {
        out.resize(out.len().next_multiple_of(8), 0);
        offsets.push(out.len() as u64);
        out.extend_from_slice(one.3);
    }
    out.resize(table, 0);
    for (one, offset) in sections.iter().zip(offsets) {
        let fields = [
            (4, name(one.0)),
            (4, one.1),
            (word, one.2),
            (word, 0),
            (word, offset),
            (word, one.3.len() as u64),
            (4, one.4),
            (4, one.5),
            (word, 1),
            (word, one.6 as u64),
        ];
        for (bytes, value) in fields {
            number(&mut out, bytes, value);
        }
    }
    out
}

/// Size in bytes and kind of a relocation type in the crate `object`; `None` if it is unknown there, or is one of code.
fn known(bytes: &[u8], is_64: bool) -> Option<(u8, RelocationKind)> {
    let relocation = if is_64 {
        relocation_of(&ElfFile::<elf::FileHeader64<object::Endianness>>::parse(bytes).expect("ELF"))
    } else {
        relocation_of(&ElfFile::<elf::FileHeader32<object::Endianness>>::parse(bytes).expect("ELF"))
    };
    (relocation.encoding() == RelocationEncoding::Generic && relocation.size() % 8 == 0)
        .then(|| (relocation.size() / 8, relocation.kind()))
}

fn relocation_of<'d>(file: &impl object::Object<'d>) -> object::Relocation {
    let section = file.section_by_name(".debug_x").expect("the section");
    section.relocations().next().expect("a relocation").1
}

/// Machines with 64-bit addresses or 32-bit ones, and the byte order.
const MACHINES: [(u16, bool, bool); 22] = [
    (elf::EM_X86_64.0, true, false),
    (elf::EM_386.0, false, false),
    (elf::EM_AARCH64.0, true, false),
    (elf::EM_ARM.0, false, false),
    (elf::EM_ARM.0, false, true),
    (elf::EM_MIPS.0, false, true),
    (elf::EM_MIPS.0, false, false),
    (elf::EM_MIPS.0, true, true),
    (elf::EM_MIPS.0, true, false),
    (elf::EM_PPC.0, false, true),
    (elf::EM_PPC64.0, true, true),
    (elf::EM_PPC64.0, true, false),
    (elf::EM_SPARC.0, false, true),
    (elf::EM_SPARCV9.0, true, true),
    (elf::EM_RISCV.0, true, false),
    (elf::EM_LOONGARCH.0, true, false),
    (elf::EM_BPF.0, true, false),
    (elf::EM_HEXAGON.0, false, false),
    (elf::EM_AVR.0, false, false),
    (elf::EM_MSP430.0, false, false),
    (elf::EM_68K.0, false, true),
    (elf::EM_S390.0, true, true),
];

/// Each absolute relocation type of 2, 4 or 8 bytes that `object` knows writes the address; each relative one of 4 or 8
/// bytes, the distance.
#[test]
fn relocation_types_are_those_that_object_knows() {
    let mut counts = [0; 2];
    for (machine, is_64, is_big) in MACHINES {
        for kind in 0..256 {
            let bytes = object_with(machine, is_64, is_big, kind);
            let Some((size, known)) = known(&bytes, is_64) else { continue };
            let read = Object::read(&bytes);
            let at = format!("machine {machine}, type {kind}, {known:?}, {size} bytes");
            let expected = match (known, size) {
                (RelocationKind::Absolute, 4 | 8) => VALUE + ADDEND,
                (RelocationKind::Relative, 4 | 8) => (VALUE + ADDEND).wrapping_sub(AT),
                // Types of code and data, that may be refused.
                _ => continue,
            };
            let object = match read {
                Ok(object) => object,
                Err(error) => panic!("{at}: {error}"),
            };
            let code = object.section_address(".text").expect("an address");
            let mut field =
                object.section(".debug_x").expect("a section").data[AT as usize..][..size.into()].to_vec();
            if !is_big {
                field.reverse();
            }
            let found = field.iter().fold(0, |value, byte| value << 8 | u64::from(*byte));
            let mask = if size == 4 { u64::from(u32::MAX) } else { u64::MAX };
            assert_eq!(found, code.wrapping_add(expected) & mask, "{at}");
            counts[usize::from(known == RelocationKind::Relative)] += 1;
        }
    }
    assert!(counts[0] > 30 && counts[1] > 5, "{counts:?}");
}

/// Three relocation types in one relocation, as the 64-bit ABI of MIPS has for differences of addresses: the number is not
/// that of the first type alone.
#[test]
fn composed_relocation_of_mips_is_unreadable() {
    for is_big in [false, true] {
        // R_MIPS_64 after R_MIPS_SUB, in the order of the big-endian format: third type, second type, first type.
        let mut bytes = object_with(elf::EM_MIPS.0, true, is_big, 18);
        let at = bytes.windows(4).position(|window| window == [0, 0, 0, 18]).expect("the types");
        bytes[at + 2] = 24;
        let object = Object::read(&bytes).expect("an object");
        let [field] = object.unreadable_fields() else { panic!("{:?}", object.unreadable_fields()) };
        assert_eq!((&*field.section, field.offset), (".debug_x", AT));
    }
}
