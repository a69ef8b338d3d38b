//! What remains of the entries when everything is imported: vendors' attributes and rare ones of the standard go to their
//! entities, and all else is listed.

use gimli::{DwAt, constants as dw};

use super::importer::{Importer, Made, refused};
use super::unimported::UnimportedReason;
use crate::attributes;
use crate::build::AttributeValue;
use crate::model::{AttributeOwner, Loc};
use crate::read::{Dwarf, Entry, ResolvedValue};

/// Lane pcs by LLVM's registry, lane pcs and active lanes by AMD's documents: the model has regions instead.
const LANE_PCS: [DwAt; 3] = [
    attributes::DW_AT_LLVM_LANE_PC,
    attributes::DW_AT_LLVM_LANE_PC_AMD,
    attributes::DW_AT_LLVM_ACTIVE_LANE_AMD,
];

impl<'d, 'o> Importer<'d, 'o> {
    /// Adds the attributes that no property encodes to the current unit's entities. They can refer to entities of the unit.
    pub(super) fn extra_attributes(&mut self) {
        let mut owners: Vec<_> = core::mem::take(&mut self.extras.owners).into_iter().collect();
        owners.sort_unstable_by_key(|&(key, _)| key);
        for (key, owner) in owners {
            let Some(entry) = self.dwarf.entry_at(key) else { continue };
            for (index, name) in entry.names().enumerate() {
                if attributes::is_extra(name) && self.is_left(entry, index, name) {
                    self.extra_attribute(entry, owner, name);
                }
            }
        }
    }

    /// Whether no property of the current unit's entities has an attribute.
    pub(super) fn is_left(&self, entry: Entry<'d, 'o>, index: usize, name: DwAt) -> bool {
        // An entry of another unit can be imported for several units.
        !self.taken.has(entry, index) || self.extras.added.contains(&(entry.offset(), name))
    }

    fn extra_attribute(&mut self, entry: Entry<'d, 'o>, owner: AttributeOwner, name: DwAt) {
        let Some(value) = self.take(entry, name) else { return };
        if LANE_PCS.contains(&name) {
            return self.leave(entry, name, UnimportedReason::LanePcs);
        }
        if name == dw::DW_AT_GNU_locviews {
            return self.leave(entry, name, UnimportedReason::LocationViews);
        }
        let text = value.text();
        self.extras.added.insert((entry.offset(), name));
        let value = match value {
            // The object's address is on the stack at the start.
            ResolvedValue::Expr(bytes) if name == dw::DW_AT_data_member_location => {
                self.raw(entry, bytes).map(|expr| Some(AttributeValue::Location(Loc::expr(expr))))
            }
            value => self.attribute_value(entry, value, text.as_deref()),
        };
        // g++ names a structure without a name, as C's `typedef struct {} name`, by its linkage name.
        let property = match name {
            dw::DW_AT_MIPS_linkage_name => dw::DW_AT_linkage_name,
            name => name,
        };
        let added = value.and_then(|value| match value {
            Some(value) => self.m.attribute(owner, property, value).map(drop).map_err(refused),
            None => Ok(()),
        });
        if let Err(reason) = added {
            self.leave(entry, name, reason);
        }
    }

    /// Returns the value for the builder; `None` for a flag that is not set.
    fn attribute_value<'t>(
        &mut self,
        entry: Entry<'d, 'o>,
        value: ResolvedValue<'o>,
        text: Option<&'t str>,
    ) -> Made<Option<AttributeValue<'t>>>
    where
        'o: 't,
    {
        Ok(Some(match value {
            ResolvedValue::Flag(false) => return Ok(None),
            ResolvedValue::Flag(true) => AttributeValue::Flag,
            ResolvedValue::Unsigned(number) => AttributeValue::Unsigned(number),
            ResolvedValue::Signed(number) => AttributeValue::Signed(number),
            ResolvedValue::String(_) => AttributeValue::Text(text.unwrap_or_default()),
            ResolvedValue::Block(bytes) => AttributeValue::Bytes(bytes),
            ResolvedValue::Address(address) => {
                AttributeValue::Address(self.symbols.code_address(&mut self.m, address)?)
            }
            ResolvedValue::Expr(bytes) => AttributeValue::Location(self.location(entry, bytes)?),
            ResolvedValue::Reference(_) | ResolvedValue::Signature(_) => {
                let referred = entry.referred(value).ok_or(UnimportedReason::MissingReference)?;
                let ty = self.known_type(referred).map(AttributeValue::Type);
                let function = self.known_function(referred).map(AttributeValue::Function);
                let variable = self.known_variable(referred).map(AttributeValue::Variable);
                let member = self.member_at(referred).map(|(ty, index)| AttributeValue::Member(ty, index));
                ty.or(function).or(variable).or(member).ok_or(UnimportedReason::MissingReference)?
            }
            // A list or a section that only a reader of the vendor knows.
            ResolvedValue::Offset(_) | ResolvedValue::LocList(_) | ResolvedValue::RngList(_) => {
                return Err(UnimportedReason::NoProperty);
            }
            value => return Err(UnimportedReason::class(value, "a value that a description can have")),
        }))
    }

    /// Lists what is not imported of the file's entries, and of the entries in the supplementary file that are imported: the
    /// rest of that file belongs to all objects that share it.
    pub(super) fn rest(&mut self) {
        let dwarf = self.dwarf;
        for entry in dwarf.entries() {
            if self.taken.is_imported(entry) {
                self.rest_of(entry);
            } else {
                let reason = self.reason(entry);
                self.list(entry, None, reason);
            }
        }
        for entry in dwarf.supplementary().into_iter().flat_map(Dwarf::entries) {
            if self.taken.is_imported(entry) {
                self.rest_of(entry);
            }
        }
    }

    /// Lists the attributes of an imported entry that nobody took.
    fn rest_of(&mut self, entry: Entry<'d, 'o>) {
        for (index, name) in entry.names().enumerate() {
            if !self.taken.has(entry, index) && !super::units::is_structure(name) {
                self.list(entry, Some(name), UnimportedReason::NoProperty);
            }
        }
    }

    /// Returns why an entry is not imported.
    fn reason(&self, entry: Entry<'d, 'o>) -> UnimportedReason {
        let Some(parent) = entry.parent() else { return UnimportedReason::UnitKind };
        if !self.chosen.only.is_empty() {
            return UnimportedReason::Unselected;
        }
        if self.chosen.discarded.is_referred(entry) {
            return UnimportedReason::OnlyDiscarded;
        }
        if !self.chosen.discarded.keeps(entry) {
            return UnimportedReason::DiscardedCode;
        }
        if !self.taken.is_imported(parent) {
            return UnimportedReason::InsideEntry;
        }
        match entry.unit().kind {
            dw::DW_UT_type | dw::DW_UT_split_type | dw::DW_UT_partial => UnimportedReason::Unreferenced,
            _ => UnimportedReason::NoEntity(entry.tag()),
        }
    }
}
