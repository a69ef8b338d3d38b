//! NVIDIA's register map: PTX registers with generated names, for locations that the number of one general register
//! cannot say.
//!
//! A name stands for the same storage wherever it occurs in a function: up to two 32-bit words, each in a register or in
//! local memory. The map has the pcs at which an expression uses the name.

use core::fmt::Write;
use core::ops::Range;

use hashbrown::{DefaultHashBuilder, HashMap};
use indexmap::IndexSet;

use super::section::Part;
use crate::consumer::Consumer;
use crate::emit::register_map::{MappedWord, RegisterMap};
use crate::error::{Construct, Result};
use crate::model::{Address, FunctionId, Module};
use crate::op::Reg;

/// Storage of a PTX register's words, and its type's number in `.nv_debug_info_reg_type`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(super) struct Words {
    /// Class times 2²⁴ plus number, as in the map.
    pub(super) low: u32,
    pub(super) high: Option<u32>,
    pub(super) ty: u8,
}

/// A unit's PTX registers.
#[derive(Debug, Default)]
pub(super) struct Homes {
    known: IndexSet<(FunctionId, Words), DefaultHashBuilder>,
    /// Number of each register's name, in the order of `known`.
    numbers: Vec<u32>,
    counts: HashMap<FunctionId, u32>,
    /// Registers with the pcs at which an expression uses them.
    used: Vec<(usize, Range<u64>)>,
}

/// Most names of a function: `%e` and six digits, because a number has at most eight characters.
const MOST_NAMES: u32 = 1_000_000;

/// Instruction size in bytes. The map has the first and the last instruction of a range.
const INSTRUCTION: u64 = 16;

/// Pcs of a function at which an expression applies.
#[derive(Debug)]
pub(super) struct HomesAt<'h> {
    homes: &'h mut Homes,
    function: FunctionId,
    pcs: Range<u64>,
    /// Whether local memory is a spill slot: the variable is elsewhere at other pcs.
    pub(super) has_spills: bool,
}

impl Homes {
    /// Returns the registers for an expression at some pcs.
    pub(super) fn at(&mut self, function: FunctionId, pcs: Range<u64>, has_spills: bool) -> HomesAt<'_> {
        HomesAt { homes: self, function, pcs, has_spills }
    }

    /// Number of uses so far, for [`truncate`](Self::truncate).
    pub(super) fn count(&self) -> usize {
        self.used.len()
    }

    /// Forgets the uses of an expression that is discarded.
    pub(super) fn truncate(&mut self, count: usize) {
        self.used.truncate(count);
    }

    /// Encodes the map and the types, function by function.
    pub(super) fn finish(mut self, module: &Module) -> [Part; 2] {
        let mut map = RegisterMap::default();
        self.used.sort_by_key(|(index, pcs)| (self.known[*index].0, pcs.start, *index));
        for uses in self.used.chunk_by(|a, b| self.known[a.0].0 == self.known[b.0].0) {
            let Some(function) = uses.first().map(|(index, _)| self.known[*index].0) else { continue };
            // Code in several parts has several symbols, each with entries.
            for part in module.functions[function].code_parts() {
                let Address::Symbol(symbol, by) = part.address else { continue };
                let mut words: Vec<MappedWord> = Vec::new();
                // Last entry of each register, which a later range can continue.
                let mut last: HashMap<usize, usize> = HashMap::new();
                for (index, pcs) in uses {
                    let pcs = pcs.start.max(part.pcs.start)..pcs.end.min(part.pcs.end);
                    if pcs.is_empty() {
                        continue;
                    }
                    let offset = |pc: u64| (pc - part.pcs.start).wrapping_add(by) as u32;
                    let start = offset(pcs.start);
                    let end = offset((pcs.end - 1) / INSTRUCTION * INSTRUCTION);
                    let Words { low, high, ty } = self.known[*index].1;
                    let count = 1 + usize::from(high.is_some());
                    if let Some(&at) = last.get(index)
                        && u64::from(start) <= u64::from(words[at].end) + INSTRUCTION
                    {
                        words[at..at + count].iter_mut().for_each(|word| word.end = word.end.max(end));
                        continue;
                    }
                    last.insert(*index, words.len());
                    let name = name(self.numbers[*index]);
                    for (word, home) in [Some(low), high].into_iter().flatten().enumerate() {
                        words.push(MappedWord {
                            word: word as u32,
                            name: name.clone(),
                            home,
                            start,
                            end,
                            ty,
                        });
                    }
                }
                map.function(module.symbol_name(symbol), &words);
            }
        }
        [map.homes, map.types].map(|bytes| Part { bytes, ..Part::default() })
    }
}

/// Text of a generated name. PTX by nvcc and clang has no such names.
fn name(number: u32) -> String {
    let mut name = String::from("%e");
    let _ = write!(name, "{number}");
    name
}

impl HomesAt<'_> {
    pub(super) fn reborrow(&mut self) -> HomesAt<'_> {
        HomesAt {
            homes: self.homes,
            function: self.function,
            pcs: self.pcs.clone(),
            has_spills: self.has_spills,
        }
    }

    /// Returns the register with these words, which the map then has at the expression's pcs.
    ///
    /// # Errors
    /// [`ErrorKind::Inexpressible`](crate::error::ErrorKind::Inexpressible) where the map has no room for another name,
    /// no name for the function, or no instruction for the pcs.
    pub(super) fn register(&mut self, words: Words, consumer: &Consumer, module: &Module) -> Result<Reg> {
        let function = &module.functions[self.function];
        let has_symbols = function.code_parts().all(|part| matches!(part.address, Address::Symbol(..)));
        let are_whole = [self.pcs.start, self.pcs.end].iter().all(|pc| pc.is_multiple_of(INSTRUCTION));
        if !has_symbols || !are_whole {
            return Err(consumer.inexpressible(Construct::MappedPcs(self.pcs.start, self.pcs.end)));
        }
        let (index, is_new) = self.homes.known.insert_full((self.function, words));
        if is_new {
            let count = self.homes.counts.entry(self.function).or_default();
            self.homes.numbers.push(*count);
            *count += 1;
        }
        let number = self.homes.numbers[index];
        if number >= MOST_NAMES {
            return Err(consumer.inexpressible(Construct::MappedNames));
        }
        self.homes.used.push((index, self.pcs.clone()));
        let packed = name(number).bytes().fold(0, |packed, byte| packed << 8 | u64::from(byte));
        Ok(Reg(packed))
    }
}
