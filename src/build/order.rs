//! Order of live ranges and line rows. A compiler that describes one variable and one function after the other adds
//! them in order, so that they are assigned to their owners at once; otherwise they are sorted when the module is
//! finished.

use crate::model::{FunctionId, LineTableRow, Lists, Live, LocId, Module};

/// Order of the live ranges and line rows so far.
#[derive(Debug, Default)]
pub(super) struct Order {
    /// Whether live ranges are out of order, or overlap, or adjacent ranges have equal locations.
    is_live_mixed: bool,
    are_rows_mixed: bool,
    /// Index of the first live range that belongs to the last range's variable.
    first_live: u32,
    /// The last live range's first location, and its hash. A range has several locations if the variable is in all of
    /// them at once.
    loc: Option<LocId>,
    hash: Option<usize>,
    /// Index of the first row that belongs to the last row's function.
    first_row: u32,
    /// Each row's function.
    row_functions: Vec<FunctionId>,
}

impl Order {
    /// Returns the order of a finished module's ranges, which change.
    #[cfg(feature = "import")]
    pub(super) fn resumed() -> Self {
        Self { is_live_mixed: true, ..Self::default() }
    }

    /// Takes over a function's sorted rows.
    #[cfg(feature = "import")]
    pub(super) fn keep_rows(&mut self, function: FunctionId, count: usize) {
        self.row_functions.extend(core::iter::repeat_n(function, count));
    }

    /// Forgets a module's ranges and rows, and keeps the memory.
    pub(super) fn clear(&mut self) {
        let mut row_functions = core::mem::take(&mut self.row_functions);
        row_functions.clear();
        *self = Self { row_functions, ..Self::default() };
    }

    /// Adds a live range. Equal locations have the same `hash`.
    #[inline(always)]
    pub(super) fn add_live(&mut self, module: &mut Module, one: Live, hash: Option<usize>) {
        let Module { lists: Lists { live, .. }, locs, variables, .. } = module;
        let order = self;
        match live.last() {
            // Usually the variable that was described last gets another range.
            Some(last) if last.variable == one.variable => {
                if (last.start, last.end) != (one.start, one.end) {
                    // Adjacent ranges with equal locations are joined later, which needs the slow path.
                    order.is_live_mixed |= one.start < last.end;
                    // A single branch, which is rarely taken.
                    if (last.end == one.start) & (order.hash == hash) {
                        order.is_live_mixed |= locs.is_same(order.loc.unwrap_or(one.loc), one.loc);
                    }
                    (order.loc, order.hash) = (Some(one.loc), hash);
                }
            }
            last => {
                if let Some(last) = last {
                    let index = live.len() as u32;
                    variables[last.variable].live = order.first_live..index;
                    // A new variable: the ranges of the last variable are complete.
                    order.is_live_mixed |= one.variable < last.variable;
                    order.first_live = index;
                }
                (order.loc, order.hash) = (Some(one.loc), hash);
            }
        }
        live.push(one);
    }

    /// Sorts live ranges by variable and pc, joins adjacent ranges with equal locations, and records each variable's
    /// ranges. Returns whether the ranges are known to be disjoint.
    pub(super) fn sort_live(&self, module: &mut Module) -> bool {
        let is_in_order = !self.is_live_mixed;
        if !is_in_order {
            module.lists.live.sort_by_key(|live| (live.variable, live.start));
            join_live(module);
        }
        let Module { lists: Lists { live, .. }, variables, .. } = module;
        // The ranges of all variables but the last are recorded if they are in order.
        let mut index = if is_in_order { self.first_live } else { 0 };
        for of_variable in live[index as usize..].chunk_by(|first, second| first.variable == second.variable)
        {
            let end = index + of_variable.len() as u32;
            variables[of_variable[0].variable].live = index..end;
            index = end;
        }
        is_in_order
    }

    /// Adds a row to a function.
    #[inline]
    pub(super) fn add_row(&mut self, module: &mut Module, function: FunctionId, row: LineTableRow) {
        let Module { lists: Lists { rows, .. }, functions, .. } = module;
        if let (Some(&last), Some(before)) = (self.row_functions.last(), rows.last()) {
            self.are_rows_mixed |= (function, row.pc) < (last, before.pc);
            // A new function: the rows of the last function are complete.
            if last != function {
                let index = rows.len() as u32;
                functions[last].rows = self.first_row..index;
                self.first_row = index;
            }
        }
        rows.push(row);
        self.row_functions.push(function);
    }

    /// Sorts rows by function and pc, and records each function's rows.
    pub(super) fn sort_rows(&mut self, module: &mut Module) {
        let rows = &mut module.lists.rows;
        let row_functions = &mut self.row_functions;
        if self.are_rows_mixed {
            let mut both: Vec<_> = rows.drain(..).zip(row_functions.drain(..)).collect();
            both.sort_by_key(|(row, function)| (*function, row.pc));
            // After sorting, all functions' rows are assigned again.
            (*rows, *row_functions) = both.into_iter().unzip();
            self.first_row = 0;
        }
        let mut index = self.first_row;
        for of_function in row_functions[index as usize..].chunk_by(|first, second| first == second) {
            let end = index + of_function.len() as u32;
            module.functions[of_function[0]].rows = index..end;
            index = end;
        }
    }
}

/// Joins adjacent ranges with equal locations. The ranges are sorted.
fn join_live(module: &mut Module) {
    let live = &mut module.lists.live;
    let locs = &module.locs;
    // The ranges kept last, and how many ranges are kept.
    let mut last = 0..0;
    let mut kept = 0;
    let mut index = 0;
    while let Some(&first) = live.get(index) {
        let is_one =
            |one: &&Live| (one.variable, one.start, one.end) == (first.variable, first.start, first.end);
        let count = live[index..].iter().take_while(is_one).count();
        let is_equal = |(one, other): (usize, usize)| locs.is_same(live[one].loc, live[other].loc);
        // Adjacent ranges are joined if they have the same set of locations, in the same order.
        let goes_on = live.get(last.start).is_some_and(|before| {
            before.variable == first.variable
                && before.end == first.start
                && last.len() == count
                && last.clone().zip(index..).all(is_equal)
        });
        if goes_on {
            live[last.clone()].iter_mut().for_each(|live| live.end = first.end);
        } else {
            if kept < index {
                // The ranges are compacted in the list itself, because `kept` never passes `index`.
                live.copy_within(index..index + count, kept);
            }
            last = kept..kept + count;
            kept += count;
        }
        index += count;
    }
    live.truncate(kept);
}
