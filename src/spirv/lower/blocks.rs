//! The blocks of a module's functions, in one walk over the words.

use core::ops::Range;

use crate::error::{Error, Result};
use crate::spirv::layout::Layout;
use crate::spirv::opcodes as op;

/// A block: words of the module.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Block {
    /// Its `OpLabel`.
    pub label: u32,
    /// Behind the label, and behind the `OpPhi` and `OpVariable` instructions that it begins with.
    pub start: u32,
    /// Behind the instruction that ends it.
    pub end: u32,
}

/// The blocks of all functions.
#[derive(Debug, Default)]
pub(super) struct Blocks {
    all: Vec<Block>,
    /// How many blocks there are up to the end of each function, in the order of the layout.
    ends: Vec<u32>,
    /// Whether there is an `OpLine` or `OpNoLine` in any of them.
    pub has_lines: bool,
}

impl Blocks {
    /// Goes through all functions once.
    pub fn new(layout: &Layout<'_>) -> Result<Self> {
        let words = layout.words();
        if u32::try_from(words.all().len()).is_err() {
            return Err(Error::malformed("more than 2^32 words"));
        }
        let mut blocks = Self::default();
        for function in layout.functions() {
            let (mut open, mut is_start) = (None::<Block>, false);
            for instruction in words.between(function.at.clone()) {
                let (opcode, at) = (instruction.opcode(), instruction.at as u32);
                let end = at + instruction.words.len() as u32;
                match (&mut open, opcode) {
                    // Without the instruction that ends it, a block goes on to the next.
                    (before, op::LABEL) => {
                        let new = Block { label: at, start: end, end };
                        blocks.all.extend(before.replace(new).map(|it| Block { end: at, ..it }));
                        is_start = true;
                    }
                    (Some(block), _) if op::is_terminator(opcode) => {
                        blocks.all.push(Block { end, ..*block });
                        open = None;
                    }
                    (Some(block), _) if op::begins_block(opcode) && is_start => block.start = end,
                    // These may stand between them.
                    (_, op::LINE | op::NO_LINE) => blocks.has_lines = true,
                    (_, op::EXT_INST) => {}
                    (Some(block), op::FUNCTION_END) => {
                        blocks.all.push(Block { end: at, ..*block });
                        open = None;
                    }
                    _ => is_start = false,
                }
            }
            blocks.all.extend(open.map(|block| Block { end: function.at.end as u32, ..block }));
            blocks.ends.push(blocks.all.len() as u32);
        }
        Ok(blocks)
    }

    /// Which blocks are those of the function that is at this place among the functions.
    pub fn of(&self, function: usize) -> Range<usize> {
        let end = |function: usize| self.ends.get(function).map_or(0, |&end| end as usize);
        function.checked_sub(1).map_or(0, end)..end(function)
    }

    /// A block by its number.
    pub fn get(&self, number: usize) -> Block {
        self.all[number]
    }

    /// The one of some blocks whose words have this one.
    pub fn around(&self, blocks: Range<usize>, at: usize) -> Option<usize> {
        let all = &self.all[blocks.clone()];
        let next = all.partition_point(|block| block.label as usize <= at);
        let number = next.checked_sub(1)?;
        (at < all[number].end as usize).then_some(blocks.start + number)
    }
}
