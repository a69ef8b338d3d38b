//! Rows of the line tables.

use hashbrown::{HashMap, HashSet};

use crate::read::{Dwarf, LineProgram, LineRow, Unit};

/// Counts of line table rows, without those that end a sequence.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct LineCounts {
    /// Bytes of code in sequences.
    pub bytes: u64,
    /// Bytes of code without a line.
    pub line_0: u64,
    /// Rows.
    pub rows: u64,
    /// Rows at which a breakpoint is recommended.
    pub is_stmt: u64,
    /// Different source positions: file, line and column.
    pub unique: u64,
    /// Different source positions with a line.
    pub unique_non_0: u64,
}

/// Returns the paths of a unit's files, by number; `None` at numbers without a file.
pub(super) fn paths(program: &LineProgram<'_>, unit: &Unit<'_>) -> Vec<Option<String>> {
    let count = program.files.len() as u64 + u64::from(program.version < 5);
    let path = |number| {
        let path = program.path(number)?;
        Some(match unit.comp_dir.as_deref().filter(|_| !path.starts_with('/')) {
            Some(folder) => format!("{folder}/{path}"),
            None => path.into_owned(),
        })
    };
    (0..count).map(path).collect()
}

pub(super) fn count(dwarf: &Dwarf<'_>) -> LineCounts {
    let mut counts = LineCounts::default();
    let (mut files, mut unique) = (HashMap::new(), HashSet::new());
    for unit in dwarf.units().iter().filter(|unit| unit.signature.is_none()) {
        let Ok(Some(program)) = dwarf.lines(unit) else { continue };
        if program.files.is_empty() {
            continue;
        }
        let numbers: Vec<u32> = paths(&program, unit)
            .into_iter()
            .map(|path| {
                let next = files.len() as u32;
                path.map_or(0, |path| *files.entry(path).or_insert(next))
            })
            .collect();
        let mut sequence: Vec<Row> = Vec::new();
        for row in program.rows().map_while(Result::ok) {
            crate::work::step();
            let LineRow { address, line, column, is_stmt, .. } = row;
            let file =
                usize::try_from(row.file).ok().and_then(|file| numbers.get(file)).copied().unwrap_or(0);
            sequence.push(Row { address, position: (line, column, file), is_stmt });
            if row.end_sequence {
                add(&sequence, &mut counts, &mut unique);
                sequence.clear();
            }
        }
    }
    counts.unique = unique.len() as u64;
    counts.unique_non_0 = unique.iter().filter(|position| position.0 != 0).count() as u64;
    counts
}

/// Counted fields of a row.
#[derive(Debug)]
struct Row {
    address: u64,
    position: Position,
    is_stmt: bool,
}

/// Line, column and number of the file.
type Position = (u64, u64, u32);

/// Adds a sequence, unless its code was removed or has no bytes.
fn add(sequence: &[Row], counts: &mut LineCounts, unique: &mut HashSet<Position>) {
    let [first, .., last] = sequence else { return };
    if first.address >= last.address {
        return;
    }
    counts.bytes = counts.bytes.saturating_add(last.address - first.address);
    for rows in sequence.windows(2) {
        let [row, next] = rows else { continue };
        counts.rows += 1;
        counts.is_stmt += u64::from(row.is_stmt);
        unique.insert(row.position);
        if row.position.0 == 0 {
            let bytes = next.address.saturating_sub(row.address);
            counts.line_0 = counts.line_0.saturating_add(bytes);
        }
    }
}
