//! Findings about entries: references, instances, attribute numbers.

use gimli::{DwAt, constants as dw};

use super::codes::Code;
use crate::read::{Entry, Value};
use crate::tags::is_type;

/// A finding about an attribute.
pub(super) struct OfEntry {
    pub(super) code: Code,
    pub(super) written: String,
    pub(super) evidence: Vec<String>,
}

/// Attribute numbers that AMD's documents and LLVM's registry use for different things, with both meanings.
const AMBIGUOUS: [(DwAt, &str, &str); 5] = [
    (DwAt(0x3e08), "DW_AT_LLVM_active_lane", "DW_AT_LLVM_ptrauth_isa_pointer"),
    (DwAt(0x3e09), "DW_AT_LLVM_augmentation", "DW_AT_LLVM_ptrauth_authenticates_null_values"),
    (DwAt(0x3e0a), "DW_AT_LLVM_lanes", "DW_AT_LLVM_ptrauth_authentication_mode"),
    (DwAt(0x3e0b), "DW_AT_LLVM_lane_pc", "DW_AT_LLVM_num_extra_inhabitants"),
    (DwAt(0x3e0c), "DW_AT_LLVM_vector_size", "DW_AT_LLVM_stmt_sequence"),
];

pub(super) fn findings(entry: Entry<'_, '_>, out: &mut Vec<OfEntry>) {
    let dwarf = entry.dwarf();
    for attribute in entry.attributes() {
        if let Some((_, amd, llvm)) = AMBIGUOUS.iter().find(|one| one.0 == attribute.name) {
            out.push(OfEntry {
                code: Code::AmbiguousAttribute,
                written: format!("attribute {:#x}", attribute.name.0),
                evidence: vec![format!("AMD's debugger reads {amd}, LLVM's registry has {llvm}")],
            });
        }
        let Value::Reference(offset) = attribute.value else { continue };
        if attribute.name == dw::DW_AT_sibling {
            continue;
        }
        let Some(to) = dwarf.entry_at(offset) else {
            out.push(OfEntry {
                code: Code::BadReference,
                written: format!("{} is {offset:#x}", attribute.name),
                evidence: vec![format!("no entry is at {offset:#x}")],
            });
            continue;
        };
        if attribute.name == dw::DW_AT_type && !is_type(to.tag()) && to.tag() < dw::DW_TAG_lo_user {
            out.push(OfEntry {
                code: Code::BadReference,
                written: format!("DW_AT_type is {offset:#x}"),
                evidence: vec![format!("a {} is at {offset:#x}", to.tag())],
            });
        }
    }
    let Some(origin) = entry.reference(dw::DW_AT_abstract_origin) else { return };
    let (own, abstracted) = (entry.attr(dw::DW_AT_name), origin.inherited(dw::DW_AT_name));
    if let (Some(Value::String(own)), Some(Value::String(of_origin))) = (own, abstracted)
        && own != of_origin
    {
        let text = |bytes| String::from_utf8_lossy(bytes);
        out.push(OfEntry {
            code: Code::AbstractDiffers,
            written: format!("the name `{}`", text(own)),
            evidence: vec![format!(
                "the abstract instance at {:#x} is `{}`",
                origin.offset(),
                text(of_origin)
            )],
        });
    }
}
