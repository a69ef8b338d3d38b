//! The command: arguments and exit codes only.

#![forbid(unsafe_code)]

mod arguments;
mod color;
mod companions;
mod containers;
mod contents;
mod evaluate;
mod hints;
mod lanes;
mod lint;
#[cfg(feature = "spirv")]
mod modules;
mod output;
mod parts;
mod progress;
mod report;
mod sources;
mod split;
mod stats;
mod targets;
mod threads;

use std::fmt::Display;
use std::io::{self, Read};
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use arguments::{Arguments, Command, Format, policy};
use clap::{CommandFactory, Parser};
use color::escaped;
use containers::Inside;
use contents::Contents;
use eitri::Error;
use eitri::check::{self, Finding, Kind, check_code, check_ptx, check_split};
use eitri::conform::{File, Report};
use eitri::dump::{DumpOptions, lane_chart, print_to};
use eitri::emit::elf::{Attach, Code, Existing, attach_with, new_object_with};
use eitri::emit::ptx;
use eitri::error::ErrorKind;
use eitri::json::locate;
use eitri::lower::lower;
use eitri::model::{Module, WarningKind};
use eitri::read::{Dwarf, Object};
use eitri::schema::Schema;
#[cfg(feature = "spirv")]
use eitri::spirv;
use eitri::track;
use evaluate::Answer;
use output::{Form, Printer, open, print, print_findings, say, say_line, write_files};
use progress::Progress;

/// Differences, failed vectors or a failed evaluation.
const FINDINGS: u8 = 1;
/// Unusable input or arguments.
const UNUSABLE: u8 = 2;

fn main() -> ExitCode {
    let Arguments { command, color } = Arguments::parse();
    color.choose();
    run(command).unwrap_or_else(|failure| {
        failure.print();
        ExitCode::from(UNUSABLE)
    })
}

/// Message for unusable input.
struct Failure(String);

impl Failure {
    /// A message in one line: a line break in a name does not end it.
    fn line(text: impl Display) -> Self {
        Self(escaped(&text.to_string()).into())
    }

    fn print(&self) {
        say(Some("eitri:"), &self.0);
    }

    /// Appends a hint, if there is one.
    fn and(self, hint: &str) -> Self {
        if hint.is_empty() { self } else { Self(format!("{}\n{hint}", self.0)) }
    }
}

/// Adds the file to an error.
fn of(file: &Path) -> impl Fn(Error) -> Failure {
    move |error| {
        let name = if file.as_os_str() == "-" { "standard input".into() } else { file.display().to_string() };
        Failure::line(format_args!("{name}: {error}")).and(hints::list_of(&error))
    }
}

/// An error without a file.
impl From<Error> for Failure {
    fn from(error: Error) -> Self {
        Self::line(&error).and(hints::list_of(&error))
    }
}

fn run(command: Command) -> Result<ExitCode, Failure> {
    match command {
        #[cfg(feature = "spirv")]
        Command::Emit { description, spirv: Some(module), spirv_for, partial, output, .. } => {
            let attached = modules::emit(&description, &module, spirv_for.as_deref())?;
            if let Some(first) = attached.omissions.first().filter(|_| !partial) {
                let what = Failure::line(format_args!("{}: omitted: {first}", description.display()));
                return Err(what.and("--partial omits it, and lists it"));
            }
            finish_module(&attached, &output)
        }
        Command::Emit {
            description,
            object,
            member,
            reader,
            partial,
            allow,
            replace,
            compression,
            output,
            ..
        } => {
            let compression = compression.into();
            let mut module = describe(&description)?;
            let consumer = reader.consumer(module.target())?;
            if consumer.is_split {
                module.name_split_units(&file_name(&output)?)?;
            }
            let hint = (!partial).then_some("--partial omits it, and lists it");
            let written =
                lower(&module, &consumer, policy(partial)).map_err(hints::if_refused(&description, hint))?;
            let (target, sections) = (module.target(), &written.sections);
            let existing = if replace { Existing::Replace } else { Existing::Refuse };
            let mut of_text = Vec::new();
            let bytes = match &object {
                _ if consumer.has_line_directives => {
                    let text = ptx_text(object.as_deref())?;
                    let how = ptx::Attach { existing, lines: written.lines.as_ref() };
                    let of_object = hints::if_there(object.as_deref().unwrap_or(Path::new("-")));
                    let found = check_ptx(&module, &text).map_err(&of_object)?;
                    refuse(&description, &found.findings)?;
                    of_text = found.warnings;
                    ptx::attach(&text, target, sections, &how).map_err(of_object)?.into_bytes()
                }
                None => new_object_with(target, &Code::elsewhere(sections), sections, compression)?,
                Some(file) => {
                    let bytes = match &member {
                        Some(member) => containers::one("emit", file, Some(member))?.1,
                        None => Contents::read(file)?,
                    };
                    check_code(&module, &bytes).map_err(of(file))?;
                    let how = Attach { existing, compression };
                    attach_with(&bytes, target, sections, &how).map_err(hints::if_there(file))?
                }
            };
            // Without a section for them, frames come from somewhere else: for PTX, from ptxas.
            let has_frames = consumer.frames.debug_frame;
            for warning in module.warnings().into_iter().chain(of_text) {
                let kind = warning.kind();
                let is_of_object = has_frames || kind != WarningKind::NoFrame;
                if is_of_object && !allow.iter().any(|allowed| allowed == kind.name()) {
                    say_line(warning);
                }
            }
            for omission in &written.omissions {
                say_line(format_args!("omitted: {omission}"));
            }
            let split = written.split_files(target)?.into_iter().map(|(name, bytes)| {
                let file = output.with_file_name(name);
                // `./a` equals `a`.
                if output.components().eq(file.components()) {
                    let output = output.display();
                    return Err(Failure::line(format_args!(
                        "{output} would be written over by the file of a split unit"
                    )));
                }
                Ok((file, bytes))
            });
            let split: Vec<_> = split.collect::<Result<_, _>>()?;
            // The object is written last: the files that it refers to exist then.
            let files = split.iter().map(|(file, bytes)| (&**file, &**bytes));
            write_files(&files.chain([(&*output, &*bytes)]).collect::<Vec<_>>())?;
            Ok(ExitCode::SUCCESS)
        }
        #[cfg(feature = "spirv")]
        Command::Check { description: file, object: None, .. } => {
            let progress = Progress::begin("check", &file);
            let words = module(&input(&file)?).map_err(of(&file))?;
            let report = spirv::validate(&spirv::read(&words).map_err(of(&file))?);
            drop(progress);
            print_findings(&report)?;
            Ok(if report.is_clean() { ExitCode::SUCCESS } else { ExitCode::from(FINDINGS) })
        }
        #[cfg(not(feature = "spirv"))]
        Command::Check { object: None, .. } => {
            Err(Failure("`check` compares an object: none is given".into()))
        }
        Command::Check { description, object: Some(object), member, reader, partial, allow, code } => {
            let text = input(&description)?;
            let bytes = containers::one("check", &object, member.as_deref())?.1;
            let progress = Progress::begin("check", &object);
            if hints::is_elf(&text) && hints::is_json(&bytes) {
                let (first, second) = (object.display(), description.display());
                return Err(not_described(&description)
                    .and(&format!("the description comes first: eitri check {first} {second}")));
            }
            let (mut module, all) = match code {
                true => track::Code::from_json(&text).map_err(of(&description))?,
                false => (described(&description, &text)?, Vec::new()),
            };
            let consumer = reader.consumer(module.target())?;
            if consumer.has_line_directives && !ptx::is_ptx(&bytes) {
                let coverage = check::coverage(&module, &consumer, &bytes).map_err(of(&object))?;
                print(Form::Text, &format!("{coverage}\n"))?;
                return Ok(if coverage.is_clean() { ExitCode::SUCCESS } else { ExitCode::from(FINDINGS) });
            }
            if consumer.is_split {
                file_name(&object)?;
                module.set_split_names(skeletons(&bytes).map_err(of(&object))?)?;
            }
            // Parts that the consumer cannot express may be missing.
            let hint = (!partial).then_some("--partial is for objects written with it");
            let lowered = lower(&module, &consumer, policy(partial));
            let omissions = lowered.map_err(hints::if_refused(&description, hint))?.omissions;
            let report = if consumer.is_split {
                let split = module.split_names().into_iter().map(|name| input(&object.with_file_name(name)));
                let split = split.collect::<Result<Vec<_>, _>>()?;
                let split: Vec<&[u8]> = split.iter().map(Vec::as_slice).collect();
                check_split(&module, &consumer, &omissions, &bytes, &split)
            } else {
                eitri::check(&module, &consumer, &omissions, &bytes)
            };
            let mut report = report.map_err(of(&object))?;
            if !allow.is_empty() {
                report = report.without(Kind::Extra);
            }
            let judged = judge(&module, &all).map_err(of(&description))?;
            report.findings.extend(judged.iter().flat_map(|judged| judged.stale.iter().map(Finding::from)));
            drop(progress);
            if code {
                print(Form::Text, &totals(&judged))?;
            }
            print_findings(&report)?;
            Ok(if report.is_clean() { ExitCode::SUCCESS } else { ExitCode::from(FINDINGS) })
        }
        Command::Locate { description, keep, output } => {
            let text = input(&description)?;
            if hints::is_elf(&text) {
                return Err(not_described(&description));
            }
            let located = locate(&text, keep.into()).map_err(of(&description))?;
            for unproven in &located.unproven {
                say_line(format_args!("unproven: {unproven}"));
            }
            write_files(&[(&output, located.text.as_bytes())])?;
            Ok(ExitCode::SUCCESS)
        }
        Command::Dump { file, member, verbose, split, target, dialect } => {
            let target = target.as_deref().map(targets::named).transpose()?;
            let (target, dialect, options) = (target.as_ref(), dialect.into(), DumpOptions { verbose });
            let _progress = Progress::beside_output("dump", &file);
            let bytes = Contents::read(&file)?;
            #[cfg(feature = "spirv")]
            if spirv::is_module(&bytes) {
                if split.is_some() || target.is_some() {
                    return Err(Failure(
                        "--split and --target are for object files: this is a module".into(),
                    ));
                }
                let words = spirv::from_bytes(&bytes).map_err(of(&file))?;
                let facts = spirv::read(&words).map_err(of(&file))?;
                print(Form::Text, &spirv::print(&facts, spirv::TextOptions { verbose }))?;
                let is_whole = facts.layout().unknown_sets().next().is_none();
                return Ok(if is_whole { ExitCode::SUCCESS } else { ExitCode::from(FINDINGS) });
            }
            if hints::is_json(&bytes) {
                let what =
                    "an object file or a SPIR-V module is expected: this is a description or other JSON";
                return Err(of(&file)(ErrorKind::BadArgument(what.into()).into()));
            }
            let dwo = split.as_deref().map(input).transpose()?;
            let (objects, mut failures) = containers::inside(&file, bytes, member.as_deref())?;
            let mut out = Printer::new(Form::Text);
            let is_one = objects.len() == 1;
            for object in objects {
                let Inside { name, bytes } = &companions::described(&file, object);
                if !is_one {
                    out.put(&format!("{}:\n", escaped(name)));
                }
                match print_to(&mut out, bytes, dwo.as_deref(), target, dialect, options) {
                    // The reader of the output has seen enough.
                    Err(error)
                        if matches!(error.kind(), ErrorKind::Io { kind: io::ErrorKind::BrokenPipe, .. }) =>
                    {
                        break;
                    }
                    printed => failures.extend(printed.map_err(of(Path::new(name))).err()),
                }
            }
            out.finish()?;
            failures.iter().for_each(Failure::print);
            Ok(if failures.is_empty() { ExitCode::SUCCESS } else { ExitCode::from(UNUSABLE) })
        }
        #[cfg(feature = "spirv")]
        Command::Attach { module, reader, source, language, replace, output } => {
            let attached = modules::attach(&modules::Request {
                module: &module,
                reader: reader.as_deref(),
                source: source.as_deref(),
                language,
                replace,
            })?;
            finish_module(&attached, &output)
        }
        #[cfg(feature = "spirv")]
        Command::Strip { module, all, output } => {
            let words = modules::words(&module)?;
            let stripped = if all { spirv::strip_unused(&words) } else { spirv::strip(&words) };
            write_files(&[(&output, &modules::bytes(&stripped.map_err(of(&module))?))])?;
            Ok(ExitCode::SUCCESS)
        }
        Command::Lint { lint } => {
            let (fails, failures) = lint.run()?;
            judged(fails, &failures)
        }
        Command::Stats { stats } => {
            let (fails, failures) = stats.run()?;
            judged(fails, &failures)
        }
        Command::Report { report } => {
            let (page, failures) = report.run()?;
            write_files(&[(&report.output, page.as_bytes())])?;
            judged(false, &failures)
        }
        Command::Conform { files, format, json, only } => {
            let json = json || format == Format::Json;
            let read = |path: &PathBuf| File::from_json(input(path)?).map_err(of(path));
            let read = files.iter().map(read).collect::<Result<Vec<_>, Failure>>()?;
            let mut report = Report::default();
            for (path, file) in files.iter().zip(&read) {
                let _progress = Progress::begin("conform", path);
                let name = (files.len() > 1).then(|| path.display().to_string());
                file.run(&only, name.as_deref(), &mut report);
            }
            match json {
                true => print(Form::Json, &report.to_json())?,
                false => print_findings(&report)?,
            }
            Ok(if report.is_clean() { ExitCode::SUCCESS } else { ExitCode::from(FINDINGS) })
        }
        Command::Eval { question } => {
            let Answer { found, is_result, .. } = evaluate::answer(&question, false)?;
            print(Form::Text, &format!("{found}\n"))?;
            Ok(if is_result { ExitCode::SUCCESS } else { ExitCode::from(FINDINGS) })
        }
        Command::Explain { question, lanes, function, svg } => {
            let (text, is_result, figure) = match lanes {
                true => {
                    let positions = lanes::positions(&question, function.as_deref())?;
                    let is_known = positions.stops.iter().all(|stop| stop.lanes.is_ok());
                    (positions.to_string(), is_known, svg.is_some().then(|| lane_chart(&positions)))
                }
                false => {
                    let Answer { steps, found, is_result, figure } =
                        evaluate::answer(&question, svg.is_some())?;
                    (format!("{steps}{found}\n"), is_result, figure)
                }
            };
            if let (Some(file), Some(figure)) = (svg, figure) {
                write_files(&[(&file, figure.as_bytes())])?;
            }
            print(Form::Text, &text)?;
            Ok(if is_result { ExitCode::SUCCESS } else { ExitCode::from(FINDINGS) })
        }
        Command::Targets { name } => {
            let text = match name {
                None => targets::all(),
                Some(name) => targets::one(&targets::named(&name)?),
            };
            print(Form::Text, &text)?;
            Ok(ExitCode::SUCCESS)
        }
        Command::Schema { format } => {
            let schema = Schema::named(&format)
                .ok_or_else(|| Failure::line(format_args!("no format is `{format}`")))?;
            print(Form::Json, &schema.to_string())?;
            Ok(ExitCode::SUCCESS)
        }
        Command::Completions { shell } => {
            let mut script = Vec::new();
            clap_complete::generate(shell, &mut Arguments::command(), "eitri", &mut script);
            write_files(&[(Path::new("-"), &script)])?;
            Ok(ExitCode::SUCCESS)
        }
        Command::Man { command } => {
            write_files(&[(Path::new("-"), &page(command.as_deref())?)])?;
            Ok(ExitCode::SUCCESS)
        }
    }
}

/// Prints the failures for several files.
fn judged(fails: bool, failures: &[Failure]) -> Result<ExitCode, Failure> {
    failures.iter().for_each(Failure::print);
    Ok(match (failures.is_empty(), fails) {
        (false, _) => ExitCode::from(UNUSABLE),
        (true, true) => ExitCode::from(FINDINGS),
        (true, false) => ExitCode::SUCCESS,
    })
}

/// Judges the locations of a description by the statements about code.
fn judge(module: &Module, all: &[track::Code]) -> eitri::Result<Vec<track::Report>> {
    all.iter().map(|code| Ok(code.track()?.judge(module))).collect()
}

/// Totals of all functions: what is claimed, right and recoverable, and locations that cannot be judged.
fn totals(judged: &[track::Report]) -> String {
    let sum = |of: fn(&track::Report) -> u64| judged.iter().map(of).sum::<u64>();
    let [claimed, right, recoverable] =
        [sum(|one| one.claimed), sum(|one| one.right), sum(|one| one.recoverable)];
    let unjudged = sum(|one| one.unjudged.len() as u64);
    format!("code: {claimed} claimed, {right} right, {recoverable} recoverable, {unjudged} not judged\n")
}

/// The manual page of a command, or of the program.
fn page(name: Option<&str>) -> Result<Vec<u8>, Failure> {
    let mut command = Arguments::command();
    // Subcommands know their parent only after `build`.
    command.build();
    if let Some(name) = name {
        let Some(named) = command.find_subcommand(name).cloned() else {
            // The parser's error has the nearest command.
            return match Arguments::command().try_get_matches_from(["eitri", name]) {
                Err(error) => error.exit(),
                Ok(_) => Err(Failure::line(format_args!(
                    "`man` prints the page of a command: `{name}` is not a command"
                ))),
            };
        };
        command = named;
    }
    let mut page = Vec::new();
    let source = concat!("eitri ", env!("CARGO_PKG_VERSION"));
    clap_mangen::Man::new(command).source(source).render(&mut page).map_err(Error::from)?;
    page.push(b'\n');
    Ok(page)
}

/// Lists what a module with debug instructions lacks, and writes the module if it was read back as described.
#[cfg(feature = "spirv")]
fn finish_module(attached: &modules::Attached, output: &Path) -> Result<ExitCode, Failure> {
    for omission in &attached.omissions {
        say_line(format_args!("omitted: {omission}"));
    }
    if !attached.checked.is_clean() {
        say(None, &attached.checked);
        return Ok(ExitCode::from(FINDINGS));
    }
    write_files(&[(output, &attached.bytes)])?;
    Ok(ExitCode::SUCCESS)
}

/// The words of a SPIR-V module, the only input that is checked without a description.
#[cfg(feature = "spirv")]
fn module(bytes: &[u8]) -> eitri::Result<Vec<u32>> {
    spirv::from_bytes(bytes).map_err(|error| {
        match spirv::is_module(bytes) {
        true => error,
        false => Error::from(ErrorKind::BadArgument(
            "this is not a SPIR-V module; a description is compared with an object: eitri check DESCRIPTION OBJECT"
                .into(),
        )),
    }
    })
}

/// Name of an object with split units in files beside it.
fn file_name(object: &Path) -> Result<String, Failure> {
    let name = object.file_name().filter(|_| object.as_os_str() != "-").and_then(|name| name.to_str());
    name.map(String::from).ok_or_else(|| {
        Failure("split units have files beside the object, which has to be one with a name in UTF-8".into())
    })
}

/// Names of the split files that an object refers to.
fn skeletons(object: &[u8]) -> eitri::Result<Vec<String>> {
    let object = Object::read(object)?;
    let dwarf = Dwarf::read(&object)?;
    let names = dwarf.units().iter().filter_map(|unit| unit.dwo_name.as_deref());
    Ok(names.map(String::from).collect())
}

/// Reads the text of PTX to which debug information is added.
fn ptx_text(object: Option<&Path>) -> Result<String, Failure> {
    let what = "the consumer reads PTX: --object gives the text";
    let file = object.ok_or_else(|| Failure(what.into()))?;
    let text = String::from_utf8(input(file)?).ok().filter(|text| ptx::is_ptx(text.as_bytes()));
    text.ok_or_else(|| of(file)(ErrorKind::BadArgument(what.into()).into()))
}

/// Refuses a description with findings, and lists them.
fn refuse(description: &Path, findings: &[Finding]) -> Result<(), Failure> {
    let line = |finding| Failure::line(format_args!("{}: {finding}", description.display())).0;
    let lines: Vec<String> = findings.iter().map(line).collect();
    if lines.is_empty() { Ok(()) } else { Err(Failure(lines.join("\n"))) }
}

fn describe(file: &Path) -> Result<Module, Failure> {
    described(file, &input(file)?)
}

/// Reads the description in a file.
fn described(file: &Path, text: &[u8]) -> Result<Module, Failure> {
    if hints::is_elf(text) {
        return Err(not_described(file));
    }
    Module::from_json(text).map_err(of(file))
}

fn not_described(file: &Path) -> Failure {
    of(file)(ErrorKind::BadArgument("a description is expected: this is an object file".into()).into())
}

fn input(file: &Path) -> Result<Vec<u8>, Failure> {
    let read = || -> io::Result<Vec<u8>> {
        let mut bytes = Vec::new();
        if file.as_os_str() != "-" {
            open(file)?.read_to_end(&mut bytes)?;
            return Ok(bytes);
        }
        io::stdin().lock().read_to_end(&mut bytes)?;
        Ok(bytes)
    };
    read().map_err(|error| of(file)(error.into()))
}
