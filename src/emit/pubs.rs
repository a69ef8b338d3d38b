//! `.debug_pubnames` and `.debug_pubtypes`: DWARF 4's name tables, section 6.1.1. In DWARF 5, [`names`](super::names)
//! replaces both.

use super::format::Format;
use super::section::{Relocation, RelocationTarget};

/// A unit in the tables.
#[derive(Debug, Clone, Copy)]
pub(crate) struct PublicUnit {
    /// Unit offset in `.debug_info`.
    pub(crate) offset: u64,
    /// Unit size in `.debug_info`, including the length field.
    pub(crate) bytes: u64,
}

/// Table version, unchanged since DWARF 2.
const VERSION: u16 = 2;

/// Appends a unit's table: functions and variables for `.debug_pubnames`, types for `.debug_pubtypes`. Each of the
/// `entries` is an offset from the unit's start, and a name qualified by namespaces and classes: `a::b`.
pub(crate) fn write<'a>(
    format: Format,
    unit: PublicUnit,
    entries: impl IntoIterator<Item = (u64, &'a str)>,
    out: &mut Vec<u8>,
    relocations: &mut Vec<Relocation>,
) {
    let start = format.begin_length(out);
    format.half(out, VERSION);
    relocations.push(Relocation {
        offset: out.len() as u64,
        bytes: format.offset_bytes,
        target: RelocationTarget::Section(".debug_info"),
        addend: unit.offset,
    });
    format.offset(out, 0);
    format.offset(out, unit.bytes);
    for (offset, name) in entries {
        format.offset(out, offset);
        out.extend_from_slice(name.as_bytes());
        out.push(0);
    }
    // Offset 0 ends the table.
    format.offset(out, 0);
    format.end_length(out, start);
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::emit::sample::{EU_READELF, Folder, LLVM_DWARFDUMP, READELF, formats, sample, section};

    #[test]
    fn by_hand() {
        let unit = PublicUnit { offset: 0x44, bytes: 0x45 };
        let mut out = vec![0xee];
        let mut relocations = Vec::new();
        write(Format::SMALL, unit, [(0x1e, "f"), (0x33, "ns::g")], &mut out, &mut relocations);
        #[rustfmt::skip]
        let expected = [
            0xee, 30, 0, 0, 0, 2, 0, 0, 0, 0, 0, 0x45, 0, 0, 0,
            0x1e, 0, 0, 0, b'f', 0,
            0x33, 0, 0, 0, b'n', b's', b':', b':', b'g', 0,
            0, 0, 0, 0,
        ];
        assert_eq!(out, expected);
        let target = RelocationTarget::Section(".debug_info");
        assert_eq!(relocations, [Relocation { offset: 7, bytes: 4, target, addend: 0x44 }]);

        let large = Format { offset_bytes: 8, big_endian: true, ..Format::SMALL };
        let mut out = Vec::new();
        write(large, unit, [(0x1e, "f")], &mut out, &mut Vec::new());
        #[rustfmt::skip]
        let expected = [
            0xff, 0xff, 0xff, 0xff, 0, 0, 0, 0, 0, 0, 0, 36, 0, 2,
            0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0x45,
            0, 0, 0, 0, 0, 0, 0, 0x1e, b'f', 0,
            0, 0, 0, 0, 0, 0, 0, 0,
        ];
        assert_eq!(out, expected);
    }

    #[test]
    fn others_read_it() {
        for format in formats(2..=4) {
            let folder = Folder::new();
            let sample = sample(format, &[]);
            let mut names = Vec::new();
            let mut names_relocations = Vec::new();
            let mut types = Vec::new();
            let mut types_relocations = Vec::new();
            for (number, (offset, bytes)) in sample.units.into_iter().enumerate() {
                let unit = PublicUnit { offset, bytes };
                let [function, int, _, structure] = sample.entries[number].map(u64::from);
                let kernel = format!("kernel{number}");
                let s = format!("ns::S{number}");
                write(format, unit, [(function, &*kernel)], &mut names, &mut names_relocations);
                write(format, unit, [(int, "int"), (structure, &s)], &mut types, &mut types_relocations);
            }
            let (second, size) = sample.units[1];
            let structure = sample.entries[1][3];
            let more = [
                section(".debug_pubnames", names, names_relocations),
                section(".debug_pubtypes", types, types_relocations),
            ];
            let Some(file) = sample.program(more, &folder) else { return };
            let words = ["--debug-pubnames".as_ref(), "--debug-pubtypes".as_ref(), file.as_os_str()];
            if let Some(ran) = LLVM_DWARFDUMP.run(&words) {
                let text = ran.clean();
                let digits = 2 * usize::from(format.offset_bytes);
                let line = format!("unit_offset = 0x{second:0digits$x}, unit_size = 0x{size:0digits$x}");
                assert_eq!(text.matches(&line).count(), 2, "{line}: {text}");
                assert!(text.contains(&format!("0x{structure:0digits$x} \"ns::S1\"")), "{text}");
            }
            if let Some(ran) = READELF.run(&["-wp".as_ref(), "-wt".as_ref(), file.as_os_str()]) {
                let text = ran.clean();
                assert!(text.contains(&format!("    {structure:x}    \tns::S1\n")), "{text}");
            }
            if let Some(ran) = EU_READELF.run(&["--debug-dump=pubnames".as_ref(), file.as_os_str()]) {
                assert!(ran.clean().contains("name: kernel1"));
            }
        }
    }
}
