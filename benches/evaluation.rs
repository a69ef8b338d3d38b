//! Speed of expression evaluation, compared with `gimli::read::Evaluation`.
//!
//! Both sides evaluate the same expressions for the same stopped program, in turn, and must give the same results. The
//! last lines are `ratio NAME VALUE`: the peer's number divided by ours, so that larger is better for us. See
//! `README.md` here.

#[path = "evaluation/cases.rs"]
mod cases;
#[path = "evaluation/machine.rs"]
mod machine;
#[path = "emission/memory.rs"]
#[allow(dead_code, reason = "the parts are those of another bench")]
mod memory;
#[path = "evaluation/sides.rs"]
mod sides;
#[path = "evaluation/wave.rs"]
mod wave;

use std::hint::black_box;
use std::time::{Duration, Instant};

use cases::{CASES, Case};
use eitri::eval::{Context, Evaluator, ResultKind};
use eitri::op::{Dialect, Encoding, text};
use eitri::target::Target;
use machine::Stopped;
use sides::{Answer, InPlace, OnHeap};

#[global_allocator]
static MEMORY: memory::Counting = memory::Counting;

/// Number of short runs per side, in turn with the others, so that few runs are interrupted.
const RUNS: usize = 801;
/// Number of operations in a run, which determines the number of evaluations.
const OPERATIONS: usize = 10_000;
/// Number of operations under an instrumenting tool.
const OPERATIONS_ONCE: usize = 200_000;

/// Input of all sides.
struct Given {
    machine: Stopped,
    target: Target,
    encoding: Encoding,
    evaluator: Evaluator,
}

/// Evaluates an expression a number of times.
type Side = fn(&mut Given, &[u8], &Case, usize);

const SIDES: [(&str, Side); 3] = [
    ("eitri", |given, expr, case, times| {
        let context = Context::new(given.encoding, &given.target);
        let (evaluator, machine) = (&mut given.evaluator, &given.machine);
        for _ in 0..times {
            match case.wants_value {
                true => _ = black_box(&evaluator.value(black_box(expr), machine, &context)),
                false => _ = black_box(&evaluator.locate(black_box(expr), machine, &context)),
            }
        }
    }),
    ("gimli", |given, expr, _, times| {
        for _ in 0..times {
            sides::gimli::<InPlace, _>(black_box(expr), &given.machine, |evaluation| {
                black_box(evaluation.as_result());
            });
        }
    }),
    ("gimli_heap", |given, expr, _, times| {
        for _ in 0..times {
            sides::gimli::<OnHeap, _>(black_box(expr), &given.machine, |evaluation| {
                black_box(evaluation.as_result());
            });
        }
    }),
];

fn main() {
    let target = Target::x86_64();
    let encoding = Encoding::new(8, Dialect::Dwarf5);
    let mut given = Given { machine: Stopped::new(), target, encoding, evaluator: Evaluator::new() };
    // Under an instrumenting tool, run a single side.
    if let Ok(name) = std::env::var("EITRI_BENCH_ONCE") {
        let found = CASES.iter().find_map(|case| {
            let named = |(side, _): &(&str, Side)| name == format!("{side}_{}", case.name);
            Some((case, SIDES.into_iter().find(named)?.1))
        });
        let (case, side) = found.expect("EITRI_BENCH_ONCE names a side, and after it an expression");
        let expr = bytes(case, &given);
        side(&mut given, &expr, case, OPERATIONS_ONCE / case.operations);
        return;
    }
    for case in &CASES {
        let expr = bytes(case, &given);
        assert_same(&mut given, &expr, case);
    }
    if std::env::args().any(|argument| argument == "--bench") {
        println!("| expression | operations | ns | ns gimli | ns gimli, heap | allocations of each |");
        println!("|---|---|---|---|---|---|");
        let ratios: Vec<_> = CASES.iter().map(|case| (case, compare(&mut given, case))).collect();
        for (case, ratios) in ratios {
            for (suffix, ratio) in ["", "_heap"].into_iter().zip(ratios) {
                println!("ratio evaluation_{}{suffix} {ratio:.2}", case.name);
            }
        }
        wave::compare();
    }
}

fn bytes(case: &Case, given: &Given) -> Vec<u8> {
    let expr = text::parse(case.text, given.encoding, Some(&given.target)).expect("an expression");
    expr.bytes().to_vec()
}

/// Panics unless all sides give the same result after the same number of operations.
fn assert_same(given: &mut Given, expr: &[u8], case: &Case) {
    let context = Context::new(given.encoding, &given.target);
    let kind = if case.wants_value { ResultKind::Value } else { ResultKind::Location };
    let asked = context.with_kind(kind);
    let ours = given.evaluator.evaluate(expr, &given.machine, &asked).expect("an answer");
    let ours = sides::answer(&ours);
    let theirs: [Answer; 2] = [
        sides::gimli::<InPlace, _>(expr, &given.machine, |it| sides::answer_of_gimli(it, case.wants_value)),
        sides::gimli::<OnHeap, _>(expr, &given.machine, |it| sides::answer_of_gimli(it, case.wants_value)),
    ];
    assert_eq!(ours, theirs[0], "{}", case.name);
    assert_eq!(ours, theirs[1], "{}", case.name);
    let mut steps = 0;
    let traced = Evaluator::new().traced(expr, &given.machine, &context, &mut |_| steps += 1);
    assert!(traced.is_ok());
    assert_eq!(steps, case.operations, "{}", case.name);
}

/// Runs the sides in turn and prints their times. Returns the ratios of gimli's times to ours: in place and on the heap.
fn compare(given: &mut Given, case: &Case) -> [f64; 2] {
    let expr = bytes(case, given);
    let times = OPERATIONS / case.operations;
    let mut taken = [const { Vec::new() }; SIDES.len()];
    for run in 0..RUNS {
        // Alternate the order, so that no side always follows the same other.
        let mut order = [0, 1, 2];
        if run % 2 == 1 {
            order.reverse();
        }
        for side in order {
            let start = Instant::now();
            SIDES[side].1(given, &expr, case, times);
            taken[side].push(start.elapsed());
        }
    }
    let medians = taken.map(|mut taken: Vec<Duration>| {
        taken.sort();
        taken[RUNS / 2].as_secs_f64() * 1e9 / times as f64
    });
    let allocations =
        SIDES.map(|(_, side)| memory::allocations_of(|| side(given, &expr, case, 1)).to_string()).join(", ");
    let [ours, in_place, on_heap] = medians;
    println!(
        "| {} | {} | {ours:.1} | {in_place:.1} | {on_heap:.1} | {allocations} |",
        case.name, case.operations
    );
    [in_place / ours, on_heap / ours]
}
