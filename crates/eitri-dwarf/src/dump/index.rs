//! Lookup tables: names, addresses, public names, and the tables for indexed strings and addresses.

use std::collections::HashSet;
use std::fmt::{self, Write};

use super::names;
use super::text::{Dump, describe};
use crate::error::{Count, Result};
use crate::read::{
    AddressRanges, IndexTable, IndexedName, NameEntry, NameIndex, NameParent, NameUnit, PublicNames,
    PublicSection,
};

impl<'d> Dump<'_, 'd, '_> {
    pub(super) fn indices(&mut self) -> fmt::Result {
        let sections = self.dwarf.sections();
        self.each("names", NameIndex::read_each(sections), Self::names)?;
        self.each("addresses", AddressRanges::read_each(sections), Self::addresses)?;
        for section in PublicSection::ALL {
            let name = section.name().trim_start_matches(".debug_");
            self.each(name, PublicNames::read_each(sections, section), Self::public)?;
        }
        let has_headers = self.dwarf.units().iter().any(|unit| unit.encoding.version >= 5);
        if self.verbose && has_headers {
            self.each("string offsets", IndexTable::each_str_offsets(sections), Self::table)?;
            self.each("address table", IndexTable::each_addresses(sections), Self::table)?;
        }
        Ok(())
    }

    /// Prints each part of a section after a title and a blank line, or the error of a part that cannot be read.
    fn each<T>(
        &mut self,
        title: &str,
        all: Vec<Result<T>>,
        print: fn(&mut Self, T) -> fmt::Result,
    ) -> fmt::Result {
        for part in all {
            write!(self.out, "\n{title}:")?;
            match part {
                Ok(part) => print(self, part)?,
                Err(error) => writeln!(self.out, " <{error}>")?,
            }
        }
        Ok(())
    }

    /// Prints the name of the unit at an offset.
    fn unit_name(&mut self, offset: u64) -> fmt::Result {
        let unit = self.dwarf.unit_at(self.dwarf.offset_in_info(offset));
        match unit.filter(|unit| unit.offset == offset) {
            Some(unit) => match (&unit.name, &unit.dwo_name, unit.signature) {
                (Some(name), ..) => write!(self.out, "unit {name:?}")?,
                (None, Some(file), _) => write!(self.out, "skeleton of {file:?}")?,
                (None, None, Some(signature)) => write!(self.out, "unit of signature {signature:#018x}")?,
                _ => self.out.push_str("a unit without name"),
            },
            None => self.out.push_str("no unit"),
        }
        self.at(offset)
    }

    fn error<T>(&mut self, result: Result<T>) -> Option<T> {
        result.map_err(|error| writeln!(self.out, "  <{error}>")).ok()
    }

    fn names(&mut self, index: NameIndex<'d>) -> fmt::Result {
        write!(self.out, " version {}", index.version)?;
        if !index.augmentation.is_empty() {
            self.out.push_str(", augmentation ");
            self.quoted(index.augmentation)?;
        }
        self.at(index.offset)?;
        self.out.push('\n');
        if self.verbose {
            writeln!(
                self.out,
                "  {} in {}",
                Count(index.name_count, "name"),
                Count(index.bucket_count, "bucket")
            )?;
        }
        for (kind, list) in [("compilation", &index.units), ("type", &index.type_units)] {
            for (number, &offset) in list.iter().enumerate() {
                write!(self.out, "  {kind} unit {number}: ")?;
                self.unit_name(offset)?;
                self.out.push('\n');
            }
        }
        for (number, signature) in (index.type_units.len()..).zip(&index.foreign_type_units) {
            writeln!(self.out, "  type unit {number}: foreign, signature {signature:#018x}")?;
        }
        // In a damaged table, names can reference the same entries, which are printed once: the text would otherwise grow
        // with the square of the table.
        let mut printed = HashSet::new();
        for name in index.names() {
            if let Some(name) = self.error(name) {
                self.indexed(&index, &name, &mut printed)?;
            }
        }
        Ok(())
    }

    fn indexed(
        &mut self,
        index: &NameIndex<'d>,
        name: &IndexedName<'d>,
        printed: &mut HashSet<u64>,
    ) -> fmt::Result {
        self.out.push_str("  ");
        self.quoted(name.name)?;
        if self.verbose {
            write!(self.out, " {}", name.number)?;
            if let Some(hash) = name.hash {
                write!(self.out, " hash {hash:#010x} bucket {}", hash % index.bucket_count.max(1))?;
            }
        }
        self.out.push('\n');
        let Some(entries) = self.error(index.entries(name)) else { return Ok(()) };
        for entry in entries {
            match self.error(entry) {
                Some(entry) if !printed.insert(entry.offset) => {
                    return self.out.write_str("    entries of a name above\n");
                }
                Some(entry) => self.name_entry(&entry)?,
                None => return Ok(()),
            }
        }
        Ok(())
    }

    fn name_entry(&mut self, entry: &NameEntry) -> fmt::Result {
        let dwarf = self.dwarf;
        self.out.push_str("    ");
        match (entry.unit, dwarf.named(entry)) {
            (_, Some(found)) => {
                self.out.push_str(&describe(dwarf, found.offset()));
                // The table repeats the tag: print both if they differ.
                if found.tag() != entry.tag {
                    write!(self.out, " as {}", names::tag(entry.tag))?;
                }
                if dwarf.units().len() > 1 {
                    self.out.push_str(" in ");
                    self.unit_name(found.unit().offset)?;
                }
            }
            (Some(NameUnit::Foreign { signature, .. }), _) => {
                write!(self.out, "{} in foreign unit, signature {signature:#018x}", names::tag(entry.tag))?;
            }
            (Some(NameUnit::Compile(unit) | NameUnit::Type(unit)), _) => {
                // A skeleton unit's entry is in the split file.
                let named = dwarf.unit_at(dwarf.offset_in_info(unit));
                let is_split = named.is_some_and(|unit| unit.kind == gimli::DW_UT_skeleton);
                let relation = if is_split { "in the split unit of" } else { "but no entry in" };
                write!(self.out, "{} {relation} ", names::tag(entry.tag))?;
                self.unit_name(unit)?;
            }
            (None, _) => write!(self.out, "{} in no unit", names::tag(entry.tag))?,
        }
        if self.verbose {
            if let Some(offset) = entry.entry {
                write!(self.out, " entry +{offset:#x}")?;
            }
            write!(self.out, " abbreviation {}", entry.abbreviation)?;
            match entry.parent {
                NameParent::Unknown => {}
                NameParent::NotIndexed => self.out.push_str(" parent not indexed"),
                NameParent::Entry(offset) => {
                    self.out.push_str(" parent");
                    self.at(offset)?;
                }
            }
            if let Some(hash) = entry.type_hash {
                write!(self.out, " type hash {hash:#018x}")?;
            }
            self.at(entry.offset)?;
        }
        self.out.push('\n');
        Ok(())
    }

    fn addresses(&mut self, set: AddressRanges<'d>) -> fmt::Result {
        self.out.push(' ');
        self.unit_name(set.unit)?;
        self.out.push('\n');
        for range in set.ranges() {
            let Some(range) = self.error(range) else { return Ok(()) };
            let pcs = range.start..range.start.wrapping_add(range.length);
            write!(self.out, "  {}", self.object.pc_notation().pcs(&pcs))?;
            if set.segment_bytes != 0 {
                write!(self.out, " segment {}", range.segment)?;
            }
            self.at(range.offset)?;
            self.out.push('\n');
        }
        Ok(())
    }

    fn public(&mut self, set: PublicNames<'d>) -> fmt::Result {
        let dwarf = self.dwarf;
        self.out.push(' ');
        self.unit_name(set.unit)?;
        self.out.push('\n');
        let unit = dwarf.unit_at(dwarf.offset_in_info(set.unit));
        let is_skeleton = unit.is_some_and(|unit| unit.kind == gimli::DW_UT_skeleton);
        for name in set.names() {
            let Some(name) = self.error(name) else { return Ok(()) };
            self.out.push_str("  ");
            self.quoted(name.name)?;
            if !is_skeleton {
                write!(
                    self.out,
                    ": {}",
                    describe(dwarf, dwarf.offset_in_info(set.unit.saturating_add(name.entry)))
                )?;
            }
            if let Some(flags) = name.flags {
                let linkage = if flags & 0x80 != 0 { "static" } else { "external" };
                let kinds = ["none", "type", "variable", "function", "other"];
                let kind = kinds.get(usize::from(flags >> 4 & 7)).copied().unwrap_or("unknown");
                write!(self.out, " ({linkage} {kind})")?;
            }
            if self.verbose {
                write!(self.out, " entry +{:#x}", name.entry)?;
            }
            self.at(name.offset)?;
            self.out.push('\n');
        }
        Ok(())
    }

    fn table(&mut self, table: IndexTable<'d>) -> fmt::Result {
        write!(self.out, " version {}", table.version)?;
        self.at(table.offset)?;
        self.out.push_str(" base");
        self.at(table.base)?;
        self.out.push('\n');
        for (index, element) in table.elements().enumerate() {
            let Some(element) = self.error(element) else { return Ok(()) };
            writeln!(self.out, "  {index}: {element:#x}")?;
        }
        Ok(())
    }
}
