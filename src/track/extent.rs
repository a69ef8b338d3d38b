//! Sizes and names of places in the target or in the code.

use super::place::{Place, Storage};
use crate::error::{Error, ErrorKind, Quantity, Result};
use crate::op::Reg;
use crate::target::Target;

/// Returns a place's size in bits. The code declares `own` places.
pub(super) fn size(target: &Target, own: usize, place: Place) -> Result<u32> {
    let register = |reg: Reg| target.register(reg).ok_or_else(|| target.unknown_register(reg));
    let has = match place.storage {
        Storage::Register(reg) | Storage::Bits(reg) => {
            let register = register(reg)?;
            if register.is_vector() {
                return Err(Error::bad_argument(format!(
                    "`{}` is a vector register; expected one lane (`lane`) or all lanes (`per_lane`)",
                    register.name()
                )));
            }
            // A mask's bit belongs to one lane.
            if matches!(place.storage, Storage::Bits(_)) { 1 } else { register.bits }
        }
        Storage::Row(reg) | Storage::Lane(reg, _) => {
            let register = register(reg)?;
            if !register.is_vector() {
                return Err(Error::bad_argument(format!(
                    "`{}` is a scalar register; expected a vector register",
                    register.name()
                )));
            }
            if let Storage::Lane(_, lane) = place.storage
                && lane >= register.lanes
            {
                let wave = register.lanes.into();
                return Err(ErrorKind::LaneOutOfWave { lane: lane.into(), wave }.into());
            }
            register.lane_bits()
        }
        Storage::Compiler(index, _) if index as usize >= own => {
            return Err(ErrorKind::UnknownId(format!("place {index} in this code")).into());
        }
        Storage::Stack | Storage::Compiler(..) => {
            let bits = place.bits.unwrap_or(32);
            // A slot can be below the base, so that its offset is negative.
            let from = place.from.unsigned_abs();
            if from > 1 << 40 {
                return Err(Error::limit(Quantity::SlotOffset, 0..=1 << 37, u128::from(from).div_ceil(8)));
            }
            if bits == 0 {
                return Err(Error::limit(Quantity::PlaceBits, 1..=u128::MAX, 0));
            }
            return Ok(bits);
        }
    };
    let bits = place.bits.unwrap_or(has);
    let end = place.from.saturating_add(bits.into());
    if bits == 0 || place.from < 0 || end > has.into() {
        let needs = end.max(0) as u64;
        return Err(ErrorKind::DoesNotFit { what: "the place".into(), needs, has: has.into() }.into());
    }
    Ok(bits)
}

/// Returns a place's name: `s4`, `v3`, `v40 lane 7`, `stack slot 16`.
pub(super) fn text(target: &Target, place: Place) -> String {
    let name = |reg| match target.register(reg) {
        Some(register) => register.name().to_string(),
        None => format!("register {}", reg.0),
    };
    let name = match place.storage {
        Storage::Register(reg) | Storage::Row(reg) => name(reg),
        Storage::Lane(reg, lane) => format!("{} lane {lane}", name(reg)),
        Storage::Bits(reg) => format!("the lane's bit of {}", name(reg)),
        Storage::Stack if place.from % 8 == 0 => return format!("stack slot {}", place.from / 8),
        Storage::Stack => return format!("bit {} of the stack", place.from),
        Storage::Compiler(index, _) => format!("own place {index}"),
    };
    if place.from == 0 { name } else { format!("{name} from bit {}", place.from) }
}

/// Returns a constant's name, from its bytes in memory.
pub(super) fn constant_text(bytes: &[u8]) -> String {
    let digits: String = bytes.iter().rev().map(|byte| format!("{byte:02x}")).collect();
    format!("constant 0x{digits}")
}
