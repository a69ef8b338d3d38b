//! Rules about the module, and about instructions in general.

use super::context::{Check, located};
use super::rule::ValidationRule;
use crate::error::At;
use crate::spirv::layout::{is_of_graphs, unknown_set};
use crate::spirv::opcodes as op;
use crate::spirv::table::Set;
use crate::spirv::uses::operand_ids;
use crate::spirv::words::{Id, Instruction, string_bytes};

/// Checks rules about the module, and about instructions in general.
pub(super) fn module(check: &mut Check<'_, '_>) {
    let layout = check.facts.layout();
    let mut has_extension = layout.words().version() >= (1, 6);
    let mut has_relaxed_extension = false;
    let mut relaxed = None;
    for instruction in layout.words().instructions() {
        match (instruction.opcode(), instruction.operands()) {
            (op::EXTENSION, name) | (op::CONDITIONAL_EXTENSION, [_, name @ ..]) => {
                match string_bytes(name, usize::MAX).as_deref() {
                    Some(b"SPV_KHR_non_semantic_info") => has_extension = true,
                    Some(b"SPV_KHR_relaxed_extended_instruction") => has_relaxed_extension = true,
                    Some(b"SPV_INTEL_debug_module") => check.has_debug_module = true,
                    _ => {}
                }
            }
            (op::EXT_INST_IMPORT, name)
                if string_bytes(name, usize::MAX).is_some_and(|it| is_of_graphs(&it)) =>
            {
                let what = "the set describes graphs: its instructions are not checked";
                check.find_at(ValidationRule::GraphSet, located(instruction), what.into());
            }
            (op::EXT_INST, _) => set(check, instruction),
            (op::EXT_INST_FORWARD, _) => {
                set(check, instruction);
                relaxed = relaxed.or(check.facts.fact(instruction));
            }
            _ => {}
        }
    }
    if let Some(fact) = relaxed.filter(|fact| fact.set.is_shader() && !has_relaxed_extension) {
        let what = "SPV_KHR_relaxed_extended_instruction is not declared";
        check.find(ValidationRule::RelaxedExtension, &fact, what);
    }
    for (import, name) in layout.later_sets() {
        let place = layout.definition(import).map_or(At::default(), located);
        let set = layout.set(import).map_or("", Set::name);
        check.find_at(ValidationRule::LaterVersion, place, format!("{name} is read as {set}"));
    }
    for instruction in layout.again() {
        let Some(id) = instruction.result() else { continue };
        let first = layout.definition(id).map_or(0, |first| first.at);
        // Only duplicates that involve a debug instruction are reported.
        if check.facts.fact(instruction).is_some() || check.facts.get(id).is_some() {
            check.find_at(
                ValidationRule::DefinedOnce,
                located(instruction),
                format!("word {first} has defined {id}"),
            );
        }
    }
    for (import, name, count) in layout.unknown_sets() {
        let place = layout.definition(import).map_or(At::default(), located);
        check.find_at(ValidationRule::UnknownSet, place, unknown_set(name, count));
    }
    for (import, set) in layout.sets() {
        if set.is_shader() && !has_extension {
            let place = layout.definition(import).map_or(At::default(), located);
            check.find_at(ValidationRule::Extension, place, "the extension is not declared".into());
        }
    }
}

/// `SemanticUse`: searches all other instructions for uses of debug instructions' results.
pub(super) fn uses(check: &mut Check<'_, '_>) {
    let facts = check.facts;
    let layout = facts.layout();
    // A table by id makes the search below linear; its size does not depend on a bound that the header only claims.
    let mut results = vec![false; layout.highest().0.min(layout.words().all().len() as u32) as usize + 1];
    let mut is_needed = false;
    for fact in facts.iter().filter(|fact| fact.set.is_shader()) {
        if let Some(result) = results.get_mut(fact.result.0 as usize) {
            (*result, is_needed) = (true, true);
        }
    }
    if !is_needed {
        return;
    }
    let is_result = |word: u32| results.get(word as usize) == Some(&true);
    for instruction in layout.words().instructions() {
        // Most instructions contain no word that equals such a result; in nearly all the rest, the word is a literal.
        let opcode = instruction.opcode();
        if opcode == op::NAME || !instruction.words[1..].iter().any(|&word| is_result(word)) {
            continue;
        }
        let ids = match opcode {
            op::EXT_INST | op::EXT_INST_FORWARD if !has_ids(check, instruction) => continue,
            _ => operand_ids(instruction),
        };
        let mut ids = instruction.result_type().into_iter().chain(ids);
        if let Some(id) = ids.find(|id| is_result(id.0) && facts.get(*id).is_some()) {
            let name = op::name(opcode).map_or_else(|| format!("opcode {opcode}"), Into::into);
            let what = format!("{} is an operand of an {name}", check.describe(id));
            check.find_at(ValidationRule::SemanticUse, located(instruction), what);
        }
    }
}

/// Whether an extended instruction's operands are all ids, and the instruction has semantics: only in `GLSL.std.450`.
/// Other sets have literals, or are unknown.
fn has_ids(check: &Check<'_, '_>, instruction: Instruction<'_>) -> bool {
    let set = instruction.operands().first().and_then(|&set| check.facts.layout().definition(Id(set)));
    let set = set.filter(|set| set.opcode() == op::EXT_INST_IMPORT);
    set.and_then(|set| string_bytes(set.operands(), usize::MAX)).as_deref() == Some(b"GLSL.std.450")
}

/// Checks that an extended instruction's set is imported.
fn set(check: &mut Check<'_, '_>, instruction: Instruction<'_>) {
    let layout = check.facts.layout();
    let Some(&set) = instruction.operands().first() else { return };
    let defined = layout.definition(Id(set));
    let is_import = defined.is_some_and(|it| it.opcode() == op::EXT_INST_IMPORT && it.at < instruction.at);
    if !is_import && !layout.may_be_defined(Id(set)) {
        check.find_at(
            ValidationRule::Set,
            located(instruction),
            format!("{} is not an OpExtInstImport", Id(set)),
        );
    }
}
