//! Speed and memory of `lint`, `stats`, `dump` and `report`, beside `llvm-dwarfdump --verify`, `--statistics` and `-a`.
//!
//! The files are this benchmark's own program, and programs in Rust, C++ and Go that are built here; or the file that
//! `EITRI_BENCH_FILE` names. Times are those of the process or thread on the processor. The last lines for a file are
//! `ratio FILE_NAME VALUE`: the peer's number divided by ours, so that larger is better for us. See `README.md` here.

#[path = "emission/memory.rs"]
#[allow(dead_code, reason = "the parts are those of another bench")]
mod memory;
#[path = "tools/programs.rs"]
mod programs;

use std::hint::black_box;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use cpu_time::ThreadTime;
use eitri::op::Dialect;
use eitri::{dump, lint, report, stats};

#[global_allocator]
static MEMORY: memory::Counting = memory::Counting;

/// Number of runs of each side, in turn; the shortest time counts.
const RUNS: usize = 5;
/// Limit on the time of a peer. A peer that takes longer has no ratio.
const MOST: Duration = Duration::from_secs(60);

fn main() {
    let is_run = std::env::args().any(|argument| argument == "--bench");
    // Under `cargo test`, running it once is enough.
    let runs = if is_run { RUNS } else { 1 };
    let own = std::env::current_exe().expect("this program");
    if let Some(file) = std::env::var_os("EITRI_BENCH_FILE") {
        return measure("file", Path::new(&file), runs);
    }
    measure("own", &own, runs);
    if !is_run {
        return;
    }
    let folder = own.with_extension("programs");
    for (name, program) in programs::built(&own, &folder) {
        match program {
            Ok(file) => measure(name, &file, runs),
            Err(reason) => println!("{name}: {reason}"),
        }
    }
}

fn measure(file_name: &str, file: &Path, runs: usize) {
    let bytes = std::fs::read(file).expect("the file");
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
    let printed = || {
        let options = dump::DumpOptions::default();
        dump::print_to(&mut std::io::sink(), &bytes, None, None, Dialect::Llvm, options)
    };
    let sides: [(&str, &dyn Fn()); 7] = [
        ("lint", &|| drop(black_box(lint::lint(&bytes, &folded(1))))),
        ("lint, two threads", &|| drop(black_box(lint::lint(&bytes, &folded(2))))),
        ("lint, each finding", &|| drop(black_box(lint::lint(&bytes, &lint::LintOptions::default())))),
        ("stats", &|| drop(black_box(stats::stats(&bytes, &whole(false))))),
        ("stats, sound", &|| drop(black_box(stats::stats(&bytes, &whole(true))))),
        ("dump", &|| drop(black_box(printed()))),
        ("report", &|| drop(black_box(report::report(&bytes, &report::ReportOptions::default())))),
    ];
    println!("{}, {} bytes", file.display(), bytes.len());
    println!("| what | on one processor, ms | ms |\n|---|---|---|");
    let times: Vec<_> = sides.into_iter().map(|(name, run)| (name, shortest(name, run, runs))).collect();
    let time = |wanted: &str| times.iter().find(|one| one.0 == wanted).expect("a side").1;
    println!(
        "ratio {file_name}_two_threads {:.2}",
        seconds(time("lint")[1]) / seconds(time("lint, two threads")[1])
    );
    for (option, side) in [("--verify", "lint"), ("--statistics", "stats"), ("-a", "dump")] {
        let Some(best) = peer(option, file, runs) else { continue };
        println!("| llvm-dwarfdump {option} | | {:.1} |", seconds(best) * 1e3);
        println!("ratio {file_name}_{side} {:.2}", seconds(best) / seconds(time(side)[0]));
    }
}

fn seconds(time: Duration) -> f64 {
    time.as_secs_f64()
}

/// Shortest times of a side: on its thread, and by the clock.
fn shortest(name: &str, run: &dyn Fn(), runs: usize) -> [Duration; 2] {
    let mut times = [Duration::MAX; 2];
    for _ in 0..runs {
        let (start, on) = (Instant::now(), ThreadTime::now());
        run();
        times = [times[0].min(on.elapsed()), times[1].min(start.elapsed())];
    }
    println!("| {name} | {:.1} | {:.1} |", seconds(times[0]) * 1e3, seconds(times[1]) * 1e3);
    times
}

/// Shortest time of the peer's process; `None` if it is not installed or takes too long.
fn peer(option: &str, file: &Path, runs: usize) -> Option<Duration> {
    let mut best: Option<Duration> = None;
    for _ in 0..runs {
        let mut command = Command::new("llvm-dwarfdump-19");
        command.arg(option).arg(file).stdout(Stdio::null()).stderr(Stdio::null());
        let start = Instant::now();
        let Ok(mut process) = command.spawn() else {
            println!("llvm-dwarfdump-19 is not installed");
            return None;
        };
        while process.try_wait().expect("it runs").is_none() {
            if start.elapsed() > MOST {
                process.kill().and_then(|()| process.wait().map(drop)).expect("it ends");
                println!("| llvm-dwarfdump {option} | | more than {} s |", MOST.as_secs());
                return None;
            }
            std::thread::sleep(Duration::from_millis(1));
        }
        best = Some(best.map_or(start.elapsed(), |best| best.min(start.elapsed())));
    }
    best
}
