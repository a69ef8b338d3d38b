//! Cached call frame rows by pc, for many requests to the same entry.

use core::cell::RefCell;

use hashbrown::HashMap;

use super::frame::{Fde, Frames};
use super::frame_rows::{FrameRow, FrameRows};
use crate::error::Result;

/// Cached states within entries from which rows can be computed, so that a row is found without all earlier rows.
///
/// Only long entries have such states. A state is cached after the rows before it have been computed.
/// A common entry with many rules also has a state.
#[derive(Debug, Default)]
pub struct KnownRows<'o> {
    /// By section, and offset of the entry.
    entries: RefCell<HashMap<(usize, u64), Vec<Place<'o>>>>,
    /// States after the initial instructions, by section, and offset of the common entry.
    commons: RefCell<HashMap<(usize, u64), FrameRows<'o>>>,
}

/// State of the computation at a row.
#[derive(Debug)]
pub struct Place<'o> {
    /// First pc of the next row.
    start: u64,
    rows: FrameRows<'o>,
}

/// Minimum number of rows between two cached states; more for rows with more rules, as each state contains them all.
const ROWS: usize = 64;
/// Maximum number of rules in cached states for each row.
const RULES_PER_ROW: usize = 8;
/// Minimum number of rules in a common entry whose state is cached: a state that is copied takes less time than its
/// instructions.
const RULES: usize = 16;

impl<'o> KnownRows<'o> {
    /// Returns the row for a pc, like [`FrameRows::find`] on the entry's rows. `section` identifies the section.
    ///
    /// # Errors
    /// The errors that [`FrameRows::next_row`] returns.
    pub(crate) fn find(
        &self,
        section: usize,
        frames: &Frames<'o>,
        fde: &Fde<'o>,
        pc: u64,
    ) -> Result<Option<FrameRow<'o>>> {
        let key = (section, fde.offset);
        let (rows, is_beyond) = {
            let known = self.entries.borrow();
            let places = known.get(&key).map_or(&[][..], Vec::as_slice);
            let before = places.partition_point(|place| place.start <= pc);
            let rows = places[..before].last().map(|place| place.rows.clone());
            (rows, before == places.len())
        };
        let mut rows = match rows {
            Some(rows) => rows,
            None => self.begun(section, frames, fde)?,
        };
        let mut passed = 0;
        let mut is_in_order = is_beyond;
        while let Some(row) = rows.next_row()? {
            if (row.start..row.end).contains(&pc) {
                return Ok(Some(rows.into_row()));
            }
            // Where rows go backwards, the row for a pc can precede a state beyond the pc.
            is_in_order &= row.start <= row.end && row.end <= pc;
            let end = row.end;
            let rules = row.rules.len();
            passed += 1;
            if is_in_order && passed >= ROWS + (rules + rows.remembered_rules()) / RULES_PER_ROW {
                passed = 0;
                let mut known = self.entries.borrow_mut();
                known.entry(key).or_default().push(Place { start: end, rows: rows.clone() });
            }
        }
        Ok(None)
    }

    /// Returns an entry's rows after the initial instructions.
    fn begun(&self, section: usize, frames: &Frames<'o>, fde: &Fde<'o>) -> Result<FrameRows<'o>> {
        let key = (section, frames.cie(fde).offset);
        let mut rows = frames.rows(fde);
        match self.commons.borrow().get(&key) {
            Some(common) => rows.begin_as(common),
            None => rows.begin()?,
        }
        if rows.initial_rules() >= RULES {
            self.commons.borrow_mut().entry(key).or_insert_with(|| rows.clone());
        }
        Ok(rows)
    }
}

#[cfg(test)]
mod tests {
    use super::KnownRows;
    use crate::op::{Dialect, Encoding};
    use crate::read::{FrameSection, Frames, Sections};

    /// A CIE whose CFA is register 7 plus 8, and an FDE at 0x1000 for a number of bytes.
    fn section(bytes: u64, instructions: &[u8]) -> Vec<u8> {
        let entry = |id: u32, rest: &[u8]| {
            let bytes = [&id.to_le_bytes()[..], rest].concat();
            [&(bytes.len() as u32).to_le_bytes()[..], &bytes].concat()
        };
        let cie = entry(u32::MAX, &[4, 0, 8, 0, 1, 0x78, 16, 0x0c, 7, 8, 0x90, 1]);
        let code = [0x1000u64.to_le_bytes(), bytes.to_le_bytes()].concat();
        [cie, entry(0, &[&code, instructions].concat())].concat()
    }

    /// Asserts that the same row is found for each pc, regardless of earlier requests.
    fn agrees(bytes: u64, instructions: &[u8], pcs: impl Iterator<Item = u64>) {
        let section = section(bytes, instructions);
        let sections = Sections { debug_frame: &section, ..Sections::default() };
        let encoding = Encoding::new(8, Dialect::Dwarf5);
        let frames = Frames::read(&sections, FrameSection::Debug, encoding).expect("it is read");
        let known = KnownRows::default();
        let fde = &frames.fdes[0];
        for pc in pcs {
            let known_row = known.find(0, &frames, fde, pc);
            let expected = frames.rows(fde).find(pc);
            assert_eq!(format!("{known_row:?}"), format!("{expected:?}"), "{pc:#x}");
        }
        assert!(!known.entries.borrow().is_empty());
    }

    /// A common entry with a rule for each of 20 registers, and two functions that change and restore one of them.
    #[test]
    fn rows_after_a_long_common_entry_are_the_same() {
        let entry = |id: u32, rest: &[u8]| {
            let bytes = [&id.to_le_bytes()[..], rest].concat();
            [&(bytes.len() as u32).to_le_bytes()[..], &bytes].concat()
        };
        let listed: Vec<u8> = (20..40).flat_map(|register| [0x07, register]).collect();
        let mut section =
            entry(u32::MAX, &[&[4, 0, 8, 0, 1, 0x78, 16, 0x0c, 7, 8, 0x90, 1][..], &listed].concat());
        for start in [0x1000u64, 0x2000] {
            let code = [start.to_le_bytes(), 0x10u64.to_le_bytes()].concat();
            // r21 is unchanged from byte 4 on, and undefined again from byte 8 on; the address moves.
            let changed = [0x44, 0x08, 21, 0x0e, start.to_le_bytes()[1], 0x44, 0xd5];
            section.extend(entry(0, &[&code[..], &changed].concat()));
        }
        let sections = Sections { debug_frame: &section, ..Sections::default() };
        let encoding = Encoding::new(8, Dialect::Dwarf5);
        let frames = Frames::read(&sections, FrameSection::Debug, encoding).expect("it is read");
        let known = KnownRows::default();
        for (fde, pc) in [(0, 0x1005), (1, 0x2000), (1, 0x2005), (0, 0x1000), (1, 0x200c), (0, 0x100c)] {
            let fde = &frames.fdes[fde];
            let row = known.find(0, &frames, fde, pc);
            let expected = frames.rows(fde).find(pc);
            assert!(matches!(&expected, Ok(Some(row)) if row.rules.len() == 21));
            assert_eq!(format!("{row:?}"), format!("{expected:?}"), "{pc:#x}");
        }
        assert_eq!(known.commons.borrow().len(), 1);
    }

    /// Instructions with offsets that change at each byte, and with remembered and restored rules.
    fn rows(count: u64) -> Vec<u8> {
        (0..count)
            .flat_map(|number| match number % 7 {
                0 => vec![0x41, 0x0a, 0x80 | (number % 30) as u8, 1],
                1 => vec![0x41, 0x0b],
                _ => vec![0x41, 0x0e, (number % 100) as u8],
            })
            .collect()
    }

    #[test]
    fn rows_are_found_from_where_they_are_known() {
        let pcs = (0..4000u64).map(|number| 0x1000 + number * 1789 % 1010);
        agrees(1000, &rows(1000), pcs);
    }

    #[test]
    fn rows_that_go_back_or_cannot_be_read_are_found_as_without() {
        // DW_CFA_set_loc in the middle, back to the start.
        let back = [0x01, 0x10, 0x10, 0, 0, 0, 0, 0, 0];
        let pcs = || (0..2000u64).map(|number| 0x1000 + number * 1789 % 610);
        agrees(600, &[&rows(300)[..], &back, &rows(500)].concat(), pcs());
        // An unknown instruction in the middle.
        agrees(600, &[&rows(300)[..], &[0x3c], &rows(300)].concat(), pcs());
    }
}
