//! Call frame information: `.debug_frame` (DWARF 5 sections 6.4 and 7.24, versions 1, 3 and 4) and
//! `.eh_frame` (Linux Standard Base, section 10.6).

use core::ops::Range;

use super::cfi::CallFrameInstructions;
use super::cursor::{Cursor, is_address_size, max_address};
use super::errors::Errors;
use super::frame_columns::FrameColumns;
use super::frame_index::FdeIndex;
use super::frame_rows::{FrameRow, FrameRows};
use super::pc_notation::PcNotation;
use super::sections::Sections;
use crate::error::{Count, Error, ErrorKind, Result};
use crate::op::{EncodedAddress, Encoding, PointerForm, Reg, sign_extended};

/// Section with call frame information.
///
/// Exhaustive: a match names all variants.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FrameSection {
    /// `.debug_frame`.
    Debug,
    /// `.eh_frame`.
    Eh,
}

impl FrameSection {
    /// Returns the section's name.
    pub fn name(self) -> &'static str {
        match self {
            Self::Debug => ".debug_frame",
            Self::Eh => ".eh_frame",
        }
    }
}

/// Call frame entries in a section, in file order.
#[derive(Debug, Clone)]
pub struct Frames<'o> {
    /// Section that contains the entries.
    pub section: FrameSection,
    /// Common information entries.
    pub cies: Vec<Cie<'o>>,
    /// Frame description entries: one for each function, or part of a function.
    pub fdes: Vec<Fde<'o>>,
    /// Errors for the entries that were left out, in file order.
    pub errors: Vec<Error>,
    /// Offsets of the FDEs whose CIE pointer is wrong in the way that ptxas writes it, and names no CIE: the entry
    /// before is the CIE.
    pub recovered: Vec<u64>,
    /// Address at which the section is loaded.
    address: u64,
    /// Notation of pcs.
    pcs: PcNotation<'o>,
    index: FdeIndex,
}

/// A common information entry. DWARF 5 section 6.4.1.
#[derive(Debug, Clone, Copy)]
#[non_exhaustive]
pub struct Cie<'o> {
    /// Offset in the section, in bytes.
    pub offset: u64,
    /// Version: 1, 3 or 4.
    pub version: u8,
    /// Augmentation string.
    pub augmentation: &'o [u8],
    /// Whether the augmentation is known. Otherwise nothing after it can be read: the fields below are placeholders,
    /// and instructions and rows are errors (section 6.4.1).
    pub is_known: bool,
    /// Address and offset sizes, and the encoding for expressions in the instructions.
    pub encoding: Encoding,
    /// Segment selector size in bytes; 0 without segments, as in all known files.
    pub segment_bytes: u8,
    /// Factor for location steps: `code_alignment_factor`.
    pub code_alignment: u64,
    /// Factor for factored offsets: `data_alignment_factor`.
    pub data_alignment: i64,
    /// Register whose rule gives the return address. The column need not be the machine's register.
    pub return_register: Reg,
    /// Address encoding in FDEs (`DW_EH_PE_*`, augmentation `R`); 0 for plain addresses.
    pub pointer_encoding: u8,
    /// Encoding for the FDEs' pointers to language-specific data, if any: augmentation `L`.
    pub lsda_encoding: Option<u8>,
    /// Personality routine: augmentation `P`.
    pub personality: Option<Pointer>,
    /// Whether these are signal handler frames: augmentation `S`.
    pub is_signal: bool,
    /// Instructions for each FDE's first row.
    pub instructions: FrameProgram<'o>,
}

/// A frame description entry. DWARF 5 section 6.4.1.
#[derive(Debug, Clone, Copy)]
#[non_exhaustive]
pub struct Fde<'o> {
    /// Offset in the section, in bytes.
    pub offset: u64,
    /// Index of its CIE in [`Frames::cies`].
    pub cie: usize,
    /// Start address of the code.
    pub start: u64,
    /// Code size in bytes.
    pub length: u64,
    /// Language-specific data.
    pub lsda: Option<Pointer>,
    /// Instructions, which run after the CIE's instructions.
    pub instructions: FrameProgram<'o>,
}

impl Fde<'_> {
    /// Whether the code contains the pc.
    pub fn covers(&self, pc: u64) -> bool {
        pc.wrapping_sub(self.start) < self.length
    }
}

/// Instruction bytes, with their offset.
#[derive(Debug, Clone, Copy)]
#[non_exhaustive]
pub struct FrameProgram<'o> {
    /// The bytes.
    pub bytes: &'o [u8],
    /// Section offset of the first byte.
    pub offset: u64,
}

/// A pointer in `.eh_frame`.
///
/// Exhaustive: a literal names all fields.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Pointer {
    /// The address.
    pub address: u64,
    /// Whether the actual address is stored in memory at `address`.
    pub is_indirect: bool,
}

const CIE: &str = "a common information entry";
const FDE: &str = "a frame description entry";
const OMITTED: u8 = 0xff;

impl<'o> Frames<'o> {
    /// Reads all entries in a section. `encoding` supplies properties that the section does not encode: the address
    /// size, except in version 4, and the expression dialect.
    ///
    /// # Errors
    /// [`Truncated`](ErrorKind::Truncated) or [`Malformed`](ErrorKind::Malformed), with the offset;
    /// [`Unsupported`](ErrorKind::Unsupported) for unknown versions and pointer encodings, for pointers relative to
    /// addresses that are not in the section, and for unknown augmentations in `.eh_frame`, where they determine the
    /// address encoding.
    pub fn read(sections: &Sections<'o>, section: FrameSection, encoding: Encoding) -> Result<Self> {
        let frames = Self::read_readable(sections, section, encoding);
        if let Some(error) = frames.errors.first() {
            return Err(error.clone());
        }
        match frames.recovered.first() {
            Some(&offset) => {
                let text = format!("{FDE}: the pointer is not the offset of a common information entry");
                Err(Error::malformed(text).in_section(section.name()).at_offset(offset))
            }
            None => Ok(frames),
        }
    }

    /// Reads the entries that can be read, as [`read`](Self::read) does; [`errors`](Self::errors) has the errors for
    /// the rest. If an entry's length exceeds the section, it is the last entry.
    pub fn read_readable(sections: &Sections<'o>, section: FrameSection, encoding: Encoding) -> Self {
        let (bytes, address) = match section {
            FrameSection::Debug => (sections.debug_frame, 0),
            FrameSection::Eh => (sections.eh_frame, sections.eh_frame_address),
        };
        let mut from = sections.cursor(section.name(), bytes);
        let reader = Reader { section, address, encoding };
        let cies = Vec::new();
        let fdes = Vec::new();
        let index = FdeIndex::default();
        let mut errors = Errors::default();
        let mut recovered = Vec::new();
        let pcs = sections.pcs;
        let mut frames =
            Self { section, cies, fdes, errors: Vec::new(), recovered: Vec::new(), address, pcs, index };
        // A CIE can stand after its FDEs.
        let mut entries = from;
        let mut count = 0;
        while let Some(entry) = reader.entry(&mut entries).unwrap_or_else(|error| errors.add(error)) {
            let read = entry.and_then(|entry| match entry.cie {
                None => reader.cie(entry).map(|cie| frames.cies.push(cie)),
                Some(_) => {
                    count += 1;
                    Ok(())
                }
            });
            read.unwrap_or_else(|error| errors.add(error));
        }
        frames.fdes.reserve_exact(count);
        // The CIE before an entry, if the entry follows it.
        let mut before = None;
        // ptxas writes a CIE before each FDE.
        let is_paired = frames.cies.len() == count;
        // The first pass has the errors for an entry that does not end, and for ids.
        while let Ok(Some(entry)) = reader.entry(&mut from) {
            crate::work::step();
            let Ok(entry) = entry else { continue };
            let find = |offset| frames.cies.binary_search_by_key(&offset, |cie| cie.offset).ok();
            let Some(cie) = entry.cie else {
                before = find(entry.offset);
                continue;
            };
            let before = before.take();
            let found = find(cie);
            // With many FDEs, a wrong pointer can be the offset of a later CIE.
            let of_ptxas = before.filter(|&index| {
                (is_paired || found.is_none())
                    && reader.is_of_ptxas(cie, frames.cies[index].offset, frames.fdes.len())
            });
            let offset = entry.offset;
            let fde = match (found, of_ptxas) {
                (Some(index), None) => reader.fde(entry, index, &frames.cies[index]),
                (_, Some(index)) => {
                    recovered.push(offset);
                    reader.fde(entry, index, &frames.cies[index])
                }
                (None, None) => {
                    let text = format!("{FDE}: {cie:#x} is not the offset of a common information entry");
                    Err(entry.rest.error(ErrorKind::Malformed(text), offset))
                }
            };
            match fde {
                Ok(fde) => frames.fdes.push(fde),
                Err(error) => errors.add(error),
            }
        }
        frames.index = FdeIndex::new(&frames.fdes);
        (frames.errors, frames.recovered) = (errors.finish(), recovered);
        frames
    }

    /// Returns an FDE's CIE.
    pub fn cie(&self, fde: &Fde<'o>) -> &Cie<'o> {
        &self.cies[fde.cie]
    }

    /// Returns the section reduced to an FDE and its CIE.
    #[doc(hidden)]
    pub fn only(&self, fde: &Fde<'o>) -> Self {
        let fdes = vec![Fde { cie: 0, ..*fde }];
        let index = FdeIndex::new(&fdes);
        let cies = vec![*self.cie(fde)];
        let errors = Vec::new();
        let recovered = Vec::new();
        let Self { section, address, pcs, .. } = *self;
        Self { section, cies, fdes, errors, recovered, address, pcs, index }
    }

    /// Returns the code of all FDEs as disjoint half-open pc ranges in ascending order, each with the index in
    /// [`fdes`](Self::fdes) of its FDE: the first FDE whose code contains the pcs.
    pub fn code(&self) -> impl Iterator<Item = (Range<u64>, usize)> {
        self.index.ranges()
    }

    /// Returns the first FDE whose code contains the pc.
    pub fn fde_at(&self, pc: u64) -> Option<&Fde<'o>> {
        self.fdes.get(self.index.find(pc)?)
    }

    /// Returns a CIE's instructions.
    pub fn initial_instructions(&self, cie: &Cie<'o>) -> CallFrameInstructions<'o> {
        CallFrameInstructions::new(self.section, self.address, cie, cie.instructions)
    }

    /// Returns an FDE's instructions, without its CIE's instructions.
    pub fn instructions(&self, fde: &Fde<'o>) -> CallFrameInstructions<'o> {
        CallFrameInstructions::new(self.section, self.address, self.cie(fde), fde.instructions)
    }

    /// Returns an FDE's rows, which its CIE's instructions and then its own instructions make.
    ///
    /// ```
    /// # use eitri_dwarf::read::{Dwarf, FrameSection, Object};
    /// # let bytes = include_bytes!("../../data/squares.o");
    /// # let object = Object::read(bytes)?;
    /// # let dwarf = Dwarf::read(&object)?;
    /// let frames = dwarf.frames(FrameSection::Debug)?;
    /// for fde in &frames.fdes {
    ///     let mut rows = frames.rows(fde);
    ///     while let Some(row) = rows.next_row()? {
    ///         println!("{:#x}..{:#x}: {:?} {:?}", row.start, row.end, row.cfa, row.rules);
    ///     }
    /// }
    /// # Ok::<(), eitri_dwarf::Error>(())
    /// ```
    pub fn rows(&self, fde: &Fde<'o>) -> FrameRows<'o> {
        FrameRows::new(self.initial_instructions(self.cie(fde)), self.instructions(fde), fde)
    }

    /// Returns the rules by column, each with the pcs at which it is in force.
    ///
    /// # Errors
    /// The errors that [`FrameRows::next_row`] returns; [`Malformed`](ErrorKind::Malformed) if the location goes back, which
    /// DWARF 5 section 6.4.2.1 forbids.
    pub fn columns(&self, fde: &Fde<'o>) -> Result<FrameColumns<'o>> {
        FrameColumns::new(self.rows(fde), fde.start..fde.start.saturating_add(fde.length), self.pcs)
    }

    /// Returns the row for a pc, if any.
    ///
    /// # Errors
    /// The errors that [`FrameRows::next_row`] returns.
    pub fn row_at(&self, pc: u64) -> Result<Option<FrameRow<'o>>> {
        self.fde_at(pc).map_or(Ok(None), |fde| self.rows(fde).find(pc))
    }
}

/// Whether the augmentation data can be read.
fn is_known(augmentation: &[u8]) -> bool {
    match augmentation {
        b"" | b"eh" | b"armcc+" | b"S" | [b'[', ..] => true,
        [b'z', letters @ ..] => {
            let vendor =
                letters.iter().position(|&letter| letter == b'[').filter(|_| letters.contains(&b']'));
            let letters = &letters[..vendor.unwrap_or(letters.len())];
            letters.iter().all(|letter| b"RLPSBG".contains(letter))
        }
        _ => false,
    }
}

/// Returns the error for instructions in a CIE with an unknown augmentation, and in its FDEs.
pub(super) fn unknown_augmentation(augmentation: &[u8], offset: u64) -> Error {
    let text = format!("{CIE}: unknown augmentation {:?}", String::from_utf8_lossy(augmentation));
    Error::new(ErrorKind::Unsupported(text)).at_offset(offset)
}

/// An entry whose fields after the id are not read yet.
struct RawEntry<'o> {
    offset: u64,
    /// Offset size in bytes in the entry's format.
    offset_bytes: u8,
    /// Offset of an FDE's CIE; `None` for a CIE.
    cie: Option<u64>,
    /// The fields after the id.
    rest: Cursor<'o>,
}

struct Reader {
    section: FrameSection,
    address: u64,
    encoding: Encoding,
}

impl Reader {
    /// Reads the next entry, if any; the inner error belongs to its id.
    ///
    /// # Errors
    /// An error where the entry does not end.
    fn entry<'o>(&self, from: &mut Cursor<'o>) -> Result<Option<Result<RawEntry<'o>>>> {
        while !from.is_at_end() {
            let offset = from.offset();
            let (len, offset_bytes) = from.initial_length("the length of a frame entry")?;
            let mut rest = from.limit(len, "a frame entry")?;
            from.take(len, "a frame entry")?;
            match self.section {
                // The terminator: "processing shall end" (LSB 5, 10.6.1.1).
                FrameSection::Eh if len == 0 => break,
                // Linker padding.
                FrameSection::Debug if len == 0 => continue,
                _ => {}
            }
            let id_offset = rest.offset();
            // In `.eh_frame`, an id has four bytes even after a length with twelve bytes.
            let id_bytes = if self.section == FrameSection::Eh { 4 } else { offset_bytes };
            let id = match rest.uint(id_bytes, "a frame entry") {
                Ok(id) => id,
                Err(error) => return Ok(Some(Err(error))),
            };
            let cie = match (self.section, id_bytes) {
                (FrameSection::Eh, _) if id == 0 => None,
                (FrameSection::Debug, _) if id == max_address(id_bytes) => None,
                (FrameSection::Eh, _) => Some(id_offset.wrapping_sub(sign_extended(id, 4))),
                (FrameSection::Debug, _) => Some(id),
            };
            return Ok(Some(Ok(RawEntry { offset, offset_bytes, cie, rest })));
        }
        Ok(None)
    }

    fn cie<'o>(&self, entry: RawEntry<'o>) -> Result<Cie<'o>> {
        let RawEntry { offset, offset_bytes, rest: mut from, .. } = entry;
        let start = from.offset();
        let version = from.u8(CIE)?;
        if !matches!(version, 1 | 3 | 4) {
            let text = format!("{CIE}: unsupported version {version}");
            return Err(from.error(ErrorKind::Unsupported(text), start));
        }
        let mut encoding = Encoding { offset_bytes, ..self.encoding };
        let augmentation = from.string(CIE)?;
        if !is_known(augmentation) {
            return Ok(Cie { augmentation, encoding, ..self.unknown(offset, version) });
        }
        if augmentation == b"eh" {
            from.uint(encoding.address_bytes, CIE)?;
        }
        let mut segment_bytes = 0;
        if version >= 4 {
            encoding.address_bytes = from.u8(CIE)?;
            segment_bytes = from.u8(CIE)?;
        }
        if !is_address_size(encoding.address_bytes) || segment_bytes > 8 {
            let text = format!(
                "{CIE}: invalid address size, {}, or segment selector size, {segment_bytes}",
                Count(encoding.address_bytes, "byte")
            );
            return Err(from.error(ErrorKind::Malformed(text), start));
        }
        let mut cie = Cie {
            offset,
            version,
            augmentation,
            is_known: true,
            encoding,
            segment_bytes,
            code_alignment: from.uleb(CIE)?,
            data_alignment: from.sleb(CIE)?,
            return_register: Reg(if version == 1 { from.u8(CIE)?.into() } else { from.uleb(CIE)? }),
            pointer_encoding: 0,
            lsda_encoding: None,
            personality: None,
            is_signal: false,
            instructions: FrameProgram { bytes: &[], offset: 0 },
        };
        self.augmentation(&mut cie, &mut from)?;
        cie.instructions = rest(&mut from);
        from.check_from(offset)?;
        Ok(cie)
    }

    /// Returns a CIE with an unknown augmentation.
    fn unknown<'o>(&self, offset: u64, version: u8) -> Cie<'o> {
        Cie {
            offset,
            version,
            augmentation: &[],
            is_known: false,
            encoding: self.encoding,
            segment_bytes: 0,
            code_alignment: 1,
            data_alignment: 1,
            return_register: Reg(0),
            pointer_encoding: 0,
            lsda_encoding: None,
            personality: None,
            is_signal: false,
            instructions: FrameProgram { bytes: &[], offset },
        }
    }

    /// Reads the augmentation data. Strings from other vendors, in brackets, have no data.
    fn augmentation(&self, cie: &mut Cie<'_>, from: &mut Cursor<'_>) -> Result<()> {
        // Without a `z` there are no data.
        cie.is_signal = cie.augmentation == b"S";
        let Some((b'z', letters)) = cie.augmentation.split_first() else { return Ok(()) };
        let len = from.uleb(CIE)?;
        let mut data = from.limit(len, CIE)?;
        from.take(len, CIE)?;
        for letter in letters {
            match letter {
                b'R' => cie.pointer_encoding = data.u8(CIE)?,
                b'L' => cie.lsda_encoding = Some(data.u8(CIE)?).filter(|&encoding| encoding != OMITTED),
                b'P' => {
                    let encoding = data.u8(CIE)?;
                    cie.personality = self.pointer(&mut data, encoding, cie.encoding.address_bytes, None)?;
                }
                b'S' => cie.is_signal = true,
                // AArch64: return addresses are signed with the second key; frames have memory tags.
                b'B' | b'G' => {}
                // A vendor's string, in brackets.
                _ => break,
            }
        }
        Ok(())
    }

    /// Whether a CIE pointer is wrong in the way that ptxas 13 writes it for the CIE at `offset`: 8 bytes too large for
    /// each earlier FDE whose function has no frame, and 16 for an empty function.
    fn is_of_ptxas(&self, pointer: u64, offset: u64, fdes: usize) -> bool {
        let excess = pointer.wrapping_sub(offset);
        self.section == FrameSection::Debug
            && excess.is_multiple_of(8)
            && (8..=16 * fdes as u64).contains(&excess)
    }

    fn fde<'o>(&self, entry: RawEntry<'o>, index: usize, cie: &Cie<'o>) -> Result<Fde<'o>> {
        let RawEntry { offset, rest: mut from, .. } = entry;
        let bytes = cie.encoding.address_bytes;
        if cie.segment_bytes != 0 {
            from.uint(cie.segment_bytes, FDE)?;
        }
        let (start, length) = match self.section {
            FrameSection::Debug => (from.uint(bytes, FDE)?, from.uint(bytes, FDE)?),
            FrameSection::Eh => {
                let position = from.offset();
                if !cie.is_known {
                    // The address encoding is unknown.
                    return Err(
                        unknown_augmentation(cie.augmentation, cie.offset).in_section(self.section.name())
                    );
                }
                let start = match self.pointer(&mut from, cie.pointer_encoding, bytes, None)? {
                    // Code at 0: the object is not linked, or the linker discarded the code.
                    None => 0,
                    Some(Pointer { address, is_indirect: false }) => address,
                    Some(_) => {
                        let text = format!("{FDE}: the initial location is an indirect or omitted pointer");
                        return Err(from.error(ErrorKind::Malformed(text), position));
                    }
                };
                // The length has the address format, and is absolute.
                (start, value(&mut from, cie.pointer_encoding & 0x0f, bytes)?)
            }
        };
        let mut lsda = None;
        if cie.is_known && cie.augmentation.starts_with(b"z") {
            let len = from.uleb(FDE)?;
            let mut data = from.limit(len, FDE)?;
            from.take(len, FDE)?;
            if let Some(encoding) = cie.lsda_encoding {
                lsda = self.pointer(&mut data, encoding, bytes, Some(start))?;
            }
        }
        let instructions = rest(&mut from);
        from.check_from(offset)?;
        Ok(Fde { offset, cie: index, start, length, lsda, instructions })
    }

    /// Reads an encoded pointer: `None` if it is null. `function` is the start of the code that it belongs to.
    fn pointer(
        &self,
        from: &mut Cursor<'_>,
        encoding: u8,
        address_bytes: u8,
        function: Option<u64>,
    ) -> Result<Option<Pointer>> {
        let position = from.offset();
        let start = match (encoding & 0x70, function) {
            (0x00, _) => 0,
            (0x10, _) => self.address.wrapping_add(position),
            (0x40, Some(function)) => function,
            _ => return Err(unknown_pointer(from, encoding, position)),
        };
        let value = value(from, encoding & 0x0f, address_bytes)?;
        // A zero field is a null pointer, whatever it is relative to.
        if value == 0 {
            return Ok(None);
        }
        let address = start.wrapping_add(value) & max_address(address_bytes);
        Ok(Some(Pointer { address, is_indirect: encoding & 0x80 != 0 }))
    }
}

fn unknown_pointer(from: &Cursor<'_>, encoding: u8, at: u64) -> Error {
    from.error(ErrorKind::Unsupported(format!("unsupported pointer encoding {encoding:#x}")), at)
}

/// Reads a number in a pointer format.
pub(super) fn value(from: &mut Cursor<'_>, format: u8, address_bytes: u8) -> Result<u64> {
    const WHAT: &str = "an encoded pointer";
    match EncodedAddress::form(format, address_bytes) {
        Some(PointerForm::Uleb) => from.uleb(WHAT),
        Some(PointerForm::Sleb) => from.sleb(WHAT).map(|value| value as u64),
        Some(PointerForm::Unsigned(bytes)) => from.uint(bytes, WHAT),
        Some(PointerForm::Signed(bytes)) => from.uint(bytes, WHAT).map(|value| sign_extended(value, bytes)),
        None => Err(unknown_pointer(from, format, from.offset())),
    }
}

fn rest<'o>(from: &mut Cursor<'o>) -> FrameProgram<'o> {
    let offset = from.offset();
    FrameProgram { bytes: from.take_rest(), offset }
}
