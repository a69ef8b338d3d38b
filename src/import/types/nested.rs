//! Types that complete a declaration: types of type units, and types that are declared in a class and described outside.
//! DWARF 5 sections 2.13.2, 3.1.4 and 5.7.1.

use gimli::constants as dw;

use crate::build::CompositeSize;
use crate::import::importer::{Importer, Place, refused};
use crate::import::node::{Class, Node, class, composite_kind, declaration};
use crate::model::TypeId;
use crate::read::Entry;

/// Returns the type of a type unit, for a declaration with its signature. A declaration in a class is where the type is:
/// its type unit has other declarations of the class.
pub(super) fn complete<'d, 'o>(importer: &mut Importer<'d, 'o>, entry: Entry<'d, 'o>) -> Option<TypeId> {
    let completed = entry.reference(dw::DW_AT_signature)?;
    let ty = importer.known_type(completed)?;
    importer.mark_all(entry, &[dw::DW_AT_signature, dw::DW_AT_declaration]);
    importer.repeat_part(entry, Some(completed));
    let around = importer.place(entry).map(|place| place.scope);
    let is_outermost = importer.m.described().ty(ty).scope() == importer.root().scope;
    if let Some(scope) = around.filter(|&scope| is_outermost && scope != importer.root().scope) {
        let within = importer.m.describe_type(ty).and_then(|mut ty| ty.within(scope).map(drop));
        if let Err(error) = within {
            importer.list(entry, None, refused(error));
        }
    }
    Some(ty)
}

/// Returns the scope around a function, a static member or a type. A part of a declaration that the complete type lacks, such
/// as an instance of a member template, is in a declaration of its own: a type unit is the same for all units, and debuggers
/// show the complete type without the parts that a unit adds.
pub(in crate::import) fn around_part<'d, 'o>(
    importer: &mut Importer<'d, 'o>,
    part: Entry<'d, 'o>,
) -> Option<Place<'o>> {
    let is_completed = |around: &Entry<'d, 'o>| {
        class(*around) == Class::Type
            && around.reference(dw::DW_AT_signature).is_some_and(|ty| importer.known_type(ty).is_some())
    };
    let around = core::iter::successors(part.parent(), |around| around.parent());
    let declarations: Vec<_> = around.take_while(is_completed).collect();
    let Some(outermost) = declarations.last() else { return importer.place(part) };
    // g++ writes the declaration outside the namespace of the type.
    let complete = importer.known_type(outermost.reference(dw::DW_AT_signature)?)?;
    let scope = importer.m.described().ty(complete).scope();
    let mut place = Place { scope, ..importer.place(*outermost)? };
    for declaration in declarations.into_iter().rev() {
        let complete = declaration.reference(dw::DW_AT_signature)?;
        place = match importer.made.declarations.again.get(&complete.offset()) {
            Some(known) => *known,
            None => declare(importer, declaration, complete, place)?,
        };
    }
    Some(place)
}

/// Declares a type for the parts that a unit adds to it.
fn declare<'d, 'o>(
    importer: &mut Importer<'d, 'o>,
    entry: Entry<'d, 'o>,
    complete: Entry<'d, 'o>,
    around: Place<'o>,
) -> Option<Place<'o>> {
    let name = entry.name().or_else(|| complete.name());
    let kind = composite_kind(entry.tag());
    let ty = importer.m.composite_of(importer.unit, kind, name.as_deref(), CompositeSize::Declared).ok()?;
    importer.m.describe_type(ty).ok()?.within(around.scope).ok()?;
    importer.entries.positions.add_type(ty, entry.offset());
    let scope = importer.m.described().ty(ty).own_scope()?;
    let place = Place { scope, ..around };
    importer.made.declarations.again.insert(complete.offset(), place);
    Some(place)
}

/// Returns the scope around a type, which can be that of the declaration that it completes; the unit's for a type that is
/// declared in a class, until the class is known.
pub(super) fn place<'d, 'o>(importer: &Importer<'d, 'o>, entry: Entry<'d, 'o>) -> Option<Place<'o>> {
    let declared = declaration(entry).and_then(|declared| importer.place(declared));
    declared.or_else(|| importer.place(entry))
}

/// Returns the scope around a type. Unlike its [place], it can be a declaration of a type of a type unit.
pub(super) fn around<'d, 'o>(importer: &mut Importer<'d, 'o>, entry: Entry<'d, 'o>) -> Option<Place<'o>> {
    let declared = declaration(entry).and_then(|declared| importer.place(declared));
    declared.or_else(|| around_part(importer, entry))
}

/// Takes the declaration that a type completes.
pub(super) fn declared<'d, 'o>(importer: &mut Importer<'d, 'o>, entry: Entry<'d, 'o>, ty: TypeId) {
    let Some(declared) = declaration(entry) else { return };
    importer.mark(entry, dw::DW_AT_specification);
    importer.repeat_part(declared, Some(entry));
    // What refers to the declaration refers to the type.
    for key in [declared.offset(), importer.representative(declared).offset()] {
        importer.made.seen.insert(Node::Type(key));
        importer.made.types.entry(key).or_insert(ty);
    }
    let is_nested = declared.parent().is_some_and(|around| class(around) == Class::Type);
    if is_nested && !importer.is_of_unit(declared) {
        importer.made.declarations.nested.push((declared, ty));
    }
}

/// Finds the types of the unit that are declared in a scope and described outside.
pub(in crate::import) fn completions<'d, 'o: 'd>(
    importer: &mut Importer<'d, 'o>,
    entries: impl Iterator<Item = Entry<'d, 'o>>,
) {
    for entry in entries.filter(|entry| entry.has(dw::DW_AT_specification)) {
        let declared = declaration(entry).filter(|declared| importer.is_of_unit(*declared));
        if let Some(declared) = declared.filter(|_| class(entry) == Class::Type) {
            importer.made.declarations.completions.insert(declared.offset(), entry);
        }
    }
}
