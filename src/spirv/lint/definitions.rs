//! Which `DebugFunction` describes an `OpFunction`.

use hashbrown::HashMap;

use crate::spirv::operand::Field;
use crate::spirv::read::{Fact, Facts};
use crate::spirv::table::InstructionName;
use crate::spirv::words::Id;

/// The connections between code and descriptions.
pub(super) struct Definitions<'a> {
    /// The first `DebugFunction` of an `OpFunction`.
    by_code: HashMap<Id, Id>,
    /// The first `OpFunction` of a `DebugFunction`.
    by_description: HashMap<Id, Id>,
    /// Later descriptions of an `OpFunction`: the connecting instruction, the later description, and the code.
    pub again: Vec<(Fact<'a>, Id, Id)>,
}

impl<'a> Definitions<'a> {
    pub fn new(facts: &Facts<'a>) -> Self {
        let mut definitions =
            Self { by_code: HashMap::new(), by_description: HashMap::new(), again: Vec::new() };
        for fact in facts.iter() {
            let (description, code) = match fact.name() {
                Some(InstructionName::FunctionDefinition) => {
                    (fact.id(Field::Function), fact.id(Field::Definition))
                }
                Some(InstructionName::Function) => (Some(fact.result), fact.id(Field::Function)),
                _ => continue,
            };
            let (Some(description), Some(code)) = (description, code) else { continue };
            // A `DebugInfoNone` stands for the function in a description without code.
            let start = facts.layout().definition(code).map(|function| function.at);
            let functions = facts.layout().functions();
            let is_code = functions.binary_search_by_key(&start, |it| Some(it.at.start)).is_ok();
            let is_description =
                facts.get(description).is_some_and(|it| it.name() == Some(InstructionName::Function));
            if !is_code || !is_description {
                continue;
            }
            definitions.by_description.entry(description).or_insert(code);
            if *definitions.by_code.entry(code).or_insert(description) != description {
                definitions.again.push((fact, description, code));
            }
        }
        definitions
    }

    /// The description of a function with code.
    pub fn description(&self, code: Id) -> Option<Id> {
        self.by_code.get(&code).copied()
    }

    /// The code of a description.
    pub fn code(&self, description: Id) -> Option<Id> {
        self.by_description.get(&description).copied()
    }
}
