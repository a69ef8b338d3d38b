//! Types of PTX registers: the section `.nv_debug_info_reg_type`.

use core::ops::Range;

use super::{Names, section};
use crate::error::Result;
use crate::read::Object;

const SECTION: Names = [".nv_debug_info_reg_type", ".nv.merc.nv_debug_info_reg_type"];
const WHAT: &str = "the types of registers";

/// Types by number, as ptxas writes them for a register of each type.
const NAMES: [&str; 19] = [
    "b8", "b16", "b32", "b64", "u8", "u16", "u32", "u64", "s8", "s16", "s32", "s64", "f16", "f16x2", "f32",
    "f64", "pred", "b128", "s128",
];

/// Types of each function's PTX registers.
#[derive(Debug, Clone, Default)]
#[non_exhaustive]
pub struct RegisterTypes<'o> {
    /// Functions in section order: the linkage name, and the register type for each entry in the map.
    pub functions: Vec<(&'o [u8], &'o [u8])>,
    /// Each function's part of the section, in bytes from its start.
    pub parts: Vec<Range<u64>>,
}

impl<'o> RegisterTypes<'o> {
    /// Reads the types of a cubin. The result is empty without the section.
    ///
    /// # Errors
    /// [`Truncated`](crate::error::ErrorKind::Truncated), with the offset.
    pub fn read(object: &'o Object<'_>) -> Result<Self> {
        let Some(mut from) = section(object, SECTION) else { return Ok(Self::default()) };
        let mut all = Self::default();
        while !from.is_at_end() {
            let start = from.offset();
            let name = from.string(WHAT)?;
            let count = from.u32(WHAT)?;
            all.functions.push((name, from.take(count.into(), WHAT)?));
            all.parts.push(start..from.offset());
        }
        Ok(all)
    }

    /// Returns the type for each home in a function, in the [map](super::RegisterMap)'s order; empty if there are no
    /// types.
    pub fn of(&self, function: &[u8]) -> &'o [u8] {
        self.functions.iter().find(|(name, _)| *name == function).map_or(&[], |(_, types)| types)
    }

    /// Returns the name of a type in PTX, without the dot.
    pub fn name(ty: u8) -> Option<&'static str> {
        NAMES.get(usize::from(ty)).copied()
    }
}
