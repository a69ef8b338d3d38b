//! String sections, in which all units' strings are stored once.

use crate::emit::strings::{StringIndices, Strings};
use crate::emit::{Relocation, RelocationTarget};
use crate::lower::section::{PerSection, Progress, SectionContents, reserve};
use crate::lower::strings::{anonymous, text};
use crate::lower::units::Units;
use crate::model::{Module, Numbering};

/// `.debug_str` and `.debug_line_str`, with the last module's string numbers.
pub(super) struct StringSections {
    pub(super) strings: Strings,
    pub(super) line_strings: Strings,
    numbering: Numbering,
    /// How many strings the last module has.
    count: usize,
}

impl StringSections {
    pub(super) fn new(module: &Module) -> Self {
        let numbering = module.strings.numbering().clone();
        let strings = Strings::default();
        let line_strings = Strings::default();
        Self { strings, line_strings, numbering, count: module.strings.len() }
    }

    /// Begins another module. Its strings have other numbers than before, unless it has the last module's strings and
    /// more.
    pub(super) fn begin_module(&mut self, module: &Module) {
        let strings = &module.strings;
        let kept = if self.numbering == *strings.numbering() { strings.len().min(self.count) } else { 0 };
        (self.numbering, self.count) = (strings.numbering().clone(), strings.len());
        self.strings.renumber(kept);
        // Number 0 is the empty string.
        self.line_strings.renumber(kept + usize::from(kept > 0));
    }

    /// Returns a string's offset in `.debug_str`. An unnamed namespace does not have a number.
    pub(super) fn offset(&mut self, units: &Units<'_>, number: Option<u32>) -> u64 {
        let number = number.unwrap_or_else(|| anonymous(units));
        self.strings.offset(number, || text(units, number))
    }

    /// Appends the offsets for the strings that a unit refers to by index.
    pub(super) fn write_indices(
        &mut self,
        units: &Units<'_>,
        numbers: &[u32],
        out: &mut SectionContents,
        progress: Progress,
    ) {
        let strings = &mut self.strings;
        let offset = |number| strings.offset(number, || text(units, number));
        reserve(&mut out.relocations, numbers.len(), progress);
        reserve(&mut out.bytes, numbers.len() * usize::from(units.format.offset_bytes), progress);
        StringIndices::write(numbers, units.format, offset, &mut out.bytes, &mut out.relocations);
    }

    /// Rebases the addends in a unit's relocations to the start of the whole sections, and appends the strings that
    /// they refer to.
    pub(super) fn relocate(
        &mut self,
        units: &Units<'_>,
        relocations: &mut [Relocation],
        bases: PerSection<u64>,
    ) {
        for relocation in relocations {
            let RelocationTarget::Section(name) = relocation.target else { continue };
            let number = relocation.addend as u32;
            relocation.addend = match name {
                ".debug_str" if units.consumer.has_inlined_rows => relocation.addend + bases.inlined,
                ".debug_str" => self.strings.offset(number, || text(units, number)),
                // Number 0 is the empty string.
                ".debug_line_str" => {
                    let text = || number.checked_sub(1).map(|number| text(units, number)).unwrap_or_default();
                    self.line_strings.offset(number, text)
                }
                ".debug_info" => relocation.addend + bases.info,
                ".debug_loclists" | ".debug_loc" => relocation.addend + bases.loclists,
                ".debug_rnglists" | ".debug_ranges" => relocation.addend + bases.rnglists,
                ".debug_addr" => relocation.addend + bases.addr,
                ".debug_line" => relocation.addend + bases.line,
                ".debug_macro" | ".debug_macinfo" => relocation.addend + bases.macros,
                ".debug_str_offsets" => relocation.addend + bases.str_offsets,
                _ => relocation.addend,
            };
        }
    }
}
