//! The public interface: a change of a name or a signature changes a listing, a type that grows does not break a user, and
//! signatures contain no types of crates that a user would have to match by version.

mod common;

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::LazyLock;

use rustdoc_types::{Crate, Id, Item, ItemEnum, Path as TypePath, StructKind, Visibility};
use serde_json::Value;

use common::{ROOT, check_golden};

/// Packages with a public interface, as in the documentation step of `.ci/run`.
const PACKAGES: [&str; 3] = ["eitri_dwarf", "eitri_inspect", "eitri"];
const FEATURES: &str = "compress,json,object,regalloc2,report,rewrite,rspirv";

/// Crates whose types may occur in signatures. The crate re-exports the first four, and its packages are released
/// together. Types of the feature `json` implement the traits of serde, whose version 1 is stable.
#[rustfmt::skip]
const SIGNATURE_CRATES: [&str; 12] = [
    "gimli", "object", "regalloc2", "rspirv", "eitri_dwarf", "eitri_inspect", "eitri", "serde", "serde_core", "alloc", "core", "std",
];

/// Folder of the JSON files that rustdoc writes.
static DOCUMENTATION: LazyLock<PathBuf> = LazyLock::new(|| {
    let test = std::env::current_exe().expect("the test has a path");
    let target = test.ancestors().nth(3).expect("tests are in target/debug/deps");
    let mut cargo = Command::new(env!("CARGO"));
    cargo.current_dir(ROOT).env("RUSTDOC", Path::new(ROOT).join(".ci/rustdoc-json")).arg("--quiet");
    cargo.args(["doc", "--no-deps", "--features", FEATURES, "--target-dir"]).arg(target);
    for package in PACKAGES {
        cargo.args(["-p", &package.replace('_', "-")]);
    }
    assert!(cargo.status().expect("cargo runs").success());
    target.join("doc")
});

fn json(package: &str) -> PathBuf {
    DOCUMENTATION.join(format!("{package}.json"))
}

fn documentation(package: &str) -> Crate {
    serde_json::from_slice(&std::fs::read(json(package)).expect("rustdoc wrote the file"))
        .expect("rustdoc's format is known")
}

/// Calls `visit` with the path of each public type in a module: types that the package re-exports from another package
/// are visited there.
fn for_each_type<'a>(package: &'a Crate, module: &Id, path: &str, visit: &mut impl FnMut(String, &'a Item)) {
    let ItemEnum::Module(contents) = &package.index[module].inner else { return };
    for id in &contents.items {
        let item = &package.index[id];
        if item.visibility != Visibility::Public {
            continue;
        }
        let (name, item) = match &item.inner {
            ItemEnum::Use(import) => match import.id.and_then(|id| package.index.get(&id)) {
                Some(imported) => (Some(&import.name), imported),
                None => continue,
            },
            _ => (item.name.as_ref(), item),
        };
        let path = format!("{path}::{}", name.map_or("", String::as_str));
        match &item.inner {
            ItemEnum::Module(_) => for_each_type(package, &item.id, &path, visit),
            ItemEnum::Struct(_) | ItemEnum::Enum(_) | ItemEnum::Trait(_) | ItemEnum::TypeAlias(_) => {
                visit(path, item)
            }
            _ => (),
        }
    }
}

#[test]
fn interface_is_the_committed_listing() {
    for package in PACKAGES {
        let listing = public_api::Builder::from_rustdoc_json(json(package))
            .omit_blanket_impls(true)
            .omit_auto_trait_impls(true)
            .omit_auto_derived_impls(true)
            .build()
            .expect("rustdoc's format is known");
        check_golden(&format!("api/{package}.txt"), &listing.to_string());
    }
}

#[test]
fn names_of_public_types_are_unique() {
    let mut paths = BTreeMap::<String, BTreeSet<(&str, Id)>>::new();
    let mut messages = Vec::new();
    for package in PACKAGES {
        let documentation = documentation(package);
        for_each_type(&documentation, &documentation.root, package, &mut |path, item| {
            let name = path.rsplit("::").next().unwrap_or_default().to_owned();
            let same = paths.entry(name).or_default();
            if same.insert((package, item.id)) && same.len() > 1 {
                messages.push(path);
            }
        });
    }
    assert!(messages.is_empty(), "names that another public type has:\n{}", messages.join("\n"));
}

#[test]
fn public_types_can_grow_or_say_that_they_are_exhaustive() {
    let mut messages = Vec::new();
    for package in PACKAGES {
        let documentation = documentation(package);
        for_each_type(&documentation, &documentation.root, package, &mut |path, item| {
            let grows = match &item.inner {
                ItemEnum::Struct(data) => match &data.kind {
                    StructKind::Plain { fields, has_stripped_fields } => {
                        fields.is_empty() || *has_stripped_fields
                    }
                    StructKind::Tuple(fields) => fields.iter().any(Option::is_none),
                    StructKind::Unit => true,
                },
                ItemEnum::Enum(_) => false,
                _ => true,
            };
            let is_marked =
                item.attrs.iter().any(|attribute| format!("{attribute:?}").contains("NonExhaustive"));
            let says = item.docs.as_deref().is_some_and(|text| text.contains("xhaustive"));
            match (grows || is_marked, says) {
                (false, false) => {
                    messages.push(format!("{path} is exhaustive, and its documentation does not say so"))
                }
                (true, true) if !grows => {
                    messages.push(format!("{path} is not exhaustive; its documentation says that it is"))
                }
                _ => (),
            }
        });
    }
    assert!(messages.is_empty(), "{}", messages.join("\n"));
}

/// Adds the crates of types and traits that a part of an item mentions.
fn add_crates(package: &Crate, part: &Value, crates: &mut BTreeSet<String>) {
    match part {
        Value::Object(fields) => {
            for (name, value) in fields {
                let is_path = matches!(name.as_str(), "resolved_path" | "trait" | "trait_");
                if is_path
                    && let Ok(path) = serde_json::from_value::<TypePath>(value.clone())
                    && let Some(summary) = package.paths.get(&path.id)
                {
                    crates.extend(summary.path.first().cloned());
                }
                if !matches!(name.as_str(), "docs" | "links") {
                    add_crates(package, value, crates);
                }
            }
        }
        Value::Array(parts) => parts.iter().for_each(|part| add_crates(package, part, crates)),
        _ => (),
    }
}

#[test]
fn signatures_contain_types_of_reexported_crates_only() {
    let mut messages = Vec::new();
    for package in PACKAGES {
        let documentation = documentation(package);
        for item in documentation.index.values().filter(|item| item.crate_id == 0) {
            let is_written = match &item.inner {
                ItemEnum::Impl(implementation) => {
                    !implementation.is_synthetic && implementation.blanket_impl.is_none()
                }
                ItemEnum::Module(_) | ItemEnum::Use(_) => false,
                _ => true,
            };
            if !is_written {
                continue;
            }
            let mut crates = BTreeSet::new();
            add_crates(
                &documentation,
                &serde_json::to_value(&item.inner).expect("items are serialized"),
                &mut crates,
            );
            for name in crates.iter().filter(|name| !SIGNATURE_CRATES.contains(&name.as_str())) {
                let line = item.span.as_ref().map_or_else(String::new, |span| {
                    format!("{}:{}: ", span.filename.display(), span.begin.0)
                });
                messages.push(format!(
                    "{line}`{}` mentions a type of the crate {name}",
                    item.name.as_deref().unwrap_or("impl")
                ));
            }
        }
    }
    messages.sort();
    assert!(messages.is_empty(), "{}", messages.join("\n"));
}

/// The builder's documentation begins with a table of its methods by task.
#[test]
fn table_of_the_builder_has_each_method() {
    let read = |name: &str| std::fs::read_to_string(Path::new(ROOT).join(name)).expect("a text");
    let (listing, source) = (read("goldens/api/eitri.txt"), read("src/build/builder.rs"));
    let rows = source.lines().filter(|line| line.starts_with("/// |"));
    let listed: BTreeSet<&str> =
        rows.flat_map(|row| row.split("(Self::").skip(1)).filter_map(|rest| rest.split(')').next()).collect();
    let methods = listing.lines().filter_map(|line| line.strip_prefix("pub fn eitri::build::Builder::"));
    let methods: BTreeSet<&str> = methods.filter_map(|rest| rest.split(['(', '<']).next()).collect();
    assert!(methods.len() > 70, "{methods:?}");
    let missing: Vec<_> =
        methods.difference(&listed).filter(|name| !["new", "target"].contains(name)).collect();
    assert!(missing.is_empty(), "{missing:?}");
}
