//! The tree of scopes: the function that contains a scope, which scope is inside which, and the ends of chains of inlined
//! calls.

use hashbrown::HashMap;

use crate::lint::InlinedCalls;
use crate::spirv::operand::Field;
use crate::spirv::read::{Fact, Facts};
use crate::spirv::table::InstructionName;
use crate::spirv::words::Id;

/// A `DebugScope`'s operands: a scope and its `DebugInlinedAt`.
pub(super) type InForce = (Id, Option<Id>);

/// The module's scopes.
pub(super) struct Scopes {
    /// A scope's function; `None` for a scope outside functions.
    functions: HashMap<Id, Option<Id>>,
    /// First and last number in the scope's subtree. A scope in a cycle has no number.
    numbers: HashMap<Id, (u32, u32)>,
    calls: HashMap<Id, Call>,
}

/// A `DebugInlinedAt`.
struct Call {
    /// The last `DebugInlinedAt` in the chain; `None` for a cycle.
    outermost: Option<Id>,
    /// The inlined functions around the call.
    around: InlinedCalls,
}

/// Whether an instruction is a scope, and has a scope around it.
fn is_scope(name: Option<InstructionName>) -> bool {
    matches!(
        name,
        Some(
            InstructionName::CompilationUnit
                | InstructionName::Function
                | InstructionName::LexicalBlock
                | InstructionName::LexicalBlockDiscriminator
                | InstructionName::TypeComposite
                | InstructionName::Module
        )
    )
}

impl Scopes {
    pub fn new(facts: &Facts<'_>, name: impl Fn(Id) -> String) -> Self {
        let mut scopes = Self { functions: HashMap::new(), numbers: HashMap::new(), calls: HashMap::new() };
        let mut children: HashMap<Id, Vec<Id>> = HashMap::new();
        let mut roots = Vec::new();
        for fact in facts.iter().filter(|fact| is_scope(fact.name())) {
            let around = facts.named(&fact, Field::Scope).filter(|around| is_scope(around.name()));
            match around {
                Some(around) => children.entry(around.result).or_default().push(fact.result),
                None => roots.push(fact.result),
            }
            scopes.set_function(facts, fact);
        }
        scopes.number(&children, roots);
        for fact in facts.iter().filter(|fact| fact.name() == Some(InstructionName::InlinedAt)) {
            scopes.set_call(facts, fact, &name);
        }
        scopes
    }

    /// Finds the function that contains a scope. Scopes on the way are remembered, so that all searches together are
    /// linear.
    fn set_function(&mut self, facts: &Facts<'_>, scope: Fact<'_>) {
        let mut path = Vec::new();
        let mut next = Some(scope);
        let function = loop {
            let Some(scope) = next else { break None };
            if let Some(&known) = self.functions.get(&scope.result) {
                break known;
            }
            path.push(scope.result);
            // A cycle ends here, because the scope now has an entry.
            self.functions.insert(scope.result, None);
            if scope.name() == Some(InstructionName::Function) {
                break Some(scope.result);
            }
            next = facts.named(&scope, Field::Scope).filter(|around| is_scope(around.name()));
        };
        for scope in path {
            self.functions.insert(scope, function);
        }
    }

    /// Numbers the scopes in the order of a walk over the tree.
    fn number(&mut self, children: &HashMap<Id, Vec<Id>>, roots: Vec<Id>) {
        let mut next = 0;
        for root in roots {
            // Each scope with the number of its children that were visited.
            let mut open = vec![(root, 0)];
            while let Some((scope, visited)) = open.last_mut() {
                if *visited == 0 && !self.numbers.contains_key(scope) {
                    self.numbers.insert(*scope, (next, next));
                    next += 1;
                }
                match children.get(scope).and_then(|inside| inside.get(*visited)) {
                    Some(&child) => {
                        *visited += 1;
                        // A damaged module can define a scope twice.
                        if !self.numbers.contains_key(&child) {
                            open.push((child, 0));
                        }
                    }
                    None => {
                        if let Some(numbers) = self.numbers.get_mut(scope) {
                            numbers.1 = next - 1;
                        }
                        open.pop();
                    }
                }
            }
        }
    }

    fn set_call(&mut self, facts: &Facts<'_>, call: Fact<'_>, name: impl Fn(Id) -> String) {
        let mut path: Vec<Fact<'_>> = Vec::new();
        let mut next = Some(call);
        while let Some(call) = next.take_if(|call| !self.calls.contains_key(&call.result)) {
            path.push(call);
            self.calls.insert(call.result, Call { outermost: None, around: InlinedCalls::default() });
            next =
                facts.named(&call, Field::Inlined).filter(|it| it.name() == Some(InstructionName::InlinedAt));
        }
        // `next` is the call at which an earlier search, or a cycle, begins.
        let mut outer = next.map(|outer| outer.result);
        while let Some(call) = path.pop() {
            let (outermost, around) = match outer.and_then(|outer| self.calls.get(&outer)) {
                None => (Some(call.result), InlinedCalls::default()),
                Some(Call { outermost, around }) => {
                    let function = call.id(Field::Scope).and_then(|scope| self.function(scope));
                    (*outermost, around.clone().with(&function.map(&name).unwrap_or_default()))
                }
            };
            self.calls.insert(call.result, Call { outermost, around });
            outer = Some(call.result);
        }
    }

    /// The `DebugFunction` that contains a scope, or is the scope.
    pub fn function(&self, scope: Id) -> Option<Id> {
        self.functions.get(&scope).copied().flatten()
    }

    /// Whether the id is a scope.
    pub fn is_scope(&self, id: Id) -> bool {
        self.functions.contains_key(&id)
    }

    /// Whether one of two scopes contains the other, or both are the same. `None` if that is unknown.
    pub fn are_nested(&self, one: Id, other: Id) -> Option<bool> {
        let is_known = self.numbers.contains_key(&one) && self.numbers.contains_key(&other);
        is_known.then(|| self.contains(one, other) || self.contains(other, one))
    }

    /// Whether a scope contains another scope, or is the scope.
    pub fn contains(&self, outer: Id, inner: Id) -> bool {
        let numbers = self.numbers.get(&outer).zip(self.numbers.get(&inner));
        numbers.is_some_and(|((first, last), (inner, _))| (first..=last).contains(&inner))
    }

    /// The last call in a chain: the call in the function that contains the code. `None` for a cycle.
    pub fn outermost(&self, call: Id) -> Option<Id> {
        self.calls.get(&call)?.outermost
    }

    /// The inlined functions around the code of a call, without the called function.
    pub fn around(&self, call: Id) -> InlinedCalls {
        self.calls.get(&call).map(|call| call.around.clone()).unwrap_or_default()
    }
}
