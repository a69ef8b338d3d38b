//! Entries of units, scopes and variables: DWARF 5 chapters 3 and 4.

use core::ops::Range;

use super::consumer::Consumer;
use super::lists::Base;
use super::loc::{Entries, Lowering, Sink};
use super::{LeftOut, Lowered, Policy};
use crate::emit::addr::{ADDR_BASE, AddressKey, Addresses};
use crate::emit::info::{EntryRef, Info, Pending};
use crate::emit::lists::Lists;
use crate::emit::strings::Strings;
use crate::emit::{Relocation, Section};
use crate::error::{At, Error, ErrorKind, Result};
use crate::model::{
    Address, Entity, Function, FunctionId, Module, Node, ProcedureId, ScopeId, ScopeKind, SourceLine, Stack,
    TypeId, UnitId, VariableId, VariableKind,
};

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
    children: Children,

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

/// The numbers by which entries are known before they have offsets.
pub(super) struct Numbers {
    variables: u32,
    types: u32,
    functions: u32,
    procedures: u32,
    /// Unsigned base types of the unit that expressions use: bits and offset in the unit.
    pub(super) unsigned: Vec<(u32, u64)>,
}

impl Numbers {
    fn count(&self) -> usize {
        (2 * self.variables + self.types + self.functions + self.procedures) as usize
    }

    /// The entry that says where a variable is.
    fn variable(&self, id: VariableId) -> EntryRef {
        EntryRef(id.as_u32())
    }

    /// The entry of a variable of an inlined function that its instances refer to.
    fn origin(&self, id: VariableId) -> EntryRef {
        EntryRef(self.variables + id.as_u32())
    }

    pub(super) fn ty(&self, id: TypeId) -> EntryRef {
        EntryRef(2 * self.variables + id.as_u32())
    }

    fn function(&self, id: FunctionId) -> EntryRef {
        EntryRef(2 * self.variables + self.types + id.as_u32())
    }

    fn procedure(&self, id: ProcedureId) -> EntryRef {
        EntryRef(2 * self.variables + self.types + self.functions + id.as_u32())
    }
}

impl Entries for Numbers {
    fn entity(&self, entity: Entity) -> Option<EntryRef> {
        match entity {
            Entity::Variable(id) => Some(self.variable(id)),
            Entity::Type(id) => Some(self.ty(id)),
            Entity::Procedure(id) => Some(self.procedure(id)),
            Entity::Symbol(..) => None,
        }
    }

    fn unsigned(&self, bits: u32) -> Option<u64> {
        self.unsigned.iter().find(|&&(has, _)| has == bits).map(|&(_, offset)| offset)
    }
}

/// What is in each scope, in the order of the model.
struct Children {
    first_variable: Vec<u32>,
    next_variable: Vec<u32>,
    first_scope: Vec<u32>,
    next_scope: Vec<u32>,
}

const NONE: u32 = u32::MAX;

impl Children {
    fn new(module: &Module) -> Self {
        let mut children = Self {
            first_variable: vec![NONE; module.scopes.len()],
            next_variable: vec![NONE; module.variables.len()],
            first_scope: vec![NONE; module.scopes.len()],
            next_scope: vec![NONE; module.scopes.len()],
        };
        for (id, variable) in module.variables.iter().rev() {
            let first = &mut children.first_variable[variable.scope.as_u32() as usize];
            children.next_variable[id.as_u32() as usize] = core::mem::replace(first, id.as_u32());
        }
        for (id, scope) in module.scopes.iter().rev() {
            let Some(parent) = scope.parent else { continue };
            let first = &mut children.first_scope[parent.as_u32() as usize];
            children.next_scope[id.as_u32() as usize] = core::mem::replace(first, id.as_u32());
        }
        children
    }

    fn variables(&self, scope: ScopeId) -> impl Iterator<Item = VariableId> + '_ {
        walk(&self.first_variable, &self.next_variable, scope).map(VariableId::from_u32)
    }

    fn scopes(&self, scope: ScopeId) -> impl Iterator<Item = ScopeId> + '_ {
        walk(&self.first_scope, &self.next_scope, scope).map(ScopeId::from_u32)
    }

    fn is_empty(&self, scope: ScopeId) -> bool {
        let index = scope.as_u32() as usize;
        self.first_variable[index] == NONE && self.first_scope[index] == NONE
    }
}

fn walk<'c>(first: &[u32], next: &'c [u32], scope: ScopeId) -> impl Iterator<Item = u32> + 'c {
    let some = |number: u32| (number != NONE).then_some(number);
    core::iter::successors(some(first[scope.as_u32() as usize]), move |&number| some(next[number as usize]))
}

/// How a function's entries are written.
#[derive(Clone, Copy)]
struct Instance {
    base: Base,
    /// The index of the function's address.
    address: u64,
    stack: Stack,
    bytes: u64,
    /// The variables have entries already, of the abstract instance.
    has_abstract: bool,
}

impl<'m> Dies<'m> {
    pub(super) fn new(module: &'m Module, consumer: &'m Consumer, policy: Policy) -> Self {
        let entries = Numbers {
            variables: module.variables.len() as u32,
            types: module.types.len() as u32,
            functions: module.functions.len() as u32,
            procedures: module.procedures.len() as u32,
            unsigned: Vec::new(),
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
    fn finish(mut self) -> Result<Lowered> {
        for pending in core::mem::take(&mut self.list_pending) {
            let list = (self.all_loclists.as_mut_slice(), &mut self.loclists_relocations);
            if !self.info.settle(&pending, Some(list)) {
                return Err(nowhere());
            }
        }
        if !self.info.settle_rest() {
            return Err(nowhere());
        }
        let plain = |name, bytes, relocations| Section { name, bytes, relocations, is_strings: false };
        let strings = |name, strings: Strings| Section {
            name,
            bytes: strings.bytes,
            relocations: Vec::new(),
            is_strings: true,
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
                let what = "the 32-bit DWARF format has sections of up to 4 GiB: use DWARF64";
                return Err(Error::new(ErrorKind::TooLarge(what.into())).in_section(section.name));
            }
        }
        Ok(Lowered { sections, left_out: self.left_out })
    }

    fn unit(&mut self, id: UnitId) -> Result<()> {
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
        let has_rows = with_code.iter().any(|(_, function)| !function.rows.is_empty());
        let has_ranges = with_code.len() > 1
            || module.scopes.values().any(|scope| scope.unit == id && !scope.ranges.is_empty());

        self.unit_start = self.info.bytes.len() as u64;
        self.entries.unsigned.clear();
        self.info.begin_unit(module.target.address_bytes());
        self.info.begin_entry(gimli::DW_TAG_compile_unit, true, None);
        if let Some(producer) = unit.producer {
            self.text(gimli::DW_AT_producer, producer);
        }
        if let Some(language) = unit.language {
            self.info.unsigned(gimli::DW_AT_language, language.into());
        }
        self.name(Some(unit.name));
        if let Some(directory) = unit.directory {
            self.text(gimli::DW_AT_comp_dir, directory);
        }
        if has_rows {
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
                self.ty(ty);
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
        self.info.end_unit();

        if has_rows {
            self.lines(id, &functions);
        }
        self.end_lists(has_loclists, has_ranges);
        if has_addresses {
            self.end_addresses();
        }
        Ok(())
    }

    /// Ends the table of the unit's addresses.
    fn end_addresses(&mut self) {
        let module = self.module;
        let name = |symbol| module.string(crate::model::StringId::from_u32(symbol)).to_owned().into();
        let address_bytes = module.target.address_bytes();
        let addresses = core::mem::take(&mut self.addresses);
        addresses.finish(address_bytes, name, &mut self.all_addr, &mut self.addr_relocations);
    }

    /// Ends the lists of the unit, and fills in what they refer to in it.
    fn end_lists(&mut self, has_loclists: bool, has_ranges: bool) {
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
        }
        let rnglists = core::mem::replace(&mut self.rnglists, Lists::new(0, 0));
        if has_ranges {
            rnglists.finish(&mut self.all_rnglists, address_bytes);
        }
    }

    /// Unsigned types of the sizes of registers whose contents expressions use, where the expression has to
    /// name a type for that.
    fn hidden_types(&mut self, unit: UnitId) {
        let module = self.module;
        let address_bits = u32::from(module.target.address_bytes()) * 8;
        if module.target.registers().all(|register| register.bits >= address_bits) {
            return;
        }
        let mut sizes: Vec<u32> = Vec::new();
        let mut used_by = |loc| {
            for node in module.nodes(loc) {
                let (Node::ReadRegister(reg) | Node::Register(reg)) = node else { continue };
                sizes.extend(module.target.register(reg).map(|register| register.bits));
            }
        };
        for (id, variable) in module.variables.iter().filter(|(_, v)| module.scopes[v.scope].unit == unit) {
            module.live(id).iter().map(|live| live.loc).chain(variable.always).for_each(&mut used_by);
        }
        // What procedures say is written in place of calls to them.
        let procedures = module.procedures.values().filter(|procedure| procedure.unit == unit);
        procedures.for_each(|procedure| used_by(procedure.loc));
        sizes.retain(|&bits| bits < address_bits);
        sizes.sort_unstable();
        sizes.dedup();
        for bits in sizes {
            self.hidden_unsigned(bits);
        }
    }

    fn procedure(&mut self, id: ProcedureId) -> Result<()> {
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
        }
        self.info.end_entry();
        Ok(())
    }

    fn exprloc(&mut self, at: gimli::DwAt, expression: &[u8], pending: Vec<Pending>) {
        self.info.index(at, gimli::DW_FORM_exprloc, expression.len() as u64);
        let start = self.info.bytes.len();
        self.info.bytes.extend_from_slice(expression);
        self.info.pend(pending.into_iter().map(|one| Pending { at: start + one.at, ..one }));
    }

    /// The index of a function's address.
    fn address(&mut self, function: &Function) -> u64 {
        let key = match function.address {
            Some(Address::Symbol(symbol, addend)) => AddressKey { symbol: Some(symbol.0.as_u32()), addend },
            Some(Address::Constant(addend)) => AddressKey { symbol: None, addend },
            None => AddressKey { symbol: None, addend: 0 },
        };
        self.addresses.index(key)
    }

    fn code_range(&mut self, function: &Function) {
        let address = self.address(function);
        self.info.index(gimli::DW_AT_low_pc, gimli::DW_FORM_addrx, address);
        self.info.unsigned(gimli::DW_AT_high_pc, function.bytes);
    }

    /// What is in a scope: variables, then scopes. `instance` is the function that it is in.
    fn scope_children(&mut self, scope: ScopeId, instance: Option<Instance>, is_one: bool) -> Result<()> {
        let mut next = self.children.variables(scope).next();
        while let Some(variable) = next {
            self.variable(variable, instance)?;
            next = some(self.children.next_variable[variable.as_u32() as usize]).map(VariableId::from_u32);
        }
        let mut next = self.children.scopes(scope).next();
        while let Some(inner) = next {
            self.scope(inner, instance, is_one)?;
            next = some(self.children.next_scope[inner.as_u32() as usize]).map(ScopeId::from_u32);
        }
        Ok(())
    }

    fn scope(&mut self, id: ScopeId, instance: Option<Instance>, is_one: bool) -> Result<()> {
        let module = self.module;
        let has_children = !self.children.is_empty(id);
        match &module.scopes[id].kind {
            ScopeKind::Unit => return Ok(()),
            ScopeKind::Namespace(name) => {
                self.info.begin_entry(gimli::DW_TAG_namespace, has_children, None);
                self.name(Some(*name));
                self.info.end_entry();
            }
            // Of a function that was inlined, the abstract instance has it already.
            ScopeKind::Function(_) if instance.is_some_and(|instance| instance.has_abstract) => return Ok(()),
            ScopeKind::Function(function) => return self.function(*function, is_one),
            ScopeKind::Block => {
                self.info.begin_entry(gimli::DW_TAG_lexical_block, has_children, None);
                self.scope_range(module.ranges(id), instance);
                self.info.end_entry();
            }
            ScopeKind::Inlined { function, call } => {
                self.info.begin_entry(gimli::DW_TAG_inlined_subroutine, has_children, None);
                self.info.reference(gimli::DW_AT_abstract_origin, self.entries.function(*function));
                self.scope_range(module.ranges(id), instance);
                self.info
                    .unsigned(gimli::DW_AT_call_file, self.file_indices[call.file.as_u32() as usize].into());
                self.info.unsigned(gimli::DW_AT_call_line, call.line.into());
                if call.column != 0 {
                    self.info.unsigned(gimli::DW_AT_call_column, call.column.into());
                }
                self.info.end_entry();
            }
        }
        if has_children {
            self.scope_children(id, instance, is_one)?;
            self.info.end_children();
        }
        Ok(())
    }

    fn scope_range(&mut self, ranges: &[Range<u64>], instance: Option<Instance>) {
        let Some(instance) = instance else { return };
        match ranges {
            [] => {}
            [range] if range.start == 0 => {
                self.info.index(gimli::DW_AT_low_pc, gimli::DW_FORM_addrx, instance.address);
                self.info.unsigned(gimli::DW_AT_high_pc, range.end);
            }
            _ => {
                let list = self.range_list(ranges, instance.base);
                self.info.index(gimli::DW_AT_ranges, gimli::DW_FORM_rnglistx, list);
            }
        }
    }

    /// A function: its abstract instance if it was inlined, and its code if it has some.
    fn function(&mut self, id: FunctionId, is_one: bool) -> Result<()> {
        let module = self.module;
        let function = &module.functions[id];
        let has_children = !self.children.is_empty(function.scope);
        if function.is_inlined || function.address.is_none() {
            self.info.begin_entry(gimli::DW_TAG_subprogram, has_children, Some(self.entries.function(id)));
            self.function_attributes(function);
            // Inlined, without having to be declared so.
            let inline = if function.is_inlined { gimli::DW_INL_inlined } else { gimli::DW_INL_not_inlined };
            self.info.unsigned(gimli::DW_AT_inline, inline.0.into());
            self.info.end_entry();
            if has_children {
                self.scope_children(function.scope, None, is_one)?;
                self.info.end_children();
            }
        }
        if function.address.is_none() {
            return Ok(());
        }
        let address = self.address(function);
        let is = (!function.is_inlined).then(|| self.entries.function(id));
        self.info.begin_entry(gimli::DW_TAG_subprogram, has_children, is);
        if function.is_inlined {
            self.info.reference(gimli::DW_AT_abstract_origin, self.entries.function(id));
        } else {
            self.function_attributes(function);
        }
        self.code_range(function);
        if let (Some(convention), true) = (self.consumer.kernel_convention, function.is_kernel) {
            self.info.unsigned(gimli::DW_AT_calling_convention, convention.into());
        }
        let lanes = module.target.lanes();
        if let (Some(attribute), true) = (self.consumer.lanes, lanes > 1) {
            self.info.unsigned(attribute, lanes.into());
        }
        self.info.end_entry();
        if has_children {
            let instance = Instance {
                base: if is_one { Base::Unit } else { Base::Index(address) },
                address,
                stack: function.stack,
                bytes: function.bytes,
                has_abstract: function.is_inlined,
            };
            self.scope_children(function.scope, Some(instance), is_one)?;
            self.info.end_children();
        }
        Ok(())
    }

    fn function_attributes(&mut self, function: &Function) {
        self.name(Some(function.name));
        if let Some(name) = function.linkage_name {
            self.text(gimli::DW_AT_linkage_name, name);
        }
        self.declared(function.line);
        self.info.flag(gimli::DW_AT_prototyped);
        self.type_of(function.returns);
        if function.is_external {
            self.info.flag(gimli::DW_AT_external);
        }
    }

    fn declared(&mut self, line: Option<SourceLine>) {
        let Some(SourceLine { file, line, column }) = line else { return };
        self.info.unsigned(gimli::DW_AT_decl_file, self.file_indices[file.as_u32() as usize].into());
        self.info.unsigned(gimli::DW_AT_decl_line, line.into());
        if column != 0 {
            self.info.unsigned(gimli::DW_AT_decl_column, column.into());
        }
    }

    fn variable(&mut self, id: VariableId, instance: Option<Instance>) -> Result<()> {
        let module = self.module;
        let variable = &module.variables[id];
        let is_global = module.function_of(variable.scope).is_none();
        // An abstract instance says what the variable is, another where it is.
        let is_abstract = instance.is_none() && !is_global;
        let tag = match variable.kind {
            VariableKind::Variable => gimli::DW_TAG_variable,
            VariableKind::Parameter => gimli::DW_TAG_formal_parameter,
            VariableKind::Constant => gimli::DW_TAG_constant,
        };
        let origin = match variable.origin {
            Some(origin) => Some(origin),
            None => instance.filter(|instance| instance.has_abstract).map(|_| id),
        };
        let is = if is_abstract { self.entries.origin(id) } else { self.entries.variable(id) };

        // Where it is comes first, for whether that can be said decides which attributes there are.
        let place = if is_abstract { Place::None } else { self.place(id, instance)? };
        self.info.begin_entry(tag, false, Some(is));
        match origin {
            Some(origin) => self.info.reference(gimli::DW_AT_abstract_origin, self.entries.origin(origin)),
            None => {
                self.name(variable.name);
                self.declared(variable.line);
                self.type_of(Some(variable.ty));
                if variable.is_external {
                    self.info.flag(gimli::DW_AT_external);
                }
                if variable.is_artificial {
                    self.info.flag(gimli::DW_AT_artificial);
                }
            }
        }
        match place {
            Place::None => {}
            Place::Constant(bytes) => self.const_value(&bytes),
            Place::Expression(expression, pending) => {
                self.exprloc(gimli::DW_AT_location, &expression, pending)
            }
            Place::List(index) => self.info.index(gimli::DW_AT_location, gimli::DW_FORM_loclistx, index),
        }
        self.info.end_entry();
        Ok(())
    }

    fn const_value(&mut self, bytes: &[u8]) {
        let form = match bytes.len() {
            1 => gimli::DW_FORM_data1,
            2 => gimli::DW_FORM_data2,
            4 => gimli::DW_FORM_data4,
            8 => gimli::DW_FORM_data8,
            length => {
                self.info.index(gimli::DW_AT_const_value, gimli::DW_FORM_block, length as u64);
                self.info.bytes.extend_from_slice(bytes);
                return;
            }
        };
        self.info.attribute(gimli::DW_AT_const_value, form).extend_from_slice(bytes);
    }

    /// Where a variable is.
    fn place(&mut self, id: VariableId, instance: Option<Instance>) -> Result<Place> {
        let module = self.module;
        let variable = &module.variables[id];
        let bits = module.types[variable.ty].bits;
        let no_frame = Stack::kernel(&module.target);
        let stack = instance.map_or(no_frame, |instance| instance.stack);
        let (loc, pcs) = match (variable.always, module.live(id), instance) {
            (Some(loc), ..) => (loc, None),
            (None, [], _) | (None, _, None) => return Ok(Place::None),
            // One place for the whole function needs no list.
            (None, [live], Some(instance)) if live.pcs() == (0..instance.bytes) => {
                (live.loc, Some(live.pcs()))
            }
            (None, _, Some(instance)) => {
                let list = self.location_list(id, bits, stack, instance.base)?;
                return Ok(list.map_or(Place::None, Place::List));
            }
        };
        let mut nodes = module.nodes(loc);
        if let (VariableKind::Constant, Some(Node::Implicit(bytes)), None) =
            (variable.kind, nodes.next(), nodes.next())
        {
            return Ok(Place::Constant(bytes.to_vec()));
        }
        let expression = self.expression(id, loc, pcs, bits, stack)?;
        Ok(expression.map_or(Place::None, |(bytes, pending)| Place::Expression(bytes, pending)))
    }
}

/// What an entry says of where its variable is.
enum Place {
    None,
    Constant(Vec<u8>),
    Expression(Vec<u8>, Vec<Pending>),
    List(u64),
}

fn some(number: u32) -> Option<u32> {
    (number != NONE).then_some(number)
}

#[cold]
fn nowhere() -> Error {
    Error::bad_argument("a location refers to an entity that has no entry in its unit")
}
