//! Module facts on which each unit's lowering depends.

use std::sync::Mutex;

use hashbrown::DefaultHashBuilder;
use indexmap::IndexSet;

use super::by_unit::ByUnit;
use super::children::{Children, ListCount, ScopeItem, ScopeItems};
use super::loc::Memo;
use super::sequences::{Sequences, sequences};
use super::shared_macros::SharedMacros;
use super::type_units::TypeUnits;
use crate::consumer::{Consumer, Policy};
use crate::emit::format::Format;
use crate::emit::line::file_number;
use crate::emit::strings::StringIndices;
use crate::error::{Conflict, Error, ErrorKind, Result};
use crate::model::{
    CompileUnit, Discriminant, EntitySet, ExtraValue, FileId, FunctionId, Imported, Module, ProcedureId,
    Reach, ScopeId, TypeId, TypeKind, UnitId, VariantPartId,
};

/// Lowering for a module's units one by one, on several threads if the user wants.
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
    /// Procedures that are inlined in their callers, for a consumer without calls that yield locations.
    pub(super) inlined_procedures: EntitySet<ProcedureId>,
    pub(super) parts: TypeParts,
    pub(super) scopes: ByUnit,
    pub(super) files: ByUnit,
    /// Names of the split files, if units are split.
    pub(super) split_names: Vec<String>,
    /// Units' compilers with their command lines.
    pub(super) producers: IndexSet<String, DefaultHashBuilder>,
    pub(super) type_units: TypeUnits,
    pub(super) shared: Shared<'m>,
    /// Tables that lowered units left: one set for each thread that lowers.
    pub(super) scratch: Mutex<Vec<Scratch>>,
}

/// Parts of types to which an entry refers.
pub(super) struct TypeParts {
    pub(super) variant_parts: ByUnit,
    /// Data members and enumerators, sorted, and their indices by unit.
    pub(super) members: Vec<(TypeId, u32)>,
    pub(super) members_by_unit: ByUnit,
}

/// Lists that several units or functions use.
pub(super) struct Shared<'m> {
    pub(super) macros: SharedMacros<'m>,
    pub(super) sequences: Sequences<'m>,
    /// Whether other units have the same file names, which are then stored once.
    pub(super) has_others: bool,
}

impl core::fmt::Debug for Units<'_> {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        f.debug_struct("Units").field("consumer", self.consumer).finish_non_exhaustive()
    }
}

impl TypeParts {
    /// Collects the parts for a number of units.
    fn new(module: &Module, count: usize) -> Self {
        let members = referred_members(module);
        Self {
            variant_parts: ByUnit::new(count, 0..module.variant_parts.len() as u32, |id| {
                module.types[module.variant_parts[VariantPartId::from_u32(id)].of].unit
            }),
            members_by_unit: ByUnit::new(count, 0..members.len() as u32, |index| {
                module.types[members[index as usize].0].unit
            }),
            members,
        }
    }

    /// Number of a data member or enumerator in the list, if an entry refers to it.
    pub(super) fn member(&self, ty: TypeId, index: u32) -> Option<u32> {
        self.members.binary_search(&(ty, index)).ok().map(|number| number as u32)
    }
}

/// Returns the data members and enumerators to which an entry refers, sorted.
fn referred_members(module: &Module) -> Vec<(TypeId, u32)> {
    let values = module.lists.attributes.iter().filter_map(|attribute| match attribute.value {
        ExtraValue::Member(ty, index) => Some((ty, index)),
        _ => None,
    });
    let discriminants = module.variant_parts.values().filter_map(|part| match part.discriminant {
        Discriminant::Enclosing(ty, index) => Some((ty, index)),
        _ => None,
    });
    let imports = module.imports.values().filter_map(|import| match import.what {
        Imported::Member(ty, index) | Imported::Enumerator(ty, index) => Some((ty, index)),
        _ => None,
    });
    let mut members: Vec<_> = values.chain(discriminants).chain(imports).collect();
    members.sort_unstable();
    members.dedup();
    members
}

impl<'m> Units<'m> {
    /// Collects the facts about all units on which each unit's lowering depends.
    ///
    /// # Errors
    /// [`ErrorKind::InvalidConsumer`] for a DWARF version other than 2 to 5, for `.debug_names` before DWARF 5, for
    /// `.eh_frame` on a target without it, for line directives on a target without PTX, for rows of inlined calls beside
    /// other strings, for type units before DWARF 4 or with `.debug_names`, and for split units in
    /// a version other than DWARF 5 or with type units.
    pub fn new(module: &'m Module, consumer: &'m Consumer, policy: Policy) -> Result<Self> {
        if !(2..=5).contains(&consumer.version) {
            return Err(invalid(Conflict::Version(consumer.version)));
        }
        if consumer.tables.names && consumer.version < 5 {
            return Err(invalid(Conflict::Names(consumer.version)));
        }
        if consumer.has_type_units {
            if consumer.version < 4 {
                return Err(invalid(Conflict::TypeUnits(consumer.version)));
            }
            if consumer.tables.names {
                return Err(invalid(Conflict::NamesOfTypeUnits));
            }
        }
        if consumer.frames.eh_frame && !module.target.call_frames().has_eh_frame {
            return Err(invalid(Conflict::EhFrame(module.target.name().into())));
        }
        if consumer.has_line_directives && !module.target.has_lane_expressions() {
            return Err(invalid(Conflict::LineDirectives(module.target.name().into())));
        }
        if consumer.has_inlined_rows && (consumer.version > 4 || !consumer.entries.has_inline_strings) {
            return Err(invalid(Conflict::InlinedRows));
        }
        if module.reach == Reach::Module && (consumer.is_split || consumer.has_type_units) {
            return Err(invalid(Conflict::References));
        }
        if consumer.is_split {
            if consumer.version != 5 {
                return Err(invalid(Conflict::SplitVersion(consumer.version)));
            }
            if consumer.has_type_units {
                return Err(invalid(Conflict::SplitTypeUnits));
            }
        }
        let ((children, variables, lists), scope_items) = (Children::new(module), ScopeItems::new(module));
        let type_units = if consumer.has_type_units {
            TypeUnits::new(module, &children, &scope_items, consumer)
        } else {
            TypeUnits::default()
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
            shared: Shared {
                macros: SharedMacros::new(module, consumer),
                sequences: sequences(module),
                has_others: module.units.len() > 1,
            },
            scratch: Mutex::default(),
            variables,
            lists,
            types: ByUnit::new(count, module.types_in_order().map(TypeId::as_u32), |id| {
                module.types[TypeId::from_u32(id)].unit
            }),
            functions: ByUnit::new(count, module.functions_in_order().map(FunctionId::as_u32), |id| {
                unit_of(module.functions[FunctionId::from_u32(id)].scope)
            }),
            procedures: ByUnit::new(count, 0..module.procedures.len() as u32, |id| {
                module.procedures[ProcedureId::from_u32(id)].unit
            }),
            inlined_procedures: if module.procedures.is_empty() || consumer.has_locations_on_the_stack() {
                EntitySet::new()
            } else {
                module.called_procedures()
            },
            parts: TypeParts::new(module, count),
            scopes: ByUnit::new(count, module.scopes_in_order().map(ScopeId::as_u32), |id| {
                unit_of(ScopeId::from_u32(id))
            }),
            files: ByUnit::new(count, 0..module.files.len() as u32, |id| {
                module.files[FileId::from_u32(id)].unit
            }),
            split_names: if consumer.is_split { module.split_names() } else { Vec::new() },
            producers: module.units.values().filter_map(|unit| producer(module, unit)).collect(),
        })
    }

    /// A unit's imports, labels and calls.
    pub(super) fn items(&self, unit: UnitId) -> impl Iterator<Item = ScopeItem> + '_ {
        let ranges = self.scopes.ids(unit).map(|scope| self.scope_items.range(ScopeId::from_u32(scope)));
        ranges.flatten().map(|index| self.scope_items.get(index))
    }

    /// Whether a unit's entry states the described language version.
    pub(super) fn has_language_version(&self, unit: &CompileUnit) -> bool {
        self.consumer.entries.language_names
            && unit.language.is_some_and(|language| language.name().is_some())
    }

    /// Whether the line table has MD5 sums and source texts, as from DWARF 5 on.
    pub(super) fn has_file_contents(&self) -> bool {
        self.consumer.version >= 5 && !self.consumer.has_line_directives
    }

    /// Whether a string's entry states the string's size. Before DWARF 5, the attribute beside a length states the size of
    /// the length.
    pub(super) fn has_string_size(&self, string: TypeId) -> bool {
        let lengths = [gimli::DW_AT_string_length, gimli::DW_AT_string_length_byte_size];
        let mut attributes = self.module.attributes(string).iter();
        self.consumer.version >= 5 || !attributes.any(|attribute| lengths.contains(&attribute.name))
    }

    /// Type whose entry describes a type: the type itself, or without qualifiers whose tags the consumer does not know.
    /// `None` for `void`.
    #[inline(always)]
    pub(super) fn with_entry(&self, ty: TypeId) -> Option<TypeId> {
        if self.consumer.entries.last_tag.is_none() { Some(ty) } else { self.unqualified(ty) }
    }

    fn unqualified(&self, mut ty: TypeId) -> Option<TypeId> {
        while let TypeKind::Qualified { of, .. } = &self.module.types[ty].kind
            && !self.consumer.entries.knows_tag(self.module.types[ty].kind.tag())
        {
            ty = (*of)?;
        }
        Some(ty)
    }

    /// File number in a unit's rows and attributes.
    pub(super) fn file_number(&self, unit: UnitId, file: FileId) -> u64 {
        if self.consumer.has_line_directives {
            return u64::from(file.as_u32()) + 1;
        }
        file_number(self.format, self.files.place(unit, file.as_u32()).into())
    }
}

/// Compiler and command line, separated by a space as in gcc and LLVM; `None` without a command line.
pub(super) fn producer(module: &Module, unit: &CompileUnit) -> Option<String> {
    let compiler = unit.producer.map_or("", |producer| module.string(producer));
    unit.command_line.map(|command_line| format!("{compiler} {}", module.string(command_line)))
}

/// Error for a consumer whose fields contradict each other.
pub(super) fn invalid(what: Conflict) -> Error {
    ErrorKind::InvalidConsumer(what).into()
}

/// Tables that one unit's lowering leaves to the thread's next unit. No byte depends on them.
#[derive(Debug, Default)]
pub(super) struct Scratch {
    pub(super) memo: Memo,
    /// Empty, but with pages that the next unit can use again.
    pub(super) strings: StringIndices,
    /// Average size in bytes of a location list entry in the last unit with lists, rounded up.
    pub(super) entry_bytes: Option<usize>,
}
