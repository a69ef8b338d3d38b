//! Line table rows.

use core::hash::{Hash, Hasher};

use hashbrown::HashMap;

use eitri_dwarf::error::Result;
use eitri_dwarf::read::{Dwarf, LineProgram, LineRow, Unit};

/// Line table row counts, without the rows that end a sequence. A line program that several units reference counts once.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct LineCounts {
    /// Code bytes in sequences.
    pub bytes: u64,
    /// Code bytes without a line.
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

/// Returns a unit's file paths, by number; `None` at numbers without a file.
pub(super) fn paths(program: &LineProgram<'_>, unit: &Unit<'_>) -> Vec<Option<String>> {
    let count = program.files.len() as u64 + u64::from(program.version < 5);
    (0..count).map(|number| program.full_path(number, unit.comp_dir.as_deref())).collect()
}

/// Line table rows from several units.
#[derive(Debug, Default)]
pub(super) struct Lines {
    counts: LineCounts,
    /// Path numbers.
    files: HashMap<String, u32>,
    unique: Positions,
    /// Memory for a sequence's rows.
    sequence: Sequence,
}

impl Lines {
    /// Counts a unit's rows; `paths` contains its file paths.
    ///
    /// # Errors
    /// As [`LineRows`](eitri_dwarf::read::LineRows). The sequences before the error are counted.
    pub(super) fn add(
        &mut self,
        dwarf: &Dwarf<'_>,
        program: &LineProgram<'_>,
        paths: &[Option<String>],
    ) -> Result<()> {
        if program.files.is_empty() {
            return Ok(());
        }
        let number = |path: &Option<String>| path.as_deref().map_or(NO_FILE, |path| self.file(path));
        let numbers: Vec<u32> = paths.iter().map(number).collect();
        let mut sequence = std::mem::take(&mut self.sequence);
        sequence.clear();
        let mut rows = program.rows();
        let read = loop {
            let row = match rows.next_row() {
                Ok(Some(row)) => row,
                Ok(None) => break Ok(()),
                Err(error) => break Err(error),
            };
            eitri_dwarf::work::step();
            sequence.reach(row.address);
            if row.end_sequence {
                if sequence.start.is_some_and(|start| dwarf.is_code(start)) {
                    self.add_sequence(&sequence, row.address);
                }
                sequence.clear();
                continue;
            }
            let file = usize::try_from(row.file).ok().and_then(|file| numbers.get(file)).copied();
            sequence.add(row, file.unwrap_or(NO_FILE));
        };
        self.sequence = sequence;
        read
    }

    fn file(&mut self, path: &str) -> u32 {
        let next = self.files.len() as u32;
        *self.files.entry_ref(path).or_insert(next)
    }

    /// Adds a sequence, unless it has no bytes.
    fn add_sequence(&mut self, sequence: &Sequence, end: u64) {
        let Sequence { start, counts: more, groups, .. } = sequence;
        let Some(bytes) = start.and_then(|start| end.checked_sub(start)).filter(|bytes| *bytes > 0) else {
            return;
        };
        add_counts(&mut self.counts, &LineCounts { bytes, ..*more });
        groups.iter().for_each(|(group, columns)| self.unique.add(*group, *columns));
    }

    /// Adds later units' rows.
    pub(super) fn append(&mut self, later: Self) {
        let mut numbers = vec![NO_FILE; later.files.len()];
        for (path, number) in &later.files {
            numbers[*number as usize] = self.file(path);
        }
        let number = |file: u32| numbers.get(file as usize).copied().unwrap_or(NO_FILE);
        for (group, columns) in later.unique.groups() {
            self.unique.add(Group { file: number(group.file), ..group }, columns);
        }
        add_counts(&mut self.counts, &later.counts);
    }

    pub(super) fn counts(self) -> LineCounts {
        // Rows without a file count as rows in the first file.
        let has_no_file = |group: &(Group, u64)| group.0.file == NO_FILE;
        let without: Vec<_> = self.unique.groups().filter(has_no_file).collect();
        let mut unique = self.unique;
        for (group, columns) in &without {
            unique.add(Group { file: 0, ..*group }, *columns);
        }
        let mut counts = self.counts;
        for (group, columns) in unique.groups().filter(|group| !has_no_file(group)) {
            let number = u64::from(columns.count_ones());
            counts.unique += number;
            counts.unique_non_0 += if group.line == 0 { 0 } else { number };
        }
        counts
    }
}

/// Adds other rows' counts, except the source positions.
fn add_counts(counts: &mut LineCounts, more: &LineCounts) {
    counts.bytes = counts.bytes.saturating_add(more.bytes);
    counts.line_0 = counts.line_0.saturating_add(more.line_0);
    counts.rows += more.rows;
    counts.is_stmt += more.is_stmt;
}

/// A sequence's rows so far.
#[derive(Debug, Default)]
struct Sequence {
    /// First row's address.
    start: Option<u64>,
    /// Last row's address, if it has no line.
    without_line: Option<u64>,
    counts: LineCounts,
    /// Source positions: a column group, with a bit for each column.
    groups: Vec<(Group, u64)>,
}

impl Sequence {
    fn clear(&mut self) {
        self.groups.clear();
        *self = Self { groups: std::mem::take(&mut self.groups), ..Self::default() };
    }

    /// Ends the last row's code.
    fn reach(&mut self, address: u64) {
        if let Some(start) = self.without_line.take() {
            let bytes = address.saturating_sub(start);
            self.counts.line_0 = self.counts.line_0.saturating_add(bytes);
        }
    }

    fn add(&mut self, row: &LineRow, file: u32) {
        self.start = self.start.or(Some(row.address));
        self.without_line = (row.line == 0).then_some(row.address);
        self.counts.rows += 1;
        self.counts.is_stmt += u64::from(row.is_stmt);
        let group = Group { line: row.line, columns: row.column / 64, file };
        let column = 1 << (row.column % 64);
        match self.groups.last_mut() {
            Some((last, columns)) if *last == group => *columns |= column,
            _ => self.groups.push((group, column)),
        }
    }
}

/// Source positions in 64 columns on a line.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Group {
    line: u64,
    /// Column numbers, divided by 64.
    columns: u64,
    file: u32,
}

/// Number of lines that are adjacent in memory, because successive rows often have nearby lines.
const LINES: u64 = 8;

/// Column bits for each of [`LINES`] groups.
type Block = [u64; LINES as usize];

/// Different source positions.
#[derive(Debug, Default)]
struct Positions {
    /// Block indices. A block's line is divided by [`LINES`].
    indices: HashMap<Group, u32>,
    blocks: Vec<Block>,
    /// Recently used blocks, by the last bits of their lines: rows alternate between a few blocks.
    recent: Vec<(Group, u32)>,
}

/// Number of blocks that can be found without a hash.
const RECENT: usize = 256;

impl Positions {
    fn add(&mut self, group: Group, columns: u64) {
        let place = Group { line: group.line / LINES, ..group };
        let slot = place.line as usize % RECENT;
        let index = match self.recent.get(slot) {
            Some((known, index)) if *known == place => *index,
            _ => {
                // There are fewer groups than bytes in programs.
                let next = self.blocks.len() as u32;
                let index = *self.indices.entry(place).or_insert(next);
                if index == next {
                    self.blocks.push(Block::default());
                }
                if self.recent.is_empty() {
                    self.recent.resize(RECENT, (place, index));
                }
                self.recent[slot] = (place, index);
                index
            }
        };
        self.blocks[index as usize][(group.line % LINES) as usize] |= columns;
    }

    /// Returns the groups with their columns.
    fn groups(&self) -> impl Iterator<Item = (Group, u64)> {
        self.indices.iter().flat_map(|(place, index)| {
            let columns = self.blocks[*index as usize].into_iter();
            let group = |line| Group { line: place.line * LINES + line, ..*place };
            columns.zip(0..).map(move |(columns, line)| (group(line), columns)).filter(|group| group.1 != 0)
        })
    }
}

impl Hash for Group {
    fn hash<H: Hasher>(&self, state: &mut H) {
        // A single number is hashed instead of three, because most lines and columns are small.
        state.write_u64(self.line ^ self.columns.rotate_right(16) ^ u64::from(self.file).rotate_right(32));
    }
}

/// File number for rows without a file.
const NO_FILE: u32 = u32::MAX;

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::{Group, Positions};

    /// The positions form a set, whatever the distance between lines and columns.
    #[test]
    fn positions_are_a_set() {
        let numbers = [0, 1, 7, 8, 9, 63, 64, 65, 127, 128, 1 << 40, u64::MAX];
        let mut positions = Positions::default();
        let mut expected = BTreeSet::new();
        for (index, line) in numbers.iter().chain(&numbers).enumerate() {
            for column in &numbers[index % 3..] {
                let file = (line ^ column) as u32 % 3;
                positions.add(Group { line: *line, columns: column / 64, file }, 1 << (column % 64));
                expected.insert((file, *line, *column));
            }
        }
        let mut seen = BTreeSet::new();
        for (Group { line, columns, file }, bits) in positions.groups() {
            let set = (0..64).filter(|bit| bits >> bit & 1 != 0);
            seen.extend(set.map(|bit| (file, line, columns * 64 + bit)));
        }
        assert_eq!(seen, expected);
    }
}
