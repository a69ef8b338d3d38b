//! Entries of functions, blocks, inlined calls and namespaces: DWARF 5 sections 3.3 and 3.5.

use core::ops::Range;

use super::dies::Dies;
use super::lists::Base;
use crate::emit::addr::AddressKey;
use crate::emit::line::file_number;
use crate::error::Result;
use crate::model::{FileId, Function, FunctionId, ScopeId, ScopeKind, SourceLine, Stack, UnitId};

/// Where code starts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Code {
    pub(super) key: AddressKey,
    /// In the table of the unit's addresses, of DWARF 5.
    pub(super) index: u64,
}

/// How a function's entries are written.
#[derive(Clone, Copy)]
pub(super) struct Instance {
    pub(super) base: Base,
    /// The function's address.
    code: Code,
    pub(super) stack: Stack,
    pub(super) bytes: u64,
    /// The variables have entries already, of the abstract instance.
    pub(super) has_abstract: bool,
}

impl Dies<'_> {
    /// What is in a scope: variables, then scopes. `instance` is the function that it is in.
    pub(super) fn scope_children(
        &mut self,
        scope: ScopeId,
        instance: Option<Instance>,
        is_one: bool,
    ) -> Result<()> {
        // The unit's types are before all else; a function's are in its abstract instance, if it has one.
        let has_types = !instance.is_some_and(|instance| instance.has_abstract);
        if has_types && self.module.scopes[scope].parent.is_some() {
            self.types(scope, is_one)?;
        }
        let mut next = self.children.first_variable(scope);
        while let Some(variable) = next {
            self.variable(variable, instance)?;
            next = self.children.next_variable(variable);
        }
        let mut next = self.children.first_scope(scope);
        while let Some(inner) = next {
            self.scope(inner, instance, is_one)?;
            next = self.children.next_scope(inner);
        }
        Ok(())
    }

    pub(super) fn scope(&mut self, id: ScopeId, instance: Option<Instance>, is_one: bool) -> Result<()> {
        let module = self.module;
        let has_children = !self.children.is_empty(id);
        match &module.scopes[id].kind {
            ScopeKind::Unit | ScopeKind::Type(_) => return Ok(()),
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
                self.info.unsigned(gimli::DW_AT_call_file, self.file_index(call.file));
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

    pub(super) fn scope_range(&mut self, ranges: &[Range<u64>], instance: Option<Instance>) {
        let Some(instance) = instance else { return };
        match ranges {
            [] => {}
            [range] if range.start == 0 => self.pcs(instance.code, range.end),
            _ => {
                let list = self.range_list(ranges, instance.base);
                self.ranges(list);
            }
        }
    }

    /// A function: its abstract instance if it was inlined, and its code if it has some.
    pub(super) fn function(&mut self, id: FunctionId, is_one: bool) -> Result<()> {
        let module = self.module;
        let function = &module.functions[id];
        let has_children = !self.children.is_empty(function.scope);
        if function.is_inlined || function.address.is_none() {
            self.info.begin_entry(gimli::DW_TAG_subprogram, has_children, Some(self.entries.function(id)));
            self.function_attributes(function);
            // Inlined, without having to be declared so.
            let inline = if function.is_inlined { gimli::DW_INL_inlined } else { gimli::DW_INL_not_inlined };
            self.info.constant(gimli::DW_AT_inline, inline.0.into());
            self.info.end_entry();
            if has_children {
                self.scope_children(function.scope, None, is_one)?;
                self.info.end_children();
            }
        }
        if function.address.is_none() {
            return Ok(());
        }
        let code = self.code(function);
        let is = (!function.is_inlined).then(|| self.entries.function(id));
        self.info.begin_entry(gimli::DW_TAG_subprogram, has_children, is);
        if function.is_inlined {
            self.info.reference(gimli::DW_AT_abstract_origin, self.entries.function(id));
        } else {
            self.function_attributes(function);
        }
        self.code_range(function, code);
        if let (Some(convention), true) = (self.consumer.kernel_convention, function.is_kernel) {
            self.info.constant(gimli::DW_AT_calling_convention, convention.into());
        }
        let lanes = module.target.lanes();
        if let (Some(attribute), true) = (self.consumer.lanes, lanes > 1) {
            self.info.constant(attribute, lanes.into());
        }
        self.info.end_entry();
        if has_children {
            let instance = Instance {
                base: if is_one { Base::Unit } else { Base::Address(code) },
                code,
                stack: function.stack,
                bytes: function.bytes,
                has_abstract: function.is_inlined,
            };
            self.scope_children(function.scope, Some(instance), is_one)?;
            self.info.end_children();
        }
        Ok(())
    }

    pub(super) fn function_attributes(&mut self, function: &Function) {
        self.name(Some(function.name));
        if let Some(name) = function.linkage_name {
            self.text(gimli::DW_AT_linkage_name, name);
        }
        self.declared(function.line);
        if self.has_prototypes(self.module.scopes[function.scope].unit) {
            self.info.flag(gimli::DW_AT_prototyped);
        }
        self.type_of(function.returns);
        if function.is_external {
            self.info.flag(gimli::DW_AT_external);
        }
    }

    /// Whether the unit's language is one in which a function can be declared without a prototype, so that it
    /// has to be said where it has one: C, and OpenCL C. DWARF 5 section 3.3.1.
    pub(super) fn has_prototypes(&self, unit: UnitId) -> bool {
        let languages = [
            gimli::DW_LANG_C89,
            gimli::DW_LANG_C,
            gimli::DW_LANG_C99,
            gimli::DW_LANG_C11,
            gimli::DW_LANG_C17,
            gimli::DW_LANG_OpenCL,
        ];
        self.module.units[unit].language.is_some_and(|language| languages.contains(&gimli::DwLang(language)))
    }

    /// The number of a file, in rows and attributes.
    pub(super) fn file_index(&self, file: FileId) -> u64 {
        file_number(self.info.format, self.units.files.place(file.as_u32()).into())
    }

    pub(super) fn declared(&mut self, line: Option<SourceLine>) {
        let Some(SourceLine { file, line, column }) = line else { return };
        let index = self.file_index(file);
        // Most is declared in the file that the unit is named after.
        if file == self.module.units[self.entries.unit].file {
            self.info.constant(gimli::DW_AT_decl_file, index);
        } else {
            self.info.unsigned(gimli::DW_AT_decl_file, index);
        }
        self.info.unsigned(gimli::DW_AT_decl_line, line.into());
        if column != 0 {
            self.info.unsigned(gimli::DW_AT_decl_column, column.into());
        }
    }
}
