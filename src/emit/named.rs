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
    /// Whether it is seen outside of its unit.
    pub(crate) is_external: bool,
    /// Whether it is in no function.
    pub(crate) is_global: bool,
}

/// The entries of a unit that are looked up by name, as they come.
#[derive(Debug, Default)]
pub(crate) struct Named {
    pub(crate) all: Vec<NamedEntry>,
    /// The entries around the one that comes: which of `all` each is, and whether it is a function.
    open: Vec<(Option<u32>, bool)>,
    /// Names of entries that others are instances or definitions of.
    names: HashMap<u32, Names>,
    is: Option<EntryRef>,
    current: Names,
    /// Whether the entry's location has an address in it.
    pub(crate) has_address: bool,
}

#[derive(Debug, Clone, Copy, Default)]
struct Names {
    name: Option<u32>,
    linkage_name: Option<u32>,
    is_external: bool,
}

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
        if let (dw::DW_AT_abstract_origin | dw::DW_AT_specification, Some(origin)) =
            (at, self.names.get(&to.0))
        {
            let own = self.current;
            self.current = Names {
                name: own.name.or(origin.name),
                linkage_name: own.linkage_name.or(origin.linkage_name),
                is_external: origin.is_external,
            };
        }
    }

    /// Ends the attributes of an entry, which are told.
    pub(crate) fn end(&mut self, tag: DwTag, has_children: bool, has: impl Fn(DwAt) -> bool, offset: u32) {
        self.current.is_external |= has(dw::DW_AT_external);
        let Names { name, linkage_name, is_external } = self.current;
        if let Some(EntryRef(number)) = self.is {
            self.names.insert(number, self.current);
        }
        let has_code = || [dw::DW_AT_low_pc, dw::DW_AT_ranges, dw::DW_AT_entry_pc].into_iter().any(&has);
        let kind = match tag {
            dw::DW_TAG_namespace => Some(NamedKind::Namespace),
            _ if name.is_none() || has(dw::DW_AT_declaration) => None,
            dw::DW_TAG_subprogram | dw::DW_TAG_inlined_subroutine | dw::DW_TAG_label => {
                has_code().then_some(NamedKind::Code)
            }
            dw::DW_TAG_variable => self.has_address.then_some(NamedKind::Data),
            // It has no address, but is found as a variable is.
            dw::DW_TAG_constant => Some(NamedKind::Data),
            _ => is_type(tag).then_some(NamedKind::Type),
        };
        let index = kind.map(|kind| {
            let parent = self.open.last().and_then(|&(parent, _)| parent);
            let is_global = !self.open.iter().any(|&(_, is_function)| is_function);
            let linkage_name = linkage_name.filter(|_| kind == NamedKind::Code);
            self.all.push(NamedEntry {
                name,
                linkage_name,
                kind,
                tag,
                offset,
                parent,
                is_external,
                is_global,
            });
            self.all.len() as u32 - 1
        });
        if has_children {
            self.open.push((index, tag == dw::DW_TAG_subprogram));
        }
    }

    pub(crate) fn end_children(&mut self) {
        self.open.pop();
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
