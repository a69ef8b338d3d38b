//! Imports imported entities, and the units' producers and command lines.

use super::importer::{Importer, Node};
use super::omissions::{Made, refused};
use super::order;
use crate::error::Result;
use crate::model::{Imported, ScopeKind, UnitId};
use crate::omission::Unimported;
use crate::spirv::opcodes as op;
use crate::spirv::operand::Field;
use crate::spirv::read::Fact;
use crate::spirv::table::{InstructionName, Set};
use crate::spirv::words::string_bytes;

/// The prefix with which the LLVM translator names the compiler.
const PRODUCER: &str = "Debug info producer: ";

/// Limit for aliases that refer to aliases.
const MOST_ALIASES: usize = 64;

pub(super) fn names(importer: &mut Importer<'_, '_>) -> Result<()> {
    for fact in importer.facts.iter() {
        match fact.name() {
            Some(InstructionName::ImportedEntity) => {
                let unit = importer.unit_of(fact.result);
                let entity = fact.id(Field::Entity).map(|entity| importer.facts.not_template(entity));
                // Everything else can only be a type, which has to be imported first.
                let is_other = entity.is_none_or(|entity| {
                    importer.entities.functions.contains_key(&entity)
                        || importer.entities.variables.contains_key(&entity)
                        || importer.entities.scopes.contains_key(&entity)
                });
                if let (Some((unit, entity)), false) = (unit.zip(entity), is_other) {
                    order::want(importer, Node::Type(entity, unit))?;
                }
                let made = import(importer, &fact);
                importer.omissions.made(&fact, made);
            }
            Some(InstructionName::EntryPoint) => entry_point(importer, &fact),
            None => importer.omissions.omit(&fact, Unimported::NoInstruction(fact.set, fact.number)),
            _ => {}
        }
    }
    for instruction in importer.facts.layout().words().instructions() {
        if instruction.opcode() == op::MODULE_PROCESSED
            && let Some(bytes) = string_bytes(instruction.operands(), usize::MAX)
            && let Some(producer) = String::from_utf8_lossy(&bytes).strip_prefix(PRODUCER)
        {
            for unit in importer.units.by_id.values() {
                if let Ok(mut unit) = importer.m.describe_unit(*unit) {
                    unit.producer(producer);
                }
            }
        }
    }
    Ok(())
}

fn import(importer: &mut Importer<'_, '_>, fact: &Fact<'_>) -> Made<()> {
    // The LLVM translator writes an additional word after the tag.
    if fact.set == Set::OpenCl && fact.operands.len() == 8 && fact.operands[2] == 0 {
        let short = [&fact.operands[..2], &fact.operands[3..]].concat();
        return imported(importer, &Fact { operands: &short, ..*fact });
    }
    imported(importer, fact)
}

fn imported(importer: &mut Importer<'_, '_>, fact: &Fact<'_>) -> Made<()> {
    let scope = importer.parent(fact)?;
    let name = importer.facts.text(fact, Field::Name);
    let is_module = importer.facts.number(fact, Field::Tag) == Some(0);
    let mut entity = fact.id(Field::Entity).ok_or(Unimported::Missing(Field::Entity))?;
    // Aliases can form a cycle in an invalid module.
    for _ in 0..MOST_ALIASES {
        let alias =
            importer.facts.get(entity).filter(|fact| fact.name() == Some(InstructionName::ImportedEntity));
        let Some(next) = alias.and_then(|alias| alias.id(Field::Entity)) else { break };
        entity = next;
    }
    let entity = importer.facts.not_template(entity);
    let unit = importer.m.described().scope(scope).unit;
    let is_namespace =
        |scope| matches!(importer.m.described().scope(scope).kind, ScopeKind::Namespace { .. });
    let what = if let Some(&function) = importer.entities.functions.get(&entity) {
        Imported::Function(function)
    } else if let Some(&variable) = importer.entities.variables.get(&entity) {
        Imported::Variable(variable)
    } else if let Some(&ty) = importer.entities.types.get(&(entity, unit)) {
        Imported::Type(ty)
    } else {
        match importer.entities.scopes.get(&entity).copied() {
            // An empty name with the module tag is a using directive, which imports all names.
            Some(namespace) if is_namespace(namespace) => {
                if is_module && name.is_empty() {
                    Imported::AllOf(namespace)
                } else {
                    Imported::Namespace(namespace)
                }
            }
            _ => return Err(Unimported::NotImportable(entity.0)),
        }
    };
    let line = import_line(importer, fact, unit);
    if line.is_none() && importer.facts.word(fact, Field::Column) != 0 {
        importer.omissions.omit(fact, Unimported::ImportColumn);
    }
    let mut import = importer.m.import(scope, what).map_err(refused)?;
    if !name.is_empty() {
        import.name(&name).map_err(refused)?;
    }
    if let Some(line) = line {
        import.declared(line).map_err(refused)?;
    }
    Ok(())
}

fn import_line(
    importer: &mut Importer<'_, '_>,
    fact: &Fact<'_>,
    unit: UnitId,
) -> Option<crate::model::SourceLine> {
    let line = importer.facts.word(fact, Field::Line);
    let column = importer.facts.word(fact, Field::Column);
    let file = fact.id(Field::Source).and_then(|source| importer.file(source, unit))?;
    (line != 0).then_some(crate::model::SourceLine::new(file, line).column(column))
}

fn entry_point(importer: &mut Importer<'_, '_>, fact: &Fact<'_>) {
    let unit = fact.id(Field::CompilationUnit).and_then(|unit| importer.units.by_id.get(&unit).copied());
    let Some(unit) = unit else { return importer.omissions.omit(fact, Unimported::UnitNotImported) };
    let producer = importer.facts.text(fact, Field::CompilerSignature);
    let command_line = importer.facts.text(fact, Field::CommandLine);
    let module = importer.m.described();
    let had = module.unit(unit);
    // Several entry points in a unit may repeat the same text.
    let text = |had: Option<_>| had.map(|had| module.string(had).to_owned());
    let is_other = |had: Option<String>, now: &str| had.is_some_and(|had| had != now);
    if is_other(text(had.producer), &producer) || is_other(text(had.command_line), &command_line) {
        return importer.omissions.omit(fact, Unimported::OtherProducer);
    }
    if let Ok(mut unit) = importer.m.describe_unit(unit) {
        if !producer.is_empty() {
            unit.producer(&producer);
        }
        if !command_line.is_empty() {
            unit.command_line(&command_line);
        }
    }
}
