//! Instances of functions: an abstract instance, and the instance that is one function with it.

use gimli::constants as dw;
use hashbrown::HashMap;

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
                    let named = entry.reference(dw::DW_AT_abstract_origin);
                    let unnamed = || {
                        let block = block_of_variables(entry)?;
                        importer.made.blocks.insert(entry.offset(), block);
                        Some(block)
                    };
                    if let Some(origin) = named.or_else(unnamed) {
                        importer.made.instances.entry(origin.offset()).or_insert(entry);
                    }
                }
                _ => {}
            }
        }
    }
}

/// Returns the block of an abstract instance whose variables a block has, for a block that does not refer to it.
fn block_of_variables<'d, 'o>(block: Entry<'d, 'o>) -> Option<Entry<'d, 'o>> {
    let variable = block.children().find(|child| child.tag() == dw::DW_TAG_variable)?;
    let around = variable.reference(dw::DW_AT_abstract_origin)?.parent()?;
    (around.tag() == dw::DW_TAG_lexical_block && around != block).then_some(around)
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
