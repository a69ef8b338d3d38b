//! The promise: the time of `check` is proportional to the size of its input. Times depend on the machine, so that this
//! test runs by name only: `cargo test --release --test dwarf scale -- --ignored --nocapture`.

use std::time::{Duration, Instant};

use eitri::build::Builder;
use eitri::emit::elf::{ObjectCode, new_object};
use eitri::lower::{Consumer, Policy, lower};
use eitri::model::{BaseEncoding, LineTableRow, Loc, Module};
use eitri::target::Target;

/// A module of `functions` functions, each with 20 variables of 8 ranges, a block, an inlined call and 40 rows.
fn module(functions: u64) -> (Module, ObjectCode) {
    let mut m = Builder::new(Target::named("amdgpu-gfx1030-wave32").unwrap());
    let unit = m.unit("a.cl");
    let file = m.primary_file(unit).unwrap();
    let int = m.base_type(unit, "int", BaseEncoding::Signed, 32).unwrap();
    let structure = m.structure(unit, Some("s"), 4).unwrap();
    m.member(structure, "x", int, 0).unwrap();
    let registers: Vec<_> = (0..100).map(|n| m.target().vgpr(n).unwrap()).collect();
    let scalars: Vec<_> = (0..60).map(|n| m.target().sgpr(n).unwrap()).collect();
    let mut code = ObjectCode::text(vec![0; functions as usize * 0x100]);
    for number in 0..functions {
        let name = format!("f{number}");
        code = code.with_function(&name, number * 0x100, 0x100);
        let f = m.function(unit, &name).unwrap().code(&name, 0x100).kernel().id();
        let block = m.block(f, &[0..0x80, 0x90..0xa0]).unwrap();
        for v in 0..20u64 {
            let ty = if v % 2 == 0 { int } else { structure };
            let mut x = match v % 3 {
                0 => m.variable(block, &format!("x{v}"), ty),
                _ => m.variable(f, &format!("x{v}"), ty),
            }
            .unwrap();
            for range in 0..8u64 {
                let pcs = range * 0x20..range * 0x20 + 0x18;
                let loc = match (v + range) % 4 {
                    0 => Loc::register(scalars[(v + range) as usize]),
                    1 => Loc::per_lane(registers[(v * range % 100) as usize]),
                    2 => Loc::lane(registers[7], (v + range) as u32),
                    _ => Loc::stack_slot(4 * (v + range) as i64),
                };
                x.live(pcs, loc).unwrap();
            }
        }
        for row in 0..40u64 {
            m.row(f, LineTableRow::new(4 * row, file, row as u32 + 1)).unwrap();
        }
    }
    (m.finish().unwrap(), code)
}

fn time(functions: u64) -> Duration {
    let (module, code) = module(functions);
    let consumer = Consumer::llvm();
    let written = lower(&module, &consumer, Policy::Strict).unwrap();
    let object = new_object(module.target(), &code, &written.sections).unwrap();
    let start = Instant::now();
    let report = eitri::check(&module, &consumer, &written.omissions, &object).unwrap();
    let time = start.elapsed();
    assert!(report.is_clean(), "{report}");
    println!("{functions} functions: {time:?}; {report}");
    time
}

#[test]
#[ignore = "takes seconds, and measures time"]
fn check_takes_time_in_proportion() {
    let few = time(125);
    let many = time(1000);
    assert!(many < 16 * few, "{few:?} for 125 functions, {many:?} for 1000");
}
