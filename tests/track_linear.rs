//! The promise: locations are derived in time in proportion to the code, also where many lanes leave or masks are deep.

#[path = "../benches/track/divergent.rs"]
mod divergent;
#[path = "../benches/emission/memory.rs"]
mod memory;

use divergent::{Divergent, Shape};
use eitri::track::Keep;

#[global_allocator]
static MEMORY: memory::Counting = memory::Counting;

/// Allocations, and bytes at the peak, for each instruction and live range of a function with a number of exits or masks.
fn each(shape: Shape, count: usize) -> [f64; 2] {
    let Divergent { mut builder, variables, code, instructions } =
        Divergent::new(shape, count).expect("the code fits");
    code.track().expect("the code fits").describe(&mut builder, Keep::All).expect("locations");
    let module = builder.finish().expect("a module");
    let ranges: usize = variables.iter().map(|&variable| module.live(variable).len()).sum();
    let used = memory::peak_of(|| {
        code.track().expect("the code fits");
        instructions + ranges
    });
    [used.allocations as f64 / used.written as f64, used.ratio()]
}

/// A single test, as memory is counted across threads. Time is not asserted: what follows a stretch for each exit, or
/// for each mask, allocates in proportion to what it follows.
#[test]
fn allocations_are_in_proportion_to_the_code() {
    for shape in [Shape::Exits, Shape::Deep] {
        let [small, large] = [40, 400].map(|count| each(shape, count));
        for (small, large) in small.into_iter().zip(large) {
            assert!(large <= 1.5 * small, "{shape:?}: {small} for each instruction, then {large}");
        }
    }
}
