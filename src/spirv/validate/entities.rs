//! Rules about an instruction together with the instructions that it refers to.

use hashbrown::{HashMap, HashSet};

use super::context::Check;
use super::rule::ValidationRule;
use crate::error::Count;
use crate::spirv::floats::{self, FloatFormat};
use crate::spirv::names::{Enumeration, UNKNOWN_LAYOUT, capability, is_build_identifier};
use crate::spirv::opcodes as op;
use crate::spirv::operand::Field;
use crate::spirv::read::{Fact, Facts};
use crate::spirv::table::InstructionName;
use crate::spirv::table::Set;
use crate::spirv::text::shown;
use crate::spirv::words::Id;

/// Inverse references, so that no rule searches the module.
pub(super) struct Index {
    /// Pairs: a composite type and one of its members.
    members: HashSet<(Id, Id)>,
    /// Each debug function's first definition: its word, and the function that contains it.
    definitions: HashMap<Id, (usize, Option<Id>)>,
    /// Each function's first definition, as a word.
    functions: HashMap<Id, usize>,
    /// The entry points' functions.
    entry_points: HashSet<Id>,
}

impl Index {
    pub(super) fn new(facts: &Facts<'_>) -> Self {
        let layout = facts.layout();
        let mut index = Self {
            members: HashSet::new(),
            definitions: HashMap::new(),
            functions: HashMap::new(),
            entry_points: HashSet::new(),
        };
        for fact in facts.iter() {
            match fact.name() {
                Some(InstructionName::TypeComposite) => {
                    index.members.extend(fact.ids(Field::Member).map(|member| (fact.result, member)));
                }
                Some(InstructionName::FunctionDefinition) => {
                    let function = layout.function_at(fact.at).map(|function| function.id);
                    // Only the first definition counts; a second one is a finding.
                    if let Some(debug) = fact.id(Field::Function) {
                        index.definitions.entry(debug).or_insert((fact.at, function));
                    }
                    if let Some(function) = function {
                        index.functions.entry(function).or_insert(fact.at);
                    }
                }
                _ => {}
            }
        }
        let points = layout.words().instructions().filter(|it| it.opcode() == op::ENTRY_POINT);
        index.entry_points =
            points.filter_map(|point| point.operands().get(1).map(|&word| Id(word))).collect();
        index
    }
}

/// `Capability`: a literal is an enumerant, while a constant id is not.
fn storage_class<'a>(check: &mut Check<'_, 'a>, fact: &Fact<'a>) {
    let number = check.facts.number(fact, Field::StorageClass).and_then(|number| u32::try_from(number).ok());
    let Some(number) = number.filter(|_| !fact.set.is_shader()) else { return };
    if let Some(required) = check.facts.layout().lacking_capabilities(number) {
        let class = Enumeration::StorageClass.text(number, fact.set);
        let names: Vec<String> = required.iter().map(|&number| capability(number)).collect();
        let what = format!("the module does not declare {}, a capability of {class}", names.join(" or "));
        check.find_of(ValidationRule::Capability, fact, Field::StorageClass, what);
    }
}

pub(super) fn entity<'a>(check: &mut Check<'_, 'a>, fact: &Fact<'a>, index: &Index) {
    match fact.name() {
        Some(InstructionName::TypeBasic) => fp_encoding(check, fact),
        Some(InstructionName::TypePointer) => storage_class(check, fact),
        Some(InstructionName::TypeArray | InstructionName::TypeSubrange) => counts(check, fact),
        Some(InstructionName::TypeComposite) => {
            opaque(check, fact);
            unknown_layout(check, fact);
        }
        Some(InstructionName::TypeMember) => {
            member(check, fact, index);
            unknown_layout(check, fact);
        }
        Some(InstructionName::TypeInheritance) => {
            no_union(check, fact, Field::Child);
            no_union(check, fact, Field::Parent);
        }
        Some(InstructionName::TypePtrToMember) => no_union(check, fact, Field::Parent),
        Some(InstructionName::TypeTemplate) => no_union(check, fact, Field::Target),
        Some(InstructionName::MacroDef) => macro_name(check, fact),
        Some(InstructionName::ImportedEntity) => imported(check, fact),
        Some(InstructionName::BuildIdentifier) => build_identifier(check, fact),
        Some(InstructionName::EntryPoint) => entry_point(check, fact, index),
        Some(InstructionName::FunctionDefinition) => definition(check, fact, index),
        _ => {}
    }
}

fn is_none<'a>(check: &Check<'_, 'a>, fact: &Fact<'a>, field: Field) -> bool {
    check.facts.named(fact, field).is_some_and(|named| named.name() == Some(InstructionName::InfoNone))
}

/// Rules about floating-point encodings.
fn fp_encoding<'a>(check: &mut Check<'_, 'a>, fact: &Fact<'a>) {
    let encoding = check.facts.number(fact, Field::Encoding).and_then(|number| u32::try_from(number).ok());
    let encoding = encoding.and_then(|number| Enumeration::Encoding.name(number, fact.set));
    if fact.operand(Field::FpEncoding).is_none() {
        return;
    }
    // The operand refines the encoding `Float`.
    if encoding != Some("Float") {
        check.find_of(
            ValidationRule::FpEncoding,
            fact,
            Field::FpEncoding,
            "the encoding of the type is not Float",
        );
    }
    let number = check.facts.number(fact, Field::FpEncoding).and_then(|number| u32::try_from(number).ok());
    let Some(number) = number else { return };
    let required = floats::numbered(number).and_then(FloatFormat::bits);
    let name = Enumeration::FpEncoding.name(number, fact.set);
    let size = check.facts.number(fact, Field::Size);
    if let (Some(name), Some(required), Some(size)) = (name, required, size)
        && size != required
    {
        let what = format!("it is {size}; {name} has {}", Count(required, "bit"));
        check.find_of(ValidationRule::FpEncoding, fact, Field::Size, what);
    }
}

/// An array's dimension count: the number of its element counts, without the lower bounds that the LLVM translator
/// writes after them.
pub(super) fn dimensions<'a>(check: &Check<'_, 'a>, fact: &Fact<'a>) -> usize {
    let is_bound = |id: Id| {
        let is_none = check.facts.get(id).is_some_and(|it| it.name() == Some(InstructionName::InfoNone));
        is_none || check.facts.layout().constant(id).is_some_and(|constant| constant.value == Some(0))
    };
    let bounds: Vec<bool> = fact.ids(Field::ComponentCount).map(is_bound).collect();
    // Bounds are as many as counts, all 0 or missing, and no count is.
    let (counts, last) = bounds.split_at(bounds.len() / 2);
    let has_bounds = counts.len() == last.len() && !counts.contains(&true) && !last.contains(&false);
    if has_bounds { counts.len() } else { bounds.len() }
}

/// `LowerBounds` and `CountVariable`: rules about element counts.
fn counts<'a>(check: &mut Check<'_, 'a>, fact: &Fact<'a>) {
    let bounds = fact.ids(Field::ComponentCount).count() - dimensions(check, fact);
    if bounds > 0 {
        let what = format!("the last {bounds} are lower bounds, as the LLVM translator writes them");
        check.find_of(ValidationRule::LowerBounds, fact, Field::ComponentCount, what);
    }
    let counts = fact.ids(Field::ComponentCount).chain(fact.ids(Field::Count)).chain(fact.ids(Field::Stride));
    for id in counts {
        let field = if fact.name() == Some(InstructionName::TypeArray) {
            Field::ComponentCount
        } else {
            Field::Count
        };
        let variable = check.facts.get(id).filter(|variable| variable.set == fact.set);
        let Some(variable) = variable.filter(|it| it.name() != Some(InstructionName::InfoNone)) else {
            continue;
        };
        let ty = check
            .facts
            .named(&variable, Field::Type)
            .filter(|ty| ty.name() == Some(InstructionName::TypeBasic));
        let number = |field| ty.and_then(|ty| check.facts.number(&ty, field));
        let encoding = number(Field::Encoding).and_then(|number| u32::try_from(number).ok());
        let encoding = encoding.and_then(|number| Enumeration::Encoding.name(number, fact.set));
        if !matches!(number(Field::Size), Some(32 | 64)) || encoding != Some("Unsigned") {
            let what = format!("the type of {id} is not a DebugTypeBasic of 32 or 64 bits, Unsigned");
            check.find_of(ValidationRule::CountVariable, fact, field, what);
        }
    }
}

/// `OpaqueType`: a type without a size is opaque.
fn opaque<'a>(check: &mut Check<'_, 'a>, fact: &Fact<'a>) {
    if !is_none(check, fact, Field::Size) {
        return;
    }
    if fact.operand(Field::Member).is_some() {
        check.find_of(ValidationRule::OpaqueType, fact, Field::Member, "the type has members, but no size");
    }
    let name = fact.id(Field::Name).and_then(|name| check.facts.layout().string_start(name, 1));
    if fact.set == Set::OpenCl && name.is_some_and(|name| !name.starts_with(b"@")) {
        let what = "the name does not start with `@`, but the type has no size";
        check.find_of(ValidationRule::OpaqueType, fact, Field::Name, what);
    }
}

/// `UnknownLayout`: a type with unknown layout has placeholder sizes, but they must be consistent.
fn unknown_layout<'a>(check: &mut Check<'_, 'a>, fact: &Fact<'a>) {
    let facts = check.facts;
    let number = |fact: &Fact<'a>, field| facts.number(fact, field);
    let flags = number(fact, Field::Flags).filter(|flags| flags & u64::from(UNKNOWN_LAYOUT) != 0);
    let (Some(_), Some(size)) = (flags, number(fact, Field::Size)) else { return };
    if fact.name() == Some(InstructionName::TypeMember) && size == 0 {
        check.find_of(ValidationRule::UnknownLayout, fact, Field::Size, "it is 0");
    }
    let members = fact.ids(Field::Member).filter_map(|member| facts.get(member));
    // Offset and size are in bits; a sum that overflows is not compared.
    let end = |member: Fact<'a>| {
        let end = number(&member, Field::Offset)?.checked_add(number(&member, Field::Size)?)?;
        (end > size).then_some((member.result, end))
    };
    if let Some((member, end)) = members.filter_map(end).next() {
        let what = format!("it is {size}, and {member} ends at {end}");
        check.find_of(ValidationRule::UnknownLayout, fact, Field::Size, what);
    }
}

fn member<'a>(check: &mut Check<'_, 'a>, fact: &Fact<'a>, index: &Index) {
    let Some(scope) = check.facts.named(fact, Field::Scope) else { return };
    let is_composite = scope.name() == Some(InstructionName::TypeComposite);
    if is_composite && !index.members.contains(&(scope.result, fact.result)) {
        let what = format!("{} does not have it among its members", scope.result);
        check.find_of(ValidationRule::MemberScope, fact, Field::Scope, what);
    }
}

/// Checks that the operand refers to a class, a structure or a function, rather than a union.
fn no_union<'a>(check: &mut Check<'_, 'a>, fact: &Fact<'a>, field: Field) {
    let named = check.facts.named(fact, field).filter(|it| it.name() == Some(InstructionName::TypeComposite));
    let tag = named.and_then(|named| check.facts.number(&named, Field::Tag));
    let tag = tag.and_then(|tag| u32::try_from(tag).ok());
    if tag.and_then(|tag| Enumeration::CompositeTag.name(tag, fact.set)) == Some("Union") {
        check.find_of(ValidationRule::ClassOrStructure, fact, field, "it is a union");
    }
}

fn macro_name<'a>(check: &mut Check<'_, 'a>, fact: &Fact<'a>) {
    check_text(
        check,
        ValidationRule::MacroName,
        fact,
        Field::Name,
        "a name, or one with parameters, without white space",
        |name| {
            let parameters = name.split_once('(').map(|(_, parameters)| parameters);
            !name.contains(char::is_whitespace) && parameters.is_none_or(|text| text.ends_with(')'))
        },
    );
}

fn imported<'a>(check: &mut Check<'_, 'a>, fact: &Fact<'a>) {
    let Some(entity) = check.facts.named(fact, Field::Entity) else { return };
    let is_namespace = match entity.name() {
        Some(InstructionName::LexicalBlock) => entity.operand(Field::Name).is_some(),
        // An alias is checked at the imported entity.
        Some(InstructionName::ImportedEntity | InstructionName::Module | InstructionName::InfoNone) => true,
        _ => false,
    };
    let is_block = entity.name() == Some(InstructionName::LexicalBlock);
    let tag = check.facts.number(fact, Field::Tag).and_then(|tag| u32::try_from(tag).ok());
    let tag = tag.and_then(|tag| Enumeration::ImportedEntity.name(tag, fact.set));
    if !is_namespace && (is_block || tag == Some("ImportedModule")) {
        let what = format!("{} is not a namespace", check.describe(entity.result));
        check.find_of(ValidationRule::Namespace, fact, Field::Entity, what);
    }
}

fn build_identifier<'a>(check: &mut Check<'_, 'a>, fact: &Fact<'a>) {
    let wanted = "32 or more lowercase hexadecimal digits";
    check_text(check, ValidationRule::BuildIdentifier, fact, Field::Identifier, wanted, is_build_identifier);
}

/// Checks an operand's text, once per string.
fn check_text<'a>(
    check: &mut Check<'_, 'a>,
    rule: ValidationRule,
    fact: &Fact<'a>,
    field: Field,
    wanted: &str,
    is_right: fn(&str) -> bool,
) {
    let Some(id) = fact.id(field) else { return };
    let facts = check.facts;
    let is_right = check.checked.entry((rule, id)).or_insert_with(|| {
        let text = facts.layout().string(id);
        text.is_none_or(|text| is_right(&text))
    });
    if !*is_right {
        let what = format!("{} is not {wanted}", shown(facts, id).unwrap_or_default());
        check.find_of(rule, fact, field, what);
    }
}

fn entry_point<'a>(check: &mut Check<'_, 'a>, fact: &Fact<'a>, index: &Index) {
    let Some(debug) = fact.id(Field::EntryPoint) else { return };
    let function = index.definitions.get(&debug).and_then(|&(_, function)| function);
    if !function.is_some_and(|function| index.entry_points.contains(&function)) {
        let what = format!("no function of an OpEntryPoint has the definition of {debug}");
        check.find_of(ValidationRule::EntryPoint, fact, Field::EntryPoint, what);
    }
}

fn definition<'a>(check: &mut Check<'_, 'a>, fact: &Fact<'a>, index: &Index) {
    let layout = check.facts.layout();
    // `PlaceBody` reports instructions outside functions.
    let Some(function) = layout.function_at(fact.at) else { return };
    let definition = fact.id(Field::Definition);
    let debug = fact.id(Field::Function);
    if definition != Some(function.id) {
        let what = format!("it is in the function {}", function.id);
        check.find_of(ValidationRule::FunctionDefinition, fact, Field::Definition, what);
    }
    let first = debug.and_then(|debug| index.definitions.get(&debug));
    if let Some(&(word, _)) = first.filter(|&&(word, _)| word != fact.at) {
        let what = format!("word {word} has defined it");
        check.find_of(ValidationRule::FunctionDefinition, fact, Field::Function, what);
    }
    if let Some(&word) = index.functions.get(&function.id).filter(|&&word| word != fact.at) {
        let what = format!("the function has one already, at word {word}");
        check.find(ValidationRule::FunctionDefinition, fact, what);
        return;
    }
    let labels = layout.words().between(function.at.start..fact.at);
    if labels.filter(|it| it.opcode() == op::LABEL).count() > 1 {
        check.find(ValidationRule::FunctionDefinition, fact, "it is not in the first block of the function");
    }
}
