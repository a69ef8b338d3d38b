//! Entries for blocks, inlined calls and namespaces, and all entries below a scope: DWARF 5 sections 3.2.2, 3.3.8 and
//! 3.5.

use core::ops::Range;

use smallvec::SmallVec;

use super::children::ScopeItem;
use super::entry::{Completed, EntryWriter};
use super::lanes::{self, LaneProcedures};
use super::lists::{Code, address_key};
use super::open::{Child, Instance, Open, has_children, has_scope_entry, has_type_entry};
use super::{calls, functions, imports_and_labels, types, variables};
use crate::emit::info::children;
use crate::error::Result;
use crate::model::{Module, ScopeId, ScopeKind, SourceLine};

/// Writes a scope's children with all entries below them, and the mark that ends the children.
///
/// Enclosing scopes are in a list instead of on the call stack, so deep nesting cannot overflow the stack.
pub(super) fn write_children(out: &mut EntryWriter<'_>, lanes: &LaneProcedures, open: Open) -> Result<()> {
    let mut around = SmallVec::<[Open; 4]>::new();
    around.push(open);
    while let Some(open) = around.last_mut() {
        let child = open.next(out.units);
        let scope = open.scope;
        let instance = open.instance.as_ref();
        let inner = match child {
            Child::Type(ty) if has_type_entry(out.units, ty) => types::write(out, ty)?,
            Child::Type(_) => None,
            Child::Variables => {
                variables::write(out, scope, instance)?;
                None
            }
            Child::Scope(inner) => write(out, lanes, inner, instance)?,
            Child::CodeApart(function) => functions::code(out, lanes, function)?,
            Child::Items => {
                items(out, scope, instance)?;
                out.info.end_children();
                let is_abstract = instance.is_none();
                around.pop();
                match out.module.scopes[scope].kind {
                    // An inlined function's code follows its abstract instance.
                    ScopeKind::Function(id) if is_abstract => functions::code_after_abstract(out, lanes, id)?,
                    _ => None,
                }
            }
        };
        if let Some(inner) = inner {
            around.push(inner);
        }
    }
    Ok(())
}

/// Writes the types that are declared in the unit's scope, with all entries below them.
pub(super) fn write_types(out: &mut EntryWriter<'_>, unit: ScopeId) -> Result<()> {
    // The lane procedures follow the types.
    let lanes = LaneProcedures::default();
    let mut next = out.units.children.first_type(unit);
    while let Some(ty) = next {
        if has_type_entry(out.units, ty)
            && let Some(open) = types::write(out, ty)?
        {
            write_children(out, &lanes, open)?;
        }
        next = out.units.children.next_type(ty);
    }
    Ok(())
}

/// Writes a scope's entry. The caller writes the children.
fn write(
    out: &mut EntryWriter<'_>,
    lanes: &LaneProcedures,
    id: ScopeId,
    instance: Option<&Instance>,
) -> Result<Option<Open>> {
    let module = out.module;
    if !has_scope_entry(out.units, id, instance) {
        return Ok(None);
    }
    let has_children = has_children(out.units, id, instance);
    match &module.scopes[id].kind {
        ScopeKind::Unit | ScopeKind::Type(_) => return Ok(None),
        ScopeKind::Namespace { name, kind } => {
            let is = Some(out.expressions.numbers.scope(id));
            out.info.begin_entry(kind.tag(), children(has_children), is);
            out.name(*name);
            out.declared(module.scopes[id].line);
            if kind.is_inline() {
                out.info.flag(gimli::DW_AT_export_symbols);
            }
            out.attributes(id)?;
            out.info.end_entry();
        }
        ScopeKind::Function(function) => return functions::write(out, lanes, *function),
        ScopeKind::Block => {
            // Other instances refer to the abstract instance's block.
            let is = instance.is_none().then(|| out.expressions.numbers.scope(id));
            out.info.begin_entry(gimli::DW_TAG_lexical_block, children(has_children), is);
            let has_abstract =
                instance.is_some_and(|instance| instance.has_abstract) && !module.is_in_inlined_call(id);
            if has_abstract {
                // gdb shows the variables of an abstract block again if no block of the code refers to it.
                out.info.reference(gimli::DW_AT_abstract_origin, out.expressions.numbers.scope(id));
            } else if let Some(origin) = module.scopes[id].origin {
                let unit = module.scopes[origin].unit;
                out.refer(gimli::DW_AT_abstract_origin, unit, |numbers| numbers.scope(origin));
            }
            // A concrete block inherits the line that its abstract block states.
            let line = module.scopes[id].line;
            let inherited = if has_abstract { line } else { inherited_line(module, id) };
            if line != inherited {
                out.declared_over(line, inherited);
            }
            discriminator(out, id);
            code(out, id, instance);
            out.attributes(id)?;
            out.info.end_entry();
        }
        ScopeKind::Inlined { function, call } => {
            // An abstract instance has no pcs, and so no lane pcs.
            let lanes = match instance {
                Some(instance) => lanes::attributes(out, lanes, id, instance)?,
                None => None,
            };
            out.info.begin_entry(gimli::DW_TAG_inlined_subroutine, children(has_children), None);
            out.complete(Completed::Instance(*function));
            code(out, id, instance);
            out.call_line(*call);
            discriminator(out, id);
            lanes::write(out, lanes);
            out.attributes(id)?;
            out.info.end_entry();
        }
    }
    Ok(has_children.then(|| Open::new(out.units, id, instance)))
}

/// Returns the line where a block's abstract instance begins.
fn inherited_line(module: &Module, block: ScopeId) -> Option<SourceLine> {
    let origin = |scope: &ScopeId| module.scopes[*scope].origin;
    core::iter::successors(origin(&block), origin).find_map(|block| module.scopes[block].line)
}

fn discriminator(out: &mut EntryWriter<'_>, id: ScopeId) {
    let number = out.module.scopes[id].discriminator;
    if number != 0 {
        out.info.unsigned(gimli::DW_AT_GNU_discriminator, number.into());
    }
}

/// Writes a scope's pcs in an instance with code: its ranges, and where it is entered.
fn code(out: &mut EntryWriter<'_>, id: ScopeId, instance: Option<&Instance>) {
    let Some(instance) = instance else { return };
    match out.module.ranges(id) {
        [] => {}
        &[Range { start: 0, end }] => out.pcs(instance.code, end),
        // Before DWARF 5, which introduced address indices in lists, two addresses take less room than a list.
        &[Range { start, end }] if out.info.format.version < 5 => {
            let function = out.module.function_of(id).map(|function| &out.module.functions[function]);
            let key = address_key(function.and_then(|function| function.address_at(start)));
            out.pcs(Code { key, ..instance.code }, end - start);
        }
        ranges => out.ranges(ranges, instance.base),
    }
    out.entry_pc(id);
}

/// Writes a scope's last children: imports, labels and calls.
fn items(out: &mut EntryWriter<'_>, scope: ScopeId, instance: Option<&Instance>) -> Result<()> {
    for at in out.units.scope_items.range(scope) {
        match out.units.scope_items.get(at) {
            ScopeItem::Import(import) => imports_and_labels::write_import(out, import, instance)?,
            ScopeItem::Label(label) => imports_and_labels::write_label(out, label, instance)?,
            ScopeItem::Call(call) => calls::write(out, call, instance)?,
        }
    }
    Ok(())
}
