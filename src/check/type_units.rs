//! Types in type units: DWARF 5 section 3.1.4.
//!
//! A signature reference's target is compared as if it were at the reference. Every entry in a type unit belongs to
//! such a type. A type that can have a type unit must have it, so that a linker keeps a single copy.

use std::collections::{BTreeMap, BTreeSet};

use gimli::constants as dw;

use super::comparison::{Compare, compare_unit_header, is_type_unit};
use super::describe::Describe;
use super::report::FindingKind;
use super::signature::Signature;
use super::structure::check_offset_forms;
use super::tree::is_type;
use super::types::same_type;
use crate::error::At;
use crate::model::{BaseOffset, Count, Discriminant, Imported, ScopeKind, StringId, Type, TypeId, TypeKind};
use crate::read::{Entry, Unit};

/// Tag, enclosing namespaces, name.
type Called = (u16, Vec<StringId>, StringId);

/// The file's type units.
fn units_of_types<'a, 'o>(compare: &Compare<'a, 'o>) -> impl Iterator<Item = &'a Unit<'o>> + use<'a, 'o> {
    compare.file.dwarf.units().iter().filter(|unit| is_type_unit(unit))
}

/// Reads type units' entries and line programs.
pub(super) fn read_type_units(compare: &mut Compare<'_, '_>) {
    for unit in units_of_types(compare) {
        if let Some(entry) = unit.type_offset.and_then(|offset| compare.file.dwarf.entry_at(offset)) {
            let key = (entry.tag().0, entry.name().unwrap_or_default());
            compare.type_units.entry(key).or_default().push(entry);
        }
        if compare.file.program(unit).is_none()
            && let Err(error) = compare.file.dwarf.lines(unit)
        {
            compare.report.unreadable(compare.described.object, &error, At::default());
        }
    }
}

/// Reports entries that type units must not have.
pub(super) fn compare_type_units(compare: &mut Compare<'_, '_>) {
    if units_of_types(compare).next().is_none() {
        return;
    }
    let mut described = BTreeMap::<u64, Vec<TypeId>>::new();
    for &(id, offset) in &compare.known.types {
        described.entry(offset).or_default().push(id);
    }
    for unit in units_of_types(compare) {
        let Some(root) = compare.file.dwarf.root(unit) else { continue };
        let site = At::default();
        compare.report.entries += 1;
        if !root.descendants().any(|entry| compare.known.type_entries.contains(&entry.offset())) {
            let ty = unit.type_offset.and_then(|offset| compare.file.dwarf.entry_at(offset));
            compare.report.find(
                FindingKind::Extra,
                site,
                "no other type unit",
                format!("a type unit for {}", ty.describe()),
            );
            continue;
        }
        if !compare.described.consumer.has_type_units {
            compare.report.find(FindingKind::Extra, site.clone(), "no type units", root.describe());
        }
        compare_unit_header(compare, unit, dw::DW_UT_type, &site);
        check_offset_forms(compare, root, || site.clone());
        compare_signature(compare, unit, &described);
        for entry in root.descendants() {
            let is_outermost = |entry: Entry<'_, '_>| {
                let tag = entry.parent().map(Entry::tag);
                matches!(tag, Some(dw::DW_TAG_namespace | dw::DW_TAG_module | dw::DW_TAG_type_unit))
            };
            let is_there = match entry.tag() {
                dw::DW_TAG_namespace | dw::DW_TAG_module => entry.children().next().is_some(),
                _ if is_type(entry) => compare.known.type_entries.contains(&entry.offset()),
                _ => !is_outermost(entry),
            };
            if !is_there {
                let name = entry.name().unwrap_or_default();
                let actual = format!("{} `{name}` in a type unit", entry.tag().describe());
                compare.report.find(FindingKind::Extra, site.clone(), "no more", actual);
            }
        }
    }
}

/// Compares a type unit's signature with its contents, and with its section group's key.
fn compare_signature(compare: &mut Compare<'_, '_>, unit: &Unit<'_>, described: &BTreeMap<u64, Vec<TypeId>>) {
    let dwarf = compare.file.dwarf;
    let ty = unit.type_offset.and_then(|offset| dwarf.entry_at(offset));
    let (Some(written), Some(ty)) = (unit.signature, ty) else { return };
    let module = compare.described.module;
    let site = described.get(&ty.offset()).map_or_else(At::default, |ids| module.at_type(ids[0]));
    let is_big_endian = module.target().is_big_endian();
    let computed = Signature::new(module, described).compute(ty, is_big_endian);
    if let Some(computed) = computed.filter(|computed| *computed != written) {
        let expected = format!("signature {computed:#018x}");
        let actual = format!("{written:#018x}");
        compare.report.find(FindingKind::Type, site.clone(), expected, actual);
    }
    // A linker keeps one group for each key. A linked file has no groups.
    let object = compare.described.object;
    if object.is_relocatable() {
        let (section, offset) = dwarf.place(unit.offset);
        let key = object.group_of(section, offset);
        // The group's name is the decimal signature, by convention of the writer.
        if key != Some(&*written.to_string()) {
            let expected = format!("section group `{written}`, by the signature");
            let actual = key.map_or_else(|| "no section group".into(), |key| format!("`{key}`"));
            compare.report.find(FindingKind::Type, site, expected, actual);
        }
    }
}

/// Reports types in a compile unit or in another type's unit that could have a type unit.
pub(super) fn report_types_outside(compare: &mut Compare<'_, '_>) {
    if !compare.described.consumer.has_type_units {
        return;
    }
    let module = compare.described.module;
    let mut stays: BTreeSet<TypeId> =
        module.types().map(|(id, _)| id).filter(|&id| !can_be_alone(compare, id)).collect();
    // A signature does not cover attributes without a field.
    stays.extend(module.lists.attributes.iter().filter_map(|attribute| attribute.owner.ty(module)));
    // Nothing outside a type unit can refer to parts of its type.
    stays.extend(module.imports().filter_map(|(_, import)| match import.what {
        Imported::Member(ty, _) | Imported::Enumerator(ty, _) => Some(ty),
        _ => None,
    }));
    stays.extend(declared_again(compare));
    add_users(compare, &mut stays);
    let is_own =
        |offset| compare.file.dwarf.unit_at(offset).is_some_and(|unit| unit.type_offset == Some(offset));
    let compared = compare
        .known
        .types
        .iter()
        .filter(|&&(id, offset)| qualified_name(compare, id).is_some() && !is_own(offset));
    let suspicious: BTreeMap<TypeId, u64> = compared.copied().filter(|(id, _)| !stays.contains(id)).collect();
    if suspicious.is_empty() {
        return;
    }
    // Comparing contents is expensive, so that it waits until a type looks suspicious.
    add_namesakes(compare, &mut stays);
    add_users(compare, &mut stays);
    for (id, offset) in suspicious.into_iter().filter(|(id, _)| !stays.contains(id)) {
        let unit = compare.file.dwarf.unit_at(offset).and_then(|unit| unit.name.as_deref());
        let actual = unit.map_or_else(|| "it in another's".into(), |unit| format!("it in unit `{unit}`"));
        let expected = format!("{} in a unit of its own", module.called(id));
        compare.report.find(FindingKind::Type, module.at_type(id), expected, actual);
    }
}

/// Returns the types beside a declaration with their scope and name that has parts: the unit can refer to the parts alone, so that
/// nothing would lead to a type unit.
fn declared_again(compare: &Compare<'_, '_>) -> impl Iterator<Item = TypeId> {
    let module = compare.described.module;
    let index = &compare.described.index;
    let has_parts = |scope| index.variables.has(scope) || index.scopes.has(scope) || index.has_types[scope];
    let is_declared = move |ty: &Type| ty.is_declaration() && ty.own_scope().is_some_and(has_parts);
    let declared = module.types().filter(|(_, ty)| is_declared(ty)).map(|(_, ty)| (ty.scope(), ty.name()));
    let declared: BTreeSet<_> = declared.collect();
    let is_complete = move |ty: &Type| !ty.is_declaration() && declared.contains(&(ty.scope(), ty.name()));
    module.types().filter(move |(_, ty)| is_complete(ty)).map(|(id, _)| id)
}

/// The qualified name, for a type that gets a type unit if possible: a named structure, class, union or enumeration.
fn qualified_name(compare: &Compare<'_, '_>, id: TypeId) -> Option<Called> {
    let ty = compare.described.module.ty(id);
    let is_one = matches!(ty.kind(), TypeKind::Composite(_) | TypeKind::Enum { .. });
    let name = ty.name().filter(|_| is_one && !ty.is_declaration())?;
    let mut around = Vec::new();
    let mut scope = compare.described.module.scope(ty.scope());
    while let (ScopeKind::Namespace { name, .. }, Some(parent)) = (&scope.kind, scope.parent) {
        around.extend(*name);
        scope = compare.described.module.scope(parent);
    }
    Some((ty.kind().tag().0, around, name))
}

/// Returns whether a type keeps its meaning in a type unit: neither its scopes nor its contents belong to a single
/// unit. Namespaces do not, because they can be reopened.
fn can_be_alone(compare: &Compare<'_, '_>, id: TypeId) -> bool {
    let module = compare.described.module;
    let ty = compare.described.module.ty(id);
    let mut scope = module.scope(ty.scope());
    while let (ScopeKind::Namespace { name: Some(_), .. }, Some(parent)) = (&scope.kind, scope.parent) {
        scope = module.scope(parent);
    }
    let is_outside = matches!(scope.kind, ScopeKind::Unit);
    is_outside
        && match ty.kind() {
            TypeKind::Array { dimensions, .. } => {
                dimensions.iter().all(|dimension| matches!(dimension.count, Count::Unknown | Count::Fixed(_)))
            }
            TypeKind::Composite(composite) => {
                let index = &compare.described.index;
                !index.variables.has(composite.scope)
                    && !index.scopes.has(composite.scope)
                    && !index.imports.has(composite.scope)
                    && !index.has_types[composite.scope]
                    && composite.bases.iter().all(|base| matches!(base.offset, BaseOffset::Bytes(_)))
                    && composite.variant_parts.iter().all(|&part| {
                        !matches!(module.variant_part(part).discriminant, Discriminant::Enclosing(..))
                    })
                    && ty.locs().into_iter().all(|loc| module.constant(loc).is_some())
            }
            _ => true,
        }
}

/// Adds the types that refer to a type that stays in its compile unit, transitively.
fn add_users(compare: &Compare<'_, '_>, stays: &mut BTreeSet<TypeId>) {
    let mut users = BTreeMap::<TypeId, Vec<TypeId>>::new();
    for (id, ty) in compare.described.module.types() {
        ty.referred(compare.described.module, |target| users.entry(target).or_default().push(id));
    }
    let mut next: Vec<TypeId> = stays.iter().copied().collect();
    while let Some(id) = next.pop() {
        next.extend(users.get(&id).into_iter().flatten().filter(|&&user| stays.insert(user)));
    }
}

/// Adds types with equal qualified names and different contents, which can have equal signatures.
fn add_namesakes(compare: &mut Compare<'_, '_>, stays: &mut BTreeSet<TypeId>) {
    let mut namesakes = BTreeMap::<Called, Vec<TypeId>>::new();
    for (id, _) in compare.described.module.types() {
        if let Some(called) = qualified_name(compare, id) {
            namesakes.entry(called).or_default().push(id);
        }
    }
    for ids in namesakes.into_values() {
        // Equality is transitive: comparing with the first is enough.
        let Some((first, others)) = ids.split_first() else { continue };
        if !others.iter().all(|&other| is_same_type(compare, *first, other)) {
            stays.extend(ids);
        }
    }
}

/// Returns whether a type's entry also matches another type.
fn is_same_type(compare: &mut Compare<'_, '_>, one: TypeId, other: TypeId) -> bool {
    let language = |id: TypeId| {
        let unit = compare.described.module.unit(compare.described.module.ty(id).unit());
        (unit.language, unit.language_version)
    };
    if language(one) != language(other) {
        return false;
    }
    let pair = compare.known.types.range((one, 0)..=(one, u64::MAX)).next();
    let Some(entry) = pair.and_then(|&(_, offset)| compare.file.dwarf.entry_at(offset)) else {
        return false;
    };
    same_type(compare, other, entry).is_ok()
}
