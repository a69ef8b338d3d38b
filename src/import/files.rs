//! Source files: DWARF 5 section 6.2.4.

use std::rc::Rc;

use hashbrown::HashMap;

use super::importer::Importer;
use super::unimported::UnimportedReason;
use crate::model::{FileId, UnitId};
use crate::read::{LineProgram, Unit};

impl<'d, 'o> Importer<'d, 'o> {
    /// Returns the line program of a unit in the file.
    pub(super) fn program(&mut self, unit: &'d Unit<'o>) -> Option<Rc<LineProgram<'o>>> {
        let dwarf = self.dwarf;
        let read = || dwarf.lines(unit).ok().flatten().map(Rc::new);
        self.sources.programs.entry(unit.offset).or_insert_with(read).clone()
    }

    /// Adds the files of the current unit's line table, in their order.
    pub(super) fn files(&mut self) {
        self.sources.files.clear();
        self.sources.sums.clear();
        if let Err(error) = self.dwarf.lines(self.info) {
            self.list_in(
                ".debug_line",
                self.info.stmt_list.unwrap_or(0),
                UnimportedReason::Unreadable(error),
            );
        }
        let Some(program) = self.program(self.info) else { return };
        let first = if program.version >= 5 { 0 } else { 1 };
        for number in (first..).take(program.files.len()) {
            self.file(self.info, number);
        }
    }

    /// Returns the file with a number in a unit's line table, for the current unit.
    pub(super) fn file(&mut self, unit: &'d Unit<'o>, number: u64) -> Option<FileId> {
        let key = (unit.offset, number);
        if let Some(&known) = self.sources.files.get(&key) {
            return known;
        }
        let file = self.program(unit).and_then(|program| self.new_file(unit, &program, number));
        self.sources.files.insert(key, file);
        file
    }

    fn new_file(&mut self, unit: &Unit<'o>, program: &LineProgram<'o>, number: u64) -> Option<FileId> {
        let line_file = program.file(number)?;
        let name = String::from_utf8_lossy(line_file.path);
        let folder = unit.comp_dir.as_deref();
        // Directory 0 is the compilation directory, which the table of DWARF 5 repeats.
        let directory = program.directory(line_file.directory).map(String::from_utf8_lossy);
        let directory = directory.filter(|it| line_file.directory != 0 && Some(&**it) != folder);
        let own = self.info.comp_dir.as_deref();
        let directory = match (directory, folder) {
            (None, Some(folder)) if own != Some(folder) => Some(folder.to_owned()),
            (Some(directory), Some(folder)) if own != Some(folder) && !directory.starts_with('/') => {
                Some(format!("{folder}/{directory}"))
            }
            (directory, _) => directory.map(|directory| directory.into_owned()),
        };
        let path = joined(own, directory.as_deref(), &name);
        let primary = self.info.name.as_deref().map(|name| joined(own, None, name));
        let file = if primary == Some(path) {
            self.m.primary_file(self.unit).ok()?
        } else {
            self.m.file(self.unit, &name, directory.as_deref()).ok()?
        };
        if !self.sources.sums.iter().rev().take(2).any(|&(known, _)| known == file) {
            self.sources.sums.push((file, line_file.md5));
        }
        if let Some(source) = line_file.source {
            let text = String::from_utf8_lossy(source);
            // An empty text tells that there is none.
            if !text.is_empty() && self.m.file_source(file, &text).is_err() {
                self.list_in(".debug_line", program.offset, UnimportedReason::FileTime);
            }
        }
        if line_file.modified != 0 || line_file.size != 0 {
            self.list_in(".debug_line", program.offset, UnimportedReason::FileTime);
        }
        Some(file)
    }

    /// Sets the checksums, if all files of the unit have one.
    pub(super) fn sums(&mut self) {
        let sums = core::mem::take(&mut self.sources.sums);
        let known: HashMap<FileId, [u8; 16]> =
            sums.iter().filter_map(|&(file, sum)| Some((file, sum?))).collect();
        let has_all = self.files_of(self.unit).into_iter().all(|file| known.contains_key(&file));
        for (file, sum) in sums {
            let Some(sum) = sum else { continue };
            if has_all {
                drop(self.m.file_md5(file, sum));
            } else {
                let offset = self.info.stmt_list.unwrap_or(0);
                self.list_in(".debug_line", offset, UnimportedReason::PartialSums);
            }
        }
    }

    fn files_of(&self, unit: UnitId) -> Vec<FileId> {
        // The unit's files are the last, because units are imported one after the other.
        let module = self.m.described();
        let count = module.files.len();
        let ids = (0..count as u32).rev().map(FileId::from_u32);
        ids.take_while(|&file| module.file(file).unit == unit).collect()
    }
}

/// Joins a path, up to an absolute part.
fn joined(folder: Option<&str>, directory: Option<&str>, name: &str) -> String {
    let mut path = String::new();
    for part in [folder.unwrap_or_default(), directory.unwrap_or_default(), name] {
        if part.starts_with('/') {
            path.clear();
        } else if !path.is_empty() && !part.is_empty() {
            path.push('/');
        }
        path += part;
    }
    path
}
