//! The builder to which an id belongs, in debug builds.
//!
//! An id is a number, so that another builder's id would silently be another entity. In debug builds the highest bits of
//! an id therefore identify its builder. Release builds check nothing and have the bits for numbers.

use core::num::NonZeroU32;

/// Identity of a builder, or no builder in particular: ids that were numbers have none, and each builder accepts them.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Owner(#[cfg(debug_assertions)] u8);

impl Default for Owner {
    fn default() -> Self {
        Self::ANY
    }
}

/// Equal ids of different builders are equal, as in release builds.
impl PartialEq for Owner {
    fn eq(&self, _: &Self) -> bool {
        true
    }
}

impl Eq for Owner {}

#[cfg(debug_assertions)]
mod debug {
    use core::sync::atomic::{AtomicU8, Ordering};

    use super::{NonZeroU32, Owner};

    /// Number of identities, which are reused.
    const OWNERS: u8 = 126;
    /// Ids of several builders.
    const SEVERAL: Owner = Owner(0x7f);
    /// Highest two bits of a word with an owner: bits 23 to 29 are the owner, and the lower bits the number. Other words
    /// are a number plus 1, which is rarely so large that it has these bits.
    const HAS_OWNER: u32 = 0b10 << 30;
    const NUMBER_BITS: u32 = 23;

    static LAST: AtomicU8 = AtomicU8::new(0);

    impl Owner {
        /// No builder in particular.
        pub(crate) const ANY: Self = Self(0);

        /// Returns another builder's identity.
        pub(crate) fn next() -> Self {
            let next = |last| Some(last % OWNERS + 1);
            let last = LAST.fetch_update(Ordering::Relaxed, Ordering::Relaxed, next);
            Self(last.unwrap_or_default() % OWNERS + 1)
        }

        /// Whether an id with this owner can belong to the builder.
        pub(crate) fn admits(self, id: Self) -> bool {
            self.0 == 0 || id.0 == 0 || self.0 == id.0
        }

        /// The owner of two ids together.
        pub(crate) fn join(self, other: Self) -> Self {
            match (self.0, other.0) {
                (0, _) => other,
                (_, 0) => self,
                (one, two) if one == two => self,
                _ => SEVERAL,
            }
        }
    }

    #[inline]
    fn has_owner(word: u32) -> bool {
        word >> 30 == HAS_OWNER >> 30
    }

    /// Returns the word for a number. Large numbers have no owner.
    #[inline]
    pub(crate) fn word(number: u32, owner: Owner) -> NonZeroU32 {
        let word = match owner.0 {
            1.. if number >> NUMBER_BITS == 0 => HAS_OWNER | u32::from(owner.0) << NUMBER_BITS | number,
            _ if has_owner(number.saturating_add(1)) => HAS_OWNER - 1,
            _ => number.saturating_add(1),
        };
        NonZeroU32::new(word).unwrap_or(NonZeroU32::MIN)
    }

    /// Returns a word without its owner: the number plus 1.
    #[inline]
    pub(crate) fn without_owner(word: NonZeroU32) -> u32 {
        let word = word.get();
        if has_owner(word) { word % (1 << NUMBER_BITS) + 1 } else { word }
    }

    #[inline]
    pub(crate) fn owner(word: NonZeroU32) -> Owner {
        let word = word.get();
        if has_owner(word) { Owner((word >> NUMBER_BITS) as u8 & 0x7f) } else { Owner::ANY }
    }
}

#[cfg(not(debug_assertions))]
mod release {
    use super::{NonZeroU32, Owner};

    impl Owner {
        pub(crate) const ANY: Self = Self();

        #[inline(always)]
        pub(crate) fn next() -> Self {
            Self()
        }

        #[inline(always)]
        pub(crate) fn admits(self, _: Self) -> bool {
            true
        }

        #[inline(always)]
        pub(crate) fn join(self, _: Self) -> Self {
            self
        }
    }

    #[inline(always)]
    pub(crate) fn word(number: u32, _: Owner) -> NonZeroU32 {
        NonZeroU32::MIN.saturating_add(number)
    }

    #[inline(always)]
    pub(crate) fn without_owner(word: NonZeroU32) -> u32 {
        word.get()
    }

    #[inline(always)]
    pub(crate) fn owner(_: NonZeroU32) -> Owner {
        Owner()
    }
}

#[cfg(debug_assertions)]
pub(super) use debug::{owner, without_owner, word};
#[cfg(not(debug_assertions))]
pub(super) use release::{owner, without_owner, word};

#[cfg(all(test, debug_assertions))]
mod tests {
    use super::*;

    #[test]
    fn words_have_number_and_owner() {
        let builder = Owner::next();
        let another = Owner::next();
        for number in [0, 1, (1 << 23) - 1, 1 << 23, (1 << 31) - 2, 3 << 30, u32::MAX - 1] {
            for of in [Owner::ANY, builder] {
                let word = word(number, of);
                assert_eq!(without_owner(word) - 1, number);
                assert!(builder.admits(owner(word)));
                // Only small numbers leave bits for the owner.
                let is_known = number < 1 << 23 && of.0 != 0;
                assert_eq!(another.admits(owner(word)), !is_known, "{number}");
            }
        }
        assert!(!builder.admits(builder.join(another)));
        assert!(builder.admits(builder.join(Owner::ANY).join(builder)));
    }
}
