//! `.debug_info`: a unit's entries, DWARF 5 section 7.5.

mod attributes;

use gimli::{DwAt, DwChildren, DwForm, DwTag, DwUt};

use super::abbrev::{Abbreviations, SHORT_CODES};
use super::addr::AddressKey;
use super::format::Format;
use super::named::{EntryRef, Named};
use super::section::{Relocation, RelocationTarget};
use super::strings::StringIndices;
use crate::error::{Count, Error, ErrorKind, Result};
use crate::op::write_uleb;

/// Returns whether an entry has children, as its abbreviation states it.
pub(crate) fn children(has_children: bool) -> DwChildren {
    if has_children { gimli::DW_CHILDREN_yes } else { gimli::DW_CHILDREN_no }
}

/// An entry in any unit, with the unit's number.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct UnitEntry {
    pub(crate) unit: u32,
    pub(crate) entry: EntryRef,
}

/// How a reference to an entry is encoded.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum RefForm {
    /// Offset from the start of the unit, in this many bytes.
    Unit(u8),
    /// Offset from the start of the unit, as unsigned LEB128 padded to this many bytes.
    UnitUleb(u8),
    /// Offset from the start of the section, in this many bytes, which a linker relocates.
    Section(u8),
}

/// What a field that is filled in later contains.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Wanted {
    /// Entry offset.
    Entry { entry: UnitEntry, form: RefForm },
    /// An address, which a linker relocates.
    Address(AddressKey),
}

/// A field that is filled in later.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Pending {
    /// Offset from the start of the buffer, in bytes.
    pub(crate) at: usize,
    pub(crate) wanted: Wanted,
}

/// Offset of another unit's entry, filled in when the units are concatenated.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Elsewhere {
    /// Offset from the start of the unit's part of the section, in bytes.
    pub(crate) at: usize,
    pub(crate) bytes: u8,
    pub(crate) entry: UnitEntry,
}

/// Approximate bytes for an entry with a number.
const ENTRY_BYTES: usize = 8;

/// Entry forms that a consumer requires.
#[derive(Debug, Clone, Copy)]
pub(crate) struct EntryStyle {
    /// Whether strings are in the entries.
    pub(crate) has_inline_strings: bool,
    /// Whether references to the unit's entries have four bytes, even references to earlier entries.
    pub(crate) has_fixed_references: bool,
    /// Whether block lengths have one or two bytes.
    pub(crate) has_fixed_forms: bool,
    /// Attributes that the consumer knows, in ascending order; `None` for all.
    pub(crate) known: Option<&'static [DwAt]>,
    /// Largest tag that the consumer knows.
    pub(crate) last_tag: DwTag,
}

impl Default for EntryStyle {
    fn default() -> Self {
        Self {
            has_inline_strings: false,
            has_fixed_references: true,
            has_fixed_forms: false,
            known: None,
            last_tag: DwTag(u16::MAX),
        }
    }
}

/// Unit writer. Offsets count from the start of the unit.
#[derive(Debug)]
pub(crate) struct Info {
    pub(crate) bytes: Vec<u8>,
    /// Relocations for the linker. Until the units are concatenated, strings are referred to by number, and other
    /// sections by the offset within the unit's part.
    pub(crate) relocations: Vec<Relocation>,
    pub(crate) elsewhere: Vec<Elsewhere>,
    pub(crate) abbreviations: Abbreviations,
    pub(crate) strings: StringIndices,
    pub(crate) format: Format,
    /// The unit's number.
    number: u32,
    /// Whether the unit is a split unit, in a file that is not linked.
    pub(crate) is_split: bool,
    /// Attribute forms that the consumer requires.
    forms: Vec<(DwAt, DwForm)>,
    /// Entry forms that the consumer requires.
    pub(crate) style: EntryStyle,
    /// Attributes that were omitted, because the consumer does not know them.
    pub(crate) unknown: Vec<DwAt>,
    /// Tag of an entry that the consumer does not know.
    pub(crate) unknown_tag: Option<DwTag>,
    /// The omitted attributes' bytes.
    scratch: Vec<u8>,
    /// Offset of each entry; 0 for an entry that is not written yet, because the unit header is at offset 0.
    pub(crate) offsets: Vec<u32>,
    pub(crate) pending: Vec<Pending>,
    /// Entries for the name tables, if the consumer requests such tables.
    pub(crate) named: Option<Box<Named>>,
    /// Whether the unit is a type unit: it has no string offsets table, and other units do not know its offset in
    /// `.debug_info`.
    is_type_unit: bool,
    /// Whether the unit is DWARF 5 and the consumer has no wish about attributes: each takes the form with the fewest
    /// bytes, and no name table records it.
    is_free: bool,
    length: usize,
    /// The current entry's start.
    entry: usize,
}

impl Info {
    pub(crate) fn new(
        format: Format,
        number: u32,
        count: usize,
        forms: Vec<(DwAt, DwForm)>,
        abbreviations: Abbreviations,
    ) -> Self {
        Self {
            bytes: Vec::with_capacity(ENTRY_BYTES * count),
            relocations: Vec::new(),
            elsewhere: Vec::new(),
            abbreviations,
            strings: StringIndices::default(),
            format,
            number,
            is_split: false,
            forms,
            style: EntryStyle::default(),
            unknown: Vec::new(),
            unknown_tag: None,
            scratch: Vec::new(),
            offsets: vec![0; count],
            pending: Vec::new(),
            named: None,
            is_type_unit: false,
            is_free: false,
            length: 0,
            entry: 0,
        }
    }

    /// Begins a unit. `id` is the number after the header, in the unit kinds that have one: type signature or unit id.
    pub(crate) fn begin_unit(&mut self, kind: DwUt, id: Option<u64>) {
        let format = self.format;
        // The tests are combined once for the unit, because every attribute depends on them.
        self.is_free = format.version >= 5
            && !self.is_type_unit
            && self.forms.is_empty()
            && self.style.known.is_none()
            && self.named.is_none();
        self.length = format.begin_length(&mut self.bytes);
        format.half(&mut self.bytes, format.version);
        // DWARF 5 moved the address size before the abbreviation offset.
        if format.version >= 5 {
            self.bytes.extend_from_slice(&[kind.0, format.address_bytes]);
            self.section_offset(".debug_abbrev", 0);
        } else {
            self.section_offset(".debug_abbrev", 0);
            self.bytes.push(format.address_bytes);
        }
        if let Some(id) = id {
            format.fixed(&mut self.bytes, id, 8);
        }
    }

    /// Begins a type unit for the type with entry `ty`.
    pub(crate) fn begin_type_unit(&mut self, signature: u64, ty: EntryRef) {
        self.is_type_unit = true;
        self.begin_unit(gimli::DW_UT_type, Some(signature));
        let position = self.bytes.len();
        let bytes = self.format.offset_bytes;
        let entry = UnitEntry { unit: self.number, entry: ty };
        self.pending
            .push(Pending { at: position, wanted: Wanted::Entry { entry, form: RefForm::Unit(bytes) } });
        self.format.offset(&mut self.bytes, 0);
    }

    /// Offset in a DWARF 5 unit at which the type signature or unit id follows the header.
    pub(crate) fn id_offset(format: Format) -> usize {
        let version = 2;
        let kind = 1;
        let address_bytes = 1;
        format.length_bytes() + version + kind + address_bytes + usize::from(format.offset_bytes)
    }

    /// Ends the unit and fills in the references to its entries.
    ///
    /// # Errors
    /// [`ErrorKind::TooLarge`]; [`ErrorKind::BadArgument`] for a reference to an entry that is not written, or that is
    /// too far away for the reference's form.
    pub(crate) fn end_unit(&mut self) -> Result<()> {
        // Entry offsets are stored in 32 bits, in both formats.
        if u32::try_from(self.bytes.len()).is_err() {
            return Err(too_large_unit("entries", self.bytes.len()));
        }
        self.format.end_length(&mut self.bytes, self.length);
        let pending = core::mem::take(&mut self.pending);
        let mut bytes = core::mem::take(&mut self.bytes);
        let mut relocations = core::mem::take(&mut self.relocations);
        let mut elsewhere = core::mem::take(&mut self.elsewhere);
        for one in pending {
            self.settle(one, &mut bytes, &mut relocations, &mut elsewhere)?;
        }
        relocations.sort_by_key(|relocation| relocation.offset);
        // Units wait for the linker together, so their unused capacity would add up.
        bytes.shrink_to_fit();
        (self.bytes, self.relocations, self.elsewhere) = (bytes, relocations, elsewhere);
        Ok(())
    }

    /// Fills in a pending field in this section's bytes or another section's, or records the field for the linker or
    /// for the concatenation.
    ///
    /// # Errors
    /// The errors of [`end_unit`](Self::end_unit).
    pub(crate) fn settle(
        &self,
        pending: Pending,
        bytes: &mut [u8],
        relocations: &mut Vec<Relocation>,
        elsewhere: &mut Vec<Elsewhere>,
    ) -> Result<()> {
        let position = pending.at;
        let Wanted::Entry { entry, form } = pending.wanted else { return Ok(()) };
        // The other unit's offsets are not known yet, and only a section offset can reach it.
        if entry.unit != self.number {
            let RefForm::Section(size) = form else { return Err(out_of_reach()) };
            elsewhere.push(Elsewhere { at: position, bytes: size, entry });
            return Ok(());
        }
        let offset = match self.offsets.get(entry.entry.0 as usize) {
            None | Some(0) => return Err(unwritten()),
            Some(&offset) => u64::from(offset),
        };
        // Number of bits that the form can hold. A section offset always fits.
        let room = match form {
            RefForm::Unit(size) => 8 * u32::from(size),
            RefForm::UnitUleb(size) => 7 * u32::from(size),
            RefForm::Section(_) => 64,
        };
        if offset.checked_shr(room).unwrap_or(0) != 0 {
            let what = format!("entry offset {offset:#x} does not fit an operand of {room}-bit size");
            return Err(Error::bad_argument(what));
        }
        match form {
            RefForm::Unit(size) => self.format.patch(bytes, position, offset, size),
            RefForm::UnitUleb(size) => {
                for index in 0..usize::from(size) {
                    let more = if index + 1 < size.into() { 0x80 } else { 0 };
                    bytes[position + index] = (offset >> (7 * index)) as u8 & 0x7f | more;
                }
            }
            RefForm::Section(size) => relocations.push(Relocation {
                offset: position as u64,
                bytes: size,
                target: RelocationTarget::Section(".debug_info"),
                addend: offset,
            }),
        }
        Ok(())
    }

    /// Entry offset in its unit, if the entry is written.
    #[inline(always)]
    pub(crate) fn offset_in_unit(&self, entry: EntryRef) -> Option<u64> {
        match self.offsets[entry.0 as usize] {
            0 => None,
            offset => Some(offset.into()),
        }
    }

    /// Begins an entry. Its attributes follow, then [`end_entry`](Self::end_entry).
    #[inline]
    pub(crate) fn begin_entry(&mut self, tag: DwTag, children: DwChildren, is: Option<EntryRef>) {
        self.entry = self.bytes.len();
        if let Some(EntryRef(number)) = is {
            self.offsets[number as usize] = self.entry as u32;
        }
        if let Some(named) = &mut self.named {
            named.begin(is);
        }
        if tag.0 > self.style.last_tag.0 {
            self.unknown_tag = Some(tag);
        }
        self.abbreviations.begin(tag, children);
        // The code is known after the attributes, so one byte is reserved for it.
        self.bytes.push(0);
    }

    /// Offset of the current or last entry.
    pub(crate) fn entry_offset(&self) -> u64 {
        self.entry as u64
    }

    /// Ends the current entry's attributes.
    #[inline]
    pub(crate) fn end_entry(&mut self) {
        if let Some(named) = &mut self.named {
            let (tag, children) = self.abbreviations.tag();
            named.end(tag, children, |at| self.abbreviations.has(at), self.entry as u32);
        }
        let code = self.abbreviations.code();
        if code <= SHORT_CODES as u64 {
            self.bytes[self.entry] = code as u8;
        } else {
            self.long_code(code);
        }
    }

    /// Inserts an abbreviation code in more than one byte, which moves the attributes.
    fn long_code(&mut self, code: u64) {
        let mut bytes = Vec::new();
        write_uleb(&mut bytes, code);
        let distance = bytes.len() - 1;
        self.bytes.splice(self.entry..=self.entry, bytes);
        let entry = self.entry;
        // Both lists ascend, so only their last elements are after the inserted bytes.
        for pending in self.pending.iter_mut().rev().take_while(|pending| pending.at > entry) {
            pending.at += distance;
        }
        let relocations = self.relocations.iter_mut().rev();
        for relocation in relocations.take_while(|relocation| relocation.offset > entry as u64) {
            relocation.offset += distance as u64;
        }
    }

    /// Ends an entry's children.
    pub(crate) fn end_children(&mut self) {
        if let Some(named) = &mut self.named {
            named.end_children();
        }
        self.bytes.push(0);
    }

    /// Records an expression's pending fields in this section. `name` gives a symbol's name.
    pub(crate) fn defer(
        &mut self,
        pending: impl IntoIterator<Item = Pending>,
        mut name: impl FnMut(u32) -> std::borrow::Cow<'static, str>,
    ) {
        for one in pending {
            match one.wanted {
                Wanted::Address(key) => {
                    self.relocations.extend(key.relocation(one.at, self.format, &mut name))
                }
                Wanted::Entry { .. } => self.pending.push(one),
            }
        }
    }

    fn section_offset(&mut self, section: &'static str, offset: u64) {
        self.relocations.push(Relocation {
            offset: self.bytes.len() as u64,
            bytes: self.format.offset_bytes,
            target: RelocationTarget::Section(section),
            addend: offset,
        });
        self.format.offset(&mut self.bytes, 0);
    }
}

/// Whether a form is an index into the string offsets table.
fn is_index_of_string(form: DwForm) -> bool {
    form == gimli::DW_FORM_strx || (gimli::DW_FORM_strx1.0..=gimli::DW_FORM_strx4.0).contains(&form.0)
}

pub(crate) fn unwritten() -> Error {
    Error::bad_argument("location references an entity without an entry; expected an entry in its unit")
}

pub(crate) fn out_of_reach() -> Error {
    Error::bad_argument("location references an entry in another unit, which its operation cannot reach")
}

/// Error for a unit whose entries or lists have more bytes than 32-bit offsets reach.
pub(super) fn too_large_unit(what: &str, bytes: usize) -> Error {
    let bytes = Count(bytes as u64, "byte");
    ErrorKind::TooLarge(format!("unit has {bytes} of {what}; expected less than 4 GiB: use several units"))
        .into()
}
