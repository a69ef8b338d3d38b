//! Which types have units of their own, where the consumer has such: each that can, for a linker drops what it does
//! not need of the others. DWARF 5 section 3.1.4.

use std::collections::{BTreeMap, BTreeSet};

use super::tags::tag_of;
use crate::check::compare::Compare;
use crate::check::report::Kind;
use crate::model::{BaseOffset, Count, ScopeKind, StringId, TypeId, TypeKind};

/// A tag, the namespaces around, the name.
type Called = (u16, Vec<StringId>, StringId);

impl<'a, 'o> Compare<'a, 'o> {
    /// Looks for types that are in a compile unit, or in another type's, and could be in their own.
    pub(in crate::check) fn types_that_stayed(&mut self) {
        if !self.consumer.has_type_units {
            return;
        }
        let module = self.module;
        let mut stays: BTreeSet<TypeId> =
            module.types().map(|(id, _)| id).filter(|&id| !self.can_be_alone(id)).collect();
        self.spread(&mut stays);
        let is_own = |offset| self.dwarf.unit_at(offset).is_some_and(|unit| unit.type_offset == Some(offset));
        let compared =
            self.types.iter().filter(|&&(id, offset)| self.called(id).is_some() && !is_own(offset));
        let suspicious: BTreeMap<TypeId, u64> =
            compared.copied().filter(|(id, _)| !stays.contains(id)).collect();
        if suspicious.is_empty() {
            return;
        }
        self.called_the_same(&mut stays);
        self.spread(&mut stays);
        for (id, offset) in suspicious.into_iter().filter(|(id, _)| !stays.contains(id)) {
            let unit = self.dwarf.unit_at(offset).and_then(|unit| unit.name.as_deref());
            let found = unit.map_or_else(|| "it in another's".into(), |unit| format!("it in unit `{unit}`"));
            let expected = format!("{} in a unit of its own", module.called(id));
            self.find(Kind::Type, module.at_type(id), expected, found);
        }
    }

    /// What a type that has a unit of its own is called: a structure, class, union or enumeration with a name.
    fn called(&self, id: TypeId) -> Option<Called> {
        let ty = self.module.ty(id);
        let is_one = matches!(ty.kind(), TypeKind::Composite(_) | TypeKind::Enum { .. });
        let name = ty.name().filter(|_| is_one && !ty.is_declaration())?;
        let mut around = Vec::new();
        let mut scope = self.module.scope(ty.scope());
        while let (ScopeKind::Namespace { name, .. }, Some(parent)) = (&scope.kind, scope.parent) {
            around.extend(*name);
            scope = self.module.scope(parent);
        }
        Some((tag_of(ty.kind()).0, around, name))
    }

    /// Whether a type means the same in a unit of its own: nothing around it or in it is in one place only, but for
    /// namespaces, which are opened again.
    fn can_be_alone(&self, id: TypeId) -> bool {
        let (module, ty) = (self.module, self.module.ty(id));
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
                    let index = &self.index;
                    index.variables[composite.scope].is_empty()
                        && index.scopes[composite.scope].is_empty()
                        && index.imports[composite.scope].is_empty()
                        && !index.has_types[composite.scope]
                        && composite.bases.iter().all(|base| matches!(base.offset, BaseOffset::Bytes(_)))
                        && ty.locs().into_iter().all(|loc| module.constant(loc).is_some())
                }
                _ => true,
            }
    }

    /// What refers to a type that stays in its compile unit stays there.
    fn spread(&self, stays: &mut BTreeSet<TypeId>) {
        let mut users = BTreeMap::<TypeId, Vec<TypeId>>::new();
        for (id, ty) in self.module.types() {
            ty.referred(self.module, |of| users.entry(of).or_default().push(id));
        }
        let mut next: Vec<TypeId> = stays.iter().copied().collect();
        while let Some(id) = next.pop() {
            next.extend(users.get(&id).into_iter().flatten().filter(|&&user| stays.insert(user)));
        }
    }

    /// Adds types that are called the same and are not: a signature can be that of both.
    fn called_the_same(&mut self, stays: &mut BTreeSet<TypeId>) {
        let mut all = BTreeMap::<Called, Vec<TypeId>>::new();
        for (id, _) in self.module.types() {
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

    /// Whether what was written of a type is also what the other one says.
    fn is_same(&mut self, one: TypeId, other: TypeId) -> bool {
        let language = |id: TypeId| {
            let unit = self.module.unit(self.module.ty(id).unit());
            (unit.language, unit.language_version)
        };
        if language(one) != language(other) {
            return false;
        }
        let found = self.types.range((one, 0)..=(one, u64::MAX)).next();
        let Some(entry) = found.and_then(|&(_, offset)| self.dwarf.entry_at(offset)) else { return false };
        // Where it is declared is in the table of its unit.
        self.program = self.dwarf.lines(entry.unit()).ok().flatten();
        self.same_type(Some(other), Some(entry)).is_ok()
    }
}
