//! Random expressions, evaluated by this crate and by gimli.

use std::sync::atomic::{AtomicUsize, Ordering};

use eitri::eval::{Context, Evaluator, Fault, Layout, Location, OwnedBody, Snapshot, Value};
use eitri::op::{Decoder, Dialect, Encoding, text};
use proptest::prelude::*;

use super::asked::{self, Stop};
use super::differences::{DIFFERENCES, Watch};
use super::machine::machine;
use super::random::programs;

/// Results of an evaluator. All failures are equal.
#[derive(Debug, PartialEq, Eq)]
struct Answers {
    /// The location as text, which is complete.
    location: Result<String, ()>,
    value: Result<Value, ()>,
}

/// Results of both evaluators, and the differences that can explain a deviation.
struct Compared {
    here: Answers,
    gimli: Answers,
    fault: Option<Fault>,
    stop: Option<Stop>,
    reasons: Vec<&'static str>,
}

impl std::fmt::Display for Compared {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let Self { here, gimli, fault, stop, reasons } = self;
        writeln!(f, "here:  {here:?} {fault:?}\ngimli: {gimli:?} {stop:?}\nreasons: {reasons:?}")
    }
}

impl Compared {
    fn is_same(&self) -> bool {
        self.here == self.gimli
    }
}

fn shown<E>(location: &Result<Location, E>) -> Result<String, ()> {
    location.as_ref().map(ToString::to_string).map_err(|_| ())
}

fn compared(expr: &[u8], encoding: Encoding, machine: &Snapshot, layout: &Layout) -> Compared {
    let context = Context::new(encoding, layout);
    let mut watch = Watch::new(encoding);
    // Tracing disables the fast path.
    let _ = Evaluator::new().traced(expr, machine, &context, &mut |step| watch.step(&step));
    let location = Evaluator::new().location(expr, machine, &context);
    let value = Evaluator::new().value(expr, machine, &context);
    let failed = location.as_ref().err().and_then(|fault| {
        let at = fault.offset?;
        let expr = fault.entry.map_or(expr, |entry| match &machine.entries[&entry].0 {
            OwnedBody::Expression(expr) => expr,
            _ => expr,
        });
        Some(Decoder::new(expr.get(at..)?, encoding).next()?.ok()?.op)
    });
    watch.end(failed);
    let here = Answers { location: shown(&location), value: value.map_err(|_| ()) };
    let answer = asked::evaluate(expr, machine, &context);
    let (gimli, stop) = match answer {
        Ok(answer) => {
            let location = shown(&answer.location);
            (Answers { location, value: answer.value.ok_or(()) }, answer.location.err())
        }
        Err(stop) => (Answers { location: Err(()), value: Err(()) }, Some(stop)),
    };
    assert!(!matches!(stop, Some(Stop::Inexpressible(_))), "{stop:?}");
    Compared { here, gimli, fault: location.err(), stop, reasons: watch.found }
}

/// Numbers of expressions, of compared results, and of expressions with an operation for which a difference is listed.
static COUNTS: [AtomicUsize; 3] = [const { AtomicUsize::new(0) }; 3];

fn config() -> ProptestConfig {
    ProptestConfig { max_shrink_iters: 20_000, ..crate::common::cases::config(2000) }
}

proptest! {
    #![proptest_config(config())]

    #[test]
    fn random_expressions_mean_the_same_to_gimli(program in programs()) {
        let (machine, layout) = machine(program.address_bytes);
        let expr = program.expression();
        let compared = compared(&expr, program.encoding(), &machine, &layout);
        let text = || text::print(&expr, program.encoding(), None);
        prop_assert!(compared.is_same() || !compared.reasons.is_empty(), "{}\n{compared}", text());
        let is_result = compared.is_same() && compared.here.location.is_ok();
        let counted = [true, is_result, !compared.reasons.is_empty()];
        for (count, _) in COUNTS.iter().zip(counted).filter(|(_, counts)| *counts) {
            count.fetch_add(1, Ordering::Relaxed);
        }
        let [all, results, others] = [0, 1, 2].map(|index| COUNTS[index].load(Ordering::Relaxed));
        // Checks the quality of the generator.
        prop_assert!(all < 500 || results * 2 > all && others * 3 < all, "{all} {results} {others}");
        if all % 10_000 == 0 {
            println!("{all} expressions, {results} results that agree, {others} of differing opinion");
        }
    }
}

/// Each listed difference exists and is found.
#[test]
fn gimli_differs_as_listed() {
    let (machine, layout) = machine(8);
    let encoding = Encoding::new(8, Dialect::Dwarf5);
    for one in DIFFERENCES.iter().filter(|one| !one.example.is_empty()) {
        let expr = text::parse(one.example, encoding, None);
        let expr = expr.unwrap_or_else(|error| panic!("{}: {error}", one.example));
        let compared = compared(expr.bytes(), encoding, &machine, &layout);
        assert!(!compared.is_same(), "{}, {}:\n{compared}", one.gimli, one.example);
        assert!(compared.reasons.contains(&one.gimli), "{}, {}:\n{compared}", one.gimli, one.example);
        assert!(!one.rule.is_empty());
    }
}
