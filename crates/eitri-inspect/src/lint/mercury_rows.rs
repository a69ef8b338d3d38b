//! Rows of line tables in Mercury copies.

use eitri_dwarf::error::{Count, Result};
use eitri_dwarf::read::nvidia::{lines, ptx_lines};
use eitri_dwarf::read::{LineProgram, LineRow, LineRows, Object};

use super::mercury_values::{Both, Difference, pc_text};

/// Compares the rows of a line table in order: file, line, and inlined function, and whether a sequence ends.
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
        let difference =
            header(&original, &program).map_or_else(|| row(both, &original, &program), |it| Ok(Some(it)));
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

fn row(both: Both<'_, '_>, own: &LineProgram<'_>, copied: &LineProgram<'_>) -> Result<Option<Difference>> {
    let (mut expected, mut actual) = (Lasting::new(own)?, Lasting::new(copied)?);
    loop {
        let offset = actual.rows.offset();
        let written = actual.next()?;
        let Ok(meant) = expected.next() else { return Ok(None) };
        let is_same = match (&written, &meant) {
            (Some(written), Some(meant)) => is_like(both, (copied, written), (own, meant)),
            (None, None) => return Ok(None),
            _ => false,
        };
        if !is_same {
            let text = |object, program, row: Option<LineRow>| {
                row.map_or_else(|| "no further row".into(), |row| text(object, program, &row))
            };
            let written = text(both.copies, copied, written);
            return Ok(Some(Difference::new(offset, written, text(both.object, own, meant))));
        }
    }
}

/// The last row at each address, whose line a debugger shows. Several instructions of one encoding can be a single
/// instruction of the other, which has several rows then.
struct Lasting<'p, 'o> {
    rows: LineRows<'p, 'o>,
    next: Option<LineRow>,
}

impl<'p, 'o> Lasting<'p, 'o> {
    fn new(program: &'p LineProgram<'o>) -> Result<Self> {
        let mut rows = program.rows();
        let next = rows.next_row()?.copied();
        Ok(Self { rows, next })
    }

    fn next(&mut self) -> Result<Option<LineRow>> {
        while let Some(row) = self.next {
            self.next = self.rows.next_row()?.copied();
            let is_last = |next: LineRow| next.address != row.address || next.end_sequence;
            if row.end_sequence || self.next.is_none_or(is_last) {
                return Ok(Some(row));
            }
        }
        Ok(None)
    }
}

/// Whether two rows say the same, but for the pc.
fn is_like(
    both: Both<'_, '_>,
    (copied, written): (&LineProgram<'_>, &LineRow),
    (own, meant): (&LineProgram<'_>, &LineRow),
) -> bool {
    if written.end_sequence || meant.end_sequence {
        let ends = written.end_sequence && meant.end_sequence;
        return ends && pc_text(both.copies, written.address) == pc_text(both.object, meant.address);
    }
    let name = |program: &LineProgram<'_>, row: &LineRow| {
        row.inlined.map(|inlined| program.inlined_name(inlined).unwrap_or_default().into_owned())
    };
    (written.line, written.file, written.column) == (meant.line, meant.file, meant.column)
        && name(copied, written) == name(own, meant)
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
