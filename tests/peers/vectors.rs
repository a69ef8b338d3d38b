//! Conformance vectors of DWARF 5, evaluated by gimli: vectors note all different results.

use std::path::Path;

use eitri::conform::{Found, Read, Vector, VectorBody, VectorFile, Verdict};
use eitri::eval::{
    Element, ExpressionSite, Fault, Location, ResultKind, read_bits, read_pointer, write_bits,
};
use eitri::op::Dialect;

use super::asked::{self, Stop};

/// Start of a note.
const NOTE: &str = "gimli 0.34 answers ";

/// Compares gimli's result with the expectation. Returns the result if it differs; `Err` is the reason why gimli
/// cannot evaluate the vector.
fn answer(vector: &Vector) -> Result<Option<String>, &'static str> {
    let VectorBody::Expression(expr) = &vector.body else { return Err("location lists") };
    if vector.encoding.dialect != Dialect::Dwarf5 {
        return Err("vendor's operations");
    }
    if vector.place == ExpressionSite::Cfi {
        return Err("the rules of call frame information");
    }
    let none = || Stop::Missing("a value");
    let results: Vec<Result<Element, Stop>> =
        match asked::evaluate(expr, &vector.machine.snapshot, &vector.context()) {
            Err(stop) => vec![Err(stop)],
            Ok(answer) => {
                let location = answer.location.map(Element::Location);
                let value = answer.value.map(Element::Value);
                match vector.kind {
                    ResultKind::Location => vec![location],
                    ResultKind::Value => vec![value.ok_or_else(none)],
                    // gimli does not distinguish addresses from locations.
                    ResultKind::Any => value.map(Ok).into_iter().chain([location]).collect(),
                }
            }
        };
    let mut answers = Vec::new();
    for result in results {
        let words = match &result {
            Err(Stop::Inexpressible(what)) => return Err(what),
            Err(Stop::Refused(error)) => Some(format!("an error: {error}")),
            Err(Stop::Missing(what)) => Some(format!("nothing, for want of {what}")),
            Ok(_) => None,
        };
        let outcome = vector.compare(&found(vector, result.map_err(|stop| asked::fault(&stop))));
        // gimli's errors have no class.
        if matches!(outcome.verdict, Verdict::Passed | Verdict::WrongErrorClass) {
            return Ok(None);
        }
        // Reasons in brackets vary.
        let found = outcome.found.split(" (").next().unwrap_or_default().to_owned();
        answers.push(words.unwrap_or(found));
    }
    Ok(answers.into_iter().next())
}

/// A result, and the results of reading and writing there.
fn found(vector: &Vector, result: Result<Element, Fault>) -> Found {
    let machine = &vector.machine.snapshot;
    let mut read = None;
    let mut written = None;
    if let Ok(Element::Location(location)) = &result {
        read = Some(read_at(location, vector));
        written = vector.write.as_ref().map(|bytes| {
            let mut machine = machine.clone();
            write_bits(location, vector.write_bits(), bytes, &mut machine).map(|()| machine)
        });
    }
    Found { result, read, written }
}

fn read_at(location: &Location, vector: &Vector) -> Result<Read, Fault> {
    let bits = u64::try_from(vector.read).unwrap_or(u64::MAX);
    match read_pointer(location, bits)? {
        Some(pointer) => Ok(Read::Pointer(pointer)),
        None => read_bits(location, bits, &vector.machine.snapshot).map(Read::Bits),
    }
}

#[test]
fn vectors_note_where_gimli_answers_differently() {
    let folder = Path::new(crate::common::ROOT).join("goldens/conformance");
    let mut files: Vec<_> =
        std::fs::read_dir(folder).expect("the folder").map(|file| file.unwrap().path()).collect();
    // The samples come from the authors of the format.
    let is_ours =
        |path: &std::path::PathBuf| !path.ends_with("sample.json") && !path.ends_with("sample_gpu.json");
    files.retain(|path| is_ours(path) && path.extension().is_some_and(|extension| extension == "json"));
    files.sort();
    let mut same = 0;
    let mut different = 0;
    let mut wrong = String::new();
    let mut not_asked = std::collections::BTreeMap::new();
    for path in files {
        let file =
            VectorFile::from_json(std::fs::read(&path).expect("is read")).expect("is a file of vectors");
        for vector in file.vectors() {
            let doc = vector.doc.as_deref().unwrap_or_default();
            let noted = doc.split_once(NOTE).map(|(_, note)| note);
            let answers = answer(&vector);
            match &answers {
                Ok(Some(_)) => different += 1,
                Ok(None) => same += 1,
                Err(why) => *not_asked.entry(*why).or_insert(0) += 1,
            }
            let answers = answers.unwrap_or_default();
            let is_noted = answers.as_deref() == noted && (noted.is_some() || !doc.contains("gimli"));
            if !is_noted {
                let name = path.file_name().unwrap_or_default().to_string_lossy();
                let note =
                    answers.map_or("gimli answers the same".into(), |answer| format!("{NOTE}{answer}"));
                wrong += &format!("{name}\t{}\t{note}\n", vector.name);
            }
        }
    }
    println!("{same} the same, {different} different; not asked: {not_asked:#?}");
    assert!(wrong.is_empty(), "these should be noted, at the end of `doc`:\n{wrong}");
}
