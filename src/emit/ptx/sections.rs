//! Debug sections as directives: `.section .debug_info { .b8 1,2 … }`.

use std::fmt::Write;

use super::labels::{Labels, unknown};
use super::text::{decimal, digits};
use crate::emit::section::{Relocation, RelocationTarget, Section};
use crate::error::{Count, Error, ErrorKind, Named, Result};
use crate::ptx::{LABEL, Text};

/// Writer of sections.
pub(super) struct Writer<'w> {
    pub(super) out: &'w mut String,
    pub(super) labels: &'w Labels<'w>,
    pub(super) text: &'w Text<'w>,
}

/// Numbers in a line.
const IN_LINE: usize = 32;

/// Sections that ptxas generates itself.
const OF_PTXAS: [&str; 2] = [".debug_frame", ".debug_line"];

impl Writer<'_> {
    /// Writes a section, followed by the names of inlined functions if it has them.
    pub(super) fn section(&mut self, section: &Section, names: Option<&Vec<u8>>) -> Result<()> {
        let in_section = |error: Error| error.in_section(section.name);
        if OF_PTXAS.contains(&section.name) || !section.name.starts_with(".debug_") {
            let what = "PTX text cannot contain the section; expected a section `.debug_*` that ptxas does not generate itself";
            return Err(in_section(Error::bad_argument(what)));
        }
        let _ = writeln!(self.out, ".section\t{}\n{{", section.name);
        let mut done = 0;
        for relocation in &section.relocations {
            let position = usize::try_from(relocation.offset).unwrap_or(usize::MAX);
            let end = position.saturating_add(relocation.bytes.into());
            if position < done || end > section.bytes.len() {
                let what = format!(
                    "relocation at offset {position:#x} is outside the section or overlaps another relocation"
                );
                return Err(in_section(Error::bad_argument(what)));
            }
            self.bytes(&section.bytes[done..position]);
            self.reference(relocation).map_err(in_section)?;
            done = end;
        }
        self.bytes(&section.bytes[done..]);
        if let Some(names) = names.filter(|names| !names.is_empty()) {
            let _ = writeln!(self.out, "{LABEL}names:");
            self.bytes(names);
        }
        self.out.push_str("}\n");
        Ok(())
    }

    /// Writes a section that contains only inlined functions' names.
    pub(super) fn strings(&mut self, names: &[u8]) -> Result<()> {
        let section = Section {
            name: ".debug_str",
            bytes: Vec::new(),
            relocations: Vec::new(),
            is_strings: true,
            group: None,
        };
        self.section(&section, Some(&names.to_vec()))
    }

    fn bytes(&mut self, bytes: &[u8]) {
        for line in bytes.chunks(IN_LINE) {
            let mut numbers = [0; 4 * IN_LINE];
            let mut end = 0;
            for &byte in line {
                numbers[end..end + 4].copy_from_slice(&NUMBERS[usize::from(byte)]);
                end += digits(byte.into()) + 1;
            }
            self.out.push_str(".b8\t");
            // Without the last comma.
            self.out
                .push_str(core::str::from_utf8(&numbers[..end - 1]).expect("digits and commas are ASCII"));
            self.out.push('\n');
        }
    }

    fn reference(&mut self, Relocation { bytes, target, addend, .. }: &Relocation) -> Result<()> {
        let directive = match bytes {
            4 => ".b32",
            8 => ".b64",
            _ => {
                return Err(Error::bad_argument(format!(
                    "reference has {}; expected 4 or 8",
                    Count(u64::from(*bytes), "byte")
                )));
            }
        };
        self.out.push_str(directive);
        self.out.push('\t');
        match target {
            RelocationTarget::Section(name) => {
                self.out.push_str(name);
                if *addend != 0 {
                    self.out.push('+');
                    decimal(self.out, *addend);
                }
            }
            RelocationTarget::Symbol(name) => {
                // A function's name refers to its start, where a label could change the code.
                if *addend == 0 && self.labels.is_function(name) {
                    self.out.push_str(name);
                } else if let Some(label) = self.labels.number(name, *addend) {
                    self.out.push_str(LABEL);
                    decimal(self.out, label.into());
                } else {
                    self.variable(name, *addend)?;
                }
            }
            RelocationTarget::Distance(name) => {
                let what =
                    format!("relocation is the distance to `{name}`, which PTX sections cannot express");
                return Err(Error::bad_argument(what));
            }
        }
        self.out.push('\n');
        Ok(())
    }

    /// Writes the name of a variable or parameter.
    fn variable(&mut self, name: &str, addend: u64) -> Result<()> {
        match self.labels.variables(name) {
            0 => return Err(unknown(self.text, name)),
            1 => {}
            _ => {
                let kind = Named::Symbol;
                let name = name.to_string();
                return Err(ErrorKind::AmbiguousName { kind, name, candidates: Vec::new() }.into());
            }
        }
        if addend != 0 {
            // ptxas ignores it in `.local` symbols.
            let what = format!("reference to PTX variable `{name}` has the addend {addend}; expected none");
            return Err(Error::bad_argument(what));
        }
        self.out.push_str(name);
        Ok(())
    }
}

/// Byte values as text, each followed by a comma.
static NUMBERS: [[u8; 4]; 256] = {
    let mut numbers = [[0; 4]; 256];
    let mut number = 0;
    while number < 256 {
        let length = digits(number as u64);
        let mut position = length;
        let mut rest = number;
        numbers[number][position] = b',';
        while position > 0 {
            position -= 1;
            numbers[number][position] = b'0' + (rest % 10) as u8;
            rest /= 10;
        }
        number += 1;
    }
    numbers
};

/// Length of a section as directives, or a little more. `names` is the size in bytes of inlined functions' names.
pub(super) fn length(section: &Section, names: usize) -> usize {
    let bytes: usize = section.bytes.iter().map(|&byte| digits(byte.into()) + 1).sum();
    let reference = |Relocation { target, addend, .. }: &Relocation| match target {
        RelocationTarget::Section(name) => name.len() + 1 + digits(*addend),
        // A label's number has about as many digits as its position.
        RelocationTarget::Symbol(name) => name.len().max(LABEL.len() + digits(*addend) + 2),
        RelocationTarget::Distance(_) => 0,
    };
    // A reference takes a line, and begins another line for the bytes after it.
    let references: usize = section.relocations.iter().map(|relocation| 6 + reference(relocation) + 4).sum();
    bytes + (section.bytes.len() / IN_LINE + 1) * 4 + references + 4 * names + section.name.len() + 64
}
