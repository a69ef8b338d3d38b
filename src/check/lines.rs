//! Line table rows, function by function.

use core::cell::RefCell;
use core::ops::Range;
use std::borrow::Cow;
use std::collections::{BTreeMap, VecDeque};

use hashbrown::HashSet;

use super::describe::Describe;
use super::files::{Source, described, source};
use super::index::PlacedPart;
use super::report::{CheckReport, FindingKind};
use super::tree::Described;
use crate::consumer::Consumer;
use crate::error::{At, Count, Result};
use crate::model::{self, FunctionId, LineTableRow, ScopeId, ScopeKind, UnitId};
use crate::read::{Dwarf, LineProgram, LineRow, PcNotation, Unit};

/// A line program's rows, with its sequences by start address. Each sequence ends with its end-of-sequence row.
#[derive(Debug, Default)]
pub(super) struct Rows {
    /// The program's offset; `None` without a program.
    program: Option<u64>,
    rows: Vec<LineRow>,
    sequences: BTreeMap<u64, VecDeque<Range<usize>>>,
}

impl Rows {
    fn read(program: Option<&LineProgram<'_>>) -> Result<Self> {
        let rows: Vec<LineRow> = program.into_iter().flat_map(LineProgram::rows).collect::<Result<_>>()?;
        rows.iter().for_each(|_| crate::work::step());
        Ok(Self { program: program.map(|program| program.offset), sequences: sequences(&rows), rows })
    }
}

/// Comparison of a unit's line program.
pub(super) struct Lines<'l, 'o> {
    pub(super) described: Described<'l>,
    pub(super) program: Option<&'l LineProgram<'o>>,
    /// Rows that the previous unit left, if all units share a program.
    pub(super) rows: &'l RefCell<Rows>,
    pub(super) report: &'l mut CheckReport,
}

impl Lines<'_, '_> {
    /// Compares every function's rows in a unit, and where its sequence ends. A function's sequence starts at its
    /// first row's address.
    pub(super) fn compare(mut self, id: UnitId, at: &At) {
        let module = self.described.module;
        let program = self.program;
        if let Some(program) = program {
            // A reader skips an unknown opcode's operands by these lengths.
            let lengths = program.standard_lengths;
            let known = &STANDARD_LENGTHS[..lengths.len().min(STANDARD_LENGTHS.len())];
            self.report.expect_equal(at, "operands of opcodes", &known, &lengths);
            self.line_header(id, program, at);
            self.texts(id, program, at);
        }
        let mut known = self.rows.borrow_mut();
        // All units share the table of line directives: reading it for each unit would take quadratic time.
        if !self.described.consumer.has_line_directives
            || program.is_none_or(|program| known.program != Some(program.offset))
        {
            *known = match Rows::read(program) {
                Ok(rows) => rows,
                Err(error) => return self.report.unreadable(self.described.object, &error, at.clone()),
            };
        }
        let notation = self.described.object.pc_notation();
        let Rows { rows: found, sequences, .. } = &mut *known;
        let continued = self.cut(id, found, sequences);
        for &id in &self.described.index.functions[id] {
            for part in self.described.parts(id) {
                let PlacedPart { start, ref pcs } = part;
                let rows = module.rows_in(id, pcs);
                let Some(first) = rows.first() else { continue };
                let sequence = sequences.get_mut(&start.wrapping_add(first.pc)).and_then(VecDeque::pop_front);
                // An empty sequence makes the first described row the difference.
                let sequence = &found[sequence.unwrap_or_default()];
                self.sequence(id, rows, program, sequence, start);
                let end = sequence.last().filter(|row| row.end_sequence).map(|row| row.address);
                let expected = part.code().end;
                // The rows of a part go on until those of the next part of its sequence.
                if end != Some(expected) && !continued.contains(&(id, pcs.start)) {
                    let expected = format!("the end of the rows at {}", notation.pc(expected));
                    let site = module.at_scope(module.function(id).scope);
                    let actual = end.map_or_else(|| "none".into(), |end| notation.pc(end).to_string());
                    self.report.find(FindingKind::Line, site, expected, actual);
                }
            }
        }
        if self.described.consumer.has_line_directives {
            return;
        }
        let Rows { rows: found, sequences, .. } = std::mem::take(&mut *known);
        // What no function took describes other code, or describes it a second time.
        let mut rest: Vec<_> = sequences.into_values().flatten().collect();
        rest.sort_unstable_by_key(|range| range.start);
        for range in rest {
            let rows = &found[range];
            let kind = if are_over(self.described, rows) { FindingKind::Line } else { FindingKind::Extra };
            self.report.find(kind, at.clone(), "no more rows", more_rows(notation, rows));
        }
    }

    /// Cuts the sequences that parts of functions share into a sequence for each part, with as many rows as are described.
    /// Returns all parts but the last of each, whose rows have no end.
    fn cut(
        &self,
        unit: UnitId,
        found: &[LineRow],
        sequences: &mut BTreeMap<u64, VecDeque<Range<usize>>>,
    ) -> HashSet<(FunctionId, u64)> {
        let Described { module, consumer, index, .. } = self.described;
        let mut continued = HashSet::new();
        // The numbers of such rows count in a function.
        if consumer.has_line_directives || consumer.has_inlined_rows {
            return continued;
        }
        for sequence in index.sequences[unit].iter().map(|&number| &module.lists.sequences[number]) {
            let counts = sequence.parts.iter().filter_map(|part| {
                let code =
                    module.function(part.function).code_parts().find(|code| code.pcs.start == part.pc)?;
                let rows = module.rows_in(part.function, &code.pcs);
                let start = self.described.address_at(part.function, rows.first()?.pc)?;
                Some((part, start, rows.len()))
            });
            let counts: Vec<_> = counts.collect();
            let first = counts.first().and_then(|&(_, start, _)| sequences.get_mut(&start)?.pop_front());
            let Some(Range { mut start, end }) = first else { continue };
            for (index, &(part, _, count)) in counts.iter().enumerate() {
                let is_last = index + 1 == counts.len();
                let next = if is_last { end } else { (start + count).min(end) };
                if !is_last {
                    continued.insert((part.function, part.pc));
                }
                if let Some(row) = found[start..next].first() {
                    sequences.entry(row.address).or_default().push_front(start..next);
                }
                start = next;
            }
        }
        continued
    }

    /// Compares the source texts embedded for a unit's files, which DWARF 5 introduced. An empty text stands for no
    /// text.
    fn texts(&mut self, id: UnitId, program: &LineProgram<'_>, at: &At) {
        if program.version < 5 {
            return;
        }
        let module = self.described.module;
        let texts = module.files.iter().filter(|(_, file)| file.unit == id).map(|(id, file)| {
            let (directory, name, _) = described(module, self.described.consumer, id, program.version);
            (directory, name, file.source.map_or("", |text| module.string(text)).as_bytes())
        });
        let mut expected: Vec<_> = texts.filter(|(_, _, text)| !text.is_empty()).collect();
        let texts = (0..program.files.len() as u64).filter_map(|number| {
            let (directory, name, _) = source(program, number)?;
            Some((directory, name, program.file(number)?.source.unwrap_or_default()))
        });
        let mut actual: Vec<_> = texts.filter(|(_, _, text)| !text.is_empty()).collect();
        expected.sort_unstable();
        actual.sort_unstable();
        let text = |text: Option<&(Cow<'_, str>, Cow<'_, str>, &[u8])>| match text {
            Some((_, name, text)) => format!("a text of {} of file `{name}`", Count(text.len(), "byte")),
            None => "no such text".into(),
        };
        if expected != actual {
            let missing = expected.iter().find(|text| !actual.contains(text));
            let extra = actual.iter().find(|text| !expected.contains(text));
            self.report.find(FindingKind::Line, at.clone(), text(missing), text(extra));
        }
    }

    /// Whether all rows of a part of a function's code are equal, with their flags and without inlined calls.
    fn are_equal(
        &self,
        rows: &[LineTableRow],
        program: Option<&LineProgram<'_>>,
        sequence: &[LineRow],
        start: u64,
    ) -> bool {
        let Described { module, consumer, .. } = self.described;
        let version = program.map_or(5, |program| program.version);
        // Neighbours are in the same file, as a rule.
        let mut last = None;
        let mut is_same_file = |row: &LineTableRow, found: &LineRow| {
            let both = (row.file, found.file);
            let is_same = last == Some(both) || {
                let file = program.and_then(|program| source(program, found.file));
                file.is_some_and(|file| file == described(module, consumer, row.file, version))
            };
            last = is_same.then_some(both);
            is_same
        };
        let mut written = sequence.iter().filter(|row| !row.end_sequence);
        let are_same = rows.iter().all(|row| {
            written.next().is_some_and(|written| {
                let numbers = [row.line, row.column].map(u64::from);
                row.pc == written.address.wrapping_sub(start)
                    && numbers == [written.line, written.column]
                    && u64::from(row.discriminator) == written.discriminator
                    && (row.is_stmt, row.is_prologue_end, row.is_epilogue_begin)
                        == (written.is_stmt, written.prologue_end, written.epilogue_begin)
                    && (written.isa, written.op_index, written.basic_block) == (0, 0, false)
                    && is_same_file(row, written)
            })
        });
        are_same && written.next().is_none()
    }

    /// Compares the rows of a part of a function's code. The first difference is a finding, because an inserted row
    /// shifts all later rows.
    fn sequence(
        &mut self,
        id: FunctionId,
        rows: &[LineTableRow],
        program: Option<&LineProgram<'_>>,
        sequence: &[LineRow],
        start: u64,
    ) {
        let module = self.described.module;
        let consumer = self.described.consumer;
        let version = program.map_or(5, |program| program.version);
        let has_flags = !self.described.omitted.of_rows.contains(&id);
        let has_calls = consumer.has_line_directives || consumer.has_inlined_rows;
        if has_flags && !has_calls && self.are_equal(rows, program, sequence, start) {
            self.report.rows += rows.len() as u64;
            return;
        }
        let rows = rows.iter().map(|row| expected(module, consumer, row, version));
        let rows = rows.map(|row| if has_flags { row } else { row.without_flags() });
        let of_code = || sequence.iter().filter(|row| !row.end_sequence);
        let actual = of_code().map(|row| encoded_row(program, row, start));
        let (rows, actual) = if has_calls {
            let scopes = inlined_scopes(self.described, id);
            let rows = rows.map(|row| Row { inlined: described_calls(module, &scopes, row.pc), ..row });
            let calls = of_code().map(|row| found_calls(program, sequence, row));
            let actual = actual.zip(calls).map(|(row, inlined)| Row { inlined, ..row });
            (directives(rows), directives(actual))
        } else {
            (rows.collect(), actual.collect())
        };
        let mut rows = rows.into_iter();
        let mut actual = actual.into_iter();
        loop {
            let expected = rows.next();
            let actual = actual.next();
            if expected.is_none() && actual.is_none() {
                return;
            }
            // Missing and additional rows count as compared, too.
            self.report.rows += 1;
            if expected == actual {
                continue;
            }
            let pc = expected.as_ref().or(actual.as_ref()).map_or(0, |row| row.pc);
            let site = module
                .at_scope(module.function(id).scope)
                .with(|context| context.pcs = Some(pc..pc.saturating_add(1)));
            let text = |row: Option<Row<'_>>| row.map_or_else(|| "no row".into(), |row| row.describe());
            return self.report.find(FindingKind::Line, site, text(expected), text(actual));
        }
    }
}

/// Looks for rows over described code in the line programs of units that are not described. Other rows in such a
/// program are not compared.
pub(super) fn lines_of_others(
    described: Described<'_>,
    report: &mut CheckReport,
    dwarf: &Dwarf<'_>,
    unit: &Unit<'_>,
    at: &At,
) {
    let Ok(Some(program)) = dwarf.lines(unit) else { return };
    let pcs = described.object.pc_notation();
    let rows: Vec<LineRow> = program.rows().map_while(Result::ok).inspect(|_| crate::work::step()).collect();
    for range in sequences(&rows).into_values().flatten() {
        let rows = &rows[range];
        if are_over(described, rows) {
            report.find(FindingKind::Line, at.clone(), "no more rows", more_rows(pcs, rows));
        }
    }
}

/// Returns whether a sequence's rows cover a described function's code.
fn are_over(described: Described<'_>, rows: &[LineRow]) -> bool {
    rows.windows(2).any(|rows| described.index.code.meet(&(rows[0].address..rows[1].address)))
}

fn more_rows(pcs: PcNotation<'_>, rows: &[LineRow]) -> String {
    let from = rows.first().map_or(0, |row| row.address);
    format!("{} from {} on", Count(rows.len(), "row"), pcs.pc(from))
}

/// Operand counts for the standard opcodes: DWARF 5 section 6.2.5.2.
const STANDARD_LENGTHS: [u8; 12] = [0, 1, 1, 1, 1, 0, 0, 0, 1, 0, 0, 1];

/// What a row contains.
#[derive(Debug, PartialEq)]
struct Row<'t> {
    pc: u64,
    file: Option<Source<'t>>,
    line: u64,
    column: u64,
    discriminator: u64,
    is_stmt: bool,
    is_prologue_end: bool,
    is_epilogue_begin: bool,
    /// Registers that the module does not describe: instruction set, operation index, basic block.
    other: (u64, u64, bool),
    /// Inlined calls around the instruction, the innermost first, in a directive table: the function, and the call's
    /// line and column.
    inlined: Vec<(String, u64, u64)>,
}

impl Row<'_> {
    /// Returns the row with default flags and discriminator.
    fn without_flags(self) -> Self {
        Row { discriminator: 0, is_stmt: true, is_prologue_end: false, is_epilogue_begin: false, ..self }
    }
}

impl Describe for Row<'_> {
    fn describe(&self) -> String {
        let Self {
            pc,
            file,
            line,
            column,
            discriminator,
            is_stmt,
            is_prologue_end,
            is_epilogue_begin,
            other,
            inlined,
        } = self;
        let mut words = format!("a row at {pc:#x}: {}, line {line}, column {column}", file.describe());
        let (isa, op_index, is_basic_block) = *other;
        for (what, number) in [("discriminator", *discriminator), ("isa", isa), ("op_index", op_index)] {
            if number != 0 {
                words += &format!(", {what} {number}");
            }
        }
        for (what, is) in [
            ("not a statement", !is_stmt),
            ("prologue_end", *is_prologue_end),
            ("epilogue_begin", *is_epilogue_begin),
            ("basic_block", is_basic_block),
        ] {
            if is {
                words += &format!(", {what}");
            }
        }
        for (function, line, column) in inlined {
            words += &format!(", inlined `{function}` at line {line}, column {column}");
        }
        words
    }
}

fn expected<'t>(
    module: &'t model::Module,
    consumer: &Consumer,
    row: &model::LineTableRow,
    version: u16,
) -> Row<'t> {
    Row {
        pc: row.pc,
        file: Some(described(module, consumer, row.file, version)),
        line: row.line.into(),
        column: row.column.into(),
        discriminator: row.discriminator.into(),
        is_stmt: row.is_stmt,
        is_prologue_end: row.is_prologue_end,
        is_epilogue_begin: row.is_epilogue_begin,
        other: (0, 0, false),
        inlined: Vec::new(),
    }
}

fn encoded_row<'o>(program: Option<&LineProgram<'o>>, row: &LineRow, start: u64) -> Row<'o> {
    Row {
        pc: row.address.wrapping_sub(start),
        file: program.and_then(|program| source(program, row.file)),
        line: row.line,
        column: row.column,
        discriminator: row.discriminator,
        is_stmt: row.is_stmt,
        is_prologue_end: row.prologue_end,
        is_epilogue_begin: row.epilogue_begin,
        other: (row.isa, row.op_index, row.basic_block),
        inlined: Vec::new(),
    }
}

/// Returns the inlined calls in a function, each after the calls around it.
fn inlined_scopes(described: Described<'_>, id: FunctionId) -> Vec<ScopeId> {
    let mut calls = Vec::new();
    let mut pending = vec![described.module.function(id).scope];
    while let Some(scope) = pending.pop() {
        for inner in described.index.scopes.items(scope) {
            crate::work::step();
            match described.module.scope(inner).kind {
                ScopeKind::Function(_) => continue,
                ScopeKind::Inlined { .. } => calls.push(inner),
                _ => {}
            }
            pending.push(inner);
        }
    }
    calls
}

/// Described calls around a pc, the innermost first.
fn described_calls(module: &model::Module, scopes: &[ScopeId], pc: u64) -> Vec<(String, u64, u64)> {
    let here =
        scopes.iter().rev().filter(|&&scope| module.ranges(scope).iter().any(|range| range.contains(&pc)));
    let call = |&scope: &ScopeId| match module.scope(scope).kind {
        ScopeKind::Inlined { function, call } => {
            let function = module.function(function);
            let name = module.string(function.linkage_name.unwrap_or(function.name));
            Some((name.to_owned(), call.line.into(), call.column.into()))
        }
        _ => None,
    };
    here.filter_map(call).collect()
}

/// Calls around a row, the innermost first.
fn found_calls(
    program: Option<&LineProgram<'_>>,
    sequence: &[LineRow],
    row: &LineRow,
) -> Vec<(String, u64, u64)> {
    let mut calls = Vec::new();
    let mut next = row.inlined;
    // A damaged table can have a cycle: no chain is longer than the sequence.
    while let Some(inlined) = next.filter(|_| calls.len() < sequence.len()) {
        let name = program.and_then(|program| program.inlined_name(inlined)).unwrap_or_default();
        let index = usize::try_from(inlined.call).ok().and_then(|call| call.checked_sub(1));
        let call = index.and_then(|index| sequence.get(index));
        calls.push((name.into_owned(), call.map_or(0, |call| call.line), call.map_or(0, |call| call.column)));
        next = call.and_then(|call| call.inlined);
    }
    calls
}

/// Converts rows as line directives do: only the last row at each pc stays.
fn directives<'t>(rows: impl Iterator<Item = Row<'t>>) -> Vec<Row<'t>> {
    let mut kept: Vec<Row<'t>> = Vec::new();
    for row in rows {
        match kept.last_mut() {
            Some(last) if last.pc == row.pc => *last = row,
            _ => kept.push(row),
        }
    }
    kept
}

/// Sequences as row ranges, by start address. Each sequence ends with its end-of-sequence row.
fn sequences(rows: &[LineRow]) -> BTreeMap<u64, VecDeque<Range<usize>>> {
    let mut by_start = BTreeMap::<_, VecDeque<_>>::new();
    let mut start = 0;
    for (index, row) in rows.iter().enumerate() {
        // A program can end without an end-of-sequence row.
        if row.end_sequence || index + 1 == rows.len() {
            by_start.entry(rows[start].address).or_default().push_back(start..index + 1);
            start = index + 1;
        }
    }
    by_start
}
