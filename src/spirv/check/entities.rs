//! Functions and variables.

use super::described::{Projection, Properties};
use super::shapes::{Quoted, Shape, Typed, shape};
use crate::model::{Function, FunctionId, ScopeKind, SourceLine, VariableId, VariableKind};
use crate::omission::{Property, Subject, TemplateOwner};
use crate::spirv::mode::Feature;
use crate::spirv::words::Id;

impl Projection<'_> {
    pub(super) fn function_record(&mut self, id: FunctionId) {
        let module = self.module;
        let function = module.function(id);
        let declared = function.specification.map(|of| module.function(of));
        let mut all = Properties::new();
        let subject = Subject::Function(id);
        let result = self.pointee(Subject::Signature(id), function.returns);
        all.push((Property::Type, "result".into(), result));
        let mut parameters = self.parameters[id].clone();
        if let (true, Some(of)) = (parameters.is_empty(), function.specification) {
            parameters = self.parameters[of].clone();
        }
        for (index, parameter) in parameters.into_iter().enumerate() {
            let ty = self.ty(module.variable(parameter).ty);
            all.push((Property::Parameters, format!("type of parameter {index}").into(), ty));
        }
        let line = function.line.or_else(|| declared?.line);
        all.push((Property::Line, "line".into(), self.line(line, subject, Property::Line)));
        let is_external = function.is_external || declared.is_some_and(|of| of.is_external);
        self.yes(&mut all, is_external, (Property::External, "external"));
        let access = function.member.accessibility.or_else(|| declared?.member.accessibility);
        all.push((Property::Accessibility, "access".into(), self.access(access)));
        if declared.is_none() {
            for (name, _, has) in Function::SPIRV_FLAGS {
                self.yes(&mut all, has(function), (Property::Flag, name));
            }
        }
        // A function declaration has no further properties.
        let is_function = !function.is_declaration || self.is_method(id);
        // The body is in the file of the line.
        let body = line.map(|line| SourceLine { line: function.body_line, column: 0, ..line });
        if let Some(body) = self.omissions.line(subject, Property::BodyLine, body.filter(|_| is_function)) {
            all.push((
                Property::BodyLine,
                "line of the body".into(),
                shape!(self.shapes; u64::from(body.line)),
            ));
        }
        let has_code = !self.omissions.has(subject, Property::Code);
        if let Some(code) = self.binding.function_id(id).filter(|_| has_code) {
            all.push((Property::Code, "code".into(), shape!(self.shapes; u64::from(code.0))));
        }
        if let Some(of) = function.specification {
            let scope = self.scope(module.function(of).scope);
            all.push((Property::Definition, "declaration".into(), scope));
        }
        self.templates(TemplateOwner::Function(id), &function.templates, &mut all);
        let key = self.scope(function.scope);
        self.record(key, subject, &all, false);
    }

    /// The key of a variable: name and scope; for an instance also the inlined call.
    pub(super) fn variable_key(&mut self, id: VariableId) -> Shape {
        let module = self.module;
        let variable = module.variable(id);
        let name = Quoted(module.name_of(id).unwrap_or_default());
        let of = module.variable(module.first_origin(id)).scope;
        match self.call(variable.scope).filter(|_| variable.origin.is_some()) {
            Some(call) => {
                let (call, of) = (self.scope(call), self.scope(of));
                shape!(self.shapes; call, "instance of", of, "variable", name)
            }
            None => {
                let scope = self.scope(self.lexical(variable.scope));
                shape!(self.shapes; scope, "variable", name)
            }
        }
    }

    /// The key of a variable in code. A variable that is declared in an inlined call only is encoded as one of the
    /// function, and its declarations and values as those of an instance.
    pub(super) fn value_key(&mut self, id: VariableId) -> Shape {
        self.instance_key(id).unwrap_or_else(|| self.variable_key(id))
    }

    fn instance_key(&mut self, id: VariableId) -> Option<Shape> {
        let variable = self.module.variable(id);
        let call = self.call(variable.scope).filter(|_| variable.origin.is_none())?;
        let name = Quoted(self.module.name_of(id).unwrap_or_default());
        let (call, of) = (self.scope(call), self.scope(self.lexical(variable.scope)));
        Some(shape!(self.shapes; call, "instance of", of, "variable", name))
    }

    pub(super) fn variable_record(&mut self, id: VariableId) {
        let module = self.module;
        let variable = module.variable(id);
        let is_member = matches!(module.scope(variable.scope).kind, ScopeKind::Type(_));
        let mut all = Properties::new();
        let subject = Subject::Variable(id);
        if self.omissions.has(subject, Property::Entity) {
            return;
        }
        if variable.origin.is_some() && !self.mode.has(Feature::InlinedVariables) {
            return;
        }
        // The record of a declaration has the types of its parameters.
        let is_of_declaration =
            module.function_of(variable.scope).is_some_and(|function| self.is_only_declared(function));
        let has_type_only =
            module.name_of(id).is_none() && variable.line.is_none() && !variable.is_artificial;
        if is_of_declaration && has_type_only {
            return;
        }
        if variable.origin.is_none() {
            let declared = variable.specification.map(|of| module.variable(of));
            let (ty, _) = self.element(subject, variable.ty);
            if let Some(bits) = self.omissions.number(subject, Property::Size) {
                self.unimported_layout(module.name_of(id).unwrap_or_default(), 0, bits);
            }
            all.push((Property::Type, "type".into(), ty));
            let line = variable.line.or_else(|| declared?.line);
            all.push((Property::Line, "line".into(), self.line(line, subject, Property::Line)));
            self.yes(&mut all, variable.is_artificial, (Property::Artificial, "artificial"));
            let provider =
                self.binding.global_id(id).filter(|_| !self.omissions.has(subject, Property::Storage));
            let is_global = module.function_of(variable.scope).is_none() || provider.is_some();
            if is_member || is_global {
                all.push((Property::Accessibility, "access".into(), self.access(variable.accessibility)));
                let value = self.providers(id, provider);
                if let Some(value) = value {
                    all.push((Property::Value, "value".into(), value));
                }
            }
            if is_global && !is_member {
                let is_external = variable.is_external || declared.is_some_and(|of| of.is_external);
                self.yes(&mut all, is_external, (Property::External, "external"));
                let is_declaration =
                    variable.is_declaration && !self.omissions.has(subject, Property::Declaration);
                self.yes(&mut all, is_declaration, (Property::Declaration, "declaration"));
                let linkage = variable.linkage_name.or_else(|| declared?.linkage_name);
                let linkage = linkage.map(|linkage| module.string(linkage));
                if let Some(linkage) = linkage.filter(|&linkage| Some(linkage) != module.name_of(id)) {
                    all.push((
                        Property::LinkageName,
                        "linkage name".into(),
                        shape!(self.shapes; Quoted(linkage)),
                    ));
                }
                if let Some(of) = variable.specification.filter(|&of| module.is_static_member(of))
                    && !self.omissions.has(subject, Property::Definition)
                {
                    all.push((Property::Definition, "definition of".into(), self.variable_key(of)));
                }
            }
            if variable.kind == VariableKind::Parameter
                && !is_global
                && let ScopeKind::Function(function) = module.scope(variable.scope).kind
            {
                let place = self.parameters[function].iter().position(|&one| one == id);
                all.push((
                    Property::Parameter,
                    "parameter".into(),
                    shape!(self.shapes; place.unwrap_or_default() as u64),
                ));
                let is_object = module.function(function).object_pointer == Some(id);
                self.yes(&mut all, is_object, (Property::ObjectPointer, "object"));
            }
        }
        let key = self.variable_key(id);
        if let Some(instance) = self.instance_key(id)
            && self.mode.has(Feature::InlinedVariables)
            && self.in_code.contains(id)
        {
            self.record(instance, Subject::Variable(id), &Properties::new(), false);
        }
        self.record(key, Subject::Variable(id), &all, false);
    }

    /// The `OpVariable` of a variable, or its constant value.
    pub(super) fn providers(&mut self, id: VariableId, provider: Option<Id>) -> Option<Shape> {
        let variable = self.module.variable(id);
        let bits = self.module.ty(variable.ty).bits().unwrap_or(64).clamp(1, 64) as u32;
        let constant =
            provider.and_then(|provider| self.layout.constant(provider)).and_then(|constant| constant.value);
        match (provider, constant) {
            (Some(_), Some(number)) => Some(shape!(self.shapes; "number", number & u64::MAX >> (64 - bits))),
            (Some(provider), None) => Some(shape!(self.shapes; "id", u64::from(provider.0))),
            (None, _) if self.omissions.has(Subject::Variable(id), Property::Value) => None,
            (None, _) => {
                let bytes = self.module.always(id).and_then(|loc| self.module.constant(loc))?;
                Some(match self.integer(variable.ty, bytes) {
                    Some(number) => shape!(self.shapes; "number", number & u64::MAX >> (64 - bits)),
                    None => shape!(self.shapes; "bytes", Typed::Bytes(bytes.to_vec())),
                })
            }
        }
    }
}
