//! A compiler from WGSL to gfx1100, wave32, with a debugger in mind.
//!
//! ```text
//! WGSL ─► front (naga) ─► diverge ─► lower ─► ssa ─► alloc (regalloc2) ─► emit ─► object
//!                                                                          └────► debug (eitri)
//! ```
pub mod alloc;
pub mod debug;
pub mod diverge;
pub mod draw;
pub mod emit;
pub mod expr;
pub mod front;
pub mod generate;
pub mod input;
pub mod interp;
pub mod isa;
pub mod layout;
pub mod lower;
pub mod memory;
pub mod object;
pub mod prove;
pub mod sim;
pub mod ssa;
mod stopped;
pub mod trace;

use std::time::{Duration, Instant};

use front::{Refusal, Source, Unsupported};

/// A compiled shader: the kernel, and functions that it calls.
pub struct Compiled<'s> {
    pub lowered: Vec<lower::Lowered<'s>>,
    pub machines: Vec<emit::Machine>,
    pub debug: debug::Debug,
    pub object: Vec<u8>,
    /// Time for code, and for debug information.
    pub times: [Duration; 2],
}

/// Compiles a shader: code and debug information in one object.
pub fn compile(source: &Source, limits: alloc::Limits) -> Result<Compiled<'_>, Refusal> {
    source.entry()?;
    let refuse = |unsupported: Unsupported| source.refuse(&unsupported);
    let internal =
        |what: String| Refusal { place: source.name.clone(), what: format!("the compiler is wrong: {what}") };
    let start = Instant::now();
    let lowered = lower::Lower::all(source).map_err(refuse)?;
    let mut machines = Vec::new();
    let mut lanes = alloc::LANES;
    for lowered in &lowered {
        let flat = alloc::Flat::new(&lowered.code);
        let output =
            flat.run(limits, lowered.function.is_none()).map_err(|error| internal(error.to_string()))?;
        let machine = emit::emit(lowered, &flat, &output, lanes, limits.reach).map_err(refuse)?;
        // No function calls itself, so each has lanes of its own.
        lanes = lanes.max(machine.vectors);
        machines.push(machine);
    }
    if lanes > 256 {
        return Err(refuse(Unsupported {
            what: "more than 6,144 spilled scalars".into(),
            span: Default::default(),
        }));
    }
    let wrong = |error: eitri::Error| internal(error.to_string());
    emit::link(&lowered, &mut machines, |of, machine| debug::left(source, of, machine)).map_err(wrong)?;
    let code = object::object(source, &lowered, &machines);
    let coded = Instant::now();
    let debug = debug::describe(source, &lowered, &machines).map_err(wrong)?;
    let object =
        eitri::emit::elf::new_object(debug.module.target(), &code, &debug.written.sections).map_err(wrong)?;
    let times = [coded - start, coded.elapsed()];
    Ok(Compiled { lowered, machines, debug, object, times })
}

/// Compares the object with the description.
pub fn check(compiled: &Compiled<'_>) -> eitri::Result<eitri::check::CheckReport> {
    let debug = &compiled.debug;
    eitri::check(&debug.module, &debug.consumer, &debug.written.omissions, &compiled.object)
}
