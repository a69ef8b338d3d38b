//! Checks that lines and columns exist in the source's text.

use hashbrown::HashMap;

use super::context::Check;
use super::rule::ValidationRule;
use crate::error::Count;
use crate::spirv::operand::Field;
use crate::spirv::read::{Fact, Facts};
use crate::spirv::table::InstructionName;
use crate::spirv::words::Id;

/// The sources' texts.
pub(in crate::spirv) struct Lines {
    /// Sources with a text.
    sources: HashMap<Id, Text>,
    /// Line ends in each of a text's strings.
    strings: HashMap<Id, Newlines>,
    /// Sources whose text differs from the compiled lines, and the reason.
    broken: Vec<(Id, ValidationRule)>,
}

/// Line ends in a string.
struct Newlines {
    bytes: usize,
    /// Number of lines in the preamble, which ends with `#line 1`.
    preamble: usize,
    /// Whether the string contains a line directive after the preamble.
    has_directive: bool,
    /// Each line end's offset from the string's start, in bytes.
    ends: Vec<usize>,
}

/// A text that consists of consecutive strings. They are not joined, because many texts can share a string.
#[derive(Default)]
struct Text {
    parts: Vec<Part>,
    bytes: usize,
    ends: usize,
    /// Number of lines before line 1.
    preamble: usize,
}

/// A string in a text.
struct Part {
    string: Id,
    /// Number of preceding bytes.
    bytes: usize,
    /// Number of preceding line ends.
    ends: usize,
}

/// Start of a text that is a checksum, as LLVM's translator writes it.
const CHECKSUM: &[u8] = b"//__CSK_";

/// Whether the line is a line directive: `#line 5`, or `# 5` in preprocessor output.
fn is_directive(line: &[u8]) -> bool {
    let Some(directive) = line.trim_ascii_start().strip_prefix(b"#").map(<[u8]>::trim_ascii_start) else {
        return false;
    };
    directive.starts_with(b"line") || directive.first().is_some_and(u8::is_ascii_digit)
}

/// Number of lines before line 1 of a text that begins with comments and `#line 1`, as glslang writes it; 0 for another text.
fn preamble(text: &[u8]) -> usize {
    let lines = text.split(|&byte| byte == b'\n').map(<[u8]>::trim_ascii);
    let is_comment = |line: &[u8]| line.is_empty() || line.starts_with(b"//");
    match lines.enumerate().find(|(_, line)| !is_comment(line)) {
        Some((comments, b"#line 1")) => comments + 1,
        _ => 0,
    }
}

impl Lines {
    pub(in crate::spirv) fn new(facts: &Facts<'_>) -> Self {
        let mut lines = Self { sources: HashMap::new(), strings: HashMap::new(), broken: Vec::new() };
        let mut last = None;
        // A text's strings follow each other; any other instruction ends the text.
        for fact in facts.iter() {
            match fact.name() {
                Some(InstructionName::Source) => last = Some(fact.result),
                Some(InstructionName::SourceContinued) => {}
                _ => last = None,
            }
            if let Some((source, string)) = last.zip(fact.id(Field::Text)) {
                let other = lines.add(facts, source, string);
                if let Some(rule) = other {
                    lines.sources.remove(&source);
                    lines.broken.push((source, rule));
                    last = None;
                }
            }
        }
        lines
    }

    /// Adds a string to a source's text. Returns the reason if that text differs from the compiled lines.
    fn add(&mut self, facts: &Facts<'_>, source: Id, string: Id) -> Option<ValidationRule> {
        // Each string is searched once, however many texts share it.
        if !self.strings.contains_key(&string) {
            let bytes = facts.layout().string_start(string, usize::MAX)?;
            let ends = bytes.iter().enumerate().filter(|&(_, &byte)| byte == b'\n').map(|(at, _)| at);
            let preamble = preamble(&bytes);
            let newlines = Newlines {
                bytes: bytes.len(),
                preamble,
                has_directive: bytes.split(|&byte| byte == b'\n').skip(preamble).any(is_directive),
                ends: ends.collect(),
            };
            self.strings.insert(string, newlines);
        }
        let newlines = &self.strings[&string];
        let start = facts.layout().string_start(string, CHECKSUM.len())?;
        let text = self.sources.entry(source).or_default();
        if text.parts.is_empty() && start.starts_with(CHECKSUM) {
            return Some(ValidationRule::ChecksumText);
        }
        if newlines.has_directive || newlines.preamble > 0 && !text.parts.is_empty() {
            return Some(ValidationRule::LineDirective);
        }
        if text.parts.is_empty() {
            text.preamble = newlines.preamble;
        }
        text.parts.push(Part { string, bytes: text.bytes, ends: text.ends });
        text.bytes += newlines.bytes;
        text.ends += newlines.ends.len();
        None
    }

    /// Number of lines in the source's text after its preamble; `None` if there is no text.
    pub(in crate::spirv) fn count(&self, source: Id) -> Option<u64> {
        let text = self.sources.get(&source)?;
        (text.bytes > 0).then_some((text.ends + 1).saturating_sub(text.preamble) as u64)
    }

    /// Number of bytes in a line; lines count from 1.
    pub(in crate::spirv) fn bytes(&self, source: Id, line: u64) -> Option<u64> {
        let text = self.sources.get(&source)?;
        // The last line has no line end.
        let index = usize::try_from(line.checked_sub(1)?).ok()?.checked_add(text.preamble)?;
        if index > text.ends {
            return None;
        }
        let start =
            index.checked_sub(1).map_or(Some(0), |before| self.end(text, before).map(|end| end + 1))?;
        let end = if index == text.ends { Some(text.bytes) } else { self.end(text, index) };
        Some((end? - start) as u64)
    }

    /// A line's end, in bytes from the text's start.
    fn end(&self, text: &Text, line: usize) -> Option<usize> {
        let part = text.parts[..text.parts.partition_point(|part| part.ends <= line)].last()?;
        Some(part.bytes + self.strings.get(&part.string)?.ends.get(line - part.ends)?)
    }
}

pub(super) fn text_of_sources(check: &mut Check<'_, '_>, lines: &Lines) {
    for &(id, rule) in &lines.broken {
        let what = match rule {
            ValidationRule::ChecksumText => "it is a checksum, not the text of a program",
            _ => "a #line in it renumbers its lines, so they are not checked",
        };
        if let Some(fact) = check.facts.get(id) {
            check.find_of(rule, &fact, Field::Text, what);
        }
    }
}

/// Checks an instruction's lines and columns.
pub(super) fn lines<'a>(check: &mut Check<'_, 'a>, fact: &Fact<'a>, lines: &Lines) {
    let source = match fact.name() {
        // The call's line is in its scope's file.
        Some(InstructionName::InlinedAt) => {
            let scope = check.facts.named(fact, Field::Scope);
            scope.and_then(|scope| scope.id(Field::Source))
        }
        _ => fact.id(Field::Source),
    };
    let text = source.and_then(|source| Some((source, lines.count(source)?)));
    for (line, column) in [
        (Field::Line, Some(Field::Column)),
        (Field::ScopeLine, None),
        (Field::LineStart, Some(Field::ColumnStart)),
        (Field::LineEnd, Some(Field::ColumnEnd)),
    ] {
        let number = |field| check.facts.number(fact, field);
        let (Some((source, count)), Some(at)) = (text, number(line)) else { continue };
        // 0 means no line.
        if at == 0 {
            continue;
        }
        if at > count {
            let what = format!("line {at} is not in the text, which has {count}");
            check.find_of(ValidationRule::Line, fact, line, what);
        } else if let Some(column) = column
            && let (Some(number), Some(bytes)) = (number(column), lines.bytes(source, at))
            && number > bytes + 1
        {
            let bytes = Count(bytes, "byte");
            let what = format!("column {number} is not in line {at}, which has {bytes}");
            check.find_of(ValidationRule::Column, fact, column, what);
        }
    }
    range_of_lines(check, fact);
}

fn range_of_lines<'a>(check: &mut Check<'_, 'a>, fact: &Fact<'a>) {
    let number = |field| check.facts.number(fact, field);
    let (Some(line), Some(line_end)) = (number(Field::LineStart), number(Field::LineEnd)) else { return };
    let (Some(column), Some(column_end)) = (number(Field::ColumnStart), number(Field::ColumnEnd)) else {
        return;
    };
    if (line_end, column_end) < (line, column) {
        let what = format!("{line_end}:{column_end} is before {line}:{column}");
        check.find(ValidationRule::LineRange, fact, what);
    }
}
