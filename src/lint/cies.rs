//! Findings about common information entries that readers complete by convention.

use super::codes::Code;
use super::details::Details;
use super::finding::Finding;
use crate::read::{Cie, Frames, Instruction};

/// Returns the findings about the common information entries, at most one for each.
pub(super) fn findings<'f>(all: &'f [Frames<'_>]) -> impl Iterator<Item = Finding> + 'f {
    all.iter().flat_map(|frames| {
        let section = frames.section.name();
        frames.cies.iter().filter_map(move |cie| {
            let details = details(frames, cie)?;
            Some(Finding::new(Code::CieByConvention, section, cie.offset, details))
        })
    })
}

fn details<'o>(frames: &Frames<'o>, cie: &Cie<'o>) -> Option<Details> {
    if cie.augmentation == b"S" {
        let details = Details::new("an augmentation `S` without `z`, and thus without the size of its data");
        return Some(details.meant("frames of signal handlers".into()));
    }
    let mut instructions = frames.initial_instructions(cie).map_while(Result::ok);
    let first = instructions.find(|one| {
        use Instruction::{DefAspaceCfa, DefCfa, DefCfaExpression, DefCfaOffset, DefCfaRegister};
        matches!(
            one.instruction,
            DefAspaceCfa { .. }
                | DefCfa { .. }
                | DefCfaExpression { .. }
                | DefCfaOffset { .. }
                | DefCfaRegister { .. }
        )
    })?;
    let Instruction::DefCfaRegister { register } = first.instruction else { return None };
    let written = format!("DW_CFA_def_cfa_register {} before a rule that has an offset", register.0);
    Some(Details::new(written).meant("an offset of 0 bytes".into()))
}
