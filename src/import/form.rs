//! Form of imported expressions.

/// Form of the locations and numbers that expressions compute.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum ImportedExpressions {
    /// Nodes of the model, and a raw expression where no node expresses an operation.
    Typed,
    /// Raw expressions, with the operations of the file. Only numbers, which have no raw form, are nodes.
    Raw,
}
