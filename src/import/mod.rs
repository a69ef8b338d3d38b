//! Imports any producer's debug information: from the facts in an object's bytes to a [`Module`], which can be checked,
//! changed, and written for any consumer.
//!
//! The import knows nothing of the writing half: each attribute's meaning is taken from the specification. Otherwise a
//! comparison of what is read with what is written would prove nothing.
//!
//! ```
//! # fn main() -> eitri::Result<()> {
//! # let bytes = include_bytes!("../../examples/data/squares.o");
//! let imported = eitri::import::import(bytes, &eitri::import::ImportOptions::default())?;
//! assert!(imported.module.functions().count() > 0);
//! for fact in &imported.unimported {
//!     println!("{fact}");
//! }
//! # Ok(())
//! # }
//! ```
//!
//! | facts | model |
//! |---|---|
//! | an abstract instance, and its first instance with code | one function |
//! | a declaration and its definition | two functions or variables |
//! | a type that several units use, in a type unit or a partial unit | one type for each unit |
//! | equal types in a unit, except structures, classes, unions, enumerations, and types with further properties | one type |
//! | overlapping entries and the default entry of a location list | disjoint live ranges, some with several locations |
//! | an address in a relocatable object; in a linked object | a symbol plus bytes; a number |
//! | an upper bound of an array | a number of elements |
//! | a frame description of several functions, or several of one function | each function's rules |
//!
//! Nothing is dropped in silence: an attribute of an entry, an entry, a row or a frame that the model lacks, or that
//! contradicts other facts, is listed in [`ImportedDwarf::unimported`].

mod calls;
mod completed;
mod decoded;
mod discarded;
mod entries;
mod equal;
mod expression;
mod files;
mod form;
mod frames;
mod functions;
mod homes;
mod importer;
mod imports;
mod instances;
mod known;
mod lanes;
mod lines;
mod live;
mod location;
mod macros;
mod node;
mod order;
mod parts;
mod ptx;
mod recurring;
mod rest;
mod scopes;
mod shared;
mod sources;
mod symbols;
mod taken;
mod typed;
mod types;
mod undescribed;
mod unimported;
mod unit_order;
mod units;
mod unowned;
mod variables;

pub use discarded::ImportedCode;
pub(crate) use discarded::is_root;
pub use entries::ImportedEntries;
pub use equal::DifferentTypes;
pub(crate) use equal::EqualTypes;
#[doc(hidden)]
pub use expression::{
    Context, EntryOffset, InitialStack, Procedure, References, Unresolved, Untyped, UntypedReason, location,
    value,
};
pub use form::ImportedExpressions;
pub(crate) use shared::ImportedTypes;
pub use unimported::{UnimportedFact, UnimportedReason};

use gimli::constants as dw;
use hashbrown::{HashMap, HashSet};

use crate::build::Builder;
use crate::error::{ErrorKind, Result};
use crate::eval::DebugInfo;
use crate::model::{EntryPositions, Module, UnitId};
use crate::op::Dialect;
use crate::read::{Dwarf, Object, ReadOptions, SplitFiles};
use crate::target::{Gfx, Target};
use decoded::Decoded;
use discarded::Discarded;
use homes::Homes;
use importer::{Chosen, Entities, Extras, FunctionCode, FunctionFrames, Importer, MOST_COPIES};
use recurring::Expressions;
use shared::UnitTypes;
use sources::Sources;
use symbols::Symbols;
use taken::Taken;

/// What to import.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct ImportOptions<'a> {
    /// The target, where neither the object nor its subprograms state it: the wave size of AMD's processors that run both
    /// sizes.
    pub target: Option<Target>,
    /// Encoding of vendors' operations, which an object does not state. `None` is the encoding that its expressions have.
    pub dialect: Option<Dialect>,
    /// Form of locations and numbers.
    pub expressions: ImportedExpressions,
    /// Code whose entries are imported, in an object that a linker wrote.
    pub code: ImportedCode,
    /// Functions to import, by name or linkage name; all if it is empty. What they refer to is imported too.
    pub only: Vec<String>,
    /// Split files, whose units are imported with the object's code.
    pub split: SplitFiles<'a>,
    /// Contents of the [supplementary file](crate::read::Object::set_supplementary).
    pub supplementary: Option<&'a [u8]>,
    /// Number of threads that read the object; 0 and 1 mean a single thread.
    pub threads: usize,
    /// How types that several units use are imported. Only [`lower`](crate::lower::lower()) takes a module whose units refer
    /// to each other's types.
    pub(crate) types: ImportedTypes,
    /// Whether functions share the sequences of rows that they have in the object. A description as a file cannot say it.
    pub(crate) has_sequences: bool,
}

impl Default for ImportOptions<'_> {
    /// All functions of an object that states its target, in the dialect of its expressions.
    fn default() -> Self {
        Self {
            target: None,
            dialect: None,
            expressions: ImportedExpressions::Typed,
            code: ImportedCode::All,
            only: Vec::new(),
            split: SplitFiles::default(),
            supplementary: None,
            threads: 1,
            types: ImportedTypes::Copied,
            has_sequences: false,
        }
    }
}

/// A model built from an object's debug information.
#[derive(Debug)]
#[non_exhaustive]
pub struct ImportedDwarf {
    /// The description.
    pub module: Module,
    /// The facts that the model lacks, in the order of their sections and offsets.
    pub unimported: Vec<UnimportedFact>,
    /// Entities of the description, by the object's entries.
    pub entries: ImportedEntries,
    /// Number of types that are not imported, because an equal type of the same or another unit is.
    pub(crate) merged: usize,
    /// Different types with one name.
    pub(crate) different: Vec<DifferentTypes>,
}

/// Builds the model that an object's debug information describes.
///
/// # Errors
/// The errors of [`Object::read`] and [`Dwarf::read_with`], and errors from the finder in [`ImportOptions::split`];
/// [`Unsupported`](ErrorKind::Unsupported) where the object's target is unknown.
pub fn import(bytes: &[u8], options: &ImportOptions<'_>) -> Result<ImportedDwarf> {
    let object = Object::read_with(bytes, options.supplementary, options.target.as_ref())?;
    let dwarf = Dwarf::read_with(
        &object,
        &ReadOptions::new().dialect(options.dialect).threads(options.threads).readable(),
    )?;
    let target = target(options.target.as_ref(), &object, &dwarf)?;
    import_read(&object, target, &dwarf, options)
}

/// Returns an object's target: as given, or else as the object states it, or as its subprograms' lane count does.
pub(crate) fn target(given: Option<&Target>, object: &Object<'_>, dwarf: &Dwarf<'_>) -> Result<Target> {
    given.cloned().or_else(|| DebugInfo::new(dwarf).target(object)).ok_or_else(|| {
        let (machine, flags) = (object.machine(), object.flags());
        let problem = match object.gfx().map(Gfx::name) {
            Some(gfx) => format!(
                "the object is for {gfx}, which runs waves of 32 and of 64 lanes, and neither its kernels nor its \
                 subprograms state a number of lanes; expected the option `target`, such as `amdgpu-{gfx}-wave32`"
            ),
            None => format!(
                "no built-in target is that of ELF machine {machine} with flags {flags:#x}; expected an object for a \
                 built-in target, or the option `target`"
            ),
        };
        ErrorKind::Unsupported(problem).into()
    })
}

/// Builds the model of an object that was read. The object's bytes, target and dialect in the options are not used.
pub(crate) fn import_read(
    object: &Object<'_>,
    target: Target,
    dwarf: &Dwarf<'_>,
    options: &ImportOptions<'_>,
) -> Result<ImportedDwarf> {
    options.split.with(object, dwarf, |split| import_files(object, target, dwarf, split, options))
}

fn import_files(
    object: &Object<'_>,
    target: Target,
    dwarf: &Dwarf<'_>,
    split: &[Dwarf<'_>],
    options: &ImportOptions<'_>,
) -> Result<ImportedDwarf> {
    let symbols = Symbols::new(object);
    let m_target = target.clone();
    let mut m = Builder::new(target);
    let mut unimported = Vec::new();
    let mut entries = ImportedEntries::default();
    if options.types != ImportedTypes::Copied {
        m.refer_between_units();
    }
    let mut merged = 0;
    let mut different = Vec::new();
    let mut positions = EntryPositions::default();
    let split_units = SplitUnits::new(dwarf, split);
    for file in core::iter::once(dwarf).chain(split) {
        let Some(first) = file.units().first() else { continue };
        let mut importer = Importer {
            m,
            symbols: &symbols,
            chosen: Chosen {
                only: &options.only,
                discarded: Discarded::new(file, &symbols, options.code),
                has_sequences: options.has_sequences,
            },
            expressions: Expressions::new(options.expressions),
            target: m_target.clone(),
            room: file.entries().len().saturating_mul(MOST_COPIES),
            facts: Vec::new(),
            dwarf: file,
            decoded: Decoded::default(),
            taken: Taken::new(file),
            info: first,
            unit: UnitId::from_u32(0),
            made: Entities::default(),
            sources: Sources::default(),
            code: FunctionCode::default(),
            frames: FunctionFrames::default(),
            homes: Homes::default(),
            extras: Extras::default(),
            entries: ImportedEntries::after(positions),
            types: UnitTypes::new(file, options.types),
        };
        if file.split_file().is_none() {
            match Homes::new(object) {
                Ok(homes) => importer.homes = homes,
                Err(error) => {
                    let offset = error.at().offset.unwrap_or(0);
                    let reason = UnimportedReason::Unreadable(error);
                    importer.list_fact(UnimportedFact::new(homes::MAP, offset, reason), &[]);
                }
            }
        }
        import_file(&mut importer, &split_units);
        let Importer { m: builder, facts, entries: mut own, types, .. } = importer;
        positions = core::mem::take(&mut own.positions);
        merged += types.equal.count();
        different.extend(types.equal.different);
        m = builder;
        if file.split_file().is_none() {
            entries = own;
        }
        let start = unimported.len();
        unimported.extend(facts);
        let facts: &mut [UnimportedFact] = &mut unimported[start..];
        facts.sort_by(|one, other| {
            let key = |fact: &UnimportedFact| (fact.section, fact.offset, fact.attribute.map(|name| name.0));
            key(one).cmp(&key(other))
        });
    }
    for error in dwarf.errors().iter().chain(split.iter().flat_map(|split| split.errors())) {
        let offset = error.at().offset.unwrap_or(0);
        let reason = UnimportedReason::Unreadable(error.clone());
        unimported.push(UnimportedFact {
            file: error.at().split_file.clone(),
            unit: error.at().unit.clone(),
            ..UnimportedFact::new(".debug_info", offset, reason)
        });
    }
    unimported.extend(unowned::facts(object, dwarf));
    entries.sort();
    let mut module = m.finish()?;
    module.order_entries(&positions);
    Ok(ImportedDwarf { module, unimported, entries, merged, different })
}

/// Units in files of their own, and their skeletons.
struct SplitUnits<'d> {
    /// Numbers of the units that were read.
    read: HashSet<u64>,
    /// Names of the files, by number. The first skeleton with a number counts.
    names: HashMap<Option<u64>, Option<&'d str>>,
}

impl<'d> SplitUnits<'d> {
    fn new(main: &'d Dwarf<'_>, split: &'d [Dwarf<'_>]) -> Self {
        let mut names = HashMap::new();
        for skeleton in main.units().iter().filter(|unit| unit.is_skeleton()) {
            names.entry(skeleton.dwo_id).or_insert(skeleton.dwo_name.as_deref());
        }
        Self { read: split.iter().flat_map(Dwarf::units).filter_map(|unit| unit.dwo_id).collect(), names }
    }
}

/// Imports the units of a file: the object, or a file of split units.
fn import_file<'d, 'o>(importer: &mut Importer<'d, 'o>, split: &SplitUnits<'d>) {
    let file = importer.dwarf;
    for info in unit_order::units(importer) {
        match info.kind {
            dw::DW_UT_compile => units::import(importer, info, None),
            dw::DW_UT_split_compile => {
                units::import(importer, info, split.names.get(&info.dwo_id).copied().flatten());
            }
            // The facts of a skeleton are those of its split unit.
            dw::DW_UT_skeleton => {
                if let Some(root) = file.root(info) {
                    importer.info = info;
                    if info.dwo_id.is_some_and(|id| split.read.contains(&id)) {
                        units::skeleton(importer, root);
                    } else {
                        importer.leave_entry(root, UnimportedReason::NoSplitUnit);
                    }
                }
            }
            // Entries of type units and partial units are imported for the units that refer to them.
            _ => {
                if let Some(root) = file.root(info) {
                    importer.import(root);
                    units::mark_structure(importer, root);
                    importer.mark(root, dw::DW_AT_language);
                }
            }
        }
        importer.extra_attributes();
    }
    functions::inlined(importer);
    importer.frames();
    let cyclic = importer.m.break_cycles();
    if !cyclic.is_empty() {
        importer.list_in(".debug_info", 0, UnimportedReason::CyclicType);
    }
    importer.other_homes();
    importer.repeat_copies();
    importer.rest();
}
