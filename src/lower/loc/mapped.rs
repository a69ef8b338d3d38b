//! Locations that are PTX registers with generated names, because the number of one general register cannot say them:
//! [`Homes`](crate::lower::homes::Homes).

use super::expression::ExpressionWriter;
use super::fragments::Fragment;
use super::shared::At;
use crate::error::Result;
use crate::lower::homes::Words;
use crate::model::Node;
use crate::op::Reg;
use crate::target::SpaceId;
use crate::target::nvptx::class;

/// Bits of a word.
const WORD: u64 = 32;

/// A word's storage in the map.
#[derive(Debug, Clone, Copy)]
struct Home {
    class: u8,
    number: u32,
}

impl Home {
    fn packed(self) -> u32 {
        u32::from(self.class) << 24 | self.number
    }

    /// Returns the type of a register with this home as its only word: `b8`, `b16`, `b32` or `pred`.
    fn ty(self, bits: u64) -> u8 {
        match (self.class, bits) {
            (class::P | class::UP, _) => 16,
            (_, ..=8) => 0,
            (_, ..=16) => 1,
            _ => 2,
        }
    }
}

/// The type of a register with two words: `b64`.
const TWO_WORDS: u8 = 3;

/// Returns the register for the first `bits` bits of a location; `None` if they need none, or the map cannot have them.
pub(super) fn register(out: &mut ExpressionWriter<'_, '_>, root: At, bits: u64) -> Result<Option<Reg>> {
    register_from(out, Fragment { at: root, from: 0, bits, flip: 0 })
}

/// Returns the register for a fragment, as [`register`] does.
pub(super) fn register_from(out: &mut ExpressionWriter<'_, '_>, fragment: Fragment) -> Result<Option<Reg>> {
    let Some(homes) = &out.references.homes else { return Ok(None) };
    let has_spills = homes.has_spills;
    let words = match fragment.bits {
        1..=WORD => {
            let Some(home) = home(out, fragment, has_spills) else { return Ok(None) };
            // A general register has a plain number.
            if home.class == class::R {
                return Ok(None);
            }
            Words { low: home.packed(), high: None, ty: home.ty(fragment.bits) }
        }
        33..=64 => {
            let high = fragment.from.checked_add(WORD as i64);
            let high = high.map(|from| Fragment { from, bits: fragment.bits - WORD, ..fragment });
            let low = home(out, Fragment { bits: WORD, ..fragment }, has_spills);
            let high = high.and_then(|high| home(out, high, has_spills));
            let (Some(low), Some(high)) = (low, high) else { return Ok(None) };
            Words { low: low.packed(), high: Some(high.packed()), ty: TWO_WORDS }
        }
        _ => return Ok(None),
    };
    let consumer = out.context.consumer;
    let module = out.context.module;
    match &mut out.references.homes {
        Some(homes) => homes.register(words, consumer, module).map(Some),
        None => Ok(None),
    }
}

/// Returns the storage of up to a word, if the map can have it.
fn home(out: &ExpressionWriter<'_, '_>, word: Fragment, has_spills: bool) -> Option<Home> {
    let mut fragments = Vec::new();
    out.split().split(word, &mut fragments)?;
    match fragments[..] {
        [fragment] => storage(out, fragment, has_spills),
        // A predicate is a number of one bit.
        [predicate, rest] if predicate.bits == 1 && is_zero(out, rest.at) => {
            storage(out, predicate, has_spills).filter(|home| matches!(home.class, class::P | class::UP))
        }
        _ => None,
    }
}

/// Whether all bits of a location are known to be 0.
fn is_zero(out: &ExpressionWriter<'_, '_>, at: At) -> bool {
    match out.tree.node(at) {
        Node::Implicit(bytes) => bytes.iter().all(|byte| *byte == 0),
        _ => false,
    }
}

/// Returns the storage of a fragment.
fn storage(out: &ExpressionWriter<'_, '_>, fragment: Fragment, has_spills: bool) -> Option<Home> {
    let Fragment { at, from, bits, .. } = fragment;
    let node = out.tree.node(at);
    match node {
        Node::PerLane(reg) | Node::Register(reg) => {
            let register = out.context.module.target.register(reg)?;
            // The current lane's element, or the whole of a register that all lanes share.
            if register.is_vector() != matches!(node, Node::PerLane(_)) {
                return None;
            }
            let (kind, number) = class_of(reg)?;
            match (kind, from, bits) {
                (class::R, 0, _) | (class::UR, 0, _) | (class::CC, 0, _) => {
                    Some(Home { class: kind, number })
                }
                (class::P | class::UP, 0, 1..=8) => Some(Home { class: kind, number }),
                (class::R, 16, ..=16) => Some(Home { class: class::R_HALF, number: 2 * number + 1 }),
                (class::UR, 16, ..=16) => Some(Home { class: class::UR_HALF, number: 2 * number + 1 }),
                _ => None,
            }
        }
        Node::Memory(SpaceId::PRIVATE_LANE) if has_spills && from % 8 == 0 => {
            let (reg, by) = address(out, out.tree.last(at), from / 8)?;
            let by = u32::try_from(by).ok()?;
            match reg {
                None => (by < 1 << 24).then_some(Home { class: class::LOCAL, number: by }),
                Some(reg) => {
                    let number = u32::try_from(reg.0).ok().filter(|number| *number <= 0xff)?;
                    (by < 1 << 16).then_some(Home { class: class::SPILL, number: number << 16 | by })
                }
            }
        }
        _ => None,
    }
}

/// Splits a register's number into class and number within the class.
fn class_of(reg: Reg) -> Option<(u8, u32)> {
    const GENERAL: u64 = 0xff;
    match reg.0 {
        0..=GENERAL => Some((class::R, reg.0 as u32)),
        number @ 0x100_0000..=0xffff_ffff => Some(((number >> 24) as u8, number as u32 & 0xff_ffff)),
        _ => None,
    }
}

/// Splits an address in local memory into a general register, if there is one, and a number of bytes.
fn address(out: &ExpressionWriter<'_, '_>, at: At, by: i64) -> Option<(Option<Reg>, i64)> {
    match out.tree.node(at) {
        Node::Const(value) => Some((None, i64::try_from(value).ok()?.checked_add(by)?)),
        Node::Plus(more) => address(out, out.tree.last(at), by.checked_add(more)?),
        Node::Read(WORD_BITS) => match out.tree.node(out.tree.last(at)) {
            Node::PerLane(reg) => Some((Some(reg), by)),
            _ => None,
        },
        _ => None,
    }
}

const WORD_BITS: u32 = WORD as u32;
