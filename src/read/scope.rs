//! What a name means at a pc: the variable of the innermost scope that has code there.

use gimli::constants as dw;

use super::dwarf::Dwarf;
use super::entry::Entry;
use crate::error::{Error, Result};

impl<'o> Dwarf<'o> {
    /// The variable, parameter or constant that a name means at a pc: that of the innermost scope with code
    /// there, or else one of no function. Declarations are not meant; without a pc, only what is in no function.
    ///
    /// # Errors
    /// [`BadArgument`](crate::error::ErrorKind::BadArgument) if there is none, or if several scopes that are as far
    /// inside have one; then they are listed.
    pub fn variable_at(&self, name: &str, pc: Option<u64>) -> Result<Entry<'_, 'o>> {
        let mut found: Vec<Entry<'_, 'o>> = Vec::new();
        let mut innermost = 0;
        for entry in self.entries() {
            let is_variable = matches!(
                entry.tag(),
                dw::DW_TAG_variable | dw::DW_TAG_formal_parameter | dw::DW_TAG_constant
            );
            if !is_variable
                || entry.attr(dw::DW_AT_declaration).is_some()
                || entry.name().as_deref() != Some(name)
            {
                continue;
            }
            let Some(scopes) = scopes_at(entry, pc)? else { continue };
            if found.is_empty() || scopes > innermost {
                found.clear();
                innermost = scopes;
            }
            if scopes == innermost {
                found.push(entry);
            }
        }
        let at = pc.map_or_else(|| " without a pc".into(), |pc| format!(" at pc {pc:#x}"));
        match found[..] {
            [one] => Ok(one),
            [] => Err(Error::bad_argument(format!("no variable `{name}` is in scope{at}"))),
            _ => {
                let all: Vec<String> = found.iter().map(|&entry| described(entry)).collect();
                let all = all.join("; ");
                Err(Error::bad_argument(format!("`{name}` is ambiguous{at}: {all}")))
            }
        }
    }
}

/// How many scopes with code at a pc a variable is in; `None` if it is in one without.
fn scopes_at(entry: Entry<'_, '_>, pc: Option<u64>) -> Result<Option<usize>> {
    let mut scopes = 0;
    let mut next = entry.parent();
    while let Some(scope) = next {
        next = scope.parent();
        match scope.tag() {
            dw::DW_TAG_subprogram
            | dw::DW_TAG_inlined_subroutine
            | dw::DW_TAG_lexical_block
            | dw::DW_TAG_try_block
            | dw::DW_TAG_catch_block
            | dw::DW_TAG_with_stmt
            | dw::DW_TAG_entry_point => {}
            dw::DW_TAG_subroutine_type => return Ok(None),
            _ => continue,
        }
        let ranges = scope.ranges().map_err(|error| error.or_at(entry.place()))?;
        // A block that does not say where its code is has that of what it is in.
        if ranges.is_empty() && scope.tag() == dw::DW_TAG_lexical_block {
            scopes += 1;
            continue;
        }
        if !pc.is_some_and(|pc| ranges.iter().any(|range| range.contains(&pc))) {
            return Ok(None);
        }
        scopes += 1;
    }
    Ok(Some(scopes))
}

fn described(entry: Entry<'_, '_>) -> String {
    let at = entry.place();
    let unit = at.unit.map_or_else(String::new, |unit| format!(" of unit `{unit}`"));
    let function = at.function.map_or_else(String::new, |function| format!(", function `{function}`"));
    format!("entry {:#x}{unit}{function}", entry.offset())
}
