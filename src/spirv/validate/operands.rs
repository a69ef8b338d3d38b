//! Rules about single operands, which follow from the table.

use super::context::Check;
use super::rule::ValidationRule;
use crate::error::Count;
use crate::spirv::names::Enumeration;
use crate::spirv::opcodes as op;
use crate::spirv::operand::{ConstantType, CoreInstruction, Field, OperandKind, OperandRow, Referents};
use crate::spirv::read::Fact;
use crate::spirv::rows::InstructionRow;
use crate::spirv::table::InstructionName;
use crate::spirv::table::Set;
use crate::spirv::words::{Id, Instruction};

/// The operand that is checked.
#[derive(Clone, Copy)]
struct Spot<'s, 'a> {
    fact: &'s Fact<'a>,
    row: &'static OperandRow,
    /// The operand's index, counted from 0.
    index: usize,
}

/// Checks each operand, if the operand count is right. Returns whether all operands are valid.
pub(super) fn operands<'a>(check: &mut Check<'_, 'a>, fact: &Fact<'a>, row: &'static InstructionRow) -> bool {
    let mut count = fact.operands.len();
    if !row.takes(fact.set, count) && check.is_later(fact) {
        // What a later version adds is optional and last, so that the known operands come first.
        if let Some(known) = (0..count).rev().find(|&count| row.takes(fact.set, count)) {
            let what = format!("{} has {} there", fact.set.name(), Count(known, "operand"));
            check.find(ValidationRule::LaterVersion, fact, what);
            count = known;
        }
    }
    if !row.takes(fact.set, count) {
        let is_translators =
            row.name == InstructionName::ImportedEntity && count == 8 && fact.operands[2] == 0;
        let why = if is_translators { "; the LLVM translator writes a 0 after the tag" } else { "" };
        check.find(
            ValidationRule::OperandCount,
            fact,
            format!("it cannot have {}{why}", Count(count, "operand")),
        );
        return false;
    }
    let before = check.report.findings.len();
    for (index, &word) in fact.operands[..count].iter().enumerate() {
        if let Some(row) = row.operand(fact.set, index, count) {
            operand(check, Spot { fact, row, index }, word);
        }
    }
    check.report.findings.len() == before
}

/// Checks the result and its type.
pub(super) fn results<'a>(check: &mut Check<'_, 'a>, fact: &Fact<'a>) {
    for (what, id) in [("result", fact.result), ("result type", fact.result_type)] {
        if is_out_of_range(check, id) {
            let what = format!("the {what} is {id}, {}", range(check));
            check.find(ValidationRule::IdRange, fact, what);
        }
    }
    let layout = check.facts.layout();
    let ty = layout.definition(fact.result_type);
    if !ty.is_some_and(|ty| ty.opcode() == op::TYPE_VOID && ty.at < fact.at)
        && !layout.may_be_defined(fact.result_type)
    {
        let what = format!("the result type is {}, and not OpTypeVoid", check.describe(fact.result_type));
        check.find(ValidationRule::ResultType, fact, what);
    }
    if fact.with_forward && fact.set == Set::OpenCl {
        check.find(
            ValidationRule::ForwardReference,
            fact,
            "OpExtInstWithForwardRefsKHR is only for non-semantic sets",
        );
    }
    if fact.with_forward && fact.set.is_shader() {
        // In these sets, all operands are ids.
        let is_forward = |&word: &u32| match layout.definition(Id(word)) {
            Some(defined) => defined.at >= fact.at,
            None => true,
        };
        if !fact.operands.iter().any(is_forward) {
            let what = "all operands are defined before it; expected OpExtInst";
            check.find(ValidationRule::NoForwardReference, fact, what);
        }
    }
}

fn is_out_of_range(check: &Check<'_, '_>, id: Id) -> bool {
    id.0 == 0 || id.0 >= check.facts.layout().words().bound()
}

fn range(check: &Check<'_, '_>) -> String {
    format!("and ids are more than 0 and less than {}", check.facts.layout().words().bound())
}

fn operand<'a>(check: &mut Check<'_, 'a>, spot: Spot<'_, 'a>, word: u32) {
    let kind = spot.row.kind;
    let set = spot.fact.set;
    let id = Id(word);
    let value = if kind.is_literal(set) {
        Some(word)
    } else {
        let Some(defined) = defined(check, spot, id) else { return };
        // A wrong kind has no value that could be checked further.
        if let Some(wanted) = unlike(check, spot, id, defined) {
            let habit = producer_deviation(check, spot, defined)
                .map(|habit| format!("; the LLVM translator {habit}"));
            let what = format!("{} is not {wanted}{}", check.describe(id), habit.unwrap_or_default());
            find_at_operand(check, ValidationRule::OperandKind, spot, what);
            return;
        }
        let constant = check.facts.layout().constant(id);
        // A negative number of 32 bits is extended to 64 bits.
        constant.and_then(|constant| constant.value).map(|value| value as u32)
    };
    if let (OperandKind::Enumerant(enumeration), Some(value)) = (kind, value)
        && !enumeration.has(value, set)
    {
        unknown(check, spot, enumeration, value);
    }
}

/// Reports a number outside the enumeration.
fn unknown<'a>(check: &mut Check<'_, 'a>, spot: Spot<'_, 'a>, enumeration: Enumeration, value: u32) {
    if check.is_later(spot.fact) {
        let what = format!("the set lists no value {value}");
        return find_at_operand(check, ValidationRule::LaterVersion, spot, what);
    }
    let (rule, what) = match (enumeration, value) {
        (Enumeration::StorageClass, u32::MAX) => (
            ValidationRule::Enumerant,
            "0xffffffff is not a storage class; the LLVM translator writes it where there is no address space"
                .into(),
        ),
        (Enumeration::Operation, 10..=167) => (
            ValidationRule::Enumerant,
            format!("the set lists no operation {value}; the LLVM translator has further operations"),
        ),
        (Enumeration::Operation, 10_000..) if spot.fact.set == Set::Shader200 => (
            ValidationRule::Enumerant,
            format!(
                "the set lists no operation {value}; ROCm's translator has further operations from 10000 on"
            ),
        ),
        _ if enumeration.is_mask() => {
            let set = spot.fact.set;
            let text = enumeration.text(value, set);
            (ValidationRule::Flags, format!("{} does not define all flags of {text}", set.name()))
        }
        _ => (ValidationRule::Enumerant, format!("the set lists no value {value}")),
    };
    find_at_operand(check, rule, spot, what);
}

/// The id's definition, if it can be checked.
fn defined<'a>(check: &mut Check<'_, 'a>, spot: Spot<'_, 'a>, id: Id) -> Option<Instruction<'a>> {
    let layout = check.facts.layout();
    let fact = spot.fact;
    if is_out_of_range(check, id) {
        let what = format!("{id}, {}", range(check));
        find_at_operand(check, ValidationRule::IdRange, spot, what);
        return None;
    }
    let Some(defined) = layout.definition(id) else {
        if !layout.may_be_defined(id) {
            find_at_operand(check, ValidationRule::Defined, spot, format!("nothing defines {id}"));
        }
        return None;
    };
    let may_be_later = spot.row.forward || fact.with_forward && fact.set.is_shader();
    if defined.at >= fact.at && !may_be_later {
        // In that set, a composite type's members precede the type.
        let named = check.facts.fact(defined).and_then(|named| named.name());
        let is_member = matches!(
            fact.name(),
            Some(
                InstructionName::TypeMember
                    | InstructionName::TypeInheritance
                    | InstructionName::FunctionDeclaration
                    | InstructionName::Function
            )
        );
        let is_habit = is_member
            && matches!(spot.row.field, Field::Scope | Field::Child)
            && matches!(named, Some(InstructionName::TypeComposite | InstructionName::TypeTemplate));
        let habit = if is_habit { "; the LLVM translator has members before their type" } else { "" };
        let what = format!("{} comes later, at word {}{habit}", check.describe(id), defined.at);
        find_at_operand(check, ValidationRule::ForwardReference, spot, what);
    }
    // An id outside functions is visible everywhere.
    let is_local = defined.at >= layout.globals_end() && defined.opcode() != op::FUNCTION;
    if is_local
        && let Some(function) = layout.function_at(fact.at)
        && !function.at.contains(&defined.at)
    {
        let what = format!("{} is not defined in the function {}", check.describe(id), function.id);
        find_at_operand(check, ValidationRule::OtherFunction, spot, what);
    } else if is_local && defined.at < fact.at && !layout.dominates(defined.at, fact.at) {
        let what = format!("{} does not dominate it", check.describe(id));
        find_at_operand(check, ValidationRule::Dominance, spot, what);
    }
    // An `OpSampledImage` result may not be used by debug instructions.
    if defined.opcode() == op::SAMPLED_IMAGE {
        let what = format!("it is {}", check.describe(id));
        find_at_operand(check, ValidationRule::SampledImage, spot, what);
    }
    Some(defined)
}

/// Describes the permitted instructions, if the operand refers to a different instruction.
fn unlike<'a>(
    check: &mut Check<'_, 'a>,
    spot: Spot<'_, 'a>,
    id: Id,
    defined: Instruction<'a>,
) -> Option<&'static str> {
    // An instruction from another set is not a debug instruction here.
    let named = check.facts.fact(defined).filter(|named| named.set == spot.fact.set);
    let named = named.and_then(|named| named.name());
    if spot.row.none && named == Some(InstructionName::InfoNone) {
        return None;
    }
    let names = match spot.row.kind {
        OperandKind::Id(names) => names,
        kind => {
            let (core, wanted) = match kind {
                OperandKind::AnyNumber => {
                    (CoreInstruction::AnyConstant(ConstantType::Bits32), "a constant of 32 bits")
                }
                _ => (CoreInstruction::Constant(ConstantType::Bits32), "an OpConstant of 32 bits"),
            };
            if is_core(check, core, id, defined) {
                return None;
            }
            return unless_removed(check, spot, id, defined, wanted);
        }
    };
    let Referents { text, debug, core } = names;
    if core.iter().any(|&core| is_core(check, core, id, defined)) {
        return None;
    }
    let ty = defined.result_type().and_then(|ty| check.facts.layout().definition(ty));
    let is_pointer = ty.is_some_and(|ty| ty.opcode() == op::TYPE_POINTER);
    // glslang declares pointer parameters, so that this is only a note.
    if spot.fact.name() == Some(InstructionName::Declare)
        && spot.row.field == Field::Variable
        && defined.opcode() == op::FUNCTION_PARAMETER
        && is_pointer
    {
        let what = format!("{} stands for {text}", check.describe(id));
        find_at_operand(check, ValidationRule::DeclaredParameter, spot, what);
        return None;
    }
    match named {
        Some(name) if debug.contains(&name) => None,
        _ => unless_removed(check, spot, id, defined, text),
    }
}

/// Notes a `DebugInfoNone` instead of the described instruction; for any other instruction, returns the description.
fn unless_removed<'a>(
    check: &mut Check<'_, 'a>,
    spot: Spot<'_, 'a>,
    id: Id,
    defined: Instruction<'a>,
    wanted: &'static str,
) -> Option<&'static str> {
    let named = check.facts.fact(defined).filter(|named| named.set == spot.fact.set);
    if named.and_then(|named| named.name()) != Some(InstructionName::InfoNone) {
        return Some(wanted);
    }
    let habit =
        producer_deviation(check, spot, defined).map(|habit| format!("; the LLVM translator {habit}"));
    let what = format!("{} stands for {wanted}{}", check.describe(id), habit.unwrap_or_default());
    find_at_operand(check, ValidationRule::Removed, spot, what);
    None
}

/// The instruction that LLVM's translator is known to refer to instead.
fn producer_deviation<'a>(
    check: &Check<'_, 'a>,
    spot: Spot<'_, 'a>,
    defined: Instruction<'a>,
) -> Option<&'static str> {
    let named = check.facts.fact(defined).and_then(|named| named.name());
    Some(match (spot.row.field, named) {
        (Field::Scope | Field::Parent | Field::Child, Some(InstructionName::TypeTemplate)) => {
            "names the template instead of its target"
        }
        (Field::Member, Some(InstructionName::FunctionDeclaration)) => "has declarations as members",
        (Field::Text | Field::LinkageName, Some(InstructionName::InfoNone)) => {
            "writes this where there is no string"
        }
        (Field::UnderlyingType, None) if defined.opcode() == op::TYPE_VOID => {
            "writes this where there is no type"
        }
        (Field::Value, None) if defined.opcode() == op::CONSTANT_NULL => "writes this for 0",
        _ => return None,
    })
}

fn is_core<'a>(check: &Check<'_, 'a>, core: CoreInstruction, id: Id, defined: Instruction<'a>) -> bool {
    let layout = check.facts.layout();
    let opcode = defined.opcode();
    // The second operand of the integer type is its signedness.
    let is_signed = |constant: Instruction<'_>| {
        let ty = constant.result_type().and_then(|ty| layout.definition(ty));
        ty.is_some_and(|ty| ty.operands().get(1).is_some_and(|&signed| signed != 0))
    };
    let has_width = |width| {
        let bits = layout.constant(id).and_then(|constant| constant.integer_bits);
        match width {
            ConstantType::Bits32 => bits == Some(32),
            ConstantType::Unsigned32 => bits == Some(32) && !is_signed(defined),
            ConstantType::Bits32Or64 => matches!(bits, Some(32 | 64)),
            ConstantType::Integer => bits.is_some(),
            ConstantType::Any => true,
        }
    };
    match core {
        CoreInstruction::String => opcode == op::STRING,
        CoreInstruction::Void => opcode == op::TYPE_VOID,
        CoreInstruction::Constant(width) => opcode == op::CONSTANT && has_width(width),
        CoreInstruction::AnyConstant(width) => op::is_constant(opcode) && has_width(width),
        CoreInstruction::Boolean => matches!(opcode, op::CONSTANT_TRUE | op::CONSTANT_FALSE),
        CoreInstruction::Function => opcode == op::FUNCTION,
        CoreInstruction::Variable => opcode == op::VARIABLE,
        CoreInstruction::UntypedVariable => opcode == op::UNTYPED_VARIABLE,
        CoreInstruction::Integer => {
            let ty = defined.result_type().and_then(|ty| layout.definition(ty));
            ty.is_some_and(|ty| ty.opcode() == op::TYPE_INT)
        }
        CoreInstruction::Result => check.facts.fact(defined).is_none(),
    }
}

fn find_at_operand<'a>(check: &mut Check<'_, 'a>, rule: ValidationRule, spot: Spot<'_, 'a>, what: String) {
    let Spot { fact, row, index } = spot;
    let text = if row.repeat.is_many() {
        format!("{} (operand {})", row.field.text(), index + 1)
    } else {
        row.field.text().into()
    };
    check.find_in(rule, fact, Some((row.field, text)), what);
}
