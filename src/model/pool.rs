//! A module's locations, stored consecutively.

use core::hash::{Hash, Hasher};

use super::ids::LocId;
use super::loc::Loc;
use super::postfix::{Nodes, Postfix};
use crate::error::{Error, ErrorKind, Result};

/// Pool of a module's locations. A location is its word count, then the words.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Pool {
    words: Vec<u32>,
    /// The constants' bytes.
    implicit: Vec<u8>,
    /// Number of words in the longest location.
    longest: usize,
}

/// Bit in the length: the offset of the location's constant bytes comes before the words.
const HAS_IMPLICIT: u32 = 1 << 31;

impl Pool {
    /// Adds a location.
    ///
    /// # Errors
    /// [`ErrorKind::TooLarge`] if the pool would have more than 4 Gi words or constant bytes.
    #[inline]
    pub(crate) fn push(&mut self, loc: &Loc) -> Result<LocId> {
        let start = self.words.len();
        let Postfix { few, len, more, owner: _ } = loc.postfix();
        let count = more.as_ref().map_or(*len, |more| more.words.len());
        self.longest = self.longest.max(count);
        if let Some(more) = more {
            self.words
                .extend_from_slice(&[more.words.len() as u32 | HAS_IMPLICIT, self.implicit.len() as u32]);
            self.words.extend_from_slice(&more.words);
            self.implicit.extend_from_slice(&more.implicit);
        } else {
            self.words.push(*len as u32);
            // Copies the whole array, then truncates, because a copy with constant size is faster.
            self.words.extend_from_slice(few);
            self.words.truncate(start + 1 + len);
        }
        if self.words.len().max(self.implicit.len()) > u32::MAX as usize {
            return Err(full());
        }
        LocId::at(start).ok_or_else(full)
    }

    /// Upper bound for any location's node count.
    pub(crate) fn at_most(&self) -> usize {
        self.longest
    }

    /// Returns the word count of all locations.
    pub(crate) fn word_count(&self) -> usize {
        self.words.len()
    }

    /// Returns the size of all locations in bytes.
    #[cfg(feature = "json")]
    pub(crate) fn bytes(&self) -> usize {
        size_of::<u32>() * self.words.len() + self.implicit.len()
    }

    /// All locations.
    pub(crate) fn ids(&self) -> impl Iterator<Item = LocId> {
        // A location's end is the next location's start.
        let next = |&at: &usize| {
            let len = self.words.get(at)?;
            Some(at + 1 + (len & !HAS_IMPLICIT) as usize + usize::from(len & HAS_IMPLICIT != 0))
        };
        core::iter::successors(Some(0), next).filter(|&start| start < self.words.len()).filter_map(LocId::at)
    }

    /// Removes all locations.
    pub(crate) fn clear(&mut self) {
        self.words.clear();
        self.implicit.clear();
        self.longest = 0;
    }

    /// Frees unused memory.
    pub(crate) fn shrink_to_fit(&mut self) {
        self.words.shrink_to_fit();
        self.implicit.shrink_to_fit();
    }

    /// Hashes a location: locations with the [same](Self::is_same) nodes have equal hashes.
    pub(crate) fn hash(&self, id: LocId, into: &mut impl Hasher) {
        self.nodes(id).words.hash(into);
    }

    /// Whether two locations have the same nodes. Each node has exactly one encoding.
    #[inline]
    pub(crate) fn is_same(&self, one: LocId, other: LocId) -> bool {
        if one == other {
            return true;
        }
        let first = |id: LocId| self.words.get(id.start()..id.start() + 2);
        let (Some([len, word]), Some([other_len, other_word])) = (first(one), first(other)) else {
            return one == other;
        };
        // Most neighbours differ in the first node. The word after the length may be the offset of constants instead.
        len == other_len && (word == other_word || len & HAS_IMPLICIT != 0) && self.has_same_nodes(one, other)
    }

    fn has_same_nodes(&self, first: LocId, second: LocId) -> bool {
        let first = self.nodes(first);
        let second = self.nodes(second);
        // `implicit` extends to the pool's end, so that constants are compared node by node.
        first.words == second.words && (first.implicit.is_empty() || first.eq(second))
    }

    #[inline]
    pub(crate) fn nodes(&self, id: LocId) -> Nodes<'_> {
        let (words, implicit) = match self.words.get(id.start()..) {
            Some([len, from, words @ ..]) if len & HAS_IMPLICIT != 0 => {
                (words.get(..(len ^ HAS_IMPLICIT) as usize), self.implicit.get(*from as usize..))
            }
            Some([len, words @ ..]) => (words.get(..*len as usize), None),
            _ => (None, None),
        };
        Nodes { words: words.unwrap_or_default(), implicit: implicit.unwrap_or_default() }
    }
}

fn full() -> Error {
    ErrorKind::TooLarge("module has more than 4 Gi words or constant bytes of locations".into()).into()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::{Node, Val};
    use crate::op::Reg;
    use crate::target::SpaceId;

    fn nodes(loc: &Loc) -> (Vec<String>, Vec<String>) {
        let mut pool = Pool::default();
        // A location before the tested ones, so that none starts at 0.
        pool.push(&Loc::implicit(&[9])).unwrap();
        let id = pool.push(loc).unwrap();
        pool.push(&Loc::implicit(&[8, 7])).unwrap();
        let names = |nodes: Nodes<'_>| nodes.map(|node| format!("{node:?}")).collect();
        (names(loc.nodes()), names(pool.nodes(id)))
    }

    #[test]
    fn numbers_of_all_sizes_come_back() {
        for shift in 0..64 {
            for value in [1u64 << shift, (1u64 << shift) - 1, !(1u64 << shift)] {
                let number = Val::constant(value).plus(value as i64).plus((value as i64).wrapping_neg());
                let (before, after) = nodes(&Loc::memory(SpaceId(3), number).offset(value as i64));
                let expected = [
                    Node::Const(value),
                    Node::Plus(value as i64),
                    Node::Plus((value as i64).wrapping_neg()),
                    Node::Memory(SpaceId(3)),
                    Node::Offset(value as i64),
                ];
                let expected: Vec<String> = expected
                    .iter()
                    .filter(|node| **node != Node::Offset(0))
                    .map(|node| format!("{node:?}"))
                    .collect();
                assert_eq!((&before, &after), (&expected, &expected));
            }
        }
    }

    #[test]
    fn trees_that_are_too_large_to_be_held_in_place_are_joined() {
        let constant = |byte: u8| (Loc::implicit(&[byte, !byte]), 16);
        let register = |reg: u64| (Loc::lane(Reg(reg << 40), reg as u32), 32);
        for count in 0..40u8 {
            let mut parts = Vec::new();
            for index in 0..count {
                parts.push(if index % 3 == 0 { constant(index) } else { register(index.into()) });
            }
            let (before, after) = nodes(&Loc::parts(parts));
            let mut expected = Vec::new();
            for index in 0..count {
                let bytes = [index, !index];
                let reg = u64::from(index);
                let (node, bits) = match index % 3 {
                    0 => (Node::Implicit(&bytes), 16),
                    _ => (Node::Lane(Reg(reg << 40), index.into()), 32),
                };
                expected.extend([format!("{node:?}"), format!("{:?}", Node::Part(bits))]);
            }
            expected.push(format!("{:?}", Node::Parts(count.into())));
            assert_eq!((&before, &after), (&expected, &expected));
        }
    }
}
