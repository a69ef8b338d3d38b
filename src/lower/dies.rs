//! Entries of units: DWARF 5 section 3.1.

use super::children::ListCount;
use super::contents::Contents;
use super::expressions::Expressions;
use super::lowered::LoweredUnit;
use super::register_types::unsigned_sizes;
use super::scopes::Code;
use super::scratch::Scratch;
use super::section::{Part, symbol_name};
use super::units::{Units, producer};
use super::{lines, macros, strings};
use crate::consumer::Consumer;
use crate::emit::RelocationTarget;
use crate::emit::abbrev::Abbreviations;
use crate::emit::addr::{AddressKey, addr_base};
use crate::emit::info::{EntryStyle, Info, Pending};
use crate::emit::lists::{FinishedLists, Lists, lists_base};
use crate::emit::strings::str_offsets_base;
use crate::error::{Construct, ErrorKind, Result};
use crate::model::{Address, FileId, Function, Module, ProcedureId, Stack, TypeId, Unit, UnitId, VariableId};
use crate::omission::{Property, Subject};

/// Approximate bytes of a list without its entries: its operations and its offset in the table of lists.
const LIST_BYTES: usize = 8;
/// Approximate bytes of an entry of a list of the first unit.
const ENTRY_BYTES: usize = 10;

/// Writer of the debugging information entries of a unit.
pub(super) struct Dies<'u> {
    pub(super) units: &'u Units<'u>,
    pub(super) module: &'u Module,
    pub(super) consumer: &'u Consumer,
    pub(super) expressions: Expressions<'u>,
    pub(super) info: Info,
    pub(super) rnglists: Lists,
    /// Relocations of attributes that refer to lists by offset. Their addends are list indices until the lists are
    /// finished.
    lists_named: Vec<usize>,
    /// File that the unit is named after, and its number.
    pub(super) primary_file: (FileId, u64),
    /// Type whose type unit is being written; `None` in the compile unit.
    pub(super) type_unit_of: Option<TypeId>,
    pub(super) lanes: super::lanes::LaneProcedures,
}

impl<'u> Dies<'u> {
    pub(super) fn new(units: &'u Units<'u>, unit: UnitId, abbreviations: Abbreviations) -> Self {
        let primary = units.module.units[unit].file;
        let consumer = units.consumer;
        let (format, forms) = (units.format, consumer.forms.clone());
        let scopes = units.scopes.of(unit).len();
        let expressions = Expressions::new(units, unit);
        let mut info = Info::new(format, unit.as_u32(), expressions.entries.count(), forms, abbreviations);
        info.is_split = consumer.is_split;
        info.style = EntryStyle {
            has_inline_strings: consumer.entries.has_inline_strings,
            has_fixed_forms: consumer.entries.has_fixed_forms,
            known: consumer.entries.attributes,
            last_tag: consumer.entries.last_tag.unwrap_or(gimli::DwTag(u16::MAX)),
        };
        if consumer.tables.names || consumer.tables.pubs {
            info.named = Some(Box::default());
        }
        Self {
            units,
            module: units.module,
            consumer,
            expressions,
            info,
            rnglists: Lists::new(format, scopes, LIST_BYTES * scopes),
            lists_named: Vec::new(),
            primary_file: (primary, units.file_number(unit, primary)),
            type_unit_of: None,
            lanes: Default::default(),
        }
    }

    /// Writes the unit. With `shares`, subexpressions that recur become procedures, if the consumer has calls.
    pub(super) fn write(mut self, shares: bool, scratch: &mut Scratch) -> Result<LoweredUnit> {
        self.expressions.lowering.memo = core::mem::take(&mut scratch.memo);
        self.info.strings = core::mem::take(&mut scratch.strings);
        let (module, id, format) = (self.module, self.expressions.entries.unit, self.info.format);
        let ListCount { lists, entries } = self.units.lists[id.as_u32() as usize];
        let entry_bytes = scratch.entry_bytes.unwrap_or(ENTRY_BYTES);
        let bytes = LIST_BYTES * lists + entry_bytes * entries;
        self.expressions.loclists = Lists::new(format, lists, bytes);
        let has = Contents::new(self.units, id);
        // Not all readers apply the skeleton's base address to the split unit.
        let is_one = has.code.len() == 1 && !self.consumer.is_split && !self.consumer.has_absolute_lists;

        match self.consumer.is_split {
            true => self.info.begin_unit(gimli::DW_UT_split_compile, Some(0)),
            false => self.info.begin_unit(gimli::DW_UT_compile, None),
        }
        self.unit_entry(&has)?;
        if !self.consumer.has_locations_on_the_stack() {
            for bits in unsigned_sizes(self.units, id) {
                self.hidden_unsigned(bits);
            }
        }
        // Expressions refer to base types by ULEB128 offsets in the unit, which are shorter near its start.
        for ty in self.units.types.of(id) {
            let ty = TypeId::from_u32(ty);
            if module.types[ty].kind.is_base() {
                self.ty(ty)?;
            }
        }
        let has_shared = shares && self.share()?;
        self.types_of_unit(module.units[id].scope, is_one)?;
        for procedure in self.units.procedures.of(id) {
            self.procedure(ProcedureId::from_u32(procedure))?;
        }
        self.lane_procedures(is_one)?;
        let open = self.open(module.units[id].scope, None)?;
        self.children(open, is_one)?;

        let line = match has.lines && !self.consumer.has_line_directives {
            true => lines::program(self.units, id, &has.functions)?,
            false => Part::default(),
        };
        let macros = match has.macros {
            true => macros::program(self.units, id, has.lines),
            false => Part::default(),
        };
        let loclists = self.finish_lists(has.loclists, |dies| &mut dies.expressions.loclists)?;
        let rnglists = self.finish_lists(has.ranges, |dies| &mut dies.rnglists)?;
        self.name_lists(&loclists, &rnglists);
        if let Some(tag) = self.info.unknown_tag {
            // Other entries refer to it, or it to others.
            return Err(self.consumer.inexpressible(Construct::Tag(tag)));
        }
        for attribute in core::mem::take(&mut self.info.unknown) {
            let error = self.consumer.inexpressible(Construct::Attribute(attribute));
            self.expressions.omit(Subject::Unit(id), Property::Attributes, None, error)?;
        }
        self.info.end_unit()?;
        let skeleton = self.consumer.is_split.then(|| self.skeleton(&has)).transpose()?;
        let addresses = if has.addresses && format.version >= 5 {
            let (bytes, relocations) = core::mem::take(&mut self.expressions.addresses)
                .finish(format, |symbol| symbol_name(module, symbol));
            Part { bytes, relocations, elsewhere: Vec::new() }
        } else {
            Part::default()
        };
        let strings = self.info.strings.finish();
        let bytes = loclists.bytes.len().saturating_sub(LIST_BYTES * lists);
        *scratch = Scratch {
            memo: self.expressions.lowering.memo,
            strings: self.info.strings,
            entry_bytes: bytes.checked_div(entries).map_or(scratch.entry_bytes, |bytes| Some(bytes + 1)),
        };
        Ok(LoweredUnit {
            unit: id,
            info: Part {
                bytes: self.info.bytes,
                relocations: self.info.relocations,
                elsewhere: self.info.elsewhere,
            },
            abbreviations: self.info.abbreviations,
            offsets: self.info.offsets,
            strings,
            addresses,
            loclists,
            rnglists,
            line,
            macros,
            code: has.code,
            named: self.info.named.map(|named| named.finish()).unwrap_or_default(),
            type_units: Vec::new(),
            frames: Default::default(),
            omissions: self.expressions.omissions,
            has_shared,
            skeleton,
            split: None,
        })
    }

    /// Writes procedures for subexpressions that recur in the unit's locations, if the consumer can call them.
    /// Returns whether there are any.
    fn share(&mut self) -> Result<bool> {
        // DWARF 2 has no calls.
        let Some(from_bytes) = self.consumer.shared_from_bytes.filter(|_| self.consumer.version > 2) else {
            return Ok(false);
        };
        if !self.expressions.lowering.may_repeat() {
            return Ok(false);
        }
        let module = self.module;
        for variable in self.units.variables.of(self.expressions.entries.unit) {
            let variable = VariableId::from_u32(variable);
            let live = module.live(variable).iter().map(|live| live.loc);
            for loc in live.chain(module.variables[variable].always) {
                self.expressions.lowering.count(loc);
            }
        }
        let mut chosen = self.expressions.lowering.repeated();
        let stack = Stack::kernel(&module.target);
        chosen.retain(|part| {
            let mut is_chosen = false;
            let chosen = self.expressions.encode(stack, |lowering, sink| {
                is_chosen = lowering.choose(part, from_bytes, sink);
                Ok(())
            });
            chosen.is_ok() && is_chosen
        });
        // Smallest first: a part is written after the procedures of the parts within it.
        for part in chosen.iter().rev() {
            self.expressions.encode(stack, |lowering, sink| lowering.part(part, sink))?;
            self.info.begin_entry(gimli::DW_TAG_dwarf_procedure, false, None);
            self.expression_attribute(gimli::DW_AT_location);
            self.info.end_entry();
            self.expressions.lowering.settle(part, self.info.entry_offset());
        }
        Ok(!chosen.is_empty())
    }

    /// Writes the unit's own entry. Offsets into other sections are relative to the unit's part of them.
    fn unit_entry(&mut self, has: &Contents) -> Result<()> {
        let (module, format) = (self.module, self.info.format);
        let unit = &module.units[self.expressions.entries.unit];
        self.info.begin_entry(gimli::DW_TAG_compile_unit, true, None);
        // A split unit's tables are the first of its file, and the skeleton has the other attributes.
        let is_split = self.consumer.is_split;
        if format.version >= 5 && !is_split {
            let base = str_offsets_base(format);
            self.info.offset(gimli::DW_AT_str_offsets_base, ".debug_str_offsets", base);
        }
        self.producer(unit);
        self.language(unit);
        self.name(Some(unit.name));
        if !is_split {
            self.sources(has);
        }
        if has.macros {
            let (at, section) = match format.version {
                5.. => (gimli::DW_AT_macros, ".debug_macro"),
                _ => (gimli::DW_AT_macro_info, ".debug_macinfo"),
            };
            self.info.offset(at, section, 0);
        }
        if format.version >= 5 && !is_split {
            if has.addresses {
                self.info.offset(gimli::DW_AT_addr_base, ".debug_addr", addr_base(format));
            }
            if has.ranges {
                self.info.offset(gimli::DW_AT_rnglists_base, ".debug_rnglists", lists_base(format));
            }
            if has.loclists {
                self.info.offset(gimli::DW_AT_loclists_base, ".debug_loclists", lists_base(format));
            }
        }
        if !is_split {
            self.code_of_unit(has);
        }
        self.info.end_entry();
        Ok(())
    }

    /// Writes the compiler and its command line.
    fn producer(&mut self, unit: &Unit) {
        match (unit.producer, producer(self.module, unit)) {
            (_, Some(text)) => {
                let number = strings::producer(self.units, &text);
                self.info.string(gimli::DW_AT_producer, number, || text.len(), || &text);
            }
            (Some(producer), None) => self.text(gimli::DW_AT_producer, producer),
            (None, None) => {}
        }
    }

    /// Writes the directory of the compilation and the line table.
    pub(super) fn sources(&mut self, has: &Contents) {
        if let Some(directory) = self.module.units[self.expressions.entries.unit].directory {
            self.text(gimli::DW_AT_comp_dir, directory);
        }
        if has.lines {
            self.info.offset(gimli::DW_AT_stmt_list, ".debug_line", 0);
        }
    }

    /// Writes the pc ranges of the unit.
    pub(super) fn code_of_unit(&mut self, has: &Contents) {
        let (module, format) = (self.module, self.info.format);
        match has.code[..] {
            [] => {}
            // Addresses in lists are absolute.
            _ if self.consumer.has_absolute_lists => {
                self.low_pc(gimli::DW_AT_low_pc, Code { key: ABSOLUTE, index: 0 });
            }
            [id] => {
                let function = &module.functions[id];
                let code = self.code(function.address);
                self.code_range(function, code);
            }
            _ => {
                if format.version < 5 {
                    // Base address of the unit's lists.
                    self.low_pc(gimli::DW_AT_low_pc, Code { key: ABSOLUTE, index: 0 });
                }
                let list = self.function_list(&has.code);
                self.ranges(list);
            }
        }
    }

    /// Replaces list indices by offsets in the attributes that refer to lists.
    pub(super) fn name_lists(&mut self, loclists: &FinishedLists, rnglists: &FinishedLists) {
        for relocation in self.lists_named.drain(..) {
            let relocation = &mut self.info.relocations[relocation];
            let starts = match relocation.target {
                RelocationTarget::Section(".debug_loclists" | ".debug_loc") => &loclists.starts,
                _ => &rnglists.starts,
            };
            relocation.addend = starts[relocation.addend as usize].into();
        }
    }

    /// Finishes the location lists or the range lists of the unit.
    pub(super) fn finish_lists(
        &mut self,
        are_there: bool,
        lists: impl FnOnce(&mut Self) -> &mut Lists,
    ) -> Result<FinishedLists> {
        let none = Lists::empty(self.info.format);
        let lists = core::mem::replace(lists(self), none);
        let module = self.module;
        if are_there {
            lists.finish(&self.info, |symbol| symbol_name(module, symbol))
        } else {
            Ok(FinishedLists::default())
        }
    }

    /// Writes an attribute that refers to a list.
    pub(super) fn list(&mut self, at: gimli::DwAt, list: u64) {
        self.note_address(at);
        let is_five = self.info.format.version >= 5;
        let (form, five, older) = match at {
            gimli::DW_AT_ranges => (gimli::DW_FORM_rnglistx, ".debug_rnglists", ".debug_ranges"),
            _ => (gimli::DW_FORM_loclistx, ".debug_loclists", ".debug_loc"),
        };
        if self.info.wants_offset(at) {
            self.lists_named.push(self.info.relocations.len());
            self.info.offset(at, if is_five { five } else { older }, list);
        } else {
            self.info.index(at, form, list);
        }
    }

    /// Records whether the expression written last has an address in it, for the entry's `DW_AT_location`.
    fn note_address(&mut self, at: gimli::DwAt) {
        if let (Some(named), gimli::DW_AT_location) = (&mut self.info.named, at) {
            named.has_address |= self.expressions.lowering.has_address;
        }
    }

    /// Writes `DW_AT_ranges`.
    pub(super) fn ranges(&mut self, list: u64) {
        self.list(gimli::DW_AT_ranges, list);
    }

    pub(super) fn procedure(&mut self, id: ProcedureId) -> Result<()> {
        let stack = Stack::kernel(&self.module.target);
        let loc = self.module.procedures[id].loc;
        let has_expression =
            match self.expressions.encode(stack, |lowering, sink| lowering.lower(loc, None, true, sink)) {
                Ok(()) => true,
                Err(error) => match error.kind() {
                    // Calls are replaced by the location, except for a reference to another unit.
                    ErrorKind::Inexpressible { what, .. }
                        if *what != Construct::OtherUnit && self.units.inlined_procedures.contains(id) =>
                    {
                        false
                    }
                    _ => {
                        self.expressions.omit(Subject::Procedure(id), Property::Location, None, error)?;
                        false
                    }
                },
            };
        self.info.begin_entry(
            gimli::DW_TAG_dwarf_procedure,
            false,
            Some(self.expressions.entries.procedure(id)),
        );
        if has_expression {
            self.expression_attribute(gimli::DW_AT_location);
        } else {
            self.expressions.entries.without_expression.insert(id);
        }
        self.info.end_entry();
        Ok(())
    }

    /// Writes an attribute whose value is the expression encoded last.
    pub(super) fn expression_attribute(&mut self, at: gimli::DwAt) {
        self.note_address(at);
        let start = self.info.expression(at, &self.expressions.bytes);
        if !self.expressions.lowering.pending.is_empty() {
            let module = self.module;
            let pending =
                self.expressions.lowering.pending.drain(..).map(|one| Pending { at: start + one.at, ..one });
            self.info.defer(pending, |symbol| symbol_name(module, symbol));
        }
    }

    /// Returns the start address of code.
    pub(super) fn code(&mut self, address: Option<Address>) -> Code {
        let key = match address {
            Some(Address::Symbol(symbol, addend)) => AddressKey { symbol: Some(symbol.0.as_u32()), addend },
            Some(Address::Constant(addend)) => AddressKey { symbol: None, addend },
            None => ABSOLUTE,
        };
        // Address indices begin with DWARF 5.
        let index = if self.info.format.version >= 5 { self.expressions.addresses.index(key) } else { 0 };
        Code { key, index }
    }

    /// Writes an attribute whose value is an address of code.
    pub(super) fn low_pc(&mut self, at: gimli::DwAt, code: Code) {
        if self.info.wants_address(at) {
            let module = self.module;
            self.info.address(at, code.key, |symbol| symbol_name(module, symbol));
        } else {
            self.info.index(at, gimli::DW_FORM_addrx, code.index);
        }
    }

    /// Writes the range of a function, or of a scope that starts at `code`; `bytes` is its length.
    pub(super) fn pcs(&mut self, code: Code, bytes: u64) {
        self.low_pc(gimli::DW_AT_low_pc, code);
        if self.info.format.version >= 4 {
            self.info.unsigned(gimli::DW_AT_high_pc, bytes);
        } else {
            let addend = code.key.addend.wrapping_add(bytes);
            self.low_pc(gimli::DW_AT_high_pc, Code { key: AddressKey { addend, ..code.key }, ..code });
        }
    }

    pub(super) fn code_range(&mut self, function: &Function, code: Code) {
        self.pcs(code, function.bytes);
    }
}

/// Address 0.
const ABSOLUTE: AddressKey = AddressKey { symbol: None, addend: 0 };
