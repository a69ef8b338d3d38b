//! LintCode with encodings that are not in the tables: what they write is not known, and no evidence depends on it.

use std::path::Path;

use eitri::lint::{LintCode, LintFinding, LintOptions, lint};
use eitri::op::{Dialect, Encoding, text};
use eitri::target::Target;

use super::made::{AMD, codes, object_with, replaced};

/// Opcode 0 of format VOP2 on gfx10, with v2 as its destination.
const UNKNOWN: u32 = 0x0004_0602;
/// `s_nop 0`
const NOP: u32 = 0xbf80_0000;

fn saxpy() -> Vec<u8> {
    let object = "tests/objects/llvm19/k01_saxpy.gfx1030.O2.hsaco";
    std::fs::read(Path::new(crate::common::ROOT).join(object)).expect("an object")
}

fn findings(object: &[u8]) -> Vec<LintFinding> {
    lint(object, &LintOptions::default()).expect("it is read").findings
}

fn evidence(all: &[LintFinding]) -> Vec<&str> {
    all.iter().flat_map(|one| &one.evidence).map(String::as_str).collect()
}

#[test]
fn an_unknown_opcode_can_set_every_register() {
    // `v_fmac_f32_e32 v3, s0, v2` at 0x1678, and the word with opcode 0.
    let known = 0x5606_0400_u32.to_le_bytes();
    let other = (0x5606_0400_u32 & 0x01ff_ffff).to_le_bytes();
    let before = findings(&saxpy());
    let after = findings(&replaced(&saxpy(), &known, &other));
    let sets =
        |all: &[LintFinding], text: &str| evidence(all).iter().filter(|one| one.contains(text)).count();
    assert!(sets(&before, "0x1678: ") > 0, "{before:#?}");
    assert_eq!(sets(&before, "not known"), 0);
    let unknown = "it is not known what sets v3: the instruction at 0x1678 has unknown destinations";
    assert_eq!(sets(&after, unknown), sets(&before, "0x1678: "), "{after:#?}");
}

/// The instructions of gfx12 are not in the tables.
#[test]
fn unknown_instructions_are_no_evidence() {
    let mut object = saxpy();
    // EF_AMDGPU_MACH_AMDGCN_GFX1200
    object[0x30] = 0x48;
    let all = findings(&object);
    assert!(all.iter().any(|one| one.code == LintCode::RegisterAsMemory), "{all:#?}");
    let facts = evidence(&all);
    let (unknown, others): (Vec<&str>, Vec<&str>) =
        facts.iter().partition(|one| one.starts_with("it is not known what sets v"));
    assert!(!unknown.is_empty(), "{facts:#?}");
    for wrong in [" sets ", "from the caller", "no instruction", " loads it "] {
        assert!(!others.iter().any(|one| one.contains(wrong)), "{wrong}: {facts:#?}");
    }
}

fn bytes(expr: &str) -> Vec<u8> {
    let target = Target::named(AMD).expect("a target");
    let expr = text::parse(expr, Encoding::new(8, Dialect::Llvm), Some(&target));
    expr.expect("an expression").bytes().to_vec()
}

/// LintCode with these words first.
fn code(words: &[u32]) -> Vec<u8> {
    let all = words.iter().copied().chain(std::iter::repeat(NOP)).take(8);
    all.flat_map(u32::to_le_bytes).collect()
}

/// Only known instructions show that all lanes have the same value, or scalars of the wave.
#[test]
fn lanes_are_the_same_only_by_known_instructions() {
    let entry = bytes("regx v3");
    let codes = |words: &[u32]| codes(&object_with(AMD, 32, &[(0x10, 0x20, &entry)], &code(words)));
    // `v_mov_b32_e32 v3, 0`
    const MOV: u32 = 0x7e06_0280;
    // `v_writelane_b32 v3, s4, 0`
    const WRITELANE: [u32; 2] = [0xd761_0003, 0x0001_0004];
    assert!(codes(&[MOV]).is_empty());
    assert!(codes(&WRITELANE).is_empty());
    assert_eq!(codes(&[MOV, UNKNOWN]), ["no-lane"]);
    assert_eq!(codes(&[WRITELANE[0], WRITELANE[1], UNKNOWN]), ["no-lane"]);
    // An unknown opcode of format SOPP can be a branch: nothing is known behind it.
    assert_eq!(codes(&[MOV, 0xbfff_0000]), ["no-lane"]);
}

/// The register can have another value since the unknown instruction.
#[test]
fn a_constant_before_unknown_instructions_is_no_finding() {
    let (constant, register) =
        (bytes("consts 0; stack_value"), bytes("regx v3; push_lane; lit4; mul; offset"));
    let ranges: [(u64, u64, &[u8]); 2] = [(8, 0x10, &constant), (0x10, 0x20, &register)];
    let codes = |words: &[u32]| codes(&object_with(AMD, 32, &ranges, &code(words)));
    // `v_add_nc_u32_e32 v3, v1, v2`
    const ADD: u32 = 0x4a06_0501;
    assert_eq!(codes(&[ADD]), ["constant-for-computed"]);
    assert_eq!(codes(&[UNKNOWN, ADD]), ["constant-for-computed"]);
    assert!(codes(&[ADD, UNKNOWN]).is_empty());
}
