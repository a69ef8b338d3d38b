//! Shapes: entities and values, interned as numbers, so that comparing two of them is one comparison. Two shapes with
//! equal parts have the same number.

use core::cell::RefCell;
use core::fmt;
use core::hash::{BuildHasher, Hash};
use std::borrow::Cow;
use std::collections::BTreeMap;

use hashbrown::hash_table::Entry;
use hashbrown::{DefaultHashBuilder, HashTable};

use crate::eval::Location;
use crate::model::BaseEncoding;
use crate::omission::{Property, Subject};
use crate::spirv::provider::DebugOperation;

/// An interned sequence of parts.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(super) struct Shape(u32);

/// Interned text.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(super) struct Text(u32);

/// A text in the module, as opposed to a word that the comparison uses.
#[derive(Debug, Clone, Copy)]
pub(super) struct Quoted<'t>(pub &'t str);

/// Another room's value, compared as a value. Its text is only for messages, because different values can have the same
/// text.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Typed {
    Location(Location),
    /// Operations that cannot be evaluated.
    Operations(Vec<DebugOperation>),
    Encoding(BaseEncoding),
    Bytes(Vec<u8>),
    /// A described property that no instruction encodes, with its entity's name for messages.
    Unencoded(Subject, Property, String),
}

impl fmt::Display for Typed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Location(location) => location.fmt(f),
            Self::Operations(operations) => write!(f, "{operations:?}"),
            Self::Encoding(encoding) => write!(f, "{encoding:?}"),
            Self::Bytes(bytes) => write!(f, "{bytes:?}"),
            Self::Unencoded(_, property, name) if name.is_empty() => property.fmt(f),
            Self::Unencoded(_, property, name) => write!(f, "{name}: {property}"),
        }
    }
}

/// A part of a shape.
#[derive(Debug, Clone)]
pub(super) enum Part<'t> {
    Word(&'t str),
    Quoted(Cow<'t, str>),
    Text(Text),
    Number(i128),
    Shape(Shape),
    Typed(Typed),
}

impl From<Typed> for Part<'_> {
    fn from(typed: Typed) -> Self {
        Self::Typed(typed)
    }
}

impl From<&'static str> for Part<'_> {
    fn from(word: &'static str) -> Self {
        Self::Word(word)
    }
}

impl From<String> for Part<'_> {
    fn from(text: String) -> Self {
        Self::Quoted(text.into())
    }
}

impl<'t> From<Quoted<'t>> for Part<'t> {
    fn from(text: Quoted<'t>) -> Self {
        Self::Quoted(text.0.into())
    }
}

impl From<Text> for Part<'_> {
    fn from(text: Text) -> Self {
        Self::Text(text)
    }
}

impl From<u64> for Part<'_> {
    fn from(number: u64) -> Self {
        Self::Number(number.into())
    }
}

impl From<Shape> for Part<'_> {
    fn from(shape: Shape) -> Self {
        Self::Shape(shape)
    }
}

/// Interns a shape with the given parts: `shape!(shapes; "word", text, number)`.
macro_rules! shape { ($shapes:expr; $($part:expr),* $(,)?) => {
    $shapes.shape(&[$($crate::spirv::check::shapes::Part::from($part)),*])
} }
pub(super) use shape;

/// All shapes in a comparison.
#[derive(Debug, Default)]
pub(super) struct Shapes(RefCell<Interned>);

#[derive(Debug, Default)]
struct Interned {
    /// Shapes as words, usually one word for each part.
    shapes: Sequences<u32>,
    texts: Sequences<u8>,
    /// Numbers for typed values.
    typed_values: BTreeMap<Typed, u32>,
    /// Buffer for the words of the shape that is looked up.
    words: Vec<u32>,
}

/// Part tags, in the lowest bits of the first word. The other bits hold an index or a number.
const WORD: u32 = 0;
const TEXT: u32 = 1;
const SHAPE: u32 = 2;
const NUMBER: u32 = 3;
/// A number whose 128 bits are the next words.
const LONG: u32 = 4;
const TYPED: u32 = 5;

/// Number of tag bits.
const TAG: u32 = 3;

/// Numbers below this one fit the first word.
const SHORT: i128 = 1 << (32 - TAG);

/// Sequences, each stored once.
#[derive(Debug)]
struct Sequences<T> {
    /// All sequences, one after the other.
    items: Vec<T>,
    /// Where each sequence ends.
    ends: Vec<usize>,
    indices: HashTable<u32>,
    hasher: DefaultHashBuilder,
}

impl<T> Default for Sequences<T> {
    fn default() -> Self {
        let hasher = DefaultHashBuilder::default();
        Self { items: Vec::new(), ends: Vec::new(), indices: HashTable::new(), hasher }
    }
}

fn sequence<'s, T>(items: &'s [T], ends: &[usize], index: u32) -> &'s [T] {
    let index = index as usize;
    let start = index.checked_sub(1).map_or(0, |before| ends[before]);
    &items[start..ends[index]]
}

impl<T: Copy + Eq + Hash> Sequences<T> {
    /// A sequence's index.
    fn intern(&mut self, parts: &[T]) -> u32 {
        let Self { items, ends, indices, hasher } = self;
        let is_equal = |&index: &u32| sequence(items, ends, index) == parts;
        let hash_of = |&index: &u32| hasher.hash_one(sequence(items, ends, index));
        // The hash is computed once for lookup and insertion.
        match indices.entry(hasher.hash_one(parts), is_equal, hash_of) {
            Entry::Occupied(entry) => *entry.get(),
            Entry::Vacant(entry) => {
                let index = ends.len() as u32;
                entry.insert(index);
                items.extend_from_slice(parts);
                ends.push(items.len());
                index
            }
        }
    }

    fn get(&self, index: u32) -> &[T] {
        sequence(&self.items, &self.ends, index)
    }
}

/// Levels of nested shapes in a message.
const DEPTH: usize = 4;

/// Approximate size of a shape in a message, in bytes.
const LENGTH: usize = 200;

impl Shapes {
    pub fn shape(&self, parts: &[Part<'_>]) -> Shape {
        let Interned { shapes, texts, typed_values, words } = &mut *self.0.borrow_mut();
        words.clear();
        for part in parts {
            // Each record has few shapes and texts, so that their indices have fewer than 29 bits.
            let word = match part {
                Part::Word(word) => texts.intern(word.as_bytes()) << TAG | WORD,
                Part::Quoted(text) => texts.intern(text.as_bytes()) << TAG | TEXT,
                Part::Text(text) => text.0 << TAG | TEXT,
                Part::Shape(shape) => shape.0 << TAG | SHAPE,
                Part::Typed(typed) => {
                    let next = typed_values.len() as u32;
                    // Look up by reference first: a clone is needed only for a new value.
                    let number = typed_values.get(typed).copied();
                    number.unwrap_or_else(|| *typed_values.entry(typed.clone()).or_insert(next)) << TAG
                        | TYPED
                }
                &Part::Number(number @ 0..SHORT) => (number as u32) << TAG | NUMBER,
                &Part::Number(number) => {
                    words.push(LONG);
                    words.extend([0, 32, 64].map(|shift| (number >> shift) as u32));
                    (number >> 96) as u32
                }
            };
            words.push(word);
        }
        Shape(shapes.intern(words))
    }

    pub fn text_of(&self, text: &str) -> Text {
        Text(self.0.borrow_mut().texts.intern(text.as_bytes()))
    }

    /// The shape as text.
    pub fn text(&self, shape: Shape) -> String {
        let mut text = String::new();
        self.0.borrow().add(shape, DEPTH, &mut text);
        text
    }

    /// The properties in a shape, with their names in messages, and their values.
    pub fn properties(&self, shape: Shape) -> Vec<(Property, String, Shape)> {
        let interned = self.0.borrow();
        // A record's shape lists number, name and value for each property.
        let mut list = Vec::new();
        let mut property = Property::Entity;
        let mut name = "";
        for part in interned.parts(shape) {
            match part {
                Parsed::Number(number) => {
                    let known = usize::try_from(number).ok().and_then(Property::from_number);
                    property = known.unwrap_or(Property::Entity);
                }
                Parsed::Word(word) => name = word,
                Parsed::Shape(value) => list.push((property, name.to_owned(), value)),
                Parsed::Quoted(_) | Parsed::Typed(_) => {}
            }
        }
        list
    }
}

/// A part read back from an interned shape.
enum Parsed<'s> {
    Word(&'s str),
    Quoted(&'s str),
    Number(i128),
    Shape(Shape),
    /// A typed value's number.
    Typed(u32),
}

impl Interned {
    fn parts(&self, shape: Shape) -> impl Iterator<Item = Parsed<'_>> {
        let mut rest = self.shapes.get(shape.0);
        let text = |index| str::from_utf8(self.texts.get(index)).unwrap_or_default();
        core::iter::from_fn(move || {
            let (&first, more) = rest.split_first()?;
            rest = more;
            let value = first >> TAG;
            Some(match first % (1 << TAG) {
                WORD => Parsed::Word(text(value)),
                TEXT => Parsed::Quoted(text(value)),
                SHAPE => Parsed::Shape(Shape(value)),
                NUMBER => Parsed::Number(value.into()),
                TYPED => Parsed::Typed(value),
                _ => {
                    let (words, more) = rest.split_first_chunk::<4>()?;
                    rest = more;
                    Parsed::Number(
                        words.iter().rev().fold(0, |number, &word| number << 32 | i128::from(word)),
                    )
                }
            })
        })
    }

    fn add(&self, shape: Shape, depth: usize, text: &mut String) {
        // Shapes can be nested without limit, so that a message shows only the first levels and bytes.
        if depth == 0 {
            return text.push('…');
        }
        for (index, part) in self.parts(shape).enumerate() {
            if text.len() > LENGTH {
                return text.push('…');
            }
            if index > 0 {
                text.push(' ');
            }
            match part {
                Parsed::Word(word) => text.push_str(word),
                Parsed::Quoted(quoted) => quote(quoted, text),
                Parsed::Typed(number) => {
                    let typed = self.typed_values.iter().find(|&(_, &of)| of == number);
                    quote(&typed.map(|(typed, _)| typed.to_string()).unwrap_or_default(), text);
                }
                Parsed::Number(number) => text.push_str(&number.to_string()),
                Parsed::Shape(inner) => self.add(inner, depth - 1, text),
            }
        }
    }
}

/// Adds a quoted text, or its beginning if it is long.
fn quote(quoted: &str, text: &mut String) {
    let end = quoted.floor_char_boundary(LENGTH);
    text.push_str(&format!("`{}`", quoted[..end].escape_debug()));
}

#[cfg(test)]
mod tests {
    use super::{Part, Shapes, Typed};
    use crate::eval::Location;
    use crate::target::SpaceId;

    #[test]
    fn locations_with_one_text_are_compared_by_value() {
        let shapes = Shapes::default();
        let memory = |address_bits| Location::memory(SpaceId::DEFAULT, address_bits, 0x10);
        let shape = |location: &Location| shapes.shape(&[Part::Typed(Typed::Location(location.clone()))]);
        let narrow = memory(32);
        let wide = memory(64);
        assert_eq!(narrow.to_string(), wide.to_string());
        assert_ne!(shape(&narrow), shape(&wide));
        assert_eq!(shape(&narrow), shape(&memory(32)));
        assert_eq!(shapes.text(shape(&narrow)), format!("`{narrow}`"));
    }
}
