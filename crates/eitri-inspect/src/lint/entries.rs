//! Findings about entries: references, instances, attribute numbers.

use gimli::{DwAt, DwForm, DwTag, constants as dw};

use super::codes::LintCode;
use super::details::Details;
use super::file::{Architecture, File};
use super::{contexts, members};
#[doc(hidden)]
pub use eitri_dwarf::read::{Entry, LineProgram, ResolvedValue, SUPPLEMENTARY, Shape, Str, Unit};
use eitri_dwarf::tags::is_type;

/// A finding about an attribute.
pub(super) struct EntryFindings {
    pub(super) code: LintCode,
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

/// Entry attributes that findings about variables depend on.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct OwnAttributes<'r> {
    pub(super) name: Option<Str<'r>>,
    pub(super) location: Option<ResolvedValue<'r>>,
    /// Type's offset.
    pub(super) ty: Option<u64>,
    pub(super) is_declaration: bool,
    pub(super) has_value: bool,
    /// Whether the entry inherits attributes from an abstract instance or a declaration.
    pub(super) has_origin: bool,
}

/// Returns the two meanings of an AMD GPU address class, if they differ: the target's table, and the numbers that
/// compilers write instead.
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
fn is_diagnosed(name: DwAt, form: DwForm) -> bool {
    let is_own = matches!(
        name,
        dw::DW_AT_name
            | dw::DW_AT_location
            | dw::DW_AT_declaration
            | dw::DW_AT_const_value
            | dw::DW_AT_abstract_origin
            | dw::DW_AT_specification
            | dw::DW_AT_address_class
            | dw::DW_AT_decl_file
            | dw::DW_AT_call_file
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

/// What findings need to know about an abbreviation.
#[derive(Debug)]
pub(super) struct Diagnosed {
    pub(super) tag: DwTag,
    /// The attributes in [`OwnAttributes`], and the attributes that can refer to an entry.
    shape: Shape,
    /// Attributes other than locations whose expressions are diagnosed.
    pub(super) expressions: Vec<DwAt>,
    /// Whether it has pc ranges that nothing else reads: a function's ranges are read with the function.
    pub(super) has_ranges: bool,
}

impl Diagnosed {
    /// Reads an entry's abbreviation.
    pub(super) fn new(entry: Entry<'_, '_>) -> Self {
        let shape = entry.shape_with(|spec| is_diagnosed(spec.name(), spec.form()));
        let tag = entry.tag();
        // The bounds in a generic subrange have the dimension on their initial stack.
        let specs = entry.specs().iter().filter(|_| tag != dw::DW_TAG_generic_subrange);
        let has_context = specs.filter(|spec| contexts::has(tag, spec.name(), spec.form()));
        let has_ranges = tag != dw::DW_TAG_subprogram && entry.has(dw::DW_AT_ranges);
        Self { tag, shape, expressions: has_context.map(|spec| spec.name()).collect(), has_ranges }
    }
}

/// Facts of the file and the unit on which findings about attributes depend.
#[derive(Debug, Clone, Copy)]
pub(super) struct Context {
    pub(super) architecture: Architecture,
    /// The last file number in the unit's line table; the largest number if the table is not known.
    pub(super) last_file: u64,
}

impl Context {
    pub(super) fn new(file: &File<'_, '_>, unit: &Unit<'_>) -> Self {
        // The files of a split unit are those of its skeleton.
        let has_files = !unit.is_split() || unit.has_skeleton;
        let program = Some(unit).filter(|_| has_files).and_then(|unit| file.dwarf.lines(unit).ok().flatten());
        let last = |program: LineProgram<'_>| {
            let count = program.files.len() as u64;
            if program.version >= 5 { count.saturating_sub(1) } else { count }
        };
        Self { architecture: file.architecture, last_file: program.map_or(u64::MAX, last) }
    }
}

/// Reads an entry's attributes, and appends the findings about them. Types at offsets for which `is_known_type` holds
/// are not looked up.
pub(super) fn read<'r>(
    context: Context,
    entry: Entry<'r, 'r>,
    abbreviation: &Diagnosed,
    is_known_type: impl Fn(u64) -> bool,
    out: &mut Vec<EntryFindings>,
) -> OwnAttributes<'r> {
    let dwarf = entry.dwarf();
    let mut own = OwnAttributes::default();
    entry.each_of(&abbreviation.shape, |attribute| {
        let ambiguous = Some(attribute.name()).filter(|name| is_ambiguous(*name));
        if let Some((_, amd, llvm)) =
            ambiguous.and_then(|name| AMBIGUOUS.iter().find(|attribute| attribute.0 == name))
        {
            out.push(EntryFindings {
                code: LintCode::AmbiguousAttribute,
                written: format!("attribute {:#x}", attribute.name().0),
                evidence: vec![
                    format!("AMD's debugger reads {amd}, LLVM's registry has {llvm}"),
                    format!("it is an attribute of {}", subject(entry)),
                ],
            });
        }
        match attribute.name() {
            dw::DW_AT_name => own.name = own.name.or_else(|| attribute.string()),
            dw::DW_AT_location if own.location.is_none() => own.location = attribute.value(),
            dw::DW_AT_declaration => own.is_declaration = true,
            dw::DW_AT_const_value => own.has_value = true,
            dw::DW_AT_abstract_origin | dw::DW_AT_specification => own.has_origin = true,
            dw::DW_AT_decl_file | dw::DW_AT_call_file => {
                let number = attribute.value().and_then(ResolvedValue::unsigned);
                if let Some(number) = number.filter(|number| *number > context.last_file) {
                    out.push(EntryFindings {
                        code: LintCode::BadReference,
                        written: format!("{} is {number}", attribute.name()),
                        evidence: vec![match context.last_file {
                            0 => "the unit's line table has no file with this number".into(),
                            last => format!("the last file in the unit's line table is {last}"),
                        }],
                    });
                }
            }
            dw::DW_AT_address_class if context.architecture == Architecture::Amd => {
                let class = attribute.value().and_then(ResolvedValue::unsigned);
                if let Some((class, meanings)) =
                    class.and_then(|class| Some((class, meanings_of_class(class)?)))
                {
                    out.push(EntryFindings {
                        code: LintCode::AmbiguousAttribute,
                        written: format!("DW_AT_address_class is {class}"),
                        evidence: vec![meanings.into(), format!("it is an attribute of {}", subject(entry))],
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
                code: LintCode::BadReference,
                written: format!("{} is {}", attribute.name(), shown(offset)),
                evidence: vec![format!("no entry is at {}", shown(offset))],
            });
            return;
        };
        if !can_refer(abbreviation.tag, attribute.name(), to.tag()) {
            out.push(EntryFindings {
                code: LintCode::BadReference,
                written: format!("{} is {}", attribute.name(), shown(offset)),
                evidence: vec![format!("a {} is at {}", to.tag(), shown(offset))],
            });
        }
    });
    if members::is_member(abbreviation.tag)
        && let Some(Details { written, evidence, .. }) = members::finding(entry)
    {
        out.push(EntryFindings { code: LintCode::MemberBeyondType, written, evidence });
    }
    if own.has_origin {
        instance(entry, out);
    }
    own
}

/// Kinds of entries that can take each other's attributes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Kind {
    Unit,
    Type,
    /// Functions, their instances and blocks.
    Code,
    Data,
    Other,
}

fn kind(tag: DwTag) -> Kind {
    match tag {
        dw::DW_TAG_compile_unit
        | dw::DW_TAG_partial_unit
        | dw::DW_TAG_type_unit
        | dw::DW_TAG_skeleton_unit => Kind::Unit,
        dw::DW_TAG_subprogram
        | dw::DW_TAG_inlined_subroutine
        | dw::DW_TAG_entry_point
        | dw::DW_TAG_lexical_block
        | dw::DW_TAG_try_block
        | dw::DW_TAG_catch_block
        | dw::DW_TAG_call_site
        | dw::DW_TAG_GNU_call_site => Kind::Code,
        dw::DW_TAG_variable | dw::DW_TAG_formal_parameter | dw::DW_TAG_member | dw::DW_TAG_constant => {
            Kind::Data
        }
        tag if is_type(tag) => Kind::Type,
        _ => Kind::Other,
    }
}

/// Whether an entry's attribute can refer to an entry with the tag `to`. Vendors' attributes and tags can do anything,
/// except that no attribute but an import is about a unit.
fn can_refer(tag: DwTag, name: DwAt, to: DwTag) -> bool {
    let target = kind(to);
    if target == Kind::Unit {
        return tag == dw::DW_TAG_imported_unit || name >= dw::DW_AT_lo_user;
    }
    if to >= dw::DW_TAG_lo_user && target == Kind::Other {
        return true;
    }
    match name {
        dw::DW_AT_type | dw::DW_AT_containing_type => target == Kind::Type,
        dw::DW_AT_call_origin => matches!(to, dw::DW_TAG_subprogram | dw::DW_TAG_entry_point),
        dw::DW_AT_abstract_origin | dw::DW_AT_specification => {
            let own = kind(tag);
            own == target || own == Kind::Other || target == Kind::Other
        }
        _ => true,
    }
}

/// Returns an entry's tag with its name, or else with the name of its type.
fn subject(entry: Entry<'_, '_>) -> String {
    let tag = entry.tag();
    if let Some(name) = entry.name() {
        return format!("{tag} `{name}`");
    }
    match entry.reference(dw::DW_AT_type).and_then(Entry::name) {
        Some(name) => format!("{tag} to `{name}`"),
        None => tag.to_string(),
    }
}

/// Formats an entry's offset.
fn shown(offset: u64) -> String {
    match offset.checked_sub(SUPPLEMENTARY) {
        Some(offset) => format!("{offset:#x} in the supplementary file"),
        None => format!("{offset:#x}"),
    }
}

/// Appends the findings about an instance and its abstract instance.
fn instance(entry: Entry<'_, '_>, out: &mut Vec<EntryFindings>) {
    let Some(origin) = entry.reference(dw::DW_AT_abstract_origin) else { return };
    let mut differs = |written: String, inherited: &dyn std::fmt::Display| {
        let evidence = vec![format!("the abstract instance at {} is {inherited}", shown(origin.offset()))];
        out.push(EntryFindings { code: LintCode::AbstractDiffers, written, evidence });
    };
    let own = entry.attr(dw::DW_AT_name);
    let abstracted = origin.inherited(dw::DW_AT_name);
    if let (Some(ResolvedValue::String(own)), Some(ResolvedValue::String(inherited))) = (own, abstracted)
        && own != inherited
    {
        differs(format!("the name `{}`", own.text()), &format_args!("`{}`", inherited.text()));
    }
    if let (Some(own), Some(inherited)) = (entry.reference(dw::DW_AT_type), origin.ty())
        && is_other_type(own, inherited)
    {
        let with = |ty| format!("declared with {}", type_name(ty));
        differs(with(own), &with(inherited));
    }
}

/// Whether two types differ in tag, name or size, if both have it. Array bounds can belong to the instance.
fn is_other_type(first: Entry<'_, '_>, second: Entry<'_, '_>) -> bool {
    if first.offset() == second.offset() {
        return false;
    }
    let size = |ty: Entry<'_, '_>| ty.number(dw::DW_AT_byte_size);
    let differs_in_size = size(first).zip(size(second)).is_some_and(|(first, second)| first != second);
    first.tag() != second.tag() || first.name() != second.name() || differs_in_size
}

/// Returns a type's name for messages.
pub(super) fn type_name(ty: Entry<'_, '_>) -> String {
    ty.name().map_or_else(|| "a type without a name".into(), |name| format!("`{name}`"))
}
