//! A simulated wave: a kernel and three functions that call each other, which save and restore registers. At every pc,
//! including prologues and epilogues, the registers of each caller are found exactly as they were at the call.

use std::collections::BTreeMap;

use eitri::eval::{
    CallStack, Class, Element, Evaluator, Location, Machine, MachineMut, Storage, Unavailable, read_bits,
    write_bits,
};
use eitri::op::{Dialect, Reg};
use eitri::read::Frames;
use eitri::target::{SpaceId, Target};
use pretty_assertions::assert_eq;

use crate::unwind::cfi::{Program, Section, encoding, ops_of};

/// Operations of the machine. Scalar registers are given by number; vector registers change in the active lanes.
#[derive(Debug, Clone, Copy)]
pub enum Op {
    /// Copies a scalar register.
    Copy {
        to: usize,
        from: usize,
    },
    /// Sets a scalar register to a unique value.
    Set {
        to: usize,
    },
    Add {
        to: usize,
        bytes: i32,
    },
    /// Copies the mask to one or two registers, and activates all lanes.
    SaveExecAll {
        to: usize,
    },
    /// Copies the mask, and deactivates every third active lane.
    SaveExecThird {
        to: usize,
    },
    RestoreExec {
        from: usize,
    },
    WriteLane {
        v: usize,
        lane: usize,
        from: usize,
    },
    ReadLane {
        to: usize,
        v: usize,
        lane: usize,
    },
    /// Stores a vector register in one row of scratch memory, or loads it.
    Store {
        v: usize,
        base: usize,
        at: i32,
    },
    Load {
        v: usize,
        base: usize,
        at: i32,
    },
    /// Sets a vector register to unique values.
    SetVector {
        v: usize,
    },
    /// Calls a function with the return address in s30 and s31.
    Call {
        function: usize,
    },
    Return,
}

/// Instructions, each with the rules that change after it.
pub type Listing = Vec<(Op, Program)>;

const BYTES: u64 = 4;

pub fn address(function: usize) -> u64 {
    0x1000 * (function as u64 + 1)
}

#[derive(Debug, Clone, PartialEq)]
pub struct Wave {
    pub lanes: usize,
    scalars: Vec<u32>,
    vectors: Vec<Vec<u32>>,
    pub exec: u64,
    pub pc: u64,
    scratch: Vec<u8>,
    /// Source of unique values.
    fresh: u32,
}

impl Wave {
    fn new(lanes: usize) -> Self {
        let mut wave = Self {
            lanes,
            scalars: Vec::new(),
            vectors: Vec::new(),
            // Some active lanes at both ends and in between.
            exec: 0xf7ff_5a5a_c3c3_9fb7 & u64::MAX >> (64 - lanes),
            pc: address(0),
            scratch: vec![0xee; 0x4000],
            fresh: 1,
        };
        wave.scalars = (0..102).map(|_| wave.fresh()).collect();
        wave.vectors = (0..64).map(|_| (0..lanes).map(|_| wave.fresh()).collect()).collect();
        // The stack begins after the kernel's data.
        wave.scalars[32] = 0x100;
        wave
    }

    fn fresh(&mut self) -> u32 {
        self.fresh = self.fresh.wrapping_add(1);
        self.fresh.wrapping_mul(0x9e37_79b1)
    }

    fn active(&self) -> impl Iterator<Item = usize> + use<> {
        let exec = self.exec;
        (0..self.lanes).filter(move |lane| exec >> lane & 1 == 1)
    }

    fn set_pair(&mut self, to: usize, value: u64) {
        self.scalars[to] = value as u32;
        if self.lanes == 64 {
            self.scalars[to + 1] = (value >> 32) as u32;
        }
    }

    fn row(&self, base: usize, at: i32, lane: usize) -> usize {
        (self.scalars[base] as i32 + at) as usize + lane * 4
    }

    fn step(&mut self, op: Op) {
        self.pc += BYTES;
        match op {
            Op::Copy { to, from } => self.scalars[to] = self.scalars[from],
            Op::Set { to } => self.scalars[to] = self.fresh(),
            Op::Add { to, bytes } => self.scalars[to] = self.scalars[to].wrapping_add_signed(bytes),
            Op::SaveExecAll { to } => {
                self.set_pair(to, self.exec);
                self.exec = u64::MAX >> (64 - self.lanes);
            }
            Op::SaveExecThird { to } => {
                self.set_pair(to, self.exec);
                self.exec = self
                    .active()
                    .enumerate()
                    .filter(|(nth, _)| nth % 3 != 1)
                    .fold(0, |all, (_, lane)| all | 1 << lane);
            }
            Op::RestoreExec { from } => {
                let high = if self.lanes == 64 { u64::from(self.scalars[from + 1]) << 32 } else { 0 };
                self.exec = u64::from(self.scalars[from]) | high;
            }
            Op::WriteLane { v, lane, from } => self.vectors[v][lane] = self.scalars[from],
            Op::ReadLane { to, v, lane } => self.scalars[to] = self.vectors[v][lane],
            Op::Store { v, base, at } => {
                for lane in self.active() {
                    let row = self.row(base, at, lane);
                    self.scratch[row..row + 4].copy_from_slice(&self.vectors[v][lane].to_le_bytes());
                }
            }
            Op::Load { v, base, at } => {
                for lane in self.active() {
                    let row = self.row(base, at, lane);
                    self.vectors[v][lane] =
                        u32::from_le_bytes(self.scratch[row..row + 4].try_into().unwrap());
                }
            }
            Op::SetVector { v } => {
                for lane in self.active() {
                    self.vectors[v][lane] = self.fresh();
                }
            }
            Op::Call { function } => {
                (self.scalars[30], self.scalars[31]) = (self.pc as u32, (self.pc >> 32) as u32);
                self.pc = address(function);
            }
            Op::Return => self.pc = u64::from(self.scalars[30]) | u64::from(self.scalars[31]) << 32,
        }
    }

    fn v0(&self) -> u64 {
        if self.lanes == 64 { 2560 } else { 1536 }
    }

    fn exec_reg(&self) -> u64 {
        if self.lanes == 64 { 17 } else { 1 }
    }

    /// Bytes of a register.
    fn bytes(&self, reg: Reg) -> Option<Vec<u8>> {
        let dwords = |dwords: &[u32]| dwords.iter().flat_map(|dword| dword.to_le_bytes()).collect();
        Some(match reg.0 {
            16 => self.pc.to_le_bytes().to_vec(),
            exec if exec == self.exec_reg() => self.exec.to_le_bytes()[..self.lanes / 8].to_vec(),
            s @ 32..96 => dwords(&self.scalars[s as usize - 32..][..1]),
            s @ 1088..1126 => dwords(&self.scalars[s as usize - 1024..][..1]),
            v => dwords(self.vectors.get(v.checked_sub(self.v0())? as usize)?),
        })
    }

    fn set_bytes(&mut self, reg: Reg, at: usize, bytes: &[u8]) -> Option<()> {
        let mut all = self.bytes(reg)?;
        all.get_mut(at..at + bytes.len())?.copy_from_slice(bytes);
        let dwords: Vec<u32> =
            all.chunks(4).map(|dword| u32::from_le_bytes(dword.try_into().unwrap())).collect();
        let v0 = self.v0();
        match reg.0 {
            16 | 1 | 17 => return None,
            s @ 32..96 => self.scalars[s as usize - 32] = dwords[0],
            s @ 1088..1126 => self.scalars[s as usize - 1024] = dwords[0],
            v => self.vectors[(v - v0) as usize] = dwords,
        }
        Some(())
    }
}

impl Machine for Wave {
    fn register(&self, reg: Reg, frame: u32, at: u32, into: &mut [u8]) -> Result<(), Unavailable> {
        assert_eq!(frame, 0, "registers of other frames are not the machine's");
        let bytes = self.bytes(reg).ok_or(Unavailable)?;
        into.copy_from_slice(bytes.get(at as usize..at as usize + into.len()).ok_or(Unavailable)?);
        Ok(())
    }

    fn memory(
        &self,
        space: SpaceId,
        _: Option<u32>,
        address: u64,
        into: &mut [u8],
    ) -> Result<(), Unavailable> {
        let bytes = self.scratch.get(address as usize..).filter(|_| space == SpaceId::PRIVATE_WAVE);
        into.copy_from_slice(bytes.and_then(|bytes| bytes.get(..into.len())).ok_or(Unavailable)?);
        Ok(())
    }

    fn lanes(&self) -> u64 {
        self.lanes as u64
    }

    fn pc(&self, frame: u32) -> Option<u64> {
        (frame == 0).then_some(self.pc)
    }
}

impl MachineMut for Wave {
    fn set_register(&mut self, reg: Reg, _: u32, at: u32, bytes: &[u8]) -> Result<(), Unavailable> {
        self.set_bytes(reg, at as usize, bytes).ok_or(Unavailable)
    }

    fn set_memory(
        &mut self,
        space: SpaceId,
        _: Option<u32>,
        address: u64,
        bytes: &[u8],
    ) -> Result<(), Unavailable> {
        let old = self.scratch.get_mut(address as usize..).filter(|_| space == SpaceId::PRIVATE_WAVE);
        old.and_then(|old| old.get_mut(..bytes.len())).ok_or(Unavailable)?.copy_from_slice(bytes);
        Ok(())
    }
}

/// The functions, with their instructions and rules.
pub struct Code {
    pub target: Target,
    pub lanes: usize,
    pub dialect: Dialect,
    /// A kernel, a function with a frame pointer, one without, and a leaf function.
    pub functions: Vec<Listing>,
}

/// DWARF numbers.
const SP: u64 = 64;
const FP: u64 = 65;
const PRIVATE_WAVE: u64 = 6;

const fn s(n: u64) -> u64 {
    32 + n
}

/// Lanes of v40 in which scalar registers are saved.
const LANES: [(usize, usize); 6] = [(30, 0), (31, 1), (34, 3), (38, 4), (39, 5), (33, 31)];

fn lane_of(register: usize) -> usize {
    LANES.iter().find(|(saved, _)| *saved == register).expect("it is saved").1
}

impl Code {
    pub fn new(lanes: usize, dialect: Dialect) -> Self {
        let name = if lanes == 64 { "amdgpu-gfx900-wave64" } else { "amdgpu-gfx1030-wave32" };
        let target = Target::named(name).expect("a target");
        let mut code = Self { target, lanes, dialect, functions: Vec::new() };
        code.functions =
            vec![code.kernel(), code.with_frame_pointer(), code.without_frame_pointer(), code.leaf()];
        code
    }

    /// Size in bytes of a row of scratch memory.
    fn row(&self) -> i32 {
        self.lanes as i32 * 4
    }

    fn v(&self, n: u64) -> u64 {
        n + if self.lanes == 64 { 2560 } else { 1536 }
    }

    fn exec(&self) -> u64 {
        if self.lanes == 64 { 17 } else { 1 }
    }

    pub fn ops(&self, text: &str) -> Vec<u8> {
        ops_of(&self.target, self.dialect, text)
    }

    /// The rule of v33, whose active lanes are in the second row at the CFA and the others in the register: bytes as
    /// written by AMD's compiler.
    fn v33_saved(&self) -> Program {
        let bytes: &[u8] = match (self.lanes, self.dialect) {
            (64, Dialect::Llvm) => {
                b"\x10\xa1\x14\x11\x90\xa1\x14\x16\xe9\x05\x80\x02\xe9\x07\x11\x94\x08\xe9\x0c\x20\x40"
            }
            (64, _) => b"\x10\xa1\x14\x0e\x90\xa1\x14\x16\xe4\x80\x02\xe6\x11\x94\x08\xec\x20\x40",
            (_, Dialect::Legacy) => {
                b"\x10\xa1\x0c\x0e\x90\xa1\x0c\x16\xe4\x80\x01\xe6\x01\x94\x04\xec\x20\x20"
            }
            _ => b"\x10\xa1\x0c\x11\x90\xa1\x0c\x16\xe9\x05\x80\x01\xe9\x07\x01\x94\x04\xe9\x0c\x20\x20",
        };
        Program::new().raw(bytes)
    }

    /// The rule of a scalar register saved in a lane of v40.
    fn in_lane(&self, register: usize) -> Program {
        let expr = format!("regx v40; offset_uconst {}", lane_of(register) * 4);
        Program::new().at(s(register as u64), &self.ops(&expr))
    }

    /// The rule of the mask on entry, in s38, and in s39 for 64 lanes.
    fn exec_saved(&self) -> Program {
        match self.lanes {
            64 => Program::new().at(17, &self.ops("regx s38; piece 4; regx s39; piece 4")),
            _ => Program::new().register(1, s(38)),
        }
    }

    /// Saves a scalar register. The last part of the return address also changes the rule of the pc.
    fn write_lane(&self, register: usize) -> (Op, Program) {
        let pc = if register == 31 { self.return_address_in_lanes() } else { Program::new() };
        (Op::WriteLane { v: 40, lane: lane_of(register), from: register }, self.in_lane(register).then(pc))
    }

    fn read_lane(&self, register: usize) -> (Op, Program) {
        let pc = if register == 30 { self.return_address() } else { Program::new() };
        let back = Program::new().same_value(s(register as u64));
        (Op::ReadLane { to: register, v: 40, lane: lane_of(register) }, back.then(pc))
    }

    /// The call overwrites s30 and s31, which are saved in lanes by then, and the function may overwrite v1.
    fn call(&self, function: usize) -> (Op, Program) {
        (Op::Call { function }, Program::new().undefined(self.v(1)))
    }

    /// The kernel, without a caller: its rules are those of its CIE.
    fn kernel(&self) -> Listing {
        [
            Op::Set { to: 34 },
            Op::SetVector { v: 33 },
            Op::SaveExecThird { to: 38 },
            Op::Call { function: 1 },
            Op::SetVector { v: 33 },
            Op::Set { to: 34 },
            Op::Call { function: 3 },
            Op::RestoreExec { from: 38 },
        ]
        .map(|op| (op, Program::new()))
        .into()
    }

    /// The rule of the return address in lanes of v40.
    fn return_address_in_lanes(&self) -> Program {
        let expr = self.ops("regx v40; piece 4; regx v40; offset_uconst 4; piece 4");
        Program::new().at(16, &expr)
    }

    /// Saves all lanes of v40 at the CFA, addressed by `base` and `at`; the mask is in s4 and s5 meanwhile.
    fn save_v40(&self, base: usize, at: i32) -> Listing {
        let exec = match self.lanes {
            64 => Program::new().at(17, &self.ops("regx s4; piece 4; regx s5; piece 4")),
            _ => Program::new().register(1, s(4)),
        };
        let back = Program::new().same_value(self.exec());
        vec![
            (Op::SaveExecAll { to: 4 }, exec.undefined(s(4)).undefined(s(5))),
            (Op::Store { v: 40, base, at }, Program::new().offset(self.v(40), 0)),
            (Op::RestoreExec { from: 4 }, back),
        ]
    }

    fn restore_v40(&self, base: usize, at: i32) -> Listing {
        let mut listing = self.save_v40(base, at);
        listing[0].1 = match self.lanes {
            64 => Program::new().at(17, &self.ops("regx s4; piece 4; regx s5; piece 4")),
            _ => Program::new().register(1, s(4)),
        };
        listing[1] = (Op::Load { v: 40, base, at }, Program::new().same_value(self.v(40)));
        listing
    }

    /// The function with s33 as frame pointer; the return address and saved registers are in lanes.
    fn with_frame_pointer(&self) -> Listing {
        let row = self.row();
        let none = Program::new;
        let mut all: Listing = vec![
            (Op::Copy { to: 6, from: 33 }, none().undefined(s(6)).register(FP, s(6))),
            (Op::Copy { to: 33, from: 32 }, none().op(0x0d, [FP])),
        ];
        all.extend(self.save_v40(33, 0));
        // The rule applies from the write to v40 on; before, the value is in the register.
        all.push((Op::WriteLane { v: 40, lane: 31, from: 6 }, self.in_lane(33)));
        all.extend([30, 31, 34, 38, 39].map(|register| self.write_lane(register)));
        let moved = none().val_offset(SP, 0);
        all.push((Op::Add { to: 32, bytes: 2 * row }, moved));
        all.push((Op::Store { v: 33, base: 33, at: row }, self.v33_saved()));
        all.push((Op::SetVector { v: 33 }, none()));
        all.push((Op::Set { to: 34 }, none()));
        all.push((Op::SaveExecThird { to: 38 }, self.exec_saved()));
        all.push(self.call(2));
        all.push((Op::SetVector { v: 33 }, none()));
        all.push(self.call(3));
        // The epilogue restores in reverse order.
        all.push((Op::RestoreExec { from: 38 }, none().same_value(self.exec())));
        all.push((Op::Load { v: 33, base: 33, at: row }, none().same_value(self.v(33))));
        all.extend([34, 38, 39, 31, 30].map(|register| self.read_lane(register)));
        all.push((Op::Add { to: 32, bytes: -2 * row }, none().same_value(SP).op(0x0d, [SP])));
        all.push((Op::ReadLane { to: 6, v: 40, lane: 31 }, none().register(FP, s(6))));
        all.extend(self.restore_v40(33, 0));
        // The caller's frame pointer is in s33 again.
        all.push((Op::Copy { to: 33, from: 6 }, none().same_value(FP)));
        all.push((Op::Return, none()));
        all
    }

    fn return_address(&self) -> Program {
        // Bytes as written by AMD's compiler.
        Program::new().raw(b"\x10\x10\x08\x90\x3e\x93\x04\x90\x3f\x93\x04")
    }

    /// The function without a frame pointer: the CFA is below the stack pointer.
    fn without_frame_pointer(&self) -> Listing {
        let row = self.row();
        let none = Program::new;
        let above = none().def_aspace_cfa_sf(SP, i64::from(-2 * row) / 4, PRIVATE_WAVE).val_offset(SP, 0);
        let mut all: Listing = vec![(Op::Add { to: 32, bytes: 2 * row }, above)];
        all.extend(self.save_v40(32, -2 * row));
        all.extend([30, 31, 34, 38, 39].map(|register| self.write_lane(register)));
        all.push((Op::Store { v: 33, base: 32, at: -row }, self.v33_saved()));
        all.push((Op::SetVector { v: 33 }, none()));
        all.push((Op::SaveExecThird { to: 38 }, self.exec_saved()));
        all.push((Op::Set { to: 34 }, none()));
        all.push(self.call(3));
        all.push((Op::RestoreExec { from: 38 }, none().same_value(self.exec())));
        all.push((Op::Load { v: 33, base: 32, at: -row }, none().same_value(self.v(33))));
        all.extend([34, 38, 39, 31, 30].map(|register| self.read_lane(register)));
        all.extend(self.restore_v40(32, -2 * row));
        all.push((
            Op::Add { to: 32, bytes: -2 * row },
            none().def_aspace_cfa(SP, 0, PRIVATE_WAVE).same_value(SP),
        ));
        all.push((Op::Return, none()));
        all
    }

    /// The leaf function: it overwrites registers, and saves v33 in its own frame, above the stack pointer.
    fn leaf(&self) -> Listing {
        let none = Program::new;
        vec![
            (Op::SetVector { v: 1 }, none().undefined(self.v(1))),
            (Op::Store { v: 33, base: 32, at: self.row() }, self.v33_saved()),
            (Op::SetVector { v: 33 }, none()),
            (Op::Copy { to: 4, from: 34 }, none().undefined(s(4)).register(s(34), s(4))),
            (Op::Set { to: 34 }, none()),
            (Op::Copy { to: 34, from: 4 }, none().same_value(s(34))),
            (Op::Load { v: 33, base: 32, at: self.row() }, none().same_value(self.v(33))),
            (Op::Return, none()),
        ]
    }

    pub fn section(&self) -> Section {
        let mut section = Section::default();
        // The kernel: its CFA is private_wave 0, in bytes as written by AMD's compiler.
        let cfa: &[u8] = match self.dialect {
            Dialect::Llvm => b"\x0f\x04\x30\x36\xe9\x02",
            _ => b"\x0f\x03\x30\x36\xe1",
        };
        let kernel = section.cie("", 4, 16, &Program::new().raw(cfa).undefined(16));
        let function = Program::new().raw(b"\x30\x40\x00\x06").then(self.return_address());
        // Later conventions do not preserve v33, which the functions save.
        let function = section.cie("", 4, 16, &function.same_value(self.v(33)));
        for (index, listing) in self.functions.iter().enumerate() {
            let mut program = Program::new();
            for (_, change) in listing {
                program = program.advance(BYTES as u8).then(change.clone());
            }
            let cie = if index == 0 { kernel } else { function };
            section.fde(cie, address(index), listing.len() as u64 * BYTES, &program);
        }
        section
    }

    fn op(&self, wave: &Wave) -> Option<Op> {
        let function = (wave.pc / 0x1000 - 1) as usize;
        let index = ((wave.pc - address(function)) / BYTES) as usize;
        self.functions[function].get(index).map(|(op, _)| *op)
    }

    fn registers(&self) -> Vec<Reg> {
        let scalars = (0..64).map(s).chain(1088..1126);
        scalars.chain((0..64).map(|v| self.v(v))).chain([16, self.exec()]).map(Reg).collect()
    }
}

/// State of the wave at the call of each active function, innermost first.
pub type Calls = Vec<Wave>;

/// Runs the kernel, and calls `look` before every instruction.
pub fn run(code: &Code, mut look: impl FnMut(&Wave, &Calls)) {
    let mut wave = Wave::new(code.lanes);
    let mut calls = Calls::new();
    while let Some(op) = code.op(&wave) {
        look(&wave, &calls);
        advance(&mut wave, &mut calls, op);
    }
    assert!(calls.is_empty(), "the kernel is at its end");
}

fn advance(wave: &mut Wave, calls: &mut Calls, op: Op) {
    wave.step(op);
    match op {
        Op::Call { .. } => {
            // Expected state of the caller: its pc is the resumption address.
            let mut then = wave.clone();
            then.pc = u64::from(wave.scalars[30]) | u64::from(wave.scalars[31]) << 32;
            calls.insert(0, then);
        }
        Op::Return => _ = calls.remove(0),
        _ => {}
    }
}

pub const ALL: [(usize, Dialect); 4] =
    [(64, Dialect::Llvm), (64, Dialect::Legacy), (32, Dialect::Llvm), (32, Dialect::Legacy)];

fn bits_of(target: &Target, reg: Reg) -> u64 {
    target.register(reg).expect("a register").bits.into()
}

#[test]
fn registers_of_callers_are_found_bit_for_bit_at_every_pc() {
    for (lanes, dialect) in ALL {
        let code = Code::new(lanes, dialect);
        let section = code.section();
        let frames = [section.read_as(encoding(dialect))];
        let mut deepest = 0;
        // Registers that were found at other locations, and registers that were undefined.
        let mut moved = BTreeMap::new();
        let mut lost = BTreeMap::new();
        run(&code, |wave, calls| {
            let stack = CallStack::new(wave, &frames, &code.target);
            let all: Vec<_> =
                stack.frames().collect::<Result<_, _>>().unwrap_or_else(|fault| panic!("{fault}"));
            assert_eq!(all.len(), calls.len() + 1, "pc {:#x}", wave.pc);
            deepest = deepest.max(calls.len());
            for (frame, then) in all[1..].iter().zip(calls) {
                assert_eq!((frame.resumes_at(), frame.pc()), (then.pc, then.pc - 1));
                for reg in code.registers() {
                    let at = format!("pc {:#x}, frame {}, register {}", wave.pc, frame.number(), reg.0);
                    let location = frame.register(reg).unwrap_or_else(|fault| panic!("{at}: {fault}"));
                    if location == Location::undefined() {
                        *lost.entry(reg.0).or_insert(0) += 1;
                        continue;
                    }
                    let bits = bits_of(&code.target, reg);
                    if location != Location::register(reg, bits as u32) {
                        *moved.entry(reg.0).or_insert(0) += 1;
                    }
                    let read =
                        read_bits(&location, bits, wave).unwrap_or_else(|fault| panic!("{at}: {fault}"));
                    assert!(read.defined.iter().all(|&byte| byte == 0xff), "{at}: {location}");
                    assert_eq!(read.bytes, then.bytes(reg).expect("a register"), "{at}: {location}");
                    // The direct read, of the whole register and of bytes in the middle.
                    let mut bytes = vec![0; read.bytes.len()];
                    frame.read_register(reg, 0, &mut bytes).unwrap_or_else(|fault| panic!("{fault}"));
                    assert_eq!(bytes, read.bytes, "{at}: {location}");
                    frame.read_register(reg, 1, &mut bytes[..2]).unwrap_or_else(|fault| panic!("{fault}"));
                    assert_eq!(bytes[..2], read.bytes[1..3], "{at}: {location}");
                }
            }
            // Stack pointers on entry to each function; 0 for the kernel.
            let begins = calls.iter().map(|then| u64::from(then.scalars[32])).chain([0]);
            for (frame, begin) in all.iter().zip(begins) {
                let cfa = frame.cfa().unwrap_or_else(|fault| panic!("{fault}"));
                assert_eq!(cfa, Location::memory(SpaceId::PRIVATE_WAVE, 32, begin));
            }
        });
        assert_eq!(deepest, 3);
        // Those with a rule: on AMDGPU a register without a rule is unchanged.
        let overwritten = [s(4), s(5), s(6), code.v(1)];
        assert_eq!(lost.keys().copied().collect::<Vec<_>>(), overwritten, "{lost:?}");
        let expected =
            [16, code.exec(), s(30), s(31), s(32), s(33), s(34), s(38), s(39), code.v(33), code.v(40)];
        let mut expected = expected.to_vec();
        expected.sort_unstable();
        assert_eq!(moved.keys().copied().collect::<Vec<_>>(), expected, "{moved:?}");
    }
}

/// Writes a register of a caller; after the functions return, the caller has the written value.
#[test]
fn writes_reach_the_callers_registers() {
    for (lanes, dialect) in ALL {
        let code = Code::new(lanes, dialect);
        let section = code.section();
        let frames = [section.read_as(encoding(dialect))];
        let mut written = 0;
        run(&code, |wave, calls| {
            for number in 1..=calls.len() {
                // Registers that the epilogues need are excluded: return address and frame registers.
                for reg in [s(34), s(38), s(50), code.v(33), code.v(40), code.v(42)].map(Reg) {
                    let location = locate(&frames, &code, wave, number, reg);
                    let bits = bits_of(&code.target, reg);
                    let new: Vec<u8> =
                        (0..bits / 8).map(|byte| (byte as u8).wrapping_mul(37) ^ 0x5b).collect();
                    let mut changed = wave.clone();
                    write_bits(&location, bits, &new, &mut changed).expect("it is written");
                    let mut inside = calls.clone();
                    while inside.len() > calls.len() - number {
                        let op = code.op(&changed).expect("it returns");
                        advance(&mut changed, &mut inside, op);
                    }
                    assert_eq!(changed.pc, calls[number - 1].pc, "it is back in frame {number}");
                    let found = changed.bytes(reg).expect("a register");
                    assert_eq!(found, new, "pc {:#x}, frame {number}, register {}", wave.pc, reg.0);
                    written += 1;
                }
            }
        });
        assert!(written > 500, "{written}");
    }
}

fn locate(frames: &[Frames<'_>; 1], code: &Code, wave: &Wave, number: usize, reg: Reg) -> Location {
    let stack = CallStack::new(wave, frames, &code.target);
    let frame = stack.frame(number as u32).unwrap_or_else(|fault| panic!("{fault}")).expect("a frame");
    frame.register(reg).unwrap_or_else(|fault| panic!("{fault}"))
}

/// A stack pointer computed from the CFA cannot be written.
#[test]
fn computed_values_cannot_be_written() {
    let code = Code::new(64, Dialect::Llvm);
    let section = code.section();
    let frames = [section.read_as(encoding(Dialect::Llvm))];
    let mut refused = 0;
    run(&code, |wave, calls| {
        if calls.is_empty() {
            return;
        }
        let location = locate(&frames, &code, wave, 1, Reg(SP));
        let mut changed = wave.clone();
        if matches!(location.single().map(|place| &place.storage), Some(Storage::Implicit(_))) {
            let fault = write_bits(&location, 32, &[0; 4], &mut changed).expect_err("it is refused");
            assert_eq!((fault.class, &changed), (Class::Evaluation, wave));
            refused += 1;
        }
    });
    assert!(refused > 10);
}

/// Expressions in each frame, for all lanes.
#[test]
fn expressions_of_frames_see_their_registers() {
    for (lanes, dialect) in ALL {
        let code = Code::new(lanes, dialect);
        let section = code.section();
        let frames = [section.read_as(encoding(dialect))];
        let element = code.ops("regx v33; push_lane; lit4; mul; offset");
        let entry = code.ops("entry_value (regx s34); stack_value");
        let entry_mask = code.ops(&format!("call_frame_entry_reg exec; deref_size {}", lanes / 8));
        let everyone = u64::MAX >> (64 - lanes);
        let mut evaluator = Evaluator::new();
        run(&code, |wave, calls| {
            let stack = CallStack::new(wave, &frames, &code.target);
            for number in 0..calls.len() {
                let frame = stack.frame(number as u32).expect("frames").expect("a frame");
                let context = frame.context(encoding(dialect));
                // Contents in this frame, and in its caller at the call.
                let now = if number == 0 { wave } else { &calls[number - 1] };
                let then = &calls[number];
                let elements = evaluator.wave(&element, everyone, &stack, &context);
                for lane in 0..lanes {
                    let Some(Ok(Element::Location(place))) = elements.lane(lane as u32) else {
                        panic!("{lane}")
                    };
                    let read = read_bits(&place, 32, &stack).expect("it can be read").bytes;
                    assert_eq!(read, now.vectors[33][lane].to_le_bytes(), "lane {lane}");
                }
                let value = evaluator.location(&entry, &stack, &context).expect("an entry value");
                assert_eq!(
                    read_bits(&value, 32, &stack).expect("bits").bytes,
                    then.scalars[34].to_le_bytes()
                );
                let mask = evaluator.value(&entry_mask, &stack, &context).expect("a mask");
                assert_eq!(mask.as_u64(), Some(then.exec));
            }
        });
    }
}
