//! How many bits a value of the module has, and its parts: as far as its type says it.

use crate::error::{Error, Result};
use crate::spirv::layout::Layout;
use crate::spirv::opcodes as op;
use crate::spirv::words::{Id, Instruction};

impl Layout<'_> {
    /// Bits of a type: of integers, floating-point numbers, and vectors of these.
    pub(super) fn width(&self, ty: Id) -> Option<u64> {
        let ty = self.definition(ty)?;
        match (ty.opcode(), ty.operands()) {
            (op::TYPE_INT | op::TYPE_FLOAT, &[bits, ..]) => Some(bits.into()),
            (op::TYPE_VECTOR, &[of, count]) => {
                let of = self.definition(Id(of)).filter(|of| of.opcode() != op::TYPE_VECTOR)?;
                self.width(of.result()?)?.checked_mul(count.into())
            }
            _ => None,
        }
    }

    /// The type of what a pointer points to.
    pub(super) fn pointee(&self, ty: Id) -> Option<Id> {
        let ty = self.definition(ty).filter(|ty| ty.opcode() == op::TYPE_POINTER)?;
        ty.operands().get(1).map(|&to| Id(to))
    }

    /// The type of a part of a value, the first being 0; which one may be known at run time only. `None` where it cannot
    /// be followed.
    pub(super) fn part(&self, ty: Id, index: Option<u32>) -> Result<Option<Id>> {
        let Some(whole) = self.definition(ty) else { return Ok(None) };
        let (opcode, operands) = (whole.opcode(), whole.operands());
        let (count, part) = match (opcode, operands) {
            (op::TYPE_VECTOR | op::TYPE_MATRIX, &[of, count]) => (Some(count.into()), Some(of)),
            (op::TYPE_ARRAY, &[of, count]) => {
                (self.constant(Id(count)).and_then(|constant| constant.value), Some(of))
            }
            (op::TYPE_STRUCT, members) => {
                let member = index.and_then(|index| members.get(index as usize)).copied();
                (Some(members.len() as u64), member)
            }
            (op::TYPE_INT | op::TYPE_FLOAT | op::TYPE_BOOL, _) => (Some(0), None),
            _ => (None, None),
        };
        match count.zip(index).filter(|&(count, index)| u64::from(index) >= count) {
            None => Ok(part.map(Id)),
            Some((0, _)) => Err(Error::bad_argument(format!("a value of {} has no parts", called(whole)))),
            Some((count, index)) => {
                let what =
                    format!("a value of {} has {count} parts, and none of index {index}", called(whole));
                Err(Error::bad_argument(what))
            }
        }
    }
}

fn called(ty: Instruction<'_>) -> String {
    let id = ty.result().unwrap_or(Id(0));
    format!("type {id}, an {},", op::name(ty.opcode()).unwrap_or("instruction of the module"))
}
