//! Writes variable declarations and values, after checking them against the variable and the module. Section 4.8.

use core::ops::Range;

use smallvec::SmallVec;

use super::expressions::expression;
use super::writer::{Word, Writer};
use crate::error::{Error, Result};
use crate::model::{Module, Part, TypeId, VariableId};
use crate::omission::{Property, Reason, Subject};
use crate::spirv::mode::Feature;
use crate::spirv::opcodes as op;
use crate::spirv::operand::Field;
use crate::spirv::provider::{DebugOperation, Index, Provider};
use crate::spirv::provider_rules::Spot;
use crate::spirv::table::InstructionName;
use crate::spirv::words::{Id, Instruction};

/// Context for a variable's instruction.
#[derive(Debug)]
pub(super) struct VariableWriter<'a, 'w> {
    pub writer: &'a mut Writer<'w>,
    pub module: &'a Module,
    pub variable: VariableId,
    /// The variable's type.
    pub ty: TypeId,
    /// The `DebugLocalVariable`.
    pub debug: Id,
    pub spot: &'a Spot,
    /// Output words.
    pub words: &'a mut Vec<u32>,
    /// The last types that were found to be compatible.
    pub fitting: &'a mut Option<Fitting>,
}

/// A variable's type and its `OpVariable`'s type.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Fitting {
    variable: TypeId,
    pointer: Id,
}

/// Operations that compute the described part, and index ids that select it.
type Path = (SmallVec<[DebugOperation; 4]>, SmallVec<[Id; 2]>);

impl VariableWriter<'_, '_> {
    /// Writes a declaration: the variable is in memory while the function runs. `index` is the operand's index in
    /// [`Binding::providers`](super::super::Binding::providers).
    pub fn declare(&mut self, index: u32, provider: &Provider) -> Result<()> {
        // Most kernels declare many variables with few types, so that this test saves the width check.
        if self.is_as_the_last(provider) {
            return self.write(InstructionName::Declare, (Field::Variable, provider.id()), &[], &[]);
        }
        let layout = self.writer.layout;
        let defined = layout.variable_at(provider.id(), self.spot)?;
        let is_variable = defined.opcode() == op::VARIABLE;
        if is_variable && provider.is_whole() {
            layout.fits(self.module, self.ty, provider, &[], (defined, true))?;
            *self.fitting = self.fitting_of(defined);
            return self.write(InstructionName::Declare, (Field::Variable, provider.id()), &[], &[]);
        }
        self.indexes_at(provider)?;
        let operations = provider.few_operations(true);
        let part = layout.fits(self.module, self.ty, provider, &operations, (defined, true))?;
        // A declaration can only refer to an OpVariable. Another pointer's target is described by a value.
        let (name, field) = if is_variable {
            (InstructionName::Declare, Field::Variable)
        } else {
            (InstructionName::Value, Field::Value)
        };
        let Some((mut operations, indexes)) = self.path(name, index, provider, operations, part)? else {
            return Ok(());
        };
        if !is_variable {
            let is_part = |it: &DebugOperation| {
                matches!(it, DebugOperation::BitPiece { .. } | DebugOperation::Fragment { .. })
            };
            // The dereference comes after the address computation, but before what selects parts.
            let end = operations.iter().position(is_part).unwrap_or(operations.len());
            operations.insert(end, DebugOperation::Deref);
        }
        self.write(name, (field, provider.id()), &operations, &indexes)
    }

    /// Whether the operand is an `OpVariable` with the last compatible types, which need no second check.
    #[inline]
    fn is_as_the_last(&self, provider: &Provider) -> bool {
        let layout = self.writer.layout;
        provider.is_whole()
            && layout.definition(provider.id()).is_some_and(|defined| {
                defined.opcode() == op::VARIABLE
                    && layout.is_there(defined, self.spot)
                    && *self.fitting == self.fitting_of(defined)
            })
    }

    #[inline]
    fn fitting_of(&self, defined: Instruction<'_>) -> Option<Fitting> {
        defined.result_type().map(|pointer| Fitting { variable: self.ty, pointer })
    }

    /// Writes values: the operands provide the variable or parts of it. An empty list makes the variable unavailable.
    /// `first` is the first operand's index in [`Binding::providers`](super::super::Binding::providers).
    pub fn value(&mut self, first: u32, all: &[Provider]) -> Result<()> {
        self.disjoint(all)?;
        if all.is_empty() {
            return self.nothing(&[], &[]);
        }
        let layout = self.writer.layout;
        for (index, provider) in (first..).zip(all) {
            let defined = layout.value_at(provider.id(), self.spot)?;
            self.indexes_at(provider)?;
            let operations = provider.few_operations(false);
            let part = layout.fits(self.module, self.ty, provider, &operations, (defined, false))?;
            match self.path(InstructionName::Value, index, provider, operations, part)? {
                Some((operations, indexes)) => {
                    self.write(InstructionName::Value, (Field::Value, provider.id()), &operations, &indexes)?;
                }
                None => self.lose(provider)?,
            }
        }
        Ok(())
    }

    /// Ends earlier values of the same part, or of the enclosing part if the mode cannot name the part. Otherwise a
    /// reader would show a stale value.
    fn lose(&mut self, provider: &Provider) -> Result<()> {
        let is_known = |index: &Index| self.is_known(*index);
        let known = provider.indexes().iter().take_while(|&index| is_known(index)).count();
        let around = provider.around(known);
        let part = around.part_of(self.module, self.ty, |id| self.writer.layout.index(id))?;
        match self.select(InstructionName::Value, &around, around.few_operations(false), part)? {
            Some((operations, indexes)) => self.nothing(&operations, &indexes),
            None => self.nothing(&[], &[]),
        }
    }

    /// Makes a part of the variable unavailable.
    fn nothing(&mut self, operations: &[DebugOperation], indexes: &[Id]) -> Result<()> {
        let nothing = self.writer.undefined()?;
        self.write(InstructionName::Value, (Field::Value, nothing), operations, indexes)
    }

    fn write(
        &mut self,
        name: InstructionName,
        (field, id): (Field, Id),
        operations: &[DebugOperation],
        indexes: &[Id],
    ) -> Result<()> {
        let expression = expression(self.writer, operations)?;
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

    /// Operations and indexes for the variable's part. If the mode cannot encode the part, records an omission and
    /// returns `None`.
    fn path(
        &mut self,
        name: InstructionName,
        index: u32,
        provider: &Provider,
        operations: SmallVec<[DebugOperation; 4]>,
        part: Option<Part>,
    ) -> Result<Option<Path>> {
        let mode = self.writer.mode.name;
        let set = self.writer.mode.set;
        let id = provider.id().0;
        let unknown = provider.indexes().iter().find_map(|&index| match index {
            Index::Id(id) if !self.is_known(index) => Some(id.0),
            _ => None,
        });
        let foreign =
            operations.iter().find(|it| it.number() as usize >= super::super::operations(set).len());
        // The first reason that applies is listed, from the operations to the indexes.
        let reason = if let Some(&DebugOperation::Extended(operation)) = foreign {
            Reason::NoOperation(id, operation.name(), set.name())
        } else if !self.writer.mode.has(Feature::BitPieces) && provider.has_bit_piece() {
            Reason::NoBitPiece(id, mode)
        } else if provider.indexes().is_empty() {
            return Ok(Some((operations, SmallVec::new())));
        } else if let Some(index) = unknown {
            Reason::RunTimeIndex(id, index, mode)
        } else {
            match self.select(name, provider, operations, part)? {
                Some(path) => return Ok(Some(path)),
                None if self.writer.mode.has(Feature::Indexes) => {
                    Reason::NoIndexOperands(id, name.text(), set.name())
                }
                None => Reason::NoIndexes(id, mode),
            }
        };
        let subject = Subject::Provider(self.variable, index);
        self.writer.omit(self.module, subject, Property::Entity, reason);
        Ok(None)
    }

    /// Checks that index ids are integers defined before the spot.
    fn indexes_at(&self, provider: &Provider) -> Result<()> {
        provider.indexes().iter().try_for_each(|index| match *index {
            Index::Number(_) => Ok(()),
            Index::Id(id) => self.writer.layout.index_at(id, self.spot),
        })
    }

    /// Whether the mode can encode the index.
    fn is_known(&self, index: Index) -> bool {
        let is_known = |id| self.writer.layout.index(id).is_some();
        match index {
            Index::Number(_) => true,
            Index::Id(id) => self.writer.mode.has(Feature::RunTimeIndexes) || is_known(id),
        }
    }

    /// Indexes or bits for a part whose indexes are all known; `None` if the bits are unknown.
    fn select(
        &mut self,
        name: InstructionName,
        provider: &Provider,
        mut operations: SmallVec<[DebugOperation; 4]>,
        part: Option<Part>,
    ) -> Result<Option<Path>> {
        let mut ids = SmallVec::new();
        if provider.indexes().is_empty() {
            return Ok(Some((operations, ids)));
        }
        let mode = self.writer.mode;
        // Only some sets have indexes in declarations.
        if mode.has(Feature::Indexes) && mode.set.has_operand(name, Field::Index) {
            for index in provider.indexes() {
                let number = |id| self.writer.layout.index(id).and_then(|number| u32::try_from(number).ok());
                let is_constant = |id| {
                    let defined = self.writer.layout.definition(id);
                    defined.is_some_and(|it| it.opcode() == op::CONSTANT)
                };
                // A constant index keeps its id; any other known index becomes a constant.
                ids.push(match *index {
                    Index::Id(id) if mode.has(Feature::RunTimeIndexes) || is_constant(id) => id,
                    Index::Id(id) => match number(id) {
                        Some(number) => self.writer.constant(number.into())?,
                        None => return Ok(None),
                    },
                    Index::Number(number) => self.writer.constant(number.into())?,
                });
            }
            return Ok(Some((operations, ids)));
        }
        let bits = part.and_then(|part| provider.absolute(self.module, &part));
        let bits = bits.map(|bits| [bits.start, bits.end.saturating_sub(bits.start)].map(u32::try_from));
        let Some([Ok(offset), Ok(size)]) = bits else { return Ok(None) };
        // The last operation is the fragment within the part; absolute bits replace it.
        if provider.selected_bits().is_some() {
            operations.pop();
        }
        operations.push(DebugOperation::Fragment { offset, size });
        Ok(Some((operations, ids)))
    }

    /// Checks that several operands provide disjoint parts of the variable.
    fn disjoint(&self, all: &[Provider]) -> Result<()> {
        if all.len() < 2 {
            return Ok(());
        }
        let mut sorted: SmallVec<[(Range<u64>, Id); 4]> = SmallVec::new();
        for provider in all {
            let id = provider.id();
            if provider.selected_bits().is_none() && provider.indexes().is_empty() {
                let what = format!("{id} provides the whole variable; several values provide disjoint parts");
                return Err(Error::bad_argument(what));
            }
            let part = provider.part_of(self.module, self.ty, |index| self.writer.layout.index(index))?;
            let Some(bits) = part.and_then(|part| provider.absolute(self.module, &part)) else {
                let what =
                    format!("the bits that {id} provides are unknown; several values provide disjoint parts");
                return Err(Error::bad_argument(what));
            };
            sorted.push((bits, id));
        }
        // After sorting, only neighbors can overlap.
        sorted.sort_unstable_by_key(|(bits, id)| (bits.start, bits.end, *id));
        for pair in sorted.windows(2) {
            let [(first, one), (second, other)] = pair else { continue };
            if second.start < first.end {
                let what = format!(
                    "bits {}..{} in {other} overlap bits {}..{} in {one}; several values provide disjoint parts",
                    second.start, second.end, first.start, first.end
                );
                return Err(Error::bad_argument(what));
            }
        }
        Ok(())
    }
}
