//! Each instruction as LLVM's disassembler reads it.

use std::io::Write;
use std::process::{Command, Stdio};

use wgsl_gfx::isa::{Format, Op, Reg, encode};
use wgsl_gfx::sim::decode::decode;

/// Registers for the operands, and the text that LLVM prints for them.
fn samples(op: Op) -> Vec<(Reg, Vec<Reg>, i32, String)> {
    let (name, format, _) = op.row();
    let s = Reg::S;
    let v = Reg::V;
    let one =
        |dst, src: &[Reg], offset, text: &str| vec![(dst, src.to_vec(), offset, format!("{name}{text}"))];
    match (format, op) {
        (_, Op::SGetPc) => one(s(102), &[s(0)], 0, " s[102:103]"),
        (_, Op::SSetPc) => one(s(0), &[s(30)], 0, " s[30:31]"),
        (_, Op::SSwapPc) => one(s(30), &[s(102)], 0, " s[30:31], s[102:103]"),
        (Format::Sop1, _) => {
            let mut all = one(s(7), &[s(11)], 0, " s7, s11");
            all.extend(one(s(7), &[Reg::Const(0x12345)], 0, " s7, 0x12345"));
            all.extend(one(s(7), &[Reg::Const(-3i32 as u32)], 0, " s7, -3"));
            all
        }
        (Format::Sop2, _) => {
            let mut all = one(s(7), &[s(11), s(12)], 0, " s7, s11, s12");
            all.extend(one(Reg::Exec, &[Reg::Exec, s(64)], 0, " exec_lo, exec_lo, s64"));
            all.extend(one(s(7), &[s(11), Reg::Const(64)], 0, " s7, s11, 64"));
            all
        }
        (Format::Sopc, _) => one(Reg::Null, &[s(11), Reg::Const(0)], 0, " s11, 0"),
        (Format::Sopp, Op::WaitCount) => one(Reg::Null, &[], 0, " vmcnt(0) expcnt(0) lgkmcnt(0)"),
        (Format::Sopp, Op::EndProgram | Op::Barrier) => one(Reg::Null, &[], 0, ""),
        (Format::Sopp, _) => one(Reg::Null, &[], 5, " 5"),
        (Format::Sopk, _) => one(Reg::Null, &[], 0, " null, 0x0"),
        (Format::Smem, Op::SLoad2) => one(s(8), &[s(84)], 16, " s[8:9], s[84:85], 0x10"),
        (Format::Smem, _) => one(s(8), &[s(84), s(6)], 16, " s8, s[84:85], s6 offset:0x10"),
        (Format::Vop1, _) => {
            let mut all = one(v(7), &[v(11)], 0, "_e32 v7, v11");
            all.extend(one(v(7), &[Reg::Const(1f32.to_bits())], 0, "_e32 v7, 1.0"));
            all
        }
        (Format::Vop3s, Op::ReadLane) => one(s(7), &[v(64), Reg::Const(9)], 0, " s7, v64, 9"),
        (Format::Vop1s, _) => one(s(7), &[v(11)], 0, " s7, v11"),
        (Format::Vop3s, _) => one(s(7), &[s(11), v(12)], 0, "_e64 s7, s11, v12"),
        (_, Op::WriteLane) => one(v(64), &[s(11), Reg::Const(9)], 0, " v64, s11, 9"),
        (_, Op::VSelect) => one(v(7), &[v(11), v(12), s(13)], 0, "_e64 v7, v11, v12, s13"),
        (_, Op::VBfe | Op::VFmaF) => one(v(7), &[v(11), v(12), v(13)], 0, " v7, v11, v12, v13"),
        (_, Op::VMul | Op::VMulHi | Op::VBitCount | Op::LaneCount) => {
            one(v(7), &[v(11), v(12)], 0, " v7, v11, v12")
        }
        (
            _,
            Op::VNot
            | Op::VRcp
            | Op::VSqrt
            | Op::VFromI
            | Op::VFromU
            | Op::VToU
            | Op::VToI
            | Op::VTrunc
            | Op::VCeil
            | Op::VRound
            | Op::VFloor,
        ) => one(v(7), &[v(11)], 0, "_e64 v7, v11"),
        (Format::Vop3, _) => {
            let mut all = one(v(7), &[v(11), v(12)], 0, "_e64 v7, v11, v12");
            all.extend(one(v(7), &[Reg::Const(0x12345), v(12)], 0, "_e64 v7, 0x12345, v12"));
            all
        }
        (Format::Ds, Op::DsLoad) => one(v(7), &[v(11)], 16, " v7, v11 offset:16"),
        (Format::Ds, Op::DsStore) => one(Reg::Null, &[v(11), v(12)], 16, " v11, v12 offset:16"),
        (Format::Ds, _) => one(v(7), &[v(11), v(12)], 16, " v7, v11, v12 offset:16"),
        (Format::Global, Op::GlobalLoad) => one(v(7), &[s(84), v(11)], 16, " v7, v11, s[84:85] offset:16"),
        (Format::Global, Op::GlobalStore) => {
            one(Reg::Null, &[s(84), v(11), v(12)], 16, " v11, v12, s[84:85] offset:16")
        }
        (Format::Global, _) => one(v(7), &[s(84), v(11), v(12)], 16, " v7, v11, v12, s[84:85] offset:16 glc"),
        (_, Op::ScratchStore) => {
            let null = Reg::Null;
            let mut all = one(null, &[null, null, v(12)], 16, " off, v12, off offset:16");
            all.extend(one(null, &[null, v(11), v(12)], 16, " v11, v12, off offset:16"));
            all.extend(one(null, &[s(33), null, v(12)], 16, " off, v12, s33 offset:16"));
            all.extend(one(null, &[s(33), v(11), v(12)], 16, " v11, v12, s33 offset:16"));
            all
        }
        _ => {
            let mut all = one(v(7), &[Reg::Null; 2], 16, " v7, off, off offset:16");
            all.extend(one(v(7), &[Reg::Null, v(11)], 16, " v7, v11, off offset:16"));
            all.extend(one(v(7), &[s(33), Reg::Null], 16, " v7, off, s33 offset:16"));
            all.extend(one(v(7), &[s(33), v(11)], 16, " v7, v11, s33 offset:16"));
            all
        }
    }
}

#[test]
fn llvm_reads_each_instruction_as_it_is_meant() {
    let mut input = String::new();
    let mut expected = Vec::new();
    for &op in Op::ALL {
        for (dst, src, offset, text) in samples(op) {
            let mut bytes = Vec::new();
            encode(op, dst, &src, offset, &mut bytes);
            let line: Vec<String> = bytes.iter().map(|byte| format!("{byte:#04x}")).collect();
            input += &format!("{}\n", line.join(","));
            expected.push(text);
            // The simulator's decoder finds the encoded instruction.
            let words: Vec<u32> = bytes
                .chunks_exact(4)
                .map(|word| u32::from_le_bytes(word.try_into().expect("four")))
                .collect();
            let found = decode(&words).unwrap_or_else(|| panic!("{op:?} is not decoded"));
            assert_eq!((found.op, found.words), (op, words.len()), "{op:?}");
            assert_eq!(found.offset, offset, "{op:?}");
            let same = src.iter().zip(&found.src).all(|(a, b)| a == b);
            assert!(same, "{op:?}: {src:?}, {:?}", found.src);
        }
    }
    let arguments = ["-arch=amdgcn", "-mcpu=gfx1100", "-disassemble"];
    let started =
        Command::new("llvm-mc-19").args(arguments).stdin(Stdio::piped()).stdout(Stdio::piped()).spawn();
    let Ok(mut child) = started else {
        println!("llvm-mc-19 is not there: not compared");
        assert!(std::env::var_os("CI").is_none_or(|value| value != "true"), "llvm-mc-19 is missing");
        return;
    };
    child.stdin.take().expect("a pipe").write_all(input.as_bytes()).expect("it reads");
    let output = child.wait_with_output().expect("it ends");
    let text = String::from_utf8(output.stdout).expect("text");
    let lines: Vec<String> = text
        .lines()
        .map(str::trim)
        .filter(|line| !line.is_empty() && !line.starts_with('.'))
        .map(String::from)
        .collect();
    assert_eq!(lines, expected);
}
