//! Comparison of a module with the emitted sections, as two equal trees of tree facts.
//!
//! One half makes the tree of a module through its public interface; the other makes that of the sections with gimli
//! and nothing of this crate. The trees are compared with `==`. These facts are not in both trees, or are normalised:
//!
//! | subject | facts compared | reason |
//! |---|---|---|
//! | locations | only pc ranges with a location | `check` compares the meaning |
//! | a location for the whole function | fixed location, or value | a list of one range is emitted without a list |
//! | omissions | nothing | not emitted |
//! | frames, targets and arguments of calls | nothing if any was omitted | omissions do not identify them |
//! | MD5 sums, embedded texts | from DWARF 5 | older line tables have no field |
//! | lines of bodies | nothing | DWARF has no attribute |
//! | lines and discriminators of blocks, whether code was optimized | nothing | `tests/strict/lost.rs` compares them |
//! | address and memory spaces, lanes, kernels | by the consumer's attributes | some consumers have none |
//! | instances, definitions | name, type, line and flags, or those of the origin or declaration | by reference |
//! | bit fields before DWARF 4 | bits from the start of the object | counted in storage units |
//! | base types | at the unit's start, without those of expressions | expressions reference them by short offsets |
//! | types, variables, scopes of one scope | each kind in order | the order between kinds has no meaning |
//! | prototypes | nothing | they follow from the language |
//! | files | units with a line program | nothing references them otherwise |
//! | procedures, stack frames | nothing | parts of locations |

mod described;
mod described_types;
mod found;
mod found_types;
mod seen;

use std::collections::BTreeMap;

use eitri::lower::{Consumer, Lowered};
use eitri::model::Module;
use eitri::omission::Subject;

use crate::agreement::common;

/// A described entity: facts by name, and nested entities.
#[derive(Debug, Default, Clone, PartialEq)]
struct Tree {
    kind: String,
    /// Ids that references use; the entity's index once [`numbered`](Self::numbered).
    ids: Vec<u64>,
    facts: BTreeMap<&'static str, Fact>,
    inside: Vec<Tree>,
}

#[derive(Debug, Clone, PartialEq)]
enum Fact {
    Text(String),
    /// A reference to another entity by id.
    To(u64),
}

impl Tree {
    fn new(kind: &str, id: Option<u64>) -> Self {
        Self { kind: kind.into(), ids: id.into_iter().collect(), ..Self::default() }
    }

    fn add(&mut self, fact: &'static str, what: impl std::fmt::Debug) {
        self.facts.insert(fact, Fact::Text(format!("{what:x?}")));
    }

    fn may(&mut self, fact: &'static str, what: Option<impl std::fmt::Debug>) {
        if let Some(what) = what {
            self.add(fact, what);
        }
    }

    fn is(&mut self, fact: &'static str, is: bool) {
        if is {
            self.add(fact, true);
        }
    }

    fn to(&mut self, fact: &'static str, other: Option<u64>) {
        if let Some(other) = other {
            self.facts.insert(fact, Fact::To(other));
        }
    }

    /// Replaces ids by indices in tree order.
    fn numbered(mut self) -> Self {
        let mut numbers = BTreeMap::new();
        self.number(&mut 0, &mut numbers);
        self.refer(&numbers);
        self
    }

    fn number(&mut self, next: &mut u64, numbers: &mut BTreeMap<u64, u64>) {
        numbers.extend(self.ids.drain(..).map(|id| (id, *next)));
        *next += 1;
        self.inside.sort_by(|one, other| one.kind.cmp(&other.kind));
        self.inside.iter_mut().for_each(|inner| inner.number(next, numbers));
    }

    fn refer(&mut self, numbers: &BTreeMap<u64, u64>) {
        for fact in self.facts.values_mut() {
            if let Fact::To(id) = fact {
                *fact = Fact::Text(numbers.get(id).map_or("nowhere".into(), |number| format!("#{number}")));
            }
        }
        self.inside.iter_mut().for_each(|inner| inner.refer(numbers));
    }

    /// First difference of two trees. References are compared last, because one missing entity changes the indices of
    /// all that follow it.
    fn difference(&self, other: &Self) -> String {
        let one = self.without_references();
        let another = other.without_references();
        if one == another { self.differs(other, "") } else { one.differs(&another, "") }
    }

    fn without_references(&self) -> Self {
        let is_number = |what: &Fact| matches!(what, Fact::Text(text) if text.starts_with('#'));
        let mut tree = self.clone();
        tree.facts.retain(|_, what| !is_number(what));
        tree.inside = self.inside.iter().map(Self::without_references).collect();
        tree
    }

    fn differs(&self, other: &Self, path: &str) -> String {
        let path = format!("{path}/{} {:?}", self.kind, self.facts.get("name"));
        if (&self.kind, &self.facts) != (&other.kind, &other.facts) {
            return format!("{path}:\n{:?}\n{} {:?}", self.facts, other.kind, other.facts);
        }
        let kinds = |tree: &Self| tree.inside.iter().map(|inner| inner.kind.clone()).collect::<Vec<_>>();
        if kinds(self) != kinds(other) {
            return format!("{path}: {:?}\n{:?}", kinds(self), kinds(other));
        }
        let pair = self.inside.iter().zip(&other.inside).find(|(one, other)| one != other);
        pair.map_or_else(|| format!("{path}: ids"), |(one, other)| one.differs(other, &path))
    }
}

/// Action of the preprocessor: its word, a line, and a text or a file's name.
type What = (&'static str, u64, String);

/// Context of a tree: the consumer and the extent of the emission.
#[derive(Clone, Copy)]
struct Context<'a> {
    consumer: &'a Consumer,
    /// Whether all frames and calls were emitted.
    has_calls: bool,
}

/// Distance between symbols in bytes: more than the size of all code of a module.
const APART: u64 = 0x1_0000;

/// Address for a symbol, from the number in its name.
fn address(symbol: &str) -> u64 {
    let digits = symbol.trim_start_matches(|char: char| !char.is_ascii_digit());
    APART * (1 + digits.parse::<u64>().unwrap_or(0xff_0000 + symbol.len() as u64))
}

/// Compares the sections with the module; an error is the first difference.
pub fn compare(module: &Module, consumer: &Consumer, lowered: &Lowered) -> Result<(), String> {
    let is_of_code =
        |subject| matches!(subject, Subject::Function(_) | Subject::Call(_) | Subject::Argument(..));
    let has_calls = !lowered.omissions.iter().any(|omission| is_of_code(omission.subject));
    let context = Context { consumer, has_calls };
    let mut expected = described::Described::new(module, context, lowered).module().numbered();
    let linked = common::link(&lowered.sections, module.target(), address);
    let found = found::module(&common::reader(&linked), context).map_err(|error| error.to_string())?;
    let found = found.numbered();
    for (expected, found) in expected.inside.iter_mut().zip(&found.inside) {
        if !found.facts.contains_key("files") {
            expected.facts.remove("files");
        }
    }
    if expected == found { Ok(()) } else { Err(expected.difference(&found)) }
}
