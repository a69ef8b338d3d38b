//! End of an abbreviation table. DWARF 5 section 7.5.3.

use gimli::constants as dw;

use super::cursor::Cursor;
use crate::error::Result;

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
