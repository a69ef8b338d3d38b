//! Which entity an id or a name means.

use core::hash::Hash;

use hashbrown::HashMap;
use hashbrown::hash_map::Entry;

use super::words::Text;
use crate::build::VariantId;
use crate::error::{Error, Result};
use crate::model::{
    CallId, FileId, FunctionId, ProcedureId, RegionId, ScopeId, TypeId, UnitId, VariableId, VariantPartId,
};

/// The entities of one kind by id, and by name where they have no id.
#[derive(Debug)]
pub(super) struct Table<'a, In, Id> {
    kind: &'static str,
    ids: HashMap<Text<'a>, Id>,
    /// By what they are in, for a name means nothing outside of that; `None` if two have the name.
    names: HashMap<(In, Text<'a>), Option<Id>>,
}

impl<'a, In: Copy + Eq + Hash, Id: Copy + PartialEq> Table<'a, In, Id> {
    fn new(kind: &'static str) -> Self {
        Self { kind, ids: HashMap::new(), names: HashMap::new() }
    }

    /// An entity that was said. With an id it goes by that, otherwise by its name, if it has one.
    pub fn add(&mut self, entity: Id, id: Option<&Text<'a>>, named: Option<(In, &Text<'a>)>) -> Result<()> {
        if let Some(id) = id {
            if self.ids.insert(id.clone(), entity).is_some() {
                return Err(Error::bad_argument(format!("another {} has the id `{}`", self.kind, &**id)));
            }
        } else if let Some((within, name)) = named {
            match self.names.entry((within, name.clone())) {
                Entry::Vacant(entry) => drop(entry.insert(Some(entity))),
                Entry::Occupied(mut entry) if *entry.get() != Some(entity) => drop(entry.insert(None)),
                Entry::Occupied(_) => {}
            }
        }
        Ok(())
    }

    /// The entity that is meant, where names are those in `within`.
    pub fn find(&self, within: In, text: &Text<'a>) -> Result<Id> {
        let (kind, shown) = (self.kind, &**text);
        match (self.ids.get(text), self.names.get(&(within, text.clone()))) {
            (Some(&id), None) | (None, Some(&Some(id))) => Ok(id),
            (None, None) => {
                Err(Error::bad_argument(format!("no {kind} has the id or name `{shown}` so far")))
            }
            _ => {
                Err(Error::bad_argument(format!("`{shown}` means more than one {kind}: ids tell them apart")))
            }
        }
    }
}

/// All that has been said and can be referred to.
#[derive(Debug)]
pub(super) struct Names<'a> {
    pub units: Table<'a, (), UnitId>,
    pub files: Table<'a, UnitId, FileId>,
    pub types: Table<'a, UnitId, TypeId>,
    /// Units, namespaces, functions, blocks and inlined calls, wherever they are, and structures with an id.
    pub scopes: Table<'a, (), ScopeId>,
    pub functions: Table<'a, UnitId, FunctionId>,
    pub variables: Table<'a, (), VariableId>,
    pub procedures: Table<'a, (), ProcedureId>,
    pub calls: Table<'a, (), CallId>,
    pub regions: Table<'a, (), RegionId>,
    pub parts: Table<'a, (), VariantPartId>,
    pub variants: Table<'a, (), VariantId>,
}

impl Names<'_> {
    pub fn new() -> Self {
        Self {
            units: Table::new("unit"),
            files: Table::new("file of this unit"),
            types: Table::new("type of this unit"),
            scopes: Table::new("scope"),
            functions: Table::new("function of this unit"),
            variables: Table::new("variable"),
            procedures: Table::new("procedure"),
            calls: Table::new("call"),
            regions: Table::new("region"),
            parts: Table::new("variant part"),
            variants: Table::new("variant"),
        }
    }
}
