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

use hashbrown::HashSet;

use crate::check::{
    CheckFinding, CheckReport, PtxCoverage, check, check_code, check_ptx, check_split, coverage,
};
use crate::consumer::{Consumer, Policy};
use crate::emit::elf::{
    AttachOptions, CodeSymbol, CodeSymbolKind, Compression, Existing, ObjectCode, attach_with,
    new_object_with,
};
use crate::emit::ptx::{self, PtxAttachOptions};
use crate::error::{At, Error, Result};
use crate::lower::{Lowered, lower, thread_locals};
use crate::model::{Address, Module, Warned, Warning, WarningKind};
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
    /// Whether the output has all [warnings](Output::warnings), and not only those about code. For long location lists, finding
    /// them takes longer than writing; [`described_warnings`] finds them later.
    pub has_warnings: bool,
}

impl Default for OutputOptions<'_> {
    /// [`Policy::Strict`], [`Existing::Refuse`], without compression, `out.o`, with warnings.
    fn default() -> Self {
        Self {
            policy: Policy::Strict,
            existing: Existing::Refuse,
            compression: Compression::None,
            name: "out.o",
            has_warnings: true,
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
    /// frames for a consumer that reads none, and those of [`check_code`] and [`check_ptx`]; and
    /// functions in the code of a new object that the module lacks.
    pub warnings: Vec<Warning>,
    /// Files of split units, by name.
    pub split: Vec<(String, Vec<u8>)>,
}

/// A module lowered for its consumer, before there is a file: what can fail afterwards is about the file.
#[derive(Debug)]
pub struct Prepared<'a> {
    module: Cow<'a, Module>,
    consumer: &'a Consumer,
    options: OutputOptions<'a>,
    lowered: Lowered,
}

impl<'a> Prepared<'a> {
    /// Lowers a module.
    ///
    /// # Errors
    /// * [`BadArgument`](crate::error::ErrorKind::BadArgument) for compression of PTX, and for line tables of PTX that are kept.
    /// * The errors of [`lower`].
    pub fn new(module: &'a Module, consumer: &'a Consumer, options: &OutputOptions<'a>) -> Result<Self> {
        if consumer.has_line_directives && options.compression != Compression::None {
            return Err(Error::bad_argument("PTX has no compressed sections; expected no compression"));
        }
        if consumer.has_line_directives && options.existing == Existing::KeepLines {
            return Err(Error::bad_argument(
                "PTX has no line table; expected a cubin whose line table is kept",
            ));
        }
        let module = with_split_names(module, consumer, options.name)?;
        let lowered = lower(&module, consumer, options.policy)?;
        Ok(Self { module, consumer, options: *options, lowered })
    }

    /// Writes the module as a new object, as [`new_output`] does.
    ///
    /// # Errors
    /// * [`BadArgument`](crate::error::ErrorKind::BadArgument) for a consumer that reads PTX, and for code without a described
    ///   function, or with a shorter one.
    /// * The errors of [`new_object`](crate::emit::elf::new_object).
    pub fn into_new(self, code: Option<&ObjectCode>) -> Result<Output> {
        if self.consumer.has_line_directives {
            return Err(Error::bad_argument(
                "the consumer reads PTX, and there is no PTX text; expected a text to which debug information is attached",
            ));
        }
        let sections = &self.lowered.sections;
        let elsewhere;
        let laid = match code {
            Some(code) => code,
            None => {
                elsewhere = ObjectCode::elsewhere(sections).with_thread_locals(&thread_locals(&self.module));
                &elsewhere
            }
        };
        let bytes = new_object_with(self.module.target(), laid, sections, self.options.compression)?;
        let mut warnings = Vec::new();
        if let Some(code) = code {
            warnings = check_code(&self.module, &bytes)?;
            warnings.extend(undescribed_code(&self.module, code));
        }
        self.output(bytes, warnings)
    }

    /// Writes the debug information into a file, as [`attached_output`] does.
    ///
    /// # Errors
    /// * [`BadArgument`](crate::error::ErrorKind::BadArgument) for a file without a described function; for a PTX text that
    ///   [`check_ptx`] finds different, with a line for each difference; and for PTX that is expected and not there.
    /// * The errors of [`attach_with`] and [`ptx::attach`].
    pub fn into_attached(self, file: &[u8]) -> Result<Output> {
        let target = self.module.target();
        let sections = &self.lowered.sections;
        let existing = self.options.existing;
        if !self.consumer.has_line_directives {
            let warnings = check_code(&self.module, file)?;
            let compression = self.options.compression;
            let how = AttachOptions { existing, compression, ..AttachOptions::default() };
            let bytes = attach_with(file, target, sections, &how)?;
            return self.output(bytes, warnings);
        }
        let text = core::str::from_utf8(file).ok().filter(|_| ptx::is_ptx(file));
        let text = text.ok_or_else(|| {
            Error::bad_argument("the consumer reads PTX, and the file is not PTX; expected PTX text")
        })?;
        let report = check_ptx(&self.module, text)?;
        if !report.findings.is_empty() {
            let lines: Vec<_> = report.findings.iter().map(ToString::to_string).collect();
            return Err(Error::bad_argument(lines.join("\n")));
        }
        let how = PtxAttachOptions { existing, lines: self.lowered.lines.as_ref() };
        let bytes = ptx::attach(text, target, sections, &how)?.into_bytes();
        self.output(bytes, report.warnings)
    }

    fn output(self, bytes: Vec<u8>, further: Vec<Warning>) -> Result<Output> {
        let Self { module, consumer, options, lowered } = self;
        let mut warnings =
            if options.has_warnings { described_warnings(&module, consumer) } else { Vec::new() };
        warnings.extend(further);
        let split = lowered.split_files(module.target())?;
        let split = split.into_iter().map(|(name, bytes)| (name.to_owned(), bytes)).collect();
        Ok(Output { bytes, warnings, split, omissions: lowered.omissions })
    }
}

/// Writes a module as a new relocatable object, with its code; or, without code, with undefined symbols.
///
/// # Errors
/// The errors of [`Prepared::new`] and [`Prepared::into_new`].
pub fn new_output(
    module: &Module,
    consumer: &Consumer,
    code: Option<&ObjectCode>,
    options: &OutputOptions<'_>,
) -> Result<Output> {
    Prepared::new(module, consumer, options)?.into_new(code)
}

/// Writes a module's debug information into a file with its code: an object, relocatable or linked; or, for a consumer that
/// reads it, a PTX text.
///
/// # Errors
/// The errors of [`Prepared::new`] and [`Prepared::into_attached`].
pub fn attached_output(
    module: &Module,
    consumer: &Consumer,
    file: &[u8],
    options: &OutputOptions<'_>,
) -> Result<Output> {
    Prepared::new(module, consumer, options)?.into_attached(file)
}

/// Returns the warnings of a [module](Module::warnings), without those about frames for a consumer that reads none.
pub fn described_warnings(module: &Module, consumer: &Consumer) -> Vec<Warning> {
    // Without a section for them, frames come from somewhere else: for PTX, from ptxas.
    let has_frames = consumer.frames.debug_frame || consumer.frames.eh_frame;
    let mut warnings = module.warnings();
    warnings.retain(|warning| has_frames || warning.kind() != WarningKind::NoFrame);
    warnings
}

/// Returns a warning for each function in code that the module lacks, such as a function with a misspelled name.
fn undescribed_code(module: &Module, code: &ObjectCode) -> Vec<Warning> {
    let parts = module.functions().flat_map(|(_, function)| function.code_parts());
    let described: HashSet<&str> = parts
        .filter_map(|part| match part.address {
            Address::Symbol(symbol, _) => Some(module.symbol_name(symbol)),
            Address::Constant(_) => None,
        })
        .collect();
    let functions = code.symbols.iter().filter(|symbol| symbol.kind == CodeSymbolKind::Function);
    let unknown = functions.filter(|symbol| !described.contains(symbol.name.as_str()));
    let warning = |symbol: &CodeSymbol| Warning {
        warned: Warned::UndescribedCode,
        at: At::default(),
        what: format!("code has the function `{}`, which the description lacks", symbol.name),
    };
    unknown.map(warning).collect()
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
