//! Time and memory of checking, compared with writing.
//!
//! The description is the realistic mix of `emission`. The last lines are `ratio NAME VALUE`: an allowance, as a multiple
//! of the time of writing or of the bytes of the object, divided by the measured multiple. Larger is better. See
//! `README.md` here.

#[path = "emission/memory.rs"]
mod memory;

#[path = "emission/mix"]
mod mix {
    #[allow(dead_code, reason = "the facts are those of another bench")]
    mod content;
    #[allow(dead_code, reason = "the stream is that of another bench")]
    mod eitri;
    #[allow(dead_code, reason = "the facts are those of another bench")]
    mod generate;

    pub use content::{GPU, Machine, Mix, ONE, SMALL, STD, Shape};

    /// Sections of the mix, described and written.
    pub fn written(mix: &Mix) -> Vec<::eitri::emit::Section> {
        eitri::eitri(mix)
    }

    /// Description of the mix.
    pub fn described(mix: &Mix) -> ::eitri::model::Module {
        eitri::describe(mix).expect("it is right")
    }
}

use std::hint::black_box;
use std::time::Duration;

use cpu_time::ThreadTime;
use eitri::Consumer;
use eitri::check::CheckReport;
use eitri::emit::elf::{ObjectCode, new_object};
use eitri::lower::{Policy, lower};
use eitri::model::Module;
use mix::{Machine, Mix, Shape};

#[global_allocator]
static MEMORY: memory::Counting = memory::Counting;

/// Times the time of writing, and the bytes of the object, that checking may take.
const ASKED: (f64, f64) = (10.0, 5.0);
/// Runs of each; the median counts.
const RUNS: usize = 3;

const SHAPES: [(&str, Shape); 4] =
    [("check_gpu", mix::GPU), ("check_std", mix::STD), ("check_one", mix::ONE), ("check_small", mix::SMALL)];

/// A mix, its description, and the object written from it.
struct Input {
    mix: Mix,
    module: Module,
    consumer: Consumer,
    object: Vec<u8>,
}

impl Input {
    fn new(shape: Shape) -> Self {
        let consumer = match shape.machine {
            Machine::Gpu => Consumer::llvm(),
            Machine::Cpu => Consumer::dwarf5(),
        };
        let mix = Mix::new(shape);
        let module = mix::described(&mix);
        let written = lower(&module, &consumer, Policy::Strict).expect("it is expressible");
        let code = ObjectCode::text(vec![0; 4]);
        let object = new_object(module.target(), &code, &written.sections).expect("an object");
        Self { mix, module, consumer, object }
    }
}

/// Written once. An instrumenting tool counts this function alone, or [`run_once`].
#[inline(never)]
fn write_once(input: &Input) -> Vec<eitri::emit::Section> {
    mix::written(&input.mix)
}

/// Checked once.
#[inline(never)]
fn run_once(input: &Input) -> CheckReport {
    eitri::check(&input.module, &input.consumer, &[], &input.object).expect("it is read")
}

fn median(mut times: Vec<Duration>) -> f64 {
    times.sort();
    times[times.len() / 2].as_secs_f64()
}

fn timed<T>(run: impl FnOnce() -> T) -> Duration {
    let start = ThreadTime::now();
    black_box(run());
    start.elapsed()
}

fn main() {
    if let Ok(once) = std::env::var("EITRI_BENCH_ONCE") {
        for (_, shape) in SHAPES.into_iter().filter(|(name, _)| *name == once) {
            let input = Input::new(shape);
            black_box(write_once(&input));
            black_box(run_once(&input));
        }
        return;
    }
    println!("| shape | ms written | ms checked | times | object, bytes | peak bytes for each | compared |");
    println!("|---|---|---|---|---|---|---|");
    let mut ratios = Vec::new();
    for (name, shape) in SHAPES {
        // Under `cargo test`, a small mix is enough.
        let is_bench = std::env::args().any(|argument| argument == "--bench");
        let shape = if is_bench { shape } else { Shape { units: 1, functions: 2, inlined: 1, ..shape } };
        let input = Input::new(shape);
        let report = run_once(&input);
        assert!(report.is_clean(), "{report}");
        let (mut written, mut checked) = (Vec::new(), Vec::new());
        for _ in 0..RUNS {
            written.push(timed(|| write_once(&input)));
            checked.push(timed(|| run_once(&input)));
        }
        let (written, checked) = (median(written), median(checked));
        let memory = memory::peak_of(|| {
            black_box(run_once(&input));
            input.object.len()
        });
        let (times, bytes) = (checked / written, memory.ratio());
        println!(
            "| {name} | {:.1} | {:.1} | {times:.1} | {} | {bytes:.1} | {} |",
            written * 1e3,
            checked * 1e3,
            input.object.len(),
            report.locations,
        );
        ratios.push(format!("ratio {name}_time {:.2}", ASKED.0 / times));
        ratios.push(format!("ratio {name}_peak_memory {:.2}", ASKED.1 / bytes));
    }
    ratios.iter().for_each(|ratio| println!("{ratio}"));
}
