//! A file's objects and a vector's, merged key by key.

use super::values::{Given, Step, Wrong};

/// The objects and their paths, the file's first.
#[derive(Debug, Clone)]
pub(super) struct Layers<'a, L>(pub Vec<Layer<'a, L>>);

#[derive(Debug, Clone)]
pub(super) struct Layer<'a, L> {
    pub object: &'a L,
    pub path: Vec<Step>,
}

/// A value and its path.
#[derive(Debug)]
pub(super) struct Item<'a, T> {
    pub value: &'a T,
    path: Vec<Step>,
    /// Whether the innermost object provides the value.
    pub is_own: bool,
}

impl<T> Item<'_, T> {
    /// Prefixes an error's path in a part of the value with the value's path.
    pub fn wrong(&self, wrong: Wrong) -> Wrong {
        Wrong { path: self.path.iter().cloned().chain(wrong.path).collect(), what: wrong.what }
    }

    /// An error about the value.
    pub fn error(&self, what: impl Into<String>) -> Wrong {
        self.wrong(Wrong::new(what))
    }
}

impl<'a, L> Layers<'a, L> {
    /// Returns a key's values in all objects that have it, starting after the last object that removes it.
    pub fn all<T>(&self, key: &str, get: impl Fn(&'a L) -> &'a Given<T>) -> Vec<Item<'a, T>> {
        let mut items = Vec::new();
        for (index, layer) in self.0.iter().enumerate() {
            match get(layer.object) {
                Given::Absent => {}
                // `null` removes what earlier objects gave.
                Given::Taken => items.clear(),
                Given::Is(value) => {
                    let key = Step::Key(key.to_owned());
                    let path = layer.path.iter().cloned().chain([key]).collect();
                    items.push(Item { value, path, is_own: index + 1 == self.0.len() });
                }
            }
        }
        items
    }

    /// Returns a key's value in the last object that has it.
    pub fn last<T>(&self, key: &str, get: impl Fn(&'a L) -> &'a Given<T>) -> Option<Item<'a, T>> {
        self.all(key, get).pop()
    }

    /// The error for a missing key.
    pub fn missing(&self, key: &str) -> Wrong {
        let path = self.0.last().map_or_else(Vec::new, |layer| layer.path.clone());
        Wrong { path, what: format!("missing field `{key}`") }
    }
}

/// Gets a key's values: `layers.last("pc", |object| &object.pc)`.
macro_rules! last {
    ($layers:expr, $key:ident) => {
        $layers.last(stringify!($key), |object| &object.$key)
    };
}
macro_rules! all {
    ($layers:expr, $key:ident) => {
        $layers.all(stringify!($key), |object| &object.$key)
    };
}
pub(super) use {all, last};
