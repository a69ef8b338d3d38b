//! Each statement to its calls of the builder.

use core::ops::Range;

use super::lists;
use super::read::Reader;
use super::statement::{
    Code, Constant, FunctionFacts, InlinedVariable, Later, MacroStep, Pcs, Ref, Statement, UnitFacts,
    Variable, VariableFacts,
};
use super::words::{Named, Number, Word};
use crate::build::FunctionBuilder;
use crate::error::{Error, Result};
use crate::model::{
    Address, CompositeKind, FileId, FunctionId, ScopeId, ScopeKind, SourceLine, UnitId, VariableId,
};

impl<'a> Reader<'a> {
    /// Makes the calls that a statement stands for.
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
                let scope = self.builder.namespace(parent, &said.name)?;
                self.names.scopes.add(scope, said.id.as_ref(), Some(((), &said.name)))
            }
            Statement::Function(mut said) => {
                let parent = self.scope(&said.r#in)?;
                let function = self.builder.function(parent, &said.name)?.id();
                let scope = self.builder.described().function(function).scope;
                let unit = self.unit_of(scope);
                self.names.functions.add(function, said.id.as_ref(), Some((unit, &said.name)))?;
                self.names.scopes.add(scope, said.id.as_ref(), Some(((), &said.name)))?;
                self.function_facts(function, unit, said.facts())
            }
            Statement::DescribeFunction(mut said) => {
                let (function, unit) = self.function(&said.function)?;
                self.function_facts(function, unit, said.facts())
            }
            Statement::Block(said) => {
                let parent = self.scope(&said.r#in)?;
                let scope = self.builder.block(parent, &ranges(&said.pcs))?;
                self.names.scopes.add(scope, said.id.as_ref(), None)
            }
            Statement::Inlined(said) => {
                let parent = self.scope(&said.r#in)?;
                let unit = self.unit_of(parent);
                let function = self.names.functions.find(unit, &said.function)?;
                let (file, line, column) = &said.call;
                let call = SourceLine { file: self.file(unit, file)?, line: *line, column: *column };
                let scope = self.builder.inlined(parent, function, &ranges(&said.pcs), call)?;
                self.names.scopes.add(scope, said.id.as_ref(), None)
            }
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
            Statement::Macros(said) => {
                let unit = self.unit(&said.unit)?;
                said.macros.into_iter().try_for_each(|step| self.macro_step(unit, step))
            }
            Statement::BaseType(said) => self.base_type(said),
            Statement::Pointer(said) => self.pointer(said),
            Statement::Array(said) => self.array(said),
            Statement::Vector(said) => {
                let unit = self.unit(&said.unit)?;
                let of = self.ty(unit, &said.of)?;
                let ty = self.builder.vector(unit, of, said.count.0)?;
                self.named_type(ty, said.id.as_ref(), None)
            }
            Statement::Typedef(said) => {
                let unit = self.unit(&said.unit)?;
                let of = self.maybe_type(unit, said.of.as_ref())?;
                let ty = self.builder.typedef(unit, &said.name, of)?;
                self.named_type(ty, said.id.as_ref(), Some(&said.name))
            }
            Statement::Qualified(said) => {
                let unit = self.unit(&said.unit)?;
                let of = self.maybe_type(unit, said.of.as_ref())?;
                let ty = self.builder.qualified(unit, said.qualifier.0, of)?;
                self.named_type(ty, said.id.as_ref(), None)
            }
            Statement::UnspecifiedType(said) => {
                let unit = self.unit(&said.unit)?;
                let ty = self.builder.unspecified_type(unit, &said.name)?;
                self.named_type(ty, said.id.as_ref(), Some(&said.name))
            }
            Statement::Subroutine(said) => self.subroutine(said),
            Statement::MemberPointer(said) => self.member_pointer(said),
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
        let mut unit = self.builder.describe_unit(unit)?;
        if let Some(directory) = facts.directory {
            unit.directory(&directory);
        }
        if let Some(producer) = facts.producer {
            unit.producer(&producer);
        }
        if let Some(language) = facts.language {
            unit.language(self::language(&language)?);
        }
        Ok(())
    }

    fn function_facts(&mut self, function: FunctionId, unit: UnitId, facts: FunctionFacts<'a>) -> Result<()> {
        // What is referred to is looked up before the builder is lent to the function.
        let code = facts.code.map(|code| self.code(&code)).transpose()?;
        let returns = self.maybe_type(unit, facts.returns.as_ref())?;
        let declared = facts.declared.map(|line| self.declared(unit, &line)).transpose()?;
        let base = facts.stack.as_ref().and_then(|stack| stack.base.as_ref());
        let base = base.map(|base| self.register(base)).transpose()?;
        let mut function: FunctionBuilder<'_> = self.builder.describe_function(function)?;
        if let Some((address, bytes)) = code {
            function.address(address, bytes);
        }
        if let Some(name) = facts.linkage_name {
            function.linkage_name(&name);
        }
        if let Some(returns) = returns {
            function.returns(returns)?;
        }
        if let Some((file, line)) = declared {
            function.declared(file, line);
        }
        if facts.external == Some(true) {
            function.external();
        }
        if facts.kernel == Some(true) {
            function.kernel();
        }
        if let Some(base) = base {
            function.stack_base(base)?;
        }
        if let Some(Word(scaling)) = facts.stack.and_then(|stack| stack.scaling) {
            function.scaling(scaling);
        }
        Ok(())
    }

    fn code(&mut self, code: &Code<'a>) -> Result<(Address, u64)> {
        let address = match (&code.symbol, code.address) {
            (Some(symbol), None) => {
                let offset = code.offset.map_or(0, |Number(offset)| offset);
                Address::Symbol(self.builder.symbol(symbol), offset)
            }
            (None, Some(Number(address))) if code.offset.is_none() => Address::Constant(address),
            _ => {
                return Err(Error::bad_argument(
                    "code is at a `symbol`, with or without an `offset`, or at an `address`",
                ));
            }
        };
        Ok((address, code.bytes.0))
    }

    fn variable(&mut self, mut said: Variable<'a>, is_parameter: bool) -> Result<()> {
        let scope = self.scope(&said.r#in)?;
        let ty = self.ty(self.unit_of(scope), &said.r#type)?;
        let variable = match is_parameter {
            true => self.builder.parameter(scope, &said.name, ty)?.id(),
            false => self.builder.variable(scope, &said.name, ty)?.id(),
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
        let Constant { declared, artificial, external, memory_space, accessibility, .. } = said;
        self.variable_facts(
            constant,
            VariableFacts {
                declared,
                artificial,
                external,
                memory_space,
                accessibility,
                ..VariableFacts::default()
            },
        )
    }

    fn variable_facts(&mut self, id: VariableId, facts: VariableFacts<'a>) -> Result<()> {
        let unit = self.unit_of(self.builder.described().variable(id).scope);
        let declared = facts.declared.map(|line| self.declared(unit, &line)).transpose()?;
        let mut variable = self.builder.describe_variable(id)?;
        if let Some((file, line)) = declared {
            variable.declared(file, line);
        }
        if facts.artificial == Some(true) {
            variable.artificial();
        }
        if facts.external == Some(true) {
            variable.external();
        }
        if let Some(Word(memory)) = facts.memory_space {
            variable.memory_space(memory);
        }
        if let Some(Word(accessibility)) = facts.accessibility {
            variable.accessibility(accessibility);
        }
        if let Some(loc) = facts.always {
            let loc = self.loc(unit, &loc)?;
            self.builder.describe_variable(id)?.always(loc)?;
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

    /// A function, wherever it is, and its unit.
    fn function(&self, function: &Ref<'a>) -> Result<(FunctionId, UnitId)> {
        let scope = self.scope(function)?;
        match self.builder.described().scope(scope).kind {
            ScopeKind::Function(function) => Ok((function, self.unit_of(scope))),
            _ => Err(Error::bad_argument(format!("`{}` is no function", &**function))),
        }
    }

    fn unit_of(&self, scope: ScopeId) -> UnitId {
        self.builder.described().scope(scope).unit
    }

    pub fn file(&self, unit: UnitId, file: &Ref<'a>) -> Result<FileId> {
        self.names.files.find(unit, file)
    }

    pub fn declared(&self, unit: UnitId, (file, line): &(Ref<'a>, u32)) -> Result<(FileId, u32)> {
        Ok((self.file(unit, file)?, *line))
    }
}

fn ranges(pcs: &[Pcs]) -> Vec<Range<u64>> {
    pcs.iter().map(|(Number(start), Number(end))| *start..*end).collect()
}

/// A number `DW_LANG_*`, or the name after that.
fn language(language: &Named<'_>) -> Result<u16> {
    let found = match language {
        Named::Number(number) => u16::try_from(*number).ok(),
        Named::Text(name) => (0..=u16::MAX).find(|&number| language_name(number) == Some(&**name)),
    };
    let shown = || match language {
        Named::Number(number) => number.to_string(),
        Named::Text(name) => name.to_string(),
    };
    found.ok_or_else(|| Error::bad_argument(format!("no language is `DW_LANG_{}`", shown())))
}

/// The name of a language, without the prefix.
pub(super) fn language_name(number: u16) -> Option<&'static str> {
    gimli::DwLang(number).static_string()?.strip_prefix("DW_LANG_")
}
