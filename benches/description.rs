//! Speed and memory of reading a description.
//!
//! The text is the content of the emission bench as JSON. The peer is `serde_json::Value`, which only parses the JSON
//! and keeps it. The last lines are `ratio NAME VALUE`: the peer's number divided by ours, so that larger is better
//! for us. See `README.md` here.

#[path = "emission/content.rs"]
#[allow(dead_code, reason = "the parts are those of another bench")]
mod content;
#[path = "emission/memory.rs"]
#[allow(dead_code, reason = "the parts are those of another bench")]
mod memory;

use std::fmt::Write;
use std::hint::black_box;
use std::time::{Duration, Instant};

use content::{Content, Place};
use eitri::model::Module;

#[global_allocator]
static MEMORY: memory::Counting = memory::Counting;

const RUNS: usize = 15;

fn main() {
    for (name, shape) in [("description", content::LISTS), ("description_entries", content::ENTRIES)] {
        let text = describe(&Content::new(shape));
        if std::env::var("EITRI_BENCH_ONCE").is_ok_and(|once| once == name) {
            black_box(Module::from_json(&text).expect("a description"));
            return;
        }
        if std::env::args().any(|argument| argument == "--bench") {
            compare(name, &text);
        } else {
            // Under `cargo test`, reading it once is enough.
            assert!(Module::from_json(&text).is_ok());
        }
    }
}

fn compare(name: &str, text: &str) {
    let time = |run: &dyn Fn()| {
        let start = Instant::now();
        run();
        start.elapsed()
    };
    let ours = || drop(black_box(Module::from_json(text).expect("a description")));
    let peers = || drop(black_box(serde_json::from_str::<serde_json::Value>(text).expect("JSON")));
    let mut times: [Vec<Duration>; 2] = Default::default();
    for run in 0..RUNS {
        let sides: [(usize, &dyn Fn()); 2] = [(0, &ours), (1, &peers)];
        let mut order: Vec<usize> = vec![0, 1];
        if run % 2 == 1 {
            order.reverse();
        }
        for side in order {
            times[sides[side].0].push(time(sides[side].1));
        }
    }
    let [ours_time, peers_time] = times.map(|mut times| {
        times.sort();
        times[RUNS / 2].as_secs_f64()
    });
    let peak = |run: &dyn Fn()| {
        memory::peak_of(|| {
            run();
            text.len()
        })
    };
    let (ours_peak, peers_peak) = (peak(&ours), peak(&peers));
    let megabytes = text.len() as f64 / 1e6;
    println!("\n{name}: {megabytes:.1} MB of text");
    println!("| side | ms | MB/s | peak bytes/byte of text |");
    println!("|---|---|---|---|");
    for (side, time, peak) in
        [("eitri", ours_time, &ours_peak), ("serde_json::Value", peers_time, &peers_peak)]
    {
        println!("| {side} | {:.1} | {:.0} | {:.2} |", time * 1e3, megabytes / time, peak.ratio());
    }
    println!("ratio {name}_time {:.2}", peers_time / ours_time);
    println!("ratio {name}_peak_memory {:.2}", peers_peak.ratio() / ours_peak.ratio());
}

/// Registers of x86-64 by DWARF number.
const REGISTERS: [&str; 16] = [
    "rax", "rdx", "rcx", "rbx", "rsi", "rdi", "rbp", "rsp", "r8", "r9", "r10", "r11", "r12", "r13", "r14",
    "r15",
];

fn memory_at(Place { register, offset }: Place) -> String {
    let register = REGISTERS[usize::from(register)];
    format!(r#"{{"memory":["default",{{"plus":[{{"register":"{register}"}},{offset}]}}]}}"#)
}

/// Prints the content as a compiler would.
fn describe(content: &Content) -> String {
    let mut out = String::from("{\"eitri\":1,\"target\":\"x86_64\",\"describe\":[\n");
    out +=
        r#"{"unit":{"name":"kernels.cl","directory":"/src","producer":"a compiler","language":"OpenCL"}},"#;
    out += "\n";
    out += r#"{"base_type":{"unit":"kernels.cl","name":"long","encoding":"signed","bits":64}}"#;
    // The described shapes have one unit.
    let unit = content.units().next().expect("a unit");
    let mut pointers = Vec::new();
    for name in unit.structures() {
        let pointer = format!("{name}*");
        let _ = write!(
            out,
            ",\n{{\"structure\":{{\"unit\":\"kernels.cl\",\"name\":\"{name}\",\"bytes\":24}}}}\
             ,\n{{\"pointer\":{{\"unit\":\"kernels.cl\",\"to\":\"{name}\",\"id\":\"{pointer}\"}}}}"
        );
        for (member, ty, offset) in [("value", "long", 0), ("count", "long", 8), ("next", &*pointer, 16)] {
            let _ = write!(
                out,
                ",\n{{\"member\":{{\"unit\":\"kernels.cl\",\"of\":\"{name}\",\"name\":\"{member}\",\
                 \"type\":\"{ty}\",\"offset\":{offset}}}}}"
            );
        }
        pointers.push(pointer);
    }
    for function in unit.functions() {
        let name = function.name;
        let _ = write!(
            out,
            ",\n{{\"function\":{{\"in\":\"kernels.cl\",\"name\":\"{name}\",\"code\":{{\"address\":{},\"bytes\":{}}},\
             \"external\":true}}}}",
            function.address,
            content::CODE_BYTES
        );
        for variable in function.variables() {
            let _ = write!(
                out,
                ",\n{{\"variable\":{{\"in\":\"{name}\",\"name\":\"{}\",\"type\":\"{}\",\
                 \"declared\":[\"kernels.cl\",{}],",
                variable.name, pointers[variable.structure], variable.line
            );
            if variable.has_ranges() {
                out += "\"live\":[";
                for (index, entry) in variable.ranges().enumerate() {
                    let comma = if index == 0 { "" } else { "," };
                    let _ = write!(
                        out,
                        "{comma}[{},{},{{\"value\":{{\"xor\":[{{\"plus\":[{{\"read\":[{},64]}},{}]}},{}]}}}}]",
                        entry.start,
                        entry.end,
                        memory_at(entry.at),
                        entry.add,
                        entry.flip
                    );
                }
                out += "]}}";
            } else {
                let _ = write!(out, "\"always\":{}}}}}", memory_at(variable.home));
            }
        }
        let _ = write!(out, ",\n{{\"rows\":{{\"function\":\"{name}\",\"rows\":[");
        for (index, row) in function.rows().enumerate() {
            let comma = if index == 0 { "" } else { "," };
            let _ = write!(out, "{comma}[{},\"kernels.cl\",{},{}]", row.pc, row.line, row.column);
        }
        out += "]}}";
    }
    out + "\n]}\n"
}
