//! Frames: rules by pc, read and written element by element.

use core::ops::Range;

use serde::de::{self, Deserializer, SeqAccess};
use serde::ser::SerializeSeq;
use serde::{Serialize, Serializer};

use super::ids::Known;
use super::later::Later;
use super::lists::{Element, List, end, next};
use super::loc::{In, Place};
use super::read::Reader;
use super::statement::Frame;
use super::values::{Named, Number, Signed};
use crate::build::{Blame, FrameBuilder};
use crate::error::Result;
use crate::model::{Column, FrameRule, FunctionId, Loc, UnitId, Val};

/// Word for the canonical frame address. No register has this name.
const CFA: &str = "cfa";

impl<'a> Frame<'a> {
    pub fn apply(self, reader: &mut Reader<'a>) -> Result<()> {
        let (function, unit) = reader.function(&self.function)?;
        reader.builder.frame(function)?;
        if let Some(Later::Text(rules)) = self.rules {
            reader.part(rules, |reader, json| read(reader, Rules { function, unit }, json))?;
        }
        if let Some(Later::Text(slots)) = self.saved_to_scratch {
            reader.part(slots, |reader, json| read(reader, Slots { function, unit }, json))?;
        }
        for (start, end, low, high) in self.return_address.unwrap_or_default() {
            let (low, high) = (reader.register(&low)?, reader.register(&high)?);
            reader.builder.frame(function)?.return_address(start.0..end.0, low, high)?;
        }
        let mut frame = reader.builder.frame(function)?;
        if self.entry_function == Some(true) {
            frame.entry_function()?;
        }
        if let Some((start, end)) = self.extent {
            frame.extent(start.0..end.0)?;
        }
        Ok(())
    }
}

fn read<'a, D: Deserializer<'a>>(
    reader: &mut Reader<'a>,
    mut of: impl Element<'a>,
    json: D,
) -> Result<(), D::Error> {
    json.deserialize_seq(List(reader, &mut of))
}

struct Rules {
    function: FunctionId,
    unit: UnitId,
}

const RULE: &str = "a list of two pcs, a register or \"cfa\", and a location";

impl<'a> Element<'a> for Rules {
    fn read<S: SeqAccess<'a>>(&mut self, reader: &mut Reader<'a>, json: &mut S) -> Result<(), S::Error> {
        let (Number(start), Number(last)) = (next(json, 0, RULE)?, next(json, 1, RULE)?);
        let name: Named<'a> = next(json, 2, RULE)?;
        let loc: Option<Loc> = json.next_element_seed(In::new(reader, self.unit).seed())?;
        let loc = loc.ok_or_else(|| de::Error::invalid_length(3, &RULE))?;
        end(json, 4, RULE)?;
        let reg = match &name {
            Named::Text(text) if **text == *CFA => None,
            name => Some(reader.register(name).map_err(|error| reader.fail(error))?),
        };
        rule(reader, self.function, reg.map_or(Column::Cfa, Column::Register), start..last, |frame, pcs| {
            match reg {
                None => frame.cfa(pcs, loc).map(drop),
                Some(reg) => frame.saved(pcs, reg, loc).map(drop),
            }
        })
    }
}

/// Adds a rule of a column by a call of the builder.
fn rule<E: de::Error>(
    reader: &mut Reader<'_>,
    function: FunctionId,
    column: Column,
    pcs: Range<u64>,
    add: impl FnOnce(&mut FrameBuilder<'_>, Range<u64>) -> Result<()>,
) -> Result<(), E> {
    let added = reader.builder.frame(function).and_then(|mut frame| add(&mut frame, pcs.clone()));
    let sought = |blame: &Blame| *blame == Blame::Rule(function, column, pcs);
    added.and_then(|()| reader.seek(sought)).map_err(|error| reader.fail(error))
}

/// Registers saved to scratch memory. They are written as rules.
#[derive(Debug)]
pub(super) struct Slots {
    function: FunctionId,
    unit: UnitId,
}

const SLOT: &str = "a list of two pcs, a vector register, bytes of a lane, and then perhaps a mask";

impl<'a> Element<'a> for Slots {
    fn read<S: SeqAccess<'a>>(&mut self, reader: &mut Reader<'a>, json: &mut S) -> Result<(), S::Error> {
        let (Number(start), Number(last)) = (next(json, 0, SLOT)?, next(json, 1, SLOT)?);
        let name: Named<'a> = next(json, 2, SLOT)?;
        let Signed(slot) = next(json, 3, SLOT)?;
        let mask: Option<Val> = json.next_element_seed(In::new(reader, self.unit).seed())?;
        if mask.is_some() {
            end(json, 5, SLOT)?;
        }
        let reg = reader.register(&name).map_err(|error| reader.fail(error))?;
        rule(reader, self.function, Column::Register(reg), start..last, |frame, pcs| {
            frame.saved_to_scratch(pcs, reg, slot, mask).map(drop)
        })
    }
}

impl Serialize for Slots {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        to.serialize_seq(Some(0))?.end()
    }
}

/// The rules of a function.
#[derive(Debug, Clone, Copy)]
pub(in crate::json) struct RulesOf<'m> {
    pub known: &'m Known<'m>,
    pub rules: &'m [FrameRule],
}

impl Serialize for RulesOf<'_> {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        let mut seq = to.serialize_seq(Some(self.rules.len()))?;
        for rule in self.rules {
            let pcs = rule.pcs();
            let column = match rule.column {
                Column::Cfa => Named::Text(CFA.into()),
                Column::Register(reg) => self.known.register(reg),
            };
            let loc = Place { known: self.known, loc: rule.loc };
            seq.serialize_element(&(Number(pcs.start), Number(pcs.end), column, loc))?;
        }
        seq.end()
    }
}
