//! `.debug_info`: the entries of a unit, DWARF 5 section 7.5.

use gimli::{DwAt, DwForm, DwTag, DwUt};

use super::abbrev::{Abbreviations, SHORT_CODES};
use super::addr::AddressKey;
use super::format::Format;
use super::named::Named;
use super::section::{Relocation, RelocationTarget};
use super::strings::StringIndices;
use crate::error::{Error, ErrorKind, Result};
use crate::op::{uleb_len, write_sleb, write_uleb};

/// Names an entry of a unit before it has an offset: a number that the caller chooses, in 0…`count` as given
/// to [`Info::new`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct EntryRef(pub(crate) u32);

/// An entry of some unit, by the unit's number.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct UnitEntry {
    pub(crate) unit: u32,
    pub(crate) entry: EntryRef,
}

/// How an entry's offset is written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum RefForm {
    /// From the start of the unit, in this many bytes.
    Unit(u8),
    /// From the start of the unit, as unsigned LEB128 padded to this many bytes.
    UnitUleb(u8),
    /// From the start of the section, in this many bytes that a linker relocates.
    Section(u8),
}

/// What is to be filled in at a place.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Wanted {
    /// The offset of an entry.
    Entry { entry: UnitEntry, form: RefForm },
    /// An address, which a linker knows.
    Address(AddressKey),
}

/// A place that is to be filled in.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Pending {
    /// Bytes from the start of the buffer.
    pub(crate) at: usize,
    pub(crate) wanted: Wanted,
}

/// A place that is filled in when the units are joined: the offset of an entry of another unit.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Elsewhere {
    /// Bytes from the start of the unit's part of the section.
    pub(crate) at: usize,
    pub(crate) bytes: u8,
    pub(crate) entry: UnitEntry,
}

/// A unit, being written. Offsets count from its start.
#[derive(Debug)]
pub(crate) struct Info {
    pub(crate) bytes: Vec<u8>,
    /// What a linker fills in. Strings are named by their numbers, and other sections by the offset in the
    /// unit's part of them, until the units are joined.
    pub(crate) relocations: Vec<Relocation>,
    pub(crate) elsewhere: Vec<Elsewhere>,
    pub(crate) abbreviations: Abbreviations,
    pub(crate) strings: StringIndices,
    pub(crate) format: Format,
    /// The number of the unit.
    number: u32,
    /// Whether it is a split unit, of a file that no linker sees.
    pub(crate) is_split: bool,
    /// Forms of attributes that the consumer wants.
    forms: Vec<(DwAt, DwForm)>,
    /// Where each entry is, 0 while it is not there (no entry is at 0: the unit's header is).
    pub(crate) offsets: Vec<u32>,
    pub(crate) pending: Vec<Pending>,
    /// The entries that are looked up by name, if there is to be a table of them.
    pub(crate) named: Option<Box<Named>>,
    /// Whether it is a type unit, which has no table of strings, and no place in `.debug_info` that others know.
    is_type_unit: bool,
    length: usize,
    /// Where the entry that is being written starts, and what was recorded before it.
    entry: usize,
    before: (usize, usize),
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
            bytes: Vec::new(),
            relocations: Vec::new(),
            elsewhere: Vec::new(),
            abbreviations,
            strings: StringIndices::default(),
            format,
            number,
            is_split: false,
            forms,
            offsets: vec![0; count],
            pending: Vec::new(),
            named: None,
            is_type_unit: false,
            length: 0,
            entry: 0,
            before: (0, 0),
        }
    }

    /// Begins a unit. Of a kind that has a number after the header, that is `id`.
    pub(crate) fn begin_unit(&mut self, kind: DwUt, id: Option<u64>) {
        let format = self.format;
        self.length = format.begin_length(&mut self.bytes);
        format.half(&mut self.bytes, format.version);
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

    /// Begins a type unit, for the type that has the entry.
    pub(crate) fn begin_type_unit(&mut self, signature: u64, ty: EntryRef) {
        self.is_type_unit = true;
        self.begin_unit(gimli::DW_UT_type, Some(signature));
        let (at, bytes) = (self.bytes.len(), self.format.offset_bytes);
        let entry = UnitEntry { unit: self.number, entry: ty };
        self.pending.push(Pending { at, wanted: Wanted::Entry { entry, form: RefForm::Unit(bytes) } });
        self.format.offset(&mut self.bytes, 0);
    }

    /// Where the number after the header of a unit is, in DWARF 5.
    pub(crate) fn id_offset(format: Format) -> usize {
        let (version, kind, address_bytes) = (2, 1, 1);
        format.length_bytes() + version + kind + address_bytes + usize::from(format.offset_bytes)
    }

    /// Ends the unit and fills in what refers to its entries.
    ///
    /// # Errors
    /// [`ErrorKind::TooLarge`]; [`ErrorKind::BadArgument`] where an entry is not there, or further on than
    /// what refers to it reaches.
    pub(crate) fn end_unit(&mut self) -> Result<()> {
        // An entry is found by an offset of 32 bits, in both formats.
        if u32::try_from(self.bytes.len()).is_err() {
            let what = "a unit has up to 4 GiB of entries, in the 64-bit format too: use several units";
            return Err(ErrorKind::TooLarge(what.into()).into());
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
        (self.bytes, self.relocations, self.elsewhere) = (bytes, relocations, elsewhere);
        Ok(())
    }

    /// Fills in a place in the bytes of this section or of another, or notes who is to do it.
    ///
    /// # Errors
    /// As [`end_unit`](Self::end_unit).
    pub(crate) fn settle(
        &self,
        pending: Pending,
        bytes: &mut [u8],
        relocations: &mut Vec<Relocation>,
        elsewhere: &mut Vec<Elsewhere>,
    ) -> Result<()> {
        let at = pending.at;
        let Wanted::Entry { entry, form } = pending.wanted else { return Ok(()) };
        if entry.unit != self.number {
            let RefForm::Section(size) = form else { return Err(nowhere()) };
            elsewhere.push(Elsewhere { at, bytes: size, entry });
            return Ok(());
        }
        let offset = match self.offsets.get(entry.entry.0 as usize) {
            None | Some(0) => return Err(nowhere()),
            Some(&offset) => u64::from(offset),
        };
        let room = match form {
            RefForm::Unit(size) => 8 * u32::from(size),
            RefForm::UnitUleb(size) => 7 * u32::from(size),
            RefForm::Section(_) => 64,
        };
        if offset.checked_shr(room).unwrap_or(0) != 0 {
            return Err(nowhere());
        }
        match form {
            RefForm::Unit(size) => self.format.patch(bytes, at, offset, size),
            RefForm::UnitUleb(size) => {
                for index in 0..usize::from(size) {
                    let more = if index + 1 < size.into() { 0x80 } else { 0 };
                    bytes[at + index] = (offset >> (7 * index)) as u8 & 0x7f | more;
                }
            }
            RefForm::Section(size) => relocations.push(Relocation {
                offset: at as u64,
                bytes: size,
                target: RelocationTarget::Section(".debug_info"),
                addend: offset,
            }),
        }
        Ok(())
    }

    /// Where the entry is in its unit, if it is there.
    pub(crate) fn offset_in_unit(&self, entry: EntryRef) -> Option<u64> {
        match self.offsets[entry.0 as usize] {
            0 => None,
            offset => Some(offset.into()),
        }
    }

    /// Begins an entry. Its attributes follow, then [`end_entry`](Self::end_entry).
    #[inline]
    pub(crate) fn begin_entry(&mut self, tag: DwTag, has_children: bool, is: Option<EntryRef>) {
        self.entry = self.bytes.len();
        self.before = (self.pending.len(), self.relocations.len());
        if let Some(EntryRef(number)) = is {
            self.offsets[number as usize] = self.entry as u32;
        }
        if let Some(named) = &mut self.named {
            named.begin(is);
        }
        self.abbreviations.begin(tag, has_children);
        // The code comes when the attributes are known.
        self.bytes.push(0);
    }

    /// Where the entry that is being written, or was written last, starts.
    pub(crate) fn entry_offset(&self) -> u64 {
        self.entry as u64
    }

    /// Ends the attributes of the entry.
    #[inline]
    pub(crate) fn end_entry(&mut self) {
        if let Some(named) = &mut self.named {
            let (tag, has_children) = self.abbreviations.tag();
            named.end(tag, has_children, |at| self.abbreviations.has(at), self.entry as u32);
        }
        let code = self.abbreviations.code();
        if code <= SHORT_CODES as u64 {
            self.bytes[self.entry] = code as u8;
        } else {
            self.long_code(code);
        }
    }

    /// Makes room for a code of more than one byte: the attributes move.
    #[cold]
    fn long_code(&mut self, code: u64) {
        let mut bytes = Vec::new();
        write_uleb(&mut bytes, code);
        let by = bytes.len() - 1;
        self.bytes.splice(self.entry..=self.entry, bytes);
        for pending in &mut self.pending[self.before.0..] {
            pending.at += by;
        }
        for relocation in &mut self.relocations[self.before.1..] {
            relocation.offset += by as u64;
        }
    }

    /// Ends the children of an entry.
    pub(crate) fn end_children(&mut self) {
        if let Some(named) = &mut self.named {
            named.end_children();
        }
        self.bytes.push(0);
    }

    /// An attribute whose value takes no bytes, or is appended by the caller.
    #[inline]
    pub(crate) fn attribute(&mut self, at: DwAt, form: DwForm) -> &mut Vec<u8> {
        self.abbreviations.attribute(at, form);
        &mut self.bytes
    }

    /// The form that the consumer wants for an attribute.
    #[inline]
    fn wanted(&self, at: DwAt) -> Option<DwForm> {
        if self.forms.is_empty() { None } else { self.find_wanted(at) }
    }

    #[cold]
    fn find_wanted(&self, at: DwAt) -> Option<DwForm> {
        let (_, form) = self.forms.iter().find(|&&(wanted, _)| wanted == at)?;
        let is_there = since(*form) <= self.format.version && !(self.is_split && needs_linker(*form));
        is_there.then_some(*form)
    }

    /// A flag that is set.
    pub(crate) fn flag(&mut self, at: DwAt) {
        if self.format.version < 4 || self.wanted(at) == Some(gimli::DW_FORM_flag) {
            self.attribute(at, gimli::DW_FORM_flag).push(1);
        } else {
            self.attribute(at, gimli::DW_FORM_flag_present);
        }
    }

    /// An unsigned constant: a size, an offset, a number of elements. Few of those have 128 to 255, for which a
    /// fixed form would be shorter, and with one form for small and large there are fewer abbreviations.
    #[inline]
    pub(crate) fn unsigned(&mut self, at: DwAt, value: u64) {
        if let Some(form) = self.wanted(at)
            && self.unsigned_as(at, form, value)
        {
            return;
        }
        let (form, bytes) = match value {
            // Of four and eight bytes, some constants of DWARF 2 and 3 could as well be offsets of lists.
            _ if value < 1 << 21 || self.format.version < 4 => {
                write_uleb(self.attribute(at, gimli::DW_FORM_udata), value);
                return;
            }
            0..0x1_0000_0000 => (gimli::DW_FORM_data4, 4),
            _ if value < 1 << 49 => {
                write_uleb(self.attribute(at, gimli::DW_FORM_udata), value);
                return;
            }
            _ => (gimli::DW_FORM_data8, 8),
        };
        self.abbreviations.attribute(at, form);
        self.format.fixed(&mut self.bytes, value, bytes);
    }

    /// A line. As many have 128 to 255 as other numbers: one byte for those, and two up to 65535.
    #[inline]
    pub(crate) fn line(&mut self, at: DwAt, line: u32) {
        let (form, bytes) = match line {
            0..0x100 => (gimli::DW_FORM_data1, 1),
            0x100..0x1_0000 => (gimli::DW_FORM_data2, 2),
            _ => return self.unsigned(at, line.into()),
        };
        if self.wanted(at).is_some() {
            return self.unsigned(at, line.into());
        }
        self.abbreviations.attribute(at, form);
        self.format.fixed(&mut self.bytes, line.into(), bytes);
    }

    /// The same in a form that is asked for. Whether it can be.
    #[cold]
    fn unsigned_as(&mut self, at: DwAt, form: DwForm, value: u64) -> bool {
        let bytes = match form {
            gimli::DW_FORM_data1 => 1,
            gimli::DW_FORM_data2 => 2,
            // Before DWARF 4, offsets of lists too.
            gimli::DW_FORM_data4 | gimli::DW_FORM_data8 if self.format.version < 4 => return false,
            gimli::DW_FORM_data4 => 4,
            gimli::DW_FORM_data8 => 8,
            gimli::DW_FORM_udata => {
                write_uleb(self.attribute(at, form), value);
                return true;
            }
            gimli::DW_FORM_sdata if value <= i64::MAX as u64 => {
                write_sleb(self.attribute(at, form), value as i64);
                return true;
            }
            gimli::DW_FORM_implicit_const if value <= i64::MAX as u64 => {
                self.abbreviations.implicit(at, value as i64);
                return true;
            }
            _ => return false,
        };
        if bytes < 8 && value >> (8 * bytes) != 0 {
            return false;
        }
        self.abbreviations.attribute(at, form);
        self.format.fixed(&mut self.bytes, value, bytes);
        true
    }

    /// A constant of few values: where the version can, it is in the abbreviation.
    #[inline]
    pub(crate) fn constant(&mut self, at: DwAt, value: u64) {
        if self.format.version >= 5 && self.wanted(at).is_none() && value <= i64::MAX as u64 {
            self.abbreviations.implicit(at, value as i64);
        } else {
            self.unsigned(at, value);
        }
    }

    /// A signed constant.
    pub(crate) fn signed(&mut self, at: DwAt, value: i64) {
        write_sleb(self.attribute(at, gimli::DW_FORM_sdata), value);
    }

    /// A number as unsigned LEB128, of a form that has it so (an index).
    #[inline]
    pub(crate) fn index(&mut self, at: DwAt, form: DwForm, index: u64) {
        write_uleb(self.attribute(at, form), index);
    }

    /// A string, by the number that the caller knows it by.
    ///
    /// One that is no longer than an offset stands in the entry; others go through the table of the unit's
    /// strings, where each needs one relocation, or before DWARF 5 straight to `.debug_str`.
    #[inline]
    pub(crate) fn string(&mut self, at: DwAt, number: u32, text: &str) {
        if let Some(named) = &mut self.named {
            named.string(at, number);
        }
        let form = match self.wanted(at) {
            Some(form) if self.is_type_unit && is_index_of_string(form) => gimli::DW_FORM_strp,
            Some(form) => form,
            None if text.len() < self.format.offset_bytes.into() => gimli::DW_FORM_string,
            None if self.format.version >= 5 && !self.is_type_unit => gimli::DW_FORM_strx,
            None => gimli::DW_FORM_strp,
        };
        match form {
            gimli::DW_FORM_string => {
                let out = self.attribute(at, form);
                out.extend_from_slice(text.as_bytes());
                out.push(0);
            }
            gimli::DW_FORM_strx => {
                let index = self.strings.index(number);
                write_uleb(self.attribute(at, form), index);
            }
            gimli::DW_FORM_line_strp => {
                self.abbreviations.attribute(at, form);
                // There number 0 is the empty string, for line programs.
                self.section_offset(".debug_line_str", u64::from(number) + 1);
            }
            _ => self.string_as(at, form, number),
        }
    }

    fn string_as(&mut self, at: DwAt, form: DwForm, number: u32) {
        let bytes = match form {
            gimli::DW_FORM_strx1 => 1,
            gimli::DW_FORM_strx2 => 2,
            gimli::DW_FORM_strx3 => 3,
            gimli::DW_FORM_strx4 => 4,
            _ => 0,
        };
        if bytes > 0 {
            let index = self.strings.index(number);
            if index >> (8 * bytes) == 0 {
                self.abbreviations.attribute(at, form);
                self.format.fixed(&mut self.bytes, index, bytes);
                return;
            }
        }
        if self.is_split {
            let index = self.strings.index(number);
            write_uleb(self.attribute(at, gimli::DW_FORM_strx), index);
            return;
        }
        self.abbreviations.attribute(at, gimli::DW_FORM_strp);
        self.section_offset(".debug_str", number.into());
    }

    /// An offset in another section, which a linker relocates.
    pub(crate) fn offset(&mut self, at: DwAt, section: &'static str, offset: u64) {
        let form = match (self.format.version, self.format.offset_bytes) {
            (4.., _) => gimli::DW_FORM_sec_offset,
            (_, 8) => gimli::DW_FORM_data8,
            _ => gimli::DW_FORM_data4,
        };
        self.abbreviations.attribute(at, form);
        self.section_offset(section, offset);
    }

    /// An address by itself, which a linker relocates. `name` gives the name of the symbol.
    pub(crate) fn address(
        &mut self,
        at: DwAt,
        key: AddressKey,
        name: impl FnOnce(u32) -> std::borrow::Cow<'static, str>,
    ) {
        self.abbreviations.attribute(at, gimli::DW_FORM_addr);
        key.write(self.format, name, &mut self.bytes, &mut self.relocations);
    }

    /// Whether the consumer wants this attribute as an address by itself.
    pub(crate) fn wants_address(&self, at: DwAt) -> bool {
        self.format.version < 5 || self.wanted(at) == Some(gimli::DW_FORM_addr)
    }

    /// Whether the consumer wants this attribute as an offset rather than an index of a list.
    pub(crate) fn wants_offset(&self, at: DwAt) -> bool {
        self.format.version < 5 || self.wanted(at) == Some(gimli::DW_FORM_sec_offset)
    }

    /// Begins an expression of so many bytes, which the caller appends.
    #[inline]
    pub(crate) fn begin_expression(&mut self, at: DwAt, bytes: usize) {
        if self.forms.is_empty() && self.format.version >= 4 {
            write_uleb(self.attribute(at, gimli::DW_FORM_exprloc), bytes as u64);
            return;
        }
        let form = match self.format.version {
            // A block is no expression there.
            4.. => gimli::DW_FORM_exprloc,
            _ => self.wanted(at).unwrap_or(gimli::DW_FORM_block1),
        };
        self.length_as(at, form, bytes, gimli::DW_FORM_exprloc);
    }

    /// Begins bytes that stand for themselves, which the caller appends.
    pub(crate) fn begin_block(&mut self, at: DwAt, bytes: usize) {
        let form = self.wanted(at).unwrap_or(gimli::DW_FORM_block1);
        self.length_as(at, form, bytes, gimli::DW_FORM_block);
    }

    fn length_as(&mut self, at: DwAt, form: DwForm, length: usize, general: DwForm) {
        let bytes = match form {
            gimli::DW_FORM_block1 => 1,
            gimli::DW_FORM_block2 => 2,
            gimli::DW_FORM_block4 => 4,
            _ => 8,
        };
        if bytes < 8 && length >> (8 * bytes) == 0 {
            self.abbreviations.attribute(at, form);
            self.format.fixed(&mut self.bytes, length as u64, bytes);
        } else {
            let general = if self.format.version < 4 { gimli::DW_FORM_block } else { general };
            write_uleb(self.attribute(at, general), length as u64);
        }
    }

    /// The type of a type unit.
    pub(crate) fn signature(&mut self, at: DwAt, signature: u64) {
        self.abbreviations.attribute(at, gimli::DW_FORM_ref_sig8);
        self.format.fixed(&mut self.bytes, signature, 8);
    }

    /// Another entry of the unit: one that is there already in as few bytes as its offset has.
    #[inline]
    pub(crate) fn reference(&mut self, at: DwAt, entry: EntryRef) {
        if let Some(named) = &mut self.named {
            named.reference(at, entry);
        }
        if let Some(form) = self.wanted(at)
            && self.reference_as(at, form, entry)
        {
            return;
        }
        match self.offset_in_unit(entry) {
            Some(offset) if uleb_len(offset) < 4 => {
                write_uleb(self.attribute(at, gimli::DW_FORM_ref_udata), offset);
            }
            _ => self.pending_reference(at, gimli::DW_FORM_ref4, RefForm::Unit(4), entry),
        }
    }

    /// The same in a form that is asked for. Whether it can be.
    #[cold]
    fn reference_as(&mut self, at: DwAt, form: DwForm, entry: EntryRef) -> bool {
        let form_bytes = match form {
            gimli::DW_FORM_ref4 => RefForm::Unit(4),
            gimli::DW_FORM_ref8 => RefForm::Unit(8),
            gimli::DW_FORM_ref_addr if !self.is_type_unit => RefForm::Section(self.format.entry_bytes()),
            _ => return false,
        };
        self.pending_reference(at, form, form_bytes, entry);
        true
    }

    fn pending_reference(&mut self, at: DwAt, form: DwForm, bytes: RefForm, entry: EntryRef) {
        self.abbreviations.attribute(at, form);
        let entry = UnitEntry { unit: self.number, entry };
        self.pending.push(Pending { at: self.bytes.len(), wanted: Wanted::Entry { entry, form: bytes } });
        let (RefForm::Unit(size) | RefForm::UnitUleb(size) | RefForm::Section(size)) = bytes;
        self.format.fixed(&mut self.bytes, 0, size);
    }

    /// The places of an expression in this section that are to be filled in. `name` gives the name of a
    /// symbol.
    pub(crate) fn pend(
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

/// Whether a form is an index of a string in the unit's table.
fn is_index_of_string(form: DwForm) -> bool {
    form == gimli::DW_FORM_strx || (gimli::DW_FORM_strx1.0..=gimli::DW_FORM_strx4.0).contains(&form.0)
}

/// The version that brought a form: DWARF 5 section 7.5.6.
fn since(form: DwForm) -> u16 {
    match form.0 {
        0x00..=0x16 => 2,
        0x17..=0x19 | 0x20 => 4,
        _ => 5,
    }
}

/// Whether a linker has to fill in values of the form, or a packager that does not know of them would have to:
/// DWARF 5 section 7.3.2.
fn needs_linker(form: DwForm) -> bool {
    let forms = [
        gimli::DW_FORM_addr,
        gimli::DW_FORM_strp,
        gimli::DW_FORM_line_strp,
        gimli::DW_FORM_sec_offset,
        gimli::DW_FORM_ref_addr,
    ];
    forms.contains(&form)
}

#[cold]
pub(crate) fn nowhere() -> Error {
    Error::bad_argument(
        "a location refers to an entity that has no entry in its unit, or one further on than its operation reaches",
    )
}
