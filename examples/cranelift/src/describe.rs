//! What Cranelift knows about a compiled function, as a description: its variables from value labels, its lines from
//! source locations, its frame from unwind instructions.
//!
//! The function was built with [`collect_debug_info`](cranelift_codegen::ir::Function::collect_debug_info), a label on
//! each value of a variable, and a line number as the source location of each instruction.

use std::ops::Range;

use cranelift_codegen::ir::ValueLabel;
use cranelift_codegen::isa::TargetIsa;
use cranelift_codegen::isa::unwind::UnwindInst;
use cranelift_codegen::{CompiledCode, LabelValueLoc, Reg as MachineReg, ValueLocRange};
use eitri::build::Builder;
use eitri::model::{Address, FileId, FunctionId, LineTableRow, Loc, TypeId, UnitId, Val};
use eitri::op::Reg;
use eitri::target::SpaceId;

/// A function in the source, and where its code is.
#[derive(Debug)]
pub struct Source<'s> {
    pub unit: UnitId,
    pub file: FileId,
    pub name: &'s str,
    pub line: u32,
    pub ty: TypeId,
    pub address: Address,
    /// Parameters and variables by value label, and the number of parameters, which come first.
    pub variables: &'s [(ValueLabel, &'s str)],
    pub parameters: usize,
}

/// Describes a function: its variables, lines and frame.
pub fn function(
    m: &mut Builder,
    isa: &dyn TargetIsa,
    code: &CompiledCode,
    source: &Source<'_>,
) -> eitri::Result<FunctionId> {
    let Source { unit, file, ty, .. } = *source;
    let size = code.code_buffer().len() as u64;
    let f = m.function(unit, source.name)?.address(source.address, size).external().returns(ty)?.id();
    for (index, &(label, name)) in source.variables.iter().enumerate() {
        let mut variable = match index < source.parameters {
            true => m.parameter(f, name, ty)?,
            false => m.variable(f, name, ty)?,
        };
        let ranges = code.value_labels_ranges.get(&label).map_or(&[][..], |ranges| ranges);
        for (pcs, locs) in live(isa, ranges) {
            variable.live_in(pcs, &locs)?;
        }
    }
    // The prologue has no source location.
    m.row(f, LineTableRow::new(0, file, source.line))?;
    for row in code.buffer.get_srclocs_sorted().iter().filter(|row| row.start > 0 && !row.loc.is_default()) {
        m.row(f, LineTableRow::new(row.start.into(), file, row.loc.bits()))?;
    }
    frame(m, isa, code, f)?;
    Ok(f)
}

/// Returns the pc ranges of a label in order, each with the locations that hold the value there. Cranelift lists
/// a range for each location, and a value can be in a register and in its spill slot at once.
fn live(isa: &dyn TargetIsa, ranges: &[ValueLocRange]) -> Vec<(Range<u64>, Vec<Loc>)> {
    let mut bounds: Vec<u32> = ranges.iter().flat_map(|range| [range.start, range.end]).collect();
    bounds.sort_unstable();
    bounds.dedup();
    let mut live = Vec::new();
    for pair in bounds.windows(2) {
        let (start, end) = (pair[0], pair[1]);
        let mut locs = Vec::new();
        for range in ranges.iter().filter(|range| range.start <= start && end <= range.end) {
            let loc = match range.loc {
                LabelValueLoc::Reg(reg) => Loc::register(register(isa, reg)),
                LabelValueLoc::CFAOffset(bytes) => Loc::cfa().offset(bytes),
            };
            if !locs.contains(&loc) {
                locs.push(loc);
            }
        }
        if !locs.is_empty() {
            live.push((start.into()..end.into(), locs));
        }
    }
    live
}

/// Describes the frame by pc: the canonical frame address, and the caller's registers relative to it. Cranelift says
/// nothing about the epilogue, in whose last instruction the frame is already gone.
fn frame(m: &mut Builder, isa: &dyn TargetIsa, code: &CompiledCode, f: FunctionId) -> eitri::Result<()> {
    let size = code.code_buffer().len() as u64;
    let named = |name| m.target().register_named(name);
    let (rsp, rbp, rip) = (named("rsp")?, named("rbp")?, named("rip")?);
    let mut cfa = vec![(0, rsp, 8)];
    let mut saved = vec![(0, rip, -8)];
    let mut clobbers = 0;
    for (pc, instruction) in &code.buffer.unwind_info {
        let pc = u64::from(*pc);
        match *instruction {
            UnwindInst::PushFrameRegs { offset_upward_to_caller_sp: up } => {
                cfa.push((pc, rsp, up.into()));
                saved.push((pc, rbp, -i64::from(up)));
            }
            UnwindInst::DefineNewFrame {
                offset_upward_to_caller_sp: up,
                offset_downward_to_clobbers: down,
            } => {
                cfa.push((pc, rbp, up.into()));
                clobbers = -i64::from(up) - i64::from(down);
            }
            UnwindInst::SaveReg { clobber_offset, reg } => {
                saved.push((pc, register(isa, reg.into()), clobbers + i64::from(clobber_offset)));
            }
            // The canonical frame address is relative to rbp by then. The others are for other processors.
            UnwindInst::StackAlloc { .. }
            | UnwindInst::RegStackOffset { .. }
            | UnwindInst::Aarch64SetPointerAuth { .. } => {}
        }
    }
    let mut frame = m.frame(f)?;
    for (index, &(pc, base, bytes)) in cfa.iter().enumerate() {
        let end = cfa.get(index + 1).map_or(size, |next| next.0);
        frame.cfa(pc..end, Loc::memory(SpaceId::DEFAULT, Val::register(base).plus(bytes)))?;
    }
    for (pc, reg, bytes) in saved {
        frame.saved(pc..size, reg, Loc::cfa().offset(bytes))?;
    }
    Ok(())
}

/// Returns the DWARF number of a machine register.
fn register(isa: &dyn TargetIsa, reg: MachineReg) -> Reg {
    Reg(isa.map_regalloc_reg_to_dwarf(reg).expect("a register of an x86-64 processor").into())
}
