//! Imports and labels.

use gimli::constants as dw;

use super::compare::{Compare, Origin};
use super::entries::Children;
use super::report::Kind;
use super::words::Words;
use crate::model::{FunctionId, ImportId, Imported, LabelId};

impl<'a, 'o> Compare<'a, 'o> {
    /// An import: of several of one name, those in the order of the module.
    pub(super) fn import(&mut self, id: ImportId, children: &mut Children<'a, 'o>) {
        let module = self.module;
        let import = &module.imports[id];
        let at = module.at_scope(import.scope);
        let tag = match import.what {
            Imported::AllOf(_) => dw::DW_TAG_imported_module,
            _ => dw::DW_TAG_imported_declaration,
        };
        let name = import.name.map_or("", |name| module.string(name));
        let Some(found) = children.take(tag, name, false) else {
            return self.find(Kind::MissingEntry, at, format!("{} `{name}`", tag.words()), "none");
        };
        self.report.entries += 1;
        self.attributes(found, false, &at);
        self.declared(found, &at, import.line);
        match import.what {
            Imported::Function(id) => self.refers(found, dw::DW_AT_import, Origin::Function(id), &at),
            Imported::Variable(id) => self.refers(found, dw::DW_AT_import, Origin::Place(id), &at),
            Imported::Namespace(id) | Imported::AllOf(id) => {
                self.refers(found, dw::DW_AT_import, Origin::Scope(id), &at);
            }
            Imported::Type(id) => self.ty(Some(id), found.reference(dw::DW_AT_import), &at),
        }
        if let Some(child) = found.children().next() {
            self.unexpected(child, at);
        }
    }

    /// A label in the code of a function.
    pub(super) fn label(&mut self, id: LabelId, function: FunctionId, children: &mut Children<'a, 'o>) {
        let module = self.module;
        let label = &module.labels[id];
        let at = module.at_scope(label.scope);
        let name = module.string(label.name);
        let Some(found) = children.take(dw::DW_TAG_label, name, false) else {
            return self.find(Kind::MissingEntry, at, format!("a label `{name}`"), "none");
        };
        self.report.entries += 1;
        self.attributes(found, false, &at);
        self.declared(found, &at, label.line);
        self.pc(found, dw::DW_AT_low_pc, Some(function), label.pc, &at);
        if let Some(child) = found.children().next() {
            self.unexpected(child, at);
        }
    }
}
