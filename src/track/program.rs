//! The code as operations on storage, value and variable parts, by graph node.

use core::ops::Range;

use smallvec::SmallVec;

use crate::error::{ErrorKind, Result};

/// An operation's destination.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum To {
    /// A storage or variable part, by number.
    Place(u32),
    /// A value part.
    Value(u32),
}

/// An operation's source.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum From {
    /// Another place's contents.
    Place(u32),
    /// A value part.
    Value(u32),
    Constant(u32),
    /// New contents. Operations with the same number write the same contents. If the number is a value part, the
    /// operation defines the part.
    New(u32),
    /// One of several places' contents, by the choice's number.
    Choice(u32),
    /// No value.
    Nothing,
}

/// A number with at most 29 bits and a 3-bit tag. Code has several for each instruction, so the size matters.
#[derive(Debug, Clone, Copy)]
struct Tagged(u32);

impl Tagged {
    const END: u32 = 1 << 29;

    /// [`check`] refuses larger numbers before anything is read.
    fn new(tag: u32, number: u32) -> Self {
        Self(tag << 29 | number)
    }

    fn tag(self) -> u32 {
        self.0 >> 29
    }

    fn number(self) -> u32 {
        self.0 % Self::END
    }
}

/// A write to one part.
#[derive(Debug, Clone, Copy)]
pub(super) struct Op {
    to: Tagged,
    from: Tagged,
}

impl Op {
    const TO_VALUE: u32 = 1;
    const MASKED: u32 = 2;
    const LAST: u32 = 4;

    pub(super) fn new(to: To, from: From, is_masked: bool) -> Self {
        let (to, target) = match to {
            To::Place(place) => (place, 0),
            To::Value(part) => (part, Self::TO_VALUE),
        };
        let (from, source) = match from {
            From::Nothing => (0, 0),
            From::Place(place) => (place, 1),
            From::Value(part) => (part, 2),
            From::Constant(constant) => (constant, 3),
            From::New(number) => (number, 4),
            From::Choice(choice) => (choice, 5),
        };
        let masked = if is_masked { Self::MASKED } else { 0 };
        Self { to: Tagged::new(target | masked, to), from: Tagged::new(source, from) }
    }

    fn is(self, flag: u32) -> bool {
        self.to.tag() & flag != 0
    }

    pub(super) fn to(self) -> To {
        let number = self.to.number();
        if self.is(Self::TO_VALUE) { To::Value(number) } else { To::Place(number) }
    }

    pub(super) fn from(self) -> From {
        let number = self.from.number();
        match self.from.tag() {
            0 => From::Nothing,
            1 => From::Place(number),
            2 => From::Value(number),
            3 => From::Constant(number),
            4 => From::New(number),
            _ => From::Choice(number),
        }
    }

    /// Whether the place keeps its contents in inactive lanes.
    pub(super) fn is_masked(self) -> bool {
        self.is(Self::MASKED)
    }
}

/// Kinds of groups, in their order at a pc.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Kind {
    /// Block parameters receive incoming values.
    Merge,
    Assign,
    /// Lanes wait here.
    Wait,
    Instruction,
    /// Several instructions that form one step.
    Instructions,
    /// Copies to the next blocks' parameters.
    Leave,
}

impl Kind {
    const ALL: [Self; 6] =
        [Self::Merge, Self::Assign, Self::Wait, Self::Instruction, Self::Instructions, Self::Leave];

    pub(super) fn is_instruction(self) -> bool {
        matches!(self, Self::Instruction | Self::Instructions)
    }
}

/// Operations that read all sources before they write, or a wait.
#[derive(Debug, Clone, Copy)]
pub(super) struct Group {
    pub(super) node: u32,
    pub(super) start: u32,
    pub(super) end: u32,
    /// The kind, and the index of the first operation or the wait.
    first: Tagged,
}

impl Group {
    pub(super) fn kind(self) -> Kind {
        Kind::ALL[self.first.tag() as usize]
    }

    /// Returns the first operation, or the wait.
    pub(super) fn first(self) -> usize {
        self.first.number() as usize
    }
}

/// Places and constants. When a waiting lane continues, a place has the contents of one of them.
#[derive(Debug)]
pub(super) struct Choice {
    /// The node after which the lane waits.
    pub(super) node: u32,
    /// Places, or constants with [`CONSTANT`](super::origins::CONSTANT), with their contents when the lane starts to
    /// wait.
    pub(super) members: SmallVec<[u32; 4]>,
}

/// A whole function's operations. Places are numbered in this order: storage parts, block parameters' incoming values
/// and values, variable parts.
#[derive(Debug, Default)]
pub(super) struct Program {
    pub(super) ops: Vec<Op>,
    /// Sorted by node and pc.
    pub(super) groups: Vec<Group>,
    /// Each node's range of groups.
    pub(super) node_groups: Vec<Range<u32>>,
    pub(super) is_row: Vec<bool>,
    /// Number of storage parts, number of the first variable part, and number of places.
    pub(super) stored: u32,
    pub(super) first_variable: u32,
    pub(super) places: u32,
    pub(super) values: u32,
    /// Size of the shortest instruction in bytes.
    pub(super) step: u8,
    /// Number of distinct new contents; value parts come first.
    pub(super) news: u32,
    pub(super) constants: Vec<(i64, Vec<u8>)>,
    pub(super) choices: Vec<Choice>,
}

impl Program {
    /// Returns new contents.
    pub(super) fn new_source(&mut self) -> From {
        self.news += 1;
        From::New(self.news - 1)
    }

    /// Adds a choice, and returns its number.
    pub(super) fn choose(&mut self, choice: Choice) -> u32 {
        self.choices.push(choice);
        self.choices.len() as u32 - 1
    }

    pub(super) fn push(&mut self, to: To, from: From) {
        self.ops.push(Op::new(to, from, false));
    }

    /// Returns the number of operations so far.
    pub(super) fn end(&self) -> u32 {
        self.ops.len() as u32
    }

    /// Adds a group with these operations, unless there are none.
    ///
    /// # Errors
    /// [`ErrorKind::TooLarge`] if there are too many operations to number.
    pub(super) fn group(&mut self, node: u32, pcs: Range<u32>, kind: Kind, ops: Range<u32>) -> Result<()> {
        // Every number has to fit its tag.
        [self.ops.len(), self.news as usize, self.constants.len(), self.choices.len()]
            .into_iter()
            .try_for_each(check)?;
        // The flag on the last operation saves an end index in each group.
        if let Some(last) = self.ops.get_mut(ops.start as usize..ops.end as usize).and_then(<[Op]>::last_mut)
        {
            last.to = Tagged::new(last.to.tag() | Op::LAST, last.to.number());
            self.add(node, pcs, kind, ops.start);
        }
        Ok(())
    }

    /// Adds a wait.
    pub(super) fn wait(&mut self, node: u32, pcs: Range<u32>, wait: u32) {
        self.add(node, pcs, Kind::Wait, wait);
    }

    fn add(&mut self, node: u32, pcs: Range<u32>, kind: Kind, first: u32) {
        let first = Tagged::new(kind as u32, first);
        self.groups.push(Group { node, start: pcs.start, end: pcs.end, first });
    }

    /// Returns the pc up to which places keep the contents that they had before an instruction.
    pub(super) fn until(&self, group: &Group) -> u32 {
        match group.kind() {
            // Lanes can stop after the first of several instructions.
            Kind::Instructions => group.start.saturating_add(self.step.into()).min(group.end),
            _ => group.end,
        }
    }

    pub(super) fn groups_of(&self, node: u32) -> &[Group] {
        let range = &self.node_groups[node as usize];
        &self.groups[range.start as usize..range.end as usize]
    }

    /// Returns a group's operations; a wait has none.
    pub(super) fn ops_of(&self, group: &Group) -> &[Op] {
        if group.kind() == Kind::Wait {
            return &[];
        }
        let ops = &self.ops[group.first()..];
        let last = ops.iter().position(|op| op.is(Op::LAST));
        &ops[..last.map_or(0, |last| last + 1)]
    }
}

/// Checks that a count can be numbered.
///
/// # Errors
/// [`ErrorKind::TooLarge`].
pub(super) fn check(count: usize) -> Result<()> {
    if count < Tagged::END as usize {
        Ok(())
    } else {
        Err(ErrorKind::TooLarge("code has 2^29 or more parts of storage and values, or writes".into()).into())
    }
}
