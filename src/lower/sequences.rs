//! Sequences of rows that several parts of code share.

use hashbrown::HashMap;

use crate::model::{FunctionId, Module, RowSequence};

/// Sequences by functions, with the pc at which a part of the code begins: by their first part. Their other parts have
/// `None`.
pub(super) type Sequences<'m> = HashMap<(FunctionId, u64), Option<&'m RowSequence>>;

pub(super) fn sequences(module: &Module) -> Sequences<'_> {
    let mut sequences = HashMap::new();
    for sequence in &module.lists.sequences {
        for (index, part) in sequence.parts.iter().enumerate() {
            sequences.insert((part.function, part.pc), (index == 0).then_some(sequence));
        }
    }
    sequences
}
