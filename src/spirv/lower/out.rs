//! The output: copies the module up to each insertion point and appends the new instructions there.

use core::ops::Range;

use super::writer::Preamble;
use crate::spirv::attached::{Attached, BOUND};
use crate::spirv::layout::ModuleLayout;
use crate::spirv::opcodes as op;
use crate::spirv::words::HEADER;

/// Length of a `DebugExpression` without operations, in words.
const EMPTY_EXPRESSION: usize = 5;

/// `OpConditionalExtensionINTEL`, `OpConditionalEntryPointINTEL` and `OpConditionalCapabilityINTEL` belong to the same
/// sections as the instructions without a condition: `SPV_INTEL_function_variants`.
const CONDITIONAL_EXTENSION: u16 = 6248;
const CONDITIONAL_ENTRY_POINT: u16 = 6249;
const CONDITIONAL_CAPABILITY: u16 = 6250;

/// The output, and how much of the module is copied.
#[derive(Debug)]
pub(super) struct Out<'a> {
    from: &'a [u32],
    /// Number of module words copied so far.
    copied: usize,
    pub words: Vec<u32>,
    added: Vec<Range<usize>>,
    /// Position after the constants, and the constants' length in words.
    constants: (usize, usize),
    /// Position after the debug instructions before the functions.
    debug: usize,
    /// Words reserved after the debug instructions, for an expression that only functions turn out to need.
    room: usize,
}

impl<'a> Out<'a> {
    /// Writes everything before the functions, and reserves `in_functions` words. Reuses the debug instructions'
    /// buffer, because they are most of the output, and inserts the preceding sections before them.
    pub fn new(
        layout: &ModuleLayout<'a>,
        written: &mut Preamble,
        has_room: bool,
        in_functions: usize,
    ) -> Self {
        let from = layout.words().all();
        let sections = Sections::new(layout);
        let mut out = Self {
            from,
            copied: 0,
            words: Vec::new(),
            // A line and a value take twelve words, and are adjacent.
            added: Vec::with_capacity(in_functions / 12),
            constants: (0, written.constants.len()),
            debug: 0,
            room: if has_room { EMPTY_EXPRESSION } else { 0 },
        };
        let inserted = [
            (sections.extensions, &written.extensions),
            (sections.imports, &written.imports),
            (sections.strings, &written.strings),
            (sections.globals, &written.constants),
        ];
        for (position, new) in inserted {
            let start = out.copy(position);
            out.words.extend_from_slice(new);
            out.add(start);
        }
        out.constants.0 = out.words.len();
        // The debug instructions' buffer becomes the output; what precedes them is inserted at its start.
        let before = core::mem::replace(&mut out.words, core::mem::take(&mut written.debug));
        out.words.reserve_exact(before.len() + out.room + (from.len() - out.copied) + in_functions);
        out.words.splice(0..0, before);
        out.debug = out.words.len();
        out.words.resize(out.debug + out.room, 0);
        out.add(out.constants.0);
        out.copy(layout.globals_end());
        out
    }

    /// Copies the module up to word `at`. Returns the next output word's position.
    #[inline]
    pub fn copy(&mut self, at: usize) -> usize {
        self.words.extend_from_slice(&self.from[self.copied..at]);
        self.copied = at;
        self.words.len()
    }

    /// Marks the words from `start` on as new.
    #[inline]
    pub fn add(&mut self, start: usize) {
        let end = self.words.len();
        if start == end {
            return;
        }
        // Adjacent additions form one range.
        match self.added.last_mut() {
            Some(last) if last.end == start => last.end = end,
            _ => self.added.push(start..end),
        }
    }

    /// The complete module. Inserts the constants and debug instructions that functions turned out to need.
    pub fn finish(mut self, written: Preamble) -> Attached {
        self.copy(self.from.len());
        let constants = &written.constants[self.constants.1..];
        let debug = &written.debug[..];
        let more = constants.len() + debug.len();
        let section = self.debug;
        let room = self.room;
        // The reserved room fits exactly, so that nothing has to move.
        if constants.is_empty() && debug.len() == room {
            self.words[section..section + room].copy_from_slice(debug);
        } else {
            debug_assert!(self.constants.0 < self.debug, "a source has debug instructions");
            // Reserve exactly the final size.
            self.words.reserve_exact(more);
            self.words.splice(section..section + room, debug.iter().copied());
            self.words.splice(self.constants.0..self.constants.0, constants.iter().copied());
            // The range that contains the insertion grows; all later ranges move.
            let place = self.added.partition_point(|new| new.end < self.constants.0);
            for (number, new) in self.added[place..].iter_mut().enumerate() {
                new.end = new.end + more - room;
                new.start = if number == 0 { new.start } else { new.start + more - room };
            }
        }
        let bound = core::mem::replace(&mut self.words[BOUND], written.bound);
        Attached { words: self.words, added: self.added, bound, omissions: written.omissions }
    }
}

/// Positions at which each section's new instructions are inserted.
#[derive(Debug, Clone, Copy)]
struct Sections {
    extensions: usize,
    imports: usize,
    strings: usize,
    /// Types, constants and global variables.
    globals: usize,
}

impl Sections {
    /// Finds the sections before the functions.
    fn new(layout: &ModuleLayout<'_>) -> Self {
        let mut positions = Self { extensions: HEADER, imports: HEADER, strings: HEADER, globals: HEADER };
        for instruction in layout.words().between(HEADER..layout.globals_end()) {
            let end = instruction.at + instruction.words.len();
            let opcode = instruction.opcode();
            // An OpLine before a function belongs to the function.
            if !matches!(opcode, op::LINE | op::NO_LINE) {
                positions.globals = end;
            }
            match opcode {
                op::CAPABILITY | op::EXTENSION | CONDITIONAL_CAPABILITY | CONDITIONAL_EXTENSION => {
                    positions.extensions = end
                }
                op::EXT_INST_IMPORT => positions.imports = end,
                CONDITIONAL_ENTRY_POINT => positions.strings = end,
                _ if op::is_before_names(opcode) => positions.strings = end,
                _ => {}
            }
        }
        // A missing section is inserted after the preceding section.
        positions.imports = positions.imports.max(positions.extensions);
        positions.strings = positions.strings.max(positions.imports);
        positions.globals = positions.globals.max(positions.strings);
        positions
    }
}
