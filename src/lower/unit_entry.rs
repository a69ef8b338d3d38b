//! Unit entry, and the summary of the unit that decides its attributes: DWARF 5 section 3.1.

use super::children::ScopeItem;
use super::entry::EntryWriter;
use super::lists::{ABSOLUTE, joined_code};
use super::strings;
use super::units::{Units, producer};
use crate::emit::addr::addr_base;
use crate::emit::lists::lists_base;
use crate::emit::strings::str_offsets_base;
use crate::error::Result;
use crate::model::{
    Address, CompileUnit, ExtraValue, FileId, FunctionId, LocId, Macro, Module, Node, ScopeId, ScopeKind,
    TypeId, UnitId, VariableId,
};
use crate::op::FixupKind;

/// `DW_AT_language_name`, from DWARF 6.
const DW_AT_LANGUAGE_NAME: gimli::DwAt = gimli::DwAt(0x90);
/// `DW_AT_language_version`, from DWARF 6.
const DW_AT_LANGUAGE_VERSION: gimli::DwAt = gimli::DwAt(0x91);

/// Unit summary for the unit's entry.
pub(super) struct Contents {
    pub(super) functions: Vec<FunctionId>,
    /// Functions with code.
    pub(super) code: Vec<FunctionId>,
    /// Ranges of the code: addresses and sizes in bytes.
    pub(super) code_ranges: Vec<(Address, u64)>,
    /// Whether the unit has a list of ranges.
    pub(super) is_scattered: bool,
    pub(super) loclists: bool,
    pub(super) lines: bool,
    pub(super) macros: bool,
    pub(super) ranges: bool,
    pub(super) addresses: bool,
}

impl Contents {
    pub(super) fn new(units: &Units<'_>, id: UnitId) -> Self {
        let module = units.module;
        let consumer = units.consumer;
        let functions: Vec<FunctionId> = units.functions.ids(id).map(FunctionId::from_u32).collect();
        let is_in_unit = |&id: &FunctionId| module.functions[id].is_in_unit();
        let code: Vec<FunctionId> = functions.iter().copied().filter(is_in_unit).collect();
        let is_in_parts = code.iter().any(|&id| module.functions[id].is_in_parts());
        let code_ranges = joined_code(module, &code);
        // Before DWARF 5, addresses in lists are relative to the unit's address, which is 0 for several functions.
        let is_scattered = code_ranges.len() > 1 || consumer.version < 5 && (code.len() > 1 || is_in_parts);
        let variables = || units.variables.ids(id).map(|id| &module.variables[VariableId::from_u32(id)]);
        let types = || units.types.ids(id).map(|id| &module.types[TypeId::from_u32(id)]);
        let files = || units.files.ids(id).map(|id| &module.files[FileId::from_u32(id)]);
        let scopes = || units.scopes.ids(id).map(|id| &module.scopes[ScopeId::from_u32(id)]);
        Self {
            loclists: variables().any(|variable| !variable.live.is_empty())
                || code.iter().any(|&id| {
                    let function = &module.functions[id];
                    function.lanes.is_described || !function.frame_bases().is_empty()
                }),
            macros: !module.macros(id).is_empty(),
            // File names are in the line program, so that declarations need it even without rows.
            lines: units.has_file_contents()
                && files().any(|file| file.md5.is_some() || file.source.is_some())
                || module.macros(id).iter().any(|what| matches!(what, Macro::File { .. }))
                || functions.iter().any(|&id| module.functions[id].line.is_some())
                || code.iter().any(|&id| !module.functions[id].rows.is_empty())
                || variables().any(|variable| variable.line.is_some())
                || units.items(id).any(|item| has_line(module, item))
                || types().any(|ty| ty.lines(module).next().is_some())
                || scopes().any(|scope| match scope.kind {
                    ScopeKind::Inlined { .. } => true,
                    ScopeKind::Namespace { .. } | ScopeKind::Block => scope.line.is_some(),
                    _ => false,
                }),
            is_scattered,
            ranges: is_scattered && !consumer.is_split
                || is_in_parts
                || scopes().any(|scope| !scope.ranges.is_empty()),
            addresses: !code.is_empty() || has_addresses(units, id, &functions),
            functions,
            code,
            code_ranges,
        }
    }
}

/// Whether the locations and attributes of a unit without code have addresses. This is decided before they are encoded, so
/// that a location with an address counts even if it is omitted.
fn has_addresses(units: &Units<'_>, id: UnitId, functions: &[FunctionId]) -> bool {
    let module = units.module;
    let has_address = |loc: LocId| {
        module.nodes(loc).any(|node| match node {
            Node::Address(..) | Node::LinkAddress(_) => true,
            Node::Expr(expr) => {
                module.expr(expr).0.fixups().iter().any(|fixup| fixup.kind == FixupKind::Address)
            }
            _ => false,
        })
    };
    let types = units.types.ids(id).flat_map(|id| module.types[TypeId::from_u32(id)].locs());
    let variables = units.variables.ids(id).map(VariableId::from_u32).flat_map(|id| {
        let live = module.live(id).iter().map(|live| live.loc);
        live.chain(module.variables[id].always)
    });
    let templates = functions.iter().flat_map(|&id| {
        let mut locs = Vec::new();
        module.functions[id].templates.iter().for_each(|parameter| parameter.locs(&mut locs));
        locs
    });
    let attributes = module.attributes_of_unit(id).iter().any(|attribute| match attribute.value {
        ExtraValue::Address(_) => true,
        ExtraValue::Location(loc) | ExtraValue::Number(loc) => has_address(loc),
        _ => false,
    });
    attributes
        || units.procedures.ids(id).len() > 0
        || units.items(id).any(|item| matches!(item, ScopeItem::Call(_)))
        || types.chain(variables).chain(templates).any(has_address)
}

/// Returns whether an import, a label or a call has a source line.
fn has_line(module: &Module, item: ScopeItem) -> bool {
    match item {
        ScopeItem::Import(id) => module.imports[id].line.is_some(),
        ScopeItem::Label(id) => module.labels[id].line.is_some(),
        ScopeItem::Call(id) => module.calls[id].line.is_some(),
    }
}

/// Writes the unit's own entry. Offsets into other sections are relative to the unit's part.
///
/// # Errors
/// The errors of [`EntryWriter::attributes`].
pub(super) fn write(out: &mut EntryWriter<'_>, has: &Contents) -> Result<()> {
    let module = out.module;
    let format = out.info.format;
    let unit = &module.units[out.unit()];
    out.info.begin_entry(gimli::DW_TAG_compile_unit, gimli::DW_CHILDREN_yes, None);
    // A split unit's tables are the only ones in its file, so it needs no bases. The skeleton has the other
    // attributes.
    let is_split = out.consumer.is_split;
    if format.version >= 5 && !is_split {
        let base = str_offsets_base(format);
        out.info.offset(gimli::DW_AT_str_offsets_base, ".debug_str_offsets", base);
    }
    producer_attribute(out, unit);
    language(out, unit);
    out.name(Some(unit.name));
    if unit.is_optimized {
        out.info.flag(gimli::DW_AT_APPLE_optimized);
    }
    if !is_split {
        sources(out, has);
    }
    if has.macros {
        let (attribute, section) = match format.version {
            5.. => (gimli::DW_AT_macros, ".debug_macro"),
            _ => (gimli::DW_AT_macro_info, ".debug_macinfo"),
        };
        out.info.offset(attribute, section, 0);
    }
    if format.version >= 5 && !is_split {
        if has.addresses {
            out.info.offset(gimli::DW_AT_addr_base, ".debug_addr", addr_base(format));
        }
        if has.ranges {
            out.info.offset(gimli::DW_AT_rnglists_base, ".debug_rnglists", lists_base(format));
        }
        if has.loclists {
            out.info.offset(gimli::DW_AT_loclists_base, ".debug_loclists", lists_base(format));
        }
    }
    if !is_split {
        code(out, has);
    }
    out.attributes(out.unit())?;
    out.info.end_entry();
    Ok(())
}

/// Writes the compiler and its command line.
fn producer_attribute(out: &mut EntryWriter<'_>, unit: &CompileUnit) {
    match (unit.producer, producer(out.module, unit)) {
        (_, Some(text)) => {
            let number = strings::producer(out.units, &text);
            out.info.string(gimli::DW_AT_producer, number, || text.len(), || &text);
        }
        (Some(producer), None) => out.text(gimli::DW_AT_producer, producer),
        (None, None) => {}
    }
}

/// Writes a unit's language.
pub(super) fn language(out: &mut EntryWriter<'_>, unit: &CompileUnit) {
    let Some(language) = unit.language else { return };
    let known = language.up_to(out.consumer.entries.last_language);
    out.info.unsigned(gimli::DW_AT_language, known.0.into());
    let Some((name, version)) = language.name().filter(|_| out.consumer.entries.language_names) else {
        return;
    };
    out.info.unsigned(DW_AT_LANGUAGE_NAME, name.into());
    if let Some(version) = unit.language_version.or(version) {
        out.info.unsigned(DW_AT_LANGUAGE_VERSION, version.into());
    }
}

/// Writes the compilation directory and the line table.
pub(super) fn sources(out: &mut EntryWriter<'_>, has: &Contents) {
    if let Some(directory) = out.module.units[out.unit()].directory {
        out.text(gimli::DW_AT_comp_dir, directory);
    }
    if has.lines {
        out.info.offset(gimli::DW_AT_stmt_list, ".debug_line", 0);
    }
}

/// Writes the unit's pc ranges.
pub(super) fn code(out: &mut EntryWriter<'_>, has: &Contents) {
    let format = out.info.format;
    match has.code_ranges[..] {
        [] => {}
        // List addresses are absolute, so the base address is 0.
        _ if out.consumer.lists.has_absolute_bounds => {
            out.low_pc(gimli::DW_AT_low_pc, ABSOLUTE);
        }
        [(address, bytes)] if !has.is_scattered => {
            let code = out.expressions.code(Some(address));
            out.pcs(code, bytes);
        }
        _ => {
            if format.version < 5 {
                // Base address for the unit's lists.
                out.low_pc(gimli::DW_AT_low_pc, ABSOLUTE);
            }
            out.code_ranges(&has.code_ranges);
        }
    }
}
