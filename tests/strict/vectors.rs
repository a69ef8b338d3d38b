//! A vector register of an AMD GPU has a dword for each lane of the wave ("RDNA 2" Instruction Set Architecture,
//! section 2.2), and DWARF numbers the whole register. `DW_OP_regx v3` covers all of its lanes, so that a smaller
//! variable is in the first one ("Locations on the DWARF stack", A.2.5.4.4.3: the bits from the offset on). A
//! location in the current lane needs an explicit lane.

use eitri::Result;
use eitri::build::{Builder, Extent};
use eitri::emit::elf::{ObjectCode, new_object};
use eitri::eval::{Context, Evaluator, Snapshot, read_bits};
use eitri::lower::{Consumer, Lowered, Policy, lower};
use eitri::model::{BaseEncoding, Loc, Module, RegionKind, TypeId, Val};
use eitri::op::{Encoding, Expr, Reg};
use eitri::read::{Dwarf, Object, ReadOptions};
use eitri::target::{SpaceId, Target};

use crate::strict::{Start, gpu, start};

fn v(n: u16) -> Reg {
    gpu().vgpr(n).expect("a register")
}

fn s(n: u16) -> Reg {
    gpu().sgpr(n).expect("a register")
}

/// Error of a call with a register, if any.
fn error(call: &dyn Fn(&mut Start) -> Result<()>) -> Option<String> {
    call(&mut start(gpu())).err().map(|error| error.to_string())
}

fn of_int(loc: Loc) -> impl Fn(&mut Start) -> Result<()> {
    move |a| a.m.variable(a.f, "x", a.int)?.live(8..16, loc.clone()).map(drop)
}

#[test]
fn a_variable_is_not_in_a_vector_register_as_such() {
    let error = error(&of_int(Loc::register(v(3)))).expect("a variable in the first lane of v3");
    assert!(error.starts_with("unit `a.cl`, function `f`, variable `x`, pc 0x8..0x10: "), "{error}");
    for word in ["lane(v3, 0)", "per_lane(v3)", "whole(v3)", "1024", "32"] {
        assert!(error.contains(word), "{word}: {error}");
    }
}

type Accident = (&'static str, Box<dyn Fn(&mut Start) -> Result<()>>);

/// Calls that select the first lane of v3 by accident.
fn accidents() -> Vec<Accident> {
    let all = || Loc::register(v(3));
    let mask = |a: &mut Start, mask: Loc| {
        a.m.lanes(a.f)?.region(RegionKind::Then, 8..16, 4, &[(8..16, mask)]).map(drop)
    };
    let row = |loc: Loc| Loc::select(Val::constant(5), loc, Loc::register(v(4)), 32, 32);
    vec![
        ("live", Box::new(of_int(all()))),
        (
            "live_in",
            Box::new(move |a| {
                a.m.variable(a.f, "x", a.int)?.live_in(8..16, &[Loc::register(s(4)), all()]).map(drop)
            }),
        ),
        ("always", Box::new(move |a| a.m.variable(a.f, "x", a.int)?.always(all()).map(drop))),
        (
            "the high half",
            Box::new(move |a| {
                let short = a.m.base_type(a.unit, "half", BaseEncoding::Float, 16)?;
                a.m.variable(a.f, "x", short)?.live(8..16, all().offset(2)).map(drop)
            }),
        ),
        ("a lane by its offset", Box::new(of_int(all().offset(4)))),
        ("there and back", Box::new(of_int(all().offset(64).bit_offset(-512)))),
        (
            "a part",
            Box::new(move |a| {
                let long = a.m.base_type(a.unit, "long", BaseEncoding::Signed, 64)?;
                a.m.variable(a.f, "x", long)?.live(8..16, Loc::over([v(3), v(4)])).map(drop)
            }),
        ),
        ("an element", Box::new(of_int(all().extend(32, 2)))),
        (
            "what is laid over",
            Box::new(of_int(Loc::register(s(4)).overlay(all(), Val::constant(8), Val::constant(8)))),
        ),
        (
            "what is below",
            Box::new(of_int(all().overlay(Loc::register(s(4)), Val::constant(8), Val::constant(8)))),
        ),
        ("a choice of lanes", Box::new(of_int(row(all())))),
        ("a number that is read", Box::new(of_int(Loc::value(all().read(32))))),
        ("a base of memory", Box::new(of_int(Loc::memory(SpaceId::DEFAULT, Val::register(v(3)))))),
        ("a pair", Box::new(of_int(Loc::memory(SpaceId::DEFAULT, Val::pair(v(3), v(4)))))),
        ("what it had on entry", Box::new(of_int(Loc::value(Val::entry_value(v(3)))))),
        ("a mask", Box::new(move |a| mask(a, all()))),
        ("a mask of whole-wave code", Box::new(move |a| a.m.lanes(a.f)?.whole_wave(8..16, &all()).map(drop))),
        ("a frame base", Box::new(move |a| a.m.describe_function(a.f)?.frame_base(&all()).map(drop))),
        ("a static link", Box::new(move |a| a.m.describe_function(a.f)?.static_link(&all()).map(drop))),
        ("a saved register", Box::new(move |a| a.m.frame(a.f)?.saved(8..16, s(4), all()).map(drop))),
        (
            "a procedure",
            Box::new(move |a| {
                let inner = a.m.procedure(a.unit, &all())?;
                let outer = a.m.procedure(a.unit, &Loc::call(inner))?;
                a.m.variable(a.f, "x", a.int)?.live(8..16, Loc::call(outer)).map(drop)
            }),
        ),
        (
            "an argument",
            Box::new(move |a| {
                let parameter = a.m.parameter(a.f, "p", a.int)?.id();
                a.m.call(a.f)?.returns_to(8)?.calls(a.f)?.argument(&all())?.parameter(parameter).map(drop)
            }),
        ),
    ]
}

/// Every call with a whole vector register is refused.
#[test]
fn neither_is_anything_else() {
    for (name, call) in accidents() {
        let Some(error) = error(&*call) else { panic!("{name} is taken") };
        for word in ["lane(v", "per_lane(v", "whole(v"] {
            assert!(error.contains(word), "{name}: {error}");
        }
    }
}

/// All lanes are accepted if the variable has as many bits, or if a lane is selected.
#[test]
fn whole_registers_are_accepted_for_wide_variables() -> Result<()> {
    let Start { mut m, unit, int, f } = start(gpu());
    let wide = m.vector(unit, int, 32)?;
    let all = || Loc::register(v(3));
    let row = Loc::select(Val::constant(5), all(), Loc::register(v(4)), 32, 32);
    m.variable(f, "wide", wide)?
        .live(0..4, Loc::whole(v(3)))?
        .live(4..8, row.clone())?
        .live(8..12, all().offset(0))?;
    let index = || Val::lane_index().mul(Val::constant(4));
    m.variable(f, "x", int)?.live(0..4, all().offset_by(index()))?.live(4..8, row.offset_by(index()))?;
    let procedure = m.procedure(unit, &all())?;
    m.variable(f, "called", wide)?.live(0..4, Loc::call(procedure))?;
    m.frame(f)?.entry_function()?.same_value(0..8, v(40))?.saved(8..12, v(40), Loc::register(v(41)))?;
    m.finish()?;
    // A register without lanes.
    let mut m = Builder::new(Target::x86_64());
    let unit = m.unit("a.c");
    let short = m.base_type(unit, "short", BaseEncoding::Signed, 16)?;
    let f = m.function(unit, "f")?.code("f", 8).id();
    let xmm0 = m.target().register_named("xmm0")?;
    m.variable(f, "x", short)?.live(0..3, Loc::register(xmm0))?.live(3..5, Loc::register(xmm0).offset(2))?;
    m.finish().map(drop)
}

/// A variable `x` of a type, in three scalar registers or where an expression says.
fn in_three(ty: impl Fn(&mut Start) -> Result<TypeId>, raw: Option<&[u8]>) -> Result<Module> {
    let mut a = start(gpu());
    let ty = ty(&mut a)?;
    let loc = match raw {
        Some(bytes) => Loc::expr(a.m.expr(Expr::raw(bytes), &[])?),
        None => Loc::over([s(4), s(5), s(6)]),
    };
    a.m.variable(a.f, "x", ty)?.live(8..16, loc)?;
    a.m.finish()
}

fn object(module: &Module) -> Result<(Vec<u8>, Lowered)> {
    let lowered = lower(module, &Consumer::rocgdb(), Policy::Strict)?;
    let code = ObjectCode::text(vec![0; 64]).with_function("f", 0, 64);
    Ok((new_object(module.target(), &code, &lowered.sections)?, lowered))
}

/// Masks of the bytes that a debugger reads of `x` with the size of its type.
fn defined(object: &[u8]) -> Result<Vec<u8>> {
    let object = Object::read(object)?;
    let dialect = Consumer::rocgdb().expressions.dialect;
    let dwarf = Dwarf::read_with(&object, &ReadOptions::new().dialect(dialect))?;
    let x = dwarf.entries().find(|entry| entry.name().as_deref() == Some("x")).expect("the variable");
    let bits = x.ty().and_then(|ty| ty.size_bits()).expect("a size");
    let list = x.locations(eitri::gimli::DW_AT_location)?.expect("a list");
    let target = gpu();
    let mut machine = Snapshot::default();
    machine.registers.extend((4..7).map(|n| (s(n), vec![n as u8; 4])));
    let context = Context::new(Encoding::new(8, dialect), &target);
    let place = Evaluator::new().location(list[0].expr, &machine, &context).expect("a location");
    Ok(read_bits(&place, bits, &machine).expect("all bits of the type").defined)
}

/// DWARF has one size of a type, and OpenCL's `float3` has 16 bytes: a location of the three elements has an undefined
/// piece for the padding (DWARF 5 section 2.6.1.2: an empty piece), and so has a structure with padding.
#[test]
fn location_of_a_padded_type_has_all_of_its_bytes() -> Result<()> {
    let float3 = |a: &mut Start| a.m.vector(a.unit, a.int, 3);
    let padded = in_three(float3, None)?;
    let (bytes, lowered) = object(&padded)?;
    assert_eq!(defined(&bytes)?, [[0xff; 12].as_slice(), &[0; 4]].concat());
    let check = |bytes: &[u8]| eitri::check(&padded, &Consumer::rocgdb(), &lowered.omissions, bytes);
    assert!(check(&bytes)?.is_clean());
    // regx s4; piece 4; regx s5; piece 4; regx s6; piece 4; piece_end: debuggers show the elements, and the check finds
    // that the description has more.
    let short: Vec<u8> = (36..39).flat_map(|reg| [0x90, reg, 0x93, 4]).collect();
    let (short, _) = object(&in_three(float3, Some(&short))?)?;
    assert_eq!(defined(&short)?, [[0xff; 12].as_slice(), &[0; 4]].concat());
    assert!(!check(&short)?.is_clean());
    Ok(())
}

/// WGSL ("Alignment and Size"): `vec3<i32>` has 12 bytes, and an element of `array<vec3<i32>, 4>` has 16.
#[test]
fn packed_vector_has_the_size_of_its_elements() -> Result<()> {
    let (bytes, _) = object(&in_three(|a| a.m.packed_vector(a.unit, a.int, 3), None)?)?;
    assert_eq!(defined(&bytes)?, [0xff; 12]);
    let Start { mut m, unit, int, f } = start(gpu());
    let vector = m.packed_vector(unit, int, 3)?;
    m.describe_type(vector)?.alignment(16)?;
    let all = m.array_of(unit, vector, &[Extent::fixed(4)], Some(128))?;
    m.variable(f, "all", all)?.always(Loc::local(0))?;
    let (bytes, _) = object(&m.finish()?)?;
    let object = Object::read(&bytes)?;
    let dwarf = Dwarf::read(&object)?;
    let all = dwarf.entries().find(|entry| entry.name().as_deref() == Some("all")).and_then(|all| all.ty());
    assert_eq!(all.and_then(|all| all.size_bits()), Some(512));
    Ok(())
}
