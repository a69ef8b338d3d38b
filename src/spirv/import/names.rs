//! Imported entities, macros, and producers and command lines of units.

use super::Importer;
use super::omissions::{Made, refused};
use super::order::Node;
use crate::error::Result;
use crate::model::{Imported, ScopeKind, UnitId};
use crate::omission::Unimported;
use crate::spirv::opcodes as op;
use crate::spirv::operand::Field;
use crate::spirv::read::Fact;
use crate::spirv::table::{Name, Set};
use crate::spirv::words::{Id, string_bytes};

/// Prefix with which the LLVM translator names the compiler.
const PRODUCER: &str = "Debug info producer: ";

/// Most aliases of aliases that are followed.
const MOST_ALIASES: usize = 64;

impl<'a> Importer<'_, 'a> {
    pub(super) fn names(&mut self) -> Result<()> {
        for fact in self.facts.iter() {
            match fact.name() {
                Some(Name::ImportedEntity) => {
                    let unit = self.unit_of(fact.result);
                    let entity = fact.id(Field::Entity).map(|entity| self.facts.not_template(entity));
                    let is_other = entity.is_none_or(|entity| {
                        self.entities.functions.contains_key(&entity)
                            || self.entities.variables.contains_key(&entity)
                            || self.entities.scopes.contains_key(&entity)
                    });
                    if let (Some((unit, entity)), false) = (unit.zip(entity), is_other) {
                        self.want(Node::Type(entity, unit))?;
                    }
                    let made = self.import(&fact);
                    self.omissions.made(&fact, made);
                }
                Some(Name::EntryPoint) => self.entry_point(&fact),
                None => self.omissions.omit(&fact, Unimported::NoInstruction(fact.set.name(), fact.number)),
                _ => {}
            }
        }
        for instruction in self.facts.layout().words().instructions() {
            if instruction.opcode() == op::MODULE_PROCESSED
                && let Some(bytes) = string_bytes(instruction.operands(), usize::MAX)
                && let Some(producer) = String::from_utf8_lossy(&bytes).strip_prefix(PRODUCER)
            {
                for unit in self.units.by_id.values() {
                    if let Ok(mut unit) = self.m.describe_unit(*unit) {
                        unit.producer(producer);
                    }
                }
            }
        }
        self.macros();
        Ok(())
    }

    fn import(&mut self, fact: &Fact<'a>) -> Made<()> {
        // The LLVM translator writes an extra word after the tag.
        let is_longer = fact.set == Set::OpenCl && fact.operands.len() == 8 && fact.operands[2] == 0;
        let short: Vec<u32>;
        let mut whole = *fact;
        if is_longer {
            short = [&fact.operands[..2], &fact.operands[3..]].concat();
            return self.imported(&Fact { operands: &short, ..whole });
        }
        whole.operands = fact.operands;
        self.imported(&whole)
    }

    fn imported(&mut self, fact: &Fact<'_>) -> Made<()> {
        let scope = self.parent(fact)?;
        let name = self.facts.text(fact, Field::Name);
        let is_module = self.facts.number(fact, Field::Tag) == Some(0);
        let mut entity = fact.id(Field::Entity).ok_or(Unimported::Missing("entity"))?;
        for _ in 0..MOST_ALIASES {
            let alias = self.facts.get(entity).filter(|fact| fact.name() == Some(Name::ImportedEntity));
            let Some(next) = alias.and_then(|alias| alias.id(Field::Entity)) else { break };
            entity = next;
        }
        let entity = self.facts.not_template(entity);
        let unit = self.m.described().scope(scope).unit;
        let is_namespace =
            |scope| matches!(self.m.described().scope(scope).kind, ScopeKind::Namespace { .. });
        let what = if let Some(&function) = self.entities.functions.get(&entity) {
            Imported::Function(function)
        } else if let Some(&variable) = self.entities.variables.get(&entity) {
            Imported::Variable(variable)
        } else if let Some(&ty) = self.entities.types.get(&(entity, unit)) {
            Imported::Type(ty)
        } else {
            match self.entities.scopes.get(&entity).copied() {
                Some(namespace) if is_namespace(namespace) => match is_module && name.is_empty() {
                    true => Imported::AllOf(namespace),
                    false => Imported::Namespace(namespace),
                },
                _ => return Err(Unimported::NotImportable(entity.0)),
            }
        };
        let line = self.import_line(fact, unit);
        if line.is_none() && self.facts.word(fact, Field::Column) != 0 {
            self.omissions.omit(fact, Unimported::ImportColumn);
        }
        let mut import = self.m.import(scope, what).map_err(refused)?;
        if !name.is_empty() {
            import.name(&name).map_err(refused)?;
        }
        if let Some(line) = line {
            import.declared_at(line).map_err(refused)?;
        }
        Ok(())
    }

    fn import_line(&mut self, fact: &Fact<'_>, unit: UnitId) -> Option<crate::model::SourceLine> {
        let (line, column) = (self.facts.word(fact, Field::Line), self.facts.word(fact, Field::Column));
        let file = fact.id(Field::Source).and_then(|source| self.file(source, unit))?;
        (line != 0).then_some(crate::model::SourceLine { file, line, column })
    }

    fn entry_point(&mut self, fact: &Fact<'a>) {
        let unit = fact.id(Field::CompilationUnit).and_then(|unit| self.units.by_id.get(&unit).copied());
        let Some(unit) = unit else { return self.omissions.omit(fact, Unimported::UnitNotImported) };
        let producer = self.facts.text(fact, Field::CompilerSignature);
        let command_line = self.facts.text(fact, Field::CommandLine);
        let module = self.m.described();
        let had = module.unit(unit);
        let text = |had: Option<_>| had.map(|had| module.string(had).to_owned());
        let is_other = |had: Option<String>, now: &str| had.is_some_and(|had| had != now);
        if is_other(text(had.producer), &producer) || is_other(text(had.command_line), &command_line) {
            return self.omissions.omit(fact, Unimported::OtherProducer);
        }
        if let Ok(mut unit) = self.m.describe_unit(unit) {
            if !producer.is_empty() {
                unit.producer(&producer);
            }
            if !command_line.is_empty() {
                unit.command_line(&command_line);
            }
        }
    }

    /// Imports the macros in order, by unit and file. Inclusions are not encoded.
    fn macros(&mut self) {
        let mut all: Vec<(UnitId, u32, Id, Fact<'a>)> = Vec::new();
        for fact in self.facts.iter() {
            if !matches!(fact.name(), Some(Name::MacroDef | Name::MacroUndef)) {
                continue;
            }
            let Some(source) = fact.id(Field::Source) else { continue };
            let path = self.facts.layout().string(source).unwrap_or_default();
            let unit = self.macro_unit(&path, all.last().map(|last| last.0));
            all.push((unit, self.facts.word(&fact, Field::Line), source, fact));
        }
        // Macros of the command line come before the first file.
        all.sort_by_key(|&(unit, line, ..)| (unit, line != 0));
        let mut open: Option<(UnitId, Id)> = None;
        for (unit, line, source, fact) in all {
            let of = (line != 0).then_some((unit, source));
            if open != of {
                self.end_file(open.take());
                if of.is_some() {
                    let path = self.facts.layout().string(source).unwrap_or_default();
                    let file = self.m.file(unit, &path, None);
                    let begun = file.and_then(|file| self.m.macros(unit)?.file(0, file).map(drop));
                    if let Err(error) = begun {
                        self.omissions.omit(&fact, refused(error));
                        continue;
                    }
                    open = of;
                }
            }
            let made = self.import_macro(&fact, unit, line);
            self.omissions.made(&fact, made);
        }
        self.end_file(open);
    }

    /// The unit of a macro in a file. The unit is not encoded: it is the unit named after the file, else the unit of
    /// the macro before, else a unit that has the file.
    fn macro_unit(&self, path: &str, before: Option<UnitId>) -> UnitId {
        let module = self.m.described();
        let name_of = |file| module.string(module.file(file).name);
        let named = module.units().find(|(_, unit)| name_of(unit.file) == path).map(|(id, _)| id);
        let mut files = module.files();
        let has = || files.find(|(id, _)| name_of(*id) == path).map(|(_, file)| file.unit);
        named.or(before).or_else(has).unwrap_or_else(|| self.units.first())
    }

    fn end_file(&mut self, open: Option<(UnitId, Id)>) {
        if let Some((unit, _)) = open {
            let _ = self.m.macros(unit).and_then(|mut macros| macros.end_file().map(drop));
        }
    }

    fn import_macro(&mut self, fact: &Fact<'a>, unit: UnitId, line: u32) -> Made<()> {
        let mut macros_of = |text: Result<&str, &str>| {
            let mut macros = self.m.macros(unit).map_err(refused)?;
            match text {
                Ok(text) => macros.define(line, text).map(drop),
                Err(name) => macros.undefine(line, name).map(drop),
            }
            .map_err(refused)
        };
        if fact.name() == Some(Name::MacroDef) {
            let facts = self.facts.all;
            let (name, value) = (facts.text(fact, Field::Name), facts.text(fact, Field::Value));
            return macros_of(Ok(&format!("{} {}", name.unwrap_or_default(), value.unwrap_or_default())));
        }
        let defined = self.facts.all.named(fact, Field::Macro).filter(|it| it.name() == Some(Name::MacroDef));
        let defined = defined.ok_or(Unimported::NotMacro)?;
        let name = self.facts.all.text(&defined, Field::Name).unwrap_or_default();
        // Without its parameters.
        macros_of(Err(name.split('(').next().unwrap_or_default().trim_end()))
    }
}
