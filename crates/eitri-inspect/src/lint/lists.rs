//! Findings about location list entries: their pcs, and PTX registers without a machine register.

use std::ops::Range;

use smallvec::SmallVec;

use super::codes::LintCode;
use super::details::Details;
use super::file::{Architecture, File, Function};
use super::places::Diagnosed;
use super::shape::{LocationShape, Shape};
use eitri_dwarf::read::ListEntry;
use eitri_dwarf::read::nvidia::RegisterHome;

/// Returns the findings about a location entry that do not depend on its variable. `constants` contains the constants
/// in the list's earlier entries; the function adds this entry's constant.
#[inline]
pub(super) fn findings(
    file: &File<'_, '_>,
    function: Option<&Function<'_, '_>>,
    entry: &ListEntry<'_>,
    shape: &Shape,
    constants: &mut Constants,
) -> [Option<Diagnosed>; 3] {
    let register = |pcs| register(file, function, shape, pcs);
    if entry.is_default() {
        return [None, None, register(None)];
    }
    let pcs = entry.start..entry.end;
    let contradiction = constants.contradiction(file, &pcs, shape);
    constants.add(&pcs, shape);
    [range(file, function, (pcs.start, pcs.end)), contradiction, register(Some(&pcs))]
}

/// Returns the finding about an entry's pcs.
fn range(
    file: &File<'_, '_>,
    function: Option<&Function<'_, '_>>,
    (start, end): (u64, u64),
) -> Option<Diagnosed> {
    let notation = file.object.pc_notation();
    let diagnosed = |code, evidence: Option<String>| {
        let [from, to] = [start, end].map(|pc| notation.pc(pc));
        let details = Details::new(format!("pcs from {from} to {to}")).evidence(evidence);
        Some(Diagnosed::new(code, details))
    };
    if end < start {
        return diagnosed(LintCode::ReversedRange, None);
    }
    let function = function.filter(|function| function.is_live)?;
    if start == end || function.ranges.overlap(&(start..end)) > 0 {
        return None;
    }
    let own = function.ranges.iter().take(MOST_RANGES);
    let own: Vec<_> = own.map(|range| notation.pcs(range).to_string()).collect();
    let more = match function.ranges.len() - own.len() {
        0 => String::new(),
        more => format!(", and {more} more"),
    };
    let own = format!("the function has {}{more}", own.join(", "));
    let code =
        if file.is_described(start) { LintCode::ForeignRange } else { LintCode::RangeOutsideFunctions };
    diagnosed(code, Some(own))
}

/// Limit on a function's ranges that a finding lists.
const MOST_RANGES: usize = 8;

/// Limit on constants in a list that an entry is compared with.
const MOST_CONSTANTS: usize = 1 << 10;

/// List entries whose values are constants.
#[derive(Debug, Default)]
pub(super) struct Constants(SmallVec<[(Range<u64>, u64); 2]>);

impl Constants {
    #[inline]
    fn add(&mut self, pcs: &Range<u64>, shape: &Shape) {
        if let Some(value) = shape.constant().filter(|_| self.0.len() < MOST_CONSTANTS) {
            self.0.push((pcs.clone(), value));
        }
    }

    /// Returns the finding about an entry that contradicts one before.
    #[inline]
    fn contradiction(&self, file: &File<'_, '_>, pcs: &Range<u64>, shape: &Shape) -> Option<Diagnosed> {
        if self.0.is_empty() {
            return None;
        }
        let value = shape.constant()?;
        let common = |other: &Range<u64>| pcs.start.max(other.start)..pcs.end.min(other.end);
        let (other, first) =
            self.0.iter().find(|(other, first)| !common(other).is_empty() && *first != value)?;
        let values = format!("the values {} and {} at the same pc", *first as i64, value as i64);
        let common = common(other);
        let pcs = file.object.pc_notation().pcs(&common);
        let details = Details::new(values).evidence([format!("both entries have the pcs {pcs}")]);
        Some(Diagnosed::new(LintCode::ContradictingOverlap, details))
    }
}

/// Returns the finding about a PTX register without a machine register.
fn register(
    file: &File<'_, '_>,
    function: Option<&Function<'_, '_>>,
    shape: &Shape,
    pcs: Option<&Range<u64>>,
) -> Option<Diagnosed> {
    // No debugger asks for a location at the pcs in an empty range.
    let is_empty = pcs.is_some_and(Range::is_empty);
    if file.architecture != Architecture::Nvidia || file.registers.functions.is_empty() || is_empty {
        return None;
    }
    let function = function?;
    let map = file.registers.function_at(function.start())?;
    let part = shape.parts.iter().find(|part| matches!(part.place, LocationShape::Register(..)))?;
    let LocationShape::Register(reg, _) = part.place else { return None };
    let target = file.target.as_ref()?;
    // Only PTX register names have a percent sign. Machine registers need no map.
    let name = target.register(reg)?.name().to_string();
    if !name.starts_with('%') {
        return None;
    }
    let start = function.start();
    let homes: Vec<_> = map.homes_of_words(name.as_bytes()).collect();
    // A home's last pc is its last reader, which still finds the value there.
    let is_there = |home: &&&RegisterHome<'_>| {
        let pc = |offset: u32| start.saturating_add(offset.into());
        let home = pc(home.start)..=pc(home.end);
        pcs.is_none_or(|pcs| pcs.start <= *home.end() && *home.start() < pcs.end)
    };
    if homes.iter().any(|home| is_there(&home)) {
        return None;
    }
    let mut evidence: Vec<_> = homes
        .iter()
        .take(4)
        .map(|home| {
            let pc = |offset: u32| start.saturating_add(offset.into());
            let pcs = file.object.pc_notation().pcs_to_last(pc(home.start), pc(home.end));
            format!("the map has {name} in {} at {pcs}", home.home)
        })
        .collect();
    if evidence.is_empty() {
        evidence.push(format!("the map has no register for {name}"));
    }
    let details = Details::new(format!("the PTX register {name}")).evidence(evidence);
    Some(Diagnosed {
        operations: part.operations.clone(),
        ..Diagnosed::new(LintCode::RegisterNotThere, details)
    })
}
