//! Insertion of labels, line directives and debug sections into a text.

use core::ops::Range;
use std::borrow::Cow;
use std::collections::HashMap;
use std::fmt::Write;

use smallvec::SmallVec;

use super::lines::{FunctionLines, Lines, SourcePlace};
use super::sections::Writer;
use super::{Existing, check_target, detach};
use crate::emit::{RelocationTarget, Section};
use crate::error::{Count, Error, ErrorKind, Result};
use crate::ptx::{Function, LABEL, Text};
use crate::target::Target;

/// Options of [`attach`]. The default adds sections alone.
#[derive(Debug, Clone, Copy, Default)]
pub struct Attach<'a> {
    /// Treatment of debug information in the text.
    pub existing: Existing,
    /// Rows of the line table, as `.file` and `.loc`.
    pub lines: Option<&'a Lines>,
}

/// Version of PTX from which `.loc` has inlined calls.
const INLINED_SINCE: (u64, u64) = (7, 2);

/// Adds debug information to a text of PTX. Every byte of the text is kept.
///
/// * `$L__eitri_<n>:` is inserted in front of an instruction, or the end of a body, to which the sections refer. There
///   are no other labels: each one can change the code that ptxas makes.
/// * `.loc` is inserted in front of the instruction of a row. The directive of an inlined call comes before the rows of
///   the inlined function. `.file` directives follow the text.
/// * The sections follow, and `debug` becomes an option of `.target`. Without sections there is neither: only lines.
///
/// A relocation to a function has a position as its addend; one to a variable, a parameter or a section becomes its
/// name.
///
/// # Errors
/// * [`ErrorKind::Syntax`]: the text is not PTX, with line and column.
/// * [`ErrorKind::WrongTarget`]: the target is not NVIDIA's.
/// * [`ErrorKind::AlreadyPresent`]: the text has debug information, and [`Existing::Refuse`] is given.
/// * [`ErrorKind::UnknownName`]: the text has no function or variable of a name.
/// * [`ErrorKind::BadArgument`]: a position is not in its function; a section is one that ptxas makes; an inlined call
///   needs a later version of PTX.
pub fn attach(text: &str, target: &Target, sections: &[Section], how: &Attach<'_>) -> Result<String> {
    check_target(target)?;
    let mut text = Cow::Borrowed(text);
    if how.existing == Existing::Replace {
        text = detach(&text)?.into();
    }
    let read = Text::read(&text)?;
    refuse_existing(&read)?;
    let Some((_, end_of_target)) = read.processor else {
        return Err(Error::bad_argument("a text of PTX has the directive `.target`"));
    };
    let labels = Labels::new(&read, sections)?;
    let mut edits = Edits { text: &read, labels, written: String::new(), insertions: Vec::new() };
    let mut strings = Strings::default();
    if let Some(lines) = how.lines {
        edits.rows(lines, &mut strings)?;
    }
    if !strings.bytes.is_empty() && read.version < INLINED_SINCE {
        let (major, minor) = read.version;
        let what = format!("inlined calls in `.loc` came with PTX 7.2: the version is {major}.{minor}");
        return Err(Error::bad_argument(what));
    }
    edits.labels();
    if !sections.is_empty() {
        edits.push(end_of_target, |out| out.push_str(", debug"));
    }
    // Stable: at one place, rows come before the label.
    edits.insertions.sort_by_key(|insertion| insertion.at);
    let added = edits.written.len() + sections.iter().map(super::sections::length).sum::<usize>();
    let mut out = String::with_capacity(text.len() + added + strings.bytes.len() * 4 + 256);
    let mut done = 0;
    for Insertion { at, written } in &edits.insertions {
        out.push_str(&text[done..*at]);
        out.push_str(&edits.written[written.clone()]);
        done = *at;
    }
    out.push_str(&text[done..]);
    let has_newline = text.is_empty() || text.ends_with('\n');
    if !has_newline {
        out.push('\n');
    }
    for (number, name) in (1..).zip(how.lines.iter().flat_map(|lines| &lines.files)) {
        if name.contains(['"', '\n']) {
            return Err(Error::bad_argument(format!(
                "the name of a file of PTX has no `\"` and one line: {name:?}"
            )));
        }
        let _ = writeln!(out, ".file\t{number} \"{name}\"");
    }
    let mut writer = Writer { out: &mut out, labels: &edits.labels, text: &read };
    for section in sections {
        writer.section(section, (section.name == DEBUG_STR).then_some(&strings.bytes))?;
    }
    if !strings.bytes.is_empty() && sections.iter().all(|section| section.name != DEBUG_STR) {
        writer.strings(&strings.bytes)?;
    }
    // The text ends as it did, so that it can be restored.
    if !has_newline {
        out.pop();
    }
    Ok(out)
}

const DEBUG_STR: &str = ".debug_str";

fn refuse_existing(text: &Text<'_>) -> Result<()> {
    let has_rows = !text.stray.is_empty() || text.functions.iter().any(|function| !function.locs.is_empty());
    let found = match text.sections.iter().find(|section| section.name.starts_with(".debug_")) {
        Some(section) => format!("the text has a section {} already", section.name),
        None if text.debug.is_some() => "the text has the option `debug` already".into(),
        None if has_rows || !text.files.is_empty() => "the text has line directives already".into(),
        None => return Ok(()),
    };
    Err(ErrorKind::AlreadyPresent(found).into())
}

/// Labels of positions to which sections refer, and what else they can refer to.
#[derive(Debug)]
pub(super) struct Labels<'t> {
    /// Index of the first label of each function, and its positions in ascending order.
    functions: Vec<(usize, Vec<u64>)>,
    by_name: HashMap<&'t str, usize>,
    /// Number of variables and parameters of each name.
    symbols: HashMap<&'t str, usize>,
}

impl<'t> Labels<'t> {
    fn new(text: &Text<'t>, sections: &[Section]) -> Result<Self> {
        let by_name: HashMap<&str, usize> =
            text.functions.iter().enumerate().rev().map(|(index, function)| (function.name, index)).collect();
        let mut symbols = HashMap::new();
        for symbol in &text.symbols {
            *symbols.entry(symbol.name).or_default() += 1;
        }
        let mut functions: Vec<(usize, Vec<u64>)> = vec![(0, Vec::new()); text.functions.len()];
        for relocation in sections.iter().flat_map(|section| &section.relocations) {
            if let RelocationTarget::Symbol(name) = &relocation.target
                && let Some(&index) = by_name.get(&**name)
            {
                position(&text.functions[index], relocation.addend)?;
                functions[index].1.push(relocation.addend);
            }
        }
        let mut next = 0;
        for (first, positions) in &mut functions {
            positions.sort_unstable();
            positions.dedup();
            *first = next;
            next += positions.len();
        }
        Ok(Self { functions, by_name, symbols })
    }

    /// Returns the number of the label of a position, if the symbol is a function.
    pub(super) fn number(&self, function: &str, position: u64) -> Option<usize> {
        let (first, positions) = &self.functions[*self.by_name.get(function)?];
        Some(first + positions.binary_search(&position).ok()?)
    }

    /// Returns the number of variables and parameters of a name.
    pub(super) fn variables(&self, name: &str) -> usize {
        self.symbols.get(name).copied().unwrap_or(0)
    }
}

/// Returns the place of a position: an instruction, or the end of the body.
fn position(function: &Function<'_>, position: u64) -> Result<usize> {
    let count = function.instructions.len();
    let index = usize::try_from(position).ok().filter(|&index| index <= count);
    let index = index.ok_or_else(|| {
        let text =
            format!("function `{}` has {}: position {position}", function.name, Count(count, "instruction"));
        Error::bad_argument(text)
    })?;
    Ok(function.instructions.get(index).copied().unwrap_or(function.end))
}

/// Names of inlined functions.
#[derive(Debug, Default)]
struct Strings<'l> {
    bytes: Vec<u8>,
    offsets: HashMap<&'l str, usize>,
}

impl<'l> Strings<'l> {
    fn offset(&mut self, text: &'l str) -> usize {
        *self.offsets.entry(text).or_insert_with(|| {
            let offset = self.bytes.len();
            self.bytes.extend_from_slice(text.as_bytes());
            self.bytes.push(0);
            offset
        })
    }
}

/// Places of `.loc` at an instruction, each with its innermost inlined call.
type Directives = SmallVec<[(SourcePlace, Option<usize>); 2]>;

/// Text to insert.
struct Insertion {
    /// Offset in the text.
    at: usize,
    /// Range in [`Edits::written`].
    written: Range<usize>,
}

/// Insertions into a text.
struct Edits<'t> {
    text: &'t Text<'t>,
    labels: Labels<'t>,
    /// What is inserted, one after the other.
    written: String,
    insertions: Vec<Insertion>,
}

impl Edits<'_> {
    fn labels(&mut self) {
        let labels = core::mem::take(&mut self.labels.functions);
        for (function, (first, positions)) in self.text.functions.iter().zip(&labels) {
            for (number, &at) in (*first..).zip(positions) {
                let at = function.instructions.get(at as usize).copied().unwrap_or(function.end);
                self.insert(at, "", |out| {
                    out.push_str(LABEL);
                    decimal(out, number);
                    out.push(':');
                });
            }
        }
        self.labels.functions = labels;
    }

    fn rows<'l>(&mut self, lines: &'l Lines, strings: &mut Strings<'l>) -> Result<()> {
        for function in &lines.functions {
            let index = self.labels.by_name.get(&*function.symbol).copied();
            let index = index.ok_or_else(|| super::sections::unknown(self.text, &function.symbol))?;
            self.rows_of(index, function, lines, strings)?;
        }
        Ok(())
    }

    fn rows_of<'l>(
        &mut self,
        index: usize,
        rows: &FunctionLines,
        lines: &'l Lines,
        strings: &mut Strings<'l>,
    ) -> Result<()> {
        let function = &self.text.functions[index];
        let mut last = HashMap::new();
        for row in &rows.rows {
            let at = position(function, row.pc)?;
            let mut directives = Directives::new();
            // Without calls, no row is looked up.
            if !lines.calls.is_empty() || row.inlined.is_some() {
                call(lines, row.inlined, &mut last, &mut directives)?;
                last.insert(row.place, row.inlined);
            }
            directives.push((row.place, row.inlined));
            for (place, inlined) in directives {
                let call = inlined.map(|call| &lines.calls[call]);
                let name = call.map(|call| strings.offset(&call.function));
                self.insert(at, "\t", |out| {
                    out.push_str(".loc\t");
                    source_place(out, place);
                    if let Some((call, name)) = call.zip(name) {
                        out.push_str(", function_name ");
                        out.push_str(LABEL);
                        out.push_str("names+");
                        decimal(out, name);
                        out.push_str(", inlined_at ");
                        source_place(out, call.at);
                    }
                });
            }
        }
        Ok(())
    }

    /// Inserts a statement in front of another one: on a line of its own, if the other one begins its line.
    fn insert(&mut self, at: usize, indent: &str, statement: impl FnOnce(&mut String)) {
        let before = &self.text.text[..at];
        let line = before.rfind('\n').map_or(0, |newline| newline + 1);
        let is_line = before[line..].trim().is_empty();
        self.push(if is_line { line } else { at }, |out| {
            out.push_str(if is_line { indent } else { "" });
            statement(out);
            out.push(if is_line { '\n' } else { ' ' });
        });
    }

    fn push(&mut self, at: usize, write: impl FnOnce(&mut String)) {
        let start = self.written.len();
        write(&mut self.written);
        self.insertions.push(Insertion { at, written: start..self.written.len() });
    }
}

/// Writes file, line and column.
fn source_place(out: &mut String, SourcePlace { file, line, column }: SourcePlace) {
    decimal(out, file as usize);
    out.push(' ');
    decimal(out, line as usize);
    out.push(' ');
    decimal(out, column as usize);
}

/// Writes a number.
pub(super) fn decimal(out: &mut String, number: usize) {
    out.push_str(itoa::Buffer::new().format(number));
}

/// Adds the row of a call unless the last row of that place is of it: to ptxas, `inlined_at` is the last row before it
/// with the file, line and column.
fn call(
    lines: &Lines,
    inlined: Option<usize>,
    last: &mut HashMap<SourcePlace, Option<usize>>,
    directives: &mut Directives,
) -> Result<()> {
    let mut missing = Vec::new();
    let mut next = inlined;
    while let Some(number) = next {
        let one = lines.calls.get(number).filter(|_| missing.len() <= lines.calls.len());
        let one = one.ok_or_else(|| Error::bad_argument("a row refers to an inlined call that is listed"))?;
        missing.push(one);
        next = one.within;
    }
    // Outer calls first.
    for one in missing.iter().rev() {
        if last.get(&one.at) != Some(&one.within) {
            directives.push((one.at, one.within));
            last.insert(one.at, one.within);
        }
    }
    Ok(())
}
