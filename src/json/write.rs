//! Writes modules as statements, in an order that gives every entity its id again.
//!
//! Entities of a kind are numbered in the order of their statements, and each was made after the entities that it
//! references. So some kind always has a next entity that can be written: [`Writer::ensure_scope`] and its siblings
//! first write the earlier ones. Properties of a function or variable that were set later can reference later entities;
//! they are written at the end, by a statement `describe_…`.

use std::io::Write;

use serde::Serialize;

use super::frames::RulesOf;
use super::ids::Known;
use super::later::Later;
pub(super) use super::live::{Live, Masks, Rows};
pub(super) use super::loc::{ExpressionAt, NumberAt, Place};
use super::read::VERSION;
use super::statement::{self as say, FunctionFacts, MacroStep, Statement, UnitFacts, VariableFacts};
use super::target::Written;
use super::values::{Bytes, Named, Number, Signed, Word};
use crate::error::Result;
use crate::model::{
    Address, Entity, FileId, FunctionId, Language, LocId, Macro, Module, Node, ProcedureId, ScopeId,
    ScopeKind, SourceLine, TypeId, UnitId, VariableId, VariableKind,
};

/// Writes the description of a module.
pub(super) fn module(module: &Module, to: impl Write) -> Result<()> {
    let known = Known::new(module);
    let mut writer = Writer { known: &known, module, out: to, counts: Counts::default(), later: Vec::new() };
    write!(writer.out, "{{\"eitri\":{VERSION},\"target\":")?;
    writer.json(&Written(&module.target))?;
    writer.out.write_all(b",\"describe\":[")?;
    writer.all()?;
    writer.out.write_all(b"\n]}\n")?;
    writer.out.flush()?;
    Ok(())
}

pub(super) struct Writer<'m, W> {
    pub known: &'m Known<'m>,
    pub module: &'m Module,
    out: W,
    pub counts: Counts,
    pub later: Vec<Describe>,
}

/// Number of written entities of each kind.
#[derive(Default)]
pub(super) struct Counts {
    pub statements: usize,
    pub files: u32,
    pub types: u32,
    pub scopes: u32,
    pub variables: u32,
    pub procedures: u32,
}

/// Entities whose remaining properties are written at the end.
pub(super) enum Describe {
    Scope(ScopeId),
    Function(FunctionId),
    Variable(VariableId),
    Type(TypeId),
}

/// Writes all entities of a kind up to and including `id`. Each may write more of the same kind.
macro_rules! ensure { ($($method:ident $count:ident $id:ty => $say:ident;)*) => { $(
    pub fn $method(&mut self, id: $id) -> Result<()> {
        while self.counts.$count <= id.as_u32() {
            self.$say(<$id>::from_u32(self.counts.$count))?;
        }
        Ok(())
    }
)* } }

impl<'m, W: Write> Writer<'m, W> {
    fn all(&mut self) -> Result<()> {
        let module = self.module;
        for ty in module.types.keys() {
            self.ensure_type(ty)?;
        }
        for file in module.files.keys() {
            self.ensure_file(file)?;
        }
        for ty in module.types.keys() {
            self.bases_and_members(ty)?;
        }
        self.variant_parts()?;
        for variable in module.variables.keys() {
            self.ensure_variable(variable)?;
        }
        for scope in module.scopes.keys() {
            self.ensure_scope(scope)?;
        }
        for procedure in module.procedures.keys() {
            self.ensure_procedure(procedure)?;
        }
        for ty in module.types.keys() {
            self.templates(ty)?;
        }
        for function in module.functions.keys() {
            self.function_templates(function)?;
        }
        for describe in core::mem::take(&mut self.later) {
            let known = self.known;
            self.say(&match describe {
                Describe::Scope(id) => self.described_scope(id),
                Describe::Type(id) => self.described_type(id),
                Describe::Function(id) => Statement::DescribeFunction(
                    say::DescribeFunction::new(known.function_ref(id)).with(self.later_function_facts(id)),
                ),
                Describe::Variable(id) => Statement::DescribeVariable(
                    say::DescribeVariable::new(known.variable_ref(id)).with(self.variable_facts(id)),
                ),
            })?;
        }
        self.imports_and_labels()?;
        self.calls()?;
        self.lanes()?;
        for (id, _) in module.functions().filter(|&(id, _)| !module.rows(id).is_empty()) {
            let rows = Later::Model(Rows { known: self.known, rows: module.rows(id) });
            self.say(&Statement::Rows(say::Rows::new(self.known.function_ref(id), rows)))?;
        }
        for (id, function) in module.functions() {
            let rules = module.frame(id);
            if rules.is_empty() && function.frame_extent.is_none() {
                continue;
            }
            let mut said = say::Frame::new(self.known.function_ref(id));
            let rules = Later::Model(RulesOf { known: self.known, rules });
            said.rules = Some(rules).filter(|_| !module.frame(id).is_empty());
            said.extent =
                function.frame_extent.as_ref().map(|bytes| (Signed(bytes.start), Signed(bytes.end)));
            self.say(&Statement::Frame(said))?;
        }
        for (id, _) in module.units().filter(|&(id, _)| !module.macros(id).is_empty()) {
            let steps = module.macros(id).iter().map(|step| match *step {
                Macro::Define { line, text } => MacroStep::Define(line, self.known.text(text)),
                Macro::Undefine { line, name } => MacroStep::Undefine(line, self.known.text(name)),
                Macro::File { line, file } => MacroStep::File(line, self.known.file_ref(file)),
                Macro::EndFile => MacroStep::EndFile,
            });
            self.say(&Statement::Macros(say::Macros::new(self.known.unit_ref(id), steps.collect())))?;
        }
        Ok(())
    }

    ensure! {
        ensure_file files FileId => say_file;
        ensure_type types TypeId => say_type;
        ensure_scope scopes ScopeId => say_scope;
        ensure_variable variables VariableId => say_variable;
        ensure_procedure procedures ProcedureId => say_procedure;
    }

    /// Writes a unit, which makes a scope and a file, after the files with smaller ids.
    fn say_unit(&mut self, id: UnitId) -> Result<()> {
        let (known, unit) = (self.known, self.module.unit(id));
        if let Some(before) = unit.file.as_u32().checked_sub(1) {
            self.ensure_file(FileId::from_u32(before))?;
        }
        let facts = UnitFacts {
            language: unit.language.map(known_language),
            split_name: unit.split_name.map(|name| known.text(name)),
            ..UnitFacts::of(known, unit)
        };
        let mut said = say::Unit::new(known.text(unit.name)).with(facts);
        said.id = known.scope_id(unit.scope);
        self.counts.scopes += 1;
        self.counts.files += 1;
        self.say(&Statement::Unit(said))?;
        let file = self.module.file(unit.file);
        match (known.file_id(unit.file), file.md5, file.source) {
            (None, None, None) => Ok(()),
            _ => self.file(unit.file),
        }
    }

    fn say_file(&mut self, id: FileId) -> Result<()> {
        let unit = self.module.unit(self.module.file(id).unit);
        if unit.file == id {
            return self.ensure_scope(unit.scope);
        }
        self.ensure_scope(unit.scope)?;
        self.counts.files += 1;
        self.file(id)
    }

    fn file(&mut self, id: FileId) -> Result<()> {
        let (known, file) = (self.known, self.module.file(id));
        let mut said = say::File::new(known.unit_ref(file.unit), known.text(file.name));
        said.id = known.file_id(id);
        said.directory = file.directory.map(|directory| known.text(directory));
        said.md5 = file.md5.map(|md5| Bytes(md5.to_vec()));
        said.source = file.source.map(|source| known.text(source));
        self.say(&Statement::File(said))
    }

    fn say_scope(&mut self, id: ScopeId) -> Result<()> {
        let (known, module, scope) = (self.known, self.module, self.module.scope(id));
        let parent = match (scope.parent, &scope.kind) {
            (None, _) => return self.say_unit(scope.unit),
            (_, ScopeKind::Type(ty)) => return self.ensure_type(*ty),
            (Some(parent), _) => parent,
        };
        // The enclosing scope and the referenced entities come first.
        let within = known.scope_ref(parent);
        let pcs = || module.ranges(id).iter().map(|pcs| (Number(pcs.start), Number(pcs.end))).collect();
        if let ScopeKind::Inlined { call, .. } = scope.kind {
            self.ensure_file(call.file)?;
        }
        self.counts.scopes += 1;
        let said = match scope.kind {
            ScopeKind::Unit | ScopeKind::Type(_) => return Ok(()),
            ScopeKind::Namespace { name, is_inline } => {
                let mut said = say::Namespace::new(within);
                said.name = name.map(|name| known.text(name));
                said.inline = (is_inline && name.is_some()).then_some(true);
                said.id = known.scope_id(id);
                Statement::Namespace(said)
            }
            ScopeKind::Function(function) => self.function(function, parent),
            ScopeKind::Block => match scope.origin {
                None => {
                    let mut said = say::Block::new(within, pcs());
                    said.id = known.scope_id(id);
                    Statement::Block(said)
                }
                Some(origin) => {
                    let mut said = say::InlinedBlock::new(within, known.scope_ref(origin), pcs());
                    said.id = known.scope_id(id);
                    Statement::InlinedBlock(said)
                }
            },
            ScopeKind::Inlined { function, call } => {
                let call = known.line(call);
                let mut said = say::Inlined::new(within, known.function_ref(function), pcs(), call);
                said.id = known.scope_id(id);
                Statement::Inlined(said)
            }
        };
        self.say(&said)?;
        if !scope.is_described() {
            return Ok(());
        }
        if !self.is_line_said(scope.line) {
            self.later.push(Describe::Scope(id));
            return Ok(());
        }
        self.say(&self.described_scope(id))
    }

    fn described_scope(&self, id: ScopeId) -> Statement<'m> {
        let (known, scope) = (self.known, self.module.scope(id));
        let mut said = say::DescribeScope::new(known.scope_ref(id));
        said.begins = scope.line.map(|line| known.line(line));
        said.entry_pc = scope.entry_pc.map(Number);
        said.discriminator = Some(scope.discriminator).filter(|&number| number != 0);
        Statement::DescribeScope(said)
    }

    fn function(&mut self, id: FunctionId, parent: ScopeId) -> Statement<'m> {
        let (known, function) = (self.known, self.module.function(id));
        let scaling = function.stack.scaling;
        let mut stack = say::Stack::new();
        stack.base = function.stack.base.map(|base| known.register(base));
        stack.scaling = (scaling != self.module.target.scaling()).then_some(Word(scaling));
        stack.at_zero = function.is_stack_at_zero.then_some(true);
        let has_stack = stack.base.is_some() || stack.scaling.is_some() || stack.at_zero.is_some();
        let code = function.address.map(|address| {
            let mut code = say::Code::new(Number(function.bytes));
            match address {
                Address::Constant(address) => code.address = Some(Number(address)),
                Address::Symbol(symbol, offset) => {
                    code.symbol = Some(known.text(symbol.0));
                    code.offset = Some(Number(offset)).filter(|_| offset > 0);
                }
            }
            code
        });
        let flag = |is_so: bool| is_so.then_some(true);
        let mut facts = FunctionFacts {
            code,
            body_line: Some(function.body_line).filter(|&line| line != 0),
            // A kernel is always external.
            external: flag(function.is_external && !function.is_kernel),
            kernel: flag(function.is_kernel),
            stack: has_stack.then_some(stack),
            describes_calls: function.calls.map(Word),
            ..FunctionFacts::of(known, function)
        };
        let mut locs = [function.frame_base, function.static_link].into_iter().flatten();
        let is_ready = function.returns.is_none_or(|ty| self.is_type_said(ty))
            && self.is_line_said(function.line)
            && function.object_pointer.is_none()
            && locs.all(|loc| self.is_loc_said(loc))
            && !known.declared.contains(&id);
        if is_ready {
            let FunctionFacts { returns, declared, frame_base, static_link, .. } =
                self.later_function_facts(id);
            facts = FunctionFacts { returns, declared, frame_base, static_link, ..facts };
        } else {
            self.later.push(Describe::Function(id));
        }
        let (within, name_id) = (known.scope_ref(parent), known.scope_id(function.scope));
        match function.specification {
            Some(declaration) => {
                let declaration = known.function_ref(declaration);
                let mut said = say::FunctionDefinition::new(within, declaration).with(facts);
                said.id = name_id;
                Statement::FunctionDefinition(said)
            }
            None => {
                let mut said = say::Function::new(within, known.text(function.name)).with(facts);
                (said.id, said.declaration) = (name_id, flag(function.is_declaration));
                Statement::Function(said)
            }
        }
    }

    /// Properties that can be set after the function was made.
    fn later_function_facts(&self, id: FunctionId) -> FunctionFacts<'m> {
        let (known, function) = (self.known, self.module.function(id));
        let place = |loc: Option<LocId>| loc.map(|loc| Later::Model(Place { known, loc }));
        FunctionFacts {
            returns: function.returns.map(|ty| known.type_ref(ty)),
            declared: function.line.map(|line| known.line(line)),
            object_pointer: function.object_pointer.map(|object| known.variable_ref(object)),
            frame_base: place(function.frame_base),
            static_link: place(function.static_link),
            ..FunctionFacts::default()
        }
    }

    fn say_variable(&mut self, id: VariableId) -> Result<()> {
        let (known, module, variable) = (self.known, self.module, self.module.variable(id));
        self.ensure_scope(variable.scope)?;
        self.ensure_type(variable.ty)?;
        self.counts.variables += 1;
        let (within, ty) = (known.scope_ref(variable.scope), known.type_ref(variable.ty));
        let name = variable.name.map_or("".into(), |name| known.text(name));
        let locs = module.live(id).iter().map(|live| live.loc).chain(variable.always);
        let is_said = self.is_line_said(variable.line) && { locs }.all(|loc| self.is_loc_said(loc));
        let facts = if is_said { self.variable_facts(id) } else { VariableFacts::default() };
        let mut name_id = known.variable_id(id);
        if !is_said {
            self.later.push(Describe::Variable(id));
            name_id = Some(known.variable_ref(id));
        }
        let said = match (variable.kind, variable.origin) {
            (_, None) if variable.specification.is_some() => {
                let member = variable.specification.map_or("".into(), |member| known.variable_ref(member));
                let mut said = say::Definition::new(within, member).with(facts);
                said.id = name_id;
                Statement::Definition(said)
            }
            (_, Some(origin)) => {
                let mut said = say::InlinedVariable::new(within, known.variable_ref(origin)).with(facts);
                said.id = name_id;
                Statement::InlinedVariable(said)
            }
            (VariableKind::Constant, None) => {
                // The statement requires a value: a constant with a location gets zeros here.
                let bits = module.ty(variable.ty).value_bits().unwrap_or(0);
                let zeros = || Bytes(vec![0; bits.div_ceil(8) as usize]);
                let value = facts.const_value.unwrap_or_else(zeros);
                if is_said && facts.always.is_some() {
                    self.later.push(Describe::Variable(id));
                    name_id = Some(known.variable_ref(id));
                }
                let mut said = say::Constant::new(within, name, ty, value);
                (said.id, said.declared, said.linkage_name) = (name_id, facts.declared, facts.linkage_name);
                (said.artificial, said.external) = (facts.artificial, facts.external);
                (said.memory_space, said.accessibility) = (facts.memory_space, facts.accessibility);
                Statement::Constant(said)
            }
            (kind, None) => {
                let mut said = say::Variable::new(within, name, ty).with(facts);
                said.id = name_id;
                said.declaration = variable.is_declaration.then_some(true);
                if kind == VariableKind::Parameter {
                    Statement::Parameter(said)
                } else {
                    Statement::Variable(said)
                }
            }
        };
        self.say(&said)
    }

    fn variable_facts(&self, id: VariableId) -> VariableFacts<'m> {
        let (known, module, variable) = (self.known, self.module, self.module.variable(id));
        let live = module.live(id);
        let (place, value) = match variable.always {
            Some(loc) if variable.is_constant => (None, module.constant(loc).map(<[u8]>::to_vec)),
            place => (place, None),
        };
        VariableFacts {
            declared: variable.line.map(|line| known.line(line)),
            live: Some(Later::Model(Live { known, live })).filter(|_| !live.is_empty()),
            always: place.map(|loc| Later::Model(Place { known, loc })),
            const_value: value.map(Bytes),
            ..VariableFacts::of(known, variable)
        }
    }

    fn say_procedure(&mut self, id: ProcedureId) -> Result<()> {
        let (known, procedure) = (self.known, &self.module.procedures[id]);
        self.ensure_loc(procedure.loc)?;
        self.ensure_scope(self.module.unit(procedure.unit).scope)?;
        self.counts.procedures += 1;
        let loc = Later::Model(Place { known, loc: procedure.loc });
        let (unit, id) = (known.unit_ref(procedure.unit), known.procedure_ref(id));
        self.say(&Statement::Procedure(say::Procedure::new(unit, id, loc)))
    }

    pub fn is_type_said(&self, ty: TypeId) -> bool {
        ty.as_u32() < self.counts.types
    }

    pub fn is_line_said(&self, line: Option<SourceLine>) -> bool {
        line.is_none_or(|line| line.file.as_u32() < self.counts.files)
    }

    /// Entities that a location references and that are written before it.
    fn entities(&self, loc: LocId) -> impl Iterator<Item = Entity> + use<'m, W> {
        let module = self.module;
        module.nodes(loc).flat_map(move |node| {
            let (one, several) = match node {
                Node::PointerTo(variable, _) => (Some(Entity::Variable(variable)), &[][..]),
                Node::Call(procedure) => (Some(Entity::Procedure(procedure)), &[][..]),
                Node::Expr(expr) => (None, module.expr(expr).1),
                _ => (None, &[][..]),
            };
            one.into_iter().chain(several.iter().copied())
        })
    }

    fn is_loc_said(&self, loc: LocId) -> bool {
        self.entities(loc).all(|entity| match entity {
            Entity::Variable(id) => id.as_u32() < self.counts.variables,
            Entity::Procedure(id) => id.as_u32() < self.counts.procedures,
            Entity::Type(id) => self.is_type_said(id),
            Entity::Symbol(..) => true,
        })
    }

    pub fn ensure_loc(&mut self, loc: LocId) -> Result<()> {
        for entity in self.entities(loc) {
            match entity {
                Entity::Variable(id) => self.ensure_variable(id)?,
                Entity::Procedure(id) => self.ensure_procedure(id)?,
                Entity::Type(id) => self.ensure_type(id)?,
                Entity::Symbol(..) => {}
            }
        }
        Ok(())
    }

    pub fn say(&mut self, statement: &Statement<'_>) -> Result<()> {
        self.out.write_all(if self.counts.statements == 0 { b"\n" } else { b",\n" })?;
        self.counts.statements += 1;
        self.json(statement)
    }

    fn json(&mut self, value: &impl Serialize) -> Result<()> {
        serde_json::to_writer(&mut self.out, value).map_err(|error| std::io::Error::from(error).into())
    }
}

fn known_language(language: Language) -> Named<'static> {
    match super::apply::language_name(language) {
        Some(name) => Named::Text(name.into()),
        None => Named::Number(language.0.into()),
    }
}
