//! The opcode tables.

use std::sync::OnceLock;

use super::RegisterKind;
use super::outline::Class;

/// Processors with common encodings.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Generation {
    Gfx9,
    Gfx10,
    Gfx11,
    Gfx12,
}

/// Formats whose opcodes are in the tables. [`NAMES`] has their names there.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Format {
    Sop2,
    SopK,
    Sop1,
    SopC,
    SopP,
    Smem,
    Vop2,
    Vop1,
    VopC,
    Vop3,
    Vop3P,
    Ds,
    Flat,
    Scratch,
    Global,
    MuBuf,
}

const NAMES: [&str; 16] = [
    "sop2", "sopk", "sop1", "sopc", "sopp", "smem", "vop2", "vop1", "vopc", "vop3", "vop3p", "ds", "flat",
    "scratch", "global", "mubuf",
];

/// Destinations of an opcode.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(super) struct Destinations {
    /// Kind and number of the registers in the destination field. The kind is `None` for matrix results, whose kind
    /// another field or the processor determines.
    pub(super) field: Option<(Option<RegisterKind>, u16)>,
    /// Whether 64-lane waves have half the number of registers.
    pub(super) is_halved: bool,
    /// Whether the field counts only if the instruction returns a value.
    pub(super) if_returned: bool,
    /// Whether a lane mask is written: in the destination field, or in the second one if there is a `field`.
    pub(super) mask: bool,
    /// Whether `vcc` is written without a field.
    pub(super) vcc: bool,
    /// Whether `exec` is written without a field.
    pub(super) exec: bool,
}

impl Destinations {
    /// Returns the part that `exec` plays in an instruction with this format number.
    fn exec(self, format: usize) -> Exec {
        let is = |expected: Format| format == expected as usize;
        match self.field {
            _ if self.exec => Exec::Any,
            // Without a second word, the mask is `vcc`.
            Some((Some(RegisterKind::Vector), _)) | None
                if self.vcc && (is(Format::Vop2) || is(Format::VopC)) =>
            {
                Exec::Never
            }
            Some((Some(RegisterKind::Vector), _)) if self.mask && is(Format::Vop3) => Exec::InSecondMask,
            None if self.mask && is(Format::Vop3) => Exec::InMask,
            _ if self.vcc || self.mask => Exec::Any,
            Some((Some(RegisterKind::Scalar), count)) => Exec::AmongScalars(count),
            _ => Exec::Never,
        }
    }
}

/// Effect of an instruction on the pc.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Flow {
    /// No jump: the next instruction is executed.
    Next,
    /// A branch by a number of words.
    Branch,
    /// A call: by a number of words, or to an address in registers.
    Call,
    /// A return, or another jump to an address in registers.
    Jump,
    /// The end of the wave.
    End,
}

/// An opcode.
#[derive(Debug, Clone, Copy)]
pub(super) struct Row {
    pub(super) name: &'static str,
    pub(super) flow: Flow,
    /// Whether a literal comes after the instruction that no source operand names.
    pub(super) has_literal: bool,
    /// `None` if the destination depends on register contents.
    pub(super) destinations: Option<Destinations>,
    pub(super) exec: Exec,
}

/// Part that `exec` plays in an instruction that is not a branch, by opcode.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Exec {
    /// No part of `exec`.
    Never,
    /// Written if `exec` is among this number of scalar registers from the destination on.
    AmongScalars(u16),
    /// Written if `exec` is the destination, a lane mask.
    InMask,
    /// Written if `exec` is the second destination in format VOP3, a lane mask.
    InSecondMask,
    /// The operands decide.
    Any,
}

/// Opcodes by format and number, and the classes of encodings by the upper half of the first word.
#[derive(Debug)]
pub(super) struct Tables {
    rows: [Vec<Option<Row>>; NAMES.len()],
    classes: Vec<Class>,
}

impl Tables {
    #[inline]
    pub(super) fn row(&self, format: Format, opcode: u32) -> Option<&Row> {
        self.rows[format as usize].get(opcode as usize)?.as_ref()
    }

    /// Returns the class of an instruction by its first word.
    #[inline]
    pub(super) fn class(&self, first: u32) -> Class {
        self.classes.get((first >> 16) as usize).copied().unwrap_or(Class::Any)
    }
}

/// Opcodes that some processors have in addition to, or instead of, the opcodes of their generation.
const FMA_MIX: &str = "vop3p\n32 v1 v_fma_mix_f32\n33 v1 v_fma_mixlo_f16\n34 v1 v_fma_mixhi_f16\n";
const FMAC_F64: &str = "vop2\n4 v2 v_fmac_f64\nvop3\n260 v2 v_fmac_f64\n";
const GFX94: &str = "vop2
23 v1 v_fmamk_f32
24 v1 v_fmaak_f32
vop3p
64 w32 v_mfma_f32_32x32x1_2b_f32
65 w16 v_mfma_f32_16x16x1_4b_f32
66 w4 v_mfma_f32_4x4x1_16b_f32
72 w32 v_mfma_f32_32x32x4_2b_f16
73 w16 v_mfma_f32_16x16x4_4b_f16
74 w4 v_mfma_f32_4x4x4_16b_f16
80 w32 v_mfma_i32_32x32x4_2b_i8
81 w16 v_mfma_i32_16x16x4_4b_i8
82 w4 v_mfma_i32_4x4x4_16b_i8
";
const MAC_LEGACY: &str =
    "vop2\n6 v1 v_mac_legacy_f32\nvop3\n262 v1 v_mac_legacy_f32\n320 v1 v_mad_legacy_f32\n";

/// Returns the tables for a processor name. Each text is parsed once, because it has about 1,500 lines.
pub(super) fn tables(generation: Generation, name: &str) -> &'static Tables {
    static TABLES: [OnceLock<Tables>; 8] = [const { OnceLock::new() }; 8];
    const GFX9: &str = include_str!("gfx9.txt");
    const GFX10: &str = include_str!("gfx10.txt");
    let (index, texts): (usize, &[&str]) = match (generation, name) {
        (Generation::Gfx9, "gfx904" | "gfx906" | "gfx908") => (1, &[GFX9, FMA_MIX]),
        (Generation::Gfx9, "gfx90a") => (2, &[GFX9, FMA_MIX, FMAC_F64]),
        (Generation::Gfx9, name) if has_scratch_address_bit(name) => (3, &[GFX9, FMA_MIX, FMAC_F64, GFX94]),
        (Generation::Gfx9, _) => (0, &[GFX9]),
        (Generation::Gfx10, name) if name.starts_with("gfx101") => (5, &[GFX10, MAC_LEGACY]),
        (Generation::Gfx10, _) => (4, &[GFX10]),
        (Generation::Gfx11, _) => (6, &[include_str!("gfx11.txt")]),
        (Generation::Gfx12, _) => (7, &[include_str!("gfx12.txt")]),
    };
    TABLES[index].get_or_init(|| read(generation, texts))
}

/// Whether bit 13 of a scratch instruction selects a vector address: gfx94x and gfx950.
pub(super) fn has_scratch_address_bit(name: &str) -> bool {
    ["gfx94", "gfx950", "gfx9-4"].iter().any(|start| name.starts_with(start))
}

fn read(generation: Generation, texts: &[&'static str]) -> Tables {
    let mut tables = [const { Vec::new() }; NAMES.len()];
    let mut format = 0;
    for line in texts.iter().flat_map(|text| text.lines()) {
        let mut words = line.split(' ');
        let (Some(first), Some(codes), Some(name)) = (words.next(), words.next(), words.next()) else {
            format = NAMES.iter().position(|name| *name == line).unwrap_or(format);
            continue;
        };
        let Ok(opcode) = first.parse::<usize>() else { continue };
        let rows: &mut Vec<Option<Row>> = &mut tables[format];
        rows.resize(rows.len().max(opcode + 1), None);
        let flow = flow(name);
        let destinations = destinations(codes);
        let has_literal = has_literal(name);
        let exec = match destinations {
            _ if flow != Flow::Next || name.starts_with("s_mov_") => Exec::Any,
            Some(to) => to.exec(format),
            None => Exec::Never,
        };
        rows[opcode] = Some(Row { name, flow, has_literal, destinations, exec });
    }
    let mut tables = Tables { rows: tables, classes: Vec::new() };
    tables.classes = (0..=u16::MAX).map(|high| Class::of(generation, &tables, high)).collect();
    tables
}

fn flow(name: &str) -> Flow {
    match name {
        "s_branch" => Flow::Branch,
        "s_call_b64" | "s_swappc_b64" => Flow::Call,
        "s_setpc_b64" => Flow::Jump,
        "s_endpgm" => Flow::End,
        _ if name.starts_with("s_cbranch_") || name.starts_with("s_subvector_loop_") => Flow::Branch,
        _ => Flow::Next,
    }
}

fn has_literal(name: &str) -> bool {
    let starts = ["s_setreg_imm32_b32", "s_fmaak", "s_fmamk", "v_madmk", "v_madak", "v_fmamk", "v_fmaak"];
    starts.iter().any(|start| name.starts_with(start))
}

/// Parses the destinations in a line: `-` for none, `?` for unknown destinations, or parts joined by `+`: `s2` for two
/// scalar registers, `v` for vector, `a` for accumulation and `w` for matrix registers, with `*` if only a returned value
/// counts, and `/` if 64-lane waves have half the registers; `mask`; and `vcc` and `exec`, which are implied.
fn destinations(codes: &str) -> Option<Destinations> {
    let mut destinations = Destinations::default();
    for code in codes.split('+') {
        match code {
            "-" => {}
            "?" => return None,
            "mask" => destinations.mask = true,
            "vcc" => destinations.vcc = true,
            "exec" => destinations.exec = true,
            _ => {
                let kind = match code.as_bytes().first()? {
                    b's' => Some(RegisterKind::Scalar),
                    b'v' => Some(RegisterKind::Vector),
                    b'a' => Some(RegisterKind::Accumulator),
                    b'w' => None,
                    _ => return None,
                };
                let count = code.get(1..)?;
                destinations.if_returned = count.ends_with('*');
                destinations.is_halved = count.ends_with('/');
                destinations.field = Some((kind, count.trim_end_matches(['*', '/']).parse().ok()?));
            }
        }
    }
    Some(destinations)
}
