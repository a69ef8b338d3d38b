//! Macros: DWARF 5 section 6.3. Lists that a list includes are imported in their place.

use super::importer::Importer;
use super::unimported::UnimportedReason;
use crate::error::Error;
use crate::read::MacroAction;

/// Maximum nesting depth of lists.
const MOST_LISTS: usize = 16;
/// Maximum number of entries for each byte of the macro sections, because lists can be included repeatedly.
const MOST_ENTRIES: usize = 4;

impl<'d, 'o> Importer<'d, 'o> {
    /// Imports the current unit's macros.
    pub(super) fn macros(&mut self) {
        let list = match self.dwarf.macros(self.info) {
            Ok(Some(list)) => list,
            Ok(None) => return,
            Err(error) => return self.list_in(".debug_macro", 0, UnimportedReason::Unreadable(error)),
        };
        let section = if list.version.is_some() { ".debug_macro" } else { ".debug_macinfo" };
        let sections = self.dwarf.sections();
        let bytes = sections.debug_macro.len() + sections.debug_macinfo.len();
        let mut room = bytes.saturating_mul(MOST_ENTRIES);
        let mut depth = 0u32;
        let mut lists = vec![list];
        while let Some(list) = lists.last_mut() {
            let next = list.next_entry();
            let entry = match next {
                None => {
                    lists.pop();
                    continue;
                }
                Some(Err(error)) => {
                    let offset = error.at().offset.unwrap_or(0);
                    self.list_in(section, offset, UnimportedReason::Unreadable(error));
                    lists.pop();
                    continue;
                }
                Some(Ok(entry)) => entry,
            };
            let Some(rest) = room.checked_sub(1) else {
                return self.list_in(section, entry.offset, UnimportedReason::TooManyCopies);
            };
            room = rest;
            if let MacroAction::Import { offset } = entry.entry {
                match list.import(offset) {
                    Ok(inner) if lists.len() < MOST_LISTS => lists.push(inner),
                    Ok(_) => self.list_in(section, entry.offset, UnimportedReason::TooManyCopies),
                    Err(error) => self.list_in(section, entry.offset, UnimportedReason::Unreadable(error)),
                }
                continue;
            }
            if let Err(reason) = self.action(entry.entry, &mut depth) {
                self.list_in(section, entry.offset, reason);
            }
        }
        // A file that does not end in the list ends with it.
        for _ in 0..depth {
            drop(self.m.macros(self.unit).and_then(|mut macros| macros.end_file().map(drop)));
        }
    }

    fn action(&mut self, action: MacroAction<'o>, depth: &mut u32) -> Result<(), UnimportedReason> {
        let line = |line: u64| u32::try_from(line).map_err(|_| UnimportedReason::ValueRange(line.into()));
        let refused = |error: Error| UnimportedReason::Refused(error);
        let unit = self.unit;
        match action {
            MacroAction::Define { line: number, text } => {
                let number = line(number)?;
                let text = String::from_utf8_lossy(text);
                let mut macros = self.m.macros(unit).map_err(refused)?;
                macros.define(number, &text).map(drop).map_err(refused)
            }
            MacroAction::Undef { line: number, text } => {
                let number = line(number)?;
                let text = String::from_utf8_lossy(text);
                let mut macros = self.m.macros(unit).map_err(refused)?;
                macros.undefine(number, &text).map(drop).map_err(refused)
            }
            MacroAction::StartFile { line: number, file } => {
                let number = line(number)?;
                let file = self.file(self.info, file).ok_or(UnimportedReason::MissingFile(file))?;
                let mut macros = self.m.macros(unit).map_err(refused)?;
                macros.file(number, file).map(drop).map_err(refused)?;
                *depth += 1;
                Ok(())
            }
            MacroAction::EndFile => {
                let mut macros = self.m.macros(unit).map_err(refused)?;
                macros.end_file().map(drop).map_err(refused)?;
                *depth -= 1;
                Ok(())
            }
            _ => Err(UnimportedReason::NoProperty),
        }
    }
}
