//! No input causes a panic or disproportionate output.

use eitri::emit::Section;
use eitri::emit::elf::*;
use eitri::target::Target;
use object::Endianness;

use super::support::*;
use crate::common::cases::cases;
use crate::common::with;

/// Calls every entry point: each must return, and its result must be an object again.
fn try_all(object: &[u8], sections: &[Section]) -> bool {
    for symbol in symbols(object).unwrap_or_default() {
        let _ = contents(object, &symbol);
    }
    let _ = symbol_named(object, "uspill");
    match attach(object, &gfx1030(), sections) {
        Ok(after) => {
            // Only alignment padding may grow the file: fewer than 32 sections of 4096 bytes.
            assert!(after.len() <= object.len() + 32 * 4096, "{} from {}", after.len(), object.len());
            let error = attach(&after, &gfx1030(), sections).expect_err("the sections are there now");
            assert!(error.to_string().contains("already has"), "{error}");
            true
        }
        Err(error) => {
            assert!(!error.to_string().is_empty());
            false
        }
    }
}

/// A relocatable object, one that claims to be linked, and a linked one.
fn objects() -> Vec<Vec<u8>> {
    let mut claims = uspill();
    claims[16] = 3;
    [Some(uspill()), Some(claims), link(&uspill(), &[])].into_iter().flatten().collect()
}

#[test]
fn truncated_objects_never_panic() {
    let sections = uspill_sections();
    for object in objects() {
        assert!(try_all(&object, &sections));
        for end in 0..object.len() {
            // Section headers are last in all of these, so that every truncation removes some.
            assert!(!try_all(&object[..end], &sections), "{end} of {}", object.len());
        }
    }
}

#[test]
fn changed_header_bytes_never_panic() {
    let sections = uspill_sections();
    for mut object in objects() {
        let table = u64::from_le_bytes(object[40..48].try_into().unwrap()) as usize;
        for offset in (0..64).chain(table..object.len()) {
            let old = object[offset];
            for value in [0, 1, 0x7f, 0x80, 0xff, old ^ 1] {
                object[offset] = value;
                try_all(&object, &sections);
            }
            object[offset] = old;
        }
    }
}

/// A deterministic generator of numbers below a bound: xorshift64.
fn numbers() -> impl FnMut(usize) -> usize {
    let mut state = 0x9e37_79b9_7f4a_7c15_u64;
    move |below: usize| {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        (state >> 16) as usize % below
    }
}

/// The object with a few bytes changed, half of them in the ELF header, the symbols and the section headers (from
/// offset `table` on).
fn changed(object: &[u8], table: usize, random: &mut impl FnMut(usize) -> usize) -> Vec<u8> {
    let mut changed = object.to_vec();
    for _ in 0..1 + random(4) {
        let offset = match random(4) {
            0 => random(64),
            1 => table + random(object.len() - table),
            _ => random(object.len()),
        };
        changed[offset] = random(256) as u8;
    }
    changed
}

#[test]
fn random_bytes_are_an_answer() {
    let sections = uspill_sections();
    let mut random = numbers();
    let mut accepted = 0;
    for object in objects() {
        let table = u64::from_le_bytes(object[40..48].try_into().unwrap()) as usize;
        for _ in 0..cases(3000) {
            accepted += u32::from(try_all(&changed(&object, table, &mut random), &sections));
        }
    }
    // Most changes affect code, which is not inspected.
    assert!(accepted > 1000, "{accepted}");
}

/// Overlapping sections would each be written in full.
#[test]
fn a_small_object_does_not_become_a_large_one() {
    let mut object = uspill();
    let table = u64::from_le_bytes(object[40..48].try_into().unwrap()) as usize;
    let size = object.len() as u64;
    // `.text`, `.rodata` and `.comment` cover the whole file.
    for index in [2, 4, 6] {
        let header = table + 64 * index;
        object[header + 24..header + 32].fill(0);
        object[header + 32..header + 40].copy_from_slice(&size.to_le_bytes());
    }
    let error = attach(&object, &gfx1030(), &uspill_sections()).unwrap_err();
    assert!(error.to_string().contains("sections overlap"), "{error}");
}

/// Replacing sections of a linked object moves the contents that are not loaded.
#[test]
fn neither_does_a_small_linked_one() {
    let Some(mut object) = link(&attach(&uspill(), &gfx1030(), &uspill_sections()).unwrap(), &[]) else {
        return;
    };
    let names: Vec<String> = read(&object).sections.into_iter().map(|section| section.name).collect();
    for name in [".comment", ".strtab", ".debug_str"] {
        let header = table(&object) + 64 * names.iter().position(|other| other == name).unwrap();
        let size = object.len() as u64;
        object[header + 24..header + 32].fill(0);
        object[header + 32..header + 40].copy_from_slice(&size.to_le_bytes());
    }
    let how = with::<AttachOptions>(|options| options.existing = Existing::Replace);
    let error = attach_with(&object, &gfx1030(), &uspill_sections(), &how).unwrap_err();
    assert_eq!(error.to_string(), "sections overlap in the file");
}

/// Replaces debug sections: the call must return, and its result can be replaced again.
fn try_replace(object: &[u8], target: &Target, sections: &[Section]) -> bool {
    let how = with::<AttachOptions>(|options| options.existing = Existing::Replace);
    match attach_with(object, target, sections, &how) {
        Ok(after) => {
            assert!(after.len() <= object.len() + 128 * 4096, "{} from {}", after.len(), object.len());
            attach_with(&after, target, sections, &how).expect("what was made is an object");
            true
        }
        Err(error) => {
            assert!(!error.to_string().is_empty());
            false
        }
    }
}

/// Objects with debug information, groups, symbol lists and many kinds of relocations, in both byte orders, each with
/// replacement sections.
fn with_debug_information() -> Vec<(Vec<u8>, Target, Vec<Section>)> {
    const SOURCE: &str = "
        struct pair { int x, y; };
        template <class T> __attribute__((noinline)) T thrice(T x) { return x * 3; }
        extern \"C\" int work(pair *p) { return p->x + thrice(p->y); }";
    let mut all = Vec::new();
    for (machine, target, order) in [
        ("--target=x86_64-linux-gnu", Target::x86_64(), Endianness::Little),
        ("--target=s390x-linux-gnu", Target::s390x(), Endianness::Big),
    ] {
        let arguments = [machine, "-fPIC", "-O1", "-fdebug-types-section", "-faddrsig"];
        let Some(object) = compile(CLANG, "work.cpp", SOURCE, &arguments) else { continue };
        let mut sections = debug_sections_in(order, "work", 4, "work");
        let types = Section { name: ".debug_types", group: Some(1), ..sections[0].clone() };
        sections.push(types);
        let linked = link(&object, &["--emit-relocs"]);
        let objects = [Some(object), linked].into_iter().flatten();
        all.extend(objects.map(|object| (object, target.clone(), sections.clone())));
    }
    all
}

/// Offset of the section headers.
fn table(object: &[u8]) -> usize {
    let field = object[40..48].try_into().unwrap();
    let offset = if object[5] == 2 { u64::from_be_bytes(field) } else { u64::from_le_bytes(field) };
    offset as usize
}

#[test]
fn replacing_is_always_an_answer() {
    for (object, target, sections) in with_debug_information() {
        assert!(try_replace(&object, &target, &sections));
        for end in (0..object.len()).step_by(7) {
            assert!(!try_replace(&object[..end], &target, &sections), "{end} of {}", object.len());
        }
        let mut changed = object.clone();
        for offset in (0..64).chain(table(&object)..object.len()) {
            for value in [0, 1, 0x7f, 0xff, object[offset] ^ 1] {
                changed[offset] = value;
                try_replace(&changed, &target, &sections);
            }
            changed[offset] = object[offset];
        }
    }
}

#[test]
fn replacing_in_random_bytes_is_an_answer() {
    let mut random = numbers();
    let mut accepted = 0;
    let mut tried = 0;
    for (object, target, sections) in with_debug_information() {
        let table = table(&object);
        for _ in 0..cases(2000) {
            let changed = changed(&object, table, &mut random);
            accepted += u32::from(try_replace(&changed, &target, &sections));
            tried += 1;
        }
    }
    assert!(accepted * 4 >= tried, "{accepted} of {tried}");
}
