//! Instructions of a function as a witness: which of them sets a register, uses one as an address, or changes `exec`.

use std::collections::HashMap;
use std::fmt::Write as _;
use std::ops::Range;

use crate::target::code::{EXEC, Instruction, InstructionSet, RegisterKind, Source};

/// Instructions of a function.
#[derive(Debug, Default)]
pub(super) struct Code {
    all: Vec<(u64, Instruction)>,
    /// Instructions that write each register, by index.
    writers: HashMap<(RegisterKind, u16), Vec<u32>>,
    /// Pcs at which a vector register contains an address in scratch.
    addresses: HashMap<u16, Vec<u64>>,
    /// Branches: pc and target.
    branches: Vec<(u64, u64)>,
    /// Pcs of calls and of jumps to an address in registers.
    calls: Vec<u64>,
}

/// Maximum number of instructions of a function that are decoded.
const MOST: usize = 1 << 22;
/// Maximum number of definitions that are followed.
const DEEPEST: u32 = 8;

impl Code {
    /// Decodes the code from an address on. Ends at the first unknown encoding.
    pub(super) fn decode(set: &InstructionSet, start: u64, mut bytes: &[u8]) -> Self {
        let mut code = Self::default();
        let mut pc = start;
        while let Some(one) = set.decode(bytes).filter(|_| code.all.len() < MOST) {
            let (size, index) = (usize::from(one.bytes), code.all.len() as u32);
            for write in one.writes.iter().flatten() {
                for number in write.first..write.first.saturating_add(write.count) {
                    code.writers.entry((write.kind, number)).or_default().push(index);
                }
            }
            if let Some(register) = one.scratch_address {
                code.addresses.entry(register).or_default().push(pc);
            }
            let name = one.name.unwrap_or_default();
            if let Some(Source::Constant(words)) = one.source.filter(|_| is_branch(name)) {
                code.branches.push((pc, pc.wrapping_add_signed(4 + 4 * words)));
            } else if ["s_swappc_b64", "s_setpc_b64", "s_call_b64"].contains(&name) {
                code.calls.push(pc);
            }
            code.all.push((pc, one));
            bytes = &bytes[size..];
            pc = pc.wrapping_add(size as u64);
        }
        code
    }

    /// Returns the last instruction before a pc that writes a register.
    pub(super) fn setter(&self, kind: RegisterKind, number: u16, before: u64) -> Option<&(u64, Instruction)> {
        let writers = self.writers.get(&(kind, number))?;
        let count = writers.partition_point(|&index| self.all[index as usize].0 < before);
        let index = *writers.get(count.checked_sub(1)?)?;
        self.all.get(index as usize)
    }

    /// Returns the end of the pcs from `from` on at which `count` registers have what the instruction at `from`, or an
    /// earlier one, put there: where an instruction sets one of them, where a call can do so, or where code from outside
    /// of these pcs continues.
    pub(super) fn lasting(
        &self,
        kind: RegisterKind,
        (first, count): (u16, u16),
        from: u64,
        after: u64,
    ) -> u64 {
        let numbers = first..first.saturating_add(count);
        let next = numbers.filter_map(|number| {
            let writers = self.writers.get(&(kind, number))?;
            let at = writers.partition_point(|&index| self.all[index as usize].0 < after);
            Some(self.all[*writers.get(at)? as usize].0)
        });
        let call = self.calls.iter().copied().find(|pc| *pc >= after);
        let mut end = next.chain(call).min().unwrap_or_else(|| self.end());
        // An instruction that sets the register still has the old value before it; a branch behind that has the new one.
        loop {
            let enters = |(pc, to): &&(u64, u64)| !(from..end).contains(pc) && (after..end).contains(to);
            match self.branches.iter().filter(enters).map(|branch| branch.1).min() {
                Some(to) => end = to,
                None => return end,
            }
        }
    }

    /// Returns the scalar loads from an address in two scalar registers, each with the offset in bytes, and the pc behind
    /// it.
    pub(super) fn loads(&self, base: u16) -> impl Iterator<Item = (&(u64, Instruction), u64, u64)> {
        self.all.iter().filter_map(move |at| {
            let (pc, one) = at;
            let is_load = one.name.is_some_and(|name| name.starts_with("s_load_"));
            let is_of = one.source == Some(Source::Register(RegisterKind::Scalar, base));
            let Some(Source::Constant(offset)) = one.second.filter(|_| is_load && is_of) else { return None };
            Some((at, u64::try_from(offset).ok()?, pc + u64::from(one.bytes)))
        })
    }

    /// Returns the end of the decoded instructions.
    pub(super) fn end(&self) -> u64 {
        self.all.last().map_or(0, |(pc, one)| pc + u64::from(one.bytes))
    }

    /// Whether a vector register is used as an address in scratch within a range.
    pub(super) fn is_scratch_address(&self, number: u16, pcs: &Range<u64>) -> bool {
        self.addresses.get(&number).is_some_and(|all| all.iter().any(|pc| pcs.contains(pc)))
    }

    /// Whether a vector register has the same value in all lanes, as far as the instructions show it: each of those that
    /// write the register, on whatever path, has such sources.
    pub(super) fn is_uniform(&self, number: u16) -> bool {
        self.uniform(number, DEEPEST)
    }

    fn uniform(&self, number: u16, depth: u32) -> bool {
        let Some(writers) = self.writers.get(&(RegisterKind::Vector, number)).filter(|_| depth > 0) else {
            return false;
        };
        let same = [
            "v_mov_b32",
            "v_cvt_",
            "v_lshlrev_b32",
            "v_lshrrev_b32",
            "v_ashrrev_i32",
            "v_and_b32",
            "v_or_b32",
            "v_xor_b32",
            "v_add_u32",
            "v_add_nc_u32",
            "v_sub_u32",
            "v_sub_nc_u32",
            "v_add_f32",
            "v_mul_f32",
            "v_sub_f32",
            "v_max_f32",
            "v_min_f32",
            "v_max_i32",
            "v_min_i32",
            "v_max_u32",
            "v_min_u32",
        ];
        let is_same = |source: Option<Source>| match source {
            None | Some(Source::Constant(_) | Source::Register(RegisterKind::Scalar, _)) => true,
            Some(Source::Register(RegisterKind::Vector, number)) => self.uniform(number, depth - 1),
            Some(_) => false,
        };
        writers.iter().map(|&index| &self.all[index as usize].1).all(|one| {
            let is_simple = one.name.is_some_and(|name| same.iter().any(|start| name.starts_with(start)));
            is_simple && one.source.is_some() && is_same(one.source) && is_same(one.second)
        })
    }

    /// Returns the first instruction after which lanes wait: one that narrows `exec`. Code for all lanes of the wave,
    /// which sets `exec` to all ones and back, is not meant.
    pub(super) fn diverges(&self) -> Option<&(u64, Instruction)> {
        let exec = self.writers.get(&(RegisterKind::Scalar, EXEC))?;
        let is_all = |one: &Instruction| one.source == Some(Source::Constant(-1));
        exec.iter().map(|&index| &self.all[index as usize]).find(|(pc, one)| {
            let Some(name) = one.name else { return false };
            let narrows =
                ["s_and_saveexec", "s_andn1", "s_andn2", "s_and_", "s_xor_", "s_nand", "s_nor", "v_cmpx"];
            if narrows.iter().any(|start| name.starts_with(start)) {
                return !(name.contains("saveexec") && is_all(one));
            }
            // A mask that was saved for the whole wave is restored.
            match one.source {
                _ if !name.starts_with("s_mov_") => false,
                Some(Source::Constant(value)) => value != -1,
                Some(Source::Register(RegisterKind::Scalar, number)) => {
                    let saved = self.setter(RegisterKind::Scalar, number, *pc);
                    !saved.is_some_and(|(_, saved)| {
                        let name = saved.name.unwrap_or_default();
                        let is_copy = saved.source == Some(Source::Register(RegisterKind::Scalar, EXEC));
                        name.contains("saveexec") && is_all(saved) || name.starts_with("s_mov_") && is_copy
                    })
                }
                _ => true,
            }
        })
    }

    /// Returns the last instruction that leaves the function.
    pub(super) fn returns(&self) -> Option<&(u64, Instruction)> {
        let leaves = ["s_setpc_b64", "s_endpgm", "s_swappc_b64"];
        self.all.iter().rev().find(|(_, one)| one.name.is_some_and(|name| leaves.contains(&name)))
    }

    /// Returns the instructions that change a scalar register by a constant, each with the number of bytes.
    pub(super) fn moves(&self, number: u16) -> impl Iterator<Item = (&(u64, Instruction), i64)> {
        let writers = self.writers.get(&(RegisterKind::Scalar, number)).into_iter().flatten();
        writers.map(|&index| &self.all[index as usize]).filter_map(move |at| {
            let one = &at.1;
            let own = Some(Source::Register(RegisterKind::Scalar, number));
            match (one.name?, one.source, one.second) {
                ("s_add_i32" | "s_add_u32", source, Some(Source::Constant(by))) if source == own => {
                    Some((at, by))
                }
                ("s_addk_i32", Some(Source::Constant(by)), _) => Some((at, by)),
                _ => None,
            }
        })
    }
}

fn is_branch(name: &str) -> bool {
    name == "s_branch" || name.starts_with("s_cbranch_")
}

/// Describes an instruction: its pc, name and destinations.
pub(super) fn described((pc, one): &(u64, Instruction)) -> String {
    let mut text = format!("{pc:#x}: {}", one.name.unwrap_or("an instruction"));
    for (index, write) in one.writes.iter().flatten().enumerate() {
        text.push_str(if index == 0 { " " } else { ", " });
        let prefix = match write.kind {
            RegisterKind::Scalar => "s",
            RegisterKind::Vector => "v",
            RegisterKind::Accumulator => "a",
        };
        let (first, last) = (write.first, write.first + write.count.saturating_sub(1));
        let _ = match (write.kind, first) {
            (RegisterKind::Scalar, EXEC) => write!(text, "exec"),
            (RegisterKind::Scalar, 106) => write!(text, "vcc"),
            _ if first == last => write!(text, "{prefix}{first}"),
            _ => write!(text, "{prefix}[{first}:{last}]"),
        };
    }
    text
}
