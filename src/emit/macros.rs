//! `.debug_macro`, DWARF 5 section 6.3, also in version 4 as GNU's tools write it; `.debug_macinfo`, DWARF 4 section
//! 6.3.

use gimli::constants as dw;

use super::format::Format;
use super::section::{Relocation, RelocationTarget};
use crate::op::{write_byte_uleb, write_uleb};

/// Section for macro information. Entries that both sections have are encoded equally.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum MacroSection {
    /// `.debug_macinfo` of DWARF 2 to 4.
    Macinfo,
    /// `.debug_macro` in DWARF 5; in version 4, GNU's extension to DWARF 4.
    Macro,
}

/// Relocation size in bytes in an object file: ELF64 with an addend.
const RELOCATION_BYTES: usize = 24;

/// Writer for a unit's macro information.
#[derive(Debug)]
pub(crate) struct MacroProgram<'s> {
    out: &'s mut Vec<u8>,
    relocations: &'s mut Vec<Relocation>,
    format: Format,
    section: MacroSection,
    /// Whether other units may have the same macros, so that sharing strings can save space.
    are_shared: bool,
}

impl<'s> MacroProgram<'s> {
    /// Writes the header.
    ///
    /// * `line` – the line program's offset in `.debug_line`; the program has the file names.
    pub(crate) fn begin(
        out: &'s mut Vec<u8>,
        relocations: &'s mut Vec<Relocation>,
        format: Format,
        section: MacroSection,
        are_shared: bool,
        line: Option<u64>,
    ) -> Self {
        let mut program = Self { out, relocations, format, section, are_shared };
        if section == MacroSection::Macro {
            format.half(program.out, format.version.clamp(4, 5));
            let has_wide_offsets = format.offset_bytes == 8;
            // Flags: bit 0 for eight-byte offsets, bit 1 for a line program.
            program.out.push(u8::from(has_wide_offsets) | u8::from(line.is_some()) << 1);
            if let Some(line) = line {
                program.offset(".debug_line", line);
            }
        }
        program
    }

    /// Appends a macro's definition. `offset` gives a string's offset in `.debug_str`.
    pub(crate) fn define(&mut self, line: u32, text: &str, offset: &mut dyn FnMut(&str) -> u64) {
        self.text([dw::DW_MACRO_define, dw::DW_MACRO_define_strp], line, text, offset);
    }

    /// Appends the end of a macro's definition: `#undef`.
    pub(crate) fn undefine(&mut self, line: u32, name: &str, offset: &mut dyn FnMut(&str) -> u64) {
        self.text([dw::DW_MACRO_undef, dw::DW_MACRO_undef_strp], line, name, offset);
    }

    /// Appends the start of a file, by its number in the line program.
    pub(crate) fn start_file(&mut self, line: u32, file: u64) {
        write_byte_uleb(self.out, dw::DW_MACRO_start_file.0, line.into());
        write_uleb(self.out, file);
    }

    pub(crate) fn end_file(&mut self) {
        self.out.push(dw::DW_MACRO_end_file.0);
    }

    /// Appends the entries of a list of the same section. The relocation's addend is the list's number, until the lists have
    /// offsets. DWARF 5 section 6.3.3.
    pub(crate) fn import(&mut self, number: u64) {
        self.out.push(dw::DW_MACRO_import.0);
        self.offset(".debug_macro", number);
    }

    pub(crate) fn finish(self) {
        self.out.push(0);
    }

    /// Appends a macro with its text. An inline text needs no offset and no relocation; a text in `.debug_str` is
    /// shared between units, which saves space if it is long.
    fn text(
        &mut self,
        codes: [gimli::DwMacro; 2],
        line: u32,
        text: &str,
        offset: &mut dyn FnMut(&str) -> u64,
    ) {
        let [here, by_offset] = codes;
        let in_section = usize::from(self.format.offset_bytes) + RELOCATION_BYTES;
        if self.section == MacroSection::Macro && self.are_shared && text.len() + 1 > in_section {
            write_byte_uleb(self.out, by_offset.0, line.into());
            self.offset(".debug_str", offset(text));
        } else {
            write_byte_uleb(self.out, here.0, line.into());
            self.out.extend_from_slice(text.as_bytes());
            self.out.push(0);
        }
    }

    fn offset(&mut self, section: &'static str, addend: u64) {
        self.relocations.push(Relocation {
            offset: self.out.len() as u64,
            bytes: self.format.offset_bytes,
            target: RelocationTarget::Section(section),
            addend,
        });
        self.format.offset(self.out, 0);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::emit::line::file_number;
    use crate::emit::sample::{
        EU_READELF, Folder, LLVM_DWARFDUMP, READELF, formats, linked, sample, section,
    };
    use gimli::{DebugMacinfo, DebugMacro, MacroEntry, MacroIter, RunTimeEndian};

    const LONG: &str = "LONG(a,b) a definition that is longer than a relocation";

    /// Two macros from the command line, the primary file, and one file included from it.
    fn write(
        format: Format,
        kind: MacroSection,
        are_shared: bool,
        line: u64,
        at: u64,
    ) -> (Vec<u8>, Vec<Relocation>) {
        let mut out = Vec::new();
        let mut relocations = Vec::new();
        let line = (kind == MacroSection::Macro).then_some(line);
        let mut m = MacroProgram::begin(&mut out, &mut relocations, format, kind, are_shared, line);
        let offset = &mut |_: &str| at;
        m.define(0, "A 1", offset);
        m.undefine(0, "B", offset);
        m.start_file(0, file_number(format, 0));
        m.start_file(200, file_number(format, 1));
        m.define(7, LONG, offset);
        m.end_file();
        m.end_file();
        m.finish();
        (out, relocations)
    }

    #[test]
    fn by_hand() {
        let (out, relocations) = write(Format::SMALL, MacroSection::Macro, true, 0x44, 9);
        #[rustfmt::skip]
        let expected = [
            5, 0, 2, 0, 0, 0, 0,
            1, 0, b'A', b' ', b'1', 0,
            2, 0, b'B', 0,
            3, 0, 0,
            3, 0xc8, 1, 1,
            5, 7, 0, 0, 0, 0,
            4, 4, 0,
        ];
        assert_eq!(out, expected);
        let relocation = |offset, name, addend| Relocation {
            offset,
            bytes: 4,
            target: RelocationTarget::Section(name),
            addend,
        };
        assert_eq!(relocations, [relocation(3, ".debug_line", 0x44), relocation(26, ".debug_str", 9)]);

        let large = Format { version: 4, offset_bytes: 8, ..Format::SMALL };
        let (out, relocations) = write(large, MacroSection::Macro, false, 0x44, 9);
        assert_eq!(out[..11], [4, 0, 3, 0, 0, 0, 0, 0, 0, 0, 0]);
        assert_eq!(out[28..30], [1, 7]);
        assert_eq!(&out[30..30 + LONG.len()], LONG.as_bytes());
        assert_eq!(relocations.len(), 1, "nobody else has the text");

        let (out, relocations) =
            write(Format { version: 4, ..Format::SMALL }, MacroSection::Macinfo, true, 0, 0);
        assert_eq!(out[..6], [1, 0, b'A', b' ', b'1', 0]);
        assert_eq!(&out[19..19 + LONG.len()], LONG.as_bytes());
        assert!(relocations.is_empty());
    }

    fn read(
        mut entries: MacroIter<gimli::EndianSlice<'_, RunTimeEndian>>,
        str: &[u8],
        endian: RunTimeEndian,
    ) -> Vec<String> {
        let strings = gimli::DebugStr::new(str, endian);
        let text = |text: gimli::MacroString<gimli::EndianSlice<'_, RunTimeEndian>>| match text {
            gimli::MacroString::Direct(text) => text.to_string_lossy().into_owned(),
            gimli::MacroString::StringPointer(offset) => {
                strings.get_str(offset).expect("a string").to_string_lossy().into_owned()
            }
            other => panic!("{other:?}"),
        };
        let mut macros = Vec::new();
        while let Some(entry) = entries.next().expect("an entry") {
            macros.push(match entry {
                MacroEntry::Define { line, text: definition } => {
                    format!("define {line} {}", text(definition))
                }
                MacroEntry::Undef { line, name } => format!("undef {line} {}", text(name)),
                MacroEntry::StartFile { line, file } => format!("file {line} {file}"),
                MacroEntry::EndFile => "end".into(),
                other => panic!("{other:?}"),
            });
        }
        macros
    }

    #[test]
    fn gimli_reads_it() {
        let str = [b"skip\0", LONG.as_bytes(), &[0]].concat();
        for format in formats(2..=5) {
            let [first, second] = [0, 1].map(|index| file_number(format, index));
            let expected = [
                "define 0 A 1".into(),
                "undef 0 B".into(),
                format!("file 0 {first}"),
                format!("file 200 {second}"),
                format!("define 7 {LONG}"),
                "end".into(),
                "end".into(),
            ];
            for (big_endian, are_shared) in [(false, true), (true, true), (true, false)] {
                let format = Format { big_endian, ..format };
                let endian = if big_endian { RunTimeEndian::Big } else { RunTimeEndian::Little };
                if format.version >= 4 {
                    let (out, relocations) = write(format, MacroSection::Macro, are_shared, 0x44, 5);
                    let out = linked(format, out, &relocations);
                    let section = DebugMacro::new(&out, endian);
                    let entries = section.get_macros(gimli::DebugMacroOffset(0)).expect("a header");
                    assert_eq!(read(entries, &str, endian), expected);
                }
                if format.version < 5 {
                    let (out, _) = write(format, MacroSection::Macinfo, are_shared, 0, 0);
                    let section = DebugMacinfo::new(&out, endian);
                    let entries = section.get_macinfo(gimli::DebugMacinfoOffset(0)).expect("an offset");
                    assert_eq!(read(entries, &str, endian), expected);
                }
            }
        }
    }

    #[test]
    fn others_read_it() {
        for format in formats(2..=5) {
            let kinds = [(MacroSection::Macinfo, 2..=4), (MacroSection::Macro, 4..=5)];
            for (kind, _) in kinds.into_iter().filter(|(_, versions)| versions.contains(&format.version)) {
                let (attribute, name) = match (kind, format.version) {
                    (MacroSection::Macinfo, _) => (dw::DW_AT_macro_info, ".debug_macinfo"),
                    (MacroSection::Macro, 4) => (dw::DW_AT_GNU_macros, ".debug_macro"),
                    (MacroSection::Macro, _) => (dw::DW_AT_macros, ".debug_macro"),
                };
                let (mut out, mut relocations) = write(format, kind, true, 0, 0);
                let second = out.len() as u64;
                let (more, more_relocations) = write(format, kind, true, 0, 0);
                out.extend(more);
                relocations.extend(
                    more_relocations
                        .into_iter()
                        .map(|relocation| Relocation { offset: relocation.offset + second, ..relocation }),
                );
                let folder = Folder::new();
                let line = crate::emit::line::tests::two_files(format);
                let lines = (dw::DW_AT_stmt_list, ".debug_line", [0, 0]);
                let sample = sample(format, &[lines, (attribute, name, [0, second])]);
                let more = [
                    section(name, out, relocations),
                    section(".debug_line", line, Vec::new()),
                    section(".debug_str", [LONG.as_bytes(), &[0]].concat(), Vec::new()),
                ];
                let Some(file) = sample.program(more, &folder) else { return };
                let of_both =
                    |text: &str, line: &str| assert_eq!(text.matches(line).count(), 2, "{line}: {text}");
                if let Some(ran) = LLVM_DWARFDUMP.run(&["--debug-macro".as_ref(), file.as_os_str()]) {
                    let text = ran.clean();
                    of_both(&text, "lineno: 0 macro: A 1\n");
                    of_both(&text, &format!("lineno: 7 macro: {LONG}\n"));
                    of_both(&text, &format!("lineno: 200 filenum: {}\n", file_number(format, 1)));
                }
                if let Some(ran) = READELF.run(&["-wm".as_ref(), file.as_os_str()]) {
                    let text = ran.clean();
                    of_both(&text, LONG);
                    of_both(&text, "A 1\n");
                }
                let dump =
                    if kind == MacroSection::Macro { "--debug-dump=macro" } else { "--debug-dump=macinfo" };
                if let Some(ran) = EU_READELF.run(&[dump.as_ref(), file.as_os_str()]) {
                    let text = ran.clean();
                    of_both(&text, LONG);
                    let directory = if format.version >= 5 { "/d/" } else { "" };
                    of_both(&text, &format!("] {directory}a.c\n"));
                    of_both(&text, &format!("] {directory}b.h\n"));
                }
            }
        }
    }
}
