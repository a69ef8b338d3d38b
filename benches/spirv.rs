//! Speed of attaching debug instructions to a SPIR-V module, compared with building and assembling the same with
//! `rspirv`.
//!
//! The last lines are `ratio NAME VALUE`: the peer's number divided by ours, so that larger is better for us. See
//! `README.md` here.

#[path = "emission/memory.rs"]
#[allow(dead_code, reason = "the parts are those of another bench")]
mod memory;
#[path = "spirv/sides.rs"]
mod sides;

use std::collections::BTreeMap;
use std::hint::black_box;
use std::time::{Duration, Instant};

use eitri::spirv::{Mode, Set, attach, read, validate};
use sides::{FUNCTIONS, Shape, VARIABLES, bind, core, describe, with_rspirv};

#[global_allocator]
static MEMORY: memory::Counting = memory::Counting;

/// Number of runs of each side, in turn with the others.
const RUNS: usize = 21;

fn main() {
    let mode = Mode::exact(Set::OpenCl);
    let shape = Shape { functions: FUNCTIONS, variables: VARIABLES };
    if let Ok(once) = std::env::var("EITRI_BENCH_ONCE") {
        let plain = core(shape).assemble();
        match &*once {
            "eitri" => drop(black_box(whole(&plain, shape, &mode))),
            "rspirv" => drop(black_box(with_rspirv(shape))),
            other => panic!("no side `{other}`"),
        }
        return;
    }
    let plain = core(shape).assemble();
    let module = describe(shape);
    let binding = bind(&module, shape, &plain);
    let attached = attach(&plain, &module, &binding, &mode).expect("it is right");
    assert_eq!(attached.omissions, []);
    let peer = with_rspirv(shape);
    assert_eq!(counts(&attached.words), counts(&peer), "both write the same instructions");
    for words in [&attached.words, &peer] {
        let report = validate(&read(words).expect("a module"));
        assert!(report.is_clean(), "{report}");
    }
    if !std::env::args().any(|argument| argument == "--bench") {
        return;
    }

    let mut times = [const { Vec::new() }; 3];
    for _ in 0..RUNS {
        times[0].push(timed(|| attach(&plain, &module, &binding, &mode)));
        times[1].push(timed(|| whole(&plain, shape, &mode)));
        times[2].push(timed(|| with_rspirv(shape)));
    }
    let [alone, all, theirs] = times.map(median);
    println!("{} words, {} of them new", attached.words.len(), attached.words.len() - plain.len());
    println!("| what | ms |\n|---|---|");
    println!("| `attach` | {:.2} |", ms(alone));
    println!("| describing, binding and `attach` | {:.2} |", ms(all));
    println!("| the same built and assembled with `rspirv` | {:.2} |", ms(theirs));

    let peak = memory::peak_of(|| {
        let attached = attach(&plain, &module, &binding, &mode).expect("it is right");
        4 * attached.words.len()
    });
    println!("peak memory of `attach`: {:.2} times the words", peak.ratio());

    // For linear growth, ten times the functions take ten times the time.
    let small = Shape { functions: FUNCTIONS / 10, ..shape };
    let (plain, module) = (core(small).assemble(), describe(small));
    let binding = bind(&module, small, &plain);
    let tenth = median((0..RUNS).map(|_| timed(|| attach(&plain, &module, &binding, &mode))).collect());
    println!("a tenth of the functions: {:.3} ms", ms(tenth));

    println!("ratio spirv_attach {:.2}", theirs.as_secs_f64() / alone.as_secs_f64());
    println!("ratio spirv_whole {:.2}", theirs.as_secs_f64() / all.as_secs_f64());
    println!("ratio spirv_linear {:.2}", 10.0 * tenth.as_secs_f64() / alone.as_secs_f64());
    println!("ratio spirv_peak_memory {:.2}", 3.0 / peak.ratio());
}

/// Describes, binds and attaches the module.
fn whole(plain: &[u32], shape: Shape, mode: &Mode) -> Vec<u32> {
    let module = describe(shape);
    let binding = bind(&module, shape, plain);
    attach(plain, &module, &binding, mode).expect("it is right").words
}

/// Number of debug instructions of each kind.
fn counts(words: &[u32]) -> BTreeMap<&'static str, usize> {
    let facts = read(words).expect("a module");
    let mut counts = BTreeMap::new();
    for fact in facts.iter() {
        *counts.entry(fact.name().expect("a known instruction").text()).or_default() += 1;
    }
    counts
}

fn timed<T>(run: impl FnOnce() -> T) -> Duration {
    // A large allocation makes the allocator merge the small blocks that the previous side freed, outside of the
    // measured time.
    drop(black_box(Vec::<u8>::with_capacity(1 << 20)));
    let start = Instant::now();
    let result = black_box(run());
    let time = start.elapsed();
    drop(result);
    time
}

fn median(mut times: Vec<Duration>) -> Duration {
    times.sort_unstable();
    times[times.len() / 2]
}

fn ms(time: Duration) -> f64 {
    time.as_secs_f64() * 1e3
}
