//! Committed objects of GPU compilers: rewritten for the same consumer, and for others.

use std::path::Path;

use eitri::Consumer;
use eitri::lint::{LintCode, LintFinding, LintOptions, lint};
use eitri::omission::Reason;
use eitri::rewrite::RewrittenExpressions;
use eitri::stats::{StatsOptions, stats};

use super::{keeps_facts, objects, rewritten};

/// Each object keeps its entries, rows and frames, its loaded bytes, and its bytes in a second rewrite.
#[test]
fn facts_of_committed_objects_are_kept() {
    let mut count = 0;
    let mut sizes = [0, 0];
    for file in objects() {
        let bytes = std::fs::read(&file).expect("a file");
        let rewritten = keeps_facts(&file.display().to_string(), &bytes);
        for section in &rewritten.sizes {
            sizes[0] += section.before;
            sizes[1] += section.after;
        }
        count += 1;
    }
    assert!(count > 80, "{count} objects");
    // Without options, debug information does not become larger.
    assert!(sizes[1] <= sizes[0], "{sizes:?}");
}

/// A consumer of AMD's older debuggers reads locations on the stack, too: nothing is omitted. The operations are those
/// with one byte: AMD's LLVM guide, "DWARF Operation Encodings", of the older extension.
#[test]
fn amd_objects_are_rewritten_for_older_debuggers() {
    let mut count = 0;
    for file in objects().into_iter().filter(|file| file.parent().is_some_and(|at| at.ends_with("amd"))) {
        let name = file.display().to_string();
        let bytes = std::fs::read(&file).expect("a file");
        let legacy = rewritten(&bytes, |options| options.consumer = Consumer::named("rocgdb-legacy").ok());
        let legacy = legacy.unwrap_or_else(|error| panic!("{name}: {error}"));
        // The older debuggers have no attribute for memory spaces.
        let inexpressible: Vec<_> = legacy
            .omissions
            .iter()
            .filter(|omission| matches!(omission.reason, Reason::Inexpressible(_)))
            .map(ToString::to_string)
            .collect();
        assert!(inexpressible.is_empty(), "{name}: {inexpressible:#?}");
        // Back again, the operations are those of the original.
        let back = rewritten(&legacy.object, |options| options.consumer = Consumer::named("llvm").ok());
        let back = back.unwrap_or_else(|error| panic!("{name}, back: {error}"));
        assert!(back.omissions.is_empty() && back.unimported.is_empty(), "{name}: {:#?}", back.omissions);
        // Readers without an option find the same in both objects.
        assert_eq!(findings(&legacy.object), findings(&back.object), "{name}");
        assert_eq!(coverage(&legacy.object), coverage(&back.object), "{name}");
        count += 1;
    }
    assert!(count > 5, "{count} objects");
}

/// Variables and parameters with the findings of `lint` about their locations.
fn findings(object: &[u8]) -> Vec<String> {
    let report = lint(object, &LintOptions::default()).expect("it is read");
    let mut found: Vec<_> = report
        .findings
        .iter()
        // The dialects differ in which numbers of attributes have two meanings.
        .filter(|finding| finding.code != LintCode::AmbiguousAttribute)
        .map(|LintFinding { code, function, variable, pcs, .. }| {
            format!("{code:?} {function:?} {variable:?} {pcs:?}")
        })
        .collect();
    found.sort();
    found
}

/// Coverage of an object's variables.
fn coverage(object: &[u8]) -> String {
    let statistics = stats(object, &StatsOptions::default()).expect("it is read");
    format!("{:?} {:?} {:?}", statistics.variables, statistics.params, statistics.locals)
}

/// Readers of the standard get what the standard expresses: a rewrite for them omits locations with a reason, and what it
/// writes is compared with the description before it is returned.
#[test]
fn objects_are_rewritten_for_the_standard() {
    for name in ["dwarf5", "dwarf4", "llvm", "rocgdb"] {
        for file in objects() {
            let bytes = std::fs::read(&file).expect("a file");
            let other = rewritten(&bytes, |options| options.consumer = Consumer::named(name).ok());
            let other = other.unwrap_or_else(|error| panic!("{}, {name}: {error}", file.display()));
            assert!(other.consumer.version == if name == "dwarf4" { 4 } else { 5 });
            // LLVM's tools and AMD's debugger read all operations of LLVM's objects.
            let is_same = name == "llvm" || name == "rocgdb";
            assert!(!is_same || other.omissions.is_empty(), "{}: {:#?}", file.display(), other.omissions);
        }
    }
}

/// Typed expressions say the same in the consumer's operations.
#[test]
fn typed_expressions_are_written_again() {
    let file = Path::new(crate::common::ROOT).join("tests/objects/amd/k04_diverge.gfx1030.O2.hsaco");
    let bytes = std::fs::read(file).expect("a file");
    let typed = rewritten(&bytes, |options| options.expressions = RewrittenExpressions::Typed);
    let typed = typed.expect("it is rewritten");
    assert!(typed.omissions.is_empty(), "{:#?}", typed.omissions);
}
