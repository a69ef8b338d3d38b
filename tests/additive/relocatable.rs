//! Sections attached to a relocatable object.

use eitri::emit::RelocationTarget;
use eitri::emit::elf::{attach, contents, symbol_named, symbols};
use pretty_assertions::assert_eq;

use super::support::*;

#[test]
fn compiler_output_is_unchanged_by_attach() {
    let before = uspill();
    let after = attach(&before, &gfx1030(), &uspill_sections()).unwrap();
    let old = read(&before);
    let new = read(&after);

    assert_eq!(without_section_fields(&before[..64]), without_section_fields(&after[..64]));
    for (old, new) in old.sections.iter().zip(&new.sections) {
        let grown = match old.name.as_str() {
            // Names and symbols are added: `.strtab` only grows; `.symtab` is checked below.
            ".strtab" => new.bytes.starts_with(&old.bytes),
            ".symtab" => new.info == old.info + 3,
            // Relocations contain indices of symbols: names are compared below.
            name if name.starts_with(".rela") => new.bytes.len() == old.bytes.len(),
            _ => new.bytes == old.bytes && new.info == old.info,
        };
        assert!(grown, "{}", old.name);
        let frame = |s: &ReadSection| (s.name.clone(), s.kind, s.flags, s.address, s.align, s.entry, s.link);
        assert_eq!(frame(old), frame(new));
        assert!(new.align == 0 || new.offset % new.align == 0, "{}", old.name);
    }
    for (of, relocations) in &old.relocations {
        assert_eq!(relocations, &new.relocations[of], "{of}");
        // All symbols of this object are global, so that every relocation changes.
        let name = format!(".rela{of}");
        assert_ne!(old.section(&name).bytes, new.section(&name).bytes);
    }
    // Three new symbols after the null symbol, for the sections that are referred to.
    let section_symbol = |name: &str| {
        let index = new.sections.iter().position(|section| section.name == name).unwrap();
        (String::new(), 3u8, 0u8, index as u16, 0u64, 0u64)
    };
    let mut expected = old.symbols.clone();
    expected.splice(1..1, [".debug_abbrev", ".debug_str", ".debug_addr"].map(section_symbol));
    assert_eq!(expected, new.symbols);
    assert_eq!(new.locals, 4);
}

#[test]
fn added_sections_equal_the_given_sections() {
    let sections = uspill_sections();
    let object = read(&attach(&uspill(), &gfx1030(), &sections).unwrap());
    for section in &sections {
        let read = object.section(section.name);
        assert_eq!((read.kind, read.address, read.align), (1, 0, 1));
        assert_eq!((read.flags, read.entry), if section.is_strings { (0x30, 1) } else { (0, 0) });
        assert_eq!(read.bytes, section.bytes);
        let expected: Vec<ReadRela> = section
            .relocations
            .iter()
            .map(|relocation| {
                let name = match &relocation.target {
                    RelocationTarget::Section(name) => (*name).to_owned(),
                    RelocationTarget::Symbol(name) => name.to_string(),
                    RelocationTarget::Distance(name) => name.to_string(),
                };
                // R_AMDGPU_ABS32 is 6, R_AMDGPU_ABS64 is 3.
                let kind = if relocation.bytes == 4 { 6 } else { 3 };
                (relocation.offset, kind, name, relocation.addend as i64)
            })
            .collect();
        assert_eq!(object.relocations.get(section.name).cloned().unwrap_or_default(), expected);
    }
    assert_eq!(object.relocations[".debug_marks"][1].3, -4);
}

#[test]
fn the_same_input_gives_the_same_bytes_wherever_it_lies() {
    let object = uspill();
    let sections = uspill_sections();
    let first = attach(&object, &gfx1030(), &sections).unwrap();
    assert_eq!(first, attach(&object, &gfx1030(), &sections).unwrap());
    for shift in 1..8 {
        let moved = [&vec![0; shift][..], &object].concat();
        assert!(attach(&moved[shift..], &gfx1030(), &sections).unwrap() == first);
    }
}

#[test]
fn attach_without_sections_changes_nothing() {
    let before = uspill();
    let after = attach(&uspill(), &gfx1030(), &[]).unwrap();
    let old = read(&before);
    let new = read(&after);
    let at_zero = |section: &ReadSection| ReadSection { offset: 0, ..section.clone() };
    assert_eq!(
        old.sections.iter().map(at_zero).collect::<Vec<_>>(),
        new.sections.iter().map(at_zero).collect::<Vec<_>>()
    );
    assert_eq!(old.symbols, new.symbols);
}

#[test]
fn sections_can_be_added_in_turns() {
    let sections = uspill_sections();
    let once = attach(&uspill(), &gfx1030(), &sections[..4]).unwrap();
    let twice = read(&attach(&once, &gfx1030(), &sections[4..]).unwrap());
    let together = read(&attach(&uspill(), &gfx1030(), &sections).unwrap());
    assert_eq!(twice.relocations, together.relocations);
    assert_eq!(twice.symbols, together.symbols);
}

#[test]
fn attached_object_is_read_by_other_tools() {
    let folder = Folder::new();
    let object = attach(&uspill(), &gfx1030(), &uspill_sections()).unwrap();
    let path = folder.file("uspill.o", &object);
    clean(READELF, &["-SsrW"], &[&path]);
    clean(LLVM_READELF, &["-hSsrW"], &[&path]);
    if let Some(text) = clean(DWARFDUMP, &["--verify"], &[&path]) {
        assert!(text.contains("No errors"), "{text}");
    }
    // The code is unchanged, with the same call targets.
    let before = folder.file("before.o", uspill());
    let code = |path: &std::path::Path| {
        let text = clean(OBJDUMP, &["-dr", "--mcpu=gfx1030"], &[path])?;
        Some(text.lines().skip(2).map(String::from).collect::<Vec<_>>())
    };
    if let (Some(before), Some(after)) = (code(&before), code(&path)) {
        assert!(before.len() > 1000 && before == after);
    }
}

/// Section groups and lists of address-significant symbols also refer to symbols by index. clang makes both for
/// x86-64.
#[test]
fn groups_and_address_significant_symbols_keep_their_symbols() {
    const SOURCE: &str = "
        inline __attribute__((noinline)) int twice(int x) { return x + x; }
        template <class T> __attribute__((noinline)) T thrice(T x) { return x * 3; }
        static int hidden(int x) { return x - 1; }
        extern int outside(int (*)(int));
        int (*table[])(int) = {twice, thrice<int>, hidden};
        int kernel(int x) { return twice(x) + thrice<int>(x) + outside(hidden); }";
    let folder = Folder::new();
    let source = folder.file("source.cpp", SOURCE.as_bytes());
    let path = folder.path().join("object.o");
    let arguments = [
        "--target=x86_64-linux-gnu",
        "-O1",
        "-c",
        "-faddrsig",
        "-ffunction-sections",
        "-o",
        path.to_str().unwrap(),
    ];
    if clean(CLANG, &arguments, &[&source]).is_none() {
        return;
    }
    let before = std::fs::read(&path).unwrap();
    let sections = debug_sections("_Z6kerneli", 16, "table");
    let target = eitri::target::Target::x86_64();
    let after = attach(&before, &target, &sections).unwrap();
    let attached = folder.file("attached.o", &after);

    // Names in every group and list, without indices.
    let names = |path: &std::path::Path| {
        let text = clean(READOBJ, &["--section-groups", "--addrsig"], &[path])?;
        let lines = text.lines().skip_while(|line| !line.starts_with("Groups")).map(String::from);
        let lines = lines.map(|line| match line.split_once("Sym: ") {
            Some((_, name)) => name.split(' ').next().unwrap_or_default().to_owned(),
            None => line,
        });
        Some(lines.filter(|line| !line.trim().starts_with("Info:")).collect::<Vec<_>>())
    };
    if let (Some(before), Some(after)) = (names(&path), names(&attached)) {
        assert!(before.iter().any(|line| line.contains("Signature: _Z5twicei")), "{before:?}");
        assert!(before.iter().any(|line| line == "_Z5twicei" || line == "_ZL6hiddeni"), "{before:?}");
        assert_eq!(before, after);
    }
    let old = read(&before);
    let new = read(&after);
    assert!(old.locals > 1);
    for (of, relocations) in &old.relocations {
        assert_eq!(relocations, &new.relocations[of]);
    }
    // R_X86_64_64 is 1, R_X86_64_32 is 10.
    let kinds: Vec<u32> = new.relocations[".debug_marks"].iter().map(|rela| rela.1).collect();
    assert_eq!(kinds, [1, 1, 10]);
    clean(READELF, &["-SsrgW"], &[&attached]);
}

#[test]
fn symbols_are_found() {
    let object = uspill();
    let text = read(&object).section(".text").bytes.clone();
    let kernel = symbol_named(&object, "uspill").unwrap();
    assert_eq!(contents(&object, &kernel).unwrap(), &text[0x100..0x100 + 1388]);

    let names: Vec<String> = symbols(&object).unwrap().into_iter().map(|symbol| symbol.name).collect();
    let expected =
        ["clobber", "uspill", "uspill.kd", "vspillf", "vspillk", "vspillk.kd", "__oclc_ABI_version"];
    assert_eq!(names, expected);
    let attached = attach(&object, &gfx1030(), &uspill_sections()).unwrap();
    assert_eq!(symbols(&attached).unwrap(), symbols(&object).unwrap());
}
