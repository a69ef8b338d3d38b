//! Entries as plain data: one form for the module's description and for the object, and their difference.
//!
//! The form keeps an entry's meaning, so that equal meanings compare equal. Attributes that express the same property
//! become one attribute: `DW_AT_low_pc`, `DW_AT_high_pc` and `DW_AT_ranges` are `DW_AT_ranges`; the attributes for a
//! member's offset are `DW_AT_data_bit_offset`; strides are `DW_AT_bit_stride`; a variant's values are
//! `DW_AT_discr_value`. An entry inherits attributes from the entry that it completes (DWARF 5 sections 2.13.2 and
//! 3.3.8.2).
//!
//! A described entry lists every attribute that its entry may have, because any other attribute can change the
//! entry's meaning.

mod calls;
mod described;
mod described_types;
mod difference;
mod found;
mod tags;
mod value;

pub(super) use described::{Described, Encoded, Node, Number};
pub(super) use difference::{Compared, Different, Reference};
pub(super) use found::Found;
pub(super) use tags::{is_part, is_type};
pub(super) use value::{Entity, code_text};
