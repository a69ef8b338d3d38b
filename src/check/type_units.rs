//! Types in type units: DWARF 5 section 3.1.4.
//!
//! The target of a signature reference is compared as if it were in place. Every entry in a type unit belongs to such
//! a type. A type that can have a type unit has one, so that a linker keeps one of several copies.

use core::ops::Range;
use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet};

use gimli::{DwTag, constants as dw};

use super::compare::Compare;
use super::describe::Describe;
use super::report::Kind;
use super::signature::Signature;
use super::tree::is_type;
use crate::error::At;
use crate::model::{BaseOffset, Count, ScopeKind, StringId, TypeId, TypeKind};
use crate::read::{Entry, Unit};

/// Returns whether a unit is a type unit.
pub(super) fn is_type_unit(unit: &Unit<'_>) -> bool {
    unit.kind == dw::DW_UT_type
}

/// Entries of types with type units, by tag and name.
pub(super) type TypeUnits<'a, 'o> = BTreeMap<(u16, Cow<'a, str>), Vec<Entry<'a, 'o>>>;

/// Tag, enclosing namespaces, name.
type Called = (u16, Vec<StringId>, StringId);

impl<'a, 'o> Compare<'a, 'o> {
    /// Type units of the file.
    fn units_of_types(&self) -> impl Iterator<Item = &'a Unit<'o>> + use<'a, 'o> {
        self.file.dwarf.units().iter().filter(|unit| is_type_unit(unit))
    }

    /// Reads the entries and line programs of type units.
    pub(super) fn read_type_units(&mut self) {
        for unit in self.units_of_types() {
            if let Some(entry) = unit.type_offset.and_then(|offset| self.file.dwarf.entry_at(offset)) {
                let key = (entry.tag().0, entry.name().unwrap_or_default());
                self.type_units.entry(key).or_default().push(entry);
            }
            if self.file.program(unit).is_none()
                && let Err(error) = self.file.dwarf.lines(unit)
            {
                self.report.unreadable(self.described.object, &error, At::default());
            }
        }
    }

    /// Entries of types of this tag and name that have type units.
    pub(super) fn in_type_units(&self, tag: DwTag, name: &'a str) -> impl Iterator<Item = Entry<'a, 'o>> {
        let found = self.type_units.get(&(tag.0, Cow::Borrowed(name)));
        found.map_or(&[][..], Vec::as_slice).iter().copied()
    }

    /// Returns whether a type was compared with an entry in this range of offsets, or with the subject of a type
    /// unit.
    pub(super) fn is_compared(&self, id: TypeId, unit: &Range<u64>) -> bool {
        let mut entries = self.known.types.range((id, 0)..=(id, u64::MAX)).map(|&(_, offset)| offset);
        entries.any(|offset| {
            let is_own =
                || self.file.dwarf.unit_at(offset).is_some_and(|unit| unit.type_offset == Some(offset));
            unit.contains(&offset) || is_own()
        })
    }

    /// Reports entries that type units must not have.
    pub(super) fn rest_of_type_units(&mut self) {
        if self.units_of_types().next().is_none() {
            return;
        }
        let mut described = BTreeMap::<u64, Vec<TypeId>>::new();
        for &(id, offset) in &self.known.types {
            described.entry(offset).or_default().push(id);
        }
        for unit in self.units_of_types() {
            let Some(root) = self.file.dwarf.root(unit) else { continue };
            let at = At::default();
            self.report.entries += 1;
            if !root.descendants().any(|entry| self.known.type_entries.contains(&entry.offset())) {
                let of = unit.type_offset.and_then(|offset| self.file.dwarf.entry_at(offset));
                self.report.find(Kind::Extra, at, "no more type units", format!("one of {}", of.describe()));
                continue;
            }
            if !self.described.consumer.has_type_units {
                self.report.find(Kind::Extra, at.clone(), "no type units", root.describe());
            }
            self.unit_header(unit, dw::DW_UT_type, &at);
            self.signature(unit, &described);
            for entry in root.descendants() {
                let is_outermost = |entry: Entry<'_, '_>| {
                    entry.parent().is_some_and(|parent| {
                        matches!(parent.tag(), dw::DW_TAG_namespace | dw::DW_TAG_type_unit)
                    })
                };
                let is_there = match entry.tag() {
                    dw::DW_TAG_namespace => entry.children().next().is_some(),
                    tag if is_type(tag) => self.known.type_entries.contains(&entry.offset()),
                    _ => !is_outermost(entry),
                };
                if !is_there {
                    let name = entry.name().unwrap_or_default();
                    let found = format!("{} `{name}` in a type unit", entry.tag().describe());
                    self.report.find(Kind::Extra, at.clone(), "no more", found);
                }
            }
        }
    }

    /// Compares the signature of a type unit with the contents, and with the key of its section group.
    fn signature(&mut self, unit: &Unit<'_>, described: &BTreeMap<u64, Vec<TypeId>>) {
        let dwarf = self.file.dwarf;
        let ty = unit.type_offset.and_then(|offset| dwarf.entry_at(offset));
        let (Some(written), Some(ty)) = (unit.signature, ty) else { return };
        let module = self.described.module;
        let at = described.get(&ty.offset()).map_or_else(At::default, |ids| module.at_type(ids[0]));
        let is_big_endian = module.target().is_big_endian();
        let computed = Signature::new(module, described).compute(ty, is_big_endian);
        if let Some(computed) = computed.filter(|computed| *computed != written) {
            let (expected, found) = (format!("signature {computed:#018x}"), format!("{written:#018x}"));
            self.report.find(Kind::Type, at.clone(), expected, found);
        }
        // A linker keeps one group of each key. A linked file has no groups.
        let object = self.described.object;
        if object.is_relocatable() {
            let (section, offset) = dwarf.place(unit.offset);
            let key = object.group_of(section, offset);
            if key != Some(&*written.to_string()) {
                let expected = format!("section group `{written}`, by the signature");
                let found = key.map_or_else(|| "no section group".into(), |key| format!("`{key}`"));
                self.report.find(Kind::Type, at, expected, found);
            }
        }
    }

    /// Reports types in a compile unit or in another type's unit that could have their own.
    pub(super) fn types_that_stayed(&mut self) {
        if !self.described.consumer.has_type_units {
            return;
        }
        let module = self.described.module;
        let mut stays: BTreeSet<TypeId> =
            module.types().map(|(id, _)| id).filter(|&id| !self.can_be_alone(id)).collect();
        self.spread(&mut stays);
        let is_own =
            |offset| self.file.dwarf.unit_at(offset).is_some_and(|unit| unit.type_offset == Some(offset));
        let compared =
            self.known.types.iter().filter(|&&(id, offset)| self.called(id).is_some() && !is_own(offset));
        let suspicious: BTreeMap<TypeId, u64> =
            compared.copied().filter(|(id, _)| !stays.contains(id)).collect();
        if suspicious.is_empty() {
            return;
        }
        self.called_the_same(&mut stays);
        self.spread(&mut stays);
        for (id, offset) in suspicious.into_iter().filter(|(id, _)| !stays.contains(id)) {
            let unit = self.file.dwarf.unit_at(offset).and_then(|unit| unit.name.as_deref());
            let found = unit.map_or_else(|| "it in another's".into(), |unit| format!("it in unit `{unit}`"));
            let expected = format!("{} in a unit of its own", module.called(id));
            self.report.find(Kind::Type, module.at_type(id), expected, found);
        }
    }

    /// Qualified name of a type that gets a type unit if possible: a named structure, class, union or enumeration.
    fn called(&self, id: TypeId) -> Option<Called> {
        let ty = self.described.module.ty(id);
        let is_one = matches!(ty.kind(), TypeKind::Composite(_) | TypeKind::Enum { .. });
        let name = ty.name().filter(|_| is_one && !ty.is_declaration())?;
        let mut around = Vec::new();
        let mut scope = self.described.module.scope(ty.scope());
        while let (ScopeKind::Namespace { name, .. }, Some(parent)) = (&scope.kind, scope.parent) {
            around.extend(*name);
            scope = self.described.module.scope(parent);
        }
        Some((ty.kind().tag().0, around, name))
    }

    /// Returns whether a type keeps its meaning in a type unit: neither its scopes nor its contents belong to one
    /// unit. Namespaces do not, as they can be reopened.
    fn can_be_alone(&self, id: TypeId) -> bool {
        let (module, ty) = (self.described.module, self.described.module.ty(id));
        let mut scope = module.scope(ty.scope());
        while let (ScopeKind::Namespace { name: Some(_), .. }, Some(parent)) = (&scope.kind, scope.parent) {
            scope = module.scope(parent);
        }
        let is_outside = matches!(scope.kind, ScopeKind::Unit);
        is_outside
            && match ty.kind() {
                TypeKind::Array { dimensions, .. } => {
                    dimensions.iter().all(|one| matches!(one.count, Count::Unknown | Count::Fixed(_)))
                }
                TypeKind::Composite(composite) => {
                    let index = &self.described.index;
                    !index.variables.has(composite.scope)
                        && !index.scopes.has(composite.scope)
                        && !index.imports.has(composite.scope)
                        && !index.has_types[composite.scope]
                        && composite.bases.iter().all(|base| matches!(base.offset, BaseOffset::Bytes(_)))
                        && ty.locs().into_iter().all(|loc| module.constant(loc).is_some())
                }
                _ => true,
            }
    }

    /// Adds the types that refer to a type that stays in its compile unit, transitively.
    fn spread(&self, stays: &mut BTreeSet<TypeId>) {
        let mut users = BTreeMap::<TypeId, Vec<TypeId>>::new();
        for (id, ty) in self.described.module.types() {
            ty.referred(self.described.module, |of| users.entry(of).or_default().push(id));
        }
        let mut next: Vec<TypeId> = stays.iter().copied().collect();
        while let Some(id) = next.pop() {
            next.extend(users.get(&id).into_iter().flatten().filter(|&&user| stays.insert(user)));
        }
    }

    /// Adds types with equal qualified names and different contents, which can have equal signatures.
    fn called_the_same(&mut self, stays: &mut BTreeSet<TypeId>) {
        let mut all = BTreeMap::<Called, Vec<TypeId>>::new();
        for (id, _) in self.described.module.types() {
            if let Some(called) = self.called(id) {
                all.entry(called).or_default().push(id);
            }
        }
        for ids in all.into_values() {
            let Some((first, others)) = ids.split_first() else { continue };
            if !others.iter().all(|&other| self.is_same(*first, other)) {
                stays.extend(ids);
            }
        }
    }

    /// Returns whether the entry of a type also matches another type.
    fn is_same(&mut self, one: TypeId, other: TypeId) -> bool {
        let language = |id: TypeId| {
            let unit = self.described.module.unit(self.described.module.ty(id).unit());
            (unit.language, unit.language_version)
        };
        if language(one) != language(other) {
            return false;
        }
        let found = self.known.types.range((one, 0)..=(one, u64::MAX)).next();
        let Some(entry) = found.and_then(|&(_, offset)| self.file.dwarf.entry_at(offset)) else {
            return false;
        };
        self.same_type(other, entry).is_ok()
    }
}
