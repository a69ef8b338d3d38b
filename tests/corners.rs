//! Minimal and maximal modules: boundaries of forms, headers and tables.

use crate::common::consumers;

use consumers::{combinations, named};
use eitri::Result;
use eitri::build::Builder;
use eitri::check::check_split;
use eitri::emit::elf::{ObjectCode, new_object};
use eitri::lower::{Consumer, Lowered, Policy, lower};
use eitri::model::{Address, BaseEncoding, Loc, Module, SourceLine, Val};
use eitri::target::{SpaceId, Target};

/// Writes the module and checks it with its code. No omissions are allowed.
fn written(module: &Module, consumer: &Consumer, code: &ObjectCode) -> Result<Lowered> {
    let lowered = lower(module, consumer, Policy::Strict)?;
    let object = new_object(module.target(), code, &lowered.sections)?;
    let report = if consumer.is_split {
        let files = lowered.split_files(module.target())?;
        let files: Vec<&[u8]> = files.iter().map(|(_, bytes)| &bytes[..]).collect();
        check_split(module, consumer, &lowered.omissions, &object, &files)?
    } else {
        eitri::check(module, consumer, &lowered.omissions, &object)?
    };
    assert!(report.is_clean() && report.unproven.is_empty(), "{}: {report}", named(consumer));
    Ok(lowered)
}

/// Each consumer with all tables of its version, with one file and with split files.
fn with_tables() -> impl Iterator<Item = Consumer> {
    combinations().flat_map(|mut consumer| {
        let is_five = consumer.version == 5;
        (consumer.tables.aranges, consumer.tables.pubs, consumer.tables.names) = (true, true, is_five);
        let mut split = consumer.clone();
        split.is_split = true;
        [Some(consumer), is_five.then_some(split)].into_iter().flatten()
    })
}

/// DWARF 5 section 6.1.1.2: an index covers units, so that there is no index without units.
#[test]
fn tables_are_omitted_without_units() -> Result<()> {
    for target in [Target::x86_64(), Target::s390x()] {
        let module = Builder::new(target).finish()?;
        for consumer in with_tables() {
            let lowered = written(&module, &consumer, &ObjectCode::text(vec![0; 4]))?;
            let names: Vec<_> = lowered.sections.iter().map(|section| section.name).collect();
            assert!(names.is_empty(), "{}: {names:?}", named(&consumer));
        }
    }
    Ok(())
}

/// Units without entries, and units without code.
#[test]
fn a_unit_can_be_empty() -> Result<()> {
    for target in [Target::x86_64(), Target::s390x()] {
        let mut m = Builder::new(target);
        m.unit("");
        let unit = m.unit("b.c");
        let file = m.primary_file(unit)?;
        let callee = m.function(unit, "callee")?.declared(SourceLine::new(file, 1)).id();
        let f = m.function(unit, "f")?.id();
        m.inlined(f, callee, &[], SourceLine::new(file, 2))?;
        m.block(f, &[])?;
        m.unit("c.c");
        let module = m.finish()?;
        for consumer in with_tables() {
            written(&module, &consumer, &ObjectCode::text(vec![0; 4]))?;
        }
    }
    Ok(())
}

/// An empty function at address 0 does not terminate a list of ranges: DWARF 4 section 2.17.3.
#[test]
fn code_of_no_bytes_ends_no_list() -> Result<()> {
    for target in [Target::x86_64(), Target::s390x()] {
        let mut m = Builder::new(target);
        let unit = m.unit("a.c");
        m.function(unit, "none")?.address(Address::Constant(0), 0);
        m.function(unit, "one")?.address(Address::Constant(0x40), 0x20);
        m.function(unit, "other")?.code("other", 0x10);
        let module = m.finish()?;
        let code = ObjectCode::text(vec![0; 0x10]).with_function("other", 0, 0x10);
        for consumer in with_tables() {
            written(&module, &consumer, &code)?;
        }
    }
    Ok(())
}

/// Shared expressions are called with offsets of two or four bytes: in lists and entries, also in split units.
#[test]
fn calls_reach_far() -> Result<()> {
    let targets = [Target::x86_64(), Target::s390x()].into_iter();
    for (target, types) in targets.flat_map(|target| [(target.clone(), 1), (target, 24_000)]) {
        let is_far = types > 1;
        let reg = target.registers().find(|register| register.bits == 64).expect("a register").reg;
        let mut m = Builder::new(target);
        let unit = m.unit("a.c");
        let long = m.base_type(unit, "long", BaseEncoding::Signed, 64)?;
        for index in 1..types {
            m.base_type(unit, &format!("type{index}"), BaseEncoding::Signed, 32)?;
        }
        let base = || {
            let key = Val::register(reg).xor(Val::constant(0x0123_4567_89ab_cdef));
            key.mul(Val::constant(0x7654_3210_0000)).shr(Val::constant(7)).or(Val::constant(0x1111_2222_3333))
        };
        let f = m.function(unit, "f")?.code("f", 0x40).id();
        for index in 0..20u64 {
            let place = |offset: u64| Loc::memory(SpaceId::DEFAULT, base().add(Val::constant(offset)));
            let mut variable = m.variable(f, "v", long)?;
            match index % 2 {
                0 => variable.live(0..0x20, place(index))?.live(0x20..0x30, place(0x100 + index))?,
                _ => variable.live(0..0x40, place(index))?,
            };
        }
        let module = m.finish()?;
        let code = ObjectCode::text(vec![0; 0x40]).with_function("f", 0, 0x40);
        // Large modules are slow to write: test one consumer with one file and one with split files.
        let is_wanted = |consumer: &Consumer| {
            if is_far {
                consumer.version == 5 && consumer.name == Consumer::dwarf5().name
            } else {
                consumer.version > 2
            }
        };
        for mut consumer in with_tables().filter(is_wanted) {
            consumer.tables = Consumer::dwarf5().tables;
            consumer.expressions.shared_from_bytes = Some(8);
            let lowered = written(&module, &consumer, &code)?;
            let own = lowered.split.first().map_or(&lowered.sections, |split| &split.sections);
            let lists = own.iter().find(|section| section.name.starts_with(".debug_loc")).expect("lists");
            // DW_OP_call2 and DW_OP_call4, each as the first operation of an expression.
            let operation = if is_far { 0x99 } else { 0x98 };
            let calls = lists.bytes.iter().filter(|&&byte| byte == operation).count();
            assert!(calls >= 20, "{}: {calls}", named(&consumer));
        }
    }
    Ok(())
}
