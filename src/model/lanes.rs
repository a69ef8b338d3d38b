//! Where the lanes of a wave stand in divergent control flow: the AMDGPU extension of DWARF, "Support for
//! Divergent Control Flow of SIMT Hardware".
//!
//! The processor has one pc for a wave and a mask of the lanes that it runs. A lane that it does not run waits
//! somewhere: the lanes of the other side of an `if`, those that left a loop, those that returned. A [`Region`] is
//! a part of the code and such a place. While the pc is in it, the lanes of its mask that are not active, and in
//! no mask of a region inside of it, stand at [`waits_at`](Region::waits_at).

use core::ops::Range;

use cranelift_entity::PrimaryMap;

use super::ids::{FunctionId, LocId, RegionId, ScopeId};
use super::{Module, slice};

/// A part of the code in which lanes wait.
///
/// Regions are nested: two of a function have no pc in common, or one is in the other.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Region {
    /// The function or inlined call that it belongs to.
    pub scope: ScopeId,
    /// What kind of control flow it is.
    pub kind: RegionKind,
    /// The region around it, of the same function.
    pub parent: Option<RegionId>,
    pub(crate) start: u32,
    pub(crate) end: u32,
    pub(crate) waits_at: u32,
    /// Its masks, as indices into the list of all.
    pub(crate) masks: Range<u32>,
}

impl Region {
    /// The pcs: half-open, in bytes from the start of the function.
    pub fn pcs(&self) -> Range<u64> {
        self.start.into()..self.end.into()
    }

    /// The pc at which its lanes wait, in bytes from the start of the function.
    pub fn waits_at(&self) -> u64 {
        self.waits_at.into()
    }
}

/// What kind of control flow a region is. It is for people: what a region means does not depend on it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[non_exhaustive]
pub enum RegionKind {
    /// The side of an `if` that runs first: the lanes of the other side wait at its start.
    Then,
    /// The other side: the lanes of the first wait at the end.
    Else,
    /// A loop: lanes that left it wait at its end.
    Loop,
    /// A `switch`: lanes that are done wait at its end.
    Switch,
    /// The cases of a `switch`: lanes whose case is to come wait at its start.
    Cases,
    /// Code in which lanes have returned: they wait at the epilogue.
    EarlyReturn,
    /// Anything else.
    Other,
}

impl RegionKind {
    /// Every kind, and what it is called.
    pub const NAMES: [(Self, &str); 7] = [
        (Self::Then, "then"),
        (Self::Else, "else"),
        (Self::Loop, "loop"),
        (Self::Switch, "switch"),
        (Self::Cases, "cases"),
        (Self::EarlyReturn, "early return"),
        (Self::Other, "other"),
    ];

    /// What it is called.
    pub fn name(self) -> &'static str {
        Self::NAMES.iter().find(|(kind, _)| *kind == self).map_or("", |(_, name)| name)
    }
}

/// Where a mask of lanes is while the pc is in a range: bit *k*, counted from the least significant, is lane *k*'s.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Mask {
    pub(crate) start: u32,
    pub(crate) end: u32,
    /// Where it is: as many bits as a wave has lanes.
    pub loc: LocId,
}

impl Mask {
    /// The pcs: half-open, in bytes from the start of the function.
    pub fn pcs(&self) -> Range<u64> {
        self.start.into()..self.end.into()
    }
}

/// Code that runs with lanes that are not active, so that EXEC does not say which are: whole-wave mode.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct WholeWave {
    /// The function.
    pub function: FunctionId,
    /// Which lanes are active.
    pub mask: Mask,
}

/// The regions of a module.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Lanes {
    pub(crate) regions: PrimaryMap<RegionId, Region>,
    /// Those of a region follow each other, sorted by pc.
    pub(crate) masks: Vec<Mask>,
    /// Sorted by function, then by pc.
    pub(crate) whole_waves: Vec<WholeWave>,
    /// All regions, sorted by function, then by pc, a region before those in it.
    pub(crate) order: Vec<RegionId>,
}

/// What a function says of its lanes.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct FunctionLanes {
    /// Whether it says where they stand.
    pub(crate) is_described: bool,
    /// Its regions, as indices into [`Lanes::order`].
    pub(crate) regions: Range<u32>,
    /// Its whole-wave code, as indices into [`Lanes::whole_waves`].
    pub(crate) whole_waves: Range<u32>,
}

impl Module {
    /// The regions of all functions.
    pub fn regions(&self) -> impl Iterator<Item = (RegionId, &Region)> {
        self.lanes.regions.iter()
    }

    /// A region.
    pub fn region(&self, id: RegionId) -> &Region {
        &self.lanes.regions[id]
    }

    /// Where a region's mask is, sorted by pc. Every pc of the region is in one of the ranges.
    pub fn masks(&self, id: RegionId) -> &[Mask] {
        slice(&self.lanes.masks, &self.lanes.regions[id].masks)
    }

    /// Whether a function says where its lanes stand.
    pub fn describes_lanes(&self, id: FunctionId) -> bool {
        self.functions[id].lanes.is_described
    }

    /// The regions of a function, sorted by pc, a region before those in it.
    pub fn regions_of(&self, id: FunctionId) -> &[RegionId] {
        slice(&self.lanes.order, &self.functions[id].lanes.regions)
    }

    /// The whole-wave code of a function, sorted by pc.
    pub fn whole_waves(&self, id: FunctionId) -> &[WholeWave] {
        slice(&self.lanes.whole_waves, &self.functions[id].lanes.whole_waves)
    }

    /// The innermost region of a function that has a pc in it.
    pub fn region_at(&self, function: FunctionId, pc: u64) -> Option<RegionId> {
        let all = self.regions_of(function);
        let before = all.partition_point(|&id| self.region(id).pcs().start <= pc);
        // The last that begins at or before it is in all that have it in them.
        let last = before.checked_sub(1).map(|at| all[at]);
        self.outward(last).find(|&id| self.region(id).pcs().contains(&pc))
    }

    /// The regions of a function or inlined call that have a pc in them, the innermost first. Those of what was
    /// inlined into it are among them; those around an inlined call are not.
    pub fn regions_at(&self, scope: ScopeId, pc: u64) -> impl Iterator<Item = RegionId> + '_ {
        let innermost = self.function_of(scope).and_then(|function| self.region_at(function, pc));
        self.outward(innermost).take_while(move |&id| self.is_in(self.region(id).scope, scope))
    }

    /// Whole-wave code that has a pc in it.
    pub fn whole_wave_at(&self, function: FunctionId, pc: u64) -> Option<&WholeWave> {
        let all = self.whole_waves(function);
        let before = all.partition_point(|one| one.mask.pcs().start <= pc);
        before.checked_sub(1).map(|at| &all[at]).filter(|one| one.mask.pcs().contains(&pc))
    }

    /// A region and those around it.
    pub(crate) fn outward(&self, innermost: Option<RegionId>) -> impl Iterator<Item = RegionId> + '_ {
        core::iter::successors(innermost, |&id| self.region(id).parent)
    }

    /// Whether a scope is another, or in it.
    pub(crate) fn is_in(&self, scope: ScopeId, around: ScopeId) -> bool {
        core::iter::successors(Some(scope), |&scope| self.scopes[scope].parent).any(|scope| scope == around)
    }

    /// How to call a region in an error.
    pub(crate) fn region_text(&self, id: RegionId) -> String {
        let region = self.region(id);
        let pcs = region.pcs();
        format!("{id} ({}, {:#x}..{:#x})", region.kind.name(), pcs.start, pcs.end)
    }
}
