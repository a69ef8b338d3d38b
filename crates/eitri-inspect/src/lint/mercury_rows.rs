//! Rows of line tables in Mercury copies.

use std::collections::{HashMap, VecDeque};

use eitri_dwarf::error::{Count, Result};
use eitri_dwarf::read::nvidia::{lines, ptx_lines};
use eitri_dwarf::read::{ElfSymbolKind, InlinedRow, LineProgram, LineRow, Object};

use super::mercury_values::{Both, Difference, pc_text};

/// Compares the rows of each function in a line table: file, line, and inlined function, and where they end.
pub(super) fn rows(both: Both<'_, '_>, name: &str) -> Result<Option<Difference>> {
    let mut own = programs(both.object, name);
    for program in programs(both.copies, name) {
        let program = program?;
        let original = match own.next() {
            Some(Ok(original)) => original,
            // The original's error is reported where it is read.
            Some(Err(_)) => return Ok(None),
            None => {
                return Ok(Some(Difference::new(
                    program.offset,
                    "a line program",
                    "no further line program",
                )));
            }
        };
        let difference = header(&original, &program)
            .map_or_else(|| sequences(both, &original, &program), |it| Ok(Some(it)));
        if let Some(difference) = difference? {
            return Ok(Some(difference));
        }
    }
    Ok(match own.next() {
        Some(Ok(original)) => {
            let meant = format!("the line program at {:#x}", original.offset);
            Some(Difference::new(0, "no further line program", meant))
        }
        _ => None,
    })
}

/// Returns the programs of one of the two line tables.
fn programs<'o>(
    object: &'o Object<'_>,
    name: &str,
) -> Box<dyn Iterator<Item = Result<LineProgram<'o>>> + 'o> {
    if name == ".debug_line" { Box::new(lines(object)) } else { Box::new(ptx_lines(object)) }
}

fn header(own: &LineProgram<'_>, copied: &LineProgram<'_>) -> Option<Difference> {
    let text = |program: &LineProgram<'_>| {
        let path = |number: usize| program.path(number as u64 + 1).unwrap_or_default().into_owned();
        (0..program.files.len()).map(path).collect::<Vec<_>>()
    };
    let [own, actual] = [text(own), text(copied)];
    let same = own.iter().zip(&actual).take_while(|(one, other)| one == other).count();
    let file = |files: &[String]| match files.get(same) {
        Some(name) => format!("file {}, `{name}`", same + 1),
        None => Count(files.len(), "file").to_string(),
    };
    (own != actual).then(|| Difference::new(copied.offset, file(&actual), file(&own)))
}

/// Compares the sequences of a program by their function, because ptxas writes the functions of an object in another order
/// in copies.
fn sequences(
    both: Both<'_, '_>,
    own: &LineProgram<'_>,
    copied: &LineProgram<'_>,
) -> Result<Option<Difference>> {
    let copies = Sequence::all(both.copies, copied)?;
    // The original's error is reported where it is read.
    let Ok(originals) = Sequence::all(both.object, own) else { return Ok(None) };
    // The sequences of a function are in order in both.
    let mut left: HashMap<&str, VecDeque<&Sequence<'_>>> = HashMap::new();
    for original in &originals {
        left.entry(original.function).or_default().push_back(original);
    }
    for copy in &copies {
        let Some(original) = left.get_mut(copy.function).and_then(VecDeque::pop_front) else {
            let written = format!("rows of `{}`", copy.function);
            return Ok(Some(Difference::new(copy.offset, written, "no such rows")));
        };
        if let Some(difference) = rows_of_sequence(both, (own, original), (copied, copy)) {
            return Ok(Some(difference));
        }
    }
    let without_copy = originals.iter().find(|it| left.get(it.function).is_some_and(|left| !left.is_empty()));
    Ok(without_copy.map(|original| {
        let meant = format!("the rows of `{}` at {:#x}", original.function, original.offset);
        Difference::new(copied.offset, "no such rows", meant)
    }))
}

fn rows_of_sequence(
    both: Both<'_, '_>,
    (own, original): (&LineProgram<'_>, &Sequence<'_>),
    (copied, copy): (&LineProgram<'_>, &Sequence<'_>),
) -> Option<Difference> {
    for index in 0..original.rows.len().max(copy.rows.len()) {
        let (written, meant) = (copy.rows.get(index), original.rows.get(index));
        let is_same = match (written, meant) {
            (Some((_, written)), Some((_, meant))) => {
                is_like(both, (copied, copy, written), (own, original, meant))
            }
            _ => false,
        };
        if !is_same {
            let text = |object, program, row: Option<&(u64, LineRow)>| match row {
                Some((_, row)) => text(object, program, row),
                None => format!("no further row of `{}`", copy.function),
            };
            let offset = written.or(copy.rows.last()).map_or(copied.offset, |(offset, _)| *offset);
            let (written, meant) = (text(both.copies, copied, written), text(both.object, own, meant));
            return Some(Difference::new(offset, written, meant));
        }
    }
    None
}

/// Rows of contiguous code.
struct Sequence<'o> {
    /// The function at the first address.
    function: &'o str,
    /// Offset of the first row.
    offset: u64,
    /// The last row at each address with its offset: its line is what a debugger shows. Several instructions in one
    /// encoding can be a single instruction in the other, which has several rows then. Rows that repeat the row before add
    /// nothing, and ptxas writes some in one encoding only.
    rows: Vec<(u64, LineRow)>,
    /// Position of each row, to which inlined calls refer.
    positions: Vec<Position>,
}

/// File, line and column of a row.
type Position = (u64, u64, u64);

impl<'o> Sequence<'o> {
    /// Returns the sequences of functions in the file.
    fn all(object: &'o Object<'_>, program: &LineProgram<'_>) -> Result<Vec<Self>> {
        let mut all: Vec<Self> = Vec::new();
        let mut is_open = false;
        let mut rows = program.rows();
        while let Some(&row) = rows.next_row()? {
            let offset = rows.offset();
            if !is_open {
                let symbol = object.symbol_at(row.address).filter(|it| it.kind == ElfSymbolKind::Func);
                let function = symbol.map_or("", |symbol| &*symbol.name);
                all.push(Self { function, offset, rows: Vec::new(), positions: Vec::new() });
            }
            is_open = !row.end_sequence;
            let Some(sequence) = all.last_mut() else { continue };
            sequence.positions.push(position(&row));
            let is_replaced = |(_, last): &(u64, LineRow)| last.address == row.address && !row.end_sequence;
            if sequence.rows.last().is_some_and(is_replaced) {
                sequence.rows.pop();
            }
            let is_repeated = |(_, last): &(u64, LineRow)| !row.end_sequence && facts(last) == facts(&row);
            if !sequence.rows.last().is_some_and(is_repeated) {
                sequence.rows.push((offset, row));
            }
        }
        // ptxas ends a sequence that has no rows, without an address; nvlink keeps copies of functions that it drops.
        all.retain(|sequence| !sequence.function.is_empty());
        Ok(all)
    }
}

fn position(row: &LineRow) -> Position {
    (row.file, row.line, row.column)
}

/// Everything in a row except the pc.
fn facts(row: &LineRow) -> (Position, Option<InlinedRow>) {
    (position(row), row.inlined)
}

/// Whether two rows of different programs say the same, but for the pc.
fn is_like(
    both: Both<'_, '_>,
    (copied, copy, written): (&LineProgram<'_>, &Sequence<'_>, &LineRow),
    (own, original, meant): (&LineProgram<'_>, &Sequence<'_>, &LineRow),
) -> bool {
    if written.end_sequence || meant.end_sequence {
        let ends = written.end_sequence && meant.end_sequence;
        return ends && pc_text(both.copies, written.address) == pc_text(both.object, meant.address);
    }
    let call = |program: &LineProgram<'_>, sequence: &Sequence<'_>, row: &LineRow| {
        let InlinedRow { call, .. } = row.inlined?;
        let name = program.inlined_name(row.inlined?).unwrap_or_default().into_owned();
        let index = usize::try_from(call.checked_sub(1)?).ok();
        Some((name, index.and_then(|index| sequence.positions.get(index)).copied()))
    };
    position(written) == position(meant) && call(copied, copy, written) == call(own, original, meant)
}

/// Describes a row without its pc.
fn text(object: &Object<'_>, program: &LineProgram<'_>, row: &LineRow) -> String {
    if row.end_sequence {
        return format!("the end of a sequence at {}", pc_text(object, row.address));
    }
    let inlined = row.inlined.map_or_else(String::new, |inlined| {
        let name = program.inlined_name(inlined).unwrap_or_default();
        format!(", `{name}` inlined at row {}", inlined.call)
    });
    format!("line {} in file {}, column {}{inlined}", row.line, row.file, row.column)
}
