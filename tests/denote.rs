//! The promise: each node of a location means what its documentation defines. Expectations are computed by hand, in
//! bits of storage; no DWARF is involved.

use eitri::build::Builder;
use eitri::model::{
    BaseEncoding, Column, DescribedStorage, Half, Loc, MachineContents, Module, StorageSpan, UnitId, Val,
};
use eitri::op::{Expr, Reg};
use eitri::target::{Scaling, SpaceId, Target};

/// A wave of 32 lanes, with lane 5 in focus.
struct Wave;

const S4: Reg = Reg(36);
const S5: Reg = Reg(37);
const S6: Reg = Reg(38);
const S33: Reg = Reg(65);

impl MachineContents for Wave {
    /// s4 contains 0x1000, s5 contains 2, s6 contains 0b1010, s33 contains 0x800. Other registers cannot be read.
    fn register(&self, reg: Reg, from: u64, bits: u32) -> Option<u64> {
        let value: u64 = match reg {
            S4 => 0x1000,
            S5 => 2,
            S6 => 0b1010,
            S33 => 0x800,
            _ => return None,
        };
        Some((value >> from) & (u64::MAX >> (64 - bits)))
    }

    /// s4 contained 0x77 on entry to the function. The other entry values are unknown.
    fn entry_register(&self, reg: Reg) -> Option<u64> {
        (reg == S4).then_some(0x77)
    }

    /// Each byte of global memory is the low byte of its address. Other memory cannot be read.
    fn memory(&self, space: SpaceId, _: Option<u32>, from: u128, bits: u32) -> Option<u64> {
        let bytes = (0..8).fold(0, |all, at| all | u64::from((from / 8) as u8 + at) << (8 * at));
        (space == SpaceId::DEFAULT).then_some(bytes & (u64::MAX >> (64 - bits)))
    }

    /// The frame is at 0x10000 of the wave's private memory.
    fn cfa(&self) -> Option<StorageSpan> {
        let storage = DescribedStorage::Memory(SpaceId::PRIVATE_WAVE, None);
        Some(StorageSpan { storage, from: 8 * 0x1_0000, bits: 1 })
    }

    fn lane(&self) -> Option<u32> {
        Some(5)
    }

    fn symbol(&self, name: &str) -> Option<u64> {
        (name == "known").then_some(0x4000)
    }
}

struct Scene {
    m: Builder,
    unit: UnitId,
}

impl Scene {
    fn v(&self, n: u16) -> Reg {
        self.m.target().vgpr(n).unwrap()
    }

    fn global(&self, address: u64) -> Loc {
        Loc::memory(SpaceId::DEFAULT, Val::constant(address))
    }
}

/// Spans as text: storage, first bit and number of bits.
fn text(module: &Module, spans: &[StorageSpan]) -> String {
    let one = |span: &StorageSpan| {
        let storage = match &span.storage {
            DescribedStorage::Register(reg) => module.target().register(*reg).unwrap().name().to_string(),
            DescribedStorage::Memory(space, lane) => {
                let space = &*module.target().space(*space).unwrap().name;
                lane.map_or(space.into(), |lane| format!("{space}@{lane}"))
            }
            DescribedStorage::Implicit(bytes) => {
                bytes.iter().rev().map(|byte| format!("{byte:02x}")).collect()
            }
            DescribedStorage::Pointer(variable, by) => format!("&{variable}{by:+}"),
            DescribedStorage::Undefined => "nowhere".into(),
        };
        format!("{storage}+{:#x}/{}", span.from, span.bits)
    };
    spans.iter().map(one).collect::<Vec<_>>().join(" ")
}

type Row = (fn(&mut Scene) -> Loc, u64, &'static str);

#[rustfmt::skip]
const ROWS: &[Row] = &[
    // Registers and lanes: a lane has 32 bits.
    (|_| Loc::register(S4), 32, "s4+0x0/32"),
    (|_| Loc::register(S4), 5, "s4+0x0/5"),
    (|s| Loc::register(s.v(3)), 1024, "v3+0x0/1024"),
    (|s| Loc::lane(s.v(3), 0), 32, "v3+0x0/32"),
    (|s| Loc::lane(s.v(3), 7), 32, "v3+0xe0/32"),
    (|s| Loc::lane(s.v(3), 31), 32, "v3+0x3e0/32"),
    (|s| Loc::per_lane(s.v(3)), 32, "v3+0xa0/32"),
    (|s| Loc::per_lane_half(s.v(3), Half::Low), 16, "v3+0xa0/16"),
    (|s| Loc::per_lane_half(s.v(3), Half::High), 16, "v3+0xb0/16"),
    (|s| Loc::per_lane_over([s.v(3), s.v(9)]), 64, "v3+0xa0/32 v9+0xa0/32"),
    (|_| Loc::over([S4, S5]), 64, "s4+0x0/32 s5+0x0/32"),
    (|_| Loc::over([S5, S4]), 40, "s5+0x0/32 s4+0x0/8"),
    (|s| Loc::lanes([(s.v(1), 2), (s.v(1), 3)]), 64, "v1+0x40/64"),
    (|s| Loc::lanes([(s.v(1), 3), (s.v(1), 2)]), 64, "v1+0x60/32 v1+0x40/32"),

    // The stack: 16 bytes from s33, which counts the bytes of 32 lanes: 0x800 / 32 = 0x40.
    (|_| Loc::stack_slot(16), 32, "private_lane@5+0x280/32"),
    (|_| Loc::stack_slot(-16), 32, "private_lane@5+0x180/32"),

    // Memory: bit 8 times the address. Addresses are truncated to the bits of the space.
    (|s| s.global(0x1234), 64, "global+0x91a0/64"),
    (|_| Loc::local(0x20), 8, "local+0x100/8"),
    (|_| Loc::memory(SpaceId::PRIVATE_LANE, Val::constant(4)), 32, "private_lane@5+0x20/32"),
    (|_| Loc::memory(SpaceId::PRIVATE_WAVE, Val::constant(4)), 32, "private_wave+0x20/32"),
    (|_| Loc::memory(SpaceId(2), Val::constant(0x5_0000_0002)), 8, "region+0x10/8"),
    (|_| Loc::memory(SpaceId(2), Val::constant(0xffff_ffff)), 16, "! it goes past the end of space region"),
    (|_| Loc::kernel_argument(S4, S5, 16), 32, "global+0x1000008080/32"),
    (|s| { let known = s.m.symbol("known"); Loc::global_symbol(known) }, 32, "global+0x20000/32"),
    (|s| { let known = s.m.symbol("known"); Loc::local_symbol(known) }, 32, "local+0x20000/32"),
    (|s| { let other = s.m.symbol("other"); Loc::global_symbol(other) }, 32, "! symbol `other` cannot be read"),

    // Offsets.
    (|s| Loc::per_lane(s.v(3)).offset(3), 8, "v3+0xb8/8"),
    (|_| Loc::register(S4).bit_offset(3), 5, "s4+0x3/5"),
    (|_| Loc::register(S4).offset(3).offset(-1), 8, "s4+0x10/8"),
    (|s| s.global(16).offset(-8), 8, "global+0x40/8"),
    (|_| Loc::over([S4, S5]).offset(2), 32, "s4+0x10/16 s5+0x0/16"),
    (|_| Loc::over([S4, S5]).bit_offset(33), 3, "s5+0x1/3"),
    (|s| Loc::register(s.v(3)).offset_by(Val::register(S5)), 8, "v3+0x10/8"),
    (|s| Loc::register(s.v(3)).bit_offset_by(Val::register(S5)), 8, "v3+0x2/8"),
    (|s| Loc::register(s.v(3)).offset_by(Val::lane_index().mul(Val::constant(4))), 32, "v3+0xa0/32"),
    (|s| s.global(16).offset_by(Val::constant(0).sub(Val::constant(8))), 8, "global+0x40/8"),
    (|_| Loc::register(S4).offset_by(Val::register(S5)), 32, "! it goes past the end of s4"),
    (|s| Loc::per_lane(s.v(3)).offset_by(Val::register(S4)), 8, "! it goes past the end of a lane of v3"),
    // Intermediate locations outside the storage are errors.
    (|_| Loc::register(S4).offset_by(Val::register(S4)).offset_by(Val::register(S4).neg()), 8, "! it goes past the end of s4"),

    // Parts.
    (|s| Loc::parts([(Loc::register(S4), 16), (s.global(8), 16)]), 32, "s4+0x0/16 global+0x40/16"),
    (|s| Loc::parts([(Loc::register(S4), 3), (Loc::undefined(), 5), (Loc::lane(s.v(0), 1), 8)]), 16, "s4+0x0/3 nowhere+0x0/5 v0+0x20/8"),
    (|_| Loc::parts([(Loc::register(S4), 8), (Loc::register(S4).offset(1), 8)]), 16, "s4+0x0/16"),
    (|_| Loc::parts([(Loc::over([S4, S5]), 48), (Loc::register(S6), 16)]).offset(3), 32, "s4+0x18/8 s5+0x0/16 s6+0x0/8"),

    // Overlays, repetitions and selections.
    (|_| Loc::over([S4, S5]).overlay(Loc::register(S6), Val::constant(16), Val::constant(24)), 64, "s4+0x0/16 s6+0x0/24 s5+0x8/24"),
    (|_| Loc::register(S4).overlay(Loc::register(S6), Val::constant(0), Val::constant(32)), 32, "s6+0x0/32"),
    (|_| Loc::over([S4, S5]).overlay(Loc::register(S6), Val::register(S5), Val::constant(8)), 16, "s4+0x0/2 s6+0x0/8 s4+0xa/6"),
    (|_| Loc::register(S4).overlay(Loc::register(S6), Val::register(S4), Val::constant(8)), 32, "! it goes past the end of s4"),
    (|_| Loc::register(S4).offset(1).extend(8, 3), 24, "s4+0x8/8 s4+0x8/8 s4+0x8/8"),
    (|_| Loc::register(S4).extend(12, 2).bit_offset(8), 8, "s4+0x8/4 s4+0x0/4"),
    // 0b1010: elements 1 and 3 come from the second location, each at its own position.
    (|s| Loc::select(Val::register(S6), Loc::register(s.v(1)), Loc::register(s.v(2)), 32, 4), 128, "v1+0x0/32 v2+0x20/32 v1+0x40/32 v2+0x60/32"),
    (|s| Loc::select(Val::register(S6), Loc::register(s.v(1)), Loc::register(s.v(2)), 32, 4).offset(4), 32, "v2+0x20/32"),
    (|s| Loc::select(Val::register(Reg(1)), Loc::register(s.v(1)), Loc::register(s.v(2)), 32, 4), 32, "! register exec cannot be read"),

    // Values without storage.
    (|_| Loc::implicit(&[0x12, 0x34, 0x56]), 24, "563412+0x0/24"),
    (|_| Loc::implicit(&[0x12, 0x34, 0x56]).bit_offset(4), 8, "41+0x0/8"),
    (|_| Loc::value(Val::constant(0x1122_3344_5566_7788)), 64, "1122334455667788+0x0/64"),
    (|_| Loc::value(Val::constant(0x1122_3344_5566_7788)), 16, "7788+0x0/16"),
    (|s| { let x = x(s); Loc::pointer_to(x, -4) }, 64, "&variable0-4+0x0/64"),
    (|_| Loc::cfa(), 32, "private_wave+0x80000/32"),
    (|_| Loc::cfa().offset(8), 32, "private_wave+0x80040/32"),
    (|_| Loc::cfa().offset(-8).bit_offset(3), 2, "private_wave+0x7ffc3/2"),
    (|_| Loc::cfa().offset_by(Val::register(S5)), 8, "private_wave+0x80010/8"),
    (|_| Loc::cfa().offset(-0x1_0001), 8, "! it goes past the end of space private_wave"),
    (|_| Loc::undefined(), 32, "nowhere+0x0/32"),
    (|_| Loc::undefined().offset(100), 32, "nowhere+0x0/32"),

    // Procedures and raw expressions.
    (|s| { let p = s.m.procedure(s.unit, &Loc::over([S4, S5])).unwrap(); Loc::call(p).offset(4) }, 32, "s5+0x0/32"),
    (|s| Loc::expr(s.m.expr(Expr::raw([0x30]), &[]).unwrap()), 32, "! a raw expression has no meaning of its own"),

    // Values of 64 bits.
    (|_| Loc::value(Val::register(S4).plus(-1)), 64, "0000000000000fff+0x0/64"),
    (|_| Loc::value(Val::pair(S4, S5)), 64, "0000000200001000+0x0/64"),
    (|_| Loc::value(Val::lane_index()), 64, "0000000000000005+0x0/64"),
    (|_| Loc::value(Val::entry_value(S4)), 64, "0000000000000077+0x0/64"),
    (|_| Loc::value(Val::entry_value(S5)), 64, "! register s5 on entry cannot be read"),
    (|_| Loc::value(Val::entry_value(S4).sub(Val::register(S4))), 64, "fffffffffffff077+0x0/64"),
    (|_| Loc::memory(SpaceId::DEFAULT, Val::entry_value(S4).plus(1)), 32, "global+0x3c0/32"),
    (|_| Loc::value(Val::constant(3).sub(Val::constant(5))), 64, "fffffffffffffffe+0x0/64"),
    (|_| Loc::value(Val::constant(u64::MAX).add(Val::constant(2))), 64, "0000000000000001+0x0/64"),
    (|_| Loc::value(Val::constant(1 << 63).mul(Val::constant(3))), 64, "8000000000000000+0x0/64"),
    (|_| Loc::value(Val::constant(0b1100).and(Val::constant(0b1010))), 8, "08+0x0/8"),
    (|_| Loc::value(Val::constant(0b1100).or(Val::constant(0b1010))), 8, "0e+0x0/8"),
    (|_| Loc::value(Val::constant(0b1100).xor(Val::constant(0b1010))), 8, "06+0x0/8"),
    (|_| Loc::value(Val::constant(1).neg()), 64, "ffffffffffffffff+0x0/64"),
    (|_| Loc::value(Val::constant(1).not()), 64, "fffffffffffffffe+0x0/64"),
    (|_| Loc::value(Val::constant(3).shl(Val::constant(62))), 64, "c000000000000000+0x0/64"),
    (|_| Loc::value(Val::constant(3).shl(Val::constant(64))), 64, "0000000000000000+0x0/64"),
    (|_| Loc::value(Val::constant(1 << 63).shr(Val::constant(63))), 64, "0000000000000001+0x0/64"),
    (|_| Loc::value(Val::constant(1 << 63).shr(Val::constant(1000))), 64, "0000000000000000+0x0/64"),
    (|_| Loc::value(Val::constant(1 << 63).shra(Val::constant(62))), 64, "fffffffffffffffe+0x0/64"),
    (|_| Loc::value(Val::constant(1 << 63).shra(Val::constant(1000))), 64, "ffffffffffffffff+0x0/64"),
    (|_| Loc::value(Loc::register(S4).bit_offset(8).read(8)), 64, "0000000000000010+0x0/64"),
    (|_| Loc::value(Loc::over([S4, S5]).read(64)), 64, "0000000200001000+0x0/64"),
    (|_| Loc::value(Loc::over([S4, S5]).bit_offset(12).read(22)), 64, "0000000000200001+0x0/64"),
    (|s| Loc::value(s.global(0x1234).read(16)), 64, "0000000000003534+0x0/64"),
    (|s| Loc::memory(SpaceId::DEFAULT, s.global(0x10).read(32)), 8, "global+0x98908880/8"),
    (|_| Loc::value(Loc::local(0).read(16)), 64, "! what it depends on cannot be read"),
    (|s| { let x = x(s); Loc::value(Loc::pointer_to(x, 0).read(64)) }, 64, "! a part of it means nothing: a pointer to a variable has no number"),
    (|_| Loc::value(Loc::undefined().read(16)), 64, "! what it depends on cannot be read"),
];

fn x(scene: &mut Scene) -> eitri::model::VariableId {
    let int = scene.m.base_type(scene.unit, "int", BaseEncoding::Signed, 32).unwrap();
    scene.m.variable(scene.unit, "x", int).unwrap().id()
}

/// Meaning of a location in a function whose stack base is s33 with this scaling.
fn meaning(
    loc: fn(&mut Scene) -> Loc,
    bits: u64,
    scaling: Option<Scaling>,
    contents: &dyn MachineContents,
) -> String {
    let mut m = Builder::new(Target::named("amdgpu-gfx1030-wave32").unwrap());
    let unit = m.unit("a.cl");
    let mut scene = Scene { m, unit };
    let loc = loc(&mut scene);
    let mut f = scene.m.function(unit, "f").unwrap();
    f.code("f", 64);
    if let Some(scaling) = scaling {
        f.stack_base(S33).unwrap().scaling(scaling);
    }
    let f = f.id();
    // A procedure has no size: its meaning may be a part of the register.
    let procedure = scene.m.procedure(unit, &loc).unwrap();
    let module = scene.m.finish().unwrap();
    let loc = module.procedures().find(|(id, _)| *id == procedure).unwrap().1.loc;
    match module.denote(Some(f), loc, bits, contents) {
        Ok(spans) => text(&module, &spans),
        Err(why) => format!("! {why}"),
    }
}

#[test]
fn each_node_means_what_it_says() {
    let mut wrong = Vec::new();
    for (index, &(loc, bits, expected)) in ROWS.iter().enumerate() {
        let found = meaning(loc, bits, Some(Scaling::Wave), &Wave);
        if found != expected {
            wrong.push(format!("row {index}: expected {expected}, found {found}"));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// Meaning of a frame at a pc: explicit rules, and defaults.
#[test]
fn frames_mean_what_their_rules_say() {
    let mut m = Builder::new(Target::named("amdgpu-gfx1030-wave32").unwrap());
    let (v41, exec, pc) =
        (m.target().vgpr(41).unwrap(), m.target().exec().unwrap(), m.target().pc().unwrap());
    let unit = m.unit("a.cl");
    let f = m.function(unit, "f").unwrap().code("f", 0x40).id();
    m.frame(f)
        .and_then(|mut frame| {
            frame
                // s33 contains 0x800.
                .cfa(0..0x40, Loc::memory(SpaceId::PRIVATE_WAVE, Val::register(S33).plus(16)))?
                .return_address(0..0x40, S4, S5)?
                .saved_in_lane(8..0x38, S6, v41, 31)?
                .saved(8..0x38, S33, Loc::value(Val::entry_value(S6).plus(1)))?
                // The caller's `exec` is in s6: 0b1010.
                .saved(8..0x38, exec, Loc::register(S6))?
                .saved_to_scratch(8..0x38, v41, 4, Some(Val::entry_value(exec)))?
                .undefined(8..0x38, S5)
                .map(drop)
        })
        .unwrap();
    let module = m.finish().unwrap();
    let of = |column, at| match module.denote_frame(f, at, column, &Wave) {
        Ok(spans) => text(&module, &spans),
        Err(why) => format!("! {why}"),
    };
    let reg = Column::Register;
    assert_eq!(of(Column::Cfa, 4), "private_wave+0x4080/8");
    assert_eq!(of(reg(pc), 4), "s4+0x0/32 s5+0x0/32");
    // Calls preserve v41 and not s6.
    assert_eq!((of(reg(S6), 4), of(reg(v41), 4)), ("nowhere+0x0/32".into(), "v41+0x0/1024".into()));
    assert_eq!((of(reg(S6), 8), of(reg(S5), 8)), ("v41+0x3e0/32".into(), "nowhere+0x0/32".into()));
    assert_eq!(of(reg(S6), 0x38), "nowhere+0x0/32");
    assert_eq!(of(reg(exec), 8), "s6+0x0/32");
    // The lane that contains s6 cannot be read here.
    assert_eq!(of(reg(S33), 8), "! register s6 on entry cannot be read");
    // Lanes 1 and 3 are in the slot at 4 * 32 bytes from the frame, 0x890, with a dword per lane.
    assert_eq!(
        of(reg(v41), 8),
        "v41+0x0/32 private_wave+0x44a0/32 v41+0x40/32 private_wave+0x44e0/32 v41+0x80/896"
    );
    // No rules.
    let (x, found) = (Target::x86_64(), |module: &Module, f, reg| {
        module.denote_frame(f, 0, Column::Register(reg), &Wave).map(|spans| text(module, &spans))
    });
    let mut m = Builder::new(x);
    let unit = m.unit("a.c");
    let f = m.function(unit, "f").unwrap().code("f", 4).id();
    let at = Loc::memory(SpaceId::DEFAULT, Val::constant(0x7000));
    m.frame(f).unwrap().cfa(0..4, at).unwrap().saved(0..4, Reg(16), Loc::cfa().offset(-8)).unwrap();
    let module = m.finish().unwrap();
    assert_eq!(found(&module, f, Reg(7)).unwrap(), "0000000000007000+0x0/64");
    assert_eq!(found(&module, f, Reg(3)).unwrap(), "rbx+0x0/64");
    assert_eq!(found(&module, f, Reg(16)).unwrap(), "default+0x37fc0/64");
}

/// A base that counts bytes per lane is used unscaled; the base of a kernel is 0.
#[test]
fn a_stack_slot_depends_on_the_function() {
    let slot: fn(&mut Scene) -> Loc = |_| Loc::stack_slot(16);
    assert_eq!(meaning(slot, 32, Some(Scaling::Lane), &Wave), "private_lane@5+0x4080/32");
    assert_eq!(meaning(slot, 32, None, &Wave), "private_lane@5+0x80/32");
}

/// Locations that depend on the lane are the only errors without a current lane.
#[test]
fn locations_without_a_lane_are_denoted() {
    struct None;
    impl MachineContents for None {
        fn register(&self, reg: Reg, from: u64, bits: u32) -> Option<u64> {
            Wave.register(reg, from, bits)
        }
        fn memory(&self, _: SpaceId, _: Option<u32>, _: u128, _: u32) -> Option<u64> {
            Option::None
        }
        fn lane(&self) -> Option<u32> {
            Option::None
        }
        fn symbol(&self, _: &str) -> Option<u64> {
            Option::None
        }
    }
    let of = |loc| meaning(loc, 32, Option::None, &None);
    assert_eq!(of(|s| Loc::lane(s.v(3), 7)), "v3+0xe0/32");
    assert_eq!(of(|_| Loc::local(0)), "local+0x0/32");
    for loc in [
        (|s| Loc::per_lane(s.v(3))) as fn(&mut Scene) -> Loc,
        |_| Loc::stack_slot(16),
        |_| Loc::value(Val::lane_index()),
    ] {
        assert_eq!(of(loc), "! it depends on the lane, and no lane asks");
    }
}
