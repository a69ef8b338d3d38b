//! `eval`: from arguments to an evaluation, which `explain` prints with its steps.

use std::collections::HashSet;
use std::path::Path;
use std::process::ExitCode;

use clap::{Args, ValueEnum};
use eitri::Consumer;
use eitri::conform::{Found, Machine, Read, Target, location};
use eitri::dump::{figure, steps};
use eitri::eval::{
    self, Body, Context, CurrentObject, DebugInfo, Element, Evaluator, Fault, InLane, PtxRegisters, Snapshot,
    Value, WithDebugInfo,
};
use eitri::op::{Dialect, DraftCodes, Encoding, Name, text};
use eitri::read::nvidia::RegisterMap;
use eitri::read::{Dwarf, Entry, Object, SplitFiles, address_in, variable_at, variables_at};
use eitri::target::{Space, Wave};
use eitri::{Result, target};
use serde_json::json;

use super::color::escaped;
use super::lane_groups::{self, LaneGroup, groups};
use super::output::{Form, print};
use super::question::{Lane, Pc, Question};
use super::{Failure, containers, exit_code, input, of, targets};

/// Arguments of `eval`.
#[derive(Debug, Args)]
pub struct EvalArguments {
    #[command(flatten)]
    question: Question,
    /// Format of the output.
    #[arg(long, value_enum, default_value_t = Format::Text)]
    format: Format,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Format {
    /// The answer in the notation of conformance vectors; with `--lane all`, a line for each group of neighbouring lanes with
    /// equal answers.
    Text,
    /// One JSON object with the keys of `expect` in conformance vectors; with `--lane all`, the list `lanes` of such objects,
    /// each with the `first` and the `last` lane of a group.
    Json,
}

impl EvalArguments {
    pub fn run(self) -> Result<ExitCode, Failure> {
        let Self { question, format } = self;
        if question.lane == Some(Lane::All) {
            let groups = ask(&question, &|stop| stop.groups(), &|left, right| match (left, right) {
                (Ok(left), Ok(right)) => left == right,
                _ => false,
            })??;
            match format {
                Format::Text => {
                    print(Form::Text, &groups.iter().map(LaneGroup::to_text).collect::<String>())?
                }
                Format::Json => {
                    let lanes: Vec<_> = groups.iter().map(LaneGroup::to_json).collect();
                    print(Form::Json, &format!("{}\n", json!({"lanes": lanes})))?;
                }
            }
            return Ok(exit_code(groups.iter().all(|group| group.is_result)));
        }
        let Answer { found, answer, is_result, .. } = answer(&question, false)?;
        match format {
            Format::Text => print(Form::Text, &format!("{found}\n"))?,
            Format::Json => print(Form::Json, &format!("{}\n", serde_json::Value::from(answer)))?,
        }
        Ok(exit_code(is_result))
    }
}

/// Result of an evaluation.
pub struct Answer {
    /// Steps as text.
    pub steps: String,
    /// Result in the notation of the conformance format.
    pub found: String,
    /// Result as JSON.
    answer: serde_json::Map<String, serde_json::Value>,
    /// Whether there is a result that could be read.
    pub is_result: bool,
    /// Steps as a figure, if requested.
    pub figure: Option<String>,
}

/// Evaluates the question in one lane.
pub fn answer(question: &Question, is_drawn: bool) -> Result<Answer, Failure> {
    ask(question, &|stop| stop.answer(is_drawn), &|left: &Answer, right| {
        (&left.found, left.is_result) == (&right.found, right.is_result)
    })
}

/// Evaluates the question by `evaluate`. Several variables have one answer if their answers are equal.
fn ask<T>(
    question: &Question,
    evaluate: &dyn Fn(&Stop<'_>) -> T,
    is_equal: &dyn Fn(&T, &T) -> bool,
) -> Result<T, Failure> {
    let Question { subject, var, .. } = question;
    let Some(name) = var else {
        let (machine, target) = stopped(question, &[], None)?;
        let mut encoding = encoding(question, &target)?;
        // Bytes have the numbers of their producer, which are unknown; a text needs any numbers.
        if encoding.dialect == Dialect::Dwarf6 && !is_hexadecimal(subject) {
            encoding.draft = provisional_codes();
        }
        let expr = expression(subject, encoding, target.built_in())?;
        let initial = initial(question, &machine, &target)?;
        let context =
            Context { initial: &initial, kind: question.kind.into(), ..machine.context(encoding, &target) };
        return Ok(evaluate(&Stop {
            body: Body::Expression(&expr),
            bits: question.read,
            space: None,
            machine: &machine.snapshot,
            snapshot: &machine.snapshot,
            context,
            target: &target,
        }));
    };
    let file = Path::new(subject);
    let described = containers::one_described("explain", file, question.member.as_deref())?;
    let target = question.target.as_deref().map(targets::named).transpose()?;
    let object = described.read(target.as_ref()).map_err(of(file))?;
    let dwarf = Dwarf::read_readable(&object, dialect(question)?, 1).map_err(of(file))?;
    with_split(question, &object, &dwarf, |files| {
        let own = DebugInfo::new(files[0]);
        let (machine, target) = stopped(question, files, target_of(&object, &own))?;
        let pc = eval::Machine::pc(&machine.snapshot, machine.frame);
        let mut answers = Vec::new();
        for entry in variables_at(files, name, pc).map_err(of(file))? {
            answers.push(ask_entry(question, entry, &object, (&machine, &target), evaluate)?);
        }
        let first = answers.swap_remove(0);
        if answers.iter().any(|other| !is_equal(&first, other)) {
            variable_at(files, name, pc).map_err(of(file))?;
        }
        Ok(first)
    })
}

/// Calls a function with the units of an object, and those of its split units in each file.
pub fn with_split<T>(
    question: &Question,
    object: &Object<'_>,
    dwarf: &Dwarf<'_>,
    then: impl FnOnce(&[&Dwarf<'_>]) -> Result<T, Failure>,
) -> Result<T, Failure> {
    let file = Path::new(&question.subject);
    // A file of split units alone.
    if dwarf.sections().is_split {
        return then(&[dwarf]);
    }
    let folder = question.split.read()?;
    let find = folder.of(file);
    let read = SplitFiles::new(&find).with(object, dwarf, |split| {
        let files: Vec<&Dwarf<'_>> = std::iter::once(dwarf).chain(split).collect();
        let result = then(&files).map_err(|failure| failure.and(&missing(dwarf, split)));
        Ok(result)
    });
    let result = read.map_err(of(file))?;
    folder.failures().iter().for_each(Failure::print);
    result
}

/// Returns a line with the names of the files whose split units were not found; empty without such.
fn missing(dwarf: &Dwarf<'_>, split: &[Dwarf<'_>]) -> String {
    let known: HashSet<u64> = split.iter().flat_map(Dwarf::units).filter_map(|unit| unit.dwo_id).collect();
    let skeletons = dwarf.units().iter().filter(|unit| unit.is_skeleton());
    let missing = skeletons.filter(|unit| unit.dwo_id.is_none_or(|id| !known.contains(&id)));
    let names: Vec<_> =
        missing.filter_map(|unit| Some(escaped(unit.dwo_name.as_deref()?).into_owned())).collect();
    match &names[..] {
        [] => String::new(),
        [first] => format!("the split unit in `{first}` is not found: --split names a file"),
        [first, rest @ ..] => {
            format!(
                "the split units in `{first}` and {} other files are not found: --split names files",
                rest.len()
            )
        }
    }
}

/// Evaluates the variable of an entry on a stopped machine.
fn ask_entry<T>(
    question: &Question,
    entry: Entry<'_, '_>,
    object: &Object<'_>,
    (machine, target): (&Machine, &Target),
    evaluate: &dyn Fn(&Stop<'_>) -> T,
) -> Result<T, Failure> {
    let file = Path::new(&question.subject);
    let pc = eval::Machine::pc(&machine.snapshot, machine.frame);
    // An error of the location is the reason why there is none.
    let location = eitri::gimli::DW_AT_location;
    let problem = entry.problem(location).or_else(|| entry.locations(location).err());
    if let Some(error) = problem {
        return Err(of(file)(error.or_at(entry.place())));
    }
    let info = DebugInfo::new(entry.dwarf());
    let unit = entry.unit();
    let context = Context {
        unit: unit.offset,
        initial: &[],
        object: CurrentObject::Unspecified,
        ..machine.context(unit.encoding, target)
    };
    // The registers of PTX, which the expressions of a cubin name, are in those of the processor.
    let map = RegisterMap::read(object).map_err(of(file))?;
    let mapped = pc.filter(|_| machine.frame == 0).and_then(|pc| map.at(object, pc));
    let through = match target.built_in().filter(|target| target.has_lane_expressions() && !object.is_ptx()) {
        Some(built_in) => {
            let by = mapped.map_or(0, |(_, by)| by);
            Some(PtxRegisters::new(&machine.snapshot, built_in, mapped.map(|(function, _)| function), by))
        }
        None => None,
    };
    let inner: &dyn eval::Machine = match &through {
        Some(through) => through,
        None => &machine.snapshot,
    };
    let whole = WithDebugInfo::new(&info, inner, context);
    let class = entry.number(eitri::gimli::DW_AT_address_class).filter(|_| object.is_cubin());
    let space = class.zip(target.built_in()).and_then(|(class, target)| target.space_of_class(class));
    let bits = question.read.or_else(|| entry.ty()?.size_bits());
    let (body, snapshot) = (info.body(entry), &machine.snapshot);
    Ok(evaluate(&Stop { body, bits, space, machine: &whole, snapshot, context, target }))
}

/// Maximum size of the printed result in bytes; the result of reading a large object is at most a few times smaller.
const LONGEST_TEXT: usize = 1 << 28;

/// An expression or the location of a variable, with the stopped machine.
struct Stop<'a> {
    body: Body<'a>,
    /// Bits to read at the location.
    bits: Option<u64>,
    /// Address space of the variable in memory, where expressions have addresses alone.
    space: Option<&'a Space>,
    machine: &'a dyn eval::Machine,
    /// The machine without debug information.
    snapshot: &'a Snapshot,
    context: Context<'a>,
    target: &'a Target,
}

impl Stop<'_> {
    /// Evaluates in the current lane, with steps and, if `is_drawn`, a figure.
    fn answer(&self, is_drawn: bool) -> Answer {
        let Self { machine, snapshot, target, .. } = *self;
        let mut trace = steps(self.body, machine, &self.context, target.built_in());
        let lane = machine.lane().and_then(|lane| lane.try_into().ok());
        trace.result = self.in_space(trace.result, lane);
        let read = self.read(&trace.result, machine);
        let figure = is_drawn.then(|| figure(&trace, machine, target, self.bits));
        let steps = trace.to_string();
        let found = Found { result: trace.result, read, written: None };
        Answer {
            steps,
            answer: lane_groups::answer(&found, snapshot),
            is_result: lane_groups::is_result(&found),
            found: found.to_text_in_names(snapshot, LONGEST_TEXT, target),
            figure,
        }
    }

    /// Evaluates in all lanes.
    fn groups(&self) -> Result<Vec<LaneGroup>, Failure> {
        let count = self.machine.lanes();
        let Some(mask) = 64u64.checked_sub(count).and_then(|rest| u64::MAX.checked_shr(rest as u32)) else {
            return Err(Failure::line(format_args!(
                "--lane all: the machine has {count} lanes; expected 1 to 64"
            )));
        };
        let wave = Evaluator::new().wave_body(self.body, mask, self.machine, &self.context);
        let answers = (0..u64::BITS).map_while(|lane| {
            let result = self.in_space(wave.lane(lane)?, Some(lane));
            let read = self.read(&result, &InLane::new(self.machine, lane.into()));
            Some(Found { result, read, written: None })
        });
        Ok(groups(answers, self.snapshot, self.target, LONGEST_TEXT))
    }

    /// Returns a result in the address space of the variable.
    fn in_space(&self, result: Result<Element, Fault>, lane: Option<u32>) -> Result<Element, Fault> {
        match (result, self.space) {
            (Ok(Element::Location(location)), Some(space)) => {
                let layout = eval::SpaceLayout { address_bits: space.address_bits, per: space.per };
                Ok(location.in_space(space.id, layout, lane).into())
            }
            (result, _) => result,
        }
    }

    /// Reads at a resulting location.
    fn read(
        &self,
        result: &Result<Element, Fault>,
        machine: &dyn eval::Machine,
    ) -> Option<Result<Read, Fault>> {
        match (result, self.bits) {
            (Ok(Element::Location(location)), Some(bits @ 1..)) => Some(Read::at(location, bits, machine)),
            _ => None,
        }
    }
}

/// Address given by `--pc`. Functions are those of the files of an object.
fn address(pc: &Pc, files: &[&Dwarf<'_>]) -> Result<u64, Failure> {
    match pc {
        Pc::Address(address) => Ok(*address),
        Pc::In { .. } if files.is_empty() => {
            let what = "a function needs an object file, given with --var";
            Err(Failure::line(format_args!("--pc {pc}: {what}")))
        }
        Pc::In { function, offset } => {
            address_in(files, function, *offset).map_err(|error| Failure::line(format_args!("--pc: {error}")))
        }
    }
}

/// The stopped machine, with the changes from the arguments, and its target: from the arguments, or else the machine's
/// file, or else the object file.
fn stopped(
    question: &Question,
    files: &[&Dwarf<'_>],
    of_object: Option<target::Target>,
) -> Result<(Machine, Target), Failure> {
    let (mut machines, target) = stops(question, of_object)?;
    let (Some(mut machine), 0) = (machines.pop(), machines.len()) else {
        return Err(Failure("--machine: several stops are for `explain --lanes` only".into()));
    };
    let pc = question.pc.as_ref().map(|pc| address(pc, files)).transpose()?;
    let snapshot = &mut machine.snapshot;
    if let Some(lane) = question.lane {
        if let Lane::Number(lane) = lane {
            snapshot.lane = Some(lane);
        }
        snapshot.lanes = snapshot.lanes.or_else(|| Some(target.built_in()?.lanes().into()));
    }
    machine.frame = question.frame.unwrap_or(machine.frame);
    if pc.is_some() {
        match (machine.frame as usize).checked_sub(1) {
            None => snapshot.pc = pc,
            Some(caller) => match snapshot.callers.get_mut(caller) {
                Some(caller) => caller.pc = pc,
                None => {
                    return Err(Failure::line(format_args!("the machine has no frame {}", machine.frame)));
                }
            },
        }
    }
    Ok((machine, target))
}

/// The machines of all files in order, and their common target.
pub fn stops(
    question: &Question,
    of_object: Option<target::Target>,
) -> Result<(Vec<Machine>, Target), Failure> {
    let named: Option<Target> = question.target.as_deref().map(targets::named).transpose()?.map(Into::into);
    let of_object: Option<Target> = of_object.map(Into::into);
    let (mut machines, mut target) = (Vec::new(), None);
    for file in &question.machine {
        let text = input(file)?;
        let otherwise = if named.is_none() { target.clone().or(of_object.clone()) } else { None };
        let found = match otherwise {
            Some(target) => Machine::stops(&text, None).or_else(|_| Machine::stops(&text, Some(target))),
            None => Machine::stops(&text, named.clone()),
        };
        let (of_file, found) = found.map_err(of(file))?;
        if *target.get_or_insert_with(|| found.clone()) != found {
            return Err(Failure::line(format_args!(
                "{}: all files of --machine have the same target",
                file.display()
            )));
        }
        machines.extend(of_file);
    }
    let Some(target) = target.or(named).or(of_object) else {
        return Err(Failure("the target is unknown: --target gives it, or the file of --machine".into()));
    };
    if question.machine.is_empty() {
        machines.push(Machine::from_json("{}", &target)?);
    }
    Ok((machines, target))
}

/// Target of an object file, with the number of lanes of its functions.
pub fn target_of(object: &Object<'_>, info: &DebugInfo<'_, '_>) -> Option<target::Target> {
    let lanes = info.lanes_of_all();
    let wave = [Wave::W32, Wave::W64].into_iter().find(|wave| lanes == Some(wave.lanes().into()));
    object.target(object.wave().or(wave))
}

pub fn dialect(question: &Question) -> Result<Dialect> {
    match &question.consumer {
        Some(name) => Ok(Consumer::named(name)?.expressions.dialect),
        None => Ok(question.dialect.into()),
    }
}

fn encoding(question: &Question, target: &Target) -> Result<Encoding> {
    let mut encoding = target.encoding(dialect(question)?);
    if let Some(name) = &question.consumer {
        encoding.version = Consumer::named(name)?.version;
    }
    if encoding.dialect == Dialect::Dwarf6 {
        encoding.version = encoding.version.max(6);
    }
    Ok(encoding)
}

/// Numbers for the operations that are accepted for DWARF 6 without a number: those that no producer uses.
fn provisional_codes() -> DraftCodes {
    let is_unassigned = |name: &Name| DraftCodes::NONE.with(*name, 1).get(*name).is_some();
    let names = Name::ALL.iter().copied().filter(is_unassigned);
    names.zip(0xe1..=0xef).fold(DraftCodes::NONE, |codes, (name, code)| codes.with(name, code))
}

/// Whether an expression is given as bytes.
fn is_hexadecimal(text: &str) -> bool {
    let mut digits = text.chars().filter(|char| !char.is_whitespace()).peekable();
    digits.peek().is_some() && digits.all(|digit| digit.is_ascii_hexdigit())
}

/// Bytes of an expression: from hexadecimal digits, or from text.
fn expression(text: &str, encoding: Encoding, target: Option<&target::Target>) -> Result<Vec<u8>, Failure> {
    if !is_hexadecimal(text) {
        return Ok(text::parse(text, encoding, target)?.bytes().to_vec());
    }
    let digits: String = text.chars().filter(|char| !char.is_whitespace()).collect();
    let byte = |at| digits.get(at..at + 2).and_then(|byte| u8::from_str_radix(byte, 16).ok());
    let bytes = (0..digits.len()).step_by(2).map(byte).collect::<Option<_>>();
    bytes.ok_or_else(|| {
        Failure::line(format_args!("bytes of two hexadecimal digits each are expected: `{text}`"))
    })
}

/// Initial stack.
fn initial(question: &Question, machine: &Machine, target: &Target) -> Result<Vec<Element>, Failure> {
    if question.initial.is_empty() {
        return Ok(machine.initial.clone());
    }
    let element = |text: &String| {
        let number = match text.strip_prefix("0x") {
            Some(digits) => u64::from_str_radix(digits, 16).ok(),
            None => text.parse().ok(),
        };
        if let Some(number) = number {
            return Ok(Element::Value(Value::generic(number, target.address_bytes())));
        }
        let location = location::parse(text, target);
        location.map(Element::Location).map_err(|what| Failure::line(format_args!("--initial: {what}")))
    };
    question.initial.iter().map(element).collect()
}
