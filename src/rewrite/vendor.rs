//! What a file uses of vendors' extensions, which no header states.

use gimli::DwAt;

use crate::attributes::{DW_AT_LLVM_ACTIVE_LANE_AMD, DW_AT_LLVM_LANE_PC_AMD};
use crate::check::can_have_expression;
use crate::error::ErrorKind;
use crate::op::{Decoder, Encoding};
use crate::read::{ByAbbreviation, Dwarf, Object, ResolvedValue};

/// ELF machine of AMD's GPUs.
const EM_AMDGPU: u16 = 224;
/// Operations with one byte in AMD's older dialect. 0xe9 is `DW_OP_LLVM_user` in the newer dialect.
const LEGACY: core::ops::RangeInclusive<u8> = 0xe1..=0xec;
/// The latest version of DWARF.
const LATEST: u16 = 5;
/// Attributes that only AMD's debuggers read.
const AMD: [DwAt; 2] = [DW_AT_LLVM_LANE_PC_AMD, DW_AT_LLVM_ACTIVE_LANE_AMD];

/// Whether an expression has an operation of AMD's older dialect that the newer dialect lacks.
pub(super) fn has_legacy_operations(object: &Object<'_>, dwarf: &Dwarf<'_>) -> bool {
    if object.machine() != EM_AMDGPU {
        return false;
    }
    any_expression(dwarf, is_legacy)
}

/// Whether a condition is true of an expression in an entry or a location list.
fn any_expression(dwarf: &Dwarf<'_>, mut is: impl FnMut(&[u8], Encoding) -> bool) -> bool {
    let mut list = Vec::new();
    let mut shapes = ByAbbreviation::default();
    dwarf.entries().any(|entry| {
        let encoding = entry.unit().encoding;
        let shape = shapes.of(entry, || entry.shape_with(|spec| can_have_expression(spec.form())));
        let mut has = false;
        entry.each_of(&shape, |attribute| match attribute.value() {
            Some(ResolvedValue::Expr(expr)) => has |= is(expr, encoding),
            Some(ResolvedValue::LocList(offset)) => {
                list.clear();
                has |= dwarf.read_locations(entry.unit(), offset, &mut list).is_ok()
                    && list.iter().any(|item| is(item.expr, encoding));
            }
            _ => {}
        });
        has
    })
}

/// Returns the latest version that introduced an operation of an expression. GNU's codes are in all versions.
pub(super) fn latest_operation(dwarf: &Dwarf<'_>, known: u16) -> u16 {
    let mut latest = known;
    any_expression(dwarf, |expr, encoding| {
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

fn is_legacy(expr: &[u8], encoding: Encoding) -> bool {
    if !expr.iter().any(|byte| LEGACY.contains(byte)) {
        return false;
    }
    let mut decoder = Decoder::new(expr, encoding);
    let failed = decoder.find_map(|decoded| decoded.err());
    failed.is_some_and(|error| {
        matches!(error.kind(), ErrorKind::UnknownOperation { code, sub: None } if LEGACY.contains(code))
    })
}

/// Whether an entry has an attribute that only AMD's debuggers read.
pub(super) fn has_attributes_of_amd(dwarf: &Dwarf<'_>) -> bool {
    dwarf.entries().any(|entry| entry.names().any(|name| AMD.contains(&name)))
}
