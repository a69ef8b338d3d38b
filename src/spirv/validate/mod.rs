//! Validates a module against its instruction set's specification. Each rule has a name, which its findings carry.
//!
//! `rule` lists the rules. The other files check them: `module` and `places` go over all instructions, `numbers` and
//! `operands` use the table to check each debug instruction alone, and the remaining files check it together with the
//! instructions that it refers to, which requires valid operands. `context` collects the findings. Known deviations in
//! LLVM's translator are recognized and named, so that a user knows whom to ask.
//!
//! Limits: a module is checked as it is, without any consumer's behavior; texts and values that depend on
//! specialization constants are unknown.

mod context;
mod entities;
mod expressions;
mod indexes;
mod lines;
mod module;
mod numbers;
mod operands;
mod places;
mod report;
mod rule;

pub(super) use lines::Lines;
pub use report::{ValidationFinding, ValidationReport};
pub use rule::ValidationRule;

use super::read::Facts;
use context::Check;

/// Validates every debug instruction in a module.
pub fn validate(facts: &Facts<'_>) -> ValidationReport {
    let mut check = Check::new(facts);
    module::module(&mut check);
    module::uses(&mut check);
    places::places(&mut check);
    let lines = lines::Lines::new(facts);
    let index = entities::Index::new(facts);
    for fact in facts.iter() {
        check.report.instructions += 1;
        operands::results(&mut check, &fact);
        // Rules about several instructions require valid operands; otherwise one mistake would be reported several
        // times.
        if let Some(row) = numbers::row(&mut check, &fact)
            && operands::operands(&mut check, &fact, row)
        {
            entities::entity(&mut check, &fact, &index);
            expressions::expression(&mut check, &fact);
            indexes::indexes(&mut check, &fact);
            lines::lines(&mut check, &fact, &lines);
        }
    }
    lines::text_of_sources(&mut check, &lines);
    check.report.findings.sort_by_key(|finding| finding.at.word);
    check.report.notes.sort_by_key(|note| note.at.word);
    check.report
}
