//! Scopes and what is declared in them.

use core::ops::Range;
use std::borrow::Cow;
use std::collections::{BTreeMap, VecDeque};
use std::rc::Rc;

use gimli::{DwAt, DwTag, constants as dw};

use super::attributes::linkage_name;
use super::compare::{Compare, Instance, Origin, hex};
use super::report::Kind;
use super::types::{accessibility, is_composite, is_part, is_template, memory_space};
use super::words::Words;
use crate::error::{At, Count};
use crate::model::{FunctionId, ScopeId, ScopeKind, Variable, VariableId, VariableKind};
use crate::read::{Attribute, Entry, Value};

/// Entries below another one, to be taken by tag and name, and whether they have code.
pub(super) struct Children<'a, 'o>(BTreeMap<(u16, Cow<'a, str>, bool), VecDeque<Entry<'a, 'o>>>);

impl<'a, 'o> Children<'a, 'o> {
    fn new(entry: Entry<'a, 'o>) -> Self {
        let mut children = Self(BTreeMap::new());
        for child in entry.children().filter(|&child| !is_compared_apart(child, entry.tag())) {
            let tag = child.tag();
            // Blocks have no name, and calls that of the callee, which says nothing of which call it is.
            let is_code = matches!(
                tag,
                dw::DW_TAG_lexical_block
                    | dw::DW_TAG_inlined_subroutine
                    | dw::DW_TAG_call_site
                    | dw::DW_TAG_GNU_call_site
            );
            let name = child.name().filter(|_| !is_code).unwrap_or_default();
            let is_placed = tag == dw::DW_TAG_subprogram
                && (child.attr(dw::DW_AT_low_pc).is_some() || child.attr(dw::DW_AT_ranges).is_some());
            children.0.entry((tag.0, name, is_placed)).or_default().push_back(child);
        }
        children
    }

    /// The next one of this kind. Of several, they are in the order of the module.
    pub(super) fn take(&mut self, tag: DwTag, name: &'a str, is_placed: bool) -> Option<Entry<'a, 'o>> {
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
    /// Compares what is in a scope, and in the scopes in it, with the children of an entry. `function` is the one
    /// whose code it is in, `None` in an abstract instance.
    ///
    /// Scopes within a scope wait until it is done, so that any depth takes the same room.
    pub(super) fn scope(&mut self, scope: ScopeId, entry: Entry<'a, 'o>, function: Option<FunctionId>) {
        if let Some(inner) = &mut self.inner {
            return inner.push((scope, entry, function));
        }
        let mut waiting = vec![(scope, entry, function)];
        while let Some((scope, entry, function)) = waiting.pop() {
            self.inner = Some(Vec::new());
            self.in_scope(scope, entry, function);
            waiting.extend(self.inner.take().into_iter().flatten().rev());
        }
    }

    fn in_scope(&mut self, scope: ScopeId, entry: Entry<'a, 'o>, function: Option<FunctionId>) {
        let module = self.module;
        let is_abstract = function.is_none() && module.function_of(scope).is_some();
        let is_first = self.is_first(function);
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
                self.find(Kind::MissingEntry, at, format!("a {}", tag.words()), "none");
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
        if let ScopeKind::Function(id) = module.scope(scope).kind {
            self.more_arguments(id, &mut children, is_first, last_parameter);
        }
        for &id in &index.scopes[scope] {
            match module.scope(id).kind {
                ScopeKind::Unit | ScopeKind::Type(_) => {}
                // Of a function that was inlined, the abstract instance has it.
                ScopeKind::Function(inner) => {
                    if is_first {
                        self.function(inner, &mut children);
                    }
                }
                ScopeKind::Namespace { name, is_inline } => {
                    let name = name.map_or("", |name| module.string(name));
                    match children.take(dw::DW_TAG_namespace, name, false) {
                        Some(found) => {
                            let at = module.at_scope(scope);
                            self.scope_origins[id] = Some(found.offset());
                            self.attributes(found, is_abstract, &at);
                            self.declared(found, &at, module.scope(id).line);
                            self.same(
                                &at,
                                "DW_AT_export_symbols",
                                &is_inline,
                                &flag(found, dw::DW_AT_export_symbols),
                            );
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
        if is_first {
            for &id in &index.imports[scope] {
                self.import(id, &mut children);
            }
        }
        if let Some(function) = function {
            for &id in &index.labels[scope] {
                self.label(id, function, &mut children);
            }
            for &id in &index.calls[scope] {
                self.call(id, function, &mut children);
            }
        }
        for child in children.rest() {
            self.unexpected(child, module.at_scope(scope));
        }
    }

    /// Whether what has one entry for all instances of a function is in this one: in the abstract instance, if
    /// there is one. `function` is the one whose code it is in.
    fn is_first(&self, function: Option<FunctionId>) -> bool {
        function.is_none_or(|function| !self.index.inlined[function])
    }

    #[cold]
    pub(super) fn unexpected(&mut self, entry: Entry<'a, 'o>, at: At) {
        let name = entry.name().unwrap_or_default();
        let is_variable = variable_tags().contains(&entry.tag());
        let variable = is_variable.then(|| name.to_string()).or(at.variable.clone());
        let what = format!("{} `{name}`", entry.tag().words());
        // A debugger that looks for the function at a pc can find this one.
        let is_over = entry.tag() == dw::DW_TAG_subprogram && self.has_described_code(entry);
        let kind = if is_over { Kind::Code } else { Kind::Extra };
        self.find(kind, At { variable, ..at }, "no more", what);
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
            return self.find(Kind::MissingEntry, at, format!("a {}", tag.words()), "none");
        };
        self.report.entries += 1;
        self.attributes(found, function.is_none(), &at);
        if let Some(function) = function {
            let base = self.address(function).unwrap_or(0);
            let moved = |range: &Range<u64>| base.wrapping_add(range.start)..base.wrapping_add(range.end);
            let expected: Vec<Range<u64>> = module.ranges(id).iter().map(moved).collect();
            self.code(found, &expected, &at);
        }
        self.entry_pc(id, found, function, &at);
        if module.scope(id).kind == ScopeKind::Block {
            if function.is_none() {
                self.scope_origins[id] = Some(found.offset());
            }
            self.instance_of(found, module.scope(id).origin.map_or(Origin::Nothing, Origin::Scope), &at);
        }
        if let ScopeKind::Inlined { function: callee, call } = module.scope(id).kind {
            self.instance_of(found, Origin::Function(callee), &at);
            self.source_line(found, &at, Some(call), CALL_LINE);
            let number = found.number(dw::DW_AT_GNU_discriminator).unwrap_or(0);
            self.same(&at, "the discriminator", &module.scope(id).discriminator.into(), &number);
            if function.is_some() {
                self.lanes.push((id, found));
            }
        }
        self.scope(id, found, function);
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
        // An instance is declared where what it is an instance of is; a definition, if it does not say so.
        let declared = module.variable(module.first_origin(id));
        let own = variable.line.filter(|_| variable.origin.is_none());
        self.declared(entry, at, own.or(declared.line));
        let is = |name| matches!(entry.inherited(name), Some(Value::Flag(true)));
        let either = |is: fn(&Variable) -> bool| is(declared) || variable.origin.is_none() && is(variable);
        self.same(at, "DW_AT_artificial", &either(|it| it.is_artificial), &is(dw::DW_AT_artificial));
        self.same(at, "DW_AT_external", &either(|it| it.is_external), &is(dw::DW_AT_external));
        self.same(at, "DW_AT_declaration", &variable.is_declaration, &flag(entry, dw::DW_AT_declaration));
        let of = variable.origin.map_or(variable, |origin| module.variable(origin));
        let linkage = of.linkage_name.or(declared.linkage_name).map(|name| module.string(name).to_owned());
        let found =
            entry.inherited(linkage_name(self.consumer.version)).and_then(Value::text).map(Into::into);
        self.same(at, "the linkage name", &linkage, &found);
        if let Some(attribute) = self.consumer.memory_space {
            let found = entry.inherited(attribute).and_then(Value::unsigned);
            self.same(at, "the memory space", &declared.memory_space.map(memory_space), &found);
        }
        let specification = variable.specification.map_or(Origin::Nothing, Origin::Place);
        self.refers(entry, dw::DW_AT_specification, specification, at);
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
                format!("a value of {needs}", needs = Count(needs, "bit")),
                Count(bits, "bit").to_string(),
            );
        }
    }

    pub(super) fn instance_of(&mut self, entry: Entry<'a, 'o>, of: Origin, at: &At) {
        self.refers(entry, dw::DW_AT_abstract_origin, of, at);
    }

    /// Compares what an entry refers to, when all are known.
    pub(super) fn refers(&mut self, entry: Entry<'a, 'o>, attribute: DwAt, of: Origin, at: &At) {
        let found = entry.attr(attribute).map(|value| match value {
            Value::Reference(offset) => *offset,
            // Nothing is there.
            _ => u64::MAX,
        });
        self.instances.push(Instance { at: at.clone(), attribute, of, found });
    }

    /// Compares the pc at which a scope is entered.
    pub(super) fn entry_pc(
        &mut self,
        scope: ScopeId,
        entry: Entry<'a, 'o>,
        function: Option<FunctionId>,
        at: &At,
    ) {
        let pc = function.and(self.module.scope(scope).entry_pc);
        self.pc(entry, dw::DW_AT_entry_pc, function, pc, at);
    }

    /// Compares an attribute that is the address of a pc of a function.
    pub(super) fn pc(
        &mut self,
        entry: Entry<'a, 'o>,
        attribute: DwAt,
        function: Option<FunctionId>,
        pc: Option<u64>,
        at: &At,
    ) {
        let start = function.and_then(|function| self.address(function)).unwrap_or(0);
        let expected = pc.map(|pc| format!("{:#x}", start.wrapping_add(pc)));
        let found = entry.attr(attribute).map(|value| match value {
            Value::Address(address) => format!("{address:#x}"),
            other => other.words(),
        });
        if expected != found {
            let text = |one: Option<String>| one.unwrap_or_else(|| "none".into());
            self.find(
                Kind::Code,
                at.clone(),
                format!("{} {}", attribute.words(), text(expected)),
                text(found),
            );
        }
    }

    /// Compares the code of an entry.
    pub(super) fn code(&mut self, entry: Entry<'a, 'o>, expected: &[Range<u64>], at: &At) {
        match entry.ranges() {
            Ok(found) if found == expected => {}
            Ok(found) => self.find(Kind::Code, at.clone(), hex(expected), hex(&found)),
            Err(error) => self.unreadable(&error, at.clone()),
        }
    }
}

/// Whether the entry itself has a flag.
pub(super) fn flag(entry: Entry<'_, '_>, name: DwAt) -> bool {
    matches!(entry.attr(name), Some(Value::Flag(true)))
}

/// Where in the source a call is.
pub(super) const CALL_LINE: [DwAt; 3] = [dw::DW_AT_call_file, dw::DW_AT_call_line, dw::DW_AT_call_column];

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

/// Whether an entry in one of this kind is compared by itself: types where they are used, and then the rest of them;
/// procedures when all that can call them is known; parts of a composite type and parameters of a template with their owner.
fn is_compared_apart(entry: Entry<'_, '_>, parent: DwTag) -> bool {
    match entry.tag() {
        dw::DW_TAG_dwarf_procedure => parent == dw::DW_TAG_compile_unit,
        tag if is_template(tag) => is_composite(parent) || parent == dw::DW_TAG_subprogram,
        tag => super::types::is_type(tag) || is_composite(parent) && is_part(entry),
    }
}
