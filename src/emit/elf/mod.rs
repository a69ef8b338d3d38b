//! ELF objects: new ones, and ones that a compiler made before, with sections added.
//!
//! | have | want | call |
//! |---|---|---|
//! | machine code and its symbols | a relocatable object | [`new_object`] |
//! | a relocatable object | the same with debug information, to be linked | [`attach`] |
//! | a linked code object | the same with debug information, to be loaded | [`attach`] |
//! | one with debug information | the same with other debug information | [`attach_with`], [`Existing::Replace`] |
//!
//! The rule to remember: what was there stays. In a linked object every byte up to the end of the last
//! segment stays where it is, but for the three fields of the ELF header that say where the section
//! headers are. In a relocatable object every section keeps its index, flags and contents, and every
//! relocation its symbol. The same input gives the same bytes.
//!
//! ```
//! use eitri::emit::elf::{self, Code};
//! use eitri::target::{Gfx, Target, Wave};
//!
//! let target = Target::amdgpu(Gfx::GFX1030, Wave::W32)?;
//! // s_endpgm
//! let code = Code::text(vec![0x00, 0x00, 0x81, 0xbf]).with_function("nothing", 0, 4);
//! let object = elf::new_object(&target, &code, &[])?;
//!
//! let nothing = elf::symbol_named(&object, "nothing")?;
//! assert_eq!(elf::contents(&object, &nothing)?, [0x00, 0x00, 0x81, 0xbf]);
//! # Ok::<(), eitri::Error>(())
//! ```
//!
//! All objects are ELF64, in the byte order of the target. Specification: System V ABI, chapters 4 and 5; AMDGPU back end
//! user guide, "ELF Code Object".

mod bytes;
mod check;
mod code;
mod compress;
mod file;
mod image;
mod linked;
mod relocatable;
mod remove;
mod renumber;
mod symbols;
mod write;

pub use code::{Code, CodeRelocation, CodeSection, Contents, new_object, new_object_with};
pub use compress::Compression;
pub use file::write_file;
pub use symbols::{Binding, Place, Symbol, SymbolKind, Visibility, contents, symbol_named, symbols};

use super::Section;
use crate::error::Result;
use crate::target::Target;
use image::Image;
use relocatable::Undefined;

/// What becomes of debug sections that an object already has.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Existing {
    /// They stay, and an added section of the same name is an error.
    #[default]
    Refuse,
    /// They go, all of them, before others are added: sections `.debug_*`, `.zdebug_*` and `.gdb_index`
    /// that are not loaded, their relocations, their symbols, and groups of nothing else.
    ///
    /// `.debug_frame` goes too, whether or not there is a new one; `.eh_frame` is loaded and stays. Indices
    /// of sections and symbols behind those that go become less. It is an error if what stays refers to
    /// what goes.
    Replace,
}

/// How sections are attached to an object. The default is what [`attach`] does.
///
/// ```
/// use eitri::emit::elf::{Attach, Compression, Existing};
///
/// let replace = Attach { existing: Existing::Replace, ..Attach::default() };
/// assert_eq!(replace.compression, Compression::None);
/// ```
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Attach {
    /// What becomes of debug sections that are there.
    pub existing: Existing,
    /// How the debug sections that are added are compressed.
    pub compression: Compression,
}

/// Adds debug sections to an object: a relocatable one, or a linked one (`ET_DYN`, `ET_EXEC`).
///
/// In a relocatable object, relocations become `.rela` sections for the linker, against section symbols
/// or the object's own symbols. Section symbols are added to `.symtab` as far as they are needed; the
/// global symbols move up by as many indices, and whatever counts symbols follows.
///
/// In a linked object nothing relocates a debug section any more, so relocations are resolved here:
/// [`Section`](super::RelocationTarget::Section) to the addend, [`Symbol`](super::RelocationTarget::Symbol)
/// to the symbol's address plus the addend. Sections are appended to the file; what lies in front stays,
/// to the byte, but for `e_shoff`, `e_shnum` and `e_shstrndx` in the ELF header, and `e_shentsize` if
/// there were no section headers.
///
/// Sections of a [group](Section::group) become a COMDAT group of a relocatable object, named after the
/// signature as LLVM does: in decimal. In a linked object sections of one name become one, in their order.
///
/// Symbols are looked up in `.symtab`, and in `.dynsym` of a linked object if not found there.
///
/// # Errors
/// * `object` is not an ELF64 object, or malformed, or truncated.
/// * It is for another machine than the target, for another processor, or in the other byte order.
/// * It already has a section of one of the names, or two of one group have the same.
/// * A relocation asks for a symbol that the object does not have or does not define, or for a section
///   that is not among `sections` or only in another group; or it lies outside of its section, overlaps another, or its field is
///   not 0.
/// * A 4-byte field does not hold the number.
/// * The object has no symbol table and one is needed, or another feature that is not supported.
pub fn attach(object: &[u8], target: &Target, sections: &[Section]) -> Result<Vec<u8>> {
    attach_with(object, target, sections, &Attach::default())
}

/// Adds debug sections to an object as [`attach`] does, or puts them in the place of those that it has.
///
/// What is loaded stays in any case, and so does every section, symbol and relocation that is not debug
/// information. In a linked file, what is not loaded and lies behind a section that goes moves up.
///
/// # Errors
/// As [`attach`]; and with [`Existing::Replace`], if what stays refers to what goes, or if what is loaded
/// would have to change.
pub fn attach_with(object: &[u8], target: &Target, sections: &[Section], how: &Attach) -> Result<Vec<u8>> {
    let mut image = Image::parse(object)?;
    image.check_target(target)?;
    if how.existing == Existing::Replace {
        remove::debug_sections(&mut image)?;
    }
    if image.is_linked() {
        linked::add(&mut image, sections)?;
    } else {
        relocatable::add(&mut image, target, sections, Undefined::Refuse)?;
    }
    compress::compress(&mut image, how.compression)?;
    image.write()
}
