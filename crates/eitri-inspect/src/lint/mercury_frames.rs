//! Frames in Mercury copies.

use std::collections::{HashMap, VecDeque};

use eitri_dwarf::error::Result;
use eitri_dwarf::read::{ElfSymbolKind, Fde, Frames, Object};

use super::mercury_rules::{Frame, contradiction};
use super::mercury_values::{Both, Difference, pc_text};

/// Compares the frames of each function in the file: its extent, its common entry, and its rules.
pub(super) fn frames(
    both: Both<'_, '_>,
    own: &Frames<'_>,
    copied: &Frames<'_>,
) -> Result<Option<Difference>> {
    let mut left: HashMap<&str, VecDeque<&Fde<'_>>> = HashMap::new();
    for (function, fde) in described(both.object, own) {
        left.entry(function).or_default().push_back(fde);
    }
    for (function, copy) in described(both.copies, copied) {
        let Some(original) = left.get_mut(function).and_then(VecDeque::pop_front) else {
            return Ok(Some(Difference::new(
                copy.offset,
                format!("a frame of `{function}`"),
                "no such frame",
            )));
        };
        if let Some(difference) = frame(both, (own, original), (copied, copy))? {
            return Ok(Some(difference));
        }
    }
    let without_copy =
        described(both.object, own).find(|(function, _)| left.get(function).is_some_and(|it| !it.is_empty()));
    Ok(without_copy
        .map(|(function, _)| Difference::new(0, "no such frame", format!("a frame of `{function}`"))))
}

/// Returns the frames of functions in the file. nvlink keeps copies of functions that it drops.
fn described<'f, 'o>(
    object: &'f Object<'_>,
    frames: &'f Frames<'o>,
) -> impl Iterator<Item = (&'f str, &'f Fde<'o>)> {
    frames.fdes.iter().filter_map(|fde| {
        let symbol = object.symbol_at(fde.start).filter(|symbol| symbol.kind == ElfSymbolKind::Func)?;
        Some((&*symbol.name, fde))
    })
}

fn frame(
    both: Both<'_, '_>,
    (own, one): (&Frames<'_>, &Fde<'_>),
    (copied, other): (&Frames<'_>, &Fde<'_>),
) -> Result<Option<Difference>> {
    let text = |object: &Object<'_>, fde: &Fde<'_>| {
        let end = fde.start.wrapping_add(fde.length);
        format!("{} to {}", pc_text(object, fde.start), pc_text(object, end))
    };
    let [expected, actual] = [text(both.object, one), text(both.copies, other)];
    if expected != actual {
        return Ok(Some(Difference::new(other.offset, actual, expected)));
    }
    let common = |frames: &Frames<'_>, fde: &Fde<'_>| {
        let cie = frames.cie(fde);
        let (version, data, register) = (cie.version, cie.data_alignment, cie.return_register.0);
        format!("version {version}, data alignment {data}, return address in register {register:#x}")
    };
    let [expected, actual] = [common(own, one), common(copied, other)];
    if expected != actual {
        return Ok(Some(Difference::new(copied.cie(other).offset, actual, expected)));
    }
    let frame = |object, frames, fde| Frame { object, frames, fde };
    contradiction(frame(both.object, own, one), frame(both.copies, copied, other))
}
