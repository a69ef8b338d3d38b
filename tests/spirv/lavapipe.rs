//! A driver builds compute pipelines of modules with debug instructions: lavapipe, Mesa's Vulkan driver without a GPU, or
//! whichever is installed.

use std::collections::HashMap;
use std::ffi::OsString;
use std::path::PathBuf;

use eitri::spirv::{Id, Mode, ModuleLayout, ModuleSource, Set, Words, attach, describe, from_bytes};

use crate::spirv::bytes;
use crate::spirv::naga;
use crate::spirv::tools::{Folder, Tool, skip};

const CC: Tool = Tool::new("cc", "gcc");

const PROGRAM: &str = include_str!("lavapipe.c");

/// A module as clspv makes it of a kernel: arguments in push constants, sizes in specialization constants, reflection.
/// `spirv-as --target-env vulkan1.1 clspv.spvasm -o clspv.spv`.
const CLSPV: &[u8] = include_bytes!("modules/clspv.spv");

/// The program that builds a pipeline; `None` without the loader's headers.
fn program(folder: &Folder) -> Option<PathBuf> {
    let source = folder.file("lavapipe.c", PROGRAM);
    let program = folder.path().join("lavapipe");
    let arguments = [source.clone(), "-o".into(), program.clone(), "-lvulkan".into()];
    let ran = CC.run(&arguments)?;
    if !ran.succeeded {
        skip("the Vulkan loader is not installed (Debian package libvulkan-dev)");
        return None;
    }
    Some(program)
}

/// Entry points of compute shaders, with their names.
fn entry_points(words: &[u32]) -> Vec<String> {
    let points = Words::new(words).expect("is a module").instructions().filter(|it| it.opcode() == 15);
    let computing = points.filter(|it| it.operands()[0] == 5);
    let name = |it: eitri::spirv::Instruction<'_>| {
        let bytes: Vec<u8> = it.operands()[2..].iter().flat_map(|word| word.to_le_bytes()).collect();
        let end = bytes.iter().position(|&byte| byte == 0).expect("an end");
        String::from_utf8(bytes[..end].to_vec()).expect("is text")
    };
    computing.map(name).collect()
}

/// Set, binding and `VkDescriptorType` of each resource.
fn resources(words: &[u32]) -> Vec<[u32; 3]> {
    let words = Words::new(words).expect("is a module");
    let layout = ModuleLayout::new(words).expect("is a module");
    let (mut places, mut blocks) = (HashMap::<u32, [Option<u32>; 2]>::new(), Vec::new());
    for it in words.instructions().filter(|it| it.opcode() == 71) {
        match *it.operands() {
            [id, 34, set] => places.entry(id).or_default()[0] = Some(set),
            [id, 33, binding] => places.entry(id).or_default()[1] = Some(binding),
            [id, 3] => blocks.push(id),
            _ => {}
        }
    }
    let mut all = Vec::new();
    for (id, place) in places {
        let [Some(set), Some(binding)] = place else { continue };
        let variable = layout.definition(Id(id)).expect("is defined");
        let pointer = layout.definition(variable.result_type().expect("a type")).expect("is defined");
        let &[class, to] = pointer.operands() else { panic!("a pointer has two operands") };
        let to = layout.definition(Id(to)).expect("is defined");
        let kind = match (class, to.opcode(), to.operands()) {
            (12, ..) => 7,
            (2, ..) if to.result().is_some_and(|id| blocks.contains(&id.0)) => 7,
            (2, ..) => 6,
            (_, 26, _) => 0,
            (_, 27, _) => 1,
            (_, 25, &[_, _, _, _, _, 2, ..]) => 3,
            (_, 25, _) => 2,
            other => panic!("{other:?}"),
        };
        all.push([set, binding, kind]);
    }
    all.sort_unstable();
    all
}

#[test]
fn a_driver_builds_pipelines() {
    let folder = Folder::new();
    let Some(program) = program(&folder) else { return };
    let tool = Tool::new(program.to_str().expect("is text").to_owned().leak(), "mesa-vulkan-drivers");
    let glslang = from_bytes(include_bytes!("foreign/glslang.g.spv")).expect("is a module");
    let mut modules = vec![("clspv", from_bytes(CLSPV).expect("is a module")), ("glslang", glslang)];
    modules.extend(naga::MODULES.map(|(name, bytes)| (name, naga::words(bytes))));
    let mut built = 0;
    for (name, words) in modules {
        let described = describe(&words, &ModuleSource::default()).expect("is a module");
        let modes = [
            Mode::vulkan(),
            Mode::exact(Set::Shader),
            Mode::exact(Set::Shader101),
            Mode::exact(Set::Shader200),
        ];
        for mode in modes {
            let attached = attach(&described.words, &described.module, &described.binding, &mode);
            let words = attached.expect("is attached").words;
            let file = folder.file("a.spv", bytes(&words));
            let numbers = resources(&words).into_iter().flatten().map(|number| number.to_string().into());
            let numbers: Vec<OsString> = numbers.collect();
            for entry in entry_points(&words) {
                let arguments: Vec<OsString> =
                    [file.clone().into(), entry.clone().into()].into_iter().chain(numbers.clone()).collect();
                let ran = tool.run(&arguments).expect("was compiled");
                if !ran.succeeded && ran.errors.is_empty() {
                    return skip("there is no Vulkan device (Debian package mesa-vulkan-drivers)");
                }
                assert!(ran.succeeded, "{name} {entry}, {}: {ran}", mode.set().name());
                built += 1;
            }
        }
    }
    assert!(built > 60, "{built}");
}
