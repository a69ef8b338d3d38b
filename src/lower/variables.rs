//! Variable entries: DWARF 5 section 4.1.

use super::constants;
use super::entry::{Completed, EntryWriter};
use super::loc::Facts;
use super::open::{Instance, more_arguments};
use crate::error::Result;
use crate::model::{
    Accessibility, MemorySpace, Module, ScopeId, ScopeKind, SourceLine, Stack, StringId, TypeId, TypeKind,
    Variable, VariableId, VariableKind,
};
use crate::op::read_uleb;

/// The scope around variables, with the facts on which their entries depend.
struct Around<'i> {
    /// The enclosing function's instance.
    instance: Option<&'i Instance>,
    stack: Stack,
    /// Whether the scope is in an abstract instance, which describes variables. Concrete instances have their
    /// locations.
    is_abstract: bool,
    /// Whether the scope belongs to a structure, class or union.
    is_type: bool,
}

impl<'i> Around<'i> {
    fn new(module: &Module, scope: ScopeId, instance: Option<&'i Instance>) -> Self {
        Self {
            instance,
            stack: instance.map_or_else(|| Stack::kernel(&module.target), |instance| instance.stack),
            is_abstract: instance.is_none() && module.function_of(scope).is_some(),
            is_type: matches!(module.scopes[scope].kind, ScopeKind::Type(_)),
        }
    }
}

/// Writes a scope's variables. `instance` belongs to the enclosing function.
pub(super) fn write(out: &mut EntryWriter<'_>, scope: ScopeId, instance: Option<&Instance>) -> Result<()> {
    // The entry for further arguments follows the parameters.
    let mut more_after = more_arguments(out.units, scope, instance);
    if more_after == Some(None) {
        out.more_arguments();
    }
    let mut next = out.units.children.first_variable(scope);
    if next.is_none() {
        return Ok(());
    }
    let around = Around::new(out.module, scope, instance);
    // The type's entry has written those before a data member.
    if around.is_type
        && let Some((last, _)) = among_members(out, scope).last()
    {
        next = out.units.children.next_variable(last);
    }
    while let Some(variable) = next {
        write_variable(out, variable, &around)?;
        if more_after == Some(Some(variable)) {
            out.more_arguments();
            more_after = None;
        }
        next = out.units.children.next_variable(variable);
    }
    Ok(())
}

fn write_variable(out: &mut EntryWriter<'_>, id: VariableId, around: &Around<'_>) -> Result<()> {
    if around.is_type {
        return write_static_member(out, id);
    }
    let module = out.module;
    let variable = &module.variables[id];
    let &Around { instance, is_abstract, .. } = around;
    let tag = match variable.kind {
        VariableKind::Variable => gimli::DW_TAG_variable,
        VariableKind::Parameter => gimli::DW_TAG_formal_parameter,
        VariableKind::Constant => gimli::DW_TAG_constant,
    };
    let origin = match variable.origin {
        Some(origin) => Some(origin),
        None => instance.filter(|instance| instance.has_abstract).map(|_| id),
    };
    let is =
        if is_abstract { out.expressions.numbers.origin(id) } else { out.expressions.numbers.variable(id) };

    // The location is encoded before the entry, because an omission changes the attributes.
    // A static variable has it in the abstract instance, from which all other instances inherit it.
    let is_inherited = module.is_static(id) && (is_abstract || origin.is_some());
    let has_place =
        if is_abstract { is_inherited || module.is_placed_without_code(id) } else { !is_inherited };
    let (place, facts) =
        if has_place { place(out, id, variable, around)? } else { (Place::None, Facts::default()) };
    // NVIDIA's class of registers. ptxas writes it for a variable with one location; a list has it nowhere.
    const REGISTER: u64 = 2;
    let is_register = out.consumer.expressions.has_register_map
        && matches!(place, Place::Expression)
        && is_register(&out.expressions.last.0);
    let space: Option<u64> = facts.space.map(|space| module.target.address_class(space).into());
    let class = space.or_else(|| is_register.then_some(REGISTER));
    out.info.begin_entry(tag, gimli::DW_CHILDREN_no, Some(is));
    match origin {
        Some(origin) => {
            out.complete(Completed::Origin(origin));
            if variable.origin.is_some() {
                instance_attributes(out, variable);
            }
        }
        None => attributes(out, variable),
    }
    match place {
        Place::None => {}
        Place::Constant(bytes) => out.const_value(bytes),
        Place::Expression => out.expression_attribute(gimli::DW_AT_location),
        Place::List(index) => out.list(gimli::DW_AT_location, index),
    }
    if let Some(named) = &mut out.info.named {
        named.has_address = facts.has_address;
    }
    if let (Some(attribute), Some(class)) = (out.consumer.attributes.variable_space, class) {
        out.info.unsigned(attribute, class);
    }
    // A function's abstract instance has its variables' attributes; an inlined call's variable has its own.
    if origin != Some(id) {
        out.attributes(id)?;
    }
    out.info.end_entry();
    Ok(())
}

/// Writes the attributes that do not depend on a location, except those that the declaration has.
fn attributes(out: &mut EntryWriter<'_>, variable: &Variable) {
    let inherited = Inherited::new(out.module, variable.specification);
    out.names(variable.name, variable.linkage_name, variable.specification.map(Completed::Variable));
    out.declared_over(variable.line, inherited.line);
    if variable.line.is_none() {
        out.file_elsewhere(inherited.line);
    }
    if inherited.ty != Some(variable.ty) {
        out.type_of(Some(variable.ty));
    }
    differing_attributes(out, variable, &inherited);
}

/// Writes the attributes in which an inlined variable differs from the variable that it instantiates.
fn instance_attributes(out: &mut EntryWriter<'_>, variable: &Variable) {
    let inherited = Inherited::new(out.module, variable.origin);
    if let Some(name) = variable.linkage_name.filter(|_| variable.linkage_name != inherited.linkage_name) {
        out.text(constants::linkage_name(out.consumer.version), name);
    }
    if variable.line != inherited.line {
        out.declared_over(variable.line, inherited.line);
        if variable.line.is_none() && out.module.function_of(variable.scope).is_none() {
            out.file_elsewhere(inherited.line);
        }
    }
    if inherited.ty != Some(variable.ty) {
        out.type_of(Some(variable.ty));
    }
    differing_attributes(out, variable, &inherited);
}

fn differing_attributes(out: &mut EntryWriter<'_>, variable: &Variable, inherited: &Inherited) {
    if variable.memory_space != inherited.memory_space {
        out.memory_space(variable.memory_space);
    }
    if variable.is_external && !inherited.is_external {
        out.info.flag(gimli::DW_AT_external);
    }
    if variable.is_artificial && !inherited.is_artificial {
        out.info.flag(gimli::DW_AT_artificial);
    }
    if variable.is_declaration {
        out.info.flag(gimli::DW_AT_declaration);
    }
    if variable.accessibility != inherited.accessibility {
        out.accessibility(variable.accessibility);
    }
}

/// Properties that an entry takes from the entries that it completes or is an instance of: DWARF 5 sections 2.13.2 and
/// 3.3.8.2.
#[derive(Default)]
struct Inherited {
    linkage_name: Option<StringId>,
    line: Option<SourceLine>,
    ty: Option<TypeId>,
    memory_space: Option<MemorySpace>,
    accessibility: Option<Accessibility>,
    is_external: bool,
    is_artificial: bool,
}

impl Inherited {
    fn new(module: &Module, from: Option<VariableId>) -> Self {
        let mut inherited = Self::default();
        // A chain of origins and declarations adds up: the nearest entry with a property provides it.
        let mut next = from;
        while let Some(id) = next {
            let variable = &module.variables[id];
            inherited.linkage_name = inherited.linkage_name.or(variable.linkage_name);
            inherited.line = inherited.line.or(variable.line);
            inherited.ty = inherited.ty.or(Some(variable.ty));
            inherited.memory_space = inherited.memory_space.or(variable.memory_space);
            inherited.accessibility = inherited.accessibility.or(variable.accessibility);
            inherited.is_external |= variable.is_external;
            inherited.is_artificial |= variable.is_artificial;
            next = variable.origin.or(variable.specification);
        }
        inherited
    }
}

/// The first static members of a type: those that are before a data member, with the number of data members before each.
fn among_members(out: &EntryWriter<'_>, scope: ScopeId) -> impl Iterator<Item = (VariableId, u32)> {
    let (module, children) = (out.module, &out.units.children);
    let members = match module.scopes[scope].kind {
        ScopeKind::Type(ty) => match &module.types[ty].kind {
            TypeKind::Composite(composite) => composite.members.len(),
            _ => 0,
        },
        _ => 0,
    };
    let all = core::iter::successors(children.first_variable(scope), |&id| children.next_variable(id));
    all.map_while(move |id| module.members_before(id).map(|before| (id, before)))
        .take_while(move |&(_, before)| (before as usize) < members)
}

/// The static members of a type that precede some of its data members.
pub(super) struct StaticMembers {
    /// Each with the number of data members before it, the last first.
    rest: Vec<(VariableId, u32)>,
}

impl StaticMembers {
    pub(super) fn new(out: &EntryWriter<'_>, scope: ScopeId) -> Self {
        let mut rest: Vec<_> = among_members(out, scope).collect();
        rest.reverse();
        Self { rest }
    }

    /// Writes those before a data member that are not written yet.
    pub(super) fn write_before(&mut self, out: &mut EntryWriter<'_>, member: u32) -> Result<()> {
        while let Some((id, _)) = self.rest.pop_if(|&mut (_, before)| before <= member) {
            write_static_member(out, id)?;
        }
        Ok(())
    }
}

/// Writes a static data member: DWARF 5 section 5.7.7. Before DWARF 5, its entry is a member.
fn write_static_member(out: &mut EntryWriter<'_>, id: VariableId) -> Result<()> {
    let module = out.module;
    let variable = &module.variables[id];
    let tag = if out.consumer.version < 5 { gimli::DW_TAG_member } else { gimli::DW_TAG_variable };
    out.info.begin_entry(tag, gimli::DW_CHILDREN_no, Some(out.expressions.numbers.variable(id)));
    out.names(variable.name, variable.linkage_name, None);
    out.declared(variable.line);
    out.type_of(Some(variable.ty));
    out.accessibility(variable.accessibility);
    out.memory_space(variable.memory_space);
    if variable.is_external {
        out.info.flag(gimli::DW_AT_external);
    }
    if variable.is_artificial {
        out.info.flag(gimli::DW_AT_artificial);
    }
    // The class contains a declaration only. A definition elsewhere refers to it.
    out.info.flag(gimli::DW_AT_declaration);
    if let Some(value) = variable.always.and_then(|loc| module.constant(loc)) {
        out.const_value(value);
    }
    out.attributes(id)?;
    out.info.end_entry();
    Ok(())
}

/// Lowers a variable's location. Returns it with the facts that the entry states.
fn place<'u>(
    out: &mut EntryWriter<'u>,
    id: VariableId,
    variable: &Variable,
    around: &Around<'_>,
) -> Result<(Place<'u>, Facts)> {
    let none = (Place::None, Facts::default());
    let module = out.module;
    let &Around { instance, stack, .. } = around;
    let bits = module.types[variable.ty].bits;
    let (loc, pcs) = match (variable.always, module.live(id), instance) {
        (Some(loc), ..) => (loc, None),
        (None, [], _) | (None, _, None) => return Ok(none),
        // A single location for the whole function needs no list.
        (None, [live], Some(instance)) if live.pcs() == (0..instance.bytes) => (live.loc, Some(live.pcs())),
        (None, _, Some(instance)) => {
            let list = out.expressions.location_list(id, bits, stack, instance.base)?;
            return Ok(list.map_or(none, |(list, facts)| (Place::List(list), facts)));
        }
    };
    let is_constant = variable.is_constant || out.consumer.attributes.variable_space.is_some();
    if (is_constant || variable.kind == VariableKind::Constant)
        && let Some(bytes) = module.constant(loc)
    {
        return Ok((Place::Constant(bytes), Facts::default()));
    }
    let facts = out.expressions.location(id, loc, pcs, bits, stack)?;
    Ok(facts.map_or(none, |facts| (Place::Expression, facts)))
}

/// Whether an expression is a register alone: `reg0` to `reg31`, or `regx`.
fn is_register(expression: &[u8]) -> bool {
    match expression {
        [0x50..=0x6f] => true,
        [0x90, number @ ..] => read_uleb(number, 0).is_some_and(|(_, end)| end == number.len()),
        _ => false,
    }
}

/// A variable's location, as the variable's entry states it.
enum Place<'m> {
    None,
    Constant(&'m [u8]),
    /// Expression encoded last.
    Expression,
    List(u64),
}
