//! Rules for ids that provide variables: where they must be defined, and how wide they must be. `import` lists
//! violations, because another producer's module cannot be changed; `lower` refuses them.

use core::ops::Range;

use super::layout::ModuleLayout;
use super::opcodes as op;
use super::operations::{OPERATIONS, Operation};
use super::provider::{DebugOperation, Provider};
use super::words::{Id, Instruction};
use crate::error::{Count, Error, ErrorKind, Quantity, Result, UnavailableValue};
use crate::model::{Module, Part, TypeId};

/// `OpSampledImage`, whose result only image instructions may use: section 2.16.1 "Universal Validation Rules".
pub(super) const SAMPLED_IMAGE: u16 = 86;

/// Position of a declaration or value in a function.
#[derive(Debug, Clone)]
pub(super) struct Spot {
    /// The function's words.
    pub function: Range<usize>,
    /// The word before which the new instruction is placed.
    pub at: usize,
}

impl<'a> ModuleLayout<'a> {
    /// The instruction that defines a value, if the definition is visible at the spot.
    ///
    /// # Errors
    /// If the id is undefined, is not a value, belongs to another function, or is defined after the spot.
    #[inline]
    pub(super) fn value_at(&self, id: Id, spot: &Spot) -> Result<Instruction<'a>> {
        match self.definition(id) {
            Some(defined) if self.is_value(defined) && self.is_there(defined, spot) => Ok(defined),
            _ => Err(self.no_value_at(id, spot)),
        }
    }

    // A function's id and a void call's id have no value; a sampled image must not be used elsewhere.
    #[inline]
    fn is_value(&self, defined: Instruction<'_>) -> bool {
        let is_void = |ty: Id| self.definition(ty).is_some_and(|ty| ty.opcode() == op::TYPE_VOID);
        !matches!(defined.opcode(), op::FUNCTION | SAMPLED_IMAGE)
            && defined.result_type().is_some_and(|ty| !is_void(ty))
    }

    /// Whether a definition precedes the spot, in the same function or outside all functions. The cheap tests come
    /// first.
    #[inline]
    pub(super) fn is_there(&self, defined: Instruction<'_>, spot: &Spot) -> bool {
        defined.at < spot.at && self.is_seen(defined, spot) && self.is_dominating(defined, spot)
    }

    /// Whether every path to the spot passes the definition. An `OpVariable` and a parameter exist in the whole
    /// function.
    #[inline]
    fn is_dominating(&self, defined: Instruction<'_>, spot: &Spot) -> bool {
        // In this order, because dominance is the expensive test.
        matches!(defined.opcode(), op::VARIABLE | op::FUNCTION_PARAMETER)
            || defined.at < self.globals_end()
            || self.dominates(defined.at, spot.at)
    }

    #[inline]
    fn is_seen(&self, defined: Instruction<'_>, spot: &Spot) -> bool {
        defined.at < self.globals_end() || spot.function.contains(&defined.at)
    }

    /// The error that [`value_at`](Self::value_at) returns.
    fn no_value_at(&self, id: Id, spot: &Spot) -> Error {
        match self.definition(id) {
            None => unknown(id),
            Some(defined) if !self.is_value(defined) => wrong(defined, "a value"),
            Some(defined) if !self.is_seen(defined, spot) => {
                unavailable(UnavailableValue::OtherFunction(id.0))
            }
            Some(defined) if defined.at < spot.at => {
                unavailable(UnavailableValue::NotDominating(id.0, defined.at, spot.at))
            }
            Some(_) => unavailable(UnavailableValue::Later(id.0)),
        }
    }

    /// The instruction that defines a declared variable's memory: an `OpVariable`, or a pointer parameter.
    ///
    /// # Errors
    /// The errors of [`value_at`](Self::value_at), and an error if the id is neither of these.
    pub(super) fn variable_at(&self, id: Id, spot: &Spot) -> Result<Instruction<'a>> {
        let defined = self.value_at(id, spot)?;
        let is_declared = match defined.opcode() {
            op::VARIABLE => true,
            op::FUNCTION_PARAMETER | op::UNTYPED_VARIABLE => {
                let ty = defined.result_type().and_then(|ty| self.definition(ty));
                ty.is_some_and(|ty| matches!(ty.opcode(), op::TYPE_POINTER | op::TYPE_UNTYPED_POINTER))
            }
            _ => false,
        };
        if is_declared { Ok(defined) } else { Err(wrong(defined, "an OpVariable or a pointer parameter")) }
    }

    /// Checks that an index is an integer that is defined before the spot.
    ///
    /// # Errors
    /// The errors of [`value_at`](Self::value_at), and an error if the id is not an integer.
    pub(super) fn index_at(&self, id: Id, spot: &Spot) -> Result<()> {
        let ty = self.value_at(id, spot)?.result_type().and_then(|ty| self.definition(ty));
        match ty {
            Some(ty) if ty.opcode() == op::TYPE_INT => Ok(()),
            _ => Err(Error::bad_argument(format!("index {id} is not an integer"))),
        }
    }

    /// An integer constant's value, for use as an index.
    pub(super) fn index(&self, id: Id) -> Option<u64> {
        self.constant(id)?.value
    }

    /// A pointer type's target.
    fn pointee(&self, ty: Id) -> Option<Id> {
        let ty = self.definition(ty).filter(|ty| ty.opcode() == op::TYPE_POINTER)?;
        ty.operands().get(1).map(|&to| Id(to))
    }

    /// Size in bits, for integers, floating-point numbers, and vectors of these.
    fn width(&self, ty: Id) -> Option<u64> {
        let ty = self.definition(ty)?;
        match (ty.opcode(), ty.operands()) {
            (op::TYPE_INT | op::TYPE_FLOAT, &[bits, ..]) => Some(bits.into()),
            (op::TYPE_VECTOR, &[of, count]) => {
                let element = self.definition(Id(of)).filter(|it| it.opcode() != op::TYPE_VECTOR)?;
                self.width(element.result()?)?.checked_mul(count.into())
            }
            _ => None,
        }
    }

    /// Checks that an operand has as many bits as the variable's part that it provides. The operand is the value that
    /// an instruction defines, or in a declaration, its result's target. Returns the part; `None` if the types do not
    /// determine the part.
    ///
    /// # Errors
    /// [`DoesNotFit`](ErrorKind::DoesNotFit) if the sizes differ; [`BadArgument`](ErrorKind::BadArgument) if an index
    /// is out of range, or the operations underflow the stack.
    pub(super) fn fits(
        &self,
        module: &Module,
        variable: TypeId,
        provider: &Provider,
        operations: &[DebugOperation],
        (defined, is_declaration): (Instruction<'_>, bool),
    ) -> Result<Option<Part>> {
        let id = provider.id();
        let ty = match (is_declaration, defined.opcode()) {
            (true, _) => defined.result_type().and_then(|ty| self.pointee(ty)),
            // An undefined value fits every type, because its bits are never looked at.
            (false, op::UNDEF) => None,
            (false, _) => defined.result_type(),
        };
        let part = provider.part_of(module, variable, |index| self.index(index))?;
        let [value_bits, bits] = part.map_or([None; 2], |part| part.sizes(module));
        let piece = piece(operations)?;
        if let Some((offset, size)) = piece {
            let needs = u64::from(offset) + u64::from(size);
            if size == 0 {
                return Err(Error::limit(Quantity::PieceBits(id.0), 1..=u128::MAX, 0));
            }
            if let Some(has) = bits.filter(|&has| needs > has) {
                let what = format!("the piece of {id}");
                return Err(ErrorKind::DoesNotFit { what, needs, has }.into());
            }
        }
        // The size of a computed value does not follow from the id's type.
        let width = ty.filter(|_| !provider.is_computed()).and_then(|ty| self.width(ty));
        if let Some(((offset, size), has)) = provider.taken_bits().zip(width) {
            let needs = u64::from(offset) + u64::from(size);
            if needs > has {
                return Err(
                    ErrorKind::DoesNotFit { what: format!("what is taken of {id}"), needs, has }.into()
                );
            }
        }
        // Without a size, nothing can be compared.
        let Some(has) = provider.taken_bits().map(|(_, size)| size.into()).or(width) else { return Ok(part) };
        let needs = match piece {
            Some((_, size)) => [Some(size.into()); 2],
            // A three-element vector may be as large as a four-element vector, so that both sizes are accepted.
            None => [value_bits, bits],
        };
        match needs.into_iter().flatten().next() {
            Some(bits) if !needs.contains(&Some(has)) => {
                let what = format!("the value {id}");
                Err(ErrorKind::DoesNotFit { what, needs: bits, has }.into())
            }
            _ => Ok(part),
        }
    }
}

/// Checks that the operations do not underflow the stack, which has one entry at first. Returns the first bit and the
/// bit count that a final fragment selects in the variable; `None` for the whole variable.
fn piece(operations: &[DebugOperation]) -> Result<Option<(u32, u32)>> {
    let mut depth = 1;
    for (index, operation) in operations.iter().enumerate() {
        let &Operation { name, takes, leaves, .. } = &OPERATIONS[operation.number() as usize];
        if depth < takes {
            let takes = Count(takes, "entry");
            let what = format!("operation {index}, {name}, takes {takes}, but the stack has {depth}");
            return Err(Error::bad_argument(what));
        }
        depth = depth - takes + leaves;
        if matches!(operation, DebugOperation::Fragment { .. }) && index + 1 < operations.len() {
            return Err(Error::bad_argument(format!("operation {index}, {name}, is not the last operation")));
        }
    }
    Ok(match operations.last() {
        Some(&DebugOperation::Fragment { offset, size }) => Some((offset, size)),
        _ => None,
    })
}

pub(super) fn unknown(id: Id) -> Error {
    Error::new(ErrorKind::UnknownId(id.to_string()))
}

/// Error for an id that is not what the operand requires.
pub(super) fn wrong(defined: Instruction<'_>, wanted: &str) -> Error {
    let id = defined.result().unwrap_or(Id(0));
    let is = match op::name(defined.opcode()) {
        Some(name) => format!("an {name}"),
        None => format!("an instruction of opcode {}", defined.opcode()),
    };
    Error::bad_argument(format!("{id} is {is}; expected {wanted}"))
}

fn unavailable(why: UnavailableValue) -> Error {
    ErrorKind::UnavailableValue(why).into()
}
