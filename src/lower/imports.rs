//! Entries of imports: DWARF 5 section 3.2.3.

use super::entry::EntryWriter;
use super::open::{Instance, is_first};
use crate::model::{ImportId, Imported};

/// Writes an import, in the abstract instance of a function if there is one.
pub(super) fn write(out: &mut EntryWriter<'_>, id: ImportId, instance: Option<&Instance>) {
    if !is_first(instance) {
        return;
    }
    let import = &out.module.imports[id];
    let tag = match import.what {
        Imported::AllOf(_) => gimli::DW_TAG_imported_module,
        _ => gimli::DW_TAG_imported_declaration,
    };
    out.info.begin_entry(tag, gimli::DW_CHILDREN_no, None);
    out.name(import.name);
    out.declared(import.line);
    let at = gimli::DW_AT_import;
    match import.what {
        Imported::Function(id) => out.info.reference(at, out.expressions.numbers.function(id)),
        Imported::Variable(id) => out.info.reference(at, out.expressions.numbers.variable(id)),
        Imported::Type(id) => out.refer_to_type(at, id),
        Imported::Namespace(id) | Imported::AllOf(id) => {
            out.info.reference(at, out.expressions.numbers.scope(id));
        }
    }
    out.info.end_entry();
}
