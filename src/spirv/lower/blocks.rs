//! The blocks of a function.

use crate::spirv::layout::{Function, Layout};
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

/// The blocks of a function.
#[derive(Debug, Default)]
pub(super) struct Blocks {
    /// In order.
    pub all: Vec<Block>,
    /// Whether there is an `OpLine` or `OpNoLine` in the function.
    pub has_lines: bool,
}

impl Blocks {
    /// Goes through a function once: its blocks take the place of those that were here.
    pub fn find(&mut self, layout: &Layout<'_>, function: &Function) {
        self.all.clear();
        self.has_lines = false;
        let (mut open, mut is_start) = (None::<Block>, false);
        for instruction in layout.words().between(function.at.clone()) {
            let (opcode, at) = (instruction.opcode(), instruction.at as u32);
            let end = at + instruction.words.len() as u32;
            match (&mut open, opcode) {
                // Without the instruction that ends it, a block goes on to the next.
                (before, op::LABEL) => {
                    let new = Block { label: at, start: end, end };
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

    /// The block whose words have this one.
    pub fn around(&self, at: usize) -> Option<usize> {
        let next = self.all.partition_point(|block| block.label as usize <= at);
        let number = next.checked_sub(1)?;
        (at < self.all[number].end as usize).then_some(number)
    }
}
