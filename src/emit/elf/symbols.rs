//! Symbols: the names of an object's code and data.

use std::collections::HashMap;
use std::collections::hash_map::Entry;

use object::{Endianness, elf};

use super::bytes::{string_at, u16_at, u32_at, u64_at};
use super::image::{Image, ImageSection};
use crate::error::{Count, Error, ErrorKind, Named, Result};
use crate::near::nearest;

/// Symbol size in bytes.
pub(super) const SYMBOL_SIZE: usize = size_of::<elf::Sym64<Endianness>>();
/// Section index for symbols in AMD's local memory, `SHN_AMDGPU_LDS`.
pub(super) const SHN_AMDGPU_LDS: u16 = elf::SHN_LOPROC;

/// A name for a location in code or data.
///
/// Exhaustive: a literal names all fields.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CodeSymbol {
    /// The name. Reading replaces bytes that are not UTF-8 by U+FFFD.
    pub name: String,
    /// Where the named code or data is.
    pub place: SymbolLocation,
    /// Size in bytes that the named code or data has; 0 if unknown.
    pub size: u64,
    /// Symbol type.
    pub kind: CodeSymbolKind,
    /// Visibility to other objects during linking.
    pub binding: SymbolBinding,
    /// Visibility to other linked objects during loading.
    pub visibility: Visibility,
}

/// Where a symbol's code or data is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum SymbolLocation {
    /// In a section of a relocatable object, or of a cubin.
    Section {
        /// Section index, counted from 1: 0 is the null section.
        index: u32,
        /// Bytes from the start of the section.
        offset: u64,
    },
    /// Address in a linked object; or a number that linking does not change (`SHN_ABS`).
    Address(u64),
    /// In AMD's local memory (LDS), which is allocated when the object is linked.
    Local {
        /// The alignment in bytes.
        align: u64,
    },
    /// In another object.
    Undefined,
    /// Elsewhere: `SHN_COMMON` or another special index.
    Other {
        /// The special section index, `st_shndx`.
        index: u16,
        /// `st_value`.
        value: u64,
    },
}

/// Symbol type.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum CodeSymbolKind {
    /// Unspecified: `STT_NOTYPE`.
    None,
    /// Data.
    Object,
    /// A function: `STT_FUNC`. A kernel is a function; its descriptor, which the loader looks up, is an object.
    Function,
    /// Another type, by its number.
    Other(u8),
}

/// Whether other objects see a symbol during linking.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum SymbolBinding {
    /// Visible in its own object only.
    Local,
    /// Visible in all objects.
    Global,
    /// Visible in all objects; a global definition of the same name takes precedence.
    Weak,
}

/// Whether other linked objects see a symbol during loading.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum Visibility {
    /// Visible and preemptible: another object can replace the definition.
    Default,
    /// Invisible, with the meaning of the processor's supplement.
    Internal,
    /// Invisible.
    Hidden,
    /// Visible; references inside the defining object are never preempted.
    Protected,
}

/// A symbol as encoded in the table.
#[derive(Debug, Clone, Copy)]
pub(super) struct RawSymbol<'i> {
    pub name: &'i [u8],
    pub info: elf::SymbolInfo,
    other: u8,
    pub section: u16,
    pub value: u64,
    pub size: u64,
}

impl RawSymbol<'_> {
    /// Whether the symbol names code or data, rather than a section, a group or a source file.
    fn is_named(&self, image: &Image<'_>) -> bool {
        let section = image.sections.get(usize::from(self.section));
        !self.name.is_empty()
            && !matches!(self.info.st_type(), elf::STT_SECTION | elf::STT_FILE)
            && section.is_none_or(|section| section.header.sh_type != elf::SHT_GROUP)
    }

    pub fn is_defined(&self) -> bool {
        self.section != elf::SHN_UNDEF.0
    }

    fn to_symbol(self, image: &Image<'_>) -> CodeSymbol {
        let place = match self.section {
            0 => SymbolLocation::Undefined,
            SHN_AMDGPU_LDS if image.machine() == elf::EM_AMDGPU => {
                SymbolLocation::Local { align: self.value }
            }
            index if index == elf::SHN_ABS.0 => SymbolLocation::Address(self.value),
            index if index >= elf::SHN_LORESERVE => SymbolLocation::Other { index, value: self.value },
            // Functions of a linked cubin are each at address 0.
            _ if image.is_linked() && !image.is_cubin() => SymbolLocation::Address(self.value),
            index => SymbolLocation::Section { index: index.into(), offset: self.value },
        };
        CodeSymbol {
            name: String::from_utf8_lossy(self.name).into_owned(),
            place,
            size: self.size,
            kind: match self.info.st_type() {
                elf::STT_NOTYPE => CodeSymbolKind::None,
                elf::STT_OBJECT => CodeSymbolKind::Object,
                elf::STT_FUNC => CodeSymbolKind::Function,
                other => CodeSymbolKind::Other(other.0),
            },
            binding: match self.info.st_bind() {
                elf::STB_LOCAL => SymbolBinding::Local,
                elf::STB_WEAK => SymbolBinding::Weak,
                _ => SymbolBinding::Global,
            },
            visibility: match self.other & 3 {
                1 => Visibility::Internal,
                2 => Visibility::Hidden,
                3 => Visibility::Protected,
                _ => Visibility::Default,
            },
        }
    }
}

/// How many symbols a table has, including the null symbol.
pub(super) fn symbol_count(image: &Image<'_>, table: usize) -> Result<u32> {
    let section = &image.sections[table];
    let bytes = section.contents.len();
    let malformed = |what: String| Error::malformed(what).in_section(&section.display_name());
    if section.header.sh_entsize != SYMBOL_SIZE as u64 || !bytes.is_multiple_of(SYMBOL_SIZE) {
        return Err(malformed(format!(
            "symbol table has {} in entries of {}; expected {SYMBOL_SIZE} for each symbol",
            Count(bytes, "byte"),
            section.header.sh_entsize
        )));
    }
    u32::try_from(bytes / SYMBOL_SIZE).map_err(|_| malformed("symbol table has 2^32 symbols or more".into()))
}

/// How many local symbols a table has, and how many symbols in all, both including the null symbol.
pub(super) fn symbol_counts(image: &Image<'_>, table: usize) -> Result<(u32, u32)> {
    let count = symbol_count(image, table)?;
    let table = &image.sections[table];
    // `sh_info` is one more than the last local symbol's index.
    let first = table.header.sh_info;
    if first == 0 || first > count {
        let text = format!("number of local symbols is {first}; expected 1..={count}");
        return Err(Error::malformed(text).in_section(&table.display_name()));
    }
    Ok((first, count))
}

/// All symbols in a table, the null symbol first.
pub(super) fn raw_symbols<'i>(image: &'i Image<'_>, table: usize) -> Result<Vec<RawSymbol<'i>>> {
    symbol_count(image, table)?;
    let section = &image.sections[table];
    let malformed = |what: String| Error::malformed(what).in_section(&section.display_name());
    let names = match image.sections.get(section.header.sh_link as usize) {
        Some(ImageSection { header, contents, .. }) if header.sh_type == elf::SHT_STRTAB => contents,
        _ => return Err(malformed("symbol name table is missing".into())),
    };
    let symbol = |(index, bytes): (usize, &[u8])| {
        let name = u32_at(image.order, bytes, 0);
        // Offset 0 means an unnamed symbol, even in an empty name table.
        let name = if name == 0 { Some(&[][..]) } else { string_at(names, name) };
        Ok(RawSymbol {
            name: name
                .ok_or_else(|| malformed(format!("symbol {index} has a name outside the string table")))?,
            info: elf::SymbolInfo(bytes[4]),
            other: bytes[5],
            section: u16_at(image.order, bytes, 6),
            value: u64_at(image.order, bytes, 8),
            size: u64_at(image.order, bytes, 16),
        })
    };
    section.contents.chunks_exact(SYMBOL_SIZE).enumerate().map(symbol).collect()
}

/// A symbol table, searchable by name.
#[derive(Debug)]
pub(super) struct Lookup<'i> {
    symbols: Vec<RawSymbol<'i>>,
    names: HashMap<&'i [u8], Found>,
}

/// The symbols with one name.
#[derive(Debug, Clone, Copy)]
enum Found {
    Undefined(u32),
    Local(u32),
    /// Several local symbols.
    Locals,
    Global(u32),
}

impl<'i> Lookup<'i> {
    /// Indexes the symbol table in section `table`.
    pub fn new(image: &'i Image<'_>, table: usize) -> Result<Self> {
        let symbols = raw_symbols(image, table)?;
        let mut names = HashMap::with_capacity(symbols.len());
        for (symbol, index) in symbols.iter().zip(0u32..).filter(|(symbol, _)| symbol.is_named(image)) {
            let index = match symbol {
                symbol if !symbol.is_defined() => Found::Undefined(index),
                symbol if symbol.info.st_bind() == elf::STB_LOCAL => Found::Local(index),
                _ => Found::Global(index),
            };
            // A local name may occur several times, and then names no symbol in particular.
            match names.entry(symbol.name) {
                Entry::Vacant(entry) => {
                    entry.insert(index);
                }
                // A global definition takes precedence, as in a linker.
                Entry::Occupied(mut entry) => match (*entry.get(), index) {
                    (Found::Local(_) | Found::Locals, Found::Local(_)) => {
                        entry.insert(Found::Locals);
                    }
                    (Found::Undefined(_), _) | (Found::Local(_) | Found::Locals, Found::Global(_)) => {
                        entry.insert(index);
                    }
                    _ => {}
                },
            }
        }
        // A section's symbol has no name: it is found by the name of the section, unless a symbol or another section has it.
        let mut sections: HashMap<&[u8], Found> = HashMap::new();
        for (symbol, index) in symbols.iter().zip(0u32..) {
            if symbol.info.st_type() == elf::STT_SECTION
                && let Some(section) = image.sections.get(usize::from(symbol.section))
            {
                let entry = sections.entry(&section.name);
                entry.and_modify(|entry| *entry = Found::Locals).or_insert(Found::Local(index));
            }
        }
        for (name, found) in sections {
            names.entry(name).or_insert(found);
        }
        Ok(Self { symbols, names })
    }

    /// The undefined symbol with this name, and its index.
    pub fn undefined(&self, name: &str) -> Option<(u32, RawSymbol<'i>)> {
        match self.names.get(name.as_bytes()) {
            Some(&Found::Undefined(index)) => Some((index, self.symbols[index as usize])),
            _ => None,
        }
    }
}

/// The symbol with this name in the first table that defines it, with its index there.
pub(super) fn defined<'i>(lookups: &[Lookup<'i>], name: &str) -> Result<(u32, RawSymbol<'i>)> {
    // A later table may define the symbol, so an error is returned only after the last one.
    let mut error = None;
    for lookup in lookups {
        match lookup.names.get(name.as_bytes()) {
            // Every index in `names` is an index in `symbols`.
            Some(&(Found::Local(index) | Found::Global(index))) => {
                return Ok((index, lookup.symbols[index as usize]));
            }
            Some(Found::Locals) => {
                let kind = Named::Symbol;
                error = Some(ErrorKind::AmbiguousName { kind, name: name.into(), candidates: Vec::new() });
            }
            Some(Found::Undefined(_)) => {
                let what = || format!("symbol `{name}` is not defined in the object");
                error.get_or_insert_with(|| ErrorKind::BadArgument(what()));
            }
            None => {}
        }
    }
    let error = error.unwrap_or_else(|| {
        let known = lookups.iter().flat_map(|lookup| lookup.names.keys());
        let nearest = nearest(name, known.filter_map(|name| core::str::from_utf8(name).ok()));
        ErrorKind::UnknownName { kind: Named::Symbol, name: name.into(), nearest }
    });
    Err(error.into())
}

/// Object symbols, in the order of its `.symtab`; of its `.dynsym`, without a `.symtab`.
///
/// Symbols of sections, groups and source files are omitted: they do not name code or data. The list is empty for an
/// object without a symbol table.
///
/// # Errors
/// `object` is not an ELF64 object, or malformed, or truncated.
pub fn symbols(object: &[u8]) -> Result<Vec<CodeSymbol>> {
    let image = Image::parse(object)?;
    let Some(table) = image.find(elf::SHT_SYMTAB).or_else(|| image.find(elf::SHT_DYNSYM)) else {
        return Ok(Vec::new());
    };
    let symbols = raw_symbols(&image, table)?;
    let named = symbols.into_iter().filter(|symbol| symbol.is_named(&image));
    Ok(named.map(|symbol| symbol.to_symbol(&image)).collect())
}

/// The symbol with this name that the object defines.
///
/// A global symbol takes precedence over a local one, and `.symtab` over `.dynsym`.
///
/// # Errors
/// The errors of [`symbols`]; also if the object does not have or does not define the symbol, or has several local
/// symbols of the name.
pub fn symbol_named(object: &[u8], name: &str) -> Result<CodeSymbol> {
    let image = Image::parse(object)?;
    let mut lookups = Vec::new();
    for kind in [elf::SHT_SYMTAB, elf::SHT_DYNSYM] {
        lookups.extend(image.find(kind).map(|index| Lookup::new(&image, index)).transpose()?);
    }
    Ok(defined(&lookups, name)?.1.to_symbol(&image))
}

/// Bytes of the code or data that a symbol names, such as the machine code of a function.
///
/// `symbol` comes from the same object. The length of the result is the symbol's size. In a relocatable object the
/// bytes are not relocated.
///
/// # Errors
/// The errors of [`symbols`]; also if the named bytes are not, or not all, in the file.
pub fn contents<'o>(object: &'o [u8], symbol: &CodeSymbol) -> Result<&'o [u8]> {
    let image = Image::parse(object)?;
    // Offset of the symbol within a range in memory or in a section.
    let within = |start: u64, size: u64, at: u64| {
        let offset = at.checked_sub(start)?;
        (offset.checked_add(symbol.size)? <= size).then_some(offset)
    };
    let position = match symbol.place {
        SymbolLocation::Section { index, offset } => {
            let section = usize::try_from(index).ok().and_then(|index| image.sections.get(index));
            section.and_then(|section| {
                within(0, section.contents.len() as u64, offset)?;
                Some(section.header.sh_offset + offset)
            })
        }
        SymbolLocation::Address(address) => image.segments.iter().find_map(|segment| {
            let is_loaded = segment.kind == elf::PT_LOAD.0;
            let offset = within(segment.address, segment.size, address).filter(|_| is_loaded)?;
            Some(segment.offset + offset)
        }),
        SymbolLocation::Local { .. } | SymbolLocation::Undefined | SymbolLocation::Other { .. } => None,
    };
    let Some(offset) = position else {
        let text = format!("bytes of `{}` are not in the object", symbol.name);
        return Err(ErrorKind::BadArgument(text).into());
    };
    image.range(offset, symbol.size, "the bytes of the symbol")
}
