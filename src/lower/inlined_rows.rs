//! Rows of inlined calls in NVIDIA's line tables: each row has the number of the row that contains the call, and the
//! inlined function's name.
//!
//! A row for the call is added at the same pc, unless the sequence has such a row already.

use hashbrown::HashMap;

use super::units::Units;
use crate::emit::line::InlinedRow;
use crate::model::{FunctionId, LineTableRow, Module, ScopeId, ScopeKind, SourceLine, UnitId};

/// A unit's inlined calls, and the names of the functions.
pub(super) struct InlinedRows<'m> {
    module: &'m Module,
    /// Each function's calls, outer ones first.
    calls: HashMap<FunctionId, Vec<ScopeId>>,
    /// Names, each with a zero byte.
    pub(super) names: Vec<u8>,
    offsets: HashMap<&'m str, u64>,
}

/// A sequence's rows so far.
#[derive(Debug, Default)]
pub(super) struct Sequence {
    /// Number of the last row with a source position and an innermost call.
    last: HashMap<(SourceLine, Option<ScopeId>), u64>,
    count: u64,
}

impl<'m> InlinedRows<'m> {
    pub(super) fn new(units: &Units<'m>, unit: UnitId) -> Self {
        let module = units.module;
        let mut calls: HashMap<FunctionId, Vec<ScopeId>> = HashMap::new();
        if units.consumer.has_inlined_rows {
            for id in units.scopes.ids(unit).map(ScopeId::from_u32) {
                if let (ScopeKind::Inlined { .. }, Some(function)) =
                    (&module.scopes[id].kind, module.function_of(id))
                {
                    calls.entry(function).or_default().push(id);
                }
            }
        }
        Self { module, calls, names: Vec::new(), offsets: HashMap::new() }
    }

    /// Whether the unit's header refers to names.
    pub(super) fn has_names(&self) -> bool {
        !self.calls.is_empty()
    }

    /// Returns the rows for a row: those of the calls that the sequence lacks, and the row itself.
    pub(super) fn rows(
        &mut self,
        function: FunctionId,
        row: &LineTableRow,
        sequence: &mut Sequence,
    ) -> Vec<(SourceLine, Option<InlinedRow>)> {
        let place = SourceLine { file: row.file, line: row.line, column: row.column };
        let mut rows = Vec::new();
        let innermost = self.innermost(function, row.pc);
        // Calls from the innermost to the first whose row is known.
        let mut missing = Vec::new();
        let mut next = innermost;
        while let Some(call) = next {
            let around = self.around(call);
            if sequence.last.contains_key(&(self.place(call), around)) {
                break;
            }
            missing.push(call);
            next = around;
        }
        for call in missing.into_iter().rev() {
            let around = self.around(call);
            let place = self.place(call);
            rows.push((place, self.inlined(around, sequence)));
            sequence.add(place, around);
        }
        rows.push((place, self.inlined(innermost, sequence)));
        sequence.add(place, innermost);
        rows
    }

    /// Returns what a row of a call's code states.
    fn inlined(&mut self, call: Option<ScopeId>, sequence: &Sequence) -> Option<InlinedRow> {
        let call = call?;
        let row = sequence.last.get(&(self.place(call), self.around(call))).copied()?;
        let ScopeKind::Inlined { function, .. } = self.module.scopes[call].kind else { return None };
        let function = &self.module.functions[function];
        let name = self.module.string(function.linkage_name.unwrap_or(function.name));
        let names = &mut self.names;
        let function = *self.offsets.entry(name).or_insert_with(|| {
            let offset = names.len() as u64;
            names.extend_from_slice(name.as_bytes());
            names.push(0);
            offset
        });
        Some(InlinedRow { call: row, function })
    }

    /// Innermost call at a pc. Enclosing calls come first, so that the last match is the innermost.
    fn innermost(&self, function: FunctionId, pc: u64) -> Option<ScopeId> {
        let has_pc = |scope: &&ScopeId| self.module.ranges(**scope).iter().any(|range| range.contains(&pc));
        self.calls.get(&function)?.iter().rev().find(has_pc).copied()
    }

    /// The call around a call.
    fn around(&self, call: ScopeId) -> Option<ScopeId> {
        let parent = |scope: &ScopeId| self.module.scopes[*scope].parent;
        let mut around = core::iter::successors(parent(&call), parent);
        around.find(|&scope| matches!(self.module.scopes[scope].kind, ScopeKind::Inlined { .. }))
    }

    /// Source position of a call.
    fn place(&self, call: ScopeId) -> SourceLine {
        match self.module.scopes[call].kind {
            ScopeKind::Inlined { call, .. } => call,
            _ => SourceLine { file: crate::model::FileId::from_u32(0), line: 0, column: 0 },
        }
    }
}

impl Sequence {
    /// Numbers a row, from 1 on.
    fn add(&mut self, place: SourceLine, call: Option<ScopeId>) {
        self.count += 1;
        self.last.insert((place, call), self.count);
    }
}
