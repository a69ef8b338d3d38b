//! A wave that is stopped, as a debugger reads it.

use std::cell::RefCell;
use std::collections::BTreeSet;

use eitri::eval::{Machine, Unavailable};
use eitri::op::Reg;
use eitri::target::SpaceId;

use crate::sim::Wave;

/// The wave, and the dwords of registers that were read.
pub(crate) struct Stopped<'w> {
    pub wave: &'w Wave,
    /// The address of the kernel, and the pc from there.
    pub base: u64,
    pub pc: u64,
    pub lane: Option<u32>,
    pub read: RefCell<BTreeSet<(Reg, u32)>>,
}

/// A register by its number in DWARF.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Register {
    Pc,
    Exec,
    Scalar(u32),
    Row(u32),
}

impl Register {
    pub(crate) fn new(reg: Reg) -> Option<Self> {
        Some(match reg.0 as u32 {
            1 => Self::Exec,
            16 => Self::Pc,
            n @ 32..=95 => Self::Scalar(n - 32),
            n @ 1088..=1129 => Self::Scalar(n - 1088 + 64),
            n @ 1536..=1791 => Self::Row(n - 1536),
            _ => return None,
        })
    }
}

impl<'w> Stopped<'w> {
    pub(crate) fn new(wave: &'w Wave, base: u64, pc: u64, lane: Option<u32>) -> Self {
        Self { wave, base, pc, lane, read: RefCell::default() }
    }

    /// A dword of a register.
    pub(crate) fn dword(&self, reg: Reg, n: u32) -> Option<u32> {
        Some(match (Register::new(reg)?, n) {
            (Register::Pc, 0) => (self.base + self.pc) as u32,
            (Register::Pc, 1) => ((self.base + self.pc) >> 32) as u32,
            (Register::Exec, 0) => self.wave.exec,
            (Register::Scalar(of), 0) => self.wave.scalars[of as usize].bits,
            (Register::Row(of), 0..32) => self.wave.vectors[of as usize][n as usize].bits,
            _ => return None,
        })
    }
}

/// Copies bytes of dwords, from byte `at` on.
fn copy(into: &mut [u8], at: u64, dword: impl Fn(u32) -> Option<u32>) -> Result<(), Unavailable> {
    for (at, byte) in (at..).zip(into) {
        *byte = dword((at / 4) as u32).ok_or(Unavailable)?.to_le_bytes()[at as usize % 4];
    }
    Ok(())
}

impl Machine for Stopped<'_> {
    fn register(&self, reg: Reg, frame: u32, at: u32, into: &mut [u8]) -> Result<(), Unavailable> {
        if frame > 0 {
            return Err(Unavailable);
        }
        let dwords = at / 4..(at + into.len() as u32).div_ceil(4);
        self.read.borrow_mut().extend(dwords.map(|n| (reg, n)));
        copy(into, at.into(), |n| self.dword(reg, n))
    }

    fn memory(
        &self,
        space: SpaceId,
        lane: Option<u32>,
        address: u64,
        into: &mut [u8],
    ) -> Result<(), Unavailable> {
        let scratch = &self.wave.scratch;
        match (space, lane) {
            (SpaceId::PRIVATE_LANE, Some(lane)) => {
                copy(into, address, |n| Some(scratch.get(n as usize)?[lane as usize].bits))
            }
            // A dword of each lane, one lane after the other.
            (SpaceId::PRIVATE_WAVE, None) => {
                copy(into, address, |n| Some(scratch.get(n as usize / 32)?[n as usize % 32].bits))
            }
            _ => Err(Unavailable),
        }
    }

    fn lane(&self) -> Option<u64> {
        self.lane.map(u64::from)
    }

    fn lanes(&self) -> u64 {
        32
    }

    fn pc(&self, frame: u32) -> Option<u64> {
        (frame == 0).then_some(self.base + self.pc)
    }
}
