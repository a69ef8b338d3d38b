//! ELF objects: new objects, and existing objects with sections added.
//!
//! ```
//! use eitri::emit::elf;
//!
//! # let object = include_bytes!("../../../examples/data/saxpy.o");
//! // What is there to be described: functions, their sizes and their bytes.
//! let saxpy = elf::symbol_named(object, "saxpy")?;
//! assert_eq!(saxpy.size, 0x88);
//! // The last instruction is s_endpgm.
//! assert!(elf::contents(object, &saxpy)?.ends_with(&0xbf81_0000_u32.to_le_bytes()));
//! # Ok::<(), eitri::Error>(())
//! ```
mod bytes;
mod code;
mod compress;
mod contents;
mod cubin;
mod cubin_sections;
mod existing;
mod file;
pub(crate) mod frame_entry;
mod image;
mod in_place;
mod kept;
mod line_files;
pub(crate) mod line_ops;
mod linked;
mod mercury;
mod mercury_pcs;
mod mercury_sections;
mod new_cubin;
mod ptx_lines;
mod relocatable;
mod remove;
mod renumber;
mod symbols;
mod write;

pub use code::{CodeContents, CodeRelocation, CodeSection, ObjectCode, new_object, new_object_with};
pub use compress::Compression;
pub use contents::replace_contents;
pub(crate) use cubin_sections::{
    CubinLayer, CubinRelocation, CubinSection, CubinSymbol, cubin_sections, offset_relocation,
    with_cubin_sections,
};
pub use existing::Existing;
pub use file::write_file;
pub use ptx_lines::{PtxLines, ptx_lines, relocatable_ptx_lines};
pub use symbols::{
    CodeSymbol, CodeSymbolKind, SymbolBinding, SymbolLocation, Visibility, contents, symbol_named, symbols,
};

use super::section::Section;
use crate::error::Result;
use crate::target::Target;
use image::Image;
pub use relocatable::UndefinedSymbols;

/// Options for [`attach_with`]. The default is what [`attach`] does.
///
/// ```
/// use eitri::emit::elf::{AttachOptions, Compression, Existing};
///
/// let mut replace = AttachOptions::new();
/// replace.existing = Existing::Replace;
/// assert_eq!(replace.compression, Compression::None);
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub struct AttachOptions {
    /// How debug sections in the existing object are treated.
    pub existing: Existing,
    /// How the added debug sections are compressed.
    pub compression: Compression,
    /// How relocations against undefined symbols of a relocatable object are treated.
    pub undefined: UndefinedSymbols,
}

impl AttachOptions {
    /// Returns the options of [`attach`]: existing debug sections stay, and the added sections are not compressed.
    pub const fn new() -> Self {
        Self {
            existing: Existing::Refuse,
            compression: Compression::None,
            undefined: UndefinedSymbols::Refuse,
        }
    }
}

impl Default for AttachOptions {
    fn default() -> Self {
        Self::new()
    }
}

/// Adds debug sections to an object: a relocatable one, or a linked one (`ET_DYN`, `ET_EXEC`).
///
/// In a relocatable object, relocations become `.rela` sections for the linker, against section symbols or the object's
/// own symbols. Section symbols are added to `.symtab` where needed; the global symbols' indices grow accordingly, and
/// all references to them are updated.
///
/// In a linked object no tool relocates debug sections any more. The relocations of these sections are therefore
/// resolved here: [`Section`](super::RelocationTarget::Section) to the addend,
/// [`Symbol`](super::RelocationTarget::Symbol) to the symbol's address plus the addend. The sections are appended to
/// the file. All bytes before them stay unchanged, except for `e_shoff`, `e_shnum` and `e_shstrndx` in the ELF header,
/// and `e_shentsize` of an object without section headers.
///
/// Sections of a [group](Section::group) become a COMDAT group of a relocatable object, named after the signature in
/// decimal as in LLVM. In a linked object, sections of one name are concatenated in their order.
///
/// Symbols are looked up in `.symtab`, and then in `.dynsym` of a linked object.
///
/// # Errors
/// * `object` is not an ELF64 object, or malformed, or truncated.
/// * `object` is for another machine or processor than the target, or in the other byte order.
/// * `object` already has a section of one of the names, or two sections of one group have the same name.
/// * A relocation refers to a symbol that the object does not have or does not define, or to a section that is not in
///   `sections` or only in another group.
/// * A relocation lies outside its section, overlaps another, or its field is not 0.
/// * A number does not fit a 4-byte field.
/// * The object lacks a symbol table that is needed, or uses a feature that is not supported.
///
/// # Example
///
/// ```
/// # use eitri::emit::elf;
/// # use eitri::build::Builder;
/// # use eitri::target::Target;
/// # use eitri::lower::{Consumer, Policy, lower};
/// # let mut m = Builder::new(Target::named("amdgpu-gfx1030-wave32")?);
/// # let unit = m.unit("k01_saxpy.cl");
/// # m.function(unit, "saxpy")?.code("saxpy", 0x88).kernel();
/// # let module = m.finish()?;
/// # let written = lower(&module, &Consumer::llvm(), Policy::Strict)?;
/// # let object = include_bytes!("../../../examples/data/saxpy.o");
/// // `written` describes the kernel `saxpy`, which another compiler wrote to `object`. The
/// // code keeps its bytes.
/// let debug = elf::attach(object, module.target(), &written.sections)?;
/// let code = |object| -> eitri::Result<Vec<u8>> {
///     Ok(elf::contents(object, &elf::symbol_named(object, "saxpy")?)?.to_vec())
/// };
/// assert_eq!((code(object)?.len(), code(object)?), (0x88, code(&debug)?));
/// // A second time the sections are there already.
/// assert!(elf::attach(&debug, module.target(), &written.sections).is_err());
/// # Ok::<(), eitri::Error>(())
/// ```
pub fn attach(object: &[u8], target: &Target, sections: &[Section]) -> Result<Vec<u8>> {
    attach_with(object, target, sections, &AttachOptions::default())
}

/// Adds debug sections to an object as [`attach`] does, or replaces the existing ones.
///
/// Loaded contents stay in both cases, and so does every section, symbol and relocation that is not debug information.
/// In a linked file, contents that are not loaded move up after a removed section.
///
/// # Errors
/// The errors of [`attach`]; line tables and frames of a cubin that stay and cannot be read; with [`Existing::Replace`], also if a remaining reference names a removed section or
/// symbol, or if loaded contents would have to change.
///
/// # Example
///
/// ```
/// # use eitri::emit::elf::{self, AttachOptions, Existing};
/// # use eitri::build::Builder;
/// # use eitri::target::Target;
/// # use eitri::lower::{Consumer, Policy, lower};
/// # let mut m = Builder::new(Target::named("amdgpu-gfx1030-wave32")?);
/// # let unit = m.unit("k01_saxpy.cl");
/// # m.function(unit, "saxpy")?.code("saxpy", 0x88).kernel();
/// # let module = m.finish()?;
/// # let written = lower(&module, &Consumer::llvm(), Policy::Strict)?;
/// # let object = include_bytes!("../../../examples/data/saxpy.o");
/// # let debug = elf::attach(object, module.target(), &written.sections)?;
/// // Replaces what the object has. Without sections, this strips it.
/// let mut options = AttachOptions::new();
/// options.existing = Existing::Replace;
/// let replaced = elf::attach_with(&debug, module.target(), &written.sections, &options)?;
/// let stripped = elf::attach_with(&debug, module.target(), &[], &options)?;
/// assert!(replaced == debug && stripped.len() < debug.len());
/// # Ok::<(), eitri::Error>(())
/// ```
pub fn attach_with(
    object: &[u8],
    target: &Target,
    sections: &[Section],
    how: &AttachOptions,
) -> Result<Vec<u8>> {
    let mut image = Image::parse(object)?;
    image.check_target(target)?;
    // From the line tables that are there, before they are emptied.
    let pcs = mercury_pcs::MercuryPcs::read(&image)?;
    match how.existing {
        Existing::Refuse => {}
        Existing::Replace | Existing::KeepLines if image.is_cubin() => {
            cubin::empty_debug_sections(&mut image, how.existing, sections);
        }
        Existing::Replace => remove::debug_sections(&mut image)?,
        Existing::KeepLines => {
            return Err(image::unsupported(
                "line tables are kept in cubins only; expected `Existing::Replace`",
            ));
        }
    }
    if image.is_cubin() {
        cubin::refuse_compression(how.compression)?;
        kept::check(&image)?;
        let map = mercury::empty_map(&image, sections, &pcs);
        let with_map = map.map(|map| [sections, &map].concat());
        let sections = with_map.as_deref().unwrap_or(sections);
        cubin::add(&mut image, sections, how.existing)?;
        mercury::add(&mut image, sections, how.existing, &pcs)?;
    } else if image.is_linked() {
        linked::add(&mut image, sections)?;
    } else {
        relocatable::add(&mut image, target, sections, how.undefined)?;
    }
    compress::compress(&mut image, how.compression)?;
    image.write()
}
