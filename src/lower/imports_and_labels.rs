//! Import and label entries: DWARF 5 sections 3.2.3 and 3.6.

use super::entry::{Completed, EntryWriter};
use super::open::{Instance, has_labels, is_first};
use crate::error::Result;
use crate::model::{ImportId, Imported, LabelId, NamespaceKind, ScopeKind, SourceLine};

/// Writes an import, in a function's abstract instance if there is one.
pub(super) fn write_import(
    out: &mut EntryWriter<'_>,
    id: ImportId,
    instance: Option<&Instance>,
) -> Result<()> {
    if !is_first(instance) {
        return Ok(());
    }
    let import = &out.module.imports[id];
    let (tag, attribute) = match (&out.module.scopes[import.scope].kind, import.what) {
        (ScopeKind::Namespace { kind: NamespaceKind::Namelist, .. }, _) => {
            (gimli::DW_TAG_namelist_item, gimli::DW_AT_namelist_item)
        }
        (_, Imported::AllOf(_)) => (gimli::DW_TAG_imported_module, gimli::DW_AT_import),
        _ => (gimli::DW_TAG_imported_declaration, gimli::DW_AT_import),
    };
    out.info.begin_entry(tag, gimli::DW_CHILDREN_no, None);
    out.name(import.name);
    out.declared(import.line);
    match import.what {
        Imported::Function(id) => out.refer_to_function(attribute, id),
        Imported::Variable(id) => out.refer_to_variable(attribute, id),
        Imported::Type(id) => out.refer_to_type(attribute, id),
        Imported::Member(ty, index) | Imported::Enumerator(ty, index) => {
            out.refer_to_member(attribute, ty, index)
        }
        Imported::Namespace(id) | Imported::AllOf(id) => {
            out.info.reference(attribute, out.expressions.numbers.scope(id));
        }
    }
    out.attributes(id)?;
    out.info.end_entry();
    Ok(())
}

/// Writes a label, in an instance with code, or without its pc in a function without code.
pub(super) fn write_label(out: &mut EntryWriter<'_>, id: LabelId, instance: Option<&Instance>) -> Result<()> {
    let module = out.module;
    let label = &module.labels[id];
    if !has_labels(out.units, label.scope, instance) {
        return Ok(());
    }
    let is_abstract = instance.is_none();
    let is = is_abstract.then(|| out.expressions.numbers.label(id));
    out.info.begin_entry(gimli::DW_TAG_label, gimli::DW_CHILDREN_no, is);
    let origin = out.units.scope_items.label_origins.get(&id).copied();
    let inherited = origin.and_then(|origin| module.labels[origin].line);
    match origin {
        Some(origin) => out.complete(Completed::Label(origin)),
        None => out.name(Some(label.name)),
    }
    let position = |line: SourceLine| (module.path_of(line.file), line.line, line.column);
    if label.line.map(position) != inherited.map(position) {
        out.declared_over(label.line, inherited);
    }
    if let (Some(pc), Some(function)) = (label.pc, module.function_of(label.scope)) {
        out.pc(gimli::DW_AT_low_pc, &module.functions[function], pc);
    }
    out.attributes(id)?;
    out.info.end_entry();
    Ok(())
}
