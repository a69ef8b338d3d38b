//! Entries of a type unit: DWARF 5 section 3.1.4.

use super::dies::Dies;
use super::lowered::TypeUnit;
use super::section::Part;
use super::units::Units;
use crate::consumer::Policy;
use crate::emit::abbrev::Abbreviations;
use crate::error::Result;
use crate::model::{ScopeId, ScopeKind, TypeId, TypeKind, UnitId};

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
