//! Entry shapes: which attributes of an abbreviation are read, in units whose forms have the same sizes.

use gimli::{
    AttributeSpecification, DebugAbbrevOffset, DwForm, Encoding, SectionId, UnitHeader, UnitSectionOffset,
    UnitType, constants as dw,
};

use super::value::{ADDRX_OFFSET, Slice};

/// The abbreviation's attributes that are read individually, and the number of bytes between them.
#[derive(Debug, Default)]
pub struct Shape {
    pub(super) read: Vec<Step>,
    /// Number of bytes after the last attribute that is read.
    pub(super) rest: usize,
}

/// An attribute that is wanted, or whose size depends on its bytes.
#[derive(Debug)]
pub(super) struct Step {
    /// Number of bytes before the attribute.
    pub(super) skipped: usize,
    pub(super) spec: AttributeSpecification,
    pub(super) is_wanted: bool,
}

impl Shape {
    /// Returns the shape of an abbreviation with these attributes.
    pub(super) fn new(
        specs: &[AttributeSpecification],
        forms: Encoding,
        is_wanted: impl Fn(&AttributeSpecification) -> bool,
    ) -> Self {
        let section = SectionId::DebugInfo;
        let offset = UnitSectionOffset(0);
        let table = DebugAbbrevOffset(0);
        let bytes = Slice::default();
        let header = UnitHeader::new(forms, 0, UnitType::Compilation, table, section, offset, bytes);
        let mut shape = Self::default();
        for spec in specs {
            let is_wanted = is_wanted(spec);
            match spec.size(&header).filter(|_| !is_wanted) {
                Some(bytes) => shape.rest += bytes,
                None => {
                    let skipped = core::mem::take(&mut shape.rest);
                    shape.read.push(Step { skipped, spec: *spec, is_wanted });
                }
            }
        }
        shape
    }
}

/// Whether a value in this form can be malformed, or refers to another section.
pub(super) fn is_checked(form: DwForm) -> bool {
    matches!(
        form,
        ADDRX_OFFSET
            | dw::DW_FORM_indirect
            | dw::DW_FORM_udata
            | dw::DW_FORM_sdata
            | dw::DW_FORM_ref_udata
            | dw::DW_FORM_strp
            | dw::DW_FORM_strp_sup
            | dw::DW_FORM_GNU_strp_alt
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
