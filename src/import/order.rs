//! Import order: an entity is made after the entities that it needs. The order is found with an explicit stack instead
//! of a recursion, because types and scopes can be nested deeply.

use gimli::constants as dw;
use smallvec::SmallVec;

use super::importer::{Importer, refused};
use super::node::{Class, class, declaration, node};
use super::{functions, scopes, types, variables};
use crate::read::{Entry, ResolvedValue, Unit};

enum Step<'d, 'o> {
    Into(Class, Entry<'d, 'o>),
    Out(Class, Entry<'d, 'o>),
}

/// Makes an entity, and before it the entities that it needs. In a cycle, the needed entity is missing.
pub(super) fn want<'d, 'o>(importer: &mut Importer<'d, 'o>, class: Class, entry: Entry<'d, 'o>) {
    let mut steps = Steps::new();
    steps.push(Step::Into(class, entry));
    let mut needs = Needs::new();
    while let Some(step) = steps.pop() {
        crate::work::step();
        match step {
            Step::Into(class, entry) => {
                importer.repeat_copy(importer.completed_part(entry).unwrap_or(entry));
                let entry = importer.representative(entry);
                let Some(node) = node(class, entry) else { continue };
                if importer.types.shared.has(class, entry.offset()) {
                    continue;
                }
                // A node that was seen is finished, refused, or open in a cycle.
                if !importer.made.seen.insert(node) || !importer.take_room(entry) {
                    continue;
                }
                // What is in an entity that is imported because something refers to it is imported with it.
                if !importer.is_of_unit(entry) || importer.chosen.discarded.is_referred(entry) {
                    importer.made.copied.push(entry);
                }
                steps.push(Step::Out(class, entry));
                importer.decoded.decode(entry);
                add_needs(importer, class, entry, &mut needs);
                // Most entities need the same scope and types.
                needs.retain(|(class, entry)| !importer.is_seen(*class, *entry));
                steps.extend(needs.drain(..).rev().map(|(class, entry)| Step::Into(class, entry)));
            }
            Step::Out(Class::Type, entry) => types::make(importer, entry),
            Step::Out(Class::Scope, entry) if entry.tag() == dw::DW_TAG_subprogram => {
                functions::make(importer, entry);
            }
            Step::Out(Class::Scope, entry) => scopes::make(importer, entry),
            Step::Out(Class::Variable, entry) => variables::make(importer, entry),
            Step::Out(Class::Other, _) => {}
        }
    }
}

type Needs<'d, 'o> = SmallVec<[(Class, Entry<'d, 'o>); 8]>;
type Steps<'d, 'o> = SmallVec<[Step<'d, 'o>; 8]>;

fn add_needs<'d, 'o>(
    importer: &mut Importer<'d, 'o>,
    wanted: Class,
    entry: Entry<'d, 'o>,
    needs: &mut Needs<'d, 'o>,
) {
    // Everything is in a scope; the unit's own scope is there from the start.
    if let Some(parent) = entry.parent() {
        let of_parent = class(parent);
        if matches!(of_parent, Class::Scope | Class::Type) {
            needs.push((of_parent, parent));
        }
    }
    match wanted {
        Class::Scope => {
            needs.extend(importer.completed(entry).map(|completed| (Class::Scope, completed)));
            let unnamed = importer.made.unnamed.get(&entry.offset()).copied();
            needs.extend(unnamed.map(|unnamed| (Class::Scope, unnamed)));
        }
        Class::Variable => {
            needs.extend(importer.completed(entry).map(|completed| (Class::Variable, completed)));
            // A function's parameters are made in their order.
            if entry.tag() == dw::DW_TAG_formal_parameter {
                let previous = importer.previous_parameter(entry);
                needs.extend(previous.map(|previous| (Class::Variable, previous)));
            }
            needs.extend(importer.decoded.reference(entry, dw::DW_AT_type).map(|ty| (Class::Type, ty)));
        }
        Class::Type => {
            let is_composite = matches!(
                entry.tag(),
                dw::DW_TAG_structure_type
                    | dw::DW_TAG_class_type
                    | dw::DW_TAG_interface_type
                    | dw::DW_TAG_union_type
            );
            needs.extend(importer.decoded.reference(entry, dw::DW_AT_signature).map(|ty| (Class::Type, ty)));
            // The type is in the scope of the declaration that it completes.
            let around = declaration(entry).and_then(|declared| declared.parent());
            // A type unit only declares a class around its type.
            let is_known = |around| class(around) == Class::Scope || importer.is_of_unit(around);
            let around = around.filter(|&around| is_known(around)).map(|around| (class(around), around));
            needs.extend(around.filter(|(class, _)| matches!(class, Class::Scope | Class::Type)));
            // Members are imported when all types exist, so that types can refer to each other.
            if is_composite {
                return;
            }
            for name in [dw::DW_AT_type, dw::DW_AT_containing_type] {
                needs.extend(importer.decoded.reference(entry, name).map(|ty| (Class::Type, ty)));
            }
            if matches!(entry.tag(), dw::DW_TAG_array_type | dw::DW_TAG_subroutine_type) {
                for child in entry.children() {
                    needs.extend(child.reference(dw::DW_AT_type).map(|ty| (Class::Type, ty)));
                    for name in [dw::DW_AT_count, dw::DW_AT_upper_bound] {
                        needs.extend(child.reference(name).map(|bound| (class(bound), bound)));
                    }
                }
            }
        }
        Class::Other => {}
    }
}

/// Makes what is in the functions, blocks, structures, classes and unions that were imported from other units. Namespaces
/// have many other parts.
pub(super) fn copy<'d, 'o>(importer: &mut Importer<'d, 'o>) {
    let mut next = 0;
    while let Some(&entry) = importer.made.copied.get(next) {
        next += 1;
        let is_whole = matches!(
            entry.tag(),
            dw::DW_TAG_subprogram
                | dw::DW_TAG_lexical_block
                | dw::DW_TAG_structure_type
                | dw::DW_TAG_class_type
                | dw::DW_TAG_interface_type
                | dw::DW_TAG_union_type
        );
        if is_whole {
            for child in entry.children() {
                want(importer, class(child), child);
            }
        }
    }
    importer.made.copies.append(&mut importer.made.copied);
}

/// Makes the classes around types that no complete class declares, as their type units declare them. Returns whether there
/// are any.
pub(super) fn nested(importer: &mut Importer<'_, '_>) -> bool {
    let mut has_any = false;
    for (declared, ty) in core::mem::take(&mut importer.made.declarations.nested) {
        if importer.m.described().ty(ty).scope() != importer.root().scope {
            // The complete class is the declared class: what is around the declaration repeats what is around the class.
            let around = core::iter::successors(declared.parent(), |around| around.parent());
            for around in around.take_while(|around| matches!(class(*around), Class::Type | Class::Scope)) {
                importer.repeat_part(around, None);
            }
            continue;
        }
        let Some(around) = declared.parent() else { continue };
        want(importer, Class::Type, around);
        has_any = true;
        let Some(around) = importer.place(declared) else { continue };
        let within = importer.m.describe_type(ty).and_then(|mut ty| ty.within(around.scope).map(drop));
        if let Err(error) = within {
            importer.list(declared, None, refused(error));
        }
    }
    has_any
}

/// Makes the types of type units to which no unit refers, for the last unit in their language: debuggers list them. Returns
/// whether there are any.
pub(super) fn unreferenced<'d, 'o>(importer: &mut Importer<'d, 'o>) -> bool {
    let dwarf = importer.dwarf;
    if !importer.types.completed.borrow().has_any || !importer.chosen.only.is_empty() {
        return false;
    }
    let language = |unit: &'d Unit<'o>| dwarf.root(unit)?.number(dw::DW_AT_language);
    let own = language(importer.info);
    let of_kind = |kind| dwarf.units().iter().rev().filter(move |unit| unit.kind == kind);
    let last = of_kind(dw::DW_UT_compile).find(|unit| language(unit) == own);
    if last.is_none_or(|last| last.offset != importer.info.offset) {
        return false;
    }
    let mut has_any = false;
    for unit in of_kind(dw::DW_UT_type).filter(|unit| language(unit) == own) {
        let ty = unit.type_offset.and_then(|offset| dwarf.entry_at(offset));
        let is_left = |ty: &Entry<'d, 'o>| {
            !importer.taken.is_imported(*ty) && !importer.chosen.discarded.is_referred(*ty)
        };
        if let Some(ty) = ty.filter(is_left) {
            want(importer, Class::Type, ty);
            has_any |= importer.taken.is_imported(ty);
        }
    }
    has_any
}

impl<'d, 'o> Importer<'d, 'o> {
    /// Whether an entry is one of the current unit.
    pub(super) fn is_of_unit(&self, entry: Entry<'d, 'o>) -> bool {
        self.is_own(entry) && entry.unit().offset == self.info.offset
    }

    /// Whether an entity is made, refused or in progress.
    fn is_seen(&self, class: Class, entry: Entry<'d, 'o>) -> bool {
        node(class, entry).is_some_and(|node| self.made.seen.contains(&node))
    }

    /// Returns the entries that an entry completes: its abstract instance, and its declaration.
    fn completed(&self, entry: Entry<'d, 'o>) -> impl Iterator<Item = Entry<'d, 'o>> + use<'d, 'o> {
        let names = [dw::DW_AT_abstract_origin, dw::DW_AT_specification];
        names.map(|name| self.decoded.reference(entry, name)).into_iter().flatten()
    }

    /// Counts an entry of another unit against the limit.
    fn take_room(&mut self, entry: Entry<'d, 'o>) -> bool {
        if self.is_of_unit(entry) {
            return true;
        }
        match self.room.checked_sub(1) {
            Some(room) => {
                self.room = room;
                true
            }
            None => {
                self.list(entry, None, super::unimported::UnimportedReason::TooManyCopies);
                false
            }
        }
    }

    /// Returns a parameter's previous parameter. The parameters of a function are looked at once.
    fn previous_parameter(&mut self, parameter: Entry<'d, 'o>) -> Option<Entry<'d, 'o>> {
        if let Some(previous) = self.made.indexed.previous.get(&parameter.offset()) {
            return *previous;
        }
        let mut previous = None;
        for child in parameter.parent()?.children() {
            if child.tag() == dw::DW_TAG_formal_parameter {
                self.made.indexed.previous.insert(child.offset(), previous.replace(child));
            }
        }
        self.made.indexed.previous.get(&parameter.offset()).copied().flatten()
    }

    /// Makes the type to which an attribute refers.
    pub(super) fn want_type(&mut self, entry: Entry<'d, 'o>) {
        if let Some(ty) =
            entry.attr(dw::DW_AT_type).and_then(|value: ResolvedValue<'o>| entry.referred(value))
        {
            want(self, Class::Type, ty);
        }
    }
}
