//! Builds a description's records, in the order in which messages list them.

use hashbrown::HashSet;
use smallvec::smallvec;

use super::described::{Duplicates, Projection, Properties};
use super::shapes::{Quoted, shape};
use super::{entities, lines, scopes, types};
use crate::model::{Imported, Macro, Module};
use crate::omission::{Property, Subject};
use crate::spirv::languages;

/// Builds the records.
pub(super) fn describe(projection: &mut Projection<'_>) {
    let Module { types, files, scopes, functions, variables, .. } = projection.module;
    let most = [types.len(), files.len(), scopes.len(), functions.len(), variables.len()];
    // The module itself has one more record.
    projection.described.records.reserve_exact(most.into_iter().sum::<usize>() + 1);
    metadata(projection);
    types::types(projection);
    units(projection);
    lines::files(projection);
    for (id, scope) in projection.module.scopes() {
        scopes::scope_record(projection, id, &scope.kind);
    }
    for id in projection.module.functions.keys() {
        entities::function_record(projection, id);
    }
    for id in projection.module.variables.keys() {
        entities::variable_record(projection, id);
    }
    imports(projection);
}

/// Properties that belong to the module rather than its source: build identifier and storage path.
fn metadata(projection: &mut Projection<'_>) {
    let mut properties = Properties::new();
    let is_omitted = |property| projection.omissions.has(Subject::Module, property);
    let build_id = projection.binding.build_id().filter(|_| !is_omitted(Property::BuildIdentifier));
    let path = projection.binding.stored_at().filter(|_| !is_omitted(Property::StoragePath));
    if let Some((digits, may_be_shared)) = build_id {
        properties.push((
            Property::BuildIdentifier,
            "build identifier".into(),
            shape!(projection.shapes; Quoted(digits)),
        ));
        projection.yes(&mut properties, may_be_shared, (Property::BuildIdentifier, "shared"));
    }
    if let Some(path) = path {
        properties.push((
            Property::StoragePath,
            "storage path".into(),
            shape!(projection.shapes; Quoted(path)),
        ));
    }
    let key = shape!(projection.shapes; "the module");
    projection.record(key, Subject::Module, &properties, Duplicates::Kept);
}

fn units(projection: &mut Projection<'_>) {
    for (id, unit) in projection.module.units() {
        let mut properties = Properties::new();
        let subject = Subject::Unit(id);
        let is_omitted = |property| projection.omissions.has(subject, property);
        let language = unit.language.filter(|_| !is_omitted(Property::Language));
        let number = language.and_then(|language| languages::number(language, projection.mode.set));
        let bound = projection.binding.language_number(id).filter(|_| !is_omitted(Property::Language));
        let language = match (language, number) {
            _ if bound.is_some() => shape!(projection.shapes; u64::from(bound.unwrap_or_default())),
            (None, _) => shape!(projection.shapes; 0u64),
            (_, Some(number)) => shape!(projection.shapes; u64::from(number)),
            (Some(language), None) => shape!(projection.shapes; "DWARF language", u64::from(language.0)),
        };
        properties.push((Property::Language, "language".into(), language));
        projection.yes(
            &mut properties,
            unit.is_optimized && !is_omitted(Property::Optimized),
            (Property::Optimized, "optimized"),
        );
        for (property, name, text) in [
            (Property::Producer, "producer", unit.producer),
            (Property::CommandLine, "command line", unit.command_line),
        ] {
            let text = text.map_or("", |text| projection.module.string(text));
            if !text.is_empty() && !is_omitted(property) {
                properties.push((property, name.into(), shape!(projection.shapes; Quoted(text))));
            }
        }
        if !is_omitted(Property::Macros) {
            properties.extend(macros(projection, id));
        }
        let key = scopes::scope(projection, unit.scope);
        projection.record(key, subject, &properties, Duplicates::Kept);
    }
}

/// Macro definitions in order; the command line's definitions come first.
fn macros(projection: &mut Projection<'_>, id: crate::model::UnitId) -> Properties {
    let mut files = Vec::new();
    let mut macros = Vec::new();
    let mut defined = HashSet::new();
    for (index, what) in (0..).zip(projection.module.macros(id)) {
        let is_omitted = |property| projection.omissions.has(Subject::Macro(id, index), property);
        let file = files.last().copied().unwrap_or(projection.module.unit(id).file);
        match *what {
            Macro::File { file, line } => {
                files.push(file);
                if line != 0 && !is_omitted(Property::MacroInclusion) {
                    macros.push((
                        line,
                        shape!(projection.shapes; "include", lines::path_text(projection, file), u64::from(line)),
                    ));
                }
            }
            Macro::EndFile => drop(files.pop()),
            Macro::Define { line, text } => {
                let text = projection.module.string(text).trim_end_matches(' ').to_owned();
                let head = text.find(['(', ' ']).unwrap_or(text.len());
                defined.insert(text[..head].to_owned());
                let path = if line == 0 {
                    projection.shapes.text_of("")
                } else {
                    lines::path_text(projection, file)
                };
                macros.push((line, shape!(projection.shapes; "define", text, path, u64::from(line))));
            }
            Macro::Undefine { line, name } => {
                let name = projection.module.string(name).to_owned();
                // An undefinition refers to its definition, so that it is omitted if there is none.
                if defined.remove(&name) || !is_omitted(Property::MacroUndefinition) {
                    let path = if line == 0 {
                        projection.shapes.text_of("")
                    } else {
                        lines::path_text(projection, file)
                    };
                    macros.push((line, shape!(projection.shapes; "undefine", name, path, u64::from(line))));
                }
            }
        }
    }
    // The sort is stable, so that the order within a file stays.
    macros.sort_by_key(|(line, _)| *line != 0);
    macros
        .into_iter()
        .enumerate()
        .map(|(index, (_, shape))| (Property::Macros, format!("macro {index}").into(), shape))
        .collect()
}

fn imports(projection: &mut Projection<'_>) {
    let module = projection.module;
    for (id, import) in module.imports() {
        if projection.omissions.has(Subject::Import(id), Property::Entity) {
            continue;
        }
        let (kind, what) = match import.what {
            Imported::Function(id) => ("of", scopes::scope(projection, module.function(id).scope)),
            Imported::Variable(id) => ("of", scopes::variable_key(projection, id)),
            Imported::Type(id) => ("of", projection.ty(id)),
            Imported::Member(id, _) | Imported::Enumerator(id, _) => ("of a member of", projection.ty(id)),
            Imported::Namespace(id) => ("of", scopes::scope(projection, id)),
            Imported::AllOf(id) => ("of all of", scopes::scope(projection, id)),
        };
        let name = Quoted(import.name.map_or("", |name| module.string(name)));
        let lexical = projection.lexical(import.scope);
        let scope = scopes::scope(projection, lexical);
        let key = shape!(projection.shapes; scope, "import", kind, what, name);
        let line = lines::line(projection, import.line, Subject::Import(id), Property::Line);
        let properties = smallvec![(Property::Line, "line".into(), line)];
        projection.record(key, Subject::Import(id), &properties, Duplicates::Kept);
    }
}
