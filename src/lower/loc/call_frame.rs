//! Expressions of call frame information. Rules of the caller's registers begin with the canonical frame address on
//! the stack. Expressions refer to no other section. A.6.4.2.

use super::expression::{At, ExpressionWriter};
use super::{Lowering, Request, Sink, malformed};
use crate::error::{Construct, Result};
use crate::model::{LocId, Node};
use crate::op::Reg;

impl<'m> Lowering<'m> {
    /// Makes the expressions those of call frame information.
    pub(in crate::lower) fn for_call_frames(mut self) -> Self {
        self.is_call_frame = true;
        self
    }

    /// Appends the expression of the location of a register of the caller, or with `is_number` of its value.
    ///
    /// # Errors
    /// The errors of [`lower`](Self::lower).
    pub(in crate::lower) fn saved(&mut self, loc: LocId, is_number: bool, sink: &mut Sink<'_>) -> Result<()> {
        let nodes = self.module.nodes(loc);
        let uses = nodes.clone().filter(|node| *node == Node::Cfa).count() as u32;
        self.by_tree(nodes, Request::Saved { uses, is_number }, sink)
    }
}

impl ExpressionWriter<'_, '_> {
    /// Writes the whole expression of a saved register, with the canonical frame address on the initial stack.
    pub(super) fn saved(&mut self, root: At, uses: u32, is_number: bool) -> Result<()> {
        self.operands.cfa_uses = Some(uses);
        if is_number {
            return self.val(self.tree.last(root));
        }
        if self.context.consumer.has_locations_on_the_stack() {
            return if self.is_composite(root) { self.parts(root, None, true) } else { self.loc(root) };
        }
        // In plain DWARF 5, the expression computes an address.
        let (at, bits) = self.moved_by(root);
        let is_address = matches!(self.tree.node(at), Node::Cfa | Node::Memory(_) | Node::OffsetBy);
        if !is_address || bits % 8 != 0 {
            return Err(self.context.consumer.inexpressible(Construct::UnsavedRegister));
        }
        self.dwarf5(root, Some(8))
    }

    /// Writes the canonical frame address in plain DWARF 5, where it is in the default space; the frames of waves are
    /// not.
    pub(super) fn dwarf5_cfa(&mut self) -> Result<()> {
        if self.context.module.target.lanes() > 1 {
            return Err(self.context.consumer.inexpressible(Construct::WaveFrame));
        }
        self.cfa();
        Ok(())
    }

    /// Writes the canonical frame address. If it is on the initial stack, every use but the last copies it.
    pub(super) fn cfa(&mut self) {
        let Some(uses) = &mut self.operands.cfa_uses else {
            self.encoder.call_frame_cfa();
            return;
        };
        *uses = uses.saturating_sub(1);
        match (*uses, self.operands.above) {
            (0, 0) => {}
            (0, 1) if !self.operands.is_open => {
                self.encoder.swap();
            }
            (_, above) => {
                self.encoder.pick(above as u8);
            }
        }
    }

    /// Writes an operand with `more` operands of the same operation below it.
    pub(super) fn above<T>(&mut self, more: u32, write: impl FnOnce(&mut Self) -> T) -> T {
        self.operands.above += more;
        let written = write(self);
        self.operands.above -= more;
        written
    }

    /// Writes the value of a register in the caller.
    pub(super) fn caller_register(&mut self, reg: Reg) -> Result<()> {
        if !self.context.consumer.has_locations_on_the_stack() {
            let name = self.register(reg)?.name();
            return Err(self.context.consumer.inexpressible(Construct::CallerRegister(name.to_string())));
        }
        let bytes = self.register(reg)?.bits.div_ceil(8);
        let bytes = u8::try_from(bytes).map_err(|_| malformed())?;
        self.encoder.call_frame_entry_reg(reg).deref_size(bytes);
        Ok(())
    }

    #[cold]
    pub(super) fn refused_in_call_frame(&self, operation: &'static str) -> crate::error::Error {
        self.context.consumer.inexpressible(Construct::CallFrameOperation(operation))
    }
}
