//! Output of this crate has no finding above a note: the objects of the examples, and a description for each consumer.
//! Tests of kernels and of emission judge theirs in the same way.

use std::path::{Path, PathBuf};
use std::process::Command;

use eitri::emit::elf::attach;
use eitri::lower::{Policy, lower};
use eitri::model::Module;
use eitri::op::Dialect;

use super::above::above_notes;
use super::common;
use super::consumers::{combinations, named};
use super::tools::Folder;

#[test]
fn objects_of_the_examples() {
    let folder = Folder::new();
    let mut wrong = Vec::new();
    let mut objects = Vec::<PathBuf>::new();
    for name in
        ["quickstart", "cpu", "attach", "frames", "diverged", "own_dwarf", "spirv_kernel", "allocated"]
    {
        let out = folder.path().join(name);
        let ran = Command::new(common::example(name)).arg(&out).output().expect("the example runs");
        assert!(ran.status.success(), "{name}: {}", String::from_utf8_lossy(&ran.stderr));
        let files = std::fs::read_dir(&out).expect("the folder").map(|file| file.expect("a file").path());
        objects.extend(files.filter(|file| file.extension().is_some_and(|end| end == "o")));
    }
    assert!(objects.len() >= 6, "{objects:?}");
    // The code before a description is attached to it.
    objects.retain(|file| !file.ends_with("attach/uspill.o"));
    for file in objects {
        let bytes = std::fs::read(&file).expect("an object");
        wrong.extend(above_notes(&file.display().to_string(), &bytes));
    }
    assert!(wrong.is_empty(), "{} findings\n{}", wrong.len(), wrong.join("\n"));
}

#[test]
fn a_description_for_each_consumer() {
    let own = |file: &str| std::fs::read(Path::new(crate::common::ROOT).join(file)).expect("a file");
    let module = own("examples/scale.json");
    let code = own("examples/data/scale_code.o");
    let module = Module::from_json(&module).expect("a description");
    assert!(module.warnings().is_empty(), "a kernel needs no frame rules");
    let mut wrong = Vec::new();
    let mut count = 0;
    // A file does not name its dialect, and one-byte operations of AMD's older debuggers are unknown in LLVM's.
    for consumer in combinations().filter(|one| one.expressions.dialect != Dialect::Legacy) {
        let Ok(written) = lower(&module, &consumer, Policy::Partial) else { continue };
        let object = attach(&code, module.target(), &written.sections).expect("an object");
        wrong.extend(above_notes(&named(&consumer), &object));
        count += 1;
    }
    assert!(count > 16, "{count} consumers");
    assert!(wrong.is_empty(), "{} findings\n{}", wrong.len(), wrong.join("\n"));
}
