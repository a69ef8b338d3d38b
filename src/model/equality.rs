//! Module equality: strings, expressions and locations are compared by content, not by their order in the pools.
//!
//! Each module is copied, with strings, expressions and locations stored in the order in which its entities reference
//! them; then the copies are compared by id. If this module misses an entity's field, equal modules compare as
//! different, never the reverse.

use core::ops::Range;

use super::{
    Accessibility, Address, Argument, Base, BaseOffset, CodePart, CompositeType, Count, Defaulted,
    DescribedCalls, Discriminant, Entity, ExprId, FileId, FrameRule, FunctionId, Imported, Lanes, Language,
    Lists, Live, LocId, Macro, Mask, MemorySpace, Module, Node, Pool, Procedure, ProcedureId, RegionId,
    RegionKind, ScopeId, ScopeKind, SourceLine, Stack, StringId, Strings, Symbol, TemplateArgument,
    TemplateParameter, TypeId, UnitId, VariableId, VariableKind, Variant, VariantPart, Virtuality, WholeWave,
};
use crate::model::lanes::FunctionLanes;
use crate::model::loc::Loc;
use crate::model::nodes::for_each_node;
use crate::op::{Expr, Reg};
use crate::target::{SpaceId, UnspecifiedRegisters};

impl PartialEq for Module {
    /// Returns whether both modules have the same entities with the same ids. The order in which strings, raw
    /// expressions and locations are first used is ignored, as are unused strings and raw expressions.
    fn eq(&self, other: &Self) -> bool {
        let one = Canonical::of(self);
        let other = Canonical::of(other);
        let Module {
            target,
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
        } = &one;
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
    from: &'m Module,
    strings: Strings,
    exprs: indexmap::IndexSet<(Expr, Vec<Entity>), hashbrown::DefaultHashBuilder>,
    locs: Pool,
}

impl<'m> Canonical<'m> {
    fn of(from: &'m Module) -> Module {
        let mut to =
            Self { from, strings: Default::default(), exprs: Default::default(), locs: Pool::default() };
        // The order of these calls is the canonical order: both sides use the same.
        let mut module = from.clone();
        module.units.values_mut().for_each(|unit| unit.store(&mut to));
        module.files.values_mut().for_each(|file| file.store(&mut to));
        module.types.values_mut().for_each(|ty| ty.store(&mut to));
        module.variant_parts.values_mut().for_each(|part| part.store(&mut to));
        module.scopes.values_mut().for_each(|scope| scope.store(&mut to));
        module.functions.values_mut().for_each(|function| function.store(&mut to));
        module.variables.values_mut().for_each(|variable| variable.store(&mut to));
        module.procedures.values_mut().for_each(|procedure| procedure.store(&mut to));
        module.lists.live.iter_mut().for_each(|live| live.store(&mut to));
        module.lanes.store(&mut to);
        module.lists.frame_rules.iter_mut().for_each(|rule| rule.store(&mut to));
        module.calls.values_mut().for_each(|call| call.store(&mut to));
        module.lists.arguments.iter_mut().for_each(|argument| argument.store(&mut to));
        module.imports.values_mut().for_each(|import| import.store(&mut to));
        module.labels.values_mut().for_each(|label| label.store(&mut to));
        module.lists.macros.iter_mut().for_each(|step| step.store(&mut to));
        module.lists.attributes.iter_mut().for_each(|attribute| attribute.store(&mut to));
        Module { strings: to.strings, exprs: to.exprs, locs: to.locs, ..module }
    }

    fn expr(&mut self, id: ExprId) -> ExprId {
        let (expr, entities) = self.from.expr(id);
        let entities = expr.fixups().iter().map(|fixup| {
            let mut entity = entities[fixup.slot.0 as usize];
            if let Entity::Symbol(symbol, _) = &mut entity {
                symbol.store(self);
            }
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
    bool u8 u32 u64 i64 [u8; 16] UnitId RegionId RegionKind Imported Range<u32> Range<i64> Reg SpaceId &[u8] TypeId FileId FunctionId ScopeId VariableId ProcedureId
    SourceLine Language Stack FunctionLanes VariableKind Accessibility MemorySpace Virtuality Defaulted DescribedCalls
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
        let from = to.from;
        let nodes = from.nodes(*self).map(|mut node| {
            node.store(to);
            node
        });
        let loc = Loc::of_nodes(nodes);
        // Cannot fail: the location fitted into the pool it came from.
        *self = to.locs.push(&loc).unwrap_or(*self);
    }
}

impl<T: Store> Store for Option<T> {
    fn store(&mut self, to: &mut Canonical<'_>) {
        self.iter_mut().for_each(|inner| inner.store(to));
    }
}

impl<T: Store> Store for Vec<T> {
    fn store(&mut self, to: &mut Canonical<'_>) {
        self.iter_mut().for_each(|inner| inner.store(to));
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
    CompositeType { name, templates, bases, members }
    TemplateParameter { name, argument }
    Base { offset }
    VariantPart { discriminant, variants }
    Variant { members }
    Argument { location, value, data_location, data_value }
    CodePart { address }
    Procedure { loc }
    Live { loc }
    Mask { loc }
    WholeWave { mask }
    Lanes { masks, whole_waves }
    FrameRule { loc }
}

impl Store for TemplateArgument {
    fn store(&mut self, to: &mut Canonical<'_>) {
        match self {
            Self::Type(_) => {}
            Self::Value { value, .. } => value.store(to),
            Self::Template(name) => name.store(to),
            Self::Pack(parameters) => parameters.store(to),
        }
    }
}

impl Store for Count {
    fn store(&mut self, to: &mut Canonical<'_>) {
        if let Self::Value(loc) = self {
            loc.store(to);
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
        if let Self::Member(member) = self {
            member.store(to);
        }
    }
}

impl Store for ScopeKind {
    fn store(&mut self, to: &mut Canonical<'_>) {
        match self {
            Self::Namespace { name, .. } => name.store(to),
            Self::Unit | Self::Function(_) | Self::Type(_) | Self::Block | Self::Inlined { .. } => {}
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
            Self::File { .. } | Self::EndFile => {}
        }
    }
}
