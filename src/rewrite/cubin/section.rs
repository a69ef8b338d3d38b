//! Sections, copied in parts: a part keeps its bytes and its relocations, which move with it.

use core::ops::Range;

use hashbrown::HashMap;

use super::names::MACROS;
use crate::emit::elf::{CubinLayer, CubinRelocation, CubinSection, CubinSymbol, offset_relocation};
use crate::error::{Count, Error, ErrorKind, Result};
use crate::op::{read_uleb, write_uleb};

/// A section of the original, with bounds-checked reads. Cubins are little-endian.
#[derive(Debug, Clone, Copy)]
pub(super) struct Original<'c> {
    pub(super) name: &'c str,
    pub(super) bytes: &'c [u8],
    relocations: &'c [CubinRelocation],
}

impl<'c> Original<'c> {
    pub(super) fn new(section: &'c CubinSection<'_>) -> Self {
        Self { name: &section.name, bytes: &section.bytes, relocations: &section.relocations }
    }

    /// An error at an offset, for fields that the reader has not refused.
    pub(super) fn malformed(&self, what: &str, offset: usize) -> Error {
        Error::malformed(what).in_section(self.name).at_offset(offset as u64)
    }

    /// Returns the number in a field of up to eight bytes.
    pub(super) fn number(&self, offset: usize, bytes: usize) -> Result<u64> {
        let field = offset.checked_add(bytes).and_then(|end| self.bytes.get(offset..end));
        let field = field.ok_or_else(|| self.truncated(offset))?;
        Ok(field.iter().rev().fold(0, |number, &byte| number << 8 | u64::from(byte)))
    }

    /// Returns a number, and the offset after it.
    pub(super) fn uleb(&self, offset: usize) -> Result<(u64, usize)> {
        read_uleb(self.bytes, offset).ok_or_else(|| self.truncated(offset))
    }

    /// Returns a string without its end, and the offset after its end.
    pub(super) fn string(&self, offset: usize) -> Result<(&'c [u8], usize)> {
        let rest = self.bytes.get(offset..).ok_or_else(|| self.truncated(offset))?;
        let end = rest.iter().position(|&byte| byte == 0).ok_or_else(|| self.truncated(offset))?;
        Ok((&rest[..end], offset + end + 1))
    }

    pub(super) fn truncated(&self, offset: usize) -> Error {
        Error::from(ErrorKind::Truncated("a field".into())).in_section(self.name).at_offset(offset as u64)
    }

    /// Returns the relocation of a field.
    pub(super) fn relocation(&self, offset: usize) -> Option<&'c CubinRelocation> {
        self.relocations_in(offset..offset + 1).first()
    }

    /// Returns the relocations of the fields that begin in a part.
    pub(super) fn relocations_in(&self, part: Range<usize>) -> &'c [CubinRelocation] {
        let index = |offset: usize| self.relocations.partition_point(|it| it.offset < offset as u64);
        &self.relocations[index(part.start)..index(part.end)]
    }
}

/// How fields refer to debug sections: by their numbers, and in a relocatable cubin by relocations as well, even where a
/// linker or assembler has left one out.
#[derive(Debug)]
pub(super) struct Offsets<'c> {
    /// `None` in a linked cubin.
    layer: Option<CubinLayer>,
    /// Positions of the layer's sections by their names.
    positions: HashMap<&'c str, usize>,
}

impl<'c> Offsets<'c> {
    pub(super) fn new(sections: &'c [CubinSection<'c>], layer: Option<CubinLayer>) -> Self {
        let positions = sections.iter().zip(0..).map(|(section, index)| (&*section.name, index));
        Self { layer, positions: positions.collect() }
    }

    /// Returns what the relocation of an offset in a section refers to, and its type.
    pub(super) fn to(&self, section: &str, bytes: usize) -> Option<(CubinSymbol, u32)> {
        let layer = self.layer?;
        let position = *self.positions.get(section)?;
        Some((CubinSymbol::Section(position), offset_relocation(layer, section, bytes)))
    }

    /// Whether a relocation refers to no debug section, or to a section whose contents stay where they are.
    fn stays(&self, relocation: &CubinRelocation) -> bool {
        match relocation.symbol {
            CubinSymbol::Index(_) => true,
            CubinSymbol::Section(to) => self.positions.get(MACROS) == Some(&to),
        }
    }
}

/// A section of the result.
#[derive(Debug, Default)]
pub(super) struct Copied {
    pub(super) bytes: Vec<u8>,
    /// Relocations of copied fields.
    relocations: Vec<CubinRelocation>,
    /// Relocations of offsets.
    offsets: Vec<CubinRelocation>,
}

impl Copied {
    /// An empty section with room for the contents of an original, which rarely grow.
    pub(super) fn with_room(from: &Original<'_>) -> Self {
        Self {
            bytes: Vec::with_capacity(from.bytes.len()),
            relocations: Vec::with_capacity(from.relocations.len()),
            offsets: Vec::new(),
        }
    }

    pub(super) fn from_bytes(bytes: Vec<u8>) -> Self {
        Self { bytes, ..Self::default() }
    }

    /// Appends a part of an original.
    pub(super) fn part(&mut self, from: &Original<'_>, part: Range<usize>) -> Result<()> {
        let bytes = from.bytes.get(part.clone()).ok_or_else(|| from.truncated(part.start))?;
        let to = self.bytes.len() as u64;
        for relocation in from.relocations_in(part.clone()) {
            let offset = relocation.offset - part.start as u64 + to;
            self.relocations.push(CubinRelocation { offset, ..*relocation });
        }
        self.bytes.extend_from_slice(bytes);
        Ok(())
    }

    pub(super) fn uleb(&mut self, number: u64) {
        write_uleb(&mut self.bytes, number);
    }

    /// Appends a number of some bytes.
    ///
    /// # Errors
    /// [`TooLarge`](ErrorKind::TooLarge) where the number needs more bytes.
    pub(super) fn number(&mut self, number: u64, bytes: usize) -> Result<()> {
        let at = self.bytes.len();
        self.bytes.resize(at + bytes, 0);
        self.set(at, number, bytes)
    }

    /// Sets a number of some bytes, which has no relocation then.
    ///
    /// # Errors
    /// [`TooLarge`](ErrorKind::TooLarge) where the number needs more bytes.
    pub(super) fn set(&mut self, offset: usize, number: u64, bytes: usize) -> Result<()> {
        if bytes < 8 && number >> (8 * bytes) != 0 {
            let text = format!("{number:#x} needs more bits than a field of {}", Count(bytes, "byte"));
            return Err(ErrorKind::TooLarge(text).into());
        }
        self.bytes[offset..offset + bytes].copy_from_slice(&number.to_le_bytes()[..bytes]);
        let index = |offset: usize| self.relocations.partition_point(|it| it.offset < offset as u64);
        let replaced = index(offset)..index(offset + bytes);
        self.relocations.drain(replaced);
        Ok(())
    }

    /// Appends an offset in another section with its relocation.
    ///
    /// # Errors
    /// As for [`set`](Self::set).
    pub(super) fn offset(
        &mut self,
        number: u64,
        bytes: usize,
        relocation: Option<(CubinSymbol, u32)>,
    ) -> Result<()> {
        let at = self.bytes.len();
        self.bytes.resize(at + bytes, 0);
        self.set_offset(at, number, bytes, relocation)
    }

    /// Sets an offset in another section with its relocation.
    ///
    /// # Errors
    /// As for [`set`](Self::set).
    pub(super) fn set_offset(
        &mut self,
        offset: usize,
        number: u64,
        bytes: usize,
        relocation: Option<(CubinSymbol, u32)>,
    ) -> Result<()> {
        self.set(offset, number, bytes)?;
        let relocation = relocation.map(|(symbol, kind)| CubinRelocation {
            offset: offset as u64,
            symbol,
            kind,
            addend: Some(number as i64),
        });
        self.offsets.extend(relocation);
        Ok(())
    }

    /// Returns the section.
    ///
    /// # Errors
    /// A relocation that refers to a debug section from a field that is not known to be an offset.
    pub(super) fn finish<'c>(self, name: &'c str, offsets: &Offsets<'_>) -> Result<CubinSection<'c>> {
        let Self { bytes, mut relocations, offsets: new } = self;
        if let Some(unknown) = relocations.iter().find(|it| !offsets.stays(it)) {
            let text = "relocation of a field that is no known offset refers to a debug section";
            let error = Error::from(ErrorKind::Unsupported(text.into()));
            return Err(error.in_section(name).at_offset(unknown.offset));
        }
        relocations.extend(new);
        relocations.sort_by_key(|relocation| relocation.offset);
        Ok(CubinSection { name: name.into(), bytes: bytes.into(), relocations: relocations.into() })
    }
}
