//! A function's instructions, and the order in which a wave runs them.

use core::ops::Range;
use std::rc::Rc;

use hashbrown::HashSet;
use smallvec::SmallVec;

use crate::read::Object;
use crate::target::code::{
    DecodedInstruction, Destination, EXEC, Flow, InstructionSet, RegisterKind, SourceOperand,
};
use crate::target::is_preserved;

/// Processors with common encodings of waits and scratch, whose counters count the same instructions.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Waits {
    Gfx9,
    Gfx10,
    Gfx11,
    Gfx12,
}

impl Waits {
    /// Returns the encoding of a processor.
    pub(super) fn of_processor(name: &str) -> Option<Self> {
        Some(match name {
            _ if name.starts_with("gfx9") => Self::Gfx9,
            _ if name.starts_with("gfx10") => Self::Gfx10,
            _ if name.starts_with("gfx11") => Self::Gfx11,
            _ if name.starts_with("gfx12") => Self::Gfx12,
            _ => return None,
        })
    }
}

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
    /// The first two words of the encoding.
    pub words: [u32; 2],
    /// Registers that a called function changes, if the function is known.
    pub called: Option<Rc<Changed>>,
}

/// Registers that a function changes.
#[derive(Debug, Default)]
pub(super) struct Changed(HashSet<Register>);

impl Changed {
    /// Returns the registers that a function's instructions, and the functions that it calls, change. `None` if they are
    /// not known.
    pub(super) fn of(code: &Code) -> Option<Self> {
        let mut registers = HashSet::new();
        for instruction in &code.instructions {
            if instruction.flow == Flow::Call {
                registers.extend(instruction.called.as_ref()?.0.iter().copied());
            }
            for write in instruction.decoded.writes()? {
                registers.extend(
                    (write.first..write.first.saturating_add(write.count)).map(|number| (write.kind, number)),
                );
            }
        }
        Some(Self(registers))
    }
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
            // By convention, the lanes that run before a call run after it.
            Some(_) if self.flow == Flow::Call && (kind, number) == (RegisterKind::Scalar, EXEC) => false,
            Some(writes) => {
                let is_called = self.flow == Flow::Call
                    && !is_preserved(kind, number)
                    && self.called.as_ref().is_none_or(|called| called.0.contains(&(kind, number)));
                is_called || writes.iter().any(|write| write.contains(kind, number))
            }
        }
    }

    pub(super) fn writes_exec(&self) -> bool {
        self.writes().iter().any(|write| write.contains(RegisterKind::Scalar, EXEC))
    }

    /// Returns the scratch slot that the instruction stores to: the scalar register with the frame's start, and the bytes
    /// from it on. Encodings: AMD's instruction set manuals, formats MUBUF and FLAT; those of gfx12 are not decoded.
    pub(super) fn slot_store(&self, waits: Waits) -> Option<(u16, Range<i64>)> {
        let [first, second] = self.words;
        let name = self.name();
        let (kind, register, offset) = if let Some(kind) = name.strip_prefix("scratch_store_") {
            // A signed offset.
            let unused = match waits {
                Waits::Gfx9 | Waits::Gfx11 => 19,
                Waits::Gfx10 => 20,
                Waits::Gfx12 => return None,
            };
            (kind, second >> 16 & 0x7f, i64::from((first << unused) as i32 >> unused))
        } else if let Some(kind) = name.strip_prefix("buffer_store_") {
            let has_address = first >> 12 & 3 != 0;
            if has_address || !matches!(waits, Waits::Gfx9 | Waits::Gfx10) {
                return None;
            }
            (kind, second >> 24, i64::from(first & 0xfff))
        } else {
            return None;
        };
        let bytes = match kind {
            "byte" | "b8" => 1,
            "short" | "b16" => 2,
            "dword" | "b32" => 4,
            "dwordx2" | "b64" => 8,
            "dwordx3" | "b96" => 12,
            "dwordx4" | "b128" => 16,
            _ => return None,
        };
        Some((register as u16, offset..offset + bytes))
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
    /// Indices of the instructions after which a wave can run each instruction.
    before: Vec<SmallVec<[u32; 2]>>,
    /// Whether the wave's masks of lanes are 64 bits.
    pub is_wide: bool,
}

impl Code {
    /// Decodes a function. `None` if an instruction's size is not known, or a jump goes to an unknown address within
    /// the function.
    /// `changed` returns the registers that the function at an address changes.
    pub(super) fn read(
        object: &Object<'_>,
        set: InstructionSet,
        pcs: Range<u64>,
        lanes: u32,
        changed: &dyn Fn(u64) -> Option<Rc<Changed>>,
    ) -> Option<Self> {
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
            instructions.push(Instruction { pc, decoded, flow, target, words: words(rest), called: None });
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
        let mut code = Self { instructions, before, is_wide: lanes > 32 };
        for index in 0..code.instructions.len() {
            if code.instructions[index].flow == Flow::Call {
                let called = code.called(index).and_then(changed);
                code.instructions[index].called = called;
            }
        }
        Some(code)
    }

    /// Returns the address of the function that an instruction calls, if the instructions before it compute the address
    /// from the pc: `s_getpc_b64`, then additions of a constant to the halves.
    fn called(&self, index: usize) -> Option<u64> {
        let call = &self.instructions[index];
        let Some(SourceOperand::Register(RegisterKind::Scalar, low)) = call.decoded.source else {
            return None;
        };
        let high = low + 1;
        let mut added: Option<i64> = None;
        let mut carried: Option<i64> = None;
        let mut later = index;
        while later > 0 && self.is_straight(later) {
            later -= 1;
            let instruction = &self.instructions[later];
            let is_changed = |number| instruction.changes((RegisterKind::Scalar, number));
            if !is_changed(low) && !is_changed(high) {
                continue;
            }
            let source = instruction.decoded.source;
            let is_own = |number| source == Some(SourceOperand::Register(RegisterKind::Scalar, number));
            match (instruction.name(), instruction.decoded.second) {
                ("s_getpc_b64", _)
                    if instruction.writes().first().is_some_and(|write| write.first == low) =>
                {
                    let by = (carried? << 32).wrapping_add(i64::from(added? as u32));
                    // The addition of the low half carries into the high half.
                    return Some(instruction.end().wrapping_add_signed(by));
                }
                ("s_add_u32" | "s_add_co_u32", Some(SourceOperand::Constant(by)))
                    if is_own(low) && !is_changed(high) && added.is_none() =>
                {
                    added = Some(by);
                }
                ("s_addc_u32" | "s_add_co_ci_u32", Some(SourceOperand::Constant(by)))
                    if is_own(high) && !is_changed(low) && carried.is_none() =>
                {
                    carried = Some(by);
                }
                _ => return None,
            }
        }
        None
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

/// Returns the first two words of an instruction; the second is 0 if there is none.
fn words(bytes: &[u8]) -> [u32; 2] {
    [0, 4].map(|start| {
        let word = bytes.get(start..start + 4).and_then(|word| word.try_into().ok());
        word.map_or(0, u32::from_le_bytes)
    })
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
    format!("{:#x}: {}", instruction.pc, instruction.decoded)
}

/// Returns a register's name.
pub(super) fn register_name((kind, number): Register) -> String {
    Destination::new(kind, number..number + 1).to_string()
}
