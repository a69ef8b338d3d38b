//! `eval`: from arguments to an evaluation, which `explain` prints with its steps.

use std::collections::HashSet;
use std::path::Path;
use std::process::ExitCode;

use clap::{Args, ValueEnum};
use eitri::Consumer;
use eitri::conform::{Found, Read, VectorMachine, VectorTarget, location};
use eitri::dump::{figure, steps};
use eitri::eval::{
    self, Architecture, Body, CallStack, Context, CurrentObject, DebugInfo, Element, Evaluator, Fault,
    InLane, PtxRegisters, Snapshot, Value, WithDebugInfo,
};
use eitri::op::{Dialect, DraftCodes, Encoding, OperationName, text};
use eitri::read::nvidia::RegisterMap;
use eitri::read::{
    CurrentLocation, Dwarf, FrameSection, Frames, Object, ReadOptions, ScopeVariable, SplitFiles, address_in,
    variable_named, variables_named,
};
use eitri::target::Space;
use eitri::{Result, target};
use serde_json::json;

use super::color::escaped;
use super::lane_groups::{self, LaneGroup, groups};
use super::output::{Form, print};
use super::question::{Lane, Pc, Question};
use super::{Failure, containers, exit_code, in_file, input, targets};

/// Arguments for `eval`.
#[derive(Debug, Args)]
pub struct EvalArguments {
    #[command(flatten)]
    question: Question,
    /// Output format.
    #[arg(long, value_enum, default_value_t = Format::Text)]
    format: Format,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Format {
    /// The answer in the notation of conformance vectors; with `--lane all`, a line for each group of neighbouring
    /// lanes with equal answers.
    Text,
    /// A JSON object with the keys of `expect` in conformance vectors; with `--lane all`, the list `lanes` with such
    /// objects, each with a group's `first` and `last` lane.
    Json,
}

impl EvalArguments {
    pub fn run(self) -> Result<ExitCode, Failure> {
        let Self { question, format } = self;
        if question.lane == Some(Lane::All) {
            let groups =
                ask("eval", &question, &|stop| stop.groups(), &|left, right| match (left, right) {
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
        let Answer { found, answer, is_result, .. } = answer("eval", &question, false)?;
        match format {
            Format::Text => print(Form::Text, &format!("{found}\n"))?,
            Format::Json => print(Form::Json, &format!("{}\n", serde_json::Value::from(answer)))?,
        }
        Ok(exit_code(is_result))
    }
}

/// Evaluation result.
pub struct Answer {
    /// Steps as text.
    pub steps: String,
    /// Result in the conformance format's notation.
    pub found: String,
    /// Result as JSON.
    answer: serde_json::Map<String, serde_json::Value>,
    /// Whether there is a result that could be read.
    pub is_result: bool,
    /// Steps as a figure, if requested.
    pub figure: Option<String>,
}

/// Evaluates a command's question in a lane.
pub fn answer(command: &str, question: &Question, is_drawn: bool) -> Result<Answer, Failure> {
    ask(command, question, &|stop| stop.answer(is_drawn), &|left: &Answer, right| {
        (&left.found, left.is_result) == (&right.found, right.is_result)
    })
}

/// Evaluates the question by `evaluate`. Several variables have a common answer if their answers are equal.
fn ask<T>(
    command: &str,
    question: &Question,
    evaluate: &dyn Fn(&Stop<'_>) -> T,
    is_equal: &dyn Fn(&T, &T) -> bool,
) -> Result<T, Failure> {
    let Question { subject, var, .. } = question;
    let Some(name) = var else {
        let (machine, target) = stopped(question, &[], None)?;
        let mut encoding = encoding(question, &target)?;
        // Bytes have their producer's numbers, which are unknown; a text can use any numbers.
        if encoding.dialect == Dialect::Dwarf6 && !is_hexadecimal(subject) {
            encoding.draft = provisional_codes();
        }
        let expr = expression(subject, encoding, target.built_in())?;
        let initial = initial(question, &machine, &target)?;
        let context =
            machine.context(encoding, &target).with_initial(&initial).with_kind(question.kind.into());
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
    let described = containers::single_described(command, file, question.member.as_deref())?;
    let target = question.target.as_deref().map(targets::named).transpose()?;
    let object = described.read(target.as_ref()).map_err(in_file(file))?;
    let dwarf = Dwarf::read_with(&object, &ReadOptions::new().dialect(dialect(question)?).readable())
        .map_err(in_file(file))?;
    with_split(question, &object, &dwarf, |files| {
        let infos: Vec<_> = files.iter().map(|dwarf| DebugInfo::new(dwarf)).collect();
        let (machine, target) = stopped(question, files, infos[0].target(&object))?;
        let sections =
            [FrameSection::Debug, FrameSection::Eh].map(|section| files[0].frames_of_code(section));
        let stack = unwound(&machine, &infos, &sections, &target)?;
        let inner: &dyn eval::Machine = stack.as_ref().map_or(&machine.snapshot, |stack| stack);
        let pc = inner.pc(machine.frame);
        let mut answers = Vec::new();
        for variable in variables_named(files, name, pc).map_err(in_file(file))? {
            answers.push(ask_variable(question, &variable, &object, (&machine, inner, &target), evaluate)?);
        }
        let first = answers.swap_remove(0);
        if answers.iter().any(|other| !is_equal(&first, other)) {
            variable_named(files, name, pc).map_err(in_file(file))?;
        }
        Ok(first)
    })
}

/// Returns the call stack by the object's call frame information, if the machine does not have the frame.
fn unwound<'a, 'o>(
    machine: &'a VectorMachine,
    infos: &'a [DebugInfo<'a, 'o>],
    sections: &'a [Frames<'o>],
    target: &'a VectorTarget,
) -> Result<Option<CallStack<'a, 'o>>, Failure> {
    let frame = machine.frame;
    if frame as usize <= machine.snapshot.callers.len() {
        return Ok(None);
    }
    // The target by its name has a calling convention.
    let architecture: &dyn Architecture = target.built_in().map_or(target, |built_in| built_in);
    let stack = CallStack::new(&machine.snapshot, sections, architecture);
    let stack = infos.iter().fold(stack, CallStack::with_debug_info);
    for number in 0..=frame {
        let known = stack.frame(number).map_err(|fault| {
            Failure::line(format_args!("frame {frame} of the machine cannot be unwound: {fault}"))
        })?;
        if let (None, Some(last)) = (known, number.checked_sub(1)) {
            return Err(Failure::line(format_args!(
                "the machine has no frame {frame}: frame {last} has no caller"
            )));
        }
    }
    Ok(Some(stack))
}

/// Calls a function with an object's units, and its split units in each file.
pub fn with_split<T>(
    question: &Question,
    object: &Object<'_>,
    dwarf: &Dwarf<'_>,
    then: impl FnOnce(&[&Dwarf<'_>]) -> Result<T, Failure>,
) -> Result<T, Failure> {
    let file = Path::new(&question.subject);
    // A split-unit file alone.
    if dwarf.sections().is_split {
        return then(&[dwarf]);
    }
    let folder = question.split.read()?;
    let find = folder.beside(file);
    let read = SplitFiles::new(&find).with(object, dwarf, |split| {
        let files: Vec<&Dwarf<'_>> = std::iter::once(dwarf).chain(split).collect();
        let result = then(&files).map_err(|failure| failure.and(&missing(dwarf, split)));
        Ok(result)
    });
    let result = read.map_err(in_file(file))?;
    folder.failures().iter().for_each(Failure::print);
    result
}

/// Returns a line with the names of the files whose split units were not found; empty if there are none.
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

/// Evaluates a variable on a stopped machine, which knows the frames.
fn ask_variable<T>(
    question: &Question,
    variable: &ScopeVariable<'_, '_>,
    object: &Object<'_>,
    (machine, stopped, target): (&VectorMachine, &dyn eval::Machine, &VectorTarget),
    evaluate: &dyn Fn(&Stop<'_>) -> T,
) -> Result<T, Failure> {
    let file = Path::new(&question.subject);
    let pc = stopped.pc(machine.frame);
    // If the location has an error, this is why there is no location.
    if let (CurrentLocation::Unreadable, Some(error)) = (&variable.location, &variable.problem) {
        return Err(in_file(file)(error.clone()));
    }
    let ScopeVariable { entry, located, .. } = *variable;
    let info = DebugInfo::new(located.dwarf());
    info.check_machine(stopped, target, machine.frame).map_err(Failure::line)?;
    let unit = located.unit();
    let context = machine
        .context(unit.encoding, target)
        .with_unit(unit.offset)
        .with_initial(&[])
        .with_object(CurrentObject::Unspecified);
    // A cubin's expressions name PTX registers, which are held in the processor's registers.
    let map = RegisterMap::read(object).map_err(in_file(file))?;
    let mapped = pc.filter(|_| machine.frame == 0).and_then(|pc| map.at(object, pc));
    let through = match target.built_in().filter(|target| target.has_lane_expressions() && !object.is_ptx()) {
        Some(built_in) => {
            let offset = mapped.map_or(0, |(_, offset)| offset);
            Some(PtxRegisters::new(stopped, built_in, mapped.map(|(function, _)| function), offset))
        }
        None => None,
    };
    let inner: &dyn eval::Machine = match &through {
        Some(through) => through,
        None => stopped,
    };
    let whole = WithDebugInfo::new(&info, inner, context);
    let class = entry.number(eitri::gimli::DW_AT_address_class).filter(|_| object.is_cubin());
    let space = class.zip(target.built_in()).and_then(|(class, target)| target.space_of_class(class));
    let bits = question.read.or_else(|| entry.ty()?.size_bits());
    let body = match (&variable.location, &variable.problem) {
        // The rest of the list cannot be read.
        (CurrentLocation::Entries(entries), Some(_)) if entries.len() == 1 => {
            Body::Expression(entries[0].expr)
        }
        _ => info.body(located),
    };
    let snapshot = &machine.snapshot;
    Ok(evaluate(&Stop { body, bits, space, machine: &whole, snapshot, context, target }))
}

/// Maximum size of the printed result in bytes; the result of reading a large object is at most a few times smaller.
const LONGEST_TEXT: usize = 1 << 28;

/// An expression or a variable's location, with the stopped machine.
struct Stop<'a> {
    body: Body<'a>,
    /// Bits to read at the location.
    bits: Option<u64>,
    /// The variable's address space in memory, if expressions have addresses alone.
    space: Option<&'a Space>,
    machine: &'a dyn eval::Machine,
    /// The machine without debug information.
    snapshot: &'a Snapshot,
    context: Context<'a>,
    target: &'a VectorTarget,
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
        let evaluated = Found { result: trace.result, read, written: None };
        Answer {
            steps,
            answer: lane_groups::answer(&evaluated, snapshot),
            is_result: lane_groups::is_result(&evaluated),
            found: evaluated.to_text_in_names(snapshot, LONGEST_TEXT, target),
            figure,
        }
    }

    /// Evaluates in all lanes.
    fn groups(&self) -> Result<Vec<LaneGroup>, Failure> {
        let count = self.machine.lanes();
        let Some(mask) = 64u64.checked_sub(count).and_then(|rest| u64::MAX.checked_shr(rest as u32)) else {
            return Err(Failure::line(format_args!(
                "--lane all: the machine's number of lanes is {count}; expected 1 to 64"
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

    /// Returns a result in the variable's address space.
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

/// Returns the address given by `--pc`. Functions are looked up in an object's files.
fn address(pc: &Pc, files: &[&Dwarf<'_>]) -> Result<u64, Failure> {
    match pc {
        Pc::Address(address) => Ok(*address),
        Pc::In { .. } if files.is_empty() => {
            let problem = "the function has no object file; expected --var";
            Err(Failure::line(format_args!("--pc {pc}: {problem}")))
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
) -> Result<(VectorMachine, VectorTarget), Failure> {
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
        let caller = (machine.frame as usize).checked_sub(1).map(|caller| snapshot.callers.get_mut(caller));
        match caller {
            Some(Some(caller)) => caller.pc = pc,
            // An object's frames are unwound from the innermost.
            Some(None) if files.is_empty() => {
                return Err(Failure::line(format_args!("the machine has no frame {}", machine.frame)));
            }
            Some(None) | None => snapshot.pc = pc,
        }
    }
    Ok((machine, target))
}

/// Returns whether a machine's file names its target.
fn has_target(text: &[u8]) -> bool {
    serde_json::from_slice::<serde_json::Value>(text).is_ok_and(|machine| machine.get("target").is_some())
}

/// Returns the machines in all files in order, and their common target.
pub fn stops(
    question: &Question,
    of_object: Option<target::Target>,
) -> Result<(Vec<VectorMachine>, VectorTarget), Failure> {
    let named: Option<VectorTarget> =
        question.target.as_deref().map(targets::named).transpose()?.map(Into::into);
    let of_object: Option<VectorTarget> = of_object.map(Into::into);
    let mut machines = Vec::new();
    let mut target = None;
    for file in &question.machine {
        let text = input(file)?;
        // The target of a file counts, unless an argument names another.
        let otherwise = if has_target(&text) { None } else { target.clone().or(of_object.clone()) };
        let machine = VectorMachine::stops(&text, named.clone().or(otherwise));
        let (of_file, machine) = machine.map_err(in_file(file))?;
        if *target.get_or_insert_with(|| machine.clone()) != machine {
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
        machines.push(VectorMachine::from_json("{}", &target)?);
    }
    Ok((machines, target))
}

pub fn dialect(question: &Question) -> Result<Dialect> {
    match &question.consumer {
        Some(name) => Ok(Consumer::named(name)?.expressions.dialect),
        None => Ok(question.dialect.into()),
    }
}

fn encoding(question: &Question, target: &VectorTarget) -> Result<Encoding> {
    let mut encoding = target.encoding(dialect(question)?);
    if let Some(name) = &question.consumer {
        encoding.version = Consumer::named(name)?.version;
    }
    if encoding.dialect == Dialect::Dwarf6 {
        encoding.version = encoding.version.max(6);
    }
    Ok(encoding)
}

/// Returns numbers for the operations that are accepted for DWARF 6 without a number: numbers that no producer uses.
fn provisional_codes() -> DraftCodes {
    let is_unassigned = |name: &OperationName| DraftCodes::NONE.with(*name, 1).get(*name).is_some();
    let names = OperationName::ALL.iter().copied().filter(is_unassigned);
    names.zip(0xe1..=0xef).fold(DraftCodes::NONE, |codes, (name, code)| codes.with(name, code))
}

/// Whether an expression is given as bytes.
fn is_hexadecimal(text: &str) -> bool {
    let mut digits = text.chars().filter(|char| !char.is_whitespace()).peekable();
    digits.peek().is_some() && digits.all(|digit| digit.is_ascii_hexdigit())
}

/// Returns an expression's bytes: from hexadecimal digits, or from text.
fn expression(text: &str, encoding: Encoding, target: Option<&target::Target>) -> Result<Vec<u8>, Failure> {
    if !is_hexadecimal(text) {
        return Ok(text::parse(text, encoding, target)?.bytes().to_vec());
    }
    let digits: String = text.chars().filter(|char| !char.is_whitespace()).collect();
    let byte = |digit| digits.get(digit..digit + 2).and_then(|byte| u8::from_str_radix(byte, 16).ok());
    let bytes = (0..digits.len()).step_by(2).map(byte).collect::<Option<_>>();
    bytes.ok_or_else(|| {
        Failure::line(format_args!(
            "`{text}` is not a list of bytes; expected two hexadecimal digits for each byte"
        ))
    })
}

/// Initial stack.
fn initial(
    question: &Question,
    machine: &VectorMachine,
    target: &VectorTarget,
) -> Result<Vec<Element>, Failure> {
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
        location.map(Element::Location).map_err(|problem| Failure::line(format_args!("--initial: {problem}")))
    };
    question.initial.iter().map(element).collect()
}
