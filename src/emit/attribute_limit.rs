//! The number of attributes that NVIDIA's tools read in an entry.

use super::section::Section;
use crate::error::{Count, Error, Result};

/// How many attributes ptxas and cuobjdump read in one entry.
const MOST_ATTRIBUTES: usize = 256;

/// Refuses abbreviations with more attributes than NVIDIA's tools read: DWARF 2 section 7.5.3. An abbreviation contains
/// no values, because `DW_FORM_implicit_const` came later.
pub(crate) fn refuse_many_attributes(section: &Section) -> Result<()> {
    if section.name != ".debug_abbrev" {
        return Ok(());
    }
    let bytes = &section.bytes[..];
    let mut position = 0;
    let mut number = || {
        let mut number = 0u64;
        for shift in (0..64).step_by(7) {
            let byte = *bytes.get(position)?;
            position += 1;
            number |= u64::from(byte & 0x7f) << shift;
            if byte & 0x80 == 0 {
                break;
            }
        }
        Some(number)
    };
    while let Some(code) = number() {
        // A table ends with code 0; the next table can follow.
        if code == 0 {
            continue;
        }
        // The tag, and the byte that says whether there are children.
        let _ = number();
        let _ = number();
        let mut count = 0;
        while let (Some(attribute), Some(form)) = (number(), number())
            && (attribute, form) != (0, 0)
        {
            count += 1;
        }
        if count > MOST_ATTRIBUTES {
            let count = Count(count, "attribute");
            let what = format!(
                "abbreviation {code} has {count}; expected at most {MOST_ATTRIBUTES}, because NVIDIA's tools read no more"
            );
            return Err(Error::bad_argument(what).in_section(section.name));
        }
    }
    Ok(())
}
