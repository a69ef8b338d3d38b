//! The promise: types are in type units under their signatures, and a linker keeps one of each.

use crate::common::random;
use crate::common::tools;

use std::collections::BTreeMap;

use eitri::Result;
use eitri::build::{Builder, DataMember, Extent, Template};
use eitri::emit::Section;
use eitri::emit::elf::{ObjectCode, new_object};
use eitri::error::{Construct, ErrorKind};
use eitri::lower::{Consumer, Lowered, Policy, Units, lower};
use eitri::model::{
    BaseEncoding, CompositeKind, Language, Loc, Module, Passed, Qualifier, SourceLine, TypeId, UnitId, Val,
    VariantValues,
};
use eitri::omission::Reason;
use eitri::read::{Dwarf, Object};
use eitri::target::{Gfx, SpaceId, Target, Wave};
use gimli::constants as dw;
use pretty_assertions::{assert_eq, assert_ne};
use random::{fixed_choices, module, targets};
use tools::{Folder, Tool};

const DWARFDUMP: Tool = Tool::new("llvm-dwarfdump-19", "llvm-19");
const LLD: Tool = Tool::new("ld.lld-19", "lld-19");

/// Consumers with type units: in `.debug_types`, and in `.debug_info`.
fn consumers() -> [Consumer; 2] {
    [4, 5].map(|version| {
        let mut consumer = Consumer::dwarf5();
        (consumer.version, consumer.has_type_units) = (version, true);
        consumer
    })
}

fn written(module: &Module, consumer: &Consumer) -> Lowered {
    lower(module, consumer, Policy::Partial).expect("is written")
}

/// Signatures of the type units, in order.
fn signatures(sections: &[Section]) -> Vec<u64> {
    sections.iter().filter_map(|section| section.group).collect()
}

/// Lowers the module for both consumers and checks the objects. Returns the names of the types in type units.
fn moved(module: &Module, code: &ObjectCode) -> Vec<String> {
    let mut all = Vec::new();
    for consumer in consumers() {
        let written = written(module, &consumer);
        let object = new_object(module.target(), code, &written.sections).expect("an object");
        let report = eitri::check(module, &consumer, &written.omissions, &object).expect("is read");
        assert!(report.is_clean(), "DWARF {}: {report}", consumer.version);
        let object = Object::read(&object).expect("an object");
        let dwarf = Dwarf::read(&object).expect("is read");
        let types = dwarf.units().iter().filter(|unit| unit.kind == dw::DW_UT_type);
        let name = |unit: &eitri::read::Unit<'_>| dwarf.entry_at(unit.type_offset?)?.name();
        all.push(types.map(|unit| name(unit).expect("a type with a name").into_owned()).collect::<Vec<_>>());
    }
    let [four, five] = &all[..] else { unreachable!() };
    assert_eq!(four, five);
    all.remove(1)
}

/// A module with one unit.
fn one(describe: impl FnOnce(&mut Builder, UnitId, TypeId) -> Result<()>) -> Module {
    let mut m = Builder::new(Target::x86_64());
    let unit = m.unit("a.cpp");
    m.describe_unit(unit).unwrap().language(Language::CPP14);
    let int = m.base_type(unit, "int", BaseEncoding::Signed, 32).unwrap();
    describe(&mut m, unit, int).expect("every call was right");
    m.finish().unwrap()
}

/// Types with known signatures of gcc.
fn known(m: &mut Builder, unit: UnitId, int: TypeId) -> Result<()> {
    let float = m.base_type(unit, "float", BaseEncoding::Float, 32)?;
    let ns = m.namespace(unit, "ns")?;
    let color = m.enumeration(unit, Some("color"), int, &[("red", 0), ("green", 26)])?;
    m.describe_type(color)?.within(ns)?;
    let base = m.structure(unit, Some("base"), 4)?;
    m.describe_type(base)?.within(ns)?;
    m.member(base, "id", int, 0)?;
    let derived = m.structure(unit, Some("derived"), 16)?;
    m.describe_type(derived)?.within(ns)?;
    let real = m.qualified(unit, Qualifier::Volatile, Some(float))?;
    m.base(derived, base, 0, None)?;
    m.member(derived, "shade", color, 4)?;
    let other = m.qualified(unit, Qualifier::Const, Some(float))?;
    m.member(derived, "real", real, 8)?.member(derived, "other", other, 12)?;
    let pair = m.structure(unit, Some("pair"), 8)?;
    m.member(pair, "a", int, 0)?.member(pair, "b", int, 4)?;
    Ok(())
}

/// Signatures by `g++ -gdwarf-5 -gstrict-dwarf -fdebug-types-section` (12.2) for
///
/// ```cpp
/// namespace ns {
/// enum color : int { red, green = 26 };
/// struct base { int id; };
/// struct derived : base { color shade; volatile float real; const float other; };
/// }
/// struct pair { int a; int b; };
/// ```
///
/// gcc omits `DW_AT_enum_class` and the offsets of bit fields and union members, and writes sizes of pointers: none of
/// these occur here.
const OF_GCC: [(&str, u64); 4] = [
    ("color", 0xe247_e394_620c_4525),
    ("base", 0x826d_3fcd_4a99_83cd),
    ("derived", 0x19e3_795d_9eca_2305),
    ("pair", 0x1751_a8f1_76f0_f613),
];

#[test]
fn signatures_are_those_of_gcc() {
    let module = one(known);
    let names = moved(&module, &ObjectCode::text(vec![0xc3]));
    for consumer in consumers() {
        let found = signatures(&written(&module, &consumer).sections);
        let found: Vec<(&str, u64)> = names.iter().map(String::as_str).zip(found).collect();
        assert_eq!(found, OF_GCC);
        // `check` computes the signatures from the entries, so that these are gcc's as well.
        let object =
            new_object(module.target(), &ObjectCode::text(vec![0xc3]), &written(&module, &consumer).sections);
        let report = eitri::check(&module, &consumer, &[], &object.expect("an object")).expect("is read");
        assert!(report.is_clean(), "{report}");
    }
}

/// A recursive list type, with everything that is copied into a type unit.
fn list(m: &mut Builder, unit: UnitId, int: TypeId) -> Result<TypeId> {
    let file = m.primary_file(unit)?;
    let node = m.structure(unit, Some("node"), 48)?;
    m.describe_type(node)?.declared(SourceLine::new(file, 3));
    let to_node = m.pointer(unit, Some(node))?;
    let row = m.array(unit, int, &[Some(2), Some(3)])?;
    let number = m.typedef(unit, "number", Some(int))?;
    let compare = m.subroutine(unit, Some(int), &[to_node, to_node])?;
    let to_compare = m.pointer(unit, Some(compare))?;
    let hidden = m.incomplete(unit, CompositeKind::Struct, "hidden")?;
    let to_hidden = m.pointer(unit, Some(hidden))?;
    let inner = m.union(unit, None, 4)?;
    m.member(inner, "n", number, 0)?.member(inner, "all", int, 0)?;
    m.data_member(node, DataMember::new("next", to_node, 0).declared(SourceLine::new(file, 4)))?;
    m.member(node, "row", row, 8)?.member(node, "compare", to_compare, 32)?;
    m.member(node, "", inner, 40)?;
    m.member(node, "hidden", to_hidden, 40)?;
    Ok(node)
}

#[test]
fn movable_types_get_type_units() {
    let module = one(|m, unit, int| {
        let node = list(m, unit, int)?;
        let file = m.primary_file(unit)?;
        m.variable(unit, "first", node)?.declared(SourceLine::new(file, 9));
        // A Rust enum.
        let option = m.structure(unit, Some("option"), 8)?;
        let part = m.variant_part(option, DataMember::new("", int, 0))?;
        m.variant(part, &[VariantValues::Single(0)])?;
        let some = m.variant(part, &[VariantValues::Range(1, 2), VariantValues::Single(7)])?;
        m.member(some, "value", int, 4)?;
        let two = m.structure(unit, Some("two"), 16)?;
        m.member(two, "a", option, 0)?.member(two, "b", option, 8)?;
        let tile = m.class(unit, Some("tile"), 4)?;
        m.template(tile, Template::value("N", int, &4u32.to_le_bytes()))?;
        m.template(tile, Template::ty("T", Some(node)))?;
        m.member(tile, "n", int, 0)?;
        let to_tile = m.member_pointer(unit, tile, int)?;
        m.typedef(unit, "in_tile", Some(to_tile))?;
        Ok(())
    });
    assert_eq!(moved(&module, &ObjectCode::text(vec![0xc3])), ["node", "option", "two", "tile"]);
}

#[test]
fn immovable_types_stay_in_their_unit() {
    let module = one(|m, unit, int| {
        let k = m.function(unit, "k")?.code("k", 1).id();
        let n = m.variable(k, "n", int)?.live(0..1, Loc::value(Val::constant(4)))?.id();
        // Unnamed, incomplete, or local.
        let none = m.structure(unit, None, 4)?;
        m.member(none, "n", int, 0)?;
        let outside = m.incomplete(unit, CompositeKind::Class, "outside")?;
        let local = m.structure(unit, Some("local"), 4)?;
        m.describe_type(local)?.within(k)?;
        // With declarations in its scope.
        let class = m.class(unit, Some("class"), 8)?;
        m.static_member(class, "count", int)?;
        let nested = m.structure(unit, Some("nested"), 8)?;
        m.describe_type(nested)?.within(class)?;
        // With elements counted by a variable or an expression, or with a location or an expression.
        let counted = m.structure(unit, Some("counted"), 8)?;
        let by_variable = m.array_of(unit, int, &[Extent::variable(n)], None)?;
        let to_array = m.pointer(unit, Some(by_variable))?;
        m.member(counted, "to", to_array, 0)?;
        let placed = m.structure(unit, Some("placed"), 4)?;
        m.template(placed, Template::value_at("P", int, Loc::memory(SpaceId::DEFAULT, Val::constant(8))))?;
        // With a reference to one of these.
        let user = m.structure(unit, Some("user"), 8)?;
        let to_nested = m.pointer(unit, Some(nested))?;
        m.member(user, "to", to_nested, 0)?;
        let users = m.structure(unit, Some("users"), 8)?;
        m.member(users, "all", user, 0)?;
        // Independent of these.
        let free = m.structure(unit, Some("free"), 8)?;
        let to_outside = m.pointer(unit, Some(outside))?;
        m.member(free, "to", to_outside, 0)?;
        Ok(())
    });
    assert_eq!(moved(&module, &ObjectCode::text(vec![0xc3]).with_function("k", 0, 1)), ["free"]);
}

#[test]
fn the_same_type_has_one_signature() {
    let alone = one(|m, unit, int| list(m, unit, int).map(drop));
    let among_others = one(|m, unit, int| {
        known(m, unit, int)?;
        let of = m.array(unit, int, &[Some(7)])?;
        m.pointer(unit, Some(of))?;
        list(m, unit, int).map(drop)
    });
    let changed = one(|m, unit, int| {
        let node = list(m, unit, int)?;
        m.member(node, "more", int, 44).map(drop)
    });
    for consumer in consumers() {
        let of = |module| signatures(&written(module, &consumer).sections);
        let [node] = of(&alone)[..] else { panic!("one type") };
        assert!(of(&among_others).contains(&node));
        let [other] = of(&changed)[..] else { panic!("one type") };
        assert_ne!(node, other);
    }
}

/// Two units with `node`, which points to a `list` whose size depends on the unit.
fn two_units(bytes: [u64; 2], lines: [u32; 2]) -> Module {
    let mut m = Builder::new(Target::x86_64());
    for (name, (bytes, line)) in ["a.c", "b.c"].into_iter().zip(bytes.into_iter().zip(lines)) {
        let unit = m.unit(name);
        let header = m.file(unit, "list.h", None).unwrap();
        let list = m.structure(unit, Some("list"), bytes).unwrap();
        let to_list = m.pointer(unit, Some(list)).unwrap();
        let node = m.structure(unit, Some("node"), 8).unwrap();
        m.member(node, "list", to_list, 0).unwrap();
        m.describe_type(node).unwrap().declared(SourceLine::new(header, line));
    }
    m.finish().unwrap()
}

#[test]
fn two_units_share_what_is_the_same() {
    let code = ObjectCode::text(vec![0xc3]);
    assert_eq!(moved(&two_units([4, 4], [3, 3]), &code), ["list", "node"]);
    // The target of a pointer is not part of a signature, so that the single copy of `node` must not depend on it.
    assert_eq!(moved(&two_units([4, 8], [3, 3]), &code), ["list", "list"]);
    assert_eq!(moved(&two_units([4, 4], [3, 5]), &code), ["list"]);
}

/// The calling convention is not part of a signature either, and is encoded in each version.
#[test]
fn objects_that_are_passed_otherwise_are_of_other_types() {
    let mut m = Builder::new(Target::x86_64());
    for (name, passed) in [("a.cc", Passed::ByValue), ("b.cc", Passed::ByReference)] {
        let unit = m.unit(name);
        let list = m.structure(unit, Some("list"), 4).unwrap();
        m.describe_type(list).unwrap().passed(passed).unwrap();
    }
    let module = m.finish().unwrap();
    let [four, five] = consumers().map(|consumer| {
        let written = written(&module, &consumer);
        let object = new_object(module.target(), &ObjectCode::default(), &written.sections).unwrap();
        let report = eitri::check(&module, &consumer, &written.omissions, &object).unwrap();
        assert!(report.is_clean(), "DWARF {}: {report}", consumer.version);
        signatures(&written.sections).len()
    });
    assert_eq!((four, five), (0, 0));
}

/// Attributes that the consumer does not know are omitted in type units, too.
#[test]
fn attributes_of_type_units_are_omitted() {
    let module = one(|m, unit, int| {
        let point = m.structure(unit, Some("Point"), 16)?;
        m.describe_type(point)?.alignment(16)?;
        m.member(point, "x", int, 0)?;
        m.variable(unit, "p", point)?.id();
        Ok(())
    });
    // All attributes of DWARF 5 but the alignment.
    let known = (1..=0x8c).map(gimli::DwAt).filter(|&at| at != dw::DW_AT_alignment);
    let known: &'static [gimli::DwAt] = known.collect::<Vec<_>>().leak();
    for mut consumer in consumers() {
        consumer.entries.attributes = Some(known);
        assert!(lower(&module, &consumer, Policy::Strict).is_err());
        let written = written(&module, &consumer);
        assert_eq!(signatures(&written.sections).len(), 1);
        let [omission] = &written.omissions[..] else { panic!("{:?}", written.omissions) };
        assert_eq!(omission.reason, Reason::Inexpressible(Construct::Attribute(dw::DW_AT_alignment)));
        let object = new_object(module.target(), &code_of(&module), &written.sections).expect("an object");
        let judged = |omissions: &[_]| eitri::check(&module, &consumer, omissions, &object).expect("is read");
        let report = judged(&written.omissions);
        assert!(report.is_clean(), "{report}");
        assert!(!judged(&[]).is_clean());
    }
}

#[test]
fn sections_are_in_groups() {
    let module = one(|m, unit, int| list(m, unit, int).map(drop));
    for (consumer, name) in consumers().into_iter().zip([".debug_types", ".debug_info"]) {
        let written = written(&module, &consumer);
        let grouped: Vec<&Section> =
            written.sections.iter().filter(|section| section.group.is_some()).collect();
        let [node] = grouped[..] else { panic!("one type") };
        assert_eq!(node.name, name);
        // After the length: version, and kind or offset of abbreviations; 8 bytes of signature; offset of the type.
        let header = if consumer.version == 4 { 11 } else { 12 };
        assert_eq!(node.bytes[4], consumer.version as u8);
        assert_eq!(node.bytes[header..][..8], node.group.unwrap().to_le_bytes());
        assert_eq!(node.bytes.len(), 4 + u32::from_le_bytes(node.bytes[..4].try_into().unwrap()) as usize);
        let names: Vec<&str> = written.sections.iter().map(|section| section.name).collect();
        let at = names.iter().position(|&name| name == ".debug_info").unwrap();
        assert_eq!(names[at + 1], name, "{names:?}");
    }
}

#[test]
fn a_linker_keeps_one() {
    let folder = Folder::new();
    for consumer in consumers() {
        let name = |name: &str| folder.path().join(name).to_str().unwrap().to_owned();
        let mut inputs = Vec::new();
        for (unit, function) in [("a.c", "f"), ("b.c", "g")] {
            let mut m = Builder::new(Target::x86_64());
            let id = m.unit(unit);
            let int = m.base_type(id, "int", BaseEncoding::Signed, 32).unwrap();
            let node = list(&mut m, id, int).unwrap();
            let function_id = m.function(id, function).unwrap().code(function, 1).id();
            m.variable(function_id, "head", node).unwrap();
            let module = m.finish().unwrap();
            let code = ObjectCode::text(vec![0xc3]).with_function(function, 0, 1);
            let object = new_object(module.target(), &code, &written(&module, &consumer).sections).unwrap();
            folder.file(unit, object);
            inputs.push(name(unit));
        }
        let mut arguments =
            vec!["-shared".into(), "-z".into(), "noexecstack".into(), "-o".into(), name("out")];
        arguments.extend(inputs);
        let Some(ran) = LLD.run(&arguments) else { return };
        ran.clean();
        if let Some(ran) = DWARFDUMP.run(&["--verify", &name("out")]) {
            assert!(ran.clean().contains("No errors"));
        }
        let linked = std::fs::read(name("out")).unwrap();
        let object = Object::read(&linked).unwrap();
        let dwarf = Dwarf::read(&object).unwrap();
        let count = |kind| dwarf.units().iter().filter(|unit| unit.kind == kind).count();
        assert_eq!((count(dw::DW_UT_compile), count(dw::DW_UT_type)), (2, 1));
        // Two variables have the type.
        let heads = dwarf.entries().filter(|entry| entry.name().as_deref() == Some("head"));
        let types: Vec<_> = heads.map(|head| head.ty().expect("a type")).collect();
        assert!(types.len() == 2 && types[0] == types[1], "{types:?}");
        assert_eq!(types[0].name().as_deref(), Some("node"));
    }
}

#[test]
fn units_come_in_any_order() {
    for seed in 0..20 {
        let module = module(&fixed_choices(seed, 300), &Target::x86_64());
        for consumer in consumers() {
            let units = Units::new(&module, &consumer, Policy::Partial).unwrap();
            let all = std::thread::scope(|scope| {
                let units = &units;
                let mut ids: Vec<UnitId> = module.units().map(|(id, _)| id).collect();
                ids.reverse();
                let threads: Vec<_> =
                    ids.into_iter().map(|id| scope.spawn(move || units.lower(id))).collect();
                threads.into_iter().map(|thread| thread.join().unwrap().unwrap()).collect()
            });
            assert_eq!(units.link(all).unwrap(), written(&module, &consumer));
        }
    }
}

/// Code for the functions of a random module, and the data that they refer to.
fn code_of(module: &Module) -> ObjectCode {
    let functions = module.functions().filter(|(_, function)| function.address.is_some());
    let names: Vec<&str> =
        functions.map(|(_, function)| module.string(function.name)).chain(["table"]).collect();
    let code = ObjectCode::text(vec![0; 0x100 * names.len()]);
    (0..).zip(names).fold(code, |code, (index, name)| code.with_function(name, 0x100 * index, 0x100))
}

#[test]
fn random_modules_mean_what_was_described() {
    let mut counts = BTreeMap::new();
    for (seed, target) in (0..120).zip(targets().iter().cycle()) {
        let module = module(&fixed_choices(seed, 400), target);
        for mut consumer in [Consumer::llvm(), Consumer::dwarf5(), Consumer::dwarf5()] {
            consumer.has_type_units = true;
            if seed % 2 == 0 {
                consumer.version = 4;
            }
            consumer.tables.pubs = consumer.version == 4;
            consumer.tables.aranges = true;
            if seed % 3 == 0 {
                consumer.format = gimli::Format::Dwarf64;
            }
            let written = written(&module, &consumer);
            *counts.entry(consumer.version).or_insert(0) += signatures(&written.sections).len();
            let code = code_of(&module);
            let object = new_object(module.target(), &code, &written.sections).expect("an object");
            let report = eitri::check(&module, &consumer, &written.omissions, &object).expect("is read");
            assert!(report.is_clean(), "seed {seed}, DWARF {}: {report}", consumer.version);
        }
    }
    assert!(counts.values().all(|&count| count > 50), "{counts:?}");
}

#[test]
fn types_may_be_nested_deeply() {
    let module = one(|m, unit, int| {
        let mut of = int;
        for index in 0..50_000 {
            of = match index % 2 {
                0 => m.pointer(unit, Some(of))?,
                _ => m.qualified(unit, Qualifier::Const, Some(of))?,
            };
        }
        let deep = m.structure(unit, Some("deep"), 8)?;
        m.member(deep, "of", of, 0)?;
        Ok(())
    });
    for consumer in consumers() {
        assert_eq!(signatures(&written(&module, &consumer).sections).len(), 1);
    }
}

#[test]
fn bytes_of_a_signature_are_those_of_the_digest_in_either_order() {
    let module = |target| {
        let mut m = Builder::new(target);
        let unit = m.unit("a.cpp");
        let int = m.base_type(unit, "int", BaseEncoding::Signed, 32).unwrap();
        let pair = m.structure(unit, Some("pair"), 8).unwrap();
        m.member(pair, "a", int, 0).unwrap().member(pair, "b", int, 4).unwrap();
        m.finish().unwrap()
    };
    let of = |target| signatures(&written(&module(target), &consumers()[1]).sections);
    assert_eq!(of(Target::x86_64()), [0x1751_a8f1_76f0_f613]);
    let gpu = Target::amdgpu(Gfx::GFX1030, Wave::W32).unwrap();
    assert_eq!(of(gpu), [0x1751_a8f1_76f0_f613]);
    assert_eq!(of(Target::s390x()), [0x13f6_f076_f1a8_5117]);
}

#[test]
fn consumers_without_type_units_are_refused() {
    let module = one(|_, _, _| Ok(()));
    let refused = |change: fn(&mut Consumer)| {
        let mut consumer = consumers()[1].clone();
        change(&mut consumer);
        let error = lower(&module, &consumer, Policy::Partial).expect_err("is refused");
        assert!(matches!(error.kind(), ErrorKind::InvalidConsumer(_)), "{error:?}");
        error.to_string()
    };
    assert_eq!(refused(|it| it.version = 2), "DWARF 2 has no type units; expected DWARF 4 or 5");
    assert_eq!(refused(|it| it.version = 3), "DWARF 3 has no type units; expected DWARF 4 or 5");
    assert_eq!(
        refused(|it| it.tables.names = true),
        "`.debug_names` cannot refer to type units in an object, because a linker may drop them"
    );
    assert_eq!(refused(|it| it.is_split = true), "split units cannot be combined with type units");
}
