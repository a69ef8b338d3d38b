//! Effects of an instruction.

use core::ops::Range;

use super::code::Code;
use super::facts::{Effect, EffectKind, Instructed, ValueId};
use super::place::Place;
#[cfg(doc)]
use crate::error::ErrorKind;
use crate::error::Result;

/// Effects of one instruction, which reads all places before it writes any. From [`Code::instruction`] and
/// [`Code::instructions`].
#[derive(Debug)]
pub struct Instruction<'c> {
    pub(super) code: &'c mut Code,
    pub(super) index: usize,
}

impl Code {
    /// Adds one instruction by its half-open pc range. Overwritten places keep the old contents at all of these pcs, because
    /// a wave can only stop at the first.
    pub fn instruction(&mut self, pcs: Range<u64>) -> Instruction<'_> {
        self.add_instruction(pcs, false)
    }

    /// Adds several instructions that form one step, such as the spill of a register pair. A wave can stop between them; the
    /// contents of the places that they write are unknown there.
    pub fn instructions(&mut self, pcs: Range<u64>) -> Instruction<'_> {
        self.add_instruction(pcs, true)
    }

    fn add_instruction(&mut self, pcs: Range<u64>, is_several: bool) -> Instruction<'_> {
        let first = self.effects.len() as u32;
        // Larger pcs are outside all blocks, and are refused later.
        let pc = |pc: u64| u32::try_from(pc).unwrap_or(u32::MAX);
        let pcs = (pc(pcs.start), pc(pcs.end));
        self.instructions.push(Instructed { pcs, effects: (first, first), all_lanes: false, is_several });
        Instruction { index: self.instructions.len() - 1, code: self }
    }
}

impl Instruction<'_> {
    /// Defines a value, and stores it to places. Only one instruction can define a value.
    ///
    /// # Errors
    /// [`ErrorKind::UnknownId`], [`ErrorKind::UnknownRegister`], [`ErrorKind::LaneOutOfWave`];
    /// [`ErrorKind::DoesNotFit`] if the value is larger than the places; and [`ErrorKind::BadArgument`] if the value is
    /// already defined.
    pub fn define(&mut self, value: ValueId, places: &[Place]) -> Result<&mut Self> {
        let effect = self.code.define(value, places);
        self.add(effect, places)
    }

    /// Recomputes the value that the lane saw last, and stores it to further places.
    ///
    /// # Errors
    /// The errors of [`define`](Self::define).
    pub fn redefine(&mut self, value: ValueId, places: &[Place]) -> Result<&mut Self> {
        let bits = self.code.data(value).map(|data| data.bits);
        let effect = bits.and_then(|bits| self.code.effect(EffectKind::Redefine(value), places, bits));
        self.add(effect, places)
    }

    /// Copies places to other places: from the wave to the wave or to lanes, or from lanes to lanes.
    ///
    /// # Errors
    /// The errors of [`define`](Self::define) for places; [`ErrorKind::DoesNotFit`] if the sizes differ; and
    /// [`ErrorKind::BadArgument`] if per-lane places are copied to a place of the wave.
    pub fn copy(&mut self, from: &[Place], to: &[Place]) -> Result<&mut Self> {
        self.copied(EffectKind::Copy, from, to)
    }

    /// Copies per-lane places whose contents are equal in all active lanes to places of the wave.
    ///
    /// # Errors
    /// The errors of [`copy`](Self::copy).
    pub fn copy_uniform(&mut self, from: &[Place], to: &[Place]) -> Result<&mut Self> {
        self.copied(EffectKind::CopyUniform, from, to)
    }

    /// Copies places to other places, and defines a value: their contents. Unlike a value from [`define`](Self::define), the
    /// value is in the old places and in the new places.
    ///
    /// # Errors
    /// The errors of [`copy`](Self::copy) and of [`define`](Self::define).
    pub fn define_copy(&mut self, value: ValueId, from: &[Place], to: &[Place]) -> Result<&mut Self> {
        let effect = self.code.define_copy(value, from, to);
        self.add(effect, to)
    }

    /// Overwrites places with contents that are not tracked.
    ///
    /// # Errors
    /// The errors of [`define`](Self::define) for places.
    pub fn clobber(&mut self, places: &[Place]) -> Result<&mut Self> {
        let effect = self.code.effect(EffectKind::Clobber, places, 0);
        self.add(effect, places)
    }

    /// Calls a function that overwrites places. The list excludes registers that the function preserves; a per-lane place is
    /// overwritten in the lanes that call.
    ///
    /// # Errors
    /// The errors of [`clobber`](Self::clobber).
    pub fn call(&mut self, overwritten: &[Place]) -> Result<&mut Self> {
        self.clobber(overwritten)
    }

    /// Extends all effects of the instruction to inactive lanes: whole-wave code.
    pub fn all_lanes(&mut self) -> &mut Self {
        self.code.instructions[self.index].all_lanes = true;
        self
    }

    fn copied(&mut self, kind: EffectKind, from: &[Place], to: &[Place]) -> Result<&mut Self> {
        let effect = self.code.copied(kind, from, to);
        self.add(effect, to)
    }

    fn add(&mut self, effect: Result<Effect>, to: &[Place]) -> Result<&mut Self> {
        let instruction = &mut self.code.instructions[self.index];
        match effect {
            Ok(effect) => {
                self.code.effects.push(effect);
                instruction.effects.1 += 1;
                Ok(self)
            }
            Err(error) => {
                let (start, end) = instruction.pcs;
                let code = &*self.code;
                Err(error.or_at(code.at_places(to)).or_at(code.at_pcs(start.into()..end.into())))
            }
        }
    }
}
