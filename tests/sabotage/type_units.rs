//! Faults in type units.

use eitri::build::Builder;
use eitri::check::FindingKind::{self, Extra, Type};
use eitri::emit::Section;
use eitri::lower::Consumer;
use eitri::model::{BaseEncoding, Language, Module, SourceLine};
use eitri::target::Target;

use crate::sabotage::{Expected, all_found, missed, object, sections};

/// Two types in a namespace, and a variable of one type, which contains the other.
pub fn module(change: fn(&mut Contents)) -> Module {
    let mut contents =
        Contents { offset: 4, line: 3, namespace: "ns", language: Language::CPP14, name: "a", more: false };
    change(&mut contents);
    let mut m = Builder::new(Target::x86_64());
    let unit = m.unit("a.cpp");
    m.describe_unit(unit).unwrap().language(contents.language);
    let file = m.primary_file(unit).unwrap();
    let int = m.base_type(unit, "int", BaseEncoding::Signed, 32).unwrap();
    let ns = m.namespace(unit, contents.namespace).unwrap();
    let pair = m.structure(unit, Some("pair"), 8).unwrap();
    m.describe_type(pair).unwrap().declared(SourceLine::new(file, contents.line)).within(ns).unwrap();
    m.member(pair, contents.name, int, 0).unwrap().member(pair, "b", int, contents.offset).unwrap();
    let node = m.structure(unit, Some("node"), 16).unwrap();
    let to_node = m.pointer(unit, Some(node)).unwrap();
    m.member(node, "next", to_node, 0).unwrap().member(node, "pair", pair, 8).unwrap();
    m.variable(unit, "list", node).unwrap();
    if contents.more {
        m.structure(unit, Some("more"), 4).unwrap();
    }
    m.finish().unwrap()
}

/// Contents of the module that faults change.
pub struct Contents {
    offset: u64,
    line: u32,
    namespace: &'static str,
    language: Language,
    name: &'static str,
    more: bool,
}

pub fn consumers() -> [Consumer; 2] {
    [4, 5].map(|version| {
        let mut consumer = Consumer::dwarf5();
        (consumer.version, consumer.has_type_units) = (version, true);
        consumer
    })
}

/// Type units of a changed module, with the signatures and the order of the original one.
fn with_types_of(consumer: &Consumer, change: fn(&mut Contents)) -> Vec<Section> {
    let truth = sections(&module(|_| ()), consumer);
    let mut sections = sections(&module(change), consumer);
    let signatures: Vec<u64> = truth.iter().filter_map(|section| section.group).collect();
    let others: Vec<u64> = sections.iter().filter_map(|section| section.group).collect();
    assert_eq!(signatures.len(), others.len());
    for section in &mut sections {
        for (from, to) in others.iter().zip(&signatures) {
            if section.group == Some(*from) {
                section.group = Some(*to);
            }
            let at = section.bytes.windows(8).position(|bytes| bytes == from.to_le_bytes());
            if let Some(at) = at {
                section.bytes[at..at + 8].copy_from_slice(&to.to_le_bytes());
            }
        }
    }
    sections
}

/// The type units, in order: `pair`, `node`.
fn units(sections: &mut [Section]) -> Vec<&mut Section> {
    sections.iter_mut().filter(|section| section.group.is_some()).collect()
}

/// Offset of the signature, after length, version, kind, size of addresses and offset of abbreviations.
fn header(consumer: &Consumer) -> usize {
    if consumer.version == 4 { 11 } else { 12 }
}

type Fault = (&'static str, FindingKind, fn(&Consumer) -> Vec<Section>);

#[rustfmt::skip] // A table.
const FAULTS: &[Fault] = &[
    ("two signatures are swapped", Type, |consumer| {
        let mut sections = sections(&module(|_| ()), consumer);
        let at = header(consumer);
        if let [one, other] = &mut units(&mut sections)[..] {
            one.bytes[at..at + 8].swap_with_slice(&mut other.bytes[at..at + 8]);
            core::mem::swap(&mut one.group, &mut other.group);
        }
        sections
    }),
    ("a reference to a signature of nothing", Type, |consumer| {
        let mut sections = sections(&module(|_| ()), consumer);
        let signature = units(&mut sections)[1].group.unwrap().to_le_bytes();
        let info = sections.iter_mut().find(|section| section.name == ".debug_info").unwrap();
        let at = info.bytes.windows(8).position(|bytes| bytes == signature).unwrap();
        info.bytes[at] ^= 1;
        sections
    }),
    ("another entry is the type's", Type, |consumer| {
        let mut sections = sections(&module(|_| ()), consumer);
        let at = header(consumer) + 8;
        // The offset then refers to the namespace, or to a copied type.
        for unit in units(&mut sections) {
            unit.bytes[at] -= 1;
        }
        sections
    }),
    ("a member is elsewhere", Type, |consumer| with_types_of(consumer, |contents| contents.offset = 3)),
    ("a member has another name", Type, |consumer| with_types_of(consumer, |contents| contents.name = "c")),
    ("a type is declared elsewhere", Type, |consumer| with_types_of(consumer, |contents| contents.line = 4)),
    ("a type is in another namespace", Type, |consumer| with_types_of(consumer, |contents| contents.namespace = "no")),
    ("a type of another language", Type, |consumer| with_types_of(consumer, |contents| contents.language = Language::C11)),
    ("a type unit is missing", Type, |consumer| {
        let mut sections = sections(&module(|_| ()), consumer);
        let signature = units(&mut sections)[0].group;
        sections.retain(|section| section.group != signature);
        sections
    }),
    ("a type unit more", Extra, |consumer| sections(&module(|contents| contents.more = true), consumer)),
    ("a type unit twice", Extra, |consumer| {
        let mut sections = sections(&module(|_| ()), consumer);
        let mut unit = units(&mut sections)[0].clone();
        unit.group = Some(1);
        sections.push(unit);
        sections
    }),
];

#[test]
fn faults_of_type_units_are_found() {
    let truth = module(|_| ());
    for consumer in consumers() {
        let missed = FAULTS.iter().map(|&(name, kind, fault)| {
            let expected = Expected { kind, variable: None, pc: None, lane: None };
            let of_list = Expected { variable: Some("list"), ..expected };
            let sections = fault(&consumer);
            let why = missed(&truth, &consumer, &sections, &expected);
            (name, why.and_then(|_| missed(&truth, &consumer, &sections, &of_list)))
        });
        all_found(&format!("type units of DWARF {}", consumer.version), missed.collect());
    }
}

/// A type that stays in its compile unit has the same meaning, but the consumer asks for type units. The same is true
/// of several units with the same type.
#[test]
fn types_that_stayed_in_their_compile_unit_are_found() {
    for consumer in consumers() {
        let mut without = consumer.clone();
        without.has_type_units = false;
        for (truth, expected) in [
            (module(|_| ()), ["pair", "node"]),
            (module(|contents| contents.more = true), ["node", "more"]),
            (two_units(), ["node", "node"]),
        ] {
            let written = object(&truth, &sections(&truth, &without));
            let report = eitri::check(&truth, &consumer, &[], &written).expect("it can be read");
            let found = |name: &str| {
                let what = format!("type `{name}` in a unit of its own");
                report.findings.iter().filter(|one| one.kind == Type && one.expected == what).count()
            };
            for name in expected {
                let count = expected.iter().filter(|&&other| other == name).count();
                assert_eq!(found(name), count, "{name}: {report}");
            }
            let written = object(&truth, &sections(&truth, &consumer));
            let report = eitri::check(&truth, &consumer, &[], &written).expect("it can be read");
            assert!(report.is_clean(), "{report}");
        }
    }
}

/// Two units with the same type, and one with a different type of the same name in each.
fn two_units() -> Module {
    let mut m = Builder::new(Target::x86_64());
    for (name, line) in [("a.cpp", 3), ("b.cpp", 4)] {
        let unit = m.unit(name);
        let file = m.file(unit, "shared.h", None).unwrap();
        let int = m.base_type(unit, "int", BaseEncoding::Signed, 32).unwrap();
        let node = m.structure(unit, Some("node"), 8).unwrap();
        m.describe_type(node).unwrap().declared(SourceLine::new(file, 7));
        m.member(node, "a", int, 0).unwrap();
        // The line of the declaration is not part of the signature: both definitions stay in their units.
        let own = m.structure(unit, Some("own"), 8).unwrap();
        m.describe_type(own).unwrap().declared(SourceLine::new(file, line));
        m.member(own, "a", int, 0).unwrap();
        m.variable(unit, "list", node).unwrap();
        m.variable(unit, "other", own).unwrap();
    }
    m.finish().unwrap()
}

/// Type units for a consumer without them are findings.
#[test]
fn type_units_that_nobody_asked_for_are_found() {
    for mut consumer in consumers() {
        let sections = sections(&module(|_| ()), &consumer);
        consumer.has_type_units = false;
        let expected = Expected { kind: Extra, variable: None, pc: None, lane: None };
        assert_eq!(missed(&module(|_| ()), &consumer, &sections, &expected), None);
    }
}

/// The header of a type unit has the signature of its contents, and its section group has the key, also where nothing
/// refers to the type: a linker keeps another type of the same key instead.
#[test]
fn another_signature_of_an_unreferenced_type_is_found() {
    let truth = module(|contents| contents.more = true);
    for consumer in consumers() {
        let clean = sections(&truth, &consumer);
        let changed = |header_bit: u8, key: fn(u64) -> Option<u64>| {
            let mut sections = clean.clone();
            let more = units(&mut sections).pop().expect("the unit of `more`");
            more.bytes[header(&consumer)] ^= header_bit;
            more.group = more.group.and_then(key);
            object(&truth, &sections)
        };
        let mut wrong = vec![
            ("header", changed(1, Some)),
            ("key", changed(0, |key| Some(key ^ 1))),
            ("both", changed(1, |key| Some(key ^ 1))),
        ];
        // In DWARF 5, two sections of one name are in groups.
        if consumer.version == 4 {
            wrong.push(("no group", changed(0, |_| None)));
        }
        for (name, object) in wrong {
            let report = eitri::check(&truth, &consumer, &[], &object).expect("it is read");
            let found = report.findings.iter().filter(|finding| finding.kind == Type).count();
            assert!(found > 0, "DWARF {}, {name}: {report}", consumer.version);
            crate::sabotage::assert_is_words(&report);
        }
        let report = eitri::check(&truth, &consumer, &[], &changed(0, Some)).expect("it is read");
        assert!(report.is_clean(), "{report}");
    }
}

/// Nothing but the offset of the line program is in a unit without rows and files.
#[test]
fn line_program_with_the_form_of_a_constant_is_found() {
    for consumer in consumers() {
        let truth = module(|_| ());
        let written = sections(&truth, &consumer);
        let abbreviations =
            written.iter().position(|section| section.name == ".debug_abbrev").expect("abbreviations");
        let bytes = &written[abbreviations].bytes;
        for tag in [0x11, 0x41] {
            // The tag of a unit or type unit with children, and `DW_AT_stmt_list` with `DW_FORM_sec_offset`.
            let unit = bytes.windows(2).position(|bytes| bytes == [tag, 1]).expect("a unit");
            let pair =
                bytes[unit..].windows(2).position(|bytes| bytes == [0x10, 0x17]).expect("a line program");
            let mut sections = written.clone();
            // `DW_FORM_data4`, which has been a constant since DWARF 4.
            sections[abbreviations].bytes[unit + pair + 1] = 0x06;
            let object = object(&truth, &sections);
            let report = eitri::check(&truth, &consumer, &[], &object).expect("it is read");
            assert!(!report.is_clean(), "version {}, tag {tag:#x}: {report}", consumer.version);
        }
    }
}
