//! A vector's call frame information, unwound with the built-in unwinder.

use std::collections::BTreeMap;

use super::machine::VectorMachine;
use super::rows::VectorRow;
use super::target::VectorTarget;
use super::unwound::{Recovered, Unwound};
use super::values::{Bytes, Offset, Parsed, choice, objects};
use crate::error::{Error, ErrorKind};
use crate::eval::unwind::{Cause, UnwindFault};
use crate::eval::{Architecture, CallStack, Class, Fault, Location, read_bits};
use crate::op::{Encoding, Reg};
use crate::read::{Fde, FrameSection, Frames, Sections};

/// A section with call frame information, as in a linked file.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct FrameBytes {
    /// Section name.
    pub section: FrameSection,
    /// Address of the first byte.
    pub address: u64,
    /// Contents: CIEs and FDEs.
    pub bytes: Vec<u8>,
}

objects! {
    "cfi"
    /// The `cfi` object.
    pub(super) struct CfiText {
        #[serde(default)]
        section: SectionText,
        address: Option<Parsed<Offset>>,
        bytes: Bytes,
    }
}

choice! {
    enum SectionText = Debug {
        Debug ".debug_frame",
        Eh ".eh_frame",
    }
}

impl CfiText {
    pub fn resolve(&self) -> FrameBytes {
        let section = match self.section {
            SectionText::Debug => FrameSection::Debug,
            SectionText::Eh => FrameSection::Eh,
        };
        let Bytes(bytes) = &self.bytes;
        FrameBytes { section, address: self.address.as_ref().map_or(0, |it| it.0.0), bytes: bytes.clone() }
    }
}

impl FrameBytes {
    /// Unwinds one frame with the built-in unwinder. `asked` are registers to recover in addition to the registers with
    /// a rule.
    pub(super) fn unwind(
        &self,
        machine: &VectorMachine,
        target: &VectorTarget,
        encoding: Encoding,
        asked: impl Iterator<Item = u64>,
    ) -> Unwound {
        let mut sections = Sections::default();
        sections.big_endian = encoding.big_endian;
        match self.section {
            FrameSection::Debug => sections.debug_frame = &self.bytes,
            FrameSection::Eh => sections.eh_frame = &self.bytes,
        }
        sections.eh_frame_address = self.address;
        let frames = match Frames::read(&sections, self.section, encoding) {
            Ok(frames) => [frames],
            Err(error) => return Unwound::failed(&reading(&error)),
        };
        let fde = machine.snapshot.pc.and_then(|pc| frames[0].fde_at(pc));
        let Some(fde) = fde else {
            let missing = "no frame description entry has code at the pc";
            return Unwound::failed(&Fault::new(Class::Evaluation, missing));
        };
        let rows = match rows(&frames[0], fde) {
            Ok(rows) => rows,
            Err(fault) => return Unwound::failed(&fault),
        };
        let stack = CallStack::new(&machine.snapshot, &frames, target);
        let innermost = match stack.innermost() {
            Ok(innermost) => innermost,
            Err(fault) => return Unwound::failed(&unwinding(&fault)),
        };
        // A row with a fault has no rules; the fault is reported with each register that was asked for.
        let here = innermost.row().ok().flatten();
        let ruled = here.iter().flat_map(|row| row.rules.iter().map(|&(register, _)| register.0));
        let read = |location: &Location, bits: u64| read_bits(location, bits, &machine.snapshot);
        let registers = ruled.chain(asked).map(|number| {
            let location = innermost.saved(Reg(number)).map_err(|fault| unwinding(&fault));
            // The return address column need not be a register of the target.
            let bits = target.register_bits(Reg(number)).unwrap_or(u32::from(encoding.address_bytes) * 8);
            let contents = location.clone().and_then(|location| read(&location, bits.into()));
            (number, Recovered { location, contents })
        });
        let registers: BTreeMap<_, _> = registers.collect();
        let cie = frames[0].cie(fde);
        let address = innermost.saved(cie.return_register).map_err(|fault| unwinding(&fault));
        let return_address = address.and_then(|location| {
            let bits = read(&location, u64::from(cie.encoding.address_bytes) * 8)?;
            // An undefined return address is an answer: the frame is the outermost one.
            if bits.defined.iter().all(|&defined| defined == 0xff) {
                Ok(Some(number(&bits.bytes, encoding.big_endian)))
            } else if bits.defined.iter().all(|&defined| defined == 0) {
                Ok(None)
            } else {
                Err(Fault::new(Class::Evaluation, "return address has undefined bits"))
            }
        });
        let cfa = innermost.cfa().map_err(|fault| unwinding(&fault));
        Unwound { rows: Ok(rows), cfa, return_address, registers }
    }
}

/// Maximum number of rules in all rows of a table. Each row lists all its rules, so that their number can grow with the
/// square of the section's size.
const MOST_LISTED: usize = 0x10_0000;

/// Returns all rows that contain a pc in the FDE.
fn rows(frames: &Frames<'_>, fde: &Fde<'_>) -> Result<Vec<VectorRow>, Fault> {
    let is_known = frames.cie(fde).is_known;
    let fault = |error: Error| {
        if is_known {
            return reading(&error);
        }
        // An unknown augmentation is not ill-formed, but hides the rows (A.6.4.1).
        Fault::new(Class::Evaluation, error.to_string())
    };
    let code = (fde.start, fde.start.saturating_add(fde.length));
    let mut walk = frames.rows(fde);
    let mut last = fde.start;
    let mut listed = 0;
    let mut rows = Vec::new();
    while let Some(row) = walk.next_row().map_err(fault)? {
        if row.start < last {
            let rule = "row begins before the previous row (A.6.4.2.1)";
            return Err(Fault::new(Class::IllFormed, rule));
        }
        // Each row counts as a rule as well, so that empty rows are limited too.
        (last, listed) = (row.start, listed + row.rules.len() + 1);
        if listed > MOST_LISTED {
            let rule = format!("table lists more than {MOST_LISTED} rules");
            return Err(Fault::new(Class::Unsupported, rule));
        }
        rows.extend(VectorRow::of(row, code));
    }
    Ok(rows)
}

/// Decodes bytes in memory as a number.
fn number(bytes: &[u8], big_endian: bool) -> u64 {
    let push = |number, byte: &u8| number << 8 | u64::from(*byte);
    if big_endian { bytes.iter().fold(0, push) } else { bytes.iter().rev().fold(0, push) }
}

/// Returns the fault for a reader's error: malformed sections are ill-formed.
fn reading(error: &Error) -> Fault {
    let class = match error.kind() {
        ErrorKind::Malformed(_) | ErrorKind::Truncated(_) | ErrorKind::Unsupported(_) => Class::IllFormed,
        _ => Class::Unsupported,
    };
    Fault::new(class, error.to_string())
}

fn unwinding(fault: &UnwindFault) -> Fault {
    match &fault.why {
        Cause::Reading(error) => reading(error),
        Cause::Fault(why) => {
            let mut why = why.clone();
            why.rule = fault.to_string().into();
            why.register = None;
            why
        }
    }
}
