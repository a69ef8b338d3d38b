//! Type unit entries: DWARF 5 section 3.1.4.

use super::entry::EntryWriter;
use super::lanes::LaneProcedures;
use super::lowered::{LoweredUnit, TypeUnit};
use super::section::Part;
use super::unit_entry::language;
use super::units::Units;
use super::{scopes, types};
use crate::consumer::Policy;
use crate::error::Result;
use crate::model::{ScopeId, ScopeKind, TypeId, TypeKind, UnitId};

/// Writes a unit's type units. Adds their abbreviations to the unit's abbreviations, and what is omitted in them alone
/// to its omissions.
pub(super) fn write(units: &Units<'_>, lowered: &mut LoweredUnit) -> Result<()> {
    let unit = lowered.unit;
    let types = units.type_units.written_by(unit);
    if types.is_empty() {
        return Ok(());
    }
    let abbreviations = core::mem::take(&mut lowered.abbreviations);
    let mut out = EntryWriter::new(units, unit, abbreviations);
    // Types that need expressions have no type units. If one had, an omission here would contradict the signature.
    out.expressions.policy = Policy::Strict;
    out.info.named = None;
    let mut copies = Copies::new(units, unit);
    for &ty in types {
        copies.find(ty);
        let Some(signature) = units.type_units.signature(ty) else { continue };
        let info = type_unit(&mut out, ty, signature, &copies)?;
        lowered.type_units.push(TypeUnit { signature, info });
    }
    out.expressions.policy = units.policy;
    out.omit_unknown()?;
    let EntryWriter { info, expressions, .. } = out;
    lowered.abbreviations = info.abbreviations;
    for omission in expressions.omissions {
        // The compile unit usually has the same omission already.
        if !lowered.omissions.contains(&omission) {
            lowered.omissions.push(omission);
        }
    }
    Ok(())
}

/// A type unit's contents.
struct Copies<'u> {
    units: &'u Units<'u>,
    /// Types by scope, in the order of their entries.
    types: Vec<(ScopeId, Rank, TypeId)>,
    /// Namespaces by enclosing scope, in the order of their entries.
    namespaces: Vec<(ScopeId, u32, ScopeId)>,
    /// Search that last found each type in the compile unit.
    last_searches: Vec<u32>,
    searches: u32,
}

/// Position among a scope's types: base types are first, and the type of the type unit precedes its copies, which are in the
/// compile unit's order. It thus does not depend on where the type unit is among the units.
type Rank = (bool, bool, u32);

impl<'u> Copies<'u> {
    fn new(units: &'u Units<'u>, unit: UnitId) -> Self {
        let last_searches = vec![0; units.types.ids(unit).len()];
        Self { units, types: Vec::new(), namespaces: Vec::new(), last_searches, searches: 0 }
    }

    /// Finds the types and namespaces that a type's unit contains.
    fn find(&mut self, ty: TypeId) {
        let units = self.units;
        let module = units.module;
        self.searches += 1;
        self.types.clear();
        self.namespaces.clear();
        let mut next = vec![ty];
        while let Some(id) = next.pop() {
            let place = units.types.place(module.types[id].unit, id.as_u32());
            let search = &mut self.last_searches[place as usize];
            // Each search marks types with its number, so the marks need not be cleared before the next search.
            if core::mem::replace(search, self.searches) == self.searches {
                continue;
            }
            let data = &module.types[id];
            self.types.push((data.scope, (!data.kind.is_base(), id != ty, place), id));
            data.referred(module, |used| {
                if !units.type_units.has(used) {
                    next.push(used);
                }
            });
            let mut scope = data.scope;
            while let Some(parent) = module.scopes[scope].parent {
                let place = units.scopes.place(data.unit, scope.as_u32());
                self.namespaces.push((parent, place, scope));
                scope = parent;
            }
        }
        self.types.sort_unstable();
        self.namespaces.sort_unstable();
        self.namespaces.dedup();
    }
}

/// Writes a type's unit.
fn type_unit(out: &mut EntryWriter<'_>, ty: TypeId, signature: u64, copies: &Copies<'_>) -> Result<Part> {
    let module = out.module;
    let unit = &module.units[out.unit()];
    out.type_unit_of = Some(ty);
    out.info.begin_type_unit(signature, out.expressions.numbers.ty(ty));
    out.info.begin_entry(gimli::DW_TAG_type_unit, gimli::DW_CHILDREN_yes, None);
    language(out, unit);
    if copies.types.iter().any(|&(.., id)| module.types[id].lines(module).next().is_some()) {
        // `DW_AT_decl_file` refers to the line table's files.
        out.info.offset(gimli::DW_AT_stmt_list, ".debug_line", 0);
    }
    out.info.end_entry();
    copied(out, unit.scope, copies)?;
    out.info.end_unit()?;
    // In the next type unit, these entries have other offsets or are missing.
    for &(.., id) in &copies.types {
        out.info.offsets[out.expressions.numbers.ty(id).0 as usize] = 0;
        if let TypeKind::Composite(composite) = &module.types[id].kind {
            for &part in &composite.variant_parts {
                out.info.offsets[out.expressions.numbers.discriminant(part).0 as usize] = 0;
            }
        }
    }
    let info = &mut out.info;
    Ok(Part {
        bytes: core::mem::take(&mut info.bytes),
        relocations: core::mem::take(&mut info.relocations),
        elsewhere: core::mem::take(&mut info.elsewhere),
    })
}

/// Writes a type unit's contents from the unit's scope down, and the mark that ends the children. Enclosing namespaces
/// are in a list instead of on the call stack, so deep nesting cannot overflow the stack.
fn copied(out: &mut EntryWriter<'_>, unit: ScopeId, copies: &Copies<'_>) -> Result<()> {
    let first = |scope| copies.namespaces.partition_point(|&(parent, ..)| parent < scope);
    copied_types(out, unit, copies)?;
    let mut around = vec![(unit, first(unit))];
    while let Some((scope, next)) = around.last_mut() {
        let Some(&(.., inner)) = copies.namespaces.get(*next).filter(|(parent, ..)| parent == scope) else {
            out.info.end_children();
            around.pop();
            continue;
        };
        *next += 1;
        let ScopeKind::Namespace { name, kind } = out.module.scopes[inner].kind else { continue };
        out.info.begin_entry(kind.tag(), gimli::DW_CHILDREN_yes, None);
        out.name(name);
        if kind.is_inline() {
            out.info.flag(gimli::DW_AT_export_symbols);
        }
        out.info.end_entry();
        copied_types(out, inner, copies)?;
        around.push((inner, first(inner)));
    }
    Ok(())
}

/// Writes a scope's types that are in the type unit.
fn copied_types(out: &mut EntryWriter<'_>, scope: ScopeId, copies: &Copies<'_>) -> Result<()> {
    let lanes = LaneProcedures::default();
    let first = copies.types.partition_point(|&(parent, ..)| parent < scope);
    for &(.., id) in copies.types[first..].iter().take_while(|&&(parent, ..)| parent == scope) {
        if let Some(open) = types::write(out, id)? {
            scopes::write_children(out, &lanes, open)?;
        }
    }
    Ok(())
}
