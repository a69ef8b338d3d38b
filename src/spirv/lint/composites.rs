//! Members of composite types.

use super::context::{Context, Subject};
use super::sizes::is_static;
use crate::error::Count;
use crate::lint::LintCode;
use crate::spirv::operand::Field;
use crate::spirv::table::InstructionName;

/// Reports members that end after their type.
pub(super) fn members(context: &mut Context<'_, '_>) {
    let facts = context.facts;
    for ty in facts.iter().filter(|fact| fact.name() == Some(InstructionName::TypeComposite)) {
        // A size of 0 is unknown: glslang and Slang write it.
        let Some(size) = facts.number(&ty, Field::Size).filter(|&size| size != 0) else { continue };
        for member in ty.ids(Field::Member).filter_map(|member| facts.get(member)) {
            let is_data = member.name() == Some(InstructionName::TypeMember) && !is_static(facts, &member);
            let is_base = member.name() == Some(InstructionName::TypeInheritance);
            if !is_data && !is_base {
                continue;
            }
            let number = |field| facts.number(&member, field);
            let (Some(offset), Some(bits)) = (number(Field::Offset), number(Field::Size)) else { continue };
            let end = offset.saturating_add(bits);
            if end <= size {
                continue;
            }
            let [this, of_type] = [context.describe(member.result), context.describe(ty.result)];
            let subject = Subject { declared: Some(member.result), ..Subject::default() };
            context.find(
                LintCode::MemberBeyondType,
                member.at,
                &subject,
                format!("{this} has bits {offset} up to {end}, and its type has {}", Count(size, "bit")),
                vec![format!("{of_type} at word {} has {}", ty.at, Count(size, "bit"))],
            );
        }
    }
}
