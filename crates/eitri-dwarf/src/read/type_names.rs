//! Names of types as in a source of C and C++, and names with the scopes around them.

use gimli::{DwLang, DwTag, constants as dw};

use super::entry::Entry;
use super::value::ResolvedValue;

/// Maximum nesting of types, and of scopes, because references can be cyclic.
const MOST_STEPS: usize = 64;
/// Maximum length of a type's name in bytes, because function types can contain each other many times.
const LONGEST: usize = 4096;

/// Returns what [`Entry::qualified_name`] returns.
pub(super) fn qualified_name(entry: Entry<'_, '_>) -> Option<String> {
    let mut name = entry.name()?.into_owned();
    let mut inner = declared(entry);
    for _ in 0..MOST_STEPS {
        let Some(outer) = inner.parent().filter(|_| name.len() < LONGEST) else { break };
        let unnamed = match outer.tag() {
            dw::DW_TAG_namespace => "(anonymous namespace)",
            dw::DW_TAG_module
            | dw::DW_TAG_structure_type
            | dw::DW_TAG_class_type
            | dw::DW_TAG_union_type
            | dw::DW_TAG_interface_type => "(anonymous)",
            // The enumerators of an unscoped enumeration are in the scope around it.
            dw::DW_TAG_enumeration_type if outer.has(dw::DW_AT_enum_class) => "(anonymous)",
            dw::DW_TAG_enumeration_type => {
                inner = outer;
                continue;
            }
            _ => break,
        };
        name = format!("{}::{name}", outer.name().as_deref().unwrap_or(unnamed));
        inner = declared(outer);
    }
    Some(name)
}

/// Returns the declaration that an entry completes, directly or not, or else the entry.
fn declared<'r, 'o>(entry: Entry<'r, 'o>) -> Entry<'r, 'o> {
    std::iter::successors(Some(entry), |entry| entry.completed()).take(MOST_STEPS).last().unwrap_or(entry)
}

/// Returns what [`Entry::type_name`] returns.
pub(super) fn type_name(ty: Entry<'_, '_>) -> String {
    let mut room = LONGEST;
    declare(Some(ty), String::new(), &mut room, MOST_STEPS)
}

/// Returns a type with a declarator inside it: `*[4]` of the type `int` is `int *[4]`.
fn declare(ty: Option<Entry<'_, '_>>, inner: String, room: &mut usize, steps: usize) -> String {
    crate::work::step();
    let spaced = |base: String| {
        let separator = if inner.is_empty() || inner.starts_with(' ') { "" } else { " " };
        format!("{base}{separator}{inner}")
    };
    let left = room.checked_sub(inner.len() + 1);
    let (Some(left), Some(steps)) = (left, steps.checked_sub(1)) else { return spaced("…".into()) };
    *room = left;
    let Some(ty) = ty else { return spaced("void".into()) };
    let ty = ty.signed().unwrap_or(ty);
    let star = match ty.tag() {
        dw::DW_TAG_pointer_type => "*",
        dw::DW_TAG_reference_type => "&",
        dw::DW_TAG_rvalue_reference_type => "&&",
        dw::DW_TAG_ptr_to_member_type => {
            let class = ty.reference(dw::DW_AT_containing_type);
            let class = class.and_then(Entry::qualified_name).unwrap_or_default();
            return declare(ty.ty(), format!("{class}::*{inner}"), room, steps);
        }
        dw::DW_TAG_array_type => {
            let inner = format!("{}{}", in_parentheses(inner), dimensions(ty));
            return declare(ty.ty(), inner, room, steps);
        }
        dw::DW_TAG_subroutine_type | dw::DW_TAG_subprogram => {
            let inner = format!("{}({})", in_parentheses(inner), parameters(ty, room, steps));
            return declare(ty.ty(), inner, room, steps);
        }
        tag if qualifier(tag).is_some() => return qualified(ty, inner, room, steps),
        _ => {
            let name = named(ty);
            *room = room.saturating_sub(name.len());
            return spaced(name);
        }
    };
    declare(ty.ty(), format!("{star}{inner}"), room, steps)
}

/// Returns a declarator that is an operand of `[]` or `()`, which come before `*`.
fn in_parentheses(inner: String) -> String {
    let is_pointer = inner.starts_with(['*', '&']) || inner.contains("::*");
    if is_pointer { format!("({inner})") } else { inner }
}

fn qualifier(tag: DwTag) -> Option<&'static str> {
    match tag {
        dw::DW_TAG_const_type => Some("const"),
        dw::DW_TAG_volatile_type => Some("volatile"),
        dw::DW_TAG_restrict_type => Some("restrict"),
        dw::DW_TAG_atomic_type => Some("_Atomic"),
        _ => None,
    }
}

/// Returns a type with qualifiers, in an order that does not depend on that of the entries.
fn qualified(ty: Entry<'_, '_>, mut inner: String, room: &mut usize, steps: usize) -> String {
    let mut words = Vec::new();
    let mut below = Some(ty);
    while let Some(outer) = below {
        if words.len() == steps || inner.len() > LONGEST {
            return "…".into();
        }
        match qualifier(outer.tag()) {
            Some(word) => words.push(word),
            // A qualified array is an array of qualified elements: C 6.7.3.
            None if outer.tag() == dw::DW_TAG_array_type => {
                inner = format!("{}{}", in_parentheses(inner), dimensions(outer));
            }
            None => break,
        }
        below = outer.ty();
    }
    words.sort_unstable_by_key(|word| {
        ["const", "volatile", "restrict", "_Atomic"].iter().position(|it| it == word)
    });
    words.dedup();
    let text = words.join(" ");
    let is_pointer = below.is_some_and(|ty| {
        matches!(
            ty.tag(),
            dw::DW_TAG_pointer_type
                | dw::DW_TAG_reference_type
                | dw::DW_TAG_rvalue_reference_type
                | dw::DW_TAG_ptr_to_member_type
        )
    });
    if is_pointer {
        let separator = if inner.is_empty() || inner.starts_with('[') { "" } else { " " };
        return declare(below, format!(" {text}{separator}{inner}"), room, steps);
    }
    format!("{text} {}", declare(below, inner, room, steps))
}

/// Returns an array's dimensions, without the numbers that are not constant.
fn dimensions(array: Entry<'_, '_>) -> String {
    let is_dimension =
        |child: &Entry<'_, '_>| matches!(child.tag(), dw::DW_TAG_subrange_type | dw::DW_TAG_enumeration_type);
    let dimensions = array.children().filter(is_dimension);
    let mut text: String = dimensions
        .map(|dimension| dimension.count().map_or_else(|| "[]".into(), |count| format!("[{count}]")))
        .take(MOST_STEPS)
        .collect();
    if text.is_empty() {
        text.push_str("[]");
    }
    text
}

fn parameters(function: Entry<'_, '_>, room: &mut usize, steps: usize) -> String {
    let mut parameters = Vec::new();
    for child in function.children() {
        match child.tag() {
            dw::DW_TAG_formal_parameter if *room > 0 => {
                parameters.push(declare(child.ty(), String::new(), room, steps));
            }
            dw::DW_TAG_unspecified_parameters => parameters.push("...".into()),
            _ => {}
        }
    }
    let is_prototype = function.attr(dw::DW_AT_prototyped) == Some(ResolvedValue::Flag(true));
    if parameters.is_empty() && (is_prototype || !is_c(function)) {
        return "void".into();
    }
    // Before C23, an empty list of parameters accepts any arguments.
    if !is_prototype && parameters.len() == 1 && parameters[0] == "..." && is_c(function) {
        return String::new();
    }
    parameters.join(", ")
}

/// Returns the name of a type that has no other type inside it.
fn named(ty: Entry<'_, '_>) -> String {
    let keyword = match ty.tag() {
        dw::DW_TAG_structure_type => "struct",
        dw::DW_TAG_class_type => "class",
        dw::DW_TAG_union_type => "union",
        dw::DW_TAG_enumeration_type => "enum",
        _ => "",
    };
    match ty.qualified_name() {
        Some(name) if keyword.is_empty() || !is_c(ty) => name,
        Some(name) => format!("{keyword} {name}"),
        None if !keyword.is_empty() => format!("{keyword} {{...}}"),
        None => {
            let tag = ty.tag();
            let text = tag.static_string().map(|text| text.trim_start_matches("DW_TAG_"));
            text.map_or_else(|| format!("<tag {:#x}>", tag.0), |text| format!("<{text}>"))
        }
    }
}

/// Whether the unit's language has separate names for structures.
fn is_c(entry: Entry<'_, '_>) -> bool {
    /// `DW_LANG_C17`, registered after DWARF 5.
    const C17: DwLang = DwLang(0x2c);
    let languages = [dw::DW_LANG_C89, dw::DW_LANG_C, dw::DW_LANG_C99, dw::DW_LANG_C11, dw::DW_LANG_ObjC, C17];
    languages.iter().any(|language| entry.unit().language == Some(language.0.into()))
}
