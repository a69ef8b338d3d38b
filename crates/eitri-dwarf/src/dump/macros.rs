//! Macros.

use std::fmt::{self, Write};

use super::text::Dump;
use crate::read::{MacroAction, MacroEntry, Macros, Unit};

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
                let is_new = self.macro_lists.insert((false, list.offset));
                self.out.push_str(if is_new { "\n" } else { ", a list above\n" });
                if is_new { self.macro_list(list) } else { Ok(()) }
            }
            Err(error) => writeln!(self.out, "macros: <{error}>"),
        }
    }

    /// Prints a macro list, and after each import the imported list, unless that list was printed before: several units
    /// and lists can import a list, and it can also belong to a unit. The open lists are in a vector, because a file can chain
    /// more imports than the thread's stack could hold.
    fn macro_list(&mut self, first: Macros<'d>) -> fmt::Result {
        let mut open = vec![Open { list: first, depth: 1, is_supplementary: false }];
        while let Some(Open { list, depth, is_supplementary }) = open.last_mut() {
            let is_supplementary = *is_supplementary;
            let MacroEntry { offset, entry, opcode } = match list.next_entry() {
                Some(Ok(entry)) => entry,
                Some(Err(error)) => {
                    self.indent(*depth);
                    writeln!(self.out, "<{error}>")?;
                    open.pop();
                    continue;
                }
                None => {
                    open.pop();
                    continue;
                }
            };
            if entry == MacroAction::EndFile {
                *depth = depth.saturating_sub(1).max(1);
            }
            self.indent(*depth);
            let mut imported = None;
            match entry {
                MacroAction::Define { line, text } => {
                    write!(self.out, "{line}: define ")?;
                    self.out.push_str(&String::from_utf8_lossy(text));
                }
                MacroAction::Undef { line, text } => {
                    write!(self.out, "{line}: undef ")?;
                    self.out.push_str(&String::from_utf8_lossy(text));
                }
                MacroAction::StartFile { line, file } => {
                    write!(self.out, "{line}: file {file}")?;
                    // File numbers in the supplementary file belong to line programs there.
                    let program = self.program.as_ref().filter(|_| !is_supplementary);
                    if let Some(path) = program.and_then(|program| program.path(file)) {
                        write!(self.out, " {path:?}")?;
                    }
                    *depth += 1;
                }
                MacroAction::EndFile => self.out.push_str("end"),
                MacroAction::Import { offset } => {
                    self.out.push_str("import");
                    self.at(offset)?;
                    imported = Some((is_supplementary, offset, list.import(offset)));
                }
                MacroAction::ImportSup { offset } => match list.import_supplementary(offset) {
                    Some(list) => {
                        self.out.push_str("import in the supplementary file");
                        self.at(offset)?;
                        imported = Some((true, offset, list));
                    }
                    None => self.out.push_str("import in a supplementary file"),
                },
                MacroAction::DefineSup { line, .. } => {
                    write!(self.out, "{line}: define, in a supplementary file")?
                }
                MacroAction::UndefSup { line, .. } => {
                    write!(self.out, "{line}: undef, in a supplementary file")?
                }
                MacroAction::Vendor { number, text } => {
                    write!(self.out, "vendor {number} ")?;
                    self.quoted(text)?;
                }
                _ => write!(self.out, "opcode {opcode:#04x}")?,
            }
            let depth = *depth;
            match imported {
                Some((is_supplementary, offset, _))
                    if !self.macro_lists.insert((is_supplementary, offset)) =>
                {
                    self.out.push_str(" of a list above");
                }
                Some((is_supplementary, _, Ok(list))) => {
                    self.out.push('\n');
                    open.push(Open { list, depth: depth + 1, is_supplementary });
                    continue;
                }
                Some((_, _, Err(error))) => write!(self.out, " <{error}>")?,
                None => {}
            }
            self.at(offset)?;
            self.out.push('\n');
        }
        Ok(())
    }
}

/// A macro list that is partly printed.
struct Open<'d> {
    /// The list from the next entry on.
    list: Macros<'d>,
    depth: usize,
    is_supplementary: bool,
}
