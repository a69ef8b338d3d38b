//! Speed of unwinding a frame, compared with `gimli::UnwindTable`.
//!
//! Both sides unwind the same standard rows for the same stopped wave, and must give the same results. The last lines
//! are `ratio NAME VALUE`: the peer's number divided by ours, so that larger is better for us. See `README.md` here.

#[path = "../tests/common/bytes.rs"]
#[allow(dead_code, reason = "the parts are those of tests")]
mod bytes;
#[path = "../tests/unwind/cfi.rs"]
#[allow(dead_code, reason = "the parts are those of tests")]
mod cfi;
#[path = "emission/memory.rs"]
#[allow(dead_code, reason = "the parts are those of another bench")]
mod memory;
#[path = "unwind/sides.rs"]
mod sides;

use std::hint::black_box;
use std::time::{Duration, Instant};

use cfi::{ENCODING, Program, Section};
use eitri::read::{FrameSection, Frames, Object, Sections};
use sides::{CFA, Gimli, Ours, RETURN, SAVED, Wave, saved};

#[global_allocator]
static MEMORY: memory::Counting = memory::Counting;

/// Number of runs of each side, in turn.
const RUNS: usize = 401;

/// Number of runs under an instrumenting tool.
const ONCE: usize = 20_000;

/// Pc at which all registers are saved.
const START: u64 = 0x1000;

/// Saves of consecutive registers, one per instruction.
fn prologue() -> Program {
    let saves = (1..).zip(saved()).map(|(slot, reg)| Program::new().op(0x05, [reg.0, slot]).advance(8));
    saves.fold(Program::new(), Program::then)
}

/// A function with several returns: `DW_CFA_remember_state`, restores, `DW_CFA_restore_state`.
fn returns() -> Program {
    let last = saved().take(4).fold(Program::new().op(0x0a, []), |all, reg| all.advance(4).op(0x06, [reg.0]));
    (0..8).fold(Program::new(), |all, _| all.then(last.clone()).advance(8).op(0x0b, []).advance(40))
}

/// A section with a CIE (CFA and return address) and the FDE of a function. Also returns the pc at the end of the
/// function.
fn section(program: Program, bytes: u64) -> (Section, u64) {
    let mut section = Section::default();
    let cie = section.cie("", -4, RETURN.0, &Program::new().def_cfa(CFA.0, 0).op(0x05, [RETURN.0, 0]));
    section.fde(cie, START, bytes, &program);
    (section, START + bytes - 1)
}

fn main() {
    let prologue_bytes = SAVED as u64 * 8 + 0x40;
    let with_returns = prologue().then(returns());
    let shapes = [
        ("saves", section(prologue(), prologue_bytes)),
        ("returns", section(with_returns, prologue_bytes + 8 * 0x44)),
    ];
    let mut ratios = Vec::new();
    let is_bench = std::env::args().any(|argument| argument == "--bench");
    if is_bench {
        println!("| what | ns eitri | ns gimli | allocations of each |\n|---|---|---|---|");
    }
    for (name, (section, pc)) in &shapes {
        let wave = Wave::new(*pc);
        let frames = [section.read()];
        let (mut ours, mut theirs) = (Ours::new(&frames, &wave), Gimli::new(section.bytes(), &wave));
        assert_eq!(ours.row(), SAVED + 1, "the registers, and the return address");
        assert_eq!(ours.row(), theirs.row());
        assert_eq!(ours.frame(), theirs.frame());
        assert_eq!(ours.registers(), theirs.registers());
        assert_eq!(ours.locations(), theirs.registers());
        // Under an instrumenting tool, run a single side.
        if let Ok(once) = std::env::var("EITRI_BENCH_ONCE") {
            for _ in 0..ONCE {
                match once.strip_suffix(name) {
                    Some("eitri_row_") => _ = black_box(ours.row()),
                    Some("gimli_row_") => _ = black_box(theirs.row()),
                    Some("eitri_frame_") => _ = black_box(ours.frame()),
                    Some("gimli_frame_") => _ = black_box(theirs.frame()),
                    Some("eitri_registers_") => _ = black_box(ours.registers()),
                    Some("gimli_registers_") => _ = black_box(theirs.registers()),
                    _ => {}
                }
            }
        } else if is_bench {
            ratios.push(compare(&format!("row_{name}"), 1, || ours.row(), || theirs.row()));
            ratios.push(compare(&format!("frame_{name}"), 1, || ours.frame(), || theirs.frame()));
            ratios.push(compare(&format!("registers_{name}"), 1, || ours.registers(), || theirs.registers()));
            ratios.push(compare(&format!("locations_{name}"), 1, || ours.locations(), || theirs.registers()));
        }
    }
    if is_bench && std::env::var_os("EITRI_BENCH_ONCE").is_none() {
        ratios.extend(libc());
    }
    for (name, ratio) in ratios {
        println!("ratio unwind_{name} {ratio:.2}");
    }
}

/// Rows of the functions of libc, each at a pc within its function. gimli looks them up with `.eh_frame_hdr`.
fn libc() -> Option<(String, f64)> {
    let bytes = std::fs::read("/lib/x86_64-linux-gnu/libc.so.6").ok()?;
    let object = Object::read(&bytes).expect("an object");
    let sections = Sections::of(&object);
    let frames = Frames::read(&sections, FrameSection::Eh, ENCODING).expect("call frame information");
    let table = object.section(".eh_frame_hdr").expect("the table");
    let table_address = object.section_address(".eh_frame_hdr").expect("its address");
    let mut gimli =
        sides::Looked::new(sections.eh_frame, sections.eh_frame_address, &table.data, table_address);
    let pcs: Vec<u64> = frames.fdes.iter().map(|fde| fde.start + fde.length / 2).collect();
    for &pc in &pcs {
        assert_eq!(sides::start_of_ours(&frames, pc), gimli.start(pc), "{pc:#x}");
    }
    let ours = || pcs.iter().fold(0, |all, &pc| all ^ sides::start_of_ours(&frames, black_box(pc)));
    let theirs = || pcs.iter().fold(0, |all, &pc| all ^ gimli.start(black_box(pc)));
    Some(compare("libc", pcs.len(), ours, theirs))
}

/// Runs both sides in turn and prints their times. Returns the ratio of gimli's time to ours.
fn compare<T>(
    name: &str,
    of: usize,
    mut ours: impl FnMut() -> T,
    mut theirs: impl FnMut() -> T,
) -> (String, f64) {
    let times = 400usize.div_ceil(of);
    let mut taken = [const { Vec::<Duration>::new() }; 2];
    for run in 0..RUNS {
        // Alternate the order, so that no side always runs second.
        for side in [run % 2, 1 - run % 2] {
            let start = Instant::now();
            for _ in 0..times {
                match side {
                    0 => _ = black_box(ours()),
                    _ => _ = black_box(theirs()),
                }
            }
            taken[side].push(start.elapsed());
        }
    }
    let [ours_took, theirs_took] = taken.map(|mut taken| {
        taken.sort();
        taken[RUNS / 2].as_secs_f64() * 1e9 / (times * of) as f64
    });
    let allocations = [memory::allocations_of(|| _ = ours()), memory::allocations_of(|| _ = theirs())];
    println!(
        "| {name} | {ours_took:.0} | {theirs_took:.0} | {}, {} |",
        allocations[0] / of,
        allocations[1] / of
    );
    (name.to_owned(), theirs_took / ours_took)
}
