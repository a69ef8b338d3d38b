//! Variables in PTX registers, whose homes are their locations.

use core::ops::Range;

use super::form::ImportedExpressions;
use super::homes::{Homes, INSTRUCTION, MAP, TYPES, at_pc};
use super::importer::{Importer, Made, Place};
use super::unimported::{UnimportedFact, UnimportedReason};
use crate::model::{Loc, Node};
use crate::op::{Decoder, Op, Reg};

/// Simultaneous locations at some pcs, or the reason why a location is not imported.
type Placed = (Range<u64>, core::result::Result<Vec<Loc>, UnimportedReason>);

impl<'d, 'o> Importer<'d, 'o> {
    /// Returns what a variable's locations are at the pcs of a range, where it is in PTX registers; `None` if it is in none.
    pub(super) fn homes_of(
        &mut self,
        around: &Place<'o>,
        pcs: &Range<u64>,
        locs: &[Loc],
        bits: Option<u64>,
    ) -> Option<Vec<Placed>> {
        if !self.has_homes() {
            return None;
        }
        let mut registers = Vec::new();
        for loc in locs {
            registers.extend(self.ptx_registers(loc));
        }
        registers.sort_unstable();
        registers.dedup();
        let (first, _) = registers.first()?;
        // What else reads a register has no home to read.
        let has_homes = |node: &Node<'_>| matches!(node, Node::PerLane(_) | Node::Register(_));
        let is_replaced = |node: Node<'_>| has_homes(&node) || self.registers_in(node).is_empty();
        if !locs.iter().all(|loc| loc.nodes().all(is_replaced)) {
            return Some(vec![(pcs.clone(), Err(self.ptx_register(*first)))]);
        }
        let names = || registers.iter().map(|(_, name)| &**name).collect::<Vec<_>>().join(", ");
        let nowhere = |names| vec![(pcs.clone(), Err(UnimportedReason::NoRegisterHome(names)))];
        let index = around.base.and_then(|base| self.homes.by_address.get(&base).copied());
        let Some(index) = index else { return Some(nowhere(names())) };
        let Homes { map, used, room, .. } = &mut self.homes;
        let function = &map.functions[index];
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
        let nodes: usize = locs.iter().map(|loc| loc.nodes().count()).sum();
        let looks = bounds.len().saturating_mul(bounds.len().max(nodes));
        let Some(left) = room.checked_sub(looks) else {
            return Some(vec![(pcs.clone(), Err(UnimportedReason::TooManyLocations))]);
        };
        *room = left;
        let mut placed: Vec<Placed> = Vec::new();
        for bound in bounds.windows(2) {
            let at_bound = locs.iter().filter_map(|loc| at_pc(function, &registers, loc, bits, bound[0]));
            let result: core::result::Result<Vec<Loc>, UnimportedReason> = at_bound.collect();
            match (placed.last_mut(), &result) {
                (_, Ok(locs)) if locs.is_empty() => {}
                (Some((last, Ok(known))), Ok(locs)) if last.end == bound[0] && known == locs => {
                    last.end = bound[1]
                }
                _ => placed.push((bound[0]..bound[1], result)),
            }
        }
        Some(if placed.is_empty() { nowhere(names()) } else { placed })
    }

    /// Refuses a location with PTX registers that is not a variable's at known pcs: it has no homes.
    pub(super) fn without_ptx_registers(&self, loc: Loc) -> Made<Loc> {
        if !self.has_homes() {
            return Ok(loc);
        }
        match self.ptx_registers(&loc).first() {
            Some((reg, _)) => Err(self.ptx_register(*reg)),
            None => Ok(loc),
        }
    }

    /// Whether homes are imported instead of PTX registers.
    fn has_homes(&self) -> bool {
        !self.homes.map.functions.is_empty() && self.expressions.form == ImportedExpressions::Typed
    }

    fn ptx_register(&self, reg: Reg) -> UnimportedReason {
        let name = self.target.register(reg).map_or_else(String::new, |register| register.name().to_string());
        UnimportedReason::PtxRegister(name)
    }

    /// Returns the PTX registers in a location, with their names.
    fn ptx_registers(&self, loc: &Loc) -> Vec<(Reg, String)> {
        loc.nodes()
            .flat_map(|node| self.registers_in(node))
            .filter_map(|reg| Some((reg, self.target.register(reg)?.name().to_string())))
            .collect()
    }

    /// Returns the PTX registers in a node.
    fn registers_in(&self, node: Node<'_>) -> Vec<Reg> {
        let mut registers = match node {
            Node::PerLane(reg)
            | Node::Register(reg)
            | Node::Lane(reg, _)
            | Node::ReadRegister(reg)
            | Node::EntryRegister(reg) => vec![reg],
            Node::Expr(expr) => {
                let mut registers = Vec::new();
                let encoding = self.info.encoding;
                let mut open = vec![self.m.described().expr(expr).0.bytes()];
                while let Some(bytes) = open.pop() {
                    for decoded in Decoder::new(bytes, encoding).map_while(Result::ok) {
                        match decoded.op {
                            Op::RegX { reg }
                            | Op::BregX { reg, .. }
                            | Op::RegvalType { reg, .. }
                            | Op::CallFrameEntryReg { reg }
                            | Op::AspaceBregX { reg, .. } => registers.push(reg),
                            Op::EntryValue { expr } => open.push(expr),
                            _ => {}
                        }
                    }
                }
                registers
            }
            _ => Vec::new(),
        };
        let is_packed = |reg: &Reg| self.target.register(*reg).is_some_and(|register| register.is_packed());
        registers.retain(is_packed);
        registers
    }

    /// Lists the homes that are no variable's location, and the types of registers.
    pub(super) fn other_homes(&mut self) {
        let homes = core::mem::take(&mut self.homes);
        let parts = homes.map.functions.iter().zip(&homes.map.parts);
        for ((function, part), index) in parts.zip(0..) {
            let is_used = |register: &[u8]| {
                let reg = core::str::from_utf8(register)
                    .ok()
                    .and_then(|name| self.target.register_named(name).ok());
                reg.is_some_and(|reg| homes.used.contains(&(index, reg)))
            };
            let unused = function.homes().iter().filter(|home| !is_used(home.register)).count();
            if unused > 0 {
                let fact = UnimportedFact::new(MAP, part.start, UnimportedReason::RegisterHomes(unused));
                self.list_fact(UnimportedFact { function: Some(function.name().into()), ..fact }, &[]);
            }
        }
        if homes.has_types {
            self.list_fact(UnimportedFact::new(TYPES, 0, UnimportedReason::RegisterTypes), &[]);
        }
    }
}
