//! Faults that are seeded into modules of other producers: `lint` finds them.

use std::collections::BTreeMap;

use eitri::lint::{LintCode, LintOptions};
use eitri::spirv::{Fact, Facts, Field, Id, Instruction, InstructionName, from_bytes, lint, read};

use crate::common::cases::{Random, cases};

/// Modules without findings of the seeded kinds, from four producers.
const MODULES: &[(&str, &[u8])] = &[
    ("glslang", include_bytes!("foreign/glslang.spv")),
    ("glslang.sort", include_bytes!("foreign/glslang.sort.spv")),
    ("slang", include_bytes!("foreign/slang.spv")),
    ("slang.generic", include_bytes!("foreign/slang.generic.spv")),
    ("slang.opt", include_bytes!("foreign/slang.opt.spv")),
    ("llvm15.O0", include_bytes!("foreign/llvm15.O0.spv")),
    ("llvm15.O2", include_bytes!("foreign/llvm15.O2.spv")),
    ("intel.opencl.O2", include_bytes!("foreign/intel.opencl.O2.spv")),
    ("intel.shader.O0", include_bytes!("foreign/intel.shader.O0.spv")),
    ("intel.200.O2", include_bytes!("foreign/intel.200.O2.spv")),
];

/// Number of words in a debug instruction before its operands.
const FIXED: usize = 5;

/// A module that is changed.
struct Seeds<'a> {
    words: &'a [u32],
    facts: Facts<'a>,
    numbers: Random,
}

impl<'a> Seeds<'a> {
    fn any(&mut self, choices: Vec<Fact<'a>>) -> Option<Fact<'a>> {
        if choices.is_empty() { None } else { Some(choices[self.numbers.below(choices.len())]) }
    }

    fn all(&self, name: InstructionName) -> Vec<Fact<'a>> {
        self.facts.iter().filter(|fact| fact.name() == Some(name)).collect()
    }

    /// The module with another word in an operand.
    fn with(&self, fact: &Fact<'_>, field: Field, word: u32) -> Option<Vec<u32>> {
        let mut words = self.words.to_vec();
        words[fact.at + FIXED + fact.operand(field)?.index] = word;
        Some(words)
    }

    /// The module without an instruction.
    fn without(&self, fact: &Fact<'_>) -> Vec<u32> {
        let mut words = self.words.to_vec();
        words.drain(fact.at..fact.at + FIXED + fact.operands.len());
        words
    }

    /// The module with an instruction twice; the second has another id and another operand.
    fn doubled(&self, fact: &Fact<'_>, edit: Option<(Field, u32)>) -> Option<Vec<u32>> {
        let end = fact.at + FIXED + fact.operands.len();
        let mut copy = self.words[fact.at..end].to_vec();
        copy[2] = self.words[3];
        if let Some((field, word)) = edit {
            copy[FIXED + fact.operand(field)?.index] = word;
        }
        let mut words = self.words.to_vec();
        words[3] += 1;
        words.splice(end..end, copy);
        Some(words)
    }

    /// A number as an operand: a literal, or the id of a constant with at least this value.
    fn number(&self, fact: &Fact<'_>, field: Field, least: u64) -> Option<u32> {
        if fact.operand(field)?.is_literal(fact.set) {
            return u32::try_from(least).ok();
        }
        self.constant(fact, least)
    }

    /// A constant before an instruction, with at least this value.
    fn constant(&self, fact: &Fact<'_>, least: u64) -> Option<u32> {
        let layout = self.facts.layout();
        let mut ids = 1..self.words[3];
        ids.find(|&id| {
            let is_before = layout.definition(Id(id)).is_some_and(|it| it.at < fact.at);
            let constant = layout
                .constant(Id(id))
                .filter(|_| is_before)
                .filter(|it| it.integer_bits == Some(32) && it.is_plain);
            constant.and_then(|it| it.value).is_some_and(|value| (least..1 << 31).contains(&value))
        })
    }

    fn name(&self, id: Option<Id>) -> Option<InstructionName> {
        self.facts.get(id?)?.name()
    }

    /// The `DebugFunction` around a scope.
    fn function(&self, mut scope: Id) -> Option<Id> {
        for _ in 0..100 {
            let fact = self.facts.get(scope)?;
            if fact.name() == Some(InstructionName::Function) {
                return Some(scope);
            }
            scope = fact.id(Field::Scope)?;
        }
        None
    }

    /// A function other than the function of a scope.
    fn other_function(&mut self, scope: Id) -> Option<u32> {
        let own = self.function(scope)?;
        let all = self.all(InstructionName::Function);
        let others = all.into_iter().filter(|other| other.result != own);
        let others = others.collect();
        Some(self.any(others)?.result.0)
    }

    /// Type of an `OpVariable`'s contents: an integer or a floating-point number.
    fn contents(&self, variable: Instruction<'_>) -> Option<u16> {
        let layout = self.facts.layout();
        let pointer = layout.definition(variable.result_type()?)?;
        let contents = layout.definition(Id(*pointer.operands().get(1)?))?.opcode();
        matches!(contents, 21 | 22).then_some(contents)
    }

    /// The module with a fault of a kind; `None` if the module has no instruction for it.
    fn seeded(&mut self, code: LintCode) -> Option<Vec<u32>> {
        match code {
            LintCode::IndexOutsideType => {
                let values = self.all(InstructionName::Value);
                let fact = self
                    .any(values.into_iter().filter(|it| it.ids(Field::Index).next().is_some()).collect())?;
                self.with(&fact, Field::Index, self.constant(&fact, 4096).or(self.constant(&fact, 100))?)
            }
            LintCode::ValueTypeDiffers => {
                let declares = self.all(InstructionName::Declare);
                let fact = self.any(declares)?;
                let layout = self.facts.layout();
                let own = layout.definition(fact.id(Field::Variable)?)?;
                let kind = self.contents(own)?;
                let function = layout.function_at(fact.at)?.at.clone();
                let others = (1..self.words[3]).filter_map(|id| layout.definition(Id(id)));
                let others = others.filter(|it| it.opcode() == 59 && function.contains(&it.at));
                let other =
                    others.filter(|it| self.contents(*it).is_some_and(|other| other != kind)).last()?;
                self.with(&fact, Field::Variable, other.result()?.0)
            }
            LintCode::MemberBeyondType => {
                let members = self.all(InstructionName::TypeMember);
                let fact = self.any(members)?;
                // The type with the member has a size.
                let types = self.all(InstructionName::TypeComposite);
                let ty = types.iter().find(|ty| ty.ids(Field::Member).any(|member| member == fact.result))?;
                let size = self.facts.number(ty, Field::Size).filter(|&size| size > 0)?;
                self.with(&fact, Field::Offset, self.constant(&fact, size + 1)?)
            }
            LintCode::FragmentBeyondType => {
                let operations = self.all(InstructionName::Operation);
                let is_fragment = |it: &Fact<'_>| self.facts.number(it, Field::Operation) == Some(9);
                let fact = self.any(operations.into_iter().filter(is_fragment).collect())?;
                self.with(&fact, Field::Operand, self.number(&fact, Field::Operand, 4096)?)
            }
            LintCode::ForeignScope => {
                let scopes = self.all(InstructionName::Scope);
                let fact = self.any(scopes.into_iter().filter(|it| it.operands.len() == 1).collect())?;
                let other = self.other_function(fact.id(Field::Scope)?)?;
                self.with(&fact, Field::Scope, other)
            }
            LintCode::ForeignVariable => {
                let uses = [self.all(InstructionName::Declare), self.all(InstructionName::Value)].concat();
                let fact = self.any(uses)?;
                let own = self.facts.named(&fact, Field::LocalVariable)?;
                let own = self.function(own.id(Field::Scope)?)?;
                let all = self.all(InstructionName::LocalVariable);
                let others = all
                    .into_iter()
                    .filter(|it| it.id(Field::Scope).and_then(|it| self.function(it)) != Some(own));
                let other = self.any(others.collect())?;
                self.with(&fact, Field::LocalVariable, other.result.0)
            }
            LintCode::NoScope => {
                // The first scope of a block, before code with a line.
                let layout = self.facts.layout();
                let scopes = self.all(InstructionName::Scope).into_iter();
                let begins = scopes.filter(|fact| {
                    let before = layout.words().instructions().filter(|it| it.at < fact.at).last();
                    before.is_some_and(|it| it.opcode() == 248)
                        && layout.words().instructions().find(|it| it.at > fact.at).is_some_and(|it| {
                            it.opcode() == 8 || self.name(it.result()) == Some(InstructionName::Line)
                        })
                });
                let fact = self.any(begins.collect())?;
                Some(self.without(&fact))
            }
            LintCode::DeclaredTwice => {
                let declares = self.all(InstructionName::Declare);
                let fact = self.any(declares)?;
                self.doubled(&fact, None)
            }
            LintCode::EqualArguments => {
                let all = self.all(InstructionName::LocalVariable);
                let numbered = |fact: &&Fact<'_>| fact.operand(Field::ArgNumber).is_some();
                let arguments: Vec<_> = all.iter().filter(numbered).copied().collect();
                let fact = self.any(arguments.clone())?;
                let scope = fact.id(Field::Scope);
                let other =
                    arguments.iter().find(|it| it.id(Field::Scope) == scope && it.result != fact.result)?;
                self.with(&fact, Field::ArgNumber, other.operand(Field::ArgNumber)?.word)
            }
            LintCode::LineOutsideSource => {
                let all =
                    [self.all(InstructionName::LocalVariable), self.all(InstructionName::Line)].concat();
                let fact = self.any(all)?;
                // A text whose lines are those of the compiler, and not a checksum.
                let source = self.facts.named(&fact, Field::Source)?;
                let text = self.facts.text(&source, Field::Text)?;
                if !text.contains('\n') || text.contains("#line") {
                    return None;
                }
                let field =
                    if fact.name() == Some(InstructionName::Line) { Field::LineEnd } else { Field::Line };
                let number = self.number(&fact, field, text.lines().count() as u64 + 2)?;
                self.with(&fact, field, number)
            }
            LintCode::InlinedElsewhere => {
                let calls = self.all(InstructionName::InlinedAt);
                let fact =
                    self.any(calls.into_iter().filter(|it| it.operand(Field::Inlined).is_none()).collect())?;
                // The call is used.
                let scopes = self.all(InstructionName::Scope);
                scopes.iter().find(|scope| scope.id(Field::Inlined) == Some(fact.result))?;
                let other = self.other_function(fact.id(Field::Scope)?)?;
                self.with(&fact, Field::Scope, other)
            }
            LintCode::CodeDescribedTwice => {
                if let Some(fact) = self.any(self.all(InstructionName::FunctionDefinition)) {
                    let other = self.other_function(fact.id(Field::Function)?)?;
                    return self.doubled(&fact, Some((Field::Function, other)));
                }
                let all = self.all(InstructionName::Function);
                let fact = self.any(all.clone())?;
                let others = all.into_iter().filter(|it| it.result != fact.result);
                let code = self.any(others.collect())?.id(Field::Function)?;
                self.facts.layout().functions().iter().find(|function| function.id == code)?;
                self.with(&fact, Field::Function, code.0)
            }
            LintCode::DefinitionMissing => {
                if let Some(fact) = self.any(self.all(InstructionName::FunctionDefinition)) {
                    return Some(self.without(&fact));
                }
                let fact = self.any(self.all(InstructionName::Function))?;
                self.facts.layout().functions().iter().find(|it| Some(it.id) == fact.id(Field::Function))?;
                let none = self.any(self.all(InstructionName::InfoNone))?;
                self.with(&fact, Field::Function, none.result.0)
            }
            LintCode::VariableNotVisible => {
                let scopes = self.all(InstructionName::Scope);
                let fact = self.any(scopes)?;
                let scope = fact.id(Field::Scope)?;
                let variables = self.all(InstructionName::LocalVariable);
                // A value follows the scope, and its variable is in the block.
                let next = self
                    .facts
                    .iter()
                    .find(|it| it.at > fact.at && it.name() != Some(InstructionName::Line))?;
                let variable = next.id(Field::LocalVariable)?;
                let variable = variables.iter().find(|it| it.result == variable)?;
                if variable.id(Field::Scope) != Some(scope)
                    || self.name(Some(scope)) != Some(InstructionName::LexicalBlock)
                {
                    return None;
                }
                let around = self.facts.get(scope)?.id(Field::Scope)?;
                let blocks = self.all(InstructionName::LexicalBlock).into_iter();
                let siblings = blocks.filter(|it| it.id(Field::Scope) == Some(around) && it.result != scope);
                let sibling = self.any(siblings.collect())?;
                self.with(&fact, Field::Scope, sibling.result.0)
            }
            _ => None,
        }
    }
}

const KINDS: [LintCode; 14] = [
    LintCode::IndexOutsideType,
    LintCode::ValueTypeDiffers,
    LintCode::MemberBeyondType,
    LintCode::FragmentBeyondType,
    LintCode::ForeignScope,
    LintCode::ForeignVariable,
    LintCode::NoScope,
    LintCode::DeclaredTwice,
    LintCode::EqualArguments,
    LintCode::LineOutsideSource,
    LintCode::InlinedElsewhere,
    LintCode::CodeDescribedTwice,
    LintCode::DefinitionMissing,
    LintCode::VariableNotVisible,
];

#[test]
fn faults_in_foreign_modules_are_found() {
    let mut counts: BTreeMap<&str, (usize, usize)> = BTreeMap::new();
    let mut missed = Vec::new();
    for (name, bytes) in MODULES {
        let words = from_bytes(bytes).expect("is a module");
        let count =
            |words: &[u32], code| lint(words, &LintOptions::default()).expect("is a module").count(code);
        let facts = read(&words).expect("is a module");
        let mut seeds = Seeds { words: &words, facts, numbers: Random(5) };
        for code in KINDS {
            let before = count(&words, code);
            for number in 0..cases(20) {
                let Some(seeded) = seeds.seeded(code) else { continue };
                let counts = counts.entry(code.name()).or_default();
                counts.1 += 1;
                if count(&seeded, code) > before {
                    counts.0 += 1;
                } else {
                    missed.push(format!("{name}, {}, {number}", code.name()));
                }
            }
        }
    }
    for code in KINDS {
        println!("{}: {:?}", code.name(), counts.get(code.name()));
        assert!(counts.contains_key(code.name()), "no module has an instruction for {}", code.name());
    }
    assert!(missed.is_empty(), "{} missed:\n{}", missed.len(), missed.join("\n"));
}
