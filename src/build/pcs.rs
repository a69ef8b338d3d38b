//! Checks that pcs and pc ranges are at a function's instruction boundaries.

use core::ops::Range;

use crate::error::{Aligned, Error, ErrorKind, Result};
use crate::target::Target;

/// Refuses a pc at which no instruction can begin.
#[inline]
pub(super) fn instruction(target: &Target, pc: u64) -> Result<()> {
    if is_instruction(target, pc) { Ok(()) } else { Err(inside(target, pc)) }
}

/// Rejects a range that is empty, exceeds a function with `size` bytes, or begins or ends inside an instruction. The
/// function's end is a boundary.
#[inline(always)]
pub(super) fn range(target: &Target, size: u64, pcs: &Range<u64>) -> Result<()> {
    within(size, pcs)?;
    bounds(target, size, pcs)
}

/// Rejects a variable's range like [`range`], which on CPUs may begin or end inside an instruction: debuggers look for the
/// variables of a caller a byte before the return address, and gcc ends locations there that the call overwrites.
#[inline(always)]
pub(super) fn live_range(target: &Target, size: u64, pcs: &Range<u64>) -> Result<()> {
    within(size, pcs)?;
    if target.lanes() > 1 { bounds(target, size, pcs) } else { Ok(()) }
}

#[inline(always)]
fn within(size: u64, pcs: &Range<u64>) -> Result<()> {
    if pcs.start >= pcs.end {
        return Err(ErrorKind::EmptyRange.into());
    }
    if pcs.end > size {
        return Err(ErrorKind::OutsideFunction { size }.into());
    }
    Ok(())
}

/// Refuses a range that begins or ends inside an instruction, whether or not it is within the function.
#[inline]
pub(super) fn bounds(target: &Target, size: u64, pcs: &Range<u64>) -> Result<()> {
    // Most bounds are aligned, which one test shows for both.
    let step = u64::from(target.min_instruction_bytes());
    if step.is_power_of_two() && (pcs.start | pcs.end) & (step - 1) == 0 {
        return Ok(());
    }
    let is_between = |pc: u64| pc == size || is_instruction(target, pc);
    match [pcs.start, pcs.end].into_iter().find(|&pc| !is_between(pc)) {
        None => Ok(()),
        Some(pc) => Err(inside(target, pc)),
    }
}

#[inline]
fn is_instruction(target: &Target, pc: u64) -> bool {
    let step = u64::from(target.min_instruction_bytes());
    // A division would take longer than all other checks of a range.
    if step.is_power_of_two() { pc & (step - 1) == 0 } else { pc.is_multiple_of(step) }
}

fn inside(target: &Target, pc: u64) -> Error {
    let step = target.min_instruction_bytes().into();
    ErrorKind::Misaligned { kind: Aligned::Instruction, step, value: pc }.into()
}
