//! Converts statements to operations on storage and variable parts, by graph node.

use core::ops::Range;

use hashbrown::HashMap;

use super::code::CodeEffects;
use super::division::{Cuts, Piece, Whole, after, each_pair, value_piece};
use super::facts::{Assigned, Effect, EffectKind, Instructed, Source, ValueId, ValueKind};
use super::graph::{Graphs, block_text};
use super::place::Storage;
use super::program::{From, Group, Kind, Op, Program, To, check};
use crate::build::{BlockId, ExecWrite};
use crate::error::{Aligned, Error, ErrorKind, Ranges, Result};

/// The lanes in which an effect happens.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Lanes {
    Active,
    /// Inactive lanes, too: whole-wave code.
    All,
}

pub(super) struct Lower<'c> {
    code: &'c CodeEffects,
    cuts: &'c Cuts,
    graphs: &'c Graphs,
    pub(super) program: Program,
    constant_ids: HashMap<(i64, Vec<u8>), u32>,
    /// Each block parameter's first place, and its number of parts.
    merged: Vec<(u32, u32)>,
    /// Other storage that shares bits or lanes with a storage.
    overlaps: HashMap<u32, Vec<u32>>,
}

impl<'c> Lower<'c> {
    pub(super) fn new(code: &'c CodeEffects, cuts: &'c Cuts, graphs: &'c Graphs) -> Result<Self> {
        let [stored, values, variables] = cuts.counts();
        let mut is_row = Vec::with_capacity(stored as usize);
        for (id, storage) in (0..).zip(&cuts.storages) {
            let parts = cuts.parts_of(code, Whole::Storage(id)).len();
            is_row.extend(core::iter::repeat_n(storage.is_row(), parts));
        }
        let mut merged = Vec::new();
        let mut next = stored;
        for &(_, value) in &code.merged {
            let parts = cuts.parts_of(code, Whole::Value(value.0)).len() as u32;
            merged.push((next, parts));
            next += 2 * parts;
        }
        [next as usize + variables as usize, values as usize, graphs.waits.len()]
            .into_iter()
            .try_for_each(check)?;
        let first_variable = next;
        let places = next + variables;
        let step = code.target.min_instruction_bytes();
        let mut program = Program {
            is_row,
            stored,
            first_variable,
            places,
            values,
            news: values,
            step,
            ..Program::default()
        };
        // Reserve exactly, because a growing list would have up to twice the capacity.
        let merged_count = code.merged.len();
        let others = code.assigned.len() + code.incoming.len();
        program.ops.reserve_exact(code.places.len() + 2 * merged_count + others);
        let groups = 1 + code.instructions.len() + merged_count + others;
        program.groups.reserve_exact(groups + graphs.waits.len() + 3 * graphs.skips.len());
        let overlaps = overlaps(cuts);
        let constant_ids = HashMap::new();
        let mut lower = Self { code, cuts, graphs, program, constant_ids, merged, overlaps };
        lower.statements()?;
        Ok(lower)
    }

    /// Adds all of the code's statements, and sorts them by node.
    fn statements(&mut self) -> Result<()> {
        let code = self.code;
        for effect in &code.entries {
            self.effect(effect, Lanes::Active);
        }
        self.group(0, 0..0, Kind::Instruction, 0)?;
        self.instructions()?;
        for assigned in &code.assigned {
            let Some(node) = self.graphs.assignment_node(assigned.pc) else {
                let what = format!("assignment at pc {:#x} is not at an instruction in a block", assigned.pc);
                return Err(Error::bad_argument(what).or_at(code.at_pc(assigned.pc.into())));
            };
            let start = self.program.end();
            self.assign(assigned);
            self.group(node, assigned.pc..assigned.pc, Kind::Assign, start)?;
        }
        self.merges()?;
        for (index, wait) in self.graphs.waits.iter().enumerate() {
            if let Some(node) = self.graphs.instruction_node(wait.pc) {
                self.program.wait(node, wait.pc..self.end_of(wait.pc), index as u32);
            }
        }
        // The sort is stable, so that assignments at the same pc stay in call order.
        let sorted = |group: &Group| (group.node, group.start, group.kind());
        if !self.program.groups.is_sorted_by_key(sorted) {
            self.program.groups.sort_by_key(sorted);
        }
        let mut next = 0;
        for node in 0..=self.graphs.segments.len() as u32 {
            let start = next;
            while self.program.groups.get(next as usize).is_some_and(|group| group.node == node) {
                next += 1;
            }
            self.program.node_groups.push(start..next);
        }
        Ok(())
    }

    /// Returns where the instruction at a pc ends.
    fn end_of(&self, pc: u32) -> u32 {
        let groups = &self.program.groups;
        // Instructions are the first groups, in pc order.
        let index = groups.partition_point(|group| group.kind().is_instruction() && group.end <= pc);
        let known = groups.get(index).filter(|group| group.kind().is_instruction() && group.start == pc);
        let write = self.graphs.instruction_node(pc).map(|node| self.graphs.segment(node));
        let write = write.filter(|segment| segment.write.is_some() && segment.start == pc);
        let end = known.map(|group| group.end).or(write.map(|segment| segment.end));
        end.unwrap_or(pc.saturating_add(u32::from(self.code.target.min_instruction_bytes())))
    }

    fn instructions(&mut self) -> Result<()> {
        let code = self.code;
        let mut order: Vec<u32> = (0..code.instructions.len() as u32).collect();
        order.sort_by_key(|&index| code.instructions[index as usize].pcs);
        // Instructions are sorted, so that only the previous one can overlap.
        let mut last = 0..0;
        for index in order {
            let Instructed { pcs: (start, end), effects, all_lanes, is_several } =
                code.instructions[index as usize];
            let error = |error: Error| {
                let first =
                    code.effects.get(effects.0 as usize..effects.1 as usize).unwrap_or_default().first();
                let to = first.map_or((0, 0), |effect| effect.to);
                let places = &code.places[to.0 as usize..to.1 as usize];
                error.or_at(code.at_places(places)).or_at(code.at_pcs(start.into()..end.into()))
            };
            let step = u32::from(code.target.min_instruction_bytes());
            if start >= end {
                return Err(error(ErrorKind::EmptyRange.into()));
            }
            if start % step != 0 || end % step != 0 {
                let kind = Aligned::Instruction;
                let value = if start % step != 0 { start } else { end }.into();
                return Err(error(ErrorKind::Misaligned { kind, step: step.into(), value }.into()));
            }
            if u64::from(start) < last.end {
                let kind = ErrorKind::OverlappingRanges { kind: Ranges::Instruction, other: last };
                return Err(error(kind.into()));
            }
            last = start.into()..end.into();
            // An EXEC write is a segment of its own, which an instruction must match exactly.
            let fits = |node: &u32| {
                let segment = self.graphs.segment(*node);
                match segment.write {
                    Some(_) => (segment.start, segment.end) == (start, end),
                    None => end <= segment.end,
                }
            };
            let node = self.graphs.instruction_node(start);
            let Some(node) = node.filter(fits) else {
                let pcs = format!("instruction {start:#x}..{end:#x}");
                let what = match node {
                    None => format!("{pcs} is outside all blocks"),
                    Some(_) => format!("{pcs} crosses the end of a block or overlaps an EXEC write"),
                };
                return Err(error(Error::bad_argument(what)));
            };
            let first = self.program.end();
            let lanes = if all_lanes { Lanes::All } else { Lanes::Active };
            for effect in &code.effects[effects.0 as usize..effects.1 as usize] {
                self.effect(effect, lanes);
            }
            let kind = if is_several { Kind::Instructions } else { Kind::Instruction };
            self.group(node, start..end, kind, first)?;
        }
        Ok(())
    }

    /// Adds a group with the operations from `first` on.
    fn group(&mut self, node: u32, pcs: Range<u32>, kind: Kind, first: u32) -> Result<()> {
        self.program.group(node, pcs, kind, first..self.program.end())
    }

    fn effect(&mut self, effect: &Effect, lanes: Lanes) {
        let to = self.cuts.pieces(self.code, effect.to);
        match effect.kind {
            EffectKind::Define(value) => {
                let value_bits = value_piece(self.code, value);
                if to.is_empty() {
                    // A value without places still has a definition that assignments can refer to.
                    self.cuts
                        .parts(value_bits)
                        .for_each(|part| self.program.push(To::Value(part), From::New(part)));
                }
                self.pairs(&to, &[value_bits], lanes, |_, part| From::New(part));
                self.rest(&to, value_bits.bits, lanes);
            }
            EffectKind::Redefine(value) => {
                let value_bits = value_piece(self.code, value);
                let kind = self.code.values[value.0 as usize].kind;
                let parts = self.value(value, kind);
                let first = self.cuts.parts(value_bits).start;
                self.pairs(&to, &[value_bits], lanes, |_, part| parts[(part - first) as usize]);
                self.rest(&to, value_bits.bits, lanes);
            }
            EffectKind::Copy | EffectKind::CopyUniform => {
                let from = self.cuts.pieces(self.code, effect.from);
                self.pairs(&to, &from, lanes, |_, part| From::Place(part));
            }
            EffectKind::Move(value) => {
                // The value's parts name the old contents, which the new places then share.
                let from = self.cuts.pieces(self.code, effect.from);
                each_pair(&[value_piece(self.code, value)], &from, |value, from| {
                    for (part, place) in self.cuts.parts(value).zip(self.cuts.parts(from)) {
                        let to = To::Value(part);
                        let from = From::Place(place);
                        self.program.push(to, from);
                    }
                });
                self.pairs(&to, &from, lanes, |_, part| From::Place(part));
            }
            EffectKind::Clobber => self.rest(&to, 0, lanes),
        }
    }

    /// Writes to each part of `to` what `from` returns for the matching part of `others`.
    fn pairs(&mut self, to: &[Piece], others: &[Piece], lanes: Lanes, from: impl Fn(&Self, u32) -> From) {
        each_pair(to, others, |to, other| {
            let parts = self.cuts.parts(to).zip(self.cuts.parts(other));
            for (place, part) in parts {
                let from = from(self, part);
                self.write(to.whole, place, Some(from), lanes);
            }
        });
    }

    /// Overwrites what places contain after the first `bits` bits.
    fn rest(&mut self, to: &[Piece], bits: i64, lanes: Lanes) {
        for piece in after(to, bits) {
            for place in self.cuts.parts(piece) {
                self.write(piece.whole, place, None, lanes);
            }
        }
    }

    /// Writes a storage part. Other storage that shares its bits changes, too.
    fn write(&mut self, whole: Whole, place: u32, from: Option<From>, lanes: Lanes) {
        let Whole::Storage(storage) = whole else { return };
        let is_row = self.cuts.storages[storage as usize].is_row();
        let is_bits = matches!(self.cuts.storages[storage as usize], Storage::Bits(_));
        // An instruction writes a mask for all lanes, so that its bits change in waiting lanes as well.
        let is_masked = is_row && lanes == Lanes::Active && !is_bits;
        let new = from.unwrap_or_else(|| self.program.new_source());
        self.program.ops.push(Op::new(To::Place(place), new, is_masked));
        let Some(overlaps) = self.overlaps.get(&storage) else { return };
        for other in overlaps.clone() {
            // A lane's cell receives what all lanes receive.
            let is_cell = matches!(self.cuts.storages[other as usize], Storage::Lane(..));
            let of_wave = match from {
                // A block parameter can differ between lanes.
                Some(From::Place(from)) => self.program.is_row.get(from as usize) == Some(&false),
                Some(From::Constant(_)) => true,
                _ => false,
            };
            let other_parts = self.cuts.parts(self.piece(other));
            let is_alike = other_parts.len() == 1 && self.cuts.parts(self.piece(storage)).len() == 1;
            for part in other_parts {
                let from = match from {
                    Some(from) if is_row && is_cell && lanes == Lanes::All && of_wave && is_alike => from,
                    _ => self.program.new_source(),
                };
                self.program.push(To::Place(part), from);
            }
        }
    }

    fn piece(&self, storage: u32) -> Piece {
        let parts = self.cuts.parts_of(self.code, Whole::Storage(storage));
        let (from, bits) =
            parts.iter().fold((i64::MAX, 0), |(from, bits), part| (from.min(part.1), bits + part.2));
        Piece { whole: Whole::Storage(storage), from, bits }
    }

    /// Returns a value's parts.
    fn value(&mut self, value: ValueId, kind: ValueKind) -> Vec<From> {
        let ranges = self.cuts.parts_of(self.code, Whole::Value(value.0));
        match kind {
            ValueKind::Defined { .. } => ranges.iter().map(|part| From::Value(part.0)).collect(),
            ValueKind::Merged(index) => {
                let (first, parts) = self.merged[index as usize];
                (first + parts..first + 2 * parts).map(From::Place).collect()
            }
            ValueKind::Constant(index) => {
                let bytes = &self.code.constants[index as usize];
                ranges.iter().map(|&(_, from, bits)| self.constant(bytes, from, bits)).collect()
            }
        }
    }

    fn constant(&mut self, bytes: &[u8], from: i64, bits: i64) -> From {
        let bit = |index: i64| bytes[index as usize / 8] >> (index % 8) & 1;
        let mut value = vec![0; (bits as usize).div_ceil(8)];
        (0..bits).for_each(|index| value[index as usize / 8] |= bit(from + index) << (index % 8));
        let next = self.program.constants.len() as u32;
        // Equal constants share an id, so that they are equal values.
        let id = *self.constant_ids.entry((bits, value.clone())).or_insert(next);
        if id == next {
            self.program.constants.push((bits, value));
        }
        From::Constant(id)
    }

    fn assign(&mut self, assigned: &Assigned) {
        let size = i64::from(self.code.variables[assigned.variable as usize]);
        let (from, bits) = assigned.bits.map_or((0, size), |(from, bits)| (from.into(), bits.into()));
        let to = Piece { whole: Whole::Variable(assigned.variable), from, bits };
        let first = self.program.first_variable;
        let mut ops = Vec::new();
        let mut push = |part: u32, from: From| {
            ops.push(Op::new(To::Place(first + part), from, false));
        };
        let given = match assigned.source {
            Source::Value(value) => {
                let value_bits = value_piece(self.code, value);
                let kind = self.code.values[value.0 as usize].kind;
                let parts = self.value(value, kind);
                let start = self.cuts.parts(value_bits).start;
                each_pair(&[to], &[value_bits], |to, source| {
                    let pairs = self.cuts.parts(to).zip(self.cuts.parts(source));
                    pairs.for_each(|(to, part)| push(to, parts[(part - start) as usize]));
                });
                value_bits.bits
            }
            Source::Contents(places) => {
                let places = self.cuts.pieces(self.code, places);
                each_pair(&[to], &places, |to, from| {
                    let pairs = self.cuts.parts(to).zip(self.cuts.parts(from));
                    pairs.for_each(|(to, from)| push(to, From::Place(from)));
                });
                places.iter().map(|place| place.bits).sum()
            }
            Source::Variable(other, start) => {
                let other = Piece { whole: Whole::Variable(other), from: start.into(), bits };
                let pairs = self.cuts.parts(to).zip(self.cuts.parts(other));
                pairs.for_each(|(to, other)| push(to, From::Place(first + other)));
                bits
            }
            Source::Nothing => 0,
        };
        // Bits that the source does not cover have no value.
        for piece in after(&[to], given).into_iter().filter(|piece| piece.bits > 0) {
            self.cuts.parts(piece).for_each(|part| push(part, From::Nothing));
        }
        self.program.ops.extend(ops);
    }

    /// Adds the values that block parameters receive.
    fn merges(&mut self) -> Result<()> {
        let code = self.code;
        for (index, &(block, _)) in code.merged.iter().enumerate() {
            let Some(&(node, _)) = self.graphs.blocks.get(block.0) else {
                return Err(ErrorKind::UnknownId(block_text(code, block)).into());
            };
            let start = self.program.end();
            self.receive(index);
            let pc = self.graphs.segment(node).start;
            self.group(node, pc..pc, Kind::Merge, start)?;
        }
        let leads: HashMap<(usize, usize), ()> = self.leads();
        let mut given: HashMap<(BlockId, ValueId), ValueId> = HashMap::new();
        for &(from, parameter, value) in &code.incoming {
            let ValueKind::Merged(index) = code.values[parameter.0 as usize].kind else { continue };
            let (to, _) = code.merged[index as usize];
            let Some(&(_, last)) = self.graphs.blocks.get(from.0) else {
                return Err(ErrorKind::UnknownId(block_text(code, from)).into());
            };
            if !leads.contains_key(&(from.0, to.0)) {
                let what = format!("{} is not a predecessor of the block", block_text(code, from));
                return Err(Error::bad_argument(what).or_at(code.at_pcs(code.flow.blocks[to.0].clone())));
            }
            let known = *given.entry((from, parameter)).or_insert(value);
            if known != value {
                let what = format!(
                    "block parameter {} receives values {} and {} from {}; expected one value from each block",
                    parameter.0,
                    known.0,
                    value.0,
                    block_text(code, from)
                );
                return Err(Error::bad_argument(what).or_at(code.at_pcs(code.flow.blocks[to.0].clone())));
            }
            let start = self.program.end();
            self.incoming(index, value);
            let pc = self.graphs.segment(last).end;
            self.group(last, pc..pc, Kind::Leave, start)?;
        }
        Ok(())
    }

    /// Returns the block pairs that an edge in either graph joins. Lanes that leave at a block's first instruction come
    /// from the block's predecessors.
    fn leads(&self) -> HashMap<(usize, usize), ()> {
        let flow = &self.code.flow;
        let block = |node: u32| self.graphs.segment(node).block as usize;
        let mut leads: HashMap<(usize, usize), ()> = HashMap::new();
        leads.extend(flow.edges.iter().chain(&flow.lane_edges).map(|&pair| (pair, ())));
        for skip in &self.graphs.skips {
            let from = block(skip.from);
            let to = block(skip.to);
            leads.insert((from, to), ());
            if self.leaves_at_once(skip.from) {
                leads.extend(flow.edges.iter().filter(|edge| edge.1 == from).map(|edge| ((edge.0, to), ())));
            }
        }
        leads
    }

    /// Whether all lanes that get to a block leave it at its first instruction.
    fn leaves_at_once(&self, node: u32) -> bool {
        let write = self.graphs.segment(node).write;
        matches!(write, Some(ExecWrite::Else(_))) && self.graphs.is_first(node)
    }

    /// Adds what a block parameter receives. Lanes that come again without a value must not see the previous value.
    fn receive(&mut self, index: usize) {
        // Values move from the incoming part to the parameter.
        let (first, parts) = self.merged[index];
        for part in first..first + parts {
            let to = To::Place(part + parts);
            let from = From::Place(part);
            self.program.push(to, from);
            self.program.push(To::Place(part), From::Nothing);
        }
    }

    fn incoming(&mut self, index: u32, value: ValueId) {
        let parts = self.value(value, self.code.values[value.0 as usize].kind);
        let (first, _) = self.merged[index as usize];
        for (place, from) in (first..).zip(parts) {
            self.program.push(To::Place(place), from);
        }
    }

    /// Adds the block parameter assignments on a skip: arguments first, then parameters.
    pub(super) fn skipped(&mut self, from: u32, to: u32) -> [Range<u32>; 2] {
        let code = self.code;
        let [left_block, into] = [from, to].map(|node| self.graphs.segment(node).block as usize);
        let start = self.program.end();
        if left_block != into && !code.merged.is_empty() {
            // Lanes that leave at a block's first instruction ran nothing in it: they come from its predecessors.
            let is_other = self.leaves_at_once(from);
            let is_here = |parameter: ValueId| match code.values[parameter.0 as usize].kind {
                ValueKind::Merged(index) if code.merged[index as usize].0.0 == into => Some(index),
                _ => None,
            };
            for &(left, parameter, value) in code.incoming.iter().filter(|_| !is_other) {
                if let (true, Some(index)) = (left.0 == left_block, is_here(parameter)) {
                    self.incoming(index, value);
                }
            }
        }
        let middle = self.program.end();
        // A lane that enters in the middle of a block passes no group at its start, so that it receives the parameters
        // here.
        if left_block != into && self.graphs.blocks[into].0 != to {
            for index in 0..code.merged.len() {
                if code.merged[index].0.0 == into {
                    self.receive(index);
                }
            }
        }
        [start..middle, middle..self.program.end()]
    }
}

/// Returns the storage that shares bits with each storage.
fn overlaps(cuts: &Cuts) -> HashMap<u32, Vec<u32>> {
    let mut overlaps: HashMap<u32, Vec<u32>> = HashMap::new();
    for (id, &storage) in (0..).zip(&cuts.storages) {
        let other = match storage {
            Storage::Lane(reg, _) => cuts.storage(Storage::Row(reg)),
            Storage::Bits(reg) => cuts.storage(Storage::Register(reg)),
            _ => None,
        };
        if let Some(other) = other {
            overlaps.entry(id).or_default().push(other);
            overlaps.entry(other).or_default().push(id);
        }
    }
    overlaps
}
