//! Form of location lists and range lists.

/// Form of location lists and range lists.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ListForm {
    /// Whether bounds in location lists are addresses, each with its relocation, and units begin at address 0 without
    /// ranges. For DWARF 2 to 4.
    pub has_absolute_bounds: bool,
    /// Whether the consumer reads offsets from a base in location lists of split units. gdb 13 takes such offsets for
    /// addresses; if this is not set, each entry has an address of its own in the object, as GCC emits it.
    pub has_split_offsets: bool,
}

impl ListForm {
    /// Offsets from a base, except in split units.
    pub const STANDARD: Self = Self { has_absolute_bounds: false, has_split_offsets: false };
}
