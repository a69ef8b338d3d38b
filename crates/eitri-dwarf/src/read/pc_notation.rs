//! Notation of pcs in an object.
//!
//! In a cubin, the code of each function is a section `.text.NAME` at address 0, and a pc is a number only because the reader
//! assigns addresses. NVIDIA's tools print offsets in that section: nvdisasm at each instruction, also in a function that
//! ptxas put after another in one section. A pc of a cubin is therefore written as the name and an offset, `k+0x20`, and
//! so is an instruction of a PTX text.

use std::ops::Range;

use super::elf::ElfSection;
use crate::error::{Closing, OneLine, PcText, Position};

/// Start of the name of a section with a function's code.
const CODE: &str = ".text.";

/// Number of bytes after the last code in which an address still counts from it: the smallest distance between the
/// addresses that the reader assigns.
const BEYOND: u64 = 0x1000;

/// A code section in a cubin.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct CodeSection {
    name: String,
    /// Address of the first byte.
    start: u64,
    size: u64,
    /// End of the addresses that count from the start: a row or a range that goes too far does not reach other code.
    reach: u64,
}

/// Returns the code sections of a cubin, sorted by address.
pub(super) fn code_sections(sections: &[ElfSection<'_>]) -> Vec<CodeSection> {
    let mut starts: Vec<u64> = sections.iter().map(|section| section.address).collect();
    starts.sort_unstable();
    let named = sections.iter().filter(|section| section.is_code()).filter_map(|section| {
        let name = OneLine(section.name.strip_prefix(CODE)?).to_string();
        let ElfSection { address: start, size, .. } = *section;
        let beyond = start.saturating_add(size).saturating_add(BEYOND);
        let next = starts.get(starts.partition_point(|other| *other <= start)).copied().unwrap_or(u64::MAX);
        Some(CodeSection { name, start, size, reach: next.min(beyond) })
    });
    let mut code: Vec<_> = named.collect();
    code.sort_by_key(|section| section.start);
    code
}

/// Notation of pcs in an object: in a cubin and in a PTX text as offsets from the start of a function's code, and
/// elsewhere as addresses.
///
/// ```
/// use eitri_dwarf::read::Object;
///
/// # fn print(bytes: &[u8]) -> eitri_dwarf::Result<()> {
/// let object = Object::read(bytes)?;
/// let notation = object.pc_notation();
/// for range in object.code() {
///     // `k+[0x0, 0x180)` in a cubin, `[0x10000, 0x10180)` in a relocatable object for another machine.
///     println!("{}", notation.pcs(range));
/// }
/// # Ok(())
/// # }
/// ```
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct PcNotation<'o> {
    code: &'o [CodeSection],
}

impl<'o> PcNotation<'o> {
    pub(super) fn new(code: &'o [CodeSection]) -> Self {
        Self { code }
    }

    /// Returns a pc as text.
    pub fn pc(self, pc: u64) -> PcText<'o> {
        PcText::new(self.position(pc), None)
    }

    /// Returns a half-open range of pcs as text.
    pub fn pcs(self, pcs: &Range<u64>) -> PcText<'o> {
        PcText::new(self.position(pcs.start), Some((self.position(pcs.end), Closing::Exclusive)))
    }

    /// Returns a range of pcs with the first and the last pc as text.
    pub fn pcs_to_last(self, first: u64, last: u64) -> PcText<'o> {
        PcText::new(self.position(first), Some((self.position(last), Closing::Inclusive)))
    }

    /// Returns the pc that is written as a function and an offset. `None` if the object has no such section, or it ends
    /// before the offset.
    pub fn address(self, function: &str, offset: u64) -> Option<u64> {
        let section = self.code.iter().find(|section| section.name == function)?;
        section.start.checked_add(offset).filter(|_| offset < section.size)
    }

    fn section(self, pc: u64) -> Option<&'o CodeSection> {
        let index = self.code.partition_point(|section| section.start <= pc).checked_sub(1)?;
        Some(&self.code[index]).filter(|section| pc < section.reach)
    }

    fn position(self, pc: u64) -> Position<'o> {
        match self.section(pc) {
            Some(section) => {
                Position { function: Some(section.name.as_str().into()), number: pc - section.start }
            }
            None => Position { function: None, number: pc },
        }
    }
}
