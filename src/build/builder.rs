//! The builder: the module so far, what later calls need to know about earlier calls, and what all methods share.

use hashbrown::{DefaultHashBuilder, HashMap, HashSet, HashTable};
use indexmap::IndexMap;

use super::ids::{entity_text, known, known_symbol};
use super::loc::{self, Checked, Procedures};
use super::order::Order;
use super::pcs;
use super::slots::Slot;
use crate::error::{At, Error, ErrorKind, Result};
use crate::model::{
    AttributeOwner, Entity, EntityId, ExprId, FileId, LineTableRow, Loc, LocId, Module, Owner, PrimaryMap,
    ProcedureId, Reach, Recent, RowSequence, ScopeId, SecondaryMap, SequencePart, Small, StringId, Symbol,
    Type, TypeId, UnitId, VariableId,
};
use crate::op::{Expr, FixupKind};
use crate::target::Target;

/// Builds a [`Module`].
///
/// | task | methods |
/// |---|---|
/// | units, files, lines | [`unit`](Self::unit), [`describe_unit`](Self::describe_unit), [`primary_file`](Self::primary_file), [`file`](Self::file), [`file_md5`](Self::file_md5), [`file_source`](Self::file_source), [`row`](Self::row), [`macros`](Self::macros) |
/// | functions | [`function`](Self::function), [`describe_function`](Self::describe_function), [`function_declaration`](Self::function_declaration), [`function_definition`](Self::function_definition), [`function_instance`](Self::function_instance), [`symbol`](Self::symbol) |
/// | variables | [`variable`](Self::variable), [`parameter`](Self::parameter), [`describe_variable`](Self::describe_variable), [`constant`](Self::constant), [`extern_variable`](Self::extern_variable), [`definition`](Self::definition) |
/// | blocks, inlined calls, namespaces | [`block`](Self::block), [`inlined`](Self::inlined), [`inlined_block`](Self::inlined_block), [`inlined_variable`](Self::inlined_variable), [`entry_pc`](Self::entry_pc), [`begins`](Self::begins), [`discriminator`](Self::discriminator), [`namespace`](Self::namespace), [`inline_namespace`](Self::inline_namespace), [`anonymous_namespace`](Self::anonymous_namespace), [`language_module`](Self::language_module), [`common_block`](Self::common_block), [`namelist`](Self::namelist) |
/// | scalar and derived types | [`base_type`](Self::base_type), [`pointer`](Self::pointer), [`pointer_into`](Self::pointer_into), [`pointer_of`](Self::pointer_of), [`reference`](Self::reference), [`rvalue_reference`](Self::rvalue_reference), [`member_pointer`](Self::member_pointer), [`typedef`](Self::typedef), [`qualified`](Self::qualified), [`unspecified_type`](Self::unspecified_type), [`subroutine`](Self::subroutine), [`variadic_subroutine`](Self::variadic_subroutine), [`enumeration`](Self::enumeration), [`enum_class`](Self::enum_class), [`sized_enumeration`](Self::sized_enumeration), [`subrange_type`](Self::subrange_type), [`set_type`](Self::set_type), [`string_type`](Self::string_type) |
/// | structures | [`structure`](Self::structure), [`dynamic_composite`](Self::dynamic_composite), [`class`](Self::class), [`union`](Self::union), [`incomplete`](Self::incomplete), [`member`](Self::member), [`bit_field`](Self::bit_field), [`data_member`](Self::data_member), [`static_member`](Self::static_member), [`base`](Self::base), [`virtual_base`](Self::virtual_base), [`variant_part`](Self::variant_part), [`variant_part_by`](Self::variant_part_by), [`untagged_variant_part`](Self::untagged_variant_part), [`undiscriminated_variant_part`](Self::undiscriminated_variant_part), [`variant`](Self::variant) |
/// | arrays and vectors | [`array`](Self::array), [`array_of`](Self::array_of), [`vector`](Self::vector), [`packed_vector`](Self::packed_vector), [`matrix`](Self::matrix), [`matrix_of`](Self::matrix_of), [`cooperative_matrix`](Self::cooperative_matrix) |
/// | any type, vendors' attributes | [`describe_type`](Self::describe_type), [`attribute`](Self::attribute), [`template`](Self::template) |
/// | call frames | [`frame`](Self::frame) |
/// | lanes of a wave | [`lanes`](Self::lanes) |
/// | calls and their arguments | [`call`](Self::call), [`describe_call`](Self::describe_call) |
/// | imports and labels | [`import`](Self::import), [`label`](Self::label), [`describe_import`](Self::describe_import), [`describe_label`](Self::describe_label) |
/// | raw expressions, shared locations | [`expr`](Self::expr), [`procedure`](Self::procedure) |
/// | the result | [`finish`](Self::finish), [`hand_over`](Self::hand_over) |
///
/// Ids are small numbers. In debug builds, which have `debug_assertions`, an id also knows its builder: a call with another
/// builder's id returns [`ErrorKind::OtherBuilder`]. Release builds do not check it, and the number can be another
/// entity's. A finished module is not checked either: its methods return the entity with the id's number.
#[derive(Debug)]
pub struct Builder {
    pub(super) module: Module,
    /// Types that are compared by their contents, each with its hash.
    pub(super) interned: HashTable<(u64, TypeId)>,
    pub(super) hasher: DefaultHashBuilder,
    pub(super) order: Order,
    /// Files by unit, directory and name.
    pub(super) files: IndexMap<(UnitId, Option<StringId>, StringId), FileId, DefaultHashBuilder>,
    /// Each macro's unit.
    pub(super) macro_units: Vec<UnitId>,
    /// Each scope's surroundings.
    pub(super) around: PrimaryMap<ScopeId, Around>,
    pub(super) preprocessors: SecondaryMap<UnitId, Preprocessor>,
    /// Checked facts about each procedure's location.
    pub(super) procedures: Procedures,
    /// Variables' recent locations.
    pub(super) recent: Recent<Placed>,
    /// Types with an array bound that is a variable in a function.
    pub(super) bounds: HashMap<TypeId, VariableId>,
    /// Locations with stack slots in functions without a known stack base.
    pub(super) slots: Vec<Slot>,
    /// Attributes without a field, by owner.
    pub(super) attributes: HashSet<(AttributeOwner, gimli::DwAt)>,
    /// First error in a call that returns no `Result`.
    pub(super) wrong: Option<Error>,
}

/// A scope's enclosing code: the scope itself, or the innermost scope around it, by kind.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Around {
    /// Innermost function or inlined call.
    pub(super) body: Option<ScopeId>,
    /// Innermost scope with separate pc ranges within the function; `None` for the whole function.
    pub(super) code: Option<ScopeId>,
    /// Whether the scope is an inlined call, or in one.
    pub(super) is_in_call: bool,
    /// Whether the scope contains other scopes.
    pub(super) has_scopes: bool,
}

/// The files that a unit's preprocessor has open.
#[derive(Debug, Clone, Default)]
pub(super) struct Preprocessor {
    /// Number of files that began and have not ended.
    pub(super) depth: u32,
}

/// A location in the module.
#[derive(Debug, Clone, Copy)]
pub(super) struct Placed {
    pub(super) words: Small,
    pub(super) loc: LocId,
    /// Bits in the storage from the location on, at most `ROOM`, and the flag `HAS_SLOT`.
    pub(super) room: u32,
}

impl Builder {
    /// Returns an empty module for a target.
    ///
    /// ```
    /// # use eitri::build::Builder;
    /// # use eitri::target::{Gfx, Target, Wave};
    /// // Registers belong to a target: look them up before it is handed over, or with `target`.
    /// let gpu = Target::amdgpu(Gfx::GFX1030, Wave::W32)?;
    /// let v3 = gpu.vgpr(3)?;
    /// let mut m = Builder::new(gpu);
    /// assert_eq!(m.target().register_named("v3")?, v3);
    /// # Ok::<(), eitri::Error>(())
    /// ```
    pub fn new(target: Target) -> Self {
        Self::over(Module::new(target, Owner::next()), Order::default())
    }

    /// Lets entities refer to types, functions, variables and blocks of other units.
    #[cfg(feature = "import")]
    pub(crate) fn refer_between_units(&mut self) {
        self.module.reach = Reach::Module;
    }

    /// Returns a builder for a module that has entities, in an order.
    pub(super) fn over(module: Module, order: Order) -> Self {
        Self {
            module,
            interned: HashTable::new(),
            hasher: DefaultHashBuilder::default(),
            order,
            files: Default::default(),
            macro_units: Vec::new(),
            around: PrimaryMap::default(),
            preprocessors: SecondaryMap::new(),
            procedures: SecondaryMap::new(),
            recent: Default::default(),
            bounds: HashMap::new(),
            slots: Vec::new(),
            attributes: HashSet::new(),
            wrong: None,
        }
    }

    /// Returns the target.
    pub fn target(&self) -> &Target {
        &self.module.target
    }

    /// Returns the module described so far. Before [`finish`](Self::finish), line rows and live ranges can be unsorted,
    /// and not all are assigned to their owners.
    pub(crate) fn described(&self) -> &Module {
        &self.module
    }

    /// Returns a symbol in the object by name: a function or variable that the linker knows. [`finish`](Self::finish)
    /// rejects an empty name.
    pub fn symbol(&mut self, name: &str) -> Symbol {
        let name = self.symbol_name(name, |_| At::default());
        Symbol(StringId::new(name.index(), self.module.owner()))
    }

    /// Adds a raw expression, for [`Loc::expr`](crate::model::Loc::expr). The expression's slot *n* refers to
    /// `entities[n]`.
    ///
    /// # Errors
    /// [`ErrorKind::UnknownId`] where an entity does not exist, or a slot is without an entity;
    /// [`ErrorKind::BadArgument`] where the operation cannot refer to the kind of entity in a slot.
    ///
    /// # Example
    ///
    /// ```
    /// # use eitri::build::Builder;
    /// # use eitri::model::{BaseEncoding, Loc, Val};
    /// # use eitri::model::Entity;
    /// # use eitri::op::{Dialect, Encoding, Expr, Op, Slot};
    /// # use eitri::target::Target;
    /// # let gpu = Target::named("amdgpu-gfx1030-wave32")?;
    /// # let (s4, v3, v40) = (gpu.sgpr(4)?, gpu.vgpr(3)?, gpu.vgpr(40)?);
    /// # let mut m = Builder::new(gpu);
    /// # let unit = m.unit("a.cl");
    /// # let int = m.base_type(unit, "int", BaseEncoding::Signed, 32)?;
    /// # let f = m.function(unit, "f")?.code("f", 0x40).id();
    /// // `(float)n`, which `Val` cannot express. The operand of `convert` is the type in slot 0.
    /// let float = m.base_type(unit, "float", BaseEncoding::Float, 32)?;
    /// let mut expr = Expr::build(Encoding::new(8, Dialect::Llvm));
    /// expr.ops().bregx(s4, 0);
    /// expr.refer(Op::Convert { ty: 0 }, Slot(0));
    /// expr.ops().stack_value();
    /// let expr = m.expr(expr.finish()?, &[Entity::Type(float)])?;
    /// m.variable(f, "x", float)?.live(0x08..0x40, Loc::expr(expr))?;
    /// # Ok::<(), eitri::Error>(())
    /// ```
    pub fn expr(&mut self, expr: Expr, entities: &[Entity]) -> Result<ExprId> {
        for entity in entities {
            let module = &self.module;
            match *entity {
                Entity::Variable(id) => known(module.variables.is_valid(id), || module.unknown(id)),
                Entity::Type(id) => known(module.types.is_valid(id), || module.unknown(id)),
                Entity::Procedure(id) => known(module.procedures.is_valid(id), || module.unknown(id)),
                Entity::Symbol(symbol, _) => known_symbol(module, symbol),
            }?;
        }
        for fixup in expr.fixups() {
            let slot = fixup.slot.0;
            let Some(entity) = entities.get(slot as usize) else {
                return Err(ErrorKind::UnknownId(format!("slot {slot}")).into());
            };
            // The operand's form decides which kinds of entities it can hold.
            let fits = match fixup.kind {
                FixupKind::Type { .. } => matches!(entity, Entity::Type(_)),
                FixupKind::Address => matches!(entity, Entity::Symbol(..)),
                FixupKind::Entry { .. } | FixupKind::EntrySection => !matches!(entity, Entity::Symbol(..)),
            };
            if !fits {
                let entity = entity_text(&self.module, *entity);
                return Err(Error::bad_argument(format!(
                    "operation with slot {slot} refers to {entity}, which is of the wrong kind"
                )));
            }
        }
        let (index, _) = self.module.exprs.insert_full((expr, entities.to_vec()));
        Ok(ExprId::new(index, self.module.owner()))
    }

    /// Adds a location that other locations share by [`Loc::call`](crate::model::Loc::call).
    ///
    /// # Errors
    /// Same errors as [`VariableBuilder::live`](super::VariableBuilder::live).
    ///
    /// # Example
    ///
    /// ```
    /// # use eitri::build::Builder;
    /// # use eitri::model::{BaseEncoding, Loc};
    /// # use eitri::target::{SpaceId, Target};
    /// # let gpu = Target::named("amdgpu-gfx1030-wave32")?;
    /// # let v40 = gpu.vgpr(40)?;
    /// # let mut m = Builder::new(gpu);
    /// # let unit = m.unit("a.cl");
    /// # let int = m.base_type(unit, "int", BaseEncoding::Signed, 32)?;
    /// # let f = m.function(unit, "f")?.code("f", 0x40).id();
    /// // A frame pointer that was spilled, from which many variables are reached: written once,
    /// // and called.
    /// let base = m.procedure(unit, &Loc::lane(v40, 7))?;
    /// for (name, offset) in [("x", 0), ("y", 4)] {
    ///     let address = Loc::call(base).read(32).plus(offset);
    ///     m.variable(f, name, int)?.live(0x08..0x40, Loc::memory(SpaceId::LOCAL, address))?;
    /// }
    /// # Ok::<(), eitri::Error>(())
    /// ```
    pub fn procedure(&mut self, unit: UnitId, loc: &crate::model::Loc) -> Result<ProcedureId> {
        self.known_unit(unit)?;
        let with_context = |error: Error| error.or_at(self.module.at_unit(unit));
        let checked = self.location_facts(unit, loc, None, "the location").map_err(with_context)?;
        let loc = self.module.locs.push(loc)?;
        let procedure = self.module.procedures.push(crate::model::Procedure { unit, loc });
        // Calls of the procedure use these facts instead of reading its nodes again.
        self.procedures[procedure] = checked;
        Ok(procedure)
    }

    /// Adds a stand-alone location with `bits` bits, where the size is known.
    pub(crate) fn loc(&mut self, unit: UnitId, loc: &Loc, bits: Option<u64>) -> Result<LocId> {
        self.check_location(unit, loc, bits, "the location")?;
        self.module.locs.push(loc)
    }

    /// Adds a row to a function's line table. Rows may be added in any order.
    ///
    /// # Errors
    /// [`ErrorKind::UnknownId`] where the function or file does not exist, or the file belongs to another unit;
    /// [`ErrorKind::OutsideFunction`] where the pc is outside the function; [`ErrorKind::Misaligned`] where the pc is
    /// not a multiple of the target's shortest instruction.
    ///
    /// # Example
    ///
    /// ```
    /// # use eitri::build::Builder;
    /// # use eitri::model::{BaseEncoding, LineTableRow, Loc};
    /// # use eitri::target::Target;
    /// # let gpu = Target::named("amdgpu-gfx1030-wave32")?;
    /// # let (s4, v3, v40) = (gpu.sgpr(4)?, gpu.vgpr(3)?, gpu.vgpr(40)?);
    /// # let mut m = Builder::new(gpu);
    /// # let unit = m.unit("a.cl");
    /// # let int = m.base_type(unit, "int", BaseEncoding::Signed, 32)?;
    /// # let f = m.function(unit, "f")?.code("f", 0x40).id();
    /// // From pc 0x08 on, line 5. Code after the prologue is where a breakpoint on the function
    /// // stops.
    /// let file = m.primary_file(unit)?;
    /// m.row(f, LineTableRow::new(0x00, file, 3))?;
    /// m.row(f, LineTableRow::new(0x08, file, 5).column(9).prologue_end())?;
    /// # Ok::<(), eitri::Error>(())
    /// ```
    pub fn row(&mut self, function: crate::model::FunctionId, row: LineTableRow) -> Result<()> {
        let scope = self.known_function(function)?.scope;
        let bytes = self.module.functions[function].bytes;
        let unit = self.module.scopes[scope].unit;
        let is_there = self.module.files.get(row.file).is_some_and(|file| file.unit == unit);
        let result = if row.pc >= bytes {
            Err(Error::new(ErrorKind::OutsideFunction { size: bytes }))
        } else {
            pcs::instruction(&self.module.target, row.pc)
                .and_then(|()| known(is_there, || self.module.unknown_in(row.file, " of this unit")))
        };
        result.map_err(|error| {
            let pcs = Some(row.pc..row.pc.saturating_add(1));
            error.or_at(self.module.at_scope(scope).with(|context| context.pcs = pcs))
        })?;
        self.order.add_row(&mut self.module, function, row);
        Ok(())
    }

    /// Writes the rows of several parts of code in a sequence.
    #[cfg(feature = "import")]
    pub(crate) fn row_sequence(&mut self, parts: Vec<SequencePart>) {
        self.module.lists.sequences.push(RowSequence { parts });
    }

    /// Estimates how many bytes of memory the module and its name tables take after `more` further statements. Growing
    /// vectors double their capacity.
    #[cfg(feature = "json")]
    pub(crate) fn bytes_soon(&self, more: usize) -> usize {
        /// Entry bytes in a name table.
        const NAME: usize = 48;
        let memory = |count: usize, bytes: usize| match count {
            0 => 0,
            _ => (count + more).next_power_of_two() * bytes,
        };
        let module = &self.module;
        memory(module.units.len(), size_of::<crate::model::CompileUnit>() + NAME)
            + memory(module.files.len(), size_of::<crate::model::File>() + NAME)
            + memory(module.types.len(), size_of::<Type>() + NAME)
            + memory(module.scopes.len(), size_of::<crate::model::Scope>() + NAME)
            + memory(module.functions.len(), size_of::<crate::model::Function>() + NAME)
            + memory(module.variables.len(), size_of::<crate::model::Variable>())
            + memory(module.lists.live.len(), size_of::<crate::model::Live>())
            + memory(module.lists.rows.len(), size_of::<LineTableRow>())
            + memory(module.lists.frame_rules.len(), size_of::<crate::model::FrameRule>())
            + memory(module.locs.bytes(), 1)
    }

    /// Checks a location as [`check_in`](loc::check_in) does. Returns whether it depends on the start of the function's
    /// stack frame. `what` names the location in an error.
    #[inline]
    pub(super) fn check_location(
        &self,
        unit: UnitId,
        loc: &Loc,
        bits: Option<u64>,
        what: &str,
    ) -> Result<bool> {
        self.location_facts(unit, loc, bits, what).map(|checked| checked.has_slot)
    }

    /// Checks a location as [`check_location`](Self::check_location) does, and returns all its facts.
    #[inline]
    pub(super) fn location_facts(
        &self,
        unit: UnitId,
        loc: &Loc,
        bits: Option<u64>,
        what: &str,
    ) -> Result<Checked> {
        self.own(loc)?;
        loc::check_in(&self.module, &self.procedures, unit, loc.nodes(), bits, what, loc::UNKNOWN)
    }

    /// Refuses a location with an id of another builder. The location's words have the ids' numbers, but not their
    /// builder, which the location keeps for all of them.
    #[inline]
    pub(super) fn own(&self, loc: &Loc) -> Result<()> {
        if self.module.owner().admits(loc.owner()) { Ok(()) } else { Err(loc::other_builder(loc)) }
    }

    /// Records a slot that [`finish`](Self::finish) checks, unless its function already has a base.
    pub(super) fn slot(&mut self, slot: Slot) {
        if !slot.has_base(&self.module) {
            self.slots.push(slot);
        }
    }

    /// Interns a name, and refuses one with a zero byte, which ends a name in DWARF. Errors name no entity.
    pub(super) fn name(&mut self, text: &str) -> Result<StringId> {
        let name = StringId::from_u32(self.module.strings.add(text));
        if self.module.strings.has_zero(text) { Err(zero_byte(text)) } else { Ok(name) }
    }

    /// Interns a name. [`finish`](Self::finish) reports a zero byte in it, because this call returns no error.
    pub(super) fn string(&mut self, text: &str, at: impl Fn(&Module) -> At) -> StringId {
        let name = StringId::from_u32(self.module.strings.add(text));
        // Only the first error is kept, because later errors can follow from it.
        if self.module.strings.has_zero(text) && self.wrong.is_none() {
            self.wrong = Some(zero_byte(text).or_at(at(&self.module)));
        }
        name
    }

    /// Interns a symbol's name, which is not empty.
    pub(super) fn symbol_name(&mut self, text: &str, at: impl Fn(&Module) -> At) -> StringId {
        if text.is_empty() && self.wrong.is_none() {
            self.wrong = Some(Error::bad_argument("symbol name is empty").or_at(at(&self.module)));
        }
        self.string(text, at)
    }

    /// Returns the first error in a call that returned no `Result`.
    pub(crate) fn take_wrong(&mut self) -> Result<()> {
        self.wrong.take().map_or(Ok(()), Err)
    }

    pub(super) fn known_unit(&self, unit: UnitId) -> Result<()> {
        known(self.module.units.is_valid(unit), || self.module.unknown(unit))
    }

    pub(super) fn known_function(
        &self,
        function: crate::model::FunctionId,
    ) -> Result<&crate::model::Function> {
        let missing = || self.module.unknown(function).into();
        self.module.functions.get(function).ok_or_else(missing)
    }
}

fn zero_byte(text: &str) -> Error {
    ErrorKind::ZeroByte { text: format!("the name `{}`", text.escape_debug()) }.into()
}
