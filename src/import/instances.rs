//! Instances of functions: an abstract instance, and the instance that is one function with it.

use gimli::constants as dw;
use hashbrown::{HashMap, HashSet};

use super::importer::Importer;
use super::node::PCS;
use crate::read::Entry;

/// Finds the instance of each abstract instance in the unit that is one function with it, with the blocks in it: the
/// first with code, or else the first.
pub(super) fn find<'d, 'o: 'd>(
    importer: &mut Importer<'d, 'o>,
    entries: impl Iterator<Item = Entry<'d, 'o>> + Clone,
) {
    let mut found = Vec::new();
    for needs_code in [true, false] {
        let functions = entries.clone().filter(|entry| entry.tag() == dw::DW_TAG_subprogram);
        for entry in functions.filter(|entry| entry.has(dw::DW_AT_abstract_origin)) {
            let has_code = PCS.iter().any(|&name| entry.has(name));
            let Some(origin) = entry.reference(dw::DW_AT_abstract_origin) else { continue };
            if has_code == needs_code && !importer.made.instances.contains_key(&origin.offset()) {
                importer.made.instances.insert(origin.offset(), entry);
                found.push(entry);
            }
        }
    }
    for &function in &found {
        repeated_calls(importer, function);
        unnamed_blocks(importer, function);
    }
    for function in found {
        // Index after the last entry of an inlined call.
        let mut inlined = 0;
        for entry in function.descendants() {
            if entry.index() < inlined {
                continue;
            }
            match entry.tag() {
                dw::DW_TAG_inlined_subroutine | dw::DW_TAG_subprogram => inlined = end(entry),
                dw::DW_TAG_lexical_block => {
                    if let Some(origin) = entry.reference(dw::DW_AT_abstract_origin) {
                        importer.made.instances.entry(origin.offset()).or_insert(entry);
                    }
                }
                _ => {}
            }
        }
    }
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
    let mut calls: HashMap<Call, usize> = HashMap::new();
    for entry in outermost(instance) {
        *calls.entry(call(entry)).or_default() += 1;
    }
    for entry in outermost(origin) {
        if let Some(count @ 1..) = calls.get_mut(&call(entry)) {
            *count -= 1;
            importer.made.repeated.insert(entry.offset());
        }
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
    let mut inner = 0;
    function.descendants().filter(move |&entry| {
        if entry.index() < inner {
            return false;
        }
        if matches!(entry.tag(), dw::DW_TAG_inlined_subroutine | dw::DW_TAG_subprogram) {
            inner = end(entry);
        }
        entry.tag() == dw::DW_TAG_inlined_subroutine
    })
}

/// Index after an entry's last descendant.
fn end(entry: Entry<'_, '_>) -> usize {
    entry.index() + 1 + entry.descendants().len()
}
