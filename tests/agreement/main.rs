//! The promise: what is written means what was described, for everything that the builder can say.
//!
//! Random modules, of every kind of node, type, scope and row, are written for every consumer and checked.
//! More cases with `PROPTEST_CASES`.

mod choices;
mod locations;
mod modules;

use choices::Choices;
use eitri::emit::elf::new_object;
use eitri::lower::{Consumer, Policy, lower};
use eitri::model::Node;
use eitri::target::{Gfx, Target, Wave};
use proptest::prelude::*;

fn targets() -> [Target; 6] {
    [
        Target::amdgpu(Gfx::GFX900, Wave::W64).unwrap(),
        Target::amdgpu(Gfx::GFX1030, Wave::W32).unwrap(),
        Target::amdgpu(Gfx::GFX1100, Wave::W32).unwrap(),
        Target::amdgpu(Gfx::GFX1100, Wave::W64).unwrap(),
        Target::amdgpu(Gfx::GFX90A, Wave::W64).unwrap(),
        Target::x86_64(),
    ]
}

fn consumers() -> [Consumer; 4] {
    [Consumer::llvm(), Consumer::rocgdb(), Consumer::rocgdb_legacy(), Consumer::dwarf5()]
}

/// Writes and checks a module that the numbers choose; a text if something is wrong.
fn agrees(numbers: &[u16]) -> Result<(), String> {
    let mut choices = Choices::new(numbers);
    let target = targets()[choices.below(6)].clone();
    let made = modules::module(&mut choices, target);
    for consumer in consumers() {
        let module = &made.module;
        let written = lower(module, &consumer, Policy::Partial).map_err(|error| error.to_string())?;
        let object = new_object(module.target(), &made.code, &written.sections).map_err(|e| e.to_string())?;
        let report =
            eitri::check(module, &consumer, &written.left_out, &object).map_err(|e| e.to_string())?;
        if !report.is_clean() {
            return Err(format!("{} for {}:\n{report}", module.target().name(), consumer.name));
        }
        let locations =
            |variable| module.live(variable).iter().map(|live| live.loc).chain(module.always(variable));
        for (variable, at) in &report.unproven {
            let is_raw = |node: Node<'_>| matches!(node, Node::Expr(_) | Node::Call(_));
            if !locations(*variable).any(|loc| module.nodes(loc).any(is_raw)) {
                return Err(format!("not raw, but unproven: {at}"));
            }
        }
        for left_out in &written.left_out {
            if consumer.name != "DWARF 5" && !may_be_left_out(&left_out.why.to_string()) {
                return Err(format!("{}: {left_out}", consumer.name));
            }
        }
    }
    Ok(())
}

/// What a consumer that has locations on its stack still cannot be told.
fn may_be_left_out(why: &str) -> bool {
    // Pieces that are put together inside of a part would be taken for more parts of the whole.
    let known = ["parts of a part that are chosen at run time", "bit_overlay"];
    known.iter().any(|known| why.contains(known))
}

fn config() -> ProptestConfig {
    let mut config = ProptestConfig { failure_persistence: None, ..ProptestConfig::default() };
    if std::env::var_os("PROPTEST_CASES").is_none() {
        config.cases = 150;
    }
    config.max_shrink_iters = 4000;
    config
}

proptest! {
    #![proptest_config(config())]

    #[test]
    fn what_is_written_means_what_was_described(
        numbers in proptest::collection::vec(any::<u16>(), 100..1500),
    ) {
        if let Err(text) = agrees(&numbers) {
            return Err(TestCaseError::fail(text));
        }
    }
}
