//! Entries of units, scopes and variables: DWARF 5 chapters 3 and 4.

use std::collections::BTreeSet;

use super::consumer::Consumer;
use super::entries::{Children, Numbers};
use super::loc::{Lowering, Sink};
use super::others::Others;
use super::{LeftOut, Lowered, Policy};
use crate::emit::addr::{ADDR_BASE, AddressKey, Addresses};
use crate::emit::info::{Info, Pending, RefForm};
use crate::emit::lists::Lists;
use crate::emit::strings::Strings;
use crate::emit::{Relocation, Section};
use crate::error::{At, Error, ErrorKind, Result};
use crate::model::{Address, Function, FunctionId, Module, Node, ProcedureId, ScopeKind, Stack, UnitId};
use crate::op::Reg;

/// Bytes of a list section's header, before the table of offsets.
const LISTS_BASE: u64 = 12;

/// About as many bytes as a list takes besides its entries, and in the table of lists.
const LIST_BYTES: usize = 8;
/// About as many bytes as an entry of a list takes.
const ENTRY_BYTES: usize = 20;

/// Writes entries, and what they refer to in other sections.
pub(super) struct Dies<'m> {
    pub(super) module: &'m Module,
    pub(super) consumer: &'m Consumer,
    pub(super) policy: Policy,
    pub(super) left_out: Vec<LeftOut>,
    pub(super) lowering: Lowering<'m>,
    pub(super) entries: Numbers,
    pub(super) children: Children,
    pub(super) others: Others,

    pub(super) info: Info,
    pub(super) strings: Strings,
    pub(super) line_strings: Strings,
    /// The addresses of the unit.
    pub(super) addresses: Addresses,
    pub(super) line: Vec<u8>,
    pub(super) line_relocations: Vec<Relocation>,
    /// The lists of the unit.
    pub(super) loclists: Lists,
    pub(super) rnglists: Lists,
    /// References in the unit's location lists.
    pub(super) list_pending: Vec<Pending>,
    /// How many of them are of earlier units, whose lists are in their section.
    earlier_pending: usize,
    /// The finished sections of lists.
    all_loclists: Vec<u8>,
    all_rnglists: Vec<u8>,
    loclists_relocations: Vec<Relocation>,
    /// The finished section of addresses.
    all_addr: Vec<u8>,
    addr_relocations: Vec<Relocation>,
    /// The number of each file in its unit.
    pub(super) file_indices: Vec<u32>,
    pub(super) unit_start: u64,
}

impl<'m> Dies<'m> {
    pub(super) fn new(module: &'m Module, consumer: &'m Consumer, policy: Policy) -> Self {
        let entries = Numbers {
            variables: module.variables.len() as u32,
            types: module.types.len() as u32,
            functions: module.functions.len() as u32,
            procedures: module.procedures.len() as u32,
            scopes: module.scopes.len() as u32,
            unsigned: Vec::new(),
            untold: BTreeSet::new(),
        };
        let mut next_of_unit = vec![0u32; module.units.len()];
        let file_indices = module.files.values().map(|file| {
            let next = &mut next_of_unit[file.unit.as_u32() as usize];
            *next += 1;
            *next - 1
        });
        let file_indices = file_indices.collect();
        Self {
            module,
            consumer,
            policy,
            left_out: Vec::new(),
            lowering: Lowering::new(module, consumer),
            info: Info::new(entries.count()),
            entries,
            children: Children::new(module),
            others: Others::new(module),
            strings: Strings::default(),
            line_strings: Strings::default(),
            addresses: Addresses::default(),
            line: Vec::new(),
            line_relocations: Vec::new(),
            loclists: Lists::new(0, 0),
            rnglists: Lists::new(0, 0),
            list_pending: Vec::new(),
            earlier_pending: 0,
            all_loclists: Vec::new(),
            all_rnglists: Vec::new(),
            loclists_relocations: Vec::new(),
            all_addr: Vec::new(),
            addr_relocations: Vec::new(),
            file_indices,
            unit_start: 0,
        }
    }

    pub(super) fn write(mut self) -> Result<Lowered> {
        for unit in self.module.units.keys() {
            self.unit(unit).map_err(|error| {
                let name = self.module.string(self.module.units[unit].name);
                error.or_at(At { unit: Some(name.into()), ..At::default() })
            })?;
        }
        self.finish()
    }

    /// Ends the sections.
    pub(super) fn finish(mut self) -> Result<Lowered> {
        for pending in core::mem::take(&mut self.list_pending) {
            let list = (self.all_loclists.as_mut_slice(), &mut self.loclists_relocations);
            if !self.info.settle(&pending, Some(list)) {
                return Err(nowhere());
            }
        }
        if !self.info.settle_rest() {
            return Err(nowhere());
        }
        let plain =
            |name, bytes, relocations| Section { name, bytes, relocations, is_strings: false, group: None };
        let strings = |name, strings: Strings| Section {
            name,
            bytes: strings.bytes,
            relocations: Vec::new(),
            is_strings: true,
            group: None,
        };
        self.info.relocations.sort_by_key(|relocation| relocation.offset);
        self.loclists_relocations.sort_by_key(|relocation| relocation.offset);
        let mut sections = vec![
            plain(".debug_abbrev", self.info.abbreviations.finish(), Vec::new()),
            plain(".debug_info", self.info.bytes, self.info.relocations),
            plain(".debug_loclists", self.all_loclists, self.loclists_relocations),
            plain(".debug_rnglists", self.all_rnglists, Vec::new()),
            plain(".debug_addr", self.all_addr, self.addr_relocations),
            strings(".debug_str", self.strings),
            plain(".debug_line", self.line, self.line_relocations),
            strings(".debug_line_str", self.line_strings),
        ];
        sections.retain(|section| !section.bytes.is_empty());
        for section in &sections {
            if section.bytes.len() > u32::MAX as usize {
                let what = "the 32-bit DWARF format has sections of up to 4 GiB";
                return Err(Error::new(ErrorKind::TooLarge(what.into())).in_section(section.name));
            }
        }
        Ok(Lowered { sections, left_out: self.left_out })
    }

    pub(super) fn unit(&mut self, id: UnitId) -> Result<()> {
        let module = self.module;
        let unit = &module.units[id];
        let functions: Vec<FunctionId> = module
            .functions
            .iter()
            .filter(|(_, f)| module.scopes[f.scope].unit == id)
            .map(|(id, _)| id)
            .collect();
        let with_code: Vec<(FunctionId, &Function)> = functions
            .iter()
            .map(|&id| (id, &module.functions[id]))
            .filter(|(_, function)| function.address.is_some())
            .collect();
        let variables =
            || module.variables.values().filter(|variable| module.scopes[variable.scope].unit == id);
        let (loclists, entries) = variables()
            .filter(|variable| !variable.live.is_empty())
            .fold((0, 0), |(lists, entries), variable| (lists + 1, entries + variable.live.len()));
        let has_loclists = loclists > 0;
        self.loclists = Lists::new(loclists, LIST_BYTES * loclists + ENTRY_BYTES * entries);
        // The names of files are in the line program: what is declared in one needs it, rows or not.
        let has_lines = with_code.iter().any(|(_, function)| !function.rows.is_empty())
            || functions.iter().any(|&id| module.functions[id].line.is_some())
            || variables().any(|variable| variable.line.is_some())
            || super::others::has_lines(module, id)
            || module
                .scopes
                .values()
                .any(|scope| scope.unit == id && matches!(scope.kind, ScopeKind::Inlined { .. }));
        let has_ranges = with_code.len() > 1
            || module.scopes.values().any(|scope| scope.unit == id && !scope.ranges.is_empty());

        self.unit_start = self.info.bytes.len() as u64;
        self.entries.unsigned.clear();
        self.info.begin_unit(module.target.address_bytes());
        self.info.begin_entry(gimli::DW_TAG_compile_unit, true, None);
        if let Some(producer) = unit.producer {
            self.text(gimli::DW_AT_producer, producer);
        }
        self.language(unit);
        self.name(Some(unit.name));
        if let Some(directory) = unit.directory {
            self.text(gimli::DW_AT_comp_dir, directory);
        }
        if has_lines {
            self.info.offset(gimli::DW_AT_stmt_list, ".debug_line", self.line.len() as u64);
        }
        // Whether a location has an address in it is known only when it is written.
        let has_addresses = !with_code.is_empty()
            || variables().next().is_some()
            || module.procedures.values().any(|procedure| procedure.unit == id);
        if has_addresses {
            let base = self.all_addr.len() as u64 + ADDR_BASE;
            self.info.offset(gimli::DW_AT_addr_base, ".debug_addr", base);
        }
        if has_ranges {
            let base = self.all_rnglists.len() as u64 + LISTS_BASE;
            self.info.offset(gimli::DW_AT_rnglists_base, ".debug_rnglists", base);
        }
        if has_loclists {
            let base = self.all_loclists.len() as u64 + LISTS_BASE;
            self.info.offset(gimli::DW_AT_loclists_base, ".debug_loclists", base);
        }
        match with_code[..] {
            [] => {}
            [(_, function)] => self.code_range(function),
            _ => {
                let code: Vec<(u64, u64)> =
                    with_code.iter().map(|(_, function)| (self.address(function), function.bytes)).collect();
                let list = self.function_list(&code);
                self.info.index(gimli::DW_AT_ranges, gimli::DW_FORM_rnglistx, list);
            }
        }
        self.info.end_entry();

        if !self.consumer.has_locations_on_the_stack() {
            self.hidden_types(id);
        }
        for (ty, data) in &module.types {
            if data.unit == id {
                self.ty(ty)?;
            }
        }
        for (procedure, data) in &module.procedures {
            if data.unit == id {
                self.procedure(procedure)?;
            }
        }
        let is_one = with_code.len() == 1;
        self.scope_children(unit.scope, None, is_one)?;
        self.info.end_children();
        if !self.info.end_unit() {
            return Err(nowhere());
        }

        if has_lines {
            self.lines(id, &functions);
        }
        self.end_lists(has_loclists, has_ranges)?;
        if has_addresses {
            self.end_addresses();
        }
        Ok(())
    }

    /// Ends the table of the unit's addresses.
    pub(super) fn end_addresses(&mut self) {
        let module = self.module;
        let name = |symbol| module.string(crate::model::StringId::from_u32(symbol)).to_owned().into();
        let address_bytes = module.target.address_bytes();
        let addresses = core::mem::take(&mut self.addresses);
        addresses.finish(address_bytes, name, &mut self.all_addr, &mut self.addr_relocations);
    }

    /// Ends the lists of the unit, and fills in what they refer to in it.
    pub(super) fn end_lists(&mut self, has_loclists: bool, has_ranges: bool) -> Result<()> {
        let address_bytes = self.module.target.address_bytes();
        let loclists = core::mem::replace(&mut self.loclists, Lists::new(0, 0));
        if has_loclists {
            let moved = loclists.finish(&mut self.all_loclists, address_bytes);
            let mut pending = core::mem::take(&mut self.list_pending);
            // What is left of earlier units is where it is: only this unit's moves.
            for one in pending.iter_mut().skip(self.earlier_pending) {
                one.at += moved;
            }
            pending.retain(|one| {
                let list = (self.all_loclists.as_mut_slice(), &mut self.loclists_relocations);
                !self.info.settle(one, Some(list))
            });
            self.list_pending = pending;
            self.earlier_pending = self.list_pending.len();
            if self.list_pending.iter().any(|one| one.form != RefForm::Section) {
                return Err(nowhere());
            }
        }
        let rnglists = core::mem::replace(&mut self.rnglists, Lists::new(0, 0));
        if has_ranges {
            rnglists.finish(&mut self.all_rnglists, address_bytes);
        }
        Ok(())
    }

    /// Unsigned types of the sizes of registers whose contents expressions use, where the expression has to
    /// name a type for that.
    pub(super) fn hidden_types(&mut self, unit: UnitId) {
        let module = self.module;
        let address_bits = u32::from(module.target.address_bytes()) * 8;
        if module.target.registers().all(|register| register.bits >= address_bits) {
            return;
        }
        let mut sizes: Vec<u32> = Vec::new();
        let mut used_by = |loc, base: Option<Reg>| {
            let has_read = module.nodes(loc).any(|node| matches!(node, Node::Read(_)));
            for node in module.nodes(loc) {
                let reg = match node {
                    Node::ReadRegister(reg) => reg,
                    Node::Register(reg) if has_read => reg,
                    Node::StackAddress(_) if let Some(base) = base => base,
                    _ => continue,
                };
                sizes.extend(module.target.register(reg).map(|register| register.bits));
            }
        };
        for (id, variable) in module.variables.iter().filter(|(_, v)| module.scopes[v.scope].unit == unit) {
            let function = module.function_of(variable.scope);
            let base = function.and_then(|function| module.functions[function].stack.base);
            let locs = module.live(id).iter().map(|live| live.loc).chain(variable.always);
            locs.for_each(|loc| used_by(loc, base));
        }
        // What procedures say is written in place of calls to them, with the caller's stack.
        for procedure in module.procedures.values().filter(|procedure| procedure.unit == unit) {
            let bases = module.functions.values().map(|function| function.stack.base);
            bases.chain([None]).for_each(|base| used_by(procedure.loc, base));
        }
        super::calls::locs(module, unit).for_each(|(loc, base)| used_by(loc, base));
        sizes.retain(|&bits| bits < address_bits);
        sizes.sort_unstable();
        sizes.dedup();
        for bits in sizes {
            self.hidden_unsigned(bits);
        }
    }

    pub(super) fn procedure(&mut self, id: ProcedureId) -> Result<()> {
        let stack = Stack::kernel(&self.module.target);
        let mut out = Vec::new();
        let mut sink = Sink { out: &mut out, addresses: &mut self.addresses, entries: &self.entries, stack };
        let result = self.lowering.lower(self.module.procedures[id].loc, None, true, &mut sink);
        let pending = core::mem::take(&mut self.lowering.pending);
        let said = match result {
            Ok(()) => true,
            // Calls to it are written in its place, or cannot be said either.
            Err(error) if super::cannot_be_told(&error) => false,
            Err(error) => return Err(error),
        };
        self.info.begin_entry(gimli::DW_TAG_dwarf_procedure, false, Some(self.entries.procedure(id)));
        if said {
            self.exprloc(gimli::DW_AT_location, &out, pending);
        } else {
            self.entries.untold.insert(id);
        }
        self.info.end_entry();
        Ok(())
    }

    pub(super) fn exprloc(&mut self, at: gimli::DwAt, expression: &[u8], pending: Vec<Pending>) {
        self.info.index(at, gimli::DW_FORM_exprloc, expression.len() as u64);
        let start = self.info.bytes.len();
        self.info.bytes.extend_from_slice(expression);
        self.info.pend(pending.into_iter().map(|one| Pending { at: start + one.at, ..one }));
    }

    /// The index of a function's address.
    pub(super) fn address(&mut self, function: &Function) -> u64 {
        let key = match function.address {
            Some(Address::Symbol(symbol, addend)) => AddressKey { symbol: Some(symbol.0.as_u32()), addend },
            Some(Address::Constant(addend)) => AddressKey { symbol: None, addend },
            None => AddressKey { symbol: None, addend: 0 },
        };
        self.addresses.index(key)
    }

    pub(super) fn code_range(&mut self, function: &Function) {
        let address = self.address(function);
        self.info.index(gimli::DW_AT_low_pc, gimli::DW_FORM_addrx, address);
        self.info.unsigned(gimli::DW_AT_high_pc, function.bytes);
    }
}

#[cold]
fn nowhere() -> Error {
    Error::bad_argument(
        "a location refers to an entity that has no entry in its unit, or one further on than its operation reaches",
    )
}
