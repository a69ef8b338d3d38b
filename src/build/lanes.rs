//! Lane pcs: regions of divergent control flow, and whole-wave code.

use core::ops::Range;

use hashbrown::HashSet;

use super::blame::{Blame, Wrong};
use super::builder::Builder;
use super::ids::known;
use super::scopes::InScope;
use super::slots::Slot;
use super::{loc, pcs};
use crate::error::{Enclosed, Error, ErrorKind, Feature, Ranges, Result};
use crate::model::{
    FunctionId, Loc, Mask, Module, Node, Region, RegionId, RegionKind, ScopeId, ScopeKind, WholeWave,
};
use crate::target::Per;

/// Describes the lane pcs in a function or inlined call. Made by [`Builder::lanes`].
///
/// A mask is given by its locations: for half-open pc ranges, a location with one bit per lane, bit *k* for lane *k*. A
/// location is valid before the instruction at the start of its range runs. Pcs outside the region are ignored, so that
/// all locations of a saved mask can be passed to each of its regions.
#[derive(Debug)]
pub struct LanesBuilder<'b> {
    pub(super) builder: &'b mut Builder,
    function: FunctionId,
    pub(super) scope: ScopeId,
    pub(super) around: Option<RegionId>,
}

impl Builder {
    /// Describes the lane pcs in a function, or in an inlined call in it. After this call the function has lane
    /// information at all its pcs: outside regions, inactive lanes have been inactive since the function was entered.
    ///
    /// A region belongs to the function or inlined call whose source contains the control flow. Lanes that wait in a
    /// region around an inlined call did not enter the call.
    ///
    /// Regions nest to any depth. Each region is a procedure that calls its parent's procedure, so that a reader
    /// follows one call for each level: the [evaluator](crate::eval::Limits) up to 32 by default, and
    /// [`check`](crate::check()) up to 64.
    ///
    /// # Errors
    /// [`ErrorKind::UnknownId`] where the scope does not exist; [`ErrorKind::BadArgument`] where it is neither a
    /// function with code nor an inlined call; [`ErrorKind::TargetLacks`] where the target has no lanes.
    ///
    /// # Example
    ///
    /// ```
    /// # use eitri::{build::Builder, model::Loc, target::{Gfx, Target, Wave}};
    /// # let gpu = Target::amdgpu(Gfx::GFX1030, Wave::W32)?;
    /// # let s6 = gpu.sgpr(6)?;
    /// # let mut m = Builder::new(gpu);
    /// # let unit = m.unit("a.cl");
    /// # let kernel = m.function(unit, "k")?.code("k", 0x40).kernel().id();
    /// // 08 s_mov_b32 s6, exec
    /// // 0c s_and_b32 exec, s6, vcc      10 …
    /// // 14 s_andn2_b32 exec, s6, exec   18 …
    /// // 1c s_mov_b32 exec, s6
    /// let masks = [(0x0c..0x20, Loc::register(s6))];
    /// let sides = m.lanes(kernel)?.if_else(0x0c..0x18, 0x18..0x20, 0x08, 0x20, &masks)?;
    /// let module = m.finish()?;
    /// assert_eq!(module.region_at(kernel, 0x1c), Some(sides[1]));
    /// # Ok::<(), eitri::Error>(())
    /// ```
    pub fn lanes(&mut self, scope: impl InScope) -> Result<LanesBuilder<'_>> {
        let scope = scope.scope(&self.module)?;
        let module = &mut self.module;
        let function = module.function_of(scope);
        let is_code = matches!(module.scopes[scope].kind, ScopeKind::Function(_) | ScopeKind::Inlined { .. });
        let function = match function.filter(|&function| module.functions[function].address.is_some()) {
            Some(function) if is_code && module.target.lanes() > 1 => function,
            _ => {
                let error = match module.target.lanes() {
                    1 => loc::lacks(&module.target, Feature::Lanes, "the pc of a lane"),
                    _ => Error::bad_argument(
                        "scope has no lane pcs; expected a function with code or an inlined call",
                    ),
                };
                return Err(error.or_at(module.at_scope(scope)));
            }
        };
        // Even without regions: no lane of the function ever waits.
        module.functions[function].lanes.is_described = true;
        Ok(LanesBuilder { builder: self, function, scope, around: None })
    }
}

/// Coverage of a module's lane pcs.
#[derive(Debug, Clone, Copy)]
pub(crate) struct LaneCounts {
    regions: usize,
    masks: usize,
    whole_waves: usize,
}

impl Builder {
    /// Returns how much of the lane pcs there is.
    pub(crate) fn lane_counts(&self) -> LaneCounts {
        let lanes = &self.module.lanes;
        LaneCounts {
            regions: lanes.regions.len(),
            masks: lanes.masks.len(),
            whole_waves: lanes.whole_waves.len(),
        }
    }

    /// Removes the lane pcs of the last function that has some, whose description is not complete.
    pub(crate) fn remove_lanes(&mut self, function: FunctionId, before: LaneCounts) {
        let lanes = &mut self.module.lanes;
        lanes.regions.truncate(before.regions);
        lanes.masks.truncate(before.masks);
        lanes.whole_waves.truncate(before.whole_waves);
        self.module.functions[function].lanes.is_described = false;
    }
}

impl LanesBuilder<'_> {
    /// Puts the regions that follow into this region.
    ///
    /// # Errors
    /// [`ErrorKind::UnknownId`] where it does not exist or belongs to another function; [`ErrorKind::BadArgument`]
    /// where it belongs to another inlined call that does not contain this scope.
    pub fn inside(&mut self, region: RegionId) -> Result<&mut Self> {
        let module = &self.builder.module;
        let scope = module.lanes.regions.get(region).map(|region| region.scope);
        let scope = scope.filter(|&scope| module.function_of(scope) == Some(self.function));
        let is_around = scope.is_some_and(|scope| module.is_in(self.scope, scope));
        known(scope.is_some(), || module.unknown_in(region, " of this function"))
            .and_then(|()| {
                if is_around {
                    Ok(())
                } else {
                    Err(Error::bad_argument(
                        "parent region is in another inlined call; expected a parent in an enclosing scope",
                    ))
                }
            })
            .map_err(|error| {
                let region = scope.map(|_| module.region_text(region));
                error.or_at(module.at_scope(self.scope).with(|context| context.region = region))
            })?;
        self.around = Some(region);
        Ok(self)
    }

    /// Adds an `if` without an `else`: while the pc is in `pcs`, the mask's inactive lanes wait at `start`, where the
    /// `if` begins.
    ///
    /// # Errors
    /// Same errors as [`region`](Self::region).
    ///
    /// # Example
    ///
    /// ```
    /// # use eitri::build::Builder;
    /// # use eitri::model::{BaseEncoding, Loc, SourceLine, Val};
    /// # use eitri::target::{SpaceId, Target};
    /// # let gpu = Target::named("amdgpu-gfx1030-wave32")?;
    /// # let (s4, v3, v40) = (gpu.sgpr(4)?, gpu.vgpr(3)?, gpu.vgpr(40)?);
    /// # let mut m = Builder::new(gpu);
    /// # let unit = m.unit("a.cl");
    /// # let int = m.base_type(unit, "int", BaseEncoding::Signed, 32)?;
    /// # let f = m.function(unit, "f")?.code("f", 0x40).id();
    /// // In 0x10..0x20, the lanes that skip the `if` wait at 0x0c, where it begins. The lanes that
    /// // entered it are in s4.
    /// m.lanes(f)?.if_then(0x10..0x20, 0x0c, &[(0x10..0x20, Loc::register(s4))])?;
    /// # Ok::<(), eitri::Error>(())
    /// ```
    pub fn if_then(&mut self, pcs: Range<u64>, start: u64, masks: &[(Range<u64>, Loc)]) -> Result<RegionId> {
        self.region(RegionKind::Then, pcs, start, masks)
    }

    /// Adds the two sides of an `if`, in the order in which they run: during the first, the second side's lanes wait at
    /// `start`, where the `if` begins; during the second, the first side's lanes wait at `end`, after the `if`.
    ///
    /// # Errors
    /// Same errors as [`region`](Self::region).
    pub fn if_else(
        &mut self,
        first: Range<u64>,
        second: Range<u64>,
        start: u64,
        end: u64,
        masks: &[(Range<u64>, Loc)],
    ) -> Result<[RegionId; 2]> {
        let then = self.if_then(first, start, masks)?;
        Ok([then, self.region(RegionKind::Else, second, end, masks)?])
    }

    /// Adds a loop: the mask has the lanes that entered the loop, and the lanes that left it wait at `end`, after the
    /// loop.
    ///
    /// # Errors
    /// Same errors as [`region`](Self::region).
    ///
    /// # Example
    ///
    /// ```
    /// # use eitri::build::Builder;
    /// # use eitri::model::{BaseEncoding, Loc};
    /// # use eitri::target::Target;
    /// # let gpu = Target::named("amdgpu-gfx1030-wave32")?;
    /// # let (s4, v3, v40) = (gpu.sgpr(4)?, gpu.vgpr(3)?, gpu.vgpr(40)?);
    /// # let mut m = Builder::new(gpu);
    /// # let unit = m.unit("a.cl");
    /// # let int = m.base_type(unit, "int", BaseEncoding::Signed, 32)?;
    /// # let f = m.function(unit, "f")?.code("f", 0x40).id();
    /// // s4 contains the lanes that entered the loop. A lane that left it waits at 0x30 for the
    /// // remaining lanes.
    /// m.lanes(f)?.loop_(0x10..0x30, 0x30, &[(0x0c..0x34, Loc::register(s4))])?;
    /// # Ok::<(), eitri::Error>(())
    /// ```
    pub fn loop_(&mut self, pcs: Range<u64>, end: u64, masks: &[(Range<u64>, Loc)]) -> Result<RegionId> {
        self.region(RegionKind::Loop, pcs, end, masks)
    }

    /// Adds a `switch`, whose cases run one after the other. `masks` has the lanes that entered it, and `to_come` the
    /// lanes for the current and later cases: the inactive lanes in `to_come` wait at `start`, the remaining lanes at
    /// `end`. Returns the region for the `switch`, and within it the region for its cases, which contains nested
    /// regions.
    ///
    /// # Errors
    /// Same errors as [`region`](Self::region).
    pub fn switch(
        &mut self,
        pcs: Range<u64>,
        start: u64,
        end: u64,
        masks: &[(Range<u64>, Loc)],
        to_come: &[(Range<u64>, Loc)],
    ) -> Result<[RegionId; 2]> {
        let whole = self.region(RegionKind::Switch, pcs.clone(), end, masks)?;
        // The cases' region is inside the whole `switch`.
        let around = self.around.replace(whole);
        let cases = self.region(RegionKind::Cases, pcs, start, to_come);
        self.around = around;
        Ok([whole, cases?])
    }

    /// Adds code in which lanes may have returned: the mask has the lanes that entered the function or inlined call,
    /// and the lanes that returned wait at its epilogue.
    ///
    /// # Errors
    /// Same errors as [`region`](Self::region).
    pub fn early_return(
        &mut self,
        pcs: Range<u64>,
        epilogue: u64,
        masks: &[(Range<u64>, Loc)],
    ) -> Result<RegionId> {
        self.region(RegionKind::EarlyReturn, pcs, epilogue, masks)
    }

    /// Adds a region with any kind: while the pc is in `pcs`, lanes in the mask that are neither active nor in an inner
    /// region's mask are at `waits_at`. Pcs count bytes from the function start.
    ///
    /// # Errors
    /// [`ErrorKind::EmptyRange`]; [`ErrorKind::OutsideFunction`] where `pcs` or `waits_at` is outside the function;
    /// [`ErrorKind::OutsideScope`] where `pcs` is not within the inlined call; [`ErrorKind::Misaligned`] where `pcs`,
    /// `waits_at` or a mask's range is not at instruction boundaries; [`ErrorKind::OverlappingRanges`] where the mask
    /// has two locations at a pc; [`ErrorKind::BadArgument`] where `pcs` is not within the enclosing region, where
    /// `waits_at` is inside a [`RegionKind::Then`], and where the mask has no location at a pc, a location that differs
    /// between lanes, or is EXEC itself; and the same errors as [`VariableBuilder::live`](super::VariableBuilder::live) for
    /// the locations.
    pub fn region(
        &mut self,
        kind: RegionKind,
        pcs: Range<u64>,
        waits_at: u64,
        masks: &[(Range<u64>, Loc)],
    ) -> Result<RegionId> {
        let id = self.builder.module.lanes.regions.next_key();
        let scope = self.scope;
        let name = format!("{id} ({}, {:#x}..{:#x})", kind.name(), pcs.start, pcs.end);
        let context = |module: &Module, pcs: &Range<u64>| {
            module.at_scope(scope).with(|context| {
                context.region = Some(name.clone());
                context.pcs = Some(pcs.clone());
            })
        };
        let module = &self.builder.module;
        let size = self.size();
        self.pcs(&pcs).map_err(|error| error.or_at(context(module, &pcs)))?;
        let waits = if waits_at < size {
            pcs::instruction(&module.target, waits_at)
        } else {
            Err(Error::new(ErrorKind::OutsideFunction { size }))
        };
        waits.map_err(|error| error.or_at(context(module, &(waits_at..waits_at.saturating_add(1)))))?;
        if kind == RegionKind::Then && (pcs.start + 1..pcs.end).contains(&waits_at) {
            let what = format!(
                "lanes wait inside the region, at {waits_at:#x}; expected the pc at which the `if` begins, before it"
            );
            return Err(Error::bad_argument(what).or_at(context(module, &pcs)));
        }
        if let Some(around) = self.around.map(|around| module.region(around)).map(Region::pcs)
            && !(around.start <= pcs.start && pcs.end <= around.end)
        {
            let what = format!("region is outside its parent region {:#x}..{:#x}", around.start, around.end);
            return Err(Error::bad_argument(what).or_at(context(module, &pcs)));
        }
        // A rejected region leaves no masks, so that the caller can go on after the error.
        let first = module.lanes.masks.len();
        for (range, place) in masks {
            let module = &self.builder.module;
            if let Err(error) = pcs::bounds(&module.target, size, range) {
                let error = error.or_at(context(module, range));
                self.builder.module.lanes.masks.truncate(first);
                return Err(error);
            }
            // A saved mask's locations may extend beyond this region; only the common pcs matter.
            let range = range.start.max(pcs.start)..range.end.min(pcs.end);
            if range.start < range.end {
                let mask = self.mask(&range, place);
                match mask {
                    Ok(mask) => self.builder.module.lanes.masks.push(mask),
                    Err(error) => {
                        let error = error.or_at(context(&self.builder.module, &range));
                        self.builder.module.lanes.masks.truncate(first);
                        return Err(error);
                    }
                }
            }
        }
        let module = &mut self.builder.module;
        let masks = &mut module.lanes.masks[first..];
        masks.sort_by_key(|mask| mask.start);
        if let Err((pc, error)) = each_pc(masks, &pcs) {
            module.lanes.masks.truncate(first);
            return Err(error.or_at(context(module, &(pc..pc + 1))));
        }
        let masks = first as u32..module.lanes.masks.len() as u32;
        let start = pcs.start as u32;
        let end = pcs.end as u32;
        let waits_at = waits_at as u32;
        Ok(module.lanes.regions.push(Region::new(scope, kind, self.around, start, end, waits_at, masks)))
    }

    /// Adds whole-wave code: while the pc is in `pcs`, EXEC includes inactive lanes, and the mask has the active lanes.
    ///
    /// # Errors
    /// [`ErrorKind::EmptyRange`], [`ErrorKind::OutsideFunction`]; and the same errors as [`region`](Self::region) for
    /// the mask. [`Builder::finish`] rejects overlapping whole-wave code in one function.
    pub fn whole_wave(&mut self, pcs: Range<u64>, mask: &Loc) -> Result<&mut Self> {
        let mask = self.pcs(&pcs).and_then(|()| self.mask(&pcs, mask));
        let mask = mask.map_err(|error| {
            error.or_at(self.builder.module.at_scope(self.scope).with(|context| context.pcs = Some(pcs)))
        })?;
        self.builder.module.lanes.whole_waves.push(WholeWave { function: self.function, mask });
        Ok(self)
    }

    /// Size of the function's code in bytes, less than 4 GiB.
    pub(super) fn size(&self) -> u64 {
        self.builder.module.functions[self.function].bytes.min(u32::MAX.into())
    }

    /// Refuses pcs outside the function or the inlined call.
    fn pcs(&self, pcs: &Range<u64>) -> Result<()> {
        let module = &self.builder.module;
        let size = self.size();
        let code = module.ranges(self.scope);
        let is_in = |code: &Range<u64>| code.start <= pcs.start && pcs.end <= code.end;
        pcs::range(&module.target, size, pcs)?;
        // A function's own scope has no ranges: all its code belongs to it.
        if code.is_empty() || code.iter().any(is_in) {
            return Ok(());
        }
        Err(ErrorKind::OutsideScope { kind: Enclosed::Region, code: code.to_vec() }.into())
    }

    /// Checks and adds a mask, for pcs within the function.
    fn mask(&mut self, pcs: &Range<u64>, place: &Loc) -> Result<Mask> {
        let module = &self.builder.module;
        let unit = module.scopes[self.scope].unit;
        let lanes = module.target.lanes();
        self.builder.own(place)?;
        let what = if place.nodes().all(|node| node == Node::Undefined) {
            Some("mask location is undefined")
        } else if depends_on_lane(module, place) {
            Some("mask location depends on the current lane; expected a location for the whole wave")
        } else if is_exec(module, place) {
            Some("mask is EXEC, in which no inactive lane is; expected the mask saved before EXEC changed")
        } else {
            None
        };
        if let Some(what) = what {
            return Err(Error::bad_argument(what));
        }
        if self.builder.check_location(unit, place, Some(lanes.into()), "the mask")? {
            self.builder.slot(Slot::Scope(self.scope));
        }
        let loc = self.builder.module.locs.push(place)?;
        Ok(Mask { start: pcs.start as u32, end: pcs.end as u32, loc })
    }
}

/// Whether a location is the register with the active lanes, or that register's number.
fn is_exec(module: &Module, place: &Loc) -> bool {
    let mut nodes = place.nodes();
    let exec = match (nodes.next(), nodes.next(), nodes.next()) {
        (Some(Node::Register(reg)), None, None)
        | (Some(Node::ReadRegister(reg)), Some(Node::Value), None) => reg,
        _ => return false,
    };
    module.target.exec() == Some(exec)
}

/// Whether a location, or a procedure that it calls, differs between lanes.
fn depends_on_lane(module: &Module, place: &Loc) -> bool {
    let is_lanes = |space| module.target.space(space).is_some_and(|space| space.per == Per::Lane);
    // Procedures can call each other: each is searched once.
    let mut seen = HashSet::new();
    let mut calls = Vec::new();
    let mut nodes = place.nodes();
    loop {
        for node in nodes {
            match node {
                Node::PerLane(_) | Node::LaneIndex => return true,
                Node::Memory(space) if is_lanes(space) => return true,
                // A procedure that does not exist is refused by `check_location`.
                Node::Call(procedure) if seen.insert(procedure) => {
                    calls.extend(module.procedures.get(procedure));
                }
                _ => {}
            }
        }
        match calls.pop() {
            Some(procedure) => nodes = module.nodes(procedure.loc),
            None => return false,
        }
    }
}

/// Sorts regions and whole-wave code by function and pc, and records each function's.
pub(super) fn sort(module: &mut Module) {
    let mut order: Vec<(FunctionId, RegionId)> = Vec::with_capacity(module.lanes.regions.len());
    for (id, region) in &module.lanes.regions {
        order.extend(module.function_of(region.scope).map(|function| (function, id)));
    }
    order.sort_by_key(|&(function, id)| {
        let region = &module.lanes.regions[id];
        // An enclosing region has the lower id.
        (function, region.start, core::cmp::Reverse(region.end), id)
    });
    // Regions are sorted by function, so that each function's regions are one range of indices.
    for (at, &(function, _)) in order.iter().enumerate() {
        extend(&mut module.functions[function].lanes.regions, at as u32);
    }
    module.lanes.order = order.into_iter().map(|(_, id)| id).collect();
    module.lanes.whole_waves.sort_by_key(|whole_wave| (whole_wave.function, whole_wave.mask.start));
    for (at, one) in module.lanes.whole_waves.iter().enumerate() {
        extend(&mut module.functions[one.function].lanes.whole_waves, at as u32);
    }
    module.lanes.masks.shrink_to_fit();
}

/// Extends a range by the next index; an empty range begins there.
fn extend(range: &mut Range<u32>, at: u32) {
    let start = if range.start == range.end { at } else { range.start };
    *range = start..at + 1;
}

/// Refuses overlapping regions and overlapping whole-wave code, which only the complete module shows.
pub(super) fn check(module: &Module) -> Result<(), Wrong> {
    for (id, function) in module.functions() {
        let mut open: Vec<RegionId> = Vec::new();
        for &region in module.regions_of(id) {
            let pcs = module.region(region).pcs();
            let Region { end, waits_at, scope, .. } = *module.region(region);
            if u64::from(end.max(waits_at.saturating_add(1))) > function.bytes {
                let context =
                    module.at_scope(scope).with(|context| context.region = Some(module.region_text(region)));
                return Err(Error::new(ErrorKind::OutsideFunction { size: function.bytes })
                    .or_at(context)
                    .into());
            }
            while open.last().is_some_and(|&last| module.region(last).pcs().end <= pcs.start) {
                open.pop();
            }
            let around = open.last().copied();
            if around != module.region(region).parent {
                // Either the enclosing region by pcs, or the parent, which does not enclose it.
                let other = around.or(module.region(region).parent);
                let other = other.map_or(0..0, |other| module.region(other).pcs());
                let kind = ErrorKind::OverlappingRanges { kind: Ranges::Region, other };
                let error = Error::new(kind).or_at(module.at_scope(scope).with(|context| {
                    context.region = Some(module.region_text(region));
                    context.pcs = Some(pcs);
                }));
                return Err(Wrong::with(error, Blame::Region(region)));
            }
            open.push(region);
        }
        if let Some(last) =
            module.whole_waves(id).iter().find(|whole_wave| whole_wave.mask.pcs().end > function.bytes)
        {
            let context = module.at_scope(function.scope).with(|context| context.pcs = Some(last.mask.pcs()));
            return Err(Error::new(ErrorKind::OutsideFunction { size: function.bytes })
                .or_at(context)
                .into());
        }
        for pair in module.whole_waves(id).windows(2) {
            let first = pair[0].mask.pcs();
            let second = pair[1].mask.pcs();
            if second.start < first.end {
                let kind = ErrorKind::OverlappingRanges { kind: Ranges::WholeWave, other: first };
                let context =
                    module.at_scope(function.scope).with(|context| context.pcs = Some(second.clone()));
                let blame = Blame::WholeWave(id, second);
                return Err(Wrong::with(Error::new(kind).or_at(context), blame));
            }
        }
    }
    Ok(())
}

/// Checks that each pc is in exactly one mask's range, with the ranges sorted by start; otherwise returns the first pc
/// that is not, and the reason.
fn each_pc(masks: &[Mask], pcs: &Range<u64>) -> Result<(), (u64, Error)> {
    let mut last = pcs.start..pcs.start;
    for mask in masks {
        match mask.pcs() {
            // A gap: the pcs after the last range have no location.
            range if range.start > last.end => break,
            range if range.start < last.end => {
                let kind = ErrorKind::OverlappingRanges { kind: Ranges::Mask, other: last };
                return Err((range.start, kind.into()));
            }
            range => last = range,
        }
    }
    if last.end == pcs.end {
        Ok(())
    } else {
        let what = "mask has no location at this pc; expected a location at each pc of its region";
        Err((last.end, Error::bad_argument(what)))
    }
}
