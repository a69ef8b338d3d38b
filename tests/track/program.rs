//! The small language of the cases: instructions of 4 bytes, and assignments.

use std::collections::BTreeMap;
use std::fmt;
use std::ops::Range;

use eitri::build::{Builder, ControlFlow, ExecWrite, MaskId};
use eitri::model::{BaseEncoding, Loc, VariableId};
use eitri::target::{Gfx, Target, Wave};
use eitri::track::{CodeEffects, Place, ValueId};
use serde_json::Value;

/// Size of an instruction in bytes.
pub const BYTES: u64 = 4;

/// A place, or a constant.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum At {
    /// A scalar register.
    Scalar(u16),
    /// A vector register, one value for each lane.
    Row(u16),
    /// A slot of scratch memory, one for each lane.
    Slot(u16),
    /// A lane of a vector register.
    Lane(u16, u32),
    Constant(u32),
}

impl At {
    pub fn is_row(self) -> bool {
        matches!(self, Self::Row(_) | Self::Slot(_))
    }

    pub fn parse(text: &str) -> Self {
        let number = |text: &str| text.parse().unwrap_or_else(|_| panic!("a place: {text}"));
        match text.split_at(1) {
            ("s", n) => Self::Scalar(number(n)),
            ("p", n) => Self::Slot(number(n)),
            ("#", n) => Self::Constant(constant(n)),
            ("v", n) => match n.split_once('.') {
                Some((n, lane)) => Self::Lane(number(n), number(lane).into()),
                None => Self::Row(number(n)),
            },
            _ => panic!("a place: {text}"),
        }
    }

    fn place(self, gpu: &Target) -> Place {
        let known = "the target has it";
        match self {
            Self::Scalar(n) => Place::register(gpu.sgpr(n).expect(known)),
            Self::Row(n) => Place::per_lane(gpu.vgpr(n).expect(known)),
            Self::Slot(n) => Place::stack_slot(4 * i64::from(n)),
            Self::Lane(n, lane) => Place::lane(gpu.vgpr(n).expect(known), lane),
            Self::Constant(_) => panic!("a constant is no place"),
        }
    }

    pub fn loc(self, gpu: &Target) -> Loc {
        let known = "the target has it";
        match self {
            Self::Scalar(n) => Loc::register(gpu.sgpr(n).expect(known)),
            Self::Row(n) => Loc::per_lane(gpu.vgpr(n).expect(known)),
            Self::Slot(n) => Loc::stack_slot(4 * i64::from(n)),
            Self::Lane(n, lane) => Loc::lane(gpu.vgpr(n).expect(known), lane),
            Self::Constant(value) => Loc::implicit(&value.to_le_bytes()),
        }
    }
}

impl fmt::Display for At {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Scalar(n) => write!(f, "s{n}"),
            Self::Row(n) => write!(f, "v{n}"),
            Self::Slot(n) => write!(f, "p{n}"),
            Self::Lane(n, lane) => write!(f, "v{n}.{lane}"),
            Self::Constant(value) => write!(f, "#{value}"),
        }
    }
}

/// The bits of a constant: a number, or those of another name.
pub fn constant(text: &str) -> u32 {
    let hex = text.strip_prefix("0x").and_then(|digits| u32::from_str_radix(digits, 16).ok());
    let number = text.parse::<i64>().ok().map(|number| number as u32).or(hex);
    number.unwrap_or_else(|| {
        text.bytes().fold(0x811c_9dc5, |hash, byte| (hash ^ u32::from(byte)).wrapping_mul(0x0100_0193))
    })
}

/// A value that is read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Source {
    Value(String),
    Constant(u32),
    Contents(At),
    Nothing,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Op {
    /// Places receive a value: a new one of this name.
    Define(Vec<At>, String),
    /// Places receive a value again, or a constant.
    Redefine(At, Source),
    Copy(At, At),
    /// Places are overwritten; in all lanes, by code that is called for all.
    Clobber(Vec<At>),
    Save(usize),
    And(usize),
    AndNot(usize),
    Else(usize),
    Restore(usize),
    WholeBegin,
    WholeEnd,
    /// Branch to a pc, and whether it may go on behind it.
    Branch(u64),
    BranchIf(u64),
    BranchIfAny(u64),
    BranchIfNone(u64),
    Other,
    End,
}

#[derive(Debug, Clone, Default)]
pub struct Program {
    pub lanes: u32,
    /// Instructions, with the scalar registers that they write besides.
    pub code: Vec<(Op, Vec<At>)>,
    /// Instructions in the order of pcs.
    pub assigns: Vec<(u64, String, Source)>,
    pub masks: usize,
}

impl Program {
    /// Reads a case.
    pub fn parse(case: &Value) -> Self {
        let mut program =
            Self { lanes: case["wave_lanes"].as_u64().expect("lanes") as u32, ..Self::default() };
        assert!(program.lanes > 0, "a wave has lanes");
        let mut masks = Vec::new();
        for line in case["code"].as_array().expect("code") {
            let line = line.as_array().expect("a line");
            let pc = line[0].as_u64().expect("a pc");
            let name = line[1].as_str().expect("an operation");
            let text = |at: usize| match &line[at] {
                Value::String(text) => text.clone(),
                other => other.to_string(),
            };
            let list = |at: usize| -> Vec<At> {
                match line.get(at) {
                    None => Vec::new(),
                    Some(Value::Array(places)) => {
                        places.iter().map(|place| At::parse(place.as_str().expect("a place"))).collect()
                    }
                    Some(place) => {
                        let text = place.as_str().expect("places");
                        text.split([',', ' ']).filter(|one| !one.is_empty()).map(At::parse).collect()
                    }
                }
            };
            if matches!(name, "assign" | "unassign") {
                let kind = if name == "unassign" { "nothing" } else { line[3].as_str().expect("a kind") };
                let source = match kind {
                    "value" => match text(4).strip_prefix('#') {
                        Some(digits) => Source::Constant(constant(digits)),
                        None => Source::Value(text(4)),
                    },
                    "constant" | "const" => {
                        Source::Constant(constant(text(4).strip_prefix('#').unwrap_or(&text(4))))
                    }
                    "contents" | "place" => Source::Contents(At::parse(&text(4))),
                    "nothing" | "none" | "undefined" => Source::Nothing,
                    other => panic!("an unknown kind of assignment: {other}"),
                };
                program.assigns.push((pc, text(2), source));
                continue;
            }
            assert_eq!(pc, program.pc(), "instructions follow each other");
            let mut mask = || {
                let name = text(2);
                masks.iter().position(|known| *known == name).unwrap_or_else(|| {
                    masks.push(name);
                    masks.len() - 1
                })
            };
            let target = || line[2].as_u64().expect("a pc");
            let op = match name {
                "define" => match text(3).strip_prefix('#') {
                    Some(digits) => Op::Redefine(list(2)[0], Source::Constant(constant(digits))),
                    None => Op::Define(list(2), text(3)),
                },
                "constant" | "const" => {
                    let value = text(3);
                    Op::Redefine(
                        list(2)[0],
                        Source::Constant(constant(value.strip_prefix('#').unwrap_or(&value))),
                    )
                }
                "redefine" => Op::Redefine(list(2)[0], Source::Value(text(3))),
                "copy" => match At::parse(&text(3)) {
                    At::Constant(value) => Op::Redefine(list(2)[0], Source::Constant(value)),
                    from => Op::Copy(list(2)[0], from),
                },
                "clobber" | "call" => {
                    Op::Clobber(line[2..].iter().enumerate().flat_map(|(at, _)| list(at + 2)).collect())
                }
                "exec_save" => Op::Save(mask()),
                "exec_and" => Op::And(mask()),
                "exec_and_not" => Op::AndNot(mask()),
                "exec_else" => Op::Else(mask()),
                "exec_restore" => Op::Restore(mask()),
                "whole_wave_begin" => Op::WholeBegin,
                "whole_wave_end" => Op::WholeEnd,
                "branch" => Op::Branch(target()),
                "branch_if" => Op::BranchIf(target()),
                "branch_if_any_lane" => Op::BranchIfAny(target()),
                "branch_if_no_lane" => Op::BranchIfNone(target()),
                "other" => Op::Other,
                "end" => Op::End,
                unknown => panic!("an unknown operation: {unknown}"),
            };
            let more = if name.starts_with("exec_") { list(3) } else { Vec::new() };
            program.code.push((op, more));
        }
        program.masks = masks.len();
        program
    }

    /// Reads a program of one line for each instruction or assignment, without pcs: `copy v5 v3`, `assign x value a`.
    pub fn text(text: &str) -> Self {
        let mut pc = 0;
        let mut code = Vec::new();
        for line in text.lines().map(str::trim).filter(|line| !line.is_empty()) {
            let words = line.split(' ').map(|word| match word.parse::<u64>() {
                Ok(number) => Value::from(number),
                Err(_) => Value::from(word),
            });
            code.push(Value::Array(core::iter::once(Value::from(pc)).chain(words).collect()));
            pc += if line.starts_with("assign") { 0 } else { BYTES };
        }
        Self::parse(&serde_json::json!({ "wave_lanes": 4, "code": code }))
    }

    pub fn pc(&self) -> u64 {
        self.code.len() as u64 * BYTES
    }

    pub fn variables(&self) -> Vec<String> {
        let mut names: Vec<String> = self.assigns.iter().map(|assign| assign.1.clone()).collect();
        names.sort();
        names.dedup();
        names
    }

    /// Pcs of the instructions that can follow one, and whether only while no lane is active.
    pub fn next(&self, pc: u64) -> Vec<(u64, bool)> {
        let next = pc + BYTES;
        match self.code[(pc / BYTES) as usize].0 {
            Op::End => vec![],
            Op::Branch(to) => vec![(to, false)],
            Op::BranchIf(to) => vec![(next, false), (to, false)],
            Op::BranchIfAny(to) => vec![(next, true), (to, false)],
            Op::BranchIfNone(to) => vec![(next, false), (to, true)],
            _ => vec![(next, false)],
        }
    }

    /// All places that the program names.
    pub fn places(&self) -> Vec<At> {
        let mut places: Vec<At> = Vec::new();
        for (op, more) in &self.code {
            places.extend(more);
            match op {
                Op::Define(to, _) | Op::Clobber(to) => places.extend(to),
                Op::Redefine(to, _) => places.push(*to),
                Op::Copy(to, from) => places.extend([to, from]),
                _ => {}
            }
        }
        for (_, _, source) in &self.assigns {
            if let Source::Contents(at) = source {
                places.push(*at);
            }
        }
        places.sort();
        places.dedup();
        places
    }

    /// Whether each instruction is in whole-wave code.
    pub fn is_whole(&self) -> Vec<bool> {
        let mut is_whole = false;
        let each = self.code.iter().map(|(op, _)| {
            match op {
                Op::WholeBegin => is_whole = true,
                Op::WholeEnd => is_whole = false,
                _ => {}
            }
            is_whole
        });
        each.collect()
    }
}

/// A program as a compiler tells it.
pub struct Stated {
    pub gpu: Target,
    pub builder: Builder,
    pub variables: BTreeMap<String, VariableId>,
    pub code: CodeEffects,
}

impl Stated {
    pub fn new(program: &Program) -> Self {
        let gpu = Target::amdgpu(Gfx::GFX1030, Wave::W32).expect("the processor runs such waves");
        let mut builder = Builder::new(gpu.clone());
        let unit = builder.unit("a.cl");
        let int = builder.base_type(unit, "int", BaseEncoding::Signed, 32).expect("a type");
        let kernel = builder.function(unit, "k").expect("a unit").code("k", program.pc()).kernel().id();
        let mut variables = BTreeMap::new();
        for name in program.variables() {
            let id = builder.variable(kernel, &name, int).expect("a scope and a type").id();
            variables.insert(name, id);
        }
        let mut code = CodeEffects::new(&gpu, flow(program, &gpu));
        tell(program, &gpu, &mut code, &variables);
        Self { gpu, builder, variables, code }
    }
}

/// The pcs of the blocks of a program.
pub fn blocks(program: &Program) -> Vec<Range<u64>> {
    let end = program.pc();
    let mut starts = vec![0];
    for pc in (0..end).step_by(BYTES as usize) {
        let next = program.next(pc);
        if next.len() != 1 || next[0].0 != pc + BYTES {
            starts.push(pc + BYTES);
            starts.extend(next.iter().map(|next| next.0));
        }
    }
    starts.retain(|&pc| pc < end);
    starts.sort_unstable();
    starts.dedup();
    let ends = starts.iter().skip(1).copied().chain([end]);
    starts.iter().zip(ends).map(|(&start, end)| start..end).collect()
}

/// The control flow of a program.
fn flow(program: &Program, gpu: &Target) -> ControlFlow {
    let mut flow = ControlFlow::new();
    let end = program.pc();
    let blocks: Vec<_> = blocks(program).into_iter().map(|pcs| (pcs.clone(), flow.block(pcs))).collect();
    for (pcs, block) in &blocks {
        for (to, is_empty) in program.next(pcs.end - BYTES) {
            let to = blocks.iter().find(|(pcs, _)| pcs.start == to).expect("a block begins there").1;
            if is_empty {
                flow.wave_edge(*block, to)
            } else {
                flow.edge(*block, to)
            };
        }
    }
    // Masks have places of their own.
    let place = Loc::register(gpu.sgpr(100).expect("the target has it"));
    let masks: Vec<MaskId> = (0..program.masks).map(|_| flow.mask(&[(0..end, place.clone())])).collect();
    for (pc, (op, _)) in (0..).step_by(BYTES as usize).zip(&program.code) {
        let write = match *op {
            Op::Save(mask) => ExecWrite::Save(masks[mask]),
            Op::And(mask) => ExecWrite::And(masks[mask]),
            Op::AndNot(mask) => ExecWrite::AndNot(masks[mask]),
            Op::Else(mask) => ExecWrite::Else(masks[mask]),
            Op::Restore(mask) => ExecWrite::Restore(masks[mask]),
            _ => continue,
        };
        flow.write(pc..pc + BYTES, write);
    }
    flow
}

fn tell(program: &Program, gpu: &Target, code: &mut CodeEffects, variables: &BTreeMap<String, VariableId>) {
    let mut values: BTreeMap<String, ValueId> = BTreeMap::new();
    let mut value =
        |code: &mut CodeEffects, name: &str| *values.entry(name.into()).or_insert_with(|| code.value(32));
    let place = |at: &At| at.place(gpu);
    let places = |all: &[At]| -> Vec<Place> { all.iter().map(place).collect() };
    let mut defined = Vec::new();
    let stated = "the instruction fits";
    for ((pc, (op, more)), is_whole) in
        (0..).step_by(BYTES as usize).zip(&program.code).zip(program.is_whole())
    {
        let pcs = pc..pc + BYTES;
        match op {
            Op::Define(to, name) => {
                let id = value(code, name);
                let mut at = code.instruction(pcs);
                if defined.contains(name) {
                    at.redefine(id, &places(to))
                } else {
                    at.define(id, &places(to))
                }
                .expect(stated);
                defined.push(name.clone());
                if is_whole {
                    at.all_lanes();
                }
            }
            Op::Redefine(to, source) => {
                let id = match source {
                    Source::Constant(bits) => code.constant(&bits.to_le_bytes()),
                    Source::Value(name) => value(code, name),
                    _ => panic!("a value"),
                };
                let mut at = code.instruction(pcs);
                at.redefine(id, &[place(to)]).expect(stated);
                if is_whole {
                    at.all_lanes();
                }
            }
            Op::Copy(to, from) => {
                let mut at = code.instruction(pcs);
                if from.is_row() && !to.is_row() {
                    at.copy_uniform(&[place(from)], &[place(to)])
                } else {
                    at.copy(&[place(from)], &[place(to)])
                }
                .expect(stated);
                if is_whole {
                    at.all_lanes();
                }
            }
            Op::Clobber(to) => {
                let mut at = code.instruction(pcs);
                at.call(&places(to)).expect(stated);
                if is_whole {
                    at.all_lanes();
                }
            }
            _ if !more.is_empty() => {
                code.instruction(pcs).clobber(&places(more)).expect(stated);
            }
            _ => {}
        }
    }
    for (pc, variable, source) in &program.assigns {
        let variable = variables[variable];
        match source {
            Source::Value(name) => {
                let id = value(code, name);
                code.assign(*pc, variable, id)
            }
            Source::Constant(bits) => {
                let id = code.constant(&bits.to_le_bytes());
                code.assign(*pc, variable, id)
            }
            Source::Contents(at) => code.assign_contents(*pc, variable, &[place(at)]),
            Source::Nothing => code.unassign(*pc, variable),
        }
        .expect(stated);
    }
}
