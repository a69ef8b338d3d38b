//! Checks that the output is well-formed, with `llvm-dwarfdump --verify`.

use eitri::lower::Consumer;

use super::DWARFDUMP;
use super::common::Folder;
use super::described::{Known, MACHINES, Machine, Options, Place, described, object};
use super::link::link;

/// Verifies the object, unlinked and linked.
fn is_clean(options: Options, consumer: &Consumer) {
    let folder = Folder::new();
    let path = folder.file("object.o", object(options, consumer).0);
    let linked = link(&folder, options.machine, &[&path]);
    for path in [Some(path), linked].into_iter().flatten() {
        let Some(ran) = DWARFDUMP.run(&["--verify".as_ref(), path.as_os_str()]) else { return };
        let output = ran.clean();
        assert!(output.contains("No errors.") && !output.contains("warning"), "{output}");
    }
}

#[test]
fn plain_dwarf_is_well_formed() {
    for machine in MACHINES {
        is_clean(
            Options { places: |place| place.known != Known::None, ..Options::new(machine) },
            &Consumer::dwarf5(),
        );
    }
}

#[test]
fn llvm_verifies_modules_without_vendor_operations() {
    for machine in MACHINES {
        is_clean(
            Options { places: |place| place.known == Known::Both, ..Options::new(machine) },
            &Consumer::llvm(),
        );
    }
}

#[test]
fn operations_that_llvm_does_not_know_are_all_that_it_complains_of() {
    let plain: fn(&Place) -> bool = |place| place.plain.is_some() && place.known == Known::None;
    let vendors: fn(&Place) -> bool = |place| place.known != Known::Both;
    for machine in MACHINES {
        complains_of(machine, &Consumer::dwarf5(), plain);
        complains_of(machine, &Consumer::llvm(), vendors);
    }
}

/// Checks that exactly these locations cause complaints.
fn complains_of(machine: Machine, consumer: &Consumer, unknown: fn(&Place) -> bool) {
    let folder = Folder::new();
    let path = folder.file("object.o", object(Options::new(machine), consumer).0);
    let report = folder.path().join("report.json");
    let json = format!("--verify-json={}", report.display());
    let Some(ran) = DWARFDUMP.run(&["--verify".as_ref(), json.as_ref(), path.as_os_str()]) else { return };

    let variables = described(machine);
    let expected = variables
        .iter()
        .flat_map(|variable| variable.places.iter().filter(|place| unknown(place)).map(|_| variable.name));
    let expected: Vec<&str> = expected.collect();
    // Each error is followed by its entry.
    let about = ran.out.split("error: DIE contains invalid DWARF expression").skip(1).filter_map(|error| {
        let (_, name) = error.split_once(" = \"")?;
        Some(name.split_once('"')?.0)
    });
    assert_eq!(about.collect::<Vec<_>>(), expected, "{ran}");

    let counts: String = std::fs::read_to_string(&report).expect("the report").split_whitespace().collect();
    let count = expected.len();
    let only = format!(
        r#"{{"error-categories":{{"InvalidDWARFexpressions":{{"count":{count}}}}},"error-count":{count}}}"#
    );
    assert_eq!(counts, only);
}
