//! Frames: where the caller's registers are, by pc. DWARF 5 section 6.4.

mod refused;

pub(super) use refused::check;

use core::ops::Range;

use super::slots::Slot;
use super::{Builder, loc, pcs};
use crate::error::{At, Error, Result};
use crate::model::{Column, FrameRule, Function, FunctionId, Loc, LocId, Module, UnitId, Val};
use crate::op::Reg;
use crate::target::SpaceId;

/// Describes a frame. Made by [`Builder::frame`].
#[derive(Debug)]
pub struct FrameBuilder<'b> {
    builder: &'b mut Builder,
    function: FunctionId,
    unit: UnitId,
    code_bytes: u64,
}

impl Builder {
    /// Where the frame of a function is and where its caller's registers are. More can be said of the same frame later.
    ///
    /// A frame says at each pc where the canonical frame address is, and where the return address is, or that there is
    /// none: [`finish`](Self::finish) refuses one with gaps. Of another register nothing need be said: it is as the
    /// caller left it (see [`FrameRule`]).
    ///
    /// ```
    /// use eitri::build::Builder;
    /// use eitri::model::{Loc, Val};
    /// use eitri::target::{Gfx, SpaceId, Target, Wave};
    ///
    /// let gpu = Target::amdgpu(Gfx::GFX1030, Wave::W32)?;
    /// let (exec, v40, v41) = (gpu.exec().expect("waves have one"), gpu.vgpr(40)?, gpu.vgpr(41)?);
    /// let (s30, s31, s32, s33) = (gpu.sgpr(30)?, gpu.sgpr(31)?, gpu.sgpr(32)?, gpu.sgpr(33)?);
    /// let mut m = Builder::new(gpu);
    /// let unit = m.unit("saxpy.cl");
    /// let helper = m.function(unit, "helper")?.code("helper", 0x80).id();
    /// m.frame(helper)?
    ///     .cfa(0..0x80, Loc::memory(SpaceId::PRIVATE_WAVE, Val::register(s32)))?
    ///     .return_address(0..0x80, s30, s31)?
    ///     // Spilled with `v_writelane`, then a vector register of those lanes that run.
    ///     .saved_in_lane(0x8..0x78, s33, v40, 7)?
    ///     .saved_to_scratch(0xc..0x78, v41, 4, Some(Val::entry_value(exec)))?;
    /// assert_eq!(m.finish()?.frame(helper).len(), 4);
    /// # Ok::<(), eitri::Error>(())
    /// ```
    ///
    /// # Errors
    /// [`UnknownId`](crate::error::ErrorKind::UnknownId).
    pub fn frame(&mut self, function: FunctionId) -> Result<FrameBuilder<'_>> {
        let Function { scope, bytes, .. } = *self.known_function(function)?;
        let unit = self.module.scopes[scope].unit;
        Ok(FrameBuilder { builder: self, function, unit, code_bytes: bytes })
    }

    /// Sorts by function, pc and column, and notes which are each function's, and where those of each column are.
    pub(super) fn sort_frames(&mut self) {
        let rules = &mut self.module.frame_rules;
        let key = |rule: &FrameRule| (rule.function, rule.start, rule.column);
        if !rules.is_sorted_by_key(key) {
            rules.sort_by_key(key);
        }
        let mut at = 0;
        while let Some(first) = rules.get(at) {
            let function = first.function;
            let count = rules[at..].iter().take_while(|rule| rule.function == function).count();
            self.module.functions[function].frame = at as u32..(at + count) as u32;
            at += count;
        }
        let by_column = |&index: &u32| {
            let rule: &FrameRule = &rules[index as usize];
            (rule.function, rule.column, rule.start)
        };
        let mut columns: Vec<u32> = (0..rules.len() as u32).collect();
        columns.sort_unstable_by_key(by_column);
        self.module.frame_columns = columns;
    }
}

impl FrameBuilder<'_> {
    /// Where the canonical frame address is while the pc is in a range: half-open, in bytes from the start of the
    /// function. It is a place in memory: a register and bytes in a space, as a rule.
    ///
    /// In a space of which each lane has its own (`private_lane`) it is another place for each lane. That serves
    /// variables. A register is the wave's, so that none can be saved in such a place: there is no lane of which it
    /// could be meant. [`Builder::finish`] refuses registers that are saved at an offset from such a frame.
    ///
    /// # Errors
    /// [`EmptyRange`](crate::error::ErrorKind::EmptyRange), [`OutsideFunction`](crate::error::ErrorKind::OutsideFunction); [`BadArgument`](crate::error::ErrorKind::BadArgument) where the range begins
    /// or ends inside of an instruction, the location is no place in memory, or it uses what call frame information
    /// must not (the error names the operation, A.6.4.2); and of the location, as
    /// [`VariableBuilder::live`](super::VariableBuilder::live). [`Builder::finish`] refuses ranges that overlap.
    pub fn cfa(&mut self, pcs: Range<u64>, loc: Loc) -> Result<&mut Self> {
        self.rule(pcs, Column::Cfa, &loc)
    }

    /// Where a register of the caller is.
    ///
    /// # Errors
    /// The errors of [`cfa`](Self::cfa); [`DoesNotFit`](crate::error::ErrorKind::DoesNotFit) where the register is larger than the place,
    /// [`BadArgument`](crate::error::ErrorKind::BadArgument) where it is in itself but not as a whole, or in memory that is a lane's.
    pub fn saved(&mut self, pcs: Range<u64>, reg: Reg, loc: Loc) -> Result<&mut Self> {
        self.rule(pcs, Column::Register(reg), &loc)
    }

    /// A register is as the caller left it.
    ///
    /// # Errors
    /// As [`saved`](Self::saved).
    pub fn same_value(&mut self, pcs: Range<u64>, reg: Reg) -> Result<&mut Self> {
        self.saved(pcs, reg, Loc::register(reg))
    }

    /// What a register of the caller held is lost. Of the return address: there is no caller.
    ///
    /// # Errors
    /// As [`saved`](Self::saved).
    pub fn undefined(&mut self, pcs: Range<u64>, reg: Reg) -> Result<&mut Self> {
        self.saved(pcs, reg, Loc::undefined())
    }

    /// A scalar register is in a lane of a vector register, written there with `v_writelane`.
    ///
    /// # Errors
    /// As [`saved`](Self::saved).
    pub fn saved_in_lane(&mut self, pcs: Range<u64>, sgpr: Reg, vgpr: Reg, lane: u32) -> Result<&mut Self> {
        self.saved(pcs, sgpr, Loc::lane(vgpr, lane))
    }

    /// A vector register is in a slot of scratch memory, at `slot` bytes of one lane from the canonical frame address,
    /// which counts the bytes of the wave. So many lanes of four bytes each stand there one after the other.
    ///
    /// With a mask, only those lanes that have a 1 were stored; the others are still in the register. Without one all
    /// were.
    ///
    /// # Errors
    /// The errors of [`saved`](Self::saved); [`BadArgument`](crate::error::ErrorKind::BadArgument) where the slot does not begin at a dword, or the
    /// register is no vector register.
    pub fn saved_to_scratch(
        &mut self,
        pcs: Range<u64>,
        vgpr: Reg,
        slot: i64,
        mask: Option<Val>,
    ) -> Result<&mut Self> {
        let target = &self.builder.module.target;
        let lanes = target.lanes();
        let wrong = match target.register(vgpr) {
            Some(register) if !register.is_vector() => {
                Some(format!("register {} has no lanes", register.name()))
            }
            _ if slot % 4 != 0 => Some("a slot for all lanes begins at a multiple of 4 bytes of each".into()),
            _ => None,
        };
        if let Some(what) = wrong {
            return Err(self.error(Error::bad_argument(what), Column::Register(vgpr), &pcs));
        }
        let offset = slot.checked_mul(lanes.into());
        let offset = offset.ok_or_else(|| Error::bad_argument("the slot goes further than 2^63 bytes"));
        let offset = offset.map_err(|error| self.error(error, Column::Register(vgpr), &pcs))?;
        let row = Loc::cfa().offset(offset);
        let loc = match mask {
            Some(mask) => Loc::select(mask, Loc::whole(vgpr), row, 32, lanes.into()),
            None => row,
        };
        self.saved(pcs, vgpr, loc)
    }

    /// The return address is in two scalar registers of 32 bits, low and high.
    ///
    /// # Errors
    /// As [`saved`](Self::saved).
    pub fn return_address(&mut self, pcs: Range<u64>, low: Reg, high: Reg) -> Result<&mut Self> {
        let column = self.return_register();
        self.saved(pcs, column, Loc::over([low, high]))
    }

    /// The function is entered from the host: there is no caller. Its frame begins at address 0 of the wave's private
    /// memory.
    ///
    /// # Errors
    /// [`BadArgument`](crate::error::ErrorKind::BadArgument) where the target has no such memory; [`EmptyRange`](crate::error::ErrorKind::EmptyRange) where the function
    /// has no code.
    pub fn entry_function(&mut self) -> Result<&mut Self> {
        let (pcs, column) = (0..self.code_bytes, self.return_register());
        let target = &self.builder.module.target;
        if target.space(SpaceId::PRIVATE_WAVE).is_none() {
            let what = format!("{} has no scratch memory in which a frame could begin", target.name());
            return Err(self.error(Error::bad_argument(what), Column::Cfa, &pcs));
        }
        self.builder.module.functions[self.function].is_stack_at_zero = true;
        self.cfa(pcs.clone(), Loc::memory(SpaceId::PRIVATE_WAVE, Val::constant(0)))?.undefined(pcs, column)
    }

    /// Which bytes are the frame's, counted from the canonical frame address in the space that it is in.
    /// [`Builder::finish`] refuses registers that are saved outside of them.
    ///
    /// # Errors
    /// [`BadArgument`](crate::error::ErrorKind::BadArgument) where the range is reversed, or is not around the canonical frame address, or next
    /// to it.
    pub fn extent(&mut self, bytes: Range<i64>) -> Result<&mut Self> {
        if bytes.start > 0 || bytes.end < 0 {
            let what =
                format!("bytes {}..{} are no frame: that is around its address", bytes.start, bytes.end);
            return Err(Error::bad_argument(what).or_at(at_function(&self.builder.module, self.function)));
        }
        self.builder.module.functions[self.function].frame_extent = Some(bytes);
        Ok(self)
    }

    /// The function.
    pub fn id(&self) -> FunctionId {
        self.function
    }

    fn return_register(&self) -> Reg {
        self.builder.module.target.call_frames().return_register
    }

    fn rule(&mut self, pcs: Range<u64>, column: Column, loc: &Loc) -> Result<&mut Self> {
        match self.checked(&pcs, column, loc) {
            Ok((start, end, loc)) => {
                let rule = FrameRule { function: self.function, start, end, column, loc };
                self.builder.module.frame_rules.push(rule);
                Ok(self)
            }
            Err(error) => Err(self.error(error, column, &pcs)),
        }
    }

    fn checked(&mut self, pcs: &Range<u64>, column: Column, loc: &Loc) -> Result<(u32, u32, LocId)> {
        let module = &self.builder.module;
        pcs::range(&module.target, self.code_bytes.min(u32::MAX.into()), pcs)?;
        let (bits, what) = match column {
            Column::Cfa => (None, "the canonical frame address"),
            Column::Register(reg) => {
                (Some(loc::register(module, reg)?.bits.into()), "a register of the caller")
            }
        };
        let has_slot = loc::check(self.builder, self.unit, loc, bits, what)?;
        refused::rule(module, column, loc.nodes())?;
        if has_slot {
            self.builder.slot(Slot::Scope(module.functions[self.function].scope));
        }
        Ok((pcs.start as u32, pcs.end as u32, self.builder.module.locs.push(loc)?))
    }

    #[cold]
    fn error(&self, error: Error, column: Column, pcs: &Range<u64>) -> Error {
        error.or_at(at(&self.builder.module, self.function, column, pcs.clone()))
    }
}

/// The place of a rule, for an error.
fn at(module: &Module, function: FunctionId, column: Column, pcs: Range<u64>) -> At {
    let column = Some(column.name(&module.target));
    At { column, pcs: Some(pcs), ..at_function(module, function) }
}

fn at_function(module: &Module, function: FunctionId) -> At {
    module.at_scope(module.functions[function].scope)
}
