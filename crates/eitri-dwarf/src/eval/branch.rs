//! Branch targets.

use super::decoding::operations;
use super::fault::{Fault, ill_formed};
use crate::op::Encoding;

/// An expression's branch targets that were already checked, so that a loop is checked once.
#[derive(Debug, Clone)]
pub(super) struct Branches {
    /// Offsets; `usize::MAX` marks an unused slot.
    targets: [usize; 4],
    next: usize,
}

impl Default for Branches {
    #[inline]
    fn default() -> Self {
        Self { targets: [usize::MAX; 4], next: 0 }
    }
}

impl Branches {
    /// Returns the target that a branch from an offset has: the end, or the start of an operation. Also returns how
    /// many steps the search took.
    ///
    /// # Errors
    /// Ill-formed for any other target.
    #[inline]
    pub fn target(
        &mut self,
        expr: &[u8],
        encoding: &Encoding,
        from: usize,
        by: i16,
    ) -> Result<(usize, u64), Fault> {
        let to = from.wrapping_add_signed(by.into());
        if self.targets.contains(&to) && to != usize::MAX {
            Ok((to, 0))
        } else {
            self.find(expr, encoding, from, by)
        }
    }

    /// Returns the target as [`target`](Self::target) does. `None`, without effect, for any other target, and if the
    /// search takes `left` steps or more.
    #[inline]
    pub fn target_within(
        &mut self,
        expr: &[u8],
        encoding: &Encoding,
        from: usize,
        by: i16,
        left: u64,
    ) -> Option<(usize, u64)> {
        let to = from.wrapping_add_signed(by.into());
        if self.targets.contains(&to) && to != usize::MAX {
            Some((to, 0))
        } else {
            self.find_within(expr, encoding, from, by, left)
        }
    }

    fn find_within(
        &mut self,
        expr: &[u8],
        encoding: &Encoding,
        from: usize,
        by: i16,
        left: u64,
    ) -> Option<(usize, u64)> {
        let mut after = self.clone();
        let (to, steps) = after.find(expr, encoding, from, by).ok().filter(|&(_, steps)| steps < left)?;
        // Kept only on success: the caller must see no effect otherwise.
        *self = after;
        Some((to, steps))
    }

    fn remember(&mut self, to: usize) {
        self.targets[self.next % self.targets.len()] = to;
        // Round robin: a loop has few branches, and nested loops rarely more than four.
        self.next += 1;
    }

    fn find(
        &mut self,
        expr: &[u8],
        encoding: &Encoding,
        from: usize,
        by: i16,
    ) -> Result<(usize, u64), Fault> {
        let to = from.checked_add_signed(by.into()).filter(|&to| to <= expr.len()).ok_or_else(|| {
            ill_formed(format!("branch by {by} from offset {from:#x} leaves its expression"))
        })?;
        // A branch to the end finishes the expression (A.2.5.4.2).
        if to == expr.len() {
            return Ok((to, 0));
        }
        // Operations have no index: from a known start, decoding skips to the target.
        let start = if to >= from { from } else { 0 };
        let mut reached = start;
        let mut skipped = 0;
        for (end, _) in operations(expr, *encoding, start).take_while(|(end, _)| *end <= to) {
            (reached, skipped) = (end, skipped + 1);
        }
        if reached != to {
            return Err(ill_formed(format!("branch to offset {to:#x} is not to the start of an operation")));
        }
        self.remember(to);
        // Eight decoded operations cost one step, so that searches cannot exceed the limit unnoticed.
        Ok((to, skipped / 8))
    }
}
