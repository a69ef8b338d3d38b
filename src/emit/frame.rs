//! Call frame information: `.debug_frame`, DWARF 5 sections 6.4 and 7.24, and `.eh_frame`, Linux Standard Base
//! section 10.6.

use std::borrow::Cow;

use super::addr::AddressKey;
use super::format::Format;
use super::section::{Relocation, RelocationTarget};
use crate::cfi::code;
use crate::op::{Reg, write_byte_uleb, write_sleb, write_uleb};

/// Instructions and expressions as bytes, with the addresses in them that a linker relocates.
#[derive(Debug, Clone, Default, PartialEq, Eq, Hash)]
pub(crate) struct Program {
    pub(crate) bytes: Vec<u8>,
    /// Each relocated field's offset and address, with ascending offsets.
    pub(crate) addresses: Vec<(usize, AddressKey)>,
}

impl Program {
    pub(crate) fn clear(&mut self) {
        self.bytes.clear();
        self.addresses.clear();
    }

    /// Appends a range from another program.
    pub(crate) fn append(&mut self, other: &Self, part: core::ops::Range<usize>) {
        let position = self.bytes.len();
        self.bytes.extend_from_slice(&other.bytes[part.clone()]);
        let first = other.addresses.partition_point(|&(known, _)| known < part.start);
        let inside = other.addresses[first..].iter().take_while(|&&(known, _)| known < part.end);
        self.addresses.extend(inside.map(|&(known, key)| (position + known - part.start, key)));
    }
}

/// A column's rule in a row of the table: DWARF 5 section 6.4.1. The caller numbers the expressions.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) enum Rule {
    /// No rule.
    Default,
    SameValue,
    Undefined,
    /// `DW_CFA_offset`: saved at this distance in bytes from the canonical frame address, a multiple of the data
    /// alignment factor.
    Offset(i64),
    /// `DW_CFA_val_offset`: the value is the canonical frame address plus this number of bytes, a multiple of the data
    /// alignment factor.
    ValOffset(i64),
    Register(Reg),
    Expression(u32),
    ValExpression(u32),
    /// Rule for the canonical frame address: a register plus an offset in bytes, in an address space. A negative offset
    /// is a multiple of the data alignment factor.
    CfaRegister {
        reg: Reg,
        offset: i64,
        space: u32,
    },
    CfaExpression(u32),
}

/// Fields that all entries in a section share.
#[derive(Debug, Clone, Copy)]
pub(crate) struct FrameFormat {
    pub(crate) format: Format,
    pub(crate) code_alignment: u8,
    pub(crate) data_alignment: i8,
    /// Register whose value in the caller is the return address: the target's, or a function's.
    pub(crate) return_register: Reg,
    /// Added to registers below 256, whose numbers NVIDIA's frames give with their class.
    pub(crate) plain_base: u64,
    pub(crate) augmentation: &'static str,
}

impl FrameFormat {
    /// Version of a section's common entries.
    fn version(&self, section: FrameSection) -> u8 {
        match (section, self.format.version) {
            // `.eh_frame` has a version that does not follow the DWARF version.
            (FrameSection::Eh, _) | (_, ..=2) => 1,
            (_, 3) => 3,
            _ => 4,
        }
    }

    /// Whether a section's common entries have room for the return address register: version 1 has one byte.
    pub(crate) fn has_return_register(&self, section: FrameSection) -> bool {
        self.version(section) > 1 || u8::try_from(self.return_register.0).is_ok()
    }

    /// Starts a new row, `bytes` after the previous row: a multiple of the code alignment factor.
    pub(crate) fn advance(&self, bytes: u32, out: &mut Vec<u8>) {
        let steps = bytes / u32::from(self.code_alignment);
        let (opcode, size) = match steps {
            0 => return,
            1..0x40 => return out.push(code::ADVANCE_LOC | steps as u8),
            0x40..=0xff => (code::ADVANCE_LOC1, 1),
            0x100..=0xffff => (code::ADVANCE_LOC2, 2),
            _ => (code::ADVANCE_LOC4, 4),
        };
        out.push(opcode);
        self.format.fixed(out, steps.into(), size);
    }

    /// Appends `DW_CFA_remember_state`.
    pub(crate) fn remember(out: &mut Vec<u8>) {
        out.push(code::REMEMBER_STATE);
    }

    /// Appends `DW_CFA_restore_state`.
    pub(crate) fn restore(out: &mut Vec<u8>) {
        out.push(code::RESTORE_STATE);
    }

    /// Number of a register in the entries.
    fn number(&self, reg: Reg) -> Reg {
        match reg.0 {
            0..=0xff => Reg(reg.0 + self.plain_base),
            _ => reg,
        }
    }

    /// Appends a register's rule. `first` is the register's rule in the common information entry.
    pub(crate) fn rule(&self, reg: Reg, rule: Rule, first: Rule, exprs: &Exprs, out: &mut Program) {
        let bytes = &mut out.bytes;
        let reg = self.number(reg);
        if rule == first {
            return with_low(code::RESTORE, code::RESTORE_EXTENDED, reg, bytes);
        }
        let with = |opcode, bytes: &mut Vec<u8>| write_byte_uleb(bytes, opcode, reg.0);
        match rule {
            Rule::Default | Rule::SameValue => with(code::SAME_VALUE, bytes),
            Rule::Undefined => with(code::UNDEFINED, bytes),
            Rule::Offset(offset) => match self.factored(offset) {
                steps @ 0.. => {
                    with_low(code::OFFSET, code::OFFSET_EXTENDED, reg, bytes);
                    write_uleb(bytes, steps as u64);
                }
                steps => {
                    with(code::OFFSET_EXTENDED_SF, bytes);
                    write_sleb(bytes, steps);
                }
            },
            Rule::ValOffset(offset) => match self.factored(offset) {
                steps @ 0.. => {
                    with(code::VAL_OFFSET, bytes);
                    write_uleb(bytes, steps as u64);
                }
                steps => {
                    with(code::VAL_OFFSET_SF, bytes);
                    write_sleb(bytes, steps);
                }
            },
            Rule::Register(from) => {
                with(code::REGISTER, bytes);
                write_uleb(bytes, self.number(from).0);
            }
            Rule::Expression(expr) => {
                with(code::EXPRESSION, bytes);
                exprs.append(expr, out);
            }
            Rule::ValExpression(expr) => {
                with(code::VAL_EXPRESSION, bytes);
                exprs.append(expr, out);
            }
            Rule::CfaRegister { .. } | Rule::CfaExpression(_) => {}
        }
    }

    /// Appends the rule for the canonical frame address. `keeps` states what a consumer retains from the previous rule.
    pub(crate) fn cfa(&self, rule: Rule, before: Rule, keeps: Keeps, exprs: &Exprs, out: &mut Program) {
        let bytes = &mut out.bytes;
        let (reg, offset, space) = match rule {
            Rule::CfaRegister { reg, offset, space } => (reg, offset, space),
            Rule::CfaExpression(expr) => {
                bytes.push(code::DEF_CFA_EXPRESSION);
                return exprs.append(expr, out);
            }
            _ => return,
        };
        let is_factored = offset < 0;
        // In the same space, an instruction that changes only the offset or only the register is shorter.
        if let Rule::CfaRegister { reg: old, offset: by, space: of } = before
            && of == space
        {
            if old == reg {
                bytes.push(if is_factored { code::DEF_CFA_OFFSET_SF } else { code::DEF_CFA_OFFSET });
                return self.cfa_offset(offset, bytes);
            }
            if by == offset {
                return write_byte_uleb(bytes, code::DEF_CFA_REGISTER, self.number(reg).0);
            }
        }
        let is_encoded = space != 0 || keeps == Keeps::Space;
        let opcode = match (is_encoded, is_factored) {
            (false, false) => code::DEF_CFA,
            (false, true) => code::DEF_CFA_SF,
            (true, false) => code::LLVM_DEF_ASPACE_CFA,
            (true, true) => code::LLVM_DEF_ASPACE_CFA_SF,
        };
        write_byte_uleb(bytes, opcode, self.number(reg).0);
        self.cfa_offset(offset, bytes);
        if is_encoded {
            write_uleb(bytes, space.into());
        }
    }

    fn cfa_offset(&self, offset: i64, out: &mut Vec<u8>) {
        match offset {
            0.. => write_uleb(out, offset as u64),
            _ => write_sleb(out, self.factored(offset)),
        }
    }

    /// Divides an offset that [is a multiple](Self::is_factored) of the data alignment factor.
    fn factored(&self, offset: i64) -> i64 {
        offset / i64::from(self.data_alignment)
    }

    /// Whether an offset is a multiple of the data alignment factor, and the quotient fits.
    pub(crate) fn is_factored(&self, offset: i64) -> bool {
        // The quotient of the lowest number and -1 does not fit.
        offset.checked_rem(self.data_alignment.into()) == Some(0)
    }
}

/// State that a consumer retains where an instruction for the canonical frame address omits the address space.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Keeps {
    /// No state: the address space is the default one.
    Nothing,
    /// The most recent address space.
    Space,
}

/// Appends an opcode with the register in its low bits, or the extended opcode and the register.
fn with_low(low: u8, extended: u8, reg: Reg, out: &mut Vec<u8>) {
    match reg.0 {
        0..0x40 => out.push(low | reg.0 as u8),
        _ => write_byte_uleb(out, extended, reg.0),
    }
}

/// Rule expressions.
#[derive(Debug, Default)]
pub(crate) struct Exprs {
    pub(crate) program: Program,
    /// Each expression's end in `program`.
    pub(crate) ends: Vec<usize>,
}

impl Exprs {
    pub(crate) fn range(&self, expr: u32) -> core::ops::Range<usize> {
        let expr = expr as usize;
        let start = expr.checked_sub(1).map_or(0, |before| self.ends[before]);
        start..self.ends[expr]
    }

    /// Appends an expression as a block: its length and its bytes.
    fn append(&self, expr: u32, out: &mut Program) {
        let range = self.range(expr);
        write_uleb(&mut out.bytes, range.len() as u64);
        out.append(&self.program, range);
    }
}

/// Section that contains the entries.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum FrameSection {
    Debug,
    Eh,
}

/// Gives a symbol's name by its number.
pub(crate) type Names<'n> = &'n dyn Fn(u32) -> Cow<'static, str>;

/// A call frame information section, to which entries are appended.
#[derive(Debug)]
pub(crate) struct FrameTable {
    section: FrameSection,
    common: FrameFormat,
    pub(crate) bytes: Vec<u8>,
    pub(crate) relocations: Vec<Relocation>,
}

/// Signed distance from the field, in four bytes.
const RELATIVE4: u8 = gimli::DW_EH_PE_pcrel.0 | gimli::DW_EH_PE_sdata4.0;

impl FrameTable {
    pub(crate) fn new(section: FrameSection, mut common: FrameFormat) -> Self {
        if section == FrameSection::Eh {
            // `.eh_frame` always uses the 32-bit format.
            common.format.offset_bytes = 4;
        }
        Self { section, common, bytes: Vec::new(), relocations: Vec::new() }
    }

    /// Appends a common information entry and returns its offset.
    pub(crate) fn common(&mut self, instructions: &Program, return_register: Reg, names: Names<'_>) -> u64 {
        let FrameFormat { format, code_alignment, data_alignment, augmentation, .. } = self.common;
        let is_eh = self.section == FrameSection::Eh;
        let version = self.common.version(self.section);
        let offset = self.bytes.len();
        let start = format.begin_length(&mut self.bytes);
        let out = &mut self.bytes;
        // This value distinguishes the entry from frame description entries.
        format.offset(out, if is_eh { 0 } else { u64::MAX });
        out.push(version);
        out.extend_from_slice(if is_eh { "zR" } else { augmentation }.as_bytes());
        out.push(0);
        if version == 4 {
            let segment_bytes = 0;
            out.extend_from_slice(&[format.address_bytes, segment_bytes]);
        }
        write_uleb(out, code_alignment.into());
        write_sleb(out, data_alignment.into());
        match version {
            1 => out.push(return_register.0 as u8),
            _ => write_uleb(out, self.common.number(return_register).0),
        }
        if is_eh {
            out.extend_from_slice(&[1, RELATIVE4]);
        }
        self.program(instructions, names);
        self.end(offset, start);
        offset as u64
    }

    /// Appends a function's frame description entry. The address is a symbol plus a byte offset, or a number.
    pub(crate) fn description(
        &mut self,
        common: u64,
        (symbol, address): (Option<Cow<'static, str>>, u64),
        bytes: u64,
        instructions: (&Program, core::ops::Range<usize>),
        names: Names<'_>,
    ) {
        let format = self.common.format;
        let offset = self.bytes.len();
        let start = format.begin_length(&mut self.bytes);
        let here = start as u64;
        // In `.eh_frame` the field is the distance back to the common entry, which no linker changes.
        let is_eh = self.section == FrameSection::Eh;
        if is_eh {
            format.offset(&mut self.bytes, here - common);
        } else {
            self.relocations.push(Relocation {
                offset: here,
                bytes: format.offset_bytes,
                target: RelocationTarget::Section(".debug_frame"),
                addend: common,
            });
            format.offset(&mut self.bytes, 0);
        }
        // `RELATIVE4` in the augmentation gives addresses in `.eh_frame` four bytes.
        let size = if is_eh { 4 } else { format.address_bytes };
        let field = match symbol {
            None => address,
            Some(name) => {
                let target = if is_eh {
                    RelocationTarget::Distance(name.into())
                } else {
                    RelocationTarget::Symbol(name)
                };
                let offset = self.bytes.len() as u64;
                self.relocations.push(Relocation { offset, bytes: size, target, addend: address });
                0
            }
        };
        format.fixed(&mut self.bytes, field, size);
        format.fixed(&mut self.bytes, bytes, size);
        if is_eh {
            // The augmentation data is empty.
            self.bytes.push(0);
        }
        // The part is copied, because its addresses must count from its own start.
        let mut part = Program::default();
        part.append(instructions.0, instructions.1);
        self.program(&part, names);
        self.end(offset, start);
    }

    fn program(&mut self, program: &Program, names: Names<'_>) {
        let position = self.bytes.len();
        self.bytes.extend_from_slice(&program.bytes);
        for &(within, key) in &program.addresses {
            self.relocations.extend(key.relocation(position + within, self.common.format, names));
        }
    }

    /// Pads an entry with `DW_CFA_nop` to a multiple of the address size, and fills in its length.
    fn end(&mut self, offset: usize, start: usize) {
        let format = self.common.format;
        let size = (self.bytes.len() - offset).next_multiple_of(format.address_bytes.into());
        self.bytes.resize(offset + size, 0);
        format.end_length(&mut self.bytes, start);
    }
}
