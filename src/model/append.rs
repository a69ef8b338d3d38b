//! Descriptions together: the entities of a module after those of another.

use core::ops::Range;

use super::equality::{Canonical, Moved};
use super::maps::PrimaryMap;
use super::{EntityId, Module, Reach, ScopeId, VariableId};
use crate::error::{Error, ErrorKind, Result};

impl Module {
    /// Adds another module's entities after this module's. Their ids follow those of this module, kind by kind: a unit with
    /// id `u` becomes the unit with the number of `u` plus the number of this module's units.
    ///
    /// Nothing else changes. Units can have one name, as can symbols: a symbol is the linker's name, so that two modules whose
    /// code is in one program agree about what it names.
    ///
    /// # Errors
    /// [`ErrorKind::BadArgument`] where the targets differ; [`ErrorKind::TooLarge`] where ids have no more numbers. The module
    /// is unchanged then.
    ///
    /// # Example
    ///
    /// ```
    /// # use eitri::build::Builder;
    /// # use eitri::target::Target;
    /// let module = |name: &str| {
    ///     let mut m = Builder::new(Target::x86_64());
    ///     m.unit(name);
    ///     m.finish()
    /// };
    /// let mut program = module("a.c")?;
    /// program.append(&module("b.c")?)?;
    /// let names: Vec<_> = program.units().map(|(_, unit)| program.string(unit.name)).collect();
    /// assert_eq!(names, ["a.c", "b.c"]);
    /// # Ok::<(), eitri::Error>(())
    /// ```
    pub fn append(&mut self, other: &Self) -> Result<()> {
        if self.target != other.target {
            let what = format!(
                "target `{}` differs from `{}`; expected one target for all parts of a description",
                other.target.name(),
                self.target.name()
            );
            return Err(Error::bad_argument(what));
        }
        self.has_room(other)?;
        let mut to = Canonical {
            from: other,
            strings: core::mem::take(&mut self.strings),
            exprs: core::mem::take(&mut self.exprs),
            locs: core::mem::take(&mut self.locs),
            moved: self.counts(),
            known: Some(hashbrown::HashMap::new()),
        };
        let mut new = other.clone();
        to.store(&mut new);
        let Canonical { strings, exprs, locs, moved, .. } = to;
        (self.strings, self.exprs, self.locs) = (strings, exprs, locs);
        if other.reach == Reach::Module {
            self.reach = Reach::Module;
        }
        self.append_order(other);
        self.move_lists(&mut new);
        self.take(new, &moved);
        Ok(())
    }

    fn counts(&self) -> Moved {
        Moved {
            owner: self.owner(),
            units: self.units.len(),
            files: self.files.len(),
            types: self.types.len(),
            variant_parts: self.variant_parts.len(),
            scopes: self.scopes.len(),
            functions: self.functions.len(),
            variables: self.variables.len(),
            calls: self.calls.len(),
            imports: self.imports.len(),
            labels: self.labels.len(),
            procedures: self.procedures.len(),
            regions: self.lanes.regions.len(),
        }
    }

    /// Refuses modules whose ids, list indices or locations would together need more than 32 bits.
    fn has_room(&self, other: &Self) -> Result<()> {
        let sizes = |module: &Self| {
            let lists = &module.lists;
            [
                module.scopes.len(),
                module.types.len(),
                module.variables.len(),
                module.calls.len(),
                lists.arguments.len(),
                lists.live.len(),
                lists.frame_rules.len(),
                lists.rows.len(),
                lists.ranges.len(),
                lists.macros.len(),
                module.lanes.masks.len(),
                module.strings.len(),
                // A location that several entities share is stored once, so that this is an upper bound.
                module.locs.word_count(),
            ]
        };
        let is_too_large = |(left, right): (usize, usize)| left + right >= (u32::MAX >> 1) as usize;
        if sizes(self).into_iter().zip(sizes(other)).any(is_too_large) {
            return Err(
                ErrorKind::TooLarge("description has more than 2 Gi entities of a kind".into()).into()
            );
        }
        Ok(())
    }

    /// Moves the indices of another module's lists, to after this module's lists.
    fn move_lists(&self, new: &mut Self) {
        let own = &self.lists;
        let [arguments, live, frame_rules, rows, ranges, macros] = [
            own.arguments.len(),
            own.live.len(),
            own.frame_rules.len(),
            own.rows.len(),
            own.ranges.len(),
            own.macros.len(),
        ];
        new.units.values_mut().for_each(|unit| shift(&mut unit.macros, macros));
        new.scopes.values_mut().for_each(|scope| shift(&mut scope.ranges, ranges));
        for function in new.functions.values_mut() {
            shift(&mut function.frame, frame_rules);
            shift(&mut function.rows, rows);
            shift(&mut function.lanes.regions, self.lanes.order.len());
            shift(&mut function.lanes.whole_waves, self.lanes.whole_waves.len());
        }
        new.variables.values_mut().for_each(|variable| shift(&mut variable.live, live));
        new.calls.values_mut().for_each(|call| shift(&mut call.arguments, arguments));
        new.lanes.regions.values_mut().for_each(|region| shift(&mut region.masks, self.lanes.masks.len()));
        new.lists.frame_columns.iter_mut().for_each(|index| *index += frame_rules as u32);
    }

    /// Takes the entities of a module whose ids and lists are moved.
    fn take(&mut self, new: Self, moved: &Moved) {
        for (scope, outside) in new.enclosing_scope.iter() {
            if let Some(outside) = outside {
                let [scope, outside] =
                    [scope, *outside].map(|id| ScopeId::new(id.index() + moved.scopes, moved.owner));
                self.enclosing_scope[scope] = Some(outside);
            }
        }
        add(&mut self.units, new.units);
        add(&mut self.files, new.files);
        add(&mut self.types, new.types);
        add(&mut self.variant_parts, new.variant_parts);
        add(&mut self.scopes, new.scopes);
        add(&mut self.functions, new.functions);
        add(&mut self.variables, new.variables);
        add(&mut self.procedures, new.procedures);
        add(&mut self.calls, new.calls);
        add(&mut self.imports, new.imports);
        add(&mut self.labels, new.labels);
        add(&mut self.lanes.regions, new.lanes.regions);
        self.lanes.masks.extend(new.lanes.masks);
        self.lanes.whole_waves.extend(new.lanes.whole_waves);
        self.lanes.order.extend(new.lanes.order);
        // Each list is sorted by ids, so that the lists after one another are sorted.
        self.lists.arguments.extend(new.lists.arguments);
        self.lists.live.extend(new.lists.live);
        self.lists.frame_rules.extend(new.lists.frame_rules);
        self.lists.frame_columns.extend(new.lists.frame_columns);
        self.lists.rows.extend(new.lists.rows);
        self.lists.ranges.extend(new.lists.ranges);
        self.lists.macros.extend(new.lists.macros);
        self.lists.attributes.extend(new.lists.attributes);
        self.lists.sequences.extend(new.lists.sequences);
        let parameters = new.lists.parameters_and_statics.into_iter();
        let parameters = parameters.map(|id| VariableId::new(id.index() + moved.variables, moved.owner));
        self.lists.parameters_and_statics.extend(parameters);
    }
}

fn shift(range: &mut Range<u32>, distance: usize) {
    if range.start < range.end {
        *range = range.start + distance as u32..range.end + distance as u32;
    }
}

fn add<K: EntityId, V>(to: &mut PrimaryMap<K, V>, from: PrimaryMap<K, V>) {
    for entity in from.into_values() {
        to.push(entity);
    }
}
