//! Compiles programs to code of a wave as compilers do: masks are saved, narrowed and restored, and leaving lanes are
//! removed from the saved masks.

use std::ops::Range;

use eitri::model::RegionKind;

use super::program::{Block, FUNCTION, Id, Leave, Program, Random, Statement, Step};

/// Index of a saved mask.
pub type Slot = usize;

/// Location of a mask: the first of its scalar registers, or of its lanes of [`VGPR`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Place {
    Scalar(u16),
    Lanes(u32),
}

/// Vector register for spilled masks.
pub const VGPR: u16 = 40;
/// First scalar register of saved masks, and first one of moved masks.
const HOME: u16 = 10;
const AWAY: u16 = 80;
/// Maximum number of moved masks per kind of place.
const PLACES: usize = 8;

/// Size of an instruction in bytes.
pub const BYTES: u64 = 4;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Op {
    /// Work of the active lanes.
    Work(Id),
    /// VCC becomes the lanes that satisfy a condition: one random number in this many does.
    Compare(Id, u64),
    /// The active lanes determine their case of a `switch`.
    Cases(Id, usize),
    /// VCC becomes the active lanes of a case.
    Case(Id, usize),
    /// VCC becomes the active lanes that leave a loop.
    Exits(Id),
    /// A mask becomes EXEC. With an id, a loop begins.
    Save(Place, Option<Id>),
    /// EXEC becomes the lanes of a mask that are in VCC.
    And(Place),
    /// EXEC becomes the lanes of a mask that are not in EXEC.
    AndNot(Place),
    /// EXEC becomes a mask.
    Restore(Place),
    /// Removes the lanes of VCC, or else of EXEC, from some words of a mask.
    TakeOut {
        from: Place,
        words: Words,
        is_vcc: bool,
    },
    /// Removes the lanes of VCC from EXEC.
    Leave,
    /// EXEC becomes all lanes.
    All,
    /// Copies words of a mask.
    Copy {
        from: Place,
        to: Place,
        words: Words,
    },
    /// Overwrites a place.
    Overwrite(Place),
    /// No operation, in whole-wave code.
    Nothing,
    /// Branches if no lane is active.
    SkipIfNone(usize),
    /// Begins the next iteration of a loop if any lane is active.
    LoopIfAny(usize, Id),
    End,
}

/// Words of a mask, 32 lanes each.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Words {
    pub first: u16,
    pub count: u16,
}

pub struct Instruction {
    pub op: Op,
    /// Path in the source; iterations are counted at run time.
    pub path: Vec<Step>,
    /// The mask of active lanes, where EXEC differs.
    pub active: Option<Slot>,
    /// Constructs that end with this instruction, innermost first.
    pub ends: Vec<Id>,
}

pub struct Region {
    /// The inlined call that contains it, or the function.
    pub scope: Id,
    pub kind: RegionKind,
    pub pcs: Range<u64>,
    pub waits_at: u64,
    pub slot: Slot,
    pub parent: Option<usize>,
}

/// An inlined call.
pub struct Inlined {
    pub id: Id,
    pub around: Id,
    pub pcs: Range<u64>,
}

/// Positions of lanes that wait at a construct.
#[derive(Debug, Clone, Copy, Default)]
pub struct Labels {
    pub start: u64,
    pub end: u64,
    pub latch: u64,
}

/// A write to EXEC, for deriving regions from code.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Write {
    Save(Slot),
    And(Slot),
    Leave(Slot),
    Else(Slot),
    Restore(Slot),
}

pub struct Code {
    pub instructions: Vec<Instruction>,
    pub labels: Vec<Labels>,
    pub regions: Vec<Region>,
    pub inlined: Vec<Inlined>,
    pub whole_waves: Vec<(Range<u64>, Slot)>,
    /// Place of each mask from a pc on.
    pub places: Vec<(Slot, u64, Place)>,
    /// Writes to EXEC by index of the instruction.
    pub writes: Vec<(usize, Write)>,
}

impl Code {
    pub fn bytes(&self) -> u64 {
        self.instructions.len() as u64 * BYTES
    }

    /// Places of a mask by pc.
    pub fn places_of(&self, slot: Slot) -> Vec<(Range<u64>, Place)> {
        let mine: Vec<_> = self.places.iter().filter(|(of, ..)| *of == slot).collect();
        let ends = mine.iter().skip(1).map(|(_, from, _)| *from).chain([self.bytes()]);
        mine.iter().zip(ends).map(|((_, from, place), end)| (*from..end, *place)).collect()
    }
}

struct Compiler {
    random: Random,
    code: Code,
    path: Vec<Step>,
    /// Saved masks, innermost last. Leaving lanes stay in the masks outside of their target.
    saved: Vec<(Slot, Option<Leave>)>,
    /// Current place of each mask.
    now: Vec<Place>,
    open: Vec<usize>,
    scope: Id,
    /// Number of words per mask.
    words: u16,
    /// Whether each place is in use, for both kinds.
    taken: [[bool; PLACES]; 2],
}

pub fn compile(program: &Program, lanes: u32) -> Code {
    let code = Code {
        instructions: Vec::new(),
        labels: vec![Labels::default(); program.ids],
        regions: Vec::new(),
        inlined: Vec::new(),
        whole_waves: Vec::new(),
        places: Vec::new(),
        writes: Vec::new(),
    };
    let mut compiler = Compiler {
        random: Random(!program.seed),
        code,
        path: vec![Step::Construct(FUNCTION)],
        saved: Vec::new(),
        now: Vec::new(),
        open: Vec::new(),
        scope: FUNCTION,
        words: (lanes / 32) as u16,
        taken: Default::default(),
    };
    let returns = compiler.returns(program.has_return, FUNCTION);
    compiler.block(&program.body);
    compiler.end_returns(returns);
    compiler.code.labels[FUNCTION].end = compiler.pc();
    compiler.emit(Op::End);
    compiler.code
}

impl Compiler {
    fn pc(&self) -> u64 {
        self.code.bytes()
    }

    fn emit(&mut self, op: Op) {
        self.code.instructions.push(Instruction {
            op,
            path: self.path.clone(),
            active: None,
            ends: Vec::new(),
        });
    }

    fn writes(&mut self, write: Write) {
        // At the next instruction.
        self.code.writes.push((self.code.instructions.len(), write));
    }

    fn all(&self) -> Words {
        Words { first: 0, count: self.words }
    }

    /// Saves EXEC.
    fn save(&mut self, leave: Option<Leave>, of_loop: Option<Id>) -> Slot {
        let slot = self.now.len();
        // Two registers per mask, for both wave sizes.
        let place = Place::Scalar(HOME + 2 * self.saved.len() as u16);
        self.saved.push((slot, leave));
        self.now.push(place);
        self.writes(Write::Save(slot));
        self.emit(Op::Save(place, of_loop));
        self.code.places.push((slot, self.pc(), place));
        slot
    }

    fn restore(&mut self, slot: Slot) {
        self.writes(Write::Restore(slot));
        self.emit(Op::Restore(self.now[slot]));
    }

    fn and(&mut self, slot: Slot) {
        self.writes(Write::And(slot));
        self.emit(Op::And(self.now[slot]));
    }

    fn open(&mut self, kind: RegionKind, slot: Slot) -> usize {
        let region = Region {
            scope: self.scope,
            kind,
            pcs: self.pc()..0,
            waits_at: 0,
            slot,
            parent: self.open.last().copied(),
        };
        self.code.regions.push(region);
        self.open.push(self.code.regions.len() - 1);
        self.code.regions.len() - 1
    }

    fn close(&mut self, region: usize, waits_at: u64) {
        assert_eq!(self.open.pop(), Some(region));
        self.code.regions[region].pcs.end = self.pc();
        self.code.regions[region].waits_at = waits_at;
    }

    fn within(&mut self, step: Step, then: impl FnOnce(&mut Self)) {
        self.path.push(step);
        then(self);
        self.path.pop();
    }

    /// A branch over code, whose target is not known yet.
    fn skip(&mut self) -> Option<usize> {
        let wants = self.random.below(3) == 0;
        wants.then(|| {
            self.emit(Op::SkipIfNone(0));
            self.code.instructions.len() - 1
        })
    }

    fn skip_to_here(&mut self, skip: Option<usize>) {
        if let Some(at) = skip {
            self.code.instructions[at].op = Op::SkipIfNone(self.code.instructions.len());
        }
    }

    /// Removes lanes from a mask.
    fn take_out(&mut self, slot: Slot, is_vcc: bool) {
        let from = self.now[slot];
        match from {
            Place::Scalar(_) => self.emit(Op::TakeOut { from, words: self.all(), is_vcc }),
            // One word at a time.
            Place::Lanes(_) => {
                for first in 0..self.words {
                    self.emit(Op::TakeOut { from, words: Words { first, count: 1 }, is_vcc });
                }
            }
        }
    }

    /// Returning lanes are removed only from the masks within the function or inlined call.
    fn returns(&mut self, has_return: bool, id: Id) -> Option<(Slot, usize)> {
        has_return.then(|| {
            let slot = self.save(Some(Leave::Return(id)), None);
            (slot, self.open(RegionKind::EarlyReturn, slot))
        })
    }

    fn end_returns(&mut self, returns: Option<(Slot, usize)>) {
        if let Some((slot, region)) = returns {
            self.restore(slot);
            let epilogue = self.pc();
            self.close(region, epilogue);
            self.saved.pop();
        }
    }

    fn block(&mut self, block: &Block) {
        let mut moved = Vec::new();
        for statement in block {
            if self.random.below(4) == 0 {
                moved.extend(self.move_away());
            }
            self.statement(statement);
            if self.random.below(3) == 0
                && let Some(back) = moved.pop()
            {
                self.move_back(back);
            }
        }
        while let Some(back) = moved.pop() {
            self.move_back(back);
        }
    }

    /// Moves a mask to another register, or to lanes of a vector register.
    fn move_away(&mut self) -> Option<(Slot, Place, usize, usize)> {
        let which = self.random.below(self.saved.len().max(1) as u64) as usize;
        let (slot, _) = *self.saved.get(which)?;
        let home = self.now[slot];
        // The mask is moved already.
        if home != Place::Scalar(HOME + 2 * which as u16) {
            return None;
        }
        let kind = self.random.below(2) as usize;
        let index = self.taken[kind].iter().position(|taken| !taken)?;
        self.taken[kind][index] = true;
        let away = match kind {
            0 => Place::Scalar(AWAY + 2 * index as u16),
            _ => Place::Lanes(2 * index as u32),
        };
        self.copy(slot, home, away);
        Some((slot, home, kind, index))
    }

    fn move_back(&mut self, (slot, home, kind, index): (Slot, Place, usize, usize)) {
        self.copy(slot, self.now[slot], home);
        self.taken[kind][index] = false;
    }

    fn copy(&mut self, slot: Slot, from: Place, to: Place) {
        match (from, to) {
            (Place::Scalar(_), Place::Scalar(_)) => self.emit(Op::Copy { from, to, words: self.all() }),
            _ => {
                for first in 0..self.words {
                    self.emit(Op::Copy { from, to, words: Words { first, count: 1 } });
                }
            }
        }
        self.now[slot] = to;
        self.code.places.push((slot, self.pc(), to));
        self.emit(Op::Overwrite(from));
    }

    fn statement(&mut self, statement: &Statement) {
        match statement {
            Statement::Work(id) => self.emit(Op::Work(*id)),
            Statement::Leave { id, to } => {
                self.emit(Op::Compare(*id, 3));
                let out: Vec<Slot> = self
                    .saved
                    .iter()
                    .rev()
                    .take_while(|(_, leave)| leave != &Some(*to))
                    .map(|(slot, _)| *slot)
                    .collect();
                let stay = self.saved[self.saved.len() - out.len() - 1].0;
                out.into_iter().for_each(|slot| self.take_out(slot, true));
                self.writes(Write::Leave(stay));
                self.emit(Op::Leave);
            }
            Statement::WholeWave { id } => {
                self.emit(Op::Work(*id));
                let slot = self.save(None, None);
                self.emit(Op::All);
                let start = self.pc();
                let first = self.code.instructions.len();
                for _ in 0..1 + *id % 2 {
                    self.emit(Op::Nothing);
                }
                self.emit(Op::Restore(self.now[slot]));
                self.code.instructions[first..].iter_mut().for_each(|one| one.active = Some(slot));
                self.code.whole_waves.push((start..self.pc(), slot));
                self.saved.pop();
                // Not a mask of waiting lanes.
                self.code.writes.retain(|(_, write)| *write != Write::Save(slot));
            }
            Statement::If { id, then, other } => {
                self.within(Step::Construct(*id), |code| code.condition(*id, then, other.as_ref()));
                self.end(*id);
                self.code.labels[*id].end = self.pc();
            }
            Statement::Switch { id, cases } => {
                self.within(Step::Construct(*id), |code| code.switch(*id, cases));
                self.end(*id);
                self.code.labels[*id].end = self.pc();
            }
            Statement::Loop { id, body, has_continue } => {
                self.within(Step::Construct(*id), |code| code.a_loop(*id, body, *has_continue));
                self.end(*id);
                self.code.labels[*id].end = self.pc();
            }
            Statement::Inlined { id, body, has_return } => {
                let start = self.pc();
                let place = self.code.inlined.len();
                self.code.inlined.push(Inlined { id: *id, around: self.scope, pcs: start..0 });
                let around = std::mem::replace(&mut self.scope, *id);
                self.within(Step::Construct(*id), |code| {
                    code.emit(Op::Work(*id));
                    let returns = code.returns(*has_return, *id);
                    code.block(body);
                    code.end_returns(returns);
                    code.code.labels[*id].end = code.pc();
                });
                self.end(*id);
                self.scope = around;
                self.code.inlined[place].pcs.end = self.pc();
            }
        }
    }

    /// Ends a construct after the last instruction.
    fn end(&mut self, id: Id) {
        self.code.instructions.last_mut().expect("it has one").ends.push(id);
    }

    fn condition(&mut self, id: Id, then: &Block, other: Option<&Block>) {
        self.emit(Op::Compare(id, 2));
        // The `if` begins where the mask is narrowed.
        let start = self.pc();
        self.code.labels[id].start = start;
        let slot = self.save(None, None);
        let region = self.open(RegionKind::Then, slot);
        self.and(slot);
        self.within(Step::Side(id, 0), |code| {
            let skip = code.skip();
            code.block(then);
            code.skip_to_here(skip);
            match other {
                Some(_) => {
                    code.writes(Write::Else(slot));
                    code.emit(Op::AndNot(code.now[slot]));
                }
                None => code.restore(slot),
            }
        });
        self.close(region, start);
        if let Some(other) = other {
            let region = self.open(RegionKind::Else, slot);
            self.within(Step::Side(id, 1), |code| {
                let skip = code.skip();
                code.block(other);
                code.skip_to_here(skip);
                code.restore(slot);
            });
            let end = self.pc();
            self.close(region, end);
        }
        self.saved.pop();
    }

    fn switch(&mut self, id: Id, cases: &[Block]) {
        self.emit(Op::Cases(id, cases.len()));
        let all = self.save(None, None);
        let whole = self.open(RegionKind::Switch, all);
        let start = self.pc();
        self.code.labels[id].start = start;
        let to_come = self.save(None, None);
        let region = self.open(RegionKind::Cases, to_come);
        for (case, block) in cases.iter().enumerate() {
            self.emit(Op::Case(id, case));
            self.and(to_come);
            self.within(Step::Side(id, case), |code| {
                let skip = code.skip();
                code.block(block);
                code.skip_to_here(skip);
                code.writes(Write::Leave(all));
                code.take_out(to_come, false);
                if case + 1 < cases.len() {
                    code.emit(Op::Restore(code.now[to_come]))
                } else {
                    code.restore(all)
                }
            });
        }
        self.close(region, start);
        let end = self.pc();
        self.close(whole, end);
        self.saved.truncate(self.saved.len() - 2);
    }

    fn a_loop(&mut self, id: Id, body: &Block, has_continue: bool) {
        let slot = self.save(Some(Leave::Break(id)), Some(id));
        let region = self.open(RegionKind::Loop, slot);
        let head = self.code.instructions.len();
        self.within(Step::Body(id, 0), |code| {
            let next = has_continue.then(|| {
                let slot = code.save(Some(Leave::Continue(id)), None);
                (slot, code.open(RegionKind::Other, slot))
            });
            code.block(body);
            if let Some((slot, region)) = next {
                code.restore(slot);
                let latch = code.pc();
                code.code.labels[id].latch = latch;
                code.close(region, latch);
                code.saved.pop();
            }
        });
        self.within(Step::Latch(id, 0), |code| {
            code.emit(Op::Exits(id));
            code.writes(Write::Leave(slot));
            code.emit(Op::Leave);
            code.emit(Op::LoopIfAny(head, id));
        });
        self.restore(slot);
        let end = self.pc();
        self.close(region, end);
        self.saved.pop();
    }
}
