//! Attributes of entries, each in the form that takes the fewest bytes and relocations, or in the form required by the
//! consumer: DWARF 5 sections 7.5.5 and 7.5.6.

use gimli::{DwAt, DwForm};

use super::{Info, Pending, RefForm, UnitEntry, Wanted, is_index_of_string};
use crate::emit::addr::AddressKey;
use crate::emit::named::EntryRef;
use crate::op::{write_sleb, write_uleb};

impl Info {
    /// Appends an attribute without value bytes, or with value bytes that the caller appends. An attribute that the
    /// consumer does not know is omitted, with its bytes.
    #[inline(always)]
    pub(crate) fn attribute(&mut self, at: DwAt, form: DwForm) -> &mut Vec<u8> {
        if !self.is_free && self.is_unknown(at) {
            self.scratch.clear();
            return &mut self.scratch;
        }
        self.abbreviations.attribute(at, form);
        &mut self.bytes
    }

    /// Records an attribute that the consumer does not know. Returns whether it does not.
    pub(crate) fn is_unknown(&mut self, at: DwAt) -> bool {
        let is_known = |known: &[DwAt]| known.binary_search_by_key(&at.0, |known| known.0).is_ok();
        let is_unknown = self.style.known.is_some_and(|known| !is_known(known));
        if is_unknown && !self.unknown.contains(&at) {
            self.unknown.push(at);
        }
        is_unknown
    }

    /// The form that the consumer requires for an attribute.
    #[inline(always)]
    fn wanted(&self, at: DwAt) -> Option<DwForm> {
        if self.is_free { None } else { self.find_wanted(at) }
    }

    fn find_wanted(&self, at: DwAt) -> Option<DwForm> {
        let (_, form) = self.forms.iter().find(|&&(wanted, _)| wanted == at)?;
        // A form that the version does not have, or that a split file cannot use, is ignored.
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

    /// An unsigned constant, such as a size, an offset or an element count. A fixed form would be shorter only for 128
    /// to 255, which are rare, and a single form for small and large numbers gives fewer abbreviations.
    #[inline(always)]
    pub(crate) fn unsigned(&mut self, at: DwAt, value: u64) {
        // LEB128 takes at most three bytes for 21 bits, which is less than `data4`.
        if self.is_free && value < 1 << 21 {
            self.abbreviations.attribute(at, gimli::DW_FORM_udata);
            write_uleb(&mut self.bytes, value);
        } else {
            self.unsigned_in_form(at, value);
        }
    }

    /// A large constant, or one for which the consumer has a wish.
    fn unsigned_in_form(&mut self, at: DwAt, value: u64) {
        if let Some(form) = self.wanted(at)
            && self.unsigned_as(at, form, value)
        {
            return;
        }
        let (form, bytes) = match value {
            // In DWARF 2 and 3, `data4` and `data8` of some attributes are section offsets.
            0x20_0000..0x1_0000_0000 if self.format.version >= 4 => (gimli::DW_FORM_data4, 4),
            0x2_0000_0000_0000.. if self.format.version >= 4 => (gimli::DW_FORM_data8, 8),
            _ => {
                write_uleb(self.attribute(at, gimli::DW_FORM_udata), value);
                return;
            }
        };
        self.abbreviations.attribute(at, form);
        self.format.fixed(&mut self.bytes, value, bytes);
    }

    /// A line number. 128 to 255 are as frequent as other numbers, so it takes one byte up to 255, and two bytes up to
    /// 65535.
    #[inline(always)]
    pub(crate) fn line(&mut self, at: DwAt, line: u32) {
        if line >= 0x1_0000 || self.wanted(at).is_some() {
            return self.unsigned_in_form(at, line.into());
        }
        let (form, bytes) = if line < 0x100 { (gimli::DW_FORM_data1, 1) } else { (gimli::DW_FORM_data2, 2) };
        self.abbreviations.attribute(at, form);
        self.format.fixed(&mut self.bytes, line.into(), bytes);
    }

    /// Appends an unsigned constant in the required form. Returns whether the form can encode the constant.
    fn unsigned_as(&mut self, at: DwAt, form: DwForm, value: u64) -> bool {
        let bytes = match form {
            gimli::DW_FORM_data1 => 1,
            gimli::DW_FORM_data2 => 2,
            // Before DWARF 4, these forms are also section offsets.
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

    /// A constant with few different values: stored in the abbreviation in DWARF 5.
    #[inline(always)]
    pub(crate) fn constant(&mut self, at: DwAt, value: u64) {
        let is_free = self.is_free || self.format.version >= 5 && self.wanted(at).is_none();
        if is_free && value <= i64::MAX as u64 {
            self.abbreviations.implicit(at, value as i64);
        } else {
            self.unsigned_in_form(at, value);
        }
    }

    /// A signed constant.
    pub(crate) fn signed(&mut self, at: DwAt, value: i64) {
        write_sleb(self.attribute(at, gimli::DW_FORM_sdata), value);
    }

    /// An unsigned LEB128 number, for a form with that encoding, such as an index.
    #[inline]
    pub(crate) fn index(&mut self, at: DwAt, form: DwForm, index: u64) {
        write_uleb(self.attribute(at, form), index);
    }

    /// A string, by the number that the caller assigned to it.
    ///
    /// A string not longer than an offset is in the entry. Other strings are in the string offsets table, where each
    /// needs one relocation in a unit, or before DWARF 5 directly in `.debug_str`. A string with an index needs neither
    /// its length nor its text, and most other strings only their length.
    #[inline(always)]
    pub(crate) fn string<'t>(
        &mut self,
        at: DwAt,
        number: u32,
        bytes: impl FnOnce() -> usize,
        text: impl FnOnce() -> &'t str,
    ) {
        let known = if self.is_free { self.strings.known(number) } else { None };
        match known {
            Some(index) => {
                self.abbreviations.attribute(at, gimli::DW_FORM_strx);
                write_uleb(&mut self.bytes, index);
            }
            None => self.new_string(at, number, bytes, text),
        }
    }

    /// A string without an index so far, or one for which the consumer has a wish.
    fn new_string<'t>(
        &mut self,
        at: DwAt,
        number: u32,
        bytes: impl FnOnce() -> usize,
        text: impl FnOnce() -> &'t str,
    ) {
        if let Some(named) = &mut self.named {
            named.string(at, number);
        }
        let has_indices = self.format.version >= 5 && !self.is_type_unit && self.forms.is_empty();
        if has_indices && bytes() >= self.format.offset_bytes.into() {
            let index = self.strings.index(number);
            write_uleb(self.attribute(at, gimli::DW_FORM_strx), index);
        } else {
            self.string_in_form(at, number, text());
        }
    }

    fn string_in_form(&mut self, at: DwAt, number: u32, text: &str) {
        let form = match self.wanted(at) {
            Some(form) if self.is_type_unit && is_index_of_string(form) => gimli::DW_FORM_strp,
            Some(form) => form,
            None if self.style.has_inline_strings || text.len() < self.format.offset_bytes.into() => {
                gimli::DW_FORM_string
            }
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
                // Number 0 in `.debug_line_str` is the empty string, for line programs.
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
        // A fixed form may be too small for the index. The general forms below always fit.
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

    /// An address in the entry itself, which a linker relocates. `name` gives the symbol's name.
    pub(crate) fn address(
        &mut self,
        at: DwAt,
        key: AddressKey,
        name: impl FnOnce(u32) -> std::borrow::Cow<'static, str>,
    ) {
        self.abbreviations.attribute(at, gimli::DW_FORM_addr);
        key.write(self.format, name, &mut self.bytes, &mut self.relocations);
    }

    /// Whether this attribute is an address in the entry rather than an address index.
    pub(crate) fn wants_address(&self, at: DwAt) -> bool {
        self.format.version < 5 || self.wanted(at) == Some(gimli::DW_FORM_addr)
    }

    /// Whether this attribute is a section offset rather than a list's index.
    pub(crate) fn wants_offset(&self, at: DwAt) -> bool {
        self.format.version < 5 || self.wanted(at) == Some(gimli::DW_FORM_sec_offset)
    }

    /// An expression. Returns the offset of its first byte in the section.
    #[inline]
    pub(crate) fn expression(&mut self, at: DwAt, expr: &[u8]) -> usize {
        if self.forms.is_empty() && self.format.version >= 4 && expr.len() < 0x80 {
            self.attribute(at, gimli::DW_FORM_exprloc).push(expr.len() as u8);
        } else {
            self.begin_expression(at, expr.len());
        }
        let start = self.bytes.len();
        self.bytes.extend_from_slice(expr);
        start
    }

    /// Begins an expression of `bytes` bytes, which the caller appends.
    pub(crate) fn begin_expression(&mut self, at: DwAt, bytes: usize) {
        let form = match self.format.version {
            // From DWARF 4 on, a block does not have the class that an expression has.
            4.. => gimli::DW_FORM_exprloc,
            _ => self.wanted(at).unwrap_or(gimli::DW_FORM_block1),
        };
        self.length_as(at, form, bytes, gimli::DW_FORM_exprloc);
    }

    /// Begins a block of data, which the caller appends.
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
        } else if self.style.has_fixed_forms && length >> 16 == 0 {
            self.abbreviations.attribute(at, gimli::DW_FORM_block2);
            self.format.fixed(&mut self.bytes, length as u64, 2);
        } else {
            let general = if self.format.version < 4 { gimli::DW_FORM_block } else { general };
            write_uleb(self.attribute(at, general), length as u64);
        }
    }

    /// A reference to a type by the signature of its type unit.
    pub(crate) fn signature(&mut self, at: DwAt, signature: u64) {
        self.abbreviations.attribute(at, gimli::DW_FORM_ref_sig8);
        self.format.fixed(&mut self.bytes, signature, 8);
    }

    /// A reference to an entry of the same unit, in the consumer's form.
    #[inline(always)]
    pub(crate) fn reference(&mut self, at: DwAt, entry: EntryRef) {
        if !self.is_free && self.wished_reference(at, entry) {
            return;
        }
        match (self.offset_in_unit(entry), self.style.has_fixed_references) {
            (Some(offset), true) => {
                self.abbreviations.attribute(at, gimli::DW_FORM_ref4);
                self.format.fixed(&mut self.bytes, offset, 4);
            }
            // LEB128 takes at most three bytes for 21 bits.
            (Some(offset @ ..0x20_0000), false) => self.udata_reference(at, offset),
            _ => self.pending_reference(at, gimli::DW_FORM_ref4, RefForm::Unit(4), entry),
        }
    }

    /// A reference to an entry of another unit, by its offset in the section: the only form that reaches it.
    pub(crate) fn reference_elsewhere(&mut self, at: DwAt, entry: UnitEntry) {
        if self.is_unknown(at) {
            return;
        }
        self.abbreviations.attribute(at, gimli::DW_FORM_ref_addr);
        let size = self.format.entry_bytes();
        let form = RefForm::Section(size);
        self.pending.push(Pending { at: self.bytes.len(), wanted: Wanted::Entry { entry, form } });
        self.format.fixed(&mut self.bytes, 0, size);
    }

    /// A reference to an earlier entry, in fewer bytes than a fixed form.
    fn udata_reference(&mut self, at: DwAt, offset: u64) {
        self.abbreviations.attribute(at, gimli::DW_FORM_ref_udata);
        write_uleb(&mut self.bytes, offset);
    }

    /// Records a reference for the name tables, and appends it in the form that the consumer requires, if any. Returns
    /// whether the reference is appended, or omitted.
    fn wished_reference(&mut self, at: DwAt, entry: EntryRef) -> bool {
        if let Some(named) = &mut self.named {
            named.reference(at, entry);
        }
        self.is_unknown(at) || self.find_wanted(at).is_some_and(|form| self.reference_as(at, form, entry))
    }

    /// Appends a reference in the required form. Returns whether the form can encode the reference.
    fn reference_as(&mut self, at: DwAt, form: DwForm, entry: EntryRef) -> bool {
        let form_bytes = match form {
            gimli::DW_FORM_ref4 => RefForm::Unit(4),
            gimli::DW_FORM_ref8 => RefForm::Unit(8),
            gimli::DW_FORM_ref_udata => {
                let Some(offset @ ..0x20_0000) = self.offset_in_unit(entry) else { return false };
                self.udata_reference(at, offset);
                return true;
            }
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
}

/// The DWARF version that introduced a form: DWARF 5 section 7.5.6.
fn since(form: DwForm) -> u16 {
    match form.0 {
        0x00..=0x16 => 2,
        0x17..=0x19 | 0x20 => 4,
        _ => 5,
    }
}

/// Whether values of the form need a linker, or a packager that knows the form: DWARF 5 section 7.3.2.
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
