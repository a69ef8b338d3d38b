//! Converts rules by pc range to rows by pc, and rows to call frame instructions. The instructions of a row change the
//! rules that differ from the previous row, or restore a remembered row.

use core::hash::{Hash, Hasher};
use core::ops::Range;
use std::hash::DefaultHasher;

use hashbrown::HashMap;

use crate::emit::frame::{Exprs, FrameFormat, Keeps, Program, Rule};
use crate::model::{Column, is_overwritten};
use crate::target::Target;

/// A column's encoded rule over a pc range.
#[derive(Debug, Clone, Copy)]
pub(super) struct LoweredRule {
    pub(super) start: u32,
    pub(super) end: u32,
    pub(super) column: Column,
    pub(super) rule: Rule,
}

/// Facts on which a frame's instructions depend.
#[derive(Clone, Copy)]
pub(super) struct Form<'m> {
    pub(super) format: FrameFormat,
    pub(super) keeps: Keeps,
    pub(super) target: &'m Target,
    /// Rule that the common entry has for each register that a call overwrites. Such an entry is long, so that it has as
    /// few other rules as possible, and many functions share it.
    pub(super) stated: Option<Rule>,
}

impl Form<'_> {
    /// Returns a column's rule in the common entry unless the column is in the first row that functions share.
    fn unruled(&self, column: Column) -> Rule {
        match (self.stated, column) {
            (Some(rule), Column::Register(reg)) if is_overwritten(self.target, reg) => rule,
            _ => Rule::Default,
        }
    }
}

/// Writer for functions' rows, one function after the other. Its buffers are reused.
#[derive(Debug, Default)]
pub(super) struct Rows {
    /// Rule indices, sorted by end.
    ends: Vec<u32>,
    /// Columns, sorted.
    columns: Vec<State>,
    /// Column changes, row by row.
    changes: Vec<Change>,
    /// Columns with a rule that starts or ends at the pc of the current row.
    touched: Vec<usize>,
    rows: Vec<Row>,
    /// Last row with each state, by the state's hash.
    latest: HashMap<u64, usize>,
    /// Ranges from a remembered row to the row that restores it, without ranges inside other ranges.
    outermost: Vec<Range<usize>>,
    /// Each row's instructions.
    instructions: Program,
    /// End of the instructions that go into the common entry.
    common: usize,
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
    /// Rule in the common entry.
    first: Rule,
    /// Rule where the function has none.
    unruled: Rule,
    /// Bytes of code with a rule.
    covered: u64,
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
    /// How often the row is remembered.
    remembered: u32,
    /// Whether the row restores the row that was remembered last.
    is_restored: bool,
}

impl Rows {
    /// Appends the first row's instructions, and then the remaining rows' instructions, and returns their ranges. Rules
    /// are sorted by pc and column, and the canonical frame address has a rule at each pc.
    pub(super) fn write(
        &mut self,
        rules: &[LoweredRule],
        bytes: u64,
        form: Form<'_>,
        exprs: &Exprs,
        out: &mut Program,
    ) -> (Range<usize>, Range<usize>) {
        self.begin(rules, form);
        let mut start = 0;
        let mut end = 0;
        let mut pc = 0;
        let mut hash = 0;
        loop {
            while let Some(&index) = self.ends.get(end).filter(|&&index| rules[index as usize].end == pc) {
                self.set(rules[index as usize].column, None);
                end += 1;
            }
            while let Some(rule) = rules.get(start).filter(|rule| rule.start == pc) {
                self.set(rule.column, Some(rule.rule));
                start += 1;
            }
            if pc == 0 {
                self.keep_common(bytes, form);
            }
            self.row(pc, &mut hash, form, exprs);
            let starts = rules.get(start).map(|rule| rule.start);
            let ends = self.ends.get(end).map(|&index| rules[index as usize].end);
            // The next row begins at the nearest pc at which a rule starts or ends.
            let next = starts.into_iter().chain(ends).min();
            match next.filter(|&next| u64::from(next) < bytes) {
                Some(next) => pc = next,
                None => break,
            }
        }
        self.instructions(form.format, out)
    }

    fn begin(&mut self, rules: &[LoweredRule], form: Form<'_>) {
        self.ends.clear();
        self.ends.extend(0..rules.len() as u32);
        self.ends.sort_unstable_by_key(|&index| (rules[index as usize].end, index));
        self.columns.clear();
        let new = |rule: &LoweredRule| State {
            column: rule.column,
            rule: Rule::Default,
            before: Rule::Default,
            first: Rule::Default,
            unruled: Rule::Default,
            covered: u64::from(rule.end - rule.start),
            mark: 0,
        };
        self.columns.extend(rules.iter().map(new));
        self.columns.sort_unstable_by_key(|state| state.column);
        // A column with several rules is kept once, with the bytes that all its rules cover.
        self.columns.dedup_by(|next, state| {
            let is_same = next.column == state.column;
            state.covered += if is_same { next.covered } else { 0 };
            is_same
        });
        if form.stated.is_some() {
            for state in &mut self.columns {
                state.unruled = form.unruled(state.column);
                (state.rule, state.before, state.first) = (state.unruled, state.unruled, state.unruled);
            }
        }
        self.changes.clear();
        self.touched.clear();
        self.rows.clear();
        self.latest.clear();
        self.outermost.clear();
        self.instructions.clear();
        self.mark = 0;
    }

    fn set(&mut self, column: Column, rule: Option<Rule>) {
        if let Ok(index) = self.columns.binary_search_by_key(&column, |state| state.column) {
            let state = &mut self.columns[index];
            state.rule = rule.unwrap_or(state.unruled);
            self.touched.push(index);
        }
    }

    /// Chooses the common entry's rules among the rules at pc 0, where `DW_CFA_restore` has no meaning yet. A register
    /// that the calling convention does not preserve as a whole, and that loses its rule later, is not chosen, because
    /// only `DW_CFA_restore` returns to the default rule, and it would return to the chosen rule.
    fn keep_common(&mut self, bytes: u64, form: Form<'_>) {
        let target = form.target;
        for &index in &self.touched {
            let state = &mut self.columns[index];
            let is_common = match state.column {
                Column::Cfa => false,
                Column::Register(reg) if form.stated.is_some() && reg != form.format.return_register => false,
                Column::Register(reg) => {
                    let bits = target.register(reg).map(|register| register.bits);
                    state.covered >= bytes || target.preserved_bits(reg) == bits
                }
            };
            if is_common {
                state.first = state.rule;
            }
        }
    }

    /// Ends a row, unless it equals the row before.
    fn row(&mut self, pc: u32, hash: &mut u64, form: Form<'_>, exprs: &Exprs) {
        self.touched.sort_unstable();
        self.touched.dedup();
        let instructions = self.instructions.bytes.len();
        let changes = self.changes.len();
        let is_first = self.rows.is_empty();
        if is_first {
            // The canonical frame address comes first, and then the common entry's rules, so they are contiguous.
            let columns = &self.columns;
            self.touched.sort_by_key(|&index| match columns[index].column {
                Column::Cfa => false,
                Column::Register(_) => columns[index].first == columns[index].unruled,
            });
        }
        self.common = if is_first { instructions } else { self.common };
        for &index in &self.touched {
            let State { column, rule, before, first, unruled, .. } = &mut self.columns[index];
            if rule == before {
                continue;
            }
            self.changes.push(Change { column: index, before: *before });
            // The state's hash is an exclusive or over the columns, so a change updates it without a pass over
            // them.
            *hash ^= hash_of(index, *before) ^ hash_of(index, *rule);
            let is_common = is_first && (*column == Column::Cfa || first != unruled);
            match *column {
                Column::Cfa => form.format.cfa(*rule, *before, form.keeps, exprs, &mut self.instructions),
                Column::Register(reg) => {
                    let first = if is_first { *unruled } else { *first };
                    form.format.rule(reg, *rule, first, exprs, &mut self.instructions);
                }
            }
            if is_common {
                self.common = self.instructions.bytes.len();
            }
            *before = *rule;
        }
        self.touched.clear();
        // Where a rule ends and an equal rule starts, there is no new row.
        if self.changes.len() == changes && !is_first {
            return;
        }
        let row = self.rows.len();
        let instructions = instructions..self.instructions.bytes.len();
        // Remembering and restoring take one byte each, so short rows are cheaper to repeat.
        let is_long = instructions.len() > 2;
        let changes = changes..self.changes.len();
        self.rows.push(Row { pc, instructions, changes, remembered: 0, is_restored: false });
        if let Some(earlier) = self.latest.insert(*hash, row)
            && is_long
            && self.is_same(earlier, row)
            && self.nests(earlier..row)
        {
            self.rows[earlier].remembered += 1;
            self.rows[row].is_restored = true;
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
    // Remembered rows form a stack, so a new range contains whole ranges or lies outside them.
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
            let mut instructions = row.instructions.clone();
            if index == 0 {
                out.append(&self.instructions, instructions.start..self.common);
                (middle, instructions.start) = (out.bytes.len(), self.common);
            }
            if row.is_restored {
                FrameFormat::restore(&mut out.bytes)
            } else {
                out.append(&self.instructions, instructions)
            }
            for _ in 0..row.remembered {
                FrameFormat::remember(&mut out.bytes);
            }
        }
        (start..middle, middle..out.bytes.len())
    }
}

/// Hash of a column's rule, the same in each run, because it decides which rows are restored.
fn hash_of(column: usize, rule: Rule) -> u64 {
    if rule == Rule::Default {
        return 0;
    }
    let mut hasher = DefaultHasher::new();
    (column, rule).hash(&mut hasher);
    hasher.finish()
}
