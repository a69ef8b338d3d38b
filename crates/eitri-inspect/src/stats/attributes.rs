//! The entry attributes that stats counts.

use std::cell::Cell;

use gimli::{DwAt, DwTag, constants as dw};
use smallvec::SmallVec;

use eitri_dwarf::read::{self, Entry, ResolvedValue, Str};

/// The attributes in an abbreviation that stats counts.
#[derive(Debug)]
pub(super) struct Shape {
    pub(super) tag: DwTag,
    pub(super) is_declaration: bool,
    pub(super) is_artificial: bool,
    pub(super) is_inline: bool,
    pub(super) has_call: bool,
    pub(super) has_location: bool,
    pub(super) has_value: bool,
    pub(super) has_origin: bool,
    /// Whether the entry inherits attributes from an abstract instance or a declaration.
    pub(super) inherits: bool,
    pub(super) has_source: bool,
    pub(super) has_type: bool,
    /// Whether forms differ between entries, because each entry specifies its forms.
    pub(super) has_own_forms: bool,
    /// Number of entries so far.
    #[doc(hidden)]
    pub count: Cell<u64>,
    /// The names, the location and the type.
    read: read::Shape,
}

impl Shape {
    pub(super) fn new(entry: Entry<'_, '_>) -> Self {
        let has = |name| entry.has(name);
        let is_read =
            |name: DwAt| NAMES.contains(&name) || matches!(name, dw::DW_AT_location | dw::DW_AT_type);
        Self {
            tag: entry.tag(),
            is_declaration: has(dw::DW_AT_declaration),
            is_artificial: has(dw::DW_AT_artificial),
            is_inline: has(dw::DW_AT_inline),
            has_call: has(dw::DW_AT_call_file) && has(dw::DW_AT_call_line),
            has_location: has(dw::DW_AT_location),
            has_value: has(dw::DW_AT_const_value),
            has_origin: has(dw::DW_AT_abstract_origin),
            inherits: has(dw::DW_AT_abstract_origin) || has(dw::DW_AT_specification),
            has_source: has(dw::DW_AT_decl_file) && has(dw::DW_AT_decl_line),
            has_type: has(dw::DW_AT_type),
            has_own_forms: entry.specs().iter().any(|spec| spec.form() == dw::DW_FORM_indirect),
            count: Cell::new(0),
            read: entry.shape_with(|spec| is_read(spec.name())),
        }
    }
}

/// The attributes in an entry itself that are counted.
#[derive(Debug, Default)]
pub(super) struct OwnAttributes<'r> {
    /// The first name in [`NAMES`] that the entry contains, with its index there.
    pub(super) name: Option<(usize, Str<'r>)>,
    pub(super) location: Option<ResolvedValue<'r>>,
    /// Type's offset.
    pub(super) ty: Option<u64>,
    /// The entry, and the entries from which it inherits.
    pub(super) completions: SmallVec<[Entry<'r, 'r>; 3]>,
}

impl<'r> OwnAttributes<'r> {
    /// Returns an attribute that the entry has or inherits, with the entry that has it.
    pub(super) fn inherited(&self, name: DwAt) -> Option<(Entry<'r, 'r>, ResolvedValue<'r>)> {
        self.completions.iter().find_map(|&entry| Some((entry, entry.attr(name)?)))
    }

    /// Whether the entry has or inherits an attribute.
    pub(super) fn has_inherited(&self, name: DwAt) -> bool {
        self.completions.iter().any(|entry| entry.has(name))
    }
}

/// Attributes that name an entry; the first that the entry has is used.
const NAMES: [DwAt; 3] = [dw::DW_AT_MIPS_linkage_name, dw::DW_AT_linkage_name, dw::DW_AT_name];

/// Reads the attributes that an entry itself contains.
pub(super) fn read<'r>(entry: Entry<'r, 'r>, shape: &Shape) -> OwnAttributes<'r> {
    let mut own = OwnAttributes::default();
    if shape.inherits {
        own.completions = entry.completions().collect();
    } else {
        own.completions.push(entry);
    }
    entry.each_of(&shape.read, |attribute| match attribute.name() {
        dw::DW_AT_location if own.location.is_none() => own.location = attribute.value(),
        dw::DW_AT_type if own.ty.is_none() => own.ty = attribute.reference(),
        dw::DW_AT_location | dw::DW_AT_type => {}
        name => {
            let place = NAMES.iter().position(|known| *known == name).unwrap_or(NAMES.len());
            if own.name.is_none_or(|known| place < known.0) {
                own.name = attribute.string().map(|name| (place, name)).or(own.name);
            }
        }
    });
    own
}

/// Returns an entry's linkage name, or else its name.
pub(super) fn entry_name<'r>(shape: &Shape, own: &OwnAttributes<'r>) -> Option<Str<'r>> {
    if shape.inherits {
        NAMES.into_iter().find_map(|name| own.inherited(name)?.1.string())
    } else {
        own.name.map(|name| name.1)
    }
}

/// Returns the linkage name, or else the name, of an entry that is not read yet.
pub(super) fn linkage_name(entry: Entry<'_, '_>) -> Option<String> {
    let name = NAMES.into_iter().find_map(|name| entry.inherited(name)?.string());
    name.map(|name| name.text().into_owned())
}

pub(super) fn has_source(shape: &Shape, own: &OwnAttributes<'_>) -> bool {
    shape.has_source || own.has_inherited(dw::DW_AT_decl_file) && own.has_inherited(dw::DW_AT_decl_line)
}
