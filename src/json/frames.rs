//! Frames: applied to the builder.

use core::ops::Range;

use super::later::Later;
use super::lists::{CFA, Rule, Slot, each};
use super::read::Reader;
use super::statement::Frame;
use super::values::Named;
use crate::build::{Blame, FrameBuilder};
use crate::error::Result;
use crate::model::{Column, FunctionId};

impl<'a> Frame<'a> {
    pub fn apply(self, reader: &mut Reader<'a>) -> Result<()> {
        let (function, unit) = reader.function(&self.function)?;
        reader.builder.frame(function)?;
        if let Some(Later::Text(rules)) = self.rules {
            reader.part(rules, |reader, json| {
                each(reader, unit, json, |reader, Rule { start, end, column, loc, .. }| {
                    let pcs = start.0..end.0;
                    match &column {
                        Named::Text(text) if **text == *CFA => {
                            add(reader, function, Column::Cfa, pcs, |frame, pcs| {
                                frame.cfa(pcs, loc).map(drop)
                            })
                        }
                        name => {
                            let reg = reader.register(name)?;
                            add(reader, function, Column::Register(reg), pcs, |frame, pcs| {
                                frame.saved(pcs, reg, loc).map(drop)
                            })
                        }
                    }
                })
            })?;
        }
        if let Some(Later::Text(slots)) = self.saved_to_scratch {
            reader.part(slots, |reader, json| {
                each(reader, unit, json, |reader, Slot { start, end, register, offset, mask, .. }| {
                    let reg = reader.register(&register)?;
                    add(reader, function, Column::Register(reg), start.0..end.0, |frame, pcs| {
                        frame.saved_to_scratch(pcs, reg, offset.0, mask).map(drop)
                    })
                })
            })?;
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

/// Adds a rule of a column by a call of the builder.
fn add(
    reader: &mut Reader<'_>,
    function: FunctionId,
    column: Column,
    pcs: Range<u64>,
    add: impl FnOnce(&mut FrameBuilder<'_>, Range<u64>) -> Result<()>,
) -> Result<()> {
    add(&mut reader.builder.frame(function)?, pcs.clone())?;
    reader.seek(|blame| *blame == Blame::Rule(function, column, pcs))
}
