//! The result as the reader reads it, compared with what stays of the original.

use std::borrow::Cow;

use gimli::constants as dw;
use hashbrown::HashMap;

use super::copies::Gone;
use super::kept::{Part, is_code};
use super::lines::Program;
use super::maps::{self, Map};
use super::read::{FRAMES, INFO, LINES, PTX_LINES, Read};
use super::same::are_same_lists;
use super::texts;
use crate::error::{Error, ErrorKind, Result};
use crate::import::EqualTypes;
use crate::read::{
    Dwarf, Entry, FrameSection, InlinedRow, LineProgram, LineRow, Object, ReadOptions, ResolvedValue, nvidia,
};

/// Compares a result with what stays of the original.
///
/// # Errors
/// A fact that differs, with its offset in the original; the errors of the readers.
pub(super) fn compare(
    read: &Read<'_, '_>,
    parts: &[Part],
    equal: &EqualTypes,
    gone: &Gone,
    after: &Object<'_>,
) -> Result<()> {
    if let Some(error) = after.errors().first() {
        return Err(error.clone());
    }
    let dwarf = Dwarf::read_with(after, &ReadOptions::new().readable())?;
    if let Some(error) = dwarf.errors().first() {
        return Err(error.clone());
    }
    let before = nvidia::lines(read.object).zip(&read.programs[0]);
    let programs = rows(LINES, before, nvidia::lines(after), str::to_owned)?;
    let before = nvidia::ptx_lines(read.object).zip(&read.programs[1]);
    let texts = texts::repeated(read.sections);
    let name = |path: &str| {
        let known = texts.get(path.as_bytes()).copied();
        String::from_utf8_lossy(known.unwrap_or(path.as_bytes())).into_owned()
    };
    rows(PTX_LINES, before, nvidia::ptx_lines(after), name)?;
    entries(read.dwarf, parts, equal, &dwarf, &programs)?;
    frames(read, &dwarf)?;
    let stay = read.maps.iter().zip(0..).filter(|(_, index)| gone.maps.binary_search(index).is_err());
    let new = maps::maps(after)?;
    let is_same = |(before, after): (&Map<'_>, &Map<'_>)| {
        before.function.name == after.function.name && before.is_same(after)
    };
    let stay: Vec<&Map<'_>> = stay.map(|(map, _)| map).collect();
    if stay.len() != new.len() || !stay.into_iter().zip(&new).all(is_same) {
        return Err(differs(maps::HOMES, 0));
    }
    Ok(())
}

fn differs(section: &str, offset: u64) -> Error {
    let text = "the rewritten cubin differs from the original".to_owned();
    Error::from(ErrorKind::Unsupported(text)).in_section(section).at_offset(offset)
}

/// Compares the entries that stay.
fn entries(
    before: &Dwarf<'_>,
    parts: &[Part],
    equal: &EqualTypes,
    after: &Dwarf<'_>,
    programs: &Programs,
) -> Result<()> {
    // Index of each entry that stays in the result.
    let mut numbers = vec![None; parts.len()];
    let mut count = 0;
    for (number, part) in numbers.iter_mut().zip(parts) {
        if *part != Part::Nothing {
            *number = Some(count);
            count += 1;
        }
    }
    for index in 0..parts.len() {
        if let Some(first) = equal.first(index) {
            numbers[index] = numbers[first];
        }
    }
    let stay = before.entries().filter(|entry| parts[entry.index()] != Part::Nothing);
    if after.entries().len() != count {
        return Err(differs(INFO, 0));
    }
    for (left, right) in stay.zip(after.entries()) {
        let is_without_code = parts[left.index()] == Part::WithoutCode;
        let is_here = |name: gimli::DwAt| name != dw::DW_AT_sibling && !(is_without_code && is_code(name));
        let mut others = right.attributes();
        let is_same = left.tag() == right.tag()
            && left.depth() == right.depth()
            && left.attributes().filter(|it| is_here(it.name)).all(|one| {
                others.next().is_some_and(|two| {
                    one.name == two.name
                        && is_value((left, one.value), (right, two.value), one.name, (&numbers, programs))
                })
            })
            && others.next().is_none();
        if !is_same {
            return Err(differs(INFO, left.offset()));
        }
    }
    Ok(())
}

fn is_value(
    (left, one): (Entry<'_, '_>, ResolvedValue<'_>),
    (right, two): (Entry<'_, '_>, ResolvedValue<'_>),
    name: gimli::DwAt,
    (numbers, programs): (&[Option<usize>], &Programs),
) -> bool {
    match (one, two) {
        (ResolvedValue::Reference(_), ResolvedValue::Reference(_)) => {
            let one = left.referred(one).and_then(|entry| numbers[entry.index()]);
            one.is_some() && one == right.referred(two).map(|entry| entry.index())
        }
        (ResolvedValue::LocList(_), ResolvedValue::LocList(_)) => {
            match (left.locations(name), right.locations(name)) {
                (Ok(one), Ok(two)) => are_same_lists(one.as_deref(), two.as_deref()),
                _ => false,
            }
        }
        (ResolvedValue::RngList(_), ResolvedValue::RngList(_)) => {
            matches!((left.ranges(), right.ranges()), (Ok(one), Ok(two)) if one == two)
        }
        // A program without rows has no other facts.
        (ResolvedValue::LineProgram(one), ResolvedValue::LineProgram(two)) => {
            programs.get(&one).is_none_or(|&moved| moved == two)
        }
        (one, two) => one == two,
    }
}

/// A row, with the names of its functions instead of their offsets.
type RowFacts<'o> = (LineRow, [Option<Cow<'o, str>>; 2]);

/// Offsets of programs in the original and in the result.
type Programs = HashMap<u64, u64>;

/// Compares the rows that stay, with their files. A program without rows need not be in the result.
/// `names` returns the name that a file has in the result.
fn rows<'b, 'a, 'p>(
    section: &str,
    before: impl Iterator<Item = (Result<LineProgram<'b>>, &'p Program<'p>)>,
    mut after: impl Iterator<Item = Result<LineProgram<'a>>>,
    names: impl Fn(&str) -> String,
) -> Result<Programs> {
    let mut programs = Programs::default();
    let mut next = || -> Result<Option<LineProgram<'a>>> {
        for program in after.by_ref() {
            let program = program?;
            if program.rows().next_row()?.is_some() {
                return Ok(Some(program));
            }
        }
        Ok(None)
    };
    for (left, parts) in before {
        let left = left?;
        if !parts.sequences.iter().any(|sequence| sequence.start.is_some()) {
            continue;
        }
        let right = next()?.ok_or_else(|| differs(section, left.offset))?;
        let stay: Vec<bool> = parts.sequences.iter().map(|sequence| sequence.start.is_some()).collect();
        let paths = |program: &LineProgram<'_>| -> Vec<String> {
            let paths = (1..=program.files.len() as u64).filter_map(|number| program.path(number));
            paths.map(|path| names(&path)).collect()
        };
        if facts(&left, &stay)? != facts(&right, &[])? || paths(&left) != paths(&right) {
            return Err(differs(section, left.offset));
        }
        programs.insert(left.offset, right.offset);
    }
    match next()? {
        None => Ok(programs),
        Some(extra) => Err(differs(section, extra.offset)),
    }
}

/// Returns the rows of sequences that stay; of all sequences that `stay` does not have.
fn facts<'o>(program: &LineProgram<'o>, stay: &[bool]) -> Result<Vec<RowFacts<'o>>> {
    let mut facts = Vec::new();
    let mut number = 0;
    let mut rows = program.rows();
    while let Some(&(mut row)) = rows.next_row()? {
        if stay.get(number) != Some(&false) {
            let name = |offset| program.function_name(offset);
            let names = [row.inlined.and_then(|it| name(it.name)), row.function.and_then(name)];
            row.inlined = row.inlined.map(|inlined| InlinedRow { name: 0, ..inlined });
            row.function = row.function.map(|_| 0);
            facts.push((row, names));
        }
        number += usize::from(row.end_sequence);
    }
    Ok(facts)
}

/// Compares the frames that stay: their instructions, and those of their common entries.
fn frames(read: &Read<'_, '_>, after: &Dwarf<'_>) -> Result<()> {
    let Some(from) = read.section(FRAMES) else { return Ok(()) };
    let before = read.frames()?;
    let new = after.frames(FrameSection::Debug)?;
    let mut others = new.fdes.iter();
    for left in before.fdes.iter().filter(|fde| super::frames::is_kept(&from, fde)) {
        let is_same = others.next().is_some_and(|right| {
            let [one, two] = [before.cie(left), new.cie(right)];
            (left.start, left.length, left.instructions.bytes)
                == (right.start, right.length, right.instructions.bytes)
                && one.instructions.bytes == two.instructions.bytes
                && (one.version, one.encoding, one.code_alignment)
                    == (two.version, two.encoding, two.code_alignment)
                && (one.data_alignment, one.return_register) == (two.data_alignment, two.return_register)
        });
        if !is_same {
            return Err(differs(FRAMES, left.offset));
        }
    }
    if others.next().is_some() { Err(differs(FRAMES, 0)) } else { Ok(()) }
}
