//! Debug instructions as text, one line each, with what the ids name.

use core::fmt::Write;

use super::layout::unknown_set;
use super::operand::Kind;
use super::read::{Fact, Facts, Operand};
use super::words::Id;
use super::{Constant, Function, opcodes as op};

/// How much is said.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct TextOptions {
    /// Also say the word where each instruction begins.
    pub verbose: bool,
}

/// Bytes of a string that are shown.
const SHOWN: usize = 80;

/// The text of an `OpString`, the start of it if it is long.
pub(super) fn shown(facts: &Facts<'_>, id: Id) -> Option<String> {
    let bytes = facts.layout().string_start(id, SHOWN + 1)?;
    let string = String::from_utf8_lossy(&bytes);
    let (end, is_whole) = (string.floor_char_boundary(SHOWN), bytes.len() <= SHOWN);
    Some(format!("{:?}{}", &string[..end], if is_whole { "" } else { "…" }))
}

/// The debug instructions of a module as text.
///
/// An operand is its name, and the literal or the id; behind an id stands the string or the number that it is. What is
/// there several times has its name once; what an instruction should not have, none. Of a set that is
/// [not known](super::Layout::unknown_sets) only its name is there, and how many instructions there are.
pub fn print(facts: &Facts<'_>, options: TextOptions) -> String {
    let (layout, mut text) = (facts.layout(), String::new());
    let (words, mut functions) = (layout.words(), layout.functions().iter().peekable());
    let (major, minor) = words.version();
    let _ = writeln!(text, "SPIR-V {major}.{minor}, ids below {}", words.bound());
    for (id, set) in layout.sets() {
        let _ = writeln!(text, "{id} = \"{}\"", set.name());
    }
    for (id, name, count) in layout.unknown_sets() {
        let _ = writeln!(text, "{id} = {}", unknown_set(name, count));
    }
    let mut place = Place { function: None, block: None };
    for instruction in words.instructions() {
        let at = instruction.at;
        while let Some(function) = functions.next_if(|function| function.at.start <= at) {
            place = Place { function: Some(function), block: None };
        }
        if place.function.is_some_and(|function| at >= function.at.end) {
            place = Place { function: None, block: None };
        }
        if instruction.opcode() == op::LABEL {
            place.block = instruction.result().map(|id| (id, false));
        }
        let Some(fact) = facts.fact(instruction) else { continue };
        place.enter(&mut text);
        if options.verbose {
            let _ = write!(text, "{at:>6}: ");
        }
        text.push_str(place.indent());
        line(&mut text, facts, &fact);
        text.push('\n');
    }
    text
}

/// Where an instruction is.
struct Place<'f> {
    function: Option<&'f Function>,
    /// The label, and whether it was printed.
    block: Option<(Id, bool)>,
}

impl Place<'_> {
    /// Says where it is, if that was not said yet.
    fn enter(&mut self, text: &mut String) {
        let Some(function) = self.function else { return };
        if let Some((label, is_said)) = &mut self.block
            && !*is_said
        {
            *is_said = true;
            let _ = writeln!(text, "function {}, block {label}:", function.id);
        }
    }

    fn indent(&self) -> &'static str {
        if self.function.is_some() { "  " } else { "" }
    }
}

/// One instruction.
fn line(text: &mut String, facts: &Facts<'_>, fact: &Fact<'_>) {
    let _ = write!(text, "{} = ", fact.result);
    match fact.name() {
        Some(name) => text.push_str(name.row().text),
        None => {
            let _ = write!(text, "instruction {}", fact.number);
        }
    }
    let mut last = None;
    for operand in fact.operands() {
        let field = operand.row.map(|row| row.field);
        // What is there several times has its name once.
        if let Some(row) = operand.row.filter(|_| field != last) {
            let comma = if operand.index == 0 { "" } else { "," };
            let _ = write!(text, "{comma} {}:", row.field.text());
        }
        text.push(' ');
        self::operand(text, facts, fact, operand);
        last = field;
    }
}

fn operand(text: &mut String, facts: &Facts<'_>, fact: &Fact<'_>, operand: Operand) {
    let word = operand.word;
    let Some(row) = operand.row else {
        let _ = write!(text, "{word}");
        return;
    };
    let number = match row.kind {
        kind if kind.is_literal(fact.set) => Some(u64::from(word)),
        _ => {
            let _ = write!(text, "{}", Id(word));
            let constant = facts.layout().constant(Id(word));
            if let Some(Constant { is_boolean: true, value: Some(value), .. }) = constant {
                let _ = write!(text, " ({})", value != 0);
                return;
            }
            constant.and_then(|constant| constant.value)
        }
    };
    let number = number.map(|number| match (row.kind, u32::try_from(number)) {
        (Kind::Of(enumeration), Ok(number)) => enumeration.text(number),
        // Negative enumerators and offsets are for people.
        _ => (number as i64).to_string(),
    });
    match number {
        Some(number) if row.kind.is_literal(fact.set) => text.push_str(&number),
        Some(number) => {
            let _ = write!(text, " ({number})");
        }
        None => {
            if let Some(string) = shown(facts, Id(word)) {
                let _ = write!(text, " {string}");
            }
        }
    }
}
