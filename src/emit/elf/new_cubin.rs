//! What a new cubin has besides code, symbols and debug information, so that NVIDIA's tools take it: the least that
//! nvdisasm, cuobjdump and nvlink 13.5 need.

use object::elf;
use object::write::elf::SectionHeader;

use super::bytes::set_u32;
use super::image::{Image, ImageSection, unsupported};
use super::symbols::{CodeSymbol, CodeSymbolKind, SYMBOL_SIZE, SymbolLocation};
use crate::error::{Error, Result};

/// The processor for which the sections are known.
const PROCESSOR: u32 = 80;
/// `STO_CUDA_ENTRY`: a function that the host can start.
const ENTRY: u8 = 0x10;
/// Alignment of code in bytes.
const CODE_ALIGN: u64 = 128;
/// The most registers of a thread. The number is not in the code, and a smaller one than it uses would be wrong.
const REGISTERS: u32 = 255;
/// `SHF` bit in the note's flags, as ptxas writes it.
const NOTE_FLAGS: u64 = 0x100_0000;

/// A code section.
#[derive(Debug, Clone, Copy)]
pub(super) struct CodePart<'c> {
    pub(super) name: &'c str,
    /// Index in the object.
    pub(super) index: u32,
    /// Size in bytes.
    pub(super) size: u64,
}

/// Refuses code that a new cubin cannot have.
///
/// # Errors
/// The processor's objects need sections whose contents are unknown; a code section has not exactly one function.
pub(super) fn check(processor: u32, code: &[CodePart<'_>], symbols: &[CodeSymbol]) -> Result<()> {
    if processor != PROCESSOR {
        let reason = match processor {
            100.. => {
                "nvlink needs its code in the encoding of sections `.nv.capmerc`, which NVIDIA does not document"
            }
            90.. => "it needs a section `.nv.compat`, which NVIDIA does not document",
            _ => "its least contents were not compared with NVIDIA's tools",
        };
        return Err(unsupported(format!("new cubin for sm_{processor}: {reason}; expected sm_{PROCESSOR}")));
    }
    code.iter().try_for_each(|part| function(symbols, part).map(|_| ()))
}

/// Returns the function that is a section's code.
fn function<'s>(symbols: &'s [CodeSymbol], part: &CodePart<'_>) -> Result<&'s CodeSymbol> {
    let CodePart { index, size, .. } = *part;
    let place = SymbolLocation::Section { index, offset: 0 };
    let is_whole = |symbol: &&CodeSymbol| {
        symbol.kind == CodeSymbolKind::Function && symbol.place == place && symbol.size == size
    };
    let in_section = symbols.iter().filter(
        |symbol| matches!(symbol.place, SymbolLocation::Section { index: other, .. } if other == index),
    );
    match (symbols.iter().find(is_whole), in_section.count()) {
        (Some(function), 1) => Ok(function),
        _ => Err(Error::bad_argument(
            "code section of a cubin needs one function that is all of it, and no other symbol",
        )
        .in_section(part.name)),
    }
}

/// Completes the code sections and their symbols, and adds the note about the processor. `symbols` are those of the table,
/// without the null symbol.
pub(super) fn complete(
    image: &mut Image<'_>,
    symtab: usize,
    code: &[CodePart<'_>],
    symbols: &[CodeSymbol],
) -> Result<()> {
    for part in code {
        let function = function(symbols, part)?;
        let number = symbols.iter().position(|symbol| symbol.name == function.name).unwrap_or(0) + 1;
        image.sections[symtab].contents.to_mut()[number * SYMBOL_SIZE + 5] = ENTRY;
        let section = &mut image.sections[part.index as usize];
        section.name = format!(".text.{}", function.name).into_bytes().into();
        section.header.sh_link = symtab as u32;
        section.header.sh_info = REGISTERS << 24 | number as u32;
        section.header.sh_addralign = section.header.sh_addralign.max(CODE_ALIGN);
    }
    // Size of the owner, of the contents, the type; the owner; version, processor and tool kit.
    let mut note = Vec::new();
    for word in [12u32, 8, 1000] {
        note.extend_from_slice(&word.to_le_bytes());
    }
    note.extend_from_slice(b"NVIDIA Corp\0");
    for half in [2u16, PROCESSOR as u16] {
        note.extend_from_slice(&half.to_le_bytes());
    }
    note.extend_from_slice(&135u32.to_le_bytes());
    let header = SectionHeader {
        sh_type: elf::SHT_NOTE,
        sh_flags: elf::SectionFlags(NOTE_FLAGS),
        sh_addralign: 4,
        sh_link: symtab as u32,
        ..SectionHeader::default()
    };
    let index = image.add(ImageSection::new(b".note.nv.cuinfo", header, note))?;
    // The high byte of the flags is the note's index, or 255 for any larger one.
    let flags = image.u32(48) & 0xff_ffff | (index.min(0xff) as u32) << 24;
    set_u32(image.order, &mut image.header, 48, flags);
    Ok(())
}
