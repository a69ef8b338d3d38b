//! Register numbers.

/// A DWARF register number.
///
/// Numbers are those of the target, and [`Target`](super::Target) has their names. They are not limited to 16 bits: PTX
/// packs the name of a virtual register into the number.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Reg(pub u64);
