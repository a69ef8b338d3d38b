//! Reader of units: headers, abbreviations and entries are decoded by `gimli`, and values are resolved here.

use std::sync::{Arc, OnceLock};

use gimli::{
    AttributeSpecification, DebugAbbrev, DebugInfo, DebugTypes, Reader as _, UnitOffset, constants as dw,
};
use hashbrown::HashMap;

use super::abbrev;
use super::abbreviations::ByAbbreviation;
use super::cursor::is_address_size;
use super::dwarf::{Dwarf, Node, SUPPLEMENTARY};
use super::elf::Object;
use super::errors::Errors;
use super::sections::Sections;
use super::shape::{Shape, Step, is_checked};
use super::unit::{Unit, new_unit};
use super::unreadable::{of_section, within};
use super::value::{ADDRX_OFFSET, Slice, Strings, resolve};
use crate::error::{At, Count, Error, ErrorKind, Result};
use crate::op::{Dialect, DraftCodes, Encoding};

/// An attribute with an unresolved value.
pub(super) type Raw<'o> = gimli::read::Attribute<Slice<'o>>;

pub(super) struct Reader<'m, 'o> {
    pub(super) dwarf: Dwarf<'o>,
    pub(super) dialect: Dialect,
    pub(super) draft: DraftCodes,
    /// The file with the skeletons.
    main: Option<&'m Dwarf<'o>>,
    /// Id of the file's split compilation unit, if there is exactly one: type units belong to it.
    dwo_id: Option<u64>,
    /// Errors of the units read so far.
    pub(super) before: Vec<Error>,
    /// Indices of the abbreviation tables, by offset.
    tables: HashMap<u64, u32>,
    /// Total size of the abbreviation tables in bytes.
    abbreviations: u64,
    /// Number of attributes.
    attributes: usize,
    /// Maximum number of attributes. Attributes can take no bytes in `.debug_info`, so a small file could otherwise
    /// exhaust the reader.
    most_attributes: usize,
    /// Indices of the unit's open entries; empty between units.
    open: Vec<u32>,
    /// Abbreviations with the shapes of their entries; `None` for an unknown code.
    shapes: ByAbbreviation<Option<Known>>,
    /// Errors of the parts that are left out; `None` if the first error ends the reading.
    errors: Option<Errors>,
    /// Errors of abbreviation tables, by offset.
    broken: HashMap<u64, Error>,
}

/// Facts of an abbreviation.
struct Known {
    has_children: bool,
    /// Number of attributes.
    attributes: usize,
    /// The attributes that are checked.
    shape: Shape,
}

impl<'m, 'o> Reader<'m, 'o> {
    pub(super) fn new(sections: Sections<'o>, dialect: Dialect, draft: DraftCodes) -> Self {
        let bytes = sections.debug_info.len().saturating_add(sections.debug_types.len());
        let dwarf = Dwarf {
            sections,
            strings: Strings::new(&sections),
            units: Vec::new(),
            nodes: Vec::new(),
            later: Vec::new(),
            tables: Vec::new(),
            signatures: Vec::new(),
            encoding: Encoding {
                address_bytes: sections.address_bytes_or_8(),
                big_endian: sections.big_endian,
                draft,
                ..Encoding::new(8, dialect)
            },
            skeletons: Vec::new(),
            main: None,
            file: None,
            supplementary: None,
            first: 0,
            name: None,
            errors: Vec::new(),
            broken_units: Vec::new(),
            functions: OnceLock::new(),
            sequences: OnceLock::new(),
            definitions: OnceLock::new(),
        };
        Self {
            dialect,
            draft,
            main: None,
            dwo_id: None,
            before: Vec::new(),
            tables: HashMap::new(),
            abbreviations: 0,
            attributes: 0,
            most_attributes: bytes.saturating_mul(16).saturating_add(0x10000),
            open: Vec::new(),
            shapes: ByAbbreviation::default(),
            errors: None,
            broken: HashMap::new(),
            dwarf,
        }
    }

    pub(super) fn with_main(mut self, main: &'m Dwarf<'o>) -> Self {
        self.dwarf.main = Some(main.sections);
        self.main = Some(main);
        self
    }

    /// Adds what was read with the object: its errors, and the supplementary file to which its attributes refer.
    pub(super) fn with_parts(mut self, object: &'o Object<'_>) -> Self {
        self.before.extend_from_slice(object.errors());
        let Some(other) = object.supplementary() else { return self };
        let mut reader = Reader::new(Sections::of(other), self.dialect, self.draft).around_errors();
        reader.before.extend_from_slice(other.errors());
        (reader.dwarf.first, reader.dwarf.name) = (SUPPLEMENTARY, object.supplementary_name());
        // Leaves out what it cannot read.
        let Ok(read) = reader.read() else { return self };
        self.before.extend(read.errors.iter().map(|error| error.clone().or_at(read.at())));
        self.dwarf.supplementary = Some(Arc::new(read));
        self
    }

    /// Leaves out the parts that cannot be read.
    pub(super) fn around_errors(self) -> Self {
        Self { errors: Some(Errors::default()), ..self }
    }

    pub(super) fn read(mut self) -> Result<Dwarf<'o>> {
        let sections = self.dwarf.sections;
        let info = DebugInfo::from(sections.slice(sections.debug_info));
        if sections.is_split {
            self.dwo_id = only_id(info.units());
        }
        let first = self.dwarf.first;
        self.section(".debug_info", sections.debug_info, first, |bytes| {
            DebugInfo::from(bytes).units().next()
        })?;
        // Before DWARF 5 the id is not in the header.
        if let ([unit], None) = (&self.dwarf.units[..], self.dwo_id) {
            self.dwo_id = unit.dwo_id;
        }
        let before = first + sections.debug_info.len() as u64;
        self.section(".debug_types", sections.debug_types, before, |bytes| {
            DebugTypes::from(bytes).units().next()
        })?;
        self.finish()
    }

    /// Returns the units and entries with the errors of the parts that were left out.
    pub(super) fn finish(mut self) -> Result<Dwarf<'o>> {
        match self.errors {
            Some(errors) => self.before.extend(errors.finish()),
            None => {
                if let Some(first) = self.before.first() {
                    return Err(first.clone());
                }
            }
        }
        self.dwarf.errors = self.before;
        Ok(self.dwarf.with_signatures())
    }

    /// Reads a section's units. Its first byte has the offset `first`.
    fn section(
        &mut self,
        name: &'static str,
        bytes: &'o [u8],
        first: u64,
        header: impl Fn(Slice<'o>) -> gimli::Result<Option<gimli::UnitHeader<Slice<'o>>>>,
    ) -> Result<()> {
        const WHAT: &str = "a unit header";
        let sections = self.dwarf.sections;
        let mut rest = bytes;
        // Zero bytes at the end are the padding of a linker.
        let padding = bytes.iter().rev().take_while(|byte| **byte == 0).count();
        while rest.len() > padding {
            let start = first + (bytes.len() - rest.len()) as u64;
            let mut from = sections.cursor(name, bytes).at(start - first, WHAT)?;
            let length = from.initial_length(WHAT).map(|(length, _)| length);
            let is_unknown = !sections.unreadable.is_empty() && length.is_err();
            let read = match (is_unknown, header(sections.slice(rest))) {
                // Its number is not the unit's length.
                (true, _) => length.clone(),
                (false, Ok(Some(header))) => self.unit(header, rest, start),
                (false, Ok(None)) => return Ok(()),
                (false, Err(error)) => Err(self.broken(error, WHAT, start)),
            };
            let Err(error) = read else {
                rest = rest.get((read? - start) as usize..).unwrap_or_default();
                continue;
            };
            let Some(errors) = &mut self.errors else { return Err(error) };
            self.dwarf.broken_units.push((start, error.clone()));
            if !sections.has_error(&error) {
                errors.add::<()>(error);
            }
            // The next unit begins where this unit's length says, whatever the unit contains.
            let is_empty = length == Ok(0);
            let Ok(_) = length.and_then(|length| from.take(length, WHAT)) else { return Ok(()) };
            rest = from.rest();
            // Zeros between units are a single error.
            while let Some(zeros) = rest.strip_prefix(&[0; 4]).filter(|_| is_empty) {
                rest = zeros;
            }
        }
        Ok(())
    }

    /// Reads the unit at `start`, and returns the offset after it.
    pub(super) fn unit(
        &mut self,
        header: gimli::UnitHeader<Slice<'o>>,
        bytes: &'o [u8],
        start: u64,
    ) -> Result<u64> {
        let sections = self.dwarf.sections;
        let bytes = sections.slice(bytes.get(..header.length_including_self()).unwrap_or(bytes));
        let encoding = Encoding {
            address_bytes: header.address_size(),
            offset_bytes: header.format().word_size(),
            version: header.version(),
            big_endian: sections.big_endian,
            dialect: self.dialect,
            draft: self.draft,
        };
        if !is_address_size(encoding.address_bytes) {
            let text = format!("invalid address size, {}", Count(encoding.address_bytes, "byte"));
            return Err(self.place(Error::malformed(text), start));
        }
        let number = self.table(&header)?;
        let mut unit = new_unit(&header, bytes, start, encoding, sections.is_split);
        if !sections.unreadable.is_empty() {
            let (section, offset) = self.dwarf.place(start);
            unit.contents.start = offset;
            let fields = of_section(sections.unreadable, section);
            unit.contents.unreadable = within(fields, offset..offset + bytes.len() as u64);
            let mut entries = bytes;
            entries.skip(header.root_offset().0).map_err(|error| self.broken(error, "an entry", start))?;
            if let Some(field) = unit.contents.unreadable(&bytes, &entries) {
                return Err(field.error.clone());
            }
        }
        (unit.contents.entries.start, unit.contents.table) = (self.next_index(start)?, number);
        // The table is borrowed while entries are added to `dwarf`.
        let table = core::mem::take(&mut self.dwarf.tables[number as usize]);
        let read = self.entries(&mut unit, &header, &table);
        self.dwarf.tables[number as usize] = table;
        if let Err(error) = read {
            self.dwarf.nodes.truncate(unit.contents.entries.start as usize);
            return Err(error);
        }
        let end = unit.end;
        self.dwarf.units.push(unit);
        Ok(end)
    }

    /// Returns the index of a unit's abbreviation table, which is read once.
    fn table(&mut self, header: &gimli::UnitHeader<Slice<'o>>) -> Result<u32> {
        let start = header.debug_abbrev_offset().0 as u64;
        if let Some(&known) = self.tables.get(&start) {
            return Ok(known);
        }
        if let Some(error) = self.broken.get(&start) {
            return Err(error.clone());
        }
        let read = self.new_table(header, start);
        if let (Err(error), Some(_)) = (&read, &self.errors) {
            self.broken.insert(start, error.clone());
        }
        read
    }

    /// Reads the abbreviation table at an offset.
    fn new_table(&mut self, header: &gimli::UnitHeader<Slice<'o>>, at: u64) -> Result<u32> {
        let sections = self.dwarf.sections;
        let abbrevs = DebugAbbrev::from(sections.slice(sections.debug_abbrev));
        let read = header
            .abbreviations(&abbrevs)
            .map_err(|error| broken(error, "the abbreviations", sections.name(".debug_abbrev"), at))?;
        let from = sections.cursor(".debug_abbrev", sections.debug_abbrev);
        let end = abbrev::find_end(from.at(at, "the abbreviations")?)?;
        // Tables can overlap, so a small file could otherwise exhaust the reader.
        let most = (sections.debug_abbrev.len() as u64).saturating_mul(2).saturating_add(0x10000);
        self.abbreviations = self.abbreviations.saturating_add(end - at);
        if self.abbreviations > most {
            let text = format!(
                "the abbreviations of the units overlap: {bytes}",
                bytes = Count(self.abbreviations, "byte")
            );
            let error = Error::new(ErrorKind::TooLarge(text));
            return Err(error.in_section(sections.name(".debug_abbrev")).at_offset(at));
        }
        // There are fewer tables than units, and fewer units than bytes in 4 GiB.
        let number = self.dwarf.tables.len() as u32;
        self.dwarf.tables.push(read);
        self.tables.insert(at, number);
        Ok(number)
    }

    /// Reads the tree of a unit's entries, and checks the attributes.
    fn entries(
        &mut self,
        unit: &mut Unit<'o>,
        header: &gimli::UnitHeader<Slice<'o>>,
        table: &gimli::Abbreviations,
    ) -> Result<()> {
        let start = unit.offset;
        let first = unit.contents.entries.start;
        let mut rest = unit.contents.bytes;
        rest.skip(header.root_offset().0).map_err(|error| self.broken(error, "an entry", start))?;
        // Shapes are borrowed while entries are added to `dwarf`.
        let mut shapes = core::mem::take(&mut self.shapes);
        self.open.clear();
        while !rest.is_empty() {
            let position = unit.contents.bytes.len() - rest.len();
            let offset = start + position as u64;
            let code = rest.read_uleb128().map_err(|error| self.broken(error, "an entry", offset))?;
            if code == 0 {
                if let Some(parent) = self.open.pop() {
                    self.close(parent, self.next_index(offset)?);
                }
                continue;
            }
            let known = shapes.of_code(unit, code, || {
                let (abbreviation, is_checked) =
                    (table.get(code)?, |spec: &AttributeSpecification| is_checked(spec.form()));
                Some(Known {
                    has_children: abbreviation.has_children(),
                    attributes: abbreviation.attributes().len(),
                    shape: Shape::new(abbreviation.attributes(), unit.contents.forms, is_checked),
                })
            });
            let Some(Known { has_children, attributes, shape }) = &**known else {
                let error = gimli::Error::InvalidAbbreviationCode(code);
                return Err(self.broken(error, "an entry", offset));
            };
            let index = self.next_index(offset)?;
            if index == first {
                let abbreviation = table.get(code);
                abbreviation
                    .map_or(Ok(()), |abbreviation| self.root(unit, rest, abbreviation, table))
                    .map_err(|error| self.broken(error, "an entry", offset))?;
            }
            self.count_attributes(*attributes, offset)?;
            let (Ok(within), Ok(code)) = (u32::try_from(position), u32::try_from(code)) else {
                let text = "a unit has more than 4294967295 bytes or abbreviations".into();
                return Err(self.place(Error::new(ErrorKind::TooLarge(text)), offset));
            };
            for Step { skipped, spec, is_wanted } in &shape.read {
                let skip = rest.skip(*skipped);
                let before = rest;
                let read = skip.and_then(|()| read(&mut rest, unit.contents.forms, table, *spec));
                let read = read.map_err(|error| self.broken(error, "an entry", offset))?;
                // The object has the error for the relocation.
                if !unit.contents.unreadable.is_empty() && unit.contents.unreadable(&before, &rest).is_some()
                {
                    continue;
                }
                if *is_wanted && let Err(error) = resolve(&self.dwarf, unit, *spec, read.raw_value()) {
                    let unit = unit.name.as_deref().map(String::from);
                    let error = self.place(error, offset).or_at(At { unit, ..At::default() });
                    match &mut self.errors {
                        Some(_) if self.dwarf.sections.has_error(&error) => {}
                        Some(errors) => errors.add::<()>(error),
                        None => return Err(error),
                    }
                }
            }
            rest.skip(shape.rest).map_err(|error| self.broken(error, "an entry", offset))?;
            let after_parent = self.open.last().map_or(0, |parent| index - parent);
            self.dwarf.nodes.push(Node { offset: within, code, after_parent, descendants: 0 });
            if *has_children {
                self.open.push(index);
            }
        }
        self.shapes = shapes;
        unit.contents.entries.end = self.next_index(unit.end)?;
        unit.contents.unclosed = self.open.len();
        while let Some(parent) = self.open.pop() {
            self.close(parent, unit.contents.entries.end);
        }
        Ok(())
    }

    /// Ends the descendants of an entry before an index.
    fn close(&mut self, entry: u32, end: u32) {
        self.dwarf.nodes[entry as usize].descendants = end - entry - 1;
    }

    /// Sets the unit's fields from the first entry's attributes that can be resolved.
    fn root(
        &self,
        unit: &mut Unit<'o>,
        mut rest: Slice<'o>,
        abbreviation: &gimli::Abbreviation,
        table: &gimli::Abbreviations,
    ) -> gimli::Result<()> {
        let mut raw = Vec::new();
        let mut specs = Vec::new();
        for &spec in abbreviation.attributes() {
            let before = rest;
            let attribute = read(&mut rest, unit.contents.forms, table, spec)?;
            let unreadable = match unit.contents.unreadable {
                [] => None,
                _ => unit.contents.unreadable(&before, &rest),
            };
            match unreadable {
                None => {
                    raw.push(attribute);
                    specs.push(spec);
                }
                Some(field) => unit.set_unreadable(spec.name(), field.error.clone()),
            }
        }
        unit.set_bases(abbreviation.tag(), &raw);
        self.set_skeleton(unit);
        for (attribute, spec) in raw.iter().zip(specs) {
            // The check of the attributes reports the error.
            match resolve(&self.dwarf, unit, spec, attribute.raw_value()) {
                Ok(value) => unit.set_rest(attribute.name(), value),
                Err(error) => unit.set_unreadable(attribute.name(), error),
            }
        }
        Ok(())
    }

    /// Copies attributes of a split unit from its skeleton. DWARF 5 section 3.1.3.
    fn set_skeleton(&self, unit: &mut Unit<'o>) {
        if !unit.is_split() {
            return;
        }
        let id = if unit.kind == dw::DW_UT_split_type { self.dwo_id } else { unit.dwo_id };
        let Some(skeleton) = self.main.zip(id).and_then(|(main, id)| main.skeleton(id)) else { return };
        unit.has_skeleton = true;
        unit.bases.addr = unit.bases.addr.or(skeleton.bases.addr);
        unit.bases.ranges = skeleton.bases.ranges;
        if unit.kind == dw::DW_UT_split_compile {
            unit.low_pc = skeleton.low_pc;
            unit.contents.unreadable_base.clone_from(&skeleton.contents.unreadable_base);
            unit.stmt_list = skeleton.stmt_list;
            unit.comp_dir.clone_from(&skeleton.comp_dir);
        }
    }

    fn place(&self, error: Error, offset: u64) -> Error {
        let (section, offset) = self.dwarf.place(offset);
        error.in_section(section).at_offset(offset)
    }

    pub(super) fn broken(&self, error: gimli::Error, item: &str, offset: u64) -> Error {
        let (section, offset) = self.dwarf.place(offset);
        broken(error, item, section, offset)
    }

    fn next_index(&self, offset: u64) -> Result<u32> {
        u32::try_from(self.dwarf.nodes.len()).ok().filter(|&index| index < u32::MAX).ok_or_else(|| {
            let text = "the file has more than 4294967294 entries".into();
            self.place(Error::new(ErrorKind::TooLarge(text)), offset)
        })
    }

    #[inline]
    fn count_attributes(&mut self, more: usize, offset: u64) -> Result<()> {
        self.attributes = self.attributes.saturating_add(more);
        if self.attributes <= self.most_attributes { Ok(()) } else { Err(self.too_many_attributes(offset)) }
    }

    fn too_many_attributes(&self, offset: u64) -> Error {
        let text = format!(
            "too many attributes for the size of the sections: {count}",
            count = Count(self.attributes, "attribute")
        );
        self.place(Error::new(ErrorKind::TooLarge(text)), offset)
    }
}

impl Dwarf<'_> {
    /// Lists type unit signatures and skeleton unit ids, and frees spare memory.
    pub(super) fn with_signatures(mut self) -> Self {
        self.nodes.shrink_to_fit();
        let units = || self.units.iter().zip(0..);
        let signatures = units().filter_map(|(unit, index)| Some((unit.signature?, index)));
        let skeletons = units().filter(|(unit, _)| unit.is_skeleton());
        let skeletons = skeletons.filter_map(|(unit, index)| Some((unit.dwo_id?, index)));
        (self.signatures, self.skeletons) = (firsts(signatures), firsts(skeletons));
        self
    }
}

/// Returns the first unit for each key, sorted, because a linker keeps the first unit with a signature.
fn firsts(units: impl Iterator<Item = (u64, u32)>) -> Vec<(u64, u32)> {
    let mut keyed: Vec<_> = units.collect();
    keyed.sort_by_key(|&(key, _)| key);
    keyed.dedup_by_key(|&mut (key, _)| key);
    keyed
}

/// Reads an attribute. `gimli` offers attributes only through its entry reader.
#[inline]
pub(super) fn read<'o>(
    rest: &mut Slice<'o>,
    forms: gimli::Encoding,
    table: &gimli::Abbreviations,
    spec: AttributeSpecification,
) -> gimli::Result<Raw<'o>> {
    if spec.form() == ADDRX_OFFSET {
        return read_addrx_offset(rest, forms, table, spec);
    }
    let mut entries = gimli::EntriesRaw::new(*rest, forms, table, UnitOffset(0));
    let read = entries.read_attribute_inline(spec)?;
    rest.skip(entries.next_offset().0)?;
    Ok(read)
}

/// Reads an attribute in a form that `gimli` does not know, as a constant: the index in the upper 32 bits, the offset
/// in the lower 32 bits.
fn read_addrx_offset<'o>(
    rest: &mut Slice<'o>,
    forms: gimli::Encoding,
    table: &gimli::Abbreviations,
    spec: AttributeSpecification,
) -> gimli::Result<Raw<'o>> {
    let index = rest.read_uleb128_u32()?;
    let offset = rest.read_u32()?;
    let packed = u64::from(index) << 32 | u64::from(offset);
    let constant = AttributeSpecification::new(spec.name(), dw::DW_FORM_implicit_const, Some(packed as i64));
    gimli::EntriesRaw::new(*rest, forms, table, UnitOffset(0)).read_attribute_inline(constant)
}

/// Returns the id of the split compilation unit, if there is exactly one. Errors recur when the unit is read.
fn only_id(mut headers: gimli::DebugInfoUnitHeadersIter<Slice<'_>>) -> Option<u64> {
    let mut only = None;
    while let Ok(Some(header)) = headers.next() {
        if let gimli::UnitType::SplitCompilation(id) = header.type_() {
            if only.is_some() {
                return None;
            }
            only = Some(id.0);
        }
    }
    only
}

/// Converts an error of `gimli`.
fn broken(error: gimli::Error, item: &str, section: &str, offset: u64) -> Error {
    let kind = match error {
        gimli::Error::UnexpectedEof(_) => ErrorKind::Truncated(item.into()),
        gimli::Error::UnknownVersion(_) | gimli::Error::UnknownForm(_) | gimli::Error::UnknownUnitType(_) => {
            ErrorKind::Unsupported(format!("{item}: {error}"))
        }
        _ => ErrorKind::Malformed(format!("{item}: {error}")),
    };
    Error::new(kind).in_section(section).at_offset(offset)
}
