//! Variables in inlined functions whose instances have no entry for them.

use std::collections::{HashMap, HashSet};
use std::sync::Arc;

use gimli::constants as dw;

use eitri_dwarf::read::{Entry, Object, ResolvedValue};

/// Variables in an abstract instance, by offset in the input section, each with whether it is a parameter.
#[derive(Debug, Default)]
pub(super) struct Abstract {
    variables: HashMap<u64, bool>,
    params: u64,
}

/// Abstract instances by the function's offset.
pub(super) type Origins = HashMap<u64, Arc<Abstract>>;

/// Variables in an abstract instance of which a concrete instance has no location. Functions can be inlined often, so
/// that only the variables with a location are kept for each instance.
#[derive(Debug, Default)]
pub(super) struct Missing {
    of: Arc<Abstract>,
    located: HashSet<u64>,
}

impl Missing {
    pub(super) fn new(of: &Arc<Abstract>) -> Self {
        Self { of: of.clone(), located: HashSet::new() }
    }

    /// Takes the origin of a variable that has a location.
    pub(super) fn locate(&mut self, origin: u64) {
        if self.of.variables.contains_key(&origin) {
            self.located.insert(origin);
        }
    }

    /// Returns the numbers of parameters and of local variables.
    pub(super) fn counts(&self) -> (u64, u64) {
        let is_param = |origin: &&u64| self.of.variables.get(*origin) == Some(&true);
        let params = self.located.iter().filter(is_param).count() as u64;
        let locals = self.located.len() as u64 - params;
        (self.of.params - params, self.of.variables.len() as u64 - self.of.params - locals)
    }
}

/// Calls a function for each variable and parameter in a function, outside inlined calls.
fn variables<'r, 'o>(function: Entry<'r, 'o>, mut each: impl FnMut(Entry<'r, 'o>)) {
    let mut scopes = vec![function];
    while let Some(scope) = scopes.pop() {
        for child in scope.children() {
            match child.tag() {
                dw::DW_TAG_formal_parameter | dw::DW_TAG_variable => each(child),
                dw::DW_TAG_lexical_block => scopes.push(child),
                _ => {}
            }
        }
    }
}

/// Returns the variables in an abstract instance, in an input section that begins at `start`.
pub(super) fn abstract_variables(function: Entry<'_, '_>, start: u64) -> Arc<Abstract> {
    let mut instance = Abstract::default();
    variables(function, |variable| {
        let is_param = variable.tag() == dw::DW_TAG_formal_parameter;
        instance.variables.insert(variable.offset() - start, is_param);
        instance.params += u64::from(is_param);
    });
    Arc::new(instance)
}

/// Removes the variables that have a location in a concrete instance. The function's input section begins at `start`.
pub(super) fn remove_located(function: Entry<'_, '_>, start: u64, missing: &mut Missing) {
    variables(function, |variable| {
        if is_located(variable)
            && let Some(origin) = origin(variable, start)
        {
            missing.locate(origin);
        }
    });
}

pub(super) fn is_located(entry: Entry<'_, '_>) -> bool {
    entry.has(dw::DW_AT_location) || entry.has(dw::DW_AT_const_value)
}

/// The `.debug_info` sections in an unlinked file, which are concatenated: each type unit's group has a section.
#[derive(Debug, Default)]
pub(super) struct InputSections {
    /// Start offsets without the first, and the end offset.
    starts: Vec<u64>,
}

impl InputSections {
    pub(super) fn new(object: &Object<'_>) -> Self {
        let sections = object.sections().iter().filter(|section| section.name == ".debug_info");
        let ends = sections.scan(0u64, |end, section| {
            *end = end.saturating_add(section.size);
            Some(*end)
        });
        Self { starts: ends.collect() }
    }

    /// Returns the start of the section that contains an offset in the concatenation.
    pub(super) fn start(&self, offset: u64) -> u64 {
        let number = self.starts.partition_point(|start| *start <= offset);
        number.checked_sub(1).map_or(0, |index| self.starts[index])
    }
}

/// Returns the number that `DW_AT_abstract_origin` encodes, in an input section that begins at `start`. Version 9
/// compares the number with offsets in the section, even if it is an offset in the unit.
pub(super) fn origin(entry: Entry<'_, '_>, start: u64) -> Option<u64> {
    let mut attributes = entry.attributes();
    let origin = attributes.find(|attribute| attribute.name == dw::DW_AT_abstract_origin)?;
    let ResolvedValue::Reference(offset) = origin.value else { return None };
    match origin.form {
        dw::DW_FORM_ref_addr => offset.checked_sub(start),
        _ => offset.checked_sub(entry.unit().offset),
    }
}
