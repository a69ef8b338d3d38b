//! Sizes and parts of debug types, and sizes of the types of values.

use hashbrown::HashMap;

use crate::spirv::opcodes as op;
use crate::spirv::operand::Field;
use crate::spirv::read::{Fact, Facts};
use crate::spirv::table::InstructionName;
use crate::spirv::words::{Id, Instruction};

/// Limit for a chain of types. A longer chain, or a cycle, has an unknown type at its end.
const MOST_TYPES: usize = 64;

/// Encodings of basic types, section 3.3.
pub(super) const ADDRESS: u64 = 1;
pub(super) const BOOLEAN: u64 = 2;
pub(super) const FLOAT: u64 = 3;
pub(super) const LAST: u64 = 7;

/// The type without typedefs and qualifiers; for a template, the instantiated type.
pub(super) fn plain<'a>(facts: &Facts<'a>, mut ty: Fact<'a>) -> Option<Fact<'a>> {
    for _ in 0..MOST_TYPES {
        let next = match ty.name()? {
            InstructionName::Typedef | InstructionName::TypeQualifier => Field::BaseType,
            InstructionName::TypeTemplate => Field::Target,
            _ => return Some(ty),
        };
        ty = facts.named(&ty, next)?;
    }
    None
}

/// Number of elements in each dimension of an array; `None` for an unknown number. Version 200 has subranges instead.
pub(super) fn counts(facts: &Facts<'_>, array: &Fact<'_>) -> Vec<Option<u64>> {
    let count = |id| facts.layout().constant(id).and_then(|constant| constant.value);
    let of_subrange = |id| {
        let subrange = facts.get(id)?;
        facts.number(&subrange, Field::Count)
    };
    let counts = array.ids(Field::ComponentCount).map(count);
    let counts = counts.chain(array.ids(Field::Subrange).map(of_subrange));
    counts.map(|count| count.filter(|&count| count != 0)).collect()
}

/// Size of a debug type in bits; `None` if the type has no known size.
pub(super) fn bits<'a>(facts: &Facts<'a>, ty: Fact<'a>) -> Option<u64> {
    let mut ty = plain(facts, ty)?;
    let mut count = 1u64;
    for _ in 0..MOST_TYPES {
        let (times, element) = match ty.name()? {
            InstructionName::TypeBasic | InstructionName::TypeEnum | InstructionName::TypeComposite => {
                // glslang and Slang write 0 for an unknown size.
                let bits = facts.number(&ty, Field::Size).filter(|&bits| bits != 0)?;
                return count.checked_mul(bits);
            }
            InstructionName::TypeVector => (facts.number(&ty, Field::ComponentCount)?, Field::BaseType),
            InstructionName::TypeMatrix => (facts.number(&ty, Field::VectorCount)?, Field::VectorType),
            InstructionName::TypeArray => {
                let mut product = 1u64;
                let counts = counts(facts, &ty);
                if counts.is_empty() {
                    return None;
                }
                for count in counts {
                    product = product.checked_mul(count?)?;
                }
                (product, Field::BaseType)
            }
            _ => return None,
        };
        count = count.checked_mul(times)?;
        ty = plain(facts, facts.named(&ty, element)?)?;
    }
    None
}

/// Size of a value's type in bits, without padding; `None` for booleans, pointers, structures and handles.
pub(super) fn value_bits(facts: &Facts<'_>, ty: Id) -> Option<u64> {
    let layout = facts.layout();
    let mut ty = layout.definition(ty)?;
    let mut count = 1u64;
    for _ in 0..MOST_TYPES {
        let element = match (ty.opcode(), ty.operands()) {
            (op::TYPE_INT | op::TYPE_FLOAT, &[bits, ..]) => return count.checked_mul(u64::from(bits)),
            (op::TYPE_VECTOR | op::TYPE_MATRIX, &[element, times, ..]) => {
                count = count.checked_mul(u64::from(times))?;
                element
            }
            (op::TYPE_ARRAY, &[element, times, ..]) => {
                count = count.checked_mul(layout.constant(Id(times))?.value?)?;
                element
            }
            _ => return None,
        };
        ty = layout.definition(Id(element))?;
    }
    None
}

/// The type of an instruction's result.
pub(super) fn type_of(facts: &Facts<'_>, id: Id) -> Option<Id> {
    facts.layout().definition(id)?.result_type()
}

/// The type that a pointer type points to; `None` for other types and for untyped pointers.
pub(super) fn pointee(facts: &Facts<'_>, pointer: Id) -> Option<Id> {
    let pointer = facts.layout().definition(pointer)?;
    match (pointer.opcode(), pointer.operands()) {
        (op::TYPE_POINTER, &[_, pointee, ..]) => Some(Id(pointee)),
        _ => None,
    }
}

/// The types of a structure's members, or nothing.
pub(super) fn members<'a>(structure: Instruction<'a>) -> &'a [u32] {
    if structure.opcode() == op::TYPE_STRUCT { structure.operands() } else { &[] }
}

/// Members of composite types by type. A type is decoded once, however many variables have it.
#[derive(Default)]
pub(super) struct Members<'a> {
    known: HashMap<Id, Vec<Fact<'a>>>,
    /// Number of dimensions by array type.
    dimensions: HashMap<Id, usize>,
}

impl<'a> Members<'a> {
    /// Returns the number of dimensions of an array.
    fn dimensions(&mut self, array: &Fact<'a>) -> usize {
        let count = || array.ids(Field::ComponentCount).count() + array.ids(Field::Subrange).count();
        *self.dimensions.entry(array.result).or_insert_with(count)
    }

    /// The data members; `None` for a type with base classes or static members, whose positions are unknown.
    pub fn of_composite(&mut self, facts: &Facts<'a>, composite: &Fact<'a>) -> &[Fact<'a>] {
        self.known.entry(composite.result).or_insert_with(|| {
            let members = composite.ids(Field::Member).filter_map(|member| facts.get(member));
            let mut data = Vec::new();
            for member in members {
                match member.name() {
                    Some(InstructionName::TypeMember) if !is_static(facts, &member) => data.push(member),
                    Some(InstructionName::Function | InstructionName::FunctionDeclaration) => {}
                    _ => return Vec::new(),
                }
            }
            data
        })
    }
}

/// Whether a member is static: it is no part of the object.
pub(super) fn is_static(facts: &Facts<'_>, member: &Fact<'_>) -> bool {
    let flags = facts.number(member, Field::Flags).unwrap_or(0);
    flags & u64::from(crate::spirv::names::flags::STATIC_MEMBER) != 0
}

/// The part of a type that indexes select; `None` if an index is not a constant, or is outside the type.
pub(super) fn part<'a>(
    facts: &Facts<'a>,
    members: &mut Members<'a>,
    ty: Fact<'a>,
    indexes: impl Iterator<Item = Id>,
) -> Option<Fact<'a>> {
    let mut ty = plain(facts, ty)?;
    let mut dimension = 0;
    for index in indexes {
        let field = match ty.name()? {
            InstructionName::TypeVector => Field::BaseType,
            InstructionName::TypeMatrix => Field::VectorType,
            InstructionName::TypeArray => {
                dimension += 1;
                if dimension < members.dimensions(&ty) {
                    continue;
                }
                dimension = 0;
                Field::BaseType
            }
            InstructionName::TypeComposite => {
                let index = facts.layout().constant(index)?.value?;
                let member = *members.of_composite(facts, &ty).get(usize::try_from(index).ok()?)?;
                ty = plain(facts, facts.named(&member, Field::Type)?)?;
                continue;
            }
            _ => return None,
        };
        ty = plain(facts, facts.named(&ty, field)?)?;
    }
    // Some dimensions of an array are no type.
    (dimension == 0).then_some(ty)
}

/// Whether a composite type is a structure or a class, whose members follow each other.
pub(super) fn is_structure(facts: &Facts<'_>, ty: &Fact<'_>) -> bool {
    matches!(facts.number(ty, Field::Tag), Some(0 | 1))
}
