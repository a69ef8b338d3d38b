//! Scopes and their entities. Entries match by tag and name, and are compared one by one.

use std::borrow::Cow;

use gimli::{DwTag, constants as dw};

use super::compare::Compare;
use super::report::Kind;
use super::tree::{Compared, Entity, Node, is_part, is_type};
use crate::error::{At, Count};
use crate::model::{FunctionId, ScopeId, ScopeKind, VariableId};
use crate::read::{Attribute, Entry};

/// Children of an entry, sorted by tag and name, and by whether they have code; those of equal ones are in order.
struct Children<'a, 'o>(Vec<Child<'a, 'o>>);

struct Child<'a, 'o> {
    key: (u16, Cow<'a, str>, bool),
    entry: Entry<'a, 'o>,
    /// Number of entries taken of this key, at the first of them.
    taken: usize,
}

impl<'a, 'o> Children<'a, 'o> {
    fn new(entry: Entry<'a, 'o>) -> Self {
        let (parent, mut children) = (entry.tag(), Vec::new());
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
        children.sort_by(|one, other| one.key.cmp(&other.key));
        Self(children)
    }

    /// Takes the next entry of a tag and name. Entries of one name are in the order of the module.
    fn take(&mut self, tag: DwTag, name: &str, is_placed: bool) -> Option<Entry<'a, 'o>> {
        let key = (tag.0, Cow::Borrowed(name), is_placed);
        let first = self.0.partition_point(|child| child.key < key);
        let next = first + self.0.get(first)?.taken;
        let entry = self.0.get(next).filter(|child| child.key == key)?.entry;
        self.0[first].taken += 1;
        Some(entry)
    }

    /// Returns the entries that are left, in the order of the file.
    fn rest(&self) -> Vec<Entry<'a, 'o>> {
        let same = self.0.chunk_by(|one, other| one.key == other.key);
        let rest = same.flat_map(|same| same.iter().skip(same.first().map_or(0, |first| first.taken)));
        let mut rest: Vec<_> = rest.map(|child| child.entry).collect();
        rest.sort_unstable_by_key(|entry| entry.index());
        rest
    }
}

/// Scope, its entry, and the function whose code the entry describes: `None` in an abstract instance.
type Inside<'a, 'o> = (ScopeId, Entry<'a, 'o>, Option<FunctionId>);

impl<'a, 'o> Compare<'a, 'o> {
    /// Compares the entities in a scope, and in the scopes within it, with the children of an entry.
    ///
    /// Inner scopes are in a list, so that the depth of scopes does not affect the depth of recursion.
    pub(super) fn scope(&mut self, scope: ScopeId, entry: Entry<'a, 'o>) {
        let mut waiting = Vec::from([(scope, entry, None)]);
        while let Some(next) = waiting.pop() {
            let inner = self.inside(next);
            waiting.extend(inner.into_iter().rev());
        }
    }

    /// Compares the entities directly in a scope. Returns the scopes in it.
    fn inside(&mut self, (scope, around, instance): Inside<'a, 'o>) -> Vec<Inside<'a, 'o>> {
        self.known.add_scope(scope, around);
        let mut inner = Vec::new();
        let mut children = Children::new(around);
        let mut last_parameter = 0;
        for entity in self.described.inside(scope, instance) {
            let (is_placed, instance) = match entity {
                Entity::Function(id) => {
                    let has_code = !self.described.index.inlined[id]
                        && self.described.module.function(id).address.is_some();
                    (has_code, has_code.then_some(id))
                }
                Entity::Instance(id) => (true, Some(id)),
                _ => (false, instance),
            };
            let node = self.described.node(entity, instance);
            let Some(entry) = children.take(node.tag, node.name, is_placed) else {
                let is_function = node.tag == dw::DW_TAG_subprogram;
                let code = if is_function && !is_placed { " without code" } else { "" };
                let expected = format!("{}{code}", node.called());
                self.report.find(Kind::MissingEntry, self.described.at(entity), expected, "none");
                continue;
            };
            self.report.entries += 1;
            // A debugger passes arguments in the order of the entries.
            if matches!(node.tag, dw::DW_TAG_formal_parameter | dw::DW_TAG_unspecified_parameters) {
                if entry.index() < last_parameter {
                    let at = self.described.at(entity);
                    self.report.find(Kind::Attribute, at, "parameters in order", "another order");
                }
                last_parameter = entry.index();
            }
            self.entity(entity, &node, entry, instance);
            inner.extend(self.scope_of(entity).map(|scope| (scope, entry, instance)));
        }
        for child in children.rest() {
            self.report.unexpected(self.described, child, self.described.at(Entity::Inside(scope)));
        }
        inner
    }

    /// Scope of an entity, if it has one.
    fn scope_of(&self, entity: Entity) -> Option<ScopeId> {
        match entity {
            Entity::Scope(id) => Some(id),
            Entity::Function(id) | Entity::Instance(id) => Some(self.described.module.function(id).scope),
            _ => None,
        }
    }

    /// Compares an entity with its entry, and adds the comparisons that depend on other entries.
    fn entity(
        &mut self,
        entity: Entity,
        node: &Node<'a>,
        entry: Entry<'a, 'o>,
        instance: Option<FunctionId>,
    ) {
        // The other instances of a block refer to its entry in the abstract instance.
        let is_origin = match entity {
            Entity::Scope(id) => {
                instance.is_none()
                    || matches!(self.described.module.scope(id).kind, ScopeKind::Namespace { .. })
            }
            _ => true,
        };
        if is_origin {
            self.known.add(entity, entry);
        }
        self.node(node, entry, entity);
        match entity {
            Entity::Scope(id) => {
                let is_code = matches!(self.described.module.scope(id).kind, ScopeKind::Inlined { .. })
                    && instance.is_some();
                self.pending.lanes.extend(is_code.then_some((id, entry)));
            }
            Entity::Function(id) | Entity::Instance(id) if instance.is_some() => {
                if let Err(error) = super::code::is_there(self.described.module, self.described.object, id) {
                    let at = At { section: error.at().section.clone(), ..self.described.at(entity) };
                    self.report.find(Kind::Code, at, "code that is in the object", error.kind().to_string());
                }
                self.pending.frames.push((id, entry));
                self.pending.lanes.push((self.described.module.function(id).scope, entry));
            }
            Entity::Abstract(id) if self.described.module.is_placed_without_code(id) => {
                self.pending.place(id, entry, None);
            }
            Entity::Variable(id) => {
                // The entry of a static member has no location, and only sometimes a value.
                let has_value = entry.has(dw::DW_AT_const_value);
                if has_value || !self.described.module.is_static_member(id) {
                    self.pending.place(id, entry, instance);
                }
                if has_value && entry.has(dw::DW_AT_location) {
                    let at = self.described.at(entity);
                    self.report.find(Kind::Attribute, at, "a location or a value", "both");
                }
                if has_value {
                    self.whole_value(id, entry);
                }
            }
            Entity::Call(id) => self.pending.calls.push((id, entry)),
            _ => {}
        }
    }

    /// Compares an entry of an entity, which locates findings. The types that the entry refers to are compared now,
    /// other entities after all entries are known.
    pub(super) fn node(&mut self, node: &Node<'a>, entry: Entry<'a, 'o>, of: Entity) {
        let mut compared = Compared::default();
        compared.compare(self.file.reader(self.described, self.described.unit_of(of)), node, entry);
        let Compared { differences, references, numbers, unexpected, errors } = compared;
        for error in errors {
            self.report.unreadable(self.described.object, &error, self.described.at(of));
        }
        for (kind, (expected, found)) in differences {
            self.report.find(kind, self.described.at(of), expected, found);
        }
        for child in unexpected {
            self.report.unexpected(self.described, child, self.described.at(of));
        }
        for one in references {
            match one.entity {
                Entity::Type(id) => self.ty(id, one.found, of),
                _ => self.pending.refer(of, one),
            }
        }
        self.pending.numbers.extend(numbers.into_iter().map(|(number, entry)| (of, number, entry)));
    }

    /// Reports a number in fewer bytes than its type has: some readers extend its sign and some do not. DWARF 5
    /// section 7.5.5.
    fn whole_value(&mut self, id: VariableId, entry: Entry<'a, 'o>) {
        let is_value = |attribute: &Attribute<'_>| attribute.name == dw::DW_AT_const_value;
        let Some(value) = entry.attributes().find(is_value) else { return };
        let bits = match value.form {
            dw::DW_FORM_data1 => 8,
            dw::DW_FORM_data2 => 16,
            dw::DW_FORM_data4 => 32,
            _ => return,
        };
        let needs = self.described.module.ty(self.described.module.variable(id).ty).value_bits().unwrap_or(0);
        if bits < needs {
            let expected = format!("a value of {needs}", needs = Count(needs, "bit"));
            let at = self.described.at(Entity::Variable(id));
            self.report.find(Kind::Attribute, at, expected, Count(bits, "bit").to_string());
        }
    }
}

/// Returns whether entries of this kind are compared separately: types at their uses or at the end; procedures after
/// all their callers are known; parts with their owner.
fn is_compared_apart(entry: Entry<'_, '_>, parent: DwTag) -> bool {
    match entry.tag() {
        dw::DW_TAG_dwarf_procedure => parent == dw::DW_TAG_compile_unit,
        tag => is_type(tag) || is_part(entry, parent),
    }
}
