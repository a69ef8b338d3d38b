//! The program model, in the compiler's terms: plain, flat data.
//!
//! [`Builder`](crate::build::Builder) makes and checks a [`Module`]. Entities are small ids in arrays; strings, types
//! and raw expressions are stored once; a location is one word for each of its nodes.
//!
//! ```
//! use eitri::build::Builder;
//! use eitri::model::{BaseEncoding, Loc, Val};
//! use eitri::target::{SpaceId, Target};
//!
//! let gpu = Target::named("amdgpu-gfx1030-wave32")?;
//! let (s4, v3, v40) = (gpu.sgpr(4)?, gpu.vgpr(3)?, gpu.vgpr(40)?);
//! let mut m = Builder::new(gpu);
//! let unit = m.unit("scale.cl");
//! let long = m.base_type(unit, "long", BaseEncoding::Signed, 64)?;
//! let f = m.function(unit, "f")?.code("f", 0x40).id();
//! let memory = Loc::memory(SpaceId::DEFAULT, Val::register(s4).plus(8));
//! m.variable(f, "x", long)?
//!     .live(0x00..0x10, memory)?
//!     // The lower half is in a lane of v40, the upper half in the current lane of v3.
//!     .live(0x10..0x40, Loc::parts([(Loc::lane(v40, 7), 32), (Loc::per_lane(v3), 32)]))?;
//! let module = m.finish()?;
//! for (variable, _) in module.variables() {
//!     assert_eq!(module.live(variable).len(), 2);
//! }
//! # Ok::<(), eitri::Error>(())
//! ```

mod append;
mod attributes;
mod call_mistakes;
mod calls;
mod code_calls;
mod denote;
pub(crate) mod entities;
mod entry_order;
mod equality;
mod frame;
mod frame_mistakes;
mod from_nodes;
mod functions;
mod ids;
mod imports_and_labels;
#[cfg(feature = "spirv")]
mod instances;
mod label_origins;
mod lanes;
mod language;
mod lines;
mod live;
mod loc;
mod location_mistakes;
mod macros;
mod maps;
mod mistakes;
mod nodes;
mod overlap;
mod owner;
mod parts;
mod pool;
mod postfix;
mod reach;
mod recent;
mod scope_mistakes;
mod scopes;
mod sequences;
mod split;
mod strings;
mod text;
mod tree;
mod types;
mod warnings;

pub use attributes::{AttributeOwner, ExtraAttribute, ExtraValue};
pub use calls::{Argument, Call};
pub(crate) use code_calls::calls_of_code;
pub use denote::{DescribedStorage, MachineContents, NoMeaning, StorageSpan};
pub(crate) use entry_order::{EntryOrder, EntryPositions};
pub use frame::{Column, FrameRule, Stack};
pub(crate) use frame::{is_overwritten, overwritten_registers};
pub use functions::{Defaulted, DescribedCalls, FrameBase, Function, MemberFunction, Virtuality};
pub(crate) use ids::EntityId;
pub use ids::{
    CallId, ExprId, FileId, FunctionId, ImportId, LabelId, LocId, ProcedureId, RegionId, ScopeId, StringId,
    TypeId, UnitId, VariableId, VariantPartId,
};
pub use imports_and_labels::{Import, Imported, Label};
#[cfg(feature = "spirv")]
pub(crate) use instances::with_whole_instances;
pub(crate) use label_origins::label_origins;
pub(crate) use lanes::Lanes;
pub use lanes::{Mask, Region, RegionKind, WholeWave};
pub use language::Language;
pub use lines::LineTableRow;
pub use live::Live;
pub use loc::{Half, Loc, Symbol, Val};
pub use macros::Macro;
pub(crate) use maps::{EntitySet, PrimaryMap, SecondaryMap};
pub use nodes::Node;
#[cfg(feature = "json")]
pub(crate) use nodes::{
    Form, Kind, Makes, Number, Operand, Row as NodeRow, Sort, Tag, count, keyed, keys, rows,
};
pub(crate) use owner::Owner;
pub use parts::CodePart;
pub(crate) use parts::CodeParts;
pub(crate) use pool::Pool;
pub use postfix::Nodes;
#[cfg(feature = "json")]
pub(crate) use postfix::Postfix;
pub(crate) use postfix::Small;
pub(crate) use reach::Reach;
pub(crate) use recent::Recent;
pub use scopes::{
    Address, CompileUnit, File, NamespaceKind, Procedure, Scope, ScopeKind, SourceLine, Variable,
    VariableKind,
};
pub(crate) use sequences::{RowSequence, SequencePart};
pub(crate) use strings::{Numbering, Strings};
pub(crate) use tree::Tree;
pub(crate) use types::is_type_tag;
pub use types::{
    Accessibility, Base, BaseEncoding, BaseOffset, CompositeKind, CompositeType, Count, Dimension,
    Discriminant, Member, MemorySpace, Passed, PointerKind, Qualifier, TemplateArgument, TemplateParameter,
    Type, TypeKind, Variant, VariantPart, VariantValues,
};
#[cfg(feature = "spirv")]
pub(crate) use types::{Elements, Part};
pub use warnings::{Sharer, Warned, Warning, WarningKind};

use core::ops::Range;

use hashbrown::DefaultHashBuilder;
use indexmap::IndexSet;

use crate::error::{At, ErrorKind, Result};
use crate::op::{Expr, Reg};
use crate::target::Target;

/// A checked program description.
///
/// # Panics
/// Methods that take an id expect an id that this module returned. Another module's id panics if this module has no
/// entity with that number.
#[derive(Debug, Clone)]
pub struct Module {
    pub(crate) target: Target,
    pub(crate) reach: Reach,
    pub(crate) strings: Strings,
    pub(crate) exprs: IndexSet<(Expr, Vec<Entity>), DefaultHashBuilder>,
    pub(crate) units: PrimaryMap<UnitId, CompileUnit>,
    pub(crate) files: PrimaryMap<FileId, File>,
    pub(crate) types: PrimaryMap<TypeId, Type>,
    pub(crate) variant_parts: PrimaryMap<VariantPartId, VariantPart>,
    pub(crate) scopes: PrimaryMap<ScopeId, Scope>,
    pub(crate) functions: PrimaryMap<FunctionId, Function>,
    pub(crate) variables: PrimaryMap<VariableId, Variable>,
    /// Innermost enclosing scope that is not a type's, for each scope of a type. Computed when the module is finished.
    pub(crate) enclosing_scope: SecondaryMap<ScopeId, Option<ScopeId>>,
    pub(crate) procedures: PrimaryMap<ProcedureId, Procedure>,
    pub(crate) calls: PrimaryMap<CallId, Call>,
    pub(crate) imports: PrimaryMap<ImportId, Import>,
    pub(crate) labels: PrimaryMap<LabelId, Label>,
    pub(crate) locs: Pool,
    pub(crate) lanes: Lanes,
    pub(crate) lists: Lists,
    pub(crate) entry_order: EntryOrder,
}

/// Lists of all entities, in which each entity has a range.
#[derive(Debug, Clone, Default)]
pub(crate) struct Lists {
    /// Parameters and static members, in the order of their function or type.
    pub(crate) parameters_and_statics: Vec<VariableId>,
    /// Sorted by call.
    pub(crate) arguments: Vec<Argument>,
    /// Sorted by variable, then by pc.
    pub(crate) live: Vec<Live>,
    /// Sorted by function, then by pc and column.
    pub(crate) frame_rules: Vec<FrameRule>,
    /// Frame rule indices, sorted by function, then by column and pc.
    pub(crate) frame_columns: Vec<u32>,
    /// Sorted by function, then by pc.
    pub(crate) rows: Vec<LineTableRow>,
    /// Scopes' half-open pc ranges, in bytes from the function start.
    pub(crate) ranges: Vec<Range<u64>>,
    /// Sorted by unit, then in preprocessor order.
    pub(crate) macros: Vec<Macro>,
    /// Sorted by unit, then by owner.
    pub(crate) attributes: Vec<ExtraAttribute>,
    pub(crate) sequences: Vec<RowSequence>,
}

impl Lists {
    /// Removes all elements, and keeps the memory.
    pub(crate) fn clear(&mut self) {
        let Self {
            parameters_and_statics,
            arguments,
            live,
            frame_rules,
            frame_columns,
            rows,
            ranges,
            macros,
            attributes,
            sequences,
        } = self;
        parameters_and_statics.clear();
        arguments.clear();
        live.clear();
        frame_rules.clear();
        frame_columns.clear();
        rows.clear();
        ranges.clear();
        macros.clear();
        attributes.clear();
        sequences.clear();
    }
}

/// An entity that a raw expression can reference.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Entity {
    /// A variable.
    Variable(VariableId),
    /// A base type.
    Type(TypeId),
    /// A procedure.
    Procedure(ProcedureId),
    /// A symbol's address, plus bytes.
    Symbol(Symbol, i64),
}

impl Module {
    /// Returns a module without entities.
    pub(crate) fn new(target: Target, owner: Owner) -> Self {
        Self {
            target,
            reach: Reach::default(),
            strings: Default::default(),
            exprs: Default::default(),
            units: PrimaryMap::new(owner),
            files: PrimaryMap::new(owner),
            types: PrimaryMap::new(owner),
            variant_parts: PrimaryMap::new(owner),
            scopes: PrimaryMap::new(owner),
            functions: PrimaryMap::new(owner),
            variables: PrimaryMap::new(owner),
            enclosing_scope: SecondaryMap::new(),
            procedures: PrimaryMap::new(owner),
            calls: PrimaryMap::new(owner),
            imports: PrimaryMap::new(owner),
            labels: PrimaryMap::new(owner),
            locs: Pool::default(),
            lanes: Lanes::new(owner),
            lists: Default::default(),
            entry_order: EntryOrder::default(),
        }
    }

    /// The builder to which the ids belong.
    pub(crate) fn owner(&self) -> Owner {
        self.units.owner()
    }

    /// Whether entities of a unit can refer to entities of another unit.
    #[inline]
    pub(crate) fn reaches(&self, from: UnitId, to: UnitId) -> bool {
        from == to || self.reach == Reach::Module
    }

    /// Error for an id that the module does not have.
    pub(crate) fn unknown(&self, id: impl EntityId) -> ErrorKind {
        self.unknown_in(id, "")
    }

    /// Error for an id that the module does not have where `place` says, such as ` of this unit`.
    pub(crate) fn unknown_in(&self, id: impl EntityId, place: &str) -> ErrorKind {
        if self.owner().admits(id.owner()) {
            ErrorKind::UnknownId(format!("{id}{place}"))
        } else {
            ErrorKind::OtherBuilder(id.to_string())
        }
    }

    /// Refuses an id that the module does not have.
    #[inline]
    pub(crate) fn check_id<K: EntityId, V>(&self, entities: &PrimaryMap<K, V>, id: K) -> Result<()> {
        if entities.is_valid(id) { Ok(()) } else { Err(self.unknown(id).into()) }
    }

    /// The target.
    pub fn target(&self) -> &Target {
        &self.target
    }

    /// Returns a string's text.
    pub fn string(&self, id: StringId) -> &str {
        self.strings.get(id.as_u32()).unwrap_or_default()
    }

    /// Returns a symbol's name.
    pub fn symbol_name(&self, symbol: Symbol) -> &str {
        self.string(symbol.0)
    }

    /// The compilation units.
    pub fn units(&self) -> impl Iterator<Item = (UnitId, &CompileUnit)> {
        self.units.iter()
    }

    /// A unit.
    pub fn unit(&self, id: UnitId) -> &CompileUnit {
        &self.units[id]
    }

    /// The preprocessor's actions in a unit, in order.
    pub fn macros(&self, id: UnitId) -> &[Macro] {
        slice(&self.lists.macros, &self.units[id].macros)
    }

    /// Returns the source files of all units.
    pub fn files(&self) -> impl Iterator<Item = (FileId, &File)> {
        self.files.iter()
    }

    /// A source file.
    pub fn file(&self, id: FileId) -> &File {
        &self.files[id]
    }

    /// Returns the types of all units.
    pub fn types(&self) -> impl Iterator<Item = (TypeId, &Type)> {
        self.types.iter()
    }

    /// A type.
    pub fn ty(&self, id: TypeId) -> &Type {
        &self.types[id]
    }

    /// Returns whether a type's numbers are signed; `None` if the type does not determine it.
    pub(crate) fn is_signed(&self, mut ty: TypeId) -> Option<bool> {
        loop {
            match &self.types[ty].kind {
                TypeKind::Base { encoding: BaseEncoding::Signed | BaseEncoding::SignedChar, .. } => {
                    return Some(true);
                }
                TypeKind::Base { .. } | TypeKind::Pointer { .. } => return Some(false),
                // Ends: a type references earlier types only.
                TypeKind::Typedef { of, .. }
                | TypeKind::Qualified { of, .. }
                | TypeKind::Subrange { of, .. }
                | TypeKind::Enum { of, .. } => ty = (*of)?,
                _ => return None,
            }
        }
    }

    /// Whether a member's offset is computed from the object: its attribute has the offset instead of the member.
    pub(crate) fn has_computed_offset(&self, member: AttributeOwner) -> bool {
        let mut attributes = self.attributes(member).iter();
        attributes.any(|attribute| attribute.name == gimli::DW_AT_data_member_location)
    }

    /// Whether the size of a subrange or set does not follow from another type: a [subrange](TypeKind::Subrange) has the size
    /// of its values' type unless it states another size.
    pub(crate) fn has_stated_size(&self, ty: &Type) -> bool {
        match ty.kind {
            TypeKind::Subrange { of, .. } => ty.bits != of.and_then(|of| self.types[of].bits),
            TypeKind::Set { .. } => true,
            _ => false,
        }
    }

    /// Returns a structure's variant part.
    pub fn variant_part(&self, id: VariantPartId) -> &VariantPart {
        &self.variant_parts[id]
    }

    /// Returns the scopes of all units.
    pub fn scopes(&self) -> impl Iterator<Item = (ScopeId, &Scope)> {
        self.scopes.iter()
    }

    /// A scope.
    pub fn scope(&self, id: ScopeId) -> &Scope {
        &self.scopes[id]
    }

    /// Returns the scope's own pc ranges, if any: half-open, in bytes from the function start.
    pub fn ranges(&self, id: ScopeId) -> &[Range<u64>] {
        slice(&self.lists.ranges, &self.scopes[id].ranges)
    }

    /// Returns the functions of all units.
    pub fn functions(&self) -> impl Iterator<Item = (FunctionId, &Function)> {
        self.functions.iter()
    }

    /// A function.
    pub fn function(&self, id: FunctionId) -> &Function {
        &self.functions[id]
    }

    /// Returns a function's line table, sorted by pc.
    pub fn rows(&self, id: FunctionId) -> &[LineTableRow] {
        slice(&self.lists.rows, &self.functions[id].rows)
    }

    /// Returns a function's rows from the start of a part of its code up to and including the end: code can end with a row.
    pub(crate) fn rows_in(&self, id: FunctionId, pcs: &Range<u64>) -> &[LineTableRow] {
        let rows = self.rows(id);
        let first = rows.partition_point(|row| row.pc < pcs.start);
        let end = rows.partition_point(|row| row.pc <= pcs.end);
        &rows[first..end]
    }

    /// Returns a function's frame rules, sorted by pc and column; empty if the frame is not described.
    pub fn frame(&self, id: FunctionId) -> &[FrameRule] {
        slice(&self.lists.frame_rules, &self.functions[id].frame)
    }

    /// Returns whether a function has a frame in the output. The frame that a kernel has without rules begins in private
    /// memory: a format that has no such memory is complete without the frame.
    pub(crate) fn has_frame(&self, id: FunctionId, has_private_memory: bool) -> bool {
        !self.frame(id).is_empty() && (has_private_memory || !self.functions[id].is_frame_implied)
    }

    /// Returns the register whose value in the caller is a function's return address.
    pub fn return_register(&self, id: FunctionId) -> Reg {
        self.functions[id].return_register().unwrap_or(self.target.call_frames().return_register)
    }

    /// Whether a function's frame says something about the caller's registers without a rule: it has a caller, or a rule
    /// for a register that a call overwrites.
    pub(crate) fn has_unspecified_registers(&self, id: FunctionId) -> bool {
        let returns = Column::Register(self.return_register(id));
        let is_lost = |rule: &FrameRule| self.nodes(rule.loc).last() == Some(Node::Undefined);
        self.frame(id).iter().any(|rule| match rule.column {
            Column::Cfa => false,
            column if column == returns => !is_lost(rule),
            Column::Register(reg) => frame::is_overwritten(&self.target, reg),
        })
    }

    /// Returns a function's frame rules, sorted by column and pc.
    pub(crate) fn frame_by_column(&self, id: FunctionId) -> impl Iterator<Item = &FrameRule> {
        let columns = slice(&self.lists.frame_columns, &self.functions[id].frame);
        columns.iter().map(|&index| &self.lists.frame_rules[index as usize])
    }

    /// Returns a frame column's rule for a pc, in bytes from the function start.
    pub(crate) fn frame_rule(&self, id: FunctionId, column: Column, pc: u64) -> Option<&FrameRule> {
        let columns = slice(&self.lists.frame_columns, &self.functions[id].frame);
        let rule = |index: &u32| &self.lists.frame_rules[*index as usize];
        let begins = |index: &u32| {
            crate::work::step();
            (rule(index).column, rule(index).pcs().start) <= (column, pc)
        };
        // A column's rules are disjoint, so that only the last rule that begins at or before the pc can contain it.
        let last = columns[..columns.partition_point(begins)].last().map(rule)?;
        (last.column == column && last.pcs().contains(&pc)).then_some(last)
    }

    /// Returns the variables of all units.
    pub fn variables(&self) -> impl Iterator<Item = (VariableId, &Variable)> {
        self.variables.iter()
    }

    /// A variable.
    pub fn variable(&self, id: VariableId) -> &Variable {
        &self.variables[id]
    }

    /// Returns the first variable, parameter or constant with a name in a function: also in its blocks, and as an instance in
    /// its inlined calls. `None` if the function has none. The time is linear in the number of variables.
    ///
    /// ```
    /// # use eitri::build::Builder;
    /// # use eitri::model::{BaseEncoding, Loc, SourceLine};
    /// # use eitri::target::Target;
    /// # let gpu = Target::named("amdgpu-gfx1030-wave32")?;
    /// # let s4 = gpu.sgpr(4)?;
    /// let mut m = Builder::new(gpu);
    /// let unit = m.unit("a.cl");
    /// let int = m.base_type(unit, "int", BaseEncoding::Signed, 32)?;
    /// let line = SourceLine::new(m.primary_file(unit)?, 7);
    /// let inner = m.function(unit, "inner")?.id();
    /// let i = m.variable(inner, "i", int)?.id();
    /// let f = m.function(unit, "f")?.code("f", 0x40).id();
    /// let call = m.inlined(f, inner, &[0..0x10], line)?;
    /// let inlined = m.inlined_variable(call, i)?.always(Loc::register(s4))?.id();
    ///
    /// let module = m.finish()?;
    /// assert_eq!(module.variable_named(inner, "i"), Some(i));
    /// assert_eq!(module.variable_named(f, "i"), Some(inlined));
    /// assert_eq!(module.variable_named(f, "n"), None);
    /// # Ok::<(), eitri::Error>(())
    /// ```
    pub fn variable_named(&self, function: FunctionId, name: &str) -> Option<VariableId> {
        let mut variables = self.variables.iter().filter(|(id, _)| self.name_of(*id) == Some(name));
        variables.find(|(_, variable)| self.function_of(variable.scope) == Some(function)).map(|(id, _)| id)
    }

    /// Returns a variable's live ranges, sorted by pc. Empty if the variable has one location everywhere, or none.
    pub fn live(&self, id: VariableId) -> &[Live] {
        slice(&self.lists.live, &self.variables[id].live)
    }

    /// Returns the location of a variable that does not move.
    pub fn always(&self, id: VariableId) -> Option<LocId> {
        self.variables[id].always
    }

    /// Whether a variable has a fixed location and its function has no code, so that the location belongs to no pc
    /// range.
    pub(crate) fn is_placed_without_code(&self, id: VariableId) -> bool {
        let variable = &self.variables[id];
        let function = self.function_of(variable.scope);
        variable.always.is_some()
            && function.is_some_and(|function| self.functions[function].address.is_none())
    }

    /// Returns whether a variable's only entry is in an abstract instance: that of a function without code.
    pub(crate) fn is_in_abstract_instance(&self, id: VariableId) -> bool {
        let function = self.function_of(self.variables[id].scope);
        !self.is_static_member(id)
            && function.is_some_and(|function| self.functions[function].address.is_none())
    }

    /// Directories and name of a file, which files of several units can share.
    pub(crate) fn path_of(&self, file: FileId) -> (Option<StringId>, Option<StringId>, StringId) {
        let file = &self.files[file];
        (self.units[file.unit].directory, file.directory, file.name)
    }

    /// Returns whether a variable has one address in all instances of its function, as a static variable has.
    pub(crate) fn is_static(&self, id: VariableId) -> bool {
        let variable = &self.variables[id];
        let Some(always) = variable.always else { return false };
        let is_local = variable.kind == VariableKind::Variable && variable.origin.is_none();
        let is_fixed =
            |node: &Node<'_>| matches!(node, Node::Address(..) | Node::LinkAddress(_) | Node::ThreadLocal);
        is_local
            && self.nodes(always).any(|node| is_fixed(&node))
            && self.nodes(always).all(|node| {
                is_fixed(&node) || matches!(node, Node::Const(_) | Node::Plus(_) | Node::Memory(_))
            })
    }

    /// Returns the procedures of all units.
    pub fn procedures(&self) -> impl Iterator<Item = (ProcedureId, &Procedure)> {
        self.procedures.iter()
    }

    /// Returns the calls in all functions' code.
    pub fn calls(&self) -> impl Iterator<Item = (CallId, &Call)> {
        self.calls.iter()
    }

    /// A call.
    pub fn call(&self, id: CallId) -> &Call {
        &self.calls[id]
    }

    /// Returns a call's arguments.
    pub fn arguments(&self, id: CallId) -> &[Argument] {
        slice(&self.lists.arguments, &self.calls[id].arguments)
    }

    /// Returns an entity's attributes without a field, in the order in which they were set: vendors' attributes, and
    /// attributes of the standard that few entities have.
    pub fn attributes(&self, owner: impl Into<AttributeOwner>) -> &[ExtraAttribute] {
        match self.lists.attributes[..] {
            [] => &[],
            _ => attributes::of_owner(self, owner.into()),
        }
    }

    /// Returns the attributes without a field in all entries of a unit.
    pub(crate) fn attributes_of_unit(&self, unit: UnitId) -> &[ExtraAttribute] {
        let attributes = &self.lists.attributes;
        let first = attributes.partition_point(|attribute| attribute.unit < unit);
        let count = attributes[first..].partition_point(|attribute| attribute.unit == unit);
        &attributes[first..first + count]
    }

    /// Returns the imports of all scopes.
    pub fn imports(&self) -> impl Iterator<Item = (ImportId, &Import)> {
        self.imports.iter()
    }

    /// Returns the labels of all scopes.
    pub fn labels(&self) -> impl Iterator<Item = (LabelId, &Label)> {
        self.labels.iter()
    }

    /// Returns a location's nodes.
    pub fn nodes(&self, id: LocId) -> Nodes<'_> {
        self.locs.nodes(id)
    }

    /// Formats a location in the module, as [`Loc::in_names`] does.
    pub fn location_text(&self, id: LocId) -> impl core::fmt::Display + '_ {
        text::named(self.nodes(id), self)
    }

    /// Returns the bytes if a location is a constant and nothing else.
    pub(crate) fn constant(&self, id: LocId) -> Option<&[u8]> {
        loc::only_constant(self.nodes(id))
    }

    /// A raw expression, and the entities that its slots reference.
    pub fn expr(&self, id: ExprId) -> (&Expr, &[Entity]) {
        let (expr, entities) = &self.exprs[id.as_u32() as usize];
        (expr, entities)
    }

    /// The function with the scope's code: the innermost enclosing one that is not inlined.
    pub fn function_of(&self, mut scope: ScopeId) -> Option<FunctionId> {
        // A type's scope has no code: the scope around the type decides.
        while let Scope { kind: ScopeKind::Type(_), parent: Some(parent), .. } = &self.scopes[scope] {
            crate::work::step();
            scope = self.enclosing_scope[scope].unwrap_or(*parent);
        }
        self.scopes[scope].function
    }

    /// Whether the entry with an inlined function's code is outside all functions: the function is inside another, and
    /// abstract instances have no code. DWARF 5 section 3.3.8.4.
    pub(crate) fn is_code_apart(&self, function: FunctionId) -> bool {
        let inner = &self.functions[function];
        let is_inside = |scope| self.function_of(scope).is_some();
        inner.address.is_some() && inner.is_inlined && self.scopes[inner.scope].parent.is_some_and(is_inside)
    }

    /// Returns the inlined functions inside other functions that have code, with the scopes of the entries with the code:
    /// sorted by scope, then in order.
    pub(crate) fn code_apart(&self) -> Vec<(ScopeId, FunctionId)> {
        let parent = |function: FunctionId| self.scopes[self.functions[function].scope].parent;
        let around = |scope: &ScopeId| self.function_of(*scope).and_then(parent);
        let outside = |id| core::iter::successors(parent(id), around).last();
        let functions = self.functions_in_order().filter(|&id| self.is_code_apart(id));
        let mut apart: Vec<_> = functions.filter_map(|id| Some((outside(id)?, id))).collect();
        apart.sort_by_key(|&(scope, _)| scope);
        apart
    }

    /// Returns whether a block is in an inlined call, and not in the function's own code.
    pub(crate) fn is_in_inlined_call(&self, block: ScopeId) -> bool {
        let around = core::iter::successors(Some(block), |&scope| self.scopes[scope].parent);
        let mut kinds = around.map(|scope| &self.scopes[scope].kind);
        let innermost = kinds.find(|kind| {
            crate::work::step();
            !matches!(kind, ScopeKind::Block)
        });
        matches!(innermost, Some(ScopeKind::Inlined { .. }))
    }

    /// Returns whether a variable is a static member of a structure, class or union.
    pub(crate) fn is_static_member(&self, id: VariableId) -> bool {
        matches!(self.scopes[self.variables[id].scope].kind, ScopeKind::Type(_))
    }

    /// Returns the functions from which a function takes what it lacks: the function of which it is an instance, and the
    /// declarations that it completes. The nearest is the first.
    pub(crate) fn completed_functions<'m>(
        &'m self,
        function: &'m Function,
    ) -> impl Iterator<Item = &'m Function> {
        let next = |function: &&'m Function| {
            let completed = function.origin.or(function.specification);
            completed.map(|completed| &self.functions[completed])
        };
        core::iter::successors(next(&function), next)
    }

    /// Returns the declared variable: the last in the chain of origins and specifications that starts at this variable.
    pub(crate) fn first_origin(&self, mut id: VariableId) -> VariableId {
        // Ends: an origin or declaration comes before its instance or definition.
        while let Some(origin) = self.variables[id].origin.or(self.variables[id].specification) {
            id = origin;
        }
        id
    }

    /// Returns a variable's name. An instance or definition has the name of its origin or declaration.
    pub(crate) fn name_of(&self, id: VariableId) -> Option<&str> {
        self.variables[self.first_origin(id)].name.map(|name| self.string(name))
    }

    /// Returns the names of a variable and its enclosing entities, for an error or a finding.
    pub(crate) fn at_variable(&self, id: VariableId, pcs: Option<Range<u64>>) -> At {
        let variable = self.name_of(id).map(Into::into);
        self.at_scope(self.variables[id].scope).with(|context| {
            context.variable = variable;
            context.pcs = pcs;
        })
    }

    /// Returns the names of a type's unit and enclosing function, for an error.
    pub(crate) fn at_type(&self, id: TypeId) -> At {
        self.at_scope(self.types[id].scope)
    }

    /// Returns a type's name, for errors.
    pub(crate) fn called(&self, id: TypeId) -> String {
        match self.types[id].name() {
            Some(name) => format!("type `{}`", self.string(name)),
            None => id.to_string(),
        }
    }

    /// Returns a unit's name, for an error.
    pub(crate) fn at_unit(&self, id: UnitId) -> At {
        self.at_scope(self.units[id].scope)
    }

    /// Returns the names of a procedure and its unit, for an error or a finding.
    pub(crate) fn at_procedure(&self, id: ProcedureId) -> At {
        self.at_unit(self.procedures[id].unit).with(|context| context.procedure = Some(id.to_string()))
    }

    /// Returns the names of a scope's enclosing entities, for an error or a finding.
    pub(crate) fn at_scope(&self, scope: ScopeId) -> At {
        let unit = &self.units[self.scopes[scope].unit];
        let function =
            self.function_of(scope).map(|function| self.string(self.functions[function].name).into());
        At::new(|context| {
            context.unit = Some(self.string(unit.name).into());
            context.function = function;
        })
    }
}

fn slice<'a, T>(all: &'a [T], range: &Range<u32>) -> &'a [T] {
    all.get(range.start as usize..range.end as usize).unwrap_or(&[])
}
