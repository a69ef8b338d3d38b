//! Properties that belong to the module rather than its source: section "Debug Info Metadata".

use super::importer::Importer;
use crate::omission::Unimported;
use crate::spirv::names::{POSSIBLE_DUPLICATES, is_build_identifier};
use crate::spirv::operand::Field;
use crate::spirv::read::Fact;
use crate::spirv::table::InstructionName;

/// Imports the first build identifier and the first storage path.
pub(super) fn metadata(importer: &mut Importer<'_, '_>) {
    for fact in importer.facts.iter() {
        match fact.name() {
            Some(InstructionName::BuildIdentifier) => build_identifier(importer, &fact),
            Some(InstructionName::StoragePath) if importer.binding.stored_at().is_some() => {
                importer.omissions.omit(&fact, Unimported::SecondMetadata);
            }
            Some(InstructionName::StoragePath) => match importer.facts.all.text(&fact, Field::Path) {
                Some(path) => drop(importer.binding.storage_path(&path)),
                None => importer.omissions.omit_whole(&fact, Unimported::NoPath),
            },
            _ => {}
        }
    }
}

fn build_identifier(importer: &mut Importer<'_, '_>, fact: &Fact<'_>) {
    if importer.binding.build_id().is_some() {
        return importer.omissions.omit(fact, Unimported::SecondMetadata);
    }
    let digits = importer.facts.text(fact, Field::Identifier);
    if !is_build_identifier(&digits) {
        return importer.omissions.omit_whole(fact, Unimported::NotBuildIdentifier);
    }
    let flags = importer.facts.word(fact, Field::Flags);
    importer.binding.build_identifier(&digits, flags & POSSIBLE_DUPLICATES != 0);
}
