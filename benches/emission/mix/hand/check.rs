//! Checks of the facts: those of `eitri::build`.

use std::ops::Range;

use super::super::content::{At, DEPTHS, Entry, Function, Kind, LANES, Machine, Place, Row, Scope, Variable};

/// A violated rule.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Wrong {
    /// A type, function or variable that does not exist.
    Id,
    /// A range that is empty, ends outside the function, or begins or ends inside an instruction.
    Range,
    /// Ranges of a variable or scope that overlap.
    Overlap,
    /// A range outside the enclosing scope.
    Outside,
    /// A register that does not exist, or is of another kind.
    Register,
    /// A lane outside the wave.
    Lane,
    /// A value larger than its storage.
    Size,
    /// A row out of order, outside the function, or inside an instruction.
    Row,
    /// A parameter or inlined variable in a scope of another kind.
    Scope,
}

/// Kind of a register.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Register {
    None,
    /// Size in bits.
    Scalar(u8),
    /// Elements of 32 bits, one per lane.
    Vector,
}

/// Registers of the target.
pub struct Checks {
    machine: Machine,
    registers: [Register; 2048],
}

impl Checks {
    pub fn new(machine: Machine) -> Self {
        let mut registers = [Register::None; 2048];
        match machine {
            Machine::Gpu => {
                registers[32..96].fill(Register::Scalar(32));
                registers[1088..1130].fill(Register::Scalar(32));
                registers[1536..2048].fill(Register::Vector);
            }
            Machine::Cpu => {
                registers[..17].fill(Register::Scalar(64));
                registers[17..33].fill(Register::Scalar(128));
            }
        }
        Self { machine, registers }
    }

    #[inline]
    fn register(&self, number: u16) -> Register {
        self.registers.get(usize::from(number)).copied().unwrap_or(Register::None)
    }

    /// Checks for a scalar register of at least `needs` bits.
    #[inline]
    fn scalar(&self, number: u16, needs: u32) -> Result<(), Wrong> {
        match self.register(number) {
            Register::Scalar(has) if needs <= has.into() => Ok(()),
            Register::Scalar(_) => Err(Wrong::Size),
            _ => Err(Wrong::Register),
        }
    }

    #[inline]
    fn vector(&self, number: u16, needs: u32) -> Result<(), Wrong> {
        match self.register(number) {
            Register::Vector if needs <= 32 => Ok(()),
            Register::Vector => Err(Wrong::Size),
            _ => Err(Wrong::Register),
        }
    }

    /// Checks a location of a variable of size `bits`.
    #[inline]
    pub fn place(&self, place: Place, bits: u32) -> Result<(), Wrong> {
        let at_most = |has: u32| if bits <= has { Ok(()) } else { Err(Wrong::Size) };
        match place {
            Place::Register(number) => self.scalar(number, bits),
            Place::PerLane(number) => self.vector(number, bits),
            Place::Lane(number, lane) if lane < LANES => self.vector(number, bits),
            Place::Lane(..) => Err(Wrong::Lane),
            Place::Slot(_) => Ok(()),
            Place::Indirect(number, _) | Place::Pointer(number, ..) => self.scalar(number, 64),
            Place::Argument(low, _) => self.scalar(low, 32).and(self.scalar(low + 1, 32)),
            Place::Pair(low) => {
                self.scalar(low, 32)?;
                self.scalar(low + 1, 32)?;
                at_most(64)
            }
            Place::PerLanePair(low) => {
                self.vector(low, 32)?;
                self.vector(low + 1, 32)?;
                at_most(64)
            }
            Place::Constant(_) => at_most(64),
            Place::Sum(number, _) => {
                self.scalar(number, 64)?;
                at_most(64)
            }
            Place::Split(first, second) => {
                let word = self.machine.word();
                match self.machine {
                    Machine::Gpu => self.vector(first, word)?,
                    Machine::Cpu => self.scalar(first, word)?,
                }
                self.scalar(second, word)?;
                if bits >= 2 * word { Ok(()) } else { Err(Wrong::Size) }
            }
        }
    }

    /// Checks the live ranges of a variable of size `bits`, in a function of size `bytes`.
    #[inline]
    pub fn entries(&self, entries: &[Entry], bytes: u32, bits: u32) -> Result<(), Wrong> {
        let mut last = 0;
        for entry in entries {
            range(self.machine, &(entry.start..entry.end), bytes)?;
            if entry.start < last {
                return Err(Wrong::Overlap);
            }
            last = entry.end;
            self.place(entry.place, bits)?;
            if let Some(other) = entry.other {
                self.place(other, bits)?;
            }
        }
        Ok(())
    }
}

#[inline]
fn range(machine: Machine, range: &Range<u32>, bytes: u32) -> Result<(), Wrong> {
    let is_inside = (range.start | range.end) & (machine.step() - 1) != 0;
    if range.start >= range.end || range.end > bytes || is_inside { Err(Wrong::Range) } else { Ok(()) }
}

/// Checks a member of size `bits` at `offset` in a structure of size `bytes`.
pub fn member(bits: u32, offset: u32, bytes: u32) -> Result<(), Wrong> {
    if offset + bits / 8 <= bytes { Ok(()) } else { Err(Wrong::Size) }
}

pub fn function(machine: Machine, function: &Function) -> Result<(), Wrong> {
    let Some(code) = function.code else { return Ok(()) };
    let is_wrong =
        code.address.checked_add(code.bytes.into()).is_none() || !code.bytes.is_multiple_of(machine.step());
    if is_wrong { Err(Wrong::Range) } else { Ok(()) }
}

/// Checks the ranges of a function's scopes: inside the function and the enclosing scope, and disjoint.
pub fn scopes(machine: Machine, bytes: u32, scopes: &[Scope], all: &[Range<u32>]) -> Result<(), Wrong> {
    let mut around: [Range<usize>; DEPTHS] = Default::default();
    for scope in scopes {
        let ranges = &all[scope.ranges.clone()];
        let outer = scope.depth.checked_sub(1).map_or(&[][..], |depth| &all[around[depth].clone()]);
        for (index, one) in ranges.iter().enumerate() {
            range(machine, one, bytes)?;
            if ranges[..index].iter().any(|other| other.start < one.end && one.start < other.end) {
                return Err(Wrong::Overlap);
            }
            let is_in = |outer: &Range<u32>| outer.start <= one.start && one.end <= outer.end;
            if !outer.is_empty() && !outer.iter().any(is_in) {
                return Err(Wrong::Outside);
            }
        }
        around[scope.depth] = scope.ranges.clone();
    }
    Ok(())
}

/// Checks a variable of a scope. `origins` is the number of abstract variables so far.
#[inline]
pub fn variable(scope: &Scope, variable: &Variable, origins: usize) -> Result<(), Wrong> {
    let is_wrong = match (scope.kind, variable.origin) {
        (Kind::Call { .. }, Some(origin)) => origin >= origins,
        (Kind::Function, None) => false,
        (Kind::Block, None) => variable.is_parameter,
        _ => true,
    };
    if is_wrong || matches!((scope.kind, &variable.at), (Kind::Call { .. } | Kind::Block, At::Nowhere)) {
        return Err(Wrong::Scope);
    }
    Ok(())
}

pub fn rows(machine: Machine, functions: &[Function], all: &[Row]) -> Result<(), Wrong> {
    for function in functions {
        let bytes = function.code.map_or(0, |code| code.bytes);
        let mut last = 0;
        for row in &all[function.rows.clone()] {
            if row.pc < last || row.pc >= bytes || row.pc & (machine.step() - 1) != 0 {
                return Err(Wrong::Row);
            }
            last = row.pc;
        }
    }
    Ok(())
}
