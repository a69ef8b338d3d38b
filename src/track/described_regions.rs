//! Regions of a description, compared with those that follow from the code's writes of EXEC.

use core::ops::Range;

use hashbrown::HashMap;

use super::report::RegionDifference;
use super::tracked::Tracked;
use crate::build::RegionPiece;
use crate::model::{FunctionId, Loc, LocId, Module, Node, RegionId};

/// Returns the differences of a function's regions from its code. A function that describes no lanes claims nothing.
pub(super) fn differences(tracked: &Tracked<'_>, module: &Module) -> Vec<RegionDifference> {
    let code = tracked.code;
    let variable = code.named().map(|(_, variable)| module.variable(variable).scope).next();
    let Some(function) = variable.and_then(|scope| module.function_of(scope)) else { return Vec::new() };
    if !module.describes_lanes(function) {
        return Vec::new();
    }
    let mut compare = Compare { module, function, found: Vec::new() };
    // The graph was checked when the code was tracked; a mask can still be without its end.
    match code.flow.pieces(&code.target, module.function(function).bytes) {
        Ok(pieces) => compare.compare(&pieces, |mask| code.flow.places(mask), hull(&code.flow.blocks)),
        Err(error) => {
            let pcs = error.at().pcs.clone();
            compare.find(None, pcs, format!("the code has no regions to compare with: {}", error.kind()));
        }
    }
    compare.found
}

/// Returns the pcs from the first block to the last.
fn hull(blocks: &[Range<u64>]) -> Range<u64> {
    let start = blocks.iter().map(|block| block.start).min().unwrap_or(0);
    start..blocks.iter().map(|block| block.end).max().unwrap_or(0)
}

struct Compare<'m> {
    module: &'m Module,
    function: FunctionId,
    found: Vec<RegionDifference>,
}

impl Compare<'_> {
    fn compare<'f>(
        &mut self,
        pieces: &[RegionPiece],
        places: impl Fn(usize) -> &'f [(Range<u64>, Loc)],
        code: Range<u64>,
    ) {
        let module = self.module;
        let regions = module.regions_of(self.function);
        let regions: Vec<RegionId> = regions
            .iter()
            .copied()
            .filter(|&id| {
                let pcs = module.region(id).pcs();
                code.start <= pcs.start && pcs.end <= code.end
            })
            .collect();
        // Regions with the same pcs are in the order of their nesting, as pieces are.
        let mut described: HashMap<(u64, u64), Vec<RegionId>> = HashMap::new();
        for &id in regions.iter().rev() {
            let pcs = module.region(id).pcs();
            described.entry((pcs.start, pcs.end)).or_default().push(id);
        }
        let mut sorted: HashMap<usize, Vec<&(Range<u64>, Loc)>> = HashMap::new();
        for piece in pieces {
            let same = described.get_mut(&(piece.pcs.start, piece.pcs.end)).and_then(Vec::pop);
            let Some(id) = same else {
                let waits_at = piece.waits_at;
                let what = format!(
                    "description has no region with these pcs; expected a region whose lanes wait at {waits_at:#x}"
                );
                self.find(None, Some(piece.pcs.clone()), what);
                continue;
            };
            let waits_at = module.region(id).waits_at();
            if waits_at != piece.waits_at {
                let what =
                    format!("lanes wait at {waits_at:#x}; expected {:#x}, by the code", piece.waits_at);
                self.find(Some(id), Some(piece.pcs.clone()), what);
            }
            let masks = sorted.entry(piece.mask).or_insert_with(|| {
                let mut masks: Vec<_> = places(piece.mask).iter().collect();
                masks.sort_by_key(|(pcs, _)| (pcs.start, pcs.end));
                masks
            });
            self.masks(id, &piece.pcs, masks);
        }
        for &id in &regions {
            let pcs = module.region(id).pcs();
            if described.get_mut(&(pcs.start, pcs.end)).is_some_and(|left| left.pop().is_some()) {
                let what = "the code has no region with these pcs: no mask is saved and restored around them";
                self.find(Some(id), Some(pcs), what.into());
            }
        }
    }

    /// Compares a region's masks with those of the code, sorted by pc, over the pcs at which both have a location.
    fn masks(&mut self, id: RegionId, region: &Range<u64>, places: &[&(Range<u64>, Loc)]) {
        let module = self.module;
        let first = places.partition_point(|(pcs, _)| pcs.end <= region.start);
        let mut places = &places[first..];
        for mask in module.masks(id) {
            let [start, end] = [mask.pcs().start.max(region.start), mask.pcs().end.min(region.end)];
            while let Some(((pcs, loc), rest)) = places.split_first() {
                crate::work::step();
                let common = start.max(pcs.start)..end.min(pcs.end);
                if !common.is_empty() && !is_same(module, mask.loc, loc) {
                    let what = format!(
                        "mask is in {}; expected {}, by the code",
                        module.location_text(mask.loc),
                        loc.in_names(module)
                    );
                    return self.find(Some(id), Some(common), what);
                }
                // The last location can also be that of the next mask.
                if pcs.end >= end {
                    break;
                }
                places = rest;
            }
        }
    }

    fn find(&mut self, region: Option<RegionId>, pcs: Option<Range<u64>>, what: String) {
        let module = self.module;
        let at = module.at_scope(module.function(self.function).scope).with(|context| {
            context.region = region.map(|id| module.region_text(id));
            context.pcs = pcs;
        });
        self.found.push(RegionDifference { region, at, what });
    }
}

/// Whether two locations of a mask are the same: a register, and the number in it, have the same bits.
fn is_same(module: &Module, described: LocId, code: &Loc) -> bool {
    let mut described = module.nodes(described).map(storage);
    let mut code = code.nodes().map(storage);
    loop {
        match (described.next(), code.next()) {
            (None, None) => return true,
            (Some(Node::Value), None) | (None, Some(Node::Value)) => {
                return described.next().is_none() && code.next().is_none();
            }
            (one, other) if one == other => {}
            _ => return false,
        }
    }
}

fn storage(node: Node<'_>) -> Node<'_> {
    match node {
        Node::ReadRegister(reg) => Node::Register(reg),
        node => node,
    }
}
