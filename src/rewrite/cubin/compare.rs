//! The result as the reader reads it, compared with what stays of the original.

use core::fmt::Display;
use std::borrow::Cow;

use gimli::constants as dw;
use hashbrown::HashMap;

use super::copies::Gone;
use super::kept::{Part, is_code};
use super::lines::Program;
use super::maps::{self, Map};
use super::names::{FRAMES, INFO, LINES, PTX_LINES};
use super::read::{self, Read};
use super::same::are_same_lists;
use super::texts;
use crate::error::{Count, Error, ErrorKind, Result};
use crate::import::EqualTypes;
use crate::read::{
    Attribute, Cie, Dwarf, Entry, Fde, FrameSection, InlinedRow, LineProgram, LineRow, Object, PcNotation,
    ResolvedValue, nvidia,
};

/// Compares a result with what stays of the original.
///
/// # Errors
/// A fact that differs, with its offset in the original; the errors of the readers.
pub(super) fn compare(
    original: &Read<'_, '_>,
    parts: &[Part],
    equal: &EqualTypes,
    gone: &Gone,
    after: &Object<'_>,
) -> Result<()> {
    let dwarf = read::entries(after)?;
    let before = nvidia::lines(original.object).zip(&original.programs[0]);
    let pcs = after.pc_notation();
    let programs = rows((LINES, pcs), before, nvidia::lines(after), str::to_owned)?;
    let before = nvidia::ptx_lines(original.object).zip(&original.programs[1]);
    let texts = texts::repeated(original.sections);
    let name = |path: &str| {
        let known = texts.get(path.as_bytes()).copied();
        String::from_utf8_lossy(known.unwrap_or(path.as_bytes())).into_owned()
    };
    rows((PTX_LINES, pcs), before, nvidia::ptx_lines(after), name)?;
    entries(original.dwarf, parts, equal, &dwarf, &programs)?;
    frames(original, &dwarf)?;
    let stay = original.maps.iter().zip(0..).filter(|(_, index)| gone.maps.binary_search(index).is_err());
    let new = maps::maps(after)?;
    let is_same = |before: &Map<'_>, after: &Map<'_>| {
        before.function.name == after.function.name && before.is_same(after)
    };
    let stay: Vec<&Map<'_>> = stay.map(|(map, _)| map).collect();
    let text = |map: &Map<'_>| {
        format!("a map of {} of `{}`", Count(map.function.homes().len(), "home"), map.function.name())
    };
    if let Some((before, after)) = stay.iter().zip(&new).find(|(before, after)| !is_same(before, after)) {
        return Err(differs(maps::HOMES, before.homes.start as u64, text(after), text(before)));
    }
    if stay.len() != new.len() {
        return Err(differs(maps::HOMES, 0, Count(new.len(), "map"), Count(stay.len(), "map")));
    }
    Ok(())
}

/// Error for a fact of the result that is not the original's, with the offset in the original.
fn differs(section: &str, offset: u64, written: impl Display, original: impl Display) -> Error {
    let text = format!("the rewritten cubin has {written}, and the original {original}");
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
        return Err(differs(INFO, 0, Count(after.entries().len(), "entry"), Count(count, "entry")));
    }
    for (left, right) in stay.zip(after.entries()) {
        let is_without_code = parts[left.index()] == Part::WithoutCode;
        let is_here = |name: gimli::DwAt| name != dw::DW_AT_sibling && !(is_without_code && is_code(name));
        let place = |entry: Entry<'_, '_>| format!("{} at depth {}", entry.tag(), entry.depth());
        if (left.tag(), left.depth()) != (right.tag(), right.depth()) {
            return Err(differs(INFO, left.offset(), place(right), place(left)));
        }
        let mut others = right.attributes();
        let text = |it: Option<Attribute<'_>>| match it {
            Some(Attribute { name, value: ResolvedValue::Address(address), .. }) => {
                format!("{name} {}", after.pc_notation().pc(address))
            }
            Some(attribute) => format!("{} {}", attribute.name, attribute.value),
            None => "no further attribute".into(),
        };
        for one in left.attributes().filter(|it| is_here(it.name)) {
            let two = others.next();
            let is_same = two.is_some_and(|two| {
                one.name == two.name
                    && is_value((left, one.value), (right, two.value), one.name, (&numbers, programs))
            });
            if !is_same {
                return Err(differs(INFO, left.offset(), text(two), text(Some(one))));
            }
        }
        if let Some(extra) = others.next() {
            return Err(differs(INFO, left.offset(), text(Some(extra)), text(None)));
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
    (section, pcs): (&str, PcNotation<'_>),
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
        let right = next()?
            .ok_or_else(|| differs(section, left.offset, "no further program", "a program with rows"))?;
        let stay: Vec<bool> = parts.sequences.iter().map(|sequence| sequence.start.is_some()).collect();
        let paths = |program: &LineProgram<'_>| -> Vec<String> {
            let paths = (1..=program.files.len() as u64).filter_map(|number| program.path(number));
            paths.map(|path| names(&path)).collect()
        };
        let [one, two] = [paths(&left), paths(&right)];
        first_difference(&one, &two, |path| format!("file `{path}`"))
            .map_or(Ok(()), |(one, two)| Err(differs(section, left.offset, two, one)))?;
        let [one, two] = [facts(&left, &stay)?, facts(&right, &[])?];
        let text = |(row, _): &RowFacts<'_>| format!("a row at {}, line {}", pcs.pc(row.address), row.line);
        first_difference(&one, &two, text)
            .map_or(Ok(()), |(one, two)| Err(differs(section, left.offset, two, one)))?;
        programs.insert(left.offset, right.offset);
    }
    match next()? {
        None => Ok(programs),
        Some(extra) => Err(differs(
            section,
            extra.offset,
            format!("a program at {:#x}", extra.offset),
            "no further program",
        )),
    }
}

/// Describes the first difference of two lists, in their order; `None` if they are equal.
fn first_difference<T: PartialEq>(
    one: &[T],
    two: &[T],
    text: impl Fn(&T) -> String,
) -> Option<(String, String)> {
    let same = one.iter().zip(two).take_while(|(one, two)| one == two).count();
    let text = |list: &[T]| list.get(same).map_or_else(|| format!("{} facts", list.len()), &text);
    (same != one.len() || same != two.len()).then(|| (text(one), text(two)))
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
    let pcs = after.pc_notation();
    let before = read.frames()?;
    let new = after.frames(FrameSection::Debug)?;
    let mut others = new.fdes.iter();
    for left in super::frames::kept(&from, &before, &read.replaced_frames)? {
        let text = |fde: &Fde<'_>| {
            let bytes = fde.instructions.bytes.len();
            let code = fde.start..fde.start.wrapping_add(fde.length);
            format!("a frame of {} with {} of instructions", pcs.pcs(&code), Count(bytes, "byte"))
        };
        let Some(right) = others.next() else {
            return Err(differs(FRAMES, left.offset, "no further frame", text(left)));
        };
        let [one, two] = [before.cie(left), new.cie(right)];
        let is_same = (left.start, left.length, left.instructions.bytes)
            == (right.start, right.length, right.instructions.bytes);
        if !is_same {
            return Err(differs(FRAMES, left.offset, text(right), text(left)));
        }
        let is_same = one.instructions.bytes == two.instructions.bytes
            && (one.version, one.encoding, one.code_alignment)
                == (two.version, two.encoding, two.code_alignment)
            && (one.data_alignment, one.return_register) == (two.data_alignment, two.return_register);
        if !is_same {
            let text = |cie: &Cie<'_>| format!("the common entry at {:#x} for its frame", cie.offset);
            return Err(differs(FRAMES, left.offset, text(two), text(one)));
        }
    }
    match others.next() {
        Some(extra) => {
            let text = format!("a frame at {}", pcs.pc(extra.start));
            Err(differs(FRAMES, extra.offset, text, "no further frame"))
        }
        None => Ok(()),
    }
}
