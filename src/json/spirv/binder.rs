//! State while a binding is read: names become ids in the description and in the SPIR-V module.

use core::ops::Deref;

use hashbrown::HashMap;

use super::super::position;
use super::super::reader::Reader;
use super::super::values::Named;
use crate::error::{self, Count, Error, ErrorKind, Result};
use crate::model::UnitId;
use crate::near::nearest;
use crate::spirv::{Binding, DebugOperation, Id, OPERATIONS, Position};

/// State while a binding is read. The reader finds the description's entities.
pub(in crate::json) struct Binder<'r, 'a> {
    pub reader: &'r Reader<'a>,
    pub text: &'a str,
    /// The SPIR-V module's ids by name.
    pub ids: HashMap<String, Vec<Id>>,
    /// Unit of the function whose positions are read.
    pub unit: UnitId,
    pub binding: Binding,
}

impl<'a> Deref for Binder<'_, 'a> {
    type Target = Reader<'a>;

    fn deref(&self) -> &Reader<'a> {
        self.reader
    }
}

impl<'a> Binder<'_, 'a> {
    /// Returns the unit for functions that are not described.
    pub fn first() -> UnitId {
        UnitId::from_u32(0)
    }

    /// The id with a number or a name.
    pub fn id(&self, named: &Named<'a>) -> Result<Id> {
        let name = match named {
            Named::Number(number) => {
                let id = u32::try_from(*number).map_err(|_| {
                    Error::bad_argument(format!("{number} is out of range for an id; expected 32 bits"))
                });
                return id.map(Id);
            }
            Named::Text(name) => name,
        };
        match self.ids.get(&**name).map(|ids| &ids[..]) {
            Some(&[id]) => Ok(id),
            Some([first, second, ..]) => {
                let candidates = vec![first.to_string(), second.to_string()];
                let kind =
                    ErrorKind::AmbiguousName { kind: error::Named::Id, name: name.to_string(), candidates };
                Err(position::in_part(kind.into(), self.text, name))
            }
            _ => {
                let mut nearest = nearest(name, self.ids.keys().map(|name| &**name));
                nearest.sort_unstable();
                let kind = ErrorKind::UnknownName { kind: error::Named::Id, name: name.to_string(), nearest };
                Err(position::in_part(kind.into(), self.text, name))
            }
        }
    }

    /// The debug operation with a name and operands.
    pub fn operation(&self, name: &str, operands: &[u32]) -> Result<DebugOperation> {
        let number = OPERATIONS.iter().position(|known| known.name == name).ok_or_else(|| {
            let nearest = nearest(name, OPERATIONS.iter().map(|known| known.name));
            ErrorKind::UnknownName { kind: error::Named::DebugOperation, name: name.to_owned(), nearest }
        })?;
        DebugOperation::new(number as u32, operands).ok_or_else(|| {
            let count = Count(operands.len(), "operand");
            Error::bad_argument(format!("{name} has {count}; expected {}", OPERATIONS[number].operands))
        })
    }
}

/// A position that is given once.
#[derive(Default)]
pub(in crate::json) struct Placed(Option<Position>);

impl Placed {
    pub fn place(&mut self, position: Position) -> Result<()> {
        match self.0.replace(position) {
            None => Ok(()),
            Some(_) => Err(Self::wrong()),
        }
    }

    pub fn position(&self) -> Result<Position> {
        self.0.ok_or_else(Self::wrong)
    }

    fn wrong() -> Error {
        Error::bad_argument("position has no location or several; expected one of `start`, `before`, `after`")
    }
}
