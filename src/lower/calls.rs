//! Call entries: DWARF 5 section 3.4, and GNU's entries before DWARF 5.

use super::constants::{argument_tag, call_attribute, call_tag};
use super::entry::EntryWriter;
use super::expressions::{Expression, Expressions};
use super::open::Instance;
use crate::emit::info::children;
use crate::error::{Construct, Error, Result};
use crate::model::{Argument, AttributeOwner, CallId, LocId, Stack, VariableId};
use crate::omission::{Property, Subject};

/// Argument expressions.
struct ArgumentExpressions {
    location: Option<Expression>,
    value: Option<Expression>,
    data_location: Option<Expression>,
    data_value: Option<Expression>,
}

/// Writes a call's entry, in an instance with code.
pub(super) fn write(out: &mut EntryWriter<'_>, id: CallId, instance: Option<&Instance>) -> Result<()> {
    // A call is described by its pcs, so only an instance with code has an entry for it.
    let Some(instance) = instance else { return Ok(()) };
    let module = out.module;
    let call = &module.calls[id];
    let Some(function) = module.function_of(call.scope) else { return Ok(()) };
    let function = &module.functions[function];
    let version = out.consumer.version;
    let tag = call_tag(version);
    if !out.consumer.entries.knows_tag(tag) {
        let error = out.consumer.inexpressible(Construct::Tag(tag));
        return omit(&mut out.expressions, id, Subject::Call(id), Property::Entity, error);
    }
    // Expressions are encoded before the entry, because an omitted expression changes the attributes and the children.
    let target = call_target(&mut out.expressions, id, Property::Target, instance.stack, call.target)?;
    let clobbered = call_target(
        &mut out.expressions,
        id,
        Property::ClobberedTarget,
        instance.stack,
        call.clobbered_target,
    )?;
    let mut arguments = Vec::new();
    for (index, argument) in (0..).zip(module.arguments(id)) {
        match argument_expressions(&mut out.expressions, argument, instance.stack) {
            Ok(expressions) => arguments.push((index, argument, expressions)),
            Err(error) => {
                omit(&mut out.expressions, id, Subject::Argument(id, index), Property::Entity, error)?;
            }
        }
    }

    out.info.begin_entry(tag, children(!arguments.is_empty()), None);
    match (call.return_pc, call.pc) {
        // GNU's entry has one address, `DW_AT_low_pc`. If both pcs are known, the second one takes DWARF 5's attribute.
        (None, Some(pc)) if version < 5 => out.pc(gimli::DW_AT_low_pc, function, pc),
        (return_pc, pc) => {
            if let Some(pc) = return_pc {
                let attribute = if version < 5 { gimli::DW_AT_low_pc } else { gimli::DW_AT_call_return_pc };
                out.pc(attribute, function, pc);
            }
            if let Some(pc) = pc {
                out.pc(gimli::DW_AT_call_pc, function, pc);
            }
        }
    }
    if let Some(callee) = call.callee {
        let attribute = call_attribute(gimli::DW_AT_call_origin, version);
        // gdb follows calls to entries with code only.
        let unit = module.scopes[module.functions[callee].scope].unit;
        out.refer(attribute, unit, |numbers| numbers.code(callee));
    }
    expression(out, gimli::DW_AT_call_target, target);
    expression(out, gimli::DW_AT_call_target_clobbered, clobbered);
    if call.is_tail {
        out.info.flag(call_attribute(gimli::DW_AT_call_tail_call, version));
    }
    if let Some(line) = call.line {
        out.call_line(line);
    }
    out.attributes(id)?;
    out.info.end_entry();
    let has_arguments = !arguments.is_empty();
    for (index, argument, expressions) in arguments {
        argument_entry(out, argument, expressions);
        out.attributes(AttributeOwner::Argument(id, index))?;
        out.info.end_entry();
    }
    if has_arguments {
        out.info.end_children();
    }
    Ok(())
}

/// Begins an argument's entry.
fn argument_entry(out: &mut EntryWriter<'_>, argument: &Argument, expressions: ArgumentExpressions) {
    let version = out.consumer.version;
    out.info.begin_entry(argument_tag(version), gimli::DW_CHILDREN_no, None);
    expression(out, gimli::DW_AT_location, expressions.location);
    if let Some(parameter) = argument.parameter {
        let attribute = call_attribute(gimli::DW_AT_call_parameter, version);
        refer_to_parameter(out, attribute, parameter);
    }
    expression(out, gimli::DW_AT_call_value, expressions.value);
    expression(out, gimli::DW_AT_call_data_location, expressions.data_location);
    expression(out, gimli::DW_AT_call_data_value, expressions.data_value);
}

/// Writes an expression attribute, if there is an expression.
fn expression(out: &mut EntryWriter<'_>, at: gimli::DwAt, expression: Option<Expression>) {
    if let Some(expression) = expression {
        out.detached_expression(call_attribute(at, out.consumer.version), expression);
    }
}

/// Writes a reference to a parameter. If there is an abstract instance, it is to the entry there, because the other
/// instances only refer to that entry.
fn refer_to_parameter(out: &mut EntryWriter<'_>, at: gimli::DwAt, parameter: VariableId) {
    let module = out.module;
    let scope = module.variables[parameter].scope;
    let function = module.function_of(scope);
    let has_abstract = function.is_some_and(|function| module.functions[function].has_abstract());
    out.refer(at, module.scopes[scope].unit, |numbers| {
        if has_abstract { numbers.origin(parameter) } else { numbers.variable(parameter) }
    });
}

/// Encodes an argument's expressions.
fn argument_expressions(
    expressions: &mut Expressions<'_>,
    argument: &Argument,
    stack: Stack,
) -> Result<ArgumentExpressions> {
    let location = argument.location.map(|location| expressions.detached(location, stack)).transpose()?;
    let value = argument.value.map(|value| expressions.detached_number(value, stack)).transpose()?;
    let data_location =
        argument.data_location.map(|location| expressions.detached(location, stack)).transpose()?;
    let data_value =
        argument.data_value.map(|value| expressions.detached_number(value, stack)).transpose()?;
    Ok(ArgumentExpressions { location, value, data_location, data_value })
}

/// Encodes a call target; `None` if the call has no target or the consumer cannot express it.
fn call_target(
    expressions: &mut Expressions<'_>,
    call: CallId,
    property: Property,
    stack: Stack,
    loc: Option<LocId>,
) -> Result<Option<Expression>> {
    let Some(loc) = loc else { return Ok(None) };
    match expressions.detached_number(loc, stack) {
        Ok(expression) => Ok(Some(expression)),
        Err(error) => omit(expressions, call, Subject::Call(call), property, error).map(|()| None),
    }
}

fn omit(
    expressions: &mut Expressions<'_>,
    id: CallId,
    subject: Subject,
    property: Property,
    error: Error,
) -> Result<()> {
    let call = &expressions.module.calls[id];
    let pcs = call.pc.or(call.return_pc).map(|pc| pc..pc.saturating_add(1));
    expressions.omit(subject, property, pcs, error)
}
