//! A program that Cranelift compiles, with its variables in gdb.
//!
//! ```sh
//! cargo run -p cranelift-debug -- object program.o    # then `cc program.o -o program`, `gdb program`
//! cargo build -p cranelift-debug                      # then `gdb --args target/debug/cranelift-debug jit`
//! ```

mod describe;
mod jit;
mod program;

use std::error::Error;

use cranelift_codegen::isa::OwnedTargetIsa;
use cranelift_codegen::settings::{self, Configurable};
use cranelift_jit::{JITBuilder, JITModule};
use cranelift_module::{Module, default_libcall_names};
use cranelift_object::{ObjectBuilder, ObjectModule};
use eitri::emit::elf::{attach, write_file};
use eitri::lower::{Consumer, Policy, lower};
use eitri::model::Address;

fn main() -> Result<(), Box<dyn Error>> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    match arguments.iter().map(String::as_str).collect::<Vec<_>>()[..] {
        ["object", path] => write_object(path),
        ["jit"] => run(),
        _ => Err("expected `object FILE` or `jit`".into()),
    }
}

/// Compiles for this processor.
fn isa(is_pic: bool) -> Result<OwnedTargetIsa, Box<dyn Error>> {
    let mut flags = settings::builder();
    flags.set("is_pic", if is_pic { "true" } else { "false" })?;
    flags.set("use_colocated_libcalls", "false")?;
    // Every function then has a frame that unwind instructions describe.
    flags.set("preserve_frame_pointers", "true")?;
    Ok(cranelift_native::builder()?.finish(settings::Flags::new(flags))?)
}

/// Writes an object. Cranelift's crate for objects has its own version of the crate `object`, so the sections are added
/// to the bytes; a back end with the version of [`eitri::object`] uses `emit::object::add`.
fn write_object(path: &str) -> Result<(), Box<dyn Error>> {
    let builder = ObjectBuilder::new(isa(true)?, "program", default_libcall_names())?;
    let mut module = ObjectModule::new(builder);
    let compiled = program::compile(&mut module)?;
    let described = program::describe(module.isa(), &compiled, |m, compiled| {
        Address::Symbol(m.symbol(compiled.name), 0)
    })?;

    let consumer = Consumer::dwarf5();
    let written = lower(&described, &consumer, Policy::Strict)?;
    let plain = module.finish().emit()?;
    let object = attach(&plain, described.target(), &written.sections)?;
    let report = eitri::check(&described, &consumer, &written.omissions, &object)?;
    println!("{report}");
    write_file(path, &object)?;
    Ok(())
}

/// Compiles into memory, gives the description to a debugger, and runs the program.
#[allow(unsafe_code, reason = "code in memory is called")]
fn run() -> Result<(), Box<dyn Error>> {
    let mut module = JITModule::new(JITBuilder::with_isa(isa(false)?, default_libcall_names()));
    let compiled = program::compile(&mut module)?;
    module.finalize_definitions()?;
    // The code has its final addresses now, so the debug sections need neither symbols nor a linker.
    let described = program::describe(module.isa(), &compiled, |_, compiled| {
        Address::Constant(module.get_finalized_function(compiled.id) as u64)
    })?;
    let consumer = Consumer::dwarf5();
    let written = lower(&described, &consumer, Policy::Strict)?;
    let code =
        compiled.iter().map(|compiled| (module.get_finalized_function(compiled.id) as u64, compiled.bytes()));
    let object = jit::object(described.target(), &code.collect::<Vec<_>>())?;
    let object = attach(&object, described.target(), &written.sections)?;
    assert!(eitri::check(&described, &consumer, &written.omissions, &object)?.is_clean());
    jit::register(object);

    let main = compiled.last().map(|compiled| module.get_finalized_function(compiled.id));
    // SAFETY: The last function is `main`, which has no parameters and returns an `i32`.
    let result = main.map(|main| unsafe { jit::call(main) });
    assert_eq!(result, Some(program::RESULT));
    println!("{}", program::RESULT);
    Ok(())
}
