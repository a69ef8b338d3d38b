//! Instructions start at multiples of the size of the shortest instruction, and so do all pcs of a description,
//! except the end of a function. Instructions have 4 or 8 bytes on AMD GPUs ("RDNA 2" Instruction Set Architecture,
//! section 6), and 2, 4 or 6 on z/Architecture (Principles of Operation, chapter 5).

use core::ops::Range;

use eitri::build::{Builder, ControlFlow, ExecWrite};
use eitri::error::{Aligned, ErrorKind};
use eitri::model::{BaseEncoding, FunctionId, LineTableRow, Loc, RegionKind, ScopeId, SourceLine, TypeId};
use eitri::op::Reg;
use eitri::target::{Gfx, Target, Wave};
use eitri::{Error, Result};

/// Size of the code in bytes.
const SIZE: u64 = 0x40;

struct Start {
    m: Builder,
    int: TypeId,
    f: FunctionId,
    inner: FunctionId,
    line: SourceLine,
    place: Loc,
}

fn start(target: Target) -> Start {
    let place = match target.sgpr(4) {
        Ok(s4) => Loc::register(s4),
        Err(_) => Loc::register(Reg(2)),
    };
    let mut m = Builder::new(target);
    let unit = m.unit("a.cl");
    let int = m.base_type(unit, "int", BaseEncoding::Signed, 32).expect("a type");
    let f = m.function(unit, "f").expect("a function").code("f", SIZE).id();
    let inner = m.function(unit, "inner").expect("a function").id();
    let file = m.primary_file(unit).expect("a file");
    Start { m, int, f, inner, line: SourceLine::new(file, 1), place }
}

fn gpu() -> Target {
    Target::amdgpu(Gfx::GFX1030, Wave::W32).expect("gfx1030 runs waves of 32")
}

type Call = fn(&mut Start, Range<u64>) -> Result<()>;

/// Block of `inner`.
fn block_of_inner(a: &mut Start) -> Result<ScopeId> {
    a.m.describe_function(a.inner)?.code("inner", SIZE);
    a.m.block(a.inner, &[0..4])
}

/// Every call with a range of pcs.
#[rustfmt::skip]
const RANGES: &[(&str, Call)] = &[
    ("live", |a, pcs| a.m.variable(a.f, "n", a.int)?.live(pcs, a.place.clone()).map(drop)),
    ("live_in", |a, pcs| a.m.variable(a.f, "n", a.int)?.live_in(pcs, std::slice::from_ref(&a.place)).map(drop)),
    ("block", |a, pcs| a.m.block(a.f, &[pcs]).map(drop)),
    ("inlined", |a, pcs| a.m.inlined(a.f, a.inner, &[pcs], a.line).map(drop)),
    ("inlined_block", |a, pcs| {
        let origin = block_of_inner(a)?;
        let call = a.m.inlined(a.f, a.inner, &[0..SIZE], a.line)?;
        a.m.inlined_block(call, origin, &[pcs]).map(drop)
    }),
    ("cfa", |a, pcs| {
        let at = Loc::memory(eitri::target::SpaceId::DEFAULT, eitri::model::Val::constant(0));
        a.m.frame(a.f)?.cfa(pcs, at).map(drop)
    }),
    ("saved", |a, pcs| a.m.frame(a.f)?.undefined(pcs, Reg(2 + 32)).map(drop)),
];

/// Calls about lanes.
#[rustfmt::skip]
const LANES: &[(&str, Call)] = &[
    ("region", |a, pcs| {
        let masks = [(0..SIZE, a.place.clone())];
        a.m.lanes(a.f)?.region(RegionKind::Then, pcs, 0, &masks).map(drop)
    }),
    ("mask", |a, pcs| {
        let masks = [(pcs.clone(), a.place.clone())];
        a.m.lanes(a.f)?.region(RegionKind::Then, pcs.start / 4 * 4..pcs.end.next_multiple_of(4), 0, &masks).map(drop)
    }),
    ("whole_wave", |a, pcs| { let mask = a.place.clone(); a.m.lanes(a.f)?.whole_wave(pcs, &mask).map(drop) }),
    ("control_flow: block", |a, pcs| {
        let mut flow = ControlFlow::new();
        flow.block(pcs);
        a.m.lanes(a.f)?.control_flow(&flow).map(drop)
    }),
    ("control_flow: write", |a, pcs| {
        let mut flow = ControlFlow::new();
        flow.block(0..SIZE);
        let mask = flow.mask(&[(0..SIZE, a.place.clone())]);
        flow.write(pcs, ExecWrite::Save(mask)).write(0x20..0x24, ExecWrite::Restore(mask));
        a.m.lanes(a.f)?.control_flow(&flow).map(drop)
    }),
];

/// Every call with a single pc.
#[rustfmt::skip]
const PCS: &[(&str, Call)] = &[
    ("row", |a, pcs| a.m.row(a.f, LineTableRow::new(pcs.start, a.line.file, 1))),
    ("entry_pc", |a, pcs| a.m.entry_pc(a.f, pcs.start)),
    ("returns_to", |a, pcs| a.m.call(a.f)?.returns_to(pcs.start).map(drop)),
    ("at of a call", |a, pcs| a.m.call(a.f)?.at(pcs.start).map(drop)),
    ("at of a label", |a, pcs| a.m.label(a.f, "again")?.at(pcs.start).map(drop)),
];

/// Errors of each call for impossible pcs that differ from the expected error.
fn wrong(target: &Target, calls: &[(&str, Call)], pcs: &Range<u64>) -> Vec<String> {
    let step = target.min_instruction_bytes();
    let is_expected = |error: &Error| {
        let of = matches!(error.kind(), ErrorKind::Misaligned { kind: Aligned::Instruction, .. });
        of && error.to_string().contains(&format!("expected a multiple of {step} bytes"))
            && error.at().pcs.is_some()
    };
    let mut wrong = Vec::new();
    for (name, call) in calls {
        match call(&mut start(target.clone()), pcs.clone()) {
            Err(error) if is_expected(&error) => {}
            other => wrong.push(format!("{name} {pcs:x?}: {other:?}")),
        }
    }
    wrong
}

#[test]
fn a_range_begins_and_ends_between_instructions() {
    assert_eq!(wrong(&gpu(), &RANGES[..1], &(1..7)), [""; 0]);
}

/// Every call refuses every kind of wrong range.
#[test]
fn every_call_refuses_misaligned_pcs() {
    for pcs in [1..7, 4..7, 6..8, 2..0x40, 0..0x3e] {
        assert_eq!(wrong(&gpu(), RANGES, &pcs), [""; 0]);
        assert_eq!(wrong(&gpu(), LANES, &pcs), [""; 0]);
    }
    for pc in [1, 2, 3, 7, 0x3f] {
        assert_eq!(wrong(&gpu(), PCS, &(pc..pc + 4)), [""; 0]);
    }
    let waits_inside = |a: &mut Start| {
        let masks = [(0..SIZE, a.place.clone())];
        a.m.lanes(a.f)?.region(RegionKind::Then, 8..16, 6, &masks).map(drop)
    };
    let error = waits_inside(&mut start(gpu())).expect_err("lanes wait inside of an instruction");
    assert!(
        error.to_string().ends_with("start of an instruction is 0x6; expected a multiple of 4 bytes"),
        "{error}"
    );
    // A processor with instructions of half the size refuses half as many pcs.
    assert_eq!(wrong(&Target::s390x(), &RANGES[2..5], &(1..7)), [""; 0]);
    assert_eq!(wrong(&Target::s390x(), PCS, &(3..4)), [""; 0]);
}

/// Valid pcs, and any end of a function, are accepted.
#[test]
fn aligned_pcs_are_accepted() -> Result<()> {
    for (name, call) in RANGES.iter().chain(LANES) {
        let result = call(&mut start(gpu()), 4..8);
        assert!(result.is_ok(), "{name}: {result:?}");
    }
    for (name, call) in PCS {
        let result = call(&mut start(gpu()), 4..8);
        assert!(result.is_ok(), "{name}: {result:?}");
    }
    for (name, call) in RANGES {
        let mut a = start(gpu());
        a.m.describe_function(a.f)?.code("f", 0x3e);
        let result = call(&mut a, 4..0x3e);
        assert!(result.is_ok() || *name == "inlined_block", "{name}: {result:?}");
    }
    let mut a = start(Target::x86_64());
    a.m.variable(a.f, "n", a.int)?.live(1..7, a.place.clone())?;
    let mut a = start(Target::s390x());
    a.m.variable(a.f, "n", a.int)?.live(2..6, a.place.clone())?;
    // A byte before the address to which a call returns.
    a.m.variable(a.f, "m", a.int)?.live(1..7, a.place.clone())?;
    a.m.finish().map(drop)
}
