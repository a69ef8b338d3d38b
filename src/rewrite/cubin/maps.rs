//! Maps of PTX registers and their types, by function: `.nv_debug_info_reg_sass` and `.nv_debug_info_reg_type`.

use core::ops::Range;

use hashbrown::HashMap;

use super::names::in_file;
use crate::error::{Error, Result};
use crate::read::Object;
use crate::read::nvidia::{MappedFunction, RegisterMap, RegisterTypes};

pub(super) const HOMES: &str = ".nv_debug_info_reg_sass";
pub(super) const TYPES: &str = ".nv_debug_info_reg_type";

/// A function's map.
#[derive(Debug)]
pub(super) struct Map<'o> {
    pub(super) function: MappedFunction<'o>,
    /// The function's part of the map.
    pub(super) homes: Range<usize>,
    /// The function's types, and their part of the section.
    pub(super) types: Option<(Range<usize>, &'o [u8])>,
}

impl Map<'_> {
    /// Whether the map is that of dropped code: from sm_100 on, its homes begin and end at 0, or at any number, because nvlink
    /// 13.5 leaves some uninitialised.
    pub(super) fn is_cleared(&self, size: Option<u64>) -> bool {
        let homes = self.function.homes();
        let is_outside = |pc: u32| size.is_some_and(|size| u64::from(pc) > size);
        !homes.is_empty() && homes.iter().all(|home| home.start == 0 && home.end == 0)
            || homes.iter().any(|home| is_outside(home.start) || is_outside(home.end))
    }

    /// Whether two maps have the same homes and types.
    pub(super) fn is_same(&self, other: &Self) -> bool {
        self.function.homes() == other.function.homes()
            && self.types.as_ref().map(|types| types.1) == other.types.as_ref().map(|types| types.1)
    }
}

/// A function's types: their range in the section, and a number for each home.
type Types<'o> = (Range<usize>, &'o [u8]);

/// Reads a cubin's maps, in the order of the section. The types of a function's second map are its second types.
///
/// # Errors
/// The errors of [`RegisterMap::read`] and [`RegisterTypes::read`]; types of a function that has no map, as after a map or
/// types that end too early.
pub(super) fn maps<'o>(object: &'o Object<'_>) -> Result<Vec<Map<'o>>> {
    let read = RegisterTypes::read(object)?;
    let mut types: HashMap<&[u8], Vec<Types<'o>>> = HashMap::new();
    for ((name, numbers), part) in read.functions.into_iter().zip(read.parts) {
        types.entry(name).or_default().push((bytes(part), numbers));
    }
    let mut types: HashMap<&[u8], _> = types.into_iter().map(|(name, all)| (name, all.into_iter())).collect();
    let read = RegisterMap::read(object)?;
    let mut maps = Vec::new();
    for (function, part) in read.functions.into_iter().zip(read.parts) {
        let types = types.get_mut(function.name).and_then(Iterator::next);
        maps.push(Map { function, homes: bytes(part), types });
    }
    let left = types.into_iter().flat_map(|(name, all)| all.map(move |(range, _)| (range.start, name)));
    match left.min() {
        None => Ok(maps),
        Some((start, name)) => {
            let name = String::from_utf8_lossy(name);
            let text = format!("types of registers of `{name}`, which has no map of registers");
            Err(Error::malformed(text).in_section(&in_file(object, TYPES)).at_offset(start as u64))
        }
    }
}

/// Returns a part of a section that is in memory.
fn bytes(part: Range<u64>) -> Range<usize> {
    part.start as usize..part.end as usize
}
