//! Register declarations: PTX ISA, "Register State Space", "Parameterized Variable Names" and "Scoping".

use core::ops::Range;

use hashbrown::HashMap;

use super::lexer::{Kind, Lexer};
use super::text::{Function, Text};
use crate::error::Result;

/// Declared registers: a single register with this name, or as many as the count says, whose names end in numbers from
/// 0.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Registers<'t> {
    pub(crate) name: &'t str,
    pub(crate) count: Option<u64>,
    pub kind: RegisterKind,
    /// Positions in the block that contains the declaration; all positions if it is outside blocks.
    pub(crate) scope: Range<u64>,
    /// Whether the registers can have values when the function begins: parameters and module registers can.
    pub is_set: bool,
}

/// What a register holds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RegisterKind {
    Predicate,
    /// Size in bits; for a vector, the size of all elements together.
    Bits(u64),
    /// A type that this list does not have.
    Unknown,
}

impl RegisterKind {
    fn new(ty: &str, elements: u64) -> Self {
        let bits = match ty {
            ".pred" => return Self::Predicate,
            ".b8" | ".u8" | ".s8" => 8,
            ".b16" | ".u16" | ".s16" | ".f16" | ".bf16" => 16,
            ".b32" | ".u32" | ".s32" | ".f32" | ".f16x2" | ".bf16x2" => 32,
            ".b64" | ".u64" | ".s64" | ".f64" => 64,
            ".b128" => 128,
            _ => return Self::Unknown,
        };
        Self::Bits(elements * bits)
    }
}

impl<'t> Registers<'t> {
    /// Reads a declaration after `.reg`, up to its `;`, or up to the `,` or `)` that ends a parameter.
    pub(super) fn read(from: &mut Lexer<'t>, mut declare: impl FnMut(Self)) -> Result<()> {
        let expected = "a register type and names, with `<n>` after a name that stands for n registers";
        let mut kind = RegisterKind::Unknown;
        let mut elements = 1;
        let mut token = from.expect(Kind::Word, expected)?;
        while token.text.starts_with('.') {
            match token.text {
                ".v2" => elements = 2,
                ".v4" => elements = 4,
                ".align" => drop(from.number(expected)?),
                ty => kind = RegisterKind::new(ty, elements),
            }
            token = from.expect(Kind::Word, expected)?;
        }
        loop {
            let mut count = None;
            if from.take(b'<')? {
                count = Some(from.number(expected)?);
                from.expect(Kind::Symbol(b'>'), expected)?;
            }
            declare(Self { name: token.text, count, kind, scope: 0..u64::MAX, is_set: false });
            let after = *from;
            if !from.take(b',')? {
                return Ok(());
            }
            token = from.expect(Kind::Word, expected)?;
            // The next parameter.
            if token.text.starts_with('.') {
                *from = after;
                return Ok(());
            }
        }
    }
}

/// Open blocks in a function body: each block's position, and its register indices. The first block is the body.
#[derive(Debug)]
pub(super) struct Blocks(Vec<(u64, Vec<usize>)>);

impl Default for Blocks {
    fn default() -> Self {
        Self(vec![(0, Vec::new())])
    }
}

impl Blocks {
    pub(super) fn open(&mut self, position: usize) {
        self.0.push((position as u64, Vec::new()));
    }

    pub(super) fn declare<'t>(&mut self, declared: Registers<'t>, registers: &mut Vec<Registers<'t>>) {
        if let Some((start, indices)) = self.0.last_mut() {
            indices.push(registers.len());
            registers.push(Registers { scope: *start..u64::MAX, ..declared });
        }
    }

    /// Closes a block. Returns whether the body is still open.
    pub(super) fn close(&mut self, position: usize, registers: &mut [Registers<'_>]) -> bool {
        let (_, indices) = self.0.pop().unwrap_or_default();
        if self.0.is_empty() {
            return false;
        }
        for index in indices {
            registers[index].scope.end = position as u64;
        }
        true
    }
}

/// Register declarations that a function can name.
#[derive(Debug)]
pub struct Declarations<'t, 'r> {
    by_name: HashMap<&'t str, Vec<&'r Registers<'t>>>,
}

impl<'t, 'r> Declarations<'t, 'r> {
    pub fn new(text: &'r Text<'t>, function: &'r Function<'t>) -> Self {
        let mut by_name: HashMap<&str, Vec<_>> = HashMap::new();
        for registers in function.registers.iter().chain(&text.registers) {
            by_name.entry(registers.name).or_default().push(registers);
        }
        Self { by_name }
    }

    /// Returns the declarations of a register that are in scope in a position range.
    ///
    /// If a name ends in digits, all these digits are the register's number in a parameterized declaration, and leading
    /// zeros do not count, because ptxas reads names this way.
    pub fn named(&self, name: &str, positions: &Range<u64>) -> Vec<&'r Registers<'t>> {
        let base = name.trim_end_matches(|char: char| char.is_ascii_digit());
        let number = name[base.len()..].parse::<u64>();
        let declared = |name: &str| self.by_name.get(name).into_iter().flatten().copied();
        let single = declared(name).filter(|registers| registers.count.is_none());
        let numbered = declared(base).filter(|registers| {
            registers.count.zip(number.as_ref().ok()).is_some_and(|(count, number)| *number < count)
        });
        let in_scope = |scope: &Range<u64>| scope.start < positions.end && positions.start < scope.end;
        single.chain(numbered).filter(|registers| in_scope(&registers.scope)).collect()
    }
}
