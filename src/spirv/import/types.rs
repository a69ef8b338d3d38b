//! Imports types, except for the contents of composite types, which can refer to any type and are imported later.

use super::flags::{self, Flags};
use super::importer::Importer;
use super::omissions::{Made, refused};
use super::subranges;
use crate::build::{Builder, EnumeratorType, Extent, Major};
use crate::model::{
    BaseEncoding, CompositeKind, MemorySpace, Passed, PointerKind, Qualifier, TypeId, UnitId,
};
use crate::omission::Unimported;
use crate::spirv::floats;
use crate::spirv::names::Enumeration;
use crate::spirv::operand::Field;
use crate::spirv::read::Fact;
use crate::spirv::table::InstructionName;
use crate::spirv::words::Id;
use crate::target::SpaceId;

/// Encodings by number: section 3.3. `Unspecified` is not an encoding.
const ENCODINGS: [Option<BaseEncoding>; 9] = [
    None,
    Some(BaseEncoding::Address),
    Some(BaseEncoding::Boolean),
    Some(BaseEncoding::Float),
    Some(BaseEncoding::Signed),
    Some(BaseEncoding::SignedChar),
    Some(BaseEncoding::Unsigned),
    Some(BaseEncoding::UnsignedChar),
    // Only version 200 has this encoding.
    Some(BaseEncoding::ComplexFloat),
];

/// The operands that follow the component type in a `DebugTypeCooperativeMatrixKHR`.
const MATRIX_NUMBERS: [Field; 4] = [Field::MatrixScope, Field::Rows, Field::Columns, Field::Use];

/// Storage classes, with their memory and the name of the target's address space.
const CLASSES: [(u32, Option<MemorySpace>, &str); 6] = [
    (0, Some(MemorySpace::Constant), ""),
    (4, Some(MemorySpace::Group), "local"),
    (5, Some(MemorySpace::Global), "global"),
    (6, Some(MemorySpace::Private), "private_lane"),
    (7, Some(MemorySpace::Private), "private_lane"),
    (8, None, "generic"),
];

/// The number that the LLVM translator writes for an unknown storage class.
const NO_CLASS: u32 = u32::MAX;

/// Largest base type, in bits.
const MOST_BITS: u64 = 1 << 32;

pub(super) fn make_type(importer: &mut Importer<'_, '_>, id: Id, unit: UnitId) {
    let Some(fact) = importer.facts.get(id).filter(|_| !importer.facts.is_nothing(id)) else { return };
    let made = new_type(importer, &fact, unit);
    if let Some(ty) = importer.omissions.made(&fact, made) {
        importer.entities.types.insert((id, unit), ty);
    }
}

fn new_type(importer: &mut Importer<'_, '_>, fact: &Fact<'_>, unit: UnitId) -> Made<TypeId> {
    let (Some(name), id) = (fact.name(), fact.result) else { return Err(Unimported::NoType) };
    match name {
        InstructionName::TypeBasic => basic(importer, fact, unit),
        InstructionName::TypePointer => pointer(importer, fact, unit),
        InstructionName::TypeQualifier => {
            let base = importer.pointee(fact, Field::BaseType, unit)?;
            let qualifier = match importer.facts.number(fact, Field::Qualifier) {
                Some(0) => Qualifier::Const,
                Some(1) => Qualifier::Volatile,
                Some(2) => Qualifier::Restrict,
                Some(3) => Qualifier::Atomic,
                _ => return Err(Unimported::Qualifier),
            };
            importer.m.qualified(unit, qualifier, base).map_err(refused)
        }
        InstructionName::TypeArray if fact.operand(Field::Subrange).is_some() => {
            subranges::subranges(importer, fact, unit)
        }
        InstructionName::TypeArrayDynamic => {
            for field in [Field::DataLocation, Field::Associated, Field::Allocated, Field::Rank] {
                if fact.id(field).is_some_and(|id| !importer.facts.is_nothing(id)) {
                    importer.omissions.omit(fact, Unimported::Descriptor(field));
                }
            }
            subranges::subranges(importer, fact, unit)
        }
        InstructionName::TypeString => {
            importer.omissions.omit(fact, Unimported::StringType);
            let name = importer.facts.text(fact, Field::Name);
            importer.m.unspecified_type(unit, &name).map_err(refused)
        }
        InstructionName::TypeArray => array(importer, fact, unit),
        InstructionName::TypeVector => {
            let element = importer.ty(fact, Field::BaseType, unit)?;
            let count = importer
                .facts
                .number(fact, Field::ComponentCount)
                .ok_or(Unimported::Unknown(Field::ComponentCount))?;
            importer.m.vector(unit, element, count).map_err(refused)
        }
        InstructionName::TypeMatrix => {
            let vector = importer.ty(fact, Field::VectorType, unit)?;
            let count = importer
                .facts
                .number(fact, Field::VectorCount)
                .ok_or(Unimported::Unknown(Field::VectorCount))?;
            let major = importer
                .facts
                .number(fact, Field::ColumnMajor)
                .ok_or(Unimported::Unknown(Field::ColumnMajor))?;
            importer
                .m
                .matrix(unit, vector, count, if major == 0 { Major::Row } else { Major::Column })
                .map_err(refused)
        }
        InstructionName::TypeVectorId => {
            let component = importer.ty(fact, Field::ComponentType, unit)?;
            let count = importer
                .facts
                .number(fact, Field::ComponentCount)
                .ok_or(Unimported::Unknown(Field::ComponentCount))?;
            // A short vector would be a `DebugTypeVector` when it is encoded again, so that the form is listed.
            if count <= 4 {
                importer.omissions.omit(fact, Unimported::LengthId);
            }
            importer.m.vector(unit, component, count).map_err(refused)
        }
        InstructionName::TypeCooperativeMatrix => {
            let component = importer.ty(fact, Field::ComponentType, unit)?;
            let mut numbers = [0; 4];
            for (number, field) in numbers.iter_mut().zip(MATRIX_NUMBERS) {
                let known = importer.facts.number(fact, field).and_then(|known| u32::try_from(known).ok());
                let Some(known) = known else {
                    importer.omissions.omit(fact, Unimported::CooperativeMatrix(field));
                    return importer.m.unspecified_type(unit, "").map_err(refused);
                };
                *number = known;
            }
            let [scope, rows, columns, usage] = numbers;
            importer.m.cooperative_matrix(unit, component, scope, rows, columns, usage).map_err(refused)
        }
        InstructionName::Typedef => {
            let base = importer.pointee(fact, Field::BaseType, unit)?;
            let name = importer.facts.text(fact, Field::Name);
            let ty = importer.m.typedef(unit, &name, base).map_err(refused)?;
            declared(importer, fact, unit, ty);
            Ok(ty)
        }
        InstructionName::TypeFunction => {
            let returns = importer.pointee(fact, Field::ReturnType, unit)?;
            let mut flags = Flags(importer.facts.word(fact, Field::Flags));
            flags.take(flags::PROTOTYPED);
            importer.omit_flags(fact, flags);
            let mut parameters = Vec::new();
            for id in fact.ids(Field::ParameterType) {
                match importer.entities.types.get(&(importer.facts.not_template(id), unit)).copied() {
                    Some(ty) => parameters.push(ty),
                    None if importer.facts.is_nothing(id) => {
                        importer.omissions.omit(fact, Unimported::NoParameterType)
                    }
                    None => return Err(Unimported::TypeNotImported(id.0)),
                }
            }
            importer.m.subroutine(unit, returns, &parameters).map_err(refused)
        }
        InstructionName::TypeEnum => enumeration(importer, fact, unit),
        InstructionName::TypeComposite => composite(importer, fact, unit),
        InstructionName::TypePtrToMember => {
            let class = if importer.is_none(fact, Field::Parent) {
                importer.m.incomplete(unit, CompositeKind::Struct, "").map_err(refused)?
            } else {
                importer.ty(fact, Field::Parent, unit)?
            };
            let to = importer.ty(fact, Field::MemberType, unit)?;
            importer.m.member_pointer(unit, class, to).map_err(refused)
        }
        InstructionName::TypeTemplate => {
            let target = importer.facts.not_template(id);
            importer.entities.types.get(&(target, unit)).copied().ok_or(Unimported::NotType(target.0))
        }
        _ => Err(Unimported::NotTypeInstruction(name)),
    }
}

fn basic(importer: &mut Importer<'_, '_>, fact: &Fact<'_>, unit: UnitId) -> Made<TypeId> {
    let name = importer.facts.text(fact, Field::Name);
    let bits = importer.facts.number(fact, Field::Size);
    let number = importer.facts.number(fact, Field::Encoding);
    importer.omit_flags(fact, Flags(importer.facts.word(fact, Field::Flags)));
    // The set may not define the number, even if a later set does.
    let known = number.filter(|&number| {
        u32::try_from(number).is_ok_and(|number| Enumeration::Encoding.has(number, fact.set))
    });
    let encoding = known.and_then(|number| *ENCODINGS.get(usize::try_from(number).ok()?)?);
    let mut encoding = encoding;
    if fact.operand(Field::FpEncoding).is_some() {
        // A format is meaningful only for a floating-point number with the format's size.
        let number = importer.facts.word(fact, Field::FpEncoding);
        let known = floats::numbered(number).filter(|format| format.bits() == bits);
        let Some(format) = known.filter(|_| encoding == Some(BaseEncoding::Float)) else {
            importer.omissions.omit(fact, Unimported::Format(number));
            return importer.m.unspecified_type(unit, &name).map_err(refused);
        };
        encoding = Some(format.encoding);
    }
    match (encoding, bits) {
        (Some(encoding), Some(bits @ 1..=MOST_BITS)) => importer.m.base_type(unit, &name, encoding, bits),
        _ => {
            let bits = bits.unwrap_or_default();
            importer.omissions.omit(fact, Unimported::NameOnly(bits));
            importer.m.unspecified_type(unit, &name)
        }
    }
    .map_err(refused)
}

fn pointer(importer: &mut Importer<'_, '_>, fact: &Fact<'_>, unit: UnitId) -> Made<TypeId> {
    let to = importer.pointee(fact, Field::BaseType, unit)?;
    let mut flags = Flags(importer.facts.word(fact, Field::Flags));
    let kind = match (flags.take(flags::LVALUE_REFERENCE), flags.take(flags::RVALUE_REFERENCE)) {
        (true, _) => PointerKind::Reference,
        (_, true) => PointerKind::RvalueReference,
        _ => PointerKind::Pointer,
    };
    // These flags are set on an object parameter's type (`this`); the model has them on the variable.
    flags.take(flags::ARTIFICIAL | flags::OBJECT_POINTER);
    importer.omit_flags(fact, flags);
    let class = importer.facts.number(fact, Field::StorageClass).and_then(|class| u32::try_from(class).ok());
    let of_shader = class.and_then(|class| importer.m.target().space_of_storage_class(class));
    let known = CLASSES.iter().find(|(number, ..)| Some(*number) == class);
    let (memory, space) = match known {
        _ if of_shader.is_some() => (None, of_shader.unwrap_or(SpaceId::DEFAULT)),
        Some(&(_, memory, name)) => {
            let space = importer.m.target().spaces().iter().find(|space| space.name == name);
            (memory, space.map_or(SpaceId::DEFAULT, |space| space.id))
        }
        None => (None, SpaceId::DEFAULT),
    };
    if known.is_none() && of_shader.is_none() && class != Some(NO_CLASS) {
        importer.omissions.omit(fact, Unimported::StorageClass);
    }
    importer.m.pointer_of(unit, kind, to, space, memory).map_err(refused)
}

fn array(importer: &mut Importer<'_, '_>, fact: &Fact<'_>, unit: UnitId) -> Made<TypeId> {
    let element = importer.ty(fact, Field::BaseType, unit)?;
    let mut counts: Vec<Id> = fact.ids(Field::ComponentCount).collect();
    let layout = importer.facts.layout();
    // All-ones and 0 are lower bounds only if the counts before them are something else.
    let constant = |id: Id| layout.constant(id).and_then(|constant| constant.value);
    let is_bound = |id: &Id| importer.facts.is_nothing(*id) || constant(*id) == Some(0);
    let half = counts.len() / 2;
    let (first, second) = counts.split_at(half);
    // The LLVM translator appends the lower bounds.
    if first.len() == second.len() && second.iter().all(is_bound) && !first.iter().any(is_bound) {
        counts.truncate(half);
    }
    let mut extents = Vec::new();
    for count in counts {
        // Some producers write all ones for an unknown count.
        let all_ones =
            layout.constant(count).and_then(|element| element.integer_bits).map(|bits| match bits {
                ..64 => u64::from(u32::MAX),
                _ => u64::MAX,
            });
        extents.push(match (constant(count), importer.entities.variables.get(&count)) {
            (Some(number), _) if Some(number) == all_ones => Extent::unknown(),
            // Producers for the shader sets write 0 for an unknown count.
            (Some(0), _) if fact.set.is_shader() => Extent::unknown(),
            (Some(number), _) => Extent::fixed(number),
            (None, Some(&variable)) => Extent::variable(variable),
            _ => {
                if !importer.facts.is_nothing(count) {
                    importer.omissions.omit(fact, Unimported::UnknownCount(count.0));
                }
                Extent::unknown()
            }
        });
    }
    importer.m.array_of(unit, element, &extents, None).map_err(refused)
}

fn enumeration(importer: &mut Importer<'_, '_>, fact: &Fact<'_>, unit: UnitId) -> Made<TypeId> {
    let size = importer.facts.number(fact, Field::Size).unwrap_or_default();
    let of = match importer.pointee(fact, Field::UnderlyingType, unit)? {
        Some(underlying) => EnumeratorType::Known(underlying),
        None if size > 0 && size.is_multiple_of(8) => EnumeratorType::Bytes(size / 8),
        None => {
            importer.omissions.omit(fact, Unimported::NoUnderlyingType(size));
            let unsigned = importer.m.base_type(unit, "", BaseEncoding::Unsigned, size);
            EnumeratorType::Known(unsigned.map_err(refused)?)
        }
    };
    let (bits, is_signed) = match of {
        EnumeratorType::Known(ty) => {
            let module = importer.m.described();
            (module.ty(ty).bits().unwrap_or(64).min(64), module.is_signed(ty).unwrap_or_default())
        }
        EnumeratorType::Bytes(bytes) => ((8 * bytes).min(64), false),
    };
    // The model's enumerations are as large as their underlying type.
    if bits != size {
        importer.omissions.omit(fact, Unimported::UnderlyingSize(bits, size));
    }
    let mut enumerators = Vec::new();
    let names: Vec<Id> = fact.ids(Field::EnumeratorName).collect();
    let values: Vec<Id> = fact.ids(Field::Value).collect();
    if names.len() != values.len() {
        importer.omissions.omit(fact, Unimported::UnnamedEnumerator);
    }
    for (value, name) in values.into_iter().zip(names) {
        let name = importer.facts.layout().string(name).unwrap_or_default();
        // The constant's type may be wider than the underlying type, whose sign counts.
        match importer.facts.layout().constant(value).and_then(|constant| constant.value) {
            Some(value) => enumerators.push((name, narrowed(value, bits as u32, is_signed))),
            None => importer.omissions.omit(fact, Unimported::UnknownEnumerator(name)),
        }
    }
    let enumerators: Vec<(&str, i128)> = enumerators.iter().map(|(name, value)| (&**name, *value)).collect();
    let name = Some(importer.facts.text(fact, Field::Name)).filter(|name| !name.is_empty());
    let mut flags = Flags(importer.facts.word(fact, Field::Flags));
    let is_class = flags.take(flags::ENUM_CLASS);
    let ty = importer.m.enumeration_of(unit, name.as_deref(), of, &enumerators, is_class);
    let ty = ty.map_err(refused)?;
    importer.omit_flags(fact, flags);
    declared(importer, fact, unit, ty);
    Ok(ty)
}

fn composite(importer: &mut Importer<'_, '_>, fact: &Fact<'_>, unit: UnitId) -> Made<TypeId> {
    let kind = match importer.facts.number(fact, Field::Tag) {
        Some(0) => CompositeKind::Class,
        Some(1) => CompositeKind::Struct,
        Some(2) => CompositeKind::Union,
        _ => return Err(Unimported::Tag),
    };
    let mut flags = Flags(importer.facts.word(fact, Field::Flags));
    let is_forward = flags.take(flags::FWD_DECL);
    let is_sized = !fact.id(Field::Size).is_some_and(|size| importer.facts.is_nothing(size));
    let has_members = fact.ids(Field::Member).next().is_some();
    let text = importer.facts.text(fact, Field::Name);
    // The LLVM translator marks an opaque type with `@` and a missing size.
    let opaque = text.strip_prefix('@').filter(|_| !is_sized);
    let ty = match opaque {
        Some(name) if !is_forward && !has_members => {
            let ty = importer.m.unspecified_type(unit, name).map_err(refused)?;
            let is_plain =
                importer.facts.text(fact, Field::LinkageName).is_empty() && kind == CompositeKind::Struct;
            if !is_plain || flags.0 != 0 {
                importer.omissions.omit(fact, Unimported::OpaqueNameOnly);
            }
            declared(importer, fact, unit, ty);
            return Ok(ty);
        }
        _ if !is_sized || is_forward && !has_members => {
            importer.m.incomplete(unit, kind, opaque.unwrap_or(&text)).map_err(refused)?
        }
        _ => {
            let bits = if importer.facts.has_no_layout(fact) {
                lay_out(importer, fact, unit, kind)
            } else {
                importer.facts.number(fact, Field::Size).ok_or(Unimported::Unknown(Field::Size))?
            };
            if !bits.is_multiple_of(8) {
                importer.omissions.omit(fact, Unimported::WholeBytes(bits));
            }
            let name = Some(&*text).filter(|name| !name.is_empty());
            let make = match kind {
                CompositeKind::Class => Builder::class,
                CompositeKind::Struct => Builder::structure,
                CompositeKind::Union => Builder::union,
            };
            make(&mut importer.m, unit, name, bits.div_ceil(8)).map_err(refused)?
        }
    };
    // Objects have at most one of these conventions.
    let passed = match (flags.take(flags::PASS_BY_VALUE), flags.take(flags::PASS_BY_REFERENCE)) {
        (true, _) => Some(Passed::ByValue),
        (_, true) => Some(Passed::ByReference),
        _ => None,
    };
    if let (Some(passed), Ok(mut of)) = (passed, importer.m.describe_type(ty)) {
        drop(of.passed(passed));
    }
    importer.omit_flags(fact, flags);
    if !importer.facts.text(fact, Field::LinkageName).is_empty() {
        importer.omissions.omit(fact, Unimported::LinkageName);
    }
    declared(importer, fact, unit, ty);
    importer.pending.composites.push((fact.result, unit, ty));
    if importer.own_unit(fact.result) == unit {
        importer
            .entities
            .scopes
            .extend(importer.m.described().ty(ty).own_scope().map(|scope| (fact.result, scope)));
    } else {
        importer.omissions.omit(fact, Unimported::DescribedAgain);
    }
    Ok(ty)
}

/// Lays out a composite type's members one after the other. Returns the size in bits.
pub(super) fn lay_out(
    importer: &mut Importer<'_, '_>,
    fact: &Fact<'_>,
    unit: UnitId,
    kind: CompositeKind,
) -> u64 {
    let mut end = 0u64;
    let mut members = Vec::new();
    // The module's sizes are 0, so that they come from the members' types.
    for member in importer.facts.data_members(fact).collect::<Vec<_>>() {
        let ty = importer.ty(&member, Field::Type, unit).ok();
        let bits = ty.and_then(|ty| importer.m.described().ty(ty).bits()).unwrap_or_default();
        let bits = bits.div_ceil(8).saturating_mul(8);
        let start = if kind == CompositeKind::Union { 0 } else { end };
        members.push(((member.result, unit), start));
        end = end.max(start.saturating_add(bits));
    }
    importer.pending.offsets.extend(members);
    if end > 0 {
        importer.omissions.omit(fact, Unimported::NoLayout);
    }
    end
}

/// Describes where a type is declared. Equal types that are declared in different locations stay distinct.
fn declared(importer: &mut Importer<'_, '_>, fact: &Fact<'_>, unit: UnitId, ty: TypeId) {
    let line = importer.line(fact, unit);
    let is_within = importer.unit_of(fact.result) == Some(unit)
        && fact.id(Field::Scope).is_some_and(|scope| !importer.units.by_id.contains_key(&scope));
    if let Ok(mut of) = importer.m.describe_type(ty)
        && let Some(line) = line
    {
        of.declared(line);
    }
    if is_within {
        importer.pending.within.push((fact.result, ty));
    }
}

/// Moves types that are declared in namespaces, functions, blocks and other types to their scopes. This has to wait
/// until all scopes exist.
pub(super) fn place_types(importer: &mut Importer<'_, '_>) {
    for (id, ty) in core::mem::take(&mut importer.pending.within) {
        let Some(fact) = importer.facts.get(id) else { continue };
        let Some(scope) = fact.id(Field::Scope).map(|scope| importer.facts.not_template(scope)) else {
            continue;
        };
        let placed = match importer.entities.scopes.get(&scope) {
            Some(&scope) => importer
                .m
                .describe_type(ty)
                .and_then(|mut builder| builder.within(scope).map(|_| ()))
                .map_err(refused),
            None => Err(Unimported::NotImported(Field::Scope, scope.0)),
        };
        if let Err(what) = placed {
            importer.omissions.omit(&fact, Unimported::DescribedInUnit(Box::new(what)));
        }
    }
}

/// A number with `bits` bits, signed or unsigned; unchanged if it does not fit.
fn narrowed(value: u64, bits: u32, is_signed: bool) -> i128 {
    let unused = 64 - bits.clamp(1, 64);
    let signed = (value << unused) as i64 >> unused;
    let unsigned = value << unused >> unused;
    if unsigned != value && signed as u64 != value {
        value.into()
    } else if is_signed {
        signed.into()
    } else {
        unsigned.into()
    }
}
