//! A description by the functions of C, statement by statement, beside the builder of Rust.
//!
//! Both sides describe the same module, and make an object of it, which must be equal byte for byte. The side of C writes
//! the text of its statements as a compiler would, a function at a time.
//!
//! `EITRI_BENCH_ONCE` names a side and a shape, such as `c_lists`, for instruments.

use std::fmt::Write as _;
use std::hint::black_box;
use std::ptr::{null, null_mut};
use std::time::Instant;

use eitri::build::Builder;
use eitri::emit::elf::{Compression, ObjectCode, new_object_with};
use eitri::lower::{Consumer, Policy, lower};
use eitri::model::{BaseEncoding, Loc, SourceLine, Val};
use eitri::op::Reg;
use eitri::target::{SpaceId, Target};
use eitri_c::*;

/// Target of the description.
const TARGET: &str = "x86_64";
/// Functions, and variables of each.
const FUNCTIONS: u64 = 1000;
const VARIABLES: u64 = 20;
/// Number of rounds; their median is the result.
const ROUNDS: usize = 9;

/// Content of a description.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Shape {
    /// Location lists: eight ranges a variable, each an expression of six operations.
    Lists,
    /// Entries with a single location each.
    Entries,
}

impl Shape {
    const ALL: [Self; 2] = [Self::Lists, Self::Entries];

    fn name(self) -> &'static str {
        match self {
            Self::Lists => "lists",
            Self::Entries => "entries",
        }
    }

    fn ranges(self) -> u64 {
        match self {
            Self::Lists => 8,
            Self::Entries => 0,
        }
    }
}

/// A variable's offset from its register, what is added to the number there, and what flips its bits, in a range.
fn numbers(function: u64, variable: u64, range: u64) -> (i64, i64, u64) {
    let mixed = function.wrapping_mul(31) + variable * 7 + range;
    (-8 * ((mixed % 64) as i64 + 1), (mixed % 1000) as i64 + 1, mixed % 50_000)
}

/// Bounds of a range, in bytes from the function's start.
fn bounds(range: u64) -> std::ops::Range<u64> {
    range * 0x20..range * 0x20 + 0x18
}

fn with_builder(shape: Shape) -> eitri::Result<Vec<u8>> {
    let target = Target::named(TARGET)?;
    // rbp.
    let register = Reg(6);
    let mut m = Builder::new(target);
    let unit = m.unit("a.cl");
    let long = m.base_type(unit, "long", BaseEncoding::Signed, 64)?;
    let file = m.primary_file(unit)?;
    let memory = |offset| Loc::memory(SpaceId::DEFAULT, Val::register(register).plus(offset));
    for function in 0..FUNCTIONS {
        let name = format!("f{function}");
        let id = m.function(unit, &name)?.code(&name, 0x800).id();
        for variable in 0..VARIABLES {
            let mut described = m.variable(id, &format!("v{variable}"), long)?;
            described.declared(SourceLine::new(file, variable as u32 + 1));
            if shape == Shape::Entries {
                described.always(memory(numbers(function, variable, 0).0))?;
            }
            for range in 0..shape.ranges() {
                let (offset, add, flip) = numbers(function, variable, range);
                let number = memory(offset).read(64).plus(add).xor(Val::constant(flip));
                described.live(bounds(range), Loc::value(number))?;
            }
        }
    }
    let module = m.finish()?;
    let lowered = lower(&module, &Consumer::llvm(), Policy::Strict)?;
    let code = ObjectCode::elsewhere(&lowered.sections);
    new_object_with(module.target(), &code, &lowered.sections, Compression::None)
}

/// Writes a function's statements.
fn write_function(text: &mut String, shape: Shape, function: u64) -> std::fmt::Result {
    write!(
        text,
        r#"[{{"function":{{"in":"a.cl","name":"f{function}","code":{{"symbol":"f{function}","bytes":2048}}}}}}"#
    )?;
    for variable in 0..VARIABLES {
        let line = variable + 1;
        write!(
            text,
            r#",{{"variable":{{"in":"f{function}","name":"v{variable}","type":"long","declared":["a.cl",{line}],"#
        )?;
        if shape == Shape::Entries {
            let offset = numbers(function, variable, 0).0;
            write!(
                text,
                r#""always":{{"memory":["default",{{"plus":[{{"register":"rbp"}},{offset}]}}]}}}}}}"#
            )?;
            continue;
        }
        text.push_str(r#""live":["#);
        for range in 0..shape.ranges() {
            let (offset, add, flip) = numbers(function, variable, range);
            let pcs = bounds(range);
            write!(
                text,
                r#"{}[{},{},{{"value":{{"xor":[{{"plus":[{{"read":[{{"memory":["default",{{"plus":[{{"register":"rbp"}},{offset}]}}]}},64]}},{add}]}},{flip}]}}}}]"#,
                if range > 0 { "," } else { "" },
                pcs.start,
                pcs.end,
            )?;
        }
        text.push_str("]}}");
    }
    text.push(']');
    Ok(())
}

fn with_c(shape: Shape) -> Vec<u8> {
    const UNIT: &str = r#"[{"unit":{"name":"a.cl"}},
        {"base_type":{"unit":"a.cl","name":"long","encoding":"signed","bits":64}}]"#;
    const ENDED: eitri_result = eitri_result::EITRI_OK;
    let (mut description, mut module, mut object) = (null_mut(), null_mut(), null_mut());
    // SAFETY: each pointer is to a local variable, a text or a handle that lives.
    unsafe {
        let error = null_mut();
        assert_eq!(eitri_description_new(c"x86_64".as_ptr(), &raw mut description, error), ENDED);
        assert_eq!(eitri_description_add(description, UNIT.as_ptr().cast(), UNIT.len(), error), ENDED);
        let mut text = String::new();
        for function in 0..FUNCTIONS {
            text.clear();
            write_function(&mut text, shape, function).expect("memory");
            assert_eq!(eitri_description_add(description, text.as_ptr().cast(), text.len(), error), ENDED);
        }
        assert_eq!(eitri_description_finish(description, &raw mut module, error), ENDED);
        assert_eq!(eitri_emit(module, null(), &raw mut object, error), ENDED);
        let bytes = std::slice::from_raw_parts(eitri_buffer_data(object), eitri_buffer_size(object)).to_vec();
        eitri_buffer_free(object);
        eitri_module_free(module);
        eitri_description_free(description);
        bytes
    }
}

/// A side once, which an instrument measures by the function's name.
fn run_once(side: &str, shape: Shape) -> Vec<u8> {
    match side {
        "c" => with_c(shape),
        _ => with_builder(shape).expect("the content is expressible"),
    }
}

fn main() {
    let wanted = std::env::var("EITRI_BENCH_ONCE").unwrap_or_default();
    if let Some((side, shape)) = wanted.split_once('_') {
        let shape = Shape::ALL.into_iter().find(|it| it.name() == shape).expect("lists or entries");
        let start = Instant::now();
        let bytes = black_box(run_once(side, shape));
        println!("{} bytes, {:.1} ms", bytes.len(), 1000.0 * start.elapsed().as_secs_f64());
        return;
    }
    for shape in Shape::ALL {
        assert!(run_once("rust", shape) == run_once("c", shape), "{}: the objects differ", shape.name());
        let sides = ["rust", "c"];
        let mut times = [Vec::new(), Vec::new()];
        for _ in 0..ROUNDS {
            for (side, times) in sides.into_iter().zip(&mut times) {
                let start = Instant::now();
                drop(black_box(run_once(side, shape)));
                times.push(start.elapsed().as_secs_f64());
            }
        }
        let [rust, c] = times.map(|mut times| {
            times.sort_by(f64::total_cmp);
            times[ROUNDS / 2]
        });
        let name = shape.name();
        println!("{name}: Rust {:.1} ms, C {:.1} ms", 1000.0 * rust, 1000.0 * c);
        println!("ratio statements_{name} {:.2}", rust / c);
    }
}
