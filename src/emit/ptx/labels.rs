//! Text positions to which sections refer, as labels.

use hashbrown::HashMap;

use super::text::digits;
use crate::emit::section::{RelocationTarget, Section};
use crate::error::{Count, Error, ErrorKind, Named, Result};
use crate::near::nearest;
use crate::ptx::{Function, LABEL, Text, line_of};

/// Labels for the positions to which sections refer, and everything else to which they can refer.
#[derive(Debug)]
pub(super) struct Labels<'t> {
    /// Label numbers, counted from 1, by function and position; 0 for none. Empty for a function without labels.
    pub(super) functions: Vec<Vec<u32>>,
    count: u32,
    pub(super) by_name: HashMap<&'t str, usize>,
    /// How many variables and parameters have each name.
    symbols: HashMap<&'t str, usize>,
}

impl<'t> Labels<'t> {
    pub(super) fn new(text: &Text<'t>, sections: &[Section]) -> Result<Self> {
        let by_name: HashMap<&str, usize> =
            text.functions.iter().enumerate().rev().map(|(index, function)| (function.name, index)).collect();
        let mut symbols = HashMap::new();
        for symbol in &text.symbols {
            *symbols.entry(symbol.name).or_default() += 1;
        }
        let mut functions: Vec<Vec<u32>> = vec![Vec::new(); text.functions.len()];
        for relocation in sections.iter().flat_map(|section| &section.relocations) {
            if let RelocationTarget::Symbol(name) = &relocation.target
                && let Some(&index) = by_name.get(&**name)
            {
                let function = &text.functions[index];
                position(text.text, function, relocation.addend)?;
                let labels = &mut functions[index];
                if labels.is_empty() {
                    labels.resize(function.instructions.len() + 1, 0);
                }
                // Positions are marked first and numbered below, so that the numbers follow the text's order.
                labels[relocation.addend as usize] = 1;
            }
        }
        let mut count = 0;
        for label in functions.iter_mut().flatten().filter(|label| **label != 0) {
            count += 1;
            *label = count;
        }
        Ok(Self { functions, count, by_name, symbols })
    }

    /// Whether a symbol is a function.
    pub(super) fn is_function(&self, name: &str) -> bool {
        self.by_name.contains_key(name)
    }

    /// Returns the number of a position's label, if the symbol is a function.
    pub(super) fn number(&self, function: &str, position: u64) -> Option<u32> {
        let labels = &self.functions[*self.by_name.get(function)?];
        labels.get(usize::try_from(position).ok()?)?.checked_sub(1)
    }

    /// Returns how many variables and parameters have a name.
    pub(super) fn variables(&self, name: &str) -> usize {
        self.symbols.get(name).copied().unwrap_or(0)
    }

    /// Length of all labels, or a little more.
    pub(super) fn length(&self) -> usize {
        self.count as usize * (LABEL.len() + digits(self.count.into()) + 2)
    }
}

/// Returns a position's offset in the text: an instruction, or the end of the body.
pub(super) fn position(text: &str, function: &Function<'_>, position: u64) -> Result<usize> {
    let count = function.instructions.len();
    let index = usize::try_from(position).ok().filter(|&index| index <= count);
    let index = index.ok_or_else(|| {
        let line = line_of(text, function.end);
        let count = Count(count, "instruction");
        let what = format!(
            "position {position} is outside function `{}`, which ends in line {line} and has {count}",
            function.name
        );
        Error::bad_argument(what)
    })?;
    Ok(function.instructions.get(index).copied().unwrap_or(function.end))
}

/// Error for a name that the text does not declare.
pub(super) fn unknown(text: &Text<'_>, name: &str) -> Error {
    let functions = text.functions.iter().map(|function| function.name);
    let known = functions.chain(text.symbols.iter().map(|symbol| symbol.name));
    let nearest = nearest(name, known);
    ErrorKind::UnknownName { kind: Named::Symbol, name: name.into(), nearest }.into()
}
