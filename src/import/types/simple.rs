//! Types without children: base types, pointers, named and qualified types; function types.

use gimli::{DwAt, constants as dw};

use crate::attributes::{DW_AT_LLVM_ADDRESS_SPACE, DW_AT_LLVM_MEMORY_SPACE};
use crate::build::AttributeValue;
use crate::import::importer::{Importer, Made, refused};
use crate::import::unimported::UnimportedReason;
use crate::model::{AttributeOwner, BaseEncoding, Loc, MemorySpace, PointerKind, Qualifier, TypeId};
use crate::read::{Entry, ResolvedValue};
use crate::target::SpaceId;

/// `DW_AT_LLVM_memory_space`: values of the AMDGPU extension.
pub(in crate::import) const MEMORY_SPACES: [(u64, MemorySpace); 4] = [
    (1, MemorySpace::Global),
    (2, MemorySpace::Constant),
    (3, MemorySpace::Group),
    (4, MemorySpace::Private),
];

/// Attributes about an object at run time, which can have expressions and refer to variables.
pub(super) const DYNAMIC: [DwAt; 4] =
    [dw::DW_AT_data_location, dw::DW_AT_allocated, dw::DW_AT_associated, dw::DW_AT_rank];

/// Bounds of a subrange that is a type.
const BOUNDS: [DwAt; 2] = [dw::DW_AT_lower_bound, dw::DW_AT_upper_bound];

/// Encodings: DWARF 5 table 7.11.
#[rustfmt::skip]
const ENCODINGS: [(u64, BaseEncoding); 18] = [
    (dw::DW_ATE_address.0 as u64, BaseEncoding::Address),
    (dw::DW_ATE_boolean.0 as u64, BaseEncoding::Boolean),
    (dw::DW_ATE_complex_float.0 as u64, BaseEncoding::ComplexFloat),
    (dw::DW_ATE_float.0 as u64, BaseEncoding::Float),
    (dw::DW_ATE_signed.0 as u64, BaseEncoding::Signed),
    (dw::DW_ATE_signed_char.0 as u64, BaseEncoding::SignedChar),
    (dw::DW_ATE_unsigned.0 as u64, BaseEncoding::Unsigned),
    (dw::DW_ATE_unsigned_char.0 as u64, BaseEncoding::UnsignedChar),
    (dw::DW_ATE_imaginary_float.0 as u64, BaseEncoding::ImaginaryFloat),
    (dw::DW_ATE_packed_decimal.0 as u64, BaseEncoding::PackedDecimal),
    (dw::DW_ATE_numeric_string.0 as u64, BaseEncoding::NumericString),
    (dw::DW_ATE_edited.0 as u64, BaseEncoding::Edited),
    (dw::DW_ATE_signed_fixed.0 as u64, BaseEncoding::SignedFixed),
    (dw::DW_ATE_unsigned_fixed.0 as u64, BaseEncoding::UnsignedFixed),
    (dw::DW_ATE_decimal_float.0 as u64, BaseEncoding::DecimalFloat),
    (dw::DW_ATE_UTF.0 as u64, BaseEncoding::Utf),
    (dw::DW_ATE_UCS.0 as u64, BaseEncoding::Ucs),
    (dw::DW_ATE_ASCII.0 as u64, BaseEncoding::Ascii),
];

pub(super) fn base<'d, 'o>(importer: &mut Importer<'d, 'o>, entry: Entry<'d, 'o>) -> Made<TypeId> {
    let name = importer.text(entry, dw::DW_AT_name).unwrap_or_default();
    let encoding = encoding(importer, entry);
    let bytes = importer.number(entry, dw::DW_AT_byte_size).map(|bytes| bytes.saturating_mul(8));
    let bits = importer.number(entry, dw::DW_AT_bit_size).or(bytes);
    let (Some(encoding), Some(bits)) = (encoding, bits) else { return Err(UnimportedReason::AsUnspecified) };
    importer.m.base_type(importer.unit, &name, encoding, bits).map_err(refused)
}

/// Takes an encoding: that of a table, or a number that is not in the table.
fn encoding<'d, 'o>(importer: &mut Importer<'d, 'o>, entry: Entry<'d, 'o>) -> Option<BaseEncoding> {
    let number = importer.number(entry, dw::DW_AT_encoding)?;
    let known = ENCODINGS.iter().find(|&&(code, _)| code == number).map(|&(_, encoding)| encoding);
    let numbered = || u8::try_from(number).ok().filter(|&number| number >= BaseEncoding::FIRST_NUMBER);
    let encoding = known.or_else(|| numbered().map(BaseEncoding::Numbered));
    if encoding.is_none() {
        importer.leave(entry, dw::DW_AT_encoding, UnimportedReason::ValueRange(number.into()));
    }
    encoding
}

pub(super) fn unspecified<'d, 'o>(importer: &mut Importer<'d, 'o>, entry: Entry<'d, 'o>) -> Made<TypeId> {
    let name = importer.text(entry, dw::DW_AT_name).unwrap_or_default();
    importer.m.unspecified_type(importer.unit, &name).map_err(refused)
}

/// Makes a string type. Before DWARF 5, the size beside a length is that of the length.
pub(super) fn string<'d, 'o>(importer: &mut Importer<'d, 'o>, entry: Entry<'d, 'o>) -> Made<TypeId> {
    let name = importer.text(entry, dw::DW_AT_name);
    let is_of_length = entry.unit().encoding.version < 5 && entry.has(dw::DW_AT_string_length);
    let bytes = if is_of_length { None } else { importer.number(entry, dw::DW_AT_byte_size) };
    if entry.has(dw::DW_AT_string_length) {
        importer.made.described.push(entry);
    }
    importer.m.string_type(importer.unit, name.as_deref(), bytes).map_err(refused)
}

/// Makes a subrange. Its bounds follow when all entities exist, because they can refer to variables.
pub(super) fn subrange<'d, 'o>(importer: &mut Importer<'d, 'o>, entry: Entry<'d, 'o>) -> Made<TypeId> {
    let name = importer.text(entry, dw::DW_AT_name);
    let of = importer.refer_to_type(entry, dw::DW_AT_type);
    let bytes = importer.number(entry, dw::DW_AT_byte_size).map(|bytes| bytes.saturating_mul(8));
    let bits = bytes.or_else(|| importer.number(entry, dw::DW_AT_bit_size));
    importer.made.described.push(entry);
    importer.m.subrange_type(importer.unit, name.as_deref(), of, bits).map_err(refused)
}

pub(super) fn set<'d, 'o>(importer: &mut Importer<'d, 'o>, entry: Entry<'d, 'o>) -> Made<TypeId> {
    let name = importer.text(entry, dw::DW_AT_name);
    let of = importer.refer_to_type(entry, dw::DW_AT_type);
    let bytes = importer.number(entry, dw::DW_AT_byte_size).map(|bytes| bytes.saturating_mul(8));
    let bits = bytes.or_else(|| importer.number(entry, dw::DW_AT_bit_size));
    importer.m.set_type(importer.unit, name.as_deref(), of, bits).map_err(refused)
}

pub(super) fn pointer<'d, 'o>(
    importer: &mut Importer<'d, 'o>,
    entry: Entry<'d, 'o>,
    kind: PointerKind,
) -> Made<TypeId> {
    let to = importer.refer_to_type(entry, dw::DW_AT_type);
    let space = space(importer, entry);
    let memory = importer.coded(entry, DW_AT_LLVM_MEMORY_SPACE, &MEMORY_SPACES);
    let ty = importer.m.pointer_of(importer.unit, kind, to, space, memory).map_err(refused)?;
    same_size(importer, entry, ty);
    Ok(ty)
}

/// Takes the address space of a pointer's objects.
fn space<'d, 'o>(importer: &mut Importer<'d, 'o>, entry: Entry<'d, 'o>) -> SpaceId {
    let mut known = None;
    for name in [DW_AT_LLVM_ADDRESS_SPACE, dw::DW_AT_address_class] {
        let Some(number) = importer.number(entry, name) else { continue };
        let target = importer.m.target();
        let space = match u32::try_from(number) {
            Ok(number) if target.space(SpaceId(number)).is_some() => Some(SpaceId(number)),
            _ => target.space_of_class(number).map(|space| space.id),
        };
        match space {
            Some(space) if known.is_none_or(|known| known == space) => known = Some(space),
            _ => importer.leave(entry, name, UnimportedReason::ValueRange(number.into())),
        }
    }
    known.unwrap_or(SpaceId::DEFAULT)
}

/// Takes the size of a type whose size the model derives.
pub(super) fn same_size<'d, 'o>(importer: &mut Importer<'d, 'o>, entry: Entry<'d, 'o>, ty: TypeId) {
    let Some(bytes) = importer.number(entry, dw::DW_AT_byte_size) else { return };
    let derived = importer.m.described().ty(ty).bits().map(|bits| bits.div_ceil(8));
    if derived != Some(bytes) {
        let expected = match derived {
            Some(derived) => format!("{derived}, the size that the model derives for such a type"),
            None => "none, because the model derives no size for such a type".into(),
        };
        importer.leave(entry, dw::DW_AT_byte_size, UnimportedReason::OtherValue(bytes, expected));
    }
}

pub(super) fn member_pointer<'d, 'o>(importer: &mut Importer<'d, 'o>, entry: Entry<'d, 'o>) -> Made<TypeId> {
    let class = importer.refer_to_type(entry, dw::DW_AT_containing_type);
    let to = importer.refer_to_type(entry, dw::DW_AT_type);
    let (Some(class), Some(to)) = (class, to) else { return Err(UnimportedReason::AsUnspecified) };
    let ty = importer.m.member_pointer(importer.unit, class, to).map_err(refused)?;
    if entry.has(dw::DW_AT_use_location) {
        importer.made.described.push(entry);
    }
    same_size(importer, entry, ty);
    Ok(ty)
}

pub(super) fn typedef<'d, 'o>(importer: &mut Importer<'d, 'o>, entry: Entry<'d, 'o>) -> Made<TypeId> {
    let name = importer.text(entry, dw::DW_AT_name).unwrap_or_default();
    let target = importer.refer_to_type(entry, dw::DW_AT_type);
    importer.m.typedef(importer.unit, &name, target).map_err(refused)
}

pub(super) fn qualified<'d, 'o>(
    importer: &mut Importer<'d, 'o>,
    entry: Entry<'d, 'o>,
    qualifier: Qualifier,
) -> Made<TypeId> {
    let target = importer.refer_to_type(entry, dw::DW_AT_type);
    importer.m.qualified(importer.unit, qualifier, target).map_err(refused)
}

pub(super) fn subroutine<'d, 'o>(importer: &mut Importer<'d, 'o>, entry: Entry<'d, 'o>) -> Made<TypeId> {
    let returns = importer.refer_to_type(entry, dw::DW_AT_type);
    importer.prototyped(entry);
    let mut parameters = Vec::new();
    let mut parts = Vec::new();
    for child in entry.children().filter(|child| child.tag() == dw::DW_TAG_formal_parameter) {
        if let Some(ty) = importer.refer_to_type(child, dw::DW_AT_type) {
            parameters.push(ty);
            parts.push(child);
        }
    }
    let more = entry.children().find(|child| child.tag() == dw::DW_TAG_unspecified_parameters);
    let made = match more {
        Some(more) => {
            importer.import(more);
            importer.m.variadic_subroutine(importer.unit, returns, &parameters)
        }
        None => importer.m.subroutine(importer.unit, returns, &parameters),
    };
    let ty = made.map_err(refused)?;
    for (index, part) in (0..).zip(parts) {
        importer.own(part, AttributeOwner::Parameter(ty, index));
    }
    Ok(ty)
}

/// Sets a type's properties that refer to variables or have expressions, when all entities exist.
pub(in crate::import) fn described<'d, 'o>(importer: &mut Importer<'d, 'o>) {
    for entry in core::mem::take(&mut importer.made.described) {
        let Some(ty) = importer.known_type(entry) else { continue };
        if entry.tag() == dw::DW_TAG_string_type {
            string_length(importer, entry, ty);
        }
        if entry.tag() == dw::DW_TAG_ptr_to_member_type {
            use_location(importer, entry, ty);
        }
        let is_composite =
            matches!(importer.m.described().ty(ty).kind(), crate::model::TypeKind::Composite(_));
        if is_composite {
            dynamic(importer, entry, ty, dw::DW_AT_byte_size);
        }
        if entry.tag() == dw::DW_TAG_subrange_type {
            BOUNDS.iter().for_each(|&name| dynamic(importer, entry, ty, name));
        }
        for name in DYNAMIC {
            dynamic(importer, entry, ty, name);
        }
    }
}

fn string_length<'d, 'o>(importer: &mut Importer<'d, 'o>, entry: Entry<'d, 'o>, ty: TypeId) {
    let name = dw::DW_AT_string_length;
    let Some(value) = importer.take(entry, name) else { return };
    let value = match value {
        ResolvedValue::Expr(bytes) => importer.location(entry, bytes).map(AttributeValue::Location),
        value => importer.variable_at(entry, value).map(AttributeValue::Variable),
    };
    match value {
        Ok(value) => {
            let set = importer.m.describe_type(ty).and_then(|mut ty| ty.string_length(value).map(drop));
            importer.accept(entry, name, set);
        }
        Err(reason) => importer.leave(entry, name, reason),
    }
    let is_size = entry.unit().encoding.version < 5;
    let size = if is_size { dw::DW_AT_byte_size } else { dw::DW_AT_string_length_byte_size };
    if let Some(bytes) = importer.number(entry, size) {
        let set = importer.m.describe_type(ty).and_then(|mut ty| ty.string_length_bytes(bytes).map(drop));
        importer.accept(entry, size, set);
    }
}

fn use_location<'d, 'o>(importer: &mut Importer<'d, 'o>, entry: Entry<'d, 'o>, ty: TypeId) {
    let name = dw::DW_AT_use_location;
    let Some(value) = importer.take(entry, name) else { return };
    let ResolvedValue::Expr(bytes) = value else {
        return importer.leave(entry, name, UnimportedReason::class(value, "an expression"));
    };
    match importer.raw(entry, bytes) {
        Ok(expr) => {
            let loc = Loc::expr(expr);
            let set = importer.m.describe_type(ty).and_then(|mut ty| ty.use_location(&loc).map(drop));
            importer.accept(entry, name, set);
        }
        Err(reason) => importer.leave(entry, name, reason),
    }
}

fn dynamic<'d, 'o>(importer: &mut Importer<'d, 'o>, entry: Entry<'d, 'o>, ty: TypeId, name: DwAt) {
    let Some(value) = importer.take(entry, name) else { return };
    let location: Made<Loc>;
    let value = match value {
        ResolvedValue::Expr(bytes) => {
            location = importer.location(entry, bytes);
            location.map(AttributeValue::Location)
        }
        ResolvedValue::Unsigned(number) => Ok(AttributeValue::Unsigned(number)),
        ResolvedValue::Signed(number) => Ok(AttributeValue::Signed(number)),
        value => match entry.referred(value).and_then(|member| importer.member_at(member)) {
            Some((ty, index)) => Ok(AttributeValue::Member(ty, index)),
            None => importer.variable_at(entry, value).map(AttributeValue::Variable),
        },
    };
    let value = match value {
        Ok(value) => value,
        Err(reason) => return importer.leave(entry, name, reason),
    };
    let set = importer.m.describe_type(ty).and_then(|mut builder| match (name, &value) {
        (dw::DW_AT_data_location, AttributeValue::Location(loc)) => builder.data_location(loc).map(drop),
        (dw::DW_AT_allocated, _) => builder.allocated(value).map(drop),
        (dw::DW_AT_rank, _) => builder.rank(value).map(drop),
        (dw::DW_AT_byte_size, _) => builder.size(value).map(drop),
        (dw::DW_AT_lower_bound, _) => builder.lower_bound(value).map(drop),
        (dw::DW_AT_upper_bound, _) => builder.upper_bound(value).map(drop),
        _ => builder.associated(value).map(drop),
    });
    importer.accept(entry, name, set);
}
