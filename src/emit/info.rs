//! `.debug_info`: units and entries, DWARF 5 sections 7.5.

use gimli::{DwAt, DwForm, DwTag};

use super::abbrev::Abbreviations;
use super::section::{Relocation, RelocationTarget};
use crate::op::write_uleb;

/// Names an entry before it has an offset: a number that the caller chooses, in 0…`count` as given to
/// [`Info::new`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct EntryRef(pub(crate) u32);

/// How an entry's offset is written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum RefForm {
    /// From the start of the unit, in this many bytes.
    Unit(u8),
    /// From the start of the unit, as unsigned LEB128 padded to this many bytes.
    UnitUleb(u8),
    /// From the start of the section, in 4 bytes that a linker relocates.
    Section,
}

/// A place where the offset of an entry is to be filled in.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Pending {
    /// Bytes from the start of the buffer.
    pub(crate) at: usize,
    pub(crate) form: RefForm,
    pub(crate) entry: EntryRef,
}

/// The section, being written.
#[derive(Debug)]
pub(crate) struct Info {
    pub(crate) bytes: Vec<u8>,
    pub(crate) relocations: Vec<Relocation>,
    pub(crate) abbreviations: Abbreviations,
    /// Where each entry is, 0 while it is not there (no entry is at 0: the unit's header is).
    offsets: Vec<u32>,
    pending: Vec<Pending>,
    unit: usize,
    /// Where the entry that is being written starts, and how many bytes its code has.
    entry: usize,
    code_bytes: usize,
}

impl Info {
    pub(crate) fn new(count: usize) -> Self {
        Self {
            bytes: Vec::new(),
            relocations: Vec::new(),
            abbreviations: Abbreviations::default(),
            offsets: vec![0; count],
            pending: Vec::new(),
            unit: 0,
            entry: 0,
            code_bytes: 0,
        }
    }

    /// Begins a unit.
    pub(crate) fn begin_unit(&mut self, address_bytes: u8) {
        self.unit = self.bytes.len();
        self.bytes.extend_from_slice(&[0; 4]);
        self.bytes.extend_from_slice(&5u16.to_le_bytes());
        self.bytes.extend_from_slice(&[gimli::DW_UT_compile.0, address_bytes]);
        self.section_offset(".debug_abbrev", 0);
    }

    /// Ends the unit and fills in what refers to its entries. Whether everything could be that counts from
    /// the start of the unit; references to entries of later units wait.
    pub(crate) fn end_unit(&mut self) -> bool {
        let length = (self.bytes.len() - self.unit - 4) as u32;
        self.bytes[self.unit..self.unit + 4].copy_from_slice(&length.to_le_bytes());
        let mut pending = core::mem::take(&mut self.pending);
        pending.retain(|pending| !self.settle(pending, None));
        self.pending = pending;
        self.pending.iter().all(|pending| pending.form == RefForm::Section)
    }

    /// Fills in what refers to entries of other units, when all are there. Whether everything could be.
    pub(crate) fn settle_rest(&mut self) -> bool {
        let pending = core::mem::take(&mut self.pending);
        pending.iter().all(|pending| pending.form == RefForm::Section && self.settle(pending, None))
    }

    /// Fills in what is known of the unit by now, in this section, or in the bytes of another with its
    /// relocations. Whether it could.
    pub(crate) fn settle(
        &mut self,
        pending: &Pending,
        other: Option<(&mut [u8], &mut Vec<Relocation>)>,
    ) -> bool {
        let offset = self.offsets[pending.entry.0 as usize];
        if offset == 0 {
            return false;
        }
        // An entry of an earlier unit has none.
        let in_unit = u64::from(offset).checked_sub(self.unit as u64);
        let room = match pending.form {
            RefForm::Unit(size) => 8 * u32::from(size),
            RefForm::UnitUleb(size) => 7 * u32::from(size),
            RefForm::Section => 64,
        };
        let in_unit = match in_unit {
            Some(in_unit) if in_unit.checked_shr(room).unwrap_or(0) == 0 => in_unit,
            _ if pending.form == RefForm::Section => 0,
            _ => return false,
        };
        let (bytes, relocations) = match other {
            Some((bytes, relocations)) => (bytes, relocations),
            None => (self.bytes.as_mut_slice(), &mut self.relocations),
        };
        match pending.form {
            RefForm::Unit(size) => {
                let size = usize::from(size);
                bytes[pending.at..pending.at + size].copy_from_slice(&in_unit.to_le_bytes()[..size]);
            }
            RefForm::UnitUleb(size) => {
                for index in 0..usize::from(size) {
                    let more = if index + 1 < size.into() { 0x80 } else { 0 };
                    bytes[pending.at + index] = (in_unit >> (7 * index)) as u8 & 0x7f | more;
                }
            }
            RefForm::Section => relocations.push(Relocation {
                offset: pending.at as u64,
                bytes: 4,
                target: RelocationTarget::Section(".debug_info"),
                addend: offset.into(),
            }),
        }
        true
    }

    /// Where the entry is in its unit, if it is there.
    pub(crate) fn offset_in_unit(&self, entry: EntryRef) -> Option<u64> {
        match self.offsets[entry.0 as usize] {
            0 => None,
            offset => Some(u64::from(offset) - self.unit as u64),
        }
    }

    /// Begins an entry. Its attributes follow, then [`end_entry`](Self::end_entry).
    pub(crate) fn begin_entry(&mut self, tag: DwTag, has_children: bool, is: Option<EntryRef>) {
        self.entry = self.bytes.len();
        if let Some(EntryRef(number)) = is {
            self.offsets[number as usize] = self.entry as u32;
        }
        self.abbreviations.begin(tag, has_children);
        // Room for the largest code that the entry can get.
        self.code_bytes = crate::op::uleb_len(self.abbreviations.next_code());
        self.bytes.resize(self.entry + self.code_bytes, 0);
    }

    /// Ends the attributes of the entry.
    #[inline]
    pub(crate) fn end_entry(&mut self) {
        let code = self.abbreviations.code();
        for index in 0..self.code_bytes {
            let more = if index + 1 < self.code_bytes { 0x80 } else { 0 };
            self.bytes[self.entry + index] = (code >> (7 * index)) as u8 & 0x7f | more;
        }
    }

    /// Ends the children of an entry.
    pub(crate) fn end_children(&mut self) {
        self.bytes.push(0);
    }

    /// An attribute whose value takes no bytes, or is appended by the caller.
    #[inline]
    pub(crate) fn attribute(&mut self, at: DwAt, form: DwForm) -> &mut Vec<u8> {
        self.abbreviations.attribute(at, form);
        &mut self.bytes
    }

    /// A flag that is set.
    pub(crate) fn flag(&mut self, at: DwAt) {
        self.attribute(at, gimli::DW_FORM_flag_present);
    }

    /// An unsigned constant, in the fewest bytes of a fixed size.
    #[inline]
    pub(crate) fn unsigned(&mut self, at: DwAt, value: u64) {
        let (form, bytes) = match value {
            0..0x100 => (gimli::DW_FORM_data1, 1),
            0x100..0x1_0000 => (gimli::DW_FORM_data2, 2),
            0x1_0000..0x1_0000_0000 => (gimli::DW_FORM_data4, 4),
            _ => (gimli::DW_FORM_data8, 8),
        };
        self.attribute(at, form).extend_from_slice(&value.to_le_bytes()[..bytes]);
    }

    /// A signed constant.
    pub(crate) fn signed(&mut self, at: DwAt, value: i64) {
        crate::op::write_sleb(self.attribute(at, gimli::DW_FORM_sdata), value);
    }

    /// A number as unsigned LEB128, of a form that has it so (an index).
    #[inline]
    pub(crate) fn index(&mut self, at: DwAt, form: DwForm, index: u64) {
        write_uleb(self.attribute(at, form), index);
    }

    /// A string at an offset of a string section.
    #[inline]
    pub(crate) fn string(&mut self, at: DwAt, offset: u32) {
        self.attribute(at, gimli::DW_FORM_strp);
        self.section_offset(".debug_str", offset.into());
    }

    /// An offset of another section, which a linker relocates.
    pub(crate) fn offset(&mut self, at: DwAt, section: &'static str, offset: u64) {
        self.attribute(at, gimli::DW_FORM_sec_offset);
        self.section_offset(section, offset);
    }

    /// Another entry of the unit.
    #[inline]
    pub(crate) fn reference(&mut self, at: DwAt, entry: EntryRef) {
        self.attribute(at, gimli::DW_FORM_ref4);
        let known = self.offset_in_unit(entry);
        if known.is_none() {
            self.pending.push(Pending { at: self.bytes.len(), form: RefForm::Unit(4), entry });
        }
        self.bytes.extend_from_slice(&(known.unwrap_or(0) as u32).to_le_bytes());
    }

    /// The places of an expression in this section that are to be filled in.
    pub(crate) fn pend(&mut self, pending: impl IntoIterator<Item = Pending>) {
        self.pending.extend(pending);
    }

    fn section_offset(&mut self, section: &'static str, offset: u64) {
        self.relocations.push(Relocation {
            offset: self.bytes.len() as u64,
            bytes: 4,
            target: RelocationTarget::Section(section),
            addend: offset,
        });
        self.bytes.extend_from_slice(&[0; 4]);
    }
}
