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

impl Entry<'_, '_> {
    /// Returns the definition of the type that this entry is, or declares. `None` if the file has none.
    ///
    /// * A type that is not a declaration is its own definition.
    /// * A declaration with `DW_AT_signature` is defined in the type unit with this signature; [`ty`](Self::ty),
    ///   [`unqualified`](Self::unqualified), [`name`](Self::name) and [`size_bits`](Self::size_bits) look there
    ///   themselves. [`children`](Self::children) are those in the tree: a declaration's are the members that its unit
    ///   refers to.
    /// * Any other declaration of a structure, class, union or enumeration is defined by the entry whose
    ///   `DW_AT_specification` it is, or by the type that has the same name in the same namespaces and classes, in any
    ///   unit. C allows different types with a name in different units: if definitions differ in their size or members,
    ///   the declaration can mean each, and the result is `None`. So it is for types in functions and in unnamed
    ///   namespaces, which no other unit can define.
    ///
    /// The first call for the third kind makes an index, in one pass over all entries.
    pub fn definition(self) -> Option<Self> {
        if let Some(definition) = self.signed() {
            return Some(definition);
        }
        if !self.has(dw::DW_AT_declaration) {
            return Some(self);
        }
        let definitions = self.dwarf.definitions.get_or_init(|| Definitions::read(self.dwarf));
        self.dwarf.entry_with_index(definitions.find(self)? as usize)
    }

    /// Returns the type with the signature that a declaration has. DWARF 5 section 5.7.1.
    pub(super) fn signed(self) -> Option<Self> {
        if self.has(dw::DW_AT_signature) { self.reference(dw::DW_AT_signature) } else { None }
    }
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
