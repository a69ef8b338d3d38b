//! Statements for entities that have several forms: the form depends on what the entity is.

use super::functions::{Function, FunctionDefinition, FunctionFacts, FunctionInstance};
use super::ids::Known;
use super::statement::Statement;
use super::types::{
    Array, BaseType, Class, CooperativeMatrix, Enumeration, Incomplete, Matrix, MemberPointer, Pointer,
    Qualified, SetType, StringType, Structure, SubrangeType, Subroutine, Typedef, Union, UnspecifiedType,
    Vector,
};
use super::units::{Block, Inlined, InlinedBlock, Namespace, pairs};
use super::values::{Integer, Number, Text};
use super::variables::{Constant, Definition, InlinedVariable, Parameter, Variable, VariableFacts};
use super::words::{EncodingWord, Word};
use crate::model::{
    CompositeKind, CompositeType, FunctionId, NamespaceKind, PointerKind, ScopeId, ScopeKind, TypeId,
    TypeKind, VariableId, VariableKind,
};
use crate::target::SpaceId;

/// Returns the statement for a namespace, block or inlined call; `None` for a scope that belongs to another entity.
pub(super) fn scope<'m>(known: &'m Known<'m>, id: ScopeId, parent: ScopeId) -> Option<Statement<'m>> {
    let scope = known.module.scope(id);
    let within = known.scope_ref(parent);
    let name_id = known.scope_id(id);
    let pcs = || pairs(known.module.ranges(id));
    Some(match (&scope.kind, scope.origin) {
        (ScopeKind::Unit | ScopeKind::Function(_) | ScopeKind::Type(_), _) => return None,
        (&ScopeKind::Namespace { name, kind }, _) => Statement::Namespace(Namespace {
            name: name.map(|name| known.text(name)),
            inline: kind.is_inline().then_some(true),
            kind: match (name, kind) {
                (_, NamespaceKind::Inline) | (Some(_), NamespaceKind::Namespace) => None,
                (_, kind) => Some(Word(kind)),
            },
            id: name_id,
            ..Namespace::new(within)
        }),
        (ScopeKind::Block, None) => Statement::Block(Block { id: name_id, ..Block::new(within, pcs()) }),
        (ScopeKind::Block, Some(origin)) => {
            let origin = known.scope_ref(origin);
            Statement::InlinedBlock(InlinedBlock { id: name_id, ..InlinedBlock::new(within, origin, pcs()) })
        }
        (&ScopeKind::Inlined { function, call }, _) => {
            let function = known.function_ref(function);
            let json = Inlined::new(within, function, pcs(), known.line(call));
            Statement::Inlined(Inlined { id: name_id, ..json })
        }
    })
}

/// Returns the statement for a function or definition.
pub(super) fn function<'m>(
    known: &'m Known<'m>,
    id: FunctionId,
    parent: ScopeId,
    facts: FunctionFacts<'m>,
) -> Statement<'m> {
    let function = known.module.function(id);
    let within = known.scope_ref(parent);
    let name_id = known.scope_id(function.scope);
    match (function.origin, function.specification) {
        (Some(origin), _) => {
            let json = FunctionInstance::new(within, known.function_ref(origin)).with(facts);
            Statement::FunctionInstance(FunctionInstance { id: name_id, ..json })
        }
        (None, Some(declaration)) => {
            let json = FunctionDefinition::new(within, known.function_ref(declaration)).with(facts);
            Statement::FunctionDefinition(FunctionDefinition { id: name_id, ..json })
        }
        (None, None) => {
            let declaration = function.is_declaration.then_some(true);
            let json = Function::new(within, known.text(function.name)).with(facts);
            Statement::Function(Function { declaration, id: name_id, ..json })
        }
    }
}

/// Returns the statement for a variable, parameter or constant.
pub(super) fn variable<'m>(
    known: &'m Known<'m>,
    id: VariableId,
    name_id: Option<Text<'m>>,
    mut facts: VariableFacts<'m>,
) -> Statement<'m> {
    let variable = known.module.variable(id);
    let within = known.scope_ref(variable.scope);
    let completed_type =
        |completed| (known.module.variable(completed).ty != variable.ty).then(|| known.type_ref(variable.ty));
    if let Some(origin) = variable.origin {
        let json = InlinedVariable::new(within, known.variable_ref(origin)).with(facts);
        let r#type = completed_type(origin);
        return Statement::InlinedVariable(InlinedVariable { r#type, id: name_id, ..json });
    }
    if let Some(member) = variable.specification {
        let json = Definition::new(within, known.variable_ref(member)).with(facts);
        let r#type = completed_type(member);
        return Statement::Definition(Definition { r#type, id: name_id, ..json });
    }
    let name = variable.name.map_or("".into(), |name| known.text(name));
    let ty = known.type_ref(variable.ty);
    match variable.kind {
        VariableKind::Constant => {
            let value = facts.const_value.take();
            let json = Constant::new(within, name, ty).with(facts);
            Statement::Constant(Constant { value, id: name_id, ..json })
        }
        VariableKind::Parameter => {
            let json = Parameter::new(within, name, ty).with(facts);
            Statement::Parameter(Parameter { id: name_id, ..json })
        }
        VariableKind::Variable => {
            let declaration = variable.is_declaration.then_some(true);
            let json = Variable::new(within, name, ty).with(facts);
            Statement::Variable(Variable { declaration, id: name_id, ..json })
        }
    }
}

/// Returns the statement for a type.
pub(super) fn ty<'m>(known: &'m Known<'m>, id: TypeId) -> Statement<'m> {
    let ty = known.module.ty(id);
    let unit = known.unit_ref(ty.unit());
    let id = known.type_id(id);
    let bits = ty.bits().unwrap_or(0);
    let reference = |ty| known.type_ref(ty);
    let text = |string| known.text(string);
    match ty.kind() {
        &TypeKind::Base { name, encoding } => {
            let json = BaseType::new(unit, text(name), EncodingWord(encoding), Number(bits));
            Statement::BaseType(BaseType { id, ..json })
        }
        &TypeKind::MemberPointer { class, to } => {
            let json = MemberPointer::new(unit, reference(class), reference(to));
            Statement::MemberPointer(MemberPointer { id, ..json })
        }
        &TypeKind::Unspecified { name } => {
            Statement::UnspecifiedType(UnspecifiedType { id, ..UnspecifiedType::new(unit, text(name)) })
        }
        &TypeKind::String { name } => Statement::StringType(StringType {
            name: name.map(text),
            bytes: ty.bits().map(|bits| Number(bits / 8)),
            id,
            ..StringType::new(unit)
        }),
        &TypeKind::Subrange { name, of } => Statement::SubrangeType(SubrangeType {
            name: name.map(text),
            of: of.map(reference),
            bits: ty.bits().filter(|_| known.module.has_stated_size(ty)).map(Number),
            id,
            ..SubrangeType::new(unit)
        }),
        &TypeKind::Set { name, of } => Statement::SetType(SetType {
            name: name.map(text),
            of: of.map(reference),
            bits: ty.bits().map(Number),
            id,
            ..SetType::new(unit)
        }),
        TypeKind::Array { of, dimensions, stride_bits } => {
            let json = Array::new(unit, reference(*of)).dimensions(known, dimensions);
            Statement::Array(Array { stride_bits: stride_bits.map(Number), id, ..json })
        }
        &TypeKind::Vector { of, count, is_packed } => {
            let json = Vector::new(unit, reference(of), Number(count));
            Statement::Vector(Vector { packed: is_packed.then_some(true), id, ..json })
        }
        &TypeKind::Matrix { of, count, is_column_major, stride_bits } => Statement::Matrix(Matrix {
            column_major: is_column_major.then_some(true),
            stride_bits: stride_bits.map(Number),
            id,
            ..Matrix::new(unit, reference(of), Number(count))
        }),
        &TypeKind::CooperativeMatrix { of, scope, rows, columns, usage } => {
            let json = CooperativeMatrix::new(unit, reference(of), scope, rows, columns, usage);
            Statement::CooperativeMatrix(CooperativeMatrix { id, ..json })
        }
        &TypeKind::Typedef { name, of } => {
            Statement::Typedef(Typedef { of: of.map(reference), id, ..Typedef::new(unit, text(name)) })
        }
        &TypeKind::Qualified { qualifier, of } => {
            let json = Qualified::new(unit, Word(qualifier));
            Statement::Qualified(Qualified { of: of.map(reference), id, ..json })
        }
        TypeKind::Subroutine { returns, parameters, is_variadic } => {
            let parameters = parameters.iter().map(|&ty| reference(ty)).collect();
            let returns = returns.map(reference);
            let variadic = is_variadic.then_some(true);
            Statement::Subroutine(Subroutine { returns, variadic, id, ..Subroutine::new(unit, parameters) })
        }
        &TypeKind::Pointer { kind, to, space, memory } => Statement::Pointer(Pointer {
            to: to.map(reference),
            kind: Some(Word(kind)).filter(|&Word(kind)| kind != PointerKind::default()),
            space: (space != SpaceId::DEFAULT).then(|| known.space(space)),
            memory_space: memory.map(Word),
            id,
            ..Pointer::new(unit)
        }),
        TypeKind::Composite(composite) if ty.is_declaration() => {
            let name = composite.name.map_or("".into(), text);
            Statement::Incomplete(Incomplete { id, ..Incomplete::new(unit, Word(composite.kind), name) })
        }
        &TypeKind::Composite(CompositeType { kind, name, .. }) => {
            let name = name.map(text);
            let bytes = ty.bits().map(|bits| Number(bits / 8));
            match kind {
                CompositeKind::Struct => {
                    Statement::Structure(Structure { bytes, name, id, ..Structure::new(unit) })
                }
                CompositeKind::Class => Statement::Class(Class { bytes, name, id, ..Class::new(unit) }),
                CompositeKind::Union => Statement::Union(Union { bytes, name, id, ..Union::new(unit) }),
            }
        }
        TypeKind::Enum { name, of, enumerators, is_class } => {
            let enumerators = enumerators.iter().map(|&(name, value)| (text(name), Integer(value))).collect();
            Statement::Enumeration(Enumeration {
                of: of.map(reference),
                bytes: of.is_none().then_some(Number(bits / 8)),
                name: name.map(text),
                class: is_class.then_some(true),
                id,
                ..Enumeration::new(unit, enumerators)
            })
        }
    }
}
