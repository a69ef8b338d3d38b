//! `eval`: from arguments to an evaluation, which `explain` prints with its steps.

use std::collections::HashSet;
use std::path::Path;
use std::process::ExitCode;

use clap::{Args, ValueEnum};
use eitri::Consumer;
use eitri::conform::{
    KnownCallers, MachineChanges, Stop, StoppedObject, VectorMachine, VectorTarget, expression, location,
};
use eitri::dump::figure;
use eitri::eval::{self, DebugInfo, Element};
use eitri::op::Dialect;
use eitri::read::{Dwarf, Object, ReadOptions, SplitFiles, address_in};
use eitri::{Result, target};
use serde_json::json;

use super::color::escaped;
use super::lane_groups::{self, LaneGroup, groups};
use super::output::{Form, print};
use super::progress::Progress;
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
            let groups = ask(
                "eval",
                &question,
                &grouped,
                &|left, right| matches!((left, right), (Ok(left), Ok(right)) if left == right),
            )??;
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
    ask(command, question, &|stop| answered(stop, is_drawn), &|left: &Answer, right| {
        (&left.found, left.is_result) == (&right.found, right.is_result)
    })
}

/// Evaluates in all lanes.
fn grouped(stop: &Stop<'_>) -> Result<Vec<LaneGroup>> {
    Ok(groups(stop.lanes()?, stop.snapshot, stop.target, LONGEST_TEXT))
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
        let encoding = target
            .encoding_for(question.consumer.as_deref(), question.dialect.map_or(Dialect::Llvm, Into::into))?;
        let (expr, encoding) = expression(subject, encoding, &target)?;
        let mut stop = Stop::new(&expr, &machine, encoding, &target).with_bits(question.read);
        stop.context = stop.context.with_kind(question.kind.into());
        return Ok(evaluate(&stop));
    };
    let file = Path::new(subject);
    let progress = Progress::begin(command, file);
    let described = containers::single_described(file, question.member.as_deref())?;
    let target = question.target.as_deref().map(targets::named).transpose()?;
    let object = described.read(target.as_ref()).map_err(in_file(file))?;
    let dwarf = Dwarf::read_with(&object, &ReadOptions::new().dialect(dialect(question)?).readable())
        .map_err(in_file(file))?;
    drop(progress);
    with_split(question, &object, &dwarf, |files| {
        let (machine, target) = stopped(question, files, DebugInfo::new(files[0]).target(&object))?;
        let stopped = StoppedObject::new(&object, files).map_err(in_file(file))?;
        let machine = (&machine, &machine.snapshot as &dyn eval::Machine, &target);
        stopped
            .evaluate(name, machine, question.read, &mut |stop| evaluate(stop), is_equal)
            .map_err(in_file(file))
    })
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

/// Maximum size of the printed result in bytes; the result of reading a large object is at most a few times smaller.
const LONGEST_TEXT: usize = 1 << 28;

/// Evaluates in the current lane, with steps and, if `is_drawn`, a figure.
fn answered(stop: &Stop<'_>, is_drawn: bool) -> Answer {
    let (steps, found) = stop.steps();
    Answer {
        figure: is_drawn.then(|| figure(&steps, stop.machine, stop.target, stop.bits)),
        steps: steps.to_string(),
        answer: lane_groups::answer(&found, stop.snapshot),
        is_result: found.fault().is_none(),
        found: stop.text(&found, LONGEST_TEXT),
    }
}

/// Returns the address given by `--pc`. Functions are looked up in an object's files.
fn address(pc: &Pc, files: &[&Dwarf<'_>]) -> Result<u64, Failure> {
    match pc {
        Pc::Address(address) => Ok(*address),
        Pc::In { function, offset } => {
            let [first, ..] = files else {
                let problem = "the function has no object file; expected --var";
                return Err(Failure::line(format_args!("--pc {pc}: {problem}")));
            };
            // The commands' notation for a cubin's pcs also names a function in another function's section.
            match first.pc_notation().address(function, *offset) {
                Some(address) => Ok(address),
                None => address_in(files, function, *offset)
                    .map_err(|error| Failure::line(format_args!("--pc: {error}"))),
            }
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
    let mut changes = MachineChanges::default();
    changes.pc = question.pc.as_ref().map(|pc| address(pc, files)).transpose()?;
    changes.frame = question.frame;
    changes.lane = match question.lane {
        Some(Lane::Number(lane)) => Some(lane),
        Some(Lane::All) | None => None,
    };
    changes.initial = initial(question, &target)?;
    let callers = if files.is_empty() { KnownCallers::OfMachine } else { KnownCallers::Unwound };
    changes.apply(&mut machine, &target, callers)?;
    Ok((machine, target))
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
        let machine = VectorMachine::stops(&text, named.clone(), target.clone().or(of_object.clone()));
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

pub fn dialect(question: &Question) -> Result<Option<Dialect>> {
    match &question.consumer {
        Some(name) => Ok(Some(Consumer::named(name)?.expressions.dialect)),
        None => Ok(question.dialect.map(Into::into)),
    }
}

/// Initial stack, if there are arguments for it.
fn initial(question: &Question, target: &VectorTarget) -> Result<Option<Vec<Element>>, Failure> {
    let element = |text: &String| {
        location::parse_element(text, target)
            .map_err(|problem| Failure::line(format_args!("--initial: {problem}")))
    };
    let elements: Vec<_> = question.initial.iter().map(element).collect::<Result<_, _>>()?;
    Ok((!elements.is_empty()).then_some(elements))
}
