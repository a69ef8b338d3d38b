//! The promise: nesting depth takes heap memory, not stack. Descriptions with 10,000 levels are built, written, read,
//! checked, printed and dropped on a thread with a stack of 128 KiB.

use std::process::Command;

use eitri::build::Builder;
use eitri::dump::print;
use eitri::emit::elf::{ObjectCode, new_object};
use eitri::lower::{Consumer, Policy, lower};
use eitri::model::{
    Accessibility, BaseEncoding, FunctionId, Loc, Module, Qualifier, ScopeId, SourceLine, TypeId, UnitId, Val,
};
use eitri::read::{Dwarf, Object};
use eitri::target::{SpaceId, Target};

const LEVELS: u64 = 10_000;

/// Number of levels where the output grows with the square of the depth: public names include all enclosing names, and
/// a signature covers the complete type. DWARF 4 section 6.1.1 and DWARF 5 section 7.32.
const WHOLE: u64 = 1000;

const STACK: usize = 128 << 10;

/// Runs on a thread with a small stack, in a separate process: a stack overflow ends the process.
fn on_a_small_stack(run: impl FnOnce() + Send + 'static) {
    const INSIDE: &str = "EITRI_DEPTH_INSIDE";
    if std::env::var_os(INSIDE).is_some() {
        let thread = std::thread::Builder::new().name("small".into()).stack_size(STACK).spawn(run).unwrap();
        return thread.join().unwrap();
    }
    let name = std::thread::current().name().unwrap().to_owned();
    let inside = Command::new(std::env::current_exe().unwrap())
        .args(["--exact", &name, "--nocapture"])
        .env(INSIDE, "1")
        .output()
        .unwrap();
    assert!(inside.status.success(), "{}", String::from_utf8_lossy(&inside.stderr));
    let ran = String::from_utf8_lossy(&inside.stdout).into_owned();
    assert!(ran.contains("1 passed"), "{ran}");
}

/// Consumers with all tables, and with type units.
fn consumers() -> [Consumer; 3] {
    let mut tables = Consumer::llvm();
    tables.tables.names = true;
    tables.tables.aranges = true;
    let mut older = Consumer::named("dwarf4").unwrap();
    older.has_type_units = true;
    older.tables.pubs = true;
    let mut units = Consumer::dwarf5();
    units.has_type_units = true;
    [tables, units, older]
}

/// Runs every stage on a description of [`LEVELS`] levels, with `entries` entries each.
fn every_stage(
    entries: u64,
    describe: impl Fn(&mut Builder, UnitId, TypeId, u64) -> ObjectCode + Send + 'static,
) {
    on_a_small_stack(move || {
        let [tables, units, older] = consumers();
        stages(&[tables, units], LEVELS, entries, &describe);
        stages(&[older], WHOLE, entries, &describe);
    });
}

/// Runs every stage on types that contain each other.
fn every_stage_of_whole_types(
    entries: u64,
    describe: impl Fn(&mut Builder, UnitId, TypeId, u64) -> ObjectCode + Send + 'static,
) {
    on_a_small_stack(move || {
        let [tables, units, older] = consumers();
        stages(&[tables], LEVELS, entries, &describe);
        stages(&[units, older], WHOLE, entries, &describe);
    });
}

fn stages(
    consumers: &[Consumer],
    levels: u64,
    entries: u64,
    describe: impl Fn(&mut Builder, UnitId, TypeId, u64) -> ObjectCode,
) {
    let mut m = Builder::new(Target::named("amdgpu-gfx1030-wave32").unwrap());
    let unit = m.unit("a.cl");
    let int = m.base_type(unit, "int", BaseEncoding::Signed, 32).unwrap();
    let code = describe(&mut m, unit, int, levels);
    let module = m.finish().unwrap();
    let text = module.to_json();
    assert_eq!(Module::from_json(&text).unwrap().to_json(), text);
    for consumer in consumers {
        let written = lower(&module, consumer, Policy::Partial).unwrap();
        let bytes = new_object(module.target(), &code, &written.sections).unwrap();
        let object = Object::read(&bytes).unwrap();
        let dwarf = Dwarf::read(&object).unwrap();
        assert!(dwarf.entries().len() as u64 >= entries * levels);
        drop(dwarf);
        let report = eitri::check(&module, consumer, &written.omissions, &bytes).unwrap();
        assert!(report.is_clean(), "{report}");
        assert!(print(&bytes, None).unwrap().lines().count() as u64 > entries * levels);
    }
}

fn no_code() -> ObjectCode {
    ObjectCode::text(vec![0; 4])
}

/// Nested functions with code.
fn functions(m: &mut Builder, unit: UnitId, int: TypeId, levels: u64) -> ObjectCode {
    let mut code = ObjectCode::text(vec![0; 4 * levels as usize]);
    let mut around: Option<ScopeId> = None;
    for level in 0..levels {
        let name = format!("f{level}");
        code = code.with_function(&name, 4 * level, 4);
        let f = match around {
            None => m.function(unit, &name),
            Some(around) => m.function(around, &name),
        };
        let f = f.unwrap().code(&name, 4).id();
        let place = Loc::register(m.target().sgpr(3).unwrap());
        m.variable(f, "x", int).unwrap().live(0..4, place).unwrap();
        around = Some(m.block(f, &[0..4]).unwrap());
    }
    code
}

#[test]
fn functions_in_functions() {
    every_stage(3, functions);
}

/// Nested functions that are inlined and have no code.
fn abstract_functions(m: &mut Builder, unit: UnitId, int: TypeId, levels: u64) -> ObjectCode {
    let line = SourceLine::new(m.primary_file(unit).unwrap(), 1);
    let caller = m.function(unit, "caller").unwrap().code("caller", 4).id();
    let mut around: Option<ScopeId> = None;
    for level in 0..levels {
        let name = format!("f{level}");
        let f = match around {
            None => m.function(unit, &name),
            Some(around) => m.function(around, &name),
        };
        let f = f.unwrap().id();
        m.variable(f, "x", int).unwrap();
        m.inlined(caller, f, &[0..4], line).unwrap();
        around = Some(m.block(f, &[]).unwrap());
    }
    ObjectCode::text(vec![0; 4]).with_function("caller", 0, 4)
}

#[test]
fn functions_that_were_inlined_in_functions() {
    every_stage(3, abstract_functions);
}

/// Nested structures.
fn structures(m: &mut Builder, unit: UnitId, int: TypeId, levels: u64) -> ObjectCode {
    let mut around: Option<TypeId> = None;
    for level in 0..levels {
        let ty = m.structure(unit, Some(&format!("s{level}")), 4).unwrap();
        m.member(ty, "x", int, 0).unwrap();
        if let Some(around) = around {
            m.describe_type(ty).unwrap().within(around).unwrap();
        }
        around = Some(ty);
    }
    no_code()
}

#[test]
fn types_declared_in_types() {
    every_stage(2, structures);
}

/// Classes in functions in classes.
fn local_classes(m: &mut Builder, unit: UnitId, int: TypeId, levels: u64) -> ObjectCode {
    let mut around: Option<FunctionId> = None;
    for level in 0..levels / 2 {
        let ty = m.class(unit, Some(&format!("c{level}")), 4).unwrap();
        m.member(ty, "x", int, 0).unwrap();
        if let Some(around) = around {
            m.describe_type(ty).unwrap().within(around).unwrap();
        }
        around = Some(m.function(ty, "f").unwrap().id());
    }
    no_code()
}

#[test]
fn types_in_functions_in_types() {
    every_stage(1, local_classes);
}

/// A chain of types, each made from the previous one.
fn chain(
    m: &mut Builder,
    unit: UnitId,
    levels: u64,
    first: TypeId,
    next: impl Fn(&mut Builder, u64, TypeId) -> eitri::Result<TypeId>,
) -> ObjectCode {
    let last = (0..levels).fold(first, |ty, level| next(m, level, ty).unwrap());
    let place = Loc::memory(SpaceId::DEFAULT, Val::constant(0x1000));
    m.variable(unit, "x", last).unwrap().always(place).unwrap();
    no_code()
}

#[test]
fn pointers_to_pointers() {
    every_stage(1, |m, unit, int, levels| chain(m, unit, levels, int, |m, _, ty| m.pointer(unit, Some(ty))));
}

#[test]
fn names_of_names() {
    every_stage(1, |m, unit, int, levels| {
        chain(m, unit, levels, int, |m, level, ty| m.typedef(unit, &format!("t{level}"), Some(ty)))
    });
}

#[test]
fn qualified_types_of_qualified_types() {
    every_stage(1, |m, unit, int, levels| {
        chain(m, unit, levels, int, |m, level, ty| {
            let qualifier = if level % 2 == 0 { Qualifier::Const } else { Qualifier::Volatile };
            m.qualified(unit, qualifier, Some(ty))
        })
    });
}

#[test]
fn arrays_of_arrays() {
    every_stage(1, |m, unit, int, levels| {
        chain(m, unit, levels, int, |m, _, ty| m.array(unit, ty, &[Some(1)]))
    });
}

#[test]
fn members_of_members() {
    every_stage_of_whole_types(1, |m, unit, int, levels| {
        chain(m, unit, levels, int, |m, level, ty| {
            let outer = m.structure(unit, Some(&format!("s{level}")), 4)?;
            m.member(outer, "x", ty, 0)?;
            Ok(outer)
        })
    });
}

#[test]
fn bases_of_bases() {
    every_stage_of_whole_types(1, |m, unit, _, levels| {
        let first = m.class(unit, Some("first"), 4).unwrap();
        chain(m, unit, levels, first, |m, level, ty| {
            let outer = m.class(unit, Some(&format!("c{level}")), 4)?;
            m.base(outer, ty, 0, Some(Accessibility::Public))?;
            Ok(outer)
        })
    });
}

#[test]
fn functions_that_return_functions() {
    every_stage(1, |m, unit, int, levels| {
        chain(m, unit, levels, int, |m, _, ty| {
            let function = m.subroutine(unit, Some(ty), &[ty])?;
            m.pointer(unit, Some(function))
        })
    });
}

#[test]
fn namespaces_in_namespaces() {
    every_stage(1, |m, unit, int, levels| {
        let outer = m.namespace(unit, "n").unwrap();
        let inner = (1..levels).fold(outer, |around, _| m.namespace(around, "n").unwrap());
        let ty = m.structure(unit, Some("s"), 4).unwrap();
        m.member(ty, "x", int, 0).unwrap();
        m.describe_type(ty).unwrap().within(inner).unwrap();
        no_code()
    });
}

#[test]
fn inlined_calls_in_inlined_calls() {
    every_stage(1, |m, unit, _, levels| {
        let line = SourceLine::new(m.primary_file(unit).unwrap(), 1);
        let caller = m.function(unit, "caller").unwrap().code("caller", 4).id();
        let callee = m.function(unit, "callee").unwrap().id();
        let call = m.inlined(caller, callee, &[0..4], line).unwrap();
        (1..levels).fold(call, |around, _| m.inlined(around, callee, &[0..4], line).unwrap());
        ObjectCode::text(vec![0; 4]).with_function("caller", 0, 4)
    });
}

/// The JSON parser has no depth limit of its own: nested values in a description are locations, which have a limit.
#[test]
fn json_in_json() {
    const DEPTH: usize = 100_000;
    let around = |open: &str, inner: &str, close: &str| open.repeat(DEPTH) + inner + &close.repeat(DEPTH);
    let place = around(r#"{"plus": ["#, "0", ", 0]}");
    let value = |place: &str| {
        format!(
            r#"{{"eitri": 1, "target": "amdgpu-gfx1030-wave32", "describe": [{{"unit": {{"name": "a.cl"}}}},
            {{"procedure": {{"unit": "a.cl", "id": "p", "loc": {{"memory": ["global", {place}]}}}}}}]}}"#
        )
    };
    for text in [
        around("[", "", "]"),
        around(r#"{"eitri": 1, "describe": "#, "0", "}"),
        format!(r#"{{"eitri": 1, "target": "x86_64", "describe": [{}]}}"#, around("[", "", "]")),
        value(&place),
        value(&around("[", "", "]")),
    ] {
        let error = Module::from_json(&text).expect_err("it is no description");
        assert!(error.at().json.is_some(), "{error}");
    }
    // At a small depth, it is a valid description.
    Module::from_json(value(r#"{"plus": [{"register": "s4"}, 8]}"#)).expect("a description");
}
