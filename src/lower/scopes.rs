//! Entries of blocks, inlined calls and namespaces: DWARF 5 sections 3.2.2, 3.3.8 and 3.5.

use core::ops::Range;

use super::children::ScopeItem;
use super::dies::Dies;
use super::lists::Base;
use super::open::Open;
use super::variables::Around;
use crate::emit::addr::AddressKey;
use crate::error::Result;
use crate::model::{Address, Function, ScopeId, ScopeKind, SourceLine, Stack, Unit, UnitId};

/// `DW_AT_language_name` of DWARF 6.
const DW_AT_LANGUAGE_NAME: gimli::DwAt = gimli::DwAt(0x90);
/// `DW_AT_language_version` of DWARF 6.
const DW_AT_LANGUAGE_VERSION: gimli::DwAt = gimli::DwAt(0x91);

/// Start address of code.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Code {
    pub(super) key: AddressKey,
    /// Index in the unit's address table, `.debug_addr`.
    pub(super) index: u64,
}

/// Instance of a function with code.
#[derive(Clone, Copy)]
pub(super) struct Instance {
    pub(super) base: Base,
    /// Address of the function.
    pub(super) code: Code,
    pub(super) stack: Stack,
    pub(super) bytes: u64,
    /// Whether the function has an abstract instance, whose entries describe the variables.
    pub(super) has_abstract: bool,
}

/// Returns whether this instance has the entries that a function has once: the abstract instance, if there is one.
pub(super) fn is_first(instance: Option<&Instance>) -> bool {
    !instance.is_some_and(|instance| instance.has_abstract)
}

impl Dies<'_> {
    /// Writes the variables of a scope. `instance` is that of the function around it.
    pub(super) fn variables(&mut self, scope: ScopeId, instance: Option<&Instance>) -> Result<()> {
        // The entry for further arguments follows the parameters.
        let mut more_after = self.more_arguments(scope, instance);
        if more_after == Some(None) {
            self.more();
        }
        let mut next = self.units.children.first_variable(scope);
        if next.is_none() {
            return Ok(());
        }
        let around = Around::new(self.module, scope, instance);
        while let Some(variable) = next {
            self.variable(variable, &around)?;
            if more_after == Some(Some(variable)) {
                self.more();
                more_after = None;
            }
            next = self.units.children.next_variable(variable);
        }
        Ok(())
    }

    /// Writes the children of a scope that follow its scopes.
    pub(super) fn after_scopes(&mut self, scope: ScopeId, instance: Option<&Instance>) -> Result<()> {
        for at in self.units.scope_items.range(scope) {
            match self.units.scope_items.get(at) {
                ScopeItem::Import(import) => self.import(import, instance),
                ScopeItem::Label(label) => self.label(label, instance),
                ScopeItem::Call(call) => self.call(call, instance)?,
            }
        }
        Ok(())
    }

    /// Returns whether the entry of a scope has children.
    pub(super) fn has_children(&self, scope: ScopeId, instance: Option<&Instance>) -> bool {
        if self.units.children.first_variable(scope).is_some()
            || self.more_arguments(scope, instance).is_some()
        {
            return true;
        }
        let mut scopes = core::iter::successors(self.units.children.first_scope(scope), |&inner| {
            self.units.children.next_scope(inner)
        });
        let mut types = core::iter::successors(self.units.children.first_type(scope), |&ty| {
            self.units.children.next_type(ty)
        });
        let has_types = is_first(instance) && types.any(|ty| self.has_entry(ty));
        let has_templates = || match self.module.scopes[scope].kind {
            ScopeKind::Function(function) => {
                is_first(instance) && !self.module.functions[function].templates.is_empty()
            }
            _ => false,
        };
        has_types
            || has_templates()
            || scopes.any(|inner| self.is_written(inner, instance))
            || self.units.scope_items.range(scope).any(|at| match self.units.scope_items.get(at) {
                ScopeItem::Import(_) => is_first(instance),
                ScopeItem::Label(_) => instance.is_some(),
                ScopeItem::Call(_) => instance.is_some() && self.consumer.entries.knows_tag(self.call_tag()),
            })
    }

    /// Returns whether a scope has an entry among the children of the scope around it.
    fn is_written(&self, scope: ScopeId, instance: Option<&Instance>) -> bool {
        match self.module.scopes[scope].kind {
            // The entry of a type has its own scope.
            ScopeKind::Unit | ScopeKind::Type(_) => false,
            // The abstract instance of an inlined function has it already.
            ScopeKind::Function(_) => is_first(instance),
            ScopeKind::Namespace { .. } | ScopeKind::Block | ScopeKind::Inlined { .. } => true,
        }
    }

    /// Writes the entry of a scope. The caller writes the children.
    pub(super) fn scope(
        &mut self,
        id: ScopeId,
        instance: Option<&Instance>,
        is_one: bool,
    ) -> Result<Option<Open>> {
        let module = self.module;
        if !self.is_written(id, instance) {
            return Ok(None);
        }
        let has_children = self.has_children(id, instance);
        match &module.scopes[id].kind {
            ScopeKind::Unit | ScopeKind::Type(_) => return Ok(None),
            ScopeKind::Namespace { name, is_inline } => {
                let is = Some(self.expressions.entries.scope(id));
                self.info.begin_entry(gimli::DW_TAG_namespace, has_children, is);
                self.name(*name);
                self.declared(module.scopes[id].line);
                if *is_inline {
                    self.info.flag(gimli::DW_AT_export_symbols);
                }
                self.info.end_entry();
            }
            ScopeKind::Function(function) => return self.function(*function, is_one),
            ScopeKind::Block => {
                // Other instances refer to the block of the abstract instance.
                let is = instance.is_none().then(|| self.expressions.entries.scope(id));
                self.info.begin_entry(gimli::DW_TAG_lexical_block, has_children, is);
                if let Some(origin) = module.scopes[id].origin {
                    self.info.reference(gimli::DW_AT_abstract_origin, self.expressions.entries.scope(origin));
                }
                self.scope_range(module.ranges(id), instance);
                self.entry_pc(id, instance);
                self.info.end_entry();
            }
            ScopeKind::Inlined { function, call } => {
                let lanes = match instance {
                    Some(instance) => self.lane_attributes(id, instance)?,
                    None => None,
                };
                self.info.begin_entry(gimli::DW_TAG_inlined_subroutine, has_children, None);
                self.info
                    .reference(gimli::DW_AT_abstract_origin, self.expressions.entries.function(*function));
                self.scope_range(module.ranges(id), instance);
                self.entry_pc(id, instance);
                self.call_line(*call);
                let discriminator = module.scopes[id].discriminator;
                if discriminator != 0 {
                    self.info.unsigned(gimli::DW_AT_GNU_discriminator, discriminator.into());
                }
                self.write_lane_attributes(lanes);
                self.info.end_entry();
            }
        }
        has_children.then(|| self.open(id, instance)).transpose()
    }

    pub(super) fn scope_range(&mut self, ranges: &[Range<u64>], instance: Option<&Instance>) {
        let Some(instance) = instance else { return };
        match ranges {
            [] => {}
            [range] if range.start == 0 => self.pcs(instance.code, range.end),
            // Before DWARF 5, whose lists have address indices, a pair of addresses takes less room than a list.
            [range] if self.info.format.version < 5 => {
                let key = instance.code.key;
                let key = AddressKey { addend: key.addend.wrapping_add(range.start), ..key };
                self.pcs(Code { key, ..instance.code }, range.end - range.start);
            }
            _ => {
                let list = self.range_list(ranges, instance.base);
                self.ranges(list);
            }
        }
    }

    /// Writes the language of a unit.
    pub(super) fn language(&mut self, unit: &Unit) {
        let Some(language) = unit.language else { return };
        let known = language.up_to(self.consumer.entries.last_language);
        self.info.unsigned(gimli::DW_AT_language, known.0.into());
        let Some((name, version)) = language.name().filter(|_| self.consumer.language_names) else { return };
        self.info.unsigned(DW_AT_LANGUAGE_NAME, name.into());
        if let Some(version) = unit.language_version.or(version) {
            self.info.unsigned(DW_AT_LANGUAGE_VERSION, version.into());
        }
    }

    pub(super) fn has_prototypes(&self, unit: UnitId) -> bool {
        self.module.units[unit].has_prototypes()
    }

    /// Writes the pc at which a scope is entered, if it is not its lowest.
    pub(super) fn entry_pc(&mut self, scope: ScopeId, instance: Option<&Instance>) {
        let module = self.module;
        if let (Some(pc), Some(_)) = (module.scopes[scope].entry_pc, instance)
            && let Some(function) = module.function_of(scope)
        {
            self.pc(gimli::DW_AT_entry_pc, &module.functions[function], pc);
        }
    }

    /// Writes an attribute whose value is the address of a pc in a function's code.
    pub(super) fn pc(&mut self, at: gimli::DwAt, function: &Function, pc: u64) {
        let address = function.address.map(|address| match address {
            Address::Symbol(symbol, by) => Address::Symbol(symbol, by.wrapping_add(pc)),
            Address::Constant(address) => Address::Constant(address.wrapping_add(pc)),
        });
        let code = self.code(address);
        self.low_pc(at, code);
    }

    /// Writes the source position of a call.
    pub(super) fn call_line(&mut self, SourceLine { file, line, column }: SourceLine) {
        self.info
            .unsigned(gimli::DW_AT_call_file, self.units.file_number(self.expressions.entries.unit, file));
        self.info.line(gimli::DW_AT_call_line, line);
        if column != 0 {
            self.info.unsigned(gimli::DW_AT_call_column, column.into());
        }
    }

    #[inline(always)]
    pub(super) fn declared(&mut self, line: Option<SourceLine>) {
        let Some(SourceLine { file, line, column }) = line else { return };
        // Most declarations are in the unit's primary file.
        match self.primary_file {
            (primary, index) if file == primary => self.info.constant(gimli::DW_AT_decl_file, index),
            _ => self.info.unsigned(
                gimli::DW_AT_decl_file,
                self.units.file_number(self.expressions.entries.unit, file),
            ),
        }
        self.info.line(gimli::DW_AT_decl_line, line);
        if column != 0 {
            self.info.unsigned(gimli::DW_AT_decl_column, column.into());
        }
    }
}
