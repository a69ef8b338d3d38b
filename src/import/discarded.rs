//! Entries of code that is not in the object, and entries to which only they refer. A linker that drops a function moves its
//! pcs to an address without code.

use gimli::constants as dw;

use super::node::{Class, PCS, class};
use super::symbols::Symbols;
use crate::op::{Decoder, Op};
use crate::read::{Dwarf, Entry, ResolvedValue};

/// Code whose entries are imported.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum ImportedCode {
    /// All functions and variables; pcs without code are listed.
    All,
    /// Functions and variables that are in the object, and what they refer to. Entities that refer to nothing in the object,
    /// and to which no discarded entity refers, are imported, too.
    InObject,
}

/// What an entry belongs to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Owner {
    /// Something in the object, or nothing.
    Kept,
    /// A function or variable that is not in the object.
    Discarded,
    /// A discarded entity refers to it, so that it is imported only if something else does, too.
    Referred,
}

/// What each entry of a file belongs to.
#[derive(Debug, Default)]
pub(super) struct Discarded {
    /// By the index of the entry; empty if nothing is discarded.
    owners: Vec<Owner>,
}

impl Discarded {
    /// Finds the discarded entries of a file.
    pub(super) fn new<'o>(dwarf: &Dwarf<'o>, symbols: &Symbols<'o>, code: ImportedCode) -> Self {
        let none = Self::default();
        if code == ImportedCode::All {
            return none;
        }
        let mut owners = vec![Owner::Kept; dwarf.entries().len()];
        let mut open = Vec::new();
        for entry in dwarf.entries() {
            if owners[entry.index()] == Owner::Kept && is_discarded(entry, symbols) {
                for inner in core::iter::once(entry).chain(entry.descendants()) {
                    owners[inner.index()] = Owner::Discarded;
                    open.push(inner);
                }
            }
        }
        if open.is_empty() {
            return none;
        }
        while let Some(entry) = open.pop() {
            for attribute in entry.attributes() {
                let is_reference =
                    matches!(attribute.value, ResolvedValue::Reference(_) | ResolvedValue::Signature(_));
                let referred = if is_reference { entry.referred(attribute.value) } else { None };
                let Some(referred) = referred.filter(|referred| core::ptr::eq(referred.dwarf(), dwarf))
                else {
                    continue;
                };
                if owners[referred.index()] != Owner::Kept || is_root(referred) {
                    continue;
                }
                for inner in core::iter::once(referred).chain(referred.descendants()) {
                    if owners[inner.index()] == Owner::Kept {
                        owners[inner.index()] = Owner::Referred;
                        open.push(inner);
                    }
                }
            }
        }
        Self { owners }
    }

    /// Whether an entry of the file is imported by itself.
    pub(super) fn keeps(&self, entry: Entry<'_, '_>) -> bool {
        self.owners.get(entry.index()).is_none_or(|&owner| owner == Owner::Kept)
    }

    /// Whether an entry of the file is imported only if a kept entry refers to it.
    pub(super) fn is_referred(&self, entry: Entry<'_, '_>) -> bool {
        self.owners.get(entry.index()) == Some(&Owner::Referred)
    }
}

/// Whether a function or variable has an address that is not in the object.
fn is_discarded(entry: Entry<'_, '_>, symbols: &Symbols<'_>) -> bool {
    match entry.tag() {
        dw::DW_TAG_subprogram => {
            let ranges = entry.ranges().unwrap_or_default();
            !ranges.is_empty() && !ranges.iter().any(|range| symbols.have_code(entry.dwarf(), range))
        }
        dw::DW_TAG_variable => {
            let Some(ResolvedValue::Expr(expr)) = entry.attr(dw::DW_AT_location) else { return false };
            let mut decoder = Decoder::new(expr, entry.unit().encoding);
            let address = match decoder.next() {
                Some(Ok(first)) if decoder.is_at_end() => match first.op {
                    Op::Addr { address } => Some(address),
                    Op::Addrx { index } => entry.dwarf().address(entry.unit(), index).ok(),
                    _ => None,
                },
                _ => None,
            };
            // In a relocatable object, data of other objects has no address yet.
            symbols.are_fixed() && address.is_some_and(|address| !symbols.are_loaded(address))
        }
        _ => false,
    }
}

/// Whether an entry is in the object by itself, or a namespace, in which other entries are.
pub(crate) fn is_root(entry: Entry<'_, '_>) -> bool {
    let has_code = || PCS.iter().any(|&name| entry.has(name));
    match class(entry) {
        Class::Scope => entry.tag() != dw::DW_TAG_subprogram || has_code(),
        Class::Variable => entry.has(dw::DW_AT_location) || entry.has(dw::DW_AT_const_value),
        Class::Type => false,
        Class::Other => entry.parent().is_none(),
    }
}
