//! A page's tables, in the order in which the script reads them.

use std::collections::HashMap;
use std::rc::Rc;

use super::super::block::Strings;
use super::super::options::ReportOptions;
use super::super::place::PLACE;
use super::{Gathered, NONE};
use crate::lint::{self, LintCode};
use eitri_dwarf::read::Object;

/// Words in the records for a variable and for a location entry.
const VARIABLE: usize = 10;
const ENTRY: usize = 3;

impl Gathered<'_> {
    /// Returns the tables in the order in which the script reads them.
    pub(in crate::report) fn finish(
        self,
        object: &Object<'_>,
        options: &ReportOptions<'_>,
        mut strings: Strings,
    ) -> (Strings, Vec<Vec<u32>>) {
        let mut tables: [Vec<u32>; 12] = Default::default();
        let [
            page,
            functions,
            variables,
            entries,
            lines,
            calls,
            ranges,
            instructions,
            findings,
            files,
            codes,
            others,
        ] = &mut tables;
        let width = if object.address_bytes() == 8 { 8 } else { 4 };
        page.extend([strings.add(options.name), strings.add(&self.target), self.lanes, width]);
        // Variables share a list's entries, which are written once.
        let mut written = HashMap::new();
        let mut written_pcs = HashMap::new();
        for function in &self.functions {
            let counts = [
                variables.len() / VARIABLE,
                lines.len() / 3,
                calls.len() / 5,
                instructions.len() / 2,
                findings.len() / 9,
            ];
            functions.extend([strings.add(&function.name), function.unit]);
            functions.extend([function.start as u32, (function.start >> 32) as u32, function.size]);
            functions.extend(counts.map(|count| count as u32));
            functions.extend(function.coverage);
            // Pcs of a cubin are offsets in the code of a function.
            let start = object.pc_notation().pc(function.start);
            let (code, offset) = start.in_function().map_or(("", 0), |(code, pcs)| (code, pcs.start));
            functions.extend([strings.add(code), u32::try_from(offset).unwrap_or(u32::MAX)]);
            let first = (variables.len() / VARIABLE) as u32;
            let mut firsts = Vec::new();
            for variable in &function.variables {
                let start = *written.entry(variable.entries.as_ptr()).or_insert_with(|| {
                    let start = (entries.len() / ENTRY) as u32;
                    entries.extend(
                        variable.entries.iter().flat_map(|entry| [entry.start, entry.end, entry.place]),
                    );
                    start
                });
                firsts.push(start);
                variables.extend([
                    variable.column as u32,
                    variable.name,
                    variable.ty,
                    variable.file,
                    variable.line,
                    variable.inlined,
                ]);
                variables.extend([
                    variable.scope.0,
                    variable.scope.1,
                    start,
                    start + variable.entries.len() as u32,
                ]);
            }
            lines.extend(function.lines.iter().flatten());
            for call in &function.calls {
                let start = *written_pcs.entry(Rc::as_ptr(&call.pcs)).or_insert_with(|| {
                    let start = (ranges.len() / 2) as u32;
                    ranges.extend(call.pcs.ranges.iter().flat_map(|(start, end)| [*start, *end]));
                    start
                });
                let end = start + call.pcs.ranges.len() as u32;
                calls.extend([start, end, call.depth, call.name, call.line]);
            }
            instructions.extend(function.instructions.iter().flatten());
            for finding in &function.findings {
                let is_of_variable = finding.variable != NONE;
                let variable = if is_of_variable { first + finding.variable } else { NONE };
                let entry = match (is_of_variable, finding.entry) {
                    (true, entry) if entry != NONE => firsts[finding.variable as usize] + entry,
                    _ => NONE,
                };
                findings.extend(record(&self.findings[finding.finding], variable, entry, &mut strings));
            }
        }
        // The record after the last function contains the ends.
        let ends = [
            variables.len() / VARIABLE,
            lines.len() / 3,
            calls.len() / 5,
            instructions.len() / 2,
            findings.len() / 9,
        ];
        functions.extend([0, 0, 0, 0, 0]);
        functions.extend(ends.map(|end| end as u32));
        functions.extend([0, 0, 0, 0, 0]);
        let rest = self.findings.iter().zip(&self.is_shown).filter(|(_, is_shown)| !**is_shown);
        for (finding, _) in rest {
            others.extend(record(finding, NONE, NONE, &mut strings));
        }
        for (number, path) in self.paths.iter().enumerate() {
            let own = self.sources.get(&(number as u32)).cloned();
            let text = own.or_else(|| options.source.filter(|_| !path.is_empty())?(path));
            files.extend([strings.add(path), strings.add(text.as_deref().unwrap_or_default())]);
        }
        for code in LintCode::ALL {
            codes.extend([strings.add(code.name()), strings.add(code.page().title)]);
        }
        let (places, steps) = self.places.finish();
        debug_assert_eq!(places.len() % PLACE, 0);
        let mut tables = Vec::from(tables);
        tables.extend([places, steps]);
        (strings, tables)
    }
}

/// Finding record: code, level, variable, entry, meaning as written, intended meaning, evidence, part at fault.
fn record(finding: &lint::LintFinding, variable: u32, entry: u32, strings: &mut Strings) -> [u32; 9] {
    let code = LintCode::ALL.iter().position(|code| *code == finding.code).unwrap_or(0) as u32;
    let fault = finding.expression.as_ref().map_or(0..0, |expression| expression.fault.clone());
    // The script counts UTF-16 units. Only names in expressions can contain other characters than ASCII.
    let units = |end: usize| {
        let text = finding.expression.as_ref().and_then(|expression| expression.text.get(..end));
        text.map_or(0, |text| text.encode_utf16().count()) as u32
    };
    [
        code,
        finding.level as u32,
        variable,
        entry,
        strings.add(&finding.written),
        strings.add(finding.meant.as_deref().unwrap_or_default()),
        strings.add(&finding.evidence.join("\n")),
        units(fault.start),
        units(fault.end),
    ]
}
