//! Form of imported expressions.

use crate::op::{Decoded, Decoder, Encoding, Op};

/// Form of the locations and numbers that expressions compute.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum ImportedExpressions {
    /// Nodes of the model, and a raw expression where no node expresses an operation.
    Typed,
    /// Raw expressions, with the operations of the file. Only numbers, which have no raw form, are nodes.
    Raw,
    /// Raw expressions where a reader of this encoding reads the same operations, and otherwise nodes, as for
    /// [`Typed`](Self::Typed).
    RawIn(Encoding),
}

/// Whether a reader of an encoding reads the operations that a file has in its encoding.
pub(super) fn is_read_in(bytes: &[u8], file: Encoding, reader: Encoding) -> bool {
    // Expressions are nested without a limit, so that a list replaces recursion.
    let mut open = vec![bytes];
    while let Some(bytes) = open.pop() {
        let mut read = Decoder::new(bytes, reader);
        for written in Decoder::new(bytes, file) {
            let (Ok(written), Some(Ok(read))) = (written, read.next()) else { return false };
            if written.op != read.op || !is_in_version(read, reader.version) {
                return false;
            }
            if let Op::EntryValue { expr } = read.op {
                open.push(expr);
            }
        }
        if !read.is_at_end() {
            return false;
        }
    }
    true
}

/// Whether a version has an operation. GNU has vendor codes for operations of later versions.
fn is_in_version(decoded: Decoded<'_>, version: u16) -> bool {
    let row = decoded.op.row();
    row.since <= version || row.std.get() != Some(decoded.spelling.code())
}
