//! Mistakes that compilers make: in the statements about code, and in a description.

use eitri::model::{Loc, Module};
use eitri::track::{Keep, TrackReport};

use super::program::{Op, Program, Stated};
use super::random;

/// A kernel with most constructs of a compiler.
pub const KERNEL: &str = "
    define v3 a
    assign x value a
    define s4 n
    assign i value n
    copy v40.3 s4
    copy v5 v3
    exec_save m s6
    exec_and m
    other
    copy v7 v3
    other
    define s4 t
    define v3 b
    assign x value b
    copy p0 v3
    clobber v3 s7
    copy v3 p0
    copy s4 v40.3
    exec_else m
    copy v8 v5
    define v5 c
    assign x value c
    copy v3 v5
    exec_restore m
    other
    clobber s4 v5
    copy s4 v40.3
    define s8 d
    assign y value d
    copy s9 s8
    copy s8 s4
    define v9 e
    assign y contents v9
    whole_wave_begin
    copy v10 v9
    define v9 w
    copy v9 v10
    whole_wave_end
    define s12 init
    assign k value init
    exec_save q
    define s13 next
    assign k value next
    other
    copy s12 s13
    define s13 scratch
    exec_and_not q
    branch_if_any_lane 136
    exec_restore q
    define s30 r
    assign z value r
    copy v41.0 s30
    call s30 s31 v9
    copy s30 v41.0
    const s20 1
    assign k constant 1
    redefine s21 d
    other
    end";

/// Lines that are replaced: the mistake, the right lines, the wrong ones.
const MISTAKES: &str = "
    a write is forgotten | define s4 t | other
    a definition of a row is forgotten | define v5 c | other
    a clobber is forgotten | clobber v3 s7 | other
    a clobber behind the `if` is forgotten | clobber s4 v5 | other
    a caller-saved register is left out | clobber s4 v5 | clobber v5
    a restored register is taken to be another | copy s4 v40.3; exec_else | copy s7 v40.3; exec_else
    a lane index is off by one | copy v40.3 s4 | copy v40.4 s4
    a restore is from the wrong lane | copy s4 v40.3; define s8 | copy s4 v40.2; define s8
    a spill slot is shared | copy v7 v3 | copy p0 v3
    a fill is from another slot | copy v3 p0 | copy v3 p1
    a spill is forgotten | copy p0 v3 | other
    a masked copy is stated as whole | other; copy v7 v3; other | whole_wave_begin; copy v7 v3; whole_wave_end
    a copy has its sides swapped | copy v5 v3 | copy v3 v5
    the sides of the `if` are stated without the flip | exec_else m; copy v8 v5 | other; copy v8 v5
    an assignment is one instruction late | assign x value b; copy p0 v3 | copy p0 v3; assign x value b
    an assignment is one instruction early | define v5 c; assign x value c | assign x value a; define v5 c
    an assignment is forgotten | assign x value c |
    an assignment is to another variable | assign y value d | assign x value d
    an assigned value is another one | assign y value d | assign y value n
    a copy's source is the wrong register | copy s9 s8 | copy s9 s4
    a copy's target is the wrong register | copy s9 s8 | copy s10 s8
    a scalar overwrites a lane of a row | copy v8 v5 | copy v3.2 s4
    a move is forgotten | copy s8 s4 | other
    a restore of EXEC's scalar is stated early | define s8 d; assign y value d; copy s9 s8 | copy s9 s8; define s8 d; assign y value d
    a whole-wave restore is forgotten | copy v9 v10 | other
    a whole-wave write is stated for another register | define v9 w | define v8 w
    a tied operand is stated as another register | define v3 b | define v2 b
    a move on an edge is forgotten | copy s12 s13 | other
    a move on an edge is stated one instruction early | other; copy s12 s13 | copy s12 s13; other
    moves on an edge are stated in the wrong order | copy s12 s13; define s13 scratch | define s13 scratch; copy s12 s13
    a caller-saved register is kept across a call | call s30 s31 v9 | call s31 v9
    a callee-saved register is restored too early | call s30 s31 v9; copy s30 v41.0 | copy s30 v41.0; call s30 s31 v9
    a register is saved to the wrong lane | copy v41.0 s30 | copy v41.1 s30
    a constant is another | const s20 1 | const s20 2
    a value that is computed again is another | redefine s21 d | redefine s21 n
    an assigned constant is another | assign k constant 1 | assign k constant 2";

/// The rows of [`MISTAKES`].
fn mistakes() -> impl Iterator<Item = [String; 3]> {
    let cell = |text: &str| text.trim().replace("; ", "\n    ");
    MISTAKES.trim().lines().map(move |row| {
        let cells: Vec<_> = row.split('|').map(cell).collect();
        cells.try_into().expect("three cells")
    })
}

/// Returns the module that is described by the places of a program.
fn described(program: &Program, keep: Keep) -> Module {
    let mut stated = Stated::new(program);
    stated.code.track().expect("the code fits").describe(&mut stated.builder, keep).expect("locations");
    stated.builder.finish().expect("a module")
}

fn checked(program: &Program, module: &Module) -> TrackReport {
    Stated::new(program).code.track().expect("the code fits").check(module)
}

#[test]
fn mistakes_in_what_is_told_are_found() {
    let right = Program::text(KERNEL);
    let module = described(&right, Keep::All);
    let report = checked(&right, &module);
    assert!(report.is_sound() && report.right == report.recoverable, "{report}");
    assert!(mistakes().count() >= 30);
    let mut lost = Vec::new();
    for [name, from, to] in mistakes() {
        assert_eq!(KERNEL.matches(&from).count(), 1, "{name}: the lines are in the kernel once");
        let wrong = KERNEL.replace(&from, &to);
        let wrong = Program::text(&wrong);
        assert_eq!(wrong.pc(), right.pc(), "{name}: the mistake keeps the pcs");
        // The description that follows from the mistake, and the right one with the mistaken code.
        let one = checked(&right, &described(&wrong, Keep::All));
        let two = checked(&wrong, &module);
        let is_complete = |report: &TrackReport| report.is_sound() && report.missed.is_empty();
        if is_complete(&one) || is_complete(&two) || (one.is_sound() && two.is_sound()) {
            lost.push(name);
        }
    }
    assert!(lost.is_empty(), "not found: {lost:#?}");
}

/// Mistakes in each range of a description: its place, its start, its end.
#[test]
fn mistakes_in_a_description_are_found() {
    let right = Program::text(KERNEL);
    let mut found = [0; 4];
    let tracked = Stated::new(&right);
    let tracked = tracked.code.track().expect("the code fits");
    for (name, variable) in Stated::new(&right).variables {
        let module = described(&right, Keep::All);
        for live in module.live(variable) {
            let loc = |pc: u64| tracked.places_at(variable, pc).expect("known");
            let other = Loc::per_lane(Stated::new(&right).gpu.vgpr(2).expect("known"));
            let pcs = live.pcs();
            let here =
                loc(pcs.start).into_iter().find(|loc| loc.nodes().eq(module.nodes(live.loc))).expect("known");
            let mistakes = [
                (pcs.clone(), other),
                (pcs.start..pcs.end + 4, here.clone()),
                (pcs.start.saturating_sub(4)..pcs.end, here.clone()),
                (pcs.start + 4..pcs.end + 4, here.clone()),
            ];
            for (kind, (pcs, place)) in mistakes.into_iter().enumerate() {
                // Behind a branch if any lane is active, no lane stands, and every claim is true.
                let is_after = |pc: u64| right.code.get((pc / 4).wrapping_sub(1) as usize);
                let is_empty = |pc: u64| matches!(is_after(pc), Some((Op::BranchIfAny(_), _)));
                let is_true = |pc: u64| loc(pc).contains(&place) || is_empty(pc);
                let all_true = pcs.clone().step_by(4).all(is_true);
                if pcs.is_empty() || pcs.end > right.pc() || all_true {
                    continue;
                }
                let mut stated = Stated::new(&right);
                let variable = stated.variables[&name];
                let mut builder = stated.builder.describe_variable(variable).expect("a variable");
                builder.live(pcs.clone(), place.clone()).expect("a location");
                let module = stated.builder.finish().expect("a module");
                let report = checked(&right, &module);
                assert!(!report.is_sound(), "{name}, {pcs:x?} in {place:?}");
                found[kind] += 1;
            }
        }
    }
    assert!(found.iter().all(|&found| found > 5), "{found:?}");
}

/// Derived places are right and complete; one place at a time is right.
#[test]
fn derived_descriptions_are_right() {
    for seed in 0..200 {
        let program = random::program(seed, 6);
        let report = checked(&program, &described(&program, Keep::All));
        assert!(report.is_sound() && report.missed.is_empty(), "seed {seed}: {report}");
        assert_eq!((report.claimed, report.right), (report.recoverable, report.recoverable), "seed {seed}");
        let one = checked(&program, &described(&program, Keep::Single));
        assert!(one.is_sound() && one.right <= report.right, "seed {seed}: {one}");
    }
}
