//! Sections added to a linked object, with resolved relocations.

use std::collections::HashMap;

use object::{Endian, elf};

use super::image::{Image, ImageSection, unsupported};
use super::relocatable::debug_header;
use super::symbols::{Lookup, defined};
use crate::emit::added::{Added, fits};
use crate::emit::section::{Relocation, RelocationTarget, Section};
use crate::error::Result;

/// Adds debug sections to a linked object. Sections with one name are concatenated in their order, as a linker does; a
/// linked object has no groups.
pub(super) fn add<'a>(image: &mut Image<'a>, sections: &'a [Section]) -> Result<()> {
    if sections.iter().any(|section| section.name == ".eh_frame") {
        return Err(unsupported("linked file cannot get an `.eh_frame`, which needs a loaded segment"));
    }
    let added = Added::check(image.has_section(), sections)?;
    let has_symbols = |section: &Section| {
        section.relocations.iter().any(|relocation| matches!(relocation.target, RelocationTarget::Symbol(_)))
    };
    let mut lookups = Vec::new();
    // An object without a symbol table is accepted if no relocation refers to a symbol.
    if sections.iter().any(has_symbols) {
        for kind in [elf::SHT_SYMTAB, elf::SHT_DYNSYM] {
            lookups.extend(image.find(kind).map(|index| Lookup::new(image, index)).transpose()?);
        }
        if lookups.is_empty() {
            return Err(unsupported("object has no symbol table; expected one for the relocations"));
        }
    }

    // Each section's start within the concatenated section with its name.
    let mut sizes = HashMap::new();
    let mut starts = Vec::with_capacity(sections.len());
    for section in sections {
        let size = sizes.entry(section.name).or_insert(0);
        starts.push(*size);
        *size += section.bytes.len() as u64;
    }
    let mut names = HashMap::new();
    let mut joined: Vec<ImageSection<'a>> = Vec::new();
    for section in sections {
        let mut bytes = section.bytes.clone();
        for relocation in &section.relocations {
            let start = |name| added.target(section, name).map_or(0, |target| starts[target]);
            let value = resolve(&lookups, relocation, start)
                .map_err(|error| error.in_section(section.name).at_offset(relocation.offset))?;
            // `check` has found the field inside the section.
            let field = &mut bytes[relocation.offset as usize..][..relocation.bytes.into()];
            match relocation.bytes {
                4 => field.copy_from_slice(&image.order.write_u32(value as u32)),
                _ => field.copy_from_slice(&image.order.write_u64(value)),
            }
        }
        let &mut position = names.entry(section.name).or_insert(joined.len());
        match joined.get_mut(position) {
            Some(first) => first.contents.to_mut().append(&mut bytes),
            None => joined.push(ImageSection::new(section.name.as_bytes(), debug_header(section), bytes)),
        }
    }
    for section in joined {
        image.add(section)?;
    }
    Ok(())
}

/// Relocation value. A section target begins at `start`.
fn resolve(
    lookups: &[Lookup<'_>],
    relocation: &Relocation,
    start: impl Fn(&'static str) -> u64,
) -> Result<u64> {
    let base = match &relocation.target {
        RelocationTarget::Section(name) => start(name),
        RelocationTarget::Symbol(name) => defined(lookups, name)?.1.value,
        RelocationTarget::Distance(_) => {
            return Err(unsupported("relative relocation is in a section that is not loaded"));
        }
    };
    let value = base.wrapping_add(relocation.addend);
    fits(value, relocation.bytes)?;
    Ok(value)
}
