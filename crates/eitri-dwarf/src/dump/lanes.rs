//! Positions of a wave's lanes at consecutive stops.
//!
//! ```text
//! function `weigh`, 32 lanes
//! pc       line        0        8        16       24
//! 0x10004  weigh.cl:2  ######## ######## ######## ####....
//! 0x10008  weigh.cl:2  ##aa##aa ##aa##aa ##aa##aa ##aa....
//! 0x10014  weigh.cl:3  bb##bb## bb##bb## bb##bb## bb##....
//! #  active
//! a  waits at 0x10004, weigh.cl:2
//! b  waits at 0x1001c, weigh.cl:4
//! .  nowhere: not active when the function was entered, or not known
//! ```

use core::fmt;
use std::collections::{BTreeMap, BTreeSet};

use super::steps::table;
use crate::error::{At, Count, Error, Result};
use crate::eval::{Architecture, CallStack, DebugInfo, Frame, Machine};
use crate::read::{Dwarf, Entry, FrameSection, LineRow, Unit};

/// Number of lanes in a group, in rows and columns.
pub(super) const GROUP: usize = 8;
/// Maximum number of lanes: a mask has 64 bits.
const MOST_LANES: u64 = 64;

/// Lane position.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum Standing {
    /// Active: the lane executes the wave's current instruction.
    Active,
    /// Waiting at an address.
    Waits(u64),
    /// Lane without a position: not active when the function was entered, or its position is unknown to the
    /// object.
    Nowhere,
}

/// Lane positions in a stopped wave.
///
/// Exhaustive: a literal names all fields.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LaneStop {
    /// The pc at which the function resumes, which is the position of its active lanes.
    pub pc: u64,
    /// Each lane's position, or the reason why the positions are unknown.
    pub lanes: Result<Vec<Standing>, String>,
}

/// A position in the source.
///
/// Exhaustive: a literal names all fields.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct SourcePosition {
    /// File path in the line table.
    pub file: String,
    /// Line, counted from 1.
    pub line: u64,
}

/// Positions of a wave's lanes at consecutive stops, printed as a table with a character for each lane.
///
/// Exhaustive: a literal names all fields.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Lanes {
    /// Function name.
    pub function: String,
    /// Number of lanes.
    pub lanes: u32,
    /// The stops, in the given order.
    pub stops: Vec<LaneStop>,
    /// Addresses at which lanes wait, in ascending order.
    pub places: Vec<u64>,
    /// Source lines at these addresses and pcs, if the line table has them.
    pub lines: BTreeMap<u64, SourcePosition>,
}

/// Finds the positions of a wave's lanes at each stop.
///
/// The positions are the values that `DW_AT_LLVM_lane_pc` has in a function's innermost frame. The function is the
/// named function, or else the innermost function at the first stop. The file's call frame information provides the
/// frames. Inlined calls belong to the function.
///
/// A lane is active if `DW_AT_LLVM_active_lane` contains it; without this attribute, if its position is the pc.
///
/// # Errors
/// [`BadArgument`](crate::error::ErrorKind::BadArgument) without a stop; for a stop without a pc or outside the
/// function; for a function without `DW_AT_LLVM_lane_pc`, or with more than 64 lanes. If an attribute cannot be
/// evaluated at a stop, the error belongs to that stop alone. [`Malformed`](crate::error::ErrorKind::Malformed) and
/// related errors if the line table cannot be read.
pub fn lanes(
    info: &DebugInfo<'_, '_>,
    function: Option<&str>,
    machines: &[&dyn Machine],
    target: &dyn Architecture,
) -> Result<Lanes> {
    let dwarf = info.dwarf();
    let sections = [FrameSection::Debug, FrameSection::Eh];
    let sections: Vec<_> = sections.into_iter().map(|it| dwarf.frames_of_code(it)).collect();
    let mut whose: Option<(Entry<'_, '_>, u64)> = None;
    let mut stops = Vec::with_capacity(machines.len());
    for (index, &machine) in machines.iter().enumerate() {
        let stack = CallStack::new(machine, &sections, target).with_debug_info(info);
        let of_stop = |problem: String| Error::bad_argument(format!("stop {}: {problem}", index + 1));
        let is_meant = |entry: Entry<'_, '_>| match (whose, function) {
            (Some((known, _)), _) => entry == known,
            (None, Some(name)) => entry.name().as_deref() == Some(name),
            (None, None) => true,
        };
        let (frame, entry) = frame_of(&stack, info, is_meant).map_err(|problem| {
            let place = whose.map(|(entry, _)| entry.place());
            of_stop(problem)
                .or_at(place.unwrap_or_else(|| At { function: function.map(Into::into), ..At::default() }))
        })?;
        let refused = |problem: String| of_stop(problem).or_at(entry.place());
        let lanes = frame.lanes();
        let (_, before) = *whose.get_or_insert((entry, lanes));
        if info.lane_pc(frame.pc()).is_none() {
            return Err(refused("the function has no DW_AT_LLVM_lane_pc".into()));
        }
        match () {
            () if lanes > MOST_LANES => {
                let problem = format!("too many lanes for a figure: {lanes}; expected at most {MOST_LANES}");
                return Err(refused(problem));
            }
            () if lanes != before => {
                return Err(refused(format!(
                    "the wave has {lanes}; expected {before}, as at the stop before",
                    lanes = Count(lanes, "lane")
                )));
            }
            () => {}
        }
        let lanes = standing(&frame, lanes as u32).map_err(|fault| fault.to_string());
        stops.push(LaneStop { pc: frame.resumes_at(), lanes });
    }
    let Some((entry, lanes)) = whose else {
        return Err(Error::bad_argument("there is no stop; expected at least one"));
    };
    let waits = |standing: &Standing| match *standing {
        Standing::Waits(pc) => Some(pc),
        Standing::Active | Standing::Nowhere => None,
    };
    let places: BTreeSet<u64> =
        stops.iter().filter_map(|stop| stop.lanes.as_ref().ok()).flatten().filter_map(waits).collect();
    let pcs = stops.iter().map(|stop| stop.pc).chain(places.iter().copied()).collect();
    let lines = lines(dwarf, entry.unit(), &pcs).map_err(|error| error.or_at(entry.place()))?;
    let function = entry.name().map_or_else(|| format!("@{:#x}", entry.offset()), Into::into);
    Ok(Lanes { function, lanes: lanes as u32, stops, places: places.into_iter().collect(), lines })
}

/// Returns the selected function's innermost frame.
fn frame_of<'s, 'a, 'o>(
    stack: &'s CallStack<'a, 'o>,
    info: &DebugInfo<'a, 'o>,
    is_meant: impl Fn(Entry<'a, 'o>) -> bool,
) -> Result<(Frame<'s, 'a, 'o>, Entry<'a, 'o>), String> {
    let mut outermost = None;
    for frame in stack.frames() {
        let frame = frame.map_err(|fault| match outermost {
            None => fault.to_string(),
            Some(pc) => {
                format!("the wave is not in the function at {pc:#x}, and its caller is unknown: {fault}")
            }
        })?;
        match info.subprogram(frame.pc()) {
            Some(entry) if is_meant(entry) => return Ok((frame, entry)),
            _ => outermost = Some(frame.pc()),
        }
    }
    let pc = outermost.unwrap_or_default();
    Err(format!("no frame of the wave is in the function: the outermost pc is {pc:#x}"))
}

/// Returns each lane's position in a frame.
fn standing(frame: &Frame<'_, '_, '_>, lanes: u32) -> Result<Vec<Standing>, String> {
    let pc = frame.resumes_at();
    let active = frame.active_lanes().map_err(|fault| format!("active lanes: {fault}"))?;
    let mask = active.and_then(|mask| mask.as_u64());
    let standing = |lane| {
        let lane_pc = frame.lane_pc(lane).map_err(|fault| format!("lane {lane}: {fault}"))?;
        let is_active = mask.map_or(lane_pc == Some(pc), |mask| mask >> lane & 1 == 1);
        match (is_active, lane_pc) {
            (true, Some(lane_pc)) if lane_pc == pc => Ok(Standing::Active),
            (true, Some(lane_pc)) => {
                Err(format!("lane {lane} is active at pc {lane_pc:#x}; expected the frame's pc, {pc:#x}"))
            }
            (true, None) => {
                Err(format!("lane {lane} is active at an undefined pc; expected the frame's pc, {pc:#x}"))
            }
            (false, Some(lane_pc)) => Ok(Standing::Waits(lane_pc)),
            (false, None) => Ok(Standing::Nowhere),
        }
    };
    (0..lanes).map(standing).collect()
}

/// Returns a unit's source lines for these pcs.
fn lines(dwarf: &Dwarf<'_>, unit: &Unit<'_>, pcs: &BTreeSet<u64>) -> Result<BTreeMap<u64, SourcePosition>> {
    let mut lines = BTreeMap::new();
    let Some(program) = dwarf.lines(unit)? else { return Ok(lines) };
    let mut before: Option<LineRow> = None;
    for row in program.rows() {
        let row = row?;
        if let Some(from) = before.filter(|from| !from.end_sequence && from.address < row.address) {
            for &pc in pcs.range(from.address..row.address) {
                match program.path(from.file).filter(|_| from.line > 0) {
                    Some(file) => lines.insert(pc, SourcePosition { file: file.into(), line: from.line }),
                    None => lines.remove(&pc),
                };
            }
        }
        before = Some(row);
    }
    Ok(lines)
}

impl Lanes {
    /// Returns the character for a lane: letters number the locations, and `?` stands for every location after the
    /// 52nd.
    pub fn mark(&self, standing: Standing) -> char {
        match standing {
            Standing::Active => '#',
            Standing::Waits(pc) => match self.places.binary_search(&pc) {
                Ok(index @ 0..26) => char::from(b'a' + index as u8),
                Ok(index @ 26..52) => char::from(b'A' + (index - 26) as u8),
                _ => '?',
            },
            Standing::Nowhere => '.',
        }
    }

    /// Describes each character.
    pub(super) fn legend(&self) -> Vec<(Standing, String)> {
        let waits = self.places.iter().map(|&pc| {
            let line = self.lines.get(&pc).map_or_else(String::new, |line| format!(", {line}"));
            (Standing::Waits(pc), format!("waits at {pc:#x}{line}"))
        });
        let mut legend = vec![(Standing::Active, "active".to_owned())];
        legend.extend(waits);
        legend.push((Standing::Nowhere, "nowhere: not active on entry to the function, or unknown".into()));
        legend
    }

    /// Returns the table's title.
    pub(super) fn title(&self) -> String {
        format!("function `{}`, {}", self.function, Count(self.lanes, "lane"))
    }
}

impl fmt::Display for SourcePosition {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}", self.file, self.line)
    }
}

impl fmt::Display for Lanes {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let cell = |text: String| vec![text];
        let numbers = (0..self.lanes).step_by(GROUP).map(|lane| format!("{lane:<width$}", width = GROUP + 1));
        let mut rows = vec![["pc".to_owned(), "line".to_owned(), numbers.collect()].map(cell)];
        for stop in &self.stops {
            let marks = match &stop.lanes {
                Ok(lanes) => {
                    let group = |group: &[Standing]| group.iter().map(|&lane| self.mark(lane)).collect();
                    lanes.chunks(GROUP).map(group).collect::<Vec<String>>().join(" ")
                }
                Err(fault) => format!("fault: {fault}"),
            };
            let line = self.lines.get(&stop.pc).map_or_else(|| "-".into(), SourcePosition::to_string);
            rows.push([format!("{:#x}", stop.pc), line, marks].map(cell));
        }
        writeln!(f, "{}", self.title())?;
        table(f, &rows)?;
        for (standing, meaning) in self.legend() {
            writeln!(f, "{}  {meaning}", self.mark(standing))?;
        }
        Ok(())
    }
}
