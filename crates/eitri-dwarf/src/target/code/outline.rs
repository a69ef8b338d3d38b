//! Instruction outlines: size, and whether the instruction changes the pc or `exec`. A scan of a function needs no more.
//!
//! The upper half of the first word determines the outline of most instructions, so that a table with 2^16 classes
//! answers without decoding. Other instructions are decoded with their operands.

use super::format::{DPP, DPP8, Dwords, LITERAL, SDWA};
use super::table::{Exec, Flow, Format, Generation, Tables};
use super::{EXEC, InstructionSet, RegisterKind};

/// Outline of an instruction: what a function scan needs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Outline {
    /// Size in bytes.
    #[doc(hidden)]
    pub bytes: u8,
    #[doc(hidden)]
    pub flow: Flow,
    #[doc(hidden)]
    pub writes_exec: bool,
    /// Scalar register to which the instruction copies `exec`.
    #[doc(hidden)]
    pub copies_exec: Option<u16>,
    /// Vector register with a scratch address.
    #[doc(hidden)]
    pub scratch_address: Option<u16>,
}

impl Outline {
    /// Returns the outline of an instruction without effects other than scratch memory access.
    fn plain(bytes: u8, scratch_address: Option<u16>) -> Self {
        Self { bytes, flow: Flow::Next, writes_exec: false, copies_exec: None, scratch_address }
    }
}

/// Classes of frequent encodings: these instructions neither change the pc nor use `exec` as an operand.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Class {
    /// Another opcode: the operands decide.
    Any,
    /// One word.
    OneWord,
    /// Two words.
    Two,
    /// Scalar arithmetic: one word, and possibly a literal.
    Scalar,
    /// Vector arithmetic: one word, and possibly a literal.
    Vector,
    /// Vector arithmetic with the opcode in the lower half.
    Vop1,
    /// Vector arithmetic in two words, and possibly a literal.
    Vop3,
    /// `Vop3` with a scalar destination.
    Vop3Scalar,
    /// Scalar load.
    Smem,
    /// Memory access through a buffer.
    Buffer,
    /// Memory access by an address.
    Flat,
}

/// Maximum number of scalar registers that an instruction writes.
const MOST_SCALARS: u32 = 16;

/// Whether `exec` is not among `count` registers from a destination on.
fn is_below_exec(destination: u32, count: u32) -> bool {
    u32::from(EXEC).wrapping_sub(destination) >= count
}

impl Class {
    /// Returns the class of instructions with this upper half of the first word.
    pub(super) fn of(generation: Generation, tables: &Tables, high: u16) -> Self {
        use Generation::{Gfx9, Gfx10, Gfx11, Gfx12};
        let words = Dwords { bytes: &[], first: u32::from(high) << 16 };
        let field = |first, bits| words.field(first, bits);
        let exec =
            |format, opcode| tables.row(format, opcode).filter(|row| !row.has_literal).map(|row| row.exec);
        // The upper half contains the destination.
        let if_plain = |class, format, opcode, destination| match exec(format, opcode) {
            Some(Exec::Never) => class,
            Some(Exec::AmongScalars(count)) if is_below_exec(destination, count.into()) => class,
            _ => Self::Any,
        };
        let if_never = |class, format, opcode| match exec(format, opcode) {
            Some(Exec::Never) => class,
            _ => Self::Any,
        };
        match (words.first >> 26, generation) {
            (0..0b10_0000, _) => match field(25, 6) {
                0b111111 => Self::Vop1,
                0b111110 => if_never(Self::Vector, Format::VopC, field(17, 8)),
                opcode => if_plain(Self::Vector, Format::Vop2, opcode, field(17, 8)),
            },
            (0b10_0000..0b11_0000, _) => match field(23, 9) {
                // The lower half contains the opcode.
                0b1_0111_1101 => Self::Any,
                0b1_0111_1110 => if_never(Self::Scalar, Format::SopC, field(16, 7)),
                0b1_0111_1111 => if_never(Self::OneWord, Format::SopP, field(16, 7)),
                prefix if prefix >> 5 == 0b1011 => {
                    if_plain(Self::OneWord, Format::SopK, prefix & 0x1f, field(16, 7))
                }
                prefix => if_plain(Self::Scalar, Format::Sop2, prefix & 0x7f, field(16, 7)),
            },
            (0b110000, Gfx9) | (0b111101, Gfx10 | Gfx11) => match exec(Format::Smem, field(18, 8)) {
                Some(Exec::Never) => Self::Two,
                Some(Exec::AmongScalars(count)) if u32::from(count) <= MOST_SCALARS => Self::Smem,
                _ => Self::Any,
            },
            (0b110100, Gfx9) if words.first >> 23 != 0b1_1010_0111 => {
                if_never(Self::Two, Format::Vop3, field(16, 10))
            }
            (0b110101, Gfx10 | Gfx11 | Gfx12) => match exec(Format::Vop3, field(16, 10)) {
                Some(Exec::Never) => Self::Vop3,
                Some(Exec::AmongScalars(count)) if u32::from(count) <= MOST_SCALARS => Self::Vop3Scalar,
                _ => Self::Any,
            },
            (0b110110, Gfx9) => if_never(Self::Two, Format::Ds, field(17, 8)),
            (0b110110, _) => if_never(Self::Two, Format::Ds, field(18, 8)),
            // Other gfx12 opcodes reach into the lower half.
            (_, Gfx12) => Self::Any,
            (0b111000, Gfx9) => if_never(Self::Buffer, Format::MuBuf, field(18, 7)),
            (0b111000, _) => if_never(Self::Buffer, Format::MuBuf, field(18, 8)),
            (0b110111, _) => {
                let formats = [Format::Flat, Format::Scratch, Format::Global];
                let is_never = |format| exec(format, field(18, 7)) == Some(Exec::Never);
                if formats.into_iter().all(is_never) { Self::Flat } else { Self::Any }
            }
            _ => Self::Any,
        }
    }
}

impl InstructionSet {
    /// Returns the size in bytes of the instruction at the start of the bytes, and the vector register with a scratch
    /// address, if the encoding is frequent. The instruction neither changes the pc nor uses `exec` as an operand.
    #[inline]
    #[doc(hidden)]
    pub fn decode_frequent(&self, bytes: &[u8]) -> Option<(usize, Option<u16>)> {
        let first = u32::from_le_bytes(*bytes.first_chunk()?);
        let words = &Dwords { bytes, first };
        let literal = |is: bool| if is { 4 } else { 0 };
        let vector = |source: u32| {
            let has_modifiers = source == SDWA || source == DPP || DPP8.contains(&source);
            (!has_modifiers).then_some(4 + literal(source == LITERAL))
        };
        let vop3 = || {
            let second = words.word(1)?;
            let source = second & 0x1ff;
            let has_modifiers =
                self.generation >= Generation::Gfx11 && (source == DPP || DPP8.contains(&source));
            (!has_modifiers).then_some(8 + literal(self.has_literal(second)))
        };
        let mut address = None;
        let size = match self.tables.class(first) {
            Class::OneWord => 4,
            Class::Two => 8,
            Class::Scalar => 4 + literal(first & 0xff == LITERAL || first >> 8 & 0xff == LITERAL),
            Class::Vector => vector(first & 0x1ff)?,
            Class::Vop1 => {
                let row = self.tables.row(Format::Vop1, words.field(9, 8))?;
                if row.has_literal || row.exec != Exec::Never {
                    return None;
                }
                vector(first & 0x1ff)?
            }
            Class::Vop3 => vop3()?,
            Class::Vop3Scalar if is_below_exec(words.field(0, 8), MOST_SCALARS) => vop3()?,
            Class::Smem if is_below_exec(words.field(6, 7), MOST_SCALARS) => 8,
            Class::Buffer => {
                address = self.buffer_address(words, words.word(1)?);
                8
            }
            Class::Flat => {
                address = self.flat_address(words, words.word(1)?);
                8
            }
            _ => return None,
        };
        (size <= bytes.len()).then_some((size, address))
    }

    /// Decodes the instruction at the start of the bytes without its operands. `None` if [`decode`](Self::decode) returns
    /// `None`, and for an unknown opcode that can change the pc.
    #[doc(hidden)]
    pub fn outline(&self, bytes: &[u8]) -> Option<Outline> {
        let words = &Dwords { bytes, first: u32::from_le_bytes(*bytes.first_chunk()?) };
        let mut outline = Outline::plain(0, None);
        if let Some(dual) = self.dual(words)? {
            return Some(Outline { bytes: dual.bytes, ..outline });
        }
        let fields = self.fields(words)?;
        outline.bytes = 4 * fields.words;
        words.bytes.get(..usize::from(outline.bytes))?;
        outline.scratch_address = fields.scratch_address;
        let row = fields.format.and_then(|(format, opcode)| self.tables.row(format, opcode));
        if let Some(row) = row {
            outline.flow = row.flow;
            if fields.sources[0] == Some(EXEC.into()) && row.name.starts_with("s_mov_") {
                outline.copies_exec = Some(fields.destination as u16);
            }
            outline.writes_exec = row.destinations.filter(|_| !fields.is_unknown).is_some_and(|to| {
                let is_scalar = to.field.is_some_and(|field| field.0 == Some(RegisterKind::Scalar));
                (is_scalar || to.mask || to.vcc || to.exec)
                    && self
                        .destinations(to, &fields)
                        .iter()
                        .any(|destination| destination.contains(RegisterKind::Scalar, EXEC))
            });
        } else if matches!(fields.format, Some((Format::SopP | Format::SopK | Format::Sop1, _))) {
            // An unknown opcode in these formats may be a branch.
            return None;
        }
        Some(outline)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::target::{Gfx, Wave};

    /// The classes give the same size and address as the decoder.
    #[test]
    fn frequent_encodings_have_the_decoded_size_and_address() {
        for (gfx, wave) in [
            ("gfx900", Wave::W64),
            ("gfx942", Wave::W64),
            ("gfx1030", Wave::W32),
            ("gfx1030", Wave::W64),
            ("gfx1100", Wave::W32),
            ("gfx1200", Wave::W32),
        ] {
            let set = InstructionSet::of(Gfx::named(gfx).unwrap(), wave).unwrap();
            let mut seed = 1u64;
            let mut count = 0;
            for high in 0..=0xffff_u32 {
                for low in 0..8 {
                    seed = seed.wrapping_mul(0x5851_f42d_4c95_7f2d).wrapping_add(0x1405_7b7e_f767_814f);
                    // The lowest bits choose a literal or modifiers, or `exec` as the destination or source.
                    let source = [seed >> 32, 255, 250, 249, 126, 0x7e7e, 233, 0x7eff][low] as u32 & 0xffff;
                    let bytes = [high << 16 | source, (seed >> 20) as u32, seed as u32];
                    let bytes = bytes.map(u32::to_le_bytes).concat();
                    for bytes in [&bytes[..], &bytes[..8], &bytes[..4]] {
                        if let Some((size, address)) = set.decode_frequent(bytes) {
                            let plain = Outline::plain(size as u8, address);
                            assert_eq!(Some(plain), set.outline(bytes), "{gfx} {bytes:02x?}");
                            count += 1;
                        }
                    }
                }
            }
            assert!(count > 100_000, "{gfx}: {count}");
        }
    }
}
