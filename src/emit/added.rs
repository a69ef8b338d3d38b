//! Checks for added sections that need no symbol table.

use std::collections::HashMap;

use super::section::{Relocation, RelocationTarget, Section};
use crate::error::{Count, Error, ErrorKind, Present, Result};

/// Sections that passed the checks.
#[derive(Debug)]
pub(crate) struct Added<'s> {
    sections: &'s [Section],
    /// Each section's position by name and group.
    positions: HashMap<(&'s str, Option<u64>), usize>,
}

impl<'s> Added<'s> {
    /// Checks everything that does not depend on symbols. `is_there` returns whether the object has a section of this
    /// name already.
    pub fn check(is_there: impl Fn(&str) -> bool, sections: &'s [Section]) -> Result<Self> {
        let mut positions = HashMap::with_capacity(sections.len());
        for (index, section) in sections.iter().enumerate() {
            let bad = |what: &str| Err(Error::bad_argument(what).in_section(section.name));
            if section.name.is_empty() || section.name.contains('\0') {
                return bad("section name is empty or contains a zero byte");
            }
            // `.zdebug_info` is the old name of a compressed `.debug_info`.
            let compressed = section.name.strip_prefix(".debug_").map(|rest| format!(".zdebug_{rest}"));
            if is_there(section.name) || compressed.is_some_and(|name| is_there(&name)) {
                let what = Present::Section(section.name.into());
                return Err(Error::new(ErrorKind::AlreadyPresent(what)).in_section(section.name));
            }
            if positions.insert((section.name, section.group), index).is_some() {
                return bad("section is added twice; expected one section with this name in each group");
            }
            // A linker that merges strings splits the section at the zero bytes.
            if section.is_strings && section.bytes.last().is_some_and(|&byte| byte != 0) {
                return bad("last string does not end with a zero byte");
            }
        }
        let added = Self { sections, positions };
        for section in sections {
            // Relocations ascend, so each field is compared only with the field before it.
            let mut end = 0;
            for relocation in &section.relocations {
                end = field(section, relocation, end)
                    .and_then(|end| added.check_target(section, relocation).map(|()| end))
                    .map_err(|error| error.in_section(section.name).at_offset(relocation.offset))?;
            }
        }
        Ok(added)
    }

    /// Position of the section to which a relocation in `from` refers by name: the section in the same group, or else
    /// the section in no group. A linker may discard any other group.
    pub fn target(&self, from: &Section, name: &str) -> Option<usize> {
        let position = self.positions.get(&(name, from.group));
        position.or_else(|| self.positions.get(&(name, None))).copied()
    }

    /// Checks a relocation's target if the target is a section.
    fn check_target(&self, from: &Section, relocation: &Relocation) -> Result<()> {
        let RelocationTarget::Section(name) = relocation.target else { return Ok(()) };
        let Some(index) = self.target(from, name) else {
            let is_grouped = self.sections.iter().any(|section| section.name == name);
            let why = if is_grouped {
                "which is in other groups only"
            } else {
                "which is not among the added sections"
            };
            return Err(Error::bad_argument(format!("relocation refers to section {name}, {why}")));
        };
        let size = self.sections[index].bytes.len() as u64;
        if relocation.addend > size {
            let text = format!(
                "addend {:#x} is past the end of section {name}, which has {size:#x}",
                relocation.addend,
                size = Count(size, "byte")
            );
            return Err(Error::bad_argument(text));
        }
        fits(relocation.addend, relocation.bytes)
    }
}

/// Checks a relocation's field and returns the field's end. `after` is the previous field's end.
fn field(section: &Section, relocation: &Relocation, after: u64) -> Result<u64> {
    if !matches!(relocation.bytes, 4 | 8) {
        let text = format!("relocation field has {}; expected 4 or 8", Count(relocation.bytes, "byte"));
        return Err(Error::bad_argument(text));
    }
    if relocation.offset < after {
        let position = relocation.offset;
        let text = format!(
            "relocation at {position:#x} begins before {after:#x}, where the previous one ends; expected ascending offsets"
        );
        return Err(Error::bad_argument(text));
    }
    let end = relocation.offset.checked_add(relocation.bytes.into());
    let field = end.and_then(|end| {
        let start = usize::try_from(relocation.offset).ok()?;
        let end = usize::try_from(end).ok()?;
        section.bytes.get(start..end)
    });
    match (field, end) {
        (Some(field), Some(end)) if field.iter().all(|&byte| byte == 0) => Ok(end),
        (Some(field), _) => {
            Err(Error::bad_argument(format!("relocation field has the bytes {field:02x?}; expected zeros")))
        }
        (None, _) => Err(Error::bad_argument(format!(
            "relocation field, {} at {:#x}, is outside its section, which has {}",
            Count(relocation.bytes, "byte"),
            relocation.offset,
            Count(section.bytes.len(), "byte")
        ))),
    }
}

/// Checks that a number fits a field with 4 or 8 bytes.
pub(crate) fn fits(value: u64, bytes: u8) -> Result<()> {
    if bytes == 4 && value > u64::from(u32::MAX) {
        return Err(ErrorKind::TooLarge(format!("{value:#x} does not fit a 4-byte field")).into());
    }
    Ok(())
}
