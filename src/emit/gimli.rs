//! Sections written with `gimli::write`, converted to an object's sections.

use std::borrow::Cow;

use gimli::write::{EndianVec, RelocateWriter, Sections};
use gimli::{BigEndian, Endianity, LittleEndian};

use super::section::{Relocation, RelocationTarget, Section};

/// A section for `gimli::write`: bytes in a byte order, and relocations.
///
/// ```
/// use eitri::emit::{GimliBuffer, from_gimli};
/// use gimli::write::{Dwarf, Sections};
///
/// let mut sections = Sections::new(GimliBuffer::new());
/// Dwarf::default().write(&mut sections)?;
/// let sections = from_gimli(&sections, |_symbol| "kernel".into());
/// assert!(sections.is_empty());
/// # Ok::<(), gimli::write::Error>(())
/// ```
#[derive(Debug, Clone)]
pub struct GimliBuffer<E: Endianity = LittleEndian> {
    bytes: EndianVec<E>,
    relocations: Vec<gimli::write::Relocation>,
}

impl GimliBuffer {
    /// An empty little-endian section.
    pub fn new() -> Self {
        Self::default()
    }
}

impl GimliBuffer<BigEndian> {
    /// An empty big-endian section.
    pub fn big_endian() -> Self {
        Self::default()
    }
}

impl<E: Endianity> Default for GimliBuffer<E> {
    fn default() -> Self {
        Self { bytes: EndianVec::new(E::default()), relocations: Vec::new() }
    }
}

impl<E: Endianity> RelocateWriter for GimliBuffer<E> {
    type Writer = EndianVec<E>;

    fn writer(&self) -> &Self::Writer {
        &self.bytes
    }

    fn writer_mut(&mut self) -> &mut Self::Writer {
        &mut self.bytes
    }

    fn relocate(&mut self, relocation: gimli::write::Relocation) {
        self.relocations.push(relocation);
    }
}

/// The sections that gimli wrote, without the empty ones. `symbol` names the symbol with the number in
/// [`gimli::write::Address::Symbol`].
pub fn from_gimli<E: Endianity>(
    sections: &Sections<GimliBuffer<E>>,
    symbol: impl Fn(usize) -> Cow<'static, str>,
) -> Vec<Section> {
    let mut converted = Vec::new();
    let Ok(()) = sections.for_each(|id, buffer| {
        let relocation = |from: &gimli::write::Relocation| Relocation {
            offset: from.offset as u64,
            bytes: from.size,
            target: match from.target {
                gimli::write::RelocationTarget::Symbol(number) => RelocationTarget::Symbol(symbol(number)),
                gimli::write::RelocationTarget::Section(id) => RelocationTarget::Section(id.name()),
            },
            addend: from.addend as u64,
        };
        let mut relocations: Vec<Relocation> = buffer.relocations.iter().map(relocation).collect();
        // gimli patches earlier offsets, so its relocations are out of order.
        relocations.sort_by_key(|relocation| relocation.offset);
        let bytes = buffer.bytes.slice().to_vec();
        let is_strings = matches!(id, gimli::SectionId::DebugStr | gimli::SectionId::DebugLineStr);
        if !bytes.is_empty() {
            converted.push(Section { name: id.name(), bytes, relocations, is_strings, group: None });
        }
        Ok::<(), core::convert::Infallible>(())
    });
    converted
}
