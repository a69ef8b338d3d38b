//! Calls and entry values.

use super::super::Kind;
use super::super::fault::{Fault, brief, error, ill_formed};
use super::super::machine::Body;
use super::super::run::Run;
use super::super::stack::Element;
use super::super::value::{BaseType, TypeEncoding};

impl Run<'_, '_> {
    /// Calls the entry at an offset in `.debug_info`.
    pub(super) fn call_entry(&mut self, offset: Option<u64>) -> Result<(), Fault> {
        let found = offset.and_then(|offset| Some((offset, self.machine.entry(offset)?)));
        let (offset, entry) = found.ok_or_else(|| {
            ill_formed(format!(
                "a call refers to an entry: {:#x} is not an entry",
                offset.unwrap_or(u64::MAX)
            ))
        })?;
        // The last operation is then that of the callee, or the call itself.
        self.last_register = None;
        match entry.body {
            // Not a separate evaluation: the stack is shared, and no composite is completed at its end.
            Body::Expression(expr) => self.call(expr, offset, &entry)?,
            body @ (Body::List(_) | Body::EncodedList(_)) => {
                let scope = self.scope.of_entry(offset, &entry);
                if let Some(location) = self.body(scope, body)? {
                    self.push(location);
                }
                // Entries of the list are evaluated separately, so their last operation does not count.
                self.last_register = None;
            }
            Body::Constant(bytes) => self.implicit_value(bytes)?,
            Body::Nothing => {}
        }
        Ok(())
    }

    /// Evaluates an expression in the calling frame.
    pub(super) fn entry_value(&mut self, expr: &[u8]) -> Result<(), Fault> {
        let frame = self.scope.frame.checked_add(1).ok_or_else(|| error("the frame has no caller"))?;
        let scope = self.scope.in_frame(frame);
        let found = self.apart(scope, |run| {
            run.last_register = None;
            run.expression(expr)?;
            let register = run.last_register;
            Ok((run.finish(Kind::Any)?, register))
        });
        let found = found.map_err(|fault| fault.within("the calling frame", self.scope.entry));
        let (result, register) = found?;
        match (result, register) {
            (Element::Value(value), _) => self.push(value),
            (Element::Location(location), Some(register)) => {
                let bits = self.register_bits(register)?;
                let generic = self.generic_type();
                let unsigned = BaseType::new(TypeEncoding::Unsigned, bits);
                let ty = if u64::from(bits) == generic.size() { generic } else { unsigned };
                let value = self.read_value(&location, ty)?;
                self.push(value);
            }
            (Element::Location(location), None) => {
                return Err(ill_formed(format!(
                    "the expression of an entry value gives a register or a value: {}",
                    brief(&location)
                )));
            }
        }
        Ok(())
    }
}
