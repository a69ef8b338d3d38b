//! Faults in lookup tables, and in macros.

use eitri::build::Builder;
use eitri::check::FindingKind::{self, Macro, Table, Unreadable};
use eitri::consumer::{Consumer, Tables};
use eitri::emit::RelocationTarget;
use eitri::model::{BaseEncoding, LineTableRow, Loc, Module, SourceLine};
use eitri::target::Target;
use gimli::constants as dw;

use crate::sabotage::bits::all_bits_matter;
use crate::sabotage::patched::all_relocations_matter;
use crate::sabotage::patches::Patches;
use crate::sabotage::{Expected, all_found, missed, object, sections};

/// Two units with a name of each kind, code, and the given macros.
fn module(macros: Macros) -> Module {
    let mut m = Builder::new(Target::x86_64());
    let unit = m.unit("a.cc");
    let file = m.primary_file(unit).unwrap();
    let header = m.file(unit, "a.h", Some("include")).unwrap();
    let int = m.base_type(unit, "int", BaseEncoding::Signed, 32).unwrap();
    let class = m.class(unit, Some("Box"), 4).unwrap();
    m.member(class, "m", int, 0).unwrap();
    let namespace = m.namespace(unit, "ns").unwrap();
    m.describe_type(class).unwrap().within(namespace).unwrap();
    let inner = m.typedef(unit, "inner", Some(int)).unwrap();
    m.describe_type(inner).unwrap().within(class).unwrap();
    let data = m.symbol("data");
    let count = m.static_member(class, "count", int).unwrap().external().id();
    m.definition(unit, count).unwrap().always(Loc::global_symbol(data)).unwrap();
    let hidden = m.anonymous_namespace(unit).unwrap();
    m.variable(hidden, "own", int).unwrap().always(Loc::global_symbol(data)).unwrap();
    m.variable(namespace, "seen", int).unwrap().external().always(Loc::global_symbol(data)).unwrap();
    m.constant(unit, "limit", int, &[7, 0, 0, 0]).unwrap();
    let callee = m.function(namespace, "in").unwrap().linkage_name("_ZN2ns2inEv").id();
    let k = m.function(namespace, "k").unwrap().code("k", 0x40).linkage_name("_ZN2ns1kEv").external().id();
    let call = SourceLine::new(file, 9).column(4);
    m.inlined(k, callee, &[8..0xc], call).unwrap();
    m.variable(k, "i", int).unwrap().always(Loc::global_symbol(data)).unwrap();
    m.variable(k, "j", int).unwrap();
    m.row(k, LineTableRow::new(0, file, 3)).unwrap();
    let other = m.unit("b.cc");
    let second = m.primary_file(other).unwrap();
    let int = m.base_type(other, "int", BaseEncoding::Signed, 32).unwrap();
    m.function(other, "other").unwrap().code("other", 0x40).external().returns(int).unwrap();

    let Macros { line, text, undefined, included, order, is_there, second_line } = macros;
    if is_there {
        let mut all = m.macros(unit).unwrap();
        all.define(0, "__cplusplus 202002L").unwrap().file(0, file).unwrap();
        let included = if included { header } else { file };
        all.file(1, included).unwrap().define(line, text).unwrap().end_file().unwrap();
        if order {
            all.undefine(4, undefined).unwrap().define(5, "B").unwrap()
        } else {
            all.define(5, "B").unwrap().undefine(4, undefined).unwrap()
        };
        all.end_file().unwrap();
    }
    m.macros(other).unwrap().file(0, second).unwrap().define(second_line, "C c").unwrap().end_file().unwrap();
    m.finish().unwrap()
}

/// Macros of the module.
#[derive(Clone, Copy)]
struct Macros {
    line: u32,
    text: &'static str,
    undefined: &'static str,
    included: bool,
    order: bool,
    is_there: bool,
    second_line: u32,
}

const TRUTH: Macros = Macros {
    line: 7,
    text: "MAX(a,b) ((a) > (b) ? (a) : (b))",
    undefined: "MAX",
    included: true,
    order: true,
    is_there: true,
    second_line: 2,
};

fn consumer(version: u16) -> Consumer {
    let mut consumer = Consumer::dwarf5();
    consumer.version = version;
    consumer.tables = Tables { names: version >= 5, pubs: version < 5, aranges: true, ..Tables::default() };
    consumer.forms = vec![(dw::DW_AT_name, dw::DW_FORM_strp)];
    consumer
}

const NAMES: &str = ".debug_names";
const ADDRESSES: &str = ".debug_aranges";
const PUBLIC: &str = ".debug_pubnames";
const TYPES: &str = ".debug_pubtypes";

fn word(bytes: &[u8], at: usize) -> u32 {
    u32::from_le_bytes(bytes[at..at + 4].try_into().unwrap())
}

/// Positions of the parts of the index: DWARF 5 section 6.1.1.4.
struct Layout {
    buckets: usize,
    bucket_count: usize,
    hashes: usize,
    strings: usize,
    entries: usize,
    abbreviations: usize,
    pool: usize,
    names: usize,
}

fn layout(p: &mut Patches) -> Layout {
    let bytes = p.bytes(NAMES);
    let count = |index: usize| word(bytes, 8 + 4 * index) as usize;
    let units = count(0) + count(1);
    let bucket_count = count(3);
    let names = count(4);
    let buckets = 36 + count(6) + 4 * units;
    let hashes = buckets + 4 * bucket_count;
    let strings = hashes + 4 * names;
    let entries = hashes + 8 * names;
    let abbreviations = hashes + 12 * names;
    let pool = abbreviations + count(5);
    Layout { buckets, bucket_count, hashes, strings, entries, abbreviations, pool, names }
}

/// Number of a name, counted from 0, and position of its first entry.
fn named(p: &mut Patches, name: &str) -> (usize, usize) {
    let all = layout(p);
    let strings = p.bytes(".debug_str").clone();
    let is = |number: &usize| {
        let place = (all.strings + 4 * number) as u64;
        let relocations = &p.sections.iter().find(|section| section.name == NAMES).unwrap().relocations;
        let relocation = relocations.iter().find(|relocation| relocation.offset == place).unwrap();
        strings[relocation.addend as usize..].split(|&byte| byte == 0).next() == Some(name.as_bytes())
    };
    let number = (0..all.names).find(is).unwrap();
    (number, all.pool + word(p.bytes(NAMES), all.entries + 4 * number) as usize)
}

/// Positions of two buckets with names.
fn full_buckets(p: &mut Patches) -> [usize; 2] {
    let all = layout(p);
    let bytes = p.bytes(NAMES);
    let places = (0..all.bucket_count).map(|bucket| all.buckets + 4 * bucket);
    let mut full = places.filter(|&place| word(bytes, place) != 0);
    [full.next().unwrap(), full.next().unwrap()]
}

fn swap_words(bytes: &mut [u8], [one, other]: [usize; 2]) {
    for byte in 0..4 {
        bytes.swap(one + byte, other + byte);
    }
}

fn swap_addends(p: &mut Patches, section: &str, target: &str) {
    let is = |one: &&mut eitri::emit::Relocation| matches!(one.target, RelocationTarget::Section(name) if name == target);
    let mut all = p.section(section).relocations.iter_mut().filter(is);
    let one = all.next().unwrap();
    let other = all.next().unwrap();
    core::mem::swap(&mut one.addend, &mut other.addend);
}

/// Position of the offset of a public name.
fn public(p: &mut Patches, section: &str, name: &str) -> usize {
    p.once(section, format!("{name}\0").as_bytes()) - 4
}

type Patch = fn(&mut Patches);

// An index entry has the code of its abbreviation, its unit, its offset, and its parent's.
#[rustfmt::skip]
const OF_FIVE: &[(&str, Patch, FindingKind)] = &[
    ("a wrong hash", |p| { let at = layout(p).hashes; p.bytes(NAMES)[at] ^= 1; }, Table),
    ("a hash that is not found in its bucket", |p| { let all = layout(p); let count = all.bucket_count as u32; let at = all.hashes; let hash = word(p.bytes(NAMES), at).wrapping_add(count); p.bytes(NAMES)[at..at + 4].copy_from_slice(&hash.to_le_bytes()); }, Table),
    ("hashes swapped", |p| { let at = layout(p).hashes; swap_words(p.bytes(NAMES), [at, at + 4]); }, Table),
    ("buckets swapped", |p| { let buckets = full_buckets(p); swap_words(p.bytes(NAMES), buckets); }, Table),
    ("an empty bucket", |p| { let [at, _] = full_buckets(p); p.bytes(NAMES)[at..at + 4].fill(0); }, Table),
    ("a bucket behind all names", |p| { let [at, _] = full_buckets(p); p.bytes(NAMES)[at] = 0xff; }, Table),
    ("another string", |p| { let (one, _) = named(p, "seen"); let (other, _) = named(p, "own"); let all = layout(p); let [one, other] = [one, other].map(|number| (all.strings + 4 * number) as u64); let addend = p.section(NAMES).relocations.iter().find(|relocation| relocation.offset == other).unwrap().addend; p.section(NAMES).relocations.iter_mut().find(|relocation| relocation.offset == one).unwrap().addend = addend; }, Table),
    ("no entry", |p| { let (_, at) = named(p, "seen"); p.bytes(NAMES)[at] = 0; }, Table),
    ("a second entry missing", |p| { let (_, at) = named(p, "int"); p.bytes(NAMES)[at + 7] = 0; }, Table),
    ("another name's entries", |p| { let (one, _) = named(p, "seen"); let (other, _) = named(p, "own"); let at = layout(p).entries; swap_words(p.bytes(NAMES), [at + 4 * one, at + 4 * other]); }, Table),
    ("an entry of what has no name", |p| { let to = p.entry(dw::DW_TAG_member, "m").offset as u8; let (_, at) = named(p, "seen"); p.bytes(NAMES)[at + 2] = to; }, Table),
    ("an entry of what is in no place", |p| { let to = p.entry(dw::DW_TAG_variable, "j").offset as u8; let (_, at) = named(p, "i"); p.bytes(NAMES)[at + 2] = to; }, Table),
    ("another offset", |p| { let (_, at) = named(p, "seen"); p.bytes(NAMES)[at + 2] += 1; }, Table),
    ("another unit of an entry", |p| { let (_, at) = named(p, "other"); assert_eq!(p.bytes(NAMES)[at + 1], 1); p.bytes(NAMES)[at + 1] = 0; }, Table),
    ("a unit that is not there", |p| { let (_, at) = named(p, "other"); p.bytes(NAMES)[at + 1] = 2; }, Unreadable),
    ("another parent", |p| { let (_, at) = named(p, "seen"); p.bytes(NAMES)[at + 6] += 1; }, Table),
    ("a parent for one that has none", |p| { let (_, from) = named(p, "seen"); let (_, at) = named(p, "other"); let code = p.bytes(NAMES)[from]; p.bytes(NAMES)[at] = code; }, Table),
    ("another tag", |p| { let at = layout(p).abbreviations; p.bytes(NAMES)[at + 1] ^= 1; }, Table),
    ("units swapped", |p| swap_addends(p, NAMES, ".debug_info"), Table),
    ("one unit twice", |p| { let all = &mut p.section(NAMES).relocations; all[1].addend = all[0].addend; }, Table),
    ("rules of another producer", |p| { p.bytes(NAMES)[36] = b'l'; }, Table),
    ("no index", |p| p.sections.retain(|section| section.name != NAMES), Table),
    ("a list of macros without an end", |p| { p.bytes(".debug_macro").pop(); }, Unreadable),
];

/// Faults in tables of every version.
#[rustfmt::skip]
const OF_ALL: &[(&str, Patch, FindingKind)] = &[
    // A set has 16 bytes of header, then pairs of 8 bytes.
    ("a range too short", |p| p.bytes(ADDRESSES)[24] -= 1, Table),
    ("a range too long", |p| p.bytes(ADDRESSES)[24] += 1, Table),
    ("a range of another function", |p| p.section(ADDRESSES).relocations[1].target = RelocationTarget::Symbol("other".into()), Table),
    ("a range later", |p| p.section(ADDRESSES).relocations[1].addend += 4, Table),
    ("a range too many", |p| { p.bytes(ADDRESSES)[32] = 1; p.bytes(ADDRESSES)[0] += 16; p.bytes(ADDRESSES).splice(48..48, [0; 16]); for one in &mut p.section(ADDRESSES).relocations { if one.offset >= 48 { one.offset += 16; } } }, Table),
    ("units of ranges swapped", |p| swap_addends(p, ADDRESSES, ".debug_info"), Table),
    ("ranges of an offset that is no unit's", |p| p.section(ADDRESSES).relocations[0].addend += 1, Table),
    ("ranges without an end", |p| { let at = p.bytes(ADDRESSES).len() - 1; p.bytes(ADDRESSES)[at] = 1; }, Unreadable),
    ("no ranges", |p| p.sections.retain(|section| section.name != ADDRESSES), Table),
];

#[rustfmt::skip]
const OF_FOUR: &[(&str, Patch, FindingKind)] = &[
    ("another offset of a public name", |p| { let at = public(p, PUBLIC, "ns::k"); p.bytes(PUBLIC)[at] += 1; }, Table),
    ("public names swapped", |p| { let places = ["ns::k", "ns::seen"].map(|name| public(p, PUBLIC, name)); swap_words(p.bytes(PUBLIC), places); }, Table),
    ("another name", |p| { let at = public(p, PUBLIC, "ns::k"); p.bytes(PUBLIC)[at + 4] = b'm'; }, Table),
    ("a name without its class", |p| { let at = public(p, PUBLIC, "ns::Box::count"); p.bytes(PUBLIC)[at + 4..at + 9].copy_from_slice(b"other"); }, Table),
    ("names that end early", |p| { let at = public(p, PUBLIC, "ns::seen"); p.bytes(PUBLIC)[at..at + 4].fill(0); }, Table),
    ("types that end early", |p| { let at = public(p, TYPES, "ns::Box::inner"); p.bytes(TYPES)[at..at + 4].fill(0); }, Table),
    ("another offset of a public type", |p| { let at = public(p, TYPES, "ns::Box"); p.bytes(TYPES)[at] += 1; }, Table),
    ("units of public names swapped", |p| swap_addends(p, PUBLIC, ".debug_info"), Table),
    ("units of public types swapped", |p| swap_addends(p, TYPES, ".debug_info"), Table),
    ("names of an offset that is no unit's", |p| p.section(PUBLIC).relocations[0].addend += 1, Table),
    ("another size of a unit", |p| p.bytes(PUBLIC)[10] ^= 1, FindingKind::Attribute),
    ("no public names", |p| p.sections.retain(|section| section.name != PUBLIC), Table),
    ("no public types", |p| p.sections.retain(|section| section.name != TYPES), Table),
];

#[test]
fn faults_of_tables_are_found() {
    let truth = module(TRUTH);
    let of = |version, faults: &'static [(&'static str, Patch, FindingKind)]| {
        let truth = &truth;
        let consumer = consumer(version);
        faults.iter().map(move |&(fault, change, kind)| {
            let mut patches = Patches { sections: sections(truth, &consumer) };
            change(&mut patches);
            let expected = Expected { kind, variable: None, pc: None, lane: None };
            (fault, missed_anywhere(truth, &consumer, &patches, expected))
        })
    };
    let all = of(5, OF_FIVE).chain(of(5, OF_ALL)).chain(of(4, OF_FOUR)).chain(of(4, OF_ALL));
    all_found("tables", all.chain(of(2, OF_ALL)).chain(of(3, OF_FOUR)).collect());
}

/// Describes the fault if `check` misses it, for any variable: some findings about tables name one.
fn missed_anywhere(
    truth: &Module,
    consumer: &Consumer,
    patches: &Patches,
    fault: Expected,
) -> Option<String> {
    let mut why = None;
    for variable in [None, Some("seen"), Some("own"), Some("i"), Some("j")] {
        let expected = Expected { variable, ..fault };
        let this = missed(truth, consumer, &patches.sections, &expected)?;
        why.get_or_insert(this);
    }
    why
}

/// Tables that the consumer does not ask for are findings.
#[test]
fn tables_that_nobody_asks_for_are_found() {
    let truth = module(TRUTH);
    type Change = fn(&mut Tables);
    let changes: [(u16, Change); 4] = [
        (5, |tables| tables.names = false),
        (5, |tables| tables.aranges = false),
        (4, |tables| tables.pubs = false),
        (3, |tables| tables.aranges = false),
    ];
    for (version, change) in changes {
        let mut other = consumer(version);
        change(&mut other.tables);
        let object = object(&truth, &sections(&truth, &consumer(version)));
        let report = eitri::check(&truth, &other, &[], &object).unwrap();
        let found = report.findings.iter().filter(|finding| finding.kind == Table).count();
        assert!(found >= 1 && found == report.findings.len(), "{report}");
    }
}

#[test]
fn wrong_macros_are_found() {
    let faults: [(&str, Macros); 8] = [
        ("another line", Macros { line: 8, ..TRUTH }),
        ("another text", Macros { text: "MAX(a,b) ((a) < (b) ? (a) : (b))", ..TRUTH }),
        ("no parameters", Macros { text: "MAX", ..TRUTH }),
        ("another name", Macros { undefined: "MIN", ..TRUTH }),
        ("another file", Macros { included: false, ..TRUTH }),
        ("another order", Macros { order: false, ..TRUTH }),
        ("no macros of a unit", Macros { is_there: false, ..TRUTH }),
        ("another line in the second unit", Macros { second_line: 3, ..TRUTH }),
    ];
    let truth = module(TRUTH);
    let all = (2..=5).flat_map(|version| {
        let truth = &truth;
        let consumer = consumer(version);
        faults.map(|(fault, macros)| {
            let expected = Expected { kind: Macro, variable: None, pc: None, lane: None };
            (fault, missed(truth, &consumer, &sections(&module(macros), &consumer), &expected))
        })
    });
    all_found("macros", all.collect());

    // Units with macros where none are described, too.
    let none = module(Macros { is_there: false, ..TRUTH });
    let consumer = consumer(5);
    let expected = Expected { kind: FindingKind::Extra, variable: None, pc: None, lane: None };
    assert_eq!(missed(&none, &consumer, &sections(&truth, &consumer), &expected), None);
    // Macros of the other unit.
    let expected = Expected { kind: Macro, ..expected };
    let mut patches = Patches { sections: sections(&truth, &consumer) };
    swap_addends(&mut patches, ".debug_info", ".debug_macro");
    assert_eq!(missed(&truth, &consumer, &patches.sections, &expected), None);
}

fn is_table(section: &str) -> bool {
    [NAMES, ADDRESSES, PUBLIC, TYPES, ".debug_macro", ".debug_macinfo"].contains(&section)
}

#[test]
fn changed_table_bits_are_found() {
    let truth = module(TRUTH);
    for version in [3, 4, 5] {
        all_bits_matter(&truth, &consumer(version), |name, _| is_table(name));
        all_relocations_matter(&truth, &consumer(version), is_table);
    }
}
