//! Stand-ins for types that are omitted where other types reference them.

use smallvec::smallvec;

use super::described::{Duplicates, Projection};
use super::shapes::{Quoted, Shape, shape};
use super::{lines, scopes};
use crate::model::TypeId;
use crate::omission::{Property, Subject};

/// The type that an entity references, `None` for `void`.
pub(super) fn pointee(projection: &mut Projection<'_>, subject: Subject, of: Option<TypeId>) -> Shape {
    match of.and_then(|ty| Some((ty, projection.cut_cycle(subject, ty)?))) {
        Some((_, true)) => shape!(projection.shapes; "void"),
        Some((of, false)) => unspecified(projection, of, false),
        None => projection.maybe(of),
    }
}

/// The type of an entity whose type cannot be `void`; also whether that type has a known size.
pub(super) fn element(projection: &mut Projection<'_>, subject: Subject, of: TypeId) -> (Shape, bool) {
    match projection.cut_cycle(subject, of) {
        Some(is_none) => (unspecified(projection, of, is_none), false),
        None => (projection.ty(of), projection.types[of.as_u32() as usize].is_sized),
    }
}

/// An unspecified type that stands for an omitted type; it has the omitted type's name unless it is a `DebugInfoNone`.
fn unspecified(projection: &mut Projection<'_>, of: TypeId, is_none: bool) -> Shape {
    let name = projection.module.ty(of).name().filter(|_| !is_none);
    let name = Quoted(name.map_or("", |name| projection.module.string(name)));
    let key = shape!(projection.shapes; "unspecified", name);
    let nowhere = lines::line_shape(projection, None);
    projection.record(
        key,
        Subject::Type(of),
        &smallvec![(Property::Line, "line".into(), nowhere)],
        Duplicates::Merged,
    );
    key
}

/// The structure without name and members that stands for a member pointer's omitted class.
pub(super) fn no_class(projection: &mut Projection<'_>, id: TypeId) -> Shape {
    let unit = scopes::namespace(projection, projection.module.unit(projection.module.ty(id).unit()).scope);
    let nowhere = lines::line_shape(projection, None);
    let size = shape!(projection.shapes; "incomplete");
    let key = shape!(projection.shapes; unit, "struct", "with", String::new(), nowhere, 0u64);
    let properties = smallvec![
        (Property::Size, "size".into(), size),
        (Property::Scope, "scope".into(), unit),
        (Property::Line, "line".into(), nowhere),
    ];
    projection.record(key, Subject::Type(id), &properties, Duplicates::Merged);
    key
}
