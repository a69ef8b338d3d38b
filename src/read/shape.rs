//! Shapes of entries: the attributes of an abbreviation, in units with forms of one size.

use gimli::{Abbreviation, AttributeSpecification, DwForm, UnitHeader, constants as dw};

use super::value::Slice;

/// The attributes that are read one by one, and the number of bytes between them.
#[derive(Debug)]
pub(super) struct Shape {
    pub(super) has_children: bool,
    /// Number of attributes.
    pub(super) count: usize,
    pub(super) read: Vec<Step>,
    /// Number of bytes after the last of these attributes.
    pub(super) rest: usize,
}

/// An attribute whose size or validity depends on its bytes.
#[derive(Debug)]
pub(super) struct Step {
    /// Number of bytes before the attribute.
    pub(super) skipped: usize,
    pub(super) spec: AttributeSpecification,
    /// Whether the value can be malformed, or refers to another section.
    pub(super) is_checked: bool,
}

impl Shape {
    /// Returns the shape of an abbreviation in units with a header like this one.
    pub(super) fn of(abbreviation: &Abbreviation, header: &UnitHeader<Slice<'_>>) -> Self {
        let (mut read, mut rest) = (Vec::new(), 0);
        for &spec in abbreviation.attributes() {
            match spec.size(header).filter(|_| !is_checked(spec.form())) {
                Some(bytes) => rest += bytes,
                None => {
                    let skipped = core::mem::take(&mut rest);
                    read.push(Step { skipped, spec, is_checked: is_checked(spec.form()) });
                }
            }
        }
        let (has_children, count) = (abbreviation.has_children(), abbreviation.attributes().len());
        Self { has_children, count, read, rest }
    }
}

/// Whether the value of a form can be malformed, or refers to another section.
fn is_checked(form: DwForm) -> bool {
    matches!(
        form,
        dw::DW_FORM_indirect
            | dw::DW_FORM_udata
            | dw::DW_FORM_sdata
            | dw::DW_FORM_ref_udata
            | dw::DW_FORM_strp
            | dw::DW_FORM_line_strp
            | dw::DW_FORM_strx
            | dw::DW_FORM_strx1
            | dw::DW_FORM_strx2
            | dw::DW_FORM_strx3
            | dw::DW_FORM_strx4
            | dw::DW_FORM_GNU_str_index
            | dw::DW_FORM_addrx
            | dw::DW_FORM_addrx1
            | dw::DW_FORM_addrx2
            | dw::DW_FORM_addrx3
            | dw::DW_FORM_addrx4
            | dw::DW_FORM_GNU_addr_index
            | dw::DW_FORM_loclistx
            | dw::DW_FORM_rnglistx
    )
}
