//! Writes imports, labels and calls as statements.

use std::io::Write;

use super::later::Later;
use super::statement::{self as say, CallFacts, Statement};
use super::values::Number;
use super::write::{NumberAt, Place, Writer};
use crate::error::Result;
use crate::model::{Imported, LocId};

impl<W: Write> Writer<'_, W> {
    pub fn imports_and_labels(&mut self) -> Result<()> {
        let (known, module) = (self.known, self.module);
        for (_, import) in module.imports() {
            let mut said = say::Import::new(known.scope_ref(import.scope));
            match import.what {
                Imported::Function(id) => said.function = Some(known.function_ref(id)),
                Imported::Variable(id) => said.variable = Some(known.variable_ref(id)),
                Imported::Type(id) => said.r#type = Some(known.type_ref(id)),
                Imported::Namespace(id) => said.namespace = Some(known.scope_ref(id)),
                Imported::AllOf(id) => said.all_of = Some(known.scope_ref(id)),
            }
            said.name = import.name.map(|name| known.text(name));
            said.declared = import.line.map(|line| known.line(line));
            self.say(&Statement::Import(said))?;
        }
        for (_, label) in module.labels() {
            let mut said = say::Label::new(known.scope_ref(label.scope), known.text(label.name));
            said.at = label.pc.map(Number);
            said.declared = label.line.map(|line| known.line(line));
            self.say(&Statement::Label(said))?;
        }
        Ok(())
    }

    pub fn calls(&mut self) -> Result<()> {
        let (known, module) = (self.known, self.module);
        let place = |loc: LocId| Place { known, loc };
        let number = |loc: LocId| Later::Model(NumberAt(place(loc)));
        for (id, call) in module.calls() {
            let facts = CallFacts {
                returns_to: call.return_pc.map(Number),
                at: call.pc.map(Number),
                calls: call.callee.map(|callee| known.function_ref(callee)),
                target: call.target.map(number),
                clobbered_target: call.clobbered_target.map(number),
                line: call.line.map(|line| known.line(line)),
                ..CallFacts::of(known, call)
            };
            let arguments = module.arguments(id);
            let mut said = say::Call::new(known.scope_ref(call.scope)).with(facts);
            said.id = Some(known.call_ref(id)).filter(|_| !arguments.is_empty());
            self.say(&Statement::Call(said))?;
            for argument in arguments {
                let location = Later::Model(place(argument.location));
                let mut said = say::Argument::new(known.call_ref(id), location);
                said.parameter = argument.parameter.map(|parameter| known.variable_ref(parameter));
                said.value = argument.value.map(number);
                let data = argument.data_location.zip(argument.data_value);
                said.points_to = data.map(|(location, value)| (Later::Model(place(location)), number(value)));
                self.say(&Statement::Argument(said))?;
            }
        }
        Ok(())
    }
}
