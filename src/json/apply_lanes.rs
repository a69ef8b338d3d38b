//! Applies statements about lanes.

use super::later::Later;
use super::lists;
use super::read::Reader;
use super::statement::{Region, WholeWave};
use super::values::Number;
use crate::build::Blame;
use crate::error::Result;

impl<'a> Reader<'a> {
    pub fn region(&mut self, said: Region<'a>) -> Result<()> {
        let scope = self.scope(&said.r#in)?;
        let unit = self.unit_of(scope);
        let inside = said.inside.map(|inside| self.names.regions.find((), &inside)).transpose()?;
        let masks = match said.masks {
            Later::Text(masks) => self.part(masks, |reader, json| lists::masks(reader, unit, json))?,
            _ => Vec::new(),
        };
        let mut lanes = self.builder.lanes(scope)?;
        if let Some(inside) = inside {
            lanes.inside(inside)?;
        }
        let ((Number(start), Number(end)), Number(waits_at)) = (said.pcs, said.waits_at);
        let region = lanes.region(said.kind.0, start..end, waits_at, &masks)?;
        self.seek(|blame| *blame == Blame::Region(region))?;
        self.names.regions.add(region, said.id.as_ref(), None)
    }

    pub fn whole_wave(&mut self, said: WholeWave<'a>) -> Result<()> {
        let scope = self.scope(&said.r#in)?;
        let mask = self.loc(self.unit_of(scope), &said.mask)?;
        let (Number(start), Number(end)) = said.pcs;
        self.builder.lanes(scope)?.whole_wave(start..end, &mask)?;
        let function = self.builder.described().function_of(scope);
        self.seek(|blame| function.is_some_and(|of| *blame == Blame::WholeWave(of, start..end)))
    }
}
