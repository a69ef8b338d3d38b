//! Numbers: terms of 64 bits, and the type that the expression gives them.
//!
//! A term is congruent to the number modulo 2ⁿ, where n is the size of the type: bits above may be set until an
//! operation depends on them. Operations of fewer than 64 bits then use [`Terms::reduced`] or [`Terms::extended`].

use super::context::Result;
use super::terms::{Kind, Term, TermId, Terms};
use super::untyped::UntypedReason;
use crate::eval::{BaseType, TypeEncoding};
use crate::model::Node;

/// A number with its type.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Number {
    pub(super) term: TermId,
    pub(super) ty: BaseType,
}

impl<'a> Terms<'a> {
    pub(super) fn number(&mut self, value: u64) -> Result<TermId> {
        self.node(Node::Const(value), &[])
    }

    /// Returns the number plus a constant.
    pub(super) fn plus(&mut self, number: TermId, by: i64) -> Result<TermId> {
        if by == 0 {
            return Ok(number);
        }
        match self.kind(number) {
            Kind::Node(Node::Const(value)) => self.number(value.wrapping_add_signed(by)),
            Kind::Node(Node::Plus(first)) => {
                let below = self.operand(number, 0);
                self.plus(below, first.wrapping_add(by))
            }
            Kind::Node(Node::Address(symbol, first)) => match first.checked_add(by) {
                Some(sum) => self.node(Node::Address(symbol, sum), &[]),
                None => self.node(Node::Plus(by), &[number]),
            },
            Kind::Node(Node::LinkAddress(first)) => {
                self.node(Node::LinkAddress(first.wrapping_add_signed(by)), &[])
            }
            Kind::Node(Node::StackAddress(first)) => match first.checked_add(by) {
                Some(sum) => self.node(Node::StackAddress(sum), &[]),
                None => self.node(Node::Plus(by), &[number]),
            },
            _ => self.node(Node::Plus(by), &[number]),
        }
    }

    /// Returns the result of an operation on one number.
    pub(super) fn unary(&mut self, node: Node<'a>, number: TermId) -> Result<TermId> {
        match (node, self.constant(number)) {
            (Node::Neg, Some(value)) => self.number(value.wrapping_neg()),
            (Node::Not, Some(value)) => self.number(!value),
            _ => self.node(node, &[number]),
        }
    }

    /// Returns the result of an operation on two numbers.
    pub(super) fn binary(&mut self, node: Node<'a>, a: TermId, b: TermId) -> Result<TermId> {
        match (node, self.constant(a), self.constant(b)) {
            (_, Some(first), Some(second)) if let Some(value) = calculated(&node, first, second) => {
                self.number(value)
            }
            (Node::Add, _, Some(by)) => self.plus(a, by as i64),
            (Node::Add, Some(by), _) => self.plus(b, by as i64),
            (Node::Sub, _, Some(by)) => self.plus(a, by.wrapping_neg() as i64),
            (Node::Shl | Node::Shr | Node::Shra | Node::Or | Node::Xor, _, Some(0)) => Ok(a),
            (Node::And, _, Some(mask)) if self.covers(mask, a) => Ok(a),
            (Node::And, Some(mask), _) if self.covers(mask, b) => Ok(b),
            _ => self.node(node, &[a, b]),
        }
    }

    /// Whether a mask has all bits that a number may have.
    fn covers(&self, mask: u64, number: TermId) -> bool {
        let bits = self.bits(number);
        bits == 0 || mask & (u64::MAX >> (64 - bits)) == u64::MAX >> (64 - bits)
    }

    /// Returns the number without the bits from `bits` on.
    pub(super) fn reduced(&mut self, number: TermId, bits: u32) -> Result<TermId> {
        if self.bits(number) <= bits {
            return Ok(number);
        }
        let mask = self.number(if bits == 0 { 0 } else { u64::MAX >> (64 - bits.min(64)) })?;
        self.binary(Node::And, number, mask)
    }

    /// Returns the signed number in the low `bits` bits.
    pub(super) fn extended(&mut self, number: TermId, bits: u32) -> Result<TermId> {
        // A number whose sign bit is never set is its own extension.
        if bits >= 64 || self.bits(number) < bits {
            return Ok(number);
        }
        let by = self.number(u64::from(64 - bits))?;
        let high = self.binary(Node::Shl, number, by)?;
        self.binary(Node::Shra, high, by)
    }

    /// Returns the magnitude of a signed number.
    pub(super) fn magnitude(&mut self, number: TermId) -> Result<TermId> {
        let places = self.number(63)?;
        let sign = self.binary(Node::Shra, number, places)?;
        let flipped = self.binary(Node::Xor, number, sign)?;
        self.binary(Node::Sub, flipped, sign)
    }

    /// Returns a choice: the first number unless the condition is 0.
    pub(super) fn choice(&mut self, condition: TermId, nonzero: TermId, zero: TermId) -> Result<TermId> {
        if nonzero == zero {
            return Ok(zero);
        }
        self.node(Node::If, &[nonzero, zero, condition])
    }

    /// Returns an address in the file.
    pub(super) fn file_address(&mut self, address: u64, operand: usize) -> Result<TermId> {
        self.add(Term { kind: Kind::FileAddress { address, operand }, operands: [].into_iter().collect() })
    }
}

/// Returns the result of an operation on two constants. `None` for a division by zero, which has no result.
fn calculated(node: &Node<'_>, a: u64, b: u64) -> Option<u64> {
    Some(match node {
        Node::Add => a.wrapping_add(b),
        Node::Sub => a.wrapping_sub(b),
        Node::Mul => a.wrapping_mul(b),
        Node::And => a & b,
        Node::Or => a | b,
        Node::Xor => a ^ b,
        Node::Shl => {
            if b < 64 {
                a << b
            } else {
                0
            }
        }
        Node::Shr => {
            if b < 64 {
                a >> b
            } else {
                0
            }
        }
        Node::Shra => (a as i64 >> b.min(63)) as u64,
        Node::Div if b != 0 => (a as i64).wrapping_div(b as i64) as u64,
        Node::Mod if b != 0 => a % b,
        Node::Eq => (a == b).into(),
        Node::Ne => (a != b).into(),
        Node::Lt => ((a as i64) < b as i64).into(),
        Node::Le => (a as i64 <= b as i64).into(),
        _ => return None,
    })
}

/// How an operation takes the numbers of a type.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Signs {
    /// The generic type: quotients, arithmetic shifts and comparisons are signed, the rest is unsigned.
    Generic,
    Signed,
    Unsigned,
}

/// Returns a type's signs and size in bits.
///
/// # Errors
/// [`UntypedReason::Type`] for what is not an integer of up to 64 bits.
pub(super) fn integer(ty: BaseType) -> Result<(Signs, u32)> {
    let signs = match ty.encoding {
        TypeEncoding::Generic => Signs::Generic,
        TypeEncoding::Float => return Err(UntypedReason::Type("floating-point numbers").into()),
        TypeEncoding::Other(_) => return Err(UntypedReason::Type("numbers of another encoding").into()),
        encoding if encoding.is_signed() => Signs::Signed,
        _ => Signs::Unsigned,
    };
    small(ty)?;
    Ok((signs, ty.bits))
}

/// Refuses a type whose bits are not one number of up to 64 bits.
///
/// # Errors
/// [`UntypedReason::Type`].
pub(super) fn small(ty: BaseType) -> Result<()> {
    match (ty.elements, ty.bits) {
        (1, 1..=64) => Ok(()),
        (1, _) => Err(UntypedReason::Type("a type without bits, or of more than 64 bits").into()),
        _ => Err(UntypedReason::Type("vectors").into()),
    }
}
