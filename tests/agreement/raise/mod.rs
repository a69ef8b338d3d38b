//! The bytes read back into a description: what the module says and what a reader finds are one tree of plain
//! facts.
//!
//! One half makes the tree of a module, by its public face; the other of the sections, with gimli and nothing
//! of this crate. They are compared with `==`. What is not in both trees, or is said in another way:
//!
//! | of | what | why |
//! |---|---|---|
//! | locations | only the pcs that have one | what they mean is compared by `check` |
//! | a place for the whole function | always, or a value | a list of one is no list |
//! | what was left out | nothing | the consumer was not told |
//! | frames, targets and arguments of calls | nothing where one of any was left out | not told which |
//! | data locations of arguments, pcs beside return pcs | from DWARF 5 | GNU's calls have no attribute |
//! | MD5 sums, embedded texts | from DWARF 5 | older line tables have no place |
//! | how objects are passed | from DWARF 5 | older versions have no number |
//! | where blocks and bodies begin, whether code was optimized | nothing | DWARF has no place |
//! | address and memory spaces, lanes, kernels | by the consumer's attributes | some have none |
//! | instances, definitions | have the name, type, line and flags of what they are one of | by reference |
//! | bit fields before DWARF 4 | bits from the start of the object | counted in storage units |
//! | base types | at the unit's start, without those of expressions | they are referred to by short offsets |
//! | types, variables, scopes of one scope | in order each, not among each other | that order says nothing |
//! | prototypes | nothing | they follow from the language |
//! | files | where there is a line program | nothing refers to them otherwise |
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

use crate::common;

/// Something that is described: facts by name, and what is inside of it.
#[derive(Debug, Default, Clone, PartialEq)]
struct Plain {
    kind: String,
    /// What others refer to it by: its number once [`numbered`](Self::numbered).
    ids: Vec<u64>,
    facts: BTreeMap<&'static str, Fact>,
    inside: Vec<Plain>,
}

#[derive(Debug, Clone, PartialEq)]
enum Fact {
    Text(String),
    /// Another one, by an id.
    To(u64),
}

impl Plain {
    fn new(kind: &str, id: Option<u64>) -> Self {
        Self { kind: kind.into(), ids: id.into_iter().collect(), ..Self::default() }
    }

    fn says(&mut self, fact: &'static str, what: impl std::fmt::Debug) {
        self.facts.insert(fact, Fact::Text(format!("{what:x?}")));
    }

    fn may(&mut self, fact: &'static str, what: Option<impl std::fmt::Debug>) {
        if let Some(what) = what {
            self.says(fact, what);
        }
    }

    fn is(&mut self, fact: &'static str, is: bool) {
        if is {
            self.says(fact, true);
        }
    }

    fn to(&mut self, fact: &'static str, other: Option<u64>) {
        if let Some(other) = other {
            self.facts.insert(fact, Fact::To(other));
        }
    }

    /// The same with the ids that follow from the order.
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

    /// Where two differ first: but for what refers to others, if they do, for the number of everything that
    /// follows depends on what is there.
    fn difference(&self, other: &Self) -> String {
        let (one, another) = (self.without_references(), other.without_references());
        if one == another { self.differs(other, "") } else { one.differs(&another, "") }
    }

    fn without_references(&self) -> Self {
        let is_number = |what: &Fact| matches!(what, Fact::Text(text) if text.starts_with('#'));
        let mut plain = self.clone();
        plain.facts.retain(|_, what| !is_number(what));
        plain.inside = self.inside.iter().map(Self::without_references).collect();
        plain
    }

    fn differs(&self, other: &Self, path: &str) -> String {
        let path = format!("{path}/{} {:?}", self.kind, self.facts.get("name"));
        if (&self.kind, &self.facts) != (&other.kind, &other.facts) {
            return format!("{path}:\n{:?}\n{} {:?}", self.facts, other.kind, other.facts);
        }
        let kinds = |plain: &Self| plain.inside.iter().map(|inner| inner.kind.clone()).collect::<Vec<_>>();
        if kinds(self) != kinds(other) {
            return format!("{path}: {:?}\n{:?}", kinds(self), kinds(other));
        }
        let pair = self.inside.iter().zip(&other.inside).find(|(one, other)| one != other);
        pair.map_or_else(|| format!("{path}: ids"), |(one, other)| one.differs(other, &path))
    }
}

/// What a preprocessor did: a word for it, a line, and a text or the name of a file.
type What = (&'static str, u64, String);

/// Subject facts they are, and how they were told.
#[derive(Clone, Copy)]
struct Told<'a> {
    consumer: &'a Consumer,
    /// Whether all of frames and calls was.
    has_calls: bool,
}

/// Symbols are this far apart: further than all code of a module is long.
const APART: u64 = 0x1_0000;

/// An address for a symbol, told apart from others by the number in its name.
fn address(symbol: &str) -> u64 {
    let digits = symbol.trim_start_matches(|char: char| !char.is_ascii_digit());
    APART * (1 + digits.parse::<u64>().unwrap_or(0xff_0000 + symbol.len() as u64))
}

/// Whether the sections say what the module does; a text if not.
pub fn same(module: &Module, consumer: &Consumer, lowered: &Lowered) -> Result<(), String> {
    let is_of_code = |subject| matches!(subject, Subject::Function(_) | Subject::Call(_));
    let has_calls = !lowered.omissions.iter().any(|left_out| is_of_code(left_out.subject));
    let told = Told { consumer, has_calls };
    let mut expected = described::Described::new(module, told, lowered).module().numbered();
    let linked = common::link(&lowered.sections, module.target(), address);
    let found = found::module(&common::reader(&linked), told).map_err(|error| error.to_string())?;
    let found = found.numbered();
    for (expected, found) in expected.inside.iter_mut().zip(&found.inside) {
        if !found.facts.contains_key("files") {
            expected.facts.remove("files");
        }
    }
    if expected == found { Ok(()) } else { Err(expected.difference(&found)) }
}
