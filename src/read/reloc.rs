//! Applies relocations of debug sections and of `.eh_frame`.
//!
//! Only addresses and offsets are expected there. Other relocations are refused: a wrong number would be read as if it
//! were right.

use super::cursor::{Cursor, max_address};
use super::elf::{AARCH64, AMDGPU, CUDA, RISCV, S390, Section, StaleFields, Symbol, Undefined, X86_64};
use super::elf_header::File;
use crate::error::{Error, ErrorKind, Result};
use crate::target::ElfIdentity;

const SHT_RELA: u32 = 4;
const SHT_REL: u32 = 9;

/// `EM_386`.
const X86: u16 = 3;

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

/// Effect of a relocation on its field.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Effect {
    /// The field is set to the number.
    Set,
    /// The number is added to the field, or subtracted, modulo the size of the field.
    Add,
    Subtract,
    /// The same of the least significant 6 bits, the others are unchanged.
    Set6,
    Subtract6,
    /// The same of a ULEB128 number, whose length is unchanged.
    SetUleb,
    SubtractUleb,
}

/// Field of a relocation.
#[derive(Debug, Clone, Copy)]
struct Field {
    bytes: usize,
    is_signed: bool,
    from: From,
    effect: Effect,
}

/// Returns the field of a relocation type; `Some(None)` for the type without effect. `known` has the types of a machine
/// that is not listed here.
fn field(machine: u16, kind: u32, known: Option<ElfIdentity>) -> Option<Option<Field>> {
    let is = |bytes, is_signed, from| Some(Some(Field { bytes, is_signed, from, effect: Effect::Set }));
    let changed = |bytes, effect| Some(Some(Field { bytes, is_signed: false, from: From::Zero, effect }));
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
        // R_RISCV_32, _64, _TLS_DTPREL32, _TLS_DTPREL64, _32_PCREL.
        (RISCV, 1) => is(4, false, From::Zero),
        (RISCV, 2) => is(8, false, From::Zero),
        (RISCV, 8) => is(4, true, From::Thread),
        (RISCV, 9) => is(8, true, From::Thread),
        (RISCV, 57) => is(4, true, From::Place),
        // R_RISCV_ADD8 to _ADD64, _SUB8 to _SUB64: pairs that add and subtract an address.
        (RISCV, 33..=36) => changed(1 << (kind - 33), Effect::Add),
        (RISCV, 37..=40) => changed(1 << (kind - 37), Effect::Subtract),
        // R_RISCV_SUB6, _SET6, _SET8, _SET16, _SET32, _SET_ULEB128, _SUB_ULEB128.
        (RISCV, 52) => changed(1, Effect::Subtract6),
        (RISCV, 53) => changed(1, Effect::Set6),
        (RISCV, 54..=56) => changed(1 << (kind - 54), Effect::Set),
        (RISCV, 60) => changed(1, Effect::SetUleb),
        (RISCV, 61) => changed(1, Effect::SubtractUleb),
        // R_CUDA_32, _64, _G32, _G64 (G: of data); _UNUSED_CLEAR64 has no effect before linking.
        (CUDA, 1 | 3) => is(4, false, From::Zero),
        (CUDA, 2 | 4) => is(8, false, From::Zero),
        (CUDA, 0x49) => Some(None),
        // R_386_32, _PC32, _TLS_LDO_32.
        (X86, 1) => is(4, false, From::Zero),
        (X86, 2) => is(4, true, From::Place),
        (X86, 32) => is(4, true, From::Thread),
        _ => {
            let types = known.filter(|elf| elf.machine == machine)?.relocations;
            match kind {
                kind if kind == types.abs32 => is(4, false, From::Zero),
                kind if kind == types.abs64 => is(8, false, From::Zero),
                kind if kind == types.relative32 => is(4, true, From::Place),
                _ => None,
            }
        }
    }
}

/// Places with undefined symbols, and fields whose numbers are not those of their relocations.
pub(super) type Applied = (Vec<Undefined>, Option<StaleFields>);

/// Applies the relocations of all debug sections and of `.eh_frame`. An addend in a relocation replaces the number in the
/// field, as for every loader and debugger.
pub(super) fn apply(
    sections: &mut [Section<'_>],
    symbols: &[Symbol<'_>],
    table: Option<usize>,
    file: &File,
    known: Option<ElfIdentity>,
) -> Result<Applied> {
    let (mut undefined, mut stale) = (Vec::new(), None);
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
            let Some(field) = field(file.machine, kind, known) else {
                let text = format!("unsupported relocation type {kind} of machine {}", file.machine);
                return Err(fail(ErrorKind::Unsupported(text)));
            };
            let Some(field) = field else { continue };
            let start = usize::try_from(offset).ok();
            let place = start.and_then(|start| {
                let bytes = match field.effect {
                    Effect::SetUleb | Effect::SubtractUleb => uleb_bytes(data.get(start..)?)?,
                    _ => field.bytes,
                };
                data.get_mut(start..start.checked_add(bytes)?)
            });
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
            let old = place.iter().rev().fold(0, |value, byte| value << 8 | u64::from(*byte));
            let old = if file.big_endian { old.swap_bytes() >> (64 - 8 * place.len().min(8)) } else { old };
            let stored = if field.bytes == 4 { i64::from(old as i32) as u64 } else { old };
            if let Some(addend) = addend
                && old != 0
                && field.effect == Effect::Set
                && (addend ^ old) & max_address(field.bytes as u8) != 0
            {
                let first = StaleFields { count: 0, section: target, offset, stored: old, addend };
                stale.get_or_insert(first).count += 1;
            }
            let addend = addend.unwrap_or(stored);
            // In a 32-bit file the addend has 32 bits, as the sum has.
            let from = match field.from {
                From::Zero => 0,
                From::Place => base.wrapping_add(offset),
                From::Thread => symbol.section.map_or(0, |section| starts[section]),
            };
            let sum = symbol.address.wrapping_add(addend).wrapping_sub(from);
            let sum = if file.is_64 { sum } else { u64::from(sum as u32) };
            let fits = match field {
                _ if !file.is_64 || field.effect != Effect::Set => true,
                Field { bytes: 8, .. } => true,
                Field { is_signed: true, .. } => i32::try_from(sum as i64).is_ok(),
                Field { is_signed: false, .. } => u32::try_from(sum).is_ok(),
            };
            if !fits {
                let text = format!("the relocated number {sum:#x} does not fit 32 bits");
                return Err(fail(ErrorKind::Malformed(text)));
            }
            let new = match field.effect {
                Effect::Set => sum,
                Effect::Add => old.wrapping_add(sum),
                Effect::Subtract => old.wrapping_sub(sum),
                Effect::Set6 => old & 0xc0 | sum & 0x3f,
                Effect::Subtract6 => old & 0xc0 | old.wrapping_sub(sum) & 0x3f,
                Effect::SetUleb => {
                    set_uleb(place, sum);
                    continue;
                }
                Effect::SubtractUleb => {
                    set_uleb(place, uleb(place).wrapping_sub(sum));
                    continue;
                }
            };
            match file.big_endian {
                true => place.copy_from_slice(&new.to_be_bytes()[8 - field.bytes..]),
                false => place.copy_from_slice(&new.to_le_bytes()[..field.bytes]),
            }
        }
        sections[index].data = records;
    }
    Ok((undefined, stale))
}

/// Number of bytes of the ULEB128 number at the start; `None` if it does not end.
fn uleb_bytes(data: &[u8]) -> Option<usize> {
    Some(data.iter().position(|byte| byte & 0x80 == 0)? + 1)
}

/// The ULEB128 number, modulo 2⁶⁴.
fn uleb(place: &[u8]) -> u64 {
    place.iter().take(10).rev().fold(0, |value, byte| value << 7 | u64::from(byte & 0x7f))
}

/// Replaces a ULEB128 number by another one of the same length.
fn set_uleb(place: &mut [u8], mut value: u64) {
    let last = place.len() - 1;
    for (index, byte) in place.iter_mut().enumerate() {
        *byte = value as u8 & 0x7f | if index == last { 0 } else { 0x80 };
        value >>= 7;
    }
}
