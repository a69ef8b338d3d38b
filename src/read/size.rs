//! How large an object of a type is, as far as constants say.

use gimli::constants as dw;

use super::entry::Entry;

/// How many types are followed from one to the next: types that contain themselves have no end.
const MOST_STEPS: usize = 32;

impl Entry<'_, '_> {
    /// The type without what only qualifies it or names it again: `const`, `volatile`, typedefs and the like.
    /// `None` if it is one of `void`, or goes round in circles.
    pub fn unqualified(self) -> Option<Self> {
        let mut entry = self;
        for _ in 0..MOST_STEPS {
            entry = match entry.tag() {
                dw::DW_TAG_typedef
                | dw::DW_TAG_const_type
                | dw::DW_TAG_volatile_type
                | dw::DW_TAG_restrict_type
                | dw::DW_TAG_atomic_type
                | dw::DW_TAG_immutable_type
                | dw::DW_TAG_packed_type
                | dw::DW_TAG_shared_type => entry.ty()?,
                _ => return Some(entry),
            };
        }
        None
    }

    /// Bits of an object of the type that this entry describes: `DW_AT_bit_size` or `DW_AT_byte_size`, its own
    /// or that of the type it qualifies; of a pointer without one, an address of its unit; of an array without
    /// one, its elements. `None` if that is no constant.
    pub fn size_bits(self) -> Option<u64> {
        self.size_bits_in(MOST_STEPS)
    }

    fn size_bits_in(self, steps: usize) -> Option<u64> {
        let ty = self.unqualified()?;
        if let Some(bits) = ty.number(dw::DW_AT_bit_size) {
            return Some(bits);
        }
        if let Some(bytes) = ty.number(dw::DW_AT_byte_size) {
            return bytes.checked_mul(8);
        }
        match ty.tag() {
            dw::DW_TAG_pointer_type | dw::DW_TAG_reference_type | dw::DW_TAG_rvalue_reference_type => {
                Some(u64::from(ty.unit().encoding.address_bytes) * 8)
            }
            dw::DW_TAG_enumeration_type => ty.ty()?.size_bits_in(steps.checked_sub(1)?),
            dw::DW_TAG_array_type => {
                let element = ty.ty()?.size_bits_in(steps.checked_sub(1)?)?;
                let mut dimensions =
                    ty.children().filter(|one| one.tag() == dw::DW_TAG_subrange_type).peekable();
                dimensions.peek()?;
                dimensions.try_fold(element, |bits, one| bits.checked_mul(one.count()?))
            }
            _ => None,
        }
    }

    /// How many elements a dimension of an array has. A lower bound that is not given is taken to be 0 where
    /// the count depends on it.
    fn count(self) -> Option<u64> {
        if let Some(count) = self.number(dw::DW_AT_count) {
            return Some(count);
        }
        let lower = match self.attr(dw::DW_AT_lower_bound) {
            Some(lower) => lower.unsigned()?,
            None => 0,
        };
        self.number(dw::DW_AT_upper_bound)?.checked_sub(lower)?.checked_add(1)
    }
}
