//! Big-endian objects: s390x.

use eitri::emit::elf::*;
use eitri::target::Target;
use object::Endianness;
use pretty_assertions::assert_eq;

use super::support::*;
use crate::common::with;

const SOURCE: &str = "
    struct pair { int x, y; };
    static int twice(int x) { return x + x; }
    int (*table[])(int) = {twice};
    template <class T> __attribute__((noinline)) T thrice(T x) { return x * 3; }
    extern \"C\" int work(pair *p) { return table[0](p->x) + thrice(p->y); }";

/// The GNU hash table: `readelf` expects 64-bit numbers in the older hash table of s390x.
const LINKED: [&str; 3] = ["-m", "elf64_s390", "--hash-style=gnu"];

/// A compiled object, without and with debug information.
fn compiled() -> Option<[Vec<u8>; 2]> {
    let arguments = [
        "--target=s390x-linux-gnu",
        "-fPIC",
        "-O1",
        "-faddrsig",
        "-fdebug-types-section",
        // LLVM's dumpers warn about unknown relocations of `.eh_frame`.
        "-fno-asynchronous-unwind-tables",
        "-fno-exceptions",
    ];
    let debug = compile(CLANG, "work.cpp", SOURCE, &arguments)?;
    let how = with::<AttachOptions>(|options| options.existing = Existing::Replace);
    let plain = attach_with(&debug, &Target::s390x(), &[], &how).unwrap();
    Some([plain, debug])
}

fn sections(function: &str, size: u32, other: &str) -> Vec<eitri::emit::Section> {
    debug_sections_in(Endianness::Big, function, size, other)
}

#[track_caller]
fn readable(bytes: &[u8]) {
    let folder = Folder::new();
    let path = folder.file("object", bytes);
    clean(READELF, &["-aW"], &[&path]);
    clean(LLVM_READELF, &["-a", "--sections", "--symbols", "--relocations", "-W"], &[&path]);
    if let Some(text) = clean(DWARFDUMP, &["--verify"], &[&path]) {
        assert!(text.contains("No errors"), "{text}");
    }
    if let Some(text) = clean(DWARFDUMP, &["--debug-info"], &[&path]) {
        assert!(text.contains("DW_AT_name\t(\"test.cl\")"), "{text}");
    }
}

/// Checks every relocated field of a linked object against values computed by hand.
#[track_caller]
fn check_fields(object: &ReadObject, function: &str, other: &str) {
    let function = object.symbol(function).4;
    let other = object.symbol(other).4;
    assert!(function != 0 && other != 0);
    assert_eq!(object.number(".debug_info", 0, 4), 42);
    assert_eq!(object.string(".debug_info", 13), "test.cl");
    assert_eq!(object.number(".debug_info", 33, 8), function);
    assert_eq!(object.number(".debug_addr", 8, 8), function);
    assert_eq!(object.number(".debug_marks", 0, 8), function + 0x24);
    assert_eq!(object.number(".debug_marks", 9, 8), other - 4);
    assert_eq!(object.number(".debug_marks", 17, 4), other + 0x10);
}

#[test]
fn a_new_object() {
    // la %r2,42; br %r14
    let mut code = ObjectCode::text(vec![0x41, 0x20, 0, 42, 0x07, 0xfe]).with_function("work", 0, 6);
    let mut data = CodeSection::new(".data", CodeContents::Data, vec![0; 16], 8);
    // R_390_64 is 22.
    data.relocations.push(CodeRelocation { offset: 8, kind: 22, symbol: "elsewhere".into(), addend: -2 });
    code.sections.push(data);
    code.symbols.push(CodeSymbol {
        name: "local".into(),
        place: SymbolLocation::Section { index: 2, offset: 8 },
        size: 8,
        kind: CodeSymbolKind::Object,
        binding: SymbolBinding::Local,
        visibility: Visibility::Default,
    });
    code.externals.push("elsewhere".into());
    let given = sections("work", 6, "local");
    let bytes = new_object(&Target::s390x(), &code, &given).unwrap();
    // ELFCLASS64, ELFDATA2MSB, version 1; ET_REL, EM_S390, version 1.
    assert_eq!(bytes[4..7], [2, 2, 1]);
    assert_eq!(bytes[16..24], [0, 1, 0, 22, 0, 0, 0, 1]);
    readable(&bytes);

    let object = read(&bytes);
    assert_eq!(object.relocations[".data"], [(8, 22, "elsewhere".into(), -2)]);
    // R_390_32 is 4.
    let marks = [(0, 22, "work".into(), 0x24), (9, 22, "local".into(), -4), (17, 4, "local".into(), 0x10)];
    assert_eq!(object.relocations[".debug_marks"], marks);
    assert_eq!(object.relocations[".debug_info"][1], (13, 4, ".debug_str".into(), 1));
    assert_eq!(object.symbol("work"), &("work".into(), 0x12, 3, 1, 0, 6));
    assert_eq!(object.symbol("local"), &("local".into(), 0x01, 0, 2, 8, 8));
    let names: Vec<String> = symbols(&bytes).unwrap().into_iter().map(|symbol| symbol.name).collect();
    assert_eq!(names, ["local", "work", "elsewhere"]);
    assert_eq!(contents(&bytes, &symbol_named(&bytes, "local").unwrap()).unwrap(), [0; 8]);
    if let Some(linked) = link(&bytes, &LINKED) {
        check_fields(&read(&linked), "work", "local");
        readable(&linked);
    }
}

#[test]
fn a_relocatable_object() {
    let Some(objects) = compiled() else { return };
    for (before, existing) in objects.into_iter().zip([Existing::Refuse, Existing::Replace]) {
        let how = with::<AttachOptions>(|options| options.existing = existing);
        let size = symbol_named(&before, "work").unwrap().size as u32;
        let after = attach_with(&before, &Target::s390x(), &sections("work", size, "table"), &how).unwrap();
        readable(&after);
        let old = read(&before);
        let new = read(&after);
        for name in [".text", ".data", ".data.rel", ".comment"] {
            let of = |object: &ReadObject| {
                object.sections.iter().find(|section| section.name == name).map(|s| s.bytes.clone())
            };
            assert_eq!(of(&old), of(&new), "{name}");
        }
        for (of, relocations) in old.relocations.iter().filter(|(of, _)| !of.contains("debug_")) {
            assert_eq!(relocations, &new.relocations[of], "{of}");
        }
        assert!(old.relocations.contains_key(".text"));
        assert_eq!(symbols_in_sections(&old), symbols_in_sections(&new));
        let Some(linked) = link(&after, &LINKED) else { return };
        check_fields(&read(&linked), "work", "table");
        readable(&linked);
    }
}

/// Named symbols with the names of their sections, without those of type units.
fn symbols_in_sections(object: &ReadObject) -> Vec<(String, u8, String, u64)> {
    let named = object.symbols.iter().filter(|symbol| !symbol.0.is_empty());
    let all = named.map(|symbol| {
        let section = object.sections.get(usize::from(symbol.3));
        let section = section.map_or(String::new(), |section| section.name.clone());
        (symbol.0.clone(), symbol.1, section, symbol.4)
    });
    all.filter(|symbol| symbol.2 != ".group").collect()
}

#[test]
fn a_linked_object() {
    let Some(objects) = compiled() else { return };
    for (object, existing) in objects.into_iter().zip([Existing::Refuse, Existing::Replace]) {
        let how = with::<AttachOptions>(|options| options.existing = existing);
        let Some(before) = link(&object, &LINKED) else { return };
        let size = symbol_named(&before, "work").unwrap().size as u32;
        let after = attach_with(&before, &Target::s390x(), &sections("work", size, "table"), &how).unwrap();
        let segments = read(&before).segments;
        assert_eq!(segments, read(&after).segments);
        let end = segments.iter().filter(|s| s.0 == 1).map(|s| s.1 + s.3).max().unwrap() as usize;
        assert_eq!(without_section_fields(&before)[..end], without_section_fields(&after)[..end]);
        assert_eq!(symbols_in_sections(&read(&before)), symbols_in_sections(&read(&after)));
        assert!(!has(&after, COMPILED_IN));
        check_fields(&read(&after), "work", "table");
        readable(&after);
    }
}

#[test]
fn the_other_order_is_refused() {
    let code = ObjectCode::text(vec![0x07, 0xfe]);
    let refused = |object: &[u8], target: &Target, expected: &str| {
        assert_eq!(attach(object, target, &[]).unwrap_err().to_string(), expected);
    };
    let big = new_object(&Target::s390x(), &code, &[]).unwrap();
    refused(&big, &Target::x86_64(), "code is ELF machine 22, but target x86_64 is ELF machine 62");
    // An object with the machine of the other byte order.
    let mut little = new_object(&Target::x86_64(), &code, &[]).unwrap();
    little[18] = 22;
    refused(&little, &Target::s390x(), "code is little endian, but target s390x is big endian");
    let mut big = big;
    big[19] = 62;
    refused(&big, &Target::x86_64(), "code is big endian, but target x86_64 is little endian");
}

/// Sections written with gimli in this byte order.
#[test]
fn sections_of_gimli() {
    use eitri::emit::{GimliBuffer, from_gimli};
    use gimli::write::*;
    let encoding = gimli::Encoding { format: gimli::Format::Dwarf32, version: 5, address_size: 8 };
    let mut dwarf = Dwarf::default();
    let unit = dwarf.units.add(Unit::new(encoding, LineProgram::none()));
    let name = dwarf.strings.add("test.cl");
    let unit = dwarf.units.get_mut(unit);
    let root = unit.root();
    unit.get_mut(root).set(gimli::DW_AT_name, AttributeValue::StringRef(name));
    let function = unit.add(root, gimli::DW_TAG_subprogram);
    let at = Address::Symbol { symbol: 0, addend: 2 };
    unit.get_mut(function).set(gimli::DW_AT_low_pc, AttributeValue::Address(at));
    let mut sections = Sections::new(GimliBuffer::big_endian());
    dwarf.write(&mut sections).unwrap();
    let sections = from_gimli(&sections, |_| "work".into());

    let code = ObjectCode::text(vec![0x07, 0x07, 0x07, 0xfe]).with_function("work", 0, 4);
    let bytes = new_object(&Target::s390x(), &code, &sections).unwrap();
    readable(&bytes);
    let relocations = &read(&bytes).relocations[".debug_info"];
    assert!(
        relocations.iter().any(|relocation| (relocation.1, &*relocation.2, relocation.3) == (22, "work", 2))
    );
}
