//! Calls that describe scopes are checked immediately.

use eitri::Result;
use eitri::build::{Builder, Template};
use eitri::emit::elf::{ObjectCode, new_object};
use eitri::error::{Enclosed, ErrorKind};
use eitri::lower::{Consumer, Policy, lower};
use eitri::model::{BaseEncoding, Imported, Loc, Module, SourceLine, Val};
use eitri::op::Reg;
use eitri::target::Target;

type Row = (fn(&mut Builder) -> Result<()>, &'static str);

#[rustfmt::skip]
const ROWS: &[Row] = &[
    (|m| { let u = m.unit("u"); { let s = scope(m)?; m.import(u, Imported::AllOf(s)) }?.name("x").map(drop) },
        "unit `u`: import of all names in a namespace has a name"),
    (|m| { let f = function(m)?; let b = m.block(f, &[])?; m.import(f, Imported::Namespace(b)).map(drop) },
        "unit `a.c`, function `f`: scope2 is not a namespace"),
    (|m| { let f = function(m)?; m.call(f)?.returns_to(0x44).map(drop) },
        "unit `a.c`, function `f`, pc 0x44..0x45: range is outside the function, which has 0x40 bytes"),
    (|m| { let u = m.unit("u"); m.call(u).map(drop) },
        "unit `u`: call is in another scope; expected a function, a block or an inlined call"),
    (|m| { let f = function(m)?; m.call(f)?.argument(&Loc::register(Reg(5)))?.value(Val::entry_value(Reg(999))).map(drop) },
        "unit `a.c`, function `f`: the target has no register 999 (x86_64)"),
    (|m| { let u = m.unit("u"); m.label(u, "l").map(drop) },
        "unit `u`: label is outside all functions"),
    (|m| { let f = function(m)?; m.function_definition(f, f).map(drop) },
        "unit `a.c`, function `f`: `f` is a definition; expected a declaration to complete"),
    (|m| { let f = function(m)?; m.entry_pc(f, 0x40) },
        "unit `a.c`, function `f`, pc 0x40..0x41: range is outside the function, which has 0x40 bytes"),
    (|m| { let f = function(m)?; let b = m.block(f, &[0..8])?; m.entry_pc(b, 8) },
        "unit `a.c`, function `f`, pc 0x8..0x9: entry pc is outside the scope's code: 0x0..0x8"),
    (|m| { let f = function(m)?; { let n = m.namespace(f, "n")?; m.discriminator(n, 1) } },
        "unit `a.c`, function `f`: scope has no discriminator; expected an inlined call or a block"),
    (|m| {
        let u = m.unit("u");
        let d = m.function_declaration(u, "d")?.id();
        let f = m.function(u, "f")?.code("f", 4).id();
        let file = m.primary_file(u)?;
        m.inlined(f, d, &[], SourceLine::new(file, 1)).map(drop)
    }, "unit `u`, function `f`: inlined function `d` is only declared; expected a definition"),
    (|m| {
        let f = function(m)?;
        m.call(f)?;
        core::mem::replace(m, Builder::new(Target::x86_64())).finish().map(drop)
    }, "unit `a.c`, function `f`: call has neither a pc nor a return pc"),
    (|m| {
        let u = m.unit("u");
        m.function_declaration(u, "d")?.code("d", 4);
        core::mem::replace(m, Builder::new(Target::x86_64())).finish().map(drop)
    }, "unit `u`, function `d`: declaration has code"),
    (|m| {
        let u = m.unit("u");
        let int = m.base_type(u, "int", BaseEncoding::Signed, 32)?;
        let rdi = m.target().register_named("rdi")?;
        m.extern_variable(u, "v", int)?.always(Loc::register(rdi))?;
        core::mem::replace(m, Builder::new(Target::x86_64())).finish().map(drop)
    }, "unit `u`, variable `v`: declaration has a location"),
];

fn scope(m: &mut Builder) -> Result<eitri::model::ScopeId> {
    // In the most recent unit.
    m.namespace(eitri::model::UnitId::from_u32(0), "ns")
}

fn function(m: &mut Builder) -> Result<eitri::model::FunctionId> {
    let unit = m.unit("a.c");
    Ok(m.function(unit, "f")?.code("f", 0x40).id())
}

#[test]
fn errors_name_their_place() {
    let mut wrong = Vec::new();
    for (index, (describe, expected)) in ROWS.iter().enumerate() {
        let error =
            describe(&mut Builder::new(Target::x86_64())).map_or_else(|e| e.to_string(), |()| "none".into());
        if error != *expected {
            wrong.push(format!("row {index}:\n  expected {expected}\n  found    {error}"));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// An instance of a function template, with a value argument and a pack argument.
fn instance(value: u32, packed: Option<&str>, is_inlined: bool) -> Module {
    let mut m = Builder::new(Target::x86_64());
    let unit = m.unit("templates.cpp");
    let int = m.base_type(unit, "int", BaseEncoding::Signed, 32).unwrap();
    let of = m.function(unit, "repeat<int, 3, int>").unwrap().code("repeat", 0x20).id();
    let types = [Template::ty("", Some(int))];
    let mut f = m.describe_function(of).unwrap();
    f.template(Template::ty("T", Some(int))).unwrap();
    f.template(Template::value("N", int, &value.to_le_bytes()).default()).unwrap();
    if let Some(name) = packed {
        f.template(Template::pack(name, &types)).unwrap();
    }
    if is_inlined {
        let file = m.primary_file(unit).unwrap();
        let call = SourceLine::new(file, 4);
        let caller = m.function(unit, "caller").unwrap().code("caller", 0x20).id();
        m.inlined(caller, of, &[0x04..0x08], call).unwrap();
    }
    m.finish().unwrap()
}

#[test]
fn functions_can_be_instances_of_templates() {
    for version in 2..=5 {
        let mut consumer = Consumer::dwarf5();
        consumer.version = version;
        for is_inlined in [false, true] {
            let truth = instance(3, Some("Rest"), is_inlined);
            let object = |module: &Module| {
                let written = lower(module, &consumer, Policy::Strict).unwrap();
                let code = ObjectCode::text(vec![0x90; 0x40])
                    .with_function("repeat", 0, 0x20)
                    .with_function("caller", 0x20, 0x20);
                new_object(module.target(), &code, &written.sections).unwrap()
            };
            let report = |bytes: &[u8]| eitri::check(&truth, &consumer, &[], bytes).unwrap();
            let bytes = object(&truth);
            assert!(report(&bytes).is_clean(), "{}", report(&bytes));
            let text = eitri::dump::print(&bytes, None).unwrap();
            assert_eq!(text.matches("DW_TAG_GNU_template_parameter_pack").count(), 1);
            for (value, packed) in [(4, Some("Rest")), (3, None), (3, Some("Other"))] {
                let other = report(&object(&instance(value, packed, is_inlined)));
                assert!(!other.is_clean(), "{value} {packed:?}");
            }
        }
    }
    let mut m = Builder::new(Target::x86_64());
    let unit = m.unit("templates.cpp");
    let int = m.base_type(unit, "int", BaseEncoding::Signed, 32).unwrap();
    let mut f = m.function(unit, "f").unwrap();
    let error = f.template(Template::value("N", int, &[0; 8])).unwrap_err();
    let text =
        "unit `templates.cpp`, function `f`: template parameter `N` needs 64 bits, but only 32 are available";
    assert_eq!(error.to_string(), text);
}

/// Deeply nested blocks and inlined calls: the enclosing code is not searched from each level, which would take
/// minutes.
#[test]
fn scopes_can_be_nested_deeply() -> Result<()> {
    const DEPTH: u32 = 300_000;
    let mut m = Builder::new(Target::x86_64());
    let unit = m.unit("a.c");
    let int = m.base_type(unit, "int", BaseEncoding::Signed, 32)?;
    let callee = m.function(unit, "callee")?.id();
    let block = m.block(callee, &[])?;
    let v = m.variable(callee, "v", int)?.id();
    let f = m.function(unit, "f")?.code("f", 0x40).id();
    let call = SourceLine::new(m.primary_file(unit)?, 1);
    let mut scope = m.block(f, &[0x08..0x18])?;
    for line in 1..DEPTH {
        scope = m.block(scope, &[])?;
        m.variable(scope, "x", int)?;
        if line % 3 == 0 {
            scope = m.inlined(scope, callee, &[], SourceLine { line, ..call })?;
        }
    }
    let inlined = m.inlined(scope, callee, &[], call)?;
    let mut inner = inlined;
    for _ in 0..DEPTH {
        inner = m.inlined_block(inner, block, &[])?;
        m.inlined_variable(inner, v)?;
    }
    // All are in the code of the first block, and in that of the call.
    let outside = m.block(inner, &[0x10..0x19]).expect_err("is refused");
    assert!(matches!(outside.kind(), ErrorKind::OutsideScope { kind: Enclosed::Scope, .. }), "{outside:?}");
    let outside = outside.to_string();
    assert!(outside.contains("scope is not within one range of the enclosing scope: "), "{outside}");
    m.block(inner, &[0x10..0x18])?;
    m.inlined_variable(scope, v)?;
    let module = m.finish()?;
    assert_eq!(module.function_of(inner), Some(f));
    assert_eq!(module.variables().count() as u32, 2 * DEPTH + 1);
    Ok(())
}

/// Lists of three ranges in a block with the ranges 6..8, 0..3 and 3..5, each checked pair by pair against the rule.
#[test]
fn ranges_of_a_block_are_refused_by_the_rule() {
    const AROUND: [core::ops::Range<u64>; 3] = [6..8, 0..3, 3..5];
    let ranges: Vec<_> = (0..10).flat_map(|start| (0..4).map(move |bytes| start..start + bytes)).collect();
    let ranges: Vec<_> = ranges.into_iter().filter(|range| range.start % 2 == 0 || range.end < 5).collect();
    let mut m = Builder::new(Target::x86_64());
    let unit = m.unit("a.c");
    let f = m.function(unit, "f").expect("a function").code("f", 9).id();
    let around = m.block(f, &AROUND).expect("a block");
    let mut refused = 0;
    for one in &ranges {
        for two in &ranges {
            for three in &ranges {
                let list = [one.clone(), two.clone(), three.clone()];
                let wrong = list.iter().enumerate().find_map(|(index, range)| {
                    let meets = |other: &&core::ops::Range<u64>| {
                        (other.start..other.end).any(|pc| range.contains(&pc))
                    };
                    let is_inside =
                        |outer: &core::ops::Range<u64>| range.clone().all(|pc| outer.contains(&pc));
                    let what = if range.is_empty() {
                        "does not end after its start".to_owned()
                    } else if range.end > 9 {
                        "outside the function".to_owned()
                    } else if let Some(other) = list[..index].iter().find(meets) {
                        format!("overlaps {:#x}..{:#x} of the same scope", other.start, other.end)
                    } else if !AROUND.iter().any(is_inside) {
                        "within one range of the enclosing scope: 0x0..0x3, 0x3..0x5, 0x6..0x8".to_owned()
                    } else {
                        return None;
                    };
                    Some((range.clone(), what))
                });
                match (m.block(around, &list), wrong) {
                    (Ok(_), None) => {}
                    (Err(error), Some((range, what))) => {
                        assert_eq!(error.at().pcs, Some(range), "{list:?}: {error}");
                        assert!(error.to_string().contains(&what), "{list:?}: {error}, not {what}");
                        refused += 1;
                    }
                    (found, expected) => panic!("{list:?}: {found:?}, not {expected:?}"),
                }
            }
        }
    }
    assert!(refused > 1000 && refused < ranges.len().pow(3), "{refused}");
}
