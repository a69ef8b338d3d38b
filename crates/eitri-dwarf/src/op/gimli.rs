//! Expressions for a `gimli::write` tree.

use gimli::{DwOp, Register, write};

use super::{Encoding, Expr, Op, Slot};
#[cfg(doc)]
use crate::error::ErrorKind;
use crate::error::{Error, Result};

impl Expr {
    /// Converts the expression for a `gimli::write` tree.
    ///
    /// For a user of `gimli::write::Dwarf` who takes only expressions from this crate. `resolve` returns the target of
    /// a slot in that tree. gimli lacks vendor operations, so they are passed byte by byte.
    ///
    /// gimli re-encodes an expression with fixups: base type offsets take the fewest bytes, branches keep their target
    /// operations, and in units before DWARF 5 operations with references have GNU's opcodes.
    ///
    /// # Errors
    /// The errors of [`Decoder`](super::Decoder), if the expression has fixups and operations unknown in `encoding`;
    /// [`ErrorKind::BadArgument`] if a target does not match the operation, or gimli cannot reference it from this
    /// operation (`call2`, `GNU_parameter_ref`), or a branch target is not the start of an operation.
    pub fn to_gimli(
        &self,
        encoding: Encoding,
        mut resolve: impl FnMut(Slot) -> GimliTarget,
    ) -> Result<write::Expression> {
        if self.fixups().is_empty() {
            return Ok(write::Expression::raw(self.bytes().to_vec()));
        }
        let mut out = write::Expression::new();
        let mut decoder = self.decode(encoding);
        let mut fixups = self.fixups().iter().peekable();
        // Start of each operation, in the old and in the new expression; and the branches with their old targets.
        let mut starts = Vec::new();
        let mut branches = Vec::new();
        while let Some(decoded) = decoder.next() {
            let decoded = decoded?;
            let end = decoder.offset();
            starts.push((decoded.offset, out.next_index()));
            if let Some(fixup) = fixups.next_if(|fixup| (fixup.offset as usize) < end) {
                refer(&mut out, decoded.op, resolve(fixup.slot))
                    .map_err(|error| error.at_offset(decoded.offset as u64))?;
                continue;
            }
            match decoded.op {
                Op::Bra { distance } => branches.push((out.op_bra(), end, distance)),
                Op::Skip { distance } => branches.push((out.op_skip(), end, distance)),
                _ => self.bytes()[decoded.offset..end].iter().for_each(|&byte| out.op(DwOp(byte))),
            }
        }
        starts.push((self.bytes().len(), out.next_index()));
        for (branch, end, distance) in branches {
            let target = end.checked_add_signed(distance.into());
            let Ok(index) = starts.binary_search_by(|&(start, _)| Some(start).cmp(&target)) else {
                let error = Error::bad_argument(format!(
                    "branch distance {distance:+} does not lead to the start of an operation or to the end"
                ));
                return Err(error.at_offset(end as u64 - 3));
            };
            out.set_target(branch, starts[index].1);
        }
        Ok(out)
    }
}

/// Target of a [`Slot`] in a `gimli::write` tree.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum GimliTarget {
    /// An entry of the same unit.
    Entry(write::UnitEntryId),
    /// An entry of any unit.
    Reference(write::DebugInfoRef),
    /// An address.
    Address(write::Address),
}

/// Appends an operation with a reference.
fn refer(out: &mut write::Expression, op: Op<'_>, target: GimliTarget) -> Result<()> {
    match (op, target) {
        (Op::Addr { .. }, GimliTarget::Address(address)) => out.op_addr(address),
        (Op::Call4 { .. }, GimliTarget::Entry(entry)) => out.op_call(entry),
        (Op::CallRef { .. }, GimliTarget::Reference(entry)) => out.op_call_ref(entry),
        (Op::ImplicitPointer { offset, .. }, GimliTarget::Reference(entry)) => {
            out.op_implicit_pointer(entry, offset)
        }
        (Op::GnuVariableValue { .. }, GimliTarget::Reference(entry)) => out.op_variable_value(entry),
        (Op::ConstType { bytes, .. }, GimliTarget::Entry(entry)) => out.op_const_type(entry, bytes.into()),
        (Op::RegvalType { reg, .. }, GimliTarget::Entry(entry)) if reg.0 <= u16::MAX.into() => {
            out.op_regval_type(Register(reg.0 as u16), entry);
        }
        (Op::DerefType { bytes, .. }, GimliTarget::Entry(entry)) => out.op_deref_type(bytes, entry),
        (Op::XderefType { bytes, .. }, GimliTarget::Entry(entry)) => out.op_xderef_type(bytes, entry),
        (Op::Convert { .. }, GimliTarget::Entry(entry)) => out.op_convert(Some(entry)),
        (Op::Reinterpret { .. }, GimliTarget::Entry(entry)) => out.op_reinterpret(Some(entry)),
        _ => {
            let name = op.row().text;
            let target = match target {
                GimliTarget::Entry(_) => "an entry of the unit",
                GimliTarget::Reference(_) => "a reference to an entry",
                GimliTarget::Address(_) => "an address",
            };
            return Err(Error::bad_argument(format!("gimli cannot write operation `{name}` with {target}")));
        }
    }
    Ok(())
}
