//! Faults in locations: the entry has another location than the module.

use core::ops::Range;

use eitri::build::Builder;
use eitri::check::FindingKind::{self, Evaluation, Location};
use eitri::lower::Consumer;
use eitri::model::{BaseEncoding, Half, Loc, Module, UnitId, Val, VariableId};
use eitri::op::{self, Dialect, Reg, text};
use eitri::target::{Scaling, SpaceId, Target};

use crate::sabotage::{Expected, all_found, missed, sections};

/// Components of locations.
struct Scene {
    m: Builder,
    unit: UnitId,
    a: VariableId,
    b: VariableId,
}

type Live = Vec<(Range<u64>, Vec<Loc>)>;
type Describe = fn(&mut Scene) -> Live;

impl Scene {
    fn v(&self, n: u16) -> Reg {
        self.m.target().vgpr(n).unwrap()
    }

    fn s(&self, n: u16) -> Reg {
        self.m.target().sgpr(n).unwrap()
    }

    fn named(&self, name: &str) -> Reg {
        self.m.target().register_named(name).unwrap()
    }

    /// Raw expression.
    fn raw(&mut self, text: &str) -> Loc {
        let encoding = op::Encoding::new(8, Dialect::Llvm);
        let expr = text::parse(text, encoding, Some(self.m.target())).unwrap();
        Loc::expr(self.m.expr(expr, &[]).unwrap())
    }

    fn procedure(&mut self, loc: &Loc) -> Loc {
        Loc::call(self.m.procedure(self.unit, loc).unwrap())
    }
}

fn whole(loc: Loc) -> Live {
    vec![(0..0x40, vec![loc])]
}

fn gpu(name: &str) -> Target {
    Target::named(name).unwrap()
}

/// Module in which `x`, of `bits` bits, has the locations from `describe`.
fn module(target: Target, bits: u64, describe: Describe) -> Module {
    let mut m = Builder::new(target);
    let unit = m.unit("a.cl");
    let ty = m.base_type(unit, "number", BaseEncoding::Unsigned, bits).unwrap();
    let kernel = {
        let is_gpu = m.target().lanes() > 1;
        let base = m.target().sgpr(33);
        let mut f = m.function(unit, "k").unwrap();
        f.code("k", 0x40);
        if is_gpu {
            f.stack_base(base.unwrap()).unwrap().scaling(Scaling::Wave);
        }
        f.id()
    };
    let int = m.base_type(unit, "int", BaseEncoding::Signed, 32).unwrap();
    let a = m.variable(kernel, "a", int).unwrap().id();
    let b = m.variable(kernel, "b", int).unwrap().id();
    let mut scene = Scene { m, unit, a, b };
    let live = describe(&mut scene);
    let mut m = scene.m;
    let mut x = m.variable(kernel, "x", ty).unwrap();
    for (pcs, locs) in live {
        x.live_in(pcs, &locs).unwrap();
    }
    m.finish().unwrap()
}

struct Row {
    fault: &'static str,
    target: &'static str,
    bits: u64,
    truth: Describe,
    wrong: Describe,
    kind: FindingKind,
    pc: u64,
    lane: u32,
}

const W32: &str = "amdgpu-gfx1030-wave32";
const W64: &str = "amdgpu-gfx90a-wave64";

macro_rules! rows { ($($fault:literal, $target:ident, $bits:literal, $truth:expr => $wrong:expr, $kind:ident at $pc:literal lane $lane:literal;)*) => {
    &[$(Row {
        fault: $fault, target: $target, bits: $bits, truth: $truth, wrong: $wrong, kind: $kind, pc: $pc, lane: $lane,
    }),*]
} }

#[rustfmt::skip]
const ROWS: &[Row] = rows! {
    // Lanes of vector registers.
    "the stride of lanes is 8 bytes instead of 4", W32, 32,
        |c| whole(Loc::per_lane(c.v(3))) => |c| whole(c.raw("regx v3; push_lane; lit8; mul; offset")), Location at 0 lane 1;
    "the offset of a lane is held in a signed byte", W64, 32,
        |c| whole(Loc::lane(c.v(40), 32)) => |c| whole(c.raw("regx v40; const1s -128; offset")), Evaluation at 0 lane 0;
    "the same from lane 16 up, of values of 64 bits", W64, 64,
        |c| whole(Loc::lanes([(c.v(40), 32), (c.v(40), 33)])) => |c| whole(c.raw("regx v40; const1s -128; offset")), Evaluation at 0 lane 0;
    "the current lane's offset is held in a signed byte", W64, 32,
        |c| whole(Loc::per_lane(c.v(3))) => |c| whole(c.raw("regx v3; push_lane; lit4; mul; const1u 127; and; offset")), Location at 0 lane 32;
    "a wave-wide value is read in the current lane", W32, 32,
        |c| whole(Loc::lane(c.v(40), 7)) => |c| whole(Loc::per_lane(c.v(40))), Location at 0 lane 0;
    "a lane's value is read in lane 0", W32, 32,
        |c| whole(Loc::per_lane(c.v(40))) => |c| whole(Loc::lane(c.v(40), 0)), Location at 0 lane 1;
    "the offset of the lane is applied to the composite instead of each part", W32, 64,
        |c| whole(Loc::per_lane_over([c.v(4), c.v(5)])) =>
        |c| whole(c.raw("regx v4; piece 4; regx v5; piece 4; piece_end; push_lane; lit4; mul; offset")), Evaluation at 0 lane 1;
    "the same with whole registers as parts", W32, 64,
        |c| whole(Loc::per_lane_over([c.v(4), c.v(5)])) =>
        |c| whole(c.raw("regx v4; piece 128; regx v5; piece 128; piece_end; push_lane; lit4; mul; offset")), Location at 0 lane 0;
    "the next lane", W32, 32,
        |c| whole(Loc::lane(c.v(40), 7)) => |c| whole(Loc::lane(c.v(40), 8)), Location at 0 lane 0;
    "the next current lane", W32, 32,
        |c| whole(Loc::per_lane(c.v(3))) => |c| whole(c.raw("regx v3; push_lane; lit1; plus; lit4; mul; offset")), Location at 0 lane 0;
    "accumulation registers for vector registers", W64, 32,
        |c| whole(Loc::per_lane(c.v(3))) => |c| whole(Loc::per_lane(c.m.target().agpr(3).unwrap())), Location at 0 lane 0;
    "vector registers for accumulation registers", W64, 32,
        |c| whole(Loc::per_lane(c.m.target().agpr(3).unwrap())) => |c| whole(Loc::per_lane(c.v(3))), Location at 0 lane 0;
    "the numbers of waves of 32 lanes in a wave of 64", W64, 32,
        |c| whole(Loc::lane(c.v(3), 1)) => |c| whole(c.raw("regx 1539; offset_uconst 4")), Evaluation at 0 lane 0;
    "the numbers of waves of 64 lanes in a wave of 32", W32, 32,
        |c| whole(Loc::per_lane(c.v(3))) => |c| whole(c.raw("regx 2563; push_lane; lit4; mul; offset")), Evaluation at 0 lane 0;
    "the half of the mask register that the plain number is of", W64, 64,
        |c| whole(Loc::register(c.named("exec"))) => |c| whole(c.raw("regx 1")), Evaluation at 0 lane 0;

    // Registers and parts.
    "the next register", W32, 32,
        |c| whole(Loc::register(c.s(4))) => |c| whole(Loc::register(c.s(5))), Location at 0 lane 0;
    "the register of this number in another file", W32, 32,
        |c| whole(Loc::lane(c.v(4), 0)) => |c| whole(Loc::register(c.s(4))), Location at 0 lane 0;
    "scalar registers counted on past s63", W32, 32,
        |c| whole(Loc::register(c.s(64))) => |c| whole(c.raw("regx 96")), Evaluation at 0 lane 0;
    "of a value of 64 bits only the first part", W32, 64,
        |c| whole(Loc::per_lane_over([c.v(4), c.v(5)])) => |c| whole(c.raw("regx v4; push_lane; lit4; mul; offset; piece 4")), Evaluation at 0 lane 0;
    "of a pair the first register", W32, 64,
        |c| whole(Loc::over([c.s(4), c.s(5)])) => |c| whole(c.raw("regx s4")), Evaluation at 0 lane 0;
    "a pair in the wrong order", W32, 64,
        |c| whole(Loc::over([c.s(4), c.s(5)])) => |c| whole(Loc::over([c.s(5), c.s(4)])), Location at 0 lane 0;
    "a pair of the wrong registers", W32, 64,
        |c| whole(Loc::over([c.s(4), c.s(5)])) => |c| whole(Loc::over([c.s(4), c.s(6)])), Location at 0 lane 0;
    "the halves of a dword swapped", W32, 16,
        |c| whole(Loc::per_lane_half(c.v(3), Half::High)) => |c| whole(Loc::per_lane_half(c.v(3), Half::Low)), Location at 0 lane 0;
    "a wrong bit offset", W32, 5,
        |c| whole(Loc::register(c.s(4)).bit_offset(3)) => |c| whole(Loc::register(c.s(4)).bit_offset(4)), Location at 0 lane 0;
    "bytes for bits", W32, 8,
        |c| whole(Loc::register(c.s(4)).bit_offset(2)) => |c| whole(Loc::register(c.s(4)).offset(2)), Location at 0 lane 0;
    "bits for bytes in a part's size", W32, 64,
        |c| whole(Loc::over([c.s(4), c.s(5)])) => |c| whole(c.raw("regx v4; piece 32; regx v5; piece 32")), Location at 0 lane 0;
    "the parts end before the last one", W32, 64,
        |c| whole(Loc::over([c.s(4), c.s(5)])) => |c| whole(c.raw("regx s4; piece 4; piece_end; regx s5; piece 4")), Evaluation at 0 lane 0;
    "the parts do not end before an offset", W32, 16,
        |c| whole(Loc::over([c.s(4), c.s(5)]).offset(2)) => |c| whole(c.raw("regx s4; piece 4; regx s5; piece 4; offset_uconst 2")), Evaluation at 0 lane 0;
    "a part too small", W32, 64,
        |c| whole(Loc::parts([(Loc::register(c.s(4)), 32), (Loc::register(c.s(5)), 32)])) =>
        |c| whole(Loc::parts([(Loc::register(c.s(4)), 24), (Loc::register(c.s(5)), 32), (Loc::undefined(), 8)])), Location at 0 lane 0;

    // Memory.
    "a lane's scratch memory for the wave's", W32, 32,
        |_| whole(Loc::memory(SpaceId::PRIVATE_WAVE, Val::constant(64))) => |_| whole(Loc::memory(SpaceId::PRIVATE_LANE, Val::constant(64))), Location at 0 lane 0;
    "the wave's scratch memory for a lane's", W32, 32,
        |_| whole(Loc::memory(SpaceId::PRIVATE_LANE, Val::constant(64))) => |_| whole(Loc::memory(SpaceId::PRIVATE_WAVE, Val::constant(64))), Location at 0 lane 0;
    "the stack's scaling is dropped", W32, 32,
        |_| whole(Loc::stack_slot(16)) => |c| whole(c.raw("regx s33; deref_size 4; plus_uconst 16; lit5; form_aspace_address")), Location at 0 lane 0;
    "the stack is scaled the other way", W32, 32,
        |_| whole(Loc::stack_slot(16)) => |c| whole(c.raw("regx s33; deref_size 4; lit5; shl; plus_uconst 16; lit5; form_aspace_address")), Location at 0 lane 0;
    "the stack is scaled by another wave size", W64, 32,
        |_| whole(Loc::stack_slot(16)) => |c| whole(c.raw("regx s33; deref_size 4; lit5; shr; plus_uconst 16; lit5; form_aspace_address")), Location at 0 lane 0;
    "the slot's offset is scaled too", W32, 32,
        |_| whole(Loc::stack_slot(16)) => |c| whole(c.raw("regx s33; deref_size 4; plus_uconst 16; lit5; shr; lit5; form_aspace_address")), Location at 0 lane 0;
    "the stack pointer for the frame pointer", W32, 32,
        |_| whole(Loc::stack_slot(16)) => |c| whole(c.raw("regx s32; deref_size 4; lit5; shr; plus_uconst 16; lit5; form_aspace_address")), Location at 0 lane 0;
    "the slot's offset without its sign", W32, 32,
        |_| whole(Loc::stack_slot(-8)) => |_| whole(Loc::stack_slot(8)), Location at 0 lane 0;
    "global memory for local", W32, 32,
        |_| whole(Loc::local(64)) => |_| whole(Loc::memory(SpaceId::DEFAULT, Val::constant(64))), Location at 0 lane 0;
    "an argument further on", W32, 32,
        |c| whole(Loc::kernel_argument(c.s(4), c.s(5), 16)) => |c| whole(Loc::kernel_argument(c.s(4), c.s(5), 24)), Location at 0 lane 0;
    "the halves of an address swapped", W32, 32,
        |c| whole(Loc::kernel_argument(c.s(4), c.s(5), 16)) => |c| whole(Loc::kernel_argument(c.s(5), c.s(4), 16)), Location at 0 lane 0;
    "the carry between halves of an address is lost", W32, 32,
        |c| whole(Loc::kernel_argument(c.s(4), c.s(5), 16)) =>
        |c| whole(c.raw("regx s4; deref_size 4; plus_uconst 16; const4u 0xffffffff; and; regx s5; deref_size 4; const1u 32; shl; or")), Location at 0 lane 0;
    "the address of the pointer for what it points to", W32, 32,
        |c| whole(Loc::memory(SpaceId::DEFAULT, Loc::memory(SpaceId::DEFAULT, Val::pair(c.s(4), c.s(5))).read(64))) =>
        |c| whole(Loc::memory(SpaceId::DEFAULT, Val::pair(c.s(4), c.s(5)))), Location at 0 lane 0;
    "what it points to for the pointer", W32, 32,
        |c| whole(Loc::memory(SpaceId::DEFAULT, Val::pair(c.s(4), c.s(5)))) =>
        |c| whole(Loc::memory(SpaceId::DEFAULT, Loc::memory(SpaceId::DEFAULT, Val::pair(c.s(4), c.s(5))).read(64))), Location at 0 lane 0;
    "another symbol", W32, 32,
        |c| { let symbol = c.m.symbol("data"); whole(Loc::global_symbol(symbol)) } =>
        |c| { let symbol = c.m.symbol("other"); whole(Loc::global_symbol(symbol)) }, Location at 0 lane 0;

    // Values.
    "a value instead of a location", W32, 32,
        |c| whole(Loc::register(c.s(4))) => |c| whole(Loc::value(Val::register(c.s(4)))), Location at 0 lane 0;
    "a location instead of a value", W32, 32,
        |c| whole(Loc::value(Val::register(c.s(4)).plus(1))) => |c| whole(c.raw("regx s4; deref_size 4; plus_uconst 1")), Location at 0 lane 0;
    "a register instead of what is in it and one more", W32, 32,
        |c| whole(Loc::value(Val::register(c.s(4)).plus(1))) => |c| whole(Loc::register(c.s(4))), Location at 0 lane 0;
    "a constant cut", W32, 64,
        |_| whole(Loc::implicit(&0x1_0000_0005u64.to_le_bytes())) => |_| whole(Loc::implicit(&5u64.to_le_bytes())), Location at 0 lane 0;
    "a constant without its sign", W32, 64,
        |_| whole(Loc::implicit(&(-2i64).to_le_bytes())) => |_| whole(Loc::implicit(&0xffff_fffeu64.to_le_bytes())), Location at 0 lane 0;
    "a constant with the highest byte first", W32, 32,
        |_| whole(Loc::implicit(&[1, 2, 3, 4])) => |_| whole(Loc::implicit(&[4, 3, 2, 1])), Location at 0 lane 0;
    "a shift without the sign", W32, 64,
        |c| whole(Loc::value(Val::pair(c.s(4), c.s(5)).shra(Val::constant(3)))) =>
        |c| whole(Loc::value(Val::pair(c.s(4), c.s(5)).shr(Val::constant(3)))), Location at 0 lane 0;
    "a pointer to another variable", W32, 64,
        |c| whole(Loc::pointer_to(c.a, 0)) => |c| whole(Loc::pointer_to(c.b, 0)), Location at 0 lane 0;
    "a pointer to another place in the variable", W32, 64,
        |c| whole(Loc::pointer_to(c.a, 4)) => |c| whole(Loc::pointer_to(c.a, 0)), Location at 0 lane 0;
    "another procedure", W32, 32,
        |c| { let (a, b) = (Loc::register(c.s(4)), Loc::register(c.s(5))); let procedures = [c.procedure(&a), c.procedure(&b)]; whole(procedures[0].clone()) } =>
        |c| { let (a, b) = (Loc::register(c.s(4)), Loc::register(c.s(5))); let procedures = [c.procedure(&a), c.procedure(&b)]; whole(procedures[1].clone()) }, Location at 0 lane 0;

    // Elements chosen at run time.
    "the lanes of a mask for the others", W32, 128,
        |c| whole(Loc::select(Val::register(c.s(6)), Loc::register(c.v(1)), Loc::register(c.v(2)), 32, 4)) =>
        |c| whole(Loc::select(Val::register(c.s(6)), Loc::register(c.v(2)), Loc::register(c.v(1)), 32, 4)), Location at 0 lane 0;
    "another mask", W32, 128,
        |c| whole(Loc::select(Val::register(c.named("exec")), Loc::register(c.v(1)), Loc::register(c.v(2)), 32, 4)) =>
        |c| whole(Loc::select(Val::register(c.named("vcc")), Loc::register(c.v(1)), Loc::register(c.v(2)), 32, 4)), Location at 0 lane 0;
    "elements of another size", W32, 128,
        |c| whole(Loc::select(Val::register(c.s(6)), Loc::register(c.v(1)), Loc::register(c.v(2)), 32, 4)) =>
        |c| whole(Loc::select(Val::register(c.s(6)), Loc::register(c.v(1)), Loc::register(c.v(2)), 16, 8)), Location at 0 lane 0;
    "elements repeated at another size", W32, 64,
        |c| whole(Loc::register(c.s(4)).extend(16, 4)) => |c| whole(Loc::register(c.s(4)).extend(8, 8)), Location at 0 lane 0;
    "an overlay at another place", W32, 64,
        |c| whole(Loc::over([c.s(4), c.s(5)]).overlay(Loc::register(c.s(6)), Val::constant(32), Val::constant(32))) =>
        |c| whole(Loc::over([c.s(4), c.s(5)]).overlay(Loc::register(c.s(6)), Val::constant(0), Val::constant(32))), Location at 0 lane 0;

    // Ranges, and several places at once.
    "a range too long: the value has moved", W32, 32,
        |c| vec![(0..0x24, vec![Loc::register(c.s(4))])] => |c| vec![(0..0x28, vec![Loc::register(c.s(4))])], Location at 0x24 lane 0;
    "a range too short", W32, 32,
        |c| vec![(0..0x24, vec![Loc::register(c.s(4))])] => |c| vec![(0..0x20, vec![Loc::register(c.s(4))])], Location at 0x23 lane 0;
    "a range that begins one instruction early", W32, 32,
        |c| vec![(8..0x24, vec![Loc::register(c.s(4))])] => |c| vec![(4..0x24, vec![Loc::register(c.s(4))])], Location at 4 lane 0;
    "ranges shifted by one instruction", W32, 32,
        |c| vec![(0..0x10, vec![Loc::register(c.s(4))]), (0x10..0x40, vec![Loc::lane(c.v(40), 7)])] =>
        |c| vec![(0..0x14, vec![Loc::register(c.s(4))]), (0x14..0x40, vec![Loc::lane(c.v(40), 7)])], Location at 0x10 lane 0;
    "a range that is missing", W32, 32,
        |c| vec![(0..0x10, vec![Loc::register(c.s(4))]), (0x10..0x40, vec![Loc::lane(c.v(40), 7)])] =>
        |c| vec![(0..0x10, vec![Loc::register(c.s(4))])], Location at 0x10 lane 0;
    "a place where the variable is not available", W32, 32,
        |c| vec![(0..0x10, vec![Loc::register(c.s(4))]), (0x20..0x40, vec![Loc::register(c.s(4))])] =>
        |c| whole(Loc::register(c.s(4))), Location at 0x10 lane 0;
    "no place at all", W32, 32, |c| whole(Loc::register(c.s(4))) => |_| vec![], Location at 0 lane 0;
    "a place for what is nowhere", W32, 32, |_| vec![] => |c| whole(Loc::register(c.s(4))), Location at 0 lane 0;
    "nowhere, for a while", W32, 32,
        |c| whole(Loc::register(c.s(4))) => |c| vec![(0..0x20, vec![Loc::register(c.s(4))]), (0x20..0x40, vec![Loc::undefined()])], Location at 0x20 lane 0;
    "one of two places is missing", W32, 32,
        |c| vec![(0..0x20, vec![Loc::register(c.s(4)), Loc::per_lane(c.v(1))])] => |c| vec![(0..0x20, vec![Loc::register(c.s(4))])], Location at 0 lane 0;
    "one place too many", W32, 32,
        |c| vec![(0..0x20, vec![Loc::register(c.s(4))])] => |c| vec![(0..0x20, vec![Loc::register(c.s(4)), Loc::per_lane(c.v(1))])], Location at 0 lane 0;
};

#[test]
fn wrong_places_are_found() {
    let consumer = Consumer::llvm();
    let all = ROWS.iter().map(|row| {
        let truth = module(gpu(row.target), row.bits, row.truth);
        let wrong = module(gpu(row.target), row.bits, row.wrong);
        let fault = Expected { kind: row.kind, variable: Some("x"), pc: Some(row.pc), lane: Some(row.lane) };
        (row.fault, missed(&truth, &consumer, &sections(&wrong, &consumer), &fault))
    });
    all_found("places", all.collect());
}

/// Operations with the right meaning that a consumer of plain DWARF 5 does not have.
#[test]
fn operations_that_the_consumer_does_not_have_are_found() {
    const X86: &str = "x86_64";
    type Pair = (&'static str, u64, Describe, Describe);
    let rows: [Pair; 4] = [
        // A vendor operation.
        (
            "a vendor's operation",
            32,
            |c| whole(Loc::register(c.named("rax"))),
            |c| whole(c.raw("regx rax; offset_uconst 0")),
        ),
        // In plain DWARF 5 a register ends a location: it cannot be read or offset.
        (
            "a register that is read",
            64,
            |c| whole(Loc::value(Val::register(c.named("rax")))),
            |c| whole(c.raw("regx rax; deref; stack_value")),
        ),
        (
            "a value that goes on",
            64,
            |c| whole(Loc::value(Val::register(c.named("rax")))),
            |c| whole(c.raw("bregx rax 0; stack_value; deref; stack_value")),
        ),
        // The last part lacks a size.
        (
            "a part without a size",
            64,
            |c| {
                let low = Loc::register(c.named("rax"));
                let high = Loc::value(Val::register(c.named("rdx")));
                whole(Loc::parts([(low, 32), (high, 32)]))
            },
            |c| whole(c.raw("regx rax; piece 4; bregx rdx 0; deref; stack_value; piece 4; regx rax")),
        ),
    ];
    let consumer = Consumer::dwarf5();
    let mut vendor = Consumer::dwarf5();
    vendor.expressions.dialect = Dialect::Llvm;
    let all = rows.into_iter().map(|(fault, bits, truth, wrong)| {
        let truth = module(gpu(X86), bits, truth);
        let wrong = module(gpu(X86), bits, wrong);
        let fault_at = Expected { kind: Evaluation, variable: Some("x"), pc: None, lane: None };
        (fault, missed(&truth, &consumer, &sections(&wrong, &vendor), &fault_at))
    });
    all_found("plain", all.collect());
}
