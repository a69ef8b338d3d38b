//! Imports, labels and calls: applied to the builder, and written from the model.

use std::io::Write;

use super::later::Later;
use super::loc::{NumberAt, Place};
use super::read::Reader;
use super::statement::{
    Argument, Call, CallFacts, DescribeCall, Import, ImportFacts, Label, LabelFacts, Statement,
};
use super::write::Writer;
use crate::error::Result;
use crate::model::LocId;

impl<'a> Import<'a> {
    pub fn apply(mut self, reader: &mut Reader<'a>) -> Result<()> {
        let scope = reader.scope(&self.r#in)?;
        let unit = reader.unit_of(scope);
        let mut facts = self.facts();
        let what = facts.choose(reader, unit)?;
        let import = reader.builder.import(scope, what)?.id();
        facts.describe(reader, import, unit)
    }
}

impl<'a> Label<'a> {
    pub fn apply(mut self, reader: &mut Reader<'a>) -> Result<()> {
        let scope = reader.scope(&self.r#in)?;
        let label = reader.builder.label(scope, &self.name)?.id();
        let unit = reader.unit_of(scope);
        self.facts().describe(reader, label, unit)
    }
}

impl<'a> Call<'a> {
    pub fn apply(mut self, reader: &mut Reader<'a>) -> Result<()> {
        let scope = reader.scope(&self.r#in)?;
        let call = reader.builder.call(scope)?.id();
        reader.names.calls.add(call, self.id.as_ref(), None)?;
        let unit = reader.unit_of(scope);
        self.facts().describe(reader, call, unit)
    }
}

impl<'a> DescribeCall<'a> {
    pub fn apply(mut self, reader: &mut Reader<'a>) -> Result<()> {
        let call = reader.names.calls.find((), &self.call)?;
        let unit = reader.unit_of(reader.builder.described().call(call).scope);
        self.facts().describe(reader, call, unit)
    }
}

impl<'a> Argument<'a> {
    pub fn apply(self, reader: &mut Reader<'a>) -> Result<()> {
        let call = reader.names.calls.find((), &self.call)?;
        let unit = reader.unit_of(reader.builder.described().call(call).scope);
        let parameter = self.parameter.map(|name| reader.names.variables.find((), &name)).transpose()?;
        let location = reader.loc(unit, &self.location)?;
        let value = self.value.map(|value| reader.number(unit, &value)).transpose()?;
        let points_to = match &self.points_to {
            Some((location, value)) => Some((reader.loc(unit, location)?, reader.number(unit, value)?)),
            None => None,
        };
        let mut call = reader.builder.describe_call(call)?;
        let mut argument = call.argument(&location)?;
        if let Some(value) = value {
            argument.value(value)?;
        }
        if let Some((location, value)) = points_to {
            argument.points_to(&location, value)?;
        }
        parameter.map_or(Ok(()), |parameter| argument.parameter(parameter).map(drop))
    }
}

impl<W: Write> Writer<'_, W> {
    pub fn imports_and_labels(&mut self) -> Result<()> {
        let (known, module) = (self.known, self.module);
        for (id, import) in module.imports() {
            let facts = ImportFacts::of(known, id).chosen(known, &import.what);
            self.statement(&Statement::Import(Import::new(known.scope_ref(import.scope)).with(facts)))?;
        }
        for (id, label) in module.labels() {
            let json = Label::new(known.scope_ref(label.scope), known.text(label.name));
            self.statement(&Statement::Label(json.with(LabelFacts::of(known, id))))?;
        }
        Ok(())
    }

    pub fn calls(&mut self) -> Result<()> {
        let (known, module) = (self.known, self.module);
        let place = |loc: LocId| Place { known, loc };
        let number = |loc: LocId| Later::Model(NumberAt(place(loc)));
        for (id, call) in module.calls() {
            let arguments = module.arguments(id);
            let mut json = Call::new(known.scope_ref(call.scope)).with(CallFacts::of(known, id));
            json.id = Some(known.call_ref(id)).filter(|_| !arguments.is_empty());
            self.statement(&Statement::Call(json))?;
            for argument in arguments {
                let mut json = Argument::new(known.call_ref(id), Later::Model(place(argument.location)));
                json.parameter = argument.parameter.map(|parameter| known.variable_ref(parameter));
                json.value = argument.value.map(number);
                let data = argument.data_location.zip(argument.data_value);
                json.points_to = data.map(|(location, value)| (Later::Model(place(location)), number(value)));
                self.statement(&Statement::Argument(json))?;
            }
        }
        Ok(())
    }
}
