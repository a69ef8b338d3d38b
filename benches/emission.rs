//! Speed and memory of writing debug sections, compared with `gimli::write`.
//!
//! The same loop passes the same content to both sides, value by value; each ends with the bytes of its sections.
//! Before any measurement, the sections are read back and compared. The last lines are `ratio NAME VALUE`: the peer's
//! number divided by ours, so that larger is better for us. See `README.md` here.

#[path = "emission/content.rs"]
mod content;
#[path = "emission/memory.rs"]
mod memory;
#[path = "emission/read_back.rs"]
mod read_back;
#[path = "emission/sides.rs"]
mod sides;

use std::hint::black_box;
use std::time::{Duration, Instant};

use content::{Content, Shape};
use divan::Bencher;
use divan::counter::BytesCount;
use eitri::emit::Section;
use eitri::lower::Consumer;

#[global_allocator]
static MEMORY: memory::Counting = memory::Counting;

/// A side: everything from the first call to the finished sections.
type Side = fn(&Content) -> Vec<Section>;

const SIDES: [(&str, Side); 4] = [
    ("eitri", |content| sides::eitri(content, &Consumer::dwarf5())),
    ("eitri_llvm", |content| sides::eitri(content, &Consumer::llvm())),
    ("gimli", sides::gimli),
    ("eitri_threads", sides::eitri_threads),
];
/// Number of sides for a shape of one unit.
const ONE_THREAD: usize = 3;

/// A shape, the number of sides that describe it, and the number of runs of each side, in turn.
struct Case {
    name: &'static str,
    shape: Shape,
    sides: usize,
    runs: usize,
}

const CASES: [Case; 4] = [
    Case { name: "emission", shape: content::LISTS, sides: ONE_THREAD, runs: 31 },
    Case { name: "emission_entries", shape: content::ENTRIES, sides: ONE_THREAD, runs: 41 },
    Case { name: "emission_units", shape: content::UNITS, sides: SIDES.len(), runs: 5 },
    Case { name: "emission_small_units", shape: content::SMALL_UNITS, sides: ONE_THREAD, runs: 21 },
];

fn main() {
    // Under an instrumenting tool, run a single side once.
    if let Ok(name) = std::env::var("EITRI_BENCH_ONCE") {
        let found = CASES.iter().find_map(|case| {
            let suffix = case.name.trim_start_matches("emission");
            let side = |(side, _): &(&str, Side)| name.strip_prefix(side) == Some(suffix);
            Some((case, SIDES.into_iter().find(side)?.1))
        });
        let (case, side) =
            found.expect("EITRI_BENCH_ONCE names a side, and after it what `emission` is followed by");
        black_box(side(&Content::new(case.shape)));
        return;
    }
    for case in &CASES {
        assert_same(case, &Content::new(case.shape));
    }
    divan::Divan::from_args().main();
    if std::env::args().any(|argument| argument == "--bench") {
        for case in &CASES {
            compare(case, &Content::new(case.shape));
        }
    }
}

/// Size of all sections in bytes.
fn bytes(written: &[Section]) -> usize {
    written.iter().map(|section| section.bytes.len()).sum()
}

/// Panics unless all sides wrote the same facts.
fn assert_same(case: &Case, content: &Content) {
    let ours = read_back::read(SIDES[0].1(content));
    for (name, side) in &SIDES[1..case.sides] {
        read_back::assert_same((SIDES[0].0, &ours), (name, &read_back::read(side(content))));
    }
}

/// Runs the sides in turn and prints their times.
fn compare(case: &Case, content: &Content) {
    let (name, sides) = (case.name, &SIDES[..case.sides]);
    let mut times = vec![Vec::new(); sides.len()];
    for run in 0..case.runs {
        // Alternate the order: a side's time depends on the heap that the previous one leaves.
        let mut order: Vec<usize> = (0..sides.len()).collect();
        if run % 2 == 1 {
            order.reverse();
        }
        for side in order {
            let start = Instant::now();
            black_box(sides[side].1(content));
            times[side].push(start.elapsed());
        }
    }
    let medians: Vec<Duration> = times
        .into_iter()
        .map(|mut times| {
            times.sort();
            times[case.runs / 2]
        })
        .collect();
    let peaks: Vec<memory::Peak> =
        sides.iter().map(|(_, side)| memory::peak_of(|| bytes(&side(content)))).collect();

    println!("\n{name}: {}", content.shape);
    println!("| side | ms | ns/variable | ns/entry | MB/s | bytes | peak bytes | peak/bytes |");
    println!("|---|---|---|---|---|---|---|---|");
    for (((side, _), time), peak) in sides.iter().zip(&medians).zip(&peaks) {
        let per = |count: usize| time.as_secs_f64() * 1e9 / count as f64;
        println!(
            "| {side} | {:.2} | {:.0} | {:.1} | {:.0} | {} | {} | {:.2} |",
            time.as_secs_f64() * 1e3,
            per(content.shape.variables()),
            per(content.shape.expressions()),
            peak.written as f64 / time.as_secs_f64() / 1e6,
            peak.written,
            peak.peak,
            peak.ratio(),
        );
    }
    let over = |side: usize| medians[2].as_secs_f64() / medians[side].as_secs_f64();
    println!("ratio {name}_time {:.2}", over(0));
    println!("ratio {name}_time_llvm {:.2}", over(1));
    if case.sides > ONE_THREAD {
        println!("ratio {name}_time_threads {:.2}", over(3));
    }
    println!("ratio {name}_peak_memory {:.2}", peaks[2].ratio() / peaks[0].ratio());
}

/// Each side separately.
#[divan::bench(args = ["eitri", "eitri_llvm", "gimli"], sample_count = 20, sample_size = 1)]
fn lists(bencher: Bencher, side: &str) {
    alone(bencher, side, content::LISTS);
}

/// Each side separately, for variables with a single location.
#[divan::bench(args = ["eitri", "eitri_llvm", "gimli"], sample_count = 20, sample_size = 1)]
fn entries(bencher: Bencher, side: &str) {
    alone(bencher, side, content::ENTRIES);
}

fn alone(bencher: Bencher, name: &str, shape: Shape) {
    let content = Content::new(shape);
    let side = SIDES.iter().find(|(side, _)| *side == name).expect("a side").1;
    let bytes = bytes(&side(&content));
    bencher.counter(BytesCount::new(bytes)).bench(|| drop(black_box(side(&content))));
}
