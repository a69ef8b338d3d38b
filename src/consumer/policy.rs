//! Policy for facts that the consumer cannot express.

/// Policy for facts that the consumer cannot express.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Policy {
    /// Fails with an error.
    Strict,
    /// Omits the pc range, and lists the omission in the result.
    Partial,
}
