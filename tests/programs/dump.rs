//! Parser for the output of `llvm-dwarfdump`.

use std::ops::Range;
use std::path::Path;

use super::DWARFDUMP;
use super::common::Tool;

const NM: Tool = Tool::new("llvm-nm-19", "llvm-19");

/// An entry: offset, depth, tag and attributes without `DW_TAG_` and `DW_AT_`.
#[derive(Debug, Clone)]
pub struct Entry {
    pub offset: u64,
    pub depth: usize,
    pub tag: String,
    pub attributes: Vec<(String, String)>,
}

impl Entry {
    pub fn attribute(&self, name: &str) -> Option<&str> {
        self.attributes.iter().find(|(known, _)| known == name).map(|(_, value)| value.as_str())
    }

    pub fn name(&self) -> Option<&str> {
        self.attribute("name").map(|name| name.trim_matches('"'))
    }

    /// Pc ranges of the code, or of another attribute with ranges.
    pub fn ranges(&self, attribute: &str) -> Vec<Range<u64>> {
        self.attribute(attribute).map_or(Vec::new(), |value| value.lines().filter_map(range).collect())
    }

    /// Locations of a variable: pcs, unless the location is always valid, and the expression.
    pub fn places(&self) -> Vec<(Option<Range<u64>>, String)> {
        let Some(location) = self.attribute("location") else { return Vec::new() };
        if !location.contains("\n[") {
            return vec![(None, expression(location))];
        }
        let listed = location.lines().filter_map(|line| {
            let (_, text) = line.split_once("): ")?;
            Some((Some(range(line)?), expression(text)))
        });
        listed.collect()
    }
}

/// Parses `[0x0, 0x10)`.
fn range(text: &str) -> Option<Range<u64>> {
    let (start, rest) = text.trim().strip_prefix('[')?.split_once(", ")?;
    let (end, _) = rest.split_once(')')?;
    Some(hex(start)..hex(end))
}

pub fn hex(text: &str) -> u64 {
    u64::from_str_radix(text.trim_start_matches("0x"), 16).unwrap_or_else(|_| panic!("no number: {text}"))
}

/// Operations without LLVM's additions: offsets of types, and lower halves of scalar registers.
fn expression(text: &str) -> String {
    // Undecodable operands follow.
    if let Some(at) = text.find("<decoding error>") {
        return format!("{}<decoding error>", &text[..at]);
    }
    let words = text.split(' ').filter(|word| !word.starts_with("(0x"));
    words.collect::<Vec<_>>().join(" ").replace("_LO16", "")
}

/// The entries of `.debug_info`.
pub fn entries(path: &Path) -> Option<Vec<Entry>> {
    entries_with(&["--debug-info"], path)
}

/// The entries printed for these arguments.
pub fn entries_with(arguments: &[&str], path: &Path) -> Option<Vec<Entry>> {
    let arguments = arguments.iter().map(std::ffi::OsStr::new).chain([path.as_os_str()]);
    let output = DWARFDUMP.run(&arguments.collect::<Vec<_>>())?.clean();
    let mut entries: Vec<Entry> = Vec::new();
    for line in output.lines() {
        let entry = line.split_once(": ").and_then(|(offset, rest)| {
            let tag = rest.trim_start().strip_prefix("DW_TAG_")?;
            offset.starts_with("0x").then(|| (hex(offset), (rest.len() - rest.trim_start().len()) / 2, tag))
        });
        if let Some((offset, depth, tag)) = entry {
            entries.push(Entry { offset, depth, tag: tag.into(), attributes: Vec::new() });
        } else if let Some(entry) = entries.last_mut() {
            if let Some((name, value)) =
                line.trim_start().strip_prefix("DW_AT_").and_then(|text| text.split_once("\t("))
            {
                entry.attributes.push((name.into(), value.into()));
            } else if let Some((_, value)) = entry.attributes.last_mut()
                && line.trim_start().starts_with('[')
            {
                *value += "\n";
                *value += line.trim();
            }
        }
    }
    for (_, value) in entries.iter_mut().flat_map(|entry| &mut entry.attributes) {
        assert_eq!(value.pop(), Some(')'));
        // Referenced entries by description instead of offset.
        if let Some((offset, text)) = value.split_once(' ')
            && offset.len() == 10
            && offset.starts_with("0x")
        {
            *value = text.into();
        }
    }
    Some(entries)
}

/// A row of a line table: address, line, column, file, discriminator, flags.
pub type Row = (u64, u32, u32, usize, u32, String);

/// The tables of `.debug_line`: directories and files (with directory and MD5 sum) of each, and its rows.
#[derive(Debug, Default)]
pub struct Lines {
    pub directories: Vec<String>,
    pub files: Vec<(String, usize, Option<String>)>,
    pub rows: Vec<Row>,
}

pub fn lines(path: &Path) -> Option<Vec<Lines>> {
    let output = DWARFDUMP.run(&["--debug-line".as_ref(), path.as_os_str()])?.clean();
    let tables = output.split("debug_line[").skip(1).map(|text| {
        let mut table = Lines::default();
        for line in text.lines() {
            let quoted = || line.split('"').nth(1).unwrap_or_default().to_owned();
            let words: Vec<&str> = line.split_whitespace().collect();
            match words[..] {
                ["include_directories[", ..] => table.directories.push(quoted()),
                ["name:", ..] => table.files.push((quoted(), 0, None)),
                ["dir_index:", index] => table.files.last_mut().expect("a file").1 = index.parse().unwrap(),
                ["md5_checksum:", sum] => table.files.last_mut().expect("a file").2 = Some(sum.into()),
                [address, row, column, file, _isa, discriminator, _op_index, ref flags @ ..]
                    if address.starts_with("0x") =>
                {
                    let number = |text: &str| text.parse::<u32>().expect("a number");
                    let numbers = (hex(address), number(row), number(column), number(file) as usize);
                    let (address, row, column, file) = numbers;
                    table.rows.push((address, row, column, file, number(discriminator), flags.join(" ")));
                }
                _ => {}
            }
        }
        table
    });
    Some(tables.collect())
}

/// The addresses of `.debug_addr`.
pub fn addresses(path: &Path) -> Option<Vec<u64>> {
    let output = DWARFDUMP.run(&["--debug-addr".as_ref(), path.as_os_str()])?.clean();
    Some(output.lines().filter(|line| line.starts_with("0x") && line.len() == 18).map(hex).collect())
}

/// The addresses of symbols.
pub fn symbols(path: &Path) -> Option<Vec<(String, u64)>> {
    let output = NM.run(&[path])?.clean();
    let symbols = output.lines().filter_map(|line| match line.split_whitespace().collect::<Vec<_>>()[..] {
        [address, _, name] => Some((name.to_owned(), hex(address))),
        _ => None,
    });
    Some(symbols.collect())
}
