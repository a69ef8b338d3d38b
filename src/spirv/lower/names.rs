//! Imported entities: section 4.10.

use super::entities::{Globals, Operands};
use super::order::{Item, State};
use super::writer::Word;
use crate::error::Result;
use crate::model::{Import, Imported, Module, ScopeId, ScopeKind};
use crate::spirv::operand::Field;
use crate::spirv::table::Name;

const MODULE: u32 = 0;
const DECLARATION: u32 = 1;

impl Globals<'_, '_, '_> {
    /// Writes the imports.
    pub(super) fn imports(&mut self) -> Result<()> {
        for import in self.module.imports.values() {
            let at = self.module.at_scope(import.scope);
            if !self.writer.mode.has_imports {
                let what = format!(
                    "{}: the {} mode has no imports",
                    text(self.module, import),
                    self.writer.mode.name
                );
                self.writer.leave_out(at, what);
                continue;
            }
            let Some(entity) = self.imported(import.what)? else {
                self.writer.leave_out(at, format!("{}: it is not said itself", text(self.module, import)));
                continue;
            };
            let tag = if matches!(import.what, Imported::AllOf(_)) { MODULE } else { DECLARATION };
            let unit = self.module.scopes[import.scope].unit;
            let who = |module: &Module| (module.at_scope(import.scope), text(module, import));
            let [source, line, column] = self.place(import.line, unit, who);
            let mut operands = Operands::new();
            operands.push((Field::Name, self.name(import.name)?));
            operands.push((Field::Tag, tag.into()));
            operands.push(source);
            operands.push((Field::Entity, entity));
            operands.extend([line, column]);
            self.leave_inlined(import.scope, who);
            operands.push((Field::Scope, self.scope(import.scope, who)?));
            self.writer.instruction(Name::ImportedEntity, &operands)?;
        }
        Ok(())
    }

    /// Operand for the imported entity, if the entity is written.
    fn imported(&mut self, what: Imported) -> Result<Option<Word>> {
        let item = match what {
            Imported::Function(id) => Some(Item::Function(id)),
            Imported::Variable(id) => Some(Item::Variable(id)),
            Imported::Type(id) => self.type_item(id),
            Imported::Namespace(id) | Imported::AllOf(id) => Some(Item::Scope(id)),
        };
        match item {
            Some(item) if self.state(item) == State::Done => self.id(item).map(|id| Some(id.into())),
            _ => Ok(None),
        }
    }
}

/// Describes an import, for messages.
fn text(module: &Module, import: &Import) -> String {
    let namespace = |id: ScopeId| match module.scopes[id].kind {
        ScopeKind::Namespace { name: Some(name), .. } => format!("namespace `{}`", module.string(name)),
        _ => "a namespace".into(),
    };
    match import.what {
        Imported::Function(id) => format!("the import of `{}`", module.string(module.functions[id].name)),
        Imported::Variable(id) => format!("the import of `{}`", module.name_of(id).unwrap_or_default()),
        Imported::Type(id) => format!("the import of {}", module.called(id)),
        Imported::Namespace(id) => format!("the import of {}", namespace(id)),
        Imported::AllOf(id) => format!("the import of all names of {}", namespace(id)),
    }
}
