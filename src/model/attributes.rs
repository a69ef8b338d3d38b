//! Attributes without a field in an entity: vendors' attributes, and the standard's that few entities have. They are in
//! one list, so that they take no memory in the entities.

use gimli::DwAt;

use super::equality::{Canonical, Store};
use super::ids::{
    CallId, FunctionId, ImportId, LabelId, LocId, ScopeId, StringId, TypeId, UnitId, VariableId,
    VariantPartId,
};
use super::{Address, Module};

/// An entity with an entry, or a part of an entity with an entry of its own. Parts are counted from 0.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[non_exhaustive]
pub enum AttributeOwner {
    /// A unit.
    Unit(UnitId),
    /// A namespace, a block or an inlined call.
    Scope(ScopeId),
    /// An import.
    Import(ImportId),
    /// A label.
    Label(LabelId),
    /// A type.
    Type(TypeId),
    /// A type's base class.
    Base(TypeId, u32),
    /// A type's data member, outside variants.
    Member(TypeId, u32),
    /// A variant's data member: its part, and the indices of the variant and of the member.
    VariantMember(VariantPartId, u32, u32),
    /// A type's enumerator.
    Enumerator(TypeId, u32),
    /// An array's dimension.
    Dimension(TypeId, u32),
    /// A function type's parameter.
    Parameter(TypeId, u32),
    /// A type's template parameter, outside packs.
    TypeTemplate(TypeId, u32),
    /// A function.
    Function(FunctionId),
    /// A function's template parameter, outside packs.
    FunctionTemplate(FunctionId, u32),
    /// A variable, parameter or constant.
    Variable(VariableId),
    /// A call.
    Call(CallId),
    /// A call argument.
    Argument(CallId, u32),
}

macro_rules! owners { ($($id:ident $variant:ident;)*) => { $(
    impl From<$id> for AttributeOwner {
        fn from(id: $id) -> Self {
            Self::$variant(id)
        }
    }
)* } }
owners! {
    UnitId Unit;
    ScopeId Scope;
    ImportId Import;
    LabelId Label;
    TypeId Type;
    FunctionId Function;
    VariableId Variable;
    CallId Call;
}

impl AttributeOwner {
    /// The entity's own or enclosing scope.
    pub(crate) fn scope(self, module: &Module) -> ScopeId {
        match self {
            Self::Unit(id) => module.units[id].scope,
            Self::Scope(id) => id,
            Self::Import(id) => module.imports[id].scope,
            Self::Label(id) => module.labels[id].scope,
            Self::Type(id)
            | Self::Base(id, _)
            | Self::Member(id, _)
            | Self::Enumerator(id, _)
            | Self::Dimension(id, _)
            | Self::Parameter(id, _)
            | Self::TypeTemplate(id, _) => module.types[id].scope,
            Self::VariantMember(part, ..) => module.types[module.variant_parts[part].of].scope,
            Self::Function(id) | Self::FunctionTemplate(id, _) => module.functions[id].scope,
            Self::Variable(id) => module.variables[id].scope,
            Self::Call(id) | Self::Argument(id, _) => module.calls[id].scope,
        }
    }

    /// The type with the entry, or with the part that has the entry.
    pub(crate) fn ty(self, module: &Module) -> Option<TypeId> {
        match self {
            Self::VariantMember(part, ..) => Some(module.variant_parts[part].of),
            Self::Type(id)
            | Self::Base(id, _)
            | Self::Member(id, _)
            | Self::Enumerator(id, _)
            | Self::Dimension(id, _)
            | Self::Parameter(id, _)
            | Self::TypeTemplate(id, _) => Some(id),
            _ => None,
        }
    }
}

/// An attribute without a field in its entity.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct ExtraAttribute {
    /// The owner's unit.
    pub(crate) unit: UnitId,
    /// The entity or part whose entry has the attribute.
    pub owner: AttributeOwner,
    /// The attribute.
    pub name: DwAt,
    /// Its value.
    pub value: ExtraValue,
}

/// Value of an attribute without a field.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum ExtraValue {
    /// A flag that is set.
    Flag,
    /// An unsigned number.
    Unsigned(u64),
    /// A signed number.
    Signed(i64),
    /// A text.
    Text(StringId),
    /// A block of bytes.
    Bytes(Vec<u8>),
    /// An address.
    Address(Address),
    /// An expression for a location, or a [raw expression](super::Loc::expr).
    Location(LocId),
    /// An expression for a number: the location is a [value](super::Loc::value).
    Number(LocId),
    /// A type's entry.
    Type(TypeId),
    /// A function's entry.
    Function(FunctionId),
    /// A variable's entry.
    Variable(VariableId),
    /// The entry of a type's data member outside variants, by its index.
    Member(TypeId, u32),
}

impl ExtraValue {
    /// The location or number of an expression.
    pub(crate) fn loc(&self) -> Option<LocId> {
        match *self {
            Self::Location(loc) | Self::Number(loc) => Some(loc),
            _ => None,
        }
    }
}

/// Returns an owner's attributes.
pub(super) fn of_owner(module: &Module, owner: AttributeOwner) -> &[ExtraAttribute] {
    let key = (module.scopes[owner.scope(module)].unit, owner);
    let attributes = &module.lists.attributes;
    let first = attributes.partition_point(|attribute| (attribute.unit, attribute.owner) < key);
    let count = attributes[first..].partition_point(|attribute| attribute.owner == owner);
    &attributes[first..first + count]
}

impl Store for ExtraAttribute {
    fn store(&mut self, to: &mut Canonical<'_>) {
        self.unit.store(to);
        self.owner.store(to);
        match &mut self.value {
            ExtraValue::Text(text) => text.store(to),
            ExtraValue::Address(address) => address.store(to),
            ExtraValue::Location(loc) | ExtraValue::Number(loc) => loc.store(to),
            ExtraValue::Type(id) | ExtraValue::Member(id, _) => id.store(to),
            ExtraValue::Function(id) => id.store(to),
            ExtraValue::Variable(id) => id.store(to),
            ExtraValue::Flag | ExtraValue::Unsigned(_) | ExtraValue::Signed(_) | ExtraValue::Bytes(_) => {}
        }
    }
}

impl Store for AttributeOwner {
    fn store(&mut self, to: &mut Canonical<'_>) {
        match self {
            Self::Unit(id) => id.store(to),
            Self::Scope(id) => id.store(to),
            Self::Import(id) => id.store(to),
            Self::Label(id) => id.store(to),
            Self::Type(id)
            | Self::Base(id, _)
            | Self::Member(id, _)
            | Self::Enumerator(id, _)
            | Self::Dimension(id, _)
            | Self::Parameter(id, _)
            | Self::TypeTemplate(id, _) => id.store(to),
            Self::VariantMember(part, ..) => part.store(to),
            Self::Function(id) | Self::FunctionTemplate(id, _) => id.store(to),
            Self::Variable(id) => id.store(to),
            Self::Call(id) | Self::Argument(id, _) => id.store(to),
        }
    }
}
