//! Seeded faults in emitted operands: each is replaced by another one. The validator or the check finds each fault.

use std::collections::BTreeMap;

use eitri::model::Module;
use eitri::omission::Omission;
use eitri::spirv::{
    Binding, Checked, Fact, Facts, Field, Id, InstructionName, Mode, Operand, Set, SpecificationSection,
    attach, check, read,
};
use eitri::target::Target;

use crate::common::cases::cases;
use crate::spirv_check::described::{Described, described};
use crate::spirv_check::moves::is_same;
use crate::spirv_check::random::{fixed_choices, targets};

/// Whether an operand has no meaning that is compared: versions, the end of a range of columns, and the source of a
/// discriminator.
fn says_nothing(name: InstructionName, field: Field) -> bool {
    matches!(field, Field::Version | Field::DwarfVersion | Field::ColumnEnd)
        || name == InstructionName::LexicalBlockDiscriminator && field == Field::Source
}

pub(crate) struct Written {
    pub words: Vec<u32>,
    module: Module,
    binding: Binding,
    pub omissions: Vec<Omission>,
    pub mode: Mode,
}

impl Written {
    pub fn new(seed: u64, target: &Target, mode: Mode) -> Self {
        Self::of(described(&fixed_choices(seed, 400), target), mode)
    }

    pub fn of(Described { words, module, binding }: Described, mode: Mode) -> Self {
        let attached = attach(&words, &module, &binding, &mode).expect("every call was right");
        Self { words: attached.words, module, binding, omissions: attached.omissions, mode }
    }

    pub fn checked(&self, words: &[u32]) -> eitri::Result<Checked> {
        check(&self.module, &self.binding, &self.mode, &self.omissions, words)
    }

    /// Whether the check succeeds without a finding or difference.
    pub fn is_clean(&self, words: &[u32]) -> bool {
        self.checked(words).is_ok_and(|checked| checked.is_clean())
    }
}

/// Other values for an operand: the next number, or another id of the same kind.
pub(crate) fn others(facts: &Facts<'_>, set: Set, operand: Operand) -> Vec<u32> {
    let word = operand.word;
    if operand.is_literal(set) {
        return vec![word.wrapping_add(1)];
    }
    let layout = facts.layout();
    match layout.constant(Id(word)) {
        // Another number of the same type.
        Some(constant) => {
            let all = layout
                .words()
                .instructions()
                .filter_map(|it| Some((it.result()?, layout.constant(it.result()?)?)));
            let other =
                all.filter(|(_, of)| of.integer_bits == constant.integer_bits && of.value != constant.value);
            other.map(|(id, _)| id.0).take(1).collect()
        }
        None => {
            // The next instruction of the same kind with other operands.
            let opcode = layout.definition(Id(word)).map(|it| it.opcode());
            let fact = facts.get(Id(word));
            let same = layout.words().instructions().filter(|it| Some(it.opcode()) == opcode);
            let mut same = same.filter(|it| facts.fact(*it).map(|it| it.number) == fact.map(|it| it.number));
            let is_other = |id: &Id| {
                let operands = |id: Id| layout.definition(id).map(|it| it.operands().to_vec());
                id.0 != word && operands(*id) != operands(Id(word))
            };
            let next = same.find_map(|it| it.result().filter(|id| id.0 > word).filter(is_other));
            next.map(|id| id.0).into_iter().collect()
        }
    }
}

/// Whether a `DebugScope` applies to any instruction: values have the scope of their variables.
fn is_of_instructions(facts: &Facts<'_>, at: usize) -> bool {
    for instruction in facts.layout().words().instructions().filter(|it| it.at > at) {
        match facts.fact(instruction).map(|fact| fact.name()) {
            Some(Some(InstructionName::Scope | InstructionName::NoScope)) => return false,
            Some(_) => {}
            // OpLine and OpNoLine.
            None if matches!(instruction.opcode(), 8 | 317) => {}
            None => return true,
        }
    }
    false
}

/// Whether an operand belongs to an entity that is listed as omitted or unused: the size of a member without a type or
/// with an unspecified one; a pointer to a member without a class, and a member of that type; an unused function type.
pub(crate) fn is_of_nothing(facts: &Facts<'_>, fact: &Fact<'_>, field: Field) -> bool {
    let is_none = |of: &Fact<'_>, field| {
        facts.named(of, field).is_some_and(|it| it.name() == Some(InstructionName::InfoNone))
    };
    // The size of a type is not encoded either if its basic type has no size or an encoding that the set lacks.
    let is_unknown = |of: &Fact<'_>| {
        let mut of = *of;
        while let Some(base) = facts.named(&of, Field::BaseType) {
            of = base;
        }
        let is_zero = |field| facts.number(&of, field) == Some(0);
        of.name() == Some(InstructionName::TypeBasic) && (is_zero(Field::Size) || is_zero(Field::Encoding))
    };
    let ty = facts.named(fact, Field::Type);
    match (fact.name(), field) {
        (Some(InstructionName::TypeMember), _) if ty.is_some_and(|ty| is_none(&ty, Field::Parent)) => true,
        (Some(InstructionName::TypeMember), Field::Size) => {
            is_none(fact, Field::Type) || ty.as_ref().is_some_and(is_unknown)
        }
        (Some(InstructionName::TypePtrToMember), Field::MemberType) => is_none(fact, Field::Parent),
        (Some(InstructionName::TypeBasic), Field::Encoding) => facts.number(fact, Field::Size) == Some(0),
        (Some(InstructionName::TypeFunction), _) => {
            let names = |other: Fact<'_>| {
                let is_id = |it: &Operand| it.field().is_some() && !it.is_literal(fact.set);
                other.operands().filter(is_id).any(|operand| Id(operand.word) == fact.result)
            };
            !facts.iter().any(names)
        }
        _ => false,
    }
}

/// Whether another id has the same meaning: a linkage name equal to the name, another source of the same file, a
/// reopened namespace. The unit of an opaque type is not compared, nor is the size of a basic type whose encoding the
/// set lacks.
fn is_the_same(facts: &Facts<'_>, fact: &Fact<'_>, field: Field, other: Id) -> bool {
    let layout = facts.layout();
    let is_file = |text: Option<String>| {
        let mut sources = facts.iter().filter(|one| one.name() == Some(InstructionName::Source));
        text.is_some() && sources.any(|one| facts.text(&one, Field::File) == text)
    };
    let namespace = |id: Id| facts.get(id).and_then(|fact| facts.text(&fact, Field::Name));
    match field {
        Field::LinkageName => layout.string(other) == facts.text(fact, Field::Name),
        Field::File => is_file(layout.string(other)),
        Field::Scope => {
            let here = fact.id(Field::Scope).and_then(namespace);
            let is_opaque = facts.number(fact, Field::Size).is_none();
            fact.name() == Some(InstructionName::TypeComposite)
                && (is_opaque || here.is_some() && here == namespace(other))
        }
        Field::Size => {
            fact.name() == Some(InstructionName::TypeBasic) && facts.number(fact, Field::Encoding) == Some(0)
        }
        _ => false,
    }
}

/// Adds the undetected faults in the operands of a module to `missed`, by instruction and field. `counts` limits the
/// number of faults per operand.
pub(crate) fn not_found(written: &Written, missed: &mut Missed, counts: &mut Counts) {
    assert!(written.is_clean(&written.words));
    let set = written.mode.set();
    let facts = read(&written.words).expect("is a module");
    for fact in facts.iter() {
        let Some(name) = fact.name() else { continue };
        for operand in fact.operands() {
            let Some(field) = operand.field().filter(|&field| !says_nothing(name, field)) else { continue };
            // The source of an entity without a line, or of a macro of the command line, is not compared.
            if field == Field::Source && facts.number(&fact, Field::Line) == Some(0) {
                continue;
            }
            if is_of_nothing(&facts, &fact, field) {
                continue;
            }
            let count = counts.of.entry((set == Set::OpenCl, name, field.text())).or_insert(0);
            *count += 1;
            if *count > counts.most || name == InstructionName::Scope && !is_of_instructions(&facts, fact.at)
            {
                continue;
            }
            for other in others(&facts, set, operand) {
                // An equal type of another unit has the same meaning.
                let named = facts.get(Id(operand.word)).zip(facts.get(Id(other)));
                let is_type = |it: &Fact<'_>| {
                    it.name().is_some_and(|name| name.section() == SpecificationSection::Types)
                };
                let in_same_words =
                    named.is_some_and(|(one, two)| is_type(&one) && is_same(&facts, &one, &two, 4));
                if in_same_words || is_the_same(&facts, &fact, field, Id(other)) {
                    continue;
                }
                let mut words = written.words.clone();
                words[fact.at + 5 + operand.index] = other;
                counts.tried += 1;
                if written.is_clean(&words) {
                    let which =
                        format!("{set:?} word {} {} {} -> {other}", fact.at, fact.result, operand.word);
                    let what = format!("{} {}", name.text(), field.text());
                    missed.entry(what).or_default().push(which);
                }
            }
        }
    }
}

/// Undetected faults: their places, by instruction and field.
pub(crate) type Missed = BTreeMap<String, Vec<String>>;

/// Number of faults tried, in total and by operand, and their limit.
pub(crate) struct Counts {
    most: usize,
    pub tried: usize,
    of: BTreeMap<(bool, InstructionName, &'static str), usize>,
}

impl Counts {
    pub fn new(most: usize) -> Self {
        Self { most: cases(most), tried: 0, of: BTreeMap::new() }
    }
}

/// The undetected faults as text.
pub(crate) fn listed(missed: &Missed) -> String {
    let all = missed.iter().map(|(what, which)| format!("{what}: {} times, as {}", which.len(), which[0]));
    all.collect::<Vec<_>>().join("\n")
}

#[test]
fn every_operand_is_compared() {
    let mut counts = Counts::new(5);
    let mut missed = BTreeMap::new();
    for (seed, target) in (0..12).zip(targets().iter().cycle()) {
        for set in Set::ALL {
            not_found(&Written::new(seed, target, Mode::exact(set)), &mut missed, &mut counts);
        }
    }
    assert!(missed.is_empty(), "of {} mistakes not found:\n{}", counts.tried, listed(&missed));
    assert!(counts.tried > 500, "{}", counts.tried);
}
