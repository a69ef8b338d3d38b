//! What a file uses of vendors' extensions, which no header states.

use gimli::DwAt;

use crate::attributes::{DW_AT_LLVM_ACTIVE_LANE_AMD, DW_AT_LLVM_LANE_PC_AMD};
use crate::error::ErrorKind;
use crate::op::{Decoder, Encoding};
use crate::read::{Dwarf, Object, ResolvedValue};

/// ELF machine of AMD's GPUs.
const EM_AMDGPU: u16 = 224;
/// Operations with one byte in AMD's older dialect. 0xe9 is `DW_OP_LLVM_user` in the newer dialect.
const LEGACY: core::ops::RangeInclusive<u8> = 0xe1..=0xec;
/// Attributes that only AMD's debuggers read.
const AMD: [DwAt; 2] = [DW_AT_LLVM_LANE_PC_AMD, DW_AT_LLVM_ACTIVE_LANE_AMD];

/// Whether an expression has an operation of AMD's older dialect that the newer dialect lacks.
pub(super) fn has_legacy_operations(object: &Object<'_>, dwarf: &Dwarf<'_>) -> bool {
    if object.machine() != EM_AMDGPU {
        return false;
    }
    let mut list = Vec::new();
    dwarf.entries().any(|entry| {
        let encoding = entry.unit().encoding;
        entry.attributes().any(|attribute| match attribute.value {
            ResolvedValue::Expr(expr) => is_legacy(expr, encoding),
            ResolvedValue::LocList(offset) => {
                list.clear();
                dwarf.read_locations(entry.unit(), offset, &mut list).is_ok()
                    && list.iter().any(|item| is_legacy(item.expr, encoding))
            }
            _ => false,
        })
    })
}

fn is_legacy(expr: &[u8], encoding: Encoding) -> bool {
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
