//! The harness of `fuzz/`, for a bounded number of deterministic inputs: random bytes, and mutated conformance vectors
//! and SPIR-V modules.
use crate::common::assemble;
use crate::common::cases::{Random, cases};
mod attach;
mod harness;
mod ptx;
mod spirv;
mod track;

use std::path::Path;

/// The vectors of `goldens/conformance`, each in a file of its own with the common parts of its file.
fn vectors() -> Vec<serde_json::Value> {
    let folder = Path::new(crate::common::ROOT).join("goldens/conformance");
    let files = std::fs::read_dir(folder).expect("the folder").map(|file| file.expect("a file").path());
    let mut files: Vec<_> = files.filter(|path| path.extension().is_some_and(|it| it == "json")).collect();
    files.sort();
    let mut all = Vec::new();
    for file in files {
        let text = std::fs::read(&file).expect("the file is read");
        let mut file: serde_json::Value = serde_json::from_slice(&text).expect("is JSON");
        // Large memories are slow, and do not matter here.
        for memory in
            file.pointer_mut("/machine/memory").and_then(|it| it.as_array_mut()).into_iter().flatten()
        {
            let bytes = memory["bytes"].as_str().expect("bytes").get(..200).unwrap_or("00").to_owned();
            memory["bytes"] = bytes.trim().into();
        }
        let vectors = file["vectors"].take();
        for vector in vectors.as_array().expect("a list") {
            file["vectors"] = serde_json::json!([vector]);
            all.push(file.clone());
        }
    }
    all
}

/// The expression of a vector.
fn expression(file: &serde_json::Value) -> Option<Vec<u8>> {
    let digits: Vec<u8> = file["vectors"][0]["expr"].as_str()?.bytes().filter(|&byte| byte != b' ').collect();
    let byte = |pair: &[u8]| u8::from_str_radix(core::str::from_utf8(pair).ok()?, 16).ok();
    digits.chunks(2).map(byte).collect()
}

#[test]
fn random_bytes_are_decoded_and_evaluated() {
    let mut random = Random(0x9e37_79b9_7f4a_7c15);
    for _ in 0..cases(40_000) {
        let bytes = random.bytes(64);
        harness::decode(&bytes);
        harness::eval(&bytes);
    }
}

#[test]
fn random_call_frame_information_is_followed() {
    let mut random = Random(0x6a09_e667_f3bc_c908);
    for _ in 0..cases(20_000) {
        harness::unwind(&random.bytes(600));
    }
}

/// Objects and containers of other producers, each with a few changed bytes.
#[test]
fn objects_are_judged_with_changes() {
    let mut random = Random(0x3c6e_f372_fe94_f82b);
    let folder = Path::new(crate::common::ROOT).join("tests/objects");
    for (name, count) in [
        ("llvm19/k01_saxpy.gfx1030.O2.hsaco", 4_000),
        ("triton/scan_limit.sm_90.cubin", 1_000),
        ("containers/k06.hipfb", 500),
        ("containers/k01_k06.a", 500),
    ] {
        let object = std::fs::read(folder.join(name)).expect("an object");
        for _ in 0..cases(count) {
            let mut changed = object.clone();
            random.mutate(&mut changed);
            harness::lint(&changed);
        }
    }
}

#[test]
fn containers_are_taken_apart_with_changes() {
    let mut random = Random(0x510e_527f_ade6_82d1);
    let folder = Path::new(crate::common::ROOT).join("tests/objects/containers");
    for name in ["k06.hipfb", "k01_k06.a", "host_with_hip_fatbin.o"] {
        let object = std::fs::read(folder.join(name)).expect("a container");
        for _ in 0..cases(3_000) {
            let mut changed = object.clone();
            random.mutate(&mut changed);
            harness::containers(&changed);
        }
    }
}

#[test]
fn expressions_of_vectors_are_decoded_and_evaluated_with_changes() {
    let expressions: Vec<_> = vectors().iter().filter_map(expression).collect();
    assert!(!expressions.is_empty());
    let mut random = Random(0x0123_4567_89ab_cdef);
    for _ in 0..cases(40_000) {
        let mut bytes = expressions[random.below(expressions.len())].clone();
        if random.below(4) == 0 {
            bytes.extend_from_slice(&expressions[random.below(expressions.len())]);
        }
        random.mutate(&mut bytes);
        // Input that the harness reads before the expression: choices, and a machine.
        let mut input = random.bytes(64);
        input.append(&mut bytes);
        harness::eval(&input);
        harness::decode(&input);
    }
}

#[test]
fn vectors_are_run_with_changes() {
    let mut random = Random(0xfedc_ba98_7654_3210);
    let files: Vec<String> = vectors().iter().map(serde_json::Value::to_string).collect();
    for _ in 0..cases(20_000) {
        let mut text = files[random.below(files.len())].clone().into_bytes();
        random.mutate(&mut text);
        harness::conform(&text);
    }
}
#[test]
fn modules_are_read_with_changes() {
    let texts =
        [include_str!("../spirv/modules/opencl.spvasm"), include_str!("../spirv/modules/shader.spvasm")];
    let modules = texts.map(|text| assemble::assemble(text).words);
    let mut random = Random(0x5bd1_e995_9d2c_5680);
    for _ in 0..cases(4_000) {
        let mut words = modules[random.below(2)].clone();
        for _ in 0..1 + random.below(4) {
            let at = random.below(words.len());
            match random.below(6) {
                // An id of another instruction, or the first word of one.
                0 => words[at] = words[random.below(words.len())],
                1 => words[at] = random.below(120) as u32,
                2 => words[at] ^= 1 << random.below(32),
                3 => drop(words.remove(at)),
                4 => words.insert(at, random.next() as u32),
                _ => words.truncate(at.max(1)),
            }
        }
        spirv::words(&words);
    }
}
#[test]
fn random_words_are_read() {
    let mut random = Random(0x1f83_d9ab_fb41_bd6b);
    for _ in 0..cases(20_000) {
        spirv::spirv(&random.bytes(256));
    }
}
#[test]
fn anything_is_attached_to_modules() {
    let mut random = Random(0x3c6e_f372_fe94_f82b);
    let written = (0..cases(6_000)).filter(|_| attach::attach_any(&random.bytes(300))).count();
    assert!(written > 300, "{written} bindings were right");
}

/// `fuzz/` is a separate workspace that builds here ignore: its lock file lists exactly the dependencies of the
/// library.
#[test]
fn the_lock_names_what_the_library_needs() {
    let read = |path: &str| {
        std::fs::read_to_string(Path::new(crate::common::ROOT).join(path)).expect("the file is there")
    };
    let manifest = read("Cargo.toml");
    let lock = read("fuzz/Cargo.lock");
    let between = |text: &str, first: &str, end: &str| {
        let (_, after) = text.split_once(first).expect("the part begins");
        after.split_once(end).expect("the part ends").0.to_owned()
    };
    // The features that the targets enable, and those of the features.
    let names = between(&read("fuzz/Cargo.toml"), "default-features = false, features = [", "]");
    let mut enabled: Vec<_> = names.split(", ").map(|name| name.trim_matches('"').to_owned()).collect();
    let features = between(&manifest, "\n[features]\n", "\n[dependencies]\n");
    let mut next = 0;
    while let Some(feature) = enabled.get(next) {
        // A dependency, `dep:NAME`, is not a feature.
        if let Some(line) = features.lines().find_map(|line| line.strip_prefix(&format!("{feature} = ["))) {
            let parts = line.trim_end_matches(']').split(", ").map(|part| part.trim_matches('"').to_owned());
            enabled.extend(parts.filter(|part| !part.is_empty()).collect::<Vec<_>>());
        }
        next += 1;
    }
    let name = |line: &str| line.split([' ', '.']).next().unwrap_or_default().to_owned();
    let needed: Vec<String> = between(&manifest, "\n[dependencies]\n", "\n\n")
        .lines()
        .filter(|line| !line.contains("optional = true") || enabled.contains(&format!("dep:{}", name(line))))
        .map(name)
        .collect();
    let locked: Vec<String> =
        between(&lock, "name = \"eitri\"\nversion = \"0.1.0\"\ndependencies = [\n", "]")
            .lines()
            // A version follows the name of a crate that the lock has in several versions.
            .map(|line| line.trim_matches([' ', '"', ',']).split(' ').next().unwrap_or_default().to_owned())
            .collect();
    assert_eq!(locked, needed);
}

/// Modules of other producers with a changed byte, or cut off.
#[test]
fn modules_of_other_producers_are_taken_with_changes() {
    let all: [&[u8]; 6] = [
        include_bytes!("../spirv/foreign/glslang.spv"),
        include_bytes!("../spirv/foreign/glslang.g.spv"),
        include_bytes!("../spirv/foreign/slang.opt.spv"),
        include_bytes!("../spirv/foreign/llvm15.O0.spv"),
        include_bytes!("../spirv/foreign/intel.200.O0.spv"),
        include_bytes!("../spirv/foreign/intel.shader.O0.spv"),
    ];
    let count = cases(240);
    let mut random = Random(0x510e_527f_ade6_82d1);
    let mut taken = 0;
    for number in 0..count {
        let mut bytes = all[number % all.len()].to_vec();
        match random.below(8) {
            0 => bytes.truncate(random.below(bytes.len()) / 4 * 4),
            _ => {
                let at = random.below(bytes.len());
                bytes[at] =
                    if random.below(2) == 0 { bytes[at] ^ 1 << random.below(8) } else { random.next() as u8 };
            }
        }
        let words: Vec<u32> = bytes.as_chunks::<4>().0.iter().map(|word| u32::from_le_bytes(*word)).collect();
        taken += usize::from(spirv::whole(&words));
    }
    assert!(taken * 5 > count, "{taken} of {count}");
}

/// Calls in an order, and with arguments, that nobody chose.
#[test]
fn random_calls_of_track_do_not_panic() {
    let mut random = Random(0x9e37_79b9_7f4a_7c15);
    let mut tracked: Vec<Vec<u8>> = Vec::new();
    for _ in 0..cases(15_000) {
        let mut bytes = random.bytes(160);
        // Few random bytes can be tracked; more of those that could before a change.
        if random.below(2) == 0 && !tracked.is_empty() {
            bytes.truncate(16);
            let mut known = tracked[random.below(tracked.len())].clone();
            random.mutate(&mut known);
            bytes.splice(..0, known);
        }
        if track::track(&bytes) {
            tracked.push(bytes);
        }
    }
    assert!(tracked.len() > 1_000, "{}", tracked.len());
}

#[test]
fn mutated_texts_of_ptx_are_taken_apart_or_refused() {
    let sample = include_bytes!("../../goldens/ptx/sample.ptx");
    let mut random = Random(0x9e37_79b9_7f4a_7c15);
    let mut right = 0;
    let mut wrong = 0;
    for _ in 0..cases(600) {
        let mut text = sample.to_vec();
        random.mutate(&mut text);
        *if ptx::ptx_any(&text) { &mut right } else { &mut wrong } += 1;
        ptx::ptx_any(&random.bytes(200));
    }
    assert!(right > 100 && wrong > 20, "{right} {wrong}");
}
