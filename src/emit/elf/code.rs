//! New relocatable objects.

use std::collections::{BTreeMap, HashSet};

use object::Endianness;
use object::elf;
use object::write::elf::{Encoder, Rel, SectionHeader, Sym};

use super::compress::{Compression, compress};
use super::cubin::{self, refuse_compression};
use super::existing::Existing;
use super::image::{Image, ImageSection, string_table_header};
use super::new_cubin::{self, CodePart};
use super::relocatable::{self, UndefinedSymbols, relocation_header};
use super::symbols::{CodeSymbol, CodeSymbolKind, SHN_AMDGPU_LDS, SymbolBinding, SymbolLocation, Visibility};
use crate::emit::section::Section;
use crate::error::{Error, ErrorKind, Named, Result};
use crate::near::nearest;
use crate::target::Target;

/// A new object's contents besides debug information: code, data and their symbols.
///
/// ```
/// use eitri::emit::elf::{CodeContents, CodeSection, ObjectCode};
///
/// // s_endpgm; the descriptor is 64 bytes that the compiler knows how to fill.
/// let mut code = ObjectCode::text(vec![0x00, 0x00, 0x81, 0xbf]).with_function("saxpy", 0, 4);
/// code.sections.push(CodeSection::new(".rodata", CodeContents::ReadOnly, vec![0; 64], 64));
/// assert_eq!(code.sections[0].name, ".text");
/// ```
#[derive(Debug, Clone, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct ObjectCode {
    /// Loaded sections. The first has index 1 in the object, and so in [`SymbolLocation::Section`].
    pub sections: Vec<CodeSection>,
    /// Symbols defined in the sections. The object lists local symbols first and keeps the order otherwise.
    pub symbols: Vec<CodeSymbol>,
    /// Names defined in other objects. Relocations may refer to `symbols`, `externals` and `thread_locals`.
    pub externals: Vec<String>,
    /// Names of thread-local variables that other objects define: symbols of the type `STT_TLS`, to which relocations of
    /// debug sections are offsets in thread-local storage.
    pub thread_locals: Vec<String>,
}

/// A loaded section.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct CodeSection {
    /// Name, with the leading dot.
    pub name: String,
    /// Contents type.
    pub kind: CodeContents,
    /// Contents.
    pub bytes: Vec<u8>,
    /// Alignment in bytes: a power of two.
    pub align: u64,
    /// Relocations for the linker, in the order in which the object lists them.
    pub relocations: Vec<CodeRelocation>,
}

/// What a loaded section contains.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum CodeContents {
    /// Machine code.
    Code,
    /// Read-only data, such as kernel descriptors.
    ReadOnly,
    /// Writable data.
    Data,
    /// Notes, such as kernel metadata.
    Note,
}

/// A relocation in code or data.
///
/// Exhaustive: a literal names all fields.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CodeRelocation {
    /// Bytes from the start of the section.
    pub offset: u64,
    /// Relocation type number: 5 is `R_AMDGPU_REL64`.
    pub kind: u32,
    /// The symbol's name.
    pub symbol: String,
    /// Bytes to add.
    pub addend: i64,
}

impl CodeSection {
    /// A section without relocations.
    pub fn new(name: impl Into<String>, kind: CodeContents, bytes: Vec<u8>, align: u64) -> Self {
        Self { name: name.into(), kind, bytes, align, relocations: Vec::new() }
    }
}

impl ObjectCode {
    /// The index that `.text` has in an object from [`ObjectCode::text`].
    pub const TEXT: u32 = 1;

    /// A single section `.text`, aligned to 256 bytes as AMD requires for kernels.
    pub fn text(bytes: Vec<u8>) -> Self {
        Self { sections: vec![CodeSection::new(".text", CodeContents::Code, bytes, 256)], ..Self::default() }
    }

    /// No code: every symbol that the debug sections refer to is external. Symbols in thread-local storage are not known from
    /// the sections: [`with_thread_locals`](Self::with_thread_locals) states them.
    pub fn elsewhere(sections: &[Section]) -> Self {
        let mut seen = HashSet::new();
        let relocations = sections.iter().flat_map(|section| &section.relocations);
        let symbols = relocations.filter_map(|relocation| relocation.target.symbol());
        let externals = symbols.filter(|name| seen.insert(*name)).map(|name| name.to_string()).collect();
        Self { externals, ..Self::default() }
    }

    /// Makes external symbols thread-local; other names are ignored.
    #[must_use]
    pub fn with_thread_locals(mut self, names: &[&str]) -> Self {
        let is_thread_local = |name: &mut String| names.contains(&name.as_str());
        self.thread_locals.extend(self.externals.extract_if(.., is_thread_local));
        self
    }

    /// Adds a global function with protected visibility to the first section, as LLVM gives kernels: calls within the
    /// code object need no indirection.
    ///
    /// * `offset` – bytes from the start of the section.
    /// * `size` – bytes.
    #[must_use]
    pub fn with_function(mut self, name: impl Into<String>, offset: u64, size: u64) -> Self {
        self.symbols.push(CodeSymbol {
            name: name.into(),
            place: SymbolLocation::Section { index: Self::TEXT, offset },
            size,
            kind: CodeSymbolKind::Function,
            binding: SymbolBinding::Global,
            visibility: Visibility::Protected,
        });
        self
    }
}

/// Generates a relocatable object with code and debug sections.
///
/// The sections are in this order: code, code relocations, `.symtab`, `.strtab`, and then each debug section, followed
/// by its relocations. The same input gives the same bytes.
///
/// For NVIDIA's sm_80, the object is what nvdisasm, cuobjdump and nvlink need of a cubin: each code section is one function,
/// the section's name becomes `.text.` and the function's name, and a note names the processor. The host cannot pass
/// parameters to it.
///
/// # Errors
/// * A name is empty or contains a zero byte, or two sections or two symbols have the same name.
/// * A symbol or a relocation is outside its section, or an alignment is not a power of two.
/// * A relocation refers to a symbol that is neither in `symbols` nor in `externals` nor in `thread_locals`.
/// * The target is NVIDIA's, but not sm_80, or a code section is not exactly one function.
/// * The errors of [`attach`](super::attach) for debug sections and their relocations.
///
/// # Example
///
/// ```
/// # use eitri::emit::elf::{ObjectCode, new_object};
/// # use eitri::build::Builder;
/// # use eitri::model::{BaseEncoding, Loc};
/// # use eitri::target::Target;
/// # use eitri::lower::{Consumer, Policy, lower};
/// # let gpu = Target::named("amdgpu-gfx1030-wave32")?;
/// # let (v3, v4) = (gpu.vgpr(3)?, gpu.vgpr(4)?);
/// # let mut m = Builder::new(gpu);
/// # let unit = m.unit("scale.cl");
/// # let int = m.base_type(unit, "int", BaseEncoding::Signed, 32)?;
/// # let kernel = m.function(unit, "scale")?.code("scale", 0x28).kernel().id();
/// # m.variable(kernel, "x", int)?.live(0x04..0x28, Loc::per_lane(v3))?;
/// # let module = m.finish()?;
/// let written = lower(&module, &Consumer::llvm(), Policy::Strict)?;
/// let code = ObjectCode::text(vec![0; 0x28]).with_function("scale", 0, 0x28);
/// let object = new_object(module.target(), &code, &written.sections)?;
/// // `e_machine` is 224, EM_AMDGPU.
/// assert_eq!(object[18..20], [224, 0]);
/// // The sections refer to the kernel, so that code without it is refused.
/// let code = ObjectCode::text(vec![0; 0x28]);
/// assert!(new_object(module.target(), &code, &written.sections).is_err());
/// # Ok::<(), eitri::Error>(())
/// ```
pub fn new_object(target: &Target, code: &ObjectCode, sections: &[Section]) -> Result<Vec<u8>> {
    new_object_with(target, code, sections, Compression::None)
}

/// Generates a relocatable object as [`new_object`] does, with compressed debug sections.
///
/// # Errors
/// The errors of [`new_object`].
pub fn new_object_with(
    target: &Target,
    code: &ObjectCode,
    sections: &[Section],
    compression: Compression,
) -> Result<Vec<u8>> {
    // Indices are planned first, because sections refer to `.symtab` before it is added.
    let relocated = code.sections.iter().filter(|section| !section.relocations.is_empty()).count();
    let symtab = 1 + code.sections.len() + relocated;
    let strtab = symtab + 1;
    let mut image = Image::new(target, strtab)?;
    let parts: Vec<CodePart<'_>> = code_parts(code).collect();
    if image.is_cubin() {
        new_cubin::check(image.sm(), &parts, &code.symbols)?;
    }
    let encoder = image.encoder();
    let mut names = HashSet::new();
    for section in &code.sections {
        check_name(&section.name)?;
        if !names.insert(&section.name) {
            let error = ErrorKind::DuplicateName { kind: Named::Section, name: section.name.clone() };
            return Err(Error::new(error).in_section(&section.name));
        }
        image.add(code_section(section)?)?;
    }
    let symbols = symbols(code)?;
    // The null symbol comes first. `symbol_table` checks the count.
    let numbers = (1u32..).zip(&symbols).map(|(number, symbol)| (symbol.name.as_str(), number)).collect();
    for (section, index) in code.sections.iter().zip(1u32..) {
        if !section.relocations.is_empty() {
            let table = relocation_table(encoder, section, &numbers)
                .map_err(|error| error.in_section(&section.name))?;
            let name = format!(".rela{}", section.name).into_bytes();
            image.add(ImageSection::new(name, relocation_header(encoder, symtab, index), table))?;
        }
    }
    let (table, strings) = symbol_table(encoder, &symbols)?;
    let locals = symbols.iter().filter(|symbol| symbol.binding == SymbolBinding::Local).count();
    // The null symbol is local too. Section indices are below 65280: see `Image::add`.
    let header = encoder.symtab_section_header(strtab as u32, locals as u32 + 1);
    image.add(ImageSection::new(b".symtab", header, table))?;
    image.add(ImageSection::new(b".strtab", string_table_header(), strings))?;
    if image.is_cubin() {
        new_cubin::complete(&mut image, symtab, &parts, &symbols)?;
        refuse_compression(compression)?;
        cubin::add(&mut image, sections, Existing::Refuse)?;
        return image.write();
    }
    relocatable::add(&mut image, target, sections, UndefinedSymbols::Allow)?;
    compress(&mut image, compression)?;
    image.write()
}

/// Sections with machine code.
fn code_parts(code: &ObjectCode) -> impl Iterator<Item = CodePart<'_>> {
    let sections = code.sections.iter().zip(1..).filter(|(section, _)| section.kind == CodeContents::Code);
    sections.map(|(section, index)| CodePart { name: &section.name, index, size: section.bytes.len() as u64 })
}

fn check_name(name: &str) -> Result<()> {
    if name.is_empty() || name.contains('\0') {
        return Err(Error::bad_argument(format!(
            "section or symbol name {name:?} is empty or contains a zero byte"
        )));
    }
    Ok(())
}

fn code_section(section: &CodeSection) -> Result<ImageSection<'_>> {
    if !section.align.is_power_of_two() {
        let text = format!("alignment is {}; expected a power of two", section.align);
        return Err(Error::bad_argument(text).in_section(&section.name));
    }
    let flags = match section.kind {
        CodeContents::Code => elf::SHF_ALLOC | elf::SHF_EXECINSTR,
        CodeContents::Data => elf::SHF_ALLOC | elf::SHF_WRITE,
        CodeContents::ReadOnly | CodeContents::Note => elf::SHF_ALLOC,
    };
    let header = SectionHeader {
        sh_type: if section.kind == CodeContents::Note { elf::SHT_NOTE } else { elf::SHT_PROGBITS },
        sh_flags: flags,
        sh_addralign: section.align,
        ..SectionHeader::default()
    };
    Ok(ImageSection::new(section.name.as_bytes(), header, &section.bytes[..]))
}

/// Object symbols, without the null symbol. Local ones come first, because `.symtab` requires it, and external ones
/// last.
fn symbols(code: &ObjectCode) -> Result<Vec<CodeSymbol>> {
    let externals = code.externals.iter().map(|name| (name, CodeSymbolKind::None));
    let thread_locals = code.thread_locals.iter().map(|name| (name, CodeSymbolKind::Other(elf::STT_TLS.0)));
    let externals = externals.chain(thread_locals).map(|(name, kind)| CodeSymbol {
        name: name.clone(),
        place: SymbolLocation::Undefined,
        size: 0,
        kind,
        binding: SymbolBinding::Global,
        visibility: Visibility::Default,
    });
    let mut symbols: Vec<CodeSymbol> = code.symbols.iter().cloned().chain(externals).collect();
    symbols.sort_by_key(|symbol| symbol.binding != SymbolBinding::Local);
    let mut names = HashSet::new();
    for symbol in &symbols {
        check_name(&symbol.name)?;
        if !names.insert(&symbol.name) {
            return Err(ErrorKind::DuplicateName { kind: Named::Symbol, name: symbol.name.clone() }.into());
        }
        if symbol.place == SymbolLocation::Undefined && symbol.binding == SymbolBinding::Local {
            return Err(Error::bad_argument(format!(
                "local symbol `{}` is undefined; expected a definition in its object",
                symbol.name
            )));
        }
        if let SymbolLocation::Section { index, offset } = symbol.place {
            let position = usize::try_from(index).ok().and_then(|index| index.checked_sub(1));
            let section = position.and_then(|position| code.sections.get(position));
            let size = section.map(|section| section.bytes.len() as u64);
            let end = offset.checked_add(symbol.size);
            if !matches!((end, size), (Some(end), Some(size)) if end <= size) {
                let text = format!("symbol `{}` is outside section {index}", symbol.name);
                return Err(Error::bad_argument(text));
            }
        }
    }
    Ok(symbols)
}

fn relocation_table(
    encoder: Encoder<Endianness>,
    section: &CodeSection,
    numbers: &BTreeMap<&str, u32>,
) -> Result<Vec<u8>> {
    let mut table = Vec::new();
    for relocation in &section.relocations {
        let name = &relocation.symbol;
        let missing = || {
            let nearest = nearest(name, numbers.keys());
            Error::new(ErrorKind::UnknownName { kind: Named::Symbol, name: name.clone(), nearest })
        };
        if relocation.offset >= section.bytes.len() as u64 {
            let section = crate::error::Count(section.bytes.len(), "byte");
            let text = format!("relocation field is outside its section, which has {section}");
            return Err(Error::bad_argument(text).at_offset(relocation.offset));
        }
        let number = numbers.get(name.as_str()).copied();
        let number = number.ok_or_else(missing).map_err(|error| error.at_offset(relocation.offset))?;
        encoder.relocation(
            &mut table,
            true,
            &Rel {
                r_offset: relocation.offset,
                r_sym: number,
                r_type: elf::RelocationType(relocation.kind),
                r_addend: relocation.addend,
            },
        );
    }
    Ok(table)
}

/// The symbol table and its string table.
fn symbol_table(encoder: Encoder<Endianness>, symbols: &[CodeSymbol]) -> Result<(Vec<u8>, Vec<u8>)> {
    let too_large =
        || Error::from(ErrorKind::TooLarge("symbol table needs numbers of more than 32 bits".into()));
    u32::try_from(symbols.len()).ok().and_then(|count| count.checked_add(1)).ok_or_else(too_large)?;
    let mut table = Vec::new();
    let mut names = vec![0];
    encoder.null_symbol(&mut table);
    for symbol in symbols {
        // The encoder uses `special` only without a section.
        let (section, special, value) = match symbol.place {
            SymbolLocation::Section { index, offset } => (Some(index), elf::SHN_UNDEF, offset),
            SymbolLocation::Address(address) => (None, elf::SHN_ABS, address),
            SymbolLocation::Local { align } => (None, elf::SymbolSection(SHN_AMDGPU_LDS), align),
            SymbolLocation::Undefined => (None, elf::SHN_UNDEF, 0),
            SymbolLocation::Other { index, value } => (None, elf::SymbolSection(index), value),
        };
        let kind = match symbol.kind {
            CodeSymbolKind::None => elf::STT_NOTYPE,
            CodeSymbolKind::Object => elf::STT_OBJECT,
            CodeSymbolKind::Function => elf::STT_FUNC,
            CodeSymbolKind::Other(number) => elf::SymbolType(number),
        };
        let bind = match symbol.binding {
            SymbolBinding::Local => elf::STB_LOCAL,
            SymbolBinding::Global => elf::STB_GLOBAL,
            SymbolBinding::Weak => elf::STB_WEAK,
        };
        let visibility = match symbol.visibility {
            Visibility::Default => elf::STV_DEFAULT,
            Visibility::Internal => elf::STV_INTERNAL,
            Visibility::Hidden => elf::STV_HIDDEN,
            Visibility::Protected => elf::STV_PROTECTED,
        };
        encoder.symbol(
            &mut table,
            &Sym {
                section,
                st_name: u32::try_from(names.len()).map_err(|_| too_large())?,
                st_info: elf::SymbolInfo::new(bind, kind),
                st_other: visibility.into(),
                st_shndx: special,
                st_value: value,
                st_size: symbol.size,
            },
        );
        names.extend_from_slice(symbol.name.as_bytes());
        names.push(0);
    }
    Ok((table, names))
}
