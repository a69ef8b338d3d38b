//! Size of debug sections per region of divergent control flow, for consecutive and for nested regions.
//!
//! The last lines are `ratio NAME VALUE`: the bytes per region of 10 regions, divided by those of more regions. About
//! 1 or more means that the size grows at most linearly with the number of regions. No time is measured. See
//! `README.md` here.

use eitri::build::Builder;
use eitri::lower::{Consumer, Policy, lower};
use eitri::model::{Loc, Module};
use eitri::target::{Gfx, Target, Wave};

const COUNTS: [u64; 4] = [10, 100, 1_000, 10_000];

fn main() {
    println!("| regions | in all | bytes | for each | in `.debug_info` | in lists |");
    println!("|---|---|---|---|---|---|");
    let mut ratios = Vec::new();
    for is_nested in [false, true] {
        let name = if is_nested { "nested" } else { "siblings" };
        let each = COUNTS.map(|count| {
            // Subtract the size without regions.
            let [bytes, info, lists] = sizes(&module(count, is_nested));
            let [no_bytes, no_info, no_lists] = sizes(&module(0, is_nested));
            let [bytes, info, lists] = [bytes - no_bytes, info - no_info, lists - no_lists];
            let each = bytes as f64 / count as f64;
            println!("| {name} | {count} | {bytes} | {each:.1} | {info} | {lists} |");
            each
        });
        for (count, more) in COUNTS.into_iter().zip(each).skip(1) {
            ratios.push(format!("ratio lanes_{name}_{count} {:.2}", each[0] / more));
        }
    }
    ratios.iter().for_each(|ratio| println!("{ratio}"));
}

/// A kernel with `count` branches of `if`s. Each has its mask in two registers, and the mask moves once.
fn module(count: u64, is_nested: bool) -> Module {
    let gpu = Target::amdgpu(Gfx::GFX90A, Wave::W64).expect("the processor runs such waves");
    let mask = |first: u16| Loc::over([first, first + 1].map(|number| gpu.sgpr(number).expect("a register")));
    let bytes = 16 * count + 16;
    let mut m = Builder::new(gpu.clone());
    let unit = m.unit("lanes.cl");
    let kernel = m.function(unit, "kernel").expect("a function").code("kernel", bytes).kernel().id();
    let mut lanes = m.lanes(kernel).expect("a function");
    for index in 0..count {
        let (start, end) = match is_nested {
            false => (16 * index + 4, 16 * index + 16),
            true => (8 * index + 4, bytes - 8 * index - 4),
        };
        let first = 2 * (index % 40) as u16;
        let middle = start + 4;
        let region = lanes
            .if_then(start..end, start - 4, &[(start..middle, mask(first)), (middle..end, mask(first + 2))])
            .expect("a region");
        if is_nested {
            lanes.inside(region).expect("the region around");
        }
    }
    m.finish().expect("it is right")
}

/// Size in bytes of all debug sections, of the entries, and of the lists.
fn sizes(module: &Module) -> [usize; 3] {
    let written = lower(module, &Consumer::rocgdb(), Policy::Strict).expect("it is expressible");
    let of = |names: &[&str]| {
        let is_named = |name: &str| names.is_empty() || names.contains(&name);
        let sections = written.sections.iter().filter(|section| is_named(section.name));
        sections.map(|section| section.bytes.len()).sum()
    };
    [of(&[]), of(&[".debug_info"]), of(&[".debug_loclists"])]
}
