//! Writes imported entities: section 4.10.

use super::entities::{Globals, Operands};
use super::slots::{Item, State};
use super::writer::Word;
use super::{references, scopes};
use crate::error::Result;
use crate::model::Imported;
use crate::omission::{Property, Reason, Subject};
use crate::spirv::mode::Feature;
use crate::spirv::operand::Field;
use crate::spirv::table::InstructionName;

const MODULE: u32 = 0;
const DECLARATION: u32 = 1;

/// Writes the imports.
pub(super) fn imports(out: &mut Globals<'_, '_, '_>) -> Result<()> {
    for (id, import) in &out.module.imports {
        let subject = Subject::Import(id);
        if !out.writer.mode.has(Feature::Imports) {
            out.omit(subject, Property::Entity, Reason::Mode(out.writer.mode.name));
            continue;
        }
        let Some(entity) = imported(out, import.what)? else {
            let is_member = matches!(import.what, Imported::Member(..) | Imported::Enumerator(..));
            let reason = if is_member { Reason::NoOperand } else { Reason::NotInUnit };
            out.omit(subject, Property::Entity, reason);
            continue;
        };
        let tag = if matches!(import.what, Imported::AllOf(_)) { MODULE } else { DECLARATION };
        let unit = out.module.scopes[import.scope].unit;
        let [source, line, column] = out.place(import.line, unit, subject, Property::Line);
        let mut operands = Operands::new();
        operands.push((Field::Name, out.name(import.name)?));
        operands.push((Field::Tag, tag.into()));
        operands.push(source);
        operands.push((Field::Entity, entity));
        operands.extend([line, column]);
        scopes::omit_inlined(out, import.scope, subject);
        operands.push((Field::Scope, scopes::scope(out, import.scope, subject)?));
        out.writer.instruction(InstructionName::ImportedEntity, &operands)?;
    }
    Ok(())
}

/// The imported entity's operand, if the entity is written.
fn imported(out: &mut Globals<'_, '_, '_>, what: Imported) -> Result<Option<Word>> {
    let item = match what {
        Imported::Function(id) => Some(Item::Function(id)),
        Imported::Variable(id) => Some(Item::Variable(id)),
        Imported::Type(id) => references::type_item(out, id),
        Imported::Member(..) | Imported::Enumerator(..) => None,
        Imported::Namespace(id) | Imported::AllOf(id) => Some(Item::Scope(id)),
    };
    match item {
        // An entity in a cycle or another unit may not be written.
        Some(item) if out.slots.state(item) == State::Done => out.id(item).map(|id| Some(id.into())),
        _ => Ok(None),
    }
}
