//! Lane descriptions: regions with their masks, and whole-wave code.

use core::ops::Range;

use super::facts::{facts, kind};
use super::ids::Known;
use super::later::Later;
use super::lists::{Elements, LocAt, each};
use super::loc::{self, Loc};
use super::objects::objects;
use super::reader::Reader;
use super::values::{Number, Pcs, Ref, Text};
use super::words::Word;
use crate::build::Blame;
use crate::error::Result;
use crate::model::entities::region_properties;
use crate::model::{self, FunctionId, Mask, RegionId, RegionKind, UnitId};

region_properties! {
    facts RegionFacts of |known, id: RegionId| known.module.region(id), set RegionId: [by id],
    object Region {
        r#in: Ref<'a>, kind: Word<RegionKind>, pcs: Pcs, waits_at: Number,
        masks: Later<'a, Elements<'a, LocAt<'a, Mask>>>
    } { id: Text<'a> }
}
objects! {
    Lanes { r#in: Ref<'a> } {}
    WholeWave { r#in: Ref<'a>, pcs: Pcs, mask: Loc<'a> } {}
}

impl<'a> Lanes<'a> {
    pub fn apply(self, reader: &mut Reader<'a>) -> Result<()> {
        let scope = reader.scope(&self.r#in)?;
        reader.builder.lanes(scope).map(drop)
    }

    pub fn write(known: &'a Known<'a>, id: FunctionId) -> Self {
        Self::new(known.function_ref(id))
    }
}

impl<'a> Region<'a> {
    pub fn apply(mut self, reader: &mut Reader<'a>) -> Result<()> {
        let (scope, unit) = reader.scope_and_unit(&self.r#in)?;
        let inside = self.inside.take().map(|inside| reader.names.regions.find((), &inside)).transpose()?;
        let (Number(start), Number(end)) = self.pcs;
        let masks = masks(reader, unit, &self.masks)?;
        let mut lanes = reader.builder.lanes(scope)?;
        if let Some(inside) = inside {
            lanes.inside(inside)?;
        }
        let region = lanes.region(self.kind.0, start..end, self.waits_at.0, &masks)?;
        reader.seek(|blame| *blame == Blame::Region(region))?;
        reader.names.regions.add(region, self.id.as_ref(), None)?;
        self.facts().describe(reader, region, unit)
    }

    pub fn write(known: &'a Known<'a>, id: RegionId) -> Self {
        let region = known.module.region(id);
        let pcs = region.pcs();
        let masks = Later::Model(Elements { known, items: known.module.masks(id) });
        let json = Self::new(
            known.scope_ref(region.scope),
            Word(region.kind),
            (Number(pcs.start), Number(pcs.end)),
            Number(region.waits_at()),
            masks,
        );
        Self {
            id: known.region_id(id),
            inside: region.parent.map(|parent| known.region_ref(parent)),
            ..json.with(RegionFacts::new(known, id))
        }
    }
}

/// Reads a region's masks.
fn masks<'a>(
    reader: &mut Reader<'a>,
    unit: UnitId,
    masks: &Later<'a, Elements<'a, LocAt<'a, Mask>>>,
) -> Result<Vec<(Range<u64>, model::Loc)>> {
    let mut read = Vec::new();
    if let Later::Text(masks) = *masks {
        let add = |_: &mut Reader<'a>, LocAt { start, end, loc, .. }: LocAt<'a, Mask>| {
            read.push((start.0..end.0, loc));
            Ok(())
        };
        reader.part(masks, |reader, json| each(reader, unit, json, add))?;
    }
    Ok(read)
}

impl<'a> WholeWave<'a> {
    pub fn apply(self, reader: &mut Reader<'a>) -> Result<()> {
        let (scope, unit) = reader.scope_and_unit(&self.r#in)?;
        let (Number(start), Number(end)) = self.pcs;
        let mask = loc::whole::<model::Loc, _>(reader, unit, &self.mask)?;
        reader.builder.lanes(scope)?.whole_wave(start..end, &mask)?;
        let function = reader.builder.described().function_of(scope);
        reader.seek(|blame| function.is_some_and(|id| *blame == Blame::WholeWave(id, start..end)))
    }

    pub fn write(known: &'a Known<'a>, function: FunctionId, mask: &Mask) -> Self {
        let pcs = mask.pcs();
        let pcs = (Number(pcs.start), Number(pcs.end));
        Self::new(known.function_ref(function), pcs, loc::written(known, mask.loc))
    }
}
