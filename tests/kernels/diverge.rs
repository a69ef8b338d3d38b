//! `k04_diverge.cl`: an early return, and five nested `if`s with both sides, three levels deep.
//!
//! LLVM changes the order of the source: for lines 6, 10, 18 and 19 the `else` runs first. The contents of each
//! register by pc are derived from the instructions (`llvm-objdump-19 -d examples/data/k04_diverge.o`).

use std::ops::Range;
use std::sync::LazyLock;

use eitri::build::Builder;
use eitri::eval::{CallStack, DebugInfo, Snapshot};
use eitri::lower::Consumer;
use eitri::model::{Loc, Module, SourceLine};
use eitri::read::{Dwarf, FrameSection, Object, ReadOptions};

use super::{Attached, Line, attached, gfx1030, rows};
use crate::common::with;

const OBJECT: &[u8] = include_bytes!("../../examples/data/k04_diverge.o");
const CODE_BYTES: u64 = 0x1cc;

/// Output of clang with `-gline-tables-only`, which does not change the code; without the prologue end.
#[rustfmt::skip]
const LINES: &[Line] = &[
    (0x000,  2, 11, true),  (0x028,  3,  7, true),  (0x02c,  3,  9, false), (0x034,  3,  7, false),
    (0x038,  2, 11, true),  (0x040,  4, 11, true),  (0x05c,  6,  7, true),  (0x060,  4, 11, true),
    (0x068,  6,  9, true),  (0x074,  6,  7, false), (0x07c, 17, 17, true),  (0x088, 18, 15, true),
    (0x094, 18,  9, false), (0x098, 18, 15, false), (0x0a0, 18,  9, false), (0x0a8,  0,  9, false),
    (0x0b0, 19, 20, true),  (0x0bc, 19, 14, false), (0x0c0, 19, 20, false), (0x0c8, 19, 14, false),
    (0x0d0, 20, 27, true),  (0x0d4, 20, 32, false), (0x0d8, 20, 20, false), (0x0e4, 20, 45, false),
    (0x0ec, 19, 14, true),  (0x0f0, 19, 32, false), (0x0f4,  0, 32, false), (0x0f8, 18,  9, true),
    (0x100, 18, 31, false), (0x104, 18, 25, false), (0x110, 18, 37, false), (0x11c,  0, 37, false),
    (0x120,  6,  7, true),  (0x128,  7, 15, true),  (0x130,  8, 11, true),  (0x138,  8,  9, false),
    (0x144,  9, 17, true),  (0x148, 10, 11, true),  (0x14c, 10, 13, false), (0x154, 10, 11, false),
    (0x158, 11, 18, true),  (0x160, 10, 11, true),  (0x168, 10, 30, false), (0x16c, 10, 24, false),
    (0x178, 10, 36, false), (0x180,  0, 36, false), (0x184,  8,  9, true),  (0x18c, 13, 17, true),
    (0x190, 14, 17, true),  (0x198, 14, 11, false), (0x1a4, 14, 24, false), (0x1ac,  0, 24, false),
    (0x1b4, 22,  3, true),  (0x1c0, 22, 10, false), (0x1c8, 23,  1, true),
];

fn describe() -> eitri::Result<Module> {
    let gpu = gfx1030();
    let s0 = gpu.sgpr(0)?;
    let s1 = gpu.sgpr(1)?;
    let s4 = gpu.sgpr(4)?;
    let mut m = Builder::new(gpu);
    let unit = m.unit("k04_diverge.cl");
    let file = m.primary_file(unit)?;
    m.describe_unit(unit)?.language(gimli::DW_LANG_OpenCL.0);
    let kernel = m
        .function(unit, "diverge")?
        .code("diverge", CODE_BYTES)
        .kernel()
        .declared(SourceLine::new(file, 1))
        .id();
    rows(&mut m, kernel, file, LINES);
    m.frame(kernel)?.entry_function()?;

    // A mask is in its register until the register is overwritten.
    let mut lanes = m.lanes(kernel)?;
    let mask = |pcs: Range<u64>, register| [(pcs, Loc::register(register))];
    // Line 3. 0x38 s_load_dwordx4 s[0:3] overwrites the mask: from 0x40 on, the returned lanes are unknown.
    lanes.early_return(0x34..0x40, 0x1c8, &mask(0x28..0x40, s0))?;
    // Line 6: 0x6c v_cmpx, 0x120 s_andn2_saveexec, 0x1b0 s_or; others alike.
    let line_6 = lanes.if_else(0x74..0x124, 0x124..0x1b4, 0x6c, 0x1b4, &mask(0x60..0x1b4, s0))?;
    lanes.inside(line_6[0])?;
    let line_18 = lanes.if_else(0xa0..0xfc, 0xfc..0x120, 0x98, 0x120, &mask(0x98..0x120, s1))?;
    lanes.inside(line_18[0])?;
    lanes.if_else(0xc8..0xf0, 0xf0..0xf8, 0xc0, 0xf8, &mask(0xc0..0xf8, s4))?;
    lanes.inside(line_6[1])?;
    let line_8 = lanes.if_else(0x13c..0x188, 0x188..0x1b0, 0x138, 0x1b0, &mask(0x13c..0x1b0, s1))?;
    lanes.inside(line_8[0])?;
    lanes.if_else(0x154..0x164, 0x164..0x184, 0x14c, 0x184, &mask(0x14c..0x184, s4))?;
    m.finish()
}

/// A stopped wave: pc, EXEC, and the contents of s0, s1 and s4, if known.
#[derive(Debug, Clone, Copy)]
pub struct Stop {
    pub pc: u64,
    exec: u32,
    s: [Option<u32>; 3],
}

/// State of a wave in a kernel at this address.
pub fn wave(start: u64, Stop { pc, exec, s }: Stop) -> Snapshot {
    let gpu = gfx1030();
    let mut wave = with::<Snapshot>(|machine| machine.pc = Some(start + pc));
    let mut put = |name, bytes: &[u8]| {
        wave.registers.insert(gpu.register_named(name).expect("a register"), bytes.into());
    };
    put("pc", &(start + pc).to_le_bytes());
    for (name, value) in ["exec", "s0", "s1", "s4"].into_iter().zip([Some(exec), s[0], s[1], s[2]]) {
        if let Some(value) = value {
            put(name, &value.to_le_bytes());
        }
    }
    wave
}

/// Positions of the lanes, relative to the start of the kernel.
fn stand(attached: &Attached, stop: Stop) -> Vec<Option<u64>> {
    let gpu = gfx1030();
    let object = Object::read(&attached.object).expect("an object");
    let dwarf = Dwarf::read_with(&object, &ReadOptions::new().dialect(attached.dialect)).expect("DWARF");
    let frames = [dwarf.frames(FrameSection::Debug).expect("frames")];
    let info = DebugInfo::new(&dwarf);
    let start = object.symbol_address("diverge").expect("the kernel");
    let wave = wave(start, stop);
    let stack = CallStack::new(&wave, &frames, &gpu).with_debug_info(&info);
    let frame = stack.innermost().expect("a frame");
    assert!(frame.step_out().expect("the end").is_none());
    let lane_pc =
        |lane| frame.lane_pc(lane).unwrap_or_else(|fault| panic!("lane {lane}, {stop:x?}: {fault}"));
    (0..32).map(|lane| lane_pc(lane).map(|at| at.wrapping_sub(start))).collect()
}

/// Lane without a position: inactive on entry, or its position is unknown.
const NOWHERE: Option<u64> = None;

const fn at(pc: u64) -> Option<u64> {
    Some(pc)
}

/// A stopped wave, and the positions of some of its lanes.
type Case = (Stop, &'static [(Range<u32>, Option<u64>)]);

const fn stop(pc: u64, exec: u32, s0: u32, s1: u32, s4: u32) -> Stop {
    Stop { pc, exec, s: [Some(s0), Some(s1), Some(s4)] }
}

/// A stop before s1 is written.
const fn early(pc: u64, exec: u32, s0: u32, s4: u32) -> Stop {
    Stop { pc, exec, s: [Some(s0), None, Some(s4)] }
}

/// `n` is 28 and `thr` 10; `d` of lanes 0 to 4 is divisible by 3, of 5 to 8 by 5, of 9 to 13 by neither; lanes 14 to
/// 19 have an even `a`, 20 to 23 an odd one with `b` over 100, 24 to 27 not over; 28 to 31 return.
const MIXED: [Case; 19] = [
    // The early return: inactive lanes of s0 have returned, until s0 is overwritten.
    (early(0x34, 0x0fff_ffff, 0xffff_ffff, 0x1c), &[(5..6, at(0x34)), (30..31, at(0x1c8))]),
    (early(0x38, 0x0fff_ffff, 0xffff_ffff, 0x1c), &[(5..6, at(0x38)), (30..31, at(0x1c8))]),
    (early(0x40, 0x0fff_ffff, 0x0010_0000, 0x1c), &[(5..6, at(0x40)), (20..21, at(0x40)), (30..31, NOWHERE)]),
    // The `else` of line 6. s0 has all lanes that entered, then those that wait for their side.
    (early(0x74, 0x3fff, 0x0fff_ffff, 0x1c), &[(5..6, at(0x74)), (20..21, at(0x6c)), (30..31, NOWHERE)]),
    (early(0x7c, 0x3fff, 0x0fff_c000, 0x1c), &[(5..6, at(0x7c)), (20..21, at(0x6c)), (30..31, NOWHERE)]),
    (
        stop(0xa0, 0x3fe0, 0x0fff_c000, 0x3fff, 0x1c),
        &[(5..6, at(0xa0)), (2..3, at(0x98)), (20..21, at(0x6c))],
    ),
    (
        stop(0xc8, 0x3e00, 0x0fff_c000, 0x1f, 0x3fe0),
        &[(5..6, at(0xc0)), (2..3, at(0x98)), (10..11, at(0xc8)), (20..21, at(0x6c))],
    ),
    (stop(0xdc, 0x3e00, 0x0fff_c000, 0x1f, 0x1e0), &[(5..6, at(0xc0)), (10..11, at(0xdc))]),
    (
        stop(0xf0, 0x1e0, 0x0fff_c000, 0x1f, 0x3e00),
        &[(5..6, at(0xf0)), (10..11, at(0xf8)), (2..3, at(0x98)), (20..21, at(0x6c)), (30..31, NOWHERE)],
    ),
    (
        stop(0xf8, 0x3fe0, 0x0fff_c000, 0x1f, 0x3e00),
        &[(5..6, at(0xf8)), (2..3, at(0x98)), (10..11, at(0xf8))],
    ),
    // The `if` of line 19 has ended, and s4 is stale.
    (
        stop(0x108, 0x1f, 0x0fff_c000, 0x3fe0, 0x3e00),
        &[(5..6, at(0x120)), (10..11, at(0x120)), (2..3, at(0x108)), (20..21, at(0x6c))],
    ),
    (stop(0x120, 0x3fff, 0x0fff_c000, 0x3fe0, 0x3e00), &[(5..6, at(0x120)), (20..21, at(0x6c))]),
    // The other side of line 6. Lane 5 is also in s1, which is stale.
    (stop(0x124, 0x0fff_c000, 0x3fff, 0x3fe0, 0x3e00), &[(5..6, at(0x1b4)), (20..21, at(0x124))]),
    (
        stop(0x13c, 0x0ff0_0000, 0x3fff, 0x0fff_c000, 0x3e00),
        &[(5..6, at(0x1b4)), (15..16, at(0x138)), (20..21, at(0x13c))],
    ),
    (
        stop(0x158, 0x0f00_0000, 0x3fff, 0x000f_c000, 0x00f0_0000),
        &[(5..6, at(0x1b4)), (21..22, at(0x14c)), (15..16, at(0x138)), (25..26, at(0x158))],
    ),
    (
        stop(0x170, 0x00f0_0000, 0x3fff, 0x000f_c000, 0x0f00_0000),
        &[(5..6, at(0x1b4)), (25..26, at(0x184)), (15..16, at(0x138)), (21..22, at(0x170))],
    ),
    // Finished lanes wait after line 8, not where they left the inner regions.
    (
        stop(0x19c, 0x000f_c000, 0x3fff, 0x0ff0_0000, 0x0f00_0000),
        &[(5..6, at(0x1b4)), (25..26, at(0x1b0)), (21..22, at(0x1b0)), (15..16, at(0x19c))],
    ),
    (stop(0x1b0, 0x0fff_c000, 0x3fff, 0x0ff0_0000, 0x0f00_0000), &[(5..6, at(0x1b4)), (25..26, at(0x1b0))]),
    (stop(0x1b4, 0x0fff_ffff, 0x3fff, 0x0ff0_0000, 0x0f00_0000), &[(5..6, at(0x1b4)), (30..31, NOWHERE)]),
];

/// Waves in which no lane takes a side: its code is skipped, and registers are stale.
const OTHERS: [Case; 7] = [
    // All lanes return.
    (early(0x34, 0, 0xffff_ffff, 0), &[(0..32, at(0x1c8))]),
    // In no region, with any s0.
    (early(0x1c8, 0, 0xffff_ffff, 0), &[(0..32, NOWHERE)]),
    // All lanes take the `then` of line 6: from 0x78 to 0x120.
    (early(0x120, 0, 0x0fff_ffff, 0x1c), &[(5..6, at(0x6c)), (30..31, NOWHERE)]),
    // All lanes in its `else` are divisible by 3: from 0xa4 to 0xf8, and s4 is n, whose bit 3 is set.
    (stop(0xf8, 0, 0x0fff_c000, 0x3fff, 0x1c), &[(5..6, at(0x98)), (3..4, at(0x98))]),
    // No lane takes the `then`: from 0x124 to 0x1b0.
    (stop(0x1b0, 0, 0x0fff_ffff, 0xffff_ffff, 0x1c), &[(5..6, at(0x1b4)), (30..31, NOWHERE)]),
    // All lanes are divisible by 5.
    (stop(0xec, 0, 0, 0, 0x0fff_ffff), &[(5..6, at(0xc0)), (30..31, NOWHERE)]),
    (stop(0x11c, 0, 0, 0x0fff_ffff, 0), &[(5..6, at(0x120))]),
];

pub static OBJECTS: LazyLock<Vec<Attached>> = LazyLock::new(|| {
    let module = describe().expect("the kernel");
    let consumers = [Consumer::llvm(), Consumer::rocgdb(), Consumer::rocgdb_legacy()];
    consumers.iter().flat_map(|consumer| attached(OBJECT, &module, consumer)).collect()
});

#[test]
fn lanes_stand_where_the_instructions_have_put_them() {
    for object in &*OBJECTS {
        for (stop, expected) in MIXED.into_iter().chain(OTHERS) {
            let found = stand(object, stop);
            for (lanes, at) in expected {
                for lane in lanes.clone() {
                    assert_eq!(found[lane as usize], *at, "lane {lane}, {stop:x?}");
                }
            }
        }
    }
}

/// A lane that was inactive on entry is in no mask, and without a position at any pc.
#[test]
fn a_lane_that_was_not_active_on_entry_is_nowhere() {
    for object in &*OBJECTS {
        let before = [early(0, !0, !0, !0), early(0x2c, !0, !0, !0)];
        let after = MIXED.map(|(stop, _)| stop);
        for stop in before.into_iter().chain(after) {
            let without = |mask: u32| mask & 0x0fff_ffdf;
            let found = stand(
                object,
                Stop { exec: without(stop.exec), s: stop.s.map(|mask| mask.map(without)), ..stop },
            );
            assert_eq!((found[5], found[30]), (None, None), "{stop:x?}");
            assert!(found.iter().any(Option::is_some), "{stop:x?}");
        }
    }
}

/// Position of a lane of the mixed wave, from its path through the source, without masks.
pub fn by_source(lane: usize, pc: u64) -> Option<u64> {
    /// Ranges of pcs, and the position at which the lane waits meanwhile.
    type Waits = &'static [(Range<u64>, u64)];
    let waits: Waits = match lane {
        0..5 => &[(0xa0..0xfc, 0x98), (0x124..0x1b4, 0x1b4)],
        5..9 => &[(0xc8..0xf0, 0xc0), (0xfc..0x120, 0x120), (0x124..0x1b4, 0x1b4)],
        9..14 => &[(0xf0..0xf8, 0xf8), (0xfc..0x120, 0x120), (0x124..0x1b4, 0x1b4)],
        14..20 => &[(0x74..0x124, 0x6c), (0x13c..0x188, 0x138)],
        20..24 => &[(0x74..0x124, 0x6c), (0x154..0x164, 0x14c), (0x188..0x1b0, 0x1b0)],
        24..28 => &[(0x74..0x124, 0x6c), (0x164..0x184, 0x184), (0x188..0x1b0, 0x1b0)],
        _ if pc < 0x40 => &[(0x34..0x40, 0x1c8)],
        _ => return None,
    };
    Some(waits.iter().find(|(pcs, _)| pcs.contains(&pc)).map_or(pc, |&(_, at)| at))
}

/// The mixed wave before each instruction, as recorded by an interpreter: `k04_mixed.txt` has pc, EXEC, s0, s1, s4.
pub fn mixed() -> Vec<Stop> {
    let stops = include_str!("k04_mixed.txt").lines().map(|line| {
        let number = |word: &str| u32::from_str_radix(word, 16).expect("a number");
        let numbers: Vec<u32> = line.split(' ').map(number).collect();
        let [pc, exec, s0, s1, s4] = numbers[..] else { panic!("{line}") };
        stop(pc.into(), exec, s0, s1, s4)
    });
    stops.collect()
}

#[test]
fn lane_pcs_follow_the_paths_through_the_source() {
    let stops = mixed();
    assert_eq!(stops.len(), 86);
    for object in &*OBJECTS {
        for stop in &stops {
            let expected: Vec<_> = (0..32).map(|lane| by_source(lane, stop.pc)).collect();
            assert_eq!(stand(object, *stop), expected, "{stop:x?}");
        }
    }
}
