//! Writes the module's metadata: section "Debug Info Metadata".

use super::entities::Globals;
use crate::error::{Error, ErrorKind, Result};
use crate::omission::{Property, Reason, Subject};
use crate::spirv::names::{POSSIBLE_DUPLICATES, is_build_identifier};
use crate::spirv::operand::Field;
use crate::spirv::table::InstructionName;

/// Writes the build identifier and the storage path.
pub(super) fn metadata(out: &mut Globals<'_, '_, '_>) -> Result<()> {
    let binding = out.described.binding;
    // Wrong metadata is an error even if the set cannot encode it.
    if let Some((digits, may_be_shared)) = binding.build_id() {
        if !is_build_identifier(digits) {
            let what =
                format!("the build identifier {digits:?} is not 32 or more lowercase hexadecimal digits");
            return Err(Error::bad_argument(what));
        }
        if has_metadata(out, Property::BuildIdentifier) {
            let flags = if may_be_shared { POSSIBLE_DUPLICATES } else { 0 };
            let operands = [(Field::Identifier, out.text(digits)?), (Field::Flags, flags.into())];
            out.writer.instruction(InstructionName::BuildIdentifier, &operands)?;
        }
    }
    if let Some(path) = binding.stored_at() {
        if path.contains('\0') {
            return Err(ErrorKind::ZeroByte { text: format!("the storage path {path:?}") }.into());
        }
        if has_metadata(out, Property::StoragePath) {
            let path = out.text(path)?;
            out.writer.instruction(InstructionName::StoragePath, &[(Field::Path, path)])?;
        }
    }
    Ok(())
}

/// Whether the set has instructions for metadata; otherwise records an omission.
fn has_metadata(out: &mut Globals<'_, '_, '_>, property: Property) -> bool {
    if !out.writer.is_shader() {
        out.omit(Subject::Module, property, Reason::NoOperand);
    }
    out.writer.is_shader()
}
