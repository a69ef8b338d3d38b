//! No bytes make it panic, or grow out of proportion.

use eitri::emit::Section;
use eitri::emit::elf::{attach, contents, symbol_named, symbols};

use super::support::*;

/// Every entry point. That it returns is what is tested; what it returns has to be an object again.
fn try_all(object: &[u8], sections: &[Section]) -> bool {
    for symbol in symbols(object).unwrap_or_default() {
        let _ = contents(object, &symbol);
    }
    let _ = symbol_named(object, "uspill");
    match attach(object, &gfx1030(), sections) {
        Ok(after) => {
            // Alignment of sections in the file is what grows: fewer than 32 sections, 4096 bytes each.
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

/// A relocatable object, one that claims to be linked, and what a linker makes of it.
fn objects() -> Vec<Vec<u8>> {
    let mut claims = uspill();
    claims[16] = 3;
    [Some(uspill()), Some(claims), link(&uspill(), &[])].into_iter().flatten().collect()
}

#[test]
fn every_truncation_is_an_answer() {
    let sections = uspill_sections();
    for object in objects() {
        assert!(try_all(&object, &sections));
        for end in 0..object.len() {
            // Section headers are last in all of these, so that something is always missing.
            assert!(!try_all(&object[..end], &sections), "{end} of {}", object.len());
        }
    }
}

#[test]
fn every_byte_of_the_headers_can_be_anything() {
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

#[test]
fn random_bytes_are_an_answer() {
    let sections = uspill_sections();
    // xorshift64, the same numbers each time.
    let mut state = 0x9e37_79b9_7f4a_7c15_u64;
    let mut random = move |below: usize| {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        (state >> 16) as usize % below
    };
    let mut accepted = 0;
    for object in objects() {
        let table = u64::from_le_bytes(object[40..48].try_into().unwrap()) as usize;
        for _ in 0..3000 {
            let mut changed = object.clone();
            for _ in 0..1 + random(4) {
                // Half of them where they hurt: in the ELF header, the symbols and the section headers.
                let offset = match random(4) {
                    0 => random(64),
                    1 => table + random(object.len() - table),
                    _ => random(object.len()),
                };
                changed[offset] = random(256) as u8;
            }
            accepted += u32::from(try_all(&changed, &sections));
        }
    }
    // Most changes are to code, which is not looked at.
    assert!(accepted > 1000, "{accepted}");
}

/// Sections that lie on each other would each be written out.
#[test]
fn a_small_object_does_not_become_a_large_one() {
    let mut object = uspill();
    let table = u64::from_le_bytes(object[40..48].try_into().unwrap()) as usize;
    let size = object.len() as u64;
    // `.text`, `.rodata` and `.comment` are the whole file.
    for index in [2, 4, 6] {
        let header = table + 64 * index;
        object[header + 24..header + 32].fill(0);
        object[header + 32..header + 40].copy_from_slice(&size.to_le_bytes());
    }
    let error = attach(&object, &gfx1030(), &uspill_sections()).unwrap_err();
    assert!(error.to_string().contains("sections overlap"), "{error}");
}
