//! Lane pcs as regions of divergent control flow: AMDGPU extension of DWARF, "Support for Divergent Control Flow of SIMT
//! Hardware".
//!
//! The extension's example composes a vector of pcs in [layers]. A region has the pcs of the list entries with its layer. What has
//! another form is listed.

mod layers;

use core::ops::Range;

use gimli::{DwAt, constants as dw};
use hashbrown::HashMap;

use super::importer::Importer;
use super::parts::Border;
use super::unimported::UnimportedReason;
use crate::attributes::{DW_AT_LLVM_ACTIVE_LANE_AMD, DW_AT_LLVM_LANE_PC, DW_AT_LLVM_LANE_PC_AMD};
use crate::model::{Loc, Node, RegionId, RegionKind, ScopeId, Val};
use crate::op::{Decoder, Op};
use crate::read::{Entry, ResolvedValue};
use layers::{Lanes, Waiting};

/// Lane pcs by LLVM's number and by AMD's.
const LANE_PC: [DwAt; 2] = [DW_AT_LLVM_LANE_PC, DW_AT_LLVM_LANE_PC_AMD];
/// Average number of comparisons for each entry in a function.
const MOST_COMPARISONS: usize = 64;
/// Maximum number of functions whose lane pcs the builder refuses, after which no lane pcs are imported.
const MOST_REFUSED: usize = 64;

/// The layers of an expression at some pcs.
struct Layers<'o> {
    pcs: Range<u64>,
    waiting: Vec<Waiting<'o>>,
    /// Mask of the lanes that run.
    running: &'o [u8],
}

/// A region: the layer, its pcs, the region around it, and the scope with its control flow.
struct LaneRegion<'o> {
    layer: Waiting<'o>,
    pcs: Range<u64>,
    parent: Option<usize>,
    scope: ScopeId,
}

/// Imports the lane pcs of a function with code, and of the inlined calls in it.
pub(super) fn import<'d, 'o>(importer: &mut Importer<'d, 'o>, entry: Entry<'d, 'o>) {
    let Some(name) = lane_pc(entry) else { return };
    let Some(place) = importer.made.scopes.get(&entry.offset()).copied() else { return };
    let mut lanes = Lanes { importer, entry, place, procedures: HashMap::new() };
    // The procedures of lane pcs that are not imported are listed with all that is left.
    if lanes.import(name).is_none() {
        return importer.leave(entry, name, UnimportedReason::LanePcs);
    }
    let procedures = core::mem::take(&mut lanes.procedures);
    importer.mark(entry, name);
    for procedure in procedures.into_values() {
        importer.import(procedure);
        importer.mark(procedure, dw::DW_AT_location);
    }
}

fn lane_pc(entry: Entry<'_, '_>) -> Option<DwAt> {
    LANE_PC.into_iter().find(|name| entry.has(*name))
}

impl<'d, 'o> Lanes<'_, 'd, 'o> {
    fn import(&mut self, name: DwAt) -> Option<()> {
        let function = self.place.function.filter(|_| self.importer.extras.refused_lanes < MOST_REFUSED)?;
        let whole = self.importer.whole(&self.place);
        let pieces = self.pieces(self.entry, name, &whole)?;
        let mut inlined = Vec::new();
        let mut scopes: HashMap<Waiting<'o>, ScopeId> = HashMap::new();
        let mut room = MOST_COMPARISONS.saturating_mul(self.entry.descendants().len() + pieces.len());
        let root = self.place.scope;
        for call in self.entry.descendants() {
            let Some(name) = lane_pc(call).filter(|_| call.tag() == dw::DW_TAG_inlined_subroutine) else {
                continue;
            };
            let place = self.importer.made.scopes.get(&call.offset()).copied()?;
            let ranges = self.importer.m.described().ranges(place.scope).to_vec();
            let own = self.pieces(call, name, &ranges)?;
            // An inlined call has the innermost layers of its function.
            for piece in &own {
                let is_suffix = |around: &Layers<'o>| {
                    around.running == piece.running && around.waiting.ends_with(&piece.waiting)
                };
                let first = pieces.partition_point(|around| around.pcs.end <= piece.pcs.start);
                let met = pieces[first..].iter().take_while(|around| around.pcs.start < piece.pcs.end);
                for around in met {
                    room = room.checked_sub(1 + piece.waiting.len())?;
                    if !is_suffix(around) {
                        return None;
                    }
                }
                scopes.extend(piece.waiting.iter().map(|layer| (*layer, place.scope)));
            }
            inlined.push((call, name));
        }
        let scope = |layer: &Waiting<'o>| scopes.get(layer).copied().unwrap_or(root);
        let described = regions(&pieces, scope);
        let mut masks = Vec::new();
        for region in &described {
            masks.push((self.masks(region.layer.mask, &region.pcs)?, self.waits_at(region.layer.address)?));
        }
        let mut whole_waves: Vec<(Range<u64>, Loc)> = Vec::new();
        let exec = self.importer.target.exec().map(Loc::register);
        for piece in &pieces {
            let mask = self.mask(piece.running)?;
            match whole_waves.last_mut() {
                _ if Some(&mask) == exec.as_ref() => {}
                Some((pcs, known)) if pcs.end == piece.pcs.start && *known == mask => pcs.end = piece.pcs.end,
                _ => whole_waves.push((piece.pcs.clone(), mask)),
            }
        }
        if !self.is_active_lane(&whole_waves) {
            return None;
        }
        let mut made: Vec<RegionId> = Vec::new();
        let before = self.importer.m.lane_counts();
        let mut make = || -> crate::Result<()> {
            let m = &mut self.importer.m;
            m.lanes(root)?;
            for (region, (masks, waits_at)) in described.iter().zip(&masks) {
                let mut lanes = m.lanes(region.scope)?;
                if let Some(parent) = region.parent {
                    lanes.inside(made[parent])?;
                }
                made.push(lanes.region(RegionKind::Other, region.pcs.clone(), *waits_at, masks)?);
            }
            for (pcs, mask) in &whole_waves {
                m.lanes(root)?.whole_wave(pcs.clone(), mask)?;
            }
            Ok(())
        };
        if make().is_err() {
            self.importer.m.remove_lanes(function, before);
            self.importer.extras.refused_lanes += 1;
            return None;
        }
        for (call, name) in inlined {
            self.importer.mark(call, name);
            self.importer.mark(call, DW_AT_LLVM_ACTIVE_LANE_AMD);
        }
        self.importer.mark(self.entry, DW_AT_LLVM_ACTIVE_LANE_AMD);
        Some(())
    }

    /// Returns the layers at all pcs of some ranges, in the order of the pcs.
    fn pieces(&mut self, entry: Entry<'d, 'o>, name: DwAt, ranges: &[Range<u64>]) -> Option<Vec<Layers<'o>>> {
        let list = entry.locations(name).ok()??;
        let mut ranges = ranges.to_vec();
        ranges.sort_by_key(|range| range.start);
        let mut pieces: Vec<Layers<'o>> = Vec::with_capacity(list.len());
        for item in &list {
            let (waiting, running) = self.layers(item.expr)?;
            let pcs: Vec<Range<u64>> = if !item.is_default() {
                vec![self.importer.pcs_of(&self.place, &(item.start..item.end))?]
            } else if list.len() == 1 {
                ranges.clone()
            } else {
                return None;
            };
            pieces.extend(pcs.into_iter().map(|pcs| Layers { pcs, waiting: waiting.clone(), running }));
        }
        pieces.sort_by_key(|piece| piece.pcs.start);
        // Each pc has one vector of lane pcs, or the model would say more than the file.
        let mut covered = pieces.iter();
        for range in ranges {
            let mut pc = range.start;
            while pc < range.end {
                let piece = covered.next().filter(|piece| piece.pcs.start == pc && piece.pcs.end > pc)?;
                pc = piece.pcs.end;
            }
            if pc != range.end {
                return None;
            }
        }
        covered.next().is_none().then_some(pieces)
    }

    fn waits_at(&self, address: u64) -> Option<u64> {
        self.importer.pc_of(&self.place, address, Border::Start)
    }

    /// Returns the locations of a mask at the pcs of a region.
    fn masks(&mut self, expr: &'o [u8], pcs: &Range<u64>) -> Option<Vec<(Range<u64>, Loc)>> {
        let unit = self.entry.unit();
        let mut decoder = Decoder::new(expr, unit.encoding);
        let called = match decoder.next()?.ok()?.op {
            Op::Call2 { entry } | Op::Call4 { entry } => self.called(unit.offset.checked_add(entry)?)?,
            _ => return Some(vec![(pcs.clone(), self.mask(expr)?)]),
        };
        let is_read = decoder.next()?.ok().is_some_and(|decoded| self.reads_lanes(decoded.op));
        let is_list = matches!(called.attr(dw::DW_AT_location), Some(ResolvedValue::LocList(_)));
        if !is_read || !decoder.is_at_end() || !is_list {
            return Some(vec![(pcs.clone(), self.mask(expr)?)]);
        }
        let mut masks = Vec::new();
        for item in called.locations(dw::DW_AT_location).ok()?? {
            let range =
                self.importer.pcs_of(&self.place, &(item.start..item.end)).filter(|_| !item.is_default());
            let range = range?;
            if range.start < pcs.end && pcs.start < range.end {
                masks.push((range, self.storage(item.expr)?));
            }
        }
        Some(masks)
    }

    /// Whether an operation reads a bit for each lane.
    fn reads_lanes(&self, op: Op<'_>) -> bool {
        let bytes = self.importer.target.lanes() / 8;
        match op {
            Op::Deref {} => bytes == u32::from(self.importer.target.address_bytes()),
            Op::DerefSize { bytes: size } => bytes == u32::from(size),
            _ => false,
        }
    }

    /// Returns the location of the mask that an expression computes as a number.
    fn mask(&mut self, expr: &'o [u8]) -> Option<Loc> {
        let value = self.importer.typed_sum(self.entry, Some(self.place), expr, 0).ok()?;
        Some(stored(value, self.importer.target.lanes()))
    }

    /// Returns the location of a mask.
    fn storage(&mut self, expr: &'o [u8]) -> Option<Loc> {
        let bits = self.importer.target.lanes().into();
        let setting = self.importer.setting_in(self.entry, Some(self.place), Some(bits));
        let typed = self.importer.typed_location(self.entry, &setting, expr);
        typed.or_else(|| self.importer.raw(self.entry, expr).ok().map(Loc::expr))
    }

    /// Whether the function's active lanes are those of its lane pcs.
    fn is_active_lane(&mut self, whole_waves: &[(Range<u64>, Loc)]) -> bool {
        let name = DW_AT_LLVM_ACTIVE_LANE_AMD;
        if !self.entry.has(name) {
            return true;
        }
        let Ok(Some(list)) = self.entry.locations(name) else { return false };
        let exec = self.importer.target.exec().map(Loc::register);
        let mut active: Vec<(Range<u64>, Loc)> = Vec::new();
        for item in &list {
            let pcs = if item.is_default() {
                Some(0..self.place.bytes)
            } else {
                self.importer.pcs_of(&self.place, &(item.start..item.end))
            };
            let Some((pcs, mask)) = pcs.zip(self.storage(item.expr)) else { return false };
            if Some(&mask) != exec.as_ref() {
                active.push((pcs, mask));
            }
        }
        active.sort_by_key(|(pcs, _)| pcs.start);
        active == whole_waves
    }
}

/// Returns the regions that pieces have, each after the region around it.
fn regions<'o>(pieces: &[Layers<'o>], scope: impl Fn(&Waiting<'o>) -> ScopeId) -> Vec<LaneRegion<'o>> {
    let mut regions: Vec<LaneRegion<'o>> = Vec::new();
    // Indices of the regions at the end of the piece before.
    let mut open: Vec<usize> = Vec::new();
    let mut last = None;
    for piece in pieces {
        if last != Some(piece.pcs.start) {
            open.clear();
        }
        let same =
            open.iter().zip(&piece.waiting).take_while(|(index, layer)| regions[**index].layer == **layer);
        let same = same.count();
        open.truncate(same);
        for index in &open {
            regions[*index].pcs.end = piece.pcs.end;
        }
        for layer in &piece.waiting[same..] {
            let parent = open.last().copied();
            open.push(regions.len());
            regions.push(LaneRegion { layer: *layer, pcs: piece.pcs.clone(), parent, scope: scope(layer) });
        }
        last = Some(piece.pcs.end);
    }
    regions
}

/// Returns where a mask is whose number is known.
fn stored(value: Val, lanes: u32) -> Loc {
    let value = Loc::value(value);
    let nodes: Vec<Node<'_>> = value.nodes().collect();
    match nodes[..] {
        [Node::ReadRegister(reg), Node::Value] => Loc::register(reg),
        [ref place @ .., Node::Read(bits), Node::Value] if bits == lanes => {
            Loc::of_nodes(place.iter().copied())
        }
        _ => value,
    }
}
