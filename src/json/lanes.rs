//! Lane descriptions: masks read, and all written from the model.

use core::ops::Range;
use std::io::Write;

use super::later::Later;
use super::lists::{Elements, MaskAt, each};
use super::read::Reader;
use super::statement::{RegionFacts, lanes_statement, region_statement, whole_wave_statement};
use super::write::Writer;
use crate::error::Result;
use crate::model::{Loc, UnitId};

impl<'a> Reader<'a> {
    /// Reads the masks of a region.
    pub fn masks(
        &mut self,
        unit: UnitId,
        masks: &Later<'a, Elements<'a, MaskAt<'a>>>,
    ) -> Result<Vec<(Range<u64>, Loc)>> {
        let mut all = Vec::new();
        if let Later::Text(masks) = *masks {
            let add = |_: &mut Reader<'a>, MaskAt { start, end, loc, .. }: MaskAt<'a>| {
                all.push((start.0..end.0, loc));
                Ok(())
            };
            self.part(masks, |reader, json| each(reader, unit, json, add))?;
        }
        Ok(all)
    }
}

impl<W: Write> Writer<'_, W> {
    pub fn lanes(&mut self) -> Result<()> {
        let (known, module) = (self.known, self.module);
        for (id, _) in module.functions().filter(|&(id, _)| module.describes_lanes(id)) {
            self.statement(&lanes_statement(known, known.function_ref(id), None, (), ()))?;
        }
        for (id, region) in module.regions() {
            let of = (region, region.pcs(), region.waits_at(), module.masks(id));
            let (scope, facts) = (known.scope_ref(region.scope), RegionFacts::of(known, id));
            self.statement(&region_statement(known, scope, known.region_id(id), of, facts))?;
        }
        for whole_wave in &module.lanes.whole_waves {
            let (function, mask) = (known.function_ref(whole_wave.function), &whole_wave.mask);
            self.statement(&whole_wave_statement(known, function, None, (mask.pcs(), mask.loc), ()))?;
        }
        Ok(())
    }
}
