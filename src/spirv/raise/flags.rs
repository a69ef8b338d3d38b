//! Debug info flags: section 3.2.

use crate::model::Accessibility;
use crate::spirv::names::Enumeration;

pub(super) const LOCAL: u32 = 1 << 2;
pub(super) const DEFINITION: u32 = 1 << 3;
pub(super) const FORWARD: u32 = 1 << 4;
pub(super) const ARTIFICIAL: u32 = 1 << 5;
pub(super) const EXPLICIT: u32 = 1 << 6;
pub(super) const PROTOTYPED: u32 = 1 << 7;
pub(super) const OBJECT_POINTER: u32 = 1 << 8;
pub(super) const STATIC_MEMBER: u32 = 1 << 9;
pub(super) const LVALUE_REFERENCE: u32 = 1 << 11;
pub(super) const RVALUE_REFERENCE: u32 = 1 << 12;
pub(super) const OPTIMIZED: u32 = 1 << 13;
pub(super) const ENUM_CLASS: u32 = 1 << 14;
pub(super) const BY_VALUE: u32 = 1 << 15;
pub(super) const BY_REFERENCE: u32 = 1 << 16;

/// Flags, of which those that are understood are taken away.
#[derive(Debug, Clone, Copy)]
pub(super) struct Flags(pub u32);

impl Flags {
    /// Whether it is there.
    pub fn take(&mut self, flag: u32) -> bool {
        let is_there = self.0 & flag != 0;
        self.0 &= !flag;
        is_there
    }

    /// The two bits that say who may name something.
    pub fn access(&mut self) -> Option<Accessibility> {
        let access = match self.0 & 3 {
            1 => Some(Accessibility::Protected),
            2 => Some(Accessibility::Private),
            3 => Some(Accessibility::Public),
            _ => None,
        };
        self.0 &= !3;
        access
    }

    /// What is left, in words.
    pub fn left(self) -> Option<String> {
        (self.0 != 0).then(|| format!("{} is not described", Enumeration::Flags.text(self.0)))
    }
}
