//! Rows of line tables, and values of attributes, in Mercury copies.

use eitri_dwarf::error::{Count, Result};
use eitri_dwarf::read::nvidia::{lines, ptx_lines};
use eitri_dwarf::read::{LineProgram, LineRow, Object, ResolvedValue};

use super::mercury::{Both, Difference, pc_text};

/// `DW_OP_addr`.
const ADDR: u8 = 0x03;

/// Compares the rows of a line table in order: file, line, and inlined function, and whether a sequence ends.
pub(super) fn rows(both: Both<'_, '_>, name: &str) -> Result<Option<Difference>> {
    let mut own = programs(both.object, name);
    for program in programs(both.copies, name) {
        let program = program?;
        let original = match own.next() {
            Some(Ok(original)) => original,
            // The original's error is reported where it is read.
            Some(Err(_)) => return Ok(None),
            None => return Ok(Some(Difference::new(program.offset, "a line program", "no further line program"))),
        };
        let difference = header(&original, &program).map_or_else(|| row(both, &original, &program), |it| Ok(Some(it)));
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
    let (mut expected, mut actual) = (own.rows(), copied.rows());
    loop {
        let offset = actual.offset();
        let written = actual.next_row()?.map(|row| text(both.copies, copied, row));
        let Ok(meant) = expected.next_row() else { return Ok(None) };
        let meant = meant.map(|row| text(both.object, own, row));
        if written != meant {
            let text = |row: Option<String>| row.unwrap_or_else(|| "no further row".into());
            return Ok(Some(Difference::new(offset, text(written), text(meant))));
        }
        if written.is_none() {
            return Ok(None);
        }
    }
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

/// Whether two values of an attribute say the same. Errors are reported where the values are read.
pub(super) fn is_same(both: Both<'_, '_>, own: ResolvedValue<'_>, copied: ResolvedValue<'_>) -> bool {
    use ResolvedValue::{Address, Expr, LineProgram, Unreadable};
    match (own, copied) {
        (Address(own), Address(copied)) => pc_text(both.object, own) == pc_text(both.copies, copied),
        (Expr([ADDR, own @ ..]), Expr([ADDR, copied @ ..])) => {
            // The address is that of data, which the reader assigns in both.
            own.len() == copied.len() && own.get(8..) == copied.get(8..)
        }
        // nvlink makes the copies of line tables again, with other sizes.
        (LineProgram(_), LineProgram(_)) => true,
        (Unreadable, _) | (_, Unreadable) => true,
        (own, copied) => own == copied,
    }
}
