//! Variables and blocks that belong to a scope in the code.

use gimli::{DwTag, constants as dw};

use crate::read::Entry;

/// Whether entries with this tag are scopes with code.
pub(super) fn is_code_scope(tag: DwTag) -> bool {
    matches!(
        tag,
        dw::DW_TAG_subprogram
            | dw::DW_TAG_inlined_subroutine
            | dw::DW_TAG_lexical_block
            | dw::DW_TAG_try_block
            | dw::DW_TAG_catch_block
            | dw::DW_TAG_with_stmt
            | dw::DW_TAG_entry_point
    )
}

/// Whether an entry is a variable, a parameter or a constant.
pub(in crate::read) fn is_variable(tag: DwTag) -> bool {
    matches!(tag, dw::DW_TAG_variable | dw::DW_TAG_formal_parameter | dw::DW_TAG_constant)
}

/// The members of a scope, in file order, each with the number of blocks without pcs around it. Such a block has the
/// pcs of its scope.
pub(super) struct Members<'r, 'o> {
    scope: Entry<'r, 'o>,
    /// Index of the next entry.
    next: u32,
    /// For each open block, the index after its last descendant.
    open: Vec<u32>,
    /// Whether blocks without pcs are opened.
    has_code: bool,
}

impl<'r, 'o> Members<'r, 'o> {
    /// Returns the members of a scope with code.
    pub(super) fn of_scope(scope: Entry<'r, 'o>) -> Self {
        Self { scope, next: scope.index + 1, open: Vec::new(), has_code: true }
    }

    /// Returns the members of an abstract instance, whose blocks have no pcs at all.
    pub(super) fn of_abstract(scope: Entry<'r, 'o>) -> Self {
        Self { has_code: false, ..Self::of_scope(scope) }
    }
}

impl<'r, 'o> Iterator for Members<'r, 'o> {
    type Item = (Entry<'r, 'o>, usize);

    fn next(&mut self) -> Option<Self::Item> {
        while self.next < self.scope.end() {
            crate::work::step();
            let entry = self.scope.at_index(self.next)?;
            while self.open.pop_if(|end| *end <= self.next).is_some() {}
            let is_open = match entry.tag() {
                dw::DW_TAG_lexical_block if self.has_code => {
                    let is_open = !entry.has(dw::DW_AT_low_pc) && !entry.has(dw::DW_AT_ranges);
                    self.open.extend(is_open.then(|| entry.end()));
                    is_open
                }
                dw::DW_TAG_GNU_formal_parameter_pack | dw::DW_TAG_common_block => true,
                _ => false,
            };
            if is_open {
                self.next += 1;
                continue;
            }
            self.next = entry.end();
            return Some((entry, self.open.len()));
        }
        None
    }
}
