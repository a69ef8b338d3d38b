//! Scopes and what is declared in them.

use core::ops::Range;
use std::borrow::Cow;
use std::collections::{BTreeMap, VecDeque};
use std::rc::Rc;

use gimli::{DwTag, constants as dw};

use super::attributes::only;
use super::compare::{Compare, Instance, Origin, hex};
use super::report::Kind;
use super::types::{accessibility, is_composite, is_part, memory_space};
use crate::error::At;
use crate::model::{FunctionId, ScopeId, ScopeKind, UnitId, VariableId, VariableKind};
use crate::read::{Attribute, Entry, Value};

/// Entries below another one, to be taken by tag and name, and whether they have code.
struct Children<'a, 'o>(BTreeMap<(u16, Cow<'a, str>, bool), VecDeque<Entry<'a, 'o>>>);

impl<'a, 'o> Children<'a, 'o> {
    fn new(entry: Entry<'a, 'o>) -> Self {
        let mut children = Self(BTreeMap::new());
        let is_type = is_composite(entry.tag());
        for child in
            entry.children().filter(|&child| is_compared(child.tag()) && !(is_type && is_part(child)))
        {
            let tag = child.tag();
            // Blocks have no name, and inlined calls one that says nothing of which call it is.
            let is_code = matches!(tag, dw::DW_TAG_lexical_block | dw::DW_TAG_inlined_subroutine);
            let name = child.name().filter(|_| !is_code).unwrap_or_default();
            let is_placed = tag == dw::DW_TAG_subprogram
                && (child.attr(dw::DW_AT_low_pc).is_some() || child.attr(dw::DW_AT_ranges).is_some());
            children.0.entry((tag.0, name, is_placed)).or_default().push_back(child);
        }
        children
    }

    /// The next one of this kind. Of several, they are in the order of the module.
    fn take(&mut self, tag: DwTag, name: &'a str, is_placed: bool) -> Option<Entry<'a, 'o>> {
        self.0.get_mut(&(tag.0, Cow::Borrowed(name), is_placed))?.pop_front()
    }

    /// What was not taken, in the order of the file.
    fn rest(self) -> Vec<Entry<'a, 'o>> {
        let mut rest: Vec<_> = self.0.into_values().flatten().collect();
        rest.sort_unstable_by_key(|entry| entry.index());
        rest
    }
}

impl<'a, 'o> Compare<'a, 'o> {
    /// Compares what is in a scope with the children of an entry. `function` is the one whose code it is
    /// in, `None` in an abstract instance.
    pub(super) fn scope(&mut self, scope: ScopeId, entry: Entry<'a, 'o>, function: Option<FunctionId>) {
        let module = self.module;
        let is_abstract = function.is_none() && module.function_of(scope).is_some();
        self.scope_entries.insert((scope, entry.offset()));
        let mut children = Children::new(entry);
        let mut last_parameter = 0;
        let index = Rc::clone(&self.index);
        for &id in &index.variables[scope] {
            let kind = module.variable(id).kind;
            let tag = match module.is_static_member(id) {
                true if self.consumer.version < 5 => dw::DW_TAG_member,
                true => dw::DW_TAG_variable,
                false => variable_tag(kind),
            };
            let name = module.name_of(id).unwrap_or("");
            let at = module.at_variable(id, None);
            let Some(found) = children.take(tag, name, false) else {
                self.find(Kind::MissingEntry, at, format!("a {tag}"), "none");
                continue;
            };
            if kind == VariableKind::Parameter {
                // A debugger calls functions with arguments in the order of the entries.
                if found.index() < last_parameter {
                    self.find(Kind::Attribute, at.clone(), "parameters in order", "another order");
                }
                last_parameter = found.index();
            }
            self.variable(id, found, function, is_abstract, &at);
        }
        for &id in &index.scopes[scope] {
            match module.scope(id).kind {
                // What is in a type is compared with the type.
                ScopeKind::Unit | ScopeKind::Type(_) => {}
                ScopeKind::Function(function) => self.function(function, &mut children),
                ScopeKind::Namespace(name) => {
                    let name = module.string(name);
                    match children.take(dw::DW_TAG_namespace, name, false) {
                        Some(found) => {
                            self.attributes(found, is_abstract, &module.at_scope(scope));
                            self.scope(id, found, function);
                        }
                        None => {
                            let at = module.at_scope(scope);
                            self.find(Kind::MissingEntry, at, format!("namespace `{name}`"), "none");
                        }
                    }
                }
                ScopeKind::Block => self.code_scope(id, dw::DW_TAG_lexical_block, &mut children, function),
                ScopeKind::Inlined { .. } => {
                    self.code_scope(id, dw::DW_TAG_inlined_subroutine, &mut children, function);
                }
            }
        }
        for child in children.rest() {
            self.unexpected(child, module.at_scope(scope));
        }
    }

    #[cold]
    fn unexpected(&mut self, entry: Entry<'a, 'o>, at: At) {
        let name = entry.name().unwrap_or_default();
        let is_variable = variable_tags().contains(&entry.tag());
        let variable = is_variable.then(|| name.to_string()).or(at.variable.clone());
        let what = format!("{} `{name}`", entry.tag());
        self.find(Kind::UnexpectedEntry, At { variable, ..at }, "no more", what);
    }

    /// A block or an inlined call: of several, those in the order of the model.
    fn code_scope(
        &mut self,
        id: ScopeId,
        tag: DwTag,
        children: &mut Children<'a, 'o>,
        function: Option<FunctionId>,
    ) {
        let module = self.module;
        let at = module.at_scope(id);
        let Some(found) = children.take(tag, "", false) else {
            return self.find(Kind::MissingEntry, at, format!("a {tag}"), "none");
        };
        self.report.entries += 1;
        self.attributes(found, function.is_none(), &at);
        if let Some(function) = function {
            let base = self.address(function).unwrap_or(0);
            let moved = |range: &Range<u64>| base.wrapping_add(range.start)..base.wrapping_add(range.end);
            let expected: Vec<Range<u64>> = module.ranges(id).iter().map(moved).collect();
            self.code(found, &expected, &at);
        }
        if let ScopeKind::Inlined { function: callee, call } = module.scope(id).kind {
            self.instance_of(found, Origin::Function(callee), &at);
            let names = [dw::DW_AT_call_file, dw::DW_AT_call_line, dw::DW_AT_call_column];
            self.source_line(found, &at, Some(call), names);
        }
        self.scope(id, found, function);
    }

    fn function(&mut self, id: FunctionId, children: &mut Children<'a, 'o>) {
        let module = self.module;
        let data = module.function(id);
        let name = module.string(data.name);
        let at = module.at_scope(data.scope);
        let is_inlined = self.index.inlined[id];
        if is_inlined || data.address.is_none() {
            match children.take(dw::DW_TAG_subprogram, name, false) {
                Some(found) => {
                    self.report.entries += 1;
                    self.function_origins[id] = Some(found.offset());
                    self.attributes(found, true, &at);
                    let inline = if is_inlined { dw::DW_INL_inlined } else { dw::DW_INL_not_inlined };
                    let found_inline = found.number(dw::DW_AT_inline);
                    self.same(&at, "DW_AT_inline", &Some(inline.0.into()), &found_inline);
                    self.function_attributes(id, found, &at);
                    self.scope(data.scope, found, None);
                }
                None => self.find(Kind::MissingEntry, at.clone(), "an abstract instance", "none"),
            }
        }
        if data.address.is_none() {
            return;
        }
        let Some(found) = children.take(dw::DW_TAG_subprogram, name, true) else {
            return self.find(Kind::MissingEntry, at, format!("function `{name}`"), "none");
        };
        self.report.entries += 1;
        self.attributes(found, false, &at);
        self.instance_of(found, if is_inlined { Origin::Function(id) } else { Origin::Nothing }, &at);
        self.function_attributes(id, found, &at);
        match self.address(id) {
            Some(start) => {
                self.code(found, core::slice::from_ref(&(start..start.wrapping_add(data.bytes))), &at)
            }
            None => self.find(Kind::Code, at.clone(), "a symbol for its code", "none in the object"),
        }
        let convention = self.consumer.kernel_convention.filter(|_| data.is_kernel).map(u64::from);
        self.same(&at, "DW_AT_calling_convention", &convention, &found.number(dw::DW_AT_calling_convention));
        if let Some(attribute) = self.consumer.lanes {
            let lanes = module.target.lanes();
            let expected = (lanes > 1).then_some(u64::from(lanes));
            self.same(&at, "the number of lanes", &expected, &found.number(attribute));
        }
        self.scope(data.scope, found, Some(id));
    }

    fn function_attributes(&mut self, id: FunctionId, entry: Entry<'a, 'o>, at: &At) {
        let data = self.module.function(id);
        let linkage = data.linkage_name.map(|name| self.module.string(name).to_owned());
        let found = entry.inherited(dw::DW_AT_linkage_name).and_then(Value::text).map(Into::into);
        self.same(at, "DW_AT_linkage_name", &linkage, &found);
        let is_external = matches!(entry.inherited(dw::DW_AT_external), Some(Value::Flag(true)));
        self.same(at, "DW_AT_external", &data.is_external, &is_external);
        // A prototype is said of where a function can be without one: C and OpenCL C (DWARF 5, table 7.17).
        let unit = self.module.scope(data.scope).unit;
        let language = self.module.unit(unit).language;
        let has_prototype = matches!(language, Some(0x01 | 0x02 | 0x0c | 0x15 | 0x1d | 0x2c));
        let found = matches!(entry.inherited(dw::DW_AT_prototyped), Some(Value::Flag(true)));
        self.same(at, "DW_AT_prototyped", &has_prototype, &found);
        self.declared(entry, at, data.line);
        self.ty(data.returns, entry.ty(), at);
    }

    fn variable(
        &mut self,
        id: VariableId,
        entry: Entry<'a, 'o>,
        function: Option<FunctionId>,
        is_abstract: bool,
        at: &At,
    ) {
        let module = self.module;
        let variable = module.variable(id);
        self.report.entries += 1;
        if module.is_static_member(id) {
            return self.static_member(id, entry, at);
        }
        // What does not move is where it is though the function has no code.
        let has_place = !is_abstract || module.is_placed_without_code(id);
        self.attributes(entry, !has_place, at);
        if let Some(child) = entry.children().next() {
            self.unexpected(child, at.clone());
        }
        self.ty(Some(variable.ty), entry.ty(), at);
        // An instance is declared where what it is an instance of is; so is a definition that does not say.
        let declared = module.variable(module.first_origin(id));
        let own = variable.line.filter(|_| variable.specification.is_some());
        self.declared(entry, at, own.or(declared.line));
        let is = |name| matches!(entry.inherited(name), Some(Value::Flag(true)));
        self.same(at, "DW_AT_artificial", &declared.is_artificial, &is(dw::DW_AT_artificial));
        self.same(at, "DW_AT_external", &declared.is_external, &is(dw::DW_AT_external));
        if let Some(attribute) = self.consumer.memory_space {
            let found = entry.inherited(attribute).and_then(Value::unsigned);
            self.same(at, "the memory space", &declared.memory_space.map(memory_space), &found);
        }
        let of = variable.specification.map_or(Origin::Nothing, Origin::Member);
        let found = entry.reference(dw::DW_AT_specification).map(|declaration| declaration.offset());
        self.instances.push(Instance { at: at.clone(), of, found });
        let has_abstract = function.is_some_and(|function| self.index.inlined[function]);
        self.instance_of(
            entry,
            match variable.origin {
                Some(origin) => Origin::Variable(origin),
                None if has_abstract => Origin::Variable(id),
                None => Origin::Nothing,
            },
            at,
        );
        if is_abstract {
            self.variable_origins[id] = Some(entry.offset());
            if has_place {
                self.places.push((id, entry, None));
            }
            return;
        }
        self.variables[id] = Some(entry.offset());
        self.places.push((id, entry, function));
        if entry.attr(dw::DW_AT_location).is_some() && entry.attr(dw::DW_AT_const_value).is_some() {
            self.find(Kind::Attribute, at.clone(), "a location or a value", "both");
        }
        self.whole_value(id, entry, at);
    }

    /// A static member is declared in its class: where it is, its definition says.
    fn static_member(&mut self, id: VariableId, entry: Entry<'a, 'o>, at: &At) {
        let module = self.module;
        let member = module.variable(id);
        self.static_attributes(entry, at);
        if let Some(child) = entry.children().next() {
            self.unexpected(child, at.clone());
        }
        self.ty(Some(member.ty), entry.ty(), at);
        self.declared(entry, at, member.line);
        let is = |name| matches!(entry.attr(name), Some(Value::Flag(true)));
        self.same(at, "DW_AT_declaration", &true, &is(dw::DW_AT_declaration));
        self.same(at, "DW_AT_artificial", &member.is_artificial, &is(dw::DW_AT_artificial));
        self.same(at, "DW_AT_external", &member.is_external, &is(dw::DW_AT_external));
        let expected = member.accessibility.map(accessibility);
        self.same(at, "who may name it", &expected, &entry.number(dw::DW_AT_accessibility));
        if let Some(attribute) = self.consumer.memory_space {
            let expected = member.memory_space.map(memory_space);
            self.same(at, "the memory space", &expected, &entry.number(attribute));
        }
        self.variables[id] = Some(entry.offset());
        let has_value = entry.attr(dw::DW_AT_const_value).is_some();
        self.same(at, "DW_AT_const_value", &module.always(id).is_some(), &has_value);
        if has_value {
            self.places.push((id, entry, None));
        }
        self.whole_value(id, entry, at);
    }

    /// A number in fewer bytes than the type has is taken with a sign by some readers and without by others:
    /// DWARF 5 section 7.5.5.
    fn whole_value(&mut self, id: VariableId, entry: Entry<'a, 'o>, at: &At) {
        let is_value = |attribute: &&Attribute<'_>| attribute.name == dw::DW_AT_const_value;
        let Some(value) = entry.attributes().iter().find(is_value) else { return };
        let bits = match value.form {
            dw::DW_FORM_data1 => 8,
            dw::DW_FORM_data2 => 16,
            dw::DW_FORM_data4 => 32,
            _ => return,
        };
        let needs = self.module.ty(self.module.variable(id).ty).value_bits().unwrap_or(0);
        if bits < needs {
            self.find(
                Kind::Attribute,
                at.clone(),
                format!("a value of {needs} bits"),
                format!("{bits} bits"),
            );
        }
    }

    fn instance_of(&mut self, entry: Entry<'a, 'o>, of: Origin, at: &At) {
        let found = entry.reference(dw::DW_AT_abstract_origin).map(|origin| origin.offset());
        self.instances.push(Instance { at: at.clone(), of, found });
    }

    /// What procedures say is compared where they are called.
    pub(super) fn procedures(&mut self, unit: UnitId, root: Entry<'a, 'o>, at: &At) {
        let found: Vec<_> =
            root.children().filter(|child| child.tag() == dw::DW_TAG_dwarf_procedure).collect();
        let expected = self.index.procedures[unit];
        // Others are what comes again, written once: it is compared where it is called.
        let at_least = self.consumer.shared_from_bytes.is_some() && found.len() > expected;
        let count = if at_least { expected } else { found.len() };
        self.same(at, "procedures", &expected, &count);
        for found in found {
            self.report.entries += 1;
            if let Err((expected, found)) = only(found, |name| name == dw::DW_AT_location) {
                self.find(Kind::Attribute, at.clone(), expected, found);
            }
        }
    }

    /// Compares the code of an entry.
    fn code(&mut self, entry: Entry<'a, 'o>, expected: &[Range<u64>], at: &At) {
        match entry.ranges() {
            Ok(found) if found == expected => {}
            Ok(found) => self.find(Kind::Code, at.clone(), hex(expected), hex(&found)),
            Err(error) => self.unreadable(&error, at.clone()),
        }
    }
}

fn variable_tags() -> [DwTag; 3] {
    [dw::DW_TAG_variable, dw::DW_TAG_formal_parameter, dw::DW_TAG_constant]
}

fn variable_tag(kind: VariableKind) -> DwTag {
    match kind {
        VariableKind::Variable => dw::DW_TAG_variable,
        VariableKind::Parameter => dw::DW_TAG_formal_parameter,
        VariableKind::Constant => dw::DW_TAG_constant,
    }
}

/// Whether entries of this kind stand for something by themselves: types are compared where they are used,
/// and then the rest of them; procedures by themselves.
fn is_compared(tag: DwTag) -> bool {
    tag != dw::DW_TAG_dwarf_procedure && !super::types::is_type(tag)
}
