//! Values that a variable gets after the code of its block has ended: no debugger shows them.

use hashbrown::{HashMap, HashSet};

use super::context::{Context, Subject, place, place_of_code};
use super::scopes::InForce;
use crate::lint::LintCode;
use crate::spirv::opcodes as op;
use crate::spirv::operand::Field;
use crate::spirv::read::{Fact, Facts};
use crate::spirv::words::{Id, Instruction};

/// A value of a variable, in code of a scope around the variable's block.
struct Late<'a> {
    fact: Fact<'a>,
    variable: Id,
    /// The variable's block, in the inlined call of the code.
    block: InForce,
    subject: Subject,
}

/// What is known of a function's code for such values. A block's code has ended if no instruction of the block is after the
/// value, and no later branch leads back to an instruction of the block, or before it.
#[derive(Default)]
pub(super) struct Ended<'a> {
    late: Vec<Late<'a>>,
    /// Scopes of the code, each with the last instruction before another scope.
    code: Vec<(InForce, usize)>,
    /// Branches, each with its first target.
    branches: Vec<(usize, usize)>,
}

impl<'a> Ended<'a> {
    /// Adds an instruction in a scope.
    pub(super) fn code(&mut self, in_force: InForce, at: usize) {
        match self.code.last_mut() {
            Some((last, end)) if *last == in_force => *end = at,
            _ => self.code.push((in_force, at)),
        }
    }

    /// Adds the end of a block.
    pub(super) fn branch(&mut self, facts: &Facts<'_>, terminator: Instruction<'_>) {
        let labels = terminator.operands().iter().filter_map(|&id| facts.layout().definition(Id(id)));
        let targets = labels.filter(|label| label.opcode() == op::LABEL).map(|label| label.at);
        self.branches.extend(targets.min().map(|first| (terminator.at, first)));
    }

    /// Adds a value, if its variable is in a block inside the scope of the code.
    pub(super) fn value(
        &mut self,
        context: &Context<'_, '_>,
        fact: &Fact<'a>,
        variable: &Fact<'a>,
        (scope, call): InForce,
        subject: &Subject,
    ) {
        let Some(block) = variable.id(Field::Scope) else { return };
        if block != scope && context.scopes.contains(scope, block) {
            let subject = subject.clone();
            self.late.push(Late { fact: *fact, variable: variable.result, block: (block, call), subject });
        }
    }

    /// Reports the values, the first of each variable.
    pub(super) fn finish(mut self, context: &mut Context<'_, 'a>) {
        if self.late.is_empty() {
            return;
        }
        let last = self.last_code(context.facts);
        // The first target of each branch and of the branches after it.
        let mut first = usize::MAX;
        for (_, target) in self.branches.iter_mut().rev() {
            first = first.min(*target);
            *target = first;
        }
        let mut reported = HashSet::new();
        for Late { fact, variable, block, subject } in self.late {
            let later = self.branches.partition_point(|(at, _)| *at < fact.at);
            let target = self.branches.get(later).map_or(usize::MAX, |branch| branch.1);
            // A block without code is in no debugger.
            let Some(&end) = last.get(&block).filter(|end| **end < fact.at && **end < target) else {
                continue;
            };
            if !reported.insert((variable, block)) {
                continue;
            }
            let [this, around] = [variable, block.0].map(|id| context.describe(id));
            let code = place_of_code(context.facts.layout().words().at(end));
            let written = format!("{this} is in {around}, whose code ends before the value");
            let evidence = vec![place(&fact), format!("the last code of the block: {code}")];
            context.find(LintCode::VariableNotVisible, fact.at, &subject, written, evidence);
        }
    }

    /// The last instruction in each scope, or in a scope inside it.
    fn last_code(&mut self, facts: &Facts<'_>) -> HashMap<InForce, usize> {
        let mut last = HashMap::new();
        // From the last instruction on: a scope that has one has the last, and so have the scopes around it.
        for &((scope, call), at) in self.code.iter().rev() {
            let mut next = Some(scope);
            while let Some(scope) = next.filter(|scope| !last.contains_key(&(*scope, call))) {
                last.insert((scope, call), at);
                next = facts.get(scope).and_then(|scope| scope.id(Field::Scope));
            }
        }
        last
    }
}
