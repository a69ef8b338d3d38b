//! A wave of 64 lanes evaluated at once, next to 64 evaluations of one lane each.

use std::hint::black_box;
use std::time::{Duration, Instant};

use eitri::eval::{Context, Element, Evaluator, Fault, InLane, Machine, Snapshot, WaveOutcome, read_bits};
use eitri::op::{Dialect, Encoding, Reg, text};
use eitri::target::{SpaceId, Target};

const LANES: u32 = 64;
const RUNS: usize = 41;
const TIMES: usize = 100;

/// A name, an expression, and what is done with the answer of each lane.
type Case = (&'static str, &'static str, fn(Result<Element, Fault>, &Snapshot));

const PAIR: &str =
    "regx v0; push_lane; lit4; mul; offset; piece 4; regx v1; push_lane; lit4; mul; offset; piece 4";

const CASES: [Case; 5] = [
    // One answer, that a lane's location can be asked of.
    ("wave", PAIR, |_, _| unreachable!("no lane is asked for")),
    // The location of each lane.
    ("wave_locations", PAIR, |answer, _| {
        black_box(&answer);
    }),
    // The bytes at the location of each lane.
    ("wave_bytes", PAIR, |answer, machine| {
        let Ok(Element::Location(location)) = answer else { panic!("a location") };
        black_box(read_bits(&location, 64, machine).expect("bytes"));
    }),
    // A pointer in the memory of each lane, and what is behind it.
    ("wave_pointer", "lit8; lit5; form_aspace_address; deref; plus_uconst 16; deref", |answer, _| {
        black_box(&answer);
    }),
    // Nothing of a lane.
    ("wave_uniform", "breg16 8; deref; plus_uconst 16; deref; plus_uconst 24", |answer, _| {
        black_box(&answer);
    }),
];

/// Prints a table of times and the ratios.
pub fn compare() {
    let target = Target::named("amdgpu-gfx1030-wave64").expect("a target");
    let encoding = Encoding::new(8, Dialect::Llvm);
    let context = Context::new(encoding, &target);
    let machine = machine(&target);
    let mut evaluator = Evaluator::new();
    println!("| expression, 64 lanes | ns at once | ns one by one |");
    println!("|---|---|---|");
    let mut ratios = Vec::new();
    for (name, expr, then) in &CASES {
        let expr = text::parse(expr, encoding, Some(&target)).expect("an expression");
        let expr = expr.bytes();
        let asks = *name != "wave";
        let at_once = |evaluator: &mut Evaluator| {
            let wave = evaluator.wave(black_box(expr), u64::MAX, &machine, &context);
            let answers =
                |wave: &WaveOutcome| (0..LANES).for_each(|lane| then(wave.lane(lane).expect("it"), &machine));
            if asks {
                answers(&wave);
            } else {
                black_box(&wave);
            }
        };
        let one_by_one = |evaluator: &mut Evaluator| {
            for lane in 0..LANES {
                let in_lane = InLane::new(&machine, lane.into());
                let answer = evaluator.evaluate(black_box(expr), &in_lane as &dyn Machine, &context);
                if asks {
                    then(answer, &machine);
                } else {
                    black_box(&answer);
                }
            }
        };
        assert_same(&mut evaluator, expr, &machine, &context);
        let (mut wave_times, mut lane_times) = (Vec::new(), Vec::new());
        for _ in 0..RUNS {
            wave_times.push(timed(|| at_once(&mut evaluator)));
            lane_times.push(timed(|| one_by_one(&mut evaluator)));
        }
        let (wave, lanes) = (median(wave_times), median(lane_times));
        println!("| {name} | {wave:.0} | {lanes:.0} |");
        ratios.push((name, lanes / wave));
    }
    for (name, ratio) in ratios {
        println!("ratio evaluation_{name} {ratio:.2}");
    }
}

fn assert_same(evaluator: &mut Evaluator, expr: &[u8], machine: &Snapshot, context: &Context<'_>) {
    let wave = evaluator.wave(expr, u64::MAX, machine, context);
    for lane in 0..LANES {
        let alone = evaluator.evaluate(expr, &InLane::new(machine, lane.into()), context);
        assert!(alone.is_ok());
        assert_eq!(wave.lane(lane), Some(alone));
    }
}

fn timed(mut work: impl FnMut()) -> Duration {
    let start = Instant::now();
    (0..TIMES).for_each(|_| work());
    start.elapsed()
}

fn median(mut times: Vec<Duration>) -> f64 {
    times.sort();
    times[times.len() / 2].as_secs_f64() * 1e9 / TIMES as f64
}

/// v0 and v1, and pointers in the memory of each lane and of all.
fn machine(target: &Target) -> Snapshot {
    let mut machine = Snapshot { lanes: Some(LANES.into()), ..Snapshot::default() };
    let first = target.register_named("v0").expect("a register").0;
    machine.registers.insert(Reg(first), (0..=255).collect());
    machine.registers.insert(Reg(first + 1), (0..=255).rev().collect());
    machine.registers.insert(Reg(16), 0x1000u64.to_le_bytes().to_vec());
    let pointer = |to: u64| to.to_le_bytes();
    machine.store(SpaceId::DEFAULT, None, 0x1008, &pointer(0x1020));
    machine.store(SpaceId::DEFAULT, None, 0x1030, &pointer(0x1040));
    for lane in 0..LANES {
        machine.store(SpaceId(5), Some(lane), 8, &pointer(0x2000 + u64::from(lane) * 8));
        machine.store(SpaceId::DEFAULT, None, 0x2010 + u64::from(lane) * 8, &pointer(0x3000));
    }
    machine
}
