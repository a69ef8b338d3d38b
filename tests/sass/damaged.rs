//! Damaged cubins: an error, or a cubin that can be read.

use eitri::emit::elf::attach;
use eitri::read::Object;

use super::attached::attached_example;
use super::*;
use crate::common::cases::{Random, cases};

#[test]
fn mutants_are_refused_or_stay_readable() {
    let example = attached_example();
    let target = target("sm_80");
    let mut random = Random(0x5a55);
    // Attached; refused; attached so that a check finds nothing.
    let mut counts = [0u64; 3];
    for case in 0..cases(1000) {
        // A cubin without debug information in turn with one that has it.
        let mut bytes = if case % 2 == 0 { OPTIMIZED.to_vec() } else { example.bytes.clone() };
        damage(&mut bytes, &mut random);
        let how = if case % 4 < 2 { replacing() } else { AttachOptions::new() };
        match attach_with(&bytes, &target, &example.written.sections, &how) {
            Ok(out) => {
                counts[0] += 1;
                assert!(out.len() <= 2 * bytes.len() + 16384, "{} bytes of {}", out.len(), bytes.len());
                // What is wrong in the rest of the file stays wrong; code stays.
                if let Ok(before) = Object::read(&bytes) {
                    let after = Object::read(&out).unwrap_or_else(|error| panic!("case {case}: {error}"));
                    assert_eq!(code(&before), code(&after), "case {case}");
                    counts[2] += u64::from(example.check_any(&out).is_some_and(|report| report.is_clean()));
                }
            }
            Err(error) => {
                counts[1] += 1;
                // The command says this of an error of its own.
                assert!(!error.to_string().contains("mistake"), "case {case}: {error}");
            }
        }
    }
    assert!(counts.iter().all(|count| *count > cases(1000) as u64 / 20), "{counts:?}");
}

#[test]
fn malformed_tables_are_located() {
    let example = attached_example();
    let target = target("sm_80");
    let refused = |change: &dyn Fn(&mut Vec<u8>)| {
        let mut bytes = OPTIMIZED.to_vec();
        change(&mut bytes);
        attach(&bytes, &target, &example.written.sections[..1]).unwrap_err()
    };
    let error = refused(&|bytes| bytes.truncate(0x900));
    assert!(error.to_string().contains("program headers"), "{error}");
    // The symbol table's `sh_link` is not a string table.
    let table = u64::from_le_bytes(OPTIMIZED[40..48].try_into().expect("8 bytes")) as usize;
    let symtab = table + 3 * 64;
    let module = &example.written.sections;
    let mut bytes = OPTIMIZED.to_vec();
    bytes[symtab + 40] = 9;
    let error = attach_with(&bytes, &target, module, &replacing()).unwrap_err();
    assert_eq!(error.at().section.as_deref(), Some(".symtab"), "{error}");
    // A symbol that is gone: the error names it, and the section and offset of the reference.
    for at in 0..OPTIMIZED.len() - 6 {
        if &OPTIMIZED[at..at + 6] == b"norms\0" {
            bytes[at] = b'm';
        }
    }
    bytes[symtab + 40] = OPTIMIZED[symtab + 40];
    assert_ne!(bytes, OPTIMIZED);
    let error = attach_with(&bytes, &target, module, &replacing()).unwrap_err();
    assert!(error.to_string().contains("norms"), "{error}");
    let reference = module.iter().find(|section| error.at().section.as_deref() == Some(section.name));
    let offsets = reference.expect("a section").relocations.iter().map(|it| it.offset);
    assert!(offsets.into_iter().any(|offset| error.at().offset == Some(offset)), "{error}");
}

/// Contents of all code sections. A damaged header can mark a debug section as code, and name a section by a part of another
/// name, which moves.
fn code(object: &Object<'_>) -> Vec<Vec<u8>> {
    let code =
        object.sections().iter().filter(|section| section.is_code() && !section.name.contains("debug"));
    code.map(|section| section.data.to_vec()).collect()
}

impl Attached {
    fn check_any(&self, bytes: &[u8]) -> Option<CheckReport> {
        check(&self.module, &Consumer::cuda_gdb_sass(), &self.written.omissions, bytes).ok()
    }
}

/// Damages a file in up to three places.
pub fn damage(bytes: &mut Vec<u8>, random: &mut Random) {
    for _ in 0..=random.below(3) {
        match random.below(8) {
            0 => bytes.truncate(random.below(bytes.len() + 1)),
            // Headers and tables take a small part of the file.
            1..=4 if bytes.len() > 64 => {
                let table = u64::from_le_bytes(bytes[40..48].try_into().expect("8 bytes")) as usize;
                let at = if random.below(4) == 0 {
                    random.below(64)
                } else {
                    table.saturating_add(random.below(1600))
                };
                if let Some(byte) = bytes.get_mut(at) {
                    *byte = random.below(256) as u8;
                }
            }
            _ if !bytes.is_empty() => {
                let at = random.below(bytes.len());
                bytes[at] ^= 1 << random.below(8);
            }
            _ => {}
        }
    }
}
