//! Checks that `llvm-dwarfdump` finds the described entities.

use std::fmt::Write;
use std::ops::Range;
use std::path::PathBuf;

use eitri::lower::Consumer;
use pretty_assertions::assert_eq;

use super::common::Folder;
use super::described::{
    BOTH_ROWS, FILES, FUNCTIONS, Known, MACHINES, Machine, OTHER_ROWS, Options, Place, WORK_ROWS, described,
    md5, object,
};
use super::dump::{Entry, addresses, entries, lines, symbols};
use super::link::link;
use super::objects::containers;

/// Listing of each entry in the tool's notation; each line was reviewed against [`described`](super::described).
const LISTING: &str = include_str!("work.txt");

/// The object, unlinked and linked, with the addresses of its symbols; for the CPU, also in the formats of the crate
/// `object`.
fn objects(folder: &Folder, machine: Machine, consumer: &Consumer) -> Vec<(PathBuf, Vec<(String, u64)>)> {
    let (object, _) = object(Options::new(machine), consumer);
    let path = folder.file("object.o", object);
    let linked = link(folder, machine, &[&path]);
    let all = [Some(path), linked].into_iter().flatten();
    let mut all: Vec<_> = all.filter_map(|path| symbols(&path).map(|symbols| (path, symbols))).collect();
    if machine == Machine::Cpu {
        all.extend(containers(folder, consumer));
    }
    all
}

pub fn address(symbols: &[(String, u64)], name: &str) -> u64 {
    symbols.iter().find(|(known, _)| known == name).expect("a symbol").1
}

/// Pcs relative to the start of a function.
fn since(base: u64, pcs: &Range<u64>) -> Range<u64> {
    pcs.start - base..pcs.end - base
}

#[test]
fn entries_say_what_was_described() {
    for machine in MACHINES {
        let folder = Folder::new();
        for (path, symbols) in objects(&folder, machine, &Consumer::dwarf5()) {
            let Some(entries) = entries(&path) else { return };
            let text = address(&symbols, FUNCTIONS[0].0);
            let mut listing = String::new();
            for entry in &entries {
                // Variables in the table are compared below.
                let is_in_table = described(machine).iter().any(|one| entry.name() == Some(one.name));
                if !is_in_table {
                    list(entry, text, &mut listing);
                }
            }
            let expected = LISTING.lines().filter_map(|line| match line.strip_prefix("gpu:") {
                Some(line) => (machine == Machine::Gpu).then_some(line),
                None => (!line.starts_with('#')).then_some(line),
            });
            let expected: Vec<&str> = expected.collect();
            assert_eq!(listing.lines().collect::<Vec<_>>(), expected, "{}", path.display());
        }
    }
}

/// Lists an entry in one line. Addresses count from the start of the code.
fn list(entry: &Entry, text: u64, out: &mut String) {
    write!(out, "{:1$}{2}", "", 2 * entry.depth, entry.tag).unwrap();
    for (name, value) in &entry.attributes {
        match name.as_str() {
            // Section offsets are not listed.
            "stmt_list" | "str_offsets_base" | "addr_base" | "rnglists_base" | "loclists_base"
            | "location" => {}
            "ranges" => {
                write!(out, " ranges").unwrap();
                for pcs in entry.ranges("ranges") {
                    write!(out, " {:x?}", since(text, &pcs)).unwrap();
                }
            }
            "low_pc" | "high_pc" => write!(out, " {name} {:x}", super::dump::hex(value) - text).unwrap(),
            // LLVM prints numbers according to their form: padded, or plain.
            "byte_size"
            | "bit_size"
            | "count"
            | "data_member_location"
            | "data_bit_offset"
            | "address_class"
            | "LLVM_lanes"
            | "LLVM_address_space" => match value.parse::<u64>() {
                Ok(number) => write!(out, " {name} {number:#04x}").unwrap(),
                Err(_) => write!(out, " {name} {value}").unwrap(),
            },
            _ => write!(out, " {name} {value}").unwrap(),
        }
    }
    for (pcs, expression) in if entry.tag == "dwarf_procedure" { Vec::new() } else { entry.places() } {
        // Register names depend on the machine.
        let operation = expression.split(' ').next().unwrap_or_default();
        let operation = if operation.starts_with("DW_OP_reg") { "register" } else { operation };
        match pcs {
            Some(pcs) => write!(out, " at {:x?} {operation}", since(text, &pcs)).unwrap(),
            None => write!(out, " at {operation}").unwrap(),
        }
    }
    out.push('\n');
}

/// LLVM's decoded locations of each variable equal the table, range by range.
fn places_are(machine: Machine, consumer: &Consumer, expect: fn(&Place) -> Option<Option<&'static str>>) {
    let folder = Folder::new();
    for (path, symbols) in objects(&folder, machine, consumer) {
        let (Some(entries), Some(addresses)) = (entries(&path), addresses(&path)) else { return };
        let work = address(&symbols, FUNCTIONS[0].0);
        let table = address(&symbols, "table");
        for variable in described(machine) {
            let entry =
                entries.iter().find(|entry| entry.name() == Some(variable.name)).expect("the variable");
            assert_eq!(entry.attribute("decl_line"), Some("11"));
            assert_eq!(entry.attribute("decl_file"), Some("\"/src/work.cl\""));
            let mut found = entry.places().into_iter();
            for place in variable.places.iter() {
                let Some(expected) = expect(place) else { continue };
                let name = variable.name;
                let (pcs, expression) = found.next().unwrap_or_else(|| panic!("{name} {:x?}", place.pcs));
                // A location for the whole function needs no list.
                let pcs = pcs.map_or(0..FUNCTIONS[0].2, |pcs| since(work, &pcs));
                assert_eq!(pcs, place.pcs, "{name}");
                if let Some(expected) = expected {
                    let found = resolved(&expression, &addresses, table);
                    assert_eq!(found, expected, "{}: {name} {pcs:x?}", path.display());
                }
            }
            assert_eq!(found.next(), None, "{}", variable.name);
        }
    }
}

/// Replaces the index of an address by the address.
fn resolved(expression: &str, addresses: &[u64], table: u64) -> String {
    let Some(index) = expression.strip_prefix("DW_OP_addrx ") else { return expression.into() };
    format!("DW_OP_addrx table+{:#x}", addresses[super::dump::hex(index) as usize] - table)
}

#[test]
fn lists_say_what_was_described() {
    for machine in MACHINES {
        places_are(machine, &Consumer::dwarf5(), |place| place.plain.map(Some));
        // Where LLVM's dialect differs, only the ranges are compared.
        places_are(machine, &Consumer::llvm(), |place| match place.known {
            Known::Both if !place.plain?.contains("regval_type") => Some(place.plain),
            _ => Some(None),
        });
    }
}

/// Expected rows of a function in LLVM's notation.
fn rows(start: u64, bytes: u64, rows: &[(u64, usize, u32, u32, u32, &str)]) -> Vec<super::dump::Row> {
    let mut all: Vec<super::dump::Row> = rows
        .iter()
        .map(|&(pc, file, line, column, discriminator, flags)| {
            (start + pc, line, column, file, discriminator, flags.to_owned())
        })
        .collect();
    // The end of a sequence repeats the last row, without the discriminator.
    let (_, line, column, file, _, flags) = all.last().expect("a row").clone();
    let is_stmt = if flags.contains("is_stmt") { "is_stmt end_sequence" } else { "end_sequence" };
    all.push((start + bytes, line, column, file, 0, is_stmt.into()));
    all
}

#[test]
fn line_tables_say_what_was_described() {
    for machine in MACHINES {
        let folder = Folder::new();
        for (path, symbols) in objects(&folder, machine, &Consumer::dwarf5()) {
            let Some(tables) = lines(&path) else { return };
            let [first, second] = &tables[..] else { panic!("{tables:?}") };
            let of = |index: usize, of| {
                let (name, _, bytes) = FUNCTIONS[index];
                rows(address(&symbols, name), bytes, of)
            };
            // In the order of description.
            assert_eq!(first.rows, [of(1, BOTH_ROWS), of(0, WORK_ROWS)].concat());
            assert_eq!(second.rows, of(2, OTHER_ROWS));

            assert_eq!(first.directories, ["/src", "include", "/usr/include"]);
            let files = FILES.iter().enumerate().map(|(index, (directory, name))| {
                let sum = md5(index).iter().fold(String::new(), |sum, byte| format!("{sum}{byte:02x}"));
                let directory =
                    directory.and_then(|name| first.directories.iter().position(|known| known == name));
                (name.to_string(), directory.unwrap_or(0), Some(sum))
            });
            assert_eq!(first.files, files.collect::<Vec<_>>());
            assert_eq!(second.files, [("other.cl".into(), 0, None)]);
        }
    }
}
