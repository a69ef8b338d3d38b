//! Machine code: bytes, and for each instruction what it does to storage.

use std::collections::{HashMap, HashSet};
use std::ops::Range;

use eitri::target::code::{InstructionSet, RegisterKind, VCC};
use eitri::target::{Gfx, Wave};
use naga::{Function, Handle};
use regalloc2::{Allocation, Edit, Inst as InstId, Output, VReg};

use crate::alloc::{Flat, PRESERVED, overwritten};
use crate::front::Unsupported;
use crate::isa::{ADDRESS, Op, Reg, TARGET, encode, put_address};
use crate::lower::{FIRST_MASK, FRAME, Lowered, RETURN, SCALAR, STACK};
use crate::ssa::{At, Exec, Given, How, Inst, Kind, Slot, Src, Term, contents};

/// A dword of storage: of the wave, or one for each lane.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Place {
    Scalar(u32),
    Vector(u32),
    /// One lane of a vector register.
    Lane(u32, u32),
    /// Offset in bytes in scratch memory of each lane.
    Scratch(u32),
}

/// Effect of an instruction on storage.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Effect {
    Define(VReg, Place),
    Constant(u32, Place),
    Copy(Place, Place),
    Clobber(Place),
}

impl Effect {
    /// The place that is written.
    pub fn target(&self) -> Place {
        let (Self::Define(_, to) | Self::Constant(_, to) | Self::Copy(_, to) | Self::Clobber(to)) = *self;
        to
    }
}

/// Facts of a range of pcs.
#[derive(Debug, Clone, PartialEq)]
pub enum Fact {
    /// An instruction; whether it writes lanes that are not active.
    Step(Vec<Effect>, bool),
    /// EXEC, and the mask.
    Exec(Change, usize),
    /// All lanes run; the active ones are in [`SAVED`].
    WholeWave,
    /// Assignment of a variable before the pc.
    Assign(Slot, Given),
    /// Variables at home in local memory have values from the pc on.
    LocalZeroed,
    /// A statement begins.
    Statement(u64),
    /// Place in the source.
    Source(At),
}

/// The writes of EXEC, as [`eitri::build::ExecWrite`] has them.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Change {
    Save,
    And,
    AndNot,
    Else,
    Restore,
}

/// Register for EXEC while all lanes run; for a comparison meanwhile.
pub const SAVED: u32 = 100;
const COMPARED: u32 = 101;

/// A block of machine code.
#[derive(Debug, Default)]
struct Body {
    bytes: Vec<u8>,
    facts: Vec<(Range<u64>, Fact)>,
    /// Whether the terminator needs instructions beside its jumps.
    has_marks: bool,
    ends_in_mark: bool,
    calls: Vec<(usize, Handle<Function>)>,
}

/// An edge of the wave's graph, by positions of blocks; whether lanes take it.
pub type Edge = (usize, usize, bool);

/// Machine code of a kernel.
#[derive(Debug, Default, Clone)]
pub struct Machine {
    pub bytes: Vec<u8>,
    pub facts: Vec<(Range<u64>, Fact)>,
    /// Blocks with code, in order.
    pub blocks: Vec<Range<u64>>,
    pub edges: Vec<Edge>,
    /// Bytes of scratch memory.
    pub scratch: u32,
    /// Number of vector registers.
    pub vectors: u32,
    /// Number of those whose lanes have spilled scalars.
    pub lanes: u32,
    /// Offset in the code of all functions.
    pub start: u64,
    /// Pcs at which the address of a function that is called is made.
    pub calls: Vec<(usize, Handle<Function>)>,
    /// The frame of a function that is called.
    pub frame: Option<Frame>,
    /// Registers that the function and what it calls overwrite, of those that calls may.
    pub overwritten: Vec<Reg>,
    /// Scalar and vector registers that the instructions of the function and of what it calls write, whatever for.
    pub written: HashSet<Reg>,
    /// Vector registers among these that it overwrites in lanes that are not active, too.
    pub whole: Vec<Reg>,
    /// Copies that it leaves in these registers: of contents that others had on entry.
    pub left: Vec<Effect>,
}

impl Machine {
    /// Returns the places in the source, each with the pc where its code begins.
    pub fn sources(&self) -> impl Iterator<Item = (u64, At)> + '_ {
        self.facts.iter().filter_map(|(pcs, fact)| match fact {
            Fact::Source(at) => Some((pcs.start, *at)),
            _ => None,
        })
    }
}

/// Registers of the caller, and the pcs from which on they are in the frame.
#[derive(Debug, Default, Clone)]
pub struct Frame {
    /// Register with the caller's EXEC, from the second instruction on.
    pub exec: u32,
    /// Vector registers, each with its offset in bytes in the frame.
    pub rows: Vec<(u32, u32)>,
    pub rows_from: u64,
    /// Scalar registers in lanes, each with the pcs.
    pub scalars: Vec<(u32, (u32, u32), Range<u64>)>,
    /// Pcs at which the base of the frame is in its register.
    pub body: Range<u64>,
}

struct Emitter<'f> {
    flat: &'f Flat<'f>,
    output: &'f Output,
    lowered: &'f Lowered<'f>,
    /// The first vector register whose lanes have spilled scalars of this function.
    lanes: u32,
    /// Bytes of the frame.
    size: u32,
    frame: Option<Frame>,
    /// Offset in bytes of spilled rows.
    spills: u32,
    vectors: u32,
    reach: i64,
}

/// Writes a function, which spills scalars to lanes of vector registers from `lanes` on. A branch leads over at most
/// `reach` dwords.
pub fn emit(
    lowered: &Lowered<'_>,
    flat: &Flat<'_>,
    output: &Output,
    lanes: u32,
    reach: i64,
) -> Result<Machine, Unsupported> {
    let spills = lowered.scratch.next_multiple_of(4);
    let mut size = spills + 4 * output.num_spillslots as u32;
    let frame = lowered.function.map(|_| {
        let mut frame = Frame { exec: FIRST_MASK + lowered.first_mask, ..Frame::default() };
        let moved = output.edits.iter().map(|(_, Edit::Move { to, .. })| to);
        let written = output.allocs.iter().chain(moved).filter_map(|at| at.as_reg());
        let mut rows: Vec<u32> =
            written.filter(|reg| reg.class() != SCALAR).map(|reg| reg.hw_enc() as u32).collect();
        rows.retain(|n| PRESERVED.contains(n));
        rows.sort_unstable();
        rows.dedup();
        frame.rows = rows.into_iter().zip((size..).step_by(4)).collect();
        size += 4 * frame.rows.len() as u32;
        frame
    });
    if size > 4096 {
        let what = "more than 4 KiB of private memory and spilled values".into();
        return Err(Unsupported { what, span: naga::Span::default() });
    }
    let mut emitter = Emitter { flat, output, lowered, lanes, size, frame, spills, vectors: 1, reach };
    let count = flat.code.order.len();
    let mut bodies: Vec<Body> = (0..count).map(|block| emitter.body(block)).collect();
    let mut machine = emitter.layout(&mut bodies);
    (machine.scratch, machine.vectors) = (size, emitter.vectors);
    machine.lanes = machine.vectors.saturating_sub(lanes);
    if let Some(mut frame) = emitter.frame {
        // The instructions that end the body are the last ones.
        let end = machine.bytes.len() as u64;
        frame.body.end = end - 4;
        frame.scalars.iter_mut().for_each(|(_, _, pcs)| pcs.end = end);
        machine.frame = Some(frame);
    }
    Ok(machine)
}

/// Places functions behind each other, sets the addresses of calls, and restricts what calls overwrite to what the
/// callees do overwrite. `left` finds the copies that a function leaves.
pub fn link<E>(
    lowered: &[Lowered<'_>],
    machines: &mut [Machine],
    left: impl Fn(&Lowered<'_>, &Machine) -> Result<Vec<Effect>, E>,
) -> Result<(), E> {
    let mut end = 0;
    for machine in &mut *machines {
        machine.start = end;
        end += machine.bytes.len() as u64;
    }
    let starts: Vec<_> =
        lowered.iter().zip(&*machines).map(|(of, machine)| (of.function, machine.start)).collect();
    for machine in &mut *machines {
        for &(at, function) in &machine.calls {
            let to = starts.iter().find(|of| of.0 == Some(function)).map_or(0, |of| of.1);
            let mut bytes = Vec::new();
            put_address(to as i64 - (machine.start as i64 + at as i64 + 4), &mut bytes);
            machine.bytes[at..at + ADDRESS].copy_from_slice(&bytes);
        }
    }
    // Callees follow their callers.
    for n in (0..machines.len()).rev() {
        let calls: HashMap<u64, usize> = machines[n]
            .calls
            .iter()
            .filter_map(|&(at, function)| {
                Some(((at + ADDRESS) as u64, lowered.iter().position(|of| of.function == Some(function))?))
            })
            .collect();
        let (mut all, mut whole): (HashSet<Place>, HashSet<Place>) = Default::default();
        let mut facts = std::mem::take(&mut machines[n].facts);
        for (pcs, fact) in &mut facts {
            let Fact::Step(effects, is_whole) = fact else { continue };
            let call = if *is_whole { pcs.end } else { pcs.start };
            if let Some(&callee) = calls.get(&call) {
                let callee = &machines[callee];
                let written = if *is_whole { &callee.whole } else { &callee.overwritten };
                let is_written = |at: &Place| written.iter().any(|&reg| place(reg) == *at);
                effects.retain(|effect| !matches!(effect, Effect::Clobber(at) if !is_written(at)));
                for effect in effects.iter_mut().filter(|_| !*is_whole) {
                    let left = callee.left.iter().find(|left| left.target() == effect.target());
                    *effect =
                        left.copied().filter(|_| matches!(effect, Effect::Clobber(_))).unwrap_or(*effect);
                }
            }
            all.extend(effects.iter().map(Effect::target));
            let rows = effects.iter().map(Effect::target).filter(|at| matches!(at, Place::Vector(_)));
            whole.extend(rows.filter(|_| *is_whole));
        }
        machines[n].facts = facts;
        let callees: Vec<HashSet<Reg>> =
            calls.values().map(|&callee| machines[callee].written.clone()).collect();
        machines[n].written = written(&machines[n].bytes);
        machines[n].written.extend(callees.into_iter().flatten());
        machines[n].overwritten = overwritten().filter(|&reg| all.contains(&place(reg))).collect();
        machines[n].whole = overwritten().filter(|&reg| whole.contains(&place(reg))).collect();
        if machines[n].frame.is_some() {
            machines[n].left = left(&lowered[n], &machines[n])?;
        }
    }
    Ok(())
}

/// The registers that instructions write, by eitri's decoder: masks, addresses and saved registers are among them.
fn written(bytes: &[u8]) -> HashSet<Reg> {
    let set = InstructionSet::of(Gfx::GFX1100, Wave::W32).expect("instructions of gfx11 are known");
    let mut written = HashSet::new();
    let mut at = 0;
    while let Some(one) = set.decode(&bytes[at..]) {
        at += usize::from(one.bytes);
        for destination in
            one.writes().unwrap_or_else(|| panic!("destinations of {:?} are unknown", one.name))
        {
            let numbers = (destination.first..).take(destination.count.into()).map(u32::from);
            match destination.kind {
                RegisterKind::Scalar => written.extend(numbers.filter(|n| *n < u32::from(VCC)).map(Reg::S)),
                RegisterKind::Vector => written.extend(numbers.map(Reg::V)),
                RegisterKind::Accumulator => {}
            }
        }
    }
    written
}

impl Emitter<'_> {
    fn reg(&mut self, at: Allocation) -> Reg {
        match at.as_reg() {
            Some(reg) if reg.class() == SCALAR => Reg::S(reg.hw_enc() as u32),
            Some(reg) => {
                self.vectors = self.vectors.max(reg.hw_enc() as u32 + 1);
                Reg::V(reg.hw_enc() as u32)
            }
            None => Reg::Null,
        }
    }

    fn body(&mut self, at: usize) -> Body {
        let mut body = Body::default();
        let block = regalloc2::Block::new(at);
        let mut moves: Vec<(Allocation, Allocation)> = Vec::new();
        let flat = self.flat;
        let output = self.output;
        for item in output.block_insts_and_edits(flat, block) {
            match item {
                regalloc2::InstOrEdit::Edit(Edit::Move { from, to }) => moves.push((*from, *to)),
                regalloc2::InstOrEdit::Inst(inst) => {
                    let (block, index) = flat.insts[inst.index()];
                    let block = &flat.code.blocks[block];
                    let found = block.insts.get(index);
                    let (partial, source) = match found {
                        Some(inst) => (inst.partial, inst.at),
                        None => (block.partial, block.at),
                    };
                    body.fact(0, Fact::Source(source));
                    self.moves(&mut body, std::mem::take(&mut moves), partial);
                    match found {
                        Some(found) => self.inst(&mut body, found, inst),
                        None => self.end(&mut body, block.term, inst),
                    }
                }
            }
        }
        body
    }

    /// Moves of the allocator. Where lanes wait they are made for all lanes: others would lose their values.
    fn moves(&mut self, body: &mut Body, moves: Vec<(Allocation, Allocation)>, partial: bool) {
        let is_row = |at: &Allocation, other: &Allocation| {
            at.as_reg().or(other.as_reg()).is_some_and(|reg| reg.class() != SCALAR)
        };
        let mut is_whole = false;
        for (from, to) in moves {
            let row = is_row(&from, &to);
            if row && partial && !is_whole {
                self.whole(body, true);
                is_whole = true;
            }
            let slot = |at: Allocation| at.as_stack().map_or(0, |slot| slot.index() as u32);
            let source = self.reg(from);
            let target = self.reg(to);
            let start = body.bytes.len();
            let mut waits = false;
            let effect = match (source, target, row) {
                (Reg::Null, target, false) => {
                    let (vector, lane) = self.lane(slot(from));
                    body.plain(Op::ReadLane, target, &[Reg::V(vector), Reg::Const(lane)]);
                    Effect::Copy(Place::Lane(vector, lane), place(target))
                }
                (source, Reg::Null, false) => {
                    let (vector, lane) = self.lane(slot(to));
                    body.plain(Op::WriteLane, Reg::V(vector), &[source, Reg::Const(lane)]);
                    Effect::Copy(place(source), Place::Lane(vector, lane))
                }
                (source, target, false) => {
                    body.plain(Op::SMov, target, &[source]);
                    Effect::Copy(place(source), place(target))
                }
                (Reg::Null, target, true) => {
                    let at = self.spills + 4 * slot(from);
                    encode(Op::ScratchLoad, target, &[self.base(), Reg::Null], at as i32, &mut body.bytes);
                    waits = true;
                    Effect::Copy(Place::Scratch(at), place(target))
                }
                (source, Reg::Null, true) => {
                    let at = self.spills + 4 * slot(to);
                    let all = [self.base(), Reg::Null, source];
                    encode(Op::ScratchStore, Reg::Null, &all, at as i32, &mut body.bytes);
                    Effect::Copy(place(source), Place::Scratch(at))
                }
                (source, target, true) => {
                    body.plain(Op::VMov, target, &[source]);
                    Effect::Copy(place(source), place(target))
                }
            };
            body.fact(start, Fact::Step(vec![effect], is_whole));
            if waits {
                body.plain(Op::WaitCount, Reg::Null, &[]);
            }
        }
        if is_whole {
            self.whole(body, false);
        }
    }

    /// Begins or ends code that all lanes run.
    fn whole(&mut self, body: &mut Body, begins: bool) {
        if begins {
            body.plain(Op::SOrSaveexec, Reg::S(SAVED), &[Reg::Const(u32::MAX)]);
            let at = body.bytes.len() as u64;
            body.facts.push((at..at, Fact::WholeWave));
        } else {
            body.plain(Op::SMov, Reg::Exec, &[Reg::S(SAVED)]);
            let end = body.bytes.len() as u64;
            let open = body.facts.iter_mut().rfind(|(_, fact)| *fact == Fact::WholeWave);
            open.expect("it has begun").0.end = end;
        }
    }

    fn base(&self) -> Reg {
        if self.lowered.function.is_some() { Reg::S(FRAME) } else { Reg::Null }
    }

    /// The first instructions of a function that is called: EXEC and the base of the caller's frame are saved, then
    /// vector registers in all lanes, as waiting lanes have values there, and the return address if there are calls.
    fn prologue(&mut self, body: &mut Body) {
        let Some(mut frame) = self.frame.take() else { return };
        body.plain(Op::SMov, Reg::S(frame.exec), &[Reg::Exec]);
        let slots = self.output.num_spillslots as u32..;
        let is_caller = self.flat.code.blocks.iter().flat_map(|block| &block.insts);
        let is_caller = is_caller.into_iter().any(|inst| matches!(inst.kind, Kind::Call(..)));
        let saved = if is_caller { &[FRAME, RETURN, RETURN + 1][..] } else { &[FRAME] };
        for (&scalar, slot) in saved.iter().zip(slots) {
            let (vector, lane) = self.lane(slot);
            body.plain(Op::WriteLane, Reg::V(vector), &[Reg::S(scalar), Reg::Const(lane)]);
            let at = body.bytes.len() as u64;
            frame.scalars.push((scalar, (vector, lane), at..at));
        }
        body.plain(Op::SMov, Reg::S(FRAME), &[Reg::S(STACK)]);
        frame.body.start = body.bytes.len() as u64;
        if !frame.rows.is_empty() {
            self.whole(body, true);
            for &(vector, at) in &frame.rows {
                let all = [Reg::S(FRAME), Reg::Null, Reg::V(vector)];
                encode(Op::ScratchStore, Reg::Null, &all, at as i32, &mut body.bytes);
            }
            frame.rows_from = body.bytes.len() as u64;
            self.whole(body, false);
        }
        self.frame = Some(frame);
    }

    /// The last instructions of a function that is called. The base of the caller's frame is restored at last:
    /// variables in the frame have no place then.
    fn epilogue(&mut self, body: &mut Body) {
        let Some(frame) = self.frame.clone() else { return };
        if !frame.rows.is_empty() {
            self.whole(body, true);
            for &(vector, at) in &frame.rows {
                let start = body.bytes.len();
                encode(
                    Op::ScratchLoad,
                    Reg::V(vector),
                    &[Reg::S(FRAME), Reg::Null],
                    at as i32,
                    &mut body.bytes,
                );
                body.fact(start, Fact::Step(vec![Effect::Clobber(Place::Vector(vector))], true));
            }
            body.plain(Op::WaitCount, Reg::Null, &[]);
            self.whole(body, false);
        }
        body.plain(Op::SMov, Reg::S(STACK), &[Reg::S(FRAME)]);
        for &(scalar, (vector, lane), _) in frame.scalars.iter().rev() {
            let start = body.bytes.len();
            body.plain(Op::ReadLane, Reg::S(scalar), &[Reg::V(vector), Reg::Const(lane)]);
            if scalar == FRAME {
                let frame = (0..self.size).step_by(4).map(|at| Effect::Clobber(Place::Scratch(at)));
                body.fact(start, Fact::Step(frame.collect(), true));
            }
        }
        encode(Op::SSetPc, Reg::S(0), &[Reg::S(RETURN)], 0, &mut body.bytes);
    }

    /// A call: the callee's frame begins where this one ends.
    fn call(&mut self, body: &mut Body, function: Handle<Function>, results: &[VReg]) {
        match self.base() {
            Reg::Null => body.plain(Op::SMov, Reg::S(STACK), &[Reg::Const(self.size)]),
            base => body.plain(Op::SAdd, Reg::S(STACK), &[base, Reg::Const(self.size)]),
        }
        body.calls.push((body.bytes.len(), function));
        put_address(0, &mut body.bytes);
        // The instruction before states overwritten registers of all lanes: it has no effect of its own.
        let all = overwritten().map(|reg| Effect::Clobber(place(reg))).collect();
        body.fact(body.bytes.len() - 4, Fact::Step(all, true));
        let start = body.bytes.len();
        encode(Op::SSwapPc, Reg::S(RETURN), &[Reg::S(TARGET)], 0, &mut body.bytes);
        let defines: Vec<(VReg, Reg)> = results.iter().copied().zip((0..).map(Reg::V)).collect();
        let is_other = |reg: &Reg| defines.iter().all(|(_, result)| result != reg);
        let clobbers = overwritten().filter(is_other).map(|reg| Effect::Clobber(place(reg)));
        let all = defines.iter().map(|&(vreg, reg)| Effect::Define(vreg, place(reg))).chain(clobbers);
        body.fact(start, Fact::Step(all.collect(), false));
    }

    fn lane(&mut self, slot: u32) -> (u32, u32) {
        let vector = self.lanes + slot / 32;
        self.vectors = self.vectors.max(vector + 1);
        (vector, slot % 32)
    }

    fn inst(&mut self, body: &mut Body, inst: &Inst, id: InstId) {
        let allocs = self.output.inst_allocs(id);
        let mut next = allocs.iter();
        let mut take = |this: &mut Self| next.next().map_or(Reg::Null, |&at| this.reg(at));
        if let Kind::Entry(values) = &inst.kind {
            let effects = values.iter().map(|&(vreg, reg)| Effect::Define(vreg, place(reg))).collect();
            body.fact(body.bytes.len(), Fact::Step(effects, false));
            self.prologue(body);
            return;
        }
        if let Kind::Call(function, results) = &inst.kind {
            return self.call(body, *function, results);
        }
        let mut src = Vec::new();
        for of in &inst.src {
            src.push(match of {
                Src::V(_) => take(self),
                Src::Fixed(reg) => *reg,
            });
        }
        if inst.tied.is_some() {
            take(self);
        }
        let dst = if inst.dst.is_some() { take(self) } else { Reg::Null };
        let start = body.bytes.len();
        let defines =
            |dst| inst.dst.map(|vreg| Effect::Define(vreg, place(dst))).into_iter().collect::<Vec<_>>();
        let step = |body: &mut Body, effects, all| body.fact(start, Fact::Step(effects, all));
        match &inst.kind {
            Kind::Plain(op) => {
                encode(*op, dst, &src, inst.offset, &mut body.bytes);
                let effects = match (op, src.first()) {
                    (Op::SMov, Some(&Reg::Const(value))) => vec![Effect::Constant(value, place(dst))],
                    (Op::SMov, Some(&source)) => vec![Effect::Copy(place(source), place(dst))],
                    _ => defines(dst),
                };
                step(body, effects, false);
            }
            Kind::FirstStore(slot) => {
                encode(Op::ScratchStore, dst, &src, inst.offset, &mut body.bytes);
                let contents = contents(*slot);
                let home = Place::Scratch(inst.offset as u32);
                step(body, vec![Effect::Define(contents, home)], false);
                body.mark(Fact::Assign(*slot, Given::Defined(contents)));
            }
            Kind::Load(Op::SLoad2) => {
                encode(Op::SLoad2, src[1], &src[..1], inst.offset, &mut body.bytes);
                encode(Op::WaitCount, Reg::Null, &[], 0, &mut body.bytes);
                step(body, Vec::new(), false);
            }
            Kind::Load(op) => {
                encode(*op, dst, &src, inst.offset, &mut body.bytes);
                // A wave that stops has no outstanding loads: the result is there before the wait.
                step(body, defines(dst), false);
                body.plain(Op::WaitCount, Reg::Null, &[]);
            }
            Kind::Compare(op) => {
                body.plain(*op, Reg::Null, &src);
                let start = body.bytes.len();
                body.plain(Op::SSelect, dst, &[Reg::Const(1), Reg::Const(0)]);
                body.fact(start, Fact::Step(defines(dst), false));
            }
            Kind::Choose => {
                body.plain(Op::SNe, Reg::Null, &[src[2], Reg::Const(0)]);
                let start = body.bytes.len();
                body.plain(Op::SSelect, dst, &src[..2]);
                body.fact(start, Fact::Step(defines(dst), false));
            }
            Kind::Move => {
                encode(Op::VMov, dst, &src, 0, &mut body.bytes);
                let effect = match src[0] {
                    Reg::Const(value) => Effect::Constant(value, place(dst)),
                    source => Effect::Copy(place(source), place(dst)),
                };
                step(body, vec![effect], false);
            }
            Kind::Exec(exec) => self.exec(body, *exec),
            Kind::Collective(op, neutral, how) => {
                let temps = [take(self), take(self)];
                let all = (*op, *neutral, *how);
                let last = self.collective(body, all, src[0], dst, temps);
                body.fact(last, Fact::Step(defines(dst), true));
            }
            Kind::Barrier => {
                encode(Op::WaitCount, Reg::Null, &[], 0, &mut body.bytes);
                encode(Op::WaitStores, Reg::Null, &[], 0, &mut body.bytes);
                encode(Op::Barrier, Reg::Null, &[], 0, &mut body.bytes);
                step(body, Vec::new(), false);
            }
            Kind::LocalZeroed => body.mark(Fact::LocalZeroed),
            Kind::Assign(slot, given) => body.mark(Fact::Assign(*slot, *given)),
            Kind::Statement(number) => body.mark(Fact::Statement(*number)),
            Kind::Return => self.epilogue(body),
            Kind::Entry(_) | Kind::Call(..) => {}
        }
    }

    fn mask(&self, mask: usize) -> Reg {
        Reg::S(self.flat.code.masks[mask])
    }

    fn exec(&self, body: &mut Body, exec: Exec) {
        let (Exec::Begin(n) | Exec::Leave(n) | Exec::End(n) | Exec::Else(n)) = exec;
        let mask = self.mask(n);
        if let Exec::Leave(_) = exec {
            body.plain(Op::SOr, mask, &[mask, Reg::Exec]);
        }
        let start = body.bytes.len();
        let change = match exec {
            Exec::Begin(_) => {
                body.plain(Op::SMov, mask, &[Reg::Const(0)]);
                Change::Save
            }
            Exec::Leave(_) => {
                body.plain(Op::SMov, Reg::Exec, &[Reg::Const(0)]);
                Change::AndNot
            }
            Exec::End(_) => {
                body.plain(Op::SOr, Reg::Exec, &[Reg::Exec, mask]);
                Change::Restore
            }
            Exec::Else(_) => {
                body.plain(Op::SAndNotSaveexec, mask, &[mask]);
                Change::Else
            }
        };
        body.fact(start, Fact::Exec(change, n));
    }

    /// Each lane combines its value with that of a lane 1, 2, 4, 8, 16 away; lanes that are not active have the neutral
    /// element. Returns the start of the last instruction, which runs when the result is there.
    fn collective(
        &mut self,
        body: &mut Body,
        (op, neutral, how): (Op, u32, How),
        src: Reg,
        dst: Reg,
        temps: [Reg; 2],
    ) -> usize {
        let [lane, other] = temps;
        self.whole(body, true);
        body.written(Op::VMov, dst, &[Reg::Const(neutral)]);
        self.whole(body, false);
        let start = body.bytes.len();
        body.plain(Op::VMov, dst, &[src]);
        body.fact(start, Fact::Step(vec![Effect::Copy(place(src), place(dst))], false));
        self.whole(body, true);
        body.written(Op::LaneCount, lane, &[Reg::Const(u32::MAX), Reg::Const(0)]);
        let fetch = |body: &mut Body, combine: Op, by: u32| {
            match combine {
                Op::VXor => body.written(Op::VXor, other, &[Reg::Const(by), lane]),
                _ => body.written(Op::VSub, other, &[lane, Reg::Const(by)]),
            }
            body.written(Op::VShl, other, &[Reg::Const(2), other]);
            body.written(Op::DsPermute, other, &[other, dst]);
            body.plain(Op::WaitCount, Reg::Null, &[]);
            if combine != Op::VXor {
                // The first lanes have none before them. The neutral element is not an inline constant: it comes from a
                // register.
                body.plain(Op::VLeU, Reg::S(COMPARED), &[Reg::Const(by), lane]);
            }
        };
        let keep = |body: &mut Body, into: Reg| {
            body.written(Op::VSelect, into, &[Reg::Const(neutral), other, Reg::S(COMPARED)]);
        };
        for by in [1, 2, 4, 8, 16] {
            if how == How::All {
                fetch(body, Op::VXor, by);
            } else {
                fetch(body, Op::VSub, by);
                keep(body, other);
            }
            body.written(op, dst, &[dst, other]);
        }
        if how == How::Before {
            fetch(body, Op::VSub, 1);
            keep(body, dst);
        }
        let last = body.bytes.len();
        self.whole(body, false);
        last
    }

    /// Instructions at the end of a block, before its jumps.
    fn end(&mut self, body: &mut Body, term: Option<Term>, id: InstId) {
        let condition = self.output.inst_allocs(id).first().map(|&at| self.reg(at));
        let condition = |src: Src| match src {
            Src::V(_) => condition.unwrap_or(Reg::Null),
            Src::Fixed(reg) => reg,
        };
        match term {
            Some(Term::If(src)) => body.plain(Op::SNe, Reg::Null, &[condition(src), Reg::Const(0)]),
            Some(Term::Split(src, n)) => {
                let mask = self.mask(n);
                let start = body.bytes.len();
                body.plain(Op::SAndSaveexec, mask, &[condition(src)]);
                body.fact(start, Fact::Exec(Change::Save, n));
                body.fact(start, Fact::Exec(Change::And, n));
                // The mask has the lanes that wait, without those that run.
                body.plain(Op::SXor, mask, &[Reg::Exec, mask]);
            }
            _ => {}
        }
    }
}

impl Body {
    fn plain(&mut self, op: Op, dst: Reg, src: &[Reg]) {
        encode(op, dst, src, 0, &mut self.bytes);
        self.ends_in_mark = false;
    }

    /// Adds an instruction whose result is not a value of the code, in all lanes.
    fn written(&mut self, op: Op, dst: Reg, src: &[Reg]) {
        let start = self.bytes.len();
        self.plain(op, dst, src);
        self.fact(start, Fact::Step(vec![Effect::Clobber(place(dst))], true));
    }

    fn fact(&mut self, start: usize, fact: Fact) {
        let end = self.bytes.len() as u64;
        // The source position belongs to the next instruction.
        let start = if let Fact::Source(_) = fact { end } else { start as u64 };
        if start < end {
            self.ends_in_mark = false;
        }
        self.facts.push((start..end, fact));
    }

    fn mark(&mut self, fact: Fact) {
        self.fact(self.bytes.len(), fact);
        (self.has_marks, self.ends_in_mark) = (true, true);
    }
}

fn place(reg: Reg) -> Place {
    match reg {
        Reg::V(n) => Place::Vector(n),
        Reg::S(n) => Place::Scalar(n),
        _ => Place::Scalar(SAVED),
    }
}

impl Emitter<'_> {
    /// Puts blocks in a row; jumps lead past blocks without code.
    fn layout(&self, bodies: &mut [Body]) -> Machine {
        let code = self.flat.code;
        let mut position = vec![0; code.blocks.len()];
        for (at, &block) in code.order.iter().enumerate() {
            position[block] = at;
        }
        let term = |at: usize| code.blocks[code.order[at]].term.unwrap_or(Term::End);
        let succ = |at: usize, n: usize| position[code.blocks[code.order[at]].succs[n].0];
        let is_empty: Vec<bool> = bodies
            .iter()
            .enumerate()
            .map(|(at, body)| {
                let goes_on = matches!(term(at), Term::Jump | Term::Empty);
                goes_on && body.bytes.is_empty() && !body.has_marks && at != 0
            })
            .collect();
        // The block with code that a jump leads to, and whether lanes go there.
        let resolve = |mut at: usize, mut lanes: bool| {
            while is_empty[at] {
                lanes &= term(at) == Term::Jump;
                at = succ(at, 0);
            }
            (at, lanes)
        };
        let count = bodies.len();
        let next_of = |at: usize| (at + 1..count).find(|&next| !is_empty[next]);
        // Number of blocks that lead to each, past empty ones.
        let mut preds = vec![0; bodies.len()];
        let mut machine = Machine::default();
        let mut jumps: Vec<Vec<(Op, usize)>> = vec![Vec::new(); bodies.len()];
        let mut edges: Vec<Edge> = Vec::new();
        for at in (0..bodies.len()).filter(|&at| !is_empty[at]) {
            let next = next_of(at);
            let to = |n: usize, lanes: bool| resolve(succ(at, n), lanes);
            let jump = |op: Op, to: usize| if next == Some(to) { None } else { Some((op, to)) };
            let mut found: Vec<(usize, bool)> = Vec::new();
            match term(at) {
                Term::Jump | Term::Empty => {
                    found.push(to(0, term(at) == Term::Jump));
                    jumps[at].extend(jump(Op::Branch, found[0].0));
                }
                Term::If(_) => {
                    found.extend([to(0, true), to(1, true)]);
                    if next == Some(found[0].0) {
                        jumps[at].push((Op::BranchScc0, found[1].0));
                    } else {
                        jumps[at].push((Op::BranchScc1, found[0].0));
                        jumps[at].extend(jump(Op::Branch, found[1].0));
                    }
                }
                Term::Split(..) | Term::SkipIfEmpty => {
                    found.extend([to(0, true), to(1, false)]);
                    jumps[at].push((Op::BranchExecz, found[1].0));
                    jumps[at].extend(jump(Op::Branch, found[0].0));
                }
                Term::Again => {
                    found.extend([to(0, true), to(1, false)]);
                    if next == Some(found[0].0) {
                        jumps[at].push((Op::BranchExecz, found[1].0));
                    } else {
                        jumps[at].push((Op::BranchExecnz, found[0].0));
                        jumps[at].extend(jump(Op::Branch, found[1].0));
                    }
                }
                Term::End if self.lowered.function.is_none() => jumps[at].push((Op::EndProgram, at)),
                Term::End | Term::Open => {}
            }
            // Two edges to one block are one.
            found.sort_by_key(|&(to, lanes)| (to, !lanes));
            found.dedup_by_key(|edge| edge.0);
            found.iter().for_each(|edge| preds[edge.0] += 1);
            edges.extend(found.into_iter().map(|(to, lanes)| (at, to, lanes)));
        }
        let all: Vec<usize> = (0..bodies.len()).filter(|&at| !is_empty[at]).collect();
        for &at in &all {
            // An assignment needs a pc that only its path has.
            let body = &mut bodies[at];
            let shares = next_of(at).is_some_and(|next| preds[next] > 1);
            let returns = self.lowered.function.is_some() && term(at) == Term::End;
            if jumps[at].is_empty() && !returns && (body.bytes.is_empty() || body.ends_in_mark && shares) {
                body.plain(Op::Nop, Reg::Null, &[]);
            }
        }
        // A jump that is too far gets longer, until all fit.
        let mut is_long: Vec<Vec<bool>> = jumps.iter().map(|jumps| vec![false; jumps.len()]).collect();
        let starts = loop {
            let mut starts = vec![0; bodies.len()];
            let mut end = 0;
            for &at in &all {
                starts[at] = end;
                end += bodies[at].bytes.len();
                end += jumps[at]
                    .iter()
                    .zip(&is_long[at])
                    .map(|(jump, long)| jump_bytes(jump.0, *long))
                    .sum::<usize>();
            }
            let mut fits = true;
            for &at in &all {
                let mut from = starts[at] + bodies[at].bytes.len();
                for (&(op, to), long) in jumps[at].iter().zip(&mut is_long[at]) {
                    from += jump_bytes(op, *long);
                    let words = (starts[to] as i64 - from as i64) / 4;
                    let is_far = op != Op::EndProgram && !(-self.reach..self.reach).contains(&words);
                    fits &= *long || !is_far;
                    *long |= is_far;
                }
            }
            if fits {
                break starts;
            }
        };
        let mut number = vec![0; bodies.len()];
        for (n, &at) in all.iter().enumerate() {
            number[at] = n;
            let body = &mut bodies[at];
            let start = starts[at] as u64;
            machine.bytes.append(&mut body.bytes);
            let shift = |pcs: Range<u64>| start + pcs.start..start + pcs.end;
            machine.facts.extend(body.facts.drain(..).map(|(pcs, fact)| (shift(pcs), fact)));
            machine.calls.extend(body.calls.iter().map(|&(at, function)| (start as usize + at, function)));
            for (&(op, to), &long) in jumps[at].iter().zip(&is_long[at]) {
                put_jump(op, starts[to] as i64, long, &mut machine.bytes);
            }
            machine.blocks.push(start..machine.bytes.len() as u64);
        }
        machine.edges =
            edges.into_iter().map(|(from, to, lanes)| (number[from], number[to], lanes)).collect();
        machine
    }
}

/// Bytes of a jump. One that is far, to an address, is jumped over where its condition does not hold.
fn jump_bytes(op: Op, is_long: bool) -> usize {
    match (is_long, op) {
        (false, _) => 4,
        (true, Op::Branch) => ADDRESS + 4,
        (true, _) => ADDRESS + 8,
    }
}

fn put_jump(op: Op, to: i64, is_long: bool, into: &mut Vec<u8>) {
    if !is_long {
        let words = if op == Op::EndProgram { 0 } else { (to - into.len() as i64 - 4) / 4 };
        return encode(op, Reg::Null, &[], words as i32, into);
    }
    let other = match op {
        Op::BranchScc0 => Some(Op::BranchScc1),
        Op::BranchScc1 => Some(Op::BranchScc0),
        Op::BranchExecz => Some(Op::BranchExecnz),
        Op::BranchExecnz => Some(Op::BranchExecz),
        _ => None,
    };
    if let Some(other) = other {
        encode(other, Reg::Null, &[], (ADDRESS as i32 + 4) / 4, into);
    }
    put_address(to - into.len() as i64 - 4, into);
    encode(Op::SSetPc, Reg::S(0), &[Reg::S(TARGET)], 0, into);
}
