//! Faulty mixes. eitri and the hand-written encoder with checks refuse the same faults.

use super::content::{At, Function, GPU, Kind, Mix, Place, Shape, Type, Variable};

/// Name of a fault, and its effect on a mix.
type Fault = (&'static str, fn(&mut Mix));

const FAULTS: [Fault; 12] = [
    ("an empty range", |mix| mix.entries[0].end = mix.entries[0].start),
    ("a range outside the function", |mix| mix.entries[0].end = 0x100_0000),
    ("a range that begins inside an instruction", |mix| mix.entries[0].start += 2),
    ("overlapping ranges", |mix| {
        let first = entries_of(mix, |_| true, 2);
        mix.entries[first + 1].start = mix.entries[first].start;
    }),
    ("an unknown register", |mix| mix.entries[0].place = Place::Register(5000)),
    ("a lane outside the wave", |mix| {
        let first = entries_of(mix, |variable| variable.ty == Type::Base(0), 1);
        mix.entries[first].place = Place::Lane(1536, 32);
    }),
    ("a lane of a scalar register", |mix| {
        let first = entries_of(mix, |variable| variable.ty == Type::Base(0), 1);
        mix.entries[first].place = Place::PerLane(32);
    }),
    ("a register that is too small", |mix| {
        let first = entries_of(mix, |variable| variable.ty == Type::Base(3), 1);
        mix.entries[first].place = Place::Register(32);
    }),
    ("a scope outside the enclosing scope", |mix| {
        let is_nested =
            |function: &&Function| mix.scopes[function.scopes.clone()].iter().any(|scope| scope.depth == 2);
        let function = mix.functions.iter().find(is_nested).expect("a nested scope");
        let scope = mix.scopes[function.scopes.clone()].iter().find(|scope| scope.depth == 2).expect("it");
        // No scope contains the last instruction of the function.
        let bytes = function.code.expect("code").bytes;
        mix.ranges[scope.ranges.start] = bytes - 4..bytes;
    }),
    ("overlapping ranges of a scope", |mix| {
        let scope = mix.scopes.iter().find(|scope| scope.ranges.len() > 1).expect("a scope with two ranges");
        mix.ranges[scope.ranges.start + 1] = mix.ranges[scope.ranges.start].clone();
    }),
    ("a row inside an instruction", |mix| mix.rows[1].pc += 2),
    ("a parameter of a block", |mix| {
        let scope = mix.scopes.iter().find(|scope| matches!(scope.kind, Kind::Block)).expect("a block");
        mix.variables[scope.variables.start].is_parameter = true;
    }),
];

/// Panics unless all faults are refused.
pub fn assert_refused() {
    for (name, fault) in FAULTS {
        let mut mix = Mix::new(Shape { units: 1, functions: 40, inlined: 4, structures: 10, rows: 5, ..GPU });
        fault(&mut mix);
        assert!(super::eitri::describe(&mix).is_err(), "eitri accepts {name}");
        assert!(super::hand::is_refused(&mix), "hand_checked accepts {name}");
    }
}

/// First entry of a variable with at least `count` entries.
fn entries_of(mix: &Mix, is_wanted: impl Fn(&Variable) -> bool, count: usize) -> usize {
    let entries =
        mix.variables.iter().filter(|variable| is_wanted(variable)).find_map(|variable| match &variable.at {
            At::Entries(entries) if entries.len() >= count => Some(entries.start),
            _ => None,
        });
    entries.expect("a variable with entries")
}
