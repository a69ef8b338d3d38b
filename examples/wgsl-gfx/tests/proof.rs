//! Written and generated shaders: the object is checked and run, and each claim is compared with the contents.

use std::path::Path;

use wgsl_gfx::alloc::Registers;
use wgsl_gfx::front::Source;
use wgsl_gfx::prove::{Input, Proof, prove};
use wgsl_gfx::{check, compile, generate};

const FEW: Registers = Registers { scalar: 8, vector: 8 };

/// Compiles, checks, runs.
fn proof(name: &str, text: &str, registers: Registers, runs: u64) -> Proof {
    let source = Source::new(name, text).unwrap_or_else(|error| panic!("{error}\n{text}"));
    let compiled = compile(&source, registers).unwrap_or_else(|error| panic!("{error}\n{text}"));
    let report = check(&compiled).unwrap_or_else(|error| panic!("{name}: {error}"));
    assert!(report.is_clean(), "{name}: {report}");
    let inputs: Vec<Input> = (1..=runs).map(|seed| Input::random(&source, &compiled, seed)).collect();
    let proof = prove(&source, &compiled, &inputs);
    assert!(proof.wrong.is_empty(), "{name}: {:#?}\n{text}", &proof.wrong[..proof.wrong.len().min(9)]);
    assert_eq!(proof.claimed, proof.right, "{name}");
    proof
}

fn written() -> Vec<(String, String)> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("shaders");
    let mut all: Vec<_> = std::fs::read_dir(folder)
        .expect("the folder of shaders")
        .map(|file| file.expect("a file").path())
        .map(|path| {
            let name = path.file_name().expect("a name").to_string_lossy().into_owned();
            (name, std::fs::read_to_string(&path).expect("a shader"))
        })
        .collect();
    all.sort();
    all
}

#[test]
fn claims_of_written_shaders_are_right() {
    let mut all = Proof::default();
    assert!(written().len() >= 20);
    for (name, text) in written() {
        for registers in [Registers::default(), FEW] {
            all.add(proof(&name, &text, registers, 4));
        }
    }
    assert!(all.claimed > 1_000 && all.compared > 10_000, "{}", all.json());
    assert!(all.right * 100 >= all.recoverable * 98, "{}", all.json());
}

#[test]
fn claims_of_generated_shaders_are_right() {
    let all = generate::prove_all(1..11, 4).unwrap_or_else(|error| panic!("{error}"));
    assert!(all.wrong.is_empty() && all.claimed == all.right, "{:#?}", &all.wrong[..all.wrong.len().min(9)]);
    assert!(all.claimed > 1_000, "{}", all.json());
}

#[test]
fn refusals_have_a_place() {
    let refused = |text: &str| match Source::new("a.wgsl", text) {
        Ok(source) => compile(&source, Registers::default()).err().expect("refused").to_string(),
        Err(error) => error.to_string(),
    };
    let entry = "@compute @workgroup_size(32)\nfn main(@builtin(local_invocation_index) i: u32) {\n";
    assert!(refused("fn main( {").starts_with("a.wgsl:1:"), "{}", refused("fn main( {"));
    let sine = refused(&format!("{entry}    let x = sin(f32(i));\n}}"));
    assert_eq!(sine, "a.wgsl:3:13: this compiler does not have this function");
    let none = refused("fn helper() {}");
    assert_eq!(none, "a.wgsl: a file has one compute shader");
}

/// Output of the command for a lane, and the picture.
#[test]
fn a_lane_is_traced_and_places_are_drawn() {
    let text = "@group(0) @binding(0) var<storage, read_write> output: array<u32, 32>;\n\
        @compute @workgroup_size(32)\nfn main(@builtin(local_invocation_index) lane: u32) {\n    \
        var x = lane * 3u;\n    if (lane > 3u) {\n        x = x + 100u;\n    }\n    output[lane] = x;\n}\n";
    let source = Source::new("a.wgsl", text).expect("a shader");
    let compiled = compile(&source, Registers::default()).expect("it is compiled");
    let trace = |lane: u32| wgsl_gfx::trace::trace(&source, &compiled, lane).expect("a trace");
    // The values by hand: 5 * 3 + 100, and 2 * 3.
    let last = |trace: String| trace.lines().last().expect("variables").trim().to_string();
    let lines = trace(5);
    assert!(lines.contains("x = x + 100u;") && lines.contains("x = 15"), "{lines}");
    assert!(last(lines.clone()).contains("x = 115"), "{lines}");
    let lines = trace(2);
    assert!(!lines.contains("x = x + 100u;"), "{lines}");
    assert!(last(lines.clone()).contains("x = 6"), "{lines}");
    assert!(wgsl_gfx::trace::trace(&source, &compiled, 32).is_err_and(|error| error.contains("lane 32")));
    let picture = wgsl_gfx::draw::draw(&source, &compiled).expect("a picture");
    assert!(
        picture.starts_with("<svg ") && picture.contains(">x</text>") && picture.contains("lanes 0 to 31")
    );
}
