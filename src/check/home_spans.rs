//! Spans in PTX registers as spans in their [homes](super::homes).

use super::asked::Asked;
use super::machine::Stopped;
use crate::eval::{ImplicitBits, Machine, SingleLocation, Span, Storage};
use crate::op::Reg;
use crate::read::nvidia::Home;
use crate::target::nvptx::class;
use crate::target::{SpaceId, Target};

/// Bits of a PTX register in each lane, and of a word.
const LANE: u128 = 64;
const WORD: u128 = 32;

/// Replaces PTX registers in spans by their homes at the machine's pc. A word without a home is nowhere.
pub(super) fn in_homes(spans: Vec<Span>, machine: &Stopped<'_, '_>, asked: &Asked) -> Vec<Span> {
    let is_ptx = |place: &SingleLocation| packed_name(machine.target, &place.storage).is_some();
    if machine.homes.is_none() || !spans.iter().any(|span| span.places.iter().any(is_ptx)) {
        return spans;
    }
    asked.position.set(true);
    let mut replaced = Vec::new();
    for span in spans {
        let mut done = 0;
        while done < span.bits {
            // Up to the next bit at which a home can end: a predicate has one bit, a half 16, a word 32.
            let rest = |place: &SingleLocation| {
                if !is_ptx(place) {
                    return span.bits - done;
                }
                let bit = (place.offset + done) % WORD;
                [1, WORD / 2, WORD].into_iter().find(|end| bit < *end).unwrap_or(WORD) - bit
            };
            let bits = span.places.iter().map(rest).min().unwrap_or(span.bits).min(span.bits - done);
            let places = span.places.iter().map(|place| {
                let moved = SingleLocation { storage: place.storage.clone(), offset: place.offset + done };
                if is_ptx(place) { home(&moved, machine).unwrap_or_else(nowhere) } else { moved }
            });
            let mut places: Vec<SingleLocation> = places.collect();
            places.sort_unstable();
            places.dedup();
            replaced.push(Span { bits, places });
            done += bits;
        }
    }
    replaced
}

fn nowhere() -> SingleLocation {
    SingleLocation { storage: Storage::Undefined, offset: 0 }
}

/// Name of a PTX register of the innermost frame.
fn packed_name(target: &Target, storage: &Storage) -> Option<String> {
    let Storage::Register { reg, frame: 0, .. } = storage else { return None };
    let register = target.register(*reg).filter(|register| register.is_packed())?;
    Some(register.name().to_string())
}

/// Returns the home of a bit in a PTX register.
fn home(place: &SingleLocation, machine: &Stopped<'_, '_>) -> Option<SingleLocation> {
    let target = machine.target;
    let name = packed_name(target, &place.storage)?;
    let (function, pc) = machine.homes?.at(machine.pc?)?;
    let word = (place.offset % LANE / WORD) as u32;
    let lane = place.offset / LANE;
    let bit = place.offset % WORD;
    let is_short = word == 1 && function.homes_of(name.as_bytes(), 1).next().is_none();
    let zero = || SingleLocation { storage: Storage::Implicit(ImplicitBits::new(&[0; 4], 32)), offset: 0 };
    if is_short {
        // A register of 32 bits: its upper word is 0.
        return Some(zero());
    }
    let home = function.home(name.as_bytes(), word, pc)?;
    let number = home.number();
    let in_register = |name: String, from: u128| {
        let register = target.register(target.register_named(&name).ok()?)?;
        let first = if register.is_vector() { lane * u128::from(register.lane_bits()) } else { 0 };
        let storage = Storage::Register { reg: register.reg, frame: 0, bits: register.bits };
        Some(SingleLocation { storage, offset: first + from })
    };
    let in_memory = |address: u64| {
        let space = target.space(SpaceId::PRIVATE_LANE)?;
        let storage = Storage::Memory {
            space: space.id,
            address_bits: space.address_bits,
            lane: Some(u32::try_from(lane).ok()?),
        };
        let address = u128::from(address) % (1 << space.address_bits);
        Some(SingleLocation { storage, offset: 8 * address + bit })
    };
    match home.class() {
        class::P | class::UP if bit > 0 => Some(zero()),
        class::R_HALF | class::UR_HALF if bit >= WORD / 2 => None,
        class::R | class::P | class::UR | class::UP | class::CC => in_register(text(home), bit),
        class::R_HALF => in_register(format!("R{}", number / 2), WORD / 2 * u128::from(number % 2) + bit),
        class::UR_HALF => in_register(format!("UR{}", number / 2), WORD / 2 * u128::from(number % 2) + bit),
        class::LOCAL => in_memory(number.into()),
        class::SPILL => {
            let mut base = [0; 4];
            let reg = Reg((number >> 16).into());
            machine.register(reg, 0, u32::try_from(4 * lane).ok()?, &mut base).ok()?;
            in_memory(u64::from(u32::from_le_bytes(base)) + u64::from(number & 0xffff))
        }
        _ => None,
    }
}

/// Register name of a home.
fn text(home: Home) -> String {
    if home.class() == class::CC { "CC".into() } else { home.to_string() }
}
