//! Faults in headers of line programs.

use eitri::build::Builder;
use eitri::lower::Consumer;
use eitri::model::{LineTableRow, Module};
use eitri::target::Target;

use crate::sabotage::patches::Patches;
use crate::sabotage::{object, sections};

/// Two files without directories of their own; one has a row.
fn module() -> Module {
    let mut m = Builder::new(Target::x86_64());
    let unit = m.unit("a.c");
    m.describe_unit(unit).unwrap().directory("/src");
    let file = m.primary_file(unit).unwrap();
    m.file(unit, "b.h", None).unwrap();
    let k = m.function(unit, "k").unwrap().code("k", 0x40).id();
    m.row(k, LineTableRow::new(0, file, 3)).unwrap();
    m.finish().unwrap()
}

const LINE: &str = ".debug_line";

/// Position of a byte after the name of a file: the directory; before DWARF 5 followed by time and size.
fn behind(p: &mut Patches, name: &str, by: usize) -> usize {
    p.once(LINE, format!("{name}\0").as_bytes()) + name.len() + 1 + by
}

#[test]
fn bad_headers_of_line_programs_are_found() {
    let truth = module();
    let mut missed = Vec::new();
    for version in 2..=5 {
        let mut consumer = Consumer::dwarf5();
        consumer.version = version;
        let clean = Patches { sections: sections(&truth, &consumer) };
        let mut is_clean = |what: String, change: &dyn Fn(&mut Patches)| {
            let mut patches = clean.clone();
            change(&mut patches);
            let report = eitri::check(&truth, &consumer, &[], &object(&truth, &patches.sections));
            if report.is_ok_and(|report| report.is_clean()) {
                missed.push(format!("DWARF {version}: {what}"));
            }
        };
        for name in ["a.c", "b.h"] {
            for directory in [1, 98] {
                is_clean(format!("{name} in directory {directory} of none"), &|p| {
                    let at = behind(p, name, 0);
                    p.bytes(LINE)[at] = directory;
                });
            }
            for (by, what) in [(1, "a time"), (2, "a size")].into_iter().filter(|_| version < 5) {
                is_clean(format!("{what} of {name}"), &|p| {
                    let at = behind(p, name, by);
                    p.bytes(LINE)[at] = 7;
                });
            }
        }
        is_clean("a name of a file without rows".into(), &|p| {
            let at = p.once(LINE, b"b.h\0");
            p.bytes(LINE)[at] = b'c';
        });
        for bytes in [1, 2, 4].into_iter().filter(|_| version == 5) {
            is_clean(format!("addresses of {bytes} bytes"), &|p| p.bytes(LINE)[6] = bytes);
        }
        for other in (2..5).filter(|&other| other != version && version < 5 && (other == 4) == (version == 4))
        {
            is_clean(format!("version {other}"), &|p| p.bytes(LINE)[4] = other as u8);
        }
    }
    assert!(missed.is_empty(), "bad, and clean: {}", missed.join(", "));
}
