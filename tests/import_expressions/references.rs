//! What an expression's operands refer to: a symbol for every address, a variable for every entry.

use std::collections::BTreeMap;

use eitri::build::Builder;
use eitri::eval::{BaseType, DebugInfo, TypeEncoding};
use eitri::import::{EntryOffset, Procedure, References};
use eitri::model::{Address, BaseEncoding, Symbol, UnitId, VariableId};
use eitri::read::ResolvedValue;

/// References that add the entities to a description.
pub struct Added<'a> {
    pub builder: Builder,
    pub unit_id: UnitId,
    pub info: Option<&'a DebugInfo<'a, 'a>>,
    /// Offset of the unit in `.debug_info`.
    pub unit: u64,
    /// Offsets of the entries that became variables.
    pub variables: BTreeMap<VariableId, u64>,
    pub has_constant_symbols: bool,
}

impl<'a> Added<'a> {
    pub fn new(mut builder: Builder, info: Option<&'a DebugInfo<'a, 'a>>, unit: u64) -> Self {
        let unit_id = builder.unit("a.c");
        Self { builder, unit_id, info, unit, variables: BTreeMap::new(), has_constant_symbols: false }
    }
}

/// Base types of random expressions, by entry.
pub fn random_type(offset: u64) -> Option<BaseType> {
    let encodings = [
        TypeEncoding::Signed,
        TypeEncoding::Unsigned,
        TypeEncoding::Boolean,
        TypeEncoding::Float,
        TypeEncoding::Address,
        TypeEncoding::SignedChar,
    ];
    let encoding = *encodings.get((offset / 16) as usize)?;
    let bits = [8, 16, 32, 64, 24, 1, 128, 63].get((offset % 16) as usize)?;
    Some(BaseType::new(encoding, *bits))
}

impl<'a> References<'a> for Added<'a> {
    fn address(&mut self, _: usize, address: u64) -> Option<Address> {
        // A relocatable object's address, or a linked object's.
        if address.is_multiple_of(2) {
            return Some(Address::Symbol(self.builder.symbol(&format!("at_{address:x}")), 0));
        }
        Some(Address::Constant(address))
    }

    fn constant(&mut self, _: usize, value: u64) -> Option<(Symbol, i64)> {
        self.has_constant_symbols.then(|| (self.builder.symbol(&format!("at_{value:x}")), 0))
    }

    fn indexed(&mut self, index: u64) -> Option<u64> {
        self.info?.debug_addr(self.unit, index)
    }

    fn variable(&mut self, entry: EntryOffset) -> Option<VariableId> {
        let entry = match entry {
            EntryOffset::Section(entry) => entry,
            EntryOffset::Unit(entry) => self.unit + entry,
        };
        if let Some((&known, _)) = self.variables.iter().find(|&(_, &of)| of == entry) {
            return Some(known);
        }
        let ty = self.builder.base_type(self.unit_id, "pointee", BaseEncoding::Unsigned, 8).ok()?;
        let id = self.builder.variable(self.unit_id, &format!("v{entry}"), ty).ok()?.id();
        self.variables.insert(id, entry);
        Some(id)
    }

    fn procedure(&mut self, entry: EntryOffset) -> Option<Procedure<'a>> {
        let offset = match entry {
            EntryOffset::Unit(offset) => self.unit.checked_add(offset)?,
            EntryOffset::Section(offset) => offset,
        };
        let entry = self.info?.dwarf().entry_at(offset)?;
        let Some(ResolvedValue::Expr(expr)) = entry.attr(gimli::DW_AT_location) else { return None };
        (entry.unit().offset == self.unit).then_some(Procedure { expr, id: None })
    }

    fn base_type(&mut self, entry: u64) -> Option<BaseType> {
        match self.info {
            Some(info) => info.base_type(self.unit, entry),
            None => random_type(entry),
        }
    }
}
