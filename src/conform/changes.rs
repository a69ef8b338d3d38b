//! Changes to a stopped machine, and expressions as a person gives them.

use super::machine::VectorMachine;
use super::target::VectorTarget;
use crate::error::{Error, Result};
use crate::eval::Element;
use crate::op::{Dialect, DraftCodes, Encoding, text};

/// Values that replace a machine's.
#[derive(Debug, Clone, Default)]
#[non_exhaustive]
pub struct MachineChanges {
    /// The frame; 0 is the innermost.
    pub frame: Option<u32>,
    /// The frame's program location.
    pub pc: Option<u64>,
    /// The current lane.
    pub lane: Option<u64>,
    /// The initial stack, bottom first; `None` keeps the machine's.
    pub initial: Option<Vec<Element>>,
}

/// Callers of a machine's innermost frame.
///
/// Exhaustive: an object is there, or not.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum KnownCallers {
    /// The callers that the machine states.
    OfMachine,
    /// The callers that the machine states, or that an object's call frame information unwinds.
    Unwound,
}

impl MachineChanges {
    /// Changes a machine, which then has the number of its target's lanes unless it states another. A pc of a frame that is
    /// unwound is that of the innermost frame.
    ///
    /// # Errors
    /// [`BadArgument`](crate::error::ErrorKind::BadArgument) for a pc of a frame that the machine does not have.
    pub fn apply(
        self,
        machine: &mut VectorMachine,
        target: &VectorTarget,
        callers: KnownCallers,
    ) -> Result<()> {
        let Self { frame, pc, lane, initial } = self;
        machine.snapshot.lane = lane.or(machine.snapshot.lane);
        let of_target = || target.built_in().map(|target| target.lanes().into());
        machine.snapshot.lanes = machine.snapshot.lanes.or_else(of_target);
        machine.frame = frame.unwrap_or(machine.frame);
        if let Some(initial) = initial {
            machine.initial = initial;
        }
        match pc {
            Some(pc) if !machine.set_pc(pc) => match callers {
                KnownCallers::Unwound => machine.snapshot.pc = Some(pc),
                KnownCallers::OfMachine => {
                    return Err(Error::bad_argument(format!("the machine has no frame {}", machine.frame)));
                }
            },
            _ => {}
        }
        Ok(())
    }
}

/// Reads an expression: operations, or bytes in hexadecimal digits. Returns its bytes and their encoding: operations of the
/// DWARF 6 draft can lack numbers, and get provisional numbers; bytes have their producer's numbers, which are unknown.
///
/// ```
/// use eitri::conform::{VectorTarget, expression};
/// use eitri::op::Dialect;
/// use eitri::target::Target;
///
/// let target = VectorTarget::from(Target::x86_64());
/// let encoding = target.encoding(Dialect::Llvm);
/// assert_eq!(expression("lit4; stack_value", encoding, &target)?.0, [0x34, 0x9f]);
/// assert_eq!(expression("34 9f", encoding, &target)?.0, [0x34, 0x9f]);
/// # Ok::<(), eitri::Error>(())
/// ```
///
/// # Errors
/// The errors of [`text::parse`] and [`text::bytes`].
pub fn expression(source: &str, encoding: Encoding, target: &VectorTarget) -> Result<(Vec<u8>, Encoding)> {
    if let Some(bytes) = text::bytes(source).transpose()? {
        return Ok((bytes, encoding));
    }
    let mut encoding = encoding;
    if encoding.dialect == Dialect::Dwarf6 {
        encoding.draft = DraftCodes::provisional();
    }
    Ok((text::parse(source, encoding, target.built_in())?.bytes().to_vec(), encoding))
}
