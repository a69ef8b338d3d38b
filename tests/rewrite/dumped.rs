//! The text of llvm-dwarfdump before and after: sorted lines, offsets aside. LLVM's reader is somebody else's.

use std::collections::BTreeSet;
use std::path::Path;

use eitri::gimli::DwAt;
use eitri::rewrite::Rewritten;

use super::kept::compiled;
use super::{objects, rewritten};
use crate::common::tools::{Folder, Tool};
use crate::import::foreign::PROGRAMS;

const DWARFDUMP: Tool = Tool::new("llvm-dwarfdump-19", "llvm-19");

/// Attributes that tell where something is in the file, that other attributes imply, or that differ by the form of an
/// instance: an abstract instance and its only instance with code become one entry.
const STRUCTURE: [&str; 28] = [
    "DW_AT_sibling",
    "DW_AT_stmt_list",
    "DW_AT_str_offsets_base",
    "DW_AT_addr_base",
    "DW_AT_rnglists_base",
    "DW_AT_loclists_base",
    "DW_AT_GNU_pubnames",
    "DW_AT_macros",
    "DW_AT_GNU_macros",
    "DW_AT_macro_info",
    "DW_AT_decl_file",
    "DW_AT_call_file",
    "DW_AT_low_pc",
    "DW_AT_high_pc",
    "DW_AT_ranges",
    "DW_AT_entry_pc",
    "DW_AT_inline",
    "DW_AT_abstract_origin",
    "DW_AT_specification",
    // An offset without a name.
    "DW_AT_object_pointer",
    // A number has no raw form in the model: another test compares what it means.
    "DW_AT_call_value",
    "DW_AT_GNU_call_site_value",
    "DW_AT_call_target",
    // The model derives them: a row of docs/import.md.
    "DW_AT_address_class",
    "DW_AT_upper_bound",
    "DW_AT_count",
    "DW_AT_lower_bound",
    "DW_AT_bit_offset",
];

/// Returns the lines of an object's entries, frames and rows, without offsets in the file. Each range of a list is a line.
fn lines(file: &Path) -> Option<BTreeSet<String>> {
    let mut lines = BTreeSet::new();
    let arguments = ["--debug-info", "--debug-frame", "--debug-line"].map(str::as_ref);
    let ran = DWARFDUMP.run(&[&arguments[..], &[file.as_os_str()]].concat())?;
    assert!(ran.succeeded, "{ran}");
    let mut name = String::new();
    for line in ran.out.lines() {
        let line = line.trim();
        if let Some(rest) = line.strip_prefix("DW_AT_") {
            let (attribute, value) = rest.split_once('\t').unwrap_or((rest, ""));
            name = format!("DW_AT_{attribute}");
            let value = plain(value);
            if !STRUCTURE.contains(&&*name) && !value.is_empty() {
                lines.insert(format!("{name} {value}"));
            }
        } else if line.starts_with("[0x") && !STRUCTURE.contains(&&*name) {
            // An entry of a location list.
            lines.insert(format!("{name} {}", line.trim_end_matches(')')));
        } else if let Some((pc, row)) = line.split_once(": CFA=") {
            lines.insert(format!("{pc}: CFA={row}"));
        } else if line.starts_with("0x") && !line.contains("DW_TAG_") && is_row(line) {
            let words: Vec<&str> = line.split_whitespace().collect();
            // Address, line and column; the file's number depends on the order of files.
            if let [address, line, column, _, ..] = words[..] {
                lines.insert(format!("row {address} {line} {column}"));
            }
        }
    }
    Some(lines)
}

/// Whether a line is a row of code: the end of a sequence can be the end of a function, or of the code after the function.
fn is_row(line: &str) -> bool {
    line.contains("is_stmt") && !line.contains("end_sequence")
}

/// Removes an offset in the file from the text of a value: of an entry before its name, and of a list.
fn plain(value: &str) -> String {
    let value = value.trim_start_matches('(');
    let is_offset =
        |word: &str| word.strip_prefix("0x").is_some_and(|digits| digits.trim_end_matches(':').len() >= 8);
    let mut words = value.split(' ').peekable();
    let mut kept = Vec::new();
    if value.starts_with("indexed") {
        // `indexed (0x0) loclist = 0x0000000c:`
        return String::new();
    }
    while let Some(word) = words.next() {
        let is_name = words.peek().is_some_and(|next| next.starts_with('"'));
        let is_list =
            word.ends_with(':') && kept.is_empty() && words.peek().is_none_or(|next| next.is_empty());
        if !(is_offset(word) && (is_name || is_list)) {
            kept.push(word);
        }
    }
    let text = kept.join(" ").trim().trim_end_matches(')').to_owned();
    // The tool prints a number in the base that its form suggests.
    let digits = text.strip_prefix("0x").filter(|digits| digits.len() < 16);
    match digits.and_then(|digits| u64::from_str_radix(digits, 16).ok()) {
        Some(number) => number.to_string(),
        // An address by its index in a table, whose order can differ.
        None if text.starts_with("DW_OP_addr") => text.split(' ').skip(2).collect(),
        None => text,
    }
}

/// Requires that each line is there after the rewrite, except lines of attributes that the rewrite lists.
fn keeps_lines(name: &str, folder: &Folder, before: &[u8], rewritten: &Rewritten) -> Option<usize> {
    let [old, new] =
        [("old", before), ("new", &rewritten.object)].map(|(name, bytes)| lines(&folder.file(name, bytes)));
    let (old, new) = (old?, new?);
    let left: BTreeSet<String> = rewritten
        .unimported
        .iter()
        .filter_map(|fact| fact.attribute)
        .map(|attribute: DwAt| attribute.static_string().map_or_else(String::new, String::from))
        .collect();
    // Before DWARF 5, a bit field can have the offset in a storage unit, or from the start of the object.
    let has_bit_fields = old.iter().any(|line| line.starts_with("DW_AT_bit_size"));
    let has_storage_units = has_bit_fields && rewritten.consumer.version == 4;
    let is_left = |line: &&String| {
        let name = line.split(' ').next().unwrap_or_default();
        let is_frame = name.starts_with("0x");
        left.contains(name)
            || is_frame && rewritten.unimported.iter().any(|fact| fact.section == ".debug_frame")
            || name == "DW_AT_data_member_location" && has_storage_units
            || name == "row" && rewritten.unimported.iter().any(|fact| fact.section == ".debug_line")
    };
    // A list with an entry for all pcs of the scope can be an expression.
    let is_expression = |line: &&String| {
        let expression = line.split_once("): ").map(|(_, expression)| format!("DW_AT_location {expression}"));
        line.starts_with("DW_AT_location [") && expression.is_some_and(|text| new.contains(&text))
    };
    // The size of a pointer is that of its address space.
    let is_lost = |line: &&String| !is_left(line) && !is_expression(line) && *line != "DW_AT_byte_size 0";
    let lost: Vec<_> = old.difference(&new).filter(is_lost).collect();
    assert!(
        lost.is_empty(),
        "{name}: {lost:#?}\nonly after: {:#?}",
        new.difference(&old).collect::<Vec<_>>()
    );
    Some(old.len())
}

#[test]
fn committed_objects_have_the_same_text() {
    let folder = Folder::new();
    let mut count = 0;
    for file in objects() {
        let bytes = std::fs::read(&file).expect("a file");
        let rewritten = rewritten(&bytes, |_| {}).expect("it is rewritten");
        let Some(lines) = keeps_lines(&file.display().to_string(), &folder, &bytes, &rewritten) else {
            return;
        };
        count += lines;
    }
    assert!(count > 5000, "{count} lines");
}

#[test]
fn compiled_programs_have_the_same_text() {
    // In C++, the tool names function types after children that the import lists.
    for program in PROGRAMS.into_iter().filter(|program| program.name == "a.c") {
        let folder = Folder::new();
        let Some(bytes) = program.compiled(&folder) else { continue };
        let rewritten = rewritten(&bytes, |_| {}).expect("it is rewritten");
        let Some(_) = keeps_lines(&program.to_string(), &folder, &bytes, &rewritten) else { return };
    }
}

/// gcc ends a location that a call overwrites a byte before the return address, which is inside an instruction.
#[test]
fn locations_that_end_at_calls_have_the_same_text() {
    const RISCV_GCC: Tool = Tool::new("riscv64-linux-gnu-gcc", "gcc-riscv64-linux-gnu");
    const SOURCE: &str = "int called(int n, int *p);\n\
        int kept(int a, int b) { int c = a * 3; int r = called(b, &a); r += c; c = called(r, &b); return r + c + b; }\n\
        int lost(int a, int b) { int x = b + 1; return called(a, 0) + called(x, &x); }\n";
    for version in ["-gdwarf-4", "-gdwarf-5"] {
        let folder = Folder::new();
        let arguments = [version, "-gno-variable-location-views", "-O2", "-shared", "-nostdlib", "-fPIC"];
        let Some(bytes) = compiled(&folder, RISCV_GCC, ("a.c", SOURCE), &arguments) else { return };
        let locations = |file: &str| {
            let mut lines = lines(&folder.path().join(file))?;
            lines.retain(|line| line.starts_with("DW_AT_location"));
            Some(lines)
        };
        let Some(before) = locations("before") else { return };
        let is_inside = |line: &String| {
            let end = line.split([',', ')']).nth(1).unwrap_or_default();
            end.ends_with(['1', '3', '5', '7', '9', 'b', 'd', 'f'])
        };
        assert!(before.iter().any(is_inside), "{version}: {before:#?}");
        let rewritten = rewritten(&bytes, |_| {}).expect("it is rewritten");
        assert!(rewritten.unimported.is_empty(), "{version}: {:#?}", rewritten.unimported);
        folder.file("after", &rewritten.object);
        assert_eq!(locations("after").as_ref(), Some(&before), "{version}");
    }
}
