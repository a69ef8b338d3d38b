//! Entries of labels: DWARF 5 section 3.6.

use super::entry::EntryWriter;
use super::open::{Instance, has_labels};
use crate::model::LabelId;

/// Writes a label, in an instance with code, or without its pc in a function without code.
pub(super) fn write(out: &mut EntryWriter<'_>, id: LabelId, instance: Option<&Instance>) {
    let module = out.module;
    let label = &module.labels[id];
    if !has_labels(out.units, label.scope, instance) {
        return;
    }
    out.info.begin_entry(gimli::DW_TAG_label, gimli::DW_CHILDREN_no, None);
    out.name(Some(label.name));
    out.declared(label.line);
    if let (Some(pc), Some(function)) = (label.pc, module.function_of(label.scope)) {
        out.pc(gimli::DW_AT_low_pc, &module.functions[function], pc);
    }
    out.info.end_entry();
}
