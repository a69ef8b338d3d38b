//! The proof by running: what the DWARF claims, against what the simulator's storage has.
//!
//! Before each instruction, for each lane at its own pc, each claimed place of each variable must have the tag of the
//! value that was assigned last in that lane. At each statement, the bits are compared with the interpreter's.

use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};
use std::ops::Range;
use std::rc::Rc;

use eitri::eval::{
    CallStack, Context, DebugInfo, Evaluator, Fault, Frame, Machine, Storage, WithDebugInfo, read_bits, spans,
};
use eitri::gimli;
use eitri::op::{Encoding, Reg};
use eitri::read::{Dwarf, FrameSection, Frames, ListEntry, Object, ReadOptions};
use eitri::target::{ByteOrder, SpaceId, Target};
use naga::{GlobalVariable, Handle};

use crate::Compiled;
use crate::alloc::{LANES, PRESERVED, SCRATCH};
use crate::emit::{Effect, Fact, Place as Emitted, SAVED};
use crate::front::Source;
use crate::input::{self, Input};
use crate::interp;
use crate::isa::Op;
use crate::lower::{FIRST_MASK, FRAME, Home, RETURN, STACK};
use crate::sim::{Cell, Group, Program, Wave};
use crate::ssa::{Given, Slot};
use crate::stopped::{Register, Stopped};

/// Storage of a claim, for all lanes at once.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Place {
    Scalar(u32),
    Row(u32),
    Lane(u32, u32),
    Scratch(u32),
    Constant(u32),
}

/// Claims of the object about each component: pcs, and the place.
#[derive(Debug, Default)]
struct Claims {
    places: HashMap<Slot, Vec<(u64, u64, Place)>>,
    /// The pcs of the scope of each component's variable.
    scopes: HashMap<Slot, Vec<Range<u64>>>,
    local: Vec<Local>,
}

/// A claim about a variable at home in local memory, which all lanes have in one location: pcs, the dword of the home,
/// the dword that is claimed, and their number.
#[derive(Debug)]
struct Local {
    name: String,
    handle: Handle<GlobalVariable>,
    pcs: Range<u64>,
    home: usize,
    claimed: usize,
    dwords: usize,
    /// Whether memory has changed since it was compared, and the first wrong dword.
    is_changed: bool,
    wrong: Option<usize>,
}

/// The location list of a variable: its components with their offsets.
struct List<'a> {
    name: &'a str,
    /// Size of the variable's type: each location has all of it.
    bits: u64,
    slots: &'a [(u32, Slot)],
    entries: Vec<ListEntry<'a>>,
}

/// Results. Claims are counted by component of a variable, pc and place.
#[derive(Debug, Default, Clone)]
pub struct Proof {
    pub claimed: u64,
    pub right: u64,
    pub recoverable: u64,
    /// Components and pcs at which each lane that stood there had a value.
    pub in_scope: u64,
    /// Claims as single lanes saw them, and numbers compared with the interpreter's.
    pub seen: u64,
    pub compared: u64,
    pub steps: u64,
    /// Claims in frames of callers as single lanes saw them, while a callee ran.
    pub unwound: u64,
    /// Dwords of local memory as waves saw them, where a variable at home there is claimed.
    pub local: u64,
    /// Dwords of registers of callers that have a location while a callee runs; each is what the caller had.
    pub registers: u64,
    /// Wrong claims.
    pub wrong: Vec<String>,
    /// Recoverable places without a claim.
    pub missed: Vec<String>,
}

impl Proof {
    pub fn json(&self) -> String {
        let Self { claimed, right, recoverable, in_scope, .. } = self;
        format!(
            r#"{{"claimed":{claimed},"right":{right},"recoverable":{recoverable},"in_scope":{in_scope}}}"#
        )
    }

    /// Adds the counts of another program.
    pub fn add(&mut self, other: Self) {
        self.claimed += other.claimed;
        self.right += other.right;
        self.recoverable += other.recoverable;
        self.in_scope += other.in_scope;
        self.seen += other.seen;
        self.compared += other.compared;
        self.steps += other.steps;
        self.unwound += other.unwound;
        self.local += other.local;
        self.registers += other.registers;
        self.wrong.extend(other.wrong);
        self.missed.extend(other.missed);
    }
}

/// Runs a shader on inputs, and compares.
pub fn prove(source: &Source, compiled: &Compiled<'_>, inputs: &[Input]) -> Proof {
    let run = |info: &DebugInfo<'_, '_>| {
        let mut prover = Prover::new(source, compiled, info)?;
        for input in inputs {
            if let Err(error) = prover.run(input) {
                prover.proof.wrong.push(error);
            }
        }
        Ok(prover.finish())
    };
    let failed = |error| Proof { wrong: vec![error], ..Proof::default() };
    with_debug_info(compiled, run).unwrap_or_else(failed)
}

/// Calls `run` with the debug information of the object.
pub(crate) fn with_debug_info<T>(
    compiled: &Compiled<'_>,
    run: impl FnOnce(&DebugInfo<'_, '_>) -> Result<T, String>,
) -> Result<T, String> {
    let text = |error: eitri::Error| error.to_string();
    let object = Object::read(&compiled.object).map_err(text)?;
    let dialect = compiled.debug.consumer.expressions.dialect;
    let dwarf = Dwarf::read_with(&object, &ReadOptions::new().dialect(dialect)).map_err(text)?;
    run(&DebugInfo::new(&dwarf))
}

/// The claims of the object's DWARF for each component.
fn claims<'a>(
    source: &Source,
    compiled: &'a Compiled<'_>,
    gpu: &Target,
    info: &DebugInfo<'a, 'a>,
    base: u64,
) -> Result<(Claims, Vec<List<'a>>), String> {
    let text = |error: eitri::Error| error.to_string();
    let dwarf = info.dwarf();
    let encoding = Encoding::new(8, compiled.debug.consumer.expressions.dialect);
    let context = Context::new(encoding, gpu);
    let mut found = Claims::default();
    let mut lists = Vec::new();
    let mut wave = Wave::new(&[], [0; 3], &mut Group::default());
    wave.scalars[FRAME as usize] = Cell::constant(0);
    // Variables of one name and place in the source are in the order in which the compiler made them.
    let mut entries: HashMap<(String, u64, u64), Vec<eitri::read::Entry<'_, '_>>> = HashMap::new();
    for entry in dwarf.entries() {
        if matches!(entry.tag(), gimli::DW_TAG_variable | gimli::DW_TAG_formal_parameter) {
            let number = |name| entry.number(name).unwrap_or(0);
            let name = entry.name().map_or(String::new(), |name| name.into_owned());
            let key = (name, number(gimli::DW_AT_decl_line), number(gimli::DW_AT_decl_column));
            entries.entry(key).or_default().push(entry);
        }
    }
    entries.values_mut().for_each(|all| all.reverse());
    for &(function, named) in &compiled.debug.described {
        let named = &compiled.lowered[function].named[named];
        let (line, column) = source.line(named.offset);
        let key = (named.name.clone(), line.into(), column.into());
        let Some(entry) = entries.get_mut(&key).and_then(Vec::pop) else {
            return Err(format!("{}: the object does not have the variable", named.name));
        };
        let slots = named.home.slots();
        let scope = entry.parent().map_or(Ok(Vec::new()), |parent| parent.ranges()).map_err(text)?;
        let scope: Vec<Range<u64>> = scope.iter().map(|pcs| pcs.start - base..pcs.end - base).collect();
        found.scopes.extend(slots.iter().map(|&(_, slot)| (slot, scope.clone())));
        let Some(entries) = entry.locations(gimli::DW_AT_location).map_err(text)? else { continue };
        let bits = entry.ty().and_then(|ty| ty.size_bits()).unwrap_or(0);
        let list = List { name: &named.name, bits, slots, entries };
        for one in &list.entries {
            let (from, to) =
                if one.is_default() { (0, u64::MAX) } else { (one.start - base, one.end - base) };
            // A frame at address 0.
            let machines = LOOKED_AT.map(|lane| Stopped::new(&wave, base, 0, Some(lane)));
            let machines = machines.each_ref().map(|machine| WithDebugInfo::new(info, machine, context));
            let machines = machines.each_ref().map(|machine| machine as &dyn Machine);
            if let (&Home::Local(home), interp::Which::Global(handle)) = (&named.home, named.of.1) {
                let fault = |fault: Fault| format!("{}: {fault}", named.name);
                let place = Evaluator::new().location(one.expr, machines[0], &context).map_err(fault)?;
                let claimed = match place.single().map(|place| (&place.storage, place.offset)) {
                    Some((Storage::Memory { space, .. }, bit)) if *space == SpaceId::LOCAL => {
                        bit as usize / 32
                    }
                    _ => return Err(format!("{}: {place:?} is not local memory", named.name)),
                };
                let home = home as usize / 4;
                let dwords = bits.div_ceil(32) as usize;
                let name = named.name.clone();
                let is_changed = true;
                let wrong = None;
                let pcs = from..to;
                found.local.push(Local { name, handle, pcs, home, claimed, dwords, is_changed, wrong });
                continue;
            }
            for (slot, place) in list.places(one.expr, machines, context)? {
                found.places.entry(slot).or_default().push((from, to, place));
            }
        }
        lists.push(list);
    }
    Ok((found, lists))
}

/// Lanes for which locations are evaluated: a place that moves by as many dwords is one of the lanes.
const LOOKED_AT: [u32; 2] = [0, 13];

impl List<'_> {
    /// The places of each component by an expression, which machines evaluate for two lanes.
    fn places(
        &self,
        expr: &[u8],
        machines: [&dyn Machine; 2],
        context: Context<'_>,
    ) -> Result<Vec<(Slot, Place)>, String> {
        let mut of_lanes: Vec<Vec<(u32, Vec<eitri::eval::SingleLocation>)>> = Vec::new();
        for machine in machines {
            let fault = |fault: eitri::eval::Fault| format!("{}: {fault}", self.name);
            let place = Evaluator::new().location(expr, machine, &context).map_err(fault)?;
            // A variable in several places has an entry for each, or one with several.
            let mut at = 0;
            let mut parts = Vec::new();
            for span in spans(&place, self.bits.into(), ByteOrder::Little).map_err(fault)? {
                for n in 0..(span.bits / 32) as u32 {
                    let moved = |place: &eitri::eval::SingleLocation| match place.storage {
                        Storage::Undefined => Ok(place.clone()),
                        _ => place.clone().moved(32 * i128::from(n)),
                    };
                    let places: Result<Vec<_>, _> = span.places.iter().map(moved).collect();
                    parts.push((at + 4 * n, places.map_err(fault)?));
                }
                at += (span.bits / 8) as u32;
            }
            of_lanes.push(parts);
        }
        let mut found = Vec::new();
        for &(at, slot) in self.slots {
            let of = |lane: usize| of_lanes[lane].iter().find(|part| part.0 == at).map(|part| &part.1);
            let (Some(first), Some(other)) = (of(0), of(1)) else { continue };
            for (first, other) in first.iter().zip(other) {
                found.extend(place(first, other)?.map(|place| (slot, place)));
            }
        }
        Ok(found)
    }
}

/// The place that is at one location for lane 0, and at another for lane 13.
fn place(
    first: &eitri::eval::SingleLocation,
    other: &eitri::eval::SingleLocation,
) -> Result<Option<Place>, String> {
    let dword = |place: &eitri::eval::SingleLocation| (place.offset / 32) as u32;
    Ok(Some(match &first.storage {
        Storage::Undefined => return Ok(None),
        Storage::Register { reg, .. } => match Register::new(*reg) {
            Some(Register::Scalar(n)) => Place::Scalar(n),
            Some(Register::Row(n)) if dword(other) == LOOKED_AT[1] && dword(first) == 0 => Place::Row(n),
            Some(Register::Row(n)) => Place::Lane(n, dword(first)),
            _ => return Err(format!("register {} is no place of a variable", reg.0)),
        },
        Storage::Memory { space, lane: Some(0), .. } if *space == SpaceId::PRIVATE_LANE => {
            Place::Scratch(dword(first))
        }
        // A row that a callee has saved: dword by dword the lanes of the wave.
        Storage::Memory { space, .. }
            if *space == SpaceId::PRIVATE_WAVE
                && dword(first) % 32 == 0
                && dword(other) - dword(first) == LOOKED_AT[1] =>
        {
            Place::Scratch(dword(first) / 32)
        }
        Storage::Implicit(bits) => {
            let at = (first.offset / 8) as usize;
            let bytes = bits.bytes().get(at..at + 4).and_then(|bytes| bytes.try_into().ok());
            Place::Constant(u32::from_le_bytes(bytes.ok_or("a constant has 32 bits")?))
        }
        storage => return Err(format!("{storage:?} is no place of a variable")),
    }))
}

/// An object, its claims, and what runs have shown of them.
pub(crate) struct Prover<'a> {
    source: &'a Source,
    compiled: &'a Compiled<'a>,
    info: &'a DebugInfo<'a, 'a>,
    /// The address of the kernel.
    base: u64,
    gpu: Target,
    program: Rc<Program>,
    /// Claims by pc in words, sorted by slot.
    claims: Vec<Vec<(Slot, Place)>>,
    /// Components of the variables in scope, by pc in words, sorted.
    scopes: Vec<Vec<Slot>>,
    /// Facts by pc in words: statements and assignments; definitions by the end of their instruction.
    marks: Vec<Vec<&'a Fact>>,
    defines: Vec<Vec<(u64, &'a Effect)>>,
    whole: Vec<bool>,
    names: HashMap<Slot, (interp::Name, usize)>,
    /// Components of variables at home in scratch memory by function and dword of its frame, and the dword of each.
    homes: HashMap<(usize, u32), Slot>,
    home_of: HashMap<Slot, u32>,
    /// Claims about local memory, and the tag of the last store to each dword.
    local: Vec<Local>,
    stored: Vec<u64>,
    /// Whether each claim was right each time; `None` if no lane stood there.
    held: Vec<Vec<Option<bool>>>,
    /// Results of the runs for each component in scope.
    shown: Vec<Vec<Shown>>,
    /// The pcs of lanes, by the wave's pc and the dwords of registers that were read.
    pcs: HashMap<u64, HashMap<BTreeSet<(Reg, u32)>, LanePcs>>,
    /// Components of each function's variables.
    slots: Vec<Range<usize>>,
    lists: Vec<List<'a>>,
    frames: [Frames<'a>; 1],
    callers: HashMap<(u64, Vec<u32>), Rc<Vec<Caller>>>,
    /// Pcs with the return addresses of their callers at which registers of callers were compared.
    chains: HashSet<(u64, Vec<u64>)>,
    proof: Proof,
}

/// The pcs of all lanes, by the values of dwords that were read.
type LanePcs = HashMap<Vec<Option<u32>>, [Option<u64>; 32]>;

/// A call that has not returned.
#[derive(Debug)]
struct Call {
    returns: u64,
    exec: u32,
    /// Bytes of a lane at which the callee's frame begins.
    base: u32,
    /// Statements that each lane had run.
    events: [usize; 32],
    /// Registers of the wave when the callee begins.
    scalars: [Cell; 128],
    vectors: Vec<[Cell; 32]>,
}

/// Compares a register of a caller with what it had when the callee began: each dword is that one, or undefined. Returns
/// the number of defined dwords.
fn compare_register(
    frame: &Frame<'_, '_, '_>,
    reg: Reg,
    call: &Call,
    machine: &Stopped<'_>,
) -> Result<u64, String> {
    let location = frame.register(reg).map_err(|fault| fault.to_string())?;
    if location.single().is_some_and(|place| place.storage == Storage::Undefined) {
        return Ok(0);
    }
    let then: &[Cell] = match Register::new(reg) {
        Some(Register::Scalar(n)) => &call.scalars[n as usize..][..1],
        Some(Register::Row(n)) => &call.vectors[n as usize],
        _ => return Ok(0),
    };
    let read = read_bits(&location, 32 * then.len() as u64, machine)
        .map_err(|fault| format!("register {}: {fault}", reg.0))?;
    let bits = read.bytes.as_chunks::<4>().0;
    let defined = read.defined.as_chunks::<4>().0;
    let mut count = 0;
    for (n, then) in then.iter().enumerate().filter(|(n, _)| defined[*n] != [0; 4]) {
        let found = u32::from_le_bytes(bits[n]);
        if (defined[n], found) != ([0xff; 4], then.bits) {
            return Err(format!("register {}, dword {n} is {found:#x}, expected {:#x}", reg.0, then.bits));
        }
        count += 1;
    }
    Ok(count)
}

/// The frame of a caller, by the object's DWARF: where each lane is, and places of the variables there.
struct Caller {
    lanes: [Option<u64>; 32],
    claims: BTreeMap<u64, Vec<(Slot, Place)>>,
}

/// Observations of one component by the lanes that stood at a pc.
#[derive(Debug, Default, Clone)]
struct Shown {
    /// Whether a lane had no value, and whether one had a value that is no constant.
    is_valueless: bool,
    is_varied: bool,
    /// Places that had the value each time.
    places: Option<Vec<Place>>,
}

/// State of a wave in the proof.
struct Watch {
    first: usize,
    /// The tags of each component's value.
    current: Vec<[u64; 32]>,
    /// Index by function and virtual register.
    last: HashMap<(usize, usize), [u64; 32]>,
    calls: Vec<Call>,
    events: [usize; 32],
    stands: [Option<u64>; 32],
    ran: [u64; 32],
    /// Wait of a lane, with the assignments made there.
    assigned: [Option<u64>; 32],
    active: u32,
    /// The instruction that runs.
    pc: Option<u64>,
    /// Dwords of local memory on which it is an atomic operation.
    atomic: Vec<usize>,
}

impl Watch {
    fn assign(&mut self, of: usize, slot: Slot, given: Given, lanes: impl Iterator<Item = usize>) {
        let from = match given {
            Given::Defined(vreg) => self.last.get(&(of, vreg.vreg())).copied().unwrap_or_default(),
            Given::Const(bits) => [Cell::constant(bits).tag; 32],
            Given::Of(other) => self.current[other as usize],
            Given::Nothing => [0; 32],
        };
        let into = &mut self.current[slot as usize];
        lanes.for_each(|lane| into[lane] = from[lane]);
    }
}

impl<'a> Prover<'a> {
    pub(crate) fn program(&self) -> Rc<Program> {
        self.program.clone()
    }

    /// The address of the kernel.
    pub(crate) fn base(&self) -> u64 {
        self.base
    }

    /// Claims at a pc in words, by component.
    pub(crate) fn claimed(&self, word: usize) -> &[(Slot, Place)] {
        &self.claims[word]
    }

    /// The name of a component of a variable.
    pub(crate) fn title(&self, slot: Slot) -> String {
        let all = self.compiled.lowered.iter().flat_map(|lowered| &lowered.named);
        let named = all.into_iter().find_map(|named| {
            let slots = named.home.slots();
            slots.iter().position(|of| of.1 == slot).map(|at| (named, at, slots.len()))
        });
        match named {
            Some((named, _, 1)) => named.name.clone(),
            Some((named, at, _)) => format!("{}.{at}", named.name),
            None => String::new(),
        }
    }

    /// The pcs at which the compiler placed a source line, with the line.
    pub(crate) fn statements(&self) -> Vec<(u64, u32)> {
        let machines = self.compiled.machines.iter();
        let all = machines.flat_map(|machine| machine.sources().map(|(pc, at)| (machine.start + pc, at)));
        all.map(|(pc, at)| (pc, self.source.line(at.offset).0)).collect()
    }

    pub(crate) fn new(
        source: &'a Source,
        compiled: &'a Compiled<'a>,
        info: &'a DebugInfo<'a, 'a>,
    ) -> Result<Self, String> {
        let gpu = crate::debug::target().map_err(|error| error.to_string())?;
        let object = Object::read(&compiled.object).map_err(|error| error.to_string())?;
        let text = &object.section(".text").ok_or("no code")?.data;
        let base = start(source, &object)?;
        let words = text.len() / 4;
        let (claims, lists) = {
            let gpu = crate::debug::target().map_err(|error| error.to_string())?;
            claims(source, compiled, &gpu, info, base)?
        };
        let mut end = 0;
        let slots = compiled
            .lowered
            .iter()
            .map(|of| std::mem::replace(&mut end, of.code.slots.len())..of.code.slots.len());
        let mut this = Self {
            info,
            base,
            source,
            compiled,
            program: Rc::new(Program::new(text, base)?),
            slots: slots.collect(),
            lists,
            frames: [info.dwarf().frames(FrameSection::Debug).map_err(|error| error.to_string())?],
            callers: HashMap::new(),
            chains: HashSet::new(),
            claims: vec![Vec::new(); words],
            scopes: vec![Vec::new(); words],
            marks: vec![Vec::new(); words + 1],
            defines: vec![Vec::new(); words + 1],
            whole: vec![false; words + 1],
            names: HashMap::new(),
            homes: HashMap::new(),
            home_of: HashMap::new(),
            local: claims.local,
            stored: Vec::new(),
            held: Vec::new(),
            shown: Vec::new(),
            pcs: HashMap::new(),
            proof: Proof::default(),
            gpu,
        };
        for (slot, pcs) in claims.scopes {
            let words = pcs.into_iter().flat_map(|pcs| pcs.start / 4..(pcs.end / 4).min(words as u64));
            words.for_each(|word| this.scopes[word as usize].push(slot));
        }
        this.scopes.iter_mut().for_each(|slots| slots.sort_unstable());
        for (slot, all) in claims.places {
            for (from, to, place) in all {
                for word in from / 4..(to / 4).min(words as u64) {
                    this.claims[word as usize].push((slot, place));
                }
            }
        }
        for claims in &mut this.claims {
            claims.sort_unstable();
            claims.dedup();
        }
        this.held = this.claims.iter().map(|claims| vec![None; claims.len()]).collect();
        this.shown = this.scopes.iter().map(|slots| vec![Shown::default(); slots.len()]).collect();
        let machines = compiled.machines.iter();
        for (start, (pcs, fact)) in machines.flat_map(|of| of.facts.iter().map(|fact| (of.start, fact))) {
            let pcs = start + pcs.start..start + pcs.end;
            match fact {
                Fact::Assign(..) | Fact::Statement(_) => this.marks[pcs.start as usize / 4].push(fact),
                Fact::Step(effects, _) => {
                    let defines = effects.iter().filter(|effect| matches!(effect, Effect::Define(..)));
                    this.defines[pcs.end as usize / 4].extend(defines.map(|effect| (pcs.start, effect)));
                }
                Fact::WholeWave => {
                    (pcs.start..pcs.end).step_by(4).for_each(|pc| this.whole[pc as usize / 4] = true)
                }
                _ => {}
            }
        }
        for &(function, named) in &compiled.debug.described {
            let named = &compiled.lowered[function].named[named];
            let slots = named.home.slots();
            // The interpreter has the dwords of a variable, and the components of another value.
            let is_local = matches!(named.of.1, interp::Which::Local(_));
            let part = |n: usize, at: u32| if is_local { at as usize / 4 } else { n };
            this.names
                .extend(slots.iter().enumerate().map(|(n, &(at, slot))| (slot, (named.of, part(n, at)))));
            if let Home::Scratch(home, _) = named.home {
                this.homes.extend(slots.iter().map(|&(at, slot)| ((function, (home + at) / 4), slot)));
                this.home_of.extend(slots.iter().map(|&(at, slot)| (slot, (home + at) / 4)));
            }
        }
        Ok(this)
    }

    fn run(&mut self, input: &Input) -> Result<(), String> {
        let mut shared = input.memory(self.source, self.compiled);
        let mut buffers: HashMap<_, _> =
            self.compiled.lowered[0].buffers.iter().copied().zip(input.buffers.iter().cloned()).collect();
        for x in 0..input.groups[0] {
            let group = [x, 0, 0];
            let mut expected = interp::Group::new(self.source, buffers, group, input.groups);
            if !expected.run() {
                // A program that does not end proves nothing.
                return Ok(());
            }
            buffers = std::mem::take(&mut expected.buffers);
            self.group(&mut shared, group, &expected.events, &expected.barriers)?;
            for (n, handle) in self.compiled.lowered[0].buffers.iter().enumerate() {
                if buffers[handle] != shared.buffers[n] {
                    let at =
                        (0..shared.buffers[n].len()).find(|&at| buffers[handle][at] != shared.buffers[n][at]);
                    let at = at.unwrap_or(0);
                    return Err(format!(
                        "buffer {n}, dword {at}: {:#x}, expected {:#x}",
                        shared.buffers[n][at], buffers[handle][at]
                    ));
                }
            }
        }
        Ok(())
    }

    fn group(
        &mut self,
        shared: &mut Group,
        group: [u32; 3],
        events: &[Vec<interp::Event>],
        barriers: &[HashMap<Handle<GlobalVariable>, Vec<u32>>],
    ) -> Result<(), String> {
        let mut waves = input::waves(self.source, group, shared);
        self.stored = vec![0; shared.local.len()];
        self.local.iter_mut().for_each(|local| local.is_changed = true);
        // The code has a barrier at its start where there are variables in local memory.
        let mut barriers = barriers.iter().skip(usize::from(shared.local.is_empty()));
        let watch = |(n, wave): (usize, &Wave)| Watch {
            first: 32 * n,
            current: vec![[0; 32]; self.slots.last().map_or(0, |slots| slots.end)],
            last: HashMap::new(),
            calls: Vec::new(),
            events: [0; 32],
            stands: [None; 32],
            ran: [0; 32],
            assigned: [None; 32],
            active: wave.exec,
            pc: None,
            atomic: Vec::new(),
        };
        let mut watches: Vec<Watch> = waves.iter().enumerate().map(watch).collect();
        self.program().run(&mut waves, shared, |n, wave, shared| {
            let watch = &mut watches[n];
            if let Some(pc) = watch.pc.replace(wave.pc) {
                self.ran(wave, watch, shared, pc);
                let op = self.program.instructions[pc as usize / 4].as_ref().map(|one| one.op);
                if let (0, Some(Op::Barrier)) = (n, op) {
                    // All waves have come to the barrier, and the first one goes on.
                    let expected = barriers.next().ok_or("more barriers than the interpreter has")?;
                    self.at_barrier(shared, pc, expected);
                }
            }
            self.before(wave, watch, events)?;
            self.local_claims(wave, watch, shared);
            let next = self.program.instructions[wave.pc as usize / 4].as_ref();
            if let Some(next) = next.filter(|next| next.op.is_local_atomic()) {
                // The result may overwrite the address.
                let lanes = (0..32).filter(|lane| wave.exec >> lane & 1 == 1);
                let dwords = lanes.map(|lane| wave.local_dword(next, lane));
                watch.atomic.extend(dwords.filter(|dword| *dword < shared.local.len()));
            }
            Ok(true)
        })?;
        if barriers.next().is_some() {
            return Err("fewer barriers than the interpreter has".into());
        }
        for watch in &watches {
            for lane in 0..32.min(events.len() - watch.first) {
                if watch.events[lane] != events[watch.first + lane].len() {
                    return Err(format!("lane {lane} has run fewer statements than the interpreter"));
                }
            }
        }
        Ok(())
    }

    /// The base of a function's frame in scratch memory, in dwords.
    fn frame_base(&self, wave: &Wave, of: usize) -> u32 {
        if self.compiled.machines[of].frame.is_some() { wave.scalars[FRAME as usize].bits / 4 } else { 0 }
    }

    /// Notes that an instruction has run.
    fn ran(&mut self, wave: &Wave, watch: &mut Watch, shared: &Group, pc: u64) {
        let one = self.program.instructions[pc as usize / 4].as_ref();
        let (size, op) = one.map_or((1, Op::Nop), |one| (one.words as u64, one.op));
        (0..32).filter(|lane| watch.active >> lane & 1 == 1).for_each(|lane| watch.ran[lane] = pc);
        if let (Op::DsStore, Some(one)) = (op, one) {
            for lane in (0..32).filter(|lane| wave.exec >> lane & 1 == 1) {
                if let Some(stored) = self.stored.get_mut(wave.local_dword(one, lane)) {
                    *stored = wave.read(one.src[1], lane).tag;
                }
            }
        }
        if op == Op::DsStore || !watch.atomic.is_empty() {
            self.local.iter_mut().for_each(|local| local.is_changed = true);
        }
        for dword in watch.atomic.drain(..) {
            // An atomic operation makes a value that no register has.
            self.stored[dword] = shared.local[dword].tag;
        }
        if let (Op::ScratchStore, Some(one)) = (op, one) {
            // A store to a variable at home in memory gives it the stored value.
            let of = self.function(pc);
            let base = self.frame_base(wave, self.function(pc));
            for lane in (0..32).filter(|lane| wave.exec >> lane & 1 == 1) {
                let dword = wave.scratch_dword(one, lane).wrapping_sub(base);
                if let Some(&slot) = self.homes.get(&(of, dword)) {
                    watch.current[slot as usize][lane] = wave.read(one.src[2], lane).tag;
                }
            }
        }
        match op {
            Op::SSwapPc => {
                let base = wave.scalars[STACK as usize].bits;
                let events = watch.events;
                let scalars = wave.scalars;
                let vectors = wave.vectors.clone();
                watch.calls.push(Call { returns: pc + 4, exec: wave.exec, base, events, scalars, vectors });
            }
            // The results of a call are there when the callee has returned.
            Op::SSetPc if watch.calls.last().is_some_and(|call| call.returns == wave.pc) => {
                watch.calls.pop();
                self.after(wave, watch, wave.pc - 4, wave.pc / 4);
            }
            _ => self.after(wave, watch, pc, pc / 4 + size),
        }
    }

    /// Values that an instruction has made.
    fn after(&mut self, wave: &Wave, watch: &mut Watch, pc: u64, end: u64) {
        let of = self.function(pc);
        let base = self.frame_base(wave, of);
        for &(start, effect) in &self.defines[end as usize] {
            let Effect::Define(vreg, at) = *effect else { continue };
            if start > pc {
                continue;
            }
            let last = watch.last.entry((of, vreg.vreg())).or_default();
            for lane in (0..32).filter(|lane| wave.exec >> lane & 1 == 1) {
                last[lane] = match at {
                    Emitted::Scalar(n) => wave.scalars[n as usize].tag,
                    Emitted::Vector(n) => wave.vectors[n as usize][lane].tag,
                    Emitted::Scratch(at) => wave.scratch[(base + at / 4) as usize][lane].tag,
                    Emitted::Lane(..) => 0,
                };
            }
        }
    }

    fn before(
        &mut self,
        wave: &Wave,
        watch: &mut Watch,
        events: &[Vec<interp::Event>],
    ) -> Result<(), String> {
        self.proof.steps += 1;
        let pc = wave.pc;
        let word = wave.pc as usize / 4;
        let of = self.function(pc);
        let active = if self.whole[word] { wave.scalars[SAVED as usize].bits } else { wave.exec };
        let lanes: Vec<usize> = (0..32).filter(|lane| active >> lane & 1 == 1).collect();
        if pc == self.compiled.machines[of].start {
            // Variables of a call before have no value, and values on entry are there.
            for slot in self.slots[of].clone() {
                lanes.iter().for_each(|&lane| watch.current[slot][lane] = 0);
            }
            for &(start, effect) in &self.defines[word] {
                let Effect::Define(vreg, at) = *effect else { continue };
                if start != pc {
                    continue;
                }
                let tags = std::array::from_fn(|lane| match at {
                    Emitted::Scalar(n) => wave.scalars[n as usize].tag,
                    Emitted::Vector(n) => wave.vectors[n as usize][lane].tag,
                    _ => 0,
                });
                watch.last.insert((of, vreg.vreg()), tags);
            }
        }
        let mut noted: Option<u64> = None;
        let mut fresh: HashSet<Slot> = HashSet::new();
        for mark in &self.marks[word] {
            match **mark {
                Fact::Statement(key) => {
                    noted = Some(key);
                    fresh.clear();
                    for &lane in &lanes {
                        let expected = events[watch.first + lane].get(watch.events[lane]);
                        if expected.map(|event| event.key) != Some(key) {
                            let line = expected.map(|event| self.source.line(event.at));
                            return Err(format!(
                                "pc {pc:#x}: lane {lane} runs another statement than the interpreter's: {line:?}"
                            ));
                        }
                        watch.events[lane] += 1;
                    }
                }
                Fact::Assign(slot, given) => {
                    fresh.insert(slot);
                    // Lanes that waited here have it already.
                    let assigned = watch.assigned;
                    let lanes = lanes.iter().copied().filter(|&lane| assigned[lane] != Some(pc));
                    watch.assign(of, slot, given, lanes);
                }
                _ => {}
            }
        }
        lanes.iter().for_each(|&lane| watch.assigned[lane] = None);
        let stands = self.lane_pcs(wave)?;
        for (lane, at) in stands.iter().enumerate() {
            // A lane that moves to another wait has the assignments made there.
            let Some(at) = *at else { continue };
            let was_active = watch.active >> lane & 1 == 1;
            if was_active && active >> lane & 1 == 0 && at != watch.ran[lane] {
                for mark in &self.marks[at as usize / 4] {
                    if let Fact::Assign(slot, given) = **mark {
                        watch.assign(of, slot, given, [lane].into_iter());
                    }
                }
                watch.assigned[lane] = Some(at);
            }
        }
        for (lane, at) in stands.iter().enumerate() {
            let runs = active >> lane & 1 == 1;
            if runs && *at != Some(pc) {
                return Err(format!("pc {pc:#x}: active lane {lane} is described at {at:x?}"));
            }
            // A lane resumes at its described pc, or waited at the instruction that it ran last.
            let waited = watch.stands[lane];
            if runs && watch.active >> lane & 1 == 0 && waited != Some(pc) && waited != Some(watch.ran[lane])
            {
                return Err(format!(
                    "pc {pc:#x}: lane {lane} goes on here, and is described as waiting at {waited:x?}"
                ));
            }
            let Some(at) = *at else { continue };
            let event = noted.filter(|_| runs).map(|_| &events[watch.first + lane][watch.events[lane] - 1]);
            self.claimed_at(wave, watch, lane, at, event, &fresh);
        }
        (watch.stands, watch.active) = (stands, active);
        if watch.calls.is_empty() { Ok(()) } else { self.outward(wave, watch, events, noted.is_some()) }
    }

    /// Compares the bits of the variables at home in local memory, after a barrier.
    fn at_barrier(&mut self, shared: &Group, pc: u64, values: &HashMap<Handle<GlobalVariable>, Vec<u32>>) {
        for local in &self.local {
            for (n, &expected) in values.get(&local.handle).into_iter().flatten().enumerate() {
                self.proof.compared += 1;
                let is = shared.local.get(local.claimed + n).map(|cell| cell.bits);
                if is != Some(expected) {
                    let name = &local.name;
                    self.proof.wrong.push(format!(
                        "barrier at {pc:#x}: dword {n} of {name} is {is:x?}, expected {expected:#x}"
                    ));
                }
            }
        }
    }

    /// Compares the variables at home in local memory, where a lane stands: in the innermost frame, or in a caller.
    fn local_claims(&mut self, wave: &Wave, watch: &Watch, shared: &Group) {
        for local in &mut self.local {
            // Until something is stored, each claim is as right as before.
            let is_right = |n: &usize| {
                let tag = self.stored.get(local.home + n).copied().unwrap_or(0);
                tag != 0 && shared.local.get(local.claimed + n).is_some_and(|cell| cell.tag == tag)
            };
            if std::mem::take(&mut local.is_changed) {
                local.wrong = (0..local.dwords).find(|n| !is_right(n));
            }
            let returns = watch.calls.iter().map(|call| call.returns - 4);
            if !watch.stands.iter().flatten().copied().chain(returns).any(|pc| local.pcs.contains(&pc)) {
                continue;
            }
            self.proof.local += local.dwords as u64;
            if let Some(n) = local.wrong {
                let pc = wave.pc;
                let name = &local.name;
                let dword = local.claimed + n;
                self.proof
                    .wrong
                    .push(format!("pc {pc:#x}: dword {n} of {name} is not in local memory at dword {dword}"));
            }
        }
    }

    /// Compares the variables in the frames of callers: in lanes that have called, and in those that wait there.
    fn outward(
        &mut self,
        wave: &Wave,
        watch: &Watch,
        events: &[Vec<interp::Event>],
        is_statement: bool,
    ) -> Result<(), String> {
        let callers = self.callers(wave, watch)?;
        for (caller, call) in callers.iter().zip(watch.calls.iter().rev()) {
            for (lane, at) in caller.lanes.iter().enumerate() {
                let Some(at) = *at else { continue };
                let has_called = is_statement && call.exec >> lane & 1 == 1;
                let event = has_called.then(|| &events[watch.first + lane][call.events[lane] - 1]);
                for &(slot, place) in caller.claims.get(&at).into_iter().flatten() {
                    let found = cell(wave, lane, place, 0);
                    let tag = watch.current[slot as usize][lane];
                    self.proof.unwound += 1;
                    let name = event.and_then(|_| self.names.get(&slot));
                    let values = event.zip(name).and_then(|(event, (name, part))| {
                        Some(event.values.iter().find(|(of, _)| of == name)?.1[*part])
                    });
                    self.proof.compared += u64::from(values.is_some());
                    if tag == 0 || found.tag != tag || values.is_some_and(|bits| bits != found.bits) {
                        let pc = wave.pc;
                        self.proof.wrong.push(format!(
                            "caller at {at:#x} (wave at {pc:#x}), lane {lane}: {place:?} of {}",
                            self.title(slot)
                        ));
                    }
                }
            }
        }
        Ok(())
    }

    /// Unwinds to all callers, and compares where their frames are.
    fn callers(&mut self, wave: &Wave, watch: &Watch) -> Result<Rc<Vec<Caller>>, String> {
        // The rules at a pc, and the masks of callers: those of the callee are its own.
        let masks = FIRST_MASK..FIRST_MASK + self.compiled.lowered[self.function(wave.pc)].first_mask;
        let registers = (RETURN..=FRAME).chain(masks).map(|n| wave.scalars[n as usize].bits);
        let calls = watch.calls.iter().flat_map(|call| [call.returns as u32, call.exec, call.base]);
        let key = (wave.pc, registers.chain(calls).collect());
        if let Some(known) = self.callers.get(&key) {
            return Ok(known.clone());
        }
        // The rules depend on the pcs alone: registers are compared once for each chain of calls.
        let is_new = self.chains.insert((wave.pc, watch.calls.iter().map(|call| call.returns).collect()));
        let base = self.base;
        let gpu = &self.gpu;
        let machines = LOOKED_AT.map(|lane| Stopped::new(wave, base, wave.pc, Some(lane)));
        let frames = &self.frames;
        let stacks = machines.each_ref().map(|of| CallStack::new(of, frames, gpu).with_debug_info(self.info));
        let text = |fault: Box<eitri::eval::UnwindFault>| format!("pc {:#x}: {fault}", wave.pc);
        let mut found = Vec::new();
        let mut returns = None;
        let bases = watch.calls.iter().rev().map(|call| call.base).chain([0]);
        let mut calls = watch.calls.iter().rev();
        for ((number, frame), expected) in stacks[0].frames().enumerate().zip(bases) {
            let frame = frame.map_err(text)?;
            let cfa = spans(&frame.cfa().map_err(text)?, 32, ByteOrder::Little)
                .map_err(|fault| fault.to_string())?;
            let at = cfa.first().and_then(|span| span.places.first()).map(|place| place.offset / 8);
            if at != Some(32 * u128::from(expected)) {
                return Err(format!(
                    "pc {:#x}: frame {number} is at {at:?}, expected 32 * {expected}",
                    wave.pc
                ));
            }
            if number == 0 {
                continue;
            }
            let call = calls.next().ok_or("more frames than calls")?;
            let mut exec = [0; 4];
            let register = gpu.register_named("exec").map_err(|error| error.to_string())?;
            frame.read_register(register, 0, &mut exec).map_err(text)?;
            let at = frame.resumes_at().wrapping_sub(base);
            let exec = u32::from_le_bytes(exec);
            if (at, exec) != (call.returns, call.exec) {
                return Err(format!(
                    "pc {:#x}: frame {number} returns to {at:#x} with {exec:#x}, expected {:#x} with {:#x}",
                    wave.pc, call.returns, call.exec
                ));
            }
            let all =
                (0..106).filter_map(|n| gpu.sgpr(n).ok()).chain((0..256).filter_map(|n| gpu.vgpr(n).ok()));
            for reg in all.filter(|_| is_new) {
                self.proof.registers += compare_register(&frame, reg, call, &machines[0])
                    .map_err(|why| format!("pc {:#x}, frame {number}, {why}", wave.pc))?;
            }
            let mut caller = Caller { lanes: [None; 32], claims: BTreeMap::new() };
            for lane in 0..32 {
                let pc = frame.lane_pc(lane).map_err(text)?.map(|pc| pc.wrapping_sub(base));
                // Lanes that have called stand in the call.
                let called = exec >> lane & 1 == 1;
                if called && pc != Some(at) {
                    return Err(format!(
                        "pc {:#x}: lane {lane} has called, and is described at {pc:x?}",
                        wave.pc
                    ));
                }
                let pc = if called { Some(at - 1) } else { pc };
                caller.lanes[lane as usize] = pc;
                let Some(pc) = pc.filter(|pc| !caller.claims.contains_key(pc)) else { continue };
                let mut claims = Vec::new();
                for list in &self.lists {
                    let context =
                        frame.context(Encoding::new(8, self.compiled.debug.consumer.expressions.dialect));
                    let machines =
                        stacks.each_ref().map(|stack| WithDebugInfo::new(self.info, stack, context));
                    let machines = machines.each_ref().map(|machine| machine as &dyn Machine);
                    let here = |one: &&ListEntry<'_>| {
                        !one.is_default() && (one.start..one.end).contains(&(base + pc))
                    };
                    for one in list.entries.iter().filter(here) {
                        claims.extend(list.places(one.expr, machines, context)?);
                    }
                }
                caller.claims.insert(pc, claims);
            }
            returns = Some(at);
            found.push(caller);
        }
        if found.len() != watch.calls.len() {
            return Err(format!(
                "pc {:#x}: {} frames outward, the last returns to {returns:x?}",
                wave.pc,
                found.len()
            ));
        }
        let found = Rc::new(found);
        self.callers.insert(key, found.clone());
        Ok(found)
    }

    /// The function that has a pc.
    fn function(&self, pc: u64) -> usize {
        self.compiled.machines.partition_point(|machine| machine.start <= pc) - 1
    }

    fn claimed_at(
        &mut self,
        wave: &Wave,
        watch: &Watch,
        lane: usize,
        at: u64,
        event: Option<&interp::Event>,
        fresh: &HashSet<Slot>,
    ) {
        let of = self.function(at);
        let lowered = &self.compiled.lowered[of];
        let machine = &self.compiled.machines[of];
        let base = self.frame_base(wave, of);
        let cell = |place: Place| cell(wave, lane, place, base);
        let word = at as usize / 4;
        if word >= self.claims.len() {
            return;
        }
        for (&(slot, place), held) in self.claims[word].iter().zip(&mut self.held[word]) {
            let tag = watch.current[slot as usize][lane];
            let found = cell(place);
            let right = tag != 0 && found.tag == tag;
            self.proof.seen += 1;
            if held.replace(held.unwrap_or(true) && right).unwrap_or(true) && !right {
                let name = self.names.get(&slot);
                self.proof
                    .wrong
                    .push(format!("pc {at:#x} (wave at {:#x}), lane {lane}: {place:?} of {name:?}", wave.pc));
            }
            let Some(event) = event else { continue };
            let Some((name, part)) = self.names.get(&slot).filter(|_| !fresh.contains(&slot)) else {
                continue;
            };
            let Some((_, values)) = event.values.iter().find(|(of, _)| of == name) else { continue };
            self.proof.compared += 1;
            if values[*part] != found.bits {
                let is = found.bits;
                let expected = values[*part];
                self.proof.wrong.push(format!(
                    "pc {at:#x}, lane {lane}: {name:?} in {place:?} is {is:#x}, expected {expected:#x}"
                ));
            }
        }
        for (&slot, shown) in self.scopes[word].iter().zip(&mut self.shown[word]) {
            let tag = watch.current[slot as usize][lane];
            shown.is_valueless |= tag == 0;
            if shown.is_valueless {
                continue;
            }
            shown.is_varied |= !Cell::is_constant(tag);
            let has = |place: &Place| cell(*place).tag == tag;
            match &mut shown.places {
                Some(known) => known.retain(has),
                None if let Some(&dword) = self.home_of.get(&slot) => {
                    // A copy in a register is not a location of a variable that lives in memory.
                    shown.places = Some([Place::Scratch(dword)].into_iter().filter(has).collect());
                }
                None => {
                    // Registers of masks and addresses, memory of variables, and what callers have are no places
                    // of others.
                    let scalars = (2..64).filter(|n| !(RETURN..=FRAME).contains(n)).map(Place::Scalar);
                    let is_own = |n: &u32| match &machine.frame {
                        Some(frame) => {
                            !(PRESERVED.start..SCRATCH).contains(n)
                                || frame.rows.iter().any(|row| row.0 == *n)
                        }
                        None => true,
                    };
                    let all = scalars.chain((0..machine.vectors.min(64)).filter(is_own).map(Place::Row));
                    let first = LANES.max(machine.vectors - machine.lanes);
                    let lanes =
                        (first..machine.vectors).flat_map(|n| (0..32).map(move |lane| Place::Lane(n, lane)));
                    let scratch = (lowered.scratch.div_ceil(4)..machine.scratch / 4).map(Place::Scratch);
                    shown.places = Some(all.chain(lanes).chain(scratch).filter(has).collect());
                }
            }
        }
    }

    /// The pcs of all lanes, by the object's DWARF. A value is known where its operands are unchanged.
    pub(crate) fn lane_pcs(&mut self, wave: &Wave) -> Result<[Option<u64>; 32], String> {
        let machine = Stopped::new(wave, self.base, wave.pc, None);
        let known = self.pcs.entry(wave.pc).or_default();
        let values = |read: &BTreeSet<(Reg, u32)>| -> Vec<Option<u32>> {
            read.iter().map(|&(reg, n)| machine.dword(reg, n)).collect()
        };
        if let Some(found) = known.iter().find_map(|(read, found)| found.get(&values(read))) {
            return Ok(*found);
        }
        let text = |fault: Fault| format!("pc {:#x}: {fault}", wave.pc);
        let attribute = self.info.lane_pc(self.base + wave.pc).ok_or("no pcs of lanes")?;
        let encoding = attribute.encoding.ok_or("no pcs of lanes")?;
        let context = Context::new(encoding, &self.gpu).with_unit(attribute.unit);
        let whole = WithDebugInfo::new(self.info, &machine, context);
        let pcs = Evaluator::new().lane_pcs(attribute.body, &whole, &context).map_err(text)?;
        let pcs = read_bits(&pcs, 32 * 64, &whole).map_err(text)?;
        let (pcs, defined) = (pcs.bytes.as_chunks::<8>().0, pcs.defined.as_chunks::<8>().0);
        let pc = |lane: usize| match u64::from_le_bytes(defined[lane]) {
            0 => Ok(None),
            u64::MAX => Ok(Some(u64::from_le_bytes(pcs[lane]).wrapping_sub(self.base))),
            _ => Err(format!("pc {:#x}: lane {lane} has half a pc", wave.pc)),
        };
        let mut found = [None; 32];
        for (lane, at) in found.iter_mut().enumerate() {
            *at = pc(lane)?;
        }
        let read = machine.read.take();
        let values = read.iter().map(|&(reg, n)| machine.dword(reg, n)).collect();
        known.entry(read).or_default().insert(values, found);
        Ok(found)
    }

    fn finish(mut self) -> Proof {
        let mut proof = std::mem::take(&mut self.proof);
        let mut missed = BTreeMap::new();
        for (word, shown) in self.shown.iter().enumerate() {
            let claims = self.claims[word].iter().zip(&self.held[word]);
            // A claim outside of the variable's scope has to be right, and is not counted.
            let seen = claims.filter_map(|(&claim, held)| Some((claim, (*held)?)));
            let seen = seen.filter(|((slot, _), _)| self.scopes[word].binary_search(slot).is_ok());
            let seen: HashMap<(Slot, Place), bool> = seen.collect();
            proof.claimed += seen.len() as u64;
            proof.right += seen.values().filter(|&&held| held).count() as u64;
            let is_constant = |place: Place| matches!(place, Place::Constant(_));
            proof.recoverable +=
                seen.iter().filter(|((_, place), held)| **held && is_constant(*place)).count() as u64;
            for (slot, shown) in self.scopes[word].iter().zip(shown) {
                let Some(places) = shown.places.as_ref().filter(|_| !shown.is_valueless) else { continue };
                proof.in_scope += 1;
                for &place in places {
                    let is_claimed = seen.contains_key(&(*slot, place));
                    // Places that have an equal constant by chance, in the runs that there were, are not counted.
                    proof.recoverable += u64::from(shown.is_varied || is_claimed);
                    if shown.is_varied && !is_claimed {
                        let pcs = missed.entry((*slot, place)).or_insert_with(Vec::<Range<u64>>::new);
                        let pc = 4 * word as u64;
                        match pcs.last_mut().filter(|last| last.end == pc) {
                            Some(last) => last.end += 4,
                            None => pcs.push(pc..pc + 4),
                        }
                    }
                }
            }
        }
        let line = |((slot, place), pcs)| format!("{} in {place:?}: {pcs:x?}", self.title(slot));
        proof.missed = missed.into_iter().map(line).collect();
        proof
    }
}

/// The contents of a place, in a frame that begins at dword `base` of scratch memory.
fn cell(wave: &Wave, lane: usize, place: Place, base: u32) -> Cell {
    match place {
        Place::Scalar(n) => wave.scalars[n as usize],
        Place::Row(n) => wave.vectors[n as usize][lane],
        Place::Lane(n, lane) => wave.vectors[n as usize][lane as usize],
        Place::Scratch(dword) => {
            wave.scratch.get((base + dword) as usize).map_or(Cell::default(), |row| row[lane])
        }
        Place::Constant(bits) => Cell::constant(bits),
    }
}

/// The address of the kernel: sections of an object that is not linked have made-up addresses.
pub(crate) fn start(source: &Source, object: &Object<'_>) -> Result<u64, String> {
    let name = &source.module.entry_points[0].name;
    object.symbol_address(name).ok_or_else(|| format!("{name}: no such symbol"))
}
