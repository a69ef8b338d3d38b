//! Attributes as they are in the file: where their values are.

use core::ops::Range;

use gimli::{AttributeSpecification, DwForm, constants as dw};

use super::section::Original;
use crate::error::{Error, ErrorKind, Result};
use crate::read::{Entry, ResolvedValue};

/// An attribute's name, form and value in `.debug_info`. The form of an indirect value is that in the value.
#[derive(Debug, Clone)]
pub(super) struct Field<'o> {
    pub(super) spec: AttributeSpecification,
    pub(super) form: DwForm,
    /// The value without the form that an indirect value begins with.
    pub(super) bytes: Range<usize>,
    pub(super) value: ResolvedValue<'o>,
}

/// Appends an entry's attributes to a list.
pub(super) fn fields<'o>(from: &Original<'_>, entry: Entry<'_, 'o>, into: &mut Vec<Field<'o>>) -> Result<()> {
    let mut attributes = entry.attributes();
    for &spec in entry.specs() {
        let mut start = attributes.offset() as usize;
        let attribute = attributes.next().ok_or_else(|| from.truncated(start))?;
        let end = attributes.offset() as usize;
        if !is_known(attribute.form) {
            let text = format!("form {} in a cubin; expected a form of DWARF 2 to 4", attribute.form);
            let error = Error::from(ErrorKind::Unsupported(text));
            return Err(error.in_section(from.name).at_offset(start as u64));
        }
        if end > from.bytes.len() {
            return Err(from.truncated(start));
        }
        if spec.form() == dw::DW_FORM_indirect {
            start = from.uleb(start)?.1;
        }
        into.push(Field { spec, form: attribute.form, bytes: start..end, value: attribute.value });
    }
    Ok(())
}

/// Whether a form is of DWARF 4 section 7.5.4: values of other forms refer to sections that a cubin has not.
fn is_known(form: DwForm) -> bool {
    form.0 <= dw::DW_FORM_flag_present.0 || matches!(form, dw::DW_FORM_ref_sig8 | dw::DW_FORM_implicit_const)
}

/// Bytes of `DW_FORM_ref_addr`: those of an address in DWARF 2, and of an offset in later versions.
pub(super) fn ref_addr(address: usize, version: u16) -> usize {
    if version == 2 { address } else { 4 }
}
