//! Sections added to a linked object: relocations are resolved here.

use object::elf;

use super::check::{check, fits};
use super::image::{Image, ImageSection, unsupported};
use super::relocatable::debug_header;
use super::symbols::{Lookup, defined};
use crate::emit::{Relocation, RelocationTarget, Section};
use crate::error::Result;

/// Adds debug sections to a linked object.
pub(super) fn add<'a>(image: &mut Image<'a>, sections: &'a [Section]) -> Result<()> {
    check(image, sections)?;
    let has_symbols = |section: &Section| {
        section.relocations.iter().any(|relocation| matches!(relocation.target, RelocationTarget::Symbol(_)))
    };
    let mut lookups = Vec::new();
    if sections.iter().any(has_symbols) {
        for kind in [elf::SHT_SYMTAB, elf::SHT_DYNSYM] {
            lookups.extend(image.find(kind).map(|index| Lookup::new(image, index)).transpose()?);
        }
        if lookups.is_empty() {
            return Err(unsupported("an object without a symbol table"));
        }
    }

    let mut added = Vec::with_capacity(sections.len());
    for section in sections {
        let mut bytes = section.bytes.clone();
        for relocation in &section.relocations {
            let value = resolve(&lookups, relocation)
                .map_err(|error| error.in_section(section.name).at_offset(relocation.offset))?;
            // `check` has found the field to be inside of the section.
            let start = relocation.offset as usize;
            let size = usize::from(relocation.bytes);
            bytes[start..start + size].copy_from_slice(&value.to_le_bytes()[..size]);
        }
        added.push(ImageSection::new(section.name.as_bytes(), debug_header(section), bytes));
    }
    for section in added {
        image.add(section)?;
    }
    Ok(())
}

/// The number that a relocation stands for.
fn resolve(lookups: &[Lookup<'_>], relocation: &Relocation) -> Result<u64> {
    let value = match &relocation.target {
        RelocationTarget::Section(_) => relocation.addend,
        RelocationTarget::Symbol(name) => defined(lookups, name)?.1.value.wrapping_add(relocation.addend),
    };
    fits(value, relocation.bytes)?;
    Ok(value)
}
