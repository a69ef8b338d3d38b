//! A program's modules, described one after the other.

use hashbrown::HashTable;

use super::builder::Builder;
use crate::error::Result;
use crate::model::{Lanes, Module, PrimaryMap, SecondaryMap};

/// Variable count from which a module is large: it is handed over without unused memory, which is not kept. Nor is a
/// hash table with as many elements, because clearing it takes time for each of its slots.
const LARGE: usize = 1 << 10;

impl Builder {
    /// Finishes the module, hands it over, and begins the next module of the program in the same memory.
    ///
    /// The next module has the same target, and its names keep their numbers, by which a
    /// [`Stream`](crate::lower::Stream) finds them: ids from the module that was handed over, other than
    /// [symbols](crate::model::Symbol), are invalid in it. A program with many small modules is written faster in this
    /// way than with a builder for each of them. The names stay in memory, so that a program with large modules takes
    /// less memory with a builder for each.
    ///
    /// ```
    /// # use eitri::{build::Builder, lower::{Consumer, Policy, Stream}, target::Target};
    /// let consumer = Consumer::dwarf5();
    /// let mut stream = Stream::new(&consumer, Policy::Strict);
    /// let mut m = Builder::new(Target::x86_64());
    /// for name in ["a.c", "b.c", "c.c"] {
    ///     m.unit(name);
    ///     m.hand_over(|module| stream.push(module))?;
    /// }
    /// assert!(!stream.finish()?.is_empty());
    /// # Ok::<(), eitri::Error>(())
    /// ```
    ///
    /// # Errors
    /// Same errors as [`finish`](Self::finish), and the errors that `take` returns. The next module begins after an
    /// error too.
    pub fn hand_over<T>(&mut self, take: impl FnOnce(&Module) -> Result<T>) -> Result<T> {
        let ended = self.end();
        let is_large = self.module.variables.len() > LARGE;
        if is_large {
            self.shrink();
            self.recent = Default::default();
            self.order = Default::default();
            self.around = PrimaryMap::default();
            self.interned = HashTable::new();
        }
        // The module is taken before its memory is cleared; an error leaves the builder usable.
        let taken = match ended {
            Ok(()) => take(&self.module),
            Err(wrong) => Err(wrong.error),
        };
        if is_large {
            // Only the strings survive, because the stream refers to them by number.
            let strings = core::mem::take(&mut self.module.strings);
            self.module = Module::new(self.module.target.clone(), self.module.owner());
            self.module.strings = strings;
        }
        self.begin();
        taken
    }

    /// Removes all entities, and keeps the names.
    fn begin(&mut self) {
        let Self {
            module,
            interned,
            hasher: _,
            order,
            files,
            macro_units,
            around,
            preprocessors,
            procedures,
            recent,
            slots,
            wrong,
        } = self;
        let Module {
            target: _,
            strings: _,
            exprs,
            units,
            files: file_data,
            types,
            variant_parts,
            scopes,
            functions,
            variables,
            enclosing_scope,
            procedures: procedure_data,
            calls,
            imports,
            labels,
            locs,
            lanes,
            lists,
        } = module;
        if interned.capacity() > LARGE {
            *interned = HashTable::new();
        }
        if files.capacity() > LARGE {
            *files = Default::default();
        }
        *exprs = Default::default();
        interned.clear();
        order.clear();
        files.clear();
        macro_units.clear();
        around.clear();
        *preprocessors = SecondaryMap::new();
        *procedures = SecondaryMap::new();
        *recent = Default::default();
        slots.clear();
        *wrong = None;
        units.clear();
        file_data.clear();
        types.clear();
        variant_parts.clear();
        scopes.clear();
        functions.clear();
        variables.clear();
        *enclosing_scope = SecondaryMap::new();
        procedure_data.clear();
        calls.clear();
        imports.clear();
        labels.clear();
        locs.clear();
        *lanes = Lanes::new(units.owner());
        lists.clear();
    }
}
