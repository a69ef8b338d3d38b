//! Evaluations: an expression, or a variable of an object, on a stopped machine.

use eitri::conform::{
    Found, KnownCallers, MachineChanges, Stop, StoppedObject, VectorMachine, VectorTarget, expression,
    location,
};
use eitri::dump::figure;
use eitri::eval::{DebugInfo, Machine, ResultKind, Snapshot};
use eitri::lower::Consumer;
use eitri::op::Dialect;
use eitri::read::{Dwarf, Object, ReadOptions, SplitFiles, address_in};
use eitri::target::Target;
use pyo3::prelude::*;
use pyo3::pybacked::{PyBackedBytes, PyBackedStr};

use crate::error::{Failure, fault_fields};
use crate::machine::PythonMachine;
use crate::options::{Split, bad_argument, target};
use crate::stack::{detached, detached_on_stack};

/// Maximum size of the printed result in bytes.
const LONGEST_TEXT: usize = 1 << 28;

/// Number of evaluations that may be nested, by a machine's methods that evaluate. Each needs stack.
const MOST_NESTED: u32 = 32;

/// The expression or variable to evaluate, and its context. The keys are those of `eitri._evaluate`.
#[derive(FromPyObject)]
#[pyo3(from_item_all)]
pub struct Question {
    /// The expression as text.
    text: Option<String>,
    /// The expression as bytes.
    bytecode: Option<PyBackedBytes>,
    /// The object with the variable.
    object: Option<PyBackedBytes>,
    variable: Option<String>,
    split: Vec<(String, PyBackedBytes)>,
    supplementary: Option<PyBackedBytes>,
    /// The program location: an address, or bytes after the start of the function.
    pc: Option<u64>,
    function: Option<String>,
    /// The machine as JSON: the object alone, or a file with a target.
    machine: Option<PyBackedStr>,
    is_file: bool,
    /// The Python object that reads registers and memory.
    reader: Option<Py<PyAny>>,
    target: Option<PyBackedStr>,
    consumer: Option<String>,
    dialect: Option<String>,
    frame: Option<u32>,
    lane: Option<u64>,
    read: Option<u64>,
    kind: String,
    initial: Vec<String>,
}

/// Result: text, the keys of `expect` in conformance vectors as JSON, and the fault as JSON.
type Answer = (String, String, Option<String>);

/// Result with its steps as text and as a picture.
type Explained = (Answer, String, String);

/// Evaluates in the current lane, or in all lanes.
#[pyfunction]
pub fn answers(py: Python<'_>, question: Question, all_lanes: bool) -> PyResult<Vec<Answer>> {
    let evaluate = |stop: &Stop<'_>| -> Result<Vec<Answer>, Failure> {
        let found = if all_lanes { stop.lanes()? } else { vec![stop.answer()] };
        Ok(found.iter().map(|found| answer(stop, found)).collect())
    };
    ask(py, &question, &evaluate, &|left, right| left == right)
}

/// Evaluates with all steps.
#[pyfunction]
pub fn steps(py: Python<'_>, question: Question) -> PyResult<Explained> {
    let evaluate = |stop: &Stop<'_>| {
        let (steps, found) = stop.steps();
        let picture = figure(&steps, stop.machine, stop.target, stop.bits);
        Ok((answer(stop, &found), steps.to_string(), picture))
    };
    ask(py, &question, &evaluate, &|left: &Explained, right| left.0 == right.0)
}

thread_local! {
    static NESTED: std::cell::Cell<u32> = const { std::cell::Cell::new(0) };
}

/// A started evaluation on this thread.
struct Nested;

impl Nested {
    fn begin() -> PyResult<Self> {
        let depth = NESTED.get();
        if depth >= MOST_NESTED {
            let problem = format!("a machine's methods start more than {MOST_NESTED} nested evaluations");
            return Err(pyo3::exceptions::PyRecursionError::new_err(problem));
        }
        NESTED.set(depth + 1);
        Ok(Self)
    }
}

impl Drop for Nested {
    fn drop(&mut self) {
        NESTED.set(NESTED.get() - 1);
    }
}

/// Evaluates a stop.
type Evaluate<'a, T> = &'a (dyn Fn(&Stop<'_>) -> Result<T, Failure> + Sync);
/// Returns whether several variables have a common answer.
type Equal<'a, T> = &'a (dyn Fn(&T, &T) -> bool + Sync);

/// Answers a question by a function, which gets the expression with the stopped machine.
fn ask<T: Send>(
    py: Python<'_>,
    question: &Question,
    evaluate: Evaluate<'_, T>,
    is_equal: Equal<'_, T>,
) -> PyResult<T> {
    let _nested = Nested::begin()?;
    let reader = question.reader.as_ref().map(|reader| reader.clone_ref(py));
    let calls_python = reader.is_some();
    let question = Asked { question, reader };
    let answer = || match &question.question.object {
        None => question.expression(evaluate),
        Some(object) => question.variable(object, evaluate, is_equal),
    };
    Ok(if calls_python { detached_on_stack(py, answer)? } else { detached(py, answer) }?)
}

/// A question, with its own reference to the object that reads registers and memory.
struct Asked<'q> {
    question: &'q Question,
    reader: Option<Py<PyAny>>,
}

impl Asked<'_> {
    /// Evaluates the expression.
    fn expression<T>(&self, evaluate: Evaluate<'_, T>) -> Result<T, Failure> {
        let question = self.question;
        let (mut machine, target) = stopped(question, None)?;
        let changes = question.changes(question.pc, &target)?;
        changes.apply(&mut machine, &target, KnownCallers::OfMachine)?;
        let encoding = target
            .encoding_for(question.consumer.as_deref(), dialect_named(question)?.unwrap_or(Dialect::Llvm))?;
        let (expr, encoding) = match (&question.text, &question.bytecode) {
            (Some(source), _) => expression(source, encoding, &target)?,
            (None, bytes) => (bytes.as_ref().map_or_else(Vec::new, |bytes| bytes.to_vec()), encoding),
        };
        self.on_machine(&machine.snapshot, &target, &mut |reader| {
            let mut stop =
                Stop::new(&expr, &machine, encoding, &target).with_machine(reader).with_bits(question.read);
            stop.context = stop.context.with_kind(ResultKind::named(&question.kind)?);
            evaluate(&stop)
        })
    }

    /// Evaluates the object's variable.
    fn variable<T>(
        &self,
        object: &[u8],
        evaluate: Evaluate<'_, T>,
        is_equal: Equal<'_, T>,
    ) -> Result<T, Failure> {
        let question = self.question;
        let target = target(question.target.as_ref())?;
        let object = Object::read_with(object, question.supplementary.as_deref(), target.as_ref())?;
        let options = ReadOptions::new().dialect(dialect_of(question)?).readable();
        let dwarf = Dwarf::read_with(&object, &options)?;
        if dwarf.sections().is_split {
            return self.in_files(&object, &[&dwarf], evaluate, is_equal);
        }
        let find = Split(&question.split);
        let answer = SplitFiles::new(&find).with(&object, &dwarf, |split| {
            let files: Vec<&Dwarf<'_>> = std::iter::once(&dwarf).chain(split).collect();
            Ok(self.in_files(&object, &files, evaluate, is_equal))
        });
        answer?
    }

    fn in_files<T>(
        &self,
        object: &Object<'_>,
        files: &[&Dwarf<'_>],
        evaluate: Evaluate<'_, T>,
        is_equal: Equal<'_, T>,
    ) -> Result<T, Failure> {
        let question = self.question;
        let (mut machine, target) = stopped(question, DebugInfo::new(files[0]).target(object))?;
        let pc = match (&question.function, question.pc) {
            (Some(function), offset) => Some(address_in(files, function, offset.unwrap_or(0))?),
            (None, pc) => pc,
        };
        question.changes(pc, &target)?.apply(&mut machine, &target, KnownCallers::Unwound)?;
        let stopped = StoppedObject::new(object, files)?;
        let name = question.variable.as_deref().unwrap_or_default();
        self.on_machine(&machine.snapshot, &target, &mut |reader| {
            let machine = (&machine, reader, &target);
            stopped.evaluate(
                name,
                machine,
                question.read,
                &mut |stop| evaluate(stop),
                &|left, right| matches!((left, right), (Ok(left), Ok(right)) if is_equal(left, right)),
            )?
        })
    }

    /// Calls a function with the machine: the state alone, or with the registers and memory that the Python object
    /// reads. An exception of the object takes precedence over the result.
    fn on_machine<T>(
        &self,
        snapshot: &Snapshot,
        target: &VectorTarget,
        then: &mut dyn FnMut(&dyn Machine) -> Result<T, Failure>,
    ) -> Result<T, Failure> {
        let Some(reader) = &self.reader else { return then(snapshot) };
        let reader = Python::attach(|py| reader.clone_ref(py));
        let machine = PythonMachine::new(snapshot, target, reader);
        let result = then(&machine);
        machine.take_raised().map_or(result, |raised| Err(raised.into()))
    }
}

/// Returns an answer for Python: text, JSON, and the fault.
fn answer(stop: &Stop<'_>, found: &Found) -> Answer {
    let fault = found.fault().map(|fault| fault_fields(fault).to_string());
    (stop.text(found, LONGEST_TEXT), found.to_json(stop.snapshot), fault)
}

/// The stopped machine and its target: the question's, or else that of the machine's file, or else the object's.
fn stopped(question: &Question, of_object: Option<Target>) -> Result<(VectorMachine, VectorTarget), Failure> {
    let named = target(question.target.as_ref())?.map(VectorTarget::from);
    let of_object = of_object.map(VectorTarget::from);
    match &question.machine {
        Some(file) if question.is_file => Ok(VectorMachine::with_target(file.as_bytes(), named, of_object)?),
        machine => {
            let target = named.or(of_object);
            let target = target
                .ok_or_else(|| bad_argument("the target is unknown; expected the argument `target`"))?;
            let text = machine.as_ref().map_or("{}", |machine| machine);
            Ok((VectorMachine::from_json(text, &target)?, target))
        }
    }
}

impl Question {
    /// Returns what the question states instead of the machine.
    fn changes(&self, pc: Option<u64>, target: &VectorTarget) -> eitri::Result<MachineChanges> {
        let element = |text: &String| {
            location::parse_element(text, target)
                .map_err(|problem| bad_argument(format!("initial: {problem}")))
        };
        let initial: Vec<_> = self.initial.iter().map(element).collect::<eitri::Result<_>>()?;
        let mut changes = MachineChanges::default();
        changes.frame = self.frame;
        changes.pc = pc;
        changes.lane = self.lane;
        changes.initial = (!initial.is_empty()).then_some(initial);
        Ok(changes)
    }
}

/// Returns the dialect of an object's expressions, if the question has it.
fn dialect_of(question: &Question) -> eitri::Result<Option<Dialect>> {
    match &question.consumer {
        Some(name) => Ok(Some(Consumer::named(name)?.expressions.dialect)),
        None => dialect_named(question),
    }
}

fn dialect_named(question: &Question) -> eitri::Result<Option<Dialect>> {
    question.dialect.as_deref().map(Dialect::named).transpose()
}
