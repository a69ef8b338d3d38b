//! Speed and memory of writing debug sections, compared with `gimli::write` and a hand-written encoder.
//!
//! All sides read the same content, value by value; each ends with the bytes of its sections. Before any measurement,
//! the sections are compared: byte by byte, or read back as facts. The last lines are `ratio NAME VALUE`: the peer's
//! number divided by ours, so that larger is better for us. See `README.md` here.

#[path = "emission/content.rs"]
mod content;
#[path = "emission/memory.rs"]
mod memory;
#[path = "emission/mix/mod.rs"]
mod mix;
#[path = "emission/read_back.rs"]
mod read_back;
#[path = "emission/sides.rs"]
mod sides;

use std::fmt::Display;
use std::hint::black_box;
use std::time::{Duration, Instant};

use content::Content;
use cpu_time::ThreadTime;
use divan::Bencher;
use divan::counter::BytesCount;
use eitri::emit::Section;
use eitri::lower::Consumer;
use mix::Mix;

#[global_allocator]
static MEMORY: memory::Counting = memory::Counting;

/// A side: its name, and everything from the first call to the finished sections.
type Side<C> = (&'static str, fn(&C) -> Vec<Section>);

/// Sides of the shapes with one kind of expression.
const PLAIN: [Side<Content>; 4] = [
    ("eitri", |content| sides::eitri(content, &Consumer::dwarf5())),
    ("eitri_llvm", |content| sides::eitri(content, &Consumer::llvm())),
    ("gimli", sides::gimli),
    ("eitri_threads", sides::eitri_threads),
];
/// Number of sides for a shape of one unit.
const ONE_THREAD: usize = 3;
/// Sides of the realistic mix.
const MIX: [Side<Mix>; 6] = [
    ("eitri", mix::eitri),
    ("eitri_stream", mix::eitri_stream),
    ("hand", mix::hand),
    ("hand_checked", mix::hand_checked),
    ("gimli", mix::gimli),
    ("eitri_stream_threads", mix::eitri_stream_threads),
];

/// A shape, its sides, and the number of runs of each side, in turn.
struct Case<C: 'static> {
    name: &'static str,
    content: fn() -> C,
    sides: &'static [Side<C>],
    runs: usize,
}

const PLAIN_CASES: [Case<Content>; 4] = [
    plain("emission", || Content::new(content::LISTS), ONE_THREAD, 31),
    plain("emission_entries", || Content::new(content::ENTRIES), ONE_THREAD, 41),
    plain("emission_units", || Content::new(content::UNITS), PLAIN.len(), 5),
    plain("emission_small_units", || Content::new(content::SMALL_UNITS), ONE_THREAD, 21),
];
const MIX_CASES: [Case<Mix>; 4] = [
    mixed("emission_gpu", || Mix::new(mix::GPU)),
    mixed("emission_std", || Mix::new(mix::STD)),
    mixed("emission_one", || Mix::new(mix::ONE)),
    mixed("emission_small", || Mix::new(mix::SMALL)),
];

const fn plain(name: &'static str, content: fn() -> Content, sides: usize, runs: usize) -> Case<Content> {
    Case { name, content, sides: PLAIN.split_at(sides).0, runs }
}

const fn mixed(name: &'static str, content: fn() -> Mix) -> Case<Mix> {
    Case { name, content, sides: &MIX, runs: 21 }
}

/// Sizes of a content, for the tables.
trait Facts: Display {
    fn variables(&self) -> usize;
    /// Entries of location lists, and locations without a list.
    fn entries(&self) -> usize;
}

fn main() {
    // Under an instrumenting tool, run a single side once.
    if let Ok(name) = std::env::var("EITRI_BENCH_ONCE") {
        let found =
            PLAIN_CASES.iter().any(|case| case.once(&name)) || MIX_CASES.iter().any(|case| case.once(&name));
        assert!(found, "EITRI_BENCH_ONCE names a side, and after it what `emission` is followed by");
        return;
    }
    PLAIN_CASES.iter().for_each(assert_same);
    MIX_CASES.iter().for_each(assert_equal);
    mix::assert_refused();
    divan::Divan::from_args().main();
    if std::env::args().any(|argument| argument == "--bench") {
        PLAIN_CASES.iter().for_each(compare_plain);
        MIX_CASES.iter().for_each(compare_mix);
    }
}

impl<C> Case<C> {
    /// Runs the side of this name once. Returns whether the case has the side.
    fn once(&self, name: &str) -> bool {
        let suffix = self.name.trim_start_matches("emission");
        let found = self.sides.iter().find(|(side, _)| name.strip_prefix(side) == Some(suffix));
        if let Some(&(_, side)) = found {
            run_once(side, &(self.content)());
        }
        found.is_some()
    }
}

/// Runs a side. An instrumenting tool counts this function alone, without the generation of the content.
#[inline(never)]
fn run_once<C>(side: fn(&C) -> Vec<Section>, content: &C) {
    black_box(side(content));
}

/// Size of all sections in bytes.
fn bytes(written: &[Section]) -> usize {
    written.iter().map(|section| section.bytes.len()).sum()
}

/// Panics unless all sides wrote the same facts.
fn assert_same<C>(case: &Case<C>) {
    let content = &(case.content)();
    let (first, side) = case.sides[0];
    let ours = read_back::read(side(content));
    for (name, side) in &case.sides[1..] {
        read_back::assert_same((first, &ours), (name, &read_back::read(side(content))));
    }
}

/// Panics unless the hand-written encoder wrote the same bytes as eitri, and gimli the same facts.
fn assert_equal(case: &Case<Mix>) {
    let content = &(case.content)();
    let ours = mix::eitri(content);
    for (name, side) in MIX.iter().filter(|(name, _)| !["eitri", "gimli"].contains(name)) {
        assert!(ours == side(content), "{}: sections of eitri and {name} differ", case.name);
    }
    let theirs = read_back::read(mix::gimli(content));
    read_back::assert_same(("eitri", &read_back::read(ours)), ("gimli", &theirs));
}

/// Time and memory of a side.
struct Measured {
    /// Medians.
    cpu: Duration,
    wall: Duration,
    memory: memory::Peak,
}

/// Runs the sides in turn and prints their times and memory.
fn compare<C: Facts>(case: &Case<C>) -> Vec<Measured> {
    let content = &(case.content)();
    let mut times = vec![(Vec::new(), Vec::new()); case.sides.len()];
    for run in 0..case.runs {
        // Alternate the order: a side's time depends on the heap that the previous one leaves.
        let mut order: Vec<usize> = (0..case.sides.len()).collect();
        if run % 2 == 1 {
            order.reverse();
        }
        for side in order {
            let start = (ThreadTime::now(), Instant::now());
            black_box(case.sides[side].1(content));
            times[side].0.push(start.0.elapsed());
            times[side].1.push(start.1.elapsed());
        }
    }
    let median = |mut times: Vec<Duration>| {
        times.sort();
        times[case.runs / 2]
    };
    let measured: Vec<Measured> = case
        .sides
        .iter()
        .zip(times)
        .map(|((_, side), (cpu, wall))| {
            let memory = memory::peak_of(|| bytes(&side(content)));
            Measured { cpu: median(cpu), wall: median(wall), memory }
        })
        .collect();

    println!("\n{}: {content}", case.name);
    println!("{} variables, {} entries", content.variables(), content.entries());
    println!("| side | ms | ns/variable | ns/entry | MB/s | bytes | peak bytes | peak/bytes | allocations |");
    println!("|---|---|---|---|---|---|---|---|---|");
    for ((side, _), Measured { cpu, wall, memory }) in case.sides.iter().zip(&measured) {
        // The CPU time of a thread excludes that of others.
        let time = if side.ends_with("threads") { wall } else { cpu };
        let per = |count: usize| time.as_secs_f64() * 1e9 / count as f64;
        println!(
            "| {side} | {:.2} | {:.0} | {:.1} | {:.0} | {} | {} | {:.2} | {} |",
            time.as_secs_f64() * 1e3,
            per(content.variables()),
            per(content.entries()),
            memory.written as f64 / time.as_secs_f64() / 1e6,
            memory.written,
            memory.peak,
            memory.ratio(),
            memory.allocations,
        );
    }
    measured
}

/// Quotient of two times.
fn over(theirs: Duration, ours: Duration) -> f64 {
    theirs.as_secs_f64() / ours.as_secs_f64()
}

fn compare_plain(case: &Case<Content>) {
    let (name, measured) = (case.name, compare(case));
    let [eitri, llvm, gimli, rest @ ..] = &measured[..] else { return };
    println!("ratio {name}_time {:.2}", over(gimli.cpu, eitri.cpu));
    println!("ratio {name}_time_llvm {:.2}", over(gimli.cpu, llvm.cpu));
    if let [threads] = rest {
        // Wall-clock time: a thread's CPU time excludes the other thread.
        println!("ratio {name}_time_threads {:.2}", over(gimli.wall, threads.wall));
    }
    println!("ratio {name}_peak_memory {:.2}", gimli.memory.ratio() / eitri.memory.ratio());
}

fn compare_mix(case: &Case<Mix>) {
    let (name, measured) = (case.name, compare(case));
    let [eitri, stream, hand, checked, gimli, threads] = &measured[..] else { return };
    println!("ratio {name}_time {:.2}", over(gimli.cpu, eitri.cpu));
    println!("ratio {name}_time_stream {:.2}", over(gimli.cpu, stream.cpu));
    // Wall-clock time: a thread's CPU time excludes the other thread.
    println!("ratio {name}_time_stream_threads {:.2}", over(stream.wall, threads.wall));
    println!("ratio {name}_time_hand {:.2}", over(hand.cpu, eitri.cpu));
    println!("ratio {name}_time_hand_checked {:.2}", over(checked.cpu, eitri.cpu));
    println!("ratio {name}_peak_memory {:.2}", gimli.memory.ratio() / eitri.memory.ratio());
    println!("ratio {name}_peak_memory_stream {:.2}", gimli.memory.ratio() / stream.memory.ratio());
    println!("ratio {name}_peak_memory_hand {:.2}", hand.memory.ratio() / eitri.memory.ratio());
    let allocations = gimli.memory.allocations as f64 / eitri.memory.allocations as f64;
    println!("ratio {name}_allocations {allocations:.2}");
}

impl Display for Content {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        self.shape.fmt(f)
    }
}

impl Facts for Content {
    fn variables(&self) -> usize {
        self.shape.variables()
    }

    fn entries(&self) -> usize {
        self.shape.expressions()
    }
}

impl Display for Mix {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        self.shape.fmt(f)
    }
}

impl Facts for Mix {
    fn variables(&self) -> usize {
        self.variables.len()
    }

    fn entries(&self) -> usize {
        self.places()
    }
}

/// Each side separately.
#[divan::bench(args = ["eitri", "eitri_llvm", "gimli"], sample_count = 20, sample_size = 1)]
fn lists(bencher: Bencher, side: &str) {
    alone(bencher, side, &PLAIN_CASES[0]);
}

/// Each side separately, for variables with a single location.
#[divan::bench(args = ["eitri", "eitri_llvm", "gimli"], sample_count = 20, sample_size = 1)]
fn entries(bencher: Bencher, side: &str) {
    alone(bencher, side, &PLAIN_CASES[1]);
}

/// Each side separately, for the realistic mix on AMDGPU.
#[divan::bench(args = ["eitri", "hand", "hand_checked", "gimli"], sample_count = 20, sample_size = 1)]
fn gpu(bencher: Bencher, side: &str) {
    alone(bencher, side, &MIX_CASES[0]);
}

fn alone<C: Sync>(bencher: Bencher, name: &str, case: &Case<C>) {
    let content = (case.content)();
    let side = case.sides.iter().find(|(side, _)| *side == name).expect("a side").1;
    let bytes = bytes(&side(&content));
    bencher.counter(BytesCount::new(bytes)).bench(|| drop(black_box(side(&content))));
}
