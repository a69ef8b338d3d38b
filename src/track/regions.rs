//! Regions: the code between the instructions that save and restore a mask.
//!
//! A region has one entry and one exit, and regions nest like parentheses. The analysis treats each inner region as one
//! step, so that the time for all regions is proportional to the code size, whatever the nesting depth.

use super::nodes::{Next, Segment};
use crate::build::{ExecWrite, MaskId};

/// The region that is the whole function. It has no exit.
pub(super) const WHOLE: u32 = 0;

/// A mask, and its position among the nested masks.
#[derive(Debug, Clone, Copy)]
pub(super) struct Mask {
    /// The innermost mask that is open where this mask is saved.
    pub(super) around: Option<usize>,
    /// Number of enclosing masks.
    pub(super) depth: u32,
    /// Nodes that save and restore the mask.
    pub(super) saved: u32,
    pub(super) restored: Option<u32>,
    /// Whether the mask forms a region. If another mask's end closes it, it is part of the enclosing region.
    pub(super) is_region: bool,
    /// Whether the wave gets from the region's entry to its exit.
    pub(super) is_passed: bool,
}

#[derive(Debug)]
pub(super) struct Regions {
    pub(super) masks: Vec<Mask>,
    /// Masks, each after its enclosing masks.
    pub(super) order: Vec<usize>,
    /// Each mask's region.
    mask_regions: Vec<u32>,
    /// Each node's region, before the node runs.
    node_regions: Vec<u32>,
    /// Whether the wave gets from each node to its region's exit. For an inner region's exit, the enclosing region's
    /// exit counts.
    comes_out: Vec<bool>,
    /// Depth of the outermost region whose exit the wave reaches after each mask's exit.
    out: Vec<u32>,
}

impl Regions {
    /// Finds the regions. `tops` contains the innermost mask that is open before each node runs.
    pub(super) fn new(
        segments: &[Segment],
        tops: &[Option<usize>],
        mut masks: Vec<Mask>,
        order: Vec<usize>,
        before: &Next,
    ) -> Self {
        masks.iter_mut().for_each(|mask| mask.is_region = mask.restored.is_some());
        // Restoring an outer mask closes the inner masks without their own exit, so that they form no regions.
        for (segment, top) in segments.iter().zip(&tops[1..]) {
            if let Some(ExecWrite::Restore(MaskId(restored))) = segment.write {
                let mut open = *top;
                while let Some(mask) = open.filter(|&mask| mask != restored) {
                    masks[mask].is_region = false;
                    open = masks[mask].around;
                }
            }
        }
        let mut mask_regions = vec![WHOLE; masks.len()];
        for &mask in &order {
            let around = masks[mask].around.map_or(WHOLE, |around| mask_regions[around]);
            mask_regions[mask] = if masks[mask].is_region { mask as u32 + 1 } else { around };
        }
        let node_regions = tops.iter().map(|top| top.map_or(WHOLE, |mask| mask_regions[mask])).collect();
        let comes_out = vec![false; tops.len()];
        let out = vec![0; masks.len()];
        let mut regions = Self { masks, order, mask_regions, node_regions, comes_out, out };
        regions.find_exits(before);
        regions
    }

    /// Returns the regions and their masks, each after its enclosing regions.
    pub(super) fn iter(&self) -> impl DoubleEndedIterator<Item = (u32, &Mask)> {
        let regions = self.order.iter().filter(|&&mask| self.masks[mask].is_region);
        regions.map(|&mask| (mask as u32 + 1, &self.masks[mask]))
    }

    /// Returns a node's region.
    pub(super) fn node_region(&self, node: u32) -> u32 {
        self.node_regions[node as usize]
    }

    /// Returns the region that a mask forms or belongs to.
    pub(super) fn mask_region(&self, mask: usize) -> u32 {
        self.mask_regions[mask]
    }

    /// Returns the innermost enclosing region.
    pub(super) fn around(&self, region: u32) -> u32 {
        self.mask(region).around.map_or(WHOLE, |mask| self.mask_regions[mask])
    }

    pub(super) fn mask(&self, region: u32) -> &Mask {
        &self.masks[region as usize - 1]
    }

    /// Returns the region that a node enters.
    pub(super) fn entered(&self, segment: &Segment) -> Option<u32> {
        match segment.write? {
            ExecWrite::Save(MaskId(mask)) if self.masks[mask].is_region => Some(mask as u32 + 1),
            _ => None,
        }
    }

    /// Returns the outermost region that contains `region` and is directly inside `around`.
    pub(super) fn within(&self, mut region: u32, around: u32) -> u32 {
        loop {
            match self.around(region) {
                next if next == around => return region,
                next => region = next,
            }
        }
    }

    /// Returns the regions from `region` outwards, up to but not including `to`.
    pub(super) fn outwards(&self, region: u32, to: u32) -> impl Iterator<Item = u32> {
        core::iter::successors(Some(region), |&region| Some(self.around(region)))
            .take_while(move |&region| region != to)
    }

    /// Whether the wave gets from a node to an enclosing region's exit.
    pub(super) fn comes_out(&self, node: u32, region: u32) -> bool {
        let own = self.node_region(node);
        let is_out = || self.out[own as usize - 1] <= self.mask(region).depth;
        self.comes_out[node as usize] && (own == region || is_out())
    }

    fn find_exits(&mut self, before: &Next) {
        // Inner regions first, because the search passes them in one step.
        let mut open = Vec::new();
        for &mask in self.order.iter().rev() {
            let region = self.mask_regions[mask];
            let Mask { saved, restored, .. } = self.masks[mask];
            let Some(restored) = restored.filter(|_| region == mask as u32 + 1) else { continue };
            open.push(restored);
            while let Some(node) = open.pop() {
                // An inner region's exit leads back to its entry.
                let inner = self.node_region(node);
                let inner = (inner != region).then(|| self.mask(inner));
                let (passed, ends);
                let previous = match inner {
                    Some(inner) => {
                        (passed, ends) = ([inner.saved], usize::from(inner.is_passed));
                        &passed[..ends]
                    }
                    None => before.successors(node),
                };
                for &node in previous {
                    if node == saved {
                        self.masks[mask].is_passed = true;
                    } else if !core::mem::replace(&mut self.comes_out[node as usize], true) {
                        open.push(node);
                    }
                }
            }
        }
        for &mask in &self.order {
            let Mask { restored, depth, around, .. } = self.masks[mask];
            let around = around.map_or(WHOLE, |mask| self.mask_regions[mask]);
            let is_out = restored.is_some_and(|node| self.comes_out[node as usize]);
            self.out[mask] = if is_out && around != WHOLE { self.out[around as usize - 1] } else { depth };
        }
    }
}
