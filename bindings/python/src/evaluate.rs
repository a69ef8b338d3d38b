//! Evaluations: an expression, or a variable of an object, on a stopped machine.

use eitri::conform::{Found, Read, VectorMachine, VectorTarget, location};
use eitri::dump::{figure, steps as traced};
use eitri::eval::{
    Architecture, Body, CallStack, Context, CurrentObject, DebugInfo, Element, Evaluator, Fault, InLane,
    Machine, PtxRegisters, ResultKind, Snapshot, SpaceLayout, Value as Number, WithDebugInfo,
};
use eitri::lower::Consumer;
use eitri::op::{Dialect, DraftCodes, Encoding, OperationName, text};
use eitri::read::nvidia::RegisterMap;
use eitri::read::{
    CurrentLocation, Dwarf, FrameSection, Object, ReadOptions, ScopeVariable, SplitFiles, address_in,
    variable_named,
};
use eitri::target::{Space, Target};
use pyo3::prelude::*;
use pyo3::pybacked::{PyBackedBytes, PyBackedStr};

use crate::error::{Failure, fault_fields};
use crate::machine::PythonMachine;
use crate::options::{Split, bad_argument, dialect, target};

/// Maximum size of the printed result in bytes.
const LONGEST_TEXT: usize = 1 << 28;

/// Number of evaluations that may be nested, by a machine's methods that evaluate. Each needs stack.
const MOST_NESTED: u32 = 32;

/// What is evaluated: an expression or a variable, and its context. The keys are those of `eitri._evaluate`.
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
    dialect: String,
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
    ask(py, &question, &|stop| if all_lanes { stop.lanes() } else { Ok(vec![stop.answer()]) })
}

/// Evaluates with all steps.
#[pyfunction]
pub fn steps(py: Python<'_>, question: Question) -> PyResult<Explained> {
    ask(py, &question, &|stop| Ok(stop.explain()))
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

/// Answers a question by a function, which gets the expression with the stopped machine.
fn ask<T: Send>(
    py: Python<'_>,
    question: &Question,
    evaluate: &(dyn Fn(&Stop<'_>) -> Result<T, Failure> + Sync),
) -> PyResult<T> {
    let _nested = Nested::begin()?;
    let reader = question.reader.as_ref().map(|reader| reader.clone_ref(py));
    let question = Asked { question, reader };
    let answer = py.detach(|| match &question.question.object {
        None => question.expression(evaluate),
        Some(object) => question.variable(object, evaluate),
    });
    Ok(answer?)
}

/// A question, with its own reference to the object that reads registers and memory.
struct Asked<'q> {
    question: &'q Question,
    reader: Option<Py<PyAny>>,
}

impl Asked<'_> {
    /// Evaluates the expression.
    fn expression<T>(&self, evaluate: &dyn Fn(&Stop<'_>) -> Result<T, Failure>) -> Result<T, Failure> {
        let question = self.question;
        let (mut machine, target) = stopped(question, None)?;
        if let Some(pc) = question.pc {
            machine.snapshot.pc = Some(pc);
        }
        let mut encoding = encoding(question, &target)?;
        // Bytes have their producer's numbers, which are unknown; a text can use any numbers.
        if encoding.dialect == Dialect::Dwarf6 && question.text.is_some() {
            encoding.draft = provisional_codes();
        }
        let expr = match (&question.text, &question.bytecode) {
            (Some(source), _) => text::parse(source, encoding, target.built_in())?.bytes().to_vec(),
            (None, Some(bytes)) => bytes.to_vec(),
            (None, None) => Vec::new(),
        };
        let initial = initial(question, &machine, &target)?;
        let context =
            machine.context(encoding, &target).with_initial(&initial).with_kind(kind(&question.kind)?);
        self.on_machine(&machine.snapshot, &target, &mut |inner| {
            evaluate(&Stop {
                body: Body::Expression(&expr),
                bits: question.read,
                space: None,
                machine: inner,
                snapshot: &machine.snapshot,
                context,
                target: &target,
            })
        })
    }

    /// Evaluates the object's variable.
    fn variable<T>(
        &self,
        object: &[u8],
        evaluate: &dyn Fn(&Stop<'_>) -> Result<T, Failure>,
    ) -> Result<T, Failure> {
        let question = self.question;
        let target = target(question.target.as_ref())?;
        let object = Object::read_with(object, question.supplementary.as_deref(), target.as_ref())?;
        let options = ReadOptions::new().dialect(dialect_of(question)?).readable();
        let dwarf = Dwarf::read_with(&object, &options)?;
        if dwarf.sections().is_split {
            return self.in_files(&object, &[&dwarf], evaluate);
        }
        let find = Split(&question.split);
        let answer = SplitFiles::new(&find).with(&object, &dwarf, |split| {
            let files: Vec<&Dwarf<'_>> = std::iter::once(&dwarf).chain(split).collect();
            Ok(self.in_files(&object, &files, evaluate))
        });
        answer?
    }

    fn in_files<T>(
        &self,
        object: &Object<'_>,
        files: &[&Dwarf<'_>],
        evaluate: &dyn Fn(&Stop<'_>) -> Result<T, Failure>,
    ) -> Result<T, Failure> {
        let question = self.question;
        let infos: Vec<_> = files.iter().map(|dwarf| DebugInfo::new(dwarf)).collect();
        let (mut machine, target) = stopped(question, infos[0].target(object))?;
        let pc = match (&question.function, question.pc) {
            (Some(function), offset) => Some(address_in(files, function, offset.unwrap_or(0))?),
            (None, pc) => pc,
        };
        if pc.is_some() {
            let caller = (machine.frame as usize).checked_sub(1);
            match caller.and_then(|caller| machine.snapshot.callers.get_mut(caller)) {
                Some(caller) => caller.pc = pc,
                // An object's frames are unwound from the innermost.
                None => machine.snapshot.pc = pc,
            }
        }
        let sections =
            [FrameSection::Debug, FrameSection::Eh].map(|section| files[0].frames_of_code(section));
        self.on_machine(&machine.snapshot, &target, &mut |inner| {
            let frame = machine.frame;
            let stack = (frame as usize > machine.snapshot.callers.len()).then(|| {
                // The target by its name has a calling convention.
                let architecture: &dyn Architecture = target.built_in().map_or(&target, |built_in| built_in);
                let stack = CallStack::new(inner, &sections, architecture);
                infos.iter().fold(stack, CallStack::with_debug_info)
            });
            if let Some(stack) = &stack {
                for number in 0..=frame {
                    let known = stack.frame(number).map_err(|fault| {
                        bad_argument(format!("frame {frame} of the machine cannot be unwound: {fault}"))
                    })?;
                    if known.is_none() {
                        return Err(bad_argument(format!("the machine has no frame {number}")).into());
                    }
                }
            }
            let inner: &dyn Machine = stack.as_ref().map_or(inner, |stack| stack);
            let pc = inner.pc(frame);
            let name = question.variable.as_deref().unwrap_or_default();
            let variable = variable_named(files, name, pc)?;
            self.located(object, &variable, (&machine, inner, &target), evaluate)
        })
    }

    /// Evaluates a variable's location on a stopped machine, which knows the frames.
    fn located<T>(
        &self,
        object: &Object<'_>,
        variable: &ScopeVariable<'_, '_>,
        (machine, stopped, target): (&VectorMachine, &dyn Machine, &VectorTarget),
        evaluate: &dyn Fn(&Stop<'_>) -> Result<T, Failure>,
    ) -> Result<T, Failure> {
        let pc = stopped.pc(machine.frame);
        // If the location has an error, this is why there is no location.
        if let (CurrentLocation::Unreadable, Some(error)) = (&variable.location, &variable.problem) {
            return Err(error.clone().into());
        }
        let ScopeVariable { entry, located, .. } = *variable;
        let info = DebugInfo::new(located.dwarf());
        let wrong = |problem: String| bad_argument(problem);
        info.check_machine(stopped, target, machine.frame).map_err(|problem| wrong(problem.to_string()))?;
        let unit = located.unit();
        let context = machine
            .context(unit.encoding, target)
            .with_unit(unit.offset)
            .with_initial(&[])
            .with_object(CurrentObject::Unspecified);
        // A cubin's expressions name PTX registers, which are held in the processor's registers.
        let map = RegisterMap::read(object)?;
        let mapped = pc.filter(|_| machine.frame == 0).and_then(|pc| map.at(object, pc));
        let through = target.built_in().filter(|target| target.has_lane_expressions() && !object.is_ptx());
        let through = through.map(|built_in| {
            let offset = mapped.map_or(0, |(_, offset)| offset);
            PtxRegisters::new(stopped, built_in, mapped.map(|(function, _)| function), offset)
        });
        let inner: &dyn Machine = through.as_ref().map_or(stopped, |through| through);
        let whole = WithDebugInfo::new(&info, inner, context);
        let class = entry.number(eitri::gimli::DW_AT_address_class).filter(|_| object.is_cubin());
        let space = class.zip(target.built_in()).and_then(|(class, target)| target.space_of_class(class));
        let bits = self.question.read.or_else(|| entry.ty()?.size_bits());
        let body = match (&variable.location, &variable.problem) {
            // The rest of the list cannot be read.
            (CurrentLocation::Entries(entries), Some(_)) if entries.len() == 1 => {
                Body::Expression(entries[0].expr)
            }
            _ => info.body(located),
        };
        let snapshot = &machine.snapshot;
        evaluate(&Stop { body, bits, space, machine: &whole, snapshot, context, target })
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

/// An expression or a variable's location, with the stopped machine.
struct Stop<'a> {
    body: Body<'a>,
    /// Bits to read at the location.
    bits: Option<u64>,
    /// The variable's address space in memory, if expressions have addresses alone.
    space: Option<&'a Space>,
    machine: &'a dyn Machine,
    /// The machine without debug information.
    snapshot: &'a Snapshot,
    context: Context<'a>,
    target: &'a VectorTarget,
}

impl Stop<'_> {
    /// Evaluates in the current lane.
    fn answer(&self) -> Answer {
        let trace = traced(self.body, self.machine, &self.context, self.target.built_in());
        self.found(trace.result, self.machine)
    }

    /// Evaluates in each lane.
    fn lanes(&self) -> Result<Vec<Answer>, Failure> {
        let count = self.machine.lanes();
        if !(1..=64).contains(&count) {
            let problem = format!("the machine's number of lanes is {count}; expected 1 to 64");
            return Err(bad_argument(problem).into());
        }
        let mask = u64::MAX >> (64 - count);
        let wave = Evaluator::new().wave_body(self.body, mask, self.machine, &self.context);
        let lanes = (0..u64::BITS).map_while(|lane| Some((lane, wave.lane(lane)?)));
        Ok(lanes.map(|(lane, result)| self.found(result, &InLane::new(self.machine, lane.into()))).collect())
    }

    /// Evaluates with all steps.
    fn explain(&self) -> Explained {
        let mut trace = traced(self.body, self.machine, &self.context, self.target.built_in());
        let lane = self.machine.lane().and_then(|lane| lane.try_into().ok());
        trace.result = self.in_space(trace.result, lane);
        let picture = figure(&trace, self.machine, self.target, self.bits);
        let text = trace.to_string();
        (self.found(trace.result, self.machine), text, picture)
    }

    fn found(&self, result: Result<Element, Fault>, machine: &dyn Machine) -> Answer {
        let lane = machine.lane().and_then(|lane| lane.try_into().ok());
        let result = self.in_space(result, lane);
        let read = match (&result, self.bits) {
            (Ok(Element::Location(location)), Some(bits @ 1..)) => Some(Read::at(location, bits, machine)),
            _ => None,
        };
        let found = Found { result, read, written: None };
        let fault = match (&found.result, &found.read) {
            (Err(fault), _) | (_, Some(Err(fault))) => Some(fault_fields(fault).to_string()),
            _ => None,
        };
        let text = found.to_text_in_names(self.snapshot, LONGEST_TEXT, self.target);
        (text, found.to_json(self.snapshot), fault)
    }

    /// Returns a result in the variable's address space.
    fn in_space(&self, result: Result<Element, Fault>, lane: Option<u32>) -> Result<Element, Fault> {
        match (result, self.space) {
            (Ok(Element::Location(location)), Some(space)) => {
                let layout = SpaceLayout { address_bits: space.address_bits, per: space.per };
                Ok(location.in_space(space.id, layout, lane).into())
            }
            (result, _) => result,
        }
    }
}

/// The stopped machine and its target: the question's, or else that of the machine's file, or else the object's.
fn stopped(question: &Question, of_object: Option<Target>) -> Result<(VectorMachine, VectorTarget), Failure> {
    let named = target(question.target.as_ref())?.map(VectorTarget::from);
    let unknown = || bad_argument("the target is unknown; expected the argument `target`");
    let (mut machine, target) = match &question.machine {
        Some(machine) if question.is_file => {
            match VectorMachine::with_target(machine.as_bytes(), named.clone()) {
                // The file has no target.
                Err(_) if named.is_none() && of_object.is_some() => {
                    VectorMachine::with_target(machine.as_bytes(), of_object.map(VectorTarget::from))?
                }
                read => read?,
            }
        }
        machine => {
            let target = named.or(of_object.map(VectorTarget::from)).ok_or_else(unknown)?;
            let text = machine.as_ref().map_or("{}", |machine| machine);
            (VectorMachine::from_json(text, &target)?, target)
        }
    };
    let snapshot = &mut machine.snapshot;
    snapshot.lane = question.lane.or(snapshot.lane);
    snapshot.lanes = snapshot.lanes.or_else(|| Some(target.built_in()?.lanes().into()));
    machine.frame = question.frame.unwrap_or(machine.frame);
    Ok((machine, target))
}

fn dialect_of(question: &Question) -> eitri::Result<Dialect> {
    match &question.consumer {
        Some(name) => Ok(Consumer::named(name)?.expressions.dialect),
        None => dialect(&question.dialect),
    }
}

fn encoding(question: &Question, target: &VectorTarget) -> eitri::Result<Encoding> {
    let mut encoding = target.encoding(dialect_of(question)?);
    if let Some(name) = &question.consumer {
        encoding.version = Consumer::named(name)?.version;
    }
    if encoding.dialect == Dialect::Dwarf6 {
        encoding.version = encoding.version.max(6);
    }
    Ok(encoding)
}

fn kind(name: &str) -> eitri::Result<ResultKind> {
    Ok(match name {
        "location" => ResultKind::Location,
        "value" => ResultKind::Value,
        "any" => ResultKind::Any,
        _ => return Err(bad_argument(format!("kind is `{name}`; expected location, value or any"))),
    })
}

/// Returns numbers for the operations that are accepted for DWARF 6 without a number: numbers that no producer uses.
fn provisional_codes() -> DraftCodes {
    let is_unassigned = |name: &OperationName| DraftCodes::NONE.with(*name, 1).get(*name).is_some();
    let names = OperationName::ALL.iter().copied().filter(is_unassigned);
    names.zip(0xe1..=0xef).fold(DraftCodes::NONE, |codes, (name, code)| codes.with(name, code))
}

/// Returns the initial stack.
fn initial(
    question: &Question,
    machine: &VectorMachine,
    target: &VectorTarget,
) -> eitri::Result<Vec<Element>> {
    if question.initial.is_empty() {
        return Ok(machine.initial.clone());
    }
    let element = |text: &String| {
        if let Ok(number) = text.parse() {
            return Ok(Element::Value(Number::generic(number, target.address_bytes())));
        }
        let parsed = location::parse(text, target);
        parsed.map(Element::Location).map_err(|problem| bad_argument(format!("initial: {problem}")))
    };
    question.initial.iter().map(element).collect()
}
