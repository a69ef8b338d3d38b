//! Speed and memory of `lint`, `stats` and `report`, beside `llvm-dwarfdump --verify` and `--statistics`.
//!
//! The file is this benchmark's own program, or the one that `EITRI_BENCH_FILE` names. Times are those of the process or
//! thread on the processor. The last lines are `ratio NAME VALUE`: the peer's number divided by ours, so that larger is
//! better for us. See `README.md` here.

#[path = "emission/memory.rs"]
#[allow(dead_code, reason = "the parts are those of another bench")]
mod memory;

use std::hint::black_box;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use cpu_time::ThreadTime;
use eitri::{lint, report, stats};

#[global_allocator]
static MEMORY: memory::Counting = memory::Counting;

/// Number of runs of each side, in turn; the shortest time counts.
const RUNS: usize = 5;

fn main() {
    let is_run = std::env::args().any(|argument| argument == "--bench");
    let own = std::env::current_exe().expect("this program");
    let file = std::env::var_os("EITRI_BENCH_FILE").map_or(own, Into::into);
    let bytes = std::fs::read(&file).expect("the file");
    // Under `cargo test`, running it once is enough.
    let runs = if is_run { RUNS } else { 1 };
    // The options of the commands for text.
    let folded = |threads| {
        let mut options = lint::LintOptions::default();
        options.threads = threads;
        options.fold = true;
        options
    };
    let whole = |sound| {
        let mut options = stats::StatsOptions::default();
        options.sound = sound;
        options.variables = false;
        options
    };
    let sides: [(&str, &dyn Fn()); 6] = [
        ("lint", &|| drop(black_box(lint::lint(&bytes, &folded(1))))),
        ("lint, two threads", &|| drop(black_box(lint::lint(&bytes, &folded(2))))),
        ("lint, each finding", &|| drop(black_box(lint::lint(&bytes, &lint::LintOptions::default())))),
        ("stats", &|| drop(black_box(stats::stats(&bytes, &whole(false))))),
        ("stats, sound", &|| drop(black_box(stats::stats(&bytes, &whole(true))))),
        ("report", &|| drop(black_box(report::report(&bytes, &report::ReportOptions::default())))),
    ];
    println!("{}, {} bytes", file.display(), bytes.len());
    println!("| what | on one processor, ms | ms |\n|---|---|---|");
    let mut times = Vec::new();
    for (name, run) in sides {
        let (mut thread, mut wall) = (Duration::MAX, Duration::MAX);
        for _ in 0..runs {
            let (start, on) = (Instant::now(), ThreadTime::now());
            run();
            thread = thread.min(on.elapsed());
            wall = wall.min(start.elapsed());
        }
        let ms = |time: Duration| time.as_secs_f64() * 1e3;
        println!("| {name} | {:.1} | {:.1} |", ms(thread), ms(wall));
        times.push((name, thread, wall));
    }
    let time = |wanted: &str| times.iter().find(|one| one.0 == wanted).expect("a side").1.as_secs_f64();
    let wall = |wanted: &str| times.iter().find(|one| one.0 == wanted).expect("a side").2.as_secs_f64();
    println!("ratio two_threads {:.2}", wall("lint") / wall("lint, two threads"));
    for (option, side) in [("--verify", "lint"), ("--statistics", "stats")] {
        let peer = || {
            let mut command = Command::new("llvm-dwarfdump-19");
            command.arg(option).arg(&file).stdout(Stdio::null()).stderr(Stdio::null());
            let start = Instant::now();
            command.status().ok().map(|_| start.elapsed())
        };
        let Some(best) = (0..runs).filter_map(|_| peer()).min() else {
            println!("llvm-dwarfdump-19 is not installed");
            return;
        };
        println!("| llvm-dwarfdump {option} | | {:.1} |", best.as_secs_f64() * 1e3);
        println!("ratio {side} {:.2}", best.as_secs_f64() / time(side));
    }
}
