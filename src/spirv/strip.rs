//! Removes debug instructions from any producer.

use hashbrown::{HashMap, HashSet};

use super::attached::BOUND;
use super::layout::ModuleLayout;
use super::opcodes as op;
use super::uses::uses;
use super::words::{HEADER, Id, Instruction, Words, string_bytes};
use crate::error::Result;

/// Extensions that [`attach`](super::attach()) declares.
const NON_SEMANTIC: &[u8] = b"SPV_KHR_non_semantic_info";
const RELAXED: &[u8] = b"SPV_KHR_relaxed_extended_instruction";

/// Start of the text in which LLVM's translator names the debug information's producer.
const PRODUCER: &[u8] = b"Debug info producer: ";

/// Removes all debug instructions from a module: from every set, known or not, and from any producer.
///
/// | removed | kept |
/// |---|---|
/// | extended instructions from debug sets, and the sets' imports | other sets' instructions, such as `NonSemantic.DebugPrintf` |
/// | `OpLine`, `OpNoLine` | |
/// | the `OpModuleProcessed` in which LLVM's translator names the producer | other `OpModuleProcessed` |
/// | each `OpString` that nothing else references | strings that `OpSource` or other sets use |
/// | names and decorations for removed ids | other names, `OpSource` |
///
/// Types and constants stay, even if only debug instructions referenced them, as do capabilities, extensions and the id
/// bound: [`strip_unused`] removes these.
///
/// # Errors
/// The error names the word, if the words are not a module.
pub fn strip(words: &[u32]) -> Result<Vec<u32>> {
    let words = Words::new(words)?;
    let layout = ModuleLayout::new(words)?;
    let is_dropped = |it: &Instruction<'_>| is_debug(&layout, it);
    let mut dropped: HashSet<Id> = HashSet::new();
    // By id, whether an instruction that stays uses the string.
    let strings = words.instructions().filter(|it| it.opcode() == op::STRING);
    let mut strings: HashMap<u32, bool> = strings.filter_map(|it| Some((it.result()?.0, false))).collect();
    for instruction in words.instructions() {
        if is_dropped(&instruction) {
            dropped.extend(instruction.result());
            continue;
        }
        for id in uses(&instruction) {
            if let Some(is_used) = strings.get_mut(&id) {
                *is_used = true;
            }
        }
    }
    let mut kept = Vec::with_capacity(words.all().len());
    kept.extend_from_slice(&words.all()[..HEADER]);
    for instruction in words.instructions() {
        // Debug instructions come first, because their ids decide what else is dropped.
        let is_kept = match instruction.opcode() {
            _ if is_dropped(&instruction) => false,
            op::STRING => {
                let id = instruction.result();
                let is_used = id.is_some_and(|id| strings.get(&id.0) == Some(&true));
                dropped.extend(id.filter(|_| !is_used));
                is_used
            }
            op::MODULE_PROCESSED => {
                let text = string_bytes(instruction.operands(), usize::MAX);
                !text.is_some_and(|text| text.starts_with(PRODUCER))
            }
            _ => true,
        };
        if is_kept {
            kept.extend(instruction.words);
        }
    }
    if dropped.is_empty() {
        return Ok(kept);
    }
    // A second pass is needed, because names and decorations follow the strings, but precede the other debug
    // instructions.
    let mut word = HEADER;
    let mut named = kept[..HEADER].to_vec();
    while let Some(&first) = kept.get(word) {
        let instruction = &kept[word..word + (first >> 16) as usize];
        let subject = instruction.get(1).filter(|_| op::is_annotation(first as u16));
        if !subject.is_some_and(|&subject| dropped.contains(&Id(subject))) {
            named.extend(instruction);
        }
        word += instruction.len();
    }
    Ok(named)
}

/// Removes the debug instructions as [`strip`] does, and then unused types and constants, and debug instruction
/// extensions. Specialization constants stay. The id bound becomes the lowest bound that the ids permit. What
/// [`attach`](super::attach()) adds to a module is thus removed, together with types and constants that were unused
/// before.
///
/// # Errors
/// The error names the word, if the words are not a module.
pub fn strip_unused(words: &[u32]) -> Result<Vec<u32>> {
    let stripped = strip(words)?;
    let words = Words::new(&stripped)?;
    let layout = ModuleLayout::new(words)?;
    let mut used: HashSet<u32> = HashSet::new();
    let mut definitions = Vec::new();
    let mut is_known = true;
    for instruction in words.instructions() {
        is_known &= op::results(instruction.opcode()).is_some();
        // The constant with this decoration is the workgroup size, instead of the execution mode's operand, so that it
        // is in use.
        if let (op::DECORATE, &[constant, BUILT_IN, ..]) = (instruction.opcode(), instruction.operands()) {
            used.insert(constant);
        }
        if is_removable(&instruction) {
            definitions.push(instruction)
        } else {
            used.extend(uses(&instruction))
        }
    }
    let mut dropped: HashSet<Id> = HashSet::new();
    // Types and constants follow the ones that they use, so that the reverse order sees every use first.
    for instruction in definitions.iter().rev() {
        match instruction.result().filter(|id| !used.contains(&id.0)) {
            Some(id) => drop(dropped.insert(id)),
            None => used.extend(uses(instruction)),
        }
    }
    let is_kept = |it: &Instruction<'_>| {
        let is_gone = |id: Id| dropped.contains(&id);
        match it.opcode() {
            op::EXTENSION => !is_unused_extension(&layout, it),
            opcode if op::is_annotation(opcode) => !it.operands().first().is_some_and(|&id| is_gone(Id(id))),
            _ => !it.result().is_some_and(is_gone),
        }
    };
    let mut kept = stripped[..HEADER].to_vec();
    kept.extend(words.instructions().filter(is_kept).flat_map(|it| it.words));
    // An instruction with an unknown opcode can define any id, so that the bound must stay.
    if is_known {
        let results = Words::new(&kept)?.instructions().filter_map(Instruction::result).max();
        kept[BOUND] = results.map_or(1, |id| id.0.saturating_add(1));
    }
    Ok(kept)
}

/// The decoration `BuiltIn`.
const BUILT_IN: u32 = 11;

/// Whether the instruction can be removed if nothing uses its result: a type, or a constant that specialization cannot
/// change.
fn is_removable(it: &Instruction<'_>) -> bool {
    matches!(it.opcode(), op::TYPE_VOID..=38 | op::CONSTANT_TRUE..=op::CONSTANT_NULL)
}

/// Whether the instruction declares a debug instruction extension that the module does not use.
fn is_unused_extension(layout: &ModuleLayout<'_>, it: &Instruction<'_>) -> bool {
    let mut instructions = layout.words().instructions();
    match string_bytes(it.operands(), usize::MAX).as_deref() {
        Some(NON_SEMANTIC) => !instructions.any(|it| {
            it.opcode() == op::EXT_INST_IMPORT
                && string_bytes(it.operands(), usize::MAX).is_some_and(|set| set.starts_with(b"NonSemantic."))
        }),
        Some(RELAXED) => !instructions.any(|it| it.opcode() == op::EXT_INST_FORWARD),
        _ => false,
    }
}

/// Whether an instruction belongs to a debug set, imports one, or is a line.
pub(super) fn is_debug(layout: &ModuleLayout<'_>, instruction: &Instruction<'_>) -> bool {
    match instruction.opcode() {
        op::LINE | op::NO_LINE => true,
        op::EXT_INST | op::EXT_INST_FORWARD => {
            instruction.operands().first().is_some_and(|&set| layout.is_debug_set(Id(set)))
        }
        op::EXT_INST_IMPORT => instruction.result().is_some_and(|id| layout.is_debug_set(id)),
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::spirv::words::string_words;

    fn instruction(opcode: u16, operands: &[u32], text: Option<&str>) -> Vec<u32> {
        let mut words = operands.to_vec();
        text.into_iter().for_each(|text| string_words(text, &mut words));
        words.insert(0, (words.len() as u32 + 1) << 16 | u32::from(opcode));
        words
    }

    /// A module with a debug set and another set, each with an instruction that references a string.
    fn module(debug: &str, other: &str) -> Vec<u32> {
        let parts = [
            vec![super::super::words::MAGIC, 0x0001_0000, 0, 20, 0],
            instruction(op::EXT_INST_IMPORT, &[1], Some(debug)),
            instruction(op::EXT_INST_IMPORT, &[2], Some(other)),
            instruction(op::STRING, &[3], Some("of the set")),
            instruction(op::STRING, &[4], Some("of the other")),
            instruction(op::STRING, &[5], Some("of the source")),
            instruction(op::SOURCE, &[2, 450, 5], None),
            instruction(op::NAME, &[7], Some("a debug instruction")),
            instruction(op::NAME, &[8], Some("another instruction")),
            instruction(op::TYPE_VOID, &[6], None),
            instruction(op::EXT_INST, &[6, 7, 1, 35, 3], None),
            instruction(op::EXT_INST, &[6, 8, 2, 1, 4], None),
            instruction(op::LINE, &[3, 1, 1], None),
            instruction(op::NO_LINE, &[], None),
        ];
        parts.concat()
    }

    #[test]
    fn other_sets_stay() {
        let sets = [
            "OpenCL.DebugInfo.100",
            "NonSemantic.Shader.DebugInfo.100",
            "NonSemantic.Shader.DebugInfo.200",
            "SPIRV.debug",
        ];
        for set in sets {
            let words = module(set, "NonSemantic.DebugPrintf");
            let stripped = strip(&words).expect("is a module");
            let opcodes = |words| -> Vec<u16> {
                Words::new(words).expect("is a module").instructions().map(|it| it.opcode()).collect()
            };
            let expected = [
                op::EXT_INST_IMPORT,
                op::STRING,
                op::STRING,
                op::SOURCE,
                op::NAME,
                op::TYPE_VOID,
                op::EXT_INST,
            ];
            assert_eq!(opcodes(&stripped), expected, "{set}");
            assert_eq!(strip(&stripped).expect("is a module"), stripped, "{set}");
        }
    }
}
