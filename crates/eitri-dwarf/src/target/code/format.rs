//! Instruction formats: length, opcode and operand fields.

use core::fmt;

use smallvec::SmallVec;

use super::table::{Destinations, Format, Generation};
use super::{Destination, EXEC, InstructionSet, RegisterKind, VCC};
use crate::target::Wave;

/// A decoded instruction.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct DecodedInstruction {
    /// Size in bytes.
    pub bytes: u8,
    /// Name without the encoding suffix; `None` if the opcode is not in the table.
    pub name: Option<&'static str>,
    writes: Option<SmallVec<[Destination; 2]>>,
    /// Vector register with a scratch address that the instruction reads or writes.
    pub scratch_address: Option<u16>,
    /// First source operand of scalar and vector arithmetic; the base of a scalar load; the LDS address.
    pub source: Option<SourceOperand>,
    /// Second source operand of scalar and vector arithmetic; the offset of a scalar load in bytes.
    pub second: Option<SourceOperand>,
    /// Third source operand of vector arithmetic with two words; an instruction with fewer operands has a scalar register
    /// or a constant there.
    pub third: Option<SourceOperand>,
    /// First of the registers that a store to scratch, or through a buffer, writes to memory.
    pub stored: Option<(RegisterKind, u16)>,
}

/// The name and the destinations: `global_load_dword v3`.
impl fmt::Display for DecodedInstruction {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name.unwrap_or("an instruction"))?;
        for (index, write) in self.writes().into_iter().flatten().enumerate() {
            write!(f, "{}{write}", if index == 0 { " " } else { ", " })?;
        }
        Ok(())
    }
}

/// Source operand of an instruction.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum SourceOperand {
    /// A 32-bit register, or the first of several.
    Register(RegisterKind, u16),
    /// An integer.
    Constant(i64),
    /// Another operand: a fraction, a status bit, or memory.
    Other,
}

/// Operand code for a literal after the instruction.
pub(super) const LITERAL: u32 = 255;
/// Operand codes for a second word with modifiers.
pub(super) const SDWA: u32 = 249;
pub(super) const DPP: u32 = 250;
pub(super) const DPP8: [u32; 2] = [233, 234];

/// Returns the source operands in the second word of vector arithmetic. With modifiers, the first one is elsewhere.
fn three_sources(second: u32, has_modifiers: bool) -> [Option<u32>; 3] {
    let source = |from: u32| Some(second >> from & 0x1ff);
    [source(0).filter(|_| !has_modifiers), source(9), source(18)]
}

/// Dwords of an instruction.
pub(super) struct Dwords<'b> {
    pub(super) bytes: &'b [u8],
    pub(super) first: u32,
}

impl Dwords<'_> {
    /// Returns a dword by index; `None` past the bytes.
    #[inline]
    pub(super) fn word(&self, number: usize) -> Option<u32> {
        let bytes = self.bytes.get(4 * number..4 * number + 4)?;
        Some(u32::from_le_bytes(bytes.try_into().ok()?))
    }

    /// Returns `bits` bits from the first dword, from bit `first` on.
    #[inline]
    pub(super) fn field(&self, first: u32, bits: u32) -> u32 {
        self.first >> first & ((1 << bits) - 1)
    }
}

/// Fields of an instruction, whatever its format.
pub(super) struct Fields {
    pub(super) words: u8,
    pub(super) format: Option<(Format, u32)>,
    pub(super) destination: u32,
    /// Second destination: a lane mask.
    mask: Option<u32>,
    /// Whether a memory instruction returns a value, by its bit for it.
    returns: bool,
    is_accumulator: bool,
    /// Whether the opcode alone does not determine the destination.
    pub(super) is_unknown: bool,
    pub(super) scratch_address: Option<u16>,
    /// Register with the data of a memory instruction, if it is a store.
    data: Option<u32>,
    pub(super) sources: [Option<u32>; 3],
    /// Offset of a scalar load in bytes.
    offset: Option<i64>,
    /// Index of the dword with the literal, if a source has one.
    literal: usize,
}

impl Fields {
    fn new(words: u8, format: Format, opcode: u32, destination: u32) -> Self {
        Self { format: Some((format, opcode)), destination, ..Self::unknown(words) }
    }

    fn unknown(words: u8) -> Self {
        Self {
            words,
            format: None,
            destination: 0,
            mask: None,
            returns: false,
            is_accumulator: false,
            is_unknown: false,
            scratch_address: None,
            data: None,
            sources: [None; 3],
            offset: None,
            literal: 1,
        }
    }
}

impl DecodedInstruction {
    /// Registers that the instruction writes; `None` if they are unknown.
    pub fn writes(&self) -> Option<&[Destination]> {
        self.writes.as_deref()
    }
}

impl InstructionSet {
    /// Returns the size in bytes of the instruction at the start of the bytes, and the registers that it writes if they
    /// are known, like [`decode`](Self::decode), but without the operands.
    #[doc(hidden)]
    pub fn decode_destinations(&self, bytes: &[u8]) -> Option<(u8, Option<SmallVec<[Destination; 2]>>)> {
        let first = u32::from_le_bytes(bytes.get(..4)?.try_into().ok()?);
        let words = Dwords { bytes, first };
        if let Some(dual) = self.dual(&words)? {
            return Some((dual.bytes, dual.writes));
        }
        let fields = self.fields(&words)?;
        let size = 4 * fields.words;
        bytes.get(..usize::from(size))?;
        let row = fields.format.and_then(|(format, opcode)| self.tables.row(format, opcode));
        let to = row.and_then(|row| row.destinations).filter(|_| !fields.is_unknown);
        Some((size, to.map(|to| self.destinations(to, &fields))))
    }

    /// Decodes the instruction at the start of the bytes. `None` if the bytes end within it or its length is unknown.
    pub fn decode(&self, bytes: &[u8]) -> Option<DecodedInstruction> {
        let first = u32::from_le_bytes(bytes.get(..4)?.try_into().ok()?);
        let words = Dwords { bytes, first };
        if let Some(dual) = self.dual(&words)? {
            return Some(dual);
        }
        let fields = self.fields(&words)?;
        bytes.get(..4 * usize::from(fields.words))?;
        let row = fields.format.and_then(|(format, opcode)| self.tables.row(format, opcode));
        let writes = row.and_then(|row| row.destinations).filter(|_| !fields.is_unknown);
        let source = |code: Option<u32>| code.map(|code| self.source(code, words.word(fields.literal)));
        Some(DecodedInstruction {
            bytes: 4 * fields.words,
            name: row.map(|row| row.name),
            writes: writes.map(|to| self.destinations(to, &fields)),
            scratch_address: fields.scratch_address,
            source: match fields.format {
                // A 16-bit number in the instruction.
                Some((Format::SopK | Format::SopP, _)) => {
                    Some(SourceOperand::Constant(i64::from(first as u16 as i16)))
                }
                _ => source(fields.sources[0]),
            },
            second: fields.offset.map(SourceOperand::Constant).or_else(|| source(fields.sources[1])),
            third: source(fields.sources[2]),
            stored: fields.data.filter(|_| row.is_some_and(|row| row.name.contains("_store_"))).map(
                |number| {
                    let is_accumulator = fields.is_accumulator;
                    let kind = if is_accumulator { RegisterKind::Accumulator } else { RegisterKind::Vector };
                    (kind, number as u16)
                },
            ),
        })
    }

    pub(super) fn destinations(&self, to: Destinations, fields: &Fields) -> SmallVec<[Destination; 2]> {
        let mut destinations = SmallVec::new();
        let mut add = |kind, first: u32, count| {
            // The null register: writes to it have no effect.
            let null = if self.generation >= Generation::Gfx11 { 124 } else { 125 };
            if kind != RegisterKind::Scalar || first != null || self.generation == Generation::Gfx9 {
                destinations.push(Destination { kind, first: first as u16, count });
            }
        };
        let mask = match self.wave {
            Wave::W32 => 1,
            Wave::W64 => 2,
        };
        if let Some((kind, count)) = to.field.filter(|_| !to.if_returned || fields.returns) {
            let is_accumulator = self.has_fixed_accumulators || fields.is_accumulator;
            let matrix = if is_accumulator { RegisterKind::Accumulator } else { RegisterKind::Vector };
            let kind = match kind {
                Some(RegisterKind::Vector) if fields.is_accumulator => RegisterKind::Accumulator,
                kind => kind.unwrap_or(matrix),
            };
            let is_half = to.is_halved && self.wave == Wave::W64;
            add(kind, fields.destination, if is_half { count / 2 } else { count });
        }
        if to.mask {
            let mask_field = if to.field.is_some() { fields.mask } else { Some(fields.destination) };
            add(RegisterKind::Scalar, mask_field.unwrap_or(VCC.into()), mask);
        }
        if to.vcc {
            add(RegisterKind::Scalar, fields.mask.unwrap_or(VCC.into()), mask);
        }
        if to.exec {
            add(RegisterKind::Scalar, EXEC.into(), mask);
        }
        destinations
    }

    fn source(&self, code: u32, literal: Option<u32>) -> SourceOperand {
        match code {
            0..=127 => SourceOperand::Register(RegisterKind::Scalar, code as u16),
            128..=192 => SourceOperand::Constant(i64::from(code) - 128),
            193..=208 => SourceOperand::Constant(192 - i64::from(code)),
            LITERAL => {
                literal.map_or(SourceOperand::Other, |word| SourceOperand::Constant(i64::from(word as i32)))
            }
            256..=511 => SourceOperand::Register(RegisterKind::Vector, (code - 256) as u16),
            _ => SourceOperand::Other,
        }
    }

    /// Decodes two operations in one instruction: format VOPD, from gfx11 on. `Some(None)` if the format is another.
    #[inline]
    pub(super) fn dual(&self, words: &Dwords<'_>) -> Option<Option<DecodedInstruction>> {
        if self.generation < Generation::Gfx11 || words.field(26, 6) != 0b110010 {
            return Some(None);
        }
        let second = words.word(1)?;
        let x = words.field(22, 4);
        let y = words.field(17, 5);
        let has_literal = words.field(0, 9) == LITERAL
            || second & 0x1ff == LITERAL
            || [x, y].into_iter().any(|opcode| matches!(opcode, 1 | 2));
        let bytes = if has_literal { 12 } else { 8 };
        words.bytes.get(..bytes)?;
        let to_x = second >> 24;
        // The low bit is not encoded: the destinations must have different parity.
        let to_y = (second >> 17 & 0x7f) << 1 | (!to_x & 1);
        let write = |first| Destination { kind: RegisterKind::Vector, first: first as u16, count: 1 };
        Some(Some(DecodedInstruction {
            bytes: bytes as u8,
            name: Some("v_dual"),
            writes: Some([to_x, to_y].into_iter().map(write).collect()),
            scratch_address: None,
            source: None,
            second: None,
            third: None,
            stored: None,
        }))
    }

    #[inline]
    pub(super) fn fields(&self, words: &Dwords<'_>) -> Option<Fields> {
        use Generation::{Gfx9, Gfx10, Gfx11, Gfx12};
        let first = words.first;
        let generation = self.generation;
        if first >> 31 == 0 {
            return self.vector(words);
        }
        if first >> 30 == 0b10 {
            return Some(self.scalar(words));
        }
        // Interpolation: VINTRP, and LDSDIR from gfx11 on.
        if matches!((first >> 26, generation), (0b110101, Gfx9) | (0b110010, Gfx10))
            || generation >= Gfx11 && first >> 24 == 0b1100_1110
        {
            return Some(Fields::unknown(1));
        }
        let second = words.word(1)?;
        Some(match (first >> 26, generation) {
            (0b110000, Gfx9) | (0b111101, Gfx10 | Gfx11 | Gfx12) => {
                let opcode = if generation == Gfx12 { words.field(13, 6) } else { words.field(18, 8) };
                let mut fields = Fields::new(2, Format::Smem, opcode, words.field(6, 7));
                fields.returns = first >> if generation == Gfx11 { 14 } else { 16 } & 1 != 0;
                // Base registers and an immediate offset, without an offset register.
                let is_plain = match generation {
                    Gfx9 => words.field(17, 1) == 1 && words.field(14, 1) == 0,
                    Gfx10 => second >> 25 == 125,
                    Gfx11 | Gfx12 => second >> 25 == 124,
                };
                let unused = if generation == Gfx12 { 8 } else { 11 };
                fields.sources[0] = Some(words.field(0, 6) << 1);
                fields.offset = is_plain.then_some(i64::from((second << unused) as i32 >> unused));
                fields
            }
            (0b110100, Gfx9) if first >> 23 == 0b1_1010_0111 => self.packed(words, second),
            (0b110011, Gfx10 | Gfx11 | Gfx12) if first >> 23 == 0b1_1001_1000 => self.packed(words, second),
            (0b110100, Gfx9) | (0b110101, Gfx10 | Gfx11 | Gfx12) => self.vop3(words, second),
            // Interpolation: VINTERP.
            (0b110011, Gfx11 | Gfx12) => Fields::unknown(2),
            (0b110110, _) => {
                let opcode = if generation == Gfx9 { words.field(17, 8) } else { words.field(18, 8) };
                let mut fields = Fields::new(2, Format::Ds, opcode, second >> 24);
                fields.is_accumulator = self.has_unified_registers && words.field(25, 1) != 0;
                fields.sources[0] = Some(256 + (second & 0xff));
                fields
            }
            (0b111011, Gfx12) => self.flat(words, second),
            (0b110001, Gfx12) => self.buffer(words, second),
            // Images: VIMAGE and VSAMPLE.
            (0b110100 | 0b111001, Gfx12) => Fields::unknown(3),
            (0b111110, Gfx12) => Fields::unknown(2),
            (_, Gfx12) => return None,
            (0b110111, _) => self.flat(words, second),
            (0b111000, _) => self.buffer(words, second),
            (0b110001, Gfx9) | (0b111110, Gfx10 | Gfx11) | (0b111010, _) => Fields::unknown(2),
            // Images: addresses that are not contiguous take more words.
            (0b111100, Gfx9) => Fields::unknown(2),
            (0b111100, Gfx10) => Fields::unknown(2 + words.field(1, 2) as u8),
            (0b111100, Gfx11) => Fields::unknown(2 + words.field(0, 1) as u8),
            _ => return None,
        })
    }

    /// Formats of scalar arithmetic and control.
    fn scalar(&self, words: &Dwords<'_>) -> Fields {
        let with_literal = |codes: &[u32]| 1 + u8::from(codes.contains(&LITERAL));
        let first = words.field(0, 8);
        let second = words.field(8, 8);
        let mut fields = match words.field(23, 9) {
            0b1_0111_1101 => {
                let mut fields =
                    Fields::new(with_literal(&[first]), Format::Sop1, second, words.field(16, 7));
                fields.sources[0] = Some(first);
                fields
            }
            0b1_0111_1110 => Fields::new(with_literal(&[first, second]), Format::SopC, words.field(16, 7), 0),
            0b1_0111_1111 => Fields::new(1, Format::SopP, words.field(16, 7), 0),
            prefix if prefix >> 5 == 0b1011 => {
                Fields::new(1, Format::SopK, prefix & 0x1f, words.field(16, 7))
            }
            prefix => {
                let literal = with_literal(&[first, second]);
                let mut fields = Fields::new(literal, Format::Sop2, prefix & 0x7f, words.field(16, 7));
                fields.sources = [Some(first), Some(second), None];
                fields
            }
        };
        if let Some((format @ (Format::SopK | Format::Sop2), opcode)) = fields.format
            && self.tables.row(format, opcode).is_some_and(|row| row.has_literal)
        {
            fields.words = 2;
        }
        fields
    }

    /// Formats VOP1, VOP2 and VOPC.
    #[inline]
    fn vector(&self, words: &Dwords<'_>) -> Option<Fields> {
        let opcode = words.field(25, 6);
        let source = words.field(0, 9);
        let mut fields = match opcode {
            0b111111 => Fields::new(1, Format::Vop1, words.field(9, 8), words.field(17, 8)),
            0b111110 => Fields::new(1, Format::VopC, words.field(17, 8), 0),
            _ => Fields::new(1, Format::Vop2, opcode, words.field(17, 8)),
        };
        fields.sources = [Some(source), (opcode < 0b111110).then(|| 256 + words.field(9, 8)), None];
        let has_modifiers = match source {
            SDWA => self.generation < Generation::Gfx11,
            DPP => true,
            _ => DPP8.contains(&source) && self.generation != Generation::Gfx9,
        };
        if has_modifiers {
            let second = words.word(1)?;
            fields.sources = [None; 3];
            if source == SDWA && opcode == 0b111110 && second >> 15 & 1 != 0 {
                fields.mask = Some(second >> 8 & 0x7f);
            }
        }
        let row = fields.format.and_then(|(format, opcode)| self.tables.row(format, opcode));
        let needs_literal =
            matches!(fields.format, Some((Format::Vop2, _))) && row.is_some_and(|row| row.has_literal);
        if source == LITERAL || has_modifiers || needs_literal {
            fields.words = 2;
        }
        // Bit 7 of a 16-bit destination selects the half of the register. Older encoders wrote registers above 127.
        if self.generation >= Generation::Gfx11
            && fields.destination >= 128
            && row.is_some_and(|row| row.name.ends_with("16"))
        {
            fields.is_unknown = row.is_some_and(|row| row.name != "v_mov_b16");
            fields.destination &= 0x7f;
        }
        Some(fields)
    }

    #[inline]
    pub(super) fn has_literal(&self, second: u32) -> bool {
        let is_literal = |from: u32| second >> from & 0x1ff == LITERAL;
        self.generation != Generation::Gfx9 && (is_literal(0) || is_literal(9) || is_literal(18))
    }

    #[inline]
    fn vop3(&self, words: &Dwords<'_>, second: u32) -> Fields {
        let source = second & 0x1ff;
        let has_modifiers = self.generation >= Generation::Gfx11 && (source == DPP || DPP8.contains(&source));
        let length = 2 + u8::from(has_modifiers || self.has_literal(second));
        let mut fields = Fields::new(length, Format::Vop3, words.field(16, 10), words.field(0, 8));
        fields.mask = Some(words.field(8, 7));
        fields.sources = three_sources(second, has_modifiers);
        fields.literal = 2;
        fields
    }

    fn packed(&self, words: &Dwords<'_>, second: u32) -> Fields {
        let source = second & 0x1ff;
        let has_modifiers = self.generation >= Generation::Gfx11 && (source == DPP || DPP8.contains(&source));
        let length = 2 + u8::from(has_modifiers || self.has_literal(second));
        let opcode = words.field(16, 7);
        let mut fields = Fields::new(length, Format::Vop3P, opcode, words.field(0, 8));
        // Matrix operations on gfx90a and later choose the register file of the result and of each source.
        let is_matrix = self.generation == Generation::Gfx9 && opcode >= 0x40;
        if !is_matrix {
            fields.sources = three_sources(second, has_modifiers);
            fields.literal = 2;
        }
        fields.is_accumulator = is_matrix && words.field(15, 1) != 0;
        fields
    }

    fn flat(&self, words: &Dwords<'_>, second: u32) -> Fields {
        let format = self.flat_format(words);
        let mut fields = match self.generation {
            Generation::Gfx12 => Fields::new(3, format, words.field(14, 7), second & 0xff),
            _ => Fields::new(2, format, words.field(18, 7), second >> 24),
        };
        fields.returns = match self.generation {
            Generation::Gfx9 | Generation::Gfx10 => words.field(16, 1) != 0,
            Generation::Gfx11 => words.field(14, 1) != 0,
            Generation::Gfx12 => second >> 20 & 1 != 0,
        };
        fields.is_accumulator = self.has_unified_registers && second >> 23 & 1 != 0;
        // Bit 13 on gfx9 and gfx10 moves data to LDS.
        let is_to_lds = !self.has_scratch_address_bit && words.field(13, 1) != 0;
        fields.is_unknown = self.generation < Generation::Gfx11 && is_to_lds && format != Format::Flat;
        fields.scratch_address = self.flat_address(words, second);
        let data = if self.generation == Generation::Gfx12 { second >> 23 } else { second >> 8 };
        fields.data = (format == Format::Scratch).then_some(data & 0xff);
        fields
    }

    #[inline]
    fn flat_format(&self, words: &Dwords<'_>) -> Format {
        let from = match self.generation {
            Generation::Gfx9 | Generation::Gfx10 => 14,
            Generation::Gfx11 => 16,
            Generation::Gfx12 => 24,
        };
        match words.field(from, 2) {
            0 => Format::Flat,
            1 => Format::Scratch,
            _ => Format::Global,
        }
    }

    /// Returns the vector register with the address of a flat scratch instruction.
    #[inline]
    pub(super) fn flat_address(&self, words: &Dwords<'_>, second: u32) -> Option<u16> {
        let has_vector_address = match self.generation {
            _ if self.has_scratch_address_bit => words.field(13, 1) != 0,
            Generation::Gfx12 => second >> 17 & 1 != 0,
            Generation::Gfx11 => second >> 23 & 1 != 0,
            Generation::Gfx10 => second >> 16 & 0x7f == 0x7d || second >> 16 & 0x7f == 0x7f,
            Generation::Gfx9 => second >> 16 & 0x7f == 0x7f,
        };
        let is_scratch = self.flat_format(words) == Format::Scratch;
        (is_scratch && has_vector_address).then(|| self.vector_address(words, second)).flatten()
    }

    /// Returns the first vector register with the address of a memory instruction, from the last word.
    #[inline]
    fn vector_address(&self, words: &Dwords<'_>, second: u32) -> Option<u16> {
        let word = if self.generation == Generation::Gfx12 { words.word(2)? } else { second };
        Some((word & 0xff) as u16)
    }

    /// Returns the vector register with the address of a buffer instruction. Scratch is a buffer, because its descriptor
    /// is in the wave's first registers.
    #[inline]
    pub(super) fn buffer_address(&self, words: &Dwords<'_>, second: u32) -> Option<u16> {
        let has_offset = match self.generation {
            Generation::Gfx12 => second >> 30 & 1 != 0,
            Generation::Gfx11 => second >> 22 & 1 != 0,
            _ => words.field(12, 1) != 0,
        };
        has_offset.then(|| self.vector_address(words, second)).flatten()
    }

    fn buffer(&self, words: &Dwords<'_>, second: u32) -> Fields {
        let generation = self.generation;
        let mut fields = match generation {
            Generation::Gfx12 => Fields::new(3, Format::MuBuf, words.field(14, 8), second & 0xff),
            Generation::Gfx9 => Fields::new(2, Format::MuBuf, words.field(18, 7), second >> 8 & 0xff),
            _ => Fields::new(2, Format::MuBuf, words.field(18, 8), second >> 8 & 0xff),
        };
        fields.returns = match generation {
            Generation::Gfx12 => second >> 20 & 1 != 0,
            _ => words.field(14, 1) != 0,
        };
        let has_status = match generation {
            Generation::Gfx12 => words.field(22, 1) != 0,
            Generation::Gfx11 => second >> 21 & 1 != 0,
            _ => second >> 23 & 1 != 0 && !self.has_unified_registers,
        };
        // Data goes to LDS, or a status word comes after the data.
        fields.is_unknown = has_status || generation < Generation::Gfx11 && words.field(16, 1) != 0;
        fields.is_accumulator = self.has_unified_registers && second >> 23 & 1 != 0;
        fields.scratch_address = self.buffer_address(words, second);
        fields.data = Some(fields.destination);
        fields
    }
}
