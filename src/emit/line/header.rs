//! Line program header: directories and files.

use gimli::{DwForm, DwLnct, constants as dw};

use super::rows::LineFile;
use super::shape::Shape;
use crate::emit::format::Format;
use crate::emit::section::{Relocation, RelocationTarget};
use crate::error::{Error, Result};
use crate::op::write_uleb;

/// Relocation size in bytes in an object file: ELF64 with an addend.
const RELOCATION_BYTES: usize = 24;

/// Each standard opcode's operand count, from opcode 1 on.
const STANDARD_OPERANDS: [u8; 12] = [0, 1, 1, 1, 1, 0, 0, 0, 1, 0, 0, 1];

/// Storage for file names outside the line table.
pub(crate) struct Names<'n> {
    /// Gives a string's offset in `.debug_line_str`. Called in the table's order.
    pub(crate) offset: &'n mut dyn FnMut(&str) -> u64,
    /// Whether other units may have the same names, so that sharing them can save space.
    pub(crate) are_shared: bool,
    /// Whether the header refers to names of inlined functions in `.debug_str`, as NVIDIA's headers do. Before DWARF 5.
    pub(crate) has_inlined: bool,
}

/// A header, while it is being appended.
pub(super) struct Header<'s, 'n> {
    pub(super) out: &'s mut Vec<u8>,
    pub(super) relocations: &'s mut Vec<Relocation>,
    pub(super) format: Format,
    pub(super) names: Names<'n>,
}

impl Header<'_, '_> {
    pub(super) fn write(
        &mut self,
        shape: &Shape,
        min_instruction_bytes: u8,
        directories: &[&str],
        files: &[LineFile<'_>],
    ) -> Result<()> {
        let format = self.format;
        format.half(self.out, format.version);
        if format.version >= 5 {
            self.out.extend_from_slice(&[format.address_bytes, 0]);
        }
        format.offset(self.out, 0);
        let start = self.out.len();
        self.out.push(min_instruction_bytes);
        if format.version >= 4 {
            // Operations per instruction: no supported machine is VLIW.
            self.out.push(1);
        }
        let is_stmt = 1;
        self.out.extend_from_slice(&[is_stmt, shape.line_base as u8, shape.line_range, shape.opcode_base]);
        self.out.extend_from_slice(&STANDARD_OPERANDS[..usize::from(shape.opcode_base) - 1]);
        if format.version >= 5 {
            self.directories(directories);
            self.files(files);
        } else {
            self.old_tables(directories, files)?;
            if self.names.has_inlined {
                self.relocations.push(Relocation {
                    offset: self.out.len() as u64,
                    bytes: format.offset_bytes,
                    target: RelocationTarget::Section(".debug_str"),
                    addend: 0,
                });
                format.offset(self.out, 0);
            }
        }
        let length = (self.out.len() - start) as u64;
        format.patch(self.out, start - usize::from(format.offset_bytes), length, format.offset_bytes);
        Ok(())
    }

    fn directories(&mut self, directories: &[&str]) {
        let form = self.form(directories.iter().copied());
        self.out.push(1);
        self.part(dw::DW_LNCT_path, form);
        write_uleb(self.out, directories.len() as u64);
        for directory in directories {
            self.name(directory, form);
        }
    }

    fn files(&mut self, files: &[LineFile<'_>]) {
        let form = self.form(files.iter().map(|file| file.name));
        // Either all files have a sum or none, so the first file decides.
        let has_md5 = files.first().is_some_and(|file| file.md5.is_some());
        let has_source = files.iter().any(|file| file.source.is_some());
        self.out.push(2 + u8::from(has_md5) + u8::from(has_source));
        self.part(dw::DW_LNCT_path, form);
        self.part(dw::DW_LNCT_directory_index, dw::DW_FORM_udata);
        if has_md5 {
            self.part(dw::DW_LNCT_MD5, dw::DW_FORM_data16);
        }
        if has_source {
            self.part(dw::DW_LNCT_LLVM_source, dw::DW_FORM_line_strp);
        }
        write_uleb(self.out, files.len() as u64);
        for file in files {
            self.name(file.name, form);
            write_uleb(self.out, file.directory);
            if has_md5 {
                self.out.extend_from_slice(&file.md5.unwrap_or_default());
            }
            if has_source {
                // A file without source has an empty text: LLVM's convention.
                self.name(file.source.unwrap_or(""), dw::DW_FORM_line_strp);
            }
        }
    }

    /// The tables before DWARF 5, which end with an empty name: DWARF 4 section 6.2.4.
    fn old_tables(&mut self, directories: &[&str], files: &[LineFile<'_>]) -> Result<()> {
        // Index 0, the compilation directory, is implied.
        for directory in directories.iter().skip(1) {
            self.name(if directory.is_empty() { "." } else { directory }, dw::DW_FORM_string);
        }
        self.out.push(0);
        for file in files {
            if file.name.is_empty() {
                return Err(Error::bad_argument(
                    "file has no name; expected a name in a line table before DWARF 5",
                ));
            }
            self.name(file.name, dw::DW_FORM_string);
            write_uleb(self.out, file.directory);
            // Modification time and size are unknown.
            self.out.extend_from_slice(&[0, 0]);
        }
        self.out.push(0);
        Ok(())
    }

    /// Returns the form for a table's names. Inline names need no offset and no relocation; names in `.debug_line_str`
    /// are shared between units, which saves space if they are long.
    fn form<'t>(&self, names: impl Iterator<Item = &'t str> + Clone) -> DwForm {
        let inline: usize = names.clone().map(|name| name.len() + 1).sum();
        let offsets = names.count() * (usize::from(self.format.offset_bytes) + RELOCATION_BYTES);
        if self.names.are_shared && inline > offsets { dw::DW_FORM_line_strp } else { dw::DW_FORM_string }
    }

    fn part(&mut self, content: DwLnct, form: DwForm) {
        write_uleb(self.out, content.0.into());
        write_uleb(self.out, form.0.into());
    }

    fn name(&mut self, text: &str, form: DwForm) {
        if form == dw::DW_FORM_string {
            self.out.extend_from_slice(text.as_bytes());
            self.out.push(0);
            return;
        }
        self.relocations.push(Relocation {
            offset: self.out.len() as u64,
            bytes: self.format.offset_bytes,
            target: RelocationTarget::Section(".debug_line_str"),
            addend: (self.names.offset)(text),
        });
        self.format.offset(self.out, 0);
    }
}
