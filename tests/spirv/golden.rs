//! Comparison of the table with the listing typed from the specifications, and of core instructions with the grammar.

use std::collections::BTreeMap;

use eitri::spirv::instructions::{Area, InstructionRow, OperandKind, OperandRow, Repeat};
use eitri::spirv::{Enumeration, Instruction, InstructionName, OPERATIONS, Set, Words, read};
use pretty_assertions::assert_eq;
use rspirv::grammar::{self, INSTRUCTION_TABLE};

use crate::spirv::assemble::assemble;
use crate::spirv::common::check_golden;
use crate::spirv::grammar::CORRECTED;
use crate::spirv::{OPENCL, SHADER, shader101, shader200};

const LISTING: &str = include_str!("../../goldens/spirv/instructions.txt");

/// Lines of a part of the listing.
pub fn part(name: &str) -> impl Iterator<Item = &'static str> {
    let lines = LISTING.lines().filter(|line| !line.is_empty() && !line.starts_with('#'));
    let header = format!("[{name}]");
    lines.skip_while(move |line| *line != header).skip(1).take_while(|line| !line.starts_with('['))
}

/// Lines of a set, in the order of their numbers: for a later version, with the unchanged ones of the previous
/// version.
pub fn listed_of(set: Set) -> Vec<&'static str> {
    let number =
        |line: &&'static str| line.split(' ').next().and_then(|it| it.parse::<u32>().ok()).expect("a number");
    let mut all = BTreeMap::new();
    for of in Set::ALL.into_iter().filter(|of| set.includes(*of)) {
        all.extend(part(of.name()).map(|line| (number(&line), line)));
    }
    all.into_values().collect()
}

fn enumeration(text: &str) -> Option<Enumeration> {
    Some(match text {
        "3.2" => Enumeration::Flags,
        "3.3" => Enumeration::Encoding,
        "3.4" => Enumeration::CompositeTag,
        "3.5" => Enumeration::Qualifier,
        "3.6" => Enumeration::Operation,
        "3.7" => Enumeration::ImportedEntity,
        "Source Language" => Enumeration::Language,
        "Storage Class" => Enumeration::StorageClass,
        "FP Encoding" => Enumeration::FpEncoding,
        "Build Identifier Flags" => Enumeration::BuildFlags,
        "Checksum Kinds" => Enumeration::ChecksumKind,
        _ => return None,
    })
}

/// The listing's notation for the permitted contents of an operand.
fn kind(operand: &OperandRow, set: Set) -> String {
    let kind = match operand.kind {
        OperandKind::Enumerant(enumeration) => {
            let sections = ["3.2", "3.3", "3.4", "3.5", "3.6", "3.7", "Source Language", "Storage Class"];
            let mut all =
                sections.into_iter().chain(["FP Encoding", "Build Identifier Flags", "Checksum Kinds"]);
            all.find(|section| self::enumeration(section) == Some(enumeration)).expect("a section").into()
        }
        OperandKind::Number | OperandKind::AnyNumber if set == Set::OpenCl => "literal".into(),
        OperandKind::Number => "const".into(),
        OperandKind::AnyNumber => "constant of 32 bits".into(),
        OperandKind::Id(names) => match names.text {
            "an OpString" => "str".into(),
            "a lexical scope" => "scope".into(),
            "an OpConstant of 32 or 64 bits" => "size".into(),
            "an OpConstant of an integer type" => "int".into(),
            "a constant of an integer type" => "integer constant".into(),
            "an OpConstant of 32 bits" => "OpConstant 32".into(),
            "a constant of an unsigned 32-bit integer type" => "unsigned constant of 32 bits".into(),
            "an OpConstant of 32 or 64 bits, or a variable" => "size or variable".into(),
            "a constant of 32 or 64 bits, or a variable" => "constant of 32 or 64 bits or variable".into(),
            "an OpConstant of 32 or 64 bits, a variable or a DebugExpression" => {
                "size or variable or DebugExpression".into()
            }
            "an OpVariable, a constant or a DebugExpression" => {
                "OpVariable or constant or DebugExpression".into()
            }
            "the result of an instruction that is not a debug instruction" => "result".into(),
            "an OpConstantTrue or OpConstantFalse" => "boolean".into(),
            "a class, a structure or a function" | "a parameter of a template" => listed(names.debug),
            "a DebugTypeMember, DebugFunction or DebugTypeInheritance" => listed(names.debug),
            text => text.trim_start_matches("an ").trim_start_matches("a ").replace(" or a ", " or "),
        },
    };
    let kind = if operand.none { format!("{kind} or DebugInfoNone") } else { kind };
    if operand.forward { format!("{kind}, forward") } else { kind }
}

fn listed(names: &[InstructionName]) -> String {
    names.iter().map(|name| name.text()).collect::<Vec<_>>().join(", ")
}

/// The line of the listing that a row corresponds to.
fn line(row: &InstructionRow, set: Set, number: u32) -> String {
    let words = |count: usize| row.takes(set, count).then_some(5 + count);
    let least = (0..).find_map(words).expect("some number of operands");
    let plus = if (least - 4..200).any(|count| row.takes(set, count)) { "+" } else { "" };
    let operands = row.operands(set).map(|operand| {
        let mark = match operand.repeat {
            Repeat::Once => "",
            Repeat::Optional => "?",
            Repeat::Many | Repeat::Some | Repeat::Pairs => "...",
        };
        format!("{}{mark} {}", operand.field.text(), kind(operand, set))
    });
    let operands = operands.collect::<Vec<_>>().join("; ");
    format!("{number} | {} | {least}{plus} | {operands}", row.text_in(set)).trim_end().to_owned()
}

#[test]
fn the_table_is_the_specifications() {
    for set in Set::ALL {
        let rows = InstructionName::ALL.iter().map(|name| name.row());
        let rows: BTreeMap<u32, _> = rows.filter_map(|row| Some((row.number(set)?, row))).collect();
        let lines: Vec<String> = rows.iter().map(|(&number, row)| line(row, set, number)).collect();
        assert_eq!(lines, listed_of(set), "{}", set.name());
        for (&number, row) in &rows {
            assert_eq!(InstructionName::numbered(set, number), Some(row.name));
        }
    }
    let in_functions = part("places").next().expect("a line");
    for row in InstructionName::ALL.iter().map(|name| name.row()) {
        let number = row.numbers.shader.to_string();
        let is_in = in_functions.split(' ').any(|it| it == number);
        assert_eq!(row.area == Area::Body, is_in, "{}", row.text);
    }
}

#[test]
fn enumerations_are_the_specifications() {
    let parts = [("enumerations", Set::Shader), ("enumerations of 200", Set::Shader200)];
    for (line, set) in parts.into_iter().flat_map(|(name, set)| part(name).map(move |line| (line, set))) {
        let (section, list) = line.split_once(" | ").expect("two columns");
        let found = enumeration(section).expect("a section");
        let mut entries: Vec<_> = found.entries(set).collect();
        if set == Set::Shader200 && found != Enumeration::ChecksumKind {
            entries.retain(|entry| found.entries(Set::Shader).all(|other| other != *entry));
        }
        entries.sort_unstable();
        let text = entries.iter().map(|&(number, name)| match found {
            Enumeration::Operation => format!("{number} {name} {}", OPERATIONS[number as usize].operands),
            _ => format!("{number} {name}"),
        });
        assert_eq!(text.collect::<Vec<_>>().join(", "), list, "{section}");
    }
}

/// Compares each instruction with the grammar in `rspirv`: whether it has a type, and whether it has a result.
#[test]
fn core_instructions_are_the_grammars() {
    for grammar in INSTRUCTION_TABLE.iter().filter(|it| !CORRECTED.contains(&(it.opcode as u16))) {
        let has = |kind| grammar.operands.iter().any(|operand| operand.kind == kind);
        let words = [MODULE, &[8 << 16 | grammar.opcode as u32, 101, 102, 0, 0, 0, 0, 0]].concat();
        let found: Vec<Instruction<'_>> = Words::new(&words).expect("a module").instructions().collect();
        let ty = found[0].result_type().map(|id| id.0);
        let result = found[0].result().map(|id| id.0);
        let has_type = has(grammar::OperandKind::IdResultType);
        assert_eq!(ty, has_type.then_some(101), "{}", grammar.opname);
        let expected = has(grammar::OperandKind::IdResult).then_some(if has_type { 102 } else { 101 });
        assert_eq!(result, expected, "{}", grammar.opname);
        // Every opcode is known; an unknown one might define its operands.
        let facts = read(&words);
        let facts = facts.expect("reads");
        assert!(!facts.layout().may_be_defined(eitri::spirv::Id(101)), "{}", grammar.opname);
    }
    let words = [MODULE, &[3 << 16 | 65000, 101, 102]].concat();
    assert!(read(&words).expect("reads").layout().may_be_defined(eitri::spirv::Id(102)));
}

/// Header of a module.
const MODULE: &[u32] = &[0x0723_0203, 0x0001_0600, 0, 200, 0];

#[test]
fn core_enumerations_are_the_grammars() {
    // The crate has the grammar of an earlier release.
    let names = |enumeration: Enumeration, known: Vec<(u32, String)>| {
        assert!(!known.is_empty());
        for (number, name) in known {
            assert_eq!(enumeration.name(number, Set::Shader), Some(&*name));
        }
    };
    macro_rules! known {
        ($ty:ident) => {
            (0..10_000)
                .filter_map(|number| Some((number, format!("{:?}", rspirv::spirv::$ty::from_u32(number)?))))
                .collect()
        };
    }
    names(Enumeration::Language, known!(SourceLanguage));
    names(Enumeration::StorageClass, known!(StorageClass));
    names(Enumeration::FpEncoding, known!(FPEncoding));
}

#[test]
fn every_instruction_is_printed() {
    for (name, text, set) in [("opencl", OPENCL, Set::OpenCl), ("shader", SHADER, Set::Shader)] {
        let words = assemble(text).words;
        let facts = read(&words).expect("reads");
        for row in InstructionName::ALL.iter().map(|name| name.row()).filter(|row| row.number(set).is_some())
        {
            assert!(facts.iter().any(|fact| fact.name() == Some(row.name)), "{name} has no {}", row.text);
        }
        check_golden(&format!("spirv/{name}.txt"), &eitri::spirv::print(&facts, Default::default()));
    }
    let words = assemble(&shader101()).words;
    let text = eitri::spirv::print(&read(&words).expect("reads"), Default::default());
    let is_new = |line: &&str| {
        ["DebugInfo.101", "VectorIdEXT", "CooperativeMatrix", "FPEncoding"]
            .iter()
            .any(|new| line.contains(new))
    };
    let new: String = text.lines().filter(is_new).map(|line| format!("{line}\n")).collect();
    check_golden("spirv/shader101.txt", &new);
    let words = assemble(&shader200()).words;
    let facts = read(&words).expect("reads");
    for row in
        InstructionName::ALL.iter().map(|name| name.row()).filter(|row| row.number(Set::Shader200).is_some())
    {
        assert!(facts.iter().any(|fact| fact.name() == Some(row.name)), "the module has no {}", row.text);
    }
    let text = eitri::spirv::print(&facts, Default::default());
    let before = eitri::spirv::print(&read(&assemble(SHADER).words).expect("reads"), Default::default());
    // Ids differ.
    let form = |line: &str| line.split_once(" = ").map(|(_, rest)| without_ids(rest));
    let known: std::collections::HashSet<_> = before.lines().filter_map(form).collect();
    let is_new = |line: &&str| form(line).is_none_or(|form| !known.contains(&form));
    let new: String = text.lines().filter(is_new).map(|line| format!("{line}\n")).collect();
    check_golden("spirv/shader200.txt", &new);
}

/// Text without the numbers of ids.
fn without_ids(text: &str) -> String {
    let word = |word: &str| if word.starts_with('%') { "%".to_owned() } else { word.to_owned() };
    text.split(' ').map(word).collect::<Vec<_>>().join(" ")
}
