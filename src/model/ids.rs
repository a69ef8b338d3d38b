//! The ids of entities: small numbers, one type for each kind of entity.

use core::num::NonZeroU32;

use cranelift_entity::entity_impl;

macro_rules! ids { ($($(#[$doc:meta])* $name:ident $prefix:literal;)*) => { $(
    $(#[$doc])*
    #[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
    // One more than the number, so that an `Option` of it takes no more room.
    pub struct $name(NonZeroU32);
    entity_impl!($name, $prefix, id, $name(NonZeroU32::MIN.saturating_add(id)), id.0.get() - 1);
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
    /// A part of the code in which lanes wait.
    RegionId "region";
    /// A raw expression.
    ExprId "expr";
    /// A string, stored once.
    StringId "string";
}

/// A location in a module's pool.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct LocId(NonZeroU32);

impl LocId {
    /// The location whose first word in the pool is at `start`.
    #[inline]
    pub(super) fn at(start: usize) -> Option<Self> {
        u32::try_from(start).ok()?.checked_add(1).and_then(NonZeroU32::new).map(Self)
    }

    /// Where its first word is.
    #[inline]
    pub(super) fn start(self) -> usize {
        self.0.get() as usize - 1
    }
}
