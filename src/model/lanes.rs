//! Lane pcs in divergent control flow. AMDGPU extension of DWARF, "Support for Divergent Control Flow of SIMT
//! Hardware".
//!
//! A wave has one pc and a mask of active lanes. An inactive lane waits at a different pc: on the other side of an
//! `if`, at a loop's end, at the epilogue after an early return. A [`Region`] is a code range with such a pc. While the
//! wave's pc is in the region, the lanes that are in the region's mask, not active, and not in any nested region's
//! mask, wait at [`waits_at`](Region::waits_at).

use core::ops::Range;

use super::entities::{entity, region_properties};
use super::ids::{FunctionId, LocId, RegionId, ScopeId};
use super::maps::PrimaryMap;
use super::owner::Owner;
use super::{Module, slice};

region_properties! { entity (pub)
    /// A code range in which inactive lanes wait.
    ///
    /// Regions are nested: any two regions in a function are either disjoint, or one contains the other.
    pub struct Region {
        /// Function or inlined call with the code.
        pub scope: ScopeId,
        /// Control flow kind.
        pub kind: RegionKind,
        /// Enclosing region, in the same function.
        pub parent: Option<RegionId>,
        pub(crate) start: u32,
        pub(crate) end: u32,
        pub(crate) waits_at: u32,
        /// Masks, as indices into [`Lanes::masks`].
        pub(crate) masks: Range<u32>,
    }
    default {}
}

impl Region {
    /// Half-open pc range, in bytes from the function start.
    pub fn pcs(&self) -> Range<u64> {
        self.start.into()..self.end.into()
    }

    /// Pc at which the region's inactive lanes wait, in bytes from the function start.
    pub fn waits_at(&self) -> u64 {
        self.waits_at.into()
    }
}

/// A region's kind of control flow, which messages name. It is no property of the program: a region means its pcs, its
/// masks and the pc where its lanes wait, and DWARF has no attribute for the source statement. Output does not depend
/// on it, and no omission lists it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[non_exhaustive]
pub enum RegionKind {
    /// First side of an `if`: the other side's lanes wait at that side's start.
    Then,
    /// Other side of an `if`: the first side's lanes wait at the end.
    Else,
    /// A loop: lanes that left the loop wait at its end.
    Loop,
    /// A `switch`: lanes that finished their case wait at its end.
    Switch,
    /// Cases of a `switch`: lanes whose case has not run yet wait at the case's start.
    Cases,
    /// Code after an early return: lanes that returned wait at the epilogue.
    EarlyReturn,
    /// Any other control flow.
    Other,
}

impl RegionKind {
    /// Every kind with its name.
    pub const NAMES: [(Self, &str); 7] = [
        (Self::Then, "then"),
        (Self::Else, "else"),
        (Self::Loop, "loop"),
        (Self::Switch, "switch"),
        (Self::Cases, "cases"),
        (Self::EarlyReturn, "early return"),
        (Self::Other, "other"),
    ];

    /// The kind's name.
    pub fn name(self) -> &'static str {
        Self::NAMES.iter().find(|(kind, _)| *kind == self).map_or("", |(_, name)| name)
    }
}

/// Location of a lane mask for a pc range. Bit *k*, counted from the least significant, is lane *k*'s.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Mask {
    pub(crate) start: u32,
    pub(crate) end: u32,
    /// The mask's location, which has one bit per lane in the wave.
    pub loc: LocId,
}

impl Mask {
    /// Half-open pc range, in bytes from the function start.
    pub fn pcs(&self) -> Range<u64> {
        self.start.into()..self.end.into()
    }
}

/// Code in whole-wave mode, which also runs with inactive lanes enabled in EXEC, so that EXEC is not the active mask.
///
/// Exhaustive: a literal names all fields.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct WholeWave {
    /// The function.
    pub function: FunctionId,
    /// The active lanes' mask.
    pub mask: Mask,
}

/// A module's regions.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Lanes {
    pub(crate) regions: PrimaryMap<RegionId, Region>,
    /// Grouped by region, then sorted by pc.
    pub(crate) masks: Vec<Mask>,
    /// Sorted by function, then by pc.
    pub(crate) whole_waves: Vec<WholeWave>,
    /// All regions, sorted by function, then by pc, enclosing regions before nested ones.
    pub(crate) order: Vec<RegionId>,
}

impl Lanes {
    pub(crate) fn new(owner: Owner) -> Self {
        let regions = PrimaryMap::new(owner);
        Self { regions, masks: Vec::new(), whole_waves: Vec::new(), order: Vec::new() }
    }
}

/// A function's lane descriptions.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct FunctionLanes {
    /// Whether the lanes' pcs are described.
    pub(crate) is_described: bool,
    /// Regions, as indices into [`Lanes::order`].
    pub(crate) regions: Range<u32>,
    /// Whole-wave code, as indices into [`Lanes::whole_waves`].
    pub(crate) whole_waves: Range<u32>,
}

impl Module {
    /// Returns the regions of all functions.
    pub fn regions(&self) -> impl Iterator<Item = (RegionId, &Region)> {
        self.lanes.regions.iter()
    }

    /// A region.
    pub fn region(&self, id: RegionId) -> &Region {
        &self.lanes.regions[id]
    }

    /// Returns the locations of a region's mask, sorted by pc. The ranges cover every pc in the region.
    pub fn masks(&self, id: RegionId) -> &[Mask] {
        slice(&self.lanes.masks, &self.lanes.regions[id].masks)
    }

    /// Returns whether a function describes its lanes' pcs.
    pub fn describes_lanes(&self, id: FunctionId) -> bool {
        self.functions[id].lanes.is_described
    }

    /// Returns a function's regions, sorted by pc, enclosing regions before nested regions.
    pub fn regions_of(&self, id: FunctionId) -> &[RegionId] {
        slice(&self.lanes.order, &self.functions[id].lanes.regions)
    }

    /// Returns a function's whole-wave code, sorted by pc.
    pub fn whole_waves(&self, id: FunctionId) -> &[WholeWave] {
        slice(&self.lanes.whole_waves, &self.functions[id].lanes.whole_waves)
    }

    /// Returns a function's innermost region that contains a pc.
    pub fn region_at(&self, function: FunctionId, pc: u64) -> Option<RegionId> {
        let regions = self.regions_of(function);
        let before = regions.partition_point(|&id| self.region(id).pcs().start <= pc);
        // Regions nest, so the last one that starts at or before the pc is inside every region that contains the pc.
        let last = before.checked_sub(1).map(|index| regions[index]);
        self.outward(last).find(|&id| self.region(id).pcs().contains(&pc))
    }

    /// Returns the regions in a function or inlined call that contain a pc, the innermost first. Regions in calls
    /// inlined into it are included; regions around an inlined call are not.
    pub fn regions_at(&self, scope: ScopeId, pc: u64) -> impl Iterator<Item = RegionId> + '_ {
        let innermost = self.function_of(scope).and_then(|function| self.region_at(function, pc));
        self.outward(innermost).take_while(move |&id| self.is_in(self.region(id).scope, scope))
    }

    /// The whole-wave code that contains a pc.
    pub fn whole_wave_at(&self, function: FunctionId, pc: u64) -> Option<&WholeWave> {
        let whole_waves = self.whole_waves(function);
        let before = whole_waves.partition_point(|whole_wave| whole_wave.mask.pcs().start <= pc);
        before
            .checked_sub(1)
            .map(|index| &whole_waves[index])
            .filter(|whole_wave| whole_wave.mask.pcs().contains(&pc))
    }

    /// A region and its enclosing regions, the innermost first.
    pub(crate) fn outward(&self, innermost: Option<RegionId>) -> impl Iterator<Item = RegionId> + '_ {
        core::iter::successors(innermost, |&id| self.region(id).parent)
    }

    /// Whether a scope is equal to `around` or nested in it.
    pub(crate) fn is_in(&self, scope: ScopeId, around: ScopeId) -> bool {
        core::iter::successors(Some(scope), |&scope| self.scopes[scope].parent).any(|scope| scope == around)
    }

    /// Returns a region's name and pc range, for errors.
    pub(crate) fn region_text(&self, id: RegionId) -> String {
        let region = self.region(id);
        let pcs = region.pcs();
        format!("{id} ({}, {:#x}..{:#x})", region.kind.name(), pcs.start, pcs.end)
    }
}
