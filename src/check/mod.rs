//! Comparison of an object's meaning with the description that it was written from.
//!
//! The property, formally. Let *M* be a module and *B* an object's bytes. For every variable *v* in *M* with size
//! *n*, every pc *p* in its function, every lane *l* in the wave and all machine contents *c*, wherever *B* is
//! loaded:
//!
//! > the spans of the first *n* bits of `denote(v at p, l, c)` are the spans of the first *n* bits of
//! > `eval(the location of v's entry in B, p, l, c)`: the same bits of the same storages, in every location
//! > that *v* has.
//!
//! `denote` is [the model's own meaning](crate::model), which knows nothing of DWARF; `eval` is the [reference
//! evaluator](crate::eval), which reads *B* and knows nothing of *M*. Neither shares code with the writer, apart from
//! the operation table, so that a mistake in the writer shows as a difference.
//!
//! Not every *p*, *l* and *c* is tried, but [witnesses](witness): those at which a mistake shows. The limits: a raw
//! expression has no denotation, so that its variable is [unproven](Unproven); and a mistake that needs other
//! contents than the witnesses have stays unseen. Besides locations, every other property in *M* is looked up in *B*:
//! names, types, scopes and their code, line rows, macros. Anything further in *B* is a finding, too:
//! [`FindingKind::Extra`], which [`CheckReport::without`] leaves out. Lookup tables are used as a reader would use them, and must
//! find everything.
//!
//! # Files
//!
//! * `compare` runs the comparison of an object; `split`, `ptx` and `coverage` run those of other inputs.
//! * `structure` matches entries with entities. `tree` has the attributes that an entry should have (`described`) and has
//!   (`found`), and `difference` compares them. `types`, `macros`, `lines` and `type_units` compare the rest.
//! * `locations` compares the locations of variables, `expressions`, `values`, `calls`, `frames`, `lanes` and `procedures`
//!   other expressions. They evaluate at `witnesses` on a `machine`; `numbers` chooses contents, `variety` decides how
//!   many a result of few bits needs, and `meanings` is the state that they share. `places` has the bits of a variable from
//!   both sides in one form.
//! * `name_index` and `lookup` compare lookup tables, which `headers` and `tables` help to read; `entry_offsets` has the
//!   references that a linker would make wrong.
//! * `likely` names the consumer or the function for an object that was written for something else.
//! * `omitted` has the omissions by entity, and `unencodable` the properties that must be among them.
//!
//! ```
//! # use eitri::build::Builder;
//! # use eitri::emit::elf::{ObjectCode, new_object};
//! # use eitri::lower::{Consumer, Policy, lower};
//! # use eitri::model::{BaseEncoding, Loc};
//! # use eitri::target::{Gfx, Target, Wave};
//! # let gpu = Target::amdgpu(Gfx::GFX1030, Wave::W32)?;
//! # let v40 = gpu.vgpr(40)?;
//! # let mut m = Builder::new(gpu);
//! # let unit = m.unit("a.cl");
//! # let int = m.base_type(unit, "int", BaseEncoding::Signed, 32)?;
//! # let kernel = m.function(unit, "k")?.code("k", 64).id();
//! # m.variable(kernel, "n", int)?.live(0..64, Loc::lane(v40, 7))?;
//! # let module = m.finish()?;
//! let consumer = Consumer::llvm();
//! let written = lower(&module, &consumer, Policy::Strict)?;
//! let code = ObjectCode::text(vec![0; 64]).with_function("k", 0, 64);
//! let object = new_object(module.target(), &code, &written.sections)?;
//! let report = eitri::check(&module, &consumer, &written.omissions, &object)?;
//! assert!(report.is_clean(), "{report}");
//! # Ok::<(), eitri::Error>(())
//! ```

mod asked;
mod calls;
mod code;
mod combining;
mod compare;
mod comparison;
mod coverage;
mod describe;
mod dwarf5;
mod entry_offsets;
mod expressions;
mod extra;
mod file;
mod files;
mod frames;
mod groups;
mod headers;
mod home_spans;
mod homes;
mod index;
mod known;
mod lanes;
mod likely;
mod line_header;
mod lines;
mod list;
mod locations;
mod lookup;
mod machine;
mod macros;
mod meanings;
mod name_index;
mod numbers;
mod omitted;
mod other_types;
mod pairs;
mod places;
mod procedures;
mod ptx;
mod ranges;
mod reading;
mod referred;
mod report;
mod signature;
mod split;
mod structure;
mod tables;
mod tree;
mod type_units;
mod types;
mod undefined_symbols;
mod unencodable;
mod unspecified;
mod values;
mod variety;
pub mod witness;
mod witnesses;

pub use code::check_code;
#[cfg(feature = "import")]
pub(crate) use code::check_function;
pub use coverage::{PtxCoverage, PtxVariableCoverage, coverage};
pub use ptx::{PtxReport, check_ptx};
pub(crate) use report::Listed;
pub use report::{CheckFinding, CheckReport, FindingKind, Obstacle, Unproven};
pub use split::check_split;

use reading::{dialect, read_unlinked, unreadable};

use crate::consumer::Consumer;
use crate::error::Result;
use crate::model::Module;
use crate::omission::Omission;
use crate::read::{Dwarf, INFO_BEHIND, Object, Placing, ReadOptions};

/// Compares an object with the module that it was written from.
///
/// `omissions` are the consumer's, from [`lower`](crate::lower::lower). The object need not describe what these list.
/// Anything that it does describe is compared all the same. If the object was written for another consumer or with split
/// units, the first finding says so.
///
/// # Errors
/// Returns an error only if the bytes cannot be read. Everything else is a finding in the report.
///
/// # Example
///
/// ```
/// # use eitri::check::{FindingKind, check};
/// # use eitri::emit::elf::{ObjectCode, new_object};
/// # use eitri::build::Builder;
/// # use eitri::model::{BaseEncoding, Loc};
/// # use eitri::target::Target;
/// # use eitri::lower::{Consumer, Policy, lower};
/// # let gpu = Target::named("amdgpu-gfx1030-wave32")?;
/// # let (v3, v4) = (gpu.vgpr(3)?, gpu.vgpr(4)?);
/// let describe = |register| {
///     let mut m = Builder::new(gpu.clone());
///     let unit = m.unit("scale.cl");
///     let int = m.base_type(unit, "int", BaseEncoding::Signed, 32)?;
///     let kernel = m.function(unit, "scale")?.code("scale", 0x28).kernel().id();
///     m.variable(kernel, "x", int)?.live(0x04..0x28, Loc::per_lane(register))?;
///     m.finish()
/// };
/// // The object says v4, where the description says v3.
/// let (module, wrong) = (describe(v3)?, describe(v4)?);
/// let consumer = Consumer::llvm();
/// let written = lower(&wrong, &consumer, Policy::Strict)?;
/// let code = ObjectCode::text(vec![0; 0x28]).with_function("scale", 0, 0x28);
/// let object = new_object(&gpu, &code, &written.sections)?;
///
/// let report = check(&module, &consumer, &written.omissions, &object)?;
/// let finding = &report.findings[0];
/// assert_eq!(finding.kind, FindingKind::Location);
/// assert_eq!(finding.at.variable.as_deref(), Some("x"));
/// // With expected and found storage, and the operations with their results.
/// println!("{finding}");
/// # Ok::<(), eitri::Error>(())
/// ```
pub fn check(
    module: &Module,
    consumer: &Consumer,
    omissions: &[Omission],
    bytes: &[u8],
) -> Result<CheckReport> {
    check_listed(module, consumer, omissions, bytes, Listed::All)
}

/// Compares an object with its module, as [`check`] does.
pub(crate) fn check_listed(
    module: &Module,
    consumer: &Consumer,
    omissions: &[Omission],
    bytes: &[u8],
    listed: Listed,
) -> Result<CheckReport> {
    let dialect = dialect(consumer);
    // Undefined symbols are placed so far apart that no two described objects meet.
    let sizes = read_unlinked(module, consumer, bytes)?;
    // A field without its relocation is right by accident if its value is 0. The object is therefore compared as if it were
    // linked after other objects.
    let object = Object::read_placed(bytes, Placing::Linked(&sizes), Some(module.target()))?;
    let dwarf = match Dwarf::read_with(
        &object,
        &ReadOptions::new().dialect(dialect).draft(consumer.expressions.draft),
    ) {
        Ok(dwarf) => dwarf,
        Err(error) => return Ok(unreadable(&object, &error, omissions)),
    };
    let index = index::Index::new(module, &object);
    let omitted = omitted::Omitted::new(module, omissions);
    let described =
        tree::Described { module, consumer, object: &object, index: &index, omitted: &omitted, listed };
    let mut compare = comparison::Compare::new(described, &dwarf);
    compare::run(&mut compare);
    let mut report = compare.report;
    if object.is_ptx()
        && let Ok(text) = core::str::from_utf8(bytes)
    {
        // PTX declares registers and state spaces, which DWARF alone cannot check.
        report.findings.extend(check_ptx(module, text)?.findings);
    }
    let behind = Object::read_placed(bytes, Placing::InfoBehind, Some(module.target()))?;
    lookup::units_are_relocated(&mut report, &object, &behind);
    if object.is_relocatable()
        && let Ok(behind) = Dwarf::read_with(&behind, &ReadOptions::new().dialect(dialect).readable())
    {
        entry_offsets::are_relocated(&mut report, &behind, INFO_BEHIND);
    }
    likely::name_likely(&mut report, module, consumer, &dwarf);
    Ok(report)
}
