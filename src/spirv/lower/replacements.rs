//! Replacements for types that the mode cannot encode. They are decided before anything is written, because a
//! replacement changes all instructions that refer to the type.

use super::writer::Writer;
use crate::model::{Module, SecondaryMap, TypeId, TypeKind};
use crate::omission::{Property, Reason, Subject};
use crate::spirv::mode::BaseTypes;

/// The type that is written instead of each type.
#[derive(Debug, Default)]
pub(super) struct Replacements {
    /// Replacements. A type without an entry stands for itself; `None` stands for no type.
    replaced: SecondaryMap<TypeId, Option<Option<TypeId>>>,
    /// Each type's basic type, without its qualifiers and typedefs.
    basic: SecondaryMap<TypeId, Option<TypeId>>,
}

impl Replacements {
    /// One pass is enough, because types follow their components.
    pub fn new(writer: &mut Writer<'_>, module: &Module) -> Self {
        let mut replacements = Self::default();
        let mode = writer.mode;
        let pointee = mode.pointee == BaseTypes::Basic;
        let typedef = mode.typedef == BaseTypes::Basic;
        for (id, ty) in &module.types {
            let mut omit = |property, reason| writer.omit(module, Subject::Type(id), property, reason);
            let of_basic = |ty: Option<TypeId>| ty.and_then(|ty| replacements.basic[ty]);
            match ty.kind {
                TypeKind::Base { .. } => replacements.basic[id] = Some(id),
                TypeKind::Pointer { to, .. } if pointee => match (to, of_basic(to)) {
                    (Some(to), Some(basic)) if to != basic => {
                        omit(Property::Pointee, Reason::AsBasic(to, basic));
                    }
                    (_, Some(_)) => {}
                    (_, None) => {
                        omit(Property::Kind, Reason::AsAddress(mode.name));
                        replacements.basic[id] = Some(id);
                    }
                },
                TypeKind::Qualified { of, .. } => {
                    replacements.basic[id] = of_basic(of);
                    if pointee && replacements.basic[id].is_none() {
                        omit(Property::Kind, Reason::AsUnqualified(mode.name));
                        replacements.replaced[id] = Some(of.and_then(|ty| replacements.get(ty)));
                    } else if let (true, Some(of), Some(basic)) =
                        (pointee && of != replacements.basic[id], of, replacements.basic[id])
                    {
                        omit(Property::Qualified, Reason::AsBasic(of, basic));
                    }
                }
                TypeKind::Typedef { of, .. } => {
                    replacements.basic[id] = of_basic(of);
                    if typedef && replacements.basic[id].is_none() {
                        omit(Property::Kind, Reason::AsUnnamed(mode.name));
                        replacements.replaced[id] = Some(of.and_then(|ty| replacements.get(ty)));
                    } else if let (true, Some(of), Some(basic)) =
                        (typedef && of != replacements.basic[id], of, replacements.basic[id])
                    {
                        omit(Property::Named, Reason::AsBasic(of, basic));
                    }
                }
                _ => {}
            }
        }
        replacements
    }

    /// The type written instead of `ty`, if there is one.
    pub fn get(&self, ty: TypeId) -> Option<TypeId> {
        self.replaced[ty].unwrap_or(Some(ty))
    }

    /// The basic type under a type's qualifiers and typedefs.
    pub fn basic(&self, ty: TypeId) -> Option<TypeId> {
        self.basic[ty]
    }
}

/// Maximum number of pointers and qualifiers in a type name; a deeper type has no name.
const MOST_DERIVED: usize = 16;

/// A pointer type's name in C syntax.
pub(super) fn spelled(module: &Module, mut ty: TypeId) -> String {
    let mut before = Vec::new();
    let mut after = Vec::new();
    for _ in 0..MOST_DERIVED {
        let next = match &module.types[ty].kind {
            TypeKind::Pointer { kind, to, .. } => {
                after.push(kind.symbol());
                *to
            }
            TypeKind::Qualified { qualifier, of } => {
                let word = qualifier.keyword();
                let is_pointer =
                    of.is_some_and(|ty| matches!(module.types[ty].kind, TypeKind::Pointer { .. }));
                if is_pointer {
                    after.push(word)
                } else {
                    before.push(word)
                }
                *of
            }
            _ => {
                before.push(module.types[ty].name().map_or("(anonymous)", |name| module.string(name)));
                return joined(&before, &after);
            }
        };
        match next {
            Some(next) => ty = next,
            None => {
                before.push("void");
                return joined(&before, &after);
            }
        }
    }
    String::new()
}

/// Joins `const`, `float` and `*` to `const float *`.
fn joined(before: &[&str], after: &[&str]) -> String {
    let mut text = before.join(" ");
    if !after.is_empty() {
        text.push(' ');
    }
    text.extend(after.iter().rev().copied());
    text
}
