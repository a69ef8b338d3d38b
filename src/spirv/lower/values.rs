//! What holds a variable: checked against the variable and the module, and written. Section 4.8.

use core::ops::Range;

use smallvec::SmallVec;

use super::positions::{unknown, wrong};
use super::writer::{Word, Writer};
use crate::error::{Error, ErrorKind, Result};
use crate::model::{Module, TypeId, VariableId};
use crate::spirv::held::{DebugOperation, Held, Index};
use crate::spirv::mode::Mode;
use crate::spirv::names::{OPERATIONS, Operation};
use crate::spirv::opcodes as op;
use crate::spirv::operand::Field;
use crate::spirv::table::Name;
use crate::spirv::words::{Id, Instruction};

/// A place in a function at which something is said of a variable.
#[derive(Debug, Clone)]
pub(super) struct Spot {
    /// Words of the function.
    pub function: Range<usize>,
    /// The word before which it is said.
    pub at: usize,
}

/// What is said of a variable.
#[derive(Debug)]
pub(super) struct Saying<'a, 'w> {
    pub writer: &'a mut Writer<'w>,
    pub module: &'a Module,
    pub variable: VariableId,
    /// Its type.
    pub ty: TypeId,
    /// Its `DebugLocalVariable`.
    pub debug: Id,
    pub spot: &'a Spot,
    /// The words that are said go here.
    pub words: &'a mut Vec<u32>,
    /// The types that were found to fit last.
    pub fitting: &'a mut Option<Fitting>,
}

/// Types of a variable, and of the `OpVariable` that it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Fitting {
    variable: TypeId,
    pointer: Id,
}

impl<'w> Saying<'_, 'w> {
    /// The variable is there as long as the function runs.
    pub fn declare(&mut self, held: &Held) -> Result<()> {
        let defined = self.defined(held.id())?;
        let layout = self.writer.layout;
        let is_variable = defined.opcode() == op::VARIABLE;
        let ty = defined.result_type().unwrap_or(Id(0));
        let is_pointer = || {
            let is = |it: Instruction<'_>| matches!(it.opcode(), op::TYPE_POINTER | op::TYPE_UNTYPED_POINTER);
            layout.definition(ty).is_some_and(is)
        };
        let is_declared = match defined.opcode() {
            op::VARIABLE => true,
            op::FUNCTION_PARAMETER | op::UNTYPED_VARIABLE => is_pointer(),
            _ => false,
        };
        if !is_declared {
            return Err(wrong(defined, "OpVariable or parameter that is a pointer"));
        }
        if is_variable && held.is_whole() {
            let types = Fitting { variable: self.ty, pointer: ty };
            if *self.fitting != Some(types) {
                self.fits(held, &[], layout.pointee(ty))?;
                *self.fitting = Some(types);
            }
            return self.write(Name::Declare, (Field::Variable, held.id()), &[], &[]);
        }
        let mut operations = held.operations(true);
        self.fits(held, &operations, layout.pointee(ty))?;
        let set = self.writer.mode.set;
        if !held.indexes().is_empty() && !Name::Declare.row().operands(set).any(|it| it.field == Field::Index)
        {
            let id = held.id();
            let what = format!("it is a part of {id}, and a DebugDeclare of {} has no indexes", set.name());
            self.writer.leave_out(self.module.at_variable(self.variable, None), what);
            return Ok(());
        }
        let Some(indexes) = self.indexes(held)? else { return Ok(()) };
        if is_variable {
            return self.write(Name::Declare, (Field::Variable, held.id()), &operations, &indexes);
        }
        // A declaration names an OpVariable. What a pointer points to is a value as well.
        let is_part = |it: &DebugOperation| {
            matches!(it, DebugOperation::BitPiece { .. } | DebugOperation::Fragment { .. })
        };
        let end = operations.iter().position(is_part).unwrap_or(operations.len());
        operations.insert(end, DebugOperation::Deref);
        self.write(Name::Value, (Field::Value, held.id()), &operations, &indexes)
    }

    /// From here on these hold the variable, or some of its bits; if there are none, nothing does.
    pub fn value(&mut self, all: &[Held]) -> Result<()> {
        disjoint(all)?;
        if all.is_empty() {
            let nothing = self.writer.undefined()?;
            return self.write(Name::Value, (Field::Value, nothing), &[], &[]);
        }
        for held in all {
            let defined = self.defined(held.id())?;
            let operations = held.operations(false);
            self.fits(held, &operations, defined.result_type())?;
            if let Some(indexes) = self.indexes(held)? {
                self.write(Name::Value, (Field::Value, held.id()), &operations, &indexes)?;
                continue;
            }
            // What was said of the same bits before does not hold any longer.
            let is_bits = |it: &DebugOperation| matches!(it, DebugOperation::Fragment { .. });
            let bits = operations.iter().position(is_bits).unwrap_or(operations.len());
            let nothing = self.writer.undefined()?;
            self.write(Name::Value, (Field::Value, nothing), &operations[bits..], &[])?;
        }
        Ok(())
    }

    fn write(
        &mut self,
        name: Name,
        (field, id): (Field, Id),
        operations: &[DebugOperation],
        indexes: &[Id],
    ) -> Result<()> {
        let expression = self.writer.expression(operations)?;
        if indexes.is_empty() {
            let operands = [self.debug, id, expression].map(Word::Id);
            return self.writer.all_in_body(self.words, name, operands);
        }
        let mut operands: SmallVec<[(Field, Word); 8]> = SmallVec::from_iter([
            (Field::LocalVariable, self.debug.into()),
            (field, id.into()),
            (Field::Expression, expression.into()),
        ]);
        operands.extend(indexes.iter().map(|&index| (Field::Index, index.into())));
        self.writer.in_body(self.words, name, &operands).map(|_| ())
    }

    /// The ids of indexes; `None` if the mode cannot say which part it is.
    fn indexes(&mut self, held: &Held) -> Result<Option<SmallVec<[Id; 2]>>> {
        let (mut ids, layout) = (SmallVec::new(), self.writer.layout);
        let Mode { name, has_indexes, has_bit_pieces, .. } = *self.writer.mode;
        let missing = match held {
            _ if !has_indexes && !held.indexes().is_empty() => Some("indexes"),
            _ if !has_bit_pieces && held.has_bit_piece() => Some("BitPiece"),
            _ => None,
        };
        if let Some(missing) = missing {
            let id = held.id();
            let what = format!(
                "it is a part of {id}: the {name} mode has no {missing}, and nothing is said to hold it"
            );
            self.writer.leave_out(self.module.at_variable(self.variable, None), what);
            return Ok(None);
        }
        for index in held.indexes() {
            ids.push(match *index {
                Index::Number(number) => self.writer.constant(number.into())?,
                Index::Id(id) => {
                    let defined = self.defined(id)?;
                    let ty = defined.result_type().and_then(|ty| layout.definition(ty));
                    if ty.is_none_or(|ty| ty.opcode() != op::TYPE_INT) {
                        return Err(Error::bad_argument(format!("index {id} is no integer")));
                    }
                    let is_known = defined.opcode() == op::CONSTANT;
                    if !is_known && !self.writer.mode.has_run_time_indexes {
                        let what = format!(
                            "it is a part of {} which {id} is the number of: the {} mode has no index that is \
                             known at run time",
                            held.id(),
                            self.writer.mode.name
                        );
                        self.writer.leave_out(self.module.at_variable(self.variable, None), what);
                        return Ok(None);
                    }
                    id
                }
            });
        }
        Ok(Some(ids))
    }

    /// The instruction that defines a value, which is there at the spot.
    #[inline]
    fn defined(&self, id: Id) -> Result<Instruction<'w>> {
        let layout = self.writer.layout;
        let defined = layout.definition(id).ok_or_else(|| unknown(id))?;
        let is_value = defined.result_type().is_some_and(|ty| ty != self.writer.void());
        if !is_value || defined.opcode() == op::FUNCTION {
            return Err(wrong(defined, "value"));
        }
        let is_global = defined.at < layout.globals_end();
        if !is_global && !self.spot.function.contains(&defined.at) {
            return Err(Error::bad_argument(format!("{id} is defined in another function")));
        }
        if defined.at >= self.spot.at {
            let what =
                format!("{id} is defined behind the position at which it is said to hold the variable");
            return Err(Error::bad_argument(what));
        }
        Ok(defined)
    }

    /// Whether the bits are those of the variable, and as many as the value has.
    fn fits(&self, held: &Held, operations: &[DebugOperation], ty: Option<Id>) -> Result<()> {
        let id = held.id();
        let variable = self.module.ty(self.ty);
        let piece = piece(operations)?;
        if let Some((offset, size)) = piece {
            let needs = u64::from(offset) + u64::from(size);
            if size == 0 {
                return Err(Error::bad_argument(format!("{id} holds no bits")));
            }
            if let Some(has) = variable.bits().filter(|&has| needs > has) {
                let what = format!("the piece that {id} holds");
                return Err(ErrorKind::DoesNotFit { what, needs, has }.into());
            }
        }
        let width = self.part(held, ty)?.and_then(|ty| self.writer.layout.width(ty));
        let width = width.filter(|_| !held.is_computed());
        if let Some(((offset, size), has)) = held.taken_bits().zip(width) {
            let needs = u64::from(offset) + u64::from(size);
            if needs > has {
                return Err(
                    ErrorKind::DoesNotFit { what: format!("what is taken of {id}"), needs, has }.into()
                );
            }
        }
        let Some(has) = held.taken_bits().map(|(_, size)| size.into()).or(width) else { return Ok(()) };
        let needs = match piece {
            Some((_, size)) => [Some(size.into()); 2],
            // A vector of three elements has the size of one of four.
            None => [variable.value_bits(), variable.bits()],
        };
        match needs.into_iter().flatten().next() {
            Some(bits) if !needs.contains(&Some(has)) => {
                let what = format!("what {id} holds");
                Err(ErrorKind::DoesNotFit { what, needs: bits, has }.into())
            }
            _ => Ok(()),
        }
    }

    /// The type of the part of a value that the indexes lead to, as far as they can be followed.
    fn part(&self, held: &Held, mut ty: Option<Id>) -> Result<Option<Id>> {
        let layout = self.writer.layout;
        for index in held.indexes() {
            let number = match *index {
                Index::Number(number) => Some(number),
                Index::Id(id) => {
                    let value = layout.constant(id).and_then(|constant| constant.value);
                    value.and_then(|value| u32::try_from(value).ok())
                }
            };
            let Some(whole) = ty else { break };
            let of = |error: Error| Error::bad_argument(format!("{}: {}", held.id(), error.kind()));
            ty = layout.part(whole, number).map_err(of)?;
        }
        Ok(ty)
    }
}

/// Several things that hold a variable hold different bits of it.
fn disjoint(all: &[Held]) -> Result<()> {
    if all.len() < 2 {
        return Ok(());
    }
    let mut sorted: SmallVec<[(Range<u32>, Id); 4]> = SmallVec::new();
    for held in all {
        let Some(bits) = held.held_bits() else {
            let what = format!("{} holds all of the variable, and others some of its bits", held.id());
            return Err(Error::bad_argument(what));
        };
        sorted.push((bits, held.id()));
    }
    sorted.sort_unstable_by_key(|(bits, id)| (bits.start, bits.end, *id));
    for pair in sorted.windows(2) {
        let [(first, one), (second, other)] = pair else { continue };
        if second.start < first.end {
            let what = format!(
                "{other} holds bits {}..{} of the variable, and {one} bits {}..{}",
                second.start, second.end, first.start, first.end
            );
            return Err(Error::bad_argument(what));
        }
    }
    Ok(())
}

/// Whether operations find what they take on the stack, which has one entry at first. The bits of the variable that they
/// are of, first and count, if not of all: a fragment is the last of them.
fn piece(operations: &[DebugOperation]) -> Result<Option<(u32, u32)>> {
    let mut depth = 1;
    for (index, operation) in operations.iter().enumerate() {
        let &Operation { name, takes, leaves, .. } = &OPERATIONS[operation.number() as usize];
        if depth < takes {
            let what = format!("operation {index}, {name}, takes {takes} entries, and there is {depth}");
            return Err(Error::bad_argument(what));
        }
        depth = depth - takes + leaves;
        if matches!(operation, DebugOperation::Fragment { .. }) && index + 1 < operations.len() {
            return Err(Error::bad_argument(format!("operation {index}, {name}, is not the last one")));
        }
    }
    Ok(match operations.last() {
        Some(&DebugOperation::Fragment { offset, size }) => Some((offset, size)),
        _ => None,
    })
}
