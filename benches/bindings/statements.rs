//! A description by the functions of C, statement by statement, beside the builder of Rust.
//!
//! All sides describe the same module, and make an object of it, which must be equal byte for byte. The side `json` of C
//! writes the text of its statements as a compiler would, a function at a time; the side `c` passes variables as structures.
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

/// Writes a function's statement, after which others may follow.
fn write_start(text: &mut String, function: u64) -> std::fmt::Result {
    write!(
        text,
        r#"[{{"function":{{"in":"a.cl","name":"f{function}","code":{{"symbol":"f{function}","bytes":2048}}}}}}"#
    )
}

/// Writes the statements of a function's variables.
fn write_variables(text: &mut String, shape: Shape, function: u64) -> std::fmt::Result {
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
    Ok(())
}

/// Passes a function's variables as structures.
fn pass_variables(description: *mut eitri_description, shape: Shape, function: u64, register: u64) {
    let node = |kind, number, other| eitri_node { kind, number, other };
    let memory = |offset| {
        [
            node(EITRI_NODE_READ_REGISTER, register, 0),
            node(EITRI_NODE_PLUS, 0, offset),
            node(EITRI_NODE_MEMORY, 0, 0),
        ]
    };
    let (scope, ty, file) = (format!("f{function}\0"), c"long", c"a.cl");
    let mut name = String::new();
    let mut nodes = Vec::new();
    let mut live = Vec::new();
    for index in 0..VARIABLES {
        name.clear();
        write!(name, "v{index}\0").expect("memory");
        nodes.clear();
        live.clear();
        let ranges = shape.ranges();
        for range in 0..ranges {
            let (offset, add, flip) = numbers(function, index, range);
            nodes.extend(memory(offset));
            nodes.extend([
                node(EITRI_NODE_READ, 64, 0),
                node(EITRI_NODE_PLUS, 0, add),
                node(EITRI_NODE_CONSTANT, flip, 0),
                node(EITRI_NODE_XOR, 0, 0),
                node(EITRI_NODE_VALUE, 0, 0),
            ]);
        }
        if ranges == 0 {
            nodes.extend(memory(numbers(function, index, 0).0));
        }
        let each = nodes.len() / ranges.max(1) as usize;
        for (range, nodes) in (0..ranges).zip(nodes.chunks(each)) {
            let pcs = bounds(range);
            let (nodes, nodes_count) = (nodes.as_ptr(), nodes.len());
            live.push(eitri_live { start: pcs.start, end: pcs.end, nodes, nodes_count });
        }
        let always = if ranges == 0 { &nodes[..] } else { &[] };
        let variable = eitri_variable {
            size: size_of::<eitri_variable>(),
            scope: scope.as_ptr().cast(),
            name: name.as_ptr().cast(),
            r#type: ty.as_ptr(),
            id: null(),
            is_parameter: 0,
            file: file.as_ptr(),
            line: index as u32 + 1,
            column: 0,
            always: always.as_ptr(),
            always_count: always.len(),
            live: live.as_ptr(),
            live_count: live.len(),
        };
        // SAFETY: each pointer is to a local variable, a text or a handle that lives.
        let added = unsafe { eitri_description_variable(description, &raw const variable, null_mut()) };
        assert_eq!(added, eitri_result::EITRI_OK);
    }
}

/// The functions with which the C side adds variables.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum By {
    Json,
    Structures,
}

fn with_c(shape: Shape, by: By) -> Vec<u8> {
    const UNIT: &str = r#"[{"unit":{"name":"a.cl"}},
        {"base_type":{"unit":"a.cl","name":"long","encoding":"signed","bits":64}}]"#;
    const ENDED: eitri_result = eitri_result::EITRI_OK;
    let (mut description, mut module, mut object) = (null_mut(), null_mut(), null_mut());
    // SAFETY: each pointer is to a local variable, a text or a handle that lives.
    unsafe {
        let error = null_mut();
        assert_eq!(eitri_description_new(c"x86_64".as_ptr(), &raw mut description, error), ENDED);
        assert_eq!(eitri_description_add(description, UNIT.as_ptr().cast(), UNIT.len(), error), ENDED);
        let mut register = 0;
        let name = c"rbp".as_ptr();
        assert_eq!(eitri_description_register(description, name, &raw mut register, error), ENDED);
        let mut text = String::new();
        for function in 0..FUNCTIONS {
            text.clear();
            write_start(&mut text, function).expect("memory");
            if by == By::Json {
                write_variables(&mut text, shape, function).expect("memory");
            }
            text.push(']');
            assert_eq!(eitri_description_add(description, text.as_ptr().cast(), text.len(), error), ENDED);
            if by == By::Structures {
                pass_variables(description, shape, function, register);
            }
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
        "c" => with_c(shape, By::Structures),
        "json" => with_c(shape, By::Json),
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
        let sides = ["rust", "c", "json"];
        let expected = run_once("rust", shape);
        for side in sides {
            assert!(run_once(side, shape) == expected, "{}, {side}: the objects differ", shape.name());
        }
        let mut times = [Vec::new(), Vec::new(), Vec::new()];
        for _ in 0..ROUNDS {
            for (side, times) in sides.into_iter().zip(&mut times) {
                let start = Instant::now();
                drop(black_box(run_once(side, shape)));
                times.push(start.elapsed().as_secs_f64());
            }
        }
        let [rust, c, json] = times.map(|mut times| {
            times.sort_by(f64::total_cmp);
            times[ROUNDS / 2]
        });
        let name = shape.name();
        let [in_rust, in_c, in_json] = [rust, c, json].map(|seconds| 1000.0 * seconds);
        println!("{name}: Rust {in_rust:.1} ms, C {in_c:.1} ms, C with JSON {in_json:.1} ms");
        println!("ratio statements_{name} {:.2}", rust / c);
        println!("ratio statements_{name}_json {:.2}", rust / json);
    }
}
