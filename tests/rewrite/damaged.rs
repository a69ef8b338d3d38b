//! Damaged objects are rewritten, or refused with section and offset. Nothing panics.

use std::path::Path;

use eitri::Consumer;
use eitri::error::ErrorKind;
use eitri::target::Target;

use super::{loaded, rewritten};
use crate::common::cases::{Random, cases};

fn sweep(name: &str, target: Option<Target>, consumer: Option<&str>) {
    let original = std::fs::read(Path::new(crate::common::ROOT).join(name)).expect("a file");
    let rewrite = |bytes: &[u8]| {
        rewritten(bytes, |options| {
            options.target.clone_from(&target);
            options.consumer = consumer.map(|name| Consumer::named(name).expect("a name"));
        })
    };
    rewrite(&original).unwrap_or_else(|error| panic!("{name}: {error}"));
    let count = cases(original.len() / 12);
    let mut random = Random(0x510e_527f_ade6_82d1);
    let mut used = 0;
    for number in 0..count {
        let damaged = random.damaged(&original, number, count);
        match rewrite(&damaged) {
            Ok(rewritten) => {
                used += 1;
                let limit = 8 * damaged.len() + 65536;
                assert!(rewritten.object.len() < limit, "{name} number {number}");
                // A few only, because the comparison takes longer than the rewrite.
                if number % 64 == 0 {
                    loaded::are_equal(&format!("{name} number {number}"), &damaged, &rewritten.object);
                }
            }
            Err(error) => {
                // Damage of ELF's own tables is a matter of the file as a whole.
                let is_malformed =
                    matches!(error.kind(), ErrorKind::Malformed(_) | ErrorKind::UnknownOperation { .. });
                let is_placed = error.at().section.is_some() || error.at().offset.is_some();
                assert!(
                    !is_malformed || is_placed || !is_in_debug(&original, number, count),
                    "{name} number {number}: {error}"
                );
            }
        }
    }
    assert!(used > count / 16, "{name}: {used} of {count} are rewritten");
}

/// Whether the damage with a number is in a debug section.
fn is_in_debug(original: &[u8], number: usize, count: usize) -> bool {
    use eitri::object::{Object, ObjectSection};
    let at = (number * original.len() / count) as u64;
    let file = eitri::object::File::parse(original).expect("an object");
    file.sections()
        .filter(|section| section.name().is_ok_and(|name| name.starts_with(".debug_")))
        .filter_map(|section| section.file_range())
        .any(|(start, size)| (start..start + size).contains(&at))
}

#[test]
fn damaged_gpu_objects_are_rewritten_or_refused() {
    let wave64 = Target::named("amdgpu-gfx942-wave64").ok();
    sweep("tests/objects/llvm19/k02_reduce.gfx1030.O2.o", None, None);
    sweep("tests/objects/llvm22/k01_saxpy.gfx1030.O2.hsaco", None, Some("dwarf5"));
    sweep("tests/objects/amd/k04_diverge.gfx942.O2.hsaco", wave64, Some("rocgdb-legacy"));
    sweep("tests/objects/amd/k06_calls.gfx1030.O0.hsaco", None, None);
}

#[test]
fn damaged_cpu_objects_are_rewritten_or_refused() {
    sweep("examples/data/squares.o", None, None);
    sweep("examples/data/squares.o", None, Some("dwarf4"));
}
