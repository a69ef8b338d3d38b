//! Compiled modules with a variable for every value and a line for every block and instruction; detaching restores
//! them.

use std::path::PathBuf;

use eitri::build::Builder;
use eitri::model::{BaseEncoding, Module, SourceLine};
use eitri::spirv::{
    Binding, Id, Mode, ModuleLayout, Position, Provider, Set, Words, attach, from_bytes, read, validate,
};
use eitri::target::{Gfx, Target, Wave};
use pretty_assertions::assert_eq;

use crate::spirv_attach::spirv_val::SPIRV_VAL;
use crate::spirv_attach::support::bytes;
use crate::spirv_attach::tools::Folder;

/// Modules without debug information.
fn modules() -> Vec<(String, Vec<u32>)> {
    let folder = PathBuf::from(crate::common::ROOT).join("tests/spirv/kernels");
    let mut all = Vec::new();
    for entry in std::fs::read_dir(folder).expect("a folder") {
        let path = entry.expect("an entry").path();
        if path.extension().is_some_and(|extension| extension == "spv") {
            let words = from_bytes(&std::fs::read(&path).expect("a file")).expect("is a module");
            all.push((path.file_stem().expect("a name").to_string_lossy().into_owned(), words));
        }
    }
    all.sort();
    assert!(all.len() > 10);
    all
}

/// Size of a type in bits, if variables can have the type.
fn bits(layout: &ModuleLayout<'_>, ty: Id) -> Option<u64> {
    let ty = layout.definition(ty)?;
    match (ty.opcode(), ty.operands()) {
        (21 | 22, &[bits @ (8 | 16 | 32 | 64), ..]) => Some(bits.into()),
        _ => None,
    }
}

/// A model of all functions with code, each with a variable of each size, and the binding.
fn describe(words: &[u32]) -> (Module, Binding) {
    let layout = ModuleLayout::new(Words::new(words).expect("is a module")).expect("is a module");
    let mut m = Builder::new(Target::amdgpu(Gfx::GFX1030, Wave::W32).expect("is known"));
    let unit = m.unit("kernel.cl");
    let file = m.primary_file(unit).expect("a file");
    let sizes = [8, 16, 32, 64];
    let types = sizes
        .map(|bits| m.base_type(unit, &format!("u{bits}"), BaseEncoding::Unsigned, bits).expect("a type"));
    let mut binding = Binding::new();
    let mut line = 0;
    for found in layout.functions() {
        let all = layout.words().instructions().filter(|it| found.at.contains(&it.at));
        if !all.clone().any(|it| it.opcode() == 248) {
            continue;
        }
        let name = format!("f{}", found.id.0);
        let function = m.function(unit, &name).expect("a function").code(&name, 0x100).id();
        let block = m.block(function, &[0x10..0x20]).expect("a block");
        let variables = types.map(|ty| m.variable(block, "v", ty).expect("a variable").id());
        binding.function(function, found.id);
        let mut label = Id(0);
        let mut index = 0;
        let mut merges = false;
        for it in all {
            line += 1;
            let here = SourceLine::new(file, line).column(line % 7);
            if let (248, Some(id)) = (it.opcode(), it.result()) {
                (label, index) = (id, 0);
                binding
                    .scope(Position::start(found.id, label), block)
                    .line(Position::start(found.id, label), here);
                continue;
            }
            let size = it.result_type().and_then(|ty| bits(&layout, ty));
            if let (Some(id), Some(size)) = (it.result(), size)
                && it.opcode() != 54
            {
                let which = sizes.iter().position(|&it| it == size).expect("is one of them");
                binding.value(Position::after(id), variables[which], &[Provider::value(id)]);
            }
            if label != Id(0) && it.opcode() != 56 {
                if !merges && index % 3 == 1 {
                    binding.line(Position::before(found.id, label, index), here);
                }
                (merges, index) = (matches!(it.opcode(), 246 | 247), index + 1);
            }
        }
    }
    (m.finish().expect("is whole"), binding)
}

#[test]
fn whatever_is_said_of_kernels_is_taken_out_again() {
    let folder = Folder::new();
    let mut accepted = 0;
    for (name, words) in modules() {
        let (module, binding) = describe(&words);
        let is_taken = |words: &[u32]| {
            let ran = SPIRV_VAL.run(&[&folder.file("module.spv", bytes(words))]);
            ran.map(|ran| (ran.succeeded, ran))
        };
        let was_taken = is_taken(&words);
        for mode in [Mode::exact(Set::OpenCl), Mode::translator(), Mode::exact(Set::Shader)] {
            let attached =
                attach(&words, &module, &binding, &mode).unwrap_or_else(|it| panic!("{name}: {it}"));
            assert_eq!(attached.detach().expect("is whole"), words, "{name}");
            let facts = read(&attached.words).expect("reads");
            let report = validate(&facts);
            assert!(report.is_clean(), "{name}: {report}");
            let checked = attached.check(&module, &binding, &mode).expect("reads");
            assert!(checked.is_clean(), "{name}: {checked}");
            assert!(report.instructions > 30, "{name}: {report}");
            // Some are rejected in their original form.
            if let Some((true, _)) = &was_taken
                && let Some((is_taken, ran)) = is_taken(&attached.words)
            {
                assert!(is_taken, "{name}: {ran}");
                accepted += 1;
            }
            same_with_rspirv(&name, &words, &module, &binding, &mode, &attached);
        }
        if was_taken.is_none() {
            return;
        }
    }
    assert!(accepted > 40, "{accepted}");
}
fn same_with_rspirv(
    name: &str,
    words: &[u32],
    module: &Module,
    binding: &Binding,
    mode: &Mode,
    attached: &eitri::spirv::Attached,
) {
    use ::rspirv::binary::Assemble;

    let mut to = ::rspirv::dr::load_words(words).unwrap_or_else(|it| panic!("{name}: {it}"));
    to.header.as_mut().expect("is loaded").generator = words[2];
    assert_eq!(to.assemble(), words, "{name}");
    let left_out = eitri::spirv::rspirv::attach(&mut to, module, binding, mode).expect("is attached");
    assert_eq!(left_out, attached.omissions, "{name}");
    assert!(to.assemble() == attached.words, "{name}");
}
