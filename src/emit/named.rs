//! Which entries a reader may look up by name: DWARF 5 section 6.1.1.1, DWARF 4 section 6.1.1.

use gimli::{DwAt, DwTag, constants as dw};
use hashbrown::HashMap;

use super::info::EntryRef;

/// What an entry is, to who looks it up.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum NamedKind {
    Code,
    Data,
    Type,
    Namespace,
}

/// An entry that is looked up by name.
#[derive(Debug, Clone, Copy)]
pub(crate) struct NamedEntry {
    /// The number of its name; `None` for a namespace without one.
    pub(crate) name: Option<u32>,
    /// The number of the name that the linker knows, if that is another.
    pub(crate) linkage_name: Option<u32>,
    pub(crate) kind: NamedKind,
    pub(crate) tag: DwTag,
    /// Bytes from the start of its unit.
    pub(crate) offset: u32,
    /// The entry around it, if that is looked up too.
    pub(crate) parent: Option<u32>,
    /// The scope that it is declared in, if that has a name.
    pub(crate) around: Option<u32>,
    /// Whether it is seen outside of its unit.
    pub(crate) is_external: bool,
    /// Whether it is in no function.
    pub(crate) is_global: bool,
}

/// What is part of the full names of what is in it: a namespace or a type.
#[derive(Debug, Clone, Copy)]
pub(crate) struct NamedScope {
    /// The number of its name; `None` for a namespace without one.
    pub(crate) name: Option<u32>,
    /// The next one around it.
    pub(crate) around: Option<u32>,
}

/// The entries of a unit that are looked up by name.
#[derive(Debug, Default)]
pub(crate) struct NamedEntries {
    pub(crate) all: Vec<NamedEntry>,
    pub(crate) scopes: Vec<NamedScope>,
}

/// The same as they come.
#[derive(Debug, Default)]
pub(crate) struct Named {
    pub(crate) entries: NamedEntries,
    /// The entries around the one that comes.
    open: Vec<Open>,
    /// Names of entries that others may be instances or definitions of.
    names: HashMap<u32, Names>,
    /// Entries that are instances or definitions, and what they say themselves.
    instances: Vec<(u32, Names)>,
    is: Option<EntryRef>,
    current: Names,
    /// Whether the entry's location has an address in it.
    pub(crate) has_address: bool,
}

/// An entry around others.
#[derive(Debug, Clone, Copy)]
struct Open {
    /// Its place among those that are looked up.
    index: Option<u32>,
    /// The scope that others are in.
    scope: Option<u32>,
    is_function: bool,
}

/// What an entry says of its names.
#[derive(Debug, Clone, Copy, Default)]
struct Names {
    name: Option<u32>,
    linkage_name: Option<u32>,
    is_external: bool,
    /// The scope around it.
    around: Option<u32>,
    /// What it is an instance or the definition of. That can come later.
    origin: Option<u32>,
}

/// How many instances of instances there are: an end for those that go round in circles.
const MOST_STEPS: usize = 8;

impl Named {
    pub(crate) fn begin(&mut self, is: Option<EntryRef>) {
        self.is = is;
        self.current = Names::default();
        self.has_address = false;
    }

    /// A string of the entry.
    pub(crate) fn string(&mut self, at: DwAt, number: u32) {
        match at {
            dw::DW_AT_name => self.current.name = Some(number),
            dw::DW_AT_linkage_name | dw::DW_AT_MIPS_linkage_name => {
                self.current.linkage_name = Some(number);
            }
            _ => {}
        }
    }

    /// A reference of the entry: it has the names of what it is an instance or the definition of.
    pub(crate) fn reference(&mut self, at: DwAt, to: EntryRef) {
        if let dw::DW_AT_abstract_origin | dw::DW_AT_specification = at {
            self.current.origin = Some(to.0);
        }
    }

    /// Ends the attributes of an entry, which are told.
    pub(crate) fn end(&mut self, tag: DwTag, has_children: bool, has: impl Fn(DwAt) -> bool, offset: u32) {
        let within = self.open.last().copied();
        self.current.is_external = has(dw::DW_AT_external);
        self.current.around = within.and_then(|within| within.scope);
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
            dw::DW_TAG_variable => self.has_address.then_some(NamedKind::Data),
            // It has no address, but is found as a variable is.
            dw::DW_TAG_constant => Some(NamedKind::Data),
            _ => is_type(tag).then_some(NamedKind::Type),
        };
        let index = kind.map(|kind| {
            let all = &mut self.entries.all;
            if origin.is_some() {
                self.instances.push((all.len() as u32, self.current));
            }
            let parent = within.and_then(|within| within.index);
            let is_global = !within.is_some_and(|within| within.is_function);
            let linkage_name = linkage_name.filter(|_| kind == NamedKind::Code);
            all.push(NamedEntry {
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
            all.len() as u32 - 1
        });
        if has_children {
            let is_function = tag == dw::DW_TAG_subprogram || within.is_some_and(|within| within.is_function);
            // The unit's name is part of no other.
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

    /// The entries, when all are known.
    pub(crate) fn finish(self) -> NamedEntries {
        let Self { mut entries, names, instances, .. } = self;
        let mut without_name = false;
        for (index, mut found) in instances {
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
    /// Takes out entries without a name that are no namespaces.
    fn keep_named(&mut self) {
        let mut places = Vec::with_capacity(self.all.len());
        let mut kept = 0;
        for at in 0..self.all.len() {
            let mut entry = self.all[at];
            let is_kept = entry.name.is_some() || entry.kind == NamedKind::Namespace;
            places.push(is_kept.then_some(kept));
            if is_kept {
                entry.parent = entry.parent.and_then(|parent: u32| places[parent as usize]);
                self.all[kept as usize] = entry;
                kept += 1;
            }
        }
        self.all.truncate(kept as usize);
    }
}

fn is_type(tag: DwTag) -> bool {
    matches!(
        tag,
        dw::DW_TAG_array_type
            | dw::DW_TAG_class_type
            | dw::DW_TAG_enumeration_type
            | dw::DW_TAG_pointer_type
            | dw::DW_TAG_reference_type
            | dw::DW_TAG_structure_type
            | dw::DW_TAG_subroutine_type
            | dw::DW_TAG_typedef
            | dw::DW_TAG_union_type
            | dw::DW_TAG_ptr_to_member_type
            | dw::DW_TAG_subrange_type
            | dw::DW_TAG_base_type
            | dw::DW_TAG_unspecified_type
            | dw::DW_TAG_rvalue_reference_type
            | dw::DW_TAG_template_alias
    )
}
