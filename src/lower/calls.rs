//! Entries of calls: DWARF 5 section 3.4, and GNU's entries before DWARF 5.

use super::dies::Dies;
use super::expressions::{Expression, Expressions};
use super::scopes::Instance;
use crate::error::{Construct, Error, Result};
use crate::model::{Argument, CallId, FunctionId, LocId, Module, Stack, UnitId};
use crate::omission::{Property, Subject};
use crate::op::Reg;

/// Expressions of an argument.
struct ArgumentExpressions {
    location: Expression,
    value: Option<Expression>,
    data: Option<(Expression, Expression)>,
}

/// Locations of a unit's functions and calls, each with the base register of its function's stack frame.
pub(super) fn locs(module: &Module, unit: UnitId) -> impl Iterator<Item = (LocId, Option<Reg>)> + '_ {
    let functions =
        module.functions.values().filter(move |function| module.scopes[function.scope].unit == unit);
    let frames = functions.flat_map(|function| {
        let base = function.stack.base;
        function.frame_base.into_iter().chain(function.static_link).map(move |loc| (loc, base))
    });
    let calls = module.calls.iter().filter(move |(_, call)| module.scopes[call.scope].unit == unit);
    frames.chain(calls.flat_map(move |(id, call)| {
        let base = module.function_of(call.scope).and_then(|function| module.functions[function].stack.base);
        let targets = [call.target, call.clobbered_target].into_iter().flatten();
        let arguments = module.arguments(id).iter().flat_map(|argument| {
            let Argument { location, value, data_location, data_value, .. } = *argument;
            [Some(location), value, data_location, data_value].into_iter().flatten()
        });
        targets.chain(arguments).map(move |loc| (loc, base))
    }))
}

impl Dies<'_> {
    /// Returns whether calls are written as GNU's entries, for a version before DWARF 5.
    pub(super) fn has_gnu_calls(&self) -> bool {
        self.consumer.version < 5
    }

    /// Tag of the entry of a call.
    pub(super) fn call_tag(&self) -> gimli::DwTag {
        if self.has_gnu_calls() { gimli::DW_TAG_GNU_call_site } else { gimli::DW_TAG_call_site }
    }

    /// Writes the entry of a call, in an instance with code.
    pub(super) fn call(&mut self, id: CallId, instance: Option<&Instance>) -> Result<()> {
        let Some(instance) = instance else { return Ok(()) };
        let module = self.module;
        let call = &module.calls[id];
        let Some(function) = module.function_of(call.scope) else { return Ok(()) };
        let function = &module.functions[function];
        let (is_gnu, tag) = (self.has_gnu_calls(), self.call_tag());
        if !self.consumer.entries.knows_tag(tag) {
            let error = self.consumer.inexpressible(Construct::Tag(tag));
            return self.expressions.omit_of_call(id, Subject::Call(id), Property::Entity, error);
        }
        // Omissions decide the attributes and the children.
        let target = self.expressions.call_target(id, Property::Target, instance.stack, call.target)?;
        let clobbered = self.expressions.call_target(
            id,
            Property::ClobberedTarget,
            instance.stack,
            call.clobbered_target,
        )?;
        let mut arguments = Vec::new();
        for (index, argument) in (0..).zip(module.arguments(id)) {
            match self.expressions.argument(argument, instance.stack) {
                Ok(expressions) => arguments.push((argument, expressions)),
                Err(error) => {
                    self.expressions.omit_of_call(
                        id,
                        Subject::Argument(id, index),
                        Property::Entity,
                        error,
                    )?;
                }
            }
        }

        self.info.begin_entry(tag, !arguments.is_empty(), None);
        match (call.return_pc, call.pc) {
            // GNU's entry has one address only.
            (Some(pc), _) | (None, Some(pc)) if is_gnu => self.pc(gimli::DW_AT_low_pc, function, pc),
            (return_pc, pc) => {
                if let Some(pc) = return_pc {
                    self.pc(gimli::DW_AT_call_return_pc, function, pc);
                }
                if let Some(pc) = pc {
                    self.pc(gimli::DW_AT_call_pc, function, pc);
                }
            }
        }
        if let Some(callee) = call.callee {
            let attribute = if is_gnu { gimli::DW_AT_abstract_origin } else { gimli::DW_AT_call_origin };
            self.info.reference(attribute, self.expressions.entries.function(callee));
        }
        if let Some(expression) = target {
            let attribute = if is_gnu { gimli::DW_AT_GNU_call_site_target } else { gimli::DW_AT_call_target };
            self.detached_expression(attribute, expression);
        }
        if let Some(expression) = clobbered {
            let attribute = match is_gnu {
                true => gimli::DW_AT_GNU_call_site_target_clobbered,
                false => gimli::DW_AT_call_target_clobbered,
            };
            self.detached_expression(attribute, expression);
        }
        if call.is_tail {
            self.info.flag(if is_gnu { gimli::DW_AT_GNU_tail_call } else { gimli::DW_AT_call_tail_call });
        }
        if let Some(line) = call.line {
            self.call_line(line);
        }
        self.info.end_entry();
        let has_arguments = !arguments.is_empty();
        for (argument, expressions) in arguments {
            self.argument(argument, expressions);
        }
        if has_arguments {
            self.info.end_children();
        }
        Ok(())
    }

    fn argument(&mut self, argument: &Argument, expressions: ArgumentExpressions) {
        let is_gnu = self.has_gnu_calls();
        let tag =
            if is_gnu { gimli::DW_TAG_GNU_call_site_parameter } else { gimli::DW_TAG_call_site_parameter };
        self.info.begin_entry(tag, false, None);
        self.detached_expression(gimli::DW_AT_location, expressions.location);
        if let Some(parameter) = argument.parameter {
            let attribute = if is_gnu { gimli::DW_AT_abstract_origin } else { gimli::DW_AT_call_parameter };
            self.info.reference(attribute, self.parameter_entry(parameter));
        }
        if let Some(expression) = expressions.value {
            let attribute = if is_gnu { gimli::DW_AT_GNU_call_site_value } else { gimli::DW_AT_call_value };
            self.detached_expression(attribute, expression);
        }
        if let Some((location, value)) = expressions.data {
            // GNU's entries have no attribute for the location of the data that an argument points to.
            if !is_gnu {
                self.detached_expression(gimli::DW_AT_call_data_location, location);
            }
            let attribute =
                if is_gnu { gimli::DW_AT_GNU_call_site_data_value } else { gimli::DW_AT_call_data_value };
            self.detached_expression(attribute, value);
        }
        self.info.end_entry();
    }

    /// Entry that describes a parameter: the one of the abstract instance, if there is one.
    fn parameter_entry(&self, parameter: crate::model::VariableId) -> crate::emit::info::EntryRef {
        let module = self.module;
        let function = module.function_of(module.variables[parameter].scope);
        match function.is_some_and(|function| module.functions[function].has_abstract()) {
            true => self.expressions.entries.origin(parameter),
            false => self.expressions.entries.variable(parameter),
        }
    }

    /// Writes an attribute whose value is an expression encoded earlier.
    pub(super) fn detached_expression(&mut self, at: gimli::DwAt, (bytes, pending): Expression) {
        self.expressions.bytes = bytes;
        self.expressions.lowering.pending = pending;
        self.expression_attribute(at);
    }
}

impl Expressions<'_> {
    /// Encodes the expressions of an argument.
    fn argument(&mut self, argument: &Argument, stack: Stack) -> Result<ArgumentExpressions> {
        let location = self.of_call(argument.location, stack, false)?;
        let value = argument.value.map(|value| self.of_call(value, stack, true)).transpose()?;
        let data = match (argument.data_location, argument.data_value) {
            (Some(location), Some(value)) => {
                Some((self.of_call(location, stack, false)?, self.of_call(value, stack, true)?))
            }
            _ => None,
        };
        Ok(ArgumentExpressions { location, value, data })
    }

    /// Encodes the target of a call; `None` without one, or if the consumer cannot express it.
    fn call_target(
        &mut self,
        call: CallId,
        property: Property,
        stack: Stack,
        loc: Option<LocId>,
    ) -> Result<Option<Expression>> {
        let Some(loc) = loc else { return Ok(None) };
        match self.of_call(loc, stack, true) {
            Ok(expression) => Ok(Some(expression)),
            Err(error) => self.omit_of_call(call, Subject::Call(call), property, error).map(|()| None),
        }
    }

    /// Encodes the location of a frame; `None` without one, or if the consumer cannot express it.
    pub(super) fn frame_place(
        &mut self,
        function: FunctionId,
        property: Property,
        loc: Option<LocId>,
    ) -> Result<Option<Expression>> {
        let Some(loc) = loc else { return Ok(None) };
        match self.of_call(loc, self.module.functions[function].stack, false) {
            Ok(expression) => Ok(Some(expression)),
            Err(error) => self.omit(Subject::Function(function), property, None, error).map(|()| None),
        }
    }

    /// Encodes a location, or the number of a value.
    fn of_call(&mut self, loc: LocId, stack: Stack, is_number: bool) -> Result<Expression> {
        self.encode_apart(stack, |lowering, sink| match is_number {
            true => lowering.number(loc, sink),
            false => lowering.lower(loc, None, false, sink),
        })
    }

    #[cold]
    fn omit_of_call(&mut self, id: CallId, subject: Subject, property: Property, error: Error) -> Result<()> {
        let call = &self.module.calls[id];
        let pcs = call.pc.or(call.return_pc).map(|pc| pc..pc.saturating_add(1));
        self.omit(subject, property, pcs, error)
    }
}
