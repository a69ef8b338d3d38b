//! Units and entries: the tree of `.debug_info`, flat. DWARF 5 sections 2 and 7.5.

use std::ops::Range;
use std::sync::{Arc, OnceLock};

use gimli::constants as dw;

use super::Object;
use super::abbrev::{self, Abbreviation};
use super::definitions::Definitions;
use super::dialect;
use super::elf_header::has_16_bit_addresses;
use super::entry::{Entries, Entry};
use super::frame::{FrameSection, Frames};
use super::line::LineProgram;
use super::lists::{Addressed, List, ListEntry, ListFormat, RawList};
use super::options::ReadOptions;
use super::pc_notation::PcNotation;
use super::pcs::functions::Functions;
use super::pcs::sequences::Sequences;
use super::sections::{Base, Sections};
use super::unit::Unit;
use super::units::Reader;
use super::value::Strings;
use crate::error::{At, Error, ErrorKind, Result};
use crate::op::{Dialect, Encoding};

/// Units and entries of `.debug_info`, with access to the other sections.
///
/// Entries are listed in file order, unit after unit. [`Entry`] is a view of an entry; its attributes are checked when
/// the file is read, and decoded each time they are requested. Unit and entry offsets count from the start of
/// `.debug_info`. DWARF 4 puts type units in a separate section, `.debug_types`. They come last here, and their offsets
/// continue after the end of `.debug_info`, so that an offset identifies an entry; [`place`](Self::place) returns the
/// offset in the section. Entries in the supplementary file, to which attributes refer ([`Object::set_supplementary`]),
/// have offsets whose most significant bit is set.
///
/// | task | methods |
/// |---|---|
/// | read a file | [`read`](Self::read), [`read_with`](Self::read_with), [`from_sections`](Self::from_sections) |
/// | read a damaged file | [`ReadOptions::readable`], [`errors`](Self::errors) |
/// | read split units | [`read_split`](Self::read_split), [`read_split_with`](Self::read_split_with), [`SplitFiles`](super::SplitFiles) |
/// | what is at a pc | [`scopes_at`](Self::scopes_at), [`variables_at`](Self::variables_at), [`line_at`](Self::line_at), [`functions_at`](Self::functions_at), [`variable_named`](Self::variable_named) |
/// | units and entries | [`units`](Self::units), [`root`](Self::root), [`entries`](Self::entries), [`entries_of`](Self::entries_of), [`entry_at`](Self::entry_at), [`unit_at`](Self::unit_at), [`type_of_signature`](Self::type_of_signature) |
/// | lists | [`locations`](Self::locations), [`ranges`](Self::ranges), [`raw_locations`](Self::raw_locations), [`raw_ranges`](Self::raw_ranges), [`location_bytes`](Self::location_bytes) |
/// | lines and macros | [`lines`](Self::lines), [`macros`](Self::macros) |
/// | call frame information | [`frames`](Self::frames), [`readable_frames`](Self::readable_frames) |
/// | lookup tables | [`names`](Self::names), [`named`](Self::named) |
/// | addresses | [`address_in`](Self::address_in), [`address`](Self::address), [`knows_addresses`](Self::knows_addresses), [`is_code`](Self::is_code) |
/// | sections and other files | [`sections`](Self::sections), [`place`](Self::place), [`supplementary`](Self::supplementary) |
#[derive(Debug, Clone)]
pub struct Dwarf<'o> {
    pub(super) sections: Sections<'o>,
    pub(super) strings: Strings<'o>,
    pub(super) units: Vec<Unit<'o>>,
    pub(super) nodes: Vec<Node>,
    /// Nodes that other threads read, each part with the index of its first node.
    pub(super) later: Vec<(u32, Vec<Node>)>,
    /// Abbreviation tables; units from the same producer often share a table.
    pub(super) tables: Vec<gimli::Abbreviations>,
    /// Signatures of type units with the unit's index, sorted.
    pub(super) signatures: Vec<(u64, u32)>,
    /// Encoding for sections without units.
    pub(super) encoding: Encoding,
    /// Skeleton units with an id, and the unit's index, sorted.
    pub(super) skeletons: Vec<(u64, u32)>,
    /// Sections of the file with the skeletons, for split units.
    pub(super) main: Option<Sections<'o>>,
    /// Name of the split-unit file, if its skeletons are in a different file.
    pub(super) file: Option<&'o str>,
    /// Units and entries of the supplementary file.
    pub(super) supplementary: Option<Arc<Dwarf<'o>>>,
    /// Offset of the first byte: 0, or [`SUPPLEMENTARY`].
    pub(super) first: u64,
    /// Name of the supplementary file that this is.
    pub(super) name: Option<String>,
    /// Errors of the units and attributes that were left out.
    pub(super) errors: Vec<Error>,
    /// Offsets of the units that were left out, with their errors.
    pub(crate) broken_units: Vec<(u64, Error)>,
    /// Functions by pc; made at the first request.
    pub(super) functions: OnceLock<Functions>,
    /// Sequences of line tables by pc; made at the first request.
    pub(super) sequences: OnceLock<Sequences>,
    /// Types by name; collected at the first request.
    pub(super) definitions: OnceLock<Definitions>,
}

/// Offset at which a supplementary file begins. Every file is shorter than this.
pub const SUPPLEMENTARY: u64 = 1 << 63;

/// Stored data of an entry: the tree only. The rest is decoded from the file on request.
#[derive(Debug, Clone)]
pub(super) struct Node {
    /// Offset in the unit.
    pub(super) offset: u32,
    /// Abbreviation code.
    pub(super) code: u32,
    /// Distance to the parent, as a number of entries; 0 for the first entry in a unit.
    pub(super) after_parent: u32,
    /// Number of descendants.
    pub(super) descendants: u32,
}

impl<'o> Dwarf<'o> {
    /// Reads the units and entries of an object. An object with `.debug_info.dwo` and without `.debug_info` is a
    /// split-unit file, which are read instead; their addresses are then known by index only, unlike with
    /// [`read_split`](Self::read_split).
    ///
    /// Expressions are decoded in the dialect that they have, as [`ReadOptions::dialect`] describes: a file does not name
    /// its dialect. A file without `.debug_info` has no units.
    ///
    /// # Errors
    /// [`Truncated`](ErrorKind::Truncated) or [`Malformed`](ErrorKind::Malformed), with section and offset, where the
    /// tree or the referent of an attribute cannot be read; [`Unsupported`](ErrorKind::Unsupported) for unknown
    /// versions and forms.
    ///
    /// # Example
    ///
    /// ```
    /// # use eitri_dwarf::read::{Dwarf, Object};
    /// # let bytes = include_bytes!("../../data/squares.o");
    /// # let object = Object::read(bytes)?;
    /// let dwarf = Dwarf::read(&object)?;
    /// let [unit] = dwarf.units() else { panic!("one unit") };
    /// assert_eq!((unit.encoding.version, unit.name.as_deref()), (5, Some("squares.c")));
    /// // Offsets count from the start of `.debug_info`. llvm-dwarfdump: next unit at 0x000000a0.
    /// assert_eq!((unit.offset, unit.end), (0, 0xa0));
    /// # Ok::<(), eitri_dwarf::Error>(())
    /// ```
    pub fn read(object: &'o Object<'_>) -> Result<Self> {
        Self::read_with(object, &ReadOptions::new())
    }

    /// Reads an object as [`read`](Self::read) does, in a given dialect, on several threads, or the parts of it that can be
    /// read.
    ///
    /// # Errors
    /// The errors that [`read`](Self::read) returns. With [`readable`](ReadOptions::readable) only
    /// [`Unsupported`](ErrorKind::Unsupported) for a package, in which an index divides every section among the units.
    ///
    /// # Example
    ///
    /// ```
    /// # use eitri_dwarf::read::{Dwarf, Object, ReadOptions, ResolvedValue};
    /// # use gimli::{DW_AT_decl_line, DW_AT_name};
    /// # let mut bytes = include_bytes!("../../data/squares.o").to_vec();
    /// // The name of `count` gets the index 99 of a string, of which there are 12. `.debug_info`
    /// // is at 0x17d of the file.
    /// bytes[0x17d + 0x5f] = 99;
    /// let object = Object::read(&bytes)?;
    /// assert!(Dwarf::read(&object).is_err());
    ///
    /// let dwarf = Dwarf::read_with(&object, &ReadOptions::new().readable())?;
    /// let count = dwarf.entry_at(0x5d).expect("the entry of `count`");
    /// assert_eq!(count.attr(DW_AT_name), Some(ResolvedValue::Unreadable));
    /// println!("{}", count.problem(DW_AT_name).expect("the reason"));
    /// // Everything else is there.
    /// assert_eq!((dwarf.errors().len(), count.number(DW_AT_decl_line)), (1, Some(6)));
    /// # Ok::<(), eitri_dwarf::Error>(())
    /// ```
    pub fn read_with(object: &'o Object<'_>, options: &ReadOptions) -> Result<Self> {
        let mut dwarf = Self::read_in(object, options, options.dialect.unwrap_or(Dialect::Llvm))?;
        if options.dialect.is_none() {
            dialect::recognize(&mut dwarf);
        }
        Ok(dwarf)
    }

    fn read_in(object: &'o Object<'_>, options: &ReadOptions, dialect: Dialect) -> Result<Self> {
        let &ReadOptions { draft, threads, is_readable_only, .. } = options;
        let main = Sections::of(object);
        let split = Sections::of_split(object);
        let is_split = main.debug_info.is_empty() && !split.debug_info.is_empty();
        if is_split {
            refuse_package(object)?;
        }
        let reader = || Reader::new(if is_split { split } else { main }, dialect, draft).with_parts(object);
        let read = if threads < 2 || is_split { reader().read() } else { reader().read_on(threads) };
        match read {
            Err(_) if is_readable_only => {
                let sections = if is_split { split } else { main };
                Reader::new(sections, dialect, draft).around_errors().with_parts(object).read()
            }
            read => read,
        }
    }

    /// Returns the errors of the units and attributes that were left out, in file order; at most 4096. Only
    /// [`ReadOptions::readable`] leaves parts out.
    pub fn errors(&self) -> &[Error] {
        &self.errors
    }

    /// Reads split units: the `.dwo` sections in an object, together with `main`, the file that contains their
    /// skeletons with the addresses, bases and lines. `main` can be the same object. DWARF 5 sections 3.1.2 and 3.1.3,
    /// and GNU's predecessor in DWARF 4. A unit belongs to the skeleton with its [`dwo_id`](Unit::dwo_id); a unit
    /// without skeleton is read alone.
    ///
    /// # Errors
    /// The errors that [`read`](Self::read) returns.
    ///
    /// # Example
    ///
    /// ```no_run
    /// use eitri_dwarf::read::{Dwarf, Object};
    ///
    /// # fn files() -> Result<(), Box<dyn std::error::Error>> {
    /// let (main, dwo) = (std::fs::read("a.out")?, std::fs::read("a.dwo")?);
    /// let (main, dwo) = (Object::read(&main)?, Object::read(&dwo)?);
    /// let skeletons = Dwarf::read(&main)?;
    /// let split = Dwarf::read_split(&skeletons, &dwo)?;
    /// for unit in split.units() {
    ///     // A unit whose id no skeleton has is read alone: its addresses are not known.
    ///     println!("{:?}: {}", unit.name, unit.has_skeleton);
    /// }
    /// # Ok(())
    /// # }
    /// ```
    pub fn read_split(main: &Dwarf<'o>, dwo: &'o Object<'_>) -> Result<Self> {
        Self::read_split_with(main, dwo, &ReadOptions::new())
    }

    /// Reads split units as [`read_split`](Self::read_split) does, or the parts of them that can be read. Dialect and numbers
    /// are those of `main`, and one thread reads.
    ///
    /// # Errors
    /// The errors that [`read_with`](Self::read_with) returns.
    pub fn read_split_with(main: &Dwarf<'o>, dwo: &'o Object<'_>, options: &ReadOptions) -> Result<Self> {
        refuse_package(dwo)?;
        let sections = Sections::of_split(dwo);
        if options.is_readable_only {
            return Self::read_readable_sections(main, sections);
        }
        let Encoding { dialect, draft, .. } = main.encoding;
        Reader::new(sections, dialect, draft).with_main(main).read()
    }

    /// Reads what can be read of split units from their sections.
    pub(super) fn read_readable_sections(main: &Dwarf<'o>, sections: Sections<'o>) -> Result<Self> {
        let Encoding { dialect, draft, .. } = main.encoding;
        Reader::new(sections, dialect, draft).with_main(main).around_errors().read()
    }

    /// Reads the split units of an object without the file with their skeletons.
    pub(super) fn read_split_alone(dwo: &'o Object<'_>) -> Result<Self> {
        refuse_package(dwo)?;
        Self::from_sections(Sections::of_split(dwo), &ReadOptions::new())
    }

    /// Reads sections that are not in an object, on the current thread.
    ///
    /// # Errors
    /// The errors that [`read_with`](Self::read_with) returns.
    pub fn from_sections(sections: Sections<'o>, options: &ReadOptions) -> Result<Self> {
        let &ReadOptions { draft, is_readable_only, .. } = options;
        let reader = Reader::new(sections, options.dialect.unwrap_or(Dialect::Llvm), draft);
        let mut dwarf = if is_readable_only { reader.around_errors().read() } else { reader.read() }?;
        if options.dialect.is_none() {
            dialect::recognize(&mut dwarf);
        }
        Ok(dwarf)
    }

    /// Returns the file's name, if it is a split-unit file whose skeletons are in a different file.
    #[doc(hidden)]
    pub fn split_file(&self) -> Option<&'o str> {
        self.file
    }

    /// Returns the file's name, if it is a supplementary file.
    #[doc(hidden)]
    pub fn supplementary_name(&self) -> Option<&str> {
        self.name.as_deref()
    }

    /// Returns the location for errors in a supplementary file.
    pub(super) fn at(&self) -> At {
        At { supplementary_file: self.name.clone(), ..At::default() }
    }

    /// Returns the sections that were read.
    pub fn sections(&self) -> &Sections<'o> {
        &self.sections
    }

    /// Returns the dialect of the expressions: the dialect given to the reader, or the dialect that they have.
    pub fn dialect(&self) -> Dialect {
        self.encoding.dialect
    }

    /// Returns all units, in file order.
    pub fn units(&self) -> &[Unit<'o>] {
        &self.units
    }

    /// Returns the number of entries.
    pub(super) fn count(&self) -> u32 {
        self.units.last().map_or(0, |unit| unit.contents.entries.end)
    }

    /// Returns the node of the entry with an index.
    #[inline]
    pub(super) fn node(&self, index: u32) -> Option<&Node> {
        self.nodes.get(index as usize).or_else(|| {
            let (start, nodes) = self.later_part(index)?;
            nodes.get((index - start) as usize)
        })
    }

    /// Returns the nodes that another thread read and that contain an index, with the index of their first node. `None`
    /// if this thread read the node.
    fn later_part(&self, index: u32) -> Option<(u32, &[Node])> {
        let (start, nodes) = self.later.iter().rev().find(|part| part.0 <= index)?;
        Some((*start, nodes))
    }

    /// Returns all entries of all units, in file order: parents before children.
    ///
    /// ```
    /// # use eitri_dwarf::read::{Dwarf, Object};
    /// # let bytes = include_bytes!("../../data/squares.o");
    /// # let object = Object::read(bytes)?;
    /// # let dwarf = Dwarf::read(&object)?;
    /// let mut entries = dwarf.entries();
    /// let inlined = entries.find(|entry| entry.tag() == gimli::DW_TAG_inlined_subroutine);
    /// let inlined = inlined.expect("an inlined call");
    /// assert_eq!((inlined.offset(), inlined.name().as_deref()), (0x7e, Some("square")));
    /// # Ok::<(), eitri_dwarf::Error>(())
    /// ```
    pub fn entries(&self) -> impl ExactSizeIterator<Item = Entry<'_, 'o>> + Clone {
        Entries::new(self, 0..self.count(), 0)
    }

    /// Returns the entry with an index among all [entries](Self::entries).
    #[doc(hidden)]
    pub fn entry_with_index(&self, index: usize) -> Option<Entry<'_, 'o>> {
        let index = u32::try_from(index).ok()?;
        let unit = self.units.partition_point(|unit| unit.contents.entries.end <= index);
        Some(Entry { dwarf: self, node: self.node(index)?, index, unit: unit as u32 })
    }

    /// Returns a unit's entries; the first is the unit's own.
    ///
    /// ```
    /// # use eitri_dwarf::read::{Dwarf, Object};
    /// # let bytes = include_bytes!("../../data/squares.o");
    /// # let object = Object::read(bytes)?;
    /// # let dwarf = Dwarf::read(&object)?;
    /// for unit in dwarf.units() {
    ///     let tags = dwarf.entries_of(unit).map(|entry| entry.tag());
    ///     let functions = tags.filter(|&tag| tag == gimli::DW_TAG_subprogram).count();
    ///     println!("{:?}: {functions} functions", unit.name);
    /// }
    /// # Ok::<(), eitri_dwarf::Error>(())
    /// ```
    pub fn entries_of(&self, unit: &Unit<'o>) -> impl Iterator<Item = Entry<'_, 'o>> + Clone {
        let number = self.units.partition_point(|other| other.offset < unit.offset);
        Entries::new(self, unit.contents.entries.clone(), number as u32)
    }

    /// Returns a unit's first entry, which describes the whole unit. `None` if the unit is empty.
    pub fn root(&self, unit: &Unit<'o>) -> Option<Entry<'_, 'o>> {
        self.entries_of(unit).next()
    }

    /// Returns an entry's offset, counted as described at [`Dwarf`], from its offset in this file's `.debug_info`. An
    /// offset that is too large for a file refers to nothing, in particular not to another file.
    #[inline]
    pub(crate) fn offset_in_info(&self, offset: u64) -> u64 {
        self.first + offset.min(SUPPLEMENTARY - 1)
    }

    /// Returns the offset that comes a number of bytes after `start` in the same file, with the limit of
    /// [`offset_in_info`](Self::offset_in_info).
    #[inline]
    pub(super) fn offset_after(start: u64, bytes: u64) -> u64 {
        // `start` is less than this number after the file's first offset, because a file is shorter.
        start.saturating_add(bytes.min(SUPPLEMENTARY / 2))
    }

    /// Returns the file that contains an offset: this file, or the supplementary file.
    #[inline]
    fn file_at(&self, offset: u64) -> &Self {
        self.supplementary.as_deref().filter(|_| offset >= SUPPLEMENTARY).unwrap_or(self)
    }

    /// Returns the supplementary file, to which attributes refer: see [`Object::set_supplementary`].
    pub fn supplementary(&self) -> Option<&Dwarf<'o>> {
        self.supplementary.as_deref()
    }

    /// Returns the entry at an offset, counted as described at [`Dwarf`].
    ///
    /// ```
    /// # use eitri_dwarf::read::{Dwarf, Object};
    /// # let bytes = include_bytes!("../../data/squares.o");
    /// # let object = Object::read(bytes)?;
    /// # let dwarf = Dwarf::read(&object)?;
    /// assert_eq!(dwarf.entry_at(0x5d).expect("a parameter").name().as_deref(), Some("count"));
    /// // No entry begins here.
    /// assert!(dwarf.entry_at(0x5e).is_none());
    /// # Ok::<(), eitri_dwarf::Error>(())
    /// ```
    pub fn entry_at(&self, offset: u64) -> Option<Entry<'_, 'o>> {
        self.file_at(offset).own_entry_at(offset)
    }

    fn own_entry_at(&self, offset: u64) -> Option<Entry<'_, 'o>> {
        let number = self.unit_number(offset)?;
        let unit = &self.units[number];
        let Range { start: first, end } = unit.contents.entries;
        let offset = u32::try_from(offset.checked_sub(unit.offset)?).ok()?;
        let (start, nodes) = self.later_part(first).unwrap_or((0, &self.nodes));
        let nodes = nodes.get((first - start) as usize..(end - start) as usize)?;
        let index = nodes.binary_search_by_key(&offset, |node| node.offset).ok()?;
        Some(Entry { dwarf: self, node: &nodes[index], index: first + index as u32, unit: number as u32 })
    }

    /// Returns the entry of the type with a signature (`DW_FORM_ref_sig8`), if its unit was read.
    pub fn type_of_signature(&self, signature: u64) -> Option<Entry<'_, 'o>> {
        match self.signatures.binary_search_by_key(&signature, |&(signature, _)| signature) {
            Ok(at) => self.entry_at(self.units[self.signatures[at].1 as usize].type_offset?),
            Err(_) => self.supplementary()?.type_of_signature(signature),
        }
    }

    /// Returns the first skeleton unit with an id.
    pub(super) fn skeleton(&self, id: u64) -> Option<&Unit<'o>> {
        let number = self.skeletons.binary_search_by_key(&id, |&(id, _)| id).ok()?;
        self.units.get(self.skeletons[number].1 as usize)
    }

    /// Returns the unit whose header or entries contain an offset, counted as described at [`Dwarf`].
    pub fn unit_at(&self, offset: u64) -> Option<&Unit<'o>> {
        let file = self.file_at(offset);
        file.unit_number(offset).map(|number| &file.units[number])
    }

    fn unit_number(&self, offset: u64) -> Option<usize> {
        let number = self.units.partition_point(|unit| unit.offset <= offset).checked_sub(1)?;
        (offset < self.units[number].end).then_some(number)
    }

    /// Returns the offset of a unit's abbreviation table in `.debug_abbrev`. Units can share a table.
    pub fn abbreviations_offset(&self, unit: &Unit<'_>) -> u64 {
        unit.contents.table_offset
    }

    /// Returns a unit's abbreviations, in the order of the table. DWARF 5 section 7.5.3.
    ///
    /// # Errors
    /// [`Truncated`](crate::error::ErrorKind::Truncated) or [`Malformed`](crate::error::ErrorKind::Malformed), with the
    /// offset.
    pub fn abbreviations(&self, unit: &Unit<'_>) -> Result<Vec<Abbreviation>> {
        let sections = self.file_at(unit.offset).sections;
        let from = sections.cursor(".debug_abbrev", sections.debug_abbrev);
        abbrev::read_table(from.at(unit.contents.table_offset, "the abbreviations")?)
    }

    /// Returns the section that contains an offset, `.debug_info` or `.debug_types` in this file or in the
    /// supplementary file, and the offset in that section.
    pub fn place(&self, offset: u64) -> (&'static str, u64) {
        self.file_at(offset).own_place(offset)
    }

    fn own_place(&self, offset: u64) -> (&'static str, u64) {
        let offset = offset.saturating_sub(self.first);
        match offset.checked_sub(self.sections.debug_info.len() as u64) {
            Some(offset) if !self.sections.debug_types.is_empty() => {
                (self.sections.name(".debug_types"), offset)
            }
            _ => (self.sections.name(".debug_info"), offset),
        }
    }

    /// Whether addresses by index can be resolved in this unit.
    pub fn knows_addresses(&self, unit: &Unit<'o>) -> bool {
        !unit.is_split() || unit.has_skeleton
    }

    /// Whether a section with code has an address. A linker moves the functions that it discards to 0, 1, or the largest
    /// address, without their code. In a file without code, debug sections alone, all addresses count.
    pub fn is_code(&self, address: u64) -> bool {
        let code = self.main.as_ref().unwrap_or(&self.sections).code;
        code.is_empty() || code_section(code, address).is_some()
    }

    /// Returns how pcs are written.
    pub fn pc_notation(&self) -> PcNotation<'o> {
        self.main.as_ref().unwrap_or(&self.sections).pcs
    }

    /// Whether a section is known to have code at an address.
    pub(crate) fn has_code(&self, address: u64) -> bool {
        code_section(self.main.as_ref().unwrap_or(&self.sections).code, address).is_some()
    }

    /// Returns the sections of the skeleton's file for a split unit, or else the unit's own.
    pub(super) fn main_sections(&self, unit: &Unit<'o>) -> &Sections<'o> {
        self.main.as_ref().filter(|_| unit.has_skeleton).unwrap_or(&self.sections)
    }

    /// Returns address `index` in the unit's `.debug_addr` table: the operand of `addrx`. Indices count from 0.
    ///
    /// # Errors
    /// [`Malformed`](ErrorKind::Malformed) or [`Truncated`](ErrorKind::Truncated) if there is no such address;
    /// [`Unsupported`](ErrorKind::Unsupported) for a split unit without its skeleton.
    pub fn address(&self, unit: &Unit<'o>, index: u64) -> Result<u64> {
        if !self.knows_addresses(unit) {
            let text = format!("address {index} of the split unit is in the file of its skeleton unit");
            return Err(Error::new(ErrorKind::Unsupported(text)));
        }
        self.main_sections(unit)
            .indexed_address(Base { offset: unit.bases.addr, encoding: unit.encoding }, index)
    }

    /// Returns the field of `.debug_addr` with the address `index`, which can have a relocation.
    #[doc(hidden)]
    pub fn address_field(&self, unit: &Unit<'o>, index: u64) -> Option<&'o [u8]> {
        let bytes = usize::from(unit.encoding.address_bytes);
        let start = usize::try_from(unit.bases.addr?).ok()?;
        let start = usize::try_from(index).ok()?.checked_mul(bytes)?.checked_add(start)?;
        self.main_sections(unit).debug_addr.get(start..start.checked_add(bytes)?)
    }

    /// Returns the entries of the location list at an offset, with resolved addresses.
    ///
    /// # Errors
    /// [`Malformed`](ErrorKind::Malformed) if the offset is outside the section.
    ///
    /// # Example
    ///
    /// ```
    /// # use eitri_dwarf::op::text;
    /// # use eitri_dwarf::read::{Dwarf, Object};
    /// # let bytes = include_bytes!("../../data/squares.o");
    /// # let object = Object::read(bytes)?;
    /// # let dwarf = Dwarf::read(&object)?;
    /// // The list of `count` is at 0x18 of `.debug_loclists`. Its addresses are resolved.
    /// let unit = &dwarf.units()[0];
    /// let target = object.target(None);
    /// for entry in dwarf.locations(unit, 0x18)? {
    ///     let entry = entry?;
    ///     let expr = text::print(entry.expr, unit.encoding, target.as_ref());
    ///     println!("{:#x}..{:#x}: {expr}", entry.start, entry.end);
    /// }
    /// # Ok::<(), eitri_dwarf::Error>(())
    /// ```
    pub fn locations(&self, unit: &Unit<'o>, offset: u64) -> Result<List<'o>> {
        unit.contents.check_base()?;
        Ok(List::new(self.raw_locations(unit, offset)?, self, unit))
    }

    /// Appends the entries of the location list at an offset, with resolved addresses.
    #[doc(hidden)]
    pub fn read_locations(&self, unit: &Unit<'o>, offset: u64, into: &mut Vec<ListEntry<'o>>) -> Result<()> {
        unit.contents.check_base()?;
        let list = Addressed::new(self.raw_locations(unit, offset)?, unit.low_pc.unwrap_or(0));
        list.append(into, |index| self.address(unit, index))
    }

    /// Returns the entries of the location list at an offset, as encoded.
    ///
    /// # Errors
    /// The errors that [`locations`](Self::locations) returns.
    pub fn raw_locations(&self, unit: &Unit<'o>, offset: u64) -> Result<RawList<'o>> {
        RawList::new(&self.sections, unit.location_format(), unit.encoding, offset)
    }

    /// Returns the bytes from the start of the location list at an offset to the section's end. `None` if the offset is
    /// outside the section, or the relocation for an address in the list cannot be applied.
    pub fn location_bytes(&self, unit: &Unit<'o>, offset: u64) -> Option<(ListFormat, &'o [u8])> {
        let format = unit.location_format();
        let bytes = format.bytes(&self.sections).get(usize::try_from(offset).ok()?..)?;
        let is_readable =
            || self.locations(unit, offset).is_ok_and(|mut list| list.all(|entry| entry.is_ok()));
        (self.sections.unreadable.is_empty() || is_readable()).then_some((format, bytes))
    }

    /// Returns the entries of the range list at an offset, with resolved addresses.
    ///
    /// # Errors
    /// The errors that [`locations`](Self::locations) returns.
    pub fn ranges(&self, unit: &Unit<'o>, offset: u64) -> Result<List<'o>> {
        unit.contents.check_base()?;
        Ok(List::new(self.raw_ranges(unit, offset)?, self, unit))
    }

    /// Returns the entries of the range list at an offset, as encoded.
    ///
    /// # Errors
    /// The errors that [`locations`](Self::locations) returns; [`Unsupported`](ErrorKind::Unsupported) for a split unit
    /// before DWARF 5 without its skeleton.
    pub fn raw_ranges(&self, unit: &Unit<'o>, offset: u64) -> Result<RawList<'o>> {
        if unit.encoding.version >= 5 {
            return RawList::new(&self.sections, ListFormat::Rnglists, unit.encoding, offset);
        }
        // Range lists of split units are in the skeleton's file, which has the relocations.
        if !self.knows_addresses(unit) {
            let text = "the range lists of the split unit are in the file of its skeleton unit";
            return Err(Error::new(ErrorKind::Unsupported(text.into())));
        }
        RawList::new(self.main_sections(unit), ListFormat::Ranges, unit.encoding, offset)
    }

    /// Returns the call frame information in a section. If the section does not encode the address size, the units'
    /// address size is used.
    ///
    /// # Errors
    /// The errors that [`Frames::read`] returns.
    ///
    /// # Example
    ///
    /// ```
    /// # use eitri_dwarf::op::Reg;
    /// # use eitri_dwarf::read::{CfaRule, Dwarf, FrameSection, Object, RegisterRule};
    /// # let bytes = include_bytes!("../../data/squares.o");
    /// # let object = Object::read(bytes)?;
    /// # let dwarf = Dwarf::read(&object)?;
    /// let frames = dwarf.frames(FrameSection::Debug)?;
    /// let pc = dwarf.address_in("squares", 0x13)?;
    /// // The CFA is rsp (7) plus 8. The return address, in column 16 on x86-64, is 8 bytes below
    /// // the CFA.
    /// let row = frames.row_at(pc)?.expect("a rule at this pc");
    /// assert_eq!(row.cfa, CfaRule::Register { register: Reg(7), offset: 8, space: None });
    /// assert_eq!(row.rule(Reg(16)), Some(RegisterRule::Offset(-8)));
    /// # Ok::<(), eitri_dwarf::Error>(())
    /// ```
    pub fn frames(&self, section: FrameSection) -> Result<Frames<'o>> {
        Frames::read(&self.sections, section, self.frame_encoding())
    }

    /// Returns the call frame information that can be read, as [`frames`](Self::frames) does, with the
    /// [errors](Frames::errors) for the rest.
    pub fn readable_frames(&self, section: FrameSection) -> Frames<'o> {
        Frames::read_readable(&self.sections, section, self.frame_encoding())
    }

    /// Returns the call frame information that can be read for the code; for split units, it is in the file with the
    /// skeletons.
    #[doc(hidden)]
    pub fn frames_of_code(&self, section: FrameSection) -> Frames<'o> {
        let sections = self.main.as_ref().unwrap_or(&self.sections);
        Frames::read_readable(sections, section, self.frame_encoding())
    }

    /// Returns the encoding of call frame information, apart from the address size that a version 4 entry has: addresses of
    /// the file's class, whatever a unit says. Files for machines with 16-bit addresses have the class of 32 bits.
    fn frame_encoding(&self) -> Encoding {
        let has_class = self.sections.address_bytes != 0 && !has_16_bit_addresses(self.sections.machine);
        let address_bytes = match self.units.first() {
            Some(unit) if !has_class => unit.encoding.address_bytes,
            _ => self.sections.address_bytes_or_8(),
        };
        Encoding { address_bytes, ..self.encoding }
    }

    /// Returns a unit's line program, if any; for a split unit, the skeleton's line program. The unit can be in the
    /// supplementary file, which has line programs, too.
    ///
    /// # Errors
    /// The errors that [`LineProgram::read`] returns.
    ///
    /// # Example
    ///
    /// ```
    /// # use eitri_dwarf::read::{Dwarf, Object};
    /// # let bytes = include_bytes!("../../data/squares.o");
    /// # let object = Object::read(bytes)?;
    /// # let dwarf = Dwarf::read(&object)?;
    /// let unit = &dwarf.units()[0];
    /// let program = dwarf.lines(unit)?.expect("a line program");
    /// // In DWARF 5, file 0 is the unit's source.
    /// let path = program.full_path(0, unit.comp_dir.as_deref());
    /// assert_eq!(path.as_deref(), Some("/src/squares.c"));
    /// # Ok::<(), eitri_dwarf::Error>(())
    /// ```
    pub fn lines(&self, unit: &Unit<'o>) -> Result<Option<LineProgram<'o>>> {
        let strings = Base { offset: unit.bases.str_offsets, encoding: unit.encoding };
        let file = self.file_at(unit.offset);
        let sections = match unit.kind {
            dw::DW_UT_split_compile => file.main_sections(unit),
            _ => &file.sections,
        };
        unit.stmt_list.map(|offset| LineProgram::read_with(sections, offset, strings)).transpose()
    }
}

/// Returns the address range that contains an address. `code` is sorted by start.
pub fn code_section(code: &[Range<u64>], address: u64) -> Option<&Range<u64>> {
    let count = code.partition_point(|range| range.start <= address);
    code.get(count.checked_sub(1)?).filter(|range| range.contains(&address))
}

/// Refuses a package, in which an index divides every section among the units. DWARF 5 section 7.3.5.
fn refuse_package(dwo: &Object<'_>) -> Result<()> {
    let index = [".debug_cu_index", ".debug_tu_index"].into_iter().find(|name| dwo.section(name).is_some());
    match index {
        Some(index) => {
            let text = "file is a package of split units; expected a single split-unit file (`lint`, `stats` and `report` read packages)";
            Err(Error::new(ErrorKind::Unsupported(text.into())).in_section(index))
        }
        None => Ok(()),
    }
}
