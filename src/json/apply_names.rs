//! Applies statements about imports, labels and calls.

use super::read::Reader;
use super::statement::{Argument, CallFacts, Import, Label};
use super::values::Number;
use crate::error::{Error, Result};
use crate::model::{CallId, Imported, Val};

impl<'a> Reader<'a> {
    pub fn import(&mut self, said: Import<'a>) -> Result<()> {
        let scope = self.scope(&said.r#in)?;
        let unit = self.unit_of(scope);
        let what = match (said.function, said.variable, said.r#type, said.namespace, said.all_of) {
            (Some(name), None, None, None, None) => Imported::Function(self.function(&name)?.0),
            (None, Some(name), None, None, None) => Imported::Variable(self.names.variables.find((), &name)?),
            (None, None, Some(name), None, None) => Imported::Type(self.ty(unit, &name)?),
            (None, None, None, Some(name), None) => Imported::Namespace(self.scope(&name)?),
            (None, None, None, None, Some(name)) => Imported::AllOf(self.scope(&name)?),
            _ => {
                let what =
                    "imported is a `function`, `variable`, `type` or `namespace`, or `all_of` a namespace";
                return Err(Error::bad_argument(what));
            }
        };
        let declared = said.declared.map(|line| self.line(unit, &line)).transpose()?;
        let mut import = self.builder.import(scope, what)?;
        if let Some(name) = said.name {
            import.name(&name)?;
        }
        declared.map_or(Ok(()), |line| import.declared_at(line).map(drop))
    }

    pub fn label(&mut self, said: Label<'a>) -> Result<()> {
        let scope = self.scope(&said.r#in)?;
        let declared = said.declared.map(|line| self.line(self.unit_of(scope), &line)).transpose()?;
        let mut label = self.builder.label(scope, &said.name)?;
        if let Some(Number(pc)) = said.at {
            label.at(pc)?;
        }
        declared.map_or(Ok(()), |line| label.declared_at(line).map(drop))
    }

    pub fn call_facts(&mut self, id: CallId, facts: CallFacts<'a>) -> Result<()> {
        let unit = self.unit_of(self.builder.described().call(id).scope);
        let calls = facts.calls.as_ref().map(|name| self.names.functions.find(unit, name)).transpose()?;
        let target: Option<Val> = facts.target.as_ref().map(|value| self.number(unit, value)).transpose()?;
        let clobbered = facts.clobbered_target.as_ref();
        let clobbered: Option<Val> = clobbered.map(|value| self.number(unit, value)).transpose()?;
        let line = facts.line.as_ref().map(|line| self.line(unit, line)).transpose()?;
        let mut call = self.builder.describe_call(id)?;
        facts.describe(&mut call);
        if let Some(Number(pc)) = facts.returns_to {
            call.returns_to(pc)?;
        }
        if let Some(Number(pc)) = facts.at {
            call.at(pc)?;
        }
        if let Some(function) = calls {
            call.calls(function)?;
        }
        if let Some(address) = target {
            call.target(address)?;
        }
        if let Some(address) = clobbered {
            call.clobbered_target(address)?;
        }
        line.map_or(Ok(()), |line| call.line(line).map(drop))
    }

    pub fn argument(&mut self, said: Argument<'a>) -> Result<()> {
        let call = self.names.calls.find((), &said.call)?;
        let unit = self.unit_of(self.builder.described().call(call).scope);
        let parameter = said.parameter.map(|name| self.names.variables.find((), &name)).transpose()?;
        let location = self.loc(unit, &said.location)?;
        let value = said.value.map(|value| self.number(unit, &value)).transpose()?;
        let points_to = match &said.points_to {
            Some((location, value)) => Some((self.loc(unit, location)?, self.number(unit, value)?)),
            None => None,
        };
        let mut call = self.builder.describe_call(call)?;
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
