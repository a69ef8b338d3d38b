//! Limits of an evaluation.

/// Limits for an evaluation. Exceeding a limit is an evaluation error.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Limits {
    /// How many operations, including operations in called expressions, and the parts that an operation constructs or
    /// reads.
    pub steps: u64,
    /// How deep expressions nest. Each level takes some kilobytes of the thread's stack.
    pub depth: u32,
    /// How many elements are on the stack.
    pub stack: u32,
    /// How many parts a composite has, on all levels.
    pub parts: u32,
}

impl Default for Limits {
    fn default() -> Self {
        Self { steps: 1_000_000, depth: 32, stack: 4096, parts: 1 << 16 }
    }
}
