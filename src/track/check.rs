//! Checks a description against the code, and finds places that it claims and the code refutes (stale), and places that
//! the code proves and it does not claim (missed).
//!
//! A location is evaluated to spans for each lane in a wave with `model::denote`, at each pc where something can
//! change, and each span is looked up among the derived places.

use core::ops::Range;

use hashbrown::{HashMap, HashSet};

use super::described_regions;
use super::extent::{self, constant_text};
use super::facts::Instructed;
use super::history::{Bits, History, Paths};
use super::place::{Place, Storage};
use super::ranges::PlaceRange;
use super::report::{Missed, Stale, TrackReport, Unchecked};
use super::tracked::{ScopePcs, Tracked};
use crate::model::DescribedStorage as Spanned;
use crate::model::{
    FunctionId, Loc, LocId, MachineContents, Module, NoMeaning, Node, StorageSpan, VariableId,
};
use crate::op::Reg;
use crate::target::SpaceId;

/// A variable's bits, and where a lane finds them.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
struct Wanted {
    /// First bit in the variable.
    from: i64,
    bits: i64,
    found: Found,
}

#[derive(Debug, Clone, PartialEq, Eq, Hash)]
enum Found {
    /// One of these storages, each from a bit on. A lane's cell is both part of a row and a cell of the wave.
    Stored(Vec<(Storage, i64)>),
    Constant(Vec<u8>),
    Nothing,
}

/// Machine contents for one lane, with a stack that begins at address 0.
struct Stopped {
    lane: u32,
    base: Option<Reg>,
}

impl MachineContents for Stopped {
    fn register(&self, reg: Reg, _: u64, _: u32) -> Option<u64> {
        (Some(reg) == self.base).then_some(0)
    }

    fn memory(&self, _: SpaceId, _: Option<u32>, _: u128, _: u32) -> Option<u64> {
        None
    }

    fn lane(&self) -> Option<u32> {
        Some(self.lane)
    }

    fn symbol(&self, _: &str) -> Option<u64> {
        None
    }
}

/// Consecutive bits in a place that the compiler declared, as one lane finds them.
struct OwnPlace {
    storage: Storage,
    /// First bit in the place.
    first: i64,
    span: StorageSpan,
}

impl OwnPlace {
    fn contains(&self, span: &StorageSpan) -> bool {
        let end = |span: &StorageSpan| span.from + u128::from(span.bits);
        self.span.storage == span.storage && self.span.from <= span.from && end(span) <= end(&self.span)
    }
}

/// Bits that a location claims, for each distinguishable lane.
type Claim = Result<HashSet<Vec<Wanted>>, String>;

/// Returns a location's claim: one for all lanes if they agree, or one for each lane. Merging equal claims saves
/// checking each lane separately.
fn common(mut lanes: Vec<Vec<Wanted>>) -> HashSet<Vec<Wanted>> {
    let Some(first) = lanes.first() else { return HashSet::new() };
    let mut shared = first.clone();
    for lane in &lanes {
        let is_alike = |(a, b): (&Wanted, &Wanted)| (a.from, a.bits) == (b.from, b.bits);
        if lane.len() != shared.len() || !lane.iter().zip(&shared).all(is_alike) {
            return lanes.drain(..).collect();
        }
        for (wanted, other) in shared.iter_mut().zip(lane) {
            match (&mut wanted.found, &other.found) {
                (Found::Stored(known), Found::Stored(here))
                    if known.iter().any(|home| here.contains(home)) =>
                {
                    known.retain(|home| here.contains(home));
                }
                (known, other) if known == other => {}
                _ => return lanes.drain(..).collect(),
            }
        }
    }
    HashSet::from_iter([shared])
}

struct Checker<'t, 'm> {
    tracked: &'t Tracked<'t>,
    module: &'m Module,
    claims: HashMap<(LocId, u64), Claim>,
    /// Pcs at which a lane can stop and the code or the description changes, each with the next such pc.
    stops: Vec<(u64, u64)>,
    /// Each storage's parts.
    stored: HashMap<Storage, Vec<(u32, i64, i64)>>,
    /// Lane paths with their events, for stale claims.
    paths: Option<Paths<'t>>,
    histories: HashMap<(Option<usize>, Vec<Bits>), History>,
    report: TrackReport,
    /// The current variable's size in bits.
    bits: u64,
    /// The current variable's last stale claim for each range of bits and place, as indices in the report.
    last: HashMap<(Range<u64>, String), usize>,
}

/// A variable part's places at consecutive stops, found by one sweep over the sorted ranges.
struct Swept {
    first: Vec<u32>,
    places: Vec<u32>,
}

impl Swept {
    fn new(ranges: &[PlaceRange], stops: &[(u64, u64)]) -> Self {
        let mut swept = Self { first: vec![0], places: Vec::new() };
        let mut next = 0;
        let mut active: Vec<&PlaceRange> = Vec::new();
        // Both lists are sorted, so that one sweep is enough.
        for &(pc, _) in stops {
            while let Some(range) = ranges.get(next).filter(|range| u64::from(range.start) <= pc) {
                let position = active.partition_point(|other| other.place < range.place);
                active.insert(position, range);
                next += 1;
            }
            active.retain(|range| pc < u64::from(range.end));
            swept.places.extend(active.iter().map(|range| range.place));
            swept.first.push(swept.places.len() as u32);
        }
        swept
    }

    /// Returns the places at a stop.
    fn places(&self, stop: usize) -> &[u32] {
        &self.places[self.first[stop] as usize..self.first[stop + 1] as usize]
    }
}

impl Tracked<'_> {
    /// Checks the locations that a module gives to this code's variables; and, if their function describes its lanes, its
    /// regions by the code's writes of EXEC: pcs, masks, and the pcs at which lanes wait.
    ///
    /// # Panics
    /// If the module lacks one of these variables.
    ///
    /// # Example
    ///
    /// ```
    /// # use eitri::build::{Builder, ControlFlow};
    /// # use eitri::model::{BaseEncoding, Loc};
    /// # use eitri::target::Target;
    /// # use eitri::track::{CodeEffects, Place};
    /// # let gpu = Target::named("amdgpu-gfx1030-wave32")?;
    /// # let s4 = gpu.sgpr(4)?;
    /// # let mut m = Builder::new(gpu.clone());
    /// # let unit = m.unit("a.cl");
    /// # let int = m.base_type(unit, "int", BaseEncoding::Signed, 32)?;
    /// # let kernel = m.function(unit, "k")?.code("k", 0x10).kernel().id();
    /// // The description says that `n` is in s4 at all pcs.
    /// let n = m.variable(kernel, "n", int)?.live(0x00..0x10, Loc::register(s4))?.id();
    /// let module = m.finish()?;
    /// // The code overwrites s4 at 0x04.
    /// let mut flow = ControlFlow::new();
    /// flow.block(0x00..0x10);
    /// let mut code = CodeEffects::new(&gpu, flow);
    /// let argument = code.value(32);
    /// code.entry(argument, &[Place::register(s4)])?;
    /// code.assign(0x00, n, argument)?;
    /// code.instruction(0x04..0x08).clobber(&[Place::register(s4)])?; // s_lshl_b32 s4, s5, 3
    ///
    /// let tracked = code.track()?;
    /// let report = tracked.check(&module);
    /// let stale = &report.stale[0];
    /// assert_eq!((stale.pcs.clone(), stale.overwritten), (0x08..0x10, Some(0x04)));
    /// # Ok::<(), eitri::Error>(())
    /// ```
    pub fn check(&self, module: &Module) -> TrackReport {
        let mut stored: HashMap<Storage, Vec<(u32, i64, i64)>> = HashMap::new();
        for (part, &(storage, from, bits)) in (0..).zip(&self.stored) {
            stored.entry(storage).or_default().push((part, from, bits));
        }
        let claims = HashMap::new();
        let report = TrackReport::default();
        let paths = None;
        let histories = HashMap::new();
        let stops = self.stops(module);
        let bits = 0;
        let last = HashMap::new();
        let mut checker =
            Checker { tracked: self, module, claims, stops, stored, paths, histories, report, bits, last };
        for (index, variable) in self.code.named() {
            checker.variable(index, variable);
        }
        checker.report.regions = described_regions::differences(self, module);
        checker.report
    }

    /// Returns the pcs at which a lane can stop and the code or the description can change, each with the next such pc.
    fn stops(&self, module: &Module) -> Vec<(u64, u64)> {
        let code = self.code;
        let step = u32::from(code.target.min_instruction_bytes());
        // Each of several instructions ends separately.
        let ends = |it: &Instructed| (it.pcs.0.into(), it.until(step).into());
        let mut inside: Vec<(u64, u64)> = code.instructions.iter().map(ends).collect();
        inside.extend(code.flow.writes.iter().map(|(pcs, _)| (pcs.start, pcs.end)));
        inside.sort_unstable();
        let mut pcs: Vec<u64> = inside.iter().flat_map(|&(start, end)| [start, end]).collect();
        pcs.extend(self.reached.iter().flat_map(|pcs| [pcs.start, pcs.end].map(u64::from)));
        pcs.extend(code.assigned.iter().map(|assigned| u64::from(assigned.pc)));
        let live = code.named().flat_map(|(_, variable)| module.live(variable));
        pcs.extend(live.flat_map(|live| [live.pcs().start, live.pcs().end]));
        let scopes = code.named().flat_map(|(_, variable)| module.ranges(module.variable(variable).scope));
        pcs.extend(scopes.flat_map(|pcs| [pcs.start, pcs.end]));
        pcs.extend(code.instructions.iter().map(|instruction| u64::from(instruction.pcs.1)));
        pcs.extend(self.waits.iter().flat_map(|&pc| [pc.into(), u64::from(pc) + u64::from(step)]));
        pcs.sort_unstable();
        pcs.dedup();
        // A wave cannot stop inside an instruction, so that no pc there is checked.
        let is_between = |pc: &u64| {
            let before = inside.partition_point(|&(start, _)| start < *pc);
            before == 0 || inside[before - 1].1 <= *pc
        };
        pcs.retain(is_between);
        let is_reached = |pc: u64| {
            let before = self.reached.partition_point(|pcs| u64::from(pcs.start) <= pc);
            before > 0 && pc < u64::from(self.reached[before - 1].end)
        };
        let pairs = pcs.windows(2).map(|pair| (pair[0], pair[1]));
        pairs.filter(|&(start, _)| is_reached(start)).collect()
    }
}

impl Checker<'_, '_> {
    fn variable(&mut self, index: usize, variable: VariableId) {
        let module = self.module;
        let size = module.types[module.variable(variable).ty].value_bits();
        let function = module.function_of(module.variable(variable).scope);
        let bits = u64::from(self.tracked.code.variables[index]);
        let bits = size.map_or(bits, |size| size.min(bits));
        self.bits = bits;
        self.last.clear();
        let always = module.always(variable).map(|loc| (0..u64::MAX, loc));
        let live = module.live(variable).iter().map(|live| (live.pcs(), live.loc));
        let ranges: Vec<(Range<u64>, LocId)> = always.into_iter().chain(live).collect();
        let parts: Vec<(u32, i64, i64)> =
            self.tracked.parts[index].iter().copied().filter(|part| part.1 < bits as i64).collect();
        // Claims that the code proves: part, place, stop.
        let mut right: HashSet<(u32, u32, usize)> = HashSet::new();
        let all_stops = core::mem::take(&mut self.stops);
        // Only stops at which something is claimed or proven are visited.
        let proven = parts.iter().flat_map(|part| self.tracked.places_of(part.0));
        let pcs = proven
            .map(|range| range.start.into()..range.end.into())
            .chain(ranges.iter().map(|range| range.0.clone()));
        let (from, to) = pcs.fold((u64::MAX, 0), |(from, to), pcs| (pcs.start.min(from), pcs.end.max(to)));
        let first = all_stops.partition_point(|stop| stop.0 < from);
        let end = all_stops.partition_point(|stop| stop.0 < to);
        let scope = ScopePcs::new(module, variable);
        let is_in_scope = |stop: &&(u64, u64)| scope.contains(stop.0);
        let stops = all_stops.get(first..end).unwrap_or_default().iter().filter(is_in_scope);
        let stops: Vec<(u64, u64)> = stops.copied().collect();
        let swept: Vec<Swept> =
            parts.iter().map(|part| Swept::new(self.tracked.places_of(part.0), &stops)).collect();
        for (pcs, loc) in ranges {
            let first = stops.partition_point(|stop| stop.0 < pcs.start);
            let end = stops.partition_point(|stop| stop.0 < pcs.end);
            // A declared home is the compiler's word; the code cannot prove or refute it.
            if self.is_home(index, loc) {
                continue;
            }
            let key = (loc, bits);
            if !self.claims.contains_key(&key) {
                let claim = self.claim(function, loc, bits);
                self.claims.insert(key, claim);
            }
            let claim = match &self.claims[&key] {
                Ok(claim) => claim.clone(),
                Err(why) => {
                    // A location for all pcs has no bounds.
                    let bounded = Some(pcs.clone()).filter(|pcs| pcs.end < u64::MAX);
                    let at = module.at_variable(variable, bounded);
                    self.report.unchecked.push(Unchecked { variable, at, pcs, why: why.clone() });
                    continue;
                }
            };
            for (index, stop) in stops.iter().enumerate().take(end).skip(first) {
                for (&(part, from, len), swept) in parts.iter().zip(&swept) {
                    let places = swept.places(index);
                    for wanted in &claim {
                        let inside =
                            |wanted: &&Wanted| wanted.from < from + len && from < wanted.from + wanted.bits;
                        for wanted in wanted.iter().filter(inside) {
                            match self.proof(wanted, (from, len), places) {
                                None => {}
                                Some(Some(place)) => drop(right.insert((part, place, index))),
                                Some(None) => self.stale(variable, part, wanted, *stop),
                            }
                        }
                    }
                }
            }
        }
        for (&(part, from, len), swept) in parts.iter().zip(&swept) {
            // Each missed place's last range, which grows while it stays missed.
            let mut missed: HashMap<u32, usize> = HashMap::new();
            for (index, &(pc, end)) in stops.iter().enumerate() {
                for &place in swept.places(index) {
                    self.report.recoverable += 1;
                    if right.contains(&(part, place, index)) {
                        self.report.right += 1;
                        self.report.claimed += 1;
                        continue;
                    }
                    let last = missed.get(&place).and_then(|&index| self.report.missed.get_mut(index));
                    if let Some(last) = last.filter(|last| last.pcs.end == pc) {
                        last.pcs.end = end;
                        continue;
                    }
                    missed.insert(place, self.report.missed.len());
                    let bits = from as u64..(from + len) as u64;
                    let name = self.tracked.text(place);
                    self.report.missed.push(Missed { variable, bits, pcs: pc..end, place: name });
                }
            }
        }
        self.stops = all_stops;
    }

    /// Whether a location is declared instead of derived.
    fn is_home(&self, index: usize, loc: LocId) -> bool {
        let homes = self.tracked.code.homes.iter().filter(|home| home.variable as usize == index);
        homes.into_iter().any(|home| self.is_same(loc, &home.loc))
    }

    fn is_same(&self, loc: LocId, other: &Loc) -> bool {
        self.module.nodes(loc).eq(other.nodes())
    }

    /// Returns the place that proves a claim: `Some(None)` if no place does, `None` if the bits claim nothing.
    fn proof(&self, wanted: &Wanted, (from, _): (i64, i64), places: &[u32]) -> Option<Option<u32>> {
        let tracked = self.tracked;
        // Distance from the claim's first bit to the part's first bit.
        let ahead = from - wanted.from;
        match &wanted.found {
            Found::Nothing => None,
            Found::Stored(stored) => {
                let is_there = |&&place: &&u32| {
                    place < tracked.places && {
                        let (of_place, first, _) = tracked.stored[place as usize];
                        stored.iter().any(|&(storage, from)| storage == of_place && from + ahead == first)
                    }
                };
                Some(places.iter().find(is_there).copied())
            }
            Found::Constant(bytes) => {
                let bit = |bytes: &[u8], index: i64| {
                    usize::try_from(index / 8)
                        .ok()
                        .and_then(|byte| bytes.get(byte))
                        .map(|byte| byte >> (index % 8) & 1)
                };
                let is_equal = |&&place: &&u32| {
                    place.checked_sub(tracked.places).is_some_and(|constant| {
                        let (bits, known) = &tracked.constants[constant as usize];
                        // Only the bits that both the claim and the part contain are compared.
                        let start = (wanted.from - from).max(0);
                        let end = (*bits).min(wanted.from + wanted.bits - from);
                        (start..end).all(|index| bit(known, index) == bit(bytes, index + ahead))
                    })
                };
                Some(places.iter().find(is_equal).copied())
            }
        }
    }

    fn stale(&mut self, variable: VariableId, part: u32, wanted: &Wanted, (pc, end): (u64, u64)) {
        let tracked = self.tracked;
        let place = match &wanted.found {
            Found::Stored(stored) => stored.first().map_or_else(
                || "storage in another space".into(),
                |&(storage, from)| extent::text(&tracked.code.target, Place { storage, from, bits: None }),
            ),
            Found::Constant(bytes) => constant_text(bytes),
            Found::Nothing => "nothing".into(),
        };
        let bits = wanted.from as u64..(wanted.from + wanted.bits) as u64;
        self.report.claimed += 1;
        // Consecutive stops with the same claim form one finding, also where each stop has claims for several parts.
        let key = (bits.clone(), place.clone());
        let last = self.last.get(&key).and_then(|&index| self.report.stale.get_mut(index));
        if let Some(last) = last.filter(|last| last.pcs.end == pc || last.pcs.end == end) {
            last.pcs.end = end;
            last.at.pcs = Some(last.pcs.clone());
            return;
        }
        self.last.insert(key, self.report.stale.len());
        let waits = tracked.waits.binary_search(&(pc as u32)).is_ok();
        let claimed: Vec<Bits> = match &wanted.found {
            Found::Stored(stored) => {
                stored.iter().map(|&(storage, from)| (storage, from, wanted.bits)).collect()
            }
            _ => Vec::new(),
        };
        // Storage that no instruction writes has no history.
        let is_known = claimed.iter().any(|(storage, ..)| self.stored.contains_key(storage));
        let code = tracked.code;
        if is_known && self.paths.is_none() {
            self.paths = Paths::new(code).ok();
        }
        let mut event = None;
        let mut wave = None;
        if let Some(paths) = self.paths.as_ref().filter(|_| is_known) {
            let index = code.variables.get_index_of(&variable);
            let history = self.histories.entry((index, claimed));
            let history = history.or_insert_with_key(|(index, claimed)| History::new(paths, claimed, *index));
            let ahead = if waits { history.meanwhile(paths, pc) } else { None };
            wave = ahead.as_ref().map(|event| event.end);
            event = ahead.or_else(|| history.before(paths, pc));
        }
        let places = tracked.places_at_pc(part, pc).into_iter().map(|place| tracked.text(place)).collect();
        let pcs = pc..end;
        let context = self.module.at_variable(variable, Some(pcs.clone()));
        let (overwritten, with, path) = match event {
            Some(event) => (Some(event.pc), event.with, event.path),
            None => (None, None, Vec::new()),
        };
        self.report.stale.push(Stale {
            variable,
            at: context,
            bits,
            variable_bits: self.bits,
            pcs,
            place,
            waits,
            wave,
            overwritten,
            with,
            path,
            places,
        });
    }

    /// Returns what a location claims for a wave's lanes.
    fn claim(&self, function: Option<FunctionId>, loc: LocId, bits: u64) -> Claim {
        let module = self.module;
        // A declared place is recognized by its location, because it may have no meaning that can be evaluated.
        for (index, own) in (0..).zip(&self.tracked.code.own) {
            if self.is_same(loc, own) {
                let keys = self.stored.keys();
                let mut declared =
                    keys.copied().filter(|key| matches!(key, Storage::Compiler(own, _) if *own == index));
                let stored = declared.next().map(|storage| (storage, 0)).into_iter().collect();
                let wanted = Wanted { from: 0, bits: bits as i64, found: Found::Stored(stored) };
                return Ok(HashSet::from_iter([vec![wanted]]));
            }
        }
        if module.nodes(loc).any(|node| matches!(node, Node::Expr(_))) {
            return Err(NoMeaning::Raw.to_string());
        }
        let base = function.and_then(|function| module.function(function).stack.base);
        let mut claim: Vec<Vec<Wanted>> = Vec::new();
        // Lanes can differ, so that each is evaluated.
        for lane in 0..module.target().lanes() {
            let stopped = Stopped { lane, base };
            let spans = module.denote(function, loc, bits, &stopped).map_err(|why| why.to_string())?;
            let own = self.own_places(function, &stopped);
            let mut from = 0;
            let wanted = spans.iter().flat_map(|span| self.divided(span, lane, &own)).map(|span| {
                let located = self.locate(&span, lane, &own);
                let wanted = Wanted { from, bits: span.bits as i64, found: located };
                from += span.bits as i64;
                wanted
            });
            claim.push(wanted.collect());
        }
        Ok(common(claim))
    }

    /// Returns where a lane finds the places that the compiler declared.
    fn own_places(&self, function: Option<FunctionId>, lane: &Stopped) -> Vec<OwnPlace> {
        let mut places = Vec::new();
        for (index, own) in (0..).zip(&self.tracked.code.own) {
            let kinds = [false, true].map(|is_row| Storage::Compiler(index, is_row));
            let known = |&storage: &Storage| Some((storage, self.stored.get(&storage)?));
            let Some((storage, parts)) = kinds.iter().find_map(known) else {
                continue;
            };
            let denote = |&(_, from, bits): &(u32, i64, i64)| {
                self.module.denote_nodes(function, own.nodes(), (from + bits) as u64, lane).ok()
            };
            // Parts past the location's end have no place; a location that cannot be read has none at all.
            let mut first = 0;
            for span in parts.iter().rev().find_map(denote).unwrap_or_default() {
                let bits = span.bits as i64;
                places.push(OwnPlace { storage, first, span });
                first += bits;
            }
        }
        places
    }

    /// Divides bits at a vector register's lanes, at the lane's bit in a mask, and at both ends of the places that the
    /// compiler declared.
    fn divided(&self, span: &StorageSpan, lane: u32, own: &[OwnPlace]) -> Vec<StorageSpan> {
        let start = span.from;
        let end = span.from + u128::from(span.bits);
        let same = own.iter().map(|own| &own.span).filter(|own| own.storage == span.storage);
        let mut cuts: Vec<u128> = same.flat_map(|own| [own.from, own.from + u128::from(own.bits)]).collect();
        if let Spanned::Register(reg) = span.storage {
            let register = self.module.target().register(reg).filter(|register| register.is_vector());
            if let Some(bits) = register.map(|register| u128::from(register.lane_bits())) {
                cuts.extend((start / bits + 1..end.div_ceil(bits)).map(|lane| lane * bits));
            }
            if self.stored.contains_key(&Storage::Bits(reg)) {
                cuts.extend([lane, lane + 1].map(u128::from));
            }
        }
        cuts.retain(|&cut| start < cut && cut < end);
        cuts.extend([start, end]);
        cuts.sort_unstable();
        cuts.dedup();
        let part =
            |pair: &[u128]| StorageSpan { from: pair[0], bits: (pair[1] - pair[0]) as u64, ..span.clone() };
        cuts.windows(2).map(part).collect()
    }

    /// Returns where a lane finds a span.
    fn locate(&self, span: &StorageSpan, lane: u32, own: &[OwnPlace]) -> Found {
        let from = span.from as i64;
        let mut stored = match span.storage {
            Spanned::Implicit(ref bytes) => return Found::Constant(bytes.clone()),
            Spanned::Undefined => return Found::Nothing,
            Spanned::Register(reg) => match self.module.target().register(reg) {
                Some(register) if register.is_vector() => {
                    let bits = i64::from(register.lane_bits());
                    let cell = (from / bits) as u32;
                    let within = from % bits;
                    let row = (cell == lane).then_some((Storage::Row(reg), within));
                    row.into_iter().chain([(Storage::Lane(reg, cell), within)]).collect()
                }
                _ => {
                    let bit = (from == i64::from(lane)).then_some((Storage::Bits(reg), 0));
                    bit.into_iter().chain([(Storage::Register(reg), from)]).collect()
                }
            },
            Spanned::Memory(SpaceId::PRIVATE_LANE, owner) if owner == Some(lane) => {
                let bits =
                    self.module.target().space(SpaceId::PRIVATE_LANE).map_or(32, |space| space.address_bits);
                // Addresses in the upper half are below the base.
                let end = 8i64 << bits.min(48);
                vec![(Storage::Stack, if from >= end / 2 { from - end } else { from })]
            }
            Spanned::Memory(..) | Spanned::Pointer(..) => Vec::new(),
        };
        let own = own.iter().filter(|own| own.contains(span));
        stored.extend(own.map(|own| (own.storage, own.first + from - own.span.from as i64)));
        Found::Stored(stored)
    }
}
