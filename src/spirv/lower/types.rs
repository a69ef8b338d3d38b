//! Writes types: section 4.3.

use super::entities::{Globals, Operands};
use super::references::STRUCTURE;
use super::references::basic_type;
use super::replacements::spelled;
use super::slots::Item;
use super::{arrays, composites, enumerations, pointers, references, scopes, vectors};
use crate::error::Result;
use crate::model::{BaseEncoding, Count, PointerKind, Qualifier, TypeId, TypeKind};
use crate::omission::{Property, Reason, Subject};
use crate::spirv::floats;
use crate::spirv::mode::BaseTypes;
use crate::spirv::names::{COMPLEX, Enumeration, flags};
use crate::spirv::operand::Field;
use crate::spirv::table::InstructionName;

pub(super) const UNSPECIFIED: u32 = 0;
const ADDRESS: u32 = 1;
const FLOAT: u32 = 3;

/// References to visit before a type is opened: its scope; the function whose variable is its element count; and in
/// sets with members before their type, a pointer's target.
pub(super) fn before_type(out: &Globals<'_, '_, '_>, id: TypeId, mut each: impl FnMut(Item)) {
    let ty = &out.module.types[id];
    match &ty.kind {
        TypeKind::Composite(_)
        | TypeKind::Enum { .. }
        | TypeKind::Typedef { .. }
        | TypeKind::Unspecified { .. } => {
            scopes::scope_before(out, ty.scope).into_iter().for_each(each);
        }
        // Members precede their type there, so that a cycle is best cut at a pointer.
        TypeKind::Pointer { .. } | TypeKind::MemberPointer { .. } if out.writer.is_shader() => {
            made_of(out, id, each);
        }
        TypeKind::Array { dimensions, .. } => {
            // The variable's function has to be complete before the array refers to the variable.
            for dimension in dimensions {
                if let Count::Variable(variable) = dimension.count
                    && arrays::counts(out, variable)
                {
                    let function =
                        out.described.relations.function_of(out.module.variables[out.origin(variable)].scope);
                    function.map(Item::Function).into_iter().for_each(&mut each);
                }
            }
        }
        _ => {}
    }
}

/// A type's other references.
pub(super) fn named_by_type(out: &Globals<'_, '_, '_>, id: TypeId, each: impl FnMut(Item)) {
    match &out.module.types[id].kind {
        TypeKind::Pointer { .. } | TypeKind::MemberPointer { .. } if out.writer.is_shader() => {}
        // Members are written after the type instead.
        TypeKind::Composite(_) if !out.writer.is_shader() => {}
        _ => made_of(out, id, each),
    }
}

fn made_of(out: &Globals<'_, '_, '_>, id: TypeId, mut each: impl FnMut(Item)) {
    let mut visit = |ty: TypeId| references::type_item(out, ty).into_iter().for_each(&mut each);
    match &out.module.types[id].kind {
        TypeKind::Pointer { to, .. } => {
            to.and_then(|to| pointers::pointee(out, id, to)).into_iter().for_each(visit)
        }
        TypeKind::Qualified { of: ty, .. } | TypeKind::Typedef { of: ty, .. } => {
            base_of(out, id, *ty).into_iter().for_each(visit);
        }
        TypeKind::Array { of: ty, dimensions, .. } => {
            visit(*ty);
            for dimension in dimensions {
                if let Count::Variable(variable) = dimension.count
                    && arrays::counts(out, variable)
                    && arrays::can_count(out, variable)
                {
                    each(Item::Variable(out.origin(variable)));
                }
            }
        }
        TypeKind::Vector { of: ty, .. }
        | TypeKind::Matrix { of: ty, .. }
        | TypeKind::CooperativeMatrix { of: ty, .. } => visit(*ty),
        TypeKind::Enum { of, .. } => of.iter().copied().for_each(visit),
        TypeKind::MemberPointer { class, to } => [*class, *to].into_iter().for_each(visit),
        TypeKind::Subroutine { returns, parameters, .. } => {
            returns.iter().chain(parameters).copied().for_each(visit)
        }
        TypeKind::Composite(composite) => {
            let members = composite.members.iter().map(|member| member.ty);
            composite.bases.iter().map(|base| base.ty).chain(members).for_each(visit);
            out.described.relations.statics(id).iter().for_each(|&id| each(Item::Variable(id)));
        }
        TypeKind::Base { .. }
        | TypeKind::Unspecified { .. }
        | TypeKind::String { .. }
        | TypeKind::Subrange { .. }
        | TypeKind::Set { .. } => {}
    }
}

/// A qualifier's or typedef's base type, if the mode can encode it.
fn base_of(out: &Globals<'_, '_, '_>, id: TypeId, of: Option<TypeId>) -> Option<TypeId> {
    let mode = out.writer.mode;
    let is_typedef = matches!(out.module.types[id].kind, TypeKind::Typedef { .. });
    match if is_typedef { mode.typedef } else { mode.pointee } {
        BaseTypes::Any => of,
        BaseTypes::Basic => out.described.replacements.basic(id),
    }
}

/// Writes a type.
pub(super) fn ty(out: &mut Globals<'_, '_, '_>, id: TypeId) -> Result<()> {
    let module = out.module;
    let ty = &module.types[id];
    let subject = Subject::Type(id);
    match &ty.kind {
        TypeKind::Base { name, encoding } => {
            let number = encoding_number(out, id, *encoding);
            let bits = ty.bits.unwrap_or(0);
            let name = out.name(Some(*name))?;
            let size = out.number(bits, subject, Property::Size)?;
            let mut operands: Operands = basic_type(name, size, number).into_iter().collect();
            let format = floats::number(*encoding).filter(|_| number == FLOAT);
            operands.extend(format.map(|format| (Field::FpEncoding, format.into())));
            references::define(out, id, InstructionName::TypeBasic, &operands)
        }
        TypeKind::Unspecified { name } => {
            let name = out.text(&format!("@{}", module.string(*name)))?;
            references::opaque(out, id, name, STRUCTURE, 0)
        }
        TypeKind::String { name } => {
            out.omit(subject, Property::Kind, Reason::String);
            let name = out.text(name.map_or("string", |name| module.string(name)))?;
            let size = out.writer.constant(0)?.into();
            references::basic(out, id, name, size, UNSPECIFIED)
        }
        TypeKind::Subrange { name, .. } => {
            out.omit(subject, Property::Kind, Reason::Subrange);
            let name = out.text(name.map_or("subrange", |name| module.string(name)))?;
            let size = out.writer.constant(0)?.into();
            references::basic(out, id, name, size, UNSPECIFIED)
        }
        TypeKind::Set { name, .. } => {
            out.omit(subject, Property::Kind, Reason::Set);
            let name = out.text(name.map_or("set", |name| module.string(name)))?;
            let size = out.writer.constant(0)?.into();
            references::basic(out, id, name, size, UNSPECIFIED)
        }
        &TypeKind::Pointer { kind, to, space, memory } => {
            // The mode replaces the pointer by a basic type.
            if out.described.replacements.basic(id) == Some(id) {
                let name = out.text(&spelled(module, id))?;
                let address = u64::from(module.target.address_bytes()) * 8;
                let size = out.number(ty.bits.unwrap_or(address), subject, Property::Size)?;
                return references::basic(out, id, name, size, ADDRESS);
            }
            let to = to.and_then(|to| pointers::pointee(out, id, to));
            let base = references::type_word(out, to, subject)?;
            let class = pointers::storage_class(out, id, space, memory);
            let flags = match kind {
                PointerKind::Pointer => 0,
                PointerKind::Reference => flags::LVALUE_REFERENCE,
                PointerKind::RvalueReference => flags::RVALUE_REFERENCE,
            };
            let operands =
                [(Field::BaseType, base), (Field::StorageClass, class.into()), (Field::Flags, flags.into())];
            references::define(out, id, InstructionName::TypePointer, &operands)
        }
        &TypeKind::Qualified { qualifier, of } => {
            let base = base_of(out, id, of);
            let base = references::type_word(out, base, subject)?;
            let qualifier: u32 = match qualifier {
                Qualifier::Const => 0,
                Qualifier::Volatile => 1,
                Qualifier::Restrict => 2,
                Qualifier::Atomic => 3,
            };
            let operands = [(Field::BaseType, base), (Field::Qualifier, qualifier.into())];
            references::define(out, id, InstructionName::TypeQualifier, &operands)
        }
        &TypeKind::Typedef { name, of } => {
            let mut operands = Operands::new();
            operands.push((Field::Name, out.name(Some(name))?));
            let base = base_of(out, id, of);
            operands.push((Field::BaseType, references::type_word(out, base, subject)?));
            operands.extend(out.place(ty.line, ty.unit, subject, Property::Line));
            operands.push((Field::Scope, scopes::scope(out, ty.scope, subject)?));
            references::define(out, id, InstructionName::Typedef, &operands)
        }
        &TypeKind::MemberPointer { class, to } => {
            let member = references::type_word(out, Some(to), subject)?;
            let class = references::class(out, class, subject)?;
            references::define(
                out,
                id,
                InstructionName::TypePtrToMember,
                &[(Field::MemberType, member), (Field::Parent, class)],
            )
        }
        TypeKind::Array { of, dimensions, stride_bits } => {
            arrays::array(out, id, *of, dimensions, *stride_bits)
        }
        &TypeKind::Vector { of, count, is_packed } => vectors::vector(out, id, of, count, is_packed),
        &TypeKind::Matrix { of, count, is_column_major, stride_bits } => {
            vectors::matrix(out, id, of, count, is_column_major, stride_bits)
        }
        &TypeKind::CooperativeMatrix { of, scope, rows, columns, usage } => {
            vectors::cooperative_matrix(out, id, of, [scope, rows, columns, usage])
        }
        TypeKind::Composite(composite) => composites::composite(out, id, composite),
        TypeKind::Enum { name, of, enumerators, is_class } => {
            enumerations::enumeration(out, id, *name, *of, enumerators, *is_class)
        }
        TypeKind::Subroutine { returns, parameters, .. } => {
            let parameters: Vec<_> = parameters.iter().map(|&ty| Some(ty)).collect();
            // An allocated id may be referenced already, so that this type cannot be shared.
            let known = out.slots.types[id].id;
            let result = references::signature(out, known, *returns, &parameters, subject)?;
            out.slots.types[id].id = Some(result);
            Ok(())
        }
    }
}

fn encoding_number(out: &mut Globals<'_, '_, '_>, id: TypeId, encoding: BaseEncoding) -> u32 {
    let set = out.writer.mode.set;
    match encoding {
        BaseEncoding::Address => ADDRESS,
        BaseEncoding::Boolean => 2,
        BaseEncoding::Float => FLOAT,
        BaseEncoding::Signed => 4,
        BaseEncoding::SignedChar => 5,
        BaseEncoding::Unsigned => 6,
        BaseEncoding::UnsignedChar => 7,
        BaseEncoding::ComplexFloat if Enumeration::Encoding.has(COMPLEX, set) => COMPLEX,
        _ if floats::number(encoding).is_some()
            && set.has_operand(InstructionName::TypeBasic, Field::FpEncoding) =>
        {
            FLOAT
        }
        _ => {
            out.omit(Subject::Type(id), Property::Encoding, Reason::AsUnspecified(encoding));
            UNSPECIFIED
        }
    }
}
