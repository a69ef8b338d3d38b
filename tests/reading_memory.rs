//! The promise: memory for reading an object is proportional to its size, also where many entries share a list.

#[path = "../benches/emission/memory.rs"]
#[allow(dead_code, reason = "the parts are those of benchmarks")]
mod memory;
#[path = "common/shared_parts.rs"]
mod shared_parts;

use eitri::dump;
use eitri::lint::{LintOptions, lint};
use eitri::report::{ReportOptions, report};
use eitri::stats::{StatsOptions, stats};
use shared_parts::{Sharing, many_ranges, shared_lines, shared_list, shared_ranges};

#[global_allocator]
static MEMORY: memory::Counting = memory::Counting;

/// Each command takes at most 200 bytes for a byte of the object. One test, because the memory of all threads is counted.
#[test]
fn memory_of_objects_with_shared_parts_is_proportional() {
    let mut objects = vec![
        ("a location list", shared_list(2000)),
        ("a line program", shared_lines(2000)),
        ("many ranges", many_ranges(2000)),
    ];
    objects.extend(Sharing::ALL.map(|sharing| ("a range list", shared_ranges(2000, sharing))));
    type Command<'c> = &'c dyn Fn(&[u8]) -> usize;
    let commands: [(&str, Command<'_>); 4] = [
        ("dump", &|object| dump::print(object, None).expect("it is read").len()),
        ("lint", &|object| lint(object, &LintOptions::default()).expect("it is read").findings.len()),
        ("stats", &|object| stats(object, &StatsOptions::default()).expect("it is read").functions.len()),
        ("report", &|object| report(object, &ReportOptions::default()).expect("it is read").len()),
    ];
    for (shape, object) in &objects {
        for (command, run) in commands {
            let peak = memory::peak_of(|| {
                std::hint::black_box(run(object));
                object.len()
            });
            println!("{command} of {shape}: {:.0} bytes a byte", peak.ratio());
            assert!(peak.ratio() < 200.0, "{command} of {shape}: {:.0} bytes a byte", peak.ratio());
        }
    }
}
