//! Names of units in a baseline: the end of a path, as short as it can be while other units of the run have other names.

use std::collections::{BTreeMap, BTreeSet};

use hashbrown::HashMap;

/// A unit, and the object that contains it.
#[derive(Debug, Clone, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Unit {
    /// Path of the unit, or of the object for a finding about no unit; in a baseline, the end of the path.
    pub path: String,
    /// Name of the object; in a baseline, its end, or `None` if the unit is in a single object.
    pub object: Option<String>,
}

/// Units with the objects that contain them.
#[derive(Debug, Default)]
pub struct Units(BTreeMap<String, BTreeSet<String>>);

/// Separators in paths of any system.
const SEPARATORS: [char; 2] = ['/', '\\'];

impl Units {
    /// Adds a unit.
    pub fn add(&mut self, unit: &Unit) {
        let objects = match self.0.get_mut(&unit.path) {
            Some(objects) => objects,
            None => self.0.entry(unit.path.clone()).or_default(),
        };
        if let Some(object) = unit.object.as_ref().filter(|object| !objects.contains(*object)) {
            objects.insert(object.clone());
        }
    }

    /// Returns the name of each unit.
    pub fn names(&self) -> Names {
        let ends = ends(self.0.keys());
        let names = self.0.iter().map(|(path, objects)| {
            let objects = if objects.len() > 1 { ends_by_path(objects) } else { HashMap::new() };
            (path.clone(), (ends[path.as_str()].to_owned(), objects))
        });
        Names(names.collect())
    }
}

/// Names of units and objects, by path.
#[derive(Debug)]
pub struct Names(BTreeMap<String, (String, HashMap<String, String>)>);

impl Names {
    /// Returns the name of a unit.
    pub fn name(&self, unit: &Unit) -> Unit {
        let Some((path, objects)) = self.0.get(&unit.path) else { return unit.clone() };
        let object = unit.object.as_ref().and_then(|object| objects.get(object));
        Unit { path: path.clone(), object: object.cloned() }
    }

    /// Returns the units whose names are more than a file name, with the names of their objects if there are several, in the
    /// order of their full paths.
    pub fn ambiguous(&self) -> impl Iterator<Item = (&str, BTreeSet<&str>)> {
        let names =
            self.0.values().map(|(path, objects)| (&**path, objects.values().map(|it| &**it).collect()));
        names.filter(|(path, objects): &(_, BTreeSet<_>)| path.contains(SEPARATORS) || !objects.is_empty())
    }
}

/// Ambiguous units that a baseline knows, by file name.
#[derive(Debug, Default)]
pub struct Known(HashMap<String, BTreeMap<String, BTreeSet<String>>>);

impl Known {
    /// Adds a unit with the objects that contain it, if they are several.
    pub fn add(&mut self, path: String, objects: BTreeSet<String>) {
        self.0.entry(end(&path, 1).to_owned()).or_default().entry(path).or_default().extend(objects);
    }

    /// Returns the name that the baseline has for a unit. An unknown unit gets a name that the baseline does not have, if it
    /// has several units with the file name.
    pub fn name(&self, unit: &Unit) -> Unit {
        let file_name = end(&unit.path, 1);
        let Some(known) = self.0.get(file_name) else {
            return Unit { path: file_name.to_owned(), object: None };
        };
        let Some(path) = longest_end(&unit.path, known.keys()) else { return unit.clone() };
        let objects = &known[&path];
        let object = unit.object.as_ref().filter(|_| !objects.is_empty());
        let object = object.map(|object| longest_end(object, objects.iter()).unwrap_or(object.clone()));
        Unit { path, object }
    }

    /// Returns the units.
    pub fn units(&self) -> impl Iterator<Item = Unit> {
        self.0.values().flatten().flat_map(|(path, objects)| {
            let objects = objects.iter().cloned().map(Some).chain(objects.is_empty().then_some(None));
            objects.map(|object| Unit { path: path.clone(), object })
        })
    }
}

/// Returns the last names in a path.
fn end(path: &str, names: usize) -> &str {
    let separator = names.checked_sub(1).and_then(|last| path.rmatch_indices(SEPARATORS).nth(last));
    separator.map_or(path, |(index, _)| &path[index + 1..])
}

/// Returns the longest name that is the end of a path, or else of the path with the current folder before it.
fn longest_end<'n>(path: &str, names: impl Iterator<Item = &'n String> + Clone) -> Option<String> {
    let longest =
        |path: &str| names.clone().filter(|name| is_end(path, name)).max_by_key(|name| name.len()).cloned();
    longest(path).or_else(|| longest(std::path::absolute(path).ok()?.to_str()?))
}

/// Whether a path ends with whole names.
fn is_end(path: &str, end: &str) -> bool {
    path.strip_suffix(end).is_some_and(|before| before.is_empty() || before.ends_with(SEPARATORS))
}

/// Returns the shortest end of each path that no other path has.
fn ends<'p>(paths: impl Iterator<Item = &'p String>) -> HashMap<&'p str, &'p str> {
    let mut paths: Vec<&str> = paths.map(String::as_str).collect();
    let names = |path: &'p str| path.rsplit(SEPARATORS);
    // Paths with equal ends are neighbours.
    paths.sort_unstable_by(|first, second| names(first).cmp(names(second)));
    let equal = |first: &'p str, second: &'p str| {
        names(first).zip(names(second)).take_while(|(first, second)| first == second).count()
    };
    let mut before = 0;
    let ends = paths.iter().enumerate().map(|(index, path)| {
        let after = paths.get(index + 1).map_or(0, |next| equal(path, next));
        let most = std::mem::replace(&mut before, after).max(after);
        (*path, end(path, most + 1))
    });
    ends.collect()
}

/// Returns the ends as [`ends`] does, with paths that are kept.
fn ends_by_path(paths: &BTreeSet<String>) -> HashMap<String, String> {
    ends(paths.iter()).into_iter().map(|(path, end)| (path.to_owned(), end.to_owned())).collect()
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::{Known, Unit, Units};

    fn unit(path: &str, object: &str) -> Unit {
        Unit { path: path.into(), object: Some(object.into()) }
    }

    #[test]
    fn names_are_as_short_as_they_can_be() {
        let mut units = Units::default();
        let rows = [
            (("/p/a/x.cl", "a.o"), ("a/x.cl", None)),
            (("/p/b/x.cl", "b.o"), ("p/b/x.cl", None)),
            (("/q/b/x.cl", "q/b.o"), ("q/b/x.cl", None)),
            (("/p/k.cl", "build/gfx9/k.o"), ("k.cl", Some("gfx9/k.o"))),
            (("/p/k.cl", "build/gfx11/k.o"), ("k.cl", Some("gfx11/k.o"))),
            (("C:\\p\\main.hlsl", "m.o"), ("main.hlsl", None)),
        ];
        for ((path, object), _) in rows {
            units.add(&unit(path, object));
        }
        let names = units.names();
        for ((path, object), (name, in_object)) in rows {
            let expected = Unit { path: name.into(), object: in_object.map(String::from) };
            assert_eq!(names.name(&unit(path, object)), expected);
        }
        let ambiguous: Vec<_> = names.ambiguous().map(|(path, objects)| (path, objects.len())).collect();
        assert_eq!(ambiguous, [("a/x.cl", 0), ("p/b/x.cl", 0), ("k.cl", 2), ("q/b/x.cl", 0)]);
    }

    #[test]
    fn known_names_are_ends_of_paths() {
        let mut known = Known::default();
        known.add("a/x.cl".into(), BTreeSet::new());
        known.add("b/x.cl".into(), BTreeSet::from(["gfx9/k.o".into(), "gfx11/k.o".into()]));
        let name = |path: &str, object: &str| known.name(&unit(path, object));
        // Another folder, and another build folder.
        assert_eq!(name("/new/a/x.cl", "x.o"), Unit { path: "a/x.cl".into(), object: None });
        assert_eq!(name("/new/b/x.cl", "out/gfx9/k.o"), unit("b/x.cl", "gfx9/k.o"));
        // Unknown units and objects have names of their own, as do parts of names.
        assert_eq!(name("/new/c/x.cl", "x.o"), unit("/new/c/x.cl", "x.o"));
        assert_eq!(name("/new/aa/x.cl", "x.o"), unit("/new/aa/x.cl", "x.o"));
        assert_eq!(name("/new/b/x.cl", "out/gfx10/k.o"), unit("b/x.cl", "out/gfx10/k.o"));
        assert_eq!(name("/new/y.cl", "x.o"), Unit { path: "y.cl".into(), object: None });
    }
}
