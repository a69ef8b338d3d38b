//! The blocks of a function.

use crate::error::Count;
use crate::spirv::layout::{Function, Layout};
use crate::spirv::opcodes as op;
#[cfg(test)]
use crate::spirv::words::STEPS;

/// A block: words of the module.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Block {
    /// Its `OpLabel`.
    pub label: u32,
    /// Behind the label, and behind the `OpPhi` and `OpVariable` instructions that it begins with.
    pub start: u32,
    /// Behind the instruction that ends it.
    pub end: u32,
    /// The place of its label among the instructions of the function.
    number: u32,
}

/// The blocks of a function.
#[derive(Debug, Default)]
pub(super) struct Blocks {
    /// In order.
    pub all: Vec<Block>,
    /// The word of every instruction of the function, and whether it is right behind a merge instruction, but for
    /// lines.
    instructions: Vec<(u32, bool)>,
    /// Whether there is an `OpLine` or `OpNoLine` in the function.
    pub has_lines: bool,
}

impl Blocks {
    /// Goes through a function once: its blocks take the place of those that were here.
    pub fn find(&mut self, layout: &Layout<'_>, function: &Function) {
        self.all.clear();
        self.instructions.clear();
        self.has_lines = false;
        let (mut open, mut is_start, mut is_merged) = (None::<Block>, false, false);
        let words = &layout.words().all()[..function.at.end];
        let mut next = function.at.start;
        while let Some(&first) = words.get(next) {
            #[cfg(test)]
            STEPS.set(STEPS.get() + 1);
            let (opcode, at) = (first as u16, next as u32);
            next += (first >> 16) as usize;
            let end = next as u32;
            let number = self.instructions.len() as u32;
            self.instructions.push((at, is_merged));
            if !matches!(opcode, op::LINE | op::NO_LINE) {
                is_merged = op::is_merge(opcode);
            }
            match (&mut open, opcode) {
                // Without the instruction that ends it, a block goes on to the next.
                (before, op::LABEL) => {
                    let new = Block { label: at, start: end, end, number };
                    self.all.extend(before.replace(new).map(|it| Block { end: at, ..it }));
                    is_start = true;
                }
                (Some(block), _) if op::is_terminator(opcode) => {
                    self.all.push(Block { end, ..*block });
                    open = None;
                }
                (Some(block), _) if op::begins_block(opcode) && is_start => block.start = end,
                // These may stand between them.
                (_, op::LINE | op::NO_LINE) => self.has_lines = true,
                (_, op::EXT_INST) => {}
                (Some(block), op::FUNCTION_END) => {
                    self.all.push(Block { end: at, ..*block });
                    open = None;
                }
                _ => is_start = false,
            }
        }
        self.all.extend(open.map(|block| Block { end: function.at.end as u32, ..block }));
    }

    /// The word of an instruction of a block, the one behind the label being 0, or why nothing can be before it.
    #[inline]
    pub fn before(&self, block: &Block, instruction: u32) -> Result<u32, String> {
        let of_block = &self.instructions[block.number as usize + 1..];
        match of_block.get(instruction as usize) {
            Some(&(at, false)) if at < block.end => Ok(at.max(block.start)),
            Some(&(at, true)) if at < block.end => {
                Err("between a merge instruction and the branch there can be nothing".into())
            }
            _ => {
                let count = of_block.iter().take_while(|(at, _)| *at < block.end).count();
                let count = Count(count, "instruction");
                Err(format!("the block has {count}, and none of index {instruction}"))
            }
        }
    }

    /// The block whose words have this one.
    pub fn around(&self, at: usize) -> Option<&Block> {
        let next = self.all.partition_point(|block| block.label as usize <= at);
        self.all[..next].last().filter(|block| at < block.end as usize)
    }
}
