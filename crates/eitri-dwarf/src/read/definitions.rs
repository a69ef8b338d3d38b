//! Definitions of types that are only declared: in a type unit, or in another unit of the file.

use std::hash::{BuildHasher, Hash, Hasher};

use gimli::{DwTag, constants as dw};
use hashbrown::{DefaultHashBuilder, HashMap};

use super::dwarf::Dwarf;
use super::entry::Entry;

/// Maximum number of scopes around a type, and of references to its declaration, because references can be cyclic.
const MOST_STEPS: usize = 16;

/// The types that a file defines, for their declarations; collected at the first request.
#[derive(Debug, Clone)]
pub(super) struct Definitions {
    /// Index of the entry that completes a declaration, by the offset of the declaration.
    by_declaration: HashMap<u64, u32>,
    by_name: HashMap<(DwTag, String), Definition>,
}

/// A definition of a name.
#[derive(Debug, Clone)]
struct Definition {
    /// Entry index of the first definition.
    first: u32,
    /// Hash of size and members.
    layout: u64,
    /// Whether all definitions with the name have this layout.
    agrees: bool,
}

impl Definitions {
    fn read(dwarf: &Dwarf<'_>) -> Self {
        let hasher = DefaultHashBuilder::default();
        let mut definitions = Self { by_declaration: HashMap::new(), by_name: HashMap::new() };
        for entry in dwarf.entries() {
            crate::work::step();
            let Some(kind) = kind(entry.tag()).filter(|_| !entry.has(dw::DW_AT_declaration)) else {
                continue;
            };
            if let Some(declaration) = entry.reference(dw::DW_AT_specification) {
                definitions.by_declaration.entry(declaration.offset()).or_insert(entry.index);
            }
            if entry.has(dw::DW_AT_signature) {
                continue;
            }
            let Some(name) = scoped_name(entry) else { continue };
            let layout = layout(entry, &hasher);
            let new = Definition { first: entry.index, layout, agrees: true };
            let known = definitions.by_name.entry((kind, name)).or_insert(new);
            known.agrees &= known.layout == layout;
        }
        definitions
    }

    /// Returns the index of the entry that completes a declaration.
    fn find(&self, declaration: Entry<'_, '_>) -> Option<u32> {
        if let Some(&index) = self.by_declaration.get(&declaration.offset()) {
            return Some(index);
        }
        let key = (kind(declaration.tag())?, scoped_name(declaration)?);
        self.by_name.get(&key).filter(|definition| definition.agrees).map(|definition| definition.first)
    }
}

/// Returns the type of a file that completes a declaration.
pub(super) fn completing<'r, 'o>(declaration: Entry<'r, 'o>) -> Option<Entry<'r, 'o>> {
    let dwarf = declaration.dwarf;
    let definitions = dwarf.definitions.get_or_init(|| Definitions::read(dwarf));
    dwarf.entry_with_index(definitions.find(declaration)? as usize)
}

/// Returns the tag under which a type is looked up: structures and classes are declared as each other.
fn kind(tag: DwTag) -> Option<DwTag> {
    match tag {
        dw::DW_TAG_structure_type | dw::DW_TAG_class_type => Some(dw::DW_TAG_structure_type),
        dw::DW_TAG_union_type | dw::DW_TAG_enumeration_type => Some(tag),
        _ => None,
    }
}

/// Returns the type's name after those of the namespaces and classes around it. `None` if other units cannot refer to it.
fn scoped_name(ty: Entry<'_, '_>) -> Option<String> {
    let mut name = ty.name()?.into_owned();
    let mut inner = ty;
    for _ in 0..MOST_STEPS {
        while let Some(declaration) = inner.reference(dw::DW_AT_specification) {
            // A declaration completes nothing itself.
            if declaration.has(dw::DW_AT_specification) {
                return None;
            }
            inner = declaration;
        }
        let Some(outer) = inner.parent() else { return Some(name) };
        match outer.tag() {
            dw::DW_TAG_compile_unit
            | dw::DW_TAG_partial_unit
            | dw::DW_TAG_type_unit
            | dw::DW_TAG_skeleton_unit => return Some(name),
            dw::DW_TAG_namespace
            | dw::DW_TAG_module
            | dw::DW_TAG_structure_type
            | dw::DW_TAG_class_type
            | dw::DW_TAG_union_type => name = format!("{}::{name}", outer.name()?),
            _ => return None,
        }
        inner = outer;
    }
    None
}

/// Returns a hash of a type's size, and of its members' names, locations and sizes.
fn layout(ty: Entry<'_, '_>, hasher: &DefaultHashBuilder) -> u64 {
    let mut state = hasher.build_hasher();
    ty.number(dw::DW_AT_byte_size).hash(&mut state);
    for member in ty.children() {
        crate::work::step();
        if matches!(member.tag(), dw::DW_TAG_member | dw::DW_TAG_enumerator | dw::DW_TAG_inheritance) {
            member.name().hash(&mut state);
            let values = [
                dw::DW_AT_data_member_location,
                dw::DW_AT_data_bit_offset,
                dw::DW_AT_bit_size,
                dw::DW_AT_const_value,
            ];
            values.map(|name| member.number(name)).hash(&mut state);
            let ty = member.ty().and_then(Entry::unqualified);
            ty.map(|ty| (ty.tag().0, ty.size_bits())).hash(&mut state);
        }
    }
    state.finish()
}
