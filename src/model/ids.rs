//! Entity ids: small numbers, with one type for each entity kind.

use core::cmp::Ordering;
use core::fmt;
use core::hash::{Hash, Hasher};
use core::num::NonZeroU32;

use super::owner::{Owner, owner, without_owner, word};

/// The id of an entity in an array of all entities of its kind.
pub(crate) trait EntityId: Copy + Eq + fmt::Display + fmt::Debug {
    /// Returns the id for an index.
    fn new(index: usize, owner: Owner) -> Self;

    /// Index of the entity.
    fn index(self) -> usize;

    /// The builder to which the id belongs.
    fn owner(self) -> Owner;
}

macro_rules! ids { ($($(#[$doc:meta])* $name:ident $prefix:literal;)*) => { $(
    $(#[$doc])*
    #[derive(Clone, Copy)]
    // The number plus 1, so that `Option` needs no extra space.
    pub struct $name(NonZeroU32);

    impl $name {
        /// Returns the id with a number. Ids are numbered from 0, in the order in which a builder returns them. The id
        /// belongs to no builder in particular, so that each builder accepts it.
        #[inline]
        pub fn from_u32(number: u32) -> Self {
            Self(word(number, Owner::ANY))
        }

        /// The id's number.
        #[inline]
        pub fn as_u32(self) -> u32 {
            without_owner(self.0) - 1
        }
    }

    impl EntityId for $name {
        #[inline]
        fn new(index: usize, owner: Owner) -> Self {
            Self(word(index as u32, owner))
        }

        #[inline]
        fn index(self) -> usize {
            self.as_u32() as usize
        }

        #[inline]
        fn owner(self) -> Owner {
            owner(self.0)
        }
    }

    impl PartialEq for $name {
        #[inline]
        fn eq(&self, other: &Self) -> bool {
            without_owner(self.0) == without_owner(other.0)
        }
    }

    impl Eq for $name {}

    impl PartialOrd for $name {
        #[inline]
        fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
            Some(self.cmp(other))
        }
    }

    impl Ord for $name {
        #[inline]
        fn cmp(&self, other: &Self) -> Ordering {
            without_owner(self.0).cmp(&without_owner(other.0))
        }
    }

    impl Hash for $name {
        #[inline]
        fn hash<H: Hasher>(&self, state: &mut H) {
            without_owner(self.0).hash(state);
        }
    }

    impl fmt::Display for $name {
        fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
            write!(f, concat!($prefix, "{}"), self.as_u32())
        }
    }

    impl fmt::Debug for $name {
        fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
            fmt::Display::fmt(self, f)
        }
    }
)* } }

ids! {
    /// A compilation unit.
    UnitId "unit";
    /// A unit's source file.
    FileId "file";
    /// A type.
    TypeId "type";
    /// A structure's variant part.
    VariantPartId "variant_part";
    /// A scope: a unit, namespace, type, function, lexical block or inlined call.
    ScopeId "scope";
    /// A function.
    FunctionId "function";
    /// A variable, parameter or constant.
    VariableId "variable";
    /// A call in a function's code.
    CallId "call";
    /// An entity in another scope, imported into this scope.
    ImportId "import";
    /// A label: a named position in the code.
    LabelId "label";
    /// A location that other locations share by calling it.
    ProcedureId "procedure";
    /// A code range in which inactive lanes wait.
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

    /// Index of its first word.
    #[inline]
    pub(crate) fn start(self) -> usize {
        self.0.get() as usize - 1
    }
}
