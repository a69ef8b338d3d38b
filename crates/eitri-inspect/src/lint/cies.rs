//! Findings about common information entries that readers complete by convention.

use std::sync::Arc;

use super::codes::LintCode;
use super::details::Details;
use super::finding::LintFinding;
use eitri_dwarf::error::{Count, Error};
use eitri_dwarf::read::{CallFrameInstruction, Cie, Frames};

/// Returns the findings about the common information entries, at most one for each.
pub(super) fn findings<'f>(sections: &'f [Frames<'_>]) -> impl Iterator<Item = LintFinding> + 'f {
    sections.iter().flat_map(|frames| {
        let section = frames.section.name();
        let recovered = frames.recovered.first().map(|&offset| {
            let count = Count(frames.recovered.len(), "entry");
            let written = "a pointer to a common information entry, which names none";
            let details = Details::new(written).meant("the common information entry before it");
            let evidence =
                format!("{count} for functions, with pointers that are too large by multiples of 8 bytes");
            LintFinding::new(LintCode::CieByConvention, section, offset, details.evidence([evidence]))
        });
        let unreadable = frames.errors.iter().map(|error| unreadable(None, error));
        let conventions = frames.cies.iter().filter_map(move |cie| {
            let details = details(frames, cie)?;
            Some(LintFinding::new(LintCode::CieByConvention, section, cie.offset, details))
        });
        conventions.chain(recovered).chain(unreadable)
    })
}

/// Returns the finding about a part that cannot be read, in the object or in a split file.
pub(super) fn unreadable(split: Option<&str>, error: &Error) -> LintFinding {
    let section = error.at().section.clone().unwrap_or_default();
    let offset = error.at().offset.unwrap_or(0);
    let finding =
        LintFinding::new(LintCode::Unreadable, section, offset, Details::new(error.kind().to_string()));
    LintFinding { split: split.map(Arc::from), ..finding }
}

fn details<'o>(frames: &Frames<'o>, cie: &Cie<'o>) -> Option<Details> {
    if cie.augmentation == b"S" {
        let details = Details::new("an augmentation `S` without `z`, and thus without its data size");
        return Some(details.meant("signal handler frames"));
    }
    let mut instructions = frames.initial_instructions(cie).map_while(Result::ok);
    let first = instructions.find(|operation| {
        use CallFrameInstruction::{DefAspaceCfa, DefCfa, DefCfaExpression, DefCfaOffset, DefCfaRegister};
        matches!(
            operation.instruction,
            DefAspaceCfa { .. }
                | DefCfa { .. }
                | DefCfaExpression { .. }
                | DefCfaOffset { .. }
                | DefCfaRegister { .. }
        )
    })?;
    let CallFrameInstruction::DefCfaRegister { register } = first.instruction else { return None };
    let written = format!("DW_CFA_def_cfa_register {} before a rule that has an offset", register.0);
    Some(Details::new(written).meant("an offset of 0 bytes"))
}
