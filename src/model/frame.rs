//! How a function uses its stack.

use crate::op::Reg;
use crate::target::Scaling;

/// Where a function's stack frame in private memory is.
///
/// A [stack slot](super::Loc::stack_slot) is an offset in the bytes of one lane. The register that holds
/// the frame's base may count so too (flat scratch), or count the bytes of all lanes of the wave (buffer
/// scratch, where it is divided by the wave size to give a lane's address). That is a fact of how the
/// function was compiled; the caller does no arithmetic.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Stack {
    /// The register that holds the base; `None` where the base is address 0 of private memory, as in a
    /// kernel.
    pub base: Option<Reg>,
    /// How the register counts.
    pub scaling: Scaling,
}

impl Stack {
    /// A stack frame that begins at address 0 of private memory: a kernel's.
    pub fn kernel(target: &crate::target::Target) -> Self {
        Self { base: None, scaling: target.scaling() }
    }
}
