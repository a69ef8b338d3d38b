//! Divergence: which variables have one value for the wave, and which constructs some lanes run without the others.
//!
//! A variable is one of an *instance* of a function: of an inlined call. Instances, and the parts of constructs, are
//! numbered in the order of a walk, which [`crate::lower`] repeats. A function that is called has a walk of its own; its
//! arguments and its result are in vector registers.
//!
//! A variable is in a scalar register if each value stored to it is the same for the wave, and each store is made for
//! all lanes that may load it: each divergent construct around the store is around the loads; and where the construct
//! is in a loop, the variable is stored in each iteration before it is used.

use std::collections::{HashMap, HashSet};

use naga::valid::FunctionInfo;
use naga::{
    AddressSpace, BinaryOperator, Binding, Block, BuiltIn, Expression, Function, Handle, LocalVariable,
    MathFunction, Module, ScalarKind, Statement, StorageAccess, TypeInner,
};

use crate::front::Source;
use crate::layout;

/// An inlined call; 0 is the function itself: the entry point, or a function that is called.
pub type Instance = usize;

/// A variable of an instance; `None` is its result.
pub type Variable = (Instance, Option<Handle<LocalVariable>>);

/// A part of a construct: a side of an `if`, a loop, a body that is left early.
#[derive(Debug, Clone, Copy, Default)]
pub struct Part {
    /// Whether some lanes run it without others, which use variables later.
    pub is_divergent: bool,
    /// Whether lanes leave it one by one: those that left are in a mask.
    pub is_masked: bool,
    is_loop: bool,
    is_entry: bool,
}

#[derive(Debug, Clone)]
struct Access {
    is_store: bool,
    chain: Vec<usize>,
}

/// The result of the analysis.
#[derive(Debug, Default)]
pub struct Divergence {
    pub parts: Vec<Part>,
    divergent: HashSet<Variable>,
    /// Variables that are in memory: their address depends on an index.
    in_memory: HashSet<Variable>,
    /// Parts by instance and construct, and instances by caller and call.
    index: HashMap<(Instance, Key), usize>,
}

/// A side of an `if`, a `switch`, one of its cases, a loop, its body, a call: by its address in naga's tree, which does
/// not move.
pub type Key = (usize, u8);

/// Returns the key of a part of a statement.
pub fn key<T>(of: &T, part: u8) -> Key {
    (std::ptr::from_ref(of) as usize, part)
}

impl Divergence {
    pub fn is_divergent(&self, variable: Variable) -> bool {
        self.divergent.contains(&variable)
    }

    pub fn is_in_memory(&self, variable: Variable) -> bool {
        self.in_memory.contains(&variable)
    }

    /// Returns the part of a construct.
    pub fn part(&self, id: Instance, key: Key) -> Part {
        self.parts[self.index[&(id, key)]]
    }

    /// Returns the instance that a call makes.
    pub fn called(&self, id: Instance, call: &Statement) -> Instance {
        self.index[&(id, key(call, 0))]
    }

    /// Analyzes the entry point, or a function that is called.
    pub fn new(source: &Source, function: Option<Handle<Function>>) -> Self {
        let mut known = Self::default();
        loop {
            let mut walk = Walk {
                source,
                known: &known,
                instances: Vec::new(),
                chain: Vec::new(),
                parts: Vec::new(),
                accesses: HashMap::new(),
                in_memory: known.in_memory.clone(),
                divergent: known.divergent.clone(),
                index: HashMap::new(),
                is_entry: true,
            };
            let root = function.map_or(Typed::entry(source), |function| Typed::called(source, function));
            walk.divergent.extend(function.map(|_| (0, None)));
            walk.is_entry = function.is_none();
            walk.instance(root, None);
            let Walk { parts, accesses, in_memory, mut divergent, index, .. } = walk;
            for (&variable, accesses) in &accesses {
                if !is_uniform(accesses, &parts) {
                    divergent.insert(variable);
                }
            }
            let facts = |parts: &[Part]| -> Vec<_> {
                parts.iter().map(|part| (part.is_divergent, part.is_masked)).collect()
            };
            let same = facts(&parts) == facts(&known.parts)
                && divergent == known.divergent
                && in_memory == known.in_memory;
            known = Self { parts, divergent, in_memory, index };
            if same {
                return known;
            }
        }
    }
}

/// Whether each store reaches all lanes that may load the variable.
fn is_uniform(accesses: &[Access], parts: &[Part]) -> bool {
    accesses.iter().filter(|access| access.is_store).all(|store| {
        let divergent = |&&part: &&usize| parts[part].is_divergent;
        let reaches = accesses
            .iter()
            .filter(|access| !access.is_store)
            .all(|load| store.chain.iter().filter(divergent).all(|part| load.chain.contains(part)));
        let loops = store.chain.iter().enumerate().filter(|&(_, &part)| parts[part].is_loop);
        reaches
            && loops.into_iter().all(|(depth, of)| {
                if !store.chain[depth + 1..].iter().any(|part| divergent(&part)) {
                    return true;
                }
                let mut within = accesses.iter().filter(|access| access.chain.contains(of));
                let Some(first) = within.next() else { return true };
                first.is_store && within.all(|access| access.chain.starts_with(&first.chain))
            })
    })
}

/// The instance that calls, and the arguments.
type Caller<'m> = (Instance, &'m [Handle<Expression>]);

struct OfInstance<'m> {
    typed: Typed<'m>,
    /// The instance that calls, and the arguments there.
    caller: Option<Caller<'m>>,
    /// Instances of calls, by the expression of their result.
    results: HashMap<Handle<Expression>, Instance>,
    memo: HashMap<Handle<Expression>, bool>,
    scope: usize,
}

struct Walk<'m, 'k> {
    source: &'m Source,
    known: &'k Divergence,
    instances: Vec<OfInstance<'m>>,
    chain: Vec<usize>,
    parts: Vec<Part>,
    accesses: HashMap<Variable, Vec<Access>>,
    in_memory: HashSet<Variable>,
    divergent: HashSet<Variable>,
    index: HashMap<(Instance, Key), usize>,
    is_entry: bool,
}

/// Target of `break` and `continue`.
#[derive(Clone, Copy, Default)]
struct Targets {
    on_break: usize,
    on_continue: usize,
}

impl<'m> Walk<'m, '_> {
    fn part(&mut self, id: Instance, key: Key, is_divergent: bool) -> usize {
        self.index.insert((id, key), self.parts.len());
        let before = self.known.parts.get(self.parts.len()).copied().unwrap_or_default();
        self.parts.push(Part { is_divergent: is_divergent || before.is_divergent, ..before });
        self.parts.len() - 1
    }

    fn instance(&mut self, typed: Typed<'m>, caller: Option<Caller<'m>>) -> Instance {
        let id = self.instances.len();
        let scope = self.part(id, key(&typed.function.body, 0), false);
        self.parts[scope].is_entry = self.is_entry && caller.is_none();
        let (results, memo) = Default::default();
        self.instances.push(OfInstance { typed, caller, results, memo, scope });
        self.chain.push(scope);
        for (variable, data) in typed.function.local_variables.iter() {
            if layout::leaves(&self.source.module, data.ty).is_none() {
                self.in_memory.insert((id, Some(variable)));
            }
            self.access((id, Some(variable)), true);
        }
        self.block(id, &typed.function.body, Targets::default());
        self.chain.pop();
        self.access((id, None), false);
        id
    }

    fn access(&mut self, variable: Variable, is_store: bool) {
        let access = Access { is_store, chain: self.chain.clone() };
        self.accesses.entry(variable).or_default().push(access);
    }

    fn block(&mut self, id: Instance, block: &'m Block, targets: Targets) {
        for statement in block.iter() {
            self.statement(id, statement, targets);
        }
    }

    fn statement(&mut self, id: Instance, statement: &'m Statement, targets: Targets) {
        match statement {
            Statement::Emit(range) => {
                for handle in range.clone() {
                    self.emit(id, handle);
                }
            }
            Statement::Block(block) => self.block(id, block, targets),
            Statement::If { condition, accept, reject } => {
                let divergent = self.expression(id, *condition);
                for side in [accept, reject] {
                    let part = self.part(id, key(side, 0), divergent);
                    self.chain.push(part);
                    self.block(id, side, targets);
                    self.chain.pop();
                }
            }
            Statement::Switch { selector, cases } => {
                let divergent = self.expression(id, *selector);
                let scope = self.part(id, key(statement, 0), false);
                self.chain.push(scope);
                for case in cases {
                    let part = self.part(id, key(case, 0), divergent);
                    self.chain.push(part);
                    self.block(id, &case.body, Targets { on_break: scope, ..targets });
                    // Each case ends with a jump behind.
                    self.leave(scope);
                    self.chain.pop();
                }
                self.chain.pop();
            }
            Statement::Loop { body, continuing, break_if } => {
                let whole = self.part(id, key(statement, 0), false);
                self.parts[whole].is_loop = true;
                self.chain.push(whole);
                let scope = self.part(id, key(statement, 1), false);
                self.chain.push(scope);
                let targets = Targets { on_break: whole, on_continue: scope };
                self.block(id, body, targets);
                self.chain.pop();
                self.block(id, continuing, targets);
                if let Some(condition) = break_if
                    && self.expression(id, *condition)
                {
                    self.mask(whole);
                }
                self.chain.pop();
            }
            Statement::Break => self.leave(targets.on_break),
            Statement::Continue => self.leave(targets.on_continue),
            Statement::Return { value } => {
                if let Some(value) = *value {
                    self.store((id, None), self.expression_of(id, value));
                }
                self.leave(self.instances[id].scope);
            }
            Statement::Store { pointer, value } => {
                let value = self.expression(id, *value);
                if let Some(variable) = self.local(id, *pointer) {
                    self.store(variable, value);
                    self.indexed(id, *pointer, variable);
                }
            }
            Statement::Call { function, arguments, result } if !self.source.called.contains(function) => {
                // A pointer that is passed is a variable of the caller; its address is not taken.
                self.index.insert((id, key(statement, 0)), self.instances.len());
                let called = self.instance(Typed::called(self.source, *function), Some((id, arguments)));
                if let Some(result) = *result {
                    self.instances[id].results.insert(result, called);
                }
            }
            _ => {}
        }
    }

    fn store(&mut self, variable: Variable, is_divergent: bool) {
        self.access(variable, true);
        if is_divergent {
            self.divergent.insert(variable);
        }
    }

    /// Lanes leave a part: together, or some without the others.
    fn leave(&mut self, part: usize) {
        let at = self.chain.iter().position(|&of| of == part).unwrap_or(0);
        if self.chain[at + 1..].iter().any(|&of| self.parts[of].is_divergent || self.parts[of].is_masked) {
            self.mask(part);
            for depth in at + 1..self.chain.len() {
                let of = self.chain[depth];
                if self.parts[of].is_loop {
                    self.mask(of);
                }
            }
        }
    }

    fn mask(&mut self, part: usize) {
        let part = &mut self.parts[part];
        part.is_masked = true;
        // Lanes that have left the entry point use no variable.
        part.is_divergent |= !part.is_entry;
    }

    fn emit(&mut self, id: Instance, handle: Handle<Expression>) {
        if let Expression::Load { pointer } = self.instances[id].typed.function.expressions[handle]
            && let Some(variable) = self.local(id, pointer)
        {
            self.access(variable, false);
            self.indexed(id, pointer, variable);
        }
        self.expression(id, handle);
    }

    /// Notes that a variable is accessed by an index that is not constant.
    fn indexed(&mut self, id: Instance, pointer: Handle<Expression>, variable: Variable) {
        let mut id = id;
        let mut at = pointer;
        loop {
            match self.instances[id].typed.function.expressions[at] {
                Expression::Access { .. } => {
                    self.in_memory.insert(variable);
                    return;
                }
                Expression::AccessIndex { base, .. } => at = base,
                Expression::FunctionArgument(n) => match self.instances[id].caller {
                    Some((caller, arguments)) => (id, at) = (caller, arguments[n as usize]),
                    None => return,
                },
                _ => return,
            }
        }
    }

    /// The variable that a pointer points into.
    fn local(&self, id: Instance, pointer: Handle<Expression>) -> Option<Variable> {
        match self.root(id, pointer)? {
            (id, Expression::LocalVariable(variable)) => Some((id, Some(*variable))),
            _ => None,
        }
    }

    fn root(&self, mut id: Instance, mut at: Handle<Expression>) -> Option<(Instance, &'m Expression)> {
        loop {
            let of = &self.instances[id];
            match &of.typed.function.expressions[at] {
                Expression::Access { base, .. } | Expression::AccessIndex { base, .. } => at = *base,
                Expression::FunctionArgument(n) => {
                    let (caller, arguments) = of.caller?;
                    (id, at) = (caller, arguments[*n as usize]);
                }
                other => return Some((id, other)),
            }
        }
    }

    fn expression(&mut self, id: Instance, at: Handle<Expression>) -> bool {
        if let Some(&known) = self.instances[id].memo.get(&at) {
            return known;
        }
        let found = self.expression_of(id, at);
        self.instances[id].memo.insert(at, found);
        found
    }

    /// Whether a value is made by vector instructions.
    fn expression_of(&self, id: Instance, at: Handle<Expression>) -> bool {
        let of = &self.instances[id];
        if let Some(&known) = of.memo.get(&at) {
            return known;
        }
        let is = |at: &Handle<Expression>| self.expression_of(id, *at);
        match &of.typed.function.expressions[at] {
            Expression::Literal(_) | Expression::Constant(_) | Expression::ZeroValue(_) => false,
            Expression::Compose { components, .. } => components.iter().any(is),
            Expression::Access { base, index } => is(base) || is(index),
            Expression::AccessIndex { base, .. } => is(base),
            Expression::Splat { value, .. } => is(value),
            Expression::Swizzle { vector, .. } => is(vector),
            Expression::FunctionArgument(n) => match of.caller {
                Some((caller, arguments)) => self.expression_of(caller, arguments[*n as usize]),
                None => {
                    let binding = &of.typed.function.arguments[*n as usize].binding;
                    !matches!(
                        binding,
                        Some(Binding::BuiltIn(
                            BuiltIn::WorkGroupId | BuiltIn::NumWorkGroups | BuiltIn::SubgroupSize
                        ))
                    )
                }
            },
            Expression::Load { pointer } => match self.root(id, *pointer) {
                Some((id, Expression::LocalVariable(variable))) => {
                    let variable = (id, Some(*variable));
                    self.divergent.contains(&variable) || self.in_memory.contains(&variable)
                }
                Some((_, Expression::GlobalVariable(variable))) => {
                    !is_read_only(&self.source.module, *variable) || self.index_is_divergent(id, *pointer)
                }
                _ => true,
            },
            Expression::Unary { expr, .. } => of.typed.is_float(*expr) || is(expr),
            Expression::Binary { op, left, right } => {
                let power = match of.typed.function.expressions[*right] {
                    Expression::Literal(naga::Literal::U32(value)) => value.is_power_of_two(),
                    _ => false,
                };
                let divides = matches!(op, BinaryOperator::Divide | BinaryOperator::Modulo) && !power;
                divides || of.typed.is_float(*left) || is(left) || is(right)
            }
            Expression::Select { condition, accept, reject } => is(condition) || is(accept) || is(reject),
            Expression::Math { fun, arg, arg1, arg2, arg3 } => {
                let scalar = matches!(fun, MathFunction::Min | MathFunction::Max | MathFunction::Clamp);
                let mut all = [Some(*arg), *arg1, *arg2, *arg3].into_iter().flatten();
                !scalar || of.typed.is_float(*arg) || all.any(|at| is(&at))
            }
            Expression::As { expr, kind, convert } => {
                let from = of.typed.is_float(*expr);
                let to = *kind == ScalarKind::Float;
                convert.is_some() && (from || to) || is(expr)
            }
            Expression::Relational { argument, .. } => is(argument),
            Expression::CallResult(_) => match of.results.get(&at) {
                Some(&called) => self.divergent.contains(&(called, None)),
                None => true,
            },
            Expression::ArrayLength(_) => false,
            _ => true,
        }
    }

    fn index_is_divergent(&self, mut id: Instance, mut at: Handle<Expression>) -> bool {
        loop {
            let of = &self.instances[id];
            match &of.typed.function.expressions[at] {
                Expression::Access { base, index } => {
                    if self.expression_of(id, *index) {
                        return true;
                    }
                    at = *base;
                }
                Expression::AccessIndex { base, .. } => at = *base,
                Expression::FunctionArgument(n) => match of.caller {
                    Some((caller, arguments)) => (id, at) = (caller, arguments[*n as usize]),
                    None => return true,
                },
                _ => return false,
            }
        }
    }
}

/// Whether nobody writes a variable: the scalar cache can be used.
pub fn is_read_only(module: &Module, variable: Handle<naga::GlobalVariable>) -> bool {
    match module.global_variables[variable].space {
        AddressSpace::Uniform => true,
        AddressSpace::Storage { access } => !access.contains(StorageAccess::STORE),
        _ => false,
    }
}

/// A function, and the types of its expressions.
#[derive(Debug, Clone, Copy)]
pub struct Typed<'m> {
    pub module: &'m Module,
    pub function: &'m Function,
    pub info: &'m FunctionInfo,
}

impl<'m> Typed<'m> {
    pub fn entry(source: &'m Source) -> Self {
        let function = &source.module.entry_points[0].function;
        Self { module: &source.module, function, info: source.info.get_entry_point(0) }
    }

    pub fn called(source: &'m Source, function: Handle<Function>) -> Self {
        let info = &source.info[function];
        Self { module: &source.module, function: &source.module.functions[function], info }
    }

    pub fn inner(&self, at: Handle<Expression>) -> &'m TypeInner {
        self.info[at].ty.inner_with(&self.module.types)
    }

    /// The kind of the components of a scalar, vector or matrix.
    pub fn kind(&self, at: Handle<Expression>) -> Option<ScalarKind> {
        self.inner(at).scalar_kind()
    }

    pub fn is_float(&self, at: Handle<Expression>) -> bool {
        self.kind(at) == Some(ScalarKind::Float)
    }
}
