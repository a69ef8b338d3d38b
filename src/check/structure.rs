//! Scopes and their entities. Entries match by tag and name, and are compared one by one.

use std::borrow::Cow;

use gimli::{DwAt, DwForm, DwTag, constants as dw};

use super::comparison::Compare;
use super::extra::report_unexpected;
use super::report::FindingKind;
use super::tree::{Compared, Entity, Node, is_part, is_type};
use super::types::compare_type;
use crate::error::{At, Count};
use crate::model::{FunctionId, ScopeId, ScopeKind, VariableId};
use crate::read::{Attribute, Entry, ResolvedValue};

/// An entry's children, sorted by tag and name, and by whether they have code; children with equal keys are in file
/// order.
struct Children<'a, 'o>(Vec<Child<'a, 'o>>);

struct Child<'a, 'o> {
    key: (u16, Cow<'a, str>, bool),
    entry: Entry<'a, 'o>,
    /// How many entries with this key are taken, stored at the first such entry.
    taken: usize,
}

impl<'a, 'o> Children<'a, 'o> {
    fn new(entry: Entry<'a, 'o>) -> Self {
        let parent = entry.tag();
        let mut children = Vec::new();
        for child in entry.children().filter(|&child| !is_compared_apart(child, parent)) {
            let tag = child.tag();
            // Blocks have no name, and calls share the name of the callee.
            let is_code = matches!(
                tag,
                dw::DW_TAG_lexical_block
                    | dw::DW_TAG_inlined_subroutine
                    | dw::DW_TAG_call_site
                    | dw::DW_TAG_GNU_call_site
            );
            let name = if is_code { None } else { child.name() };
            let is_placed =
                tag == dw::DW_TAG_subprogram && (child.has(dw::DW_AT_low_pc) || child.has(dw::DW_AT_ranges));
            children.push(Child {
                key: (tag.0, name.unwrap_or_default(), is_placed),
                entry: child,
                taken: 0,
            });
        }
        // A stable sort, so that equal keys stay in file order.
        children.sort_by(|left, right| left.key.cmp(&right.key));
        Self(children)
    }

    /// Takes the next entry with a tag and name. Entries with the same name are in module order.
    fn take(&mut self, tag: DwTag, name: &str, is_placed: bool) -> Option<Entry<'a, 'o>> {
        let key = (tag.0, Cow::Borrowed(name), is_placed);
        let first = self.0.partition_point(|child| child.key < key);
        let next = first + self.0.get(first)?.taken;
        let entry = self.0.get(next).filter(|child| child.key == key)?.entry;
        self.0[first].taken += 1;
        Some(entry)
    }

    /// Returns the entries that are left, in file order.
    fn rest(&self) -> Vec<Entry<'a, 'o>> {
        let same = self.0.chunk_by(|left, right| left.key == right.key);
        let rest = same.flat_map(|same| same.iter().skip(same.first().map_or(0, |first| first.taken)));
        let mut rest: Vec<_> = rest.map(|child| child.entry).collect();
        rest.sort_unstable_by_key(|entry| entry.index());
        rest
    }
}

/// Scope, its entry, and the function whose code the entry describes: `None` in an abstract instance.
type Inside<'a, 'o> = (ScopeId, Entry<'a, 'o>, Option<FunctionId>);

/// Compares the entities in a scope, and in the scopes within it, with an entry's children.
///
/// Inner scopes are in a list, so that deeply nested scopes do not exhaust the stack.
pub(super) fn compare_scope<'a, 'o>(compare: &mut Compare<'a, 'o>, scope: ScopeId, entry: Entry<'a, 'o>) {
    let mut waiting = Vec::from([(scope, entry, None)]);
    while let Some(next) = waiting.pop() {
        let inner = compare_inside(compare, next);
        waiting.extend(inner.into_iter().rev());
    }
}

/// Compares the entities directly in a scope. Returns the scopes in it.
fn compare_inside<'a, 'o>(
    compare: &mut Compare<'a, 'o>,
    (scope, around, instance): Inside<'a, 'o>,
) -> Vec<Inside<'a, 'o>> {
    compare.known.add_scope(scope, around);
    let mut inner = Vec::new();
    let mut children = Children::new(around);
    let mut last_parameter = 0;
    for entity in compare.described.inside(scope, instance) {
        let (is_placed, instance) = match entity {
            Entity::Function(id) => {
                let has_code = !compare.described.index.inlined[id]
                    && compare.described.module.function(id).address.is_some();
                (has_code, has_code.then_some(id))
            }
            Entity::Instance(id) => (true, Some(id)),
            _ => (false, instance),
        };
        let node = compare.described.node(entity, instance);
        let Some(entry) = children.take(node.tag, node.name, is_placed) else {
            let is_function = node.tag == dw::DW_TAG_subprogram;
            let code = if is_function && !is_placed { " without code" } else { "" };
            let expected = format!("{}{code}", node.called());
            compare.report.find(FindingKind::MissingEntry, compare.described.site(entity), expected, "none");
            continue;
        };
        compare.report.entries += 1;
        // A debugger passes arguments in the entries' order.
        if matches!(node.tag, dw::DW_TAG_formal_parameter | dw::DW_TAG_unspecified_parameters) {
            if entry.index() < last_parameter {
                let site = compare.described.site(entity);
                compare.report.find(FindingKind::Attribute, site, "parameters in order", "another order");
            }
            last_parameter = entry.index();
        }
        compare_entity(compare, entity, &node, entry, instance);
        inner.extend(scope_of(compare, entity).map(|scope| (scope, entry, instance)));
    }
    for child in children.rest() {
        report_unexpected(
            &mut compare.report,
            compare.described,
            child,
            compare.described.site(Entity::Inside(scope)),
        );
    }
    inner
}

/// An entity's scope, if it has a scope.
fn scope_of(compare: &Compare<'_, '_>, entity: Entity) -> Option<ScopeId> {
    match entity {
        Entity::Scope(id) => Some(id),
        Entity::Function(id) | Entity::Instance(id) => Some(compare.described.module.function(id).scope),
        _ => None,
    }
}

/// Compares an entity with its entry, and adds the comparisons that depend on other entries.
fn compare_entity<'a, 'o>(
    compare: &mut Compare<'a, 'o>,
    entity: Entity,
    node: &Node<'a>,
    entry: Entry<'a, 'o>,
    instance: Option<FunctionId>,
) {
    // A block's other instances refer to its entry in the abstract instance.
    let is_origin = match entity {
        Entity::Scope(id) => {
            instance.is_none()
                || matches!(compare.described.module.scope(id).kind, ScopeKind::Namespace { .. })
        }
        _ => true,
    };
    if is_origin {
        compare.known.add(entity, entry);
    }
    compare_node(compare, node, entry, entity);
    match entity {
        Entity::Scope(id) => {
            let is_code = matches!(compare.described.module.scope(id).kind, ScopeKind::Inlined { .. })
                && instance.is_some();
            compare.pending.lanes.extend(is_code.then_some((id, entry)));
        }
        Entity::Function(id) | Entity::Instance(id) if instance.is_some() => {
            if let Err(error) = super::code::is_there(compare.described.module, compare.described.object, id)
            {
                let site = compare
                    .described
                    .site(entity)
                    .with(|context| context.section = error.at().section.clone());
                compare.report.find(
                    FindingKind::Code,
                    site,
                    "code that is in the object",
                    error.kind().to_string(),
                );
            }
            // Locations wait: they can refer to entries that are not matched yet.
            compare.pending.frames.push((id, entry));
            compare.pending.lanes.push((compare.described.module.function(id).scope, entry));
        }
        Entity::Abstract(id) if compare.described.has_location(entity, instance) => {
            compare.pending.place(id, entry, None);
        }
        Entity::Variable(id) if compare.described.has_location(entity, instance) => {
            // A static member's entry has no location, and only sometimes a value.
            let has_value = entry.has(dw::DW_AT_const_value);
            if has_value || !compare.described.module.is_static_member(id) {
                compare.pending.place(id, entry, instance);
            }
            if has_value && entry.has(dw::DW_AT_location) {
                let site = compare.described.site(entity);
                compare.report.find(FindingKind::Attribute, site, "a location or a value", "both");
            }
            if has_value {
                check_whole_value(compare, id, entry);
            }
        }
        Entity::Call(id) => compare.pending.calls.push((id, entry)),
        _ => {}
    }
}

/// Compares an entity's entry; the entity locates findings. The types that the entry refers to are compared now,
/// other entities after all entries are known.
pub(super) fn compare_node<'a, 'o>(
    compare: &mut Compare<'a, 'o>,
    node: &Node<'a>,
    entry: Entry<'a, 'o>,
    owner: Entity,
) {
    let mut compared = Compared::default();
    compared.compare(compare.file.reader(compare.described, compare.described.unit_of(owner)), node, entry);
    let Compared { differences, references, numbers, unexpected, errors } = compared;
    for error in errors {
        compare.report.unreadable(compare.described.object, &error, compare.described.site(owner));
    }
    for (kind, (expected, found)) in differences {
        compare.report.find(kind, compare.described.site(owner), expected, found);
    }
    for child in unexpected {
        report_unexpected(&mut compare.report, compare.described, child, compare.described.site(owner));
    }
    for reference in references {
        match reference.entity {
            Entity::Type(id) => compare_type(compare, id, reference.found, owner),
            _ => compare.pending.refer(owner, reference),
        }
    }
    compare.pending.numbers.extend(numbers.into_iter().map(|(number, entry)| (owner, number, entry)));
    let described = compare.described;
    check_offset_forms(compare, entry, || described.site(owner));
}

/// Reports a section offset with the form of a constant.
pub(super) fn check_offset_forms<'o>(
    compare: &mut Compare<'_, 'o>,
    entry: Entry<'_, 'o>,
    site: impl FnOnce() -> At,
) {
    if let Some((name, form)) = *compare.constants.of(entry, || constant_offset(entry)) {
        let expected = format!("{name} with the form of a section offset");
        compare.report.find(FindingKind::Attribute, site(), expected, form.to_string());
    }
}

/// Returns the first attribute whose value is read as a section offset, but has the form of a constant. Before DWARF 4,
/// offsets have these forms: DWARF 5 section 7.5.5, and its list of changes from DWARF 3. Some readers accept them
/// later, and others take the value as a number.
fn constant_offset(entry: Entry<'_, '_>) -> Option<(DwAt, DwForm)> {
    let is_constant = |attribute: &Attribute<'_>| {
        matches!(attribute.form, dw::DW_FORM_data4 | dw::DW_FORM_data8)
            && matches!(
                attribute.value,
                ResolvedValue::LineProgram(_)
                    | ResolvedValue::LocList(_)
                    | ResolvedValue::RngList(_)
                    | ResolvedValue::Offset(_)
            )
    };
    let mut attributes = entry.attributes().filter(|_| entry.unit().encoding.version >= 4);
    attributes.find(is_constant).map(|attribute| (attribute.name, attribute.form))
}

/// Reports a number in fewer bytes than its type has: some readers extend its sign and others do not. DWARF 5 section
/// 7.5.5.
fn check_whole_value<'a, 'o>(compare: &mut Compare<'a, 'o>, id: VariableId, entry: Entry<'a, 'o>) {
    let is_value = |attribute: &Attribute<'_>| attribute.name == dw::DW_AT_const_value;
    let Some(value) = entry.attributes().find(is_value) else { return };
    let bits = match value.form {
        dw::DW_FORM_data1 => 8,
        dw::DW_FORM_data2 => 16,
        dw::DW_FORM_data4 => 32,
        _ => return,
    };
    let needs =
        compare.described.module.ty(compare.described.module.variable(id).ty).value_bits().unwrap_or(0);
    if bits < needs {
        let expected = format!("a value of {needs}", needs = Count(needs, "bit"));
        let site = compare.described.site(Entity::Variable(id));
        compare.report.find(FindingKind::Attribute, site, expected, Count(bits, "bit").to_string());
    }
}

/// Returns whether such entries are compared separately: types at their uses or at the end; procedures after all
/// their callers are known; parts with their owner.
fn is_compared_apart(entry: Entry<'_, '_>, parent: DwTag) -> bool {
    match entry.tag() {
        dw::DW_TAG_dwarf_procedure => parent == dw::DW_TAG_compile_unit,
        _ => is_type(entry) || is_part(entry, parent),
    }
}
