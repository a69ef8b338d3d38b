//! Registers: numbers, names, layouts.

use std::borrow::Cow;

use crate::error::{Error, Result};

/// A DWARF register number.
///
/// The target determines the numbers, and [`Target`](super::Target) has their names. Numbers can exceed 16 bits, because
/// PTX packs the name of a virtual register into the number.
///
/// Exhaustive: a number is all it holds.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Reg(pub u64);

impl From<gimli::Register> for Reg {
    fn from(register: gimli::Register) -> Self {
        Self(register.0.into())
    }
}

impl TryFrom<Reg> for gimli::Register {
    type Error = Error;

    /// # Errors
    /// [`BadArgument`](crate::error::ErrorKind::BadArgument) for a number with more than 16 bits.
    fn try_from(reg: Reg) -> Result<Self> {
        let Reg(number) = reg;
        let problem = || format!("register {number} is out of range; gimli has registers 0 to {}", u16::MAX);
        u16::try_from(number).map(Self).map_err(|_| Error::bad_argument(problem()))
    }
}

/// Registers with consecutive DWARF numbers and a common layout.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Registers {
    /// DWARF number of the first register.
    pub(super) first: u64,
    /// Number of registers: 0 for packed names, so that the lookup by number skips the range.
    pub(super) count: u64,
    pub(super) names: RegisterNames,
    /// Size of each register in bits, including all lanes.
    pub(super) bits: u32,
    pub(super) lanes: u32,
    /// Second DWARF number of the first register.
    pub(super) alias: Option<u64>,
}

/// Registers that a call overwrites: the calling convention lets a function change them without saving them first.
///
/// Exhaustive: a literal names all fields.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Clobbered {
    /// First of the registers, which have consecutive DWARF numbers.
    pub first: Reg,
    /// Number of registers.
    pub count: u32,
    /// Number of low bits that a function preserves nevertheless; 0 in most conventions.
    pub preserved_bits: u32,
}

impl Clobbered {
    /// Returns registers without a preserved part.
    pub const fn new(first: u64, count: u32) -> Self {
        Self { first: Reg(first), count, preserved_bits: 0 }
    }

    pub(super) fn contains(&self, reg: Reg) -> bool {
        reg.0.wrapping_sub(self.first.0) < u64::from(self.count)
    }
}

/// Names of a range of registers.
///
/// Exhaustive: a match names all variants.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum RegisterNames {
    /// A prefix and a number.
    Numbered {
        /// Common start of the names.
        prefix: Cow<'static, str>,
        /// Number in the first name.
        first: u64,
    },
    /// An individual name for each register.
    Individual(Vec<Cow<'static, str>>),
    /// The 2 to 8 characters of the name, packed into the DWARF number: the first character in the most significant
    /// byte that is not 0.
    Packed {
        /// First character of the names, in ASCII.
        prefix: u8,
    },
}

/// Maximum number of characters in a packed name.
const PACKED: usize = 8;

impl Registers {
    /// Returns scalar registers whose names end in a number: `numbered(32, "s", 0..64, 32)` is `s0` with DWARF number 32
    /// to `s63` with 95, 32 bits each.
    pub fn numbered(
        first: u64,
        prefix: impl Into<Cow<'static, str>>,
        numbers: core::ops::Range<u64>,
        bits: u32,
    ) -> Self {
        let names = RegisterNames::Numbered { prefix: prefix.into(), first: numbers.start };
        Self { first, count: numbers.end.saturating_sub(numbers.start), names, bits, lanes: 1, alias: None }
    }

    /// Returns scalar registers with individual names and consecutive DWARF numbers from `first` on.
    pub fn named<N: Into<Cow<'static, str>>>(
        first: u64,
        names: impl IntoIterator<Item = N>,
        bits: u32,
    ) -> Self {
        let names: Vec<_> = names.into_iter().map(Into::into).collect();
        Self {
            first,
            count: names.len() as u64,
            names: RegisterNames::Individual(names),
            bits,
            lanes: 1,
            alias: None,
        }
    }

    /// Returns scalar registers without a list: all names of 2 to 8 printable ASCII characters that begin with `prefix`.
    /// The DWARF number is the name, one byte a character, the first character most significant: `%r4` is 0x257234, as
    /// in PTX DWARF.
    pub fn packed_names(prefix: char, bits: u32) -> Self {
        let prefix = u8::try_from(prefix).unwrap_or(0);
        Self { first: 0, count: 0, names: RegisterNames::Packed { prefix }, bits, lanes: 1, alias: None }
    }

    /// Converts the registers to vector registers, with `bits` for each lane.
    #[must_use]
    pub fn with_lanes(mut self, lanes: u32) -> Self {
        self.bits = self.bits.saturating_mul(lanes);
        self.lanes = lanes;
        self
    }

    /// Gives the registers a second set of consecutive DWARF numbers, from `first` on, which some producers write. A
    /// [`Register`] looked up by the second number has the first number.
    #[must_use]
    pub fn with_alias(mut self, first: u64) -> Self {
        self.alias = Some(first);
        self
    }

    /// Returns the DWARF number of the first register; 0 for packed names.
    pub fn first(&self) -> Reg {
        Reg(self.first)
    }

    /// Returns the number of registers; 0 for packed names.
    pub fn count(&self) -> u64 {
        self.count
    }

    /// Returns the names.
    pub fn names(&self) -> &RegisterNames {
        &self.names
    }

    /// Returns the size of each register in bits, including all lanes.
    pub fn bits(&self) -> u32 {
        self.bits
    }

    /// Returns the number of lanes in each register.
    pub fn lanes(&self) -> u32 {
        self.lanes
    }

    /// Returns the second DWARF number of the first register.
    pub fn alias(&self) -> Option<Reg> {
        self.alias.map(Reg)
    }

    /// Returns the first number of the register with this second number.
    pub(super) fn aliased(&self, reg: Reg) -> Option<Reg> {
        let index = reg.0.wrapping_sub(self.alias?);
        (index < self.count).then(|| Reg(self.first + index))
    }

    /// Whether a register has the number. Packed names are not looked up.
    #[inline]
    pub(super) fn contains(&self, reg: Reg) -> bool {
        reg.0.wrapping_sub(self.first) < self.count
    }

    /// Whether the number is a packed name.
    pub(super) fn is_packed(&self, reg: Reg) -> bool {
        let RegisterNames::Packed { prefix } = self.names else { return false };
        let name = unpacked(reg);
        name.len() >= 2 && name[0] == prefix && name.iter().all(u8::is_ascii_graphic)
    }

    /// Returns the register with a name.
    pub(super) fn find(&self, name: &str) -> Option<Reg> {
        let index = match &self.names {
            RegisterNames::Numbered { prefix, first } => {
                let digits = name.strip_prefix(&**prefix)?;
                let number: u64 = digits.parse().ok()?;
                // `v01` is not a register.
                number.checked_sub(*first).filter(|_| digits == number.to_string())?
            }
            RegisterNames::Individual(names) => names.iter().position(|known| known == name)? as u64,
            RegisterNames::Packed { .. } => return self.packed(name),
        };
        (index < self.count).then(|| Reg(self.first + index))
    }

    /// Returns the register with a packed name.
    pub(super) fn packed(&self, name: &str) -> Option<Reg> {
        let number = name.bytes().fold(0, |number, byte| number << 8 | u64::from(byte));
        Some(Reg(number)).filter(|reg| name.len() <= PACKED && self.is_packed(*reg))
    }

    /// Returns all registers in number order, except for registers with packed names.
    pub(super) fn all(&self) -> impl Iterator<Item = Register<'_>> + '_ {
        (self.first..self.first + self.count).map(move |number| self.register(Reg(number)))
    }

    /// Whether the registers have more than one lane.
    pub(crate) fn are_vectors(&self) -> bool {
        self.lanes > 1
    }

    #[inline]
    pub(super) fn register(&self, reg: Reg) -> Register<'_> {
        Register { reg, bits: self.bits, lanes: self.lanes, range: self }
    }
}

/// Returns the characters of a packed name.
fn unpacked(reg: Reg) -> Vec<u8> {
    reg.0.to_be_bytes().into_iter().skip_while(|byte| *byte == 0).collect()
}

/// A register of a target, with its name and layout.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Register<'t> {
    /// DWARF number.
    pub reg: Reg,
    /// Size in bits, including all lanes.
    pub bits: u32,
    /// Number of lanes: 1 for a scalar register. Lane 0 is in the least significant bits, and lanes are contiguous.
    pub lanes: u32,
    range: &'t Registers,
}

impl<'t> Register<'t> {
    /// Returns the name: `v3`, `s4`, `exec`, `rbp`.
    pub fn name(&self) -> RegisterName<'t> {
        RegisterName(*self)
    }

    /// Returns the size of one lane in bits.
    pub fn lane_bits(&self) -> u32 {
        // Most lane counts are powers of two, and a shift is faster than a division.
        if self.lanes.is_power_of_two() {
            self.bits >> self.lanes.trailing_zeros()
        } else {
            self.bits / self.lanes
        }
    }

    /// Whether the register has more than one lane.
    pub fn is_vector(&self) -> bool {
        self.lanes > 1
    }

    /// Whether the DWARF number is the packed name.
    pub fn is_packed(&self) -> bool {
        self.range.is_packed(self.reg)
    }
}

/// Displays a register name.
#[derive(Debug, Clone, Copy)]
pub struct RegisterName<'t>(Register<'t>);

impl core::fmt::Display for RegisterName<'_> {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        let Registers { first: dwarf, names, .. } = self.0.range;
        let index = self.0.reg.0 - dwarf;
        match names {
            RegisterNames::Numbered { prefix, first } => write!(f, "{prefix}{}", first + index),
            RegisterNames::Individual(names) => f.write_str(&names[index as usize]),
            RegisterNames::Packed { .. } => unpacked(self.0.reg).into_iter().try_for_each(|byte| {
                use core::fmt::Write;
                f.write_char(byte.into())
            }),
        }
    }
}
