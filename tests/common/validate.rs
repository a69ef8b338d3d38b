//! Files validated against JSON schemas by another implementation: the library jsonschema of Python.

use std::path::{Path, PathBuf};

use super::tools::{Folder, Tool, skip};

const PYTHON: Tool = Tool::new("python3", "python3");

/// A program that validates files against a schema and prints a line for each: valid, or refused with the reason.
const VALIDATE: &str = include_str!("validate.py");

/// Validates files, each with the expected result. Without the validator nothing is compared.
pub fn by(schema: &Path, files: &[(PathBuf, bool)]) {
    let given = Folder::new();
    let program = given.file("validate.py", VALIDATE);
    let paths = files.iter().map(|(path, _)| path.as_path());
    let arguments: Vec<_> = [&program, schema].into_iter().chain(paths).map(Path::as_os_str).collect();
    let Some(ran) = PYTHON.run(&arguments) else { return };
    if !ran.succeeded && ran.out.is_empty() && ran.errors.is_empty() {
        return skip("jsonschema for Python is not installed (Debian package python3-jsonschema)");
    }
    let lines = ran.clean();
    assert_eq!(lines.lines().count(), files.len(), "{lines}");
    for (line, (path, is_valid)) in lines.lines().zip(files) {
        let text = || std::fs::read_to_string(path).unwrap_or_default();
        assert_eq!(line.contains(".json valid"), *is_valid, "{line}\n{}", text());
    }
}
