//! Properties of the module rather than of its source: section "Debug Info Metadata".

use super::Importer;
use crate::omission::Unimported;
use crate::spirv::names::{POSSIBLE_DUPLICATES, is_build_identifier};
use crate::spirv::operand::Field;
use crate::spirv::read::Fact;
use crate::spirv::table::Name;

impl<'a> Importer<'_, 'a> {
    /// The build identifier and the storage path, the first of each.
    pub(super) fn metadata(&mut self) {
        for fact in self.facts.iter() {
            match fact.name() {
                Some(Name::BuildIdentifier) => self.build_identifier(&fact),
                Some(Name::StoragePath) if self.binding.stored_at().is_some() => {
                    self.omissions.omit(&fact, Unimported::SecondMetadata);
                }
                Some(Name::StoragePath) => match self.facts.all.text(&fact, Field::Path) {
                    Some(path) => drop(self.binding.storage_path(&path)),
                    None => self.omissions.omit_whole(&fact, Unimported::NoPath),
                },
                _ => {}
            }
        }
    }

    fn build_identifier(&mut self, fact: &Fact<'a>) {
        if self.binding.build_id().is_some() {
            return self.omissions.omit(fact, Unimported::SecondMetadata);
        }
        let digits = self.facts.text(fact, Field::Identifier);
        if !is_build_identifier(&digits) {
            return self.omissions.omit_whole(fact, Unimported::NotBuildIdentifier);
        }
        let flags = self.facts.word(fact, Field::Flags);
        self.binding.build_identifier(&digits, flags & POSSIBLE_DUPLICATES != 0);
    }
}
