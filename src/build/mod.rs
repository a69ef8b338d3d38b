//! Builder interface of [`model`](crate::model), called by a compiler as it compiles. A scope is added before its
//! contents, and a function's code before its pcs are used; otherwise the order is free. The `describe_…` methods add
//! properties to an existing unit, type, function or variable.
//!
//! Adding an entity returns its id, or a builder that ends in `id()`; ids are plain numbers and borrow nothing. Each
//! call checks its arguments immediately; its error names the unit, function, variable and pc range.
//! [`Builder::finish`] checks once what only the complete module shows, such as overlapping ranges and cyclic types.
//!
//! ```
//! use eitri::build::Builder;
//! use eitri::model::{BaseEncoding, Loc, Row};
//! use eitri::target::{Gfx, Target, Wave};
//!
//! let gpu = Target::amdgpu(Gfx::GFX1030, Wave::W32)?;
//! let (v3, v40, s4) = (gpu.vgpr(3)?, gpu.vgpr(40)?, gpu.sgpr(4)?);
//! let mut m = Builder::new(gpu);
//! let unit = m.unit("saxpy.cl");
//! let float = m.base_type(unit, "float", BaseEncoding::Float, 32)?;
//! let int = m.base_type(unit, "int", BaseEncoding::Signed, 32)?;
//! let saxpy = m.function(unit, "saxpy")?.code("saxpy", 0x180).kernel().id();
//! m.variable(saxpy, "acc", float)?.live(0x10..0x40, Loc::per_lane(v3))?;
//! m.variable(saxpy, "n", int)?
//!     .live(0x00..0x24, Loc::register(s4))?
//!     .live(0x24..0x180, Loc::lane(v40, 7))?;
//! let file = m.primary_file(unit)?;
//! m.row(saxpy, Row::new(0, file, 12).column(3))?;
//! let module = m.finish()?;
//! assert_eq!(module.variables().count(), 2);
//!
//! let mut m = Builder::new(module.target().clone());
//! let unit = m.unit("saxpy.cl");
//! let int = m.base_type(unit, "int", BaseEncoding::Signed, 32)?;
//! let saxpy = m.function(unit, "saxpy")?.code("saxpy", 0x180).id();
//! let error = m.variable(saxpy, "n", int)?.live(0x24..0x180, Loc::lane(v40, 70)).unwrap_err();
//! assert_eq!(
//!     error.to_string(),
//!     "unit `saxpy.cl`, function `saxpy`, variable `n`, pc 0x24..0x180: lane 70 is out of range for a 32-lane wave"
//! );
//! # Ok::<(), eitri::Error>(())
//! ```

mod calls;
mod control_flow;
mod dominators;
mod finish;
mod frame;
mod functions;
mod lanes;
mod loc;
mod macros;
mod names;
mod next;
mod order;
mod pcs;
mod properties;
mod scopes;
mod slots;
mod types;
mod units;
mod variables;

pub use calls::{ArgumentBuilder, CallBuilder};
pub(crate) use control_flow::Ends;
pub use control_flow::{BlockId, ControlFlow, ExecWrite, MaskId};
pub(crate) use dominators::{Dominators, UNREACHED};
#[cfg(feature = "json")]
pub(crate) use finish::Blame;
pub use frame::FrameBuilder;
pub use functions::FunctionBuilder;
pub use lanes::LanesBuilder;
pub(crate) use loc::scalar;
#[cfg(feature = "json")]
pub(crate) use loc::{MAX_LEVELS, too_deep};
pub use macros::MacroBuilder;
pub use names::{ImportBuilder, LabelBuilder};
pub use scopes::InScope;
pub use types::{DataMember, Extent, HasMembers, Major, Template, TypeBuilder, VariantId};
pub use units::UnitBuilder;
pub use variables::VariableBuilder;

use cranelift_entity::{PrimaryMap, SecondaryMap};
use hashbrown::{DefaultHashBuilder, HashTable};
use indexmap::IndexMap;

use crate::error::{At, Error, ErrorKind, Result};
use crate::model::{
    Entity, ExprId, FileId, Module, Pool, ProcedureId, Recent, Row, StringId, Symbol, Type, TypeId, UnitId,
};
use crate::op::{Expr, FixupKind};
use crate::target::Target;

/// Builds a [`Module`].
#[derive(Debug)]
pub struct Builder {
    module: Module,
    /// Types that are compared by their contents, each with its hash.
    interned: HashTable<(u64, TypeId)>,
    hasher: DefaultHashBuilder,
    /// The function of each row.
    row_functions: Vec<crate::model::FunctionId>,
    order: order::Order,
    /// Files by unit, directory and name.
    files: IndexMap<(UnitId, Option<StringId>, StringId), FileId, DefaultHashBuilder>,
    /// The unit of each macro.
    macro_units: Vec<UnitId>,
    /// Surroundings of each scope.
    around: PrimaryMap<crate::model::ScopeId, scopes::Around>,
    preprocessors: SecondaryMap<UnitId, macros::Preprocessor>,
    /// Checked facts of each procedure's location.
    procedures: loc::Procedures,
    /// Recent locations of variables.
    recent: Recent<variables::Placed>,
    /// Locations with stack slots in functions without a known stack base.
    slots: Vec<slots::Slot>,
    /// First error of a call that returns no `Result`.
    wrong: Option<Error>,
}

impl Builder {
    /// Returns an empty module for a target.
    pub fn new(target: Target) -> Self {
        let module = Module {
            target,
            strings: Default::default(),
            exprs: Default::default(),
            units: Default::default(),
            files: Default::default(),
            types: Default::default(),
            variant_parts: Default::default(),
            scopes: Default::default(),
            functions: Default::default(),
            variables: Default::default(),
            enclosing_scope: SecondaryMap::new(),
            procedures: Default::default(),
            calls: Default::default(),
            imports: Default::default(),
            labels: Default::default(),
            locs: Pool::default(),
            lanes: Default::default(),
            lists: Default::default(),
        };
        Self {
            module,
            interned: HashTable::new(),
            hasher: DefaultHashBuilder::default(),
            row_functions: Vec::new(),
            order: Default::default(),
            files: Default::default(),
            macro_units: Vec::new(),
            around: PrimaryMap::new(),
            preprocessors: SecondaryMap::new(),
            procedures: SecondaryMap::new(),
            recent: Default::default(),
            slots: Vec::new(),
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

    /// Returns a symbol of the object by name: a function or variable that the linker knows. [`finish`](Self::finish)
    /// refuses an empty name.
    pub fn symbol(&mut self, name: &str) -> Symbol {
        Symbol(self.symbol_name(name, |_| At::default()))
    }

    /// Adds a raw expression, for [`Loc::expr`](crate::model::Loc::expr). Slot *n* of the expression refers to
    /// `entities[n]`.
    ///
    /// # Errors
    /// [`ErrorKind::UnknownId`] where an entity does not exist, or a slot is without an entity;
    /// [`ErrorKind::BadArgument`] where the operation cannot refer to a slot's kind of entity.
    pub fn expr(&mut self, expr: Expr, entities: &[Entity]) -> Result<ExprId> {
        for entity in entities {
            let is_there = match *entity {
                Entity::Variable(variable) => self.module.variables.is_valid(variable),
                Entity::Type(ty) => self.module.types.is_valid(ty),
                Entity::Procedure(procedure) => self.module.procedures.is_valid(procedure),
                Entity::Symbol(symbol, _) => (symbol.0.as_u32() as usize) < self.module.strings.len(),
            };
            known(is_there, || entity_text(&self.module, *entity))?;
        }
        for fixup in expr.fixups() {
            let slot = fixup.slot.0;
            let Some(entity) = entities.get(slot as usize) else {
                return Err(ErrorKind::UnknownId(format!("slot {slot}")).into());
            };
            let fits = match fixup.kind {
                FixupKind::Type { .. } => matches!(entity, Entity::Type(_)),
                FixupKind::Address => matches!(entity, Entity::Symbol(..)),
                FixupKind::Entry { .. } | FixupKind::EntrySection => !matches!(entity, Entity::Symbol(..)),
            };
            if !fits {
                let entity = entity_text(&self.module, *entity);
                return Err(Error::bad_argument(format!(
                    "the operation with slot {slot} cannot refer to {entity}"
                )));
            }
        }
        let (index, _) = self.module.exprs.insert_full((expr, entities.to_vec()));
        Ok(ExprId::from_u32(index as u32))
    }

    /// Adds a location that other locations share by [`Loc::call`](crate::model::Loc::call).
    ///
    /// # Errors
    /// The errors of [`VariableBuilder::live`].
    pub fn procedure(&mut self, unit: UnitId, loc: &crate::model::Loc) -> Result<ProcedureId> {
        self.known_unit(unit)?;
        let at = |error: Error| error.or_at(self.module.at_unit(unit));
        let checked = loc::facts(self, unit, loc, None, "the location").map_err(at)?;
        let loc = self.module.locs.push(loc)?;
        let procedure = self.module.procedures.push(crate::model::Procedure { unit, loc });
        self.procedures[procedure] = checked;
        Ok(procedure)
    }

    /// Adds a stand-alone location of `bits` bits, where the size is known.
    pub(crate) fn loc(
        &mut self,
        unit: UnitId,
        loc: &crate::model::Loc,
        bits: Option<u64>,
    ) -> Result<crate::model::LocId> {
        loc::check(self, unit, loc, bits, "the location")?;
        self.module.locs.push(loc)
    }

    /// Adds a row to a function's line table. Rows may be added in any order.
    ///
    /// # Errors
    /// [`ErrorKind::UnknownId`] where the function or file does not exist, or the file belongs to another unit;
    /// [`ErrorKind::OutsideFunction`] where the pc is outside the function; [`ErrorKind::Misaligned`] where the pc is
    /// not a multiple of the target's shortest instruction.
    pub fn row(&mut self, function: crate::model::FunctionId, row: Row) -> Result<()> {
        let scope = self.known_function(function)?.scope;
        let bytes = self.module.functions[function].bytes;
        let unit = self.module.scopes[scope].unit;
        let is_there = self.module.files.get(row.file).is_some_and(|file| file.unit == unit);
        let result = if row.pc >= bytes {
            Err(Error::new(ErrorKind::OutsideFunction { size: bytes }))
        } else {
            pcs::instruction(&self.module.target, row.pc)
                .and_then(|()| known(is_there, || format!("{} of this unit", row.file)))
        };
        result.map_err(|error| {
            let pcs = Some(row.pc..row.pc.saturating_add(1));
            error.or_at(At { pcs, ..self.module.at_scope(scope) })
        })?;
        self.add_row(function, row);
        Ok(())
    }

    /// Estimates the bytes of memory that the module and its name tables take after `more` further statements. Growing
    /// vectors double their capacity.
    #[cfg(feature = "json")]
    pub(crate) fn bytes_soon(&self, more: usize) -> usize {
        /// Bytes of an entry in a name table.
        const NAME: usize = 48;
        let of = |count: usize, bytes: usize| match count {
            0 => 0,
            _ => (count + more).next_power_of_two() * bytes,
        };
        let module = &self.module;
        of(module.units.len(), size_of::<crate::model::Unit>() + NAME)
            + of(module.files.len(), size_of::<crate::model::File>() + NAME)
            + of(module.types.len(), size_of::<Type>() + NAME)
            + of(module.scopes.len(), size_of::<crate::model::Scope>() + NAME)
            + of(module.functions.len(), size_of::<crate::model::Function>() + NAME)
            + of(module.variables.len(), size_of::<crate::model::Variable>())
            + of(module.lists.live.len(), size_of::<crate::model::Live>())
            + of(module.lists.rows.len(), size_of::<Row>())
            + of(module.lists.frame_rules.len(), size_of::<crate::model::FrameRule>())
            + of(module.locs.bytes(), 1)
    }

    /// Interns a name, and refuses one with a zero byte, which ends a name in DWARF. Errors name no place.
    fn name(&mut self, text: &str) -> Result<StringId> {
        let name = StringId::from_u32(self.module.strings.add(text));
        if self.module.strings.has_zero(text) { Err(zero_byte(text)) } else { Ok(name) }
    }

    /// Interns a name, and leaves the error of a zero byte to [`finish`](Self::finish).
    fn string(&mut self, text: &str, at: impl Fn(&Module) -> At) -> StringId {
        let name = StringId::from_u32(self.module.strings.add(text));
        if self.module.strings.has_zero(text) && self.wrong.is_none() {
            self.wrong = Some(zero_byte(text).or_at(at(&self.module)));
        }
        name
    }

    /// Interns a symbol's name, which is not empty.
    fn symbol_name(&mut self, text: &str, at: impl Fn(&Module) -> At) -> StringId {
        if text.is_empty() && self.wrong.is_none() {
            self.wrong = Some(Error::bad_argument("the name of a symbol is empty").or_at(at(&self.module)));
        }
        self.string(text, at)
    }

    /// Returns the first error of a call that returned no `Result`.
    pub(crate) fn take_wrong(&mut self) -> Result<()> {
        self.wrong.take().map_or(Ok(()), Err)
    }

    fn known_unit(&self, unit: UnitId) -> Result<()> {
        known(self.module.units.is_valid(unit), || unit.to_string())
    }

    fn known_function(&self, function: crate::model::FunctionId) -> Result<&crate::model::Function> {
        let missing = || ErrorKind::UnknownId(function.to_string()).into();
        self.module.functions.get(function).ok_or_else(missing)
    }
}

#[cold]
fn zero_byte(text: &str) -> Error {
    ErrorKind::ZeroByte { text: format!("the name `{}`", text.escape_debug()) }.into()
}

/// Name of an entity in an error: its id, if it does not exist.
fn entity_text(module: &Module, entity: Entity) -> String {
    match entity {
        Entity::Variable(id) => match module.variables.get(id).and_then(|of| of.name) {
            Some(name) => format!("variable `{}`", module.string(name)),
            None => id.to_string(),
        },
        Entity::Type(id) if module.types.is_valid(id) => module.called(id),
        Entity::Type(id) => id.to_string(),
        Entity::Procedure(id) => id.to_string(),
        Entity::Symbol(symbol, _) => match module.strings.get(symbol.0.as_u32()) {
            Some(name) => format!("symbol `{name}`"),
            None => format!("the symbol {}", symbol.0),
        },
    }
}

/// Refuses an id that does not exist.
#[inline]
fn known(is_there: bool, name: impl FnOnce() -> String) -> Result<()> {
    if is_there { Ok(()) } else { Err(ErrorKind::UnknownId(name()).into()) }
}
