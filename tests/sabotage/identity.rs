//! Faults in facts by which a reader knows an entry: its tag, the code of its unit, the symbol that it refers to.

use eitri::build::{Builder, DataMember};
use eitri::check::{FindingKind, Obstacle};
use eitri::emit::elf::{ObjectCode, new_object};
use eitri::lower::{Consumer, Policy, lower};
use eitri::model::{BaseEncoding, Module, VariantValues};
use eitri::target::Target;
use gimli::{DwTag, constants as dw};

use crate::sabotage::patches::Patches;
use crate::sabotage::{assert_is_words, object, sections};

fn module(target: &str, statements: &str) -> Module {
    let text = format!(r#"{{"eitri": 1, "target": "{target}", "describe": [{statements}]}}"#);
    Module::from_json(text).unwrap_or_else(|error| panic!("{statements}: {error}"))
}

/// A consumer with a fixed abbreviation for each kind of entry, where [`Patches`] finds names.
fn consumer() -> Consumer {
    crate::sabotage::patched::fixed()
}

const CALL: &str = r#"{"unit": {"name": "a.cl"}},
    {"base_type": {"unit": "a.cl", "name": "int", "encoding": "signed", "bits": 32}},
    {"procedure": {"unit": "a.cl", "id": "p", "loc": {"register": "s4"}}},
    {"function": {"in": "a.cl", "name": "f", "code": {"symbol": "k", "bytes": 64}}},
    {"variable": {"in": "f", "name": "x", "type": "int", "live": [[0, 64, {"call": "p"}]]}}"#;

/// A debugger that evaluates a call needs only the location of the called entry, whatever its tag.
#[test]
fn another_tag_of_a_called_procedure_is_found() {
    let truth = module("amdgpu-gfx1030-wave32", CALL);
    let consumer = consumer();
    let clean = Patches { sections: sections(&truth, &consumer) };
    for tag in (1..0x4c).map(DwTag).filter(|&tag| tag != dw::DW_TAG_dwarf_procedure) {
        let mut patches = clean.clone();
        patches.retag(dw::DW_TAG_dwarf_procedure, "", tag);
        // An object that cannot be read is found, too.
        if let Ok(report) = eitri::check(&truth, &consumer, &[], &object(&truth, &patches.sections)) {
            assert!(!report.is_clean(), "{tag}: {report}");
            assert_is_words(&report);
        }
    }
}

#[test]
fn a_start_of_a_unit_that_became_its_end_is_found() {
    let function = |name: &str| {
        format!(
            r#"{{"function": {{"in": "a.cl", "name": "{name}", "code": {{"symbol": "{name}", "bytes": 64}}}}}}"#
        )
    };
    let unit = r#"{"unit": {"name": "a.cl"}}"#;
    let one = format!("{unit}, {}", function("k"));
    let two = format!("{one}, {}", function("other"));
    // Before DWARF 5, a unit with ranges also has a start, which is 0.
    for (version, statements) in [(2, &one), (3, &one), (4, &one), (5, &one), (3, &two), (4, &two)] {
        let truth = module("amdgpu-gfx1030-wave32", statements);
        let mut consumer = consumer();
        consumer.version = version;
        let clean = Patches { sections: sections(&truth, &consumer) };
        for to in [dw::DW_AT_high_pc, dw::DW_AT_entry_pc] {
            let mut patches = clean.clone();
            patches.rename(dw::DW_TAG_compile_unit, "a.cl", dw::DW_AT_low_pc, to);
            let report = eitri::check(&truth, &consumer, &[], &object(&truth, &patches.sections)).unwrap();
            assert!(!report.is_clean(), "DWARF {version}: the start as {to}: {statements}: {report}");
        }
    }
}

#[test]
fn a_symbol_in_a_template_value_that_the_object_lacks_is_found() {
    let statements = |argument: &str| {
        format!(
            r#"{{"unit": {{"name": "a.c"}}}},
            {{"base_type": {{"unit": "a.c", "name": "int", "encoding": "signed", "bits": 32}}}},
            {{"structure": {{"unit": "a.c", "name": "s", "bytes": 8}}}},
            {{"template": {{"unit": "a.c", "of": "s", "name": "N", "argument": {{"value": ["int", {argument}]}}}}}}"#
        )
    };
    let [truth, written] = [r#"{"global_symbol": "zzz"}"#, r#"{"implicit": "10000000"}"#]
        .map(|argument| module("x86_64", &statements(argument)));
    let consumer = Consumer::dwarf5();
    let code = ObjectCode::text(vec![0; 16]);
    let object = new_object(written.target(), &code, &sections(&written, &consumer)).unwrap();
    let report = eitri::check(&truth, &consumer, &[], &object).unwrap();
    assert!(report.findings.iter().any(|finding| finding.kind == FindingKind::Type), "{report}");
    assert!(report.unproven.is_empty(), "{report}");
}

/// The described offset leaves the register where the offset in the object, of which the upper bits are masked, stays in
/// it: nothing defines which of both the compiler means.
#[test]
fn a_location_where_the_description_is_out_of_bounds_is_unproven() {
    let statements = |offset: &str| {
        let place = format!(r#"{{"bit_offset_by": [{{"register": "rdx"}}, {offset}]}}"#);
        format!(
            r#"{{"unit": {{"name": "a.c"}}}},
            {{"base_type": {{"unit": "a.c", "name": "char", "encoding": "signed", "bits": 8}}}},
            {{"procedure": {{"unit": "a.c", "id": "p", "loc": {place}}}}},
            {{"function": {{"in": "a.c", "name": "f", "code": {{"symbol": "k", "bytes": 64}}}}}},
            {{"variable": {{"in": "f", "name": "x", "type": "char", "live": [[0, 64, {place}]]}}}}"#
        )
    };
    let [truth, written] = [r#"{"register": "rax"}"#, r#"{"and": [{"register": "rax"}, 63]}"#]
        .map(|offset| module("x86_64", &statements(offset)));
    let consumer = Consumer::llvm();
    let code = ObjectCode::text(vec![0; 64]).with_function("k", 0, 64);
    let check = |truth: &Module, written: &Module| {
        let written = lower(written, &consumer, Policy::Strict).unwrap();
        let object = new_object(truth.target(), &code, &written.sections).unwrap();
        eitri::check(truth, &consumer, &[], &object).unwrap()
    };
    for same in [&truth, &written] {
        let report = check(same, same);
        assert!(report.is_clean() && report.unproven.is_empty(), "{report}");
    }
    let report = check(&truth, &written);
    let unproven: Vec<_> = report.unproven.iter().map(|one| (one.variable.is_some(), one.why)).collect();
    assert_eq!(unproven, [(true, Obstacle::Undescribed), (false, Obstacle::Undescribed)], "{report}");
    // A constant offset is within the register, but not where the described offset is within it, too.
    let constant = module("x86_64", &statements("0"));
    let report = check(&truth, &constant);
    assert!(report.findings.iter().any(|finding| finding.kind == FindingKind::Location), "{report}");
}

/// The same in each other kind of expression: an argument's value, a rule of a frame, a mask of lanes.
#[test]
fn expressions_where_the_description_is_out_of_bounds_are_unproven() {
    let cpu = |rest: &str| {
        format!(
            r#"{{"unit": {{"name": "a.c"}}}},
            {{"function": {{"in": "a.c", "name": "f", "code": {{"symbol": "k", "bytes": 64}}}}}}, {rest}"#
        )
    };
    let shifted = |offset: &str| format!(r#"{{"bit_offset_by": [{{"register": "rdx"}}, {offset}]}}"#);
    let argument = |offset: &str| {
        cpu(&format!(
            r#"{{"call": {{"in": "f", "id": "c", "returns_to": 20, "target": {{"register": "rbx"}}}}}},
            {{"argument": {{"call": "c", "location": {{"register": "rdi"}},
                "value": {{"read": [{}, 8]}}}}}}"#,
            shifted(offset)
        ))
    };
    // The saved register and the mask are as large as their registers, which only the offset 0 does not leave.
    let rule = |offset: &str| {
        let saved = shifted(offset);
        cpu(&format!(
            r#"{{"frame": {{"function": "f", "rules": [
                [0, 64, "cfa", {{"memory": ["default", {{"plus": [{{"register": "rsp"}}, 8]}}]}}],
                [0, 64, "rip", {{"offset": ["cfa", -8]}}], [0, 64, "rbx", {saved}]]}}}}"#
        ))
    };
    let mask = |offset: &str| {
        format!(
            r#"{{"unit": {{"name": "a.cl"}}}},
            {{"function": {{"in": "a.cl", "name": "f", "code": {{"symbol": "k", "bytes": 64}}}}}},
            {{"lanes": {{"in": "f"}}}},
            {{"region": {{"in": "f", "kind": "then", "pcs": [16, 32], "waits_at": 12, "masks": [
                [16, 32, {{"bit_offset_by": [{{"register": "s4"}}, {offset}]}}]]}}}}"#
        )
    };
    let gpu = "amdgpu-gfx1030-wave32";
    type Statements<'s> = &'s dyn Fn(&str) -> String;
    let cases: [(&str, Statements<'_>, &str, &str, Option<&str>); 3] = [
        ("x86_64", &argument, r#"{"register": "rax"}"#, r#"{"and": [{"register": "rax"}, 63]}"#, Some("0")),
        ("x86_64", &rule, r#"{"register": "rax"}"#, r#"{"and": [{"register": "rax"}, 256]}"#, None),
        (gpu, &mask, r#"{"register": "s6"}"#, r#"{"and": [{"register": "s6"}, 256]}"#, None),
    ];
    let consumer = Consumer::llvm();
    let code = ObjectCode::text(vec![0; 64]).with_function("k", 0, 64);
    let check = |truth: &Module, written: &Module| {
        let written = lower(written, &consumer, Policy::Strict).unwrap();
        let object = new_object(truth.target(), &code, &written.sections).unwrap();
        eitri::check(truth, &consumer, &[], &object).unwrap()
    };
    for (target, statements, described, masked, constant) in cases {
        let [truth, written] = [described, masked].map(|offset| module(target, &statements(offset)));
        let report = check(&truth, &truth);
        assert!(report.is_clean() && report.unproven.is_empty(), "{}: {report}", statements(described));
        let report = check(&truth, &written);
        assert!(report.is_clean(), "{}: {report}", statements(masked));
        assert!(
            report.unproven.iter().any(|unproven| unproven.why == Obstacle::Undescribed),
            "{}: {report}",
            statements(masked)
        );
        // An offset that is within the storage where the described offset is, too, is compared there.
        if let Some(constant) = constant {
            let other = module(target, &statements(constant));
            assert!(!check(&truth, &other).is_clean(), "{}", statements(constant));
        }
    }
}

/// The omitted location leaves its register at some witnesses. The register beside it is compared there, too.
#[test]
fn location_is_compared_where_an_omitted_location_is_out_of_bounds() {
    let [truth, written] = ["rdx", "rcx"].map(|register| {
        let statements = format!(
            r#"{{"unit": {{"name": "a.c"}}}},
            {{"base_type": {{"unit": "a.c", "name": "char", "encoding": "signed", "bits": 8}}}},
            {{"function": {{"in": "a.c", "name": "f", "code": {{"symbol": "k", "bytes": 64}}}}}},
            {{"variable": {{"in": "f", "name": "x", "type": "char", "live": [
                [0, 64, {{"register": "{register}"}}],
                [0, 64, {{"bit_offset_by": [{{"register": "rsi"}}, {{"register": "rax"}}]}}]]}}}}"#
        );
        module("x86_64", &statements)
    });
    let consumer = Consumer::dwarf5();
    let code = ObjectCode::text(vec![0; 64]).with_function("k", 0, 64);
    let check = |written: &Module| {
        let written = lower(written, &consumer, Policy::Partial).unwrap();
        assert_eq!(written.omissions.len(), 1, "{:?}", written.omissions);
        let object = new_object(truth.target(), &code, &written.sections).unwrap();
        eitri::check(&truth, &consumer, &written.omissions, &object).unwrap()
    };
    let report = check(&truth);
    assert!(report.is_clean() && report.unproven.is_empty(), "{report}");
    let report = check(&written);
    assert!(report.findings.iter().any(|finding| finding.kind == FindingKind::Location), "{report}");
}

/// DWARF 5 section 5.7.10: `DW_AT_discr_value` is a constant, and `DW_AT_discr_list` a block.
#[test]
fn a_discriminant_value_in_the_attribute_of_a_list_is_found() {
    let mut m = Builder::new(Target::x86_64());
    let unit = m.unit("a.rs");
    let int = m.base_type(unit, "int", BaseEncoding::Signed, 32).unwrap();
    for (name, values) in [
        ("value", &[VariantValues::Single(1)][..]),
        ("list", &[VariantValues::Single(1), VariantValues::Range(3, 5)]),
    ] {
        let ty = m.structure(unit, Some(name), 4).unwrap();
        let part = m.variant_part(ty, DataMember::new("", int, 0)).unwrap();
        m.variant(part, values).unwrap();
        m.variable(unit, name, ty).unwrap();
    }
    let truth = m.finish().unwrap();
    let consumer = Consumer::dwarf5();
    let clean = sections(&truth, &consumer);
    let names = [dw::DW_AT_discr_value, dw::DW_AT_discr_list].map(|name| name.0 as u8);
    let abbrev = clean.iter().position(|section| section.name == ".debug_abbrev").unwrap();
    let mut count = 0;
    for (at, bytes) in clean[abbrev].bytes.windows(3).enumerate() {
        let [tag, _, name] = [bytes[0], bytes[1], bytes[2]];
        if tag != dw::DW_TAG_variant.0 as u8 || !names.contains(&name) {
            continue;
        }
        let mut sections = clean.clone();
        sections[abbrev].bytes[at + 2] = names[usize::from(name == names[0])];
        let report = eitri::check(&truth, &consumer, &[], &object(&truth, &sections)).unwrap();
        assert!(!report.is_clean(), "{report}");
        assert_is_words(&report);
        count += 1;
    }
    assert_eq!(count, 2);
}

/// A variable without bits has an address, which a debugger prints: its expression is not evaluated, but has to be one.
#[test]
fn an_unknown_operation_in_the_location_of_an_empty_variable_is_found() {
    let statements = r#"{"unit": {"name": "a.cl"}},
        {"structure": {"unit": "a.cl", "name": "s", "bytes": 0}},
        {"function": {"in": "a.cl", "name": "f", "code": {"symbol": "k", "bytes": 64}}},
        {"variable": {"in": "f", "name": "x", "type": "s", "always": {"memory": [3, 64]}}},
        {"variable": {"in": "f", "name": "y", "type": "s", "live": [[0, 32, {"memory": [3, 64]}]]}}"#;
    let truth = module("amdgpu-gfx1030-wave32", statements);
    for version in [2, 3, 4, 5] {
        let mut consumer = consumer();
        consumer.version = version;
        let clean = sections(&truth, &consumer);
        let report = eitri::check(&truth, &consumer, &[], &object(&truth, &clean)).unwrap();
        assert!(report.is_clean(), "{report}");
        // constu 64, and lit3.
        let location = [0x10, 0x40, 0x33];
        let mut count = 0;
        for (index, section) in clean.iter().enumerate() {
            let windows = section.bytes.windows(location.len()).enumerate();
            for (at, _) in windows.filter(|window| window.1 == location) {
                let mut sections = clean.clone();
                sections[index].bytes[at] = 0x01;
                let report = eitri::check(&truth, &consumer, &[], &object(&truth, &sections)).unwrap();
                assert!(
                    report.findings.iter().any(|finding| finding.kind == FindingKind::Evaluation),
                    "{report}"
                );
                assert_is_words(&report);
                count += 1;
            }
        }
        assert_eq!(count, 2, "DWARF {version}");
    }
}
