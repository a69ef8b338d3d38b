//! Reads bindings: names become ids of the description and of the module.

use core::ops::Deref;

use hashbrown::HashMap;

use super::super::place::{self, at};
use super::super::read::{Reader, WHAT, finish, read};
use super::super::values::{Named, Signed};
use super::{ProvidedBy, Sums};
use crate::error::{self, Count, Error, ErrorKind, Result};
use crate::model::{Module, UnitId};
use crate::near::nearest;
use crate::spirv::{Binding, DebugOperation, Id, OPERATIONS, Position, names_of_ids, read as read_words};

impl Binding {
    /// Reads a [description](crate::json) with its key `spirv`, for the module in `words`. An id is a number, or the
    /// `OpName` that the module gives to one id alone.
    ///
    /// # Errors
    /// The errors of [`Module::from_json`], and those of [`read`](crate::spirv::read()).
    /// [`ErrorKind::BadArgument`] without the key, and for a position that is none or several;
    /// [`ErrorKind::UnknownName`] and [`ErrorKind::AmbiguousName`] for a name of no id, or of several;
    /// [`ErrorKind::UnknownName`] for an operation that is not a debug operation.
    pub fn from_json(text: impl AsRef<[u8]>, words: &[u32]) -> Result<(Module, Self)> {
        let text = place::utf8(WHAT, text.as_ref())?;
        let mut reader = read(text, None)?;
        let Some(bound) = reader.spirv.take() else {
            let what =
                "ids and positions of a SPIR-V module have the key `spirv`: the description is without it";
            return Err(at(Error::bad_argument(what), place::of_key(text, "describe")));
        };
        let facts = read_words(words)?;
        let ids = names_of_ids(facts.layout());
        let mut binder = Binder { reader: &reader, text, ids, unit: Binder::first(), binding: Self::new() };
        let bound = bound.read(&mut binder, ());
        let binding =
            bound.map(|()| binder.binding).map_err(|error| at(error, place::of_key(text, "spirv")))?;
        Ok((finish(text, reader.builder)?, binding))
    }
}

/// State while a binding is read. Entities of the description are found by the reader.
pub(in crate::json) struct Binder<'r, 'a> {
    pub reader: &'r Reader<'a>,
    text: &'a str,
    /// Ids of the SPIR-V module by name.
    ids: HashMap<String, Vec<Id>>,
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
    /// Unit of functions that are not described.
    pub fn first() -> UnitId {
        UnitId::from_u32(0)
    }

    /// The id with a number or a name.
    pub fn id(&self, named: &Named<'a>) -> Result<Id> {
        let name = match named {
            Named::Number(number) => {
                let id =
                    u32::try_from(*number).map_err(|_| Error::bad_argument(format!("{number} is not an id")));
                return id.map(Id);
            }
            Named::Text(name) => name,
        };
        match self.ids.get(&**name).map(|all| &all[..]) {
            Some(&[id]) => Ok(id),
            Some([one, other, ..]) => {
                let candidates = vec![one.to_string(), other.to_string()];
                let kind =
                    ErrorKind::AmbiguousName { kind: error::Named::Id, name: name.to_string(), candidates };
                Err(place::at_part(kind.into(), self.text, name))
            }
            _ => {
                let mut nearest = nearest(name, self.ids.keys().map(|name| &**name));
                nearest.sort_unstable();
                let kind = ErrorKind::UnknownName { kind: error::Named::Id, name: name.to_string(), nearest };
                Err(place::at_part(kind.into(), self.text, name))
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
            let wanted = Count(OPERATIONS[number].operands, "operand");
            Error::bad_argument(format!("{name} has {wanted}: {} given", operands.len()))
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

    #[cold]
    fn wrong() -> Error {
        Error::bad_argument("a position has one of the keys `start`, `before`, `after`")
    }
}

/// Refuses other keys of an expression beside its operations.
pub(super) fn whole_expression(by: &ProvidedBy<'_>) -> Result<()> {
    let has_others =
        by.pointer == Some(true) || by.plus.is_some() || by.space.is_some() || by.taken.is_some();
    match by.operations.is_some() && has_others {
        false => Ok(()),
        true => Err(Error::bad_argument(
            "`operations` are the whole expression: `pointer`, `space`, `plus` and `taken` are others",
        )),
    }
}

impl Sums {
    /// The numbers, of 32 bits each.
    pub fn numbers(self) -> Result<Vec<i32>> {
        let number = |Signed(plus)| {
            i32::try_from(plus).map_err(|_| Error::bad_argument(format!("{plus} is not of 32 bits")))
        };
        self.0.into_iter().map(number).collect()
    }
}
