//! Promise: an imported location means what the expression means, in the objects of all producers and for random
//! expressions; and what eitri writes is imported as typed nodes only.

mod compare;
mod corpus;
pub mod machine;
mod producers;
mod random;
mod references;
mod round_trip;
mod table;
mod text;

use crate::common::cases::cases;

#[test]
fn random_expressions_are_imported_as_they_are_evaluated() {
    let count = cases(3000);
    let outcomes = random::compared(0x1f83_d9ab_fb41_bd6b, count);
    let random::Outcomes { typed, proven, meaningless, untyped, refused, ref differences } = outcomes;
    println!(
        "{count}: {typed} typed, {proven} proven, {meaningless} meaningless, {untyped} untyped, {refused} refused"
    );
    let shown: Vec<_> = differences.iter().map(|text| &text[..text.len().min(800)]).take(10).collect();
    assert!(differences.is_empty(), "{}:\n{}", differences.len(), shown.join("\n"));
    assert!(proven > count / 3 && typed > count * 2 / 5, "{typed} {proven} of {count}");
}
