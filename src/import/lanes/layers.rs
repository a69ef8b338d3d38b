//! Layers of which an expression composes lane pcs, inline and in procedures:
//!
//! | layer | operations |
//! |---|---|
//! | lanes that have not entered | `undefined; extend` |
//! | lanes that wait in a region | an address; `extend`; the region's mask; `select_bit_piece` |
//! | lanes that run | the wave's pc; `extend`; EXEC, or the mask of whole-wave code; `select_bit_piece` |

use gimli::constants as dw;
use hashbrown::HashMap;

use super::super::importer::{Importer, Place};
use super::super::node::Key;
use crate::op::{Decoder, Op};
use crate::read::{Entry, ResolvedValue};

/// Maximum number of operations of an expression, with those of the procedures that it calls.
const MOST_OPERATIONS: usize = 512;
/// Maximum depth of procedures.
const MOST_DEPTH: usize = 64;

/// A function whose lane pcs are read.
pub(super) struct Lanes<'i, 'd, 'o> {
    pub(super) importer: &'i mut Importer<'d, 'o>,
    /// The function's entry.
    pub(super) entry: Entry<'d, 'o>,
    pub(super) place: Place<'o>,
    /// Procedures that regions stand for.
    pub(super) procedures: HashMap<Key, Entry<'d, 'o>>,
}

/// Where a layer comes from, and what it says: layers with one origin are those of one region.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(super) struct Waiting<'o> {
    pub(super) procedure: Option<Key>,
    pub(super) address: u64,
    pub(super) mask: &'o [u8],
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Layer<'o> {
    NotEntered,
    Waiting(Waiting<'o>),
    Running { mask: &'o [u8] },
}

impl<'d, 'o> Lanes<'_, 'd, 'o> {
    /// Returns the layers of an expression for regions, from the outermost, and the mask of the lanes that run.
    pub(super) fn layers(&mut self, expr: &'o [u8]) -> Option<(Vec<Waiting<'o>>, &'o [u8])> {
        let mut layers = Vec::new();
        let mut room = MOST_OPERATIONS;
        self.read_layers(expr, None, MOST_DEPTH, &mut room, &mut layers)?;
        let [Layer::NotEntered, waiting @ .., Layer::Running { mask }] = &layers[..] else { return None };
        let waiting = waiting.iter().map(|layer| match layer {
            Layer::Waiting(waiting) => Some(*waiting),
            _ => None,
        });
        Some((waiting.collect::<Option<_>>()?, mask))
    }

    fn read_layers(
        &mut self,
        expr: &'o [u8],
        procedure: Option<Key>,
        depth: usize,
        room: &mut usize,
        layers: &mut Vec<Layer<'o>>,
    ) -> Option<()> {
        let unit = self.entry.unit();
        let mut decoder = Decoder::new(expr, unit.encoding);
        while let Some(decoded) = decoder.next() {
            let decoded = decoded.ok()?;
            *room = room.checked_sub(1)?;
            let address = match decoded.op {
                Op::Call2 { entry } | Op::Call4 { entry } => {
                    let called = self.called(unit.offset.checked_add(entry)?)?;
                    let Some(ResolvedValue::Expr(inner)) = called.attr(dw::DW_AT_location) else {
                        return None;
                    };
                    self.read_layers(inner, Some(called.offset()), depth.checked_sub(1)?, room, layers)?;
                    continue;
                }
                Op::Undefined {} => None,
                Op::RegX { reg } if self.importer.target.pc() == Some(reg) => None,
                Op::Addr { address } => Some(address),
                Op::Addrx { index } => Some(self.entry.dwarf().address(unit, index).ok()?),
                _ => return None,
            };
            let is_undefined = decoded.op == Op::Undefined {};
            let address = address.map(|address| self.added(&mut decoder, address));
            if !self.is_vector(decoder.next()?.ok()?.op) {
                return None;
            }
            if is_undefined {
                layers.push(Layer::NotEntered);
                continue;
            }
            let start = decoder.offset();
            let mask = loop {
                let decoded = decoder.next()?.ok()?;
                *room = room.checked_sub(1)?;
                match decoded.op {
                    Op::SelectBitPiece { bits, count } if self.is_vector(Op::Extend { bits, count }) => {
                        break &expr[start..decoded.offset];
                    }
                    Op::SelectBitPiece { .. } | Op::Skip { .. } | Op::Bra { .. } => return None,
                    _ => {}
                }
            };
            layers.push(match address {
                Some(address) => Layer::Waiting(Waiting { procedure, address, mask }),
                None => Layer::Running { mask },
            });
        }
        Some(())
    }

    /// Adds the constant that follows an address, and skips `stack_value`.
    fn added(&self, decoder: &mut Decoder<'o>, mut address: u64) -> u64 {
        loop {
            let before = decoder.clone();
            match decoder.next() {
                Some(Ok(decoded)) => match decoded.op {
                    Op::PlusUconst { value } => address = address.wrapping_add(value),
                    Op::StackValue {} => {}
                    _ => {
                        *decoder = before;
                        return address;
                    }
                },
                _ => return address,
            }
        }
    }

    /// Whether an operation makes a vector of addresses, one for each lane.
    fn is_vector(&self, op: Op<'_>) -> bool {
        let target = &self.importer.target;
        op == Op::Extend { bits: 8 * u64::from(target.address_bytes()), count: target.lanes().into() }
    }

    pub(super) fn called(&mut self, key: Key) -> Option<Entry<'d, 'o>> {
        let called = self.importer.dwarf.entry_at(key)?;
        let is_procedure =
            called.tag() == dw::DW_TAG_dwarf_procedure && called.unit().offset == self.entry.unit().offset;
        if !is_procedure {
            return None;
        }
        self.procedures.insert(key, called);
        Some(called)
    }
}
