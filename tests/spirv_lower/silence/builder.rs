//! Checks that these tests call each method of the builder, apart from exempt ones.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

/// Methods without meaning for the program.
const NOT_SAID: &[&str] = &["Builder::finish", "Builder::hand_over", "Builder::macros"];

/// Prefix of methods that return a builder for more properties.
const GOES_ON: &str = "Builder::describe_";

/// Methods for machine code: pcs, rows, and locations of variables and frames in registers and memory.
const MACHINE_CODE: &[&str] = &[
    "Builder::symbol",
    "Builder::expr",
    "Builder::procedure",
    "Builder::row",
    "Builder::entry_pc",
    "FunctionBuilder::code",
    "FunctionBuilder::code_part",
    "FunctionBuilder::address",
    "FunctionBuilder::undescribed",
    "FunctionBuilder::stack_base",
    "FunctionBuilder::stack_at_zero",
    "FunctionBuilder::scaling",
    "LabelBuilder::at",
    "CallBuilder::",
    "ArgumentBuilder::",
    "VariableBuilder::live",
    "VariableBuilder::live_in",
    "VariableBuilder::always",
    "Builder::frame",
    "FrameBuilder::",
    "LanesBuilder::",
    "ControlFlow::",
    "Builder::control_flow",
];

/// Collects methods with effects, as `Type::method`, from a file or a folder.
fn methods(path: &Path, all: &mut BTreeSet<String>) {
    if path.is_dir() {
        for entry in fs::read_dir(path).expect("is there") {
            methods(&entry.expect("is there").path(), all);
        }
        return;
    }
    let mut of = String::new();
    for line in fs::read_to_string(path).expect("is text").lines() {
        if line.starts_with("impl") && line.ends_with('{') && !line.contains(" for ") {
            let name = line.trim_start_matches("impl<'a>").trim_start_matches("impl").trim_start();
            of = name.split(['<', ' ']).next().unwrap_or_default().to_owned();
        }
        // Getters have no effect.
        if let Some(method) = line.strip_prefix("    pub fn ").filter(|method| !method.contains("(&self")) {
            let name = method.split(['(', '<']).next().unwrap_or_default();
            all.insert(format!("{of}::{name}"));
        }
    }
}

/// Collects the methods that are made of the table of properties: `[flag] "0.1" noreturn => is_noreturn;` of
/// `macro_rules! function_properties` is `FunctionBuilder::noreturn`.
fn properties(all: &mut BTreeSet<String>) {
    let mut of = String::new();
    for line in include_str!("../../../src/model/entities.rs").lines() {
        if let Some(name) =
            line.strip_prefix("macro_rules! ").and_then(|rest| rest.split("_properties").next())
        {
            let (first, rest) = name.split_at(1);
            of = if name == "member" {
                "DataMember".to_owned()
            } else {
                format!("{}{rest}Builder", first.to_uppercase())
            };
        }
        // The line of a declaration has two methods.
        if line.starts_with("    [line] ") && line.contains(" by declared;") {
            all.extend([format!("{of}::declared"), format!("{of}::declared")]);
        }
        // Other rows with `by` name a method of the builder's files.
        let plain = line.strip_prefix("    [").filter(|row| row.contains(" => ") && !row.contains(" by "));
        // The name follows the version.
        let name =
            |row: &'static str| row.split("] ").nth(1)?.split([' ', ';']).find(|word| !word.starts_with('"'));
        if let Some(name) = plain.and_then(name) {
            all.insert(format!("{of}::{name}"));
        }
    }
}

/// Names of calls in the files here.
fn called() -> BTreeSet<String> {
    let texts = [
        include_str!("bound.rs"),
        include_str!("functions.rs"),
        include_str!("members.rs"),
        include_str!("scopes.rs"),
        include_str!("templates.rs"),
        include_str!("types.rs"),
        include_str!("units.rs"),
        include_str!("variables.rs"),
    ];
    let quoted = texts.iter().flat_map(|text| text.split('"').skip(1).step_by(2));
    let names = quoted.filter_map(|text| text.split(", ").next().filter(|name| name.contains("::")));
    names.map(str::to_owned).collect()
}

#[test]
fn every_method_is_called() {
    let root = Path::new(crate::common::ROOT);
    let mut all = BTreeSet::new();
    methods(&root.join("src/build"), &mut all);
    properties(&mut all);
    methods(&root.join("src/spirv/binding.rs"), &mut all);
    let is_about_machine_code =
        |name: &str| MACHINE_CODE.iter().any(|it| *it == name || it.ends_with("::") && name.starts_with(it));
    let is_known = |name: &&String| {
        name.ends_with("::new")
            || NOT_SAID.contains(&&***name)
            || name.starts_with(GOES_ON)
            || is_about_machine_code(name)
    };
    let called = called();
    let missing: Vec<_> = all.iter().filter(|name| !is_known(name) && !called.contains(*name)).collect();
    assert!(missing.is_empty(), "{missing:#?}");
    let unknown: Vec<_> = called.iter().filter(|name| !all.contains(*name)).collect();
    assert!(unknown.is_empty(), "{unknown:#?}");
}
