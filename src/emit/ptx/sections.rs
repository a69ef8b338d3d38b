//! Debug sections as directives: `.section .debug_info { .b8 1,2 … }`.

use std::fmt::Write;

use super::attach::{Labels, decimal};
use crate::emit::{Relocation, RelocationTarget, Section};
use crate::error::{Error, ErrorKind, Named, Result};
use crate::near::nearest;
use crate::ptx::{LABEL, Text};

/// Writer of sections.
pub(super) struct Writer<'w> {
    pub(super) out: &'w mut String,
    pub(super) labels: &'w Labels<'w>,
    pub(super) text: &'w Text<'w>,
}

/// Numbers in a line.
const IN_LINE: usize = 32;

/// Sections that ptxas makes itself.
const OF_PTXAS: [&str; 2] = [".debug_frame", ".debug_line"];

impl Writer<'_> {
    /// Writes a section, followed by the names of inlined functions if it has them.
    pub(super) fn section(&mut self, section: &Section, names: Option<&Vec<u8>>) -> Result<()> {
        let in_section = |error: Error| error.in_section(section.name);
        if OF_PTXAS.contains(&section.name) || !section.name.starts_with(".debug_") {
            let what = "ptxas makes the line table and the frames, and takes other sections `.debug_*`";
            return Err(in_section(Error::bad_argument(what)));
        }
        let _ = writeln!(self.out, ".section\t{}\n{{", section.name);
        let mut done = 0;
        for relocation in &section.relocations {
            let at = usize::try_from(relocation.offset).unwrap_or(usize::MAX);
            let end = at.saturating_add(relocation.bytes.into());
            if at < done || end > section.bytes.len() {
                let what = format!("relocations are in the section and do not overlap: offset {at:#x}");
                return Err(in_section(Error::bad_argument(what)));
            }
            self.bytes(&section.bytes[done..at]);
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

    /// Writes a section of the names of inlined functions.
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
            self.out.push_str(".b8\t");
            for &byte in line {
                self.out.push_str(itoa::Buffer::new().format(byte));
                self.out.push(',');
            }
            self.out.pop();
            self.out.push('\n');
        }
    }

    fn reference(&mut self, Relocation { bytes, target, addend, .. }: &Relocation) -> Result<()> {
        let directive = match bytes {
            4 => ".b32",
            8 => ".b64",
            _ => return Err(Error::bad_argument(format!("a reference has 4 or 8 bytes: {bytes}"))),
        };
        let _ = match target {
            RelocationTarget::Section(name) if *addend == 0 => writeln!(self.out, "{directive}\t{name}"),
            RelocationTarget::Section(name) => writeln!(self.out, "{directive}\t{name}+{addend}"),
            RelocationTarget::Symbol(name) => {
                if let Some(label) = self.labels.number(name, *addend) {
                    for part in [directive, "\t", LABEL] {
                        self.out.push_str(part);
                    }
                    decimal(self.out, label);
                    self.out.push('\n');
                    Ok(())
                } else {
                    match self.labels.variables(name) {
                        0 => return Err(unknown(self.text, name)),
                        1 => {}
                        _ => {
                            let (of, name, candidates) = (Named::Symbol, name.to_string(), Vec::new());
                            return Err(ErrorKind::AmbiguousName { of, name, candidates }.into());
                        }
                    }
                    if *addend != 0 {
                        // ptxas ignores it in `.local` symbols.
                        let what =
                            format!("a reference to a variable of PTX has no addend: `{name}` + {addend}");
                        return Err(Error::bad_argument(what));
                    }
                    writeln!(self.out, "{directive}\t{name}")
                }
            }
            RelocationTarget::Distance(name) => {
                let what = format!("sections of PTX have no distances: that to `{name}`");
                return Err(Error::bad_argument(what));
            }
        };
        Ok(())
    }
}

/// Maximum length of a section as directives.
pub(super) fn length(section: &Section) -> usize {
    let digits = |&byte: &u8| match byte {
        0..10 => 2,
        10..100 => 3,
        100.. => 4,
    };
    let bytes: usize = section.bytes.iter().map(digits).sum();
    // A reference takes a line of its own, and begins another one.
    bytes + (section.bytes.len() / IN_LINE + 2) * 4 + 32 * (section.relocations.len() + 1)
}

/// Error for a name that the text does not declare.
#[cold]
pub(super) fn unknown(text: &Text<'_>, name: &str) -> Error {
    let functions = text.functions.iter().map(|function| function.name);
    let known = functions.chain(text.symbols.iter().map(|symbol| symbol.name));
    let nearest = nearest(name, known);
    ErrorKind::UnknownName { of: Named::Symbol, name: name.into(), nearest }.into()
}
