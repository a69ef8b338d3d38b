//! Targets that only their description knows: emitted, checked, printed and evaluated by its facts.

use pretty_assertions::assert_eq;
use serde_json::{Value, json};

use super::{Folder, run, text};

/// The example of a target in the page of descriptions.
fn toy() -> Value {
    let page = text("docs/description.md");
    let fences = page.split("```json\n").skip(1).map(|rest| rest.split("```").next().expect("the end"));
    let mut examples = fences.filter_map(|fence| serde_json::from_str::<Value>(fence).ok());
    examples.find(|example| example["target"]["name"] == "toy").expect("the example")
}

#[test]
fn a_target_of_a_description_is_enough() {
    let folder = Folder::new("toy");
    let description = folder.file("d.json", toy().to_string());
    let target = folder.file("toy.json", toy()["target"].to_string());
    let object = folder.path("k.o");
    let emitted = run(&["emit", &description, "-o", &object, "--for", "llvm", "--allow", "no-frame"]);
    assert_eq!((emitted.code, &*emitted.errors), (0, ""));
    let bytes = std::fs::read(&object).expect("the object");
    // e_machine, e_flags, EI_OSABI and EI_ABIVERSION.
    assert_eq!(
        (&bytes[18..20], &bytes[48..52], &bytes[7..9]),
        (&[0x34, 0x12][..], &[5, 0, 0, 0][..], &[0, 1][..])
    );
    let checked = run(&["check", &description, &object, "--for", "llvm"]);
    assert_eq!((checked.code, &*checked.errors), (0, ""), "{}", checked.text());
    // Without the facts, relocation types are unknown.
    let dumped = run(&["dump", &object]);
    assert_eq!(dumped.code, 2);
    assert!(dumped.errors.contains("unsupported relocation type"), "{}", dumped.errors);
    for known in [&description, &target] {
        let dumped = run(&["dump", &object, "--target", known]);
        assert_eq!((dumped.code, &*dumped.errors), (0, ""));
        assert!(dumped.text().contains("reg r5; push_lane"), "{}", dumped.text());
    }
    let stopped = json!({
        "machine": {"pc": 0, "lane": 3, "registers": {"r5": "00 00 00 00 01 00 00 00 02 00 00 00 2a 00 00 00"}}
    });
    let machine = folder.file("m.json", stopped.to_string());
    let found = run(&["eval", &object, "--var", "n", "--machine", &machine, "--target", &target]);
    assert_eq!(found.code, 0, "{}", found.errors);
    assert_eq!(found.text(), "location reg:r5+96, bytes 2a 00 00 00\n");
    let listed = run(&["targets", &target]);
    assert_eq!(listed.code, 0, "{}", listed.errors);
    for line in ["  r0..r127   16..143    32 of each of 16 lanes", "  stack        9   16, one for each lane"]
    {
        assert!(listed.text().contains(line), "{}", listed.text());
    }
}

/// The ABIs of AMD's GPUs before gfx11 have buffer scratch, whose addresses are those of the wave; flat scratch has addresses
/// of a lane (LLVM, "User Guide for AMDGPU Backend", "Private Segment"). The ABI of s390x has the canonical frame address
/// 160 bytes above the stack pointer, and no rule for it.
#[test]
fn conventions_of_frames_are_listed() {
    let wave = "  stack and frame pointers count the bytes of all lanes in the wave\n";
    let lane = "  stack and frame pointers count the bytes of one lane\n";
    let pointer = "  rsp without a rule is the canonical frame address\n";
    for (target, line) in [
        ("amdgpu-gfx1030-wave32", wave),
        ("amdgpu-gfx1100-wave32", lane),
        ("x86_64", pointer),
        ("s390x", ""),
        ("nvptx-sm_90", ""),
    ] {
        let listed = run(&["targets", target]);
        assert_eq!((listed.code, &*listed.errors), (0, ""));
        let text = listed.text();
        let frames = text.split_once("frames\n").map_or("", |(_, after)| after);
        let end = frames.find("address spaces").unwrap_or(frames.len());
        assert_eq!(&frames[..end], line, "{target}");
    }
}
