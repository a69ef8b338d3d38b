//! Instances of functions: DWARF 5 section 3.3.8.3. An abstract instance and its only instance are one function, unless they
//! differ in more than the code; several instances are functions beside it.

use std::collections::VecDeque;

use gimli::constants as dw;
use hashbrown::{HashMap, HashSet};
use indexmap::IndexMap;

use super::importer::Importer;
use super::node::{Class, Key, class};
use crate::read::Entry;

/// Maximum number of instances of each other: damaged entries can be instances of themselves.
const MOST_INSTANCES: usize = 8;

/// Finds the instance of each abstract instance in the unit that is one function with it, with the blocks in it.
pub(super) fn find<'d, 'o: 'd>(
    importer: &mut Importer<'d, 'o>,
    entries: impl Iterator<Item = Entry<'d, 'o>>,
) {
    // The only instance of each abstract instance; `None` if there are several.
    let mut instances: IndexMap<Key, Option<Entry<'d, 'o>>> = IndexMap::new();
    let mut visited = HashSet::new();
    for entry in entries {
        // In a unit of link-time optimization, the code is an instance of an instance in the unit of the source; or a call
        // refers to that.
        let mut next = match entry.tag() {
            dw::DW_TAG_subprogram => Some(entry),
            dw::DW_TAG_inlined_subroutine | dw::DW_TAG_GNU_call_site => {
                entry.reference(dw::DW_AT_abstract_origin)
            }
            dw::DW_TAG_call_site => entry.reference(dw::DW_AT_call_origin),
            _ => None,
        };
        while let Some(instance) = next.filter(|instance| visited.insert(instance.offset())) {
            next = instance.reference(dw::DW_AT_abstract_origin);
            // A function of an earlier unit keeps its instances apart, in their units.
            if let Some(origin) = next.filter(|&origin| importer.known_function(origin).is_none()) {
                let is_first = !instances.contains_key(&origin.offset());
                instances.insert(origin.offset(), is_first.then_some(instance));
            }
        }
    }
    let mut found = Vec::new();
    for (origin, instance) in instances {
        if let Some(instance) = instance.filter(|&instance| is_one_function(instance)) {
            importer.made.instances.insert(origin, instance);
            found.push(instance);
        }
    }
    for &function in &found {
        repeated_calls(importer, function);
        unnamed_blocks(importer, function);
    }
    for function in found {
        for entry in inside(function).filter(|entry| entry.tag() == dw::DW_TAG_lexical_block) {
            if let Some(origin) = entry.reference(dw::DW_AT_abstract_origin) {
                importer.made.instances.entry(origin.offset()).or_insert(entry);
            }
        }
    }
}

/// Returns the instance with the code of a function or block: its only instance, or the only instance of that.
pub(super) fn last<'d, 'o>(importer: &Importer<'d, 'o>, entry: Entry<'d, 'o>) -> Option<Entry<'d, 'o>> {
    chain(importer, entry).last()
}

/// Returns the entries that are one function or block with an entry, the instance with the code last.
pub(super) fn chain<'d, 'o>(
    importer: &Importer<'d, 'o>,
    entry: Entry<'d, 'o>,
) -> impl Iterator<Item = Entry<'d, 'o>> {
    let next = |entry: &Entry<'d, 'o>| importer.made.instances.get(&entry.offset()).copied();
    core::iter::successors(next(&entry), next).take(MOST_INSTANCES)
}

/// Whether an instance is one function with its abstract instance: it has the same parameters in the same order, and no
/// variable twice. gcc has some parameters of a destructor in one instance only, and a block with each part of its code.
fn is_one_function(instance: Entry<'_, '_>) -> bool {
    let Some(origin) = instance.reference(dw::DW_AT_abstract_origin) else { return false };
    // g++ has instances without code of a constructor that it only declares.
    if origin.has(dw::DW_AT_declaration) {
        return false;
    }
    let expected = parameters(origin).into_iter().map(|parameter| Some(parameter.offset()));
    let known = parameters(instance)
        .into_iter()
        .map(|parameter| Some(parameter.reference(dw::DW_AT_abstract_origin)?.offset()));
    let mut variables = HashSet::new();
    let mut is_new = |entry: Entry<'_, '_>| {
        crate::work::step();
        let origin = entry.reference(dw::DW_AT_abstract_origin);
        origin.is_none_or(|origin| variables.insert(origin.offset()))
    };
    expected.eq(known) && inside(instance).filter(|entry| class(*entry) == Class::Variable).all(&mut is_new)
}

/// Returns a function's parameters, and those in parameter packs, which are parameters of the function.
fn parameters<'d, 'o: 'd>(function: Entry<'d, 'o>) -> Vec<Entry<'d, 'o>> {
    let is_parameter = |entry: &Entry<'d, 'o>| entry.tag() == dw::DW_TAG_formal_parameter;
    let mut parameters = Vec::new();
    for child in function.children() {
        if child.tag() == dw::DW_TAG_GNU_formal_parameter_pack {
            parameters.extend(child.children().filter(is_parameter));
        }
        parameters.extend(Some(child).filter(is_parameter));
    }
    parameters
}

/// Finds the blocks in an instance that are blocks of its abstract instance and do not refer to them: a writer can refer
/// from variables only. They have the same order, or the block in which a variable's origin is.
fn unnamed_blocks<'d, 'o>(importer: &mut Importer<'d, 'o>, instance: Entry<'d, 'o>) {
    let Some(origin) = instance.reference(dw::DW_AT_abstract_origin) else { return };
    if !importer.is_own(origin) {
        return;
    }
    let mut pairs = Vec::from([(origin, instance)]);
    let mut visited = HashSet::new();
    while let Some((origin, instance)) = pairs.pop() {
        let new = blocks(instance);
        let named =
            new.iter().filter_map(|block| Some((block.reference(dw::DW_AT_abstract_origin)?, *block)));
        let named: Vec<_> = named.collect();
        // Where some blocks are named, the blocks without a name are none of the abstract instance.
        if !named.is_empty() {
            pairs.extend(named.into_iter().filter(|(origin, _)| importer.is_own(*origin)));
            continue;
        }
        // The first instance of a block is one block with it.
        if !visited.insert(origin.offset()) {
            continue;
        }
        let known = blocks(origin);
        let is_of = |block: Entry<'d, 'o>, known: Entry<'d, 'o>| {
            origins(block).all(|variable| variable.parent() == Some(known))
        };
        let in_order = known.iter().copied().zip(new.iter().copied());
        let matched: Vec<_> = if known.len() == new.len()
            && in_order.clone().all(|(known, new)| is_of(new, known))
        {
            in_order.collect()
        } else {
            let around = new.iter().filter_map(|&block| Some((origins(block).next()?.parent()?, block)));
            around.filter(|&(known, block)| known.parent() == Some(origin) && is_of(block, known)).collect()
        };
        for (known, block) in matched {
            if known.tag() != dw::DW_TAG_lexical_block
                || importer.made.instances.contains_key(&known.offset())
            {
                continue;
            }
            importer.made.instances.insert(known.offset(), block);
            importer.made.unnamed.insert(block.offset(), known);
            pairs.push((known, block));
        }
    }
}

/// Returns the blocks in a scope.
fn blocks<'d, 'o>(scope: Entry<'d, 'o>) -> Vec<Entry<'d, 'o>> {
    let children = scope.children().inspect(|_| crate::work::step());
    children.filter(|child| child.tag() == dw::DW_TAG_lexical_block).collect()
}

/// Returns the variables of which a scope's variables are instances.
fn origins<'d, 'o: 'd>(scope: Entry<'d, 'o>) -> impl Iterator<Item = Entry<'d, 'o>> {
    let variables = scope
        .children()
        .filter(|child| matches!(child.tag(), dw::DW_TAG_variable | dw::DW_TAG_formal_parameter));
    variables.filter_map(|variable| variable.reference(dw::DW_AT_abstract_origin))
}

/// Finds the calls in an abstract instance that its instance has, too: the same function at the same position. A writer
/// can describe the calls in both.
fn repeated_calls<'d, 'o>(importer: &mut Importer<'d, 'o>, instance: Entry<'d, 'o>) {
    let Some(origin) = instance.reference(dw::DW_AT_abstract_origin) else { return };
    let is_call = |entry: &Entry<'d, 'o>| entry.tag() == dw::DW_TAG_inlined_subroutine;
    if !importer.is_own(origin) || !origin.descendants().any(|entry| is_call(&entry)) {
        return;
    }
    let mut calls: HashMap<Call, VecDeque<Entry<'d, 'o>>> = HashMap::new();
    for entry in outermost(instance) {
        calls.entry(call(entry)).or_default().push_back(entry);
    }
    for entry in outermost(origin) {
        if let Some(same) = calls.get_mut(&call(entry)).and_then(VecDeque::pop_front) {
            importer.made.repeated.insert(entry.offset(), same);
        }
    }
}

/// Marks a call in an abstract instance as imported, with all in it that the same call in the instance with the code says,
/// too, or the called function. Other attributes are left, and are listed.
pub(super) fn repeat_call<'d, 'o>(
    importer: &mut Importer<'d, 'o>,
    entry: Entry<'d, 'o>,
    same: Entry<'d, 'o>,
) {
    let origin = |entry: Entry<'d, 'o>| entry.reference(dw::DW_AT_abstract_origin);
    let named = same.descendants().filter_map(|part| Some((origin(part)?.offset(), part)));
    let parts: HashMap<Key, Entry<'d, 'o>> = named.collect();
    importer.repeat_part(entry, Some(same));
    for part in entry.descendants() {
        let of = origin(part);
        let same = of.and_then(|of| parts.get(&of.offset()).copied()).or(of);
        match same {
            Some(same) => importer.repeat_part(part, Some(same)),
            None => importer.import(part),
        }
        importer.mark(part, dw::DW_AT_abstract_origin);
    }
}

/// A called function, by its entry, and the position of the call.
type Call = (Option<u64>, [Option<u64>; 4]);

fn call(entry: Entry<'_, '_>) -> Call {
    let position =
        [dw::DW_AT_call_file, dw::DW_AT_call_line, dw::DW_AT_call_column, dw::DW_AT_GNU_discriminator];
    let origin = entry.reference(dw::DW_AT_abstract_origin).map(|origin| origin.offset());
    (origin, position.map(|name| entry.number(name)))
}

/// Returns the inlined calls in a function that are not in another inlined call or function.
fn outermost<'d, 'o: 'd>(function: Entry<'d, 'o>) -> impl Iterator<Item = Entry<'d, 'o>> {
    inside(function).filter(|entry| entry.tag() == dw::DW_TAG_inlined_subroutine)
}

/// Returns the entries in a function that are not in an inlined call or in another function.
fn inside<'d, 'o: 'd>(function: Entry<'d, 'o>) -> impl Iterator<Item = Entry<'d, 'o>> {
    // Index after the last entry of a call or function.
    let mut inner = 0;
    function.descendants().filter(move |&entry| {
        if entry.index() < inner {
            return false;
        }
        if matches!(entry.tag(), dw::DW_TAG_inlined_subroutine | dw::DW_TAG_subprogram) {
            inner = end(entry);
        }
        true
    })
}

/// Index after an entry's last descendant.
fn end(entry: Entry<'_, '_>) -> usize {
    entry.index() + 1 + entry.descendants().len()
}
