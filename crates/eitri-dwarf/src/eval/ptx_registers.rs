//! PTX registers on a stopped NVIDIA processor: a cubin's map has each word's home, by pc.

use std::borrow::Cow;

use super::forward::forward;
use super::machine::{Machine, Unavailable};
use crate::error::Count;
use crate::op::Reg;
use crate::read::nvidia::{Home, MappedFunction};
use crate::target::{SpaceId, Target, nvptx::class};

/// An NVIDIA machine, with its registers and memory, that also answers for PTX registers: by their homes at the
/// innermost frame's pc.
///
/// A PTX register has 64 bits for each lane, in two 32-bit words. A register without homes for its upper word has 32
/// bits, and its upper word is 0. A word without a home at the pc, or with two homes, is not available, and neither
/// are registers in other lanes than the thread's.
///
/// Homes are registers R and UR and their halves, predicates, local memory at an offset, and local memory at an offset
/// from a register R, to which registers are spilled.
#[derive(Clone, Copy)]
pub struct PtxRegisters<'m> {
    machine: &'m dyn Machine,
    target: &'m Target,
    function: Option<&'m MappedFunction<'m>>,
    /// Pc, in bytes from the function's start.
    pc: u64,
}

impl core::fmt::Debug for PtxRegisters<'_> {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        f.debug_struct("PtxRegisters").field("pc", &self.pc).finish_non_exhaustive()
    }
}

/// Bytes in a word, and in a lane of a PTX register.
const WORD: u32 = 4;
const LANE: u32 = 8;

impl<'m> PtxRegisters<'m> {
    /// Wraps a machine. `function` has the homes at the machine's pc, if there are any; `pc` counts bytes from the
    /// function's start.
    pub fn new(
        machine: &'m dyn Machine,
        target: &'m Target,
        function: Option<&'m MappedFunction<'m>>,
        pc: u64,
    ) -> Self {
        Self { machine, target, function, pc }
    }

    /// A PTX register's name; `None` for a processor register.
    fn name(&self, reg: Reg) -> Option<String> {
        let register = self.target.register(reg)?;
        register.is_packed().then(|| register.name().to_string())
    }

    /// The home of a register's word.
    fn home(&self, name: &str, word: u32) -> Result<Home, String> {
        let none = || format!("the cubin has no map of registers for this pc: register {name}");
        let function = self.function.ok_or_else(none)?;
        let mut here = function.homes_of(name.as_bytes(), word).filter(|home| home.contains(self.pc));
        // Exactly one home: with two, the map does not say which one is current.
        match (here.next(), here.next()) {
            (Some(home), None) => Ok(home.home),
            (None, _) => Err(format!("register {name} has no home at this pc: word {word}")),
            (Some(_), Some(_)) => Err(format!("register {name} has two homes at this pc: word {word}")),
        }
    }

    /// Whether the function has a register's word at any pc.
    fn has_word(&self, name: &str, word: u32) -> bool {
        self.function.is_some_and(|function| function.homes_of(name.as_bytes(), word).next().is_some())
    }

    /// Returns an error for a register byte, numbered from lane 0's first byte, that is another thread's.
    fn in_lane(&self, reg: Reg, at: u32) -> Result<(), String> {
        let register =
            self.target.register(reg).filter(|register| register.is_vector() && register.lane_bits() >= 8);
        let Some((register, lane)) = register.zip(self.machine.lane()) else { return Ok(()) };
        let bytes = register.lane_bits() / 8;
        if u64::from(at / bytes) == lane {
            return Ok(());
        }
        let byte = i128::from(at) - i128::from(lane) * i128::from(bytes);
        Err(format!("register {} has {} for each lane: byte {byte}", register.name(), Count(bytes, "byte")))
    }

    /// Reads bytes from a PTX register, from byte `first` on.
    fn read(&self, name: &str, first: u32, into: &mut [u8]) -> Result<(), Cow<'static, str>> {
        let is_short = self.has_word(name, 0) && !self.has_word(name, 1);
        // The words' homes, once they are read.
        let mut homes = [None; 2];
        for (index, byte) in into.iter_mut().enumerate() {
            let offset = first + index as u32;
            let lane = offset / LANE;
            let word = offset % LANE / WORD;
            let in_word = offset % WORD;
            if word == 1 && is_short {
                *byte = 0;
                continue;
            }
            let known = &mut homes[word as usize];
            let home = match *known {
                Some(home) => home,
                None => *known.insert(self.home(name, word)?),
            };
            *byte = self
                .byte(home, lane, in_word)
                .ok_or_else(|| format!("register {name} is in {home}, which is unknown"))?;
        }
        Ok(())
    }

    /// Reads a byte in a home.
    fn byte(&self, home: Home, lane: u32, at: u32) -> Option<u8> {
        let number = home.number();
        let half = |number: u32| (number / 2, 2 * (number % 2) + at);
        match home.class() {
            class::R => self.register_byte(&format!("R{number}"), lane, at),
            class::UR => self.register_byte(&format!("UR{number}"), 0, at),
            // A half register has 16 bits, and its upper two bytes have no home.
            class::R_HALF if at < 2 => {
                let (number, at) = half(number);
                self.register_byte(&format!("R{number}"), lane, at)
            }
            class::UR_HALF if at < 2 => {
                let (number, at) = half(number);
                self.register_byte(&format!("UR{number}"), 0, at)
            }
            class::P | class::UP => {
                let name = format!("{}{number}", if home.class() == class::P { "P" } else { "UP" });
                let register = self.target.register(self.target.register_named(&name).ok()?)?;
                // A predicate has one bit per lane; a uniform predicate has one bit.
                let bit = if register.is_vector() { lane } else { 0 };
                let mut byte = [0];
                self.machine.register(register.reg, 0, bit / 8, &mut byte).ok()?;
                Some(if at == 0 { byte[0] >> (bit % 8) & 1 } else { 0 })
            }
            class::LOCAL => self.local_byte(lane, (number + at).into()),
            class::SPILL => {
                let mut base = 0u64;
                for index in 0..WORD {
                    let byte = self.register_byte(&format!("R{}", number >> 16), lane, index)?;
                    base |= u64::from(byte) << (8 * index);
                }
                self.local_byte(lane, base + u64::from(number & 0xffff) + u64::from(at))
            }
            _ => None,
        }
    }

    /// Reads a byte from a lane in a processor register.
    fn register_byte(&self, name: &str, lane: u32, at: u32) -> Option<u8> {
        let reg = self.target.register_named(name).ok()?;
        let mut byte = [0];
        self.machine.register(reg, 0, WORD * lane + at, &mut byte).ok()?;
        Some(byte[0])
    }

    fn local_byte(&self, lane: u32, address: u64) -> Option<u8> {
        let mut byte = [0];
        self.machine.memory(SpaceId::PRIVATE_LANE, Some(lane), address, &mut byte).ok()?;
        Some(byte[0])
    }
}

impl Machine for PtxRegisters<'_> {
    fn register(&self, reg: Reg, frame: u32, at: u32, into: &mut [u8]) -> Result<(), Unavailable> {
        if frame == 0 && !into.is_empty() {
            // Both ends: a read must not reach into another lane.
            let last = at.saturating_add(into.len() as u32 - 1);
            self.in_lane(reg, at).and_then(|()| self.in_lane(reg, last)).map_err(|_| Unavailable)?;
        }
        match self.name(reg) {
            Some(name) if frame == 0 => self.read(&name, at, into).map_err(|_| Unavailable),
            Some(_) => Err(Unavailable),
            None => self.machine.register(reg, frame, at, into),
        }
    }

    fn register_problem(&self, reg: Reg, frame: u32, at: u32) -> Option<String> {
        match self.name(reg) {
            Some(name) if frame == 0 => {
                let problem = self.read(&name, at, &mut [0; 1]).err().map(Cow::into_owned);
                problem.or_else(|| self.in_lane(reg, at).err())
            }
            Some(name) => {
                Some(format!("register {name} is unknown in frame {frame}; expected the innermost frame"))
            }
            None => {
                let problem = self.machine.register_problem(reg, frame, at);
                problem.or_else(|| self.in_lane(reg, at).err().filter(|_| frame == 0))
            }
        }
    }

    fn memory(
        &self,
        space: SpaceId,
        lane: Option<u32>,
        address: u64,
        into: &mut [u8],
    ) -> Result<(), Unavailable> {
        self.machine.memory(space, lane, address, into)
    }

    forward! {
        is_big_endian lane lanes iteration iterations pc cfa frame_base saved object tls load_bias debug_addr base_type
        entry call_value entry_value variable_type
    }
}
