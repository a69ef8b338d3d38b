//! Mistakes in the compiler: in what the allocator's adapter, the lowering and the emission state. Running the object
//! finds what its DWARF then claims wrongly, and the check by the right statements finds the same without running.

use std::collections::BTreeMap;
use std::ops::Range;
use std::path::Path;

use wgsl_gfx::alloc::Limits;
use wgsl_gfx::emit::{Change, Effect, Fact, Frame, Machine, Place};
use wgsl_gfx::front::Source;
use wgsl_gfx::input::Input;
use wgsl_gfx::isa::Reg;
use wgsl_gfx::lower::{FRAME, RETURN};
use wgsl_gfx::prove::{Proof, prove};
use wgsl_gfx::ssa::{Given, contents};
use wgsl_gfx::{Compiled, compile, debug};

/// Makes a mistake in the frame of a function that is called. Returns whether there is something to get wrong.
type FrameMistake = fn(&mut Machine, &mut Frame) -> bool;

/// Makes the mistake at one fact. Returns whether there is something to get wrong.
type Mistake = fn(&mut Machine, usize) -> bool;

fn next(place: Place) -> Place {
    match place {
        Place::Scalar(n) => Place::Scalar(if n < 60 { n + 1 } else { n - 1 }),
        Place::Vector(n) => Place::Vector(if n < 60 { n + 1 } else { n - 1 }),
        Place::Lane(n, lane) => Place::Lane(n, (lane + 1) % 32),
        Place::Scratch(at) => Place::Scratch(at + 4),
    }
}

/// Changes the first effect for which `change` has another one.
fn effect(m: &mut Machine, at: usize, change: impl Fn(Effect) -> Option<Effect>) -> bool {
    let (pcs, Fact::Step(effects, _)) = &mut m.facts[at] else { return false };
    if pcs.is_empty() {
        return false;
    }
    let changed = effects.iter_mut().find_map(|effect| Some((change(*effect)?, effect)));
    changed.map(|(other, effect)| *effect = other).is_some()
}

fn forget(m: &mut Machine, at: usize, is_it: impl Fn(&Effect) -> bool) -> bool {
    let (pcs, Fact::Step(effects, _)) = &mut m.facts[at] else { return false };
    let before = effects.len();
    effects.retain(|effect| !is_it(effect));
    !pcs.is_empty() && effects.len() < before
}

fn is_spill(effect: &Effect, of: fn(&Place) -> bool) -> bool {
    matches!(effect, Effect::Copy(from, to) if of(from) != of(to))
}

fn is_lane(place: &Place) -> bool {
    matches!(place, Place::Lane(..))
}

fn is_scratch(place: &Place) -> bool {
    matches!(place, Place::Scratch(_))
}

fn all_lanes(m: &mut Machine, at: usize, from: bool) -> bool {
    let (pcs, Fact::Step(effects, all)) = &mut m.facts[at] else { return false };
    let is_row = |effect: &Effect| matches!(effect.target(), Place::Vector(_) | Place::Scratch(_));
    let applies = !pcs.is_empty() && *all == from && effects.iter().any(is_row);
    if applies {
        *all = !from;
    }
    applies
}

fn moved(m: &mut Machine, at: usize, by: i64) -> bool {
    let end = m.bytes.len() as u64;
    let (pcs, Fact::Assign(..)) = &mut m.facts[at] else { return false };
    let to = pcs.start.wrapping_add_signed(by);
    let fits = to < end;
    if fits {
        *pcs = to..to;
    }
    fits
}

fn given(m: &mut Machine, at: usize, change: impl Fn(Given) -> Option<Given>) -> bool {
    let (_, Fact::Assign(_, given)) = &mut m.facts[at] else { return false };
    change(*given).map(|other| *given = other).is_some()
}

/// Another definition before a fact.
fn earlier(m: &Machine, at: usize, not: regalloc2::VReg) -> Option<regalloc2::VReg> {
    m.facts[..at].iter().rev().find_map(|(_, fact)| match fact {
        Fact::Step(effects, _) => effects.iter().find_map(|effect| match *effect {
            Effect::Define(vreg, _) if vreg != not => Some(vreg),
            _ => None,
        }),
        _ => None,
    })
}

fn exec(m: &mut Machine, at: usize, from: Change) -> bool {
    let (_, fact) = &mut m.facts[at];
    let Fact::Exec(change, _) = fact else { return false };
    if *change != from {
        return false;
    }
    *fact = Fact::Step(Vec::new(), false);
    true
}

/// The effects of an instruction are stated at the next one, and the other way round.
fn swapped(m: &mut Machine, at: usize) -> bool {
    let is_step = |one: &(Range<u64>, Fact)| {
        !one.0.is_empty() && matches!(&one.1, Fact::Step(all, _) if !all.is_empty())
    };
    let Some(other) = (at + 1..m.facts.len().min(at + 6)).find(|&other| is_step(&m.facts[other])) else {
        return false;
    };
    if !is_step(&m.facts[at]) || m.facts[at].0.end != m.facts[other].0.start {
        return false;
    }
    let first = m.facts[at].1.clone();
    let second = m.facts[other].1.clone();
    (m.facts[at].1, m.facts[other].1) = (second, first);
    true
}

/// The allocator's adapter.
const ADAPTER: &[(&str, Mistake)] = &[
    ("a move is forgotten", |m, at| forget(m, at, |effect| matches!(effect, Effect::Copy(..)))),
    ("a move has another target", |m, at| {
        effect(m, at, |effect| match effect {
            Effect::Copy(from, to) => Some(Effect::Copy(from, next(to))),
            _ => None,
        })
    }),
    ("a move has another source", |m, at| {
        effect(m, at, |effect| match effect {
            Effect::Copy(from, to) => Some(Effect::Copy(next(from), to)),
            _ => None,
        })
    }),
    ("a move has its sides swapped", |m, at| {
        effect(m, at, |effect| match effect {
            Effect::Copy(
                from @ (Place::Vector(_) | Place::Scratch(_)),
                to @ (Place::Vector(_) | Place::Scratch(_)),
            )
            | Effect::Copy(
                from @ (Place::Scalar(_) | Place::Lane(..)),
                to @ (Place::Scalar(_) | Place::Lane(..)),
            ) => Some(Effect::Copy(to, from)),
            _ => None,
        })
    }),
    ("a spill to a lane is forgotten", |m, at| forget(m, at, |effect| is_spill(effect, is_lane))),
    ("a spill to scratch memory is forgotten", |m, at| forget(m, at, |effect| is_spill(effect, is_scratch))),
    ("a lane index is off by one", |m, at| {
        effect(m, at, |effect| match effect {
            Effect::Copy(from, to) if is_lane(&to) => Some(Effect::Copy(from, next(to))),
            Effect::Copy(from, to) if is_lane(&from) => Some(Effect::Copy(next(from), to)),
            _ => None,
        })
    }),
    ("a slot is off by one", |m, at| {
        effect(m, at, |effect| match effect {
            Effect::Copy(from, to) if is_scratch(&to) => Some(Effect::Copy(from, next(to))),
            Effect::Copy(from, to) if is_scratch(&from) => Some(Effect::Copy(next(from), to)),
            _ => None,
        })
    }),
    ("a result is in another register", |m, at| {
        effect(m, at, |effect| match effect {
            Effect::Define(vreg, to) => Some(Effect::Define(vreg, next(to))),
            _ => None,
        })
    }),
    ("a result is no result", |m, at| {
        effect(m, at, |effect| match effect {
            Effect::Define(vreg, to @ (Place::Scalar(_) | Place::Vector(_))) => Some(Effect::Define(
                vreg,
                if let Place::Scalar(_) = to { Place::Scalar(61) } else { Place::Vector(61) },
            )),
            _ => None,
        })
    }),
];

/// Lowering.
const LOWERING: &[(&str, Mistake)] = &[
    ("an assignment is one instruction early", |m, at| moved(m, at, -4)),
    ("an assignment is one instruction late", |m, at| moved(m, at, 4)),
    ("an assignment is forgotten", |m, at| {
        let applies = matches!(m.facts[at].1, Fact::Assign(..));
        if applies {
            m.facts[at].1 = Fact::Step(Vec::new(), false);
        }
        applies
    }),
    ("an assigned value is another one", |m, at| {
        let (_, Fact::Assign(_, Given::Defined(vreg))) = m.facts[at] else { return false };
        let other = earlier(m, at, vreg);
        given(m, at, |_| other.map(Given::Defined))
    }),
    ("an assigned constant is another one", |m, at| {
        given(m, at, |given| if let Given::Const(bits) = given { Some(Given::Const(bits ^ 1)) } else { None })
    }),
    ("the value of another variable is assigned", |m, at| {
        given(m, at, |given| match given {
            Given::Of(slot) => Some(Given::Of(if slot > 0 { slot - 1 } else { slot + 1 })),
            _ => None,
        })
    }),
    ("a value is assigned to another variable", |m, at| {
        let (_, Fact::Assign(slot, _)) = &mut m.facts[at] else { return false };
        *slot = if *slot > 0 { *slot - 1 } else { *slot + 1 };
        true
    }),
    ("the narrowing at an `if` is forgotten", |m, at| exec(m, at, Change::And)),
    ("the other side of an `if` is forgotten", |m, at| exec(m, at, Change::Else)),
    ("lanes that leave a loop are forgotten", |m, at| exec(m, at, Change::AndNot)),
];

/// Emission.
const EMISSION: &[(&str, Mistake)] = &[
    ("a masked write is stated for all lanes", |m, at| all_lanes(m, at, false)),
    ("a write for all lanes is stated as masked", |m, at| all_lanes(m, at, true)),
    ("effects of two instructions are swapped", swapped),
    ("a constant is another one", |m, at| {
        effect(m, at, |effect| match effect {
            Effect::Constant(bits, to) => Some(Effect::Constant(bits ^ 1, to)),
            _ => None,
        })
    }),
    ("a constant is in another register", |m, at| {
        effect(m, at, |effect| match effect {
            Effect::Constant(bits, to) => Some(Effect::Constant(bits, next(to))),
            _ => None,
        })
    }),
    ("an overwritten register is left out", |m, at| {
        forget(m, at, |effect| matches!(effect, Effect::Clobber(_)))
    }),
    ("a constant is no write", |m, at| forget(m, at, |effect| matches!(effect, Effect::Constant(..)))),
    ("a computed result is stated as a move", |m, at| {
        effect(m, at, |effect| match effect {
            Effect::Define(_, to @ Place::Vector(_)) => Some(Effect::Copy(next(to), to)),
            _ => None,
        })
    }),
    ("a move is stated as an overwrite", |m, at| {
        effect(m, at, |effect| match effect {
            Effect::Copy(_, to) => Some(Effect::Clobber(to)),
            _ => None,
        })
    }),
    ("two results have their registers swapped", |m, at| {
        let of = |m: &Machine, at: usize| match &m.facts.get(at)?.1 {
            Fact::Step(effects, _) => match effects[..] {
                [Effect::Define(vreg, to @ Place::Vector(_))] => Some((vreg, to)),
                _ => None,
            },
            _ => None,
        };
        let Some(first) = of(m, at) else { return false };
        let Some((other, second)) = (at + 1..m.facts.len().min(at + 8)).find_map(|n| Some((n, of(m, n)?)))
        else {
            return false;
        };
        let is_same = first.1 == second.1;
        for (at, (vreg, to)) in [(at, (first.0, second.1)), (other, (second.0, first.1))] {
            if let Fact::Step(effects, _) = &mut m.facts[at].1 {
                effects[0] = Effect::Define(vreg, to);
            }
        }
        !is_same
    }),
];

#[derive(Debug, Default, Clone, Copy)]
struct Found {
    tried: u32,
    /// Mistakes by wrong claims, and by lost places.
    ran: u32,
    checked: u32,
    ran_lost: u32,
    checked_lost: u32,
}

impl Found {
    fn is_found(&self) -> bool {
        self.ran + self.ran_lost > 0 && self.checked + self.checked_lost > 0
    }
}

/// Positions of a mistake that are tried until one shows.
const MOST: usize = 12;

fn run(source: &Source, compiled: &Compiled<'_>) -> Proof {
    let inputs: Vec<Input> = (1..=2).map(|seed| Input::random(source, compiled, seed)).collect();
    prove(source, compiled, &inputs)
}

/// Runs the right code with other debug information.
fn run_with(source: &Source, compiled: &mut Compiled<'_>, wrong: debug::Debug) -> Proof {
    let text = wgsl_gfx::object::object(source, &compiled.lowered, &compiled.machines);
    let object = eitri::emit::elf::new_object(wrong.module.target(), &text, &wrong.written.sections);
    let object = std::mem::replace(&mut compiled.object, object.expect("an object"));
    let debug = std::mem::replace(&mut compiled.debug, wrong);
    let proof = run(source, compiled);
    (compiled.object, compiled.debug) = (object, debug);
    proof
}

/// Positions that are tried of each mistake in each shader.
fn positions() -> usize {
    let given = std::env::var("WGSL_GFX_MISTAKES").ok();
    given.map_or(1, |given| given.parse().expect("a number of positions"))
}

fn sabotage(name: &str, found: &mut BTreeMap<&'static str, Found>) {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("shaders").join(name);
    let text = std::fs::read_to_string(path).expect("a shader");
    let source = Source::new(name, &text).expect("a shader");
    let mut compiled =
        compile(&source, Limits { scalar: 8, vector: 8, ..Limits::default() }).expect("it is compiled");
    let right = run(&source, &compiled);
    assert!(right.wrong.is_empty(), "{name}: {:?}", right.wrong);
    for &(kind, mistake) in ADAPTER.iter().chain(LOWERING).chain(EMISSION) {
        let total = found.entry(kind).or_default();
        let places = (0..compiled.machines[0].facts.len())
            .filter(|&at| mistake(&mut compiled.machines[0].clone(), at));
        let places: Vec<usize> = places.collect();
        let step = (places.len() / MOST).max(1);
        // Some positions show nothing, as nobody uses what is wrong there.
        for (n, &at) in places.iter().skip(step / 2).step_by(step).take(MOST.max(positions())).enumerate() {
            if n >= positions() && total.is_found() {
                break;
            }
            let mut machines = compiled.machines.clone();
            mistake(&mut machines[0], at);
            total.tried += 1;
            let wrong = debug::describe(&source, &compiled.lowered, &machines).expect("statements that fit");
            let (_, codes) =
                debug::begin(&source, &compiled.lowered, &compiled.machines).expect("the right statements");
            let report = codes[0].track().expect("the code fits").check(&wrong.module);
            let before = report.recoverable;
            let proof = run_with(&source, &mut compiled, wrong);
            let ran = !proof.wrong.is_empty();
            let checked = !report.is_sound();
            total.ran += u32::from(ran);
            total.checked += u32::from(checked);
            total.ran_lost += u32::from(!ran && proof.right < right.right);
            total.checked_lost += u32::from(!checked && report.right < before);
            // The check is of places; where lanes wait, running alone shows.
            let of_place = proof.wrong.iter().find(|wrong| wrong.contains("(wave at"));
            assert!(checked || of_place.is_none(), "{name}, {kind}, fact {at}: running finds {of_place:?}");
        }
    }
}

#[test]
fn mistakes_of_the_compiler_are_found() {
    let mut found = BTreeMap::new();
    for name in ["pressure.wgsl", "branches.wgsl", "vote.wgsl", "loops.wgsl"] {
        sabotage(name, &mut found);
    }
    let total = |of: fn(&Found) -> u32| found.values().map(of).sum::<u32>();
    println!(
        "{} mistakes of {} kinds: wrong claims of {} by running, of {} by the check; places lost of {} and {}",
        total(|one| one.tried),
        found.len(),
        total(|one| one.ran),
        total(|one| one.checked),
        total(|one| one.ran_lost),
        total(|one| one.checked_lost)
    );
    for (kind, one) in &found {
        println!("{kind}: {one:?}");
    }
    assert_eq!(found.len(), 30);
    let missing: Vec<_> = found.iter().filter(|(_, one)| !one.is_found()).collect();
    assert!(missing.is_empty(), "not found by running, or not by the check: {missing:?}");
}

fn without(frame: &mut Frame, is_it: fn(u32) -> bool) -> bool {
    let before = frame.scalars.len();
    frame.scalars.retain(|of| !is_it(of.0));
    frame.scalars.len() < before
}

/// Frames.
const FRAMES: &[(&str, FrameMistake)] = &[
    ("the frame address is that of the frame's end", |_, frame| {
        frame.body.start = frame.body.end - 4;
        true
    }),
    ("the base register is declared too early", |_, frame| {
        frame.body.start -= 4;
        true
    }),
    ("the return address is declared to stay in its registers, which calls overwrite", |_, frame| {
        without(frame, |scalar| scalar >= RETURN && scalar != FRAME)
    }),
    ("the return address is in other lanes", |_, frame| {
        let halves = frame.scalars.iter_mut().filter(|of| of.0 != FRAME);
        halves.map(|half| half.1.1 = (half.1.1 + 1) % 32).count() > 0
    }),
    ("the rule of the base of the caller's frame is missing", |_, frame| {
        without(frame, |scalar| scalar == FRAME)
    }),
    ("a saved register is declared to be unchanged", |machine, frame| {
        frame.rows.pop().is_some_and(|(row, _)| machine.written.remove(&Reg::V(row)))
    }),
    ("a saved register is in another slot", |_, frame| {
        frame.rows.iter_mut().map(|row| row.1 += 4).count() > 0
    }),
    ("a register is declared to be saved before it is", |_, frame| {
        let is_there = !frame.rows.is_empty();
        frame.rows_from = frame.body.start;
        is_there
    }),
    ("EXEC is in another register", |_, frame| {
        frame.exec += 1;
        true
    }),
    ("the rules of overwritten registers are missing", |machine, _| {
        let is_there = !machine.written.is_empty();
        machine.written.clear();
        is_there
    }),
];

#[test]
fn mistakes_in_frames_are_found() {
    let mut found: BTreeMap<&str, [u32; 2]> = BTreeMap::new();
    for name in ["frames.wgsl", "nested.wgsl"] {
        let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("shaders").join(name);
        let text = std::fs::read_to_string(path).expect("a shader");
        let source = Source::new(name, &text).expect("a shader");
        let mut compiled =
            compile(&source, Limits { scalar: 8, vector: 8, ..Limits::default() }).expect("it is compiled");
        for function in 1..compiled.machines.len() {
            for &(kind, mistake) in FRAMES {
                if found.get(kind).is_some_and(|counts| counts[1] > 0) {
                    continue;
                }
                let mut machines = compiled.machines.clone();
                let mut frame = machines[function].frame.take().expect("a function that is called");
                if !mistake(&mut machines[function], &mut frame) {
                    continue;
                }
                machines[function].frame = Some(frame);
                let wrong = debug::describe(&source, &compiled.lowered, &machines).expect("rules that fit");
                let proof = run_with(&source, &mut compiled, wrong);
                let total = found.entry(kind).or_default();
                total[0] += 1;
                total[1] += u32::from(!proof.wrong.is_empty());
            }
        }
    }
    println!("{found:#?}");
    let missing: Vec<_> = found.iter().filter(|(_, counts)| counts[1] == 0).collect();
    assert!(found.len() == FRAMES.len() && missing.is_empty(), "not found by running: {missing:?}");
}

/// Homes in memory.
const HOMES: &[(&str, Mistake)] = &[
    ("a home in scratch memory begins before the first store", |m, at| {
        let is_home =
            matches!(&m.facts[at].1, Fact::Assign(slot, given) if *given == Given::Defined(contents(*slot)));
        let start = m.facts[at].0.start;
        let store = m.facts.iter().position(|(pcs, fact)| pcs.end == start && matches!(fact, Fact::Step(..)));
        let Some(store) = store.filter(|_| is_home) else { return false };
        // The first pc of the block is before all stores of its variables.
        let first = m.blocks.iter().find(|pcs| pcs.contains(&(start - 4))).expect("a block").start;
        (m.facts[at].0, m.facts[store].0) = (first + 4..first + 4, first..first + 4);
        first + 8 < start
    }),
    ("a home in scratch memory is at another dword", |m, at| {
        effect(m, at, |effect| match effect {
            Effect::Define(vreg, to @ Place::Scratch(_)) => Some(Effect::Define(vreg, next(to))),
            _ => None,
        })
    }),
    ("homes in local memory begin before it is zero", |m, at| {
        let is_zeroed = m.facts[at].1 == Fact::LocalZeroed;
        if is_zeroed {
            m.facts[at].0 = 0..0;
        }
        is_zeroed
    }),
];

#[test]
fn mistakes_in_homes_are_found() {
    let mut found = BTreeMap::new();
    for name in ["insertion.wgsl", "switch.wgsl", "histogram.wgsl", "scan.wgsl"] {
        let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("shaders").join(name);
        let text = std::fs::read_to_string(path).expect("a shader");
        let source = Source::new(name, &text).expect("a shader");
        let mut compiled = compile(&source, Limits::default()).expect("it is compiled");
        for &(kind, mistake) in HOMES {
            let places = (0..compiled.machines[0].facts.len())
                .filter(|&at| mistake(&mut compiled.machines[0].clone(), at));
            for at in places.take(2).collect::<Vec<_>>() {
                let mut machines = compiled.machines.clone();
                mistake(&mut machines[0], at);
                let wrong =
                    debug::describe(&source, &compiled.lowered, &machines).expect("statements that fit");
                let proof = run_with(&source, &mut compiled, wrong);
                assert!(!proof.wrong.is_empty(), "{name}: {kind}, fact {at}");
                *found.entry(kind).or_insert(0) += 1;
            }
        }
    }
    println!("{found:#?}");
    assert_eq!(found.len(), HOMES.len(), "{found:?}");
}
