//! Questions about a stopped program: an expression, or a variable of an object.

use super::found::{Found, Read};
use super::machine::VectorMachine;
use super::target::VectorTarget;
use crate::dump::{self, Steps};
use crate::error::{ErrorKind, Result};
use crate::eval::{
    Architecture, Body, CallStack, Context, CurrentObject, DebugInfo, Element, Evaluator, Fault, InLane,
    Machine, PtxRegisters, Snapshot, SpaceLayout, WithDebugInfo,
};
use crate::op::Encoding;
use crate::read::nvidia::RegisterMap;
use crate::read::{
    CurrentLocation, Dwarf, FrameSection, Frames, Object, PcNotation, ScopeVariable, variable_named,
    variables_named,
};
use crate::target::Space;

/// An expression or a variable's location on a stopped machine, which answers as a debugger's `print` does.
///
/// ```
/// use eitri::conform::{Stop, VectorMachine, VectorTarget};
/// use eitri::op::{Dialect, text};
/// use eitri::target::Target;
///
/// let target = VectorTarget::from(Target::named("amdgpu-gfx1030-wave32")?);
/// let machine = VectorMachine::from_json(r#"{"lane": 1, "lanes": 32, "registers": {"v3": "01 02 03 04 05"}}"#, &target)?;
/// let encoding = target.encoding(Dialect::Llvm);
/// let expr = text::parse("regx v3; push_lane; lit4; mul; offset", encoding, target.built_in())?;
/// let stop = Stop::new(expr.bytes(), &machine, encoding, &target).with_bits(Some(8));
/// assert_eq!(stop.text(&stop.answer(), 100), "location reg:v3+32, bytes 05");
/// # Ok::<(), eitri::Error>(())
/// ```
#[derive(Clone, Copy)]
#[non_exhaustive]
pub struct Stop<'a> {
    /// The expression, or the variable's location.
    pub body: Body<'a>,
    /// Number of bits to read at a resulting location; `None` and 0 read nothing.
    pub bits: Option<u64>,
    /// The variable's address space in memory, where expressions have addresses alone.
    pub space: Option<&'a Space>,
    /// The machine, which also knows the debug information that the location refers to.
    pub machine: &'a dyn Machine,
    /// The machine's own state.
    pub snapshot: &'a Snapshot,
    /// Evaluation context.
    pub context: Context<'a>,
    /// Target of the machine.
    pub target: &'a VectorTarget,
    /// How the object's pcs are written.
    pub pcs: PcNotation<'a>,
}

impl core::fmt::Debug for Stop<'_> {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        f.debug_struct("Stop").field("body", &self.body).field("bits", &self.bits).finish_non_exhaustive()
    }
}

impl<'a> Stop<'a> {
    /// Returns an expression on a machine.
    pub fn new(
        expr: &'a [u8],
        machine: &'a VectorMachine,
        encoding: Encoding,
        target: &'a VectorTarget,
    ) -> Self {
        Self {
            body: Body::Expression(expr),
            bits: None,
            space: None,
            machine: &machine.snapshot,
            snapshot: &machine.snapshot,
            context: machine.context(encoding, target),
            target,
            pcs: PcNotation::default(),
        }
    }

    /// Sets the number of bits to read at a resulting location.
    #[must_use]
    pub fn with_bits(mut self, bits: Option<u64>) -> Self {
        self.bits = bits;
        self
    }

    /// Replaces the machine by one that has its registers and memory elsewhere.
    #[must_use]
    pub fn with_machine(mut self, machine: &'a dyn Machine) -> Self {
        self.machine = machine;
        self
    }

    /// Evaluates in the current lane.
    pub fn answer(&self) -> Found {
        self.steps().1
    }

    /// Evaluates in the current lane, with all steps.
    pub fn steps(&self) -> (Steps<'a>, Found) {
        let target = self.target.built_in();
        let mut steps = dump::steps_in(self.body, self.machine, &self.context, target, self.pcs);
        let lane = self.machine.lane().and_then(|lane| lane.try_into().ok());
        steps.result = self.in_space(steps.result, lane);
        let found = self.found(steps.result.clone(), self.machine);
        (steps, found)
    }

    /// Returns what an evaluation found as text, with register names, of at most `most` bytes.
    pub fn text(&self, found: &Found, most: usize) -> String {
        found.to_text_in_names(self.snapshot, most, self.target)
    }

    /// Evaluates in each lane of the machine, from lane 0.
    ///
    /// # Errors
    /// [`ErrorKind::BadArgument`] if the machine's number of lanes is not 1 to 64.
    pub fn lanes(&self) -> Result<Vec<Found>> {
        let count = self.machine.lanes();
        if !(1..=64).contains(&count) {
            let problem = format!("the machine's number of lanes is {count}; expected 1 to 64");
            return Err(ErrorKind::BadArgument(problem).into());
        }
        let mask = u64::MAX >> (64 - count);
        let wave = Evaluator::new().wave_body(self.body, mask, self.machine, &self.context);
        let lanes = (0..u64::BITS).map_while(|lane| Some((lane, wave.lane(lane)?)));
        let answers = lanes.map(|(lane, result)| {
            self.found(self.in_space(result, Some(lane)), &InLane::new(self.machine, lane.into()))
        });
        Ok(answers.collect())
    }

    fn found(&self, result: Result<Element, Fault>, machine: &dyn Machine) -> Found {
        let read = match (&result, self.bits) {
            (Ok(Element::Location(location)), Some(bits @ 1..)) => Some(Read::at(location, bits, machine)),
            _ => None,
        };
        Found { result, read, written: None }
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

/// An object's variables on a stopped machine.
#[derive(Debug)]
pub struct StoppedObject<'a, 'o> {
    object: &'a Object<'o>,
    files: &'a [&'a Dwarf<'o>],
    infos: Vec<DebugInfo<'a, 'o>>,
    sections: [Frames<'o>; 2],
    /// A cubin's expressions name PTX registers, which are held in the processor's registers.
    map: RegisterMap<'a>,
}

impl<'a, 'o> StoppedObject<'a, 'o> {
    /// Returns an object's variables. `files` are its own debug information first, and that of its split units.
    ///
    /// # Errors
    /// The errors that [`RegisterMap::read`] returns.
    pub fn new(object: &'a Object<'o>, files: &'a [&'a Dwarf<'o>]) -> Result<Self> {
        let sections =
            [FrameSection::Debug, FrameSection::Eh].map(|section| files[0].frames_of_code(section));
        let infos = files.iter().map(|dwarf| DebugInfo::new(dwarf)).collect();
        Ok(Self { object, files, infos, sections, map: RegisterMap::read(object)? })
    }

    /// Evaluates a variable by its name in the innermost scope at the pc of the machine's frame, by `evaluate`. A frame
    /// that the machine does not have is unwound by the object's call frame information, and so are the callers of its only
    /// frame, for values on entry, if the machine states neither callers nor a canonical frame address. `reader` has the registers and
    /// memory: the machine's [snapshot](VectorMachine::snapshot), or another source of them. `bits` are read at the
    /// location; the default is the size of the variable's type.
    ///
    /// A template's instances in several units have variables that nothing tells apart. They have a common answer if
    /// `is_equal` holds for their answers.
    ///
    /// # Errors
    /// [`ErrorKind::BadArgument`] if the frame cannot be unwound, or the machine is not that of the file; the errors that
    /// [`variable_named`] returns; and the error of the variable's location.
    pub fn evaluate<T>(
        &self,
        name: &str,
        (machine, reader, target): (&VectorMachine, &dyn Machine, &VectorTarget),
        bits: Option<u64>,
        evaluate: &mut dyn FnMut(&Stop<'_>) -> T,
        is_equal: &dyn Fn(&T, &T) -> bool,
    ) -> Result<T> {
        let stack = self.unwound(machine, reader, target)?;
        let reader: &dyn Machine = stack.as_ref().map_or(reader, |stack| stack);
        let pc = reader.pc(machine.frame);
        let mut answers = Vec::new();
        for variable in variables_named(self.files, name, pc)? {
            answers.push(self.evaluate_variable(&variable, (machine, reader, target), bits, evaluate)?);
        }
        let first = answers.swap_remove(0);
        if answers.iter().any(|other| !is_equal(&first, other)) {
            variable_named(self.files, name, pc)?;
        }
        Ok(first)
    }

    /// Returns the call stack by the object's call frame information, if the machine does not have the frame; or, for a
    /// machine that states nothing about frames, its first frame's callers, in which values on entry are looked up.
    fn unwound<'s>(
        &'s self,
        machine: &VectorMachine,
        reader: &'s dyn Machine,
        target: &'s VectorTarget,
    ) -> Result<Option<CallStack<'s, 'o>>> {
        let frame = machine.frame;
        let callers = machine.snapshot.callers.len();
        let states_frames = callers > 0 || reader.cfa(0).is_some();
        if frame as usize <= callers && states_frames {
            return Ok(None);
        }
        // The target by its name has a calling convention.
        let architecture: &dyn Architecture = target.built_in().map_or(target, |built_in| built_in);
        let stack = CallStack::new(reader, &self.sections, architecture);
        let stack = self.infos.iter().fold(stack, CallStack::with_debug_info);
        for number in 1..=frame {
            let problem = match stack.frame(number) {
                Ok(Some(_)) => continue,
                Ok(None) => {
                    let last = number - 1;
                    format!("the machine has no frame {frame}: frame {last} has no caller")
                }
                Err(fault) => {
                    let fault = fault.text(self.object.pc_notation());
                    format!("frame {frame} of the machine cannot be unwound: {fault}")
                }
            };
            return Err(ErrorKind::BadArgument(problem).into());
        }
        Ok(Some(stack))
    }

    /// Evaluates a variable on a machine that knows the frames.
    fn evaluate_variable<T>(
        &self,
        variable: &ScopeVariable<'_, '_>,
        (machine, reader, target): (&VectorMachine, &dyn Machine, &VectorTarget),
        bits: Option<u64>,
        evaluate: &mut dyn FnMut(&Stop<'_>) -> T,
    ) -> Result<T> {
        // If the location has an error, this is why there is no location.
        if let (CurrentLocation::Unreadable, Some(error)) = (&variable.location, &variable.problem) {
            return Err(error.clone());
        }
        let ScopeVariable { entry, located, .. } = *variable;
        let info = DebugInfo::new(located.dwarf());
        info.check_machine(reader, target, machine.frame)
            .map_err(|fault| ErrorKind::BadArgument(fault.to_string()))?;
        let unit = located.unit();
        let context = machine
            .context(unit.encoding, target)
            .with_unit(unit.offset)
            .with_initial(&[])
            .with_object(CurrentObject::Unspecified);
        let pc = reader.pc(machine.frame);
        let mapped = pc.filter(|_| machine.frame == 0).and_then(|pc| self.map.at(self.object, pc));
        let has_map =
            |target: &&crate::target::Target| target.has_lane_expressions() && !self.object.is_ptx();
        let through = target.built_in().filter(has_map).map(|built_in| {
            let offset = mapped.map_or(0, |(_, offset)| offset);
            PtxRegisters::new(reader, built_in, mapped.map(|(function, _)| function), offset)
        });
        let inner: &dyn Machine = through.as_ref().map_or(reader, |through| through);
        let whole = WithDebugInfo::new(&info, inner, context);
        let class = entry.number(gimli::DW_AT_address_class).filter(|_| self.object.is_cubin());
        let space = class.zip(target.built_in()).and_then(|(class, target)| target.space_of_class(class));
        let bits = bits.or_else(|| entry.ty()?.size_bits());
        let body = match (&variable.location, &variable.problem) {
            // The rest of the list cannot be read.
            (CurrentLocation::Entries(entries), Some(_)) if entries.len() == 1 => {
                Body::Expression(entries[0].expr)
            }
            _ => info.body(located),
        };
        let snapshot = &machine.snapshot;
        let pcs = self.object.pc_notation();
        Ok(evaluate(&Stop { body, bits, space, machine: &whole, snapshot, context, target, pcs }))
    }
}
