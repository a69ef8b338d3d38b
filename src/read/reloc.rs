//! Relocations of debug sections.
//!
//! Only absolute addresses and offsets belong there. Anything else is refused: a number filled in wrongly
//! would be read as if it were right.

use super::cursor::Cursor;
use super::elf::{AMDGPU, Section, Symbol, Undefined, X86_64};
use super::elf_header::File;
use crate::error::{Error, ErrorKind, Result};

const SHT_RELA: u32 = 4;
const SHT_REL: u32 = 9;

/// How a relocation fills its field.
#[derive(Debug, Clone, Copy)]
struct Field {
    bytes: usize,
    is_signed: bool,
}

/// The field that a relocation type fills; `None` inside for the type that does nothing.
fn field(machine: u16, kind: u32) -> Option<Option<Field>> {
    let is = |bytes, is_signed| Some(Some(Field { bytes, is_signed }));
    match (machine, kind) {
        (_, 0) => Some(None),
        // R_X86_64_64, R_X86_64_32, R_X86_64_32S.
        (X86_64, 1) => is(8, false),
        (X86_64, 10) => is(4, false),
        (X86_64, 11) => is(4, true),
        // R_AMDGPU_ABS64, R_AMDGPU_ABS32.
        (AMDGPU, 3) => is(8, false),
        (AMDGPU, 6) => is(4, false),
        _ => None,
    }
}

/// Applies the relocations of all debug sections and lists those whose symbol is not defined.
pub(super) fn apply(
    sections: &mut [Section<'_>],
    symbols: &[Symbol<'_>],
    table: Option<usize>,
    file: &File,
) -> Result<Vec<Undefined>> {
    let mut undefined = Vec::new();
    for index in 0..sections.len() {
        let (kind, target) = (sections[index].kind, sections[index].info as usize);
        if !matches!(kind, SHT_RELA | SHT_REL) || !sections.get(target).is_some_and(Section::is_debug) {
            continue;
        }
        let name = sections[target].name.clone();
        if table != Some(sections[index].link as usize) && !sections[index].data.is_empty() {
            let text = "the relocations are against another symbol table";
            return Err(Error::malformed(text).in_section(&name));
        }
        // Taken out while the other one is changed.
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
                let text = format!("relocation type {kind} of machine {}", file.machine);
                return Err(fail(ErrorKind::Unsupported(text)));
            };
            let Some(field) = field else { continue };
            let start = usize::try_from(offset).ok();
            let place = start.and_then(|start| data.get_mut(start..start.checked_add(field.bytes)?));
            let Some(place) = place else {
                return Err(fail(ErrorKind::Malformed("a relocation outside of the section".into())));
            };
            let index = usize::try_from(symbol).unwrap_or(usize::MAX);
            let Some(symbol) = symbols.get(index) else {
                return Err(fail(ErrorKind::Malformed(format!("a relocation against symbol {index}"))));
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
            // In a 32-bit file the addend has no more bits than the sum.
            let sum = symbol.address.wrapping_add(addend);
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
    undefined.sort_by_key(|one| (one.section, one.offset));
    Ok(undefined)
}
