//! Speed and memory of reading and printing a file, compared with `gimli::read` and `llvm-dwarfdump`.
//!
//! The file is this benchmark's own program, or the one that `EITRI_BENCH_FILE` names. The last lines are
//! `ratio NAME VALUE`: the peer's number divided by ours, so that larger is better for us. See `README.md` here.

#[path = "emission/memory.rs"]
#[allow(dead_code, reason = "the parts are those of another bench")]
mod memory;

use std::hint::black_box;
use std::io;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use cpu_time::ThreadTime;
use eitri::dump::{DumpOptions, print_to};
use eitri::op::Dialect;
use eitri::read::{Dwarf, Object};

#[global_allocator]
static MEMORY: memory::Counting = memory::Counting;

/// Number of runs of each side, in turn.
const RUNS: usize = 9;
/// Number of runs of each program that prints.
const PRINTS: usize = 3;

/// Numbers of entries and of attributes that a side has read.
type Count = (usize, usize);

/// A side by name.
type Side = (&'static str, fn(&Object<'_>) -> Count);

/// Reads the tree, and decodes each attribute once.
fn eitri(object: &Object<'_>) -> Count {
    let dwarf = Dwarf::read(object).expect("a file that is read");
    let (mut entries, mut attributes) = (0, 0);
    for entry in dwarf.entries() {
        black_box(entry.tag());
        entries += 1;
        for attribute in entry.attributes() {
            black_box(attribute);
            attributes += 1;
        }
    }
    (entries, attributes)
}

/// Reads and checks the tree, without the attributes.
fn eitri_tree(object: &Object<'_>) -> Count {
    let dwarf = Dwarf::read(object).expect("a file that is read");
    let tags = dwarf.entries().map(|entry| black_box(entry.tag()));
    (tags.count(), 0)
}

/// Visits each entry and takes the value of each attribute; strings and indices stay unresolved.
fn gimli(object: &Object<'_>) -> Count {
    walk(object, |_, _, _| {})
}

/// The same, with strings, addresses and lists resolved, as `eitri` resolves them.
fn gimli_resolved(object: &Object<'_>) -> Count {
    walk(object, |dwarf, unit, value| match value {
        gimli::AttributeValue::DebugAddrIndex(index) => {
            black_box(dwarf.address(unit, index).expect("an address"));
        }
        gimli::AttributeValue::DebugLocListsIndex(index) => {
            black_box(dwarf.locations_offset(unit, index).expect("a list"));
        }
        gimli::AttributeValue::DebugRngListsIndex(index) => {
            black_box(dwarf.ranges_offset(unit, index).expect("a list"));
        }
        gimli::AttributeValue::String(_)
        | gimli::AttributeValue::DebugStrRef(_)
        | gimli::AttributeValue::DebugLineStrRef(_)
        | gimli::AttributeValue::DebugStrOffsetsIndex(_) => {
            black_box(dwarf.attr_string(unit, value).expect("a string"));
        }
        _ => {}
    })
}

type Slice<'o> = gimli::EndianSlice<'o, gimli::LittleEndian>;

fn walk<'o>(
    object: &'o Object<'_>,
    resolve: impl Fn(&gimli::Dwarf<Slice<'o>>, &gimli::Unit<Slice<'o>>, gimli::AttributeValue<Slice<'o>>),
) -> Count {
    let section = |id: gimli::SectionId| {
        let bytes = object.section(id.name()).map_or(&[][..], |section| &section.data);
        Ok::<_, gimli::Error>(gimli::EndianSlice::new(bytes, gimli::LittleEndian))
    };
    let dwarf = gimli::Dwarf::load(section).expect("sections");
    let (mut entries, mut attributes) = (0, 0);
    let mut units = dwarf.units();
    while let Some(header) = units.next().expect("a unit") {
        let unit = dwarf.unit(header).expect("a unit");
        let mut cursor = unit.entries();
        while let Some(entry) = cursor.next_dfs().expect("an entry") {
            black_box(entry.tag());
            entries += 1;
            for attribute in entry.attrs() {
                let value = black_box(attribute.value());
                resolve(&dwarf, &unit, value);
                attributes += 1;
            }
        }
    }
    (entries, attributes)
}

fn median(mut taken: Vec<Duration>) -> f64 {
    taken.sort();
    taken[taken.len() / 2].as_secs_f64()
}

fn main() {
    let own = || std::env::current_exe().expect("a program has a file");
    let file = std::env::var_os("EITRI_BENCH_FILE").map_or_else(own, Into::into);
    let bytes = std::fs::read(&file).expect("a file");
    let object = Object::read(&bytes).expect("an object");
    let is_debug = |name: &str| name.starts_with(".debug_");
    let debug: u64 =
        object.sections().iter().filter(|one| is_debug(&one.name)).map(|one| one.data.len() as u64).sum();
    let sides: [Side; 4] =
        [("eitri", eitri), ("eitri_tree", eitri_tree), ("gimli", gimli), ("gimli_resolved", gimli_resolved)];
    if let Some(once) = std::env::var_os("EITRI_BENCH_ONCE") {
        for (name, side) in sides.iter().filter(|(name, _)| once == *name) {
            println!("{name}: {:?}", side(&object));
        }
        return;
    }
    assert_eq!(eitri(&object), gimli(&object), "entries and attributes");
    let mut taken = sides.map(|_| Vec::new());
    for _ in 0..RUNS {
        for ((_, side), taken) in sides.iter().zip(&mut taken) {
            let start = ThreadTime::now();
            black_box(side(&object));
            taken.push(start.elapsed());
        }
    }
    let times = taken.map(median);
    let peaks = sides.map(|(_, side)| memory::peak_of(|| side(&object).0).peak as f64);
    println!("{} bytes of debug data, {} entries", debug, gimli(&object).0);
    println!("| side | ms | peak bytes for each byte of debug data |");
    println!("|---|---|---|");
    for (((name, _), time), peak) in sides.iter().zip(times).zip(peaks) {
        println!("| {name} | {:.1} | {:.3} |", time * 1e3, peak / debug as f64);
    }
    println!("ratio reading_walk {:.2}", times[2] / times[0]);
    println!("ratio reading_walk_resolved {:.2}", times[3] / times[0]);
    println!("ratio reading_tree {:.2}", times[2] / times[1]);
    println!("ratio reading_peak_memory {:.2}", debug as f64 / peaks[0]);

    let print = || {
        let options = DumpOptions::default();
        print_to(&mut io::sink(), &bytes, None, None, Dialect::Llvm, options).expect("a printed file");
    };
    let llvm = || {
        let mut peer = Command::new("llvm-dwarfdump-19");
        peer.arg("-a").arg(&file).stdout(Stdio::null()).stderr(Stdio::null());
        peer.status().is_ok()
    };
    let mut taken = [Vec::new(), Vec::new()];
    for _ in 0..PRINTS {
        let start = Instant::now();
        if !llvm() {
            println!("llvm-dwarfdump-19 is missing: no ratio of printing");
            return;
        }
        taken[1].push(start.elapsed());
        let start = Instant::now();
        print();
        taken[0].push(start.elapsed());
    }
    let times = taken.map(median);
    let usage = memory::peak_of(|| {
        print();
        bytes.len()
    });
    println!("printing: eitri {:.0} ms, llvm-dwarfdump {:.0} ms", times[0] * 1e3, times[1] * 1e3);
    println!("ratio dump_time {:.2}", times[1] / times[0]);
    println!("ratio dump_peak_memory {:.2}", 1.0 / usage.ratio());
}
