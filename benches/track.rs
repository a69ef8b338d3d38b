//! Time and memory of derived locations, beside `regalloc2::run` for the same function.
//!
//! Every value is assigned to one of 200 variables where it is defined. CPU time of the thread, the shortest of several
//! runs in turn. The last lines are `ratio NAME VALUE`. See `README.md` here.

#[path = "track/divergent.rs"]
mod divergent;
#[path = "track/function.rs"]
mod function;
#[path = "emission/memory.rs"]
mod memory;

use cpu_time::ThreadTime;
use divergent::{Divergent, Shape};
use eitri::build::Builder;
use eitri::model::{BaseEncoding, VariableId};
use eitri::target::{Gfx, Target, Wave};
use eitri::track::regalloc2::add;
use eitri::track::{CodeEffects, Keep};
use function::{Emitted, Func, env};

#[global_allocator]
static COUNTING: memory::Counting = memory::Counting;

/// Variables to which values are assigned in turn.
const VARIABLES: usize = 200;

fn ms<T>(best: &mut f64, run: impl FnOnce() -> T) -> T {
    let start = ThreadTime::now();
    let result = run();
    *best = best.min(start.elapsed().as_secs_f64() * 1e3);
    result
}

/// Milliseconds of each stage for a function.
struct Times {
    instructions: usize,
    allocated: f64,
    added: f64,
    tracked: f64,
}

impl Times {
    fn ratio(&self) -> f64 {
        (self.added + self.tracked) / self.allocated
    }
}

fn measure(gpu: &Target, instructions: usize, runs: usize) -> Times {
    let f = Func::new(instructions);
    let mut times = Times { instructions, allocated: f64::MAX, added: f64::MAX, tracked: f64::MAX };
    let (mut ranges, mut each) = (0, 0.0);
    for run in 0..runs {
        let output = ms(&mut times.allocated, || {
            regalloc2::run(&f, &env(), &Default::default()).expect("the function can be allocated")
        });
        let emitted = Emitted::new(gpu, &f, &output);
        let mut builder = Builder::new(gpu.clone());
        let unit = builder.unit("a.cl");
        let int = builder.base_type(unit, "int", BaseEncoding::Signed, 32).expect("a type");
        let kernel = builder.function(unit, "k").expect("a unit").code("k", emitted.end()).id();
        let variable = |n: usize| builder.variable(kernel, &format!("x{n}"), int).expect("a scope").id();
        let variables: Vec<VariableId> = (0..VARIABLES).map(variable).collect();
        let flow = emitted.flow(&f);
        let mut code = CodeEffects::new(gpu, flow);
        ms(&mut times.added, || {
            let values = add(&mut code, &f, &output, &emitted).expect("the code fits");
            for (at, (inst, register)) in f.defined().enumerate() {
                let pc = eitri::track::regalloc2::MachineCode::inst(&emitted, inst).end;
                code.assign(pc, variables[at % VARIABLES], values[register]).expect("a value");
            }
        });
        let tracked = ms(&mut times.tracked, || code.track().expect("the code fits"));
        if run == 0 {
            assert_eq!(tracked.unproven(), []);
            tracked.describe(&mut builder, Keep::All).expect("locations");
            let module = builder.finish().expect("a module");
            ranges = variables.iter().map(|&variable| module.live(variable).len()).sum();
            drop((tracked, module));
            let used = memory::peak_of(|| {
                code.track().expect("the code fits");
                instructions + ranges
            });
            each = used.ratio();
        }
    }
    let Times { allocated, added, tracked, .. } = times;
    println!(
        "| {instructions} | {allocated:.2} | {added:.2} | {tracked:.2} | {:.2} | {ranges} | {each:.0} |",
        times.ratio()
    );
    times
}

/// Measures code of a shape whose lanes leave, and returns microseconds for each instruction.
fn measure_shape(shape: Shape, count: usize, runs: usize) -> f64 {
    let Divergent { mut builder, variables, code, instructions } =
        Divergent::new(shape, count).expect("the code fits");
    let mut best = f64::MAX;
    for _ in 0..runs {
        ms(&mut best, || code.track().expect("the code fits"));
    }
    let tracked = code.track().expect("the code fits");
    tracked.describe(&mut builder, Keep::All).expect("locations");
    drop(tracked);
    let module = builder.finish().expect("a module");
    let ranges: usize = variables.iter().map(|&variable| module.live(variable).len()).sum();
    let used = memory::peak_of(|| {
        code.track().expect("the code fits");
        instructions + ranges
    });
    let each = 1e3 * best / instructions as f64;
    println!("| {shape:?} | {instructions} | {best:.2} | {each:.3} | {ranges} | {:.0} |", used.ratio());
    each
}

fn main() {
    let gpu = Target::amdgpu(Gfx::GFX1030, Wave::W32).expect("the processor runs such waves");
    // Under `cargo test`, running it once is enough.
    let is_bench = std::env::args().any(|argument| argument == "--bench");
    let sizes: &[usize] = if is_bench { &[400, 10_000, 100_000, 1_000_000] } else { &[400] };
    println!(
        "| instructions | regalloc2, ms | statements, ms | tracked, ms | ratio | ranges | peak, bytes each |"
    );
    println!("|---|---|---|---|---|---|---|");
    let all: Vec<Times> =
        sizes.iter().map(|&size| measure(&gpu, size, (2_000_000 / size).clamp(2, 40))).collect();
    for times in &all {
        println!("ratio track_{} {:.2}", times.instructions, times.ratio());
    }
    println!("| shape | instructions | tracked, ms | µs each | ranges | peak, bytes each |");
    println!("|---|---|---|---|---|---|");
    for shape in [Shape::Exits, Shape::Deep] {
        let counts: &[usize] = if is_bench { &[10, 100, 1000, 10_000] } else { &[10] };
        let each: Vec<f64> =
            counts.iter().map(|&count| measure_shape(shape, count, (2000 / count).clamp(2, 40))).collect();
        if let [_, first, .., last] = each[..] {
            println!("ratio track_{shape:?} {:.2}", first / last);
        }
    }
    if let [_, first, .., last] = &all[..] {
        let each = |times: &Times| times.tracked / times.instructions as f64;
        println!("ratio track_linear {:.2}", each(first) / each(last));
    }
}
