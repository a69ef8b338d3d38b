//! What a file uses of vendors' extensions, which no header states.

use gimli::DwAt;

use crate::attributes::{DW_AT_LLVM_ACTIVE_LANE_AMD, DW_AT_LLVM_LANE_PC_AMD};
use crate::op::Decoder;
use crate::read::{Dwarf, any_expression};

/// The latest version of DWARF.
const LATEST: u16 = 5;
/// Attributes that only AMD's debuggers read.
const AMD: [DwAt; 2] = [DW_AT_LLVM_LANE_PC_AMD, DW_AT_LLVM_ACTIVE_LANE_AMD];

/// Returns the latest version that introduced an operation of an expression. GNU's codes are in all versions.
pub(super) fn latest_operation(dwarf: &Dwarf<'_>, known: u16) -> u16 {
    let mut latest = known;
    any_expression(dwarf, &mut |expr, encoding| {
        for decoded in Decoder::new(expr, encoding).map_while(Result::ok) {
            let row = decoded.op.row();
            if row.since <= LATEST && row.std.get() == Some(decoded.spelling.code()) {
                latest = latest.max(row.since);
            }
        }
        latest >= LATEST
    });
    latest
}

/// Whether an entry has an attribute that only AMD's debuggers read.
pub(super) fn has_attributes_of_amd(dwarf: &Dwarf<'_>) -> bool {
    dwarf.entries().any(|entry| entry.names().any(|name| AMD.contains(&name)))
}
