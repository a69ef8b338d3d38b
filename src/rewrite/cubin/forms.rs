//! Attributes as they are in the file: where their values are.

use core::ops::Range;

use gimli::{AttributeSpecification, DwForm, constants as dw};

use super::section::Original;
use crate::error::{ErrorKind, Result};
use crate::read::Entry;

/// An attribute's name, form and value in `.debug_info`. The form of an indirect value is that in the value.
#[derive(Debug, Clone)]
pub(super) struct Field {
    pub(super) spec: AttributeSpecification,
    pub(super) form: DwForm,
    /// The value without the form that an indirect value begins with.
    pub(super) value: Range<usize>,
}

/// Appends an entry's attributes to a list.
pub(super) fn fields(from: &Original<'_>, entry: Entry<'_, '_>, into: &mut Vec<Field>) -> Result<()> {
    let (_, mut at) = from.uleb(entry.offset() as usize)?;
    let encoding = entry.unit().encoding;
    for &spec in entry.specs() {
        let mut form = spec.form();
        // The reader has refused chains of indirect forms.
        if form == dw::DW_FORM_indirect {
            let (code, next) = from.uleb(at)?;
            form = DwForm(code as u16);
            at = next;
        }
        let end = end(from, form, at, encoding.address_bytes.into(), encoding.version)?;
        if end > from.bytes.len() {
            return Err(from.truncated(at));
        }
        into.push(Field { spec, form, value: at..end });
        at = end;
    }
    Ok(())
}

/// Returns where a value ends: DWARF 4 section 7.5.4, in the 32-bit format.
fn end(from: &Original<'_>, form: DwForm, at: usize, address: usize, version: u16) -> Result<usize> {
    let block = |size: usize| Ok(at + size + from.number(at, size)? as usize);
    match form {
        dw::DW_FORM_flag_present | dw::DW_FORM_implicit_const => Ok(at),
        dw::DW_FORM_data1 | dw::DW_FORM_flag | dw::DW_FORM_ref1 => Ok(at + 1),
        dw::DW_FORM_data2 | dw::DW_FORM_ref2 => Ok(at + 2),
        dw::DW_FORM_data4 | dw::DW_FORM_ref4 | dw::DW_FORM_strp | dw::DW_FORM_sec_offset => Ok(at + 4),
        dw::DW_FORM_data8 | dw::DW_FORM_ref8 | dw::DW_FORM_ref_sig8 => Ok(at + 8),
        dw::DW_FORM_addr => Ok(at + address),
        dw::DW_FORM_ref_addr => Ok(at + ref_addr(address, version)),
        dw::DW_FORM_udata | dw::DW_FORM_sdata | dw::DW_FORM_ref_udata => Ok(from.uleb(at)?.1),
        dw::DW_FORM_string => Ok(from.string(at)?.1),
        dw::DW_FORM_block1 => block(1),
        dw::DW_FORM_block2 => block(2),
        dw::DW_FORM_block4 => block(4),
        dw::DW_FORM_block | dw::DW_FORM_exprloc => {
            let (size, begin) = from.uleb(at)?;
            let end = usize::try_from(size).ok().and_then(|size| begin.checked_add(size));
            end.ok_or_else(|| from.truncated(at))
        }
        _ => {
            let text = format!("form {form} in a cubin; expected a form of DWARF 2 to 4");
            let error = crate::error::Error::from(ErrorKind::Unsupported(text));
            Err(error.in_section(from.name).at_offset(at as u64))
        }
    }
}

/// Bytes of `DW_FORM_ref_addr`: those of an address in DWARF 2, and of an offset in later versions.
pub(super) fn ref_addr(address: usize, version: u16) -> usize {
    if version == 2 { address } else { 4 }
}
