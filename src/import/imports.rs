//! Imports and labels: DWARF 5 sections 3.2.3 and 3.6.

use gimli::{DwAt, constants as dw};

use super::importer::{Importer, refused};
use super::parts::Border;
use super::unimported::UnimportedReason;
use crate::model::{AttributeOwner, Imported, ScopeKind};
use crate::read::Entry;

/// Imports an import, or an item of a namelist, with the attribute that refers to the entity.
pub(super) fn import<'d, 'o>(importer: &mut Importer<'d, 'o>, entry: Entry<'d, 'o>, attribute: DwAt) {
    let Some(around) = importer.place(entry) else { return };
    let Some(referred) = importer.refer(entry, attribute) else { return };
    // A type unit refers to its declaration of a member of another type unit.
    let referred = importer.completed_part(referred).unwrap_or(referred);
    let scopes = &importer.made.scopes;
    let namespace = scopes
        .get(&referred.offset())
        .map(|place| place.scope)
        .filter(|&scope| matches!(importer.m.described().scope(scope).kind, ScopeKind::Namespace { .. }));
    let is_module = entry.tag() == dw::DW_TAG_imported_module;
    let what = match namespace {
        Some(scope) if is_module => Some(Imported::AllOf(scope)),
        Some(scope) => Some(Imported::Namespace(scope)),
        None => {
            let function = importer.known_function(referred).map(Imported::Function);
            let variable = importer.known_variable(referred).map(Imported::Variable);
            let member = importer.member_at(referred).map(|(ty, index)| Imported::Member(ty, index));
            let enumerator = importer.enumerator_at(referred);
            let enumerator = enumerator.map(|(ty, index)| Imported::Enumerator(ty, index));
            let ty = importer.known_type(referred).map(Imported::Type);
            function.or(variable).or(ty).or(member).or(enumerator)
        }
    };
    let Some(what) = what else {
        return importer.leave_entry(entry, UnimportedReason::MissingReference);
    };
    let id = match importer.m.import(around.scope, what) {
        Ok(import) => import.id(),
        Err(error) => return importer.leave_entry(entry, refused(error)),
    };
    importer.own(entry, AttributeOwner::Import(id));
    if let Some(name) = importer.text(entry, dw::DW_AT_name) {
        let set = importer.m.describe_import(id).and_then(|mut import| import.name(&name).map(drop));
        importer.accept(entry, dw::DW_AT_name, set);
    }
    if let Some(line) = importer.declared(entry) {
        let set = importer.m.describe_import(id).and_then(|mut import| import.declared(line).map(drop));
        importer.accept(entry, dw::DW_AT_decl_line, set);
    }
}

/// The entries of an imported unit are imported where entries refer to them.
pub(super) fn unit<'d, 'o>(importer: &mut Importer<'d, 'o>, entry: Entry<'d, 'o>) {
    if importer.refer(entry, dw::DW_AT_import).is_some() {
        importer.import(entry);
    }
}

/// Imports a label. In the instance with code of an inlined function, it has the name of its abstract instance.
pub(super) fn label<'d, 'o>(importer: &mut Importer<'d, 'o>, entry: Entry<'d, 'o>) {
    let Some(around) = importer.place(entry) else { return };
    let has_code = around.base.is_some();
    let origin = importer.refer(entry, dw::DW_AT_abstract_origin);
    // The label of an abstract instance is in the instance with code, if there is one.
    let is_abstract = origin.is_none() && has_code && !entry.has(dw::DW_AT_low_pc);
    let name = entry.name().unwrap_or_default();
    importer.mark(entry, dw::DW_AT_name);
    if is_abstract && importer.made.instances.contains_key(&around_key(entry)) {
        importer.import(entry);
        importer.mark_all(entry, &[dw::DW_AT_decl_file, dw::DW_AT_decl_line, dw::DW_AT_decl_column]);
        return;
    }
    let id = match importer.m.label(around.scope, &name) {
        Ok(label) => label.id(),
        Err(error) => return importer.leave_entry(entry, refused(error)),
    };
    importer.own(entry, AttributeOwner::Label(id));
    let line = match origin {
        Some(origin) => importer.declared(entry).or_else(|| importer.declared(origin)),
        None => importer.declared(entry),
    };
    if let Some(line) = line {
        let set = importer.m.describe_label(id).and_then(|mut label| label.declared(line).map(drop));
        importer.accept(entry, dw::DW_AT_decl_line, set);
    }
    if let Some(pc) = importer.pc(entry, dw::DW_AT_low_pc, around, Border::Start) {
        let set = importer.m.describe_label(id).and_then(|mut label| label.at(pc).map(drop));
        importer.accept(entry, dw::DW_AT_low_pc, set);
    }
}

/// Offset of the entry around an entry.
fn around_key(entry: Entry<'_, '_>) -> u64 {
    entry.parent().map_or(0, Entry::offset)
}
