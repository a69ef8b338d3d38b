//! The promise: attaching debug instructions takes memory of a few times the size of the module.

#[path = "../benches/emission/memory.rs"]
mod memory;

use eitri::build::Builder;
use eitri::model::{BaseEncoding, Module, SourceLine};
use eitri::spirv::{
    Binding, DescribedModule, Mode, ModuleBuilder, ModuleSource, Provider, Set, attach, describe,
};
use eitri::target::{Gfx, Target, Wave};

#[global_allocator]
static MEMORY: memory::Counting = memory::Counting;

/// Functions with variables, each declared and with a value, on a line of its own.
fn large(functions: u32, variables: u32) -> eitri::Result<(Vec<u32>, Module, Binding)> {
    let mut s = ModuleBuilder::new(1, 1);
    s.capability(4).capability(5).capability(6).memory_model(2, 2);
    let void = s.global(19, None, &[])?;
    let uint = s.global(21, None, &[32, 0])?;
    let pointer = s.global(32, None, &[7, uint.0])?;
    let kind = s.global(33, None, &[void.0, uint.0])?;

    let mut m = Builder::new(Target::amdgpu(Gfx::GFX1030, Wave::W32)?);
    let unit = m.unit("large.cl");
    let file = m.primary_file(unit)?;
    let ty = m.base_type(unit, "uint", BaseEncoding::Unsigned, 32)?;
    let mut binding = Binding::new();
    for number in 0..functions {
        let name = format!("f{number}");
        let line = |line| SourceLine::new(file, number * 100 + line).column(3);
        let described = m.function(unit, &name)?.code(&name, 0x1000).declared(line(1)).id();
        let function = s.function(void, 0, kind)?;
        binding.function(described, function);
        let x = s.parameter(uint)?;
        s.block()?;
        let places =
            (0..variables).map(|_| s.result(59, pointer, &[7])).collect::<eitri::Result<Vec<_>>>()?;
        for (number, place) in (0..).zip(places) {
            let variable = m.variable(described, &format!("v{number}"), ty)?.declared(line(number)).id();
            let start = s.position()?;
            s.effect(62, &[place.0, x.0])?;
            binding.declare(start, variable, Provider::value(place)).line(start, line(number));
        }
        s.effect(253, &[])?.end_function()?;
    }
    Ok((s.finish()?, m.finish()?, binding))
}

/// Functions with named variables and lines, without debug instructions.
fn named(functions: u32, variables: u32) -> eitri::Result<Vec<u32>> {
    let mut s = ModuleBuilder::new(1, 3);
    s.capability(1).memory_model(0, 1);
    let file = s.string("/src/large.wgsl")?;
    let float = s.global(22, None, &[32])?;
    let one = s.global(43, Some(float), &[0x3f80_0000])?;
    let pointer = s.global(32, None, &[7, float.0])?;
    let kind = s.global(33, None, &[float.0, float.0])?;
    for number in 0..functions {
        let function = s.function(float, 0, kind)?;
        s.name(function, &format!("f{number}"))?;
        let mut last = s.parameter(float)?;
        s.name(last, "p")?;
        s.block()?;
        let places =
            (0..variables).map(|_| s.result(59, pointer, &[7])).collect::<eitri::Result<Vec<_>>>()?;
        for (line, place) in (number * 100..).zip(places) {
            s.name(place, &format!("v{line}"))?.effect(8, &[file.0, line + 1, 5])?;
            last = s.result(129, float, &[last.0, one.0])?;
            s.effect(62, &[place.0, last.0])?;
        }
        s.effect(254, &[last.0])?.end_function()?;
    }
    s.finish()
}

/// Describes, attaches and compares, as the command `attach` does, in less than five times the written words.
fn describing_attaching_and_comparing() {
    let mut ratios = Vec::new();
    for functions in [500, 1000] {
        let words = named(functions, 20).expect("is built");
        let mode = Mode::vulkan();
        let attaching = memory::peak_of(|| {
            let described = describe(&words, &ModuleSource::default()).expect("is described");
            let DescribedModule { words, module, binding, .. } = described;
            4 * attach(&words, &module, &binding, &mode).expect("is attached").words.len()
        });
        let comparing = memory::peak_of(|| {
            let described = describe(&words, &ModuleSource::default()).expect("is described");
            let DescribedModule { words, module, binding, .. } = described;
            let attached = attach(&words, &module, &binding, &mode).expect("is attached");
            drop(words);
            let checked = attached.check(&module, &binding, &mode).expect("is read");
            assert!(checked.is_clean(), "{checked}");
            4 * attached.words.len()
        });
        println!(
            "{} bytes: {} written, {:.2} bytes for each of them without a comparison, {:.2} with one",
            4 * words.len(),
            comparing.written,
            attaching.ratio(),
            comparing.ratio()
        );
        ratios.extend([attaching.ratio(), comparing.ratio()]);
    }
    assert!(ratios.iter().all(|&ratio| ratio < 5.0), "{ratios:?}");
}

/// A single test, as memory is counted across threads.
#[test]
fn a_few_times_the_words_are_enough() {
    describing_attaching_and_comparing();
    attaching();
}

/// Attaching a description that is there takes less than three times the words.
fn attaching() {
    for set in Set::ALL {
        let mode = Mode::exact(set);
        let mut ratios = Vec::new();
        for functions in [1000, 2000] {
            let (words, module, binding) = large(functions, 20).expect("is built");
            let peak = memory::peak_of(|| {
                let attached = attach(&words, &module, &binding, &mode).expect("is attached");
                attached.words.len() * 4
            });
            let allocations = memory::allocations_of(|| drop(attach(&words, &module, &binding, &mode)));
            println!("{set:?}: {:.2} bytes for each of the words, {allocations} allocations", peak.ratio());
            ratios.push(peak.ratio());
        }
        assert!(ratios.iter().all(|&ratio| ratio < 3.0), "{ratios:?}");
    }
}
