//! The table `src/spirv/grammar.rs` and the grammar files of SPIRV-Headers.
//!
//! Write the table from a release:
//!
//! ```sh
//! EITRI_SPIRV_HEADERS=include/spirv/unified1 EITRI_SPIRV_RELEASE=v2026.08.0 EITRI_BLESS=1 cargo test --test spirv spirv grammar
//! ```

use std::collections::BTreeSet;
use std::fmt::Write;
use std::path::{Path, PathBuf};

use eitri::spirv::{InstructionName, Set};
use serde_json::Value;

use crate::spirv::common::bless;
use crate::spirv::tools::skip;

const TABLE: &str = "src/spirv/grammar.rs";

/// The grammar files, with the set of each file of debug instructions.
const CORE: &str = "spirv.core.grammar.json";
const DEBUG: [(&str, Set); 2] = [
    ("extinst.opencl.debuginfo.100.grammar.json", Set::OpenCl),
    ("extinst.nonsemantic.shader.debuginfo.grammar.json", Set::Shader101),
];

/// Opcodes whose results differ in releases before v2026.08.0: `OpAsmTargetINTEL`, `OpReadPipeBlockingALTERA`,
/// `OpWritePipeBlockingALTERA` and `OpCompositeConstructContinuedINTEL`. The table follows that release.
pub const CORRECTED: [u16; 4] = [5609, 5946, 5947, 6096];

/// Folders of grammar files: of `EITRI_SPIRV_HEADERS`, of the package next to `EITRI_SPIRV_TOOLS`, and of Debian's
/// package `spirv-headers`.
fn folders() -> Vec<PathBuf> {
    let variable = |name| std::env::var(name).ok().map(PathBuf::from);
    let package = variable("EITRI_SPIRV_TOOLS").map(|tools| tools.join("../include/spirv/unified1"));
    let all = [variable("EITRI_SPIRV_HEADERS"), package, Some("/usr/include/spirv/unified1".into())];
    all.into_iter().flatten().filter(|folder| folder.join(CORE).is_file()).collect()
}

fn grammar(file: &Path) -> Option<Value> {
    let text = std::fs::read_to_string(file).ok()?;
    Some(serde_json::from_str(&text).expect("JSON"))
}

fn list<'v>(value: &'v Value, key: &str) -> &'v [Value] {
    value[key].as_array().map(Vec::as_slice).unwrap_or_default()
}

fn text<'v>(value: &'v Value, key: &str) -> &'v str {
    value[key].as_str().expect("a string")
}

fn number(value: &Value, key: &str) -> u64 {
    value[key].as_u64().expect("a number")
}

/// Enumerants of a kind of operand; the first name of each number.
fn enumerants<'v>(core: &'v Value, kind: &str) -> Vec<&'v Value> {
    let kind = list(core, "operand_kinds").iter().find(|it| it["kind"] == kind);
    let mut all: Vec<_> = kind.map_or(&[][..], |kind| list(kind, "enumerants")).iter().collect();
    all.sort_by_key(|it| number(it, "value"));
    all.dedup_by_key(|it| number(it, "value"));
    all
}

/// Instructions by their opcodes; the first name of each opcode.
fn instructions(core: &Value) -> Vec<&Value> {
    let mut all: Vec<_> = list(core, "instructions").iter().collect();
    all.sort_by_key(|it| number(it, "opcode"));
    all.dedup_by_key(|it| number(it, "opcode"));
    all
}

fn results(instruction: &Value) -> &'static str {
    let has = |kind| list(instruction, "operands").iter().any(|operand| operand["kind"] == kind);
    match (has("IdResultType"), has("IdResult")) {
        (true, true) => "TypedId",
        (false, true) => "Id",
        (false, false) => "None",
        (true, false) => panic!("{}: a type without a result", text(instruction, "opname")),
    }
}

/// Operands after the result, a letter each: `i`: an id, `l`: a literal word, `s`: a string, `*`: any number of the
/// operand before, `.`: operands of an unknown number of words, up to the end.
fn operands(instruction: &Value, core: &Value) -> String {
    let mut signature = String::new();
    for operand in list(instruction, "operands") {
        let kind = text(operand, "kind");
        if matches!(kind, "IdResultType" | "IdResult") {
            continue;
        }
        let row = list(core, "operand_kinds").iter().find(|it| it["kind"] == kind).expect("a kind");
        let has_parameters = || list(row, "enumerants").iter().any(|it| !list(it, "parameters").is_empty());
        let letter = match (text(row, "category"), kind) {
            ("Id", _) | (_, "PairIdRefIdRef") => 'i',
            (_, "LiteralString") => 's',
            (_, "LiteralInteger" | "LiteralExtInstInteger") => 'l',
            ("ValueEnum" | "BitEnum", _) if !has_parameters() => 'l',
            _ => '.',
        };
        signature.push(letter);
        match (letter, operand["quantifier"].as_str()) {
            ('.', _) => break,
            (_, Some("*")) => signature.push('*'),
            _ => {}
        }
    }
    signature
}

/// InstructionName of a class as an identifier.
fn class(instruction: &Value) -> String {
    match text(instruction, "class") {
        "@exclude" => "Excluded".into(),
        class => class.split(['-', '_']).map(|word| word[..1].to_uppercase() + &word[1..]).collect(),
    }
}

/// The table of a release.
fn table(core: &Value, release: &str) -> String {
    let mut out = format!(
        "//! Facts of the SPIR-V grammar: numbers, names, results and operands.\n\
         //!\n\
         //! Release {release} of SPIRV-Headers (SPIR-V {}.{}, revision {}). The test `grammar` writes this file and names what\n\
         //! other releases have in addition; it is not edited by hand.\n\n\
         use Results::{{Id, None, TypedId}};\n\n\
         /// Words of an instruction before its operands.\n\
         #[derive(Debug, Clone, Copy, PartialEq, Eq)]\n\
         pub(crate) enum Results {{\n\
         \x20   /// No result.\n\
         \x20   None,\n\
         \x20   /// The result id.\n\
         \x20   Id,\n\
         \x20   /// The result type, and the result id.\n\
         \x20   TypedId,\n\
         }}\n\n\
         /// Class of an instruction: its section of the core specification.\n\
         #[derive(Debug, Clone, Copy, PartialEq, Eq)]\n\
         #[rustfmt::skip]\n\
         pub(super) enum Class {{\n",
        core["major_version"], core["minor_version"], core["revision"]
    );
    let all = instructions(core);
    for class in all.iter().map(|it| class(it)).collect::<BTreeSet<_>>() {
        writeln!(out, "    {class},").expect("is written");
    }
    out += "}\n\n\
            /// An instruction: opcode, name, class, result, and a letter for each operand after the result. `i`: an id, `l`: a\n\
            /// literal word, `s`: a string, `*`: any number of the operand before, `.`: operands of an unknown number of words, up\n\
            /// to the end.\n\
            pub(super) type Row = (u16, &'static str, Class, Results, &'static str);\n\n\
            /// All instructions, in ascending order.\n\
            #[rustfmt::skip]\n\
            pub(super) static INSTRUCTIONS: &[Row] = &[\n";
    for it in all {
        let opcode = number(it, "opcode");
        let name = text(it, "opname");
        let class = class(it);
        let results = results(it);
        let operands = operands(it, core);
        writeln!(out, "    ({opcode}, {name:?}, Class::{class}, {results}, {operands:?}),")
            .expect("is written");
    }
    out += "];\n";
    // Earlier releases have aliases as enumerants of their own.
    let capabilities = list(core, "operand_kinds").iter().find(|it| it["kind"] == "Capability");
    let capabilities = list(capabilities.expect("capabilities"), "enumerants");
    let numbers = |it: &Value| {
        let named = |name: &Value| {
            let is = |it: &&Value| it["enumerant"] == *name || list(it, "aliases").contains(name);
            number(capabilities.iter().find(is).expect("a capability"), "value").to_string()
        };
        list(it, "capabilities").iter().map(named).collect::<Vec<_>>().join(", ")
    };
    let mut names = |doc: &str, constant: &str, kind: &str| {
        write!(out, "\n/// {doc}\n#[rustfmt::skip]\npub(super) static {constant}: &[(u32, &str)] = &[\n")
            .expect("is written");
        for it in enumerants(core, kind) {
            writeln!(out, "    ({}, {:?}),", number(it, "value"), text(it, "enumerant")).expect("is written");
        }
        out += "];\n";
    };
    names("Source languages.", "SOURCE_LANGUAGES", "SourceLanguage");
    names(
        "Encodings of floating-point numbers in formats other than IEEE 754's.",
        "FP_ENCODINGS",
        "FPEncoding",
    );
    names("Storage classes.", "STORAGE_CLASSES", "StorageClass");
    names("Capabilities.", "CAPABILITIES", "Capability");
    let mut pairs = |doc: &str, constant: &str, kind: &str| {
        write!(out, "\n/// {doc}\n#[rustfmt::skip]\npub(super) static {constant}: &[(u32, &[u32])] = &[\n")
            .expect("is written");
        for it in enumerants(core, kind) {
            let others = numbers(it);
            if !others.is_empty() {
                writeln!(out, "    ({}, &[{others}]),", number(it, "value")).expect("is written");
            }
        }
        out += "];\n";
    };
    pairs(
        "Storage classes, each with the capabilities of which it requires any.",
        "STORAGE_CLASS_CAPABILITIES",
        "StorageClass",
    );
    pairs("Capabilities, each with those that it declares implicitly.", "IMPLIED_CAPABILITIES", "Capability");
    out
}

/// The rows of a table, without names, which change when an extension becomes a part of the core, and without what else
/// differs in earlier releases: classes, and the capabilities of enumerants.
fn facts(table: &str) -> Vec<(String, &str)> {
    let mut list = "";
    let mut facts = Vec::new();
    for line in table.lines() {
        if let Some((_, rest)) = line.split_once("static ") {
            list = rest.split(':').next().unwrap_or_default();
        }
        let row = line.trim_start().strip_prefix('(').filter(|row| !row.contains("&["));
        if let Some(row) = row {
            let mut columns = row.split(", ");
            let number = columns.next().unwrap_or_default().trim_end_matches("),");
            let is_corrected = number.parse().is_ok_and(|number| CORRECTED.contains(&number));
            let has_results = list == "INSTRUCTIONS" && !is_corrected;
            let results = if has_results { columns.nth(2).unwrap_or_default() } else { "" };
            facts.push((format!("{list} {number} {results}"), line.trim()));
        }
    }
    facts
}

/// Rows of a grammar that a table lacks.
fn lacking(core: &Value, known: &str) -> Vec<String> {
    let known: BTreeSet<_> = facts(known).into_iter().map(|(fact, _)| fact).collect();
    let table = table(core, "");
    let rows = facts(&table).into_iter().filter(|(fact, _)| !known.contains(fact));
    rows.map(|(_, row)| row.to_owned()).collect()
}

#[test]
fn table_has_every_number_of_a_grammar_file() {
    let folders = folders();
    if folders.is_empty() {
        return skip("no grammar files of SPIRV-Headers (Debian package spirv-headers)");
    }
    let root = Path::new(crate::common::ROOT);
    let checked_in = std::fs::read_to_string(root.join(TABLE)).expect("the table");
    let mut new = Vec::new();
    for folder in folders {
        let mut core = grammar(&folder.join(CORE)).expect("is there");
        new.extend(lacking(&core, &checked_in).into_iter().map(|row| format!("{}: {row}", folder.display())));
        for (file, set) in DEBUG {
            let Some(grammar) = grammar(&folder.join(file)) else { continue };
            for it in list(&grammar, "instructions") {
                let opcode = number(it, "opcode") as u32;
                let name = text(it, "opname");
                if InstructionName::numbered(set, opcode).is_none_or(|row| row.text_in(set) != name) {
                    new.push(format!("{}: {opcode} {name}", folder.join(file).display()));
                }
            }
        }
        // What a later release would add is named.
        let added = serde_json::json!({ "opname": "OpLater", "class": "Reserved", "opcode": 60_000 });
        core["instructions"].as_array_mut().expect("a list").push(added);
        let kinds = core["operand_kinds"].as_array_mut().expect("a list");
        let languages = kinds.iter_mut().find(|it| it["kind"] == "SourceLanguage").expect("languages");
        let added = serde_json::json!({ "enumerant": "Later", "value": 60_001 });
        languages["enumerants"].as_array_mut().expect("a list").push(added);
        let later = lacking(&core, &checked_in);
        let is_named = |name: &str| later.iter().any(|row| row.contains(name));
        assert!(is_named("60000, \"OpLater\"") && is_named("60001, \"Later\""), "{later:?}");
    }
    assert!(new.is_empty(), "{TABLE} lacks:\n{}", new.join("\n"));
}

/// With the grammar files of the table's release.
#[test]
fn table_is_that_of_its_release() {
    let variable = |name| std::env::var(name).ok();
    let (Some(folder), Some(release)) = (variable("EITRI_SPIRV_HEADERS"), variable("EITRI_SPIRV_RELEASE"))
    else {
        return;
    };
    let core = grammar(&Path::new(&folder).join(CORE)).expect("the grammar of the core");
    let file = Path::new(crate::common::ROOT).join(TABLE);
    let table = table(&core, &release);
    if bless() {
        return std::fs::write(file, table).expect("the table is written");
    }
    let checked_in = std::fs::read_to_string(file).expect("the table");
    assert!(checked_in == table, "EITRI_BLESS=1 rewrites {TABLE}");
}
