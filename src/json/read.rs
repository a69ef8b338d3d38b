//! Reads descriptions and applies each statement to the builder.

use core::fmt;

use hashbrown::HashMap;
use serde::de::{self, DeserializeSeed, Deserializer, MapAccess, SeqAccess, Visitor};
use serde_json::value::RawValue;

use super::code::Coded;
use super::names::Names;
use super::place::{self, at, of_json};
use super::spirv::Bound;
use super::statement::Statement;
use super::target::TargetText;
use super::values::{Named, Text};
use crate::build::{Blame, Builder};
use crate::error::{Error, ErrorKind, Result};
use crate::model::Module;
use crate::op::Reg;
use crate::target::{SpaceId, Target};

/// Name of the text in errors.
pub(super) const WHAT: &str = "the description";

/// Version of the format.
pub(super) const VERSION: u64 = 1;

/// Size in bytes from which a description is limited to three times its size in memory, including the text.
const LARGE: usize = 64 << 20;

/// Reads a description.
pub(super) fn module(text: &[u8]) -> Result<Module> {
    let text = place::utf8(WHAT, text)?;
    finish(text, read(text, None)?.builder)
}

/// Finishes the module of a description.
pub(super) fn finish(text: &str, builder: Builder) -> Result<Module> {
    builder.finish_or_blame().map_err(|wrong| {
        let found = match &wrong.blame {
            // A second reading finds the position.
            Some(blame) => read(text, Some(blame)).err().and_then(|error| error.at().json.clone()),
            None => None,
        };
        at(wrong.error, found.unwrap_or_else(|| place::of_key(text, "describe")))
    })
}

/// Reads the statements, up to the one to blame if `blame` is given.
pub(super) fn read<'a>(text: &'a str, blame: Option<&'a Blame>) -> Result<Reader<'a>> {
    let mut document = Document { text, blame, reader: None, error: None };
    let mut json = serde_json::Deserializer::from_str(text);
    let read = json.deserialize_map(&mut document).and_then(|()| json.end());
    match (read, document) {
        (Ok(()), Document { reader: Some(reader), .. }) => Ok(reader),
        // Every success makes a reader, so that this is unreachable.
        (Ok(()), _) => Err(Error::malformed("no description")),
        (Err(error), Document { error: None, .. }) => Err(of_json(WHAT, text, 0, text, &error)),
        // The error has a position, or gets that of the end of reading.
        (Err(wrong), Document { error: Some(error), .. }) => {
            Err(error.or_at(of_json(WHAT, text, 0, text, &wrong).at().clone()))
        }
    }
}

/// The document: `eitri`, `target`, `describe`, and perhaps `spirv`.
struct Document<'a> {
    text: &'a str,
    blame: Option<&'a Blame>,
    reader: Option<Reader<'a>>,
    /// Error that ended the reading, unless it is one of the JSON.
    error: Option<Error>,
}

impl<'a> Visitor<'a> for &mut Document<'a> {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a description")
    }

    fn visit_map<A: MapAccess<'a>>(self, mut map: A) -> Result<(), A::Error> {
        let (mut version, mut is_described, mut waiting, mut spirv) = (None, false, None, None);
        while let Some(key) = map.next_key::<Text<'_>>()? {
            match &*key {
                "eitri" if version.is_none() => {
                    let found: u64 = map.next_value()?;
                    if found != VERSION {
                        let what = format!("version {found} of the format: this is version {VERSION}");
                        let place = place::of_key(self.text, "eitri");
                        return Err(self.fail(at(ErrorKind::Unsupported(what).into(), place)));
                    }
                    version = Some(found);
                }
                "target" if self.reader.is_none() => {
                    let target: TargetText<'a> = map.next_value()?;
                    let target = target
                        .resolve()
                        .map_err(|error| self.fail(at(error, place::of_key(self.text, "target"))))?;
                    self.reader = Some(Reader::new(self.text, target, self.blame));
                }
                "describe" if !is_described => {
                    is_described = true;
                    match self.reader.is_some() && version.is_some() {
                        true => map.next_value_seed(&mut *self)?,
                        // Statements can be read only once the target is known.
                        false => waiting = Some(map.next_value::<&RawValue>()?),
                    }
                }
                // Resolved by those who have the module.
                "spirv" if spirv.is_none() => spirv = Some(map.next_value::<Bound<'a>>()?),
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
                waiting.map_or(Ok(()), |list| self.describe(list))?;
                if let Some(reader) = &mut self.reader {
                    reader.spirv = spirv;
                }
                return Ok(());
            }
        };
        Err(de::Error::missing_field(missing))
    }
}

impl<'a> Document<'a> {
    /// Reads a list of statements that came before the target.
    fn describe<E: de::Error>(&mut self, list: &'a RawValue) -> Result<(), E> {
        let mut json = serde_json::Deserializer::from_str(list.get());
        let read = DeserializeSeed::deserialize(&mut *self, &mut json);
        read.map_err(|error| {
            let start = list.get().as_ptr() as usize - self.text.as_ptr() as usize;
            let error =
                self.error.take().unwrap_or_else(|| of_json(WHAT, self.text, start, list.get(), &error));
            self.fail(error)
        })
    }

    #[cold]
    fn fail<E: de::Error>(&mut self, error: Error) -> E {
        self.error = Some(error);
        E::custom("")
    }
}

/// Reads the list of statements.
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
                while let Some(statement) = list.next_element::<Statement<'a>>()? {
                    if let Some(reader) = &mut self.0.reader {
                        reader.index = index;
                    }
                    if let Some(reader) = &mut self.0.reader
                        && let Err(error) = statement.apply(reader).and_then(|()| reader.builder.take_wrong())
                    {
                        let text = self.0.text;
                        let error = match reader.key.take() {
                            Some(key) => at(error, place::of_statement_key(text, index, key)),
                            None => at(error, place::of_statement(text, index)),
                        };
                        return Err(self.0.fail(error));
                    }
                    index += 1;
                    if index % 1024 == 0
                        && self.0.text.len() >= LARGE
                        && let Some(reader) = &self.0.reader
                        && reader.builder.bytes_soon(1024) > 2 * self.0.text.len()
                    {
                        let what = "of statements this short, a description has less than 64 MiB: \
                                    it would take more than three times its size in memory";
                        let error = Error::new(ErrorKind::TooLarge(what.into()));
                        return Err(self.0.fail(at(error, place::of_statement(self.0.text, index - 1))));
                    }
                }
                Ok(())
            }
        }
        list.deserialize_seq(List(self))
    }
}

/// State of the reader: the builder, and the names given so far.
pub(super) struct Reader<'a> {
    /// The whole description.
    text: &'a str,
    pub builder: Builder,
    pub names: Names<'a>,
    /// Statements about code.
    pub coded: Vec<Coded<'a>>,
    /// Ids and positions of a SPIR-V module.
    pub spirv: Option<Bound<'a>>,
    /// The number of the statement that is read.
    pub index: usize,
    /// Registers resolved before.
    registers: HashMap<Text<'a>, Reg>,
    /// Error that ended a visitor, unless it is one of the JSON.
    error: Option<Error>,
    /// Key of the statement that an error concerns.
    key: Option<&'static str>,
    /// Call whose position is wanted, because the finished module is wrong there.
    blame: Option<&'a Blame>,
}

impl<'a> Reader<'a> {
    fn new(text: &'a str, target: Target, blame: Option<&'a Blame>) -> Self {
        let builder = Builder::new(target);
        let (names, registers) = (Names::new(text), HashMap::new());
        let coded = Vec::new();
        Self { text, builder, names, coded, spirv: None, index: 0, registers, error: None, key: None, blame }
    }

    /// Passes a result on, and attributes its error to a key of the statement.
    pub fn of_key<T>(&mut self, key: &'static str, result: Result<T>) -> Result<T> {
        if result.is_err() {
            self.key = Some(key);
        }
        result
    }

    /// Ends the reading with an error if this is the call to blame.
    #[inline]
    pub fn seek(&self, is_it: impl FnOnce(&Blame) -> bool) -> Result<()> {
        match self.blame {
            Some(blame) if is_it(blame) => Err(Error::malformed("it is to blame")),
            _ => Ok(()),
        }
    }

    /// Reads a deferred part of a statement. Locations are nested more deeply than other JSON, so that `read` checks
    /// the depth instead of `serde_json`.
    pub fn part<T>(
        &mut self,
        part: &'a RawValue,
        read: impl FnOnce(
            &mut Self,
            &mut serde_json::Deserializer<serde_json::de::StrRead<'a>>,
        ) -> serde_json::Result<T>,
    ) -> Result<T> {
        let mut json = serde_json::Deserializer::from_str(part.get());
        json.disable_recursion_limit();
        read(self, &mut json).map_err(|error| {
            let start = part.get().as_ptr() as usize - self.text.as_ptr() as usize;
            let found = of_json(WHAT, self.text, start, part.get(), &error);
            match self.error.take() {
                None => found,
                // The visitor's position is the error's.
                Some(error) => error.or_at(found.at().clone()),
            }
        })
    }

    /// Ends a visitor with an error other than one of the JSON.
    #[cold]
    pub fn fail<E: de::Error>(&mut self, error: Error) -> E {
        self.error = Some(error);
        E::custom("")
    }

    /// Resolves a register by its name or number.
    pub fn register(&mut self, named: &Named<'a>) -> Result<Reg> {
        let name = match named {
            Named::Number(number) => return Ok(Reg(*number)),
            Named::Text(name) => name,
        };
        if let Some(&reg) = self.registers.get(name) {
            return Ok(reg);
        }
        let reg = self.builder.target().register_named(name);
        let reg = reg.map_err(|error| place::at_part(error, self.text, name))?;
        self.registers.insert(name.clone(), reg);
        Ok(reg)
    }

    /// Resolves an address space by its name or number.
    pub fn space(&self, named: &Named<'_>) -> Result<SpaceId> {
        match named {
            Named::Text(name) => match self.builder.target().space_named(name) {
                Ok(space) => Ok(space.id),
                Err(error) => Err(place::at_part(error, self.text, name)),
            },
            Named::Number(number) => match u32::try_from(*number) {
                Ok(number) => Ok(SpaceId(number)),
                Err(_) => Err(self.builder.target().unknown_space(&number.to_string())),
            },
        }
    }
}
