//! Copies of functions: which entries and which map are those of the code in the file.
//!
//! nvlink keeps the code of the first object that has a function, or of a later one that needs fewer registers, and
//! concatenates everything else. It redirects the entries of all copies to the kept code. Only the rows and the frames of code
//! that it kept, at least until another copy replaced it, keep their relocation; from sm_100 on, rows of
//! dropped code go, and the homes in its map are 0 or uninitialised.

use gimli::constants as dw;
use hashbrown::{HashMap, HashSet};

use super::lines::Program;
use super::maps::Map;
use super::same::are_same;
use crate::emit::elf::CubinSymbol;
use crate::error::{Error, ErrorKind, Result};
use crate::read::{Dwarf, Entry, Object};

/// A function's entry.
#[derive(Debug, Clone, Copy)]
struct Copy<'d, 'o> {
    entry: Entry<'d, 'o>,
    bytes: u64,
    /// Index of the unit's line program.
    program: Option<usize>,
}

/// Entries and maps that go, in the order of their offsets.
#[derive(Debug, Default)]
pub(super) struct Gone {
    /// Indices of functions whose code is not in the file.
    pub(super) discarded: Vec<usize>,
    /// Indices of functions that the file has, with the code of another copy.
    pub(super) copies: Vec<usize>,
    /// Indices of maps.
    pub(super) maps: Vec<usize>,
}

/// Contents of the file.
pub(super) struct Facts<'d, 'o> {
    pub(super) object: &'d Object<'o>,
    pub(super) dwarf: &'d Dwarf<'o>,
    /// The programs of `.debug_line`.
    pub(super) programs: &'d [Program<'d>],
    pub(super) maps: &'d [Map<'o>],
}

/// Processors from this number on have code that nvlink makes again.
pub(super) const FIRST_WITH_REMADE_CODE: u16 = 100;

/// Code in the file with rows, sorted by its start.
struct Rows {
    /// Start, end, and index of the program.
    code: Vec<(u64, u64, usize)>,
    /// Sizes of code that is not in the file, by program.
    dropped: Vec<Vec<u64>>,
}

impl Rows {
    fn new(facts: &Facts<'_, '_>) -> Self {
        let mut code = Vec::new();
        let mut dropped = vec![Vec::new(); facts.programs.len()];
        for (index, program) in facts.programs.iter().enumerate() {
            for sequence in &program.sequences {
                match sequence.start {
                    Some((relocation, field)) => {
                        let symbol = match relocation.symbol {
                            CubinSymbol::Index(index) => facts.object.symbols().get(index as usize),
                            CubinSymbol::Section(_) => None,
                        };
                        let by = relocation.addend.map_or(field, |addend| addend as u64);
                        let start = symbol.map_or(0, |symbol| symbol.address).wrapping_add(by);
                        code.push((start, start.wrapping_add(sequence.bytes), index));
                    }
                    None => dropped[index].push(sequence.bytes),
                }
            }
        }
        code.sort_unstable();
        Self { code, dropped }
    }

    /// Returns the programs with rows of the code at an address.
    fn programs_at(&self, address: u64) -> impl Iterator<Item = usize> + Clone {
        let end = self.code.partition_point(|&(start, ..)| start <= address);
        let last = end.checked_sub(1).map_or(0, |last| self.code[last].0);
        let start = self.code[..end].partition_point(|&(start, ..)| start < last);
        let at = self.code[start..end].iter().filter(move |&&(start, end, _)| address < end.max(start + 1));
        at.map(|&(.., program)| program)
    }
}

/// Finds what goes.
///
/// # Errors
/// [`Unsupported`](ErrorKind::Unsupported) where the file does not say which copy of a function it has.
pub(super) fn gone(facts: &Facts<'_, '_>) -> Result<Gone> {
    let mut gone = Gone::default();
    let mut by_address: HashMap<u64, Vec<Copy<'_, '_>>> = HashMap::new();
    let mut order = Vec::new();
    // Number of dropped functions by program.
    let mut discarded = vec![0; facts.programs.len()];
    let starts: HashMap<u64, usize> =
        facts.programs.iter().zip(0..).map(|(program, index)| (program.range.start as u64, index)).collect();
    let is_function = |entry: &Entry<'_, '_>| entry.tag() == gimli::DW_TAG_subprogram;
    for entry in facts.dwarf.entries().filter(is_function) {
        let ranges = entry.ranges()?;
        let Some(start) = ranges.first().map(|range| range.start).or_else(|| entry.low_pc()) else {
            continue;
        };
        let program = entry.unit().stmt_list.and_then(|start| starts.get(&start).copied());
        if !ranges.iter().any(|range| facts.dwarf.is_code(range.start)) && !facts.dwarf.is_code(start) {
            gone.discarded.push(entry.index());
            program.into_iter().for_each(|program| discarded[program] += 1);
            continue;
        }
        let bytes = ranges.iter().map(|range| range.end.wrapping_sub(range.start)).sum();
        let copies = by_address.entry(start).or_insert_with(|| {
            order.push(start);
            Vec::new()
        });
        copies.push(Copy { entry, bytes, program });
    }
    let mut maps = MapsByFunction::new(facts.maps);
    let rows = Rows::new(facts);
    for address in order {
        let copies = &by_address[&address];
        let mapped = maps.at(address);
        let kept = winner(facts, &rows, &discarded, address, copies, &mapped)?;
        let others = copies.iter().enumerate().filter(|&(index, _)| kept != Some(index));
        gone.copies.extend(others.map(|(_, copy)| copy.entry.index()));
        let kept_map = match kept {
            None => None,
            Some(kept) if mapped.len() == copies.len() => mapped.get(kept).copied(),
            Some(kept) => map_of(facts, copies[kept], &mapped)?,
        };
        gone.maps.extend(mapped.into_iter().filter(|&map| kept_map != Some(map)));
    }
    refuse_unknown(facts, &maps.without_code)?;
    gone.maps.extend(maps.without_code);
    gone.copies.sort_unstable();
    gone.maps.sort_unstable();
    Ok(gone)
}

/// Refuses a map of a function that neither the file nor an entry has: of dropped code, the entry stays.
fn refuse_unknown(facts: &Facts<'_, '_>, maps: &[usize]) -> Result<()> {
    if maps.is_empty() {
        return Ok(());
    }
    let functions = facts.dwarf.entries().filter(|entry| entry.tag() == dw::DW_TAG_subprogram);
    let names = functions.flat_map(|entry| {
        let names = [dw::DW_AT_MIPS_linkage_name, dw::DW_AT_linkage_name, dw::DW_AT_name];
        names.into_iter().filter_map(move |name| Some(entry.inherited(name)?.string()?.bytes()))
    });
    let names: HashSet<&[u8]> = names.collect();
    match maps.iter().map(|&map| &facts.maps[map]).find(|map| !names.contains(map.function.name)) {
        None => Ok(()),
        Some(map) => {
            let name = map.function.name();
            let text =
                format!("map of registers of `{name}`, which is no function of the file or of an entry");
            let section = super::names::in_file(facts.object, super::maps::HOMES);
            Err(Error::malformed(text).in_section(&section).at_offset(map.homes.start as u64))
        }
    }
}

/// Maps by the address of their function.
struct MapsByFunction {
    by_address: HashMap<u64, Vec<usize>>,
    without_code: Vec<usize>,
}

impl MapsByFunction {
    fn new(maps: &[Map<'_>]) -> Self {
        let mut by_address: HashMap<u64, Vec<usize>> = HashMap::new();
        let mut without_code = Vec::new();
        for (map, index) in maps.iter().zip(0..) {
            match map.function.address {
                Some(address) => by_address.entry(address).or_default().push(index),
                None => without_code.push(index),
            }
        }
        Self { by_address, without_code }
    }

    fn at(&mut self, address: u64) -> Vec<usize> {
        self.by_address.remove(&address).unwrap_or_default()
    }
}

/// Returns the index of the copy whose code is in the file; `None` if none of them is.
fn winner(
    facts: &Facts<'_, '_>,
    rows: &Rows,
    discarded: &[usize],
    address: u64,
    copies: &[Copy<'_, '_>],
    mapped: &[usize],
) -> Result<Option<usize>> {
    let with_rows = rows.programs_at(address);
    let has_rows = with_rows.clone().next().is_some();
    // From sm_100 on, nvlink makes the line tables again, without the rows of dropped code.
    let has_only_kept_rows = facts.object.sm().is_some_and(|sm| sm.number() >= FIRST_WITH_REMADE_CODE);
    let is_of_rows = |copy: &Copy<'_, '_>| match copy.program {
        None => true,
        Some(program) if has_rows => {
            facts.programs[program].sequences.is_empty() || with_rows.clone().any(|with| with == program)
        }
        // Rows of as much code are dropped, which are not those of a dropped function of the unit.
        Some(program) => {
            let dropped = &rows.dropped[program];
            !has_only_kept_rows && (dropped.len() <= discarded[program] || !dropped.contains(&copy.bytes))
        }
    };
    let mut left: Vec<usize> = (0..copies.len()).filter(|&index| is_of_rows(&copies[index])).collect();
    let narrow = |left: &mut Vec<usize>, is_right: &dyn Fn(usize) -> bool| {
        if left.len() > 1 && left.iter().any(|&index| is_right(index)) {
            left.retain(|&index| is_right(index));
        }
    };
    let size = facts.object.symbol_at(address).map(|symbol| symbol.size);
    narrow(&mut left, &|index| Some(copies[index].bytes) == size);
    if mapped.len() == copies.len() {
        narrow(&mut left, &|index| !facts.maps[mapped[index]].is_cleared(size));
    }
    let Some((&first, others)) = left.split_first() else { return Ok(None) };
    for &other in others {
        let maps = [first, other].map(|index| mapped.get(index).map(|&map| &facts.maps[map]));
        let are_mapped_alike = match maps {
            [Some(first), Some(other)] if mapped.len() == copies.len() => first.is_same(other),
            _ => true,
        };
        let [one, two] = [first, other].map(|index| copies[index].entry);
        if !are_mapped_alike || !are_same(one, two) {
            return Err(undecidable(one, two));
        }
    }
    Ok(Some(first))
}

/// Returns the map of a copy, where other copies have none or more.
fn map_of(facts: &Facts<'_, '_>, copy: Copy<'_, '_>, mapped: &[usize]) -> Result<Option<usize>> {
    let start = mapped.first().and_then(|&map| facts.maps[map].function.address);
    let size = start.and_then(|start| facts.object.symbol_at(start)).map(|symbol| symbol.size);
    let mut left = mapped.iter().copied().filter(|&map| !facts.maps[map].is_cleared(size));
    let Some(first) = left.next() else { return Ok(None) };
    if left.all(|other| facts.maps[first].is_same(&facts.maps[other])) {
        return Ok(Some(first));
    }
    let name = copy.entry.name().unwrap_or_default();
    let text = format!(
        "function `{name}` has {} different maps of registers; expected one, or one for each entry",
        mapped.len()
    );
    let error = crate::error::Error::from(ErrorKind::Unsupported(text));
    let offset = facts.maps[first].homes.start as u64;
    Err(error.in_section(super::maps::HOMES).at_offset(offset))
}

fn undecidable(one: Entry<'_, '_>, two: Entry<'_, '_>) -> crate::error::Error {
    let unit = |entry: Entry<'_, '_>| {
        let name = entry.unit().name.as_deref().unwrap_or_default();
        format!("unit `{name}`, offset {:#x}", entry.offset())
    };
    let name = one.name().unwrap_or_default();
    let text = format!(
        "function `{name}` is described by {} and {}, and neither rows nor sizes nor maps of registers say whose code \
         the file has; expected the rows of one of them",
        unit(one),
        unit(two)
    );
    let error = crate::error::Error::from(ErrorKind::Unsupported(text));
    error.in_section(".debug_info").at_offset(two.offset())
}
