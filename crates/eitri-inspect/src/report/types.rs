//! Type names, as in the source.

use gimli::constants as dw;

use eitri_dwarf::read::Entry;

/// Limit on qualifiers and pointers in a name.
const MOST: usize = 16;

/// Returns the name of a variable's type; `void` without a type.
pub(super) fn name(variable: Entry<'_, '_>) -> String {
    let mut suffix = String::new();
    let mut ty = variable.ty();
    for _ in 0..MOST {
        let Some(entry) = ty else { return format!("void{suffix}") };
        match (entry.tag(), entry.name()) {
            (dw::DW_TAG_pointer_type, _) => suffix.insert(0, '*'),
            (dw::DW_TAG_reference_type, _) => suffix.insert(0, '&'),
            (dw::DW_TAG_rvalue_reference_type, _) => suffix.insert_str(0, "&&"),
            (dw::DW_TAG_const_type, _) => suffix.insert_str(0, " const"),
            (dw::DW_TAG_volatile_type, _) => suffix.insert_str(0, " volatile"),
            (dw::DW_TAG_restrict_type, _) => suffix.insert_str(0, " restrict"),
            (dw::DW_TAG_atomic_type, _) => suffix.insert_str(0, " _Atomic"),
            (dw::DW_TAG_array_type, _) => suffix.insert_str(0, "[]"),
            (_, Some(name)) => return format!("{name}{suffix}"),
            (dw::DW_TAG_subroutine_type, None) => return format!("function{suffix}"),
            (_, None) => return format!("type without a name{suffix}"),
        }
        ty = entry.ty();
    }
    format!("…{suffix}")
}
