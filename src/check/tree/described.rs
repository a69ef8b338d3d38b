//! Entries that a module describes.

use core::ops::Range;

use gimli::{DwAt, DwTag, constants as dw};
use smallvec::SmallVec;

use super::calls;
use super::tags::{accessibility, defaulted, inline, memory_space, variable_tag, virtuality};
use super::value::{BASES, Entity, Value, called};
use crate::check::index::{Index, PlacedPart, address, parts, place};
use crate::check::{files::described, omitted::Omitted, report::Listed};
use crate::consumer::Consumer;
use crate::error::At;
use crate::model::{
    Argument, AttributeOwner, CompileUnit, DescribedCalls, ExtraAttribute, ExtraValue, Function, FunctionId,
    Imported, LocId, Module, NamespaceKind, Node as LocNode, ScopeId, ScopeKind, SourceLine, StringId,
    TypeKind, UnitId, Variable, VariableId,
};
use crate::omission::{Property, Subject, TemplateOwner};
use crate::read::Object;

/// A unit's language attributes. The last two are DWARF 6's `DW_AT_language_name` and `DW_AT_language_version`.
const LANGUAGE: [DwAt; 3] = [dw::DW_AT_language, DwAt(0x90), DwAt(0x91)];
const DECLARED: [DwAt; 3] = [dw::DW_AT_decl_file, dw::DW_AT_decl_line, dw::DW_AT_decl_column];
const CALLED: [DwAt; 3] = [dw::DW_AT_call_file, dw::DW_AT_call_line, dw::DW_AT_call_column];

/// Functions' constant attributes.
type NumberOf = fn(&Function) -> Option<u64>;
const NUMBERS: [(DwAt, NumberOf); 3] = [
    (dw::DW_AT_accessibility, |function| function.member.accessibility.map(accessibility)),
    (dw::DW_AT_virtuality, |function| function.member.virtuality.map(virtuality)),
    (dw::DW_AT_defaulted, |function| function.member.defaulted.map(defaulted)),
];

/// Attributes for a function's described calls: DWARF 5's, and GNU's before DWARF 5.
const CALLS: [(DescribedCalls, [DwAt; 2]); 3] = [
    (DescribedCalls::Tail, [dw::DW_AT_call_all_tail_calls, dw::DW_AT_GNU_all_tail_call_sites]),
    (DescribedCalls::All, [dw::DW_AT_call_all_calls, dw::DW_AT_GNU_all_call_sites]),
    (DescribedCalls::Source, [dw::DW_AT_call_all_source_calls, dw::DW_AT_GNU_all_source_call_sites]),
];

/// Described entry: its attributes, and the entries for its parts.
pub(in crate::check) struct Node<'a> {
    pub(in crate::check) tag: DwTag,
    pub(in crate::check) name: &'a str,
    pub(super) attributes: Vec<(DwAt, Value<'a, 'a>)>,
    pub(super) parts: Vec<Node<'a>>,
    /// Locations that give the entry's numbers and values, which witnesses compare.
    pub(super) numbers: Vec<Number>,
}

/// Number or value that belongs to an entity other than a variable.
#[derive(Debug, Clone, Copy)]
pub(in crate::check) struct Number {
    pub(in crate::check) subject: Subject,
    pub(in crate::check) property: Property,
    pub(in crate::check) loc: LocId,
    pub(in crate::check) bits: Option<u64>,
    pub(in crate::check) encoded: Encoded,
}

/// How an entry encodes a number or value.
#[derive(Debug, Clone, Copy)]
pub(in crate::check) enum Encoded {
    /// A value, as a constant or with a location.
    Value,
    /// An element count, in this attribute.
    Count(DwAt),
    /// A number in an attribute that is an expression.
    Number(DwAt),
    /// A location in an attribute that is an expression.
    Location(DwAt),
}

impl<'a> Node<'a> {
    pub(super) fn new(tag: DwTag) -> Self {
        Self { tag, name: "", attributes: Vec::with_capacity(24), parts: Vec::new(), numbers: Vec::new() }
    }

    pub(super) fn with(mut self, name: DwAt, value: Option<Value<'a, 'a>>) -> Self {
        self.attributes.push((name, value.unwrap_or(Value::Absent)));
        self
    }

    pub(super) fn named(mut self, name: &'a str) -> Self {
        self.name = name;
        self.text(dw::DW_AT_name, Some(name).filter(|name| !name.is_empty()))
    }

    pub(super) fn text(self, name: DwAt, text: Option<&'a str>) -> Self {
        self.with(name, text.map(|text| Value::Text(text.into())))
    }

    pub(super) fn flag(self, name: DwAt, is: bool) -> Self {
        self.with(name, Some(Value::Flag(is)))
    }

    pub(super) fn number(self, name: DwAt, number: Option<impl Into<i128>>) -> Self {
        self.with(name, number.map(|number| Value::Number(number.into())))
    }

    pub(super) fn entry(self, name: DwAt, entity: Option<Entity>) -> Self {
        self.with(name, entity.map(Value::Entity))
    }

    /// Adds an attribute whose location witnesses compare.
    fn located(self, name: DwAt, loc: Option<LocId>) -> Self {
        self.with(name, loc.map(|_| Value::Elsewhere))
    }

    /// Adds attributes that witnesses or other comparisons cover.
    pub(super) fn elsewhere(mut self, names: impl IntoIterator<Item = DwAt>) -> Self {
        self.attributes.extend(names.into_iter().map(|name| (name, Value::Elsewhere)));
        self
    }

    /// Tag and name, for messages.
    pub(in crate::check) fn called(&self) -> String {
        called(self.tag, self.name)
    }

    fn pc(self, name: DwAt, pc: Option<u64>) -> Self {
        self.with(name, pc.map(Value::Address))
    }
}

/// Module as a consumer reads it from an object.
#[derive(Clone, Copy)]
pub(in crate::check) struct Described<'a> {
    pub(in crate::check) module: &'a Module,
    pub(in crate::check) consumer: &'a Consumer,
    pub(in crate::check) object: &'a Object<'a>,
    pub(in crate::check) index: &'a Index,
    pub(in crate::check) omitted: &'a Omitted,
    pub(in crate::check) listed: Listed,
}

impl<'a> Described<'a> {
    /// A function's code address in the object.
    pub(in crate::check) fn address(self, function: FunctionId) -> Option<u64> {
        address(self.module, self.object, self.module.function(function))
    }

    /// The parts of a function's code that have an address in the object.
    pub(in crate::check) fn parts(self, function: FunctionId) -> SmallVec<[PlacedPart; 1]> {
        parts(self.module, self.object, self.module.function(function))
    }

    /// The code that a unit's pc ranges have, as addresses in the object.
    pub(in crate::check) fn unit_code(self, id: UnitId) -> Vec<Range<u64>> {
        let is_in_unit = |id: &&FunctionId| self.module.function(**id).is_in_unit();
        let functions = self.index.functions[id].iter().filter(is_in_unit);
        functions.flat_map(|&function| self.parts(function)).map(|part| part.code()).collect()
    }

    /// Address of a pc in a function's code.
    pub(in crate::check) fn address_at(self, function: FunctionId, pc: u64) -> Option<u64> {
        place(self.module, self.object, self.module.function(function).address_at(pc)?)
    }

    /// Returns whether calls have GNU's entries, for a version before DWARF 5.
    fn has_gnu_calls(self) -> bool {
        self.consumer.version < 5
    }

    pub(in crate::check) fn calls(self) -> &'static calls::Names {
        if self.has_gnu_calls() { &calls::GNU } else { &calls::DWARF5 }
    }

    /// Returns the entry with a function's code, or else its only entry.
    fn entry_with_code(self, id: FunctionId) -> Entity {
        let is_apart = self.has_abstract(id) && self.module.function(id).address.is_some();
        if is_apart { Entity::Instance(id) } else { Entity::Function(id) }
    }

    /// Returns whether a function has an abstract instance besides its code.
    fn has_abstract(self, function: FunctionId) -> bool {
        self.index.inlined[function]
    }

    /// Returns a scope's entities that have entries in it. `instance` is the function whose code the entries
    /// describe, `None` in an abstract instance. Parameters are in order.
    pub(in crate::check) fn inside(self, scope: ScopeId, instance: Option<FunctionId>) -> Vec<Entity> {
        let module = self.module;
        let index = self.index;
        let is_abstract = instance.is_none() && module.function_of(scope).is_some();
        let mut entities = Vec::new();
        entities.extend(index.variables.items(scope).map(|id| {
            if is_abstract && !module.is_static_member(id) {
                Entity::Abstract(id)
            } else {
                Entity::Variable(id)
            }
        }));
        // A function has these once: in the abstract instance, if there is one.
        let is_first = instance.is_none_or(|function| !self.has_abstract(function));
        if let ScopeKind::Function(id) = module.scope(scope).kind
            && module.function(id).is_variadic
            && is_first
        {
            entities.push(Entity::MoreArguments(id));
        }
        for id in index.scopes.items(scope) {
            match module.scope(id).kind {
                ScopeKind::Unit | ScopeKind::Type(_) => {}
                ScopeKind::Function(function) if is_first => {
                    entities.push(Entity::Function(function));
                    let has_code =
                        module.function(function).address.is_some() && !module.is_code_apart(function);
                    entities.extend(
                        (has_code && self.has_abstract(function)).then_some(Entity::Instance(function)),
                    );
                }
                ScopeKind::Function(_) => {}
                ScopeKind::Namespace { .. } if !is_first => {}
                ScopeKind::Inlined { .. } if instance.is_none() && index.calls_of_code.contains(id) => {}
                ScopeKind::Namespace { .. } | ScopeKind::Block | ScopeKind::Inlined { .. } => {
                    entities.push(Entity::Scope(id));
                }
            }
        }
        entities.extend(index.code_apart.items(scope).map(Entity::Instance));
        if is_first {
            entities.extend(index.imports.items(scope).map(Entity::Import));
        }
        // Labels in a function without code are in its abstract instance, without pcs.
        let function = module.function_of(scope);
        if instance.is_some() || function.is_some_and(|function| module.function(function).address.is_none())
        {
            entities.extend(index.labels.items(scope).map(Entity::Label));
        }
        if instance.is_some() && self.consumer.entries.knows_tag(self.calls().call) {
            entities.extend(index.calls.items(scope).map(Entity::Call));
        }
        entities
    }

    /// An entity's position, for findings.
    pub(in crate::check) fn site(self, entity: Entity) -> At {
        let module = self.module;
        match entity {
            Entity::TypeUnit(id) => module.at_unit(id),
            Entity::Inside(id) => module.at_scope(id),
            Entity::Scope(id) => match (&module.scope(id).kind, module.scope(id).parent) {
                (ScopeKind::Namespace { .. }, Some(parent)) => module.at_scope(parent),
                _ => module.at_scope(id),
            },
            Entity::Type(id) => module.at_type(id),
            Entity::Function(id) | Entity::Instance(id) | Entity::MoreArguments(id) => {
                module.at_scope(module.function(id).scope)
            }
            Entity::Abstract(id) | Entity::Variable(id) | Entity::Either(id) => module.at_variable(id, None),
            Entity::Import(id) => module.at_scope(module.imports[id].scope),
            Entity::Label(id) => module.at_scope(module.labels[id].scope),
            Entity::Call(id) => {
                let call = module.call(id);
                let pcs = call.pc.or(call.return_pc).map(|pc| pc..pc.saturating_add(1));
                module.at_scope(call.scope).with(|context| context.pcs = pcs)
            }
        }
    }

    /// Returns an entity's unit.
    pub(in crate::check) fn unit_of(self, entity: Entity) -> UnitId {
        let module = self.module;
        let scope = match entity {
            Entity::TypeUnit(id) => return id,
            Entity::Inside(id) | Entity::Scope(id) => id,
            Entity::Type(id) => module.ty(id).scope(),
            Entity::Function(id) | Entity::Instance(id) | Entity::MoreArguments(id) => {
                module.function(id).scope
            }
            Entity::Abstract(id) | Entity::Variable(id) | Entity::Either(id) => module.variable(id).scope,
            Entity::Import(id) => module.imports[id].scope,
            Entity::Label(id) => module.labels[id].scope,
            Entity::Call(id) => module.call(id).scope,
        };
        module.scope(scope).unit
    }

    /// Returns an entity's entry, in a function's code or in no code, with references to types that have entries.
    pub(in crate::check) fn node(self, entity: Entity, instance: Option<FunctionId>) -> Node<'a> {
        let mut node = self.whole_node(entity, instance);
        if self.omitted.has_types {
            self.without_omitted_types(&mut node);
        }
        node
    }

    /// Replaces references to qualified types whose entries are omitted by references to the types that they qualify.
    fn without_omitted_types(self, node: &mut Node<'a>) {
        for (_, value) in &mut node.attributes {
            while let Value::Entity(Entity::Type(id)) = *value
                && self.omitted.count(Subject::Type(id), Property::Entity) > 0
                && let TypeKind::Qualified { of, .. } = self.module.ty(id).kind
            {
                *value = of.map_or(Value::Absent, |ty| Value::Entity(Entity::Type(ty)));
            }
        }
        node.parts.iter_mut().for_each(|part| self.without_omitted_types(part));
    }

    fn whole_node(self, entity: Entity, instance: Option<FunctionId>) -> Node<'a> {
        let module = self.module;
        match entity {
            Entity::TypeUnit(id) => self.type_unit(id),
            Entity::Scope(id) | Entity::Inside(id) => self.scope(id, instance),
            Entity::Type(id) => self.ty(id),
            Entity::Function(id) if self.has_abstract(id) || module.function(id).address.is_none() => {
                self.abstract_function(id)
            }
            Entity::Function(id) | Entity::Instance(id) => self.code(id),
            Entity::Abstract(id) | Entity::Variable(id) | Entity::Either(id) => {
                if module.is_static_member(id) {
                    self.member(id)
                } else {
                    self.variable(id, entity, instance)
                }
            }
            Entity::MoreArguments(_) => Node::new(dw::DW_TAG_unspecified_parameters),
            Entity::Import(id) => {
                let import = &module.imports[id];
                let target = match import.what {
                    Imported::AllOf(scope) | Imported::Namespace(scope) => {
                        Value::Entity(Entity::Scope(scope))
                    }
                    Imported::Function(id) => Value::Entity(Entity::Function(id)),
                    Imported::Variable(id) => Value::Entity(Entity::Variable(id)),
                    Imported::Type(id) => Value::Entity(Entity::Type(id)),
                    Imported::Member(ty, index) | Imported::Enumerator(ty, index) => Value::Member(ty, index),
                };
                let is_item = matches!(
                    module.scope(import.scope).kind,
                    ScopeKind::Namespace { kind: NamespaceKind::Namelist, .. }
                );
                let (tag, attribute) = match import.what {
                    _ if is_item => (dw::DW_TAG_namelist_item, dw::DW_AT_namelist_item),
                    Imported::AllOf(_) => (dw::DW_TAG_imported_module, dw::DW_AT_import),
                    _ => (dw::DW_TAG_imported_declaration, dw::DW_AT_import),
                };
                let node = Node::new(tag).named(self.text(import.name)).with(attribute, Some(target));
                self.extras(self.declared(node, import.line), id)
            }
            Entity::Label(id) => {
                let label = &module.labels[id];
                let node = Node::new(dw::DW_TAG_label).named(module.string(label.name));
                let node = self.declared(node, label.line);
                let origin = self.index.label_origins.get(&id).map(|&origin| Entity::Label(origin));
                let node = node.entry(dw::DW_AT_abstract_origin, origin);
                self.extras(node, id).pc(dw::DW_AT_low_pc, self.address_of(instance, label.pc))
            }
            Entity::Call(id) => {
                let call = module.call(id);
                let names = self.calls();
                let address = |pc| self.address_of(instance, pc);
                // GNU's entry has one address: the return pc, or the pc of the call where no return pc is described. If both
                // are described, the pc of the call has DWARF 5's attribute.
                let is_gnu = self.has_gnu_calls();
                let return_pc = call.return_pc.or(call.pc.filter(|_| is_gnu));
                let pc = call.pc.filter(|_| !is_gnu || call.return_pc.is_some());
                let mut node = Node::new(names.call).pc(names.return_pc, address(return_pc));
                node = node.pc(dw::DW_AT_call_pc, address(pc));
                node = node.entry(names.callee, call.callee.map(|callee| self.entry_with_code(callee)));
                node = node.flag(names.tail, call.is_tail).located(names.target, call.target);
                node = node.located(names.clobbered, call.clobbered_target);
                self.extras(self.source(node, call.line, CALLED), id)
            }
        }
    }

    /// Returns the entry for a call's argument, by its index.
    pub(in crate::check) fn argument(self, index: u32, argument: &Argument) -> Node<'a> {
        let module = self.module;
        let names = self.calls();
        let parameter = argument.parameter.and_then(|id| {
            let function = module.function_of(module.variable(id).scope)?;
            let has_code = module.function(function).address.is_some() && !self.has_abstract(function);
            Some(if has_code { Entity::Variable(id) } else { Entity::Abstract(id) })
        });
        let node = Node::new(names.argument)
            .entry(names.parameter, parameter)
            .located(dw::DW_AT_location, argument.location)
            .located(names.value, argument.value)
            .located(names.data_value, argument.data_value)
            .located(dw::DW_AT_call_data_location, argument.data_location);
        self.extras(node, AttributeOwner::Argument(argument.call, index))
    }

    pub(in crate::check) fn procedure(self) -> Node<'a> {
        Node::new(dw::DW_TAG_dwarf_procedure).elsewhere([dw::DW_AT_location])
    }

    /// Adds the attributes without a field.
    pub(super) fn extras(self, node: Node<'a>, owner: impl Into<AttributeOwner>) -> Node<'a> {
        let attributes = self.module.attributes(owner).iter();
        // A number that the consumer has for another attribute is an omission.
        let attributes = attributes.filter(|attribute| !self.consumer.attributes.has(attribute.name));
        attributes.fold(node, |node, attribute| self.extra(node, attribute))
    }

    fn extra(self, mut node: Node<'a>, attribute: &'a ExtraAttribute) -> Node<'a> {
        let module = self.module;
        let &ExtraAttribute { owner, name, ref value, .. } = attribute;
        let subject = Subject::from(owner);
        let property = Property::of_attribute(name);
        let expression = |loc, encoded| match raw(module, loc) {
            Some(expr) if self.omitted.count(subject, property) > 0 => (Value::PerhapsExpr(expr), None),
            // A raw expression that refers to nothing is compared byte by byte.
            Some(expr) => (Value::Expr(expr), None),
            None => (Value::Elsewhere, Some(Number { subject, property, loc, bits: None, encoded })),
        };
        let (value, number) = match *value {
            ExtraValue::Flag => (Value::Flag(true), None),
            ExtraValue::Unsigned(number) => (Value::Number(number.into()), None),
            ExtraValue::Signed(number) => (Value::Number(number.into()), None),
            ExtraValue::Text(text) => (Value::Text(module.string(text).into()), None),
            ExtraValue::Bytes(ref bytes) => (Value::Block(bytes), None),
            // A symbol that is not in the object has no address that could differ.
            ExtraValue::Address(address) => {
                (place(module, self.object, address).map_or(Value::Present, Value::Address), None)
            }
            ExtraValue::Location(loc) => expression(loc, Encoded::Location(name)),
            ExtraValue::Number(loc) => expression(loc, Encoded::Number(name)),
            ExtraValue::Type(id) => (Value::Entity(Entity::Type(id)), None),
            ExtraValue::Function(id) => (Value::Entity(Entity::Function(id)), None),
            ExtraValue::Variable(id) => (Value::Entity(Entity::Either(id)), None),
            ExtraValue::Member(ty, index) => (Value::Member(ty, index), None),
        };
        node.numbers.extend(number);
        // A line without a file is no property.
        if DECLARED.contains(&name) {
            node.attributes.retain(|(listed, _)| *listed != name);
        }
        let name = match name {
            // A string's length has its size in the attribute for the string's size before DWARF 5.
            dw::DW_AT_string_length_byte_size if self.consumer.version < 5 => dw::DW_AT_byte_size,
            dw::DW_AT_linkage_name => self.linkage_name(),
            name => name,
        };
        node.with(name, Some(value))
    }

    pub(super) fn text(self, id: Option<StringId>) -> &'a str {
        id.map_or("", |id| self.module.string(id))
    }

    fn address_of(self, instance: Option<FunctionId>, pc: Option<u64>) -> Option<u64> {
        let pc = pc?;
        // Without an address in the object, pcs count from 0.
        Some(instance.and_then(|function| self.address_at(function, pc)).unwrap_or(pc))
    }

    pub(super) fn declared(self, node: Node<'a>, line: Option<SourceLine>) -> Node<'a> {
        self.source(node, line, DECLARED)
    }

    /// Adds a source position, in three attributes. Column 0 is absent.
    fn source(self, node: Node<'a>, line: Option<SourceLine>, names: [DwAt; 3]) -> Node<'a> {
        let file = line
            .map(|line| Value::File(described(self.module, self.consumer, line.file, self.consumer.version)));
        // Column 0 means that the column is unknown, as an absent attribute does.
        let column = line.map(|line| line.column).filter(|&column| column != 0);
        let number = |node: Node<'a>, name, number: Option<u32>| {
            // A line without a file is among the further attributes.
            let is_listed = line.is_none() && node.attributes.iter().any(|(listed, _)| *listed == name);
            if is_listed { node } else { node.number(name, number) }
        };
        let node = number(node.with(names[0], file), names[1], line.map(|line| line.line));
        number(node, names[2], column)
    }

    /// Returns a unit's entry without its code. A split unit's skeleton has the other attributes.
    pub(in crate::check) fn unit(self, id: UnitId, is_split: bool) -> Node<'a> {
        let unit = self.module.unit(id);
        let producer = match (unit.producer, unit.command_line) {
            (None, None) => None,
            (producer, None) => Some(self.text(producer).into()),
            (producer, Some(line)) => {
                Some(format!("{} {}", self.text(producer), self.text(Some(line))).into())
            }
        };
        let macros = if self.consumer.version < 5 { dw::DW_AT_macro_info } else { dw::DW_AT_macros };
        let node = Node::new(dw::DW_TAG_compile_unit).named(self.text(Some(unit.name)));
        let node = node.with(dw::DW_AT_producer, producer.map(Value::Text)).elsewhere([macros]);
        let node = self.language(node, unit).flag(dw::DW_AT_APPLE_optimized, unit.is_optimized);
        let node = self.extras(node, id);
        if is_split { node } else { self.with_code(node, unit) }
    }

    pub(in crate::check) fn skeleton(self, id: UnitId, name: &'a str) -> Node<'a> {
        let node = Node::new(dw::DW_TAG_skeleton_unit).text(dw::DW_AT_dwo_name, Some(name));
        self.with_code(node, self.module.unit(id))
    }

    fn with_code(self, node: Node<'a>, unit: &CompileUnit) -> Node<'a> {
        let directory = unit.directory.map(|directory| self.module.string(directory));
        let node =
            node.text(dw::DW_AT_comp_dir, directory).elsewhere([dw::DW_AT_stmt_list, dw::DW_AT_ranges]);
        // An offset of these counts as absent, because comparing the tables follows it.
        BASES.into_iter().fold(node, |node, name| node.with(name, None))
    }

    fn type_unit(self, id: UnitId) -> Node<'a> {
        let node = Node::new(dw::DW_TAG_type_unit).elsewhere([dw::DW_AT_stmt_list]);
        self.language(node, self.module.unit(id))
    }

    /// Adds a unit's language, with its name and version for consumers that read these.
    fn language(self, node: Node<'a>, unit: &CompileUnit) -> Node<'a> {
        let name = unit.language.and_then(|language| language.name());
        let name = name.filter(|_| self.consumer.entries.language_names);
        let version = name.and_then(|(_, version)| unit.language_version.or(version));
        let last = self.consumer.entries.last_language;
        let node = node.number(LANGUAGE[0], unit.language.map(|language| language.up_to(last).0));
        node.number(LANGUAGE[1], name.map(|(name, _)| name)).number(LANGUAGE[2], version)
    }

    /// Returns a namespace's entry, without its source position.
    pub(in crate::check) fn namespace(self, name: Option<StringId>, kind: NamespaceKind) -> Node<'a> {
        let node = Node::new(match kind {
            NamespaceKind::Namespace | NamespaceKind::Inline => dw::DW_TAG_namespace,
            NamespaceKind::Module => dw::DW_TAG_module,
            NamespaceKind::CommonBlock => dw::DW_TAG_common_block,
            NamespaceKind::Namelist => dw::DW_TAG_namelist,
        });
        node.named(self.text(name)).flag(dw::DW_AT_export_symbols, kind == NamespaceKind::Inline)
    }

    fn scope(self, id: ScopeId, instance: Option<FunctionId>) -> Node<'a> {
        let module = self.module;
        let scope = self.module.scope(id);
        let mut node = match scope.kind {
            ScopeKind::Namespace { name, kind } => {
                return self.extras(self.declared(self.namespace(name, kind), scope.line), id);
            }
            ScopeKind::Inlined { function, call } => {
                let node = Node::new(dw::DW_TAG_inlined_subroutine);
                let node = node.entry(dw::DW_AT_abstract_origin, Some(Entity::Function(function)));
                let number = Some(scope.discriminator).filter(|&number| number != 0);
                self.source(node.number(dw::DW_AT_GNU_discriminator, number), Some(call), CALLED)
            }
            _ => {
                let has_abstract = instance.is_some_and(|function| self.has_abstract(function))
                    && !module.is_in_inlined_call(id);
                let origin = if has_abstract { Some(id) } else { scope.origin };
                let node = Node::new(dw::DW_TAG_lexical_block)
                    .entry(dw::DW_AT_abstract_origin, origin.map(Entity::Scope));
                let mut blocks = core::iter::successors(Some(scope), |block| {
                    block.origin.map(|origin| module.scope(origin))
                });
                let number = Some(scope.discriminator).filter(|&number| number != 0);
                self.declared(
                    node.number(dw::DW_AT_GNU_discriminator, number),
                    blocks.find_map(|block| block.line),
                )
            }
        };
        if let Some(function) = instance {
            let moved = |range: &Range<u64>| {
                let start = self.address_at(function, range.start).unwrap_or(range.start);
                start..start.wrapping_add(range.end - range.start)
            };
            let code = module.ranges(id).iter().map(moved).collect();
            node = node.with(dw::DW_AT_ranges, Some(Value::Code(code)));
            node = node.pc(dw::DW_AT_entry_pc, self.address_of(instance, scope.entry_pc));
            if matches!(scope.kind, ScopeKind::Inlined { .. }) {
                node = node.elsewhere(
                    self.consumer.attributes.lane_pc.into_iter().chain(self.consumer.attributes.active_lane),
                );
            }
        }
        self.extras(node, id)
    }

    /// Returns the entry for a function without code, or an inlined function's abstract instance.
    fn abstract_function(self, id: FunctionId) -> Node<'a> {
        let function = self.module.function(id);
        let inline = inline(self.has_abstract(id), function.is_declared_inline);
        let node = self.function(id, false, None);
        let node = node.flag(dw::DW_AT_declaration, function.is_declaration);
        let node = node.entry(dw::DW_AT_abstract_origin, function.origin.map(Entity::Function));
        let is_abstract = !function.is_declaration && function.origin.is_none();
        let has_inline = is_abstract || function.is_declared_inline;
        let node = node.number(dw::DW_AT_inline, has_inline.then_some(inline));
        let node = node.entry(dw::DW_AT_object_pointer, function.object_pointer.map(Entity::Abstract));
        self.templates(node, TemplateOwner::Function(id), &function.templates)
    }

    /// Returns the entry for a function's code.
    fn code(self, id: FunctionId) -> Node<'a> {
        let module = self.module;
        let consumer = self.consumer;
        let function = module.function(id);
        let has_abstract = self.has_abstract(id);
        let kernel = consumer.entries.kernel_convention.filter(|_| function.is_kernel);
        // Only a function that is not inlined states here that it was declared inline.
        let own = (!has_abstract && function.is_declared_inline).then(|| inline(false, true));
        let mut node = self.function(id, has_abstract, kernel).number(dw::DW_AT_inline, own);
        let origin = if has_abstract { Some(id) } else { function.origin };
        node = node.entry(dw::DW_AT_abstract_origin, origin.map(Entity::Function));
        // `code::is_there` reports a function without an address.
        node = match self.address(id) {
            Some(_) => {
                let code = self.parts(id).iter().map(PlacedPart::code).collect();
                node.with(dw::DW_AT_ranges, Some(Value::Code(code)))
            }
            None => node.elsewhere([dw::DW_AT_ranges]),
        };
        node = node.pc(dw::DW_AT_entry_pc, self.address_of(Some(id), module.scope(function.scope).entry_pc));
        if let Some(name) = consumer.attributes.lanes {
            let lanes = module.target.lanes();
            node = node.number(name, (lanes > 1).then_some(lanes));
        }
        node = node.entry(dw::DW_AT_object_pointer, function.object_pointer.map(Entity::Variable));
        for (calls, names) in CALLS {
            for (is_gnu, name) in [false, true].into_iter().zip(names) {
                node = node.flag(name, function.calls == Some(calls) && is_gnu == self.has_gnu_calls());
            }
        }
        node = match function.frame_base {
            // Stack slots count from the canonical frame address, which is the frame base.
            None if consumer.attributes.variable_space.is_some()
                && module.target.has_lane_expressions()
                && function.frame_bases().is_empty() =>
            {
                node.with(dw::DW_AT_frame_base, Some(Value::Expr(&[0x9c])))
            }
            base => {
                let listed = function.frame_bases().first().map(|base| base.loc);
                node.located(dw::DW_AT_frame_base, base.or(listed))
            }
        };
        node = node.located(dw::DW_AT_static_link, function.static_link);
        node = node.elsewhere(consumer.attributes.lane_pc.into_iter().chain(consumer.attributes.active_lane));
        let templates = if has_abstract { &[][..] } else { &function.templates };
        self.templates(node, TemplateOwner::Function(id), templates)
    }

    /// Returns the attributes that a function has itself or inherits. `kernel` is the calling convention for code
    /// without a described convention.
    fn function(self, id: FunctionId, is_instance: bool, kernel: Option<u8>) -> Node<'a> {
        let module = self.module;
        let data = module.function(id);
        // An instance takes what it does not say from its function, and a definition from its declaration.
        let chain = || {
            core::iter::successors(Some(data), |function| {
                function.origin.or(function.specification).map(|id| module.function(id))
            })
        };
        let declared = chain().last().unwrap_or(data);
        let mut node = Node::new(dw::DW_TAG_subprogram).named(self.text(Some(data.name)));
        if !is_instance {
            node = self.extras(node, id);
        }
        // An inlined function's code refers to its abstract instance instead.
        let specification = data.specification.filter(|_| !is_instance).map(Entity::Function);
        node = node.entry(dw::DW_AT_specification, specification);
        let linkage = chain().find_map(|function| function.linkage_name);
        node = node.text(self.linkage_name(), linkage.map(|name| module.string(name)));
        for &(name, is) in Function::FLAGS {
            node = node.flag(name, chain().any(is));
        }
        for (name, number) in NUMBERS {
            node = node.number(name, chain().find_map(number));
        }
        let convention = chain().skip(1).find_map(|function| function.convention);
        node = node.number(dw::DW_AT_calling_convention, data.convention.or(kernel).or(convention));
        // A definition inherits the prototype of its declaration.
        let is_prototyped = self.has_prototypes(module.scope(data.scope).unit) && !declared.is_unprototyped;
        // In a language that has no functions without prototypes, a prototype is among the attributes.
        let mut owners = data.origin.into_iter().chain(data.specification).chain([id]);
        if is_prototyped || !owners.any(|owner| self.has_extra(owner, dw::DW_AT_prototyped)) {
            node = node.flag(dw::DW_AT_prototyped, is_prototyped);
        }
        let function = data.origin.filter(|_| data.returns.is_none()).map_or(data, |id| module.function(id));
        node = node.entry(dw::DW_AT_type, function.returns.map(Entity::Type));
        let has_file = chain().any(|function| function.line.is_some());
        let completed = |data: &Function| data.origin.or(data.specification);
        let first = if is_instance { Some(id) } else { completed(data) };
        let completed = core::iter::successors(first, |&id| completed(module.function(id)));
        node = self.inherited_lines(node, completed.filter(|_| !has_file));
        self.declared(node, chain().find_map(|function| function.line))
    }

    /// Adds the lines without a file of the entities that an entity completes: an instance has the line of its origin, and a
    /// definition that of its declaration.
    fn inherited_lines(
        self,
        mut node: Node<'a>,
        completed: impl Iterator<Item = impl Into<AttributeOwner>>,
    ) -> Node<'a> {
        for attribute in completed.flat_map(|owner| self.module.attributes(owner)) {
            let is_stated = |node: &Node<'_>| node.attributes.iter().any(|(name, _)| *name == attribute.name);
            if DECLARED.contains(&attribute.name) && !is_stated(&node) {
                node = self.extra(node, attribute);
            }
        }
        node
    }

    /// Whether an entity has an attribute without a property.
    pub(super) fn has_extra(self, owner: impl Into<AttributeOwner>, name: DwAt) -> bool {
        self.module.attributes(owner).iter().any(|attribute| attribute.name == name)
    }

    /// Returns whether functions of the unit's language can lack a prototype: C and OpenCL C (DWARF 5, table 7.17,
    /// and the later C standards).
    pub(in crate::check) fn has_prototypes(self, unit: UnitId) -> bool {
        let language = self.module.unit(unit).language.map(|language| language.0);
        matches!(language, Some(0x01 | 0x02 | 0x0c | 0x15 | 0x1d | 0x2c | 0x3e))
    }

    /// Attribute for a linkage name: the standard's, or the MIPS compilers' before DWARF 4.
    fn linkage_name(self) -> DwAt {
        if self.consumer.version >= 4 { dw::DW_AT_linkage_name } else { DwAt(0x2007) }
    }

    fn variable(self, id: VariableId, entity: Entity, instance: Option<FunctionId>) -> Node<'a> {
        let module = self.module;
        let variable = module.variable(id);
        // An instance takes what it does not say from its origin, and a definition from its declaration.
        let chain = || {
            core::iter::successors(Some(variable), |variable| {
                variable.origin.or(variable.specification).map(|id| module.variable(id))
            })
        };
        let either = |is: fn(&Variable) -> bool| chain().any(is);
        let linkage = chain().find_map(|variable| variable.linkage_name).map(|name| module.string(name));
        let has_abstract = instance.is_some_and(|function| self.has_abstract(function));
        let origin = variable.origin.or(has_abstract.then_some(id));
        // The only entry of a variable outside functions has its location.
        let abstract_entry = |id| match module.function_of(module.variable(id).scope) {
            Some(_) => Entity::Abstract(id),
            None => Entity::Variable(id),
        };
        let mut node = Node::new(variable_tag(variable.kind))
            .named(module.name_of(id).unwrap_or(""))
            .entry(dw::DW_AT_type, Some(Entity::Type(variable.ty)))
            .flag(dw::DW_AT_artificial, either(|variable| variable.is_artificial))
            .flag(dw::DW_AT_external, either(|variable| variable.is_external))
            .flag(dw::DW_AT_declaration, variable.is_declaration && origin != Some(id))
            .text(self.linkage_name(), linkage)
            .number(
                dw::DW_AT_accessibility,
                chain().find_map(|variable| variable.accessibility).map(accessibility),
            )
            .entry(dw::DW_AT_specification, variable.specification.map(Entity::Variable))
            .entry(dw::DW_AT_abstract_origin, origin.map(abstract_entry));
        if let Some(name) = self.consumer.attributes.memory_space {
            node = node.number(name, chain().find_map(|variable| variable.memory_space).map(memory_space));
        }
        if origin != Some(id) {
            node = self.extras(node, id);
        }
        let has_file = chain().any(|variable| variable.line.is_some());
        let completed = |id: &VariableId| {
            let variable = module.variable(*id);
            variable.origin.or(variable.specification)
        };
        let completed = core::iter::successors(origin.or(variable.specification), completed);
        node = self.inherited_lines(node, completed.filter(|_| !has_file));
        if self.has_location(entity, instance) {
            // The locations' space is compared with the locations.
            node = node.elsewhere([dw::DW_AT_location, dw::DW_AT_const_value]);
            node = node.elsewhere(self.consumer.attributes.variable_space);
        }
        self.declared(node, chain().find_map(|variable| variable.line))
    }

    /// Whether a variable's entry has the variable's location. An abstract instance's entry has it if the function has no
    /// code, or if the variable is static: then all other instances inherit it.
    pub(in crate::check) fn has_location(self, entity: Entity, instance: Option<FunctionId>) -> bool {
        let module = self.module;
        match entity {
            Entity::Abstract(id) => module.is_placed_without_code(id) || module.is_static(id),
            Entity::Variable(id) => {
                let is_instance = instance.is_some_and(|function| self.has_abstract(function));
                !(is_instance && module.is_static(id))
            }
            _ => false,
        }
    }

    /// Returns a static data member's entry, a declaration in its class. Its definition has the location.
    fn member(self, id: VariableId) -> Node<'a> {
        let member = self.module.variable(id);
        let tag = if self.consumer.version < 5 { dw::DW_TAG_member } else { dw::DW_TAG_variable };
        let mut node = Node::new(tag)
            .named(self.module.name_of(id).unwrap_or(""))
            .entry(dw::DW_AT_type, Some(Entity::Type(member.ty)))
            .text(self.linkage_name(), member.linkage_name.map(|name| self.module.string(name)))
            .flag(dw::DW_AT_declaration, true)
            .flag(dw::DW_AT_artificial, member.is_artificial)
            .flag(dw::DW_AT_external, member.is_external)
            .number(dw::DW_AT_accessibility, member.accessibility.map(accessibility))
            .with(dw::DW_AT_const_value, self.module.always(id).map(|_| Value::Present));
        if let Some(name) = self.consumer.attributes.memory_space {
            node = node.number(name, member.memory_space.map(memory_space));
        }
        self.extras(self.declared(node, member.line), id)
    }
}

/// Returns the bytes of a location that is a raw expression without references.
fn raw(module: &Module, loc: LocId) -> Option<&[u8]> {
    let mut nodes = module.nodes(loc);
    match (nodes.next(), nodes.next()) {
        (Some(LocNode::Expr(expr)), None) => {
            let expr = &module.expr(expr).0;
            expr.fixups().is_empty().then(|| expr.bytes())
        }
        _ => None,
    }
}
