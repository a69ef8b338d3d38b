//! Derived variable locations.

use core::fmt;
use core::ops::Range;

use super::code::CodeEffects;
use super::division::{Cuts, Whole};
use super::extent::{self, constant_text};
use super::graph::Graphs;
use super::lower::Lower;
use super::place::{self, Place, Storage};
use super::ranges::{PlaceRange, Ranges};
use super::skips;
use super::ssa::{Graph, Ssa};
use crate::build::Builder;
use crate::error::{Error, ErrorKind, Result};
use crate::model::{Loc, Module, VariableId};

/// Selects which of the simultaneous locations are described.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Keep {
    /// All locations.
    All,
    /// One location at a time: the location that lasts longest.
    Single,
}

/// Locations of a [`CodeEffects`]'s variables, from [`CodeEffects::track`].
#[derive(Debug)]
pub struct Tracked<'c> {
    pub(super) code: &'c CodeEffects,
    /// Sorted by variable part, then by pc.
    ranges: Vec<PlaceRange>,
    /// Each variable's parts: number, first bit, number of bits.
    pub(super) parts: Vec<Vec<(u32, i64, i64)>>,
    /// Each storage part's storage, first bit and number of bits.
    pub(super) stored: Vec<(Storage, i64, i64)>,
    /// Number of places. Larger numbers are constants.
    pub(super) places: u32,
    pub(super) constants: Vec<(i64, Vec<u8>)>,
    /// Sorted pcs at which lanes can stand.
    pub(super) reached: Vec<Range<u32>>,
    /// Sorted pcs at which lanes wait.
    pub(super) waits: Vec<u32>,
    unproven: Vec<UnprovenAssignment>,
}

/// The assignment of a value that some path for a lane does not define.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct UnprovenAssignment {
    /// The assignment's pc.
    pub pc: u64,
    /// Assigned variable.
    pub variable: VariableId,
}

impl fmt::Display for UnprovenAssignment {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { pc, variable } = self;
        write!(f, "pc {pc:#x}: {variable} is assigned a value that is not defined on each path of a lane")
    }
}

/// A place for each of a variable's parts, or none.
type Choice = Vec<Option<u32>>;

impl CodeEffects {
    /// Derives the locations of all variables.
    ///
    /// # Errors
    /// The errors of [`LanesBuilder::control_flow`](crate::build::LanesBuilder::control_flow) for the graph;
    /// [`ErrorKind::BadArgument`] if
    ///
    /// * instructions overlap, or overlap an instruction that writes EXEC;
    /// * an instruction or an assignment is outside all blocks;
    /// * an assignment is inside an instruction;
    /// * a block parameter receives a value from a block that does not lead there, or two values from one block;
    ///
    /// and [`ErrorKind::TooLarge`] for 2^29 or more parts of storage and values, or writes.
    pub fn track(&self) -> Result<Tracked<'_>> {
        Tracked::new(self).map_err(|error| self.in_block(error))
    }
}

impl<'c> Tracked<'c> {
    fn new(code: &'c CodeEffects) -> Result<Self> {
        let mut graphs = Graphs::new(code)?;
        let cuts = Cuts::new(code);
        let (program, unknown) = skips::add(Lower::new(code, &cuts, &graphs)?, &graphs)?;
        let cuts = cuts.without_values();
        let segments = graphs.segments.len() as u32;
        let mut edges = core::mem::take(&mut graphs.lanes);
        // Each skip is a node of its own, because it has operations.
        for (node, skip) in (segments + 1..).zip(&graphs.skips) {
            edges.extend([(skip.from, node), (node, skip.to)]);
        }
        let graph = Graph::new(segments as usize + 1 + graphs.skips.len(), &edges);
        drop(edges);
        // A dominator's children are visited in pc order, so that ranges stay open.
        let key = |node: u32| match node.checked_sub(segments + 1) {
            Some(skip) => 2 * u64::from(graphs.skips[skip as usize].to),
            None => 2 * u64::from(node) + 1,
        };
        let ssa = Ssa::new(&program, graph, key);
        let (ranges, undefined) = Ranges::find(&program, &graphs, &ssa, &unknown.places(&ssa));
        let variables = 0..code.variables.len() as u32;
        let parts: Vec<_> = variables.map(|id| cuts.parts_of(code, Whole::Variable(id))).collect();
        let mut stored = Vec::with_capacity(program.stored as usize);
        for (id, &storage) in (0..).zip(&cuts.storages) {
            let parts = cuts.parts_of(code, Whole::Storage(id)).into_iter();
            stored.extend(parts.map(|(_, from, bits)| (storage, from, bits)));
        }
        let mut variable_of = Vec::new();
        for (index, parts) in parts.iter().enumerate() {
            variable_of.extend(parts.iter().map(|_| index));
        }
        let id = |part: u32| code.variables.get_index(variable_of[part as usize]).map(|(id, _)| *id);
        let id = |part: u32| id(part).filter(|&id| code.is_named(id));
        let unproven = undefined.iter().filter_map(|undefined| {
            Some(UnprovenAssignment { pc: undefined.pc.into(), variable: id(undefined.part)? })
        });
        let mut unproven: Vec<UnprovenAssignment> = unproven.collect();
        unproven.dedup();
        let in_code = ssa.order.iter().map(|step| step.node).filter(|&node| node != 0 && node <= segments);
        let reached = in_code.map(|node| graphs.segment(node)).map(|segment| segment.start..segment.end);
        let mut reached: Vec<Range<u32>> = reached.filter(|pcs| !pcs.is_empty()).collect();
        reached.sort_unstable_by_key(|pcs| pcs.start);
        let mut waits: Vec<u32> = graphs.waits.iter().map(|wait| wait.pc).collect();
        waits.sort_unstable();
        let places = program.places;
        let constants = program.constants;
        Ok(Self { code, ranges, parts, stored, places, constants, reached, waits, unproven })
    }

    /// Returns the assignments with a value that some path for a lane does not define. The variable has no location
    /// there.
    pub fn unproven(&self) -> &[UnprovenAssignment] {
        &self.unproven
    }

    /// Returns all of a variable's locations before the instruction at a pc runs: places in the order in which the code
    /// first names them, then constants.
    ///
    /// # Errors
    /// [`ErrorKind::UnknownId`] if the code does not name the variable.
    pub fn places_at(&self, variable: VariableId, pc: u64) -> Result<Vec<Loc>> {
        let index = self.index(variable)?;
        let places: Vec<Vec<u32>> =
            self.parts[index].iter().map(|part| self.places_at_pc(part.0, pc)).collect();
        let mut locs = self.locs(index, 0, &places);
        for home in &self.code.homes {
            if home.variable as usize == index && home.pcs.contains(&pc) && !locs.contains(&home.loc) {
                locs.push(home.loc.clone());
            }
        }
        Ok(locs)
    }

    /// Adds the locations as live ranges of their variables, without pcs before and after the variable's scope.
    ///
    /// # Errors
    /// [`ErrorKind::DoesNotFit`] where the code assigns more bits than a variable's type has; the errors of
    /// [`VariableBuilder::live`](crate::build::VariableBuilder::live).
    pub fn describe(&self, builder: &mut Builder, keep: Keep) -> Result<()> {
        for (index, variable) in self.code.named() {
            let module = builder.described();
            let ty = module.variables.get(variable).map(|data| data.ty);
            let bits = ty.and_then(|ty| module.types[ty].bits).unwrap_or(0);
            let assigned = u64::from(self.code.variables[index]);
            if bits > 0 && assigned > bits {
                let kind =
                    ErrorKind::DoesNotFit { what: "the assigned value".into(), needs: assigned, has: bits };
                return Err(Error::from(kind).or_at(module.at_variable(variable, None)));
            }
            let scope = ScopePcs::new(module, variable);
            for (pcs, locs) in self.ranges(index, bits, keep) {
                if let Some(pcs) = scope.within(pcs) {
                    builder.describe_variable(variable)?.live_in(pcs, &locs)?;
                }
            }
        }
        Ok(())
    }

    fn index(&self, variable: VariableId) -> Result<usize> {
        let missing = || ErrorKind::UnknownId(format!("{variable} in this code")).into();
        self.code.variables.get_index_of(&variable).ok_or_else(missing)
    }

    pub(super) fn places_of(&self, part: u32) -> &[PlaceRange] {
        let start = self.ranges.partition_point(|range| range.part < part);
        let end = self.ranges.partition_point(|range| range.part <= part);
        &self.ranges[start..end]
    }

    /// Returns a variable part's sorted places.
    pub(super) fn places_at_pc(&self, part: u32, pc: u64) -> Vec<u32> {
        let ranges = self.places_of(part);
        let before = &ranges[..ranges.partition_point(|range| u64::from(range.start) <= pc)];
        let here = before.iter().filter(|range| pc < u64::from(range.end));
        let mut places: Vec<u32> = here.map(|range| range.place).collect();
        places.sort_unstable();
        places
    }

    /// Returns the live ranges for a variable whose type has `bits` bits: pcs with the simultaneous locations.
    fn ranges(&self, index: usize, bits: u64, keep: Keep) -> Vec<(Range<u64>, Vec<Loc>)> {
        let parts = &self.parts[index];
        let homes = || self.code.homes.iter().filter(|home| home.variable as usize == index);
        // All range ends by pc: the part's index, whether the range begins, the range.
        let mut events: Vec<(u64, usize, bool, PlaceRange)> = Vec::new();
        for (index, &(part, ..)) in parts.iter().enumerate() {
            for &range in self.places_of(part) {
                events.push((range.start.into(), index, true, range));
                events.push((range.end.into(), index, false, range));
            }
        }
        let mut pcs: Vec<u64> = events.iter().map(|event| event.0).collect();
        pcs.extend(homes().flat_map(|home| [home.pcs.start, home.pcs.end]));
        pcs.sort_unstable();
        pcs.dedup();
        events.sort_by_key(|&(pc, index, begins, range)| (pc, begins, index, range.place));
        let mut events = events.into_iter().peekable();
        let mut now: Vec<Vec<PlaceRange>> = vec![Vec::new(); parts.len()];
        let mut chosen: Vec<Option<PlaceRange>> = vec![None; parts.len()];
        let mut described: Vec<(Range<u64>, Vec<Loc>)> = Vec::new();
        for pair in pcs.windows(2) {
            let [start, end] = *pair else { continue };
            while let Some((_, part, begins, range)) = events.next_if(|event| event.0 <= start) {
                if begins {
                    let index = now[part].partition_point(|other| other.place < range.place);
                    now[part].insert(index, range);
                } else {
                    now[part].retain(|other| *other != range);
                }
            }
            let places: Vec<Vec<u32>> = match keep {
                Keep::All => now.iter().map(|now| now.iter().map(|range| range.place).collect()).collect(),
                Keep::Single => {
                    // Keep the current range while it lasts, so that the location changes rarely.
                    for (chosen, now) in chosen.iter_mut().zip(&now) {
                        if !chosen.is_some_and(|chosen| now.contains(&chosen)) {
                            // The first of the ranges that last longest.
                            *chosen = now.iter().rev().max_by_key(|range| range.end).copied();
                        }
                    }
                    chosen.iter().map(|chosen| chosen.iter().map(|range| range.place).collect()).collect()
                }
            };
            let mut locs = self.locs(index, bits, &places);
            for home in homes().filter(|home| home.pcs.start <= start && end <= home.pcs.end) {
                let is_room = keep == Keep::All || locs.is_empty();
                if is_room && !locs.contains(&home.loc) {
                    locs.push(home.loc.clone());
                }
            }
            // A range continues while its locations stay the same.
            match described.last_mut() {
                Some((pcs, last)) if pcs.end == start && *last == locs => pcs.end = end,
                _ => described.push((start..end, locs)),
            }
        }
        described.retain(|(_, locs)| !locs.is_empty());
        described
    }

    /// Returns the locations for a variable whose parts have these places: as many as the part with the most places
    /// has. A location has at least `bits` bits; unassigned bits, such as padding at a type's end, are undefined.
    fn locs(&self, index: usize, bits: u64, places: &[Vec<u32>]) -> Vec<Loc> {
        let count = places.iter().map(Vec::len).max().unwrap_or(0);
        let choice = |n: usize| -> Choice {
            places.iter().map(|places| places.get(n).or(places.last()).copied()).collect()
        };
        (0..count).map(|n| self.loc(index, bits, &choice(n))).collect()
    }

    fn loc(&self, index: usize, all_bits: u64, choice: &[Option<u32>]) -> Loc {
        // Adjacent bits in one storage form one piece.
        let mut pieces: Vec<(Piece, i64)> = Vec::new();
        let known = self.parts[index].iter().zip(choice).map(|(part, place)| (part.2, *place));
        let assigned: i64 = self.parts[index].iter().map(|part| part.2).sum();
        let rest = all_bits as i64 - assigned;
        for (bits, place) in known.chain((rest > 0).then_some((rest, None))) {
            let piece = place.map_or(Piece::Nothing, |place| self.piece(place));
            match (pieces.last_mut(), &piece) {
                (Some((Piece::Stored(storage, from), size)), Piece::Stored(other, next))
                    if storage == other && *from + *size == *next =>
                {
                    *size += bits;
                }
                (Some((Piece::Nothing, size)), Piece::Nothing) => *size += bits,
                _ => pieces.push((piece, bits)),
            }
        }
        let loc = |(piece, bits): &(Piece, i64)| match piece {
            Piece::Stored(storage, from) => place::loc(*storage, *from, &self.code.own),
            // A constant can have more bytes than the variable is assigned.
            Piece::Constant(bytes) => {
                Loc::implicit(&bytes[..bytes.len().min((*bits as u64).div_ceil(8) as usize)])
            }
            Piece::Nothing => Loc::undefined(),
        };
        match &pieces[..] {
            [piece] => loc(piece),
            _ => Loc::parts(pieces.iter().map(|piece| (loc(piece), piece.1 as u64))),
        }
    }

    fn piece(&self, place: u32) -> Piece {
        match place.checked_sub(self.places) {
            Some(constant) => Piece::Constant(self.constants[constant as usize].1.clone()),
            None => {
                let (storage, from, _) = self.stored[place as usize];
                Piece::Stored(storage, from)
            }
        }
    }

    /// Returns the name of a storage part or constant.
    pub(super) fn text(&self, place: u32) -> String {
        match place.checked_sub(self.places) {
            Some(constant) => constant_text(&self.constants[constant as usize].1),
            None => {
                let (storage, from, bits) = self.stored[place as usize];
                extent::text(&self.code.target, Place { storage, from, bits: Some(bits as u32) })
            }
        }
    }
}

/// The pcs of a variable's scope, at which debuggers look for the variable.
#[derive(Debug)]
pub(super) struct ScopePcs(Vec<Range<u64>>);

impl ScopePcs {
    pub fn new(module: &Module, variable: VariableId) -> Self {
        let scope = module.variables.get(variable).map(|data| data.scope);
        let mut pcs = scope.map(|scope| module.ranges(scope).to_vec()).unwrap_or_default();
        if pcs.is_empty() {
            // A function, or a block without pcs of its own.
            pcs.push(0..u64::MAX);
        }
        pcs.sort_unstable_by_key(|pcs| pcs.start);
        Self(pcs)
    }

    /// Returns a range without the pcs before the scope's first pc in it, and after the last. Pcs between stay, because a
    /// range that is not divided takes fewer bytes.
    pub fn within(&self, pcs: Range<u64>) -> Option<Range<u64>> {
        let first = self.0.partition_point(|own| own.end <= pcs.start);
        let end = self.0.partition_point(|own| own.start < pcs.end);
        let met = self.0.get(first..end)?;
        Some(met.first()?.start.max(pcs.start)..met.last()?.end.min(pcs.end))
    }

    /// Whether the scope has a pc.
    pub fn contains(&self, pc: u64) -> bool {
        self.within(pc..pc + 1).is_some()
    }
}

#[derive(Debug)]
enum Piece {
    Stored(Storage, i64),
    Constant(Vec<u8>),
    Nothing,
}
