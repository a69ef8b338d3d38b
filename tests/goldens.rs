//! The promise: output equals the reviewed golden files. `EITRI_BLESS=1` rewrites them, here only.
//!
//! `goldens/lower/*.txt` list the expression of each location for each consumer. The lists are typed from the
//! specifications rather than generated.

use crate::common;
mod locations;

use std::collections::BTreeMap;

use common::{check_golden, golden};
use eitri::build::Builder;
use eitri::error::ErrorKind;
use eitri::lower::{Consumer, Lowered, Policy, lower, lower_loc};
use eitri::model::{BaseEncoding, Stack};
use eitri::op::{Decoder, Op, text};
use eitri::target::Target;
use locations::{Parser, number};

/// Addresses of symbols, with space for offsets between them.
const SYMBOLS: [(&str, u64); 3] = [("table", 0x1000), ("lds", 0x2000), ("f", 0x3000)];

/// All files under `goldens/lower`. A file that is missing here would never be compared.
const LOWER: [&str; 4] = ["gfx1030-wave32.txt", "gfx1100-wave32.txt", "gfx900-wave64.txt", "x86_64.txt"];

#[test]
fn locations_become_these_expressions() {
    for name in LOWER {
        let path = format!("lower/{name}");
        let file = std::fs::read_to_string(golden(&path)).expect("the golden file");
        check_golden(&path, &rewritten(&file));
    }
}

#[test]
fn no_golden_file_is_unused() {
    let mut names: Vec<_> = std::fs::read_dir(golden("lower"))
        .expect("the folder")
        .map(|entry| entry.expect("an entry").file_name().into_string().expect("a name"))
        .collect();
    names.sort();
    assert_eq!(names, LOWER);
}

/// Context of a row.
struct Context {
    target: Target,
    lets: BTreeMap<String, String>,
    consumers: Vec<Consumer>,
    base: Option<String>,
}

/// The golden file with the current output in the last columns of its rows.
fn rewritten(file: &str) -> String {
    let mut context =
        Context { target: Target::x86_64(), lets: BTreeMap::new(), consumers: Vec::new(), base: None };
    let mut out = String::new();
    for line in file.lines() {
        if let Some(name) = line.strip_prefix("target ") {
            context.target = Target::named(name).expect("a target");
        } else if let Some((name, loc)) = line.strip_prefix("let ").and_then(|text| text.split_once(" = ")) {
            context.lets.insert(name.to_owned(), loc.to_owned());
        } else if let Some(header) = line.strip_prefix('[').and_then(|text| text.strip_suffix(']')) {
            let (consumer, base) = header.split_once(", base ").map_or((header, None), |(c, b)| (c, Some(b)));
            context.base = base.map(str::to_owned);
            context.consumers = match consumer {
                "llvm" => vec![Consumer::llvm(), Consumer::rocgdb()],
                "rocgdb_legacy" => vec![Consumer::rocgdb_legacy()],
                "dwarf5" => vec![Consumer::dwarf5()],
                _ => panic!("no consumer: {header}"),
            };
        } else if let Some((loc, _)) = line.split_once(" | ").filter(|_| !line.starts_with('#')) {
            let rows = context.consumers.iter().map(|consumer| row(&context, loc, consumer));
            let rows: Vec<String> = rows.collect();
            assert!(rows.iter().all(|row| *row == rows[0]), "not the same for both: {rows:#?}");
            out.push_str(&rows[0]);
            out.push('\n');
            continue;
        }
        out.push_str(line);
        out.push('\n');
    }
    out
}

fn row(context: &Context, location: &str, consumer: &Consumer) -> String {
    let (loc, bits) = location.split_once(" as ").map_or((location, 32), |(l, b)| (l, number(b) as u64));
    let mut builder = Builder::new(context.target.clone());
    let unit = builder.unit("a.c");
    let mut parser = Parser {
        builder: &mut builder,
        unit,
        lets: &context.lets,
        procedures: BTreeMap::new(),
        refers: false,
    };
    let loc = parser.loc(loc);
    let procedures = parser.procedures;
    let refers = parser.refers;
    let base = context.base.as_ref().map(|name| context.target.register_named(name).expect("a register"));
    let ty = builder.base_type(unit, "bits", BaseEncoding::Unsigned, bits).expect("a type");
    let added = match base {
        // A global variable, so that no function's address precedes the address of the location.
        None => builder.variable(unit, "v", ty).and_then(|mut v| v.always(loc.clone()).map(|v| v.id())),
        Some(base) => {
            let mut function = builder.function(unit, "f").expect("a function");
            let f = function.code("f", 0x40).stack_base(base).expect("a register").id();
            builder.variable(f, "v", ty).and_then(|mut v| v.always(loc.clone()).map(|v| v.id()))
        }
    };
    added.unwrap_or_else(|error| panic!("{location}: {error}"));
    let module = builder.finish().unwrap_or_else(|error| panic!("{location}: {error}"));
    let alone = (!refers).then(|| {
        let stack = Stack { base, scaling: context.target.scaling() };
        lower_loc(&loc, Some(bits), &context.target, stack, consumer)
    });
    match lower(&module, consumer, Policy::Strict) {
        Ok(lowered) => {
            let (bytes, found) = expression(&lowered, &context.target, location, procedures.keys().next());
            let encoding = consumer.encoding(context.target.address_bytes());
            let printed = text::print(&bytes, encoding, Some(&context.target));
            let (printed, hidden) = named(&bytes, printed, &found, encoding);
            // A location that refers to an entry cannot be lowered alone.
            if let Some(alone) = alone.filter(|_| hidden.is_empty()) {
                let alone = alone.unwrap_or_else(|error| panic!("{location}: alone: {error}"));
                assert_eq!(alone.bytes(), bytes, "{location}: alone and in a module");
            }
            if hidden.is_empty() {
                let parsed =
                    text::parse(&printed, encoding, Some(&context.target)).expect("reads as printed");
                assert_eq!(parsed.bytes(), bytes, "{location}: text and bytes");
            }
            let bytes = bytes
                .iter()
                .enumerate()
                .map(|(at, byte)| if hidden.contains(&at) { "..".to_owned() } else { format!("{byte:02x}") });
            format!("{location} | {printed} | {}", bytes.collect::<Vec<_>>().join(" "))
        }
        Err(error) => {
            let ErrorKind::Inexpressible { what, .. } = error.kind() else { panic!("{location}: {error}") };
            if let Some(alone) = alone {
                let alone = alone.expect_err("alone, what is refused in a module");
                assert_eq!(alone.kind(), error.kind(), "{location}: alone and in a module");
            }
            format!("{location} | refused: {what} |")
        }
    }
}

/// The expression of variable `v`; and the offsets and names of the entries that it may refer to.
fn expression(
    lowered: &Lowered,
    target: &Target,
    location: &str,
    procedure: Option<&String>,
) -> (Vec<u8>, Vec<(u64, String)>) {
    assert_eq!(lowered.omissions, []);
    let linked = common::link(&lowered.sections, target, |name| {
        let symbol = SYMBOLS.iter().find(|(known, _)| *known == name).expect("a symbol of the row");
        assert!(name == "f" || location.contains(name), "{location}: {name}");
        symbol.1
    });
    let dwarf = common::reader(&linked);
    let header = dwarf.units().next().expect("reads").expect("a unit");
    let unit = dwarf.unit(header).expect("reads");
    let mut found = Vec::new();
    let mut bytes = None;
    let mut entries = unit.entries();
    while let Some(entry) = entries.next_dfs().expect("reads") {
        let name = entry.attr_value(gimli::DW_AT_name).and_then(|name| dwarf.attr_string(&unit, name).ok());
        let name = name.map(|name| name.to_string_lossy().into_owned());
        let offset = entry.offset().0 as u64;
        match name.as_deref() {
            Some("v") => match entry.attr_value(gimli::DW_AT_location) {
                Some(gimli::AttributeValue::Exprloc(expression)) => bytes = Some(expression.0.to_vec()),
                other => panic!("{location}: {other:?}"),
            },
            Some(name @ ("x" | "unsigned_32")) => found.push((offset, name.to_owned())),
            _ if entry.tag() == gimli::DW_TAG_dwarf_procedure => {
                found.push((offset, procedure.expect("one procedure").clone()));
            }
            _ => {}
        }
    }
    (bytes.expect("the variable"), found)
}

/// The text with names instead of entry offsets; and the positions of those offsets in the bytes.
fn named(
    bytes: &[u8],
    mut printed: String,
    found: &[(u64, String)],
    encoding: eitri::op::Encoding,
) -> (String, Vec<usize>) {
    let mut hidden = Vec::new();
    for decoded in Decoder::new(bytes, encoding) {
        let decoded = decoded.expect("decodes");
        let (entry, operand) = match decoded.op {
            Op::Call4 { entry } | Op::ImplicitPointer { entry, .. } => (entry, 1..5),
            Op::RegvalType { reg, ty } => {
                let at = if reg.0 < 0x80 { 2 } else { 3 };
                (ty, at..at + decoded.spelling.leb_bytes(1))
            }
            _ => continue,
        };
        let (_, name) = found.iter().find(|(offset, _)| *offset == entry).expect("an entry of the row");
        printed = printed.replace(&format!("@{entry:#x}"), &format!("@{name}"));
        hidden.extend(operand.map(|at| decoded.offset + at));
    }
    (printed, hidden)
}
