//! Finds a function's blocks. They are found once per function, because every position in the binding refers to them.

use crate::error::Count;
use crate::spirv::layout::{FunctionLayout, ModuleLayout};
use crate::spirv::opcodes as op;
#[cfg(test)]
use crate::spirv::words::STEPS;

/// A block, as positions in the module's words.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Block {
    /// The `OpLabel`'s position.
    pub label: u32,
    /// Position after the label and the `OpPhi` and `OpVariable` instructions at the block's start.
    pub start: u32,
    /// Position after the terminator.
    pub end: u32,
    /// The label's index among the function's instructions.
    number: u32,
}

/// A function's blocks.
#[derive(Debug, Default)]
pub(super) struct Blocks {
    /// The blocks, in order.
    pub all: Vec<Block>,
    /// The position of each instruction in the function, and whether it follows a merge instruction, ignoring lines.
    instructions: Vec<(u32, bool)>,
    /// Whether the function has an `OpLine` or `OpNoLine`.
    pub has_lines: bool,
}

impl Blocks {
    /// Collects a function's blocks in one pass, replacing the previous function's blocks.
    pub fn find(&mut self, layout: &ModuleLayout<'_>, function: &FunctionLayout) {
        self.all.clear();
        self.instructions.clear();
        self.has_lines = false;
        let mut open = None::<Block>;
        let mut is_start = false;
        let mut is_merged = false;
        let words = &layout.words().all()[..function.at.end];
        let mut next = function.at.start;
        while let Some(&first) = words.get(next) {
            #[cfg(test)]
            STEPS.set(STEPS.get() + 1);
            let opcode = first as u16;
            let start = next as u32;
            next += (first >> 16) as usize;
            let end = next as u32;
            let number = self.instructions.len() as u32;
            self.instructions.push((start, is_merged));
            // A line between a merge instruction and its branch does not separate them.
            if !matches!(opcode, op::LINE | op::NO_LINE) {
                is_merged = op::is_merge(opcode);
            }
            match (&mut open, opcode) {
                // A block without a terminator extends to the next label.
                (before, op::LABEL) => {
                    let new = Block { label: start, start: end, end, number };
                    self.all.extend(before.replace(new).map(|it| Block { end: start, ..it }));
                    is_start = true;
                }
                (Some(block), _) if op::is_terminator(opcode) => {
                    self.all.push(Block { end, ..*block });
                    open = None;
                }
                (Some(block), _) if op::begins_block(opcode) && is_start => block.start = end,
                // Such instructions may occur between `OpPhi` and `OpVariable` instructions.
                (_, op::LINE | op::NO_LINE) => self.has_lines = true,
                (_, op::EXT_INST) => {}
                (Some(block), op::FUNCTION_END) => {
                    self.all.push(Block { end: start, ..*block });
                    open = None;
                }
                _ => is_start = false,
            }
        }
        self.all.extend(open.map(|block| Block { end: function.at.end as u32, ..block }));
    }

    /// The position of a block's instruction, counted from 0 after the label; or the reason why nothing can be inserted
    /// before it.
    #[inline]
    pub fn before(&self, block: &Block, instruction: u32) -> Result<u32, String> {
        let of_block = &self.instructions[block.number as usize + 1..];
        match of_block.get(instruction as usize) {
            Some(&(at, false)) if at < block.end => Ok(at.max(block.start)),
            Some(&(at, true)) if at < block.end => {
                Err("the position is between a merge instruction and the branch, where nothing can be".into())
            }
            _ => {
                let count = of_block.iter().take_while(|(at, _)| *at < block.end).count();
                let count = Count(count, "instruction");
                Err(format!("index {instruction} is out of range; the block has {count}"))
            }
        }
    }

    /// The block that contains the word.
    #[inline]
    pub fn around(&self, at: usize) -> Option<&Block> {
        let next = self.all.partition_point(|block| block.label as usize <= at);
        self.all[..next].last().filter(|block| at < block.end as usize)
    }
}
