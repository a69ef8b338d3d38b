//! Random programs that run: what is derived is true whenever a lane stands there, and is nearly all that is.

use crate::common::cases::cases;

use super::program::{At, BYTES, Program, Stated};
use super::random;
use super::simulate::{self, Seen, VARIABLES};

#[derive(Debug, Default)]
struct Totals {
    claimed: u64,
    recoverable: u64,
    stale: Vec<String>,
}

fn places(program: &Program) -> Vec<At> {
    let mut places = program.places();
    places.extend([At::Constant(0), At::Constant(1)]);
    places.sort();
    places.dedup();
    places
}

/// Runs a program, and compares what lanes saw with what is derived.
fn compare(seed: u64, size: usize, runs: u64, totals: &mut Totals) {
    let program = random::program(seed, size);
    let places = places(&program);
    let mut seen: Seen = vec![[const { None }; 3]; program.code.len()];
    for run in 0..runs {
        simulate::run(&program, &places, seed.wrapping_mul(31).wrapping_add(run), &mut seen);
    }
    let stated = Stated::new(&program);
    let tracked = stated.code.track().unwrap_or_else(|error| panic!("seed {seed}: {error}"));
    let locs: Vec<_> = places.iter().map(|place| place.loc(&stated.gpu)).collect();
    for (pc, seen) in (0..).step_by(BYTES as usize).zip(&seen) {
        for (name, seen) in VARIABLES.iter().zip(seen) {
            let Some(&id) = stated.variables.get(*name) else { continue };
            let claimed = tracked.places_at(id, pc).expect("the code names it");
            let Some(seen) = seen else { continue };
            for ((place, loc), &is_true) in places.iter().zip(&locs).zip(seen) {
                let is_claimed = claimed.contains(loc);
                totals.recoverable += u64::from(is_true);
                totals.claimed += u64::from(is_claimed);
                if is_claimed && !is_true {
                    totals.stale.push(format!("seed {seed}, size {size}: {name} at {pc:#x} in {place:?}"));
                }
            }
        }
    }
}

/// Number of programs.
fn programs() -> u64 {
    cases(2000) as u64
}

#[test]
fn derived_places_are_never_stale() {
    let mut totals = Totals::default();
    for seed in 0..programs() {
        compare(seed, 3 + (seed % 8) as usize, 6, &mut totals);
    }
    println!("{} of {} claims are stale in {} programs", totals.stale.len(), totals.claimed, programs());
    let stale: Vec<&String> = totals.stale.iter().take(20).collect();
    assert!(stale.is_empty(), "{} of {} are stale: {stale:#?}", totals.stale.len(), totals.claimed);
    assert!(totals.claimed > 10_000, "{totals:?}");
}

#[test]
fn nearly_all_recoverable_places_are_derived() {
    let mut totals = Totals::default();
    for seed in 0..programs() / 10 {
        compare(!seed, 4 + (seed % 6) as usize, 200, &mut totals);
    }
    assert!(totals.stale.is_empty(), "{:#?}", totals.stale);
    let part = totals.claimed as f64 / totals.recoverable as f64;
    println!("{} of {} recoverable places are derived: {part:.4}", totals.claimed, totals.recoverable);
    assert!(part >= 0.98, "{} of {}: {part}", totals.claimed, totals.recoverable);
}
