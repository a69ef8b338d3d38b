//! Types, as the mode encodes them. A type's shape contains its parts' shapes; types with a name are referenced by key,
//! so that cycles end.

use super::described::{Duplicates, EncodedType, Projection, Properties};
use super::shapes::{Part, Quoted, Shape, Typed, shape};
use super::{composites, lines, omitted_types, scopes};
use crate::model::{BaseEncoding, Count, Dimension, MemorySpace, PointerKind, Qualifier, TypeId, TypeKind};
use crate::omission::{Property, Subject};
use crate::target::SpaceId;

/// Storage classes whose pointers have a dedicated address space, with that space's name.
const SPACES: [(u64, &str); 4] = [(4, "local"), (5, "global"), (7, "private_lane"), (8, "generic")];

/// Builds the records for all types. Types only reference earlier types, except in members.
pub(super) fn types(projection: &mut Projection<'_>) {
    // Types follow their parts, so that the parts' shapes exist.
    for (id, ty) in projection.module.types() {
        let encoded = kind(projection, id, ty.kind(), ty.bits());
        if has_none(projection, id, ty.kind()) {
            *projection.described.unimported.entry(encoded.shape).or_default() += 1;
        }
        projection.types.push(encoded);
    }
    for id in projection.module.types.keys() {
        type_record(projection, id);
    }
}

/// Whether a type's instruction has a `DebugInfoNone` that an import lists.
fn has_none(projection: &Projection<'_>, id: TypeId, kind: &TypeKind) -> bool {
    let subject = Subject::Type(id);
    let is_none = |of: &TypeId| projection.cut_cycle(subject, *of) == Some(true);
    match kind {
        TypeKind::Array { of, .. } => is_none(of),
        TypeKind::CooperativeMatrix { of, .. } => is_none(of),
        TypeKind::MemberPointer { to, .. } => {
            is_none(to) || projection.omissions.has(subject, Property::Class)
        }
        TypeKind::Subroutine { parameters, .. } => parameters.iter().any(is_none),
        kind => kind.elements().is_some_and(|elements| is_none(&elements.of)),
    }
}

fn kind(projection: &mut Projection<'_>, id: TypeId, kind: &TypeKind, bits: Option<u64>) -> EncodedType {
    let subject = Subject::Type(id);
    let sized = |shape| EncodedType { shape, is_sized: true };
    match kind {
        TypeKind::Base { name, encoding } => {
            let name = Quoted(projection.module.string(*name));
            if projection.omissions.has(subject, Property::Encoding) {
                // Only the name can be read back.
                let shape = shape!(projection.shapes; "unspecified", name);
                return EncodedType { shape, is_sized: false };
            }
            let bits = projection.omissions.number(subject, Property::Size).or(bits).unwrap_or_default();
            sized(shape!(projection.shapes; Typed::Encoding(*encoding), name, bits, "bits"))
        }
        TypeKind::String { name } => {
            let name = name.map_or("string", |name| projection.module.string(name));
            EncodedType { shape: shape!(projection.shapes; "unspecified", Quoted(name)), is_sized: false }
        }
        TypeKind::Subrange { name, .. } => {
            let name = name.map_or("subrange", |name| projection.module.string(name));
            EncodedType { shape: shape!(projection.shapes; "unspecified", Quoted(name)), is_sized: false }
        }
        TypeKind::Set { name, .. } => {
            let name = name.map_or("set", |name| projection.module.string(name));
            EncodedType { shape: shape!(projection.shapes; "unspecified", Quoted(name)), is_sized: false }
        }
        TypeKind::Unspecified { name } => {
            sized(shape!(projection.shapes; "unspecified", Quoted(projection.module.string(*name))))
        }
        &TypeKind::Pointer { kind, to, space, memory } => {
            if projection.omissions.has(subject, Property::Kind) {
                let name = spelled(projection, id);
                let encoding = Typed::Encoding(BaseEncoding::Address);
                return sized(shape!(projection.shapes; encoding, name, bits.unwrap_or_default(), "bits"));
            }
            let to = base(projection, subject, Property::Pointee, to);
            let kind = match kind {
                PointerKind::Pointer => "pointer",
                PointerKind::Reference => "reference",
                PointerKind::RvalueReference => "rvalue reference",
            };
            let target = &projection.module.target;
            // CrossWorkgroup is encoded if the module lacks a capability that the class requires.
            let has_class = !projection.omissions.has(subject, Property::StorageClass);
            let name = target.space(space).map_or("", |space| &*space.name);
            let of_shader = target.storage_class(space).filter(|_| has_class);
            let class: u64 = match (memory, name) {
                _ if !has_class => 5,
                _ if of_shader.is_some() => of_shader.unwrap_or_default().into(),
                (Some(MemorySpace::Constant), _) => 0,
                (Some(MemorySpace::Group), _) | (None, "local") => 4,
                (Some(MemorySpace::Private), _) | (None, "private_lane" | "private_wave") => 7,
                (None, "generic") => 8,
                _ => 5,
            };
            let of_class = SPACES.iter().find(|(of, _)| *of == class).map_or("", |(_, name)| name);
            let is_of_class = |id| target.storage_class(id).is_some_and(|it| u64::from(it) == class);
            let mut spaces = target.spaces().iter();
            let of_class = spaces.find(|space| space.name == of_class || is_of_class(space.id));
            let is_omitted = projection.omissions.has(subject, Property::AddressSpace);
            let space = if of_shader.is_none() && (is_omitted || !has_class) {
                of_class.map_or(SpaceId::DEFAULT, |space| space.id)
            } else {
                space
            };
            // If the target has a space for a class, that space comes back as that class.
            let class = match target.storage_class(space) {
                Some(known) if !has_class => known.into(),
                _ => class,
            };
            let space = u64::from(space.0);
            sized(shape!(projection.shapes; kind, "to", to, "of storage class", class, "in space", space))
        }
        &TypeKind::Qualified { qualifier, of } => {
            let is_sized = of.is_none_or(|ty| projection.types[ty.as_u32() as usize].is_sized);
            if projection.omissions.has(subject, Property::Kind) {
                return EncodedType { shape: projection.maybe(of), is_sized };
            }
            let to = base(projection, subject, Property::Qualified, of);
            let qualifier = match qualifier {
                Qualifier::Const => "const",
                Qualifier::Volatile => "volatile",
                Qualifier::Restrict => "restrict",
                Qualifier::Atomic => "atomic",
            };
            EncodedType { is_sized, shape: shape!(projection.shapes; qualifier, to) }
        }
        &TypeKind::Typedef { of, .. } => {
            let is_sized = of.is_none_or(|ty| projection.types[ty.as_u32() as usize].is_sized);
            let shape = if projection.omissions.has(subject, Property::Kind) {
                projection.maybe(of)
            } else {
                scopes::type_key(projection, id)
            };
            EncodedType { is_sized, shape }
        }
        &TypeKind::MemberPointer { class, to } => {
            let class = if projection.omissions.has(subject, Property::Class) {
                omitted_types::no_class(projection, id)
            } else {
                projection.ty(projection.class(class))
            };
            let (to, _) = omitted_types::element(projection, subject, to);
            sized(shape!(projection.shapes; "pointer to member of", class, "which is", to))
        }
        TypeKind::Array { of, dimensions, stride_bits } => {
            let (element, is_sized) = omitted_types::element(projection, subject, *of);
            let mut parts = vec![Part::from("array of"), element.into()];
            let room = projection.omissions.room(subject, Property::Dimensions);
            let strides = strides(projection, subject, dimensions, *stride_bits);
            for (index, dimension) in (0..).zip(dimensions).take(room) {
                let stride = strides.as_ref().map(|strides| strides[index as usize]);
                parts.push(extent(projection, Subject::Dimension(id, index), dimension, stride));
            }
            if dimensions.is_empty() && projection.omissions.has(subject, Property::Dimensions) {
                parts.push("unknown".into());
            }
            EncodedType { is_sized, shape: array(projection, parts) }
        }
        &TypeKind::Vector { of, count, .. } => {
            let basic = projection.omissions.basic(subject, Property::ElementType);
            let (element, is_sized) = omitted_types::element(projection, subject, basic.unwrap_or(of));
            let shape = if projection.omissions.has(subject, Property::Kind) {
                elements(projection, id, element, count, None)
            } else {
                shape!(projection.shapes; "vector of", element, count)
            };
            EncodedType { is_sized, shape }
        }
        &TypeKind::Matrix { of, count, is_column_major, stride_bits } => {
            let (element, is_sized) = omitted_types::element(projection, subject, of);
            let vectors = if is_column_major { "columns" } else { "rows" };
            let shape = if projection.omissions.has(subject, Property::Kind) {
                elements(projection, id, element, count, stride_bits)
            } else {
                shape!(projection.shapes; "matrix of", vectors, element, count)
            };
            EncodedType { is_sized, shape }
        }
        &TypeKind::CooperativeMatrix { of, scope, rows, columns, usage } => {
            if projection.omissions.has(subject, Property::Kind) {
                let shape = shape!(projection.shapes; "unspecified", Quoted("cooperative matrix"));
                return EncodedType { shape, is_sized: false };
            }
            let (element, is_sized) = omitted_types::element(projection, subject, of);
            let [scope, rows, columns, usage] = [scope, rows, columns, usage].map(u64::from);
            let shape =
                shape!(projection.shapes; "cooperative matrix of", element, scope, rows, columns, usage);
            EncodedType { is_sized, shape }
        }
        TypeKind::Composite(_) | TypeKind::Enum { .. } => sized(scopes::type_key(projection, id)),
        TypeKind::Subroutine { returns, parameters, .. } => {
            let mut parts = vec![
                Part::from("function returning"),
                omitted_types::pointee(projection, subject, *returns).into(),
            ];
            let room = projection.omissions.room(subject, Property::Parameters);
            let is_none = |this: &Projection<'_>, ty| this.cut_cycle(subject, ty) == Some(true);
            for &ty in parameters.iter().take(room) {
                // A parameter without a type is not imported.
                if !is_none(projection, ty) {
                    parts.push(omitted_types::element(projection, subject, ty).0.into());
                }
            }
            sized(projection.shapes.shape(&parts))
        }
    }
}

/// The type that a pointer, typedef or qualifier is based on.
fn base(projection: &mut Projection<'_>, subject: Subject, property: Property, of: Option<TypeId>) -> Shape {
    match projection.omissions.basic(subject, property) {
        Some(basic) => projection.ty(basic),
        None => omitted_types::pointee(projection, subject, of),
    }
}

/// The array that is encoded instead of a vector or matrix.
fn elements(
    projection: &mut Projection<'_>,
    id: TypeId,
    element: Shape,
    count: u64,
    stride_bits: Option<u64>,
) -> Shape {
    let dimension = Dimension::new(Count::Fixed(count));
    let strides = strides(projection, Subject::Type(id), std::slice::from_ref(&dimension), stride_bits);
    let stride = strides.map(|strides| strides[0]);
    let count = extent(projection, Subject::Dimension(id, 0), &dimension, stride);
    array(projection, vec!["array of".into(), element.into(), count])
}

/// An array's shape. Nested arrays become one array with more dimensions, because modes differ in how they encode
/// dimensions.
fn array(projection: &mut Projection<'_>, parts: Vec<Part<'static>>) -> Shape {
    if let Some(Part::Shape(of)) = parts.get(1)
        && let Some(inner) = projection.arrays.get(of)
    {
        let mut joined = vec![parts[0].clone(), inner[1].clone()];
        joined.extend_from_slice(&parts[2..]);
        joined.extend_from_slice(&inner[2..]);
        if joined.len() <= MOST_DIMENSIONS {
            let shape = projection.shapes.shape(&joined);
            projection.arrays.insert(shape, joined);
            return shape;
        }
    }
    let shape = projection.shapes.shape(&parts);
    projection.arrays.insert(shape, parts);
    shape
}

/// Strides in bytes for an array's dimensions: the element stride in whole bytes, and the row strides that follow from
/// fixed element counts. `None` if they cannot be encoded.
pub(super) fn strides(
    projection: &Projection<'_>,
    array: Subject,
    all: &[Dimension],
    stride_bits: Option<u64>,
) -> Option<Vec<u64>> {
    let bits = stride_bits
        .filter(|_| projection.has_subranges() && !projection.omissions.has(array, Property::Stride))?;
    let mut strides = vec![0; all.len()];
    let mut bytes = if bits % 8 == 0 { bits / 8 } else { return None };
    // From the innermost dimension outward.
    for (place, dimension) in all.iter().enumerate().rev() {
        strides[place] = bytes;
        match dimension.count {
            _ if place == 0 => {}
            Count::Fixed(count) if count > 0 => bytes = bytes.checked_mul(count)?,
            _ => return None,
        }
    }
    Some(strides)
}

/// A dimension: the parts that the set can encode among its element count, its lower bound and its stride.
fn extent(
    projection: &mut Projection<'_>,
    subject: Subject,
    dimension: &Dimension,
    stride: Option<u64>,
) -> Part<'static> {
    let count = count(projection, subject, dimension.count);
    let is_encoded = projection.has_subranges() && !projection.omissions.has(subject, Property::FirstIndex);
    let lower = dimension.lower.filter(|_| is_encoded);
    let stride = projection.omissions.number(subject, Property::Stride).or(stride);
    if lower.is_none() && stride.is_none() {
        return count;
    }
    let lower = lower.map_or(Part::from("default"), |lower| Part::Number(lower.into()));
    let stride = stride.map_or(Part::from("packed"), Part::from);
    shape!(projection.shapes; count, "from", lower, "every", stride).into()
}

fn count(projection: &mut Projection<'_>, dimension: Subject, count: Count) -> Part<'static> {
    match count {
        _ if projection.omissions.has(dimension, Property::Count) => "unknown".into(),
        Count::Unknown => "unknown".into(),
        Count::Fixed(count) => count.into(),
        Count::Value(_) => "computed".into(),
        Count::Variable(variable) => scopes::variable_key(projection, variable).into(),
    }
}

fn type_record(projection: &mut Projection<'_>, id: TypeId) {
    let ty = projection.module.ty(id);
    let subject = Subject::Type(id);
    let mut properties = Properties::new();
    match ty.kind() {
        // These are encoded as an unspecified type, which has a line.
        TypeKind::Base { .. }
        | TypeKind::CooperativeMatrix { .. }
        | TypeKind::String { .. }
        | TypeKind::Subrange { .. }
        | TypeKind::Set { .. }
            if projection.omissions.has(subject, Property::Encoding)
                || projection.omissions.has(subject, Property::Kind) =>
        {
            properties.push((Property::Line, "line".into(), lines::line_shape(projection, None)));
        }
        TypeKind::Unspecified { .. } => {
            properties.push((
                Property::Line,
                "line".into(),
                lines::line(projection, ty.line(), subject, Property::Line),
            ));
        }
        // These are encoded as the type that they name or qualify.
        TypeKind::Typedef { .. } | TypeKind::Qualified { .. }
            if projection.omissions.has(subject, Property::Kind) =>
        {
            return;
        }
        &TypeKind::Typedef { of, .. } => {
            properties.push((Property::Type, "type".into(), base(projection, subject, Property::Named, of)));
        }
        TypeKind::Enum { of, enumerators, is_class, .. } => {
            properties.push((Property::Type, "type".into(), projection.maybe(*of)));
            if *is_class {
                properties.push((Property::Class, "class".into(), shape!(projection.shapes; "yes")));
            }
            let encoded =
                (0..).zip(enumerators).filter(|&(index, _)| scopes::is_encoded(projection, id, index));
            let room = projection.omissions.room(subject, Property::Enumerators);
            let encoded: Vec<_> = encoded.map(|(_, &enumerator)| enumerator).take(room).collect();
            for (index, (name, value)) in encoded.into_iter().enumerate() {
                let name = Quoted(projection.module.string(name));
                let value = shape!(projection.shapes; name, Part::Number(value));
                properties.push((Property::Enumerators, format!("enumerator {index}").into(), value));
            }
        }
        TypeKind::Composite(composite) => composites::composite(projection, id, composite, &mut properties),
        // An array with several dimensions may be encoded as several arrays; some vectors and matrices are encoded as
        // arrays.
        kind if projection.is_nested && is_in_a_row(kind) => {
            let parts = projection.arrays.get(&projection.ty(id)).cloned().unwrap_or_default();
            // Each inner array is an instruction of its own, which the import reads back as a type.
            for inner in 3..parts.len() {
                let parts = [&parts[..2], &parts[inner..]].concat();
                let inner = projection.shapes.shape(&parts);
                projection.record(inner, subject, &Properties::new(), Duplicates::Merged);
            }
        }
        TypeKind::Subroutine { .. } => return,
        _ => {}
    }
    let is_declared =
        matches!(ty.kind(), TypeKind::Typedef { .. } | TypeKind::Enum { .. } | TypeKind::Composite(_));
    if is_declared {
        let scope = projection.omissions.scope(subject, ty.scope());
        properties.push((Property::Scope, "scope".into(), scopes::scope(projection, scope)));
        properties.push((
            Property::Line,
            "line".into(),
            lines::line(projection, ty.line(), subject, Property::Line),
        ));
    }
    let key = if is_declared { scopes::type_key(projection, id) } else { projection.ty(id) };
    projection.record(key, subject, &properties, Duplicates::Merged);
}

/// A pointer type's name in C syntax.
fn spelled(projection: &Projection<'_>, mut id: TypeId) -> String {
    let mut front = String::new();
    let mut back = String::new();
    for _ in 0..MOST_DERIVED {
        let target = match projection.module.ty(id).kind() {
            TypeKind::Pointer { kind, to, .. } => {
                back.insert_str(0, kind.symbol());
                *to
            }
            TypeKind::Qualified { qualifier, of: target } => {
                let word = qualifier.keyword();
                match target.map(|target| projection.module.ty(target).kind()) {
                    Some(TypeKind::Pointer { .. }) => back.insert_str(0, word),
                    _ => front = front + word + " ",
                }
                *target
            }
            _ => {
                let name = projection
                    .module
                    .ty(id)
                    .name()
                    .map_or("(anonymous)", |name| projection.module.string(name));
                return format!("{front}{name} {back}");
            }
        };
        match target {
            Some(target) => id = target,
            None => return format!("{front}void {back}"),
        }
    }
    String::new()
}

/// Maximum number of pointers and qualifiers in a type's name.
const MOST_DERIVED: usize = 16;

/// Maximum number of parts in an array built from nested arrays.
const MOST_DIMENSIONS: usize = 64;

/// Whether a mode can encode the kind as an array.
fn is_in_a_row(kind: &TypeKind) -> bool {
    matches!(kind, TypeKind::Array { .. }) || kind.elements().is_some()
}
