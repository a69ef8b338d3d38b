//! `.debug_names`: the name index of DWARF 5 section 6.1.1.
//!
//! One index covers all units of an object. The index is written when the units are concatenated.

mod hash;
#[cfg(test)]
mod tests;

use gimli::{DwForm, DwIdx, DwTag, constants as dw};
use hashbrown::DefaultHashBuilder;
use indexmap::IndexSet;

use super::format::Format;
use super::section::{Relocation, RelocationTarget};
use crate::error::{Count, Error, ErrorKind, Result};
use crate::op::{uleb_len, write_uleb};

/// Index contents. Names and entries are referred to by their positions in these lists.
#[derive(Debug)]
pub(crate) struct NameIndex<'a> {
    pub(crate) format: Format,
    /// Compile unit offsets in `.debug_info`.
    pub(crate) compile_units: &'a [u64],
    /// Type unit offsets in `.debug_info`.
    pub(crate) local_type_units: &'a [u64],
    /// Signatures of type units in split objects.
    pub(crate) foreign_type_units: &'a [u64],
    /// The names, without duplicates.
    pub(crate) names: &'a [IndexName<'a>],
    /// The entries. Entries with one name keep this order.
    pub(crate) entries: &'a [IndexEntry],
}

/// A name in the index.
#[derive(Debug, Clone, Copy)]
pub(crate) struct IndexName<'a> {
    pub(crate) text: &'a str,
    /// Name offset in `.debug_str`.
    pub(crate) offset: u64,
}

/// An entry of `.debug_info` that has a name.
#[derive(Debug, Clone, Copy)]
pub(crate) struct IndexEntry {
    /// The name's number.
    pub(crate) name: u32,
    pub(crate) tag: DwTag,
    pub(crate) unit: IndexUnit,
    /// Offset from the start of the unit, in bytes.
    pub(crate) offset: u32,
    pub(crate) parent: Parent,
}

/// An entry's unit, by its number among its kind's units.
#[derive(Debug, Clone, Copy)]
#[cfg_attr(not(test), expect(dead_code, reason = "an object has type units or an index of names"))]
pub(crate) enum IndexUnit {
    Compile(u32),
    LocalType(u32),
    ForeignType(u32),
}

/// An entry's parent: `DW_IDX_parent`.
#[derive(Debug, Clone, Copy)]
#[cfg_attr(not(test), expect(dead_code, reason = "every parent is known"))]
pub(crate) enum Parent {
    /// Unknown: the attribute is omitted.
    Unknown,
    /// A parent that is not in the index, such as the unit entry.
    NotIndexed,
    /// The entry with this number in [`NameIndex::entries`].
    Entry(u32),
}

/// Identifies LLVM's rules, which this index follows where the standard lets a producer choose: the set of indexed
/// entries, and `DW_IDX_parent` of an entry whose parent is not indexed. Readers recognise the rules by this string.
const AUGMENTATION: &[u8; 8] = b"LLVM0700";

/// Abbreviation contents: tag, unit attribute and form of `DW_IDX_parent`.
type Abbreviation = (DwTag, Option<(DwIdx, DwForm)>, Option<DwForm>);

impl NameIndex<'_> {
    /// Appends the index to the section.
    ///
    /// # Errors
    /// [`ErrorKind::TooLarge`] where the entries take 4 GiB.
    pub(crate) fn write(&self, out: &mut Vec<u8>, relocations: &mut Vec<Relocation>) -> Result<()> {
        let format = self.format;
        let word = |out: &mut Vec<u8>, number: usize| format.fixed(out, number as u64, 4);
        let (abbreviations, codes) = self.abbreviations();
        let table = table(&abbreviations);
        let hashes: Vec<u32> = self.names.iter().map(|name| hash::hash(name.text)).collect();
        let buckets = bucket_count(&hashes);
        let order = order(&hashes, buckets);
        let by_name = self.by_name();
        let layout = self.layout(&order, &by_name, &codes, &abbreviations)?;

        let start = format.begin_length(out);
        format.half(out, 5);
        format.half(out, 0);
        word(out, self.compile_units.len());
        word(out, self.local_type_units.len());
        word(out, self.foreign_type_units.len());
        word(out, buckets as usize);
        word(out, self.names.len());
        word(out, table.len());
        word(out, AUGMENTATION.len());
        out.extend_from_slice(AUGMENTATION);
        let mut relocated = |out: &mut Vec<u8>, section, addend| {
            relocations.push(Relocation {
                offset: out.len() as u64,
                bytes: format.offset_bytes,
                target: RelocationTarget::Section(section),
                addend,
            });
            format.offset(out, 0);
        };
        for &unit in self.compile_units.iter().chain(self.local_type_units) {
            relocated(out, ".debug_info", unit);
        }
        for &signature in self.foreign_type_units {
            format.fixed(out, signature, 8);
        }
        // Each bucket contains the number, counted from 1, of its first name; 0 for an empty bucket.
        let mut next = 0;
        for bucket in 0..buckets {
            let in_bucket = |&&name: &&u32| hashes[name as usize] % buckets == bucket;
            let count = order[next..].iter().take_while(in_bucket).count();
            word(out, if count == 0 { 0 } else { next + 1 });
            next += count;
        }
        for &name in &order {
            format.fixed(out, hashes[name as usize].into(), 4);
        }
        for &name in &order {
            relocated(out, ".debug_str", self.names[name as usize].offset);
        }
        for &name in &order {
            format.offset(out, layout.lists[name as usize].into());
        }
        out.extend_from_slice(&table);
        for &name in &order {
            for &entry in by_name.entries(name) {
                let code = codes[entry as usize];
                let (_, unit, _) = abbreviations[code as usize];
                let IndexEntry { unit: of, offset, parent, .. } = self.entries[entry as usize];
                write_uleb(out, u64::from(code) + 1);
                if let Some((_, form)) = unit {
                    format.fixed(out, self.unit_number(of).into(), bytes(form));
                }
                format.fixed(out, offset.into(), 4);
                if let Parent::Entry(parent) = parent {
                    format.fixed(out, layout.entries[parent as usize].into(), 4);
                }
            }
            out.push(0);
        }
        format.end_length(out, start);
        Ok(())
    }

    /// The abbreviations in the order of first use, and the index of each entry's abbreviation.
    fn abbreviations(&self) -> (IndexSet<Abbreviation, DefaultHashBuilder>, Vec<u32>) {
        let mut known = IndexSet::default();
        let form = |count: usize| match count {
            0..=0x100 => dw::DW_FORM_data1,
            0x101..=0x1_0000 => dw::DW_FORM_data2,
            _ => dw::DW_FORM_data4,
        };
        let compile = form(self.compile_units.len());
        let types = form(self.local_type_units.len() + self.foreign_type_units.len());
        let codes = self.entries.iter().map(|entry| {
            let unit = match entry.unit {
                // The only compile unit needs no attribute.
                IndexUnit::Compile(_) if self.compile_units.len() == 1 => None,
                IndexUnit::Compile(_) => Some((dw::DW_IDX_compile_unit, compile)),
                IndexUnit::LocalType(_) | IndexUnit::ForeignType(_) => Some((dw::DW_IDX_type_unit, types)),
            };
            let parent = match entry.parent {
                Parent::Unknown => None,
                Parent::NotIndexed => Some(dw::DW_FORM_flag_present),
                Parent::Entry(_) => Some(dw::DW_FORM_ref4),
            };
            known.insert_full((entry.tag, unit, parent)).0 as u32
        });
        let codes = codes.collect();
        (known, codes)
    }

    /// An entry's unit number: foreign type units follow the local ones.
    fn unit_number(&self, unit: IndexUnit) -> u32 {
        match unit {
            IndexUnit::Compile(number) | IndexUnit::LocalType(number) => number,
            IndexUnit::ForeignType(number) => self.local_type_units.len() as u32 + number,
        }
    }

    fn by_name(&self) -> ByName {
        // A counting sort keeps the entries' order within a name.
        let mut starts = vec![0; self.names.len() + 1];
        for entry in self.entries {
            starts[entry.name as usize + 1] += 1;
        }
        for name in 0..self.names.len() {
            starts[name + 1] += starts[name];
        }
        let mut next = starts.clone();
        let mut entries = vec![0; self.entries.len()];
        for (number, entry) in (0..).zip(self.entries) {
            let next = &mut next[entry.name as usize];
            entries[*next as usize] = number;
            *next += 1;
        }
        ByName { starts, entries }
    }

    /// Each entry's offset in the entry pool, and the offset of each name's list.
    fn layout(
        &self,
        order: &[u32],
        by_name: &ByName,
        codes: &[u32],
        abbreviations: &IndexSet<Abbreviation, DefaultHashBuilder>,
    ) -> Result<Layout> {
        let sizes = abbreviations.iter().enumerate().map(|(index, &(_, unit, parent))| {
            let unit = unit.map_or(0, |(_, form)| bytes(form));
            let parent = if parent == Some(dw::DW_FORM_ref4) { 4 } else { 0 };
            uleb_len(index as u64 + 1) as u64 + u64::from(unit) + 4 + parent
        });
        let sizes: Vec<u64> = sizes.collect();
        let mut layout = Layout { lists: vec![0; self.names.len()], entries: vec![0; self.entries.len()] };
        let mut offset = 0u64;
        for &name in order {
            layout.lists[name as usize] = offset as u32;
            for &entry in by_name.entries(name) {
                layout.entries[entry as usize] = offset as u32;
                offset += sizes[codes[entry as usize] as usize];
            }
            // A zero byte ends each list.
            offset += 1;
        }
        if offset > u32::MAX.into() {
            return Err(Error::new(ErrorKind::TooLarge(format!(
                "name index has {}; expected less than 4 GiB",
                Count(offset, "byte")
            ))));
        }
        Ok(layout)
    }
}

/// Entries grouped by name.
struct ByName {
    /// Start of each name's entries in `entries`, and the end of the last.
    starts: Vec<u32>,
    entries: Vec<u32>,
}

impl ByName {
    fn entries(&self, name: u32) -> &[u32] {
        let name = name as usize;
        &self.entries[self.starts[name] as usize..self.starts[name + 1] as usize]
    }
}

/// Offsets in the entry pool.
struct Layout {
    lists: Vec<u32>,
    entries: Vec<u32>,
}

/// Number of buckets, as in LLVM: one per hash in small tables, one per two or four hashes in larger ones. A bucket's
/// hashes are contiguous, so comparing a few is fast.
fn bucket_count(hashes: &[u32]) -> u32 {
    let mut unique = hashes.to_vec();
    unique.sort_unstable();
    unique.dedup();
    match unique.len() as u32 {
        count @ 0..=16 => count,
        count @ 17..=1024 => count / 2,
        count => count / 4,
    }
}

/// The names, sorted by bucket, then by hash, then by number.
fn order(hashes: &[u32], buckets: u32) -> Vec<u32> {
    let mut order: Vec<u32> = (0..hashes.len() as u32).collect();
    order.sort_by_key(|&name| {
        let hash = hashes[name as usize];
        (hash % buckets, hash)
    });
    order
}

fn table(abbreviations: &IndexSet<Abbreviation, DefaultHashBuilder>) -> Vec<u8> {
    let mut out = Vec::new();
    for (index, &(tag, unit, parent)) in abbreviations.iter().enumerate() {
        let attribute = |index: DwIdx, form: DwForm| [index.0.into(), form.0.into()];
        let offset = attribute(dw::DW_IDX_die_offset, dw::DW_FORM_ref4);
        let unit = unit.map(|(index, form)| attribute(index, form));
        let parent = parent.map(|form| attribute(dw::DW_IDX_parent, form));
        write_uleb(&mut out, index as u64 + 1);
        write_uleb(&mut out, tag.0.into());
        for number in unit.into_iter().chain([offset]).chain(parent).flatten() {
            write_uleb(&mut out, number);
        }
        out.extend_from_slice(&[0, 0]);
    }
    out.push(0);
    out
}

/// Size in bytes of a number in a fixed-size form.
fn bytes(form: DwForm) -> u8 {
    match form {
        dw::DW_FORM_data1 => 1,
        dw::DW_FORM_data2 => 2,
        _ => 4,
    }
}
