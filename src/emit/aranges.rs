//! `.debug_aranges`: units by address, DWARF 5 section 6.1.2.

use super::format::Format;
use super::section::{Relocation, RelocationTarget};

/// A unit's code or data, as one contiguous range.
#[derive(Debug, Clone)]
pub(crate) struct AddressRange {
    /// The start: a symbol plus `addend`, or `addend` itself.
    pub(crate) symbol: Option<RelocationTarget>,
    pub(crate) addend: u64,
    /// Size in bytes. Empty ranges are omitted: address 0 with size 0 terminates the table.
    pub(crate) bytes: u64,
}

/// Table version, unchanged since DWARF 2.
const VERSION: u16 = 2;

/// Appends the table for the unit at offset `unit` in `.debug_info`.
pub(crate) fn write(
    format: Format,
    unit: u64,
    ranges: impl IntoIterator<Item = AddressRange>,
    out: &mut Vec<u8>,
    relocations: &mut Vec<Relocation>,
) {
    let begin = out.len();
    let start = format.begin_length(out);
    format.half(out, VERSION);
    relocations.push(Relocation {
        offset: out.len() as u64,
        bytes: format.offset_bytes,
        target: RelocationTarget::Section(".debug_info"),
        addend: unit,
    });
    format.offset(out, 0);
    let segment_bytes = 0;
    out.extend_from_slice(&[format.address_bytes, segment_bytes]);
    // The first pair is aligned to a pair's size, counted from the table's start.
    let pair = 2 * usize::from(format.address_bytes);
    out.resize(begin + (out.len() - begin).next_multiple_of(pair), 0);
    for range in ranges {
        // A zero pair would end the table.
        if range.bytes == 0 {
            continue;
        }
        let address = match range.symbol {
            None => range.addend,
            Some(target) => {
                let offset = out.len() as u64;
                let bytes = format.address_bytes;
                relocations.push(Relocation { offset, bytes, target, addend: range.addend });
                0
            }
        };
        format.fixed(out, address, format.address_bytes);
        format.fixed(out, range.bytes, format.address_bytes);
    }
    // A zero pair ends the table.
    out.resize(out.len() + pair, 0);
    format.end_length(out, start);
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::emit::sample::{EU_READELF, Folder, LLVM_DWARFDUMP, READELF, formats, sample, section};

    fn of(symbol: &'static str, addend: u64, bytes: u64) -> AddressRange {
        AddressRange { symbol: Some(RelocationTarget::Symbol(symbol.into())), addend, bytes }
    }

    #[test]
    fn by_hand() {
        let constant = AddressRange { symbol: None, addend: 0x2000, bytes: 8 };
        let mut out = vec![0xee];
        let mut relocations = Vec::new();
        write(
            Format::SMALL,
            0x44,
            [of("f", 4, 0x10), of("none", 0, 0), constant],
            &mut out,
            &mut relocations,
        );
        #[rustfmt::skip]
        let expected = [
            0xee, 60, 0, 0, 0, 2, 0, 0, 0, 0, 0, 8, 0,
            // Padding from 12 to 16.
            0, 0, 0, 0,
            0, 0, 0, 0, 0, 0, 0, 0, 0x10, 0, 0, 0, 0, 0, 0, 0,
            0, 0x20, 0, 0, 0, 0, 0, 0, 8, 0, 0, 0, 0, 0, 0, 0,
            0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0,
        ];
        assert_eq!(out, expected);
        let info = RelocationTarget::Section(".debug_info");
        let expected = [
            Relocation { offset: 7, bytes: 4, target: info, addend: 0x44 },
            Relocation { offset: 17, bytes: 8, target: RelocationTarget::Symbol("f".into()), addend: 4 },
        ];
        assert_eq!(relocations, expected);
    }

    #[test]
    fn small_addresses_big_endian_64_bits() {
        let format = Format { offset_bytes: 8, address_bytes: 4, big_endian: true, ..Format::SMALL };
        let mut out = Vec::new();
        let constant = AddressRange { symbol: None, addend: 0x2000, bytes: 8 };
        write(format, 0, [constant], &mut out, &mut Vec::new());
        #[rustfmt::skip]
        let expected = [
            0xff, 0xff, 0xff, 0xff, 0, 0, 0, 0, 0, 0, 0, 28,
            // No padding: 24 bytes are three pairs.
            0, 2, 0, 0, 0, 0, 0, 0, 0, 0, 4, 0,
            0, 0, 0x20, 0, 0, 0, 0, 8, 0, 0, 0, 0, 0, 0, 0, 0,
        ];
        assert_eq!(out, expected);
    }

    #[test]
    fn others_read_it() {
        for format in formats(2..=5) {
            let folder = Folder::new();
            let sample = sample(format, &[]);
            let mut out = Vec::new();
            let mut relocations = Vec::new();
            for (unit, name) in [(0, "kernel0"), (1, "kernel1")] {
                write(format, sample.units[unit].0, [of(name, 0, 16)], &mut out, &mut relocations);
            }
            let second = sample.units[1].0;
            let Some(file) = sample.program([section(".debug_aranges", out, relocations)], &folder) else {
                return;
            };
            if let Some(ran) = LLVM_DWARFDUMP.run(&["--debug-aranges".as_ref(), file.as_os_str()]) {
                let text = ran.clean();
                let digits = 2 * usize::from(format.offset_bytes);
                assert!(text.contains(&format!("cu_offset = 0x{second:0digits$x}")), "{text}");
                assert_eq!(text.matches("version = 0x0002").count(), 2, "{text}");
            }
            if let Some(ran) = READELF.run(&["-wr".as_ref(), file.as_os_str()]) {
                let text = ran.clean();
                assert!(text.contains(&format!("Offset into .debug_info:  {second:#x}")), "{text}");
                assert_eq!(text.matches(" 0000000000000010").count(), 2, "{text}");
            }
            if let Some(ran) = EU_READELF.run(&["--debug-dump=aranges".as_ref(), file.as_os_str()]) {
                let text = ran.clean();
                for name in ["kernel0", "kernel1"] {
                    assert!(
                        text.contains(&format!(" <{name}>..")) && text.contains(&format!("<{name}+0xf>")),
                        "{text}"
                    );
                }
            }
        }
    }
}
