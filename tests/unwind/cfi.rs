//! Builder for call frame information.

use eitri::op::{Dialect, Encoding, text};
use eitri::read::{FrameSection, Frames, Sections};
use eitri::target::Target;

use super::bytes::Bytes;

/// A `.debug_frame` section of version 4 with 8-byte addresses.
#[derive(Debug, Default)]
pub struct Section(Bytes);

impl Section {
    /// Adds a CIE with code alignment factor 1. Returns its offset.
    pub fn cie(
        &mut self,
        augmentation: &str,
        data_alignment: i64,
        return_register: u64,
        first: &Program,
    ) -> u64 {
        let mut cie = Bytes::default();
        cie.u32(0xffff_ffff).u8s([4]).string(augmentation).u8s([8, 0, 1]).sleb(data_alignment);
        cie.uleb(return_register);
        if augmentation.starts_with('z') {
            cie.uleb(0);
        }
        cie.u8s(&first.0.bytes);
        let offset = self.0.len();
        self.0.unit(&cie);
        offset
    }

    /// Adds an FDE of the CIE at offset `cie`. An augmentation that starts with `z` adds an augmentation length.
    pub fn fde(&mut self, cie: u64, start: u64, length: u64, program: &Program) -> u64 {
        let mut fde = Bytes::default();
        fde.u32(cie as u32).u64(start).u64(length);
        // The augmentation follows length, id and version.
        if self.0.bytes[cie as usize + 9] == b'z' {
            fde.uleb(0);
        }
        fde.u8s(&program.0.bytes);
        let offset = self.0.len();
        self.0.unit(&fde);
        offset
    }

    pub fn bytes(&self) -> &[u8] {
        &self.0.bytes
    }

    pub fn read(&self) -> Frames<'_> {
        self.read_as(ENCODING)
    }

    /// Reads the section with expressions in another dialect.
    pub fn read_as(&self, encoding: Encoding) -> Frames<'_> {
        let mut sections = Sections::default();
        sections.debug_frame = &self.0.bytes;
        Frames::read(&sections, FrameSection::Debug, encoding).expect("the section is read")
    }
}

pub const ENCODING: Encoding = encoding(Dialect::Llvm);

pub const fn encoding(dialect: Dialect) -> Encoding {
    Encoding::new(8, dialect)
}

/// A sequence of call frame instructions (DWARF 5 table 7.29, and LLVM's).
#[derive(Debug, Clone, Default)]
pub struct Program(pub Bytes);

impl Program {
    pub fn new() -> Self {
        Self::default()
    }

    /// Appends an opcode with unsigned operands.
    pub fn op<const N: usize>(mut self, opcode: u8, operands: [u64; N]) -> Self {
        self.0.u8s([opcode]);
        operands.into_iter().for_each(|operand| _ = self.0.uleb(operand));
        self
    }

    /// Appends an opcode with unsigned operands and a final signed one.
    pub fn signed<const N: usize>(self, opcode: u8, operands: [u64; N], last: i64) -> Self {
        let mut all = self.op(opcode, operands);
        all.0.sleb(last);
        all
    }

    pub fn expression(self, opcode: u8, reg: Option<u64>, expr: &[u8]) -> Self {
        let mut all = self.op(opcode, []);
        reg.into_iter().for_each(|reg| _ = all.0.uleb(reg));
        all.0.uleb(expr.len() as u64).u8s(expr);
        all
    }

    /// Appends raw bytes.
    pub fn raw(mut self, bytes: &[u8]) -> Self {
        self.0.u8s(bytes);
        self
    }

    /// Appends another program.
    pub fn then(self, other: Self) -> Self {
        self.raw(&other.0.bytes)
    }

    /// Appends `DW_CFA_advance_loc1`.
    pub fn advance(self, bytes: u8) -> Self {
        let mut all = self.op(0x02, []);
        all.0.u8s([bytes]);
        all
    }

    pub fn def_cfa(self, reg: u64, offset: u64) -> Self {
        self.op(0x0c, [reg, offset])
    }

    pub fn def_aspace_cfa(self, reg: u64, offset: u64, space: u64) -> Self {
        self.op(0x30, [reg, offset, space])
    }

    pub fn def_aspace_cfa_sf(self, reg: u64, factored: i64, space: u64) -> Self {
        let mut all = self.signed(0x31, [reg], factored);
        all.0.uleb(space);
        all
    }

    pub fn undefined(self, reg: u64) -> Self {
        self.op(0x07, [reg])
    }

    pub fn same_value(self, reg: u64) -> Self {
        self.op(0x08, [reg])
    }

    /// Appends an offset rule; the offset is factored by the data alignment.
    pub fn offset(self, reg: u64, factored: i64) -> Self {
        self.signed(0x11, [reg], factored)
    }

    pub fn val_offset(self, reg: u64, factored: i64) -> Self {
        self.signed(0x15, [reg], factored)
    }

    pub fn register(self, reg: u64, from: u64) -> Self {
        self.op(0x09, [reg, from])
    }

    pub fn at(self, reg: u64, expr: &[u8]) -> Self {
        self.expression(0x10, Some(reg), expr)
    }

    pub fn value(self, reg: u64, expr: &[u8]) -> Self {
        self.expression(0x16, Some(reg), expr)
    }
}

/// Parses operations.
pub fn ops(target: &Target, expr: &str) -> Vec<u8> {
    ops_of(target, Dialect::Llvm, expr)
}

pub fn ops_of(target: &Target, dialect: Dialect, expr: &str) -> Vec<u8> {
    let parsed = text::parse(expr, encoding(dialect), Some(target));
    parsed.unwrap_or_else(|error| panic!("{expr}: {error}")).bytes().to_vec()
}
