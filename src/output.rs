//! A module as a file for its consumer, and a file compared with its module: the steps of [`lower`](crate::lower),
//! [`emit`](crate::emit) and [`check`](mod@crate::check) in a call.
//!
//! These are the steps of a compiler's driver, by the kind of the consumer: objects with or without code, objects that exist, and
//! PTX; split units; and the comparison of what came out.
//!
//! ```
//! use eitri::Consumer;
//! use eitri::output::{OutputOptions, compare, new_output};
//! # use eitri::build::Builder;
//! # use eitri::emit::elf::ObjectCode;
//! # use eitri::model::{BaseEncoding, Loc};
//! # use eitri::target::Target;
//! # let gpu = Target::named("amdgpu-gfx1030-wave32")?;
//! # let v40 = gpu.vgpr(40)?;
//! # let mut m = Builder::new(gpu);
//! # let unit = m.unit("a.cl");
//! # let int = m.base_type(unit, "int", BaseEncoding::Signed, 32)?;
//! # let kernel = m.function(unit, "k")?.code("k", 64).id();
//! # m.variable(kernel, "n", int)?.live(0..64, Loc::lane(v40, 7))?;
//! # let module = m.finish()?;
//!
//! let consumer = Consumer::llvm();
//! let options = OutputOptions::default();
//! let code = ObjectCode::text(vec![0; 64]).with_function("k", 0, 64);
//! let output = new_output(&module, &consumer, Some(&code), &options)?;
//! for warning in &output.warnings {
//!     println!("{warning}");
//! }
//! let compared = compare(&module, &consumer, options.policy, &output.bytes, &[])?;
//! assert!(compared.is_clean(), "{compared}");
//! # Ok::<(), eitri::Error>(())
//! ```

use core::fmt;
use std::borrow::Cow;

use crate::check::{
    CheckFinding, CheckReport, PtxCoverage, check, check_code, check_ptx, check_split, coverage,
};
use crate::consumer::{Consumer, Policy};
use crate::emit::elf::{AttachOptions, Compression, Existing, ObjectCode, attach_with, new_object_with};
use crate::emit::ptx::{self, PtxAttachOptions};
use crate::error::{Error, Result};
use crate::lower::{Lowered, lower};
use crate::model::{Module, Warning, WarningKind};
use crate::omission::Omission;
use crate::read::{Dwarf, Object};

/// Options for writing a module.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub struct OutputOptions<'a> {
    /// Whether what the consumer cannot express is an error.
    pub policy: Policy,
    /// Treatment of debug information in an existing file.
    pub existing: Existing,
    /// Compression of debug sections. PTX has no compressed sections.
    pub compression: Compression,
    /// The output's file name without directories, after which split units' files are named.
    pub name: &'a str,
}

impl Default for OutputOptions<'_> {
    /// [`Policy::Strict`], [`Existing::Refuse`], without compression, `out.o`.
    fn default() -> Self {
        Self {
            policy: Policy::Strict,
            existing: Existing::Refuse,
            compression: Compression::None,
            name: "out.o",
        }
    }
}

/// A module as a file.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Output {
    /// Contents of the object, or of the PTX text.
    pub bytes: Vec<u8>,
    /// Properties that the consumer cannot express.
    pub omissions: Vec<Omission>,
    /// Valid statements that can be mistakes in this output: those of the [module](Module::warnings), without those about
    /// frames for a consumer that reads none, and those of [`check_ptx`].
    pub warnings: Vec<Warning>,
    /// Files of split units, by name.
    pub split: Vec<(String, Vec<u8>)>,
}

impl Output {
    fn new(
        module: &Module,
        consumer: &Consumer,
        lowered: Lowered,
        bytes: Vec<u8>,
        further: Vec<Warning>,
    ) -> Result<Self> {
        // Without a section for them, frames come from somewhere else: for PTX, from ptxas.
        let has_frames = consumer.frames.debug_frame || consumer.frames.eh_frame;
        let warnings = module.warnings().into_iter().chain(further);
        let warnings = warnings.filter(|warning| has_frames || warning.kind() != WarningKind::NoFrame);
        let split = lowered.split_files(module.target())?;
        let split = split.into_iter().map(|(name, bytes)| (name.to_owned(), bytes)).collect();
        Ok(Self { bytes, warnings: warnings.collect(), split, omissions: lowered.omissions })
    }
}

/// Writes a module as a new relocatable object, with its code; or, without code, with undefined symbols.
///
/// # Errors
/// * [`BadArgument`](crate::error::ErrorKind::BadArgument) for a consumer that reads PTX, and for code without a described
///   function, or with a shorter one.
/// * The errors of [`lower`] and [`new_object`](crate::emit::elf::new_object).
pub fn new_output(
    module: &Module,
    consumer: &Consumer,
    code: Option<&ObjectCode>,
    options: &OutputOptions<'_>,
) -> Result<Output> {
    if consumer.has_line_directives {
        return Err(Error::bad_argument(
            "the consumer reads PTX, and there is no PTX text; expected a text to which debug information is attached",
        ));
    }
    let module = &*with_split_names(module, consumer, options.name)?;
    let lowered = lower(module, consumer, options.policy)?;
    let elsewhere;
    let laid = match code {
        Some(code) => code,
        None => {
            elsewhere = ObjectCode::elsewhere(&lowered.sections);
            &elsewhere
        }
    };
    let bytes = new_object_with(module.target(), laid, &lowered.sections, options.compression)?;
    if code.is_some() {
        check_code(module, &bytes)?;
    }
    Output::new(module, consumer, lowered, bytes, Vec::new())
}

/// Writes a module's debug information into a file with its code: an object, relocatable or linked; or, for a consumer that
/// reads it, a PTX text.
///
/// # Errors
/// * [`BadArgument`](crate::error::ErrorKind::BadArgument) for a file without a described function; for a PTX text that
///   [`check_ptx`] finds different, with all differences; for PTX that is expected and not there; and for compression of PTX.
/// * The errors of [`lower`], [`attach_with`] and [`ptx::attach`].
pub fn attached_output(
    module: &Module,
    consumer: &Consumer,
    file: &[u8],
    options: &OutputOptions<'_>,
) -> Result<Output> {
    let module = &*with_split_names(module, consumer, options.name)?;
    let lowered = lower(module, consumer, options.policy)?;
    if !consumer.has_line_directives {
        check_code(module, file)?;
        let how = AttachOptions {
            existing: options.existing,
            compression: options.compression,
            ..AttachOptions::default()
        };
        let bytes = attach_with(file, module.target(), &lowered.sections, &how)?;
        return Output::new(module, consumer, lowered, bytes, Vec::new());
    }
    if options.compression != Compression::None {
        return Err(Error::bad_argument("PTX has no compressed sections; expected no compression"));
    }
    let text = core::str::from_utf8(file).ok().filter(|_| ptx::is_ptx(file));
    let text = text.ok_or_else(|| {
        Error::bad_argument("the consumer reads PTX, and the file is not PTX; expected PTX text")
    })?;
    let report = check_ptx(module, text)?;
    if !report.findings.is_empty() {
        let lines: Vec<_> = report.findings.iter().map(ToString::to_string).collect();
        return Err(Error::bad_argument(lines.join("\n")));
    }
    let how = PtxAttachOptions { existing: options.existing, lines: lowered.lines.as_ref() };
    let bytes = ptx::attach(text, module.target(), &lowered.sections, &how)?.into_bytes();
    Output::new(module, consumer, lowered, bytes, report.warnings)
}

/// Returns the module, in which split units have names after the output.
fn with_split_names<'m>(module: &'m Module, consumer: &Consumer, name: &str) -> Result<Cow<'m, Module>> {
    let mut module = Cow::Borrowed(module);
    if consumer.is_split {
        module.to_mut().name_split_units(name)?;
    }
    Ok(module)
}

/// A module compared with a file of its consumer. Displays as what it contains.
///
/// Exhaustive: files of consumers are these.
#[derive(Debug, Clone)]
pub enum Comparison {
    /// An object, or a PTX text.
    Report(CheckReport),
    /// A cubin that ptxas generated from the PTX.
    Coverage(PtxCoverage),
}

impl Comparison {
    /// Returns the differences.
    pub fn findings(&self) -> &[CheckFinding] {
        match self {
            Self::Report(report) => &report.findings,
            Self::Coverage(coverage) => &coverage.findings,
        }
    }

    /// Whether there is no difference.
    pub fn is_clean(&self) -> bool {
        self.findings().is_empty()
    }
}

impl fmt::Display for Comparison {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Report(report) => report.fmt(f),
            Self::Coverage(coverage) => coverage.fmt(f),
        }
    }
}

/// Compares a file with the module that was written for a consumer: an object, a PTX text, or for a consumer that reads PTX,
/// the cubin that ptxas generated from it.
///
/// `policy` is that of the [`OutputOptions`]: with [`Policy::Partial`], what the consumer cannot express may be missing.
/// `split` has the files of split units, in any order; the object says what their names are.
///
/// # Errors
/// The errors of [`lower`], [`check`], [`check_split`] and [`coverage`]. A difference is a finding, and no error.
pub fn compare(
    module: &Module,
    consumer: &Consumer,
    policy: Policy,
    file: &[u8],
    split: &[&[u8]],
) -> Result<Comparison> {
    if consumer.has_line_directives && !ptx::is_ptx(file) {
        return coverage(module, consumer, file).map(Comparison::Coverage);
    }
    if !consumer.is_split {
        let omissions = lower(module, consumer, policy)?.omissions;
        return check(module, consumer, &omissions, file).map(Comparison::Report);
    }
    let mut module = module.clone();
    module.set_split_names(split_names(file)?)?;
    let omissions = lower(&module, consumer, policy)?.omissions;
    check_split(&module, consumer, &omissions, file, split).map(Comparison::Report)
}

/// Returns the names of the files of split units that an object refers to.
///
/// # Errors
/// The errors of [`Object::read`] and [`Dwarf::read`].
pub fn split_names(object: &[u8]) -> Result<Vec<String>> {
    let object = Object::read(object)?;
    let dwarf = Dwarf::read(&object)?;
    Ok(dwarf.units().iter().filter_map(|unit| unit.dwo_name.as_deref()).map(String::from).collect())
}
