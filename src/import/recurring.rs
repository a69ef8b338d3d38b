//! Locations of expressions that recur: optimized code has the same few registers and slots in many lists. An expression
//! that refers to nothing in the file has one location in a [`Setting`].

use core::hash::BuildHasher;

use hashbrown::{DefaultHashBuilder, HashTable};

use super::form::ImportedExpressions;
use crate::model::{Loc, Stack};
use crate::op::Encoding;
use crate::target::SpaceId;

/// What the location of an expression depends on that refers to nothing in the file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Setting<'o> {
    pub(super) encoding: Encoding,
    /// Size of the described object in bits.
    pub(super) bits: Option<u64>,
    /// The function's stack frame, and whether it is described.
    pub(super) stack: Stack,
    pub(super) has_stack: bool,
    /// The function's frame base, if it is the same at all pcs.
    pub(super) frame_base: Option<&'o [u8]>,
    /// Address space of the object's memory, where the entry states it.
    pub(super) space: Option<SpaceId>,
}

/// How expressions are imported, and the locations of those that refer to nothing in the file.
#[derive(Debug)]
pub(super) struct Expressions<'o> {
    pub(super) form: ImportedExpressions,
    /// Whether an expression asked for more than its setting, since this was reset.
    pub(super) has_asked: bool,
    known: HashTable<(u64, &'o [u8], Setting<'o>, Loc)>,
    hasher: DefaultHashBuilder,
}

/// Maximum number of locations, which limits memory. The table is then cleared and fills again.
const MOST: usize = 7 << 10;

impl<'o> Expressions<'o> {
    pub(super) fn new(form: ImportedExpressions) -> Self {
        Self { form, has_asked: false, known: HashTable::new(), hasher: DefaultHashBuilder::default() }
    }

    /// Returns the location of an expression, if it is known.
    pub(super) fn get(&self, expr: &[u8], setting: &Setting<'o>) -> Option<&Loc> {
        let hash = self.hash(expr, setting);
        let is_same = |known: &(u64, &[u8], Setting<'o>, Loc)| {
            known.0 == hash && known.1 == expr && known.2 == *setting
        };
        self.known.find(hash, is_same).map(|known| &known.3)
    }

    /// Adds the location of an expression that is not known.
    pub(super) fn add(&mut self, expr: &'o [u8], setting: Setting<'o>, loc: Loc) {
        if self.known.len() == MOST {
            self.known.clear();
        }
        let hash = self.hash(expr, &setting);
        self.known.insert_unique(hash, (hash, expr, setting, loc), |known| known.0);
    }

    fn hash(&self, expr: &[u8], setting: &Setting<'_>) -> u64 {
        self.hasher.hash_one((expr, setting.bits))
    }
}
