//! The comparison detects differences: modules that differ in one property are not equal.

use eitri::build::{AttributeValue, Builder, DataMember, Extent, Template};
use eitri::lower::{Policy, lower};
use eitri::model::{
    Accessibility, BaseEncoding, Language, LineTableRow, Loc, Module, Passed, SourceLine, Val,
};
use eitri::target::Target;

use crate::agreement::consumers::combinations;

/// Number of changes that a module can have.
const CHANGES: usize = 33;

/// A module with one change, or without a change.
fn module(change: Option<usize>, target: &Target) -> eitri::Result<Module> {
    let is = |number| change == Some(number);
    let reg = target.registers().nth(3).expect("a register").reg;
    let mut m = Builder::new(target.clone());
    let unit = m.unit(if is(0) { "b.c" } else { "a.c" });
    m.describe_unit(unit)?.language(if is(1) { Language::C99 } else { Language::CPP });
    m.describe_unit(unit)?.producer("cc").command_line(if is(26) { "-O" } else { "-g" });
    let file = m.primary_file(unit)?;
    let other = m.file(unit, "a.h", Some(if is(2) { "inc" } else { "include" }))?;
    let int = m.base_type(unit, "int", BaseEncoding::Signed, 32)?;
    let float = m.base_type(unit, "float", BaseEncoding::Float, 32)?;
    let array = m.array_of(unit, int, &[Extent::fixed(if is(3) { 4 } else { 3 })], None)?;
    let ty = m.structure(unit, Some("s"), 24)?;
    m.bit_field(ty, "field", int, if is(4) { 4 } else { 3 }, 5)?;
    m.describe_type(ty)?.passed(if is(29) { Passed::ByReference } else { Passed::ByValue })?;
    m.member(ty, "array", array, if is(5) { 8 } else { 4 })?;
    let access = if is(6) { Accessibility::Private } else { Accessibility::Public };
    m.data_member(ty, DataMember::new("last", if is(7) { float } else { int }, 20).accessibility(access))?;
    m.template(ty, Template::value("N", int, &if is(8) { 2u32 } else { 1 }.to_le_bytes()))?;
    let values = [("a", if is(9) { -2 } else { -1 }), ("b", 7)];
    m.enumeration(unit, Some("e"), int, &values)?;
    let small = m.subrange_type(unit, Some("small"), Some(int), if is(30) { Some(8) } else { None })?;
    m.describe_type(small)?.lower_bound(AttributeValue::Signed(if is(31) { -4 } else { -5 }))?;
    m.describe_type(small)?.upper_bound(AttributeValue::Unsigned(if is(32) { 10 } else { 9 }))?;
    m.constant(unit, "c", int, &if is(10) { [0, 1, 0, 0] } else { [1, 0, 0, 0] })?;

    let namespace = m.namespace(unit, "ns")?;
    m.begins(namespace, SourceLine::new(file, 3).column(if is(27) { 2 } else { 1 }))?;
    m.macros(unit)?.define(0, if is(24) { "A 2" } else { "A 1" })?;

    let callee = m.function(unit, "callee")?.declared(SourceLine::new(file, 2)).id();
    let x = m.parameter(callee, "x", int)?.id();
    let blocks = [m.block(callee, &[])?, m.block(callee, &[])?];
    let mut f = m.function(unit, "f")?;
    f.code("f1", 0x40).declared(SourceLine::new(if is(11) { other } else { file }, 5)).returns(int)?;
    f.linkage_name(if is(12) { "_Zg" } else { "_Zf" });
    if is(13) {
        f.external();
    }
    if is(14) {
        f.noreturn();
    }
    let f = f.id();
    let end = if is(15) { 0x14 } else { 0x10 };
    m.variable(f, "v", int)?.live(4..end, Loc::register(reg))?.live(0x20..0x24, Loc::register(reg))?;
    let block = m.block(f, &[0x8..if is(16) { 0x2c } else { 0x30 }])?;
    let column = if is(17) { 3 } else { 0 };
    let inlined = m.inlined(block, callee, &[0x10..0x18], SourceLine::new(file, 9).column(column))?;
    m.inlined_block(inlined, blocks[usize::from(is(28))], &[])?;
    m.inlined_variable(inlined, x)?.live(0x10..if is(18) { 0x14 } else { 0x18 }, Loc::register(reg))?;
    for (pc, line) in [(0, 5), (8, if is(19) { 8 } else { 6 })] {
        m.row(f, LineTableRow::new(pc, if is(20) { other } else { file }, line))?;
    }
    m.describe_function(f)?.template(Template::ty("T", Some(if is(25) { float } else { int })))?;
    let mut call = m.call(f)?;
    call.returns_to(if is(21) { 0x14 } else { 0x10 })?;
    call.argument(&Loc::register(reg))?.value(Val::constant(3))?;
    let mut label = m.label(f, "out")?;
    label.at(if is(22) { 4 } else { 8 })?;
    let mut global = m.variable(unit, "g", if is(23) { float } else { int })?;
    global.external();
    m.finish()
}

#[test]
fn each_difference_is_seen() -> eitri::Result<()> {
    for target in [Target::x86_64(), Target::s390x()] {
        let tree = module(None, &target)?;
        for consumer in combinations() {
            let name = crate::agreement::named(&consumer);
            let lowered = lower(&tree, &consumer, Policy::Strict)?;
            assert_eq!(super::compare(&tree, &consumer, &lowered), Ok(()), "{name}");
            // The last change, the passing of objects, needs DWARF 5.
            for change in 0..CHANGES - usize::from(consumer.version < 5) {
                let changed = module(Some(change), &target)?;
                let seen = super::compare(&changed, &consumer, &lowered);
                assert!(seen.is_err(), "change {change}: {name}");
            }
        }
    }
    Ok(())
}

/// A constant of an inlined call that is valid in the whole function has a value and not a list: DWARF 5 section 4.1.
#[test]
fn a_constant_of_a_whole_function_is_a_value() -> eitri::Result<()> {
    let mut m = Builder::new(Target::x86_64());
    let unit = m.unit("a.c");
    let file = m.primary_file(unit)?;
    let int = m.base_type(unit, "int", BaseEncoding::Signed, 32)?;
    let callee = m.function(unit, "callee")?.declared(SourceLine::new(file, 2)).id();
    let c = m.constant(callee, "c", int, &[1, 0, 0, 0])?;
    let f = m.function(unit, "f")?.code("f1", 0x40).id();
    let inlined = m.inlined(f, callee, &[0x10..0x18], SourceLine::new(file, 9))?;
    m.inlined_variable(inlined, c)?.live(0..0x40, Loc::implicit(&[2, 0, 0, 0]))?;
    let module = m.finish()?;
    for consumer in combinations() {
        let lowered = lower(&module, &consumer, Policy::Strict)?;
        assert_eq!(
            super::compare(&module, &consumer, &lowered),
            Ok(()),
            "{}",
            crate::agreement::named(&consumer)
        );
    }
    Ok(())
}

/// Differences of entities are reported before differences of references, whose indices follow from them.
#[test]
fn a_difference_is_what_differs_first_in_itself() {
    let tree = |inner: bool| {
        let mut all = super::Tree::new("module", None);
        let mut constant = super::Tree::new("constant", Some(1));
        constant.to("type", Some(3));
        let mut function = super::Tree::new("function", Some(2));
        function.inside.extend(inner.then(|| super::Tree::new("inlined", None)));
        all.inside = vec![constant, function, super::Tree::new("pointer", Some(3))];
        all.numbered()
    };
    let text = tree(true).difference(&tree(false));
    assert!(text.contains("inlined") && text.contains("/function"), "{text}");
}
