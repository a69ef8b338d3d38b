//! Indexes in values and declarations: section 4.8, with the same meaning as in `OpAccessChain`.

use super::context::Check;
use super::entities;
use super::rule::ValidationRule;
use crate::error::Count;
use crate::spirv::names::flags;
use crate::spirv::operand::Field;
use crate::spirv::read::Fact;
use crate::spirv::table::InstructionName;
use crate::spirv::words::Id;

/// Limit for a type's typedefs and qualifiers.
const MOST_TYPEDEFS: usize = 64;

/// A type that an index selects from.
enum Selected<'a> {
    /// A type with parts: their number, if it is known, and the part's type.
    Parts(Option<u64>, Option<Fact<'a>>),
    /// A type without parts.
    Scalar,
    /// A type whose parts are unknown here.
    Unknown,
}

/// Walks the variable's type along the indexes in a value or declaration. The walk ends at a type whose parts are
/// unknown.
pub(super) fn indexes<'a>(check: &mut Check<'_, 'a>, fact: &Fact<'a>) {
    if !matches!(fact.name(), Some(InstructionName::Value | InstructionName::Declare)) {
        return;
    }
    let facts = check.facts;
    let indexes: Vec<Id> = fact.ids(Field::Index).collect();
    if indexes.is_empty() {
        return;
    }
    let variable = facts.named(fact, Field::LocalVariable);
    let mut ty = variable.and_then(|variable| facts.named(&variable, Field::Type));
    // The dimension that the next index selects from, in an array with several dimensions.
    let mut dimension = 0;
    for (position, &id) in indexes.iter().enumerate() {
        let value = facts.layout().constant(id).and_then(|constant| constant.value);
        let Some(current) = ty else { return };
        let (selected, current) = selected(check, current, value, &mut dimension);
        let what = match selected {
            Selected::Unknown => return,
            Selected::Scalar => {
                format!("{} has no parts for index {position}", check.describe(current.result))
            }
            Selected::Parts(count, part) => match (count, value) {
                (Some(count), Some(value)) if value >= count => {
                    let value = value as i64;
                    format!(
                        "index {position} is {value}: {} has {}",
                        check.describe(current.result),
                        Count(count, "part")
                    )
                }
                _ => {
                    ty = part;
                    continue;
                }
            },
        };
        return check.find_of(ValidationRule::Index, fact, Field::Index, what);
    }
}

/// What an index selects from a type, and that type without typedefs and qualifiers.
fn selected<'a>(
    check: &mut Check<'_, 'a>,
    mut ty: Fact<'a>,
    index: Option<u64>,
    dimension: &mut usize,
) -> (Selected<'a>, Fact<'a>) {
    let facts = check.facts;
    // Forward references can form a typedef cycle.
    for _ in 0..MOST_TYPEDEFS {
        match ty.name() {
            Some(InstructionName::Typedef | InstructionName::TypeQualifier) => {
                match facts.named(&ty, Field::BaseType) {
                    Some(base) => ty = base,
                    None => return (Selected::Unknown, ty),
                }
            }
            _ => break,
        }
    }
    let number = |field| facts.number(&ty, field);
    let selected = match ty.name() {
        Some(InstructionName::TypeBasic | InstructionName::TypeEnum) => Selected::Scalar,
        Some(InstructionName::TypeVector) => {
            Selected::Parts(number(Field::ComponentCount), facts.named(&ty, Field::BaseType))
        }
        Some(InstructionName::TypeVectorId) => {
            Selected::Parts(number(Field::ComponentCount), facts.named(&ty, Field::ComponentType))
        }
        // An OpAccessChain index selects a column, while a row-major matrix has its rows as vectors.
        Some(InstructionName::TypeMatrix) if number(Field::ColumnMajor) == Some(1) => {
            Selected::Parts(number(Field::VectorCount), facts.named(&ty, Field::VectorType))
        }
        Some(InstructionName::TypeArray) => element(check, &ty, dimension),
        Some(InstructionName::TypeComposite) => member_at(check, &ty, index),
        _ => Selected::Unknown,
    };
    (selected, ty)
}

/// An array's element, or its remaining dimensions.
fn element<'a>(check: &mut Check<'_, 'a>, ty: &Fact<'a>, dimension: &mut usize) -> Selected<'a> {
    let facts = check.facts;
    // Version 200 has subranges instead of counts.
    let Some(first) = ty.operand(Field::ComponentCount) else { return Selected::Unknown };
    let dimensions = match check.parts.get(&ty.result) {
        Some(&(count, _)) => count,
        None => {
            let count = entities::dimensions(check, ty) as u64;
            check.parts.insert(ty.result, (count, true));
            count
        }
    };
    let count = ty.operands.get(first.index + *dimension).and_then(|&id| facts.layout().constant(Id(id)));
    // 0 stands for an unknown element count.
    let count = count.and_then(|count| count.value).filter(|&count| count != 0);
    *dimension += 1;
    if (*dimension as u64) < dimensions {
        return Selected::Parts(count, Some(*ty));
    }
    *dimension = 0;
    Selected::Parts(count, facts.named(ty, Field::BaseType))
}

/// A composite type's member.
fn member_at<'a>(check: &mut Check<'_, 'a>, ty: &Fact<'a>, index: Option<u64>) -> Selected<'a> {
    let facts = check.facts;
    let Some(first) = ty.operand(Field::Member) else { return Selected::Unknown };
    let &mut (count, is_plain) = check.parts.entry(ty.result).or_insert_with(|| {
        let mut count = 0;
        let mut is_plain = true;
        for member in ty.ids(Field::Member).map(|member| facts.get(member)) {
            let flags = member.and_then(|member| facts.number(&member, Field::Flags)).unwrap_or_default();
            let is_data = member.is_some_and(|member| member.name() == Some(InstructionName::TypeMember));
            let is_static = flags & u64::from(flags::STATIC_MEMBER) != 0;
            let is_method = member.is_some_and(|member| member.name() == Some(InstructionName::Function));
            count += u64::from(!is_method);
            is_plain &= is_data && !is_static;
        }
        (count, is_plain)
    });
    if count == 0 {
        return Selected::Unknown;
    }
    // The specification does not say how base classes, methods and static members count, so that the member is unknown
    // if there are any.
    let member = index.and_then(|index| usize::try_from(index).ok()).filter(|_| is_plain);
    let member = member.and_then(|index| ty.operands[first.index..].get(index));
    let part = member.and_then(|&member| facts.get(Id(member)));
    Selected::Parts(Some(count), part.and_then(|member| facts.named(&member, Field::Type)))
}
