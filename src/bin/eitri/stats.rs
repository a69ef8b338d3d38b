//! `stats`: formats.

use std::fmt::Write;
use std::path::PathBuf;

use clap::{Args, ValueEnum};
use eitri::stats::{Coverage, Options, Statistics, stats};
use serde_json::{Map, Value, json};

use super::{Failure, containers};

/// Arguments of `stats`.
#[derive(Debug, Args)]
pub struct StatsArguments {
    /// Object files, archives, offload bundles, and host objects with bundles in them; `-` is standard input.
    #[arg(required = true, value_name = "FILE")]
    files: Vec<PathBuf>,
    /// Read only members of archives and bundles whose name contains this text.
    #[arg(long, value_name = "TEXT")]
    member: Option<String>,
    /// Format of the output. `text` is for people and can change.
    #[arg(long, value_enum, default_value_t = Format::Text)]
    format: Format,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Format {
    /// Coverage of each function and of the file.
    Text,
    /// One JSON object per file and line, with the names of llvm-dwarfdump's statistics.
    Json,
}

impl StatsArguments {
    /// Returns the output, and the files that cannot be read.
    pub fn run(&self) -> (String, Vec<Failure>) {
        let mut out = String::new();
        let read = |bytes: &[u8]| stats(bytes, &Options::default());
        let failures = containers::each("stats", &self.files, self.member.as_deref(), read, |name, found| {
            match self.format {
                Format::Json => out += &format!("{}\n", object(&name, &found)),
                Format::Text => out += &text(&name, &found),
            }
        });
        (out, failures)
    }
}

fn object(name: &str, found: &Statistics) -> Value {
    let numbers = found.numbers().into_iter().map(|(name, number)| (name, Value::from(number)));
    let mut all: Map<_, _> = numbers.collect();
    all.insert("file".into(), name.into());
    let groups = [("variables", &found.variables), ("params", &found.params), ("local_vars", &found.locals)];
    for (name, group) in groups {
        let key = format!("sum_all_{name}(#bytes in parent scope with sound location)");
        all.insert(key, group.coverage.sound.into());
    }
    all.insert("#bytes of code".into(), found.code.into());
    all.insert("functions".into(), found.functions.iter().map(function).collect());
    Value::Object(all)
}

fn function(one: &eitri::stats::FunctionCoverage) -> Value {
    let variables: Vec<_> = one
        .variables
        .iter()
        .map(|one| {
            json!({"name": one.name, "parameter": one.is_parameter, "coverage": coverage(one.coverage)})
        })
        .collect();
    json!({"unit": one.unit, "name": one.name, "coverage": coverage(one.coverage), "variables": variables})
}

fn coverage(one: Coverage) -> Value {
    let Coverage { scope, located, entry_values, sound } = one;
    json!({"scope": scope, "located": located, "entry_values": entry_values, "sound": sound})
}

fn text(name: &str, found: &Statistics) -> String {
    let mut out = format!("{name}\n  {:>10} {:>8} {:>8}\n", "scope", "located", "sound");
    for one in &found.functions {
        line(&mut out, one.coverage, &one.name);
    }
    let groups = [
        ("all parameters", &found.params),
        ("all other variables", &found.locals),
        ("all", &found.variables),
    ];
    for (name, group) in groups {
        line(&mut out, group.coverage, name);
    }
    out
}

fn line(out: &mut String, one: Coverage, name: &str) {
    let part = |bytes: u64| match one.scope {
        0 => "-".into(),
        scope => format!("{:.1} %", 100.0 * bytes as f64 / scope as f64),
    };
    // Names are the file's: control characters are escaped.
    let name: String = name.chars().flat_map(|char| char.escape_debug()).collect();
    let _ = writeln!(out, "  {:>10} {:>8} {:>8}  {name}", one.scope, part(one.located), part(one.sound));
}
