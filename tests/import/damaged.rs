//! Damaged objects are imported as far as they can be read, or refused, in time that their size bounds. Nothing panics.

use std::path::Path;

use eitri::import::{ImportOptions, import};
use eitri::target::Target;

use crate::common::cases::{Random, cases};
use crate::common::with;

fn sweep(name: &str, target: Option<Target>) {
    let original = std::fs::read(Path::new(crate::common::ROOT).join(name)).expect("a file");
    let options = with::<ImportOptions<'_>>(|options| options.target = target);
    import(&original, &options).unwrap_or_else(|error| panic!("{name}: {error}"));
    let count = cases(original.len() / 12);
    let mut random = Random(0x6a09_e667_f3bc_c908);
    let mut used = 0;
    for number in 0..count {
        let damaged = random.damaged(&original, number, count);
        match import(&damaged, &options) {
            Ok(imported) => {
                used += 1;
                let limit = 4 * damaged.len() + 4096;
                assert!(
                    imported.unimported.len() < limit,
                    "{name} number {number}: {} facts",
                    imported.unimported.len()
                );
            }
            // What contradicts other facts is left out, so that the module itself is consistent.
            Err(error) => assert!(
                error.at().section.is_some() || error.at().unit.is_none(),
                "{name} number {number}: {error}"
            ),
        }
    }
    assert!(used > count / 8, "{name}: {used} of {count} are imported");
}

#[test]
fn damaged_gpu_objects_are_imported_or_refused() {
    let wave64 = Target::named("amdgpu-gfx942-wave64").ok();
    sweep("tests/objects/llvm19/k02_reduce.gfx1030.O2.o", None);
    sweep("tests/objects/llvm22/k01_saxpy.gfx1030.O2.hsaco", None);
    sweep("tests/objects/amd/k04_diverge.gfx942.O2.hsaco", wave64);
    sweep("tests/objects/amd/k06_calls.gfx1030.O0.hsaco", None);
}

#[test]
fn damaged_cpu_objects_are_imported_or_refused() {
    sweep("examples/data/squares.o", None);
    sweep("examples/data/uspill.o", None);
}
