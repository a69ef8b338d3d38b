//! Units: DWARF 5 section 3.1. The importer goes through a unit's entries several times: first scopes, types and
//! variables are made, then what refers to them.

use gimli::{DwAt, constants as dw};

use super::importer::{Entities, Importer};
use super::node::{Class, class};
use super::order::{copy, nested, unreferenced, want};
use super::unimported::UnimportedReason;
use super::{calls, functions, imports, instances, lanes, types, variables};
use crate::model::{AttributeOwner, Language};
use crate::read::{Entry, Unit};

/// Attributes that tell where the parts of a unit are, and no fact of the program.
const STRUCTURE: [DwAt; 14] = [
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
];

/// Whether an attribute only serves the file's structure.
pub(super) fn is_structure(name: DwAt) -> bool {
    STRUCTURE.contains(&name)
}

/// Imports a unit. `skeleton` is the root of its skeleton unit, if it is a split unit.
pub(super) fn import<'d, 'o>(importer: &mut Importer<'d, 'o>, info: &'d Unit<'o>, split_name: Option<&str>) {
    let Some(root) = importer.dwarf.root(info) else { return };
    importer.info = info;
    let known = importer.types.units.get(&info.offset).copied();
    importer.unit = known.unwrap_or_else(|| importer.m.unit(info.name.as_deref().unwrap_or_default()));
    importer.made = Entities::default();
    properties(importer, root, split_name);
    importer.files();

    let dwarf = importer.dwarf;
    let entries = || dwarf.entries_of(info).skip(1);
    instances::find(importer, entries());
    types::completions(importer, entries());
    let only = importer.chosen.only;
    let selected = Selected::new(only, entries());
    for entry in entries().filter(|entry| selected.has(entry.index())) {
        if importer.representative(entry) != entry {
            // What is imported instead belongs to the type.
            let part = importer.completed_part(entry);
            if let Some(part) = part {
                want(importer, class(part), part);
            }
            importer.repeat_part(entry, part);
            continue;
        }
        if !importer.chosen.discarded.keeps(entry) {
            continue;
        }
        if let Some(referred) = in_partial_unit(entry) {
            want(importer, class(referred), referred);
        }
        let class = class(entry);
        if class != Class::Other && (entry.parent() == Some(root) || importer.place(entry).is_some()) {
            want(importer, class, entry);
        }
    }
    // Each step can add what the other step has to complete.
    while importer.has_more() || nested(importer) || unreferenced(importer) {
        types::members(importer);
        functions::properties(importer);
        copy(importer);
    }
    variables::located(importer);
    types::described(importer);
    for entry in core::mem::take(&mut importer.made.copies) {
        match class(entry) {
            Class::Scope if entry.tag() == dw::DW_TAG_subprogram => functions::located(importer, entry),
            Class::Type if !importer.is_of_unit(entry) => {
                let imports = entry.children().filter(|part| part.tag() == dw::DW_TAG_imported_declaration);
                imports.for_each(|import| imports::import(importer, import, dw::DW_AT_import));
            }
            _ => {}
        }
    }
    for entry in entries().filter(|entry| selected.has(entry.index())) {
        let is_kept = importer.chosen.discarded.keeps(entry);
        if !is_kept && !entry.parent().is_some_and(|parent| importer.taken.is_imported(parent)) {
            continue;
        }
        match entry.tag() {
            dw::DW_TAG_subprogram if !is_kept => {}
            dw::DW_TAG_subprogram => {
                functions::located(importer, entry);
                lanes::import(importer, entry);
            }
            dw::DW_TAG_imported_declaration | dw::DW_TAG_imported_module => {
                imports::import(importer, entry, dw::DW_AT_import);
            }
            dw::DW_TAG_namelist_item => imports::import(importer, entry, dw::DW_AT_namelist_item),
            dw::DW_TAG_imported_unit => imports::unit(importer, entry),
            dw::DW_TAG_label => imports::label(importer, entry),
            dw::DW_TAG_call_site | dw::DW_TAG_GNU_call_site => calls::call(importer, entry),
            _ => {}
        }
    }
    importer.uncalled_procedures();
    importer.rows();
    importer.macros();
    importer.sums();
    importer.keep_entries();
    importer.share();
}

/// Returns the entry of a partial unit to which a call or an import refers. Calls and imports are made last, and a partial
/// unit's entries only where something needs them.
fn in_partial_unit<'d, 'o>(entry: Entry<'d, 'o>) -> Option<Entry<'d, 'o>> {
    let name = match entry.tag() {
        dw::DW_TAG_call_site => dw::DW_AT_call_origin,
        dw::DW_TAG_GNU_call_site => dw::DW_AT_abstract_origin,
        dw::DW_TAG_imported_declaration | dw::DW_TAG_imported_module => dw::DW_AT_import,
        _ => return None,
    };
    entry.reference(name).filter(|referred| referred.unit().kind == dw::DW_UT_partial)
}

/// The entries of a unit that are imported by themselves, and not only where other entries refer to them.
struct Selected {
    /// Index ranges of the selected functions; `None` for all entries.
    functions: Option<Vec<core::ops::Range<usize>>>,
}

impl Selected {
    fn new<'d, 'o>(only: &[String], entries: impl Iterator<Item = Entry<'d, 'o>>) -> Self
    where
        'o: 'd,
    {
        if only.is_empty() {
            return Self { functions: None };
        }
        let mut functions: Vec<core::ops::Range<usize>> = Vec::new();
        for entry in entries {
            let is_inside = functions.last().is_some_and(|last| last.contains(&entry.index()));
            if !is_inside && functions::is_selected(only, entry) {
                functions.push(entry.index()..entry.index() + 1 + entry.descendants().len());
            }
        }
        Self { functions: Some(functions) }
    }

    fn has(&self, index: usize) -> bool {
        let Some(functions) = &self.functions else { return true };
        let count = functions.partition_point(|range| range.start <= index);
        functions[..count].last().is_some_and(|range| range.contains(&index))
    }
}

/// Sets a unit's properties.
fn properties<'d, 'o>(importer: &mut Importer<'d, 'o>, root: Entry<'d, 'o>, split_name: Option<&str>) {
    importer.own(root, AttributeOwner::Unit(importer.unit));
    importer.mark_all(root, &STRUCTURE);
    // The unit's pcs are those of its functions.
    importer.mark_all(root, &super::node::PCS);
    importer.mark(root, dw::DW_AT_name);
    let directory = importer.text(root, dw::DW_AT_comp_dir).or_else(|| importer.info.comp_dir.clone());
    let producer = importer.text(root, dw::DW_AT_producer);
    let is_optimized = importer.flag(root, dw::DW_AT_APPLE_optimized);
    let language = importer.number(root, dw::DW_AT_language);
    let language = language.and_then(|number| match u16::try_from(number) {
        Ok(number) => Some(Language(number)),
        Err(_) => {
            importer.leave(root, dw::DW_AT_language, UnimportedReason::ValueRange(number.into()));
            None
        }
    });
    let Ok(mut builder) = importer.m.describe_unit(importer.unit) else { return };
    if let Some(directory) = directory {
        builder.directory(&directory);
    }
    if let Some(producer) = producer {
        builder.producer(&producer);
    }
    if is_optimized {
        builder.optimized();
    }
    if let Some(language) = language {
        builder.language(language);
    }
    if let Some(name) = split_name
        && let Err(error) = builder.split_name(name).map(drop)
    {
        importer.list(root, None, UnimportedReason::SplitName(name.into(), error));
    }
}

/// Marks what a skeleton unit has: the split unit has the same facts.
pub(super) fn skeleton<'d, 'o>(importer: &mut Importer<'d, 'o>, root: Entry<'d, 'o>) {
    importer.import(root);
    mark_structure(importer, root);
    importer.mark_all(root, &super::node::PCS);
    importer.mark_all(
        root,
        &[
            dw::DW_AT_dwo_name,
            dw::DW_AT_GNU_dwo_name,
            dw::DW_AT_comp_dir,
            dw::DW_AT_name,
            dw::DW_AT_producer,
            dw::DW_AT_language,
        ],
    );
}

/// Marks the attributes that only tell where the parts of a unit are.
pub(super) fn mark_structure<'d, 'o>(importer: &mut Importer<'d, 'o>, root: Entry<'d, 'o>) {
    importer.mark_all(root, &STRUCTURE);
}
