//! Schemas of two outputs: the report of a rewrite, and the statistics of an object.

use serde_json::{Value, json};

use super::finding::{FUNCTION_PCS, function_pcs_schema, pcs_schema};
use super::schema::{self, HasSchema, Schemas};
use crate::lint::LintCode;

/// A value or `null`.
fn maybe(schema: &Value) -> Value {
    json!({"anyOf": [schema, {"type": "null"}]})
}

fn list_of(schema: &Value) -> Value {
    json!({"type": "array", "items": schema})
}

/// An object, all of whose keys are present: each with its schema and its description.
fn object<const N: usize>(keys: [(&'static str, Value, &str); N]) -> Value {
    schema::object(keys.map(|(key, schema, about)| (key, schema::about(schema, about, ""), false)))
}

/// Returns the schema of what [`write_rewritten`](super::write_rewritten) writes.
pub(crate) fn rewritten_schema(to: &mut Schemas) -> Value {
    let text = <&str>::schema(to);
    let number = u64::schema(to);
    let pcs = maybe(&pcs_schema());
    let function_pcs = maybe(&function_pcs_schema(to));
    let code = schema::one_of_words(LintCode::ALL.iter().map(|code| code.name()));
    let fact = to.named("fact", |_| {
        object([
            ("section", text.clone(), "Section of the original."),
            ("offset", number.clone(), "Offset in the section, in bytes."),
            ("reason", text.clone(), "Why the fact is not in the output."),
            ("unit", maybe(&text), "Name of the compilation unit."),
            ("function", maybe(&text), "Name of the function."),
            ("pcs", pcs.clone(), "Start and end; the end is exclusive."),
            ("function_pcs", function_pcs, FUNCTION_PCS),
            ("message", text.clone(), "The fact as text."),
        ])
    });
    let section = object([
        ("name", text.clone(), "Name of the section."),
        ("before", number.clone(), "Size in the original, in bytes."),
        ("after", number.clone(), "Size in the output, in bytes."),
    ]);
    let emptied = object([
        ("name", text.clone(), "Name of the section."),
        ("bytes", number.clone(), "Size in the original, in bytes."),
    ]);
    let entry = object([
        ("unit", maybe(&text), "Name of the compilation unit."),
        ("offset", number.clone(), "Offset in the section, in bytes."),
    ]);
    let different = object([
        ("name", text.clone(), "Name of the types."),
        ("entries", list_of(&entry), "The types."),
        ("message", text.clone(), "The difference as text."),
    ]);
    let after = object([
        ("pcs", pcs.clone(), "Start and end; the end is exclusive."),
        ("location", text.clone(), "The location there."),
    ]);
    let fixed = object([
        ("code", code.clone(), "Code of the finding."),
        ("unit", maybe(&text), "Name of the compilation unit."),
        ("function", maybe(&text), "Name of the function."),
        ("variable", maybe(&text), "Name of the variable or parameter."),
        ("pcs", pcs.clone(), "Start and end of the location before; the end is exclusive."),
        ("before", maybe(&text), "The location before."),
        ("after", list_of(&after), "The locations after: parts of `pcs` that the code does not contradict."),
        ("evidence", list_of(&text), "Facts of the file, as text."),
        ("message", text.clone(), "The change as text."),
    ]);
    let unfixed = object([
        ("code", code, "Code of the finding."),
        ("unit", maybe(&text), "Name of the compilation unit."),
        ("function", maybe(&text), "Name of the function."),
        ("variable", maybe(&text), "Name of the variable or parameter."),
        ("pcs", pcs, "Start and end; the end is exclusive."),
        ("written", text.clone(), "Meaning of the information as written."),
        ("evidence", list_of(&text), "Facts of the file, as text."),
        ("message", text.clone(), "The error as text."),
    ]);
    object([
        ("version", json!({"const": 1}), "Version of the format: another number means other keys."),
        ("object", text.clone(), "Name of the object as given."),
        ("consumer", text.clone(), "The consumer that the output is for."),
        ("preset", maybe(&text), "Name of this consumer, as `--for` takes it."),
        ("dwarf", number.clone(), "DWARF version."),
        (
            "is_complete",
            bool::schema(to),
            "Whether the output has all facts of the original, apart from the changes.",
        ),
        ("sections", list_of(&section), "Debug sections."),
        ("merged_types", number, "Number of types that were merged with an equal type."),
        ("different_types", list_of(&different), "Types with one name that differ."),
        ("fixed", list_of(&fixed), "Locations that were wrong."),
        ("unfixed", list_of(&unfixed), "Errors that lint finds in the output."),
        ("removed", list_of(&fact), "Facts of code that is not in the object."),
        (
            "emptied",
            list_of(&emptied),
            "Copies of debug sections in a linked cubin that are empty now, because the changed sections contradict them.",
        ),
        ("changes", list_of(&text), "All changes, as text."),
        ("unimported", list_of(&fact), "Facts of the original that the output no longer has."),
        ("omitted", list_of(&text), "Properties that the consumer cannot express, as text."),
    ])
}

/// Returns the schema of what [`write_statistics`](super::write_statistics) writes.
pub(crate) fn statistics_schema(to: &mut Schemas) -> Value {
    let text = <&str>::schema(to);
    let number = u64::schema(to);
    let is_true = bool::schema(to);
    let coverage = to.named("coverage", |_| {
        object([
            ("scope", number.clone(), "Bytes of code in the scopes of variables."),
            ("located", number.clone(), "Bytes of them at which the variable has a location entry."),
            ("unavailable", number.clone(), "Bytes of these at which the location is empty, or no register of a cubin's map has its PTX registers."),
            (
                "entry_values",
                number.clone(),
                "Bytes of these whose location needs a value at function entry.",
            ),
            (
                "sound",
                number.clone(),
                "Bytes at which the location is not empty, and lint finds no error in it.",
            ),
        ])
    });
    let variable = object([
        ("name", text.clone(), "Name of the variable or parameter."),
        ("parameter", is_true.clone(), "Whether it is a parameter."),
        ("coverage", coverage.clone(), ""),
        ("#bytes of entry", number.clone(), "Size of its entry, without entries in it."),
        ("#locations", number.clone(), "Number of its locations."),
        ("#bytes of list", number.clone(), "Size of its location list."),
    ]);
    let function = object([
        ("unit", maybe(&text), "Name of the compilation unit."),
        ("name", text.clone(), "Name of the function."),
        ("linkage_name", text.clone(), "Name of its symbol."),
        ("coverage", coverage.clone(), ""),
        ("variables", list_of(&variable), "Variables and parameters; none with `--no-variables`."),
    ]);
    let unit =
        object([("name", maybe(&text), "Name of the compilation unit."), ("coverage", coverage.clone(), "")]);
    let repeated = to.named("repeated", |_| {
        object([
            ("copies", number.clone(), "Number of copies after the first."),
            ("bytes", number.clone(), "Size of these copies."),
        ])
    });
    let numbers = json!({"type": "object", "additionalProperties": number});
    let keys = object([
        ("file", text.clone(), "Name of the file as given."),
        ("format", text, "Format of the object, as LLVM names it."),
        ("below", is_true, "Whether the coverage is below `--fail-below`."),
        ("version", json!({"const": 9}), "Version of LLVM's statistics, whose names the numbers have."),
        ("repeated strings", repeated.clone(), "Strings that are in the object several times."),
        ("repeated lists", repeated, "Location lists that are in the object several times."),
        ("operations", numbers.clone(), "Number of operations in expressions, by name."),
        ("forms", numbers, "Bytes of attributes, by form."),
        ("functions", list_of(&function), "Functions with variables."),
        ("units", list_of(&unit), "Compilation units."),
    ]);
    // Sections and classes of coverage are in the names.
    schema::also(keys, json!({"patternProperties": {"^(#|sum_all_)": number}}))
}
