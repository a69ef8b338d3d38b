//! Macros.

use std::collections::BTreeSet;
use std::fmt::{self, Write};

use super::text::Dump;
use crate::read::{Macro, MacroEntry, Macros, Unit};

impl<'d> Dump<'_, 'd, '_> {
    pub(super) fn macros(&mut self, unit: &Unit<'d>) -> fmt::Result {
        match self.dwarf.macros(unit) {
            Ok(None) => Ok(()),
            Ok(Some(list)) => {
                self.out.push_str("macros:");
                match list.version {
                    Some(version) => write!(self.out, " version {version}")?,
                    None => self.out.push_str(" .debug_macinfo"),
                }
                self.at(list.offset)?;
                self.out.push('\n');
                self.macro_list(&list, 1, &mut BTreeSet::from([list.offset]))
            }
            Err(error) => writeln!(self.out, "macros: <{error}>"),
        }
    }

    /// Prints a list of macros. `printed` has the offsets of printed lists: one list can be imported repeatedly, and
    /// also belong to a unit.
    fn macro_list(
        &mut self,
        list: &Macros<'d>,
        mut depth: usize,
        printed: &mut BTreeSet<u64>,
    ) -> fmt::Result {
        for one in list.entries() {
            let MacroEntry { offset, entry, opcode } = match one {
                Ok(one) => one,
                Err(error) => {
                    self.indent(depth);
                    return writeln!(self.out, "<{error}>");
                }
            };
            if entry == Macro::EndFile {
                depth = depth.saturating_sub(1).max(1);
            }
            self.indent(depth);
            match entry {
                Macro::Define { line, text } => {
                    write!(self.out, "{line}: define ")?;
                    self.out.push_str(&String::from_utf8_lossy(text));
                }
                Macro::Undef { line, text } => {
                    write!(self.out, "{line}: undef ")?;
                    self.out.push_str(&String::from_utf8_lossy(text));
                }
                Macro::StartFile { line, file } => {
                    write!(self.out, "{line}: file {file}")?;
                    if let Some(path) = self.program.as_ref().and_then(|program| program.path(file)) {
                        write!(self.out, " {path:?}")?;
                    }
                    depth += 1;
                }
                Macro::EndFile => self.out.push_str("end"),
                Macro::Import { offset } => {
                    self.out.push_str("import");
                    self.at(offset)?;
                    match list.import(offset) {
                        _ if !printed.insert(offset) => self.out.push_str(" of a list above"),
                        Ok(list) => {
                            self.out.push('\n');
                            self.macro_list(&list, depth + 1, printed)?;
                            continue;
                        }
                        Err(error) => write!(self.out, " <{error}>")?,
                    }
                }
                Macro::ImportSup { .. } => self.out.push_str("import from the supplementary file"),
                Macro::DefineSup { line, .. } => {
                    write!(self.out, "{line}: define, in the supplementary file")?
                }
                Macro::UndefSup { line, .. } => write!(self.out, "{line}: undef, in the supplementary file")?,
                Macro::Vendor { number, text } => {
                    write!(self.out, "vendor {number} ")?;
                    self.quoted(text)?;
                }
                _ => write!(self.out, "opcode {opcode:#04x}")?,
            }
            self.at(offset)?;
            self.out.push('\n');
        }
        Ok(())
    }
}
