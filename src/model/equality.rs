//! Module equality: strings, expressions and locations are compared by content, not by their order in the pools.
//!
//! Each module is copied, with strings, expressions and locations stored in the order in which its entities reference
//! them; then the copies are compared by id. If this module misses an entity's field, equal modules compare as
//! different, never the reverse.
//!
//! [`append`](super::append) stores another module's entities in the same way, with ids after those of its own entities.

use core::ops::Range;

use hashbrown::HashMap;

use super::{
    Accessibility, Address, Argument, Base, BaseOffset, CallId, CodePart, CodeParts, CompositeType, Count,
    Defaulted, DescribedCalls, Discriminant, Entity, EntityId, ExprId, FileId, FrameRule, FunctionId,
    ImportId, Imported, LabelId, Lanes, Language, Lists, Live, LocId, Macro, Mask, MemorySpace, Module, Node,
    Owner, Pool, Procedure, ProcedureId, RegionId, RegionKind, ScopeId, ScopeKind, SourceLine, Stack,
    StringId, Strings, Symbol, TemplateArgument, TemplateParameter, TypeId, UnitId, VariableId, VariableKind,
    Variant, VariantPart, VariantPartId, Virtuality, WholeWave,
};
use crate::model::functions::FrameFacts;
use crate::model::lanes::FunctionLanes;
use crate::model::loc::Loc;
use crate::model::nodes::for_each_node;
use crate::op::{Expr, Reg};
use crate::target::{SpaceId, UnspecifiedRegisters};

impl PartialEq for Module {
    /// Returns whether both modules have the same entities with the same ids. The order in which strings, raw
    /// expressions and locations are first used is ignored, as are unused strings and raw expressions.
    fn eq(&self, other: &Self) -> bool {
        let this = Canonical::of(self);
        let other = Canonical::of(other);
        let Module {
            target,
            // A limit for the builder, and no fact.
            reach: _,
            strings,
            exprs,
            units,
            files,
            types,
            variant_parts,
            scopes,
            functions,
            variables,
            // Follows from the scopes.
            enclosing_scope: _,
            procedures,
            locs,
            lanes,
            lists,
            calls,
            imports,
            labels,
            // An order of the output, and no fact.
            entry_order: _,
        } = &this;
        let Lists {
            // Follows from the variables.
            parameters_and_statics: _,
            arguments,
            live,
            frame_rules,
            // Follows from the rules.
            frame_columns: _,
            rows,
            ranges,
            macros,
            attributes,
            // A form of the output, and no fact.
            sequences: _,
        } = lists;
        *target == other.target
            && *strings == other.strings
            && exprs.iter().eq(&other.exprs)
            && *units == other.units
            && *files == other.files
            && *types == other.types
            && *variant_parts == other.variant_parts
            && *scopes == other.scopes
            && *functions == other.functions
            && *variables == other.variables
            && *procedures == other.procedures
            && *locs == other.locs
            && *lanes == other.lanes
            && *live == other.lists.live
            && *frame_rules == other.lists.frame_rules
            && *rows == other.lists.rows
            && *ranges == other.lists.ranges
            && *macros == other.lists.macros
            && *attributes == other.lists.attributes
            && *calls == other.calls
            && *imports == other.imports
            && *labels == other.labels
            && *arguments == other.lists.arguments
    }
}

/// Pools in canonical order, filled from a module's references.
pub(super) struct Canonical<'m> {
    pub(super) from: &'m Module,
    pub(super) strings: Strings,
    pub(super) exprs: indexmap::IndexSet<(Expr, Vec<Entity>), hashbrown::DefaultHashBuilder>,
    pub(super) locs: Pool,
    /// Distance by which the ids of entities move.
    pub(super) moved: Moved,
    /// Locations that are stored already. Without it each reference stores its location, so that the order does not depend on
    /// which references share a location.
    pub(super) known: Option<HashMap<LocId, LocId>>,
}

impl<'m> Canonical<'m> {
    fn of(from: &'m Module) -> Module {
        let mut to = Self {
            from,
            strings: Default::default(),
            exprs: Default::default(),
            locs: Pool::default(),
            moved: Moved::default(),
            known: None,
        };
        let mut module = from.clone();
        to.store(&mut module);
        Module { strings: to.strings, exprs: to.exprs, locs: to.locs, ..module }
    }

    /// Stores all references of a copy of the module.
    pub(super) fn store(&mut self, module: &mut Module) {
        let to = self;
        // The order of these calls is the canonical order: both sides use the same.
        module.units.values_mut().for_each(|unit| unit.store(to));
        module.files.values_mut().for_each(|file| file.store(to));
        module.types.values_mut().for_each(|ty| ty.store(to));
        module.variant_parts.values_mut().for_each(|part| part.store(to));
        module.scopes.values_mut().for_each(|scope| scope.store(to));
        module.functions.values_mut().for_each(|function| function.store(to));
        module.variables.values_mut().for_each(|variable| variable.store(to));
        module.procedures.values_mut().for_each(|procedure| procedure.store(to));
        module.lists.live.iter_mut().for_each(|live| live.store(to));
        module.lanes.store(to);
        module.lists.frame_rules.iter_mut().for_each(|rule| rule.store(to));
        module.calls.values_mut().for_each(|call| call.store(to));
        module.lists.arguments.iter_mut().for_each(|argument| argument.store(to));
        module.imports.values_mut().for_each(|import| import.store(to));
        module.labels.values_mut().for_each(|label| label.store(to));
        module.lists.rows.iter_mut().for_each(|row| row.file.store(to));
        module.lists.macros.iter_mut().for_each(|step| step.store(to));
        module.lists.attributes.iter_mut().for_each(|attribute| attribute.store(to));
        let sequences = module.lists.sequences.iter_mut();
        sequences.flat_map(|sequence| &mut sequence.parts).for_each(|part| part.function.store(to));
    }

    fn expr(&mut self, id: ExprId) -> ExprId {
        let (expr, entities) = self.from.expr(id);
        let entities = expr.fixups().iter().map(|fixup| {
            let mut entity = entities[fixup.slot.0 as usize];
            entity.store(self);
            entity
        });
        let entities = entities.collect();
        // One slot per reference, so that unused slots are ignored.
        let expr = expr.with_slots_in_order();
        ExprId::from_u32(self.exprs.insert_full((expr, entities)).0 as u32)
    }
}

/// A value that references strings or locations, which are stored again in canonical order.
pub(super) trait Store {
    fn store(&mut self, to: &mut Canonical<'_>);
}

impl Store for StringId {
    fn store(&mut self, to: &mut Canonical<'_>) {
        *self = Self::from_u32(to.strings.add(to.from.string(*self)));
    }
}

/// Ids of entities, each with the field of [`Moved`] for its kind.
macro_rules! ids { ($($id:ident $field:ident;)*) => {
    /// Distances by which ids move, and the builder to which they belong then.
    #[derive(Debug, Clone, Default)]
    pub(super) struct Moved {
        pub(super) owner: Owner,
        $(pub(super) $field: usize,)*
    }

    $(impl Store for $id {
        #[inline]
        fn store(&mut self, to: &mut Canonical<'_>) {
            *self = Self::new(self.index() + to.moved.$field, to.moved.owner);
        }
    })*
} }
ids! {
    UnitId units;
    FileId files;
    TypeId types;
    VariantPartId variant_parts;
    ScopeId scopes;
    FunctionId functions;
    VariableId variables;
    CallId calls;
    ImportId imports;
    LabelId labels;
    ProcedureId procedures;
    RegionId regions;
}

impl Store for Symbol {
    fn store(&mut self, to: &mut Canonical<'_>) {
        self.0.store(to);
    }
}

impl Store for ExprId {
    fn store(&mut self, to: &mut Canonical<'_>) {
        *self = to.expr(*self);
    }
}

/// Field types without references into the pools.
macro_rules! without_references { ($($type:ty)*) => { $(
    impl Store for $type {
        #[inline]
        fn store(&mut self, _: &mut Canonical<'_>) {}
    }
)* } }
without_references! {
    bool u8 u32 u64 i64 [u8; 16] RegionKind Range<i64> Reg SpaceId &[u8] Language Stack VariableKind Accessibility MemorySpace Virtuality Defaulted DescribedCalls
    UnspecifiedRegisters
}

macro_rules! nodes { ($($sort:ident { $(
    $(#[$doc:meta])*
    $name:ident $(($($field:ident: $type:ty),*))? $({$($named:ident: $named_type:ty = $named_doc:literal),*})?
    [$($operands:tt)*] $key:literal $form:tt $example:literal;
)* })*) => {
    impl Store for Node<'_> {
        fn store(&mut self, _to: &mut Canonical<'_>) {
            match self { $($(
                Self::$name $(($($field),*))? $({$($named),*})? => {
                    $($($field.store(_to);)*)?
                    $($($named.store(_to);)*)?
                }
            )*)* }
        }
    }
} }
for_each_node!(nodes);

impl Store for LocId {
    fn store(&mut self, to: &mut Canonical<'_>) {
        if let Some(&known) = to.known.as_ref().and_then(|known| known.get(self)) {
            *self = known;
            return;
        }
        let from = to.from;
        let old = *self;
        let nodes = from.nodes(*self).map(|mut node| {
            node.store(to);
            node
        });
        let loc = Loc::of_nodes(nodes);
        // Cannot fail: the location fitted into the pool it came from.
        *self = to.locs.push(&loc).unwrap_or(*self);
        if let Some(known) = &mut to.known {
            known.insert(old, *self);
        }
    }
}

impl Store for FrameFacts {
    fn store(&mut self, to: &mut Canonical<'_>) {
        self.bases.iter_mut().for_each(|base| base.loc.store(to));
    }
}

/// A part of a list. Where an empty part begins says nothing.
impl Store for Range<u32> {
    #[inline]
    fn store(&mut self, _: &mut Canonical<'_>) {
        if self.start >= self.end {
            *self = 0..0;
        }
    }
}

impl<T: Store> Store for Option<T> {
    fn store(&mut self, to: &mut Canonical<'_>) {
        self.iter_mut().for_each(|inner| inner.store(to));
    }
}

impl<T: Store> Store for Box<T> {
    fn store(&mut self, to: &mut Canonical<'_>) {
        (**self).store(to);
    }
}

impl<T: Store> Store for Vec<T> {
    fn store(&mut self, to: &mut Canonical<'_>) {
        self.iter_mut().for_each(|inner| inner.store(to));
    }
}

impl Store for (VariantPartId, u32) {
    fn store(&mut self, to: &mut Canonical<'_>) {
        self.0.store(to);
    }
}

impl<T> Store for (StringId, T) {
    fn store(&mut self, to: &mut Canonical<'_>) {
        self.0.store(to);
    }
}

/// Fields with references into the pools, in canonical order.
macro_rules! fields { ($($type:ident { $($field:ident),* })*) => { $(
    impl Store for $type {
        fn store(&mut self, to: &mut Canonical<'_>) {
            $(self.$field.store(to);)*
        }
    }
)* } }
fields! {
    SourceLine { file }
    CompositeType { name, scope, templates, bases, members, variant_parts }
    TemplateParameter { name, argument }
    Base { ty, offset }
    VariantPart { of, inside, discriminant, variants }
    Variant { members, parts }
    Argument { call, location, parameter, value, data_location, data_value }
    CodePart { address }
    CodeParts { list }
    Procedure { unit, loc }
    Live { variable, loc }
    Mask { loc }
    WholeWave { function, mask }
    FrameRule { function, loc }
    FunctionLanes { regions, whole_waves }
}

impl Store for Lanes {
    fn store(&mut self, to: &mut Canonical<'_>) {
        self.regions.values_mut().for_each(|region| region.store(to));
        self.masks.store(to);
        self.whole_waves.store(to);
        self.order.store(to);
    }
}

impl Store for Entity {
    fn store(&mut self, to: &mut Canonical<'_>) {
        match self {
            Self::Variable(id) => id.store(to),
            Self::Type(id) => id.store(to),
            Self::Procedure(id) => id.store(to),
            Self::Symbol(symbol, _) => symbol.store(to),
        }
    }
}

impl Store for Imported {
    fn store(&mut self, to: &mut Canonical<'_>) {
        match self {
            Self::Function(id) => id.store(to),
            Self::Variable(id) => id.store(to),
            Self::Type(id) | Self::Member(id, _) | Self::Enumerator(id, _) => id.store(to),
            Self::Namespace(id) | Self::AllOf(id) => id.store(to),
        }
    }
}

impl Store for TemplateArgument {
    fn store(&mut self, to: &mut Canonical<'_>) {
        match self {
            Self::Type(ty) => ty.store(to),
            Self::Value { ty, value } => {
                ty.store(to);
                value.store(to);
            }
            Self::Template(name) => name.store(to),
            Self::Pack(parameters) => parameters.store(to),
        }
    }
}

impl Store for Count {
    fn store(&mut self, to: &mut Canonical<'_>) {
        match self {
            Self::Value(loc) => loc.store(to),
            Self::Variable(id) => id.store(to),
            Self::Unknown | Self::Fixed(_) => {}
        }
    }
}

impl Store for BaseOffset {
    fn store(&mut self, to: &mut Canonical<'_>) {
        if let Self::Expr(loc) = self {
            loc.store(to);
        }
    }
}

impl Store for Discriminant {
    fn store(&mut self, to: &mut Canonical<'_>) {
        match self {
            Self::Member(member) => member.store(to),
            Self::Type(ty) | Self::Enclosing(ty, _) => ty.store(to),
            Self::None => {}
        }
    }
}

impl Store for ScopeKind {
    fn store(&mut self, to: &mut Canonical<'_>) {
        match self {
            Self::Namespace { name, .. } => name.store(to),
            Self::Function(function) => function.store(to),
            Self::Type(ty) => ty.store(to),
            Self::Inlined { function, call } => {
                function.store(to);
                call.store(to);
            }
            Self::Unit | Self::Block => {}
        }
    }
}

impl Store for Address {
    fn store(&mut self, to: &mut Canonical<'_>) {
        if let Self::Symbol(symbol, _) = self {
            symbol.store(to);
        }
    }
}

impl Store for Macro {
    fn store(&mut self, to: &mut Canonical<'_>) {
        match self {
            Self::Define { text, .. } => text.store(to),
            Self::Undefine { name, .. } => name.store(to),
            Self::File { file, .. } => file.store(to),
            Self::EndFile => {}
        }
    }
}
