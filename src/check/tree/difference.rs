//! Difference between a described entry and an object's entry.

use gimli::{DwAt, constants as dw};

use super::described::{Node, Number};
use super::found::{Attributes, Found};
use super::tags::{is_part, is_template};
use super::value::{Entity, Value};
use crate::check::{describe::Describe, report::FindingKind};
use crate::consumer::{DW_AT_LLVM_LANES, DW_AT_LLVM_LANES_AMD};
use crate::error::Error;
use crate::model::is_type_tag;
use crate::op::Dialect;
use crate::read::{self, Entry};

/// Difference, as expected and found.
pub(in crate::check) type Different = (String, String);

/// Reference to an entry that must belong to an entity.
#[derive(Clone, Copy)]
pub(in crate::check) struct Reference<'a, 'o> {
    /// Attribute that refers to the entry; `None` for the entry around a type.
    pub(in crate::check) attribute: Option<DwAt>,
    pub(in crate::check) entity: Entity,
    pub(in crate::check) found: Option<Entry<'a, 'o>>,
}

/// What comparing an entry results in: differences, and comparisons that need more than the entry.
#[derive(Default)]
pub(in crate::check) struct Compared<'a, 'o> {
    pub(in crate::check) differences: Vec<(FindingKind, Different)>,
    /// Children that belong to an entry which is neither a scope nor a type.
    pub(in crate::check) unexpected: Vec<Entry<'a, 'o>>,
    pub(in crate::check) errors: Vec<Error>,
    pub(in crate::check) references: Vec<Reference<'a, 'o>>,
    pub(in crate::check) numbers: Vec<(Number, Entry<'a, 'o>)>,
}

impl<'a, 'o> Compared<'a, 'o> {
    /// Compares an entry and its parts. Messages name the entry if it is a type or part of a type.
    pub(in crate::check) fn compare(&mut self, found: Found<'_, 'o>, node: &Node<'_>, entry: Entry<'a, 'o>) {
        if node.tag == entry.tag() {
            self.entry(found, node, entry, is_type_tag(node.tag));
        } else {
            self.differ(FindingKind::Attribute, node.called(), entry.describe());
        }
    }

    fn entry(&mut self, found: Found<'_, 'o>, node: &Node<'_>, entry: Entry<'a, 'o>, is_named: bool) {
        let subject = |text: String| if is_named { format!("{} with {text}", node.called()) } else { text };
        let attributes = Attributes::new(entry);
        for (name, expected) in &node.attributes {
            if let Value::Elsewhere = expected {
                continue;
            }
            // An omission states that the attribute is absent, so that an attribute that is there is a difference.
            let expected = if found.is_omitted(*name) { &Value::Absent } else { expected };
            let value = match found.value(&attributes, *name) {
                Ok(value) => value,
                Err(error) => {
                    self.errors.push(error);
                    continue;
                }
            };
            let reference = |entity, found| Reference { attribute: Some(*name), entity, found };
            let is_same = match (expected, &value) {
                (&Value::Entity(entity), &Value::Entry(found)) => {
                    self.references.push(reference(entity, Some(found)));
                    true
                }
                (&Value::Entity(entity), Value::Absent) => {
                    self.references.push(reference(entity, None));
                    true
                }
                (&Value::Member(ty, index), &Value::Entry(found)) => {
                    self.references.push(reference(Entity::Type(ty), found.parent()));
                    is_data_member(found, index)
                }
                (Value::Variants(values, is_signed), found) => {
                    found.variants(*is_signed).as_ref() == Some(values)
                }
                // Before DWARF 4, an expression has the form of a block, and some vendors' attributes are read as expressions.
                (Value::Expr(expr) | Value::PerhapsExpr(expr), Value::Block(block)) => {
                    entry.unit().encoding.version < 4 && expr == block
                }
                (Value::Block(block), Value::Expr(expr)) => expr == block,
                (Value::PerhapsExpr(expr), found) => match found {
                    Value::Expr(found) => expr == found,
                    found => found.is_absent(),
                },
                (Value::Present, found) => !matches!(found, Value::Absent),
                (expected, found) => expected == found || expected.is_absent() && found.is_absent(),
            };
            if !is_same {
                let kind = if is_named { FindingKind::Type } else { kind(*name) };
                let pcs = entry.dwarf().pc_notation();
                let expected = subject(format!("{} {}", name.describe(), expected.describe(pcs)));
                self.differ(kind, expected, value.describe(pcs));
            }
        }
        let is_listed = |name| {
            // The stride of a dimension, which the model has as a further attribute, is compared by its own name.
            let canonical = found.canonical(&attributes, name);
            node.attributes.iter().any(|(listed, _)| *listed == canonical || *listed == name)
        };
        if let Err((expected, found)) = only(entry, attributes.names(), is_listed) {
            self.differ(FindingKind::Attribute, subject(expected), found);
        }
        self.numbers.extend(node.numbers.iter().map(|&number| (number, entry)));
        let mut parts = entry.children().filter(|&child| is_part(child, node.tag));
        for part in &node.parts {
            match parts.next() {
                Some(entry) if entry.tag() == part.tag => self.entry(found, part, entry, true),
                other => {
                    return self.differ(FindingKind::Type, subject(part.called()), other.describe());
                }
            }
        }
        match parts.next() {
            Some(part) if is_named || is_template(part.tag()) => {
                self.differ(FindingKind::Type, subject("no more".into()), part.describe());
            }
            part => self.unexpected.extend(part),
        }
    }

    fn differ(&mut self, kind: FindingKind, expected: String, found: String) {
        self.differences.push((kind, (expected, found)));
    }
}

/// Whether an entry is a type's data member or enumerator with an index.
fn is_data_member(entry: Entry<'_, '_>, index: u32) -> bool {
    entry.parent().is_some_and(|ty| {
        let is_member = |child: &Entry<'_, '_>| match child.tag() {
            dw::DW_TAG_enumerator => true,
            dw::DW_TAG_member => is_part(*child, ty.tag()),
            _ => false,
        };
        ty.children().filter(is_member).nth(index as usize) == Some(entry)
    })
}

/// The kind that a difference in an attribute has.
fn kind(name: DwAt) -> FindingKind {
    match name {
        dw::DW_AT_type | dw::DW_AT_containing_type => FindingKind::Type,
        dw::DW_AT_low_pc
        | dw::DW_AT_ranges
        | dw::DW_AT_entry_pc
        | dw::DW_AT_call_pc
        | dw::DW_AT_call_return_pc => FindingKind::Code,
        _ => FindingKind::Attribute,
    }
}

/// Returns a difference unless all of an entry's attributes are allowed, and occur once. Names follow the unit's
/// dialect.
fn only(entry: Entry<'_, '_>, names: &[DwAt], is_allowed: impl Fn(DwAt) -> bool) -> Result<(), Different> {
    for (index, &name) in names.iter().enumerate() {
        let is_again = names[..index].contains(&name);
        if is_again || !is_allowed(name) {
            // By index, because a repeated name has several values.
            let value =
                entry.attributes().nth(index).map_or(read::ResolvedValue::Other, |attribute| attribute.value);
            let is_lanes = name == DW_AT_LLVM_LANES_AMD && entry.unit().encoding.dialect == Dialect::Legacy;
            let name = if is_lanes { DW_AT_LLVM_LANES } else { name };
            let name = crate::dump::names::attribute(name, &value);
            let expected = if is_again { format!("{name} once") } else { format!("no {name}") };
            let found = match value {
                read::ResolvedValue::Address(address) => {
                    format!("address {}", entry.dwarf().pc_notation().pc(address))
                }
                value => value.describe(),
            };
            return Err((expected, found));
        }
    }
    Ok(())
}
