//! Rules about where instructions are placed: section 2 in the specifications, and `SPV_KHR_non_semantic_info`.

use super::context::Check;
use super::rule::ValidationRule;
use crate::spirv::opcodes as op;
use crate::spirv::operand::Field;
use crate::spirv::read::Fact;
use crate::spirv::table::InstructionName;
use crate::spirv::table::Set;
use crate::spirv::words::{HEADER, Id, Instruction};

/// What precedes an instruction in its function.
#[derive(Default)]
struct Before<'a> {
    /// Whether a block is open.
    in_block: bool,
    /// Whether a block has occurred.
    was_block: bool,
    /// Whether the previous instruction was a merge instruction, which only a terminator may follow.
    merges: bool,
    /// A non-semantic set's instructions in this block.
    facts: Vec<Fact<'a>>,
}

/// Checks all instructions in order.
pub(super) fn places(check: &mut Check<'_, '_>) {
    let layout = check.facts.layout();
    let is_before = |opcode| {
        let is_other = matches!(opcode, op::EXT_INST | op::EXT_INST_FORWARD | op::LINE | op::NO_LINE);
        // An unknown instruction's section is unknown.
        !is_other && op::results(opcode).is_some()
    };
    let globals = layout.words().between(HEADER..layout.globals_end());
    let last = globals.filter(|it| is_before(it.opcode())).last().map_or(0, |last| last.at);
    let mut functions = layout.functions().iter().peekable();
    let mut function = None;
    let mut before = Before::default();
    let mut continued = None;
    // Many producers interleave such instructions, so that all of them share one note.
    let mut early = None;
    for instruction in layout.words().instructions() {
        let word = instruction.at;
        while let Some(next) = functions.next_if(|next| next.at.start <= word) {
            function = Some(next);
            before = Before::default();
        }
        let is_in = function.is_some_and(|function| word < function.at.end);
        let fact = check.facts.fact(instruction);
        continues(check, fact.as_ref(), &mut continued);
        let place = fact.and_then(|fact| fact.name()).map(|name| name.is_in_function());
        match fact.zip(place) {
            Some((fact, false)) => {
                if word >= layout.globals_end() {
                    check.find(
                        ValidationRule::PlaceGlobals,
                        &fact,
                        "it is after the start of the first function",
                    );
                } else if word < last {
                    early = early.or(Some((fact, 0))).map(|(first, count)| (first, count + 1));
                }
            }
            Some((fact, true)) if !is_in => {
                check.find(ValidationRule::PlaceBody, &fact, "it is in no function");
            }
            Some((fact, true)) => body(check, fact, &mut before),
            None if is_in => step(check, instruction, &mut before),
            None => {}
        }
    }
    if let Some((first, count)) = early {
        let what = format!(
            "it and {} more are among the types, constants and global variables, which go on to word {last}",
            count - 1
        );
        check.find(ValidationRule::Interleaved, &first, what);
    }
}

/// Processes an instruction in a function, other than a debug instruction.
fn step<'a>(check: &mut Check<'_, 'a>, instruction: Instruction<'a>, before: &mut Before<'a>) {
    let opcode = instruction.opcode();
    match opcode {
        op::LABEL => {
            *before = Before { in_block: true, was_block: true, ..Before::default() };
        }
        // Only now is it known that earlier debug instructions precede the block's start.
        _ if op::begins_block(opcode) => {
            for fact in core::mem::take(&mut before.facts) {
                let name = op::name(opcode).unwrap_or_default();
                let what = format!("it is before an {name} of its block, at word {}", instruction.at);
                check.find(ValidationRule::PlaceBlock, &fact, what);
            }
        }
        _ if op::is_terminator(opcode) => before.in_block = false,
        _ => {}
    }
    if !matches!(opcode, op::LINE | op::NO_LINE) {
        before.merges = op::is_merge(opcode);
    }
}

/// Checks a debug instruction in a function.
fn body<'a>(check: &mut Check<'_, 'a>, fact: Fact<'a>, before: &mut Before<'a>) {
    if before.merges {
        check.find(
            ValidationRule::PlaceBlock,
            &fact,
            "it is between a merge instruction and the end of the block",
        );
    }
    let is_scope = matches!(fact.name(), Some(InstructionName::Scope | InstructionName::NoScope));
    match fact.set {
        // `spirv-opt` leaves such instructions behind, and they apply to nothing.
        _ if is_scope && before.was_block && !before.in_block => {
            check.find(ValidationRule::AfterBlock, &fact, "it is after the end of a block");
        }
        _ if fact.set.is_shader() && !before.in_block => {
            check.find(ValidationRule::PlaceBlock, &fact, "it is in no block")
        }
        Set::Shader | Set::Shader101 | Set::Shader200 => before.facts.push(fact),
        Set::OpenCl if !before.was_block => {
            check.find(ValidationRule::BeforeLabel, &fact, "readers of the LLVM translator fail on it");
        }
        Set::OpenCl => {}
    }
}

/// Checks that a text continuation directly follows the continued source.
fn continues<'a>(check: &mut Check<'_, 'a>, fact: Option<&Fact<'a>>, last: &mut Option<Id>) {
    let before = last.take();
    let Some(fact) = fact else { return };
    match fact.name() {
        Some(InstructionName::Source) if fact.operand(Field::Text).is_some() => *last = Some(fact.import),
        Some(InstructionName::SourceContinued) => {
            if before != Some(fact.import) {
                let what = "the instruction before it is not a source with text";
                check.find(ValidationRule::SourceContinued, fact, what);
            }
            *last = Some(fact.import);
        }
        _ => {}
    }
}
