//! Findings about entries: references, instances, attribute numbers.

use gimli::{DwAt, DwForm, DwTag, constants as dw};

use super::codes::Code;
use super::contexts;
use super::file::Kind;
#[doc(hidden)]
pub use eitri_dwarf::read::{Entry, SUPPLEMENTARY, Shape, Str, Value};
use eitri_dwarf::tags::is_type;

/// A finding about an attribute.
pub(super) struct EntryFindings {
    pub(super) code: Code,
    pub(super) written: String,
    pub(super) evidence: Vec<String>,
}

/// Attribute numbers that AMD's documents and LLVM's registry use for different things, with both meanings.
const AMBIGUOUS: [(DwAt, &str, &str); 5] = [
    (DwAt(0x3e08), "DW_AT_LLVM_active_lane", "DW_AT_LLVM_ptrauth_isa_pointer"),
    (DwAt(0x3e09), "DW_AT_LLVM_augmentation", "DW_AT_LLVM_ptrauth_authenticates_null_values"),
    (DwAt(0x3e0a), "DW_AT_LLVM_lanes", "DW_AT_LLVM_ptrauth_authentication_mode"),
    (DwAt(0x3e0b), "DW_AT_LLVM_lane_pc", "DW_AT_LLVM_num_extra_inhabitants"),
    (DwAt(0x3e0c), "DW_AT_LLVM_vector_size", "DW_AT_LLVM_stmt_sequence"),
];

/// Attributes of an entry that findings about variables depend on.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct OwnAttributes<'r> {
    pub(super) name: Option<Str<'r>>,
    pub(super) location: Option<Value<'r>>,
    /// Offset of the type.
    pub(super) ty: Option<u64>,
    pub(super) is_declaration: bool,
    pub(super) has_value: bool,
    /// Whether the entry inherits attributes from an abstract instance or a declaration.
    pub(super) has_origin: bool,
}

/// Returns the meanings of an address class of an AMD GPU that differ: in the target's table, and in compilers, which
/// write their own numbers.
fn meanings_of_class(class: u64) -> Option<&'static str> {
    match class {
        1 => Some("AMD's table has generic for 1, clang writes it for private, and Triton for global memory"),
        2 => Some("AMD's table has region for 2, and clang writes it for local memory"),
        _ => None,
    }
}

fn is_ambiguous(name: DwAt) -> bool {
    (AMBIGUOUS[0].0.0..=AMBIGUOUS[4].0.0).contains(&name.0)
}

/// Whether an attribute is one of [`OwnAttributes`], or can refer to another entry.
fn is_judged(name: DwAt, form: DwForm) -> bool {
    let is_own = matches!(
        name,
        dw::DW_AT_name
            | dw::DW_AT_location
            | dw::DW_AT_declaration
            | dw::DW_AT_const_value
            | dw::DW_AT_abstract_origin
            | dw::DW_AT_specification
            | dw::DW_AT_address_class
    );
    let is_reference = matches!(
        form,
        dw::DW_FORM_ref1
            | dw::DW_FORM_ref2
            | dw::DW_FORM_ref4
            | dw::DW_FORM_ref8
            | dw::DW_FORM_ref_udata
            | dw::DW_FORM_ref_addr
            | dw::DW_FORM_GNU_ref_alt
            | dw::DW_FORM_ref_sup4
            | dw::DW_FORM_ref_sup8
            | dw::DW_FORM_indirect
    );
    is_own || is_reference && name != dw::DW_AT_sibling || is_ambiguous(name)
}

/// Part of an abbreviation that findings depend on.
#[derive(Debug)]
pub(super) struct Judged {
    pub(super) tag: DwTag,
    /// The attributes of [`OwnAttributes`], and the attributes that can refer to an entry.
    shape: Shape,
    /// Attributes other than locations whose expressions are diagnosed.
    pub(super) expressions: Vec<DwAt>,
    /// Whether it has pc ranges that nothing else reads. The ranges of a function are read with the function.
    pub(super) has_ranges: bool,
}

impl Judged {
    /// Returns the part of an entry's abbreviation.
    pub(super) fn of(entry: Entry<'_, '_>) -> Self {
        let shape = entry.shape_with(|spec| is_judged(spec.name(), spec.form()));
        let tag = entry.tag();
        // The bounds of generic subranges have the dimension on their initial stack.
        let specs = entry.specs().iter().filter(|_| tag != dw::DW_TAG_generic_subrange);
        let has_context = specs.filter(|spec| contexts::has(spec.name(), spec.form()));
        let has_ranges = tag != dw::DW_TAG_subprogram && entry.has(dw::DW_AT_ranges);
        Self { tag, shape, expressions: has_context.map(|spec| spec.name()).collect(), has_ranges }
    }
}

/// Reads the attributes of an entry, and appends the findings about them. Types at offsets for which `is_known_type`
/// holds are not looked up.
pub(super) fn read<'r>(
    kind: Kind,
    entry: Entry<'r, 'r>,
    abbreviation: &Judged,
    is_known_type: impl Fn(u64) -> bool,
    out: &mut Vec<EntryFindings>,
) -> OwnAttributes<'r> {
    let dwarf = entry.dwarf();
    let mut own = OwnAttributes::default();
    entry.each_of(&abbreviation.shape, |attribute| {
        let ambiguous = Some(attribute.name()).filter(|name| is_ambiguous(*name));
        if let Some((_, amd, llvm)) = ambiguous.and_then(|name| AMBIGUOUS.iter().find(|one| one.0 == name)) {
            out.push(EntryFindings {
                code: Code::AmbiguousAttribute,
                written: format!("attribute {:#x}", attribute.name().0),
                evidence: vec![format!("AMD's debugger reads {amd}, LLVM's registry has {llvm}")],
            });
        }
        match attribute.name() {
            dw::DW_AT_name => own.name = own.name.or_else(|| attribute.string()),
            dw::DW_AT_location if own.location.is_none() => own.location = attribute.value(),
            dw::DW_AT_declaration => own.is_declaration = true,
            dw::DW_AT_const_value => own.has_value = true,
            dw::DW_AT_abstract_origin | dw::DW_AT_specification => own.has_origin = true,
            dw::DW_AT_address_class if kind == Kind::Amd => {
                let class = attribute.value().and_then(Value::unsigned);
                if let Some((class, meanings)) =
                    class.and_then(|class| Some((class, meanings_of_class(class)?)))
                {
                    out.push(EntryFindings {
                        code: Code::AmbiguousAttribute,
                        written: format!("DW_AT_address_class is {class}"),
                        evidence: vec![meanings.into()],
                    });
                }
            }
            _ => {}
        }
        let Some(offset) = attribute.reference() else { return };
        if attribute.name() == dw::DW_AT_sibling {
            return;
        }
        if attribute.name() == dw::DW_AT_type {
            own.ty = own.ty.or(Some(offset));
            if is_known_type(offset) {
                return;
            }
        }
        let Some(to) = dwarf.entry_at(offset) else {
            out.push(EntryFindings {
                code: Code::BadReference,
                written: format!("{} is {}", attribute.name(), shown(offset)),
                evidence: vec![format!("no entry is at {}", shown(offset))],
            });
            return;
        };
        if attribute.name() == dw::DW_AT_type && !is_type(to.tag()) && to.tag() < dw::DW_TAG_lo_user {
            out.push(EntryFindings {
                code: Code::BadReference,
                written: format!("DW_AT_type is {}", shown(offset)),
                evidence: vec![format!("a {} is at {}", to.tag(), shown(offset))],
            });
        }
    });
    if own.has_origin {
        instance(entry, out);
    }
    own
}

/// Returns the offset of an entry as text.
fn shown(offset: u64) -> String {
    match offset.checked_sub(SUPPLEMENTARY) {
        Some(offset) => format!("{offset:#x} in the supplementary file"),
        None => format!("{offset:#x}"),
    }
}

/// Appends the findings about an instance and its abstract instance.
fn instance(entry: Entry<'_, '_>, out: &mut Vec<EntryFindings>) {
    let Some(origin) = entry.reference(dw::DW_AT_abstract_origin) else { return };
    let mut differs = |written: String, of_origin: &dyn std::fmt::Display| {
        let evidence = vec![format!("the abstract instance at {} is {of_origin}", shown(origin.offset()))];
        out.push(EntryFindings { code: Code::AbstractDiffers, written, evidence });
    };
    let own = entry.attr(dw::DW_AT_name);
    let abstracted = origin.inherited(dw::DW_AT_name);
    if let (Some(Value::String(own)), Some(Value::String(of_origin))) = (own, abstracted)
        && own != of_origin
    {
        differs(format!("the name `{}`", own.text()), &format_args!("`{}`", of_origin.text()));
    }
    if let (Some(own), Some(of_origin)) = (entry.reference(dw::DW_AT_type), origin.ty())
        && is_other_type(own, of_origin)
    {
        let with = |ty| format!("declared with {}", type_name(ty));
        differs(with(own), &with(of_origin));
    }
}

/// Whether two types differ in what both have of tag, name and size. The bounds of an array can belong to the instance.
fn is_other_type(one: Entry<'_, '_>, other: Entry<'_, '_>) -> bool {
    if one.offset() == other.offset() {
        return false;
    }
    let size = |ty: Entry<'_, '_>| ty.number(dw::DW_AT_byte_size);
    let differs_in_size = size(one).zip(size(other)).is_some_and(|(one, other)| one != other);
    one.tag() != other.tag() || one.name() != other.name() || differs_in_size
}

/// Returns the name of a type for messages.
pub(super) fn type_name(ty: Entry<'_, '_>) -> String {
    ty.name().map_or_else(|| "a type without a name".into(), |name| format!("`{name}`"))
}
