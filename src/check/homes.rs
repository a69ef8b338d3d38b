//! Homes of PTX registers in a cubin: an expression names a PTX register, and the map has the processor's registers and
//! the local memory that contain it at a pc.

use crate::error::Result;
use crate::read::Object;
use crate::read::nvidia::{INSTRUCTION_BYTES, MappedFunction, RegisterMap};

/// An object's map.
#[derive(Debug, Default)]
pub(super) struct Homes<'o> {
    map: RegisterMap<'o>,
    /// Functions of the map by address.
    starts: Vec<(u64, usize)>,
}

impl<'o> Homes<'o> {
    /// Reads the map of a cubin. Other objects have none.
    ///
    /// # Errors
    /// The errors of [`RegisterMap::read`].
    pub(super) fn new(object: &'o Object<'_>) -> Result<Self> {
        if !object.is_cubin() {
            return Ok(Self::default());
        }
        let map = RegisterMap::read(object)?;
        let mut starts: Vec<(u64, usize)> =
            map.functions.iter().zip(0..).filter_map(|(it, index)| Some((it.address?, index))).collect();
        starts.sort_unstable();
        Ok(Self { map, starts })
    }

    /// Returns the function around an address, and the address of the instruction there in bytes from its start.
    pub(super) fn at(&self, address: u64) -> Option<(&MappedFunction<'o>, u64)> {
        let next = self.starts.partition_point(|(start, _)| *start <= address);
        let (start, index) = *self.starts.get(next.checked_sub(1)?)?;
        let pc = address - start;
        Some((&self.map.functions[index], pc - pc % u64::from(INSTRUCTION_BYTES)))
    }

    /// Whether the file has a map.
    pub(super) fn is_empty(&self) -> bool {
        self.starts.is_empty()
    }
}
