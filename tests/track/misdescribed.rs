//! Mistakes in a description of one kernel, one by one: the claims, which of them the code refutes, what overwrote the
//! place, and where the variable is, worked out by hand.

use std::collections::BTreeSet;
use std::ops::Range;

use eitri::model::Module;

use super::program::{At, Program, Stated};
use super::sabotage::KERNEL;

/// A mistake, a variable, a place, pcs that are claimed, pcs that are refuted or missed, the pc of the instruction that
/// overwrote the place or assigned the variable, and the places at the first refuted pc.
const MISTAKES: &str = "
    a range begins before the value is assigned | x | v3 | 00-08 | 00-04 | - |
    a range ends one instruction late | i | s4 | 24-2c | 28-2c | 24 | v40.3
    a range is moved by one instruction | x | v7 | 24-30 | 2c-30 | 2c | v3
    a move on a back edge is forgotten | k | s13 | 8c-9c | 98-9c | 94 | s12
    a move on a back edge is claimed before it is made | k | s12 | 8c-98 | 8c-94 | 8c | s13
    a clobber is forgotten | x | v3 | 2c-3c | 34-38 | 30 | p0
    a clobber behind the `if` is forgotten | i | s4 | 54-5c | 58-5c | 54 | v40.3
    a masked copy is described as whole | x | v7 | 40-48 | 40-48 | 04 | v3 v5
    a slot of one side is claimed behind the `if` | x | p0 | 50-54 | 50-54 | 48 | v3
    the sides of an `if` are swapped, in the second | x | p0 | 44-48 | 44-48 | 04 | v3 v5 v8
    the sides of an `if` are swapped, in the first | x | v8 | 30-34 | 30-34 | 2c | v3 p0
    a caller-saved register is kept across a call | z | s30 | a8-b4 | b0-b4 | ac | v41.0
    a callee-saved register is claimed before it is restored | z | s30 | b0-c4 | b0-b4 | ac | v41.0
    a tied operand's copy is taken for the result | x | v5 | 2c-30 | 2c-30 | 2c | v3
    a lane index is off by one | i | v40.4 | 0c-10 | 0c-10 | - | s4 v40.3
    a lane of another register is claimed | i | v41.0 | ac-b0 | ac-b0 | a8 | s4 v40.3 s8
    a row is claimed that whole-wave code overwrites | y | v9 | 6c-7c | 78-7c | 74 | v10
    a copy in whole-wave code is claimed before it is made | y | v10 | 70-78 | 70-74 | 6c | v9
    lanes wait while a scalar is overwritten | i | s4 | 10-14 | 10-14 | 24 | v40.3
    a counter is claimed for lanes that have left the loop | k | s12 | a4-a8 | a4-a8 | 90 |
    a constant is another one | k | #2 | b8-bc | b8-bc | - | s20 #1
    a constant is claimed before it is assigned | k | #1 | b4-b8 | b4-b8 | - |
    a register of another variable is claimed | y | s4 | 60-64 | 60-64 | 60 | s8
    a copy's source is claimed after it is overwritten | y | s8 | 60-6c | 68-6c | 64 | s9
    a value that is computed again is of another variable | y | s21 | bc-c0 | bc-c0 | b8 | v10
    a variable is assigned, and the range goes on | x | v5 | 28-34 | 2c-34 | 2c | v3
    a range of the then-part goes on in the else-part | x | p0 | 38-44 | 40-44 | 04 | v3 v5
    a copy is claimed before it is made | x | v8 | 40-48 | 40-44 | 04 | v3 v5
    a spill slot is off by one | x | p1 | 30-3c | 30-3c | 2c | v3 p0
    all lanes of a register are claimed where one is written | i | v40 | 0c-10 | 0c-10 | - | s4 v40.3
    one lane of a row is claimed for all | x | v3.0 | 08-0c | 08-0c | - | v3
    the register of a mask is claimed | i | s6 | 14-18 | 14-18 | 10 | s4 v40.3
    a row is kept across a call | y | v9 | a8-b4 | b0-b4 | ac | v10
    a loop's value is claimed from the loop's head on | k | s13 | 88-90 | 88-8c | 84 | s12
    a restored scalar is claimed one instruction early | i | s4 | 38-40 | 38-3c | 24 | v40.3
    a range begins late | x | v5 | 14-2c, 40-50 | missed 10-14 | |
    a range ends early | x | v5 | 10-28, 40-50 | missed 28-2c | |
    one of two places is forgotten | i | v40.3 | | missed 0c-a0, a4-c4 | |
    a place behind a call is forgotten | y | v10 | 74-78, 7c-b0 | missed 78-7c, b0-c4 | |
    the copy of one side is forgotten | x | v8 | | missed 44-48 | |";

struct Mistake<'t> {
    name: &'t str,
    variable: &'t str,
    place: At,
    claimed: Vec<Range<u64>>,
    refuted: &'t str,
    overwritten: Option<u64>,
    places: BTreeSet<At>,
}

fn number(text: &str) -> u64 {
    u64::from_str_radix(text, 16).expect("a pc")
}

fn pcs(text: &str) -> Vec<Range<u64>> {
    let all = text.split(", ").filter(|text| !text.is_empty());
    let range = |text: &str| {
        let (start, end) = text.split_once('-').expect("pcs");
        number(start)..number(end)
    };
    all.map(range).collect()
}

fn mistakes() -> impl Iterator<Item = Mistake<'static>> {
    MISTAKES.trim().lines().map(|row| {
        let cells: Vec<&str> = row.split('|').map(str::trim).collect();
        let [name, variable, place, claimed, refuted, overwritten, places] = cells[..] else {
            panic!("seven cells: {row}")
        };
        Mistake {
            name,
            variable,
            place: At::parse(place),
            claimed: pcs(claimed),
            refuted,
            overwritten: u64::from_str_radix(overwritten, 16).ok(),
            places: places.split(' ').filter(|place| !place.is_empty()).map(At::parse).collect(),
        }
    })
}

/// The kernel with one variable's claims.
fn described(program: &Program, mistake: &Mistake<'_>) -> Module {
    let mut stated = Stated::new(program);
    let id = stated.variables[mistake.variable];
    for pcs in &mistake.claimed {
        let mut variable = stated.builder.describe_variable(id).expect("a variable");
        variable.live(pcs.clone(), mistake.place.loc(&stated.gpu)).expect("a location");
    }
    stated.builder.finish().expect("a module")
}

/// The name of a place in a finding.
fn text(place: At) -> String {
    match place {
        At::Scalar(n) => format!("s{n}"),
        At::Row(n) => format!("v{n}"),
        At::Slot(n) => format!("stack slot {}", 4 * n),
        At::Lane(n, lane) => format!("v{n} lane {lane}"),
        At::Constant(bits) => format!("constant 0x{bits:08x}"),
    }
}

#[test]
fn each_mistake_is_found_with_its_reason() {
    let program = Program::text(KERNEL);
    let mut names = BTreeSet::new();
    let mut wrong = Vec::new();
    for mistake in mistakes() {
        assert!(names.insert(mistake.name), "two mistakes: {}", mistake.name);
        let module = described(&program, &mistake);
        let stated = Stated::new(&program);
        let id = stated.variables[mistake.variable];
        let report = stated.code.track().expect("the code fits").check(&module);
        let mut check = |what: &str, is_right: bool| {
            if !is_right {
                wrong.push(format!("{}: {what}: {:#?}", mistake.name, report.stale));
            }
        };
        if let Some(missed) = mistake.refuted.strip_prefix("missed ") {
            let all =
                report.missed.iter().filter(|one| one.variable == id && one.place == text(mistake.place));
            let all: Vec<_> = all.map(|one| one.pcs.clone()).collect();
            assert!(report.is_sound(), "{}: {report}", mistake.name);
            assert_eq!(all, pcs(missed), "{}", mistake.name);
            continue;
        }
        let all: Vec<_> = report.stale.iter().map(|one| one.pcs.clone()).collect();
        assert_eq!(all, pcs(mistake.refuted), "{}: {report}", mistake.name);
        let stale = &report.stale[0];
        check("the variable", stale.variable == id && stale.at.to_string().contains(mistake.variable));
        check("what overwrote it", stale.overwritten == mistake.overwritten);
        let places: BTreeSet<String> = stale.places.iter().cloned().collect();
        check("where it is", places == mistake.places.iter().map(|&place| text(place)).collect());
        check("a path", stale.overwritten.is_some() != stale.path.is_empty());
        let line = stale.to_string();
        let is_written = |text: &String| line.contains(text.as_str());
        check("the text", stale.places.iter().all(is_written) && line.starts_with("stale: unit `a.cl`, "));
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    assert!(names.len() >= 30);
}
