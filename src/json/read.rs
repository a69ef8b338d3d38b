//! Reads descriptions and applies each statement to the builder.

use core::fmt;

use serde::de::{self, DeserializeSeed, Deserializer, MapAccess, SeqAccess, Visitor};
use serde_json::value::RawValue;
use serde_json::{Value, json};

use super::plain::{self, PlainVariables};
use super::position::{self, syntax_error, with_position};
use super::reader::{Reader, WHAT};
use super::schema::{self, HasSchema, Schemas};
use super::spirv::bound::Bound;
use super::statement::Statement;
use super::target::{TargetText, target_schema};
use super::values::Text;
use crate::build::{Blame, Builder};
use crate::error::{Error, ErrorKind, Result};
use crate::model::Module;

/// Format version.
pub(super) const VERSION: u64 = 1;

/// Size in bytes from which a description is limited to three times its size in memory, including the text.
const LARGE: usize = 64 << 20;

/// Reads a description with further variables, which are in the order of the statements before them.
pub(super) fn module<'a>(text: &'a [u8], variables: &'a PlainVariables<'a>) -> Result<Module> {
    let text = position::utf8(WHAT, text)?;
    finish_with(text, variables, read_all(text, variables, None)?.0.builder)
}

/// Finishes a description's module.
pub(super) fn finish(text: &str, builder: Builder) -> Result<Module> {
    finish_with(text, &|_| None, builder)
}

fn finish_with<'a>(text: &'a str, variables: &'a PlainVariables<'a>, builder: Builder) -> Result<Module> {
    builder.finish_or_blame().map_err(|wrong| {
        let position = match &wrong.blame {
            // A second reading finds the position.
            Some(blame) => read_all(text, &|number| variables(number), Some(blame))
                .err()
                .and_then(|error| error.at().json.clone()),
            None => None,
        };
        with_position(wrong.error, position.unwrap_or_else(|| position::key(text, "describe")))
    })
}

/// Reads the statements, up to the one to blame if `blame` is given.
pub(super) fn read<'a>(text: &'a str, blame: Option<&'a Blame>) -> Result<Reader<'a>> {
    Ok(read_with_spirv(text, blame)?.0)
}

/// Reads the statements, and a SPIR-V module's ids and positions, if any.
pub(super) fn read_with_spirv<'a>(
    text: &'a str,
    blame: Option<&'a Blame>,
) -> Result<(Reader<'a>, Option<Bound<'a>>)> {
    read_all(text, &|_| None, blame)
}

fn read_all<'a>(
    text: &'a str,
    variables: &'a PlainVariables<'a>,
    blame: Option<&'a Blame>,
) -> Result<(Reader<'a>, Option<Bound<'a>>)> {
    let mut document = Document { text, variables, added: 0, blame, reader: None, spirv: None, error: None };
    let mut json = serde_json::Deserializer::from_str(text);
    let read = json.deserialize_map(&mut document).and_then(|()| json.end());
    match (read, document) {
        (Ok(()), Document { reader: Some(reader), spirv, .. }) => Ok((reader, spirv)),
        // Every success makes a reader, so that this is unreachable.
        (Ok(()), _) => Err(Error::malformed("no description")),
        (Err(error), Document { error: None, .. }) => Err(syntax_error(WHAT, text, 0, text, &error)),
        // The error has a position, or gets the position where reading ended.
        (Err(wrong), Document { error: Some(error), .. }) => {
            Err(error.or_at(syntax_error(WHAT, text, 0, text, &wrong).at().clone()))
        }
    }
}

/// The document: `eitri`, `target`, `describe`, and perhaps `spirv`.
struct Document<'a> {
    text: &'a str,
    /// Variables that are not in the text, and the number of them that were added.
    variables: &'a PlainVariables<'a>,
    added: usize,
    blame: Option<&'a Blame>,
    reader: Option<Reader<'a>>,
    /// A SPIR-V module's ids and positions.
    spirv: Option<Bound<'a>>,
    /// Error that ended the reading, unless it is a JSON error.
    error: Option<Error>,
}

impl<'a> Visitor<'a> for &mut Document<'a> {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a description")
    }

    fn visit_map<A: MapAccess<'a>>(self, mut map: A) -> Result<(), A::Error> {
        let mut version = None;
        let mut is_described = false;
        let mut waiting = None;
        while let Some(key) = map.next_key::<Text<'_>>()? {
            match &*key {
                "eitri" if version.is_none() => {
                    let number: u64 = map.next_value()?;
                    if number != VERSION {
                        let what = format!("format version is {number}; expected {VERSION}");
                        let place = position::key(self.text, "eitri");
                        return Err(self.fail(with_position(ErrorKind::Unsupported(what).into(), place)));
                    }
                    version = Some(number);
                }
                "target" if self.reader.is_none() => {
                    let target: TargetText<'a> = map.next_value()?;
                    let target = target.resolve().map_err(|error| {
                        self.fail(with_position(error, position::key(self.text, "target")))
                    })?;
                    self.reader = Some(Reader::new(self.text, target, self.blame));
                }
                "describe" if !is_described => {
                    is_described = true;
                    if self.reader.is_some() && version.is_some() {
                        // The usual order: statements are read while the text is parsed, so that they are never in
                        // memory together.
                        map.next_value_seed(&mut *self)?;
                    } else {
                        // Statements can be read only once the target is known.
                        waiting = Some(map.next_value::<&RawValue>()?);
                    }
                }
                // Resolved by callers that have the module.
                "spirv" if self.spirv.is_none() => self.spirv = Some(map.next_value::<Bound<'a>>()?),
                // For editors only.
                "$schema" => drop(map.next_value::<Text<'_>>()?),
                "eitri" | "target" | "describe" | "spirv" => {
                    return Err(de::Error::custom(format!("duplicate field `{}`", &*key)));
                }
                _ => return Err(de::Error::unknown_field(&key, &["eitri", "target", "describe", "spirv"])),
            }
        }
        let missing = match (version, &self.reader, is_described) {
            (None, ..) => "eitri",
            (_, None, _) => "target",
            (_, _, false) => "describe",
            _ => {
                return waiting.map_or(Ok(()), |list| self.describe(list));
            }
        };
        Err(de::Error::missing_field(missing))
    }
}

impl<'a> Document<'a> {
    /// Reads a statement list that came before the target.
    fn describe<E: de::Error>(&mut self, list: &'a RawValue) -> Result<(), E> {
        let mut json = serde_json::Deserializer::from_str(list.get());
        let read = DeserializeSeed::deserialize(&mut *self, &mut json);
        read.map_err(|error| {
            // Positions inside the list are relative to it.
            let start = list.get().as_ptr() as usize - self.text.as_ptr() as usize;
            let error =
                self.error.take().unwrap_or_else(|| syntax_error(WHAT, self.text, start, list.get(), &error));
            self.fail(error)
        })
    }

    /// Adds the variables that come before the statement with a number.
    fn add_variables<E: de::Error>(&mut self, statement: usize) -> Result<(), E> {
        let Some(reader) = &mut self.reader else { return Ok(()) };
        while let Some(variable) = (self.variables)(self.added).filter(|next| next.after <= statement) {
            if let Err(error) = plain::apply(reader, &variable, self.added) {
                return Err(self.fail(error));
            }
            self.added += 1;
        }
        Ok(())
    }

    fn fail<E: de::Error>(&mut self, error: Error) -> E {
        self.error = Some(error);
        E::custom("")
    }
}

/// Reads the statement list.
impl<'a> DeserializeSeed<'a> for &mut Document<'a> {
    type Value = ();

    fn deserialize<D: Deserializer<'a>>(self, list: D) -> Result<(), D::Error> {
        struct List<'d, 'a>(&'d mut Document<'a>);
        impl<'a> Visitor<'a> for List<'_, 'a> {
            type Value = ();
            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a list of statements")
            }
            fn visit_seq<A: SeqAccess<'a>>(self, mut list: A) -> Result<(), A::Error> {
                let mut index = 0;
                self.0.add_variables(index)?;
                while let Some(statement) = list.next_element::<Statement<'a>>()? {
                    if let Some(reader) = &mut self.0.reader {
                        reader.index = index;
                    }
                    if let Some(reader) = &mut self.0.reader
                        && let Err(error) = statement.apply(reader).and_then(|()| reader.builder.take_wrong())
                    {
                        let text = self.0.text;
                        let error = match reader.key.take() {
                            Some(key) => with_position(error, position::statement_key(text, index, key)),
                            None => with_position(error, position::statement(text, index)),
                        };
                        return Err(self.0.fail(error));
                    }
                    index += 1;
                    self.0.add_variables(index)?;
                    // Short statements can need much more memory than text. Checked rarely, because the estimate costs
                    // time.
                    if index % 1024 == 0
                        && self.0.text.len() >= LARGE
                        && let Some(reader) = &self.0.reader
                        && reader.builder.bytes_soon(1024) > 2 * self.0.text.len()
                    {
                        let what = "description of 64 MiB or more has statements this short; \
                                    it needs more than three times its size in memory";
                        let error = Error::new(ErrorKind::TooLarge(what.into()));
                        return Err(self
                            .0
                            .fail(with_position(error, position::statement(self.0.text, index - 1))));
                    }
                }
                self.0.add_variables(usize::MAX)
            }
        }
        list.deserialize_seq(List(self))
    }
}

/// Returns a description's schema.
pub(crate) fn document_schema(to: &mut Schemas) -> Value {
    let statements = Vec::<Statement<'_>>::schema(to);
    schema::object([
        ("$schema", Text::schema(to), true),
        ("eitri", json!({"const": VERSION}), false),
        ("target", target_schema(to), false),
        ("describe", statements, false),
        ("spirv", Bound::schema(to), true),
    ])
}
