//! Limits of an evaluation.

/// Limits for an evaluation. Exceeding a limit is an evaluation error.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub struct Limits {
    /// Number of operations, including operations in called expressions, and of parts that an operation constructs or
    /// reads.
    pub steps: u64,
    /// Depth of nested expressions. Each level takes some kilobytes of the thread's stack.
    pub depth: u32,
    /// Number of elements on the stack.
    pub stack: u32,
    /// Number of parts in a composite, on all levels.
    pub parts: u32,
}

impl Limits {
    /// Returns the limits that an evaluator has by default.
    pub const fn new() -> Self {
        Self { steps: 1_000_000, depth: 32, stack: 4096, parts: 1 << 16 }
    }
}

impl Default for Limits {
    fn default() -> Self {
        Self::new()
    }
}
