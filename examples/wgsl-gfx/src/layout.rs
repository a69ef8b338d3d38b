//! Types in memory: the scalars of a value, each with its offset in bytes.

use naga::{ArraySize, Handle, Module, Scalar, ScalarKind, Type, TypeInner};

/// Largest number of scalars of a value in registers.
pub const MOST: usize = 32;

/// The scalars of a type, in order. `None` if it has no fixed size, other scalars than those of 32 bits, or too many.
pub fn leaves(module: &Module, ty: Handle<Type>) -> Option<Vec<(u32, ScalarKind)>> {
    let mut found = Vec::new();
    add(module, &module.types[ty].inner, 0, &mut found)?;
    Some(found)
}

/// The same of a type that a pointer refers to.
pub fn leaves_of(module: &Module, ty: &TypeInner) -> Option<Vec<(u32, ScalarKind)>> {
    let mut found = Vec::new();
    add(module, ty, 0, &mut found)?;
    Some(found)
}

fn add(module: &Module, ty: &TypeInner, at: u32, found: &mut Vec<(u32, ScalarKind)>) -> Option<()> {
    let scalar =
        |scalar: Scalar| (scalar.width == 4 || scalar.kind == ScalarKind::Bool).then_some(scalar.kind);
    if found.len() > MOST {
        return None;
    }
    let first = found.len();
    match *ty {
        TypeInner::Scalar(of) | TypeInner::Atomic(of) => found.push((at, scalar(of)?)),
        TypeInner::Vector { size, scalar: of } => {
            for n in 0..size as u32 {
                found.push((at + 4 * n, scalar(of)?));
            }
        }
        TypeInner::Matrix { columns, rows, scalar: of } => {
            for column in 0..columns as u32 {
                for row in 0..rows as u32 {
                    found.push((at + column * column_bytes(rows) + 4 * row, scalar(of)?));
                }
            }
        }
        TypeInner::Array { base, size: ArraySize::Constant(count), stride } => {
            for n in 0..count.get() {
                add(module, &module.types[base].inner, at + n * stride, found)?;
            }
        }
        TypeInner::Struct { ref members, .. } => {
            for member in members {
                add(module, &module.types[member.ty].inner, at + member.offset, found)?;
            }
        }
        _ => return None,
    }
    // In memory, naga's booleans have one byte.
    let nests = matches!(ty, TypeInner::Array { .. } | TypeInner::Struct { .. });
    let is_bool = found[first..].iter().any(|(_, kind)| *kind == ScalarKind::Bool);
    (found.len() <= MOST && !(nests && is_bool)).then_some(())
}

/// Distance of the columns of a matrix in bytes.
pub fn column_bytes(rows: naga::VectorSize) -> u32 {
    if rows == naga::VectorSize::Bi { 8 } else { 16 }
}

/// Size of a value in bytes. Booleans have four.
pub fn size(module: &Module, ty: Handle<Type>) -> u32 {
    match &module.types[ty].inner {
        TypeInner::Scalar(_) => 4,
        TypeInner::Vector { size, .. } => 4 * *size as u32,
        inner => inner.size(module.to_ctx()),
    }
}

/// The type and the distance in bytes of elements of an array, vector or matrix.
pub fn element(ty: &TypeInner) -> Option<(Element, u32)> {
    Some(match *ty {
        TypeInner::Array { base, stride, .. } => (Element::Type(base), stride),
        TypeInner::Vector { scalar, .. } => (Element::Inner(TypeInner::Scalar(scalar)), 4),
        TypeInner::Matrix { rows, scalar, .. } => {
            (Element::Inner(TypeInner::Vector { size: rows, scalar }), column_bytes(rows))
        }
        _ => return None,
    })
}

/// The type of an element.
#[derive(Debug, Clone)]
pub enum Element {
    Type(Handle<Type>),
    Inner(TypeInner),
}

impl Element {
    pub fn inner(self, module: &Module) -> TypeInner {
        match self {
            Self::Type(ty) => module.types[ty].inner.clone(),
            Self::Inner(inner) => inner,
        }
    }
}

/// The number of elements, if it is fixed.
pub fn count(ty: &TypeInner) -> Option<u32> {
    match *ty {
        TypeInner::Array { size: ArraySize::Constant(count), .. } => Some(count.get()),
        TypeInner::Vector { size, .. } => Some(size as u32),
        TypeInner::Matrix { columns, .. } => Some(columns as u32),
        TypeInner::Struct { ref members, .. } => Some(members.len() as u32),
        _ => None,
    }
}
