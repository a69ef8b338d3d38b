//! Entries of functions: DWARF 5 section 3.3.

use super::constants::{inline, linkage_name};
use super::dies::Dies;
use super::lists::Base;
use super::open::Open;
use super::scopes::{Instance, is_first};
use crate::error::Result;
use crate::model::{
    Defaulted, DescribedCalls, Function, FunctionId, ScopeId, ScopeKind, VariableId, VariableKind, Virtuality,
};
use crate::omission::Property;

impl Dies<'_> {
    /// Writes the entry of a function: of its abstract instance if the function is inlined, else of its code. The
    /// caller writes the children, and then the code of an abstract instance.
    pub(super) fn function(&mut self, id: FunctionId, is_one: bool) -> Result<Option<Open>> {
        let module = self.module;
        let function = &module.functions[id];
        if function.has_abstract() {
            let has_children = self.has_children(function.scope, None);
            self.info.begin_entry(
                gimli::DW_TAG_subprogram,
                has_children,
                Some(self.expressions.entries.function(id)),
            );
            self.function_attributes(function);
            if function.is_declaration {
                self.info.flag(gimli::DW_AT_declaration);
            } else {
                self.info.constant(gimli::DW_AT_inline, inline(function).0.into());
            }
            if let Some(object) = function.object_pointer {
                self.info.reference(gimli::DW_AT_object_pointer, self.expressions.entries.origin(object));
            }
            self.info.end_entry();
            if has_children {
                return self.open(function.scope, None).map(Some);
            }
        }
        self.code_of_function(id, is_one)
    }

    /// Writes the entry of a function's code, if it has code. The caller writes the children.
    pub(super) fn code_of_function(&mut self, id: FunctionId, is_one: bool) -> Result<Option<Open>> {
        let module = self.module;
        let function = &module.functions[id];
        if function.address.is_none() {
            return Ok(None);
        }
        let code = self.code(function.address);
        let instance = Instance {
            base: if is_one { Base::Unit } else { Base::Address(code) },
            code,
            stack: function.stack,
            bytes: function.bytes,
            has_abstract: function.is_inlined,
        };
        // Omissions decide the attributes.
        let frame_base = self.expressions.frame_place(id, Property::Frame, function.frame_base)?;
        let static_link = self.expressions.frame_place(id, Property::StaticLink, function.static_link)?;
        let lanes = self.lane_attributes(function.scope, &instance)?;
        let has_children = self.has_children(function.scope, Some(&instance));
        let is = (!function.is_inlined).then(|| self.expressions.entries.function(id));
        self.info.begin_entry(gimli::DW_TAG_subprogram, has_children, is);
        if function.is_inlined {
            self.info.reference(gimli::DW_AT_abstract_origin, self.expressions.entries.function(id));
        } else {
            self.function_attributes(function);
            if function.is_declared_inline {
                self.info.constant(gimli::DW_AT_inline, inline(function).0.into());
            }
        }
        self.code_range(function, code);
        self.entry_pc(function.scope, Some(&instance));
        if let (Some(convention), true, None) =
            (self.consumer.kernel_convention, function.is_kernel, function.convention)
        {
            self.info.constant(gimli::DW_AT_calling_convention, convention.into());
        }
        let count = module.target.lanes();
        if let (Some(attribute), true) = (self.consumer.lanes, count > 1) {
            self.info.constant(attribute, count.into());
        }
        self.write_lane_attributes(lanes);
        if let Some(object) = function.object_pointer {
            self.info.reference(gimli::DW_AT_object_pointer, self.expressions.entries.variable(object));
        }
        match frame_base {
            Some(expression) => self.detached_expression(gimli::DW_AT_frame_base, expression),
            // Stack slots count from the canonical frame address.
            None if module.target.has_lane_expressions() && self.consumer.variable_space.is_some() => {
                self.detached_expression(
                    gimli::DW_AT_frame_base,
                    (vec![gimli::DW_OP_call_frame_cfa.0], Vec::new()),
                );
            }
            None => {}
        }
        if let Some(expression) = static_link {
            self.detached_expression(gimli::DW_AT_static_link, expression);
        }
        if let Some(calls) = function.calls {
            self.info.flag(match (calls, self.has_gnu_calls()) {
                (DescribedCalls::Tail, false) => gimli::DW_AT_call_all_tail_calls,
                (DescribedCalls::All, false) => gimli::DW_AT_call_all_calls,
                (DescribedCalls::Source, false) => gimli::DW_AT_call_all_source_calls,
                (DescribedCalls::Tail, true) => gimli::DW_AT_GNU_all_tail_call_sites,
                (DescribedCalls::All, true) => gimli::DW_AT_GNU_all_call_sites,
                (DescribedCalls::Source, true) => gimli::DW_AT_GNU_all_source_call_sites,
            });
        }
        self.info.end_entry();
        has_children.then(|| self.open(function.scope, Some(&instance))).transpose()
    }

    /// Writes the attributes that do not depend on code, without those of the declaration.
    fn function_attributes(&mut self, function: &Function) {
        let module = self.module;
        let declaration = function.specification.map(|id| &module.functions[id]);
        let is_first = self.consumer.entries.has_linkage_name_first;
        if let Some(name) = function.linkage_name.filter(|_| is_first) {
            self.text(linkage_name(self.consumer.version), name);
        }
        match function.specification {
            Some(id) => {
                self.info.reference(gimli::DW_AT_specification, self.expressions.entries.function(id))
            }
            None => self.name(Some(function.name)),
        }
        if let Some(name) = function.linkage_name.filter(|_| !is_first) {
            self.text(linkage_name(self.consumer.version), name);
        }
        self.declared(function.line);
        if declaration.is_none() {
            if self.has_prototypes(module.scopes[function.scope].unit) {
                self.info.flag(gimli::DW_AT_prototyped);
            }
            self.type_of(function.returns);
        }
        for &(attribute, is) in Function::FLAGS {
            if is(function) && !declaration.is_some_and(is) {
                self.info.flag(attribute);
            }
        }
        if let Some(convention) = function.convention {
            self.info.constant(gimli::DW_AT_calling_convention, convention.into());
        }
        let member = function.member;
        self.accessibility(member.accessibility);
        if let Some(virtuality) = member.virtuality {
            let virtuality = match virtuality {
                Virtuality::Virtual => gimli::DW_VIRTUALITY_virtual,
                Virtuality::Pure => gimli::DW_VIRTUALITY_pure_virtual,
            };
            self.info.constant(gimli::DW_AT_virtuality, virtuality.0.into());
        }
        if let Some(defaulted) = member.defaulted {
            let defaulted = match defaulted {
                Defaulted::InClass => gimli::DW_DEFAULTED_in_class,
                Defaulted::OutOfClass => gimli::DW_DEFAULTED_out_of_class,
            };
            self.info.constant(gimli::DW_AT_defaulted, defaulted.0.into());
        }
    }

    /// Last parameter of a variadic function, or `Some(None)` without parameters. `None` if the scope is not a
    /// variadic function, or the arguments belong to its abstract instance.
    pub(super) fn more_arguments(
        &self,
        scope: ScopeId,
        instance: Option<&Instance>,
    ) -> Option<Option<VariableId>> {
        let module = self.module;
        let ScopeKind::Function(function) = module.scopes[scope].kind else { return None };
        if !module.functions[function].is_variadic || !is_first(instance) {
            return None;
        }
        let variables = core::iter::successors(self.units.children.first_variable(scope), |&variable| {
            self.units.children.next_variable(variable)
        });
        let parameters = variables.filter(|&id| module.variables[id].kind == VariableKind::Parameter);
        Some(parameters.last())
    }

    /// Writes the entry for further arguments.
    pub(super) fn more(&mut self) {
        self.info.begin_entry(gimli::DW_TAG_unspecified_parameters, false, None);
        self.info.end_entry();
    }
}
