//! Objects that the crate [`object`] writes: ELF, Mach-O and COFF.
//!
//! ```
//! use eitri::build::Builder;
//! use eitri::emit::object;
//! use eitri::lower::{Consumer, Policy, lower};
//! use eitri::object::BinaryFormat::{Coff, Elf, MachO};
//! use eitri::object::{Architecture, Endianness, write::Object};
//! use eitri::target::Target;
//!
//! let mut m = Builder::new(Target::x86_64());
//! m.unit("a.c");
//! let written = lower(&m.finish()?, &Consumer::dwarf5(), Policy::Strict)?;
//! // The same sections for all three formats.
//! for format in [Elf, MachO, Coff] {
//!     let mut file = Object::new(format, Architecture::X86_64, Endianness::Little);
//!     object::add(&mut file, &written.sections)?;
//!     println!("{format:?}: {} bytes", file.write()?.len());
//! }
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

use std::collections::HashMap;

use object::write::{
    Comdat, Object, Relocation as Field, SectionId, StandardSection, StandardSegment, Symbol, SymbolId,
    SymbolSection,
};
use object::{
    BinaryFormat, ComdatKind, Object as _, ObjectSection as _, RelocationEncoding, RelocationFlags,
    RelocationKind, SectionFlags, SectionKind, SymbolFlags, SymbolKind, SymbolScope, elf,
};

use super::added::{Added, fits};
use super::section::{Relocation, RelocationTarget, Section};
use crate::error::{Count, Error, ErrorKind, Named, Result};

/// Adds debug sections to an object that the crate [`object`] writes: ELF, Mach-O or COFF.
///
/// The object already has the code and data that the sections describe, with a symbol for each name in the relocations:
/// [`Object::symbol_id`] finds it, by the name without the prefix `_` of Mach-O. A symbol of another object
/// has to be there, too, as an undefined symbol.
///
/// | | ELF | Mach-O | COFF |
/// |---|---|---|---|
/// | name | `.debug_info` | `__debug_info` in the segment `__DWARF`, cut to 16 bytes | `.debug_info` |
/// | offset in another debug section | relocation to the section's symbol | a number, because Mach-O linkers leave debug sections alone | `SECREL` relocation, 4 bytes |
/// | address of code or data | relocation to the symbol | relocation to the symbol's section, with the address in the field, as in LLVM | relocation to the symbol |
/// | distance to code, in `.eh_frame` | relocation to the symbol's section | refused; [`FrameForm::debug_frame`](crate::consumer::FrameForm::debug_frame) instead | relocation to the symbol's section |
/// | type units | section groups | refused | refused |
///
/// In Mach-O, the fields contain addresses in the object, which later contents would move: add code and data before.
///
/// # Errors
/// Each error names the section, and the offset of the relocation. The object then has a part of the sections.
///
/// * The format is not ELF, Mach-O or COFF, or has no relocation for a field: COFF has none for the offsets of 64-bit
///   DWARF.
/// * A relocation refers to a symbol that the object does not have, or to a section that is not in `sections`.
/// * Two sections have the same name; a relocation lies outside its section, overlaps another, or its field is not 0.
///
/// # Example
///
/// ```
/// use eitri::emit::object;
/// use eitri::object::write::{Object, StandardSection, Symbol, SymbolSection};
/// use eitri::object::{Architecture, BinaryFormat, Endianness, SymbolFlags, SymbolKind, SymbolScope};
/// # use eitri::build::Builder;
/// # use eitri::lower::{Consumer, Policy, lower};
/// # use eitri::target::Target;
/// # let mut m = Builder::new(Target::x86_64());
/// # let unit = m.unit("a.c");
/// # m.function(unit, "f")?.code("f", 1);
/// # let written = lower(&m.finish()?, &Consumer::dwarf5(), Policy::Strict)?;
///
/// let mut file = Object::new(BinaryFormat::Elf, Architecture::X86_64, Endianness::Little);
/// let text = file.section_id(StandardSection::Text);
/// let f = file.add_symbol(Symbol {
///     name: b"f".to_vec(),
///     value: 0,
///     size: 0,
///     kind: SymbolKind::Text,
///     scope: SymbolScope::Linkage,
///     weak: false,
///     section: SymbolSection::Undefined,
///     flags: SymbolFlags::None,
/// });
/// // retq
/// file.add_symbol_data(f, text, &[0xc3], 16);
/// object::add(&mut file, &written.sections)?;
/// let bytes = file.write()?;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn add(object: &mut Object<'_>, sections: &[Section]) -> Result<()> {
    if !matches!(object.format(), BinaryFormat::Elf | BinaryFormat::MachO | BinaryFormat::Coff) {
        return Err(unsupported(format!(
            "format {:?} is not supported; expected ELF, Mach-O or COFF",
            object.format()
        )));
    }
    // The crate does not list the sections that an object has.
    let added = Added::check(|_| false, sections)?;
    let mut placed = Vec::with_capacity(sections.len());
    for section in sections {
        placed.push(place(object, section).map_err(|error| error.in_section(section.name))?);
    }
    add_groups(object, sections, &placed);
    // The addresses are those of the whole object, because data without contents comes after the debug sections.
    let addresses = match object.format() {
        BinaryFormat::MachO => section_addresses(object)?,
        _ => Addresses::new(),
    };
    for (section, &(id, start)) in sections.iter().zip(&placed) {
        for relocation in &section.relocations {
            let field = Relocated { id, offset: start + relocation.offset, relocation };
            let target = match relocation.target {
                RelocationTarget::Section(name) => {
                    // `check` has found the target.
                    let target = added.target(section, name).map_or(id, |index| placed[index].0);
                    field.refer(object, target)
                }
                RelocationTarget::Symbol(ref name) => field.address(object, name, &addresses),
                RelocationTarget::Distance(ref name) => field.distance(object, name),
            };
            target.map_err(|error| error.in_section(section.name).at_offset(relocation.offset))?;
        }
    }
    Ok(())
}

/// Adds a section's contents. Returns the section, and the offset of the contents there.
fn place(object: &mut Object<'_>, section: &Section) -> Result<(SectionId, u64)> {
    let format = object.format();
    if section.group.is_some() && format != BinaryFormat::Elf {
        return Err(unsupported(
            "type units need section groups, which only ELF has; expected no type units",
        ));
    }
    if section.name == ".eh_frame" {
        if format == BinaryFormat::MachO {
            return Err(unsupported("`.eh_frame` is not supported in Mach-O; expected `.debug_frame`"));
        }
        // The object may have a table, to which a linker would append this table as well.
        let id = object.section_id(StandardSection::EhFrame);
        return Ok((id, object.append_section_data(id, &section.bytes, ADDRESS_BYTES)));
    }
    let mut name = section.name.as_bytes().to_vec();
    if format == BinaryFormat::MachO {
        name = [b"__", name.strip_prefix(b".").unwrap_or(&name)].concat();
        name.truncate(MACH_NAME_BYTES);
    }
    let kind = if section.is_strings { SectionKind::DebugString } else { SectionKind::Debug };
    let segment = object.segment_name(StandardSegment::Debug).to_vec();
    let id = object.add_section(segment, name, kind);
    object.set_section_data(id, section.bytes.clone(), 1);
    Ok((id, 0))
}

/// Alignment of `.eh_frame`, whose entries are padded to addresses.
const ADDRESS_BYTES: u64 = 8;

/// Size of a section's name in Mach-O.
const MACH_NAME_BYTES: usize = 16;

/// Puts the sections of each type unit in a group, of which a linker keeps one.
fn add_groups(object: &mut Object<'_>, sections: &[Section], placed: &[(SectionId, u64)]) {
    let mut members: Vec<(u64, Vec<SectionId>)> = Vec::new();
    let mut positions = HashMap::new();
    for (section, &(id, _)) in sections.iter().zip(placed) {
        let Some(signature) = section.group else { continue };
        let position = *positions.entry(signature).or_insert_with(|| {
            members.push((signature, Vec::new()));
            members.len() - 1
        });
        members[position].1.push(id);
        if let SectionFlags::Elf { sh_flags, .. } = object.section_flags_mut(id) {
            *sh_flags |= elf::SHF_GROUP;
        }
    }
    for (signature, sections) in members {
        let symbol = object.add_symbol(Symbol {
            // Decimal, as in LLVM, because a linker then merges groups from both producers.
            name: signature.to_string().into_bytes(),
            value: 0,
            size: 0,
            kind: SymbolKind::Label,
            scope: SymbolScope::Compilation,
            weak: false,
            section: SymbolSection::Section(sections[0]),
            flags: SymbolFlags::None,
        });
        object.add_comdat(Comdat { kind: ComdatKind::Any, symbol, sections });
    }
}

/// Addresses of sections in a Mach-O object, by segment and name; `None` for a name of several sections.
type Addresses = HashMap<(String, String), Option<u64>>;

/// Returns the sections' addresses. The crate assigns them when it writes the object, and does not state them.
fn section_addresses(object: &Object<'_>) -> Result<Addresses> {
    let bytes = object.write().map_err(refused)?;
    let file = object::File::parse(&*bytes).map_err(refused)?;
    let mut addresses = Addresses::new();
    for section in file.sections() {
        let segment = section.segment_name().map_err(refused)?.unwrap_or_default();
        let name = section.name().map_err(refused)?;
        let is_second = addresses.contains_key(&(segment.into(), name.into()));
        let address = (!is_second).then(|| section.address());
        addresses.insert((segment.into(), name.into()), address);
    }
    Ok(addresses)
}

/// A field of a section in the object.
struct Relocated<'r> {
    id: SectionId,
    offset: u64,
    relocation: &'r Relocation,
}

impl Relocated<'_> {
    /// Refers to a debug section.
    fn refer(&self, object: &mut Object<'_>, target: SectionId) -> Result<()> {
        let kind = match object.format() {
            BinaryFormat::MachO => return self.number(object),
            BinaryFormat::Coff => RelocationKind::SectionOffset,
            _ => RelocationKind::Absolute,
        };
        let symbol = object.section_symbol(target);
        self.relocate(object, kind, symbol, self.relocation.addend)
    }

    /// Refers to code or data.
    fn address(&self, object: &mut Object<'_>, name: &str, addresses: &Addresses) -> Result<()> {
        let mut symbol = symbol(object, name)?;
        let mut addend = self.relocation.addend;
        if object.format() == BinaryFormat::MachO
            && let Some((section, offset)) = object.symbol_section_and_offset(symbol)
        {
            // Debuggers read the address in the field and apply no relocation, as LLVM's `X86MachObjectWriter` states.
            symbol = section;
            addend = addend.wrapping_add(offset).wrapping_add(section_address(object, section, addresses)?);
        }
        self.relocate(object, RelocationKind::Absolute, symbol, addend)
    }

    /// Refers to code by the distance from the field.
    fn distance(&self, object: &mut Object<'_>, name: &str) -> Result<()> {
        let symbol = symbol(object, name)?;
        // Linkers refuse the distance to a symbol that another library may replace.
        let (symbol, offset) = object.symbol_section_and_offset(symbol).unwrap_or((symbol, 0));
        let addend = self.relocation.addend.wrapping_add(offset);
        self.relocate(object, RelocationKind::Relative, symbol, addend)
    }

    fn relocate(
        &self,
        object: &mut Object<'_>,
        kind: RelocationKind,
        symbol: SymbolId,
        addend: u64,
    ) -> Result<()> {
        let size = self.relocation.bytes * 8;
        let flags = RelocationFlags::Generic { kind, encoding: RelocationEncoding::Generic, size };
        let field = Field { offset: self.offset, symbol, addend: addend as i64, flags };
        object.add_relocation(self.id, field).map_err(|error| match (object.format(), kind) {
            (BinaryFormat::Coff, RelocationKind::SectionOffset) => unsupported(format!(
                "COFF has no relocation for a section offset of {}; expected 32-bit DWARF",
                Count(self.relocation.bytes, "byte")
            )),
            _ => refused(error),
        })
    }

    /// Writes the addend without a relocation. Mach-O objects of the supported processors are little endian.
    fn number(&self, object: &mut Object<'_>) -> Result<()> {
        let Relocation { bytes, addend, .. } = *self.relocation;
        fits(addend, bytes)?;
        // `check` has found the field inside the section.
        let field = &mut object.section_mut(self.id).data_mut()[self.offset as usize..][..bytes.into()];
        field.copy_from_slice(&addend.to_le_bytes()[..bytes.into()]);
        Ok(())
    }
}

fn symbol(object: &Object<'_>, name: &str) -> Result<SymbolId> {
    object.symbol_id(name.as_bytes()).ok_or_else(|| {
        let kind = Named::Symbol;
        ErrorKind::UnknownName { kind, name: name.into(), nearest: Vec::new() }.into()
    })
}

/// Returns the address of the section with a section symbol.
fn section_address(object: &Object<'_>, symbol: SymbolId, addresses: &Addresses) -> Result<u64> {
    let id = object.symbol(symbol).section.id();
    let section = id.map(|id| object.section(id));
    let key = section.and_then(|section| Some((section.segment()?.to_owned(), section.name()?.to_owned())));
    match key.as_ref().and_then(|key| addresses.get(key)) {
        Some(&Some(address)) => Ok(address),
        _ => {
            let (segment, name) = key.unwrap_or_default();
            Err(unsupported(format!(
                "object has several sections `{segment},{name}`; expected a name for each section"
            )))
        }
    }
}

fn unsupported(what: impl Into<String>) -> Error {
    ErrorKind::Unsupported(what.into()).into()
}

/// Converts an error of the crate.
fn refused(error: impl ToString) -> Error {
    unsupported(error.to_string())
}
