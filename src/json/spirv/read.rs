//! Reads bindings: names become ids of the description and of the module.

use core::ops::Range;

use hashbrown::HashMap;

use super::super::place::{self, at};
use super::super::read::{Reader, WHAT, finish, read};
use super::super::values::{Named, Signed};
use super::{Bound, BoundPosition, IndexBy, ProvidedBy};
use crate::error::{self, Count, Error, ErrorKind, Result};
use crate::model::{Module, UnitId};
use crate::near::nearest;
use crate::spirv::{
    Binding, DebugOperation, Id, OPERATIONS, Position, Provider, names_of_ids, read as read_words,
};

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
                "ids and positions of a SPIR-V module have the key `spirv`, and the description has none";
            return Err(at(Error::bad_argument(what), place::of_key(text, "describe")));
        };
        let facts = read_words(words)?;
        let names = names_of_ids(facts.layout());
        let binding = Binder { reader: &reader, text, names, binding: Self::new() }.bind(bound);
        let binding = binding.map_err(|error| at(error, place::of_key(text, "spirv")))?;
        Ok((finish(text, reader.builder)?, binding))
    }
}

/// State while a binding is read.
struct Binder<'r, 'a> {
    reader: &'r Reader<'a>,
    text: &'a str,
    names: HashMap<String, Vec<Id>>,
    binding: Binding,
}

impl<'a> Binder<'_, 'a> {
    fn bind(mut self, bound: Bound<'a>) -> Result<Binding> {
        if let Some(digits) = bound.build_identifier {
            self.binding.build_identifier(&digits, bound.shared_identifier == Some(true));
        }
        if let Some(path) = bound.storage_path {
            self.binding.storage_path(&path);
        }
        for (unit, number) in bound.languages.unwrap_or_default() {
            let unit = self.reader.unit(&unit)?;
            self.binding.language(unit, number);
        }
        for (variable, id) in bound.globals.unwrap_or_default() {
            let (variable, id) = (self.reader.names.variables.find((), &variable)?, self.id(&id)?);
            self.binding.global(variable, id);
        }
        for function in bound.functions.unwrap_or_default() {
            let id = self.id(&function.id)?;
            let unit = match function.function {
                Some(function) => {
                    let (described, unit) = self.reader.function(&function)?;
                    self.binding.function(described, id);
                    unit
                }
                None => UnitId::from_u32(0),
            };
            for position in function.at.unwrap_or_default() {
                self.position(id, unit, position)?;
            }
        }
        Ok(self.binding)
    }

    /// The id with a number or a name.
    fn id(&self, named: &Named<'a>) -> Result<Id> {
        let name = match named {
            Named::Number(number) => {
                let id =
                    u32::try_from(*number).map_err(|_| Error::bad_argument(format!("{number} is not an id")));
                return id.map(Id);
            }
            Named::Text(name) => name,
        };
        match self.names.get(&**name).map(|all| &all[..]) {
            Some(&[id]) => Ok(id),
            Some([one, other, ..]) => {
                let candidates = vec![one.to_string(), other.to_string()];
                let kind =
                    ErrorKind::AmbiguousName { of: error::Named::Id, name: name.to_string(), candidates };
                Err(place::at_part(kind.into(), self.text, name))
            }
            _ => {
                let mut nearest = nearest(name, self.names.keys().map(|name| &**name));
                nearest.sort_unstable();
                let kind = ErrorKind::UnknownName { of: error::Named::Id, name: name.to_string(), nearest };
                Err(place::at_part(kind.into(), self.text, name))
            }
        }
    }

    fn position(&mut self, function: Id, unit: UnitId, bound: BoundPosition<'a>) -> Result<()> {
        let position = match (&bound.start, &bound.before, &bound.after) {
            (Some(label), None, None) => Position::start(function, self.id(label)?),
            (None, Some((label, index)), None) => Position::before(function, self.id(label)?, *index),
            (None, None, Some(id)) => Position::after(self.id(id)?),
            _ => {
                return Err(Error::bad_argument("a position has one of the keys `start`, `before`, `after`"));
            }
        };
        if let Some(scope) = bound.scope {
            self.binding.scope(position, self.reader.scope(&scope)?);
        }
        if bound.no_scope == Some(true) {
            self.binding.no_scope(position);
        }
        if let Some(line) = bound.line {
            self.binding.line(position, self.reader.line(unit, &line)?);
        }
        if bound.no_line == Some(true) {
            self.binding.no_line(position);
        }
        if let Some((variable, by)) = bound.declare {
            let variable = self.reader.names.variables.find((), &variable)?;
            let provider = self.provider(by)?;
            self.binding.declare(position, variable, provider);
        }
        if let Some((variable, by)) = bound.value {
            let variable = self.reader.names.variables.find((), &variable)?;
            let providers = by.into_iter().map(|by| self.provider(by)).collect::<Result<Vec<_>>>()?;
            self.binding.value(position, variable, &providers);
        }
        Ok(())
    }

    fn provider(&self, by: ProvidedBy<'a>) -> Result<Provider> {
        let id = self.id(&by.id)?;
        let is_pointer = by.pointer == Some(true);
        if by.operations.is_some()
            && (is_pointer || by.plus.is_some() || by.space.is_some() || by.taken.is_some())
        {
            let what =
                "`operations` are the whole expression: `pointer`, `space`, `plus` and `taken` are others";
            return Err(Error::bad_argument(what));
        }
        let mut provider = match by.operations {
            Some(operations) => {
                let all = operations.iter().map(|(name, operands)| operation(name, operands));
                Provider::expression(id, &all.collect::<Result<Vec<_>>>()?)
            }
            None if is_pointer => Provider::pointer(id),
            None => Provider::value(id),
        };
        if let Some(space) = by.space {
            provider = provider.in_space(space);
        }
        for Signed(plus) in by.plus.into_iter().flat_map(|it| it.0) {
            let plus =
                i32::try_from(plus).map_err(|_| Error::bad_argument(format!("{plus} is not of 32 bits")))?;
            provider = provider.plus(plus);
        }
        if let Some(taken) = by.taken {
            provider = provider.taken(bits(taken)?);
        }
        for index in by.part.unwrap_or_default() {
            provider = match index {
                IndexBy::Number(index) => provider.part(index),
                IndexBy::Id(id) => provider.part_by(self.id(&id)?),
            };
        }
        if let Some(selected) = by.bits {
            provider = provider.bits(bits(selected)?);
        }
        Ok(provider)
    }
}

fn bits((start, end): (u32, u32)) -> Result<Range<u32>> {
    match start < end {
        true => Ok(start..end),
        false => Err(Error::bad_argument(format!("bits end after their start: {start} to {end}"))),
    }
}

fn operation(name: &str, operands: &[u32]) -> Result<DebugOperation> {
    let number = OPERATIONS.iter().position(|known| known.name == name).ok_or_else(|| {
        let nearest = nearest(name, OPERATIONS.iter().map(|known| known.name));
        ErrorKind::UnknownName { of: error::Named::DebugOperation, name: name.to_owned(), nearest }
    })?;
    DebugOperation::new(number as u32, operands).ok_or_else(|| {
        let wanted = Count(OPERATIONS[number].operands, "operand");
        Error::bad_argument(format!("{name} has {wanted}, and here {}", operands.len()))
    })
}
