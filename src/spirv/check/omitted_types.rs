//! Types that are omitted from the types made of them.

use smallvec::smallvec;

use super::described::Projection;
use super::shapes::{Quoted, Shape, shape};
use crate::model::{TypeId, TypeKind};
use crate::omission::{Property, Reason, Subject};

impl Projection<'_> {
    /// Whether the reference from one entity to a type is omitted; if so, whether `DebugInfoNone` is encoded there.
    pub(super) fn cut_cycle(&self, subject: Subject, of: TypeId) -> Option<bool> {
        self.omissions.cut_cycle(subject, self.stand_in(of))
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

    /// The type that an entity references, `None` for `void`.
    pub(super) fn pointee(&mut self, subject: Subject, of: Option<TypeId>) -> Shape {
        match of.and_then(|of| Some((of, self.cut_cycle(subject, of)?))) {
            Some((_, true)) => shape!(self.shapes; "void"),
            Some((of, false)) => self.unspecified(of, false),
            None => self.maybe(of),
        }
    }

    /// The type of an entity that cannot be of type `void`; also whether the type has a known size.
    pub(super) fn element(&mut self, subject: Subject, of: TypeId) -> (Shape, bool) {
        match self.cut_cycle(subject, of) {
            Some(is_none) => (self.unspecified(of, is_none), false),
            None => (self.ty(of), self.types[of.as_u32() as usize].is_sized),
        }
    }

    /// An unspecified type that stands for an omitted one, with its name unless it is a `DebugInfoNone`.
    fn unspecified(&mut self, of: TypeId, is_none: bool) -> Shape {
        let name = self.module.ty(of).name().filter(|_| !is_none);
        let name = Quoted(name.map_or("", |name| self.module.string(name)));
        let key = shape!(self.shapes; "unspecified", name);
        let nowhere = self.line_shape(None);
        self.record(key, Subject::Type(of), &smallvec![(Property::Line, "line".into(), nowhere)], true);
        key
    }

    /// The structure without name and members that stands for the omitted class of a pointer to a member.
    pub(super) fn no_class(&mut self, id: TypeId) -> Shape {
        let unit = self.namespace(self.module.unit(self.module.ty(id).unit()).scope);
        let (nowhere, size) = (self.line_shape(None), shape!(self.shapes; "incomplete"));
        let key = shape!(self.shapes; unit, "struct", "with", String::new(), nowhere, 0u64);
        let all = smallvec![
            (Property::Size, "size".into(), size),
            (Property::Scope, "scope".into(), unit),
            (Property::Line, "line".into(), nowhere),
        ];
        self.record(key, Subject::Type(id), &all, true);
        key
    }
}
