//! The page of the command, and the evidence of findings.

use std::fmt::Write;
use std::path::Path;

use eitri::lint::{LintCode, LintOptions, lint};

use super::common::{check_golden, check_page};

#[test]
fn the_page_has_every_code() {
    let mut list = String::new();
    for code in LintCode::ALL {
        let _ = writeln!(list, "{:23} {:8} {}", code.name(), code.level().name(), code.page().title);
        assert_eq!(LintCode::named(code.name()), Some(*code));
        assert!(code.name().len() <= 23, "the column has 23 characters: {}", code.name());
        let page = code.page();
        for text in [page.title, page.why, page.example, page.instead, page.text] {
            assert!(!text.is_empty(), "{}", code.name());
        }
    }
    check_page("docs/lint.md", &[("<!-- codes -->", list)]);
}

/// Findings of the smallest object of each producer, with their evidence.
#[test]
fn findings_have_their_evidence() {
    for object in [
        "llvm19/k01_saxpy.gfx1030.O2.hsaco",
        "llvm19/k01_saxpy.gfx900.O0.hsaco",
        "llvm22/k01_saxpy.gfx1030.O2.hsaco",
        "triton/scan_limit.gfx1100.hsaco",
        "triton/scan_limit.sm_90.cubin",
    ] {
        let bytes = std::fs::read(Path::new(crate::common::ROOT).join("tests/objects").join(object));
        let report = lint(&bytes.expect("an object"), &LintOptions::default()).expect("it is read");
        let mut text = String::new();
        for finding in &report.findings {
            let _ = writeln!(
                text,
                "{} {} {}+{:#x}",
                finding.level.name(),
                finding.code.name(),
                finding.section,
                finding.offset
            );
            let _ = writeln!(
                text,
                "  {:?} {:?} {:?} {:?} {:x?}",
                finding.unit, finding.function, finding.variable, finding.declared, finding.pcs
            );
            if let Some(expression) = &finding.expression {
                let _ =
                    writeln!(text, "  {} / {}", expression.text, &expression.text[expression.fault.clone()]);
            }
            let _ = writeln!(text, "  written: {}", finding.written);
            let _ = writeln!(text, "  meant: {:?}", finding.meant.as_deref());
            for evidence in &finding.evidence {
                let _ = writeln!(text, "  {evidence}");
            }
        }
        check_golden(&format!("lint/{}.txt", object.replace('/', "-")), &text);
    }
}
