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
    Argument { call: Ref<'a>, location: Loc<'a> } {
        parameter: Ref<'a>, value: Val<'a>, points_to: (Loc<'a>, Val<'a>),
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
        let location = loc::whole::<model::Loc, _>(reader, unit, &self.location)?;
        let parameter = self.parameter.map(|parameter| reader.variable(&parameter)).transpose()?;
        let value = self.value.map(|value| loc::whole::<model::Val, _>(reader, unit, &value)).transpose()?;
        let mut points_to = None;
        if let Some((location, value)) = self.points_to {
            let location: model::Loc = loc::whole(reader, unit, &location)?;
            points_to = Some((location, loc::whole::<model::Val, _>(reader, unit, &value)?));
        }
        let mut call = reader.builder.describe_call(call)?;
        let mut argument = call.argument(&location)?;
        if let Some(value) = value {
            argument.value(value)?;
        }
        if let Some((location, value)) = points_to {
            argument.points_to(&location, value)?;
        }
        if let Some(parameter) = parameter {
            argument.parameter(parameter)?;
        }
        Ok(())
    }

    pub fn write(known: &'a Known<'a>, call: CallId, argument: &model::Argument) -> Self {
        let points_to = argument.data_location.zip(argument.data_value);
        Self {
            parameter: argument.parameter.map(|parameter| known.variable_ref(parameter)),
            value: argument.value.map(|value| loc::written_number(known, value)),
            points_to: points_to
                .map(|(location, value)| (loc::written(known, location), loc::written_number(known, value))),
            ..Self::new(known.call_ref(call), loc::written(known, argument.location))
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
            Imported::Namespace(namespace) => facts.namespace = Some(known.scope_ref(namespace)),
            Imported::AllOf(namespace) => facts.all_of = Some(known.scope_ref(namespace)),
        }
        Self { id: known.import_id(id), ..Self::new(known.scope_ref(import.scope)).with(facts) }
    }
}

/// Resolves the imported entity, whose kind its key determines.
fn imported<'a>(reader: &Reader<'a>, unit: UnitId, facts: &mut ImportFacts<'a>) -> Result<Imported> {
    let ImportFacts { function, variable, r#type, namespace, all_of, .. } = facts;
    match (function.take(), variable.take(), r#type.take(), namespace.take(), all_of.take()) {
        (Some(function), None, None, None, None) => Ok(Imported::Function(reader.function(&function)?.0)),
        (None, Some(variable), None, None, None) => Ok(Imported::Variable(reader.variable(&variable)?)),
        (None, None, Some(ty), None, None) => Ok(Imported::Type(reader.ty(unit, &ty)?)),
        (None, None, None, Some(namespace), None) => Ok(Imported::Namespace(reader.scope(&namespace)?)),
        (None, None, None, None, Some(all_of)) => Ok(Imported::AllOf(reader.scope(&all_of)?)),
        _ => Err(Error::bad_argument(
            "import has no entity or several; expected one of `function`, `variable`, `type`, `namespace`, `all_of`",
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
