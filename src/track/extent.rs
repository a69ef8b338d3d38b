//! Size and name of a place that exists in the target or in the code.

use core::ops::Range;

use super::code::Code;
use super::place::{Place, Storage};
use crate::error::{At, Error, ErrorKind, Quantity, Result};
use crate::op::Reg;

impl Code {
    /// Adds checked places to the list, and returns their indices and their size in bits.
    pub(super) fn add_places(&mut self, places: &[Place]) -> Result<((u32, u32), u64)> {
        let start = self.places.len() as u32;
        let mut bits = 0;
        for &place in places {
            let size = self.size(place)?;
            bits += u64::from(size);
            self.places.push(Place { bits: Some(size), ..place });
        }
        Ok(((start, self.places.len() as u32), bits))
    }

    /// Returns the size of a place in bits.
    pub(super) fn size(&self, place: Place) -> Result<u32> {
        self.known_size(place).map_err(|error| error.or_at(self.at_places(&[place])))
    }

    /// Returns the error location for pcs and their block.
    pub(super) fn at(&self, pcs: Range<u64>) -> At {
        let block = self.flow.blocks.iter().find(|block| block.contains(&pcs.start)).cloned();
        At { pcs: Some(pcs), block, ..At::default() }
    }

    /// Returns the error location for a pc and its block.
    pub(super) fn at_pc(&self, pc: u64) -> At {
        self.at(pc..pc.saturating_add(1))
    }

    /// Adds the block that contains an error's pcs to the error.
    pub(super) fn in_block(&self, error: Error) -> Error {
        let at = error.at().pcs.clone().map(|pcs| self.at(pcs));
        error.or_at(at.unwrap_or_default())
    }

    /// Returns the error location for places.
    pub(super) fn at_places(&self, places: &[Place]) -> At {
        At { place: (!places.is_empty()).then(|| self.texts(places)), ..At::default() }
    }

    fn known_size(&self, place: Place) -> Result<u32> {
        let target = &self.target;
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
            Storage::Compiler(index, _) if index as usize >= self.own.len() => {
                return Err(ErrorKind::UnknownId(format!("place {index} in this code")).into());
            }
            Storage::Stack | Storage::Compiler(..) => {
                let bits = place.bits.unwrap_or(32);
                let from = place.from.unsigned_abs();
                if from > 1 << 40 {
                    return Err(Error::limit(
                        Quantity::SlotOffset,
                        0..=1 << 37,
                        u128::from(from).div_ceil(8),
                    ));
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

    /// Returns the names of places that form one place.
    pub(super) fn texts(&self, places: &[Place]) -> String {
        places.iter().map(|&place| self.text(place)).collect::<Vec<_>>().join(" and ")
    }

    /// Returns the name of a place: `s4`, `v3`, `v40 lane 7`, `stack slot 16`.
    pub(super) fn text(&self, place: Place) -> String {
        let name = |reg| match self.target.register(reg) {
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
}
