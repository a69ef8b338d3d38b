//! A run of a wave, instruction by instruction: at each, the registers of all callers have their values at the call,
//! or are undefined after they were overwritten.
//!
//! A line of a run has a pc and the writes of the previous instruction, as recorded by an interpreter: registers,
//! lanes 0 to 5 and 25 of vector registers, and dwords in scratch memory after an `@`. A line with `>` follows a call,
//! one with `<` a return. Code addresses are relative, so that a run fits every object.

use std::collections::BTreeSet;

use eitri::eval::{CallStack, Snapshot};
use eitri::read::{Dwarf, FrameSection, Object, ReadOptions};
use eitri::target::SpaceId;

use super::stopped::{find, put, split, wave};
use super::{Attached, gfx1030};

/// The recorded lanes.
const LANES: [u32; 7] = [0, 1, 2, 3, 4, 5, 25];

/// A call that has not returned.
struct Call<'t> {
    /// State of the caller.
    wave: Snapshot,
    returns_to: u64,
    cfa: u64,
    /// Registers that are written before the return, in any lane.
    written: BTreeSet<&'t str>,
}

/// Replays the run, and compares at each instruction. `kept` are registers that are never undefined.
pub fn follow(attached: &Attached, text: &'static str, kept: &[&str]) {
    let gpu = gfx1030();
    let object = Object::read(&attached.object).expect("an object");
    let dwarf = Dwarf::read_with(&object, &ReadOptions::new().dialect(attached.dialect)).expect("DWARF");
    let frames = [dwarf.frames(FrameSection::Debug).expect("frames")];
    let number = |text: &str| u64::from_str_radix(text, 16).expect("a number");
    let value = |text: &str| match text.split_once('+') {
        Some((name, pc)) => object.symbol_address(name).expect("a function") + number(pc),
        None => number(text),
    };
    let names: Vec<String> =
        (0..106).map(|n| format!("s{n}")).chain(["exec", "vcc"].map(Into::into)).collect();
    let lanes = (0..48).flat_map(|v| LANES.map(|lane| format!("v{v}[{lane}]")));
    let names: Vec<String> = names.into_iter().chain(lanes).collect();

    let mut wave = wave(&gpu);
    let mut calls: Vec<Call<'_>> = Vec::new();
    let mut deepest = 0;
    let mut compared = 0;
    let lines: Vec<&str> = text.lines().collect();
    for (at, line) in lines.iter().enumerate() {
        let (mark, line) = line.split_at(1);
        let mut words = line.split(' ');
        let pc = value(words.next().expect("a pc"));
        let before = wave.clone();
        for word in words {
            let (name, is) = word.split_once('=').expect("what was written");
            let is = u32::try_from(value(is)).expect("a dword");
            match name.strip_prefix('@') {
                Some(address) => wave.store(SpaceId::PRIVATE_WAVE, None, number(address), &is.to_le_bytes()),
                None => put(&mut wave, &gpu, name, is),
            }
        }
        wave.pc = Some(pc);
        wave.registers.insert(gpu.pc().expect("its register"), pc.to_le_bytes().into());
        match mark {
            ">" => calls.push(Call {
                returns_to: before.pc.expect("the call") + 4,
                cfa: u64::from(u32::from_le_bytes(
                    before.registers[&gpu.sgpr(32).expect("the stack pointer")][..]
                        .try_into()
                        .expect("a dword"),
                )),
                written: written(&lines[at + 1..]),
                wave: wave.clone(),
            }),
            "<" => assert_eq!(calls.pop().map(|call| call.returns_to), Some(pc), "{line}"),
            _ => {}
        }
        deepest = deepest.max(calls.len());

        let stack = CallStack::new(&wave, &frames, &gpu);
        let all: Vec<_> =
            stack.frames().map(|frame| frame.unwrap_or_else(|fault| panic!("{fault}"))).collect();
        assert_eq!(all.len(), calls.len() + 1, "{line}");
        let mut lost: BTreeSet<&str> = BTreeSet::new();
        for ((call, callee), caller) in calls.iter().rev().zip(&all).zip(&all[1..]) {
            assert_eq!(caller.resumes_at(), call.returns_to, "{line}");
            assert_eq!(
                callee.cfa().expect("a place").to_string(),
                format!("mem:6:{:#x}", call.cfa),
                "{line}"
            );
            lost.extend(&call.written);
            for name in &names {
                let (found, place) = find(caller, &wave, &gpu, name);
                let is_lost = found.is_none() && lost.contains(split(name).0) && !kept.contains(&&**name);
                assert!(
                    is_lost || found == Some(of(&call.wave, name)),
                    "{name} of frame {} at {place}: {found:x?}, not {:x}; {line}",
                    caller.number(),
                    of(&call.wave, name)
                );
                compared += usize::from(found.is_some());
            }
        }
    }
    assert!(calls.is_empty() && deepest == 2 && compared > 20_000, "{deepest} calls, {compared} registers");
}

/// Registers written in these lines before the function returns.
fn written(lines: &[&'static str]) -> BTreeSet<&'static str> {
    let mut depth = 0;
    let mut written = BTreeSet::new();
    for line in lines {
        match &line[..1] {
            ">" => depth += 1,
            "<" if depth == 0 => break,
            "<" => depth -= 1,
            _ => {}
        }
        written
            .extend(line[1..].split(' ').skip(1).filter_map(|word| Some(split(word.split_once('=')?.0).0)));
    }
    written
}

/// Contents of a register or of one of its lanes.
fn of(wave: &Snapshot, name: &str) -> u32 {
    let gpu = gfx1030();
    let (register, lane) = split(name);
    let bytes = &wave.registers[&gpu.register_named(register).expect("a register")];
    u32::from_le_bytes(bytes[4 * lane.unwrap_or(0)..][..4].try_into().expect("a dword"))
}
