//! Growth of the time of each stage with the size of a description: 1, 10 and 100 times as many of one thing.
//!
//! The last lines are `ratio NAME VALUE`: the time for each of the fewest divided by the time for each of the most, of
//! all stages together. The ratio is about 1, or above, where time grows with the number and no faster. See `README.md`
//! here.

use std::io;
use std::time::{Duration, Instant};

use eitri::build::Builder;
use eitri::dump::{DumpOptions, print_to};
use eitri::emit::elf::{ObjectCode, new_object};
use eitri::eval::{CallStack, Snapshot};
use eitri::lower::{Consumer, Policy, lower};
use eitri::model::{Address, BaseEncoding, LineTableRow, Loc, Module, Val};
use eitri::op::{Dialect, Encoding, Reg};
use eitri::read::{FrameSection, Frames, Sections};
use eitri::target::{Gfx, SpaceId, Target, Wave};

/// A kind of entity: its name, the smallest count, and a function that describes a count of them.
type Shape = (&'static str, u64, fn(u64) -> (Module, ObjectCode));

const SHAPES: [Shape; 9] = [
    ("units_with_the_same_names", 200, units),
    ("ranges_of_a_variable", 1000, ranges_of_a_variable),
    ("variables_of_a_function", 1000, variables),
    ("ranges_of_a_saved_register", 1000, ranges_of_a_saved_register),
    ("saved_registers", 100, saved_registers),
    ("nested_blocks", 100, nested_blocks),
    ("functions", 1000, functions),
    ("regions", 10, regions),
    // About 1, 10 and 100 MB of debug data.
    ("units_of_100_functions", 8, units_of_functions),
];

/// Runs of each; the shortest time counts.
const RUNS: u32 = 3;

fn main() {
    let wanted = std::env::args().nth(1).filter(|name| !name.starts_with('-'));
    let is_wanted = |name: &str| wanted.as_ref().is_none_or(|wanted| name.contains(wanted.as_str()));
    // Under `cargo test`, running it once is enough.
    let factors: &[u64] =
        if std::env::args().any(|argument| argument == "--bench") { &[1, 10, 100] } else { &[1] };
    let mut ratios = Vec::new();
    println!(
        "| what | how many | described, ms | written, ms | checked, ms | dumped, ms | all, µs for each |"
    );
    println!("|---|---|---|---|---|---|---|");
    for (name, fewest, describe) in SHAPES.into_iter().filter(|(name, ..)| is_wanted(name)) {
        let each: Vec<f64> = factors.iter().map(|factor| stages(name, fewest * factor, describe)).collect();
        ratios.push(format!("ratio growth_{name} {:.2}", each[0] / each[each.len() - 1]));
    }
    if is_wanted("levels_of_calls") {
        println!("\n| what | how many | unwound, ms | µs for each |\n|---|---|---|---|");
        let each: Vec<f64> = factors.iter().map(|factor| levels_of_calls(600 * factor)).collect();
        ratios.push(format!("ratio growth_levels_of_calls {:.2}", each[0] / each[each.len() - 1]));
    }
    ratios.iter().for_each(|ratio| println!("{ratio}"));
}

fn time<T>(run: impl FnOnce() -> T) -> (T, Duration) {
    let start = Instant::now();
    let result = run();
    (result, start.elapsed())
}

/// Time of all stages per counted entity, in µs.
fn stages(name: &str, count: u64, describe: fn(u64) -> (Module, ObjectCode)) -> f64 {
    let mut consumer = Consumer::llvm();
    consumer.tables.names = true;
    let mut best = [Duration::MAX; 4];
    for _ in 0..RUNS {
        let ((module, code), described) = time(|| describe(count));
        let (object, written) = time(|| {
            let lowered = lower(&module, &consumer, Policy::Strict).expect("it is expressible");
            new_object(module.target(), &code, &lowered.sections).expect("an object")
        });
        let (report, checked) = time(|| eitri::check(&module, &consumer, &[], &object).expect("it is read"));
        assert!(report.is_clean(), "{report}");
        let ((), dumped) = time(|| {
            let (dialect, options) = (Dialect::Llvm, DumpOptions::default());
            print_to(&mut io::sink(), &object, None, None, dialect, options).expect("it is read");
        });
        for (best, now) in best.iter_mut().zip([described, written, checked, dumped]) {
            *best = now.min(*best);
        }
        if best.iter().sum::<Duration>() > Duration::from_secs(5) {
            break;
        }
    }
    let [described, written, checked, dumped] = best.map(|time| time.as_secs_f64() * 1e3);
    let each = (described + written + checked + dumped) * 1e3 / count as f64;
    println!("| {name} | {count} | {described:.1} | {written:.1} | {checked:.1} | {dumped:.1} | {each:.2} |");
    each
}

fn gpu() -> Target {
    Target::amdgpu(Gfx::GFX90A, Wave::W64).expect("the processor runs such waves")
}

fn scalar(number: u64) -> Loc {
    Loc::register(gpu().sgpr((number % 60) as u16).expect("a register"))
}

/// A module with one function of the given number of instructions, and its code.
fn function(
    instructions: u64,
    describe: impl FnOnce(&mut Builder, eitri::model::UnitId, eitri::model::FunctionId, eitri::model::TypeId),
) -> (Module, ObjectCode) {
    let bytes = 4 * instructions;
    let mut m = Builder::new(gpu());
    let unit = m.unit("a.cl");
    let int = m.base_type(unit, "int", BaseEncoding::Signed, 32).expect("a type");
    let f = m.function(unit, "f").expect("a function").code("f", bytes).id();
    describe(&mut m, unit, f, int);
    let code = ObjectCode::text(vec![0; bytes as usize]).with_function("f", 0, bytes);
    (m.finish().expect("it is right"), code)
}

fn units(count: u64) -> (Module, ObjectCode) {
    let mut m = Builder::new(gpu());
    for number in 0..count {
        let unit = m.unit(&format!("{number}.cl"));
        let int = m.base_type(unit, "int", BaseEncoding::Signed, 32).expect("a type");
        let mut x = m.variable(unit, "x", int).expect("a variable");
        x.always(Loc::memory(SpaceId::DEFAULT, Val::constant(0x1000))).expect("a place");
    }
    (m.finish().expect("it is right"), ObjectCode::text(vec![0; 4]))
}

fn ranges_of_a_variable(count: u64) -> (Module, ObjectCode) {
    function(count, |m, _, f, int| {
        let mut x = m.variable(f, "x", int).expect("a variable");
        for number in 0..count {
            x.live(4 * number..4 * number + 4, scalar(number)).expect("a range");
        }
    })
}

fn variables(count: u64) -> (Module, ObjectCode) {
    function(count, |m, _, f, int| {
        for number in 0..count {
            let mut x = m.variable(f, &format!("x{number}"), int).expect("a variable");
            x.live(4 * number..4 * count, scalar(number)).expect("a range");
        }
    })
}

/// A frame that saves one register repeatedly.
fn ranges_of_a_saved_register(count: u64) -> (Module, ObjectCode) {
    saved(count, |_| 40)
}

/// A frame that saves many registers.
fn saved_registers(count: u64) -> (Module, ObjectCode) {
    saved(count, |number| (40 + number % 40) as u16)
}

fn saved(count: u64, register: fn(u64) -> u16) -> (Module, ObjectCode) {
    let gpu = gpu();
    let (pc, base) = ([30, 31].map(|n| gpu.sgpr(n).expect("a register")), gpu.sgpr(32).expect("a register"));
    let spill = gpu.vgpr(60).expect("a register");
    let (low, high) = (pc[0], pc[1]);
    function(2 * count, |m, _, f, _| {
        let mut frame = m.frame(f).expect("a function");
        frame.cfa(0..8 * count, Loc::memory(SpaceId::PRIVATE_WAVE, Val::register(base))).expect("an address");
        frame.return_address(0..8 * count, low, high).expect("an address");
        for number in 0..count {
            let saved = gpu.sgpr(register(number)).expect("a register");
            let pcs = 8 * number..8 * number + 4;
            frame.saved_in_lane(pcs, saved, spill, (number % 64) as u32).expect("a place");
        }
    })
}

fn nested_blocks(count: u64) -> (Module, ObjectCode) {
    function(2 * count, |m, _, f, int| {
        let mut around = None;
        for number in 0..count {
            let pcs = 4 * number..8 * count - 4 * number;
            let block = match around {
                None => m.block(f, std::slice::from_ref(&pcs)),
                Some(around) => m.block(around, std::slice::from_ref(&pcs)),
            };
            let block = block.expect("a block");
            let mut x = m.variable(block, "x", int).expect("a variable");
            x.live(pcs, scalar(number)).expect("a range");
            around = Some(block);
        }
    })
}

fn functions(count: u64) -> (Module, ObjectCode) {
    let mut m = Builder::new(gpu());
    let unit = m.unit("a.cl");
    let int = m.base_type(unit, "int", BaseEncoding::Signed, 32).expect("a type");
    let mut code = ObjectCode::text(vec![0; 0x20 * count as usize]);
    for number in 0..count {
        let name = format!("f{number}");
        code = code.with_function(&name, 0x20 * number, 0x20);
        let f = m.function(unit, &name).expect("a function").code(&name, 0x20).id();
        let mut x = m.variable(f, "x", int).expect("a variable");
        x.live(0..0x10, scalar(number)).expect("a range");
    }
    (m.finish().expect("it is right"), code)
}

/// Units of 100 functions with 20 rows and 10 variables each, which move 10 times.
fn units_of_functions(count: u64) -> (Module, ObjectCode) {
    const BYTES: u64 = 400;
    let gpu = gpu();
    let place = |number: u64| match number % 3 {
        0 => scalar(number),
        1 => Loc::per_lane(gpu.vgpr((number * 7 % 200) as u16).expect("a register")),
        _ => Loc::lane(gpu.vgpr((number * 5 % 200) as u16).expect("a register"), (number % 64) as u32),
    };
    let mut m = Builder::new(gpu.clone());
    for unit in 0..count {
        let id = m.unit(&format!("{unit}.cl"));
        let int = m.base_type(id, "int", BaseEncoding::Signed, 32).expect("a type");
        let file = m.primary_file(id).expect("a file");
        for number in 100 * unit..100 * unit + 100 {
            let address = Address::Constant(0x10_0000 + number * BYTES);
            let f = m.function(id, &format!("f{number}")).expect("a function").address(address, BYTES).id();
            for row in 0..20 {
                m.row(f, LineTableRow::new(4 * row, file, row as u32 + 1)).expect("a row");
            }
            for variable in 0..10 {
                let mut x = m.variable(f, &format!("v{variable}"), int).expect("a variable");
                for range in 0..10 {
                    let (at, bytes) = (BYTES / 10 * range, 4 * (variable + 1));
                    let place = place(number * 31 + variable * 11 + range);
                    x.live(at..at + bytes, place).expect("a range");
                }
            }
        }
    }
    (m.finish().expect("it is right"), ObjectCode::text(vec![0; 4]))
}

/// A kernel with the given number of branches of `if`s, in sequence.
fn regions(count: u64) -> (Module, ObjectCode) {
    let mask = |first: u64| Loc::over([first, first + 1].map(|n| gpu().sgpr(n as u16).expect("a register")));
    let bytes = 16 * count + 16;
    let mut m = Builder::new(gpu());
    let unit = m.unit("a.cl");
    let kernel = m.function(unit, "f").expect("a function").code("f", bytes).kernel().id();
    let mut lanes = m.lanes(kernel).expect("a function");
    for number in 0..count {
        let (start, first) = (16 * number + 4, 2 * (number % 40));
        let masks = [(start..start + 4, mask(first)), (start + 4..start + 12, mask(first + 2))];
        lanes.if_then(start..start + 12, start - 4, &masks).expect("a region");
    }
    let code = ObjectCode::text(vec![0; bytes as usize]).with_function("f", 0, bytes);
    (m.finish().expect("it is right"), code)
}

/// A function with the given depth of recursion, whose rules change as often before each call. Returns the time per
/// call, in µs.
fn levels_of_calls(count: u64) -> f64 {
    // A CIE of version 4 with the CFA rsp+8 and the return address at CFA-8, and an FDE with a row for each byte.
    let entry = |id: u32, rest: &[u8]| {
        let bytes = [&id.to_le_bytes()[..], rest].concat();
        [&(bytes.len() as u32).to_le_bytes()[..], &bytes].concat()
    };
    let cie = entry(u32::MAX, &[4, 0, 8, 0, 1, 0x78, 16, 0x0c, 7, 8, 0x90, 1]);
    let start = 0x1000u64;
    let rows = (0..count).flat_map(|number| [0x41, 0x0e, 8 + 8 * (number % 2) as u8]).collect::<Vec<_>>();
    let fde = entry(0, &[&start.to_le_bytes()[..], &(count + 8).to_le_bytes(), &rows].concat());
    let section = [cie, fde].concat();
    let mut sections = Sections::default();
    sections.debug_frame = &section;
    let encoding = Encoding::new(8, Dialect::Dwarf5);
    let frames = [Frames::read(&sections, FrameSection::Debug, encoding).expect("it is read")];
    let target = Target::x86_64();
    let pc = start + count;
    let mut machine = Snapshot::default();
    machine.pc = Some(pc);
    machine.registers.insert(Reg(7), 0x10000u64.to_le_bytes().to_vec());
    let words = (0..2 * count).flat_map(|_| (pc + 1).to_le_bytes()).collect::<Vec<_>>();
    machine.store(SpaceId::DEFAULT, None, 0x10000, &words);
    let mut best = Duration::MAX;
    for _ in 0..RUNS {
        let (found, now) = time(|| {
            let stack = CallStack::new(&machine, &frames, &target);
            stack.frames().take(count as usize).filter(Result::is_ok).count()
        });
        assert_eq!(found as u64, count);
        best = best.min(now);
    }
    let ms = best.as_secs_f64() * 1e3;
    let each = ms * 1e3 / count as f64;
    println!("| levels_of_calls | {count} | {ms:.1} | {each:.2} |");
    each
}
