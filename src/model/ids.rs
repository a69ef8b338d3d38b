//! The ids of entities: small numbers, one type for each kind of entity.

use cranelift_entity::entity_impl;

macro_rules! ids { ($($(#[$doc:meta])* $name:ident $prefix:literal;)*) => { $(
    $(#[$doc])*
    #[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
    pub struct $name(u32);
    entity_impl!($name, $prefix);
)* } }

ids! {
    /// A compilation unit.
    UnitId "unit";
    /// A source file of a unit.
    FileId "file";
    /// A type.
    TypeId "type";
    /// A part of a structure of which one of several variants is there.
    VariantPartId "variant_part";
    /// A scope: a unit, namespace, type, function, lexical block or inlined call.
    ScopeId "scope";
    /// A function.
    FunctionId "function";
    /// A variable, parameter or constant.
    VariableId "variable";
    /// A call in the code of a function.
    CallId "call";
    /// Something of another scope that has a name in this one.
    ImportId "import";
    /// A place in the code that has a name.
    LabelId "label";
    /// A location that others share, by a call.
    ProcedureId "procedure";
    /// A raw expression.
    ExprId "expr";
    /// A string, stored once.
    StringId "string";
}

/// A location in a module's pool.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct LocId(pub(crate) u32);
