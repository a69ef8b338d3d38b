//! Maps structured control flow to blocks: section 2.11 of the core specification.

use hashbrown::HashMap;

use crate::spirv::layout::FunctionLayout;
use crate::spirv::opcodes as op;
use crate::spirv::words::{Id, Words};

/// A function's constructs. Number 0 is the function itself.
#[derive(Debug)]
pub(super) struct Constructs {
    /// The construct around each construct.
    parents: Vec<usize>,
    /// Each block's innermost construct.
    blocks: HashMap<Id, usize>,
}

impl Constructs {
    /// Finds a function's constructs. A selection starts after its header, a loop with its header; both end before
    /// their merge block. This works in one pass, because each block follows the blocks that dominate it.
    pub fn new(words: Words<'_>, function: &FunctionLayout) -> Self {
        let mut constructs = Self { parents: vec![0], blocks: HashMap::new() };
        let mut open: Vec<(Id, usize)> = Vec::new();
        let loops = loops(words, function);
        let mut block = None;
        let mut merge = None;
        for instruction in words.between(function.at.clone()) {
            match (instruction.opcode(), instruction.operands()) {
                (op::LABEL, _) => {
                    let Some(label) = instruction.result() else { continue };
                    // A merge block ends its construct and everything nested in it.
                    if let Some(place) = open.iter().position(|&(merge, _)| merge == label) {
                        open.truncate(place);
                    }
                    if let Some(&merge) = loops.get(&label) {
                        constructs.open(&mut open, merge);
                    }
                    constructs.blocks.insert(label, open.last().map_or(0, |&(_, construct)| construct));
                    block = Some(label);
                }
                (op::SELECTION_MERGE, &[label, ..]) => merge = Some(Id(label)),
                (opcode, _) if op::is_terminator(opcode) && block.take().is_some() => {
                    if let Some(merge) = merge.take() {
                        constructs.open(&mut open, merge);
                    }
                }
                _ => {}
            }
        }
        constructs
    }

    fn open(&mut self, open: &mut Vec<(Id, usize)>, merge: Id) {
        self.parents.push(open.last().map_or(0, |&(_, construct)| construct));
        open.push((merge, self.parents.len() - 1));
    }

    /// A block's innermost construct.
    pub fn innermost(&self, block: Id) -> usize {
        self.blocks.get(&block).copied().unwrap_or(0)
    }

    /// The construct around another construct.
    pub fn parent(&self, construct: usize) -> usize {
        self.parents[construct]
    }

    /// The innermost construct around both.
    pub fn common(&self, mut first: usize, mut second: usize) -> usize {
        // A construct's number is above the numbers of the constructs around it, so that the larger one moves outward.
        while first != second {
            if first > second { first = self.parents[first] } else { second = self.parents[second] }
        }
        first
    }
}

/// Merge blocks by loop header.
fn loops(words: Words<'_>, function: &FunctionLayout) -> HashMap<Id, Id> {
    let mut scopes = HashMap::new();
    let mut block = None;
    for instruction in words.between(function.at.clone()) {
        match (instruction.opcode(), instruction.operands()) {
            (op::LABEL, _) => block = instruction.result(),
            (op::LOOP_MERGE, &[merge, ..]) => scopes.extend(block.map(|block| (block, Id(merge)))),
            _ => {}
        }
    }
    scopes
}
