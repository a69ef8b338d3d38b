//! Objects with entities that are not described.

use std::ffi::OsString;

use eitri::build::Builder;
use eitri::check::{CheckReport, FindingKind};
use eitri::emit::elf::new_object;
use eitri::lower::Consumer;
use eitri::model::{
    BaseEncoding, FileId, FunctionId, Imported, LineTableRow, Loc, Module, SourceLine, TypeId, UnitId, Val,
};
use eitri::op::Reg;
use eitri::target::{SpaceId, Target};
use gimli::constants as dw;

use crate::sabotage::patches::Patches;
use crate::sabotage::tools::{Folder, Tool};
use crate::sabotage::{assert_is_words, code, object, sections};

/// Entities of a module to which more can be added.
struct Ids {
    unit: UnitId,
    file: FileId,
    int: TypeId,
    /// A function with rows and a frame, and one without.
    k: FunctionId,
    other: FunctionId,
    /// A function that is inlined.
    callee: FunctionId,
}

type More = fn(&mut Builder, &Ids);

fn module(more: More) -> Module {
    let mut m = Builder::new(Target::named("amdgpu-gfx1030-wave32").unwrap());
    let unit = m.unit("a.cl");
    m.describe_unit(unit).unwrap().directory("/src");
    let file = m.primary_file(unit).unwrap();
    let int = m.base_type(unit, "int", BaseEncoding::Signed, 32).unwrap();
    let s4 = m.target().sgpr(4).unwrap();
    let procedure = m.procedure(unit, &Loc::register(s4)).unwrap();
    // Without calls.
    m.procedure(unit, &Loc::lane(m.target().vgpr(40).unwrap(), 3)).unwrap();
    let callee = m.function(unit, "in").unwrap().id();
    let k = m.function(unit, "k").unwrap().code("k", 0x40).kernel().id();
    let other = m.function(unit, "other").unwrap().code("other", 0x40).id();
    let call = SourceLine::new(file, 9).column(4);
    m.inlined(k, callee, &[8..0xc], call).unwrap();
    m.variable(k, "x", int).unwrap().live(0..0x40, Loc::call(procedure)).unwrap();
    m.row(k, LineTableRow::new(0, file, 3)).unwrap();
    m.frame(k).unwrap().entry_function().unwrap();
    more(&mut m, &Ids { unit, file, int, k, other, callee });
    m.finish().unwrap()
}

fn nothing(_: &mut Builder, _: &Ids) {}

/// Variables at offsets from one long number, which is encoded once, as a procedure that all of them call.
fn shared() -> Module {
    let mut m = Builder::new(Target::named("amdgpu-gfx1030-wave32").unwrap());
    let unit = m.unit("a.cl");
    let int = m.base_type(unit, "int", BaseEncoding::Signed, 32).unwrap();
    let k = m.function(unit, "k").unwrap().code("k", 0x40).id();
    let [s4, s5] = [4, 5].map(|number| m.target().sgpr(number).unwrap());
    for offset in 0..20 {
        let high = Loc::register(s5).read(32).shl(Val::constant(32));
        let base = Loc::register(s4).read(32).or(high).xor(Val::constant(0x0123_4567_89ab_cdef));
        let place = |by| Loc::memory(SpaceId::DEFAULT, base.clone().plus(0x1000).add(Val::constant(by)));
        let mut variable = m.variable(k, &format!("v{offset}"), int).unwrap();
        variable.live(0..0x20, place(8 * offset)).unwrap().live(0x20..0x40, place(8 * offset + 4)).unwrap();
    }
    m.finish().unwrap()
}

#[rustfmt::skip] // A table.
const DESCRIBED: &[(&str, More)] = &[
    ("a base type", |m, ids| { m.base_type(ids.unit, "long", BaseEncoding::Signed, 64).unwrap(); }),
    ("a base type a second time", |m, ids| { m.base_type(ids.unit, "int", BaseEncoding::Unsigned, 32).unwrap(); }),
    ("a structure", |m, ids| { m.structure(ids.unit, Some("s"), 8).unwrap(); }),
    ("a pointer", |m, ids| { m.pointer(ids.unit, Some(ids.int)).unwrap(); }),
    ("a file", |m, ids| { m.file(ids.unit, "b.h", None).unwrap(); }),
    ("a file in a directory", |m, ids| { m.file(ids.unit, "b.h", Some("include")).unwrap(); }),
    ("a procedure", |m, ids| { let v3 = m.target().vgpr(3).unwrap(); m.procedure(ids.unit, &Loc::per_lane(v3)).unwrap(); }),
    ("a function", |m, ids| { m.function(ids.unit, "more").unwrap().id(); }),
    ("a namespace", |m, ids| { m.namespace(ids.unit, "ns").unwrap(); }),
    ("a variable", |m, ids| { m.variable(ids.unit, "g", ids.int).unwrap().id(); }),
    ("a variable of a function", |m, ids| { m.variable(ids.k, "x", ids.int).unwrap().id(); }),
    ("a parameter", |m, ids| { m.parameter(ids.k, "p", ids.int).unwrap().id(); }),
    ("a constant", |m, ids| { m.constant(ids.unit, "c", ids.int, &[7, 0, 0, 0]).unwrap(); }),
    ("a label", |m, ids| { m.label(ids.k, "l").unwrap().at(4).unwrap(); }),
    ("an import", |m, ids| { let ns = m.function(ids.unit, "f").unwrap().id(); m.import(ids.unit, Imported::Function(ns)).unwrap(); }),
    ("a block", |m, ids| { m.block(ids.k, &[4..8]).unwrap(); }),
    ("an inlined call", |m, ids| { m.inlined(ids.k, ids.callee, &[0x10..0x14], SourceLine::new(ids.file, 9).column(5)).unwrap(); }),
    ("a call", |m, ids| { m.call(ids.k).unwrap().returns_to(8).unwrap(); }),
    ("a unit", |m, _| { m.unit("b.cl"); }),
    ("macros", |m, ids| { m.macros(ids.unit).unwrap().define(0, "A 1").unwrap(); }),
    ("a frame of a function without", |m, ids| { m.frame(ids.other).unwrap().entry_function().unwrap(); }),
];

type Patch = fn(&mut Patches);

/// Appends a rule of a register after the last instruction of the only frame.
fn rule(p: &mut Patches, bytes: &[u8]) {
    let frames = p.bytes(".debug_frame");
    let word = |at: usize, frames: &[u8]| u32::from_le_bytes(frames[at..at + 4].try_into().unwrap());
    let last = 4 + word(0, frames) as usize;
    let length = word(last, frames) + bytes.len() as u32;
    assert_eq!(last + 4 + length as usize, frames.len() + bytes.len());
    frames[last..last + 4].copy_from_slice(&length.to_le_bytes());
    frames.extend_from_slice(bytes);
}

/// Inserts bytes into the header of `.debug_line`, and adjusts the lengths.
fn in_header(p: &mut Patches, at: usize, bytes: &[u8]) {
    let line = p.section(".debug_line");
    line.bytes.splice(at..at, bytes.iter().copied());
    for length in [0, 8] {
        let word =
            u32::from_le_bytes(line.bytes[length..length + 4].try_into().unwrap()) + bytes.len() as u32;
        line.bytes[length..length + 4].copy_from_slice(&word.to_le_bytes());
    }
    line.relocations
        .iter_mut()
        .filter(|one| one.offset >= at as u64)
        .for_each(|one| one.offset += bytes.len() as u64);
}

const PROCEDURE: gimli::DwTag = dw::DW_TAG_dwarf_procedure;

#[rustfmt::skip] // A table.
const PATCHED: &[(&str, Patch)] = &[
    ("a rule of s34, which has not changed", |p| rule(p, &[0x08, 66])),
    ("a rule of a register that the target does not have", |p| rule(p, &[0x07, 0x7f])),
    // The only directory is `/src`: its count and its name follow the standard opcode lengths.
    ("a directory", |p| {
        let at = p.once(".debug_line", b"/src\0");
        p.bytes(".debug_line")[at - 1] += 1;
        in_header(p, at + 5, b"inc\0");
    }),
    ("a part of files", |p| {
        // Files, with a path and a directory, get a vendor-defined component of one byte.
        let format = [2, 0x01, 0x08, 0x02, 0x0f, 1];
        let at = p.once(".debug_line", &format);
        p.bytes(".debug_line")[at] = 3;
        in_header(p, at + 5, &[0xff, 0x5f, 0x0b]);
        let path = p.once(".debug_line", b"a.cl\0");
        in_header(p, path + 6, &[7]);
    }),
];

/// Tags that turn a called procedure into an undescribed entry.
const TAGS: [gimli::DwTag; 4] = [
    dw::DW_TAG_template_value_parameter,
    dw::DW_TAG_template_type_parameter,
    dw::DW_TAG_enumerator,
    dw::DW_TAG_common_block,
];

fn report(truth: &Module, consumer: &Consumer, patches: &Patches) -> CheckReport {
    eitri::check(truth, consumer, &[], &object(truth, &patches.sections)).expect("it can be read")
}

fn written(module: &Module, consumer: &Consumer) -> Patches {
    Patches { sections: sections(module, consumer) }
}

#[test]
fn extra_facts_are_found() {
    let truth = module(nothing);
    let mut consumer = Consumer::llvm();
    consumer.forms = vec![(dw::DW_AT_name, dw::DW_FORM_strp)];
    // With shared expressions, an additional procedure could be a shared one.
    consumer.expressions.shared_from_bytes = None;
    let clean = written(&truth, &consumer);
    assert!(report(&truth, &consumer, &clean).is_clean());
    let described =
        DESCRIBED.iter().map(|&(what, more)| (what.to_owned(), written(&module(more), &consumer)));
    let patched = PATCHED.iter().map(|&(what, patch)| {
        let mut patches = clean.clone();
        patch(&mut patches);
        (what.to_owned(), patches)
    });
    let all = described.chain(patched).map(|(what, patches)| (what, report(&truth, &consumer, &patches)));
    let shared = shared();
    let consumer = Consumer::llvm();
    let clean = written(&shared, &consumer);
    assert!(report(&shared, &consumer, &clean).is_clean());
    let retagged = TAGS.iter().map(|&tag| {
        let mut patches = clean.clone();
        patches.retag(PROCEDURE, "", tag);
        (format!("a procedure as {tag}"), report(&shared, &consumer, &patches))
    });
    let mut missed = Vec::new();
    for (what, report) in all.chain(retagged) {
        assert_is_words(&report);
        let is_extra = report.findings.iter().any(|finding| finding.kind == FindingKind::Extra);
        // A procedure under another tag is missing, and entries with code must be in the range of the unit.
        let left = report.clone().without(FindingKind::Extra);
        let is_all =
            left.findings.iter().all(|one| [FindingKind::Code, FindingKind::Attribute].contains(&one.kind));
        if !is_extra || !is_all {
            missed.push(format!("{what}: {report}"));
        }
    }
    assert!(missed.is_empty(), "{}", missed.join("\n\n"));
}

/// Compiled objects linked with one of eitri's: each of their units is one finding, and the frames of all their code
/// are one finding per section. Their types, files and rows are not separate findings.
#[test]
fn units_of_others_are_a_finding_each() {
    const GXX: Tool = Tool::new("g++", "g++");
    const LLD: Tool = Tool::new("ld.lld-19", "lld-19");
    let mut m = Builder::new(Target::x86_64());
    let unit = m.unit("a.c");
    let file = m.primary_file(unit).unwrap();
    let int = m.base_type(unit, "int", BaseEncoding::Signed, 32).unwrap();
    let k = m.function(unit, "k").unwrap().code("k", 0x40).external().id();
    m.variable(k, "x", int).unwrap().live(4..0x40, Loc::register(Reg(3))).unwrap();
    m.row(k, LineTableRow::new(0, file, 3)).unwrap();
    let cfa = Loc::memory(SpaceId::DEFAULT, Val::register(Reg(7)).plus(8));
    m.frame(k).unwrap().cfa(0..0x40, cfa).unwrap().saved(0..0x40, Reg(16), Loc::cfa().offset(-8)).unwrap();
    let truth = m.finish().unwrap();
    let consumer = Consumer::dwarf5();
    let own = new_object(truth.target(), &code(), &sections(&truth, &consumer)).unwrap();
    let folder = Folder::new();
    let own = folder.file("own.o", own);
    let source = "struct S { int a; struct T { long b; } t; }; namespace n { S s; }
        template <class T> T f(T t) { return t + n::s.a; } int g NAME (int a) { return f(a) + f(2L * a); }";
    for flags in ["", "-fno-asynchronous-unwind-tables", "-fdebug-types-section", "-gdwarf-4"] {
        let mut objects = vec![own.clone()];
        for name in ["one", "two", "three"] {
            let out = folder.path().join(format!("{name}.o"));
            let text = source.replace("g NAME", &format!("g_{name}")).replace("n::", &format!("n_{name}::"));
            let text = text.replace("namespace n ", &format!("namespace n_{name} "));
            let path = folder.file(&format!("{name}.cpp"), text);
            let mut arguments: Vec<OsString> = ["-g", "-O1", "-fPIC", "-c", "-o"]
                .into_iter()
                .chain(flags.split_whitespace())
                .map(Into::into)
                .collect();
            arguments.insert(5, out.clone().into());
            arguments.push(path.into());
            let Some(ran) = GXX.run(&arguments) else { return };
            ran.clean();
            objects.push(out);
        }
        let linked = folder.path().join("linked.so");
        let mut arguments: Vec<OsString> = ["-shared", "-o"].map(Into::into).into();
        arguments.push(linked.clone().into());
        arguments.extend(objects.into_iter().map(Into::into));
        let Some(ran) = LLD.run(&arguments) else { return };
        ran.clean();
        let linked = std::fs::read(linked).unwrap();
        let report = eitri::check(&truth, &consumer, &[], &linked).expect("it can be read");
        assert_is_words(&report);
        let units = report.findings.iter().filter(|one| one.found.starts_with("a unit `"));
        assert_eq!(units.count(), 3, "{flags}: {report}");
        let others: Vec<_> =
            report.findings.iter().filter(|one| !one.found.starts_with("a unit `")).collect();
        // Address ranges; frames in `.debug_frame`; the type units of S and T, which are linked once.
        let has_frames = flags.contains("unwind");
        let has_types = flags.contains("types");
        let most = 1 + usize::from(has_frames) + 2 * usize::from(has_types);
        assert!(others.len() <= most, "{flags}: {report}");
        let left = report.without(FindingKind::Extra);
        assert!(left.is_clean(), "{flags}: {left}");
    }
}
