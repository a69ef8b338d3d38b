//! Unwinder results for call frame information, and vectors' expectations.

use core::fmt::{self, Display};
use std::collections::BTreeMap;

use super::bytes::Pattern;
use super::expect::Word;
use super::found::{Reason, is_same, of_class};
use super::location::LocationText;
use super::report::Verdict;
use super::rows::{RowText, VectorRow};
use super::values::{Map, Named, Offset, Parsed, Wrong, objects};
use crate::eval::fault::shortened;
use crate::eval::{Architecture, Bits, Class, Fault, Location};
use crate::op::Reg;
use crate::target::ByteOrder;

/// An unwinder's result for a machine's pc and a call frame information section (A.6.4).
///
/// Exhaustive: a literal names all fields.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Unwound {
    /// All rows in the FDE that contains the pc.
    pub rows: Result<Vec<VectorRow>, Fault>,
    /// Canonical frame address.
    pub cfa: Result<Location, Fault>,
    /// Return address: its column's contents in the caller; `None` if the contents are undefined.
    pub return_address: Result<Option<u64>, Fault>,
    /// The caller's registers by DWARF number: registers with a rule, and registers that the vector asks for.
    pub registers: BTreeMap<u64, Recovered>,
}

/// A register's location and contents in the caller.
///
/// Exhaustive: a literal names all fields.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Recovered {
    /// Location.
    pub location: Result<Location, Fault>,
    /// Contents, as many bits as the register has.
    pub contents: Result<Bits, Fault>,
}

/// Expectation for a vector with call frame information.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct ExpectUnwound {
    rows: Option<Vec<VectorRow>>,
    cfa: Option<Location>,
    caller: Option<ExpectCaller>,
    is_outermost: bool,
    error: Option<Word>,
}

#[derive(Debug, Clone, Default, PartialEq, Eq)]
struct ExpectCaller {
    pc: Option<u64>,
    registers: BTreeMap<u64, Location>,
    contents: BTreeMap<u64, Pattern>,
}

/// Keys in `expect` for call frame information.
#[derive(Debug, Clone, Default)]
pub(super) struct UnwoundText {
    pub rows: Option<Vec<RowText>>,
    pub cfa: Option<Parsed<LocationText>>,
    pub caller: Option<CallerText>,
    pub outermost: Option<bool>,
    pub error: Option<Word>,
}

objects! {
    "caller"
    /// The `caller` object.
    pub(super) struct CallerText {
        pc: Option<Parsed<Offset>>,
        registers: Option<Map<Named, Parsed<LocationText>>>,
        contents: Option<Map<Named, Parsed<Pattern>>>,
    }
}

impl UnwoundText {
    pub fn resolve(&self, architecture: &dyn Architecture) -> Result<ExpectUnwound, Wrong> {
        let row = |(index, row): (usize, &RowText)| {
            row.resolve().map_err(|what| Wrong::new(what).at(index).under("rows"))
        };
        let rows = self.rows.as_ref().map(|rows| rows.iter().enumerate().map(row).collect());
        let place = |location: &LocationText, key: &str| {
            location.resolve(architecture).map_err(|what| Wrong::new(what).under(key))
        };
        let cfa = self.cfa.as_ref().map(|Parsed(cfa)| place(cfa, "cfa")).transpose()?;
        let caller = self.caller.as_ref().map(|caller| caller.resolve(architecture)).transpose();
        let expected = ExpectUnwound {
            rows: rows.transpose()?,
            cfa,
            caller: caller.map_err(|wrong| wrong.under("caller"))?,
            is_outermost: self.outermost == Some(true),
            error: self.error,
        };
        // Rows are decoded before the frame is unwound, so that they can be correct although unwinding fails.
        let is_answer = expected.cfa.is_some() || expected.caller.is_some() || expected.is_outermost;
        match &self.outermost {
            Some(false) => {
                Err(Wrong::new("`outermost` is false; expected `true`, or no such key").under("outermost"))
            }
            _ if expected.is_outermost && expected.caller.is_some() => {
                Err(Wrong::new("outermost frame has a caller").under("caller"))
            }
            _ if expected.error.is_some() && is_answer => {
                Err(Wrong::new("result is given beside an `error`; only `rows` are allowed with `error`")
                    .under("error"))
            }
            _ if expected.error.is_none() && expected.rows.is_none() && !is_answer => {
                Err(Wrong::new("vector has no expectation"))
            }
            _ => Ok(expected),
        }
    }
}

impl CallerText {
    fn resolve(&self, architecture: &dyn Architecture) -> Result<ExpectCaller, Wrong> {
        let mut caller = ExpectCaller { pc: self.pc.as_ref().map(|pc| pc.0.0), ..ExpectCaller::default() };
        let register = |named: &Named, key| {
            named.register(architecture).map_err(|what| Wrong::new(what).under(named).under(key))
        };
        for (named, location) in self.registers.iter().flat_map(|Map(registers)| registers) {
            let Some(Parsed(location)) = location else { continue };
            let Reg(number) = register(named, "registers")?;
            let location = location.resolve(architecture);
            let location = location.map_err(|what| Wrong::new(what).under(named).under("registers"))?;
            caller.registers.insert(number, location);
        }
        for (named, bytes) in self.contents.iter().flat_map(|Map(contents)| contents) {
            let Some(Parsed(bytes)) = bytes else { continue };
            let reg = register(named, "contents")?;
            if architecture.register_bits(reg).is_none() {
                let wrong = Wrong::new(format!("the target has no register {}", reg.0));
                return Err(wrong.under(named).under("contents"));
            }
            caller.contents.insert(reg.0, bytes.clone());
        }
        Ok(caller)
    }
}

impl ExpectUnwound {
    /// Returns the DWARF numbers of the registers that the vector asks for.
    pub fn registers(&self) -> impl Iterator<Item = u64> {
        self.caller.iter().flat_map(|caller| caller.registers.keys().chain(caller.contents.keys()).copied())
    }

    /// Compares the result with the expectation.
    pub fn verdict(&self, found: &Unwound, order: ByteOrder) -> Verdict {
        let rows = self.rows.as_ref().map(|rows| answer(&found.rows, |found| found == rows));
        let cfa = self.cfa.as_ref().map(|cfa| answer(&found.cfa, |found| is_same(cfa, found, 0, order)));
        let outermost = self.is_outermost.then(|| answer(&found.return_address, Option::is_none));
        let caller = self.caller.as_ref().map(|caller| caller.verdict(found, order));
        let error = self.error.map(|word| of_class(word, found.worst().map(|fault| fault.class)));
        [rows, cfa, outermost, caller, error].into_iter().flatten().fold(Verdict::Passed, Verdict::and)
    }
}

impl ExpectCaller {
    fn verdict(&self, found: &Unwound, order: ByteOrder) -> Verdict {
        // Without an expected pc any caller is right.
        let pc = answer(&found.return_address, |found| match self.pc {
            Some(_) => *found == self.pc,
            None => found.is_some(),
        });
        let register = |number: &u64| found.registers.get(number);
        let place = |(number, expected): (&u64, &Location)| {
            register(number).map_or(Verdict::Failed, |found| {
                answer(&found.location, |location| is_same(expected, location, 0, order))
            })
        };
        let contents = |(number, Pattern(expected)): (&u64, &Pattern)| {
            register(number).map_or(Verdict::Failed, |found| answer(&found.contents, |bits| bits == expected))
        };
        let verdicts = self.registers.iter().map(place).chain(self.contents.iter().map(contents));
        verdicts.fold(pc, Verdict::and)
    }
}

/// Returns the verdict on one part of the result.
fn answer<T>(found: &Result<T, Fault>, is_it: impl FnOnce(&T) -> bool) -> Verdict {
    match found {
        Ok(found) if is_it(found) => Verdict::Passed,
        Err(Fault { class: Class::Unsupported, .. }) => Verdict::Unsupported,
        _ => Verdict::Failed,
    }
}

impl Unwound {
    /// The result if no row is found: the same fault for every part.
    pub(super) fn failed(fault: &Fault) -> Self {
        Self {
            rows: Err(fault.clone()),
            cfa: Err(fault.clone()),
            return_address: Err(fault.clone()),
            registers: BTreeMap::new(),
        }
    }

    /// The most important fault: ill-formed rules first, then missing context, unavailable contents, and unsupported
    /// operations.
    pub fn worst(&self) -> Option<&Fault> {
        // Ill-formed bytes explain the faults that follow from them.
        let rank = |fault: &&Fault| match fault.class {
            Class::IllFormed => 0,
            Class::Evaluation => 1,
            Class::Unmapped => 2,
            _ => 3,
        };
        let first = [self.rows.as_ref().err(), self.cfa.as_ref().err(), self.return_address.as_ref().err()];
        let registers =
            self.registers.values().flat_map(|it| [it.location.as_ref().err(), it.contents.as_ref().err()]);
        first.into_iter().chain(registers).flatten().min_by_key(rank)
    }

    /// Prints the result in the format's notation, truncated with an ellipsis to `most` bytes.
    pub fn to_text(&self, most: usize) -> String {
        shortened(self, most)
    }
}

fn printed<T>(result: &Result<T, Fault>, text: impl FnOnce(&T) -> String) -> String {
    result.as_ref().map_or_else(|fault| format!("error {}", Reason(fault, None)), text)
}

impl Display for Unwound {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let rows =
            |rows: &Vec<VectorRow>| rows.iter().map(VectorRow::to_string).collect::<Vec<_>>().join("; ");
        write!(f, "rows {}", printed(&self.rows, rows))?;
        write!(f, ", cfa {}", printed(&self.cfa, Location::to_string))?;
        let pc = |pc: &Option<u64>| pc.map_or("outermost".into(), |pc| format!("caller pc {pc:#x}"));
        write!(f, ", {}", printed(&self.return_address, pc))?;
        for (number, Recovered { location, contents }) in &self.registers {
            write!(f, ", {number} at {}", printed(location, Location::to_string))?;
            if location.is_ok() {
                write!(f, " = {}", printed(contents, |bits| Pattern(bits.clone()).to_string()))?;
            }
        }
        Ok(())
    }
}

impl Display for ExpectUnwound {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut parts = Vec::new();
        if let Some(rows) = &self.rows {
            let rows: Vec<_> = rows.iter().map(VectorRow::to_string).collect();
            parts.push(format!("rows {}", rows.join("; ")));
        }
        parts.extend(self.cfa.as_ref().map(|cfa| format!("cfa {cfa}")));
        if let Some(ExpectCaller { pc, registers, contents }) = &self.caller {
            parts.push(pc.map_or("a caller".into(), |pc| format!("caller pc {pc:#x}")));
            parts.extend(registers.iter().map(|(number, location)| format!("{number} at {location}")));
            parts.extend(contents.iter().map(|(number, bytes)| format!("{number} = {bytes}")));
        }
        parts.extend(self.is_outermost.then(|| "outermost".to_owned()));
        parts.extend(self.error.map(|word| format!("error {word}")));
        f.write_str(&parts.join(", "))
    }
}
