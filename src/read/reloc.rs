//! Applies relocations of debug sections and of `.eh_frame`.
//!
//! Only addresses and offsets are expected there. Other relocations are refused: a wrong number would be read as if it
//! were right.

use super::cursor::Cursor;
use super::elf::{AMDGPU, S390, Section, Symbol, Undefined, X86_64};
use super::elf_header::File;
use crate::error::{Error, ErrorKind, Result};

const SHT_RELA: u32 = 4;
const SHT_REL: u32 = 9;

/// `EM_386`.
const X86: u16 = 3;
/// `EM_AARCH64`.
const AARCH64: u16 = 183;

/// Origin from which the number is counted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum From {
    /// Address 0.
    Zero,
    /// The address of the field.
    Place,
    /// The start of the section of thread-local variables.
    Thread,
}

/// Field of a relocation.
#[derive(Debug, Clone, Copy)]
struct Field {
    bytes: usize,
    is_signed: bool,
    from: From,
}

/// Returns the field of a relocation type; `Some(None)` for the type without effect.
fn field(machine: u16, kind: u32) -> Option<Option<Field>> {
    let is = |bytes, is_signed, from| Some(Some(Field { bytes, is_signed, from }));
    match (machine, kind) {
        (_, 0) => Some(None),
        // R_X86_64_64, _32, _32S, _PC32, _PC64, _DTPOFF64, _DTPOFF32.
        (X86_64, 1) => is(8, false, From::Zero),
        (X86_64, 10) => is(4, false, From::Zero),
        (X86_64, 11) => is(4, true, From::Zero),
        (X86_64, 2) => is(4, true, From::Place),
        (X86_64, 24) => is(8, true, From::Place),
        (X86_64, 17) => is(8, true, From::Thread),
        (X86_64, 21) => is(4, true, From::Thread),
        // R_AMDGPU_ABS64, _ABS32, _REL32, _REL64.
        (AMDGPU, 3) => is(8, false, From::Zero),
        (AMDGPU, 6) => is(4, false, From::Zero),
        (AMDGPU, 4) => is(4, true, From::Place),
        (AMDGPU, 5) => is(8, true, From::Place),
        // R_390_64, _32, _PC32, _PC64, _TLS_LDO32, _TLS_LDO64.
        (S390, 22) => is(8, false, From::Zero),
        (S390, 4) => is(4, false, From::Zero),
        (S390, 5) => is(4, true, From::Place),
        (S390, 23) => is(8, true, From::Place),
        (S390, 52) => is(4, true, From::Thread),
        (S390, 53) => is(8, true, From::Thread),
        // R_AARCH64_ABS64, _ABS32, _PREL64, _PREL32, _TLS_DTPREL.
        (AARCH64, 257) => is(8, false, From::Zero),
        (AARCH64, 258) => is(4, false, From::Zero),
        (AARCH64, 260) => is(8, true, From::Place),
        (AARCH64, 261) => is(4, true, From::Place),
        (AARCH64, 1029) => is(8, true, From::Thread),
        // R_386_32, _PC32, _TLS_LDO_32.
        (X86, 1) => is(4, false, From::Zero),
        (X86, 2) => is(4, true, From::Place),
        (X86, 32) => is(4, true, From::Thread),
        _ => None,
    }
}

/// Applies the relocations of all debug sections and of `.eh_frame`, and returns those with undefined symbols.
pub(super) fn apply(
    sections: &mut [Section<'_>],
    symbols: &[Symbol<'_>],
    table: Option<usize>,
    file: &File,
) -> Result<Vec<Undefined>> {
    let mut undefined = Vec::new();
    let starts: Vec<u64> = sections.iter().map(|section| section.address).collect();
    for index in 0..sections.len() {
        let (kind, target) = (sections[index].kind, sections[index].info as usize);
        let takes = |section: &Section<'_>| section.is_debug() || section.name == ".eh_frame";
        if !matches!(kind, SHT_RELA | SHT_REL) || !sections.get(target).is_some_and(takes) {
            continue;
        }
        let name = sections[target].name.clone();
        if table != Some(sections[index].link as usize) && !sections[index].data.is_empty() {
            let text = "all relocations refer to one symbol table: this section refers to another";
            return Err(Error::malformed(text).in_section(&name));
        }
        let base = starts[target];
        // Taken out while the other section is changed.
        let records = std::mem::take(&mut sections[index].data);
        let mut from = Cursor::new("", &records, file.big_endian);
        let data = sections[target].data.to_mut();
        let word = if file.is_64 { 8 } else { 4 };
        while !from.is_at_end() {
            const WHAT: &str = "a relocation";
            let offset = from.uint(word, WHAT)?;
            let info = from.uint(word, WHAT)?;
            let addend = if kind == SHT_RELA { Some(from.uint(word, WHAT)?) } else { None };
            let (symbol, kind) = match file.is_64 {
                true => (info >> 32, info as u32),
                false => (info >> 8, info as u32 & 0xff),
            };
            let fail = |kind: ErrorKind| Error::new(kind).in_section(&name).at_offset(offset);
            let Some(field) = field(file.machine, kind) else {
                let text = format!("unsupported relocation type {kind} of machine {}", file.machine);
                return Err(fail(ErrorKind::Unsupported(text)));
            };
            let Some(field) = field else { continue };
            let start = usize::try_from(offset).ok();
            let place = start.and_then(|start| data.get_mut(start..start.checked_add(field.bytes)?));
            let Some(place) = place else {
                return Err(fail(ErrorKind::Malformed("the relocation is outside of the section".into())));
            };
            let index = usize::try_from(symbol).unwrap_or(usize::MAX);
            let Some(symbol) = symbols.get(index) else {
                return Err(fail(ErrorKind::Malformed(format!(
                    "the symbol of a relocation is in 0..{}: {index}",
                    symbols.len()
                ))));
            };
            if index != 0 && !symbol.is_defined {
                undefined.push(Undefined { section: target, offset, symbol: index });
            }
            let addend = addend.unwrap_or_else(|| {
                let found = place.iter().rev().fold(0, |value, byte| value << 8 | u64::from(*byte));
                let found =
                    if file.big_endian { found.swap_bytes() >> (64 - 8 * field.bytes) } else { found };
                if field.bytes == 4 { i64::from(found as i32) as u64 } else { found }
            });
            // In a 32-bit file the addend has 32 bits, as the sum has.
            let from = match field.from {
                From::Zero => 0,
                From::Place => base.wrapping_add(offset),
                From::Thread => symbol.section.map_or(0, |section| starts[section]),
            };
            let sum = symbol.address.wrapping_add(addend).wrapping_sub(from);
            let sum = if file.is_64 { sum } else { u64::from(sum as u32) };
            let fits = match field {
                _ if !file.is_64 => true,
                Field { bytes: 8, .. } => true,
                Field { is_signed: true, .. } => i32::try_from(sum as i64).is_ok(),
                Field { is_signed: false, .. } => u32::try_from(sum).is_ok(),
            };
            if !fits {
                let text = format!("the relocated number {sum:#x} does not fit 32 bits");
                return Err(fail(ErrorKind::Malformed(text)));
            }
            match file.big_endian {
                true => place.copy_from_slice(&sum.to_be_bytes()[8 - field.bytes..]),
                false => place.copy_from_slice(&sum.to_le_bytes()[..field.bytes]),
            }
        }
        sections[index].data = records;
    }
    Ok(undefined)
}
