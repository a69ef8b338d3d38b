//! Inserting labels, line directives and debug sections into a PTX text.

use std::borrow::Cow;
use std::fmt::Write;

use hashbrown::HashMap;
use smallvec::SmallVec;

use super::detach::detach;
use super::labels::{Labels, position, unknown};
use super::lines::{FunctionLines, Lines, PtxLineRow, SourcePlace};
use super::sections::{Writer, length};
use super::text::{decimal, line_start};
use crate::emit::attribute_limit::refuse_many_attributes;
use crate::emit::elf::Existing;
use crate::emit::section::Section;
use crate::error::{Error, ErrorKind, Feature, Identity, Present, Result};
use crate::ptx::{Function, LABEL, Text};
use crate::target::Target;

/// Options of [`attach`]. The default adds sections alone.
#[derive(Debug, Clone, Copy, Default)]
#[non_exhaustive]
pub struct PtxAttachOptions<'a> {
    /// Treatment of debug information in the text.
    pub existing: Existing,
    /// Rows of the line table, as `.file` and `.loc`.
    pub lines: Option<&'a Lines>,
}

/// PTX version from which on `.loc` has inlined calls.
const INLINED_SINCE: (u64, u64) = (7, 2);

/// Adds debug information to a PTX text. Every byte of the text is kept.
///
/// * `$L__eitri_<n>:` is inserted before an instruction, or before the end of a body, to which the sections refer.
///   There are no other labels, because each one can change the code that ptxas generates. A reference to position 0 is
///   the function's name: without a row there, the label is after the prologue.
/// * `.loc` is inserted before a row's instruction. An inlined call's directive comes before the inlined function's
///   rows. `.file` directives follow the text.
/// * The sections follow, and `debug` becomes an option of `.target`. Without sections there is neither: only lines.
///
/// Registers and sizes in the description are not compared with the text: [`check_ptx`](crate::check::check_ptx) does
/// that.
///
/// A relocation to a function has a position as its addend; one to a variable, a parameter or a section becomes its
/// name.
///
/// # Errors
/// * [`ErrorKind::Syntax`]: the text is not PTX, with line and column.
/// * [`ErrorKind::WrongTarget`]: the target is not NVIDIA's.
/// * [`ErrorKind::AlreadyPresent`]: the text has debug information, and [`Existing::Refuse`] is given.
/// * [`ErrorKind::UnknownName`]: the text has no function or variable with such a name.
/// * [`ErrorKind::TargetLacks`]: an inlined call needs a later PTX version.
/// * [`ErrorKind::BadArgument`]: a position is not in its function; ptxas generates one of the sections itself;
///   sections refer to a function whose first row is not at position 0, where ptxas misplaces labels.
///
/// # Example
///
/// ```
/// # use eitri::build::Builder;
/// # use eitri::emit::ptx;
/// # use eitri::lower::{Consumer, Policy, lower};
/// # use eitri::model::{BaseEncoding, Loc};
/// # use eitri::target::{Sm, Target};
/// # let text = include_str!("../../../examples/data/cuda_kernel.ptx");
/// # let gpu = Target::nvptx(Sm::named("sm_80").expect("a processor"));
/// # let r2 = gpu.register_named("%r2")?;
/// # let mut m = Builder::new(gpu);
/// # let unit = m.unit("cuda_kernel.cu");
/// # let unsigned = m.base_type(unit, "unsigned int", BaseEncoding::Unsigned, 32)?;
/// # let scale = m.function(unit, "scale")?.code("scale", 22).kernel().id();
/// // 3: mov.u32 %r2, %tid.x. The value is in %r2 from the next position on.
/// m.variable(scale, "i", unsigned)?.live(4..22, Loc::per_lane(r2))?;
/// let module = m.finish()?;
/// let written = lower(&module, &Consumer::cuda_gdb(), Policy::Strict)?;
/// let mut options = ptx::PtxAttachOptions::default();
/// options.lines = written.lines.as_ref();
/// let debug = ptx::attach(text, module.target(), &written.sections, &options)?;
/// assert_eq!(ptx::detach(&debug)?, text);
/// # Ok::<(), eitri::Error>(())
/// ```
pub fn attach(
    text: &str,
    target: &Target,
    sections: &[Section],
    how: &PtxAttachOptions<'_>,
) -> Result<String> {
    check_target(target)?;
    let mut text = Cow::Borrowed(text);
    if how.existing == Existing::Replace {
        text = detach(&text)?.into();
    }
    let read = Text::read(&text)?;
    refuse_existing(&read)?;
    let Some((_, end_of_target)) = read.processor else {
        return Err(Error::bad_argument("PTX text has no directive `.target`"));
    };
    sections.iter().try_for_each(refuse_many_attributes)?;
    let calls = how.lines.iter().flat_map(|lines| &lines.calls);
    if let Some(call) = { calls }.find(|call| call.function.contains('\0')) {
        let name = &call.function;
        return Err(Error::bad_argument(format!(
            "name {name:?} of an inlined function contains a zero byte, which would end it in {DEBUG_STR}"
        )));
    }
    let labels = Labels::new(&read, sections)?;
    let lines_of = lines_of(&read, &labels, how.lines)?;
    // The output's size is estimated, so that the text does not move while it grows.
    let lengths = sections.iter().map(|section| length(section, 0));
    let rows = lines_of.iter().flatten().map(|lines| lines.length());
    let added: usize = lengths.chain(rows).sum::<usize>() + labels.length();
    let mut written = Attaching {
        text: &text,
        out: String::with_capacity(text.len() + added + 256),
        done: 0,
        option: (!sections.is_empty()).then_some(end_of_target),
    };
    let mut strings = Strings::default();
    for ((function, labels), parts) in read.functions.iter().zip(&labels.functions).zip(&lines_of) {
        let rows = how.lines.map(|lines| (lines, &parts[..]));
        written.function(function, labels, rows, &mut strings)?;
    }
    if !strings.bytes.is_empty() && read.version < INLINED_SINCE {
        let (major, minor) = read.version;
        return Err(Error::new(ErrorKind::TargetLacks {
            feature: Feature::InlinedRows,
            needed_by: "the line row of an inlined call".into(),
            target: format!("PTX {major}.{minor}"),
        }));
    }
    written.copy(text.len());
    let mut out = written.out;
    let has_newline = text.is_empty() || text.ends_with('\n');
    if !has_newline {
        out.push('\n');
    }
    for (number, name) in (1..).zip(how.lines.iter().flat_map(|lines| &lines.files)) {
        if name.contains(['"', '\n', '\0']) {
            return Err(Error::bad_argument(format!(
                "file name {name:?} contains `\"`, a line break or a zero byte, which PTX cannot express"
            )));
        }
        let _ = writeln!(out, ".file\t{number} \"{name}\"");
    }
    let mut writer = Writer { out: &mut out, labels: &labels, text: &read };
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
    let present = match text.sections.iter().find(|section| section.name.starts_with(".debug_")) {
        Some(section) => Present::PtxSection(section.name.to_string()),
        None if text.debug.is_some() => Present::PtxOption,
        None if has_rows || !text.files.is_empty() => Present::PtxLines,
        None => return Ok(()),
    };
    Err(ErrorKind::AlreadyPresent(present).into())
}

/// Returns each function's rows, in parts with ascending positions, because a function can have several descriptions.
fn lines_of<'l>(
    text: &Text<'_>,
    labels: &Labels<'_>,
    lines: Option<&'l Lines>,
) -> Result<Vec<Vec<&'l FunctionLines>>> {
    let mut functions = vec![Vec::new(); text.functions.len()];
    for lines in lines.iter().flat_map(|lines| &lines.functions) {
        let index = labels.by_name.get(&*lines.symbol);
        let index = index.ok_or_else(|| unknown(text, &lines.symbol))?;
        functions[*index].push(lines);
    }
    for parts in &mut functions {
        parts.sort_by_key(|part: &&FunctionLines| part.rows.first().map(|row| row.pc));
    }
    Ok(functions)
}

/// Inlined functions' names.
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

/// Source positions for `.loc` at an instruction, each with its innermost inlined call.
type Directives = SmallVec<[(SourcePlace, Option<usize>); 2]>;

/// A text with what is inserted so far.
struct Attaching<'t> {
    text: &'t str,
    out: String,
    /// Offset to which the text is copied.
    done: usize,
    /// Where the option `debug` goes, until it is written.
    option: Option<usize>,
}

impl Attaching<'_> {
    /// Copies the text up to an offset.
    fn copy(&mut self, end: usize) {
        if let Some(at) = self.option.take_if(|at| *at <= end) {
            self.out.push_str(&self.text[self.done..at]);
            self.out.push_str(", debug");
            self.done = at;
        }
        self.out.push_str(&self.text[self.done..end]);
        self.done = end;
    }

    /// Copies the text up to a statement, and inserts another statement before it: on its own line, if the statement
    /// begins its line.
    fn insert(&mut self, at: usize, indent: &str, statement: impl FnOnce(&mut String)) {
        let line = line_start(self.text, at);
        self.copy(line.unwrap_or(at));
        self.out.push_str(line.map_or("", |_| indent));
        statement(&mut self.out);
        self.out.push(line.map_or(' ', |_| '\n'));
    }

    /// Writes a function's rows and labels, in position order. At one position, rows come before the label.
    fn function<'l>(
        &mut self,
        function: &Function<'_>,
        labels: &[u32],
        lines: Option<(&'l Lines, &[&'l FunctionLines])>,
        strings: &mut Strings<'l>,
    ) -> Result<()> {
        let parts = lines.map_or(&[][..], |(_, parts)| parts);
        let mut rows = parts.iter().flat_map(|part| &part.rows).peekable();
        if labels.is_empty() && rows.peek().is_none() {
            return Ok(());
        }
        if let Some(row) = rows.peek().filter(|row| !labels.is_empty() && row.pc != 0) {
            return Err(Error::bad_argument(format!(
                "first row is at position {} in `{}`; expected position 0, because ptxas misplaces labels otherwise",
                row.pc, function.name
            )));
        }
        let mut last = HashMap::new();
        for pc in 0..=function.instructions.len() as u64 {
            let position = position(self.text, function, pc)?;
            while let Some((row, (lines, _))) = rows.next_if(|row| row.pc == pc).zip(lines) {
                self.row(position, row, lines, &mut last, strings)?;
            }
            if let Some(label) = labels.get(pc as usize).and_then(|label| label.checked_sub(1)) {
                self.insert(position, "", |out| {
                    out.push_str(LABEL);
                    decimal(out, label.into());
                    out.push(':');
                });
            }
        }
        let Some(row) = rows.next() else { return Ok(()) };
        position(self.text, function, row.pc)?;
        let what = format!(
            "row at position {} in `{}` comes after a later row; expected ascending positions",
            row.pc, function.name
        );
        Err(Error::bad_argument(what))
    }

    /// Writes a row, after the rows for the calls that it needs.
    fn row<'l>(
        &mut self,
        at: usize,
        row: &PtxLineRow,
        lines: &'l Lines,
        last: &mut HashMap<SourcePlace, Option<usize>>,
        strings: &mut Strings<'l>,
    ) -> Result<()> {
        let mut directives = Directives::new();
        // Without calls, no row is looked up.
        if !lines.calls.is_empty() || row.inlined.is_some() {
            call(lines, row.inlined, last, &mut directives)?;
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
                    decimal(out, name as u64);
                    out.push_str(", inlined_at ");
                    source_place(out, call.at);
                }
            });
        }
        Ok(())
    }
}

/// Writes file, line and column.
fn source_place(out: &mut String, SourcePlace { file, line, column }: SourcePlace) {
    decimal(out, file.into());
    out.push(' ');
    decimal(out, line.into());
    out.push(' ');
    decimal(out, column.into());
}

/// Adds a call's row, unless the last row at that location is the call's. ptxas takes as `inlined_at` the last earlier
/// row with the file, line and column.
fn call(
    lines: &Lines,
    inlined: Option<usize>,
    last: &mut HashMap<SourcePlace, Option<usize>>,
    directives: &mut Directives,
) -> Result<()> {
    let mut missing = Vec::new();
    let mut next = inlined;
    while let Some(number) = next {
        // More steps than calls would mean a cycle.
        let call = lines.calls.get(number).filter(|_| missing.len() <= lines.calls.len());
        let call =
            call.ok_or_else(|| Error::bad_argument("row refers to an inlined call that is not listed"))?;
        missing.push(call);
        next = call.within;
    }
    // Outer calls first.
    for call in missing.iter().rev() {
        if last.get(&call.at) != Some(&call.within) {
            directives.push((call.at, call.within));
            last.insert(call.at, call.within);
        }
    }
    Ok(())
}

/// Refuses a target whose code is not PTX.
fn check_target(target: &Target) -> Result<()> {
    if target.elf().machine == object::elf::EM_CUDA.0 {
        return Ok(());
    }
    let expected = Identity::Machine(target.elf().machine);
    let target = target.name().into();
    Err(ErrorKind::WrongTarget { target, expected, actual: Identity::Ptx }.into())
}
