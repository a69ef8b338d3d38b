//! Linked cubins: nvlink concatenates the debug information of its inputs, and this makes it that of the linked code.
//!
//! A cubin has facts that no description has, such as the map of all PTX registers with their types, PTX lines, and rows
//! without entries. Its sections are therefore copied, part by part, and not imported:
//!
//! | part | what goes | what is stored once |
//! |---|---|---|
//! | entries | functions whose code is not in the file, and those of another copy | abbreviations; types on request |
//! | lists | those of functions that go | equal lists |
//! | both line tables | rows without relocation | function names |
//! | frames | those without relocation | |
//! | maps of registers, types | those of functions that go | |
//! | PTX texts | | equal texts |
//!
//! What stays keeps its bytes, apart from offsets; [`compare`] reads the result, and compares it with the original.

mod compare;
mod copies;
mod entries;
mod forms;
mod frames;
mod kept;
mod lines;
mod lists;
mod maps;
mod read;
mod same;
mod section;
mod strings;
mod tables;
mod texts;
mod write;

use gimli::constants as dw;

use super::change::RewriteChange;
use super::options::RewriteOptions;
use crate::consumer::Consumer;
use crate::emit::elf::{CubinSection, cubin_sections, with_cubin_sections};
use crate::error::{Error, ErrorKind, Result};
use crate::import::{DifferentTypes, EqualTypes, UnimportedFact, UnimportedReason};
use crate::read::{Dwarf, Object};
use copies::{Facts, Gone};
use kept::OnlyReferred;
use read::{INFO, Read};

/// A rewritten cubin.
pub(super) struct RewrittenCubin {
    pub(super) object: Vec<u8>,
    pub(super) consumer: Consumer,
    pub(super) changes: Vec<RewriteChange>,
    /// Number of types for which equal types stand.
    pub(super) merged: usize,
    pub(super) different: Vec<DifferentTypes>,
}

/// Rewrites a linked cubin.
///
/// # Errors
/// The errors of the readers; [`Unsupported`](crate::error::ErrorKind::Unsupported) for options and sections that cubins
/// do not have, and where the file does not say which copy of a function it has.
pub(super) fn rewrite(
    bytes: &[u8],
    object: &Object<'_>,
    dwarf: &Dwarf<'_>,
    options: &RewriteOptions<'_>,
) -> Result<RewrittenCubin> {
    refuse(object, dwarf, options)?;
    let sections = cubin_sections(bytes)?;
    let read = Read::new(object, dwarf, &sections)?;
    let gone = copies::gone(&Facts { object, dwarf, programs: &read.programs[0], maps: &read.maps })?;
    let equal = if options.dedupe { EqualTypes::new(dwarf) } else { EqualTypes::default() };
    let only_referred = if options.gc { OnlyReferred::Removed } else { OnlyReferred::Kept };
    let parts = kept::parts(dwarf, &gone, &equal, only_referred);
    let mut changes = Vec::new();
    removed_entries(dwarf, &gone, &mut changes);
    let mut new = read.written(&parts, &equal, &gone, options, &mut changes)?;
    let new: Vec<CubinSection<'_>> = sections
        .iter()
        .map(|section| new.remove(&*section.name).unwrap_or_else(|| section.clone()))
        .collect();
    let result = if new == sections { bytes.to_vec() } else { with_cubin_sections(bytes, &new)? };
    let after = Object::read(&result)?;
    compare::compare(&read, &parts, &equal, &gone, &after)?;
    let version = dwarf.units().iter().map(|unit| unit.encoding.version).max();
    Ok(RewrittenCubin {
        object: result,
        consumer: Consumer { version: version.unwrap_or(3), ..Consumer::cuda_gdb_sass() },
        changes,
        merged: equal.count(),
        different: equal.different,
    })
}

fn unsupported(text: impl Into<String>) -> Error {
    ErrorKind::Unsupported(text.into()).into()
}

/// Refuses what cubins do not have.
fn refuse(object: &Object<'_>, dwarf: &Dwarf<'_>, options: &RewriteOptions<'_>) -> Result<()> {
    if object.is_relocatable() {
        return Err(unsupported("the cubin is relocatable; expected a linked cubin, as nvlink writes it"));
    }
    let consumer = options.consumer.as_ref().filter(|it| **it != Consumer::cuda_gdb_sass());
    if let Some(consumer) = consumer {
        let text = format!("consumer {} does not read cubins; expected `cuda-gdb-sass`", consumer.name);
        return Err(unsupported(text));
    }
    if options.names {
        return Err(unsupported("NVIDIA's tools read no `.debug_names`; expected no name index"));
    }
    if options.fix {
        return Err(unsupported("fixes are known for AMD's processors only; the object is a cubin"));
    }
    if let Some(unit) = dwarf.units().iter().find(|unit| {
        unit.kind != dw::DW_UT_compile || unit.encoding.version > 4 || unit.encoding.offset_bytes != 4
    }) {
        let text = "unit of a kind, version or format that NVIDIA's tools do not read; expected a unit of DWARF 2 to 4";
        return Err(unsupported(text).in_section(INFO).at_offset(unit.offset));
    }
    if let Some(unit) = dwarf.units().iter().find(|unit| options.dedupe && unit.encoding.version > 2) {
        let text = format!(
            "unit is of DWARF {}, whose references to other units have 4 bytes where NVIDIA's tools read 8; expected units of \
             DWARF 2, or no merged types",
            unit.encoding.version
        );
        return Err(unsupported(text).in_section(INFO).at_offset(unit.offset));
    }
    Ok(())
}

/// Lists the functions that go.
fn removed_entries(dwarf: &Dwarf<'_>, gone: &Gone, changes: &mut Vec<RewriteChange>) {
    let mut all: Vec<(usize, UnimportedReason)> = Vec::new();
    all.extend(gone.discarded.iter().map(|&index| (index, UnimportedReason::DiscardedCode)));
    all.extend(gone.copies.iter().map(|&index| (index, UnimportedReason::OtherCopy)));
    all.sort_by_key(|(index, _)| *index);
    for (index, reason) in all {
        let Some(entry) = dwarf.entry_with_index(index) else { continue };
        let fact = UnimportedFact {
            file: None,
            unit: entry.unit().name.as_deref().map(String::from),
            section: INFO,
            offset: entry.offset(),
            tag: Some(entry.tag()),
            attribute: None,
            reason,
        };
        changes.push(RewriteChange::Removed(fact));
    }
}
