//! Metadata of the module itself: section "Debug Info Metadata".

use super::entities::Globals;
use crate::error::{Error, ErrorKind, Result};
use crate::omission::{Property, Reason, Subject};
use crate::spirv::names::{POSSIBLE_DUPLICATES, is_build_identifier};
use crate::spirv::operand::Field;
use crate::spirv::table::Name;

impl Globals<'_, '_, '_> {
    /// Writes the build identifier and the storage path.
    pub(super) fn metadata(&mut self) -> Result<()> {
        let binding = self.described.binding;
        if let Some((digits, may_be_shared)) = binding.build_id() {
            if !is_build_identifier(digits) {
                let what = format!(
                    "the build identifier {digits:?} is not 32 lowercase hexadecimal digits, or more"
                );
                return Err(Error::bad_argument(what));
            }
            if self.has_metadata(Property::BuildIdentifier) {
                let flags = if may_be_shared { POSSIBLE_DUPLICATES } else { 0 };
                let operands = [(Field::Identifier, self.text(digits)?), (Field::Flags, flags.into())];
                self.writer.instruction(Name::BuildIdentifier, &operands)?;
            }
        }
        if let Some(path) = binding.stored_at() {
            if path.contains('\0') {
                return Err(ErrorKind::ZeroByte { text: format!("the storage path {path:?}") }.into());
            }
            if self.has_metadata(Property::StoragePath) {
                let path = self.text(path)?;
                self.writer.instruction(Name::StoragePath, &[(Field::Path, path)])?;
            }
        }
        Ok(())
    }

    /// Whether the set has instructions for metadata; otherwise records an omission.
    fn has_metadata(&mut self, property: Property) -> bool {
        if !self.writer.is_shader() {
            self.omit(Subject::Module, property, Reason::NoOperand);
        }
        self.writer.is_shader()
    }
}
