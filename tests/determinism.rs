//! The promise: the bytes depend on the description only, not on hash order, on the process, or on the order in which
//! locations and rows are described.

use crate::common::consumers;
use crate::common::random;

use std::process::Command;

use consumers::{combinations, consumers, named, varied};
use eitri::Result;
use eitri::build::Builder;
use eitri::consumer::Tables;
use eitri::emit::Section;
use eitri::emit::elf::{ObjectCode, new_object};
use eitri::error::{ErrorKind, Identity};
use eitri::lower::{Consumer, Policy, Stream, Units, lower};
use eitri::model::{BaseEncoding, LineTableRow, Loc, Module, Val};
use eitri::target::{Gfx, Target, Wave};
use proptest::prelude::*;
use random::{Choices, choices, fixed_choices, module, targets};

/// All sections of a module, for every consumer.
fn written(module: &Module) -> Vec<Section> {
    let written = consumers().map(|consumer| lower(module, &consumer, Policy::Partial).expect("is written"));
    written.into_iter().flat_map(|lowered| lowered.sections).collect()
}

fn gpu() -> Result<Target> {
    Target::amdgpu(Gfx::GFX1030, Wave::W32)
}

/// A unit with enough names, types, abbreviations, addresses and equal lists to make the tables grow.
fn large_unit(m: &mut Builder, unit: usize) -> Result<()> {
    let v3 = m.target().vgpr(3)?;
    let s4 = m.target().sgpr(4)?;
    let unit = m.unit(&format!("{unit}.cl"));
    let int = m.base_type(unit, "int", BaseEncoding::Signed, 32)?;
    for function in 0..40 {
        let name = format!("f{function}");
        let f = m.function(unit, &name)?.code(&name, 0x100).id();
        let array = m.array(unit, int, &[Some(function + 1)])?;
        m.typedef(unit, &format!("array{function}"), Some(array))?;
        let symbol = m.symbol(&format!("f{}", function * 7 % 40));
        for index in 0..8 {
            let name = format!("x{}", index * function % 60);
            let mut x = m.variable(f, &name, int)?;
            x.live(0..4 + 4 * (index % 3), Loc::per_lane(v3))?
                .live(0x20..0x40, Loc::value(Val::register(s4).plus(index as i64)))?
                .live(0x40..0x60, Loc::global_symbol(symbol))?;
            if index % 2 == 0 {
                x.external();
            }
            if index % 3 == 0 {
                x.artificial();
            }
        }
    }
    Ok(())
}

/// Three such units.
fn large() -> Result<Module> {
    let mut m = Builder::new(gpu()?);
    (0..3).try_for_each(|unit| large_unit(&mut m, unit))?;
    m.finish()
}

fn everything() -> Vec<Vec<Section>> {
    let mut all = vec![written(&large().expect("every call is right"))];
    for seed in 0..40 {
        all.push(written(&module(&fixed_choices(seed, 600), &targets()[seed as usize % 6])));
    }
    all
}

/// Whether lowering the units on two threads, in any order, gives the same bytes as sequential lowering: `order`
/// chooses the next of the remaining units.
fn same_on_threads(module: &Module, consumer: &Consumer, mut order: impl FnMut(usize) -> usize) -> bool {
    let one_by_one = lower(module, consumer, Policy::Partial).expect("is written");
    let units = &Units::new(module, consumer, Policy::Partial).expect("the version is there");
    let mut left: Vec<_> = module.units().map(|(id, _)| id).collect();
    let shuffled: Vec<_> = (1..=left.len()).rev().map(|count| left.remove(order(count))).collect();
    let written = std::thread::scope(|scope| {
        // Two threads, each with every second unit.
        let threads = [0, 1].map(|first| {
            let mine: Vec<_> = shuffled.iter().skip(first).step_by(2).copied().collect();
            scope.spawn(move || mine.into_iter().map(|unit| units.lower(unit)).collect::<Result<Vec<_>>>())
        });
        threads.map(|thread| thread.join().expect("no panic").expect("is written"))
    });
    units.link(written.into_iter().flatten().collect()).expect("is joined") == one_by_one
}

#[test]
fn units_on_threads_for_everyone() {
    let large = large().expect("every call is right");
    for consumer in combinations() {
        assert!(same_on_threads(&large, &consumer, |count| count / 2), "{}", named(&consumer));
    }
}

/// A module with one unit of [`large`].
fn module_of(unit: usize) -> Result<Module> {
    let mut m = Builder::new(gpu()?);
    // Strings have other numbers in each module.
    for other in 0..unit {
        m.symbol(&format!("other_{other}"));
    }
    large_unit(&mut m, unit)?;
    m.finish()
}

/// One module for each unit of [`large`], lowered one after the other.
fn streamed(consumer: &Consumer) -> Result<Vec<Section>> {
    let mut stream = Stream::new(consumer, Policy::Partial);
    for unit in 0..3 {
        stream.push(&module_of(unit)?)?;
    }
    stream.finish()
}

/// The same, from one builder, with a wrong module in between.
fn handed_over(consumer: &Consumer) -> Result<Vec<Section>> {
    let mut stream = Stream::new(consumer, Policy::Partial);
    let mut m = Builder::new(gpu()?);
    for unit in 0..3 {
        large_unit(&mut m, unit)?;
        m.hand_over(|module| stream.push(module))?;
        large_unit(&mut m, 7)?;
        m.symbol("");
        let error = m.hand_over(|module| stream.push(module)).expect_err("symbol name is empty");
        assert!(error.to_string().contains("symbol name is empty"), "{error}");
    }
    stream.finish()
}

/// The same, each module described and lowered on a thread of its own.
fn streamed_from_threads(consumer: &Consumer) -> Result<Vec<Section>> {
    let lowered = std::thread::scope(|scope| {
        let threads = [0, 1, 2].map(|unit| {
            scope.spawn(move || {
                let module = module_of(unit)?;
                let units = Stream::lower(&module, consumer, Policy::Partial)?;
                Ok::<_, eitri::Error>((module, units))
            })
        });
        threads.map(|thread| thread.join().expect("no panic"))
    });
    let mut stream = Stream::new(consumer, Policy::Partial);
    for one in lowered {
        let (module, units) = one?;
        stream.append(&module, units)?;
    }
    stream.finish()
}

#[test]
fn units_in_modules_of_their_own_for_everyone() -> Result<()> {
    let large = large()?;
    for plain in combinations() {
        let names = plain.version == 5;
        let pubs = plain.version < 5;
        let mut with_tables = plain.clone();
        with_tables.tables = Tables { names, pubs, aranges: true, ..with_tables.tables };
        for consumer in [plain, with_tables] {
            let whole = lower(&large, &consumer, Policy::Partial)?.sections;
            let streamed = streamed(&consumer)?;
            assert!(streamed_from_threads(&consumer)? == streamed, "{}", named(&consumer));
            assert!(handed_over(&consumer)? == streamed, "{}", named(&consumer));
            if consumer.tables.names {
                // The names are in another order in `.debug_str`.
                let size = |section: &Section| (section.name, section.bytes.len(), section.relocations.len());
                let sizes = |all: &[Section]| all.iter().map(size).collect::<Vec<_>>();
                assert_eq!(sizes(&streamed), sizes(&whole), "{}", named(&consumer));
            } else {
                assert!(streamed == whole, "{}", named(&consumer));
            }
        }
    }
    let mut split = Consumer::dwarf5();
    split.is_split = true;
    assert!(streamed(&split).is_err());
    Ok(())
}

#[test]
fn modules_of_several_builders_in_any_order() -> Result<()> {
    let mut m = Builder::new(gpu()?);
    let mut described = |unit| -> Result<Module> {
        large_unit(&mut m, unit)?;
        m.hand_over(|module| Ok(module.clone()))
    };
    let of_one = [described(0)?, described(1)?, described(2)?];
    let apart = [module_of(0)?, module_of(1)?, module_of(2)?];
    let mut consumer = Consumer::llvm();
    consumer.tables = Tables { names: true, pubs: false, aranges: true, ..Tables::default() };
    let written = |modules: &[&Module]| -> Result<Vec<Section>> {
        let mut stream = Stream::new(&consumer, Policy::Partial);
        modules.iter().try_for_each(|module| stream.push(module).map(drop))?;
        stream.finish()
    };
    for order in [[0, 1, 2, 0], [2, 0, 1, 2], [1, 1, 0, 2]] {
        let expected = written(&order.map(|unit| &apart[unit]))?;
        assert!(written(&order.map(|unit| &of_one[unit]))? == expected, "{order:?}");
        let [first, second, third, fourth] = order;
        let mixed = [&of_one[first], &apart[second], &of_one[third], &of_one[fourth]];
        assert!(written(&mixed)? == expected, "{order:?}");
    }
    Ok(())
}

#[test]
fn modules_of_a_stream_have_one_target() -> Result<()> {
    let consumer = Consumer::dwarf5();
    let mut stream = Stream::new(&consumer, Policy::Strict);
    stream.push(&Builder::new(Target::x86_64()).finish()?)?;
    let mut m = Builder::new(Target::x86_64());
    m.unit("a.c");
    let error = stream.append(&m.finish()?, Vec::new()).expect_err("a unit is missing");
    assert!(error.to_string().contains("a unit is missing or occurs twice"), "{error}");
    let error = stream.push(&Builder::new(Target::aarch64()).finish()?).expect_err("another target");
    let [expected, actual] = ["x86_64", "aarch64"].map(|name| Identity::Name(name.into()));
    assert_eq!(*error.kind(), ErrorKind::WrongTarget { target: "x86_64".into(), expected, actual });
    assert_eq!(error.to_string(), "modules of one program have different targets: x86_64 and aarch64");
    assert_eq!(Stream::new(&consumer, Policy::Strict).finish()?, []);
    Ok(())
}

/// FNV-1a, a hash that is equal in every process.
fn hash(all: &[Vec<Section>]) -> u64 {
    let mut hash = 0xcbf2_9ce4_8422_2325u64;
    for section in all.iter().flatten() {
        for byte in section.name.bytes().chain(section.bytes.iter().copied()) {
            hash = (hash ^ u64::from(byte)).wrapping_mul(0x100_0000_01b3);
        }
        for byte in format!("{:?}", section.relocations).bytes() {
            hash = (hash ^ u64::from(byte)).wrapping_mul(0x100_0000_01b3);
        }
    }
    hash
}

#[test]
fn output_is_equal_twice_in_a_process() {
    assert_eq!(everything(), everything());
}

const CHILD: &str = "EITRI_TEST_HASH";

#[test]
fn output_is_equal_in_several_processes() {
    if std::env::var_os(CHILD).is_some() {
        println!("hash {:#x}", hash(&everything()));
        return;
    }
    let expected = format!("hash {:#x}", hash(&everything()));
    for _ in 0..2 {
        let child = Command::new(std::env::current_exe().expect("the test"))
            .args(["determinism::output_is_equal_in_several_processes", "--exact", "--nocapture"])
            .env(CHILD, "1")
            .output()
            .expect("the test runs again");
        let printed = String::from_utf8_lossy(&child.stdout);
        assert!(printed.contains(&expected), "expected {expected} in:\n{printed}");
    }
}

#[test]
fn an_object_twice() -> Result<()> {
    let object = || {
        let module = large()?;
        let lowered = lower(&module, &Consumer::llvm(), Policy::Strict)?;
        let mut code = ObjectCode::text(vec![0; 0x100 * 40]);
        for function in 0..40 {
            code = code.with_function(format!("f{function}"), 0x100 * function, 0x100);
        }
        new_object(module.target(), &code, &lowered.sections)
    };
    assert!(object()? == object()?);
    Ok(())
}

/// A function with locations and rows, described in the given order.
fn in_order(order: &[usize]) -> Module {
    let gpu = Target::amdgpu(Gfx::GFX1030, Wave::W32).expect("a target");
    let vgpr = |n: usize| gpu.vgpr(n as u16).expect("a register");
    let mut m = Builder::new(gpu.clone());
    let symbols: Vec<_> = (0..4).map(|index| m.symbol(&format!("s{index}"))).collect();
    let unit = m.unit("a.cl");
    let int = m.base_type(unit, "int", BaseEncoding::Signed, 32).expect("a type");
    let file = m.primary_file(unit).expect("a file");
    let f = m.function(unit, "f").expect("a function").code("f", 0x400).kernel().id();
    for name in ["a", "b"] {
        let mut variable = m.variable(f, name, int).expect("a variable");
        for &index in order {
            let loc = match index % 4 {
                0 => Loc::per_lane(vgpr(index)),
                1 => Loc::lane(vgpr(index), index as u32 % 32),
                2 => Loc::global_symbol(symbols[index / 4 % 4]),
                _ => Loc::stack_slot(4 * index as i64),
            };
            let start = 16 * index as u64;
            variable.live(start..start + 12, loc).expect("a place");
        }
    }
    for &index in order {
        m.row(f, LineTableRow::new(4 * index as u64, file, 3 * index as u32)).expect("a row");
    }
    m.finish().expect("every call is right")
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn units_on_threads(choices in choices(600), target in 0..6usize, vary in choices(100)) {
        let module = module(&choices, &targets()[target]);
        let mut vary = Choices::new(&vary);
        for consumer in consumers() {
            let consumer = varied(&consumer, |count| vary.below(count));
            prop_assert!(same_on_threads(&module, &consumer, |count| vary.below(count)), "{}", named(&consumer));
        }
    }

    #[test]
    fn output_is_independent_of_unit_order(order in Just((0..32).collect::<Vec<usize>>()).prop_shuffle()) {
        let sorted: Vec<usize> = (0..32).collect();
        prop_assert_eq!(written(&in_order(&order)), written(&in_order(&sorted)));
    }
}
