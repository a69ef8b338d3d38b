//! Skeleton units: DWARF 5 section 3.1.2.

use super::contents::Contents;
use super::entry::EntryWriter;
use super::lines;
use super::lowered::Skeleton;
use super::section::Part;
use super::strings::split_name;
use super::unit_entry::{code, sources};
use crate::emit::abbrev::Abbreviations;
use crate::emit::addr::addr_base;
use crate::emit::info::Info;
use crate::emit::lists::FinishedLists;
use crate::emit::strings::str_offsets_base;
use crate::error::Result;

/// Writes the unit's skeleton. The unit's own entries and lists are finished.
pub(super) fn write(out: &mut EntryWriter<'_>, has: &Contents) -> Result<Skeleton> {
    let (id, format) = (out.unit(), out.info.format);
    // A list referred to by offset needs no base, which a reader could apply to the split unit too.
    let mut forms = vec![(gimli::DW_AT_ranges, gimli::DW_FORM_sec_offset)];
    forms.extend(&out.consumer.forms);
    // The name is unique, and units share the directory.
    forms.push((gimli::DW_AT_dwo_name, gimli::DW_FORM_string));
    forms.push((gimli::DW_AT_comp_dir, gimli::DW_FORM_strp));
    let skeleton = Info::new(format, id.as_u32(), 0, forms, Abbreviations::default());
    let split = core::mem::replace(&mut out.info, skeleton);
    out.info.begin_unit(gimli::DW_UT_skeleton, Some(0));
    out.info.begin_entry(gimli::DW_TAG_skeleton_unit, gimli::DW_CHILDREN_no, None);
    let name = &out.units.split_names[id.as_u32() as usize];
    out.info.string(gimli::DW_AT_dwo_name, split_name(out.units, id), || name.len(), || name);
    sources(out, has);
    if has.addresses {
        out.info.offset(gimli::DW_AT_addr_base, ".debug_addr", addr_base(format));
    }
    code(out, has);
    if !out.info.strings.numbers.is_empty() {
        let base = str_offsets_base(format);
        out.info.offset(gimli::DW_AT_str_offsets_base, ".debug_str_offsets", base);
    }
    out.info.end_entry();
    let rnglists = if has.code.len() > 1 { out.finish_rnglists()? } else { FinishedLists::default() };
    out.info.end_unit()?;
    let Info { bytes, relocations, elsewhere, abbreviations, strings, .. } =
        core::mem::replace(&mut out.info, split);
    let info = Part { bytes, relocations, elsewhere };
    let files = if has.macros && has.lines { lines::files(out.units, id)? } else { Part::default() };
    Ok(Skeleton { info, abbreviations, strings: strings.numbers, rnglists, files })
}
