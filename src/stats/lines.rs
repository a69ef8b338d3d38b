//! Rows of the line tables.

use core::hash::{Hash, Hasher};

use hashbrown::{HashMap, HashSet};

use crate::read::{LineProgram, LineRow, Unit};

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

/// Rows of the line tables of several units.
#[derive(Debug, Default)]
pub(super) struct Lines {
    counts: LineCounts,
    /// Numbers of the paths.
    files: HashMap<String, u32>,
    unique: HashSet<Position>,
    /// Rows of the sequence that was read last.
    sequence: Vec<Row>,
}

impl Lines {
    /// Counts the rows of a unit; `paths` are those of its files.
    pub(super) fn add(&mut self, program: &LineProgram<'_>, paths: &[Option<String>]) {
        if program.files.is_empty() {
            return;
        }
        let number = |path: &Option<String>| path.as_deref().map_or(NO_FILE, |path| self.file(path));
        let numbers: Vec<u32> = paths.iter().map(number).collect();
        let mut sequence = std::mem::take(&mut self.sequence);
        sequence.clear();
        let mut rows = program.rows();
        while let Ok(Some(row)) = rows.next_row() {
            crate::work::step();
            let &LineRow { address, line, column, is_stmt, .. } = row;
            let file = usize::try_from(row.file).ok().and_then(|file| numbers.get(file)).copied();
            sequence.push(Row {
                address,
                position: Position { line, column, file: file.unwrap_or(NO_FILE) },
                is_stmt,
            });
            if row.end_sequence {
                self.add_sequence(&sequence);
                sequence.clear();
            }
        }
        self.sequence = sequence;
    }

    fn file(&mut self, path: &str) -> u32 {
        let next = self.files.len() as u32;
        *self.files.entry_ref(path).or_insert(next)
    }

    /// Adds a sequence, unless its code was removed or has no bytes.
    fn add_sequence(&mut self, sequence: &[Row]) {
        let [first, .., last] = sequence else { return };
        if first.address >= last.address {
            return;
        }
        let counts = &mut self.counts;
        counts.bytes = counts.bytes.saturating_add(last.address - first.address);
        for rows in sequence.windows(2) {
            let [row, next] = rows else { continue };
            counts.rows += 1;
            counts.is_stmt += u64::from(row.is_stmt);
            self.unique.insert(row.position);
            if row.position.line == 0 {
                let bytes = next.address.saturating_sub(row.address);
                counts.line_0 = counts.line_0.saturating_add(bytes);
            }
        }
    }

    /// Adds the rows of later units.
    pub(super) fn append(&mut self, later: Self) {
        let mut numbers = vec![NO_FILE; later.files.len()];
        for (path, number) in &later.files {
            numbers[*number as usize] = self.file(path);
        }
        let number = |file: u32| numbers.get(file as usize).copied().unwrap_or(NO_FILE);
        self.unique.extend(later.unique.iter().map(|one| Position { file: number(one.file), ..*one }));
        let (counts, more) = (&mut self.counts, later.counts);
        counts.bytes = counts.bytes.saturating_add(more.bytes);
        counts.line_0 = counts.line_0.saturating_add(more.line_0);
        counts.rows += more.rows;
        counts.is_stmt += more.is_stmt;
    }

    pub(super) fn counts(mut self) -> LineCounts {
        // Rows without a file are those of the first one.
        let without: Vec<_> = self.unique.extract_if(|one| one.file == NO_FILE).collect();
        self.unique.extend(without.into_iter().map(|one| Position { file: 0, ..one }));
        let unique = self.unique.len() as u64;
        let unique_non_0 = self.unique.iter().filter(|position| position.line != 0).count() as u64;
        LineCounts { unique, unique_non_0, ..self.counts }
    }
}

/// Counted fields of a row.
#[derive(Debug)]
struct Row {
    address: u64,
    position: Position,
    is_stmt: bool,
}

/// Line, column and number of the file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Position {
    line: u64,
    column: u64,
    file: u32,
}

impl Hash for Position {
    fn hash<H: Hasher>(&self, state: &mut H) {
        // One number instead of three: most lines and columns are small.
        state.write_u64(self.line ^ self.column.rotate_right(16) ^ u64::from(self.file).rotate_right(32));
    }
}
/// Number of a row without a file.
const NO_FILE: u32 = u32::MAX;
