//! Names that stand for something of another scope: section 4.10.

use super::entities::{Globals, Operands};
use super::order::{Item, State};
use super::writer::Word;
use crate::error::Result;
use crate::model::{Import, Imported, Module};
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
                self.writer.leave_out(
                    at,
                    format!(
                        "{}: the {} mode has no imports",
                        self.import_text(import),
                        self.writer.mode.name
                    ),
                );
                continue;
            }
            let Some(entity) = self.imported(import.what)? else {
                self.writer.leave_out(at, format!("{}: it is not said itself", self.import_text(import)));
                continue;
            };
            let tag = if matches!(import.what, Imported::AllOf(_)) { MODULE } else { DECLARATION };
            let unit = self.module.scopes[import.scope].unit;
            let text = self.import_text(import);
            let [source, line, column] =
                self.place(import.line, unit, |module| (module.at_scope(import.scope), text));
            let mut operands = Operands::new();
            operands.push((Field::Name, self.name(import.name)?));
            operands.push((Field::Tag, tag.into()));
            operands.push(source);
            operands.push((Field::Entity, entity));
            operands.extend([line, column]);
            let who = |module: &Module| (module.at_scope(import.scope), "an import".into());
            operands.push((Field::Scope, self.scope(import.scope, who)?));
            self.writer.instruction(Name::ImportedEntity, &operands)?;
        }
        Ok(())
    }

    /// What is imported, if it was written.
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

    fn import_text(&self, import: &Import) -> String {
        let module = self.module;
        match import.what {
            Imported::Function(id) => format!("the import of `{}`", module.string(module.functions[id].name)),
            Imported::Variable(id) => format!("the import of `{}`", module.name_of(id).unwrap_or_default()),
            Imported::Type(id) => format!("the import of {}", module.called(id)),
            Imported::Namespace(id) | Imported::AllOf(id) => match module.scopes[id].kind {
                crate::model::ScopeKind::Namespace { name: Some(name), .. } => {
                    format!("the import of namespace `{}`", module.string(name))
                }
                _ => "the import of a namespace".into(),
            },
        }
    }
}
