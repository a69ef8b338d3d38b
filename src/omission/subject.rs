//! Omission subjects: model entities, parts of entities, and instructions.

use crate::error::At;
use crate::model::{
    AttributeOwner, CallId, Column, FileId, FunctionId, ImportId, LabelId, Module, ProcedureId, ScopeId,
    TypeId, UnitId, VariableId, VariantPartId,
};

/// Entity, or part of an entity, that an omission concerns. Parts are counted from 0.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[non_exhaustive]
pub enum Subject {
    /// The module as a whole.
    Module,
    /// A unit.
    Unit(UnitId),
    /// A file.
    File(FileId),
    /// A unit's macro entry.
    Macro(UnitId, u32),
    /// A namespace, block or inlined call; for lane properties also a function's scope.
    Scope(ScopeId),
    /// An import.
    Import(ImportId),
    /// A label.
    Label(LabelId),
    /// A type.
    Type(TypeId),
    /// A type's base class.
    Base(TypeId, u32),
    /// A type's data member.
    Member(TypeId, u32),
    /// A variant's data member: its part, and the indices of the variant and of the member.
    VariantMember(VariantPartId, u32, u32),
    /// A type's enumerator.
    Enumerator(TypeId, u32),
    /// An array's dimension, or the only dimension of a vector or matrix.
    Dimension(TypeId, u32),
    /// A function type's parameter.
    Parameter(TypeId, u32),
    /// A template parameter, and the index in its pack for one in a pack.
    TemplateParameter(TemplateOwner, u32, Option<u32>),
    /// A function.
    Function(FunctionId),
    /// A function's type.
    Signature(FunctionId),
    /// A rule in a function's frame.
    Rule(FunctionId, Column),
    /// A variable.
    Variable(VariableId),
    /// An entry among the [binding's providers](crate::spirv::Binding::providers).
    Provider(VariableId, u32),
    /// A call.
    Call(CallId),
    /// A call argument.
    Argument(CallId, u32),
    /// A procedure, which expressions call.
    Procedure(ProcedureId),
    /// A SPIR-V module's debug instruction, by its id; 0 for words that are not a debug instruction.
    Instruction(u32),
}

/// A template instance.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[non_exhaustive]
pub enum TemplateOwner {
    /// A type.
    Type(TypeId),
    /// A function.
    Function(FunctionId),
}

impl From<AttributeOwner> for Subject {
    fn from(owner: AttributeOwner) -> Self {
        match owner {
            AttributeOwner::Unit(id) => Self::Unit(id),
            AttributeOwner::Scope(id) => Self::Scope(id),
            AttributeOwner::Import(id) => Self::Import(id),
            AttributeOwner::Label(id) => Self::Label(id),
            AttributeOwner::Type(id) => Self::Type(id),
            AttributeOwner::Base(id, index) => Self::Base(id, index),
            AttributeOwner::Member(id, index) => Self::Member(id, index),
            AttributeOwner::VariantMember(part, variant, index) => Self::VariantMember(part, variant, index),
            AttributeOwner::Enumerator(id, index) => Self::Enumerator(id, index),
            AttributeOwner::Dimension(id, index) => Self::Dimension(id, index),
            AttributeOwner::Parameter(id, index) => Self::Parameter(id, index),
            AttributeOwner::TypeTemplate(id, index) => {
                Self::TemplateParameter(TemplateOwner::Type(id), index, None)
            }
            AttributeOwner::Function(id) => Self::Function(id),
            AttributeOwner::FunctionTemplate(id, index) => {
                Self::TemplateParameter(TemplateOwner::Function(id), index, None)
            }
            AttributeOwner::Variable(id) => Self::Variable(id),
            AttributeOwner::Call(id) => Self::Call(id),
            AttributeOwner::Argument(id, index) => Self::Argument(id, index),
        }
    }
}

impl Subject {
    /// The entity's own or enclosing scope; `None` for the module and for instructions.
    pub(crate) fn scope(&self, module: &Module) -> Option<ScopeId> {
        Some(match *self {
            Self::Module | Self::Instruction(_) => return None,
            Self::Unit(id) | Self::Macro(id, _) => module.units[id].scope,
            Self::File(id) => module.units[module.files[id].unit].scope,
            Self::Scope(id) => id,
            Self::Import(id) => module.imports[id].scope,
            Self::Label(id) => module.labels[id].scope,
            Self::Type(id)
            | Self::Base(id, _)
            | Self::Member(id, _)
            | Self::Enumerator(id, _)
            | Self::Dimension(id, _)
            | Self::Parameter(id, _)
            | Self::TemplateParameter(TemplateOwner::Type(id), ..) => module.types[id].scope,
            Self::VariantMember(part, ..) => module.types[module.variant_parts[part].of].scope,
            Self::Function(id)
            | Self::Signature(id)
            | Self::Rule(id, _)
            | Self::TemplateParameter(TemplateOwner::Function(id), ..) => module.functions[id].scope,
            Self::Variable(id) | Self::Provider(id, _) => module.variables[id].scope,
            Self::Call(id) | Self::Argument(id, _) => module.calls[id].scope,
            Self::Procedure(id) => module.units[module.procedures[id].unit].scope,
        })
    }

    /// Returns the enclosing entities' names, for messages.
    pub(crate) fn at(&self, module: &Module) -> At {
        match *self {
            Self::Variable(id) | Self::Provider(id, _) => module.at_variable(id, None),
            Self::Procedure(id) => module.at_procedure(id),
            _ => self.scope(module).map(|scope| module.at_scope(scope)).unwrap_or_default(),
        }
    }
}
