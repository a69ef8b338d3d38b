//! What the debug instructions in functions say, by the text of the specifications and by nothing of the crate's.

use std::collections::BTreeMap;

use eitri::spirv::{Facts, Field, Id, Instruction, Name};

pub const LINE: u16 = 8;
pub const NO_LINE: u16 = 317;
pub const LABEL: u16 = 248;
pub const FUNCTION: u16 = 54;

pub fn is_line(it: Instruction<'_>) -> bool {
    matches!(it.opcode(), LINE | NO_LINE)
}

/// `OpVariable` and `OpPhi`.
pub fn begins_block(it: Instruction<'_>) -> bool {
    matches!(it.opcode(), 59 | 245)
}

pub fn is_merge(it: Instruction<'_>) -> bool {
    matches!(it.opcode(), 246 | 247)
}

pub fn ends_block(it: Instruction<'_>) -> bool {
    matches!(it.opcode(), 249..=255)
}

/// What the debug instructions in functions say, by the text of the specifications: a scope and a line hold for the
/// instructions that follow, up to the next or to the end of the block.
///
/// Of `OpPhi` and `OpVariable` nothing is said: a binding has no position among them. What holds a variable holds from
/// the next other instruction on. Of several variables at one place the order does not count.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct Meaning {
    /// Scope and line of each instruction.
    instructions: Vec<[String; 2]>,
    /// What holds variables, in order.
    pub values: BTreeMap<Place, Vec<(Name, Vec<u32>)>>,
    /// `DebugFunctionDefinition`: the function, which of its blocks, and what is defined.
    definitions: Vec<(Id, usize, Vec<u32>)>,
    /// How many stand where they say nothing.
    lost: usize,
}

/// Where something holds a variable: the function, how many of its instructions are before, the variable, and the inlined
/// call that this is of.
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
                            let said = scope.map(|(scope, at)| [Some(scope), at].map(|id| text(facts, id)));
                            all.instructions.push([said.unwrap_or_default().concat(), line.clone()]);
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
                    Some(Name::Scope) => {
                        scope = fact.id(Field::Scope).map(|scope| (scope, fact.id(Field::Inlined)));
                    }
                    Some(Name::NoScope) => scope = None,
                    // Where a range of columns ends is not described.
                    Some(Name::Line) => line = format!("{:?}", &operands[..4]),
                    Some(Name::NoLine) => line = String::new(),
                    Some(Name::FunctionDefinition) => all.definitions.push((function.id, blocks, operands)),
                    Some(name @ (Name::Declare | Name::Value)) if is_open => {
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

/// What a scope or a call is. Two blocks that begin at one place are the same.
fn text(facts: &Facts<'_>, id: Option<Id>) -> String {
    let Some(fact) = id.and_then(|id| facts.get(id)) else { return String::new() };
    if !matches!(fact.name(), Some(Name::LexicalBlock | Name::LexicalBlockDiscriminator | Name::InlinedAt)) {
        return format!("{}", fact.result);
    }
    let around = [Field::Scope, Field::Inlined].map(|field| text(facts, fact.id(field)));
    let own: Vec<u32> =
        fact.operands().filter(|of| !is_scope(of.row.map(|row| row.field))).map(|of| of.word).collect();
    format!("({own:?} in {})", around.concat())
}

fn is_scope(field: Option<Field>) -> bool {
    matches!(field, Some(Field::Scope | Field::Inlined))
}

/// The function that a scope is in.
fn function_of(facts: &Facts<'_>, scope: Id) -> Option<Id> {
    let fact = facts.get(scope)?;
    match fact.name()? {
        Name::Function => Some(scope),
        Name::LexicalBlock | Name::LexicalBlockDiscriminator => function_of(facts, fact.id(Field::Scope)?),
        _ => None,
    }
}

/// The call that a variable is of: the innermost around the instruction that its function was inlined by.
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
