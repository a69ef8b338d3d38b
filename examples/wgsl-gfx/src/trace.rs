//! Variables of one lane, line by line, as a debugger shows them: from the object's DWARF and the machine's storage alone.

use std::fmt::Write;

use eitri::eval::{Context, DebugInfo, Evaluator, WithDebugInfo, read_bits};
use eitri::gimli;
use eitri::op::Encoding;
use eitri::read::{Entry, ListEntry};
use eitri::target::Target;

use crate::Compiled;
use crate::front::Source;
use crate::input::{Input, items, waves};
use crate::prove::{Prover, with_debug_info};
use crate::sim::Wave;
use crate::stopped::Stopped;

/// Statements and calls of the lane that are printed at most.
const MOST_LINES: usize = 400;

/// Runs the first group, and returns the lines that a lane comes to, with its variables there.
///
/// # Errors
/// A lane that the group does not have, and debug information that cannot be read.
pub fn trace(source: &Source, compiled: &Compiled<'_>, lane: u32) -> Result<String, String> {
    with_debug_info(compiled, |info| traced(source, compiled, lane, info))
}

fn traced(
    source: &Source,
    compiled: &Compiled<'_>,
    lane: u32,
    info: &DebugInfo<'_, '_>,
) -> Result<String, String> {
    let text = |error: eitri::Error| error.to_string();
    let mut prover = Prover::new(source, compiled, info)?;
    let dwarf = info.dwarf();
    let base = prover.base();
    let program = prover.program();
    let gpu = crate::debug::target().map_err(text)?;
    // The line at each pc at which a statement begins.
    let mut lines: Vec<(u64, u64)> = Vec::new();
    for unit in dwarf.units() {
        let Some(rows) = dwarf.lines(unit).map_err(text)? else { continue };
        for row in rows.rows() {
            let row = row.map_err(text)?;
            if row.is_stmt && !row.end_sequence && row.line > 0 {
                lines.push((row.address - base, row.line));
            }
        }
    }
    lines.sort_unstable();
    let mut shared = Input::random(source, compiled, 1).memory(source, compiled);
    let mut waves = waves(source, [0; 3], &mut shared);
    let of = lane as usize / 32;
    let within = lane % 32;
    let count = items(source).len();
    if lane as usize >= count {
        return Err(format!("a group has {count} lanes: lane {lane}"));
    }
    let look = Look { info, gpu: &gpu, base, lane: within };
    let mut out = String::new();
    let mut last = None;
    let mut count = 0;
    program.run(&mut waves, &mut shared, |n, wave, _| {
        let at = if n == of { prover.lane_pcs(wave)?[within as usize] } else { None };
        // A lane that waits stays where it is.
        if let Some(at) = at.filter(|at| last != Some(*at)) {
            last = Some(at);
            if let Ok(row) = lines.binary_search_by_key(&at, |line| line.0) {
                let line = lines[row].1;
                let text = source.text.lines().nth(line as usize - 1).unwrap_or("").trim();
                _ = writeln!(out, "{line:>4} {at:#06x}  {text}");
                look.variables(wave, at, &mut out)?;
                count += 1;
            }
        }
        Ok(count < MOST_LINES)
    })?;
    Ok(out)
}

/// A debugger that is stopped in one lane.
struct Look<'a> {
    info: &'a DebugInfo<'a, 'a>,
    gpu: &'a Target,
    base: u64,
    lane: u32,
}

impl Look<'_> {
    /// The variables in scope at a pc, and their values.
    fn variables(&self, wave: &Wave, at: u64, out: &mut String) -> Result<(), String> {
        let machine = Stopped::new(wave, self.base, at, Some(self.lane));
        let mut shown = Vec::new();
        for entry in self.info.dwarf().entries() {
            let is_variable = matches!(entry.tag(), gimli::DW_TAG_variable | gimli::DW_TAG_formal_parameter);
            if !is_variable || !self.is_in_scope(entry, self.base + at)? {
                continue;
            }
            let (Some(name), Some(ty)) = (entry.name(), entry.ty()) else { continue };
            shown.push(match self.value(&machine, entry, ty, self.base + at)? {
                Some(bytes) => format!("{name} = {}", show(ty, &bytes)),
                None => format!("{name} = ?"),
            });
        }
        if !shown.is_empty() {
            _ = writeln!(out, "             {}", shown.join("  "));
        }
        Ok(())
    }

    fn is_in_scope(&self, entry: Entry<'_, '_>, pc: u64) -> Result<bool, String> {
        let Some(parent) = entry.parent() else { return Ok(false) };
        let ranges = parent.ranges().map_err(|error| error.to_string())?;
        Ok(ranges.iter().any(|range| range.contains(&pc)))
    }

    fn value(
        &self,
        machine: &Stopped<'_>,
        entry: Entry<'_, '_>,
        ty: Entry<'_, '_>,
        pc: u64,
    ) -> Result<Option<Vec<Option<u8>>>, String> {
        let text = |error: eitri::Error| error.to_string();
        let Some(list) = entry.locations(gimli::DW_AT_location).map_err(text)? else { return Ok(None) };
        let bits = ty.size_bits().unwrap_or(0);
        let encoding = Encoding::new(8, entry.unit().encoding.dialect);
        let context = Context::new(encoding, self.gpu).with_unit(entry.unit().offset);
        let whole = WithDebugInfo::new(self.info, machine, context);
        let here = |one: &&ListEntry<'_>| one.is_default() || (one.start..one.end).contains(&pc);
        let Some(one) = list.iter().find(here) else { return Ok(None) };
        let place = Evaluator::new().location(one.expr, &whole, &context);
        let place = place.map_err(|fault| fault.to_string())?;
        // Each dword by itself: some may be nowhere, and memory that lanes share is not the wave's.
        let dwords = (0..bits.div_ceil(32)).map(|n| {
            let read = place.clone().moved(32 * i128::from(n)).and_then(|at| read_bits(&at, 32, &whole));
            read.ok().filter(|read| read.defined.iter().all(|&byte| byte == 0xff)).map(|read| read.bytes)
        });
        let bytes: Vec<Option<u8>> = dwords
            .flat_map(|dword| (0..4).map(move |n| dword.as_ref().and_then(|bytes| bytes.get(n).copied())))
            .collect();
        Ok(bytes.iter().any(Option::is_some).then_some(bytes))
    }
}

/// The text of a value.
fn show(ty: Entry<'_, '_>, bytes: &[Option<u8>]) -> String {
    let size = |ty: Entry<'_, '_>| ty.size_bits().unwrap_or(0) as usize / 8;
    let part = |at: usize, ty: Entry<'_, '_>| match bytes.get(at..at + size(ty)) {
        Some(bytes) => show(ty, bytes),
        None => "?".into(),
    };
    match ty.tag() {
        gimli::DW_TAG_structure_type => {
            let members = ty.children().filter_map(|member| {
                let at = member.number(gimli::DW_AT_data_member_location).unwrap_or(0) as usize;
                Some(format!("{}: {}", member.name()?, part(at, member.ty()?)))
            });
            format!("{{{}}}", members.collect::<Vec<_>>().join(", "))
        }
        gimli::DW_TAG_array_type => {
            let Some(of) = ty.ty() else { return "?".into() };
            let step = ty.number(gimli::DW_AT_byte_stride).map_or(size(of), |step| step as usize).max(1);
            let all: Vec<String> = (0..bytes.len() / step).map(|n| part(n * step, of)).collect();
            format!("[{}]", all.join(", "))
        }
        _ => {
            let Some(word) = bytes.first_chunk().and_then(|&[a, b, c, d]| Some([a?, b?, c?, d?])) else {
                return "?".into();
            };
            let word = u32::from_le_bytes(word);
            match ty.number(gimli::DW_AT_encoding).map(|number| gimli::DwAte(number as u8)) {
                Some(gimli::DW_ATE_float) => format!("{:?}", f32::from_bits(word)),
                Some(gimli::DW_ATE_signed) => (word as i32).to_string(),
                Some(gimli::DW_ATE_boolean) => (word != 0).to_string(),
                _ => word.to_string(),
            }
        }
    }
}
