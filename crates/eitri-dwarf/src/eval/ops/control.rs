//! Calls and entry values.

use super::super::context::ResultKind;
use super::super::fault::{Fault, brief, error, ill_formed};
use super::super::machine::{Body, CallValue, ReferencedEntry};
use super::super::run::Run;
use super::super::stack::Element;
use super::super::value::{BaseType, TypeEncoding, Value};

impl Run<'_, '_> {
    /// Calls the entry at an offset in `.debug_info`.
    pub(super) fn call_entry(&mut self, offset: Option<u64>) -> Result<(), Fault> {
        let callee = offset.and_then(|offset| Some((offset, self.machine.entry(offset)?)));
        let (offset, entry) = callee.ok_or_else(|| {
            ill_formed(format!("call to {:#x}, which is not an entry", offset.unwrap_or(u64::MAX)))
        })?;
        // The last operation is then the callee's, or the call itself.
        self.last_register = None;
        match entry.body {
            // Not a separate evaluation: the stack is shared, and no composite is completed at its end.
            Body::Expression(expr) => self.call(expr, offset, &entry)?,
            body @ (Body::List(_) | Body::EncodedList(_)) => {
                let scope = self.scope.of_entry(offset, &entry);
                if let Some(location) = self.body(scope, body)? {
                    self.push(location);
                }
                // List entries are evaluated separately, so that their last operation does not count.
                self.last_register = None;
            }
            Body::Constant(bytes) => self.implicit_value(bytes)?,
            Body::Nothing => {}
            Body::Unreadable => {
                return Err(error("the entry that is called has a location that cannot be read"));
            }
        }
        Ok(())
    }

    /// Evaluates a value that the caller passed, in the calling frame.
    pub(super) fn passed(&mut self, passed: &CallValue<'_>) -> Result<Value, Fault> {
        let frame = self.calling_frame()?;
        if let Some((target, callee)) = passed.target {
            let called = self.call_site_value(&target, frame)?;
            let called = called.as_u64().map(|loaded| loaded.wrapping_sub(self.machine.load_bias()));
            // A jump from another subprogram reached this frame, so that the values were passed to that subprogram.
            if called != Some(callee) {
                let called = called.map_or_else(|| "a pointer".into(), |called| format!("{called:#x}"));
                return Err(error(format!(
                    "the call site calls {called}, which jumped to {callee:#x}: the values passed there are unknown"
                )));
            }
        }
        self.call_site_value(&passed.value, frame)
    }

    fn call_site_value(&mut self, entry: &ReferencedEntry<'_>, frame: u32) -> Result<Value, Fault> {
        let Body::Expression(expr) = entry.body else {
            return Err(ill_formed("call value is not an expression (A.3.4.2)"));
        };
        let scope = self.scope.in_unit_of(entry).in_frame(frame);
        let value = self.apart(scope, |run| {
            run.expression(expr)?;
            run.finish_value()
        });
        value.map_err(|fault| fault.within("the call site", self.scope.entry))
    }

    fn calling_frame(&self) -> Result<u32, Fault> {
        self.scope.frame.checked_add(1).ok_or_else(|| error("the frame has no caller"))
    }

    /// Pushes the value that the caller passed at a location, or else the expression's value in the calling frame.
    pub(super) fn entry_value(&mut self, expr: &[u8]) -> Result<(), Fault> {
        if let Some(passed) = self.machine.entry_value(expr, self.scope.encoding, self.scope.frame) {
            let value = self.passed(&passed)?;
            self.push(value);
            return Ok(());
        }
        let frame = self.calling_frame()?;
        let scope = self.scope.in_frame(frame);
        let outcome = self.apart(scope, |run| {
            // Only a register that this expression names counts.
            run.last_register = None;
            run.expression(expr)?;
            let register = run.last_register;
            Ok((run.finish(ResultKind::Any)?, register))
        });
        let outcome = outcome.map_err(|fault| fault.within("the calling frame", self.scope.entry));
        let (result, register) = outcome?;
        match (result, register) {
            (Element::Value(value), _) => self.push(value),
            (Element::Location(location), Some(register)) => {
                let bits = self.register_bits(register)?;
                let generic = self.generic_type();
                let unsigned = BaseType::new(TypeEncoding::Unsigned, bits);
                // A register as wide as an address gives an address, so that it can be dereferenced.
                let ty = if u64::from(bits) == generic.size() { generic } else { unsigned };
                let value = self.read_value(&location, ty)?;
                self.push(value);
            }
            (Element::Location(location), None) => {
                return Err(ill_formed(format!(
                    "the expression of an entry value gives the location {}; expected a register or a value",
                    brief(&location)
                )));
            }
        }
        Ok(())
    }
}
