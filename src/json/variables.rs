//! Variables and procedures.

use super::facts::{Outcome, Property, facts, kind};
use super::ids::Known;
use super::later::Later;
use super::lists::{At, Elements, Live, each};
use super::loc::{self, Loc};
use super::objects::objects;
use super::reader::Reader;
use super::values::{Bytes, Line, Ref, Text};
use super::words::Word;
use crate::build::Blame;
use crate::error::Result;
use crate::model::entities::variable_properties;
use crate::model::{self, Accessibility, MemorySpace, ProcedureId, UnitId, VariableId};

/// A variable's live ranges.
pub(super) type LiveRanges<'a> = Later<'a, Elements<'a, Live<'a>>>;

variable_properties! {
    facts VariableFacts of |known, id: VariableId| known.module.variable(id), set VariableId: [by describe_variable],
    object Variable { r#in: Ref<'a>, name: Text<'a>, r#type: Ref<'a> } { declaration: bool, id: Text<'a> }
    object Parameter { r#in: Ref<'a>, name: Text<'a>, r#type: Ref<'a> } { id: Text<'a> }
    object Constant { r#in: Ref<'a>, name: Text<'a>, r#type: Ref<'a> } { value: Bytes, id: Text<'a> }
    object InlinedVariable { r#in: Ref<'a>, origin: Ref<'a> } { r#type: Ref<'a>, id: Text<'a> }
    object Definition { r#in: Ref<'a>, member: Ref<'a> } { r#type: Ref<'a>, id: Text<'a> }
    object DescribeVariable { variable: Ref<'a> } {}
}
objects! {
    Procedure { unit: Ref<'a>, id: Text<'a>, loc: Loc<'a> } {}
}

impl<'a> Variable<'a> {
    pub fn apply(mut self, reader: &mut Reader<'a>) -> Result<()> {
        let (scope, unit) = reader.scope_and_unit(&self.r#in)?;
        let ty = reader.ty(unit, &self.r#type)?;
        let variable = if self.declaration == Some(true) {
            reader.builder.extern_variable(scope, &self.name, ty)?.id()
        } else {
            reader.builder.variable(scope, &self.name, ty)?.id()
        };
        reader.names.variables.add(variable, self.id.as_ref(), None)?;
        self.facts().describe(reader, variable, unit)
    }
}

impl<'a> Parameter<'a> {
    pub fn apply(mut self, reader: &mut Reader<'a>) -> Result<()> {
        let (scope, unit) = reader.scope_and_unit(&self.r#in)?;
        let ty = reader.ty(unit, &self.r#type)?;
        let parameter = reader.builder.parameter(scope, &self.name, ty)?.id();
        reader.names.variables.add(parameter, self.id.as_ref(), None)?;
        self.facts().describe(reader, parameter, unit)
    }
}

impl<'a> Constant<'a> {
    pub fn apply(mut self, reader: &mut Reader<'a>) -> Result<()> {
        let (scope, unit) = reader.scope_and_unit(&self.r#in)?;
        let ty = reader.ty(unit, &self.r#type)?;
        let constant = match &self.value {
            Some(value) => reader.builder.constant(scope, &self.name, ty, &value.0)?,
            None => reader.builder.named_constant(scope, &self.name, ty)?.id(),
        };
        reader.names.variables.add(constant, self.id.as_ref(), None)?;
        self.facts().describe(reader, constant, unit)
    }
}

impl<'a> InlinedVariable<'a> {
    pub fn apply(mut self, reader: &mut Reader<'a>) -> Result<()> {
        let (scope, unit) = reader.scope_and_unit(&self.r#in)?;
        let origin = reader.variable(&self.origin)?;
        let variable = reader.builder.inlined_variable(scope, origin)?.id();
        completed_type(reader, variable, unit, self.r#type.as_ref())?;
        reader.names.variables.add(variable, self.id.as_ref(), None)?;
        self.facts().describe(reader, variable, unit)
    }
}

impl<'a> Definition<'a> {
    pub fn apply(mut self, reader: &mut Reader<'a>) -> Result<()> {
        let (scope, unit) = reader.scope_and_unit(&self.r#in)?;
        let member = reader.variable(&self.member)?;
        let variable = reader.builder.definition(scope, member)?.id();
        completed_type(reader, variable, unit, self.r#type.as_ref())?;
        reader.names.variables.add(variable, self.id.as_ref(), None)?;
        self.facts().describe(reader, variable, unit)
    }
}

/// Sets the type of a variable that completes another variable, if it differs.
fn completed_type(
    reader: &mut Reader<'_>,
    variable: VariableId,
    unit: UnitId,
    ty: Option<&Ref<'_>>,
) -> Result<()> {
    let Some(ty) = ty else { return Ok(()) };
    let ty = reader.ty(unit, ty)?;
    reader.builder.describe_variable(variable)?.completed_type(ty).map(drop)
}

impl<'a> DescribeVariable<'a> {
    pub fn apply(mut self, reader: &mut Reader<'a>) -> Result<()> {
        let variable = reader.variable(&self.variable)?;
        let unit = reader.unit_of(reader.builder.described().variable(variable).scope);
        self.facts().describe(reader, variable, unit)
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
        Some(Self(known.module.constant(loc)?.to_vec()))
    }
}

/// The location at all pcs.
impl<'a> Property<'a, VariableId> for Loc<'a> {
    fn read(self, reader: &mut Reader<'a>, id: VariableId, unit: UnitId) -> Result<()> {
        let loc = loc::whole(reader, unit, &self)?;
        reader.builder.describe_variable(id)?.always(loc)?;
        let sought = reader.seek(|blame| *blame == Blame::Always(id));
        reader.with_key("always", sought)
    }

    fn write(known: &'a Known<'a>, id: VariableId) -> Option<Self> {
        let variable = known.module.variable(id);
        let loc = variable.always.filter(|_| !variable.is_constant)?;
        Some(loc::written(known, loc))
    }
}

/// The locations by pc.
impl<'a> Property<'a, VariableId> for LiveRanges<'a> {
    fn read(self, reader: &mut Reader<'a>, id: VariableId, unit: UnitId) -> Result<()> {
        let Later::Text(live) = self else { return Ok(()) };
        reader.part(live, |reader, json| {
            each(reader, unit, json, |reader, Live { start, end, locs, .. }| {
                let pcs = start.0..end.0;
                let mut variable = reader.builder.describe_variable(id)?;
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
        (!live.is_empty()).then_some(Later::Model(Elements { known, items: live }))
    }
}

impl<'a> Procedure<'a> {
    pub fn apply(self, reader: &mut Reader<'a>) -> Result<()> {
        let unit = reader.unit(&self.unit)?;
        let loc = loc::whole::<model::Loc, _>(reader, unit, &self.loc)?;
        let procedure = reader.builder.procedure(unit, &loc)?;
        reader.names.procedures.add(procedure, Some(&self.id), None)
    }

    pub fn write(known: &'a Known<'a>, id: ProcedureId) -> Self {
        let procedure = &known.module.procedures[id];
        let loc = loc::written(known, procedure.loc);
        Self::new(known.unit_ref(procedure.unit), known.procedure_ref(id), loc)
    }
}
