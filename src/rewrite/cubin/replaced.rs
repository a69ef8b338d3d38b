//! Copies of a function that nvlink kept at first, and replaced by a later copy that needs fewer registers.
//!
//! Frames, and mostly rows, of all these copies keep their relocation, in the order of the objects, so that the last ones are
//! those of the code. nvlink removes the relocation of a copy that replaces nothing. Each copy has a frame, and rows only with
//! `-lineinfo` or `-g`: where frames outnumber the rows in a line table, the size of the code decides. A line table does not
//! tell whose rows those of the other one are, because ptxas gives code without source lines rows of the PTX alone.

use std::collections::BTreeMap;

use hashbrown::HashSet;

use super::copies::FIRST_WITH_REMADE_CODE;
use super::frames;
use super::lines::Program;
use super::names::{FRAMES, LINES, PTX_LINES};
use super::read::Read;
use crate::emit::elf::{CubinRelocation, CubinSymbol};
use crate::error::{Count, Error, ErrorKind, Result};

/// Where code begins: a symbol, and bytes from it.
type Start = (u32, u64);

/// Frames by their code: offset and size of the code of each, in the order of the section.
type FramesByCode = BTreeMap<Start, Vec<(u64, u64)>>;

/// Returns the start of code to which a field with a relocation refers.
fn start(relocation: &CubinRelocation, field: u64) -> Option<Start> {
    match relocation.symbol {
        CubinSymbol::Index(symbol) => Some((symbol, relocation.addend.map_or(field, |addend| addend as u64))),
        CubinSymbol::Section(_) => None,
    }
}

/// Marks rows and frames of copies that another copy replaced: they go like those of dropped code.
///
/// # Errors
/// A malformed frame; [`Unsupported`](ErrorKind::Unsupported) where the file does not say whether rows are those of the
/// replaced code.
pub(super) fn mark_replaced(read: &mut Read<'_, '_>) -> Result<()> {
    let frames = frames_by_code(read)?;
    // nvlink gives the first frame the pcs of the new code, and leaves Mercury pcs in the others: none is right.
    let is_remade = is_remade(read);
    for copies in frames.values().filter(|copies| copies.len() > 1) {
        let stay = usize::from(!is_remade);
        read.replaced_frames.extend(copies[..copies.len() - stay].iter().map(|(offset, _)| offset));
    }
    for (name, index) in [(LINES, 0), (PTX_LINES, 1)] {
        for (code, programs) in programs_by_code(&read.programs[index]) {
            let copies = frames.get(&code).map_or(&[][..], Vec::as_slice);
            let Some((&last, others)) = programs.split_last() else { continue };
            let rows = Rows { name, index, program: last, code };
            for &program in others {
                replace(&mut read.programs[index][program], code);
            }
            if programs.len() < copies.len() && !is_kept(read, &rows, copies)? {
                replace(&mut read.programs[index][last], code);
            }
        }
    }
    Ok(())
}

/// Whether nvlink has made code, rows and frames again.
fn is_remade(read: &Read<'_, '_>) -> bool {
    !read.object.is_relocatable() && read.object.sm().is_some_and(|sm| sm.number() >= FIRST_WITH_REMADE_CODE)
}

fn frames_by_code(read: &Read<'_, '_>) -> Result<FramesByCode> {
    let mut by_code = FramesByCode::new();
    let Some(from) = read.section(FRAMES) else { return Ok(by_code) };
    let all = read.frames()?;
    for fde in frames::kept(&from, &all, &HashSet::new())? {
        let field = frames::entry(&from, fde.offset)?.address();
        let Some(relocation) = from.relocation(field) else { continue };
        if let Some(start) = start(relocation, from.number(field, 8)?) {
            by_code.entry(start).or_default().push((fde.offset, fde.length));
        }
    }
    Ok(by_code)
}

/// Whether a function's rows are those of the code in the file. Some copies of the function have no rows.
fn is_kept(read: &Read<'_, '_>, rows: &Rows<'_>, copies: &[(u64, u64)]) -> Result<bool> {
    let Some((&(_, size), others)) = copies.split_last() else { return Ok(true) };
    let mut sequences = read.programs[rows.index][rows.program].sequences.iter();
    let Some(sequence) = sequences.rfind(|it| is_at(it.start, rows.code)) else { return Ok(true) };
    let is_unique = others.iter().all(|&(_, other)| other != size);
    if !is_remade(read) && (is_unique || sequence.bytes != size) {
        return Ok(sequence.bytes == size);
    }
    let symbol = read.object.symbols().get(rows.code.0 as usize);
    let text = format!(
        "{} of `{}`, and rows of some: nvlink replaced the function's code, and nothing says whether the rows are those of \
         the kept code; expected rows of each object that has the function, or of none",
        Count(copies.len(), "frame"),
        symbol.map_or("", |symbol| &*symbol.name)
    );
    let error = Error::from(ErrorKind::Unsupported(text));
    let section = super::names::in_file(read.object, rows.name);
    Err(error.in_section(&section).at_offset(sequence.range.start as u64))
}

/// Rows of some code in a program of a line table.
struct Rows<'n> {
    name: &'n str,
    /// The table and the program, by their indices.
    index: usize,
    program: usize,
    code: Start,
}

/// Returns the programs with rows of each code, in their order.
fn programs_by_code(programs: &[Program<'_>]) -> BTreeMap<Start, Vec<usize>> {
    let mut by_code: BTreeMap<Start, Vec<usize>> = BTreeMap::new();
    for (program, number) in programs.iter().zip(0..) {
        let starts = program.sequences.iter().filter_map(|it| it.start);
        for code in starts.filter_map(|(relocation, field)| start(&relocation, field)) {
            let programs = by_code.entry(code).or_default();
            if programs.last() != Some(&number) {
                programs.push(number);
            }
        }
    }
    by_code
}

fn is_at(sequence: Option<(CubinRelocation, u64)>, code: Start) -> bool {
    sequence.and_then(|(relocation, field)| start(&relocation, field)) == Some(code)
}

/// Marks a program's rows of some code.
fn replace(program: &mut Program<'_>, code: Start) {
    for sequence in program.sequences.iter_mut().filter(|it| is_at(it.start, code)) {
        sequence.start = None;
        sequence.is_replaced = true;
    }
}
