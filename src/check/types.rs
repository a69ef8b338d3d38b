//! Types: their structure and their scopes.

use hashbrown::HashMap;

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
    // Many entities have one type.
    if compare.known.types.contains(&(ty, entry.offset())) {
        return;
    }
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

/// A type and the offset of an entry.
type Pair = (TypeId, u64);

/// Compares a type with an entry, with all types that it refers to.
///
/// # Errors
/// The first difference.
pub(super) fn same_type<'a, 'o>(
    compare: &mut Compare<'a, 'o>,
    ty: TypeId,
    entry: Entry<'a, 'o>,
) -> Result<MatchedType<'a, 'o>, Different> {
    let mut settled = settle(compare, ty, entry);
    if let Some(different) = compare.known.different_types.get(&(ty, entry.offset())) {
        return Err(different.clone());
    }
    // All pairs from here on are equal. Each becomes known once, where an entity's type matches.
    let mut matched = MatchedType::default();
    let mut pairs = Vec::from([(ty, entry)]);
    while let Some((id, entry)) = pairs.pop() {
        if !compare.known.types.insert((id, entry.offset())) {
            continue;
        }
        compare.known.type_entries.insert(entry.offset());
        let compared =
            settled.remove(&(id, entry.offset())).unwrap_or_else(|| compare_pair(compare, id, entry));
        if let TypeKind::Composite(composite) = &compare.described.module.ty(id).kind {
            matched.scopes.push((composite.scope, entry));
        }
        for reference in compared.references {
            match (reference.entity, reference.found) {
                (Entity::Type(id), Some(entry)) => pairs.push((id, entry)),
                _ => matched.references.push(reference),
            }
        }
        matched.numbers.extend(compared.numbers);
    }
    Ok(matched)
}

/// Decides whether a type is equal to an entry, for this pair and all pairs that it refers to. Each pair is decided
/// once, because many types refer to one type, and a type can be compared with many entries. Returns the pairs that were
/// not decided before.
fn settle<'a, 'o>(
    compare: &mut Compare<'a, 'o>,
    ty: TypeId,
    entry: Entry<'a, 'o>,
) -> HashMap<Pair, Compared<'a, 'o>> {
    // A work list, because types may be nested deeply.
    let mut pairs = Vec::from([(ty, entry)]);
    let mut settled = HashMap::new();
    // Pairs that refer to a pair, and the pairs with a difference.
    let mut users = HashMap::<Pair, Vec<Pair>>::new();
    let mut different: Vec<(Pair, Different)> = Vec::new();
    while let Some((id, entry)) = pairs.pop() {
        let pair = (id, entry.offset());
        if let Some(known) = compare.known.different_types.get(&pair) {
            different.push((pair, known.clone()));
            continue;
        }
        // A pair that is not decided yet is taken to be equal, so that cycles end.
        if !compare.known.equal_types.insert(pair) {
            continue;
        }
        crate::work::step();
        let compared = compare_pair(compare, id, entry);
        if let Some((_, difference)) = compared.differences.first() {
            different.push((pair, difference.clone()));
            continue;
        }
        for reference in &compared.references {
            match (reference.entity, reference.found) {
                (Entity::Type(id), Some(entry)) => {
                    users.entry((id, entry.offset())).or_default().push(pair);
                    pairs.push((id, entry));
                }
                (Entity::Type(_), None) => different.push((pair, ("a type".into(), "void".into()))),
                _ => {}
            }
        }
        settled.insert(pair, compared);
    }
    // A pair has the first difference among those that it refers to.
    for (pair, difference) in different {
        let mut reached = vec![pair];
        while let Some(pair) = reached.pop() {
            if compare.known.equal_types.remove(&pair) {
                compare.known.different_types.insert(pair, difference.clone());
            }
            // The users of a pair with an earlier difference have a difference, too.
            reached.extend(users.remove(&pair).into_iter().flatten());
        }
    }
    settled
}

/// Compares a type with an entry, without the types that it refers to.
fn compare_pair<'a, 'o>(compare: &Compare<'a, 'o>, id: TypeId, entry: Entry<'a, 'o>) -> Compared<'a, 'o> {
    let mut compared = Compared::default();
    compared.compare(
        compare.file.reader(compare.described, compare.described.unit_of(Entity::Type(id))),
        &compare.described.node(Entity::Type(id), None),
        entry,
    );
    compare_around(compare, id, entry, &mut compared);
    compared
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
    while let (&ScopeKind::Namespace { name, kind }, Some(outer)) = (&scope.kind, scope.parent) {
        compared.compare(
            compare.file.reader(compare.described, compare.described.unit_of(Entity::Type(id))),
            &compare.described.namespace(name, kind),
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
