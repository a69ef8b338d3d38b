//! Frames: rules, and keys that stand for rules.

use core::ops::Range;

use super::ids::Known;
use super::later::Later;
use super::lists::{CFA, Elements, Rule, Slot, Slots, each};
use super::objects::objects;
use super::reader::Reader;
use super::values::{Named, Number, Ref, Signed};
use super::words::Word;
use crate::build::{Blame, FrameBuilder};
use crate::error::Result;
use crate::model::{Column, FunctionId, UnitId};
use crate::target::UnspecifiedRegisters;

objects! {
    Frame { function: Ref<'a> } {
        rules: Later<'a, Elements<'a, Rule<'a>>>,
        return_address: Vec<(Number, Number, Named<'a>, Named<'a>)>,
        cfa_in_scratch: Vec<(Number, Number, Named<'a>, Signed)>,
        saved_to_scratch: Later<'a, Slots>,
        entry_function: bool,
        extent: (Signed, Signed),
        /// Registers without a rule: by the calling convention, which is the default, or `same_value`.
        unspecified_registers: Word<UnspecifiedRegisters>,
        /// Register whose value in the caller is the return address, if it is not the target's.
        return_register: Named<'a>,
    }
}

impl<'a> Frame<'a> {
    pub fn apply(self, reader: &mut Reader<'a>) -> Result<()> {
        let (function, unit) = reader.function(&self.function)?;
        let frame = FrameOf { function, unit };
        // A rule for the return address has other conditions than a rule for another register.
        if let Some(name) = &self.return_register {
            let register = reader.register(name)?;
            reader.builder.frame(function)?.return_register(register)?;
        }
        frame.rules(reader, self.rules.as_ref())?;
        frame.slots(reader, self.saved_to_scratch)?;
        frame.return_addresses(reader, self.return_address)?;
        for (start, end, name, Signed(offset)) in self.cfa_in_scratch.unwrap_or_default() {
            let reg = reader.register(&name)?;
            frame.add(reader, Column::Cfa, start.0..end.0, |frame, pcs| {
                frame.cfa_in_scratch(pcs, reg, offset).map(drop)
            })?;
        }
        let mut frame = reader.builder.frame(function)?;
        if self.entry_function == Some(true) {
            frame.entry_function()?;
        }
        if let Some((Signed(start), Signed(end))) = self.extent {
            frame.extent(start..end)?;
        }
        if let Some(Word(registers)) = self.unspecified_registers {
            frame.unspecified_registers(registers);
        }
        Ok(())
    }

    /// Returns the statement with a function's rules and extent, and what registers without a rule are, if there are any. The other keys stand for rules.
    pub fn write(known: &'a Known<'a>, id: FunctionId) -> Option<Self> {
        // The frame of a kernel without rules follows from the key `kernel`.
        let rules = if known.module.has_frame(id, false) { known.module.frame(id) } else { &[] };
        let function = known.module.function(id);
        let extent = function.frame_extent();
        let unspecified =
            Some(function.unspecified_registers).filter(|&registers| registers != Default::default());
        let return_register = function.return_register();
        let is_described =
            !rules.is_empty() || extent.is_some() || unspecified.is_some() || return_register.is_some();
        is_described.then(|| Self {
            rules: (!rules.is_empty()).then_some(Later::Model(Elements { known, items: rules })),
            unspecified_registers: unspecified.map(Word),
            return_register: return_register.map(|register| known.register(register)),
            extent: extent.map(|extent| (Signed(extent.start), Signed(extent.end))),
            ..Self::new(known.function_ref(id))
        })
    }
}

/// Function that a frame belongs to, and its unit.
#[derive(Clone, Copy)]
struct FrameOf {
    function: FunctionId,
    unit: UnitId,
}

impl FrameOf {
    /// Adds the rules for registers and for the canonical frame address.
    fn rules<'a>(
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

    /// Adds the rules for vector registers that are saved to scratch.
    fn slots<'a>(self, reader: &mut Reader<'a>, slots: Option<Later<'a, Slots>>) -> Result<()> {
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

    /// Adds the rules for return addresses in two registers.
    fn return_addresses<'a>(
        self,
        reader: &mut Reader<'a>,
        addresses: Option<Vec<(Number, Number, Named<'a>, Named<'a>)>>,
    ) -> Result<()> {
        for (start, end, low, high) in addresses.unwrap_or_default() {
            let low = reader.register(&low)?;
            let high = reader.register(&high)?;
            reader.builder.frame(self.function)?.return_address(start.0..end.0, low, high)?;
        }
        Ok(())
    }

    /// Adds a column's rule with a builder call.
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
