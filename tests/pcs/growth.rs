//! Property under test: work at a pc grows at most linearly with the size of the description.

use eitri::build::Builder;
use eitri::emit::elf::{ObjectCode, new_object};
use eitri::lower::{Consumer, Policy, lower};
use eitri::model::{BaseEncoding, LineTableRow, Loc, Module, SourceLine};
use eitri::read::{Dwarf, Object};
use eitri::target::Target;
use eitri_dwarf::work::steps;

fn gpu() -> Target {
    Target::named("amdgpu-gfx1030-wave32").unwrap()
}

fn scalar(number: u64) -> Loc {
    Loc::register(gpu().sgpr((number % 60) as u16).unwrap())
}

/// Reading with eight times the size must take about eight times the steps; quadratic work takes 64 times.
fn grows_as_the_number(few: u64, run: impl Fn(u64) -> u64) {
    let (few, many) = (run(few), run(8 * few));
    assert!(few > 0 && many < 16 * few, "{few} steps, and {many} for eight times as many");
}

/// Reads a description's object, and returns the steps that `then` takes.
fn steps_in(module: &Module, code: &ObjectCode, then: impl FnOnce(&Dwarf<'_>)) -> u64 {
    let written = lower(module, &Consumer::dwarf5(), Policy::Partial).unwrap();
    let object = new_object(module.target(), code, &written.sections).unwrap();
    let object = Object::read(&object).unwrap();
    let dwarf = Dwarf::read(&object).unwrap();
    steps(|| then(&dwarf))
}

#[test]
fn variables_at_a_pc_of_nested_blocks_and_calls() {
    grows_as_the_number(60, |count| {
        let bytes = 16 * count;
        let mut m = Builder::new(gpu());
        let unit = m.unit("a.cl");
        let file = m.primary_file(unit).unwrap();
        let line = SourceLine::new(file, 1);
        let int = m.base_type(unit, "int", BaseEncoding::Signed, 32).unwrap();
        let inner = m.function(unit, "inner").unwrap().id();
        let parameter = m.parameter(inner, "n", int).unwrap().id();
        let f = m.function(unit, "f").unwrap().code("f", bytes).id();
        let pcs = [0..4, 8..bytes];
        let mut scope = m.block(f, &pcs).unwrap();
        for number in 0..count {
            let mut variable;
            if number % 2 == 0 {
                scope = m.block(scope, &pcs).unwrap();
                variable = m.variable(scope, "x", int).unwrap();
            } else {
                scope = m.inlined(scope, inner, &pcs, line).unwrap();
                variable = m.inlined_variable(scope, parameter).unwrap();
            }
            variable.live(0..4, scalar(number)).unwrap().live(8..12, scalar(1)).unwrap();
        }
        let code = ObjectCode::text(vec![0; bytes as usize]).with_function("f", 0, bytes);
        steps_in(&m.finish().unwrap(), &code, |dwarf| {
            let found = dwarf.variables_at(dwarf.address_in("f", 0).unwrap());
            assert_eq!(found.scopes.len() as u64, count + 2);
            assert_eq!(found.variables.len() as u64, count);
        })
    });
}

#[test]
fn scopes_and_lines_at_each_of_many_functions() {
    grows_as_the_number(60, |count| {
        let mut m = Builder::new(gpu());
        let mut code = ObjectCode::text(vec![0; 16 * count as usize]);
        for number in 0..count {
            let unit = m.unit(&format!("{number}.cl"));
            let file = m.primary_file(unit).unwrap();
            let name = format!("f{number}");
            let f = m.function(unit, &name).unwrap().code(&name, 16).id();
            m.row(f, LineTableRow::new(0, file, 1)).unwrap();
            code = code.with_function(&name, 16 * number, 16);
        }
        steps_in(&m.finish().unwrap(), &code, |dwarf| {
            for pc in dwarf.entries().filter_map(|entry| entry.low_pc()) {
                assert_eq!(dwarf.scopes_at(pc).len(), 1);
                assert!(dwarf.line_at(pc).unwrap().is_some());
            }
        })
    });
}
