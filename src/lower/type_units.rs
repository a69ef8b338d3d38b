//! Type units: DWARF 5 section 3.1.4, and `.debug_types` of DWARF 4.
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

use hashbrown::{DefaultHashBuilder, HashMap};

use super::dies::Dies;
use super::entries::Children;
use super::scope_items::ScopeItems;
use super::signature::Signatures;
use super::units::{Part, Units};
use crate::consumer::{Consumer, Policy};
use crate::emit::abbrev::Abbreviations;
use crate::error::Result;
use crate::model::{BaseOffset, Count, Module, ScopeId, ScopeKind, Type, TypeId, TypeKind, UnitId};

/// Assignment of types to type units.
#[derive(Default)]
pub(super) struct TypeUnits {
    /// Signature of each type, if it has a type unit; empty if there are none.
    signatures: Vec<Option<u64>>,
    /// Types of the type units that each unit writes: the first type of each signature.
    written: Vec<Vec<TypeId>>,
}

/// Encoded type unit.
#[derive(Debug)]
pub(super) struct TypeUnit {
    pub(super) signature: u64,
    pub(super) info: Part,
}

impl TypeUnits {
    pub(super) fn new(module: &Module, children: &Children, items: &ScopeItems, consumer: &Consumer) -> Self {
        let mut stays: Vec<bool> =
            module.types.values().map(|ty| !is_free(module, children, items, ty)).collect();
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
        // A signature covers the names of the targets of pointers only, and no source positions. Types with equal
        // signatures and different contents stay in their units, so that nothing is lost.
        let mut first = HashMap::<u64, (TypeId, Option<[u8; 16]>), DefaultHashBuilder>::default();
        let mut differ = Vec::new();
        for id in module.types.keys() {
            let Some(signature) = signatures[id.as_u32() as usize] else { continue };
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
        for (id, ty) in &module.types {
            let signature = signatures[id.as_u32() as usize];
            if signature.is_some_and(|signature| first[&signature].0 == id) {
                written[ty.unit.as_u32() as usize].push(id);
            }
        }
        Self { signatures, written }
    }

    /// Signature of a type, if it has a type unit.
    #[inline]
    pub(super) fn signature(&self, id: TypeId) -> Option<u64> {
        self.signatures.get(id.as_u32() as usize).copied().flatten()
    }

    #[inline]
    pub(super) fn has(&self, id: TypeId) -> bool {
        self.signature(id).is_some()
    }

    fn written_by(&self, unit: UnitId) -> &[TypeId] {
        self.written.get(unit.as_u32() as usize).map_or(&[], Vec::as_slice)
    }
}

/// Returns whether a type gets a type unit if possible: a named definition of a structure, class, union or
/// enumeration.
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
            dimensions.iter().all(|one| matches!(one.count, Count::Unknown | Count::Fixed(_)))
        }
        TypeKind::Composite(composite) => {
            children.is_empty(composite.scope)
                && items.range(composite.scope).is_empty()
                && composite.bases.iter().all(|base| matches!(base.offset, BaseOffset::Bytes(_)))
                && ty.locs().into_iter().all(|loc| module.constant(loc).is_some())
        }
        _ => true,
    }
}

/// Pairs of a type and a type that refers to it, sorted.
fn users(module: &Module) -> Vec<(TypeId, TypeId)> {
    let mut users = Vec::new();
    for (id, ty) in &module.types {
        ty.referred(module, |of| users.push((of, id)));
    }
    users.sort_unstable();
    users
}

/// Marks the users of types that stay, transitively.
fn spread(mut from: Vec<TypeId>, users: &[(TypeId, TypeId)], stays: &mut [bool]) {
    while let Some(id) = from.pop() {
        let first = users.partition_point(|&(of, _)| of < id);
        for &(_, user) in users[first..].iter().take_while(|&&(of, _)| of == id) {
            if !core::mem::replace(&mut stays[user.as_u32() as usize], true) {
                from.push(user);
            }
        }
    }
}

/// Writes the type units that belong to a unit. Returns them, and the unit's abbreviations with theirs added.
pub(super) fn write(
    units: &Units<'_>,
    unit: UnitId,
    abbreviations: Abbreviations,
) -> Result<(Vec<TypeUnit>, Abbreviations)> {
    let types = units.type_units.written_by(unit);
    if types.is_empty() {
        return Ok((Vec::new(), abbreviations));
    }
    let mut dies = Dies::new(units, unit, abbreviations);
    dies.expressions.policy = Policy::Strict;
    dies.info.named = None;
    let mut written = Vec::with_capacity(types.len());
    let mut copies = Copies::new(units, unit);
    for &ty in types {
        copies.find(ty);
        let Some(signature) = units.type_units.signature(ty) else { continue };
        written.push(TypeUnit { signature, info: dies.type_unit(ty, signature, &copies)? });
    }
    Ok((written, dies.info.abbreviations))
}

/// Contents of a type unit.
struct Copies<'u> {
    units: &'u Units<'u>,
    /// Types, by scope.
    types: Vec<(ScopeId, TypeId)>,
    /// Namespaces, by enclosing scope.
    namespaces: Vec<(ScopeId, ScopeId)>,
    /// Search that found each type of the compile unit last.
    found: Vec<u32>,
    searches: u32,
}

impl<'u> Copies<'u> {
    fn new(units: &'u Units<'u>, unit: UnitId) -> Self {
        let found = vec![0; units.types.of(unit).len()];
        Self { units, types: Vec::new(), namespaces: Vec::new(), found, searches: 0 }
    }

    /// Finds the contents of a type's unit.
    fn find(&mut self, ty: TypeId) {
        let units = self.units;
        let module = units.module;
        self.searches += 1;
        self.types.clear();
        self.namespaces.clear();
        let mut next = vec![ty];
        while let Some(id) = next.pop() {
            let found = &mut self.found[units.types.place(module.types[id].unit, id.as_u32()) as usize];
            if core::mem::replace(found, self.searches) == self.searches {
                continue;
            }
            let data = &module.types[id];
            self.types.push((data.scope, id));
            data.referred(module, |of| {
                if !units.type_units.has(of) {
                    next.push(of);
                }
            });
            let mut scope = data.scope;
            while let Some(parent) = module.scopes[scope].parent {
                self.namespaces.push((parent, scope));
                scope = parent;
            }
        }
        self.types.sort_unstable();
        self.namespaces.sort_unstable();
        self.namespaces.dedup();
    }
}

impl Dies<'_> {
    /// Writes the type unit of a type.
    fn type_unit(&mut self, ty: TypeId, signature: u64, copies: &Copies<'_>) -> Result<Part> {
        let module = self.module;
        let unit = &module.units[self.expressions.entries.unit];
        self.type_unit_of = Some(ty);
        self.info.begin_type_unit(signature, self.expressions.entries.ty(ty));
        self.info.begin_entry(gimli::DW_TAG_type_unit, true, None);
        self.language(unit);
        if copies.types.iter().any(|&(_, id)| module.types[id].lines(module).next().is_some()) {
            self.info.offset(gimli::DW_AT_stmt_list, ".debug_line", 0);
        }
        self.info.end_entry();
        self.copied(unit.scope, copies)?;
        self.info.end_unit()?;
        // In the next type unit, these have other offsets or are missing.
        for &(_, id) in &copies.types {
            self.info.offsets[self.expressions.entries.ty(id).0 as usize] = 0;
            if let TypeKind::Composite(composite) = &module.types[id].kind {
                for &part in &composite.variant_parts {
                    self.info.offsets[self.expressions.entries.discriminant(part).0 as usize] = 0;
                }
            }
        }
        let info = &mut self.info;
        Ok(Part {
            bytes: core::mem::take(&mut info.bytes),
            relocations: core::mem::take(&mut info.relocations),
            elsewhere: core::mem::take(&mut info.elsewhere),
        })
    }

    /// Writes the contents of a type unit from the unit's scope down, and the end of the children. The enclosing
    /// namespaces are in a list, so that the depth of namespaces does not affect the depth of recursion.
    fn copied(&mut self, unit: ScopeId, copies: &Copies<'_>) -> Result<()> {
        let first = |scope| copies.namespaces.partition_point(|&(of, _)| of < scope);
        self.copied_types(unit, copies)?;
        let mut around = vec![(unit, first(unit))];
        while let Some((scope, next)) = around.last_mut() {
            let Some(&(_, inner)) = copies.namespaces.get(*next).filter(|(of, _)| of == scope) else {
                self.info.end_children();
                around.pop();
                continue;
            };
            *next += 1;
            let ScopeKind::Namespace { name, is_inline } = self.module.scopes[inner].kind else { continue };
            self.info.begin_entry(gimli::DW_TAG_namespace, true, None);
            self.name(name);
            if is_inline {
                self.info.flag(gimli::DW_AT_export_symbols);
            }
            self.info.end_entry();
            self.copied_types(inner, copies)?;
            around.push((inner, first(inner)));
        }
        Ok(())
    }

    /// Writes the types of a scope that are in the type unit.
    fn copied_types(&mut self, scope: ScopeId, copies: &Copies<'_>) -> Result<()> {
        let first = copies.types.partition_point(|&(of, _)| of < scope);
        for &(_, id) in copies.types[first..].iter().take_while(|&&(of, _)| of == scope) {
            if let Some(open) = self.ty(id)? {
                self.children(open, false)?;
            }
        }
        Ok(())
    }
}
