//! Variables and procedures: applied to the builder, and written from the model.

use std::io::Write;

use super::ids::Known;
use super::later::Later;
use super::lists::{At, Elements, Live, each};
use super::loc::Place;
use super::read::Reader;
use super::rows::Property;
use super::statement::{
    Constant, Definition, DescribeVariable, InlinedVariable, LiveRanges, Loc, Procedure, Statement, Variable,
    VariableFacts,
};
use super::values::{Bytes, Text};
use super::write::Writer;
use crate::build::Blame;
use crate::error::{Error, Result};
use crate::model::{ProcedureId, UnitId, VariableId, VariableKind};

impl<'a> Variable<'a> {
    pub fn apply(mut self, reader: &mut Reader<'a>, is_parameter: bool) -> Result<()> {
        let scope = reader.scope(&self.r#in)?;
        let ty = reader.ty(reader.unit_of(scope), &self.r#type)?;
        let variable = match (is_parameter, self.declaration == Some(true)) {
            (true, false) => reader.builder.parameter(scope, &self.name, ty)?.id(),
            (true, true) => return Err(Error::bad_argument("a parameter is not a declaration")),
            (false, true) => reader.builder.extern_variable(scope, &self.name, ty)?.id(),
            (false, false) => reader.builder.variable(scope, &self.name, ty)?.id(),
        };
        let facts = self.facts();
        reader.variable(variable, self.id.as_ref(), facts)
    }
}

impl<'a> Constant<'a> {
    pub fn apply(mut self, reader: &mut Reader<'a>) -> Result<()> {
        let scope = reader.scope(&self.r#in)?;
        let ty = reader.ty(reader.unit_of(scope), &self.r#type)?;
        let constant = reader.builder.constant(scope, &self.name, ty, &self.value.0)?;
        let facts = self.facts();
        reader.variable(constant, self.id.as_ref(), facts)
    }
}

impl<'a> InlinedVariable<'a> {
    pub fn apply(mut self, reader: &mut Reader<'a>) -> Result<()> {
        let scope = reader.scope(&self.r#in)?;
        let origin = reader.names.variables.find((), &self.origin)?;
        let variable = reader.builder.inlined_variable(scope, origin)?.id();
        let facts = self.facts();
        reader.variable(variable, self.id.as_ref(), facts)
    }
}

impl<'a> Definition<'a> {
    pub fn apply(mut self, reader: &mut Reader<'a>) -> Result<()> {
        let scope = reader.scope(&self.r#in)?;
        let member = reader.names.variables.find((), &self.member)?;
        let variable = reader.builder.definition(scope, member)?.id();
        let facts = self.facts();
        reader.variable(variable, self.id.as_ref(), facts)
    }
}

impl<'a> DescribeVariable<'a> {
    pub fn apply(mut self, reader: &mut Reader<'a>) -> Result<()> {
        let variable = reader.names.variables.find((), &self.variable)?;
        let unit = reader.unit_of(reader.builder.described().variable(variable).scope);
        self.facts().describe(reader, variable, unit)
    }
}

impl<'a> Procedure<'a> {
    pub fn apply(self, reader: &mut Reader<'a>) -> Result<()> {
        let unit = reader.unit(&self.unit)?;
        let loc = reader.loc(unit, &self.loc)?;
        let procedure = reader.builder.procedure(unit, &loc)?;
        reader.names.procedures.add(procedure, Some(&self.id), None)
    }
}

impl<'a> Reader<'a> {
    /// Registers a new variable and sets its properties.
    fn variable(
        &mut self,
        variable: VariableId,
        id: Option<&Text<'a>>,
        facts: VariableFacts<'a>,
    ) -> Result<()> {
        self.names.variables.add(variable, id, None)?;
        let unit = self.unit_of(self.builder.described().variable(variable).scope);
        facts.describe(self, variable, unit)
    }
}

/// The constant value.
impl<'a> Property<'a, VariableId> for Bytes {
    fn read(self, reader: &mut Reader<'a>, id: VariableId, _: UnitId) -> Result<()> {
        reader.builder.describe_variable(id)?.const_value(&self.0).map(drop)
    }

    fn write(known: &'a Known<'a>, id: VariableId) -> Option<Self> {
        let variable = known.module.variable(id);
        let loc = variable.always.filter(|_| variable.is_constant)?;
        known.module.constant(loc).map(|bytes| Bytes(bytes.to_vec()))
    }
}

/// The location at all pcs.
impl<'a> Property<'a, VariableId> for Loc<'a> {
    fn read(self, reader: &mut Reader<'a>, id: VariableId, unit: UnitId) -> Result<()> {
        let loc = reader.loc(unit, &self)?;
        reader.builder.describe_variable(id)?.always(loc)?;
        let sought = reader.seek(|blame| *blame == Blame::Always(id));
        reader.of_key("always", sought)
    }

    fn write(known: &'a Known<'a>, id: VariableId) -> Option<Self> {
        let variable = known.module.variable(id);
        let loc = variable.always.filter(|_| !variable.is_constant)?;
        Some(Later::Model(Place { known, loc }))
    }
}

/// The locations by pc.
impl<'a> Property<'a, VariableId> for LiveRanges<'a> {
    fn read(self, reader: &mut Reader<'a>, id: VariableId, unit: UnitId) -> Result<()> {
        let Later::Text(live) = self else { return Ok(()) };
        reader.part(live, |reader, json| {
            each(reader, unit, json, |reader, Live { start, end, locs, .. }| {
                let (pcs, mut variable) = (start.0..end.0, reader.builder.describe_variable(id)?);
                match locs {
                    At::One(loc) => variable.live(pcs.clone(), loc)?,
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
            let later = DescribeVariable::new(known.variable_ref(id)).with(core::mem::take(&mut facts));
            self.later.push(Statement::DescribeVariable(later));
        }
        let (within, ty) = (known.scope_ref(variable.scope), known.type_ref(variable.ty));
        let name = variable.name.map_or("".into(), |name| known.text(name));
        /// A statement with its required fields, its properties and its id.
        macro_rules! json { ($variant:ident($($value:expr),*)) => {{
            let mut json = $variant::new($($value),*).with(facts);
            json.id = name_id;
            json
        }} }
        let json = match (variable.origin, variable.specification, variable.kind) {
            (Some(origin), ..) => {
                Statement::InlinedVariable(json!(InlinedVariable(within, known.variable_ref(origin))))
            }
            (None, Some(member), _) => {
                Statement::Definition(json!(Definition(within, known.variable_ref(member))))
            }
            (None, None, VariableKind::Constant) => {
                // The statement requires a value: a constant with a location gets zeros here.
                let bits = module.ty(variable.ty).value_bits().unwrap_or(0);
                let zeros = || Bytes(vec![0; bits.div_ceil(8) as usize]);
                let value = facts.const_value.take().unwrap_or_else(zeros);
                Statement::Constant(json!(Constant(within, name, ty, value)))
            }
            (None, None, VariableKind::Parameter) => Statement::Parameter(json!(Variable(within, name, ty))),
            (None, None, VariableKind::Variable) => {
                let mut json = json!(Variable(within, name, ty));
                json.declaration = variable.is_declaration.then_some(true);
                Statement::Variable(json)
            }
        };
        self.statement(&json)
    }

    pub fn procedure(&mut self, id: ProcedureId) -> Result<()> {
        let (known, procedure) = (self.known, &self.module.procedures[id]);
        self.ensure_loc(procedure.loc)?;
        self.ensure_scope(self.module.unit(procedure.unit).scope)?;
        self.counts.procedures += 1;
        let loc = Later::Model(Place { known, loc: procedure.loc });
        let (unit, id) = (known.unit_ref(procedure.unit), known.procedure_ref(id));
        self.statement(&Statement::Procedure(Procedure::new(unit, id, loc)))
    }
}
