//! A location's nodes as words, in postfix order.
//!
//! A node is its tag and its first number, in one 32-bit word:
//!
//! ```text
//! bit   0        6    7                         32
//!       ├── tag ─┼────┼── number ───────────────┤
//!                  └─ the number is in the next two words, low and high
//! ```
//!
//! A second number has a separate word, without a tag. Signed numbers have their sign in bit 0. The bytes of constants
//! are in a separate list, in the order of their nodes. Words are used instead of bytes because trees are joined,
//! checked and lowered word by word, without a branch on a number's size: such a branch would often be mispredicted,
//! and the compiler could not compute the node positions at the inlined calls that make them.

use core::fmt;

use super::nodes::{NODES, Node, Tag, unfold};
use super::owner::Owner;
use crate::op::Reg;
use crate::target::SpaceId;

/// Number of words stored inline: more than most locations need.
const FEW: usize = 13;
/// Maximum word count of a [small](Postfix::small) location: the locations that recur most.
const SMALL: usize = 7;

/// Bit in a word: the number is in the next two words.
const WIDE: u32 = 1 << 6;
/// Lowest bit of the number in a word.
const NUMBER: u32 = 7;

/// Nodes in postfix order.
///
/// Functions that append are inlined and never pass a reference to one that is not. Thus the words stay in registers,
/// and `len` is a compile-time constant, until the tree is complete.
#[derive(Clone)]
pub(crate) struct Postfix {
    pub(super) few: [u32; FEW],
    /// Word count; all words are inline while [`more`](Self::more) is `None`.
    pub(super) len: usize,
    pub(super) more: Option<Box<More>>,
    /// The builder of the ids in the nodes, whose words have only their numbers.
    pub(super) owner: Owner,
}

/// Number of word pairs in a small location and one additional word.
const PAIRS: usize = (SMALL + 1).div_ceil(2);

/// A small location's words, with zeros after them, and the word count in the last word; each pair in one number.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Small([u64; PAIRS]);

/// Odd hash factors: the first is 2⁶⁴ divided by the golden ratio, which separates neighbouring numbers most.
const FACTORS: [u64; PAIRS] =
    [0x9e37_79b9_7f4a_7c15, 0xbf58_476d_1ce4_e5b9, 0x94d0_49bb_1331_11eb, 0xd6e8_feb8_6659_fd93];

impl Small {
    /// Returns a 16-bit hash of the words.
    #[inline]
    pub(crate) fn hash(self) -> usize {
        let products = self.0.iter().zip(FACTORS).map(|(pair, factor)| pair.wrapping_mul(factor));
        // A product's highest bits depend on all bits.
        (products.fold(0, u64::wrapping_add) >> 48) as usize
    }

    /// Whether two locations have the same words.
    #[inline]
    pub(crate) fn is_same(self, other: Self) -> bool {
        // Without a branch for each pair, which would often be mispredicted.
        self.0.iter().zip(other.0).fold(0, |sum, (word, other)| sum | (word ^ other)) == 0
    }
}

/// Words and bytes on the heap.
#[derive(Clone, Default)]
pub(super) struct More {
    /// All words, once they do not fit inline.
    pub(super) words: Vec<u32>,
    /// The constants' bytes.
    pub(super) implicit: Vec<u8>,
}

impl Postfix {
    #[inline]
    pub(crate) const fn new() -> Self {
        Self { few: [0; FEW], len: 0, more: None, owner: Owner::ANY }
    }

    #[inline]
    pub(super) fn nodes(&self) -> Nodes<'_> {
        match &self.more {
            None => Nodes { words: self.few.get(..self.len).unwrap_or_default(), implicit: &[] },
            Some(more) => Nodes { words: &more.words, implicit: &more.implicit },
        }
    }

    /// The words, if they are few and the location has no constant.
    #[inline]
    pub(crate) fn small(&self) -> Option<Small> {
        if self.more.is_some() || self.len > SMALL {
            return None;
        }
        // Words after the last are 0.
        let pair = |index: usize| u64::from(self.few[2 * index]) | u64::from(self.few[2 * index + 1]) << 32;
        Some(Small([pair(0), pair(1), pair(2), u64::from(self.few[SMALL - 1]) | (self.len as u64) << 32]))
    }

    /// Appends another location's nodes.
    #[inline(always)]
    pub(crate) fn append(&mut self, other: Self) {
        let end = self.len + other.len;
        self.owner = self.owner.join(other.owner);
        if self.more.is_none() && other.more.is_none() && end <= FEW {
            for index in 0..other.len {
                self.few[self.len + index] = other.few[index];
            }
        } else {
            // From here on the inline words are unused: all words are on the heap.
            self.more = Some(both(self.few, self.len, self.more.take(), other));
        }
        self.len = end;
    }

    /// Appends another location's nodes, whose number the caller does not know at compile time.
    #[inline]
    pub(crate) fn append_any(&mut self, other: Self) {
        self.owner = self.owner.join(other.owner);
        let place = self.few.get_mut(self.len..).and_then(|rest| rest.first_chunk_mut::<4>());
        match (place, &self.more, other) {
            // A copy with constant size is faster. Words after the last are 0.
            (Some(place), None, Self { few: [a, b, c, d, ..], len: len @ ..=4, more: None, .. }) => {
                *place = [a, b, c, d];
                self.len += len;
            }
            (_, _, other) => self.append(other),
        }
    }

    /// Appends a node. Inlined because the node is constant at each call, so that most of the function folds away.
    #[inline(always)]
    pub(super) fn push(&mut self, node: Node<'_>) {
        if let Node::Implicit(bytes) = node {
            self.constant(bytes);
        }
        self.owner = self.owner.join(node.owner());
        let (tag, numbers) = node.numbers();
        self.numbers(tag, &numbers[..tag.numbers()]);
    }

    /// Appends a constant's bytes, before its node.
    #[inline]
    pub(crate) fn constant(&mut self, bytes: &[u8]) {
        let mut more = more(self.few, self.len, self.more.take());
        more.implicit.extend_from_slice(bytes);
        self.more = Some(more);
    }

    /// Appends a node by its tag and its numbers.
    #[inline(always)]
    pub(crate) fn numbers(&mut self, tag: Tag, numbers: &[u64]) {
        match *numbers {
            [first, second, ..] => {
                self.number(tag, first);
                // A second number has no tag: its word's tag bits are 0, which is `Register`'s tag.
                self.number(Tag::Register, second);
            }
            [first] => self.number(tag, first),
            [] => self.number(tag, 0),
        }
    }

    #[inline(always)]
    fn number(&mut self, tag: Tag, number: u64) {
        if number >> (32 - NUMBER) == 0 && self.more.is_none() && self.len < FEW {
            self.few[self.len] = tag as u32 | (number as u32) << NUMBER;
        } else {
            self.more = Some(spilled(self.few, self.len, self.more.take(), tag, number));
        }
        self.len += 1;
    }
}

/// Moves the inline words to the heap.
fn more(few: [u32; FEW], len: usize, more: Option<Box<More>>) -> Box<More> {
    more.unwrap_or_else(|| Box::new(More { words: few[..len].to_vec(), implicit: Vec::new() }))
}

/// Moves the inline words to the heap and appends a node that does not fit inline.
fn spilled(few: [u32; FEW], len: usize, old: Option<Box<More>>, tag: Tag, number: u64) -> Box<More> {
    let mut more = more(few, len, old);
    if number >> (32 - NUMBER) == 0 {
        more.words.push(tag as u32 | (number as u32) << NUMBER);
    } else {
        more.words.extend_from_slice(&[tag as u32 | WIDE, number as u32, (number >> 32) as u32]);
    }
    more
}

/// Moves the inline words to the heap and appends another location's nodes.
fn both(few: [u32; FEW], len: usize, old: Option<Box<More>>, other: Postfix) -> Box<More> {
    let mut more = more(few, len, old);
    let Nodes { words, implicit } = other.nodes();
    more.words.extend_from_slice(words);
    more.implicit.extend_from_slice(implicit);
    more
}

impl PartialEq for Postfix {
    fn eq(&self, other: &Self) -> bool {
        self.nodes().eq(other.nodes())
    }
}

impl Eq for Postfix {}

impl fmt::Debug for Postfix {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.nodes().fmt(f)
    }
}

/// Tags of constants and of arithmetic nodes, whose operands and result are numbers, one bit each.
const PURE: u64 = {
    let mut tags = 1 << Tag::Const as u32;
    let mut tag = 0;
    while tag < NODES.len() {
        if NODES[tag].is_arithmetic {
            tags |= 1 << tag;
        }
        tag += 1;
    }
    tags
};

const OFFSET: u32 = Tag::Offset as u32;
const BIT_OFFSET: u32 = Tag::BitOffset as u32;

/// A location's nodes in postfix order: operands come before the node that takes them.
#[derive(Clone)]
pub struct Nodes<'a> {
    pub(super) words: &'a [u32],
    /// The constants' bytes.
    pub(super) implicit: &'a [u8],
}

impl fmt::Debug for Nodes<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_list().entries(self.clone()).finish()
    }
}

impl<'a> Nodes<'a> {
    /// Reads a tag and its number.
    #[inline]
    fn number(&mut self) -> Option<(u32, u64)> {
        let (&word, rest) = self.words.split_first()?;
        self.words = rest;
        let tag = word % WIDE;
        if word & WIDE == 0 {
            return Some((tag, (word >> NUMBER).into()));
        }
        let (&[low, high], rest) = rest.split_first_chunk()?;
        self.words = rest;
        Some((tag, u64::from(low) | u64::from(high) << 32))
    }

    #[inline]
    pub(super) fn second(&mut self) -> Option<u64> {
        self.number().map(|(_, number)| number)
    }

    /// Reads the bytes of the next constant, which exist for every constant's node.
    #[inline]
    pub(super) fn constant(&mut self, bytes: u64) -> &'a [u8] {
        let (bytes, rest) = self.implicit.split_at(self.implicit.len().min(bytes as usize));
        self.implicit = rest;
        bytes
    }

    /// Upper bound for the remaining nodes.
    #[inline]
    pub(crate) fn at_most(&self) -> usize {
        self.words.len()
    }

    /// The last nodes, which have this many words. Constants before them would be taken for theirs.
    pub(crate) fn last_words(&self, words: usize) -> Self {
        let start = self.words.len().saturating_sub(words);
        Self { words: self.words.get(start..).unwrap_or_default(), implicit: self.implicit }
    }

    /// How many words and bytes of constants remain.
    pub(crate) fn left(&self) -> (usize, usize) {
        (self.words.len(), self.implicit.len())
    }

    /// The last nodes, from where this much [was left](Self::left).
    pub(crate) fn since(&self, (words, bytes): (usize, usize)) -> Self {
        let implicit = &self.implicit[self.implicit.len().saturating_sub(bytes)..];
        Self { implicit, ..self.last_words(words) }
    }

    /// Whether no nodes remain.
    #[inline]
    pub(crate) fn is_empty(&self) -> bool {
        self.words.is_empty()
    }

    /// Returns whether the last node is a composite.
    #[inline]
    pub(crate) fn ends_in_parts(&self) -> bool {
        self.words.last().is_some_and(|word| word % (2 * WIDE) == Tag::Parts as u32)
    }

    /// Returns whether a node may be a stack slot's address: a number can look like one.
    #[inline]
    pub(crate) fn may_have_slot(&self) -> bool {
        self.words.iter().any(|word| word % WIDE == Tag::StackAddress as u32)
    }

    /// Returns the register and the offset, if the nodes are the default space's memory at a register's contents plus a
    /// constant, and nothing else: where most variables that do not move are.
    #[inline]
    pub(crate) fn memory_at_register(&self) -> Option<(Reg, i64)> {
        const MEMORY: u32 = Tag::Memory as u32 | SpaceId::DEFAULT.0 << NUMBER;
        // Twice `WIDE` includes the flag, so that a wide number does not match.
        let has_tag = |word: u32, tag: Tag| word % (2 * WIDE) == tag as u32;
        let (reg, by) = match *self.words {
            [reg, MEMORY] => (reg, 0),
            [reg, plus, MEMORY] if has_tag(plus, Tag::Plus) => (reg, unfold((plus >> NUMBER).into())),
            _ => return None,
        };
        has_tag(reg, Tag::ReadRegister).then(|| (Reg((reg >> NUMBER).into()), by))
    }

    /// Skips constants and arithmetic nodes.
    #[inline]
    pub(crate) fn skip_pure(&mut self) {
        while let Some(word) = self.words.first() {
            if PURE >> (word % WIDE) & 1 == 0 {
                break;
            }
            // Numbers of arithmetic nodes are skipped without being decoded.
            let is_wide = word & WIDE != 0;
            self.words = self.words.get(1..).unwrap_or_default();
            if is_wide {
                self.words = self.words.get(2..).unwrap_or_default();
            }
        }
    }

    /// Takes the next nodes that add constants. Returns the sum and their number; `None` if the sum exceeds 64 bits.
    #[inline]
    pub(crate) fn next_sum(&mut self) -> Option<(i64, usize)> {
        let mut sum = 0i64;
        let mut count = 0;
        while let Some(by) = self.next_number(Tag::Plus) {
            (sum, count) = (sum.checked_add(unfold(by))?, count + 1);
        }
        Some((sum, count))
    }

    /// Takes the next nodes that are constant offsets. Returns their sum in bits; `None` if the sum exceeds 64 bits.
    #[inline]
    pub(crate) fn next_moved(&mut self) -> Option<i64> {
        let mut bits = 0i64;
        while let Some(tag) = self.tag() {
            let shift = match tag {
                OFFSET => unfold(self.second()?).checked_mul(8)?,
                BIT_OFFSET => unfold(self.second()?),
                _ => break,
            };
            bits = bits.checked_add(shift)?;
        }
        Some(bits)
    }

    /// Whether the next node is a constant offset.
    #[inline]
    pub(crate) fn is_moved(&self) -> bool {
        matches!(self.tag(), Some(OFFSET | BIT_OFFSET))
    }

    /// Whether the next node adds a constant.
    #[inline]
    pub(crate) fn is_plus(&self) -> bool {
        self.tag() == Some(Tag::Plus as u32)
    }

    /// Whether the next node ends a part.
    #[inline]
    pub(crate) fn is_part(&self) -> bool {
        self.tag() == Some(Tag::Part as u32)
    }

    /// Returns the next node's space, if the node is memory.
    #[inline]
    pub(crate) fn space(&self) -> Option<SpaceId> {
        self.clone().next_number(Tag::Memory).map(|space| SpaceId(space as u32))
    }

    /// Returns the next node's tag.
    #[inline]
    fn tag(&self) -> Option<u32> {
        self.words.first().map(|word| word % WIDE)
    }

    /// Takes the next node if it reads `bits` bits.
    #[inline]
    pub(crate) fn next_read(&mut self, bits: u32) -> Option<()> {
        // Reads from a copy, because the node is taken only if it matches.
        let mut rest = self.clone();
        let read = rest.next_number(Tag::Read)?;
        (read == u64::from(bits)).then(|| *self = rest)
    }

    /// Takes the next node if it has the tag.
    #[inline]
    fn next_number(&mut self, tag: Tag) -> Option<u64> {
        if self.tag()? != tag as u32 {
            return None;
        }
        self.second()
    }
}

impl<'a> Iterator for Nodes<'a> {
    type Item = Node<'a>;

    /// Reads the next node. This module wrote the words; an unreadable word ends the iteration.
    #[inline(always)]
    fn next(&mut self) -> Option<Node<'a>> {
        let (tag, number) = self.number()?;
        Some(Node::read(Tag::new(tag)?, number, self))
    }
}
