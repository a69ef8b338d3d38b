//! The promise: derived locations take at most 64 bytes for each instruction and live range.

#[path = "../benches/track/function.rs"]
mod function;
#[path = "../benches/emission/memory.rs"]
mod memory;

use eitri::build::Builder;
use eitri::model::{BaseEncoding, VariableId};
use eitri::target::{Gfx, Target, Wave};
use eitri::track::regalloc2::{MachineCode, add};
use eitri::track::{CodeEffects, Keep};
use function::{Emitted, Func, env};

#[global_allocator]
static MEMORY: memory::Counting = memory::Counting;

/// A single test, as memory is counted across threads. The function and its variables are those of the benchmark.
#[test]
fn sixty_four_bytes_are_enough() {
    let gpu = Target::amdgpu(Gfx::GFX1030, Wave::W32).expect("the processor runs such waves");
    for instructions in [400, 4000] {
        let f = Func::new(instructions);
        let output = regalloc2::run(&f, &env(), &Default::default()).expect("the function can be allocated");
        let emitted = Emitted::new(&gpu, &f, &output);
        let mut builder = Builder::new(gpu.clone());
        let unit = builder.unit("a.cl");
        let int = builder.base_type(unit, "int", BaseEncoding::Signed, 32).expect("a type");
        let kernel = builder.function(unit, "k").expect("a unit").code("k", emitted.end()).id();
        let variable = |n: usize| builder.variable(kernel, &format!("x{n}"), int).expect("a scope").id();
        let variables: Vec<VariableId> = (0..200).map(variable).collect();
        let mut code = CodeEffects::new(&gpu, emitted.flow(&f));
        let values = add(&mut code, &f, &output, &emitted).expect("the code fits");
        for ((inst, register), variable) in f.defined().zip(variables.iter().cycle()) {
            code.assign(emitted.inst(inst).end, *variable, values[register]).expect("a value");
        }
        code.track().expect("the code fits").describe(&mut builder, Keep::All).expect("locations");
        let module = builder.finish().expect("a module");
        let ranges: usize = variables.iter().map(|&variable| module.live(variable).len()).sum();
        let used = memory::peak_of(|| {
            code.track().expect("the code fits");
            instructions + ranges
        });
        let each = used.ratio();
        assert!(each <= 64.0, "{instructions} instructions, {ranges} ranges: {each} bytes for each");
    }
}
