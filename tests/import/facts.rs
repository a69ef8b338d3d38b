//! Facts of an object's entries, independent of their encoding: offsets are replaced by names, indices by what they refer
//! to, and attributes that an entry inherits are the entry's own.

use std::collections::BTreeMap;
use std::fmt::Write;

use eitri::eval::{Context, DebugInfo, Evaluator};
use eitri::gimli::{DwAt, DwTag, constants as dw};
use eitri::op::{Decoder, Encoding, Op};
use eitri::read::{Dwarf, Entry, ResolvedValue};
use eitri::target::Target;

use crate::import_expressions::machine::Stopped;

/// An entry's facts.
#[derive(Debug, Clone)]
pub struct Fact {
    /// Offset of the entry, for the facts that an import lists.
    pub offset: u64,
    /// Names of the entries around it, and its own.
    pub path: String,
    pub tag: DwTag,
    /// The tag of the entry around it.
    pub parent: DwTag,
    /// Whether other units have copies of it.
    pub is_copied: bool,
    pub attributes: BTreeMap<String, String>,
    /// Offsets of the entries whose attributes these are: the entry, and the entries that it completes.
    pub from: Vec<u64>,
}

/// Attributes that tell where something is in the file, or that other attributes imply.
const STRUCTURE: [DwAt; 24] = [
    dw::DW_AT_sibling,
    dw::DW_AT_stmt_list,
    dw::DW_AT_str_offsets_base,
    dw::DW_AT_addr_base,
    dw::DW_AT_rnglists_base,
    dw::DW_AT_loclists_base,
    dw::DW_AT_GNU_ranges_base,
    dw::DW_AT_GNU_addr_base,
    dw::DW_AT_GNU_dwo_id,
    dw::DW_AT_GNU_pubnames,
    dw::DW_AT_GNU_pubtypes,
    dw::DW_AT_macros,
    dw::DW_AT_GNU_macros,
    dw::DW_AT_macro_info,
    dw::DW_AT_decl_file,
    dw::DW_AT_decl_line,
    dw::DW_AT_decl_column,
    dw::DW_AT_call_file,
    dw::DW_AT_call_column,
    dw::DW_AT_low_pc,
    dw::DW_AT_high_pc,
    dw::DW_AT_ranges,
    dw::DW_AT_bit_offset,
    dw::DW_AT_data_bit_offset,
];

/// Attributes that belong to the entry itself, and not to the entries that complete it.
const OWN: [DwAt; 15] = [
    dw::DW_AT_declaration,
    dw::DW_AT_specification,
    dw::DW_AT_abstract_origin,
    dw::DW_AT_inline,
    dw::DW_AT_location,
    dw::DW_AT_low_pc,
    dw::DW_AT_high_pc,
    dw::DW_AT_ranges,
    dw::DW_AT_entry_pc,
    dw::DW_AT_frame_base,
    dw::DW_AT_const_value,
    dw::DW_AT_sibling,
    dw::DW_AT_call_all_calls,
    dw::DW_AT_call_all_tail_calls,
    dw::DW_AT_GNU_all_call_sites,
];

/// Returns the facts of all units' entries.
pub fn facts(dwarf: &Dwarf<'_>) -> Vec<Fact> {
    let mut facts = Vec::new();
    for unit in dwarf.units() {
        // An abstract instance and its instance with code are one entity.
        let instances = instances(dwarf.entries_of(unit));
        let mut paths: Vec<(usize, String)> = Vec::new();
        for entry in dwarf.entries_of(unit) {
            let depth = entry.depth();
            while paths.last().is_some_and(|(known, _)| *known >= depth) {
                paths.pop();
            }
            let around = paths.last().map_or("", |(_, path)| path);
            // An abstract instance has the name of its instance with code.
            let named = instances.get(&entry.offset()).copied().unwrap_or(entry);
            // A pack's parameters are the function's.
            let path = match entry.tag() {
                dw::DW_TAG_GNU_formal_parameter_pack | dw::DW_TAG_common_block => around.to_owned(),
                _ => format!("{around}/{}", label(named)),
            };
            paths.push((depth, path.clone()));
            if instances.contains_key(&entry.offset()) {
                continue;
            }
            let origin = entry.reference(dw::DW_AT_abstract_origin);
            let origin = origin.filter(|origin| instances.get(&origin.offset()) == Some(&entry));
            let (mut attributes, from) = attributes(entry, origin.is_some());
            if origin.is_some() {
                attributes.remove("abstract_origin");
            }
            let parent = entry.parent().map_or(entry.tag(), Entry::tag);
            let is_copied = unit.type_offset.is_some();
            facts.push(Fact {
                offset: entry.offset(),
                path,
                tag: entry.tag(),
                parent,
                is_copied,
                attributes,
                from,
            });
        }
    }
    facts
}

/// Returns the entry in an instance, preferably one with code, for each entry of an abstract instance.
fn instances<'d, 'o: 'd>(
    entries: impl Iterator<Item = Entry<'d, 'o>> + Clone,
) -> BTreeMap<u64, Entry<'d, 'o>> {
    let mut functions = BTreeMap::new();
    for needs_code in [true, false] {
        for entry in entries.clone().filter(|entry| entry.tag() == dw::DW_TAG_subprogram) {
            let origin = entry.reference(dw::DW_AT_abstract_origin);
            if let Some(origin) = origin.filter(|_| !needs_code || pcs(entry) != "[]") {
                functions.entry(origin.offset()).or_insert(entry);
            }
        }
    }
    let mut instances = functions.clone();
    for function in functions.values() {
        for entry in function.descendants().filter(|entry| !is_inlined(*entry)) {
            let is_call =
                matches!(entry.tag(), dw::DW_TAG_GNU_call_site | dw::DW_TAG_GNU_call_site_parameter);
            if let Some(origin) = entry.reference(dw::DW_AT_abstract_origin).filter(|_| !is_call) {
                instances.entry(origin.offset()).or_insert(entry);
            }
        }
    }
    instances
}

/// Whether an entry is an inlined call, or in an inlined call.
fn is_inlined(entry: Entry<'_, '_>) -> bool {
    std::iter::successors(Some(entry), |entry| entry.parent())
        .any(|entry| entry.tag() == dw::DW_TAG_inlined_subroutine)
}

/// Returns an entry's name in paths and references.
pub fn label(entry: Entry<'_, '_>) -> String {
    let tag = tag(entry.tag());
    let name = entry.name();
    match entry.tag() {
        dw::DW_TAG_inlined_subroutine => {
            let line = entry.number(dw::DW_AT_call_line).unwrap_or(0);
            format!("inlined {} line {line}", name.unwrap_or_default())
        }
        dw::DW_TAG_call_site | dw::DW_TAG_GNU_call_site => {
            let pc = entry
                .attr(dw::DW_AT_call_return_pc)
                .or(entry.attr(dw::DW_AT_low_pc))
                .or(entry.attr(dw::DW_AT_call_pc));
            format!("call {pc:x?}")
        }
        dw::DW_TAG_call_site_parameter | dw::DW_TAG_GNU_call_site_parameter => {
            let place = entry.attr(dw::DW_AT_location).map(|value| value_text(entry, value));
            format!("argument {}", place.unwrap_or_default())
        }
        // Overloads have one name.
        dw::DW_TAG_subprogram => {
            let linkage = [dw::DW_AT_linkage_name, dw::DW_AT_MIPS_linkage_name]
                .into_iter()
                .find_map(|name| entry.inherited(name)?.text());
            let line = entry.inherited(dw::DW_AT_decl_line).and_then(ResolvedValue::unsigned);
            let name = linkage.or(name).unwrap_or_default();
            format!("{tag} {name} {}", line.unwrap_or(0))
        }
        dw::DW_TAG_variant => format!("variant {}", position(entry)),
        kind if is_pointer(kind) || name.is_none() && is_type(kind) => type_text(Some(entry), 0),
        _ => match name.filter(|name| !name.is_empty()) {
            Some(name) => format!("{tag} {name}"),
            None => tag,
        },
    }
}

/// Number of an entry among those with its tag.
fn position(entry: Entry<'_, '_>) -> usize {
    let siblings = entry.parent().into_iter().flat_map(Entry::children);
    siblings
        .take_while(|other| other.offset() != entry.offset())
        .filter(|other| other.tag() == entry.tag())
        .count()
}

/// Parts of an entity whose order is a fact.
const ORDERED: [DwTag; 6] = [
    dw::DW_TAG_enumerator,
    dw::DW_TAG_member,
    dw::DW_TAG_inheritance,
    dw::DW_TAG_subrange_type,
    dw::DW_TAG_template_type_parameter,
    dw::DW_TAG_template_value_parameter,
];

/// Returns the name of an entry to which an attribute refers: instances of one function have different linkage names.
fn reference(entry: Entry<'_, '_>) -> String {
    match entry.tag() {
        dw::DW_TAG_subprogram => format!("subprogram {}", entry.name().unwrap_or_default()),
        _ => label(entry),
    }
}

/// Whether an entry is a type.
pub fn is_type(tag: DwTag) -> bool {
    let name = tag.static_string().unwrap_or_default();
    name.ends_with("_type") && name != "DW_TAG_subrange_type" || name == "DW_TAG_typedef"
}

fn is_pointer(tag: DwTag) -> bool {
    matches!(tag, dw::DW_TAG_pointer_type | dw::DW_TAG_reference_type | dw::DW_TAG_rvalue_reference_type)
}

fn tag(tag: DwTag) -> String {
    let name = tag.static_string().map_or_else(|| format!("{:#x}", tag.0), String::from);
    name.trim_start_matches("DW_TAG_").to_owned()
}

fn pcs(entry: Entry<'_, '_>) -> String {
    let mut ranges = entry.ranges().unwrap_or_default();
    ranges.retain(|range| range.start < range.end);
    // The order of a function's parts and of the ranges in a block says nothing, except which is first.
    if let Some((_, rest)) = ranges.split_first_mut() {
        rest.sort_by_key(|range| range.start);
    }
    format!("{ranges:x?}")
}

/// Returns the attributes with their normalised values, and the entries that have them.
fn attributes(entry: Entry<'_, '_>, is_merged: bool) -> (BTreeMap<String, String>, Vec<u64>) {
    let mut all = BTreeMap::new();
    let mut from = Vec::new();
    let mut next = Some(entry);
    for step in 0..8 {
        let Some(one) = next else { break };
        from.push(one.offset());
        for attribute in one.attributes() {
            let is_skipped = STRUCTURE.contains(&attribute.name)
                || step > 0
                    && OWN.contains(&attribute.name)
                    && !(is_merged && step == 1 && is_both(attribute.name))
                || attribute.value == ResolvedValue::Flag(false);
            let name = name(attribute.name);
            if is_skipped || all.contains_key(&name) {
                continue;
            }
            if let Some(text) = attribute_text(one, attribute.name, attribute.value) {
                all.insert(name, text);
            }
        }
        next = one.reference(dw::DW_AT_abstract_origin).or_else(|| one.reference(dw::DW_AT_specification));
    }
    derived(entry, &mut all);
    // An inlined call has no linkage name; its function's instances have different ones.
    if entry.tag() == dw::DW_TAG_inlined_subroutine {
        all.remove("linkage_name");
    }
    // What has no type in the file has an unspecified type.
    if all.get("type").is_some_and(|ty| ty.trim_end() == "unspecified") {
        all.remove("type");
    }
    (all, from)
}

/// Attributes of an abstract instance that an instance with code has if the two are one entry.
fn is_both(name: DwAt) -> bool {
    matches!(name, dw::DW_AT_inline | dw::DW_AT_specification)
}

/// Attribute names, where versions differ.
pub fn name(name: DwAt) -> String {
    let text = match name {
        dw::DW_AT_MIPS_linkage_name => "linkage_name".into(),
        dw::DW_AT_address_class => "0x3e10".into(),
        dw::DW_AT_GNU_call_site_value => "call_value".into(),
        dw::DW_AT_upper_bound => "count".into(),
        _ => name.static_string().map_or_else(|| format!("{:#x}", name.0), String::from),
    };
    text.trim_start_matches("DW_AT_").to_owned()
}

fn attribute_text(entry: Entry<'_, '_>, name: DwAt, value: ResolvedValue<'_>) -> Option<String> {
    Some(match name {
        dw::DW_AT_type | dw::DW_AT_containing_type | dw::DW_AT_import => match entry.referred(value) {
            Some(referred) if is_type(referred.tag()) => type_text(Some(referred), 0),
            Some(referred) => reference(referred),
            None => "missing".into(),
        },
        // Whether a function is inlined, its inlined calls tell.
        dw::DW_AT_inline => (value.unsigned()? >= 2).then(|| "declared".to_owned())?,
        dw::DW_AT_const_value | dw::DW_AT_discr_value => constant(entry, value),
        dw::DW_AT_location => locations(entry, dw::DW_AT_location)?,
        dw::DW_AT_frame_base if matches!(value, ResolvedValue::LocList(_)) => {
            locations(entry, dw::DW_AT_frame_base)?
        }
        // A number has no raw form in the model: it is compared by what it is on a few machines.
        dw::DW_AT_call_value
        | dw::DW_AT_call_data_value
        | dw::DW_AT_call_target
        | dw::DW_AT_call_target_clobbered
        | dw::DW_AT_GNU_call_site_value
        | dw::DW_AT_GNU_call_site_data_value
        | dw::DW_AT_GNU_call_site_target
        | dw::DW_AT_GNU_call_site_target_clobbered => number(entry, value),
        dw::DW_AT_upper_bound | dw::DW_AT_count => count(entry, name, value)?,
        dw::DW_AT_name if value.text().is_some_and(|text| text.is_empty()) => return None,
        dw::DW_AT_address_class if value.unsigned() == Some(0) => return None,
        // The model derives the size of a pointer, and the encoding of an enumeration.
        dw::DW_AT_byte_size if is_pointer(entry.tag()) => {
            return (value.unsigned() != Some(entry.unit().encoding.address_bytes.into()))
                .then(|| value_text(entry, value));
        }
        dw::DW_AT_byte_size if entry.has(dw::DW_AT_GNU_vector) => return None,
        dw::DW_AT_encoding if entry.tag() == dw::DW_TAG_enumeration_type => return None,
        // The number of lanes is the target's.
        DwAt(0x3e11 | 0x3e0a) => return None,
        dw::DW_AT_lower_bound if value.unsigned() == Some(0) => return None,
        dw::DW_AT_entry_pc => {
            let lowest = entry.ranges().ok()?.iter().map(|range| range.start).min();
            let pc = match value {
                ResolvedValue::Address(address) => Some(address),
                value => entry.low_pc().or(lowest).zip(value.unsigned()).map(|(low, by)| low + by),
            };
            if pc == lowest {
                return None;
            }
            format!("{pc:x?}")
        }
        dw::DW_AT_data_member_location => match value {
            ResolvedValue::Expr([0x23, rest @ ..]) if rest.len() == 1 => rest[0].to_string(),
            ResolvedValue::Expr(bytes) => expression(entry, bytes),
            value => value.unsigned()?.to_string(),
        },
        _ => value_text(entry, value),
    })
}

/// What an expression computes on a few machines: the same number can be written in several ways.
fn number(entry: Entry<'_, '_>, value: ResolvedValue<'_>) -> String {
    let ResolvedValue::Expr(bytes) = value else { return value_text(entry, value) };
    let gpu = Target::named("amdgpu-gfx1100-wave64").expect("a target");
    let info = DebugInfo::new(entry.dwarf());
    let unit = entry.unit();
    let function = std::iter::successors(Some(entry), |entry| entry.parent())
        .find(|entry| entry.tag() == dw::DW_TAG_subprogram);
    let frame_base = match function.and_then(|function| function.attr(dw::DW_AT_frame_base)) {
        Some(ResolvedValue::Expr(base)) => Some(base),
        Some(ResolvedValue::LocList(_)) => function.and_then(|function| base_at_call(function, entry)),
        _ => None,
    };
    let mut text = String::new();
    for target in [&Target::x86_64(), &gpu] {
        let context = Context::new(unit.encoding, target).with_unit(unit.offset);
        for seed in 2..5 {
            let machine = Stopped {
                target,
                seed,
                lane: 0,
                info: Some(&info),
                frame_base,
                unit: unit.offset,
                encoding: unit.encoding,
                symbols: None,
            };
            let number =
                Evaluator::new().value(bytes, &machine, &context).ok().and_then(|value| value.as_u64());
            match number {
                Some(number) => write!(text, "{number:#x} ").expect("a string"),
                None => text += "none ",
            }
        }
    }
    text
}

/// Returns a function's frame base at the call around an entry.
fn base_at_call<'o>(function: Entry<'_, 'o>, entry: Entry<'_, 'o>) -> Option<&'o [u8]> {
    let is_call =
        |entry: &Entry<'_, '_>| matches!(entry.tag(), dw::DW_TAG_call_site | dw::DW_TAG_GNU_call_site);
    let call = std::iter::successors(Some(entry), |entry| entry.parent()).find(is_call)?;
    let names = [dw::DW_AT_call_return_pc, dw::DW_AT_low_pc];
    let returns = names.into_iter().find_map(|name| match call.attr(name) {
        Some(ResolvedValue::Address(address)) => Some(address),
        _ => None,
    });
    let pc = returns?.checked_sub(1)?;
    let list = function.locations(dw::DW_AT_frame_base).ok()??;
    list.into_iter().find(|one| (one.start..one.end).contains(&pc)).map(|one| one.expr)
}

/// Adds the facts that several attributes state together.
fn derived(entry: Entry<'_, '_>, all: &mut BTreeMap<String, String>) {
    let pcs = pcs(entry);
    if pcs != "[]" && entry.parent().is_some() {
        all.insert("pcs".into(), pcs);
    }
    let inherited = |name| entry.inherited(name).and_then(ResolvedValue::unsigned);
    if let Some(line) = inherited(dw::DW_AT_decl_line) {
        let file = entry.declared_file().map(|(of, number)| file(of, number));
        let column = inherited(dw::DW_AT_decl_column).unwrap_or(0);
        all.insert("declared".into(), format!("{}:{line}:{column}", file.unwrap_or_default()));
    }
    // Static members are variables.
    let is_static = entry.has(dw::DW_AT_declaration) || entry.has(dw::DW_AT_external);
    if ORDERED.contains(&entry.tag()) && !is_static {
        let siblings = entry.parent().into_iter().flat_map(Entry::children);
        let before = siblings.take_while(|other| other.offset() != entry.offset()).filter(|other| {
            other.tag() == entry.tag() && !other.has(dw::DW_AT_declaration) && !other.has(dw::DW_AT_external)
        });
        all.insert("position".into(), before.count().to_string());
    }
    if let Some(number) = entry.number(dw::DW_AT_call_file) {
        let column = entry.number(dw::DW_AT_call_column).unwrap_or(0);
        all.insert("called".into(), format!("{}:{column}", file(entry, number)));
    }
    if entry.tag() == dw::DW_TAG_member && !entry.has(dw::DW_AT_declaration) {
        let bytes = entry.number(dw::DW_AT_data_member_location);
        let bits = entry.number(dw::DW_AT_bit_size);
        let in_unit = || {
            let size =
                entry.number(dw::DW_AT_byte_size).or_else(|| entry.ty()?.number(dw::DW_AT_byte_size))?;
            let offset = entry.number(dw::DW_AT_bit_offset)?;
            Some((8 * (bytes.unwrap_or(0) + size)).wrapping_sub(offset).wrapping_sub(bits?))
        };
        let start = entry.number(dw::DW_AT_data_bit_offset).or_else(in_unit);
        if let Some(start) = start {
            all.remove("data_member_location");
            if bits.is_some() {
                all.remove("byte_size");
            }
            all.insert("bit".into(), start.to_string());
        } else if let Some(bits) = bits {
            all.remove("data_member_location");
            all.insert("bit".into(), (8 * bytes.unwrap_or(0)).to_string());
            let _ = bits;
        } else {
            all.entry("data_member_location".into()).or_insert_with(|| "0".into());
        }
    }
}

fn file(entry: Entry<'_, '_>, number: u64) -> String {
    let unit = entry.unit();
    let program = entry.dwarf().lines(unit).ok().flatten();
    program.and_then(|program| program.full_path(number, unit.comp_dir.as_deref())).unwrap_or_default()
}

/// A constant as a number of its type's size.
fn constant(entry: Entry<'_, '_>, value: ResolvedValue<'_>) -> String {
    let number: i128 = match value {
        ResolvedValue::Block(bytes) if bytes.len() <= 16 => {
            let mut all = [0; 16];
            all[..bytes.len()].copy_from_slice(bytes);
            i128::from_le_bytes(all)
        }
        ResolvedValue::Unsigned(number) => number.into(),
        ResolvedValue::Signed(number) => number.into(),
        value => return value_text(entry, value),
    };
    let mut ty = if entry.tag() == dw::DW_TAG_enumerator { entry.parent() } else { entry.ty() };
    let mut size = None;
    for _ in 0..8 {
        let Some(one) = ty else { break };
        size = one.number(dw::DW_AT_byte_size).or(match one.tag() {
            dw::DW_TAG_pointer_type | dw::DW_TAG_reference_type => {
                Some(one.unit().encoding.address_bytes.into())
            }
            _ => None,
        });
        if size.is_some() {
            break;
        }
        ty = one.ty();
    }
    match size {
        Some(size @ 1..16) => (number & ((1 << (8 * size)) - 1)).to_string(),
        _ => number.to_string(),
    }
}

fn count(entry: Entry<'_, '_>, name: DwAt, value: ResolvedValue<'_>) -> Option<String> {
    let lower = match entry.attr(dw::DW_AT_lower_bound) {
        Some(ResolvedValue::Unsigned(bound)) => bound as i64,
        Some(ResolvedValue::Signed(bound)) => bound,
        _ => i64::from(matches!(entry.unit().language, Some(7 | 8 | 0xe | 0x22 | 0x23 | 0x2d))),
    };
    let more = if name == dw::DW_AT_count { 0 } else { 1 - i128::from(lower) };
    match value {
        ResolvedValue::Unsigned(number) => Some((i128::from(number) + more).to_string()),
        ResolvedValue::Signed(number) => Some((i128::from(number) + more).to_string()),
        ResolvedValue::Expr(bytes) => {
            // A constant at the end is part of the sum.
            let last = Decoder::new(bytes, entry.unit().encoding).last()?.ok()?;
            let (bytes, more) = match last.op {
                Op::PlusUconst { value } => (&bytes[..last.offset], more + i128::from(value)),
                _ => (bytes, more),
            };
            Some(format!("{} plus {more}", expression(entry, bytes)))
        }
        value => Some(value_text(entry, value)),
    }
}

/// Locations by pc. A single location for the whole function is one for all pcs.
fn locations(entry: Entry<'_, '_>, name: DwAt) -> Option<String> {
    let list = entry.locations(name).ok()??;
    let mut text = String::new();
    let function = std::iter::successors(Some(entry), |entry| entry.parent())
        .find(|entry| entry.tag() == dw::DW_TAG_subprogram);
    let whole = function.and_then(|function| function.ranges().ok()?.into_iter().next());
    let whole = whole.map(|whole| (whole.start, whole.end));
    let mut parts: Vec<(Option<(u64, u64)>, String)> = Vec::new();
    let mut list: Vec<_> = list.into_iter().filter(|one| one.is_default() || one.start < one.end).collect();
    list.sort_by_key(|one| (one.start, one.end));
    for one in &list {
        let text = expression(entry, one.expr);
        // Adjacent ranges with one location are one range, and so are overlapping ranges without location.
        let follows = |end: u64| end == one.start || text.is_empty() && one.start < end;
        match parts.last_mut() {
            Some((Some(last), known)) if *known == text && follows(last.1) && !one.is_default() => {
                last.1 = last.1.max(one.end);
            }
            _ => parts.push(((!one.is_default()).then_some((one.start, one.end)), text)),
        }
    }
    // Ranges without pcs say nothing.
    if parts.is_empty() {
        return None;
    }
    let is_whole = parts.len() == 1 && parts[0].0.is_some() && parts[0].0 == whole;
    for (pcs, expression) in parts {
        if let Some((start, end)) = pcs.filter(|_| !is_whole) {
            write!(text, "{start:x}..{end:x} ").expect("a string");
        }
        write!(text, "{expression}; ").expect("a string");
    }
    Some(text)
}

fn value_text(entry: Entry<'_, '_>, value: ResolvedValue<'_>) -> String {
    match value {
        ResolvedValue::Expr(bytes) => expression(entry, bytes),
        ResolvedValue::Reference(_) | ResolvedValue::Signature(_) => {
            entry.referred(value).map_or("missing".into(), reference)
        }
        ResolvedValue::Unsigned(number) => number.to_string(),
        ResolvedValue::Signed(number) => number.to_string(),
        value => format!("{value:x?}"),
    }
}

/// Returns an expression's text. Branches name the operation that they lead to.
pub fn expression(entry: Entry<'_, '_>, bytes: &[u8]) -> String {
    operations(entry, bytes, entry.unit().encoding, 0)
}

fn operations(entry: Entry<'_, '_>, bytes: &[u8], encoding: Encoding, depth: usize) -> String {
    let dwarf = entry.dwarf();
    let unit = entry.unit();
    let all: Vec<_> = Decoder::new(bytes, encoding).collect();
    let index = |offset: i64| {
        all.iter()
            .position(|one| one.as_ref().is_ok_and(|one| one.offset as i64 == offset))
            .unwrap_or(all.len())
    };
    let at = |offset: u64| dwarf.entry_at(offset).map_or("missing".into(), label);
    let ty = |offset: u64| match offset {
        0 => "generic".into(),
        offset => type_text(dwarf.entry_at(unit.offset + offset), 0),
    };
    let mut text = String::new();
    for one in &all {
        let one = match one {
            Ok(one) => one,
            Err(error) => return format!("{text}{error}"),
        };
        let operation = match one.op {
            Op::Addr { address } => format!("addr {address:#x}"),
            Op::Addrx { index } => format!("addr {:#x}", dwarf.address(unit, index).unwrap_or(0)),
            Op::Call2 { entry } => format!("call {}", at(unit.offset + entry)),
            Op::Call4 { entry } => format!("call {}", at(unit.offset + entry)),
            Op::GnuParameterRef { entry } => format!("parameter {}", at(unit.offset + entry)),
            Op::CallRef { entry } => format!("call {}", at(entry)),
            Op::GnuVariableValue { entry } => format!("value of {}", at(entry)),
            Op::ImplicitPointer { entry, offset } => format!("pointer to {} {offset}", at(entry)),
            Op::Convert { ty: offset } => format!("convert {}", ty(offset)),
            Op::Reinterpret { ty: offset } => format!("reinterpret {}", ty(offset)),
            Op::ConstType { ty: offset, bytes } => format!("const {} {bytes:?}", ty(offset)),
            Op::DerefType { ty: offset, bytes } => format!("deref {} {bytes}", ty(offset)),
            Op::RegvalType { ty: offset, reg } => format!("regval {} {reg:?}", ty(offset)),
            Op::EntryValue { expr } if depth < 4 => {
                format!("entry ({})", operations(entry, expr, encoding, depth + 1))
            }
            Op::Skip { distance } => format!("skip {}", index(one.offset as i64 + 3 + i64::from(distance))),
            Op::Bra { distance } => format!("bra {}", index(one.offset as i64 + 3 + i64::from(distance))),
            op => format!("{op:?}"),
        };
        text += &operation;
        text += ", ";
    }
    text
}

/// Returns a type's text: its name with its kind, or its parts.
pub fn type_text(ty: Option<Entry<'_, '_>>, depth: usize) -> String {
    let Some(ty) = ty else { return "void".into() };
    let tag = tag(ty.tag());
    if depth > 8 {
        return "...".into();
    }
    let of = || type_text(ty.ty(), depth + 1);
    if let Some(name) = ty.name().filter(|_| !is_pointer(ty.tag())) {
        let around = std::iter::successors(ty.parent(), |around| around.parent());
        let around = around.filter(|around| around.parent().is_some()).filter_map(|around| around.name());
        let scope: String = around.map(|name| format!("{name}::")).collect();
        // A base type without a size is an unspecified type.
        let kind = if tag == "base_type" { "unspecified" } else { tag.trim_end_matches("_type") };
        return format!("{kind} {scope}{name}");
    }
    let children = |kind: DwTag| ty.children().filter(move |child| child.tag() == kind);
    match ty.tag() {
        dw::DW_TAG_array_type => {
            let dimensions = children(dw::DW_TAG_subrange_type).map(|part| {
                let name = if part.has(dw::DW_AT_count) { dw::DW_AT_count } else { dw::DW_AT_upper_bound };
                part.attr(name).and_then(|value| count(part, name, value)).unwrap_or_default()
            });
            format!("array {:?} of {}", dimensions.collect::<Vec<_>>(), of())
        }
        dw::DW_TAG_subroutine_type => {
            let parameters =
                children(dw::DW_TAG_formal_parameter).map(|part| type_text(part.ty(), depth + 1));
            let has_more = children(dw::DW_TAG_unspecified_parameters).next().is_some();
            let more = if has_more { " and more" } else { "" };
            format!("function {:?}{more} to {}", parameters.collect::<Vec<_>>(), of())
        }
        dw::DW_TAG_structure_type | dw::DW_TAG_class_type | dw::DW_TAG_union_type => {
            let members =
                children(dw::DW_TAG_member).map(|part| part.name().unwrap_or_default().into_owned());
            format!("{tag} {:?} line {:?}", members.collect::<Vec<_>>(), ty.number(dw::DW_AT_decl_line))
        }
        dw::DW_TAG_enumeration_type => {
            let names =
                children(dw::DW_TAG_enumerator).map(|part| part.name().unwrap_or_default().into_owned());
            format!("enum {:?}", names.collect::<Vec<_>>())
        }
        dw::DW_TAG_unspecified_type => "unspecified".into(),
        _ => format!("{} of {}", tag.trim_end_matches("_type"), of()),
    }
}
