//! Directories and files in a line program's header. DWARF 5 section 6.2.4.

use gimli::{DwLnct, constants as dw};

use super::describe::Describe;
use super::files::{described, source};
use super::lines::Lines;
use super::report::FindingKind;
use super::tables::in_section;
use super::tables::less;
use crate::error::At;
use crate::model::UnitId;
use crate::read::LineProgram;

/// Content types that a module describes for directories and files. A file's source text is an LLVM extension.
const DIRECTORY: &[DwLnct] = &[dw::DW_LNCT_path];
const FILE: &[DwLnct] = &[dw::DW_LNCT_path, dw::DW_LNCT_directory_index, dw::DW_LNCT_MD5, DwLnct(0x2001)];

impl Lines<'_, '_> {
    /// Compares sizes, and all directories and files, whether rows use them or not.
    pub(super) fn line_header(&mut self, id: UnitId, program: &LineProgram<'_>, site: &At) {
        let module = self.described.module;
        let version = program.version;
        let site = &in_section(".debug_line", Some(site.clone()));
        self.report.expect_equal(
            site,
            "the version of a line program",
            &self.described.consumer.version,
            &version,
        );
        self.report.expect_equal(
            site,
            "bytes of an address",
            &module.target.address_bytes(),
            &program.address_bytes,
        );
        self.report.expect_equal(
            site,
            "bytes of an offset",
            &self.described.consumer.format.word_size(),
            &program.offset_bytes,
        );
        // A reader skips unknown content types, so that they are extra, not wrong.
        for (format, known) in program.formats.iter().zip([DIRECTORY, FILE]) {
            for (name, _) in format.iter().filter(|(name, _)| !known.contains(name)) {
                let text = name.static_string().map_or_else(|| format!("{:#x}", name.0), Into::into);
                self.report.find(
                    FindingKind::Extra,
                    site.clone(),
                    "paths, directories, MD5 sums and texts of files",
                    text,
                );
            }
        }
        let text = |bytes| String::from_utf8_lossy(bytes).into_owned();
        // Before DWARF 5 the compilation directory is not listed, and indices start at 1.
        let is_five = version >= 5;
        let mut is_used = vec![false; program.directories.len() + usize::from(!is_five)];
        if let Some(first) = is_used.first_mut() {
            // The compilation directory is there whether a file uses it or not.
            *first = true;
        }
        if is_five {
            let directory = module.unit(id).directory.map_or("", |directory| module.string(directory));
            let actual = program.directory(0).map(text);
            self.report.expect_equal(site, "the first directory", &Some(directory.to_owned()), &actual);
        }
        let mut actual = Vec::new();
        for (number, file) in (u64::from(!is_five)..).zip(&program.files) {
            let name = || format!("file {}", text(file.path).describe());
            // The model has neither, so that a value is the writer's invention.
            for (what, number) in [("time", file.modified), ("size", file.size)] {
                if number != 0 {
                    self.report.find(
                        FindingKind::Extra,
                        site.clone(),
                        format!("no {what} of {}", name()),
                        number.describe(),
                    );
                }
            }
            match usize::try_from(file.directory).ok().and_then(|directory| is_used.get_mut(directory)) {
                Some(is_used) => *is_used = true,
                None => {
                    let expected = format!("a directory of {}, of {}", name(), is_used.len());
                    self.report.find(
                        FindingKind::Line,
                        site.clone(),
                        expected,
                        format!("directory {}", file.directory),
                    );
                }
            }
            actual.extend(source(program, number));
        }
        let of_unit = module.files.iter().filter(|(_, file)| file.unit == id);
        let consumer = self.described.consumer;
        let mut expected: Vec<_> = of_unit.map(|(id, _)| described(module, consumer, id, version)).collect();
        // The order is the writer's choice: rows refer to files by number.
        expected.sort_unstable();
        actual.sort_unstable();
        for file in less(&expected, &actual) {
            self.report.find(FindingKind::Line, site.clone(), format!("file {}", file.describe()), "none");
        }
        // A directive table belongs to all units.
        let extra = if consumer.has_line_directives { Vec::new() } else { less(&actual, &expected) };
        for file in extra {
            self.report.find(FindingKind::Extra, site.clone(), "no more files", file.describe());
        }
        for (number, _) in (0..).zip(&is_used).filter(|&(_, &is_used)| !is_used) {
            let actual = program.directory(number).map(text).unwrap_or_default();
            self.report.find(FindingKind::Extra, site.clone(), "no more directories", actual.describe());
        }
    }
}
