//! Numbers of fields with relocations: every command takes the relocated ones.

use std::collections::BTreeSet;
use std::path::Path;

use eitri::lint::{LintCode, LintOptions, lint};
use eitri::read::{Dwarf, Object};
use eitri::report::{ReportOptions, report};
use eitri::{dump, stats};

use super::fields::with_fields;
use crate::common::page::data;

/// `dump`, `stats` and `lint` find the same facts whatever a field contains whose relocation has an addend, and
/// `lint` states that once. ELF, Relocation: the addend of a `Rela` entry is that of the entry.
#[test]
fn stored_numbers_are_not_read() {
    for (file, is_clean) in [
        ("tests/objects/triton/scan_limit.sm_90.cubin", false),
        ("tests/objects/triton/add.sm_90.cubin", false),
        ("tests/objects/llvm19/k02_reduce.gfx1030.O2.o", true),
        ("tests/objects/llvm19/k21_pointers.gfx1100.O1.o", true),
    ] {
        let object = std::fs::read(Path::new(crate::common::ROOT).join(file)).expect("an object");
        let findings = |bytes: &[u8]| {
            let all = lint(bytes, &LintOptions::default()).expect("it is read").findings;
            let (stale, others): (Vec<_>, Vec<_>) =
                all.into_iter().partition(|one| one.code == LintCode::StaleField);
            (stale, others)
        };
        let facts = |bytes: &[u8]| {
            (
                dump::print(bytes, None).expect("it is read"),
                stats::stats(bytes, &stats::StatsOptions::default()).expect("it is read"),
                findings(bytes).1,
            )
        };
        let (zero, count) = with_fields(&object, |_| 0);
        assert!(count > 3, "{file}");
        let expected = facts(&zero);
        assert_eq!(findings(&zero).0, [], "{file}");
        assert_eq!(findings(&object).0.len(), usize::from(!is_clean), "{file}");
        for bytes in [&object, &with_fields(&object, |_| 0x1111_1111_1111_1111).0] {
            assert_eq!(facts(bytes), expected, "{file}");
        }
        let [stale] = &findings(&with_fields(&object, |_| 0x1111_1111_1111_1111).0).0[..] else {
            panic!("{file}")
        };
        let expected = format!("{count} fields with another number than the addend");
        assert_eq!(stale.evidence, [expected], "{file}");
        // A page has the findings, which are equal where all fields are stale. `eval` takes the variables at the pc.
        let [first, second] =
            [0x1111_1111_1111_1111, 0x2222_2222_2222_2222].map(|number| with_fields(&object, |_| number).0);
        let page = |bytes: &[u8]| {
            let page = report(bytes, &ReportOptions::default()).expect("it is read");
            // The finding about stale fields quotes a stored number.
            String::from_utf8_lossy(&data(&page))
                .replace("0x22222222", "0x11111111")
                .replace("22222222", "11111111")
        };
        assert!(page(&first) == page(&second), "{file}");
        let expected = variables(&zero);
        assert!(!expected.is_empty(), "{file}");
        for bytes in [&object, &first, &second] {
            assert_eq!(variables(bytes), expected, "{file}");
        }
    }
}

/// Each variable with its location, at the pc of each row of the line tables.
fn variables(bytes: &[u8]) -> Vec<String> {
    let object = Object::read(bytes).expect("an object");
    let dwarf = Dwarf::read(&object).expect("debug information");
    let mut pcs = BTreeSet::new();
    for unit in dwarf.units() {
        let program = dwarf.lines(unit).expect("readable").expect("a line program");
        pcs.extend(program.rows().map(|row| row.expect("a row").address));
    }
    let mut texts = Vec::new();
    for pc in pcs {
        for variable in dwarf.variables_at(pc).variables {
            texts.push(format!("{pc:#x} {:?} {:?}", variable.name(), variable.location));
        }
    }
    texts
}
