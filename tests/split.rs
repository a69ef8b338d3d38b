//! Split units: contents of each file, and findings of `check` for mismatched files.

use eitri::build::Builder;
use eitri::check::{CheckReport, check_split};
use eitri::emit::elf::{ObjectCode, new_object};
use eitri::emit::{RelocationTarget, Section};
use eitri::error::{Construct, ErrorKind, Named};
use eitri::lower::{Consumer, Lowered, Policy, Units, lower};
use eitri::model::{BaseEncoding, LineTableRow, Loc, Module, SourceLine};
use eitri::omission::{Omission, Property, Subject};
use eitri::target::{Gfx, Target, Wave};

/// Two units with a function each, in which a variable moves; the second has a variable in memory.
pub fn module() -> eitri::Result<Module> {
    let cpu = Target::x86_64();
    let rax = cpu.register_named("rax")?;
    let rcx = cpu.register_named("rcx")?;
    let mut m = Builder::new(cpu);
    for (name, symbol) in [("a.c", "f"), ("b.c", "g")] {
        let unit = m.unit(name);
        m.describe_unit(unit)?.directory("/src").producer("a compiler of some name");
        let file = m.primary_file(unit)?;
        let int = m.base_type(unit, "int", BaseEncoding::Signed, 32)?;
        let function = m.function(unit, symbol)?.code(symbol, 16).declared(SourceLine::new(file, 3)).id();
        m.variable(function, "x", int)?.live(0..4, Loc::register(rax))?.live(4..8, Loc::register(rcx))?;
        let data = m.symbol("data");
        m.variable(unit, "a_variable_in_memory", int)?.always(Loc::global_symbol(data))?;
        m.row(function, LineTableRow::new(0, file, 3))?;
    }
    m.finish()
}

pub fn split() -> Consumer {
    let mut consumer = Consumer::dwarf5();
    consumer.is_split = true;
    consumer
}

/// Code of the module.
pub fn code() -> ObjectCode {
    let code = ObjectCode::text(vec![0; 64]).with_function("f", 0, 16).with_function("g", 16, 16);
    code.with_function("data", 32, 16)
}

fn report(module: &Module, written: &Lowered) -> CheckReport {
    let main = new_object(module.target(), &code(), &written.sections).unwrap();
    let files = written.split_files(module.target()).unwrap();
    let files: Vec<&[u8]> = files.iter().map(|(_, bytes)| &bytes[..]).collect();
    check_split(module, &split(), &written.omissions, &main, &files).unwrap()
}

#[test]
fn skeleton_contains_only_what_a_linker_needs() {
    let module = module().unwrap();
    let written = lower(&module, &split(), Policy::Strict).unwrap();
    assert!(report(&module, &written).is_clean(), "{}", report(&module, &written));
    let names = |sections: &[Section]| sections.iter().map(|section| section.name).collect::<Vec<_>>();
    let expected = [".debug_abbrev", ".debug_info", ".debug_addr", ".debug_str", ".debug_line"];
    assert_eq!(names(&written.sections), expected);
    assert_eq!(written.split.iter().map(|unit| &*unit.name).collect::<Vec<_>>(), ["a.c.dwo", "b.c.dwo"]);
    for unit in &written.split {
        // DWARF 5 section 7.3.2.2.
        let expected =
            ["info", "abbrev", "loclists", "str_offsets", "str"].map(|name| format!(".debug_{name}.dwo"));
        let mut found = names(&unit.sections);
        found.sort_unstable();
        assert_eq!(found, {
            let mut expected = expected;
            expected.sort();
            expected
        });
        assert!(unit.sections.iter().all(|section| section.relocations.is_empty()));
        let object = unit.object(module.target()).unwrap();
        let object = eitri::read::Object::read(&object).unwrap();
        const SHF_EXCLUDE: u64 = 0x8000_0000;
        for section in object.sections().iter().filter(|section| section.name.starts_with(".debug")) {
            assert_ne!(section.flags & SHF_EXCLUDE, 0, "{}", section.name);
        }
    }
    assert_ne!(written.split[0].id, written.split[1].id);
}

#[test]
fn files_are_named_as_wanted_and_each_its_own() {
    let mut m = Builder::new(Target::x86_64());
    let units = ["a.c", "a.c", "b.c", "a.c.1"].map(|name| m.unit(name));
    m.describe_unit(units[2]).unwrap().split_name("a.c.dwo").unwrap();
    let error = m.describe_unit(units[0]).unwrap().split_name("a.c.dwo").map(drop).unwrap_err();
    let is_taken = matches!(error.kind(), ErrorKind::DuplicateName { kind: Named::SplitUnit, name } if name == "a.c.dwo");
    assert!(is_taken && error.at().unit.as_deref() == Some("a.c"), "{error}");
    assert!(m.describe_unit(units[0]).unwrap().split_name("").is_err());
    m.describe_unit(units[2]).unwrap().split_name("a.c.dwo").unwrap();
    let module = m.finish().unwrap();
    assert_eq!(module.split_names(), ["a.c.0.dwo", "a.c.1.dwo", "a.c.dwo", "a.c.1.3.dwo"]);
}

#[test]
fn files_are_named_after_the_object_where_that_is_wanted() {
    let named = |units: &[&str], object: &str| {
        let mut m = Builder::new(Target::x86_64());
        for unit in units {
            m.unit(unit);
        }
        let mut module = m.finish().unwrap();
        module.name_split_units(object).unwrap();
        module.split_names()
    };
    assert_eq!(named(&["src/a.c"], "out.o"), ["out.dwo"]);
    assert_eq!(named(&["a.c"], "out"), ["out.dwo"]);
    assert_eq!(named(&["a.c"], ".o"), [".o.dwo"]);
    assert_eq!(
        named(&["src/a.c", "b.c", "", "/"], "out.o"),
        ["out-a.dwo", "out-b.dwo", "out-unit.dwo", "out-unit.3.dwo"]
    );
    // A unit's own file name is kept, and used by no other unit.
    let mut m = Builder::new(Target::x86_64());
    let units = ["x/a.c", "y/a.cl", "b.c"].map(|name| m.unit(name));
    m.describe_unit(units[2]).unwrap().split_name("out-a.dwo").unwrap();
    let mut module = m.finish().unwrap();
    assert!(module.name_split_units("a\0b").is_err() && module.set_split_names([String::new()]).is_err());
    module.name_split_units("out.o").unwrap();
    assert_eq!(module.split_names(), ["out-a.0.dwo", "out-a.1.dwo", "out-a.dwo"]);
}

#[test]
fn unsplittable_consumers_are_refused() {
    let module = module().unwrap();
    for change in [
        |consumer: &mut Consumer| consumer.version = 4,
        |consumer: &mut Consumer| consumer.has_type_units = true,
    ] {
        let mut consumer = split();
        change(&mut consumer);
        let error = lower(&module, &consumer, Policy::Partial).unwrap_err();
        assert!(error.to_string().contains("split units"), "{error}");
    }
}

#[test]
fn a_variable_of_another_unit_cannot_be_pointed_to() -> eitri::Result<()> {
    let mut m = Builder::new(Target::x86_64());
    let [a, b] = ["a.c", "b.c"].map(|name| m.unit(name));
    let [int, _] = [a, b].map(|unit| m.base_type(unit, "int", BaseEncoding::Signed, 32).unwrap());
    let there = m.constant(a, "there", int, &[1, 0, 0, 0])?;
    let int = m.base_type(b, "int", BaseEncoding::Signed, 32)?;
    let pointer = m.pointer(b, Some(int))?;
    let f = m.function(b, "f")?.code("f", 16).id();
    m.variable(f, "p", pointer)?.live(4..8, Loc::pointer_to(there, 0))?;
    let module = m.finish()?;
    lower(&module, &Consumer::dwarf5(), Policy::Strict)?;
    let error = lower(&module, &split(), Policy::Strict).unwrap_err();
    assert!(matches!(error.kind(), ErrorKind::Inexpressible { .. }));
    assert_eq!((error.at().variable.as_deref(), error.at().pcs.clone()), (Some("p"), Some(4..8)));
    assert_eq!(lower(&module, &split(), Policy::Partial)?.omissions.len(), 1);
    Ok(())
}

/// DWARF 5 section 7.3.2: no reference leads out of a split unit, so that neither procedure has a location.
#[test]
fn procedures_that_reference_another_unit_are_omitted() -> eitri::Result<()> {
    let mut m = Builder::new(Target::amdgpu(Gfx::GFX1100, Wave::W32)?);
    let [a, b] = ["a.c", "b.c"].map(|name| m.unit(name));
    let int = m.base_type(a, "int", BaseEncoding::Signed, 32)?;
    let there = m.constant(a, "there", int, &[1, 0, 0, 0])?;
    let direct = m.procedure(b, &Loc::pointer_to(there, 0))?;
    let by_call = m.procedure(b, &Loc::call(direct))?;
    let here = m.procedure(b, &Loc::implicit(&[7]))?;
    let module = m.finish()?;
    for mut consumer in [Consumer::dwarf5(), Consumer::llvm()] {
        consumer.is_split = true;
        let error = lower(&module, &consumer, Policy::Strict).unwrap_err();
        assert!(matches!(error.kind(), ErrorKind::Inexpressible { what: Construct::OtherUnit, .. }));
        assert_eq!(error.at().procedure.as_deref(), Some("procedure0"));
        let written = lower(&module, &consumer, Policy::Partial)?;
        let omitted = |one: &Omission| (one.subject, one.property);
        let omissions: Vec<_> = written.omissions.iter().map(omitted).collect();
        let all = [direct, by_call].map(|one| (Subject::Procedure(one), Property::Location));
        assert_eq!(omissions, all, "{}: all but {here}", consumer.name);
        let main = new_object(module.target(), &ObjectCode::text(Vec::new()), &written.sections)?;
        let files = written.split_files(module.target())?;
        let files: Vec<&[u8]> = files.iter().map(|(_, bytes)| &bytes[..]).collect();
        let report = check_split(&module, &consumer, &written.omissions, &main, &files)?;
        assert!(report.is_clean(), "{report}");
        // Plain DWARF 5 may inline procedures in their callers; with locations on the stack each has an entry.
        if consumer.name != "DWARF 5" {
            let report = check_split(&module, &consumer, &[], &main, &files)?;
            assert_eq!(report.findings.len(), 2, "{report}");
        }
    }
    Ok(())
}

#[test]
fn the_bytes_do_not_depend_on_who_writes_which_unit_when() {
    let module = module().unwrap();
    let consumer = split();
    let units = &Units::new(&module, &consumer, Policy::Strict).unwrap();
    let written: Vec<_> = std::thread::scope(|scope| {
        let ids: Vec<_> = module.units().map(|(id, _)| id).collect();
        let threads: Vec<_> =
            ids.into_iter().rev().map(|id| scope.spawn(move || units.lower(id).unwrap())).collect();
        threads.into_iter().map(|thread| thread.join().unwrap()).collect()
    });
    assert_eq!(units.link(written).unwrap(), lower(&module, &consumer, Policy::Strict).unwrap());
}

/// Bytes of a section.
fn bytes<'s>(sections: &'s mut [Section], name: &str) -> &'s mut Vec<u8> {
    &mut sections.iter_mut().find(|section| section.name == name).unwrap().bytes
}

#[test]
fn files_that_do_not_belong_together_are_found() {
    // In the header of a DWARF 5 unit in the 32-bit format, the id is at offset 12.
    const ID: usize = 12;
    type Fault = fn(&mut Lowered);
    let faults: &[(&str, Fault)] = &[
        ("another number in the file", |w| bytes(&mut w.split[0].sections, ".debug_info.dwo")[ID] ^= 1),
        ("another number in the skeleton", |w| bytes(&mut w.sections, ".debug_info")[ID] ^= 1),
        ("another name", |w| {
            let info = bytes(&mut w.sections, ".debug_info");
            let at = info.windows(7).position(|name| name == b"a.c.dwo").unwrap();
            info[at] = b'c';
        }),
        ("the addresses of the other unit", |w| {
            let info = w.sections.iter_mut().find(|section| section.name == ".debug_info").unwrap();
            let target = RelocationTarget::Section(".debug_addr");
            let bases: Vec<_> =
                (0..info.relocations.len()).filter(|&at| info.relocations[at].target == target).collect();
            info.relocations[bases[0]].addend = info.relocations[bases[1]].addend;
        }),
        ("an address further on", |w| {
            let info = w.sections.iter_mut().find(|section| section.name == ".debug_info").unwrap();
            let target = RelocationTarget::Section(".debug_addr");
            info.relocations.iter_mut().find(|one| one.target == target).unwrap().addend += 8;
        }),
        ("an address by the next index", |w| {
            let lists = bytes(&mut w.split[0].sections, ".debug_loclists.dwo");
            let at = lists.iter().position(|&byte| byte == gimli::DW_LLE_startx_length.0).unwrap();
            lists[at + 1] ^= 1;
        }),
        ("a string by the next index", |w| {
            let offsets = bytes(&mut w.split[0].sections, ".debug_str_offsets.dwo");
            let header = 8;
            let first = offsets[8..12].to_vec();
            let second = offsets[12..16].to_vec();
            offsets[header..16].copy_from_slice(&[second, first].concat());
        }),
        ("a file that is missing", |w| drop(w.split.remove(1))),
        ("a file twice", |w| {
            let first = w.split[0].clone();
            w.split.push(first);
        }),
        ("a linker is needed", |w| {
            let name = ".debug_info.dwo";
            let info = w.split[0].sections.iter_mut().find(|section| section.name == name).unwrap();
            let at = info.bytes.len() as u64 - 4;
            let bytes: [u8; 4] = info.bytes[at as usize..].try_into().unwrap();
            info.bytes[at as usize..].fill(0);
            let addend = u32::from_le_bytes(bytes).into();
            let target = RelocationTarget::Section(name);
            info.relocations.push(eitri::emit::Relocation { offset: at, bytes: 4, target, addend });
        }),
    ];
    let module = module().unwrap();
    for (what, fault) in faults {
        let mut written = lower(&module, &split(), Policy::Strict).unwrap();
        assert!(report(&module, &written).is_clean());
        fault(&mut written);
        assert!(!report(&module, &written).is_clean(), "{what}");
    }
}
