//! Options of a rewrite.

use crate::consumer::Consumer;
use crate::target::Target;

/// How to rewrite an object. The default keeps its facts, for a consumer that [fits](super::fitting).
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct RewriteOptions<'a> {
    /// The target, where neither the object nor its subprograms state it: the wave size of AMD's processors that run both
    /// sizes.
    pub target: Option<Target>,
    /// The consumer; `None` for a consumer that [fits](super::fitting). Lookup tables that the object has are written for each
    /// consumer, and its debug sections stay compressed, with the feature `compress`. `.debug_frame` is written unless the object's only
    /// frames are in `.eh_frame`, which stays.
    pub consumer: Option<Consumer>,
    /// Form of expressions.
    pub expressions: RewrittenExpressions,
    /// Whether what lint proves wrong is written as it was meant, as far as the code proves it, and otherwise removed.
    pub fix: bool,
    /// Whether `.debug_names` is written, for DWARF 5, with `.debug_aranges`: beside an index, gdb finds code only by these.
    pub names: bool,
    /// Whether entries, rows, frames and ranges of code that a linker dropped are removed, with what only they refer to. They are
    /// listed among the [changes](super::Rewritten::changes).
    pub gc: bool,
    /// Whether equal types of all units are described once, in the first unit, to which the others refer. Types are equal
    /// if all that they say is equal, with the types that they refer to, their names, namespaces, source lines and the
    /// unit's language. Different types with one name stay in their units, and are
    /// [listed](super::Rewritten::different_types); so do base types, and copies that are smaller than a reference. Type
    /// units become types of the units that use them. Refused for a consumer of split units.
    pub dedupe: bool,
    /// Contents of the [supplementary file](crate::read::Object::set_supplementary), whose facts move into the object.
    pub supplementary: Option<&'a [u8]>,
    /// Number of threads that read the object; 0 and 1 mean a single thread.
    pub threads: usize,
}

impl Default for RewriteOptions<'_> {
    fn default() -> Self {
        Self {
            target: None,
            consumer: None,
            expressions: RewrittenExpressions::Unchanged,
            fix: false,
            names: false,
            gc: false,
            dedupe: false,
            supplementary: None,
            threads: 1,
        }
    }
}

/// Form of expressions in a rewritten object.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum RewrittenExpressions {
    /// The operations of the file, where they mean the same for the consumer, and otherwise the consumer's operations for
    /// the same location.
    #[default]
    Unchanged,
    /// The consumer's operations for the same location, where a location of the model is that of the expression.
    Typed,
}
