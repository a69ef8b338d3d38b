//! Regions: the code between the instructions that save and restore a mask.
//!
//! A region has one entry and one exit, and regions are in one another like parentheses. In the code of a region, an
//! inner region is one step: what is found for each region takes time in proportion to the code, however deep it is.

use super::graph::{Next, Segment};
use crate::build::{ExecWrite, MaskId};

/// The region of the whole function, which has no exit.
pub(super) const WHOLE: u32 = 0;

/// A mask, and the masks around it.
#[derive(Debug, Clone, Copy)]
pub(super) struct Mask {
    /// The innermost mask that is open where this one is saved.
    pub(super) around: Option<usize>,
    /// Number of masks around it.
    pub(super) depth: u32,
    /// The nodes that save and restore it.
    pub(super) saved: u32,
    pub(super) restored: Option<u32>,
    /// Whether it is a region. One that the end of another mask closes is a part of the region around.
    pub(super) is_region: bool,
    /// Whether the wave comes from the entry of the region to its exit.
    pub(super) is_passed: bool,
}

#[derive(Debug)]
pub(super) struct Regions {
    pub(super) masks: Vec<Mask>,
    /// Masks in an order in which each is behind those around it.
    pub(super) order: Vec<usize>,
    /// The region of each mask, and of each node before it runs.
    of_mask: Vec<u32>,
    of: Vec<u32>,
    /// Whether the wave comes from each node to the exit of its region; from the end of an inner region, to that of the
    /// region around.
    comes_out: Vec<bool>,
    /// The depth of the outermost region whose exit the wave reaches behind that of each mask.
    out: Vec<u32>,
}

impl Regions {
    /// Finds regions. `tops` has the innermost mask that is open before each node runs.
    pub(super) fn new(
        segments: &[Segment],
        tops: &[Option<usize>],
        mut masks: Vec<Mask>,
        order: Vec<usize>,
        before: &Next,
    ) -> Self {
        masks.iter_mut().for_each(|mask| mask.is_region = mask.restored.is_some());
        for (segment, top) in segments.iter().zip(&tops[1..]) {
            if let Some(ExecWrite::Restore(MaskId(restored))) = segment.write {
                let mut open = *top;
                while let Some(mask) = open.filter(|&mask| mask != restored) {
                    masks[mask].is_region = false;
                    open = masks[mask].around;
                }
            }
        }
        let mut of_mask = vec![WHOLE; masks.len()];
        for &mask in &order {
            let around = masks[mask].around.map_or(WHOLE, |around| of_mask[around]);
            of_mask[mask] = if masks[mask].is_region { mask as u32 + 1 } else { around };
        }
        let of = tops.iter().map(|top| top.map_or(WHOLE, |mask| of_mask[mask])).collect();
        let (comes_out, out) = (vec![false; tops.len()], vec![0; masks.len()]);
        let mut regions = Self { masks, order, of_mask, of, comes_out, out };
        regions.find_exits(before);
        regions
    }

    /// Returns regions with their masks: each behind those around it.
    pub(super) fn all(&self) -> impl DoubleEndedIterator<Item = (u32, &Mask)> {
        let regions = self.order.iter().filter(|&&mask| self.masks[mask].is_region);
        regions.map(|&mask| (mask as u32 + 1, &self.masks[mask]))
    }

    /// Returns the region of a node.
    pub(super) fn of(&self, node: u32) -> u32 {
        self.of[node as usize]
    }

    /// Returns the region in which a mask is, or which it is.
    pub(super) fn of_mask(&self, mask: usize) -> u32 {
        self.of_mask[mask]
    }

    /// Returns the innermost region around one.
    pub(super) fn around(&self, region: u32) -> u32 {
        self.mask(region).around.map_or(WHOLE, |mask| self.of_mask[mask])
    }

    pub(super) fn mask(&self, region: u32) -> &Mask {
        &self.masks[region as usize - 1]
    }

    /// Returns the region whose entry a node is.
    pub(super) fn entered(&self, segment: &Segment) -> Option<u32> {
        match segment.write? {
            ExecWrite::Save(MaskId(mask)) if self.masks[mask].is_region => Some(mask as u32 + 1),
            _ => None,
        }
    }

    /// Returns the outermost region that contains a region and is in another one, around it.
    pub(super) fn within(&self, mut region: u32, around: u32) -> u32 {
        loop {
            match self.around(region) {
                next if next == around => return region,
                next => region = next,
            }
        }
    }

    /// Returns the regions from one up to another that contains it, without the latter.
    pub(super) fn outwards(&self, region: u32, to: u32) -> impl Iterator<Item = u32> {
        core::iter::successors(Some(region), |&region| Some(self.around(region)))
            .take_while(move |&one| one != to)
    }

    /// Whether the wave comes from a node to the exit of a region around it.
    pub(super) fn comes_out(&self, node: u32, region: u32) -> bool {
        let of = self.of(node);
        let is_out = || self.out[of as usize - 1] <= self.mask(region).depth;
        self.comes_out[node as usize] && (of == region || is_out())
    }

    fn find_exits(&mut self, before: &Next) {
        let mut open = Vec::new();
        for &mask in self.order.iter().rev() {
            let (region, Mask { saved, restored, .. }) = (self.of_mask[mask], self.masks[mask]);
            let Some(restored) = restored.filter(|_| region == mask as u32 + 1) else { continue };
            open.push(restored);
            while let Some(node) = open.pop() {
                // The exit of an inner region is behind its entry.
                let inner = self.of(node);
                let inner = (inner != region).then(|| self.mask(inner));
                let (passed, ends);
                let all = match inner {
                    Some(inner) => {
                        (passed, ends) = ([inner.saved], usize::from(inner.is_passed));
                        &passed[..ends]
                    }
                    None => before.of(node),
                };
                for &node in all {
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
            let around = around.map_or(WHOLE, |mask| self.of_mask[mask]);
            let is_out = restored.is_some_and(|node| self.comes_out[node as usize]);
            self.out[mask] = if is_out && around != WHOLE { self.out[around as usize - 1] } else { depth };
        }
    }
}
