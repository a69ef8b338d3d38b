//! Divergent control flow, whole-wave code, and frames.

use eitri::build::Builder;
use eitri::lower::Consumer;
use eitri::model::{BaseEncoding, Loc, Module, RegionKind, Val};
use eitri::target::{SpaceId, Target};

/// Consumers with support for lanes and frames.
pub fn consumers() -> [Consumer; 3] {
    [Consumer::llvm(), Consumer::rocgdb(), Consumer::rocgdb_legacy()].map(|mut consumer| {
        consumer.forms = crate::sabotage::patched::fixed().forms;
        consumer
    })
}

fn gpu() -> Builder {
    Builder::new(Target::named("amdgpu-gfx1030-wave32").unwrap())
}

/// Divergent control flow with a mask that moves. Consumers with active lanes also get whole-wave code, which starts
/// where the mask moves, so that few pcs are compared; others get nested regions.
pub fn lanes(consumer: &Consumer) -> Module {
    let mut m = gpu();
    let gpu = m.target().clone();
    let s = |number| gpu.sgpr(number).unwrap();
    let unit = m.unit("a.cl");
    let k = m.function(unit, "k").unwrap().code("k", 0x40).kernel().id();
    let moved = [(0..0x10, Loc::register(s(8))), (0x10..0x40, Loc::lane(gpu.vgpr(41).unwrap(), 2))];
    let mut lanes = m.lanes(k).unwrap();
    if consumer.attributes.active_lane.is_some() {
        lanes.region(RegionKind::Other, 0..0x40, 0x1c, &moved).unwrap();
        lanes.whole_wave(0x10..0x40, &Loc::register(s(10))).unwrap();
    } else {
        let around = lanes.region(RegionKind::Then, 4..0x1c, 0x1c, &moved).unwrap();
        let fixed = [(0..0x40, Loc::register(s(9)))];
        lanes.inside(around).unwrap().region(RegionKind::Loop, 8..0x18, 0x18, &fixed).unwrap();
    }
    m.finish().unwrap()
}

/// Two units, with frames of an entry function and of a function that saves registers.
pub fn frames() -> Module {
    let mut m = gpu();
    let gpu = m.target().clone();
    let s = |number| gpu.sgpr(number).unwrap();
    let v = |number| gpu.vgpr(number).unwrap();
    let exec = gpu.exec().unwrap();
    let pc = gpu.pc().unwrap();
    let unit = m.unit("a.cl");
    let int = m.base_type(unit, "int", BaseEncoding::Signed, 32).unwrap();
    let k = m.function(unit, "k").unwrap().code("k", 0x40).kernel().id();
    m.variable(k, "x", int).unwrap().live(0..0x40, Loc::per_lane(v(40))).unwrap();
    m.frame(k).unwrap().entry_function().unwrap();

    let unit = m.unit("b.cl");
    let uint = m.base_type(unit, "uint", BaseEncoding::Unsigned, 32).unwrap();
    let data = m.symbol("data");
    m.variable(unit, "g", uint).unwrap().external().always(Loc::global_symbol(data)).unwrap();
    let f = m.function(unit, "other").unwrap().code("other", 0x40).id();
    let first = Loc::lane(v(42), 5);
    let second = Loc::register(s(11));
    m.variable(f, "y", uint).unwrap().live(0..0x20, first).unwrap().live(0x20..0x40, second).unwrap();
    let stack = |reg| Loc::memory(SpaceId::PRIVATE_WAVE, Val::register(reg));
    let some = Loc::select(Val::entry_value(exec), Loc::register(v(43)), Loc::cfa().offset(128), 32, 32);
    let mut frame = m.frame(f).unwrap();
    frame.cfa(0..8, stack(s(32))).unwrap().cfa(8..0x40, stack(s(33))).unwrap();
    frame.saved(0..0x40, pc, Loc::over([s(30), s(31)])).unwrap();
    frame.saved(8..0x38, s(33), Loc::lane(v(40), 20)).unwrap().saved(8..0x38, v(43), some).unwrap();
    frame.saved(8..0x38, v(44), Loc::cfa().offset(256)).unwrap().undefined(8..0x38, v(45)).unwrap();
    m.finish().unwrap()
}
