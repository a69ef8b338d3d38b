//! Prints debug instructions as text, one per line, with the strings and numbers that ids refer to.

use core::fmt::Write;

use super::layout::unknown_set;
use super::read::{Fact, Facts, Operand};
use super::words::Id;
use super::{Constant, FunctionLayout, opcodes as op};

/// Options for [`print()`].
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct TextOptions {
    /// Also prints the word at which each instruction begins.
    pub verbose: bool,
}

/// Maximum number of bytes printed from a string.
const SHOWN: usize = 80;

/// Text of an `OpString`, truncated if it is long.
pub(super) fn shown(facts: &Facts<'_>, id: Id) -> Option<String> {
    let bytes = facts.layout().string_start(id, SHOWN + 1)?;
    let string = String::from_utf8_lossy(&bytes);
    let end = string.floor_char_boundary(SHOWN);
    let is_whole = bytes.len() <= SHOWN;
    Some(format!("{:?}{}", &string[..end], if is_whole { "" } else { "…" }))
}

/// Prints a module's debug instructions.
///
/// An operand is printed as its name, and the literal or the id, followed by the string or number that the id refers
/// to. A repeated operand is named once; an operand beyond the table is unnamed.
/// [Unknown sets](super::ModuleLayout::unknown_sets) are printed only with their name and instruction count.
pub fn print(facts: &Facts<'_>, options: TextOptions) -> String {
    let layout = facts.layout();
    let mut text = String::new();
    let words = layout.words();
    let mut functions = layout.functions().iter().peekable();
    let (major, minor) = words.version();
    let _ = writeln!(text, "SPIR-V {major}.{minor}, ids below {}", words.bound());
    for (id, set) in layout.sets() {
        let _ = writeln!(text, "{id} = \"{}\"", layout.set_name(id).unwrap_or(set.name()));
    }
    for (id, name, count) in layout.unknown_sets() {
        let _ = writeln!(text, "{id} = {}", unknown_set(name, count));
    }
    let mut place = Place { function: None, block: None };
    for instruction in words.instructions() {
        let word = instruction.at;
        // A function without debug instructions is skipped, so that several may begin before this word.
        while let Some(function) = functions.next_if(|function| function.at.start <= word) {
            place = Place { function: Some(function), block: None };
        }
        // Between functions, the heading must not be repeated.
        if place.function.is_some_and(|function| word >= function.at.end) {
            place = Place { function: None, block: None };
        }
        if instruction.opcode() == op::LABEL {
            place.block = instruction.result().map(|id| (id, false));
        }
        let Some(fact) = facts.fact(instruction) else { continue };
        place.enter(&mut text);
        if options.verbose {
            let _ = write!(text, "{word:>6}: ");
        }
        text.push_str(place.indent());
        line(&mut text, facts, &fact);
        text.push('\n');
    }
    text
}

/// The current function and block.
struct Place<'f> {
    function: Option<&'f FunctionLayout>,
    /// The label, and whether it is printed.
    block: Option<(Id, bool)>,
}

impl Place<'_> {
    /// Prints the heading for the function and block, once.
    fn enter(&mut self, text: &mut String) {
        let Some(function) = self.function else { return };
        if let Some((label, is_encoded)) = &mut self.block
            && !*is_encoded
        {
            *is_encoded = true;
            let _ = writeln!(text, "function {}, block {label}:", function.id);
        }
    }

    fn indent(&self) -> &'static str {
        if self.function.is_some() { "  " } else { "" }
    }
}

/// Prints one instruction.
fn line(text: &mut String, facts: &Facts<'_>, fact: &Fact<'_>) {
    let _ = write!(text, "{} = ", fact.result);
    match fact.name() {
        Some(name) => text.push_str(name.text_in(fact.set)),
        None => {
            let _ = write!(text, "instruction {}", fact.number);
        }
    }
    let mut last = None;
    for operand in fact.operands() {
        let field = operand.field();
        // A repeated operand is named once.
        if let Some(field) = field.filter(|_| field != last) {
            let comma = if operand.index == 0 { "" } else { "," };
            let _ = write!(text, "{comma} {}:", field.text());
        }
        text.push(' ');
        self::operand(text, facts, fact, operand);
        last = field;
    }
}

fn operand(text: &mut String, facts: &Facts<'_>, fact: &Fact<'_>, operand: Operand) {
    let word = operand.word;
    if operand.field().is_none() {
        let _ = write!(text, "{word}");
        return;
    }
    let is_literal = operand.is_literal(fact.set);
    let number = if is_literal {
        Some(u64::from(word))
    } else {
        let _ = write!(text, "{}", Id(word));
        let constant = facts.layout().constant(Id(word));
        // A boolean is printed by value, because its id says nothing.
        if let Some(Constant { is_boolean: true, value: Some(value), .. }) = constant {
            let _ = write!(text, " ({})", value != 0);
            return;
        }
        constant.and_then(|constant| constant.value)
    };
    let number = number.map(|number| match (operand.enumeration(), u32::try_from(number)) {
        (Some(enumeration), Ok(number)) => enumeration.text(number, fact.set),
        // Signed, because enumerators and offsets can be negative.
        _ => (number as i64).to_string(),
    });
    match number {
        Some(number) if is_literal => text.push_str(&number),
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
