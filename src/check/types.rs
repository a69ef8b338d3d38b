//! Types: their structure and their scopes.

use std::collections::BTreeSet;

use super::comparison::{Compare, is_type_unit};
use super::report::FindingKind;
use super::tree::{Compared, Different, Entity, Number, Reference};
use crate::model::{ScopeId, ScopeKind, TypeId, TypeKind};
use crate::read::Entry;

/// What a type that matches an entry leaves to compare: references, numbers and scopes.
#[derive(Default)]
pub(super) struct MatchedType<'a, 'o> {
    /// Composite types as scopes.
    scopes: Vec<(ScopeId, Entry<'a, 'o>)>,
    references: Vec<Reference<'a, 'o>>,
    numbers: Vec<(Number, Entry<'a, 'o>)>,
}

/// Compares an entity's type with an entry.
pub(super) fn compare_type<'a, 'o>(
    compare: &mut Compare<'a, 'o>,
    ty: TypeId,
    entry: Option<Entry<'a, 'o>>,
    owner: Entity,
) {
    let Some(entry) = entry else {
        return compare.report.find(FindingKind::Type, compare.described.site(owner), "a type", "void");
    };
    match same_type(compare, ty, entry) {
        Ok(matched) => defer(compare, matched, owner),
        Err((expected, found)) => {
            compare.report.find(FindingKind::Type, compare.described.site(owner), expected, found)
        }
    }
}

/// Adds comparisons that depend on other entries.
pub(super) fn defer<'a, 'o>(
    compare: &mut Compare<'a, 'o>,
    MatchedType { scopes, references, numbers }: MatchedType<'a, 'o>,
    owner: Entity,
) {
    compare.pending.types.extend(scopes);
    references.into_iter().for_each(|reference| compare.pending.refer(owner, reference));
    compare.pending.numbers.extend(numbers.into_iter().map(|(number, entry)| (owner, number, entry)));
}

/// Compares a type with an entry, with all types that it refers to.
///
/// # Errors
/// The first difference.
pub(super) fn same_type<'a, 'o>(
    compare: &mut Compare<'a, 'o>,
    ty: TypeId,
    entry: Entry<'a, 'o>,
) -> Result<MatchedType<'a, 'o>, Different> {
    // A pair is compared once: a difference was reported where the pair was seen first.
    if compare.known.types.contains(&(ty, entry.offset())) {
        return Ok(MatchedType::default());
    }
    // A work list, because types may be nested deeply. Types that match provisionally are in `seen`, so that cycles
    // end; they become known once all match.
    let mut seen = BTreeSet::new();
    let mut matched = MatchedType::default();
    let mut pairs = Vec::from([(ty, entry)]);
    while let Some((id, entry)) = pairs.pop() {
        let pair = (id, entry.offset());
        if compare.known.types.contains(&pair) || !seen.insert(pair) {
            continue;
        }
        let mut compared = Compared::default();
        compared.compare(
            compare.file.reader(compare.described, compare.described.unit_of(Entity::Type(id))),
            &compare.described.node(Entity::Type(id), None),
            entry,
        );
        compare_around(compare, id, entry, &mut compared);
        if let Some((_, different)) = compared.differences.into_iter().next() {
            // The first difference decides: `seen` is dropped, so that the pairs are not known.
            return Err(different);
        }
        if let TypeKind::Composite(composite) = &compare.described.module.ty(id).kind {
            matched.scopes.push((composite.scope, entry));
        }
        for reference in compared.references {
            match (reference.entity, reference.found) {
                (Entity::Type(id), Some(entry)) => pairs.push((id, entry)),
                (Entity::Type(_), None) => return Err(("a type".into(), "void".into())),
                _ => matched.references.push(reference),
            }
        }
        matched.numbers.extend(compared.numbers);
    }
    compare.known.type_entries.extend(seen.iter().map(|&(_, entry)| entry));
    compare.known.types.extend(seen);
    Ok(matched)
}

/// Compares the entry around a type.
fn compare_around<'a, 'o>(
    compare: &Compare<'a, 'o>,
    id: TypeId,
    entry: Entry<'a, 'o>,
    compared: &mut Compared<'a, 'o>,
) {
    let Some(mut around) = entry.parent() else { return };
    let ty = compare.described.module.ty(id);
    if !is_type_unit(entry.unit()) {
        let entity = compare.described.around(ty);
        return compared.references.push(Reference { attribute: None, entity, found: Some(around) });
    }
    // Namespaces can be reopened. Types in functions and types have no type units.
    let mut scope = compare.described.module.scope(ty.scope());
    while let (&ScopeKind::Namespace { name, is_inline }, Some(outer)) = (&scope.kind, scope.parent) {
        compared.compare(
            compare.file.reader(compare.described, compare.described.unit_of(Entity::Type(id))),
            &compare.described.namespace(name, is_inline),
            around,
        );
        let Some(next) = around.parent() else { return };
        (scope, around) = (compare.described.module.scope(outer), next);
    }
    compared.compare(
        compare.file.reader(compare.described, compare.described.unit_of(Entity::Type(id))),
        &compare.described.node(Entity::TypeUnit(ty.unit()), None),
        around,
    );
}
