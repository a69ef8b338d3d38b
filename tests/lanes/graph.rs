//! Regions derived from control-flow graphs equal those of a compiler.

use std::collections::{BTreeSet, HashMap};

use eitri::build::{Builder, ControlFlow, ExecWrite, MaskId};
use eitri::model::{FunctionId, Loc, MachineContents, Module, RegionKind, ScopeId, ScopeKind};
use eitri::op::Reg;
use eitri::target::{Gfx, SpaceId, Target, Wave};

use super::compile::{BYTES, Code, Op, Write, compile};
use super::describe::{function, masks, structured};
use super::program::{Program, data};

/// Blocks of the code: a branch target begins a block, and a branch ends one.
fn graph(target: &Target, code: &Code) -> ControlFlow {
    let count = code.instructions.len();
    let mut starts = BTreeSet::from([0, count]);
    for (at, instruction) in code.instructions.iter().enumerate() {
        if let Op::SkipIfNone(to) | Op::LoopIfAny(to, _) = instruction.op {
            starts.extend([at + 1, to]);
        }
    }
    let starts: Vec<usize> = starts.into_iter().collect();
    let mut flow = ControlFlow::new();
    let pcs = |from: usize, to: usize| from as u64 * BYTES..to as u64 * BYTES;
    let blocks: HashMap<usize, _> =
        starts.windows(2).map(|pair| (pair[0], flow.block(pcs(pair[0], pair[1])))).collect();
    for pair in starts.windows(2) {
        if let Op::SkipIfNone(to) | Op::LoopIfAny(to, _) = code.instructions[pair[1] - 1].op {
            flow.edge(blocks[&pair[0]], blocks[&to]);
        }
        if pair[1] < count {
            flow.edge(blocks[&pair[0]], blocks[&pair[1]]);
        }
    }
    let mut known: HashMap<usize, MaskId> = HashMap::new();
    for &(at, write) in &code.writes {
        let (Write::Save(slot)
        | Write::And(slot)
        | Write::Leave(slot)
        | Write::Else(slot)
        | Write::Restore(slot)) = write;
        let mask = *known.entry(slot).or_insert_with(|| flow.mask(&masks(target, code, slot)));
        let write = match write {
            Write::Save(_) => ExecWrite::Save(mask),
            Write::And(_) => ExecWrite::And(mask),
            Write::Leave(_) => ExecWrite::AndNot(mask),
            Write::Else(_) => ExecWrite::Else(mask),
            Write::Restore(_) => ExecWrite::Restore(mask),
        };
        flow.write(pcs(at, at + 1), write);
    }
    flow
}

/// Registers with arbitrary contents.
struct Any(u64);

impl MachineContents for Any {
    fn register(&self, reg: Reg, from: u64, bits: u32) -> Option<u64> {
        let word = |at: u64| data(self.0, reg.0 as usize, at as usize, 0) & 0xffff_ffff;
        let at = from / 32;
        Some((word(at) | word(at + 1) << 32) >> (from % 32) & (u64::MAX >> (64 - bits)))
    }

    fn memory(&self, _: SpaceId, _: Option<u32>, _: u128, _: u32) -> Option<u64> {
        None
    }

    fn lane(&self) -> Option<u32> {
        None
    }

    fn symbol(&self, _: &str) -> Option<u64> {
        None
    }
}

fn module(describe: impl FnOnce(&mut Builder, &Target), size: Wave) -> Module {
    let gfx = if size == Wave::W32 { Gfx::GFX1030 } else { Gfx::GFX90A };
    let target = Target::amdgpu(gfx, size).expect("the processor runs such waves");
    let mut m = Builder::new(target.clone());
    describe(&mut m, &target);
    m.finish().unwrap_or_else(|error| panic!("{error}"))
}

fn unit(m: &mut Builder) -> (eitri::model::UnitId, FunctionId) {
    let unit = m.unit("random.cl");
    let callee = m.function(unit, "callee").expect("a function").id();
    (unit, callee)
}

#[test]
fn graphs_of_random_programs_have_the_regions_of_the_programs() {
    let mut regions = 0;
    let mut loops = 0;
    for seed in (0..4000).map(|seed| 16 * seed % 9973) {
        let size = if seed % 2 == 0 { Wave::W32 } else { Wave::W64 };
        let program = Program::random(seed);
        let code = compile(&program, if size == Wave::W32 { 32 } else { 64 });
        let described = module(
            |m, _| {
                let (unit, callee) = unit(m);
                structured(m, unit, callee, "f", &code);
            },
            size,
        );
        let derived = module(
            |m, target| {
                let (unit, callee) = unit(m);
                let described = function(m, unit, callee, "f", &code);
                let flow = graph(target, &code);
                let result = m.lanes(described.function).expect("a function").control_flow(&flow);
                result.unwrap_or_else(|error| panic!("seed {seed}: {error}"));
            },
            size,
        );
        let is_code = |(_, scope): &(ScopeId, &eitri::model::Scope)| match scope.kind {
            ScopeKind::Function(id) => described.function(id).address.is_some(),
            ScopeKind::Inlined { .. } => true,
            _ => false,
        };
        let scopes: Vec<ScopeId> = described.scopes().filter(is_code).map(|(id, _)| id).collect();
        for scope in scopes {
            let whole = 0..code.bytes();
            let ranges = match described.ranges(scope) {
                [] => std::slice::from_ref(&whole),
                ranges => ranges,
            };
            for pc in ranges.iter().flat_map(|range| range.clone().step_by(BYTES as usize)) {
                let contents = Any(seed ^ pc);
                let (expected, found) =
                    (described.lane_pcs(scope, pc, &contents), derived.lane_pcs(scope, pc, &contents));
                assert_eq!(found, expected, "seed {seed}, {scope}, pc {pc:#x}");
            }
        }
        regions += derived.regions().count();
        loops += derived.regions().filter(|(_, region)| region.kind == RegionKind::Loop).count();
    }
    assert!(regions > 4000 && loops > 500, "{regions} regions, {loops} loops");
}

/// The error for an invalid graph of a function of 64 bytes.
fn error(draw: impl FnOnce(&mut ControlFlow, MaskId)) -> String {
    let target = Target::amdgpu(Gfx::GFX1030, Wave::W32).expect("the processor runs such waves");
    let mut m = Builder::new(target.clone());
    let unit = m.unit("a.cl");
    let kernel = m.function(unit, "k").expect("a function").code("k", 64).kernel().id();
    let mut flow = ControlFlow::new();
    let mask = flow.mask(&[(0..64, Loc::register(target.sgpr(6).expect("a register")))]);
    draw(&mut flow, mask);
    let result = m.lanes(kernel).expect("a function").control_flow(&flow);
    result.expect_err("it is wrong").to_string()
}

#[test]
fn irreducible_graphs_are_refused_with_the_edge() {
    let error = error(|flow, _| {
        let [start, one, two] = [0..16, 16..32, 32..64].map(|pcs| flow.block(pcs));
        flow.edge(start, one).edge(start, two).edge(one, two).edge(two, one);
    });
    // The start of the search decides which of the two edges is the back edge.
    let what = "control flow graph is not reducible: the edge 0x20..0x40 -> 0x10..0x20 enters a loop that has \
                another entry";
    assert_eq!(error, format!("unit `a.cl`, function `k`, pc 0x20..0x40: {what}"));
}

#[test]
fn paths_that_disagree_are_refused_with_the_edge() {
    let error = error(|flow, mask| {
        let [start, one, two, end] = [0..16, 16..32, 32..48, 48..64].map(|pcs| flow.block(pcs));
        flow.edge(start, one).edge(start, two).edge(one, end).edge(two, end);
        flow.write(0..4, ExecWrite::Save(mask)).write(4..8, ExecWrite::And(mask));
        flow.write(20..24, ExecWrite::Restore(mask));
    });
    let what = "edge 0x20..0x30 -> 0x30..0x40 has other saved masks than the block's other edges";
    let other = "edge 0x10..0x20 -> 0x30..0x40 has other saved masks than the block's other edges";
    let at = "unit `a.cl`, function `k`, pc 0x30..0x40";
    assert!([what, other].iter().any(|what| error == format!("{at}: {what}")), "{error}");
}

#[test]
fn writes_that_do_not_fit_are_refused() {
    type Written = (u64, fn(MaskId) -> ExecWrite);
    let one_block = |writes: &[Written]| {
        error(|flow, mask| {
            flow.block(0..64);
            for (pc, write) in writes {
                flow.write(*pc..pc + 4, write(mask));
            }
        })
    };
    let save = ExecWrite::Save;
    let and = ExecWrite::And;
    let and_not = ExecWrite::AndNot;
    let other = ExecWrite::Else;
    let restore = ExecWrite::Restore;
    for (writes, pcs, what) in [
        (&[(0, save as fn(_) -> _), (4, and_not)][..], "0x0..0x4", "mask is saved and not restored"),
        (&[(4, and)], "0x4..0x8", "mask 0 is not saved on every path to its use"),
        (
            &[(0, save), (4, save), (8, restore)],
            "0x4..0x8",
            "mask is also saved or restored at 0x0; expected one save and one restore",
        ),
        (&[(0, save), (4, restore), (8, other)], "0x8..0xc", "mask 0 is not saved on every path to its use"),
        (
            &[(0, save), (4, other), (8, other), (12, restore)],
            "0x8..0xc",
            "other side of mask 0 begins twice, or while the mask is not the innermost",
        ),
        (
            &[(0, save), (4, and), (8, and_not), (12, restore)],
            "0x0..0x4",
            "one mask is saved for lanes that have run and lanes yet to run; expected separate masks",
        ),
        (&[(64, save)], "0x40..0x44", "range is outside the function, which has 0x40 bytes"),
    ] {
        let error = one_block(writes);
        assert!(error.starts_with(&format!("unit `a.cl`, function `k`, pc {pcs}: {what}")), "{error}");
    }
    let unreached = error(|flow, _| {
        flow.block(0..32);
        flow.block(32..64);
    });
    let rule = "pc 0x20..0x40: block is unreachable from the entry";
    assert!(unreached.contains(rule), "{unreached}");
    let overlaps = error(|flow, _| {
        let one = flow.block(0..36);
        let two = flow.block(32..64);
        flow.edge(one, two);
    });
    assert!(overlaps.contains("pc 0x20..0x40: block overlaps 0x0..0x24"), "{overlaps}");
}
