//! Function entries: DWARF 5 section 3.3.

use super::constants::{call_attribute, inline};
use super::entry::{Completed, EntryWriter};
use super::expressions::{Expression, Expressions};
use super::lanes::{self, LaneProcedures};
use super::open::{Instance, Open, has_children, is_first};
use super::types::template;
use crate::emit::info::children;
use crate::error::Result;
use crate::model::{Defaulted, DescribedCalls, Function, FunctionId, LocId, Virtuality};
use crate::omission::{Property, Subject, TemplateOwner};

/// Writes a function's entry: the abstract instance if the function is inlined, otherwise the entry with its code. The
/// caller writes the children, and after an abstract instance the entry with the code.
pub(super) fn write(
    out: &mut EntryWriter<'_>,
    lanes: &LaneProcedures,
    id: FunctionId,
) -> Result<Option<Open>> {
    let module = out.module;
    let function = &module.functions[id];
    if function.has_abstract() {
        let has_children = has_children(out.units, function.scope, None);
        out.info.begin_entry(
            gimli::DW_TAG_subprogram,
            children(has_children),
            Some(out.expressions.numbers.function(id)),
        );
        attributes(out, function);
        out.attributes(id)?;
        if function.is_declaration {
            out.info.flag(gimli::DW_AT_declaration);
        }
        // Whether a function is inlined is known where it is defined, so a plain declaration does not state it.
        let is_abstract = !function.is_declaration && function.origin.is_none();
        if is_abstract || function.is_declared_inline {
            out.info.constant(gimli::DW_AT_inline, inline(function).0.into());
        }
        if let Some(object) = function.object_pointer {
            out.info.reference(gimli::DW_AT_object_pointer, out.expressions.numbers.origin(object));
        }
        out.info.end_entry();
        if has_children {
            return open(out, id, None).map(Some);
        }
        return code_after_abstract(out, lanes, id);
    }
    code(out, lanes, id)
}

/// Writes the entry with a function's code after its abstract instance, unless the entry is outside the functions around it.
/// The caller writes the children.
pub(super) fn code_after_abstract(
    out: &mut EntryWriter<'_>,
    lanes: &LaneProcedures,
    id: FunctionId,
) -> Result<Option<Open>> {
    if out.module.is_code_apart(id) { Ok(None) } else { code(out, lanes, id) }
}

/// Writes the entry with a function's code, if it has code. The caller writes the children.
pub(super) fn code(
    out: &mut EntryWriter<'_>,
    lanes: &LaneProcedures,
    id: FunctionId,
) -> Result<Option<Open>> {
    let module = out.module;
    let function = &module.functions[id];
    if function.address.is_none() {
        return Ok(None);
    }
    let code = out.expressions.code(function.address);
    let instance = Instance {
        base: out.base(function, code),
        code,
        stack: function.stack,
        bytes: function.bytes,
        has_abstract: function.is_inlined,
    };
    // Expressions are encoded before the entry, because an omission changes the attributes.
    let frame_base = frame_base(&mut out.expressions, id, &instance)?;
    let static_link = frame_place(&mut out.expressions, id, Property::StaticLink, function.static_link)?;
    let lane_attributes = lanes::attributes(out, lanes, function.scope, &instance)?;
    let has_children = has_children(out.units, function.scope, Some(&instance));
    let is = out.expressions.numbers.code(id);
    out.info.begin_entry(gimli::DW_TAG_subprogram, children(has_children), Some(is));
    if function.is_inlined {
        out.info.reference(gimli::DW_AT_abstract_origin, out.expressions.numbers.function(id));
    } else {
        attributes(out, function);
        out.attributes(id)?;
        if function.is_declared_inline {
            out.info.constant(gimli::DW_AT_inline, inline(function).0.into());
        }
    }
    if function.is_in_parts() {
        out.code_parts(&[id]);
    } else {
        out.pcs(code, function.bytes);
    }
    out.entry_pc(function.scope);
    if let (Some(convention), true, None) =
        (out.consumer.entries.kernel_convention, function.is_kernel, function.convention)
    {
        out.info.constant(gimli::DW_AT_calling_convention, convention.into());
    }
    let count = module.target.lanes();
    if let (Some(attribute), true) = (out.consumer.attributes.lanes, count > 1) {
        out.info.constant(attribute, count.into());
    }
    lanes::write(out, lane_attributes);
    if let Some(object) = function.object_pointer {
        out.info.reference(gimli::DW_AT_object_pointer, out.expressions.numbers.variable(object));
    }
    match frame_base {
        FrameBaseValue::Expression(expression) => {
            out.detached_expression(gimli::DW_AT_frame_base, expression);
        }
        FrameBaseValue::List(list) => out.list(gimli::DW_AT_frame_base, list),
        // Stack slots count from the canonical frame address, and such a consumer finds them through the frame base.
        FrameBaseValue::None
            if module.target.has_lane_expressions() && out.consumer.attributes.variable_space.is_some() =>
        {
            out.detached_expression(
                gimli::DW_AT_frame_base,
                (vec![gimli::DW_OP_call_frame_cfa.0], Vec::new()),
            );
        }
        FrameBaseValue::None => {}
    }
    if let Some(expression) = static_link {
        out.detached_expression(gimli::DW_AT_static_link, expression);
    }
    let calls = function.calls.map(|calls| match calls {
        DescribedCalls::Tail => gimli::DW_AT_call_all_tail_calls,
        DescribedCalls::All => gimli::DW_AT_call_all_calls,
        DescribedCalls::Source => gimli::DW_AT_call_all_source_calls,
    });
    if let Some(calls) = calls {
        out.info.flag(call_attribute(calls, out.consumer.version));
    }
    out.info.end_entry();
    has_children.then(|| open(out, id, Some(&instance))).transpose()
}

/// Writes the attributes that do not depend on code, except those that the declaration has.
fn attributes(out: &mut EntryWriter<'_>, function: &Function) {
    let module = out.module;
    let completed = match (function.origin, function.specification) {
        (Some(origin), _) => Some(Completed::Instance(origin)),
        (None, declaration) => declaration.map(Completed::Function),
    };
    let inherited = || module.completed_functions(function);
    out.names(Some(function.name), function.linkage_name, completed);
    let inherited_line = inherited().find_map(|inherited| inherited.line);
    out.declared_over(function.line, inherited_line);
    if function.line.is_none() {
        out.file_elsewhere(inherited_line);
    }
    let has_prototype =
        module.units[module.scopes[function.scope].unit].has_prototypes() && !function.is_unprototyped;
    if completed.is_none() && has_prototype {
        out.info.flag(gimli::DW_AT_prototyped);
    }
    // A definition's return type can be deduced, unlike its declaration's, so the two can differ. An instance without a type
    // has that of its function.
    if inherited().next().is_none_or(|inherited| inherited.returns != function.returns) {
        out.type_of(function.returns);
    }
    // A definition inherits the attributes of its declaration, and an instance those of its function: DWARF 5 sections
    // 2.13.2 and 3.3.8.3.
    for &(attribute, is) in Function::FLAGS {
        if is(function) && !inherited().any(is) {
            out.info.flag(attribute);
        }
    }
    if let Some(convention) = function.convention {
        out.info.constant(gimli::DW_AT_calling_convention, convention.into());
    }
    let member = function.member;
    out.accessibility(member.accessibility);
    if let Some(virtuality) = member.virtuality {
        let virtuality = match virtuality {
            Virtuality::Virtual => gimli::DW_VIRTUALITY_virtual,
            Virtuality::Pure => gimli::DW_VIRTUALITY_pure_virtual,
        };
        out.info.constant(gimli::DW_AT_virtuality, virtuality.0.into());
    }
    if let Some(defaulted) = member.defaulted {
        let defaulted = match defaulted {
            Defaulted::InClass => gimli::DW_DEFAULTED_in_class,
            Defaulted::OutOfClass => gimli::DW_DEFAULTED_out_of_class,
        };
        out.info.constant(gimli::DW_AT_defaulted, defaulted.0.into());
    }
}

/// Opens the children below a function's entry. The template parameters come first.
fn open(out: &mut EntryWriter<'_>, id: FunctionId, instance: Option<&Instance>) -> Result<Open> {
    let function = &out.module.functions[id];
    if is_first(instance) {
        template::write(out, TemplateOwner::Function(id), &function.templates)?;
    }
    Ok(Open::new(out.units, function.scope, instance))
}

/// A function's frame base, as its entry states it.
enum FrameBaseValue {
    None,
    Expression(Expression),
    /// Index of the location list.
    List(u64),
}

/// Encodes a frame base, or the frame bases by pc.
fn frame_base(
    expressions: &mut Expressions<'_>,
    id: FunctionId,
    instance: &Instance,
) -> Result<FrameBaseValue> {
    let function = &expressions.module.functions[id];
    if let [_, ..] = function.frame_bases() {
        let list = expressions.frame_base_list(id, instance.stack, instance.base)?;
        return Ok(list.map_or(FrameBaseValue::None, FrameBaseValue::List));
    }
    let expression = frame_place(expressions, id, Property::Frame, function.frame_base)?;
    Ok(expression.map_or(FrameBaseValue::None, FrameBaseValue::Expression))
}

/// Encodes a frame location; `None` if the function has none, or if the consumer cannot express it.
fn frame_place(
    expressions: &mut Expressions<'_>,
    function: FunctionId,
    property: Property,
    loc: Option<LocId>,
) -> Result<Option<Expression>> {
    let Some(loc) = loc else { return Ok(None) };
    match expressions.detached(loc, expressions.module.functions[function].stack) {
        Ok(expression) => Ok(Some(expression)),
        Err(error) => expressions.omit(Subject::Function(function), property, None, error).map(|()| None),
    }
}
