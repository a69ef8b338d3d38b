//! What an object says of its types, without the unit in which they are, and of all else.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::hash::{DefaultHasher, Hash, Hasher};

use eitri::gimli::constants as dw;
use eitri::read::{Dwarf, Entry, Object};

use crate::import::facts::{Fact, facts, is_type, label};

/// What an object says of its types and of all else.
#[derive(Debug, Default, PartialEq, Eq)]
struct Said {
    /// Types outside functions, and their parts, each with what it refers to.
    types: BTreeSet<String>,
    /// Number of entries with each text.
    entities: BTreeMap<String, usize>,
}

/// Depth to which the types of an entry are compared. Each type is compared to this depth, so that every difference shows.
const DEPTH: usize = 3;

struct Hashes<'d, 'o> {
    dwarf: &'d Dwarf<'o>,
    facts: HashMap<u64, Fact>,
    known: HashMap<(u64, usize), u64>,
}

impl<'d, 'o> Hashes<'d, 'o> {
    /// Hashes an entry with its attributes and parts, and with the types to which they refer.
    fn hash(&mut self, entry: Entry<'d, 'o>, depth: usize) -> u64 {
        if let Some(&known) = self.known.get(&(entry.offset(), depth)) {
            return known;
        }
        let mut hasher = DefaultHasher::new();
        entry.tag().0.hash(&mut hasher);
        if let Some(fact) = self.facts.get(&entry.offset()) {
            fact.attributes.hash(&mut hasher);
        }
        if is_type(entry.tag()) {
            let mut parts: Vec<u64> = entry.children().map(|child| self.hash(child, depth)).collect();
            parts.sort_unstable();
            parts.hash(&mut hasher);
        }
        for name in [dw::DW_AT_type, dw::DW_AT_containing_type, dw::DW_AT_import] {
            if let Some(referred) = entry.reference(name).filter(|_| depth > 0) {
                self.hash(referred, depth - 1).hash(&mut hasher);
            }
        }
        let hash = hasher.finish();
        self.known.insert((entry.offset(), depth), hash);
        hash
    }
}

fn said(bytes: &[u8]) -> Said {
    let object = Object::read(bytes).expect("it is read");
    let dwarf = Dwarf::read(&object).expect("it is read");
    let all = facts(&dwarf);
    let facts = all.iter().map(|fact| (fact.offset, fact.clone())).collect();
    let mut hashes = Hashes { dwarf: &dwarf, facts, known: HashMap::new() };
    let mut said = Said::default();
    for fact in all {
        let entry = hashes.dwarf.entry_at(fact.offset).expect("an entry");
        let hash = hashes.hash(entry, DEPTH);
        let Fact { path, attributes, .. } = fact;
        if is_in_type(entry) {
            let root = hashes.dwarf.root(entry.unit()).map(label).unwrap_or_default();
            let path = path.strip_prefix(&format!("/{root}")).unwrap_or(&path);
            said.types.insert(format!("{path} {attributes:?} {hash:x}"));
        } else if entry.tag() != dw::DW_TAG_namespace && entry.parent().is_some() {
            *said.entities.entry(format!("{path} {attributes:?} {hash:x}")).or_default() += 1;
        }
    }
    said
}

/// Whether an entry is a type outside functions, or a part of such a type.
fn is_in_type(entry: Entry<'_, '_>) -> bool {
    let around: Vec<_> = std::iter::successors(Some(entry), |entry| entry.parent()).collect();
    let outermost = around.iter().rposition(|around| is_type(around.tag()));
    let function = around.iter().rposition(|around| around.tag() == dw::DW_TAG_subprogram);
    outermost.is_some_and(|ty| function.is_none_or(|function| function < ty))
}

/// Requires that two objects say the same.
pub(super) fn assert_same(name: &str, plain: &[u8], merged: &[u8]) {
    let [plain, merged] = [plain, merged].map(said);
    let lost: Vec<_> = plain.types.difference(&merged.types).take(5).collect();
    let new: Vec<_> = merged.types.difference(&plain.types).take(5).collect();
    assert!(lost.is_empty() && new.is_empty(), "{name}: types {lost:#?} became {new:#?}");
    let differs = |one: &Said, other: &Said| -> Vec<String> {
        let is_other = |(text, count): &(&String, &usize)| other.entities.get(*text) != Some(*count);
        one.entities.iter().filter(is_other).map(|(text, count)| format!("{count} {text}")).take(5).collect()
    };
    let [lost, new] = [differs(&plain, &merged), differs(&merged, &plain)];
    assert!(lost.is_empty() && new.is_empty(), "{name}: {lost:#?} became {new:#?}");
}

/// What an object says of all but types outside functions.
pub(super) fn entities(bytes: &[u8]) -> BTreeMap<String, usize> {
    said(bytes).entities
}
