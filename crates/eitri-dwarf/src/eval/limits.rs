//! Limits of an evaluation.

/// Limits of an evaluation. Exceeding one is an evaluation error.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Limits {
    /// Number of operations, including those of called expressions and the parts that an operation makes or reads.
    pub steps: u64,
    /// Nesting depth of expressions. Each level takes some kilobytes of the thread's stack.
    pub depth: u32,
    /// Number of elements on the stack.
    pub stack: u32,
    /// Number of parts of a composite, on all levels.
    pub parts: u32,
}

impl Default for Limits {
    fn default() -> Self {
        Self { steps: 1_000_000, depth: 32, stack: 4096, parts: 1 << 16 }
    }
}
