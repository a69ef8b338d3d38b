//! Types that have units of their own: DWARF 5 section 3.1.4.
//!
//! What refers to one by its signature is compared with the entry there as if it were in place. Each entry of a
//! type unit has to be one of the types that were met so.

use core::ops::Range;
use std::borrow::Cow;
use std::collections::BTreeMap;

use gimli::{DwTag, constants as dw};

use super::tags::is_type;
use super::{Compared, equal};
use crate::check::attributes::{self, only};
use crate::check::compare::Compare;
use crate::check::entries::flag;
use crate::check::report::Kind;
use crate::check::words::Words;
use crate::error::At;
use crate::model::{Scope, ScopeKind, TypeId};
use crate::read::{Entry, LineProgram, Unit};

/// Whether it is a unit of a type.
pub(in crate::check) fn is_type_unit(unit: &Unit<'_>) -> bool {
    unit.kind == dw::DW_UT_type
}

/// What has to be known of all type units.
#[derive(Default)]
pub(in crate::check) struct TypeUnits<'a, 'o> {
    /// Their line programs, by offset.
    programs: BTreeMap<u64, LineProgram<'o>>,
    /// The entries of their types, by tag and name.
    types: BTreeMap<(u16, Cow<'a, str>), Vec<Entry<'a, 'o>>>,
}

impl<'a, 'o> Compare<'a, 'o> {
    /// The units of types.
    fn units_of_types(&self) -> impl Iterator<Item = &'a Unit<'o>> + use<'a, 'o> {
        self.dwarf.units().iter().filter(|unit| is_type_unit(unit))
    }

    /// Reads what types in type units are compared with.
    pub(in crate::check) fn read_type_units(&mut self) {
        for unit in self.units_of_types() {
            if let Some(entry) = unit.type_offset.and_then(|offset| self.dwarf.entry_at(offset)) {
                let key = (entry.tag().0, entry.name().unwrap_or_default());
                self.type_units.types.entry(key).or_default().push(entry);
            }
            let programs = &mut self.type_units.programs;
            let Some(offset) = unit.stmt_list.filter(|offset| !programs.contains_key(offset)) else {
                continue;
            };
            match self.dwarf.lines(unit) {
                Ok(program) => programs.extend(program.map(|program| (offset, program))),
                Err(error) => self.unreadable(&error, At::default()),
            }
        }
    }

    /// The line program in which the files of an entry are.
    pub(in crate::check) fn program_of(&self, entry: Entry<'a, 'o>) -> Option<&LineProgram<'o>> {
        let unit = entry.unit();
        match is_type_unit(unit) {
            true => self.type_units.programs.get(&unit.stmt_list?),
            false => self.program.as_ref(),
        }
    }

    /// Compares what is around a type in a type unit.
    pub(super) fn context(&self, id: TypeId, parent: Entry<'a, 'o>) -> Compared {
        let module = self.module;
        let ty = module.ty(id);
        let language = self.expected_language(module.unit(ty.unit()));
        let root = self.dwarf.root(parent.unit());
        let found = attributes::LANGUAGE.map(|name| root.and_then(|root| root.number(name)));
        equal("the language of a type", &language, &found)?;
        let (mut scope, mut around) = (ty.scope(), Some(parent));
        loop {
            let (tag, name, is_inline, outer) = match module.scope(scope) {
                Scope { kind: ScopeKind::Namespace { name, is_inline }, parent, .. } => {
                    let name = name.map_or("", |name| module.string(name));
                    (dw::DW_TAG_namespace, name, *is_inline, *parent)
                }
                // What is in a function or a type has no unit of its own.
                _ => (dw::DW_TAG_type_unit, "", false, None),
            };
            let found = around.map(|entry| {
                let is_inline = flag(entry, dw::DW_AT_export_symbols);
                (entry.tag(), entry.name().unwrap_or_default(), is_inline)
            });
            equal("a type in", &Some((tag, name.into(), is_inline)), &found)?;
            around = around.and_then(Entry::parent);
            match outer {
                Some(outer) => scope = outer,
                None => return Ok(()),
            }
        }
    }

    /// The entries of types of this tag and name that have units of their own.
    pub(super) fn in_type_units(&self, tag: DwTag, name: &'a str) -> impl Iterator<Item = Entry<'a, 'o>> {
        let found = self.type_units.types.get(&(tag.0, Cow::Borrowed(name)));
        found.map_or(&[][..], Vec::as_slice).iter().copied()
    }

    /// Whether a type was compared with an entry that is at one of these offsets, or is what a type unit is for.
    pub(super) fn is_compared(&self, id: TypeId, unit: &Range<u64>) -> bool {
        let mut entries = self.types.range((id, 0)..=(id, u64::MAX)).map(|&(_, offset)| offset);
        entries.any(|offset| {
            let is_own = || self.dwarf.unit_at(offset).is_some_and(|unit| unit.type_offset == Some(offset));
            unit.contains(&offset) || is_own()
        })
    }

    /// Looks for what type units should not have.
    pub(in crate::check) fn rest_of_type_units(&mut self) {
        for unit in self.units_of_types() {
            let Some(root) = self.dwarf.root(unit) else { continue };
            let at = At::default();
            self.report.entries += 1;
            if !root.descendants().any(|entry| self.type_entries.contains(&entry.offset())) {
                let of = unit.type_offset.and_then(|offset| self.dwarf.entry_at(offset));
                self.find(Kind::Extra, at, "no more type units", format!("one of {}", of.words()));
                continue;
            }
            if !self.consumer.has_type_units {
                self.find(Kind::Extra, at.clone(), "no type units", root.words());
            }
            self.same(&at, "a unit's tag", &dw::DW_TAG_type_unit, &root.tag());
            self.same(&at, "entries that do not end", &0, &unit.unclosed);
            let address_bytes = self.module.target.address_bytes();
            self.same(&at, "bytes of an address", &address_bytes, &unit.encoding.address_bytes);
            if let Err((expected, found)) =
                only(root, |name| name == dw::DW_AT_stmt_list || attributes::LANGUAGE.contains(&name))
            {
                self.find(Kind::Attribute, at.clone(), expected, found);
            }
            for entry in root.descendants() {
                let is_outermost = |entry: Entry<'_, '_>| {
                    entry.parent().is_some_and(|parent| {
                        matches!(parent.tag(), dw::DW_TAG_namespace | dw::DW_TAG_type_unit)
                    })
                };
                let is_there = match entry.tag() {
                    dw::DW_TAG_namespace => {
                        let own = [dw::DW_AT_name, dw::DW_AT_export_symbols];
                        entry.children().next().is_some() && only(entry, |name| own.contains(&name)).is_ok()
                    }
                    tag if is_type(tag) => self.type_entries.contains(&entry.offset()),
                    _ => !is_outermost(entry),
                };
                if !is_there {
                    let name = entry.name().unwrap_or_default();
                    let found = format!("{} `{name}` in a type unit", entry.tag().words());
                    self.find(Kind::Extra, at.clone(), "no more", found);
                }
            }
        }
    }
}
