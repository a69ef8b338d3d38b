//! Rules about instruction numbers: numbers that a set lacks, and numbers that a producer is known to confuse.

use super::context::Check;
use super::rule::ValidationRule;
use crate::spirv::opcodes as op;
use crate::spirv::read::Fact;
use crate::spirv::rows::InstructionRow;
use crate::spirv::table::InstructionName;
use crate::spirv::table::Set;
use crate::spirv::words::Id;

/// The row for the instruction's operands, if the instruction is known.
pub(super) fn row<'a>(check: &mut Check<'_, 'a>, fact: &Fact<'a>) -> Option<&'static InstructionRow> {
    let needs_extension = (fact.set, fact.name()) == (Set::OpenCl, Some(InstructionName::Module));
    if needs_extension && !check.has_debug_module {
        let what = "SPV_INTEL_debug_module, which adds the instruction, is not declared";
        check.find(ValidationRule::Instruction, fact, what);
        return None;
    }
    let Some(name) = fact.name() else {
        if check.is_later(fact) {
            let what = format!("{} has no instruction {}", fact.set.name(), fact.number);
            check.find(ValidationRule::LaterVersion, fact, what);
            return None;
        }
        let mut what = format!("{} has no instruction {}", fact.set.name(), fact.number);
        // The number may exist in a later set, which the message then names.
        let later = Set::ALL.into_iter().filter(|set| set.includes(fact.set));
        if let Some((set, name)) =
            later.filter_map(|set| Some((set, InstructionName::numbered(set, fact.number)?))).next()
        {
            what += &format!("; {} has: {}", set.name(), name.text());
        }
        check.find(ValidationRule::Instruction, fact, what);
        return None;
    };
    let meant = match name {
        // A pack's source is where a template's name is.
        InstructionName::TypeTemplateTemplateParameter if is_source(check, fact, 1) => {
            InstructionName::TypeTemplateParameterPack
        }
        InstructionName::TypeTemplateParameterPack
            if is_string(check, fact, 1) && is_source(check, fact, 2) =>
        {
            InstructionName::TypeTemplateTemplateParameter
        }
        _ => return Some(name.row()),
    };
    let what = format!(
        "its operands are those of {}, number {}; the LLVM translator has the two the other way round",
        meant.text(),
        meant.number(fact.set).unwrap_or_default(),
    );
    check.find(ValidationRule::TemplateNumbers, fact, what);
    Some(meant.row())
}

/// Whether the operand refers to a source or a `DebugInfoNone`.
fn is_source<'a>(check: &Check<'_, 'a>, fact: &Fact<'a>, index: usize) -> bool {
    let named = fact.operands.get(index).and_then(|&word| check.facts.get(Id(word)));
    named.is_some_and(|named| {
        matches!(named.name(), Some(InstructionName::Source | InstructionName::InfoNone))
    })
}

fn is_string<'a>(check: &Check<'_, 'a>, fact: &Fact<'a>, index: usize) -> bool {
    let named = fact.operands.get(index).and_then(|&word| check.facts.layout().definition(Id(word)));
    named.is_some_and(|named| named.opcode() == op::STRING)
}
