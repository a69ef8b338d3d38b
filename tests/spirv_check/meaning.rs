//! The meaning of debug instructions in functions, from the text of the specifications and independent of the crate's
//! import.

use std::collections::BTreeMap;

use eitri::spirv::{Facts, Field, Id, Instruction, InstructionName};

pub const LINE: u16 = 8;
pub const NO_LINE: u16 = 317;
pub const LABEL: u16 = 248;
pub const FUNCTION: u16 = 54;

pub fn is_line(it: Instruction<'_>) -> bool {
    matches!(it.opcode(), LINE | NO_LINE)
}

/// Whether an instruction is an `OpVariable` or `OpPhi`.
pub fn begins_block(it: Instruction<'_>) -> bool {
    matches!(it.opcode(), 59 | 245)
}

pub fn is_merge(it: Instruction<'_>) -> bool {
    matches!(it.opcode(), 246 | 247)
}

pub fn ends_block(it: Instruction<'_>) -> bool {
    matches!(it.opcode(), 249..=255)
}

/// The meaning of debug instructions in functions, according to the specifications: a scope and a line apply to the
/// following instructions, up to the next scope or line or to the end of the block.
///
/// `OpPhi` and `OpVariable` are left out, because a binding cannot have a position among them: a declaration or value
/// applies from the next other instruction on. The order of several variables at one position is ignored.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct Meaning {
    /// Scope and line of each instruction.
    instructions: Vec<[String; 2]>,
    /// Declarations and values, in order.
    pub values: BTreeMap<Place, Vec<(InstructionName, Vec<u32>)>>,
    /// Each `DebugFunctionDefinition`: the function, the number of the block, and the operands.
    definitions: Vec<(Id, usize, Vec<u32>)>,
    /// Number of instructions at positions where they have no meaning.
    lost: usize,
}

/// Position of a declaration or value: the function, the number of its instructions before, the variable, and the
/// inlined call of the variable.
type Place = (Id, usize, Id, Option<Id>);

impl Meaning {
    pub fn of(facts: &Facts<'_>) -> Self {
        let mut all = Self::default();
        for function in facts.layout().functions() {
            let of_function = facts.layout().words().instructions();
            let (mut scope, mut line, mut is_open, mut blocks, mut count) =
                (None, String::new(), false, 0, 0);
            for it in of_function.filter(|it| function.at.contains(&it.at)) {
                let Some(fact) = facts.fact(it) else {
                    match it.opcode() {
                        LINE => line = format!("{:?}", it.operands()),
                        NO_LINE => line = String::new(),
                        LABEL => (is_open, blocks) = (true, blocks + 1),
                        _ if !is_open || begins_block(it) => {}
                        _ => {
                            let place = scope.map(|(scope, at)| [Some(scope), at].map(|id| text(facts, id)));
                            all.instructions.push([place.unwrap_or_default().concat(), line.clone()]);
                            count += 1;
                        }
                    }
                    if ends_block(it) {
                        (scope, line, is_open) = (None, String::new(), false);
                    }
                    continue;
                };
                let operands = fact.operands.to_vec();
                match fact.name() {
                    Some(InstructionName::Scope) => {
                        scope = fact.id(Field::Scope).map(|scope| (scope, fact.id(Field::Inlined)));
                    }
                    Some(InstructionName::NoScope) => scope = None,
                    // The model does not have the end of a range of columns.
                    Some(InstructionName::Line) => line = format!("{:?}", &operands[..4]),
                    Some(InstructionName::NoLine) => line = String::new(),
                    Some(InstructionName::FunctionDefinition) => {
                        all.definitions.push((function.id, blocks, operands))
                    }
                    Some(name @ (InstructionName::Declare | InstructionName::Value)) if is_open => {
                        let variable = fact.id(Field::LocalVariable).expect("an operand");
                        let of = (function.id, count, variable, call(facts, variable, scope));
                        all.values.entry(of).or_default().push((name, operands));
                    }
                    _ => all.lost += 1,
                }
            }
        }
        all
    }
}

/// A scope or call as text. Two blocks with the same operands and scope are equal.
fn text(facts: &Facts<'_>, id: Option<Id>) -> String {
    let Some(fact) = id.and_then(|id| facts.get(id)) else { return String::new() };
    if !matches!(
        fact.name(),
        Some(
            InstructionName::LexicalBlock
                | InstructionName::LexicalBlockDiscriminator
                | InstructionName::InlinedAt
        )
    ) {
        return format!("{}", fact.result);
    }
    let around = [Field::Scope, Field::Inlined].map(|field| text(facts, fact.id(field)));
    let own: Vec<u32> = fact.operands().filter(|it| !is_scope(it.field())).map(|it| it.word).collect();
    format!("({own:?} in {})", around.concat())
}

fn is_scope(field: Option<Field>) -> bool {
    matches!(field, Some(Field::Scope | Field::Inlined))
}

/// The function of a scope.
fn function_of(facts: &Facts<'_>, scope: Id) -> Option<Id> {
    let fact = facts.get(scope)?;
    match fact.name()? {
        InstructionName::Function => Some(scope),
        InstructionName::LexicalBlock | InstructionName::LexicalBlockDiscriminator => {
            function_of(facts, fact.id(Field::Scope)?)
        }
        _ => None,
    }
}

/// The inlined call of a variable: the innermost enclosing call of the variable's function.
fn call(facts: &Facts<'_>, variable: Id, mut scope: Option<(Id, Option<Id>)>) -> Option<Id> {
    let of = facts.get(variable)?.id(Field::Scope).and_then(|scope| function_of(facts, scope))?;
    while let Some((here, Some(inlined))) = scope {
        if function_of(facts, here) == Some(of) {
            return Some(inlined);
        }
        let at = facts.get(inlined)?;
        scope = at.id(Field::Scope).map(|scope| (scope, at.id(Field::Inlined)));
    }
    None
}
