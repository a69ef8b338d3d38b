//! Each statement to its calls of the builder.

use core::ops::Range;

use super::lists;
use super::loc::{In, Operand};
use super::read::Reader;
use super::statement::{
    BaseType, BitField, Code, Composite, Constant, Enumeration, FunctionFacts, InlinedVariable, Later,
    MacroStep, Member, Pcs, Ref, Statement, UnitFacts, Variable, VariableFacts,
};
use super::words::{Named, Number, Text, Word};
use crate::build::FunctionBuilder;
use crate::error::{Error, Result};
use crate::model::{
    Address, FileId, FunctionId, Loc, ScopeId, ScopeKind, SourceLine, TypeId, UnitId, VariableId,
};
use crate::target::SpaceId;

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
            Statement::Pointer(said) => {
                let unit = self.unit(&said.unit)?;
                let (to, space) = (self.maybe_type(unit, said.to.as_ref())?, said.space.as_ref());
                let space = space.map_or(Ok(SpaceId::DEFAULT), |space| self.space(space))?;
                let ty = self.builder.pointer_into(unit, to, space)?;
                self.named_type(ty, said.id.as_ref(), None)
            }
            Statement::Array(said) => {
                let unit = self.unit(&said.unit)?;
                let of = self.ty(unit, &said.of)?;
                let counts: Vec<_> =
                    said.counts.iter().map(|count| count.map(|Number(count)| count)).collect();
                let ty = self.builder.array(unit, of, &counts)?;
                self.named_type(ty, said.id.as_ref(), None)
            }
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
            Statement::Subroutine(said) => {
                let unit = self.unit(&said.unit)?;
                let returns = self.maybe_type(unit, said.returns.as_ref())?;
                let parameters = said.parameters.iter().map(|ty| self.ty(unit, ty));
                let parameters = parameters.collect::<Result<Vec<_>>>()?;
                let ty = self.builder.subroutine(unit, returns, &parameters)?;
                self.named_type(ty, said.id.as_ref(), None)
            }
            Statement::Structure(said) => self.composite(said, false),
            Statement::Union(said) => self.composite(said, true),
            Statement::Member(said) => self.member(said),
            Statement::BitField(said) => self.bit_field(said),
            Statement::Enumeration(said) => self.enumeration(said),
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
        let Constant { declared, artificial, external, .. } = said;
        self.variable_facts(
            constant,
            VariableFacts { declared, artificial, external, ..VariableFacts::default() },
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

    fn base_type(&mut self, said: BaseType<'a>) -> Result<()> {
        let unit = self.unit(&said.unit)?;
        let ty = self.builder.base_type(unit, &said.name, said.encoding.0, said.bits.0)?;
        self.named_type(ty, said.id.as_ref(), Some(&said.name))
    }

    fn composite(&mut self, said: Composite<'a>, is_union: bool) -> Result<()> {
        let (unit, name) = (self.unit(&said.unit)?, said.name.as_deref());
        let ty = match is_union {
            true => self.builder.union(unit, name, said.bytes.0)?,
            false => self.builder.structure(unit, name, said.bytes.0)?,
        };
        self.named_type(ty, said.id.as_ref(), said.name.as_ref())
    }

    fn member(&mut self, said: Member<'a>) -> Result<()> {
        let unit = self.unit(&said.unit)?;
        let (of, ty) = (self.ty(unit, &said.of)?, self.ty(unit, &said.r#type)?);
        let name = said.name.as_deref().unwrap_or_default();
        self.builder.member(of, name, ty, said.offset.0).map(drop)
    }

    fn bit_field(&mut self, said: BitField<'a>) -> Result<()> {
        let unit = self.unit(&said.unit)?;
        let (of, ty) = (self.ty(unit, &said.of)?, self.ty(unit, &said.r#type)?);
        let name = said.name.as_deref().unwrap_or_default();
        self.builder.bit_field(of, name, ty, said.offset_bits.0, said.bits.0).map(drop)
    }

    fn enumeration(&mut self, said: Enumeration<'a>) -> Result<()> {
        let unit = self.unit(&said.unit)?;
        let of = self.ty(unit, &said.of)?;
        let enumerators: Vec<(&str, i64)> =
            said.enumerators.iter().map(|(name, value)| (&**name, value.0)).collect();
        let ty = self.builder.enumeration(unit, said.name.as_deref(), of, &enumerators)?;
        self.named_type(ty, said.id.as_ref(), said.name.as_ref())
    }

    /// A location by itself.
    fn loc(&mut self, unit: UnitId, loc: &Later<'a>) -> Result<Loc> {
        let Later::Text(loc) = loc else { return Ok(Loc::undefined()) };
        self.part(loc, |reader, json| Loc::operand(&mut In::new(reader, unit), json))
    }

    fn unit(&self, unit: &Ref<'a>) -> Result<UnitId> {
        self.names.units.find((), unit)
    }

    fn scope(&self, scope: &Ref<'a>) -> Result<ScopeId> {
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

    fn declared(&self, unit: UnitId, (file, line): &(Ref<'a>, u32)) -> Result<(FileId, u32)> {
        Ok((self.file(unit, file)?, *line))
    }

    pub fn ty(&self, unit: UnitId, ty: &Ref<'a>) -> Result<TypeId> {
        self.names.types.find(unit, ty)
    }

    fn maybe_type(&self, unit: UnitId, ty: Option<&Ref<'a>>) -> Result<Option<TypeId>> {
        ty.map(|ty| self.ty(unit, ty)).transpose()
    }

    fn named_type(&mut self, ty: TypeId, id: Option<&Text<'a>>, name: Option<&Text<'a>>) -> Result<()> {
        let unit = self.builder.described().ty(ty).unit();
        self.names.types.add(ty, id, name.map(|name| (unit, name)))
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
