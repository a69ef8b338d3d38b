//! Entries that a reader can look up by name: DWARF 5 section 6.1.1.1, DWARF 4 section 6.1.1.

use gimli::{DwAt, DwChildren, DwTag, constants as dw};
use hashbrown::HashMap;

use crate::tags::is_type;

/// Reference to a unit's entry, valid before the entry has an offset. The caller chooses the number, below the `count`
/// given to `Info::new`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct EntryRef(pub(crate) u32);

/// What an entry in a name table names.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum NamedKind {
    Code,
    Data,
    Type,
    Namespace,
}

/// An entry in a name table.
#[derive(Debug, Clone, Copy)]
pub(crate) struct NamedEntry {
    /// The name's number; `None` for a namespace without one.
    pub(crate) name: Option<u32>,
    /// The linkage name's number, if the name differs from it.
    pub(crate) linkage_name: Option<u32>,
    pub(crate) kind: NamedKind,
    pub(crate) tag: DwTag,
    /// Offset from the start of the unit, in bytes.
    pub(crate) offset: u32,
    /// The parent entry's index, if the parent is in the table too.
    pub(crate) parent: Option<u32>,
    /// Index of the named scope that declares the entry.
    pub(crate) around: Option<u32>,
    /// Whether other units can refer to the entry: `DW_AT_external`.
    pub(crate) is_external: bool,
    /// Whether the entry is outside all functions.
    pub(crate) is_global: bool,
}

/// A named scope: a namespace or a type, whose name qualifies the names of its members.
#[derive(Debug, Clone, Copy)]
pub(crate) struct NamedScope {
    /// The name's number; `None` for a namespace without one.
    pub(crate) name: Option<u32>,
    /// The enclosing scope's index.
    pub(crate) around: Option<u32>,
}

/// A unit's entries that can be looked up by name.
#[derive(Debug, Default)]
pub(crate) struct NamedEntries {
    pub(crate) all: Vec<NamedEntry>,
    pub(crate) scopes: Vec<NamedScope>,
}

/// Collects named entries while the unit is written.
#[derive(Debug, Default)]
pub(crate) struct Named {
    pub(crate) entries: NamedEntries,
    /// The entries that enclose the next entry.
    open: Vec<Open>,
    /// Names of entries that other entries may refer to as their origin or declaration.
    names: HashMap<u32, Names>,
    /// Entries that have an origin or a declaration, and their own names.
    instances: Vec<(u32, Names)>,
    is: Option<EntryRef>,
    current: Names,
    /// Names of the declaration in another unit that the current entry completes.
    declaration: Option<Names>,
    /// Whether the entry's location contains an address.
    pub(crate) has_address: bool,
}

/// An enclosing entry.
#[derive(Debug, Clone, Copy)]
struct Open {
    /// Index in the table, if the entry is in the table.
    index: Option<u32>,
    /// Index of the scope that qualifies the children's names.
    scope: Option<u32>,
    is_function: bool,
}

/// An entry's name attributes.
#[derive(Debug, Clone, Copy, Default)]
struct Names {
    name: Option<u32>,
    linkage_name: Option<u32>,
    is_external: bool,
    /// The enclosing scope's index.
    around: Option<u32>,
    /// The entry's `DW_AT_abstract_origin` or `DW_AT_specification`, which can be a forward reference.
    origin: Option<u32>,
}

/// Limit for origin chains, which ends cycles.
const MOST_STEPS: usize = 8;

impl Named {
    pub(crate) fn begin(&mut self, is: Option<EntryRef>) {
        self.is = is;
        self.current = Names::default();
        self.declaration = None;
        self.has_address = false;
    }

    /// Records that the current entry completes a declaration in another unit: its names, whether other units can refer to
    /// it, and the names of the scopes around it, the outermost first.
    pub(crate) fn completes(
        &mut self,
        [name, linkage_name]: [Option<u32>; 2],
        is_external: bool,
        scopes: impl IntoIterator<Item = Option<u32>>,
    ) {
        let mut around = None;
        for name in scopes {
            self.entries.scopes.push(NamedScope { name, around });
            around = Some(self.entries.scopes.len() as u32 - 1);
        }
        self.declaration = Some(Names { name, linkage_name, is_external, around, origin: None });
    }

    /// Records a string attribute in the current entry.
    pub(crate) fn string(&mut self, at: DwAt, number: u32) {
        match at {
            dw::DW_AT_name => self.current.name = Some(number),
            dw::DW_AT_linkage_name | dw::DW_AT_MIPS_linkage_name => {
                self.current.linkage_name = Some(number);
            }
            _ => {}
        }
    }

    /// Records a reference attribute in the current entry: an origin or declaration provides the names.
    pub(crate) fn reference(&mut self, at: DwAt, to: EntryRef) {
        if let dw::DW_AT_abstract_origin | dw::DW_AT_specification = at {
            self.current.origin = Some(to.0);
        }
    }

    /// Ends an entry's attributes. `has` returns whether the entry has an attribute.
    pub(crate) fn end(&mut self, tag: DwTag, children: DwChildren, has: impl Fn(DwAt) -> bool, offset: u32) {
        let within = self.open.last().copied();
        self.current.is_external = has(dw::DW_AT_external);
        self.current.around = within.and_then(|within| within.scope);
        if let Some(declaration) = self.declaration.take() {
            let Names { name, linkage_name, is_external, around, .. } = declaration;
            let current = &mut self.current;
            current.name = current.name.or(name);
            current.linkage_name = current.linkage_name.or(linkage_name);
            current.is_external |= is_external;
            current.around = around;
        }
        let Names { name, linkage_name, is_external, around, origin } = self.current;
        if let Some(EntryRef(number)) = self.is {
            self.names.insert(number, self.current);
        }
        let has_code = || [dw::DW_AT_low_pc, dw::DW_AT_ranges, dw::DW_AT_entry_pc].into_iter().any(&has);
        let kind = match tag {
            dw::DW_TAG_namespace => Some(NamedKind::Namespace),
            _ if name.or(origin).is_none() || has(dw::DW_AT_declaration) => None,
            dw::DW_TAG_subprogram | dw::DW_TAG_inlined_subroutine | dw::DW_TAG_label => {
                has_code().then_some(NamedKind::Code)
            }
            // Only variables at a static address belong in the tables.
            dw::DW_TAG_variable => self.has_address.then_some(NamedKind::Data),
            // A constant has no address, but is looked up like a variable.
            dw::DW_TAG_constant => Some(NamedKind::Data),
            _ => is_type(tag).then_some(NamedKind::Type),
        };
        let index = kind.map(|kind| {
            let entries = &mut self.entries.all;
            // The origin may come later in the unit, so its names are added at the end.
            if origin.is_some() {
                self.instances.push((entries.len() as u32, self.current));
            }
            let parent = within.and_then(|within| within.index);
            let is_global = !within.is_some_and(|within| within.is_function);
            let linkage_name = linkage_name.filter(|_| kind == NamedKind::Code);
            entries.push(NamedEntry {
                name,
                linkage_name,
                kind,
                tag,
                offset,
                parent,
                around,
                is_external,
                is_global,
            });
            entries.len() as u32 - 1
        });
        if children == dw::DW_CHILDREN_yes {
            let is_function = tag == dw::DW_TAG_subprogram || within.is_some_and(|within| within.is_function);
            // The unit's name does not qualify other names.
            let is_scope = within.is_some() && !is_function;
            let scope = if is_scope && (name.is_some() || tag == dw::DW_TAG_namespace) {
                self.entries.scopes.push(NamedScope { name, around });
                Some(self.entries.scopes.len() as u32 - 1)
            } else {
                around
            };
            self.open.push(Open { index, scope, is_function });
        }
    }

    pub(crate) fn end_children(&mut self) {
        self.open.pop();
    }

    /// The entries, after the end of the unit.
    pub(crate) fn finish(self) -> NamedEntries {
        let Self { mut entries, names, instances, .. } = self;
        let mut without_name = false;
        for (index, mut found) in instances {
            // An origin can itself have an origin, such as a declaration.
            for _ in 0..MOST_STEPS {
                let Some(origin) = found.origin.and_then(|origin| names.get(&origin)) else { break };
                found = Names {
                    name: found.name.or(origin.name),
                    linkage_name: found.linkage_name.or(origin.linkage_name),
                    is_external: found.is_external || origin.is_external,
                    ..*origin
                };
            }
            let Names { name, linkage_name, is_external, around, .. } = found;
            let entry = &mut entries.all[index as usize];
            let linkage_name = linkage_name.filter(|_| entry.kind == NamedKind::Code);
            *entry = NamedEntry { name, linkage_name, is_external, around, ..*entry };
            without_name |= name.is_none();
        }
        if without_name {
            entries.keep_named();
        }
        entries
    }
}

impl NamedEntries {
    /// Removes entries without a name, except namespaces.
    fn keep_named(&mut self) {
        let mut places = Vec::with_capacity(self.all.len());
        let mut kept = 0;
        for at in 0..self.all.len() {
            let mut entry = self.all[at];
            let is_kept = entry.name.is_some() || entry.kind == NamedKind::Namespace;
            places.push(is_kept.then_some(kept));
            if is_kept {
                // A parent precedes its children, so its new index is known.
                entry.parent = entry.parent.and_then(|parent: u32| places[parent as usize]);
                self.all[kept as usize] = entry;
                kept += 1;
            }
        }
        self.all.truncate(kept as usize);
    }
}
