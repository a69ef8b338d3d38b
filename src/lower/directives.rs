//! Line tables as directives, for PTX, whose assembler generates the line program.

use std::collections::HashMap;

use super::lowered::Lowered;
use super::units::Units;
use crate::consumer::Policy;
use crate::emit::ptx::{FunctionLines, InlinedCall, Lines, PtxLineRow, SourcePlace};
use crate::error::{Construct, Result};
use crate::model::{Address, FunctionId, LineTableRow, Module, ScopeId, ScopeKind, SourceLine};
use crate::omission::{Omission, Property, Subject};

/// Adds the module's line table, for a consumer with directives.
///
/// # Errors
/// [`ErrorKind::Inexpressible`](crate::error::ErrorKind::Inexpressible) with [`Policy::Strict`].
pub(super) fn added(units: &Units<'_>, mut lowered: Lowered) -> Result<Lowered> {
    if units.consumer.has_line_directives {
        let (directives, omissions) = lines(units)?;
        lowered.omissions.extend(omissions);
        lowered.lines = Some(directives);
    }
    Ok(lowered)
}

/// Returns the module's line table, and omissions for row properties that no directive encodes.
///
/// # Errors
/// [`ErrorKind::Inexpressible`](crate::error::ErrorKind::Inexpressible) with [`Policy::Strict`].
fn lines(units: &Units<'_>) -> Result<(Lines, Vec<Omission>)> {
    let module = units.module;
    let mut lines =
        Lines { files: module.files.values().map(|file| path(module, file)).collect(), ..Lines::default() };
    let mut omissions = Vec::new();
    let mut inlined: HashMap<FunctionId, Vec<ScopeId>> = HashMap::new();
    for (id, scope) in module.scopes() {
        if let (ScopeKind::Inlined { .. }, Some(function)) = (&scope.kind, module.function_of(id)) {
            inlined.entry(function).or_default().push(id);
        }
    }
    for (id, function) in module.functions() {
        let rows = module.rows(id);
        if rows.is_empty() || !matches!(function.address, Some(Address::Symbol(..))) {
            continue;
        }
        if rows.iter().any(has_flags) {
            let error =
                units.consumer.inexpressible(Construct::RowFlags).or_at(module.at_scope(function.scope));
            if units.policy == Policy::Strict {
                return Err(error);
            }
            omissions.push(Omission::inexpressible(Subject::Function(id), Property::RowFlags, None, error)?);
        }
        let mut calls =
            Calls { module, scopes: inlined.get(&id).map_or(&[], Vec::as_slice), numbers: HashMap::new() };
        for part in function.code_parts() {
            let Address::Symbol(symbol, by) = part.address else { continue };
            let rows = module.rows_in(id, &part.pcs).iter().map(|row| PtxLineRow {
                // Directives count pcs from the symbol, rows count them from the function.
                pc: (row.pc - part.pcs.start).wrapping_add(by),
                place: place(SourceLine { file: row.file, line: row.line, column: row.column }),
                inlined: calls.innermost(row.pc).map(|scope| calls.number(scope, &mut lines.calls)),
            });
            let rows = rows.collect();
            let symbol = module.symbol_name(symbol).into();
            lines.functions.push(FunctionLines { symbol, rows });
        }
    }
    Ok((lines, omissions))
}

/// A function's inlined calls.
struct Calls<'m> {
    module: &'m Module,
    /// Call scopes, outer ones first.
    scopes: &'m [ScopeId],
    numbers: HashMap<ScopeId, usize>,
}

impl Calls<'_> {
    /// Innermost call at a pc. Enclosing scopes come first, so the last match is the innermost.
    fn innermost(&self, pc: u64) -> Option<ScopeId> {
        let has_pc = |scope: &&ScopeId| self.module.ranges(**scope).iter().any(|range| range.contains(&pc));
        self.scopes.iter().rev().find(has_pc).copied()
    }

    /// Returns a call's index. On first use, the call is appended after its enclosing calls.
    fn number(&mut self, scope: ScopeId, calls: &mut Vec<InlinedCall>) -> usize {
        if let Some(&number) = self.numbers.get(&scope) {
            return number;
        }
        let module = self.module;
        let parent = |scope: &ScopeId| module.scope(*scope).parent;
        let mut around = core::iter::successors(parent(&scope), parent);
        let around = around.find(|&scope| matches!(module.scope(scope).kind, ScopeKind::Inlined { .. }));
        let within = around.map(|around| self.number(around, calls));
        if let ScopeKind::Inlined { function, call } = module.scope(scope).kind {
            let function = module.function(function);
            let name = function.linkage_name.unwrap_or(function.name);
            calls.push(InlinedCall { function: module.string(name).into(), at: place(call), within });
        }
        let number = calls.len() - 1;
        self.numbers.insert(scope, number);
        number
    }
}

/// File path, relative to the compilation directory unless absolute.
fn path(module: &Module, file: &crate::model::File) -> String {
    let name = module.string(file.name);
    match file.directory.map(|directory| module.string(directory)) {
        None | Some("") => name.into(),
        Some(directory) => format!("{}/{name}", directory.trim_end_matches('/')),
    }
}

/// Source position, with the module's file numbers.
fn place(SourceLine { file, line, column }: SourceLine) -> SourcePlace {
    SourcePlace { file: file.as_u32() + 1, line, column }
}

/// Whether a row has properties other than its source location.
fn has_flags(row: &LineTableRow) -> bool {
    !row.is_stmt || row.is_prologue_end || row.is_epilogue_begin || row.discriminator != 0
}
