//! New objects.

use eitri::emit::elf::*;
use eitri::target::{Gfx, Target, Wave};
use pretty_assertions::assert_eq;

use super::support::*;

fn symbol(
    name: &str,
    place: SymbolLocation,
    size: u64,
    kind: CodeSymbolKind,
    binding: SymbolBinding,
) -> CodeSymbol {
    CodeSymbol { name: name.into(), place, size, kind, binding, visibility: Visibility::Protected }
}

/// Two functions, a kernel descriptor that refers to one of them, local memory, an external symbol.
fn code() -> ObjectCode {
    // s_nop and s_endpgm.
    let mut text = [0x00, 0x00, 0x80, 0xbf].repeat(16);
    text[60..].copy_from_slice(&[0x00, 0x00, 0x81, 0xbf]);
    let mut code = ObjectCode::text(text).with_function("kernel", 16, 48);
    let mut descriptors = CodeSection::new(".rodata", CodeContents::ReadOnly, vec![0; 64], 64);
    // The entry of a kernel is 64-bit and relative: R_AMDGPU_REL64.
    descriptors.relocations.push(CodeRelocation { offset: 16, kind: 5, symbol: "kernel".into(), addend: 16 });
    code.sections.push(descriptors);
    code.sections.push(CodeSection::new(".data", CodeContents::Data, vec![1, 2, 3, 4], 4));
    let in_section = |index, offset| SymbolLocation::Section { index, offset };
    code.symbols.extend([
        symbol("kernel.kd", in_section(2, 0), 64, CodeSymbolKind::Object, SymbolBinding::Global),
        symbol("helper", in_section(1, 0), 16, CodeSymbolKind::Function, SymbolBinding::Local),
        symbol(
            "scratch",
            SymbolLocation::Local { align: 16 },
            1024,
            CodeSymbolKind::Object,
            SymbolBinding::Global,
        ),
        symbol("maybe", in_section(3, 0), 4, CodeSymbolKind::Object, SymbolBinding::Weak),
        symbol("version", SymbolLocation::Address(600), 0, CodeSymbolKind::None, SymbolBinding::Global),
    ]);
    code.externals.push("elsewhere".into());
    code
}

#[test]
fn new_object_reads_back_unchanged() {
    let mut sections = debug_sections("kernel", 48, "elsewhere");
    sections[4].relocations[1] = to_symbol(9, 8, "helper", 4);
    let bytes = new_object(&gfx1030(), &code(), &sections).unwrap();
    assert_eq!(bytes, new_object(&gfx1030(), &code(), &sections).unwrap());
    let object = read(&bytes);
    let names: Vec<&str> = object.sections.iter().map(|section| section.name.as_str()).collect();
    let expected = [
        "",
        ".text",
        ".rodata",
        ".data",
        ".rela.rodata",
        ".symtab",
        ".strtab",
        ".debug_abbrev",
        ".debug_info",
        ".rela.debug_info",
        ".debug_str",
        ".debug_addr",
        ".rela.debug_addr",
        ".debug_marks",
        ".rela.debug_marks",
    ];
    assert_eq!(names, expected);
    // SHF_ALLOC is 2, with SHF_EXECINSTR 6, with SHF_WRITE 3.
    let loaded = object.sections[1..4].iter().map(|s| (s.kind, s.flags, s.align, s.bytes.clone()));
    let given = code().sections.into_iter().zip([6, 2, 3]);
    assert_eq!(loaded.collect::<Vec<_>>(), given.map(|(s, f)| (1, f, s.align, s.bytes)).collect::<Vec<_>>());
    assert_eq!(object.relocations[".rodata"], [(16, 5, "kernel".into(), 16)]);
    assert_eq!(
        object.relocations[".debug_marks"],
        [(0, 3, "kernel".into(), 0x24), (9, 3, "helper".into(), 4), (17, 6, "elsewhere".into(), 0x10),]
    );
    // Info is binding << 4 | type, and visibility "protected" is 3; SHN_AMDGPU_LDS is 0xff00, SHN_ABS 0xfff1.
    assert_eq!(object.symbols[1], ("helper".into(), 0x02, 3, 1, 0, 16));
    assert_eq!(object.locals, 2 + 3);
    assert_eq!(
        object.symbols[5..],
        [
            ("kernel".into(), 0x12, 3, 1, 16, 48),
            ("kernel.kd".into(), 0x11, 3, 2, 0, 64),
            ("scratch".into(), 0x11, 3, 0xff00, 16, 1024),
            ("maybe".into(), 0x21, 3, 3, 0, 4),
            ("version".into(), 0x10, 3, 0xfff1, 600, 0),
            ("elsewhere".into(), 0x10, 0, 0, 0, 0),
        ]
    );

    let mut given = code().symbols;
    given.sort_by_key(|symbol| symbol.binding != SymbolBinding::Local);
    let read = symbols(&bytes).unwrap();
    assert_eq!(read[..given.len()], given);
    assert_eq!(read.last().unwrap().place, SymbolLocation::Undefined);
    let helper = symbol_named(&bytes, "helper").unwrap();
    assert_eq!(contents(&bytes, &helper).unwrap(), &code().sections[0].bytes[..16]);
}

#[test]
fn the_header_is_that_of_the_compiler() {
    let ours = new_object(&gfx1030(), &code(), &[]).unwrap();
    assert_eq!(without_section_fields(&ours[..64]), without_section_fields(&uspill()[..64]));
    // e_flags of gfx90a: processor 0x3f, xnack and sramecc "any".
    let gfx90a = Target::amdgpu(Gfx::GFX90A, Wave::W64).unwrap();
    let object = new_object(&gfx90a, &code(), &[]).unwrap();
    assert_eq!(u32::from_le_bytes(object[48..52].try_into().unwrap()), 0x3f | 0x100 | 0x400);
}

#[test]
fn new_object_is_read_and_linked_by_other_tools() {
    let mut code = code();
    // Local memory is allocated by the linkers of drivers only.
    code.symbols.retain(|symbol| symbol.name != "scratch");
    let sections = debug_sections("kernel", 48, "kernel.kd");
    let bytes = new_object(&gfx1030(), &code, &sections).unwrap();
    let folder = Folder::new();
    let path = folder.file("new.o", &bytes);
    clean(READELF, &["-hSsrW"], &[&path]);
    if let Some(text) = clean(LLVM_READELF, &["-hSsrW"], &[&path]) {
        assert!(text.contains("gfx1030") && text.contains("R_AMDGPU_ABS64"), "{text}");
    }
    let Some(linked) = link(&bytes, &[]) else { return };
    let object = read(&linked);
    let (kernel, descriptor) = (object.symbol("kernel").4, object.symbol("kernel.kd").4);
    assert_eq!(object.number(".rodata", 16, 8), kernel.wrapping_sub(descriptor));
    assert_eq!(object.number(".debug_info", 33, 8), kernel);
    assert_eq!(object.number(".debug_marks", 17, 4), descriptor + 0x10);
    let path = folder.file("new.hsaco", &linked);
    if let Some(text) = clean(DWARFDUMP, &["--verify"], &[&path]) {
        assert!(text.contains("No errors"), "{text}");
    }
}

#[test]
fn x86_64_links_to_a_program() {
    // mov $60, %eax; xor %edi, %edi; syscall
    let text = vec![0xb8, 60, 0, 0, 0, 0x31, 0xff, 0x0f, 0x05];
    let code = ObjectCode::text(text).with_function("_start", 0, 9);
    let sections = debug_sections("_start", 9, "_start");
    let object = new_object(&Target::x86_64(), &code, &sections).unwrap();
    let folder = Folder::new();
    let input = folder.file("start.o", &object);
    let output = folder.path().join("start");
    if clean(LLD, &["-o", output.to_str().unwrap()], &[&input]).is_none() {
        return;
    }
    let object = read(&std::fs::read(&output).unwrap());
    let start = object.symbol("_start").4;
    assert_eq!(object.number(".debug_addr", 8, 8), start);
    assert_eq!(object.number(".debug_marks", 9, 8), start - 4);
    assert_eq!(object.number(".debug_marks", 17, 4), start + 0x10);
    if let Some(text) = clean(DWARFDUMP, &["--verify"], &[&output]) {
        assert!(text.contains("No errors"), "{text}");
    }
}

#[test]
fn bad_code_is_refused_with_its_name() {
    let refused = |change: &dyn Fn(&mut ObjectCode), expected: &str| {
        let mut code = code();
        change(&mut code);
        let error = new_object(&gfx1030(), &code, &[]).unwrap_err().to_string();
        assert!(error.contains(expected), "{error}");
    };
    refused(&|code| code.sections[1].name = ".text".into(), ".text");
    refused(&|code| code.sections[1].name = String::new(), "\"\"");
    refused(&|code| code.sections[1].align = 24, "section .rodata: alignment is 24; expected a power of two");
    refused(&|code| code.sections[1].align = 0, "section .rodata: alignment is 0; expected a power of two");
    refused(&|code| code.sections[1].relocations[0].symbol = "nowhere".into(), "`nowhere`");
    refused(&|code| code.sections[1].relocations[0].offset = 64, "section .rodata, offset 0x40");
    refused(&|code| code.symbols[0].size = 49, "symbol `kernel` is outside section 1");
    refused(&|code| code.symbols[0].size = u64::MAX, "symbol `kernel` is outside section 1");
    refused(&|code| code.symbols[0].place = SymbolLocation::Section { index: 0, offset: 0 }, "section 0");
    refused(&|code| code.symbols[0].place = SymbolLocation::Section { index: 4, offset: 0 }, "section 4");
    refused(&|code| code.symbols[1].name = "kernel".into(), "two symbols have the name `kernel`");
    refused(
        &|code| code.symbols[2].place = SymbolLocation::Undefined,
        "local symbol `helper` is undefined; expected a definition in its object",
    );
    refused(&|code| code.externals.push("kernel".into()), "two symbols have the name `kernel`");
    refused(&|code| code.symbols[0].name = "ker\0nel".into(), "ker\\0nel");
}
