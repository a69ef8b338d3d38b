//! Intended meaning of a finding: its text, and a location as DWARF operations where the facts determine one.

use std::ops::{Deref, Range};

use eitri_dwarf::op::{Dialect, Encoder, Encoding, Reg};

/// Intended meaning: a text, and for most locations also the location itself.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Meant {
    text: String,
    /// Meant locations of the whole variable, not only of the operations at fault, from the most general location to the
    /// best; none where the facts in the file do not determine them.
    pub locations: Vec<MeantLocation>,
}

/// A location that was meant, in LLVM's encoding of locations on the stack ([`Dialect::Llvm`](eitri_dwarf::op::Dialect)).
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct MeantLocation {
    /// DWARF operations.
    pub expression: Vec<u8>,
    /// Half-open pc range at which the location was meant: addresses in the file. `None` means all pcs.
    pub pcs: Option<Range<u64>>,
}

impl Meant {
    pub(super) fn new(text: impl Into<String>) -> Self {
        Self { text: text.into(), locations: Vec::new() }
    }

    /// Returns the meaning as text.
    pub fn text(&self) -> &str {
        &self.text
    }
}

impl Deref for Meant {
    type Target = str;

    fn deref(&self) -> &str {
        &self.text
    }
}

impl std::fmt::Display for Meant {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.text)
    }
}

impl MeantLocation {
    pub(super) fn new(expression: Vec<u8>, pcs: Option<Range<u64>>) -> Self {
        Self { expression, pcs }
    }

    /// Returns the location in the default address space at an address in two registers, plus some bytes.
    pub(super) fn memory((low, high): (Reg, Reg), offset: u64, pcs: Range<u64>) -> Self {
        let mut expression = Vec::new();
        let mut to = Encoder::new(&mut expression, ENCODING);
        to.regx(low).deref_size(4).regx(high).deref_size(4).constu(32).shl().or();
        if offset != 0 {
            to.plus_uconst(offset);
        }
        Self::new(expression, Some(pcs))
    }

    /// Returns the location of some bytes in registers of 32 bits.
    pub(super) fn registers(registers: &[Reg], bytes: u64, pcs: Range<u64>) -> Self {
        let mut expression = Vec::new();
        let mut to = Encoder::new(&mut expression, ENCODING);
        let mut rest = bytes;
        for register in registers {
            to.regx(*register);
            if registers.len() > 1 {
                to.piece(rest.min(4));
            }
            rest = rest.saturating_sub(4);
        }
        Self::new(expression, Some(pcs))
    }
}

/// A stack slot's base register, and the offset from it.
#[derive(Debug, Clone, Copy)]
pub(super) struct Slot {
    pub(super) register: Reg,
    pub(super) offset: i64,
}

/// Encoding of operations that depend on no unit.
const ENCODING: Encoding = Encoding::new(8, Dialect::Llvm);

/// Where part of a variable was meant to be.
#[derive(Debug, Clone)]
pub(super) enum Meaning {
    /// A number of bytes from a register's contents, in the current lane.
    Register { name: String, reg: Reg, plus: i64 },
    /// A number computed from a register.
    Computed { name: String },
    /// The current lane's element.
    Element { name: String, reg: Reg },
    /// A number.
    Constant(u64),
    /// A slot in the lane's scratch; `lanes` is the number of lanes for which the base register counts bytes.
    Slot { name: String, slot: Slot, lanes: u32 },
    /// A slot in the lane's scratch, whose base register counts bytes for all lanes.
    ScaledSlot { name: String, slot: Slot, lanes: u32 },
    /// Memory at an address in the file, in an address space.
    Symbol { words: String, address: u64, space: u64 },
    /// Words for what no location states.
    Words(String),
}

impl Meaning {
    pub(super) fn text(&self) -> String {
        match self {
            Self::Register { name, plus: 0, .. } => format!("the value in {name}"),
            Self::Register { name, plus: bytes @ ..0, .. } => {
                format!("the value in {name} minus {}", bytes.unsigned_abs())
            }
            Self::Register { name, plus, .. } => format!("the value in {name} plus {plus}"),
            Self::Computed { name } => format!("a value computed from {name}"),
            Self::Element { name, .. } => format!("the current lane's element of {name}"),
            Self::Constant(value) => format!("the value {}", *value as i64),
            Self::Slot { name, slot, .. } => format!("scratch at {name}{:+}", slot.offset),
            Self::ScaledSlot { name, slot, lanes } => {
                format!("lane scratch at {name} / {lanes} {:+}", slot.offset)
            }
            Self::Symbol { words, .. } | Self::Words(words) => words.clone(),
        }
    }
}
