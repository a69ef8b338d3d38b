//! The module that is added to: copied up to where something new belongs, which is then put behind it.

use core::ops::Range;

use super::Written;
use crate::spirv::attach::{Attached, BOUND};
use crate::spirv::layout::Layout;
use crate::spirv::opcodes as op;
use crate::spirv::words::HEADER;

/// Words of a `DebugExpression` without operations.
const EMPTY_EXPRESSION: usize = 5;

/// The module with what is new, as far as it is copied.
#[derive(Debug)]
pub(super) struct Out<'a> {
    from: &'a [u32],
    /// Up to where the module is copied.
    copied: usize,
    pub words: Vec<u32>,
    added: Vec<Range<usize>>,
    /// Behind the constants, and how many words of them there are.
    constants: (usize, usize),
    /// Behind the debug instructions before the functions.
    debug: usize,
    /// Words behind the debug instructions that are left for those that are found to be wanted in functions.
    room: usize,
}

impl<'a> Out<'a> {
    /// Everything before the functions, and room for so many new words in these. The debug instructions that are written
    /// are no longer there: what comes before is put in front of them, for they are the most.
    pub fn new(layout: &Layout<'a>, written: &mut Written, has_room: bool, in_functions: usize) -> Self {
        let (from, at) = (layout.words().all(), Sections::new(layout));
        let mut out = Self {
            from,
            copied: 0,
            words: Vec::new(),
            // A line and what holds a variable have twelve, and come together.
            added: Vec::with_capacity(in_functions / 12),
            constants: (0, written.constants.len()),
            debug: 0,
            room: if has_room { EMPTY_EXPRESSION } else { 0 },
        };
        let sections = [
            (at.extensions, &written.extensions),
            (at.imports, &written.imports),
            (at.strings, &written.strings),
            (at.globals, &written.constants),
        ];
        for (at, new) in sections {
            let start = out.copy(at);
            out.words.extend_from_slice(new);
            out.add(start);
        }
        out.constants.0 = out.words.len();
        let before = core::mem::replace(&mut out.words, core::mem::take(&mut written.debug));
        out.words.reserve_exact(before.len() + out.room + (from.len() - out.copied) + in_functions);
        out.words.splice(0..0, before);
        out.debug = out.words.len();
        out.words.resize(out.debug + out.room, 0);
        out.add(out.constants.0);
        out.copy(layout.globals_end());
        out
    }

    /// Copies the module up to a word. Returns where the next word comes.
    #[inline]
    pub fn copy(&mut self, at: usize) -> usize {
        self.words.extend_from_slice(&self.from[self.copied..at]);
        self.copied = at;
        self.words.len()
    }

    /// The words from here on are new.
    #[inline]
    pub fn add(&mut self, start: usize) {
        let end = self.words.len();
        if start == end {
            return;
        }
        match self.added.last_mut() {
            Some(last) if last.end == start => last.end = end,
            _ => self.added.push(start..end),
        }
    }

    /// The module, with what was written before the functions while they were.
    pub fn finish(mut self, written: Written) -> Attached {
        self.copy(self.from.len());
        let (constants, debug) = (&written.constants[self.constants.1..], &written.debug[..]);
        let more = constants.len() + debug.len();
        let (at, room) = (self.debug, self.room);
        if constants.is_empty() && debug.len() == room {
            self.words[at..at + room].copy_from_slice(debug);
        } else {
            debug_assert!(self.constants.0 < self.debug, "something is said of a source");
            // No more than there will be.
            self.words.reserve_exact(more);
            self.words.splice(at..at + room, debug.iter().copied());
            self.words.splice(self.constants.0..self.constants.0, constants.iter().copied());
            // They are in one, and all others behind it are elsewhere now.
            let place = self.added.partition_point(|new| new.end < self.constants.0);
            for (number, new) in self.added[place..].iter_mut().enumerate() {
                new.end = new.end + more - room;
                new.start = if number == 0 { new.start } else { new.start + more - room };
            }
        }
        let bound = core::mem::replace(&mut self.words[BOUND], written.bound);
        Attached { words: self.words, added: self.added, bound, left_out: written.left_out }
    }
}

/// The words before which new instructions of each section go.
#[derive(Debug, Clone, Copy)]
struct Sections {
    extensions: usize,
    imports: usize,
    strings: usize,
    /// Types, constants and global variables.
    globals: usize,
}

impl Sections {
    /// Goes through the sections before the functions.
    fn new(layout: &Layout<'_>) -> Self {
        let mut at = Self { extensions: HEADER, imports: HEADER, strings: HEADER, globals: HEADER };
        for instruction in layout.words().between(HEADER..layout.globals_end()) {
            let (end, opcode) = (instruction.at + instruction.words.len(), instruction.opcode());
            // An OpLine before a function is of the function.
            if !matches!(opcode, op::LINE | op::NO_LINE) {
                at.globals = end;
            }
            match opcode {
                op::CAPABILITY | op::EXTENSION => at.extensions = end,
                op::EXT_INST_IMPORT => at.imports = end,
                _ if op::is_before_names(opcode) => at.strings = end,
                _ => {}
            }
        }
        at.imports = at.imports.max(at.extensions);
        at.strings = at.strings.max(at.imports);
        at.globals = at.globals.max(at.strings);
        at
    }
}
