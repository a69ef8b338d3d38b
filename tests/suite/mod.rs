//! The promise: the conformance suite is independent of this crate. Each vector lists the documents in which it is
//! valid and cites the deciding text; another program judges results by the README alone.

mod citations;
mod data;
mod frames;
mod lists;
mod page;
use crate::common::tools;
use crate::common::validate;

use std::path::{Path, PathBuf};

use serde_json::Value;

/// Folder of the suite.
fn folder() -> PathBuf {
    Path::new(crate::common::ROOT).join("goldens/conformance")
}

/// Paths of the files of vectors, sorted.
fn paths() -> Vec<PathBuf> {
    let files = std::fs::read_dir(folder()).expect("the folder").map(|file| file.expect("a file").path());
    let mut paths: Vec<_> = files.filter(|path| path.extension().is_some_and(|it| it == "json")).collect();
    paths.sort();
    paths
}

/// Name and contents of each file of vectors.
fn files() -> Vec<(String, Value)> {
    let read = |path: PathBuf| {
        let name = path.file_name().expect("a name").to_string_lossy().into_owned();
        let text = std::fs::read_to_string(&path).expect("the file is read");
        (name, serde_json::from_str(&text).expect("JSON"))
    };
    paths().into_iter().map(read).collect()
}

/// Vectors of a file.
fn vectors(file: &Value) -> &[Value] {
    file["vectors"].as_array().expect("a list")
}

/// Name of a vector.
fn name(vector: &Value) -> &str {
    vector["name"].as_str().expect("a name")
}
