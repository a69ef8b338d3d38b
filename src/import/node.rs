//! The entities that other entries refer to, by their entries.

use gimli::{DwAt, DwTag, constants as dw};

use crate::model::CompositeKind;
use crate::read::Entry;

/// Offset of an entry.
pub(super) type Key = u64;

/// Attributes with the pcs of a scope.
pub(super) const PCS: [DwAt; 3] = [dw::DW_AT_low_pc, dw::DW_AT_high_pc, dw::DW_AT_ranges];

/// An entity to make, by the offset of its entry.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(super) enum Node {
    /// A type.
    Type(Key),
    /// A scope that is not a type: a namespace, function, block or inlined call.
    Scope(Key),
    /// A variable, parameter or constant.
    Variable(Key),
}

/// The entities that an entry can be.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Class {
    Type,
    Scope,
    Variable,
    /// A part of another entity, or an entity to which no entry refers.
    Other,
}

/// Returns the class of an entry. Before DWARF 5 the entry of a static member is a member.
pub(super) fn class(entry: Entry<'_, '_>) -> Class {
    match entry.tag() {
        dw::DW_TAG_namespace
        | dw::DW_TAG_module
        | dw::DW_TAG_common_block
        | dw::DW_TAG_namelist
        | dw::DW_TAG_subprogram
        | dw::DW_TAG_lexical_block
        | dw::DW_TAG_inlined_subroutine => Class::Scope,
        // What is in them is imported, although they are not.
        dw::DW_TAG_with_stmt
        | dw::DW_TAG_try_block
        | dw::DW_TAG_catch_block
        | dw::DW_TAG_entry_point
        | dw::DW_TAG_GNU_formal_parameter_pack => Class::Scope,
        dw::DW_TAG_variable | dw::DW_TAG_constant => Class::Variable,
        dw::DW_TAG_formal_parameter if is_variable(entry) => Class::Variable,
        dw::DW_TAG_member if entry.has(dw::DW_AT_declaration) => Class::Variable,
        // A dimension is a part of an array.
        dw::DW_TAG_subrange_type if is_dimension(entry) => Class::Other,
        tag if is_type(tag) => Class::Type,
        _ => Class::Other,
    }
}

/// Whether a parameter belongs to a function, and not to a function type.
fn is_variable(parameter: Entry<'_, '_>) -> bool {
    parameter.parent().is_some_and(|parent| {
        matches!(
            parent.tag(),
            dw::DW_TAG_subprogram
                | dw::DW_TAG_inlined_subroutine
                | dw::DW_TAG_lexical_block
                | dw::DW_TAG_GNU_formal_parameter_pack
        )
    })
}

fn is_type(tag: DwTag) -> bool {
    crate::model::is_type_tag(tag)
}

fn is_dimension(subrange: Entry<'_, '_>) -> bool {
    subrange.parent().is_some_and(|parent| parent.tag() == dw::DW_TAG_array_type)
}

/// Returns the node for an entry of a class.
pub(super) fn node(class: Class, entry: Entry<'_, '_>) -> Option<Node> {
    let key = entry.offset();
    match class {
        Class::Type => Some(Node::Type(key)),
        Class::Scope => Some(Node::Scope(key)),
        Class::Variable => Some(Node::Variable(key)),
        Class::Other => None,
    }
}

/// Returns the kind of a structure, class or union.
pub(super) fn composite_kind(tag: DwTag) -> CompositeKind {
    match tag {
        // Debuggers read an interface as a class.
        dw::DW_TAG_class_type | dw::DW_TAG_interface_type => CompositeKind::Class,
        dw::DW_TAG_union_type => CompositeKind::Union,
        _ => CompositeKind::Struct,
    }
}

/// Returns the declaration that a type completes: DWARF 5 section 2.13.2. In a type unit it is in declarations of the scopes
/// around the type.
pub(super) fn declaration<'d, 'o>(ty: Entry<'d, 'o>) -> Option<Entry<'d, 'o>> {
    ty.reference(dw::DW_AT_specification).filter(|declared| class(*declared) == Class::Type)
}
