//! Rules by pc range to rows by pc, and rows to instructions. A row is encoded as its difference from the row before,
//! or restores a remembered row.

use core::hash::{Hash, Hasher};
use core::ops::Range;
use std::hash::DefaultHasher;

use hashbrown::HashMap;

use crate::emit::frame::{Exprs, FrameFormat, Keeps, Program, Rule};
use crate::model::Column;

/// Encoded rule of a column over a pc range.
#[derive(Debug, Clone, Copy)]
pub(super) struct LoweredRule {
    pub(super) start: u32,
    pub(super) end: u32,
    pub(super) column: Column,
    pub(super) rule: Rule,
}

/// Writer of the rows of one function after the other. Its buffers are reused.
#[derive(Debug, Default)]
pub(super) struct Rows {
    /// Indices of the rules, sorted by end.
    ends: Vec<u32>,
    /// Columns, sorted.
    columns: Vec<State>,
    /// Changes of columns, row by row.
    changes: Vec<Change>,
    /// Columns with a rule that starts or ends at the pc of the current row.
    touched: Vec<usize>,
    rows: Vec<Row>,
    /// Last row with each state, by the hash of the state.
    latest: HashMap<u64, usize>,
    /// Ranges from a remembered row to the row that restores it; none of these is within another.
    outermost: Vec<Range<usize>>,
    /// Instructions of each row.
    instructions: Program,
    mark: usize,
}

/// Column with its rules during the walk over the rows.
#[derive(Debug)]
struct State {
    column: Column,
    /// Rule in the current row.
    rule: Rule,
    /// Rule in the row before.
    before: Rule,
    /// Rule in the first row.
    first: Rule,
    mark: usize,
}

#[derive(Debug)]
struct Change {
    column: usize,
    before: Rule,
}

#[derive(Debug)]
struct Row {
    pc: u32,
    instructions: Range<usize>,
    changes: Range<usize>,
    /// Number of times that the row is remembered.
    remembered: u32,
    /// Whether the row restores the row that was remembered last.
    is_restored: bool,
}

impl Rows {
    /// Appends the instructions of the first row, and those of the others, and returns their ranges. Rules are sorted
    /// by pc and column, and the canonical frame address has a rule at each pc.
    pub(super) fn write(
        &mut self,
        rules: &[LoweredRule],
        bytes: u64,
        format: FrameFormat,
        keeps: Keeps,
        exprs: &Exprs,
        out: &mut Program,
    ) -> (Range<usize>, Range<usize>) {
        self.begin(rules);
        let (mut start, mut end) = (0, 0);
        let mut pc = 0;
        let mut hash = 0;
        loop {
            while let Some(&index) = self.ends.get(end).filter(|&&index| rules[index as usize].end == pc) {
                self.set(rules[index as usize].column, Rule::Default);
                end += 1;
            }
            while let Some(rule) = rules.get(start).filter(|rule| rule.start == pc) {
                self.set(rule.column, rule.rule);
                start += 1;
            }
            self.row(pc, &mut hash, format, keeps, exprs);
            let starts = rules.get(start).map(|rule| rule.start);
            let ends = self.ends.get(end).map(|&index| rules[index as usize].end);
            let next = starts.into_iter().chain(ends).min();
            match next.filter(|&next| u64::from(next) < bytes) {
                Some(next) => pc = next,
                None => break,
            }
        }
        self.instructions(format, out)
    }

    fn begin(&mut self, rules: &[LoweredRule]) {
        self.ends.clear();
        self.ends.extend(0..rules.len() as u32);
        self.ends.sort_unstable_by_key(|&index| (rules[index as usize].end, index));
        self.columns.clear();
        let new = |rule: &LoweredRule| State {
            column: rule.column,
            rule: Rule::Default,
            before: Rule::Default,
            first: Rule::Default,
            mark: 0,
        };
        self.columns.extend(rules.iter().map(new));
        self.columns.sort_unstable_by_key(|state| state.column);
        self.columns.dedup_by_key(|state| state.column);
        self.changes.clear();
        self.touched.clear();
        self.rows.clear();
        self.latest.clear();
        self.outermost.clear();
        self.instructions.clear();
        self.mark = 0;
    }

    fn set(&mut self, column: Column, rule: Rule) {
        if let Ok(index) = self.columns.binary_search_by_key(&column, |state| state.column) {
            self.columns[index].rule = rule;
            self.touched.push(index);
        }
    }

    /// Ends a row, unless it equals the row before.
    fn row(&mut self, pc: u32, hash: &mut u64, format: FrameFormat, keeps: Keeps, exprs: &Exprs) {
        self.touched.sort_unstable();
        self.touched.dedup();
        let (instructions, changes) = (self.instructions.bytes.len(), self.changes.len());
        let is_first = self.rows.is_empty();
        for &index in &self.touched {
            let State { column, rule, before, first, .. } = &mut self.columns[index];
            if rule == before {
                continue;
            }
            self.changes.push(Change { column: index, before: *before });
            *hash ^= hash_of(index, *before) ^ hash_of(index, *rule);
            match *column {
                Column::Cfa => format.cfa(*rule, *before, keeps, exprs, &mut self.instructions),
                // The first row goes into the common entry, where `DW_CFA_restore` has no meaning yet.
                Column::Register(reg) if is_first => {
                    format.rule(reg, *rule, Rule::Default, exprs, &mut self.instructions);
                    *first = *rule;
                }
                Column::Register(reg) => format.rule(reg, *rule, *first, exprs, &mut self.instructions),
            }
            *before = *rule;
        }
        self.touched.clear();
        if self.changes.len() == changes && !is_first {
            return;
        }
        let at = self.rows.len();
        let instructions = instructions..self.instructions.bytes.len();
        // Remembering and restoring take one byte each.
        let is_long = instructions.len() > 2;
        let changes = changes..self.changes.len();
        self.rows.push(Row { pc, instructions, changes, remembered: 0, is_restored: false });
        if let Some(earlier) = self.latest.insert(*hash, at)
            && is_long
            && self.is_same(earlier, at)
            && self.nests(earlier..at)
        {
            self.rows[earlier].remembered += 1;
            self.rows[at].is_restored = true;
        }
    }

    /// Returns whether all columns have the same rules in the last row as in an earlier one.
    fn is_same(&mut self, earlier: usize, last: usize) -> bool {
        self.mark += 1;
        let changes = self.rows[earlier].changes.end..self.rows[last].changes.end;
        self.changes[changes].iter().all(|change| {
            let state = &mut self.columns[change.column];
            // Only the first change after the earlier row has the rule of the earlier row.
            let is_first = core::mem::replace(&mut state.mark, self.mark) != self.mark;
            !is_first || state.rule == change.before
        })
    }

    /// Returns whether the remembered state of `new` is on top of the stack when it is restored.
    fn nests(&mut self, new: Range<usize>) -> bool {
        let before = self.outermost.iter().rposition(|known| known.start < new.start);
        if before.is_some_and(|index| self.outermost[index].end > new.start) {
            return false;
        }
        self.outermost.truncate(before.map_or(0, |index| index + 1));
        self.outermost.push(new);
        true
    }

    fn instructions(&self, format: FrameFormat, out: &mut Program) -> (Range<usize>, Range<usize>) {
        let start = out.bytes.len();
        let mut middle = start;
        let mut pc = 0;
        for (index, row) in self.rows.iter().enumerate() {
            format.advance(row.pc - pc, &mut out.bytes);
            pc = row.pc;
            match row.is_restored {
                true => FrameFormat::restore(&mut out.bytes),
                false => out.append(&self.instructions, row.instructions.clone()),
            }
            if index == 0 {
                middle = out.bytes.len();
            }
            for _ in 0..row.remembered {
                FrameFormat::remember(&mut out.bytes);
            }
        }
        (start..middle, middle..out.bytes.len())
    }
}

/// Hash of a rule of a column, the same in each run: the choice of rows to restore depends on it.
fn hash_of(column: usize, rule: Rule) -> u64 {
    if rule == Rule::Default {
        return 0;
    }
    let mut hasher = DefaultHasher::new();
    (column, rule).hash(&mut hasher);
    hasher.finish()
}
