//! Registers that a call overwrites, and that neither the description of a frame nor its rules name: what they are in the
//! caller must be what debuggers take them to be.

use std::collections::BTreeSet;

use crate::eval::Architecture;
use crate::model::{Column, FunctionId, Module, overwritten_registers};
use crate::op::Reg;
use crate::read::RegisterRule;

/// A frame's registers without a description.
pub(super) struct Unspecified<'m> {
    module: &'m Module,
    function: FunctionId,
    /// Sorted; empty for a frame that says nothing about the caller's registers without a rule.
    registers: Vec<Reg>,
}

impl<'m> Unspecified<'m> {
    pub(super) fn new(module: &'m Module, function: FunctionId, described: &BTreeSet<Column>) -> Self {
        let mut registers = Vec::new();
        if module.has_unspecified_registers(function) {
            registers = overwritten_registers(&module.target);
            registers.retain(|&reg| !described.contains(&Column::Register(reg)));
        }
        Self { module, function, registers }
    }

    /// Returns the registers.
    pub(super) fn registers(&self) -> impl Iterator<Item = Reg> {
        self.registers.iter().copied()
    }

    /// Returns the registers that the rows alone do not prove to be as described: `constant` returns the rule that a
    /// register has in all rows, and `ruled` contains the registers with a rule in any row.
    pub(super) fn doubtful<'o>(
        &self,
        ruled: &BTreeSet<Column>,
        constant: impl Fn(Reg) -> Option<RegisterRule<'o>>,
    ) -> impl Iterator<Item = Reg> {
        self.registers().filter(move |&reg| match (ruled.contains(&Column::Register(reg)), constant(reg)) {
            (false, _) => self.needs_rule(Column::Register(reg)),
            (true, Some(RegisterRule::Undefined)) => self.described_bits(reg) != Some(0),
            (true, Some(RegisterRule::SameValue)) => {
                self.described_bits(reg) != self.module.target.register(reg).map(|register| register.bits)
            }
            (true, _) => true,
        })
    }

    /// Whether debuggers take a register without a rule to be something other than described.
    pub(super) fn needs_rule(&self, column: Column) -> bool {
        let Column::Register(reg) = column else { return false };
        self.registers.binary_search(&reg).is_ok()
            && Architecture::preserved_bits(&self.module.target, reg) != self.described_bits(reg)
    }

    /// Bits that have the same value in the caller.
    fn described_bits(&self, reg: Reg) -> Option<u32> {
        self.module.function(self.function).unruled_bits(&self.module.target, reg)
    }
}
