//! Writes enumerations: section 4.3.

use super::entities::{Globals, Operands};
use super::{references, scopes};
use crate::error::Result;
use crate::model::{StringId, TypeId};
use crate::omission::{Property, Reason, Subject};
use crate::spirv::names::flags;
use crate::spirv::operand::Field;
use crate::spirv::table::InstructionName;

pub(super) fn enumeration(
    out: &mut Globals<'_, '_, '_>,
    id: TypeId,
    name: Option<StringId>,
    of: Option<TypeId>,
    enumerators: &[(StringId, i128)],
    is_class: bool,
) -> Result<()> {
    let module = out.module;
    let ty = &module.types[id];
    let subject = Subject::Type(id);
    let mut operands = Operands::new();
    operands.push((Field::Name, out.name(name)?));
    operands.push((Field::UnderlyingType, references::type_word(out, of, subject)?));
    operands.extend(out.place(ty.line, ty.unit, subject, Property::Line));
    operands.push((Field::Scope, scopes::scope(out, ty.scope, subject)?));
    // `spirv-val` requires a size.
    let bits = ty.bits.filter(|&bits| bits != 0).unwrap_or_else(|| {
        out.omit(subject, Property::Size, Reason::UnknownSize(32));
        32
    });
    operands.push((Field::Size, out.number(bits, subject, Property::Size)?));
    operands.push((Field::Flags, if is_class { flags::ENUM_CLASS } else { 0 }.into()));
    let mut encoded = Vec::new();
    // A negative value is encoded in 32-bit two's complement, which would mean another number in a wider type.
    let is_narrow = of.is_some_and(|of| module.types[of].bits.is_none_or(|bits| bits <= 32));
    for (index, &(name, value)) in (0..).zip(enumerators) {
        let negative = i32::try_from(value).ok().filter(|_| is_narrow).map(|value| value as u32);
        match negative.or_else(|| u32::try_from(value).ok()) {
            Some(value) => encoded.push((name, value)),
            None => {
                out.omit(Subject::Enumerator(id, index), Property::Entity, Reason::Unfit(value));
            }
        }
    }
    let encoded = out.room(&encoded, 13, 2, subject, Property::Enumerators);
    for &(name, value) in encoded {
        operands.push((Field::Value, out.writer.constant(value.into())?.into()));
        operands.push((Field::EnumeratorName, out.name(Some(name))?));
    }
    references::define(out, id, InstructionName::TypeEnum, &operands)
}
