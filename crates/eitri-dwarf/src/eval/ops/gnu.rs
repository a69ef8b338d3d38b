//! GNU operations that no standard adopted.

use super::super::arith::convert;
use super::super::fault::{Fault, error, ill_formed, unsupported};
use super::super::location::Location;
use super::super::run::Run;
use crate::op::EncodedAddress;

impl Run<'_, '_> {
    /// Pushes a pointer in the `.eh_frame` encoding (Linux Standard Base, DWARF extensions, section 10.5). Only
    /// absolute pointers are supported, because the addresses to which other pointers are relative (expression, text,
    /// data, function) are unknown.
    pub(super) fn encoded_addr(&mut self, address: EncodedAddress) -> Result<(), Fault> {
        if address.encoding & 0x70 != 0 {
            return Err(unsupported(format!("pointer encoding {:#04x}", address.encoding)));
        }
        self.push_loaded(address.value)?;
        match address.encoding & 0x80 {
            0 => Ok(()),
            // The pointer is stored at the address.
            _ => self.deref(None),
        }
    }

    /// Pushes a parameter's value on entry, as passed by the caller: its `DW_AT_call_value`, in the calling frame
    /// (A.3.4.2).
    pub(super) fn parameter_ref(&mut self, entry: u64) -> Result<(), Fault> {
        let parameter = self.scope.unit.checked_add(entry);
        let passed = parameter.and_then(|parameter| self.machine.call_value(parameter, self.scope.frame));
        let passed = passed
            .ok_or_else(|| error(format!("the call site has no call value for parameter {entry:#x}")))?;
        let value = self.passed(&passed)?;
        self.push(value);
        Ok(())
    }

    /// Pushes a variable's value as a generic-type number.
    pub(super) fn variable_value(&mut self, entry: u64) -> Result<(), Fault> {
        let offset = self.scope.entry_in_file(entry);
        let entry = self.machine.entry(offset);
        let entry = entry.ok_or_else(|| ill_formed(format!("{offset:#x} is not the entry of a variable")))?;
        let scope = self.scope.of_entry(offset, &entry);
        let location = self.body(scope, entry.body)?.unwrap_or_else(Location::undefined);
        let ty = self.machine.variable_type(offset);
        let ty = ty.ok_or_else(|| error(format!("the type of variable {offset:#x} is unknown")))?;
        self.charge_value(ty)?;
        let value = self.read_value(&location, ty)?;
        let value = match value.as_pointer() {
            Some(_) => value,
            // A pointer has no number to convert.
            None => convert(&value, self.generic_type())?,
        };
        self.push(value);
        Ok(())
    }
}
