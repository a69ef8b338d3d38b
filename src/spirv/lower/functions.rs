//! Functions and declarations of functions: section 4.6.

use smallvec::SmallVec;

use super::composites::access;
use super::entities::{Globals, Operands};
use super::inverse::line_of;
use super::order::Item;
use super::writer::Word;
use crate::error::Result;
use crate::model::{Function, FunctionId, SourceLine, VariableId};
use crate::omission::{Property, Reason, Subject};
use crate::spirv::names::flags;
use crate::spirv::operand::Field;
use crate::spirv::table::Name;

impl Globals<'_, '_, '_> {
    /// Writes the type of a function.
    pub(super) fn function_type(&mut self, id: FunctionId) -> Result<()> {
        let module = self.module;
        let parameters = self.parameters(id).iter().map(|&id| Some(module.variables[id].ty));
        let parameters: SmallVec<[_; 8]> = parameters.collect();
        let result =
            self.signature(None, module.functions[id].returns, &parameters, Subject::Signature(id))?;
        self.slots.function_types[id].id = Some(result);
        Ok(())
    }

    /// Parameters of a function; a definition without parameters has those of its declaration.
    pub(super) fn parameters(&self, id: FunctionId) -> &[VariableId] {
        let parameters = self.described.relations.parameters(id);
        match self.module.functions[id].specification {
            Some(declaration) if parameters.is_empty() => self.described.relations.parameters(declaration),
            _ => parameters,
        }
    }

    /// Line of a function; a definition without a line has that of its declaration.
    pub(super) fn line_of(&self, id: FunctionId) -> Option<SourceLine> {
        line_of(self.module, id)
    }

    /// Writes a function, or the declaration of one.
    pub(super) fn function(&mut self, id: FunctionId) -> Result<()> {
        let module = self.module;
        let function = &module.functions[id];
        let unit_id = module.scopes[function.scope].unit;
        let unit = &module.units[unit_id];
        let subject = Subject::Function(id);
        let has_body = self.described.relations.has_body(id);
        let mut operands = Operands::new();
        operands.push((Field::Name, self.name(Some(function.name))?));
        let ty = self.id(Item::FunctionType(id))?;
        operands.push((Field::Type, ty.into()));
        operands.extend(self.place(self.line_of(id), unit_id, subject, Property::Line));
        operands.push((Field::Scope, self.scope(self.parent(function.scope), subject)?));
        self.omit_inlined(self.parent(function.scope), subject);
        let declared = function.specification.map(|declared| &module.functions[declared]);
        let linkage_name = function.linkage_name.or_else(|| declared?.linkage_name);
        operands.push((Field::LinkageName, self.name(linkage_name)?));
        let is = |is: bool, flag: u32| if is { flag } else { 0 };
        let accessibility = function.member.accessibility.or_else(|| declared?.member.accessibility);
        let is_external = function.is_external || declared.is_some_and(|declared| declared.is_external);
        let flags = access(accessibility)
            | is(!is_external, flags::LOCAL)
            | is(!function.is_declaration, flags::DEFINITION)
            | Function::SPIRV_FLAGS.iter().fold(0, |all, (_, flag, has)| all | is(has(function), *flag))
            | is(unit.has_prototypes(), flags::PROTOTYPED)
            | is(unit.is_optimized && !function.is_declaration, flags::OPTIMIZED);
        operands.push((Field::Flags, flags.into()));
        let result = self.id(Item::Function(id))?;
        if !has_body {
            return self.writer.define(result, Name::FunctionDeclaration, &operands);
        }
        // The body is in the file of the declaration, and without a line where the declaration has a line beyond the text.
        let body = self.line_of(id).map(|line| {
            let is_beyond = line.line != 0 && self.described.texts.fit(line).0.line == 0;
            let number = if is_beyond && function.body_line != 0 { line.line } else { function.body_line };
            SourceLine { line: number, column: 0, ..line }
        });
        let [_, (_, line), _] = self.place(body, unit_id, subject, Property::BodyLine);
        operands.push((Field::ScopeLine, line));
        let code = match self.described.binding.function_id(id) {
            Some(code) => code.into(),
            // `NonSemantic.Shader.DebugInfo` lacks this operand.
            None if self.writer.is_shader() => Word::Number(0),
            None => self.none()?,
        };
        operands.push((Field::Function, code));
        if let Some(declaration) = function.specification
            && !self.described.relations.has_body(declaration)
        {
            operands.push((Field::Declaration, self.id(Item::Function(declaration))?.into()));
        }
        self.writer.define(result, Name::Function, &operands)
    }

    /// Lists the properties of a function that neither set has an operand for.
    pub(super) fn omit_of_function(&mut self, id: FunctionId) {
        let module = self.module;
        let function = &module.functions[id];
        let member = &function.member;
        let has_body = self.described.relations.has_body(id);
        let is_bound = self.described.binding.function_id(id).is_some();
        // The property of a declaration applies to its definition, and the code to both.
        let is_kernel =
            [Some(id), function.specification].iter().flatten().any(|&id| module.functions[id].is_kernel);
        let is_entered = self.described.entry_points.contains(&id);
        let has_frame =
            function.frame_base.is_some() || function.frame_extent.is_some() || !module.frame(id).is_empty();
        let is_object = |object| !has_body || self.is_global(object);
        let has_object = function.object_pointer.is_some_and(is_object);
        let has_lanes = function.lanes.is_described || !function.lanes.regions.is_empty();
        use Property as P;
        use Reason::{EntryPoint, NoOperand, NotEntryPoint, OfDefinition};
        let all = [
            (is_kernel && !is_entered, P::Kernel, &NotEntryPoint),
            (is_entered && is_bound && !is_kernel, P::NotKernel, &EntryPoint),
            (!has_body && is_bound, P::Code, &OfDefinition),
            (!has_body && function.body_line != 0, P::BodyLine, &NoOperand),
            (has_object, P::ObjectPointer, &NoOperand),
            (function.is_variadic, P::Variadic, &NoOperand),
            (function.is_noreturn, P::NoReturn, &NoOperand),
            (function.is_main, P::Main, &NoOperand),
            (function.is_declared_inline, P::DeclaredInline, &NoOperand),
            (function.convention.is_some(), P::Convention, &NoOperand),
            (member.virtuality.is_some(), P::Virtuality, &NoOperand),
            (member.is_deleted, P::Deleted, &NoOperand),
            (member.defaulted.is_some(), P::Defaulted, &NoOperand),
            (has_frame, P::Frame, &NoOperand),
            (function.static_link.is_some(), P::StaticLink, &NoOperand),
            (function.calls.is_some(), P::DescribedCalls, &NoOperand),
            (has_lanes, P::Lanes, &NoOperand),
        ];
        self.omit_all(Subject::Function(id), &all);
    }
}
