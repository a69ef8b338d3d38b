//! Locations whose operations are in the order of their nodes, as in most locations.

use super::Lowering;
use crate::model::{Node, Nodes};
use crate::op::{Encoder, Reg};
use crate::target::SpaceId;

impl Lowering<'_> {
    /// Returns whether a register is as large as an address.
    #[inline]
    pub(super) fn holds_address(&self, reg: Reg) -> bool {
        self.module.target.register(reg).is_some_and(|register| register.bits == self.address_bits)
    }

    /// Appends the expression of a location whose operations are in the order of its nodes, without a tree. Returns
    /// false, and appends nothing, if an operation depends on more than its node and the next one.
    #[inline]
    pub(super) fn linear(&self, mut nodes: Nodes<'_>, out: &mut Vec<u8>) -> bool {
        let start = out.len();
        let address_bits = self.address_bits;
        let mut encoder = Encoder::new(out, self.encoding);
        while let Some(node) = nodes.next() {
            match node {
                Node::Register(reg) if nodes.is_empty() => {
                    encoder.regx(reg);
                }
                Node::ReadRegister(reg) if self.holds_address(reg) => {
                    let mut by = 0i64;
                    while let Some(more) = nodes.next_plus() {
                        let Some(sum) = by.checked_add(more) else {
                            // Needs the tree.
                            out.truncate(start);
                            return false;
                        };
                        by = sum;
                    }
                    encoder.bregx(reg, by);
                }
                // A number becomes a location in the default space without an operation.
                Node::Memory(SpaceId::DEFAULT) if nodes.is_empty() => {}
                Node::Memory(SpaceId::DEFAULT) if nodes.next_read(address_bits).is_some() => {
                    encoder.deref();
                }
                Node::Value if nodes.is_empty() => {
                    encoder.stack_value();
                }
                Node::Const(value) => {
                    encoder.constu(value);
                }
                Node::Plus(by) => plus(&mut encoder, by),
                node if arithmetic(&mut encoder, node) => {}
                _ => {
                    out.truncate(start);
                    return false;
                }
            }
        }
        if encoder.finish().is_err() {
            // The writer of the tree reports the error.
            out.truncate(start);
            return false;
        }
        true
    }
}

/// Adds a constant to the number on top.
#[inline(always)]
pub(super) fn plus(encoder: &mut Encoder<'_>, by: i64) {
    match by {
        0 => {}
        1.. => {
            encoder.plus_uconst(by as u64);
        }
        _ => {
            encoder.constu(by.unsigned_abs()).minus();
        }
    }
}

/// Writes the operation of an arithmetic node, which all dialects have. Returns false if the node is not arithmetic.
#[inline(always)]
pub(super) fn arithmetic(encoder: &mut Encoder<'_>, node: Node<'_>) -> bool {
    match node {
        Node::Add => encoder.plus(),
        Node::Sub => encoder.minus(),
        Node::Mul => encoder.mul(),
        Node::And => encoder.and(),
        Node::Or => encoder.or(),
        Node::Xor => encoder.xor(),
        Node::Shl => encoder.shl(),
        Node::Shr => encoder.shr(),
        Node::Shra => encoder.shra(),
        Node::Neg => encoder.neg(),
        Node::Not => encoder.not(),
        _ => return false,
    };
    true
}
