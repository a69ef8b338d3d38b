//! Round trip: module to JSON to module is the identity.

use eitri::build::Builder;
use eitri::model::{BaseEncoding, LineTableRow, Loc, Module, SourceLine, Val};
use eitri::target::SpaceId;
use proptest::prelude::*;

use crate::json::random::{choices, fixed_choices, module, targets};

fn assert_comes_back(module: &Module) {
    let text = module.to_json();
    let again = Module::from_json(&text).unwrap_or_else(|error| panic!("{error}\n{text}"));
    assert!(again == *module, "{text}\n{again:#?}\n{module:#?}");
    assert_eq!(again.to_json(), text);
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn modules_come_back(choices in choices(600), target in 0..5usize) {
        assert_comes_back(&module(&choices, &targets()[target]));
    }
}

/// Equality ignores the ids of strings, but not those of entities.
#[test]
fn modules_are_the_same_if_they_say_the_same() {
    for seed in 0..40 {
        let target = &targets()[seed as usize % 5];
        let one = module(&fixed_choices(seed, 400), target);
        let two = module(&fixed_choices(seed + 1000, 400), target);
        assert!(one == one.clone());
        assert!(one != two, "{}", one.to_json());
    }
}

/// The statements come in another order than the written one.
#[test]
fn modules_come_back_whatever_came_first() -> eitri::Result<()> {
    let target = &targets()[0];
    let mut m = Builder::new(target.clone());
    let one = m.unit("1.cl");
    let f = m.function(one, "f")?.code("f", 64).id();
    let two = m.unit("2.cl");
    let g = m.function(two, "f")?.code("g", 64).id();
    let int = m.base_type(two, "int", BaseEncoding::Signed, 32)?;
    let v = m.variable(g, "v", int)?.id();
    // A type of equal kind is a new one if the first has further properties.
    let other = m.base_type(one, "int", BaseEncoding::Signed, 32)?;
    m.describe_type(other)?;
    let again = m.base_type(one, "int", BaseEncoding::Signed, 32)?;
    assert!(other != again);
    let block = m.block(f, &[0..16])?;
    let x = m.variable(block, "x", again)?.id();
    let s = m.structure(one, Some("f"), 16)?;
    let file = m.file(one, "late.h", Some("include"))?;
    let same_name = m.file(one, "late.h", None)?;
    m.describe_type(s)?.declared(SourceLine::new(same_name, 3)).within(f)?;
    m.begins(block, SourceLine::new(file, 5).column(6))?;
    let p = m.pointer(one, Some(s))?;
    m.member(s, "next", p, 0)?;
    m.describe_function(f)?.returns(p)?.declared(SourceLine::new(file, 4));
    let y = m.variable(f, "y", p)?.id();
    m.describe_variable(x)?.declared(SourceLine::new(file, 9)).live(0..8, Loc::pointer_to(y, 4))?;
    m.describe_variable(v)?.always(Loc::undefined())?;
    let namespace = m.namespace(two, "f#1")?;
    m.variable(namespace, "global", int)?.always(Loc::pointer_to(v, 0))?;
    m.row(g, LineTableRow::new(0, m.primary_file(two)?, 1))?;
    m.row(f, LineTableRow::new(4, file, 1))?;
    m.row(f, LineTableRow::new(0, same_name, 1).column(2))?;
    assert_comes_back(&m.finish()?);
    Ok(())
}

#[test]
fn frames_come_back() -> eitri::Result<()> {
    let gpu = targets()[0].clone();
    let lanes = gpu.lanes();
    let exec = gpu.exec().expect("one");
    let v40 = gpu.vgpr(40)?;
    let v41 = gpu.vgpr(41)?;
    let [s30, s31, s32, s33] = [30, 31, 32, 33].map(|n| gpu.sgpr(n).expect("a register"));
    let mut m = Builder::new(gpu);
    let unit = m.unit("1.cl");
    let f = m.function(unit, "f")?.code("f", 64).id();
    let other = m.unit("2.cl");
    let g = m.function(other, "f")?.code("g", 64).kernel().id();
    m.frame(g)?.entry_function()?.extent(-8..256)?;
    m.frame(f)?
        .saved_to_scratch(12..60, v41, 4, Some(Val::entry_value(exec)))?
        .saved_to_scratch(12..60, v40, -8, None)?
        .saved_in_lane(8..64, s33, v40, 7)?
        .undefined(8..64, v40.max(v41).min(s31))?
        .return_address(0..64, s30, s31)?
        .cfa(32..64, Loc::memory(SpaceId::PRIVATE_WAVE, Val::register(s33).plus(64)))?
        .cfa(0..32, Loc::memory(SpaceId::PRIVATE_WAVE, Val::register(s32)))?;
    let module = m.finish()?;
    assert_eq!((module.frame(f).len(), module.frame(g).len()), (7, 2));
    assert_comes_back(&module);
    // A slot counts bytes of a lane, and a location bytes of the wave.
    let of_lanes = format!("\"offset\":[\"cfa\",{}]", 4 * lanes);
    assert!(module.to_json().contains(&of_lanes), "{}", module.to_json());
    Ok(())
}
