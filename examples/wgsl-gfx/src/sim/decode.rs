//! Instructions from their words.

use std::collections::HashMap;
use std::sync::LazyLock;

use crate::isa::{FLOATS, Format, Op, Reg};

/// An instruction, in the order of operands of [`crate::isa::encode`].
#[derive(Debug, Clone, PartialEq)]
pub struct Decoded {
    pub op: Op,
    pub dst: Reg,
    pub src: Vec<Reg>,
    pub offset: i32,
    pub words: usize,
}

static OPS: LazyLock<HashMap<(u8, u32), Op>> =
    LazyLock::new(|| Op::ALL.iter().map(|&op| ((class(op.row().1), op.row().2), op)).collect());

/// Formats that have their numbers in common.
fn class(format: Format) -> u8 {
    match format {
        Format::Vop3s => Format::Vop3 as u8,
        Format::Vop1s => Format::Vop1 as u8,
        other => other as u8,
    }
}

/// Decodes the first instruction.
pub fn decode(words: &[u32]) -> Option<Decoded> {
    let word = *words.first()?;
    let second = || words.get(1).copied();
    let op = |format: Format, code: u32| OPS.get(&(class(format), code)).copied();
    let scalar = |code: u32| operand(code);
    let vector = |code: u32| Reg::V(code & 0xff);
    let made = |op, dst, src: Vec<Reg>, offset, size: usize| {
        let literal = usize::from(src.contains(&LITERAL));
        let value = words.get(size).copied().unwrap_or(0);
        let src = src.into_iter().map(|reg| if reg == LITERAL { Reg::Const(value) } else { reg }).collect();
        Some(Decoded { op, dst, src, offset, words: size + literal })
    };
    let low = |bits: u32| word & ((1 << bits) - 1);
    if word >> 23 == 0b1_0111_1101 {
        let op = op(Format::Sop1, word >> 8 & 0xff)?;
        return made(op, scalar(word >> 16 & 0x7f)?, vec![scalar(low(8))?], 0, 1);
    }
    if word >> 23 == 0b1_0111_1110 {
        let op = op(Format::Sopc, word >> 16 & 0x7f)?;
        return made(op, Reg::Null, vec![scalar(low(8))?, scalar(word >> 8 & 0xff)?], 0, 1);
    }
    if word >> 23 == 0b1_0111_1111 {
        return made(op(Format::Sopp, word >> 16 & 0x7f)?, Reg::Null, vec![], low(16) as i16 as i32, 1);
    }
    if word >> 28 == 0b1011 {
        let op = op(Format::Sopk, word >> 23 & 0x1f)?;
        return made(op, scalar(word >> 16 & 0x7f)?, vec![], low(16) as i16 as i32, 1);
    }
    if word >> 30 == 0b10 {
        let op = op(Format::Sop2, word >> 23 & 0x7f)?;
        return made(op, scalar(word >> 16 & 0x7f)?, vec![scalar(low(8))?, scalar(word >> 8 & 0xff)?], 0, 1);
    }
    match word >> 26 {
        0b11_1101 => {
            let more = second()?;
            let op = op(Format::Smem, word >> 18 & 0xff)?;
            let offset = ((more & 0x1f_ffff) << 11) as i32 >> 11;
            let src = vec![Reg::S(low(6) << 1), scalar(more >> 25)?];
            made(op, scalar(word >> 6 & 0x7f)?, src, offset, 2)
        }
        0b01_1111 => {
            let op = op(Format::Vop1, word >> 9 & 0xff)?;
            let dst = word >> 17 & 0xff;
            let dst = if op.row().1 == Format::Vop1s { scalar(dst)? } else { vector(dst) };
            made(op, dst, vec![scalar(low(9))?], 0, 1)
        }
        0b11_0101 => {
            let more = second()?;
            let op = op(Format::Vop3, word >> 16 & 0x3ff)?;
            let src = (0..3).map(|n| scalar(more >> (9 * n) & 0x1ff)).collect::<Option<Vec<_>>>()?;
            let is_scalar = op.row().1 == Format::Vop3s;
            let dst = if is_scalar { scalar(low(8))? } else { vector(low(8)) };
            made(op, dst, src, 0, 2)
        }
        0b11_0110 => {
            let more = second()?;
            let op = op(Format::Ds, word >> 18 & 0xff)?;
            made(op, vector(more >> 24), vec![vector(more), vector(more >> 8)], low(16) as i32, 2)
        }
        0b11_0111 => {
            let more = second()?;
            let offset = (low(13) << 19) as i32 >> 19;
            let base = more >> 16 & 0x7f;
            let (format, src) = match word >> 16 & 3 {
                1 => {
                    let by = if more >> 23 & 1 == 1 { vector(more) } else { Reg::Null };
                    (Format::Scratch, vec![scalar(base)?, by, vector(more >> 8)])
                }
                _ => (Format::Global, vec![scalar(base)?, vector(more), vector(more >> 8)]),
            };
            made(op(format, word >> 18 & 0x7f)?, vector(more >> 24), src, offset, 2)
        }
        _ => None,
    }
}

/// The operand whose value follows.
const LITERAL: Reg = Reg::V(u32::MAX);

fn operand(code: u32) -> Option<Reg> {
    Some(match code {
        0..=105 => Reg::S(code),
        124 => Reg::Null,
        126 => Reg::Exec,
        128..=192 => Reg::Const(code - 128),
        193..=208 => Reg::Const((192 - code as i32) as u32),
        240..=247 => Reg::Const(FLOATS[code as usize - 240]),
        255 => LITERAL,
        256..=511 => Reg::V(code - 256),
        _ => return None,
    })
}
