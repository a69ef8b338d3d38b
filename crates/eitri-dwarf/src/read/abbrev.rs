//! Abbreviation tables. DWARF 5 section 7.5.3.

use gimli::{DwAt, DwForm, DwTag, constants as dw};

use super::cursor::Cursor;
use crate::error::{Error, Result};

const WHAT: &str = "the abbreviations";

/// Reads a table, from its first abbreviation to the terminating code 0, and returns the offset after it. `gimli`,
/// which decodes the abbreviations, accepts the end of the section as the table's end.
///
/// # Errors
/// [`Truncated`](crate::error::ErrorKind::Truncated) where the section ends first.
pub(super) fn find_end(mut from: Cursor<'_>) -> Result<u64> {
    while from.uleb(WHAT)? != 0 {
        from.uleb(WHAT)?;
        from.u8(WHAT)?;
        loop {
            match (from.uleb(WHAT)?, from.uleb(WHAT)?) {
                (0, 0) => break,
                (_, form) if form == u64::from(dw::DW_FORM_implicit_const.0) => drop(from.sleb(WHAT)?),
                _ => {}
            }
        }
    }
    Ok(from.offset())
}

/// Declaration of entries with the same tag and attributes. DWARF 5 section 7.5.3.
///
/// Exhaustive: a literal names all fields.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Abbreviation {
    /// Offset in the section, in bytes.
    pub offset: u64,
    /// Code, which entries contain.
    pub code: u64,
    /// Tag.
    pub tag: DwTag,
    /// Whether the entries can have children.
    pub has_children: bool,
    /// Names and forms of the attributes, with the value of an implicit constant.
    pub attributes: Vec<(DwAt, DwForm, Option<i64>)>,
}

/// Reads a table, from its first abbreviation to the terminating code 0.
///
/// # Errors
/// [`Truncated`](crate::error::ErrorKind::Truncated) where the section ends first, and an error for a number that no
/// tag, attribute or form has.
pub(super) fn read_table(mut from: Cursor<'_>) -> Result<Vec<Abbreviation>> {
    let mut table = Vec::new();
    loop {
        let offset = from.offset();
        let code = from.uleb(WHAT)?;
        if code == 0 {
            return Ok(table);
        }
        let half = |number: u64| {
            let outside =
                || Error::malformed(format!("{WHAT}: {number:#x} has more than 16 bits")).at_offset(offset);
            u16::try_from(number).map_err(|_| outside())
        };
        let tag = DwTag(half(from.uleb(WHAT)?)?);
        let has_children = from.u8(WHAT)? != 0;
        let mut attributes = Vec::new();
        loop {
            let name = half(from.uleb(WHAT)?)?;
            let form = half(from.uleb(WHAT)?)?;
            if (name, form) == (0, 0) {
                break;
            }
            let form = DwForm(form);
            let value = if form == dw::DW_FORM_implicit_const { Some(from.sleb(WHAT)?) } else { None };
            attributes.push((DwAt(name), form, value));
        }
        table.push(Abbreviation { offset, code, tag, has_children, attributes });
    }
}
