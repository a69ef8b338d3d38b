//! Types that are omitted from the types made of them.

use super::described::Projection;
use super::shapes::{Shape, shape};
use crate::model::{TypeId, TypeKind};
use crate::omission::{Property, Reason, Subject};

impl Projection<'_, '_> {
    /// Whether the reference from one type to another is omitted.
    pub(super) fn is_cut(&self, id: TypeId, of: TypeId) -> bool {
        self.omissions.is_cut(Subject::Type(id), self.stand_in(of))
    }

    /// The type that is encoded in place of a qualified type or typedef of it.
    pub(super) fn stand_in(&self, mut of: TypeId) -> TypeId {
        while self
            .omissions
            .of(Subject::Type(of))
            .any(|it| matches!(it.reason, Reason::AsUnqualified(_) | Reason::AsUnnamed(_)))
        {
            match *self.module.ty(of).kind() {
                TypeKind::Qualified { of: Some(next), .. } | TypeKind::Typedef { of: Some(next), .. } => {
                    of = next
                }
                _ => break,
            }
        }
        of
    }

    /// The type that a pointer, typedef or qualified type references.
    pub(super) fn pointee(&mut self, id: TypeId, of: Option<TypeId>) -> Shape {
        match of {
            Some(of) if self.is_cut(id, of) => self.nothing(Some(of)),
            of => self.maybe(of),
        }
    }

    /// The stand-in for an omitted type.
    pub(super) fn nothing(&mut self, of: Option<TypeId>) -> Shape {
        match of.filter(|_| !self.mode.has_none_types) {
            Some(of) => self.unspecified(of),
            None => shape!(self.shapes; "void"),
        }
    }

    /// An unspecified type that stands for an omitted one, with its name unless the mode has `DebugInfoNone` there.
    pub(super) fn unspecified(&mut self, of: TypeId) -> Shape {
        let name = self.module.ty(of).name().filter(|_| !self.mode.has_none_types);
        let name = name.map_or("", |name| self.module.string(name)).to_owned();
        let key = shape!(self.shapes; "unspecified", name);
        let nowhere = self.line(None);
        self.record(key, Subject::Type(of), vec![("line".into(), nowhere)], true);
        key
    }

    /// Whether a type cannot be imported, because a type that it is made of is omitted.
    pub(super) fn is_lost(&self, id: TypeId) -> bool {
        let lost = |of: TypeId| self.types[of.as_u32() as usize].is_lost;
        let cut = |of: TypeId| self.mode.has_none_types && self.is_cut(id, of);
        match *self.module.ty(id).kind() {
            TypeKind::Pointer { to: Some(of), .. }
            | TypeKind::Qualified { of: Some(of), .. }
            | TypeKind::Typedef { of: Some(of), .. } => lost(of) && !cut(of),
            TypeKind::Array { of, .. } | TypeKind::Vector { of, .. } | TypeKind::Matrix { of, .. } => {
                lost(of) || cut(of)
            }
            // Every mode has a `DebugInfoNone` in place of an omitted class.
            TypeKind::MemberPointer { class, to } => {
                let is_none = self.omissions.has(Subject::Type(id), Property::Class);
                lost(class) || lost(to) || cut(to) || is_none
            }
            _ => false,
        }
    }
}
