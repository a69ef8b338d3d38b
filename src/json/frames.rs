//! Rules of frames, and the keys that stand for rules: applied to the builder.

use core::ops::Range;

use super::later::Later;
use super::lists::{CFA, Elements, Rule, Slot, Slots, each};
use super::read::Reader;
use super::values::{Named, Number};
use crate::build::{Blame, FrameBuilder};
use crate::error::Result;
use crate::model::{Column, FunctionId, UnitId};

/// Function that a frame belongs to, and its unit.
#[derive(Clone, Copy)]
pub(super) struct FrameOf {
    pub function: FunctionId,
    pub unit: UnitId,
}

impl FrameOf {
    /// Adds the rules of registers and of the canonical frame address.
    pub fn rules<'a>(
        self,
        reader: &mut Reader<'a>,
        rules: Option<&Later<'a, Elements<'a, Rule<'a>>>>,
    ) -> Result<()> {
        let Some(&Later::Text(rules)) = rules else { return Ok(()) };
        reader.part(rules, |reader, json| {
            each(reader, self.unit, json, |reader, Rule { start, end, column, loc, .. }| {
                let pcs = start.0..end.0;
                match &column {
                    Named::Text(text) if **text == *CFA => {
                        self.add(reader, Column::Cfa, pcs, |frame, pcs| frame.cfa(pcs, loc).map(drop))
                    }
                    name => {
                        let reg = reader.register(name)?;
                        self.add(reader, Column::Register(reg), pcs, |frame, pcs| {
                            frame.saved(pcs, reg, loc).map(drop)
                        })
                    }
                }
            })
        })
    }

    /// Adds the rules of vector registers that are saved to scratch.
    pub fn slots<'a>(self, reader: &mut Reader<'a>, slots: Option<Later<'a, Slots>>) -> Result<()> {
        let Some(Later::Text(slots)) = slots else { return Ok(()) };
        reader.part(slots, |reader, json| {
            each(reader, self.unit, json, |reader, Slot { start, end, register, offset, mask, .. }| {
                let reg = reader.register(&register)?;
                self.add(reader, Column::Register(reg), start.0..end.0, |frame, pcs| {
                    frame.saved_to_scratch(pcs, reg, offset.0, mask).map(drop)
                })
            })
        })
    }

    /// Adds the rules of return addresses in two registers.
    pub fn return_addresses<'a>(
        self,
        reader: &mut Reader<'a>,
        addresses: Option<Vec<(Number, Number, Named<'a>, Named<'a>)>>,
    ) -> Result<()> {
        for (start, end, low, high) in addresses.unwrap_or_default() {
            let (low, high) = (reader.register(&low)?, reader.register(&high)?);
            reader.builder.frame(self.function)?.return_address(start.0..end.0, low, high)?;
        }
        Ok(())
    }

    /// Adds a rule of a column by a call of the builder.
    fn add(
        self,
        reader: &mut Reader<'_>,
        column: Column,
        pcs: Range<u64>,
        add: impl FnOnce(&mut FrameBuilder<'_>, Range<u64>) -> Result<()>,
    ) -> Result<()> {
        add(&mut reader.builder.frame(self.function)?, pcs.clone())?;
        reader.seek(|blame| *blame == Blame::Rule(self.function, column, pcs))
    }
}
