//! Applies relocations in debug sections and in `.eh_frame`.
//!
//! Only addresses and offsets are expected there. The fields of other relocations are unreadable: a wrong number would be
//! read as if it were right.

use super::cursor::{Cursor, max_address};
use super::elf::{
    AARCH64, AMDGPU, CUDA, ElfSection, ElfSymbol, ElfSymbolKind, RISCV, S390, StaleFields, SymbolField,
    X86_64,
};
use super::elf_header::{File, SHT_RELA, thread_start};
use crate::error::{Count, Error, ErrorKind, Result};
use crate::target::ElfIdentity;

const SHT_REL: u32 = 9;

/// `EM_SPARC`, `EM_386`, `EM_68K`, `EM_MIPS` and so on, in the order of their numbers.
const SPARC: u16 = 2;
const X86: u16 = 3;
const M68K: u16 = 4;
const MIPS: u16 = 8;
const SPARC32PLUS: u16 = 18;
const PPC: u16 = 20;
const PPC64: u16 = 21;
const ARM: u16 = 40;
const SPARCV9: u16 = 43;
pub(super) const AVR: u16 = 83;
pub(super) const MSP430: u16 = 105;
const HEXAGON: u16 = 164;
const LANAI: u16 = 244;
const BPF: u16 = 247;
const LOONGARCH: u16 = 258;

/// Origin from which the number is counted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum From {
    /// Address 0.
    Zero,
    /// The address of the field.
    Place,
    /// The start of the first section with thread-local variables.
    Thread,
    /// 0x8000 bytes after that start, where the pointers of some ABIs are.
    Pointer,
}

/// Effect of a relocation on its field.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Effect {
    /// The field is set to the number.
    Set,
    /// The number is added to the field, modulo the field's size.
    Add,
    /// The number is subtracted from the field, modulo the field's size.
    Subtract,
}

/// Bits of a field.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Format {
    /// Bytes.
    Bytes(u8),
    /// The least significant 6 bits of a byte; the other bits are unchanged.
    SixBits,
    /// A ULEB128 number, whose length is unchanged.
    Uleb,
}
use Format::{Bytes, SixBits, Uleb};

/// Field of a relocation.
#[derive(Debug, Clone, Copy)]
struct Field {
    format: Format,
    from: From,
    effect: Effect,
}

/// Returns the field for a relocation type; `Some(None)` for a type without effect. `known` has the types for a machine
/// that is not listed here.
fn field(machine: u16, kind: u32, known: Option<ElfIdentity>) -> Option<Option<Field>> {
    use Effect::{Add, Set, Subtract};
    let is = |bytes, from| (Bytes(bytes), from, Set);
    let changed = |format, effect| (format, From::Zero, effect);
    let [zero, place, thread] =
        [From::Zero, From::Place, From::Thread].map(|from| move |bytes| is(bytes, from));
    let (format, from, effect) = match (machine, kind) {
        (_, 0) => return Some(None),
        // R_X86_64_64, _32, _32S, _PC32, _PC64, _DTPOFF64, _DTPOFF32.
        (X86_64, 1) => zero(8),
        (X86_64, 10 | 11) => zero(4),
        (X86_64, 2) => place(4),
        (X86_64, 24) => place(8),
        (X86_64, 17) => thread(8),
        (X86_64, 21) => thread(4),
        // R_AMDGPU_ABS64, _ABS32, _REL32, _REL64.
        (AMDGPU, 3) => zero(8),
        (AMDGPU, 6) => zero(4),
        (AMDGPU, 4) => place(4),
        (AMDGPU, 5) => place(8),
        // R_390_64, _32, _PC32, _PC64, _TLS_LDO32, _TLS_LDO64.
        (S390, 22) => zero(8),
        (S390, 4) => zero(4),
        (S390, 5) => place(4),
        (S390, 23) => place(8),
        (S390, 52) => thread(4),
        (S390, 53) => thread(8),
        // R_AARCH64_ABS64, _ABS32, _PREL64, _PREL32, _TLS_DTPREL.
        (AARCH64, 257) => zero(8),
        (AARCH64, 258) => zero(4),
        (AARCH64, 260) => place(8),
        (AARCH64, 261) => place(4),
        (AARCH64, 1029) => thread(8),
        // R_RISCV_32, _64, _TLS_DTPREL32, _TLS_DTPREL64, _32_PCREL.
        (RISCV, 1) => zero(4),
        (RISCV, 2) => zero(8),
        (RISCV, 8) => thread(4),
        (RISCV, 9) => thread(8),
        (RISCV, 57) => place(4),
        // R_RISCV_ADD8 to _ADD64, _SUB8 to _SUB64: pairs that add and subtract an address.
        (RISCV, 33..=36) => changed(Bytes(1 << (kind - 33)), Add),
        (RISCV, 37..=40) => changed(Bytes(1 << (kind - 37)), Subtract),
        // R_RISCV_SUB6, _SET6, _SET8, _SET16, _SET32, _SET_ULEB128, _SUB_ULEB128.
        (RISCV, 52) => changed(SixBits, Subtract),
        (RISCV, 53) => changed(SixBits, Set),
        (RISCV, 54..=56) => changed(Bytes(1 << (kind - 54)), Set),
        (RISCV, 60) => changed(Uleb, Set),
        (RISCV, 61) => changed(Uleb, Subtract),
        // R_LARCH_32, _64, _TLS_DTPREL32, _TLS_DTPREL64, _32_PCREL, _64_PCREL.
        (LOONGARCH, 1) => zero(4),
        (LOONGARCH, 2) => zero(8),
        (LOONGARCH, 8) => thread(4),
        (LOONGARCH, 9) => thread(8),
        (LOONGARCH, 99) => place(4),
        (LOONGARCH, 109) => place(8),
        // R_LARCH_ADD8, _ADD16, _ADD24, _ADD32, _ADD64, the same of _SUB; _ADD6, _SUB6, _ADD_ULEB128, _SUB_ULEB128.
        (LOONGARCH, 47..=51) => changed(Bytes([1, 2, 3, 4, 8][kind as usize - 47]), Add),
        (LOONGARCH, 52..=56) => changed(Bytes([1, 2, 3, 4, 8][kind as usize - 52]), Subtract),
        (LOONGARCH, 105) => changed(SixBits, Add),
        (LOONGARCH, 106) => changed(SixBits, Subtract),
        (LOONGARCH, 107) => changed(Uleb, Add),
        (LOONGARCH, 108) => changed(Uleb, Subtract),
        // R_CUDA_32, _64, _G32, _G64 (G: of data); _UNUSED_CLEAR64 has no effect before linking.
        (CUDA, 1 | 3) => zero(4),
        (CUDA, 2 | 4) => zero(8),
        (CUDA, 0x49) => return Some(None),
        // In Mercury copies: addresses of data, addresses, offsets, and offsets in sections that nvlink makes again; the
        // size of an FDE.
        (CUDA, 0x10001 | 0x10002 | 0x1003d) => zero(8),
        (CUDA, 0x10003 | 0x10008) => zero(4),
        (CUDA, 0x1000e) => return Some(None),
        // R_386_32, _PC32, _TLS_LDO_32.
        (X86, 1) => zero(4),
        (X86, 2) => place(4),
        (X86, 32) => thread(4),
        // R_ARM_ABS32, _REL32, _TLS_LDO32.
        (ARM, 2) => zero(4),
        (ARM, 3) => place(4),
        (ARM, 106) => thread(4),
        // R_MIPS_32, _64, _PC32, _TLS_DTPREL32, _TLS_DTPREL64.
        (MIPS, 2) => zero(4),
        (MIPS, 18) => zero(8),
        (MIPS, 248) => place(4),
        (MIPS, 39) => is(4, From::Pointer),
        (MIPS, 41) => is(8, From::Pointer),
        // R_PPC_ADDR32, _UADDR32, _REL32, _DTPREL32.
        (PPC, 1 | 24) => zero(4),
        (PPC, 26) => place(4),
        (PPC, 78) => is(4, From::Pointer),
        // R_PPC64_ADDR32, _UADDR32, _ADDR64, _UADDR64, _REL32, _REL64, _DTPREL64.
        (PPC64, 1 | 24) => zero(4),
        (PPC64, 38 | 43) => zero(8),
        (PPC64, 26) => place(4),
        (PPC64, 44) => place(8),
        (PPC64, 78) => is(8, From::Pointer),
        // R_SPARC_32, _UA32, _64, _UA64, _DISP32, _DISP64, _TLS_DTPOFF32, _TLS_DTPOFF64.
        (SPARC | SPARC32PLUS | SPARCV9, 3 | 23) => zero(4),
        (SPARC | SPARC32PLUS | SPARCV9, 32 | 54) => zero(8),
        (SPARC | SPARC32PLUS | SPARCV9, 6) => place(4),
        (SPARC | SPARC32PLUS | SPARCV9, 46) => place(8),
        (SPARC | SPARC32PLUS | SPARCV9, 76) => thread(4),
        (SPARC | SPARC32PLUS | SPARCV9, 77) => thread(8),
        // R_BPF_64_64, _64_ABS64; _64_ABS32, _64_NODYLD32, _64_32.
        (BPF, 1 | 2) => zero(8),
        (BPF, 3 | 4 | 10) => zero(4),
        // R_HEX_32, _32_PCREL.
        (HEXAGON, 6) => zero(4),
        (HEXAGON, 31) => place(4),
        // R_AVR_32, _16, _8, _32_PCREL; _DIFF8, _DIFF16, _DIFF32 are for relaxation: the field has the difference.
        (AVR, 1) => zero(4),
        (AVR, 4) => zero(2),
        (AVR, 26) => zero(1),
        (AVR, 36) => place(4),
        (AVR, 30..=32) => return Some(None),
        // R_MSP430_32, _16, _16_BYTE, _8.
        (MSP430, 1) => zero(4),
        (MSP430, 3 | 5) => zero(2),
        // R_68K_32, _16, _8, _PC32, _TLS_LDO32.
        (M68K, 1) => zero(4),
        (M68K, 2) => zero(2),
        (M68K, 3) => zero(1),
        (M68K, 4) => place(4),
        (M68K, 31) => is(4, From::Pointer),
        // R_LANAI_32.
        (LANAI, 3) => zero(4),
        _ => {
            let types = known.filter(|elf| elf.machine == machine)?.relocations;
            match kind {
                kind if kind == types.abs32 => zero(4),
                kind if kind == types.abs64 => zero(8),
                kind if kind == types.relative32 => place(4),
                _ => return None,
            }
        }
    };
    Some(Some(Field { format, from, effect }))
}

/// Returns symbol and type of a relocation.
fn symbol_and_type(file: &File, info: u64) -> (u64, u32) {
    match (file.machine, file.is_64) {
        (_, false) => (info >> 8, info as u32 & 0xff),
        // A relocation has up to three types and a second symbol, with the first type in the last byte in file order.
        // `field` knows no relocation with several types.
        (MIPS, true) if !file.big_endian => (info & 0xffff_ffff, ((info >> 32) as u32).swap_bytes()),
        // The upper 24 bits of the type are data.
        (SPARCV9, true) => (info >> 32, info as u32 & 0xff),
        (_, true) => (info >> 32, info as u32),
    }
}

/// A field whose relocation cannot be applied.
pub(super) struct Unapplied {
    /// Section index.
    pub(super) section: usize,
    /// Offset in the section.
    pub(super) offset: u64,
    pub(super) error: Error,
}

/// Fields with symbols, stale fields and errors that remain after the relocations are applied.
#[derive(Default)]
pub(super) struct Applied {
    /// Fields whose symbols their numbers do not tell.
    pub(super) symbols: Vec<SymbolField>,
    /// Fields whose stored numbers differ from their relocations.
    pub(super) stale: Option<StaleFields>,
    /// Fields whose relocations cannot be applied.
    pub(super) unapplied: Vec<Unapplied>,
    /// Errors of relocations whose fields are unknown.
    pub(super) errors: Vec<Error>,
}

/// Applies the relocations in all debug sections and in `.eh_frame`. An addend in a relocation replaces the number in
/// the field, as in every loader and debugger.
pub(super) fn apply(
    sections: &mut [ElfSection<'_>],
    symbols: &[ElfSymbol<'_>],
    table: Option<usize>,
    file: &File,
    known: Option<ElfIdentity>,
) -> Applied {
    let mut applied = Applied::default();
    let starts: Vec<u64> = sections.iter().map(|section| section.address).collect();
    let thread_start = thread_start(sections);
    // A cubin's memories for data are separate, and several of them begin at 0.
    let is_data = |section: &ElfSection<'_>| section.is_loaded() && !section.is_code();
    let has_data: Vec<bool> =
        sections.iter().map(|section| file.machine == CUDA && is_data(section)).collect();
    for index in 0..sections.len() {
        let kind = sections[index].kind;
        let target = sections[index].info as usize;
        let takes = |section: &ElfSection<'_>| section.is_debug() || section.name == ".eh_frame";
        if !matches!(kind, SHT_RELA | SHT_REL) || !sections.get(target).is_some_and(takes) {
            continue;
        }
        let name = format!("{}{}", file.prefix, sections[target].name);
        let has_table = table == Some(sections[index].link as usize);
        let base = starts[target];
        // Taken out while the other section is changed.
        let records = std::mem::take(&mut sections[index].data);
        let mut from = Cursor::new("", &records, file.big_endian);
        let data = sections[target].data.to_mut();
        let word = if file.is_64 { 8 } else { 4 };
        while !from.is_at_end() {
            const WHAT: &str = "a relocation";
            let number = |from: &mut Cursor<'_>| from.uint(word, WHAT);
            let mut record = || -> Result<_> {
                let offset = number(&mut from)?;
                let info = number(&mut from)?;
                Ok((offset, info, if kind == SHT_RELA { Some(number(&mut from)?) } else { None }))
            };
            let (offset, info, addend) = match record() {
                Ok(record) => record,
                Err(error) => {
                    let name = format!("{}{}", file.prefix, sections[index].name);
                    applied.errors.push(error.in_section(&name));
                    break;
                }
            };
            let (symbol, kind) = symbol_and_type(file, info);
            let mut fail = |kind: ErrorKind| {
                let error = Error::new(kind).in_section(&name).at_offset(offset);
                applied.unapplied.push(Unapplied { section: target, offset, error });
            };
            if !has_table {
                let text = "the relocation section does not refer to the file's symbol table";
                fail(ErrorKind::Malformed(text.into()));
                continue;
            }
            let Some(field) = field(file.machine, kind, known) else {
                let text = format!("unsupported relocation type {kind} of machine {}", file.machine);
                fail(ErrorKind::Unsupported(text));
                continue;
            };
            let Some(field) = field else { continue };
            let start = usize::try_from(offset).ok();
            let place = start.and_then(|start| {
                let bytes = match field.format {
                    Uleb => uleb_bytes(data.get(start..)?)?,
                    Bytes(bytes) => bytes.into(),
                    SixBits => 1,
                };
                data.get_mut(start..start.checked_add(bytes)?)
            });
            let Some(place) = place else {
                fail(ErrorKind::Malformed("the relocation is outside the section".into()));
                continue;
            };
            let index = usize::try_from(symbol).unwrap_or(usize::MAX);
            let Some(symbol) = symbols.get(index) else {
                let text = format!(
                    "the relocation refers to symbol {index}; the file has {}",
                    Count(symbols.len(), "symbol")
                );
                fail(ErrorKind::Malformed(text));
                continue;
            };
            let is_in_data = || symbol.section.is_some_and(|section| has_data.get(section) == Some(&true));
            if index != 0 && (!symbol.is_defined || is_in_data()) {
                applied.symbols.push(SymbolField { section: target, offset, symbol: index });
            }
            let old = match (field.format, file.big_endian) {
                (Uleb, _) => uleb(place),
                (_, true) => place.iter().fold(0, |value, byte| value << 8 | u64::from(*byte)),
                (_, false) => place.iter().rev().fold(0, |value, byte| value << 8 | u64::from(*byte)),
            };
            let stored = if field.format == Bytes(4) { i64::from(old as i32) as u64 } else { old };
            if let (Some(addend), Bytes(bytes), Effect::Set) = (addend, field.format, field.effect)
                && old != 0
                && (addend ^ old) & max_address(bytes) != 0
            {
                let first = StaleFields { count: 0, section: target, offset, stored: old, addend };
                applied.stale.get_or_insert(first).count += 1;
            }
            let addend = addend.unwrap_or(stored);
            // In a 32-bit file the addend has 32 bits, as the sum has.
            let from = match field.from {
                From::Zero => 0,
                From::Place => base.wrapping_add(offset),
                // A thread-local symbol is an offset already, a section's symbol is not.
                From::Thread | From::Pointer
                    if symbol.is_defined && symbol.kind != ElfSymbolKind::ThreadLocal =>
                {
                    thread_start
                }
                From::Thread | From::Pointer => 0,
            };
            let from = if field.from == From::Pointer { from.wrapping_add(0x8000) } else { from };
            let sum = symbol.address.wrapping_add(addend).wrapping_sub(from);
            let sum = if file.is_64 { sum } else { u64::from(sum as u32) };
            // R_X86_64_32S is a signed address; distances are signed.
            let is_signed = field.from != From::Zero || (file.machine, kind) == (X86_64, 11);
            let fits = match (field.format, field.effect) {
                (Bytes(4), Effect::Set) if file.is_64 && is_signed => i32::try_from(sum as i64).is_ok(),
                (Bytes(4), Effect::Set) if file.is_64 => u32::try_from(sum).is_ok(),
                _ => true,
            };
            if !fits {
                let text = format!("the relocated number {sum:#x} does not fit 32 bits");
                fail(ErrorKind::Malformed(text));
                continue;
            }
            let new = match field.effect {
                Effect::Set => sum,
                Effect::Add => old.wrapping_add(sum),
                Effect::Subtract => old.wrapping_sub(sum),
            };
            match field.format {
                Uleb => set_uleb(place, new),
                SixBits => place[0] = old as u8 & 0xc0 | new as u8 & 0x3f,
                Bytes(bytes) if file.big_endian => {
                    place.copy_from_slice(&new.to_be_bytes()[8 - usize::from(bytes)..]);
                }
                Bytes(bytes) => place.copy_from_slice(&new.to_le_bytes()[..bytes.into()]),
            }
        }
        sections[index].data = records;
    }
    applied
}

/// Returns the length in bytes of the ULEB128 number at the start; `None` if it does not end. Assemblers pad numbers of
/// 64 bits to 10 bytes at most.
fn uleb_bytes(data: &[u8]) -> Option<usize> {
    Some(data.iter().take(16).position(|byte| byte & 0x80 == 0)? + 1)
}

/// The ULEB128 number, modulo 2⁶⁴.
fn uleb(place: &[u8]) -> u64 {
    place.iter().take(10).rev().fold(0, |value, byte| value << 7 | u64::from(byte & 0x7f))
}

/// Replaces a ULEB128 number by a number with the same length.
fn set_uleb(place: &mut [u8], mut value: u64) {
    let last = place.len() - 1;
    for (index, byte) in place.iter_mut().enumerate() {
        *byte = value as u8 & 0x7f | if index == last { 0 } else { 0x80 };
        value >>= 7;
    }
}
