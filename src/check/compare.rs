//! The comparison as a whole: units first, and what is found on the way.

use std::collections::BTreeMap;

use super::machine::Lists;
use super::report::{Finding, Kind, Report};
use crate::error::{At, Error, Result};
use crate::eval;
use crate::lower::{Consumer, LeftOut};
use crate::model::{Address, FunctionId, Module, VariableId};
use crate::read::{Dwarf, Entry, Object};

pub(super) struct Compare<'a, 'o> {
    pub(super) module: &'a Module,
    pub(super) consumer: &'a Consumer,
    pub(super) left_out: &'a [LeftOut],
    pub(super) object: &'a Object<'a>,
    pub(super) dwarf: &'a Dwarf<'o>,
    pub(super) lists: Lists<'o>,
    pub(super) report: Report,
    /// The entries that say where variables are, for pointers to them.
    pub(super) variables: BTreeMap<VariableId, u64>,
    /// Locations to compare, when all entries are known.
    pub(super) places: Vec<(VariableId, usize, Option<FunctionId>)>,
    pub(super) evaluator: eval::Evaluator,
}

impl<'a, 'o> Compare<'a, 'o> {
    pub(super) fn new(
        module: &'a Module,
        consumer: &'a Consumer,
        left_out: &'a [LeftOut],
        object: &'a Object<'a>,
        dwarf: &'a Dwarf<'o>,
    ) -> Result<Self> {
        let mut lists = Lists::new();
        let mut report = Report::default();
        for entry in dwarf.entries() {
            if !matches!(entry.attr(gimli::DW_AT_location), Some(crate::read::Value::LocList(_))) {
                continue;
            }
            match entry.locations(gimli::DW_AT_location) {
                Ok(found) => {
                    let found = found.unwrap_or_default().into_iter().map(|one| eval::ListEntry {
                        bounds: (!one.is_default()).then_some((one.start, one.end)),
                        expr: one.expr.into(),
                    });
                    lists.insert(entry.offset(), found.collect());
                }
                Err(error) => report.findings.push(unreadable(&error, entry.place())),
            }
        }
        Ok(Self {
            module,
            consumer,
            left_out,
            object,
            dwarf,
            lists,
            report,
            variables: BTreeMap::new(),
            places: Vec::new(),
            evaluator: eval::Evaluator::new(),
        })
    }

    pub(super) fn finish(mut self) -> Report {
        self.report.left_out = self.left_out.len();
        self.report
    }

    /// Every unit of the module; a unit is known by its name, and of several with one name by its place.
    pub(super) fn units(&mut self) {
        let module = self.module;
        let dwarf = self.dwarf;
        let mut taken = vec![false; dwarf.units().len()];
        for (id, unit) in module.units() {
            let name = module.string(unit.name);
            let found = dwarf
                .units()
                .iter()
                .enumerate()
                .find(|(index, unit)| !taken[*index] && unit.name.as_deref() == Some(name));
            let at = module.at_scope(unit.scope);
            let Some((index, found)) = found else {
                self.find(Kind::MissingEntry, at, format!("a unit `{name}`"), "none");
                continue;
            };
            taken[index] = true;
            let Some(root) = dwarf.root(found) else { continue };
            self.report.entries += 1;
            let text = |id: Option<crate::model::StringId>| id.map(|id| module.string(id).to_owned());
            self.same(
                &at,
                "DW_AT_comp_dir",
                &text(unit.directory),
                &found.comp_dir.as_deref().map(Into::into),
            );
            self.same(
                &at,
                "DW_AT_producer",
                &text(unit.producer),
                &found.producer.as_deref().map(Into::into),
            );
            self.same(&at, "DW_AT_language", &unit.language.map(u64::from), &found.language);
            self.code_of_unit(id, root, &at);
            self.scope(unit.scope, root, None);
            self.lines(id, found);
        }
        for (variable, entry, function) in core::mem::take(&mut self.places) {
            let Some(entry) = self.dwarf.entries().nth(entry) else { continue };
            self.location(variable, entry, function);
        }
    }

    /// A unit's code covers that of its functions.
    fn code_of_unit(&mut self, id: crate::model::UnitId, root: Entry<'a, 'o>, at: &At) {
        let ranges = match root.ranges() {
            Ok(ranges) => ranges,
            Err(error) => return self.report.findings.push(unreadable(&error, at.clone())),
        };
        for (function, data) in self.module.functions() {
            if self.module.scope(data.scope).unit != id {
                continue;
            }
            let Some(start) = self.address(function) else { continue };
            let end = start.wrapping_add(data.bytes);
            if !ranges.iter().any(|range| range.start <= start && end <= range.end) {
                let expected = format!("{start:#x}..{end:#x} in the unit's code");
                self.find(Kind::Code, self.module.at_scope(data.scope), expected, hex(&ranges));
            }
        }
    }

    /// The address of a function's code in the object.
    pub(super) fn address(&self, function: FunctionId) -> Option<u64> {
        match self.module.function(function).address? {
            Address::Constant(address) => Some(address),
            Address::Symbol(symbol, by) => {
                Some(self.object.symbol_address(self.module.symbol_name(symbol))?.wrapping_add(by))
            }
        }
    }

    /// Notes a difference.
    #[cold]
    pub(super) fn find(&mut self, kind: Kind, at: At, expected: impl Into<String>, found: impl Into<String>) {
        let (expected, found) = (expected.into(), found.into());
        self.report.findings.push(Finding { kind, at, lane: None, expected, found, trace: Vec::new() });
    }

    /// Compares what an attribute says.
    pub(super) fn same<T: PartialEq + core::fmt::Debug>(
        &mut self,
        at: &At,
        what: &str,
        expected: &T,
        found: &T,
    ) {
        if expected != found {
            let (expected, found) = (format!("{what} {expected:?}"), format!("{found:?}"));
            self.find(Kind::Attribute, at.clone(), expected, found);
        }
    }
}

/// Something that could not be read, as a finding.
#[cold]
pub(super) fn unreadable(error: &Error, at: At) -> Finding {
    Finding {
        kind: Kind::Unreadable,
        at,
        lane: None,
        expected: "something that can be read".into(),
        found: error.to_string(),
        trace: Vec::new(),
    }
}

/// Ranges as text.
pub(super) fn hex(ranges: &[core::ops::Range<u64>]) -> String {
    let ranges: Vec<_> = ranges.iter().map(|range| format!("{:#x}..{:#x}", range.start, range.end)).collect();
    if ranges.is_empty() { "no code".into() } else { ranges.join(", ") }
}
