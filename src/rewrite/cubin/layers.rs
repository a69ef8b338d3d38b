//! Copies for nvlink. They state the same facts about the same functions as their originals, and both are rewritten alike.

use super::copies::Gone;
use super::lines::Program;
use super::names::{FRAMES, INFO, LINES, PTX_LINES};
use super::read::Read;
use super::{frames, maps};
use crate::emit::elf::CubinSymbol;
use crate::error::{Count, Error, ErrorKind, Result};

/// Refuses copies that differ from their originals in what a rewrite removes and keeps: entries, and functions with rows,
/// frames and maps.
///
/// # Errors
/// [`Unsupported`](ErrorKind::Unsupported) with the section of the first difference.
pub(super) fn agree(
    (originals, gone): (&Read<'_, '_>, &Gone),
    (copies, gone_copies): (&Read<'_, '_>, &Gone),
) -> Result<()> {
    let [one, two] = [originals, copies].map(|it| it.dwarf.entries().len());
    if one != two {
        return Err(differs(INFO, 0, format!("{}", Count(two, "entry")), format!("{}", Count(one, "entry"))));
    }
    for (one, two) in originals.dwarf.entries().zip(copies.dwarf.entries()) {
        let text = |entry: crate::read::Entry<'_, '_>| format!("{} at depth {}", entry.tag(), entry.depth());
        if (one.tag(), one.depth()) != (two.tag(), two.depth()) {
            return Err(differs(INFO, two.offset(), text(two), text(one)));
        }
    }
    let goes = |gone: &Gone| [gone.discarded.clone(), gone.copies.clone()].concat();
    let [one, two] = [goes(gone), goes(gone_copies)];
    if one != two {
        let text = |entries: &[usize]| {
            format!("{} without code in the file", Count(entries.len(), "function entry"))
        };
        return Err(differs(INFO, 0, text(&two), text(&one)));
    }
    let layers = [(originals, gone), (copies, gone_copies)];
    for (index, section) in [LINES, PTX_LINES].into_iter().enumerate() {
        let [one, two] = layers.map(|(read, _)| functions_with_rows(read, &read.programs[index]));
        same(section, "rows", &one, &two)?;
    }
    let [one, two] = layers.map(|(read, _)| functions_with_frames(read));
    same(FRAMES, "a frame", &one?, &two?)?;
    let [one, two] = layers.map(|(read, gone)| {
        let stay = read.maps.iter().enumerate().filter(|(index, _)| gone.maps.binary_search(index).is_err());
        let names = stay.map(|(_, map)| String::from_utf8_lossy(map.function.name).into_owned());
        sorted(names)
    });
    same(maps::HOMES, "a map of registers", &one, &two)
}

fn same(section: &str, what: &str, originals: &[String], copies: &[String]) -> Result<()> {
    if originals == copies {
        return Ok(());
    }
    let index = originals.iter().zip(copies).take_while(|(one, two)| one == two).count();
    let text = |names: &[String]| match names.get(index) {
        Some(name) => format!("{what} of `{name}`"),
        None => format!("{what} of {}", Count(names.len(), "function")),
    };
    Err(differs(section, 0, text(copies), text(originals)))
}

fn sorted(names: impl Iterator<Item = String>) -> Vec<String> {
    let mut names: Vec<String> = names.collect();
    names.sort_unstable();
    names
}

fn functions_with_rows(read: &Read<'_, '_>, programs: &[Program<'_>]) -> Vec<String> {
    let starts = programs.iter().flat_map(|program| &program.sequences).filter_map(|it| it.start);
    sorted(starts.map(|(relocation, _)| {
        match relocation.symbol {
            CubinSymbol::Index(index) => read
                .object
                .symbols()
                .get(index as usize)
                .map_or_else(String::new, |symbol| symbol.name.to_string()),
            CubinSymbol::Section(_) => String::new(),
        }
    }))
}

fn functions_with_frames(read: &Read<'_, '_>) -> Result<Vec<String>> {
    let Some(from) = read.section(FRAMES) else { return Ok(Vec::new()) };
    let frames = read.frames()?;
    let kept = frames::kept(&from, &frames, &read.replaced_frames)?.into_iter();
    let name =
        |start| read.object.symbol_at(start).map_or_else(String::new, |symbol| symbol.name.to_string());
    Ok(sorted(kept.map(|fde| name(fde.start))))
}

fn differs(section: &str, offset: u64, copy: String, original: String) -> Error {
    let text = format!(
        "Mercury copy, from which nvlink makes `{section}`, has {copy}, and the original {original}; expected the same \
         facts in both"
    );
    Error::from(ErrorKind::Unsupported(text)).in_section(&format!(".nv.merc{section}")).at_offset(offset)
}
