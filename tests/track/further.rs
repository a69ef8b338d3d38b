//! Further cases in the language of the cases, by hand: calls, loops with `break` and `continue`, spills, constants, masks.

use std::collections::BTreeSet;

use eitri::model::Loc;

use super::program::{At, BYTES, Program, Stated};

/// The rule shown, a program, and every place of each variable by pc: `x 04-10 v3, 10-18 v3 v5`.
const CASES: &[(&str, &str, &str)] = &[
    (
        "a call overwrites rows in the lanes that call",
        "define v3 a
        assign x value a
        copy v5 v3
        exec_save m
        exec_and m
        call v3 s6
        other
        exec_else m
        other
        exec_restore m
        other
        end",
        "x 04-08 v3, 08-14 v3 v5, 14-1c v5, 1c-24 v3 v5, 24-2c v5",
    ),
    (
        "a call for all lanes overwrites rows of those that wait",
        "define v3 a
        assign x value a
        copy v5 v3
        exec_save m
        exec_and m
        whole_wave_begin
        call v3
        whole_wave_end
        exec_else m
        other
        exec_restore m
        other
        end",
        "x 04-08 v3, 08-0c v5, 0c-18 v3 v5, 18-34 v5",
    ),
    (
        "a call preserves other registers",
        "define s4 a
        assign n value a
        copy s8 s4
        call s4 v3
        other
        end",
        "n 04-08 s4, 08-0c s4 s8, 0c-14 s8",
    ),
    (
        "lanes leave a loop at a `break` and at its end, and the counter counts on",
        "define s4 a
        assign i value a
        exec_save m
        define s4 b
        assign i value b
        other
        exec_and_not m
        define v3 c
        assign x value c
        exec_and_not m
        branch_if_any_lane 8
        exec_restore m
        other
        end",
        "i 04-20 s4; x 18-20 v3",
    ),
    (
        "a row that a loop keeps is kept by lanes that have left",
        "define v3 a
        assign x value a
        exec_save m
        copy v5 v3
        exec_and_not m
        define v5 b
        exec_and_not m
        branch_if_any_lane 8
        exec_restore m
        other
        end",
        "x 04-0c v3, 0c-14 v3 v5, 14-1c v3, 20-28 v3",
    ),
    (
        "lanes that continue wait for the end of the iteration",
        "define v3 a
        assign x value a
        exec_save m
        exec_save k
        copy v5 v3
        exec_and_not k
        define v3 b
        assign x value b
        other
        exec_restore k
        other
        exec_and_not m
        branch_if_any_lane 8
        exec_restore m
        other
        end",
        "x 04-10 v3, 10-18 v3 v5, 18-2c v3, 30-38 v3",
    ),
    (
        "a lane that returned early keeps its value, and others have another",
        "define v3 a
        assign x value a
        exec_save r
        exec_save m
        exec_and m
        exec_and_not r
        define v3 b
        exec_restore m
        define v5 c
        assign x value c
        other
        exec_restore r
        other
        end",
        "x 04-18 v3, 20-28 v5",
    ),
    (
        "a slot of scratch memory is a row",
        "define v3 a
        assign x value a
        copy p0 v3
        exec_save m
        exec_and m
        define v3 b
        copy v3 p0
        exec_restore m
        other
        end",
        "x 04-08 v3, 08-14 v3 p0, 14-18 p0, 18-24 v3 p0",
    ),
    (
        "contents that others write meanwhile are not known where lanes wait",
        "define s4 a
        assign n contents s4
        exec_save m
        exec_and m
        define s4 t
        other
        exec_restore m
        other
        end",
        "n 08-10 s4",
    ),
    (
        "a constant needs no place, and has those that receive it",
        "other
        assign x constant 1
        const s4 1
        define s4 t
        end",
        "x 04-08 #1, 08-0c #1 s4, 0c-10 #1",
    ),
    (
        "a value is computed again",
        "define s4 a
        assign n value a
        define s4 t
        redefine s6 a
        other
        end",
        "n 04-08 s4, 0c-14 s6",
    ),
    (
        "a scalar receives what all active lanes have",
        "define v3 a
        assign x value a
        copy s4 v3
        define v3 b
        other
        end",
        "x 04-08 v3, 08-0c v3 s4, 0c-14 s4",
    ),
    (
        "a variable without a value is nowhere",
        "define v3 a
        assign x value a
        other
        assign x nothing
        end",
        "x 04-08 v3",
    ),
    (
        "a copy in the other side is none behind the `if`",
        "define v3 a
        assign x value a
        exec_save m
        exec_and m
        other
        exec_else m
        copy v5 v3
        other
        exec_restore m
        other
        end",
        "x 04-18 v3, 18-20 v3 v5, 20-28 v3",
    ),
    (
        "a scalar that an inner side overwrites is lost for lanes that wait for both masks",
        "define s4 n
        assign i value n
        copy s6 s4
        exec_save m
        exec_and m
        exec_save p
        exec_and p
        define s4 t
        other
        exec_restore p
        exec_restore m
        end",
        "i 04-08 s4, 08-0c s6, 0c-10 s4 s6, 10-14 s6, 14-1c s4 s6, 1c-2c s6",
    ),
    (
        "lanes that have left a loop keep the row of their last iteration",
        "exec_save m
        define v3 a
        assign x value a
        exec_and_not m
        branch_if_any_lane 4
        exec_restore m
        other
        end",
        "x 08-10 v3, 14-1c v3",
    ),
    (
        "a move on a back edge",
        "define s4 a
        assign i value a
        other
        define s5 b
        assign i value b
        copy s4 s5
        branch_if 8
        end",
        "i 04-0c s4, 0c-10 s5, 10-18 s4 s5",
    ),
    (
        "registers that a loop swaps have neither variable",
        "define s4 a
        assign x value a
        define s5 b
        assign y value b
        copy s6 s4
        copy s4 s5
        copy s5 s6
        branch_if 8
        end",
        "x 04-08 s4; y 00-00 s5",
    ),
    (
        "a scalar overwrites a lane of a row, and a masked copy perhaps the lane",
        "define s4 n
        assign i value n
        define v3 a
        assign x value a
        copy v5 v3
        copy v3.2 s4
        copy v3 v5
        other
        end",
        "i 04-10 s4, 10-14 s4 v3.2, 14-1c s4; x 08-0c v3, 0c-10 v3 v5, 10-14 v5, 14-1c v3 v5",
    ),
    (
        "moves on both edges to a join",
        "define s5 c
        assign i value c
        branch_if 20
        copy s4 s5
        define s5 d
        branch 28
        copy s4 s5
        define s5 e
        other
        end",
        "i 04-0c s5, 0c-10 s4 s5, 10-14 s4, 14-18 s5, 18-1c s4 s5, 1c-24 s4",
    ),
    (
        "a whole-wave write in the other side reaches lanes that wait behind",
        "define v3 a
        assign x value a
        exec_save m
        exec_and m
        other
        exec_else m
        whole_wave_begin
        define v3 t
        whole_wave_end
        exec_restore m
        other
        end",
        "x 04-1c v3",
    ),
    (
        "a register is saved around a call in a loop",
        "define s4 n
        assign i value n
        copy v40.3 s4
        call s4 v3
        copy s4 v40.3
        branch_if 8
        end",
        "i 04-08 s4, 08-0c s4 v40.3, 0c-10 v40.3, 10-18 s4 v40.3",
    ),
    (
        "one constant on both sides is this constant behind",
        "exec_save m
        exec_and m
        const v3 1
        assign x constant 1
        exec_else m
        const v3 1
        assign x constant 1
        exec_restore m
        end",
        "x 0c-10 #1 v3, 14-1c #1 v3",
    ),
    (
        "two constants meet in one place",
        "exec_save m
        exec_and m
        const v3 1
        assign x constant 1
        exec_else m
        const v3 0
        assign x constant 0
        exec_restore m
        end",
        "x 0c-10 #1 v3, 14-18 #0 v3, 18-1c v3",
    ),
    (
        "a lane that returned early loses a scalar that others overwrite",
        "define s4 n
        assign i value n
        exec_save r
        exec_and_not r
        define s4 t
        other
        exec_restore r
        end",
        "i 04-10 s4",
    ),
    (
        "a scalar that others borrow is back behind the end of the wait, and not there",
        "define s4 n
        assign i value n
        copy v40.3 s4
        exec_save r
        exec_and_not r
        define s4 t
        copy s4 v40.3
        exec_restore r
        other
        end",
        "i 04-08 s4, 08-14 s4 v40.3, 14-18 v40.3, 18-1c s4 v40.3, 1c-20 v40.3, 20-24 s4 v40.3",
    ),
    (
        "a scalar has what the lanes of one side have, and not the others",
        "define v3 a
        assign x value a
        exec_save m
        exec_and m
        copy s4 v3
        other
        exec_restore m
        other
        end",
        "x 04-10 v3, 10-18 v3 s4, 18-20 v3",
    ),
    (
        "a scalar is copied to all lanes of a row, and overwritten in one side",
        "define s4 n
        assign i value n
        whole_wave_begin
        copy v3 s4
        whole_wave_end
        exec_save m
        exec_and m
        define s4 t
        exec_restore m
        other
        end",
        "i 04-0c s4, 0c-10 s4 v3, 10-14 v3, 14-1c s4 v3, 1c-28 v3",
    ),
    (
        "contents that met in one register are a value",
        "exec_save m
        exec_and m
        define v3 a
        exec_else m
        define v3 b
        exec_restore m
        assign x contents v3
        other
        end",
        "x 18-20 v3",
    ),
    (
        "the instruction that saves a mask overwrites its register for lanes that wait there",
        "define s6 n
        assign i value n
        copy s7 s6
        exec_save m s6
        exec_and m
        other
        exec_restore m
        end",
        "i 04-08 s6, 08-1c s7",
    ),
    (
        "the instruction that ends a wait may overwrite what the lanes have until then",
        "define s7 n
        assign i value n
        exec_save m
        exec_and m
        other
        exec_else m s7
        other
        exec_restore m
        end",
        "i 04-14 s7",
    ),
    (
        "lanes that wait find a scalar that is read back with what it had",
        "define s4 a
        assign n value a
        copy v40.3 s4
        exec_save m
        exec_and m
        copy s4 v40.3
        other
        exec_else m
        other
        exec_restore m
        end",
        "n 04-08 s4, 08-2c s4 v40.3",
    ),
    (
        "a scalar that is read back on one of two ways is what it was on both",
        "define s4 a
        assign n value a
        copy v40.3 s4
        exec_save m
        exec_and m
        branch_if 24
        copy s4 v40.3
        exec_restore m
        other
        end",
        "n 04-08 s4, 08-24 s4 v40.3",
    ),
    (
        "lanes that wait find a scalar changed that is read back when it has another value",
        "define s4 a
        assign n value a
        copy v40.3 s4
        define s4 b
        exec_save m
        assign k value b
        exec_and m
        branch_if 28
        copy s4 v40.3
        exec_restore m
        other
        end",
        "n 04-08 s4, 08-0c s4 v40.3, 0c-28 v40.3; k 10-1c s4",
    ),
    (
        "lanes that wait find a row reloaded in all lanes with what it had, and another one changed",
        "define v3 a
        assign x value a
        copy p7 v3
        copy v4 v3
        exec_save m
        exec_and m
        whole_wave_begin
        copy v3 p7
        define v4 b
        whole_wave_end
        exec_restore m
        other
        end",
        "x 04-08 v3, 08-0c v3 p7, 0c-10 v3 p7, 10-20 v3 v4 p7, 20-30 v3 p7",
    ),
    (
        "lanes that wait find a constant written again",
        "copy s4 #7
        assign n value #7
        exec_save m
        exec_and m
        copy s4 #7
        exec_restore m
        other
        end",
        "n 04-1c s4 #7",
    ),
];

#[test]
fn cases_by_hand_have_every_place() {
    for (name, text, expected) in CASES {
        let program = Program::text(text);
        let stated = Stated::new(&program);
        let tracked = stated.code.track().unwrap_or_else(|error| panic!("{name}: {error}"));
        for of in expected.split("; ") {
            let (variable, ranges) = of.split_once(' ').expect("a variable");
            for pc in (0..program.pc()).step_by(BYTES as usize) {
                let here = ranges.split(", ").filter_map(|range| {
                    let (pcs, places) = range.split_once(' ').expect("places");
                    let (start, end) = pcs.split_once('-').expect("pcs");
                    let number = |text| u64::from_str_radix(text, 16).expect("a pc");
                    (number(start)..number(end)).contains(&pc).then_some(places)
                });
                let listed: BTreeSet<At> = here.flat_map(|places| places.split(' ')).map(At::parse).collect();
                let found = tracked.places_at(stated.variables[variable], pc).expect("known");
                let is_listed = |loc: &Loc| listed.iter().any(|at| at.loc(&stated.gpu) == *loc);
                let is_same = found.len() == listed.len() && found.iter().all(is_listed);
                assert!(is_same, "{name}: {variable} at {pc:#x}: expected {listed:?}, found {found:?}");
            }
        }
    }
}
