//! Meaning of each instruction (RDNA 3 ISA, chapter 16).

use super::{Cell, Group, Program, State, Wave};
use crate::isa::{Format, Op, Reg};
use crate::sim::decode::Decoded;

impl Wave {
    /// Runs one instruction.
    ///
    /// # Errors
    /// A pc without an instruction.
    pub fn step(&mut self, program: &Program, group: &mut Group) -> Result<(), String> {
        let found = program.instructions.get(self.pc as usize / 4).and_then(Option::as_ref);
        let one = found.ok_or_else(|| format!("pc {:#x}: no instruction begins here", self.pc))?;
        self.pc += 4 * one.words as u64;
        if let Op::SGetPc | Op::SSetPc | Op::SSwapPc = one.op {
            let next = program.base + self.pc;
            let target = self.pair(one.src[0]);
            if one.op != Op::SGetPc {
                self.pc = target.wrapping_sub(program.base);
            }
            if let (Reg::S(n), true) = (one.dst, one.op != Op::SSetPc) {
                for (n, bits) in [(n, next as u32), (n + 1, (next >> 32) as u32)] {
                    self.scalars[n as usize] = Cell { bits, tag: group.tag(1) };
                }
            }
            return Ok(());
        }
        match one.op.row().1 {
            Format::Sopp | Format::Sopk => self.control(one),
            Format::Sop1 | Format::Sop2 | Format::Sopc => self.scalar(one, group),
            Format::Smem => self.load_scalars(one, group),
            Format::Vop1 | Format::Vop1s | Format::Vop3 | Format::Vop3s => self.vector(one, group),
            Format::Ds => self.local(one, group),
            Format::Global => self.global(one, group),
            Format::Scratch => self.scratch(one),
        }
        Ok(())
    }

    fn control(&mut self, one: &Decoded) {
        let is_taken = match one.op {
            Op::Branch => true,
            Op::BranchScc0 => !self.scc,
            Op::BranchScc1 => self.scc,
            Op::BranchExecz => self.exec == 0,
            Op::BranchExecnz => self.exec != 0,
            Op::EndProgram => {
                self.state = State::Ended;
                false
            }
            Op::Barrier => {
                self.state = State::Waits;
                false
            }
            _ => false,
        };
        if is_taken {
            self.pc = self.pc.wrapping_add_signed(4 * i64::from(one.offset));
        }
    }

    /// An operand as the wave, or a lane, reads it.
    pub(crate) fn read(&self, reg: Reg, lane: usize) -> Cell {
        match reg {
            Reg::S(n) => self.scalars[n as usize],
            Reg::V(n) => self.vectors[n as usize][lane],
            Reg::Exec => Cell { bits: self.exec, tag: 0 },
            Reg::Const(bits) => Cell::constant(bits),
            Reg::Null => Cell::default(),
        }
    }

    fn write_scalar(&mut self, reg: Reg, cell: Cell) {
        match reg {
            Reg::S(n) => self.scalars[n as usize] = cell,
            Reg::Exec => self.exec = cell.bits,
            _ => {}
        }
    }

    fn scalar(&mut self, one: &Decoded, group: &mut Group) {
        let cell = self.read(one.src[0], 0);
        let a = cell.bits;
        let b = one.src.get(1).map_or(0, |&reg| self.read(reg, 0).bits);
        let sa = a as i32;
        let sb = b as i32;
        let compared = match one.op {
            Op::SEq => Some(a == b),
            Op::SNe => Some(a != b),
            Op::SLtI => Some(sa < sb),
            Op::SLeI => Some(sa <= sb),
            Op::SGtI => Some(sa > sb),
            Op::SGeI => Some(sa >= sb),
            Op::SLtU => Some(a < b),
            Op::SLeU => Some(a <= b),
            Op::SGtU => Some(a > b),
            Op::SGeU => Some(a >= b),
            _ => None,
        };
        if let Some(compared) = compared {
            self.scc = compared;
            return;
        }
        let before = self.exec;
        let mut next = None;
        let bits = match one.op {
            Op::SMov => {
                self.write_scalar(one.dst, cell);
                return;
            }
            Op::SNot => !a,
            Op::SAndSaveexec => {
                next = Some(a & before);
                before
            }
            Op::SOrSaveexec => {
                next = Some(a | before);
                before
            }
            Op::SAndNotSaveexec => {
                next = Some(a & !before);
                before
            }
            Op::SBitCount => a.count_ones(),
            Op::SFindFirst => (0..32).find(|bit| a >> bit & 1 == 1).unwrap_or(u32::MAX),
            Op::SAdd | Op::SAddU => a.wrapping_add(b),
            Op::SAddCarry => a.wrapping_add(b).wrapping_add(self.scc.into()),
            Op::SSub => a.wrapping_sub(b),
            Op::SMul => a.wrapping_mul(b),
            Op::SAnd => a & b,
            Op::SOr => a | b,
            Op::SXor => a ^ b,
            Op::SAndNot => a & !b,
            Op::SShl => a << (b & 31),
            Op::SShr => a >> (b & 31),
            Op::SAshr => (sa >> (b & 31)) as u32,
            Op::SSelect if self.scc => a,
            Op::SSelect => b,
            Op::SMinI => sa.min(sb) as u32,
            Op::SMinU => a.min(b),
            Op::SMaxI => sa.max(sb) as u32,
            Op::SMaxU => a.max(b),
            _ => 0,
        };
        self.scc = match one.op {
            Op::SAdd => sa.checked_add(sb).is_none(),
            Op::SSub => sa.checked_sub(sb).is_none(),
            Op::SAddU => a.checked_add(b).is_none(),
            Op::SAddCarry => u64::from(a) + u64::from(b) + u64::from(self.scc) > u64::from(u32::MAX),
            // Whether the first operand is chosen, by the manual.
            Op::SMinI => sa < sb,
            Op::SMinU => a < b,
            Op::SMaxI => sa >= sb,
            Op::SMaxU => a >= b,
            Op::SSelect | Op::SMul | Op::SFindFirst => self.scc,
            _ => next.unwrap_or(bits) != 0,
        };
        self.write_scalar(one.dst, Cell { bits, tag: group.tag(1) });
        if let Some(next) = next {
            self.exec = next;
        }
    }

    fn pair(&self, reg: Reg) -> u64 {
        match reg {
            Reg::S(n) => {
                let [low, high] = [n, n + 1].map(|n| u64::from(self.scalars[n as usize].bits));
                low | high << 32
            }
            _ => 0,
        }
    }

    fn load_scalars(&mut self, one: &Decoded, group: &mut Group) {
        let by = u64::from(self.read(one.src[1], 0).bits);
        let address = (self.pair(one.src[0]) + by).wrapping_add_signed(one.offset.into());
        let Reg::S(first) = one.dst else { return };
        let count = if one.op == Op::SLoad2 { 2 } else { 1 };
        for n in 0..count {
            let bits = group.at(address + 4 * u64::from(n)).map_or(0, |at| *at);
            self.scalars[(first + n) as usize] = Cell { bits, tag: group.tag(1) };
        }
    }

    fn lanes(&self) -> impl Iterator<Item = usize> + use<> {
        let exec = self.exec;
        (0..32).filter(move |lane| exec >> lane & 1 == 1)
    }

    fn vector(&mut self, one: &Decoded, group: &mut Group) {
        let at = |n: usize| one.src.get(n).copied().unwrap_or(Reg::Null);
        let number = |reg: Reg| if let Reg::V(n) = reg { n as usize } else { 255 };
        match one.op {
            Op::VMov => {
                for lane in self.lanes() {
                    self.vectors[number(one.dst)][lane] = self.read(at(0), lane);
                }
            }
            Op::ReadLane => {
                let lane = self.read(at(1), 0).bits as usize & 31;
                let cell = self.read(at(0), lane);
                self.write_scalar(one.dst, cell);
            }
            Op::WriteLane => {
                let lane = self.read(at(1), 0).bits as usize & 31;
                self.vectors[number(one.dst)][lane] = self.read(at(0), 0);
            }
            Op::ReadFirstLane => {
                let lane = if self.exec == 0 { 0 } else { self.exec.trailing_zeros() as usize };
                let bits = self.read(at(0), lane).bits;
                self.write_scalar(one.dst, Cell { bits, tag: group.tag(1) });
            }
            _ if one.op.row().1 == Format::Vop3s => {
                let mut mask = 0;
                for lane in self.lanes() {
                    let [a, b] = [0, 1].map(|n| self.read(at(n), lane).bits);
                    mask |= u32::from(compare(one.op, a, b)) << lane;
                }
                self.write_scalar(one.dst, Cell { bits: mask, tag: group.tag(1) });
            }
            _ => {
                let tag = group.tag(32);
                for lane in self.lanes() {
                    let [a, b, c] = [0, 1, 2].map(|n| self.read(at(n), lane).bits);
                    let c = if one.op == Op::VSelect { c >> lane & 1 } else { c };
                    let c = if one.op == Op::LaneCount { lane as u32 } else { c };
                    let bits = compute(one.op, a, b, c);
                    self.vectors[number(one.dst)][lane] = Cell { bits, tag: tag + lane as u64 };
                }
            }
        }
    }

    /// The dword of local memory that an instruction of a lane reads or writes.
    pub(crate) fn local_dword(&self, one: &Decoded, lane: usize) -> usize {
        (self.read(one.src[0], lane).bits.wrapping_add(one.offset as u32) / 4) as usize
    }

    fn local(&mut self, one: &Decoded, group: &mut Group) {
        let (Reg::V(dst), tag, memory) = (one.dst, group.tag(32), group.tag(32)) else { return };
        let before = self.vectors.clone();
        for lane in self.lanes() {
            let data = self.read(one.src[1], lane);
            let bits = if one.op == Op::DsPermute {
                let from = (self.read(one.src[0], lane).bits / 4 % 32) as usize;
                let Reg::V(data) = one.src[1] else { return };
                if self.exec >> from & 1 == 1 { before[data as usize][from].bits } else { 0 }
            } else {
                let Some(at) = group.local.get_mut(self.local_dword(one, lane)) else { continue };
                let old = at.bits;
                match one.op {
                    Op::DsLoad => {}
                    Op::DsStore => {
                        *at = data;
                        continue;
                    }
                    op => *at = Cell { bits: atomic(op, old, data.bits), tag: memory + lane as u64 },
                }
                old
            };
            self.vectors[dst as usize][lane] = Cell { bits, tag: tag + lane as u64 };
        }
    }

    fn global(&mut self, one: &Decoded, group: &mut Group) {
        let (Reg::V(dst), base, tag) = (one.dst, self.pair(one.src[0]), group.tag(32)) else { return };
        for lane in self.lanes() {
            let [by, data] = [1, 2].map(|n| self.read(one.src[n], lane).bits);
            let found = group.at(base + u64::from(by.wrapping_add_signed(one.offset)));
            let bits = match (one.op, found) {
                (Op::GlobalStore, found) => {
                    if let Some(at) = found {
                        *at = data;
                    }
                    continue;
                }
                (_, None) => 0,
                (Op::GlobalLoad, Some(at)) => *at,
                (op, Some(at)) => {
                    let next = atomic(op, *at, data);
                    std::mem::replace(at, next)
                }
            };
            self.vectors[dst as usize][lane] = Cell { bits, tag: tag + lane as u64 };
        }
    }

    /// The dword of a lane's scratch memory that an instruction reads or writes.
    pub(crate) fn scratch_dword(&self, one: &Decoded, lane: usize) -> u32 {
        let [base, by] = [0, 1].map(|n| self.read(one.src[n], lane).bits);
        base.wrapping_add(by).wrapping_add_signed(one.offset) / 4
    }

    fn scratch(&mut self, one: &Decoded) {
        let Reg::V(dst) = one.dst else { return };
        for lane in self.lanes() {
            let dword = self.scratch_dword(one, lane);
            let data = self.read(one.src[2], lane);
            let Some(at) = self.scratch.get_mut(dword as usize) else {
                continue;
            };
            match one.op {
                Op::ScratchStore => at[lane] = data,
                _ => self.vectors[dst as usize][lane] = at[lane],
            }
        }
    }
}

fn atomic(op: Op, old: u32, data: u32) -> u32 {
    let a = old as i32;
    let b = data as i32;
    match op {
        Op::DsAdd | Op::GlobalAdd => old.wrapping_add(data),
        Op::DsSub | Op::GlobalSub => old.wrapping_sub(data),
        Op::DsMinI | Op::GlobalMinI => a.min(b) as u32,
        Op::DsMaxI | Op::GlobalMaxI => a.max(b) as u32,
        Op::DsMinU | Op::GlobalMinU => old.min(data),
        Op::DsMaxU | Op::GlobalMaxU => old.max(data),
        Op::DsAnd | Op::GlobalAnd => old & data,
        Op::DsOr | Op::GlobalOr => old | data,
        Op::DsXor | Op::GlobalXor => old ^ data,
        _ => data,
    }
}

fn compare(op: Op, a: u32, b: u32) -> bool {
    let sa = a as i32;
    let sb = b as i32;
    let fa = f32::from_bits(a);
    let fb = f32::from_bits(b);
    match op {
        Op::VEq => a == b,
        Op::VNe => a != b,
        Op::VLtI => sa < sb,
        Op::VLeI => sa <= sb,
        Op::VGtI => sa > sb,
        Op::VGeI => sa >= sb,
        Op::VLtU => a < b,
        Op::VLeU => a <= b,
        Op::VGtU => a > b,
        Op::VGeU => a >= b,
        Op::VLtF => fa < fb,
        Op::VEqF => fa == fb,
        Op::VLeF => fa <= fb,
        Op::VGtF => fa > fb,
        Op::VGeF => fa >= fb,
        _ => fa != fb,
    }
}

/// The result of a vector operation in one lane. `c` of v_cndmask is the lane's bit, of v_mbcnt the lane.
pub fn compute(op: Op, a: u32, b: u32, c: u32) -> u32 {
    let sa = a as i32;
    let sb = b as i32;
    let fa = f32::from_bits(a);
    let fb = f32::from_bits(b);
    let fc = f32::from_bits(c);
    match op {
        Op::VSelect if c == 1 => b,
        Op::VSelect => a,
        Op::VAdd => a.wrapping_add(b),
        Op::VSub => a.wrapping_sub(b),
        Op::VMul => a.wrapping_mul(b),
        Op::VMulHi => ((u64::from(a) * u64::from(b)) >> 32) as u32,
        Op::VAnd => a & b,
        Op::VOr => a | b,
        Op::VXor => a ^ b,
        Op::VNot => !a,
        Op::VShl => b << (a & 31),
        Op::VShr => b >> (a & 31),
        Op::VAshr => (sb >> (a & 31)) as u32,
        Op::VBfe => (a >> (b & 31)) & ((1 << (c & 31)) - 1),
        Op::VBitCount => a.count_ones().wrapping_add(b),
        Op::VMinI => sa.min(sb) as u32,
        Op::VMaxI => sa.max(sb) as u32,
        Op::VMinU => a.min(b),
        Op::VMaxU => a.max(b),
        Op::VAddF => (fa + fb).to_bits(),
        Op::VSubF => (fa - fb).to_bits(),
        Op::VMulF => (fa * fb).to_bits(),
        Op::VFmaF => fa.mul_add(fb, fc).to_bits(),
        Op::VMinF => least(fa, fb).to_bits(),
        Op::VMaxF => (-least(-fa, -fb)).to_bits(),
        Op::VRcp => (1.0 / fa).to_bits(),
        Op::VSqrt => fa.sqrt().to_bits(),
        Op::VFromI => (sa as f32).to_bits(),
        Op::VFromU => (a as f32).to_bits(),
        Op::VToU => fa as u32,
        Op::VToI => fa as i32 as u32,
        Op::VTrunc => fa.trunc().to_bits(),
        Op::VCeil => fa.ceil().to_bits(),
        Op::VRound => fa.round_ties_even().to_bits(),
        Op::VFloor => fa.floor().to_bits(),
        Op::LaneCount => (a & ((1u64 << c) - 1) as u32).count_ones().wrapping_add(b),
        _ => 0,
    }
}

/// The smaller number; -0 is smaller than 0, and a number smaller than none.
fn least(a: f32, b: f32) -> f32 {
    if a.is_nan() {
        return b;
    }
    if b.is_nan() || a < b || a == b && a.is_sign_negative() { a } else { b }
}
