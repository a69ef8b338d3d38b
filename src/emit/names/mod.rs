//! `.debug_names`: entries by name, DWARF 5 section 6.1.1.
//!
//! One index tells of all units of an object, and is written when they are joined.

mod hash;
#[cfg(test)]
mod tests;

use gimli::{DwForm, DwIdx, DwTag, constants as dw};
use hashbrown::DefaultHashBuilder;
use indexmap::IndexSet;

use super::format::Format;
use super::section::{Relocation, RelocationTarget};
use crate::error::{Error, ErrorKind, Result};
use crate::op::{uleb_len, write_uleb};

/// What is in the index, and what of it. Positions in these lists are the numbers that entries name.
#[derive(Debug)]
pub(crate) struct NameIndex<'a> {
    pub(crate) format: Format,
    /// The offsets of compile units in `.debug_info`.
    pub(crate) compile_units: &'a [u64],
    /// The offsets of type units in `.debug_info`.
    pub(crate) local_type_units: &'a [u64],
    /// The signatures of type units of split objects.
    pub(crate) foreign_type_units: &'a [u64],
    /// The names, each once.
    pub(crate) names: &'a [IndexName<'a>],
    /// The entries. Those of one name are in the order in which they are here.
    pub(crate) entries: &'a [IndexEntry],
}

/// A name.
#[derive(Debug, Clone, Copy)]
pub(crate) struct IndexName<'a> {
    pub(crate) text: &'a str,
    /// Its offset in `.debug_str`.
    pub(crate) offset: u64,
}

/// An entry of `.debug_info` that has a name.
#[derive(Debug, Clone, Copy)]
pub(crate) struct IndexEntry {
    /// The number of its name.
    pub(crate) name: u32,
    pub(crate) tag: DwTag,
    pub(crate) unit: IndexUnit,
    /// Bytes from the start of its unit.
    pub(crate) offset: u32,
    pub(crate) parent: Parent,
}

/// The unit that an entry is in, by its number among those of its kind.
#[derive(Debug, Clone, Copy)]
#[cfg_attr(not(test), expect(dead_code, reason = "an object has type units or an index of names"))]
pub(crate) enum IndexUnit {
    Compile(u32),
    LocalType(u32),
    ForeignType(u32),
}

/// The entry around an entry.
#[derive(Debug, Clone, Copy)]
#[cfg_attr(not(test), expect(dead_code, reason = "every parent is known"))]
pub(crate) enum Parent {
    /// Not told.
    Unknown,
    /// One that is not in the index, such as that of the unit.
    NotIndexed,
    /// The entry of this number in [`NameIndex::entries`].
    Entry(u32),
}

/// The rules by which the standard lets a producer choose are LLVM's: which entries are there, and how
/// `DW_IDX_parent` says that the parent is none of them. Readers know them by this name.
const AUGMENTATION: &[u8; 8] = b"LLVM0700";

/// What an abbreviation says.
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
        // Each bucket has the number, counted from 1, of its first name; 0 for none.
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

    /// The abbreviations in the order of first use, and the index of each entry's.
    fn abbreviations(&self) -> (IndexSet<Abbreviation, DefaultHashBuilder>, Vec<u32>) {
        let mut known = IndexSet::default();
        let of = |count: usize| match count {
            0..=0x100 => dw::DW_FORM_data1,
            0x101..=0x1_0000 => dw::DW_FORM_data2,
            _ => dw::DW_FORM_data4,
        };
        let compile = of(self.compile_units.len());
        let types = of(self.local_type_units.len() + self.foreign_type_units.len());
        let codes = self.entries.iter().map(|entry| {
            let unit = match entry.unit {
                // Where there is one, it is not said which.
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

    /// The number by which an entry names its unit: foreign type units follow the local ones.
    fn unit_number(&self, unit: IndexUnit) -> u32 {
        match unit {
            IndexUnit::Compile(number) | IndexUnit::LocalType(number) => number,
            IndexUnit::ForeignType(number) => self.local_type_units.len() as u32 + number,
        }
    }

    fn by_name(&self) -> ByName {
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

    /// Where each entry, and each name's list of them, is going to be in the pool.
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
        let mut at = 0u64;
        for &name in order {
            layout.lists[name as usize] = at as u32;
            for &entry in by_name.entries(name) {
                layout.entries[entry as usize] = at as u32;
                at += sizes[codes[entry as usize] as usize];
            }
            at += 1;
        }
        if at > u32::MAX.into() {
            return Err(Error::new(ErrorKind::TooLarge(
                "an index of names has less than 4 GiB of entries".into(),
            )));
        }
        Ok(layout)
    }
}

/// The entries of each name.
struct ByName {
    /// Where those of a name start in `entries`, and where the last ones end.
    starts: Vec<u32>,
    entries: Vec<u32>,
}

impl ByName {
    fn entries(&self, name: u32) -> &[u32] {
        let name = name as usize;
        &self.entries[self.starts[name] as usize..self.starts[name + 1] as usize]
    }
}

/// Offsets in the pool of entries.
struct Layout {
    lists: Vec<u32>,
    entries: Vec<u32>,
}

/// How many buckets there are: as LLVM has it, one for each hash in small tables and one for two or four in
/// larger ones, for the hashes of a bucket stand one after the other, and comparing a few is quick.
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

/// The names by bucket, then by hash, then as they came.
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

/// Bytes of a number in a form of a fixed size.
fn bytes(form: DwForm) -> u8 {
    match form {
        dw::DW_FORM_data1 => 1,
        dw::DW_FORM_data2 => 2,
        _ => 4,
    }
}
