//! Walks over the code of a function: the scope and the line in force at each instruction, and what declarations and values
//! say there.

use hashbrown::{HashMap, HashSet};

use super::context::{Context, Subject, name, place, place_of_code};
use super::ended::Ended;
use super::scopes::InForce;
use super::values::{Form, Values};
use crate::error::Count;
use crate::lint::LintCode;
use crate::spirv::layout::FunctionLayout;
use crate::spirv::opcodes as op;
use crate::spirv::operand::Field;
use crate::spirv::read::{Fact, Facts};
use crate::spirv::table::InstructionName;
use crate::spirv::words::{Id, Instruction};

/// Fragment of a declaration: offset and size in bits.
type Fragment = Option<(u32, u32)>;

/// A variable with the inlined call of its scope, and the part of it: the indexes and the fragment.
type Declared = (Id, Option<Id>, Vec<Id>, Fragment);

/// A position in a function.
struct Body<'a> {
    code: Id,
    /// The `DebugFunction` that a definition connects with the code.
    description: Option<Id>,
    /// Without a definition: the function of the first scope.
    assumed: Option<Id>,
    in_force: Option<InForce>,
    has_line: bool,
    in_block: bool,
    /// Whether a `DebugNoScope` says that code has no scope.
    is_explicit: bool,
    /// Scopes and variables that were compared. Producers repeat a scope in each block.
    scopes: HashSet<InForce>,
    variables: HashSet<(Id, Option<InForce>)>,
    declares: HashMap<Declared, (Id, usize)>,
    /// Storage whose lifetime has ended in this block, with the word of the end.
    dead: HashMap<Id, usize>,
    /// Instructions in a scope, and in no scope, and the latter without ends of blocks; the first instruction with a line
    /// and in no scope, and their number.
    scoped: usize,
    bare: usize,
    bare_work: usize,
    lined: Option<(usize, usize)>,
    ended: Ended<'a>,
}

/// Diagnoses a function's code.
pub(super) fn body<'a>(context: &mut Context<'_, 'a>, values: &mut Values<'a>, function: &FunctionLayout) {
    let mut body = Body {
        code: function.id,
        description: context.definitions.description(function.id),
        assumed: None,
        in_force: None,
        has_line: false,
        in_block: false,
        is_explicit: false,
        scopes: HashSet::new(),
        variables: HashSet::new(),
        declares: HashMap::new(),
        dead: HashMap::new(),
        scoped: 0,
        bare: 0,
        bare_work: 0,
        lined: None,
        ended: Ended::default(),
    };
    let facts = context.facts;
    if body.description.is_none() {
        body.assumed = assumed(context, function);
    }
    for instruction in facts.layout().words().between(function.at.clone()) {
        match facts.fact(instruction) {
            Some(fact) => body.debug(context, values, &fact),
            None => body.code(facts, instruction),
        }
    }
    body.finish(context, function);
}

/// Limit on the instructions between a pointer and the variable that it points to.
const MOST_POINTERS: usize = 64;

/// The pointer that a pointer is a copy of, with another type or in another storage class.
fn whole(facts: &Facts<'_>, pointer: Id) -> Id {
    source(facts, pointer, op::is_copy)
}

/// The variable that a pointer points into.
fn root(facts: &Facts<'_>, pointer: Id) -> Id {
    source(facts, pointer, |opcode| op::is_copy(opcode) || op::is_access_chain(opcode))
}

/// Follows a pointer through instructions whose first operand is a pointer.
fn source(facts: &Facts<'_>, mut pointer: Id, follows: impl Fn(u16) -> bool) -> Id {
    for _ in 0..MOST_POINTERS {
        let definition = facts.layout().definition(pointer).filter(|it| follows(it.opcode()));
        let Some(&operand) = definition.and_then(|it| it.operands().first()) else { break };
        pointer = Id(operand);
    }
    pointer
}

/// The function of the first scope in the code, if it has no code elsewhere.
fn assumed(context: &Context<'_, '_>, function: &FunctionLayout) -> Option<Id> {
    let facts = context.facts;
    let code = facts.layout().words().between(function.at.clone());
    let mut scopes = code.filter_map(|instruction| facts.fact(instruction));
    scopes.find_map(|fact| {
        let scope = fact.id(Field::Scope).filter(|_| fact.name() == Some(InstructionName::Scope))?;
        let home = home(context, (scope, fact.id(Field::Inlined)))?;
        (context.definitions.code(home).is_none_or(|code| code == function.id)).then_some(home)
    })
}

/// The function that contains the code with a scope: for inlined code, the function around the outermost call.
fn home(context: &Context<'_, '_>, (scope, call): InForce) -> Option<Id> {
    match call {
        None => context.scopes.function(scope),
        Some(call) => {
            let call = context.facts.get(context.scopes.outermost(call)?)?;
            context.function_of(&call)
        }
    }
}

impl<'a> Body<'a> {
    fn debug(&mut self, context: &mut Context<'_, 'a>, values: &mut Values<'a>, fact: &Fact<'a>) {
        match fact.name() {
            Some(InstructionName::Scope) => {
                let scope = fact.id(Field::Scope);
                self.in_force = scope.map(|scope| (scope, fact.id(Field::Inlined)));
                if let Some(in_force) = self.in_force
                    && self.scopes.insert(in_force)
                {
                    self.scope(context, fact, in_force);
                }
            }
            Some(InstructionName::NoScope) => {
                self.in_force = None;
                self.is_explicit = true;
                // LLVM's translator writes no OpNoLine for code without a location: the line before is left over.
                self.has_line = false;
            }
            Some(InstructionName::Line) => {
                self.has_line = context.facts.number(fact, Field::LineStart) != Some(0);
            }
            Some(InstructionName::NoLine) => self.has_line = false,
            Some(InstructionName::Declare | InstructionName::Value) => {
                context.report.entries += 1;
                self.variable(context, values, fact);
            }
            _ => {}
        }
    }

    fn code(&mut self, facts: &Facts<'_>, instruction: Instruction<'_>) {
        match (instruction.opcode(), instruction.operands()) {
            (op::LABEL, _) => {
                self.in_block = true;
                self.dead.clear();
            }
            (op::LINE, &[_, line, ..]) => self.has_line = line != 0,
            (op::NO_LINE, _) => self.has_line = false,
            // A scope cannot be stated before these: they begin a function or block, or precede its end directly.
            (op::FUNCTION | op::FUNCTION_PARAMETER | op::FUNCTION_END, _) => {}
            (opcode, _) if op::begins_block(opcode) || op::is_merge(opcode) => {}
            (op::LIFETIME_STOP, &[storage, ..]) => {
                self.dead.insert(whole(facts, Id(storage)), instruction.at);
            }
            (op::LIFETIME_START, &[storage, ..]) => {
                self.dead.remove(&whole(facts, Id(storage)));
            }
            (opcode, _) if self.in_block => {
                if let Some(in_force) = self.in_force {
                    self.scoped += 1;
                    self.ended.code(in_force, instruction.at);
                } else {
                    self.bare += 1;
                    self.bare_work += usize::from(!op::is_terminator(opcode));
                    if self.has_line {
                        let (first, count) = self.lined.unwrap_or((instruction.at, 0));
                        self.lined = Some((first, count + 1));
                    }
                }
                if op::is_terminator(opcode) {
                    self.ended.branch(facts, instruction);
                    self.in_force = None;
                    self.has_line = false;
                    self.in_block = false;
                }
            }
            _ => {}
        }
    }

    /// The function that describes the code, or that its first scope names.
    fn own(&self) -> Option<Id> {
        self.description.or(self.assumed)
    }

    /// The subject of a finding about this code; without a description, the `OpFunction`.
    fn subject(&self, context: &Context<'_, '_>, in_force: Option<InForce>) -> Subject {
        let mut subject = Subject { function: Some(self.own().unwrap_or(self.code)), ..Subject::default() };
        if let Some((scope, Some(call))) = in_force
            && let Some(callee) = context.scopes.function(scope)
        {
            subject.inlined = context.scopes.around(call).with(&name(context.facts, callee));
        }
        subject
    }

    /// Compares a scope with the function.
    fn scope(&mut self, context: &mut Context<'_, '_>, fact: &Fact<'_>, (scope, call): InForce) {
        let Some(home) = home(context, (scope, call)) else {
            // `check` reports a cycle of calls, and operands that are no scopes and calls.
            if context.scopes.is_scope(scope) && call.is_none() {
                let subject = self.subject(context, None);
                let this = context.describe(scope);
                let evidence = vec![format!("DebugScope {} at word {}", fact.result, fact.at)];
                let written = format!("the scope of the code is {this}, which is in no function");
                context.find(LintCode::ForeignScope, fact.at, &subject, written, evidence);
            }
            return;
        };
        if self.own() == Some(home) {
            return;
        }
        let subject = self.subject(context, call.map(|call| (scope, Some(call))));
        let [this, other] = [context.describe(scope), context.describe(home)];
        let mut evidence = vec![format!("DebugScope {} at word {}", fact.result, fact.at)];
        evidence.push(match self.own() {
            Some(own) => format!("OpFunction {} is {}", self.code, context.describe(own)),
            None => format!("OpFunction {} has no description", self.code),
        });
        evidence.extend(context.definitions.code(home).map(|code| format!("{other} is OpFunction {code}")));
        let (code, written) = match call.and_then(|call| context.scopes.outermost(call)) {
            Some(call) => {
                let call = context.describe(call);
                let written = format!("the chain of calls of {this} ends with {call} in {other}");
                (LintCode::InlinedElsewhere, written)
            }
            None if scope == home => (LintCode::ForeignScope, format!("the scope of the code is {this}")),
            None => (LintCode::ForeignScope, format!("the scope of the code is {this}, in {other}")),
        };
        context.find(code, fact.at, &subject, written, evidence);
    }

    fn variable(&mut self, context: &mut Context<'_, 'a>, values: &mut Values<'a>, fact: &Fact<'a>) {
        let facts = context.facts;
        let variable = facts.named(fact, Field::LocalVariable);
        let variable = variable.filter(|it| it.name() == Some(InstructionName::LocalVariable));
        let Some(variable) = variable else { return };
        let mut subject = self.subject(context, self.in_force);
        subject.variable = Some(variable.result);
        if self.variables.insert((variable.result, self.in_force)) {
            self.visibility(context, fact, &variable, &subject);
        }
        let form = values.form(facts, fact);
        if fact.name() == Some(InstructionName::Declare) {
            self.declare(context, fact, &variable, form.fragment, &subject);
        } else if let Some(in_force) = self.in_force {
            self.ended.value(context, fact, &variable, in_force, &subject);
        }
        let storage = fact.id(Field::Variable).or(fact.id(Field::Value));
        let is_memory = fact.name() == Some(InstructionName::Declare) || form.operations == Form::Deref;
        let variable_of = |storage| Some((storage, *self.dead.get(&root(facts, storage))?));
        if let Some((storage, end)) =
            storage.filter(|_| is_memory && !self.dead.is_empty()).and_then(variable_of)
        {
            let written = format!("{storage} contains the variable after the end of its lifetime");
            let stop = facts.layout().words().at(end);
            let stopped = Id(stop.operands().first().copied().unwrap_or_default());
            let evidence = vec![format!("OpLifetimeStop {stopped} at word {end}"), place(fact)];
            context.find(LintCode::DeadStorage, fact.at, &subject, written, evidence);
        }
        values.compare(context, fact, &variable, &subject);
    }

    /// Whether the code is that of a function; or can be, because it is the only code, and neither of them has a definition.
    fn can_be(&self, context: &Context<'_, 'a>, function: Id) -> bool {
        match self.own() {
            Some(own) => own == function,
            None => {
                let is_alone = context.facts.layout().functions().len() == 1;
                is_alone && context.definitions.code(function).is_none()
            }
        }
    }

    /// Compares the variable's scope with the scope in force.
    fn visibility(
        &self,
        context: &mut Context<'_, 'a>,
        fact: &Fact<'a>,
        variable: &Fact<'a>,
        subject: &Subject,
    ) {
        let Some(around) = variable.id(Field::Scope) else { return };
        let Some(home) = context.scopes.function(around) else { return };
        let [this, function] = [context.describe(variable.result), context.describe(home)];
        let mut evidence = vec![place(fact)];
        let (code, written) = match self.in_force {
            None if self.can_be(context, home) => {
                if self.own().is_none() {
                    evidence.push(format!("OpFunction {} has no description", self.code));
                }
                (LintCode::NoScope, format!("{this} is in {function}, and no scope is in force"))
            }
            None => {
                evidence.push(match self.own() {
                    Some(own) => format!("OpFunction {} is {}", self.code, context.describe(own)),
                    None => format!("OpFunction {} has no description", self.code),
                });
                (LintCode::ForeignVariable, format!("{this} is in {function}, and no scope is in force"))
            }
            Some((scope, _)) => {
                let Some(here) = context.scopes.function(scope) else { return };
                evidence.push(format!("the scope in force is {}", context.describe(scope)));
                if here != home {
                    let here = context.describe(here);
                    let written = format!("{this} is in {function}, and the code in {here}");
                    (LintCode::ForeignVariable, written)
                } else if context.scopes.are_nested(around, scope) == Some(false) {
                    let around = context.describe(around);
                    let written = format!("{this} is in {around}, which is not around the code");
                    (LintCode::VariableNotVisible, written)
                } else {
                    return;
                }
            }
        };
        context.find(code, fact.at, subject, written, evidence);
    }

    /// Reports a second declaration.
    fn declare(
        &mut self,
        context: &mut Context<'_, '_>,
        fact: &Fact<'_>,
        variable: &Fact<'_>,
        fragment: Fragment,
        subject: &Subject,
    ) {
        let Some(storage) = fact.id(Field::Variable) else { return };
        let call = self.in_force.and_then(|(_, call)| call);
        let indexes = fact.ids(Field::Index).collect();
        let first = self.declares.entry((variable.result, call, indexes, fragment));
        let (first, word) = *first.or_insert((storage, fact.at));
        if word == fact.at {
            return;
        }
        let this = context.describe(variable.result);
        let written = if first == storage {
            format!("{this} is declared in {storage} again")
        } else {
            format!("{this} is declared in {first}, and in {storage}")
        };
        let evidence = vec![format!("the first DebugDeclare is at word {word}"), place(fact)];
        context.find(LintCode::DeclaredTwice, fact.at, subject, written, evidence);
    }

    /// Reports what is known at the end of the function.
    fn finish(self, context: &mut Context<'_, 'a>, function: &FunctionLayout) {
        let subject = self.subject(context, None);
        let counts = Count(self.bare + self.scoped, "instruction");
        let lined = match self.lined {
            Some((first, count)) => {
                Some((first, format!("{count} of {counts} with a line and without a scope")))
            }
            // Nothing is lost in a function that only returns.
            None if self.description.is_some()
                && self.scoped == 0
                && self.bare_work > 0
                && !self.is_explicit =>
            {
                Some((function.at.start, format!("none of {counts} has a scope")))
            }
            None => None,
        };
        if let Some((first, written)) = lined {
            let first_text = place_of_code(context.facts.layout().words().at(first));
            let evidence = vec![format!("the first of them: {first_text}")];
            context.find(LintCode::NoScope, first, &subject, written, evidence);
        }
        if let (None, Some(assumed)) = (self.description, self.assumed) {
            let written = format!("OpFunction {} is not connected with its description", self.code);
            let evidence = vec![format!("its scopes are in {}", context.describe(assumed))];
            context.find(LintCode::DefinitionMissing, function.at.start, &subject, written, evidence);
        }
        self.ended.finish(context);
    }
}
