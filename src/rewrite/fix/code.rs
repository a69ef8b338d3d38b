//! A function's instructions, and the order in which a wave runs them.

use core::ops::Range;

use smallvec::SmallVec;

use crate::read::Object;
use crate::target::code::{
    DecodedInstruction, Destination, EXEC, Flow, InstructionSet, RegisterKind, SourceOperand, VCC,
};
use crate::target::is_preserved;

/// A register: its kind and its number in instructions.
pub(super) type Register = (RegisterKind, u16);

/// An instruction of a function.
#[derive(Debug, Clone)]
pub(super) struct Instruction {
    /// Address in the file.
    pub pc: u64,
    pub decoded: DecodedInstruction,
    pub flow: Flow,
    /// Address to which a branch goes.
    pub target: Option<u64>,
}

impl Instruction {
    /// Address after the instruction.
    pub(super) fn end(&self) -> u64 {
        self.pc + u64::from(self.decoded.bytes)
    }

    pub(super) fn name(&self) -> &'static str {
        self.decoded.name.unwrap_or_default()
    }

    /// Registers that the instruction writes; empty if they are unknown.
    pub(super) fn writes(&self) -> &[Destination] {
        self.decoded.writes().unwrap_or_default()
    }

    /// Whether the instruction can change a register.
    pub(super) fn changes(&self, (kind, number): Register) -> bool {
        match self.decoded.writes() {
            None => true,
            Some(_) if self.flow == Flow::Call => {
                !is_preserved(kind, number) || self.writes().iter().any(|write| write.contains(kind, number))
            }
            Some(writes) => writes.iter().any(|write| write.contains(kind, number)),
        }
    }

    pub(super) fn writes_exec(&self) -> bool {
        self.writes().iter().any(|write| write.contains(RegisterKind::Scalar, EXEC))
    }

    /// Whether the instruction does nothing that a debugger sees.
    pub(super) fn is_idle(&self) -> bool {
        let name = self.name();
        name.starts_with("s_delay_alu") || name.starts_with("s_wait") || matches!(name, "s_nop" | "s_clause")
    }

    /// Whether the instruction after it can be the next.
    fn falls_through(&self) -> bool {
        !matches!(self.flow, Flow::Jump | Flow::End) && self.name() != "s_branch"
    }
}

/// A function's instructions.
#[derive(Debug)]
pub(super) struct Code {
    pub instructions: Vec<Instruction>,
    /// Addresses of the function's code.
    pub pcs: Range<u64>,
    /// Indices of the instructions after which a wave can run each instruction.
    before: Vec<SmallVec<[u32; 2]>>,
    /// Whether the wave's masks of lanes are 64 bits.
    pub is_wide: bool,
}

impl Code {
    /// Decodes a function. `None` if an instruction's size is not known, or a jump goes to an unknown address within
    /// the function.
    pub(super) fn read(object: &Object<'_>, set: InstructionSet, pcs: Range<u64>, lanes: u32) -> Option<Self> {
        let bytes = bytes(object, &pcs)?;
        let mut instructions: Vec<Instruction> = Vec::new();
        let mut offset = 0;
        while offset < bytes.len() {
            let rest = &bytes[offset..];
            let decoded = set.decode(rest)?;
            let flow = set.outline(rest)?.flow;
            let pc = pcs.start + offset as u64;
            let target = match (flow, decoded.source) {
                (Flow::Branch, Some(SourceOperand::Constant(words))) => {
                    Some(pc.wrapping_add_signed(4 + 4 * words))
                }
                _ => None,
            };
            offset += usize::from(decoded.bytes);
            instructions.push(Instruction { pc, decoded, flow, target });
        }
        let mut before = vec![SmallVec::new(); instructions.len()];
        for (index, instruction) in instructions.iter().enumerate() {
            if instruction.falls_through()
                && let Some(next) = before.get_mut(index + 1)
            {
                next.push(index as u32);
            }
            if let Some(target) = instruction.target {
                let found = instructions.binary_search_by_key(&target, |one| one.pc);
                match found {
                    Ok(target) => before[target].push(index as u32),
                    // A branch out of the function does not come back.
                    Err(_) if !pcs.contains(&target) => {}
                    Err(_) => return None,
                }
            }
        }
        Some(Self { instructions, pcs, before, is_wide: lanes > 32 })
    }

    /// Returns the index of the instruction at an address.
    pub(super) fn index(&self, pc: u64) -> Option<usize> {
        self.instructions.binary_search_by_key(&pc, |one| one.pc).ok()
    }

    /// Returns the index of the first instruction at or after an address.
    pub(super) fn index_from(&self, pc: u64) -> usize {
        self.instructions.partition_point(|one| one.pc < pc)
    }

    /// Returns the instructions after which a wave can run an instruction.
    pub(super) fn before(&self, index: usize) -> impl Iterator<Item = usize> {
        self.before[index].iter().map(|&index| index as usize)
    }

    /// Whether an instruction only runs after the instruction before it.
    pub(super) fn is_straight(&self, index: usize) -> bool {
        matches!(&self.before[index][..], [before] if *before as usize + 1 == index)
    }
}

/// Returns the bytes of code at addresses.
fn bytes<'o>(object: &'o Object<'_>, pcs: &Range<u64>) -> Option<&'o [u8]> {
    object.sections().iter().filter(|section| section.is_code()).find_map(|section| {
        let start = usize::try_from(pcs.start.checked_sub(section.address)?).ok()?;
        let end = usize::try_from(pcs.end.checked_sub(section.address)?).ok()?;
        section.data.get(start..end)
    })
}

/// Describes an instruction: its address, name and destinations.
pub(super) fn described(instruction: &Instruction) -> String {
    let mut text = format!("{:#x}: {}", instruction.pc, instruction.decoded.name.unwrap_or("an instruction"));
    for (index, write) in instruction.writes().iter().enumerate() {
        text.push_str(if index == 0 { " " } else { ", " });
        text.push_str(&registers((write.kind, write.first), write.count));
    }
    text
}

/// Returns the name of consecutive registers.
pub(super) fn registers((kind, first): Register, count: u16) -> String {
    let prefix = match kind {
        RegisterKind::Scalar if first == EXEC => return "exec".into(),
        RegisterKind::Scalar if first == VCC => return "vcc".into(),
        RegisterKind::Scalar => "s",
        RegisterKind::Vector => "v",
        RegisterKind::Accumulator => "a",
    };
    match count {
        1 => format!("{prefix}{first}"),
        _ => format!("{prefix}[{first}:{}]", first + count - 1),
    }
}
