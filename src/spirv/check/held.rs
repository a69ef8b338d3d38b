//! What holds a variable, by what comes out where a mistake shows: every address and every id has bits of its own.

use super::shapes::{Shape, shape};
use super::told::Teller;
use crate::eval::{Architecture, Element, Machine, SpaceLayout, Unavailable, Value};
use crate::op::Reg;
use crate::spirv::evaluate::{Initial, evaluate};
use crate::spirv::held::{DebugOperation, Held, Index};
use crate::spirv::opcodes as op;
use crate::spirv::words::Id;
use crate::target::{Per, SpaceId};

/// A machine with memory everywhere, no byte like the next.
struct Everywhere;

/// A number that looks like no other.
fn mixed(number: u64) -> u64 {
    // SplitMix64.
    let mut mixed = number.wrapping_add(0x9e37_79b9_7f4a_7c15);
    mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    mixed ^ (mixed >> 31)
}

impl Machine for Everywhere {
    fn register(&self, _: Reg, _: u32, _: u32, _: &mut [u8]) -> Result<(), Unavailable> {
        Err(Unavailable)
    }

    fn memory(
        &self,
        space: SpaceId,
        _: Option<u32>,
        address: u64,
        into: &mut [u8],
    ) -> Result<(), Unavailable> {
        for (offset, byte) in (0..).zip(into) {
            *byte = mixed(address.wrapping_add(offset) ^ mixed(space.0.into())) as u8;
        }
        Ok(())
    }
}

impl Architecture for Everywhere {
    fn register_bits(&self, _: Reg) -> Option<u32> {
        None
    }

    fn space(&self, _: SpaceId) -> Option<SpaceLayout> {
        Some(SpaceLayout { address_bits: 64, per: Per::Process })
    }

    fn largest_address_bits(&self) -> u32 {
        64
    }
}

impl Teller<'_, '_> {
    /// What holds a variable.
    pub(super) fn holding(&mut self, held: &Held, is_declaration: bool) -> Shape {
        let id = held.id();
        let defined = self.layout.definition(id);
        // Only an OpVariable is declared to be a variable: what another pointer points to is a value.
        let is_variable = defined.is_some_and(|it| it.opcode() == op::VARIABLE);
        let is_variable = is_variable && is_declaration;
        let mut operations = held.operations(is_declaration);
        let is_whole = matches!(operations[..], [] | [DebugOperation::Fragment { .. }]);
        if is_whole && defined.is_some_and(|it| it.opcode() == op::UNDEF) {
            return self.nothing_holds(Some(held));
        }
        if is_declaration && !is_variable {
            let is_part = |operation: &DebugOperation| {
                matches!(operation, DebugOperation::BitPiece { .. } | DebugOperation::Fragment { .. })
            };
            let end = operations.iter().position(is_part).unwrap_or(operations.len());
            operations.insert(end, DebugOperation::Deref);
        }
        let number = Element::Value(Value::generic(mixed(id.0.into()), 8));
        let initial = if is_variable { Initial::Address(number) } else { Initial::Value(number) };
        let mut parts = vec![if is_variable { "declare".into() } else { "value".into() }];
        parts.push(u64::from(id.0).into());
        for index in held.indexes() {
            let index = match *index {
                Index::Number(number) => u64::from(number),
                Index::Id(id) => self.number_of(id).unwrap_or(1 << 32 | u64::from(id.0)),
            };
            parts.extend(["index".into(), index.into()]);
        }
        match evaluate(&operations, &initial, &Everywhere, &Everywhere) {
            Ok(found) => {
                parts.push(found.location.to_string().into());
                if let Some(bits) = found.bits {
                    parts.extend([
                        "for bits".into(),
                        u64::from(bits.start).into(),
                        u64::from(bits.end).into(),
                    ]);
                }
            }
            // What has no meaning is compared as it stands.
            Err(_) => parts.push(format!("{operations:?}").into()),
        }
        self.shapes.of(parts)
    }

    /// Nothing holds it, or the bits of it that something would.
    pub(super) fn nothing_holds(&mut self, held: Option<&Held>) -> Shape {
        match held.and_then(|held| held.operations(false).last().copied()) {
            Some(DebugOperation::Fragment { offset, size }) => {
                shape!(self.shapes; "nothing for bits", u64::from(offset), "and", u64::from(size), "more")
            }
            _ => shape!(self.shapes; "nothing"),
        }
    }

    fn number_of(&self, id: Id) -> Option<u64> {
        self.layout.constant(id)?.value.filter(|&number| number < 1 << 32)
    }

    /// Whether the mode has no words for the part that it is.
    pub(super) fn is_left_out(&self, held: &Held, is_declaration: bool) -> bool {
        // There a declaration has no indexes.
        if is_declaration && !held.indexes().is_empty() && !self.mode.set.is_shader() {
            return true;
        }
        let is_known = |index: &Index| match *index {
            Index::Number(_) => true,
            Index::Id(id) => self.number_of(id).is_some(),
        };
        let mut indexes = held.indexes().iter();
        held.has_bit_piece() && !self.mode.has_bit_pieces
            || indexes
                .any(|index| !self.mode.has_indexes || !self.mode.has_run_time_indexes && !is_known(index))
    }
}
