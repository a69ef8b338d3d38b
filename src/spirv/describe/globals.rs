//! Describes variables outside functions.

use super::context::Describer;
use crate::error::Result;
use crate::model::SourceLine;
use crate::omission::{Reason, Subject};
use crate::spirv::opcodes as op;
use crate::spirv::words::{HEADER, Id};

/// Limit for nested arrays around a block.
const MOST_ARRAYS: usize = 64;

/// Describes variables outside functions: with their own name, or with their structure's name, because the source names
/// a block's members directly.
pub(super) fn globals(out: &mut Describer<'_, '_>) -> Result<()> {
    let mut line = None;
    for instruction in out.layout.words().between(HEADER..out.layout.globals_end()) {
        match (instruction.opcode(), instruction.operands().as_array()) {
            (op::LINE, Some(at)) => line = out.line(at)?,
            (op::NO_LINE, _) => line = None,
            _ => {}
        }
        let (Some(id), Some(to)) = (instruction.result(), out.contents(&instruction)) else { continue };
        let name = out.names.get(id).or_else(|| out.names.structure(element(out, to)));
        let Some(name) = name.map(str::to_owned) else { continue };
        // spirv-val 2025.5 does not accept an untyped variable in a DebugGlobalVariable.
        let is_untyped = instruction.opcode() == op::UNTYPED_VARIABLE;
        let Some(ty) = out.ty(to)?.filter(|_| !is_untyped) else {
            out.omit_variable(Subject::Unit(out.unit), &name, Reason::NoDescription(id.0));
            continue;
        };
        let file = out.m.primary_file(out.unit)?;
        // Without a line instruction, the line comes from the text.
        let line = line.or_else(|| Some(SourceLine::new(file, out.declarations.variable(&name)?)));
        let mut variable = out.m.variable(out.unit, &name, ty)?;
        line.map(|line| variable.declared(line).id());
        let variable = variable.external().id();
        out.binding.global(variable, id);
        out.variables.insert(id, variable);
    }
    out.omit_lines(Subject::Unit(out.unit));
    Ok(())
}

/// The structure inside nested arrays; 0 if there is none.
fn element(out: &Describer<'_, '_>, mut ty: Id) -> Id {
    for _ in 0..MOST_ARRAYS {
        let Some(it) = out.layout.definition(ty) else { break };
        match (it.opcode(), it.operands().first()) {
            (op::TYPE_ARRAY | op::TYPE_RUNTIME_ARRAY, Some(&of)) => ty = Id(of),
            (op::TYPE_STRUCT, _) => return ty,
            _ => break,
        }
    }
    Id(0)
}
