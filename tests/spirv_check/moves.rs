//! Seeded faults in the placement of debug instructions: one is missing, repeated or misplaced. The validator or the
//! check finds each fault that changes the meaning.

use std::collections::BTreeMap;

use eitri::spirv::{
    Fact, Facts, Field, Id, Instruction, InstructionName, Mode, Operand, Set, SpecificationSection, read,
};

use crate::common::cases::cases;
use crate::spirv_check::meaning::{FUNCTION, LABEL, Meaning, begins_block, ends_block, is_line, is_merge};
use crate::spirv_check::random::targets;
use crate::spirv_check::sabotage::{Missed, Written, is_of_nothing, listed};

/// A seeded fault.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Mistake {
    Missing,
    /// Repeated with the same result id, and with a new one.
    Again,
    Double,
    /// Moves of instructions in functions: to the start and the end of another block, and to another function.
    OtherBlock,
    OtherEnd,
    OtherFunction,
    /// Move before the `OpPhi` and `OpVariable` of its block.
    BlockStart,
    /// Move between a merge instruction and the following branch.
    Merge,
    BlockEnd,
    /// Moved from a function to before the functions, or the reverse.
    OtherPlace,
    /// Move behind the next instruction.
    Swapped,
    /// First or last of the debug instructions before the functions.
    First,
    Last,
}

/// The instructions of a module, and its blocks.
struct Listing<'a> {
    facts: &'a Facts<'a>,
    header: &'a [u32],
    all: Vec<Instruction<'a>>,
    blocks: Vec<Block>,
}

/// A block, by indices of instructions.
struct Block {
    function: Id,
    label: usize,
    /// Position behind the `OpPhi` and `OpVariable`.
    start: usize,
    /// The merge instruction, if any, and below it the branch.
    merge: Option<usize>,
    end: usize,
}

impl<'a> Listing<'a> {
    fn new(facts: &'a Facts<'a>) -> Self {
        let words = facts.layout().words();
        let all: Vec<_> = words.instructions().collect();
        let mut blocks = Vec::<Block>::new();
        let mut function = Id(0);
        for (index, &it) in all.iter().enumerate() {
            match it.opcode() {
                FUNCTION => function = it.result().expect("has a result"),
                LABEL => {
                    blocks.push(Block { function, label: index, start: index + 1, merge: None, end: index })
                }
                _ => {
                    let Some(block) = blocks.last_mut().filter(|block| block.end == block.label) else {
                        continue;
                    };
                    if begins_block(it) {
                        block.start = index + 1;
                    } else if is_merge(it) {
                        block.merge = Some(index);
                    } else if ends_block(it) {
                        block.end = index;
                    }
                }
            }
        }
        Self { facts, header: &words.all()[..5], all, blocks }
    }

    /// The module with a fault at an instruction; `None` if the module does not have a place for it.
    fn with(&self, index: usize, mistake: Mistake) -> Option<Vec<u32>> {
        let it = self.all[index];
        let fact = self.facts.fact(it);
        let is_body = fact.is_none_or(|fact| fact.name().is_some_and(|name| name.is_in_function()));
        let functions = self.all.iter().position(|it| it.opcode() == FUNCTION)?;
        let here = self.blocks.iter().position(|block| (block.label..block.end).contains(&index));
        let here = if is_body { here? } else { 0 };
        let block = &self.blocks[here];
        let of_function = || self.blocks.iter().filter(|other| other.function == block.function);
        let next = || of_function().find(|other| other.label > block.label).or_else(|| of_function().next());
        let other = || next().filter(|other| other.label != block.label);
        let to = match mistake {
            Mistake::Missing | Mistake::Again | Mistake::Double => None,
            Mistake::OtherPlace if is_body => Some(functions),
            Mistake::OtherPlace => Some(block.start),
            Mistake::Swapped => Some(index + 2),
            Mistake::OtherBlock => Some(other()?.start),
            Mistake::OtherEnd => Some(other().map(|other| other.merge.unwrap_or(other.end))?),
            Mistake::OtherFunction => {
                Some(self.blocks.iter().find(|other| other.function != block.function)?.start)
            }
            Mistake::BlockStart => Some(block.label + 1),
            Mistake::Merge => Some(block.merge? + 1),
            Mistake::BlockEnd => Some(block.end + 1),
            Mistake::First => Some(self.all.iter().position(|&it| self.facts.fact(it).is_some())?),
            Mistake::Last => Some(functions),
        };
        let is_there = match mistake {
            Mistake::First | Mistake::Last => !is_body,
            Mistake::Missing | Mistake::OtherPlace => true,
            Mistake::Again | Mistake::Double => !is_line(it),
            _ => is_body,
        };
        // The instruction is there already.
        if !is_there || to.is_some_and(|to| to == index || to == index + 1) {
            return None;
        }
        let mut words = self.header.to_vec();
        for (number, other) in self.all.iter().enumerate() {
            if Some(number) == to {
                words.extend(it.words);
            }
            if number != index || matches!(mistake, Mistake::Again | Mistake::Double) {
                words.extend(other.words);
            }
            if number == index && matches!(mistake, Mistake::Again | Mistake::Double) {
                let at = words.len();
                words.extend(it.words);
                if mistake == Mistake::Double {
                    words[at + 2] = words[3];
                    words[3] += 1;
                }
            }
        }
        Some(words)
    }

    /// Whether the set forbids the placement, whatever its meaning.
    fn is_wrong(&self, index: usize, mistake: Mistake) -> bool {
        let Some(fact) = self.facts.fact(self.all[index]) else { return false };
        match mistake {
            Mistake::Again | Mistake::OtherPlace | Mistake::Merge => true,
            // Instructions of a non-semantic set must be inside a block.
            Mistake::BlockEnd => fact.set.is_shader(),
            Mistake::BlockStart => {
                let block = self.blocks.iter().find(|block| (block.label..block.end).contains(&index));
                fact.set.is_shader() && block.is_some_and(|block| block.start > block.label + 1)
            }
            Mistake::First => {
                let is_debug = |id| self.facts.get(id).is_some_and(|named| named.at < fact.at);
                names(&fact, false).any(is_debug)
            }
            Mistake::Last => {
                let mut later = self.facts.iter().filter(|other| other.at > fact.at && is_global(other));
                later.any(|other| names(&other, false).any(|id| id == fact.result))
            }
            _ => false,
        }
    }
}

fn is_global(fact: &Fact<'_>) -> bool {
    fact.name().is_some_and(|name| !name.is_in_function())
}

/// The ids that an instruction references; with `also_forward`, including permitted forward references.
fn names(fact: &Fact<'_>, also_forward: bool) -> impl Iterator<Item = Id> {
    let is_id = move |operand: &Operand| {
        let is_known = operand.field().is_some();
        is_known && !operand.is_literal(fact.set) && (also_forward || !operand.may_be_forward())
    };
    fact.operands().filter(is_id).map(|operand| Id(operand.word))
}

const GLOBAL: [Mistake; 6] =
    [Mistake::Missing, Mistake::Again, Mistake::Double, Mistake::OtherPlace, Mistake::First, Mistake::Last];

const BODY: [Mistake; 11] = [
    Mistake::Missing,
    Mistake::Again,
    Mistake::Double,
    Mistake::OtherPlace,
    Mistake::OtherBlock,
    Mistake::OtherEnd,
    Mistake::OtherFunction,
    Mistake::BlockStart,
    Mistake::Merge,
    Mistake::BlockEnd,
    Mistake::Swapped,
];

/// Adds the undetected faults in the placement of a module's debug instructions to `missed`. `tried` limits the number
/// of each kind.
pub(crate) fn not_found(written: &Written, missed: &mut Missed, tried: &mut Tried) {
    let facts = read(&written.words).expect("is a module");
    let listing = Listing::new(&facts);
    let meaning = Meaning::of(&facts);
    for (index, &it) in listing.all.iter().enumerate() {
        let fact = facts.fact(it);
        let mistakes = match fact {
            Some(fact) if is_global(&fact) => &GLOBAL[..],
            Some(_) => &BODY,
            None if is_line(it) => &BODY,
            None => continue,
        };
        let set = fact.map(|fact| fact.set.is_shader());
        let name = fact.and_then(|fact| fact.name()).map_or("OpLine", |name| name.text());
        for &mistake in mistakes {
            let count = tried.of.entry((set, name, mistake)).or_insert(0);
            if *count == tried.most {
                continue;
            }
            let Some(words) = listing.with(index, mistake) else { continue };
            let Ok(after) = read(&words) else { continue };
            let is_other = match fact {
                Some(fact) if is_global(&fact) => is_lost(&facts, &meaning, &fact, mistake),
                _ => Meaning::of(&after) != meaning,
            };
            if !is_other && !listing.is_wrong(index, mistake) {
                continue;
            }
            *count += 1;
            if written.is_clean(&words) {
                missed.entry(format!("{name} {mistake:?}")).or_default().push(format!("word {}", it.at));
            }
        }
    }
}

/// Calls `judge` with every fault in the placement of a module's debug instructions.
pub(crate) fn each(facts: &Facts<'_>, mut judge: impl FnMut(String, Vec<u32>)) {
    let listing = Listing::new(facts);
    for (index, it) in listing.all.iter().enumerate() {
        let mistakes = match facts.fact(*it) {
            Some(fact) if is_global(&fact) => &GLOBAL[..],
            None if !is_line(*it) => continue,
            _ => &BODY,
        };
        for &mistake in mistakes {
            if let Some(words) = listing.with(index, mistake) {
                judge(format!("{} {mistake:?}", it.at), words);
            }
        }
    }
}

/// Number of faults tried, by set, instruction and fault, and their limit.
pub(crate) struct Tried {
    most: usize,
    of: BTreeMap<(Option<bool>, &'static str, Mistake), usize>,
}

impl Tried {
    pub fn new(most: usize) -> Self {
        Self { most: cases(most), of: BTreeMap::new() }
    }

    pub fn count(&self) -> usize {
        self.of.values().sum()
    }
}

#[test]
fn every_position_is_compared() {
    let mut missed = Missed::new();
    let mut tried = Tried::new(2);
    for (seed, target) in (0..12).zip(targets().iter().cycle()) {
        for set in Set::ALL {
            let written = Written::new(seed, target, Mode::exact(set));
            assert!(written.is_clean(&written.words));
            not_found(&written, &mut missed, &mut tried);
        }
    }
    println!("{} mistakes", tried.count());
    assert!(missed.is_empty(), "of {} mistakes not found:\n{}", tried.count(), listed(&missed));
    for mistake in BODY.iter().chain(&GLOBAL) {
        assert!(tried.of.keys().any(|(.., one)| one == mistake), "{mistake:?}");
    }
}

/// Whether a fault removes or repeats the meaning of an instruction before the functions.
fn is_lost(facts: &Facts<'_>, meaning: &Meaning, fact: &Fact<'_>, mistake: Mistake) -> bool {
    let name = fact.name().expect("is known");
    let is_one = match name {
        // Such instructions have a meaning only where they are referenced.
        InstructionName::InfoNone
        | InstructionName::Source
        | InstructionName::Operation
        | InstructionName::Expression
        | InstructionName::InlinedAt => true,
        // Two equal type instructions are one type.
        _ => matches!(name.section(), SpecificationSection::Types | SpecificationSection::Templates),
    };
    match mistake {
        Mistake::Missing => {
            let is_named = facts.iter().any(|other| names(&other, true).any(|id| id == fact.result));
            let is_there =
                || facts.iter().any(|other| other.at != fact.at && is_same(facts, &other, fact, 4));
            // A declaration or value in the call shows the variable, too.
            let in_call = fact.id(Field::Variable).zip(fact.id(Field::Inlined));
            let is_held = name == InstructionName::InlinedVariable
                && meaning.values.keys().any(|key| in_call == key.3.map(|call| (key.2, call)));
            is_named || !(is_one && is_there() || is_held || is_of_nothing(facts, fact, Field::MemberType))
        }
        // A macro can be undefined twice.
        Mistake::Double => !is_one && name != InstructionName::MacroUndef,
        _ => false,
    }
}

/// Whether two instructions have equal operands, down to `depth` references. Each string and number has one id.
pub(crate) fn is_same(facts: &Facts<'_>, one: &Fact<'_>, other: &Fact<'_>, depth: usize) -> bool {
    let set = one.set;
    let is_same_operand = |(one, other): (Operand, Operand)| {
        let is_id = depth > 0 && one.field().is_some() && !one.is_literal(set);
        let named = || facts.get(Id(one.word)).zip(facts.get(Id(other.word)));
        one.word == other.word
            || is_id && named().is_some_and(|(one, other)| is_same(facts, &one, &other, depth - 1))
    };
    let both = (one.name(), one.operands.len()) == (other.name(), other.operands.len());
    both && one.operands().zip(other.operands()).all(is_same_operand)
}
