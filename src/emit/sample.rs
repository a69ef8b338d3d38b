//! Sample object with two units, encoded by hand, for tests with other readers.

#[path = "../../tests/common/tools.rs"]
mod tools;

use std::path::PathBuf;

use gimli::{DwAt, DwForm, constants as dw};

pub(crate) use tools::{Folder, Tool};

use super::elf::{ObjectCode, new_object};
use super::format::Format;
use super::section::{Relocation, RelocationTarget, Section};
use crate::op::write_uleb;
use crate::target::Target;

pub(crate) const LLVM_DWARFDUMP: Tool = Tool::new("llvm-dwarfdump-19", "llvm-19");
pub(crate) const READELF: Tool = Tool::new("readelf", "binutils");
pub(crate) const EU_READELF: Tool = Tool::new("eu-readelf", "elfutils");

/// All versions, in both formats (version 2: 32-bit only) and both byte orders.
pub(crate) fn formats(versions: core::ops::RangeInclusive<u16>) -> impl Iterator<Item = Format> {
    versions.flat_map(|version| {
        let sizes = [4, 8].into_iter().filter(move |&bytes| bytes == 4 || version > 2);
        sizes.flat_map(move |offset_bytes| {
            [false, true].map(|big_endian| Format { version, offset_bytes, big_endian, ..Format::SMALL })
        })
    })
}

/// Two units. Unit N (0 and 1) has a 16-byte function `kernelN`, a base type `int`, and a namespace `ns` with a
/// structure `SN`.
pub(crate) struct Sample {
    pub(crate) format: Format,
    pub(crate) sections: Vec<Section>,
    /// Each unit's offset and size in bytes.
    pub(crate) units: [(u64, u64); 2],
    /// Each unit's offsets for function, base type, namespace and structure.
    pub(crate) entries: [[u32; 4]; 2],
}

pub(crate) fn section(name: &'static str, bytes: Vec<u8>, relocations: Vec<Relocation>) -> Section {
    Section { name, bytes, relocations, is_strings: name.ends_with("str"), group: None }
}

/// Appends a relocated field with the given number of bytes.
type Relocated<'a> = dyn FnMut(&mut Vec<u8>, u8, RelocationTarget, u64) + 'a;

/// Generates the sample. The unit entries' `attributes` are offsets in other sections, one for each unit.
pub(crate) fn sample(format: Format, attributes: &[(DwAt, &'static str, [u64; 2])]) -> Sample {
    let in_section = match format {
        Format { version: 4.., .. } => dw::DW_FORM_sec_offset,
        Format { offset_bytes: 4, .. } => dw::DW_FORM_data4,
        _ => dw::DW_FORM_data8,
    };
    let end = if format.version >= 4 { dw::DW_FORM_data4 } else { dw::DW_FORM_addr };
    let code = [(dw::DW_AT_low_pc, dw::DW_FORM_addr), (dw::DW_AT_high_pc, end)];
    let name = [(dw::DW_AT_name, dw::DW_FORM_string)];
    let size = [(dw::DW_AT_byte_size, dw::DW_FORM_data1)];
    let encoding = [(dw::DW_AT_encoding, dw::DW_FORM_data1)];
    let mut abbrev = Vec::new();
    let mut abbreviation = |tag: gimli::DwTag, has_children: bool, attributes: &[&[(DwAt, DwForm)]]| {
        let code = abbrev.iter().filter(|&&mark| mark == Err(())).count() as u64 + 1;
        let mut bytes = Vec::new();
        write_uleb(&mut bytes, code);
        write_uleb(&mut bytes, tag.0.into());
        bytes.push(has_children.into());
        for (at, form) in attributes.iter().copied().flatten() {
            write_uleb(&mut bytes, at.0.into());
            write_uleb(&mut bytes, form.0.into());
        }
        abbrev.extend(bytes.into_iter().chain([0, 0]).map(Ok));
        abbrev.push(Err(()));
    };
    let more: Vec<_> = attributes.iter().map(|&(at, ..)| (at, in_section)).collect();
    abbreviation(dw::DW_TAG_compile_unit, true, &[&name, &code, &more]);
    abbreviation(dw::DW_TAG_subprogram, false, &[&name, &code]);
    abbreviation(dw::DW_TAG_base_type, false, &[&name, &encoding, &size]);
    abbreviation(dw::DW_TAG_namespace, true, &[&name]);
    abbreviation(dw::DW_TAG_structure_type, false, &[&name, &size]);
    let abbrev: Vec<u8> = abbrev.into_iter().flatten().chain([0]).collect();

    let mut out = Vec::new();
    let mut relocations = Vec::new();
    let mut units = [(0, 0); 2];
    let mut entries = [[0; 4]; 2];
    for unit in 0..2 {
        let begin = out.len();
        let mut relocated = |out: &mut Vec<u8>, bytes: u8, target, addend| {
            relocations.push(Relocation { offset: out.len() as u64, bytes, target, addend });
            format.fixed(out, 0, bytes);
        };
        let text = |out: &mut Vec<u8>, text: &str| {
            out.extend_from_slice(text.as_bytes());
            out.push(0);
        };
        let symbol = || RelocationTarget::Symbol(format!("kernel{unit}").into());
        let code = |out: &mut Vec<u8>, relocated: &mut Relocated<'_>| {
            relocated(out, format.address_bytes, symbol(), 0);
            match end {
                dw::DW_FORM_addr => relocated(out, format.address_bytes, symbol(), 16),
                _ => format.fixed(out, 16, 4),
            }
        };
        let start = format.begin_length(&mut out);
        format.half(&mut out, format.version);
        if format.version >= 5 {
            out.extend_from_slice(&[dw::DW_UT_compile.0, format.address_bytes]);
        }
        relocated(&mut out, format.offset_bytes, RelocationTarget::Section(".debug_abbrev"), 0);
        if format.version < 5 {
            out.push(format.address_bytes);
        }
        out.push(1);
        text(&mut out, &format!("a{unit}.c"));
        code(&mut out, &mut relocated);
        for &(_, section, offsets) in attributes {
            relocated(&mut out, format.offset_bytes, RelocationTarget::Section(section), offsets[unit]);
        }
        entries[unit][0] = (out.len() - begin) as u32;
        out.push(2);
        text(&mut out, &format!("kernel{unit}"));
        code(&mut out, &mut relocated);
        entries[unit][1] = (out.len() - begin) as u32;
        out.push(3);
        text(&mut out, "int");
        out.extend_from_slice(&[dw::DW_ATE_signed.0, 4]);
        entries[unit][2] = (out.len() - begin) as u32;
        out.push(4);
        text(&mut out, "ns");
        entries[unit][3] = (out.len() - begin) as u32;
        out.push(5);
        text(&mut out, &format!("S{unit}"));
        out.push(1);
        out.extend_from_slice(&[0, 0]);
        format.end_length(&mut out, start);
        units[unit] = (begin as u64, (out.len() - begin) as u64);
    }
    let sections =
        vec![section(".debug_abbrev", abbrev, Vec::new()), section(".debug_info", out, relocations)];
    Sample { format, sections, units, entries }
}

impl Sample {
    /// Links the object, for readers that do not relocate some sections.
    pub(crate) fn program(self, more: impl IntoIterator<Item = Section>, folder: &Folder) -> Option<PathBuf> {
        let program = folder.path().join("a");
        let object = self.object(more, folder);
        let entry = "--entry=kernel0";
        let words = [entry.as_ref(), object.as_os_str(), "-o".as_ref(), program.as_os_str()];
        Tool::new("ld.lld-19", "lld-19").run(&words)?.clean();
        Some(program)
    }

    /// Writes the object with more sections to a file: for x86-64 or s390x, depending on the byte order.
    pub(crate) fn object(mut self, more: impl IntoIterator<Item = Section>, folder: &Folder) -> PathBuf {
        assert_eq!(self.format.address_bytes, 8);
        self.sections.extend(more);
        let code =
            ObjectCode::text(vec![0x90; 32]).with_function("kernel0", 0, 16).with_function("kernel1", 16, 16);
        let target = if self.format.big_endian { Target::s390x() } else { Target::x86_64() };
        folder.file("a.o", new_object(&target, &code, &self.sections).expect("an object"))
    }
}

/// Applies the relocations as if all sections and symbols began at address 0.
pub(crate) fn linked(format: Format, mut bytes: Vec<u8>, relocations: &[Relocation]) -> Vec<u8> {
    for relocation in relocations {
        let position = relocation.offset as usize;
        let field = &bytes[position..position + usize::from(relocation.bytes)];
        assert!(field.iter().all(|&byte| byte == 0), "relocated fields are 0");
        format.patch(&mut bytes, position, relocation.addend, relocation.bytes);
    }
    bytes
}
