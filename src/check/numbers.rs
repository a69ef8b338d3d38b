//! Machine contents that are chosen for the numbers that a comparison reads.
//!
//! In contents that are the same for all comparisons, most numbers are large: a shift by such a number is 0 whatever
//! it shifts, and an offset by it leaves every storage. Here, a number's role depends on its position among the
//! numbers that the comparison reads, so that each number has each role while the other numbers have a different
//! role:
//!
//! | role | number |
//! |---|---|
//! | value | any number whose lowest and highest bit are 1 |
//! | count | 1 to 63: a bit count, or an offset within a register |
//! | small count | 1 to 7: sums and products are still counts |
//! | zero | a count's upper half, in two registers |
//! | offset count | a number that is a count after a constant is added to it |
//!
//! A result of few bits, such as one bit of a register, is the same for many registers by chance. There are as many
//! [random contents](Numbers::random) as such a result needs.

use std::rc::Rc;

use crate::model::Node;
use crate::op::{Decoder, Encoding, Op, Reg};
use crate::target::{ByteOrder, SpaceId};

/// How many choices there are for each number that is read.
const CHOICES: u32 = 5;

/// Limit for numbers with a role.
const MAX_NUMBERS: usize = 6;

/// Limit for constants that are added to numbers. A location rarely adds more, and each constant is a choice for each
/// number.
const MAX_OFFSETS: usize = 4;

/// Machine contents, chosen while they are read.
#[derive(Debug)]
pub(super) struct Numbers {
    choice: u32,
    /// Constants that the comparison adds to numbers.
    offsets: Rc<[u64]>,
    /// Numbers with a role, in the order in which they were first read.
    known: Vec<Number>,
    /// Limit for numbers with a role. All further numbers are values.
    most: usize,
}

/// Number in a storage's consecutive bytes.
#[derive(Debug)]
struct Number {
    storage: ByteStorage,
    /// The first byte.
    at: u64,
    /// Byte count, at most 8.
    bytes: u64,
    value: u64,
}

impl Numbers {
    /// Contents for a choice, which is less than [`choices`](Self::choices).
    pub(super) fn new(choice: u32, offsets: Rc<[u64]>) -> Self {
        Self { choice, offsets, known: Vec::new(), most: MAX_NUMBERS }
    }

    /// Random contents, of which no number has a role. The contents differ by `index` in about half of their bits.
    pub(super) fn random(index: u32) -> Self {
        Self { choice: 1 << 15 | index, offsets: Rc::default(), known: Vec::new(), most: 0 }
    }

    /// How many choices there are for each number.
    fn roles(&self) -> u32 {
        CHOICES + self.offsets.len() as u32
    }

    /// Returns how many choices there are for the numbers that were read.
    pub(super) fn choices(&self) -> u32 {
        self.roles() * self.known.len() as u32
    }

    /// Reads a storage's consecutive bytes.
    pub(super) fn read(&mut self, storage: ByteStorage, order: ByteOrder, at: u64, into: &mut [u8]) {
        let mut done = 0;
        while done < into.len() {
            let next = at.wrapping_add(done as u64);
            let Some(number) = self.known.iter().find(|number| number.has(storage, next)) else {
                let left = (into.len() - done).min(8) as u64;
                // A number ends where a known number begins: both reads must see the same bytes.
                let is_new =
                    |&by: &u64| !self.known.iter().any(|number| number.has(storage, next.wrapping_add(by)));
                let bytes = 1 + (1..left).take_while(is_new).count() as u64;
                let random = scatter(storage.key() ^ u64::from(self.choice) << 48, next);
                if self.known.len() < self.most {
                    let value = self.chosen(random, 8 * bytes);
                    self.known.push(Number { storage, at: next, bytes, value });
                    continue;
                }
                into[done] = random as u8;
                done += 1;
                continue;
            };
            let byte = next.wrapping_sub(number.at);
            let less_significant = match order {
                ByteOrder::Little => byte,
                ByteOrder::Big => number.bytes - 1 - byte,
            };
            into[done] = (number.value >> (8 * less_significant)) as u8;
            done += 1;
        }
    }

    /// Returns the next number, in the role that it has in this choice.
    fn chosen(&self, random: u64, bits: u64) -> u64 {
        // Choices enumerate (number in focus, its role); the other numbers get the roles that leave its effect
        // visible.
        let focus = self.choice / self.roles();
        let choice = self.choice % self.roles();
        // The lowest and the highest bit are 1, so that losing either shows.
        let value = random | 1 | 1 << (bits - 1);
        let distance = (self.known.len() as u32).wrapping_sub(focus);
        if let Some(offset) = choice.checked_sub(CHOICES).and_then(|index| self.offsets.get(index as usize)) {
            return if distance == 0 { (1 + random % 31).wrapping_sub(*offset) } else { value };
        }
        match (choice, distance) {
            // A shift by 32 or more moves a dword out of the result, or into it.
            (0 | 1, 0) => 1 + random % 31,
            (2, 0) => 32 + random % 32,
            (1 | 2, 1) => 0,
            (0..=2, _) | (3, 0) => value,
            (3, _) => 1 + random % 7,
            (_, 0 | 1) => value,
            // Register pairs before and after the pair in focus.
            (_, distance) if distance.is_multiple_of(2) => 1 + random % 7,
            _ => 0,
        }
    }
}

impl Number {
    fn has(&self, storage: ByteStorage, at: u64) -> bool {
        self.storage == storage && at.wrapping_sub(self.at) < self.bytes
    }
}

/// Returns the different constants that locations and expressions add to numbers.
pub(super) fn offsets<'n, 'e>(
    nodes: impl Iterator<Item = Node<'n>>,
    exprs: impl Iterator<Item = &'e [u8]>,
    encoding: Encoding,
) -> Rc<[u64]> {
    let described = nodes.filter_map(|node| match node {
        Node::Plus(by) => Some(by as u64),
        _ => None,
    });
    let operations = exprs.flat_map(|expr| Decoder::new(expr, encoding).map_while(Result::ok));
    let encoded = operations.filter_map(|decoded| match decoded.op {
        Op::PlusUconst { value } => Some(value),
        Op::BregX { offset, .. } | Op::AspaceBregX { offset, .. } => Some(offset as u64),
        _ => None,
    });
    let mut offsets: Vec<u64> = Vec::new();
    for offset in described.chain(encoded).filter(|&offset| offset != 0) {
        if offsets.len() < MAX_OFFSETS && !offsets.contains(&offset) {
            offsets.push(offset);
        }
    }
    offsets.into()
}

/// Returns whether a location computes in a way that hides a mistake for most numbers: shifts, products and masks
/// with numbers that are not constant, and offsets by such numbers. `has_combining_procedures` is the result for all
/// procedures.
pub(super) fn does_location_combine<'n>(
    nodes: impl Iterator<Item = Node<'n>>,
    has_combining_procedures: impl Fn() -> bool,
) -> bool {
    combine(nodes.map(|node| match node {
        Node::Const(_) => Kind::Constant,
        Node::Or => Kind::Or,
        Node::Shl => Kind::Shl,
        Node::Call(_) if has_combining_procedures() => Kind::Combined,
        Node::Mul | Node::And | Node::Shr | Node::Shra | Node::Div | Node::Mod => Kind::Combining,
        Node::Eq | Node::Ne | Node::Lt | Node::Le | Node::If => Kind::Combining,
        Node::OffsetBy | Node::BitOffsetBy | Node::Overlay => Kind::Combining,
        _ => Kind::Other,
    }))
}

/// Returns whether an expression computes in a way that hides a mistake for most numbers, as
/// [`does_location_combine`] does for a location. Comparisons and divisions also do so.
pub(super) fn does_expression_combine(
    expr: &[u8],
    encoding: Encoding,
    has_combining_procedures: impl Fn() -> bool,
) -> bool {
    combine(Decoder::new(expr, encoding).map_while(Result::ok).map(|decoded| match decoded.op {
        Op::ConstU { .. } | Op::ConstS { .. } => Kind::Constant,
        Op::Or {} => Kind::Or,
        Op::Shl {} => Kind::Shl,
        Op::Call2 { .. } | Op::Call4 { .. } | Op::CallRef { .. } if has_combining_procedures() => {
            Kind::Combined
        }
        Op::Mul {} | Op::Div {} | Op::Mod {} | Op::ModFloor {} | Op::And {} | Op::Shr {} | Op::Shra {} => {
            Kind::Combining
        }
        Op::Eq {} | Op::Ge {} | Op::Gt {} | Op::Le {} | Op::Lt {} | Op::Ne {} | Op::Bra { .. } => {
            Kind::Combining
        }
        Op::Offset {} | Op::BitOffset {} | Op::Overlay {} | Op::BitOverlay {} => Kind::Combining,
        _ => Kind::Other,
    }))
}

/// An operation's kind. Operations are in postfix order.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Kind {
    Constant,
    Or,
    Shl,
    /// Operation that hides mistakes, unless its second operand is constant.
    Combining,
    /// Operation that hides mistakes.
    Combined,
    Other,
}

fn combine(kinds: impl Iterator<Item = Kind>) -> bool {
    let mut before = [Kind::Other; 2];
    for kind in kinds {
        let is_combined = match kind {
            Kind::Combined => true,
            Kind::Combining | Kind::Shl => before[1] != Kind::Constant,
            // A number joined from two registers is a value like a single register's.
            Kind::Or => before[1] != Kind::Constant && before != [Kind::Constant, Kind::Shl],
            Kind::Constant | Kind::Other => false,
        };
        if is_combined {
            return true;
        }
        // In postfix order the previous kind is the second operand's last operation.
        before = [before[1], kind];
    }
    false
}

/// Storage that consists of bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum ByteStorage {
    Register(Reg),
    /// Register on entry to the function.
    Entry(Reg),
    Memory(SpaceId, Option<u32>),
}

impl ByteStorage {
    /// Returns a number that differs for each storage.
    pub(super) fn key(self) -> u64 {
        match self {
            Self::Register(reg) => reg.0.wrapping_mul(0x1_0001).wrapping_add(1 << 40),
            Self::Entry(reg) => !Self::Register(reg).key(),
            Self::Memory(space, lane) => {
                u64::from(space.0) << 32 | u64::from(lane.map_or(0, |lane| lane + 1))
            }
        }
    }
}

/// Returns a number that depends on a storage and an address, in all bits.
pub(super) fn scatter(storage: u64, at: u64) -> u64 {
    // The SplitMix64 finalizer: every input bit affects every output bit.
    let mut bits = storage.wrapping_mul(0x9e37_79b9_7f4a_7c15) ^ at.wrapping_mul(0xd1b5_4a32_d192_ed03);
    bits = (bits ^ bits >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    bits = (bits ^ bits >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
    bits ^ bits >> 31
}
