//! Imported entities: section 4.10.

use super::entities::{Globals, Operands};
use super::order::{Item, State};
use super::writer::Word;
use crate::error::Result;
use crate::model::Imported;
use crate::omission::{Property, Reason, Subject};
use crate::spirv::mode::Feature;
use crate::spirv::operand::Field;
use crate::spirv::table::Name;

const MODULE: u32 = 0;
const DECLARATION: u32 = 1;

impl Globals<'_, '_, '_> {
    /// Writes the imports.
    pub(super) fn imports(&mut self) -> Result<()> {
        for (id, import) in &self.module.imports {
            let subject = Subject::Import(id);
            if !self.writer.mode.has(Feature::Imports) {
                self.omit(subject, Property::Entity, Reason::Mode(self.writer.mode.name));
                continue;
            }
            let Some(entity) = self.imported(import.what)? else {
                self.omit(subject, Property::Entity, Reason::NotInUnit);
                continue;
            };
            let tag = if matches!(import.what, Imported::AllOf(_)) { MODULE } else { DECLARATION };
            let unit = self.module.scopes[import.scope].unit;
            let [source, line, column] = self.place(import.line, unit, subject, Property::Line);
            let mut operands = Operands::new();
            operands.push((Field::Name, self.name(import.name)?));
            operands.push((Field::Tag, tag.into()));
            operands.push(source);
            operands.push((Field::Entity, entity));
            operands.extend([line, column]);
            self.omit_inlined(import.scope, subject);
            operands.push((Field::Scope, self.scope(import.scope, subject)?));
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
            Some(item) if self.slots.state(item) == State::Done => self.id(item).map(|id| Some(id.into())),
            _ => Ok(None),
        }
    }
}
