//! Speed and memory of `import` and `rewrite`, beside `lint`, `llvm-dwarfutil` and `dwz`.
//!
//! The object is the one that `EITRI_BENCH_FILE` names, or a small example. The last lines are `ratio NAME VALUE`: the
//! peer's time divided by ours, so that larger is better for us; for an import the peer is `lint`, and for its memory the
//! bytes of the object. See `README.md` here.

#[path = "emission/memory.rs"]
#[allow(dead_code, reason = "the parts are those of another bench")]
mod memory;

use std::hint::black_box;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use cpu_time::ThreadTime;
use eitri::import::{ImportOptions, import};
use eitri::lint::{LintOptions, lint};
use eitri::rewrite::{RewriteOptions, rewrite};

#[global_allocator]
static MEMORY: memory::Counting = memory::Counting;

/// Number of runs of each side, in turn; the shortest time counts.
const RUNS: usize = 3;

const EXAMPLE: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../examples/data/squares.o");

fn main() {
    let is_run = std::env::args().any(|argument| argument == "--bench");
    let file = std::env::var_os("EITRI_BENCH_FILE").unwrap_or_else(|| EXAMPLE.into());
    let file = Path::new(&file);
    let bytes = std::fs::read(file).expect("the file");
    // Under `cargo test`, running it once is enough.
    let runs = if is_run { RUNS } else { 1 };
    let rewritten = |dedupe| {
        let mut options = RewriteOptions::default();
        options.dedupe = dedupe;
        drop(black_box(rewrite(&bytes, &options).expect("it is rewritten")));
    };
    let folded = {
        let mut options = LintOptions::default();
        options.fold = true;
        options
    };
    let sides: [(&str, &dyn Fn()); 4] = [
        ("lint", &|| drop(black_box(lint(&bytes, &folded)))),
        ("import", &|| drop(black_box(import(&bytes, &ImportOptions::default()).expect("it is imported")))),
        ("rewrite", &|| rewritten(false)),
        ("rewrite, dedupe", &|| rewritten(true)),
    ];
    println!("{}, {} bytes", file.display(), bytes.len());
    println!("| what | on one processor, ms | ms | peak bytes per byte |\n|---|---|---|---|");
    let mut times = Vec::new();
    for (name, run) in sides {
        let (mut thread, mut wall) = (Duration::MAX, Duration::MAX);
        for _ in 0..runs {
            let (start, on) = (Instant::now(), ThreadTime::now());
            run();
            thread = thread.min(on.elapsed());
            wall = wall.min(start.elapsed());
        }
        // The object itself is not counted.
        let memory = memory::peak_of(|| {
            run();
            bytes.len()
        });
        println!("| {name} | {:.1} | {:.1} | {:.2} |", ms(thread), ms(wall), memory.ratio());
        times.push((name, thread, wall, memory.ratio()));
    }
    let side = |wanted: &str| times.iter().find(|side| side.0 == wanted).expect("a side");
    let (lint, import, plain, merged) =
        (side("lint"), side("import"), side("rewrite"), side("rewrite, dedupe"));
    println!("ratio import_time {:.2}", lint.1.as_secs_f64() / import.1.as_secs_f64());
    println!("ratio import_peak_memory {:.2}", 1.0 / import.3);
    let output = std::env::temp_dir().join(format!("eitri-bench-{}", std::process::id()));
    let peers: [(&str, &[&Path]); 2] =
        [("llvm-dwarfutil-19", &[file, &output]), ("dwz", &[Path::new("-o"), &output, file])];
    for (tool, arguments) in peers {
        let peer = || {
            let mut command = Command::new(tool);
            command.args(arguments).stdout(Stdio::null()).stderr(Stdio::null());
            let start = Instant::now();
            command.status().ok().map(|status| status.success().then(|| start.elapsed()))
        };
        match (0..runs).map(|_| peer()).min().flatten() {
            None => println!("{tool} is not installed"),
            Some(None) => println!("{tool} refuses the object"),
            Some(Some(best)) => {
                println!("| {tool} | | {:.1} | |", ms(best));
                println!("ratio rewrite_{tool} {:.2}", best.as_secs_f64() / plain.2.as_secs_f64());
                println!("ratio dedupe_{tool} {:.2}", best.as_secs_f64() / merged.2.as_secs_f64());
            }
        }
    }
    drop(std::fs::remove_file(output));
}

fn ms(time: Duration) -> f64 {
    time.as_secs_f64() * 1e3
}
