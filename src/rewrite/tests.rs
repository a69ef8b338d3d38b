//! Modules whose units refer to types of other units, which only an import makes: what is written for them, and what the
//! check makes of it.

use crate::build::{Builder, DataMember};
use crate::check::check;
use crate::consumer::{Consumer, Policy};
use crate::emit::elf::{ObjectCode, new_object};
use crate::emit::{RelocationTarget, Section};
use crate::error::{Conflict, ErrorKind, Result};
use crate::lower::lower;
use crate::model::{BaseEncoding, Imported, Loc, Module, Val};
use crate::target::{SpaceId, Target};

/// A unit with a class, and a unit with definitions of what the class declares.
fn module() -> Result<Module> {
    let mut m = Builder::new(Target::x86_64());
    m.refer_between_units();
    let first = m.unit("a.cc");
    let int = m.base_type(first, "int", BaseEncoding::Signed, 32)?;
    let long = m.base_type(first, "long", BaseEncoding::Signed, 64)?;
    let space = m.namespace(first, "space")?;
    let class = m.class(first, Some("Class"), 8)?;
    m.describe_type(class)?.within(space)?;
    m.data_member(class, DataMember::new("member", long, 0))?;
    let count = m.static_member(class, "count", int)?.id();
    let declared = m.function_declaration(class, "run")?.linkage_name("_ZN5space5Class3runEi").id();
    m.parameter(declared, "n", int)?;
    let pointer = m.pointer(first, Some(class))?;

    let second = m.unit("b.cc");
    let all = m.symbol("count");
    m.definition(second, count)?.always(Loc::memory(SpaceId::DEFAULT, Val::address(all, 0)))?;
    let run = m.function_definition(second, declared)?.code("run", 16).id();
    m.parameter(run, "this", pointer)?;
    m.parameter(run, "n", int)?;
    let returns = m.function(second, "make")?.code("make", 16).returns(pointer)?.id();
    m.call(returns)?.returns_to(8)?.calls(declared)?;
    m.import(second, Imported::Type(class))?;
    m.finish()
}

fn consumers() -> Vec<Consumer> {
    let mut all = Vec::new();
    for version in 2..=5 {
        for format in [gimli::Format::Dwarf32, gimli::Format::Dwarf64] {
            for has_tables in [false, true] {
                let mut consumer = Consumer::dwarf5();
                (consumer.version, consumer.format) = (version, format);
                consumer.tables.names = has_tables && version == 5;
                consumer.tables.pubs = has_tables;
                if version > 2 || format == gimli::Format::Dwarf32 {
                    all.push(consumer);
                }
            }
        }
    }
    all
}

fn object(module: &Module, sections: &[Section]) -> Result<Vec<u8>> {
    let code = ObjectCode::text(vec![0x90; 48]);
    let code = code.with_function("run", 0, 16).with_function("make", 16, 16).with_function("count", 32, 16);
    new_object(module.target(), &code, sections)
}

#[test]
fn references_between_units_are_written_and_compared() -> Result<()> {
    let module = module()?;
    for consumer in consumers() {
        let name = format!("DWARF {} {:?} {:?}", consumer.version, consumer.format, consumer.tables);
        let written = lower(&module, &consumer, Policy::Partial)?;
        let before = object(&module, &written.sections)?;
        let report = check(&module, &consumer, &written.omissions, &before)?;
        assert!(report.is_clean(), "{name}: {report}");
        // Each reference between units leads elsewhere in turn.
        let is_between = |target: &RelocationTarget| *target == RelocationTarget::Section(".debug_info");
        let info =
            written.sections.iter().position(|section| section.name == ".debug_info").expect("entries");
        let references = written.sections[info].relocations.iter().enumerate();
        let references: Vec<_> =
            references.filter(|(_, one)| is_between(&one.target)).map(|(index, _)| index).collect();
        assert_eq!(references.len(), 7, "{name}");
        for &index in &references {
            let mut sections = written.sections.clone();
            let relocations = &mut sections[info].relocations;
            let others = references.iter().map(|&other| relocations[other].addend);
            let other = others.into_iter().find(|&other| other != relocations[index].addend);
            relocations[index].addend = other.expect("another entry");
            let damaged = object(&module, &sections)?;
            let report = check(&module, &consumer, &written.omissions, &damaged)?;
            assert!(!report.is_clean(), "{name}: reference {index}");
        }
    }
    Ok(())
}

/// DWARF 5 section 7.5.5: a reference by offset leads to an entry of the same file; a type unit can be dropped.
#[test]
fn split_units_and_type_units_are_refused() -> Result<()> {
    let module = module()?;
    for is_split in [false, true] {
        let mut consumer = Consumer::dwarf5();
        consumer.is_split = is_split;
        consumer.has_type_units = !is_split;
        let error = lower(&module, &consumer, Policy::Partial).expect_err("units refer to each other");
        assert!(matches!(error.kind(), ErrorKind::InvalidConsumer(Conflict::References)), "{error}");
    }
    Ok(())
}
