//! Abbreviation tables, in verbose dumps.

use std::fmt::{self, Write};

use super::names;
use super::text::Dump;
use crate::read::{Abbreviation, ResolvedValue, Unit};

impl<'d> Dump<'_, 'd, '_> {
    /// Prints a unit's abbreviation table, unless an earlier unit has the same table.
    pub(super) fn abbreviations(&mut self, unit: &Unit<'d>) -> fmt::Result {
        let dwarf = self.dwarf;
        let (section, _) = dwarf.place(unit.offset);
        let offset = dwarf.abbreviations_offset(unit);
        if !self.verbose || !self.tables.insert((section, offset)) {
            return Ok(());
        }
        write!(self.out, "abbreviations: @{offset:#x}")?;
        self.out.push('\n');
        match dwarf.abbreviations(unit) {
            Ok(table) => table.iter().try_for_each(|abbreviation| self.abbreviation(abbreviation)),
            Err(error) => writeln!(self.out, "  <{error}>"),
        }
    }

    fn abbreviation(&mut self, abbreviation: &Abbreviation) -> fmt::Result {
        let Abbreviation { offset, code, tag, has_children, attributes } = abbreviation;
        write!(self.out, "  {code} {}", names::tag(*tag))?;
        if *has_children {
            self.out.push_str(", with children");
        }
        self.at(*offset)?;
        self.out.push('\n');
        for (name, form, value) in attributes {
            let value = value.map_or_else(String::new, |value| format!(" {value}"));
            let name = names::attribute(*name, &ResolvedValue::Unsigned(0));
            writeln!(self.out, "    {name} {}{value}", names::form(*form))?;
        }
        Ok(())
    }
}
