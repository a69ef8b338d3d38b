//! Statistics of an object, as a JSON object.

use std::io::{self, Write};

use serde::ser::{Serialize, SerializeMap, Serializer};

use crate::stats::{Coverage, FunctionCoverage, Repeated, Statistics, UnitCoverage, VariableCoverage};

/// Writes an object's statistics as a JSON object on one line, without the line's end: the
/// [numbers](Statistics::numbers) of `llvm-dwarfdump --statistics` under their names, and the coverage of functions and units.
/// `below` says whether the caller takes the coverage for too small.
///
/// A function is written at a time, because functions' variables can be more than everything else.
///
/// # Errors
/// The errors of the output.
pub fn write_statistics(out: &mut dyn Write, found: &Statistics, file: &str, below: bool) -> io::Result<()> {
    Ok(serde_json::to_writer(out, &Line { found, file, below })?)
}

struct Line<'a> {
    found: &'a Statistics,
    file: &'a str,
    below: bool,
}

impl Serialize for Line<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let &Self { found, file, below } = self;
        let mut line = serializer.serialize_map(None)?;
        line.serialize_entry("file", file)?;
        line.serialize_entry("format", found.format)?;
        line.serialize_entry("below", &below)?;
        for (name, number) in found.numbers() {
            line.serialize_entry(&name, &number)?;
        }
        let groups =
            [("variables", &found.variables), ("params", &found.params), ("local_vars", &found.locals)];
        for (name, group) in groups {
            for (what, bytes) in [
                ("covered by unavailable DW_AT_location", group.coverage.unavailable),
                ("with sound location", group.coverage.sound),
            ] {
                line.serialize_entry(&format!("sum_all_{name}(#bytes in parent scope {what})"), &bytes)?;
            }
        }
        line.serialize_entry("#bytes of code", &found.code)?;
        line.serialize_entry("repeated strings", &RepeatedLine::from(found.contents.strings))?;
        line.serialize_entry("repeated lists", &RepeatedLine::from(found.contents.lists))?;
        line.serialize_entry("operations", &found.contents.operations)?;
        line.serialize_entry("forms", &found.contents.forms)?;
        line.serialize_entry("functions", &Functions(&found.functions))?;
        let units: Vec<_> = found.units.iter().map(UnitLine::from).collect();
        line.serialize_entry("units", &units)?;
        line.end()
    }
}

struct Functions<'a>(&'a [FunctionCoverage]);

impl Serialize for Functions<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_seq(self.0.iter().map(FunctionLine::from))
    }
}

#[derive(serde::Serialize)]
struct FunctionLine<'a> {
    unit: Option<&'a str>,
    name: &'a str,
    linkage_name: &'a str,
    coverage: CoverageLine,
    variables: Vec<VariableLine<'a>>,
}

impl<'a> From<&'a FunctionCoverage> for FunctionLine<'a> {
    fn from(function: &'a FunctionCoverage) -> Self {
        Self {
            unit: function.unit.as_deref(),
            name: &function.name,
            linkage_name: function.symbol_name(),
            coverage: function.coverage.into(),
            variables: function.variables.iter().map(VariableLine::from).collect(),
        }
    }
}

#[derive(serde::Serialize)]
struct VariableLine<'a> {
    name: &'a str,
    parameter: bool,
    coverage: CoverageLine,
    #[serde(rename = "#bytes of entry")]
    entry_bytes: u64,
    #[serde(rename = "#locations")]
    locations: u64,
    #[serde(rename = "#bytes of list")]
    list_bytes: u64,
}

impl<'a> From<&'a VariableCoverage> for VariableLine<'a> {
    fn from(variable: &'a VariableCoverage) -> Self {
        Self {
            name: &variable.name,
            parameter: variable.is_parameter,
            coverage: variable.coverage.into(),
            entry_bytes: variable.entry_bytes,
            locations: variable.locations,
            list_bytes: variable.list_bytes,
        }
    }
}

#[derive(serde::Serialize)]
struct UnitLine<'a> {
    name: Option<&'a str>,
    coverage: CoverageLine,
}

impl<'a> From<&'a UnitCoverage> for UnitLine<'a> {
    fn from(unit: &'a UnitCoverage) -> Self {
        Self { name: unit.name.as_deref(), coverage: unit.coverage.into() }
    }
}

/// Bytes of code.
#[derive(serde::Serialize)]
struct CoverageLine {
    scope: u64,
    located: u64,
    unavailable: u64,
    entry_values: u64,
    sound: u64,
}

impl From<Coverage> for CoverageLine {
    fn from(coverage: Coverage) -> Self {
        let Coverage { scope, located, unavailable, entry_values, sound, .. } = coverage;
        Self { scope, located, unavailable, entry_values, sound }
    }
}

#[derive(serde::Serialize)]
struct RepeatedLine {
    copies: u64,
    bytes: u64,
}

impl From<Repeated> for RepeatedLine {
    fn from(repeated: Repeated) -> Self {
        Self { copies: repeated.copies, bytes: repeated.bytes }
    }
}
