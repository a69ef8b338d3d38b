//! History of storage: the nearest instruction that writes a place, or assignment, along the wave's edges.

use core::ops::Range;
use std::collections::VecDeque;

use super::code::Code;
use super::facts::{Effect, EffectKind};
use super::place::Storage;

/// The nearest write of storage, or assignment to a variable.
#[derive(Debug, Clone)]
pub(super) struct Event {
    pub(super) pc: u64,
    pub(super) end: u64,
    /// The effect of an instruction; `None` for an assignment.
    pub(super) with: Option<String>,
    /// Blocks between, in the order of execution.
    pub(super) path: Vec<Range<u64>>,
}

/// The blocks of the code, with the wave's edges in both directions.
pub(super) struct Blocks<'c> {
    code: &'c Code,
    /// First pc of each block, sorted.
    starts: Vec<(u64, usize)>,
    next: Vec<Vec<usize>>,
    before: Vec<Vec<usize>>,
}

impl<'c> Blocks<'c> {
    pub(super) fn new(code: &'c Code) -> Self {
        let blocks = &code.flow.blocks;
        let mut starts: Vec<(u64, usize)> =
            blocks.iter().enumerate().map(|(at, pcs)| (pcs.start, at)).collect();
        starts.sort_unstable();
        let (mut next, mut before) = (vec![Vec::new(); blocks.len()], vec![Vec::new(); blocks.len()]);
        for &(from, to) in &code.flow.edges {
            next[from].push(to);
            before[to].push(from);
        }
        Self { code, starts, next, before }
    }

    fn at(&self, pc: u64) -> Option<usize> {
        let after = self.starts.partition_point(|&(start, _)| start <= pc);
        let (_, block) = *self.starts[..after].last()?;
        self.code.flow.blocks[block].contains(&pc).then_some(block)
    }
}

/// Events of one storage and variable, in the order of their ends.
pub(super) struct History(Vec<Event>);

impl History {
    pub(super) fn new(code: &Code, claimed: &[Storage], variable: Option<usize>) -> Self {
        let is_claimed = |of: Storage| claimed.iter().any(|&one| is_shared(one, of));
        let mut events = Vec::new();
        for one in &code.instructions {
            let effects = &code.effects[one.effects.0 as usize..one.effects.1 as usize];
            let writes = |effect: &&Effect| {
                let to = &code.places[effect.to.0 as usize..effect.to.1 as usize];
                to.iter().any(|place| is_claimed(place.of))
            };
            // The last effect is the one that remains.
            if let Some(effect) = effects.iter().rfind(writes) {
                let (pc, end) = (one.pcs.0.into(), one.pcs.1.into());
                events.push(Event { pc, end, with: Some(text(code, effect)), path: Vec::new() });
            }
        }
        for one in code.assigned.iter().filter(|one| Some(one.variable as usize) == variable) {
            events.push(Event { pc: one.pc.into(), end: one.pc.into(), with: None, path: Vec::new() });
        }
        // An assignment behind an instruction assigns the value that the instruction wrote.
        events.sort_by_key(|event| (event.end, event.with.is_some(), event.pc));
        Self(events)
    }

    /// Returns the last event before a pc.
    pub(super) fn before(&self, blocks: &Blocks<'_>, pc: u64) -> Option<Event> {
        let all = &blocks.code.flow.blocks;
        let last = |pcs: Range<u64>| {
            let ended = self.0.partition_point(|event| event.end <= pcs.end);
            self.0[..ended].last().filter(|event| pcs.start <= event.pc)
        };
        let start = blocks.at(pc)?;
        if let Some(event) = last(all[start].start..pc) {
            return Some(Event { path: vec![all[start].clone()], ..event.clone() });
        }
        let mut to: Vec<Option<usize>> = vec![None; all.len()];
        let mut open: VecDeque<usize> = [start].into();
        while let Some(block) = open.pop_front() {
            for &from in &blocks.before[block] {
                if to[from].is_some() {
                    continue;
                }
                to[from] = Some(block);
                if let Some(event) = last(all[from].clone()) {
                    let next = |&at: &usize| if at == start { None } else { to[at] };
                    // The first block may be the last one, too, around a loop.
                    let path = core::iter::once(from).chain(core::iter::successors(to[from], next));
                    return Some(Event { path: path.map(|at| all[at].clone()).collect(), ..event.clone() });
                }
                open.push_back(from);
            }
        }
        None
    }

    /// Returns the first write from a pc on.
    pub(super) fn ahead(&self, blocks: &Blocks<'_>, pc: u64) -> Option<Event> {
        let all = &blocks.code.flow.blocks;
        let first = |pcs: Range<u64>| {
            let rest = &self.0[self.0.partition_point(|event| event.end <= pcs.start)..];
            let mut here = rest.iter().take_while(|event| event.pc < pcs.end);
            here.find(|event| event.with.is_some() && pcs.start <= event.pc)
        };
        let start = blocks.at(pc)?;
        let mut from: Vec<Option<usize>> = vec![None; all.len()];
        let mut open: VecDeque<usize> = [start].into();
        while let Some(block) = open.pop_front() {
            let pcs = all[block].start.max(if block == start { pc } else { 0 })..all[block].end;
            if let Some(event) = first(pcs) {
                let back = |&at: &usize| if at == start { None } else { from[at] };
                let mut path: Vec<usize> = core::iter::successors(Some(block), back).collect();
                path.reverse();
                return Some(Event {
                    path: path.into_iter().map(|at| all[at].clone()).collect(),
                    ..event.clone()
                });
            }
            for &next in &blocks.next[block] {
                if next != start && from[next].is_none() {
                    from[next] = Some(block);
                    open.push_back(next);
                }
            }
        }
        None
    }
}

/// Whether a write of one storage changes another.
fn is_shared(one: Storage, other: Storage) -> bool {
    match (one, other) {
        (Storage::Row(a), Storage::Lane(b, _)) | (Storage::Lane(a, _), Storage::Row(b)) => a == b,
        (Storage::Bits(a), Storage::Register(b)) | (Storage::Register(a), Storage::Bits(b)) => a == b,
        _ => one == other,
    }
}

fn text(code: &Code, effect: &Effect) -> String {
    match effect.kind {
        EffectKind::Copy | EffectKind::CopyUniform | EffectKind::Move(_) => {
            let from = &code.places[effect.from.0 as usize..effect.from.1 as usize];
            let names: Vec<String> = from.iter().map(|&place| code.text(place)).collect();
            format!("copied from {}", names.join(", "))
        }
        EffectKind::Define(value) => format!("defined as value {}", value.0),
        EffectKind::Redefine(value) => format!("computed again as value {}", value.0),
        EffectKind::Clobber => "with nothing known".into(),
    }
}
