//! Writes modules as statements, in an order that gives every entity its id again.
//!
//! Entities with the same kind are numbered in the order of their statements, and each was made after the entities that
//! it references. Some kind therefore always has a next entity that can be written: [`Writer::ensure_scope`] and its
//! siblings first write the earlier entities. Properties of a function or variable that were set later can reference
//! later entities, so that a statement `describe_…` at the end contains them.

use std::io::Write;

use serde::Serialize;

use super::attributes::Attribute;
use super::calls::{Argument, Call, Import, Label};
use super::frames::Frame;
use super::functions::{DescribeFunction, FunctionFacts, Rows};
use super::ids::Known;
use super::lanes::{Lanes, Region, WholeWave};
use super::members::{Base, Member, Template, Variant, VariantPart};
use super::read::VERSION;
use super::statement::Statement;
use super::target::TargetJson;
use super::types::{DescribeType, TypeFacts};
use super::units::{DescribeScope, File, Macros, ScopeFacts, Unit, UnitFacts};
use super::variables::{DescribeVariable, Procedure, VariableFacts};
use super::written;
use crate::build::VariantId;
use crate::error::Result;
use crate::model::{
    Count, Entity, ExtraValue, FileId, FunctionId, LocId, Module, Node, ProcedureId, ScopeId, ScopeKind,
    SourceLine, TypeId, TypeKind, UnitId, VariableId,
};

/// Writes a module's description; `more` is a further key with its value.
pub(super) fn module<'m>(
    known: &'m Known<'m>,
    more: Option<(&str, &impl Serialize)>,
    to: impl Write,
) -> Result<()> {
    let module = known.module;
    let mut writer = Writer { known, module, out: to, counts: Counts::default(), later: Vec::new() };
    write!(writer.out, "{{\"eitri\":{VERSION},\"target\":")?;
    writer.json(&TargetJson(&module.target))?;
    writer.out.write_all(b",\"describe\":[")?;
    writer.statements()?;
    writer.out.write_all(b"\n]")?;
    if let Some((key, value)) = more {
        write!(writer.out, ",\"{key}\":")?;
        writer.json(value)?;
    }
    writer.out.write_all(b"}\n")?;
    writer.out.flush()?;
    Ok(())
}

struct Writer<'m, W> {
    known: &'m Known<'m>,
    module: &'m Module,
    out: W,
    counts: Counts,
    /// Statements with properties that reference later entities.
    later: Vec<Statement<'m>>,
}

/// Number of written entities, by kind.
#[derive(Default)]
struct Counts {
    statements: usize,
    files: u32,
    types: u32,
    scopes: u32,
    variables: u32,
    procedures: u32,
}

impl<'m, W: Write> Writer<'m, W> {
    fn statements(&mut self) -> Result<()> {
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
        // Members may reference any type, so that all types come first.
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
        // Now every entity is written, so that deferred properties can reference all of them.
        for statement in core::mem::take(&mut self.later) {
            self.statement(&statement)?;
        }
        for (id, _) in module.imports() {
            self.statement(&Statement::Import(Import::write(self.known, id)))?;
        }
        for (id, _) in module.labels() {
            self.statement(&Statement::Label(Label::write(self.known, id)))?;
        }
        self.calls()?;
        self.lanes()?;
        for (id, _) in module.functions().filter(|&(id, _)| !module.rows(id).is_empty()) {
            self.statement(&Statement::Rows(Rows::write(self.known, id)))?;
        }
        for (id, _) in module.functions() {
            if let Some(frame) = Frame::write(self.known, id) {
                self.statement(&Statement::Frame(frame))?;
            }
        }
        for (id, _) in module.units().filter(|&(id, _)| !module.macros(id).is_empty()) {
            self.statement(&Statement::Macros(Macros::write(self.known, id)))?;
        }
        for attribute in &module.lists.attributes {
            if let Some(json) = Attribute::write(self.known, attribute) {
                self.statement(&Statement::Attribute(json))?;
            }
        }
        Ok(())
    }

    /// Writes all files up to and including `id`.
    fn ensure_file(&mut self, id: FileId) -> Result<()> {
        while self.counts.files <= id.as_u32() {
            self.file(FileId::from_u32(self.counts.files))?;
        }
        Ok(())
    }

    /// Writes all types up to and including `id`. Each may first write more types.
    fn ensure_type(&mut self, id: TypeId) -> Result<()> {
        while self.counts.types <= id.as_u32() {
            self.ty(TypeId::from_u32(self.counts.types))?;
        }
        Ok(())
    }

    /// Writes all scopes up to and including `id`.
    fn ensure_scope(&mut self, id: ScopeId) -> Result<()> {
        while self.counts.scopes <= id.as_u32() {
            self.scope(ScopeId::from_u32(self.counts.scopes))?;
        }
        Ok(())
    }

    /// Writes all variables up to and including `id`.
    fn ensure_variable(&mut self, id: VariableId) -> Result<()> {
        while self.counts.variables <= id.as_u32() {
            self.variable(VariableId::from_u32(self.counts.variables))?;
        }
        Ok(())
    }

    /// Writes all procedures up to and including `id`.
    fn ensure_procedure(&mut self, id: ProcedureId) -> Result<()> {
        while self.counts.procedures <= id.as_u32() {
            self.procedure(ProcedureId::from_u32(self.counts.procedures))?;
        }
        Ok(())
    }

    /// Writes a unit, which makes a scope and a file, after the files with smaller ids.
    fn unit(&mut self, id: UnitId) -> Result<()> {
        let unit = self.module.unit(id);
        // The statement also makes the unit's primary file, which must get its number.
        if let Some(before) = unit.file.as_u32().checked_sub(1) {
            self.ensure_file(FileId::from_u32(before))?;
        }
        self.counts.scopes += 1;
        self.counts.files += 1;
        let known = self.known;
        let json = Unit::new(known.text(unit.name)).with(UnitFacts::new(known, id));
        self.statement(&Statement::Unit(Unit { id: known.scope_id(unit.scope), ..json }))?;
        let file = self.module.file(unit.file);
        if known.file_id(unit.file).is_none() && file.md5.is_none() && file.source.is_none() {
            return Ok(());
        }
        self.statement(&Statement::File(File::write(known, unit.file)))
    }

    /// Writes a file, unless it is the one that its unit makes.
    fn file(&mut self, id: FileId) -> Result<()> {
        let unit = self.module.unit(self.module.file(id).unit);
        self.ensure_scope(unit.scope)?;
        if unit.file == id {
            return Ok(());
        }
        self.counts.files += 1;
        self.statement(&Statement::File(File::write(self.known, id)))
    }

    /// Writes a scope after the enclosing scope and the referenced entities.
    fn scope(&mut self, id: ScopeId) -> Result<()> {
        let scope = self.module.scope(id);
        // A unit's and a type's statement makes its scope.
        let parent = match (scope.parent, &scope.kind) {
            (None, _) => return self.unit(scope.unit),
            (_, ScopeKind::Type(ty)) => return self.ensure_type(*ty),
            (Some(parent), _) => parent,
        };
        // A call's file may be a later file of the unit.
        if let ScopeKind::Inlined { call, .. } = scope.kind {
            self.ensure_file(call.file)?;
        }
        self.counts.scopes += 1;
        let json = match scope.kind {
            ScopeKind::Function(function) => Some(self.function(function, parent)),
            _ => written::scope(self.known, id, parent),
        };
        let Some(json) = json else { return Ok(()) };
        self.statement(&json)?;
        let facts = ScopeFacts::new(self.known, id);
        if facts.is_empty() {
            return Ok(());
        }
        let json = Statement::DescribeScope(DescribeScope::new(self.known.scope_ref(id)).with(facts));
        if self.is_line_written(scope.line) {
            return self.statement(&json);
        }
        self.later.push(json);
        Ok(())
    }

    /// Returns a function's statement. Properties that reference later entities come at the end.
    fn function(&mut self, id: FunctionId, parent: ScopeId) -> Statement<'m> {
        let known = self.known;
        let function = self.module.function(id);
        let mut facts = FunctionFacts::new(known, id);
        // A kernel is always external.
        facts.external = facts.external.filter(|_| !function.is_kernel);
        let attributes = self.module.attributes(id).iter().filter_map(|attribute| attribute.value.loc());
        let bases = function.frame_bases().iter().map(|base| base.loc);
        let mut locs =
            [function.frame_base, function.static_link].into_iter().flatten().chain(bases).chain(attributes);
        // The object pointer is a parameter of the function and therefore always later.
        let is_ready = function.returns.is_none_or(|ty| self.is_type_written(ty))
            && self.is_line_written(function.line)
            && function.object_pointer.is_none()
            && locs.all(|loc| self.is_loc_written(loc))
            && !known.declared.contains(&id);
        if !is_ready {
            let later = FunctionFacts {
                returns: facts.returns.take(),
                declared: facts.declared.take(),
                object_pointer: facts.object_pointer.take(),
                frame_base: facts.frame_base.take(),
                frame_bases: facts.frame_bases.take(),
                static_link: facts.static_link.take(),
                vtable_elem_location: facts.vtable_elem_location.take(),
                ..FunctionFacts::default()
            };
            let json = DescribeFunction::new(known.function_ref(id)).with(later);
            self.later.push(Statement::DescribeFunction(json));
        }
        written::function(known, id, parent, facts)
    }

    /// Writes a variable after its scope and its type.
    fn variable(&mut self, id: VariableId) -> Result<()> {
        let known = self.known;
        let variable = self.module.variable(id);
        self.ensure_scope(variable.scope)?;
        self.ensure_type(variable.ty)?;
        self.counts.variables += 1;
        let mut facts = VariableFacts::new(known, id);
        let mut name_id = known.variable_id(id);
        let mut locs = self.module.live(id).iter().map(|live| live.loc).chain(variable.always);
        if !self.is_line_written(variable.line) || !locs.all(|loc| self.is_loc_written(loc)) {
            // The later statement needs an id to reference the variable.
            name_id = Some(known.variable_ref(id));
            let later = core::mem::take(&mut facts);
            let json = DescribeVariable::new(known.variable_ref(id)).with(later);
            self.later.push(Statement::DescribeVariable(json));
        }
        self.statement(&written::variable(known, id, name_id, facts))
    }

    fn procedure(&mut self, id: ProcedureId) -> Result<()> {
        let procedure = &self.module.procedures[id];
        self.ensure_loc(procedure.loc)?;
        self.ensure_scope(self.module.unit(procedure.unit).scope)?;
        self.counts.procedures += 1;
        self.statement(&Statement::Procedure(Procedure::write(self.known, id)))
    }

    /// Writes a type after the scopes, variables and locations that it needs.
    fn ty(&mut self, id: TypeId) -> Result<()> {
        let ty = self.module.ty(id);
        self.ensure_scope(self.module.unit(ty.unit()).scope)?;
        self.ensure_parts_of(ty.kind())?;
        self.counts.types += 1;
        if matches!(ty.kind(), TypeKind::Composite(_)) {
            // The statement makes the type's scope too.
            self.counts.scopes += 1;
        }
        self.statement(&written::ty(self.known, id))?;
        self.describe_type(id)
    }

    /// Writes the scopes, variables and locations that a type needs.
    fn ensure_parts_of(&mut self, kind: &TypeKind) -> Result<()> {
        match kind {
            // The statement makes the type's scope, which must get its number.
            TypeKind::Composite(composite) => match composite.scope.as_u32().checked_sub(1) {
                Some(before) => self.ensure_scope(ScopeId::from_u32(before)),
                None => Ok(()),
            },
            TypeKind::Array { dimensions, .. } => {
                dimensions.iter().try_for_each(|dimension| match dimension.count {
                    Count::Variable(variable) => self.ensure_variable(variable),
                    Count::Value(loc) => self.ensure_loc(loc),
                    Count::Unknown | Count::Fixed(_) => Ok(()),
                })
            }
            _ => Ok(()),
        }
    }

    /// Writes a type's further properties. If they have to wait, an empty `describe_type` comes at once, so that a
    /// later type with equal kind is not merged with this type.
    fn describe_type(&mut self, id: TypeId) -> Result<()> {
        let known = self.known;
        let ty = self.module.ty(id);
        let facts = TypeFacts::new(known, id);
        if facts.is_empty() && !known.comes_again(id) {
            return Ok(());
        }
        let describe = |facts| Statement::DescribeType(DescribeType::write(known, id, facts));
        let mut json = describe(facts);
        let mut attributes = self.module.attributes(id).iter();
        let is_ready = self.is_line_written(ty.line())
            && ty.scope().as_u32() < self.counts.scopes
            && attributes.all(|attribute| self.is_value_written(&attribute.value));
        if !is_ready {
            let empty = describe(TypeFacts::default());
            self.later.push(core::mem::replace(&mut json, empty));
        }
        self.statement(&json)
    }

    fn bases_and_members(&mut self, id: TypeId) -> Result<()> {
        let TypeKind::Composite(composite) = self.module.ty(id).kind() else { return Ok(()) };
        for base in &composite.bases {
            self.statement(&Statement::Base(Base::write(self.known, id, base)))?;
        }
        for member in &composite.members {
            self.statement(&Statement::Member(Member::write(self.known, id, member)))?;
        }
        Ok(())
    }

    fn variant_parts(&mut self) -> Result<()> {
        let known = self.known;
        for (id, part) in &self.module.variant_parts {
            let unit = self.module.ty(part.of).unit();
            self.statement(&Statement::VariantPart(VariantPart::write(known, id)))?;
            for (index, variant) in part.variants.iter().enumerate() {
                let variant_id = VariantId { part: id, index };
                self.statement(&Statement::Variant(Variant::write(known, variant_id, variant)))?;
                for member in &variant.members {
                    let json = Member::write_in_variant(known, unit, variant_id, member);
                    self.statement(&Statement::Member(json))?;
                }
            }
        }
        Ok(())
    }

    fn templates(&mut self, id: TypeId) -> Result<()> {
        let TypeKind::Composite(composite) = self.module.ty(id).kind() else { return Ok(()) };
        for parameter in &composite.templates {
            self.statement(&Statement::Template(Template::write(self.known, id, parameter)))?;
        }
        Ok(())
    }

    fn function_templates(&mut self, id: FunctionId) -> Result<()> {
        for parameter in &self.module.function(id).templates {
            let json = Template::write_of_function(self.known, id, parameter);
            self.statement(&Statement::Template(json))?;
        }
        Ok(())
    }

    fn calls(&mut self) -> Result<()> {
        for (id, _) in self.module.calls() {
            self.statement(&Statement::Call(Call::write(self.known, id)))?;
            for argument in self.module.arguments(id) {
                self.statement(&Statement::Argument(Argument::write(self.known, id, argument)))?;
            }
        }
        Ok(())
    }

    fn lanes(&mut self) -> Result<()> {
        let module = self.module;
        for (id, _) in module.functions().filter(|&(id, _)| module.describes_lanes(id)) {
            self.statement(&Statement::Lanes(Lanes::write(self.known, id)))?;
        }
        for (id, _) in module.regions() {
            self.statement(&Statement::Region(Region::write(self.known, id)))?;
        }
        for whole_wave in &module.lanes.whole_waves {
            let json = WholeWave::write(self.known, whole_wave.function, &whole_wave.mask);
            self.statement(&Statement::WholeWave(json))?;
        }
        Ok(())
    }

    fn is_type_written(&self, ty: TypeId) -> bool {
        ty.as_u32() < self.counts.types
    }

    fn is_line_written(&self, line: Option<SourceLine>) -> bool {
        line.is_none_or(|line| line.file.as_u32() < self.counts.files)
    }

    /// Entities that a location references and that are written before it.
    fn entities(&self, loc: LocId) -> impl Iterator<Item = Entity> + use<'m, W> {
        let module = self.module;
        module.nodes(loc).flat_map(move |node| {
            // Only these nodes reference entities that statements declare.
            let (single, several) = match node {
                Node::PointerTo(variable, _) | Node::PassedValue(variable) => {
                    (Some(Entity::Variable(variable)), &[][..])
                }
                Node::Call(procedure) => (Some(Entity::Procedure(procedure)), &[][..]),
                Node::Expr(expr) => (None, module.expr(expr).1),
                _ => (None, &[][..]),
            };
            single.into_iter().chain(several.iter().copied())
        })
    }

    fn is_loc_written(&self, loc: LocId) -> bool {
        self.entities(loc).all(|entity| match entity {
            Entity::Variable(id) => id.as_u32() < self.counts.variables,
            Entity::Procedure(id) => id.as_u32() < self.counts.procedures,
            Entity::Type(id) => self.is_type_written(id),
            Entity::Symbol(..) => true,
        })
    }

    /// Whether an attribute's value references only entities that are written.
    fn is_value_written(&self, value: &ExtraValue) -> bool {
        match *value {
            ExtraValue::Variable(id) => id.as_u32() < self.counts.variables,
            ref value => value.loc().is_none_or(|loc| self.is_loc_written(loc)),
        }
    }

    fn ensure_loc(&mut self, loc: LocId) -> Result<()> {
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

    fn statement(&mut self, statement: &Statement<'_>) -> Result<()> {
        self.out.write_all(if self.counts.statements == 0 { b"\n" } else { b",\n" })?;
        self.counts.statements += 1;
        self.json(statement)
    }

    fn json(&mut self, value: &impl Serialize) -> Result<()> {
        serde_json::to_writer(&mut self.out, value).map_err(|error| std::io::Error::from(error).into())
    }
}
