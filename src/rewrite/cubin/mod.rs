//! Cubins: nvlink concatenates the debug information of its inputs, and this makes it that of the linked code. Relocatable
//! cubins keep the relocations of their offsets, and for sm_100 and later their copies for nvlink, which are rewritten alike.
//!
//! A cubin has facts that no description has, such as the map of all PTX registers with their types, PTX lines, and rows
//! without entries. Its sections are therefore copied, part by part, and not imported:
//!
//! | part | what goes | what is stored once |
//! |---|---|---|
//! | entries | functions whose code is not in the file, and those of another copy | abbreviations; types on request |
//! | lists | those of functions that go | equal lists |
//! | both line tables | rows without relocation, and of replaced copies | function names |
//! | frames | those without relocation, and of replaced copies | |
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
mod layers;
mod lines;
mod lists;
mod maps;
mod names;
mod read;
mod replaced;
mod same;
mod section;
mod strings;
mod tables;
mod texts;
mod write;

use gimli::constants as dw;
use hashbrown::HashMap;

use super::change::RewriteChange;
use super::options::RewriteOptions;
use crate::consumer::Consumer;
use crate::emit::elf::{CubinLayer, CubinSection, cubin_sections, with_cubin_sections};
use crate::error::{Error, ErrorKind, Result};
use crate::import::{DifferentTypes, EqualTypes, UnimportedFact, UnimportedReason};
use crate::read::{Dwarf, Object};
use copies::Gone;
use kept::OnlyReferred;
use names::INFO;
use read::Read;

/// A rewritten cubin.
pub(super) struct RewrittenCubin {
    pub(super) object: Vec<u8>,
    pub(super) consumer: Consumer,
    pub(super) changes: Vec<RewriteChange>,
    /// Number of types for which equal types stand.
    pub(super) merged: usize,
    pub(super) different: Vec<DifferentTypes>,
}

/// Rewrites a cubin.
///
/// # Errors
/// The errors of the readers; [`Unsupported`](crate::error::ErrorKind::Unsupported) for options and sections that cubins
/// do not have, where the file does not say which copy of a function it has, and where copies for nvlink contradict their
/// originals.
pub(super) fn rewrite(
    bytes: &[u8],
    object: &Object<'_>,
    dwarf: &Dwarf<'_>,
    options: &RewriteOptions<'_>,
) -> Result<RewrittenCubin> {
    refuse(dwarf, options)?;
    let mercury = if object.is_relocatable() { Object::read_mercury(bytes)? } else { None };
    let copied = match &mercury {
        Some(object) => Some((object, cubin_sections(bytes, CubinLayer::Copies)?, read::entries(object)?)),
        None => None,
    };
    let stored = cubin_sections(bytes, CubinLayer::Originals)?;
    let filled = with_addends(&stored, CubinLayer::Originals)?;
    let mut read = Read::new(object, dwarf, &filled, CubinLayer::Originals)?;
    replaced::mark_replaced(&mut read)?;
    let gone = read.gone()?;
    let filled_copies = match &copied {
        Some((_, stored, _)) => with_addends(stored, CubinLayer::Copies)?,
        None => Vec::new(),
    };
    let copies = match &copied {
        Some((object, stored, dwarf)) => {
            let mut copies = Read::new(object, dwarf, &filled_copies, CubinLayer::Copies)?;
            replaced::mark_replaced(&mut copies)?;
            let gone_copies = copies.gone()?;
            layers::agree((&read, &gone), (&copies, &gone_copies))?;
            Some((copies, gone_copies, stored))
        }
        None => None,
    };
    let equal = if options.dedupe { EqualTypes::new(dwarf) } else { EqualTypes::default() };
    let only_referred = if options.gc { OnlyReferred::Removed } else { OnlyReferred::Kept };
    let parts = kept::parts(dwarf, &gone, &equal, only_referred);
    let mut changes = Vec::new();
    removed_entries(dwarf, &gone, &mut changes);
    let new = with_new(&stored, read.written(&parts, &equal, &gone, options, &mut changes)?);
    let mut is_changed = new != stored;
    let mut layers = vec![(CubinLayer::Originals, new)];
    if let Some((copies, gone, stored)) = &copies {
        // The facts that go are those of the originals, which are listed.
        let new = with_new(stored, copies.written(&parts, &equal, gone, options, &mut Vec::new())?);
        is_changed |= new != **stored;
        layers.push((CubinLayer::Copies, new));
    }
    let result = if is_changed { with_cubin_sections(bytes, layers)? } else { bytes.to_vec() };
    compare::compare(&read, &parts, &equal, &gone, &Object::read(&result)?)?;
    if let Some((copies, gone, _)) = &copies {
        let after = Object::read_mercury(&result)?;
        let after = after.ok_or_else(|| unsupported("the rewritten cubin has no Mercury copies"))?;
        compare::compare(copies, &parts, &equal, gone, &after)?;
    }
    let version = dwarf.units().iter().map(|unit| unit.encoding.version).max();
    Ok(RewrittenCubin {
        object: result,
        consumer: Consumer { version: version.unwrap_or(3), ..Consumer::cuda_gdb_sass() },
        changes,
        merged: equal.count(),
        different: equal.different,
    })
}

/// Returns sections with the addends of relocations in their fields.
fn with_addends<'s>(sections: &'s [CubinSection<'_>], layer: CubinLayer) -> Result<Vec<CubinSection<'s>>> {
    sections.iter().map(|section| section.with_addends(layer)).collect()
}

/// Returns sections with new contents, by name. Other sections stay.
fn with_new<'s>(
    sections: &'s [CubinSection<'_>],
    mut new: HashMap<&str, CubinSection<'s>>,
) -> Vec<CubinSection<'s>> {
    let with_new =
        |section: &'s CubinSection<'_>| new.remove(&*section.name).unwrap_or_else(|| section.borrowed());
    sections.iter().map(with_new).collect()
}

fn unsupported(text: impl Into<String>) -> Error {
    ErrorKind::Unsupported(text.into()).into()
}

/// Refuses what cubins do not have.
fn refuse(dwarf: &Dwarf<'_>, options: &RewriteOptions<'_>) -> Result<()> {
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
    // The types of a single unit need no references to other units.
    let is_merging = options.dedupe && dwarf.units().len() > 1;
    if let Some(unit) = dwarf.units().iter().find(|unit| is_merging && unit.encoding.version > 2) {
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
            unit: entry.unit().name.as_deref().map(String::from),
            tag: Some(entry.tag()),
            ..UnimportedFact::new(INFO, entry.offset(), reason)
        };
        changes.push(RewriteChange::Removed(fact));
    }
}
