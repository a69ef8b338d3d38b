//! Source functions and variables. All instances of a function count once, because inlining copies its variables.

use hashbrown::{HashMap, HashSet};

use super::statistics::Counts;
#[doc(hidden)]
pub use eitri_dwarf::read::{Recurring, StringId, StringIds};

/// Numbers of the blocks and parameters around a variable.
pub(super) type Path = u32;
/// Path outside functions.
pub(super) const GLOBAL: Path = 0;
/// A function's own path.
pub(super) const FUNCTION: Path = 1;

/// Counts for the functions that share a name.
#[derive(Debug, Default)]
pub(super) struct Named {
    /// Whether a function has the name. The first element, which is no function, counts variables outside functions.
    pub(super) is_function: bool,
    pub(super) has_source: bool,
    pub(super) inlined: u64,
    pub(super) out_of_line: u64,
    pub(super) with_origin: u64,
    unique: u64,
    pub(super) other_lines: u64,
}

/// Variable key, equal for all instances: function, path, name.
pub(super) type Key = (u32, Path, StringId);
/// File and line for a variable outside functions.
pub(super) type Declared = (String, u64);

/// Functions and variables in several units.
#[derive(Debug)]
pub(super) struct Source<'r> {
    functions: Vec<Named>,
    names: HashMap<String, u32>,
    /// Paths by the path around them, whether it is a block, and its number.
    paths: HashMap<(Path, bool, u32), Path>,
    pub(super) strings: StringIds<'r>,
    variables: Recurring<Key>,
    /// Variables outside functions.
    globals: HashSet<(Key, Declared)>,
}

impl<'r> Source<'r> {
    pub(super) fn new() -> Self {
        Self {
            functions: vec![Named::default()],
            names: HashMap::new(),
            paths: HashMap::new(),
            strings: StringIds::default(),
            variables: Recurring::default(),
            globals: HashSet::new(),
        }
    }

    /// Returns the path for a block or parameter, by its number in the path around it.
    pub(super) fn path(&mut self, around: Path, is_block: bool, number: u32) -> Path {
        let next = self.paths.len() as Path + FUNCTION + 1;
        *self.paths.entry((around, is_block, number)).or_insert(next)
    }

    /// Returns the index for the functions with a name.
    pub(super) fn function(&mut self, name: String) -> u32 {
        let next = self.functions.len() as u32;
        let index = *self.names.entry(name).or_insert(next);
        if index == next {
            self.functions.push(Named::default());
        }
        index
    }

    /// Returns the functions with an index.
    pub(super) fn named(&mut self, index: u32) -> &mut Named {
        &mut self.functions[index as usize]
    }

    /// Counts a function's variable, unless another instance was counted.
    pub(super) fn variable(&mut self, key: Key, declared: Option<Declared>) {
        let is_new = match declared {
            None => self.variables.add(key).1,
            Some(declared) => self.globals.insert((key, declared)),
        };
        self.named(key.0).unique += u64::from(is_new);
    }

    /// Adds later units' functions and variables.
    pub(super) fn append(&mut self, later: Self) {
        let mut paths: Vec<_> = later.paths.into_iter().collect();
        // A path comes after that around it.
        paths.sort_unstable_by_key(|path| path.1);
        let mut known = vec![GLOBAL, FUNCTION];
        for ((around, is_block, number), _) in paths {
            known.push(self.path(known[around as usize], is_block, number));
        }
        let mut functions = vec![0; later.functions.len()];
        for (name, index) in later.names {
            functions[index as usize] = self.function(name);
        }
        for (group, index) in later.functions.into_iter().zip(&functions) {
            let own = self.named(*index);
            own.is_function |= group.is_function;
            own.has_source |= group.has_source;
            own.inlined += group.inlined;
            own.out_of_line += group.out_of_line;
            own.with_origin += group.with_origin;
            own.other_lines += group.other_lines;
        }
        let strings: Vec<_> =
            later.strings.bytes().iter().map(|bytes| self.strings.of_bytes(bytes)).collect();
        let key = |(function, path, name): Key| {
            (functions[function as usize], known[path as usize], strings[name as usize])
        };
        later.variables.keys().iter().for_each(|variable| self.variable(key(*variable), None));
        later
            .globals
            .into_iter()
            .for_each(|(variable, declared)| self.variable(key(variable), Some(declared)));
    }

    /// Sums all functions and variables.
    pub(super) fn count(&self, counts: &mut Counts) {
        for group in &self.functions {
            counts.unique_variables += group.unique;
            if group.is_function {
                counts.functions += 1;
                counts.functions_with_source += u64::from(group.has_source);
                counts.inlined += group.inlined;
                counts.inlined_with_origin += group.with_origin;
                counts.variables += group.unique * (group.inlined + group.out_of_line);
            } else {
                counts.variables += group.other_lines;
            }
        }
    }
}
