//! Finds the ids that core instructions use. Literals can equal an id by chance, so that each opcode's literals have to
//! be known: section 3 of the core specification.

use super::opcodes as op;
use super::words::{Id, Instruction, string_words_len};

/// An instruction's words that may be used ids: the result type, and all operands that are not known to be literals. An
/// unknown opcode's operands all count, because dropping a used id would break the module.
pub(super) fn uses<'a>(it: &Instruction<'a>) -> impl Iterator<Item = u32> + use<'a> {
    let operands = it.operands();
    let skip = operands.len();
    // The leading literals, the ids after them, and the ids at the end after further literals.
    let (start, end, rest) = match it.opcode() {
        // Names and decorations, which do not use their subject; in `OpDecorateId`, the ids after the decoration.
        332 => (2, skip, skip),
        opcode if op::is_annotation(opcode) => (skip, skip, skip),
        // Texts, capabilities, models and constants, which have only literals.
        2 | 4 | 7 | 10 | 11 | 14 | 17 | 19..=22 | 26 | 31 | 34..=38 | 43 | 50 | 330 => (skip, skip, skip),
        op::SOURCE => (2, 3, skip),
        // A storage class, a control mask, or an operation's number comes first.
        op::TYPE_POINTER
        | op::TYPE_UNTYPED_POINTER
        | op::FUNCTION
        | op::VARIABLE
        | op::UNTYPED_VARIABLE
        | 52 => (1, skip, skip),
        // One id, then literals: execution modes, vectors, matrices, images, lengths, composite parts.
        16 | op::TYPE_VECTOR | op::TYPE_MATRIX | op::TYPE_IMAGE | 68 | 81 | op::SELECTION_MERGE => {
            (0, 1, skip)
        }
        // A condition, then a capability or an extension's name.
        6248 | 6250 => (0, 1, skip),
        // Two ids, then literals; a switch has labels after its literals.
        79 | 82 | op::LOOP_MERGE | op::SWITCH => (0, 2, skip),
        op::BRANCH_CONDITIONAL => (0, 3, skip),
        // An id, then a literal and ids: a load's mask, an extended instruction's number, an execution mode, a group
        // operation.
        61 | op::EXT_INST | op::EXT_INST_FORWARD | 264..=271 | 331 | 349..=364 => (0, 1, 2),
        // The mask in a store or copy.
        62 | 63 => (0, 2, 3),
        op::ENTRY_POINT => return ids(it, 1, 2, 2 + string_words_len(&operands[2.min(skip)..])),
        _ => (0, skip, skip),
    };
    ids(it, start, end, rest)
}

fn ids<'a>(
    it: &Instruction<'a>,
    start: usize,
    end: usize,
    rest: usize,
) -> impl Iterator<Item = u32> + use<'a> {
    let operands = it.operands();
    let len = operands.len();
    let end = end.min(len);
    let first = &operands[start.min(end)..end];
    let last = &operands[rest.max(end).min(len)..];
    it.result_type().map(|ty| ty.0).into_iter().chain(first.iter().copied()).chain(last.iter().copied())
}

/// The ids among the operands after the result, up to the first operand whose length depends on its value.
pub(super) fn operand_ids(instruction: Instruction<'_>) -> Vec<Id> {
    let letters = op::signature(instruction.opcode()).as_bytes();
    let mut rest = instruction.operands();
    let mut next = 0;
    let mut ids = Vec::new();
    while let (Some(letter), Some((&word, after))) = (letters.get(next), rest.split_first()) {
        rest = match letter {
            b'i' => {
                ids.push(Id(word));
                after
            }
            b'l' => after,
            b's' => &rest[string_words_len(rest)..],
            _ => break,
        };
        // A repeated operand is the last one.
        next += usize::from(letters.get(next + 1) != Some(&b'*'));
    }
    ids
}
