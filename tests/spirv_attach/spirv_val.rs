//! `spirv-val` on modules with attached instructions.

use eitri::spirv::{Mode, Provider, Set};

use crate::spirv_attach::support::{Case, bytes};
use crate::spirv_attach::tools::{Folder, Tool};

pub const SPIRV_VAL: Tool = Tool::new("spirv-val", "spirv-tools");

#[test]
fn the_validator_takes_it() {
    let case = Case::new();
    let mut binding = case.bound();
    binding
        .line(case.start("entry"), case.line(2))
        .declare(case.after("var"), case.n, Provider::value(case.id("var")))
        .scope(case.start("then"), case.block)
        .line(case.start("then"), case.line(4))
        .value(case.after("more"), case.inner, &[Provider::value(case.id("more"))])
        .value(
            case.after("two"),
            case.pair,
            &[Provider::value(case.id("more")).bits(0..32), Provider::value(case.id("two")).bits(32..96)],
        )
        .value(case.after("three"), case.pair, &[Provider::value(case.id("more")).part(2)])
        .value(case.after("sum"), case.sum, &[])
        .declare(case.start("last"), case.n, Provider::value(case.id("out")));
    let folder = Folder::new();
    for set in Set::ALL {
        for mode in [Mode::exact(set), Mode::validating(set)] {
            let words = case.attach(&binding, &mode).words;
            let file = folder.file("module.spv", bytes(&words));
            let Some(ran) = SPIRV_VAL.run(&[&file]) else { return };
            ran.clean();
        }
    }
}
