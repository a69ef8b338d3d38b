//! Variables in PTX registers, whose homes are their locations.

use core::ops::Range;

use super::form::ImportedExpressions;
use super::homes::{Homes, INSTRUCTION, MAP, TYPES, at_pc};
use super::importer::{Importer, Place};
use super::unimported::UnimportedReason;
use crate::model::{Loc, Node};
use crate::op::Reg;

/// A location at some pcs, or the reason why it is not imported.
type Placed = (Range<u64>, core::result::Result<Loc, UnimportedReason>);

impl<'d, 'o> Importer<'d, 'o> {
    /// Returns what a variable's location is at the pcs of a range, where it is in PTX registers; `None` if it is in none.
    pub(super) fn homes_of(
        &mut self,
        around: &Place<'o>,
        pcs: &Range<u64>,
        loc: &Loc,
        bits: Option<u64>,
    ) -> Option<Vec<Placed>> {
        if self.homes.functions.is_empty() || self.expressions.form != ImportedExpressions::Typed {
            return None;
        }
        let index = around.base.and_then(|base| self.homes.by_address.get(&base).copied())?;
        let mut registers: Vec<(Reg, String)> = loc
            .nodes()
            .filter_map(|node| match node {
                Node::PerLane(reg) | Node::Register(reg) => Some(reg),
                _ => None,
            })
            .filter_map(|reg| self.target.register(reg).filter(|register| register.is_packed()))
            .map(|register| (register.reg, register.name().to_string()))
            .collect();
        if registers.is_empty() {
            return None;
        }
        registers.sort_unstable();
        registers.dedup();
        let Homes { functions, used, room, .. } = &mut self.homes;
        let function = &functions[index];
        let mut bounds = vec![pcs.start, pcs.end];
        for (reg, name) in &registers {
            used.insert((index, *reg));
            for home in function.homes_of_words(name.as_bytes()) {
                let Some(left) = room.checked_sub(1) else {
                    return Some(vec![(pcs.clone(), Err(UnimportedReason::TooManyLocations))]);
                };
                *room = left;
                let ends = [u64::from(home.start), u64::from(home.end) + INSTRUCTION];
                bounds.extend(ends.into_iter().filter(|pc| pcs.contains(pc)));
            }
        }
        bounds.sort_unstable();
        bounds.dedup();
        // Each piece looks at the homes of each node again.
        let looks = bounds.len().saturating_mul(bounds.len().max(loc.nodes().count()));
        let Some(left) = room.checked_sub(looks) else {
            return Some(vec![(pcs.clone(), Err(UnimportedReason::TooManyLocations))]);
        };
        *room = left;
        let mut placed: Vec<Placed> = Vec::new();
        for bound in bounds.windows(2) {
            let Some(result) = at_pc(function, &registers, loc, bits, bound[0]) else { continue };
            match (placed.last_mut(), &result) {
                (Some((last, Ok(known))), Ok(loc)) if last.end == bound[0] && known == loc => {
                    last.end = bound[1]
                }
                _ => placed.push((bound[0]..bound[1], result)),
            }
        }
        Some(placed)
    }

    /// Lists the homes that are no variable's location, and the types of registers.
    pub(super) fn other_homes(&mut self) {
        let homes = core::mem::take(&mut self.homes);
        let mut offset = 0;
        for (function, index) in homes.functions.iter().zip(0..) {
            let is_used = |register: &[u8]| {
                let reg = core::str::from_utf8(register)
                    .ok()
                    .and_then(|name| self.target.register_named(name).ok());
                reg.is_some_and(|reg| homes.used.contains(&(index, reg)))
            };
            let unused = function.homes().iter().filter(|home| !is_used(home.register)).count();
            if unused > 0 {
                self.list_in(MAP, offset, UnimportedReason::RegisterHomes(unused));
            }
            // A function has its name and a number; a home has four numbers and a name.
            offset += (function.name.len() + 5) as u64;
            offset += function.homes().iter().map(|home| 17 + home.register.len() as u64).sum::<u64>();
        }
        if homes.has_types {
            self.list_in(TYPES, 0, UnimportedReason::RegisterTypes);
        }
    }
}
