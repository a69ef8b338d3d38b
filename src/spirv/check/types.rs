//! Types, as the mode encodes them.

use super::described::{Projection, Properties};
use super::shapes::{Part, Quoted, Shape, Typed, shape};
use crate::model::{
    BaseEncoding, CompositeKind, Count, Dimension, MemorySpace, PointerKind, Qualifier, TypeId, TypeKind,
};
use crate::omission::{Property, Subject};
use crate::spirv::operand::Field;
use crate::spirv::table::Name;
use crate::target::SpaceId;

/// The encoding of a type.
#[derive(Debug, Clone, Copy)]
pub(super) struct EncodedType {
    pub shape: Shape,
    /// Whether its size, if it has one, is encoded. Types made of an unspecified type have no encoded size.
    pub is_sized: bool,
}

/// Storage classes of pointers that have an address space of their own, with the name of that space.
const SPACES: [(u64, &str); 4] = [(4, "local"), (5, "global"), (7, "private_lane"), (8, "generic")];

impl Projection<'_> {
    /// Makes the records of all types. Types reference earlier types only, except in members.
    pub(super) fn types(&mut self) {
        for (id, ty) in self.module.types() {
            let encoded = self.kind(id, ty.kind(), ty.bits());
            if self.has_none(id, ty.kind()) {
                *self.described.unimported.entry(encoded.shape).or_default() += 1;
            }
            self.types.push(encoded);
        }
        for id in self.module.types.keys() {
            self.type_record(id);
        }
    }

    /// Whether the instruction of a type has a `DebugInfoNone` that an import lists.
    fn has_none(&self, id: TypeId, kind: &TypeKind) -> bool {
        let subject = Subject::Type(id);
        let is_none = |of: &TypeId| self.cut_cycle(subject, *of) == Some(true);
        match kind {
            TypeKind::Array { of, .. } => is_none(of),
            TypeKind::CooperativeMatrix { of, .. } => is_none(of),
            TypeKind::MemberPointer { to, .. } => is_none(to) || self.omissions.has(subject, Property::Class),
            TypeKind::Subroutine { parameters, .. } => parameters.iter().any(is_none),
            kind => kind.elements().is_some_and(|elements| is_none(&elements.of)),
        }
    }

    pub(super) fn ty(&self, id: TypeId) -> Shape {
        self.types[id.as_u32() as usize].shape
    }

    /// The shape of a type; `None` is `void`.
    pub(super) fn maybe(&mut self, id: Option<TypeId>) -> Shape {
        match id {
            Some(id) => self.ty(id),
            None => shape!(self.shapes; "void"),
        }
    }

    fn kind(&mut self, id: TypeId, kind: &TypeKind, bits: Option<u64>) -> EncodedType {
        let subject = Subject::Type(id);
        let sized = |shape| EncodedType { shape, is_sized: true };
        match kind {
            TypeKind::Base { name, encoding } => {
                let name = Quoted(self.module.string(*name));
                if self.omissions.has(subject, Property::Encoding) {
                    // Only the name can be read back.
                    let shape = shape!(self.shapes; "unspecified", name);
                    return EncodedType { shape, is_sized: false };
                }
                let bits = self.omissions.number(subject, Property::Size).or(bits).unwrap_or_default();
                sized(shape!(self.shapes; Typed::Encoding(*encoding), name, bits, "bits"))
            }
            TypeKind::Unspecified { name } => {
                sized(shape!(self.shapes; "unspecified", Quoted(self.module.string(*name))))
            }
            &TypeKind::Pointer { kind, to, space, memory } => {
                if self.omissions.has(subject, Property::Kind) {
                    let name = self.spelled(id);
                    let encoding = Typed::Encoding(BaseEncoding::Address);
                    return sized(shape!(self.shapes; encoding, name, bits.unwrap_or_default(), "bits"));
                }
                let to = self.base(subject, Property::Pointee, to);
                let kind = match kind {
                    PointerKind::Pointer => "pointer",
                    PointerKind::Reference => "reference",
                    PointerKind::RvalueReference => "rvalue reference",
                };
                let target = &self.module.target;
                // CrossWorkgroup is encoded where the module lacks a capability of the class.
                let has_class = !self.omissions.has(subject, Property::StorageClass);
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
                let space = match self.omissions.has(subject, Property::AddressSpace) || !has_class {
                    _ if of_shader.is_some() => space,
                    true => of_class.map_or(SpaceId::DEFAULT, |space| space.id),
                    false => space,
                };
                // A space that a target has for a class comes back as that class.
                let class = match target.storage_class(space) {
                    Some(known) if !has_class => known.into(),
                    _ => class,
                };
                let space = u64::from(space.0);
                sized(shape!(self.shapes; kind, "to", to, "of storage class", class, "in space", space))
            }
            &TypeKind::Qualified { qualifier, of } => {
                let is_sized = of.is_none_or(|of| self.types[of.as_u32() as usize].is_sized);
                if self.omissions.has(subject, Property::Kind) {
                    return EncodedType { shape: self.maybe(of), is_sized };
                }
                let to = self.base(subject, Property::Qualified, of);
                let qualifier = match qualifier {
                    Qualifier::Const => "const",
                    Qualifier::Volatile => "volatile",
                    Qualifier::Restrict => "restrict",
                    Qualifier::Atomic => "atomic",
                };
                EncodedType { is_sized, shape: shape!(self.shapes; qualifier, to) }
            }
            &TypeKind::Typedef { of, .. } => {
                let is_sized = of.is_none_or(|of| self.types[of.as_u32() as usize].is_sized);
                let shape = match self.omissions.has(subject, Property::Kind) {
                    true => self.maybe(of),
                    false => self.type_key(id),
                };
                EncodedType { is_sized, shape }
            }
            &TypeKind::MemberPointer { class, to } => {
                let class = match self.omissions.has(subject, Property::Class) {
                    true => self.no_class(id),
                    false => self.ty(self.class(class)),
                };
                let (to, _) = self.element(subject, to);
                sized(shape!(self.shapes; "pointer to member of", class, "which is", to))
            }
            TypeKind::Array { of, dimensions, stride_bits } => {
                let (of, is_sized) = self.element(subject, *of);
                let mut parts = vec![Part::from("array of"), of.into()];
                let room = self.omissions.room(subject, Property::Dimensions);
                let strides = self.strides(subject, dimensions, *stride_bits);
                for (index, dimension) in (0..).zip(dimensions).take(room) {
                    let stride = strides.as_ref().map(|strides| strides[index as usize]);
                    parts.push(self.dimension(Subject::Dimension(id, index), dimension, stride));
                }
                if dimensions.is_empty() && self.omissions.has(subject, Property::Dimensions) {
                    parts.push("unknown".into());
                }
                EncodedType { is_sized, shape: self.array(parts) }
            }
            &TypeKind::Vector { of, count, .. } => {
                let basic = self.omissions.basic(subject, Property::ElementType);
                let (element, is_sized) = self.element(subject, basic.unwrap_or(of));
                let shape = match self.omissions.has(subject, Property::Kind) {
                    true => self.elements(id, element, count, None),
                    false => shape!(self.shapes; "vector of", element, count),
                };
                EncodedType { is_sized, shape }
            }
            &TypeKind::Matrix { of, count, is_column_major, stride_bits } => {
                let (element, is_sized) = self.element(subject, of);
                let vectors = if is_column_major { "columns" } else { "rows" };
                let shape = match self.omissions.has(subject, Property::Kind) {
                    true => self.elements(id, element, count, stride_bits),
                    false => shape!(self.shapes; "matrix of", vectors, element, count),
                };
                EncodedType { is_sized, shape }
            }
            &TypeKind::CooperativeMatrix { of, scope, rows, columns, usage } => {
                if self.omissions.has(subject, Property::Kind) {
                    let shape = shape!(self.shapes; "unspecified", Quoted("cooperative matrix"));
                    return EncodedType { shape, is_sized: false };
                }
                let (element, is_sized) = self.element(subject, of);
                let [scope, rows, columns, usage] = [scope, rows, columns, usage].map(u64::from);
                let shape =
                    shape!(self.shapes; "cooperative matrix of", element, scope, rows, columns, usage);
                EncodedType { is_sized, shape }
            }
            TypeKind::Composite(_) | TypeKind::Enum { .. } => sized(self.type_key(id)),
            TypeKind::Subroutine { returns, parameters } => {
                let mut parts =
                    vec![Part::from("function returning"), self.pointee(subject, *returns).into()];
                let room = self.omissions.room(subject, Property::Parameters);
                let is_none = |this: &Self, ty| this.cut_cycle(subject, ty) == Some(true);
                for &ty in parameters.iter().take(room) {
                    // A parameter without a type is not imported.
                    if !is_none(self, ty) {
                        parts.push(self.element(subject, ty).0.into());
                    }
                }
                sized(self.shapes.of(&parts))
            }
        }
    }

    /// The type that a pointer, typedef or qualifier is made of.
    fn base(&mut self, subject: Subject, property: Property, of: Option<TypeId>) -> Shape {
        match self.omissions.basic(subject, property) {
            Some(basic) => self.ty(basic),
            None => self.pointee(subject, of),
        }
    }

    /// The array that is encoded in place of a vector or matrix.
    fn elements(&mut self, id: TypeId, element: Shape, count: u64, stride_bits: Option<u64>) -> Shape {
        let dimension = Dimension::new(Count::Fixed(count));
        let strides = self.strides(Subject::Type(id), std::slice::from_ref(&dimension), stride_bits);
        let stride = strides.map(|strides| strides[0]);
        let count = self.dimension(Subject::Dimension(id, 0), &dimension, stride);
        self.array(vec!["array of".into(), element.into(), count])
    }

    /// The shape of an array. An array of arrays becomes one array with more dimensions.
    fn array(&mut self, parts: Vec<Part<'static>>) -> Shape {
        if let Some(Part::Shape(of)) = parts.get(1)
            && let Some(inner) = self.arrays.get(of)
        {
            let mut all = vec![parts[0].clone(), inner[1].clone()];
            all.extend_from_slice(&parts[2..]);
            all.extend_from_slice(&inner[2..]);
            if all.len() <= MOST_DIMENSIONS {
                let shape = self.shapes.of(&all);
                self.arrays.insert(shape, all);
                return shape;
            }
        }
        let shape = self.shapes.of(&parts);
        self.arrays.insert(shape, parts);
        shape
    }

    /// Whether dimensions are encoded as subranges.
    pub(super) fn has_subranges(&self) -> bool {
        self.mode.set.has_operand(Name::TypeArray, Field::Subrange)
    }

    /// Strides of the dimensions of an array in bytes: a stride of whole bytes, and those of its rows, whose numbers of
    /// elements are fixed. `None` if they cannot be encoded.
    pub(super) fn strides(
        &self,
        array: Subject,
        all: &[Dimension],
        stride_bits: Option<u64>,
    ) -> Option<Vec<u64>> {
        let bits =
            stride_bits.filter(|_| self.has_subranges() && !self.omissions.has(array, Property::Stride))?;
        let mut strides = vec![0; all.len()];
        let mut bytes = if bits % 8 == 0 { bits / 8 } else { return None };
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

    /// A dimension: its number of elements, its lower bound and its stride, as far as the set has them.
    fn dimension(&mut self, subject: Subject, dimension: &Dimension, stride: Option<u64>) -> Part<'static> {
        let count = self.count(subject, dimension.count);
        let is_encoded = self.has_subranges() && !self.omissions.has(subject, Property::FirstIndex);
        let lower = dimension.lower.filter(|_| is_encoded);
        let stride = self.omissions.number(subject, Property::Stride).or(stride);
        if lower.is_none() && stride.is_none() {
            return count;
        }
        let lower = lower.map_or(Part::from("default"), |lower| Part::Number(lower.into()));
        let stride = stride.map_or(Part::from("packed"), Part::from);
        shape!(self.shapes; count, "from", lower, "every", stride).into()
    }

    fn count(&mut self, dimension: Subject, count: Count) -> Part<'static> {
        match count {
            _ if self.omissions.has(dimension, Property::Count) => "unknown".into(),
            Count::Unknown => "unknown".into(),
            Count::Fixed(count) => count.into(),
            Count::Value(_) => "computed".into(),
            Count::Variable(variable) => self.variable_key(variable).into(),
        }
    }

    /// The type behind typedefs and qualifiers.
    pub(super) fn class(&self, mut id: TypeId) -> TypeId {
        // Ends, because a typedef or qualified type is newer than its target.
        while let TypeKind::Typedef { of: Some(of), .. } | TypeKind::Qualified { of: Some(of), .. } =
            self.module.ty(id).kind()
        {
            id = *of;
        }
        id
    }

    /// The key of a type that can have a name. Enclosing functions and types are not part of it, since they cannot
    /// always be encoded.
    pub(super) fn type_key(&mut self, id: TypeId) -> Shape {
        let ty = self.module.ty(id);
        let around = self.namespace(ty.scope());
        let name = ty.name().map(|name| self.module.string(name));
        match ty.kind() {
            TypeKind::Typedef { .. } => {
                shape!(self.shapes; around, "typedef", Quoted(name.unwrap_or_default()))
            }
            TypeKind::Enum { enumerators, .. } => match name {
                Some(name) => shape!(self.shapes; around, "enum", Quoted(name)),
                None => {
                    let mut encoded = (0..).zip(enumerators).filter(|&(index, _)| self.is_encoded(id, index));
                    let first = encoded.next().map(|(_, (name, _))| self.module.string(*name));
                    let line = self.line(ty.line(), Subject::Type(id), Property::Line);
                    shape!(self.shapes; around, "enum of", Quoted(first.unwrap_or_default()), line)
                }
            },
            TypeKind::Composite(composite) => {
                let kind = match composite.kind {
                    CompositeKind::Class => "class",
                    CompositeKind::Struct => "struct",
                    CompositeKind::Union => "union",
                };
                match name.filter(|name| !name.is_empty()) {
                    Some(name) => shape!(self.shapes; around, kind, Quoted(name)),
                    None => {
                        let line = self.line(ty.line(), Subject::Type(id), Property::Line);
                        let first = composite.members.first().and_then(|member| member.name);
                        let first = Quoted(first.map_or("", |name| self.module.string(name)));
                        shape!(self.shapes; around, kind, "with", first, line, ty.bits().unwrap_or_default())
                    }
                }
            }
            _ => self.ty(id),
        }
    }

    /// Whether an enumerator is not omitted.
    fn is_encoded(&self, id: TypeId, index: u32) -> bool {
        !self.omissions.has(Subject::Enumerator(id, index), Property::Entity)
    }

    fn type_record(&mut self, id: TypeId) {
        let ty = self.module.ty(id);
        let subject = Subject::Type(id);
        let mut all = Properties::new();
        match ty.kind() {
            // Encoded as an unspecified type, which has a line.
            TypeKind::Base { .. } | TypeKind::CooperativeMatrix { .. }
                if self.omissions.has(subject, Property::Encoding)
                    || self.omissions.has(subject, Property::Kind) =>
            {
                all.push((Property::Line, "line".into(), self.line_shape(None)));
            }
            TypeKind::Unspecified { .. } => {
                all.push((Property::Line, "line".into(), self.line(ty.line(), subject, Property::Line)));
            }
            // Encoded as the type that it names or qualifies.
            TypeKind::Typedef { .. } | TypeKind::Qualified { .. }
                if self.omissions.has(subject, Property::Kind) =>
            {
                return;
            }
            &TypeKind::Typedef { of, .. } => {
                all.push((Property::Type, "type".into(), self.base(subject, Property::Named, of)));
            }
            TypeKind::Enum { of, enumerators, is_class, .. } => {
                all.push((Property::Type, "type".into(), self.ty(*of)));
                if *is_class {
                    all.push((Property::Class, "class".into(), shape!(self.shapes; "yes")));
                }
                let encoded = (0..).zip(enumerators).filter(|&(index, _)| self.is_encoded(id, index));
                let room = self.omissions.room(subject, Property::Enumerators);
                let encoded: Vec<_> = encoded.map(|(_, &enumerator)| enumerator).take(room).collect();
                for (index, (name, value)) in encoded.into_iter().enumerate() {
                    let name = Quoted(self.module.string(name));
                    let value = shape!(self.shapes; name, Part::Number(value));
                    all.push((Property::Enumerators, format!("enumerator {index}").into(), value));
                }
            }
            TypeKind::Composite(composite) => self.composite(id, composite, &mut all),
            // An array of several dimensions may be encoded as several arrays; some vectors and matrices are encoded as
            // arrays.
            kind if self.is_nested && is_in_a_row(kind) => {
                let parts = self.arrays.get(&self.ty(id)).cloned().unwrap_or_default();
                for inner in 3..parts.len() {
                    let parts = [&parts[..2], &parts[inner..]].concat();
                    let inner = self.shapes.of(&parts);
                    self.record(inner, subject, &Properties::new(), true);
                }
            }
            TypeKind::Subroutine { .. } => return,
            _ => {}
        }
        let is_declared =
            matches!(ty.kind(), TypeKind::Typedef { .. } | TypeKind::Enum { .. } | TypeKind::Composite(_));
        if is_declared {
            let scope = self.omissions.scope(subject, ty.scope());
            all.push((Property::Scope, "scope".into(), self.scope(scope)));
            all.push((Property::Line, "line".into(), self.line(ty.line(), subject, Property::Line)));
        }
        let key = if is_declared { self.type_key(id) } else { self.ty(id) };
        self.record(key, subject, &all, true);
    }

    /// The integer in the bytes of a constant, zero-extended; `None` for other types and for more than 8 bytes.
    pub(super) fn integer(&self, ty: TypeId, bytes: &[u8]) -> Option<u64> {
        if bytes.is_empty() || bytes.len() > 8 || !self.is_integer(ty) {
            return None;
        }
        let fold = |number: u64, &byte: &u8| number << 8 | u64::from(byte);
        Some(match self.module.target.is_big_endian() {
            true => bytes.iter().fold(0, fold),
            false => bytes.iter().rev().fold(0, fold),
        })
    }

    fn is_integer(&self, id: TypeId) -> bool {
        match self.module.ty(self.class(id)).kind() {
            TypeKind::Base { encoding, .. } => !encoding.is_float(),
            TypeKind::Pointer { .. } => true,
            &TypeKind::Enum { of, .. } => {
                matches!(self.module.ty(self.class(of)).kind(), TypeKind::Base { .. })
            }
            _ => false,
        }
    }

    /// The name of a pointer type in C syntax.
    fn spelled(&self, mut id: TypeId) -> String {
        let (mut front, mut back) = (String::new(), String::new());
        for _ in 0..MOST_DERIVED {
            let of = match self.module.ty(id).kind() {
                TypeKind::Pointer { kind, to, .. } => {
                    back.insert_str(0, kind.symbol());
                    *to
                }
                TypeKind::Qualified { qualifier, of } => {
                    let word = qualifier.keyword();
                    match of.map(|of| self.module.ty(of).kind()) {
                        Some(TypeKind::Pointer { .. }) => back.insert_str(0, word),
                        _ => front = front + word + " ",
                    }
                    *of
                }
                _ => {
                    let name =
                        self.module.ty(id).name().map_or("(anonymous)", |name| self.module.string(name));
                    return format!("{front}{name} {back}");
                }
            };
            match of {
                Some(of) => id = of,
                None => return format!("{front}void {back}"),
            }
        }
        String::new()
    }
}

/// Most pointers and qualifiers in the name of a type.
const MOST_DERIVED: usize = 16;

/// Most parts of an array that is made of an array of arrays.
const MOST_DIMENSIONS: usize = 64;

/// Whether a mode can encode the kind as an array.
fn is_in_a_row(kind: &TypeKind) -> bool {
    matches!(kind, TypeKind::Array { .. }) || kind.elements().is_some()
}
