//! Shapes: entities and values interned as numbers. Two with equal parts have the same number.

use hashbrown::DefaultHashBuilder;
use indexmap::IndexSet;

/// An interned sequence of parts.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(super) struct Shape(u32);

/// A part of a shape.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(super) enum Part {
    Word(&'static str),
    Text(String),
    Number(i128),
    Shape(Shape),
}

impl From<&'static str> for Part {
    fn from(word: &'static str) -> Self {
        Self::Word(word)
    }
}

impl From<String> for Part {
    fn from(text: String) -> Self {
        Self::Text(text)
    }
}

impl From<u64> for Part {
    fn from(number: u64) -> Self {
        Self::Number(number.into())
    }
}

impl From<Shape> for Part {
    fn from(shape: Shape) -> Self {
        Self::Shape(shape)
    }
}

/// Interns a shape of the given parts: `shape!(shapes; "word", text, number)`.
macro_rules! shape { ($shapes:expr; $($part:expr),* $(,)?) => {
    $shapes.of(vec![$($crate::spirv::check::shapes::Part::from($part)),*])
} }
pub(super) use shape;

/// All shapes of a comparison.
#[derive(Debug, Default)]
pub(super) struct Shapes(IndexSet<Vec<Part>, DefaultHashBuilder>);

/// Levels of nested shapes that a message shows.
const DEPTH: usize = 4;

/// Approximate number of bytes of a shape in a message.
const LENGTH: usize = 200;

impl Shapes {
    pub fn of(&mut self, parts: Vec<Part>) -> Shape {
        // Each record has a few shapes, so that there are far less than 2^32.
        Shape(self.0.insert_full(parts).0 as u32)
    }

    /// The shape as text.
    pub fn text(&self, shape: Shape) -> String {
        let mut text = String::new();
        self.add(shape, DEPTH, &mut text);
        text
    }

    fn add(&self, shape: Shape, depth: usize, text: &mut String) {
        let parts = self.0.get_index(shape.0 as usize).map_or(&[][..], |parts| parts);
        if depth == 0 {
            return text.push('…');
        }
        for (index, part) in parts.iter().enumerate() {
            if text.len() > LENGTH {
                return text.push('…');
            }
            if index > 0 {
                text.push(' ');
            }
            match part {
                Part::Word(word) => text.push_str(word),
                Part::Text(quoted) => {
                    let end = quoted.floor_char_boundary(LENGTH);
                    text.push_str(&format!("`{}`", quoted[..end].escape_debug()));
                }
                Part::Number(number) => text.push_str(&number.to_string()),
                Part::Shape(inner) => self.add(*inner, depth - 1, text),
            }
        }
    }
}
