//! Lane descriptions: applied to the builder, and written from the model.

use std::io::Write;

use super::later::Later;
use super::lists::{Elements, MaskAt, each};
use super::loc::Place;
use super::read::Reader;
use super::statement::{Lanes, Region, Statement, WholeWave};
use super::values::{Number, Word};
use super::write::Writer;
use crate::build::Blame;
use crate::error::Result;

impl<'a> Lanes<'a> {
    pub fn apply(self, reader: &mut Reader<'a>) -> Result<()> {
        let scope = reader.scope(&self.r#in)?;
        reader.builder.lanes(scope).map(drop)
    }
}

impl<'a> Region<'a> {
    pub fn apply(self, reader: &mut Reader<'a>) -> Result<()> {
        let scope = reader.scope(&self.r#in)?;
        let unit = reader.unit_of(scope);
        let inside = self.inside.map(|inside| reader.names.regions.find((), &inside)).transpose()?;
        let mut masks = Vec::new();
        if let Later::Text(text) = self.masks {
            let add = |_: &mut Reader<'a>, MaskAt { start, end, loc, .. }: MaskAt<'a>| {
                masks.push((start.0..end.0, loc));
                Ok(())
            };
            reader.part(text, |reader, json| each(reader, unit, json, add))?;
        }
        let mut lanes = reader.builder.lanes(scope)?;
        if let Some(inside) = inside {
            lanes.inside(inside)?;
        }
        let ((Number(start), Number(end)), Number(waits_at)) = (self.pcs, self.waits_at);
        let region = lanes.region(self.kind.0, start..end, waits_at, &masks)?;
        reader.seek(|blame| *blame == Blame::Region(region))?;
        reader.names.regions.add(region, self.id.as_ref(), None)
    }
}

impl<'a> WholeWave<'a> {
    pub fn apply(self, reader: &mut Reader<'a>) -> Result<()> {
        let scope = reader.scope(&self.r#in)?;
        let mask = reader.loc(reader.unit_of(scope), &self.mask)?;
        let (Number(start), Number(end)) = self.pcs;
        reader.builder.lanes(scope)?.whole_wave(start..end, &mask)?;
        let function = reader.builder.described().function_of(scope);
        reader.seek(|blame| function.is_some_and(|of| *blame == Blame::WholeWave(of, start..end)))
    }
}

impl<W: Write> Writer<'_, W> {
    pub fn lanes(&mut self) -> Result<()> {
        let (known, module) = (self.known, self.module);
        for (id, _) in module.functions().filter(|&(id, _)| module.describes_lanes(id)) {
            self.statement(&Statement::Lanes(Lanes::new(known.function_ref(id))))?;
        }
        for (id, region) in module.regions() {
            let masks = Later::Model(Elements { known, of: module.masks(id) });
            let pcs = (Number(region.pcs().start), Number(region.pcs().end));
            let (scope, waits_at) = (known.scope_ref(region.scope), Number(region.waits_at()));
            let mut json = Region::new(scope, Word(region.kind), pcs, waits_at, masks);
            json.inside = region.parent.map(|parent| known.region_ref(parent));
            json.id = known.region_id(id);
            self.statement(&Statement::Region(json))?;
        }
        for whole_wave in &module.lanes.whole_waves {
            let mask = Later::Model(Place { known, loc: whole_wave.mask.loc });
            let pcs = (Number(whole_wave.mask.pcs().start), Number(whole_wave.mask.pcs().end));
            let json = WholeWave::new(known.function_ref(whole_wave.function), pcs, mask);
            self.statement(&Statement::WholeWave(json))?;
        }
        Ok(())
    }
}
