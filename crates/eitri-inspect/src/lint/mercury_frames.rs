//! Frames in Mercury copies.

use std::collections::{HashMap, VecDeque};

use eitri_dwarf::error::Result;
use eitri_dwarf::read::{CallFrameInstruction, ElfSymbolKind, Fde, FrameInstruction, Frames, Object};
use eitri_dwarf::target::Reg;

use super::mercury_values::{Both, Difference, pc_text};

/// Compares the frames of each function in the file: its extent, its common entry, and the rules but for pcs.
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
    let actual = changes(copied, other)?;
    // The original's error is reported where it is read.
    let Ok(expected) = changes(own, one) else { return Ok(None) };
    for index in 0..expected.len().max(actual.len()) {
        let (written, meant) = (actual.get(index), expected.get(index));
        if written.map(|it| it.instruction) != meant.map(|it| it.instruction) {
            let text = |it: Option<&FrameInstruction<'_>>| {
                it.map_or_else(|| "no further instruction".into(), |it| format!("{:x?}", it.instruction))
            };
            let offset = written.map_or(other.offset, |it| it.offset);
            return Ok(Some(Difference::new(offset, text(written), text(meant))));
        }
    }
    Ok(None)
}

/// Returns the instructions of an entry and of its common entry that change a rule, in order.
fn changes<'o>(frames: &Frames<'o>, fde: &Fde<'o>) -> Result<Vec<FrameInstruction<'o>>> {
    let initial = frames.initial_instructions(frames.cie(fde));
    let mut changes: Vec<FrameInstruction<'o>> = Vec::new();
    // The last instruction about each register, and about the CFA.
    let mut last: HashMap<Option<Reg>, CallFrameInstruction<'o>> = HashMap::new();
    for instruction in initial.chain(frames.instructions(fde)) {
        let instruction = instruction?;
        match subject(&instruction.instruction) {
            Subject::Pc => continue,
            Subject::Rule(of) => {
                // ptxas repeats rules in copies.
                if last.insert(of, instruction.instruction) == Some(instruction.instruction) {
                    continue;
                }
            }
            Subject::Rules => last.clear(),
        }
        changes.push(instruction);
    }
    Ok(changes)
}

/// The part of a row that a call frame instruction sets.
enum Subject {
    Pc,
    /// The rule of a register, or of the CFA.
    Rule(Option<Reg>),
    /// Any rule.
    Rules,
}

fn subject(instruction: &CallFrameInstruction<'_>) -> Subject {
    use CallFrameInstruction as I;
    match *instruction {
        I::AdvanceLoc { .. } | I::SetLoc { .. } | I::Nop => Subject::Pc,
        I::DefCfa { .. } | I::DefCfaExpression { .. } | I::DefAspaceCfa { .. } => Subject::Rule(None),
        I::Undefined { register }
        | I::SameValue { register }
        | I::Offset { register, .. }
        | I::ValOffset { register, .. }
        | I::Register { register, .. }
        | I::Expression { register, .. }
        | I::ValExpression { register, .. } => Subject::Rule(Some(register)),
        // Their meaning depends on rules before them.
        _ => Subject::Rules,
    }
}
