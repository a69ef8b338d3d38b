//! Locations that lint says were meant, as locations of the model.

use crate::error::{Error, ErrorKind, Result};
use crate::eval::BaseType;
use crate::import::{Context, EntryOffset, InitialStack, Procedure, References, location};
use crate::lint::{LintFinding, MeantLocation};
use crate::model::{Address, Loc, Module, Node, Stack, VariableId};
use crate::op::{Decoder, Dialect, Encoding, Op};
use crate::target::Target;
use crate::target::code::RegisterKind;
use crate::target::{SpaceId, operand};

use super::claims::Claim;
use super::code::Register;

/// Encoding of the operations in [`MeantLocation`].
pub(super) const MEANT: Encoding = Encoding::new(8, Dialect::Llvm);

/// The operands of a meant location. Addresses are numbers of the linked object.
struct Operands;

impl<'a> References<'a> for Operands {
    fn address(&mut self, _: usize, address: u64) -> Option<Address> {
        Some(Address::Constant(address))
    }

    fn indexed(&mut self, _: u64) -> Option<u64> {
        None
    }

    fn variable(&mut self, _: EntryOffset) -> Option<VariableId> {
        None
    }

    fn procedure(&mut self, _: EntryOffset) -> Option<Procedure<'a>> {
        None
    }

    fn base_type(&mut self, _: u64) -> Option<BaseType> {
        None
    }
}

/// Returns the locations that a finding says were meant for a variable of a module, each with its pcs: addresses in the
/// file, or `None` for all pcs. There are none where the facts in the file do not determine the location.
///
/// # Errors
/// [`ErrorKind::UnknownId`] if the module lacks the variable; [`ErrorKind::Unsupported`] if the model has no location for
/// the operations.
///
/// # Example
///
/// ```
/// # fn main() -> eitri::Result<()> {
/// # let bytes = include_bytes!("../../../examples/data/squares.o");
/// use eitri::import::{ImportOptions, import};
/// use eitri::lint::{LintOptions, lint};
/// use eitri::rewrite::meant_locations;
///
/// let imported = import(bytes, &ImportOptions::default())?;
/// for finding in lint(bytes, &LintOptions::default())?.findings {
///     let Some(entry) = finding.entry else { continue };
///     for variable in imported.entries.variables(entry) {
///         for (pcs, loc) in meant_locations(&finding, &imported.module, variable)? {
///             println!("{:?} at {pcs:x?}: {loc:?}", finding.variable);
///         }
///     }
/// }
/// # Ok(())
/// # }
/// ```
pub fn meant_locations(
    finding: &LintFinding,
    module: &Module,
    variable: VariableId,
) -> Result<Vec<(Option<core::ops::Range<u64>>, Loc)>> {
    if module.variables.get(variable).is_none() {
        return Err(module.unknown(variable).into());
    }
    let locations = finding.meant.iter().flat_map(|meant| &meant.locations);
    locations.map(|meant| Ok((meant.pcs.clone(), loc(meant, module, variable)?))).collect()
}

/// Returns a meant location as a location of a variable.
pub(super) fn loc(meant: &MeantLocation, module: &Module, variable: VariableId) -> Result<Loc> {
    let target = module.target();
    let data = module.variable(variable);
    let function = module.function_of(data.scope).map(|function| module.function(function));
    let context = Context {
        target,
        encoding: MEANT,
        bits: module.ty(data.ty).bits(),
        stack: function.map_or_else(|| Stack::kernel(target), |function| function.stack),
        frame_base: None,
        space: None,
        initial: InitialStack::Empty,
    };
    let loc = location(&context, &mut Operands, &meant.expression).map_err(|untyped| {
        Error::from(ErrorKind::Unsupported(format!(
            "the model has no location for what was meant: {untyped}"
        )))
    })?;
    let has_slot = loc.nodes().any(|node| matches!(node, Node::StackAddress(_)));
    if has_slot && function.is_none_or(|function| !function.has_stack()) {
        let text = "a stack slot is in a function without a known stack frame";
        return Err(ErrorKind::Unsupported(text.into()).into());
    }
    Ok(loc)
}

/// Returns the claim of a meant location at some pcs. `None` if an operation reads a register that is not followed.
pub(super) fn claim(target: &Target, meant: &MeantLocation, pcs: core::ops::Range<u64>) -> Option<Claim> {
    let mut registers = Vec::new();
    let mut is_slot = false;
    let mut last = None;
    let mut slot = 0;
    for decoded in Decoder::new(&meant.expression, MEANT) {
        let op = decoded.ok()?.op;
        match op {
            Op::RegX { reg } | Op::BregX { reg, .. } => registers.push(operand(target, reg)?),
            Op::FormAspaceAddress { .. } => {
                is_slot |= last == Some(Op::ConstU { value: SpaceId::PRIVATE_LANE.0.into() });
            }
            Op::Plus { .. } => {
                slot = match last {
                    Some(Op::ConstS { value }) => value,
                    Some(Op::ConstU { value }) => value as i64,
                    _ => 0,
                }
            }
            _ => {}
        }
        last = Some(op);
    }
    // The register of a frame has its start in the whole function, except at its beginning and end.
    let is_frame = |register: &Register| matches!(register, (RegisterKind::Scalar, 32 | 33));
    let base = registers.iter().copied().find(|register| is_slot && is_frame(register));
    registers.retain(|register| Some(*register) != base);
    Some(Claim { pcs, expression: meant.expression.clone(), registers, base, slot })
}
