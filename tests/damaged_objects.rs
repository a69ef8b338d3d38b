//! The promise: a damaged object or container is printed, evaluated, diagnosed, measured and reported, or refused, in time
//! that its size bounds. Nothing panics. In a container, the damaged members are used.

use std::path::Path;
use std::time::{Duration, Instant};

use eitri::dump::{DumpOptions, dump};
use eitri::eval::{Context, DebugInfo, Evaluator, Snapshot, WithDebugInfo, read_bits};
use eitri::read::containers::{ContainerMember, members};
use eitri::read::{Dwarf, Entry, Object};
use eitri::{lint, report, stats};

use crate::common::cases::{Random, cases};
use crate::common::with;

/// Uses an object; also the members of a container, except those that are in the original.
fn use_up(bytes: &[u8], known: &[ContainerMember<'_>]) -> bool {
    if let Ok(Some(all)) = members(bytes) {
        let changed = all.iter().filter(|one| !known.contains(one));
        return changed.filter_map(|one| one.bytes.as_deref()).all(|bytes| use_up(bytes, &[]));
    }
    let fold = with::<lint::LintOptions>(|options| options.fold = true);
    let all = lint::lint(bytes, &lint::LintOptions::default());
    let folded = lint::lint(bytes, &fold);
    assert_eq!(all.is_ok(), folded.is_ok());
    if let (Ok(mut all), Ok(folded)) = (all, folded) {
        all.fold();
        assert_eq!(all, folded, "folded as they are found, and afterwards");
    }
    let _ = report::report(bytes, &report::ReportOptions::default());
    let _ = evaluate(bytes);
    stats::stats(bytes, &stats::StatsOptions::default()).is_ok()
}

/// Prints an object, and evaluates each variable at a few pcs in a wave without contents.
fn evaluate(bytes: &[u8]) -> eitri::Result<()> {
    let object = Object::read(bytes)?;
    let dwarf = Dwarf::read(&object)?;
    let target = object.target(None);
    let text = dump(&object, &dwarf, target.as_ref(), with::<DumpOptions>(|options| options.verbose = true));
    assert!(text.len() < 64 * bytes.len() + 65536, "the dump has {} bytes", text.len());
    let Some(target) = target else { return Ok(()) };
    let info = DebugInfo::new(&dwarf);
    let start = object.symbols().iter().map(|symbol| symbol.address).min().unwrap_or(0);
    for step in 0..4 {
        let pc = Some(start.wrapping_add(0x40 * step));
        let machine = with::<Snapshot>(|machine| {
            machine.lane = Some(3);
            machine.lanes = Some(target.lanes().into());
            machine.pc = pc;
        });
        for entry in dwarf.entries().filter(|entry| Entry::name(*entry).is_some()) {
            let encoding = entry.unit().encoding;
            let context = Context::new(encoding, &target).with_unit(entry.unit().offset);
            let machine = WithDebugInfo::new(&info, &machine, context);
            if let Ok(location) = Evaluator::new().variable_location(info.body(entry), &machine, &context) {
                let _ = read_bits(&location, 32, &machine);
            }
        }
    }
    Ok(())
}

fn sweep(name: &str) {
    let path = Path::new(crate::common::ROOT).join("tests/objects").join(name);
    let original = std::fs::read(path).expect("a file");
    let known = members(&original).expect("it is read").unwrap_or_default();
    assert!(use_up(&original, &[]), "{name} itself can be used");
    let count = cases(original.len() / 15);
    let mut random = Random(0x6a09_e667_f3bc_c908);
    let mut used = 0;
    let mut longest = (Duration::ZERO, 0);
    for number in 0..count {
        let damaged = random.damaged(&original, number, count);
        let start = Instant::now();
        used += usize::from(use_up(&damaged, &known));
        longest = longest.max((start.elapsed(), number));
    }
    println!(
        "{name}: {count} damaged files, {used} without an error; longest: number {} in {:?}",
        longest.1, longest.0
    );
    assert!(used > count / 8, "{used} of {count} can be used");
}

#[test]
fn objects_of_llvm() {
    sweep("llvm19/k01_saxpy.gfx900.O0.hsaco");
    sweep("llvm19/k02_reduce.gfx1100.O2.hsaco");
    sweep("llvm19/k02_reduce.gfx1030.O2.o");
    sweep("llvm22/k01_saxpy.gfx1030.O2.hsaco");
}

#[test]
fn objects_of_amd() {
    sweep("amd/k04_diverge.gfx942.O2.hsaco");
    sweep("amd/k01_saxpy.gfx1030.O0.hsaco");
}

#[test]
fn cubins() {
    sweep("typed.cubin");
    sweep("triton/scan_limit.sm_90.cubin");
}

#[test]
fn bundles() {
    sweep("containers/k06.hipfb");
}

#[test]
fn archives() {
    sweep("containers/k01_k06.a");
}
