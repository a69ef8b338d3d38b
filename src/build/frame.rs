//! Frames: the locations of the caller's registers, by pc. DWARF 5 section 6.4.

mod refused;

pub(super) use refused::check;
use refused::{at, at_function};

use core::ops::Range;

use hashbrown::HashSet;

use super::builder::Builder;
use super::slots::Slot;
use super::{loc, pcs};
use crate::error::{Aligned, Error, ErrorKind, Feature, Quantity, Result};
use crate::model::{Column, FrameRule, Function, FunctionId, Loc, LocId, UnitId, Val};
use crate::op::Reg;
use crate::target::{Scaling, SpaceId, UnspecifiedRegisters};

/// Describes a frame. Made by [`Builder::frame`].
#[derive(Debug)]
pub struct FrameBuilder<'b> {
    builder: &'b mut Builder,
    function: FunctionId,
    unit: UnitId,
    code_bytes: u64,
}

impl Builder {
    /// Describes the locations of a function's frame and of its caller's registers. Further calls add to the same
    /// frame.
    ///
    /// At each pc a frame needs the canonical frame address, and the return address or its absence:
    /// [`finish`](Self::finish) rejects a frame with gaps. A [kernel](super::FunctionBuilder::kernel) has both without a
    /// description, as by [`entry_function`](FrameBuilder::entry_function), on targets with private memory. Any other
    /// register without a rule is as the caller left it if the calling convention preserves it, and undefined if not (see
    /// [`FrameRule`]). On x86-64, AArch64 and RISC-V the stack pointer without a rule is the canonical frame address
    /// ([`Target::cfa_register`](crate::target::Target::cfa_register): rsp, sp and x2). s390x and GPUs have no such
    /// register: while a function on AMDGPU has moved s32, its frame needs a rule for s32. `eitri targets TARGET` prints the
    /// register, and the [unit](crate::target::Target::scaling) of stack and frame pointers.
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

    /// Adds the frame with which the hardware enters a kernel: it begins at address 0 of the wave's private memory, and has
    /// no caller. A column with rules keeps them.
    ///
    /// # Errors
    /// [`ErrorKind::Limit`] where the module has too many locations.
    pub(super) fn add_entry_frames(&mut self) -> Result<()> {
        let target = &self.module.target;
        if target.space(SpaceId::PRIVATE_WAVE).is_none() {
            return Ok(());
        }
        let is_entered = |function: &Function| {
            function.is_kernel
                && function.address.is_some()
                && (1..=u32::MAX.into()).contains(&function.bytes)
        };
        let kernels = self.module.functions.iter().filter(|(_, function)| is_entered(function));
        let kernels: Vec<FunctionId> = kernels.map(|(id, _)| id).collect();
        if kernels.is_empty() {
            return Ok(());
        }
        let rules = &self.module.lists.frame_rules;
        let ruled: HashSet<_> = rules.iter().map(|rule| (rule.function, rule.column)).collect();
        let described: HashSet<_> = rules.iter().map(|rule| rule.function).collect();
        let start = self.module.locs.push(&Loc::memory(SpaceId::PRIVATE_WAVE, Val::constant(0)))?;
        let none = self.module.locs.push(&Loc::undefined())?;
        for function in kernels {
            let end = self.module.functions[function].bytes as u32;
            let returns = Column::Register(self.module.return_register(function));
            for (column, loc) in [(Column::Cfa, start), (returns, none)] {
                if !ruled.contains(&(function, column)) {
                    self.module.lists.frame_rules.push(FrameRule { function, start: 0, end, column, loc });
                }
            }
            self.module.functions[function].is_frame_implied = !described.contains(&function);
        }
        Ok(())
    }

    /// Returns the number of frame rules so far.
    #[cfg(feature = "import")]
    pub(crate) fn frame_rule_count(&self) -> usize {
        self.module.lists.frame_rules.len()
    }

    /// Removes the rules from a number on, which belong to one function, if [`finish`](Self::finish) would refuse them.
    #[cfg(feature = "import")]
    pub(crate) fn keep_frame(&mut self, function: FunctionId, from: usize) -> Result<()> {
        let rules = &mut self.module.lists.frame_rules;
        let end = rules.len() as u32;
        rules[from..].sort_by_key(|rule| (rule.start, rule.column));
        let mut columns: Vec<u32> = (from as u32..end).collect();
        columns.sort_unstable_by_key(|&index| (rules[index as usize].column, rules[index as usize].start));
        self.module.lists.frame_columns.resize(from, 0);
        self.module.lists.frame_columns.extend(columns);
        self.module.functions[function].frame = from as u32..end;
        let checked = refused::check_frame(&self.module, function).map_err(|wrong| wrong.error);
        self.module.functions[function].frame = 0..0;
        if checked.is_err() {
            self.module.lists.frame_rules.truncate(from);
        }
        checked
    }

    /// Sorts rules by function, pc and column, and records each function's rules and the order by column.
    pub(super) fn sort_frames(&mut self) {
        let rules = &mut self.module.lists.frame_rules;
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
        // Two orders are kept: emission reads rules by pc, and lookups read them by column.
        let by_column = |&index: &u32| {
            let rule: &FrameRule = &rules[index as usize];
            (rule.function, rule.column, rule.start)
        };
        let mut columns: Vec<u32> = (0..rules.len() as u32).collect();
        columns.sort_unstable_by_key(by_column);
        self.module.lists.frame_columns = columns;
    }
}

impl FrameBuilder<'_> {
    /// Adds the canonical frame address for half-open pcs, in bytes from the function start. The address is a location
    /// in memory: usually a register plus a byte offset, in a space.
    ///
    /// In a space in which each lane has separate memory (`private_lane`), each lane has a separate location, which
    /// suffices for variables. A register belongs to the wave, so that it cannot be saved in such a location, where no
    /// lane is known. [`Builder::finish`] rejects registers that are saved at an offset from such a frame.
    ///
    /// # Errors
    /// [`EmptyRange`](crate::error::ErrorKind::EmptyRange),
    /// [`OutsideFunction`](crate::error::ErrorKind::OutsideFunction);
    /// [`Misaligned`](crate::error::ErrorKind::Misaligned) where the range begins or ends inside an instruction;
    /// [`BadArgument`](crate::error::ErrorKind::BadArgument) where the location is not in memory, or the location uses
    /// an operation that is not allowed in call frame information (the error names the operation, A.6.4.2); and the
    /// same errors as [`VariableBuilder::live`](super::VariableBuilder::live) for the location. [`Builder::finish`]
    /// rejects ranges that overlap.
    ///
    /// # Example
    ///
    /// ```
    /// # use eitri::build::Builder;
    /// # use eitri::model::{BaseEncoding, Loc, SourceLine, Val};
    /// # use eitri::target::{SpaceId, Target};
    /// # let gpu = Target::named("amdgpu-gfx1030-wave32")?;
    /// # let (s4, v3, v40) = (gpu.sgpr(4)?, gpu.vgpr(3)?, gpu.vgpr(40)?);
    /// # let mut m = Builder::new(gpu);
    /// # let unit = m.unit("a.cl");
    /// # let int = m.base_type(unit, "int", BaseEncoding::Signed, 32)?;
    /// # let f = m.function(unit, "f")?.code("f", 0x40).id();
    /// let s32 = m.target().sgpr(32)?;
    /// let memory = Loc::memory(SpaceId::PRIVATE_WAVE, Val::register(s32));
    /// m.frame(f)?.cfa(0x00..0x40, memory)?;
    /// # Ok::<(), eitri::Error>(())
    /// ```
    pub fn cfa(&mut self, pcs: Range<u64>, loc: Loc) -> Result<&mut Self> {
        self.rule(pcs, Column::Cfa, &loc)
    }

    /// Adds the canonical frame address in scratch memory: at a register's contents plus an offset in bytes of one lane. The
    /// register counts bytes in the function's [units](super::FunctionBuilder::scaling) at the time of this call: bytes of
    /// the wave on processors with buffer scratch, and bytes of one lane on processors with flat scratch, where the
    /// address is the register times the lanes of the wave.
    ///
    /// # Errors
    /// Same errors as [`cfa`](Self::cfa).
    ///
    /// # Example
    ///
    /// ```
    /// # use eitri::build::Builder;
    /// # use eitri::model::{Loc, Val};
    /// # use eitri::target::{SpaceId, Target};
    /// let gpu = Target::named("amdgpu-gfx1100-wave32")?;
    /// let s32 = gpu.sgpr(32)?;
    /// let mut m = Builder::new(gpu);
    /// let unit = m.unit("a.cl");
    /// let f = m.function(unit, "f")?.code("f", 0x40).id();
    /// // s_add_i32 s32, s32, 16 at 0x0c: the frame has 16 bytes of each lane.
    /// m.frame(f)?.cfa_in_scratch(0x00..0x10, s32, 0)?.cfa_in_scratch(0x10..0x40, s32, -16)?;
    /// # Ok::<(), eitri::Error>(())
    /// ```
    pub fn cfa_in_scratch(&mut self, pcs: Range<u64>, reg: Reg, offset: i64) -> Result<&mut Self> {
        let module = &self.builder.module;
        let base = match module.functions[self.function].stack.scaling {
            Scaling::Wave => Val::register(reg),
            Scaling::Lane => Val::register(reg).mul(Val::constant(module.target.lanes().into())),
        };
        let address = match self.bytes_of_wave(offset, Column::Cfa, &pcs)? {
            0 => base,
            bytes => base.plus(bytes),
        };
        self.cfa(pcs, Loc::memory(SpaceId::PRIVATE_WAVE, address))
    }

    /// Adds a caller register's location.
    ///
    /// # Errors
    /// Same errors as [`cfa`](Self::cfa); [`DoesNotFit`](crate::error::ErrorKind::DoesNotFit) where the register is
    /// larger than the location, [`BadArgument`](crate::error::ErrorKind::BadArgument) where the location is a part or
    /// lane of the register itself, or memory that each lane has separately, if the target's expressions do not belong to one
    /// [thread](crate::target::Target::has_lane_expressions).
    ///
    /// # Example
    ///
    /// ```
    /// # use eitri::build::Builder;
    /// # use eitri::model::{BaseEncoding, Loc, Val};
    /// # use eitri::target::Target;
    /// # let gpu = Target::named("amdgpu-gfx1030-wave32")?;
    /// # let (s4, v3, v40) = (gpu.sgpr(4)?, gpu.vgpr(3)?, gpu.vgpr(40)?);
    /// # let mut m = Builder::new(gpu);
    /// # let unit = m.unit("a.cl");
    /// # let int = m.base_type(unit, "int", BaseEncoding::Signed, 32)?;
    /// # let f = m.function(unit, "f")?.code("f", 0x40).id();
    /// // v_writelane_b32 v40, s34, 2 at 0x08: from then on, the caller's s34 is in lane 2 of v40.
    /// let s34 = m.target().sgpr(34)?;
    /// m.frame(f)?.saved(0x10..0x40, s34, Loc::lane(v40, 2))?;
    /// # Ok::<(), eitri::Error>(())
    /// ```
    pub fn saved(&mut self, pcs: Range<u64>, reg: Reg, loc: Loc) -> Result<&mut Self> {
        self.rule(pcs, Column::Register(reg), &loc)
    }

    /// Marks a register as unchanged since the call.
    ///
    /// # Errors
    /// Same errors as [`saved`](Self::saved).
    pub fn same_value(&mut self, pcs: Range<u64>, reg: Reg) -> Result<&mut Self> {
        self.saved(pcs, reg, Loc::register(reg))
    }

    /// Marks a register's value in the caller as lost. For the return address: there is no caller.
    ///
    /// # Errors
    /// Same errors as [`saved`](Self::saved).
    pub fn undefined(&mut self, pcs: Range<u64>, reg: Reg) -> Result<&mut Self> {
        self.saved(pcs, reg, Loc::undefined())
    }

    /// Adds a scalar register saved in a vector register's lane by `v_writelane`.
    ///
    /// # Errors
    /// Same errors as [`saved`](Self::saved).
    ///
    /// # Example
    ///
    /// ```
    /// # use eitri::build::Builder;
    /// # use eitri::model::{BaseEncoding, Loc, SourceLine, Val};
    /// # use eitri::target::{SpaceId, Target};
    /// # let gpu = Target::named("amdgpu-gfx1030-wave32")?;
    /// # let (s4, v3, v40) = (gpu.sgpr(4)?, gpu.vgpr(3)?, gpu.vgpr(40)?);
    /// # let mut m = Builder::new(gpu);
    /// # let unit = m.unit("a.cl");
    /// # let int = m.base_type(unit, "int", BaseEncoding::Signed, 32)?;
    /// # let f = m.function(unit, "f")?.code("f", 0x40).id();
    /// let s33 = m.target().sgpr(33)?;
    /// m.frame(f)?.saved_in_lane(0x08..0x38, s33, v40, 2)?;
    /// # Ok::<(), eitri::Error>(())
    /// ```
    pub fn saved_in_lane(&mut self, pcs: Range<u64>, sgpr: Reg, vgpr: Reg, lane: u32) -> Result<&mut Self> {
        self.saved(pcs, sgpr, Loc::lane(vgpr, lane))
    }

    /// Adds a vector register saved in a scratch memory slot, `slot` bytes of one lane from the canonical frame
    /// address, which counts the wave's bytes. The slot contains four bytes for each lane, in lane order.
    ///
    /// With a mask, only lanes with a 1 in the mask were stored; the remaining lanes are still in the register. Without
    /// a mask all lanes were stored.
    ///
    /// # Errors
    /// Same errors as [`saved`](Self::saved); [`Misaligned`](crate::error::ErrorKind::Misaligned) where `slot` is not
    /// a multiple of 4; [`BadArgument`](crate::error::ErrorKind::BadArgument) where the register is not a vector register.
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
            Some(register) if !register.is_vector() => Some(Error::bad_argument(format!(
                "{} is a scalar register; expected a vector register",
                register.name()
            ))),
            _ if slot % 4 != 0 => {
                let value = slot.unsigned_abs();
                Some(Error::new(ErrorKind::Misaligned { kind: Aligned::RowOffset, step: 4, value }))
            }
            _ => None,
        };
        if let Some(error) = wrong {
            return Err(self.error(error, Column::Register(vgpr), &pcs));
        }
        // `slot` counts one lane's bytes, but the canonical frame address counts the wave's.
        let offset = self.bytes_of_wave(slot, Column::Register(vgpr), &pcs)?;
        let row = Loc::cfa().offset(offset);
        let loc = match mask {
            // Lanes with a 0 were not stored and still have their value in the register.
            Some(mask) => Loc::select(mask, Loc::whole(vgpr), row, 32, lanes.into()),
            None => row,
        };
        self.saved(pcs, vgpr, loc)
    }

    /// Adds the return address, in two 32-bit scalar registers, low and high.
    ///
    /// # Errors
    /// Same errors as [`saved`](Self::saved).
    ///
    /// # Example
    ///
    /// ```
    /// # use eitri::build::Builder;
    /// # use eitri::model::{BaseEncoding, Loc, SourceLine, Val};
    /// # use eitri::target::{SpaceId, Target};
    /// # let gpu = Target::named("amdgpu-gfx1030-wave32")?;
    /// # let (s4, v3, v40) = (gpu.sgpr(4)?, gpu.vgpr(3)?, gpu.vgpr(40)?);
    /// # let mut m = Builder::new(gpu);
    /// # let unit = m.unit("a.cl");
    /// # let int = m.base_type(unit, "int", BaseEncoding::Signed, 32)?;
    /// # let f = m.function(unit, "f")?.code("f", 0x40).id();
    /// let (s30, s31) = (m.target().sgpr(30)?, m.target().sgpr(31)?);
    /// m.frame(f)?.return_address(0x00..0x40, s30, s31)?;
    /// # Ok::<(), eitri::Error>(())
    /// ```
    pub fn return_address(&mut self, pcs: Range<u64>, low: Reg, high: Reg) -> Result<&mut Self> {
        let column = self.return_column();
        self.saved(pcs, column, Loc::over([low, high]))
    }

    /// Describes a function that is entered from the host, without a caller. Its frame begins at address 0 of the
    /// wave's private memory.
    ///
    /// # Errors
    /// [`TargetLacks`](crate::error::ErrorKind::TargetLacks) where the target has no such memory;
    /// [`EmptyRange`](crate::error::ErrorKind::EmptyRange) where the function has no code.
    ///
    /// # Example
    ///
    /// ```
    /// # use eitri::build::Builder;
    /// # use eitri::model::{BaseEncoding, Loc, SourceLine, Val};
    /// # use eitri::target::{SpaceId, Target};
    /// # let gpu = Target::named("amdgpu-gfx1030-wave32")?;
    /// # let (s4, v3, v40) = (gpu.sgpr(4)?, gpu.vgpr(3)?, gpu.vgpr(40)?);
    /// # let mut m = Builder::new(gpu);
    /// # let unit = m.unit("a.cl");
    /// # let int = m.base_type(unit, "int", BaseEncoding::Signed, 32)?;
    /// let kernel = m.function(unit, "k")?.code("k", 0x80).kernel().id();
    /// m.frame(kernel)?.entry_function()?;
    /// # Ok::<(), eitri::Error>(())
    /// ```
    pub fn entry_function(&mut self) -> Result<&mut Self> {
        let pcs = 0..self.code_bytes;
        let column = self.return_column();
        let target = &self.builder.module.target;
        if target.space(SpaceId::PRIVATE_WAVE).is_none() {
            let error = loc::lacks(target, Feature::WaveScratch, "the frame of an entry function");
            return Err(self.error(error, Column::Cfa, &pcs));
        }
        self.builder.module.functions[self.function].is_stack_at_zero = true;
        self.cfa(pcs.clone(), Loc::memory(SpaceId::PRIVATE_WAVE, Val::constant(0)))?.undefined(pcs, column)
    }

    /// Sets the frame's bytes, counted from the canonical frame address in its space. [`Builder::finish`] refuses
    /// registers saved outside these bytes.
    ///
    /// # Errors
    /// [`BadArgument`](crate::error::ErrorKind::BadArgument) where the range is reversed, or neither contains the
    /// canonical frame address nor touches it.
    pub fn extent(&mut self, bytes: Range<i64>) -> Result<&mut Self> {
        // Slots are offsets from the canonical frame address, which must therefore be in the frame or at its border.
        if bytes.start > 0 || bytes.end < 0 {
            let what = format!(
                "frame extent {}..{} in bytes neither contains nor touches the canonical frame address",
                bytes.start, bytes.end
            );
            return Err(Error::bad_argument(what).or_at(at_function(&self.builder.module, self.function)));
        }
        self.builder.module.functions[self.function].set_frame_facts(|facts| facts.extent = Some(bytes));
        Ok(self)
    }

    /// Sets what the caller's registers are for which the frame has no rule, by default what the calling convention says.
    /// [`SameValue`](UnspecifiedRegisters::SameValue) describes a function that keeps registers which the convention does
    /// not preserve, and lists those that it overwrites ([`undefined`](Self::undefined)), for example with interprocedural
    /// register allocation.
    pub fn unspecified_registers(&mut self, registers: UnspecifiedRegisters) -> &mut Self {
        self.builder.module.functions[self.function].unspecified_registers = registers;
        self
    }

    /// Sets the register whose value in the caller is the return address, by default the target's. Functions that are
    /// called in another way have such a frame, such as those that save registers for other functions.
    ///
    /// # Errors
    /// [`BadArgument`](crate::error::ErrorKind::BadArgument) where the target lacks the register.
    pub fn return_register(&mut self, register: Reg) -> Result<&mut Self> {
        let module = &mut self.builder.module;
        if module.target.register(register).is_none() {
            let what = format!("register {} is not among the registers of the target", register.0);
            return Err(Error::bad_argument(what).or_at(at_function(module, self.function)));
        }
        let is_default = module.target.call_frames().return_register == register;
        let register = (!is_default).then_some(register);
        module.functions[self.function].set_frame_facts(|facts| facts.return_register = register);
        Ok(self)
    }

    /// Returns the function's id.
    pub fn id(&self) -> FunctionId {
        self.function
    }

    /// Returns the bytes of all lanes in the wave for bytes of each lane.
    fn bytes_of_wave(&self, bytes: i64, column: Column, pcs: &Range<u64>) -> Result<i64> {
        let lanes = self.builder.module.target.lanes();
        bytes.checked_mul(lanes.into()).ok_or_else(|| {
            let total = u128::from(bytes.unsigned_abs()) * u128::from(lanes);
            self.error(Error::limit(Quantity::RowOffset, 0..=i64::MAX as u128, total), column, pcs)
        })
    }

    fn return_column(&self) -> Reg {
        self.builder.module.return_register(self.function)
    }

    fn rule(&mut self, pcs: Range<u64>, column: Column, loc: &Loc) -> Result<&mut Self> {
        match self.checked(&pcs, column, loc) {
            Ok((start, end, loc)) => {
                let rule = FrameRule { function: self.function, start, end, column, loc };
                self.builder.module.lists.frame_rules.push(rule);
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
        let has_slot = self.builder.check_location(self.unit, loc, bits, what)?;
        refused::rule(module, self.function, column, loc.nodes())?;
        if has_slot {
            self.builder.slot(Slot::Scope(module.functions[self.function].scope));
        }
        Ok((pcs.start as u32, pcs.end as u32, self.builder.module.locs.push(loc)?))
    }

    fn error(&self, error: Error, column: Column, pcs: &Range<u64>) -> Error {
        error.or_at(at(&self.builder.module, self.function, column, pcs.clone()))
    }
}
