//! Imports, labels and calls: written from the model.

use std::io::Write;

use super::statement::{
    CallFacts, ImportFacts, LabelFacts, argument_statement, call_statement, import_statement, label_statement,
};
use super::write::Writer;
use crate::error::Result;

impl<W: Write> Writer<'_, W> {
    pub fn imports_and_labels(&mut self) -> Result<()> {
        let (known, module) = (self.known, self.module);
        for (id, import) in module.imports() {
            let (scope, facts) = (known.scope_ref(import.scope), ImportFacts::of(known, id));
            self.statement(&import_statement(known, scope, None, &import.what, facts))?;
        }
        for (id, label) in module.labels() {
            let (scope, facts) = (known.scope_ref(label.scope), LabelFacts::of(known, id));
            self.statement(&label_statement(known, scope, None, label, facts))?;
        }
        Ok(())
    }

    pub fn calls(&mut self) -> Result<()> {
        let (known, module) = (self.known, self.module);
        for (id, call) in module.calls() {
            let arguments = module.arguments(id);
            let (scope, facts) = (known.scope_ref(call.scope), CallFacts::of(known, id));
            let name_id = Some(known.call_ref(id)).filter(|_| !arguments.is_empty());
            self.statement(&call_statement(known, scope, name_id, (), facts))?;
            for argument in arguments {
                let of = (argument, argument.data_location.zip(argument.data_value));
                self.statement(&argument_statement(known, known.call_ref(id), None, of, ()))?;
            }
        }
        Ok(())
    }
}
