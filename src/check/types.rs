//! Types: their structure and their scopes.

use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet, VecDeque};

use gimli::constants as dw;

use super::compare::Compare;
use super::describe::Describe;
use super::report::Kind;
use super::tree::{Compared, Different, Entity, Number, Reference, is_type};
use super::type_units::is_type_unit;
use crate::model::{ScopeId, ScopeKind, TypeId, TypeKind, UnitId};
use crate::omission::{Property, Subject};
use crate::read::Entry;

/// References, numbers and scopes of a type that matches an entry.
#[derive(Default)]
pub(super) struct MatchedType<'a, 'o> {
    /// Composite types as scopes.
    scopes: Vec<(ScopeId, Entry<'a, 'o>)>,
    references: Vec<Reference<'a, 'o>>,
    numbers: Vec<(Number, Entry<'a, 'o>)>,
}

impl<'a, 'o> Compare<'a, 'o> {
    /// Compares the type of an entity with an entry.
    pub(super) fn ty(&mut self, ty: TypeId, entry: Option<Entry<'a, 'o>>, of: Entity) {
        let Some(entry) = entry else {
            return self.report.find(Kind::Type, self.described.at(of), "a type", "void");
        };
        match self.same_type(ty, entry) {
            Ok(matched) => self.defer(matched, of),
            Err((expected, found)) => self.report.find(Kind::Type, self.described.at(of), expected, found),
        }
    }

    /// Adds comparisons that depend on other entries.
    fn defer(&mut self, MatchedType { scopes, references, numbers }: MatchedType<'a, 'o>, of: Entity) {
        self.pending.types.extend(scopes);
        references.into_iter().for_each(|one| self.pending.refer(of, one));
        self.pending.numbers.extend(numbers.into_iter().map(|(number, entry)| (of, number, entry)));
    }

    /// Compares a type with an entry, with all types that it refers to.
    ///
    /// # Errors
    /// The first difference.
    pub(super) fn same_type(
        &mut self,
        ty: TypeId,
        entry: Entry<'a, 'o>,
    ) -> Result<MatchedType<'a, 'o>, Different> {
        // A pair that was seen before is compared once: a difference is found where it was seen first.
        if self.known.types.contains(&(ty, entry.offset())) {
            return Ok(MatchedType::default());
        }
        // A work list, as types may be nested deeply.
        let mut seen = BTreeSet::new();
        let mut matched = MatchedType::default();
        let mut pairs = Vec::from([(ty, entry)]);
        while let Some((id, entry)) = pairs.pop() {
            let pair = (id, entry.offset());
            if self.known.types.contains(&pair) || !seen.insert(pair) {
                continue;
            }
            let mut compared = Compared::default();
            compared.compare(
                self.file.reader(self.described, self.described.unit_of(Entity::Type(id))),
                &self.described.node(Entity::Type(id), None),
                entry,
            );
            self.around(id, entry, &mut compared);
            if let Some((_, different)) = compared.differences.into_iter().next() {
                return Err(different);
            }
            if let TypeKind::Composite(composite) = &self.described.module.ty(id).kind {
                matched.scopes.push((composite.scope, entry));
            }
            for one in compared.references {
                match (one.entity, one.found) {
                    (Entity::Type(id), Some(entry)) => pairs.push((id, entry)),
                    (Entity::Type(_), None) => return Err(("a type".into(), "void".into())),
                    _ => matched.references.push(one),
                }
            }
            matched.numbers.extend(compared.numbers);
        }
        self.known.type_entries.extend(seen.iter().map(|&(_, entry)| entry));
        self.known.types.extend(seen);
        Ok(matched)
    }

    /// Compares the entry around a type.
    fn around(&self, id: TypeId, entry: Entry<'a, 'o>, compared: &mut Compared<'a, 'o>) {
        let Some(mut around) = entry.parent() else { return };
        let ty = self.described.module.ty(id);
        if !is_type_unit(entry.unit()) {
            let entity = self.described.around(ty);
            return compared.references.push(Reference { attribute: None, entity, found: Some(around) });
        }
        // Namespaces can be reopened. Types in functions and types have no type units.
        let mut scope = self.described.module.scope(ty.scope());
        while let (&ScopeKind::Namespace { name, is_inline }, Some(outer)) = (&scope.kind, scope.parent) {
            compared.compare(
                self.file.reader(self.described, self.described.unit_of(Entity::Type(id))),
                &self.described.namespace(name, is_inline),
                around,
            );
            let Some(next) = around.parent() else { return };
            (scope, around) = (self.described.module.scope(outer), next);
        }
        compared.compare(
            self.file.reader(self.described, self.described.unit_of(Entity::Type(id))),
            &self.described.node(Entity::TypeUnit(ty.unit()), None),
            around,
        );
    }

    /// Compares the types that no entity of the module refers to with the remaining entries, and the scopes of
    /// composite types.
    pub(super) fn rest_of_types(&mut self, unit: UnitId, root: Entry<'a, 'o>) {
        let module = self.described.module;
        self.scopes_of_types();
        let mut entries = BTreeMap::<(u16, Cow<'_, str>), VecDeque<Entry<'a, 'o>>>::new();
        for entry in root.descendants().filter(|entry| is_type(entry.tag())) {
            let key = (entry.tag().0, entry.name().unwrap_or_default());
            entries.entry(key).or_default().push_back(entry);
        }
        let at = module.at_scope(module.unit(unit).scope);
        let span = root.unit().offset..root.unit().end;
        for &id in &self.described.index.types[unit] {
            let is_omitted = self.described.omitted.count(Subject::Type(id), Property::Entity) > 0;
            if is_omitted || self.is_compared(id, &span) {
                continue;
            }
            let ty = module.ty(id);
            let (tag, name) = (ty.kind().tag(), ty.name().map_or("", |name| module.string(name)));
            let of_kind = entries.entry((tag.0, name.into())).or_default();
            of_kind.retain(|entry| !self.known.type_entries.contains(&entry.offset()));
            // Entries are in the order of the module: the first that is left matches, in its own scope if there is
            // one.
            let is_in_scope = |entry: &Entry<'_, '_>| {
                let parent = entry.parent();
                parent.is_some_and(|parent| self.known.is_scope(ty.scope(), parent))
            };
            let (mut candidates, others): (Vec<_>, Vec<_>) = of_kind.iter().copied().partition(is_in_scope);
            candidates.extend(others);
            candidates.extend(self.in_type_units(tag, name));
            match candidates.into_iter().find_map(|entry| self.same_type(id, entry).ok()) {
                Some(matched) => {
                    self.defer(matched, Entity::Inside(module.unit(unit).scope));
                    self.scopes_of_types();
                }
                None => {
                    self.report.find(
                        Kind::Type,
                        at.clone(),
                        format!("{} `{name}`", tag.describe()),
                        "none like it",
                    );
                }
            }
        }
        for entry in root.descendants().filter(|entry| is_type(entry.tag())) {
            // Expressions use base types of their own, even if all expressions that need one are omitted.
            let is_own = |entry: Entry<'_, '_>| {
                entry.tag() == dw::DW_TAG_base_type
                    && !entry.has(dw::DW_AT_location)
                    && self.file.referred().contains_key(&entry.offset())
            };
            let is_known = self.known.type_entries.contains(&entry.offset()) || is_own(entry);
            if !is_known && !self.is_for_expressions(entry) {
                let name = entry.name().unwrap_or_default();
                let found = format!("{} `{name}`", entry.tag().describe());
                self.report.find(Kind::Extra, at.clone(), "no more types", found);
            }
        }
    }

    /// Returns whether an entry is a base type for narrow registers in typed expressions, by the name that LLVM gives
    /// it.
    fn is_for_expressions(&self, entry: Entry<'a, 'o>) -> bool {
        let is_typed =
            entry.tag() == dw::DW_TAG_base_type && !self.described.consumer.has_locations_on_the_stack();
        let bits = entry.number(dw::DW_AT_byte_size).unwrap_or(0).saturating_mul(8);
        is_typed && entry.name().is_some_and(|name| name == format!("unsigned_{bits}"))
    }

    /// Compares the scopes of the composite types seen so far.
    fn scopes_of_types(&mut self) {
        while let Some((scope, entry)) = self.pending.types.pop() {
            self.scope(scope, entry);
        }
    }
}
