//! The name index, `.debug_names`. DWARF 5 sections 6.1.1 and 7.19.

use std::sync::OnceLock;

use gimli::{DwForm, DwIdx, DwTag, constants as dw};

use super::cursor::Cursor;
use super::dwarf::Dwarf;
use super::entry::Entry;
use super::sections::Sections;
use crate::error::{Count, ErrorKind, Result};

/// Names in sorted order, each with its number.
type Sorted<'o> = Vec<(&'o [u8], u32)>;

/// An index in `.debug_names`: a compiler writes an index for each unit, and a linker may merge them.
#[derive(Debug, Clone)]
pub struct NameIndex<'o> {
    /// Header offset in the section, in bytes.
    pub offset: u64,
    /// Version, 5.
    pub version: u16,
    /// 4 in the 32-bit DWARF format, 8 in the 64-bit format.
    pub offset_bytes: u8,
    /// Augmentation string.
    pub augmentation: &'o [u8],
    /// Indexed compilation units, by their offsets in `.debug_info`.
    pub units: Vec<u64>,
    /// Indexed type units of this file, by their offsets in `.debug_info`.
    pub type_units: Vec<u64>,
    /// Type units of split files, by signature.
    pub foreign_type_units: Vec<u64>,
    /// Number of buckets in the hash table; 0 without a hash table.
    pub bucket_count: u32,
    /// Number of names.
    pub name_count: u32,
    /// Abbreviations of entries, sorted by code.
    pub abbreviations: Vec<NameAbbreviation>,
    sections: Sections<'o>,
    buckets: Cursor<'o>,
    hashes: Cursor<'o>,
    strings: Cursor<'o>,
    entries: Cursor<'o>,
    pool: Cursor<'o>,
    /// Offset of the first entry in the section.
    pool_start: u64,
    /// Names in sorted order, for the search without a hash table.
    sorted: OnceLock<Result<Sorted<'o>>>,
}

/// Abbreviation of entries. DWARF 5 section 6.1.1.4.7.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct NameAbbreviation {
    /// Abbreviation code.
    pub code: u64,
    /// Tag of the named entries.
    pub tag: DwTag,
    /// Names and forms of the attributes, in order.
    pub attributes: Vec<(DwIdx, DwForm)>,
}

/// A name of an index.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub struct IndexedName<'o> {
    /// Name number, counted from 1.
    pub number: u32,
    /// Hash of the name, if there is a hash table.
    pub hash: Option<u32>,
    /// The name, without its zero byte.
    pub name: &'o [u8],
    /// Offset of the name's first entry in the entry pool, in bytes.
    pub entries: u64,
}

/// An entry of a name.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub struct NameEntry {
    /// Offset in the section, in bytes.
    pub offset: u64,
    /// Abbreviation code.
    pub abbreviation: u64,
    /// Tag of the named entry.
    pub tag: DwTag,
    /// Unit of the named entry. `None` if the index does not contain it.
    pub unit: Option<NameUnit>,
    /// Offset of the named entry from its unit's start: `DW_IDX_die_offset`.
    pub entry: Option<u64>,
    /// Parent of the named entry.
    pub parent: NameParent,
    /// Hash of the type: `DW_IDX_type_hash`.
    pub type_hash: Option<u64>,
}

/// Unit of a named entry.
///
/// Exhaustive: a match names all variants.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum NameUnit {
    /// A compilation unit, by its offset in `.debug_info`.
    Compile(u64),
    /// A type unit of this file, by its offset in `.debug_info`.
    Type(u64),
    /// A type unit of a split file.
    Foreign {
        /// Unit signature.
        signature: u64,
        /// Offset in `.debug_info` of the skeleton that names the file.
        skeleton: Option<u64>,
    },
}

/// Parent of a named entry: `DW_IDX_parent`.
///
/// Exhaustive: a match names all variants.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum NameParent {
    /// The index does not contain this information.
    Unknown,
    /// A parent that is not in the index.
    NotIndexed,
    /// An entry of the index, by its offset in the section.
    Entry(u64),
}

const WHAT: &str = "a name index";
/// Limit of attributes, more than have a meaning.
const MOST_ATTRIBUTES: usize = 64;

impl<'o> NameIndex<'o> {
    /// Reads all indices of `.debug_names`.
    ///
    /// # Errors
    /// [`Truncated`](ErrorKind::Truncated) or [`Malformed`](ErrorKind::Malformed) where a header or table
    /// cannot be read, with the offset; [`Unsupported`](ErrorKind::Unsupported) for other versions.
    pub fn read_all(sections: &Sections<'o>) -> Result<Vec<Self>> {
        Self::read_each(sections).into_iter().collect()
    }

    /// Reads each index of `.debug_names`, or the error that [`read_all`](Self::read_all) has for it.
    pub fn read_each(sections: &Sections<'o>) -> Vec<Result<Self>> {
        let from = sections.cursor(".debug_names", sections.debug_names);
        from.each_table(WHAT, |table, offset, offset_bytes| Self::read(sections, table, offset, offset_bytes))
    }

    fn read(sections: &Sections<'o>, mut from: Cursor<'o>, offset: u64, offset_bytes: u8) -> Result<Self> {
        let version = 5;
        from.version(version, WHAT)?;
        from.u16(WHAT)?;
        let mut count = || from.u32(WHAT);
        let units = count()?;
        let type_units = count()?;
        let foreign = count()?;
        let bucket_count = count()?;
        let name_count = count()?;
        let abbreviations = count()?;
        let augmentation = count()?;
        let augmentation = from.take(u64::from(augmentation).next_multiple_of(4), WHAT)?;
        let zeros = augmentation.iter().rev().take_while(|&&byte| byte == 0).count();
        let augmentation = &augmentation[..augmentation.len() - zeros];
        let units = numbers(&mut from, units, offset_bytes)?;
        let type_units = numbers(&mut from, type_units, offset_bytes)?;
        let foreign_type_units = numbers(&mut from, foreign, 8)?;
        let mut table = |count: u32, bytes: u8| {
            let table = from;
            from.take(u64::from(count) * u64::from(bytes), WHAT).map(|_| table)
        };
        let buckets = table(bucket_count, 4)?;
        let hashes = table(if bucket_count == 0 { 0 } else { name_count }, 4)?;
        let strings = table(name_count, offset_bytes)?;
        let entries = table(name_count, offset_bytes)?;
        let table = from.limit(abbreviations.into(), WHAT)?;
        from.take(abbreviations.into(), WHAT)?;
        Ok(Self {
            offset,
            version,
            offset_bytes,
            augmentation,
            units,
            type_units,
            foreign_type_units,
            bucket_count,
            name_count,
            abbreviations: read_abbreviations(table)?,
            sections: *sections,
            buckets,
            hashes,
            strings,
            entries,
            pool: from,
            pool_start: from.offset(),
            sorted: OnceLock::new(),
        })
    }

    /// Returns the name with a number. Numbers count from 1.
    ///
    /// # Errors
    /// [`Malformed`](ErrorKind::Malformed) or [`Truncated`](ErrorKind::Truncated) if there is no such name.
    pub fn name(&self, number: u32) -> Result<IndexedName<'o>> {
        crate::work::step();
        if number == 0 || number > self.name_count {
            let text =
                format!("name {number} is out of range for an index with {}", Count(self.name_count, "name"));
            return Err(self.pool.error(ErrorKind::Malformed(text), self.offset));
        }
        let hash = if self.bucket_count == 0 { None } else { Some(self.hash(number)?) };
        let string = element(self.strings, number, self.offset_bytes)?;
        let entries = element(self.entries, number, self.offset_bytes)?;
        Ok(IndexedName { number, hash, name: self.sections.string(string)?, entries })
    }

    /// Returns all names, in the index's order.
    pub fn names(&self) -> impl Iterator<Item = Result<IndexedName<'o>>> + '_ {
        (1..=self.name_count).map(|number| self.name(number))
    }

    /// Returns the number of the first name in a bucket; 0 if the bucket is empty. Buckets count from 0.
    ///
    /// # Errors
    /// [`Malformed`](ErrorKind::Malformed) if there is no such bucket.
    pub fn bucket(&self, bucket: u32) -> Result<u32> {
        if bucket >= self.bucket_count {
            let text = format!(
                "bucket {bucket} is out of range for an index with {}",
                Count(self.bucket_count, "bucket")
            );
            return Err(self.pool.error(ErrorKind::Malformed(text), self.offset));
        }
        element(self.buckets, bucket + 1, 4).map(|number| number as u32)
    }

    #[doc(hidden)]
    pub fn hash(&self, number: u32) -> Result<u32> {
        element(self.hashes, number, 4).map(|hash| hash as u32)
    }

    fn sort(&self) -> Result<Sorted<'o>> {
        let names: Result<Vec<_>> =
            self.names().map(|name| name.map(|name| (name.name, name.number))).collect();
        names.map(|mut sorted| {
            sorted.sort_unstable();
            sorted
        })
    }

    /// Returns the names equal to this name, found by the hash table (DWARF 5 section 6.1.1.4.5), or by sorting all
    /// names once if there is no hash table. A correct index has at most one.
    ///
    /// # Errors
    /// The errors that [`name`](Self::name) returns.
    pub fn find(&self, name: &[u8]) -> Result<Vec<IndexedName<'o>>> {
        let mut matches = Vec::new();
        if self.bucket_count == 0 {
            let sorted = self.sorted.get_or_init(|| self.sort()).as_ref().map_err(Clone::clone)?;
            let first = sorted.partition_point(|&(other, _)| other < name);
            let equal = sorted[first..].iter().take_while(|&&(other, _)| other == name);
            return equal.map(|&(_, number)| self.name(number)).collect();
        }
        let hash = name_hash(name);
        let bucket = hash % self.bucket_count;
        let first = self.bucket(bucket)?;
        if first == 0 {
            return Ok(matches);
        }
        for number in first..=self.name_count {
            let other = self.hash(number)?;
            if other % self.bucket_count != bucket {
                break;
            }
            if other == hash {
                matches.extend(Some(self.name(number)?).filter(|candidate| candidate.name == name));
            }
        }
        Ok(matches)
    }

    /// Returns a name's entries.
    ///
    /// # Errors
    /// [`Malformed`](ErrorKind::Malformed) if their offset is outside the section.
    pub fn entries(&self, name: &IndexedName<'o>) -> Result<NameEntries<'_, 'o>> {
        let offset = self.pool_start.saturating_add(name.entries);
        Ok(NameEntries { index: self, from: self.pool.at(offset, "the entries of a name")? })
    }

    fn entry(&self, from: &mut Cursor<'o>) -> Result<Option<NameEntry>> {
        const WHAT: &str = "a name index entry";
        crate::work::step();
        let offset = from.offset();
        let code = from.uleb(WHAT)?;
        if code == 0 {
            return Ok(None);
        }
        let Ok(number) = self.abbreviations.binary_search_by_key(&code, |abbreviation| abbreviation.code)
        else {
            return Err(
                from.error(ErrorKind::Malformed(format!("{WHAT}: unknown abbreviation {code}")), offset)
            );
        };
        let abbreviation = &self.abbreviations[number];
        let mut unit = None;
        let mut type_unit = None;
        let mut entry = None;
        let mut type_hash = None;
        let mut parent = NameParent::Unknown;
        for &(name, form) in &abbreviation.attributes {
            let start = from.offset();
            let value = match form {
                dw::DW_FORM_flag_present => None,
                dw::DW_FORM_flag | dw::DW_FORM_data1 | dw::DW_FORM_ref1 => Some(from.uint(1, WHAT)?),
                dw::DW_FORM_data2 | dw::DW_FORM_ref2 => Some(from.uint(2, WHAT)?),
                dw::DW_FORM_data4 | dw::DW_FORM_ref4 => Some(from.uint(4, WHAT)?),
                dw::DW_FORM_data8 | dw::DW_FORM_ref8 | dw::DW_FORM_ref_sig8 => Some(from.uint(8, WHAT)?),
                dw::DW_FORM_udata | dw::DW_FORM_ref_udata => Some(from.uleb(WHAT)?),
                _ => {
                    let text = format!("{WHAT}: unsupported form {:#x}", form.0);
                    return Err(from.error(ErrorKind::Unsupported(text), start));
                }
            };
            match (name, value) {
                (dw::DW_IDX_compile_unit, Some(index)) => unit = Some(index),
                (dw::DW_IDX_type_unit, Some(index)) => type_unit = Some(index),
                (dw::DW_IDX_die_offset, value) => entry = value,
                (dw::DW_IDX_type_hash, value) => type_hash = value,
                (dw::DW_IDX_parent, None) => parent = NameParent::NotIndexed,
                (dw::DW_IDX_parent, Some(offset)) => {
                    parent = NameParent::Entry(self.pool_start.saturating_add(offset));
                }
                _ => {}
            }
        }
        let element_of = |list: &[u64], index: u64| {
            let element = usize::try_from(index).ok().and_then(|index| list.get(index)).copied();
            element.ok_or_else(|| {
                let text = format!(
                    "{WHAT}: unit {index} is out of range for a list with {}",
                    Count(list.len(), "unit")
                );
                from.error(ErrorKind::Malformed(text), offset)
            })
        };
        let unit = match (type_unit, unit) {
            (Some(index), skeleton) => match index.checked_sub(self.type_units.len() as u64) {
                None => Some(NameUnit::Type(element_of(&self.type_units, index)?)),
                Some(index) => Some(NameUnit::Foreign {
                    signature: element_of(&self.foreign_type_units, index)?,
                    skeleton: skeleton.map(|index| element_of(&self.units, index)).transpose()?,
                }),
            },
            (None, Some(index)) => Some(NameUnit::Compile(element_of(&self.units, index)?)),
            // An index of a single unit may omit it.
            (None, None) => match self.units[..] {
                [only] => Some(NameUnit::Compile(only)),
                _ => None,
            },
        };
        let tag = abbreviation.tag;
        Ok(Some(NameEntry { offset, abbreviation: code, tag, unit, entry, parent, type_hash }))
    }
}

/// The entries of a name, in order.
///
/// # Errors
/// [`Truncated`](ErrorKind::Truncated), [`Malformed`](ErrorKind::Malformed) or
/// [`Unsupported`](ErrorKind::Unsupported) for an entry that cannot be read, with the offset. The iterator
/// ends after an error.
#[derive(Debug, Clone)]
pub struct NameEntries<'i, 'o> {
    index: &'i NameIndex<'o>,
    from: Cursor<'o>,
}

impl Iterator for NameEntries<'_, '_> {
    type Item = Result<NameEntry>;

    fn next(&mut self) -> Option<Self::Item> {
        if self.from.is_finished() {
            return None;
        }
        let entry = self.index.entry(&mut self.from).transpose();
        if !matches!(entry, Some(Ok(_))) {
            self.from.finish();
        }
        entry
    }
}

impl<'o> Dwarf<'o> {
    /// Returns the indices of `.debug_names`.
    ///
    /// # Errors
    /// The errors that [`NameIndex::read_all`] returns.
    pub fn names(&self) -> Result<Vec<NameIndex<'o>>> {
        NameIndex::read_all(&self.sections)
    }

    /// Returns the entry that an index entry names, if it is in this file.
    pub fn named(&self, entry: &NameEntry) -> Option<Entry<'_, 'o>> {
        let (NameUnit::Compile(unit) | NameUnit::Type(unit)) = entry.unit? else { return None };
        self.entry_at(self.offset_in_info(unit.checked_add(entry.entry?)?))
    }
}

/// Returns a name's hash. DWARF 5 section 7.33: Bernstein's hash of the name in UTF-8 after simple case folding, in
/// which the Turkish dotted and dotless i are folded to i.
pub fn name_hash(name: &[u8]) -> u32 {
    let push = |hash: u32, byte: &u8| hash.wrapping_mul(33).wrapping_add(u32::from(*byte));
    if name.is_ascii() {
        return name.iter().fold(5381, |hash, byte| push(hash, &byte.to_ascii_lowercase()));
    }
    String::from_utf8_lossy(name).chars().fold(5381, |hash, char| {
        let folded = match char {
            '\u{130}' | '\u{131}' => 'i',
            _ => unicode_case_mapping::case_folded(char)
                .and_then(|folded| char::from_u32(folded.get()))
                .unwrap_or(char),
        };
        folded.encode_utf8(&mut [0; 4]).as_bytes().iter().fold(hash, push)
    })
}

fn numbers(from: &mut Cursor<'_>, count: u32, bytes: u8) -> Result<Vec<u64>> {
    let mut table = from.limit(u64::from(count) * u64::from(bytes), WHAT)?;
    from.take(u64::from(count) * u64::from(bytes), WHAT)?;
    (0..count).map(|_| table.uint(bytes, WHAT)).collect()
}

/// Returns an element of a table, counted from 1.
fn element(table: Cursor<'_>, number: u32, bytes: u8) -> Result<u64> {
    let offset = (u64::from(number) - 1) * u64::from(bytes);
    table.at(table.offset() + offset, WHAT)?.uint(bytes, WHAT)
}

fn read_abbreviations(mut from: Cursor<'_>) -> Result<Vec<NameAbbreviation>> {
    const WHAT: &str = "the abbreviations of a name index";
    let mut abbreviations: Vec<NameAbbreviation> = Vec::new();
    loop {
        let start = from.offset();
        let code = from.uleb(WHAT)?;
        if code == 0 {
            break;
        }
        // All names and forms fit in 16 bits; larger numbers are unknown, like the largest.
        let mut number = || from.uleb(WHAT).map(|number| u16::try_from(number).unwrap_or(u16::MAX));
        let tag = DwTag(number()?);
        let mut attributes = Vec::new();
        loop {
            match (number()?, number()?) {
                (0, 0) => break,
                (name, form) => attributes.push((DwIdx(name), DwForm(form))),
            }
            if attributes.len() > MOST_ATTRIBUTES {
                let text = format!("{WHAT}: an abbreviation has more than {MOST_ATTRIBUTES} attributes");
                return Err(from.error(ErrorKind::Malformed(text), start));
            }
        }
        abbreviations.push(NameAbbreviation { code, tag, attributes });
    }
    abbreviations.sort_by_key(|abbreviation| abbreviation.code);
    Ok(abbreviations)
}
