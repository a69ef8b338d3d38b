//! PTX texts as objects: the sections that ptxas would make, in which a function's size is its number of instructions,
//! and a pc counts instructions.

use std::borrow::Cow;
use std::collections::{BTreeMap, HashMap};

use super::elf::{ElfSection, ElfSymbol, ElfSymbolKind, INFO_BEHIND, Object, Parts, Placing, foreign_bytes};
use crate::error::{Error, Result};
use crate::ptx::{DebugSection, Function, Loc, Place, Text};
use crate::target::Sm;

/// Address of the first function, and alignment for later functions.
const FIRST: u64 = 0x1_0000;
const ALIGNMENT: u64 = 0x1000;
/// Distance between addresses of variables.
const BETWEEN: u64 = 0x100;

/// `SHF_ALLOC | SHF_EXECINSTR`.
const CODE: u64 = 6;

/// Reads a PTX text.
pub(super) fn object<'d>(bytes: &'d [u8], placing: Placing<'_>) -> Result<Object<'d>> {
    let text = core::str::from_utf8(bytes);
    let text = text.map_err(|error| {
        Error::malformed(format!("PTX text is not UTF-8 at byte {}", error.valid_up_to()))
    })?;
    let text = Text::read(text)?;
    let mut names = Names::default();
    let mut sections = vec![section("", Vec::new())];
    let mut symbols = Vec::new();
    let mut next = FIRST;
    for function in &text.functions {
        let size = function.instructions.len() as u64;
        sections.push(ElfSection {
            flags: CODE,
            address: next,
            size,
            ..section(format!(".text.{}", function.name), Vec::new())
        });
        symbols.push(symbol(function.name, Some(sections.len() - 1), next, size, ElfSymbolKind::Func));
        names.add(function.name, next);
        for label in &function.labels {
            names.add(label.name, next + label.position as u64);
        }
        next = (next + size + ALIGNMENT) & !(ALIGNMENT - 1);
    }
    for variable in &text.symbols {
        names.add(variable.name, next);
        symbols.push(symbol(variable.name, None, next, 0, ElfSymbolKind::Object));
        next += BETWEEN;
    }
    let mut debug: Vec<(&str, DebugSection<'_>)> = Vec::new();
    for read in text.sections {
        debug.push((read.name, read));
    }
    let strings = debug.iter().position(|(name, _)| *name == ".debug_str");
    let lines = Lines {
        functions: &text.functions,
        files: text.files.iter().map(|file| (file.number, file.name)).collect(),
    };
    let mut first = BTreeMap::new();
    for (index, (name, _)) in debug.iter().enumerate() {
        first.entry(*name).or_insert(index);
    }
    // Sections begin at offsets of their own where a linker is simulated.
    let moved = |name: &str, index: usize| match placing {
        Placing::AsIs => 0,
        Placing::Linked(_) if name == ".debug_info" => 0,
        Placing::Linked(_) => 0x40 * (index as u64 + 1),
        Placing::InfoBehind => {
            if name == ".debug_info" {
                INFO_BEHIND
            } else {
                0
            }
        }
    };
    let count = debug.len();
    for (index, (name, read)) in debug.iter().enumerate() {
        let start = moved(name, index);
        names.add_section(name, start);
        for (label, offset) in &read.labels {
            names.add(label, start + offset);
        }
    }
    let line_start = moved(".debug_line", count);
    names.add_section(".debug_line", line_start);
    let program = lines.program(&names, strings.map_or(0, |index| moved(".debug_str", index)))?;
    for (index, (name, read)) in debug.iter_mut().enumerate() {
        let mut data = core::mem::take(&mut read.bytes);
        for reference in &read.references {
            let address = names
                .get(reference.name)
                .map_err(|problem| crate::ptx::error_at(text.text, reference.name_offset, &problem))?;
            let value = address.wrapping_add(reference.addend);
            let start = reference.offset as usize;
            let bytes = usize::from(reference.bytes);
            if bytes < 8 && value >> (8 * bytes) != 0 {
                return Err(crate::ptx::error_at(
                    text.text,
                    reference.name_offset,
                    "address does not fit its field",
                ));
            }
            data[start..start + bytes].copy_from_slice(&value.to_le_bytes()[..bytes]);
        }
        if first.get(name) != Some(&index) {
            return Err(crate::ptx::error_at(text.text, read.span.start, "section is written twice"));
        }
        sections.push(placed(name, data, moved(name, index), placing));
    }
    sections.extend(program.map(|data| placed(".debug_line", data, line_start, placing)));
    let number = text.processor.and_then(|(name, _)| processor(name)).map_or(0, Sm::number);
    Ok(Object::of_parts(Parts { number, sections, symbols }))
}

/// Returns a name's processor, without features that later processors lack.
fn processor(name: &str) -> Option<Sm> {
    Sm::named(name.trim_end_matches(['a', 'f']))
}

fn section<'d>(name: impl Into<Cow<'d, str>>, data: Vec<u8>) -> ElfSection<'d> {
    let size = data.len() as u64;
    ElfSection {
        name: name.into(),
        kind: 1,
        flags: 0,
        address: 0,
        size,
        stored: size,
        compression: None,
        data: data.into(),
        link: 0,
        info: 0,
        moved: 0,
    }
}

/// Returns a section with bytes from other objects in front.
fn placed<'d>(name: &str, data: Vec<u8>, moved: u64, placing: Placing<'_>) -> ElfSection<'d> {
    match placing {
        Placing::Linked(_) => {
            let placed = ElfSection { moved, ..section(name.to_owned(), Vec::new()) };
            let data = [foreign_bytes(&placed), data].concat();
            ElfSection { moved, ..section(name.to_owned(), data) }
        }
        Placing::AsIs | Placing::InfoBehind => section(name.to_owned(), data),
    }
}

fn symbol<'d>(
    name: &str,
    section: Option<usize>,
    address: u64,
    size: u64,
    kind: ElfSymbolKind,
) -> ElfSymbol<'d> {
    let name = name.to_owned().into();
    ElfSymbol { name, section, address, size, kind, is_global: true, is_replaceable: false, is_defined: true }
}

/// Function, label and variable addresses, and the offsets at which sections, and labels in sections, begin.
#[derive(Debug, Default)]
struct Names {
    addresses: HashMap<String, Option<u64>>,
}

impl Names {
    /// Adds a name; a name that is added twice has no address.
    fn add(&mut self, name: &str, address: u64) {
        let known = self.addresses.entry(name.to_owned()).or_insert(Some(address));
        if *known != Some(address) {
            *known = None;
        }
    }

    fn add_section(&mut self, name: &str, start: u64) {
        self.addresses.insert(name.to_owned(), Some(start));
    }

    fn get(&self, name: &str) -> Result<u64, String> {
        match self.addresses.get(name) {
            Some(Some(address)) => Ok(*address),
            Some(None) => Err(format!("`{name}` in a section has several meanings")),
            None => Err(format!("`{name}` in a section is not a function, label, variable or section")),
        }
    }
}

/// A text's line table.
struct Lines<'t> {
    functions: &'t [Function<'t>],
    /// Names of files, by number.
    files: BTreeMap<u64, &'t str>,
}

/// Largest file number: the table has an entry for each smaller number.
const MOST_FILES: u64 = 0xffff;

impl Lines<'_> {
    /// Returns the version 2 line program that ptxas would make, with a row for each directive. DWARF 2 section 6.2;
    /// operation 0x90, as ptxas writes it, has the call's row and the offset of the function's name.
    fn program(&self, names: &Names, strings: u64) -> Result<Option<Vec<u8>>> {
        let has_rows = self.functions.iter().any(|function| !function.locs.is_empty());
        if self.files.is_empty() && !has_rows {
            return Ok(None);
        }
        let mut out = vec![0; 4];
        out.extend_from_slice(&2u16.to_le_bytes());
        out.extend_from_slice(&[0; 4]);
        let header = out.len();
        // Shortest instruction, is_stmt, line_base, line_range, opcode_base, operands of the opcodes.
        out.extend_from_slice(&[1, 1, 0xfb, 14, 10, 0, 1, 1, 1, 1, 0, 0, 0, 1, 0]);
        let last = self.files.keys().next_back().copied().unwrap_or(0);
        let wrong = self.files.keys().find(|number| !(1..=MOST_FILES).contains(*number));
        if let Some(number) = wrong {
            let text = format!("file number {number} is out of range; expected 1 to {MOST_FILES}");
            return Err(Error::malformed(text));
        }
        for number in 1..=last {
            // An empty name would end the table.
            let name = self.files.get(&number).filter(|name| !name.is_empty()).unwrap_or(&"?");
            out.extend_from_slice(name.as_bytes());
            out.extend_from_slice(&[0; 4]);
        }
        out.push(0);
        let has_inlined =
            self.functions.iter().flat_map(|function| &function.locs).any(|loc| loc.inlined.is_some());
        if has_inlined {
            out.extend_from_slice(&(strings as u32).to_le_bytes());
        }
        let length = (out.len() - header) as u32;
        out[header - 4..header].copy_from_slice(&length.to_le_bytes());
        for function in self.functions.iter().filter(|function| !function.locs.is_empty()) {
            let start = names.get(function.name).map_err(Error::malformed)?;
            Sequence { out: &mut out, names, strings, calls: HashMap::new(), context: 0 }
                .write(function, start)?;
        }
        let length = (out.len() - 4) as u32;
        out[..4].copy_from_slice(&length.to_le_bytes());
        Ok(Some(out))
    }
}

/// Writes a function's rows.
struct Sequence<'s> {
    out: &'s mut Vec<u8>,
    names: &'s Names,
    /// Offset at which the names of inlined functions begin.
    strings: u64,
    /// Number of the last row at each source position, counted from 1.
    calls: HashMap<(u64, u64, u64), u64>,
    /// Row that contains the call to the code of the rows so far.
    context: u64,
}

impl Sequence<'_> {
    fn write(mut self, function: &Function<'_>, start: u64) -> Result<()> {
        self.out.extend_from_slice(&[0, 9, 2]);
        self.out.extend_from_slice(&start.to_le_bytes());
        let mut pc = 0;
        let mut line = 1;
        for (number, loc) in (1..).zip(&function.locs) {
            self.inlined(loc)?;
            let Place { file, line: to, column } = loc.place;
            // set_file, set_column, advance_line, advance_pc, copy.
            self.operation(4, file);
            self.operation(5, column);
            self.out.push(3);
            crate::op::write_sleb(self.out, (to as i64).wrapping_sub(line));
            self.operation(2, loc.position as u64 - pc);
            self.out.push(1);
            (pc, line) = (loc.position as u64, to as i64);
            self.calls.insert((file, to, column), number);
        }
        self.operation(2, function.instructions.len() as u64 - pc);
        self.out.extend_from_slice(&[0, 1, 1]);
        Ok(())
    }

    /// Writes a row's call if the row before has a different call.
    fn inlined(&mut self, loc: &Loc<'_>) -> Result<()> {
        let mut operands = Vec::new();
        let context = match &loc.inlined {
            None if self.context == 0 => return Ok(()),
            None => {
                operands.extend_from_slice(&[0, 0]);
                0
            }
            Some(inlined) => {
                let Place { file, line, column } = inlined.call;
                let row = self.calls.get(&(file, line, column));
                let row = *row.ok_or_else(|| {
                    Error::malformed(format!("inlined call at {file} {line} {column} has no row before it"))
                })?;
                let (label, by) = inlined.function;
                let name = self.names.get(label).map_err(Error::malformed)?.wrapping_add(by);
                crate::op::write_uleb(&mut operands, row);
                crate::op::write_uleb(&mut operands, name.wrapping_sub(self.strings));
                row
            }
        };
        self.context = context;
        self.out.push(0);
        crate::op::write_uleb(self.out, operands.len() as u64 + 1);
        self.out.push(0x90);
        self.out.extend_from_slice(&operands);
        Ok(())
    }

    fn operation(&mut self, opcode: u8, operand: u64) {
        self.out.push(opcode);
        crate::op::write_uleb(self.out, operand);
    }
}
