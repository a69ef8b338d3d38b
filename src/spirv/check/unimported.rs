//! Instructions that were not imported unchanged: either an omission explains them, or they are differences.

use hashbrown::{HashMap, HashSet};

use super::compare::Difference;
use super::composites;
use super::described::Projection;
use super::shapes::Shape;
use crate::model::TypeId;
use crate::omission::{Omission, Reason, Subject, Unimported};
use crate::spirv::operand::Field;
use crate::spirv::read::{Fact, Facts};
use crate::spirv::words::Id;

/// Lists differences for instructions that were not imported unchanged. Excepted are instructions whose records show
/// the change, and as many instructions with a type or layout as the description's omissions make `expected`.
pub(super) fn unimported(
    projection: &mut Projection<'_>,
    facts: &Facts<'_>,
    types: &HashMap<Id, TypeId>,
    unimported: &[Omission],
    mut expected: HashMap<Shape, usize>,
) -> Vec<Difference> {
    let mut differences = Vec::new();
    let mut excused = HashSet::new();
    for omission in unimported {
        let (Reason::Unimported(why), Subject::Instruction(id)) = (&omission.reason, omission.subject) else {
            continue;
        };
        let fact = facts.get(Id(id));
        let ty = types.get(&Id(id)).map(|&ty| projection.ty(ty));
        let shape = match why {
            Unimported::Untyped(_) if ty.is_none() => continue,
            Unimported::Untyped(_) | Unimported::NoParameterType => ty,
            // Records show these changes.
            Unimported::NameOnly(_)
            | Unimported::Format(_)
            | Unimported::NothingInlined
            | Unimported::LargerThanType => continue,
            _ => fact.and_then(|fact| layout_of(projection, facts, &fact)),
        };
        let has_left = shape.and_then(|shape| expected.get_mut(&shape)).filter(|left| **left > 0);
        // An instruction may be listed several times, but an omission excuses it as a whole.
        match has_left {
            _ if excused.contains(&id) => {}
            Some(left) => {
                *left -= 1;
                excused.insert(id);
            }
            None => differences.push(Difference {
                at: omission.names.at.clone(),
                subject: None,
                property: omission.property,
                what: omission.text(),
            }),
        }
    }
    differences
}

/// An instruction's name, offset and size, if it has a size.
fn layout_of(projection: &mut Projection<'_>, facts: &Facts<'_>, fact: &Fact<'_>) -> Option<Shape> {
    let bits = facts.number(fact, Field::Size)?;
    let offset = facts.number(fact, Field::Offset).unwrap_or_default();
    Some(composites::layout_shape(
        projection,
        &facts.text(fact, Field::Name).unwrap_or_default(),
        offset,
        bits,
    ))
}
