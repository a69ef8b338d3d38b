//! Types with type units: DWARF 5 section 3.1.4, and `.debug_types` in DWARF 4.
//!
//! ```text
//! compile unit                            type unit 0x7a…, of one group with others of that signature
//!   variable, type 0x7a…                    namespace ns
//!   pointer type, type 0x7a…                  structure node
//!                                               member next, type ─┐
//!                                           pointer type  ◄────────┘  copied
//! ```
//!
//! Named structures, classes, unions and enumerations have type units, if they are declared in the unit or a
//! namespace, without declarations in their own scope. The types that they refer to are copied into the type unit,
//! except types with type units. A type that refers to one that cannot be copied stays in the compile unit.

use hashbrown::{DefaultHashBuilder, HashMap, HashSet};

use super::children::{Children, ScopeItems};
use super::signature::Signatures;
use crate::consumer::Consumer;
use crate::model::{
    BaseOffset, Count, Discriminant, Imported, Module, ScopeId, ScopeKind, StringId, Type, TypeId, TypeKind,
    UnitId,
};

/// Which types have type units, and which unit writes each.
#[derive(Default)]
pub(super) struct TypeUnits {
    /// Each type's signature, if it has a type unit; empty if no type has one.
    signatures: Vec<Option<u64>>,
    /// Types whose type units each unit writes: the first type with each signature.
    written: Vec<Vec<TypeId>>,
}

impl TypeUnits {
    pub(super) fn new(module: &Module, children: &Children, items: &ScopeItems, consumer: &Consumer) -> Self {
        // A type stays in its unit if it depends on the unit, or refers to a type that stays.
        let mut stays: Vec<bool> =
            module.types.values().map(|ty| !is_free(module, children, items, ty)).collect();
        // A signature does not cover attributes without a field.
        for ty in module.lists.attributes.iter().filter_map(|attribute| attribute.owner.ty(module)) {
            stays[ty.as_u32() as usize] = true;
        }
        // A reference to a type unit is one to its type, and not to a member.
        for import in module.imports.values() {
            if let Imported::Member(ty, _) | Imported::Enumerator(ty, _) = import.what {
                stays[ty.as_u32() as usize] = true;
            }
        }
        let declared = declared_again(module, children);
        for (id, ty) in &module.types {
            stays[id.as_u32() as usize] |= !ty.is_declaration && declared.contains(&(ty.scope, ty.name()));
        }
        let users = users(module);
        let unfit = module.types.keys().filter(|&id| stays[id.as_u32() as usize]).collect();
        spread(unfit, &users, &mut stays);

        let mut describe = Signatures::new(module, consumer);
        let mut signatures: Vec<Option<u64>> = vec![None; module.types.len()];
        for (id, ty) in &module.types {
            let index = id.as_u32() as usize;
            if !stays[index] && is_one_of_its_own(ty) {
                signatures[index] = Some(describe.signature(id));
            }
        }
        // A signature covers only the names of pointer targets, and no source positions. A linker keeps one unit for
        // each signature, so types with equal signatures and different contents stay in their units: nothing is lost.
        let mut first = HashMap::<u64, (TypeId, Option<[u8; 16]>), DefaultHashBuilder>::default();
        let mut differ = Vec::new();
        for id in module.types.keys() {
            let Some(signature) = signatures[id.as_u32() as usize] else { continue };
            // Contents are compared only if a second type has the signature, because describing them takes time.
            let (first, contents) = first.entry(signature).or_insert((id, None));
            if *first != id {
                let expected = *contents.get_or_insert_with(|| describe.contents(*first, &signatures));
                if expected != describe.contents(id, &signatures) {
                    differ.push(signature);
                }
            }
        }
        if !differ.is_empty() {
            differ.sort_unstable();
            let is_other =
                |signature: &Option<u64>| signature.is_some_and(|it| differ.binary_search(&it).is_ok());
            let others: Vec<TypeId> =
                module.types.keys().filter(|id| is_other(&signatures[id.as_u32() as usize])).collect();
            for id in &others {
                stays[id.as_u32() as usize] = true;
            }
            spread(others, &users, &mut stays);
            for (signature, _) in signatures.iter_mut().zip(&stays).filter(|(_, stays)| **stays) {
                *signature = None;
            }
        }
        let mut written = vec![Vec::new(); module.units.len()];
        for id in module.types_in_order() {
            let signature = signatures[id.as_u32() as usize];
            if signature.is_some_and(|signature| first[&signature].0 == id) {
                written[module.types[id].unit.as_u32() as usize].push(id);
            }
        }
        Self { signatures, written }
    }

    /// Type signature, if it has a type unit.
    #[inline]
    pub(super) fn signature(&self, id: TypeId) -> Option<u64> {
        self.signatures.get(id.as_u32() as usize).copied().flatten()
    }

    #[inline]
    pub(super) fn has(&self, id: TypeId) -> bool {
        self.signature(id).is_some()
    }

    pub(super) fn written_by(&self, unit: UnitId) -> &[TypeId] {
        self.written.get(unit.as_u32() as usize).map_or(&[], Vec::as_slice)
    }
}

/// Returns whether a type gets a type unit if possible: a named structure, class, union or enumeration with a
/// definition.
fn is_one_of_its_own(ty: &Type) -> bool {
    let is_one = matches!(ty.kind, TypeKind::Composite(_) | TypeKind::Enum { .. });
    is_one && ty.name().is_some() && !ty.is_declaration
}

/// Returns whether a type can be in a type unit: it is in a unit or in named namespaces, and refers to nothing that
/// belongs to one unit.
fn is_free(module: &Module, children: &Children, items: &ScopeItems, ty: &Type) -> bool {
    let mut scope = &module.scopes[ty.scope];
    loop {
        match (&scope.kind, scope.parent) {
            (ScopeKind::Unit, _) => break,
            (ScopeKind::Namespace { name: Some(_), .. }, Some(parent)) => scope = &module.scopes[parent],
            _ => return false,
        }
    }
    match &ty.kind {
        TypeKind::Array { dimensions, .. } => {
            dimensions.iter().all(|dimension| matches!(dimension.count, Count::Unknown | Count::Fixed(_)))
        }
        TypeKind::Composite(composite) => {
            children.is_empty(composite.scope)
                && items.range(composite.scope).is_empty()
                && composite.bases.iter().all(|base| matches!(base.offset, BaseOffset::Bytes(_)))
                && composite.variant_parts.iter().all(|&part| {
                    !matches!(module.variant_parts[part].discriminant, Discriminant::Enclosing(..))
                })
                && ty.locs().into_iter().all(|loc| module.constant(loc).is_some())
        }
        _ => true,
    }
}

/// Scopes and names of the types that are declared with functions. A unit has such a declaration for functions that it adds to a
/// type, such as instances of member templates, and can have no other entry that refers to the type: a type unit would be lost.
fn declared_again(module: &Module, children: &Children) -> HashSet<(ScopeId, Option<StringId>)> {
    let with_functions =
        |ty: &&Type| ty.is_declaration && ty.own_scope().is_some_and(|scope| !children.is_empty(scope));
    module.types.values().filter(with_functions).map(|ty| (ty.scope, ty.name())).collect()
}

/// Each type with each type that refers to it, sorted.
fn users(module: &Module) -> Vec<(TypeId, TypeId)> {
    let mut users = Vec::new();
    for (id, ty) in &module.types {
        ty.referred(module, |used| users.push((used, id)));
    }
    users.sort_unstable();
    users
}

/// Marks the types that refer to a type that stays, transitively.
fn spread(mut from: Vec<TypeId>, users: &[(TypeId, TypeId)], stays: &mut [bool]) {
    while let Some(id) = from.pop() {
        let first = users.partition_point(|&(used, _)| used < id);
        for &(_, user) in users[first..].iter().take_while(|&&(used, _)| used == id) {
            if !core::mem::replace(&mut stays[user.as_u32() as usize], true) {
                from.push(user);
            }
        }
    }
}
