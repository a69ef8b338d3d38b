//! The entities that entries became, in the current unit or in an earlier unit.

use gimli::constants as dw;

use super::importer::{Entities, Importer, Place};
use super::node::{Class, Key, class};
use super::shared::{ImportedTypes, Shared};
use crate::model::{FunctionId, Module, ScopeId, ScopeKind, TypeId, TypeKind, VariableId};
use crate::read::{Entry, Unit};

impl<'d, 'o> Importer<'d, 'o> {
    /// Returns the type that an entry became.
    pub(super) fn known_type(&self, entry: Entry<'d, 'o>) -> Option<TypeId> {
        let key = self.representative(entry).offset();
        self.made.types.get(&key).or_else(|| self.types.shared.types.get(&key)).copied()
    }

    /// Returns the function that an entry became.
    pub(super) fn known_function(&self, entry: Entry<'d, 'o>) -> Option<FunctionId> {
        let key = self.representative(entry).offset();
        self.made.functions.get(&key).or_else(|| self.types.shared.functions.get(&key)).copied()
    }

    /// Returns the variable that an entry became.
    pub(super) fn known_variable(&self, entry: Entry<'d, 'o>) -> Option<VariableId> {
        let key = self.representative(entry).offset();
        self.made.variables.get(&key).or_else(|| self.types.shared.variables.get(&key)).copied()
    }

    /// Returns the scope that a block's entry became.
    pub(super) fn known_block(&self, entry: Entry<'d, 'o>) -> Option<ScopeId> {
        let key = entry.offset();
        let own = self.made.scopes.get(&key).map(|place| place.scope);
        own.or_else(|| self.types.shared.scopes.get(&key).copied())
    }

    /// Returns the entry that is imported for the current unit instead of an entry: a complete type instead of its
    /// declaration, the part of a complete type instead of the part of a declaration, and the first equal entry.
    pub(super) fn representative(&self, entry: Entry<'d, 'o>) -> Entry<'d, 'o> {
        if !self.is_own(entry) {
            return entry;
        }
        let entry = self.completed_part(entry).unwrap_or(entry);
        let entry = self.made.declarations.completions.get(&entry.offset()).copied().unwrap_or(entry);
        if let Some(first) = self.types.copied.first(entry.index(), self.info.offset) {
            return self.dwarf.entry_with_index(first).unwrap_or(entry);
        }
        if self.types.equal.is_empty() {
            return entry;
        }
        let first = self.types.equal.first(entry.index());
        first.and_then(|first| self.dwarf.entry_with_index(first)).unwrap_or(entry)
    }

    /// Marks an entry of a type unit as imported, with the type around it, if an equal entry is imported for the current unit
    /// instead.
    pub(super) fn repeat_copy(&mut self, entry: Entry<'d, 'o>) {
        if !self.is_own(entry) {
            return;
        }
        let Some(first) = self.types.copied.first(entry.index(), self.info.offset) else { return };
        let dwarf = self.dwarf;
        let copy = self.types.copied.entries(entry.index());
        let start = copy.as_ref().map_or(entry.index(), |copy| copy.start);
        if !self.types.repeated.insert(start) {
            return;
        }
        match copy.and_then(|copy| dwarf.entry_with_index(copy.start)) {
            Some(ty) => self.repeat(ty),
            // Equal namespaces can be in different lines.
            None => self.repeat_part(entry, dwarf.entry_with_index(first)),
        }
    }

    /// Marks the entries of type units that repeat imported entries: equal types and namespaces, and declarations of types that
    /// other type units describe.
    pub(super) fn repeat_copies(&mut self) {
        let dwarf = self.dwarf;
        let entry = |index: u32| dwarf.entry_with_index(index as usize);
        let is_imported = |index| entry(index).is_some_and(|entry| self.taken.is_imported(entry));
        for (copy, first) in self.types.copied.repeated(is_imported) {
            match (entry(copy), entry(first)) {
                // A declaration can have other parts than the type that it stands for.
                (Some(ty), Some(_)) if class(ty) == Class::Type && !ty.has(dw::DW_AT_signature) => {
                    self.repeat(ty)
                }
                (Some(around), Some(first)) if class(around) == Class::Scope => {
                    self.repeat_part(around, Some(first));
                    self.mark(around, dw::DW_AT_declaration);
                }
                _ => {}
            }
        }
        let units = dwarf.units().iter().filter(|unit| unit.kind == dw::DW_UT_type);
        for entry in units.flat_map(|unit| dwarf.entries_of(unit)) {
            let complete = entry.reference(dw::DW_AT_signature).filter(|_| class(entry) == Class::Type);
            let part = complete.or_else(|| self.completed_part(entry));
            if let Some(part) = part.filter(|part| self.taken.is_imported(*part)) {
                self.repeat_part(entry, Some(part));
                self.mark_all(entry, &[dw::DW_AT_signature, dw::DW_AT_declaration]);
            }
        }
    }

    /// Returns the part of a complete type that a part of its declaration repeats.
    pub(super) fn completed_part(&self, entry: Entry<'d, 'o>) -> Option<Entry<'d, 'o>> {
        self.types.completed.borrow_mut().repeated(entry)
    }

    /// Keeps which entries the current unit's entities were made of.
    pub(super) fn keep_entries(&mut self) {
        let Entities { types, scopes, variables, functions, instances, .. } = &self.made;
        self.entries.add(variables, functions);
        types.iter().for_each(|(&key, &ty)| self.entries.positions.add_type(ty, key));
        // The instance with code also has the calls beside a block, whose order does not depend on where the abstract instance is.
        let module = self.m.described();
        let is_abstract = |key: &Key, scope: ScopeId| {
            matches!(module.scope(scope).kind, ScopeKind::Block)
                && instances.get(key).is_some_and(|instance| scopes.contains_key(&instance.offset()))
        };
        let placed = scopes.iter().filter(|(key, place)| !is_abstract(key, place.scope));
        placed.for_each(|(&key, place)| self.entries.positions.add_scope(place.scope, key));
        variables.iter().for_each(|(&key, &variable)| self.entries.positions.add_variable(variable, key));
        for (key, members) in core::mem::take(&mut self.entries.static_members) {
            if let Some(&variable) = variables.get(&key) {
                self.entries.positions.add_static_member(variable, members);
            }
        }
    }

    /// Lets the next units refer to the current unit's types, and to what they declare; if other units refer to its functions,
    /// to all its entities. An entry of a unit that is imported later is imported for that unit, too, unless equal types are
    /// merged.
    pub(super) fn share(&mut self) {
        if self.types.how == ImportedTypes::Copied {
            return;
        }
        let module = self.m.described();
        let (dwarf, info) = (self.dwarf, self.info);
        self.types.imported.insert(info.offset);
        let imported = &self.types.imported;
        let is_merged = self.types.how == ImportedTypes::Merged;
        let is_own = |key: Key| (info.offset..info.end).contains(&key);
        let is_earlier = |key: Key| {
            let is_imported =
                |unit: &Unit<'_>| unit.kind != dw::DW_UT_compile || imported.contains(&unit.offset);
            is_own(key) || is_merged || dwarf.unit_at(key).is_none_or(is_imported)
        };
        let shares_functions = self.types.of_functions.contains(&info.offset);
        let is_shared = |key: Key, is_of_type: bool| {
            if is_of_type { is_earlier(key) } else { shares_functions && is_own(key) }
        };
        let Shared { types, functions, scopes, variables } = &mut self.types.shared;
        let made = &self.made;
        let is_type = |&(&key, &ty): &(&Key, &TypeId)| {
            is_shared(key, module.function_of(module.ty(ty).scope()).is_none())
        };
        types.extend(made.types.iter().filter(is_type).map(|(&key, &ty)| (key, ty)));
        let is_function = |&(&key, &function): &(&Key, &FunctionId)| {
            is_shared(key, is_declared_by_type(module, module.function(function).scope))
        };
        functions.extend(made.functions.iter().filter(is_function).map(|(&key, &function)| (key, function)));
        let is_variable = |&(&key, &variable): &(&Key, &VariableId)| {
            let scope = module.variable(variable).scope;
            let is_member = is_type_scope(module, scope) && module.function_of(scope).is_none();
            is_shared(key, is_member || is_declared_by_type(module, scope))
        };
        variables.extend(made.variables.iter().filter(is_variable).map(|(&key, &variable)| (key, variable)));
        let is_block = |&(&key, place): &(&Key, &Place<'_>)| {
            is_shared(key, false) && matches!(module.scope(place.scope).kind, ScopeKind::Block)
        };
        scopes.extend(made.scopes.iter().filter(is_block).map(|(&key, place)| (key, place.scope)));
    }
}

fn is_type_scope(module: &Module, scope: ScopeId) -> bool {
    matches!(module.scope(scope).kind, ScopeKind::Type(_))
}

/// Whether a scope is that of a function that a type outside functions declares.
fn is_declared_by_type(module: &Module, scope: ScopeId) -> bool {
    let scope = module.scope(scope);
    matches!(scope.kind, ScopeKind::Function(_))
        && scope
            .parent
            .is_some_and(|around| is_type_scope(module, around) && module.function_of(around).is_none())
}

impl<'d, 'o> Importer<'d, 'o> {
    /// Returns the data member outside variants that an entry is, with its type: by its index, if all members of the type
    /// are imported. The members of a type are looked at once.
    pub(super) fn member_at(&mut self, member: Entry<'d, 'o>) -> Option<(TypeId, u32)> {
        if member.tag() == dw::DW_TAG_member { self.part_at(member) } else { None }
    }

    /// Returns the enumerator that an entry is, with its type, by its index.
    pub(super) fn enumerator_at(&mut self, enumerator: Entry<'d, 'o>) -> Option<(TypeId, u32)> {
        if enumerator.tag() == dw::DW_TAG_enumerator { self.part_at(enumerator) } else { None }
    }

    fn part_at(&mut self, member: Entry<'d, 'o>) -> Option<(TypeId, u32)> {
        if let Some(&known) = self.made.indexed.members.get(&member.offset()) {
            return Some(known);
        }
        let around = member.parent()?;
        let ty = self.known_type(around)?;
        if !self.made.indexed.types.insert(around.offset()) {
            return None;
        }
        let is_data = |part: &Entry<'d, 'o>| part.tag() == member.tag() && class(*part) == Class::Other;
        let count = match self.m.described().ty(ty).kind() {
            TypeKind::Composite(composite) => composite.members.len(),
            TypeKind::Enum { enumerators, .. } => enumerators.len(),
            _ => return None,
        };
        if around.children().filter(is_data).count() != count {
            return None;
        }
        for (index, part) in (0..).zip(around.children().filter(is_data)) {
            self.made.indexed.members.insert(part.offset(), (ty, index));
        }
        self.made.indexed.members.get(&member.offset()).copied()
    }
}
