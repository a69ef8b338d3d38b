//! How fast debug sections are written, and how much memory that takes, next to `gimli::write`.
//!
//! Both sides are told the same content by the same loop, value by value, and end with the bytes of their
//! sections. What they wrote is read back and compared before anything is measured. The last lines are
//! `ratio NAME VALUE`, the peer's number divided by ours: above 1 is ahead. See `README.md` here.

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

use content::Content;
use divan::Bencher;
use divan::counter::BytesCount;
use eitri::emit::Section;
use eitri::lower::Consumer;

#[global_allocator]
static MEMORY: memory::Counting = memory::Counting;

/// Runs of each side, one after the other in turn.
const RUNS: usize = 31;

/// What a side does: everything from the first call to the finished sections.
type Side = fn(&Content) -> Vec<Section>;

const SIDES: [(&str, Side); 3] = [
    ("eitri", |content| sides::eitri(content, &Consumer::dwarf5())),
    ("eitri_llvm", |content| sides::eitri(content, &Consumer::llvm())),
    ("gimli", sides::gimli),
];

fn main() {
    let shapes = [("emission", content::LISTS), ("emission_entries", content::ENTRIES)];
    // Under an instrumenting tool one run is enough, of one side alone.
    if let Ok(name) = std::env::var("EITRI_BENCH_ONCE") {
        let content = Content::new(shapes[usize::from(name.ends_with("_entries"))].1);
        let (_, side) = SIDES
            .into_iter()
            .find(|(side, _)| *side == name.trim_end_matches("_entries"))
            .expect("EITRI_BENCH_ONCE names a side: eitri, eitri_llvm or gimli, each alone or with _entries");
        black_box(side(&content));
        return;
    }
    for (_, shape) in shapes {
        assert_same(&Content::new(shape));
    }
    divan::Divan::from_args().main();
    if std::env::args().any(|argument| argument == "--bench") {
        for (name, shape) in shapes {
            compare(name, &Content::new(shape));
        }
    }
}

/// Bytes of all sections.
fn bytes(written: &[Section]) -> usize {
    written.iter().map(|section| section.bytes.len()).sum()
}

/// Panics unless all sides wrote the same.
fn assert_same(content: &Content) {
    let [ours, others @ ..] = SIDES.map(|(name, side)| (name, read_back::read(side(content))));
    for (name, read) in &others {
        read_back::assert_same((ours.0, &ours.1), (name, read));
    }
}

/// Runs the sides in turn and prints what they took.
fn compare(name: &str, content: &Content) {
    let mut times = SIDES.map(|_| Vec::new());
    for run in 0..RUNS {
        // There and back: what a side leaves to the allocator is not always the same one's.
        let mut order: Vec<usize> = (0..SIDES.len()).collect();
        if run % 2 == 1 {
            order.reverse();
        }
        for side in order {
            let start = Instant::now();
            black_box(SIDES[side].1(content));
            times[side].push(start.elapsed());
        }
    }
    let medians = times.map(|mut times| {
        times.sort();
        times[RUNS / 2]
    });
    let peaks = SIDES.map(|(_, side)| memory::peak_of(|| bytes(&side(content))));

    println!("\n{name}: {}", content.shape);
    println!("| side | ms | ns/variable | ns/entry | MB/s | bytes | peak bytes | peak/bytes |");
    println!("|---|---|---|---|---|---|---|---|");
    for (((side, _), time), peak) in SIDES.iter().zip(medians).zip(&peaks) {
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
    let [ours, llvm, gimli] = medians;
    let over = |ours: Duration| gimli.as_secs_f64() / ours.as_secs_f64();
    println!("ratio {name}_time {:.2}", over(ours));
    println!("ratio {name}_time_llvm {:.2}", over(llvm));
    println!("ratio {name}_peak_memory {:.2}", peaks[2].ratio() / peaks[0].ratio());
}

/// Each side by itself.
#[divan::bench(args = ["eitri", "eitri_llvm", "gimli"], sample_count = 20, sample_size = 1)]
fn lists(bencher: Bencher, side: &str) {
    alone(bencher, side, content::LISTS);
}

/// Each side by itself, where a variable is at one place.
#[divan::bench(args = ["eitri", "eitri_llvm", "gimli"], sample_count = 20, sample_size = 1)]
fn entries(bencher: Bencher, side: &str) {
    alone(bencher, side, content::ENTRIES);
}

fn alone(bencher: Bencher, name: &str, shape: content::Shape) {
    let content = Content::new(shape);
    let side = SIDES.iter().find(|(side, _)| *side == name).expect("a side").1;
    let bytes = bytes(&side(&content));
    bencher.counter(BytesCount::new(bytes)).bench(|| drop(black_box(side(&content))));
}
