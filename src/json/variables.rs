//! Variables and procedures: applied to the builder, and written from the model.

use std::io::Write;

use super::ids::Known;
use super::kinds::kind;
use super::later::Later;
use super::lists::{At, Elements, Live, each};
use super::loc::Place;
use super::read::Reader;
use super::rows::{Outcome, Property, call, property, set};
use super::statement::{
    LiveRanges, Loc, VariableFacts, describe_variable, procedure_statement, variable_statement,
};
use super::values::Bytes;
use super::write::Writer;
use crate::build::Blame;
use crate::error::Result;
use crate::model::{ProcedureId, UnitId, VariableId, VariableKind};

property! {
    /// The constant value.
    value [constant] of |known, id: VariableId| by describe_variable = {
        let variable = known.module.variable(id);
        let loc = variable.always.filter(|_| variable.is_constant);
        loc.and_then(|loc| known.module.constant(loc)).map(|bytes| Bytes(bytes.to_vec()))
    } => const_value
}
property! {
    /// The location at all pcs.
    value [owned loc] of |known, id: VariableId| by describe_variable = {
        let variable = known.module.variable(id);
        variable.always.filter(|_| !variable.is_constant)
    } => always, blamed as Always at "always"
}

/// The locations by pc. The items of a range are a row of [`elements`](super::lists).
impl<'a> Property<'a, VariableId> for LiveRanges<'a> {
    fn read(self, reader: &mut Reader<'a>, id: VariableId, unit: UnitId) -> Result<()> {
        let Later::Text(live) = self else { return Ok(()) };
        reader.part(live, |reader, json| {
            each(reader, unit, json, |reader, Live { start, end, locs, .. }| {
                let (pcs, mut variable) = (start.0..end.0, reader.builder.describe_variable(id)?);
                match locs {
                    At::Single(loc) => variable.live(pcs.clone(), loc)?,
                    At::Several(locs) => variable.live_in(pcs.clone(), &locs)?,
                };
                reader.seek(|blame| *blame == Blame::Live(id, pcs))
            })
        })
    }

    fn write(known: &'a Known<'a>, id: VariableId) -> Option<Self> {
        let live = known.module.live(id);
        (!live.is_empty()).then_some(Later::Model(Elements { known, of: live }))
    }
}

impl<'m, W: Write> Writer<'m, W> {
    pub fn variable(&mut self, id: VariableId) -> Result<()> {
        let (known, module, variable) = (self.known, self.module, self.module.variable(id));
        self.ensure_scope(variable.scope)?;
        self.ensure_type(variable.ty)?;
        self.counts.variables += 1;
        let mut facts = VariableFacts::of(known, id);
        let mut name_id = known.variable_id(id);
        let mut locs = module.live(id).iter().map(|live| live.loc).chain(variable.always);
        if !self.is_line_written(variable.line) || !locs.all(|loc| self.is_loc_written(loc)) {
            name_id = Some(known.variable_ref(id));
            let later = core::mem::take(&mut facts);
            self.later.push(describe_variable(known, known.variable_ref(id), None, (), later));
        }
        let value = match (variable.origin, variable.specification, variable.kind) {
            // The statement requires a value: a constant with a location gets zeros here.
            (None, None, VariableKind::Constant) => facts.const_value.take().unwrap_or_else(|| {
                let bits = module.ty(variable.ty).value_bits().unwrap_or(0);
                Bytes(vec![0; bits.div_ceil(8) as usize])
            }),
            _ => Bytes(Vec::new()),
        };
        let within = known.scope_ref(variable.scope);
        self.statement(&variable_statement(known, within, name_id, (variable, value), facts))
    }

    pub fn procedure(&mut self, id: ProcedureId) -> Result<()> {
        let (known, procedure) = (self.known, &self.module.procedures[id]);
        self.ensure_loc(procedure.loc)?;
        self.ensure_scope(self.module.unit(procedure.unit).scope)?;
        self.counts.procedures += 1;
        let (unit, of) = (known.unit_ref(procedure.unit), (known.procedure_ref(id), procedure.loc));
        self.statement(&procedure_statement(known, unit, None, of, ()))
    }
}
