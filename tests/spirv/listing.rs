//! Random modules with replaced operands: the permitted ones are those of the listing typed from the specifications.

use std::collections::HashMap;

use eitri::spirv::{InstructionName, Set, ValidationRule, read, validate};

use crate::spirv::golden::listed_of;
use crate::spirv::random::{Maker, Random, Thing};

const TYPES: [&str; 16] = [
    "DebugTypeBasic",
    "DebugTypePointer",
    "DebugTypeQualifier",
    "DebugTypeArray",
    "DebugTypeArrayDynamic",
    "DebugTypeString",
    "DebugTypeVector",
    "DebugTypeMatrix",
    "DebugTypeVectorIdEXT",
    "DebugTypeCooperativeMatrixKHR",
    "DebugTypedef",
    "DebugTypeFunction",
    "DebugTypeEnum",
    "DebugTypeComposite",
    "DebugTypePtrToMember",
    "DebugTypeTemplate",
];

const SCOPES: [&str; 5] =
    ["DebugCompilationUnit", "DebugFunction", "DebugLexicalBlock", "DebugTypeComposite", "DebugModule"];

/// Permitted operands of each instruction in a set, in the notation of the listing.
fn listing(set: Set) -> HashMap<&'static str, Vec<&'static str>> {
    let row = |line: &'static str| {
        let columns: Vec<&str> = line.split('|').map(str::trim).collect();
        (columns[1], columns[3].split("; ").filter(|operand| !operand.is_empty()).collect())
    };
    listed_of(set).into_iter().map(row).collect()
}

/// Permitted contents of the operand at an index; repeated operands are last.
fn at<'l>(operands: &[&'l str], index: usize) -> &'l str {
    let many = operands.iter().filter(|operand| operand.contains("...")).count();
    let fixed = operands.len() - many;
    if index < fixed { operands[index] } else { operands[fixed + (index - fixed) % many] }
}

/// Whether the listing permits a thing as the operand.
fn can_be(operand: &str, thing: Thing) -> bool {
    let debug = match thing {
        Thing::Debug(name) => name.text(),
        _ => "",
    };
    // The name of an operand comes first, of one or two words, and a mark is at its end.
    let kind = operand.trim_end_matches(", forward").replace("32 or 64", "32/64");
    let mut atoms = kind.split(" or ").flat_map(|part| part.split(", "));
    atoms.any(|atom| {
        let is = |what: &str| atom == what || atom.ends_with(&format!(" {what}"));
        let constant = matches!(thing, Thing::Constant(..));
        is("str") && thing == Thing::String
            || is("type") && TYPES.contains(&debug)
            || is("scope") && SCOPES.contains(&debug)
            || is("OpTypeVoid") && thing == Thing::Void
            || (is("size") || is("int") || is("OpConstant")) && constant
            || is("OpConstant 32") && matches!(thing, Thing::Constant(32, _))
            || (is("constant of 32/64 bits") || is("integer constant")) && (constant || thing == Thing::Null)
            || is("constant of 32 bits") && matches!(thing, Thing::Constant(32, _) | Thing::Null)
            || is("const") && matches!(thing, Thing::Constant(32, _))
            || atom == "constant" && (constant || matches!(thing, Thing::Null | Thing::True))
            || is("Value? constant") && (constant || matches!(thing, Thing::Null | Thing::True))
            || is("variable") && ["DebugGlobalVariable", "DebugLocalVariable"].contains(&debug)
            || is("OpVariable") && thing == Thing::Variable
            || is("OpFunction") && thing == Thing::Function
            || is("boolean") && thing == Thing::True
            || is("result") && debug.is_empty()
            || is("integer") && (constant || matches!(thing, Thing::Null | Thing::Integer))
            || is("namespace") && ["DebugLexicalBlock", "DebugModule", "DebugImportedEntity"].contains(&debug)
            || is("declaration") && is_declaration(debug)
            || !debug.is_empty() && is(debug)
    })
}

fn is_declaration(name: &str) -> bool {
    let others = [
        "DebugTypeMember",
        "DebugGlobalVariable",
        "DebugFunctionDeclaration",
        "DebugFunction",
        "DebugLocalVariable",
        "DebugLexicalBlock",
        "DebugModule",
        "DebugImportedEntity",
    ];
    TYPES.contains(&name) || others.contains(&name)
}

#[test]
fn random_modules_are_right() {
    let mut random = Random(0x6a09_e667_f3bc_c908);
    let mut seen = HashMap::new();
    for round in 0..400 {
        let set = Set::ALL[round % 4];
        let made = Maker::module(set, 60, &mut random);
        let facts = read(&made.words).expect("reads");
        assert_eq!(facts.encode(), made.words);
        let report = validate(&facts);
        assert!(report.is_clean(), "{set:?}: {report}\n{}", eitri::spirv::print(&facts, Default::default()));
        for placed in &made.placed {
            *seen.entry((set, placed.name)).or_insert(0) += 1;
        }
    }
    for set in Set::ALL {
        for name in InstructionName::ALL.iter().filter(|name| name.number(set).is_some()) {
            assert!(seen.contains_key(&(set, *name)), "{set:?} {}", name.text());
        }
    }
}

#[test]
fn replaced_operands_are_found_where_the_listing_does_not_allow_them() {
    let mut random = Random(0xbb67_ae85_84ca_a73b);
    let mut found = 0;
    let mut allowed = 0;
    for round in 0..4_500 {
        let set = Set::ALL[round % 4];
        let rows = listing(set);
        let mut made = Maker::module(set, 25, &mut random);
        let placed = made.placed[random.below(made.placed.len())];
        if placed.operands == 0 {
            continue;
        }
        let index = random.below(placed.operands);
        let operand = match (set, placed.name, placed.operands) {
            // The form of version 100.
            (Set::Shader200, InstructionName::Source, 2) => at(&listing(Set::Shader)["DebugSource"], index),
            _ => at(&rows[placed.name.text_in(set)], index),
        };
        let is_literal = set == Set::OpenCl
            && placed
                .name
                .row()
                .operand(set, index, placed.operands)
                .is_some_and(|row| row.kind.is_literal(set));
        if is_literal || operand.ends_with(|char: char| char.is_ascii_digit()) && operand.contains("3.") {
            continue;
        }
        // Any preceding id.
        let mut before: Vec<(u32, Thing)> = made.things.iter().map(|(&id, &thing)| (id, thing)).collect();
        before.sort_unstable_by_key(|&(id, _)| id);
        let facts = read(&made.words).expect("reads");
        before.retain(|&(id, _)| {
            facts.layout().definition(eitri::spirv::Id(id)).is_some_and(|it| it.at < placed.at)
        });
        let (id, thing) = random.one_of(&before).expect("something");
        made.words[placed.at + 5 + index] = id;
        let report = validate(&read(&made.words).expect("reads"));
        let of_it = |rule| {
            let mut all = report.findings.iter().filter(|finding| finding.at.word == Some(placed.at));
            all.any(|finding| finding.rule == rule)
        };
        let is_found = of_it(ValidationRule::OperandKind) || of_it(ValidationRule::TemplateNumbers);
        // Languages and storage classes are 32-bit numbers.
        let operand =
            operand.replace("Source Language", "const").replace("Storage Class Storage Class", "const");
        let operand = operand.replace("Build Identifier Flags", "const").replace("FP Encoding", "const");
        let operand = operand.replace("Checksum Kinds", "const");
        // A replacement for a removed instruction is noted.
        let is_removed = thing == Thing::Debug(InstructionName::InfoNone)
            && !of_it(ValidationRule::TemplateNumbers)
            && report
                .notes
                .iter()
                .any(|note| note.at.word == Some(placed.at) && note.rule == ValidationRule::Removed);
        let is_right = can_be(&operand, thing) || is_removed;
        assert_eq!(
            is_found,
            !is_right,
            "{set:?} {} {index}: {operand:?} is {thing:?}: {report}",
            placed.name.text()
        );
        if is_right { allowed += 1 } else { found += 1 }
    }
    assert!(found > 1_000 && allowed > 100, "{found} {allowed}");
}

/// A missing or excessive operand, and a number outside of its enumeration.
#[test]
fn operands_that_are_missing_or_unknown_are_found() {
    let mut random = Random(0x3c6e_f372_fe94_f82b);
    for round in 0..1_500 {
        let set = Set::ALL[round % 4];
        let mut made = Maker::module(set, 25, &mut random);
        let placed = made.placed[random.below(made.placed.len())];
        let row = placed.name.row();
        let end = placed.at + 5 + placed.operands;
        let is_less = placed.operands > 0 && random.below(2) == 0;
        if is_less {
            made.words.remove(end - 1);
        } else {
            made.words.insert(end, 2);
        }
        let count = if is_less { placed.operands - 1 } else { placed.operands + 1 };
        made.words[placed.at] = (count as u32 + 5) << 16 | 12;
        let report = validate(&read(&made.words).expect("reads"));
        let is_found = report.findings.iter().any(|finding| {
            finding.at.word == Some(placed.at) && finding.rule == ValidationRule::OperandCount
        });
        assert_eq!(is_found, !row.takes(set, count), "{set:?} {} {count}: {report}", row.text);
    }
}
