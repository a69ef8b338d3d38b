//! Code before register allocation: blocks of the wave's graph with parameters, instructions on virtual registers.
//!
//! The graph is the wave's, not the lane's: then-part, else-part, one after the other. A virtual register of class
//! `Vector` is a whole row. An instruction in divergent code writes some lanes of it; where the others are needed
//! behind, the row before is an operand that is tied to the result.

use std::collections::HashMap;

use naga::{Function, Handle};
use regalloc2::{RegClass, VReg};

use crate::isa::{Op, Reg};

pub type BlockId = usize;

/// An operand.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Src {
    V(VReg),
    /// A constant, or a register that the allocator does not know.
    Fixed(Reg),
}

/// Component of a variable: its slot in [`Code::slots`].
pub type Slot = u32;

/// The value that a statement of the source gives to a component of a variable.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Given {
    /// Last value of the definition of this virtual register.
    Defined(VReg),
    Const(u32),
    /// Value of another variable.
    Of(Slot),
    Nothing,
}

/// Effect of an instruction on EXEC; the number is that of a mask in [`Code::masks`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Exec {
    /// The mask becomes empty: nobody waits yet.
    Begin(usize),
    /// Active lanes begin to wait for the end of the mask.
    Leave(usize),
    /// Lanes of the mask run again.
    End(usize),
    /// The other side of an `if`.
    Else(usize),
}

/// Returns the virtual register that names the memory contents of a component; the allocator does not have it.
pub fn contents(slot: Slot) -> VReg {
    VReg::new(VReg::MAX - slot as usize, RegClass::Float)
}

#[derive(Debug, Clone, PartialEq)]
pub enum Kind {
    /// One instruction of the machine.
    Plain(Op),
    /// The first store to a dword of a variable at home in scratch memory. The memory is the component from then on,
    /// whatever is stored later.
    FirstStore(Slot),
    /// A load, and the wait for it.
    Load(Op),
    /// A comparison of scalars, and its result as a number.
    Compare(Op),
    /// A choice between scalars: by the third operand.
    Choose,
    /// A copy to all lanes, masked by EXEC.
    Move,
    Exec(Exec),
    /// Values that registers have on entry.
    Entry(Vec<(VReg, Reg)>),
    /// An operation over the active lanes, with its neutral element: run by the whole wave.
    Collective(Op, u32, How),
    /// A call, and the values that it returns: those of the first vector registers.
    Call(Handle<Function>, Vec<VReg>),
    /// The end of a function that is called.
    Return,
    /// All memory operations are done, in all waves of the group.
    Barrier,
    /// Variables at home in local memory have their first values. No code.
    LocalZeroed,
    /// The source gives a component of a variable a value. No code.
    Assign(Slot, Given),
    /// A statement of the source begins. No code.
    Statement(u64),
}

/// Result of an operation over lanes, for each lane.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum How {
    All,
    /// Lanes up to its own; before its own.
    UpTo,
    Before,
}

impl From<naga::CollectiveOperation> for How {
    fn from(of: naga::CollectiveOperation) -> Self {
        match of {
            naga::CollectiveOperation::Reduce => Self::All,
            naga::CollectiveOperation::InclusiveScan => Self::UpTo,
            naga::CollectiveOperation::ExclusiveScan => Self::Before,
        }
    }
}

/// An instruction.
#[derive(Debug, Clone)]
pub struct Inst {
    pub kind: Kind,
    pub dst: Option<VReg>,
    pub src: Vec<Src>,
    /// The row that keeps lanes which are not active.
    pub tied: Option<VReg>,
    /// Offset in bytes.
    pub offset: i32,
    /// Whether some lanes may wait while the instruction runs.
    pub partial: bool,
    pub at: At,
}

/// Place in the source: offset in bytes, and lexical scope.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct At {
    pub offset: u32,
    pub scope: u32,
}

/// The end of a block.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Term {
    Open,
    Jump,
    /// Lanes have left: the wave goes on with none.
    Empty,
    /// Jump to the first successor if the scalar is not 0.
    If(Src),
    /// Lanes in which the condition holds run the first successor; the others wait in the mask. The second one is for
    /// a wave without such lanes.
    Split(Src, usize),
    /// Jump to the second successor if no lane is active.
    SkipIfEmpty,
    /// Jump to the first successor if a lane is active.
    Again,
    End,
}

#[derive(Debug, Clone, Default)]
pub struct Block {
    pub insts: Vec<Inst>,
    pub term: Option<Term>,
    pub succs: Vec<(BlockId, Vec<VReg>)>,
    pub params: Vec<VReg>,
    pub preds: Vec<BlockId>,
    /// Whether lanes may wait at the end.
    pub partial: bool,
    pub at: At,
}

/// A component of a variable.
#[derive(Debug, Clone, Copy)]
pub struct SlotData {
    pub class: RegClass,
}

/// A function of the machine.
#[derive(Debug, Default)]
pub struct Code {
    pub blocks: Vec<Block>,
    /// Blocks in the order of their code.
    pub order: Vec<BlockId>,
    pub classes: Vec<RegClass>,
    pub slots: Vec<SlotData>,
    /// Depth of each mask: the number of its register.
    pub masks: Vec<u32>,
    /// The row of each variable at the end of a block.
    current: HashMap<(Slot, BlockId), VReg>,
    /// Whether all predecessors of a block are known.
    sealed: Vec<bool>,
    /// Parameters, in the order in which they were made; their arguments are found at the end.
    params: Vec<(Slot, BlockId, VReg)>,
    is_param: Vec<bool>,
}

impl Code {
    pub fn vreg(&mut self, class: RegClass) -> VReg {
        self.classes.push(class);
        VReg::new(self.classes.len() - 1, class)
    }

    pub fn slot(&mut self, class: RegClass) -> Slot {
        self.slots.push(SlotData { class });
        self.slots.len() as u32 - 1
    }

    pub fn block(&mut self) -> BlockId {
        self.blocks.push(Block::default());
        self.sealed.push(false);
        self.blocks.len() - 1
    }

    pub fn edge(&mut self, from: BlockId, to: BlockId) {
        self.blocks[from].succs.push((to, Vec::new()));
        self.blocks[to].preds.push(from);
    }

    /// Sets the variable's row from here on.
    pub fn write(&mut self, slot: Slot, block: BlockId, value: VReg) {
        self.current.insert((slot, block), value);
    }

    /// Returns the variable's row: a parameter of the block where paths meet (Braun et al., 2013).
    pub fn read(&mut self, slot: Slot, block: BlockId) -> VReg {
        // A chain of single predecessors is walked, not recursed into.
        let mut at = block;
        let mut chain = Vec::new();
        let value = loop {
            if let Some(&value) = self.current.get(&(slot, at)) {
                break value;
            }
            chain.push(at);
            match (&self.blocks[at].preds[..], self.sealed[at]) {
                (&[pred], true) => at = pred,
                (preds, sealed) => {
                    assert!(!preds.is_empty() || !sealed, "slot {slot} is written on every path");
                    let value = self.vreg(self.slots[slot as usize].class);
                    self.params.push((slot, at, value));
                    self.is_param.resize(self.classes.len(), false);
                    self.is_param[value.vreg()] = true;
                    break value;
                }
            }
        };
        for block in chain {
            self.current.insert((slot, block), value);
        }
        value
    }

    /// Whether a register is a parameter of a block.
    pub fn is_param(&self, vreg: VReg) -> bool {
        self.is_param.get(vreg.vreg()).copied().unwrap_or(false)
    }

    /// Declares that all predecessors of a block are known.
    pub fn seal(&mut self, block: BlockId) {
        self.sealed[block] = true;
    }

    /// Finds the arguments of all parameters, and removes parameters that are one value, and what nobody uses.
    pub fn finish(&mut self) {
        self.sealed.fill(true);
        let mut arguments: Vec<Vec<VReg>> = Vec::new();
        // Arguments may be parameters that are made here.
        while let Some(&(slot, block, _)) = self.params.get(arguments.len()) {
            let preds = self.blocks[block].preds.clone();
            arguments.push(preds.into_iter().map(|pred| self.read(slot, pred)).collect());
        }
        let same = self.one_value(&arguments);
        let find = |vreg: VReg| same[vreg.vreg()];
        for block in &mut self.blocks {
            for inst in &mut block.insts {
                inst.tied = inst.tied.map(find);
                for src in &mut inst.src {
                    if let Src::V(vreg) = src {
                        *vreg = find(*vreg);
                    }
                }
                // The debug information describes a parameter as the variable.
            }
            if let Some(Term::If(Src::V(vreg)) | Term::Split(Src::V(vreg), _)) = &mut block.term {
                *vreg = find(*vreg);
            }
        }
        let used = self.used(&arguments, &same);
        for block in &mut self.blocks {
            block.insts.retain(|inst| inst.has_effect() || inst.defines().any(|vreg| used[vreg.vreg()]));
        }
        for ((_, block, value), arguments) in std::mem::take(&mut self.params).into_iter().zip(arguments) {
            if find(value) != value || !used[value.vreg()] {
                continue;
            }
            self.blocks[block].params.push(value);
            let preds = self.blocks[block].preds.clone();
            for (pred, argument) in preds.into_iter().zip(arguments) {
                let edge = self.blocks[pred].succs.iter_mut().find(|(to, _)| *to == block);
                edge.expect("a predecessor leads here").1.push(find(argument));
            }
        }
    }

    /// Equal register of each register: a parameter whose arguments are one value is this value.
    fn one_value(&self, arguments: &[Vec<VReg>]) -> Vec<VReg> {
        let mut same: Vec<VReg> =
            self.classes.iter().enumerate().map(|(n, &class)| VReg::new(n, class)).collect();
        fn find(same: &mut [VReg], mut vreg: VReg) -> VReg {
            while same[vreg.vreg()] != vreg {
                same[vreg.vreg()] = same[same[vreg.vreg()].vreg()];
                vreg = same[vreg.vreg()];
            }
            vreg
        }
        let mut changed = true;
        while changed {
            changed = false;
            for (&(_, _, value), arguments) in self.params.iter().zip(arguments) {
                if same[value.vreg()] != value {
                    continue;
                }
                let mut others: Vec<VReg> = arguments.iter().map(|&vreg| find(&mut same, vreg)).collect();
                others.retain(|&vreg| vreg != value);
                others.dedup();
                if let [one] = others[..] {
                    same[value.vreg()] = one;
                    changed = true;
                }
            }
        }
        for n in 0..same.len() {
            let vreg = same[n];
            same[n] = find(&mut same, vreg);
        }
        same
    }

    /// The registers that something with an effect needs.
    fn used(&self, arguments: &[Vec<VReg>], same: &[VReg]) -> Vec<bool> {
        let mut needs: Vec<Vec<VReg>> = vec![Vec::new(); self.classes.len()];
        let mut todo: Vec<VReg> = Vec::new();
        for block in &self.blocks {
            for inst in &block.insts {
                if inst.has_effect() {
                    todo.extend(inst.uses());
                }
                inst.defines().for_each(|vreg| needs[vreg.vreg()].extend(inst.uses()));
            }
            if let Some(Term::If(Src::V(vreg)) | Term::Split(Src::V(vreg), _)) = block.term {
                todo.push(vreg);
            }
        }
        for (&(_, _, value), arguments) in self.params.iter().zip(arguments) {
            if same[value.vreg()] == value {
                needs[value.vreg()].extend(arguments.iter().map(|&vreg| same[vreg.vreg()]));
            }
        }
        let mut used = vec![false; self.classes.len()];
        while let Some(vreg) = todo.pop() {
            if !std::mem::replace(&mut used[vreg.vreg()], true) {
                todo.append(&mut needs[vreg.vreg()]);
            }
        }
        used
    }
}

impl Inst {
    /// Whether it does more than to define its result.
    pub fn has_effect(&self) -> bool {
        match self.kind {
            Kind::Plain(op) => {
                let (name, ..) = op.row();
                self.dst.is_none()
                    || name.starts_with("ds_") && !name.starts_with("ds_load")
                    || op.is_atomic()
            }
            Kind::Load(op) => op.is_atomic() || self.dst.is_none() || !op.row().0.contains("load"),
            Kind::Compare(_) | Kind::Choose | Kind::Move | Kind::Collective(..) => false,
            _ => true,
        }
    }

    pub fn uses(&self) -> impl Iterator<Item = VReg> + '_ {
        let all = self.src.iter().filter_map(|src| match src {
            Src::V(vreg) => Some(*vreg),
            Src::Fixed(_) => None,
        });
        all.chain(self.tied)
    }

    pub fn defines(&self) -> impl Iterator<Item = VReg> + '_ {
        let entry: &[(VReg, Reg)] = if let Kind::Entry(values) = &self.kind { values } else { &[] };
        let results: &[VReg] = if let Kind::Call(_, results) = &self.kind { results } else { &[] };
        self.dst.into_iter().chain(entry.iter().map(|(vreg, _)| *vreg)).chain(results.iter().copied())
    }
}
