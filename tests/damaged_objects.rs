//! The promise: a damaged object or container is judged or refused, in time that its size bounds. Nothing panics.
//!
//! Each change of one byte is read, judged and measured; in a container, the members that it changes are. The ordinary
//! test takes two other values of each 29th byte; `EITRI_SWEEP=all` takes all 255 of each byte, and `EITRI_SWEEP=NAME` those of
//! one file. With optimization (`cargo test --release`), 1.5 million changes of an object of 6 KB take two minutes.

use std::path::Path;
use std::time::{Duration, Instant};

use eitri::read::containers::{ContainerMember, members};
use eitri::{lint, stats};

/// Judges and measures an object; also the members of a container, except those that are in the original.
fn use_up(bytes: &[u8], known: &[ContainerMember<'_>]) -> bool {
    if let Ok(Some(all)) = members(bytes) {
        let changed = all.iter().filter(|one| !known.contains(one));
        return changed.filter_map(|one| one.bytes.as_deref()).all(|bytes| use_up(bytes, &[]));
    }
    let fold = lint::LintOptions { fold: true, ..lint::LintOptions::default() };
    let all = lint::lint(bytes, &lint::LintOptions::default());
    let folded = lint::lint(bytes, &fold);
    assert_eq!(all.is_ok(), folded.is_ok());
    if let (Ok(mut all), Ok(folded)) = (all, folded) {
        all.fold();
        assert_eq!(all, folded, "folded as they are found, and afterwards");
    }
    stats::stats(bytes, &stats::StatsOptions::default()).is_ok()
}

fn sweep(name: &str) {
    let path = Path::new(crate::common::ROOT).join("tests/objects").join(name);
    let mut bytes = std::fs::read(path).expect("a file");
    let original = bytes.clone();
    let known = members(&original).expect("it is read").unwrap_or_default();
    assert!(use_up(&bytes, &[]), "{name} itself can be used");
    let asked = std::env::var("EITRI_SWEEP").ok();
    let is_whole = asked.is_some_and(|asked| asked == "all" || name.contains(&asked));
    let mut count = 0u64;
    let mut used = 0u64;
    let mut longest = (Duration::ZERO, 0, 0);
    for at in (0..bytes.len()).step_by(if is_whole { 1 } else { 29 }) {
        let old = bytes[at];
        let changes = if is_whole { 1..=0xff } else { 0x7f..=0x80 };
        for value in changes.map(|change: u8| old ^ change) {
            bytes[at] = value;
            let start = Instant::now();
            used += u64::from(use_up(&bytes, &known));
            count += 1;
            longest = longest.max((start.elapsed(), at, value));
        }
        bytes[at] = old;
    }
    let (time, at, value) = longest;
    println!("{name}: {count} changes, {used} without an error; longest: {value:#x} at {at:#x}, {time:?}");
    assert!(used > count / 8, "{used} of {count} can be used");
}

#[test]
fn objects_of_amd_gpus() {
    sweep("llvm19/k01_saxpy.gfx900.O0.hsaco");
    sweep("llvm19/k02_reduce.gfx1100.O2.hsaco");
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
