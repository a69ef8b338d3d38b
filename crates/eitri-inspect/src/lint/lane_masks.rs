//! Lane masks as a single lane sees them: a bit in `exec`, and a bit in each scalar register that `exec` depends on.
//!
//! Instructions on lane masks work bit by bit, so that the code's effect on a lane depends on that lane's bits alone. Only a
//! comparison chooses: its result is a bit of either value.

use eitri_dwarf::target::code::{DecodedInstruction, EXEC, RegisterKind, SourceOperand, VCC};
use eitri_dwarf::target::is_preserved;
use smallvec::{SmallVec, smallvec};

/// A lane's bit in a mask.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(super) enum Bit {
    /// 0.
    Off,
    /// 1, because the lane was in a mask that the code follows.
    On,
    /// 1, because all bits are: a constant, or the complement of a mask. Whole-wave code switches lanes on by it that the
    /// program has switched off.
    Ones,
    /// Either.
    Unknown,
}

impl Bit {
    fn not(self) -> Self {
        match self {
            Self::Off => Self::Ones,
            Self::On | Self::Ones => Self::Off,
            Self::Unknown => Self::Unknown,
        }
    }

    fn and(self, other: Self) -> Self {
        match (self, other) {
            (Self::Off, _) | (_, Self::Off) => Self::Off,
            (Self::Unknown, _) | (_, Self::Unknown) => Self::Unknown,
            (Self::Ones, Self::Ones) => Self::Ones,
            _ => Self::On,
        }
    }

    fn or(self, other: Self) -> Self {
        match (self, other) {
            (Self::On, _) | (_, Self::On) => Self::On,
            (Self::Ones, _) | (_, Self::Ones) => Self::Ones,
            (Self::Unknown, _) | (_, Self::Unknown) => Self::Unknown,
            _ => Self::Off,
        }
    }

    fn xor(self, other: Self) -> Self {
        match (self, other) {
            (Self::Unknown, _) | (_, Self::Unknown) => Self::Unknown,
            (Self::Off, bit) | (bit, Self::Off) => bit,
            _ => Self::Off,
        }
    }
}

/// Bits in the masks that are followed, in the order of their registers. The first is `exec`.
pub(super) type Bits = SmallVec<[Bit; 12]>;

/// Limit on masks in a function.
const MOST_MASKS: usize = 64;

/// Scalar registers that `exec` depends on.
#[derive(Debug)]
pub(super) struct Masks {
    /// Number of 32-bit registers in a mask.
    count: u16,
    /// First register of each mask: `exec` before all others.
    registers: Vec<u16>,
}

/// Result of an operation on two masks.
#[derive(Debug, Clone, Copy)]
struct Operation {
    name: Combine,
    /// Whether an operand is complemented.
    is_first_inverted: bool,
    is_second_inverted: bool,
    is_result_inverted: bool,
}

#[derive(Debug, Clone, Copy)]
enum Combine {
    And,
    Or,
    Xor,
}

impl Operation {
    /// Returns an operation by its name between `s_` and the size or `_saveexec`.
    fn named(name: &str) -> Option<Self> {
        let plain = |name| Self {
            name,
            is_first_inverted: false,
            is_second_inverted: false,
            is_result_inverted: false,
        };
        Some(match name {
            "and" => plain(Combine::And),
            "or" => plain(Combine::Or),
            "xor" => plain(Combine::Xor),
            // The names before gfx11, and from then on.
            "andn2" | "and_not1" => Self { is_second_inverted: true, ..plain(Combine::And) },
            "orn2" | "or_not1" => Self { is_second_inverted: true, ..plain(Combine::Or) },
            "andn1" | "and_not0" => Self { is_first_inverted: true, ..plain(Combine::And) },
            "orn1" | "or_not0" => Self { is_first_inverted: true, ..plain(Combine::Or) },
            "nand" => Self { is_result_inverted: true, ..plain(Combine::And) },
            "nor" => Self { is_result_inverted: true, ..plain(Combine::Or) },
            "xnor" => Self { is_result_inverted: true, ..plain(Combine::Xor) },
            _ => return None,
        })
    }

    fn apply(self, first: Bit, second: Bit) -> Bit {
        let first = if self.is_first_inverted { first.not() } else { first };
        let second = if self.is_second_inverted { second.not() } else { second };
        let result = match self.name {
            Combine::And => first.and(second),
            Combine::Or => first.or(second),
            Combine::Xor => first.xor(second),
        };
        if self.is_result_inverted { result.not() } else { result }
    }
}

/// Whether an instruction continues in a function that can write registers.
pub(super) fn is_call(instruction: &DecodedInstruction) -> bool {
    matches!(instruction.name, Some("s_swappc_b64" | "s_call_b64"))
}

impl Masks {
    /// Returns the masks that `exec` depends on, for masks with this number of registers. `None` if they are too many, and
    /// if an instruction has unknown destinations.
    pub(super) fn new<'i>(
        count: u16,
        instructions: impl Iterator<Item = &'i DecodedInstruction> + Clone,
    ) -> Option<Self> {
        let mut masks = Self { count, registers: vec![EXEC, VCC] };
        loop {
            let known = masks.registers.len();
            for instruction in instructions.clone() {
                eitri_dwarf::work::step();
                let writes_mask = instruction.writes()?.iter().any(|write| {
                    write.kind == RegisterKind::Scalar && masks.registers.contains(&write.first)
                });
                if !writes_mask {
                    continue;
                }
                for source in [instruction.source, instruction.second].into_iter().flatten() {
                    if let SourceOperand::Register(RegisterKind::Scalar, number) = source
                        && !masks.registers.contains(&number)
                    {
                        masks.registers.push(number);
                    }
                }
            }
            if masks.registers.len() > MOST_MASKS {
                return None;
            }
            if masks.registers.len() == known {
                return Some(masks);
            }
        }
    }

    /// Returns the bits at a function's start of a lane whose bit in `exec` is given.
    pub(super) fn start(&self, exec: Bit) -> Bits {
        let mut bits: Bits = smallvec![Bit::Unknown; self.registers.len()];
        bits[0] = exec;
        bits
    }

    /// Returns a lane's bit in `vcc`.
    pub(super) fn vcc(&self, bits: &Bits) -> Bit {
        bits[1]
    }

    /// Returns the masks, as bits by index, that an instruction reads, and those that it overwrites.
    pub(super) fn used(&self, instruction: &DecodedInstruction) -> (u64, u64) {
        let index = |register: u16| self.registers.iter().position(|known| *known == register);
        // A vector instruction's result in a mask depends on `exec`, which is always kept.
        let mut reads = 1;
        for source in [instruction.source, instruction.second].into_iter().flatten() {
            if let SourceOperand::Register(RegisterKind::Scalar, number) = source {
                reads |= index(number).map_or(0, |index| 1 << index);
            }
        }
        if instruction.name.is_some_and(|name| name.starts_with("s_cbranch_vcc")) {
            reads |= 2;
        }
        let mut writes = 0;
        for (index, register) in self.registers.iter().enumerate().skip(1) {
            let is_written = instruction.writes().into_iter().flatten().any(|write| {
                write.kind == RegisterKind::Scalar
                    && write.first <= *register
                    && register + self.count <= write.first + write.count
            });
            writes |= u64::from(is_written) << index;
        }
        (reads, writes)
    }

    fn bit(&self, bits: &Bits, operand: Option<SourceOperand>) -> Bit {
        match operand {
            Some(SourceOperand::Constant(0)) => Bit::Off,
            Some(SourceOperand::Constant(-1)) => Bit::Ones,
            Some(SourceOperand::Register(RegisterKind::Scalar, number)) => {
                let index = self.registers.iter().position(|known| *known == number);
                index.map_or(Bit::Unknown, |index| bits[index])
            }
            _ => Bit::Unknown,
        }
    }

    /// Sets the masks that some registers belong to: a mask in exactly these registers to a bit, and parts of masks to
    /// unknown bits.
    fn set(&self, bits: &mut Bits, first: u16, count: u16, bit: Bit) {
        for (known, register) in bits.iter_mut().zip(&self.registers) {
            if *register == first && count == self.count {
                *known = bit;
            } else if first < register + self.count && *register < first + count {
                *known = Bit::Unknown;
            }
        }
    }

    /// Returns the bits after an instruction: several possibilities if it chooses.
    pub(super) fn after(&self, bits: &Bits, instruction: &DecodedInstruction) -> SmallVec<[Bits; 2]> {
        let mut next = bits.clone();
        if is_call(instruction) {
            for (bit, register) in next.iter_mut().zip(&self.registers).skip(1) {
                if *register == VCC || !is_preserved(RegisterKind::Scalar, *register) {
                    *bit = Bit::Unknown;
                }
            }
        }
        let name = instruction.name.unwrap_or_default();
        let exec = bits[0];
        let writes = instruction.writes().unwrap_or_default();
        let mut scalars = writes.iter().filter(|write| write.kind == RegisterKind::Scalar);
        let Some(write) = scalars.next() else { return smallvec![next] };
        if name.starts_with("v_") {
            return self.compared(bits, name, writes);
        }
        let size = if self.count == 1 { "_b32" } else { "_b64" };
        let stem = name.strip_prefix("s_").and_then(|name| name.strip_suffix(size));
        let first = self.bit(bits, instruction.source);
        let second = self.bit(bits, instruction.second);
        let saved = stem.and_then(|stem| Operation::named(stem.strip_suffix("_saveexec")?));
        let written = stem.and_then(|stem| Operation::named(stem.strip_suffix("_wrexec")?));
        if let Some(operation) = saved {
            self.set(&mut next, write.first, write.count, exec);
            next[0] = operation.apply(first, exec);
        } else if let Some(operation) = written {
            next[0] = operation.apply(first, exec);
            let result = next[0];
            self.set(&mut next, write.first, write.count, result);
        } else if stem == Some("cselect") && write.count == self.count {
            let mut other = next.clone();
            self.set(&mut next, write.first, write.count, first);
            self.set(&mut other, write.first, write.count, second);
            return smallvec![next, other];
        } else {
            let result = match stem {
                // All bits of `exec`: a lane that is on stays on, for the program as well.
                Some("mov") if write.first == EXEC && first == Bit::Ones && exec == Bit::On => Bit::On,
                Some("mov") => first,
                Some("not") => first.not(),
                Some(stem) => {
                    Operation::named(stem).map_or(Bit::Unknown, |operation| operation.apply(first, second))
                }
                None => Bit::Unknown,
            };
            for write in writes.iter().filter(|write| write.kind == RegisterKind::Scalar) {
                self.set(&mut next, write.first, write.count, result);
            }
        }
        smallvec![next]
    }

    /// Returns the bits after a vector instruction that writes scalar registers: a lane mask, which has 0 for lanes that
    /// are off, or a number.
    fn compared(
        &self,
        bits: &Bits,
        name: &str,
        writes: &[eitri_dwarf::target::code::Destination],
    ) -> SmallVec<[Bits; 2]> {
        let is_number = name.starts_with("v_readlane") || name.starts_with("v_readfirstlane");
        let choices: SmallVec<[Bit; 2]> = match bits[0] {
            _ if is_number => smallvec![Bit::Unknown],
            Bit::Off => smallvec![Bit::Off],
            Bit::Unknown => smallvec![Bit::Unknown],
            bit => smallvec![bit, Bit::Off],
        };
        let with = |choice: Bit| {
            let mut next = bits.clone();
            for write in writes.iter().filter(|write| write.kind == RegisterKind::Scalar) {
                self.set(&mut next, write.first, write.count, choice);
            }
            next
        };
        choices.into_iter().map(with).collect()
    }
}
