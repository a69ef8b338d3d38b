//! Registers, in the current frame and on its entry (A.2.5.4.4.4, and R A.2.5.4.4.1).

use super::super::fault::{Fault, error, ill_formed};
use super::super::location::Location;
use super::super::run::Run;
use crate::op::Reg;

impl Run<'_, '_> {
    /// Returns a register's location in the current frame.
    pub(super) fn register(&self, reg: Reg) -> Result<Location, Fault> {
        let bits = self.register_bits(reg)?;
        let location = match self.scope.frame {
            0 => Location::register(self.target.first_number(reg), bits),
            frame => self.saved(reg, frame)?,
        };
        let Some(lane_bits) = self.target.lane_bits(reg) else { return Ok(location) };
        let lane =
            self.current_lane(&format!("register {}", self.target.register_name(reg).unwrap_or_default()))?;
        location.moved(i128::from(lane) * i128::from(lane_bits))
    }

    pub(super) fn register_bits(&self, reg: Reg) -> Result<u32, Fault> {
        let bits = self.target.register_bits(reg);
        bits.ok_or_else(|| ill_formed(self.target.unknown_register(reg)).about(reg))
    }

    pub(super) fn saved(&self, reg: Reg, frame: u32) -> Result<Location, Fault> {
        let saved = self.machine.saved(reg, frame);
        saved.ok_or_else(|| error(format!("the machine has no frame {frame}")))
    }

    pub(super) fn call_frame_entry_reg(&mut self, reg: Reg) -> Result<(), Fault> {
        self.register_bits(reg)?;
        // The register's value on entry is its value in the caller.
        let location = self.saved(reg, self.scope.frame.saturating_add(1))?;
        self.push(location);
        Ok(())
    }
}
