//! Debug sections with the pcs of Mercury code: copies of sections with SASS pcs.
//!
//! Addresses in entries and lists are fields with relocations, whose addends change. Line programs, frames and the map of
//! registers contain distances, and are written again; offsets into the first two change then.

use std::collections::BTreeMap;

use super::frame_entry::FrameEntry;
use super::line_ops::{LineOp, programs};
use super::mercury_pcs::MercuryPcs;
use crate::cfi::{CfiOperand, code, row};
use crate::emit::section::{Relocation, RelocationTarget, Section};
use crate::error::{At, Count, Error, ErrorKind, Result};
use crate::op::{read_sleb, read_uleb, write_sleb, write_uleb};

pub(super) const LINES: &str = ".debug_line";
pub(super) const FRAMES: &str = ".debug_frame";
const PTX_LINES: &str = ".nv_debug_line_sass";
pub(super) const MAP: &str = ".nv_debug_info_reg_sass";

/// Offset of each line program and each frame entry in a copy, by its offset in the original.
pub(super) type Moved = BTreeMap<u64, u64>;

/// Returns a section's copy, and the offsets that moved; `None` if all offsets stay.
///
/// # Errors
/// [`ErrorKind::Unsupported`] for a pc whose Mercury pc is not known; [`ErrorKind::Malformed`] or
/// [`ErrorKind::Truncated`] for contents that cannot be read, with the offset.
pub(super) fn copy(section: &Section, pcs: &MercuryPcs) -> Result<(Section, Option<Moved>)> {
    let moved = |(copy, moved)| (copy, Some(moved));
    match section.name {
        LINES | PTX_LINES => lines(section, pcs).map(moved),
        FRAMES => frames(section, pcs).map(moved),
        MAP => Ok((Section { bytes: map(&section.bytes, pcs)?, ..section.clone() }, None)),
        _ => addresses(section, pcs).map(|copy| (copy, None)),
    }
}

/// Returns a section whose addresses of code have the addends of Mercury code.
fn addresses(section: &Section, pcs: &MercuryPcs) -> Result<Section> {
    let mut copy = section.clone();
    for relocation in &mut copy.relocations {
        relocation.addend = addend(relocation, pcs).map_err(|error| error.at_offset(relocation.offset))?;
    }
    Ok(copy)
}

fn addend(relocation: &Relocation, pcs: &MercuryPcs) -> Result<u64> {
    match &relocation.target {
        RelocationTarget::Symbol(name) if pcs.has(name) => pcs.start(name, relocation.addend),
        _ => Ok(relocation.addend),
    }
}

/// A copy that is being written, with the relocations that move along.
struct Copy<'s> {
    section: &'s Section,
    bytes: Vec<u8>,
    relocations: Vec<Relocation>,
    moved: Moved,
}

impl<'s> Copy<'s> {
    fn new(section: &'s Section) -> Self {
        let bytes = Vec::with_capacity(section.bytes.len());
        Self { section, bytes, relocations: Vec::new(), moved: Moved::new() }
    }

    /// Appends bytes of the original, with their relocations.
    fn keep(&mut self, range: std::ops::Range<usize>) {
        let (start, end) = (range.start as u64, range.end as u64);
        let first = self.section.relocations.partition_point(|it| it.offset < start);
        let inside = self.section.relocations[first..].iter().take_while(|it| it.offset < end);
        let at = self.bytes.len() as u64;
        self.relocations.extend(inside.map(|it| Relocation { offset: at + it.offset - start, ..it.clone() }));
        self.bytes.extend_from_slice(&self.section.bytes[range]);
    }

    /// The relocation at an offset of the original.
    fn relocation(&self, offset: usize) -> Option<&'s Relocation> {
        let relocations = &self.section.relocations;
        let index = relocations.binary_search_by_key(&(offset as u64), |it| it.offset).ok()?;
        Some(&relocations[index])
    }

    /// The function whose address is at an offset of the original, and the pc in it.
    fn function(&self, offset: usize) -> Result<(&'s str, u64)> {
        match self.relocation(offset) {
            Some(Relocation { target: RelocationTarget::Symbol(name), addend, .. }) => Ok((name, *addend)),
            _ => Err(Error::bad_argument("address has no relocation; expected one to a function")),
        }
    }

    fn finish(self) -> (Section, Moved) {
        let Self { section, bytes, relocations, moved } = self;
        (Section { bytes, relocations, ..section.clone() }, moved)
    }
}

/// Writes line programs again: each row's pc is that of Mercury code.
fn lines(section: &Section, pcs: &MercuryPcs) -> Result<(Section, Moved)> {
    let mut copy = Copy::new(section);
    for program in programs(&section.bytes)? {
        let start = copy.bytes.len();
        copy.moved.insert(program.header.start as u64, start as u64);
        copy.keep(program.header.clone());
        let mut sequence: Option<(&str, u64)> = None;
        let mut written = 0;
        let mut at = program.operations.start;
        while at < program.operations.end {
            let (operation, next) = program.operation(at)?;
            let place = |error: Error| error.at_offset(at as u64);
            if let LineOp::Address { field } = operation {
                let function = copy.function(field).map_err(place)?;
                if function.1 != 0 {
                    let what = format!(
                        "line sequence begins at pc {:#x}; expected the function's start",
                        function.1
                    );
                    return Err(place(Error::bad_argument(what)));
                }
                (sequence, written) = (Some(function), 0);
            }
            if let (LineOp::Advance(by) | LineOp::Row { advance: by, .. }, Some((_, pc))) =
                (&operation, &mut sequence)
            {
                *pc = pc.wrapping_add(*by);
            }
            if matches!(operation, LineOp::Row { .. } | LineOp::End) {
                let (function, pc) = sequence.ok_or_else(|| place(Error::malformed("row has no address")))?;
                let mercury = pcs.start(function, pc).map_err(place)?;
                let by =
                    mercury.checked_sub(written).ok_or_else(|| place(Error::malformed("rows go back")))?;
                if by != 0 {
                    copy.bytes.push(2);
                    write_uleb(&mut copy.bytes, by / program.min_instruction().max(1));
                }
                written = mercury;
            }
            match operation {
                LineOp::Row { line, .. } => {
                    if line != 0 {
                        copy.bytes.push(3);
                        write_sleb(&mut copy.bytes, line);
                    }
                    copy.bytes.push(1);
                }
                LineOp::Advance(_) => {}
                _ => copy.keep(at..next),
            }
            if operation == LineOp::End {
                sequence = None;
            }
            at = next;
        }
        set_length(&mut copy.bytes, start, start + 4)?;
    }
    Ok(copy.finish())
}

/// Sets a length of four bytes at `field`, which counts the bytes from `from` to the end.
fn set_length(bytes: &mut [u8], field: usize, from: usize) -> Result<()> {
    let length = u32::try_from(bytes.len() - from).ok().filter(|length| *length < 0xffff_fff0);
    let length = length.ok_or_else(|| Error::from(ErrorKind::TooLarge("unit exceeds 32 bits".into())))?;
    bytes[field..field + 4].copy_from_slice(&length.to_le_bytes());
    Ok(())
}

/// Writes frames again: each row's pc is that of Mercury code.
fn frames(section: &Section, pcs: &MercuryPcs) -> Result<(Section, Moved)> {
    let mut copy = Copy::new(section);
    let bytes = &section.bytes;
    let mut factors = BTreeMap::new();
    let mut start = 0;
    while start < bytes.len() {
        let entry = FrameEntry::read(bytes, start).map_err(|error| error.at_offset(start as u64))?;
        let new = copy.bytes.len();
        copy.moved.insert(start as u64, new as u64);
        if entry.is_common(bytes) {
            let factor = code_alignment(bytes, &entry).map_err(|error| error.at_offset(start as u64))?;
            factors.insert(start as u64, factor);
            copy.keep(start..entry.end);
        } else {
            description(&mut copy, &entry, &factors, pcs).map_err(|error| error.at_offset(start as u64))?;
            // As ptxas does, up to a multiple of 8 bytes.
            while !(copy.bytes.len() - new).is_multiple_of(8) {
                copy.bytes.push(code::NOP);
            }
            let length = copy.bytes.len() - new - (entry.id - start);
            if entry.offset_bytes == 8 {
                copy.bytes[new + 4..new + 12].copy_from_slice(&(length as u64).to_le_bytes());
            } else {
                set_length(&mut copy.bytes, new, new + 4)?;
            }
        }
        start = entry.end;
    }
    Ok(copy.finish())
}

/// Returns a common entry's code alignment factor.
fn code_alignment(bytes: &[u8], entry: &FrameEntry) -> Result<u64> {
    let cut = || Error::from(ErrorKind::Truncated("a common frame entry".into()));
    let fields = bytes.get(entry.id + entry.offset_bytes..entry.end).ok_or_else(cut)?;
    let (&version, rest) = fields.split_first().ok_or_else(cut)?;
    // Version 4 has sizes of addresses and of segments after the augmentation.
    let sizes = if version >= 4 { 2 } else { 0 };
    let augmentation = rest.iter().position(|byte| *byte == 0).ok_or_else(cut)?;
    let (factor, _) =
        read_uleb(rest.get(augmentation + 1 + sizes..).unwrap_or_default(), 0).ok_or_else(cut)?;
    Ok(factor.max(1))
}

/// Writes a function's entry up to its last instruction.
fn description(
    copy: &mut Copy<'_>,
    entry: &FrameEntry,
    factors: &BTreeMap<u64, u64>,
    pcs: &MercuryPcs,
) -> Result<()> {
    const ADDRESS: usize = 8;
    let bytes = &copy.section.bytes;
    let address = entry.id + entry.offset_bytes;
    let size = address + ADDRESS;
    let first = size + ADDRESS;
    let cut = || Error::from(ErrorKind::Truncated("a frame description entry".into()));
    let length = bytes.get(size..first).filter(|_| first <= entry.end).ok_or_else(cut)?;
    let length = length.iter().rev().fold(0, |value, byte| value << 8 | u64::from(*byte));
    let (function, pc) = copy.function(address)?;
    let pointer = copy.relocation(entry.id).map(|it| it.addend);
    let factor = pointer.and_then(|pointer| factors.get(&pointer).copied());
    let factor =
        factor.ok_or_else(|| Error::malformed("common entry is not before its frame description entry"))?;
    copy.keep(entry.start..address);
    let at = copy.bytes.len() as u64;
    let start = pcs.start(function, pc)?;
    let relocation =
        copy.relocation(address).map(|it| Relocation { offset: at, addend: start, ..it.clone() });
    copy.relocations.extend(relocation);
    copy.bytes.extend_from_slice(&[0; ADDRESS]);
    let end = pcs.start(function, pc.wrapping_add(length))?;
    copy.bytes.extend_from_slice(&end.wrapping_sub(start).to_le_bytes());
    let (mut at, mut sass, mut written) = (first, pc, start);
    while at < entry.end {
        let (advance, next) =
            instruction(bytes, at, entry.end).map_err(|error| error.at_offset(at as u64))?;
        match advance {
            None => copy.keep(at..next),
            Some(steps) => {
                sass = sass.wrapping_add(steps.wrapping_mul(factor));
                let mercury = pcs.start(function, sass)?;
                let by = mercury.wrapping_sub(written) / factor;
                let by = u32::try_from(by).map_err(|_| Error::malformed("frame rows go back"))?;
                copy.bytes.push(code::ADVANCE_LOC4);
                copy.bytes.extend_from_slice(&by.to_le_bytes());
                written = mercury;
            }
        }
        at = next;
    }
    Ok(())
}

/// Returns the steps by which an instruction advances, if it does, and the offset after it.
fn instruction(bytes: &[u8], at: usize, end: usize) -> Result<(Option<u64>, usize)> {
    let cut = || Error::from(ErrorKind::Truncated("a call frame instruction".into()));
    let bytes = &bytes[..end];
    let opcode = *bytes.get(at).ok_or_else(cut)?;
    // The two high bits, or the whole byte if both are 0.
    let kind = if opcode & 0xc0 == 0 { opcode } else { opcode & 0xc0 };
    let row = row(kind).ok_or_else(|| {
        Error::from(ErrorKind::Unsupported(format!("call frame instruction {opcode:#04x} is unknown")))
    })?;
    let mut next = at + 1;
    let mut steps = None;
    for (_, operand) in row.operands {
        let mut fixed = |size: usize| {
            let value = bytes.get(next..next + size).ok_or_else(cut)?;
            next += size;
            Ok::<_, Error>(value.iter().rev().fold(0, |value, byte| value << 8 | u64::from(*byte)))
        };
        match operand {
            CfiOperand::LowSteps => steps = Some(u64::from(opcode & 0x3f)),
            CfiOperand::Steps1 => steps = Some(fixed(1)?),
            CfiOperand::Steps2 => steps = Some(fixed(2)?),
            CfiOperand::Steps4 => steps = Some(fixed(4)?),
            CfiOperand::Steps8 => steps = Some(fixed(8)?),
            CfiOperand::LowRegister => {}
            CfiOperand::Address => {
                let what = "DW_CFA_set_loc in a frame; expected advances";
                return Err(ErrorKind::Unsupported(what.into()).into());
            }
            CfiOperand::SignedFactored => next = read_sleb(bytes, next).ok_or_else(cut)?.1,
            CfiOperand::Expression => {
                let (length, first) = read_uleb(bytes, next).ok_or_else(cut)?;
                let length = usize::try_from(length).map_err(|_| cut())?;
                next = first.checked_add(length).filter(|next| *next <= end).ok_or_else(cut)?;
            }
            _ => next = read_uleb(bytes, next).ok_or_else(cut)?.1,
        }
    }
    Ok((steps, next))
}

/// Writes the map of registers again. The last instruction of a range ends where the next one begins.
fn map(bytes: &[u8], pcs: &MercuryPcs) -> Result<Vec<u8>> {
    /// Size of an instruction in bytes.
    const INSTRUCTION: u64 = 16;
    let mut out = bytes.to_vec();
    let cut =
        |at: usize| Error::from(ErrorKind::Truncated("the map of registers".into())).at_offset(at as u64);
    let text = |at: usize| {
        let rest = bytes.get(at..).ok_or_else(|| cut(at))?;
        let size = rest.iter().position(|byte| *byte == 0).ok_or_else(|| cut(at))?;
        Ok::<_, Error>((&rest[..size], at + size + 1))
    };
    let number = |at: usize| {
        let field = bytes.get(at..at + 4).ok_or_else(|| cut(at))?;
        Ok::<_, Error>(u32::from_le_bytes([field[0], field[1], field[2], field[3]]))
    };
    let mut entry = 0;
    while entry < bytes.len() {
        let (function, next) = text(entry)?;
        let function = String::from_utf8_lossy(function);
        let count = number(next)?;
        entry = next + 4;
        for _ in 0..count {
            let (register, home) = text(entry + 4)?;
            let [start, last] = [number(home + 4)?, number(home + 8)?].map(u64::from);
            let name = || format!("range of register `{}`", String::from_utf8_lossy(register));
            let mut at = At::default();
            (at.variable, at.offset) = (Some(name()), Some(home as u64 + 4));
            let place = |error: Error| error.or_at(at.clone());
            let start = pcs.start(&function, start).map_err(place)?;
            let last = pcs.last(&function, last + INSTRUCTION).map_err(place)?;
            for (field, pc) in [(home + 4, start), (home + 8, last)] {
                let pc = u32::try_from(pc).map_err(|_| {
                    Error::from(ErrorKind::TooLarge(format!(
                        "function exceeds {}",
                        Count(1u64 << 32, "byte")
                    )))
                })?;
                out[field..field + 4].copy_from_slice(&pc.to_le_bytes());
            }
            entry = home + 12;
        }
    }
    Ok(out)
}
