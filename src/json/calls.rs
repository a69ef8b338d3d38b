//! Calls with their arguments, imports and labels.

use super::facts::{Outcome, facts, kind};
use super::ids::Known;
use super::loc::{self, Loc, Val};
use super::objects::objects;
use super::reader::Reader;
use super::values::{Line, Number, Ref, Text};
use crate::error::{Error, Result};
use crate::model::entities::{call_properties, import_properties, label_properties};
use crate::model::{self, CallId, ImportId, Imported, LabelId, UnitId};

call_properties! {
    facts CallFacts of |known, id: CallId| known.module.call(id), set CallId: [by describe_call],
    object Call { r#in: Ref<'a> } { id: Text<'a> }
    object DescribeCall { call: Ref<'a> } {}
}
import_properties! {
    facts ImportFacts of |known, id: ImportId| &known.module.imports[id], set ImportId: [by describe_import],
    object Import { r#in: Ref<'a> } { id: Text<'a> }
}
label_properties! {
    facts LabelFacts of |known, id: LabelId| &known.module.labels[id], set LabelId: [by describe_label],
    object Label { r#in: Ref<'a>, name: Text<'a> } { id: Text<'a> }
}
objects! {
    Argument { call: Ref<'a> } {
        location: Loc<'a>, parameter: Ref<'a>, value: Val<'a>, points_to: (Loc<'a>, Val<'a>),
        points_to_value: Val<'a>,
    }
}

impl<'a> Call<'a> {
    pub fn apply(mut self, reader: &mut Reader<'a>) -> Result<()> {
        let (scope, unit) = reader.scope_and_unit(&self.r#in)?;
        let call = reader.builder.call(scope)?.id();
        reader.names.calls.add(call, self.id.as_ref(), None)?;
        self.facts().describe(reader, call, unit)
    }

    pub fn write(known: &'a Known<'a>, id: CallId) -> Self {
        let call = known.module.call(id);
        let is_referenced = !known.module.arguments(id).is_empty() || !known.module.attributes(id).is_empty();
        let json = Self::new(known.scope_ref(call.scope)).with(CallFacts::new(known, id));
        Self { id: is_referenced.then(|| known.call_ref(id)), ..json }
    }
}

impl<'a> DescribeCall<'a> {
    pub fn apply(mut self, reader: &mut Reader<'a>) -> Result<()> {
        let call = reader.call(&self.call)?;
        let unit = reader.unit_of(reader.builder.described().call(call).scope);
        self.facts().describe(reader, call, unit)
    }
}

impl<'a> Argument<'a> {
    pub fn apply(self, reader: &mut Reader<'a>) -> Result<()> {
        let call = reader.call(&self.call)?;
        let unit = reader.unit_of(reader.builder.described().call(call).scope);
        let location = self.location.map(|location| loc::whole::<model::Loc, _>(reader, unit, &location));
        let location = location.transpose()?;
        let parameter = self.parameter.map(|parameter| reader.variable(&parameter)).transpose()?;
        let value = self.value.map(|value| loc::whole::<model::Val, _>(reader, unit, &value)).transpose()?;
        let mut points_to = None;
        if let Some((location, value)) = self.points_to {
            let location: model::Loc = loc::whole(reader, unit, &location)?;
            points_to = Some((location, loc::whole::<model::Val, _>(reader, unit, &value)?));
        }
        let points_to_value = self.points_to_value;
        let points_to_value =
            points_to_value.map(|value| loc::whole::<model::Val, _>(reader, unit, &value)).transpose()?;
        let mut call = reader.builder.describe_call(call)?;
        let mut argument = match (&location, parameter) {
            (Some(location), _) => call.argument(location)?,
            (None, Some(parameter)) => call.removed_argument(parameter)?,
            (None, None) => {
                return Err(Error::bad_argument(
                    "argument has neither a location nor a parameter; expected `location`, `parameter` or both",
                ));
            }
        };
        if let Some(value) = value {
            argument.value(value)?;
        }
        if let Some((location, value)) = points_to {
            argument.points_to(&location, value)?;
        } else if let Some(value) = points_to_value {
            argument.points_to_value(value)?;
        }
        if let Some(parameter) = parameter.filter(|_| location.is_some()) {
            argument.parameter(parameter)?;
        }
        Ok(())
    }

    pub fn write(known: &'a Known<'a>, call: CallId, argument: &model::Argument) -> Self {
        let points_to = argument.data_location.zip(argument.data_value);
        Self {
            parameter: argument.parameter.map(|parameter| known.variable_ref(parameter)),
            value: argument.value.map(|value| loc::written_number(known, value)),
            points_to_value: argument
                .data_value
                .filter(|_| points_to.is_none())
                .map(|value| loc::written_number(known, value)),
            points_to: points_to
                .map(|(location, value)| (loc::written(known, location), loc::written_number(known, value))),
            location: argument.location.map(|location| loc::written(known, location)),
            ..Self::new(known.call_ref(call))
        }
    }
}

impl<'a> Import<'a> {
    pub fn apply(mut self, reader: &mut Reader<'a>) -> Result<()> {
        let (scope, unit) = reader.scope_and_unit(&self.r#in)?;
        let mut facts = self.facts();
        let imported = imported(reader, unit, &mut facts)?;
        let import = reader.builder.import(scope, imported)?.id();
        reader.names.imports.add(import, self.id.as_ref(), None)?;
        facts.describe(reader, import, unit)
    }

    pub fn write(known: &'a Known<'a>, id: ImportId) -> Self {
        let import = &known.module.imports[id];
        let mut facts = ImportFacts::new(known, id);
        match import.what {
            Imported::Function(function) => facts.function = Some(known.function_ref(function)),
            Imported::Variable(variable) => facts.variable = Some(known.variable_ref(variable)),
            Imported::Type(ty) => facts.r#type = Some(known.type_ref(ty)),
            Imported::Member(ty, index) => facts.member = Some((known.type_ref(ty), index)),
            Imported::Enumerator(ty, index) => facts.enumerator = Some((known.type_ref(ty), index)),
            Imported::Namespace(namespace) => facts.namespace = Some(known.scope_ref(namespace)),
            Imported::AllOf(namespace) => facts.all_of = Some(known.scope_ref(namespace)),
        }
        Self { id: known.import_id(id), ..Self::new(known.scope_ref(import.scope)).with(facts) }
    }
}

/// Resolves the imported entity, whose kind its key determines.
fn imported<'a>(reader: &Reader<'a>, unit: UnitId, facts: &mut ImportFacts<'a>) -> Result<Imported> {
    let ImportFacts { function, variable, r#type, member, enumerator, namespace, all_of, .. } = facts;
    let mut entities = Vec::new();
    if let Some(function) = function.take() {
        entities.push(Imported::Function(reader.function(&function)?.0));
    }
    if let Some(variable) = variable.take() {
        entities.push(Imported::Variable(reader.variable(&variable)?));
    }
    if let Some(ty) = r#type.take() {
        entities.push(Imported::Type(reader.ty(unit, &ty)?));
    }
    if let Some((ty, index)) = member.take() {
        entities.push(Imported::Member(reader.ty(unit, &ty)?, index));
    }
    if let Some((ty, index)) = enumerator.take() {
        entities.push(Imported::Enumerator(reader.ty(unit, &ty)?, index));
    }
    if let Some(namespace) = namespace.take() {
        entities.push(Imported::Namespace(reader.scope(&namespace)?));
    }
    if let Some(all_of) = all_of.take() {
        entities.push(Imported::AllOf(reader.scope(&all_of)?));
    }
    match entities[..] {
        [entity] => Ok(entity),
        _ => Err(Error::bad_argument(
            "import has no entity or several; expected one of `function`, `variable`, `type`, `member`, \
             `enumerator`, `namespace`, `all_of`",
        )),
    }
}

impl<'a> Label<'a> {
    pub fn apply(mut self, reader: &mut Reader<'a>) -> Result<()> {
        let (scope, unit) = reader.scope_and_unit(&self.r#in)?;
        let label = reader.builder.label(scope, &self.name)?.id();
        reader.names.labels.add(label, self.id.as_ref(), None)?;
        self.facts().describe(reader, label, unit)
    }

    pub fn write(known: &'a Known<'a>, id: LabelId) -> Self {
        let label = &known.module.labels[id];
        let json =
            Self::new(known.scope_ref(label.scope), known.text(label.name)).with(LabelFacts::new(known, id));
        Self { id: known.label_id(id), ..json }
    }
}
