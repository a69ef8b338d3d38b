//! Lowering of single units, and their join.

use std::sync::{Mutex, MutexGuard};

use cranelift_entity::EntitySet;
use hashbrown::DefaultHashBuilder;
use indexmap::IndexSet;

use super::Lowered;
use super::dies::{self, Dies};
use super::entries::{ByUnit, Children, ListCount};
use super::frame::UnitFrames;
use super::link::Linker;
use super::scope_items::ScopeItems;
use super::scratch::Scratch;
use super::split::{Skeleton, SplitUnit};
use super::type_units::{self, TypeUnit, TypeUnits};
use crate::consumer::{Consumer, Policy};
use crate::emit::Relocation;
use crate::emit::abbrev::Abbreviations;
use crate::emit::format::Format;
use crate::emit::info::Elsewhere;
use crate::emit::lists::FinishedLists;
use crate::emit::named::NamedEntries;
use crate::error::{At, Error, ErrorKind, Result};
use crate::model::{FunctionId, Module, ProcedureId, UnitId};
use crate::omission::Omission;

/// Lowering of a module's units one by one, on several threads if the user wants.
///
/// [`lower()`](super::lower()) does the same on one thread. The bytes do not depend on the order or the threads.
///
/// ```
/// # use eitri::{build::Builder, lower::{Consumer, Policy, Units, lower}, target::Target};
/// # let mut m = Builder::new(Target::x86_64());
/// # for name in ["a.c", "b.c", "c.c"] { m.unit(name); }
/// # let module = m.finish()?;
/// let consumer = Consumer::dwarf5();
/// let units = &Units::new(&module, &consumer, Policy::Strict)?;
/// let written = std::thread::scope(|scope| {
///     let threads: Vec<_> =
///         module.units().map(|(id, _)| scope.spawn(move || units.lower(id))).collect();
///     threads.into_iter().map(|thread| thread.join().unwrap()).collect::<eitri::Result<Vec<_>>>()
/// })?;
/// assert_eq!(units.link(written)?, lower(&module, &consumer, Policy::Strict)?);
/// # Ok::<(), eitri::Error>(())
/// ```
pub struct Units<'m> {
    pub(super) module: &'m Module,
    pub(super) consumer: &'m Consumer,
    pub(super) policy: Policy,
    pub(super) format: Format,
    pub(super) children: Children,
    pub(super) scope_items: ScopeItems,
    pub(super) variables: ByUnit,
    pub(super) lists: Vec<ListCount>,
    pub(super) types: ByUnit,
    pub(super) functions: ByUnit,
    pub(super) procedures: ByUnit,
    /// Procedures that are replaced in their callers, for a consumer without calls of locations.
    pub(super) inlined_procedures: EntitySet<ProcedureId>,
    pub(super) variant_parts: ByUnit,
    pub(super) scopes: ByUnit,
    pub(super) files: ByUnit,
    /// Names of the split files, if units are split.
    pub(super) split_names: Vec<String>,
    /// Compilers of units with their command lines.
    pub(super) producers: IndexSet<String, DefaultHashBuilder>,
    pub(super) type_units: TypeUnits,
    /// Whether other units have the same file names, which are stored once then.
    pub(super) has_others: bool,
    /// Left by lowered units: one for each thread that lowers.
    pub(super) scratch: Mutex<Vec<Scratch>>,
}

impl core::fmt::Debug for Units<'_> {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        f.debug_struct("Units").field("consumer", self.consumer).finish_non_exhaustive()
    }
}

/// Lowered unit, with its part of every section.
#[derive(Debug)]
pub struct LoweredUnit {
    pub(super) unit: UnitId,
    pub(super) info: Part,
    pub(super) abbreviations: Abbreviations,
    /// Offsets of the unit's entries, for references from other units.
    pub(super) offsets: Vec<u32>,
    /// Strings that the unit refers to by index.
    pub(super) strings: Vec<u32>,
    pub(super) addresses: Part,
    pub(super) loclists: FinishedLists,
    pub(super) rnglists: FinishedLists,
    pub(super) line: Part,
    pub(super) macros: Part,
    /// Functions that have code.
    pub(super) code: Vec<FunctionId>,
    pub(super) frames: UnitFrames,
    /// Entries for the name index.
    pub(super) named: NamedEntries,
    /// Type units that the unit writes, which share its abbreviations.
    pub(super) type_units: Vec<TypeUnit>,
    pub(super) omissions: Vec<Omission>,
    /// Whether recurring subexpressions became procedures.
    pub(super) has_shared: bool,
    /// Skeleton of a split unit, until the rest moves into a separate file.
    pub(super) skeleton: Option<Skeleton>,
    pub(super) split: Option<SplitUnit>,
}

/// Part of a section that belongs to a unit.
#[derive(Debug, Default)]
pub(super) struct Part {
    pub(super) bytes: Vec<u8>,
    pub(super) relocations: Vec<Relocation>,
    pub(super) elsewhere: Vec<Elsewhere>,
}

impl LoweredUnit {
    /// Size in bytes of the unit's entries and location lists.
    fn bytes(&self) -> usize {
        self.info.bytes.len() + self.loclists.bytes.len()
    }
}

impl<'m> Units<'m> {
    /// Collects the facts of all units that the lowering of one depends on.
    ///
    /// # Errors
    /// [`ErrorKind::InvalidConsumer`] for a DWARF version other than 2 to 5, for `.debug_names` before DWARF 5, for
    /// `.eh_frame` on a target without it, for type units before DWARF 4 or with `.debug_names`, and for split units of
    /// another version than DWARF 5 or with type units.
    pub fn new(module: &'m Module, consumer: &'m Consumer, policy: Policy) -> Result<Self> {
        if !(2..=5).contains(&consumer.version) {
            let what = format!("DWARF {} cannot be written: 2 to 5 can", consumer.version);
            return Err(invalid(what));
        }
        if consumer.tables.names && consumer.version < 5 {
            return Err(invalid("`.debug_names` came with DWARF 5: older versions have `.debug_pubnames`"));
        }
        if consumer.has_type_units {
            if consumer.version < 4 {
                let what =
                    format!("type units require DWARF 4 or newer: the version is {}", consumer.version);
                return Err(invalid(what));
            }
            if consumer.tables.names {
                let what = "`.debug_names` of an object cannot refer to type units, which a linker may drop";
                return Err(invalid(what));
            }
        }
        if consumer.frames.eh_frame && !module.target.call_frames().has_eh_frame {
            let what = format!("the ABI of {} has no `.eh_frame`", module.target.name());
            return Err(invalid(what));
        }
        let ((children, variables, lists), scope_items) = (Children::new(module), ScopeItems::new(module));
        let type_units = match consumer.has_type_units {
            true => TypeUnits::new(module, &children, &scope_items, consumer),
            false => TypeUnits::default(),
        };
        let count = module.units.len();
        let unit_of = |scope| module.scopes[scope].unit;
        Ok(Self {
            module,
            consumer,
            policy,
            format: Format {
                version: consumer.version,
                offset_bytes: consumer.format.word_size(),
                address_bytes: module.target.address_bytes(),
                big_endian: module.target.is_big_endian(),
            },
            children,
            scope_items,
            type_units,
            has_others: module.units.len() > 1,
            scratch: Mutex::default(),
            variables,
            lists,
            types: ByUnit::new(count, module.types.values().map(|one| one.unit)),
            functions: ByUnit::new(count, module.functions.values().map(|one| unit_of(one.scope))),
            procedures: ByUnit::new(count, module.procedures.values().map(|one| one.unit)),
            inlined_procedures: match module.procedures.is_empty() || consumer.has_locations_on_the_stack() {
                true => EntitySet::new(),
                false => module.called_procedures(),
            },
            variant_parts: ByUnit::new(
                count,
                module.variant_parts.values().map(|one| module.types[one.of].unit),
            ),
            scopes: ByUnit::new(count, module.scopes.values().map(|one| one.unit)),
            files: ByUnit::new(count, module.files.values().map(|one| one.unit)),
            split_names: Self::split_names(module, consumer)?,
            producers: module.units.values().filter_map(|unit| dies::producer(module, unit)).collect(),
        })
    }

    /// Lowers a unit.
    ///
    /// # Errors
    /// The errors of [`lower()`](super::lower()); [`ErrorKind::UnknownId`] where the unit is not the module's.
    pub fn lower(&self, unit: UnitId) -> Result<LoweredUnit> {
        let left = |mut all: MutexGuard<'_, Vec<Scratch>>| all.pop();
        let mut scratch = self.scratch.lock().ok().and_then(left).unwrap_or_default();
        let lowered = self.lower_with(unit, &mut scratch);
        if let Ok(mut all) = self.scratch.lock() {
            all.push(scratch);
        }
        lowered
    }

    fn lower_with(&self, unit: UnitId, scratch: &mut Scratch) -> Result<LoweredUnit> {
        let Some(data) = self.module.units.get(unit) else {
            return Err(ErrorKind::UnknownId(unit.to_string()).into());
        };
        let named = |error: Error| {
            let name = self.module.string(data.name);
            error.or_at(At { unit: Some(name.into()), ..At::default() })
        };
        let mut lower = |abbreviations, shares| {
            Dies::new(self, unit, abbreviations).write(shares, scratch).map_err(named)
        };
        let mut shares = true;
        let mut written = lower(Abbreviations::default(), shares)?;
        if written.has_shared {
            // Where equal lists are shared anyway, calls and procedures can take more room than they save.
            let plain = lower(Abbreviations::default(), false)?;
            if plain.bytes() <= written.bytes() {
                (written, shares) = (plain, false);
            }
        }
        // The number of uses of each abbreviation is known only now. In few units the order makes a difference.
        if written.abbreviations.saved_by_order() * WORTHWHILE > written.info.bytes.len() as u64 {
            written = lower(written.abbreviations.by_use(), shares)?;
        }
        written.frames = self.frames(unit).map_err(named)?;
        written.omissions.append(&mut written.frames.omissions);
        self.split(&mut written).map_err(named)?;
        let (types, abbreviations) = type_units::write(self, unit, written.abbreviations).map_err(named)?;
        (written.type_units, written.abbreviations) = (types, abbreviations);
        Ok(written)
    }

    /// Joins all units of the module, given in any order.
    ///
    /// # Errors
    /// [`ErrorKind::UnknownId`] where a unit is missing or occurs twice; [`ErrorKind::TooLarge`] where a section does
    /// not fit the 32-bit DWARF format.
    pub fn link(&self, units: Vec<LoweredUnit>) -> Result<Lowered> {
        let mut linker = Linker::new(self);
        linker.append_all(self, units)?;
        super::directives::added(self, linker.finish()?)
    }
}

/// Minimum saving, as the reciprocal of a fraction of the unit, for which a unit is lowered again.
const WORTHWHILE: u64 = 200;

/// Error for a consumer whose fields contradict each other.
#[cold]
pub(super) fn invalid(what: impl Into<String>) -> Error {
    ErrorKind::InvalidConsumer(what.into()).into()
}
