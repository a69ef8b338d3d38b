//! Writes lane descriptions as statements.

use std::io::Write;

use super::later::Later;
use super::statement::{self as say, Statement};
use super::values::{Number, Word};
use super::write::{Masks, Place, Writer};
use crate::error::Result;

impl<W: Write> Writer<'_, W> {
    pub fn lanes(&mut self) -> Result<()> {
        let (known, module) = (self.known, self.module);
        for (id, _) in module.functions().filter(|&(id, _)| module.describes_lanes(id)) {
            self.say(&Statement::Lanes(say::Lanes::new(known.function_ref(id))))?;
        }
        for (id, region) in module.regions() {
            let masks = Later::Model(Masks { known, masks: module.masks(id) });
            let pcs = (Number(region.pcs().start), Number(region.pcs().end));
            let (scope, waits_at) = (known.scope_ref(region.scope), Number(region.waits_at()));
            let mut said = say::Region::new(scope, Word(region.kind), pcs, waits_at, masks);
            said.inside = region.parent.map(|parent| known.region_ref(parent));
            said.id = known.region_id(id);
            self.say(&Statement::Region(said))?;
        }
        for whole_wave in &module.lanes.whole_waves {
            let mask = Later::Model(Place { known, loc: whole_wave.mask.loc });
            let pcs = (Number(whole_wave.mask.pcs().start), Number(whole_wave.mask.pcs().end));
            let said = say::WholeWave::new(known.function_ref(whole_wave.function), pcs, mask);
            self.say(&Statement::WholeWave(said))?;
        }
        Ok(())
    }
}
