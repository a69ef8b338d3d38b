//! Different types with one name. A debugger looks a name up in the unit at the pc first, and then in all others: where
//! units have different types with one name, each unit keeps its type.

use core::fmt;

use gimli::{DwTag, constants as dw};
use hashbrown::{HashMap, HashSet};

use super::candidates::Candidates;
use super::signature::{Signature, Signatures, Wanted};
use crate::read::{Dwarf, Entry, ResolvedValue};

/// Types with one name that differ in more than their source line, and in more than that a type to which they refer is
/// only declared. They are not merged with types of other units.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct DifferentTypes {
    /// The name, or the name of an enumerator.
    pub name: String,
    /// The first type, and each type that differs from it: the name of its unit, and the offset of its entry in the section in
    /// bytes. In an object with type units, offsets are those after the types of type units were added to the units.
    pub entries: Vec<(String, u64)>,
}

impl fmt::Display for DifferentTypes {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "definitions of `{}` differ:", self.name)?;
        for (index, (unit, offset)) in self.entries.iter().enumerate() {
            let separator = if index == 0 { "" } else { "," };
            write!(f, "{separator} {offset:#x} in `{unit}`")?;
        }
        Ok(())
    }
}

/// Kinds of names. Names of different kinds do not clash.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
enum Kind {
    /// A structure, class, union or enumeration.
    Tagged,
    /// Another type.
    Plain,
    Enumerator,
}

/// The namespaces around a name, the language, the kind and the name.
type Key<'o> = (u32, Option<u64>, Kind, &'o [u8]);

/// Steps for each entry that a comparison of names may take. What takes longer counts as different.
const MOST_STEPS: usize = 16;

/// Finds the classes of types whose names have different types, and lists them.
pub(super) fn different<'d, 'o>(
    dwarf: &'d Dwarf<'o>,
    candidates: &Candidates,
    signatures: &mut Signatures<'d, 'o>,
    classes: &[u32],
) -> (HashSet<u32>, Vec<DifferentTypes>) {
    let mut seen = HashSet::new();
    let mut names: HashMap<Key<'o>, Vec<u32>> = HashMap::new();
    for (number, &class) in (0..).zip(classes) {
        let Some(entry) = candidates.entry(dwarf, number).filter(|_| seen.insert(class)) else { continue };
        if entry.has(dw::DW_AT_declaration) {
            continue;
        }
        for key in keys(entry, candidates.all[number as usize].around) {
            names.entry(key).or_default().push(number);
        }
    }
    let mut likeness = Likeness {
        dwarf,
        candidates,
        signatures,
        alike: HashSet::new(),
        room: MOST_STEPS * dwarf.entries().len(),
    };
    let mut kept = HashSet::new();
    let mut different = Vec::new();
    let mut several: Vec<_> = names.into_iter().filter(|(_, types)| types.len() > 1).collect();
    several
        .sort_unstable_by(|(left_key, left), (right_key, right)| (left, left_key).cmp(&(right, right_key)));
    for ((.., kind, name), types) in several {
        let Some((&first, rest)) = types.split_first() else { continue };
        let mut unlike = vec![first];
        unlike.extend(rest.iter().copied().filter(|&other| !likeness.are_alike(first, other)));
        if unlike.len() == 1 {
            continue;
        }
        kept.extend(types.iter().map(|&number| classes[number as usize]));
        let entries = unlike.iter().filter_map(|&number| {
            let entry = candidates.entry(dwarf, number)?;
            let unit = entry.unit().name.as_deref().unwrap_or_default().to_owned();
            Some((unit, dwarf.place(entry.offset()).1))
        });
        // The types that have the enumerators are listed by their names.
        let entries: Vec<_> = entries.collect();
        let is_listed = kind == Kind::Enumerator
            && different.last().is_some_and(|last: &DifferentTypes| last.entries == entries);
        if !is_listed {
            different.push(DifferentTypes { name: String::from_utf8_lossy(name).into_owned(), entries });
        }
    }
    (kept, different)
}

/// Returns the names by which a type is found.
fn keys<'o>(entry: Entry<'_, 'o>, around: Option<u32>) -> Vec<Key<'o>> {
    let Some(around) = around else { return Vec::new() };
    let language = entry.unit().language;
    let kind = if is_tagged(entry.tag()) { Kind::Tagged } else { Kind::Plain };
    let mut keys: Vec<_> = name(entry).map(|name| (around, language, kind, name)).into_iter().collect();
    if entry.tag() == dw::DW_TAG_enumeration_type && !entry.has(dw::DW_AT_enum_class) {
        let names = entry.children().filter_map(name);
        keys.extend(names.map(|name| (around, language, Kind::Enumerator, name)));
    }
    keys
}

fn name<'o>(entry: Entry<'_, 'o>) -> Option<&'o [u8]> {
    match entry.attr(dw::DW_AT_name)? {
        ResolvedValue::String(name) => Some(name.bytes()),
        _ => None,
    }
}

fn is_tagged(tag: DwTag) -> bool {
    matches!(
        tag,
        dw::DW_TAG_structure_type
            | dw::DW_TAG_class_type
            | dw::DW_TAG_union_type
            | dw::DW_TAG_enumeration_type
    )
}

/// Compares types as a reader sees them who looks up by name what they refer to.
struct Likeness<'a, 'd, 'o> {
    dwarf: &'d Dwarf<'o>,
    candidates: &'a Candidates,
    signatures: &'a mut Signatures<'d, 'o>,
    /// Pairs that are alike.
    alike: HashSet<(u32, u32)>,
    room: usize,
}

impl Likeness<'_, '_, '_> {
    /// Whether two types differ at most in source lines, and in types with equal names to which they refer.
    fn are_alike(&mut self, one: u32, other: u32) -> bool {
        let mut pairs = vec![(one, other)];
        let mut new = HashSet::new();
        let mut signatures = [Signature::default(), Signature::default()];
        while let Some((one, other)) = pairs.pop() {
            if one == other || self.alike.contains(&(one, other)) || !new.insert((one, other)) {
                continue;
            }
            let [size, other_size] = [one, other].map(|number| {
                let candidate = self.candidates.all[number as usize];
                candidate.end - candidate.start
            });
            if size != other_size {
                return false;
            }
            // A signature has all entries of a type.
            for _ in 0..size {
                crate::work::step();
            }
            let Some(room) = self.room.checked_sub(size as usize) else { return false };
            self.room = room;
            let [left, right] = &mut signatures;
            let is_written = self.signatures.write(one, Wanted::Shape, left).is_ok()
                && self.signatures.write(other, Wanted::Shape, right).is_ok();
            if !is_written || left.bytes != right.bytes {
                return false;
            }
            for (&one, &other) in left.refers.iter().zip(&right.refers) {
                match self.named(one).zip(self.named(other)) {
                    Some((one, other)) if one == other => {}
                    Some(_) => return false,
                    None => pairs.push((one, other)),
                }
            }
        }
        self.alike.extend(new);
        true
    }

    /// Returns what the name of a structure, class, union or enumeration is.
    fn named(&self, number: u32) -> Option<(Option<u32>, u16, &[u8])> {
        let entry = self.candidates.entry(self.dwarf, number).filter(|entry| is_tagged(entry.tag()))?;
        Some((self.candidates.all[number as usize].around, entry.tag().0, name(entry)?))
    }
}
