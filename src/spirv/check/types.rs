//! Types, as the mode encodes them.

use super::described::Projection;
use super::shapes::{Part, Shape, shape};
use crate::model::{
    BaseEncoding, CompositeKind, Count, MemorySpace, PointerKind, Qualifier, TypeId, TypeKind,
};
use crate::omission::{Property, Subject};
use crate::spirv::mode::{BaseTypes, Vectors};

/// The encoding of a type.
#[derive(Debug, Clone, Copy)]
pub(super) struct EncodedType {
    pub shape: Shape,
    /// The basic type that it is, names or qualifies.
    pub basic: Option<Shape>,
    /// Whether it is the basic type itself.
    pub is_basic: bool,
    /// Whether its size, if it has one, is encoded. Types made of an unspecified type have no encoded size.
    pub is_sized: bool,
    /// Whether it cannot be imported, because a part that it needs is omitted.
    pub is_lost: bool,
}

impl Projection<'_, '_> {
    /// Makes the records of all types. Types reference earlier types only, except in members.
    pub(super) fn types(&mut self) {
        for (id, ty) in self.module.types() {
            let said = self.kind(id, ty.kind(), ty.bits());
            let is_lost = self.is_lost(id);
            self.types.push(EncodedType { is_lost, ..said });
        }
        for id in self.module.types.keys() {
            self.type_record(id);
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
        let said = |of: Option<TypeId>, types: &[EncodedType]| of.map(|of| types[of.as_u32() as usize]);
        let plain =
            |shape| EncodedType { shape, basic: None, is_basic: false, is_sized: true, is_lost: false };
        match kind {
            TypeKind::Base { name, encoding } => {
                let name = self.module.string(*name).to_owned();
                let shape = match word(*encoding) {
                    Some(encoding) => {
                        shape!(self.shapes; encoding, name, bits.unwrap_or_default(), "bits")
                    }
                    // Only the name can be read back.
                    None => shape!(self.shapes; "unspecified", name),
                };
                let is_sized = word(*encoding).is_some();
                EncodedType { basic: Some(shape), is_basic: true, is_sized, ..plain(shape) }
            }
            TypeKind::Unspecified { name } => {
                plain(shape!(self.shapes; "unspecified", self.module.string(*name).to_owned()))
            }
            &TypeKind::Pointer { kind, to, space, memory } => {
                let of = said(to, &self.types);
                let to = match self.mode.pointee {
                    BaseTypes::Any => self.pointee(id, to),
                    BaseTypes::Basic => match of.and_then(|of| of.basic) {
                        Some(basic) => basic,
                        None => {
                            let bits = bits.unwrap_or_default();
                            let name = self.spelled(id);
                            let shape = shape!(self.shapes; "address", name, bits, "bits");
                            return EncodedType { basic: Some(shape), is_basic: true, ..plain(shape) };
                        }
                    },
                };
                let kind = match kind {
                    PointerKind::Pointer => "pointer",
                    PointerKind::Reference => "reference",
                    PointerKind::RvalueReference => "rvalue reference",
                };
                let name = self.module.target.space(space).map_or("", |space| &*space.name);
                let class: u64 = match (memory, name) {
                    (Some(MemorySpace::Constant), _) => 0,
                    (Some(MemorySpace::Group), _) | (None, "local") => 4,
                    (Some(MemorySpace::Private), _) | (None, "private_lane" | "private_wave") => 7,
                    (None, "generic") if self.has_generic() => 8,
                    _ => 5,
                };
                plain(shape!(self.shapes; kind, "to", to, "of storage class", class))
            }
            &TypeKind::Qualified { qualifier, of } => {
                let inner = said(of, &self.types);
                let basic = inner.and_then(|inner| inner.basic);
                let to = match (self.mode.pointee, basic) {
                    (BaseTypes::Any, _) => self.pointee(id, of),
                    (BaseTypes::Basic, Some(basic)) => basic,
                    (BaseTypes::Basic, None) => {
                        let shape = self.maybe(of);
                        return inner.unwrap_or(plain(shape));
                    }
                };
                let qualifier = match qualifier {
                    Qualifier::Const => "const",
                    Qualifier::Volatile => "volatile",
                    Qualifier::Restrict => "restrict",
                    Qualifier::Atomic => "atomic",
                };
                let is_sized = inner.is_none_or(|inner| inner.is_sized);
                EncodedType { basic, is_sized, ..plain(shape!(self.shapes; qualifier, to)) }
            }
            &TypeKind::Typedef { of, .. } => {
                let inner = said(of, &self.types);
                let basic = inner.and_then(|inner| inner.basic);
                if self.mode.typedef == BaseTypes::Basic && basic.is_none() {
                    let shape = self.maybe(of);
                    return inner.unwrap_or(plain(shape));
                }
                let is_sized = inner.is_none_or(|inner| inner.is_sized);
                EncodedType { basic, is_sized, ..plain(self.type_key(id)) }
            }
            &TypeKind::MemberPointer { class, to } => {
                let class = self.ty(self.class(class));
                plain(shape!(self.shapes; "pointer to member of", class, "which is", self.ty(to)))
            }
            TypeKind::Array { of, dimensions, .. } => {
                let mut parts = vec![Part::from("array of"), self.ty(*of).into()];
                for (index, dimension) in (0..).zip(dimensions) {
                    let subject = Subject::Dimension(id, index);
                    parts.push(self.count(subject, dimension.count));
                }
                if dimensions.is_empty() {
                    parts.push("unknown".into());
                }
                let is_sized = self.types[of.as_u32() as usize].is_sized;
                EncodedType { is_sized, ..plain(self.array(parts)) }
            }
            TypeKind::Vector { of, count } => {
                let inner = self.types[of.as_u32() as usize];
                let said = match self.vector_of(*of, *count) {
                    Some(of) => plain(shape!(self.shapes; "vector of", of, *count)),
                    None => {
                        let count = self.count(Subject::Dimension(id, 0), Count::Fixed(*count));
                        plain(self.array(vec!["array of".into(), inner.shape.into(), count]))
                    }
                };
                EncodedType { is_sized: inner.is_sized, ..said }
            }
            TypeKind::Matrix { of, count, is_column_major } => {
                let inner = self.types[of.as_u32() as usize];
                let is_vector = match self.module.ty(*of).kind() {
                    TypeKind::Vector { of, count } => self.vector_of(*of, *count).is_some(),
                    _ => false,
                };
                let said = match u32::try_from(*count) {
                    Ok(_) if is_vector && self.mode.set.is_shader() => {
                        let vectors = if *is_column_major { "columns" } else { "rows" };
                        plain(shape!(self.shapes; "matrix of", vectors, inner.shape, *count))
                    }
                    _ => {
                        let count = self.count(Subject::Dimension(id, 0), Count::Fixed(*count));
                        plain(self.array(vec!["array of".into(), inner.shape.into(), count]))
                    }
                };
                EncodedType { is_sized: inner.is_sized, ..said }
            }
            TypeKind::Composite(_) | TypeKind::Enum { .. } => plain(self.type_key(id)),
            TypeKind::Subroutine { returns, parameters } => {
                let mut parts = vec![Part::from("function returning"), self.pointee(id, *returns).into()];
                for &ty in parameters {
                    match self.is_cut(id, ty) {
                        // A parameter without a type cannot be imported.
                        true if self.mode.has_none_types => {}
                        true => parts.push(self.nothing(Some(ty)).into()),
                        false => parts.push(self.ty(ty).into()),
                    }
                }
                plain(self.shapes.of(parts))
            }
        }
    }

    /// The element type of a vector, if it is encoded as a `DebugTypeVector`.
    fn vector_of(&self, of: TypeId, count: u64) -> Option<Shape> {
        let inner = self.types[of.as_u32() as usize];
        match self.mode.vector {
            Vectors::Any => u32::try_from(count).ok().map(|_| inner.shape),
            Vectors::Short => inner.basic.filter(|_| (1..=4).contains(&count)),
        }
    }

    /// The shape of an array. An array of arrays becomes one array with more dimensions.
    fn array(&mut self, parts: Vec<Part>) -> Shape {
        if let Some(Part::Shape(of)) = parts.get(1)
            && let Some(inner) = self.arrays.get(of)
        {
            let mut all = vec![parts[0].clone(), inner[1].clone()];
            all.extend_from_slice(&parts[2..]);
            all.extend_from_slice(&inner[2..]);
            if all.len() <= MOST_DIMENSIONS {
                let shape = self.shapes.of(all.clone());
                self.arrays.insert(shape, all);
                return shape;
            }
        }
        let shape = self.shapes.of(parts.clone());
        self.arrays.insert(shape, parts);
        shape
    }

    fn count(&mut self, dimension: Subject, count: Count) -> Part {
        match count {
            _ if self.omissions.has(dimension, Property::Count) => "unknown".into(),
            Count::Fixed(0) if !self.mode.has_empty_arrays || self.mode.set.is_shader() => "unknown".into(),
            Count::Fixed(count) => count.into(),
            Count::Variable(variable) if self.mode.has_variable_counts && self.counts(variable) => {
                self.variable_key(variable).into()
            }
            Count::Unknown | Count::Value(_) | Count::Variable(_) => "unknown".into(),
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
        let name = ty.name().map(|name| self.module.string(name).to_owned());
        match ty.kind() {
            TypeKind::Typedef { .. } => shape!(self.shapes; around, "typedef", name.unwrap_or_default()),
            TypeKind::Enum { enumerators, .. } => match name {
                Some(name) => shape!(self.shapes; around, "enum", name),
                None => {
                    let mut encoded = (0..).zip(enumerators).filter(|&(index, _)| self.is_encoded(id, index));
                    let first = encoded.next().map(|(_, (name, _))| self.module.string(*name).to_owned());
                    let line = self.line(ty.line());
                    shape!(self.shapes; around, "enum of", first.unwrap_or_default(), line)
                }
            },
            TypeKind::Composite(composite) => {
                let kind = match composite.kind {
                    CompositeKind::Class => "class",
                    CompositeKind::Struct => "struct",
                    CompositeKind::Union => "union",
                };
                match name.filter(|name| !name.is_empty()) {
                    Some(name) => shape!(self.shapes; around, kind, name),
                    None => {
                        let line = self.line(ty.line());
                        let first = composite.members.first().and_then(|member| member.name);
                        let first = first.map_or("", |name| self.module.string(name)).to_owned();
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
        if self.types[id.as_u32() as usize].is_lost {
            return;
        }
        let mut all: Vec<(String, Shape)> = Vec::new();
        match ty.kind() {
            // Encoded as an unspecified type, which has a line.
            TypeKind::Base { encoding, .. } if word(*encoding).is_none() => {
                all.push(("line".into(), self.line(None)));
            }
            TypeKind::Base { .. } => {}
            TypeKind::Unspecified { .. } => all.push(("line".into(), self.line(ty.line()))),
            // Encoded as a basic type.
            TypeKind::Pointer { .. } if self.types[id.as_u32() as usize].is_basic => {}
            &TypeKind::Typedef { of, .. } => {
                let basic = self.types[id.as_u32() as usize].basic;
                let named = match (self.mode.typedef, basic) {
                    (BaseTypes::Any, _) => self.pointee(id, of),
                    (BaseTypes::Basic, Some(basic)) => basic,
                    // Omitted.
                    (BaseTypes::Basic, None) => return,
                };
                all.push(("type".into(), named));
            }
            TypeKind::Enum { of, enumerators, is_class, .. } => {
                all.push(("type".into(), self.ty(*of)));
                if *is_class {
                    all.push(("class".into(), shape!(self.shapes; "yes")));
                }
                let encoded = (0..).zip(enumerators).filter(|&(index, _)| self.is_encoded(id, index));
                let room = self.omissions.room(Subject::Type(id), Property::Enumerators);
                let encoded: Vec<_> = encoded.map(|(_, &enumerator)| enumerator).take(room).collect();
                for (index, (name, value)) in encoded.into_iter().enumerate() {
                    let name = self.module.string(name).to_owned();
                    let value = shape!(self.shapes; name, Part::Number(value));
                    all.push((format!("enumerator {index}"), value));
                }
            }
            TypeKind::Composite(composite) => self.composite(id, composite, &mut all),
            // Encoded as the type that it qualifies.
            TypeKind::Qualified { of, .. } if self.maybe(*of) == self.ty(id) => return,
            // An array of several dimensions may be encoded as several arrays; some vectors and matrices are encoded as
            // arrays.
            TypeKind::Array { .. } | TypeKind::Vector { .. } | TypeKind::Matrix { .. }
                if self.is_nested && self.arrays.contains_key(&self.ty(id)) =>
            {
                return;
            }
            TypeKind::Subroutine { .. } => return,
            _ => {}
        }
        let is_declared =
            matches!(ty.kind(), TypeKind::Typedef { .. } | TypeKind::Enum { .. } | TypeKind::Composite(_));
        if is_declared {
            let scope = self.omissions.scope(Subject::Type(id), ty.scope());
            all.push(("scope".into(), self.scope(scope)));
            all.push(("line".into(), self.line(ty.line())));
        }
        let key = if is_declared { self.type_key(id) } else { self.ty(id) };
        self.record(key, Subject::Type(id), all, true);
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
            TypeKind::Base { encoding, .. } => !matches!(
                encoding,
                BaseEncoding::Float
                    | BaseEncoding::ComplexFloat
                    | BaseEncoding::ImaginaryFloat
                    | BaseEncoding::DecimalFloat
            ),
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
                    let sign = match kind {
                        PointerKind::Pointer => "*",
                        PointerKind::Reference => "&",
                        PointerKind::RvalueReference => "&&",
                    };
                    back.insert_str(0, sign);
                    *to
                }
                TypeKind::Qualified { qualifier, of } => {
                    let word = match qualifier {
                        Qualifier::Const => "const",
                        Qualifier::Volatile => "volatile",
                        Qualifier::Restrict => "restrict",
                        Qualifier::Atomic => "_Atomic",
                    };
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

fn word(encoding: BaseEncoding) -> Option<&'static str> {
    Some(match encoding {
        BaseEncoding::Address => "address",
        BaseEncoding::Boolean => "boolean",
        BaseEncoding::Float => "float",
        BaseEncoding::Signed => "signed",
        BaseEncoding::SignedChar => "signed character",
        BaseEncoding::Unsigned => "unsigned",
        BaseEncoding::UnsignedChar => "unsigned character",
        _ => return None,
    })
}
