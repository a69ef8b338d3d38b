//! The types of a file as a graph: each refers to others.

use hashbrown::{DefaultHashBuilder, HashMap, HashTable};
use std::hash::BuildHasher;

use super::candidates::Candidates;
use super::partition::{Edge, classes};
use super::signature::{Signature, Signatures, Wanted};

/// Types with what they say, and what they refer to.
pub(super) struct Graph {
    /// Number of each type's signature.
    colors: Vec<u32>,
    /// Sorted by the type that refers.
    edges: Vec<Edge>,
    /// Index of each type's first edge, and the number of edges at the end.
    starts: Vec<u32>,
    count: u32,
}

impl Graph {
    pub(super) fn new(candidates: &Candidates, signatures: &mut Signatures<'_, '_>) -> Self {
        let hasher = DefaultHashBuilder::default();
        // The bytes of different signatures. They are compared, because equal hashes are no proof.
        let mut bytes: Vec<u8> = Vec::new();
        let mut known: HashTable<(u64, usize, usize, u32)> = HashTable::new();
        let mut count = 0;
        let mut graph = Self { colors: Vec::new(), edges: Vec::new(), starts: vec![0], count: 0 };
        let mut signature = Signature::default();
        for number in 0..candidates.all.len() as u32 {
            let mut next = || {
                count += 1;
                count - 1
            };
            let is_own = signatures.write(number, Wanted::All, &mut signature).is_err();
            let color = if is_own {
                signature.refers.clear();
                next()
            } else {
                let hash = hasher.hash_one(&signature.bytes);
                let is_same = |&(other, start, end, _): &(u64, usize, usize, u32)| {
                    other == hash && bytes[start..end] == signature.bytes
                };
                match known.find(hash, is_same) {
                    Some(&(.., color)) => color,
                    None => {
                        let start = bytes.len();
                        let color = next();
                        bytes.extend_from_slice(&signature.bytes);
                        known.insert_unique(hash, (hash, start, bytes.len(), color), |&(hash, ..)| hash);
                        color
                    }
                }
            };
            graph.colors.push(color);
            let edges = signature.refers.iter().zip(0..);
            graph.edges.extend(edges.map(|(&to, place)| Edge { from: number, to, number: place }));
            graph.starts.push(graph.edges.len() as u32);
        }
        graph.count = count;
        graph
    }

    /// Returns the class of each type: types of one class are equal, with all that they refer to.
    pub(super) fn classes(&self) -> Vec<u32> {
        classes(&self.colors, &self.edges)
    }

    /// Makes each type that is kept different from types of other units.
    pub(super) fn separate(&mut self, candidates: &Candidates, is_kept: impl Fn(u32) -> bool) {
        let mut colors: HashMap<(u32, u32), u32> = HashMap::new();
        for (number, color) in (0..).zip(&mut self.colors) {
            if is_kept(number) {
                let count = &mut self.count;
                *color = *colors.entry((*color, candidates.all[number as usize].unit)).or_insert_with(|| {
                    *count += 1;
                    *count - 1
                });
            }
        }
    }

    /// Returns the types to which a type refers.
    pub(super) fn refers(&self, number: u32) -> impl Iterator<Item = u32> + '_ {
        let range = self.starts[number as usize] as usize..self.starts[number as usize + 1] as usize;
        self.edges[range].iter().map(|edge| edge.to)
    }
}
