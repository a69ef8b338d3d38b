//! Unit lowering, and the join into sections.

use std::sync::MutexGuard;

use super::link::Linker;
use super::lowered::{Lowered, LoweredUnit};
use super::unit::Recurring;
use super::units::{Scratch, Units};
use super::{directives, frame, split, type_unit, unencodable, unit};
use crate::emit::abbrev::Abbreviations;
#[cfg(doc)]
use crate::error::ErrorKind;
use crate::error::{At, Error, Result};
use crate::model::UnitId;

impl Units<'_> {
    /// Lowers a unit.
    ///
    /// # Errors
    /// The errors of [`lower()`](super::lower()); [`ErrorKind::UnknownId`] where the unit is not the module's.
    pub fn lower(&self, unit: UnitId) -> Result<LoweredUnit> {
        // Scratch tables go from unit to unit. A poisoned lock costs only speed, because no byte depends on the tables.
        let left = |mut all: MutexGuard<'_, Vec<Scratch>>| all.pop();
        let mut scratch = self.scratch.lock().ok().and_then(left).unwrap_or_default();
        let lowered = self.lower_with(unit, &mut scratch);
        if let Ok(mut all) = self.scratch.lock() {
            all.push(scratch);
        }
        lowered
    }

    fn lower_with(&self, id: UnitId, scratch: &mut Scratch) -> Result<LoweredUnit> {
        let Some(data) = self.module.units.get(id) else {
            return Err(self.module.unknown(id).into());
        };
        let named = |error: Error| {
            let name = self.module.string(data.name);
            error.or_at(At::new(|context| context.unit = Some(name.into())))
        };
        let mut lower = |abbreviations, recurring| {
            unit::write(self, id, abbreviations, recurring, scratch).map_err(named)
        };
        let mut recurring = Recurring::Called;
        let mut written = lower(Abbreviations::default(), recurring)?;
        if written.has_shared {
            // Equal lists are stored once in any case, so calls and procedures can take more room than they save.
            let plain = lower(Abbreviations::default(), Recurring::Inline)?;
            if plain.bytes() <= written.bytes() {
                written = plain;
                recurring = Recurring::Inline;
            }
        }
        // Only now is it known how often each abbreviation is used. The order makes a difference in few units.
        if written.abbreviations.saved_by_order() * WORTHWHILE > written.info.bytes.len() as u64 {
            written = lower(written.abbreviations.by_use(), recurring)?;
        }
        // What follows does not depend on the choices above, so it is done once.
        written.frames = frame::lower(self, id).map_err(named)?;
        written.omissions.append(&mut written.frames.omissions);
        unencodable::omit(self, id, &mut written.omissions).map_err(named)?;
        split::split(self, &mut written).map_err(named)?;
        type_unit::write(self, &mut written).map_err(named)?;
        Ok(written)
    }

    /// Lowers all units, and appends them to a linker.
    pub(super) fn push_all(&self, linker: &mut Linker) -> Result<()> {
        for unit in self.module.units.keys() {
            linker.push(self, self.lower(unit)?)?;
        }
        linker.end_module(self)
    }

    /// Joins the module's units, given in any order.
    ///
    /// # Errors
    /// [`ErrorKind::UnknownId`] where a unit is missing or occurs twice; [`ErrorKind::TooLarge`] where a section does
    /// not fit the 32-bit DWARF format.
    pub fn link(&self, units: Vec<LoweredUnit>) -> Result<Lowered> {
        let mut linker = Linker::new(self);
        linker.append_all(self, units)?;
        directives::added(self, linker.finish()?)
    }
}

/// Smallest saving for which a unit is lowered again, as the reciprocal of a fraction of the unit.
const WORTHWHILE: u64 = 200;
