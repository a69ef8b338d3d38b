//! Resolves ids and names to entities.

use core::hash::Hash;

use hashbrown::HashMap;
use hashbrown::hash_map::Entry;

use super::position::in_part;
use super::values::Text;
use crate::build::VariantId;
use crate::error::{Error, ErrorKind, Named, Result};
use crate::model::{
    CallId, FileId, FunctionId, ImportId, LabelId, ProcedureId, RegionId, ScopeId, TypeId, UnitId,
    VariableId, VariantPartId,
};
use crate::near::nearest;

/// Entities with an id, by id, and entities without an id, by name; all of one kind.
#[derive(Debug)]
pub(super) struct Table<'a, In, Id> {
    kind: &'static str,
    /// The whole description.
    source: &'a str,
    ids: HashMap<Text<'a>, Id>,
    /// Entities by scope and name; `None` for a name that two entities in the scope have.
    names: HashMap<(In, Text<'a>), Option<Id>>,
}

impl<'a, In: Copy + Eq + Hash, Id: Copy + PartialEq> Table<'a, In, Id> {
    fn new(kind: &'static str, source: &'a str) -> Self {
        Self { kind, source, ids: HashMap::new(), names: HashMap::new() }
    }

    /// Registers an entity under its id, or else under its name, if any.
    pub fn add(&mut self, entity: Id, id: Option<&Text<'a>>, named: Option<(In, &Text<'a>)>) -> Result<()> {
        if let Some(id) = id {
            if self.ids.insert(id.clone(), entity).is_some() {
                let kind =
                    ErrorKind::DuplicateName { kind: Named::Described(self.kind), name: id.to_string() };
                return Err(in_part(kind.into(), self.source, id));
            }
        } else if let Some((within, name)) = named {
            match self.names.entry((within, name.clone())) {
                Entry::Vacant(entry) => drop(entry.insert(Some(entity))),
                // The name is not an error until a statement uses it.
                Entry::Occupied(mut entry) if *entry.get() != Some(entity) => drop(entry.insert(None)),
                Entry::Occupied(_) => {}
            }
        }
        Ok(())
    }

    /// Resolves an id, or a name in the scope `within`.
    pub fn find(&self, within: In, text: &Text<'a>) -> Result<Id> {
        match (self.ids.get(text), self.names.get(&(within, text.clone()))) {
            // An id that is also another entity's name is ambiguous too.
            (Some(&id), None) | (None, Some(&Some(id))) => Ok(id),
            (None, None) => Err(self.unknown(within, text)),
            _ => {
                let kind = ErrorKind::AmbiguousName {
                    kind: Named::Described(self.kind),
                    name: text.to_string(),
                    candidates: Vec::new(),
                };
                Err(in_part(kind.into(), self.source, text))
            }
        }
    }

    /// An error with the nearest ids, and names in the scope `within`.
    fn unknown(&self, within: In, text: &Text<'a>) -> Error {
        let names = self.names.keys().filter(|(scope, _)| *scope == within).map(|(_, name)| name);
        let mut nearest = nearest(text, self.ids.keys().chain(names).map(|name| &**name));
        nearest.sort_unstable();
        let kind =
            ErrorKind::UnknownName { kind: Named::Described(self.kind), name: text.to_string(), nearest };
        in_part(kind.into(), self.source, text)
    }
}

/// All entities that statements can reference.
#[derive(Debug)]
pub(super) struct Names<'a> {
    pub units: Table<'a, (), UnitId>,
    pub files: Table<'a, UnitId, FileId>,
    pub types: Table<'a, UnitId, TypeId>,
    /// Units, namespaces, functions, blocks, inlined calls, and structures with an id.
    pub scopes: Table<'a, (), ScopeId>,
    pub functions: Table<'a, UnitId, FunctionId>,
    pub variables: Table<'a, (), VariableId>,
    pub procedures: Table<'a, (), ProcedureId>,
    pub calls: Table<'a, (), CallId>,
    pub imports: Table<'a, (), ImportId>,
    pub labels: Table<'a, (), LabelId>,
    pub regions: Table<'a, (), RegionId>,
    pub parts: Table<'a, (), VariantPartId>,
    pub variants: Table<'a, (), VariantId>,
}

impl<'a> Names<'a> {
    /// Makes empty tables for a description.
    pub fn new(source: &'a str) -> Self {
        Self {
            units: Table::new("unit", source),
            files: Table::new("file of this unit", source),
            types: Table::new("type of this unit", source),
            scopes: Table::new("scope", source),
            functions: Table::new("function of this unit", source),
            variables: Table::new("variable", source),
            procedures: Table::new("procedure", source),
            calls: Table::new("call", source),
            imports: Table::new("import", source),
            labels: Table::new("label", source),
            regions: Table::new("region", source),
            parts: Table::new("variant part", source),
            variants: Table::new("variant", source),
        }
    }
}
