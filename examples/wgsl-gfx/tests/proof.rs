//! Written and generated shaders: the object is checked and run, and each claim is compared with the contents.

use std::collections::HashSet;
use std::path::Path;
use std::process::Command;

use wgsl_gfx::alloc::Limits;
use wgsl_gfx::front::Source;
use wgsl_gfx::input::inputs;
use wgsl_gfx::prove::{Proof, prove};
use wgsl_gfx::{Compiled, check, compile, generate};

const LOW: Limits = Limits { scalar: 8, vector: 8, reach: 16 };

/// Compiles, checks, runs.
fn proof(name: &str, text: &str, limits: Limits, runs: u64) -> Proof {
    let source = Source::new(name, text).unwrap_or_else(|error| panic!("{error}\n{text}"));
    let compiled = compile(&source, limits).unwrap_or_else(|error| panic!("{error}\n{text}"));
    let report = check(&compiled).unwrap_or_else(|error| panic!("{name}: {error}"));
    assert!(report.is_clean(), "{name}: {report}");
    let inputs = inputs(&source, &compiled, 1, runs).unwrap_or_else(|error| panic!("{name}: {error}"));
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
        for limits in [Limits::default(), LOW] {
            all.add(proof(&name, &text, limits, 12));
        }
    }
    assert!(all.claimed > 1_000 && all.compared > 10_000, "{}", all.json());
    assert!(all.right * 100 >= all.recoverable * 98, "{}", all.json());
}

/// Groups of several shapes read what nobody has written: WGSL has zeros there, and local memory of a GPU has not.
#[test]
fn workgroup_variables_are_zero_when_a_group_starts() {
    // Dwords per item: less than one, two, three with a rest, 48 with a rest; in one and three dimensions.
    for (size, items, count) in
        [("32", 32, 7), ("32", 32, 64), ("4, 3, 2", 24, 77), ("40", 40, 121), ("8", 8, 389), ("1", 1, 100)]
    {
        let text = format!(
            "@group(0) @binding(0) var<storage, read_write> output: array<u32, {count}>;\n\
             var<workgroup> first: u32;\nvar<workgroup> rest: array<u32, {count}>;\n\
             @compute @workgroup_size({size})\n\
             fn zeros(@builtin(local_invocation_index) i: u32) {{\n    \
             for (var n = i; n < {count}u; n = n + {items}u) {{\n        \
             output[n] = rest[{count}u - 1u - n] + first;\n    }}\n}}\n"
        );
        for limits in [Limits::default(), LOW] {
            proof(&format!("{size}.wgsl"), &text, limits, 2);
        }
    }
}

const PADDED: &str = "\
struct Mixed { a: u32, v: vec4<f32>, b: u32 }
struct Tail { v: vec3<f32>, n: u32, w: vec3<f32> }
@group(0) @binding(0) var<storage, read_write> output: array<f32>;
@compute @workgroup_size(32)
fn pad(@builtin(local_invocation_index) i: u32) {
    var s: Mixed;
    s.a = i;
    s.b = i * 3u;
    var p = vec3<f32>(f32(i), 1.0, 2.0);
    var all: array<vec3<f32>, 3>;
    all[i % 3u] = p;
    all[1].y = all[i & 1u].x + 4.0;
    var t = Tail(p.zyx, i + 1u, all[2]);
    if (i > 7u) {
        t.w.y = p.x + f32(s.a);
        p = t.v + t.w;
    }
    output[i] = f32(s.a + s.b + t.n) + s.v.x + p.z + all[1].y;
}
";

/// Sizes and alignments of WGSL ("Alignment and Size"): `vec3<f32>` 12 and 16, an element of its array 16, `Mixed` 48,
/// `Tail` 32 with 4 bytes of padding at the end.
#[test]
fn variables_of_types_with_padding_are_readable_as_a_whole() {
    for limits in [Limits::default(), LOW] {
        proof("pad.wgsl", PADDED, limits, 4);
    }
    let source = Source::new("pad.wgsl", PADDED).expect("a shader");
    let compiled = compile(&source, Limits::default()).expect("it is compiled");
    let object = eitri::read::Object::read(&compiled.object).expect("an object");
    let dwarf = eitri::read::Dwarf::read(&object).expect("debug information");
    let find = |name: &str| dwarf.entries().find(|entry| entry.name().as_deref() == Some(name));
    let bytes = |name: &str| find(name)?.ty()?.size_bits().map(|bits| bits / 8);
    assert_eq!(["s", "p", "all", "t"].map(bytes), [48, 12, 48, 32].map(Some));
    let vector = find("p").and_then(|entry| entry.ty()).expect("a type");
    assert_eq!(vector.number(eitri::gimli::DW_AT_alignment), Some(16));
    assert!(vector.has(eitri::gimli::DW_AT_GNU_vector));
}

/// The words of the code.
fn words(compiled: &Compiled<'_>) -> Vec<u32> {
    let bytes = compiled.machines.iter().flat_map(|machine| machine.bytes.as_chunks::<4>().0);
    bytes.map(|word| u32::from_le_bytes(*word)).collect()
}

/// Jumps to code that a branch does not reach: to an address, and behind an inverted branch where there is a condition.
/// The words are those of llvm-mc-19.
#[test]
fn code_beyond_the_reach_of_a_branch_runs() {
    const SET_PC: u32 = 0xbe80_4866;
    const GET_PC: u32 = 0xbee6_4700;
    // s_cbranch_scc0, scc1, execz, execnz over 5 dwords.
    const INVERTED: [u32; 4] = [0xbfa1_0005, 0xbfa2_0005, 0xbfa5_0005, 0xbfa6_0005];
    let mut before = HashSet::new();
    let names = ["loops.wgsl", "reduction.wgsl", "exits.wgsl"];
    let shaders = written().into_iter().filter(|shader| names.contains(&&*shader.0));
    for (name, text) in shaders.chain([("30.wgsl".to_string(), generate::shader(30, 14))]) {
        let source = Source::new(&name, &text).expect("a shader");
        let near = compile(&source, Limits::default()).expect("it is compiled");
        assert!(!words(&near).contains(&SET_PC), "{name}");
        let far = Limits { reach: 5, ..Limits::default() };
        let words = words(&compile(&source, far).expect("it is compiled"));
        assert!(words.contains(&SET_PC), "{name}");
        before.extend(words.windows(2).filter(|pair| pair[1] == GET_PC).map(|pair| pair[0]));
        proof(&name, &text, far, 4);
    }
    assert!(INVERTED.iter().all(|word| before.contains(word)), "{before:x?}");
}

#[test]
fn claims_of_generated_shaders_are_right() {
    let all = generate::prove_all(1..11, 8).unwrap_or_else(|error| panic!("{error}"));
    assert!(all.wrong.is_empty() && all.claimed == all.right, "{:#?}", &all.wrong[..all.wrong.len().min(9)]);
    assert!(all.claimed > 1_000, "{}", all.json());
}

#[test]
fn refusals_have_a_place() {
    let refused = |text: &str| match Source::new("a.wgsl", text) {
        Ok(source) => compile(&source, Limits::default()).err().expect("refused").to_string(),
        Err(error) => error.to_string(),
    };
    let entry = "@compute @workgroup_size(32)\nfn main(@builtin(local_invocation_index) i: u32) {\n";
    assert!(refused("fn main( {").starts_with("a.wgsl:1:"), "{}", refused("fn main( {"));
    let sine = refused(&format!("{entry}    let x = sin(f32(i));\n}}"));
    assert_eq!(sine, "a.wgsl:3:13: this compiler does not have this function");
    let none = refused("fn helper() {}");
    assert_eq!(none, "a.wgsl: a file has one compute shader");
}

/// Shaders with words left out, doubled, or replaced: refused with a place, or compiled, without a panic.
#[test]
fn changed_shaders_are_refused_or_compiled() {
    let mut state = 1u64;
    let mut refused = 0;
    let mut compiled = 0;
    let mut below = |count: usize| {
        state = state.wrapping_mul(0x5851_f42d_4c95_7f2d).wrapping_add(0x1405_7b7e_f767_814f);
        (state >> 33) as usize % count
    };
    for (name, text) in written() {
        let words: Vec<&str> = text.split_inclusive(|c: char| !c.is_alphanumeric()).collect();
        for _ in 0..12 {
            let mut changed = words.clone();
            let at = below(words.len());
            let from = below(words.len());
            match below(3) {
                0 => _ = changed.remove(at),
                1 => changed.insert(at, words[from]),
                _ => changed[at] = words[from],
            }
            let text = changed.concat();
            let result = Source::new(&name, &text).and_then(|source| compile(&source, LOW).map(|_| ()));
            match result {
                Ok(()) => compiled += 1,
                Err(error) => {
                    refused += 1;
                    assert!(error.to_string().starts_with(&format!("{name}:")), "{error}\n{text}");
                    assert!(!error.what.starts_with("the compiler is wrong"), "{error}\n{text}");
                }
            }
        }
    }
    assert!(refused > 100 && compiled > 50, "{refused} refused, {compiled} compiled");
}

/// The command writes an object, or an error with file, line and column, and nothing else.
#[test]
fn nothing_is_written_for_a_shader_that_is_refused() {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR"));
    let entry = "@compute @workgroup_size(32)\nfn main(@builtin(local_invocation_index) i: u32) {\n";
    let shader = folder.join("refused.wgsl");
    let object = folder.join("refused.o");
    let run = |body: &str| {
        std::fs::write(&shader, format!("{entry}{body}}}\n")).expect("a file");
        _ = std::fs::remove_file(&object);
        let mut command = Command::new(env!("CARGO_BIN_EXE_wgsl-gfx"));
        let output = command.arg(&shader).arg("-o").arg(&object).output().expect("it runs");
        (output.status.success(), String::from_utf8(output.stderr).expect("text"))
    };
    for (body, place) in [
        ("    let x = sin(f32(i));\n", "3:13"),
        ("    let m = mat2x2<f32>(1.0, 0.0, 0.0, 1.0) * f32(i);\n", "3:13"),
        ("    let x = i +;\n", "3:16"),
        ("    let x: i32 = i;\n", "3:9"),
    ] {
        let (success, error) = run(body);
        assert!(!success && !object.exists(), "{body}{error}");
        assert!(error.starts_with(&format!("{}:{place}: ", shader.display())), "{body}{error}");
    }
    let (success, error) = run("");
    assert!(success && object.exists() && error.is_empty(), "{error}");
}

/// Output of the command for a lane, and the picture.
#[test]
fn a_lane_is_traced_and_places_are_drawn() {
    let text = "@group(0) @binding(0) var<storage, read_write> output: array<u32, 32>;\n\
        @compute @workgroup_size(32)\nfn main(@builtin(local_invocation_index) lane: u32) {\n    \
        var x = lane * 3u;\n    if (lane > 3u) {\n        x = x + 100u;\n    }\n    output[lane] = x;\n}\n";
    let source = Source::new("a.wgsl", text).expect("a shader");
    let compiled = compile(&source, Limits::default()).expect("it is compiled");
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
