//! Writes references to types, and instructions that several kinds of entities share.

use super::entities::{Globals, Operands};
use super::inverse::class_of;
use super::scopes;
use super::slots::{Item, Slot, State};
use super::writer::Word;
use crate::error::Result;
use crate::model::{Type, TypeId};
use crate::omission::{Property, Reason, Subject};
use crate::spirv::mode::Feature;
use crate::spirv::operand::Field;
use crate::spirv::table::InstructionName;
use crate::spirv::words::Id;

/// Encoding for a basic type without an encoding.
pub(super) const UNSPECIFIED: u32 = 0;

/// A structure's tag.
pub(super) const STRUCTURE: u32 = 1;

/// The item for the type that is written instead of `ty`, if there is one.
pub(super) fn type_item(out: &Globals<'_, '_, '_>, ty: TypeId) -> Option<Item> {
    out.described.replacements.get(ty).map(Item::Type)
}

/// The operand for a type. If the type is not written yet, its reference is omitted.
#[inline]
pub(super) fn type_word(out: &mut Globals<'_, '_, '_>, ty: Option<TypeId>, subject: Subject) -> Result<Word> {
    let ty = ty.and_then(|ty| out.described.replacements.get(ty));
    match ty.map(|ty| out.slots.types[ty]) {
        Some(Slot { id: Some(id), state: State::Done }) => Ok(id.into()),
        _ => unwritten(out, ty, subject),
    }
}

fn unwritten(out: &mut Globals<'_, '_, '_>, ty: Option<TypeId>, subject: Subject) -> Result<Word> {
    let Some(ty) = ty else { return no_type(out, None) };
    let item = Item::Type(ty);
    if out.slots.types[ty].state == State::Done {
        return out.id(item).map(Word::Id);
    }
    if scopes::has_later(out) {
        return out.id(item).map(Word::Later);
    }
    // A cycle without forward references: the reference is cut here.
    out.omit(subject, Property::Type, Reason::Cycle(ty, out.writer.mode.has(Feature::NoneTypes)));
    no_type(out, Some(ty))
}

/// The operand for a missing type, or for a type that the mode cannot encode.
fn no_type(out: &mut Globals<'_, '_, '_>, ty: Option<TypeId>) -> Result<Word> {
    if out.writer.mode.has(Feature::NoneTypes) {
        return out.none();
    }
    let name = match ty {
        Some(ty) => out.name(out.module.types[ty].name())?,
        None => out.text("void")?,
    };
    let size = out.writer.constant(0)?;
    let operands: [_; 4] = basic_type(name, size.into(), UNSPECIFIED);
    shared(out, InstructionName::TypeBasic, operands.into_iter().collect()).map(Word::Id)
}

/// Writes an instruction once, no matter how often it is referenced.
pub(super) fn shared(out: &mut Globals<'_, '_, '_>, name: InstructionName, operands: Operands) -> Result<Id> {
    if let Some(&id) = out.reused.types.get(&operands) {
        return Ok(id);
    }
    let id = out.writer.instruction(name, &operands)?;
    out.reused.types.insert(operands, id);
    Ok(id)
}

pub(super) fn define(
    out: &mut Globals<'_, '_, '_>,
    id: TypeId,
    name: InstructionName,
    operands: &[(Field, Word)],
) -> Result<()> {
    let result = out.id(Item::Type(id))?;
    out.writer.define(result, name, operands)
}

pub(super) fn basic(
    out: &mut Globals<'_, '_, '_>,
    id: TypeId,
    name: Word,
    size: Word,
    encoding: u32,
) -> Result<()> {
    define(out, id, InstructionName::TypeBasic, &basic_type(name, size, encoding))
}

/// A `DebugTypeFunction`, shared with an earlier equal instruction. A forward reference makes it distinct.
pub(super) fn signature(
    out: &mut Globals<'_, '_, '_>,
    known: Option<Id>,
    returns: Option<TypeId>,
    parameters: &[Option<TypeId>],
    subject: Subject,
) -> Result<Id> {
    let mut operands = Operands::new();
    operands.push((Field::Flags, 0.into()));
    // A type that the mode replaces by nothing counts as `void`, too.
    let returns = match returns.filter(|&ty| out.described.replacements.get(ty).is_some()) {
        None => out.writer.void().into(),
        returns => type_word(out, returns, subject)?,
    };
    operands.push((Field::ReturnType, returns));
    for &ty in out.room(parameters, 7, 1, subject, Property::Parameters) {
        let ty = type_word(out, ty, subject)?;
        operands.push((Field::ParameterType, ty));
    }
    match known {
        Some(id) => out.writer.define(id, InstructionName::TypeFunction, &operands).map(|()| id),
        None => shared(out, InstructionName::TypeFunction, operands),
    }
}

/// The operand for a class or structure, possibly under qualifiers and typedefs.
pub(super) fn class(out: &mut Globals<'_, '_, '_>, ty: TypeId, subject: Subject) -> Result<Word> {
    let class = class_of(out.module, ty);
    if class.is_none() {
        out.omit(subject, Property::Class, Reason::NotClass(ty));
        return out.none();
    }
    // An unwritten type's replacement is not a class, so that the class itself is omitted.
    if class.is_some_and(|class| out.slots.types[class].state != State::Done) && !scopes::has_later(out) {
        out.omit(subject, Property::Class, Reason::Cycle(ty, true));
        return out.none();
    }
    type_word(out, class, subject)
}

/// Writes an opaque type (section 2): a name without members or size.
pub(super) fn opaque(
    out: &mut Globals<'_, '_, '_>,
    id: TypeId,
    name: Word,
    tag: u32,
    flags: u32,
) -> Result<()> {
    let ty: &Type = &out.module.types[id];
    let subject = Subject::Type(id);
    let mut operands = Operands::new();
    operands.push((Field::Name, name));
    operands.push((Field::Tag, tag.into()));
    operands.extend(out.place(ty.line, ty.unit, subject, Property::Line));
    operands.push((Field::Scope, scopes::scope(out, ty.scope, subject)?));
    operands.push((Field::LinkageName, out.text("")?));
    operands.push((Field::Size, out.none()?));
    operands.push((Field::Flags, flags.into()));
    define(out, id, InstructionName::TypeComposite, &operands)
}

pub(super) fn basic_type(name: Word, size: Word, encoding: u32) -> [(Field, Word); 4] {
    [(Field::Name, name), (Field::Size, size), (Field::Encoding, encoding.into()), (Field::Flags, 0.into())]
}
