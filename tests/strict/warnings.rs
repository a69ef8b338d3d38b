//! A plausible description that can be right causes a warning on standard error, with a name that allows it.

use std::process::Command;

use eitri::Result;
use eitri::model::{BaseEncoding, Loc, Module, Qualifier, SourceLine, TypeId, Val, Warned, WarningKind};
use eitri::op::Reg;

use crate::strict::{Start, gpu, start};

/// Two types in one register at once, a scalar saved in a variable's lane, and no frame.
const SHARED: &str = r#"{"eitri": 1, "target": "amdgpu-gfx1030-wave32", "describe": [
{"unit": {"name": "a.cl"}},
{"base_type": {"unit": "a.cl", "name": "int", "encoding": "signed", "bits": 32}},
{"base_type": {"unit": "a.cl", "name": "float", "encoding": "float", "bits": 32}},
{"function": {"in": "a.cl", "name": "f", "code": {"symbol": "f", "bytes": 64}}},
{"function": {"in": "a.cl", "name": "g", "code": {"symbol": "g", "bytes": 64}}},
{"frame": {"function": "f", "entry_function": true, "rules": [[8, 60, "s33", {"lane": ["v40", 7]}]]}},
{"variable": {"in": "f", "name": "n", "type": "int", "live": [[0, 16, {"per_lane": "v3"}], [16, 32, {"lane": ["v40", 7]}]]}},
{"variable": {"in": "f", "name": "x", "type": "float", "live": [[12, 24, {"per_lane": "v3"}]]}}
]}"#;

/// Standard error of the command with further arguments.
fn printed(name: &str, arguments: &[&str]) -> Vec<String> {
    let folder = std::env::temp_dir().join(format!("eitri-warnings-{name}-{}", std::process::id()));
    std::fs::create_dir_all(&folder).expect("a folder");
    let description = folder.join("a.json");
    let object = folder.join("a.o");
    std::fs::write(&description, SHARED).expect("a description");
    let command = Command::new(env!("CARGO_BIN_EXE_eitri"))
        .args(["emit".as_ref(), description.as_os_str(), "-o".as_ref(), object.as_os_str()])
        .args(arguments)
        .output()
        .expect("the command");
    std::fs::remove_dir_all(&folder).expect("the folder");
    assert!(command.status.success() || !arguments.is_empty());
    String::from_utf8(command.stderr).expect("text").lines().map(String::from).collect()
}

#[test]
fn variables_in_the_same_bits_are_printed() {
    let lines = printed("same", &[]);
    assert!(!lines.is_empty(), "no warning");
    for (line, words) in lines.iter().zip([
        ["shared-bits", "`f`", "`n`", "pc 0xc..0x10", "`x`", "v3"],
        ["shared-bits", "`f`", "`n`", "pc 0x10..0x20", "s33", "v40"],
        ["no-frame", "`g`", "", "", "", ""],
    ]) {
        assert!(words.iter().all(|word| line.contains(word)), "{words:?}: {lines:#?}");
    }
    assert_eq!(lines.len(), 3, "{lines:#?}");
}

/// Adjacent ranges with equal locations are merged: for several locations in any order of calls, and descriptions in
/// any order.
#[test]
fn equal_neighbours_are_one_range() {
    fn ranges(describe: fn(&mut Start) -> Result<()>) -> Result<Vec<std::ops::Range<u64>>> {
        let mut a = start(gpu());
        describe(&mut a)?;
        let module: Module = a.m.finish()?;
        let (id, _) = module.variables().next().expect("one");
        Ok(module.live(id).iter().map(eitri::model::Live::pcs).collect())
    }
    let of = |describe| ranges(describe).expect("a description");
    assert_eq!(
        of(|a| {
            let s4 = Loc::register(gpu().sgpr(4)?);
            a.m.variable(a.f, "x", a.int)?.live(0..4, s4.clone())?.live(4..8, s4).map(drop)
        }),
        [0..8],
        "joined"
    );
    assert_eq!(
        of(|a| {
            let s4 = Loc::register(gpu().sgpr(4)?);
            let s5 = Loc::register(gpu().sgpr(5)?);
            let mut x = a.m.variable(a.f, "x", a.int)?;
            x.live(12..16, s4.clone())?.live_in(4..8, &[s4.clone(), s5.clone()])?;
            x.live_in(0..4, &[s4.clone(), s5.clone()])?.live(16..20, s4.clone())?.live(8..12, s5)?;
            x.live(24..28, s4).map(drop)
        }),
        [0..8, 0..8, 8..12, 12..20, 24..28],
    );
}

fn v(n: u16) -> Reg {
    gpu().vgpr(n).expect("a register")
}

fn s(n: u16) -> Reg {
    gpu().sgpr(n).expect("a register")
}

/// Number of pairs of variables in a description that share bits.
fn shared(describe: &dyn Fn(&mut Start) -> Result<()>) -> usize {
    let mut a = start(gpu());
    a.m.describe_function(a.f).expect("a function").kernel();
    describe(&mut a).expect("a description");
    let module = a.m.finish().expect("a module");
    let is_shared = |warning: &&eitri::model::Warning| warning.kind() == WarningKind::SharedBits;
    module.warnings().iter().filter(is_shared).count()
}

/// Number of such pairs for two variables, of `int` and another type, in two locations, with overlapping pcs.
fn two(of: fn(&mut Start) -> Result<TypeId>, one: Loc, other: Loc) -> usize {
    shared(&|a| {
        let ty = of(a)?;
        a.m.variable(a.f, "x", a.int)?.live(0..16, one.clone())?;
        a.m.variable(a.f, "y", ty)?.live(12..24, other.clone()).map(drop)
    })
}

fn float(a: &mut Start) -> Result<TypeId> {
    a.m.base_type(a.unit, "float", BaseEncoding::Float, 32)
}

type MakeType = fn(&mut Start) -> Result<TypeId>;
type MakeRule = fn(&mut eitri::build::FrameBuilder<'_>) -> Result<()>;

/// Rule of shared bits, row by row: types, locations, pcs, scopes.
#[test]
fn the_rule_is_as_it_is_written() {
    let s4 = || Loc::register(s(4));
    let types: &[(MakeType, usize)] = &[
        (float, 1),
        (|a| Ok(a.int), 0),
        (|a| a.m.qualified(a.unit, Qualifier::Const, Some(a.int)), 0),
        (|a| a.m.typedef(a.unit, "number", Some(a.int)), 0),
        // A conversion can keep the bits, but is not described.
        (|a| a.m.base_type(a.unit, "uint", BaseEncoding::Unsigned, 32), 1),
        (|a| a.m.base_type(a.unit, "short", BaseEncoding::Signed, 16), 1),
        (|a| a.m.base_type(a.unit, "int", BaseEncoding::Signed, 32), 0),
        (|a| a.m.base_type(a.unit, "half", BaseEncoding::Float, 16), 1),
        (
            |a| {
                let s = a.m.structure(a.unit, Some("s"), 4)?;
                a.m.member(s, "i", a.int, 0)?;
                Ok(s)
            },
            0,
        ),
        (
            |a| {
                let f = float(a)?;
                let s = a.m.structure(a.unit, Some("s"), 4)?;
                a.m.member(s, "f", f, 0)?;
                Ok(s)
            },
            1,
        ),
        (
            |a| {
                let f = float(a)?;
                let u = a.m.union(a.unit, Some("u"), 4)?;
                a.m.member(u, "f", f, 0)?;
                Ok(u)
            },
            0,
        ),
        (
            |a| {
                let byte = a.m.base_type(a.unit, "b", BaseEncoding::Unsigned, 8)?;
                a.m.vector(a.unit, byte, 4)
            },
            1,
        ),
        (|a| a.m.vector(a.unit, a.int, 1), 0),
    ];
    for (index, &(of, expected)) in types.iter().enumerate() {
        assert_eq!(two(of, s4(), s4()), expected, "type {index}");
    }
    let slot = Loc::stack_slot;
    let places = [
        (s4(), Loc::register(s(5)), 0),
        (Loc::per_lane(v(3)), Loc::per_lane(v(3)), 1),
        (Loc::per_lane(v(3)), Loc::per_lane(v(4)), 0),
        (Loc::per_lane(v(3)), Loc::lane(v(3), 31), 1),
        (Loc::lane(v(3), 31), Loc::per_lane(v(3)), 1),
        (Loc::lane(v(3), 7), Loc::lane(v(3), 8), 0),
        (Loc::lane(v(3), 7), Loc::lane(v(3), 7), 1),
        (Loc::over([s(4)]), Loc::parts([(Loc::register(s(5)), 16), (s4(), 16)]), 1),
        (slot(16), slot(16), 1),
        (slot(16), slot(20), 0),
        (slot(16), slot(18), 1),
        (slot(-4), slot(-4), 1),
        (slot(4), Loc::local(4), 0),
        (Loc::cfa().offset(8), Loc::cfa().offset(8), 1),
        (Loc::cfa().offset(8), Loc::cfa().offset(-8), 0),
        // Locations without storage, or with storage that depends on the program.
        (Loc::value(Val::register(s(4))), s4(), 0),
        (Loc::memory(eitri::target::SpaceId::DEFAULT, Val::register(s(4))), s4(), 0),
        (Loc::undefined(), Loc::undefined(), 0),
        (Loc::whole(v(3)).offset_by(Val::lane_index().mul(Val::constant(4))), Loc::lane(v(3), 9), 1),
    ];
    for (one, other, expected) in places {
        assert_eq!(two(float, one.clone(), other.clone()), expected, "{one:?} {other:?}");
        assert_eq!(two(float, other.clone(), one.clone()), expected, "{other:?} {one:?}");
    }
    // Registers of a 64-bit value: the low half, and the high half.
    let pair = Loc::over([s(4), s(5)]);
    let wide: [MakeType; 2] =
        [|a| a.m.base_type(a.unit, "long", BaseEncoding::Signed, 64), |a| a.m.pointer(a.unit, Some(a.int))];
    for of in wide {
        for (register, expected) in [(s(3), 0), (s(4), 1), (s(5), 1), (s(6), 0)] {
            assert_eq!(two(of, Loc::register(register), pair.clone()), expected, "{register:?}");
        }
    }
    // Pointers to the same type, and to different ones.
    let pointers: [(MakeType, usize); 2] =
        [(|a| a.m.qualified(a.unit, Qualifier::Const, Some(a.int)), 0), (float, 1)];
    for (of, expected) in pointers {
        let found = shared(&|a| {
            let to = of(a)?;
            let one = a.m.pointer(a.unit, Some(a.int))?;
            let other = a.m.pointer(a.unit, Some(to))?;
            a.m.variable(a.f, "p", one)?.live(0..16, pair.clone())?;
            a.m.variable(a.f, "q", other)?.live(0..16, pair.clone()).map(drop)
        });
        assert_eq!(found, expected);
    }
    // Consecutive pcs, and the same pcs in other functions.
    assert_eq!(
        shared(&|a| {
            let float = float(a)?;
            a.m.variable(a.f, "x", a.int)?.live(0..16, Loc::register(s(4)))?;
            a.m.variable(a.f, "y", float)?.live(16..24, Loc::register(s(4)))?;
            let g = a.m.function(a.unit, "g")?.code("g", 64).id();
            a.m.variable(g, "z", float)?.live(0..16, Loc::register(s(4))).map(drop)
        }),
        0
    );
    // A variable with a single location is live in the pcs of its block.
    for (pcs, expected) in [(0..8, 0), (8..16, 1)] {
        assert_eq!(
            shared(&|a| {
                let float = float(a)?;
                let block = a.m.block(a.f, std::slice::from_ref(&pcs))?;
                a.m.variable(block, "y", float)?.always(Loc::stack_slot(8))?;
                a.m.variable(a.f, "x", a.int)?.live(12..20, Loc::stack_slot(8)).map(drop)
            }),
            expected
        );
    }
    // The parameter of an inlined call is its argument.
    assert_eq!(
        shared(&|a| {
            let float = float(a)?;
            let inner = a.m.function(a.unit, "inner")?.id();
            let of = a.m.parameter(inner, "p", float)?.id();
            let call = SourceLine::new(a.m.primary_file(a.unit)?, 1);
            let call = a.m.inlined(a.f, inner, &[0..16], call)?;
            a.m.inlined_variable(call, of)?.live(0..16, Loc::register(s(4)))?;
            a.m.variable(a.f, "x", a.int)?.live(0..16, Loc::register(s(4))).map(drop)
        }),
        0
    );
    // Value of the caller, and its original location.
    let rules: &[(MakeRule, Loc, usize)] = &[
        (|f| f.saved_in_lane(0..64, s(33), v(40), 7).map(drop), Loc::lane(v(40), 7), 1),
        (|f| f.saved_in_lane(0..64, s(33), v(40), 7).map(drop), Loc::lane(v(40), 6), 0),
        (|f| f.saved_in_lane(0..64, s(33), v(40), 7).map(drop), Loc::per_lane(v(40)), 1),
        (|f| f.same_value(0..64, s(33)).map(drop), Loc::register(s(33)), 0),
        (|f| f.saved(0..64, s(33), Loc::register(s(4))).map(drop), Loc::register(s(4)), 1),
        (
            |f| f.saved_to_scratch(0..64, v(41), 4, Some(Val::entry_value(Reg(1)))).map(drop),
            Loc::per_lane(v(41)),
            0,
        ),
        (
            |f| f.saved_to_scratch(0..64, v(41), 4, Some(Val::entry_value(Reg(1)))).map(drop),
            Loc::cfa().offset(132),
            1,
        ),
        (|f| f.undefined(0..64, s(33)).map(drop), Loc::register(s(33)), 0),
    ];
    for (index, (rule, loc, expected)) in rules.iter().enumerate() {
        let found = shared(&|a| {
            rule(a.m.frame(a.f)?.entry_function()?)?;
            a.m.variable(a.f, "x", a.int)?.live(8..16, loc.clone()).map(drop)
        });
        assert_eq!(found, *expected, "rule {index}");
    }
}

/// Variables that have ended share bits with no other, for any number of them.
#[test]
fn ended_variables_share_no_bits() {
    for calls in [1, 40] {
        let found = shared(&|a| {
            let float = float(a)?;
            let inner = a.m.function(a.unit, "inner")?.id();
            let of = a.m.variable(inner, "i", a.int)?.id();
            let line = SourceLine::new(a.m.primary_file(a.unit)?, 1);
            let mut around = None;
            for _ in 0..calls {
                let call = match around {
                    None => a.m.inlined(a.f, inner, &[0..8], line)?,
                    Some(around) => a.m.inlined(around, inner, &[0..8], line)?,
                };
                a.m.inlined_variable(call, of)?.live(0..8, Loc::register(s(4)))?;
                around = Some(call);
            }
            a.m.variable(a.f, "x", float)?.live(8..64, Loc::register(s(4)))?;
            a.m.variable(a.f, "y", a.int)?.live(8..64, Loc::register(s(4))).map(drop)
        });
        assert_eq!(found, 1, "after {calls} inlined calls");
    }
}

/// A missing frame causes a warning where the ABI has no unwind table.
#[test]
fn a_function_without_a_frame_is_named() -> Result<()> {
    let mut a = start(gpu());
    let g = a.m.function(a.unit, "g")?.code("g", 64).id();
    a.m.function(a.unit, "inlined")?;
    a.m.frame(a.f)?.entry_function()?;
    let warnings = a.m.finish()?.warnings();
    assert_eq!(warnings.iter().map(|one| one.warned).collect::<Vec<_>>(), [Warned::Function(g)]);
    assert_eq!(start(eitri::target::Target::x86_64()).m.finish()?.warnings(), []);
    Ok(())
}

/// Each kind is allowed by its name; unknown names are refused.
#[test]
fn kinds_are_allowed() {
    assert_eq!(printed("one", &["--allow", "no-frame"]).len(), 2);
    assert_eq!(printed("other", &["--allow", "shared-bits"]).len(), 1);
    assert_eq!(printed("both", &["--allow", "shared-bits", "--allow", "no-frame"]), [""; 0]);
    assert!(printed("none", &["--allow", "frames"])[0].contains("frames"));
    for kind in WarningKind::ALL {
        assert_eq!(WarningKind::named(kind.name()), Some(kind));
    }
}

/// 40,000 variables in one register at once, in as many slots, and one after the other: no pair is compared twice. A
/// quadratic search would take minutes.
#[test]
fn warnings_are_found_in_n_log_n() {
    const MANY: u64 = 40_000;
    let mut a = start(gpu());
    let float = float(&mut a).expect("a type");
    a.m.describe_function(a.f).expect("a function").code("f", 4 * MANY).kernel();
    for index in 0..MANY {
        let pcs = 4 * index..4 * index + 4;
        let mut x =
            a.m.variable(a.f, &format!("x{index}"), if index % 2 == 0 { a.int } else { float })
                .expect("a variable");
        x.live(pcs, Loc::register(s(4))).expect("a place");
    }
    for index in 0..MANY {
        let mut x = a.m.variable(a.f, &format!("y{index}"), a.int).expect("a variable");
        x.live(4 * index..4 * MANY, Loc::per_lane(v(3))).expect("a place");
        let mut x = a.m.variable(a.f, &format!("z{index}"), float).expect("a variable");
        x.live(0..4 * MANY - 4 * index, Loc::stack_slot(4 * index as i64)).expect("a place");
    }
    let module = a.m.finish().expect("a module");
    let begin = std::time::Instant::now();
    assert_eq!(module.warnings(), []);
    assert!(begin.elapsed().as_secs() < 30, "{:?}", begin.elapsed());
}
