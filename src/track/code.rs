//! Statements about code: what instructions do to storage, and which variable has which value. This is the compiler's
//! input; nothing is derived yet.

use core::ops::Range;

use hashbrown::DefaultHashBuilder;
use indexmap::IndexMap;

use super::extent;
use super::facts::{Assigned, Effect, EffectKind, Home, Instructed, Source, ValueData, ValueId, ValueKind};
use super::place::{self, Place, Storage};
use crate::build::{BlockId, ControlFlow};
use crate::error::{At, Error, ErrorKind, Result};
use crate::model::{Loc, VariableId};
use crate::target::Target;

/// A function's code: instruction effects on storage, and assignments to variables. Pcs are in bytes from the
/// function's start.
#[derive(Debug, Clone)]
pub struct CodeEffects {
    pub(super) target: Target,
    pub(super) flow: ControlFlow,
    pub(super) values: Vec<ValueData>,
    pub(super) constants: Vec<Vec<u8>>,
    /// Each block parameter's block and value.
    pub(super) merged: Vec<(BlockId, ValueId)>,
    /// Source block, block parameter, value.
    pub(super) incoming: Vec<(BlockId, ValueId, ValueId)>,
    pub(super) own: Vec<Loc>,
    pub(super) places: Vec<Place>,
    pub(super) effects: Vec<Effect>,
    pub(super) instructions: Vec<Instructed>,
    /// Effects before the first instruction.
    pub(super) entries: Vec<Effect>,
    pub(super) assigned: Vec<Assigned>,
    pub(super) homes: Vec<Home>,
    /// Variables, with the number of assigned bits.
    pub(super) variables: IndexMap<VariableId, u32, DefaultHashBuilder>,
    /// Number of variables outside the description.
    unnamed: u32,
}

impl CodeEffects {
    /// Returns code without effects, for a control flow graph on `target`.
    pub fn new(target: &Target, flow: ControlFlow) -> Self {
        Self {
            target: target.clone(),
            flow,
            values: Vec::new(),
            constants: Vec::new(),
            merged: Vec::new(),
            incoming: Vec::new(),
            own: Vec::new(),
            places: Vec::new(),
            effects: Vec::new(),
            instructions: Vec::new(),
            entries: Vec::new(),
            assigned: Vec::new(),
            homes: Vec::new(),
            variables: IndexMap::default(),
            unnamed: 0,
        }
    }

    /// Adds a variable outside the description. It names values that merge where paths meet, such as the result of an
    /// inlined call, or a variable's previous value. [`assign_variable`](Self::assign_variable) assigns it to a described
    /// variable.
    pub fn unnamed(&mut self) -> VariableId {
        self.unnamed += 1;
        VariableId::from_u32(u32::MAX - self.unnamed)
    }

    /// Returns the described variables, with their indices.
    pub(super) fn named(&self) -> impl Iterator<Item = (usize, VariableId)> + '_ {
        self.variables.keys().copied().enumerate().filter(|variable| self.is_named(variable.1))
    }

    pub(super) fn is_named(&self, id: VariableId) -> bool {
        id.as_u32() < u32::MAX - self.unnamed
    }

    /// Adds a value with `bits` bits.
    pub fn value(&mut self, bits: u32) -> ValueId {
        self.add_value(bits, ValueKind::Defined { is_defined: false })
    }

    /// Adds a constant: its bytes in memory, lowest address first. Equal constants are equal values.
    pub fn constant(&mut self, bytes: &[u8]) -> ValueId {
        self.constants.push(bytes.to_vec());
        let bits = u32::try_from(8 * bytes.len() as u64).unwrap_or(u32::MAX);
        self.add_value(bits, ValueKind::Constant(self.constants.len() as u32 - 1))
    }

    /// Adds a block parameter: the value that [`incoming`](Self::incoming) supplies for the block from which a lane comes.
    pub fn merged(&mut self, block: BlockId, bits: u32) -> ValueId {
        let value = self.add_value(bits, ValueKind::Merged(self.merged.len() as u32));
        self.merged.push((block, value));
        value
    }

    fn add_value(&mut self, bits: u32, kind: ValueKind) -> ValueId {
        self.values.push(ValueData { bits, kind });
        ValueId(self.values.len() as u32 - 1)
    }

    /// Supplies a block parameter's value for lanes that come from block `from`.
    ///
    /// # Errors
    /// [`ErrorKind::UnknownId`]; [`ErrorKind::BadArgument`] if `parameter` is not a block parameter; and
    /// [`ErrorKind::DoesNotFit`] if the sizes differ.
    pub fn incoming(&mut self, from: BlockId, parameter: ValueId, value: ValueId) -> Result<()> {
        self.checked_incoming(parameter, value).map_err(|error| {
            let pcs = self.flow.blocks.get(from.0).cloned();
            error.or_at(At::new(|context| {
                context.pcs = pcs.clone();
                context.block = pcs;
            }))
        })?;
        self.incoming.push((from, parameter, value));
        Ok(())
    }

    fn checked_incoming(&self, parameter: ValueId, value: ValueId) -> Result<()> {
        let to = self.data(parameter)?;
        let bits = self.data(value)?.bits;
        let ValueKind::Merged(_) = to.kind else {
            return Err(Error::bad_argument(format!(
                "value {} receives a value but is not a block parameter",
                parameter.0
            )));
        };
        same_size("block parameter", to.bits.into(), bits.into())
    }

    /// Adds a place that the compiler reserves: 32 bits of memory that nothing else writes. Each lane has a copy if the
    /// location depends on the lane.
    ///
    /// # Errors
    /// [`ErrorKind::BadArgument`] if the location calls a procedure or contains a raw expression.
    pub fn place(&mut self, loc: &Loc) -> Result<Place> {
        let Some(is_row) = place::depends_on_lane(&self.target, loc) else {
            return Err(Error::bad_argument(
                "location of a place calls a procedure or contains a raw expression; expected a self-contained location",
            ));
        };
        self.own.push(loc.clone());
        let storage = Storage::Compiler(self.own.len() as u32 - 1, is_row);
        Ok(Place { storage, from: 0, bits: Some(32) })
    }

    /// Defines a value that is in places at function entry, such as an argument.
    ///
    /// # Errors
    /// The errors of [`InstructionEffects::define`].
    pub fn entry(&mut self, value: ValueId, places: &[Place]) -> Result<()> {
        let effect = self.define(value, places).map_err(|error| {
            let first = self.flow.blocks.first().map(|block| self.at_pc(block.start));
            error.or_at(self.at_places(places)).or_at(first.unwrap_or_default())
        })?;
        self.entries.push(effect);
        Ok(())
    }

    /// Adds one instruction by its half-open pc range. Overwritten places keep the old contents at all of these pcs, because
    /// a wave can only stop at the first.
    pub fn instruction(&mut self, pcs: Range<u64>) -> InstructionEffects<'_> {
        self.add_instruction(pcs, false)
    }

    /// Adds several instructions that form one step, such as the spill of a register pair. A wave can stop between them; the
    /// contents of the places that they write are unknown there.
    pub fn instructions(&mut self, pcs: Range<u64>) -> InstructionEffects<'_> {
        self.add_instruction(pcs, true)
    }

    fn add_instruction(&mut self, pcs: Range<u64>, is_several: bool) -> InstructionEffects<'_> {
        let first = self.effects.len() as u32;
        // Larger pcs are outside all blocks, and are refused later.
        let pc = |pc: u64| u32::try_from(pc).unwrap_or(u32::MAX);
        let pcs = (pc(pcs.start), pc(pcs.end));
        self.instructions.push(Instructed { pcs, effects: (first, first), all_lanes: false, is_several });
        InstructionEffects { index: self.instructions.len() - 1, code: self }
    }

    /// Assigns a value to a variable, from `pc` on, in the lanes that get there.
    ///
    /// # Errors
    /// [`ErrorKind::UnknownId`].
    pub fn assign(&mut self, pc: u64, variable: VariableId, value: ValueId) -> Result<()> {
        let bits = self.data(value).map_err(|error| error.or_at(self.at_pc(pc)))?.bits;
        self.add_assigned(pc, variable, None, bits, Source::Value(value))
    }

    /// Assigns a value to some bits of a variable.
    ///
    /// # Errors
    /// [`ErrorKind::UnknownId`]; [`ErrorKind::DoesNotFit`] if the value has another size;
    /// [`ErrorKind::EmptyRange`].
    pub fn assign_bits(
        &mut self,
        pc: u64,
        variable: VariableId,
        bits: Range<u32>,
        value: ValueId,
    ) -> Result<()> {
        let located = |error: Error| error.or_at(self.at_pc(pc));
        if bits.is_empty() {
            return Err(located(ErrorKind::EmptyRange.into()));
        }
        let len = bits.end - bits.start;
        let size = self.data(value).map_err(located)?.bits;
        same_size("the bits of the variable", len.into(), size.into()).map_err(located)?;
        self.add_assigned(pc, variable, Some((bits.start, len)), bits.end, Source::Value(value))
    }

    /// Assigns the contents of places to a variable: what they contain when a lane gets to `pc`, a value without a
    /// name.
    ///
    /// # Errors
    /// The errors of [`InstructionEffects::define`].
    pub fn assign_contents(&mut self, pc: u64, variable: VariableId, places: &[Place]) -> Result<()> {
        let added = self.add_places(places);
        let (places, bits) = added.map_err(|error| error.or_at(self.at_pc(pc)))?;
        let bits = u32::try_from(bits).unwrap_or(u32::MAX);
        self.add_assigned(pc, variable, None, bits, Source::Contents(places))
    }

    /// Assigns another variable's bits, from bit `first` on, to bits of a variable: their contents when a lane gets to
    /// `pc`, as in `y = x`. A value that merged where paths meet needs no name.
    ///
    /// # Errors
    /// [`ErrorKind::EmptyRange`].
    pub fn assign_variable(
        &mut self,
        pc: u64,
        variable: VariableId,
        bits: Range<u32>,
        from: VariableId,
        first: u32,
    ) -> Result<()> {
        if bits.is_empty() {
            return Err(Error::from(ErrorKind::EmptyRange).or_at(self.at_pc(pc)));
        }
        let len = bits.end - bits.start;
        let from = self.variable(from, first.saturating_add(len));
        let source = Source::Variable(from, first);
        self.add_assigned(pc, variable, Some((bits.start, len)), bits.end, source)
    }

    /// Ends a variable's value: from `pc` on, the variable has no value.
    ///
    /// # Errors
    /// [`ErrorKind::OutsideFunction`] if the pc exceeds 32 bits.
    pub fn unassign(&mut self, pc: u64, variable: VariableId) -> Result<()> {
        self.add_assigned(pc, variable, None, 0, Source::Nothing)
    }

    /// Declares a location that is not derived, such as a variable's memory if its address is taken.
    ///
    /// # Errors
    /// [`ErrorKind::EmptyRange`].
    pub fn home(&mut self, pcs: Range<u64>, variable: VariableId, loc: &Loc) -> Result<()> {
        if pcs.is_empty() {
            return Err(Error::from(ErrorKind::EmptyRange).or_at(self.at_pcs(pcs)));
        }
        let variable = self.variable(variable, 0);
        self.homes.push(Home { pcs, variable, loc: loc.clone() });
        Ok(())
    }

    fn add_assigned(
        &mut self,
        pc: u64,
        variable: VariableId,
        bits: Option<(u32, u32)>,
        end: u32,
        source: Source,
    ) -> Result<()> {
        let Ok(start) = u32::try_from(pc) else {
            return Err(
                Error::from(ErrorKind::OutsideFunction { size: u32::MAX.into() }).or_at(self.at_pc(pc))
            );
        };
        let variable = self.variable(variable, end);
        self.assigned.push(Assigned { pc: start, variable, bits, source });
        Ok(())
    }

    fn variable(&mut self, id: VariableId, bits: u32) -> u32 {
        let entry = self.variables.entry(id);
        let index = entry.index() as u32;
        // A variable is as large as its largest assignment.
        let known = entry.or_insert(0);
        *known = bits.max(*known);
        index
    }

    pub(super) fn data(&self, value: ValueId) -> Result<ValueData> {
        let missing = || ErrorKind::UnknownId(format!("value {} in this code", value.0)).into();
        self.values.get(value.0 as usize).copied().ok_or_else(missing)
    }

    /// Returns the effect that defines a value in places.
    pub(super) fn define(&mut self, value: ValueId, places: &[Place]) -> Result<Effect> {
        let data = self.data(value)?;
        match data.kind {
            ValueKind::Defined { is_defined: false } => {
                let kind = ValueKind::Defined { is_defined: true };
                let effect = self.effect(EffectKind::Define(value), places, data.bits)?;
                // Marked only after the effect is valid, so that a refused definition can be repeated.
                self.values[value.0 as usize].kind = kind;
                Ok(effect)
            }
            ValueKind::Constant(_) => self.effect(EffectKind::Redefine(value), places, data.bits),
            _ => Err(defined_again(value)),
        }
    }

    pub(super) fn effect(&mut self, kind: EffectKind, places: &[Place], bits: u32) -> Result<Effect> {
        let (to, has) = self.add_places(places)?;
        // Fewer bits than the places have are allowed: the rest is overwritten with unknown contents.
        if u64::from(bits) > has && !places.is_empty() {
            let what = "the value".into();
            return Err(ErrorKind::DoesNotFit { what, needs: bits.into(), has }.into());
        }
        Ok(Effect { kind, from: (0, 0), to })
    }

    /// Returns the effect that copies places to other places.
    pub(super) fn copied(&mut self, kind: EffectKind, from: &[Place], to: &[Place]) -> Result<Effect> {
        let (first, bits) = self.add_places(from)?;
        let (second, has) = self.add_places(to)?;
        let both = |error: Error| {
            let place = Some(format!("{} to {}", self.texts(from), self.texts(to)));
            error.or_at(At::new(|context| context.place = place))
        };
        same_size("the copy", has, bits).map_err(both)?;
        let is_row = |place: &Place| place.storage.is_row();
        // A place of the wave can hold only one lane's contents, unless all lanes agree.
        let is_mixed = from.iter().any(is_row) && !to.iter().all(is_row);
        if is_mixed && matches!(kind, EffectKind::Copy | EffectKind::Move(_)) {
            let what =
                "per-lane places are copied to a place of the wave; expected equal lanes (`copy_uniform`)";
            return Err(both(Error::bad_argument(what)));
        }
        Ok(Effect { kind, from: first, to: second })
    }

    pub(super) fn define_copy(&mut self, value: ValueId, from: &[Place], to: &[Place]) -> Result<Effect> {
        let data = self.data(value)?;
        let ValueKind::Defined { is_defined: false } = data.kind else {
            return Err(defined_again(value));
        };
        let effect = self.copied(EffectKind::Move(value), from, to)?;
        let bits = to.iter().map(|place| self.size(*place).map(u64::from)).sum::<Result<u64>>()?;
        same_size("the copied value", data.bits.into(), bits)?;
        self.values[value.0 as usize].kind = ValueKind::Defined { is_defined: true };
        Ok(effect)
    }

    /// Adds checked places to the list, and returns their indices and their size in bits.
    pub(super) fn add_places(&mut self, places: &[Place]) -> Result<((u32, u32), u64)> {
        let start = self.places.len() as u32;
        let mut bits = 0;
        for &place in places {
            let size = self.size(place)?;
            bits += u64::from(size);
            self.places.push(Place { bits: Some(size), ..place });
        }
        Ok(((start, self.places.len() as u32), bits))
    }

    /// Returns a place's size in bits.
    pub(super) fn size(&self, place: Place) -> Result<u32> {
        extent::size(&self.target, self.own.len(), place)
            .map_err(|error| error.or_at(self.at_places(&[place])))
    }

    /// Returns the error location for pcs and their block.
    pub(super) fn at_pcs(&self, pcs: Range<u64>) -> At {
        let block = self.flow.blocks.iter().find(|block| block.contains(&pcs.start)).cloned();
        At::new(|context| {
            context.pcs = Some(pcs);
            context.block = block;
        })
    }

    /// Returns the error location for a pc and its block.
    pub(super) fn at_pc(&self, pc: u64) -> At {
        self.at_pcs(pc..pc.saturating_add(1))
    }

    /// Adds the block that contains an error's pcs to the error.
    pub(super) fn in_block(&self, error: Error) -> Error {
        let context = error.at().pcs.clone().map(|pcs| self.at_pcs(pcs));
        error.or_at(context.unwrap_or_default())
    }

    /// Returns the error location for places.
    pub(super) fn at_places(&self, places: &[Place]) -> At {
        At::new(|context| context.place = (!places.is_empty()).then(|| self.texts(places)))
    }

    /// Returns the names of places that form one place.
    pub(super) fn texts(&self, places: &[Place]) -> String {
        places.iter().map(|&place| extent::text(&self.target, place)).collect::<Vec<_>>().join(" and ")
    }
}

/// One instruction's effects. The instruction reads all places before it writes any. From [`CodeEffects::instruction`] and
/// [`CodeEffects::instructions`].
#[derive(Debug)]
pub struct InstructionEffects<'c> {
    pub(super) code: &'c mut CodeEffects,
    pub(super) index: usize,
}

impl InstructionEffects<'_> {
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
    /// The errors of [`copy`](Self::copy) and [`define`](Self::define).
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

    /// Extends all of the instruction's effects to inactive lanes: whole-wave code.
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

fn defined_again(value: ValueId) -> Error {
    Error::bad_argument(format!("value {} is defined twice; expected a recomputation (`redefine`)", value.0))
}

fn same_size(what: &str, has: u64, needs: u64) -> Result<()> {
    if has == needs { Ok(()) } else { Err(ErrorKind::DoesNotFit { what: what.into(), needs, has }.into()) }
}
