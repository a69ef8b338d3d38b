//! Applies statements: each one becomes calls of the builder.

use core::ops::Range;

use super::later::Later;
use super::lists;
use super::read::Reader;
use super::statement::{
    Code, Constant, FunctionFacts, InlinedVariable, MacroStep, Pcs, Ref, Statement, UnitFacts, Variable,
    VariableFacts,
};
use super::values::{Bytes, Line, Named, Number, Text, Word};
use crate::build::{Blame, FunctionBuilder};
use crate::error::{self, Error, ErrorKind, Result};
use crate::model::{
    Address, CompositeKind, FileId, FunctionId, Language, ScopeId, ScopeKind, SourceLine, UnitId, VariableId,
};

impl<'a> Reader<'a> {
    /// Makes the builder calls of a statement.
    pub fn apply(&mut self, statement: Statement<'a>) -> Result<()> {
        match statement {
            Statement::Unit(mut said) => {
                let unit = self.builder.unit(&said.name);
                let scope = self.builder.described().unit(unit).scope;
                let file = self.builder.primary_file(unit)?;
                let named = Some(((), &said.name));
                self.names.units.add(unit, said.id.as_ref(), named)?;
                self.names.scopes.add(scope, said.id.as_ref(), named)?;
                self.names.files.add(file, None, Some((unit, &said.name)))?;
                self.unit_facts(unit, said.facts())
            }
            Statement::DescribeUnit(mut said) => {
                let unit = self.unit(&said.unit)?;
                self.unit_facts(unit, said.facts())
            }
            Statement::File(said) => {
                let unit = self.unit(&said.unit)?;
                let file = self.builder.file(unit, &said.name, said.directory.as_deref())?;
                if let Some(md5) = said.md5 {
                    let wrong = |_| Error::bad_argument("an MD5 sum has 16 bytes");
                    self.builder.file_md5(file, md5.0.try_into().map_err(wrong)?)?;
                }
                if let Some(source) = said.source {
                    self.builder.file_source(file, &source)?;
                }
                self.names.files.add(file, said.id.as_ref(), Some((unit, &said.name)))
            }
            Statement::Namespace(said) => {
                let parent = self.scope(&said.r#in)?;
                let is_inline = said.inline == Some(true);
                let scope = match said.name.as_deref() {
                    None if said.inline == Some(false) => {
                        return Err(Error::bad_argument("a namespace without a name is an inline one"));
                    }
                    None => self.builder.anonymous_namespace(parent)?,
                    Some(name) if is_inline => self.builder.inline_namespace(parent, name)?,
                    Some(name) => self.builder.namespace(parent, name)?,
                };
                self.names.scopes.add(scope, said.id.as_ref(), said.name.as_ref().map(|name| ((), name)))
            }
            Statement::Function(mut said) => {
                let parent = self.scope(&said.r#in)?;
                let function = match said.declaration {
                    Some(true) => self.builder.function_declaration(parent, &said.name)?.id(),
                    _ => self.builder.function(parent, &said.name)?.id(),
                };
                let unit = self.named_function(function, said.id.as_ref(), &said.name)?;
                self.function_facts(function, unit, said.facts())
            }
            Statement::FunctionDefinition(mut said) => {
                let parent = self.scope(&said.r#in)?;
                let (declaration, _) = self.function(&said.declaration)?;
                let function = self.builder.function_definition(parent, declaration)?.id();
                // The declaration and the definition share the name, which is therefore ambiguous.
                let module = self.builder.described();
                let name = Text(module.string(module.function(function).name).to_owned().into());
                let unit = self.named_function(function, said.id.as_ref(), &name)?;
                self.function_facts(function, unit, said.facts())
            }
            Statement::DescribeFunction(mut said) => {
                let (function, unit) = self.function(&said.function)?;
                self.function_facts(function, unit, said.facts())
            }
            Statement::Block(said) => {
                let parent = self.scope(&said.r#in)?;
                let scope = self.builder.block(parent, &ranges(&said.pcs));
                let scope = self.of_key("pcs", scope)?;
                self.names.scopes.add(scope, said.id.as_ref(), None)
            }
            Statement::InlinedBlock(said) => {
                let (parent, origin) = (self.scope(&said.r#in)?, self.scope(&said.origin)?);
                let scope = self.builder.inlined_block(parent, origin, &ranges(&said.pcs));
                let scope = self.of_key("pcs", scope)?;
                self.names.scopes.add(scope, said.id.as_ref(), None)
            }
            Statement::Inlined(said) => {
                let parent = self.scope(&said.r#in)?;
                let unit = self.unit_of(parent);
                let function = self.names.functions.find(unit, &said.function)?;
                let call = self.line(unit, &said.call)?;
                let scope = self.builder.inlined(parent, function, &ranges(&said.pcs), call);
                let scope = self.of_key("pcs", scope)?;
                self.names.scopes.add(scope, said.id.as_ref(), None)
            }
            Statement::DescribeScope(said) => {
                let scope = self.scope(&said.scope)?;
                if let Some(line) = said.begins {
                    let line = self.line(self.unit_of(scope), &line)?;
                    self.builder.begins(scope, line)?;
                }
                if let Some(Number(pc)) = said.entry_pc {
                    self.builder.entry_pc(scope, pc)?;
                }
                said.discriminator.map_or(Ok(()), |number| self.builder.discriminator(scope, number))
            }
            Statement::Import(said) => self.import(said),
            Statement::Label(said) => self.label(said),
            Statement::Call(mut said) => {
                let scope = self.scope(&said.r#in)?;
                let call = self.builder.call(scope)?.id();
                self.names.calls.add(call, said.id.as_ref(), None)?;
                self.call_facts(call, said.facts())
            }
            Statement::DescribeCall(mut said) => {
                let call = self.names.calls.find((), &said.call)?;
                self.call_facts(call, said.facts())
            }
            Statement::Argument(said) => self.argument(said),
            Statement::Variable(said) => self.variable(said, false),
            Statement::Parameter(said) => self.variable(said, true),
            Statement::InlinedVariable(said) => self.inlined_variable(said),
            Statement::Definition(mut said) => {
                let scope = self.scope(&said.r#in)?;
                let member = self.names.variables.find((), &said.member)?;
                let variable = self.builder.definition(scope, member)?.id();
                self.names.variables.add(variable, said.id.as_ref(), None)?;
                self.variable_facts(variable, said.facts())
            }
            Statement::Constant(said) => self.constant(said),
            Statement::DescribeVariable(mut said) => {
                let variable = self.names.variables.find((), &said.variable)?;
                self.variable_facts(variable, said.facts())
            }
            Statement::Procedure(said) => {
                let unit = self.unit(&said.unit)?;
                let loc = self.loc(unit, &said.loc)?;
                let procedure = self.builder.procedure(unit, &loc)?;
                self.names.procedures.add(procedure, Some(&said.id), None)
            }
            Statement::Rows(said) => {
                let (function, unit) = self.function(&said.function)?;
                let Later::Text(rows) = said.rows else { return Ok(()) };
                self.part(rows, |reader, json| lists::rows(reader, function, unit, json))
            }
            Statement::Lanes(said) => {
                let scope = self.scope(&said.r#in)?;
                self.builder.lanes(scope).map(drop)
            }
            Statement::Region(said) => self.region(said),
            Statement::WholeWave(said) => self.whole_wave(said),
            Statement::Frame(said) => self.frame(said),
            Statement::Macros(said) => {
                let unit = self.unit(&said.unit)?;
                said.macros.into_iter().try_for_each(|step| self.macro_step(unit, step))
            }
            Statement::BaseType(said) => self.base_type(said),
            Statement::Pointer(said) => self.pointer(said),
            Statement::Array(said) => self.array(said),
            Statement::Vector(said) => said.make(self),
            Statement::Matrix(said) => said.make(self),
            Statement::Typedef(said) => said.make(self),
            Statement::Qualified(said) => said.make(self),
            Statement::UnspecifiedType(said) => said.make(self),
            Statement::Subroutine(said) => said.make(self),
            Statement::MemberPointer(said) => said.make(self),
            Statement::Structure(said) => self.composite(said, CompositeKind::Struct),
            Statement::Class(said) => self.composite(said, CompositeKind::Class),
            Statement::Union(said) => self.composite(said, CompositeKind::Union),
            Statement::Incomplete(said) => self.incomplete(said),
            Statement::Enumeration(said) => self.enumeration(said),
            Statement::DescribeType(said) => self.describe_type(said),
            Statement::Member(said) => self.member(said),
            Statement::Base(said) => self.base(said),
            Statement::VariantPart(said) => self.variant_part(said),
            Statement::Variant(said) => self.variant(said),
            Statement::Template(said) => self.template(&said),
        }
    }

    fn unit_facts(&mut self, unit: UnitId, facts: UnitFacts<'a>) -> Result<()> {
        let language = facts.language.as_ref().map(language).transpose();
        let language = self.of_key("language", language)?;
        let mut unit = self.builder.describe_unit(unit)?;
        facts.describe(&mut unit);
        if let Some(language) = language {
            unit.language(language);
        }
        facts.split_name.map_or(Ok(()), |name| unit.split_name(&name).map(drop))
    }

    fn function_facts(&mut self, function: FunctionId, unit: UnitId, facts: FunctionFacts<'a>) -> Result<()> {
        // Resolves references before the function borrows the builder.
        let returns = self.maybe_type(unit, facts.returns.as_ref())?;
        let declared = facts.declared.as_ref().map(|line| self.line(unit, line)).transpose()?;
        let base = facts.stack.as_ref().and_then(|stack| stack.base.as_ref());
        let base = base.map(|base| self.register(base)).transpose()?;
        let object = facts.object_pointer.as_ref();
        let object = object.map(|name| self.names.variables.find((), name)).transpose()?;
        let frame_base = facts.frame_base.as_ref().map(|loc| self.loc(unit, loc)).transpose()?;
        let static_link = facts.static_link.as_ref().map(|loc| self.loc(unit, loc)).transpose()?;
        let mut function: FunctionBuilder<'_> = self.builder.describe_function(function)?;
        if let Some(said) = &facts.code {
            code(&mut function, said)?;
        }
        facts.describe(&mut function);
        if let Some(returns) = returns {
            function.returns(returns)?;
        }
        if let Some(line) = declared {
            function.declared_at(line);
        }
        if let Some(line) = facts.body_line {
            function.body_line(line);
        }
        if facts.kernel == Some(true) {
            function.kernel();
        }
        if let Some(base) = base {
            function.stack_base(base)?;
        }
        if facts.stack.as_ref().and_then(|stack| stack.at_zero) == Some(true) {
            function.stack_at_zero();
        }
        if let Some(Word(scaling)) = facts.stack.and_then(|stack| stack.scaling) {
            function.scaling(scaling);
        }
        if let Some(Word(calls)) = facts.describes_calls {
            function.describes(calls);
        }
        if let Some(object) = object {
            function.object_pointer(object)?;
        }
        if let Some(loc) = frame_base {
            function.frame_base(&loc)?;
        }
        if let Some(loc) = static_link {
            function.static_link(&loc)?;
        }
        Ok(())
    }

    fn variable(&mut self, mut said: Variable<'a>, is_parameter: bool) -> Result<()> {
        let scope = self.scope(&said.r#in)?;
        let ty = self.ty(self.unit_of(scope), &said.r#type)?;
        let variable = match (is_parameter, said.declaration) {
            (true, None | Some(false)) => self.builder.parameter(scope, &said.name, ty)?.id(),
            (true, Some(true)) => return Err(Error::bad_argument("a parameter is no declaration")),
            (false, Some(true)) => self.builder.extern_variable(scope, &said.name, ty)?.id(),
            (false, _) => self.builder.variable(scope, &said.name, ty)?.id(),
        };
        self.names.variables.add(variable, said.id.as_ref(), None)?;
        self.variable_facts(variable, said.facts())
    }

    fn inlined_variable(&mut self, mut said: InlinedVariable<'a>) -> Result<()> {
        let scope = self.scope(&said.r#in)?;
        let origin = self.names.variables.find((), &said.origin)?;
        let variable = self.builder.inlined_variable(scope, origin)?.id();
        self.names.variables.add(variable, said.id.as_ref(), None)?;
        self.variable_facts(variable, said.facts())
    }

    fn constant(&mut self, said: Constant<'a>) -> Result<()> {
        let scope = self.scope(&said.r#in)?;
        let ty = self.ty(self.unit_of(scope), &said.r#type)?;
        let constant = self.builder.constant(scope, &said.name, ty, &said.value.0)?;
        self.names.variables.add(constant, said.id.as_ref(), None)?;
        let Constant { declared, artificial, external, memory_space, accessibility, linkage_name, .. } = said;
        self.variable_facts(
            constant,
            VariableFacts {
                declared,
                artificial,
                external,
                memory_space,
                accessibility,
                linkage_name,
                ..VariableFacts::default()
            },
        )
    }

    fn variable_facts(&mut self, id: VariableId, facts: VariableFacts<'a>) -> Result<()> {
        let unit = self.unit_of(self.builder.described().variable(id).scope);
        let declared = facts.declared.as_ref().map(|line| self.line(unit, line)).transpose()?;
        let mut variable = self.builder.describe_variable(id)?;
        facts.describe(&mut variable);
        if let Some(line) = declared {
            variable.declared_at(line);
        }
        if let Some(Bytes(value)) = facts.const_value {
            variable.const_value(&value)?;
        }
        if let Some(loc) = facts.always {
            let loc = self.loc(unit, &loc)?;
            self.builder.describe_variable(id)?.always(loc)?;
            let sought = self.seek(|blame| *blame == Blame::Always(id));
            self.of_key("always", sought)?;
        }
        if let Some(Later::Text(live)) = facts.live {
            self.part(live, |reader, json| lists::live(reader, id, unit, json))?;
        }
        Ok(())
    }

    fn macro_step(&mut self, unit: UnitId, step: MacroStep<'a>) -> Result<()> {
        match step {
            MacroStep::Define(line, text) => self.builder.macros(unit)?.define(line, &text).map(drop),
            MacroStep::Undefine(line, name) => self.builder.macros(unit)?.undefine(line, &name).map(drop),
            MacroStep::File(line, file) => {
                let file = self.file(unit, &file)?;
                self.builder.macros(unit)?.file(line, file).map(drop)
            }
            MacroStep::EndFile => self.builder.macros(unit)?.end_file().map(drop),
        }
    }

    pub fn unit(&self, unit: &Ref<'a>) -> Result<UnitId> {
        self.names.units.find((), unit)
    }

    pub fn scope(&self, scope: &Ref<'a>) -> Result<ScopeId> {
        self.names.scopes.find((), scope)
    }

    /// Resolves a reference to a function. Returns its unit too.
    pub fn function(&self, function: &Ref<'a>) -> Result<(FunctionId, UnitId)> {
        let scope = self.scope(function)?;
        match self.builder.described().scope(scope).kind {
            ScopeKind::Function(function) => Ok((function, self.unit_of(scope))),
            _ => Err(Error::bad_argument(format!("`{}` is no function", &**function))),
        }
    }

    pub fn unit_of(&self, scope: ScopeId) -> UnitId {
        self.builder.described().scope(scope).unit
    }

    pub fn file(&self, unit: UnitId, file: &Ref<'a>) -> Result<FileId> {
        self.names.files.find(unit, file)
    }

    pub fn line(&self, unit: UnitId, said: &Line<'a>) -> Result<SourceLine> {
        Ok(SourceLine { file: self.file(unit, &said.file)?, line: said.line, column: said.column })
    }

    /// Registers a function under its id, or else under its name, in its unit and as a scope. Returns its unit.
    fn named_function(
        &mut self,
        id: FunctionId,
        name_id: Option<&Text<'a>>,
        name: &Text<'a>,
    ) -> Result<UnitId> {
        let scope = self.builder.described().function(id).scope;
        let unit = self.unit_of(scope);
        self.names.functions.add(id, name_id, Some((unit, name)))?;
        self.names.scopes.add(scope, name_id, Some(((), name)))?;
        Ok(unit)
    }
}

/// Sets the address of a function's code.
fn code(function: &mut FunctionBuilder<'_>, said: &Code<'_>) -> Result<()> {
    match (&said.symbol, said.address, said.offset) {
        (Some(symbol), None, offset) => {
            function.code_behind(symbol, offset.map_or(0, |Number(offset)| offset), said.bytes.0);
        }
        (None, Some(Number(address)), None) => {
            function.address(Address::Constant(address), said.bytes.0);
        }
        _ => {
            let what = "code is at a `symbol`, with or without an `offset`, or at an `address`";
            return Err(Error::bad_argument(what));
        }
    }
    Ok(())
}

fn ranges(pcs: &[Pcs]) -> Vec<Range<u64>> {
    pcs.iter().map(|(Number(start), Number(end))| *start..*end).collect()
}

/// Reads a language: a number `DW_LANG_*`, or the name without the prefix.
fn language(language: &Named<'_>) -> Result<Language> {
    let all = || (0..=u16::MAX).map(Language);
    let (found, name) = match language {
        Named::Number(number) => (u16::try_from(*number).ok().map(Language), number.to_string()),
        Named::Text(name) => (all().find(|&known| language_name(known) == Some(&**name)), name.to_string()),
    };
    found.ok_or_else(|| {
        let nearest = crate::near::nearest(&name, all().filter_map(language_name));
        ErrorKind::UnknownName { of: error::Named::Language, name, nearest }.into()
    })
}

/// The name of a language, without the prefix.
pub(super) fn language_name(language: Language) -> Option<&'static str> {
    let known = gimli::DwLang(language.0).static_string().and_then(|name| name.strip_prefix("DW_LANG_"));
    // Languages newer than DWARF 5 have the names of the registry.
    known.or_else(|| NEWER.iter().find(|&&(newer, _)| newer == language).map(|&(_, name)| name))
}

const NEWER: &[(Language, &str)] = &[
    (Language::HIP, "HIP"),
    (Language::ASSEMBLY, "Assembly"),
    (Language::C_SHARP, "C_sharp"),
    (Language::MOJO, "Mojo"),
    (Language::GLSL, "GLSL"),
    (Language::GLSL_ES, "GLSL_ES"),
    (Language::HLSL, "HLSL"),
    (Language::OPENCL_CPP, "OpenCL_CPP"),
    (Language::CPP_FOR_OPENCL, "CPP_for_OpenCL"),
    (Language::SYCL, "SYCL"),
    (Language::METAL, "Metal"),
];
