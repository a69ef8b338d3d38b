//! Evaluation of a wave of 64 lanes at once, compared with 64 evaluations of one lane each.

use std::hint::black_box;
use std::time::{Duration, Instant};

use eitri::eval::{Context, Element, Evaluator, InLane, Machine, Unavailable, read_bits};
use eitri::op::{Dialect, Encoding, Reg, text};
use eitri::target::{SpaceId, Target};

const LANES: u32 = 64;
/// Number of runs of both sides, in turn.
const RUNS: usize = 401;
/// Number of wave evaluations in a run, so that runs of both sides take a similar time.
const TIMES: usize = 16;

/// A name, an expression, and the use of the result.
type Case = (&'static str, &'static str, Use);

/// Use of a result.
#[derive(Clone, Copy, PartialEq)]
enum Use {
    /// One result for the wave, without a lane's location.
    Outcome,
    /// Location of each lane.
    Locations,
    /// 64 bits at the location of each lane.
    Bytes,
}

const PAIR: &str =
    "regx v0; push_lane; lit4; mul; offset; piece 4; regx v1; push_lane; lit4; mul; offset; piece 4";

const CASES: [Case; 5] = [
    ("wave", PAIR, Use::Outcome),
    ("wave_locations", PAIR, Use::Locations),
    ("wave_bytes", PAIR, Use::Bytes),
    // A pointer in the memory of each lane, and its target.
    ("wave_pointer", "lit8; lit5; form_aspace_address; deref; plus_uconst 16; deref", Use::Locations),
    // An expression that does not depend on the lane.
    ("wave_uniform", "breg16 8; deref; plus_uconst 16; deref; plus_uconst 24", Use::Locations),
];

/// Prints a table of times and the ratios.
pub fn compare() {
    let target = Target::named("amdgpu-gfx1030-wave64").expect("a target");
    let encoding = Encoding::new(8, Dialect::Llvm);
    let context = Context::new(encoding, &target);
    let machine = Wave::new(&target);
    let mut evaluator = Evaluator::new();
    println!("| expression, 64 lanes | ns at once | ns one by one |");
    println!("|---|---|---|");
    let mut ratios = Vec::new();
    for &(name, expr, used) in &CASES {
        let expr = text::parse(expr, encoding, Some(&target)).expect("an expression");
        let expr = expr.bytes();
        // Both sides keep one location at a time.
        let at_once = |evaluator: &mut Evaluator| {
            let mut wave = evaluator.wave(black_box(expr), u64::MAX, &machine, &context);
            match used {
                Use::Outcome => {
                    black_box(&wave);
                }
                Use::Locations => {
                    for lane in 0..LANES {
                        let found = wave.locate(lane);
                        assert!(matches!(found, Some(Ok(Element::Location(_)))), "a location");
                        black_box(found);
                    }
                }
                Use::Bytes => {
                    let bits = wave.read_bits(64, &machine).expect("bits");
                    for lane in 0..LANES {
                        black_box(bits.lane(lane).expect("a lane").expect("bytes"));
                    }
                }
            }
        };
        let one_by_one = |evaluator: &mut Evaluator| {
            for lane in 0..LANES {
                let in_lane = InLane::new(&machine, lane.into());
                let location = evaluator.locate(black_box(expr), &in_lane as &dyn Machine, &context);
                let location = location.expect("a location");
                match used {
                    Use::Outcome | Use::Locations => {
                        black_box(location);
                    }
                    Use::Bytes => {
                        black_box(read_bits(location, 64, &machine).expect("bytes"));
                    }
                }
            }
        };
        assert_same(&mut evaluator, expr, &machine, &context);
        let (mut wave_times, mut lane_times) = (Vec::new(), Vec::new());
        for _ in 0..RUNS {
            wave_times.push(timed(TIMES, || at_once(&mut evaluator)));
            lane_times.push(timed(1, || one_by_one(&mut evaluator)));
        }
        let (wave, lanes) = (median(wave_times), median(lane_times));
        println!("| {name} | {wave:.0} | {lanes:.0} |");
        ratios.push((name, lanes / wave));
    }
    for (name, ratio) in ratios {
        println!("ratio evaluation_{name} {ratio:.2}");
    }
}

fn assert_same(evaluator: &mut Evaluator, expr: &[u8], machine: &Wave, context: &Context<'_>) {
    let mut wave = evaluator.wave(expr, u64::MAX, machine, context);
    for lane in 0..LANES {
        let alone = evaluator.evaluate(expr, &InLane::new(machine, lane.into()), context);
        assert!(alone.is_ok());
        assert_eq!(wave.locate(lane), Some(alone.as_ref()));
        let bits = wave.read_bits(64, machine).expect("bits");
        if let Ok(Element::Location(location)) = &alone
            && let Ok(alone) = read_bits(location, 64, machine)
        {
            let found = bits.lane(lane).expect("a lane").expect("bytes");
            assert_eq!((found.bytes, found.defined), (&alone.bytes[..], &alone.defined[..]));
        }
        assert_eq!(wave.lane(lane), Some(alone));
    }
}

/// Average time of one call.
fn timed(times: usize, mut work: impl FnMut()) -> Duration {
    let start = Instant::now();
    (0..times).for_each(|_| work());
    start.elapsed() / times as u32
}

fn median(mut times: Vec<Duration>) -> f64 {
    times.sort();
    times[times.len() / 2].as_secs_f64() * 1e9
}

/// A wave as plain data: v0 and v1, a pointer in the memory of each lane, and memory of all lanes from [`START`] on.
struct Wave {
    vectors: [[u8; 256]; 2],
    of_lanes: [[u8; 16]; LANES as usize],
    memory: Vec<u8>,
    /// DWARF number of v0.
    first: u64,
}

const START: u64 = 0x1000;

impl Wave {
    fn new(target: &Target) -> Self {
        let first = target.register_named("v0").expect("a register").0;
        let vectors = [core::array::from_fn(|at| at as u8), core::array::from_fn(|at| !at as u8)];
        let mut wave = Self { vectors, of_lanes: [[0; 16]; 64], memory: vec![0; 0x1000], first };
        wave.store(0x1008, 0x1020);
        wave.store(0x1030, 0x1040);
        for lane in 0..u64::from(LANES) {
            let to = 0x1200 + lane * 8;
            wave.of_lanes[lane as usize][8..].copy_from_slice(&to.to_le_bytes());
            wave.store(to + 16, lane);
        }
        wave
    }

    fn store(&mut self, address: u64, number: u64) {
        let at = (address - START) as usize;
        self.memory[at..at + 8].copy_from_slice(&number.to_le_bytes());
    }
}

impl Machine for Wave {
    fn register(&self, reg: Reg, frame: u32, at: u32, into: &mut [u8]) -> Result<(), Unavailable> {
        let start = START.to_le_bytes();
        let bytes = match reg.0.checked_sub(self.first) {
            _ if frame != 0 => None,
            Some(index) => self.vectors.get(index as usize).map(|bytes| &bytes[..]),
            None => (reg == Reg(16)).then_some(&start[..]),
        };
        into.copy_from_slice(
            bytes.and_then(|all| all.get(at as usize..)?.get(..into.len())).ok_or(Unavailable)?,
        );
        Ok(())
    }

    fn memory(&self, space: SpaceId, lane: Option<u32>, at: u64, into: &mut [u8]) -> Result<(), Unavailable> {
        let bytes = match (space, lane) {
            (SpaceId::DEFAULT, None) => at.checked_sub(START).and_then(|at| self.memory.get(at as usize..)),
            (SpaceId(5), Some(lane)) => {
                self.of_lanes.get(lane as usize).and_then(|all| all.get(at as usize..))
            }
            _ => None,
        };
        into.copy_from_slice(bytes.and_then(|from| from.get(..into.len())).ok_or(Unavailable)?);
        Ok(())
    }

    fn lanes(&self) -> u64 {
        LANES.into()
    }
}
