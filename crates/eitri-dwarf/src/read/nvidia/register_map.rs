//! Homes of PTX registers by pc: the section `.nv_debug_info_reg_sass`.

use core::ops::Range;
use std::borrow::Cow;

use super::{Names, section};
use crate::error::{Count, ErrorKind, Result};
use crate::read::Object;
use crate::read::cursor::Cursor;
use crate::target::nvptx::class;

const SECTION: Names = [".nv_debug_info_reg_sass", ".nv.merc.nv_debug_info_reg_sass"];
const WHAT: &str = "the map of registers";
/// Least size of an entry in bytes: four numbers and an empty name.
const LEAST: usize = 17;

/// Homes of each function's PTX registers.
#[derive(Debug, Clone, Default)]
#[non_exhaustive]
pub struct RegisterMap<'o> {
    /// Functions, in the section's order.
    pub functions: Vec<MappedFunction<'o>>,
    /// Each function's part of the section, in bytes from its start.
    pub parts: Vec<Range<u64>>,
}

/// Homes of a function's PTX registers.
#[derive(Debug, Clone)]
pub struct MappedFunction<'o> {
    /// Linkage name of the function.
    pub name: &'o [u8],
    /// Function address, if the file has a function symbol with that name.
    pub address: Option<u64>,
    homes: Vec<RegisterHome<'o>>,
    /// Home indices, by register and word.
    by_word: Vec<u32>,
}

/// Home of a PTX register's word while it has a value.
///
/// Exhaustive: a literal names all fields.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RegisterHome<'o> {
    /// Name of the PTX register.
    pub register: &'o [u8],
    /// Number of the 32-bit word: 0 is the lower word.
    pub word: u32,
    /// Register or memory.
    pub home: Home,
    /// First pc, in bytes from the function's start: the instruction that writes the value.
    pub start: u32,
    /// Last pc, included: the last instruction that reads the value.
    pub end: u32,
}

impl RegisterHome<'_> {
    /// Whether the word has a home at a pc, in bytes from the function's start.
    pub fn contains(&self, pc: u64) -> bool {
        (self.start.into()..=self.end.into()).contains(&pc)
    }
}

/// Register or memory that has a word of a PTX register: class times 2²⁴ plus number.
///
/// Exhaustive: the fields are all it holds.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Home(pub u32);

impl Home {
    /// Returns the [class](class).
    pub fn class(self) -> u8 {
        (self.0 >> 24) as u8
    }

    /// Whether the home is memory: local memory, or a spill slot.
    pub fn is_memory(self) -> bool {
        matches!(self.class(), class::LOCAL | class::SPILL)
    }

    /// Returns the number within the class.
    pub fn number(self) -> u32 {
        self.0 & 0xff_ffff
    }
}

/// Displays the home: `R4`, `R4.h`, `local[R1+0xa8]`, or the number for an unknown class.
impl core::fmt::Display for Home {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        let number = self.number();
        let half = if number.is_multiple_of(2) { 'l' } else { 'h' };
        match self.class() {
            class::CC => write!(f, "CC{number}"),
            class::P if number == 7 => f.write_str("PT"),
            class::P => write!(f, "P{number}"),
            class::A => write!(f, "A{number}"),
            class::R_HALF => write!(f, "R{}.{half}", number / 2),
            class::R if number == 255 => f.write_str("RZ"),
            class::R => write!(f, "R{number}"),
            class::LOCAL => write!(f, "local[{number:#x}]"),
            class::SPILL => write!(f, "local[R{}+{:#x}]", number >> 16, number & 0xffff),
            class::UP => write!(f, "UP{number}"),
            class::UR_HALF => write!(f, "UR{}.{half}", number / 2),
            class::UR if number == 255 => f.write_str("URZ"),
            class::UR => write!(f, "UR{number}"),
            _ => write!(f, "{:#x}", self.0),
        }
    }
}

impl<'o> RegisterMap<'o> {
    /// Reads the map of a cubin. The result is empty without the section.
    ///
    /// # Errors
    /// [`Truncated`](ErrorKind::Truncated) or [`Malformed`](ErrorKind::Malformed), with the offset.
    pub fn read(object: &'o Object<'_>) -> Result<Self> {
        let Some(mut from) = section(object, SECTION) else { return Ok(Self::default()) };
        let mut map = Self::default();
        while !from.is_at_end() {
            let start = from.offset();
            map.functions.push(read_function(&mut from, object)?);
            map.parts.push(start..from.offset());
        }
        Ok(map)
    }

    /// Returns the function that contains a pc, with the pc in bytes from its start.
    pub fn at(&self, object: &Object<'_>, pc: u64) -> Option<(&MappedFunction<'o>, u64)> {
        let size = |function: &MappedFunction<'_>| {
            let name = core::str::from_utf8(function.name).ok()?;
            Some(object.symbol(name)?.size)
        };
        self.functions.iter().find_map(|function| {
            let distance = pc.checked_sub(function.address?)?;
            (distance < size(function)?).then_some((function, distance))
        })
    }

    /// Returns the function that begins at an address.
    pub fn function_at(&self, address: u64) -> Option<&MappedFunction<'o>> {
        self.functions.iter().find(|function| function.address == Some(address))
    }
}

fn read_function<'o>(from: &mut Cursor<'o>, object: &Object<'_>) -> Result<MappedFunction<'o>> {
    let name = from.string(WHAT)?;
    let position = from.offset();
    let count = from.u32(WHAT)?;
    let most = from.rest().len() / LEAST;
    if count as usize > most {
        let text = format!("{WHAT}: the section has no room for {}", Count(count, "entry"));
        return Err(from.error(ErrorKind::Malformed(text), position));
    }
    let mut homes = Vec::with_capacity(count as usize);
    for _ in 0..count {
        let word = from.u32(WHAT)?;
        let register = from.string(WHAT)?;
        let home = Home(from.u32(WHAT)?);
        homes.push(RegisterHome { register, word, home, start: from.u32(WHAT)?, end: from.u32(WHAT)? });
    }
    let address = core::str::from_utf8(name).ok().and_then(|name| object.symbol_address(name));
    Ok(MappedFunction::new(name, address, homes))
}

impl<'o> MappedFunction<'o> {
    /// Makes the map of a function from its homes, in the section's order.
    pub fn new(name: &'o [u8], address: Option<u64>, homes: Vec<RegisterHome<'o>>) -> Self {
        let mut by_word: Vec<u32> = (0..homes.len() as u32).collect();
        by_word.sort_by_key(|&index| word_of(&homes[index as usize]));
        Self { name, address, homes, by_word }
    }

    /// Returns the name. U+FFFD replaces invalid UTF-8.
    pub fn name(&self) -> Cow<'o, str> {
        String::from_utf8_lossy(self.name)
    }

    /// Returns the homes in section order, which can be sorted by pcs or by registers.
    pub fn homes(&self) -> &[RegisterHome<'o>] {
        &self.homes
    }

    /// Returns the homes of all words of a PTX register, by word, and in section order for each word.
    pub fn homes_of_words(&self, register: &[u8]) -> impl Iterator<Item = &RegisterHome<'o>> {
        let home = |index: u32| &self.homes[index as usize];
        let start = self.by_word.partition_point(|&index| home(index).register < register);
        let rest = &self.by_word[start..];
        let count = rest.partition_point(|&index| home(index).register == register);
        rest[..count].iter().map(move |&index| home(index))
    }

    /// Returns the homes of a PTX register's word, in section order. A search takes time logarithmic in the number of
    /// all homes.
    pub fn homes_of(&self, register: &[u8], word: u32) -> impl Iterator<Item = &RegisterHome<'o>> {
        let home = |index: u32| &self.homes[index as usize];
        let start = self.by_word.partition_point(|&index| word_of(home(index)) < (register, word));
        let rest = &self.by_word[start..];
        let count = rest.partition_point(|&index| word_of(home(index)) == (register, word));
        rest[..count].iter().map(move |&index| home(index))
    }

    /// Returns the home of a PTX register's word at a pc, in bytes from the function's start; `None` if there is none,
    /// or two homes differ.
    pub fn home(&self, register: &[u8], word: u32, pc: u64) -> Option<Home> {
        let mut homes = self.homes_of(register, word).filter(|home| home.contains(pc));
        let home = homes.next()?.home;
        homes.all(|other| other.home == home).then_some(home)
    }
}

fn word_of<'h>(home: &RegisterHome<'h>) -> (&'h [u8], u32) {
    (home.register, home.word)
}
